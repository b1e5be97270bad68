"""The reader of gensim's native files, which are pickles."""

from pathlib import Path

from bayesbias.base.machine import require
from bayesbias.embeddings.rows import Rows, Wanted, from_keyed_vectors
from bayesbias.errors import EmbeddingError

_SAFE = "Or have gensim write it there with save_word2vec_format."


def read_gensim(path: Path, wanted: Wanted) -> Rows:
    """Read a pickle written by gensim's ``save`` (KeyedVectors, Word2Vec, FastText); this can run any code in it.

    Raises `EmbeddingError` if the pickle cannot be loaded or holds no vectors.
    """
    utils = require("gensim.utils", None, f"{path}, a file of gensim,", error=EmbeddingError, advice=_SAFE)
    try:
        loaded = utils.SaveLoad.load(str(path))
    except MemoryError:
        raise
    except Exception as error:
        # The code in a pickle may raise anything.
        raise EmbeddingError(
            f"{path} cannot be loaded as a gensim file ({type(error).__name__}: {error}). It is cut short, "
            "was written by another version, or lacks the .npy files that gensim saved beside it."
        ) from error
    rows = from_keyed_vectors(loaded, wanted)
    if rows is None:
        raise EmbeddingError(f"{path} holds a {type(loaded).__name__}, not word vectors of gensim.")
    return rows

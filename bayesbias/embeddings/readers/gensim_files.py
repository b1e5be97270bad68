"""gensim's native files, which are pickles, and fastText's ``.bin``, which is not."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from bayesbias.embeddings.objects import from_keyed_vectors
from bayesbias.embeddings.rows import Rows, Wanted, check_header, check_room, decode
from bayesbias.errors import EmbeddingError, InputFileError

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_LONGEST_WORD = 10_000


def read_gensim(path: Path, wanted: Wanted) -> Rows:
    """Read what gensim's ``save`` wrote: KeyedVectors, Word2Vec, FastText. Loading it runs code inside it.

    Raises
    ------
    EmbeddingError
        If the pickle cannot be loaded or holds no vectors.
    """
    from gensim.utils import SaveLoad

    try:
        loaded = SaveLoad.load(str(path))
    except MemoryError:
        raise
    except Exception as error:
        # A pickle runs code, which may raise anything; all of it means the same to a user.
        raise EmbeddingError(
            f"{path} cannot be loaded as a gensim file ({type(error).__name__}: {error}). It is cut short, "
            "was written by another version, or lacks the .npy files that gensim saved beside it."
        ) from error
    rows = from_keyed_vectors(loaded, wanted)
    if rows is None:
        raise EmbeddingError(f"{path} holds a {type(loaded).__name__}, not word vectors of gensim.")
    return rows


def read_fasttext_bin(path: Path, wanted: Wanted) -> Rows:
    """Read a fastText ``.bin``, unsupervised and not quantised; others, cut and damaged files are errors.

    A word's vector is the mean of its own row and of those of its n-grams; only the rows that the kept words
    need are read. gensim gives the n-grams of a word; its own loader never
    returns from a file that is cut within a word, and reads everything.
    """
    from gensim.models.fasttext import ft_ngram_hashes

    with path.open("rb") as stream:
        layout = _layout(stream, path)
    check_room(len(layout.words), layout.dimensions, wanted, path)
    kept = [row for row, word in enumerate(layout.words) if wanted is None or word in wanted]
    vectors = np.empty((len(kept), layout.dimensions), dtype=np.float32)
    table = np.memmap(path, dtype="<f4", mode="r", offset=layout.offset, shape=(layout.vectors, layout.dimensions))
    for place, row in enumerate(kept):
        hashes: list[int] = []
        if layout.longest:
            hashes = ft_ngram_hashes(layout.words[row], layout.shortest, layout.longest, layout.buckets)
        ngrams = [len(layout.words) + number for number in hashes]
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is reported with its row
            vectors[place] = table[[row, *ngrams]].mean(axis=0, dtype=np.float64)
    return Rows([layout.words[row] for row in kept], vectors, [row + 1 for row in kept], "row")


@dataclass(frozen=True)
class _Layout:
    words: list[str]
    dimensions: int
    buckets: int
    shortest: int
    longest: int
    offset: int
    vectors: int


def _layout(stream: IO[bytes], path: Path) -> _Layout:
    """Read everything before the matrix of vectors, and check that the file holds all that it promises."""
    size = path.stat().st_size

    def take(layout: str) -> tuple[int, ...]:
        wanted = struct.Struct("<" + layout)
        raw = stream.read(wanted.size)
        if len(raw) < wanted.size:
            raise _cut(path, size)
        return tuple(map(int, wanted.unpack(raw)))

    if stream.read(4) != FASTTEXT_MAGIC:
        raise InputFileError(
            f"{path} is no fastText .bin file (or a gzipped one, which has to be unpacked first: gunzip)."
        )
    # Names and order are those of fastText's Args::save and Dictionary::save.
    _version, dimensions, *_training, buckets, shortest, longest, _rate = take("13i")
    stream.seek(8, 1)  # the sampling threshold, a double
    entries, words, labels, _tokens, pruned = take("3i2q")
    check_header(words, dimensions, str(path))
    if labels or entries != words or pruned > 0:
        raise EmbeddingError(
            f"{path} is a supervised or pruned fastText model. Only models of words can be read (cbow, skipgram)."
        )
    names = list(_names(stream, path, words, cut=lambda: _cut(path, size)))
    (quantised,) = take("?")
    if quantised:
        raise EmbeddingError(f"{path} is a quantised fastText model (.ftz). Use the .bin or .vec that it came from.")
    offset = _matrix(take, stream, path, expected=(words + buckets, dimensions), size=size)
    take("?")  # whether the output matrix is quantised
    _matrix(take, stream, path, expected=(words, dimensions), size=size)
    if stream.read(1):
        raise EmbeddingError(f"{path}: more bytes follow at byte {stream.tell() - 1}, after the last vector.")
    usable = buckets > 0 and 0 < shortest <= longest
    if longest and not usable:
        raise EmbeddingError(f"{path}: its header promises n-grams of {shortest} to {longest} in {buckets} buckets.")
    return _Layout(names, dimensions, buckets, shortest, longest, offset, words + buckets)


def _names(stream: IO[bytes], path: Path, count: int, *, cut: Callable[[], EmbeddingError]) -> Iterator[str]:
    """Yield the words: each ends in a zero byte, and its count (8 bytes) and kind (1) follow."""
    for number in range(count):
        place = stream.tell()
        word = bytearray()
        while (letter := stream.read(1)) != b"\0":
            if not letter:
                raise cut()
            if len(word) == _LONGEST_WORD:
                raise EmbeddingError(f"{path}: word {number + 1} at byte {place} has no end; the file is damaged.")
            word += letter
        if len(stream.read(9)) < 9:
            raise cut()
        yield decode(bytes(word), source=str(path), where=f"of row {number + 1} at byte {place}")


def _matrix(
    take: Callable[[str], tuple[int, ...]],
    stream: IO[bytes],
    path: Path,
    *,
    expected: tuple[int, int],
    size: int,
) -> int:
    """Check a matrix's shape, go past it, and return the byte where its numbers begin."""
    place = stream.tell()
    shape = take("2q")
    if shape != expected:
        raise EmbeddingError(
            f"{path}: at byte {place} there is a matrix of the shape {shape}; the header promises "
            f"{expected}. It is damaged, or of a kind of model that cannot be read."
        )
    offset = stream.tell()
    if offset + 4 * shape[0] * shape[1] > size:
        raise _cut(path, size)
    stream.seek(4 * shape[0] * shape[1], 1)
    return offset


def _cut(path: Path, size: int) -> EmbeddingError:
    return EmbeddingError(
        f"{path} ends at byte {size}, before all that its header promises. It is cut short: download or write it again."
    )

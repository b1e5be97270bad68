"""GloVe-V: the covariance of each GloVe vector, in closed form from its co-occurrences, or from published files."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_flag, check_path, normalized, resolve_seed
from bayesbias.base.files.inputs import input_file
from bayesbias.base.files.stored_arrays import read_arrays
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import check_word_list
from bayesbias.embeddings.readers.glove_v import GloveVFolder
from bayesbias.embeddings.training.corpus import Corpus, CorpusLike, count_cooccurrences, read_corpus
from bayesbias.embeddings.training.trained import TrainedEmbeddings
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsWarning, name_some, warn_user


@dataclass(frozen=True, eq=False, repr=False)
class VectorVariance(Described):
    """Word vectors of GloVe with their covariances.

    Parameters
    ----------
    words
        Words with a covariance.
    vectors
        Their word vectors, GloVe's W without C, of shape (words, dimensions).
    covariances
        Covariances of the vectors given all context vectors, of shape (words, dimensions, dimensions).
    contexts
        Number of words that each word occurs with, of shape (words,). None: not known.
    lost_words
        Words without a covariance: the embedding lacks them, or they occur with too few words.
    """

    words: tuple[str, ...]
    vectors: Floats = field(repr=False)
    covariances: Floats = field(repr=False)
    contexts: NDArray[np.int64] | None = field(repr=False, default=None)
    lost_words: tuple[str, ...] = ()

    @property
    def _facts(self) -> Facts:
        return {"words": self.words, "dimensions": self.vectors.shape[1], "lost_words": self.lost_words}

    def draws(self, *, draws: int = 100, random_seed: int | None = None) -> Floats:
        """Return draws of the vectors, independent between words, of shape (draws, words, dimensions).

        Parameters
        ----------
        draws
            Number of draws.
        random_seed
            Seed of the draws. None: drawn, and not recorded.

        Raises
        ------
        ArgumentError
            If an argument is not usable.
        NotEnoughMemoryError
            If the draws do not fit into memory.
        """
        rng, count = np.random.default_rng(resolve_seed(random_seed)), check_count("draws", draws)
        check_memory(16 * count * self.vectors.size, f"{count:,} draws of vectors", "Take fewer draws or words.")
        factors = np.stack([_root(covariance) for covariance in self.covariances])
        normal = rng.standard_normal((count, *self.vectors.shape))
        drawn: Floats = self.vectors + np.einsum("wij,dwj->dwi", factors, normal)
        return drawn


def _root(covariance: Floats) -> Floats:
    """Return a matrix L with L L' = covariance, which may be of low rank."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        values, axes = np.linalg.eigh(covariance)
        return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def glove_variance(
    trained: TrainedEmbeddings, corpus: CorpusLike, words: Iterable[str], *, training_seed: int | None = None
) -> VectorVariance:
    """Return the covariances of GloVe vectors in closed form.

    Parameters
    ----------
    trained
        Embeddings that `train_embeddings` trained by ``"glove"`` on all documents.
    corpus
        The corpus of that training, whose co-occurrences are counted again.
    words
        Words whose vectors are wanted, such as those of a study.
    training_seed
        One of the seeds; by default the first.

    Returns
    -------
    VectorVariance
        Vectors and covariances.

    Raises
    ------
    ArgumentError, EmbeddingError
        If the embeddings are not GloVe's, were trained on another corpus or on resampled documents, or no word has a
        covariance.

    Warns
    -----
    LostWordsWarning
        If words have no covariance.

    Notes
    -----
    Given the context vectors c_j and the biases, GloVe fits the vector w_i of a word by weighted least squares of
    log X_ij - b_i - b_j on c_j with weights f(X_ij), over the words j that it occurs with. Its covariance is

        s_i^2 (sum_j f(X_ij) c_j c_j')^-1,    s_i^2 = sum_j f(X_ij) (log X_ij - b_i - b_j - w_i c_j)^2 / (n_i - D)

    with n_i such words and D dimensions; words with n_i <= D have none. It is the error of reconstruction of one row of
    the matrix: it treats co-occurrences as independent and context vectors as known, and does not cover other documents
    or seeds. `validation/corpora` compares it with these.

    References
    ----------
    Andrea Vallebueno, Cassandra Handan-Nader, Christopher D. Manning and Daniel E. Ho (2024). Statistical uncertainty
    in word embeddings: GloVe-V. EMNLP 2024, 9032-9047.

    Examples
    --------
    >>> import tempfile
    >>> rng = np.random.default_rng(1)
    >>> documents = [rng.choice(list("abcdefghij"), 30).tolist() for _ in range(40)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trained = bb.embeddings.train_embeddings(documents, folder, algorithm="glove", seeds=[1], dimensions=3)
    ...     variance = bb.embeddings.glove_variance(trained, documents, ["a", "b"])
    >>> variance.covariances.shape, variance.contexts.tolist()
    ((2, 3, 3), [10, 10])
    """
    facts = trained.provenance
    if facts["algorithm"] != "glove" or "resample" in facts["settings"]:
        kind = "resampled documents" if "resample" in facts["settings"] else str(facts["algorithm"])
        raise ArgumentError(f"The embeddings are of {kind}. Give those of glove on all documents.")
    seed = next(iter(trained)) if training_seed is None else training_seed
    if seed not in trained.paths:
        raise ArgumentError(f"training_seed={seed!r}: the seeds are {name_some(trained.paths)}.")
    settings = facts["settings"]
    text = read_corpus(corpus, min_count=settings["min_count"])
    if text.sha256 != facts["corpus"]["sha256"]:
        raise EmbeddingError(
            f"{text.name} is not the corpus of the training, {facts['corpus']['name']}: its words differ."
        )
    arrays = _arrays(trained, seed)
    ranks = {word: rank for rank, word in enumerate(text.words)}
    wanted = dict.fromkeys(check_word_list(words))
    rows_by_word = _rows(text, {ranks[word] for word in wanted if word in ranks}, settings["window"])
    dimensions = arrays["word_vectors"].shape[1]
    embedded_words = [word for word in wanted if word in ranks and len(rows_by_word[ranks[word]][0]) > dimensions]
    lost = tuple(word for word in wanted if word not in embedded_words)
    if not embedded_words:
        raise EmbeddingError(f"Found no word that occurs with more than {dimensions} others. Take fewer dimensions.")
    if lost:
        warn_user(
            f"{counted(len(lost), 'word has', 'words have')} no covariance, because the embedding lacks them or they "
            f"occur with at most {dimensions} words: {name_some(lost)}.",
            LostWordsWarning,
        )
    places = [ranks[word] for word in embedded_words]
    check_memory(8 * len(places) * dimensions**2, f"{len(places):,} covariances", "Give fewer words.")
    covariances = [_covariance(place, *rows_by_word[place], arrays, settings) for place in places]
    return VectorVariance(
        words=tuple(embedded_words),
        vectors=arrays["word_vectors"][places],
        covariances=np.stack(covariances),
        contexts=np.array([len(rows_by_word[place][0]) for place in places]),
        lost_words=lost,
    )


def read_glove_variance(
    folder: str | os.PathLike[str], words: Iterable[str], *, approximate: bool = True
) -> VectorVariance:
    r"""Return the covariances of GloVe vectors that the authors of GloVe-V publish.

    Parameters
    ----------
    folder
        Folder with ``vocab.txt``, ``vectors.safetensors``, and covariances in chunks with ``chunk_map.txt``
        (``approxchunk_0.safetensors`` and so on), or in one file (``ApproximationVariances.safetensors``).
    words
        Words whose vectors are wanted, such as those of a study. Only their covariances are read.
    approximate
        Whether to read the approximate covariances: variances alone, or a decomposition of low rank, which by the
        authors' account hold at least 90 % of the whole, and so are somewhat too small. Otherwise the complete ones
        (``completechunk_0.safetensors`` and so on, or ``CompleteVariances.safetensors``).

    Returns
    -------
    VectorVariance
        Vectors and covariances, in double precision, without `contexts`.

    Raises
    ------
    InputFileError, EmbeddingError, ArgumentError
        If a file is missing or damaged, the files do not belong together, or no word has a covariance.

    Warns
    -----
    LostWordsWarning
        If words have no covariance.

    Notes
    -----
    The layout is that of the authors' program, https://github.com/reglab/glove-v. The files hold numbers and text;
    nothing is unpickled, and no other package is needed.

    References
    ----------
    As for `glove_variance`.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> def save(path, name, numbers):  # one array, as the library safetensors writes it
    ...     content = np.asarray(numbers, dtype="<f4")
    ...     entry = {"dtype": "F32", "shape": content.shape, "data_offsets": (0, content.nbytes)}
    ...     header = json.dumps({name: entry}).encode()
    ...     Path(path).write_bytes(len(header).to_bytes(8, "little") + header + content.tobytes())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(f"{folder}/vocab.txt").write_text("doctor 12\nsurgeon 7\n")
    ...     save(f"{folder}/vectors.safetensors", "center_vectors", [[1.0, 0.0], [0.5, 0.5]])
    ...     save(f"{folder}/CompleteVariances.safetensors", "variances", [np.eye(2) / 4, np.eye(2) / 2])
    ...     variance = bb.embeddings.read_glove_variance(folder, ["surgeon"], approximate=False)
    >>> variance.vectors.tolist(), variance.covariances.tolist()
    ([[0.5, 0.5]], [[[0.5, 0.0], [0.0, 0.5]]])
    """
    check_flag("approximate", approximate)
    wanted = dict.fromkeys(check_word_list(words))
    files = GloveVFolder(check_path(folder, "folder"), approximate=approximate)
    rows = {normalized(word): row for row, word in enumerate(files.words)}
    present = {word: rows[normalized(word)] for word in wanted if normalized(word) in rows}
    check_memory(8 * len(present) * files.dimensions**2, f"{len(present):,} covariances", "Give fewer words.")
    by_word = {word: files.covariance(row) for word, row in present.items()}
    covariances = {word: covariance for word, covariance in by_word.items() if covariance is not None}
    lost = tuple(word for word in wanted if word not in covariances)
    if not covariances:
        raise EmbeddingError(f"{folder} has a covariance of none of the words {name_some(lost)}. Give others.")
    if lost:
        warn_user(
            f"{counted(len(lost), 'word has', 'words have')} no covariance in {folder}: {name_some(lost)}.",
            LostWordsWarning,
        )
    return VectorVariance(
        words=tuple(covariances),
        vectors=np.stack([files.vector(present[word]) for word in covariances]),
        covariances=np.stack(list(covariances.values())),
        lost_words=lost,
    )


def _arrays(trained: TrainedEmbeddings, seed: int) -> dict[str, Floats]:
    """Return the vectors and biases of a seed, in double precision."""
    path = trained.paths[seed]
    names = {"word_vectors": 2, "context_vectors": 2, "word_biases": 1, "context_biases": 1}
    stored = read_arrays(input_file(path), {name: ("f", dimensions) for name, dimensions in names.items()})
    if len(stored) < len(names):
        raise EmbeddingError(f"{path} has no biases. Train again with this version: train_embeddings.")
    return {name: array.astype(np.float64) for name, array in stored.items()}


def _rows(text: Corpus, wanted: set[int], window: int) -> dict[int, tuple[NDArray[np.int64], Floats]]:
    """Return the words that each wanted word occurs with, and their co-occurrences."""
    size = len(text.words)
    targets = np.array(sorted(wanted), dtype=np.int64)
    rows, columns, values = [], [], []
    for part in count_cooccurrences(text.stream[text.stream < size], size, window):
        part_rows = part.first + np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts))
        for one_side, other_side in ((part_rows, part.columns), (part.columns, part_rows)):
            chosen = np.isin(one_side, targets)
            if one_side is part.columns:
                chosen &= part_rows != part.columns  # an entry of the diagonal is its own mirror image
            rows.append(one_side[chosen].astype(np.int64))
            columns.append(other_side[chosen].astype(np.int64))
            values.append(part.values[chosen].astype(np.float64))
    every_row, every_column, every_value = (np.concatenate(pieces) for pieces in (rows, columns, values))
    return {int(row): (every_column[every_row == row], every_value[every_row == row]) for row in targets}


def _covariance(
    place: int, contexts: NDArray[np.int64], counts: Floats, arrays: dict[str, Floats], settings: dict[str, float]
) -> Floats:
    weights = np.minimum(1.0, (counts / settings["x_max"]) ** settings["alpha"])
    vectors = arrays["context_vectors"][contexts]
    fitted = arrays["word_biases"][place] + arrays["context_biases"][contexts] + vectors @ arrays["word_vectors"][place]
    squares = weights @ np.square(np.log(counts) - fitted)
    freedom = len(contexts) - vectors.shape[1]
    covariance: Floats = squares / freedom * np.linalg.inv((vectors * weights[:, np.newaxis]).T @ vectors)
    return (covariance + covariance.T) / 2

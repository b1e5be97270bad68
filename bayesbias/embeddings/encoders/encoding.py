"""`encode`: an embedding from any function that returns vectors of texts, which one SQLite file keeps."""

import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import batched
from math import isfinite
from pathlib import Path
from typing import Any, cast
from unicodedata import combining

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.checks import check_count, check_items, check_path, normalized
from bayesbias.base.files.databases import Database, bounded_rows, database_reason, open_database, schema_fault
from bayesbias.base.files.inputs import input_file
from bayesbias.base.files.outputs import check_unshared
from bayesbias.base.number_text import counted
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.embedding import Embedding, as_vectors, check_words
from bayesbias.embeddings.encoders.folders import FolderEncoder, folder_encoder
from bayesbias.embeddings.language_models.vector_spread import GROUPS, ContextualEmbedding, jackknife
from bayesbias.embeddings.templates import MARK, TemplatesLike, templates_of_words
from bayesbias.embeddings.vocabulary_sample import FEWEST, sampled_vectors
from bayesbias.errors import (
    ArgumentError,
    EmbeddingError,
    InputFileError,
    LostWordsError,
    LostWordsWarning,
    OutputError,
    name_some,
    warn_user,
)

_APPLICATION = 0x62624543  # field of SQLite's header: "bbEC"
_AT_ONCE = 500  # keys in a query
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
CREATE TABLE encoder (name TEXT NOT NULL);
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class TextCache:
    """An open cache."""

    path: Path
    base: Database

    def read(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the stored vectors of some texts.

        Raises
        ------
        InputFileError
            If a stored vector is damaged, or vectors have different lengths.
        """
        texts_by_key = {_key(text): text for text in texts}
        vectors: dict[str, NDArray[np.float32]] = {}
        with _reported(self.path), closing(self._stored(texts_by_key)) as rows:
            for key, content in bounded_rows(self.base, rows, bytes):
                vector = np.frombuffer(content, dtype="<f4") if len(content) % 4 == 0 else np.empty(0, dtype="<f4")
                # A sum is finite only if all numbers are, and is much faster than a check of each.
                if not vector.size or not isfinite(vector.sum(dtype=np.float64)):
                    raise _damaged(self.path, f"the vector of {texts_by_key[key]!r:.60} is cut short or not finite")
                vectors[texts_by_key[key]] = vector.astype(np.float32)
        if len(sizes := {vector.size for vector in vectors.values()}) > 1:
            raise _damaged(self.path, f"vectors of {min(sizes):,} and {max(sizes):,} numbers")
        return vectors

    def _stored(self, every: Iterable[bytes]) -> Generator[tuple[bytes, bytes]]:
        """Yield stored keys and vectors; a query that is not finished would keep the file locked after an error."""
        for keys in batched(every, _AT_ONCE):
            places = ", ".join("?" * len(keys))
            with closing(self.base.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", keys)) as rows:
                yield from rows

    def write(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store the vectors of a batch, all or none of them."""
        rows = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with _reported(self.path):
            self.base.execute("BEGIN")
            self.base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self.base.execute("COMMIT")


@contextmanager
def text_cache(path: str | os.PathLike[str] | None, encoder: str) -> Iterator[TextCache | None]:
    """Yield the open cache of an encoder, created if necessary; None without a path.

    Raises
    ------
    InputFileError
        If the file is damaged, is not a cache, or belongs to an encoder of another name.
    OutputError
        If it cannot be written, or all may write to its folder.
    """
    if path is None:
        yield None
        return
    file = check_path(path, "cache")
    check_unshared(file)
    if os.path.lexists(file):
        input_file(file)  # opening a pipe or a device could block
    with _reported(file):
        base = open_database(file, read_only=False)
    with closing(base):
        with _reported(file):
            _claim(base, file, encoder)
        yield TextCache(file, base)


@contextmanager
def _reported(file: Path) -> Iterator[None]:
    """Convert SQLite's errors into those of this package."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(f"Cannot use the cache {file}: {database_reason(error)}. Choose another file.") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise _damaged(file, str(error)) from error


def _claim(base: Database, file: Path, encoder: str) -> None:
    """Record the encoder in a new cache, or check that an existing one is of this encoder."""
    base.execute("PRAGMA synchronous = NORMAL")
    if base.execute("SELECT name FROM sqlite_master").fetchone() is None:
        base.execute("BEGIN")  # whole or not at all
        for statement in _SCHEMA.split(";"):
            base.execute(statement)
        base.execute("INSERT INTO encoder VALUES (?)", (encoder,))
        base.execute("COMMIT")
        return
    if base.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise _damaged(file, "another program wrote it")
    if fault := schema_fault(base, _SCHEMA):
        raise _damaged(file, fault)
    stored = base.execute("SELECT name FROM encoder").fetchone()
    if stored is None or stored[0] != encoder:
        raise InputFileError(
            f"{file} holds the vectors of the encoder {stored and stored[0]!r:.60}, not of {encoder!r}. Give each "
            "encoder a cache of its own."
        )


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _damaged(file: Path, why: str) -> InputFileError:
    return InputFileError(f"{file} is not a usable cache of an encoder ({why}). Remove it, or give another file.")


type Encoder = Callable[[list[str]], ArrayLike]
"""A function that returns one vector for each text of a list, as an array of shape (texts, dimensions)."""

_LEAST = 2  # texts of a word: one has no spread
_MOST_GROUPS = 60  # of templates that some words share, so that the spread needs little memory
_SAME = 1e-6  # largest difference between equal vectors, in units of the largest number
_WAIT = 1.0  # seconds before the second call for a batch, doubled before each further one


@dataclass(frozen=True)
class _Calls:
    """How an encoder is called: texts in a call, calls for a batch that fails, and whether a bar is shown."""

    batch: int
    attempts: int
    progress: bool


def encode(
    encoder: Encoder | str | os.PathLike[str],
    words: Iterable[str] | Any,
    templates: TemplatesLike | None = None,
    *,
    batch: int = 512,
    attempts: int = 3,
    cache: str | os.PathLike[str] | None = None,
    name: str | None = None,
    reference: Iterable[str] | None = None,
    progress: bool = True,
) -> Embedding:
    """Return the vectors that an encoder gives to words, alone or in sentences.

    Parameters
    ----------
    encoder
        A function of a list of texts that returns one vector per text, such as ``SentenceTransformer(...).encode``,
        that of a provider's client, or your own. Or the folder of an encoder, for `load_encoder`. It may return an
        array (float16, bfloat16 and wider), lists, a DataFrame or a tensor.
    words
        Words, or an object with ``words``, such as a `Study`.
    templates
        None (default) encodes each word alone. Otherwise sentences with ``WORD`` in place of the word: a list, the
        name of a bundled set (`load_templates`), or a mapping of each word to one of these, such as
        `templates_by_list` makes for parts of speech. A word's vector is the mean over its sentences.
    batch
        Texts in one call; a provider may allow fewer.
    attempts
        Number of attempts for each batch, at least 1, with a wait of one second, then two, four and so on.
    cache
        File that keeps the vectors of texts, written batch by batch: an interrupted run continues where it stopped, and
        a text is encoded once. A file serves one encoder, identified by `name`.
    name
        Name of the embedding in reports, and of the encoder in the cache; by default the name of the folder or
        function. With a cache, a function needs a name.
    reference
        At least 1,000 random words, such as `common_words`, which are encoded in the first template of the first word:
        what random words have in common, beside which `distance_table` finds the words of a list that depend on each
        other. None (default): none are encoded, and the distances alone show a part of it.
    progress
        Whether to show the number of texts and a progress bar.

    Returns
    -------
    Embedding
        With two or more templates a `ContextualEmbedding`, which has the standard errors over templates.

    Raises
    ------
    ArgumentError
        If an argument is not valid, or a template does not hold ``WORD`` exactly once.
    EmbeddingError
        If the encoder fails, returns something other than one finite vector for each text, or gives most words the
        same vector.
    LostWordsError
        If all vectors are zero.
    InputFileError
        If the cache is damaged or belongs to another encoder.

    Warns
    -----
    LostWordsWarning
        If the encoder gives some words a zero vector, as static encoders do for words that they do not know.

    Examples
    --------
    A toy in place of an encoder: the number of letters, and of vowels.

    >>> def toy(texts):
    ...     return [[len(text), sum(letter in "aeiou" for letter in text)] for text in texts]
    >>> bb.encode(toy, ["king", "queen"], name="toy")["queen"]
    array([5., 3.], dtype=float32)
    >>> embedding = bb.encode(toy, ["king", "queen"], ["WORD", "A WORD."], name="toy")
    >>> embedding["queen"]
    array([6.5, 3. ], dtype=float32)
    >>> embedding.spread().round(3)
        word  contexts  pieces  relative_error
    0   king         2       1           0.268
    1  queen         2       1           0.210
    """
    calls = _Calls(check_count("batch", batch), check_count("attempts", attempts), progress)
    listed = getattr(words, "words", words)
    wanted = list(dict.fromkeys(check_words(check_items("words", listed, "a list of words, or a study"))))
    if not wanted:
        raise EmbeddingError("words is empty. Give words.")
    function, identity, label = _function(encoder, name, cached=cache is not None)
    sentences = templates_of_words(wanted, (MARK,) if templates is None else templates)
    texts_of = {word: [text.replace(MARK, word) for text in sentences[word]] for word in wanted}
    others = [] if reference is None else check_words(check_items("reference", reference, "a list of words"))
    beside = {word: sentences[wanted[0]][0].replace(MARK, word) for word in others}
    texts = list(dict.fromkeys([*(text for word_texts in texts_of.values() for text in word_texts), *beside.values()]))
    with text_cache(cache, identity) as opened:
        vectors = _encoded(function, texts, calls, opened, label)
    embedding = _embedding(label, texts_of, vectors, sentences)
    if not beside:
        return embedding
    sample = sampled_vectors(list(beside), np.stack([vectors[text] for text in beside.values()]))
    if sample is None:
        raise ArgumentError(f"reference has {len(beside):,} words. Give at least {FEWEST:,}, such as common_words().")
    return replace(embedding, vocabulary_sample=sample)


def _function(encoder: Any, name: str | None, *, cached: bool) -> tuple[Encoder, str, str]:
    """Return an encoder's function, its identity in a cache, and its name."""
    if isinstance(encoder, str | os.PathLike):
        loaded = folder_encoder(encoder)
        return loaded, f"{loaded.name} {loaded.digest}", name or loaded.name
    if not callable(encoder):
        raise ArgumentError(
            f"encoder={encoder!r:.60}: give a function of a list of texts, such as SentenceTransformer(...).encode, or "
            "the folder of an encoder."
        )
    if cached and name is None:
        raise ArgumentError("cache needs a name: functions have none that stays the same. Give name='provider-model'.")
    label = name or str(getattr(encoder, "__name__", type(encoder).__name__))
    return cast("Encoder", encoder), label, label


def _encoded(
    encoder: Encoder, texts: list[str], calls: _Calls, cache: TextCache | None, name: str
) -> dict[str, NDArray[np.floating]]:
    """Return the vectors of texts, from the cache or the encoder."""
    vectors: dict[str, NDArray[np.floating]] = dict(cache.read(texts)) if cache else {}
    # Texts of similar length together, so that an encoder pads them little.
    new = sorted((text for text in texts if text not in vectors), key=len, reverse=True)
    if new and isinstance(encoder, FolderEncoder):
        encoder.load()  # here, so that a run from the cache alone needs no library
    dimensions = {len(vector) for vector in vectors.values()}
    stored = f", {len(vectors):,} from the cache" if vectors else ""
    what = f"{name}: {len(new):,} texts in batches of {calls.batch:,}{stored}"
    with progress_bar(len(new), what, progress=calls.progress) as bar:
        for number, texts_at_once in enumerate(batched(new, calls.batch)):
            matrix = _call(encoder, list(texts_at_once), calls, done=number * calls.batch, cached=cache is not None)
            dimensions.add(matrix.shape[1])
            if len(dimensions) > 1:
                raise EmbeddingError(
                    f"{name} returned vectors of {' and '.join(map(str, sorted(dimensions)))} dimensions. If the "
                    "encoder changed, give a new name and cache."
                )
            if cache:
                matrix = matrix.astype(np.float32)
                cache.write(texts_at_once, matrix)
            vectors.update(zip(texts_at_once, matrix, strict=True))
            bar.advance(len(texts_at_once))
    return vectors


def _call(encoder: Encoder, texts: list[str], calls: _Calls, *, done: int, cached: bool) -> NDArray[np.floating]:
    """Return the vectors of a batch, after several attempts if necessary."""
    for attempt in range(1, calls.attempts + 1):
        try:
            returned = encoder(texts)
            break
        except Exception as fault:
            if attempt == calls.attempts:
                stored = " The texts before it are in the cache: the next run continues there." if cached else ""
                raise EmbeddingError(
                    f"The encoder failed at texts {done + 1:,} to {done + len(texts):,} in "
                    f"{counted(attempt, 'attempt')}: {type(fault).__name__}: {fault}.{stored}"
                ) from fault
            time.sleep(_WAIT * 2 ** (attempt - 1))
    matrix = as_vectors(returned)
    if len(matrix) != len(texts):
        raise EmbeddingError(
            f"The encoder returned {len(matrix):,} vectors for {len(texts):,} texts. It must return one per text, in "
            "their order."
        )
    if not np.isfinite(matrix).all():
        row = int(np.argmin(np.isfinite(matrix).all(axis=1)))
        raise EmbeddingError(f"The encoder returned a NaN or an infinity for {texts[row]!r:.80}.")
    return matrix


def _embedding(
    name: str,
    texts_of: dict[str, list[str]],
    vectors: dict[str, NDArray[np.floating]],
    templates: dict[str, tuple[str, ...]],
) -> Embedding:
    """Return the means of words' vectors, with their errors if all words have two or more texts."""
    matrices = {word: np.stack([vectors[text] for text in texts]) for word, texts in texts_of.items()}
    plain = {word: matrix[0] if len(matrix) == 1 else matrix.mean(axis=0) for word, matrix in matrices.items()}
    zero = [word for word, mean in plain.items() if not mean.any()]
    if zero:
        what = f"{name} gives a zero vector to {name_some(map(repr, zero))}"
        if len(zero) == len(matrices):
            raise LostWordsError(f"{what}: to all words. Check the language and spelling of the words.")
        warn_user(f"{what}: left out, since a zero vector has no direction.", LostWordsWarning)
        matrices = {word: matrix for word, matrix in matrices.items() if word not in set(zero)}
    _check_distinct(name, {word: plain[word] for word in matrices})
    counts = np.array([len(matrix) for matrix in matrices.values()], dtype=np.int64)
    if counts.min() < _LEAST:
        return Embedding(tuple(matrices), np.stack([plain[word] for word in matrices]), name)
    groups_of, groups = _template_groups({word: templates[word] for word in matrices})
    spreads = (jackknife(matrix, groups_of.get(word), groups) for word, matrix in matrices.items())
    means, deviations = zip(*spreads, strict=True)
    return ContextualEmbedding(
        words=tuple(matrices),
        vectors=np.stack(means).astype(np.float32),
        name=name,
        deviations=np.stack(deviations).astype(np.float32),
        contexts=counts,
        pieces=np.ones(len(matrices), dtype=np.int64),
        paired=bool(groups_of),
        left_out=tuple((word, "a zero vector") for word in zero),
    )


def _check_distinct(name: str, vectors: dict[str, NDArray[np.floating]]) -> None:
    """Raise `EmbeddingError` if most words have the same vector, apart from words that differ in case and accents."""
    words = list({_plain(word): word for word in vectors}.values())
    matrix = np.stack([vectors[word] for word in words])
    # The median is the vector that most words share, if there is one.
    same = abs(matrix - np.median(matrix, axis=0)).max(axis=1) <= _SAME * abs(matrix).max()
    if len(words) > 1 and same.sum() > len(words) / 2:
        shared = [word for word, is_shared in zip(words, same, strict=True) if is_shared]
        raise EmbeddingError(
            f"{name} gives the same vector to {len(shared):,} of {len(words):,} words: {name_some(map(repr, shared))}. "
            "Its tokenizer does not know them: download the model again if files are missing, and check the language "
            "and spelling of the words."
        )


def _plain(word: str) -> str:
    """Return a word without case and accents, which some encoders ignore."""
    return "".join(letter for letter in normalized(word.casefold(), "NFKD") if not combining(letter))


def _template_groups(templates: dict[str, tuple[str, ...]]) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Return the group of each of a word's templates, and the number of groups; no groups if words share no templates.

    A template is in the same group for all words, so that its effects on several words are not treated as independent.
    """
    distinct = {template: number for number, template in enumerate(dict.fromkeys(sum(set(templates.values()), ())))}
    if 2 * len(distinct) > sum(map(len, templates.values())):
        return {}, GROUPS
    groups = min(len(distinct), GROUPS if len(set(templates.values())) == 1 else _MOST_GROUPS)
    return {
        word: np.array([distinct[template] for template in listed]) % groups for word, listed in templates.items()
    }, max(groups, GROUPS)

"""The class `Embedding`: distinct words, one usable vector each, and a case rule for looking words up."""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias import geometry
from bayesbias.base.arrays import LEAST_SQUARE
from bayesbias.base.checks import has_many_marks, is_text, marks_fault, normalized
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.vocabularies import FORMS, Case, Form, case_rule, case_text, forms
from bayesbias.embeddings.vocabulary_sample import checked_sample, sampled_vectors
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsError, did_you_mean, name_some, worded

Vectors = NDArray[np.floating[Any]]
OF_WORDS = "of the words that were read"
"""What the hash of an embedding is of: a file may hold other words."""
QUANTISED = (
    "these are quantised vectors (bits, or bytes without their scale), whose cosines are not those of the embedding. "
    'Encode the words again in floating point (precision="float32"), or multiply each dimension by its scale.'
)


_RANKED = 10_000  # vectors at most
_REMOVED = 1e-5  # of the largest singular value; float32 leaves about 1e-7 of a direction that was removed


@dataclass(frozen=True, repr=False)
class Lookup(Described):
    """Result of looking up words in an embedding.

    Parameters
    ----------
    matches
        Words that the embedding has, with the form that matched.
    lost
        Words that the embedding lacks, each once, in the given order.
    """

    matches: dict[str, str]
    lost: tuple[str, ...]

    @property
    def _facts(self) -> Facts:
        return {"matches": list(self.matches), "lost": self.lost}


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Described):
    """Words with their vectors.

    Parameters
    ----------
    words
        Distinct words.
    vectors
        Array of shape (words, dimensions). float32 and float64 are kept, other numbers become float32. The embedding
        holds a read-only view, not a copy: do not change the array afterwards.
    name
        Name of the embedding in reports.
    case
        Forms of a word to look up, in order: ``"exact"`` (default), ``"lower"``, ``"title"``, ``"upper"``,
        ``"unaccented"``, ``"underscored"`` (``New_York``), or functions; one, or several such as
        ``("exact", "lower", "title")``. Stored as a tuple.
    phrases
        Entries of several words whose vectors were made of those of their words, by ``load_embedding(phrases="mean")``.
    steps
        What was done to the vectors, such as centring or debiasing, in order; tables and .npz files record it.
    vocabulary_sample
        Vectors of random words of the vocabulary that the words come from, shape (sample, dimensions), which
        `load_embedding` reads beside the words of a study; None (default) if the words are the whole vocabulary.
    left_out
        Words that the source has without a usable vector, each with the reason.

    Raises
    ------
    ArgumentError
        If there is no such form.
    EmbeddingError
        If there is no word or no dimension, if words and vectors differ in number, if a word is listed twice (only
        `load_embedding` drops repeats with the same vector), or if a vector is zero or holds a NaN or an infinity.

    Notes
    -----
    A word that is not stored as it is given is looked up in Unicode's normal form NFC too: "Männer" with an "ä" of one
    character is the same word as with an "a" and a combining diaeresis.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.6, 0.8]]
    >>> embedding = Embedding(words=("king", "Queen"), vectors=vectors, case=("exact", "lower"))
    >>> embedding
    Embedding(name='embedding', words=2, dimensions=2, case='exact, lower')
    >>> embedding["Queen"]
    array([0.6, 0.8])
    >>> "King" in embedding, "queen" in embedding
    (True, False)
    """

    words: tuple[str, ...]
    vectors: Vectors
    name: str = "embedding"
    case: Case = "exact"
    phrases: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    vocabulary_sample: Vectors | None = None
    left_out: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        # A frozen dataclass can store normalised values only this way.
        object.__setattr__(self, "case", case_rule(self.case))
        if not is_text(self.name):
            raise ArgumentError(f"name={self.name!r}: give text without unpaired surrogates.")
        words = check_word_list(self.words)
        vectors = as_vectors(self.vectors).view()
        check_rows(words, vectors, where=lambda row: f"in row {row}")
        vectors.flags.writeable = False
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "vectors", vectors)
        if self.vocabulary_sample is not None:
            object.__setattr__(self, "vocabulary_sample", checked_sample(self.vocabulary_sample, vectors.shape[1]))
        if len(self._index) < len(words):
            row = next(row for row, word in enumerate(words) if self._index[word] != row)
            raise EmbeddingError(f"The word {words[row]!r} is listed twice: in row {row} and again further down.")

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "words": len(self), "dimensions": self.dimensions, "case": self.case_text}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.match(word) is not None

    def __getitem__(self, word: str) -> Vectors:
        vector: Vectors = self.matrix([word])[0]
        return vector

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def rule(self) -> tuple[str | Form, ...]:
        """The case rule as names of forms and functions."""
        return case_rule(self.case)

    @property
    def case_text(self) -> str:
        """The case rule as text, such as ``"exact, lower"``."""
        return case_text(self.rule)

    @cached_property
    def reference(self) -> Vectors | None:
        """Unit vectors of up to 1,200 random words of the vocabulary; None if it has fewer than 1,000."""
        sample = self.vocabulary_sample
        if sample is None:
            sample = sampled_vectors(self.words, self.vectors)
        return None if sample is None else geometry.unit_rows(sample)

    @cached_property
    def rank(self) -> int:
        """Number of dimensions that the vectors still use, from up to 10,000 of them: debiasing can remove some."""
        step = -(-len(self) // _RANKED)
        values = np.linalg.svd(self.vectors[::step].astype(np.float64), compute_uv=False)
        return int((values > _REMOVED * values[0]).sum())

    @cached_property
    def digest(self) -> str:
        """Short hash of words and vectors in their order, independent of name and case rule."""
        content = hashlib.sha256()
        content.update(f"{len(self)} {self.dimensions} {self.vectors.dtype.name}\n".encode())
        content.update("\0".join(self.words).encode())
        little_endian = self.vectors.dtype.newbyteorder("<")
        for start in range(0, len(self), 10_000):
            block = self.vectors[start : start + 10_000]
            content.update(np.ascontiguousarray(block, dtype=little_endian).data)
        return content.hexdigest()[:16]

    def match(self, word: str) -> str | None:
        """Return the first form of `word` under the case rule that this embedding has, or None.

        >>> Embedding(words=("king",), vectors=[[1.0, 0.0]], case="lower").match("KING")
        'king'
        """
        if self.rule[0] == "exact" and word in self._index:  # most words; skips making forms
            return word
        return next((stored for form in forms(word, self.rule) if (stored := self._stored(form)) is not None), None)

    def _stored(self, form: str) -> str | None:
        """Return the stored word that equals `form` in normal form, or None."""
        if form in self._index:
            return form
        if form.isascii():  # in normal form already
            return None
        normal = normalized(form)
        return normal if normal in self._index else self._not_normal.get(normal)

    @cached_property
    def _not_normal(self) -> dict[str, str]:
        """The stored words that are not in normal form, by their normal form; the first one of several."""
        return {normalized(word): word for word in reversed(self.words) if normalized(word) != word}

    def why_lost(self, word: str) -> str:
        """Return why a word has no vector: the reason of the source, or that it is absent.

        >>> Embedding(words=("king",), vectors=[[1.0, 0.0]]).why_lost("queen")
        "not in the embedding (case rule 'exact')"
        """
        reasons = dict(self.left_out)
        reason = next((reasons[form] for form in (word, *forms(word, self.rule)) if form in reasons), "")
        return reason or f"not in the embedding (case rule {self.case_text!r})"

    def lookup(self, words: Iterable[str]) -> Lookup:
        """Return which of `words` this embedding has, in which form, and which are lost.

        >>> embedding = Embedding(words=("king",), vectors=[[1.0, 0.0]], case=("exact", "lower"))
        >>> looked_up = embedding.lookup(["King", "queen"])
        >>> looked_up
        Lookup(matches=1, lost=1)
        >>> looked_up.matches, looked_up.lost
        ({'King': 'king'}, ('queen',))
        """
        if self.rule == ("exact",):  # the usual rule; fast when all words of an embedding are looked up
            distinct, index = dict.fromkeys(words), self._index
            present = {
                word: stored
                for word in distinct
                if (stored := word if word in index else self._stored(word)) is not None
            }
            return Lookup(present, tuple(word for word in distinct if word not in present))
        matches = {word: self.match(word) for word in words}
        return Lookup(
            matches={word: form for word, form in matches.items() if form is not None},
            lost=tuple(word for word, form in matches.items() if form is None),
        )

    def matrix(self, words: Iterable[str]) -> Vectors:
        """Return the vectors of `words` in their order: an array of shape (words, dimensions).

        Raises
        ------
        LostWordsError
            If words are absent; the message names them.

        Examples
        --------
        >>> embedding = Embedding(words=("king", "queen"), vectors=[[1.0, 0.0], [0.6, 0.8]])
        >>> embedding.matrix(["queen", "king"])
        array([[0.6, 0.8],
               [1. , 0. ]])
        """
        wanted = list(words)
        matches = {word: self.match(word) if isinstance(word, str) else None for word in dict.fromkeys(wanted)}
        lost = [word for word, form in matches.items() if form is None]
        if lost:
            hint = self._hint(lost[0])
            raise LostWordsError(f"The embedding {self.name!r} lacks {name_some(map(repr, lost))}{hint}.")
        return self.vectors[[self._index[form] for word in wanted if (form := matches[word]) is not None]]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def stored(self, words: Iterable[str]) -> Vectors:
        """Return the vectors of stored words in their order, without applying the case rule.

        >>> Embedding(words=("KING",), vectors=[[1.0, 0.0]], case="upper").stored(["KING"])
        array([[1., 0.]])
        """
        vectors: Vectors = self.vectors[[self._index[word] for word in words]]
        return vectors

    def _hint(self, word: object) -> str:
        if not isinstance(word, str):
            return ": words are text"
        for name in FORMS:
            if (form := forms(word, [name])[0]) in self._index:
                return (
                    f" (it has {form!r}; the case rule is {self.case_text!r}, and "
                    f"case={(*self.rule, name)!r} would find it)"
                )
        # Only words of similar length with the same first letter are compared closely: there may be millions.
        alike = (other for other in self.words if other[:1] == word[:1] and abs(len(other) - len(word)) <= 2)
        return did_you_mean(word, alike)


type EmbeddingLike = Embedding | str | os.PathLike[str] | Mapping[str, ArrayLike] | tuple[Sequence[str], ArrayLike]
"""An embedding: an `Embedding`, or what `load_embedding` takes: the path of a file, gensim KeyedVectors (or a model
that has them as ``.wv``), a mapping of words to vectors, or a pair of words and their matrix."""


def unit_rows_of(embedding: Embedding, words: Iterable[str]) -> Vectors:
    """Return the vectors of `words`, scaled to length 1, in float64: an array of shape (words, dimensions)."""
    return geometry.unit_rows(embedding.matrix(words))


def words_with_same_vectors(
    embedding: Embedding, matches: Mapping[str, str], lists: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the words of lists that have no vector of their own, but that of another word, each with the reason.

    Of words of one list with identical vectors, the first counts. A vector that words of several lists share stands for
    none of them: it is that of unknown words, or of the nearest word that a pruned table kept.

    - `matches`: stored form of each word, as in `Lookup`; two words with one form are no matter here.

    >>> pruned = Embedding(words=("cat", "dog", "car"), vectors=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> words_with_same_vectors(pruned, {"cat": "cat", "dog": "dog", "car": "car"}, {"pets": ["cat", "dog", "car"]})
    {'dog': "its vector is that of 'cat'"}
    """
    rows: dict[bytes, list[tuple[str, str]]] = {}
    for name, words in lists.items():
        for word in words:
            if word in matches:
                vector = embedding.stored([matches[word]]) + 0.0  # no negative zeros
                rows.setdefault(vector.tobytes(), []).append((name, word))
    reasons: dict[str, str] = {}
    for members in rows.values():
        first_list, first = members[0]
        others = [(name, word) for name, word in members if matches[word] != matches[first]]
        if not others:
            continue
        if all(name == first_list for name, _ in members):
            reasons |= {word: f"its vector is that of {first!r}" for _, word in others}
        else:
            for name, word in members:
                other_list, other = next((entry for entry in members if entry[0] != name), members[0])
                reasons[word] = f"its vector is that of {other!r} in {other_list!r}"
    return reasons


def same_vectors_hint(same: Mapping[str, str]) -> str:
    """Return a sentence on words that have the vectors of others; empty if there are none."""
    if not same:
        return ""
    named = name_some((f"{word!r}: {reason}" for word, reason in same.items()), 4)
    return f" {len(same):,} of the lost words have the vector of another word, as in a pruned table ({named})."


def check_word_list(words: Iterable[object]) -> tuple[str, ...]:
    """Return `words` as a tuple; raise `EmbeddingError` if they are not a list of texts."""
    if isinstance(words, str):
        raise EmbeddingError(f"The words are a single text, {words[:40]!r}. Give a list of words.")
    checked = []
    for word in words:
        if not isinstance(word, str):
            raise EmbeddingError(f"Words must be text, but {word!r} is of type {type(word).__name__}.")
        if "\0" in word:
            raise EmbeddingError(f"The word {word!r} holds a NUL, which few formats can keep. Correct it.")
        checked.append(str(word))
    try:
        "\0".join(checked).encode()
    except UnicodeEncodeError as error:
        word = next(word for word in checked if not is_text(word))
        raise EmbeddingError(f"The word {word!r} holds an unpaired surrogate. Correct it.") from error
    return tuple(checked)


def as_vectors(values: ArrayLike) -> Vectors:
    """Return `values` as a 2-D float array in native byte order; raise `EmbeddingError` if that fails."""
    if np.ma.is_masked(values):
        raise EmbeddingError("The vectors hold masked numbers. Leave those words out.")
    try:
        array = np.asarray(_in_memory(values))
    except ValueError as error:
        raise EmbeddingError(f"The vectors are not a table of numbers: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise EmbeddingError(f"The vectors are not numbers, but of type {array.dtype}. Give an array of numbers.")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 1:
        raise EmbeddingError(f"The vectors have the type {array.dtype}: {QUANTISED}")
    if array.ndim != 2 or 0 in array.shape:
        raise EmbeddingError(
            f"The vectors have the shape {array.shape}. Give (words, dimensions), with at least one of each."
        )
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    with np.errstate(over="ignore"):  # overflow gives infinities, which check_rows reports
        return array.astype(np.float64 if wide else np.float32, copy=False)


def _in_memory(values: Any) -> Any:
    """Return a tensor of PyTorch as a NumPy array, bfloat16 in either library as float32; anything else as it is.

    They are recognised by their attributes, because importing PyTorch takes seconds.
    """
    if isinstance(values, list | tuple) and values and hasattr(values[0], "detach"):
        return [_in_memory(row) for row in values]
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        return (values.float() if values.dtype.itemsize < 4 else values).numpy()
    if getattr(getattr(values, "dtype", None), "name", "") == "bfloat16":
        return values.astype(np.float32)
    return values


def check_rows(words: Sequence[str], vectors: Vectors, *, where: Callable[[int], str]) -> None:
    """Raise `EmbeddingError` for the first word that has no normal form, or whose vector has no direction.

    - `words`: words, one for each row.
    - `vectors`: array of shape (words, dimensions).
    - `where`: function that returns the place of a row, such as ``"at line 7"``.
    """
    if len(words) != len(vectors):
        raise EmbeddingError(f"There are {len(words)} words but {len(vectors)} vectors. Give one vector per word.")
    for row, word in enumerate(words):
        if has_many_marks(word):
            raise EmbeddingError(f"The word {where(row)}: {marks_fault(word)}")
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    usable = np.isfinite(squares) & (squares >= LEAST_SQUARE)
    if usable.all():
        return
    row = int(np.argmin(usable))
    vector = vectors[row]
    fault = "is zero or too short (its squared length underflows)"
    if np.isnan(vector).any():
        fault = "holds a NaN (not a number)"
    elif np.isinf(squares[row]):
        fault = "holds an infinity or a number too large to square"
    raise EmbeddingError(
        f"The vector of {words[row]!r} {where(row)} {fault}, so it has no direction. Leave that word out"
        f"{worded(': load_embedding(..., words=[...]) reads only the words that you need', '')}."
    )


type Phrases = Literal["whole", "mean"]
"""How entries of several words are looked up."""


def with_phrases(embedding: Embedding, words: Iterable[str]) -> Embedding:
    """Return an embedding with a vector for each entry of several words that it lacks but whose words it has.

    The vector is the mean of those of the words, each scaled to length 1, as gensim's ``get_mean_vector`` computes it.

    >>> towns = Embedding(words=("new", "york"), vectors=[[2.0, 0.0], [0.0, 1.0]])
    >>> with_phrases(towns, ["new york", "new jersey"])["new york"]
    array([0.5, 0.5])
    """
    rows: dict[str, np.ndarray] = {}
    for word in words:
        parts = word.split()
        if len(parts) > 1 and word not in embedding and all(part in embedding for part in parts):
            vector = unit_rows_of(embedding, parts).mean(axis=0)
            if np.linalg.norm(vector) > 1e-6:  # words that point in opposite directions have no mean
                rows[normalized(forms(word, embedding.rule)[0])] = vector
    if not rows:
        return embedding
    vectors = np.vstack([embedding.vectors, np.array(list(rows.values()), dtype=embedding.vectors.dtype)])
    return replace(embedding, words=(*embedding.words, *rows), vectors=vectors, phrases=(*embedding.phrases, *rows))

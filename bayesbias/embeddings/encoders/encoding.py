"""`encode`: an embedding from any function that returns vectors of texts, which one SQLite file keeps."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import batched, chain
from typing import Any, cast
from unicodedata import combining

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_count, check_items, check_number, is_text, normalized, shown
from bayesbias.base.files.vector_cache import VectorCache, vector_cache, vector_key
from bayesbias.base.number_text import counted
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.embedding import Embedding, check_word_list
from bayesbias.embeddings.encoders.calls import Calls, Encoder
from bayesbias.embeddings.encoders.folders import FolderEncoder, folder_encoder
from bayesbias.embeddings.language_models.device_loop import Precision, steps_of
from bayesbias.embeddings.language_models.vector_spread import GROUPS, ContextualEmbedding, jackknife
from bayesbias.embeddings.templates import MARK, TemplatesLike, template_steps, templates_of_words
from bayesbias.embeddings.vocabulary_sample import FEWEST, sampled_vectors
from bayesbias.errors import (
    ArgumentError,
    EmbeddingError,
    LostWordsError,
    LostWordsWarning,
    name_some,
    warn_user,
    worded,
)

_LEAST = 2  # texts of a word: one has no spread
_MOST_GROUPS = 60  # of templates that some words share, so that the spread needs little memory
_LONGEST_CALL = 86_400.0  # seconds
_SAME = 1e-6  # largest difference between equal vectors, in units of the largest number


def encode(
    encoder: Encoder | str | os.PathLike[str],
    words: Iterable[str] | Any,
    templates: TemplatesLike | None = None,
    *,
    batch: int = 512,
    attempts: int = 3,
    cache: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    precision: Precision | None = None,
    name: str | None = None,
    version: str | None = None,
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
        a text is encoded once. It serves any number of encoders, identified by `name` and `version`. Each run of a
        function encodes up to eight of its cached texts again: if the model has changed, it is refused.
    timeout
        Seconds that a call of a function may take, above 0; a call that takes longer counts as a failed attempt and is
        abandoned in its thread. None (default): any time, without a thread.
    precision
        As for `contextual_embedding`, of a sentence-transformers folder; others have their own.
    name
        Name of the embedding in reports, and of the encoder in the cache; by default the name of the folder or
        function. With a cache, a function needs a name.
    version
        Version of the model behind a function, such as ``"2026-01"``: vectors of another version in the cache are not
        used. The embedding records it in `steps`.
    reference
        At least 1,000 random words, such as `common_words`, which are encoded in the first template of the first word:
        what random words have in common, beside which `distance_table` finds the words of a list that depend on each
        other. None (default): none are encoded, and the distances alone show a part of it.
    progress
        Whether to show the number of texts and a progress bar.

    Returns
    -------
    Embedding
        With two or more templates for every word a `ContextualEmbedding`, which has the standard errors over templates
        and cosines corrected for their number; one sentence cannot be corrected.

    Raises
    ------
    ArgumentError
        If an argument is not valid, or a template does not hold ``WORD`` exactly once.
    EmbeddingError
        If the encoder fails, returns something other than one finite vector for each text, gives most words the
        same vector, or gives a text another vector than before: up to eight texts are encoded again at the beginning
        and the end, and compared with the first answer or the cache. A distance of up to 0.03 of the vector's length
        counts as rounding.
    NotEnoughMemoryError
        If the encoder has too little memory for a batch.
    LostWordsError
        If all vectors are zero.
    InputFileError
        If the cache is damaged.

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
    wanted = encoding_of(
        encoder, words, templates, precision=precision, name=name, version=version, reference=reference
    )
    return wanted.embedding(batch=batch, attempts=attempts, timeout=timeout, cache=cache, progress=progress)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Texts that an encoder is asked for.

    - `encoder`, `label`, `version`: function or folder, its name, and the version of a function's model.
    - `identity`: what identifies the encoder in a cache; empty if it has no name that stays the same.
    - `texts_of`: word -> its texts, made of its `sentences`.
    - `reference`: random word -> its text.
    """

    encoder: Encoder
    label: str
    version: str | None
    identity: tuple[str, ...]
    texts_of: dict[str, list[str]]
    sentences: dict[str, tuple[str, ...]]
    reference: dict[str, str]

    @cached_property
    def keys(self) -> dict[str, bytes]:
        """Text -> its key in a cache."""
        texts = chain(chain.from_iterable(self.texts_of.values()), self.reference.values())
        return {text: vector_key(*self.identity, text) for text in dict.fromkeys(texts)}

    def counts(self, cache: str | os.PathLike[str] | None) -> tuple[int, int]:
        """Return how many texts are to be encoded, and how many a cache has."""
        self._check_identity(cache)
        with vector_cache(cache) as opened:
            stored = opened.count(self.keys.values()) if opened else 0
        return len(self.keys) - stored, stored

    def embedding(
        self,
        *,
        batch: int,
        attempts: int,
        timeout: float | None,
        cache: str | os.PathLike[str] | None,
        progress: bool,
    ) -> Embedding:
        """Return the vectors, as `encode` does."""
        limit = None if timeout is None else check_number("timeout", timeout, low=0, high=_LONGEST_CALL, above=True)
        counts = check_count("batch", batch), check_count("attempts", attempts)
        self._check_identity(cache)
        calls = Calls(self.encoder, self.label, *counts, limit, cache is not None)
        word_of = {text: word for word, text in self.reference.items()}
        word_of |= {text: word for word, texts in self.texts_of.items() for text in texts}
        with vector_cache(cache) as opened:
            vectors = _encoded(calls, self.keys, opened, word_of, progress=progress)
        folder = self.encoder if isinstance(self.encoder, FolderEncoder) else None
        made = _embedding(
            self.label, self.texts_of, vectors, self.sentences, "does not know" if folder else "gives a zero vector to"
        )
        embedding = replace(made, steps=self._steps)
        if not self.reference:
            return embedding
        sample = sampled_vectors(list(self.reference), np.stack([vectors[text] for text in self.reference.values()]))
        if sample is None:
            count = sum(vectors[text].any() for text in self.reference.values())
            raise ArgumentError(
                f"reference has {count:,} words with a vector. Give at least {FEWEST:,}"
                f"{worded(', such as common_words()', '')}."
            )
        return replace(embedding, vocabulary_sample=sample)

    @property
    def _steps(self) -> tuple[str, ...]:
        """What made the vectors, as the embedding records it."""
        steps = template_steps(self.sentences)
        if isinstance(self.encoder, FolderEncoder):
            made_by = f"encoded by the folder {self.encoder.name} (hash {self.encoder.digest[:16]})"
            return made_by, *steps_of(self.encoder.precision), *steps
        return steps if self.version is None else (f"encoded by version {self.version} of {self.label}", *steps)

    def _check_identity(self, cache: str | os.PathLike[str] | None) -> None:
        if cache is not None and not self.identity:
            raise ArgumentError(
                "cache needs a name: functions have none that stays the same. Give name='provider-model'."
            )


def encoding_of(
    encoder: Encoder | str | os.PathLike[str],
    words: Iterable[str] | Any,
    templates: TemplatesLike | None,
    *,
    precision: Precision | None,
    name: str | None,
    version: str | None,
    reference: Iterable[str] | None,
) -> Encoding:
    """Return the texts that `encode` encodes with these arguments, before any of them is."""
    listed = getattr(words, "words", words)
    wanted = list(dict.fromkeys(check_word_list(check_items("words", listed, "a list of words, or a study"))))
    if not wanted:
        raise EmbeddingError("words is empty. Give words.")
    function, identity, label = _function(encoder, name, precision, version)
    sentences = templates_of_words(wanted, (MARK,) if templates is None else templates)
    others = [] if reference is None else check_word_list(check_items("reference", reference, "a list of words"))
    return Encoding(
        encoder=function,
        label=label,
        version=version,
        identity=identity,
        texts_of={word: [text.replace(MARK, word) for text in sentences[word]] for word in wanted},
        sentences=sentences,
        reference={word: sentences[wanted[0]][0].replace(MARK, word) for word in others},
    )


def _function(
    encoder: Any, name: str | None, precision: Precision | None, version: str | None
) -> tuple[Encoder, tuple[str, ...], str]:
    """Return an encoder's function, its identity in a cache (empty without one), and its name."""
    if version is not None and not (is_text(version) and version.strip()):
        raise ArgumentError(f"version={shown(version)}: give a text, such as version='2'.")
    if isinstance(encoder, str | os.PathLike):
        if version is not None:
            raise ArgumentError("version is that of a function's model. Leave it out: a folder is known by its files.")
        loaded = folder_encoder(encoder, precision)
        return loaded, (f"{loaded.name} {loaded.digest}",), name or loaded.name
    if not callable(encoder):
        raise ArgumentError(
            f"encoder={encoder!r:.60}: give a function of a list of texts, such as SentenceTransformer(...).encode, or "
            "the folder of an encoder."
        )
    if precision is not None:
        raise ArgumentError("precision is that of an encoder in a folder. Leave it out: a function has its own.")
    label = name or str(getattr(encoder, "__name__", type(encoder).__name__))
    versions = () if version is None else (version,)
    return cast("Encoder", encoder), () if name is None else (name, *versions), label


def _encoded(
    calls: Calls, keys: dict[str, bytes], cache: VectorCache | None, word_of: dict[str, str], *, progress: bool
) -> dict[str, NDArray[np.floating]]:
    """Return the vectors of texts, of which `keys` has the keys, from the cache or the encoder.

    The vector is 0, in the cache too, if the tokenizer of a folder does not know the word of a text (`word_of`). Some
    texts are encoded again, at the beginning and the end: an encoder must give a text the vector that it gave before.
    """
    vectors: dict[str, NDArray[np.floating]] = dict(cache.read(keys)) if cache else {}
    # Texts of similar length together, so that an encoder pads them little.
    ordered = sorted(keys, key=len, reverse=True)
    stored, new = [text for text in ordered if text in vectors], [text for text in ordered if text not in vectors]
    folder = calls.encoder if isinstance(calls.encoder, FolderEncoder) else None
    unknown: set[str] = set()
    if new and folder:
        folder.load()  # here, so that a run from the cache alone needs no library
        unknown = folder.unknown_words({word_of[text] for text in new if text in word_of})
    known_texts = [text for text in new if word_of.get(text) not in unknown]
    if not folder:  # the cache knows a folder by its files
        calls.check_repeated(stored, vectors, "in the cache")
    dimensions = {len(vector) for vector in vectors.values()}
    with progress_bar(len(new), f"{calls.name}: {counts_text(len(new), len(stored))}", progress=progress) as bar:
        for number, texts_at_once in enumerate(batched(new, calls.batch)):
            matrix = calls.vectors(list(texts_at_once), done=number * calls.batch)
            if lost := [row for row, text in enumerate(texts_at_once) if word_of.get(text) in unknown]:
                matrix = matrix.copy()
                matrix[lost] = 0
            dimensions.add(matrix.shape[1])
            if len(dimensions) > 1:
                raise calls.of_sizes(dimensions)
            matrix = matrix.astype(np.float32) if cache else matrix
            vectors.update(zip(texts_at_once, matrix, strict=True))
            if number == 0 and (folder or not stored):
                first = [text for text in texts_at_once if word_of.get(text) not in unknown]
                calls.check_repeated(first, vectors, "a moment before")
            if cache:
                cache.write((keys[text] for text in texts_at_once), matrix)
            bar.advance(len(texts_at_once))
    if len(new) > calls.batch:
        calls.check_repeated(known_texts, vectors, "at the beginning of this run")
    return vectors


def counts_text(sent: int, stored: int) -> str:
    """Return how many texts are sent to an encoder, and how many a cache has.

    >>> counts_text(0, 1032)
    '0 texts sent, 1,032 from the cache'
    """
    return f"{counted(sent, 'text')} sent, {stored:,} from the cache"


def _embedding(
    name: str,
    texts_of: dict[str, list[str]],
    vectors: dict[str, NDArray[np.floating]],
    templates: dict[str, tuple[str, ...]],
    fault: str,
) -> Embedding:
    """Return the means of words' vectors, with their errors if all words have two or more texts.

    `fault` says what the encoder does with words whose vector is 0, which are left out.
    """
    matrices = {word: np.stack([vectors[text] for text in texts]) for word, texts in texts_of.items()}
    plain = {word: matrix[0] if len(matrix) == 1 else matrix.mean(axis=0) for word, matrix in matrices.items()}
    zero = [word for word, mean in plain.items() if not mean.any()]
    if zero:
        what = f"{name} {fault} {name_some(map(repr, zero))}"
        if len(zero) == len(matrices):
            raise LostWordsError(
                f"{what}: all of the words. Check their language and spelling, and download the model again if files "
                "are missing."
            )
        why = ", since a zero vector has no direction" if "zero" in fault else ""
        warn_user(f"{what}: left out{why}.", LostWordsWarning)
        matrices = {word: matrix for word, matrix in matrices.items() if word not in set(zero)}
    _check_distinct(name, {word: plain[word] for word in matrices})
    left_out = tuple((word, f"{name} {fault} it") for word in zero)
    counts = np.array([len(matrix) for matrix in matrices.values()], dtype=np.int64)
    if counts.min() < _LEAST:
        return Embedding(tuple(matrices), np.stack([plain[word] for word in matrices]), name, left_out=left_out)
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
        left_out=left_out,
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

"""`encode`: an embedding from any function that returns vectors of texts, which one SQLite file keeps."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any, cast
from unicodedata import combining

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.checks import check_count, check_items, normalized
from bayesbias.base.files.vector_cache import VectorCache, vector_cache, vector_key
from bayesbias.base.number_text import counted
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.embedding import Embedding, as_vectors, check_word_list
from bayesbias.embeddings.encoders.folders import FolderEncoder, folder_encoder
from bayesbias.embeddings.language_models.device_loop import Precision, lacks_memory, steps_of
from bayesbias.embeddings.language_models.vector_spread import GROUPS, ContextualEmbedding, jackknife
from bayesbias.embeddings.templates import MARK, TemplatesLike, templates_of_words
from bayesbias.embeddings.vocabulary_sample import FEWEST, sampled_vectors
from bayesbias.errors import (
    ArgumentError,
    EmbeddingError,
    LostWordsError,
    LostWordsWarning,
    NotEnoughMemoryError,
    name_some,
    warn_user,
    worded,
)

_LEAST = 2  # texts of a word: one has no spread
_MOST_GROUPS = 60  # of templates that some words share, so that the spread needs little memory
_SAME = 1e-6  # largest difference between equal vectors, in units of the largest number
_WAIT = 1.0  # seconds before the second call for a batch, doubled before each further one


type Encoder = Callable[[list[str]], ArrayLike]
"""A function that returns one vector for each text of a list, as an array of shape (texts, dimensions)."""


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
    precision: Precision | None = None,
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
        a text is encoded once. It serves any number of encoders, identified by `name`.
    precision
        As for `contextual_embedding`, of a sentence-transformers folder; others have their own.
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
    calls = _Calls(check_count("batch", batch), check_count("attempts", attempts), progress)
    listed = getattr(words, "words", words)
    wanted = list(dict.fromkeys(check_word_list(check_items("words", listed, "a list of words, or a study"))))
    if not wanted:
        raise EmbeddingError("words is empty. Give words.")
    function, identity, label = _function(encoder, name, precision, cached=cache is not None)
    sentences = templates_of_words(wanted, (MARK,) if templates is None else templates)
    texts_of = {word: [text.replace(MARK, word) for text in sentences[word]] for word in wanted}
    others = [] if reference is None else check_word_list(check_items("reference", reference, "a list of words"))
    beside = {word: sentences[wanted[0]][0].replace(MARK, word) for word in others}
    texts = list(dict.fromkeys([*(text for word_texts in texts_of.values() for text in word_texts), *beside.values()]))
    keys = {text: vector_key(identity, text) for text in texts}
    word_of = {text: word for word, text in beside.items()}
    word_of |= {text: word for word, word_texts in texts_of.items() for text in word_texts}
    with vector_cache(cache) as opened:
        vectors = _encoded(function, keys, calls, opened, label, word_of)
    fault = "does not know" if isinstance(function, FolderEncoder) else "gives a zero vector to"
    steps = steps_of(function.precision) if isinstance(function, FolderEncoder) else ()
    embedding = replace(_embedding(label, texts_of, vectors, sentences, fault), steps=steps)
    if not beside:
        return embedding
    sample = sampled_vectors(list(beside), np.stack([vectors[text] for text in beside.values()]))
    if sample is None:
        count = sum(vectors[text].any() for text in beside.values())
        raise ArgumentError(
            f"reference has {count:,} words with a vector. Give at least {FEWEST:,}"
            f"{worded(', such as common_words()', '')}."
        )
    return replace(embedding, vocabulary_sample=sample)


def _function(encoder: Any, name: str | None, precision: Precision | None, *, cached: bool) -> tuple[Encoder, str, str]:
    """Return an encoder's function, its identity in a cache, and its name."""
    if isinstance(encoder, str | os.PathLike):
        loaded = folder_encoder(encoder, precision)
        return loaded, f"{loaded.name} {loaded.digest}", name or loaded.name
    if not callable(encoder):
        raise ArgumentError(
            f"encoder={encoder!r:.60}: give a function of a list of texts, such as SentenceTransformer(...).encode, or "
            "the folder of an encoder."
        )
    if precision is not None:
        raise ArgumentError("precision is that of an encoder in a folder. Leave it out: a function has its own.")
    if cached and name is None:
        raise ArgumentError("cache needs a name: functions have none that stays the same. Give name='provider-model'.")
    label = name or str(getattr(encoder, "__name__", type(encoder).__name__))
    return cast("Encoder", encoder), label, label


def _encoded(
    encoder: Encoder,
    keys: dict[str, bytes],
    calls: _Calls,
    cache: VectorCache | None,
    name: str,
    word_of: dict[str, str],
) -> dict[str, NDArray[np.floating]]:
    """Return the vectors of texts, of which `keys` has the keys, from the cache or the encoder.

    The vector is 0, in the cache too, if the tokenizer of a folder does not know the word of a text (`word_of`).
    """
    vectors: dict[str, NDArray[np.floating]] = dict(cache.read(keys)) if cache else {}
    # Texts of similar length together, so that an encoder pads them little.
    new = sorted((text for text in keys if text not in vectors), key=len, reverse=True)
    unknown: set[str] = set()
    if new and isinstance(encoder, FolderEncoder):
        encoder.load()  # here, so that a run from the cache alone needs no library
        unknown = encoder.unknown_words({word_of[text] for text in new if text in word_of})
    dimensions = {len(vector) for vector in vectors.values()}
    stored = f", {len(vectors):,} from the cache" if vectors else ""
    what = f"{name}: {len(new):,} texts in batches of {calls.batch:,}{stored}"
    with progress_bar(len(new), what, progress=calls.progress) as bar:
        for number, texts_at_once in enumerate(batched(new, calls.batch)):
            matrix = _call(encoder, list(texts_at_once), calls, done=number * calls.batch, cached=cache is not None)
            if lost := [row for row, text in enumerate(texts_at_once) if word_of.get(text) in unknown]:
                matrix = matrix.copy()
                matrix[lost] = 0
            dimensions.add(matrix.shape[1])
            if len(dimensions) > 1:
                raise EmbeddingError(
                    f"{name} returned vectors of {' and '.join(map(str, sorted(dimensions)))} dimensions. If the "
                    "encoder changed, give a new name and cache."
                )
            if cache:
                matrix = matrix.astype(np.float32)
                cache.write((keys[text] for text in texts_at_once), matrix)
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
            stored = " The texts before it are in the cache: the next run continues there." if cached else ""
            if lacks_memory(fault):
                advice = f"a smaller batch, such as batch={len(texts) // 4}" if len(texts) > 4 else "shorter texts"
                raise NotEnoughMemoryError(
                    f"The encoder has too little memory for {counted(len(texts), 'text')} at once. Give {advice}."
                    f"{stored}"
                ) from fault
            if attempt == calls.attempts:
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

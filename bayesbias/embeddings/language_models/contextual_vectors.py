"""Contextual vectors: means of a language model's vectors of a word over its contexts, or over templates."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_count, check_items, is_count, resolve_seed
from bayesbias.base.files.vector_cache import VectorCache, vector_cache, vector_key
from bayesbias.base.number_text import counted
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.embedding import check_word_list
from bayesbias.embeddings.language_models.context_index import ContextIndex, character_spans, find_words, read_contexts
from bayesbias.embeddings.language_models.device_loop import Precision, steps_of
from bayesbias.embeddings.language_models.language_model import LanguageModel, load_language_model, mean_piece_vectors
from bayesbias.embeddings.language_models.pieces import Integers, Pieces, bounds_of
from bayesbias.embeddings.language_models.vector_spread import GROUPS, ContextualEmbedding, jackknife
from bayesbias.embeddings.templates import IN_SENTENCES, MARK, checked_templates, load_templates, template_steps
from bayesbias.errors import (
    ArgumentError,
    BayesBiasWarning,
    EmbeddingError,
    LostWordsError,
    LostWordsWarning,
    name_some,
    warn_user,
)

_LEAST = 2  # fewest contexts of a word: one has no spread
_ROWS = 4_096  # contexts in memory at a time


@dataclass(frozen=True, eq=False)
class CachedVector:
    """The vector of a word in a model: mean over contexts, deviations, and numbers of contexts and pieces."""

    mean: NDArray[np.float32]
    deviations: NDArray[np.float32]
    contexts: int
    pieces: int


def vectors_of_numbers(numbers: NDArray[np.float32]) -> CachedVector | None:
    """Return the vectors in the numbers that `numbers_of_vectors` makes; None if they are others."""
    counts, rows = numbers[:_COUNTS], numbers[_COUNTS:]
    if not rows.size or rows.size % (1 + GROUPS) or ((counts < 1) | (counts > _MOST_COUNT) | (counts % 1 > 0)).any():
        return None
    mean, *deviations = rows.reshape(1 + GROUPS, -1)
    return CachedVector(mean, np.stack(deviations), int(counts[0]), int(counts[1]))


def numbers_of_vectors(vectors: CachedVector) -> NDArray[np.float32]:
    """Return the numbers that a cache keeps: counts of contexts and pieces, the mean, and the deviations."""
    counts = np.array([vectors.contexts, vectors.pieces], dtype=np.float32)
    return np.concatenate([counts, vectors.mean, vectors.deviations.ravel()])


type ContextsLike = ContextIndex | str | os.PathLike[str] | Sequence[str]
"""Contexts of words: an index of a corpus (`index_contexts`) or its file, or templates with ``WORD``."""

_COUNTS, _MOST_COUNT = 2, 1 << 24  # counts of a word beside its vectors in the cache, exact as float32


@dataclass(frozen=True, eq=False)
class _Places:
    """Places of a word: numbers of contexts, and where the word starts and ends (exclusive) in each."""

    contexts: NDArray[np.int64]
    spans: NDArray[np.int64]


def contextual_embedding(
    model: str | os.PathLike[str],
    words: Iterable[str],
    contexts: ContextsLike | None = None,
    *,
    layer: int = -1,
    most: int = 100,
    batch: int | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    cache: str | os.PathLike[str] | None = None,
    name: str | None = None,
    random_seed: int | None = None,
    progress: bool = True,
) -> ContextualEmbedding:
    """Return vectors of words from a language model such as BERT, averaged over contexts, with their spread.

    Parameters
    ----------
    model
        Folder that transformers' ``save_pretrained`` wrote, with .safetensors weights and tokenizer.
    words
        Words, such as ``study.words``.
    contexts
        Index of a corpus (`index_contexts`), or its file: vectors are averaged over the contexts of each word in any
        case, in each at the word's first occurrence. Or templates such as ``"This is WORD."``, the same for all words;
        None (default) takes fourteen with little meaning of their own (`load_templates`).
    layer
        Layer of the model: -1 (default) is the last, 0 the input of the first.
    most
        Largest number of contexts of a word; of more, a random sample is taken.
    batch
        Largest number of pieces in a batch, padding included; None (default) takes 4,096 on processors and 65,536
        elsewhere. What a device has too little memory for is halved.
    device
        Device such as ``"cpu"`` or ``"cuda"``; None takes a GPU if there is one.
    precision
        Numbers that the device multiplies: ``"float32"``, or what only GPUs are faster with, ``"tf32"`` and
        ``"bfloat16"``. None (default) takes float32 on processors, and on an NVIDIA GPU what keeps every contrast
        within 1e-4 of float32. `steps` of the embedding, and so tables, record it unless it is float32.
    cache
        File that keeps the vectors of words for the next run, created if necessary, also of several models. Its keys
        are hashes of model files, precision, word, contexts and layer; for words with more than `most` contexts they
        need the same `random_seed`.
    name
        Name of the embedding in reports; by default the folder's name.
    random_seed
        Seed of the sample of contexts of words with more than `most`, and of their groups.
    progress
        Whether to show progress bars.

    Returns
    -------
    ContextualEmbedding
        An `Embedding` with standard errors, which come from leaving out groups of contexts in turn, twenty at most. A
        word that the model splits is the mean of its pieces.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, or the model cannot be loaded.
    ArgumentError
        If there is no such layer, or a template does not hold WORD exactly once.
    LostWordsError
        If no word has a vector.
    InputFileError
        If the cache or the index is damaged.

    Warns
    -----
    BayesBiasWarning
        If the folder is that of a sentence encoder, which has other vectors (`encode`).
    LostWordsWarning
        If words have fewer than two contexts, or are unknown to the model: they are left out, and listed with the
        reason in the field `left_out`.

    Notes
    -----
    These are means of the vectors of a word's own pieces. A sentence encoder gives a text another vector, made of all
    its pieces: for that use `encode`.

    References
    ----------
    Templates: May, Wang, Bordia, Bowman and Rudinger (2019), On measuring social biases in sentence encoders.

    Examples
    --------
    With the folder of a model and the index of a corpus (see `bb.embeddings.index_contexts`)::

        study = bb.load_study("weat7")
        index = "wikipedia.contexts"
        embedding = bb.embeddings.contextual_embedding("bert-base-uncased/", study.words, index, random_seed=1)
        table = bb.distance_table(embedding, study)      # with cosine_sd and plain_distance
    """
    seed = resolve_seed(random_seed)
    most, batch = check_count("most", most, least=_LEAST), None if batch is None else check_count("batch", batch)
    wanted = list(dict.fromkeys(check_word_list(check_items("words", words, "a list of words"))))
    if not wanted:
        raise EmbeddingError("words is empty. Give words.")
    source = _checked_contexts(contexts)
    with vector_cache(cache) as opened:
        loaded = load_language_model(model, device=device, precision=precision, batch=batch)
        if (Path(model) / "modules.json").is_file():
            warn_user(
                f"{loaded.name} is a sentence encoder. These are vectors of its pieces, not those that it gives to "
                "texts: for these use bb.encode, or `bayesbias encode`.",
                BayesBiasWarning,
            )
        layer = _layer(loaded, layer)
        index = source if isinstance(source, ContextIndex) else None
        if isinstance(source, ContextIndex):
            places, least = _in_corpus(wanted, source, most, seed, progress), _LEAST
        else:  # with all templates for all words, errors of words are correlated
            places, least = _in_templates(wanted, source), len(source)
        origin = (index.sha256, index.longest) if index else source
        keys = {
            word: vector_key(loaded.digest, layer, word, origin, occurrences.contexts.tolist())
            for word, occurrences in places.items()
        }
        word_vectors = _cached(opened, {word: keys[word] for word in wanted}) if opened else {}
        new = [word for word in wanted if word not in word_vectors]
        reasons: dict[str, str] = {}
        size = max(1, _ROWS // max(1, *(len(occurrences.contexts) for occurrences in places.values())))
        total = sum(len(places[word].contexts) for word in new)
        with progress_bar(total, f"{loaded.name}: {total:,} contexts of {len(new):,} words", progress=progress) as bar:
            blocks = (
                _read(loaded, places, {word: _texts(word, places[word], source) for word in words_at_once}, least)
                for words_at_once in batched(new, size)
            )
            for block in loaded.loop.ahead(blocks):
                new_vectors = _word_vectors(loaded, block, layer=layer, advance=bar.advance)
                if opened and new_vectors:
                    opened.write((keys[word] for word in new_vectors), map(numbers_of_vectors, new_vectors.values()))
                word_vectors |= new_vectors
                reasons |= block.reasons
        lengths = {vectors.mean.size for vectors in word_vectors.values()}
        if opened and len(lengths) > 1:
            raise opened.damaged(f"vectors of {min(lengths):,} and {max(lengths):,} numbers")
    ordered = {word: word_vectors[word] for word in wanted if word in word_vectors}
    embedding = _embedding(name or loaded.name, ordered, reasons, paired=index is None)
    return replace(embedding, steps=(*steps_of(loaded.loop.precision), f"{_sentences(source, most)}, layer {layer}"))


def _cached(cache: VectorCache, keys: dict[str, bytes]) -> dict[str, CachedVector]:
    """Return the vectors of words in a cache."""
    word_vectors = {}
    for word, numbers in cache.read(keys).items():
        if (vectors := vectors_of_numbers(numbers)) is None:
            raise cache.damaged(f"the vectors of {word!r:.60} were changed")
        word_vectors[word] = vectors
    return word_vectors


def _checked_contexts(contexts: Any) -> ContextIndex | tuple[str, ...]:
    """Return an index, or templates that hold the placeholder once."""
    if contexts is None:
        return load_templates()
    if isinstance(contexts, ContextIndex):
        return contexts
    if isinstance(contexts, str | os.PathLike) and MARK not in os.fspath(contexts):
        return read_contexts(contexts)
    templates = checked_templates([contexts] if isinstance(contexts, str) else contexts, argument="contexts")
    if len(templates) < _LEAST:
        raise ArgumentError(f"contexts: {len(templates)} template. Give {_LEAST} or more: one shows no spread.")
    return templates


def _sentences(source: ContextIndex | tuple[str, ...], most: int) -> str:
    """Return the step of an embedding that records the contexts of its words."""
    if isinstance(source, ContextIndex):
        return f"{IN_SENTENCES}a corpus (hash {source.sha256[:16]}), up to {most:,} a word"
    return template_steps({MARK: source})[0]


def _layer(model: LanguageModel, layer: int) -> int:
    """Return a layer as a negative number; raise `ArgumentError` if the model lacks it."""
    layers: Any = getattr(model.model.config, "num_hidden_layers", None)
    if not is_count(layers):
        raise EmbeddingError(f"{model.name} does not say how many layers it has, as models of texts do. Give another.")
    if isinstance(layer, bool) or not isinstance(layer, int) or not -layers - 1 <= layer <= layers:
        raise ArgumentError(f"layer={layer!r}: {model.name} has the layers 0 to {layers}, or -1 to {-layers - 1}.")
    return layer if layer < 0 else layer - layers - 1


def _in_templates(words: list[str], templates: tuple[str, ...]) -> dict[str, _Places]:
    starts = np.array([template.index(MARK) for template in templates])
    numbers = np.arange(len(templates))
    return {word: _Places(numbers, np.stack([starts, starts + len(word)], axis=1)) for word in words}


def _in_corpus(words: list[str], index: ContextIndex, most: int, seed: int, progress: bool) -> dict[str, _Places]:
    """Return contexts of words in random order, with the first place of the word in each."""
    places = {}
    for word, occurrences in find_words(index, words, progress=progress).items():
        contexts, first = np.unique(occurrences.contexts, return_index=True)
        many = len(contexts) > most
        rng = np.random.default_rng([seed if many else 0, int.from_bytes(sha256(word.encode()).digest()[:8])])
        order = rng.permutation(len(contexts))[:most]
        lengths = np.full(len(order), occurrences.length)
        spans = character_spans(index, contexts[order], occurrences.words[first[order]], lengths)
        places[word] = _Places(contexts[order], spans)
    return places


def _texts(word: str, places: _Places, source: ContextIndex | tuple[str, ...]) -> list[str]:
    if isinstance(source, ContextIndex):
        return source.texts(places.contexts.tolist())
    return [template.replace(MARK, word) for template in source]


@dataclass(frozen=True, eq=False)
class _Block:
    """Contexts of words as pieces: the word's pieces in each, the contexts of each word, and reasons of words without.

    - `spans`: the first of the word's pieces in each context, and the one after the last: shape (contexts, 2).
    """

    rows: Pieces
    spans: Integers
    words: dict[str, slice]
    reasons: dict[str, str]


def _read(model: LanguageModel, places: dict[str, _Places], texts: dict[str, list[str]], least: int) -> _Block:
    """Return the contexts of words in pieces, without those that the model cannot read."""
    pieces = model.pieces([text for its_texts in texts.values() for text in its_texts])
    counts = [len(its_texts) for its_texts in texts.values()]
    numbers = np.arange(len(pieces))
    spans = pieces.spans(numbers, np.concatenate([places[word].spans.reshape(-1, 2) for word in texts]))
    firsts, lasts = spans.T + pieces.bounds[:-1]
    unknown_before = bounds_of(pieces.ids == model.unknown)
    unknown = (firsts == lasts) | (unknown_before[lasts] > unknown_before[firsts])
    fits = ~unknown & (pieces.lengths <= model.longest)
    chosen: list[Integers] = []
    words: dict[str, slice] = {}
    reasons: dict[str, str] = {}
    start = 0
    for word, its_numbers in zip(texts, np.split(numbers, np.cumsum(counts)[:-1]), strict=True):
        its_rows = its_numbers[fits[its_numbers]]
        if len(its_rows) < least:
            reasons[word] = _reason(model, len(its_numbers), int(unknown[its_numbers].sum()), least)
            continue
        words[word] = slice(start, start := start + len(its_rows))
        chosen.append(its_rows)
    contexts = np.concatenate(chosen) if chosen else numbers[:0]
    return _Block(pieces.take(contexts), spans[contexts], words, reasons)


def _word_vectors(
    model: LanguageModel, block: _Block, *, layer: int, advance: Callable[[int], None]
) -> dict[str, CachedVector]:
    """Return the vectors of words in their contexts."""
    if not block.words:
        return {}
    vectors = mean_piece_vectors(model, block.rows, block.spans, layer=layer, advance=advance)
    word_vectors = {}
    for word, its_rows in block.words.items():
        mean, deviations = jackknife(vectors[its_rows])
        most_pieces = int(np.diff(block.spans[its_rows]).max())
        word_vectors[word] = CachedVector(
            mean.astype(np.float32), deviations.astype(np.float32), its_rows.stop - its_rows.start, most_pieces
        )
    return word_vectors


def _reason(model: LanguageModel, contexts: int, unknown: int, least: int) -> str:
    if contexts < _LEAST:
        return f"{counted(contexts, 'context') if contexts else 'no contexts'}, and {_LEAST} are needed"
    if unknown > contexts - least:
        return f"{model.name} does not know it"
    return f"its contexts are longer than {model.name} reads"


def _embedding(
    name: str, word_vectors: dict[str, CachedVector], reasons: dict[str, str], *, paired: bool
) -> ContextualEmbedding:
    if reasons:
        named = name_some((f"{word!r} ({reason})" for word, reason in reasons.items()), 4)
        what = f"{name} gives no vector to {counted(len(reasons), 'word')}: {named}."
        if not word_vectors:
            raise LostWordsError(f"{what} Give more text, or other words.")
        warn_user(f"{what} The field left_out lists them all.", LostWordsWarning)
    entries = list(word_vectors.values())
    return ContextualEmbedding(
        words=tuple(word_vectors),
        vectors=np.stack([entry.mean for entry in entries]),
        name=name,
        deviations=np.stack([entry.deviations for entry in entries]),
        contexts=np.array([entry.contexts for entry in entries], dtype=np.int64),
        pieces=np.array([entry.pieces for entry in entries], dtype=np.int64),
        paired=paired,
        left_out=tuple(reasons.items()),
    )

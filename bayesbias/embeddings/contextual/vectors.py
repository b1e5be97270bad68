"""Contextual vectors: the mean of what a language model makes of a word in its contexts, or in templates."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_count, check_items, is_text, resolve_seed, with_progress
from bayesbias.embeddings.contexts.index import ContextIndex, character_spans, find_words, read_contexts
from bayesbias.embeddings.contextual.cache import WordVectors, cache_folder, cache_key, read_vectors, write_vectors
from bayesbias.embeddings.contextual.forward import mean_piece_vectors
from bayesbias.embeddings.contextual.language_model import LanguageModel, load_language_model
from bayesbias.embeddings.contextual.spread import ContextualEmbedding, jackknife
from bayesbias.embeddings.embedding import check_words
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsError, LostWordsWarning, name_some, warn_user

type ContextsLike = ContextIndex | str | os.PathLike[str] | Sequence[str]
"""Contexts of words: an index of a corpus (`index_contexts`) or its file, or templates that hold ``WORD``."""

MARK = "WORD"
"""Where a template holds the word."""

TEMPLATES = tuple(
    text.format(MARK)
    for text in (
        "This is {}.", "That is {}.", "There is {}.", "Here is {}.", "{} is here.", "{} is there.", "This is a {}.",
        "That is a {}.", "There is a {}.", "Here is a {}.", "The {} is here.", "The {} is there.", "It is {}.",
        "It is a {}.",
    )
)  # fmt: skip
"""Templates that say little beside the word, after those of May, Wang, Bordia, Bowman and Rudinger (2019)."""

_LEAST = 2  # contexts of a word: one alone has no spread
_ROWS = 4_096  # contexts that are in memory at a time


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a word is in some contexts: their numbers, and the word's first and last character + 1 in each."""

    contexts: NDArray[np.int64]
    spans: NDArray[np.int64]


def contextual_embedding(
    model: str | os.PathLike[str],
    words: Iterable[str],
    contexts: ContextsLike = TEMPLATES,
    *,
    layer: int = -1,
    most: int = 100,
    batch: int = 32,
    device: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    name: str | None = None,
    random_seed: int | None = None,
    progress: bool = True,
) -> ContextualEmbedding:
    """Return vectors of words that a language model such as BERT gives, averaged over contexts, with their spread.

    Parameters
    ----------
    model
        A folder that transformers' ``save_pretrained`` wrote: the weights as .safetensors, and the tokenizer.
    words
        Such as ``study.words``.
    contexts
        An index of a corpus (`index_contexts`), or its file: a word is averaged over contexts that hold it, in upper or
        lower case. Or templates such as ``"This is WORD."``, in which every word is put; the default are fourteen that
        say little beside the word.
    layer
        After which layer of the model: -1 (default) is the last, 0 what goes into the first.
    most
        Contexts of a word, at most; of more a random sample is taken.
    batch
        Contexts at a time.
    device
        ``"cpu"``, ``"cuda"`` and so on; None takes a graphics card if there is one.
    cache
        A folder in which the vectors of each word are kept, under a hash of the model's files, the word, its contexts
        and the layer; made if it is not there. With more than `most` contexts they are found again with the same
        `random_seed`.
    name
        What reports call the embedding; by default the folder's name.
    random_seed
        Which contexts are taken of a word with many, and how they are put into groups.
    progress
        Whether to show bars.

    Returns
    -------
    ContextualEmbedding
        An `Embedding` for all that takes one. A word that the model splits is the mean of its pieces. Its errors come
        from leaving out groups of contexts in turn, twenty at most.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, or the model cannot be loaded.
    ArgumentError
        If there is no such layer, or a template does not hold WORD once.
    LostWordsError
        If no word has a vector.
    InputFileError
        If a file of the cache or the index is damaged.

    Warns
    -----
    LostWordsWarning
        If words have fewer than two contexts, or the model does not know them: they are left out, and named with the
        reason in the field `left_out`.

    References
    ----------
    Templates: May, Wang, Bordia, Bowman and Rudinger (2019), On measuring social biases in sentence encoders.

    Examples
    --------
    The folder of a model, and an index of a corpus (see `bb.embeddings.index_contexts`)::

        study = bb.load_study("weat7")
        embedding = bb.embeddings.contextual_embedding("bert-base-uncased/", study.words, "wikipedia.contexts", random_seed=1)
        table = bb.distance_table(embedding, study)      # with a column cosine_sd
    """
    seed = resolve_seed(random_seed)
    most, batch = check_count("most", most, least=_LEAST), check_count("batch", batch)
    wanted = list(dict.fromkeys(check_words(check_items("words", words, "a list of words"))))
    if not wanted:
        raise EmbeddingError("words is empty, so there is nothing to ask the model about. Give words.")
    source = _checked_contexts(contexts)
    folder = cache_folder(cache)
    loaded = load_language_model(model, device=device)
    layer = _layer(loaded, layer)
    index = source if isinstance(source, ContextIndex) else None
    if isinstance(source, ContextIndex):
        places, least = _in_corpus(wanted, source, most, seed, progress), _LEAST
    else:  # all words stand in all templates, or their errors would not hang together
        places, least = _in_templates(wanted, source), len(source)
    origin = (index.sha256, index.longest) if index else source
    keys = {
        word: cache_key(loaded.digest, layer, word, origin, each.contexts.tolist()) for word, each in places.items()
    }
    found = {word: kept for word, key in keys.items() if (kept := read_vectors(folder, key))}
    new = [word for word in wanted if word not in found]
    reasons: dict[str, str] = {}
    size = max(1, _ROWS // max(1, *(len(each.contexts) for each in places.values())))
    blocks = [new[start : start + size] for start in range(0, len(new), size)]
    for block in with_progress(blocks, "vectors of words", progress=progress):
        texts = {word: _texts(word, places[word], source) for word in block}
        made, why = _word_vectors(loaded, places, texts, layer=layer, batch=batch, least=least)
        for word, vectors in made.items():
            write_vectors(folder, keys[word], vectors)
        found |= made
        reasons |= why
    return _embedding(
        name or loaded.name, {word: found[word] for word in wanted if word in found}, reasons, paired=index is None
    )


def _checked_contexts(contexts: Any) -> ContextIndex | tuple[str, ...]:
    """Return an index, or templates that hold the place of the word once."""
    if isinstance(contexts, ContextIndex):
        return contexts
    if isinstance(contexts, str | os.PathLike) and MARK not in os.fspath(contexts):
        return read_contexts(contexts)
    given = [contexts] if isinstance(contexts, str) else check_items("contexts", contexts, "an index, or templates")
    for template in given:
        if not is_text(template) or template.count(MARK) != 1:
            raise ArgumentError(f"contexts: the template {template!r:.60} must hold {MARK} once, as 'This is {MARK}.'")
    templates = tuple(dict.fromkeys(given))
    if len(templates) < _LEAST:
        raise ArgumentError(f"contexts: {len(templates)} template. Give {_LEAST} or more: one alone shows no spread.")
    return templates


def _layer(model: LanguageModel, layer: int) -> int:
    """Return a layer that the model has."""
    layers = int(model.model.config.num_hidden_layers)
    if isinstance(layer, bool) or not isinstance(layer, int) or not -layers - 1 <= layer <= layers:
        raise ArgumentError(f"layer={layer!r}: {model.name} has the layers 0 to {layers}, or -1 to {-layers - 1}.")
    return layer if layer < 0 else layer - layers - 1


def _in_templates(words: list[str], templates: tuple[str, ...]) -> dict[str, _Places]:
    starts = np.array([template.index(MARK) for template in templates])
    numbers = np.arange(len(templates))
    return {word: _Places(numbers, np.stack([starts, starts + len(word)], axis=1)) for word in words}


def _in_corpus(words: list[str], index: ContextIndex, most: int, seed: int, progress: bool) -> dict[str, _Places]:
    """Return contexts of words in an order without meaning, and where each word is first in them."""
    found = {}
    for word, each in find_words(index, words, progress=progress).items():
        contexts, first = np.unique(each.contexts, return_index=True)
        many = len(contexts) > most
        rng = np.random.default_rng([seed if many else 0, int.from_bytes(sha256(word.encode()).digest()[:8])])
        order = rng.permutation(len(contexts))[:most]
        lengths = np.full(len(order), each.length)
        spans = character_spans(index, contexts[order], each.words[first[order]], lengths)
        found[word] = _Places(contexts[order], spans)
    return found


def _texts(word: str, places: _Places, source: ContextIndex | tuple[str, ...]) -> list[str]:
    if isinstance(source, ContextIndex):
        return source.texts(places.contexts.tolist())
    return [template.replace(MARK, word) for template in source]


def _word_vectors(
    model: LanguageModel, places: dict[str, _Places], texts: dict[str, list[str]], *, layer: int, batch: int, least: int
) -> tuple[dict[str, WordVectors], dict[str, str]]:
    """Return the vectors of words in their texts; and why others have none."""
    rows: list[list[int]] = []
    pieces: list[range] = []
    chosen: dict[str, slice] = {}
    reasons: dict[str, str] = {}
    for word, its_texts in texts.items():
        start, unknown = len(rows), 0
        read_texts = model.pieces(its_texts) if its_texts else []
        for read, (first, last) in zip(read_texts, places[word].spans.tolist(), strict=True):
            inside = read.of(first, last)
            if not inside or any(read.numbers[place] == model.unknown for place in inside):
                unknown += 1
            elif len(read.numbers) <= model.longest:
                rows.append(read.numbers)
                pieces.append(inside)
        chosen[word] = slice(start, len(rows))
        if len(rows) - start < least:
            del rows[start:], pieces[start:]
            reasons[word] = _reason(model, len(its_texts), unknown, least)
    if not rows:
        return {}, reasons
    vectors = mean_piece_vectors(model, rows, pieces, layer=layer, batch=batch, progress=False)
    made = {}
    for word, its_rows in chosen.items():
        if word not in reasons:
            mean, deviations = jackknife(vectors[its_rows])
            count = its_rows.stop - its_rows.start
            most_pieces = max(map(len, pieces[its_rows]))
            made[word] = WordVectors(mean.astype(np.float32), deviations.astype(np.float32), count, most_pieces)
    return made, reasons


def _reason(model: LanguageModel, contexts: int, unknown: int, least: int) -> str:
    if contexts < _LEAST:
        return f"{contexts or 'no'} context{'s' * (contexts != 1)}, and {_LEAST} are needed"
    if unknown > contexts - least:
        return f"{model.name} does not know it"
    return f"its contexts are longer than {model.name} reads"


def _embedding(
    name: str, found: dict[str, WordVectors], reasons: dict[str, str], *, paired: bool
) -> ContextualEmbedding:
    if reasons:
        named = name_some((f"{word!r} ({reason})" for word, reason in reasons.items()), 4)
        what = f"{name} gives no vector to {len(reasons)} word{'s' * (len(reasons) > 1)}: {named}."
        if not found:
            raise LostWordsError(f"{what} Give more text, or other words.")
        warn_user(f"{what} The field left_out names them all.", LostWordsWarning)
    each = list(found.values())
    return ContextualEmbedding(
        words=tuple(found),
        vectors=np.stack([vectors.mean for vectors in each]),
        name=name,
        deviations=np.stack([vectors.deviations for vectors in each]),
        contexts=np.array([vectors.contexts for vectors in each], dtype=np.int64),
        pieces=np.array([vectors.pieces for vectors in each], dtype=np.int64),
        paired=paired,
        left_out=tuple(reasons.items()),
    )

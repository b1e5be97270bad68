"""Log probabilities of candidate words in a place of a sentence, from masked and from causal language models.

A word of several pieces: the first piece is predicted with all of the word masked, the second with the first one shown,
and so on (Kauf and Ivanova 2023, A better way to do masked language model scoring, ACL, "within-word left to right").
In a causal model, a word has ended where a piece follows that cannot continue it (Pimentel and Meister 2024, How to
compute the probability of a word, EMNLP).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import batched
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats, unit_rows
from bayesbias.embeddings.language_models.language_model import LanguageModel, log_probabilities_at
from bayesbias.embeddings.language_models.pieces import Pieces, flat_rows
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.embeddings.vocabulary_sample import FEWEST, FIRST_ENTRIES, SAMPLE
from bayesbias.errors import EmbeddingError

type Context = Literal["both", "left", "sentence"]
"""What the probability of a word is given: both sides of its place (masked models), or the text on its left (causal
models); or that of the whole sentence with the word is meant."""

type _Ids = tuple[int, ...]

_ROWS = 20_000  # rows of a masked model in memory at once
_CANDIDATES = 512  # continuations of one text that a causal model reads at once
_BYTE_MARK, _SENTENCE_PIECE_MARK, _CONTINUED = "\u0120", "\u2581", "##"
_SHORT = 2  # letters, of pieces that are no words


@dataclass(frozen=True)
class PromptIds:
    """A prompt as ids of pieces: those before the place, those after it, and those of each candidate."""

    before: _Ids
    after: _Ids
    words: tuple[_Ids, ...]


def prompt_ids(model: LanguageModel, prompts: Sequence[Prompt]) -> list[PromptIds]:
    """Return the ids of prompts.

    Texts are split at spaces before they are split into pieces, so that the pieces of a word depend only on what it
    touches: each word is split once for each such surrounding. Whether this holds is checked.
    """
    surroundings: dict[tuple[str, str], list[int]] = {}
    for row, prompt in enumerate(prompts):
        surroundings.setdefault(_touching(prompt), []).append(row)
    words_in: dict[int, dict[str, _Ids]] = {}
    for rows in surroundings.values():
        words = list(dict.fromkeys(word for row in rows for word in prompts[row].words))
        split = _word_ids(model, prompts[rows[0]], words)
        if rows[-1] != rows[0] and _word_ids(model, prompts[rows[-1]], words) != split:
            raise EmbeddingError(
                f"{model.name} splits words by the text around them ({prompts[rows[0]].before!r:.60}), which is not "
                "supported. Give a model whose tokenizer splits at spaces first."
            )
        words_in.update(dict.fromkeys(rows, split))
    around = _split(model, [(prompt.before, prompt.words[0], prompt.after) for prompt in prompts])
    return [
        PromptIds(before, after, tuple(words_in[row][word] for word in prompts[row].words))
        for row, (before, _, after) in enumerate(around)
    ]


def _word_ids(model: LanguageModel, prompt: Prompt, words: Sequence[str]) -> dict[str, _Ids]:
    parts = _split(model, [(prompt.before, word, prompt.after) for word in words])
    return {word: ids for word, (_, ids, _) in zip(words, parts, strict=True)}


def _split(model: LanguageModel, sentences: Sequence[tuple[str, str, str]]) -> list[tuple[_Ids, _Ids, _Ids]]:
    """Return the ids before a word, of the word, and after it, of sentences as these three texts."""
    pieces = model.pieces(["".join(sentence) for sentence in sentences])
    # The space before a word belongs to its first piece, or is a piece of its own.
    places = np.array([[len(before.rstrip()), len(before) + len(word)] for before, word, _ in sentences])
    spans = pieces.spans(np.arange(len(sentences)), places).tolist()
    ids = [tuple(part.tolist()) for part in np.split(pieces.ids, pieces.bounds[1:-1])]
    return [(text[:first], text[first:last], text[last:]) for text, (first, last) in zip(ids, spans, strict=True)]


def _touching(prompt: Prompt) -> tuple[str, str]:
    """Return the text that touches a word on both sides; "^" at the beginning of a text."""
    return re.split(r"\s", prompt.before)[-1] if prompt.before else "^", re.split(r"\s", prompt.after, maxsplit=1)[0]


def unknown_words(model: LanguageModel, prompt: Prompt) -> list[str]:
    """Return the candidates of a prompt that hold no piece, or a special one, such as that for unknown text."""
    (ids,) = prompt_ids(model, [prompt])
    special = {model.unknown, *model.tokenizer.all_special_ids}
    return [word for word, pieces in zip(prompt.words, ids.words, strict=True) if not pieces or special & {*pieces}]


# --- masked models ----------------------------------------------------------------------------------------

type _Row = tuple[_Ids, _Ids, _Ids, int]
"""Ids before the place, after it, the pieces of the word that are shown, and how many the word has."""

type MaskedRows = dict[_Row, dict[int, None]]
"""Texts that a masked model reads, each with the pieces whose probability it must give."""


def masked_candidates(
    model: LanguageModel,
    prompts: Sequence[PromptIds],
    rows: MaskedRows,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Floats]:
    """Return the log probability of each candidate of prompts, given the rest of its sentence, in nats.

    All candidates of one number of pieces have their first piece from one text. `rows` are those of `masked_rows`.
    `advance` is called with the number of texts of each batch.
    """
    log_of: dict[tuple[_Ids, _Ids, _Ids, int], dict[int, float]] = {}
    # Rows that are asked for many pieces apart from those that are asked for few: each batch has one width.
    ordered = sorted(rows, key=lambda row: len(rows[row]))
    for block in batched(ordered, _ROWS):
        for part in _of_like_width(block, rows):
            wanted = [list(rows[row]) for row in part]
            log_probabilities = _masked_rows_run(model, part, wanted, advance)
            for row, ids, values in zip(part, wanted, log_probabilities, strict=True):
                log_of[row] = dict(zip(ids, values[: len(ids)].tolist(), strict=True))
    return [
        np.array(
            [
                sum(
                    log_of[prompt.before, prompt.after, word[:step], len(word)][piece]
                    for step, piece in enumerate(word)
                )
                for word in prompt.words
            ]
        )
        for prompt in prompts
    ]


def masked_rows(prompts: Iterable[PromptIds]) -> MaskedRows:
    """Return the texts that a model reads, with the ids of the pieces whose probability each must give."""
    rows: MaskedRows = {}
    for prompt in prompts:
        for word in prompt.words:
            for step, piece in enumerate(word):
                rows.setdefault((prompt.before, prompt.after, word[:step], len(word)), {})[piece] = None
    return rows


def _of_like_width(block: Sequence[_Row], rows: Mapping[_Row, dict[int, None]]) -> Iterable[list[_Row]]:
    """Yield rows that are sorted by the number of pieces asked for in parts of at most twice the least number."""
    part: list[_Row] = []
    for row in block:
        if part and len(rows[row]) > 2 * len(rows[part[0]]):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def _masked_rows_run(
    model: LanguageModel, rows: Sequence[_Row], wanted: Sequence[Sequence[int]], advance: Callable[[int], None]
) -> NDArray[np.float64]:
    """Return the log probabilities of wanted pieces in the first masked place of each row: (rows, most wanted)."""
    mask = model.tokenizer.mask_token_id
    texts = [(*before, *shown, *([mask] * (count - len(shown))), *after) for before, after, shown, count in rows]
    _check_length(model, max(map(len, texts)))
    ids, bounds = flat_rows(texts)
    places = np.array([len(before) + len(shown) for before, _, shown, _ in rows])
    width = max(map(len, wanted))
    columns = np.array([[*pieces, *([pieces[0]] * (width - len(pieces)))] for pieces in wanted]).T
    pieces = Pieces(ids, bounds, np.zeros((len(ids), 2), dtype=np.int64))
    return log_probabilities_at(model, pieces, places, columns, advance)


# --- causal models ----------------------------------------------------------------------------------------


def causal_candidates(
    model: LanguageModel,
    prompts: Sequence[PromptIds],
    context: Context,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Floats]:
    """Return the log probability of each candidate of prompts in a causal model, in nats.

    With ``context="left"``, of the word given the text before it: its pieces, and that it ends there, given that the
    text before it ends with a whole word. With ``"sentence"``, of the whole sentence with the word. What candidates
    share is computed once. `advance` is called with 1 for each prompt.
    """
    answers = []
    for prompt in prompts:
        before = _with_start(model, prompt.before)
        if context == "left":
            totals = _left(model, before, prompt.words)
        else:
            totals = _continuations(model, before, [(*word, *prompt.after) for word in prompt.words]).totals
        answers.append(totals)
        advance(1)
    return answers


def _left(model: LanguageModel, before: _Ids, words: Sequence[_Ids]) -> Floats:
    continuing = continuing_pieces(model)
    read = _continuations(model, before, words, continuing)
    whole_word_before = np.log1p(-np.minimum(read.continued_before, 1 - 1e-15))
    # At the beginning of a text, a word has no space before it: its first piece looks like a continuation.
    begins = np.array([not continuing[word[0]] for word in words])
    return np.asarray(read.totals + np.log1p(-np.minimum(read.continued_after, 1 - 1e-15)) - begins * whole_word_before)


@lru_cache(maxsize=2)
def continuing_pieces(model: LanguageModel) -> NDArray[np.bool_]:
    """Return which pieces of a model's vocabulary continue a word when they follow it, shape (pieces,)."""
    tokenizer = model.tokenizer
    size = int(getattr(model.model.config.get_text_config(), "vocab_size", len(tokenizer)))
    pieces = _vocabulary(model)
    continuing = np.zeros(max(size, len(pieces)), dtype=bool)
    marks_continuations = any(piece.startswith(_CONTINUED) for piece in pieces)
    for number, piece in enumerate(pieces):
        if marks_continuations:
            continuing[number] = piece.startswith(_CONTINUED)
        elif not piece.startswith((_BYTE_MARK, _SENTENCE_PIECE_MARK, " ")):
            text = piece if piece.isascii() else tokenizer.convert_tokens_to_string([piece])
            continuing[number] = text[:1].isalnum() or text[:1] in ("'", "\u2019", "_", "\ufffd")
    continuing[[number for number in tokenizer.all_special_ids if 0 <= number < len(continuing)]] = False
    return continuing[:size]


def _vocabulary(model: LanguageModel) -> list[str]:
    """Return the pieces of a model's vocabulary by their ids, of which some may have none."""
    pieces = model.tokenizer.convert_ids_to_tokens(list(range(len(model.tokenizer))))
    return [piece or "" for piece in pieces]


@dataclass(frozen=True, eq=False)
class _Continuations:
    """Log probabilities of continuations of a text, (continuations,), and the probabilities that a word goes on.

    `continued_after` (continuations,) is the probability that a continuation is followed by a piece that continues its
    last word, `continued_before` that the text is.
    """

    totals: Floats
    continued_after: Floats
    continued_before: float


def _continuations(
    model: LanguageModel, before: _Ids, continuations: Sequence[_Ids], continuing: NDArray[np.bool_] | None = None
) -> _Continuations:
    """Return the log probability of each continuation of a text; `continuing` marks the pieces that continue a word."""
    import torch

    _check_length(model, len(before) + max(map(len, continuations)))
    network, device = model.model, model.loop.device
    exact = torch.float32 if device.type == "mps" else torch.float64
    mask_of_pieces = None if continuing is None else torch.from_numpy(continuing).to(device)

    def goes_on(logits: Any) -> Any:
        if mask_of_pieces is None:
            return torch.zeros(logits.shape[:-1], dtype=exact, device=device)
        return (torch.softmax(logits.to(exact), dim=-1) * mask_of_pieces[: logits.shape[-1]]).sum(dim=-1)

    totals, after = [], []
    with model.errors(), model.loop.computing():
        shared = network(torch.tensor([before], device=device), use_cache=True)
        first = torch.log_softmax(shared.logits[0, -1].to(exact), dim=-1)
        going_on = float(goes_on(shared.logits[0, -1]))
        for number, part in enumerate(batched(continuations, _CANDIDATES)):
            lengths = torch.tensor([len(ids) for ids in part], device=device)
            width = int(lengths.max())
            ids = torch.tensor([[*ids, *([0] * (width - len(ids)))] for ids in part], device=device)
            mask = torch.arange(width, device=device) < lengths[:, None]
            if number:  # what was kept of the text was repeated for the part before
                shared = network(torch.tensor([before], device=device), use_cache=True)
            shared.past_key_values.batch_repeat_interleave(len(part))
            seen = torch.ones((len(part), len(before)), dtype=torch.long, device=device)
            answers = network(
                ids,
                attention_mask=torch.cat([seen, mask.long()], dim=1),
                past_key_values=shared.past_key_values,
                use_cache=True,
            )
            log_probabilities = torch.log_softmax(answers.logits[:, :-1].to(exact), dim=-1)
            later = log_probabilities.gather(2, ids[:, 1:, None])[..., 0] * mask[:, 1:]
            totals.append((first[ids[:, 0]] + later.sum(dim=1)).cpu().numpy())
            last = answers.logits[torch.arange(len(part), device=device), lengths - 1]
            after.append(goes_on(last).cpu().numpy())
    return _Continuations(np.concatenate(totals).astype(float), np.concatenate(after).astype(float), going_on)


def _with_start(model: LanguageModel, ids: _Ids) -> _Ids:
    """Return the ids of the text before a word, after the piece that begins texts, if the model has one."""
    start = model.tokenizer.bos_token_id
    if start is not None and ids[:1] != (start,):
        return (start, *ids)
    if not ids:
        raise EmbeddingError(
            f"{model.name} has no piece for the beginning of a text, so that a word there has no probability. Give "
            "templates with text before the word."
        )
    return ids


def _check_length(model: LanguageModel, pieces: int) -> None:
    if pieces > model.longest:
        raise EmbeddingError(
            f"A sentence has {pieces:,} pieces, and {model.name} reads at most {model.longest:,}. Give shorter "
            "templates."
        )


# --- vectors of words -------------------------------------------------------------------------------------


def word_vectors(model: LanguageModel, words: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Return unit vectors of words, and of a sample of the vocabulary, from the rows of the model's output layer.

    A word of several pieces has the mean of their rows. Shapes: (words, dimensions), (sampled pieces, dimensions). None
    if the output layer has no rows, or the vocabulary too few whole words.
    """
    layer = model.model.get_output_embeddings()
    if layer is None or getattr(layer, "weight", None) is None:
        return None
    rows = layer.weight.detach().float().cpu().numpy().astype(np.float64)
    continuing = continuing_pieces(model)
    whole = [
        number
        for number, piece in enumerate(_vocabulary(model)[: min(len(rows), FIRST_ENTRIES)])
        if not continuing[number] and piece.lstrip(_BYTE_MARK + _SENTENCE_PIECE_MARK).isalpha() and len(piece) > _SHORT
    ]
    if len(whole) < FEWEST:
        return None
    sample = np.unique(np.linspace(0, len(whole) - 1, SAMPLE).astype(np.intp))
    split = prompt_ids(model, [Prompt("the ", ".", tuple(words))])[0].words
    vectors = np.stack([rows[list(ids)].mean(axis=0) for ids in split])
    return unit_rows(vectors), unit_rows(rows[np.array(whole)[sample]])

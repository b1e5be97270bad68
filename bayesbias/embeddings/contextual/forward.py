"""Asking a language model in batches: of rows of about one length, so that little is padded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import with_progress
from bayesbias.embeddings.contextual.language_model import LanguageModel


def masked_log_probabilities(
    model: LanguageModel, rows: Sequence[Sequence[int]], places: Sequence[int], *, batch: int, progress: bool
) -> NDArray[np.float64]:
    """Return the log probability that a model gives the piece at one place of each row, that piece being masked.

    Parameters
    ----------
    model
        One that predicts masked words.
    rows
        Numbers of pieces, as the model reads them.
    places
        Of each row the place of the piece that is masked.
    batch
        Rows at a time.
    progress
        Whether to show a bar.
    """
    import torch

    found = np.empty(len(rows), dtype=np.float64)
    chosen: list[Any] = []
    with torch.inference_mode(), _only_places(model.model, chosen):
        for block, numbers, mask in _batches(model, rows, batch, "masked words", progress=progress):
            at = torch.tensor([places[row] for row in block], device=model.device)
            each = torch.arange(len(block), device=model.device)
            targets = numbers[each, at]
            numbers[each, at] = model.tokenizer.mask_token_id
            chosen[:] = [each, at]
            logits = model.model(input_ids=numbers, attention_mask=mask).logits
            scores = logits[:, 0] if logits.shape[1] == 1 else logits[each, at]
            found[block] = torch.log_softmax(scores.double(), dim=-1)[each, targets].cpu().numpy()
    return found


def mean_piece_vectors(
    model: LanguageModel,
    rows: Sequence[Sequence[int]],
    places: Sequence[range],
    *,
    layer: int,
    batch: int,
    progress: bool,
) -> NDArray[np.float32]:
    """Return the mean vector of some pieces of each row, after one of a model's layers: shape (rows, dimensions).

    Parameters
    ----------
    model
        Any.
    rows
        Numbers of pieces, as the model reads them.
    places
        Of each row the pieces of the word.
    layer
        Counted from 0, what goes into the first layer; or from -1, the last, backwards.
    batch
        Rows at a time.
    progress
        Whether to show a bar.
    """
    import torch

    found: list[Any] = [None] * len(rows)
    with torch.inference_mode():
        for block, numbers, mask in _batches(model, rows, batch, "words in context", progress=progress):
            answer = model.model(input_ids=numbers, attention_mask=mask, output_hidden_states=True)
            hidden = answer.hidden_states[layer]
            for place, row in enumerate(block):
                pieces = places[row]
                found[row] = hidden[place, pieces.start : pieces.stop].mean(dim=0).float().cpu().numpy()
    return np.stack(found)


def _batches(
    model: LanguageModel, rows: Sequence[Sequence[int]], batch: int, what: str, *, progress: bool
) -> Iterator[tuple[list[int], Any, Any]]:
    """Yield which rows are in a batch, their numbers of pieces padded to one length, and what is no padding."""
    import torch

    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    blocks = [order[start : start + batch] for start in range(0, len(order), batch)]
    padding = model.tokenizer.pad_token_id or 0
    for block in with_progress(blocks, what, progress=progress):
        width = max(len(rows[row]) for row in block)
        numbers = torch.full((len(block), width), padding, device=model.device)
        mask = torch.zeros_like(numbers)
        for place, row in enumerate(block):
            numbers[place, : len(rows[row])] = torch.tensor(rows[row], device=model.device)
            mask[place, : len(rows[row])] = 1
        yield block, numbers, mask


@contextmanager
def _only_places(model: Any, chosen: list[Any]) -> Iterator[None]:
    """Let the last layer, which gives every word of the vocabulary a number, see the masked places alone."""
    layer = model.get_output_embeddings()
    if layer is None:
        yield
        return

    def keep(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        each, at = chosen
        return (inputs[0][each, at].unsqueeze(1), *inputs[1:])

    hook = layer.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        hook.remove()

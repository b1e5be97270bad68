"""Running a language model on batches of rows of similar length, with little padding."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.progress import with_progress
from bayesbias.embeddings.contextual.language_model import LanguageModel


def masked_log_probabilities(
    model: LanguageModel, rows: Sequence[Sequence[int]], places: Sequence[int], *, batch: int, progress: bool
) -> NDArray[np.float64]:
    """Return the log probability of the piece at one place of each row, given the row with this piece masked.

    Parameters
    ----------
    model
        Model that predicts masked words.
    rows
        Token ids of the pieces.
    places
        Place of the masked piece in each row.
    batch
        Rows in a batch.
    progress
        Whether to show a bar.
    """
    import torch

    log_probabilities = np.empty(len(rows), dtype=np.float64)
    masked: list[Any] = []
    with torch.inference_mode(), _only_places(model.model, masked):
        for block, numbers, mask in _batches(model, rows, batch, "masked words", progress=progress):
            columns = torch.tensor([places[row] for row in block], device=model.device)
            batch_rows = torch.arange(len(block), device=model.device)
            targets = numbers[batch_rows, columns]
            numbers[batch_rows, columns] = model.tokenizer.mask_token_id
            masked[:] = [batch_rows, columns]
            logits = model.model(input_ids=numbers, attention_mask=mask).logits
            scores = logits[:, 0] if logits.shape[1] == 1 else logits[batch_rows, columns]
            log_softmax = torch.log_softmax(scores.double(), dim=-1)
            log_probabilities[block] = log_softmax[batch_rows, targets].cpu().numpy()
    return log_probabilities


def mean_piece_vectors(
    model: LanguageModel,
    rows: Sequence[Sequence[int]],
    places: Sequence[range],
    *,
    layer: int,
    batch: int,
    advance: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float32]:
    """Return the mean vector of some pieces of each row after a layer: an array of shape (rows, dimensions).

    Parameters
    ----------
    model
        Language model.
    rows
        Token ids of the pieces.
    places
        Places of the word's pieces in each row.
    layer
        Number of the layer: 0 is the input of the first layer, -1 the last layer.
    batch
        Rows in a batch.
    advance
        Function that is called with the number of rows of each batch that is done.
    """
    import torch

    means: list[Any] = [None] * len(rows)
    with torch.inference_mode():
        for block, numbers, mask in _batches(model, rows, batch, "words in context", progress=False):
            answer = model.model(input_ids=numbers, attention_mask=mask, output_hidden_states=True)
            hidden = answer.hidden_states[layer]
            for place, row in enumerate(block):
                pieces = places[row]
                means[row] = hidden[place, pieces.start : pieces.stop].mean(dim=0).float().cpu().numpy()
            advance(len(block))
    return np.stack(means)


def _batches(
    model: LanguageModel, rows: Sequence[Sequence[int]], batch: int, what: str, *, progress: bool
) -> Iterator[tuple[list[int], Any, Any]]:
    """Yield the rows of each batch, their token ids padded to one length, and the mask of what is not padding."""
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
def _only_places(model: Any, masked: list[Any]) -> Iterator[None]:
    """Apply the output layer, whose size is that of the vocabulary, to the masked places only."""
    layer = model.get_output_embeddings()
    if layer is None:
        yield
        return

    def keep(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        batch_rows, columns = masked
        return (inputs[0][batch_rows, columns].unsqueeze(1), *inputs[1:])

    hook = layer.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        hook.remove()

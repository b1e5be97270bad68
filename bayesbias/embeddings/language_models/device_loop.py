"""The loop in which models of texts run on a device: one array to the device for a block of rows, one array back."""

from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_choice
from bayesbias.embeddings.language_models.pieces import Integers
from bayesbias.errors import ArgumentError, BayesBiasError, NotEnoughMemoryError, library_reason

type Precision = Literal["float32", "tf32", "bfloat16"]
"""Numbers that a device multiplies: float32, float32 cut to ten bits (TF32), or bfloat16, which has seven."""

PLAIN: Precision = "float32"
"""Precision on processors."""
_ON_GPU: Precision = "tf32"  # the fastest that keeps contrasts within 1e-4 of float32: see the guide
_LEAST_CAPABILITY = 8  # of a GPU that has TF32 and bfloat16
_PIECES, _PIECES_ON_GPU = 4_096, 65_536  # in a batch


@dataclass(frozen=True)
class DeviceLoop:
    """A device of PyTorch, the precision of its products, and the largest number of pieces in a batch."""

    device: Any
    precision: Precision
    pieces: int

    def run(
        self,
        forward: Callable[[dict[str, Any], Any], Any],
        features: Mapping[str, Integers],
        *,
        beside: Integers | None = None,
        left: bool = False,
        advance: Callable[[int], None] = lambda _: None,
    ) -> NDArray[Any]:
        """Return what a model gives for each row of a block, in the order of the rows.

        - `forward`: function of the features of a batch and of its columns of `beside`, which returns one row for each
          row of the batch, on the device.
        - `features`: ids and the like, padded to one length, and the mask `attention_mask`: shapes (rows, longest).
        - `beside`: further whole numbers of each row: shape (kinds, rows).
        - `left`: whether the padding comes first.
        - `advance`: function that is called with the number of rows of each batch.

        A batch for which the device has too little memory is halved, as are those after it.
        """
        import torch

        rows, longest = features["attention_mask"].shape
        lengths = features["attention_mask"].sum(axis=1)
        order = np.argsort(-lengths, kind="stable")  # the longest first: a lack of memory shows at once
        numbers = np.empty((0, rows), dtype=np.int64) if beside is None else beside
        arrays = [np.asarray(values)[order].ravel() for values in features.values()]
        sent = torch.from_numpy(np.concatenate([*arrays, numbers[:, order].ravel()])).to(self.device)
        block = sent[: len(features) * rows * longest].view(len(features), rows, longest)
        columns = sent[block.numel() :].view(len(numbers), rows)
        waiting, parts = _batches(lengths[order], self.pieces), []
        with self.computing():
            while waiting:
                first, last = waiting.pop(0)
                width = int(lengths[order[first]])
                places = slice(longest - width, None) if left else slice(width)
                batch = dict(zip(features, block[:, first:last, places].contiguous(), strict=True))
                try:
                    parts.append(forward(batch, columns[:, first:last]))
                except torch.OutOfMemoryError:
                    if last - first == 1:
                        raise
                    waiting = [half for span in ((first, last), *waiting) for half in _halves(*span)]
                    continue
                advance(last - first)
            returned: NDArray[Any] = torch.cat(parts).cpu().numpy()
        answers = np.empty_like(returned)
        answers[order] = returned
        return answers

    def place(self, model: Any) -> None:
        """Move a model to the device; in bfloat16, its weights are rounded."""
        import torch

        try:
            model.to(self.device, torch.bfloat16 if self.precision == "bfloat16" else None)
        except RuntimeError as fault:
            if not lacks_memory(fault):
                raise
            raise NotEnoughMemoryError(
                f"The model needs more memory than is free on {self.device}. Give device='cpu', or free memory there."
            ) from fault

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Compute in the precision of the loop, without gradients; what was set before is set again at the end."""
        import torch

        kind, matmul = self.device.type, torch.backends.cuda.matmul
        # PyTorch 2.9 has a new name for the setting.
        is_new = hasattr(matmul, "fp32_precision")
        name = "fp32_precision" if is_new else "allow_tf32"
        values: tuple[Any, Any] = ("ieee", "tf32") if is_new else (False, True)
        with torch.inference_mode():
            if kind != "cuda":
                yield
                return
            before = getattr(matmul, name)
            setattr(matmul, name, values[self.precision == "tf32"])
            try:
                yield
            finally:
                setattr(matmul, name, before)

    def ahead[Item](self, items: Generator[Item]) -> Iterator[Item]:
        """Yield items; beside a device other than the processor, a thread makes the next while one is used."""
        if self.device.type == "cpu":
            yield from items
            return
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(next, items, None)
            while (item := waiting.result()) is not None:
                waiting = thread.submit(next, items, None)
                yield item


def device_loop(
    device: str | None,
    precision: str | None,
    pieces: int | None,
    error: type[BayesBiasError] = ArgumentError,
) -> DeviceLoop:
    """Return the loop on a device, by default a CUDA device if there is one; raise `error` if it cannot be used here.

    - `precision`: None takes float32 on processors, and on a GPU what keeps every contrast within 1e-4 of float32.
    - `pieces`: largest number of pieces in a batch, padding included; None takes what the device is best at.
    """
    import torch

    place = torch.device("cuda" if torch.cuda.is_available() else "cpu") if device is None else None
    if place is None:
        try:
            place = torch.device(device)
            torch.zeros(1, device=place).item()  # the device "meta" has no numbers
        # The error depends on whether the text names no device, or one that this machine or build lacks.
        except (RuntimeError, TypeError, AssertionError, NotImplementedError) as fault:
            raise error(
                f"device={device!r:.60} cannot be used here ({library_reason(fault)[:-1]}). Leave it out, or give "
                "'cpu'."
            ) from fault
    is_gpu = place.type == "cuda" and torch.cuda.get_device_capability(place)[0] >= _LEAST_CAPABILITY
    chosen: Precision = (_ON_GPU if is_gpu else PLAIN) if precision is None else checked_precision(precision)
    if chosen == "tf32" and not is_gpu:
        raise error(f"precision='tf32': {place} has no TF32. Leave it out, or give 'float32'.")
    return DeviceLoop(place, chosen, pieces or (_PIECES if place.type == "cpu" else _PIECES_ON_GPU))


def lacks_memory(fault: BaseException) -> bool:
    """Return whether an error says that a device, or the machine, has too little memory.

    >>> lacks_memory(MemoryError()), lacks_memory(RuntimeError("shapes differ"))
    (True, False)
    """
    name = type(fault).__name__  # of PyTorch, which has no error of its own for the memory of the machine
    return isinstance(fault, MemoryError) or name == "OutOfMemoryError" or "DefaultCPUAllocator" in str(fault)


def checked_precision(precision: str) -> Precision:
    """Return a precision; raise `ArgumentError` if there is none of this name."""
    return cast("Precision", check_choice("precision", precision, get_args(Precision.__value__)))


def with_precision(digest: str, precision: Precision) -> str:
    """Return the identity of a model's numbers in caches; that of float32 is the model's own."""
    return digest if precision == PLAIN else f"{digest} {precision}"


def steps_of(precision: Precision) -> tuple[str, ...]:
    """Return the steps of an embedding that record a precision other than float32."""
    return () if precision == PLAIN else (f"computed in {precision}",)


def padded(
    lengths: Integers, features: Mapping[str, Integers], padding: Mapping[str, int], *, left: bool = False
) -> dict[str, Integers]:
    """Return rows padded to one length, and the mask of what is not padding: shapes (rows, longest).

    - `features`: the numbers of all rows, row after row, such as ``"input_ids"``; `padding` for each its padding.
    - `left`: whether the padding comes first.
    """
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    mask = mask[:, ::-1] if left else mask
    arrays = {name: np.full(mask.shape, padding[name], dtype=np.int64) for name in features}
    for name, numbers in features.items():
        arrays[name][mask] = numbers
    return {**arrays, "attention_mask": mask.astype(np.int64)}


def _batches(lengths: Integers, pieces: int) -> list[tuple[int, int]]:
    """Return the first row of each batch and the one after its last, of rows that are sorted, the longest first.

    >>> _batches(np.array([4, 3, 2, 2, 1]), 8)
    [(0, 2), (2, 5)]
    """
    batches, first = [], 0
    while first < len(lengths):
        last = min(len(lengths), first + max(1, pieces // max(1, int(lengths[first]))))
        batches.append((first, last))
        first = last
    return batches


def _halves(first: int, last: int) -> list[tuple[int, int]]:
    middle = (first + last + 1) // 2
    return [(first, middle), (middle, last)] if middle < last else [(first, last)]

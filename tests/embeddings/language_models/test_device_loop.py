"""The loop on a device: copies of a block, memory, precision, and texts that a thread reads beside the device."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.device_loop import DeviceLoop, device_loop, padded
from bayesbias.embeddings.language_models.language_model import (
    load_language_model,
    masked_log_probabilities,
    mean_piece_vectors,
)
from bayesbias.errors import ArgumentError, NotEnoughMemoryError

TEXTS = [f"North: bado saw {'the ' * count}gile." for count in range(12)]
LENGTHS = np.array([2, 4, 1, 3])
ROWS = padded(LENGTHS, {"input_ids": np.arange(1, 11)}, {"input_ids": 0})


def copies(run: Callable[[], Any]) -> Counter[str]:
    """Count what a device would wait for: arrays sent there and back, and numbers that are read there."""
    import torch

    counts: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            counts[name] += 1
            return function(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for owner, names in ((torch, ("from_numpy", "tensor")), (torch.Tensor, ("cpu", "numpy", "item", "tolist"))):
            for name in names:
                patch.setattr(owner, name, counted(name, getattr(owner, name)))
        run()
    return counts


@pytest.mark.extras
@pytest.mark.parametrize("pieces", [8, 4_096])
def test_a_block_is_sent_once_and_comes_back_once_however_many_batches_it_has(bert: Path, pieces: int) -> None:
    model = load_language_model(bert, predicts="masked", device="cpu", batch=pieces)
    read = model.pieces(TEXTS)
    places = np.full(len(TEXTS), 3)
    spans = np.stack([places, places + 1], axis=1)
    batches: list[int] = []
    counts = copies(lambda: mean_piece_vectors(model, read, spans, layer=-1, advance=batches.append))
    assert counts == {"from_numpy": 1, "cpu": 1, "numpy": 1}
    assert (sum(batches), len(batches) == 1) == (len(TEXTS), pieces == 4_096)
    assert copies(lambda: masked_log_probabilities(model, read, places)) == counts


@pytest.mark.extras
def test_batches_have_no_more_pieces_than_they_may(bert: Path) -> None:
    shapes: list[tuple[int, ...]] = []

    def forward(batch: dict[str, Any], columns: Any) -> Any:
        shapes.append(tuple(batch["input_ids"].shape))
        return batch["input_ids"].sum(dim=1) + columns[0]

    answers = device_loop("cpu", None, 6).run(forward, ROWS, beside=100 * np.arange(4)[None])
    assert shapes == [(1, 4), (2, 3), (1, 1)]
    assert answers.tolist() == [1 + 2, 3 + 4 + 5 + 6 + 100, 7 + 200, 8 + 9 + 10 + 300]


@pytest.mark.extras
def test_a_batch_that_needs_too_much_memory_is_halved() -> None:
    import torch

    most = 1
    sizes: list[int] = []

    def forward(batch: dict[str, Any], _: Any) -> Any:
        if len(batch["input_ids"]) > most:
            raise torch.OutOfMemoryError
        sizes.append(len(batch["input_ids"]))
        return batch["input_ids"].sum(dim=1)

    loop = device_loop("cpu", None, None)
    assert loop.run(forward, ROWS).tolist() == [3, 18, 7, 27]
    assert sizes == [1, 1, 1, 1]
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        loop.run(forward, ROWS)


@pytest.mark.extras
@pytest.mark.parametrize(("name", "expected"), [("OutOfMemoryError", NotEnoughMemoryError), ("Other", RuntimeError)])
def test_a_model_that_does_not_fit_on_a_device_is_a_lack_of_memory(name: str, expected: type[Exception]) -> None:
    def to(*_: object) -> None:
        raise type(name, (RuntimeError,), {})("of the device")

    with pytest.raises(expected, match=r"more memory than is free on cpu|of the device"):
        device_loop("cpu", None, None).place(SimpleNamespace(to=to))


def test_padding_before_and_after() -> None:
    right, left = (padded(LENGTHS, {"ids": np.arange(1, 11)}, {"ids": 0}, left=left) for left in (False, True))
    assert right["ids"].tolist() == [[1, 2, 0, 0], [3, 4, 5, 6], [7, 0, 0, 0], [8, 9, 10, 0]]
    assert left["ids"].tolist() == [[0, 0, 1, 2], [3, 4, 5, 6], [0, 0, 0, 7], [0, 8, 9, 10]]
    assert ((left["ids"] > 0) == left["attention_mask"]).all()


@pytest.mark.extras
def test_rows_with_their_padding_first_lose_what_no_row_of_a_batch_has() -> None:
    rows = padded(LENGTHS, {"input_ids": np.arange(1, 11)}, {"input_ids": 0}, left=True)
    lasts = device_loop("cpu", None, 6).run(lambda batch, _: batch["input_ids"][:, -1], rows, left=True)
    assert lasts.tolist() == [2, 6, 7, 10]


def test_texts_are_read_in_a_thread_beside_another_device_than_the_processor() -> None:
    def items(count: int) -> Any:
        for number in range(count):
            yield number, threading.current_thread() is threading.main_thread()
        if count == 2:
            raise ValueError("the text is damaged")

    for device, in_main_thread in (("cpu", True), ("cuda", False)):
        loop = DeviceLoop(SimpleNamespace(type=device), "float32", 8)
        assert list(loop.ahead(items(3))) == [(number, in_main_thread) for number in range(3)]
        with pytest.raises(ValueError, match="damaged"):
            list(loop.ahead(items(2)))


@pytest.mark.extras
def test_the_precision_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    assert (device_loop("cpu", None, None).precision, device_loop("cpu", "bfloat16", 7).pieces) == ("float32", 7)
    with pytest.raises(ArgumentError, match="tf32"):
        device_loop("cpu", "tf32", None)
    with pytest.raises(ArgumentError, match="float32"):
        device_loop("cpu", "float64", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for capability, expected in (((9, 0), "tf32"), ((8, 0), "tf32"), ((7, 5), "float32")):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _, capability=capability: capability)
        loop = device_loop(None, None, None)
        assert (loop.device.type, loop.precision, loop.pieces) == ("cuda", expected, 65_536)


@pytest.mark.extras
def test_what_was_set_before_is_set_again() -> None:
    import torch

    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    for precision, within in (("tf32", "tf32"), ("float32", "ieee")):
        with DeviceLoop(torch.device("cuda"), precision, 8).computing():  # type: ignore[arg-type]
            assert matmul.fp32_precision == within
        assert matmul.fp32_precision == before


@pytest.mark.extras
def test_the_precision_is_recorded_and_has_vectors_of_its_own_in_a_cache(bert: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"cache": tmp_path / "cache.sqlite", "progress": False, "device": "cpu"}
    words = ["bado", "gile"]
    exact = bb.embeddings.contextual_embedding(bert, words, **given)
    coarse = bb.embeddings.contextual_embedding(bert, words, precision="bfloat16", **given)
    (where,) = exact.steps
    assert where.startswith("in sentences of 14 templates")
    assert coarse.steps == ("computed in bfloat16", where)
    gap = np.linalg.norm(coarse.vectors - exact.vectors) / np.linalg.norm(exact.vectors)
    assert 1e-5 < gap < 0.05
    again = bb.embeddings.contextual_embedding(bert, words, **given)
    np.testing.assert_array_equal(again.vectors, exact.vectors)
    study = bb.Study(
        name="made",
        protected={"a": ["bado"]},
        attributes={"b": ["gile"]},
        associated=[("a", "b")],
        human=["kado"],
        neutral=["nado"],
    )
    whole = bb.embeddings.contextual_embedding(bert, study.words, precision="bfloat16", **given)
    table = bb.distance_table(whole, study)
    assert table.attrs["bayesbias"]["embedding"]["steps"] == f"computed in bfloat16; {where}"

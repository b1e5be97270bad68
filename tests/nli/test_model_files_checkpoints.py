"""Checkpoints: when a training is done, which weights are best, and what comes back from a file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesbias.errors import InputFileError
from bayesbias.nli.model_files import Checkpoint, read_checkpoint, write_checkpoint

SOURCES = {"embedding": "E", "vectors": "v", "pairs": "p", "development": "d"}


def run(accuracies: list[float], **settings: int) -> Checkpoint:
    """Return a training whose weights are numbered by epoch."""
    made = Checkpoint(dict(SOURCES), {"epochs": 9, "patience": 9, **settings}, 5)
    for epoch, accuracy in enumerate(accuracies):
        made.weights = {"w": np.full(2, epoch, dtype=np.float32)}
        made.sums = {"w": np.full(2, -1, dtype=np.float32)}
        made.add(1 / (epoch + 1), accuracy)
    return made


@pytest.mark.parametrize(
    ("accuracies", "best", "done"),
    [
        ([0.5], 0, False),
        ([0.5, 0.7, 0.7], 1, False),
        ([0.5, 0.7, 0.7, 0.6], 1, True),
        ([0, 0.2, 0.3, 0.4, 0.5], 4, True),
    ],
)
def test_the_first_best_epoch_counts(accuracies: list[float], best: int, done: bool) -> None:
    made = run(accuracies, epochs=5, patience=2)
    assert (made.best["w"].tolist(), made.is_done) == ([best, best], done)
    assert made.history["epoch"].tolist() == list(range(1, len(accuracies) + 1))
    assert not run([]).is_done


def test_another_training_is_refused_by_what_differs() -> None:
    made, shapes, path = run([0.5]), {"w": (2,)}, Path("file")
    made.check_is_of(run([]), shapes, path)
    for other, facts in (
        (replace(run([]), random_seed=6), "random_seed=5 .*6"),
        (run([], epochs=8), "epochs=9 .*8"),
        (replace(run([]), sources=SOURCES | {"pairs": "q"}), "pairs"),
    ):
        with pytest.raises(InputFileError, match=facts):
            made.check_is_of(other, shapes, path)
    with pytest.raises(InputFileError, match="file is damaged"):
        made.check_is_of(run([]), {"w": (3,)}, path)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    made = run([0.5, 0.4])
    write_checkpoint(made, tmp_path / "file")
    again = read_checkpoint(tmp_path / "file")
    assert (again.sources, again.settings, again.random_seed) == (made.sources, made.settings, made.random_seed)
    assert (again.losses, again.accuracies) == (made.losses, made.accuracies)
    for part in ("weights", "sums", "best"):
        np.testing.assert_array_equal(getattr(again, part)["w"], getattr(made, part)["w"])
    for accuracies in ([0.5], [0.5, 1.5], [0.5, None]):
        write_checkpoint(replace(made, accuracies=accuracies), tmp_path / "file")
        with pytest.raises(InputFileError, match="file is damaged"):
            read_checkpoint(tmp_path / "file")

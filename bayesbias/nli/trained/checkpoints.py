"""Checkpoints of a training: files from which an interrupted training continues."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_count, is_number
from bayesbias.errors import InputFileError
from bayesbias.nli.trained.tensor_files import damaged, read_tensors, write_tensors

if TYPE_CHECKING:
    import pandas as pd

_KIND = "training"


@dataclass(eq=False)
class Checkpoint:
    """State of a training.

    Parameters
    ----------
    sources
        Name of the embedding, digests of vectors and pairs.
    settings, random_seed
        Settings and seed of the training.
    losses, accuracies
        Loss and accuracy of each epoch.
    weights, sums, best
        Arrays by name: the current weights, Adagrad's sums of squares, and the weights of the best epoch.
    """

    sources: dict[str, str]
    settings: dict[str, Any]
    random_seed: int
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    weights: dict[str, Floats] = field(default_factory=dict)
    sums: dict[str, Floats] = field(default_factory=dict)
    best: dict[str, Floats] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether all epochs are done, or the last ones (`patience`) brought no better accuracy."""
        epochs = len(self.losses)
        if not epochs:
            return False
        since = epochs - 1 - int(np.argmax(self.accuracies))
        return bool(epochs >= self.settings["epochs"] or since >= self.settings["patience"])

    @property
    def history(self) -> "pd.DataFrame":
        """One row per epoch: `epoch`, `loss`, `accuracy`."""
        return history_frame(self.losses, self.accuracies)

    def add(self, loss: float, accuracy: float) -> None:
        """Add an epoch that ended with the current weights."""
        if not self.accuracies or accuracy > max(self.accuracies):
            self.best = self.weights
        self.losses.append(loss)
        self.accuracies.append(accuracy)

    def check_is_of(self, run: "Checkpoint", shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
        """Raise `InputFileError` unless this checkpoint belongs to the training that `run` begins."""
        wanted = {**run.settings, "random_seed": run.random_seed}
        stored = {**self.settings, "random_seed": self.random_seed}
        differences = [
            f"{name}={stored.get(name)} instead of {wanted[name]}"
            for name in wanted
            if wanted[name] != stored.get(name)
        ]
        for name, what in (("vectors", "vectors"), ("pairs", "pairs"), ("development", "development pairs")):
            if run.sources[name] != self.sources.get(name):
                differences.append(f"other {what}")
        if differences:
            raise InputFileError(
                f"The checkpoint {path} belongs to another training: {'; '.join(differences)}. Give another file, or "
                "delete this one."
            )
        for arrays in (self.weights, self.sums, self.best):
            if {name: array.shape for name, array in arrays.items()} != dict(shapes):
                raise damaged(path)


def history_frame(losses: list[float], accuracies: list[float]) -> "pd.DataFrame":
    """Return one row per epoch: `epoch`, `loss`, `accuracy`."""
    import pandas as pd

    return pd.DataFrame({"epoch": range(1, len(losses) + 1), "loss": losses, "accuracy": accuracies})


def write_checkpoint(run: Checkpoint, path: Path) -> None:
    """Write the state of a training to a file, which is replaced."""
    parts = {"weights": run.weights, "sums": run.sums, "best": run.best}
    arrays = {f"{part}/{name}": array for part, group in parts.items() for name, array in group.items()}
    facts = {
        "sources": run.sources,
        "settings": run.settings,
        "random_seed": run.random_seed,
        "losses": run.losses,
        "accuracies": run.accuracies,
    }
    write_tensors(path, _KIND, facts, arrays, overwrite=True)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the state of a training; raise `InputFileError` if the file is damaged or of another kind."""
    facts, arrays = read_tensors(path, _KIND)
    groups: dict[str, dict[str, Floats]] = {"weights": {}, "sums": {}, "best": {}}
    try:
        for name, array in arrays.items():
            part, _, array_name = name.partition("/")
            groups[part][array_name] = array
        losses, accuracies = facts["losses"], facts["accuracies"]
        sound = len(losses) == len(accuracies) > 0 and all(map(is_number, [*losses, *accuracies]))
        sound = sound and all(0 <= accuracy <= 1 for accuracy in accuracies)
        sound = sound and is_count(facts["random_seed"]) and isinstance(facts["settings"], dict)
        if not sound or not isinstance(facts["sources"], dict):
            raise damaged(path)
        return Checkpoint(
            facts["sources"], facts["settings"], facts["random_seed"], losses, accuracies,
            groups["weights"], groups["sums"], groups["best"],
        )  # fmt: skip
    except (KeyError, TypeError) as fault:
        raise damaged(path) from fault

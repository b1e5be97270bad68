"""How far a training has come: kept in a file, from which it goes on after it was stopped."""

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
    """How far a training has come.

    Parameters
    ----------
    sources
        Name of the embedding, digests of vectors and pairs.
    settings, random_seed
        Of the training.
    losses, accuracies
        Of each epoch.
    weights, sums, best
        Arrays by name: the weights now, Adagrad's sums of squares, and the weights of the best epoch.
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
        """Whether all epochs are over, or the last ones brought nothing better."""
        epochs = len(self.losses)
        if not epochs:
            return False
        since = epochs - 1 - int(np.argmax(self.accuracies))
        return bool(epochs >= self.settings["epochs"] or since >= self.settings["patience"])

    @property
    def history(self) -> "pd.DataFrame":
        """A row an epoch: `epoch`, `loss`, `accuracy`."""
        return history_frame(self.losses, self.accuracies)

    def add(self, loss: float, accuracy: float) -> None:
        """Add an epoch after which the weights are those of `weights`."""
        if not self.accuracies or accuracy > max(self.accuracies):
            self.best = self.weights
        self.losses.append(loss)
        self.accuracies.append(accuracy)

    def check_is_of(self, run: "Checkpoint", shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
        """Raise `InputFileError` unless this is of the training that `run` begins."""
        here = {**run.settings, "random_seed": run.random_seed}
        there = {**self.settings, "random_seed": self.random_seed}
        differing = [f"{name} {here[name]}, there {there.get(name)}" for name in here if here[name] != there.get(name)]
        for name, what in (
            ("vectors", "other vectors"),
            ("pairs", "other pairs"),
            ("development", "others to judge by"),
        ):
            if run.sources[name] != self.sources.get(name):
                differing.append(what)
        if differing:
            raise InputFileError(
                f"The checkpoint {path} is of another training: {'; '.join(differing)}. Give another file, or "
                "remove it."
            )
        for arrays in (self.weights, self.sums, self.best):
            if {name: each.shape for name, each in arrays.items()} != dict(shapes):
                raise damaged(path)


def history_frame(losses: list[float], accuracies: list[float]) -> "pd.DataFrame":
    """Return what each epoch gave."""
    import pandas as pd

    return pd.DataFrame({"epoch": range(1, len(losses) + 1), "loss": losses, "accuracy": accuracies})


def write_checkpoint(run: Checkpoint, path: Path) -> None:
    """Write how far a training has come, in place of what was there."""
    parts = {"weights": run.weights, "sums": run.sums, "best": run.best}
    arrays = {f"{part}/{name}": each for part, group in parts.items() for name, each in group.items()}
    facts = {
        "sources": run.sources,
        "settings": run.settings,
        "random_seed": run.random_seed,
        "losses": run.losses,
        "accuracies": run.accuracies,
    }
    write_tensors(path, _KIND, facts, arrays, overwrite=True)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return how far a training had come; raise `InputFileError` if the file is damaged or another."""
    facts, arrays = read_tensors(path, _KIND)
    groups: dict[str, dict[str, Floats]] = {"weights": {}, "sums": {}, "best": {}}
    try:
        for name, each in arrays.items():
            part, _, rest = name.partition("/")
            groups[part][rest] = each
        losses, accuracies = facts["losses"], facts["accuracies"]
        sound = len(losses) == len(accuracies) > 0 and all(map(is_number, [*losses, *accuracies]))
        sound = sound and is_count(facts["random_seed"]) and isinstance(facts["settings"], dict)
        if not sound or not isinstance(facts["sources"], dict):
            raise damaged(path)
        return Checkpoint(
            facts["sources"], facts["settings"], facts["random_seed"], losses, accuracies,
            groups["weights"], groups["sums"], groups["best"],
        )  # fmt: skip
    except (KeyError, TypeError) as fault:
        raise damaged(path) from fault

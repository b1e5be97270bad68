"""Hostile checkpoints of a training for inference, and what goes on from them."""

import json
import tempfile
from pathlib import Path

import numpy as np

from bayesbias.nli.model_files import Checkpoint, read_checkpoint, write_checkpoint
from bayesbias.nli.tensor_files import read_tensors, write_tensors
from tests.fuzz.mutations import flipped, mutated
from tests.fuzz.odd import with_odd_value

_SOURCES = {"embedding": "E", "vectors": "v", "pairs": "p", "development": "d"}


def _begun() -> Checkpoint:
    return Checkpoint(dict(_SOURCES), {"epochs": 4, "patience": 2}, 5)


def _trained() -> Checkpoint:
    run = _begun()
    for epoch in range(3):
        run.weights = {"w": np.full(2, epoch, dtype=np.float32)}
        run.sums = {"w": np.full(2, 1.0, dtype=np.float32)}
        run.add(1 / (epoch + 1), 0.5 + epoch / 10)
    return run


def sound() -> bytes:
    """Return a sound checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoint"
        write_checkpoint(_trained(), place)
        return place.read_bytes()


def one_bit(rng: np.random.Generator) -> bytes:
    """Return a checkpoint with one bit flipped."""
    return flipped(sound(), rng)


def damaged(rng: np.random.Generator) -> bytes:
    """Return a damaged checkpoint, or one of another program or kind."""
    return mutated(sound(), rng)


def lying(rng: np.random.Generator) -> bytes:
    """Return a checkpoint whose facts or arrays are not what they should be, under a right checksum."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoint"
        place.write_bytes(sound())
        facts, arrays = read_tensors(place, "training")
    names = list(arrays)
    if rng.random() < 0.7:
        facts = with_odd_value(json.loads(json.dumps(facts)), rng)
    else:
        name = names[int(rng.integers(len(names)))]
        array = arrays.pop(name)
        wrong = [np.zeros(0), np.zeros((2, 2)), np.full(2, np.nan), np.float32(1.0)]
        changes = [{}, {"w": array}, {f"other/{name}": array}, *({name: np.asarray(values)} for values in wrong)]
        arrays |= changes[int(rng.integers(len(changes)))]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoint"
        try:
            write_tensors(place, "training", facts, arrays, overwrite=True)
        except (TypeError, ValueError):  # what cannot be written
            return sound()[:50]
        return place.read_bytes()


def continued(path: Path) -> object:
    """Return what a training would go on from."""
    run = read_checkpoint(path)
    run.check_is_of(_begun(), {"w": (2,)}, path)
    return run.is_done, run.history.to_csv(), {name: array.tolist() for name, array in run.weights.items()}


def whole() -> object:
    """Return what goes on from a sound checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoint"
        place.write_bytes(sound())
        return continued(place)

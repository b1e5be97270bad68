"""Files of trained models and checkpoints of a training: safetensors, checked completely when they are read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import SEED_LIMIT, check_path, is_count, is_number, is_text
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import InputFileError, MeasureError, name_some
from bayesbias.nli.attention_model import MODEL, VECTORS, AttentionModel, weight_shapes
from bayesbias.nli.sentences import FIRST, NULL, WordVectors, unit_word_vectors
from bayesbias.nli.tensor_files import damaged, pytorch, read_tensors, write_tensors

if TYPE_CHECKING:
    import pandas as pd


_KIND = "training"
_CLOSE = 1e-5  # largest difference between equal unit vectors in float32


@dataclass(eq=False)
class Checkpoint:
    """State of a training.

    - `sources`: name of the embedding, digests of vectors and pairs.
    - `settings`, `random_seed`: settings and seed of the training.
    - `losses`, `accuracies`: loss and accuracy of each epoch.
    - `weights`, `sums`, `best`: arrays by name: the current weights, Adagrad's sums of squares, and the weights of the
      best epoch.
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


def load(
    path: str | os.PathLike[str], *, embedding: EmbeddingLike | None = None, progress: bool = True
) -> AttentionModel:
    """Return a model from a file that `AttentionModel.save` wrote.

    Parameters
    ----------
    path
        Path of the file. It need not be trusted: no code is run, and its content is checked.
    embedding
        Vectors that the model was trained with, for words that the file lacks: it holds those that the model had met
        when it was saved, and those of the bundled test sets. If None, other words raise an error that names them.
    progress
        Whether the model shows a progress bar while it answers.

    Raises
    ------
    InputFileError
        If the file does not exist, is damaged or truncated, or is not a model of this package.
    MeasureError
        If PyTorch is not installed, or the embedding differs from that of the training.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> labels = ["neutral", "entailment", "contradiction"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "label": labels})
    >>> pairs["hypothesis"] = ["A man eats", "A man sleeps", "Nobody sleeps"]
    >>> vectors = dict(zip(["a", "man", "sleeps", "eats", "nobody"], np.eye(5)))
    >>> model = bb.nli.train(vectors, pairs, development=pairs, hidden_units=4, epochs=1, random_seed=1)
    >>> again = bb.nli.load(model.save(f"{mkdtemp()}/model.safetensors"))
    >>> bool((again(["A man eats"], ["Nobody eats"]) == model(["A man eats"], ["Nobody eats"])).all())
    True
    """
    source = check_path(path)
    facts, arrays = read_tensors(source, MODEL)
    pytorch()
    try:
        model = _model(facts, arrays, source, progress=progress)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise damaged(source) from fault
    if model is None:
        raise damaged(source)
    if embedding is not None:
        loaded = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
        _check_same(model.vectors, loaded, source)
        model.vectors.embedding = loaded
    return model


def _model(
    facts: Mapping[str, Any], arrays: dict[str, Floats], source: Path, *, progress: bool
) -> AttentionModel | None:
    """Return the model that a file describes, or None if its parts are inconsistent."""
    matrix = arrays.pop(VECTORS)
    weights = {name.removeprefix("weights/"): array for name, array in arrays.items()}
    settings, words, forms, warned = facts["settings"], facts["words"], facts["forms"], facts["warned"]
    losses, accuracies, sources = facts["losses"], facts["accuracies"], facts["sources"]
    hidden, intra = settings["hidden_units"], settings["intra_attention"]
    sound = (
        isinstance(hidden, int) and isinstance(intra, bool) and hidden > 0 and matrix.ndim == 2
        and is_count(facts["random_seed"]) and facts["random_seed"] < SEED_LIMIT
        and all(map(is_text, settings))
        and all(is_number(number) or isinstance(number, bool) for number in settings.values())
        and {name: array.shape for name, array in weights.items()}
        == weight_shapes(matrix.shape[1], hidden, intra_attention=intra)
        and isinstance(forms, list) and isinstance(words, dict) and isinstance(warned, list)
        and all(map(is_text, [*forms, *words, *warned])) and len(set(forms)) == len(forms)
        and len(matrix) == FIRST + len(forms) and bool((abs(matrix) < 2).all())
        and bool((abs(np.linalg.norm(matrix, axis=1) - 1) < 1e-3).all())
        and all(type(row) is int and NULL < row < len(matrix) for rows in words.values() for row in rows)
        and all(words.values())
        and len(losses) == len(accuracies) > 0 and all(map(is_number, [*losses, *accuracies]))
        and isinstance(sources, dict) and all(map(is_text, [*sources, *sources.values()])) and "embedding" in sources
    )  # fmt: skip
    if not sound:
        return None
    rows = {word: tuple(word_rows) for word, word_rows in words.items()}
    vectors = WordVectors(None, f"The model {source.name}", forms, matrix, rows, set(warned))
    history = history_frame(losses, accuracies)
    return AttentionModel(settings, facts["random_seed"], history, sources, weights, vectors, progress)


def _check_same(vectors: WordVectors, embedding: Embedding, source: Path) -> None:
    """Raise `MeasureError` unless an embedding has the vectors that a model was trained with."""
    wanted = vectors.matrix[FIRST:]
    embedding_words = set(embedding.words)
    there = [row for row, form in enumerate(vectors.forms) if form in embedding_words]
    other = sorted(set(vectors.forms) - {vectors.forms[row] for row in there})
    if there and embedding.dimensions == wanted.shape[1]:
        vectors_there = unit_word_vectors(embedding.stored([vectors.forms[row] for row in there]))
        far = abs(vectors_there - wanted[there]).max(axis=1) > _CLOSE
        other += [vectors.forms[row] for row, differs in zip(there, far, strict=True) if differs]
    elif there:
        other = vectors.forms
    if other:
        raise MeasureError(
            f"The embedding {embedding.name!r} differs from that of the training of the model {source.name}: "
            f"{len(other):,} of {len(vectors.forms):,} words have other vectors or none: {name_some(other)}. Give the "
            "same embedding, or none."
        )

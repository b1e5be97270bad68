"""`train`: train a model of decomposable attention on word vectors and labelled pairs of sentences."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_flag, check_number, resolve_seed
from bayesbias.base.files.outputs import check_output, check_unshared, claimed
from bayesbias.base.machine import check_memory
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import MeasureError, name_some, worded
from bayesbias.nli.attention_model import AttentionModel, encode, logits, padded, probabilities, weight_shapes
from bayesbias.nli.model_files import Checkpoint, read_checkpoint, write_checkpoint
from bayesbias.nli.model_scores import LABELS
from bayesbias.nli.sentence_pairs import checked_sentence_pairs
from bayesbias.nli.sentences import WordVectors
from bayesbias.nli.tensor_files import pytorch

if TYPE_CHECKING:
    import pandas as pd


_FIRST_SUM = 1e-3
"""Initial sums of squares of Adagrad: from 0, its first steps would give all weights the same size."""
_WEIGHT_DECAY = 1e-5  # the L2 penalty of Dawkins
_LEAST = 1e-10  # keeps Adagrad's denominators above 0
_HELD_OUT = 0.1  # share of the premises, if no development pairs are given
_BLOCK = 50  # batches whose pairs are sorted by length, to reduce padding
_MOST_UNITS = 10_000
_NAMES = {
    "train": ("train", "training"),
    "development": ("dev", "development", "trial", "valid", "validation"),
    "test": ("test",),
}
"""Names of the parts in data sets, in lower case."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Labelled pairs: the rows of word vectors of each sentence, and the two indices of each pair in `rows`."""

    rows: list[NDArray[np.int64]]
    pairs: NDArray[np.int64]
    labels: NDArray[np.int64]


def train(
    embedding: EmbeddingLike,
    pairs: "pd.DataFrame",
    *,
    development: "pd.DataFrame | None" = None,
    hidden_units: int = 200,
    learning_rate: float = 0.025,
    dropout: float = 0.2,
    intra_attention: bool = True,
    epochs: int = 100,
    patience: int = 5,
    batch_size: int = 16,
    random_seed: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> AttentionModel:
    """Return a model of natural language inference trained on fixed word vectors: decomposable attention, on the CPU.

    The vectors are not changed, so models trained on original and on debiased vectors differ only because of these.

    Parameters
    ----------
    embedding
        Word vectors, scaled to length 1. All are kept, since a test set may need words that the pairs lack. A word is
        looked up in lower case, then as written; an embedding with a case rule other than ``"exact"`` uses that rule.
    pairs
        Training pairs from `bb.nli.read_pairs`, with all three labels and a single split.
    development
        Pairs whose accuracy decides which epoch's weights are kept, and when training ends. By default a tenth of the
        premises of `pairs`, drawn with the seed, with all their pairs; these are not used for training.
    hidden_units, learning_rate, dropout
        Units per layer, learning rate of Adagrad, and share of a layer's inputs to drop during training.
    intra_attention
        Whether each word is combined with the words of the same sentence that it attends to.
    epochs, patience
        Largest number of passes over the pairs, and the number without a better development accuracy after which
        training ends.
    batch_size
        Number of pairs per step.
    random_seed
        Seed of the initial weights, the order of the pairs and dropout. The same seed gives bit for bit the same model
        on the same machine with the same number of threads (``torch.set_num_threads``). If None, a seed is drawn and
        recorded.
    checkpoint
        File that is written after each epoch. After an interruption the same call continues the training and gives the
        same model as without it; after the end it returns the model at once.
    progress
        Whether to show a progress bar.

    Returns
    -------
    AttentionModel
        The model with the weights of the best epoch.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    MeasureError
        If PyTorch is not installed, the pairs have faults (all are listed), or the training diverges.
    LostWordsError
        If the embedding has none of the words.
    NotEnoughMemoryError
        If the weights do not fit into memory.
    InputFileError, OutputError
        If the checkpoint is damaged, belongs to other vectors, pairs, settings or another seed, or cannot be written.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks words of the pairs; it names them.

    Notes
    -----
    From Parikh et al.: the network with its equations, projected vectors of length 1, an empty word before each
    sentence, 200 hidden units, dropout 0.2, Adagrad with rate 0.025, and one of 100 random vectors for each word that
    the embedding lacks (here of length 1, like all others, and chosen by the word's letters). From Dawkins: the same,
    with a weight decay of 1e-5 and at most 100 epochs. Our choices are the initial weights (Normal with Xavier's
    variances, biases 0), Adagrad's initial sums of squares (0.001), batches of 16, and early stopping: see
    `validation/nli_training`. Words are letters and digits; punctuation is left out.

    References
    ----------
    Parikh, Täckström, Das and Uszkoreit (2016), *A decomposable attention model for natural language inference*,
    equations 1 to 8; Dawkins (2021), footnote 1.

    Examples
    --------
    >>> sentences = ["A man sleeps", "A man eats", "Nobody sleeps"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "hypothesis": sentences})
    >>> pairs["label"] = ["entailment", "neutral", "contradiction"]
    >>> words = ["a", "man", "sleeps", "eats", "nobody"]
    >>> vectors = (words, np.random.default_rng(1).standard_normal((5, 8)))
    >>> quick = {"hidden_units": 8, "epochs": 40, "patience": 40, "batch_size": 3, "dropout": 0}
    >>> model = bb.nli.train(vectors, pairs, development=pairs, random_seed=1, **quick)
    >>> model.evaluate(pairs).accuracy
    1.0
    """
    seed = resolve_seed(random_seed)
    settings = {
        "hidden_units": check_count("hidden_units", hidden_units, most=_MOST_UNITS),
        "learning_rate": check_number("learning_rate", learning_rate, low=0, high=10, above=True),
        "dropout": check_number("dropout", dropout, low=0, high=0.9),
        "intra_attention": check_flag("intra_attention", intra_attention),
        "epochs": check_count("epochs", epochs),
        "patience": check_count("patience", patience),
        "batch_size": check_count("batch_size", batch_size),
    }
    place = None if checkpoint is None else check_output(checkpoint, overwrite=True)
    if place is not None:
        check_unshared(place)
    frames = [checked_sentence_pairs("pairs", pairs, training=True)]
    if development is not None:
        frames.append(checked_sentence_pairs("development", development))
    pytorch()
    loaded = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    vectors = WordVectors.from_embedding(loaded)
    vectors.learn([text for frame in frames for text in _texts(frame)], "the pairs")
    numbers = sum(prod(shape) for shape in _shapes(vectors.matrix, settings).values())
    check_memory(4 * 6 * numbers, f"Weights of {hidden_units:,} hidden units", "Take fewer hidden_units.")
    with nullcontext() if place is None else claimed(place):
        started = None if place is None or not place.exists() else read_checkpoint(place)
        if started is not None and random_seed is None:
            seed = started.random_seed
        sources = {
            "embedding": loaded.name,
            "vectors": _digest([*vectors.forms, *vectors.words], vectors.matrix),
            "pairs": _digest(_lines(frames[0])),
            "development": _digest(_lines(frames[1])) if development is not None else "",
            "bayesbias": version("bayesbias"),
        }
        if development is None:
            frames = _held_out(frames[0], seed)
        run = Checkpoint(sources, settings, seed)
        if started is not None and place is not None:
            started.check_is_of(run, _shapes(vectors.matrix, settings), place)
        training, judging = (_examples(frame, vectors) for frame in frames)
        done = _trained(started or run, training, judging, vectors.matrix, place, progress=progress)
    return AttentionModel(settings, seed, done.history, sources, done.best, vectors, progress)


def _trained(
    run: Checkpoint,
    training: Examples,
    judging: Examples,
    matrix: Floats,
    place: Any,
    *,
    progress: bool,
) -> Checkpoint:
    torch = pytorch()
    settings = run.settings
    shapes = _shapes(matrix, settings)
    if not run.losses:
        run.weights = _starting_weights(shapes, run.random_seed)
        run.sums = {name: np.full(shape, _FIRST_SUM, dtype=np.float32) for name, shape in shapes.items()}
    weights = {name: torch.from_numpy(run.weights[name].copy()).requires_grad_() for name in shapes}
    sums = {name: torch.from_numpy(run.sums[name].copy()) for name in shapes}
    vectors = torch.from_numpy(matrix)
    with progress_bar(settings["epochs"], "Training", progress=progress) as bar:
        bar.advance(len(run.losses))
        while not run.is_done:
            entropy = np.random.SeedSequence([run.random_seed, len(run.losses)])
            loss = _epoch(weights, sums, vectors, training, settings, entropy)
            run.weights = {name: tensor.detach().numpy().copy() for name, tensor in weights.items()}
            run.sums = {name: tensor.numpy().copy() for name, tensor in sums.items()}
            if not np.isfinite(loss) or not all(np.isfinite(tensor).all() for tensor in run.weights.values()):
                raise MeasureError(
                    f"The training diverged in epoch {len(run.losses) + 1}: the loss or a weight is not finite. Use a "
                    f"learning_rate below {settings['learning_rate']:g}."
                )
            answers = probabilities(run.weights, matrix, judging.rows, judging.pairs)
            run.add(loss, float((answers.argmax(axis=1) == judging.labels).mean()))
            bar.advance()
            bar.describe(f"Training, best accuracy {max(run.accuracies):.3f}")
            if place is not None:
                write_checkpoint(run, place)
    return run


def _epoch(
    weights: Mapping[str, Any],
    sums: Mapping[str, Any],
    vectors: Any,
    training: Examples,
    settings: Mapping[str, Any],
    entropy: np.random.SeedSequence,
) -> float:
    """Train on all pairs once, changing the weights and Adagrad's sums in place; return the mean loss."""
    torch = pytorch()
    order, noise_entropy = entropy.spawn(2)
    noise, keep_share = np.random.Generator(np.random.SFC64(noise_entropy)), 1 - settings["dropout"]

    def drop(inputs: Any) -> Any:
        if keep_share == 1:
            return inputs
        mask = noise.integers(1 << 16, size=inputs.shape, dtype=np.uint16) < keep_share * (1 << 16)
        return inputs * torch.from_numpy(mask.astype(np.float32) / np.float32(keep_share))

    total = 0.0
    for batch in _batches(training, settings["batch_size"], np.random.default_rng(order)):
        first, second = (
            encode(weights, *padded(vectors, [training.rows[sentence] for sentence in places]), drop)
            for places in training.pairs[:, batch]
        )
        answers = logits(weights, first, second, drop)
        loss = torch.nn.functional.cross_entropy(answers, torch.from_numpy(training.labels[batch]))
        slopes = torch.autograd.grad(loss, list(weights.values()))
        with torch.no_grad():
            for (name, weight), slope in zip(weights.items(), slopes, strict=True):
                adagrad_step(weight, sums[name], slope, settings["learning_rate"])
        total += float(loss.detach()) * len(batch)
    return total / len(training.labels)


def adagrad_step(
    weight: Any, squares: Any, slope: Any, learning_rate: float, weight_decay: float = _WEIGHT_DECAY
) -> None:
    """Make one step of Adagrad, changing a tensor of weights and the sums of squares of its slopes in place."""
    slope = slope.add(weight, alpha=weight_decay)
    squares.addcmul_(slope, slope)
    weight.addcdiv_(slope, squares.sqrt().add_(_LEAST), value=-learning_rate)


def _batches(training: Examples, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield the indices of the pairs of each batch, in random order; pairs of a batch have similar lengths."""
    lengths = np.array([len(word_rows) for word_rows in training.rows])[training.pairs].sum(axis=0)
    order = rng.permutation(len(training.labels))
    batches: list[NDArray[np.intp]] = []
    for start in range(0, len(order), size * _BLOCK):
        block = order[start : start + size * _BLOCK]
        block = block[np.argsort(lengths[block], kind="stable")]
        batches += [block[place : place + size] for place in range(0, len(block), size)]
    for number in rng.permutation(len(batches)):
        yield batches[number]


def _starting_weights(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Floats]:
    """Return Normal weights with Xavier's variances, and biases of 0."""
    rng = np.random.default_rng([seed, 1])
    return {
        name: (rng.standard_normal(shape) * np.sqrt(2 / sum(shape)) * (len(shape) > 1)).astype(np.float32)
        for name, shape in shapes.items()
    }


def _examples(frame: "pd.DataFrame", vectors: WordVectors) -> Examples:
    texts = list(dict.fromkeys(_texts(frame)))
    place = {text: position for position, text in enumerate(texts)}
    pairs = np.array([[place[text] for text in frame[name]] for name in ("premise", "hypothesis")])
    labels = np.array([LABELS.index(label) for label in frame["label"]])
    return Examples([vectors.rows(text) for text in texts], pairs, labels)


def _held_out(frame: "pd.DataFrame", seed: int) -> list["pd.DataFrame"]:
    """Return the training pairs, and those of some premises that are held out."""
    premises = frame["premise"].unique()
    count = round(_HELD_OUT * len(premises))
    chosen = np.random.default_rng([seed, 2]).permutation(premises)[:count]
    out = frame["premise"].isin(chosen)
    if not out.any():
        raise MeasureError(
            f"The pairs have {len(premises)} premises, too few to hold out a tenth of them. Give development pairs."
        )
    return [frame[~out], frame[out]]


def _shapes(matrix: Floats, settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return weight_shapes(matrix.shape[1], settings["hidden_units"], intra_attention=settings["intra_attention"])


def _texts(frame: "pd.DataFrame") -> list[str]:
    return [*frame["premise"], *frame["hypothesis"]]


def _lines(frame: "pd.DataFrame") -> list[str]:
    return ["\t".join(row) for row in zip(frame["premise"], frame["hypothesis"], frame["label"], strict=True)]


def _digest(lines: Sequence[str], matrix: Floats | None = None) -> str:
    content = sha256("\n".join(lines).encode())
    if matrix is not None:
        content.update(np.ascontiguousarray(matrix, dtype="<f4").data)
    return content.hexdigest()[:16]


def split_pairs(pairs: "pd.DataFrame") -> "tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None]":
    """Return the training, development and test pairs by their `split`; without splits, all are training pairs.

    >>> pairs = pd.DataFrame({"premise": list("abc"), "hypothesis": list("abc"), "label": ["neutral"] * 3})
    >>> [len(part) for part in split_pairs(pairs.assign(split=["TRAIN", "TRIAL", "TEST"]))]
    [1, 1, 1]
    >>> split_pairs(pairs.assign(split=""))[1:]
    (None, None)
    """
    splits = pairs["split"].str.strip().str.lower()
    split_names = sorted(set(splits))
    if split_names == [""]:
        return pairs, None, None
    if unknown := [name for name in split_names if not any(name in names for names in _NAMES.values())]:
        known_names = ", ".join(name for names in _NAMES.values() for name in names)
        raise MeasureError(
            f"The pairs have the split {name_some(unknown)}, which is not one of {known_names}. "
            f"{worded('Keep only the training pairs: bb.nli.read_pairs(path, splits=...)', 'Leave its pairs out')}."
        )
    parts = {part: pairs[splits.isin(names)].reset_index(drop=True) for part, names in _NAMES.items()}
    if parts["train"].empty:
        raise MeasureError(
            f"The pairs have the splits {name_some(split_names)}, but no training split. Give a file with one."
        )
    development, test = (None if parts[name].empty else parts[name] for name in ("development", "test"))
    return parts["train"], development, test

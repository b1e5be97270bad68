"""A trained model of decomposable attention: what it answers, how often it is right, and its file."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import MeasureError
from bayesbias.nli.test_sets.accuracy import Accuracy, accuracy
from bayesbias.nli.test_sets.pairs import checked_pairs
from bayesbias.nli.trained.network import encode, logits
from bayesbias.nli.trained.pytorch import pytorch
from bayesbias.nli.trained.sentences import WordVectors, checked_sentences

if TYPE_CHECKING:
    import pandas as pd

_PAIRS = 1024  # in one go
_LARGEST = 1 << 22  # numbers of one padded array


@dataclass(frozen=True, eq=False, repr=False)
class AttentionModel(Described):
    """A model of inference on word vectors, from `bb.nli.train` or `bb.nli.load`.

    Called with two lists, of premises and of hypotheses, it returns an array of shape (pairs, 3): the probabilities of
    neutral, entailment and contradiction. So it is a model for `bb.nli.score`.

    Parameters
    ----------
    settings
        Those of the training: ``hidden_units``, ``learning_rate`` and so on.
    random_seed
        Of the training.
    history
        A row an epoch: `epoch`, `loss` (mean over the training pairs) and `accuracy` on the development pairs.
    sources
        Name and digest of the embedding, digests of the vectors and of the pairs, and the version of this package.
    weights
        Arrays by name.
    vectors
        Of the words that the model has met.
    progress
        Whether to show a bar while it answers.

    Raises
    ------
    MeasureError
        When called, if premises and hypotheses differ in number, or one is no text or has no word.
    LostWordsError
        When called, if a file that was loaded without its embedding holds no vector of a word.

    Warns
    -----
    LostWordsWarning
        When called, if the embedding lacks words that the model has not met before.
    """

    settings: Mapping[str, Any]
    random_seed: int
    history: "pd.DataFrame"
    sources: Mapping[str, str]
    weights: Mapping[str, Floats]
    vectors: WordVectors
    progress: bool = True

    @property
    def _facts(self) -> Facts:
        accuracies = self.history["accuracy"].tolist()
        best = accuracies.index(max(accuracies))
        return {
            "embedding": self.sources["embedding"],
            "hidden_units": int(self.settings["hidden_units"]),
            "epoch": f"{best + 1} of {len(accuracies)}",
            "development_accuracy": f"{accuracies[best]:.3f}",
            "random_seed": self.random_seed,
        }

    @property
    def lost_words(self) -> tuple[str, ...]:
        """The words met so far, in training or since, that the embedding lacks in part or whole."""
        return self.vectors.lost

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return the probabilities of neutral, entailment and contradiction, of shape (pairs, 3)."""
        firsts, seconds = checked_sentences("premises", premises), checked_sentences("hypotheses", hypotheses)
        if len(firsts) != len(seconds):
            raise MeasureError(f"There are {len(firsts):,} premises and {len(seconds):,} hypotheses. Give as many.")
        if not firsts:
            return np.empty((0, 3))
        texts = list(dict.fromkeys([*firsts, *seconds]))
        self.vectors.learn(texts, "the sentences")
        place = {text: at for at, text in enumerate(texts)}
        rows = [self.vectors.rows(text) for text in texts]
        pairs = np.array([[place[first] for first in firsts], [place[second] for second in seconds]])
        return probabilities(self.weights, self.vectors.matrix, rows, pairs, progress=self.progress)

    def evaluate(self, pairs: "pd.DataFrame", *, hdi_prob: float = HDI_PROB) -> Accuracy:
        """Return how often the most probable label is the right one.

        Parameters
        ----------
        pairs
            From `bb.nli.read_pairs`: those of a test split.
        hdi_prob
            Probability inside the interval.

        Raises
        ------
        MeasureError
            If it is no frame of labelled pairs.
        """
        frame = checked_pairs("pairs", pairs)
        answers = self(frame["premise"].tolist(), frame["hypothesis"].tolist())
        return accuracy(answers, frame["label"].tolist(), hdi_prob=hdi_prob)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the model to a file of safetensors, which holds numbers and texts and runs no code; return its path.

        The file holds the vectors of the words that the model has met, in training, evaluation or answers, and of those
        of the bundled test sets, so that these can be scored without the embedding. For other words `bb.nli.load` is
        given the embedding.

        Parameters
        ----------
        path
            Such as ``"model.safetensors"``. It is written whole or not at all.
        overwrite
            Whether a file that is there may be replaced.

        Raises
        ------
        OutputError
            If the file is there, or cannot be written.
        """
        from bayesbias.nli.trained.model_files import write_model

        return write_model(self, path, overwrite=overwrite)


def probabilities(
    weights: Mapping[str, Floats],
    matrix: Floats,
    rows: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.integer[Any]],
    *,
    progress: bool = False,
) -> Floats:
    """Return what weights answer to pairs of sentences, of shape (pairs, 3).

    `rows` are those of each sentence in `matrix`; `pairs`, of shape (2, pairs), are places in `rows`. Pairs of one
    premise are answered together, and each sentence among them is encoded once.
    """
    torch = pytorch()
    lengths = np.array([len(each) for each in rows])
    order = np.lexsort((lengths[pairs[1]], pairs[0], lengths[pairs[0]]))
    found = np.empty((pairs.shape[1], 3))
    with torch.inference_mode():
        tensors = {name: torch.from_numpy(np.ascontiguousarray(each)) for name, each in weights.items()}
        vectors = torch.from_numpy(np.ascontiguousarray(matrix))
        for chunk in with_progress(list(_chunks(order, lengths, pairs)), "Pairs", progress=progress):
            sides = []
            for places in pairs[:, chunk]:
                unique, back = np.unique(places, return_inverse=True)
                encoded = encode(tensors, *padded(vectors, [rows[at] for at in unique]), same)
                sides.append(encoded.at(torch.from_numpy(back)))
            first, second = sides
            found[chunk] = logits(tensors, first, second, same).double().softmax(dim=-1).numpy()
    return found


def _chunks(
    order: NDArray[np.intp], lengths: NDArray[np.intp], pairs: NDArray[np.integer[Any]]
) -> Iterator[NDArray[np.intp]]:
    """Yield places of pairs that are answered in one go, fewer where sentences are long."""
    start = 0
    while start < len(order):
        chunk = order[start : start + _PAIRS]
        longest = lengths[pairs[:, chunk]].max()
        chunk = chunk[: max(1, _LARGEST // (256 * longest))]
        yield chunk
        start += len(chunk)


def padded(vectors: Any, rows: Sequence[NDArray[np.int64]]) -> tuple[Any, Any]:
    """Return tensors of word vectors, of shape (sentences, words, dimensions), and of where there are words."""
    import torch

    lengths = np.array([len(each) for each in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    places = np.zeros(mask.shape, dtype=np.int64)
    places[mask] = np.concatenate(rows)
    return vectors[torch.from_numpy(places)], torch.from_numpy(mask)


def same(inputs: Any) -> Any:
    """Return inputs as they are: no dropout."""
    return inputs

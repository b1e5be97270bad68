"""A trained model of decomposable attention: its network, its answers, its accuracy and its file."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB
from bayesbias.base.files.outputs import check_output
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import MeasureError
from bayesbias.nli.model_scores import Accuracy, accuracy
from bayesbias.nli.sentence_pairs import bundled_words, checked_sentence_pairs
from bayesbias.nli.sentences import WordVectors, checked_sentences
from bayesbias.nli.tensor_files import pytorch, write_tensors

if TYPE_CHECKING:
    import pandas as pd


type Tensor = Any
type Weights = Mapping[str, Tensor]
type Drop = Callable[[Tensor], Tensor]

FARTHEST = 10
"""Distance in words beyond which all distances share one bias."""

LABEL_COUNT = 3
_PAIRS = 1024  # answered at once
_LARGEST = 1 << 22  # numbers in one padded array


@dataclass(frozen=True, eq=False)
class Encoded:
    """Encoded sentences; the arrays have the shape (sentences, words, hidden units).

    - `attend`: F of each word.
    - `unaligned`, `aligned`: parts of the first layer of G: for a word of its own sentence, and for one aligned with
      the other's words.
    - `mask` (shape (sentences, words)): True where there is a word.
    """

    attend: Tensor
    unaligned: Tensor
    aligned: Tensor
    mask: Tensor

    def select(self, places: Tensor) -> "Encoded":
        """Return the sentences at `places`, without columns in which none of them has a word."""
        mask = self.mask[places]
        longest = int(mask.sum(dim=1).max())
        attend, unaligned, aligned = (array[places, :longest] for array in (self.attend, self.unaligned, self.aligned))
        return Encoded(attend, unaligned, aligned, mask[:, :longest])


def weight_shapes(dimensions: int, hidden: int, *, intra_attention: bool) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight, by name.

    >>> weight_shapes(300, 200, intra_attention=False)["compare.aligned"]
    (200, 200)
    """
    wide = 2 * hidden if intra_attention else hidden
    intra: dict[str, tuple[int, ...]] = {"intra.distance": (2 * FARTHEST + 2,)} if intra_attention else {}
    if intra_attention:
        intra |= _layers("intra", hidden, hidden, hidden)
    return {
        "project": (dimensions, hidden),
        **intra,
        **_layers("attend", wide, hidden, hidden),
        "compare.own": (wide, hidden),
        "compare.aligned": (wide, hidden),
        "compare.bias": (hidden,),
        **_layers("compare", hidden, hidden),
        **_layers("aggregate", 2 * hidden, hidden, hidden),
        **_layers("answer", hidden, LABEL_COUNT),
    }


def _layers(name: str, *sizes: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (first, second) in enumerate(pairwise(sizes)):
        shapes |= {f"{name}.{number}.weight": (first, second), f"{name}.{number}.bias": (second,)}
    return shapes


def encode(weights: Weights, vectors: Tensor, mask: Tensor, drop: Drop) -> Encoded:
    """Encode sentences given as word vectors of shape (sentences, words, dimensions)."""
    import torch

    words = vectors @ weights["project"]
    if "intra.distance" in weights:
        projected = _forward(weights, "intra", words, drop)
        place = torch.arange(words.shape[1])
        distance = place[:, None] - place[None, :]
        distance = torch.where(distance.abs() > FARTHEST, FARTHEST + 1, distance) + FARTHEST
        scores = projected @ projected.mT + weights["intra.distance"][distance]
        words = torch.cat([words, _attention(scores, mask[:, None, :]) @ words], dim=-1)
    attend = _forward(weights, "attend", words, drop)
    dropped = drop(words)
    unaligned = dropped @ weights["compare.own"] + weights["compare.bias"]
    return Encoded(attend, unaligned, dropped @ weights["compare.aligned"], mask)


def logits(weights: Weights, first: Encoded, second: Encoded, drop: Drop) -> Tensor:
    """Return the logits of the labels of pairs of encoded sentences, of shape (pairs, 3).

    With a_i the projected vectors of the words of one sentence, b_j those of the other, and the paper's equations:

        a'_i = sum_j softmax_j(f(a_i)' f(a_j) + d(i - j)) a_j          7, 8   a_i becomes [a_i, a'_i]
        e_ij = F(a_i)' F(b_j)                                          1
        beta_i = sum_j softmax_j(e_ij) b_j, alpha_j likewise           2
        v1_i = G([a_i, beta_i]), v2_j = G([b_j, alpha_j])              3
        v1 = sum_i v1_i, v2 = sum_j v2_j                               4
        answer = softmax(H([v1, v2]))                                  5

    The first layer of G is linear in beta, so it can be applied to the words b_j before they are averaged: `encode`
    does so once per sentence, whatever it is paired with. Dropout applies to the inputs of all layers.
    """
    import torch

    scores = first.attend @ second.attend.mT
    sums = []
    for sentence, other, toward in ((first, second, scores), (second, first, scores.mT)):
        beside = _attention(toward, other.mask[:, None, :]) @ other.aligned
        compared = _forward(weights, "compare", torch.relu(sentence.unaligned + beside), drop)
        sums.append((compared * sentence.mask[..., None]).sum(dim=1))
    joined = _forward(weights, "aggregate", torch.cat(sums, dim=-1), drop)
    return drop(joined) @ weights["answer.0.weight"] + weights["answer.0.bias"]


def _forward(weights: Weights, name: str, inputs: Tensor, drop: Drop) -> Tensor:
    """Return the output of the layers with this name, each a linear map and a rectifier."""
    number = 0
    while f"{name}.{number}.weight" in weights:
        inputs = (drop(inputs) @ weights[f"{name}.{number}.weight"] + weights[f"{name}.{number}.bias"]).relu()
        number += 1
    return inputs


def _attention(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax of scores over the last axis, 0 where there is no word."""
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


MODEL, VECTORS = "model", "vectors"
"""Kind of file that `AttentionModel.save` writes, and the name of its matrix of vectors."""


@dataclass(frozen=True, eq=False, repr=False)
class AttentionModel(Described):
    """A model of inference on word vectors, from `bb.nli.train` or `bb.nli.load`.

    Called with two lists, of premises and of hypotheses, it returns an array of shape (pairs, 3): the probabilities of
    neutral, entailment and contradiction. It can be passed to `bb.nli.score`.

    Parameters
    ----------
    settings
        Settings of the training: ``hidden_units``, ``learning_rate`` and so on.
    random_seed
        Seed of the training.
    history
        One row per epoch: `epoch`, `loss` (mean over the training pairs) and `accuracy` on the development pairs.
    sources
        Name and digest of the embedding, digests of the vectors and of the pairs, and the version of this package.
    weights
        Arrays by name.
    vectors
        Vectors of the words that the model has met.
    progress
        Whether to show a progress bar while the model answers.

    Raises
    ------
    MeasureError
        When called, if premises and hypotheses differ in number, or one of them is not text or has no word.
    LostWordsError
        When called, if the model was loaded without its embedding and its file holds no vector of a word.

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
        """Words of the training and of later calls that the embedding lacks, in whole or in part."""
        return self.vectors.lost

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return the probabilities of neutral, entailment and contradiction, of shape (pairs, 3)."""
        firsts, seconds = checked_sentences("premises", premises), checked_sentences("hypotheses", hypotheses)
        if len(firsts) != len(seconds):
            raise MeasureError(
                f"There are {len(firsts):,} premises and {len(seconds):,} hypotheses. Give one hypothesis per premise."
            )
        if not firsts:
            return np.empty((0, 3))
        texts = list(dict.fromkeys([*firsts, *seconds]))
        self.vectors.learn(texts, "the sentences")
        place = {text: position for position, text in enumerate(texts)}
        rows = [self.vectors.rows(text) for text in texts]
        pairs = np.array([[place[first] for first in firsts], [place[second] for second in seconds]])
        return probabilities(self.weights, self.vectors.matrix, rows, pairs, progress=self.progress)

    def evaluate(self, pairs: "pd.DataFrame", *, hdi_prob: float = HDI_PROB) -> Accuracy:
        """Return the accuracy of the model on labelled pairs.

        Parameters
        ----------
        pairs
            Pairs of a test split, from `bb.nli.read_pairs`.
        hdi_prob
            Probability inside the interval.

        Raises
        ------
        MeasureError
            If `pairs` is not a frame of labelled pairs.
        """
        frame = checked_sentence_pairs("pairs", pairs)
        answers = self(frame["premise"].tolist(), frame["hypothesis"].tolist())
        return accuracy(answers, frame["label"].tolist(), hdi_prob=hdi_prob)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the model to a file and return its path.

        The format is safetensors: numbers and text, no code. The file holds the vectors of the words that the model has
        met, in training or since, and of the words of the bundled test sets, so that these sets can be scored without
        the embedding. For other words, pass the embedding to `bb.nli.load`.

        Parameters
        ----------
        path
            Path such as ``"model.safetensors"``. The file is written whole or not at all.
        overwrite
            Whether an existing file may be replaced.

        Raises
        ------
        OutputError
            If the file exists, or cannot be written.
        """
        place = check_output(path, overwrite=overwrite)
        vectors = self.vectors
        if vectors.embedding is not None:
            vectors.look_up(bundled_words())
        facts = {
            "settings": dict(self.settings),
            "random_seed": self.random_seed,
            "sources": dict(self.sources),
            "losses": self.history["loss"].tolist(),
            "accuracies": self.history["accuracy"].tolist(),
            "forms": vectors.forms,
            "words": {word: list(rows) for word, rows in vectors.words.items()},
            "warned": sorted(vectors.warned),
        }
        arrays = {**{f"weights/{name}": weight for name, weight in self.weights.items()}, VECTORS: vectors.matrix}
        write_tensors(place, MODEL, facts, arrays, overwrite=overwrite)
        return place


def probabilities(
    weights: Mapping[str, Floats],
    matrix: Floats,
    rows: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.integer[Any]],
    *,
    progress: bool = False,
) -> Floats:
    """Return the answers of a network with these weights to pairs of sentences, of shape (pairs, 3).

    `rows` holds the rows of `matrix` of each sentence; `pairs`, of shape (2, pairs), holds indices of `rows`. Pairs of
    one premise are answered together, and each of their sentences is encoded once.
    """
    torch = pytorch()
    lengths = np.array([len(sentence_rows) for sentence_rows in rows])
    order = np.lexsort((lengths[pairs[1]], pairs[0], lengths[pairs[0]]))
    answers = np.empty((pairs.shape[1], 3))
    with torch.inference_mode():
        tensors = {name: torch.from_numpy(np.ascontiguousarray(weight)) for name, weight in weights.items()}
        vectors = torch.from_numpy(np.ascontiguousarray(matrix))
        for chunk in with_progress(list(_chunks(order, lengths, pairs)), "Pairs", progress=progress):
            sides = []
            for places in pairs[:, chunk]:
                unique, back = np.unique(places, return_inverse=True)
                encoded = encode(tensors, *padded(vectors, [rows[place] for place in unique]), same)
                sides.append(encoded.select(torch.from_numpy(back)))
            first, second = sides
            answers[chunk] = logits(tensors, first, second, same).double().softmax(dim=-1).numpy()
    return answers


def _chunks(
    order: NDArray[np.intp], lengths: NDArray[np.intp], pairs: NDArray[np.integer[Any]]
) -> Iterator[NDArray[np.intp]]:
    """Yield indices of pairs to answer at once: fewer where sentences are long."""
    start = 0
    while start < len(order):
        chunk = order[start : start + _PAIRS]
        longest = lengths[pairs[:, chunk]].max()
        chunk = chunk[: max(1, _LARGEST // (256 * longest))]
        yield chunk
        start += len(chunk)


def padded(vectors: Any, rows: Sequence[NDArray[np.int64]]) -> tuple[Any, Any]:
    """Return a tensor of word vectors, of shape (sentences, words, dimensions), and a mask of the words in it."""
    import torch

    lengths = np.array([len(sentence_rows) for sentence_rows in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    places = np.zeros(mask.shape, dtype=np.int64)
    places[mask] = np.concatenate(rows)
    return vectors[torch.from_numpy(places)], torch.from_numpy(mask)


def same(inputs: Any) -> Any:
    """Return the inputs unchanged, in place of dropout."""
    return inputs

"""The decomposable attention network: functions of a mapping of weights, which PyTorch differentiates.

With a_i the projected vectors of the words of one sentence, b_j those of the other, and the paper's equations:

    a'_i = sum_j softmax_j(f(a_i)' f(a_j) + d(i - j)) a_j          7, 8   a_i becomes [a_i, a'_i]
    e_ij = F(a_i)' F(b_j)                                          1
    beta_i = sum_j softmax_j(e_ij) b_j, alpha_j likewise           2
    v1_i = G([a_i, beta_i]), v2_j = G([b_j, alpha_j])              3
    v1 = sum_i v1_i, v2 = sum_j v2_j                               4
    answer = softmax(H([v1, v2]))                                  5

The first layer of G is linear in beta, and so a weighted sum of what it makes of the words b_j: `encode` does this once
a sentence, whatever it is paired with. Dropout falls on the inputs of all layers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

type Tensor = Any
type Weights = Mapping[str, Tensor]
type Drop = Callable[[Tensor], Tensor]

FARTHEST = 10
"""Words that stand farther apart share one distance bias."""

LABEL_COUNT = 3


@dataclass(frozen=True, eq=False)
class Encoded:
    """Sentences, each encoded by itself; the arrays have the shape (sentences, words, hidden units).

    Parameters
    ----------
    attend
        F of each word.
    own, aligned
        What the first layer of G makes of a word in its own sentence, and of one that is aligned with another's.
    mask : shape (sentences, words)
        True where there is a word.
    """

    attend: Tensor
    own: Tensor
    aligned: Tensor
    mask: Tensor

    def at(self, places: Tensor) -> "Encoded":
        """Return some of the sentences, in the order of `places`, without columns in which none has a word."""
        mask = self.mask[places]
        longest = int(mask.sum(dim=1).max())
        attend, own, aligned = (each[places, :longest] for each in (self.attend, self.own, self.aligned))
        return Encoded(attend, own, aligned, mask[:, :longest])


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
    found: dict[str, tuple[int, ...]] = {}
    for number, (first, second) in enumerate(pairwise(sizes)):
        found |= {f"{name}.{number}.weight": (first, second), f"{name}.{number}.bias": (second,)}
    return found


def encode(weights: Weights, vectors: Tensor, mask: Tensor, drop: Drop) -> Encoded:
    """Encode sentences given as word vectors of shape (sentences, words, dimensions)."""
    import torch

    words = vectors @ weights["project"]
    if "intra.distance" in weights:
        found = _forward(weights, "intra", words, drop)
        place = torch.arange(words.shape[1])
        distance = place[:, None] - place[None, :]
        distance = torch.where(distance.abs() > FARTHEST, FARTHEST + 1, distance) + FARTHEST
        scores = found @ found.mT + weights["intra.distance"][distance]
        words = torch.cat([words, _attention(scores, mask[:, None, :]) @ words], dim=-1)
    attend = _forward(weights, "attend", words, drop)
    dropped = drop(words)
    own = dropped @ weights["compare.own"] + weights["compare.bias"]
    return Encoded(attend, own, dropped @ weights["compare.aligned"], mask)


def logits(weights: Weights, first: Encoded, second: Encoded, drop: Drop) -> Tensor:
    """Return the logits of the labels of pairs of encoded sentences, of shape (pairs, 3)."""
    import torch

    scores = first.attend @ second.attend.mT
    sums = []
    for own, other, toward in ((first, second, scores), (second, first, scores.mT)):
        beside = _attention(toward, other.mask[:, None, :]) @ other.aligned
        compared = _forward(weights, "compare", torch.relu(own.own + beside), drop)
        sums.append((compared * own.mask[..., None]).sum(dim=1))
    joined = _forward(weights, "aggregate", torch.cat(sums, dim=-1), drop)
    return drop(joined) @ weights["answer.0.weight"] + weights["answer.0.bias"]


def _forward(weights: Weights, name: str, inputs: Tensor, drop: Drop) -> Tensor:
    """Return what the layers of a name make of inputs, each a linear map and a rectifier."""
    number = 0
    while f"{name}.{number}.weight" in weights:
        inputs = (drop(inputs) @ weights[f"{name}.{number}.weight"] + weights[f"{name}.{number}.bias"]).relu()
        number += 1
    return inputs


def _attention(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax of scores over the last axis, 0 where there is no word."""
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)

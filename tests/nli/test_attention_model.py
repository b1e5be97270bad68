"""Answers of a model: one pair at a time gives what all together give."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from bayesbias.base.arrays import Floats
from bayesbias.nli import attention_model
from bayesbias.nli.attention_model import FARTHEST, _chunks, padded, probabilities, same, weight_shapes
from bayesbias.nli.training import adagrad_step

pytestmark = pytest.mark.extras


def test_sentences_are_padded_to_the_longest() -> None:
    import torch

    vectors = torch.arange(8.0).reshape(4, 2)
    tensor, mask = padded(vectors, [np.array([3]), np.array([1, 2, 3])])
    assert mask.tolist() == [[True, False, False], [True, True, True]]
    assert tensor[0, 0].tolist() == [6, 7]
    assert tensor[1].tolist() == [[2, 3], [4, 5], [6, 7]]
    assert same(vectors) is vectors


def test_parts_hold_every_pair_once_and_few_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_model, "_PAIRS", 10)
    monkeypatch.setattr(attention_model, "_LARGEST", 256 * 12)
    lengths, pairs = np.array([3, 6, 100]), np.array([[0] * 8 + [1] * 4 + [2], [0] * 13])
    parts = list(_chunks(np.arange(13), lengths, pairs))
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(13))
    assert all(len(part) == 1 or len(part) * lengths[pairs[:, part]].max() <= 12 for part in parts)
    assert max(map(len, parts)) > 1


DIMENSIONS, HIDDEN = 7, 5


def layers(weights: Mapping[str, Floats], name: str, inputs: Floats) -> Floats:
    for number in (0, 1):
        inputs = np.maximum(inputs @ weights[f"{name}.{number}.weight"] + weights[f"{name}.{number}.bias"], 0)
    return inputs


def softmax(scores: list[float]) -> list[float]:
    largest = max(scores)
    total = sum(math.exp(score - largest) for score in scores)
    return [math.exp(score - largest) / total for score in scores]


def joined(weights: Mapping[str, Floats], words: list[Floats]) -> list[Floats]:
    """Equations 7 and 8: each word beside the words of its sentence that it attends to."""
    pairs = []
    for i, word in enumerate(words):
        scores = []
        for j, other in enumerate(words):
            distance = i - j if abs(i - j) <= FARTHEST else FARTHEST + 1
            bias = weights["intra.distance"][distance + FARTHEST]
            scores.append(float(layers(weights, "intra", word) @ layers(weights, "intra", other) + bias))
        shares = softmax(scores)
        pairs.append(np.concatenate([word, sum(share * other for share, other in zip(shares, words, strict=True))]))
    return pairs


def answer(weights: Mapping[str, Floats], first: Floats, second: Floats) -> list[float]:
    """Equations 1 to 5, G with its first layer whole: a matrix for [a, beta]."""
    a, b = ([row @ weights["project"] for row in sentence] for sentence in (first, second))
    if "intra.distance" in weights:
        a, b = joined(weights, a), joined(weights, b)
    e = [[float(layers(weights, "attend", one) @ layers(weights, "attend", other)) for other in b] for one in a]
    whole = np.concatenate([weights["compare.own"], weights["compare.aligned"]])

    def compare(word: Floats, other: Floats) -> Floats:
        hidden = np.maximum(np.concatenate([word, other]) @ whole + weights["compare.bias"], 0)
        return np.maximum(hidden @ weights["compare.0.weight"] + weights["compare.0.bias"], 0)

    v1, v2 = np.zeros(HIDDEN), np.zeros(HIDDEN)
    for i, word in enumerate(a):
        v1 = v1 + compare(word, sum(share * b[j] for j, share in enumerate(softmax(e[i]))))
    for j, word in enumerate(b):
        column = softmax([e[i][j] for i in range(len(a))])
        v2 = v2 + compare(word, sum(share * a[i] for i, share in enumerate(column)))
    last = layers(weights, "aggregate", np.concatenate([v1, v2]))
    return softmax((last @ weights["answer.0.weight"] + weights["answer.0.bias"]).tolist())


@pytest.mark.parametrize("intra_attention", [True, False])
def test_answers_are_those_of_the_equations(intra_attention: bool) -> None:
    """Sentences of one to 25 words, so that some are padded and some words are more than ten apart."""
    rng = np.random.default_rng(1)
    shapes = weight_shapes(DIMENSIONS, HIDDEN, intra_attention=intra_attention)
    weights = {name: rng.standard_normal(shape).astype(np.float32) * 0.4 for name, shape in shapes.items()}
    matrix = rng.standard_normal((30, DIMENSIONS)).astype(np.float32)
    rows = [rng.integers(30, size=size) for size in (1, 4, 25, 2, 13, 4)]
    pairs = np.array([[0, 1, 2, 2, 5, 1, 4, 3, 0], [2, 1, 4, 0, 3, 5, 4, 2, 0]])
    answers = probabilities(weights, matrix, rows, pairs)
    exact = {name: weight.astype(np.float64) for name, weight in weights.items()}
    expected = [answer(exact, matrix[rows[i]].astype(float), matrix[rows[j]].astype(float)) for i, j in pairs.T]
    assert answers == pytest.approx(np.array(expected), abs=1e-4)
    assert np.ptp(answers, axis=0).min() > 0.05  # or nothing would be shown


def test_pairs_are_answered_in_parts_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    shapes = weight_shapes(DIMENSIONS, HIDDEN, intra_attention=True)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    matrix = rng.standard_normal((30, DIMENSIONS)).astype(np.float32)
    rows = [rng.integers(30, size=size) for size in rng.integers(1, 12, size=40)]
    pairs = rng.integers(40, size=(2, 200))
    whole = probabilities(weights, matrix, rows, pairs)
    for name, value in (("_PAIRS", 7), ("_LARGEST", 256 * 20)):
        monkeypatch.setattr(f"bayesbias.nli.attention_model.{name}", value)
        assert probabilities(weights, matrix, rows, pairs) == pytest.approx(whole, abs=1e-5)


def test_a_step_is_that_of_adagrad() -> None:
    """Against PyTorch's own optimizer."""
    import torch

    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(4, 3, generator=generator)
    theirs = weight.clone().requires_grad_()
    optimizer = torch.optim.Adagrad([theirs], lr=0.025, weight_decay=0.01, initial_accumulator_value=0.001, eps=1e-10)
    squares = torch.full_like(weight, 0.001)
    for _ in range(5):
        slope = torch.randn(4, 3, generator=generator)
        adagrad_step(weight, squares, slope, 0.025, 0.01)
        theirs.grad = slope.clone()
        optimizer.step()
    assert weight.numpy() == pytest.approx(theirs.detach().numpy(), rel=1e-6)

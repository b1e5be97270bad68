"""The 24 pairings of four weights and four directions, each beside the method itself."""

from itertools import permutations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import MISP, pairing_check
from bayesbias.errors import ArgumentError, LostWordsError
from tests.debias.made import NAMES, WORDS, made_embedding


def test_each_pairing_is_misp_with_that_pairing() -> None:
    embedding = made_embedding()
    words = [word for word in embedding.words if word not in {name for names in NAMES for name in names}]
    right = MISP().fit(embedding, WORDS)
    frame = pairing_check(embedding, WORDS).set_index("pairing")
    measured = pairing_check(embedding, WORDS, lambda after: float(np.linalg.norm(after.vectors))).set_index("pairing")
    assert list(frame.index) == ["".join(map(str, pairing)) for pairing in permutations((1, 2, 3, 4))]
    for pairing in permutations((1, 2, 3, 4)):
        fitted = MISP(pairing=pairing).fit(embedding, WORDS)
        row, label = frame.loc["".join(map(str, pairing))], "".join(map(str, pairing))
        # Equation 3, a word at a time.
        word_midb = [
            sum(a * (g @ embedding[w]) for a, g in zip(fitted.weights, fitted.directions, strict=True)) for w in words
        ]
        assert row["midb"] == pytest.approx(np.mean(word_midb))
        after = fitted.transform(embedding)
        left = np.abs(after.matrix(words) @ right.directions.T @ right.weights).mean()
        assert row["after"] == pytest.approx(left)
        assert measured.loc[label, "after"] == pytest.approx(np.linalg.norm(after.vectors))
    assert sorted(frame["rank"]) == list(range(1, 25))
    assert frame["after"].idxmin() == frame["rank"].idxmin()


def test_arguments() -> None:
    with pytest.raises(ArgumentError, match="components=7"):
        pairing_check(made_embedding(), WORDS, components=7)
    with pytest.raises(LostWordsError, match="absent"):
        pairing_check(made_embedding(), WORDS, words=["absent"])
    assert len(pairing_check(bb.load_embedding(made_embedding()), WORDS, components=3)) == 6

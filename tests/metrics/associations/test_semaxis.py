"""SemAxis, against plain NumPy of the published equations."""

import numpy as np
import pytest

from bayesbias import metrics
from bayesbias.errors import MeasureError
from tests.metrics.made import cosine

LISTS = {
    "cats": ["cat", "tom"],
    "dogs": ["dog", "pup"],
    "quiet": ["purr", "nap", "mew"],
    "loud": ["bark", "howl", "yap"],
}
A, B = LISTS["quiet"], LISTS["loud"]
WORDS = [word for words in LISTS.values() for word in words]
VECTORS = dict(zip(WORDS, np.random.default_rng(7).normal(size=(10, 6)), strict=True))


@pytest.mark.parametrize("normalize", [False, True])
def test_semaxis_of_each_word(normalize: bool) -> None:
    result = metrics.semaxis(VECTORS, LISTS, normalize=normalize)
    ends = []
    for words in (A, B):
        vectors = [VECTORS[word] / (np.linalg.norm(VECTORS[word]) if normalize else 1.0) for word in words]
        ends.append(np.mean(vectors, axis=0))
    expected = [cosine(VECTORS[word], ends[0] - ends[1]) for word in (*LISTS["cats"], *LISTS["dogs"])]
    assert result.scores["score"].to_numpy() == pytest.approx(expected)
    assert result.scores["group"].tolist() == ["cats", "cats", "dogs", "dogs"]


def test_an_axis_without_length() -> None:
    lists = {"cats": ["cat"], "quiet": ["purr"], "loud": ["bark"]}
    same = {"cat": [1.0, 0.0], "purr": [0.0, 1.0], "bark": [0.0, 1.0 + 1e-15]}
    with pytest.raises(MeasureError, match="axis"):
        metrics.semaxis(same, lists)

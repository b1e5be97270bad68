"""Single-category WEAT and NAS, against plain NumPy of the published equations."""

from itertools import combinations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias import metrics
from bayesbias.errors import MeasureError
from tests.metrics.associations.test_semaxis import LISTS, VECTORS, A, B
from tests.metrics.made import cosine


@pytest.mark.parametrize("ddof", [0, 1])
def test_nas_of_each_word(ddof: int) -> None:
    result = metrics.normalized_association_score(VECTORS, LISTS, ddof=ddof)
    for word, score in zip(result.scores["word"], result.scores["score"], strict=True):
        near = np.array([cosine(VECTORS[word], VECTORS[other]) for other in (*A, *B)])
        assert score == pytest.approx((near[:3].mean() - near[3:].mean()) / near.std(ddof=ddof))
    scores = result.scores["score"]
    assert result.value == pytest.approx(scores.mean())
    assert result.mean_of_dogs == pytest.approx(scores[2:].mean())


def test_single_category_weat_exchanges_attribute_words() -> None:
    result = metrics.sc_weat(VECTORS, {name: LISTS[name] for name in ("cats", "quiet", "loud")})
    near = np.array([np.mean([cosine(VECTORS[x], VECTORS[a]) for x in LISTS["cats"]]) for a in (*A, *B)])
    assert result.effect_size == pytest.approx((near[:3].mean() - near[3:].mean()) / near.std(ddof=1))
    assert result.scores["score"].to_numpy() == pytest.approx(near)
    differences = []
    for chosen in combinations(range(6), 3):
        inside = np.isin(np.arange(6), chosen)
        differences.append(near[inside].mean() - near[~inside].mean())
    observed = near[:3].mean() - near[3:].mean()
    assert result.p_value == pytest.approx(np.mean(np.array(differences) >= observed - 1e-12))
    assert result.p_value_two_sided == pytest.approx(np.mean(np.abs(differences) >= abs(observed) - 1e-12))
    assert result.partitions == 20


def test_single_category_weat_takes_one_group() -> None:
    with pytest.raises(MeasureError, match=" 2 protected groups"):
        metrics.sc_weat(VECTORS, LISTS)
    study = bb.load_study(LISTS)
    assert metrics.sc_weat(VECTORS, study, targets="dogs").conventions.startswith("X = dogs, A = quiet, B = loud")

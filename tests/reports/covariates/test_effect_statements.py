"""Sentences on slopes: the answer, the average lean, and the range of a covariate."""

import numpy as np
import pytest

import bayesbias as bb
from tests.reports.covariates.made import made_table


def test_the_average_lean_is_said_with_its_interval() -> None:
    """Words of both sides: the slope leads to near words, while the words are nearer to far words."""
    table = made_table()
    far = table["attribute_group"] == "far"
    table["cosine_distance"] = table["cosine_distance"] - np.where(far, 0.07, 0.0)
    effect = bb.covariate_effect(bb.fit(table, covariates="share", draws=250, random_seed=1, progress=False))
    kinds = [statement.kind for statement in effect.contents.answers]
    assert kinds.index("size") < kinds.index("level")  # the question is about the slope
    level = effect.effects[effect.effects["quantity"] == "mean lean"].iloc[0]
    assert level["observed"] == pytest.approx(effect.words["observed"].mean())
    assert level["hdi_low"] < 0 < level["hdi_high"]
    ends = f"{level['hdi_low']:+.3f} to {level['hdi_high']:+.3f}"
    claim = "On average, it is not settled whether these words are nearer to far words"
    assert f"{claim} (mean lean {level['mean']:+.3f}, observed {level['observed']:+.3f}, interval {ends})." in " ".join(
        str(effect).split()
    )

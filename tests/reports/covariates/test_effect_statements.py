"""Sentences on slopes: the answer, the average lean, and the range of a covariate."""

import numpy as np

import bayesbias as bb
from tests.reports.covariates.made import made_table


def test_the_average_lean_and_the_zero_of_the_line_are_said() -> None:
    """Words of both sides: the slope leads to near words, while the words are nearer to far words."""
    table = made_table()
    far = table["attribute_group"] == "far"
    table["cosine_distance"] = table["cosine_distance"] - np.where(far, 0.04, 0.0)
    effect = bb.covariate_effect(bb.fit(table, covariates="share", draws=250, random_seed=1, progress=False))
    level = effect.words["observed"].mean()
    sentence = f"On average, these words are still nearer to far words (mean lean {level:+.3f})."
    assert effect.contents.answer.endswith(sentence)
    slope = effect.effects.set_index(["quantity", "scope"])["mean"]["slope", "these_words"]
    zero = effect.words["share"].mean() - effect.words["mean"].mean() / slope
    assert f"The line crosses 0 at {zero:.3g}." in " ".join(str(effect).split())

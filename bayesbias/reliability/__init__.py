"""Reliability of bias scores: whether they would be the same with another seed, rule or word.

`score_array` computes scores. `test_retest`, `inter_rater` and `internal_consistency` estimate the reliability of such
an array, with posteriors; `icc_2_1`, `icc_3_1` and `cronbach_alpha` are the coefficients for any arrays whose last two
axes are rows and columns. `drivers` estimates what explains reliability. `reliability_report` does all of it, for
a page.
"""

from bayesbias.reliability.consistency import inter_rater, internal_consistency, test_retest
from bayesbias.reliability.drivers import ReliabilityDrivers, drivers
from bayesbias.reliability.mean_squares import cronbach_alpha, icc_2_1, icc_3_1
from bayesbias.reliability.report import ReliabilityReport, reliability_report
from bayesbias.reliability.scores import score_array
from bayesbias.reliability.stability import word_features
from bayesbias.reliability.word_lists import load_queries, load_target_words
from bayesbias.reliability.word_properties import load_word_properties

__all__ = [
    "ReliabilityDrivers",
    "ReliabilityReport",
    "cronbach_alpha",
    "drivers",
    "icc_2_1",
    "icc_3_1",
    "inter_rater",
    "internal_consistency",
    "load_queries",
    "load_target_words",
    "load_word_properties",
    "reliability_report",
    "score_array",
    "test_retest",
    "word_features",
]

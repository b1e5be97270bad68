"""Reliability of bias scores: whether they would come out again with another seed, rule or word.

`bayesbias.reliability.score_array` makes the scores; three functions estimate reliability of such an array, each with a posterior;
three more are the coefficients themselves, of any arrays whose last two axes are rows and columns. `drivers` says what
explains reliability.
"""

from bayesbias.reliability.consistency import inter_rater, internal_consistency, test_retest
from bayesbias.reliability.drivers import ReliabilityDrivers, drivers
from bayesbias.reliability.mean_squares import cronbach_alpha, icc_2_1, icc_3_1
from bayesbias.reliability.stability import word_features
from bayesbias.reliability.word_lists import load_queries, load_target_words

__all__ = [
    "ReliabilityDrivers",
    "cronbach_alpha",
    "drivers",
    "icc_2_1",
    "icc_3_1",
    "inter_rater",
    "internal_consistency",
    "load_queries",
    "load_target_words",
    "test_retest",
    "word_features",
]

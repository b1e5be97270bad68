"""Reliability of bias scores: whether they would come out again with another seed, rule or word.

`bayesbias.score_array` makes the scores; three functions estimate reliability of such an array, each with a posterior;
three more are the coefficients themselves, of any arrays whose last two axes are rows and columns.
"""

from bayesbias.reliability.consistency import inter_rater, internal_consistency, test_retest
from bayesbias.reliability.mean_squares import cronbach_alpha, icc_2_1, icc_3_1
from bayesbias.reliability.word_lists import load_queries, load_target_words

__all__ = [
    "cronbach_alpha",
    "icc_2_1",
    "icc_3_1",
    "inter_rater",
    "internal_consistency",
    "load_queries",
    "load_target_words",
    "test_retest",
]

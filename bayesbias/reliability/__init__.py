"""Reliability of bias scores: whether they would be the same with another seed, rule or word.

`score_array` computes scores. `test_retest`, `inter_rater` and `internal_consistency` estimate the reliability of such
an array, with posteriors; `icc_2_1`, `icc_3_1` and `cronbach_alpha` are the coefficients for any arrays whose last two
axes are rows and columns. `drivers` estimates what explains reliability. `reliability_report` does all of it, for
a page.
"""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Measures of a study in an embedding, and scores of a whole embedding, each with its conventions.

Measures of a study compare word lists of protected groups (X, Y, ...) with attribute lists (A, B, ...). A study given
as a mapping lists X, Y, A, B in this order: A is associated with X, and B with Y. Attribute lists may be the control
lists ``"human"`` and ``"neutral"``. A list that lost more than the share `max_lost` of its words raises a
`LostWordsError`.

Scores of a whole embedding use words or the items of a file. They have no `max_lost`: the items that the embedding
lacks are listed in the result (`lost_words`, `coverage`).

All of them give a `LostWordsWarning` if the embedding lacks some words and a `DuplicatesWarning` if several words of a
list match the same vector, and raise a `MeasureError` or an `ArgumentError` if an argument is not usable.
"""

from bayesbias.base.lazy_loading import lazy_names

_RULES = "db_wa", "nbm", "ripa", "ripa_unit"

__getattr__, __dir__, __all__ = lazy_names(
    __name__, __file__, {rule: f"bb.metrics.word_scores(..., rule={rule!r})" for rule in _RULES}
)

"""Doubts about words that a debiasing method equalized."""

from collections.abc import Iterator, Sequence

from bayesbias.base.number_text import counted
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some


def equalized_doubts(
    protected: Sequence[str], attributes: Sequence[str], *, place: str, baseline: str
) -> Iterator[Statement]:
    """Yield a statement on equalized protected words, and one on equalized attribute words.

    Parameters
    ----------
    protected, attributes
        Words that `equalized_words` names, by role; there may be none.
    place
        Where they are equalized, as the beginning of a sentence.
    baseline
        Where they are not.
    """
    if protected:
        text = (
            f"{place} {counted(len(protected), 'protected word')} ({name_some(protected, 12)}) are exactly as near to "
            f"most stereotype words as another protected word, unlike in {baseline}. They were equalized, so their "
            "gaps cannot show how such a word differs from its partner. Judge debiasing by words that were not "
            "equalized. Words that were equalized together share part of their difference, so the intervals are "
            "somewhat too narrow."
        )
        yield Statement("equalized words", text, {"words": tuple(protected)})
    if attributes:
        text = (
            f"{place} {counted(len(attributes), 'attribute word')} ({name_some(attributes, 12)}) are exactly as near "
            f"to most protected words as another attribute word, unlike in {baseline}. They were equalized: a gap "
            "between lists of such partners is 0 by construction, whatever is left of an association. Judge debiasing "
            "by attribute words that were not equalized."
        )
        yield Statement("equalized attribute words", text, {"words": tuple(attributes)})

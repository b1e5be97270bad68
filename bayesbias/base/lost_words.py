"""Words that an embedding lacks: how they are told, and how many of a list are too many."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bayesbias.base.checks import is_number, shown
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, name_some, warn_user

MAX_LOST = 0.2
"""The share of a list's words that may be lost, everywhere, unless the user says otherwise."""


@dataclass(frozen=True)
class WordList:
    """A list of words that were looked up, and those of them that were lost.

    Parameters
    ----------
    name
        As messages call it.
    size
        How many words it has, lost ones included.
    lost
        Those that the embedding lacks.
    limited
        Whether losing many of them changes the question. Control words stand for words in general: without some of
        them the answer is less precise, and the question the same.
    """

    name: str
    size: int
    lost: Sequence[str]
    limited: bool = True

    def is_over(self, limit: float) -> bool:
        """Whether a larger share than `limit` is lost."""
        return self.limited and bool(self.lost) and len(self.lost) / self.size > limit

    def __str__(self) -> str:
        return f"{len(self.lost)} of the {self.size} of {self.name!r} ({name_some(self.lost, 5)})"


def check_max_lost(value: float) -> float:
    """Return the share of a list's words that may be lost, from 0 to 1.

    >>> check_max_lost(20)
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: max_lost=20: give a share from 0 to 1, such as 0.2.
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise ArgumentError(f"max_lost={shown(value)}: give a share from 0 to 1, such as {MAX_LOST}.")
    return float(value)


def judge_lost_words(source: str, lists: Sequence[WordList], then: str, *, max_lost: float = 1.0) -> None:
    """Warn of words that `source` lacks, or raise `LostWordsError` where they are more than a share of a list.

    `source` is such as ``"The embedding 'toy'"``; `then` says what the loss means for the numbers, and where the lost
    words are listed. Nothing is said where no word is lost.

    >>> judge_lost_words("The embedding 'toy'", [WordList("math", 8, ["algebra", "calculus"])], "", max_lost=0.2)
    Traceback (most recent call last):
        ...
    bayesbias.errors.LostWordsError: The embedding 'toy' lacks too many words: 2 of the 8 of 'math' (algebra, calculus).
    At most 20% of a list may be lost (max_lost=0.2): what is left may be another question. Look the words up in other
    forms (case), or give others, or allow it: max_lost=0.25 (--max-lost 0.25).
    """
    limit = check_max_lost(max_lost)
    losing = [each for each in lists if each.lost]
    if too_many := [each for each in losing if each.is_over(limit)]:
        raise LostWordsError(
            f"{source} lacks too many words: {'; '.join(map(str, too_many))}. At most {100 * limit:g}% of a list may "
            f"be lost (max_lost={limit:g}): what is left may be another question. Look the words up in other forms "
            f"(case), or give others{allowance(too_many)}."
        )
    if losing:
        count = sum(len(each.lost) for each in losing)
        words = f"{count} word{'s' * (count > 1)}"
        warn_user(f"{source} lacks {words}: {'; '.join(map(str, losing))}. {then}", LostWordsWarning)


def allowance(lists: Sequence[WordList], least: int = 1) -> str:
    """Return how to allow what some lists lost, as the end of a sentence; empty where one has too few words left.

    >>> allowance([WordList("math", 3, ["algebra"])])
    ', or allow it: max_lost=0.34 (--max-lost 0.34)'
    >>> allowance([WordList("math", 3, ["algebra", "calculus"])], least=2)
    ''
    """
    if any(each.size - len(each.lost) < least for each in lists):
        return ""
    most = max(len(each.lost) / each.size for each in lists)
    # Rounded up, so that the number that is named is enough.
    share = f"{-(-most * 100 // 1) / 100:g}"
    return f", or allow it: max_lost={share} (--max-lost {share})"


def list_labels(protected: Collection[str], attributes: Collection[str]) -> Mapping[tuple[str, str], str]:
    """Return (``"protected"`` or ``"attribute"``, list) -> its name in messages: of two of one name with its kind.

    >>> list_labels(["arts"], ["arts", "male"])[("protected", "arts")]
    'protected group arts'
    """
    both = set(protected) & set(attributes)
    return {
        (kind, name): f"{kind} group {name}" if name in both else name
        for kind, names in (("protected", protected), ("attribute", attributes))
        for name in names
    }

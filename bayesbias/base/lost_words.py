"""Words that an embedding lacks: warnings, and an error if a list loses too many."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bayesbias.base.checks import is_number, shown
from bayesbias.base.number_text import counted, shown_name
from bayesbias.base.statements import Finding, Statement
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, name_some, setting, warn_user, worded

MAX_LOST = 0.2
"""Default share of a list's words that may be lost."""
# What is left of a list that lost more is another list: no message advises to allow that.
_MOST_ALLOWED = 0.5


@dataclass(frozen=True)
class WordList:
    """A list of words that were looked up, with those that were lost.

    - `name`: name of the list in messages.
    - `size`: number of words, lost ones included.
    - `lost`: words that the embedding lacks, or that were left out.
    - `without_number`: those of them that the embedding has, without a number in the covariates.
    - `limited`: whether only a limited share may be lost. Control words stand for words in general: losing some makes
      the answer less precise, but does not change the question.
    """

    name: str
    size: int
    lost: Sequence[str]
    limited: bool = True
    without_number: Collection[str] = ()

    def is_over(self, limit: float) -> bool:
        """Return whether a larger share than `limit` is lost."""
        return self.limited and bool(self.lost) and len(self.lost) / self.size > limit

    def __str__(self) -> str:
        words = [f"{word}{' (no number)' * (word in self.without_number)}" for word in self.lost]
        return f"{len(words)} of the {self.size} of {shown_name(self.name)!r} ({name_some(words, 5)})"


def check_max_lost(value: float) -> float:
    """Return `value` if it is a share from 0 to 1.

    >>> check_max_lost(20)
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: max_lost=20: give a share from 0 to 1, such as 0.2.
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise ArgumentError(f"max_lost={shown(value)}: give a share from 0 to 1, such as {MAX_LOST}.")
    return float(value)


def judge_lost_words(source: str, lists: Sequence[WordList], then: str, *, max_lost: float = 1.0) -> None:
    """Warn of words that `source` lacks, or raise `LostWordsError` if a list lost more than the share `max_lost`.

    `source` is the subject of the message, such as ``"The embedding 'toy'"``; `then` ends the warning: what the loss
    means for the numbers, and where the lost words are listed.

    >>> judge_lost_words("The embedding 'toy'", [WordList("math", 8, ["algebra", "calculus"])], "", max_lost=0.2)
    Traceback (most recent call last):
        ...
    bayesbias.errors.LostWordsError: The embedding 'toy' lacks too many words: 2 of the 8 of 'math' (algebra, calculus).
    At most 20% of a list may be lost (max_lost=0.2): what is left may be another question. Look the words up in other
    forms (case='exact,lower,title'), or replace them, or allow it: max_lost=0.25.
    """
    limit = check_max_lost(max_lost)
    losing = [word_list for word_list in lists if word_list.lost]
    if too_many := [word_list for word_list in losing if word_list.is_over(limit)]:
        raise LostWordsError(
            f"{source} lacks too many words: {'; '.join(map(str, too_many))}. At most {100 * limit:g}% of a list may "
            f"be lost ({setting('max_lost', limit)}): what is left may be another question. Look the words up in other "
            f"forms ({setting('case', 'exact,lower,title')}), or replace them{allowance(too_many)}."
        )
    if losing:
        count = sum(len(word_list.lost) for word_list in losing)
        words = counted(count, "word")
        warn_user(f"{source} lacks {words}: {'; '.join(map(str, losing))}. {then}", LostWordsWarning)


def allowance(lists: Sequence[WordList], least: int = 1) -> str:
    """Return the end of a sentence that says which `max_lost` allows the losses.

    Empty if a list lost more than half of its words, or is left too short.

    >>> allowance([WordList("math", 3, ["algebra"])])
    ', or allow it: max_lost=0.34'
    >>> allowance([WordList("math", 3, ["algebra", "calculus"])])
    ''
    >>> allowance([WordList("math", 2, ["algebra"])], least=2)
    ''
    """
    if any(word_list.size - len(word_list.lost) < least for word_list in lists):
        return ""
    most = max(len(word_list.lost) / word_list.size for word_list in lists)
    if most > _MOST_ALLOWED:
        return ""
    # Rounded up, so that it is enough.
    return f", or allow it: {setting('max_lost', -(-most * 100 // 1) / 100)}"


def many_lost_words(lists: Sequence[WordList]) -> Iterator[Finding]:
    """Yield the finding that lists lost so many words that what is left may be another question, if some did.

    >>> [(fact, advice)] = many_lost_words([WordList("math", 3, ["algebra"]), WordList("arts", 3, [])])
    >>> print(fact)
    The embedding lacks 1 of the 3 of 'math' (algebra). What is left may be another question.
    """
    if losing := [word_list for word_list in lists if word_list.is_over(MAX_LOST)]:
        fact = f"The embedding lacks {'; '.join(map(str, losing))}. What is left may be another question."
        advice = (
            f"Look up other spellings ({worded('bb.check_words', '`bayesbias words`')} shows near ones), give other "
            "words of the same kind, or use another embedding."
        )
        numbers = {word_list.name: [len(word_list.lost), word_list.size] for word_list in losing}
        yield Statement("many lost words", fact, {"lists": numbers}), advice


def list_labels(protected: Collection[str], attributes: Collection[str]) -> Mapping[tuple[str, str], str]:
    """Return the names of lists in messages, by (kind, name); names of both kinds get their kind as a prefix.

    >>> list_labels(["arts"], ["arts", "male"])[("protected", "arts")]
    'protected group arts'
    """
    shared_names = set(protected) & set(attributes)
    return {
        (kind, name): f"{kind} group {name}" if name in shared_names else name
        for kind, names in (("protected", protected), ("attribute", attributes))
        for name in names
    }

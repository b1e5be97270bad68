"""Every error and warning that a user can meet.

Each message says what is wrong, where, and what to do. Errors derive from `BayesBiasError`, so that one ``except``
catches them all, and from the built-in error that fits; warnings derive from `BayesBiasWarning`. Code that converts
built-in errors into these re-raises its own first: ``except BayesBiasError: raise``.
"""

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from heapq import nlargest
from itertools import islice, pairwise
from pathlib import Path
from threading import RLock

__all__ = [
    "ArgumentError",
    "BayesBiasError",
    "BayesBiasWarning",
    "ClusterError",
    "ConvergenceWarning",
    "DuplicatesWarning",
    "EmbeddingError",
    "FigureWarning",
    "FitError",
    "InputFileError",
    "LostWordsError",
    "LostWordsWarning",
    "MeasureError",
    "ModelError",
    "NotEnoughMemoryError",
    "OutputError",
    "QuestionWarning",
    "ReportError",
    "SamplerWarning",
    "StoppedWarning",
    "StudyError",
    "TableError",
    "TrainingWarning",
]


_COLLECTING = RLock()
_MOST_FAULTS = 100
_LONGEST_HINT, _MOST_CHOICES, _COMPARED = 80, 1000, 10
_LONGEST_WORD = 200  # letters; names in the path of a file are counted by themselves
_LONG_WORD = re.compile(rf"[^\s/]{{{_LONGEST_WORD + 4},}}")  # a beginning, with its three dots, is none
_LONGEST_MESSAGE = 50_000  # characters; a file may hold a word of a gigabyte

# Control characters but tabs and ends of lines; what is invisible, ends lines or changes the direction of a text, but
# joiners and two selectors, which scripts and emoji need; halves of surrogate pairs, and what XML has not.
HIDDEN = (
    "\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
HIDDEN_SIGN = re.compile(f"[{HIDDEN}]")


def visible(text: object) -> str:
    r"""Return a text in which control characters and invisible ones are shown as Python writes them.

    >>> print(visible("\x1b[31mred \u202eturned"))
    \x1b[31mred \u202eturned
    """
    return HIDDEN_SIGN.sub(lambda match: ascii(match[0])[1:-1], str(text))


def beginning(text: str) -> str:
    """Return a text with the beginnings of words of hundreds of letters, and at most 50,000 characters of all.

    >>> beginning(300 * "a")[195:]
    'aaaaa... and 100 more characters'
    """
    text = _LONG_WORD.sub(_beginning, text)
    cut_off = len(text) - _LONGEST_MESSAGE
    return text if cut_off <= 0 else f"{text[:_LONGEST_MESSAGE]}... and {cut_off:,} more characters."


def _beginning(word: re.Match[str]) -> str:
    cut_off = len(word[0]) - _LONGEST_WORD
    return f"{word[0][:_LONGEST_WORD]}... and {cut_off:,} more characters{'.' * word[0].endswith('.')}"


class BayesBiasError(Exception):
    """Base of every error that this package raises on purpose."""

    def __str__(self) -> str:
        return visible(beginning(super().__str__()))


class ArgumentError(BayesBiasError, ValueError):
    """An argument, such as a seed or a probability, is not usable."""


class StudyError(BayesBiasError, ValueError):
    """A study is not usable; the message lists all its faults."""


class EmbeddingError(BayesBiasError, ValueError):
    """An embedding cannot be read or is not usable."""


class LostWordsError(EmbeddingError, LookupError):
    """An embedding lacks too many words to answer a study's question."""


class TableError(BayesBiasError, ValueError):
    """A distance table breaks the schema; the message lists all its faults."""


class ModelError(BayesBiasError, ValueError):
    """A model description or a prior is not usable."""


class FitError(BayesBiasError, ValueError):
    """A fit cannot be made from this table and model, or was not made by this package."""


class ReportError(BayesBiasError, ValueError):
    """A report needs something that the fit lacks."""


class MeasureError(BayesBiasError, ValueError):
    """A measure or a debiasing method cannot be computed from these words or vectors."""


class ClusterError(BayesBiasError, OSError):
    """The workers of a cluster cannot be reached or were lost."""


class OutputError(BayesBiasError, OSError):
    """An output cannot be written, or would overwrite something."""


class InputFileError(BayesBiasError, OSError):
    """A file cannot be opened, or its content does not match its name."""


class NotEnoughMemoryError(BayesBiasError, MemoryError):
    """Work needs more memory than is free."""


class BayesBiasWarning(UserWarning):
    """Base of every warning of this package."""


class LostWordsWarning(BayesBiasWarning):
    """An embedding lacks some words of a study."""


class DuplicatesWarning(BayesBiasWarning):
    """Some rows, words or vectors occur more than once."""


class ConvergenceWarning(BayesBiasWarning):
    """A sampler's diagnostics say that its draws cannot be trusted yet."""


class SamplerWarning(BayesBiasWarning):
    """The fastest sampler was not used."""


class TrainingWarning(BayesBiasWarning):
    """Training is not reproducible with these settings."""


class QuestionWarning(BayesBiasWarning):
    """A question has no answer, or its answer covers more than it asks."""


class StoppedWarning(BayesBiasWarning):
    """Long work was interrupted, and its answer rests on the part that was done."""


class FigureWarning(BayesBiasWarning):
    """A figure does not show everything correctly."""


_ON_THE_COMMAND_LINE: ContextVar[Callable[[str], str] | None] = ContextVar("_ON_THE_COMMAND_LINE", default=None)


@contextmanager
def command_line_messages(of_command: Callable[[str], str] = lambda _: "") -> Iterator[None]:
    """Have messages name settings as options of the command line.

    - `of_command`: function of a setting's name that returns what follows its option, such as " of `bayesbias table`"
      if the command that runs lacks it.
    """
    token = _ON_THE_COMMAND_LINE.set(of_command)
    try:
        yield
    finally:
        _ON_THE_COMMAND_LINE.reset(token)


def setting(name: str, value: object = None, *, option: str = "") -> str:
    """Return a setting as the reader of a message writes it: an argument in Python, an option on the command line.

    `option` is the whole text on the command line, if that is not made of the name.

    >>> setting("max_lost", 0.25), setting("case", "upper"), setting("format")
    ('max_lost=0.25', "case='upper'", 'format=...')
    >>> with command_line_messages():
    ...     setting("max_lost", 0.25), setting("prefix", "a b"), setting("allow_pickle", True)
    ('--max-lost 0.25', "--prefix 'a b'", '--allow-pickle')
    """
    of_command = _ON_THE_COMMAND_LINE.get()
    if of_command is None:
        return f"{name}={'...' if value is None else repr(value)}"
    written = option or f"--{name.replace('_', '-')}"
    if not (option or value is None or value is True):
        texts = [value] if not isinstance(value, list | tuple) else value
        written += f" {shlex.quote(','.join(map(str, texts)))}"
    return written + of_command(name)


def worded(python: str, command_line: str) -> str:
    """Return the text for a reader who called a function, or the one for a reader who typed a command.

    >>> worded("bb.fit", "`bayesbias fit`")
    'bb.fit'
    """
    return python if _ON_THE_COMMAND_LINE.get() is None else command_line


def did_you_mean(text: str, choices: Iterable[str]) -> str:
    """Return a hint such as ``" (did you mean 'human'?)"``, or an empty string if no choice is close.

    >>> did_you_mean("humen", ["human", "neutral"])
    " (did you mean 'human'?)"
    >>> did_you_mean("protected_word", ["protected_group", "word"])  # the last part of a name is the best hint
    " (did you mean 'word'?)"
    >>> did_you_mean("xyz", ["human", "neutral"])
    ''
    """
    # Comparing takes the square of the lengths: names of a file may be long and many.
    short = (choice for choice in choices if len(choice) <= _LONGEST_HINT)
    some = list(islice(short, _MOST_CHOICES))
    close = _closest(text, some) if len(text) <= _LONGEST_HINT else []
    same = [choice for choice in some if choice.casefold() == text.casefold()]
    close = same or [choice for choice in some if text.casefold().endswith(f"_{choice.casefold()}")] or close
    return f" (did you mean {close[0]!r}?)" if close else ""


def _closest(text: str, choices: Iterable[str]) -> list[str]:
    """Return the closest choice, or nothing, compared with those alone that share the most letters and pairs of them.

    Comparing a thousand took half a second, and each fault of a file can need a hint.
    """
    letters, pairs = Counter(text), Counter(pairwise(text))

    def shared(choice: str) -> float:
        both = (letters & Counter(choice)).total() + (pairs & Counter(pairwise(choice))).total()
        return both / (len(text) + len(choice) + 1)

    return get_close_matches(text, nlargest(_COMPARED, choices, key=shared), n=1, cutoff=0.7)


def name_some(items: Iterable[object], limit: int = 8) -> str:
    """Return at most `limit` items as text, and how many more there are.

    >>> name_some(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    names = [str(item) for item in items]
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"


def raise_faults(error: type[BayesBiasError], what: str, faults: Iterable[str]) -> None:
    """Raise one error that lists all faults, at most a hundred, if there are any; an iterator is asked for no more.

    >>> raise_faults(StudyError, "The study 'pets'", ["It has no words."])
    Traceback (most recent call last):
        ...
    bayesbias.errors.StudyError: The study 'pets' has 1 fault:
    - It has no words.
    """
    first = [beginning(fault) for fault in islice(faults, _MOST_FAULTS + 1)]  # a name in all of them may be long
    if len(first) > _MOST_FAULTS and isinstance(faults, Sized):
        count, more = f"{len(faults):,} faults", [f"and {len(faults) - _MOST_FAULTS:,} more"]
    elif len(first) > _MOST_FAULTS:
        count, more = f"more than {_MOST_FAULTS} faults", ["and more"]
    else:
        count, more = f"{len(first)} fault{'s' * (len(first) > 1)}", []
    if first:
        raise error("\n- ".join([f"{what} has {count}:", *first[:_MOST_FAULTS], *more]))


@contextmanager
def collected_warnings(category: type[Warning] = Warning) -> Iterator[list[warnings.WarningMessage]]:
    """Yield a list that collects warnings instead of showing them; one thread at a time, as filters are global.

    Warnings of other categories are shown at the end.
    """
    with _COLLECTING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category)
        yield caught
    others = [warning for warning in caught if not issubclass(warning.category, category)]
    caught[:] = [warning for warning in caught if issubclass(warning.category, category)]
    for warning in others:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def library_reason(error: BaseException) -> str:
    """Return the first line of a library's error message as a sentence.

    >>> library_reason(ValueError("header too small"))
    'header too small.'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if "ignore_mismatched_sizes" in lines[0]:  # of transformers, which prints the reason elsewhere
        return "its weights have other shapes than its config.json says."
    return f"{lines[0][:200].rstrip(' .:')}."


def warn_user(message: str, category: type[BayesBiasWarning]) -> None:
    """Warn, naming the line of the user's code that called this package."""
    warnings.warn(visible(message), category, skip_file_prefixes=(str(Path(__file__).parent),))

"""Every error and warning that a user can meet.

Each message says what was found, where, and what to do. Errors derive from `BayesBiasError`, so that one ``except``
catches them all, and from the built-in error that fits; warnings derive from `BayesBiasWarning`. Code that turns a
built-in error into one of these lets them pass first: ``except BayesBiasError: raise``.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
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
    "StudyError",
    "TableError",
    "TrainingWarning",
]


_COLLECTING = RLock()
_MOST_FAULTS = 100


class BayesBiasError(Exception):
    """Base of every error that this package raises on purpose."""


class ArgumentError(BayesBiasError, ValueError):
    """An argument that many functions share, such as a seed or a probability, is not usable."""


class StudyError(BayesBiasError, ValueError):
    """A study is not usable: all its faults are listed at once."""


class EmbeddingError(BayesBiasError, ValueError):
    """An embedding cannot be read or is not usable."""


class LostWordsError(EmbeddingError, LookupError):
    """So many words are missing from an embedding that a study's question cannot be answered."""


class TableError(BayesBiasError, ValueError):
    """A distance table breaks the schema: all its faults are listed at once."""


class ModelError(BayesBiasError, ValueError):
    """A model description or a prior is not usable."""


class FitError(BayesBiasError, ValueError):
    """A fit cannot be made from this table and model, or a given fit is not one of ours."""


class ReportError(BayesBiasError, ValueError):
    """A report was asked for something that the fit does not hold."""


class MeasureError(BayesBiasError, ValueError):
    """A measure or a debiasing method cannot be computed from these words or vectors."""


class ClusterError(BayesBiasError, OSError):
    """The workers that answer cells cannot be reached, or are gone."""


class OutputError(BayesBiasError, OSError):
    """An output cannot be written, or would overwrite something."""


class InputFileError(BayesBiasError, OSError):
    """A file cannot be opened or is not what its name says."""


class NotEnoughMemoryError(BayesBiasError, MemoryError):
    """Work would need more memory than is free."""


class BayesBiasWarning(UserWarning):
    """Base of every warning that this package gives."""


class LostWordsWarning(BayesBiasWarning):
    """Some words of a study are missing from an embedding."""


class DuplicatesWarning(BayesBiasWarning):
    """Some rows, words or vectors occur more than once."""


class ConvergenceWarning(BayesBiasWarning):
    """A sampler's diagnostics say that its draws should not be trusted yet."""


class SamplerWarning(BayesBiasWarning):
    """Another sampler was used than the fastest."""


class TrainingWarning(BayesBiasWarning):
    """Vectors were trained in a way that does not give the same vectors again."""


class QuestionWarning(BayesBiasWarning):
    """A question has no answer, or an answer that is about more than it asks."""


class FigureWarning(BayesBiasWarning):
    """A figure does not show everything as it should."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return a hint such as ``" (did you mean 'human'?)"``, or an empty string where nothing is close.

    >>> did_you_mean("humen", ["human", "neutral"])
    " (did you mean 'human'?)"
    >>> did_you_mean("xyz", ["human", "neutral"])
    ''
    """
    close = get_close_matches(given, list(known), n=1, cutoff=0.7)
    return f" (did you mean {close[0]!r}?)" if close else ""


def name_some(items: Iterable[object], limit: int = 8) -> str:
    """Return a readable list of at most `limit` items that says how many more there are.

    >>> name_some(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    names = [str(item) for item in items]
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"


def raise_faults(error: type[BayesBiasError], what: str, faults: Sequence[str]) -> None:
    """Raise one error that lists all faults, or a hundred of more, if there are any.

    >>> raise_faults(StudyError, "The study 'pets'", ["It has no words."])
    Traceback (most recent call last):
        ...
    bayesbias.errors.StudyError: The study 'pets' has 1 fault:
    - It has no words.
    """
    if faults:
        more = [f"and {len(faults) - _MOST_FAULTS:,} more"] if len(faults) > _MOST_FAULTS else []
        listed = [f"{what} has {len(faults):,} fault{'s' * (len(faults) > 1)}:", *faults[:_MOST_FAULTS], *more]
        raise error("\n- ".join(listed))


@contextmanager
def collected_warnings(category: type[Warning] = Warning) -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings in a list and show none of them; one thread at a time, since filters belong to the process."""
    with _COLLECTING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category)
        yield caught


def library_reason(error: BaseException) -> str:
    """Return the first line of what a library says of a fault, as a sentence.

    >>> library_reason(ValueError("header too small"))
    'header too small.'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if "ignore_mismatched_sizes" in lines[0]:  # of transformers, which prints the reason elsewhere
        return "its weights have other shapes than its config.json says."
    return f"{lines[0][:200].rstrip(' .:')}."


def warn_user(message: str, category: type[BayesBiasWarning]) -> None:
    """Warn, pointing at the line of the user's code and not at one of this package."""
    warnings.warn(message, category, skip_file_prefixes=(str(Path(__file__).parent),))

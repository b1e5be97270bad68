"""The statement on long work that was interrupted."""

from bayesbias.base.statements import Statement
from bayesbias.errors import StoppedWarning, warn_user


def stopped_statement(done: int, total: int, what: str) -> Statement:
    """Return the statement that work was interrupted, and warn with it; interrupt if nothing was done.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     print(stopped_statement(3, 9, "refits").text)
    Interrupted after 3 of 9 refits: the answer rests on these alone.
    """
    if not done:
        raise KeyboardInterrupt
    text = f"Interrupted after {done:,} of {total:,} {what}: the answer rests on these alone."
    warn_user(text, StoppedWarning)
    return Statement("stopped", text, {"done": done, "total": total})

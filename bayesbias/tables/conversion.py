"""Tables of other libraries, such as polars and Arrow."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import pandas as pd

from bayesbias.errors import TableError


def as_frame(table: Any) -> Any:
    """Return a table of any library that narwhals supports as a pandas frame; anything else as it is.

    >>> import pyarrow
    >>> as_frame(pyarrow.table({"protected_word": ["he"]}))
      protected_word
    0             he
    """
    if isinstance(table, pd.DataFrame) or not hasattr(type(table), "columns"):
        return table
    import narwhals

    try:
        return narwhals.from_native(table, eager_only=True).to_pandas()
    except TypeError as error:
        raise TableError(
            f"The distance table is a {type(table).__name__}, which is not supported or not computed yet. Give a frame "
            "of pandas, polars or Arrow; call collect() on a lazy one."
        ) from error


def any_frame[**Parameters, Result](function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function that takes its first argument, a distance table, from any library that narwhals supports."""
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def converted(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        if args:
            args = (as_frame(args[0]), *args[1:])  # type: ignore[assignment]
        elif first in kwargs:
            kwargs[first] = as_frame(kwargs[first])
        return function(*args, **kwargs)

    return converted

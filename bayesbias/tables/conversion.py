"""Tables of other libraries than pandas, such as polars and Arrow."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import pandas as pd

from bayesbias.errors import TableError


def as_frame(table: Any) -> Any:
    """Return a table of any library that narwhals knows as a pandas frame; anything else is returned as it is.

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
            f"The distance table is a {type(table).__name__}, which is not known, or not computed yet. Give a frame of "
            "pandas, polars or Arrow; a lazy one after collect()."
        ) from error


def any_frame[**Given, Found](function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let the first argument of a function, a distance table, be a frame of any library that narwhals knows."""
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def converted(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        if args:
            args = (as_frame(args[0]), *args[1:])  # type: ignore[assignment]
        elif first in kwargs:
            kwargs[first] = as_frame(kwargs[first])
        return function(*args, **kwargs)

    return converted

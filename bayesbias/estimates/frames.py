"""Frames of estimates that show mean and interval in a terminal of any width."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import visible
from bayesbias.estimates.intervals import MOMENTS, estimates

_SHOWN = ("mean", "hdi_low", "hdi_high")
_SHOWN_NEXT = ("observed", "probability_of_direction")
_WIDTH = 80
_MOST_COLUMNS = 7  # in a notebook


class EstimateFrame(pd.DataFrame):
    """A pandas frame of estimates that is shown with its labels, mean and interval first.

    pandas itself would leave out the columns in the middle, which are the answer. `all_columns` shows the others.
    `settings` are those that the function which returned the frame names; rows and columns of the frame keep them.

    Examples
    --------
    >>> labels = {"parameter": ["connection_mean"], "connection": ["associated"], "protected_word": [""]}
    >>> numbers = {"pairs": [128], "mean": [0.89], "sd": [0.01], "hdi_low": [0.87], "hdi_high": [0.91]}
    >>> EstimateFrame({**labels, **numbers})
             parameter  connection  mean hdi_low hdi_high  pairs    sd
    0  connection_mean  associated 0.890   0.870    0.910    128 0.010
    """

    _metadata: ClassVar = ["settings"]
    settings: Mapping[str, Any] = {}

    @property
    def _constructor(self) -> Callable[..., "EstimateFrame"]:
        return EstimateFrame

    def __repr__(self) -> str:
        if not set(_SHOWN) <= set(self.columns) or self.empty:
            return super().__repr__()
        return _text_of(pd.DataFrame(self))

    def _repr_html_(self) -> str | None:
        if not set(_SHOWN) <= set(self.columns) or self.empty:
            return notebook_html(self)
        return _html_of(pd.DataFrame(self))

    def all_columns(self) -> pd.DataFrame:
        """Return the same as a plain frame, of which pandas shows all columns that fit.

        >>> labels = {"parameter": ["connection_mean"], "mean": [0.89], "hdi_low": [0.87], "hdi_high": [0.91]}
        >>> EstimateFrame(labels | {"ess_bulk": [812.3]}).all_columns().shape
        (1, 5)
        """
        return pd.DataFrame(self)


def notebook_html(frame: pd.DataFrame) -> str | None:
    """Return a frame as pandas shows it in a notebook, but its words are never mathematics, and hide nothing."""
    with pd.option_context("display.html.use_mathjax", False):
        html = pd.DataFrame(frame)._repr_html_()  # type: ignore[operator]
    return html and visible(html)


def frame_of_draws(
    draws: Floats, labels: Mapping[str, Sequence[Any]], hdi_prob: float, **columns: Any
) -> EstimateFrame:
    """Return one row for each column of independent draws: its labels, `MOMENTS`, and further columns.

    >>> frame = frame_of_draws(np.array([[0.0, 1.0], [1.0, 1.5], [2.0, 5.0]]), {"word": ["he", "she"]}, 0.5)
    >>> frame[["word", "mean", "sd"]].values.tolist()
    [['he', 1.0, 1.0], ['she', 2.5, 2.17...]]
    """
    import xarray as xr

    array = xr.DataArray(draws[np.newaxis], dims=("chain", "draw", "row"), coords={"row": np.arange(draws.shape[1])})
    numbers = estimates(array, hdi_prob=hdi_prob, independent=len(draws))
    return EstimateFrame(pd.DataFrame(labels).assign(**{name: numbers[name] for name in MOMENTS}, **columns))


def _text_of(frame: pd.DataFrame) -> str:
    """Return labels, mean and interval of a frame as text, and as many other columns as fit into a line."""
    frame = _with_one_name(frame)
    width = shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout is not None and sys.stdout.isatty() else _WIDTH

    def text(columns: list[str]) -> str:
        return frame_text(frame[columns], max_rows=pd.get_option("display.max_rows"))

    chosen = _first_columns(frame, lambda columns: max(map(len, text(columns).splitlines())) <= width)
    more = len(frame.columns) - len(chosen)
    return f"{text(chosen)}\n[{len(frame):,} rows; {more} columns more]" if more else text(chosen)


def _html_of(frame: pd.DataFrame) -> str:
    """Return labels, mean and interval of a frame for a notebook, with at most `_MOST_COLUMNS` columns."""
    frame = _with_one_name(frame)
    chosen = _first_columns(frame, lambda columns: len(columns) <= _MOST_COLUMNS)
    with pd.option_context("display.html.use_mathjax", False):
        html = frame[chosen].to_html(
            formatters=_formats(frame[chosen]), na_rep="", max_rows=pd.get_option("display.max_rows"), notebook=True
        )
    if more := len(frame.columns) - len(chosen):
        html += f"<p>{len(frame):,} rows; {more} columns more: .all_columns()</p>"
    return visible(html)


def _with_one_name(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without empty columns, and with one column for the word or group that a row is about."""
    if {"protected_group", "protected_word"} <= set(frame.columns):
        # Merge both columns: a row is about a word, or else about a group.
        words, groups = frame["protected_word"], frame["protected_group"]
        frame = frame.assign(protected_word=words.where(words != "", groups)).drop(columns="protected_group")
        frame = frame.rename(columns={"protected_word": "protected"})
    return filled(frame)


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without its columns of empty texts.

    >>> filled(pd.DataFrame({"word": ["", ""], "mean": [0.5, 1.0]})).columns.tolist()
    ['mean']
    """
    if frame.empty:
        return frame
    return frame[[name for name in frame.columns if frame[name].dtype.kind not in "OUT" or (frame[name] != "").any()]]


def _first_columns(frame: pd.DataFrame, fits: Callable[[list[str]], bool]) -> list[str]:
    """Return labels, mean and interval, and as many other columns as fit; of labels that do not fit, the first."""
    names = list(frame.columns)
    labels = [name for name in names[: names.index("mean")] if frame[name].dtype.kind in "OUT"]
    while len(labels) > 1 and not fits([*labels, *_SHOWN]):
        labels.pop()
    chosen = [*labels, *_SHOWN]
    for name in (*(name for name in _SHOWN_NEXT if name in names), *names):
        if name not in chosen:
            if not fits([*chosen, name]):
                break
            chosen.append(name)
    return chosen


def frame_text(frame: pd.DataFrame, *, digits: int = 3, index: bool = True, max_rows: int | None = None) -> str:
    """Return a frame as text: numbers with `digits` decimals, effective sample sizes whole, missing numbers blank.

    >>> print(frame_text(pd.DataFrame({"mean": [0.5, None], "ess_bulk": [812.3, 4.0]})))
       mean ess_bulk
    0 0.500      812
    1               4
    """
    formats = _formats(frame, digits)
    return visible(frame.to_string(index=index, formatters=formats, na_rep="", max_rows=max_rows))


def _formats(frame: pd.DataFrame, digits: int = 3) -> dict[Any, Any]:
    """Return how the numbers of each column are written."""
    least = 10.0**-digits

    def p_text(p: float) -> str:
        return f"{p:.{digits}f}" if p >= least else f"below {least:.{digits}f}"

    return {
        name: p_text if name == "p_value" else f"{{:.{0 if name.startswith('ess') else digits}f}}".format
        for name in frame.columns
        if frame[name].dtype.kind == "f"
    }

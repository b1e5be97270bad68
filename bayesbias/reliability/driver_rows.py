"""The rows of a regression on what drives reliability: checked, complete, and as a design."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_items
from bayesbias.errors import ReportError, did_you_mean, name_some

if TYPE_CHECKING:
    import pandas as pd


def checked_columns(data: Any, factors: Any, response: Any, groupings: Any) -> list[str]:
    """Return the names of the factors, all columns being there and each named once."""
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        raise ReportError(f"Give a pandas frame of words, cells and features; this is a {type(data).__name__}.")
    names = check_items("factors", factors, "a list of columns")
    grouped = check_items("groupings", groupings, "a list of columns")
    if not names:
        raise ReportError("Name a factor at least: columns of the frame, such as 'stability'.")
    every = ["word", response, *names, *grouped]
    for name in every:
        if name not in data.columns:
            known = list(map(str, data.columns))
            raise ReportError(f"The frame has no column {name!r}{did_you_mean(str(name), known)}; it has {known}.")
        if every.count(name) > 1:
            raise ReportError(f"{name!r} is named twice: a column is the response, a factor or a grouping.")
    for name in grouped:
        if data[name].nunique() < 2:
            raise ReportError(f"{name!r} has one level, so it has no variance. Leave it out: groupings=[...].")
    return names


def complete_words(
    data: "pd.DataFrame", factors: Sequence[str], groupings: Sequence[str]
) -> "tuple[pd.DataFrame, int, list[str]]":
    """Return the rows of the words that have every cell, word after word, how many those are, and who was left out."""
    cells = [*groupings, *(name for name in factors if data[name].dtype.kind not in "iufb" and _is_cell(data, name))]
    frame = data.assign(word=data["word"].astype(str))
    if frame.duplicated(["word", *cells]).any():
        twice = frame.loc[frame.duplicated(["word", *cells]), "word"].iloc[0]
        raise ReportError(f"{twice!r} stands twice in one cell of {cells}. Give one row a word and cell.")
    most = len(frame[cells].drop_duplicates()) if cells else 1
    sizes = frame.groupby("word", sort=False)["word"].transform("size")
    left_out = list(dict.fromkeys(frame.loc[sizes < most, "word"]))
    complete = frame[sizes == most].sort_values(["word", *cells], kind="stable")
    if complete["word"].nunique() < 10:
        raise ReportError(
            f"{complete['word'].nunique()} words have all {most} cells of {cells}: 10 at least are needed. Take words "
            "that all algorithms, corpora and rules have."
        )
    return complete.reset_index(drop=True), most, left_out


def _is_cell(data: "pd.DataFrame", name: str) -> bool:
    """Whether a column of text differs within words, as the scoring rule does and the part of speech does not."""
    return bool((data.groupby("word", sort=False)[name].nunique() > 1).any())


def numbers(frame: "pd.DataFrame", name: str) -> Floats:
    """Return a column as numbers that are finite and not all the same."""
    try:
        values = frame[name].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ReportError(f"The column {name!r} holds what is no number: {error}.") from error
    if not np.isfinite(values).all():
        bad = frame.loc[~np.isfinite(values), "word"].unique()
        raise ReportError(
            f"{name!r} is missing or infinite for {len(bad)} words, such as {name_some(bad, 5)}. Leave these words out."
        )
    if np.ptp(values) == 0:
        raise ReportError(f"{name!r} is the same in all rows: nothing varies with it. Leave it out.")
    return values


def design(frame: "pd.DataFrame", factors: Sequence[str]) -> tuple[list[tuple[str, str]], Floats]:
    """Return the factor and level of each column, and the columns, with that of the intercept first."""
    columns: list[tuple[str, str]] = [("intercept", "")]
    parts: list[Floats] = [np.ones(len(frame))]
    for name in factors:
        if frame[name].dtype.kind in "iufb":
            values = numbers(frame, name)
            columns.append((name, ""))
            parts.append((values - values.mean()) / values.std())
            continue
        labels = frame[name].astype(str)
        first, *others = dict.fromkeys(labels)
        if not others:
            raise ReportError(f"{name!r} is {first!r} in all rows: nothing varies with it. Leave it out.")
        for level in others:
            columns.append((name, level))
            parts.append(np.where(labels == level, 1.0, 0.0))
    X = np.stack(parts, axis=1)
    if np.linalg.matrix_rank(X) < X.shape[1]:
        raise ReportError(f"Some of the factors {list(factors)} follow from the others. Leave one of them out.")
    return columns, X

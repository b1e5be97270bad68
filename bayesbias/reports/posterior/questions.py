"""Any question of lists: how much nearer one protected group is to one attribute list than another to another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB, check_probability, check_rope
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.estimates import DIAGNOSTICS, direction_of, estimates, independent_draws, is_borderline
from bayesbias.models.contrast_estimate import draws_interval
from bayesbias.models.data import ModelData
from bayesbias.models.fit_source import fitted_rows, fitted_table
from bayesbias.models.fits import check_fit
from bayesbias.reports.posterior.unpooled import without_attribute_effects
from bayesbias.study_faults import QUESTION_SIDES
from bayesbias.tables.schema import ATTRS_KEY

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Side = tuple[str, str]
"""A protected group and an attribute list: the mean distance between their words."""


def contrast(
    fit: "xr.DataTree",
    *sides: Side,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Compare the mean distances of protected groups to attribute lists.

    Parameters
    ----------
    fit
        What `fit` returned.
    *sides
        Two or four pairs (protected group, attribute list), such as ``("science", "male")``. Of two, the first minus
        the second; of four, the difference of differences (first - second) - (third - fourth). Without any, the
        questions of the study (`Study.questions`; ``[questions]`` in its TOML file), in their order.
    hdi_prob
        Probability inside the highest posterior density interval.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).

    Returns
    -------
    pandas.DataFrame
        A row for each question: `question`, `pairs` (rows of the table behind it), `observed` and `unpooled`, `mean`,
        `sd`, `hdi_low`, `hdi_high`, `low_se`, `high_se`, `borderline` and the rest as in `contrasts`, in units of
        cosine distance.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, a list or group is unknown or has no pairs, or an argument is not usable.

    Notes
    -----
    It is about these protected words, with attribute words like these: the means of the words of a group, each with the
    same weight. The models know attribute lists by their connection, so that two lists with the same connection to a
    word have the same mean: a difference of them is 0 by assumption, and an error here.

    Examples
    --------
    >>> found = bb.contrast(fit, ("math", "male"), ("arts", "male"))
    >>> found.loc[0, "question"], int(found.loc[0, "pairs"])
    ('math to male - arts to male', 128)
    """
    import pandas as pd

    check_fit(fit)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    rows, table = fitted_rows(fit), fitted_table(fit)
    asked = {_named(sides): sides} if sides else own_questions(table)
    if not asked:
        raise ReportError(
            "No question is asked, and the study has none of its own. Give two or four pairs (protected group, "
            "attribute list), such as ('science', 'male'), ('arts', 'male'), or write [questions] in the study's TOML "
            "file and build the table again."
        )
    lists, adjusted = np.asarray(table["attribute_group"], dtype=str), without_attribute_effects(rows)
    frame = pd.DataFrame(_answer(fit, name, of, rows, lists, adjusted, hdi_prob, region) for name, of in asked.items())
    frame.attrs = {"hdi_prob": hdi_prob, "rope": None if region is None else list(region)}
    return frame


def own_questions(table: "pd.DataFrame") -> dict[str, tuple[Side, ...]]:
    """Return the questions that the study of a table asks, by name."""
    stored = table.attrs.get(ATTRS_KEY, {}).get("questions", {})
    return {name: tuple((str(group), str(of)) for group, of in sides) for name, sides in stored.items()}


def _named(sides: tuple[Side, ...]) -> str:
    if len(sides) not in QUESTION_SIDES or not all(isinstance(side, tuple | list) and len(side) == 2 for side in sides):
        raise ReportError(
            f"{len(sides)} sides: give two or four pairs (protected group, attribute list), such as "
            "('science', 'male'), ('arts', 'male')."
        )
    names = [f"{group} to {of}" for group, of in sides]
    return " - ".join(names) if len(sides) == 2 else f"({names[0]} - {names[1]}) - ({names[2]} - {names[3]})"


def _answer(
    fit: "xr.DataTree",
    question: str,
    sides: tuple[Side, ...],
    rows: ModelData,
    lists: np.ndarray,
    adjusted: ModelData,
    hdi_prob: float,
    region: tuple[float, float] | None,
) -> dict[str, Any]:
    """Return the row of a question."""
    weights = np.zeros(rows.pair_counts.shape)
    observed = unpooled = 0.0
    used = np.zeros(len(rows.distance), dtype=bool)
    for sign, (group, name) in zip((1, -1, -1, 1), sides, strict=False):
        here = _rows_of(rows, lists, str(name), str(group))
        weights += sign * _cell_weights(rows, here)
        observed += sign * float(rows.distance[here].mean())
        unpooled += sign * float(adjusted.distance[here].mean())
        used |= here
    if not weights.any():
        raise ReportError(
            f"{question}: these lists have the same connection to these words, and the model gives all lists of one "
            "connection the same mean: their difference is 0 by assumption. Ask of lists with different connections."
        )
    word_mean = fit["posterior"]["word_mean"].transpose("chain", "draw", "protected_word", "connection")
    draws = word_mean.isel(protected_word=0, connection=0, drop=True).copy(
        data=np.einsum("cdij,ij->cd", word_mean.to_numpy(), weights)
    )
    interval = draws_interval(draws.to_numpy().reshape(-1), hdi_prob)
    row = {
        str(name): value
        for name, value in estimates(draws, hdi_prob=hdi_prob, independent=independent_draws(fit)).iloc[0].items()
    }
    row |= {"hdi_low": interval.low, "hdi_high": interval.high}
    ends = {"low_se": interval.low_se, "high_se": interval.high_se}
    borderline = is_borderline(interval.low, interval.high, **ends)
    direction = {name: value.item() for name, value in direction_of(draws, region).items()}
    leading = {"question": question, "pairs": int(used.sum()), "observed": observed, "unpooled": unpooled}
    diagnostics = {name: row.pop(name) for name in DIAGNOSTICS if name in row}
    return {**leading, **row, **ends, "borderline": borderline, **direction, **diagnostics}


def _rows_of(rows: ModelData, lists: np.ndarray, name: str, group: str) -> np.ndarray:
    """Return which rows are of an attribute list and a protected group."""
    groups = rows.protected_groups[rows.protected]
    for what, value, known in (("attribute list", name, lists), ("protected group", group, groups)):
        choices = list(dict.fromkeys(known.tolist()))
        if value not in choices:
            raise ReportError(
                f"The fit has no {what} {value!r}{did_you_mean(value, choices)}; it has {', '.join(choices)}."
            )
    here = (lists == name) & (groups == group)
    if not here.any():
        raise ReportError(f"The fit has no pairs of {name!r} and {group!r}. Ask of lists and groups that have pairs.")
    return np.asarray(here)


def _cell_weights(rows: ModelData, here: np.ndarray) -> np.ndarray:
    """Return the weight of each word and connection in the mean over words, shape (words, connections)."""
    counts = np.zeros(rows.pair_counts.shape)
    np.add.at(counts, (rows.protected[here], rows.connection[here]), 1.0)
    by_word = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.maximum(by_word, 1) / (by_word > 0).sum())

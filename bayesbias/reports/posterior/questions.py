"""Any question of lists: how much nearer one attribute list is to one protected group than another to another."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.arguments import HDI_PROB, check_probability, check_rope
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.estimates import direction_of, estimates, is_borderline
from bayesbias.models.contrast_estimate import draws_interval
from bayesbias.models.data import ModelData
from bayesbias.models.fit_source import fitted_rows, fitted_table
from bayesbias.models.fits import check_fit
from bayesbias.reports.posterior.unpooled import without_attribute_effects

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Side = tuple[str, str]
"""An attribute list and a protected group: the mean distance between their words."""


def contrast(
    fit: "xr.DataTree",
    *sides: Side,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Compare the mean distances of attribute lists to protected groups.

    Parameters
    ----------
    fit
        What `fit` returned.
    *sides
        Two or four pairs (attribute list, protected group), such as ``("science", "male")``. Of two, the first minus
        the second; of four, the difference of differences (first - second) - (third - fourth).
    hdi_prob
        Probability inside the highest posterior density interval.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).

    Returns
    -------
    pandas.DataFrame
        One row: `question`, `pairs` (rows of the table behind it), `observed` and `unpooled`, `mean`, `sd`, `hdi_low`,
        `hdi_high`, `low_se`, `high_se`, `borderline` and the rest as in `contrasts`, in units of cosine distance.

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
    >>> found = bb.contrast(fit, ("male", "math"), ("female", "math"))
    >>> found.loc[0, "question"], int(found.loc[0, "pairs"])
    ('male to math - female to math', 128)
    """
    import pandas as pd

    check_fit(fit)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    if len(sides) not in (2, 4) or not all(isinstance(side, tuple | list) and len(side) == 2 for side in sides):
        raise ReportError(
            f"{len(sides)} sides: give two or four pairs (attribute list, protected group), such as "
            "('science', 'male'), ('arts', 'male')."
        )
    rows, lists = fitted_rows(fit), np.asarray(fitted_table(fit)["attribute_group"], dtype=str)
    signs = (1, -1) if len(sides) == 2 else (1, -1, -1, 1)
    adjusted = without_attribute_effects(rows)
    weights = np.zeros(rows.pair_counts.shape)
    observed = unpooled = 0.0
    used = np.zeros(len(rows.distance), dtype=bool)
    for sign, (name, group) in zip(signs, sides, strict=True):
        here = _rows_of(rows, lists, str(name), str(group))
        weights += sign * _cell_weights(rows, here)
        observed += sign * float(rows.distance[here].mean())
        unpooled += sign * float(adjusted.distance[here].mean())
        used |= here
    if not weights.any():
        raise ReportError(
            "These lists have the same connection to these words, and the model gives all lists of one connection the "
            "same mean: their difference is 0 by assumption. Ask of lists with different connections."
        )
    names = [f"{name} to {group}" for name, group in sides]
    question = " - ".join(names) if len(sides) == 2 else f"({names[0]} - {names[1]}) - ({names[2]} - {names[3]})"
    word_mean = fit["posterior"]["word_mean"].transpose("chain", "draw", "protected_word", "connection")
    draws = word_mean.isel(protected_word=0, connection=0, drop=True).copy(
        data=np.einsum("cdij,ij->cd", word_mean.to_numpy(), weights)
    )
    interval = draws_interval(draws.to_numpy().reshape(-1), hdi_prob)
    row = {str(name): value for name, value in estimates(draws, hdi_prob=hdi_prob).iloc[0].items()}
    row |= {"hdi_low": interval.low, "hdi_high": interval.high}
    ends = {"low_se": interval.low_se, "high_se": interval.high_se}
    borderline = is_borderline(interval.low, interval.high, **ends)
    direction = {name: value.item() for name, value in direction_of(draws, region).items()}
    leading = {"question": question, "pairs": int(used.sum()), "observed": observed, "unpooled": unpooled}
    diagnostics = {name: row.pop(name) for name in ("ess_bulk", "ess_tail", "r_hat")}
    frame = pd.DataFrame([{**leading, **row, **ends, "borderline": borderline, **direction, **diagnostics}])
    frame.attrs = {"hdi_prob": hdi_prob, "rope": None if region is None else list(region)}
    return frame


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

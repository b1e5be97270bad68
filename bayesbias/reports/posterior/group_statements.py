"""Statements on the contrasts of protected groups, and on how much of them is nearness of lists to all groups."""

from collections.abc import Hashable, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.number_text import distance_text, interval_text, quoted_name, signed_text
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import has_direction, is_settled, reading
from bayesbias.models.data import ModelData
from bayesbias.models.fits import fitted_model, groups_without_contrast, measure_of_fit
from bayesbias.models.spec import DEFAULT_MODEL

if TYPE_CHECKING:
    import xarray as xr

Row = dict[Hashable, Any]


def group_statements(rows: list[Row], data: ModelData) -> list[Statement]:
    """Return a statement for each row of `contrasts` that compares a group's associated and different words.

    `numbers` are those of the row, the names of its `associated` and `different` lists, and whether the nearness of
    lists `decides` (`nearness_decides`). If it does for one group, or turns the sign of one, it is shown for all; for
    two groups whose lists are each other's, once.
    """
    explain = any(nearness_decides(row) or nearness_turns(row) for row in rows)
    # With two groups whose lists are each other's, both differences without the nearness of lists are their mean.
    nets = [float(row.get("net_mean", np.nan)) for row in rows]
    shared = len(nets) == 2 and isclose(*nets, rel_tol=1e-9, abs_tol=1e-12)
    statements = [_group_statement(row, data, explain=explain and not shared) for row in rows]
    return [*statements, _shared_statement(rows[0], rows[1], data)] if explain and shared else statements


def left_out_statements(fit: "xr.DataTree") -> tuple[Statement, ...]:
    """Return a statement for each protected group of a fit that is in no contrast, with what it lacks."""
    measure = measure_of_fit(fit)
    mean = f"Its mean {measure.short} {measure.preposition} each list"
    how = f"{mean} is part of the fit: ask about it in the study's [questions]."
    if not fitted_model(fit).multivariate:
        how = f"This model is fitted without its words; the model {DEFAULT_MODEL!r} answers questions about it."
    return without_contrast(groups_without_contrast(fit), how)


def without_contrast(lacking: Mapping[str, str], how: str = "") -> tuple[Statement, ...]:
    """Return a statement for each group in no contrast, given what it lacks and how to ask about it.

    >>> print(without_contrast({"people": "no associated list"})[0].text)
    'people': no associated list, so it is in no contrast.
    """
    return tuple(
        Statement(
            "group without contrast",
            f"{quoted_name(group)}: {text}, so it is in no contrast.{f' {how}' if how else ''}",
            {"protected_group": group, "lacking": text},
        )
        for group, text in lacking.items()
    )


def nearness_decides(row: Row) -> bool:
    """Return whether a contrast rests on one list being nearer to every group than another.

    Without that, it has the opposite sign, and one of the two is settled or borderline, or its interval no longer
    excludes 0. Contrasts with control words, whose nearness is not separated (it is nan), do not.
    """
    if not np.isfinite(row.get("net_mean", np.nan)):
        return False
    settled = is_settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
    net_settled = is_settled(row["net_low"], row["net_high"])
    turned = nearness_turns(row) and (settled or net_settled or row["borderline"])
    return bool(turned or (settled and not net_settled))


def nearness_turns(row: Row) -> bool:
    """Return whether a contrast has the opposite sign without the nearness of lists to every group, settled or not."""
    net = row.get("net_mean", np.nan)
    return bool(np.isfinite(net) and abs(row["list_nearness"]) >= ROUNDING and net * row["mean"] < 0)


def nearness_matters(row: Row) -> bool:
    """Return whether the nearness of lists decides a contrast, or hides one that is settled without it."""
    if nearness_decides(row):
        return True
    net = row.get("net_mean", np.nan)
    if not np.isfinite(net) or abs(row["list_nearness"]) < ROUNDING:
        return False
    return is_settled(row["net_low"], row["net_high"]) and not is_settled(row["hdi_low"], row["hdi_high"])


def unsettled_text(row: Mapping[Any, Any], *, direction: bool = False) -> str:
    """Return what keeps a contrast from being settled, for the end of a sentence.

    If it is settled, its direction if that is wanted, else nothing.
    """
    if not has_direction(row):
        return f", {reading(row)}"
    return f", settled: {reading(row)}" if direction else ""


def _group_statement(row: Row, data: ModelData, *, explain: bool) -> Statement:
    lists = {name: lists_of_connection(data, str(row["protected_group"]), name) for name in ("associated", "different")}
    associated, different = (name_some(map(quoted_name, names), 4) for names in lists.values())
    text = (
        f"{quoted_name(str(row['protected_group']))}: {associated} minus {different} is {signed_text(row['mean'])} "
        f"(observed {signed_text(row['observed'])}), "
        f"interval {interval_text(row['hdi_low'], row['hdi_high'])}{unsettled_text(row)}."
    )
    if explain and np.isfinite(row["net_mean"]):
        text += (
            f" {_part_from_lists(row)}: on average over groups, {_nearness(row, data, lists)}. Without that, the "
            f"difference for exactly these words is {_net(row)}."
        )
    numbers = {str(name): value for name, value in row.items() if name != "protected_word"}
    return Statement("group", text, numbers | lists | {"decides": nearness_decides(row)})


def _shared_statement(first: Row, row: Row, data: ModelData) -> Statement:
    """Return what two groups whose lists are each other's share, given their rows."""
    lists = {name: lists_of_connection(data, str(row["protected_group"]), name) for name in ("associated", "different")}
    does = "lowers" if row["list_nearness"] < 0 else "raises"
    opposite = "raises" if does == "lowers" else "lowers"
    may = "" if is_settled(row["nearness_low"], row["nearness_high"]) else "may be chance; if not, it "
    text = (
        f"On average over both groups, {_nearness(row, data, lists)}. That {may}{does} the difference of "
        f"{quoted_name(str(row['protected_group']))} and {opposite} that of "
        f"{quoted_name(str(first['protected_group']))}. Without it, the difference of each group is {_net(row)}."
    )
    return Statement("nearness of lists", text, {name: row[name] for name in ("list_nearness", "net_mean")})


def _nearness(row: Row, data: ModelData, lists: Mapping[str, list[str]]) -> str:
    """Return how much nearer the associated lists are to all words than the different ones."""
    associated, different = (name_some(map(quoted_name, names), 4) for names in lists.values())
    measure, verb = data.measure, "is" if len(lists["associated"]) == 1 else "are"
    away = "from" if measure.to == "to" else measure.to
    way = f"{measure.nearer} {measure.to}" if row["list_nearness"] < 0 else f"{measure.farther} {away}"
    size = f"{distance_text(abs(row['list_nearness']))} ({_size_interval(row)})"
    return f"{associated} {verb} {way} the words than {different}, by {size}"


def _net(row: Row) -> str:
    return f"{signed_text(row['net_mean'])}, interval {interval_text(row['net_low'], row['net_high'])}"


def _size_interval(row: Row) -> str:
    """Return the interval of the size of a nearness of lists, whose sign the sentence says."""
    ends = row["nearness_low"], row["nearness_high"]
    return interval_text(*(ends if row["list_nearness"] > 0 else (-ends[1], -ends[0])))


def _part_from_lists(row: Row) -> str:
    """Return whether the sign of an estimate reflects the lists alone, or a part of it does."""
    left = round(row["net_mean"], 3) != 0 and row["net_mean"] * row["mean"] > 0
    reflects = "reflects" if is_settled(row["nearness_low"], row["nearness_high"]) else "may reflect"
    return (
        f"Part of this estimate {reflects} the lists alone"
        if left
        else f"The sign of this estimate {reflects} the lists"
    )


def lists_of_connection(data: ModelData, group: str, connection: str) -> list[str]:
    """Return the names of the lists that have a connection to the words of a group."""
    if data.attribute_groups is None:
        return [connection]
    of_group = data.protected_groups[data.protected] == group
    rows = of_group & (data.connection == data.connections.index(connection))
    return list(dict.fromkeys(data.attribute_groups[np.unique(data.attribute[rows])].tolist()))

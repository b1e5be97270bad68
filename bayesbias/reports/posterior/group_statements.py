"""What the contrasts of protected groups show, and what of it is the nearness of lists to all groups."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from bayesbias.base.statements import Statement, distance_text, interval_text, signed_text
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import settled as is_settled
from bayesbias.models.data import ModelData

Row = dict[Hashable, Any]


def group_statements(rows: list[Row], data: ModelData) -> list[Statement]:
    """Return a statement for each protected group, from its rows of `contrasts` for associated and different words.

    `numbers` are those of the row, the names of its `associated` and `different` lists, and whether the `nearness` of
    lists `decides`: without it the contrast has another sign, or its interval no longer leaves out 0.
    """
    return [_group_statement(row, data) for row in rows]


def _group_statement(row: Row, data: ModelData) -> Statement:
    group = str(row["protected_group"])
    lists = {name: _lists(data, group, name) for name in ("associated", "different")}
    associated, different = (name_some(names, 4) for names in lists.values())
    settled = is_settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
    text = (
        f"{group}: {associated} minus {different} {signed_text(row['mean'])} (plain {signed_text(row['observed'])}), "
        f"interval {interval_text(row['hdi_low'], row['hdi_high'])}{'' if settled else ', not settled'}."
    )
    decides = False
    if "net_mean" in row:
        net_settled = is_settled(row["net_low"], row["net_high"])
        turned = row["net_mean"] * row["mean"] < 0 and (settled or net_settled)
        decides = bool(turned or (settled and not net_settled))
        if decides:
            way = "nearer to" if row["list_nearness"] < 0 else "farther from"
            text += (
                f" That is how near the lists are to every group: {associated} is {way} all groups than {different} by "
                f"{distance_text(abs(row['list_nearness']))}. Without that, the difference of {group} is "
                f"{signed_text(row['net_mean'])}, interval {interval_text(row['net_low'], row['net_high'])}."
            )
    numbers = {str(name): value for name, value in row.items() if name != "protected_word"}
    return Statement("group", text, numbers | lists | {"decides": decides})


def _lists(data: ModelData, group: str, connection: str) -> list[str]:
    """Return the names of the lists that have a connection to the words of a group."""
    if data.attribute_groups is None:
        return [connection]
    here = (data.protected_groups[data.protected] == group) & (data.connection == data.connections.index(connection))
    return list(dict.fromkeys(data.attribute_groups[np.unique(data.attribute[here])].tolist()))

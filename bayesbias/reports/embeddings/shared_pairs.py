"""Word pairs that several distance tables share, and the differences of their distances."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.number_text import counted
from bayesbias.errors import LostWordsWarning, ReportError, TableError, name_some, warn_user
from bayesbias.tables.codes import WORD_COLUMNS
from bayesbias.tables.conversion import as_frame
from bayesbias.tables.schema import ATTRS_KEY, drop_duplicates, table_facts, table_hash, validate_table

if TYPE_CHECKING:
    import pandas as pd

_PAIR = ["protected_word", "attribute_word"]
_TIES = 0.1  # share of ties of a word that was not equalized


def checked_tables(tables: "Mapping[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return valid tables without repetitions, or raise an error that names the faulty one."""
    import pandas as pd

    if not isinstance(tables, Mapping) or len(tables) < 2:
        size = f"a mapping of {len(tables)}" if isinstance(tables, Mapping) else f"a {type(tables).__name__}"
        raise ReportError(
            f"tables is {size}. Give at least two tables by name, such as {{'original': table, 'debiased': other}}."
        )
    checked = {}
    for name, table in tables.items():
        if not isinstance(name, str) or not name.strip():
            raise ReportError(f"The key {name!r} of tables is not the name of an embedding. Give a non-blank string.")
        table = as_frame(table)
        if not isinstance(table, pd.DataFrame):
            raise TableError(f"The table {name!r} is not a pandas DataFrame but {type(table).__name__}.")
        try:
            valid = validate_table(table)
        except TableError as error:
            raise TableError(f"Table {name!r}: {error}") from error
        checked[name] = drop_duplicates(valid, "drop")[0].reset_index(drop=True)
    return checked


def common_pairs(tables: "dict[str, pd.DataFrame]") -> "tuple[dict[str, pd.DataFrame], dict[str, int]]":
    """Return the tables with the pairs that all have, in the baseline's order, and how many other pairs each has."""
    import pandas as pd

    keys = {name: pd.MultiIndex.from_frame(table[_PAIR].astype(str)) for name, table in tables.items()}
    baseline, *others = keys
    shared = keys[baseline]
    for name in others:
        shared = shared[shared.isin(keys[name])]
    if len(shared) == 0:
        first = "; ".join(f"{name!r} begins with {' and '.join(map(repr, key[0]))}" for name, key in keys.items())
        raise TableError(
            f"The tables share no pair of words: {first}. Build them from the same study, and check upper and lower "
            "case."
        )
    common, left_out = {}, {}
    for name, table in tables.items():
        rows = table.iloc[keys[name].get_indexer(shared)].reset_index(drop=True)
        left_out[name] = len(table) - len(shared)
        facts = table_facts(table)
        # Repeated pairs were dropped, whatever the policy of the table.
        rows.attrs = {ATTRS_KEY: {**facts, "duplicates": {"policy": "drop"}, "hash": table_hash(rows)}}
        common[name] = rows
    for name in others:
        differ = (common[name]["connection"].astype(str) != common[baseline]["connection"].astype(str)).to_numpy()
        if differ.any():
            row = int(np.argmax(differ))
            raise TableError(
                f"{counted(int(differ.sum()), 'pair has', 'pairs have')} different connections in {baseline!r} and "
                f"{name!r}, the first is {' and '.join(map(repr, shared[row]))} ({common[baseline]['connection'][row]} "
                f"and {common[name]['connection'][row]}). Build both tables from the same study."
            )
    if not _associated(common[baseline]).any():
        _check_no_associated_pairs(tables, len(shared))
    if any(left_out.values()):
        _warn_of_left_out(tables, keys, shared, left_out)
    return common, left_out


def _associated(table: "pd.DataFrame") -> "pd.Series[bool]":
    return table["connection"].astype(str) == "associated"


def _check_no_associated_pairs(tables: "dict[str, pd.DataFrame]", shared: int) -> None:
    """Raise an error, with the words that differ, if tables that share no associated pairs have some."""
    rows = {name: table[_associated(table)] for name, table in tables.items()}
    if all(part.empty for part in rows.values()):
        return
    descriptions = []
    for name, part in rows.items():
        if part.empty:
            descriptions.append(f"{name!r} has none")
            continue
        others = [other for key, other in rows.items() if key != name]
        sides = []
        for column, list_column in zip(_PAIR, ("protected_group", "attribute_group"), strict=True):
            only_here = part[~np.logical_and.reduce([part[column].isin(other[column]) for other in others])]
            if len(only_here):
                words = name_some(map(repr, only_here[column].astype(str).unique()), 5)
                lists = name_some(map(repr, only_here[list_column].astype(str).unique()), 5)
                sides.append(f"{column.replace('_', ' ')}s {words} of {lists}")
        reason = f"not all others have its {' and '.join(sides)}" if sides else _example(part)
        descriptions.append(f"{name!r} has {len(part):,} ({reason})")
    raise TableError(
        f"The tables share {counted(shared, 'pair')}, but none with an associated attribute word, so they show "
        f"nothing about stereotypes. Of associated pairs, {'; '.join(descriptions)}. Build the tables from the same "
        "study, and check upper and lower case. To compare control words alone, keep only those rows."
    )


def _warn_of_left_out(
    tables: "dict[str, pd.DataFrame]", keys: "dict[str, Any]", shared: "Any", left_out: dict[str, int]
) -> None:
    parts = []
    for name, count in left_out.items():
        if count:
            left_out_rows = tables[name][~keys[name].isin(shared)]
            shared_words = {column: set(shared.get_level_values(column)) for column in _PAIR}
            words = [
                word
                for column in _PAIR
                for word in left_out_rows[column].astype(str).unique()
                if word not in shared_words[column]
            ]
            which = f"among them all with {name_some(map(repr, words), 5)}" if words else _example(left_out_rows)
            parts.append(f"{count:,} of {name!r} ({which})")
    warn_user(
        f"Not all tables have all pairs. The comparison is about the {len(shared):,} that all have; left out are "
        f"{'; '.join(parts)}. Report them with the result.",
        LostWordsWarning,
    )


def _example(rows: "pd.DataFrame") -> str:
    return f"for example {rows[_PAIR[0]].iloc[0]!r} with {rows[_PAIR[1]].iloc[0]!r}"


def pair_differences(baseline: "pd.DataFrame", other: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """Return the baseline's rows with columns `baseline`, `other`, `difference` and `differs` (of the connection)."""
    rows = baseline.drop(columns=["cosine_distance", "cosine_similarity"])
    rows["baseline"], rows["other"] = baseline["cosine_distance"], other["cosine_distance"]
    rows["difference"] = rows["other"] - rows["baseline"]
    largest = rows["difference"].abs().groupby(rows["connection"], observed=True).transform("max")
    rows["differs"] = largest > ROUNDING
    for connection, differences in rows.loc[rows["differs"], "difference"].groupby(rows["connection"], observed=True):
        if len(differences) > 1 and np.ptp(differences) <= ROUNDING:
            raise ReportError(
                f"All {len(differences):,} distances of the connection {connection!r} differ by "
                f"{differences.iloc[0]:g} in {name!r}: without a spread of differences, no model can be fitted. Check "
                "how the table was made."
            )
    return rows


def difference_table(rows: "pd.DataFrame", *, source: str, simulated: bool) -> "pd.DataFrame":
    """Return a table of the differences of the connections that differ; it has no rows if none does.

    Parameters
    ----------
    rows
        Rows returned by `pair_differences`.
    source
        Origin of the differences.
    simulated
        Whether any of the distances were simulated, so that their differences have no bounds.
    """
    table = rows.loc[rows["differs"], [*WORD_COLUMNS, "connection"]].reset_index(drop=True)
    table["cosine_distance"] = rows.loc[rows["differs"], "difference"].to_numpy()
    facts = {"quantity": "change of cosine distance", "source": source}
    table.attrs = {ATTRS_KEY: {**facts, "simulated": True} if simulated else facts}
    return table


def equalized_words(rows: "pd.DataFrame", role: str = "protected_word") -> tuple[str, ...]:
    """Return the words of a role that are exactly as near to most of the others as another word, only in `other`.

    `role` is ``"protected_word"`` or ``"attribute_word"``; pairs are those of associated and different words. Hard
    debiasing equalizes sets such as (he, she).
    """
    stereotypes = rows[rows["connection"].isin(["associated", "different"])]
    baseline, other = (_tied_share(stereotypes, column, role) for column in ("baseline", "other"))
    words = stereotypes[role].astype(str).unique()
    # Rounded distances are tied in both.
    return tuple(word for word in words if other[word] > 0.5 and baseline[word] < _TIES)


def _tied_share(rows: "pd.DataFrame", column: str, role: str) -> dict[str, float]:
    """Return for each word the share of the words of the other role to which another word is exactly as near."""
    (opposite,) = {*_PAIR} - {role}
    ordered = rows.sort_values([opposite, column])
    near = (ordered[column].diff().abs() <= ROUNDING) & (ordered[opposite] == ordered[opposite].shift())
    tied = near | near.shift(-1, fill_value=False)
    return {str(word): float(share) for word, share in tied.groupby(ordered[role], sort=False).mean().items()}

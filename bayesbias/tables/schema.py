"""The schema of a distance table: one row for each pair of a protected and an attribute word.

Columns: ``protected_word, protected_group, attribute_word, attribute_group, connection, cosine_distance,
cosine_similarity``. `connection` is an ordered categorical. ``table.attrs["bayesbias"]`` holds where the
table comes from and which words were lost.
"""

import hashlib
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesbias.errors import DuplicatesWarning, LostWordsWarning, TableError, did_you_mean, name_some, warn_user
from bayesbias.studies import CONNECTIONS

WORD_COLUMNS = ("protected_word", "protected_group", "attribute_word", "attribute_group")
COLUMNS = (*WORD_COLUMNS, "connection", "cosine_distance", "cosine_similarity")
CONNECTION_DTYPE = pd.CategoricalDtype(list(CONNECTIONS), ordered=True)
ATTRS_KEY = "bayesbias"
Duplicates = Literal["drop", "keep"]

# Rounding may carry a distance this far outside 0 to 2, or away from 1 - similarity.
_ROUNDING = 1e-6


def provenance(table: pd.DataFrame, *, current_hash: str) -> dict[str, Any]:
    """Return where a table comes from, as far as it knows; `edited` if its rows are no longer those it was made of.

    Parameters
    ----------
    table
        A distance table.
    current_hash
        Hash of its rows as they are now.
    """
    facts = dict(table.attrs.get(ATTRS_KEY, {}))
    if facts.get("hash", current_hash) != current_hash:
        facts["edited"] = True
    return facts


def table_hash(table: pd.DataFrame) -> str:
    """Return a short hash of a table's pairs and distances; it depends on neither index nor provenance."""
    digest = hashlib.sha256()
    for column in COLUMNS:
        values = table[column]
        if column.startswith("cosine"):
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        else:
            digest.update("\x1f".join(values.astype(str)).encode())
    return digest.hexdigest()[:16]


def validate_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` in the schema's dtypes, or raise one `TableError` that lists all its faults.

    Parameters
    ----------
    table
        A data frame with the columns of the schema; `cosine_similarity`, `protected_group` and
        `attribute_group` may be absent and are then derived. More columns are kept.

    Returns
    -------
    pandas.DataFrame
        A copy with the schema's columns first. Exact duplicates are still in it.

    Raises
    ------
    TableError
        If a column is missing, a value is missing or not a number, a distance lies outside 0 to 2, a
        connection is unknown, there are no rows, or the same pair has two different distances.

    Examples
    --------
    >>> validate_table(pd.DataFrame({"protected_word": ["he"], "cosine_distance": [3.0]}))
    Traceback (most recent call last):
        ...
    bayesbias.errors.TableError: The distance table has 2 faults:
    - no column 'attribute_word'; the columns are protected_word, cosine_distance
    - no column 'connection'; the columns are protected_word, cosine_distance
    """
    table = table.copy()
    derived = "cosine_similarity" not in table
    if "cosine_distance" not in table and "cosine_similarity" in table:
        table["cosine_distance"] = 1.0 - pd.to_numeric(table["cosine_similarity"], errors="coerce")
    _raise_faults(_repeated_columns(table) + _missing_columns(table))
    if len(table) == 0:
        raise TableError("The distance table has no rows. Build it again, or give another file.")

    faults = []
    table["cosine_distance"], bad = _numbers(table["cosine_distance"])
    faults += bad
    if derived:
        table["cosine_similarity"] = 1.0 - table["cosine_distance"]
    else:
        table["cosine_similarity"], bad = _numbers(table["cosine_similarity"])
        faults += bad
    faults += _bad_words(table) + _bad_connections(table)
    _raise_faults(faults)

    table["connection"] = pd.Categorical(table["connection"].astype(str), dtype=CONNECTION_DTYPE)
    if "attribute_group" not in table:
        table["attribute_group"] = table["connection"].astype(str)
    if "protected_group" not in table:
        table["protected_group"] = _groups_by_association(table)
    _raise_faults(_bad_distances(table) + _contradictions(table))
    others = [column for column in table.columns if column not in COLUMNS]
    return table[[*COLUMNS, *others]]


def drop_duplicates(table: pd.DataFrame, policy: Duplicates) -> tuple[pd.DataFrame, int]:
    """Apply the duplicates policy to exact repetitions of a pair; return the table and how many were dropped."""
    check_duplicates_policy(policy)
    repeated = table.duplicated(["protected_word", "attribute_word"])
    return apply_duplicates_policy(table, repeated, policy, "exact repetitions of a pair")


def lost_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return the words that a table lost, and why.

    Parameters
    ----------
    table
        A distance table.

    Returns
    -------
    pandas.DataFrame
        Columns `word`, `role` (``"protected"`` or ``"attribute"``), `group` and `reason`; no rows if no word
        was lost or if the table carries no provenance.

    Examples
    --------
    >>> table = bb.read_table(bb.bundled("data", "tables", "weat1_google_news.csv.gz"))
    >>> bb.lost_words(table)["group"].value_counts().to_dict()
    {'neutral': 143, 'human': 7}
    """
    records = table.attrs.get(ATTRS_KEY, {}).get("lost_words", [])
    return pd.DataFrame(records, columns=["word", "role", "group", "reason"])


def report_lost_words(lost: list[dict[str, str]], source: str, *, sizes: dict[str, int], hint: str = "") -> None:
    """Warn of lost words, naming some of each group; `sizes` are the groups' own."""
    if not lost:
        return
    frame = pd.DataFrame(lost)
    groups = "; ".join(
        f"{len(words)} of the {sizes[str(group)]} of {group!r} ({name_some(words, 5)})"
        for group, words in frame.groupby("group", sort=False)["word"]
    )
    warn_user(
        f"{source} lacks {len(lost)} words: {groups}. The estimates are about the words that are left; the "
        f"table keeps the whole list (lost_words).{hint}",
        LostWordsWarning,
    )


def check_duplicates_policy(policy: str) -> None:
    """Raise a `TableError` if `policy` is not one."""
    if policy not in ("drop", "keep"):
        raise TableError(f"duplicates={policy!r} is not a policy: use 'drop' or 'keep'.")


def apply_duplicates_policy(
    table: pd.DataFrame, repeated: pd.Series, policy: Duplicates, what: str
) -> tuple[pd.DataFrame, int]:
    """Drop or keep the `repeated` rows, with a warning; return the table and how many were dropped."""
    count = int(repeated.sum())
    if count == 0:
        return table, 0
    share = f"{count:,} of {len(table):,} rows ({count / len(table):.0%})"
    example = table[repeated].iloc[0]
    pair = f"for example {example['protected_word']!r} with {example['attribute_word']!r}"
    if policy == "keep":
        warn_user(
            f"Kept {share} that are duplicates, {what}, {pair}. They count the same evidence twice, so every "
            "interval is too narrow; use duplicates='drop' unless you reproduce a published result.",
            DuplicatesWarning,
        )
        return table, 0
    warn_user(
        f"Dropped {share} that are duplicates, {what}, {pair}. Use duplicates='keep' to reproduce a result "
        "that counted them.",
        DuplicatesWarning,
    )
    attrs = table.attrs
    kept = table[~repeated].reset_index(drop=True)
    kept.attrs = attrs
    return kept, count


# --- validating -------------------------------------------------------------------------------------------


def _raise_faults(faults: list[str]) -> None:
    if faults:
        plural = "fault" if len(faults) == 1 else "faults"
        raise TableError(f"The distance table has {len(faults)} {plural}:\n- " + "\n- ".join(faults))


def _repeated_columns(table: pd.DataFrame) -> list[str]:
    repeated = table.columns[table.columns.duplicated()].unique()
    return [f"the column {name!r} stands more than once" for name in repeated]


def _missing_columns(table: pd.DataFrame) -> list[str]:
    needed = ("protected_word", "attribute_word", "connection", "cosine_distance")
    columns = [str(column) for column in table.columns]
    return [
        f"no column {name!r}{did_you_mean(name, columns)}; the columns are {name_some(columns)}"
        for name in needed
        if name not in table
    ]


def _numbers(column: pd.Series) -> tuple[pd.Series, list[str]]:
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    bad = ~np.isfinite(numbers)
    if not bad.any():
        return numbers, []
    first = int(np.flatnonzero(bad)[0])
    return numbers, [
        f"{int(bad.sum()):,} values of {column.name!r} are missing or not finite numbers, the first in row "
        f"{first + 1} ({str(column.iloc[first])!r}); compute them again, and if it is the last row see whether the "
        "file is cut short"
    ]


def _bad_words(table: pd.DataFrame) -> list[str]:
    faults = []
    for name in WORD_COLUMNS:
        if name not in table:
            continue
        blank = table[name].isna() | (table[name].astype(str).str.strip() == "")
        if blank.any():
            first = int(np.flatnonzero(blank)[0]) + 1
            faults.append(f"{int(blank.sum()):,} values of {name!r} are blank, the first in row {first}")
        table[name] = table[name].astype(str)
    return faults


def _bad_connections(table: pd.DataFrame) -> list[str]:
    values = table["connection"].astype(str)
    return [
        f"{int((values == value).sum()):,} rows have the connection {value!r}{did_you_mean(value, CONNECTIONS)}; "
        f"known are {', '.join(CONNECTIONS)}"
        for value in values[~values.isin(CONNECTIONS)].unique()
    ]


def _bad_distances(table: pd.DataFrame) -> list[str]:
    distance = table["cosine_distance"]
    outside = (distance < -_ROUNDING) | (distance > 2 + _ROUNDING)
    faults = []
    if outside.any():
        row = table[outside].iloc[0]
        faults.append(
            f"{int(outside.sum()):,} distances lie outside 0 to 2, the first is {row['cosine_distance']:.6g} for "
            f"{row['protected_word']!r} with {row['attribute_word']!r}; a cosine distance cannot"
        )
    unequal = (1.0 - distance - table["cosine_similarity"]).abs() > 1e-5
    if unequal.any() and not outside.any():
        row = table[unequal].iloc[0]
        faults.append(
            f"in {int(unequal.sum()):,} rows cosine_similarity is not 1 - cosine_distance, the first is "
            f"{row['protected_word']!r} with {row['attribute_word']!r}"
        )
    return faults


def _contradictions(table: pd.DataFrame) -> list[str]:
    pair = ["protected_word", "attribute_word"]
    distinct = table.drop_duplicates([*pair, "connection", "cosine_distance"])
    twice = distinct[distinct.duplicated(pair)]
    faults = []
    if len(twice):
        row = twice.iloc[0]
        faults.append(
            f"{len(twice):,} pairs stand more than once with another distance or connection, for example "
            f"{row['protected_word']!r} with {row['attribute_word']!r}; decide which row is right"
        )
    groups = table[["protected_word", "protected_group"]].drop_duplicates()
    several = groups[groups.duplicated("protected_word")]
    if len(several):
        faults.append(
            f"the protected words {name_some(several['protected_word'].unique())} stand in several protected groups"
        )
    return faults


def _groups_by_association(table: pd.DataFrame) -> pd.Series:
    """Name a protected word's group after the attribute groups that it is associated with."""
    associated = table[table["connection"] == "associated"]
    groups = associated.groupby("protected_word")["attribute_group"].unique()
    names = {str(word): "+".join(sorted(found)) for word, found in groups.items()}
    return table["protected_word"].map(lambda word: names.get(word, "unassociated"))

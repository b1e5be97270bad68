"""The schema of a distance table, one row for each pair of a protected and an attribute word, and its provenance.

Columns: ``protected_word, protected_group, attribute_word, attribute_group, connection, cosine_distance,
cosine_similarity``. `connection` is an ordered categorical. ``table.attrs["bayesbias"]`` holds the origin of the table,
its lost words, and its measure (`Measure`), if this is not the cosine distance: then one column of the measure stands
in place of the last two. Of vectors that are means over contexts, `cosine_distance` is corrected for their number, and
two more columns follow: `cosine_sd`, its standard error, and `plain_distance`, that of the means.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import pandas as pd

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.checks import check_choice, check_type, is_count, is_number, is_text, normalized
from bayesbias.base.lost_words import WordList, judge_lost_words, list_labels
from bayesbias.base.machine import require
from bayesbias.base.number_text import counted, digits_text, quoted_name, shown_name
from bayesbias.errors import DuplicatesWarning, TableError, did_you_mean, name_some, raise_faults, warn_user
from bayesbias.studies.faults import CONTROLS, SECTIONS, question_faults, shape_faults
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.codes import (
    PAIR_COLUMNS,
    WORD_COLUMNS,
    CodedTable,
    WordCodes,
    blocks,
    code_type,
    code_words,
    no_words,
    relabel,
    to_numbers,
)
from bayesbias.tables.measures import COSINE_DISTANCE, Measure, measure_faults, measure_of, other_measure
from bayesbias.tables.measures import KEY as MEASURE
from bayesbias.tables.word_worths import KEY as DEPENDENT_WORDS
from bayesbias.tables.word_worths import dependence_faults

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_LOST = ("word", "role", "list", "reason")
_COUNTS = ("dropped", "same_vectors")
ATTRS_KEY = "bayesbias"
PLAIN = "plain_distance"
"""Column of the distances of mean vectors, beside corrected ones: these are estimates, which can lie outside 0 to 2."""
_CORRECTED = (-10.0, 12.0)  # a word whose contexts have less than a tenth of a squared length in common is lost
RANK = "rank"
"""Dimensions that changed vectors still use, and all, in a table's provenance."""
_ROLES = ("protected", "attribute")


type FrameLike = "pd.DataFrame | IntoDataFrame"
"""A frame of pandas, polars, Arrow or another library that narwhals supports."""


@overload
def as_frame(table: FrameLike) -> pd.DataFrame: ...
@overload
def as_frame(table: Any) -> Any: ...
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
    except ModuleNotFoundError:  # polars needs pyarrow for it
        require("pyarrow", "parquet", f"A {type(table).__name__} as a distance table", error=TableError)
        raise
    except TypeError as error:
        raise TableError(
            f"The distance table is a {type(table).__name__}, which is not supported or not computed yet. Give a frame "
            "of pandas, polars or Arrow; call collect() on a lazy one."
        ) from error


class Provenance(dict[str, Any]):
    """Provenance of a table, whose lists are shared by copies, because pandas copies attrs at every step."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Provenance":
        return Provenance(self)


def provenance_faults(facts: object) -> Iterator[str]:
    """Yield the faults of a table's provenance, which may have any types; unknown keys are not checked.

    >>> list(provenance_faults({"embedding": 5, "study": "weat7"}))
    ['embedding must be a section with texts, not 5']
    """
    if not isinstance(facts, Mapping):
        yield f"it must be a section, not {_short(facts)}"
        return
    for key in ("study", "description", "study_source", "hash", "source"):
        if key in facts and not is_text(facts[key]):
            yield f"{key} must be a text, not {_short(facts[key])}"
    for key in ("simulated", "edited"):
        if key in facts and not isinstance(facts[key], bool):
            yield f"{key} must be true or false, not {_short(facts[key])}"
    embedding = facts.get("embedding", {})
    if not (isinstance(embedding, Mapping) and all(is_text(value) for value in embedding.values())):
        yield f"embedding must be a section with texts, not {_short(embedding)}"
    lost = facts.get("lost_words", [])
    entries = lost if isinstance(lost, list) else [lost]
    if bad := [entry for entry in entries if not _is_lost(entry)]:
        yield f"lost_words must be a list of sections with {', '.join(_LOST)}, and has {_short(bad[0])}"
    share = facts.get("max_lost", 0)
    if not is_number(share) or not 0 <= share <= 1:
        yield f"max_lost must be a share from 0 to 1, not {_short(share)}"
    left_out = facts.get("left_out_controls", [])
    if not (isinstance(left_out, list) and all(map(is_text, left_out))):
        yield f"left_out_controls must be a list of words, not {_short(left_out)}"
    duplicates = facts.get("duplicates", {})
    if not isinstance(duplicates, Mapping) or not all(is_count(duplicates.get(name, 0)) for name in _COUNTS):
        yield f"duplicates must be a section with counts, not {_short(duplicates)}"
    contexts, errors = facts.get("contexts", {}), facts.get("context_errors", [])
    counts = ("median", "fewest")
    if not isinstance(contexts, Mapping) or not all(is_count(contexts.get(name, 0)) for name in counts):
        yield f"contexts must be a section with the median and the fewest number, not {_short(contexts)}"
    if not isinstance(errors, list) or not all(map(_is_error, errors)):
        yield f"context_errors must be a list of sections with contrast, level, name and sd, not {_short(errors)}"
    templates, of_templates = facts.get("templates", []), facts.get("template_contrasts", [])
    if not (isinstance(templates, list) and all(map(is_text, templates))):
        yield f"templates must be a list of texts, not {_short(templates)}"
    elif not (isinstance(of_templates, list) and all(_has_values(entry, len(templates)) for entry in of_templates)):
        yield f"template_contrasts must be sections with contrast and values of templates, not {_short(of_templates)}"
    rank = facts.get(RANK, [0, 0])
    if not (isinstance(rank, list) and len(rank) == 2 and all(map(is_count, rank))):
        yield f"{RANK} must be a list of two counts, not {_short(rank)}"
    if MEASURE in facts:
        yield from measure_faults(facts[MEASURE])
    if DEPENDENT_WORDS in facts:
        yield from dependence_faults(facts[DEPENDENT_WORDS])
    try:
        json.dumps(facts, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        yield "it holds what cannot be written, such as a set, or text with an unpaired surrogate"
    yield from question_faults(facts.get("questions", {}))
    factors = facts.get("factors", {})
    if not isinstance(factors, Mapping) or not set(factors) <= set(SECTIONS):
        yield f"factors must be a section with some of {', '.join(SECTIONS)}, not {_short(factors)}"
    else:
        yield from shape_faults(factors)


def _is_lost(entry: Any) -> bool:
    return isinstance(entry, Mapping) and all(is_text(entry.get(name)) for name in _LOST)


def _is_error(entry: Any) -> bool:
    names = ("contrast", "level", "name")
    if not isinstance(entry, Mapping) or not all(is_text(entry.get(name)) for name in names):
        return False
    return is_number(entry.get("sd")) and entry["sd"] >= 0


def _has_values(entry: Any, count: int) -> bool:
    values = entry.get("values") if isinstance(entry, Mapping) and is_text(entry.get("contrast")) else None
    return isinstance(values, list) and len(values) == count and all(map(is_number, values))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


CONNECTION_DTYPE = pd.CategoricalDtype(list(CONNECTIONS), ordered=True)
Duplicates = Literal["drop", "keep"]


def provenance(table: pd.DataFrame, *, current_hash: str) -> dict[str, Any]:
    """Return the provenance of a table, with `edited` if its hash is not `current_hash`, that of its rows now.

    Lost words of a list without rows are left out of an edited table: the list is none of its own.
    """
    facts = table_facts(table)
    if facts.get("hash", current_hash) != current_hash:
        facts["edited"] = True
        lists = {role: set(table.get(f"{role}_group", ())) for role in _ROLES}
        if "lost_words" in facts and all(lists.values()):
            facts["lost_words"] = [entry for entry in facts["lost_words"] if entry["list"] in lists[entry["role"]]]
    return facts


def table_hash(table: pd.DataFrame) -> str:
    """Return a short hash of a table's pairs and distances, independent of index, provenance and categories."""
    words = {name: code_words(table[name]) for name in (*WORD_COLUMNS, "connection")}
    measure = measure_of(table_facts(table))
    distance, *similarity = (table[name].to_numpy(dtype=np.float64) for name in number_columns(measure))
    return CodedTable(words, distance, similarity[0] if similarity else None, measure).hash()


def check_cosine_table(table: pd.DataFrame, what: str) -> None:
    """Raise a `TableError` if a table holds no cosine distances, of which the text or figure `what` speaks."""
    if reason := other_measure(table_facts(table), what):
        raise TableError(f"{reason} Fit the table: contrasts and summaries of a fit are in its unit.")


def with_provenance(table: pd.DataFrame, facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return a new table with its provenance: facts, and the hash of its rows."""
    table.attrs[ATTRS_KEY] = Provenance(facts)  # the hash depends on the measure
    table.attrs[ATTRS_KEY] = Provenance({**facts, "hash": table_hash(table)})
    return table


def number_columns(measure: Measure) -> tuple[str, ...]:
    """Return the columns of a table that hold the numbers of a measure.

    >>> number_columns(COSINE_DISTANCE)
    ('cosine_distance', 'cosine_similarity')
    """
    return (measure.column, "cosine_similarity") if measure.column == COSINE_DISTANCE.column else (measure.column,)


def validate_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of `table` in the schema's dtypes and order, or raise one `TableError` that lists all its faults.

    `cosine_similarity`, `protected_group` and `attribute_group` may be absent and are then derived; more columns are
    kept, after those of the schema. Word columns that are categorical stay so; exact duplicates are still in the copy.
    Faults: a column is missing, a value is missing or not a number, a number lies outside the range of its measure
    (a distance outside 0 to 2, unless it was simulated or corrected), a connection is unknown, there are no rows, or
    the same pair has two different numbers.

    >>> validate_table(pd.DataFrame({"protected_word": ["he"], "cosine_distance": [3.0]}))
    Traceback (most recent call last):
        ...
    bayesbias.errors.TableError: The distance table has 2 faults:
    - no column 'attribute_word'; the columns are protected_word, cosine_distance
    - no column 'connection'; the columns are protected_word, cosine_distance
    """
    coded = code_table(table)
    validated = table.copy(deep=False)
    validated.index = table.index.set_names([None] * table.index.nlevels)  # the name of a column would be taken for it
    for name in WORD_COLUMNS:
        validated[name] = _word_column(table, name, coded.words[name])
    if table["connection"].dtype != CONNECTION_DTYPE:
        validated["connection"] = pd.Categorical.from_codes(coded.words["connection"].codes, dtype=CONNECTION_DTYPE)
    columns = number_columns(coded.measure)
    for name, numbers in zip(columns, (coded.distance, coded.similarity), strict=False):
        if name not in table or table[name].dtype != np.float64:
            validated[name] = 1.0 - coded.distance if numbers is None else numbers
    order = [*PAIR_COLUMNS, *columns]
    order += [column for column in table.columns if column not in order]
    return validated if list(validated.columns) == order else validated[order]


def code_table(table: pd.DataFrame) -> CodedTable:
    """Return a table as codes, or raise one `TableError` that lists all its faults (see `validate_table`)."""
    check_type("table", table, pd.DataFrame, "a distance table, a pandas DataFrame")
    facts = table_facts(table)
    measure = measure_of(facts)
    if measure == COSINE_DISTANCE and "cosine_distance" not in table and "cosine_similarity" in table:
        table = table.assign(cosine_distance=1.0 - to_numbers(table["cosine_similarity"]))
    raise_faults(TableError, "The distance table", _repeated_columns(table) or _missing_columns(table, measure))
    if len(table) == 0:
        raise TableError("The distance table has no rows. Build it again, or give another file.")
    distance, faults = _numbers(table[measure.column])
    similarity = None
    if "cosine_similarity" in number_columns(measure) and "cosine_similarity" in table:
        similarity, bad = _numbers(table["cosine_similarity"])
        faults += bad
    raise_faults(TableError, "The distance table", no_words(table))
    words = {name: code_words(table[name]) for name in (*WORD_COLUMNS, "connection") if name in table}
    for name in WORD_COLUMNS:
        faults += [*_blank_words(name, words[name]), *_doubtful_words(name, words[name])] if name in words else []
    raise_faults(TableError, "The distance table", faults + _bad_connections(words["connection"]))

    words["connection"] = _known_connections(words["connection"])
    words.setdefault("attribute_group", words["connection"])
    if "protected_group" not in words:
        words["protected_group"] = _groups_by_association(words)
    coded = CodedTable(words, distance, similarity, measure)
    limits = measure.range
    if facts.get("simulated") is True:  # they follow a model's Normal or Student t, which no range holds
        limits = -np.inf, np.inf
    elif PLAIN in table:
        limits = _CORRECTED
    faults = _bad_distances(coded, *limits) + _contradictions(coded)
    raise_faults(TableError, "The distance table", faults)
    return coded


def drop_duplicates(table: pd.DataFrame, policy: Duplicates) -> tuple[pd.DataFrame, int]:
    """Return a table after applying the policy to exact repetitions of a pair, and the number of dropped rows."""
    check_choice("duplicates", policy, get_args(Duplicates))
    repeated = table.duplicated(["protected_word", "attribute_word"])
    return apply_duplicates_policy(table, repeated, policy, "exact repetitions of a pair")


def lost_words(table: FrameLike) -> pd.DataFrame:
    """Return the lost words of a table, with reasons.

    Parameters
    ----------
    table
        A distance table.

    Returns
    -------
    pandas.DataFrame
        Columns `word`, `role` (``"protected"`` or ``"attribute"``), `list` (its name) and `reason`; no rows if no
        word was lost or if the table carries no provenance.

    Examples
    --------
    >>> table = bb.read_table(bb.bundled("data", "tables", "weat1_google_news.csv.gz"))
    >>> bb.lost_words(table)["list"].value_counts().to_dict()
    {'neutral': 143, 'human': 7}
    """
    table = as_frame(table)
    check_type("table", table, pd.DataFrame, "a distance table, a pandas DataFrame")
    records = table_facts(table).get("lost_words", [])
    return pd.DataFrame(records, columns=["word", "role", "list", "reason"])


def table_facts(table: pd.DataFrame) -> dict[str, Any]:
    """Return the provenance in a table's attrs; raise `TableError` if it is not valid."""
    facts = table.attrs.get(ATTRS_KEY, {})
    raise_faults(TableError, f"The provenance of the table (attrs[{ATTRS_KEY!r}])", list(provenance_faults(facts)))
    return dict(facts)


def source_name(table: dict[str, Any]) -> str:
    """Return the origin of a table's distances from its provenance.

    >>> source_name({"study": "weat7", "embedding": {"name": "Google News"}})
    'weat7 in Google News'
    """
    embedding = str(table.get("embedding", {}).get("name", table.get("source", "a table of one's own")))
    return f"{shown_name(table['study'])} in {embedding}" if "study" in table else embedding


def judge_lost_entries(
    lost: list[dict[str, str]],
    source: str,
    *,
    sizes: Mapping[tuple[str, str], int],
    hint: str = "",
    max_lost: float = 1,
) -> None:
    """Warn of a new table's lost words, or raise `LostWordsError`; `sizes` has the number of words by (role, list)."""
    labels = list_labels(*([name for role, name in sizes if role == kind] for kind in _ROLES))
    lost_by_key: dict[tuple[str, str], list[str]] = {key: [] for key in sizes}
    for entry in lost:
        lost_by_key[entry["role"], entry["list"]].append(entry["word"])
    lists = [
        WordList(labels[key], size, lost_by_key[key], limited=key[0] == "protected" or key[1] not in CONTROLS)
        for key, size in sizes.items()
    ]
    meaning = "Estimates use the words that are left; the table records the lost ones, but has no rows for them."
    judge_lost_words(source, lists, meaning + hint, max_lost=max_lost)


def associated_lists(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the attribute lists that are associated with each group that has some.

    >>> associated_lists(table)
    {'math': ['male'], 'arts': ['female']}
    """
    associated = table[table["connection"] == "associated"].groupby("protected_group", sort=False, observed=True)
    return {str(group): list(map(str, lists.unique())) for group, lists in associated["attribute_group"]}


def associations_text(lists: Mapping[str, list[str]], link: str = "; ") -> str:
    """Return which lists are associated with which groups, given those of each group; empty if none are.

    >>> associations_text({"math": ["male"], "arts": ["female"]})
    "'math' with 'male'; 'arts' with 'female'"
    """
    return link.join(
        f"{quoted_name(group)} with {name_some(map(quoted_name, names), 4)}" for group, names in lists.items() if names
    )


def lost_by_list(lost: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the lost words of each list, from the entries of a table's provenance.

    >>> lost_by_list([{"word": "cat", "role": "protected", "list": "pets"}])
    {'pets': ['cat']}
    """
    labels = list_labels(*({entry["list"] for entry in lost if entry["role"] == role} for role in _ROLES))
    named: dict[str, list[str]] = {}
    for entry in lost:
        named.setdefault(labels[entry["role"], entry["list"]], []).append(entry["word"])
    return named


def apply_duplicates_policy(
    table: pd.DataFrame, repeated: pd.Series, policy: Duplicates, what: str
) -> tuple[pd.DataFrame, int]:
    """Return a table without `repeated` rows or with them, after a warning, and the number of dropped rows."""
    count = int(repeated.sum())
    if count == 0:
        return table, 0
    share = f"{count:,} of {len(table):,} rows ({count / len(table):.0%})"
    example = table[repeated].iloc[0]
    pair = f"for example the pair {example['protected_word']!r}, {example['attribute_word']!r}"
    if policy == "keep":
        warn_user(
            f"Kept {share} that are duplicates, {what}, {pair}. They count the same evidence twice: intervals "
            "of the words that repeat are mostly too narrow, and other numbers change too. Use duplicates='drop' "
            "unless you reproduce a published result.",
            DuplicatesWarning,
        )
        return table, 0
    warn_user(
        f"Dropped {share} that are duplicates, {what}, {pair}. Use duplicates='keep' to reproduce a result "
        "that counted them.",
        DuplicatesWarning,
    )
    attrs = table.attrs
    distinct = table[~repeated].reset_index(drop=True)
    distinct.attrs = attrs
    return distinct, count


# --- validating -------------------------------------------------------------------------------------------


def _repeated_columns(table: pd.DataFrame) -> list[str]:
    if table.columns.nlevels > 1:
        return ["its columns have several levels; give one name each (table.columns = [...])"]
    repeated = table.columns[table.columns.duplicated()].unique()
    return [f"there are several columns {name!r}" for name in repeated]


def _missing_columns(table: pd.DataFrame, measure: Measure) -> list[str]:
    needed = ("protected_word", "attribute_word", "connection", measure.column)
    columns = [str(column) for column in table.columns]
    return [
        f"no column {name!r}{did_you_mean(name, columns)}; the columns are {name_some(columns)}"
        for name in needed
        if name not in table
    ] + [
        f"there is no column {name!r}, but {column!r}; rename it, or leave it out"
        for name in (*PAIR_COLUMNS, *number_columns(measure))
        for column in columns
        if name not in needed and name not in table and re.sub(r"[\W_]+", "_", column.strip().lower()) == name
    ]


def _numbers(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    if column.dtype == bool or (column.dtype == object and column.map(lambda value: isinstance(value, bool)).any()):
        return np.zeros(len(column)), [f"{column.name!r} holds True or False, which are no numbers; compute them again"]
    numbers = column if column.dtype == np.float64 else to_numbers(column)
    if column.dtype.kind in "mM":
        return np.zeros(len(column)), [f"{column.name!r} holds times, which are no distances; see its source"]
    if numbers.dtype.kind == "c":
        return np.zeros(len(column)), [f"{column.name!r} holds complex numbers, and a distance is none; see its source"]
    numbers = numbers.astype("float64")
    values = numbers.to_numpy()
    # A sum is finite only if all its terms are; if it is not, it may have overflown.
    if np.isfinite(values.sum()):
        return values, []
    bad = ~np.isfinite(values)
    if not bad.any():
        return values, []
    first = int(np.flatnonzero(bad)[0])
    return values, [
        f"{int(bad.sum()):,} values of {column.name!r} are missing or not finite numbers, the first in row "
        f"{first + 1} ({str(column.iloc[first])!r}); compute them again, and if it is the last row see whether the "
        "file is cut short"
    ]


def _blank_words(name: str, coded: WordCodes) -> list[str]:
    blank = np.array([not word.strip() for word in coded.words] + [True])
    count = len(coded.codes) - int(coded.counts[~blank[:-1]].sum())
    if count == 0:
        return []
    first = int(np.flatnonzero(blank[coded.codes])[0]) + 1
    return [f"{counted(count, 'value')} of {name!r} {'is' if count == 1 else 'are'} blank, the first in row {first}"]


def _doubtful_words(name: str, coded: WordCodes) -> list[str]:
    """Return faults of words that cannot be written, or that differ only invisibly."""
    words = coded.words[coded.counts > 0].tolist()
    if unfit := [word for word in words if not is_text(word) or "\0" in word]:
        return [f"{name!r} holds {unfit[0]!r}, with a NUL or an unpaired surrogate; correct it"]
    first_spellings: dict[str, str] = {}
    for word in words:
        other = first_spellings.setdefault(normalized(word.strip(), where=f"{name!r}: ", error=TableError), word)
        if other != word:
            return [f"{name!r} holds {other!r} and {word!r}, which look alike; write them alike, or leave one out"]
    return []


def _bad_connections(coded: WordCodes) -> list[str]:
    counts = {word: int(count) for word, count in zip(coded.words, coded.counts, strict=True) if count}
    if missing := len(coded.codes) - sum(counts.values()):
        counts["nan"] = counts.get("nan", 0) + missing
    return [
        f"{counted(count, 'row has', 'rows have')} the connection {value!r}{did_you_mean(value, CONNECTIONS)}; "
        f"known are {', '.join(CONNECTIONS)}"
        for value, count in counts.items()
        if value not in CONNECTIONS
    ]


def _known_connections(coded: WordCodes) -> WordCodes:
    names = np.array(CONNECTIONS, dtype=object)
    if coded.words.tolist() == names.tolist():
        return WordCodes(coded.codes, names)
    position = np.array([CONNECTIONS.index(word) if word in CONNECTIONS else -1 for word in coded.words])
    return WordCodes(relabel(coded.codes, position, np.dtype(np.int8)), names)


def _bad_distances(table: CodedTable, low: float, high: float) -> list[str]:
    distance = table.distance
    if distance.min() < low - ROUNDING or distance.max() > high + ROUNDING:
        outside = np.flatnonzero((distance < low - ROUNDING) | (distance > high + ROUNDING))
        return [
            f"{len(outside):,} distances lie outside {low:g} to {high:g}, the first is "
            f"{digits_text(distance[outside[0]], 6)} for {table.example(outside[0])}; a {table.measure.name} cannot"
        ]
    if table.similarity is None:
        return []
    unequal = [
        np.flatnonzero(np.abs(1.0 - distance[rows] - table.similarity[rows]) > 1e-5) + rows.start
        for rows in blocks(len(distance))
    ]
    if count := sum(map(len, unequal)):
        first = int(np.concatenate(unequal)[0])
        return [f"in {count:,} rows cosine_similarity is not 1 - cosine_distance, the first is {table.example(first)}"]
    return []


def _contradictions(table: CodedTable) -> list[str]:
    faults = []
    if table.repeated_pairs():
        names = ("protected_word", "attribute_word", "connection")
        columns = [*(table.words[name].codes for name in names), table.distance]
        # Sorted: numbers can be chosen so that pandas' own search takes quadratic time.
        order = np.lexsort(columns[::-1])
        same = np.array([column[order[1:]] == column[order[:-1]] for column in columns])
        same[-1] |= np.isnan(table.distance[order[:-1]]) & np.isnan(table.distance[order[1:]])
        twice = order[1:][same[:2].all(axis=0) & ~same.all(axis=0)]
        if len(twice):
            faults.append(
                f"{counted(len(twice), 'pair is', 'pairs are')} listed again with another number or connection, for "
                f"example {table.example(int(twice.min()))}; decide which row is right"
            )
    word, group = table.words["protected_word"], table.words["protected_group"]
    group_of = np.zeros(len(word.words), dtype=np.int64)
    for rows in blocks(len(word.codes)):
        group_of[word.codes[rows]] = group.codes[rows]
    several = np.concatenate(
        [
            np.unique(word.codes[rows][group_of[word.codes[rows]] != group.codes[rows]])
            for rows in blocks(len(word.codes))
        ]
    )
    if len(several):
        order = WordCodes(word.codes[np.isin(word.codes, several)], word.words).by_appearance().words
        faults.append(f"the protected words {name_some(order)} are in several protected groups")
    return faults


def _groups_by_association(words: dict[str, WordCodes]) -> WordCodes:
    """Return protected groups named after the attribute groups with which each word is associated."""
    word, attribute = words["protected_word"], words["attribute_group"]
    associated = words["connection"].codes == CONNECTIONS.index("associated")
    pairs = np.unique(word.codes[associated].astype(np.int64) * len(attribute.words) + attribute.codes[associated])
    associations: dict[int, list[str]] = {}
    for pair in pairs.tolist():
        associations.setdefault(pair // len(attribute.words), []).append(attribute.words[pair % len(attribute.words)])
    names = ["+".join(sorted(associations.get(code, ["unassociated"]))) for code in range(len(word.words))]
    groups = list(dict.fromkeys(names))
    place_of = {name: place for place, name in enumerate(groups)}
    position = np.array([place_of[name] for name in names])
    return WordCodes(relabel(word.codes, position, code_type(len(groups))), np.array(groups, dtype=object))


def _word_column(table: pd.DataFrame, name: str, coded: WordCodes) -> Any:
    """Return a column of words as text, or unchanged if its categories are text."""
    if name in table:
        column = table[name]
        kind = column.dtype.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
        if isinstance(kind.dtype, pd.StringDtype):
            return column
        if kind is not column and pd.api.types.infer_dtype(kind) == "string":
            return column
    return pd.Series(coded.words[coded.codes], index=table.index, dtype=str)

"""Rows of the regression of `drivers`, checked and complete; their design matrix; and bundled properties of words."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats, column_rank, is_constant
from bayesbias.base.checks import check_items, check_type
from bayesbias.base.files.inputs import bundled
from bayesbias.base.files.spreadsheets import read_csv
from bayesbias.base.number_text import counted
from bayesbias.errors import InputFileError, ReportError, did_you_mean, name_some

if TYPE_CHECKING:
    import pandas as pd


INTERACTION = ":"
"""What joins the factors of an interaction."""
BUNDLED = ("wordnet",)


def checked_columns(data: Any, factors: Any, response: Any, groupings: Any) -> list[str]:
    """Return the names of the factors; raise `ReportError` unless all columns exist and are named once."""
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        raise ReportError(f"The data are a {type(data).__name__}. Give a pandas frame of words, cells and features.")
    names = check_items("factors", factors, "a list of columns")
    grouped = check_items("groupings", groupings, "a list of columns")
    if not names:
        raise ReportError("There are no factors. Give at least one column of the frame, such as 'stability'.")
    mains = [name for name in names if name in data.columns or INTERACTION not in str(name)]
    crossed = [parts_of(name) for name in names if name not in mains]
    every = ["word", response, *mains, *grouped]
    for name in dict.fromkeys([*every, *(part for parts in crossed for part in parts)]):
        if name not in data.columns:
            columns = list(map(str, data.columns))
            raise ReportError(f"The frame has no column {name!r}{did_you_mean(str(name), columns)}; it has {columns}.")
        if every.count(name) > 1 or names.count(name) > 1:
            raise ReportError(f"{name!r} is named twice. A column is either the response, a factor or a grouping.")
    for parts in crossed:
        if len(set(parts)) < len(parts) or (lacking := [part for part in parts if part not in mains]):
            raise ReportError(
                f"The interaction {INTERACTION.join(parts)!r} needs different factors, and each of them as a factor "
                f"too{f': add {lacking}' if len(set(parts)) == len(parts) else ''}."
            )
    if len(set(names)) < len(names):
        raise ReportError(f"The factors {names} contain one twice. Give each once.")
    for name in grouped:
        if data[name].nunique() < 2:
            raise ReportError(f"{name!r} has only one level, so it has no variance. Leave it out: groupings=[...].")
    return names


def checked_drops(joint_drops: Any, names: Sequence[str]) -> dict[str, list[str]]:
    """Return factors that are dropped together; raise `ReportError` unless they are factors or groupings."""
    if joint_drops is None:
        return {}
    if not isinstance(joint_drops, Mapping):
        raise ReportError(
            f"joint_drops={joint_drops!r}: give a mapping such as {{'frequency': ['log_frequency', ...]}}."
        )
    together = {str(name): check_items("joint_drops", parts, "factors") for name, parts in joint_drops.items()}
    for name, parts in together.items():
        lacking = [part for part in parts if part not in names]
        if lacking or len(set(parts)) < 2 or len(set(parts)) < len(parts) or name in names:
            raise ReportError(
                f"The joint drop {name!r} has {parts}. Give it another name than those, and two or more of "
                f"{list(names)}, each once."
            )
    return together


def parts_of(name: str) -> list[str]:
    """Return the factors of an interaction such as ``"stability:rule"``."""
    return str(name).split(INTERACTION)


def complete_words(
    data: "pd.DataFrame", factors: Sequence[str], groupings: Sequence[str]
) -> "tuple[pd.DataFrame, int, list[str]]":
    """Return the rows of the words that have every cell, word by word, the number of cells, and the other words."""
    cells = [*groupings, *(name for name in factors if name in data and _is_text(data, name) and _is_cell(data, name))]
    frame = data.assign(word=data["word"].astype(str))
    if frame.duplicated(["word", *cells]).any():
        repeated = frame.loc[frame.duplicated(["word", *cells]), "word"].iloc[0]
        raise ReportError(f"{repeated!r} has two rows in one cell of {cells}. Give one row per word and cell.")
    most = len(frame[cells].drop_duplicates()) if cells else 1
    sizes = frame.groupby("word", sort=False)["word"].transform("size")
    left_out = list(dict.fromkeys(frame.loc[sizes < most, "word"]))
    complete = frame[sizes == most].sort_values(["word", *cells], kind="stable")
    if complete["word"].nunique() < 10:
        what = f" in all {counted(most, 'cell')} of {name_some(cells, 5)}" if cells else ""
        raise ReportError(
            f"The table has {counted(complete['word'].nunique(), 'word')}{what}; at least 10 are needed. Use words "
            "that all algorithms, corpora and rules have."
        )
    return complete.reset_index(drop=True), most, left_out


def _is_text(data: "pd.DataFrame", name: str) -> bool:
    return data[name].dtype.kind not in "iufb"


def _is_cell(data: "pd.DataFrame", name: str) -> bool:
    """Return whether a column of text varies within words, like the scoring rule, unlike the part of speech."""
    return bool((data.groupby("word", sort=False)[name].nunique() > 1).any())


def numbers(frame: "pd.DataFrame", name: str) -> Floats:
    """Return a column as numbers; raise `ReportError` unless they are finite and not all equal."""
    try:
        values = frame[name].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ReportError(f"The column {name!r} holds values that are not numbers: {error}. Give numbers.") from error
    if not np.isfinite(values).all():
        bad = frame.loc[~np.isfinite(values), "word"].unique()
        raise ReportError(
            f"{name!r} is missing or infinite for {len(bad)} words, such as {name_some(bad, 5)}. Leave these words out."
        )
    if is_constant(values):
        raise ReportError(f"{name!r} is constant, so it explains nothing. Leave it out.")
    return values


def design(frame: "pd.DataFrame", factors: Sequence[str]) -> tuple[list[tuple[str, str]], Floats]:
    """Return the factor and level of each column of the design matrix, and the matrix; the intercept is first."""
    columns: list[tuple[str, str]] = [("intercept", "")]
    parts: list[Floats] = [np.ones(len(frame))]
    for name in factors:
        coded = _crossed([_coded(frame, part) for part in ([name] if name in frame else parts_of(name))])
        columns += [(name, level) for level, _ in coded]
        parts += [values for _, values in coded]
    X = np.stack(parts, axis=1)
    if column_rank(X) < X.shape[1]:
        raise ReportError(f"Some of the factors {list(factors)} are linear functions of others. Leave one of them out.")
    return columns, X


def _coded(frame: "pd.DataFrame", name: str) -> list[tuple[str, Floats]]:
    """Return a standardised column of numbers, or one indicator for each level of text but the first."""
    if not _is_text(frame, name):
        values = numbers(frame, name)
        return [("", (values - values.mean()) / values.std())]
    if frame[name].isna().any():
        bad = frame.loc[frame[name].isna(), "word"].unique()
        raise ReportError(
            f"{name!r} is missing for {len(bad)} words, such as {name_some(bad, 5)}. Leave these words out."
        )
    labels = frame[name].astype(str)
    first, *others = dict.fromkeys(labels)
    if not others:
        raise ReportError(f"{name!r} is {first!r} in all rows, so it explains nothing. Leave it out.")
    return [(level, np.where(labels == level, 1.0, 0.0)) for level in others]


def _crossed(coded: Sequence[list[tuple[str, Floats]]]) -> list[tuple[str, Floats]]:
    """Return the products of the columns of factors, with the levels that they are of."""
    products = coded[0]
    for columns in coded[1:]:
        products = [
            (INTERACTION.join(filter(None, (level, other))), values * others)
            for level, values in products
            for other, others in columns
        ]
    return products


def load_word_properties(name: str | os.PathLike[str] = "wordnet") -> "pd.DataFrame":
    """Return properties of words, bundled or from a CSV file: one row per word, one column per property.

    Parameters
    ----------
    name
        ``"wordnet"``: of 32,727 English words `senses`, the number of synsets of the word and its lemmas in WordNet
        3.1, and `part_of_speech`, the most frequent one in WordNet's tagged texts (noun, verb, adjective, adverb). Or
        the path of a CSV file (``.csv`` or ``.csv.gz``) with a column `word` and further columns of numbers or text.

    Raises
    ------
    ReportError
        If there is no such list.
    InputFileError
        If the file cannot be read, has no column `word` or no other, or has a word twice.

    References
    ----------
    Christiane Fellbaum, editor (1998). WordNet: an electronic lexical database. MIT Press. Du, Fang and Nguyen (2021),
    section 5.5, use the number of synsets, and the part of speech in the Brown corpus.

    Examples
    --------
    >>> properties = bb.reliability.load_word_properties().set_index("word")
    >>> properties.loc[["bank", "dog", "children"], ["senses", "part_of_speech"]]
           senses part_of_speech
    word
    bank       18           noun
    dog         8           noun
    children    4           noun
    """
    check_type("name", name, (str, os.PathLike), "'wordnet' or the path of a CSV file")
    if isinstance(name, str) and name in BUNDLED:
        path = bundled("data", "reliability", "features", f"{name}.csv.gz")
    elif str(name).endswith((".csv", ".csv.gz")):
        path = Path(name)
    else:
        raise ReportError(
            f"There are no properties {str(name)!r}{did_you_mean(str(name), BUNDLED)}. Give {', '.join(BUNDLED)} or "
            "the path of a .csv or .csv.gz file."
        )
    advice = "Give a column 'word' and at least one other."
    frame = read_csv(path, advice, keys=("word",), mixed=True)
    if len(frame.columns) < 2:
        raise InputFileError(f"{path} has the columns {list(frame.columns)}. {advice}")
    if len(twice := frame.loc[frame["word"].duplicated(), "word"]):
        raise InputFileError(f"{path} has the word {twice.iloc[0]!r} twice. Give one row per word.")
    return frame


def properties_of(words: Sequence[str], properties: Any) -> dict[str, Any]:
    """Return the columns of the properties of some words, `senses` as `log_senses`; a missing value stays missing."""
    import pandas as pd

    frame = properties if isinstance(properties, pd.DataFrame) else load_word_properties(properties)
    if "word" not in frame.columns or frame["word"].duplicated().any():
        raise ReportError(
            f"The properties have the columns {list(map(str, frame.columns))}. Give a column 'word', each word once."
        )
    rows = frame.set_index("word").reindex(list(words))
    columns: dict[str, Any] = {str(name): rows[name].to_numpy() for name in rows.columns}
    if "senses" in columns:
        senses = pd.to_numeric(rows["senses"], errors="coerce").to_numpy(dtype=np.float64)
        if (senses <= 0).any():
            raise ReportError(f"{(senses <= 0).sum()} words have 0 or fewer senses. Leave their cells empty.")
        columns = {"log_senses": np.log(senses)} | {name: part for name, part in columns.items() if name != "senses"}
    return columns

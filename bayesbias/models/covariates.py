"""Covariates: numbers of protected words, such as the share of women in an occupation."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import COLLINEAR, is_constant
from bayesbias.base.checks import check_items, check_path, is_text, shown
from bayesbias.base.files.inputs import printable
from bayesbias.base.files.spreadsheets import PERCENT, numbers_only, plain_numbers, read_csv, without_row_numbers
from bayesbias.base.number_text import counted
from bayesbias.errors import (
    ArgumentError,
    FitError,
    InputFileError,
    LostWordsWarning,
    QuestionWarning,
    did_you_mean,
    name_some,
    raise_faults,
    setting,
    warn_user,
    worded,
)
from bayesbias.models.data import ModelData
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.study import normal_form
from bayesbias.tables.codes import PAIR_COLUMNS, to_numbers
from bayesbias.tables.measures import NUMBER_COLUMNS
from bayesbias.tables.schema import ATTRS_KEY, Provenance, as_frame, table_facts, table_hash

type CovariatesLike = pd.DataFrame | pd.Series | Mapping[str, Mapping[str, float]] | str | Sequence[str]
"""Covariates of protected words: a frame with a column of words and columns of numbers, a series with words as its
index, a mapping of names to numbers by word, or names of columns of the distance table (see `fit`)."""

_WORDS = ("protected_word", "word")
_TEXTS = (*_WORDS, "period")
NO_NUMBER = "no number in the covariates"
"""Reason of lost words that were left out because a covariate has no number for them."""
SOURCE = "bayesbias_covariates"
"""Attribute of a frame of covariates with its file: path, column of words (empty: the usual one), chosen columns."""
_FEWEST_ROWS = 3  # in which numbers that increase by 1 number the rows
_LARGEST = 1e100  # squares of larger numbers, and of their inverses, are no numbers
_WANTED = (
    "a frame with the column 'word' and columns of numbers, a series of numbers with words as its index, a mapping "
    "such as {'share_of_women': {'nurse': 0.9}}, or names of columns of the table"
)


def with_covariates(data: ModelData, covariates: Any, table: pd.DataFrame, spec: ModelSpec) -> ModelData:
    """Return model data with the covariates of the protected words, in the order of their columns.

    Words that the table lacks are left out. Raises an `ArgumentError` if a word has no number or more than one, or a
    covariate is constant or a linear combination of the others; a `FitError` if the model takes no covariates.

    >>> from bayesbias.models.data import model_data
    >>> spec = bb.load_model("multivariate")
    >>> lengths = {word: len(word) for word in table["protected_word"].unique()}
    >>> with_covariates(model_data(table), {"letters": lengths}, table, spec).covariates[:2].tolist()
    [[4.0], [7.0]]
    """
    if not spec.multivariate:
        raise FitError(
            f"The model {spec.name!r} takes no covariates. Use 'multivariate' (the default) or 'multivariate_robust'."
        )
    frame = frame_by_word(as_frame(covariates), table)
    words, option = data.protected_words.tolist(), worded("", setting("drop_unrated", True))
    values = numbers_of_words(frame, words, worded("covariates", "--covariates"), option)
    names, percentages = tuple(map(str, frame)), frame.attrs.get(PERCENT, ())
    percent = tuple(
        name
        for name, column, largest in zip(names, frame, values.max(axis=0), strict=True)
        if column in percentages or ("%" in name and largest > 1)
    )
    file: Sequence[str] = frame.attrs.get(SOURCE, ())
    return replace(
        data, covariates=values, covariate_names=names, percent_covariates=percent, covariates_source=tuple(file)
    )


def numbers_of_words(
    frame: pd.DataFrame, words: list[str], source: str, option: str, repeated_advice: str = ""
) -> np.ndarray:
    """Return the numbers of words, shape (words, covariates), of a frame with words as its index.

    `source` is the subject of an error. `option`, which may be empty, is the setting that leaves out words without a
    number; `repeated_advice` ends the fault of words with several rows. Raises the errors of `with_covariates`.
    """
    if frame.index.nlevels > 1:
        raise ArgumentError(f"{source} has words in an index of {frame.index.nlevels} levels. Give {_WANTED}.")
    frame = frame.set_axis(frame.index.map(normal_form))
    faults = [
        f"{name!r} is not the name of a covariate: give a text"
        for name in frame.columns
        if not is_text(name) or not name.strip()
    ]
    faults += [f"the covariate {name!r} occurs twice" for name in frame.columns[frame.columns.duplicated()]]
    if not len(frame.columns):
        faults.append("there is no column of numbers")
    repeated = frame.index[frame.index.duplicated()].intersection(words)
    if len(repeated):
        faults.append(f"words occur more than once: {name_some(repeated)}{repeated_advice}")
    raise_faults(ArgumentError, source, faults)
    faults += [
        f"{name!r} has values of type {frame[name].dtype}: give numbers, such as years"
        for name in frame
        if frame[name].dtype.kind in "mMc"
    ]
    raise_faults(ArgumentError, source, faults)
    chosen = rows_of_words(frame, words)
    values = np.column_stack([to_numbers(chosen[name]).to_numpy(dtype=float) for name in chosen])
    for name, column in zip(chosen, values.T, strict=True):
        if lacking := [word for word, value in zip(words, column, strict=True) if not np.isfinite(value)]:
            faults.append(
                f"{name!r} has no number for {len(lacking)} of {counted(len(words), 'protected word')}: "
                f"{name_some(lacking)}.{spelling_hint(lacking, frame.index)} Add them, or leave out words without a "
                f"number{f' ({option})' if option else ''}"
            )
    raise_faults(ArgumentError, source, faults)
    raise_faults(ArgumentError, source, collinear_faults(values, tuple(map(str, chosen))))
    return values


def without_unrated(tables: Mapping[str, pd.DataFrame], numbers: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return tables, each without the protected words for which a covariate of that table has no number.

    `numbers` are frames of numbers of each table, with words as their index. A warning names the words, and of several
    tables those that leave a word out; they stand among the lost words of those tables.
    """
    lacks: dict[str, list[str]] = {}
    every: dict[str, None] = {}
    for name, table in tables.items():
        words = list(dict.fromkeys(table["protected_word"].astype(str)))
        rows = rows_of_words(numbers[name].set_axis(numbers[name].index.map(normal_form)), words)
        values = np.column_stack([to_numbers(rows[column]).to_numpy(dtype=float) for column in rows])
        every |= dict.fromkeys(words)
        for word in rows.index[~np.isfinite(values).all(axis=1)]:
            lacks.setdefault(str(word), []).append(name)
    if not lacks:
        return dict(tables)
    hint = spelling_hint([*lacks], [word for frame in numbers.values() for word in frame.index])
    named = [
        f"{word} (in {name_some(names, 12)})" if len(names) < len(tables) else word for word, names in lacks.items()
    ]
    warn_user(
        f"Left out {counted(len(lacks), 'protected word')} of {len(every)} without a number: "
        f"{name_some(named, 12)}.{hint}",
        LostWordsWarning,
    )
    return {
        name: _without_words(table, left_out)
        if (left_out := [word for word, names in lacks.items() if name in names])
        else table
        for name, table in tables.items()
    }


def _without_words(table: pd.DataFrame, words: Collection[str]) -> pd.DataFrame:
    is_left = ~table["protected_word"].isin([*words])
    part, facts = table[is_left].reset_index(drop=True), table_facts(table)
    groups = table.loc[~is_left, ["protected_word", "protected_group"]].astype(str).drop_duplicates()
    facts["lost_words"] = [
        *facts.get("lost_words", ()),
        *(
            {"word": word, "role": "protected", "list": group, "reason": NO_NUMBER}
            for word, group in groups.itertuples(index=False, name=None)
        ),
    ]
    if "hash" in facts and facts["hash"] == table_hash(table):
        facts["hash"] = table_hash(part)
    part.attrs[ATTRS_KEY] = Provenance(facts)
    return part


def spelling_hint(lacking: Sequence[str], words: Iterable[Any]) -> str:
    """Return a sentence on a word that the covariates spell only in another way, with a space before it, or nothing.

    >>> spelling_hint(["nurse"], ["Nurse", "clerk"])
    " The covariates have 'Nurse': write words as the study does."
    >>> spelling_hint(["nurse"], ["nurse", "clerk"])
    ''
    """
    texts = {word for word in words if isinstance(word, str)}
    spelt = {word.casefold(): word for word in texts}
    others = (spelt[word.casefold()] for word in lacking if word not in texts and word.casefold() in spelt)
    other = min(others, default=None)
    return "" if other is None else f" The covariates have {other!r}: write words as the study does."


def read_covariates(
    path: str | os.PathLike[str],
    word_column: str | None = None,
    period_column: str | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return covariates from a CSV file with the column ``word``, or ``protected_word``, and columns of numbers.

    The columns of words and of periods may have other names, `word_column` and `period_column`. `columns` are the
    columns of numbers to take, all but those that number the rows if it is empty; None if the user has no choice.
    `read_csv` says how numbers may be written.

    Raises an `InputFileError` if there is no such file, or it is not a CSV file with these columns.
    """
    source, advice = check_path(path), "Give a column 'word' and columns of numbers."
    given = {"word": word_column, "period": period_column}
    frame = read_csv(source, advice, keys=_WORDS[::-1], texts=("period",), given=given)
    if columns:
        for name in columns:
            if name not in frame or name in _TEXTS:
                others = [str(one) for one in frame if one not in _TEXTS]
                hint, names = did_you_mean(name, others), name_some(map(repr, others), 12)
                raise InputFileError(f"{source} has no column of numbers {name!r}{hint}; it has {names}.")
        frame = frame[[name for name in frame if name in (*columns, *_TEXTS)]]
    numbers = numbers_only(frame, _TEXTS, str(source))
    if not {*numbers.columns} - {*_TEXTS}:
        texts = ((name, cell) for name in frame if name not in _TEXTS for cell in frame[name].dropna())
        example = next((f": {name!r} holds {cell!r:.40}" for name, cell in texts), "")
        raise InputFileError(f"{source} has no column of numbers{example}. {advice}")
    if not columns:
        chosen = setting("columns", ["NAME"], option="--column NAME")
        advice = "" if columns is None else f" To take such a column as a covariate: {chosen}."
        numbers = _without_row_counts(numbers, str(source), advice)
    own_names = [word_column or "", *(columns or ())] if columns or word_column else []
    numbers.attrs[SOURCE] = [printable(str(path)), *own_names]
    return numbers


def _without_row_counts(frame: pd.DataFrame, source: str, advice: str) -> pd.DataFrame:
    """Return a frame without columns that number its rows, such as 1 to 54, which a warning with `advice` names.

    They stay if the frame has no other numbers.
    """
    numbers = [name for name in frame.columns if name not in _TEXTS]
    counts = [name for name in numbers if _counts_rows(frame[name])]
    if not counts or len(counts) == len(numbers):
        return frame
    named = name_some(map(repr, map(str, counts)))
    ignored = counted(len(counts), f"the column {named}, which numbers", f"the columns {named}, which number")
    warn_user(f"{source}: ignored {ignored.partition(' ')[2]} the rows.{advice}", QuestionWarning)
    return frame.drop(columns=counts)


def _counts_rows(column: pd.Series) -> bool:
    """Return whether each number of a column is that of the row before it plus 1."""
    if len(column) < _FEWEST_ROWS or column.dtype.kind not in "iuf":
        return False
    values = column.to_numpy(dtype=float)
    return bool((np.diff(values) == 1).all() and values[0] == np.floor(values[0]))


def rows_of_words(frame: pd.DataFrame, words: list[str]) -> pd.DataFrame:
    """Return the row of each word, empty if there is none; of words that are not wanted, repeats do no harm.

    >>> rows_of_words(pd.DataFrame({"year": [1, 2, 3]}, index=["nurse", "x", "x"]), ["nurse"])["year"].tolist()
    [1]
    """
    return frame[~frame.index.duplicated()].reindex(list(words))


def collinear_faults(values: np.ndarray, names: tuple[str, ...]) -> list[str]:
    """Return a fault for each covariate that is constant or a linear combination of those before it."""
    faults = [
        f"{name!r} has one value for all words"
        for name, column in zip(names, values.T, strict=True)
        if is_constant(column)
    ]
    if faults:
        return faults
    faults = [
        f"{name!r} has values up to {np.abs(column).max():g}: give it in another unit"
        for name, column in zip(names, values.T, strict=True)
        if not 1 / _LARGEST < np.abs(column).max() < _LARGEST
    ]
    if faults:
        return faults
    if len(names) > len(values) - 2:
        return [f"{len(names)} covariates are too many for {len(values)} protected words"]
    values = values / np.abs(values).max(axis=0)  # whose squares are numbers
    centred = values - values.mean(axis=0)
    scaled, others = centred / np.linalg.norm(centred, axis=0), np.zeros((len(values), 0))
    for place, name in enumerate(names):
        residual = scaled[:, place] - others @ (others.T @ scaled[:, place])
        if np.linalg.norm(residual) < COLLINEAR:
            before = ", ".join(map(repr, names[:place]))
            faults.append(f"{name!r} is a linear combination of {before}. Leave one of them out")
        else:
            others = np.column_stack([others, residual / np.linalg.norm(residual)])
    return faults


def _word_column(frame: pd.DataFrame) -> str | None:
    return next((name for name in _WORDS if name in frame.columns), None)


def columns_of_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a user's frame with numbers as numbers, and without columns that hold none, which a warning names.

    A frame with a column of words loses columns that number its rows; one whose index has the words keeps all.
    """
    column = _word_column(frame)
    places = [f"{label!r} in" for label in (frame.index if column is None else frame[column])]
    plain = plain_numbers(frame, "covariates", but=_TEXTS, places=places, error=ArgumentError)
    numbers = numbers_only(without_row_numbers(plain), _TEXTS, "covariates")
    if column is None or SOURCE in frame.attrs:
        return numbers
    advice = f" To take such a column as a covariate, make the words the index: frame.set_index({column!r})."
    return _without_row_counts(numbers, "covariates", advice)


def frame_by_word(covariates: Any, table: pd.DataFrame) -> pd.DataFrame:
    """Return covariates as a frame of numbers with words as its index."""
    if isinstance(covariates, pd.DataFrame):
        frame, column = columns_of_numbers(covariates), _word_column(covariates)
        return frame.set_index(column) if column else frame.copy(deep=False)
    if isinstance(covariates, pd.Series):
        return covariates.to_frame("covariate" if covariates.name is None else str(covariates.name))
    if isinstance(covariates, Mapping):
        if not all(isinstance(values, Mapping) for values in covariates.values()):
            raise ArgumentError(f"covariates={shown(covariates)}: give {_WANTED}.")
        return pd.DataFrame({name: pd.Series(dict(values)) for name, values in covariates.items()})
    names = [covariates] if isinstance(covariates, str) else check_items("covariates", covariates, _WANTED)
    columns = [name for name in table.columns if name not in (*PAIR_COLUMNS, *NUMBER_COLUMNS)]
    for name in names:
        if name not in columns:
            hint = did_you_mean(str(name), map(str, columns))
            listed = f"has the columns {', '.join(map(str, columns))}" if columns else "has no column of covariates"
            raise ArgumentError(f"covariates={shown(covariates)}{hint}: the table {listed}. Give {_WANTED}.")
    by_word = table[["protected_word", *names]].drop_duplicates()
    return by_word.assign(protected_word=by_word["protected_word"].astype(str)).set_index("protected_word")

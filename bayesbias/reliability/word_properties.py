"""Properties of words that do not depend on a corpus, such as senses and parts of speech, from files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.files.frames import read_csv
from bayesbias.base.files.inputs import bundled
from bayesbias.errors import InputFileError, ReportError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

BUNDLED = ("wordnet",)


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
    # The word "null" is a word; only an empty cell is a missing value.
    wanted = "Give a column 'word' and others."
    frame = read_csv(path, wanted, keep_default_na=False, na_values=[""], dtype={"word": str})
    columns = list(map(str, frame.columns))
    if "word" not in columns or len(columns) < 2:
        raise InputFileError(f"{path} has the columns {columns}. Give a column 'word' and at least one other.")
    if frame["word"].isna().any() or frame["word"].duplicated().any():
        twice = frame.loc[frame["word"].duplicated(), "word"].head(1).tolist()
        raise InputFileError(f"{path} has rows without a word, or a word twice {twice}. Give one row per word.")
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

"""CSV files as people and spreadsheets write them: the right numbers, or one right sentence that names the cell."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.files.spreadsheets import PERCENT, plain_numbers, read_csv
from bayesbias.errors import ArgumentError, InputFileError, QuestionWarning
from bayesbias.models.covariates import SOURCE, read_covariates
from tests.cli.running import in_process
from tests.reports.covariates.made import made_table

SHARES = {"share": [0.9, 0.05, 0.5]}
PEOPLE = {"people": [3_012_500, 970, 1012]}
# Kind of file -> its content, and the numbers of nurse, pilot and clerk.
READ: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "semicolons": ("word;share\nnurse;0,9\npilot;0,05\nclerk;0,5\n", SHARES),
    "decimal comma": ('word,share\nnurse,"0,900"\npilot,"0,050"\nclerk,"0,500"\n', SHARES),
    "thousands": ('word,people\nnurse,"3,012,500"\npilot,"970"\nclerk,"1,012"\n', PEOPLE),
    "thousands with points": (
        "word;people;share\nnurse;3.012.500;0,9\npilot;970;0,05\nclerk;1.012;0,5\n",
        PEOPLE | SHARES,
    ),
    "thousands with spaces": ("word;people\nnurse;3\u00a0012\u00a0500\npilot;970\nclerk;1\u202f012\n", PEOPLE),
    "thousands with apostrophes": ("word;people\nnurse;3'012'500\npilot;970\nclerk;1\u2019012\n", PEOPLE),
    "semicolons and points": ("word;share\nnurse;0.900\npilot;0.05\nclerk;0.5\n", SHARES),
    "byte order mark": ("\ufeffword,share\nnurse,0.9\npilot,0.05\nclerk,0.5\n", SHARES),
    "tabs": ("word\tshare\nnurse\t0.9\npilot\t0.05\nclerk\t0.5\n", SHARES),
    "quotes": ('"word","share"\n"nurse","0.9"\n"pilot","0.05"\n"clerk","0.5"\n', SHARES),
    "spaces": (" word , share \n nurse, 0.9\n pilot ,0.05\nclerk, 0.5 \n", SHARES),
    "exponents": ("word,share\nnurse,9E-01\npilot,5.0E-02\nclerk,0.5\n", SHARES),
    "minus": ("word,share\nnurse,\u22120.9\npilot,\u22120.05\nclerk,\u22120.5\n", {"share": [-0.9, -0.05, -0.5]}),
    "percent": ("word;share\nnurse;90,0 %\npilot;5 %\nclerk;50 %\n", {"share": [90.0, 5.0, 50.0]}),
    "empty columns and rows": ("word,share,,\nnurse,0.9,,\npilot,0.05,,\n,,,\nclerk,0.5,,\n,,,\n,,,\n", SHARES),
    "cells beyond the names": ("word,share\nnurse,0.9,,\npilot,0.05,,\nclerk,0.5,,\n", SHARES),
    "titles": ("Table 1: Women at work,,\n,,\nWord,share,\nnurse,0.9,\npilot,0.05,\nclerk,0.5,\n", SHARES),
    "total": ("word,share\nnurse,0.9\npilot,0.05\nclerk,0.5\nTotal,1.45\n", SHARES),
    "source": ("word,share\nnurse,0.9\npilot,0.05\nclerk,0.5\n\nSource: BLS 2020,\n", SHARES),
    "line of Excel": ("sep=;\nword;share\nnurse;0,9\npilot;0,05\nclerk;0,5\n", SHARES),
    "truths": ("word,licensed\nnurse,TRUE\npilot,TRUE\nclerk,FALSE\n", {"licensed": [True, True, False]}),
    "missing": ("word,share\nnurse,n/a\npilot,-\nclerk,..\nmason,0.1\n", {"share": [np.nan] * 3}),
}
# Kind of file -> its content, and what the message says.
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "UTF-16": ("word\tshare\nnurse\t0.9\n".encode("utf-16"), r"text in UTF-16.* as CSV UTF-8"),
    "Latin-1": ("word,share\nnurse,0.9\nn\u00e4her,0.1\n".encode("latin-1"), r"not UTF-8 \(line 3\)"),
    "names in two rows": ("word,share,\n,women,men\nnurse,0.9,0.1\n", r"row 2 of the column 'share' is 'women'"),
    "total without a word": (
        "word,share\nnurse,0.9\npilot,0.05\n,0.95\n",
        r"row 4 has a number, but .*'word' is empty",
    ),
    "a text": (
        "word,share\nnurse,0.9\npilot,about 5\n",
        r"row 3 of the column 'share' is 'about 5', which is no number",
    ),
    "mostly texts": ("word,share\nnurse,0.9\npilot,low\nclerk,low\n", r"row 3 of the column 'share' is 'low'"),
    "below blank rows": ("word,share\n\nnurse,0.9\n\npilot,x\n", r"row 5 of the column 'share' is 'x'"),
    "below a cell of two lines": ('word,share\n"nurse\n(RN)",0.9\npilot,x\n', r"row 3 of the column 'share' is 'x'"),
    "below Excel's line": ("sep=;\nword;share\nnurse;0,9\npilot;x\n", r"row 3 of the column 'share' is 'x'"),
    "dates": ("word,share\nnurse,01.05.2020\npilot,0.05\n", r"row 2 of the column 'share' is '01\.05\.2020'"),
    "an error of Excel": ("word,share\nnurse,0.9\npilot,#DIV/0!\n", r"row 3 of the column 'share' is '#DIV/0!'"),
    "currency": ("word,pay\nnurse,$70\npilot,$90\n", r"no column of numbers: 'pay' holds '\$70'"),
    "some percent": ("word,share\nnurse,90%\npilot,0.05\n", r"row 3 of the column 'share' is '0\.05', but other cells"),
    "two readings": ("word;people\nnurse;3.012\npilot;970\n", r"row 2 .* is '3\.012', which can mean 3\.012 or 3012"),
    "a number beside": ("word,share,\nnurse,0.9,\npilot,0.05,7\n", r"row 3 has a number in a column without a name"),
    "no names": ("nurse,0.9\npilot,0.05\n", r"first row seems to hold data"),
    "another name": ("job,share\nnurse,0.9\n", r"If the words are in 'job', give word_column='job'"),
    "a separator in a word": ("word,share\nnurse, registered,0.9\n", r"row 2 has 3 cells, but 2 columns have names"),
    "only words": ("word\nnurse\npilot\n", r"has no column of numbers"),
    "nothing": ("\n", r"is empty"),
}


@pytest.mark.parametrize("kind", READ)
def test_numbers_are_read(kind: str, tmp_path: Path) -> None:
    content, numbers = READ[kind]
    (tmp_path / "own.csv").write_bytes(content.encode())
    frame = read_covariates(tmp_path / "own.csv").set_index("word").loc[["nurse", "pilot", "clerk"]]
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), pd.DataFrame(numbers), check_dtype=False)
    assert frame.attrs.pop(SOURCE) == [str(tmp_path / "own.csv")]
    assert frame.attrs == ({PERCENT: ["share"]} if kind == "percent" else {})


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_number_is_named(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = REFUSED[kind]
    path = tmp_path / "own.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputFileError, match=message):
        read_covariates(path)
    bb.write_table(made_table(), tmp_path / "table.csv")
    command = ("covariate", tmp_path / "table.csv", "--covariates", path, "--output", tmp_path / "out")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert re.search(message.replace("word_column='job'", "--word-column job"), capsys.readouterr().err)


def test_columns_without_a_number_are_ignored_and_named(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("word,share,Note,Source\nnurse,0.9,,BLS\npilot,0.05,estimate,BLS\nclerk,0.5,,\n")
    with pytest.warns(QuestionWarning, match=r"own.csv: ignored the columns 'Note', 'Source', which hold no numbers\."):
        frame = read_covariates(path)
    assert frame.columns.tolist() == ["word", "share"]
    table = made_table()
    notes = pd.DataFrame({"word": table["protected_word"].unique(), "note": "x"}).assign(share=range(9))
    with pytest.warns(QuestionWarning, match="covariates: ignored the column 'note', which holds no numbers"):
        fit = bb.fit(table, covariates=notes, draws=50, random_seed=1, progress=False)
    assert fit["constant_data"]["covariate"].to_numpy().tolist() == ["share"]
    with pytest.raises(ArgumentError, match="covariates: '<b>w1' in the column 'note' is 'x', which is no number"):
        bb.fit(table, covariates=notes.assign(note=["1", "x", *"1234567"]), draws=50)


def test_words_in_capitals_are_named() -> None:
    table = made_table().replace(r"<b>", "", regex=True)
    numbers = pd.DataFrame({"word": [word.upper() for word in table["protected_word"].unique()], "share": range(9)})
    with pytest.raises(ArgumentError, match="The covariates have 'W0': write words as the study does"):
        bb.fit(table, covariates=numbers, draws=50)


def test_a_column_of_texts_may_have_numbers_where_both_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("word,code,senses\nnurse,a,1\npilot,7,2\nclerk,b,3\n")
    frame = read_csv(tmp_path / "own.csv", "", keys=("word",), mixed=True)
    assert frame["code"].tolist() == ["a", "7", "b"]
    assert frame["senses"].tolist() == [1, 2, 3]


def test_numbers_of_a_frame_stay_as_they_are() -> None:
    frame = pd.DataFrame({"word": ["a"], "x": [1.5]}, index=[7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plain_numbers(frame, "f", but=["word"]) is frame


def test_cells_have_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("word,x\n" + 500_000 * "a,1\n")
    with pytest.raises(InputFileError, match="has about 1,000,002 cells, more than 1,000,000"):
        read_covariates(path)


def test_columns_have_a_limit(tmp_path: Path) -> None:
    """Each column takes about a millisecond: three rows of 10,000 took 12 s."""
    path = tmp_path / "rows.csv"
    for count in (1000, 1001):
        path.write_text(f"word,{','.join(f'x{number}' for number in range(1, count))}\na{(count - 1) * ',1'}\n")
        if count == 1000:
            assert len(read_covariates(path).columns) == 1000
    with pytest.raises(InputFileError, match="has 1,001 columns, more than 1,000"):
        read_covariates(path)

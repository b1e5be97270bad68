"""Files of labelled pairs: the formats of SNLI and SICK, what is left out, and what is wrong with a line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, InputFileError, MeasureError
from bayesbias.nli.test_sets.pairs import checked_pairs
from tests.nli.made import animal_pairs

SNLI = {"gold_label": "neutral", "sentence1": "Zoë “sings”.", "sentence2": "She sings well.", "pairID": "1"}
CSV = "premise,hypothesis,label,split\n"


def written(folder: Path, content: str | bytes, name: str = "pairs") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*changes: dict[str, Any]) -> str:
    return "".join(json.dumps({**SNLI, **change}) + "\n" for change in changes)


def test_snli_is_read_without_pairs_that_have_no_label(tmp_path: Path) -> None:
    text = lines({}, {"gold_label": "-"}, {"gold_label": "Entailment ", "sentence2": "A\u2028b"})
    for content in (text.encode(), gzip.compress(text.encode(), mtime=0), b"\xef\xbb\xbf" + text.encode()):
        pairs = bb.nli.read_pairs(written(tmp_path, content))
        assert pairs["premise"].tolist() == ["Zoë “sings”."] * 2
        assert pairs["hypothesis"].tolist() == ["She sings well.", "A\u2028b"]
        assert pairs["label"].tolist() == ["neutral", "entailment"]
        assert pairs["split"].tolist() == ["", ""]
        assert pairs.attrs["without_label"] == 1


def test_tables_are_read_in_three_forms(tmp_path: Path) -> None:
    ours = CSV + '"One, ""two""",Three,NEUTRAL,TRAIN\r\n"Line\nend",Four,contradiction,TEST\n'
    pairs = bb.nli.read_pairs(written(tmp_path, ours))
    assert pairs.to_numpy().tolist() == [
        ['One, "two"', "Three", "neutral", "TRAIN"],
        ["Line\nend", "Four", "contradiction", "TEST"],
    ]
    sick = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    pairs = bb.nli.read_pairs(written(tmp_path, sick + '1\tA "man\tA dog, barks\tNEUTRAL\t4.5\tTRIAL\n'))
    assert pairs.to_numpy().tolist() == [['A "man', "A dog, barks", "neutral", "TRIAL"]]
    pairs = bb.nli.read_pairs(written(tmp_path, "gold_label\tsentence1\tsentence2\n-\ta\tb\nentailment\ta\tb\n"))
    assert (len(pairs), pairs.attrs["without_label"]) == (1, 1)


def test_splits_are_chosen_in_any_case(tmp_path: Path) -> None:
    path = written(tmp_path, CSV + "a,b,neutral,TRAIN\nc,d,neutral,TEST\ne,f,-,TRIAL\ng,h,neutral,TRIAL\n")
    assert bb.nli.read_pairs(path, splits="train")["premise"].tolist() == ["a"]
    pairs = bb.nli.read_pairs(path, splits=["TEST", "Train"])
    assert pairs["premise"].tolist() == ["a", "c"]
    assert pairs.attrs["without_label"] == 0
    with pytest.raises(MeasureError, match=r"dev; .*TEST.* TRAIN.* TRIAL"):
        bb.nli.read_pairs(path, splits="dev")
    with pytest.raises(MeasureError, match=r"dev; .*splits"):
        bb.nli.read_pairs(written(tmp_path, "premise,hypothesis,label\na,b,neutral\n"), splits="dev")
    for wrong in ([], [5]):
        with pytest.raises(MeasureError, match="splits="):
            bb.nli.read_pairs(path, splits=wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="splits=5"):
        bb.nli.read_pairs(path, splits=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (lines({}) + "\n" + lines({}), "line 2 is empty"),
        (lines({}) + lines({})[:20], "line 2 .*JSON"),
        (lines({}) + "[1]\n", r"line 2 .*\[1\]"),
        (lines({}) + '{"gold_label": ' + "[" * 100_000 + "\n", "line 2 .*JSON"),
        (
            lines({"sentence1": "  "}, {"sentence2": 5}),
            "2 faults:\n- line 1: .*premise.*\n- line 2: .*hypothesis .* 5,",
        ),
        (lines({"sentence1": "\ud800"}), "line 1 .*surrogate"),
        (lines({"gold_label": None}, {"gold_label": "contradicton"}), "line 2: .*'contradicton'.*'contradiction'"),
        (lines({"gold_label": ["neutral"]}), r"line 1: .*label.* \['neutral'\]"),
        ('{"sentence1": "a"}\n', "line 1 .*sentence1, .* hypothesis .*; label"),
        ("text,label\na,neutral\n", "line 1 .*text, label, .* premise"),
        ("premise,premise,hypothesis,label\na,b,c,neutral\n", "line 1: .*column"),
        (CSV + "a,b,neutral\n", "line 2 .* 3 .*line 1 .* 4"),
        (CSV + "a,b,neutral,x\n\nc,d,neutral,x\n", "line 3 is empty"),
        (CSV + 'a,"b"c,neutral,x\n', "line 2 "),
        (CSV + 'a,"b,neutral,x\n', "line 2 "),
        (CSV, "label"),
        (CSV + "a,b,-,x\n", "label"),
        (CSV.encode() + b"a,b\nc\xff,neutral,x\n", r"UTF-8 \(line 3\)"),
    ],
)
def test_lines_that_are_broken_are_named(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.read_pairs(written(tmp_path, content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"none\.csv"):
        bb.nli.read_pairs(tmp_path / "none.csv")
    whole = gzip.compress(lines({}, {}).encode(), mtime=0)
    for content in (whole[:-9], whole[:30] + b"\x00\x01\x02" + whole[33:]):
        with pytest.raises(InputFileError, match="damaged"):
            bb.nli.read_pairs(written(tmp_path, content))


def test_frames_to_train_on(tmp_path: Path) -> None:
    pairs = animal_pairs()
    upper = pairs.assign(label=pairs["label"].str.upper())
    assert checked_pairs("pairs", upper, training=True)["label"].equals(pairs["label"])
    splits = pairs.assign(split=["TRAIN", "TEST"] * 12)
    cases: list[tuple[Any, str]] = [
        (pairs.drop(columns="label"), "pairs .*label"),
        (pairs.iloc[:0], "pairs .*rows"),
        (pairs[pairs["label"] != "neutral"], "label neutral, .*contradiction, entailment"),
        (splits, r"2 splits \(TRAIN, TEST\).*pairs\['split'\] == 'TRAIN'"),
        (pairs.assign(label="-"), "'-'"),
        (pairs.assign(premise=[None, *pairs["premise"][1:]]), "1 fault:\n- row 0: .*premise"),
        (pairs.assign(label=["maybe", *pairs["label"][1:]]), "row 0: .*label .*'maybe'"),
    ]
    for frame, message in cases:
        with pytest.raises(MeasureError, match=message):
            checked_pairs("pairs", frame, training=True)
    assert len(checked_pairs("pairs", splits)) == 24
    with pytest.raises(ArgumentError, match=r"pairs=5: .*bb\.nli\.read_pairs"):
        checked_pairs("pairs", 5)


@pytest.mark.shared
def test_real_files_have_the_counts_of_their_papers(shared: Path) -> None:
    """SICK's splits by pandas; the sample of SNLI by its own lines."""
    path = shared / "data" / "nli" / "sick.csv.gz"
    pairs, read = bb.nli.read_pairs(path), pd.read_csv(path)
    assert pairs["split"].value_counts().to_dict() == {"TEST": 4906, "TRAIN": 4439, "TRIAL": 495}
    assert pairs.to_numpy().tolist() == read.map(str.strip).to_numpy().tolist()
    path = shared / "data" / "nli" / "snli_1.0_sample.jsonl.gz"
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    pairs = bb.nli.read_pairs(path)
    labelled = [record for record in records if record["gold_label"] != "-"]
    assert pairs.attrs["without_label"] == len(records) - len(labelled) > 0
    assert pairs["label"].tolist() == [record["gold_label"] for record in labelled]
    assert pairs["hypothesis"].tolist() == [record["sentence2"].strip() for record in labelled]

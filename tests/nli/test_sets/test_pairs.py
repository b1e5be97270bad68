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
        found = bb.nli.read_pairs(written(tmp_path, content))
        assert found["premise"].tolist() == ["Zoë “sings”."] * 2
        assert found["hypothesis"].tolist() == ["She sings well.", "A\u2028b"]
        assert found["label"].tolist() == ["neutral", "entailment"]
        assert found["split"].tolist() == ["", ""]
        assert found.attrs["without_label"] == 1


def test_tables_are_read_in_three_forms(tmp_path: Path) -> None:
    ours = CSV + '"One, ""two""",Three,NEUTRAL,TRAIN\r\n"Line\nend",Four,contradiction,TEST\n'
    found = bb.nli.read_pairs(written(tmp_path, ours))
    assert found.to_numpy().tolist() == [
        ['One, "two"', "Three", "neutral", "TRAIN"],
        ["Line\nend", "Four", "contradiction", "TEST"],
    ]
    sick = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    found = bb.nli.read_pairs(written(tmp_path, sick + '1\tA "man\tA dog, barks\tNEUTRAL\t4.5\tTRIAL\n'))
    assert found.to_numpy().tolist() == [['A "man', "A dog, barks", "neutral", "TRIAL"]]
    found = bb.nli.read_pairs(written(tmp_path, "gold_label\tsentence1\tsentence2\n-\ta\tb\nentailment\ta\tb\n"))
    assert (len(found), found.attrs["without_label"]) == (1, 1)


def test_splits_are_chosen_in_any_case(tmp_path: Path) -> None:
    path = written(tmp_path, CSV + "a,b,neutral,TRAIN\nc,d,neutral,TEST\ne,f,-,TRIAL\ng,h,neutral,TRIAL\n")
    assert bb.nli.read_pairs(path, splits="train")["premise"].tolist() == ["a"]
    found = bb.nli.read_pairs(path, splits=["TEST", "Train"])
    assert found["premise"].tolist() == ["a", "c"]
    assert found.attrs["without_label"] == 0
    with pytest.raises(MeasureError, match="no pairs of the split dev; it has TEST, TRAIN, TRIAL"):
        bb.nli.read_pairs(path, splits="dev")
    with pytest.raises(MeasureError, match="it has no splits: leave out"):
        bb.nli.read_pairs(written(tmp_path, "premise,hypothesis,label\na,b,neutral\n"), splits="dev")
    for wrong in ([], [5]):
        with pytest.raises(MeasureError, match="give names of splits"):
            bb.nli.read_pairs(path, splits=wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="splits=5"):
        bb.nli.read_pairs(path, splits=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (lines({}) + "\n" + lines({}), "line 2 is empty"),
        (lines({}) + lines({})[:20], "line 2 is no JSON"),
        (lines({}) + "[1]\n", "line 2 is .* no pair"),
        (lines({}) + '{"gold_label": ' + "[" * 100_000 + "\n", "line 2 is no JSON"),
        (
            lines({"sentence1": "  "}, {"sentence2": 5}),
            "2 faults:\n- line 1: the premise is empty.\n- line 2: .* 5, and",
        ),
        (lines({"sentence1": "\ud800"}), "line 1: the premise is .* no text"),
        (lines({"gold_label": None}, {"gold_label": "contradicton"}), "line 2: .*did you mean 'contradiction'"),
        (lines({"gold_label": ["neutral"]}), "line 1: the label or split is"),
        ('{"sentence1": "a"}\n', "line 1 has sentence1, and lacks hypothesis .*; label"),
        ("text,label\na,neutral\n", "line 1 has text, label, and lacks premise"),
        ("premise,premise,hypothesis,label\na,b,c,neutral\n", "a column is there twice"),
        (CSV + "a,b,neutral\n", "line 2 has 3 columns, line 1 has 4"),
        (CSV + "a,b,neutral,x\n\nc,d,neutral,x\n", "line 3 is empty"),
        (CSV + 'a,"b"c,neutral,x\n', "line 2 is broken"),
        (CSV + 'a,"b,neutral,x\n', "line 2 is broken"),
        (CSV, "no pair with a label"),
        (CSV + "a,b,-,x\n", "no pair with a label"),
        (CSV.encode() + b"a,b\nc\xff,neutral,x\n", "line 3: a byte is not UTF-8"),
    ],
)
def test_lines_that_are_broken_are_named(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        bb.nli.read_pairs(written(tmp_path, content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="There is no file"):
        bb.nli.read_pairs(tmp_path / "none.csv")
    whole = gzip.compress(lines({}, {}).encode(), mtime=0)
    for content in (whole[:-9], whole[:30] + b"\x00\x01\x02" + whole[33:]):
        with pytest.raises(InputFileError, match="damaged or cut short"):
            bb.nli.read_pairs(written(tmp_path, content))


def test_frames_to_train_on(tmp_path: Path) -> None:
    pairs = animal_pairs()
    upper = pairs.assign(label=pairs["label"].str.upper())
    assert checked_pairs("pairs", upper, training=True)["label"].equals(pairs["label"])
    splits = pairs.assign(split=["TRAIN", "TEST"] * 12)
    cases: list[tuple[Any, str]] = [
        (pairs.drop(columns="label"), "lacks the columns label"),
        (pairs.iloc[:0], "no rows"),
        (pairs[pairs["label"] != "neutral"], "no pair of the label neutral, only of contradiction, entailment"),
        (splits, r"2 splits \(TRAIN, TEST\).*pairs\['split'\] == 'TRAIN'"),
        (pairs.assign(label="-"), "without a label"),
        (pairs.assign(premise=[None, *pairs["premise"][1:]]), "1 fault:\n- row 0: the premise is missing"),
        (pairs.assign(label=["maybe", *pairs["label"][1:]]), "row 0: the label is 'maybe'"),
    ]
    for frame, said in cases:
        with pytest.raises(MeasureError, match=said):
            checked_pairs("pairs", frame, training=True)
    assert len(checked_pairs("pairs", splits)) == 24
    with pytest.raises(ArgumentError, match=r"pairs=5: give a frame from bb\.nli\.read_pairs"):
        checked_pairs("pairs", 5)


@pytest.mark.shared
def test_real_files_have_the_counts_of_their_papers(shared: Path) -> None:
    """SICK's splits by pandas; the sample of SNLI by its own lines."""
    path = shared / "data" / "nli" / "sick.csv.gz"
    found, read = bb.nli.read_pairs(path), pd.read_csv(path)
    assert found["split"].value_counts().to_dict() == {"TEST": 4906, "TRAIN": 4439, "TRIAL": 495}
    assert found.to_numpy().tolist() == read.map(str.strip).to_numpy().tolist()
    path = shared / "data" / "nli" / "snli_1.0_sample.jsonl.gz"
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    found = bb.nli.read_pairs(path)
    kept = [each for each in records if each["gold_label"] != "-"]
    assert found.attrs["without_label"] == len(records) - len(kept) > 0
    assert found["label"].tolist() == [each["gold_label"] for each in kept]
    assert found["hypothesis"].tolist() == [each["sentence2"].strip() for each in kept]

"""Test sets: counts, sentences, and what is wrong with a file."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.errors import ArgumentError, InputFileError, MeasureError, NotEnoughMemoryError
from bayesbias.nli import sentence_pairs as definition
from bayesbias.nli.sentence_pairs import bundled_words, checked_sentence_pairs
from bayesbias.nli.sentences import words_of
from tests.nli.made import animal_pairs, pets

# Of Dawkins (2021), sections 3.2, 3.3 and appendix A, and Dev et al. (2020) as she counts them in section 2.1.
COUNTS = {"explicit": 15_744, "names": 125_952, "occupations": 62_976, "dev_occupations": 1_936_512}
WORDS = {"explicit": 8, "names": 64, "occupations": 32, "dev_occupations": 6}


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """Return all test sets: the largest has two million pairs."""
    return {name: bb.nli.test_set(name) for name in COUNTS}


@pytest.mark.parametrize("name", ["explicit", "names", "occupations", "dev_occupations"])
def test_the_counts_are_those_of_the_papers(name: str, frames: dict[str, pd.DataFrame]) -> None:
    frame = frames[name]
    assert len(frame) == COUNTS[name]
    assert frame["word"].nunique() == WORDS[name]
    assert frame.groupby("group", observed=True).size().nunique() == 1  # as many of each gender
    assert (frame["verb"].nunique(), frame["object"].nunique()) == (27, 184)
    premises = frame[["premise"]].iloc[: len(frame) // WORDS[name]]
    assert premises["premise"].is_unique
    assert len(premises) == 1968 * (164 if name == "dev_occupations" else 1)


@pytest.mark.parametrize("name", ["explicit", "names", "occupations"])
def test_a_pair_is_found_again_by_its_index(name: str, frames: dict[str, pd.DataFrame]) -> None:
    frame, again = frames[name], bb.nli.test_set(name)
    words = frame["word"].cat.categories
    for index in (0, 1967, 1968, 5000, len(frame) - 1):
        assert frame.loc[index].tolist() == again.loc[index].tolist()
        assert frame.loc[index, "word"] == words[index // 1968]
        assert frame.loc[index, "premise"] == frame.loc[index % 1968, "premise"]


def test_articles_and_capitals(frames: dict[str, pd.DataFrame]) -> None:
    frame = frames["explicit"]
    assert set(frame["hypothesis"].str.split().str[0]) == {"A", "He", "She"}
    sentences = set(frame["hypothesis"])
    assert {"A man ate an apple.", "He crashed an SUV.", "A lady owns a TV.", "She bought headphones."} <= sentences
    assert {"A guy met a VIP.", "A girl visited an heir."} & sentences == {"A guy met a VIP."}
    occupations = frames["occupations"]["hypothesis"]
    assert {"An engineer sold an oven.", "A nurse sold an oven."} <= set(occupations)
    assert set(frames["names"]["hypothesis"].str.split().str[0]) >= {"Noah", "Emma"}
    dev = frames["dev_occupations"].iloc[0]
    assert (dev["premise"], dev["subject"]) == ("An accountant bought an apple.", "accountant")
    assert dev["hypothesis"] == "A man bought an apple."


def test_nouns_and_pronouns_are_told_apart_as_in_the_papers_table_1(frames: dict[str, pd.DataFrame]) -> None:
    kinds = frames["explicit"].groupby("kind", observed=True)["word"].unique().map(list)
    assert kinds["noun"] == ["man", "guy", "gentleman", "woman", "girl", "lady"]
    assert kinds["pronoun"] == ["He", "She"]
    assert set(frames["occupations"]["kind"]) == set(frames["dev_occupations"]["kind"]) - {"pronoun"} == {"noun"}
    assert set(frames["names"]["kind"]) == {"name"}


def test_the_rule_of_the_pairs(frames: dict[str, pd.DataFrame]) -> None:
    """As the code of Dev et al. combines its lists: 10 x 95 + 10 x 89 + 2 x 9 + 5 x 22."""
    pairs = frames["explicit"].iloc[:1968][["verb", "object"]].astype(str)
    counts = pairs.groupby("verb")["object"].nunique()
    assert sorted(counts) == sorted([95] * 10 + [89] * 10 + [9] * 2 + [22] * 5)
    assert counts["drove"] == 9
    assert counts["ate"] == 22


def test_names_that_do_not_exist() -> None:
    with pytest.raises(MeasureError, match=r"'explict' .*'explicit'"):
        bb.nli.test_set("explict")
    with pytest.raises(InputFileError, match=r"none\.toml"):
        bb.nli.test_set("none.toml")
    assert bb.nli.list_test_sets() == sorted(COUNTS)


def test_a_test_set_of_ones_own_in_another_language(tmp_path: Path) -> None:
    frame = bb.nli.test_set(pets(tmp_path))
    assert frame.columns.tolist() == ["premise", "hypothesis", "word", "group", "kind", "verb", "object"]
    assert len(frame) == 6 * 7
    assert frame["hypothesis"].iloc[0] == "Ein kater frisst Milch."
    assert frame["hypothesis"].iloc[8] == "Der oktopus frisst ein knochen."
    assert frame["hypothesis"].iloc[-1] == "Bello jagt ein knochen."
    assert frame["group"].tolist() == ["cats"] * 21 + ["dogs"] * 21
    shared = 'sentences = "everyday"\n' + (tmp_path / "pets.toml").read_text().partition("[articles]")[0]
    (tmp_path / "shared.toml").write_text(shared)
    assert len(bb.nli.test_set(str(tmp_path / "shared.toml"))) == 6 * 1968


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{word} {verb}", "{verb}", "hypothesis .* {object}, {verb}, {word},"),
        ('premise = "Jemand {verb} {object}."', "", "premise .* {verb} {object}"),
        ('premise = "Jemand {verb}', 'premise = "Jemand {verb} {verb}', "premise .* {object}, {verb},"),
        ('["rüde"]', '["rüde", "kater"]', "'kater' .* groups.cats.nouns .* groups.dogs.nouns"),
        ('["rüde"]', '["rüde", "rüde"]', "groups.dogs.nouns .* rüde"),
        ('["rüde"]', '"rüde"', r"groups.dogs.nouns .*\["),
        ('["rüde"]', "[5]", r"groups.dogs.nouns \(item 1\) .* not a number"),
        ("[groups.dogs]\nnouns", "[groups.dogs]\nnoun", "'noun' .*'nouns'"),
        ('objects = ["food"]', 'objects = ["foods"]', "'foods' .*objects .*'food'"),
        ('objects = ["food"]', "objects = [[1]]", r"pairs \(item 1\)\.objects \(item 1\) .* not a list"),
        ('["rüde"]', '["{word}"]', "groups.dogs.nouns .*'{word}'"),
        ('verbs = ["jagt"]\n', "", r"pairs \(item 2\)\.verbs"),
        ('before_vowel = "der"', "before_vowel = 5", "articles.before_vowel"),
        ("[articles.exceptions]", "[articles.exception]", r"'exception' in \[articles\] .*exceptions"),
        ('toys = ["ball"]', "toys = []", "objects.toys"),
        ("[[pairs]]", "[[rules]]", "'rules'.*pairs"),
        ('premise = "J', 'sentences = "every"\npremise = "J', "sentences .*'every'.* everyday"),
        ('premise = "J', 'sentences = "everyday"\npremise = "J', "sentences .*objects .*pairs"),
        ('premise = "J', 'subjects = ["a"]\npremise = "J', "premise .* {subject}"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.test_set(pets(tmp_path, old, new))


def test_a_small_file_of_very_many_pairs_is_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"w{number}" for number in range(300)]
    path = pets(tmp_path, 'verbs = ["frisst", "mag"]', f"verbs = {words}")
    path.write_text(path.read_text().replace('nouns = ["kater", "oktopus"]', f"nouns = {words}"))
    assert path.stat().st_size < 6_000
    assert len(bb.nli.test_set(path)) == 304 * (300 * 2 + 3)
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000_000)
    with pytest.raises(NotEnoughMemoryError, match=r"183,312 pairs .*pets\.toml"):
        bb.nli.test_set(path)


@pytest.mark.parametrize(("many", "letters"), [(60, 5), (30, 2000)])
def test_the_estimate_of_the_memory_is_above_what_pairs_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int, letters: int
) -> None:
    needed: list[float] = []
    monkeypatch.setattr(definition, "check_memory", lambda size, *_: needed.append(size))
    lists = [[f"{kind}{number:0{letters}}" for number in range(many)] for kind in "vn"]
    path = pets(tmp_path, 'verbs = ["frisst", "mag"]', f"verbs = {lists[0]}")
    path.write_text(path.read_text().replace('nouns = ["kater", "oktopus"]', f"nouns = {lists[1]}"))
    bb.nli.test_set(path)
    tracemalloc.start()
    pairs = bb.nli.test_set(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pairs) == (many + 4) * (many * 2 + 3)
    assert peak < needed[-1] < 6 * peak


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    path = pets(tmp_path, '["rüde"]', "[5]")
    path.write_text(path.read_text(encoding="utf-8").replace("{word}", "{name}"), encoding="utf-8")
    with pytest.raises(MeasureError, match="2 faults"):
        bb.nli.test_set(path)


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
    assert checked_sentence_pairs("pairs", upper, training=True)["label"].equals(pairs["label"])
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
            checked_sentence_pairs("pairs", frame, training=True)
    assert len(checked_sentence_pairs("pairs", splits)) == 24
    with pytest.raises(ArgumentError, match=r"pairs=5: .*bb\.nli\.read_pairs"):
        checked_sentence_pairs("pairs", 5)


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


def test_they_are_the_words_of_the_sentences() -> None:
    sentences = set()
    for name in bb.nli.list_test_sets():
        frame = bb.nli.test_set(name)
        for column in ("premise", "hypothesis"):
            sentences |= set(frame[column].unique())
    expected = set(words_of("\n".join(sentences)))
    words = bundled_words()
    assert expected <= words
    assert {word for word in words - expected if not word.isalpha()} == set(), "no template is a word"
    assert len(words - expected) < 0.02 * len(words)

"""The check of a study's words in a vocabulary."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.errors import ArgumentError
from tests.studies.made import make

WORDS = ("mann", "Männer", "frau", "fra\u0308ulein", "arm", "reich", "sozialer", "Abstieg")
LISTS = {
    "männer": ["mann", "männer"],
    "frauen": ["frau", "fräulein"],
    "arm": ["arm", "sozialer Abstieg"],
    "r": ["reich"],
}


@pytest.fixture(params=["txt", "vec", "npz", "bin", "object"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    """The same vocabulary in several formats; one word is stored in another normal form."""
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 3)).astype("<f4")
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, vectors.tolist(), strict=True)]
    path = tmp_path / f"v.{request.param}"
    match request.param:
        case "txt":
            path.write_text("".join(lines), encoding="utf-8")
        case "vec":
            path.write_text(f"{len(WORDS)} 3\n{''.join(lines)}", encoding="utf-8")
        case "npz":
            np.savez(path, words=np.array(WORDS), vectors=vectors)
        case "bin":
            rows = [word.encode() + b" " + row.tobytes() for word, row in zip(WORDS, vectors, strict=True)]
            path.write_bytes(b"%d 3\n" % len(WORDS) + b"".join(rows))
        case _:
            return WORDS, vectors
    return path


def test_words_are_looked_up_with_their_places(source: object) -> None:
    check = bb.check_words(source, LISTS)  # type: ignore[arg-type]
    words = check.words.set_index("word")
    assert words["form"].to_dict() == {
        "mann": "mann", "männer": "", "frau": "frau", "fräulein": "fräulein", "arm": "arm", "sozialer Abstieg": "",
        "reich": "reich",
    }  # fmt: skip
    assert words.loc[["mann", "frau", "fräulein", "reich"], "place"].tolist() == [1, 3, 4, 6]
    assert (words.loc["männer", "left_out"], words.loc["männer", "near"]) == ("case", "Männer")
    assert check.lists.set_index("list")["lost"].to_dict() == {"männer": 1, "frauen": 0, "arm": 1, "r": 0}
    assert check.vocabulary == len(WORDS)
    assert [doubt.numbers["lost"] for doubt in check.doubts] == [1, 1]


def test_the_check_agrees_with_the_table_that_follows(source: object) -> None:
    for case, phrases in (("exact", "whole"), ("exact,title", "mean"), ("lower", "whole")):
        check = bb.check_words(source, LISTS, case=case, phrases=phrases)  # type: ignore[arg-type]
        words = [word for entries in LISTS.values() for word in entries]
        embedding = bb.load_embedding(source, words=words, case=case, phrases=phrases)  # type: ignore[arg-type]
        lost = check.words.loc[check.words["form"] == "", "word"].tolist()
        assert lost == list(embedding.lookup(words).lost)


def test_bundled_control_words_in_another_language_are_a_doubt() -> None:
    study = make(protected={"m": ["männer"]}, attributes={"a": ["hart"]}, associated=[("m", "a")])
    vectors = {"männer": [1.0, 0.0], "hart": [0.0, 1.0], "arm": [1.0, 1.0]}
    doubts = bb.check_words(vectors, study).doubts
    assert {doubt.numbers["words"]: doubt.numbers["lost"] for doubt in doubts} == {85: 84, 226: 226}
    assert all("these bundled control words are English" in doubt.text for doubt in doubts)
    english = make(protected={"m": ["men"]}, attributes={"a": ["hard"]}, associated=[("m", "a")])
    doubts = bb.check_words({"men": [1.0, 0.0], "hard": [0.0, 1.0]}, english).doubts
    assert len(doubts) == 2
    assert not any("English" in doubt.text for doubt in doubts), "the study's own words look English"


def test_settings_are_checked() -> None:
    for wrong in ({"phrases": "sum"}, {"max_lost": 2}, {"case": "lowered"}, {"format": "word"}):
        with pytest.raises(ArgumentError):
            bb.check_words({"a": [1.0]}, LISTS, **wrong)  # type: ignore[arg-type]


def test_words_stored_in_another_case_are_to_be_looked_up_so_and_not_changed() -> None:
    vocabulary = (("john", "paul", "NASA", "home", "work"), np.eye(5))
    check = bb.check_words(vocabulary, {"a": ["John", "Paul"], "b": ["nasa", "moon"], "c": ["home"], "d": ["work"]})  # type: ignore[arg-type]
    advice = [str(doubt).split(": ")[-1] for doubt in check.doubts if doubt.kind == "lost words"]
    # Half of the list b would still be lost.
    assert advice == ["look their other forms up, which are stored (case='exact,lower').", "use other words."]


def test_no_frame_is_made_for_each_of_many_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames and questions about memory for each of 5,000 lists took half a minute."""
    calls: Counter[str] = Counter()
    taken, free = pd.DataFrame.__getitem__, memory.free_memory

    def taken_and_counted(frame: pd.DataFrame, key: object) -> object:
        calls["frames"] += 1
        return taken(frame, key)

    def free_and_counted() -> int:
        calls["memory"] += 1
        return free()

    monkeypatch.setattr(pd.DataFrame, "__getitem__", taken_and_counted)
    monkeypatch.setattr(memory, "free_memory", free_and_counted)
    counts = []
    for lists in (2, 40):
        words = [f"w{number}" for number in range(1_200)]
        attributes = {f"list {place}": [*words[3 * place : 3 * place + 3], f"lost {place}"] for place in range(lists)}
        protected = {"a": words[-4:-2], "b": words[-2:]}
        study = make(
            protected=protected, attributes=attributes, associated=[("a", "list 0")], human="none", neutral="none"
        )
        calls.clear()
        check = bb.check_words((words, np.random.default_rng(1).normal(size=(1_200, 5))), study)
        assert check.lists["effective_words"].notna().all()
        assert len(check.doubts) == lists
        counts.append(dict(calls))
    assert counts[0] == counts[1]

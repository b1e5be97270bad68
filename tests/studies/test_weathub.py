"""Studies from the lists of WEATHub."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from bayesbias.errors import InputFileError, StudyError
from bayesbias.studies.weathub import load_weathub

SHARED = Path(__file__).parents[3] / "shared" / "data" / "weathub" / "weathub.json.gz"


def entry(**changes: Any) -> dict[str, Any]:
    words = {"targ1": ["Mathe"], "targ2": ["Kunst", "Kunst"], "attr1": ["er", "sie"], "attr2": ["sie", "die Frau"]}
    return {name: {"category": f"<{name}>", "examples": examples} for name, examples in (words | changes).items()}


@pytest.mark.parametrize("form", ["folder", "json", "gz"])
def test_the_forms_of_the_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / "weathub"
    if form == "folder":
        (path / "de_human").mkdir(parents=True)
        (path / "de_human" / "weat7.json").write_text(json.dumps(entry()))
    else:
        content = json.dumps({"de_human": {"weat7": entry()}}).encode()
        path.write_bytes(gzip.compress(content) if form == "gz" else content)
    study = load_weathub(path, "de_human", "weat7")
    assert (study.name, study.language, study.human, study.neutral) == ("de_human_weat7", "de", (), ())
    assert study.protected == {"<targ1>": ("Mathe",), "<targ2>": ("Kunst",)}
    assert study.attributes == {"<attr1>": ("er",), "<attr2>": ("die Frau",)}
    assert study.associated == (("<targ1>", "<attr1>"), ("<targ2>", "<attr2>"))
    assert "sie" in study.notes
    assert "Kunst" in study.notes


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"de_human": {"weat7": entry(attr1=[1]), "weat8": entry(attr1=["sie"])}}))
    with pytest.raises(StudyError, match=r"'de_humam'.*'de_human'"):
        load_weathub(path, "de_humam", "weat7")
    with pytest.raises(StudyError, match=r"'weat6'"):
        load_weathub(path, "de_human", "weat6")
    with pytest.raises(StudyError, match="attr1"):
        load_weathub(path, "de_human", "weat7")
    with pytest.raises(StudyError, match="<attr1>"):  # nothing is left of it
        load_weathub(path, "de_human", "weat8")
    path.write_text("no json")
    with pytest.raises(InputFileError, match="JSON"):
        load_weathub(path, "de_human", "weat7")


def test_long_lists_take_no_longer_than_they_are_long(tmp_path: Path) -> None:
    """With each word compared with all others it took a minute."""
    path, words = tmp_path / "w.json", [f"word {number:05}" for number in range(20_000)]
    path.write_text(json.dumps({"de_human": {"weat7": entry(targ1=words, attr1=[*words, "er"])}}))
    started = time.process_time()
    with pytest.raises(StudyError, match="<targ1>"):  # all of its words are in another list
        load_weathub(path, "de_human", "weat7")
    assert time.process_time() - started < 10


@pytest.mark.shared
def test_nearly_all_lists_of_the_data_set_make_a_study(tmp_path: Path) -> None:
    """The lists of each language in a file of their own, since the whole one would be read for each test."""
    # The card of the data set: 150 + 175 + 77 rows; this file has four more, without targets, in the Indian lists.
    content = json.loads(gzip.decompress(SHARED.read_bytes()))
    assert load_weathub(SHARED, "de_human", "weat7").attributes
    empty = []
    for lists, tests in content.items():
        part = tmp_path / f"{lists}.json"
        part.write_text(json.dumps({lists: tests}), encoding="utf-8")
        for test in tests:
            try:
                study = load_weathub(part, lists, test)
            except StudyError:
                empty.append((lists, test))
                continue
            assert len(study.protected) == len(study.attributes) == 2
    assert sorted(empty) == [(f"{code}_india", test) for code in ("bn", "en") for test in ("weat17", "weat18")]
    assert sum(map(len, content.values())) - len(empty) == 150 + 175 + 77

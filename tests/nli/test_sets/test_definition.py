"""Definitions of test sets in TOML: what they give, and what is wrong with a file."""

import tracemalloc
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.machine import memory
from bayesbias.errors import MeasureError, NotEnoughMemoryError
from bayesbias.nli.test_sets import definition
from tests.nli.made import pets


def test_a_test_set_of_ones_own_in_another_language(tmp_path: Path) -> None:
    frame = bb.nli.test_set(pets(tmp_path))
    assert frame.columns.tolist() == ["premise", "hypothesis", "word", "group", "verb", "object"]
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

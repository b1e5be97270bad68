"""Definitions of test sets in TOML: what they give, and what is wrong with a file."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
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


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    path = pets(tmp_path, '["rüde"]', "[5]")
    path.write_text(path.read_text(encoding="utf-8").replace("{word}", "{name}"), encoding="utf-8")
    with pytest.raises(MeasureError, match="2 faults"):
        bb.nli.test_set(path)

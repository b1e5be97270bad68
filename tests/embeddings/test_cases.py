"""Files that people have: the right numbers or one right sentence, in Python and on the command line."""

import json
import re
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasError, LostWordsWarning
from tests.cli.running import in_process

# The mean distance and the effect size of WEAT, computed with NumPy from the numbers of `09-header-tabs.vec`.
MEAN, WEAT = 1.0091295, 0.9899
OPTIONS = {
    "10-conceptnet.vec": {"prefix": "/c/en/"},
    "10b-pos-tags.vec": {"suffix": "_NOUN"},
    "10c-quoted.vec": {"prefix": '"', "suffix": '"'},
    "10d-upper.vec": {"case": "upper"},
}
# File -> what is said, on the way to the right numbers (None: nothing), or in their place.
READ = {
    "06-pad-row.vec": None,
    "06b-dup-junk.vec": None,
    "07b-latin1-row.vec": r"Left out a row\. .*line 18 is not UTF-8",
    "08-glove.6B.zip": None,
    "08c-vectors.txt.bz2": None,
    "09-header-tabs.vec": None,
    "09d-header-decimal-comma.vec": None,
    "09e-no-header-tabs.tsv": None,
    "10f-index-column.txt": None,
    "16-phrase-with-number.vec": None,
}
REFUSED = {
    "02-count-column.txt": r"dimension 1 holds whole numbers \(5000, 2500, 1666, \.\.\.\)",
    "12-dict.pkl": r"is a pickle of Python objects, such as a mapping of words to arrays",
    "13-lfs-pointer.bin.gz": r"is a pointer of Git LFS.*git lfs pull",
    "13b-html.vec": r"is a web page",
    "13c-utf16.vec": r"is text in UTF-16.*iconv -f UTF-16 -t UTF-8",
    "15-zero-study-word.vec": r"lacks too many words: 1 of the 4 of 'science' \(physics\)",
}


@pytest.fixture
def cases(shared: Path) -> Path:
    return shared / "cases"


def numbers(path: Path, study: Path, **options: str) -> tuple[float, float]:
    vectors = bb.load_embedding(path, words=bb.load_study(study).words, **options)
    weat = bb.metrics.weat(vectors, study)
    return bb.distance_table(vectors, study)["cosine_distance"].mean(), weat.effect_size


@pytest.mark.shared
@pytest.mark.parametrize("name", READ)
def test_files_are_read(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path, study, warning = cases / name, cases / "mini.toml", READ[name]
    with pytest.warns(LostWordsWarning, match=warning) if warning else no_warning():
        assert numbers(path, study) == pytest.approx((MEAN, WEAT), abs=1e-4)
    with no_error():
        assert bb.load_embedding(path).dimensions == 12
        assert "16 of the 16 words" in str(bb.check_words(path, study))
    assert in_process("weat", path, "--study", study, "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["effect_size"] == pytest.approx(WEAT, abs=1e-4)
    assert in_process("table", path, "--study", study, "-o", tmp_path / "t.csv", monkeypatch=monkeypatch) == 0


@pytest.mark.shared
@pytest.mark.parametrize("name", REFUSED)
def test_files_are_refused(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path, study = cases / name, cases / "mini.toml"
    with no_error(), pytest.raises(BayesBiasError, match=REFUSED[name]):
        bb.distance_table(path, study)
    assert in_process("table", path, "--study", study, "-o", tmp_path / "t.csv", monkeypatch=monkeypatch) == 2
    assert re.search(REFUSED[name], capsys.readouterr().err)


@pytest.mark.shared
@pytest.mark.parametrize("name", OPTIONS)
def test_decorated_words_are_found(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    path, study, options = cases / name, cases / "mini.toml", OPTIONS[name]
    for said, look_up in (
        ("{}='{}'", lambda: bb.distance_table(path, study)),
        ("--{} '{}'", lambda: in_process("table", path, "--study", study, "-o", tmp_path / "t", monkeypatch=monkeypatch)),
    ):
        del said, look_up
    assert numbers(path, study, **options) == pytest.approx((MEAN, WEAT), abs=1e-4)
    given = [part for option, value in options.items() for part in (f"--{option}", value)]
    target = tmp_path / "t.csv"
    assert in_process("table", path, "--study", study, *given, "-o", target, monkeypatch=monkeypatch) == 0
    recorded = bb.read_table(target).attrs["bayesbias"]["embedding"]["case"]
    assert all(value in recorded for value in options.values())
    capsys.readouterr()
    assert in_process("table", path, "--study", study, "-o", tmp_path / "u.csv", monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert "PHYSICS" in error or "physics" in error
    assert all(f"--{option}" in error for option in options)
    with pytest.raises(BayesBiasError, match=", ".join(f"{option}=" for option in list(options)[:1])):
        bb.distance_table(path, study)

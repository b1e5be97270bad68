"""Files that people have: the right numbers or one right sentence, in Python and on the command line."""

import json
import re
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasError, LostWordsWarning
from bayesbias.models.covariates import read_covariates
from tests.cli.running import in_process

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


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        yield


@pytest.fixture
def cases(shared: Path) -> Path:
    return shared / "cases"


def by_hand(cases: Path, *lost: str) -> tuple[float, float]:
    """Return the mean distance and WEAT's effect size, from the numbers of a file by a plain loop."""
    lines = (cases / "09e-no-header-tabs.tsv").read_text().splitlines()
    vectors = {word: np.array(rest, dtype=float) for word, *rest in (line.split("\t") for line in lines)}
    study = tomllib.loads((cases / "mini.toml").read_text())
    groups = [
        [vectors[word] / np.linalg.norm(vectors[word]) for word in words if word not in lost]
        for words in (*study["protected"].values(), *study["attributes"].values())
    ]
    x, y, a, b = groups
    distances = [1 - float(word @ other) for word in x + y for other in a + b]
    s_x, s_y = (
        [float(np.mean([word @ other for other in a]) - np.mean([word @ other for other in b])) for word in group]
        for group in (x, y)
    )
    return float(np.mean(distances)), float((np.mean(s_x) - np.mean(s_y)) / np.std(s_x + s_y, ddof=1))


def numbers(path: Path, study: Path, **options: str) -> tuple[float, float]:
    with quiet():
        vectors = bb.load_embedding(path, words=bb.load_study(study).words, **options)
        weat = bb.metrics.weat(vectors, study, max_lost=0.25)
        return bb.distance_table(vectors, study, max_lost=0.25)["cosine_distance"].mean(), weat.effect_size


@pytest.mark.shared
@pytest.mark.parametrize("name", READ)
def test_files_are_read(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path, study, warning = cases / name, cases / "mini.toml", READ[name]
    expected = by_hand(cases)
    assert numbers(path, study) == pytest.approx(expected, abs=1e-6)
    with pytest.warns(LostWordsWarning, match=warning) if warning else nullcontext():
        bb.distance_table(path, study)
    with quiet():
        assert bb.load_embedding(path).dimensions == 12
        assert "16 of the 16 words" in str(bb.check_words(path, study))
    assert in_process("weat", path, "--study", study, "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["statistics"]["effect_size"] == pytest.approx(expected[1], abs=1e-6)
    assert in_process("table", path, "--study", study, "-o", tmp_path / "t.csv", monkeypatch=monkeypatch) == 0


@pytest.mark.shared
@pytest.mark.parametrize("name", REFUSED)
def test_files_are_refused(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path, study = cases / name, cases / "mini.toml"
    with quiet(), pytest.raises(BayesBiasError, match=REFUSED[name]):
        bb.distance_table(path, study)
    assert in_process("table", path, "--study", study, "-o", tmp_path / "t.csv", monkeypatch=monkeypatch) == 2
    assert re.search(REFUSED[name], capsys.readouterr().err)


@pytest.mark.shared
@pytest.mark.parametrize("name", OPTIONS)
def test_decorated_words_are_found(name: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    path, study, options = cases / name, cases / "mini.toml", OPTIONS[name]
    lost = ("he", "she") if name == "10b-pos-tags.vec" else ()  # he_PRON
    assert numbers(path, study, **options) == pytest.approx(by_hand(cases, *lost), abs=1e-6)
    given = ["--max-lost", "0.25"] + [part for option, value in options.items() for part in (f"--{option}", value)]
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


@pytest.mark.shared
def test_shares_in_percent_are_numbers(cases: Path) -> None:
    frame = read_covariates(cases / "14-percent.csv")
    assert frame["share"].tolist()[:3] == [10.0, 17.3, 24.6]

"""The page of a fit on the command line."""

from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process

SHORT = """
name = "short"
associated = [["math", "male"], ["arts", "female"]]
[protected]
math = ["math", "algebra", "geometry"]
arts = ["poetry", "art", "dance"]
[attributes]
male = ["male", "man", "boy"]
female = ["female", "woman", "girl"]
[controls]
human = "none"
neutral = ["stone", "door", "river", "table"]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("quick_page")
@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_from_vectors_to_a_page_with_debiasing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    (tmp_path / "short.toml").write_text(SHORT)
    monkeypatch.chdir(tmp_path)
    commands = [
        ["table", vectors, "--study", "short.toml", "-o", "t.csv"],
        ["fit", "t.csv", "-o", "fitted", "--model", "hierarchical", "--draws", "250", "--seed", "1"],
        ["debias", vectors, "--sets", "gender_bolukbasi", "-o", "debiased.npz"],
        ["table", "debiased.npz", "--study", "short.toml", "-o", "d.csv"],
        ["report", "fitted/fit.nc", "-o", "page.html", "--compare", "d.csv"],
    ]
    for command in commands:
        assert in_process(*command, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Changes from wikipedia2018_skipgram_seed1 to debiased" in page
    assert not [name for name in names if "bayesbias-" in name], "nothing unfinished is left behind"

"""Commands that look at a fit again."""

import json
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
        ["fit", "t.csv", "-o", "fitted", "--model", "hierarchical", "--seed", "1"],
        ["check", "fitted/fit.nc", "-o", "checked", "--seed", "1"],
        ["debias", vectors, "--sets", "gender_bolukbasi", "-o", "debiased.npz"],
        ["table", "debiased.npz", "--study", "short.toml", "-o", "d.csv"],
        ["compare", "t.csv", "d.csv", "-o", "compared", "--model", "hierarchical", "--seed", "1"],
        ["report", "fitted/fit.nc", "-o", "page.html", "--compare", "d.csv"],
    ]
    for command in commands:
        assert in_process(*command, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {f"checked/{name}" for name in ("check.png", "prior.png", "posterior_coverage.csv")} <= names
    assert {"compared/gaps.csv", "compared/differences.csv", "compared/difference_1.png"} <= names
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "debiased minus wikipedia2018_skipgram_seed1" in page
    assert not [name for name in names if "bayesbias-" in name], "nothing unfinished is left behind"


def test_claims_for_random_lists_are_printed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ["random-lists", vectors, "--study", "weat7", "--model", "hierarchical", "--samples", "10", "--seed", "1"]
    monkeypatch.setattr("warnings.warn", lambda *_, **__: None)  # of words that the vectors lack
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    printed_text = capsys.readouterr().out
    assert "16 attribute words of the study 'weat7'" in printed_text
    assert "order of the embedding" in printed_text  # by default, drawn words match by rank
    assert in_process(*command, "--match", "none", "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    settings = {"model": "hierarchical", "samples": 10, "match": None, "random_seed": 1, "progress": False}
    expected = bb.check_random_lists(bb.load_embedding(vectors), "weat7", **settings)
    assert printed == json.loads(json.dumps(expected.to_dict()))
    assert [row["method"] for row in printed["tables"]["methods"]][:2] == ["hierarchical", "weat"]

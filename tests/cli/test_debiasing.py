"""Debiasing on the command line."""

from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_several_methods_of_debiasing_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    monkeypatch.chdir(tmp_path)
    assert in_process("debias", "--list", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()[: len(bb.debias.METHODS)]] == list(bb.debias.METHODS)
    command = ["debias", vectors, "--sets", "gender_bolukbasi", "-o", "debiased"]
    command += ["--method", "hard", "--method", "misp", "--method", "gn_glove+linear"]
    assert in_process(*command, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    assert sorted(path.name for path in Path("debiased").iterdir()) == ["gn_glove+linear.npz", "hard.npz", "misp.npz"]
    whole = bb.load_embedding(vectors)
    expected = bb.debias.MISP().fit(whole, "gender_bolukbasi").transform(whole)
    written = bb.load_embedding("debiased/misp.npz")
    assert (written.vectors == expected.vectors).all()
    assert "misp-debiased (gender)" in capsys.readouterr().out
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert in_process(*command, "--overwrite", "--quiet", monkeypatch=monkeypatch) == 0


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_debiasing_by_several_methods_ends_in_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command: the vectors of every method, and what each did to the association and to similarities."""
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    (tmp_path / "pairs.txt").write_text("man woman 8\ndoctor nurse 7\npoetry art 6\nman poetry 1\n")
    monkeypatch.chdir(tmp_path)
    fitted: list[str] = []
    for method in (bb.debias.LinearProjection, bb.debias.SoftDebias):
        fit = method.fit
        monkeypatch.setattr(method, "fit", lambda *given, fit=fit: (fitted.append(repr(given[0])), fit(*given))[1])
    questions = ["--study", "gender", "--measure", "word_similarity=pairs.txt", "--model", "no_pooling", "--seed", "1"]
    command = ["debias", vectors, "--sets", "gender_bolukbasi", "--method", "linear", "--method", "soft", "-o", "out"]
    assert in_process(*command, *questions, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    names = [
        *("conclusions.json", "conclusions.txt", "debias.csv", "debias.png"),
        *("linear.npz", "report.html", "soft.npz"),
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    table = pd.read_csv(tmp_path / "out" / "debias.csv")
    assert table["measure"].unique().tolist() == ["gender", "word_similarity (pairs)"]
    printed = capsys.readouterr().out
    assert "linear (+0.02" in printed
    assert sorted(fitted) == [repr(bb.debias.LinearProjection()), repr(bb.debias.SoftDebias())], "each method once"
    assert "out/linear.npz" in printed
    written = bb.load_embedding(tmp_path / "out" / "linear.npz")
    alone = bb.debias.LinearProjection().fit(bb.load_embedding(vectors), "gender_bolukbasi").transform(vectors)
    assert (written.vectors == alone.vectors).all()
    assert written.words == alone.words
    assert "out/report.html" in printed
    assert in_process(*command, "--measure", "sembias", "--overwrite", monkeypatch=monkeypatch) == 2
    assert "--study" in capsys.readouterr().err


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_a_method_that_fails_stops_no_other_and_a_report_of_none_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    (tmp_path / "own.toml").write_text('definitional = [["he", "she"], ["man", "woman"]]\n')
    (tmp_path / "pairs.txt").write_text("man woman 8\ndoctor nurse 7\npoetry art 6\n")
    monkeypatch.chdir(tmp_path)
    command = ["debias", vectors, "--sets", "own.toml", "-o", "out", "--seed", "1", "--model", "no_pooling"]
    measured = ["--measure", "word_similarity=pairs.txt"]
    both = ["--method", "misp", "--method", "linear", "--study", "gender", *measured]
    assert in_process(*command, *both, monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr()
    assert "misp of wikipedia2018_skipgram_seed1 gave no embedding: MISP needs two lists of names" in " ".join(
        printed.out.split()
    )
    assert "out/linear.npz" in printed.out
    assert "1 debiased embedding" in printed.err
    names = ["conclusions.json", "conclusions.txt", "debias.csv", "debias.png", "linear.npz", "report.html"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    for options, message in (
        (["--method", "misp", "--study", "gender", *measured], "No method has an answer. MISP needs two lists"),
        (["--method", "linear", "--study", "weat6", *measured], "so its question cannot be answered"),
        (["--method", "linear", "--study", "gender", "--measure", "sembias"], "or --measure sembias=FILE"),
    ):
        assert in_process(*command, *options, "--overwrite", monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names, "what was there stays"

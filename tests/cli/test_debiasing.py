"""Commands of `bayesbias.cli.debiasing`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_several_methods_of_debiasing_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    monkeypatch.chdir(tmp_path)
    assert in_process("debias", "--list", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()[: len(bb.debias.METHODS)]] == list(bb.debias.METHODS)
    assert "`" not in shown
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
    questions = ["--study", "gender", "--measure", "word_similarity=pairs.txt", "--seed", "1"]
    command = ["debias", vectors, "--sets", "gender_bolukbasi", "--method", "linear", "--method", "soft", "-o", "out"]
    assert in_process(*command, *questions, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    names = [
        *("conclusions.json", "conclusions.txt", "debias.csv", "debias.png"),
        *("linear.npz", "measures.png", "report.html", "soft.npz"),
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
    # Other numbers of BLAS threads round the last digits of float32 differently.
    assert np.abs(written.vectors - alone.vectors).max() < 1e-6
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
    command = ["debias", vectors, "--sets", "own.toml", "-o", "out", "--seed", "1"]
    measured = ["--measure", "word_similarity=pairs.txt"]
    both = ["--method", "misp", "--method", "linear", "--study", "gender", *measured]
    assert in_process(*command, *both, monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr()
    assert "misp of wikipedia2018_skipgram_seed1 gave no embedding: MISP needs lists of names" in " ".join(
        printed.out.split()
    )
    assert "out/linear.npz" in printed.out
    assert "1 debiased embedding" in printed.err
    names = ["conclusions.json", "conclusions.txt", "debias.csv", "debias.png", "linear.npz", "measures.png"]
    names.append("report.html")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    for options, message in (
        (["--method", "misp", "--study", "gender", *measured], "No method has an answer. MISP needs lists"),
        (["--method", "linear", "--study", "weat6", *measured], "so its question cannot be answered"),
        (["--method", "linear", "--study", "gender", "--measure", "sembias"], "Give --measure sembias=FILE"),
    ):
        assert in_process(*command, *options, "--overwrite", monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names, "what was there stays"


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_midb_takes_the_names_of_the_sets_or_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against principal components of all differences between the vectors of names, by NumPy."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    lists = [[f"{side}{letter}" for letter in "abcdefgh"] for side in ("Amy", "Bob")]
    others = [["Bobz", *lists[1][:5]], ["Amyz", *lists[0][:5]]]
    study = bb.load_study("gender")
    neutral = [word for words in (*study.protected.values(), *study.attribute_lists.values()) for word in words]
    words = list(dict.fromkeys([*neutral, "she", "he", "Amyz", "Bobz", *lists[0], *lists[1]]))
    vectors = dict(zip(words, random.normal(size=(len(words), 12)), strict=True))
    bb.write_embedding(bb.Embedding(tuple(vectors), np.array(list(vectors.values()))), "vectors.npz")
    for name, of_sides in (("own", lists), ("other", others)):
        Path(f"{name}.toml").write_text(f'definitional = [["she", "he"]]\nnames = {of_sides}\n'.replace("'", '"'))
    command = ["debias", "vectors.npz", "--sets", "own.toml", "--method", "linear", "--study", "gender"]
    command += ["--seed", "1", "-o", "out", "--overwrite", "--quiet"]
    stored = bb.load_embedding("vectors.npz")
    for measure, of_sides in (("midb", lists), ("midb=other.toml", others)):
        assert in_process(*command, "--measure", measure, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
        table = pd.read_csv("out/debias.csv")
        row = table[(table["measure"] == "midb") & (table["method"] == "original")].iloc[0]
        first, second = (
            stored.matrix(names) / np.linalg.norm(stored.matrix(names), axis=1)[:, None] for names in of_sides
        )
        differences = (first[:, None] - second[None]).reshape(-1, 12)
        _, sizes, axes = np.linalg.svd(differences)
        sides = np.sign(axes[:4] @ differences.mean(axis=0))
        direction = (sides * sizes[:4] ** 2 / (sizes**2).sum()) @ axes[:4]
        left = [word for word in words if word.isalpha() and word not in {*of_sides[0], *of_sides[1]}]
        units = unit_rows(stored.matrix(left))
        assert row["observed"] == pytest.approx((units @ direction).mean(), abs=1e-5)
        assert row["items"] == len(left)
    command[3] = "religion_manzini"
    assert in_process(*command, "--measure", "midb", monkeypatch=monkeypatch) == 2
    assert "MIDB needs lists of names" in capsys.readouterr().err


TRAINED = "--method, --sets, --epochs, --hidden-units and --checkpoints"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["a.npz", "b.npz"], ["--pairs FILE"]),
        (["a.npz", "--pairs", "p.csv", "--method", "misp"], ["--method and --sets"]),
        (["a.npz", "--pairs", "p.csv", "--sets", "gender_bolukbasi"], ["--method and --sets"]),
        (["a.npz", "b.npz", "--pairs", "p.csv", "--method", "hard", "--sets", "gender_bolukbasi"], ["there are 2"]),
        (["folder", "--models", "--epochs", "3"], TRAINED.split(" and ")),
        (["folder", "--models", "--checkpoints", "kept"], TRAINED.split(" and ")),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str],
    named: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert in_process("nli", *arguments, "--output", "out", monkeypatch=monkeypatch) == 2
    message = " ".join(capsys.readouterr().err.split())
    for text in named:
        assert text in message
    assert list(tmp_path.iterdir()) == []

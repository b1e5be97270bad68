"""The command line, as a user runs it."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from html import unescape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import cli
from bayesbias.cli import base
from tests.reports.made import made_fit

STUDY = """
name = "pets"
associated = [["cats", "quiet"], ["dogs", "loud"]]
[protected]
cats = ["cat", "kitten"]
dogs = ["dog", "puppy"]
[attributes]
quiet = ["purr", "nap"]
loud = ["bark", "fetch"]
[controls]
human = "none"
neutral = ["stone", "door"]
"""

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


_WARNINGS_ARE_ERRORS = """
import warnings
warnings.simplefilter("error")
from bayesbias.cli import main
main()
"""


def run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WARNINGS_ARE_ERRORS, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def in_process(*arguments: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command line in this process; quick, and the exit code is what a shell would see."""
    monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
    monkeypatch.setattr("warnings.showwarning", cli._show_warning)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    words = ("cat", "kitten", "dog", "puppy", "purr", "nap", "bark", "fetch", "stone", "door")
    rng = np.random.default_rng(0)
    lines = [" ".join([word, *(f"{value:.5f}" for value in rng.normal(size=8))]) for word in words]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "pets.toml").write_text(STUDY)
    return tmp_path


@pytest.mark.parametrize("command", [[], ["studies"], ["table"], ["fit"], ["summary"], ["demo"]])
def test_help_teaches(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(*command, "--help", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "Usage" in shown
    if command and command[0] in ("table", "fit", "summary"):
        assert f"bayesbias {command[0]}" in shown, "an example is shown"


def test_studies_are_listed_shown_and_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("studies", monkeypatch=monkeypatch) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in bb.list_studies())
    assert in_process("studies", "show", "weat7", monkeypatch=monkeypatch) == 0
    assert "Associated: math with male" in capsys.readouterr().out
    mine = tmp_path / "mine.toml"
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 0
    assert bb.load_study(str(mine)).protected
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.slow
def test_two_commands_lead_from_an_embedding_to_an_answer(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Warnings are errors in these processes, except our own, which are printed."""
    built = run("table", "vectors.txt", "--study", "pets.toml", "--output", "pets.csv", folder=workplace)
    assert (built.returncode, built.stderr) == (0, "")
    assert "4 protected words, 6 attribute words, 24 pairs: 8 associated, 8 different, 8 neutral." in built.stdout
    settings = ["--model", "hierarchical", "--seed", "1", "--draws", "3000", "--rope", "0.05"]
    fitted = run("fit", "pets.csv", "-o", "pets", *settings, folder=workplace)
    assert fitted.returncode == 0, fitted.stderr
    assert "WHAT IT DOES NOT SHOW" in fitted.stdout
    assert "%" not in fitted.stderr, "no progress bar in a pipe"
    made = {path.name for path in (workplace / "pets").iterdir()}
    assert {"table.csv", "fit.nc", "summary.csv", "contrasts.csv", "words.png", "conclusions.json"} < made
    shown = run("summary", "pets/fit.nc", "--level", "overall", "--rope", "0.05", folder=workplace)
    assert shown.returncode == 0
    assert ("did not converge" in shown.stderr) == ("did not converge" in fitted.stderr)
    assert "associated - different" in shown.stdout
    assert "probability_in_rope" in shown.stdout
    monkeypatch.chdir(workplace)
    assert in_process("fit", "pets.csv", "-o", "pets", monkeypatch=monkeypatch) == 2
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table", "vectors.txt", "--study", "pests.toml", "-o", "t.csv"], "did you mean 'pets.toml'"),
        (["table", "vectors.txt", "--study", "religon", "-o", "t.csv"], "did you mean 'religion'"),
        (["table", "vector.txt", "--study", "pets.toml", "-o", "t.csv"], "did you mean 'vectors.txt'"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "no/t.csv"], "does not exist"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "t.xls"], ".parquet"),
        (["table", "vectors.txt", "--study", "weat7", "-o", "t.csv"], "has no word of"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "t.csv", "--format", "glov"], "did you mean"),
        (["fit", "none.csv", "-o", "out"], "There is no file"),
        (["fit", "pets.toml", "-o", "out"], ".csv"),
        (["summary", "pets.toml"], "is not a netCDF file"),
        (["summary", "made.nc", "--level", "group"], "use 'overall'"),
        (["summary", "made.nc", "--hdi-prob", "89"], "hdi_prob=89"),
        (["fit", "t.csv", "-o", "vectors.txt"], "it is a file"),
        (["fit", "t.csv", "-o", "out", "--prior", "sigma"], "--prior"),
        (["fit", "t.csv", "-o", "out", "--rope", "-1"], "rope=-1"),
        (["fit", "t.csv", "-o", "out", "--hdi-prob", "89"], "hdi_prob=89"),
        (["fit", "t.csv", "-o", "/proc/none"], "/proc"),
        (["fit", "controls.csv", "-o", "out"], "compare associated words with others"),
        (["studies", "new", "weat7"], "a study is a .toml file"),
        (["demo", "-o", "no/such/folder"], "does not exist"),
        (["check", "pets.toml"], "is not a netCDF file"),
        (["check", "none.nc"], "There is no file"),
        (["compare", "t.csv", "-o", "out"], "at least two"),
        (["compare", "t.csv", "t.csv", "-o", "out"], "listed twice"),
        (["compare", "t.csv", "none.csv", "-o", "out"], "There is no file"),
        (["compare", "t.csv", "t.csv", "-o", "vectors.txt"], "it is a file"),
        (["debias", "vectors.txt", "--sets", "gendr_bolukbasi", "-o", "d.npz"], "did you mean"),
        (["debias", "vectors.txt", "--sets", "gender_bolukbasi", "-o", "d.csv"], ".npz"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--method", "sof"], "did you mean 'soft'"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--strength", "1"], "hard has no strength. Leave"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d", *2 * ["--method", "hard"]], "give each method once"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--model", "crossed"], "Give --study too"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--max-lost", "0.4"], "Give --study too"),
        (
            ["debias", "vectors.txt", "--sets", "x", "-o", "t.csv", "--method", "hard", "--method", "soft"],
            "it is a file",
        ),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--method", "gn_glove+"], "method=''"),
        (["report", "pets.toml", "-o", "r.html"], "is not a netCDF file"),
        (["report", "none.nc", "-o", "no/r.html"], "does not exist"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--targets", "cats", "birds"], "has no 'birds'"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--statistic", "media"], "statistic"),
        (["measure", "waet", "vectors.txt", "--study", "pets.toml"], "did you mean 'weat'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "dof=0"], "did you mean 'ddof'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof"], "key=value"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof=two"], "ddof='two'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "a={[1]:2}"], "no option"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "study=x"], "no option of a measure"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "targets=[[]]"], "has no []"),
        (
            ["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof=1", "--option", "ddof=0"],
            "'ddof' was given before",
        ),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "targets=cats,birds"], "no 'birds'"),
        (["measure", "db_wa", "vectors.txt", "--study", "pets.toml", "--option", "base_pairs=1"], "Give pairs"),
        (["measure", "db_wa", "vectors.txt", "--study", "pets.toml"], "no base pair is left"),
        (["measure", "nbm", "vectors.txt", "--study", "pets.toml", "--option", "base_pairs=[('cat','dog')]"], "k=100"),
        (["null", "--sd", "-1"], "sd=-1"),
        (["null", "-o", "null.jpg"], ".png"),
        (["null", "--protected", "1", "8"], "at least 2"),
        (["null", "--effect-size", "nan"], "lies between -2 and 2"),
        (["null", "--mac", "nan"], "--mac nan: a mean distance lies between 0 and 2"),
        (["null", "--mac", "2.1"], "--mac 2.1"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--max-lost", "20"], "max_lost=20"),
        (
            ["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "max_lost=1"],
            "no option of a measure",
        ),
        (["demo", "--sed", "1"], "--seed"),
    ],
)
def test_a_users_mistake_is_one_message_and_exit_code_2(
    arguments: list[str],
    message: str,
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    table,
) -> None:
    bb.write_table(table, workplace / "t.csv")
    bb.write_table(table[table["connection"] == "human"], workplace / "controls.csv")
    if arguments[0] == "table":
        (workplace / "t.csv").unlink()
    if "made.nc" in arguments:
        bb.write_fit(made_fit(draws=20), workplace / "made.nc")
    before = sorted(path.name for path in workplace.iterdir())
    monkeypatch.chdir(workplace)
    assert in_process(*arguments, monkeypatch=monkeypatch) == 2
    shown = capsys.readouterr()
    assert message.lower() in shown.err.lower()
    assert "Traceback" not in shown.err
    assert not shown.out, "nothing that looks like an answer"
    assert sorted(path.name for path in workplace.iterdir()) == before, "nothing is left behind"


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_several_methods_of_debiasing_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    monkeypatch.chdir(tmp_path)
    assert in_process("debias", "--list", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()[: len(bb.debias.METHODS)]] == list(bb.debias.METHODS)
    asked = ["debias", vectors, "--sets", "gender_bolukbasi", "-o", "debiased"]
    asked += ["--method", "hard", "--method", "misp", "--method", "gn_glove+linear"]
    assert in_process(*asked, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    assert sorted(path.name for path in Path("debiased").iterdir()) == ["gn_glove+linear.npz", "hard.npz", "misp.npz"]
    whole = bb.load_embedding(vectors)
    expected = bb.debias.MISP().fit(whole, "gender_bolukbasi").transform(whole)
    written = bb.load_embedding("debiased/misp.npz")
    assert (written.vectors == expected.vectors).all()
    assert "misp-debiased (gender)" in capsys.readouterr().out
    assert in_process(*asked, monkeypatch=monkeypatch) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert in_process(*asked, "--overwrite", "--quiet", monkeypatch=monkeypatch) == 0


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
    assert {"checked/check.png", "checked/prior.png", "checked/coverage.csv", "checked/check.txt"} <= names
    assert {"compared/gaps.csv", "compared/differences.csv", "compared/difference_1.png"} <= names
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "debiased minus wikipedia2018_skipgram_seed1" in page
    assert not [name for name in names if "bayesbias-" in name], "nothing unfinished is left behind"


@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_debiasing_by_several_methods_ends_in_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command: the vectors of every method, and what each did to the association and to similarities."""
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    (tmp_path / "pairs.txt").write_text("man woman 8\ndoctor nurse 7\npoetry art 6\nman poetry 1\n")
    monkeypatch.chdir(tmp_path)
    fitted: list[str] = []
    for each in (bb.debias.LinearProjection, bb.debias.SoftDebias):
        fit = each.fit
        monkeypatch.setattr(each, "fit", lambda *given, fit=fit: (fitted.append(repr(given[0])), fit(*given))[1])
    asked = ["--study", "gender", "--measure", "word_similarity=pairs.txt", "--model", "no_pooling", "--seed", "1"]
    command = ["debias", vectors, "--sets", "gender_bolukbasi", "--method", "linear", "--method", "soft", "-o", "out"]
    assert in_process(*command, *asked, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    names = ["debias.csv", "debias.html", "debias.png", "linear.npz", "soft.npz"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    table = pd.read_csv(tmp_path / "out" / "debias.csv")
    assert table["measure"].unique().tolist() == ["gender", "word_similarity (pairs)"]
    said = capsys.readouterr().out
    assert "after linear (+0.02" in said
    assert sorted(fitted) == [repr(bb.debias.LinearProjection()), repr(bb.debias.SoftDebias())], "each method once"
    assert "Wrote out/linear.npz." in said
    kept = bb.load_embedding(tmp_path / "out" / "linear.npz")
    alone = bb.debias.LinearProjection().fit(bb.load_embedding(vectors), "gender_bolukbasi").transform(vectors)
    assert (kept.vectors == alone.vectors).all()
    assert kept.words == alone.words
    assert "Open out/debias.html" in said
    assert in_process(*command, "--measure", "sembias", "--overwrite", monkeypatch=monkeypatch) == 2
    assert "Give --study too" in capsys.readouterr().err


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
    said = capsys.readouterr()
    assert "misp of wikipedia2018_skipgram_seed1 gave no embedding: MISP needs two lists of names" in " ".join(
        said.out.split()
    )
    assert "Wrote out/linear.npz" in said.out
    assert "1 debiased embedding, as" in said.err
    names = ["debias.csv", "debias.html", "debias.png", "linear.npz"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    for asked, message in (
        (["--method", "misp", "--study", "gender", *measured], "No method has an answer. MISP needs two lists"),
        (["--method", "linear", "--study", "weat6", *measured], "so its question cannot be answered"),
        (["--method", "linear", "--study", "gender", "--measure", "sembias"], "or --measure sembias=FILE"),
    ):
        assert in_process(*command, *asked, "--overwrite", monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names, "what was there stays"


@pytest.mark.slow
def test_the_demo_says_what_is_settled_and_links_to_a_page_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a model that is quick to fit, and pages that are not made; `make demo` and the wheel run the whole of it."""
    monkeypatch.setattr("bayesbias.reports.audits.audit.audit", partial(bb.audit, model="hierarchical"))
    monkeypatch.setattr("bayesbias.delivery.page.audit.write_report", lambda fit, path, **_: path.write_text("a page"))
    monkeypatch.chdir(tmp_path)
    assert in_process("demo", "-o", "shown", monkeypatch=monkeypatch) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.index("Asking 4 questions") < shown.index("Writing the figure") < shown.index("shown/audit.html")
    every = pd.read_csv("shown/audit.csv", keep_default_na=False)
    found = every[(every["measure"] == "contrast") & (every["protected_group"] == "")]
    assert found["study"].tolist() == ["weat1", "weat7", "gender", "religion"]
    assert shown.count("Settled,") == found["conclusion"].isin(["nearer", "farther"]).sum()
    assert shown.count("Not settled:") == (found["conclusion"] == "not settled").sum()
    for row in found.to_dict("records"):
        assert f"{bb.load_study(row['study']).description} " in shown
        assert f"{float(row['estimate']):+.3f}, 89% interval" in shown
    page = Path("shown/audit.html").read_text(encoding="utf-8")
    for number in range(1, 5):
        assert f'href="question_{number}.html"' in page
        assert Path(f"shown/question_{number}.html").is_file()
    assert in_process("demo", "-o", "shown", "--quiet", "--overwrite", "--seed", "2", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr() == ("", "")


def test_weat_and_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    monkeypatch.chdir(tmp_path)
    assert in_process("weat", vectors, "--study", "weat7", monkeypatch=monkeypatch) == 0
    expected = bb.metrics.weat(bb.load_embedding(vectors), "weat7")
    assert f"{expected.effect_size:.6g}" in capsys.readouterr().out
    options = ["--effect-size", "1.2671948", "--seed", "1", "-o", "null.png"]
    assert in_process("null", *options, monkeypatch=monkeypatch) == 0
    share = float(capsys.readouterr().out.split("effect_size")[-1].split()[1])
    assert share == pytest.approx(0.006, abs=0.002)
    assert (tmp_path / "null.png").stat().st_size > 10_000


def test_lost_words_stop_a_command_unless_they_are_allowed(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    lines = (workplace / "vectors.txt").read_text().splitlines()
    (workplace / "vectors.txt").write_text("".join(f"{line}\n" for line in lines if not line.startswith("nap ")))
    given = ("vectors.txt", "--study", "pets.toml")
    table, score = ("table", *given, "-o", "t.csv"), ("measure", "weat_score", *given)
    for command in (table, score, ("claims", *given)):
        assert in_process(*command, monkeypatch=monkeypatch) == 2
        shown = capsys.readouterr().err
        assert "1 of the 2 of 'quiet' (nap)" in shown
        assert "--max-lost 0.5" in shown
    assert not (workplace / "t.csv").exists()
    for command in (table, score):
        assert in_process(*command, "--max-lost", "0.5", monkeypatch=monkeypatch) == 0
        assert capsys.readouterr().err.startswith("warning: The embedding 'vectors' lacks 1 word: 1 of the 2")
    assert (workplace / "t.csv").exists()


def test_measures_are_listed_and_run(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    assert in_process("measures", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    for entry in bb.metrics.MEASURES.values():
        for text in (entry.name, entry.formula, entry.sign, entry.range, entry.needs, entry.source):
            assert text in shown
    options = ["--option", "attributes=quiet", "--option", "normalize=false", "--option", "targets=cats, dogs"]
    assert in_process("measure", "rnd", "vectors.txt", "--study", "pets.toml", *options, monkeypatch=monkeypatch) == 0
    expected = bb.metrics.rnd("vectors.txt", "pets.toml", attributes="quiet", normalize=False)
    assert f"{expected.rnd:.6g}" in capsys.readouterr().out
    options = ["--option", "base_pairs=[('cat', 'dog')]", "--option", "k=3"]
    assert in_process("measure", "nbm", "vectors.txt", "--study", "pets.toml", *options, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "nbm of pets in vectors" in shown
    assert "kitten" in shown


def test_scores_of_an_embedding_and_their_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    one, two = (bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2))
    Path("pairs.txt").write_text("she he 9\nnurse doctor 5\nman woman 8\nart music 4\n")
    Path("questions.txt").write_text(": family\nhe she man woman\nman woman he she\nboy girl man woman\n")
    settings = ["--original", two, "--seed", "1"]
    command = ["quality", one, "pairs.txt", "questions.txt", *settings]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "Changes since wikipedia2018_skipgram_seed2, on the same items (89% HPDI, seed 1)" in shown
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in found["scores"]] == ["pairs.txt", "questions.txt", "questions.txt"]
    first, second = (bb.metrics.word_similarity(each, "pairs.txt", random_seed=1).value for each in (one, two))
    assert found["scores"][0]["value"] == first
    assert found["changes"][0]["change"] == first - second
    Path("women.txt").write_text("woman\ngirl\nmother\ndaughter\n")
    Path("men.txt").write_text("man\nboy\nfather\nson\n")
    command = ["intrinsic", one, "--words-in-all", "200", "--splits", "2", "--names", "women.txt", "men.txt", *settings]
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    measures = {row["score"] for row in found["changes"]}
    assert measures == {"vocabulary_direct_bias", "midb", "clustering", "recoverability", "gipe"}
    command = ["intrinsic", one, "--measure", "gipe", "--neighbours", "20", "--seed", "1"]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    expected = bb.metrics.gipe(one, neighbours=20, random_seed=1)
    assert f"{expected.value:.3f}" in capsys.readouterr().out
    assert in_process("intrinsic", one, "--measure", "sembias", monkeypatch=monkeypatch) == 2
    assert "sembias needs the file of SemBias" in capsys.readouterr().err


def test_a_summary_is_printed_as_text_and_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = made_fit(draws=50)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    overall = ["summary", path, "--level", "overall", "--rope", "0.02"]
    assert in_process(*overall, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "Contrasts: associated minus each other connection" in shown
    assert "probability_in_rope" in shown
    assert in_process(*overall, "--json", monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    contrasts = bb.contrasts(fit, rope=0.02)
    assert [row["mean"] for row in found["contrasts"]] == contrasts["mean"].tolist()
    assert [row["parameter"] for row in found["summary"]] == bb.summary(fit, level="overall")["parameter"].tolist()
    assert found["conclusions"] == bb.conclusions(fit, rope=0.02).to_dict()
    assert in_process("summary", path, "--baseline", "human", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["conclusions"] is None


def test_our_warnings_are_one_line_and_others_keep_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    cli._show_warning(bb.errors.LostWordsWarning("two words"), bb.errors.LostWordsWarning, "f.py", 1)
    cli._show_warning(UserWarning("of a library"), UserWarning, "f.py", 1)
    assert capsys.readouterr().err == "warning: two words\nf.py:1: UserWarning: of a library\n"


@pytest.mark.slow
def test_our_warnings_stop_no_command_where_warnings_are_errors(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("bayesbias"),
            *("table", str(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))),
            *("--study", "religion", "--max-lost", "0.25", "-o", "t.csv"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"HOME": "/dev/null/none", "LC_ALL": "C", "PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "1"},
    )
    assert (done.returncode, done.stderr.startswith("warning: The embedding")) == (0, True), done.stderr
    assert (tmp_path / "t.csv").exists()


def test_python_without_docstrings_is_told_in_a_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "bayesbias", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("error: Python runs without docstrings (-OO)")


def test_memory_that_is_used_up_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("bayesbias.studies.study.list_studies", too_much)
    assert in_process("studies", monkeypatch=monkeypatch) == 1
    assert "error: the memory is used up" in capsys.readouterr().err


def test_priors_given_twice_are_refused() -> None:
    with pytest.raises(bb.errors.ModelError, match="'sigma' was given before"):
        base.priors_from(["sigma=HalfNormal(0.1)", "sigma = HalfNormal(0.5)"])


def test_an_interrupt_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesbias.studies.study.list_studies", interrupted)
    monkeypatch.setattr("bayesbias.base.outputs._placed", {})
    assert in_process("studies", monkeypatch=monkeypatch) == 130
    assert "interrupted: nothing was written" in capsys.readouterr().err


@pytest.mark.slow
def test_the_version_and_the_module() -> None:
    for command in ([sys.executable, "-m", "bayesbias"], [str(Path(sys.executable).with_name("bayesbias"))]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"bayesbias {version('bayesbias')}\n"


def test_the_entry_point_is_installed() -> None:
    found = shutil.which("bayesbias", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert found is not None


def test_defaults_agree_with_the_library() -> None:
    from bayesbias.base.checks import HDI_PROB
    from bayesbias.models.spec import DEFAULT_MODEL

    assert base.DEFAULT_HDI_PROB == HDI_PROB
    assert base.DEFAULT_MODEL_NAME == DEFAULT_MODEL


def test_claims_for_random_words_are_printed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ["claims", vectors, "--study", "weat7", "--model", "hierarchical", "--samples", "10", "--seed", "1"]
    monkeypatch.setattr("warnings.warn", lambda *_, **__: None)  # of words that the vectors lack
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert "16 attribute words of the study 'weat7'" in capsys.readouterr().out
    assert in_process(*command, "--match", "none", "--json", monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["drawn"]["match"] is None
    assert [row["method"] for row in found["methods"]][:2] == ["hierarchical", "weat"]


@pytest.fixture(scope="module")
def commands() -> dict[str, list[str]]:
    """Return the usage line of each command, in words."""
    from typer.main import get_command

    def walk(command: object, path: str) -> dict[str, list[str]]:
        inner = getattr(command, "commands", {})
        context = command.make_context(path, [], resilient_parsing=True)  # type: ignore[attr-defined]
        here = {path: [str(piece) for piece in command.collect_usage_pieces(context)]}  # type: ignore[attr-defined]
        return here | {k: v for name, one in inner.items() for k, v in walk(one, f"{path} {name}".strip()).items()}

    return walk(get_command(base.app), "")


def test_usage_lines_have_capitals_and_no_braces(commands: dict[str, list[str]]) -> None:
    assert len(commands) > 15
    for name, pieces in commands.items():
        arguments = " ".join(pieces).replace("[OPTIONS]", "")
        assert "{" not in arguments, name
        assert arguments == arguments.upper(), name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell: str, tmp_path: Path) -> None:
    # As typer's own tests do: else the shell is the one that the tests run in.
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [Path(sys.executable).parent / "bayesbias", "--show-completion", shell]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert "_BAYESBIAS_COMPLETE" in done.stdout
    asked = {
        "bash": {"_BAYESBIAS_COMPLETE": "complete_bash", "COMP_WORDS": "bayesbias cont", "COMP_CWORD": "1"},
        "zsh": {"_BAYESBIAS_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "bayesbias cont"},
        "fish": {
            "_BAYESBIAS_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_ARGS": "bayesbias cont",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        },
    }[shell]
    found = subprocess.run(
        command[:1], env={**env, **asked}, capture_output=True, text=True, check=False, timeout=60
    ).stdout
    assert "contrast" in found
    assert "compare" not in found


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (("weat", "vectors.txt", "--study", "pets.toml"), {"measure", "statistics", "scores", "lost_words"}),
        (
            ("measure", "normalized_association_score", "vectors.txt", "--study", "pets.toml"),
            {"measure", "statistics", "scores"},
        ),
        (("measures",), set(bb.metrics.MEASURES) | set(bb.metrics.EMBEDDING_MEASURES)),
        (
            ("null", "--samples", "200", "--effect-size", "1", "--claims", "20", "--seed", "1"),
            {"null", "shares", "claims"},
        ),
    ],
)
def test_numbers_are_printed_as_json(
    command: tuple[str, ...],
    keys: set[str],
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workplace)
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    assert keys <= set(json.loads(capsys.readouterr().out))


def test_quiet_commands_print_nothing(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    short = ("--model", "hierarchical", "--draws", "50", "--seed", "1")
    for command in (
        ("table", "vectors.txt", "--study", "pets.toml", "-o", "quiet.csv"),
        ("fit", "quiet.csv", "-o", "quiet", *short),
        ("check", "quiet/fit.nc"),
    ):
        assert in_process(*command, "--quiet", monkeypatch=monkeypatch) == 0
        assert capsys.readouterr().out == ""
    assert in_process("fit", "quiet.csv", "-o", "again", *short, "--quiet", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["conclusions"]["shown"]
    assert in_process("check", "quiet/fit.nc", "--json", monkeypatch=monkeypatch) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"posterior", "prior"}


def test_an_audit_from_a_plan(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    (workplace / "audit.toml").write_text(
        'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodel = "hierarchical"\nseed = 1\n'
        '[embeddings]\nmine = "vectors.txt"\n'
    )
    assert in_process("audit", "audit.toml", "-o", "audit", monkeypatch=monkeypatch) == 0
    assert "associated - different" in capsys.readouterr().out
    made = {path.name for path in (workplace / "audit").iterdir()}
    assert made == {"audit.csv", "audit.png", "audit.html"}
    assert in_process("audit", "audit.toml", "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["audit"]
    assert [row["measure"] for row in rows] == ["contrast", "contrast", "contrast", "weat"]


def test_embeddings_are_trained_and_an_interrupted_run_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("the cat and the dog\na dog and a cat\n" * 20)
    monkeypatch.chdir(tmp_path)
    command = ["train", "corpus.txt", "--algorithm", "glove", "--dimensions", "4", "--epochs", "1", "--output", "out"]
    assert in_process(*command, "--seeds", "1-2", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "glove, seeds 1 and 2, of corpus.txt (200 words)" in said
    assert "out holds glove_seed1.npz, glove_seed2.npz" in said
    assert "Next: bayesbias seeds out/*.npz --study gender" in said
    first = (tmp_path / "out" / "glove_seed1.npz").stat().st_mtime_ns
    assert in_process(*command, "--seeds", "1-2,5", "--json", monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["files"]) == ["1", "2", "5"]
    assert found["settings"]["epochs"] == 1
    assert found["repeats"] is True
    assert (tmp_path / "out" / "glove_seed1.npz").stat().st_mtime_ns == first
    assert in_process(*command, "--seeds", "1", "--window", "3", monkeypatch=monkeypatch) == 2
    assert "holds another training" in capsys.readouterr().err
    for seeds in ("5-1", "one", "1-", "-1", "1.5", "", "1-99999999"):
        assert in_process(*command, f"--seeds={seeds}", monkeypatch=monkeypatch) == 2
        assert "--seeds" in capsys.readouterr().err


def test_the_command_line_has_every_algorithm() -> None:
    from bayesbias.cli.training import Algorithm
    from bayesbias.embeddings.training import ALGORITHMS

    assert [each.value for each in Algorithm] == list(ALGORITHMS)


def test_a_study_on_workers_goes_on(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    plan = 'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodels = ["hierarchical", "no_pooling"]\n'
    (workplace / "study.toml").write_text(
        f'{plan}seed = 1\ndraws = 25\nworkers = 1\n[embeddings]\nmine = "vectors.txt"\n'
    )
    assert in_process("run", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 0
    assert "no_pooling" in capsys.readouterr().out
    made = {path.name for path in (workplace / "study").iterdir()}
    assert made == {"audit.csv", "audit.png", "audit_2.png", "audit.html", "cells"}
    table = (workplace / "study" / "audit.csv").read_bytes()
    assert in_process("run", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 2
    assert "not empty" in capsys.readouterr().err
    monkeypatch.setattr("bayesbias.cluster.run.answer_cell", lambda *_: pytest.fail("a cell was computed again"))
    for left in (workplace / "study").glob("audit*"):  # what a run that was killed has not written
        left.unlink()
    assert in_process("run", "study.toml", "-o", "study", "--json", monkeypatch=monkeypatch) == 0
    assert {row["model"] for row in json.loads(capsys.readouterr().out)["audit"]} == {"hierarchical", "no_pooling"}
    assert (workplace / "study" / "audit.csv").read_bytes() == table
    assert in_process("audit", "study.toml", monkeypatch=monkeypatch) == 2
    assert "The plan has workers, models, which an audit has not. Use: bayesbias run" in capsys.readouterr().err


def seed_files(folder: Path, *seeds: int) -> list[Path]:
    """Return three short files of bundled vectors that differ in the seed."""
    words = ["he", "she", "man", "woman", "son", "daughter", "algebra", "geometry", "poetry", "art", "home"]
    paths = []
    for seed in seeds:
        path = bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz")
        paths.append(folder / f"seed{seed}.npz")
        bb.write_embedding(bb.load_embedding(path, words=words), paths[-1])
    (folder / "mine.toml").write_text(
        'words = ["algebra", "poetry", "home"]\npairs = [["he", "she"], ["man", "woman"], ["son", "daughter"]]\n'
        '[queries]\nmaths = ["algebra", "geometry"]\n'
    )
    return paths


def test_reliability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    paths, mine = seed_files(tmp_path, 1, 2, 3), tmp_path / "mine.toml"
    lists = ["--words", mine, "--base-pairs", mine, "--queries", mine, "--rule", "db_wa", "--rule", "ripa"]
    assert in_process("reliability", *paths, *lists, monkeypatch=monkeypatch) == 0
    text = capsys.readouterr().out
    assert "3 target words, 3 base pairs, 2 rules, 3 seeds" in text
    assert in_process("reliability", *paths, *lists, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    scores = bb.reliability.score_array(
        dict(zip(data["seeds"], paths, strict=True)), bb.reliability.load_target_words(mine), rules=["db_wa", "ripa"],
        base_pairs=str(mine), progress=False,
    )  # fmt: skip
    expected = bb.reliability.test_retest(scores)
    found = pd.DataFrame(data["test_retest_target_words"])
    np.testing.assert_allclose(found["hdi_low"], expected["hdi_low"], rtol=1e-12)
    assert len(data["inter_rater_base_pairs"]) == 3
    assert [row["query"] for row in data["internal_consistency"]] == ["maths", "maths", "base pairs", "base pairs"]


def test_reliability_refuses_before_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = seed_files(tmp_path, 1, 2)
    monkeypatch.setattr("bayesbias.embeddings.load_embedding", lambda *_arguments, **_options: 1 / 0)
    wrong = {
        "of one seed": [paths[0]],
        f"Two embeddings are called {paths[0].stem!r}": [paths[0], paths[0]],
        "There is no file": [paths[0], tmp_path / "seed9.npz"],
        "no target words": [*paths, "--words", "occ17"],
        "no base pairs": [*paths, "--base-pairs", "gendr"],
        "no queries": [*paths, "--queries", "gendr"],
        "rules=": [*paths, "--rule", "rippa"],
        "hdi_prob": [*paths, "--hdi-prob", "2"],
    }
    for message, arguments in wrong.items():
        assert in_process("reliability", *arguments, monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_seeds(
    workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (workplace / "vectors.txt").read_text().splitlines()
    for seed in (1, 2, 3):
        moved = [
            " ".join([word, *(f"{float(value) + 0.1 * np.sin(at * seed):.5f}" for at, value in enumerate(values))])
            for word, *values in map(str.split, lines)
        ]
        (tmp_path / f"seed{seed}.txt").write_text("\n".join(moved) + "\n")
    paths = [tmp_path / f"seed{seed}.txt" for seed in (1, 2, 3)]
    output = tmp_path / "stable"
    given = [
        "--study",
        workplace / "pets.toml",
        "-o",
        output,
        "--model",
        "hierarchical",
        "--draws",
        "200",
        "--seed",
        "1",
    ]
    assert in_process("seeds", *paths, *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {"seeds.html", "seeds.png", "seeds.txt", "contrasts.csv", "by_seed.csv"}
    assert {path.name for path in output.iterdir()} == made
    assert data["verdict"]["text"] in unescape((output / "seeds.html").read_text(encoding="utf-8"))
    assert [row["seeds"] for row in data["comparison"]["contrasts"]] == [3, 3]
    assert {row["seed"] for row in data["comparison"]["by_seed"]} == {"seed1", "seed2", "seed3"}
    assert in_process("seeds", *paths, *given, monkeypatch=monkeypatch) == 2
    assert "not empty" in capsys.readouterr().err
    assert in_process("seeds", paths[0], *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "There is one embedding, " in capsys.readouterr().err
    (tmp_path / "copy.txt").write_text((tmp_path / "seed1.txt").read_text())
    assert in_process("seeds", paths[0], tmp_path / "copy.txt", *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "'seed1' and 'copy' have the same distances" in capsys.readouterr().err

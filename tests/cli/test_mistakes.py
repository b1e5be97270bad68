"""Mistakes of a user, command by command."""

from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.reports.made import made_fit

_MISSING = ("'vectors.txt'", "none.csv", "none.nc", "/proc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table", "vectors.txt", "--study", "pests.toml", "-o", "t.csv"], "'pets.toml'"),
        (["table", "vectors.txt", "--study", "religon", "-o", "t.csv"], "'religion'"),
        (["table", "vector.txt", "--study", "pets.toml", "-o", "t.csv"], "'vectors.txt'"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "no/t.csv"], "no/t.csv"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "t.xls"], ".parquet"),
        (["table", "vectors.txt", "--study", "weat7", "-o", "t.csv"], "weat7"),
        (["table", "vectors.txt", "--study", "pets.toml", "-o", "t.csv", "--format", "glov"], "glove"),
        (["fit", "none.csv", "-o", "out"], "none.csv"),
        (["fit", "pets.toml", "-o", "out"], ".csv"),
        (["summary", "pets.toml"], "netCDF"),
        (["summary", "made.nc", "--level", "group"], "overall, protected_group, word"),
        (["summary", "made.nc", "--hdi-prob", "89"], "--hdi-prob 89"),
        (["fit", "t.csv", "-o", "vectors.txt"], ".html, .md, .tex, .docx, .csv, .json"),
        (["fit", "t.csv", "-o", "out", "--prior", "sigma"], "--prior"),
        (["fit", "t.csv", "-o", "out", "--rope", "-1"], "--rope -1"),
        (["fit", "t.csv", "-o", "out", "--hdi-prob", "89"], "--hdi-prob 89"),
        (["fit", "t.csv", "-o", "/proc/none"], "/proc"),
        (["fit", "controls.csv", "-o", "out"], "associated"),
        (["studies", "new", "weat7"], ".toml"),
        (["demo", "-o", "no/such/folder"], "no/such"),
        (["check", "pets.toml"], "netCDF"),
        (["check", "none.nc"], "none.nc"),
        (["compare", "t.csv", "-o", "out"], "two"),
        (["compare", "t.csv", "t.csv", "-o", "out"], "t.csv"),
        (["compare", "t.csv", "none.csv", "-o", "out"], "none.csv"),
        (["compare", "t.csv", "t.csv", "-o", "vectors.txt"], ".html, .md, .tex, .docx, .csv, .json"),
        (["debias", "vectors.txt", "--sets", "gendr_bolukbasi", "-o", "d.npz"], "'gender_bolukbasi'"),
        (["debias", "vectors.txt", "--sets", "gender_bolukbasi", "-o", "d.csv"], ".npz"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--method", "sof"], "'soft'"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--strength", "1"], "strength"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d", *2 * ["--method", "hard"]], "hard"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--max-lost", "0.4"], "--study"),
        (
            ["debias", "vectors.txt", "--sets", "x", "-o", "t.csv", "--method", "hard", "--method", "soft"],
            "t.csv",
        ),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--method", "gn_glove+"], "method=''"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--study", "pets.toml"], "a folder is written"),
        (["debias", "vectors.txt", "--sets", "x", "-o", "d.npz", "--method", "hard", "--method", "misp"], "2 methods"),
        (["report", "pets.toml", "-o", "r.html"], "netCDF"),
        (["report", "pets.toml", "-o", "r.md"], "r.md is not the name of a page"),
        (["report", "pets.toml", "-o", "r"], "r is not the name of a page"),
        (["report", "none.nc", "-o", "no/r.html"], "no/r.html"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--targets", "cats,birds"], "'birds'"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--statistic", "media"], "statistic"),
        (["project", "vectors.txt", "--axis", "gendr", "--words", "pets.toml"], "'gender'"),
        (["project", "vectors.txt", "--axis", "gender"], "--words"),
        (["project", "vectors.txt", "--axis", "gender", "--ratings", "vectors.txt"], "column 'word'"),
        (["measure", "waet", "vectors.txt", "--study", "pets.toml"], "'weat'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "dof=0"], "'ddof'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof"], "key=value"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof=two"], "--option ddof=two"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "a={[1]:2}"], "'a'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "study=x"], "'study'"),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "targets=[[]]"], "[]"),
        (
            ["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "ddof=1", "--option", "ddof=0"],
            "'ddof'",
        ),
        (["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "targets=cats,birds"], "'birds'"),
        (["measure", "db_wa", "vectors.txt", "--study", "pets.toml", "--option", "base_pairs=1"], "pairs"),
        (["measure", "db_wa", "vectors.txt", "--study", "pets.toml"], "base pair"),
        (["measure", "nbm", "vectors.txt", "--study", "pets.toml", "--option", "base_pairs=[('cat','dog')]"], "k=100"),
        (["null", "--sd", "-1"], "--sd -1"),
        (["null", "-o", "null.jpg"], ".png"),
        (["null", "--protected", "1", "8"], "protected"),
        (["null", "--effect-size", "nan"], "--effect-size"),
        (["null", "--mac", "nan"], "--mac nan"),
        (["null", "--mac", "2.1"], "--mac 2.1"),
        (["weat", "vectors.txt", "--study", "pets.toml", "--max-lost", "20"], "--max-lost 20"),
        (
            ["measure", "weat", "vectors.txt", "--study", "pets.toml", "--option", "max_lost=1"],
            "'max_lost'",
        ),
        (["demo", "--sed", "1"], "--seed"),
    ],
)
def test_a_users_mistake_is_one_message_and_an_exit_code(
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
    is_fault = message in _MISSING  # the machine may have the file later, or let it be written
    assert in_process(*arguments, monkeypatch=monkeypatch) == (1 if is_fault else 2)
    shown = capsys.readouterr()
    assert message.lower() in shown.err.lower()
    assert "Traceback" not in shown.err
    assert not shown.out, "nothing that looks like an answer"
    assert sorted(path.name for path in workplace.iterdir()) == before, "nothing is left behind"

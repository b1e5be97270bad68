"""Commands of `bayesbias.cli.first_answer`."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from warnings import catch_warnings, simplefilter

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.cli.first_answer import table_beside
from bayesbias.cli.options import OPTIONS
from bayesbias.errors import InputFileError, QuestionWarning
from bayesbias.workers.workers import this_process
from tests.base.files.test_files_that_change import before_opening
from tests.base.files.users import STRANGER, needs_root
from tests.cli.running import in_process, run


@pytest.mark.slow
def test_the_demo_says_what_is_settled_and_links_to_a_page_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a model that is quick to fit, and pages that are not made; `make demo` and the wheel run the whole of it."""
    monkeypatch.setattr(bb, "audit", partial(bb.audit, model="hierarchical", draws=100))
    monkeypatch.setattr("bayesbias.delivery.page.fit_details", lambda *_, **__: [])
    # Processes would not know what is set here.
    monkeypatch.setattr("bayesbias.workers.process_workers.process_workers", lambda _: this_process())
    monkeypatch.chdir(tmp_path)
    assert in_process("demo", "-o", "shown", monkeypatch=monkeypatch) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.index("Asking 4 questions") < shown.index("Writing the figure") < shown.index("shown/report.html")
    every = pd.read_csv("shown/audit.csv", keep_default_na=False)
    contrasts = every[(every["measure"] == "contrast") & (every["protected_group"] == "")]
    assert contrasts["study"].tolist() == ["weat1", "weat7", "gender", "religion"]
    assert shown.count(", and this is settled.") == contrasts["reading"].isin(["nearer", "farther"]).sum()
    assert "draws=" not in shown
    assert shown.count("--draws N of `bayesbias fit`") == (contrasts["reading"] == "borderline").sum() > 0
    assert shown.count("Not settled.") == (contrasts["reading"] == "not settled").sum()
    for row in contrasts.to_dict("records"):
        assert f"{bb.load_study(row['study']).description} " in shown
        assert f"{float(row['mean']):+.3f} (observed {float(row['observed']):+.3f}), 89% interval" in shown
    page = Path("shown/report.html").read_text(encoding="utf-8")
    for number in range(1, 5):
        assert f'href="question_{number}.html"' in page
        assert Path(f"shown/question_{number}.html").is_file()
    assert in_process("demo", "-o", "shown", "--quiet", "--overwrite", "--seed", "2", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr() == ("", "")


def test_lost_words_stop_a_command_unless_they_are_allowed(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    lines = (workplace / "vectors.txt").read_text().splitlines()
    (workplace / "vectors.txt").write_text("".join(f"{line}\n" for line in lines if not line.startswith("nap ")))
    given = ("vectors.txt", "--study", "pets.toml")
    table, score = ("table", *given, "-o", "t.csv"), ("measure", "weat_score", *given)
    for command in (table, score, ("random-lists", *given)):
        assert in_process(*command, monkeypatch=monkeypatch) == 2
        shown = capsys.readouterr().err
        assert "1 of the 2 of 'quiet' (nap)" in shown
        assert "--max-lost 0.5" in shown
    assert not (workplace / "t.csv").exists()
    for command in (table, score):
        assert in_process(*command, "--max-lost", "0.5", monkeypatch=monkeypatch) == 0
        assert capsys.readouterr().err.startswith("warning: The embedding 'vectors' lacks 1 word: 1 of the 2")
    assert (workplace / "t.csv").exists()


@pytest.mark.slow
def test_two_commands_lead_from_an_embedding_to_an_answer(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Warnings are errors, except our own, which are printed; the fit is a process of its own, with a pipe."""
    monkeypatch.chdir(workplace)
    table = ("table", "vectors.txt", "--study", "pets.toml", "--output", "pets.csv")
    assert in_process(*table, monkeypatch=monkeypatch) == 0
    built = capsys.readouterr()
    assert built.err == ""
    assert "4 protected words, 6 attribute words, 24 pairs: 8 associated, 8 different, 8 neutral." in built.out
    settings = ["--model", "hierarchical", "--seed", "1", "--draws", "3000", "--rope", "0.05"]
    fitted = run("fit", "pets.csv", "-o", "pets", *settings, folder=workplace)
    assert fitted.returncode == 0, fitted.stderr
    assert "WHAT IT DOES NOT SHOW" in fitted.stdout
    assert "%" not in fitted.stderr, "no progress bar in a pipe"
    made = {path.name for path in (workplace / "pets").iterdir()}
    assert {
        "table.csv",
        "fit.nc",
        "summary.csv",
        "contrasts.csv",
        "groups.png",
        "words.png",
        "distances.png",
        "conclusions.json",
    } < made
    summary = ("summary", "pets/fit.nc", "--level", "overall", "--rope", "0.05")
    assert in_process(*summary, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr()
    assert ("did not converge" in shown.err) == ("did not converge" in fitted.stderr)
    assert "associated - different" in shown.out
    assert "P(too small to matter)" in shown.out
    assert in_process("fit", "pets.csv", "-o", "pets", monkeypatch=monkeypatch) == 2
    assert "pets" in capsys.readouterr().err


def test_the_help_promises_no_page() -> None:
    assert "page" not in OPTIONS["fit.output"].text


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
    fit = bb.read_fit("fitted/fit.nc")
    first, *_ = bb.conclusions(fit).shown
    answer = " ".join(capsys.readouterr().out.rpartition("page.html")[0].split())
    assert answer.index(bb.conclusions(fit).verdict.text) < answer.index(first.text) < answer.rindex("Wrote")
    quick = ["report", "fitted/fit.nc", "-o", "quick.html", "--quick"]
    assert in_process(*quick, monkeypatch=monkeypatch) == 0
    assert "This is a quick page." in Path("quick.html").read_text(encoding="utf-8")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Changes from wikipedia2018_skipgram_seed1 to debiased" in page
    assert not [name for name in names if "bayesbias-" in name], "nothing unfinished is left behind"


@pytest.fixture
def fit_and_table(tmp_path: Path) -> tuple[Path, Path]:
    """Files beside each other; of the fit, only its user matters."""
    fit = tmp_path / "fit.nc"
    fit.touch()
    return fit, bb.write_table(
        bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz")), tmp_path / "table.csv"
    )


@needs_root
def test_a_table_that_a_stranger_put_beside_a_fit_is_not_read(fit_and_table: tuple[Path, Path]) -> None:
    fit, table = fit_and_table
    assert table_beside(fit, table) is not None
    os.chown(table, STRANGER, STRANGER)
    with pytest.warns(QuestionWarning, match=r"does without the table.*table.csv is a file of another user"):
        assert table_beside(fit, table) is None


@pytest.mark.skipif(os.name == "nt", reason="links are of Unix")
def test_a_link_beside_a_fit_is_not_followed(fit_and_table: tuple[Path, Path]) -> None:
    fit, table = fit_and_table
    table.symlink_to(table.rename(table.with_name("private.csv")))
    with pytest.warns(QuestionWarning, match=r"does without the table.*table.csv is a link"):
        assert table_beside(fit, table) is None


@needs_root
@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("is_link", [True, False])
def test_a_table_that_is_replaced_while_it_is_read_is_judged_when_it_is_open(
    fit_and_table: tuple[Path, Path], number: int, is_link: bool
) -> None:
    """Whenever a link or a stranger's file takes its place, the table is the user's, or there is none."""
    fit, table = fit_and_table
    own, other = bb.read_table(table), table.with_name("other.csv")
    bb.write_table(own.assign(distance=1.0), other)

    def replace() -> None:
        table.unlink()
        if is_link:
            table.symlink_to(other)
        else:
            os.chown(other, STRANGER, STRANGER)
            other.rename(table)

    read = None
    with before_opening(table, number, replace) as opened, suppress(InputFileError), catch_warnings():
        simplefilter("ignore", QuestionWarning)
        read = table_beside(fit, table)
    assert (read is None) == (opened[0] >= number)
    assert read is None or read.equals(own)

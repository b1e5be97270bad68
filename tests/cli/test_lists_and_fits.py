"""Commands of `bayesbias.cli.lists_and_fits`."""

import json
import shlex
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.cli.base import describe
from tests.cli.running import in_process
from tests.reports.covariates.made import made_table
from tests.reports.made import made_fit


def test_studies_are_listed_shown_and_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("studies", monkeypatch=monkeypatch) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in bb.list_studies())
    assert in_process("studies", "show", "weat7", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "Associated: math with male" in shown
    assert "Next: bayesbias table VECTORS --study weat7" in shown
    assert in_process("studies", "weat7", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == shown
    assert in_process("studies", "weta7", monkeypatch=monkeypatch) == 2
    assert "did you mean 'weat7'?" in capsys.readouterr().err
    mine = tmp_path / "mine.toml"
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 0
    assert bb.load_study(str(mine)).protected
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 2
    assert "exists" in capsys.readouterr().err


def test_models_are_listed_and_shown_with_their_priors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("models", monkeypatch=monkeypatch) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in bb.list_models())
    assert in_process("models", "crossed", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert all(f"{name:20} {prior}" in shown for name, prior in bb.load_model("crossed").priors.items())
    assert in_process("models", "crossed", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["crossed"]["switches"]["pooling"] == "partial"
    assert in_process("models", "cross", monkeypatch=monkeypatch) == 2
    assert "'crossed'" in capsys.readouterr().err


def test_a_study_of_weathub_is_written_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"targ1": ["Mathe"], "targ2": ["Kunst"], "attr1": ["Männer"], "attr2": ["Frauen"]}
    tests = {"weat7": {name: {"category": name, "examples": entries} for name, entries in words.items()}}
    (tmp_path / "w.json").write_text(json.dumps({"de_human": tests}))
    study, vectors = tmp_path / "s.toml", tmp_path / "v.txt"
    vectors.write_text("Mathe 1 0\nkunst 0 1\nMa\u0308nner 1 1\n", encoding="utf-8")
    weathub = ("studies", "weathub", tmp_path / "w.json", "de_human", "weat7", "-o", study)
    assert in_process(*weathub, monkeypatch=monkeypatch) == 0
    assert bb.load_study(study).language == "de"
    capsys.readouterr()
    assert in_process("words", vectors, "--study", study, "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["words"]
    assert [(row["word"], row["left_out"], row["near"]) for row in rows] == [
        ("Mathe", "", ""), ("Kunst", "case", "kunst"), ("Männer", "", ""), ("Frauen", "absent", "")
    ]  # fmt: skip


def test_a_summary_is_printed_as_text_and_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = made_fit(draws=50)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    overall = ["summary", path, "--level", "overall", "--rope", "0.02"]
    assert in_process(*overall, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "associated - different" in shown
    assert "P(too small to matter)" in shown
    assert "word_sd" not in shown, "hyperparameters are printed on request"
    everything = [*overall, "--parameters", "overall"]
    assert in_process(*everything, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "in units of cosine distance" in shown
    assert "without a unit" not in shown, "this model has no parameter without one"
    assert shown.index("associated - different") < shown.index("connection_mean  ") < shown.index("word_sd")
    assert in_process(*everything, "--json", monkeypatch=monkeypatch) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [row["mean"] for row in tables["contrasts"]] == bb.contrasts(fit, rope=0.02)["mean"].tolist()
    parameters = [row["parameter"] for name in ("means", "parameters") for row in tables[name]]
    assert sorted(parameters) == sorted(bb.summary(fit, level="overall")["parameter"])


def test_the_methods_are_those_of_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = made_fit(draws=50)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    assert in_process("methods", path, "--hdi-prob", "0.5", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.strip() == bb.methods(fit, hdi_prob=0.5)
    assert in_process("methods", path, "--json", monkeypatch=monkeypatch) == 0
    written = json.loads(capsys.readouterr().out)
    assert bb.methods(fit).startswith(f"{written['methods']}\n\n```bibtex\n{written['bibtex']}\n```\n\n")
    assert [item["item"] for item in written["guidelines"]][:2] == ["Preamble A", "Preamble B"]
    assert in_process("methods", path, "--output", tmp_path / "methods.md", monkeypatch=monkeypatch) == 0
    assert (tmp_path / "methods.md").read_text(encoding="utf-8") == f"{bb.methods(fit)}\n"
    assert in_process("methods", path, "--output", tmp_path / "methods.md", monkeypatch=monkeypatch) == 2
    assert in_process("methods", path, "--output", tmp_path / "methods.bib", monkeypatch=monkeypatch) == 0
    entries = (tmp_path / "methods.bib").read_text(encoding="utf-8")
    assert entries == f"{written['bibtex']}\n"
    assert entries.startswith("@")
    assert "We measured" not in entries
    assert in_process("methods", path, "--output", tmp_path / "methods.tex", monkeypatch=monkeypatch) == 0
    assert r"\nocite{" in (tmp_path / "methods.tex").read_text(encoding="utf-8")
    capsys.readouterr()
    assert in_process("methods", path, "--output", tmp_path / "methods.pdf", monkeypatch=monkeypatch) == 2
    assert "a .tex file for the text" in " ".join(capsys.readouterr().err.split())


def test_the_rope_of_fit_is_that_of_all_later_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    path = bb.write_table(table[table["connection"].isin(["associated", "different"])], tmp_path / "table.csv")
    options = ("--model", "hierarchical", "--draws", "100", "--seed", "1", "--rope", "0.03", "--quiet")
    assert in_process("fit", path, "--output", tmp_path / "fit", *options, monkeypatch=monkeypatch) == 0
    fit, fitted = tmp_path / "fit" / "fit.nc", bb.read_fit(tmp_path / "fit" / "fit.nc")
    assert bb.models.fit_attribute(fitted, "rope") == [-0.03, 0.03]
    expected = bb.contrasts(fitted, rope=0.03)["probability_in_rope"].tolist()
    assert bb.contrasts(fitted)["probability_in_rope"].tolist() == expected
    assert bb.contrasts(fitted, rope=0.05)["probability_in_rope"].tolist() != expected
    assert bb.report(fitted).rope == (-0.03, 0.03)
    assert bb.report(fitted, rope=0.05).rope == (-0.05, 0.05)
    assert "relevance" not in {limit.kind for limit in bb.conclusions(fitted).limits}
    capsys.readouterr()
    for option, ends in (((), "-0.03 to 0.03"), (("--rope", "0.05"), "-0.05 to 0.05")):
        assert in_process("summary", fit, *option, monkeypatch=monkeypatch) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"From {ends}, a difference is too small to matter." in shown
    assert in_process("contrast", fit, "math", "male", "math", "female", "--json", monkeypatch=monkeypatch) == 0
    assert "probability_in_rope" in capsys.readouterr().out
    for option, ends in (((), "-0.030 to +0.030"), (("--rope", "0.05"), "-0.050 to +0.050")):
        assert in_process("methods", fit, *option, monkeypatch=monkeypatch) == 0
        assert f"Differences from {ends} count as too small" in capsys.readouterr().out


def test_factors_of_a_study_are_analysed_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One TOML file leads to the effects: `table`, `fit`, `factors`."""
    study = tmp_path / "names.toml"
    study.write_bytes(bb.bundled("data", "studies", "names_race_gender.toml").read_bytes())
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    table, fit, page = tmp_path / "names.csv", tmp_path / "fit", tmp_path / "names.html"
    options = ("--case", "exact,lower", "--max-lost", "0.5", "--no-controls", "--quiet")
    assert in_process("table", vectors, "--study", study, "-o", table, *options, monkeypatch=monkeypatch) == 0
    options = ("--draws", "200", "--seed", "1", "--quiet")
    assert in_process("fit", table, "-o", fit, *options, monkeypatch=monkeypatch) == 0
    assert {"factor_effects.csv", "factor_means.csv", "factors.png"} <= {file.name for file in fit.iterdir()}
    fitted = bb.read_fit(fit / "fit.nc")
    effects = bb.factor_effects(fitted)
    assert pd.read_csv(fit / "factor_effects.csv")["mean"].tolist() == pytest.approx(effects.effects["mean"].tolist())
    capsys.readouterr()
    assert in_process("factors", fit / "fit.nc", "-o", page, monkeypatch=monkeypatch) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert effects.statements[0].text in shown
    html = unescape(page.read_text(encoding="utf-8"))
    assert "Effects of race x gender on the lean pleasant - unpleasant" in html
    assert in_process("factors", fit / "fit.nc", "--json", "--rope", "0.02", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["effects"]
    assert [row["source"] for row in rows][:4] == ["mean", "race", "gender", "race x gender"]
    assert "probability_in_rope" in rows[0]
    assert in_process("studies", "show", "names_race_gender", monkeypatch=monkeypatch) == 0
    assert "Factor race: white (white_women, white_men); black" in capsys.readouterr().out


def test_the_intervals_of_fit_are_those_of_all_later_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    path = bb.write_table(table[table["connection"].isin(["associated", "different"])], tmp_path / "table.csv")
    options = ("--model", "hierarchical", "--draws", "100", "--seed", "1", "--hdi-prob", "0.95", "--quiet")
    assert in_process("fit", path, "--output", tmp_path / "fit", *options, monkeypatch=monkeypatch) == 0
    fit, fitted = tmp_path / "fit" / "fit.nc", bb.read_fit(tmp_path / "fit" / "fit.nc")
    assert "(95% HPDI" in (tmp_path / "fit" / "conclusions.txt").read_text(encoding="utf-8")
    sides = (("math", "male"), ("math", "female"))
    makers = (bb.summary, bb.contrasts, lambda fit, **options: bb.planned_contrasts(fit, *sides, **options))
    assert [make(fitted).settings["hdi_prob"] for make in makers] == [0.95] * 3
    assert [make(fitted, hdi_prob=0.5).settings["hdi_prob"] for make in makers] == [0.5] * 3
    assert (bb.report(fitted).hdi_prob, bb.report(fitted, hdi_prob=0.5).hdi_prob) == (0.95, 0.5)
    commands: tuple[tuple[Any, ...], ...] = (("summary", fit), ("methods", fit))
    for command, (option, prob) in product(commands, (((), "95%"), (("--hdi-prob", "0.5"), "50%"))):
        capsys.readouterr()
        assert in_process(*command, *option, monkeypatch=monkeypatch) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{prob} HPDI" in shown or f"highest posterior density intervals of {prob}" in shown
    del fitted.attrs["hdi_prob"]  # as in a fit of draws that a user sampled
    assert bb.contrasts(fitted).settings["hdi_prob"] == 0.89


def test_tables_for_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bb.write_fit(made_fit(draws=50), tmp_path / "fit.nc")
    summary, contrast = tmp_path / "a_summary.tex", tmp_path / "contrast.md"
    assert in_process("summary", path, "-o", summary, "--hdi-prob", "0.5", monkeypatch=monkeypatch) == 0
    text = summary.read_text(encoding="utf-8")
    assert text.count(r"50\% HPDI") == text.count(r"\begin{table}") == text.count(r"\label{tab:a-summary}") == 1
    assert "All words &" in text
    every = ("summary", path, "-o", summary, "--overwrite", "--parameters", "all")
    assert in_process(*every, monkeypatch=monkeypatch) == 0
    text = summary.read_text(encoding="utf-8")
    names = ("contrasts", "means", "parameters")
    assert [text.count(rf"\label{{tab:a-summary-{name}}}") for name in names] == [1, 1, 1]
    csv = tmp_path / "summary.csv"
    assert in_process("summary", path, "-o", csv, monkeypatch=monkeypatch) == 0
    assert pd.read_csv(csv)["protected_group"].tolist()[:3] == ["All words", "group 0", "group 1"]
    sides = ("group 0", "associated", "group 0", "different")
    assert in_process("contrast", path, *sides, "-o", contrast, monkeypatch=monkeypatch) == 0
    assert "group 0 to associated" in contrast.read_text(encoding="utf-8")
    assert in_process("contrast", path, *sides, "-o", contrast, monkeypatch=monkeypatch) == 2
    assert in_process("contrast", path, *sides, "-o", contrast, "--overwrite", monkeypatch=monkeypatch) == 0


def test_covariate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table, shares, output = made_table(), tmp_path / "shares.csv", tmp_path / "shares"
    bb.write_table(table.drop(columns="share"), tmp_path / "table.csv")
    frame = table[["protected_word", "share"]].drop_duplicates()
    frame.rename(columns={"protected_word": "word"}).to_csv(shares, index=False)
    command = ("covariate", tmp_path / "table.csv", "--covariates", shares, "--draws", "100", "--seed", "1")
    assert in_process(*command, "--lists", "far, near", "-o", output, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {
        "report.html",
        "covariate.png",
        "conclusions.txt",
        "conclusions.json",
        "effects.csv",
        "words.csv",
        "line.csv",
        "fit.nc",
    }
    assert {path.name for path in output.iterdir()} == made
    fit = bb.read_fit(output / "fit.nc")
    assert in_process("methods", output / "fit.nc", monkeypatch=monkeypatch) == 0
    assert "the change of the lean for one unit of 'share'" in capsys.readouterr().out
    page = unescape((output / "report.html").read_text(encoding="utf-8"))
    assert json.loads(fit.attrs["table_hash"]) in page
    assert "draws=100, tune=" in page
    assert "random_seed=1, covariates=covariates)" in page
    assert "covariates = read_covariates('" in page
    assert "# On the command line: bayesbias covariate " in page
    assert "bb.covariate_effect(fit, ('far', 'near'))" in page
    assert "these words" in page
    assert "these_words" not in page
    assert "Probability inside the intervals" in page
    assert {row["contrast"] for row in data["tables"]["effects"]} == {"far - near"}
    frame.iloc[1:].rename(columns={"protected_word": "word"}).to_csv(shares, index=False)
    again = (*command, "--lists", "far,near", "-o", output, "--overwrite")
    assert in_process(*again, monkeypatch=monkeypatch) == 2
    assert "has no number for 1 of" in capsys.readouterr().err
    assert in_process(*again, "--drop-unrated", monkeypatch=monkeypatch) == 0
    assert "Left out 1 protected word of" in capsys.readouterr().err
    effect = bb.covariate_effect(bb.read_fit(output / "fit.nc"), ("far", "near"))
    again_in_python: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    with pytest.warns(bb.errors.LostWordsWarning):
        exec(effect.contents.code, again_in_python)
    pd.testing.assert_frame_equal(again_in_python["effect"].effects, effect.effects)
    told = effect.contents.code.splitlines()[0].removeprefix("# On the command line: bayesbias ")
    assert in_process(*shlex.split(told), monkeypatch=monkeypatch) == 0
    pd.testing.assert_frame_equal(pd.read_csv("covariate/effects.csv"), pd.read_csv(output / "effects.csv"))
    assert in_process(*command, "--lists", "far", "-o", output, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "female,male" in capsys.readouterr().err


def test_fit_with_covariates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.write_table(made_table().drop(columns="share"), tmp_path / "table.csv")
    shares = tmp_path / "shares.csv"
    shares.write_text("word,share\n" + "".join(f"<b>w{place},{place**2}\n" for place in range(9)))
    settings = ("--draws", "50", "--chains", "2", "--seed", "1", "-o", tmp_path / "fit")
    arguments = ("fit", tmp_path / "table.csv", "--covariates", shares, *settings)
    assert in_process(*arguments, monkeypatch=monkeypatch) == 0
    fitted = bb.read_fit(tmp_path / "fit" / "fit.nc")
    assert fitted["constant_data"]["covariate"].to_numpy().tolist() == ["share"]
    printed = " ".join(capsys.readouterr().out.split())
    assert f"DO LEANS FOLLOW THE COVARIATES? {bb.covariate_effect(fitted).contents.answer}" in printed


def test_a_check_is_printed_and_written(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    table = bb.distance_table(bb.load_embedding("vectors.txt"), "pets.toml")
    bb.write_fit(bb.fit(table, "hierarchical", draws=50, random_seed=1, progress=False), "fit.nc")
    assert in_process("check", "fit.nc", "-o", "checked", "--seed", "1", "--json", monkeypatch=monkeypatch) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert {"posterior_statistics", "prior_distances"} <= set(tables)
    written = {path.name for path in (workplace / "checked").iterdir()}
    assert {"check.png", "prior.png", "posterior_coverage.csv"} <= written


def test_the_size_of_a_table_says_which_lists_are_associated(short_table: pd.DataFrame) -> None:
    assert describe(short_table).endswith(". Associated: 'math' with 'male'; 'arts' with 'female'.")

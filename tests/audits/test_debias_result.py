"""What a report on debiasing says: every number is that of the function that gives it alone."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.debias_result import COLUMNS
from bayesbias.base.results import BEFORE_ANSWER
from bayesbias.base.statements import Statement, StatementList
from bayesbias.errors import BayesBiasWarning, ReportError
from tests.audits import debiased_pets as pets
from tests.audits.pets import WORDS, study


@pytest.fixture(scope="module")
def report() -> bb.audits.DebiasReport:
    return pets.report()


def row_of(report: bb.audits.DebiasReport, **where: str) -> dict[str, object]:
    rows = report.table
    for name, value in where.items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row


def test_every_embedding_method_and_measure_has_a_row(report: bb.audits.DebiasReport) -> None:
    assert tuple(report.table.columns) == COLUMNS
    assert report.table["method"].tolist() == 2 * [*2 * ["original"], *2 * ["linear"], *2 * ["weak"]]
    originals = report.table["method"] == "original"
    numbers = ["value", "value_low", "value_high", "change", "change_low", "change_high"]
    assert report.table.loc[originals, numbers[3:]].isna().all(axis=None)
    assert np.isfinite(report.table.loc[~originals, numbers]).all(axis=None)
    assert report.table["better"].tolist() == 6 * ["", "lower"]
    associations = report.table["kind"] == "association"
    assert report.table.loc[associations, "observed"].notna().all()
    assert report.table.loc[~associations, ["observed", "change_observed"]].isna().all(axis=None)


def test_settled_changes_are_judged_together(report: bb.audits.DebiasReport) -> None:
    def judged(report: bb.audits.DebiasReport) -> list[Statement]:
        return [one for part in report.parts for one in part.statements if one.kind == "by chance"]

    assert not judged(report)  # few questions
    more = pd.concat([report.table.assign(embedding=report.table["embedding"] + copy) for copy in "abc"])
    report = replace(report, table=more)
    rows = more[(more["kind"] == "association") & (more["method"] != "original")]
    (statement,) = judged(report)
    settled = rows[~rows["reading"].isin(["not settled", "borderline", "no change"])]
    assert list(statement.numbers["wrong"]) == [f"{row.embedding}, {row.method}" for row in settled.itertuples()]
    assert re.search(r"settled results? \(one for each embedding and method\)", statement.text)
    assert report.contents.tables["methods"].note == str(statement)
    assert rows["probability_of_direction"].between(0.5, 1).all()


def test_draws_that_did_not_converge_are_said_first(report: bb.audits.DebiasReport, tmp_path: Path) -> None:
    doubtful = replace(report, not_converged={("E1", "linear"): "R-hat is 1.36."})
    (first, *_) = doubtful.parts
    assert first.statements[0].kind == "convergence"
    assert "DO NOT REPORT THE NUMBERS OF linear (E1) YET. R-hat is 1.36." in str(doubtful)
    bb.write(doubtful, tmp_path / "page.html")
    assert "R-hat is 1.36." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_an_association_is_that_of_a_fit_and_its_change_that_of_a_trend(report: bb.audits.DebiasReport) -> None:
    source = pets.embedding()
    changed = bb.debias.LinearProjection().fit(source, pets.SETS).transform(source)
    tables = {"original": bb.distance_table(source, study()), "linear": bb.distance_table(changed, study())}
    moved = bb.trend(tables, draws=500, random_seed=5, progress=False)
    change, contrast = moved.changes.iloc[0], moved.contrasts[moved.contrasts["condition"] == "linear"].iloc[0]
    assert contrast["mean"] == bb.contrasts(moved.fits["linear"]).iloc[0]["mean"]
    row = row_of(report, embedding="E1", method="linear", kind="association")
    assert row["change"] == pytest.approx(change["mean"])  # that of the averages, without error
    # Draws of 400 and of 2,000: within the Monte Carlo error of the former.
    assert row["value"] == pytest.approx(contrast["mean"], abs=4 * contrast["sd"] / np.sqrt(400))
    for end in ("low", "high"):
        assert row[f"change_{end}"] == pytest.approx(change[f"hdi_{end}"], abs=0.4 * change["sd"])
    assert row["reading"] == change["reading"]
    assert (row["items"], row["lost"]) == (len(tables["linear"]), 0)


def test_a_score_and_its_change_are_those_of_the_functions_alone(report: bb.audits.DebiasReport) -> None:
    source = pets.embedding()
    changed = bb.debias.LinearProjection().fit(source, pets.SETS).transform(source)
    alone = {"random_seed": 1}
    before = bb.metrics.measure("vocabulary_direct_bias", source, reference=source, **alone)
    after = bb.metrics.measure("vocabulary_direct_bias", changed, reference=source, **alone)
    row = row_of(report, embedding="E1", method="linear", kind="bias")
    assert (row["value"], row["value_low"], row["value_high"]) == (after.value, *after.interval)
    change = bb.metrics.paired_change(before, after, random_seed=1).iloc[0]
    assert [row["change"], row["change_low"], row["change_high"]] == change[["change", "hdi_low", "hdi_high"]].tolist()


def test_a_planted_association_goes_with_its_axis_and_stays_with_a_method_that_does_nothing(
    report: bb.audits.DebiasReport,
) -> None:
    for name in ("E1", "E2"):
        before, linear, weak = (
            row_of(report, embedding=name, method=method, kind="association")
            for method in ("original", "linear", "weak")
        )
        assert before["value_high"] < 0
        assert linear["change_low"] > 0
        assert linear["reading"] in ("smaller, no longer settled", "smaller")
        assert (weak["change"], weak["reading"]) == (0, "no change")
        assert weak["value"] == pytest.approx(before["value"], abs=0.05)
    assert "after weak (in 2 of 2): the same in both" in report.verdict.text


def doubts_of(report: bb.audits.DebiasReport) -> StatementList:
    (doubts,) = (part for part in report.parts if part.title == "Doubts")
    return doubts


def test_the_text_says_the_numbers(report: bb.audits.DebiasReport) -> None:
    statements = [statement for part in report.parts for statement in part.statements]
    kinds = ["answer", "association", "association", "score", "score", "other", "other", "other"]
    assert [statement.kind for statement in statements] == kinds
    assert "--measure word_similarity=" not in statements[-1].text
    assert "measures=[('word_similarity', 'ws353.txt')]" in statements[-1].text
    row = row_of(report, embedding="E1", method="linear", kind="association")
    assert f"linear ({row['change']:+.3f}, {row['change_low']:+.3f} to {row['change_high']:+.3f})" in statements[1].text
    assert statements[1].numbers["rows"][1]["change"] == row["change"]
    assert repr(report) == "DebiasReport(2 embeddings, 3 methods, 2 measures)"


def test_no_change_is_written_as_0(report: bb.audits.DebiasReport) -> None:
    """A method that leaves the vectors as they are changes no number: its interval holds 0 alone."""
    table = report.table.copy()
    associations = (table["kind"] == "association") & (table["method"] != "original")
    assert associations.any()
    for change, text in ((0.0, "(0)"), (-0.0, "(0)"), (2e-6, "(+2.0e-06)")):
        table.loc[associations, ["change", "change_low", "change_high"]] = change
        written = str(replace(report, table=table))
        assert text in written
        assert "e+00" not in written


def test_what_has_no_number_is_said_once_and_the_others_go_on() -> None:
    measures = ["vocabulary_direct_bias", "recoverability"]
    methods = {"none": pets.Weak(), "gone": bb.debias.LinearProjection(components=9)}
    with pytest.warns(BayesBiasWarning, match="1 .* 2 "):
        partial_report = bb.debias_report(
            [pets.embedding()], study(), methods, sets=pets.SETS, measures=measures, **pets.SMALL
        )
    assert list(partial_report.failed) == [("E1", "gone")]
    assert list(partial_report.left_out) == [("E1", "original", "recoverability"), ("E1", "none", "recoverability")]
    doubts = doubts_of(partial_report)
    assert [statement.kind for statement in doubts.statements] == ["failed", "left out"]
    assert doubts.statements[1].numbers["methods"] == ["original", "none"]
    assert len(partial_report.table) == 4


def test_scores_of_few_items_are_told(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    pairs = "cat dog 9\ncat purr 5\ndog bark 6\ntom nap 2\n"
    path.write_text(pairs + "".join(f"unknown{number} dog {number}\n" for number in range(4)))
    small = pets.report(1, measures=[("word_similarity", path)])
    (doubt,) = doubts_of(small).statements
    assert not any("What a method cost" in limit.text for limit in small.contents.limits)
    assert (doubt.kind, doubt.numbers["items"]) == ("lost items", {"word_similarity (pairs)": (4, 8)})
    assert doubt.text.startswith("E1 lacks words of many items of word_similarity (pairs) (4 of 8).")


def test_the_verdict_says_what_it_cost(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("cat dog 9\ncat purr 5\ndog bark 6\ntom nap 2\n")
    small = pets.report(1, measures=[("word_similarity", path)])
    for change, words in ((-0.2, "worse after"), (0.2, "better after")):
        table = small.table.copy()
        linear = (table["method"] == "linear") & (table["kind"] == "quality")
        table.loc[linear, ["change", "change_low", "change_high"]] = change, change - 0.1, change + 0.1
        verdict = replace(small, table=table).verdict.text
        assert verdict.endswith(f"word_similarity (pairs): {words} linear; no change is settled after weak.")


def test_a_report_of_no_method_is_none() -> None:
    only = {"gone": bb.debias.LinearProjection(components=9)}
    with pytest.raises(ReportError, match="components=9"):
        bb.debias_report(
            [pets.embedding()], study(), only, sets=pets.SETS, measures=["vocabulary_direct_bias"], **pets.SMALL
        )


def test_correlations_are_those_of_the_values(report: bb.audits.DebiasReport) -> None:
    (row,) = bb.audits.measure_correlations(report).to_dict("records")
    values = report.table.pivot(index=["embedding", "method"], columns="measure", values="value")
    r = float(np.corrcoef(values["pets"], values["vocabulary_direct_bias"])[0, 1])
    assert (row["first"], row["second"], row["embeddings"]) == ("pets", "vocabulary_direct_bias", 6)
    assert row["correlation"] == pytest.approx(r)
    interval = row["hdi_low"], row["hdi_high"], row["probability_of_direction"]
    assert interval == bb.estimates.correlation_interval(row["correlation"], 6)
    with pytest.raises(ReportError, match="4 embeddings"):
        bb.audits.measure_correlations(pets.report(1))


def test_a_doubt_about_several_methods_is_said_once(report: bb.audits.DebiasReport) -> None:
    same, alone = Statement("tied words", "Same."), Statement("lost words", "Linear alone.")
    doubts = {("E1", "linear", "pets"): (same, alone), ("E1", "weak", "pets"): (same,)}
    doubts = doubts_of(replace(report, doubts=doubts))
    expected = ["pets in E1, linear, weak: Same.", "pets in E1, linear: Linear alone."]
    assert [statement.text for statement in doubts.statements] == expected


def test_a_contrast_that_closes_by_construction_is_said_before_the_answer(report: bb.audits.DebiasReport) -> None:
    closed = Statement("zero by construction", "The contrast is 0 by construction.")
    doubtful = replace(report, doubts={("E1", "linear", "pets"): (closed, Statement("tied words", "Tied."))})
    assert doubtful.parts[0].title == BEFORE_ANSWER
    assert [str(text) for text in doubtful.parts[0].statements] == [f"pets in E1, linear: {closed}"]
    assert [str(text) for text in doubts_of(doubtful).statements] == ["pets in E1, linear: Tied."]
    assert doubtful.contents.alerts == doubtful.parts[0].statements
    assert len(doubtful.contents.doubts) == 2


def test_a_study_without_a_contrast_has_no_change_and_says_why() -> None:
    one_list = bb.Study(
        name="one list",
        protected={"cats": WORDS[:3], "dogs": WORDS[3:6]},
        attributes={"quiet": WORDS[6:9]},
        associated=[("cats", "quiet")],
        human="none",
        neutral="none",
    )
    settings = {"sets": pets.SETS, "measures": ["vocabulary_direct_bias"], **pets.SMALL}
    with pytest.warns(BayesBiasWarning, match="no associated words to compare"):
        report = bb.debias_report(pets.embedding(), one_list, ["linear"], **settings)
    assert ("E1", "linear", "one list") in report.left_out


def test_words_that_a_method_equalized_are_a_doubt(tmp_path: Path) -> None:
    sets = replace(pets.SETS, equalize=[["tom", "pup"], ["purr", "bark"]])
    methods = {"hard": bb.debias.HardDebias(), "weak": pets.Weak()}
    settings = {"measures": ["vocabulary_direct_bias"], "cells": tmp_path / "cells", **pets.SMALL}
    source = pets.embedding()
    changed = bb.debias.HardDebias().fit(source, sets).transform(source)
    tables = {"original": bb.distance_table(source, study()), "hard": bb.distance_table(changed, study())}
    of_comparison = bb.compare_embeddings(tables, draws=100, random_seed=1, progress=False).doubts
    for _ in range(2):  # asked, then read from the folder of answers
        report = bb.debias_report([source], study(), methods, sets=sets, **settings)
        doubts = [doubt for doubt in report.contents.doubts if "methods" in doubt.numbers]
        assert [doubt.numbers["methods"] for doubt in doubts] == [["hard"]] * len(of_comparison)
        texts = [doubt.text for doubt in doubts]
        assert texts == [f"pets in E1, hard: {doubt}" for doubt in of_comparison]
        for words in (r"2 of \d protected words were equalized \(tom, pup\)", r"2 of \d attribute .*\(purr, bark\)"):
            assert any(re.search(words, text) for text in texts)

"""The sections on the posterior: which statements stand where, and what replaces what cannot be shown."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.base.results import MARKS
from bayesbias.base.statements import Statement
from bayesbias.changes.change_statements import explanations
from bayesbias.delivery.page import fit_sections as posterior
from bayesbias.delivery.page import fit_sections as robustness
from bayesbias.delivery.page.blocks import Beside, Bullets, Figure, Heading, Notice, Paragraph, Section, Table
from bayesbias.delivery.page.fit_sections import (
    PRIOR_SAMPLES,
    covariates_section,
    embeddings_section,
    predictions_section,
    priors_section,
    random_lists_section,
    sampler_section,
    single_numbers_section,
)
from bayesbias.delivery.page.sections import table_block
from bayesbias.metrics.associations.weat import weat
from bayesbias.models.spec import list_models, load_model, model_equations
from bayesbias.reports import fit_report
from bayesbias.reports.fit_report import FitReport, table_of
from bayesbias.reports.robustness.model_comparison import ModelComparison
from bayesbias.reports.robustness.random_list_check import RandomListCheck
from bayesbias.tables.measures import COSINE_DISTANCE
from tests.changes.changed_tables import QUICK, before_table, changed_table
from tests.delivery.page.pages import small_table
from tests.reports.covariates.made import made_fit
from tests.reports.made import made_fit as bare_fit


def test_headlines_are_the_statements_on_contrasts_and_on_words(given: FitReport) -> None:
    shown = given.conclusions.shown
    overall, words = posterior.overall_section(given), posterior.words_section(given)
    assert overall.slug == "overall"
    open_statements = [item.text for kind in ("contrast", "group") for item in shown if item.kind == kind]
    assert list(overall.headlines) == open_statements
    assert list(words.headlines) == [statement.text for statement in shown if statement.kind == "words"]
    (figure,) = [block for block in words.blocks if isinstance(block, Figure)]
    assert " ".join(words.headlines) in figure.alt


def test_differences_have_their_probabilities(given: FitReport) -> None:
    sections = posterior.overall_section(given), posterior.words_section(given)
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    tables.append(table_block(given.contents.tables["questions"]))
    shown = [table for table in tables if "P(too small" in str(table.header)]
    assert [table.header[0] for table in shown] == ["Difference", "Group", "Word", "Question"]
    assert [table.folded for table in shown] == [False, True, True, False]
    shown[-1] = replace(shown[-1], caption=shown[-1].caption.removesuffix(f". {MARKS}"))
    for table in shown:
        assert "89% HPDI; below 0, nearer" in table.caption
        assert "Observed" in table.header


def test_the_questions_of_the_study_are_answered(given: FitReport) -> None:
    assert given.contents.sections[0].title == "Questions"
    table = table_block(given.contents.tables["questions"])
    answer = bb.planned_contrasts(given.fit, ("winter", "cold"), ("summer <u>", "cold"), rope=0.02).iloc[0]
    (row,) = table.rows
    cells = dict(zip(table.header, row, strict=True))
    assert cells["Question"] == "<b>nearer</b> to cold"
    assert cells["Estimate"] == f"{answer['mean']:+.3f}"
    assert cells["Observed"] == f"{answer['observed']:+.3f}"


def test_without_contrasts_the_means_are_shown_and_the_rest_is_explained(controls_only: FitReport) -> None:
    for section in (posterior.overall_section(controls_only), posterior.words_section(controls_only)):
        notice, *others = [block for block in section.blocks if isinstance(block, Notice)]
        assert notice.text == f"No differences are shown. {controls_only.nothing_to_compare}"
        assert all("The fit has no attribute list 'cold'" in one.text for one in others)
        assert len(others) == (section.slug == "overall")
        assert not list(section.headlines)
        (figure,) = [block for block in section.blocks if isinstance(block, Figure)]
        assert sum(character.isdigit() for character in figure.alt) >= 4


def test_a_figure_that_is_too_tall_is_not_drawn(given: FitReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "_MOST_WORDS", 5)
    blocks = posterior.words_section(given).blocks
    assert isinstance(blocks[0], Notice)
    assert " 6 words" in blocks[0].text
    assert not any(isinstance(block, Figure) for block in blocks)


@pytest.fixture(scope="module")
def small_fit() -> xr.DataTree:
    return bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)


def page_of(small_fit: xr.DataTree) -> FitReport:
    return FitReport(small_fit, small_table(), None, None, 0.89, 1)


def of_kind(section: Section, kind: type) -> list:
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_sampler(small_fit: xr.DataTree) -> None:
    section = sampler_section(page_of(small_fit))
    assert "200 draws (100 in each of 2 chains)" in section.headlines[0]
    doubtful = small_fit.copy(deep=True)
    doubtful.attrs["convergence_problems"] = '["R-hat is high."]'
    section = sampler_section(page_of(doubtful))
    assert len(of_kind(section, Notice)) == 1
    assert of_kind(section, Bullets)[0].entries == ("R-hat is high.",)


@pytest.mark.parametrize("doubtful", [False, True])
def test_problems_of_the_predictions_are_those_of_the_check(small_fit: xr.DataTree, doubtful: bool) -> None:
    fit = small_fit.copy(deep=True)
    if doubtful:
        fit.attrs["convergence_problems"] = '["R-hat is high."]'
    problems = bb.check_posterior(fit, random_seed=1).problems
    assert bool(problems) or not doubtful
    section = predictions_section(page_of(fit))
    shown = [entry for bullets in of_kind(section, Bullets) for entry in bullets.entries]
    assert shown == [problem.text for problem in problems]
    misfits = any(problem.kind != "influential pairs" for problem in problems)
    assert section.headlines[0].endswith("misfits, which are listed below." if misfits else "found no misfit.")
    assert len(of_kind(section, Figure)) == 1
    assert [table.caption.split(" ")[0] for table in of_kind(section, Table)] == ["Shares", "Statistics"]


def test_problems_of_the_priors_are_those_of_the_check(small_fit: xr.DataTree) -> None:
    check = bb.check_prior(small_table(), "hierarchical", samples=PRIOR_SAMPLES, random_seed=1)
    section = priors_section(page_of(small_fit))
    assert of_kind(section, Bullets)[0].entries == tuple(problem.text for problem in check.problems)
    assert f"samples {PRIOR_SAMPLES}; random seed 1." in of_kind(section, Paragraph)[-1].text


def about(fit: xr.DataTree) -> FitReport:
    return FitReport(fit=fit, table=table_of(fit, None), comparison=None, rope=None, hdi_prob=0.89, random_seed=1)


def test_models_that_need_nuts_are_not_fitted_again(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    by_nuts = fit.copy()
    spec = load_model("crossed", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    by_nuts.attrs["model"] = json.dumps({**spec.to_dict(), "name": "by NUTS"})
    page = about(by_nuts)
    section = robustness.sensitivity_section(page)
    (notice,) = section.blocks
    assert isinstance(notice, Notice)
    assert "NUTS" in notice.text

    def compare(_: object, given: list[object], **__: object) -> ModelComparison:
        assert given == list(robustness.MODELS)
        frame = pd.DataFrame({"model": ["crossed"], "reading": ["preferred"]})
        numbers = ("elpd_words", "words_diff", "words_diff_se", "elpd_pairs", "pairs_diff", "pairs_diff_se")
        frame[list(numbers)] = 0.0
        row = {"contrast": "associated - different", "mean": -0.5, "sd": 0.1, "hdi_low": -0.7, "hdi_high": -0.3}
        rows = pd.DataFrame([{"model": "crossed", **row, "observed": -0.4}])
        return ModelComparison(frame, rows, {}, (), random_seed=1, hdi_prob=0.89, total_draws=2000)

    monkeypatch.setattr(robustness, "compare_models", compare)
    headlines = robustness.comparison_section(page).headlines
    assert "not compared here" in headlines[0]
    assert "-0.500 (-0.700 to -0.300) in crossed" in headlines[1]


def test_priors_of_the_fit_are_those_that_are_compared(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, priors={"sigma": "HalfNormal(0.2)"})

    def compare(_: object, given: list[object], **__: object) -> ModelComparison:
        raise LookupError(given)

    monkeypatch.setattr(robustness, "compare_models", compare)
    with pytest.raises(LookupError) as caught:
        robustness.comparison_section(about(fit))
    first, *others = caught.value.args[0]
    assert str(first.priors["sigma"]) == "HalfNormal(sigma=0.2)"
    assert others == ["crossed_per_list", "multivariate"]


def test_what_would_take_hours_or_more_memory_than_there_is_is_not_begun(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = about(fit)
    with monkeypatch.context() as limited:
        limited.setattr(memory, "free_memory", lambda: 100)
        (notice,) = robustness.comparison_section(page).blocks
        assert isinstance(notice, Notice)
        assert "GB are free" in notice.text
    monkeypatch.setattr(fit_report, "_MOST_PAIRS_FITTED", 20 * len(page.table))
    for section in (robustness.comparison_section, robustness.sensitivity_section):
        (notice,) = section(page).blocks
        assert isinstance(notice, Notice)
        assert "too long. Run bb." in notice.text
    assert page.skip_reason(20, "") == ""


def test_a_conclusion_on_the_edge_is_said(fit: xr.DataTree) -> None:
    page = about(fit)
    fitted_contrasts = bb.contrasts(fit)
    assert not ((fitted_contrasts["hdi_high"] < 0) | (fitted_contrasts["hdi_low"] > 0)).any()
    refitted = [
        {"contrast": "associated - different", "reading": "not settled", "hdi_low": -0.1, "hdi_high": 0.01},
        {"contrast": "associated - human", "reading": "nearer", "hdi_low": -0.1, "hdi_high": -0.001},
    ]
    (edge,) = robustness._edges(page, pd.DataFrame(refitted))
    assert "'associated - human' is on the edge" in edge
    assert "-0.100 to -0.001 in a refit" in edge


def test_weat_is_that_of_the_embedding() -> None:
    """The measure from vectors goes another way than the page, which has only the distances."""
    study = replace(bb.load_study("weat7"), human="none", neutral="none")
    embedding = bb.load_embedding(
        bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), words=study.words, case=("exact", "lower")
    )
    fit = bb.fit(bb.distance_table(embedding, study), "hierarchical", draws=50, chains=2, random_seed=1)
    section = single_numbers_section(about(fit))
    tables = [block for block in section.blocks if isinstance(block, Table)]
    (numbers,) = [block for block in tables if block.caption.startswith("WEAT: math and arts against male and female")]
    expected = weat(embedding, study, statistic="mean")
    assert numbers.rows[0][1] == f"{expected.effect_size:+.3f}"
    assert numbers.rows[2][1] == f"{expected.p_value:.4f}"
    assert np.isfinite(expected.effect_size)
    (mac,) = [block for block in tables if block.caption.startswith("MAC")]
    assert mac.rows[1][0] == "raw"


def test_weat_says_why_it_is_not_shown(table: pd.DataFrame) -> None:
    one = table[table["protected_group"] == "math"]
    section = single_numbers_section(about(bb.fit(one, "hierarchical", draws=50, chains=2, random_seed=1)))
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any(
        text == "WEAT is not shown: it compares two groups of protected words, and there are 1." for text in texts
    )
    assert any(text.startswith("Two groups are not tested") for text in texts)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda table: table.iloc[1:], "The table lacks 1 of 256 pairs of words: math - male."),
        (lambda table: table[table["attribute_group"] != "female"], "associates 'arts' with 0 attribute groups"),
    ],
)
def test_weat_says_what_is_missing(table: pd.DataFrame, change: object, reason: str) -> None:
    fit = bb.fit(change(table), "hierarchical", draws=50, chains=2, random_seed=1)  # type: ignore[operator]
    texts = [block.text for block in single_numbers_section(about(fit)).blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("WEAT is not shown: ") and reason in text for text in texts), texts


def test_without_covariates_a_line_names_command_and_function() -> None:
    section = covariates_section(bb.report(bare_fit(draws=50)))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias covariate TABLE" in line
    assert "bb.fit(table, covariates=...)" in line


def test_with_a_covariate_its_slope_is_shown() -> None:
    section = covariates_section(bb.report(made_fit()))
    assert {Figure, Table} <= {type(block) for block in section.blocks}
    assert "With a larger 'share', words lie nearer to near words, relative to far words." in section.headlines[0]


def embeddings_of(*, same: bool = False, names: tuple[str, ...] = ("new",)) -> Section:
    table = before_table()
    others = {name: table if same else changed_table(table, seed=place) for place, name in enumerate(names)}
    compared = bb.compare_embeddings({"old": table, **others}, **QUICK)
    fit = bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return embeddings_section(FitReport(fit, small_table(), compared, None, 0.89, 1))


@pytest.mark.parametrize("names", [("new",), ("new", "newer")])
def test_tables_are_explained_once(names: tuple[str, ...]) -> None:
    blocks = list(embeddings_of(names=names).blocks)
    places = [place for place, block in enumerate(blocks) if block == Heading("How to read it")]
    assert len(places) == 1
    assert blocks[places[0] + 1] == Bullets(tuple(str(statement) for statement in explanations(COSINE_DISTANCE)))
    assert sum("What it does not show" in str(block) for block in blocks) == 1
    summary, *figures = [block for block in blocks if isinstance(block, Figure)]
    assert "Above, the change from old" in summary.caption
    figures += [block.figure for block in blocks if isinstance(block, Beside)]
    assert len(figures) == len(names)
    figures.sort(key=lambda block: "newer" in block.caption)
    assert all(f"from old to {name}: " in block.alt for name, block in zip(names, figures, strict=True))
    assert all("Changes from old to " in block.caption and "contrasts in old" in block.caption for block in figures)


def test_where_nothing_differs_the_answer_says_so() -> None:
    unchanged = embeddings_of(same=True)
    assert unchanged.headlines[0].startswith("The contrast associated - different, from old to new: the same in both.")


def page_with_claims(claims: object) -> Any:
    return SimpleNamespace(claims=claims, facts={"study": "weat7"}, study_of_table=None)


def checked() -> RandomListCheck:
    """Return a check of 1,500 samples: the model claims 120 of them, a test 300."""
    model = {
        **{"method": "model", "rule": "89% interval", "nominal": 0.11, "samples": 1500, "claims": 0.08},
        **{"claims_se": 0.007, "quantity": "posterior mean", "sd": 0.02, "low": -0.03, "high": 0.03},
        **{"study_value": -0.05, "study_claims": True, "share_as_extreme": 0.01, "share_as_extreme_se": 0.003},
        **{"posterior_sd": 0.021, "error": 0.02, "error_se": 0.001},
    }
    weat = model | {"method": "weat", "rule": "p < 0.05", "nominal": 0.05, "claims": 0.2, "quantity": "effect size"}
    return RandomListCheck(
        methods=pd.DataFrame([model, weat]),
        contrasts=pd.DataFrame({"sample": [1, 2], "method": "model", "value": [0.01, 0.02], "claims": False}),
        drawn={"words": 16, "vocabulary": 400, "match": None, "window": 50},
        problems=(Statement("claims", "WEAT claims too often."),),
        model="model",
        study="weat7",
        embedding="vectors",
        samples=1500,
        not_fitted=0,
        hdi_prob=0.89,
        random_seed=1,
    )


def test_without_a_check_a_line_names_command_and_function() -> None:
    section = random_lists_section(page_with_claims(None))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias random-lists VECTORS --study weat7" in line
    assert "bb.check_random_lists(" in line


def test_the_command_for_a_study_of_ones_own_names_its_file_and_the_lost_words_that_it_allows() -> None:
    """A page printed --study age_competence, which is no file, without the --max-lost of its table."""
    study = bb.Study(
        name="age", protected={"old": ["elderly"]}, attributes={"bad": ["slow"]}, associated=[("old", "bad")]
    )
    facts = {"study": "age", "max_lost": 0.23}
    page: Any = SimpleNamespace(claims=None, facts=facts, study_of_table=study)
    (line,) = random_lists_section(page).headlines
    assert "random-lists VECTORS --study age.toml --max-lost 0.23, where VECTORS is" in line
    assert "age.toml has the text of the study below" in line


def test_a_check_is_shown_with_its_rates() -> None:
    check = checked()
    section = random_lists_section(page_with_claims(check))
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert "1,500 sets" in table.caption
    assert [row[:2] for row in table.rows] == [("model", "89% interval"), ("weat", "p < 0.05")]
    places = [table.header.index(name) for name in ("Nominal rate", "Claims")]
    shares = [[float(row[place].rstrip(" %")) for place in places] for row in table.rows]
    assert shares == [[11, 8], [5, 20]]
    about, model, *tests = map(str, check.summary)
    assert section.blocks[0] == Paragraph(check.contents.answer)
    assert Paragraph(about) in section.blocks
    assert Bullets((model, *tests)) in section.blocks
    assert list(section.headlines) == [model, "Beware: WEAT claims too often."]


@pytest.mark.parametrize("name", list_models())
def test_the_equations_name_the_parameters_with_priors(name: str) -> None:
    spec = load_model(name)
    text = " ".join(model_equations(spec))
    assert not {parameter for parameter in spec.priors if parameter not in text}

"""What a table's numbers measure: records, ranges, and reports that do not speak of other measures."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.errors import FitError, TableError
from bayesbias.reports.posterior.estimate_tables import estimate_table
from bayesbias.tables.measures import CHANGE, COSINE_DISTANCE, SURPRISAL, Measure, measure_faults, measure_of
from tests.models.test_scales import scores


@pytest.mark.parametrize("measure", [COSINE_DISTANCE, CHANGE, SURPRISAL, Measure("rating", "points")])
def test_records_are_read_back(measure: Measure) -> None:
    assert measure_of({"measure": measure.record()}) == measure
    assert list(measure_faults(measure.record())) == []
    assert measure.is_bounded == (measure in (COSINE_DISTANCE, CHANGE))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (5, "a section of texts"),
        ({**SURPRISAL.record(), "unit": 1}, "a section of texts"),
        ({**SURPRISAL.record(), "more": "x"}, "a section of texts"),
        ({**SURPRISAL.record(), "name": " "}, "must say a name"),
        ({**SURPRISAL.record(), "unit": "x" * 201}, "has a unit of more than 200 letters"),
        ({**SURPRISAL.record(), "column": "surprisl"}, "did you mean 'surprisal'"),
    ],
)
def test_faults_of_records_are_named(record: Any, message: str) -> None:
    (fault,) = measure_faults(record)
    assert message in fault


@pytest.fixture(scope="module")
def rated() -> xr.DataTree:
    return bb.fit(scores(20.0), draws=500, random_seed=1, progress=False)


def _surprisals(prompts: Sequence[Prompt]) -> list[list[float]]:
    """Return log probabilities: "he" is twice as likely after occupations of men, with noise."""
    rows = []
    for prompt in prompts:
        men = any(word in prompt.before for word in ("engineer", "pilot", "carpenter"))
        noise = [0.05 * (sum(map(ord, prompt.before + word)) * 7 % 20) for word in prompt.words]
        pairs = zip(noise, prompt.words, strict=True)
        rows.append([-1 - x - math.log(2) * ((word in ("he", "him", "his")) != men) for x, word in pairs])
    return rows


@pytest.fixture(scope="module")
def surprised() -> xr.DataTree:
    study = bb.Study(
        name="occupations",
        protected={"men": ["engineer", "pilot", "carpenter"], "women": ["nurse", "dancer", "librarian"]},
        attributes={"male": ["he", "him", "his"], "female": ["she", "her", "hers"]},
        associated=[("men", "male"), ("women", "female")],
        human="none",
        neutral="none",
    )
    table = bb.surprisal_table(_surprisals, study, "pronouns", name="toy", progress=False)
    return bb.fit(table, draws=500, random_seed=1, progress=False)


def _texts(fit: xr.DataTree) -> str:
    """Return the sentences of the first screen, conclusions, captions and the predictive check of a fit."""
    report, check = bb.report(fit), bb.check_posterior(fit, random_seed=1)
    contents = report.contents
    captions = [part.caption for part in (*contents.tables.values(), *contents.figures.values())]
    return "\n".join(
        [contents.answer, contents.estimate, *captions, *(figure.alt for figure in contents.figures.values()),
         str(bb.conclusions(fit)), str(check), *(figure.caption for figure in check.contents.figures.values())]
    )  # fmt: skip


def test_reports_of_a_fit_speak_the_measure_of_its_table(rated: xr.DataTree, surprised: xr.DataTree) -> None:
    assert not re.search("cosine|embedding|vector|distance", _texts(rated))
    assert not re.search("cosine|embedding|vector|distance|nearer|farther", _texts(surprised), re.IGNORECASE)


def test_a_difference_of_surprisals_is_also_a_factor(surprised: xr.DataTree) -> None:
    contents, row = bb.report(surprised).contents, bb.contrasts(surprised).iloc[0]
    assert contents.answer == (
        "'male' words are likelier with 'men' words, and 'female' words with 'women' words, than those of the other "
        "group's lists."
    )
    assert f": a factor of {math.exp(-row['mean']):.3g} in probability (" in contents.estimate
    assert 1.8 < math.exp(-row["mean"]) < 2.2  # planted: 2
    table = bb.reports.paper_table(surprised).contents.tables["contrasts"]
    assert table.frame["reading"].iloc[0] == "likelier"
    assert table.mark is not None
    assert table.mark(dict(row)) == "● ← likelier"


def test_differences_without_a_finite_factor_have_none() -> None:
    assert SURPRISAL.factor(-800.0, -801.0, -799.0) == ""
    assert SURPRISAL.factor(800.0, 799.0, 801.0) == ""


def test_methods_name_templates_and_units(surprised: xr.DataTree, rated: xr.DataTree) -> None:
    text = bb.methods(surprised)
    assert "in the language model toy. Surprisals are means over 12 templates: " in text
    assert "of 89%, in nats." in text
    assert "associated words are likelier" in text
    assert "of 89%, in points." in bb.methods(rated)


def test_the_page_of_other_measures_is_whole(surprised: xr.DataTree, tmp_path: Path) -> None:
    bb.write(bb.report(surprised), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "bb.surprisal_table(&#34;PATH&#34;, study, [" in page
    assert "This check speaks of cosine distances, and these are surprisals (nats)." in page


def test_the_predictive_check_does_not_depend_on_the_unit(rated: xr.DataTree) -> None:
    checks = [
        bb.check_posterior(fit, random_seed=1).statistics
        for fit in (rated, bb.fit(scores(1.0), draws=500, random_seed=1, progress=False))
    ]
    assert checks[0]["p_value"].tolist() == pytest.approx(checks[1]["p_value"].tolist(), abs=0.005)


def test_figures_are_in_the_unit_of_the_table(surprised: xr.DataTree, rated: xr.DataTree) -> None:
    figure = bb.plots.plot_contrasts(surprised)
    assert figure.axes[0].get_xlabel() == (
        "Mean surprisals (nats):\nassociated minus different\n(below 0: associated words are likelier)"
    )
    assert bb.plots.plot_words(rated).axes[-1].get_xlabel() == "Mean rating (points)"
    assert bb.plots.plot_connections(rated).axes[-1].get_xlabel() == "Mean rating (points)"
    assert bb.plots.plot_check(rated, random_seed=1).axes[0].get_ylabel() == "Actual rating (points)"


def test_captions_name_the_measure(rated: xr.DataTree) -> None:
    frame = bb.contrasts(rated)
    assert "differences of mean ratings (points), " in estimate_table(frame).caption
    assert "in points, but without a unit for target_weight" in estimate_table(bb.summary(rated)).caption


@pytest.mark.parametrize(
    "report",
    [
        lambda table: bb.plots.plot_distances(table),
        lambda table: bb.metrics.t_tests(table),
        lambda table: bb.metrics.mac_t_tests(table),
    ],
)
def test_reports_on_tables_refuse_other_measures(report: Callable[[pd.DataFrame], object]) -> None:
    with pytest.raises(TableError, match=r"speaks of cosine distances, and these are ratings \(points\)"):
        report(scores(20.0))


def test_measures_and_plans_refuse_fits_of_other_measures(rated: xr.DataTree) -> None:
    with pytest.raises(FitError, match="speaks of cosine distances"):
        bb.measure_posterior(rated, random_seed=1)
    with pytest.raises(FitError, match="speaks of cosine distances"):
        bb.required_words(rated, width=0.05, random_seed=1)

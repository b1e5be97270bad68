"""Summaries, against draws whose distribution is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.models.spec import DEFAULT_MODEL
from bayesbias.reports.posterior.estimate_tables import EstimateTables
from tests import third_group
from tests.refusals import refusals
from tests.reports.made import CONNECTIONS, MEANS, SDS, made_fit


@pytest.fixture(scope="module")
def normal_fit() -> xr.DataTree:
    return made_fit()


def test_normal_draws_have_normal_numbers(normal_fit: xr.DataTree) -> None:
    frame = bb.summary(normal_fit, level="overall").query("parameter == 'connection_mean'")
    reach = stats.norm.ppf(0.945)
    assert frame["connection"].tolist() == list(CONNECTIONS)
    np.testing.assert_allclose(frame["mean"], MEANS, atol=5 * 0.03 / np.sqrt(20_000))
    np.testing.assert_allclose(frame["sd"], SDS, rtol=0.03)
    np.testing.assert_allclose(frame["hdi_low"], MEANS - reach * SDS, atol=0.15 * SDS.max())
    np.testing.assert_allclose(frame["hdi_high"], MEANS + reach * SDS, atol=0.15 * SDS.max())
    assert frame["ess_bulk"].between(17_000, 23_000).all()
    assert frame["r_hat"].between(0.999, 1.002).all()


def test_the_interval_is_the_narrowest_and_not_the_equal_tailed(normal_fit: xr.DataTree) -> None:
    """An Exponential's HPDI begins at 0 and ends at its 89 % quantile."""
    frame = bb.summary(normal_fit, level="overall").query("parameter == 'sigma'")
    assert frame["hdi_low"].max() < 0.001
    np.testing.assert_allclose(frame["hdi_high"], stats.expon(scale=0.1).ppf(0.89), rtol=0.04)


def test_the_probability_of_the_interval_is_the_one_asked_for(normal_fit: xr.DataTree) -> None:
    frame = bb.summary(normal_fit, level="overall", hdi_prob=0.5).query("parameter == 'connection_mean'")
    np.testing.assert_allclose((frame["hdi_high"] - frame["hdi_low"]) / 2, stats.norm.ppf(0.75) * SDS, rtol=0.1)
    assert bb.summary(normal_fit, hdi_prob=0.5).settings["hdi_prob"] == 0.5
    assert bb.summary(normal_fit).settings["hdi_prob"] == 0.89


def test_means_of_groups_are_those_of_their_words(short_fit: xr.DataTree) -> None:
    frame = bb.summary(short_fit, level="protected_group").set_index(["protected_group", "connection"])
    words = (
        short_fit["posterior"]["word_mean"]
        .to_dataset()
        .assign_coords(group=("protected_word", short_fit["constant_data"]["protected_group"].to_numpy()))
    )
    by_group = words.groupby("group").mean()["word_mean"]
    counts = bb.models.fitted_table(short_fit).groupby(["protected_group", "connection"], observed=True).size()
    assert set(frame["parameter"]) == {"group_mean"}
    assert frame["pairs"].to_dict() == counts.to_dict()
    for (group, connection), row in frame.iterrows():
        draws = by_group.sel(group=group, connection=connection)
        assert row["mean"] == pytest.approx(float(draws.mean()))
        assert row["sd"] == pytest.approx(float(draws.std(ddof=1)), rel=1e-6)


def test_levels_pairs_and_groups(normal_fit: xr.DataTree) -> None:
    everything = bb.summary(normal_fit)
    overall, word = bb.summary(normal_fit, level="overall"), bb.summary(normal_fit, level="word")
    assert len(everything) == len(overall) + len(word) == 3 * 4 + 2 * 4
    assert set(word["parameter"]) == {"word_mean"}
    assert (overall["protected_word"] == "").all()
    assert (word["pairs"] == 3).all()
    assert (overall["pairs"] == 6).all()
    groups = word.set_index("protected_word")["protected_group"].to_dict()
    assert groups == {"he": "group 0", "she": "group 1"}
    assert word.query("protected_word == 'she' and connection == 'human'")["mean"].item() == pytest.approx(
        0.8, abs=1e-3
    )


@pytest.mark.parametrize(
    "model", ["hierarchical", "crossed", pytest.param(DEFAULT_MODEL, marks=[pytest.mark.slow, pytest.mark.truth])]
)
def test_a_word_without_pairs_in_a_connection_says_so(model: str) -> None:
    """The default model needs NUTS for it, whose compiling takes long."""
    from tests.reports.made import made_table

    rows = made_table(("he", "she", "him", "her", "his", "hers"))
    rows = rows[~((rows["protected_word"] == "he") & (rows["connection"] == "human"))]
    fit = bb.fit(rows, model, random_seed=1, progress=False)
    word = bb.summary(fit, level="word").set_index(["protected_word", "connection"])
    assert word.loc[("he", "human"), "pairs"] == 0
    assert np.isfinite(word.loc[("he", "human"), "mean"])


test_refusals = refusals(
    (lambda normal_fit: bb.summary(normal_fit, level="words"), ArgumentError, r"level='words'.*'word'"),
    (lambda normal_fit: bb.summary(normal_fit, level="group"), ArgumentError, r"'group'.* overall"),
    (lambda normal_fit: bb.summary(normal_fit, level="attribute"), ReportError, "'hierarchical'"),
    (lambda normal_fit: bb.summary(normal_fit, hdi_prob=89), ArgumentError, "hdi_prob=89"),
)


@pytest.mark.parametrize("third", ["none", "both"])
def test_a_group_without_a_side_has_no_mean_for_it(third: str) -> None:
    fit = bb.fit(third_group.table(third), draws=100, random_seed=1, progress=False)
    frame = bb.summary(fit, level="word").query("protected_group == 'people'")
    side = {"none": "different", "both": "associated"}[third]
    assert set(frame["connection"]) == {side, "neutral"}
    assert (frame["pairs"] > 0).all()


@pytest.fixture(scope="module")
def made() -> xr.DataTree:
    return made_fit(draws=200)


def frames(fit: xr.DataTree, hdi_prob: float) -> dict[str, pd.DataFrame]:
    return {
        "summary": bb.summary(fit, level="overall", hdi_prob=hdi_prob),
        "contrasts": bb.contrasts(fit, baseline="human", hdi_prob=hdi_prob),
        "questions": bb.planned_contrasts(fit, ("group 0", "associated"), ("group 0", "different"), hdi_prob=hdi_prob),
    }


@pytest.mark.parametrize("name", ["summary", "contrasts", "questions"])
@pytest.mark.parametrize(("hdi_prob", "stated"), [(0.89, "89"), (0.5, "50")])
def test_the_caption_states_the_interval_and_the_rows_have_the_numbers(
    made: xr.DataTree, tmp_path: Path, name: str, hdi_prob: float, stated: str
) -> None:
    frame = frames(made, hdi_prob)[name]
    numbers = [f"{abs(value):.3f}" for value in frame[["mean", "hdi_low", "hdi_high"]].to_numpy().ravel()]
    for ending, percent in ((".tex", r"\%"), (".md", "%"), (".html", "%")):
        text = bb.write(frame, tmp_path / f"table{ending}").read_text(encoding="utf-8")
        assert f"{stated}{percent} HPDI" in text
        assert "without a unit" not in text, "the hierarchical model has no parameter without one"
        assert ("below 0, human words are nearer" in text) == (name == "contrasts")
        assert all(number in text for number in numbers)
    pd.testing.assert_frame_equal(
        pd.read_csv(bb.write(frame, tmp_path / "table.csv"), keep_default_na=False), pd.DataFrame(frame)
    )


def test_chosen_rows_are_written(made: xr.DataTree, tmp_path: Path) -> None:
    frame = bb.summary(made).query("parameter == 'connection_mean'")
    text = bb.write(frame, tmp_path / "table.tex").read_text(encoding="utf-8")
    assert text.count(r"connection\_mean &") == 4
    assert "sigma" not in text


def test_frames_without_their_interval_are_refused(made: xr.DataTree, tmp_path: Path) -> None:
    frame = bb.contrasts(made)
    frame.settings = {}
    with pytest.raises(ReportError, match="hdi_prob"):
        bb.write(frame, tmp_path / "table.tex")
    with pytest.raises(ReportError, match="DataFrame"):
        bb.write(pd.DataFrame(frame), tmp_path / "table.tex")
    both = EstimateTables(frames(made, 0.89))
    with pytest.raises(ReportError, match="3 tables"):
        bb.write(both, tmp_path / "tables.csv")
    assert not list(tmp_path.iterdir())
    assert bb.write(both, tmp_path / "tables.tex").read_text(encoding="utf-8").count(r"\begin{table}") == 3

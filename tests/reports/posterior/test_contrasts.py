"""Contrasts, against draws whose distribution is known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.models.data import model_data
from bayesbias.reports.posterior.contrasts import group_weights, observed_difference, observed_means
from tests import third_group
from tests.refusals import refusals
from tests.reports.made import CONNECTIONS, MEANS, SDS, made_fit, made_table


@pytest.fixture(scope="module")
def normal_fit() -> xr.DataTree:
    return made_fit()


def test_differences_of_normals(normal_fit: xr.DataTree) -> None:
    frame = bb.contrasts(normal_fit, rope=0.02)
    mean, sd = MEANS[0] - MEANS[1:], np.sqrt(SDS[0] ** 2 + SDS[1:] ** 2)
    expected = stats.norm(mean, sd)
    assert frame["contrast"].tolist() == [f"associated - {name}" for name in CONNECTIONS[1:]]
    np.testing.assert_allclose(frame["mean"], mean, atol=5 * 0.03 / np.sqrt(20_000))
    np.testing.assert_allclose(frame["sd"], sd, rtol=0.03)
    np.testing.assert_allclose(frame["probability_of_direction"], expected.cdf(0), atol=0.01)
    np.testing.assert_allclose(frame["probability_in_rope"], expected.cdf(0.02) - expected.cdf(-0.02), atol=0.01)
    np.testing.assert_allclose(frame["hdi_low"], expected.ppf(0.055), atol=0.15 * sd.max())
    assert (frame["direction"] == "nearer").all()


def test_another_baseline_turns_the_sign(normal_fit: xr.DataTree) -> None:
    one = bb.contrasts(normal_fit).set_index("contrast").loc["associated - human"]
    other = bb.contrasts(normal_fit, baseline="human").set_index("contrast").loc["human - associated"]
    assert other["mean"] == pytest.approx(-one["mean"])
    assert (one["direction"], other["direction"]) == ("nearer", "farther")
    assert other["probability_of_direction"] == one["probability_of_direction"]


def test_words_and_all(normal_fit: xr.DataTree) -> None:
    words, everything = bb.contrasts(normal_fit, level="word"), bb.contrasts(normal_fit, level="all")
    assert words["protected_word"].tolist() == ["he", "she"] * 3
    groups = everything["protected_group"].replace("", pd.NA).dropna()
    assert len(everything) == 3 + len(groups) + 6
    assert len(groups) == 3 * groups.nunique() > 0
    overall = (everything["protected_word"] == "") & (everything["protected_group"] == "")
    assert overall.sum() == 3
    assert "probability_in_rope" not in words


def test_an_uneven_rope(normal_fit: xr.DataTree) -> None:
    frame = bb.contrasts(normal_fit, rope=(-0.5, 0.0))
    np.testing.assert_allclose(frame["probability_in_rope"], frame["probability_of_direction"])
    settings = {"hdi_prob": 0.89, "baseline": "associated", "scope": "population", "rope": [-0.5, 0.0]}
    assert frame.settings == {**settings, "source": "a table of one's own"}


@pytest.mark.parametrize("rope", [-0.1, 0, (0.1, -0.1), (1, 2, 3), float("nan"), "0.1", np.int64(-1)])
def test_impossible_ropes(normal_fit: xr.DataTree, rope: float) -> None:
    with pytest.raises(ArgumentError, match="rope="):
        bb.contrasts(normal_fit, rope=rope)


def test_absent_connections_are_explained() -> None:
    two = made_fit(connections=("associated", "human"), draws=50)
    assert bb.contrasts(two)["contrast"].tolist() == ["associated - human"]
    with pytest.raises(ReportError, match=r"'different'.*associated, human"):
        bb.contrasts(two, baseline="different")
    with pytest.raises(ReportError, match="'associated'"):
        bb.contrasts(made_fit(connections=("associated",), draws=50))
    with pytest.raises(ReportError, match="'human'"):
        bb.contrasts(two, baseline="humans")


def test_observed_is_the_difference_of_plain_averages(fit: xr.DataTree, table: pd.DataFrame) -> None:
    frame = bb.contrasts(fit, level="all").query("protected_group == ''")
    frame = frame.set_index(["contrast", "protected_word"])["observed"]
    means = table.groupby("connection", observed=True)["cosine_distance"].mean()
    assert frame["associated - human", ""] == pytest.approx(means["associated"] - means["human"])
    one = table[table["protected_word"] == "poetry"].groupby("connection", observed=True)["cosine_distance"].mean()
    assert frame["associated - different", "poetry"] == pytest.approx(one["associated"] - one["different"])


test_refusals = refusals(
    (lambda normal_fit: bb.contrasts(normal_fit, level="group"), ArgumentError, r"'group'.* overall"),
    (lambda normal_fit: bb.contrast_draws(normal_fit, baseline="humans"), ReportError, "'humans'"),
    (lambda normal_fit: bb.contrast_draws(normal_fit, level="words"), ArgumentError, "level='words'"),
    (lambda normal_fit: bb.contrast_draws(normal_fit, scope="all"), ArgumentError, "scope='all'"),
)


@pytest.mark.parametrize("level", ["overall", "protected_group", "word", "all"])
@pytest.mark.parametrize("options", [{}, {"baseline": "human", "scope": "these_words"}])
def test_arviz_summarises_and_draws_the_contrasts(level: str, options: dict[str, str]) -> None:
    import arviz as az
    import matplotlib.pyplot as plt

    fit = made_fit(("she", "he", "they"), draws=250)
    frame, draws = bb.contrasts(fit, level=level, **options), bb.contrast_draws(fit, level=level, **options)
    theirs = az.summary(draws, ci_kind="hdi", ci_prob=0.89, round_to="none")
    for row, (label, numbers) in zip(frame.to_dict("records"), theirs.iterrows(), strict=True):
        assert row["contrast"] in str(label)
        assert row["protected_group"] + row["protected_word"] in str(label)
        ours = [row[name] for name in ("mean", "sd", "hdi_low", "hdi_high")]
        assert ours == pytest.approx([float(numbers[name]) for name in ("mean", "sd", "hdi89_lb", "hdi89_ub")])
    forest = az.plot_forest(draws, ci_kind="hdi", ci_probs=(0.5, 0.89), combined=True, backend="matplotlib").viz
    ends = [line.get_xdata() for lines in forest["twig"].data_vars.values() for line in lines.to_numpy().ravel()]
    points = [
        point.get_offsets()[0, 0]
        for marks in forest["point_estimate"].data_vars.values()
        for point in marks.to_numpy().ravel()
    ]
    np.testing.assert_allclose(ends, frame[["hdi_low", "hdi_high"]])
    np.testing.assert_allclose(points, frame["mean"])
    plt.close("all")


@pytest.mark.parametrize("third", ["none", "both"])
@pytest.mark.parametrize("model", ["multivariate", "hierarchical", "crossed"])
def test_a_group_without_a_side_leaves_the_contrasts_of_the_others(model: str, third: str) -> None:
    """Real vectors: the truth is the fit without the third group."""
    keys, settings = ["contrast", "protected_group", "protected_word"], {"random_seed": 1, "progress": False}
    fits = [bb.fit(third_group.table(name), model, draws=1000, **settings) for name in ("", third)]
    without, beside = (bb.contrasts(fit, level="all").set_index(keys) for fit in fits)
    assert beside.index.equals(without.index)
    for column in ("observed", "baseline_pairs", "other_pairs"):
        np.testing.assert_array_equal(beside[column], without[column])
    error = without["sd"] * np.sqrt(2 / 4000)
    if model == "multivariate":  # single words follow the regression that all words teach
        of_all = without.index.get_level_values("protected_word") == ""
        assert (np.abs(beside["mean"] - without["mean"]) < 4 * error)[of_all].all()
        assert (np.abs(beside["mean"] - without["mean"]) < 0.5 * without["sd"]).all()
        np.testing.assert_allclose(beside.loc[of_all, "sd"], without.loc[of_all, "sd"], rtol=0.15)
        np.testing.assert_allclose(beside["list_nearness"], without["list_nearness"], atol=4 * error.max())
    else:
        np.testing.assert_array_equal(beside["mean"], without["mean"])
    these = [bb.contrasts(fit, scope="these_words")["mean"].to_numpy() for fit in fits]
    np.testing.assert_allclose(these[0], these[1], atol=4 * error.max())


def test_draws_have_the_sets_of_words_of_contrasts() -> None:
    fit = bb.fit(third_group.table("none"), draws=100, random_seed=1, progress=False)
    draws = bb.contrast_draws(fit, level="all")["posterior"]
    assert draws["group"]["protected_group"].to_numpy().tolist() == ["math", "arts"]
    assert draws["word"].sizes["protected_word"] == 16


def test_plain_means_give_lists_equal_weights_and_missing_connections_nan() -> None:
    table = made_table(("he", "she"))
    table.loc[table["attribute_word"] == "human0", "attribute_group"] = "another list"
    table = table[~((table["protected_word"] == "she") & (table["connection"] == "neutral"))].reset_index(drop=True)
    rows = model_data(table)
    by_list = table.groupby(["protected_word", "connection", "attribute_group"])["cosine_distance"].mean()
    expected = by_list.groupby(level=[0, 1]).mean().unstack().loc[rows.protected_words.tolist(), list(CONNECTIONS)]
    assert expected.isna().to_numpy().sum() == 1
    plain_human = table[(table["protected_word"] == "he") & (table["connection"] == "human")]["cosine_distance"].mean()
    assert expected.loc["he", "human"] != pytest.approx(plain_human, abs=1e-3)
    np.testing.assert_allclose(observed_means(rows), expected.to_numpy())


def test_groups_have_equal_weights_whatever_their_sizes() -> None:
    groups = np.array(["a", "b", "b", "b", "c"])
    weights = group_weights(groups)
    assert pd.Series(weights).groupby(groups).sum().tolist() == pytest.approx([1 / 3] * 3)
    assert weights[1] == weights[2] == weights[3]


def test_words_without_one_side_do_not_count() -> None:
    baseline, other = np.array([0.9, 0.8, np.nan, 0.2]), np.array([0.7, np.nan, 0.5, 0.1])
    assert observed_difference(baseline, other, np.array(["a", "a", "b", "b"])) == pytest.approx((0.2 + 0.1) / 2)
    assert np.isnan(observed_difference(baseline[1:3], other[1:3], np.array(["a", "b"])))


STUDY = bb.Study(
    name="toy",
    protected={"one": ["a", "b", "c"], "two": ["d", "e", "f"]},
    attributes={"up": ["p", "q", "r", "s"], "down": ["t", "u", "v", "w"]},
    associated=[("one", "up"), ("two", "down")],
    human="none",
    neutral="none",
)


def fitted(size):
    """A fit of vectors with a common part that lean to their lists, more in some templates than in others."""
    rng = np.random.default_rng(2)
    lean = np.array([1] * 3 + [-1] * 3 + [1] * 4 + [-1] * 4)[:, None] * np.eye(12)[0]
    embedding = ContextualEmbedding(
        words=STUDY.words,
        vectors=3 * np.eye(12)[1] + 0.5 * lean + 0.1 * rng.standard_normal((14, 12)),
        deviations=(size * rng.standard_normal((20, 1)) * lean[:, None]).astype(np.float32),
        contexts=np.full(14, 20),
        pieces=np.ones(14, dtype=int),
        paired=True,
    )
    return bb.fit(bb.distance_table(embedding, STUDY), random_seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "decides"), [(0.005, False), (0.06, True)])
def test_the_error_over_templates_widens_the_interval_and_is_told(size, decides):
    fit = fitted(size)
    row = bb.contrasts(fit).iloc[0]
    half, wider = (row["hdi_high"] - row["hdi_low"]) / 2, (row["context_high"] - row["context_low"]) / 2
    # Of Normal draws with a Normal error: half widths add in squares.
    assert wider == pytest.approx(np.hypot(half, 1.598 * row["context_sd"]), rel=0.1)
    (statement,) = (item for item in bb.conclusions(fit).shown if item.kind == "contexts")
    assert statement.numbers["context_sd"] == row["context_sd"]
    assert statement.numbers["decides"] == decides
    assert f"{row['context_sd']:.3f}" in statement.text
    assert ("includes 0" in statement.text) == decides
    assert "Cosines are corrected for this number: inner products and lengths" in str(bb.methods(fit))


def test_other_fits_have_no_error_over_contexts(fit):
    assert "context_sd" not in bb.contrasts(fit)
    assert all(statement.kind != "contexts" for statement in bb.conclusions(fit).shown)

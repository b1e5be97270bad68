"""What `validation/reliability` keeps: coverage in short, and the tables that its text shows."""

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from bayesbias.reliability.mean_squares import COVERAGE, FAR, is_doubted, mean_squares
from tests.validation.numbers import listed, template_prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "reliability"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("reliability", "make_reliability")


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [("icc_3_1", 23, 3, 1.0, 0.0), ("cronbach_alpha", 23, 8, 0.3, 0.0), ("icc_2_1", 23, 8, 1.0, 0.1)]
)
def test_intervals_hold_what_they_say_where_the_model_holds(
    script: ModuleType, cell: tuple[str, int, int, float, float]
) -> None:
    facts = script.row_of(script.Cell(*cell), 3000, np.random.default_rng(11))
    assert abs(facts["posterior"] - HDI_PROB) < 3.5 * facts["mc_se"]
    assert abs(facts["f_interval"] - HDI_PROB) < 3.5 * facts["mc_se"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "heavy rows"])
def test_columns_of_unequal_scale_are_held(script: ModuleType, kind: str) -> None:
    """The F interval, which takes them as equal, holds nearly always and is much longer."""
    facts = script.row_of(
        script.Cell("icc_3_1", 76, 3, 1.0, 0.0, kind, (1.0, 4.0, 7.9)), 3000, np.random.default_rng(14)
    )
    assert abs(facts["posterior"] - HDI_PROB) < 0.03
    assert facts["f_interval"] > 0.95
    assert facts["posterior_length"] < 0.8 * facts["f_interval_length"]
    assert facts["sd_over_error"] == pytest.approx(1, abs=0.08)


@pytest.mark.slow
def test_rows_of_real_words_are_held(script: ModuleType) -> None:
    """The truth is that of all 551 words, by NumPy's covariance."""
    table = script.real_populations(25, np.random.default_rng(15)).set_index(["reliability", "rows"])
    rules = table.loc[("icc_3_1", 76)]
    assert rules["posterior"].between(0.85, 0.93).all()
    assert (rules["f_interval"] > 0.97).all()


@pytest.mark.slow
def test_heavy_rows_lower_coverage(script: ModuleType) -> None:
    facts = script.row_of(script.Cell("icc_2_1", 23, 8, 10.0, 0.05, "heavy rows"), 2000, np.random.default_rng(12))
    assert 0.77 < facts["posterior"] < 0.86
    assert facts["f_interval"] < facts["posterior"] - 0.07


def test_f_interval_is_that_of_shrout_and_fleiss(script: ModuleType) -> None:
    """McGraw and Wong (1996) reprint Shrout and Fleiss' six targets and four judges: ICC(A,1) 0.29, 95 % 0.02 to 0.76.

    ICC(C,1) is 0.71, 0.34 to 0.95; R's psych::ICC prints the same.
    """
    scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    squares = mean_squares(scores)
    assert np.round(script.f_interval(squares, "icc_2_1", 0.95), 2).tolist() == [0.02, 0.76]
    assert np.round(script.f_interval(squares, "icc_3_1", 0.95), 2).tolist() == [0.34, 0.95]


def test_made_scores_have_the_variances_that_they_say(script: ModuleType) -> None:
    rng = np.random.default_rng(13)
    for kind in (script.NORMAL, *script.DEPARTURES):
        scores = script.made(script.Cell("icc_2_1", 24, 8, 2.0, 0.5, kind), 2000, rng)
        squares = mean_squares(scores)
        error = squares.error.mean()
        assert error == pytest.approx(1, abs=0.1)
        assert (squares.columns.mean() - error) / 24 == pytest.approx(0.5, abs=0.05)
        if kind != "related rows":  # whose rows of one matrix differ less than all rows do
            assert (squares.rows.mean() - error) / 8 == pytest.approx(2, abs=0.15)


@pytest.mark.parametrize("name", ["icc_3_1", "cronbach_alpha"])
def test_truths_are_those_of_a_large_sample(script: ModuleType, name: str) -> None:
    """Against variances of sums and columns of 400,000 rows (Cronbach 1951), and mean covariances."""
    cell = script.Cell(name, 200, 3, 1.0, 0.0, "skewed rows", (1.0, 4.0, 7.9))
    rows = script.made(cell, 2000, np.random.default_rng(16)).reshape(-1, 3)
    if name == "icc_3_1":
        pairs = [
            np.mean(rows[:, i] * rows[:, j]) - rows[:, i].mean() * rows[:, j].mean()
            for i, j in ((0, 1), (0, 2), (1, 2))
        ]
        expected = np.mean(pairs) / rows.var(axis=0).mean()
    else:
        expected = 1.5 * (1 - rows.var(axis=0).sum() / rows.sum(axis=1).var())
    assert script.truth(cell) == pytest.approx(expected, abs=0.006)


def test_readme_is_its_template_with_the_numbers_of_the_tables() -> None:
    readme = load_script("reliability", "reliability_text")
    assert readme.filled_readme(KEPT) == (KEPT / "README.md").read_text(encoding="utf-8")


def numbers_of_cells() -> Iterator[str]:
    coverage, far = (pd.read_csv(KEPT / name) for name in ("coverage.csv", "row_shapes.csv"))
    equal, normal = coverage["column_scales"] == "1 : 1", coverage["scores"] == "normal"
    usual, unequal = coverage[equal & normal & (coverage["rows"] >= 23)], coverage[~equal & normal]
    is_alpha = usual["reliability"] == "cronbach_alpha"
    iccs, alphas = (usual.loc[rows, "truth"].agg(["min", "max"]) for rows in (~is_alpha, is_alpha))
    columns = usual["column_variance"].agg(["min", "max"])
    yield (
        f"{listed(usual['rows'])} rows, ICC from {iccs['min']:g} to {iccs['max']:.2f}, alpha from {alphas['min']:.2f} "
        f"to {alphas['max']:.2f}, columns' variance from {columns['min']:g} to {columns['max']:g} of the errors'"
    )
    (of_alpha,) = unequal.loc[unequal["reliability"] == "cronbach_alpha", "column_scales"].unique()
    scales = of_alpha.split(" : ")
    assert len(scales) == 8
    yield f"eight columns from {scales[0]} to {scales[-1]}"
    yield f"a little short with {listed(unequal.loc[unequal['rows'] < 23, 'rows'])} rows"
    others = coverage.loc[~normal, "rows"]
    yield f"{others.min()} to {others.max()} rows; lowest and highest"
    yield f"cells with {listed(far['rows'], 'and')} rows"
    yield f"and with {far['rows'].min()} rows ..."
    yield f"drawn, {listed(pd.read_csv(KEPT / 'real.csv')['rows'])} at a time"
    with np.load(VALIDATION / "study_over_seeds" / "scores.npz") as arrays:
        yield f"the {len(arrays['target_word'])} words of"
    yield f"less often than {HDI_PROB}"


def numbers_of_definitions(script: ModuleType) -> Iterator[str]:
    text = load_script("reliability", "reliability_text")
    yield f"{' : '.join(f'{scale:g}' for scale in script.SCALES)} are the standard deviations"
    products = np.outer(script.SCALES, script.SCALES)
    # With a correlation of 1 the covariances are the products of scales: no ICC(3,1) is higher.
    highest = (products.sum() - np.trace(products)) / 6 / (np.trace(products) / 3)
    yield f"ICC(3,1) is then at most {highest:.2f}, for any correlation"
    kinds = "; ".join(script.DEPARTURES.values())
    for said in (
        "distribution with 4 degrees of freedom",
        "sd 1 of the logarithm",
        "correlate by 0.5",
        "one row in 20",
        "5 times the standard deviation",
    ):
        assert said in kinds
        yield said
    least = next(rows for rows in range(1, 100) if not is_doubted(0.15, rows))
    yield f"excess kurtosis above {FAR:g} for more than a fifth"
    yield f"fewer than {least} rows"
    assert [is_doubted(share, least) for share in (0.2, 0.21)] == [False, True]
    assert [is_doubted(share, least - 1) for share in (0.1, 0.11)] == [False, True]
    yield f"scores are 1 or -1 within {text.NEAR_1}"
    yield from ("ICC(2,1)", "ICC(3,1)", "by 1 /", "with 1 in place of 3/2", "the intervals hold 0", "an ICC of 0.5")


def test_the_template_says_the_numbers_of_the_cells_and_no_others(script: ModuleType) -> None:
    computed = [*numbers_of_cells(), *numbers_of_definitions(script)]
    assert unexplained(template_prose(KEPT / "README.template.md"), computed) == []


def test_cells_of_the_model_are_near_what_they_say() -> None:
    """Within 0.02 of 0.89, but with two or three seeds, whose intervals contain the truth too often."""
    table = pd.read_csv(KEPT / "coverage.csv")
    table = table[(table["scores"] == "normal") & (table["rows"] >= 23)]
    many = (table["reliability"] != "icc_2_1") | (table["columns"] >= 8)
    assert (table.loc[many, "posterior"] - HDI_PROB).abs().max() < 0.02
    assert table["posterior"].between(0.87, 0.92).all()
    real = pd.read_csv(KEPT / "real.csv")
    assert real["posterior"].between(0.83, 0.94).all()


def test_intervals_that_are_not_doubted_hold_the_truth_in_over_80_percent() -> None:
    """What `row_shapes` and the guide say of intervals is in the table, and Normal rows are not doubted."""
    table = pd.read_csv(KEPT / "row_shapes.csv")
    doubted = np.array([is_doubted(row.far_share, row.rows) for row in table.itertuples()])
    assert table.loc[~doubted, "posterior"].min() > 0.80
    coverage = table.loc[doubted, "posterior"].round(2)
    assert (coverage.min(), coverage.max()) == COVERAGE
    assert set(table.loc[table["posterior"] < 0.79, "scores"]) == {"very skewed rows", "extreme rows"}
    assert not doubted[(table["scores"] == "normal").to_numpy()].any()
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "trust.md").read_text(encoding="utf-8").split())
    assert "the other intervals contain the truth in over 80 % of cases" in guide
    assert f"contain the truth in {100 * COVERAGE[0]:.0f} to {100 * COVERAGE[1]:.0f} % of cases" in guide


@pytest.mark.slow
def test_extreme_rows_are_doubted_and_normal_ones_are_not(script: ModuleType) -> None:
    found = script.shapes(60, np.random.default_rng(17)).set_index("scores")
    assert found.loc["extreme rows", "far_share"].mean() > 0.25
    assert found.loc["normal", "far_share"].mean() < 0.1

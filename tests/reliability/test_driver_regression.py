"""What drives reliability: known truths, nested least squares, and frames that cannot be explained."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import multivariate_normal, norm

from bayesbias.errors import ReportError
from bayesbias.reliability import driver_regression as report_drivers
from bayesbias.reliability.driver_regression import MixedRegression, drivers, sample_mixed, split_rows, weight_problems
from tests.reliability.made import WORDS, made_seeds

SETTINGS = {"random_seed": 1}


def simulated(words: int, seed: int) -> pd.DataFrame:
    """Rows of 2 algorithms, 3 corpora and 2 rules, with tails that are not Normal."""
    rng = np.random.default_rng(seed)
    names = {"word": [f"w{number}" for number in range(words)], "algorithm": ["sgns", "glove"], "corpus": list("abc")}
    data = pd.MultiIndex.from_product([*names.values(), ["db_wa", "ripa"]]).to_frame(index=False)
    data.columns = pd.Index([*names, "rule"])
    word = data["word"].factorize()[0]
    data["stability"] = rng.normal(size=words)[word] + 0.3 * rng.normal(size=len(data))
    data["pos"] = np.array(["noun", "verb", "adjective"])[word % 3]
    data["reliability"] = (
        0.5
        + 0.10 * data["stability"]
        - 0.04 * (data["rule"] == "ripa")
        + 0.08 * (data["algorithm"] == "glove")
        + 0.02 * data["corpus"].factorize()[0]
        + 0.1 * rng.standard_t(5, size=words)[word]
        + 0.1 * rng.standard_t(5, size=len(data))
    )
    return data


@pytest.mark.slow
def test_truths_and_nested_least_squares() -> None:
    data = simulated(400, 1)
    fitted = drivers(data, ["stability", "rule", "pos"], **SETTINGS)
    rows = fitted.coefficients.set_index(["factor", "level"])
    sd = data["stability"].std()
    for key, truth in {("stability", ""): 0.10 * sd, ("rule", "ripa"): -0.04, ("pos", "verb"): 0.0}.items():
        assert abs(rows.loc[key, "mean"] - truth) < 4 * rows.loc[key, "sd"]
    # Without the words' own effects, least squares of nested regressions: what falls when a factor is left out.
    dummies = pd.get_dummies(data[["rule", "pos", "algorithm", "corpus"]], drop_first=True, dtype=float)
    X = np.column_stack([np.ones(len(data)), data["stability"], dummies])
    y = data["reliability"].to_numpy()
    names = ["intercept", "stability", *dummies.columns]

    def r_squared(without: str) -> float:
        columns = [column for column, name in enumerate(names) if not name.startswith(without)]
        residual = y - X[:, columns] @ np.linalg.lstsq(X[:, columns], y)[0]
        return float(1 - residual.var() / y.var())

    drops = fitted.drops.set_index("factor")
    for name in ("stability", "rule", "pos", "algorithm", "corpus"):
        drop = r_squared("nothing") - r_squared(name)
        assert drops.loc[name, "mean"] == pytest.approx(drop, abs=4 * drops.loc[name, "sd"] + 0.01), name
    these = fitted.r_squared[fitted.r_squared["scope"] == "these_words"].set_index("part")
    assert these.loc["word", "mean"] > 0.2
    assert these.loc["total", "mean"] == pytest.approx(r_squared("nothing"), abs=0.06)
    population = fitted.r_squared[fitted.r_squared["scope"] == "population"].set_index("part")
    widths = [frame["hdi_high"] - frame["hdi_low"] for frame in (population, these)]
    assert widths[0]["algorithm"] > 3 * widths[1]["algorithm"]
    assert "2 levels of algorithm (glove, sgns)" in str(fitted)
    assert fitted.facts["words"] == 400
    assert repr(fitted) == "ReliabilityRegression(400 words, 4,800 rows)"
    assert "variance of reliability" in fitted._repr_html_().partition("<h4>Doubts</h4>")[0]
    again = drivers(data.sample(frac=1, random_state=1), ["stability", "rule", "pos"], **SETTINGS)
    assert again.facts["rows"] == fitted.facts["rows"]


@pytest.mark.slow
def test_squares_are_dropped_together_and_interactions_are_estimated() -> None:
    """Against least squares of nested regressions, and the slopes of the rules that made the data."""
    data = simulated(400, 3)
    data["squared"] = (data["stability"] - data["stability"].mean()) ** 2
    data["reliability"] += 0.05 * data["squared"] + 0.06 * data["stability"] * (data["rule"] == "ripa")
    factors = ["stability", "squared", "rule", "stability:rule"]
    fitted = drivers(data, factors, joint_drops={"curve": ["stability", "squared"], "all": factors}, **SETTINGS)
    row = fitted.coefficients.set_index(["factor", "level"]).loc[("stability:rule", "ripa")]
    assert abs(row["mean"] - 0.06 * data["stability"].std(ddof=0)) < 4 * row["sd"]
    assert row["sd"] < 0.01
    ripa, glove = (
        np.where(data[name] == level, 1.0, 0.0) for name, level in (("rule", "ripa"), ("algorithm", "glove"))
    )
    corpora = pd.get_dummies(data["corpus"], drop_first=True, dtype=float).to_numpy()
    standard = (data["stability"] - data["stability"].mean()) / data["stability"].std(ddof=0)
    X = np.column_stack([np.ones(len(data)), glove, corpora, standard, data["squared"], ripa, standard * ripa])
    y = data["reliability"].to_numpy()

    def r_squared(*without: int) -> float:
        part = np.delete(X, without, axis=1)
        return float(1 - (y - part @ np.linalg.lstsq(part, y)[0]).var() / y.var())

    drops = fitted.drops.set_index("factor")
    assert list(drops.index[-2:]) == ["curve", "all"]
    for name, columns in {"curve": (4, 5), "all": (4, 5, 6, 7), "squared": (5,), "stability:rule": (7,)}.items():
        drop = r_squared() - r_squared(*columns)
        assert drops.loc[name, "mean"] == pytest.approx(drop, abs=4 * drops.loc[name, "sd"] + 0.01), name
    assert drops.loc["curve", "mean"] > drops.loc[["stability", "squared"], "mean"].max()


@pytest.mark.slow
def test_the_share_of_a_population_is_that_of_variance_components() -> None:
    """40 algorithms whose effects have the variance 0.5 of a total of 2.5, and the share of these by their effects."""
    rng = np.random.default_rng(4)
    data = pd.MultiIndex.from_product([range(40), range(40)], names=["word", "algorithm"]).to_frame(index=False)
    effects = rng.normal(size=40)
    effects = np.sqrt(0.5) * (effects - effects.mean()) / effects.std(ddof=1)
    data["stability"] = rng.normal(size=len(data))
    data["reliability"] = data["stability"] + effects[data["algorithm"]] + rng.normal(size=len(data))
    shares = drivers(data, ["stability"], groupings=["algorithm"], **SETTINGS).r_squared.set_index(["scope", "part"])
    for scope, variance in (("population", 0.5), ("these_words", effects.var())):
        row = shares.loc[(scope, "algorithm")]
        assert row["mean"] == pytest.approx(
            variance / (2 + variance), abs=0.02 if scope == "these_words" else 2 * row["sd"]
        )
    assert shares.loc[("population", "algorithm"), "sd"] > 3 * shares.loc[("these_words", "algorithm"), "sd"]


def test_frames_that_cannot_be_explained() -> None:
    data = simulated(20, 2)
    for change, factors, message in (
        (data, ["stabilty"], "'stabilty'.*stability"),
        (data, [], "factor"),
        (data, ["stability", "stability"], "'stability'"),
        (data.assign(stability=1.0), ["stability", "rule"], "'stability'"),
        (data.assign(stability=np.nan), ["stability", "rule"], "'stability' .* 20 words"),
        (data.assign(copy=data["stability"]), ["stability", "copy", "rule"], "'stability', 'copy'"),
        (data[data["algorithm"] == "sgns"], ["stability"], "'algorithm' .*level"),
        (pd.concat([data, data.iloc[:1]]), ["stability", "rule"], "'w0'"),
        (data.iloc[:48], ["stability", "rule"], "4 words .* 12 cells .* 10 "),
        (data, ["stability", "stability:rule"], "'stability:rule'.*'rule'"),
        (data, ["stability", "stability:stability"], "'stability:stability'"),
        (data, ["stability", "rule", "stability:none"], "'none'"),
        (data.assign(pos=data["pos"].where(data["word"] != "w3")), ["stability", "rule", "pos"], "'pos' .* 1 words"),
    ):
        with pytest.raises(ReportError, match=message):
            drivers(change, factors, **SETTINGS)
    for joint, message in (
        ({"both": ["stability"]}, "'both'"),
        ({"both": ["stability", "pos"]}, "'pos'"),
        ({"rule": ["stability", "rule"]}, "'rule'"),
        (["stability", "rule"], "joint_drops="),
    ):
        with pytest.raises(ReportError, match=message):
            drivers(data, ["stability", "rule"], joint_drops=joint, **SETTINGS)


TABLE = pd.DataFrame({"target_word": WORDS, "vectors": "made", "rule": "ripa", "observed": np.linspace(0, 1, 12)})


def tables(*, rules: int = 1) -> dict[str, pd.DataFrame]:
    by_rule = pd.concat([TABLE.assign(rule=f"rule {number}") for number in range(rules)])
    return {"words_over_seeds": by_rule, "words_over_rules": TABLE.drop(columns="rule").head(0)}


def test_one_seed_has_no_stability_and_so_no_regression() -> None:
    results, reasons = report_drivers.explained(
        tables(), {"made": made_seeds(1)}, counts=None, properties=None, settings={}
    )
    assert (results, len(reasons)) == ({}, 1)
    assert "2 seeds" in reasons[0]


def test_features_and_rules_are_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(report_drivers, "drivers", lambda *given, **options: calls.append((given, options)))
    counts = dict.fromkeys(made_seeds(1)[1].words, 5) | {word: 10 + place for place, word in enumerate(WORDS)}
    properties = pd.DataFrame({"word": WORDS, "senses": [1, *range(1, 12)], "rare": [1.0, 2.0] + [np.nan] * 10})
    results, reasons = report_drivers.explained(
        tables(rules=2), {"made": made_seeds(2)}, counts=counts, properties=properties, settings={"draws": 7}
    )
    assert list(results) == ["over seeds"]
    ((data, factors), options) = calls[0]
    assert factors[0] == "rule"
    assert {"stability", "log_senses"} <= set(factors)
    assert "rare" not in factors
    assert "rare is not a factor: 83 %" in reasons[0]
    assert len(data) == 2 * 12
    assert (options["draws"], options["groupings"]) == (7, [])
    assert options["joint_drops"] == {"frequency": ["log_frequency", "log_frequency_squared"]}


@pytest.mark.parametrize("repeats", [1, 4])
def test_log_density_is_that_of_the_rows(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    units = 12
    rows = units * repeats
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    design = np.concatenate([X, np.eye(3)[np.arange(rows) % 3]], axis=1)
    y = rng.normal(size=rows)
    regression = MixedRegression(split_rows(design, y, repeats), list("abc"), {"algorithm": list("xyz")}, repeats)

    def of_rows(sd: float, sigma: float, word_sd: float) -> float:
        covariance = sigma**2 * np.eye(rows) + design @ np.diag([1.0] * 3 + [sd**2] * 3) @ design.T
        if repeats > 1:
            covariance += word_sd**2 * np.kron(np.eye(units), np.ones((repeats, repeats)))
        scales = np.array([sd, sigma] + [word_sd] * (repeats > 1))
        # The logarithm of a standard deviation has the density of the standard deviation times itself.
        return float(
            multivariate_normal.logpdf(y, np.zeros(rows), covariance) + (norm.logpdf(scales) + np.log(scales)).sum()
        )

    points = np.array([(0.5, 1.0, 0.3), (2.0, 0.4, 1.1), (0.1, 0.8, 0.01)])
    ours = regression.log_density(np.log(points[:, : len(regression.sds)]))
    differences = ours - [of_rows(*point) for point in points]
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


def test_coefficients_given_scales_are_those_of_the_normal_equations() -> None:
    """One draw of the scales, many times: mean and covariance by the formula of Bayesian linear regression."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    design = np.concatenate([X, np.eye(2)[np.arange(30) % 2]], axis=1)
    regression = MixedRegression(split_rows(design, y, 1), ["a", "b"], {"algorithm": ["x", "y"]}, 1)
    drawn = regression.draw_columns(np.log(np.tile([0.5, 0.7], (40_000, 1))), rng)
    covariance = np.linalg.inv(design.T @ design / 0.49 + np.diag([1, 1, 4, 4]))
    error = np.sqrt(np.diag(covariance) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - covariance @ design.T @ y / 0.49) < 5 * error).all()
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=6 * np.diag(covariance).max() / np.sqrt(len(drawn)))


@pytest.mark.parametrize("levels", [2, 8])
def test_scales_are_drawn_from_their_posterior(levels: int) -> None:
    """Against sums over a grid of both logarithms; two levels leave their scale to the prior."""
    rng = np.random.default_rng(levels)
    groups = np.arange(40) % levels
    y = rng.normal(size=levels)[groups] + rng.normal(size=40)
    design = np.column_stack([np.ones(40), np.eye(levels)[groups]])
    names = [str(level) for level in range(levels)]
    regression = MixedRegression(split_rows(design, y, 1), ["intercept"], {"algorithm": names}, 1)
    axes = np.linspace(-9, 2.5, 300), np.linspace(-1.2, 1.2, 200)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    log = regression.log_density(points)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    fit = sample_mixed(regression, draws=2000, seed=1)
    for place, name in enumerate(regression.sds):
        drawn, values = np.log(fit["posterior"][name].to_numpy().ravel()), points[:, place]
        mean = weights @ values
        sd = np.sqrt(weights @ np.square(values - mean))
        assert drawn.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(2000))
        assert drawn.std() == pytest.approx(sd, rel=0.1)
    assert fit["posterior"]["algorithm_effect"].shape == (4, 2000, levels)
    assert weight_problems(fit) == []
    again = sample_mixed(regression, draws=2000, seed=1)
    np.testing.assert_array_equal(again["posterior"]["sigma"], fit["posterior"]["sigma"])


def test_poor_weights_are_told() -> None:
    stats = {"pareto_khat": 0.82, "importance_ess": 40.0}
    problems = weight_problems(xr.DataTree.from_dict({"sample_stats": xr.Dataset(stats)}))
    assert len(problems) == 2
    assert "0.82" in problems[0]
    assert "(40)" in problems[1]

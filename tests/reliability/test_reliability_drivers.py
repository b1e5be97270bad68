"""What drives reliability: known truths, nested least squares, and frames that cannot be explained."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import ReportError
from bayesbias.reliability.reliability_drivers import drivers

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
    these = fitted.r_squared[fitted.r_squared["scope"] == "these"].set_index("part")
    assert these.loc["word", "mean"] > 0.2
    assert these.loc["total", "mean"] == pytest.approx(r_squared("nothing"), abs=0.06)
    population = fitted.r_squared[fitted.r_squared["scope"] == "population"].set_index("part")
    widths = [frame["hdi_high"] - frame["hdi_low"] for frame in (population, these)]
    assert widths[0]["algorithm"] > 3 * widths[1]["algorithm"]
    assert "2 levels of algorithm (glove, sgns)" in str(fitted)
    assert fitted.facts["words"] == 400
    assert repr(fitted) == "ReliabilityRegression(400 words, 4,800 rows)"
    assert fitted._repr_html_().startswith("<h4>Beware</h4>")
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
    for scope, variance in (("population", 0.5), ("these", effects.var())):
        row = shares.loc[(scope, "algorithm")]
        assert row["mean"] == pytest.approx(variance / (2 + variance), abs=0.02 if scope == "these" else 2 * row["sd"])
    assert shares.loc[("population", "algorithm"), "sd"] > 3 * shares.loc[("these", "algorithm"), "sd"]


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

"""Problems found in frames with a fault made on purpose."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.statements import Statement, rows_of
from bayesbias.reports.checks.posterior_problems import posterior_problems
from bayesbias.reports.checks.replicated_tables import STATISTICS

CONNECTIONS = ("all", "human", "neutral")
NORMAL = {"attribute_effects": "none", "likelihood": "normal"}


def problems(
    failed: dict[str, float] | None = None,
    *,
    switches: dict[str, str] = NORMAL,
    convergence: tuple[str, ...] = (),
    **columns: Any,
) -> dict[str, list[Statement]]:
    """Return by kind the problems of frames whose only faults are p-values of neutral words and the given columns."""
    coverage = pd.DataFrame({"connection": CONNECTIONS, "pairs": [400, 200, 200], "loo_inside_89": 0.89})
    coverage = coverage.assign(loo_inside_50=0.5, se_89=0.02, se_50=0.03, k_high=0).assign(**columns)
    statistics = pd.DataFrame(
        {"connection": connection, "statistic": name, "observed": 1.0, "low": 0.5, "high": 1.5, "p_value": 0.4}
        for connection in CONNECTIONS
        for name in STATISTICS
    )
    for name, p_value in (failed or {}).items():
        failing = (statistics["statistic"] == name) & (statistics["connection"] != "human")
        statistics.loc[failing, "p_value"] = p_value
    by_kind: dict[str, list[Statement]] = {}
    for statement in posterior_problems(coverage, statistics, {"switches": switches}, list(convergence)):
        by_kind.setdefault(statement.kind, []).append(statement)
    return by_kind


def test_nothing_is_said_of_a_model_that_fits() -> None:
    assert problems() == {}


def test_draws_that_did_not_converge_come_first() -> None:
    by_kind = problems({"mean": 0.0}, convergence=("R-hat is high.", "few draws"))
    assert list(by_kind) == ["convergence", "statistics", "chance"]
    assert by_kind["convergence"][0].numbers == {"problems": ["R-hat is high.", "few draws"]}


def test_statistics_that_fail_are_one_statement_a_connection() -> None:
    by_kind = problems({"skewness": 1.0, "largest": 0.0014, "sd": 0.002})
    (failed,) = by_kind["statistics"]  # all pairs together repeat what their connections say
    assert failed.numbers["connection"] == "neutral"
    assert [row["statistic"] for row in failed.numbers["statistics"]] == ["skewness", "largest"]
    assert failed.numbers["statistics"][1] == {
        "connection": "neutral", "statistic": "largest", "observed": 1.0, "low": 0.5, "high": 1.5, "p_value": 0.0014
    }  # fmt: skip
    assert failed.text.startswith("neutral: ")
    assert "more left-skewed (skewness 1, replicated 0.5 to 1.5)" in failed.text
    assert "reaching higher (largest 1, replicated 0.5 to 1.5)" in failed.text
    (chance,) = by_kind["chance"]
    assert chance.numbers == {"judged": 14, "probability": pytest.approx(1 - (1 - 2 * 0.0015) ** 14)}


def test_coverage_is_that_of_pairs_that_were_not_seen() -> None:
    shares = np.array([0.89, 0.96, 0.94])
    more = problems(loo_inside_89=shares, se_89=[0.02, 0.02, 0.02], inside_89=0.5)["coverage"]
    assert [(statement.numbers["connection"], statement.numbers["interval"]) for statement in more] == [("human", 0.89)]
    assert more[0].text.startswith("human: 96.0% ")
    assert "89% interval" in more[0].text
    assert " more than " in more[0].text
    fewer = problems(loo_inside_50=[0.4, 0.5, 0.5])["coverage"]
    assert [(statement.numbers["connection"], statement.numbers["interval"]) for statement in fewer] == [("all", 0.5)]
    assert fewer[0].text.startswith("all pairs: 40.0%")
    # A share of few pairs is uncertain: three of its standard errors are allowed.
    assert problems(loo_inside_89=shares, se_89=0.03) == {}


def test_pairs_that_weigh_much_are_a_problem_where_they_are_many() -> None:
    assert problems(k_high=[4, 4, 0]) == {}
    (statement,) = problems(k_high=[5, 5, 0])["influential pairs"]
    assert (statement.numbers["k_high"], statement.numbers["pairs"]) == (5, 400)


@pytest.mark.parametrize(
    ("failed", "effects", "likelihood", "advised"),
    [
        ({"sd of attribute words": 0.0}, "none", "normal", ["multivariate"]),
        ({"sd of attribute words": 0.0}, "per_list", "normal", []),
        ({"kurtosis": 0.0}, "none", "normal", ["multivariate_robust"]),
        ({"smallest": 0.0, "skewness": 1.0}, "per_list", "normal", ["multivariate_robust"]),
        ({"kurtosis": 0.0}, "covariance", "normal", ["multivariate_robust"]),
        ({"skewness": 0.0, "mean": 0.0}, "covariance", "student_t", [None, None]),
        ({"kurtosis": 0.0}, "covariance", "student_t", []),
        ({"mean": 0.0}, "none", "normal", []),
    ],
)
def test_advice_is_a_model_of_another_shape(
    failed: dict[str, float], effects: str, likelihood: str, advised: list[str | None]
) -> None:
    switches = {"attribute_effects": effects, "likelihood": likelihood}
    advice = problems(failed, switches=switches).get("advice", [])
    assert [statement.numbers.get("model") for statement in advice] == advised
    assert all(statement.numbers["connections"] == ["neutral"] for statement in advice)


def test_numbers_are_the_rows_of_the_frames() -> None:
    frame = pd.DataFrame({"connection": ["human"], "pairs": [3]})
    assert rows_of(frame) == [{"connection": "human", "pairs": 3}]

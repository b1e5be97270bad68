"""What is found wrong in frames of which the fault is known."""

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
    """Return by kind what is said of frames without a fault but of p-values of neutral words, and some columns."""
    coverage = pd.DataFrame({"connection": CONNECTIONS, "pairs": [400, 200, 200], "loo_inside_89": 0.89})
    coverage = coverage.assign(loo_inside_50=0.5, se_89=0.02, se_50=0.03, k_high=0).assign(**columns)
    statistics = pd.DataFrame(
        {"connection": connection, "statistic": name, "observed": 1.0, "low": 0.5, "high": 1.5, "p_value": 0.4}
        for connection in CONNECTIONS
        for name in STATISTICS
    )
    for name, p_value in (failed or {}).items():
        here = (statistics["statistic"] == name) & (statistics["connection"] != "human")
        statistics.loc[here, "p_value"] = p_value
    found: dict[str, list[Statement]] = {}
    for said in posterior_problems(coverage, statistics, {"switches": switches}, list(convergence)):
        found.setdefault(said.kind, []).append(said)
    return found


def test_nothing_is_said_of_a_model_that_fits() -> None:
    assert problems() == {}


def test_draws_that_did_not_converge_come_first() -> None:
    found = problems({"mean": 0.0}, convergence=("R-hat is high.", "few draws"))
    assert list(found) == ["convergence", "statistics", "chance"]
    assert found["convergence"][0].numbers == {"problems": ["R-hat is high.", "few draws"]}


def test_statistics_that_fail_are_one_statement_a_connection() -> None:
    found = problems({"skewness": 1.0, "largest": 0.0014, "sd": 0.002})
    (failed,) = found["statistics"]  # all pairs together repeat what their connections say
    assert failed.numbers["connection"] == "neutral"
    assert [row["statistic"] for row in failed.numbers["statistics"]] == ["skewness", "largest"]
    assert failed.numbers["statistics"][1] == {
        "connection": "neutral", "statistic": "largest", "observed": 1.0, "low": 0.5, "high": 1.5, "p_value": 0.0014
    }  # fmt: skip
    said = "neutral: beside those that the model makes, actual distances are more left-skewed (skewness 1, replicated"
    assert failed.text.startswith(said)
    assert "reaching higher (largest 1, replicated 0.5 to 1.5)" in failed.text
    (chance,) = found["chance"]
    assert chance.numbers == {"judged": 14, "probability": pytest.approx(1 - (1 - 2 * 0.0015) ** 14)}


def test_coverage_is_that_of_pairs_that_were_not_seen() -> None:
    shares = np.array([0.89, 0.96, 0.94])
    found = problems(loo_inside_89=shares, se_89=[0.02, 0.02, 0.02], inside_89=0.5)["coverage"]
    assert [(said.numbers["connection"], said.numbers["interval"]) for said in found] == [("human", 0.89)]
    assert found[0].text == (
        "human: 96.0% of actual distances are inside the 89% interval that is predicted from the other pairs, more "
        "than it says."
    )
    fewer = problems(loo_inside_50=[0.4, 0.5, 0.5])["coverage"]
    assert [(said.numbers["connection"], said.numbers["interval"]) for said in fewer] == [("all", 0.5)]
    assert fewer[0].text.startswith("all pairs: 40.0%")
    # A share of few pairs is uncertain: three of its standard errors are allowed.
    assert problems(loo_inside_89=shares, se_89=0.03) == {}


def test_pairs_that_weigh_much_are_a_problem_where_they_are_many() -> None:
    assert problems(k_high=[4, 4, 0]) == {}
    (said,) = problems(k_high=[5, 5, 0])["influential pairs"]
    assert (said.numbers["k_high"], said.numbers["pairs"]) == (5, 400)


@pytest.mark.parametrize(
    ("failed", "crossed", "likelihood", "advised"),
    [
        ({"sd of attribute words": 0.0}, False, "normal", ["multivariate"]),
        ({"sd of attribute words": 0.0}, False, "student_t", ["multivariate_robust"]),
        ({"sd of attribute words": 0.0}, True, "normal", []),
        ({"kurtosis": 0.0}, False, "normal", ["robust"]),
        ({"smallest": 0.0, "skewness": 1.0}, True, "normal", ["crossed_robust"]),
        ({"skewness": 0.0, "mean": 0.0}, True, "student_t", [None, None]),
        ({"kurtosis": 0.0}, False, "student_t", []),
        ({"mean": 0.0}, False, "normal", []),
    ],
)
def test_advice_is_a_model_of_another_shape(
    failed: dict[str, float], crossed: bool, likelihood: str, advised: list[str | None]
) -> None:
    switches = {"attribute_effects": "per_list" if crossed else "none", "likelihood": likelihood}
    found = problems(failed, switches=switches).get("advice", [])
    assert [said.numbers.get("model") for said in found] == advised
    assert all(said.numbers["connections"] == ["neutral"] for said in found)


def test_numbers_are_the_rows_of_the_frames() -> None:
    frame = pd.DataFrame({"connection": ["human"], "pairs": [3]})
    assert rows_of(frame) == [{"connection": "human", "pairs": 3}]

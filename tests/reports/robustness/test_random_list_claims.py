"""Rows and sentences of claims for random lists, against numbers counted by hand."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.reports.robustness.random_list_claims import claim_problems, claims_text, method_row, share_with_error

VALUES = [0.5, -0.1, 0.2, -0.6, 0.3]
CLAIMS = [True, False, False, True, False]


def rows(**more: object) -> pd.DataFrame:
    return pd.DataFrame({"method": "weat", "quantity": "effect_size", "value": VALUES, "claims": CLAIMS} | more)


def test_a_row_counts_all_samples_but_the_study() -> None:
    row = method_row(rows(), "p < 0.05", 0.05)
    assert (row["samples"], row["claims"], row["share_as_extreme"]) == (4, 0.25, 0.25)
    assert (row["study_value"], row["study_claims"]) == (0.5, True)
    assert row["sd"] == pytest.approx(np.std(VALUES[1:], ddof=1))
    # By hand: quantiles of -0.6, -0.1, 0.2, 0.3 at 0.055 * 3 and 0.945 * 3 steps.
    assert (row["low"], row["high"]) == (pytest.approx(-0.6 + 0.165 * 0.5), pytest.approx(0.2 + 0.835 * 0.1))
    assert "error" not in row


def test_of_a_model_the_error_is_a_root_mean_square() -> None:
    row = method_row(rows(sd=[9.0, 0.1, 0.3, 0.1, 0.3]), "89% HPDI", 0.11)
    squares = np.square(VALUES[1:])  # 0.01, 0.04, 0.36, 0.09
    assert row["posterior_sd"] == pytest.approx(np.sqrt(0.05))
    assert row["error"] == pytest.approx(np.sqrt(0.125))
    # The delta method: sd(root of a mean) = sd(mean) / (2 root).
    assert row["error_se"] == pytest.approx(np.std(squares, ddof=1) / 2 / (2 * np.sqrt(0.125)))


@pytest.mark.parametrize(("claims", "kinds"), [(0.30, ["claims"]), (0.13, []), (0.02, [])])
def test_only_clear_excess_is_a_problem(claims: float, kinds: list[str]) -> None:
    row = {"claims": claims, "claims_se": 0.02, "nominal": 0.11, "samples": 200}
    spec = bb.load_model("hierarchical")
    assert [problem.kind for problem in claim_problems(row, spec, 100, 0)] == kinds
    *_, failures = claim_problems(row, spec, 100, 7)
    assert failures.numbers == {"not_fitted": 7, "samples": 100}


@pytest.mark.parametrize(
    ("claims", "words"), [(0.30, "more often"), (0.02, "less often"), (0.12, "cannot distinguish")]
)
def test_a_share_is_compared_with_what_the_rule_promises(claims: float, words: str) -> None:
    row = {"method": "weat", "rule": "p < 0.05", "nominal": 0.11, "study_claims": False, "samples": 200}
    text = claims_text(row | {"claims": claims, "claims_se": 0.02})
    assert [one for one in ("more often", "less often", "cannot distinguish") if one in text] == [words]
    assert share_with_error(claims, 0.02) in text
    assert share_with_error(0.126, 0.02) == "13% ± 2%"


@pytest.mark.parametrize(
    ("count", "nominal", "words"),
    [
        (0, 0.11, "cannot distinguish"),
        (4, 0.05, "more often"),
        (6, 0.11, "more often"),
        (5, 0.11, "cannot distinguish"),
    ],
)
def test_few_samples_are_judged_by_the_binomial_distribution(count: int, nominal: float, words: str) -> None:
    """Of 20: none has a probability of 0.10 at 0.11; 4 or more one of 0.016 at 0.05; 6 or more one of 0.02 at 0.11."""
    row = {"method": "weat", "rule": "rule", "nominal": nominal, "study_claims": False, "samples": 20}
    assert words in claims_text(row | {"claims": count / 20, "claims_se": 0.08})

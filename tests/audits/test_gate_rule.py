"""The rule of a gate, of draws and intervals given by hand."""

import numpy as np
import pytest

import bayesbias as bb
from tests.audits.test_gate import SPREAD, audited, outcomes


def test_the_whole_interval_decides() -> None:
    means = {"inside": 0.0, "beyond": -0.05, "above": 0.05, "across": -0.02, "wide": 0.015}
    result = bb.gate(audited(means), rope=0.02)
    assert outcomes(result) == {
        **{"inside": "pass", "beyond": "fail", "above": "fail"},
        **{"across": "undecided", "wide": "undecided"},
    }
    for row in result.questions.to_dict("records"):
        draws = means[row["study"]] + SPREAD
        assert row["probability_in_rope"] == ((draws >= -0.02) & (draws <= 0.02)).mean()
        assert row["sd"] == pytest.approx(draws.std(ddof=1))
    one_sided = bb.gate(audited(means), rope=(-0.02, 1.0))
    assert outcomes(one_sided)["above"] == "pass"
    assert outcomes(one_sided)["beyond"] == "fail"


def test_an_end_at_an_edge_is_undecided_by_its_monte_carlo_error() -> None:
    frame = audited({"s": 0.0})
    widest = float(np.abs(np.quantile(SPREAD, [0.055, 0.945])).max())
    assert outcomes(bb.gate(frame, rope=widest + 1e-6)) == {"s": "undecided"}
    assert outcomes(bb.gate(frame, rope=widest + 0.003)) == {"s": "pass"}


def test_draws_that_did_not_converge_decide_nothing() -> None:
    for mean in (0.0, 0.05):
        result = bb.gate(audited({"s": mean}).assign(r_hat=1.02), rope=0.02)
        assert outcomes(result) == {"s": "undecided"}
        assert "R-hat 1.020" in str(result)


def test_a_single_chain_whose_sampler_warned_decides_nothing() -> None:
    """A single chain has no R-hat, and can be stuck at one value."""
    for mean in (0.0, 0.05):
        frame = audited({"s": mean}, unconverged=frozenset({("A", "s")})).assign(r_hat=np.nan)
        result = bb.gate(frame, rope=0.02)
        assert outcomes(result) == {"s": "undecided"}
        assert "its draws did not converge, as its sampler warned" in str(result)


def test_the_choice_of_sentences_must_not_decide() -> None:
    frame = audited({"s": 0.0})
    assert outcomes(bb.gate(frame.assign(context_low=-0.018, context_high=0.018), rope=0.02)) == {"s": "pass"}
    result = bb.gate(frame.assign(context_low=-0.03, context_high=0.03), rope=0.02)
    assert outcomes(result) == {"s": "undecided"}
    assert "-0.030 to +0.030" in result.questions["reason"].item()

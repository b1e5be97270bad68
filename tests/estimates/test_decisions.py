"""How many of several settled effects are expected to be wrong, and which are decided."""

import numpy as np
import pytest
from scipy.special import ndtr

from bayesbias.estimates.decisions import _BLOCK, DECISION_RATE, decisions


def family(size: int, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities of signs, whether they are settled, and whether the sign is wrong or there is no effect."""
    effects = np.where(rng.random(size) < share, 0.0, rng.normal(0, 3, size))
    z = effects + rng.normal(0, 0.93, size)
    return ndtr(np.abs(z)), np.abs(z) > 1.6, z * effects <= 0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_what_is_stated_is_what_happens(share: float) -> None:
    """Over families of 60 questions, whatever the share without an effect."""
    rng = np.random.default_rng(1)
    stated, wrong, decided, false, held, counts = [], [], [], [], [], []
    for _ in range(150):
        probabilities, settled, is_wrong = family(60, share, rng)
        found = decisions(probabilities, settled, 0.89)
        stated.append(found.expected)
        counts.append(found.settled)
        wrong.append((settled & is_wrong).sum())
        held.append(found.low <= wrong[-1] <= found.high)
        decided.append(found.decided.sum())
        false.append((found.decided & is_wrong).sum())
    assert abs(np.mean(stated) - np.mean(wrong)) < 0.15 * np.mean(counts)
    assert np.mean(held) > 0.8
    assert sum(false) / sum(decided) < DECISION_RATE + 0.03


def test_a_question_among_null_ones_is_doubted_more_than_alone() -> None:
    lone = decisions([0.97, 0.99], [True, True], 0.89)
    many = decisions([0.97, 0.99, *np.linspace(0.5, 0.9, 60)], [True, True, *[False] * 60], 0.89)
    assert (many.wrong[:2] > lone.wrong + 0.2).all()
    assert many.wrong[1] < many.wrong[0]
    assert many.numbers["settled"] == 2
    one = decisions([0.97, 0.6], [True, False], 0.89)
    assert one.text("question").startswith(
        "The probability that the settled question has no effect or the other sign is "
        f"{one.expected:.2f}, as far as all 2 show"
    )


def test_all_that_benjamini_and_hochberg_decide_is_decided() -> None:
    rng = np.random.default_rng(2)
    probabilities, settled, _ = family(6, 0.3, rng)
    found = decisions(probabilities, settled, 0.89)
    p_values = np.sort(2 * (1 - probabilities))
    count = np.flatnonzero(p_values <= DECISION_RATE * np.arange(1, 7) / 6)[-1] + 1
    assert found.decided[np.argsort(-probabilities)[:count]].all()


def test_blocks_change_nothing() -> None:
    probabilities, settled, _ = family(_BLOCK + 50, 0.5, np.random.default_rng(3))
    order = np.argsort(probabilities)
    one, other = (decisions(probabilities[places], settled[places], 0.89) for places in (slice(None), order))
    np.testing.assert_allclose(one.wrong[order], other.wrong, atol=1e-9)
    assert one.decided.sum() == other.decided.sum()
    assert abs(one.high - other.high) <= 3

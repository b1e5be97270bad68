"""How many of several settled changes are expected to be none."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from bayesbias.changes.many_changes import note_together, settled_together
from bayesbias.estimates.decisions import FEWEST_TOGETHER


def changes(z: np.ndarray, second: str, *, words: bool = True, contrast: str = "a - b") -> pd.DataFrame:
    """Rows of changes whose estimates are z of their errors."""
    return pd.DataFrame(
        {
            "contrast": contrast,
            "second": second,
            "protected_group": "",
            "protected_word": [f"word {place}" for place in range(len(z))] if words else "",
            "hdi_low": z - 1.6,
            "hdi_high": z + 1.6,
            "settled": np.abs(z) > 1.6,
            "probability_of_direction": norm.cdf(np.abs(z)),
        }
    )


def test_changes_of_conditions_and_of_their_words_are_judged_together_each() -> None:
    rng = np.random.default_rng(1)
    frame = pd.concat(
        [
            *(changes(np.array([z]), f"method {place}", words=False) for place, z in enumerate([0.1, -0.4, 0.7])),
            changes(np.array([6.0]), "hard", words=False),
            changes(np.array([0.5]), "soft", words=False),
            changes(rng.normal(0.0, 1.0, 300), "hard"),
            changes(rng.normal(0.0, 5.0, 300), "soft"),
            changes(np.full(9, 9.0), "soft", contrast="a - other"),
        ]
    )
    conditions, hard, soft = settled_together(frame, 0.89)
    assert conditions.numbers["chosen"] == [*conditions.numbers["wrong"]] == ["hard"]
    assert "settled condition has no change or the other sign" in conditions.text
    # Truths that no model made: all settled words of hard are wrong, few of soft.
    assert hard.numbers["settled"] > 20
    assert hard.numbers["expected_wrong"] > 0.6 * hard.numbers["settled"]
    assert hard.numbers["decided"] == len(hard.numbers["chosen"]) == 0
    assert "settled words in hard" in hard.text
    assert soft.numbers["settled"] > 150
    assert soft.numbers["expected_wrong"] < 0.1 * soft.numbers["settled"]
    assert soft.numbers["decided"] == soft.numbers["settled"]
    assert note_together([conditions, hard, soft], "word") == f"{hard} {soft}"


def test_contrasts_under_one_condition_have_effects() -> None:
    z = np.array([4.0, 0.1, 5.0, 0.2, -0.3])
    (statement,) = settled_together(changes(z, "").drop(columns="second"), 0.89)
    assert statement.text.startswith("Of the 2 settled words, ")
    assert "no effect or the other sign" in statement.text


@pytest.mark.parametrize("case", ["nothing settled", "few words", "no distance differs", "no rows"])
def test_without_several_questions_and_a_settled_one_there_is_nothing_to_judge(case: str) -> None:
    frame = changes(np.full(FEWEST_TOGETHER, 0.5 if case == "nothing settled" else 5.0), "hard")
    if case == "few words":
        frame = frame[1:]
    elif case == "no distance differs":
        frame[["hdi_low", "hdi_high"]] = 0.0
    elif case == "no rows":
        frame = frame[:0]
    assert settled_together(frame, 0.89) == ()

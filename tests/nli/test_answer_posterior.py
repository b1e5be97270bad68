"""The posterior as users see it."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from tests.nli.made import by_length


def answers(premises: list[str], hypotheses: list[str]) -> np.ndarray:
    """Men are entailed more than women, and drivers most."""
    rng = np.random.default_rng(1)
    male = np.array([text.split()[0] == "He" or " ".join(text.split()[:2]) in MEN for text in hypotheses])
    entailed = 0.2 + 0.3 * male + 0.1 * np.array(["drove" in text for text in premises])
    entailed += 0.1 * rng.random(len(premises)) + 0.05 * np.array([hash_of(text) for text in hypotheses])
    return np.column_stack([1 - entailed, 0.8 * entailed, 0.2 * entailed])


MEN = {"A man", "A guy", "A gentleman"}


def hash_of(text: str) -> float:
    return len(text.split()[1]) / 10 if text[:2] == "A " else 0.0


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return bb.nli.score(bb.nli.test_set("explicit"), answers)


@pytest.fixture(scope="module")
def fitted(scores: pd.DataFrame) -> bb.nli.InferencePosterior:
    return bb.nli.posterior(scores, random_seed=1)


def test_what_is_observed_is_e(scores: pd.DataFrame, fitted: bb.nli.InferencePosterior) -> None:
    expected = bb.nli.neutral_error(scores).set_index(["level", "group", "word"])["error"]
    for row in fitted.means.to_dict("records"):
        assert row["observed"] == pytest.approx(expected[row["level"], row["group"], row["word"]], rel=1e-9)
        assert row["hdi_low"] < row["mean"] < row["hdi_high"]
    assert len(fitted.means) == 2 + 4 + 8
    these = fitted.means[fitted.means["scope"] == "these_words"]
    assert (abs(these["mean"] - these["observed"]) < 4 * these["sd"]).all()


def test_the_contrast_and_what_it_rests_on(fitted: bb.nli.InferencePosterior) -> None:
    contrast = fitted.contrast.set_index("scope")
    assert contrast.loc["population", "sd"] > contrast.loc["these_words", "sd"]
    assert (contrast["hdi_low"] > 0).all()
    assert (contrast["probability_of_direction"] > 0.95).all()
    effective = fitted.effective_numbers.set_index("quantity")
    assert effective["count"].tolist() == [1968, 15_744]
    assert (effective["mean"] < effective["count"] / 5).all()
    assert fitted.sds["component"].tolist()[0] == "word"
    assert len(fitted.sds) == 7


def test_it_is_printed_and_shown(fitted: bb.nli.InferencePosterior) -> None:
    text = str(fitted)
    assert "male minus female, words like these" in text
    assert "15,744" in text
    assert "<InferencePosterior: The distance to the right answer is" in repr(fitted)
    assert "male minus female" in fitted._repr_html_()
    assert {part.title for part in fitted.parts} == {
        "",
        "E, the distance to the right answer (89% HPDI)",
        "Data and limits",
    }
    assert fitted.to_dict()["tables"]["contrast"][0]["mean"] == fitted.contrast["mean"].iloc[0]


def test_the_same_seed_gives_the_same_numbers(scores: pd.DataFrame, fitted: bb.nli.InferencePosterior) -> None:
    again = bb.nli.posterior(scores, random_seed=1)
    assert again.means.equals(fitted.means)
    assert not bb.nli.posterior(scores, random_seed=2).means.equals(fitted.means)


def test_a_probability_and_two_pronouns(scores: pd.DataFrame) -> None:
    pronouns = scores[scores["word"].isin(["He", "She"])]
    fitted = bb.nli.posterior(pronouns, "entailment", groups=("female", "male"), random_seed=1)
    assert fitted.contrast["scope"].tolist() == ["these_words"]
    entailment = pronouns.groupby("group", observed=True)["entailment"].mean()
    assert fitted.contrast["observed"][0] == pytest.approx(entailment["female"] - entailment["male"], rel=1e-9)
    assert "words" in {statement.kind for part in fitted.parts for statement in part.statements}


def test_what_cannot_be_asked(scores: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="score='E'"):
        bb.nli.posterior(scores, "E")
    with pytest.raises(MeasureError, match="words"):
        bb.nli.posterior(scores.iloc[1:])
    with pytest.raises(MeasureError, match=r"group .*male"):
        bb.nli.posterior(scores[scores["group"] == "male"])
    dev = bb.nli.test_set("dev_occupations")
    some = bb.nli.score(dev[dev["subject"].isin(["nurse", "doctor"])], by_length)
    with pytest.raises(MeasureError, match=r" 2 subjects.*scores\['subject'\] == 'doctor'"):
        bb.nli.posterior(some)
    assert bb.nli.posterior(some[some["subject"] == "nurse"], random_seed=1).groups == ("male", "female")


def test_a_contrast_that_is_0_has_no_direction() -> None:
    same = bb.nli.score(bb.nli.test_set("explicit"), lambda premises, _: np.tile([0.2, 0.5, 0.3], (len(premises), 1)))
    assert bb.nli.posterior(same, random_seed=1).contrast["probability_of_direction"].tolist() == [0.5, 0.5]

"""Asymmetry of the words of a study: means by connection, their differences, and what is left out."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from tests.asymmetry.made import WORDS, made_norms, made_vectors

STUDY = {"x": WORDS[:5], "y": WORDS[5:10], "a": WORDS[10:15], "b": [*WORDS[15:19], "nowhere"]}


def test_means_and_contrasts_are_those_of_pairs() -> None:
    found = bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), STUDY)
    pairs = found.pairs[found.pairs["left_out"] == ""]
    assert len(found.pairs) == 100
    assert len(pairs) == 90
    by_connection = pairs.groupby("connection")["lar"].mean()
    means = found.means[found.means["quantity"] == "lar"].set_index("connection")["mean"]
    assert means.to_dict() == pytest.approx(by_connection.to_dict())
    row = found.contrasts[found.contrasts["quantity"] == "lar"].iloc[0]
    assert row["contrast"] == "associated - different"
    assert row["mean"] == pytest.approx(by_connection["associated"] - by_connection["different"])
    logs = (pairs["log_b_given_a"] + pairs["log_a_given_b"]) / 2
    similar = found.means[found.means["quantity"] == "log_similarity"].set_index("connection")["mean"]
    assert similar.to_dict() == pytest.approx(logs.groupby(pairs["connection"]).mean().to_dict())
    assert found.left_out.values.tolist() == [["made lacks 'nowhere'", 10]]
    assert "10 of 100 pairs have no number" in str(found)


def test_levels_of_words_cancel_in_a_contrast_of_lists_that_both_connections_have() -> None:
    """Ratios that are differences of words' levels: means have an error, their difference none."""

    class Levels:
        name = "levels"

        def log_conditionals(self, cues, responses):  # type: ignore[no-untyped-def]
            source = bb.asymmetry.static(made_vectors())
            level = {word: np.random.default_rng(at).normal() for at, word in enumerate(WORDS)}
            logs = [level[word] - 20 for word in responses]
            return source.log_conditionals(cues, responses).assign(log_probability=logs)

    words = {name: list(each)[:4] for name, each in STUDY.items()}
    found = bb.asymmetry.study_asymmetry(Levels(), words)
    means = found.means[found.means["quantity"] == "lar"]
    assert (means["sd"] > 0.1).all()
    row = found.contrasts.iloc[0]
    assert row["mean"] == pytest.approx(0, abs=1e-9)


def test_errors_of_norms_make_the_intervals_wider() -> None:
    words = {name: list(each)[:4] for name, each in STUDY.items()}
    few, many = (
        bb.asymmetry.study_asymmetry(bb.asymmetry.evocation(made_norms(participants=count)), words)
        for count in (20, 20_000)
    )
    assert few.pairs["sd"].mean() > 3 * many.pairs["sd"].mean()
    assert few.means["sd"].iloc[0] > few.pairs["sd"].mean() / np.sqrt(40)


def test_a_source_that_knows_too_few_words() -> None:
    source = bb.asymmetry.static(made_vectors(words=WORDS[4:11]))
    with pytest.raises(MeasureError, match="made knows 6, with 6 protected words"):
        bb.asymmetry.study_asymmetry(source, STUDY)


def test_it_says_itself_in_a_line_and_in_a_notebook() -> None:
    found = bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), STUDY)
    assert repr(found).startswith("<StudyAsymmetry: associated, ")
    assert "<h4>Differences</h4>" in found._repr_html_()

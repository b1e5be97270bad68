"""Asymmetry of the words of a study: means by connection, their differences, and what is left out."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base import machine
from bayesbias.errors import MeasureError, NotEnoughMemoryError
from tests.asymmetry.made import WORDS, made_norms, made_vectors
from tests.models.dependent_words import SAMPLE, forms

STUDY = {"x": WORDS[:5], "y": WORDS[5:10], "a": WORDS[10:15], "b": [*WORDS[15:19], "nowhere"]}


def test_means_and_contrasts_are_those_of_pairs() -> None:
    asymmetry = bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), STUDY)
    pairs = asymmetry.pairs[asymmetry.pairs["left_out"] == ""]
    assert len(asymmetry.pairs) == 100
    assert len(pairs) == 90
    by_connection = pairs.groupby("connection")["lar"].mean()
    means = asymmetry.means[asymmetry.means["quantity"] == "lar"].set_index("connection")["mean"]
    assert means.to_dict() == pytest.approx(by_connection.to_dict())
    row = asymmetry.contrasts[asymmetry.contrasts["quantity"] == "lar"].iloc[0]
    assert row["contrast"] == "associated - different"
    assert row["mean"] == pytest.approx(by_connection["associated"] - by_connection["different"])
    logs = (pairs["log_b_given_a"] + pairs["log_a_given_b"]) / 2
    similar = asymmetry.means[asymmetry.means["quantity"] == "log_similarity"].set_index("connection")["mean"]
    assert similar.to_dict() == pytest.approx(logs.groupby(pairs["connection"]).mean().to_dict())
    assert asymmetry.left_out.values.tolist() == [["made lacks 'nowhere'", 10]]
    assert "10 of 100 pairs have no number" in str(asymmetry)


def test_levels_of_words_cancel_in_a_contrast_of_lists_that_both_connections_have() -> None:
    """Ratios that are differences of words' levels: means have an error, their difference none."""

    class Levels:
        name = "levels"

        def log_conditionals(self, cues, responses):  # type: ignore[no-untyped-def]
            source = bb.asymmetry.static(made_vectors())
            level = {word: np.random.default_rng(number).normal() for number, word in enumerate(WORDS)}
            logs = [level[word] - 20 for word in responses]
            return source.log_conditionals(cues, responses).assign(log_probability=logs)

    words = {name: list(names)[:4] for name, names in STUDY.items()}
    asymmetry = bb.asymmetry.study_asymmetry(Levels(), words)
    means = asymmetry.means[asymmetry.means["quantity"] == "lar"]
    assert (means["sd"] > 0.1).all()
    row = asymmetry.contrasts.iloc[0]
    assert row["mean"] == pytest.approx(0, abs=1e-9)


def test_a_mean_says_how_much_more_and_whether_it_is_settled() -> None:
    asymmetry = bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), STUDY)
    rows = asymmetry.means[asymmetry.means["quantity"] == "lar"]
    texts = [statement.text for part in asymmetry.parts[:2] for statement in part.statements]
    for mean, low, high, text in zip(rows["mean"], rows["hdi_low"], rows["hdi_high"], texts, strict=True):
        assert f"{np.exp(mean):.3g} times as much" in text
        assert text.endswith("not settled." if low < 0 < high else "), settled.")


def test_errors_of_norms_make_the_intervals_wider() -> None:
    words = {name: list(names)[:4] for name, names in STUDY.items()}
    few, many = (
        bb.asymmetry.study_asymmetry(bb.asymmetry.evocation(made_norms(participants=count)), words)
        for count in (20, 20_000)
    )
    assert few.pairs["sd"].mean() > 3 * many.pairs["sd"].mean()
    assert few.means["sd"].iloc[0] > few.pairs["sd"].mean() / np.sqrt(40)


def test_a_source_that_knows_too_few_words() -> None:
    source = bb.asymmetry.static(made_vectors(words=WORDS[4:11]))
    with pytest.raises(MeasureError, match=r"made .* 6 of .* 6 protected .* 1 attribute"):
        bb.asymmetry.study_asymmetry(source, STUDY)


def test_it_says_itself_in_a_line_and_in_a_notebook() -> None:
    asymmetry = bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), STUDY)
    assert repr(asymmetry).startswith("<StudyAsymmetry: associated, ")
    assert "<h4>Differences</h4>" in asymmetry._repr_html_()


@pytest.mark.parametrize(("words", "repeats"), [(1, 3), (2, 40), (4, 100)])
def test_short_lists_have_the_degrees_of_freedom_of_their_own_words(words: int, repeats: int) -> None:
    """Where nothing is associated; the other list has six words, whose number says nothing of this one."""
    names = [f"w{number}" for number in range(30)]
    study = bb.Study(
        name="made",
        protected={"x": names[:6], "y": names[6:12]},
        attributes={"short": names[12 : 12 + words], "long": names[20:26]},
        associated=[("x", "short"), ("y", "short")],
        human="none",
        neutral="none",
    )
    beyond = 0
    for seed in range(repeats):
        vectors = dict(zip(names, np.random.default_rng(seed).normal(size=(30, 20)), strict=True))
        contrasts = bb.asymmetry.study_asymmetry(bb.asymmetry.static(vectors), study).contrasts
        if words == 1:
            assert contrasts.empty
            continue
        row = contrasts[contrasts["quantity"] == "lar"].iloc[0]
        beyond += not row["hdi_low"] <= 0 <= row["hdi_high"]
    assert beyond <= 0.15 * repeats  # with the number of the other list, 10 of 40 with two words, 16 with four


def test_words_that_depend_on_each_other_widen_the_intervals() -> None:
    """Real vectors; without their random words, dependence is unknown, and words count as independent."""
    rng = np.random.default_rng(1)
    vectors = np.concatenate([SAMPLE[:12], forms(4, 5, rng, 0.5)])
    words = tuple(f"{first}{second}" for first in "pqrs" for second in "abcdefgh")
    study = {"x": words[:6], "y": words[6:12], "a": words[12:22], "b": words[22:]}
    dependent, independent = (
        bb.asymmetry.study_asymmetry(
            bb.asymmetry.static(bb.Embedding(words=words, vectors=vectors, vocabulary_sample=sample)), study
        )
        for sample in (SAMPLE, None)
    )
    for frame in ("means", "contrasts"):
        made, plain = getattr(dependent, frame), getattr(independent, frame)
        np.testing.assert_allclose(made["mean"], plain["mean"])
        widths = (made["hdi_high"] - made["hdi_low"]) / (plain["hdi_high"] - plain["hdi_low"])
        assert (widths > 1.01).all()


def test_more_pairs_than_the_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bb.asymmetry.static(made_vectors())
    monkeypatch.setattr(machine, "free_memory", lambda: 50_000)
    with pytest.raises(NotEnoughMemoryError, match="The pairs of 10 protected and 10 attribute words"):
        bb.asymmetry.study_asymmetry(source, STUDY, controls=False)


def test_worths_take_no_pass_over_all_pairs_for_each_list(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons: list[int] = []
    equal = pd.Series.__eq__

    def counted(column: pd.Series, other: object) -> pd.Series:
        comparisons[-1] += 1
        return equal(column, other)

    monkeypatch.setattr(pd.Series, "__eq__", counted)
    for step in (5, 1):
        lists = {str(start): WORDS[start : start + step] for start in range(0, 10, step)}
        associated = [(name, "a") for name in lists]
        attributes = {"a": WORDS[10:15], "b": WORDS[15:19]}
        controls = {"human": "none", "neutral": "none"}
        study = bb.Study(name="x", protected=lists, attributes=attributes, associated=associated, **controls)
        comparisons.append(0)
        bb.asymmetry.study_asymmetry(bb.asymmetry.static(made_vectors()), study)
    assert comparisons[0] == comparisons[1]

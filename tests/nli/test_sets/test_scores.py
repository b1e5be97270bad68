"""Answers of models: what is asked, what is refused, and E."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.nli.test_sets.scores import LABELS, crossed, two_groups
from tests.nli.made import by_length, pets


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    return bb.nli.test_set(pets(tmp_path))


def test_a_model_gets_all_pairs_and_its_answers_are_kept(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    assert np.array_equal(scores[list(LABELS)], by_length(frame["premise"].tolist(), frame["hypothesis"].tolist()))
    assert scores.drop(columns=list(LABELS)).equals(frame)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: np.full((n, 2), 0.5), r"shape \(42, 2\), and \(42, 3\)"),
        (lambda n: np.full((n - 1, 3), 1 / 3), r"shape \(41, 3\)"),
        (lambda n: np.tile([2.0, -1.0, 0.0], (n, 1)), "Of 42 pairs, 42 have no probabilities"),
        (lambda n: np.tile([0.5, 0.2, 0.2], (n, 1)), "Logits need a softmax"),
        (lambda n: np.vstack([np.tile([1.0, 0, 0], (n - 1, 1)), [[np.nan, 0, 1]]]), "1 have .*Bello jagt ein knochen"),
        (lambda n: [["a", "b", "c"]] * n, "no array of numbers"),
        (lambda n: np.tile([1 + 1j, 0, 0], (n, 1)), "answer is complex"),
    ],
)
def test_answers_that_are_no_probabilities(frame: pd.DataFrame, answer: Any, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        bb.nli.score(frame, lambda premises, _: answer(len(premises)))


def test_a_frame_of_answers_is_read_by_the_names_of_its_columns(frame: pd.DataFrame) -> None:
    def turned(premises: Any, hypotheses: Any) -> pd.DataFrame:
        return pd.DataFrame({"entailment": 0.7, "contradiction": 0.1, "neutral": 0.2}, index=range(len(premises)))

    found = bb.nli.score(frame, turned)  # type: ignore[arg-type]
    assert found[list(LABELS)].drop_duplicates().to_numpy().tolist() == [[0.2, 0.7, 0.1]]
    with pytest.raises(MeasureError, match="columns a, b, c"):
        bb.nli.score(frame, lambda first, _: pd.DataFrame({"a": 1.0, "b": 0.0, "c": 0.0}, index=range(len(first))))  # type: ignore[arg-type, return-value]


def test_frames_that_are_none_of_ours(frame: pd.DataFrame) -> None:
    with pytest.raises(MeasureError, match="lacks the columns hypothesis"):
        bb.nli.score(frame.drop(columns="hypothesis"), by_length)
    with pytest.raises(MeasureError, match="no rows"):
        bb.nli.score(frame.iloc[:0], by_length)
    with pytest.raises(MeasureError, match="The model is str"):
        bb.nli.score(frame, "bert")  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="lacks the columns neutral"):
        bb.nli.neutral_error(frame)
    scores = bb.nli.score(frame, by_length)
    with pytest.raises(MeasureError, match="'Mia' is in two groups"):
        bb.nli.neutral_error(scores.assign(group=["cats", "dogs"] * 21, word="Mia"))


@pytest.mark.parametrize("name", ["premise", "verb", "object", "word"])
def test_labels_that_are_missing(frame: pd.DataFrame, name: str) -> None:
    scores = bb.nli.score(frame, by_length)
    lacking = scores.assign(**{name: [*scores[name][:4], None, *scores[name][5:]]})
    for function in (bb.nli.neutral_error, bb.nli.distance, bb.nli.posterior):
        with pytest.raises(MeasureError, match=f"The column {name} is empty in row 4"):
            function(lacking)


def test_columns_of_pandas_own_types(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    nullable = scores.convert_dtypes()
    pd.testing.assert_frame_equal(bb.nli.neutral_error(nullable), bb.nli.neutral_error(scores))
    nullable.loc[3, "neutral"] = pd.NA
    with pytest.raises(MeasureError, match="1 have no probabilities"):
        bb.nli.neutral_error(nullable)


def test_e_is_the_mean_distance_by_a_plain_loop(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    found = bb.nli.neutral_error(scores)
    assert found["level"].tolist() == ["overall", *["protected_group"] * 2, *["word"] * 6]

    def loop(rows: pd.DataFrame) -> float:
        return sum(
            ((1 - row.neutral) ** 2 + row.entailment**2 + row.contradiction**2) ** 0.5 for row in rows.itertuples()
        ) / len(rows)

    assert found["error"][0] == pytest.approx(loop(scores), rel=1e-12)
    for _, row in found.iloc[1:].iterrows():
        rows = scores[scores["group"] == row["group"]]
        rows = rows[rows["word"] == row["word"]] if row["word"] else rows
        assert row["error"] == pytest.approx(loop(rows), rel=1e-12)
        assert row["neutral"] == pytest.approx(rows["neutral"].mean(), rel=1e-12)
        assert row["pairs"] == len(rows)


def test_scores_in_any_order_are_one_array(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    mixed = crossed(scores.sample(frac=1, random_state=3))
    whole = crossed(scores)
    assert set(mixed.words) == set(whole.words)
    order = [mixed.words.index(word) for word in whole.words]
    places = [mixed.premises["premise"].tolist().index(text) for text in whole.premises["premise"]]
    assert np.array_equal(mixed.probabilities[order][:, places], whole.probabilities)
    assert [mixed.groups[at] for at in order] == whole.groups
    with pytest.raises(MeasureError, match="Not every word has every premise once: kater"):
        crossed(scores.iloc[1:])
    with pytest.raises(MeasureError, match="Not every word has every premise once: kater"):
        crossed(pd.concat([scores, scores.iloc[:1]]))


def test_which_groups_are_compared() -> None:
    with pytest.raises(MeasureError, match=r"one group \(a\). Give the words of two"):
        two_groups(["a", "a"], None)
    assert two_groups(["b", "a", "b"], None) == ("b", "a")
    assert two_groups(["a", "b", "c"], ("c", "a")) == ("c", "a")
    with pytest.raises(MeasureError, match="have 3 groups"):
        two_groups(["a", "b", "c"], None)
    for wrong in (("a", "a"), ("a", "d"), "ab", ("a",)):
        with pytest.raises(MeasureError, match="groups="):
            two_groups(["a", "b", "c"], wrong)

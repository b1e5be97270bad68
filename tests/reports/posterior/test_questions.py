"""Questions about lists, against draws averaged by hand."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import QuestionWarning, ReportError, TableError, command_line_messages
from bayesbias.models.data import model_data
from bayesbias.reports.posterior.questions import attribute_phrases, named_phrases
from tests import third_group
from tests.reports.made import made_table


def test_a_difference_is_that_of_the_words_means(fit: xr.DataTree, table: pd.DataFrame) -> None:
    answer = bb.planned_contrasts(fit, ("math", "male"), ("arts", "male")).iloc[0]
    means = fit["posterior"]["word_mean"]
    groups = np.asarray(fit["constant_data"]["protected_group"], dtype=str)
    words = np.asarray(means["protected_word"])
    math = means.sel(protected_word=words[groups == "math"], connection="associated").mean("protected_word")
    arts = means.sel(protected_word=words[groups == "arts"], connection="different").mean("protected_word")
    draws = (math - arts).to_numpy().ravel()
    assert answer["mean"] == pytest.approx(draws.mean())
    assert answer["sd"] == pytest.approx(draws.std(ddof=1))
    male = table[table["attribute_group"] == "male"]
    plain = male.groupby("protected_group", observed=True)["cosine_distance"].mean()
    assert answer["observed"] == pytest.approx(plain["math"] - plain["arts"])
    assert answer["pairs"] == len(male)
    assert answer["question"] == "math to male - arts to male"


def test_a_difference_of_differences_is_the_sum_of_its_sides(fit: xr.DataTree) -> None:
    sides = [("math", "male"), ("math", "female"), ("arts", "male"), ("arts", "female")]
    whole = bb.planned_contrasts(fit, *sides).iloc[0]
    parts = [bb.planned_contrasts(fit, *sides[first : first + 2]).iloc[0] for first in (0, 2)]
    assert whole["mean"] == pytest.approx(parts[0]["mean"] - parts[1]["mean"])
    assert whole["observed"] == pytest.approx(parts[0]["observed"] - parts[1]["observed"])


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([("math", "male")], "1 side"),
        ([("math", "males"), ("math", "female")], "'males'.*'male'"),
        ([("maths", "male"), ("math", "female")], "'maths'.*'math'"),
        ([("math", "male"), ("math", "male")], "math to male - math to male: .*connection"),
    ],
)
def test_questions_that_cannot_be_asked(fit: xr.DataTree, sides: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ReportError, match=message):
        bb.planned_contrasts(fit, *sides)


def test_the_study_s_own_questions_are_asked_where_none_is_given(fit: xr.DataTree, table: pd.DataFrame) -> None:
    facts = {
        **table.attrs["bayesbias"],
        "questions": {"math": [["math", "male"], ["math", "female"]], "<b>": [["arts", "male"], ["arts", "neutral"]]},
    }
    fit_with_questions = fit.copy()
    fit_with_questions.attrs["table"] = json.dumps(facts)
    frame = bb.planned_contrasts(fit_with_questions)
    assert frame["question"].tolist() == ["math", "<b>"]
    given = bb.planned_contrasts(fit, ("math", "male"), ("math", "female"))
    pd.testing.assert_frame_equal(frame.iloc[:1].drop(columns="question"), given.drop(columns="question"))


def test_without_any_question_it_says_how_to_ask_one_and_where_to_write_it(
    fit: xr.DataTree, table: pd.DataFrame
) -> None:
    groups, lists = (list(dict.fromkeys(table[f"{side}_group"])) for side in ("protected", "attribute"))
    pairs = f"('{groups[0]}', '{lists[0]}'), ('{groups[-1]}', '{lists[0]}')"
    with pytest.raises(ReportError, match=rf"such as {re.escape(pairs)}, or write \[questions\]"):
        bb.planned_contrasts(fit)
    typed = f"`{groups[0]} {lists[0]} {groups[-1]} {lists[0]}`"
    with command_line_messages(), pytest.raises(ReportError, match=rf"such as {typed}, or"):
        bb.planned_contrasts(fit)


def three_lists(lost: bool = False) -> pd.DataFrame:
    """Two groups of four words, and three lists of four, of which two have the same connection to each group."""
    rng = np.random.default_rng(3)
    rows = [
        (f"{group}{word}", group, f"{name}{number}", name, "associated" if associated_list == name else "different")
        for group, associated_list in (("sci", "A"), ("art", "B"))
        for word in range(4)
        for name in "ABC"
        for number in range(4)
    ]
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["cosine_distance"] = 0.8 + 0.05 * rng.standard_normal(len(frame))
    frame.loc[frame["protected_word"] == "sci0", "cosine_distance"] -= 0.4
    gone = (frame["protected_word"] == "sci0") & (frame["attribute_group"] == "C")
    return frame[~(gone & lost)].reset_index(drop=True)


def test_sides_with_one_group_are_compared_on_the_words_that_all_of_them_have() -> None:
    """sci0 is far nearer to everything and lacks C: its level is no difference between B and C, or A and C."""
    table = three_lists(lost=True)
    fit = bb.fit(table, "hierarchical", draws=200, chains=2, random_seed=1)
    with pytest.raises(ReportError, match=r"B - .*C: .*connection"):
        bb.planned_contrasts(fit, ("sci", "B"), ("sci", "C"))
    with pytest.warns(QuestionWarning, match=r"C .*sci .*B, C"):
        answer = bb.planned_contrasts(fit, ("sci", "A"), ("sci", "C")).iloc[0]
    complete_words = table[(table["protected_group"] == "sci") & (table["protected_word"] != "sci0")]
    means = complete_words.groupby("attribute_group")["cosine_distance"].mean()
    assert answer["observed"] == pytest.approx(means["A"] - means["C"])
    assert answer["pairs"] == 24


def test_observed_weighs_words_alike_as_the_mean_does() -> None:
    table = three_lists()
    table = table[~((table["protected_word"] != "sci0") & table["attribute_word"].isin(["A0", "A1"]))]
    fit = bb.fit(table.reset_index(drop=True), "hierarchical", draws=200, chains=2, random_seed=1)
    with pytest.warns(QuestionWarning):
        answer = bb.planned_contrasts(fit, ("sci", "A"), ("art", "A")).iloc[0]
    means = table[table["attribute_group"] == "A"].groupby("protected_word")["cosine_distance"].mean()
    expected = means[means.index.str.startswith("sci")].mean() - means[means.index.str.startswith("art")].mean()
    assert answer["observed"] == pytest.approx(expected)


def test_a_word_in_two_lists_counts_in_each_with_its_own_rows() -> None:
    table = three_lists()
    moved = (table["attribute_word"] == "A0") & (table["protected_group"] == "art")
    table.loc[moved, ["attribute_group", "connection"]] = ["B", "associated"]
    fit = bb.fit(table, "hierarchical", draws=200, chains=2, random_seed=1)
    assert bb.models.fitted_table(fit)["attribute_group"].tolist() == table["attribute_group"].tolist()
    with pytest.warns(QuestionWarning):
        answer = bb.planned_contrasts(fit, ("art", "B"), ("sci", "B")).iloc[0]
    assert answer["pairs"] == int((table["attribute_group"] == "B").sum()) == 36


def test_a_question_without_an_answer_is_named_and_the_others_are_answered(fit: xr.DataTree) -> None:
    questions = {"good": [["math", "male"], ["math", "female"]], "bad": [["math", "mal"], ["math", "female"]]}
    fit_with_questions = fit.copy()
    fit_with_questions.attrs["table"] = json.dumps({**json.loads(fit.attrs["table"]), "questions": questions})
    with pytest.warns(QuestionWarning, match=r"\n- .*'mal'.*'male'"):
        frame = bb.planned_contrasts(fit_with_questions)
    assert frame["question"].tolist() == ["good"]
    assert list(frame.settings["unanswered"]) == ["bad"]


@pytest.mark.parametrize("garbled", [["x"], "abc", None, {"a": 3}, {"a": [["sci"], ["art"]]}, {"a": [["sci", "male"]]}])
def test_garbled_questions_of_a_table_are_an_error(garbled: object, fit: xr.DataTree) -> None:
    fit_with_questions = fit.copy()
    fit_with_questions.attrs["table"] = json.dumps({**json.loads(fit.attrs["table"]), "questions": garbled})
    with pytest.raises(TableError, match="question"):
        bb.planned_contrasts(fit_with_questions)


def test_conclusions_answer_the_questions_of_the_study() -> None:
    """The numbers of `planned_contrasts`, in one sentence for each question."""
    study = replace(
        bb.load_study("weat7").without_controls(), questions={"maths": (("math", "male"), ("math", "female"))}
    )
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    fit = bb.fit(bb.distance_table(vectors, study, max_lost=0.5), random_seed=1)
    row = bb.planned_contrasts(fit).iloc[0]
    statement = next(part for part in bb.conclusions(fit).shown if part.kind == "question")
    assert statement.text.startswith(
        f"Question of the study, maths: the difference is {row['mean']:+.3f} (observed {row['observed']:+.3f})"
    )
    assert statement.numbers["hdi_low"] == row["hdi_low"]


def test_a_group_without_a_side_is_asked_about_in_the_default_model_alone() -> None:
    table = third_group.table("none")
    frame = bb.planned_contrasts(bb.fit(table, draws=500, random_seed=1, progress=False))
    (row,) = frame.to_dict("records")
    assert row["question"] == "people to lists"
    people = table[table["protected_group"] == "people"].groupby("attribute_group", observed=True)["cosine_distance"]
    means = people.mean()
    assert row["observed"] == pytest.approx(means["male"] - means["female"])
    assert row["mean"] == pytest.approx(row["observed"], abs=4 * row["sd"] / np.sqrt(2000))
    fit = bb.fit(table, "hierarchical", draws=500, random_seed=1, progress=False)
    with pytest.warns(QuestionWarning, match="without 'people', which has no associated list"):
        frame = bb.planned_contrasts(fit)
    assert list(frame.settings["unanswered"]) == ["people to lists"]
    assert "'multivariate'" in frame.settings["unanswered"]["people to lists"]
    with pytest.raises(ReportError, match="no associated list"):
        bb.planned_contrasts(fit, ("people", "male"), ("math", "male"))


def test_the_two_lists_of_one_group_are_named() -> None:
    table = made_table(("he",))
    phrases = named_phrases(model_data(table))
    assert phrases["associated"] == "associated attribute words (associated)"
    assert phrases["different"] == "the other attribute words (different)"
    assert phrases["human"] == "human control words"


def test_lists_of_several_groups_are_not_named() -> None:
    assert named_phrases(model_data(made_table(("he", "she")))) == attribute_phrases(2).words

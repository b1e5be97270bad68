"""The engine of changes: which pairs of conditions it compares, and what it keeps."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import NotEnoughMemoryError, ReportError, TableError
from bayesbias.models.periods.period_sample import period_sample
from bayesbias.reports.changes.engine import Lines, Periods, changes_of
from bayesbias.reports.changes.frames import Estimation
from bayesbias.reports.changes.result import Changes
from tests.reports.changed_tables import before_table, changed_table

WORDS = ("w0", "w1", "w2", "w3")
CONDITIONS = ("a", "b", "c")


def tables() -> dict[str, pd.DataFrame]:
    table = before_table(WORDS, attributes=4)
    return {name: table if place == 0 else changed_table(table, seed=place) for place, name in enumerate(CONDITIONS)}


ESTIMATION = Estimation(draws=100, seed=1, hdi_prob=0.89)


def periods(given: dict[str, pd.DataFrame], lines: Lines = lambda _: {}) -> Periods:
    return Periods(period_sample(given), np.arange(float(len(given))), lines, {})


@cache
def changes(*names: str) -> Changes:
    return changes_of({name: table for name, table in tables().items() if name in (names or CONDITIONS)}, ESTIMATION)


@cache
def moves(*names: str, **settings: Lines) -> Changes:
    given = {name: table for name, table in tables().items() if name in (names or CONDITIONS)}
    return changes_of(given, ESTIMATION, periods=periods(given, **settings))


def pairs_of(frame: pd.DataFrame) -> list[str]:
    contrast = frame.iloc[:, 0].iloc[0]
    rows = frame[frame.iloc[:, 0] == contrast]
    return (rows["first"] + rows["second"]).tolist()


def split(result: Changes) -> list[list[str]]:
    """Return the pairs of conditions of all words, of groups and of single words."""
    rows, is_word, is_group = (
        result.changes,
        result.changes["protected_word"] != "",
        result.changes["protected_group"] != "",
    )
    return [pairs_of(rows[where]) for where in (~is_word & ~is_group, is_group, is_word)]


def test_conditions_are_compared_with_the_first_and_periods_with_each_other() -> None:
    compared, moved = changes(), moves()
    from_first = ["ab", "ac"]
    assert [sorted(pairs) for pairs in split(compared)] == [sorted(from_first * count) for count in (1, 2, 4)]
    assert [sorted(pairs) for pairs in split(moved)] == [["ab", "ac", "bc"], 2 * ["ac"], 4 * ["ac"]]
    assert (compared.facts["times"], moved.facts["times"]) == (None, [0.0, 1.0, 2.0])


def test_a_change_does_not_depend_on_the_other_embeddings_and_is_that_of_two_periods() -> None:
    every = changes()
    for name in ("b", "c"):
        for alone in (changes("a", name), moves("a", name)):
            for frame in ("changes", "distances"):
                rows = getattr(every, frame)
                shared = rows[rows["second"] == name].reset_index(drop=True)
                pd.testing.assert_frame_equal(pd.DataFrame(shared), pd.DataFrame(getattr(alone, frame)))


def test_the_result_keeps_the_fits_the_draws_and_the_frames_of_lines() -> None:
    result = moves(lines=lambda drawn: {"lines": pd.DataFrame({"periods": [drawn.plain.shape[0]]})})
    assert tuple(result.fits) == result.conditions == CONDITIONS
    assert dict(result.draws["population"].sizes) == {"chain": 4, "draw": 100, "contrast": 3, "condition": 3}
    change = result.draws["population"].sel(condition="c") - result.draws["population"].sel(condition="a")
    row = result.changes[(result.changes["second"] == "c") & (result.changes["protected_group"] == "")].iloc[0]
    assert change.sel(contrast=row["contrast"]).std() == pytest.approx(row["sd"], rel=0.01)
    assert result.lines.values.tolist() == [[f"associated - {name}", 3] for name in ("different", "human", "neutral")]
    assert result.slopes.empty
    assert not changes().draws


def test_periods_without_a_gap_are_refused_and_conditions_have_distances_alone() -> None:
    given = {name: table[table["connection"] == "neutral"].reset_index(drop=True) for name, table in tables().items()}
    with pytest.raises(ReportError, match="associated"):
        changes_of(given, ESTIMATION, periods=periods(given))
    result = changes_of(given, ESTIMATION)
    assert (len(result.changes), set(result.distances["connection"])) == (0, {"neutral"})


def test_draws_that_do_not_fit_into_memory_are_refused_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    given = tables()
    monkeypatch.setattr("bayesbias.reports.changes.engine.fit", lambda *_, **__: pytest.fail("a table was fitted"))
    with pytest.raises(NotEnoughMemoryError, match="4 words under 3 conditions"):
        changes_of(given, Estimation(draws=10**12, seed=1, hdi_prob=0.89), periods=periods(given))


def test_a_control_list_that_one_embedding_has_too_little_of_is_left_out_there_and_named() -> None:
    given = tables()
    given["b"] = given["b"].loc[~given["b"]["attribute_word"].isin(["human1", "human2", "human3"])]
    result = changes_of(given, ESTIMATION)
    of_all = result.distances.loc[result.distances["protected_word"] == "", ["second", "connection"]]
    missing = {(second, name) for second in "bc" for name in ("associated", "different", "human", "neutral")}
    assert missing - set(of_all.itertuples(index=False, name=None)) == {("b", "human")}
    assert set(result.changes.loc[result.changes["second"] == "b", "contrast"]) == {
        "associated - different",
        "associated - neutral",
    }
    (doubt,) = (doubt for doubt in result.doubts if doubt.kind == "short control list")
    assert "lacking words" in {doubt.kind for doubt in result.doubts}, "the change from a to c has the list"
    alone = changes_of({name: given[name] for name in "ab"}, ESTIMATION)
    assert [doubt.kind for doubt in alone.doubts if "human" in doubt.text] == ["short control list"]
    assert doubt.text == (
        "From 'a' to 'b', no change of distances to human words is estimated: one of the two has 1 word of that list, "
        "and a mean of fewer than two words has no error. Choose control words that both have."
    )


def test_other_lists_of_one_word_are_refused_and_so_are_tables_of_short_controls_alone() -> None:
    given = tables()
    one_word = given["b"].loc[~given["b"]["attribute_word"].isin(["first1", "first2", "first3"])]
    with pytest.raises(TableError, match="'first' has 1 of 4 words in b"):
        changes_of({"a": given["a"], "b": one_word}, ESTIMATION)
    alone = {name: table.loc[table["attribute_word"] == "human0"] for name, table in given.items()}
    with pytest.raises(TableError, match="'human' has 1 of 1 word in a, b, and at least 2 are needed"):
        changes_of({"a": alone["a"], "b": alone["b"]}, ESTIMATION)

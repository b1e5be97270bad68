"""The engine of changes: which pairs of conditions it compares, and what it keeps."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import NotEnoughMemoryError, ReportError
from bayesbias.models.periods.period_sample import period_sample
from bayesbias.reports.changes.engine import changes_of
from bayesbias.reports.changes.frames import Estimation
from bayesbias.reports.changes.result import Changes
from tests.reports.changed_tables import before_table, changed_table

WORDS = ("w0", "w1", "w2", "w3")
CONDITIONS = ("a", "b", "c")


def tables() -> dict[str, pd.DataFrame]:
    table = before_table(WORDS, attributes=4)
    return {name: table if place == 0 else changed_table(table, seed=place) for place, name in enumerate(CONDITIONS)}


def changes(**settings: object) -> Changes:
    given = tables()
    estimation = Estimation(draws=100, seed=1, hdi_prob=0.89)
    return changes_of(given, period_sample(given), estimation, **settings)  # type: ignore[arg-type]


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
    compared, moved = changes(), changes(times=np.arange(3.0))
    from_first = ["ab", "ac"]
    assert [sorted(pairs) for pairs in split(compared)] == [sorted(from_first * count) for count in (1, 2, 4)]
    assert [sorted(pairs) for pairs in split(moved)] == [["ab", "ac", "bc"], 2 * ["ac"], 4 * ["ac"]]
    assert (compared.facts["times"], moved.facts["times"]) == (None, [0.0, 1.0, 2.0])
    # The same draws: what two faces have in common is equal.
    both = ["contrast", "first", "second", "protected_group", "protected_word"]
    columns = ["observed", "mean", "hdi_low", "hdi_high", "reading"]
    common = compared.changes.merge(moved.changes, on=both, suffixes=("_compared", "_moved"))
    assert len(common) == 3 * (2 + 2 + 4)
    for name in columns:
        assert common[f"{name}_compared"].tolist() == common[f"{name}_moved"].tolist()


def test_the_result_keeps_the_fits_the_draws_and_the_frames_of_lines() -> None:
    result = changes(
        times=np.arange(3.0), lines=lambda drawn: {"lines": pd.DataFrame({"periods": [drawn.plain.shape[0]]})}
    )
    assert tuple(result.fits) == result.conditions == CONDITIONS
    assert dict(result.draws["population"].sizes) == {"chain": 4, "draw": 100, "contrast": 3, "condition": 3}
    change = result.draws["population"].sel(condition="c") - result.draws["population"].sel(condition="a")
    row = result.changes[(result.changes["second"] == "c") & (result.changes["protected_group"] == "")].iloc[0]
    assert change.sel(contrast=row["contrast"]).std() == pytest.approx(row["sd"], rel=0.01)
    assert result.lines.values.tolist() == [[f"associated - {name}", 3] for name in ("different", "human", "neutral")]
    assert result.slopes.empty


def test_periods_without_a_gap_are_refused_and_conditions_have_distances_alone() -> None:
    given = {name: table[table["connection"] == "neutral"].reset_index(drop=True) for name, table in tables().items()}
    sample, estimation = period_sample(given), Estimation(draws=100, seed=1, hdi_prob=0.89)
    with pytest.raises(ReportError, match="associated"):
        changes_of(given, sample, estimation, times=np.arange(3.0))
    result = changes_of(given, sample, estimation)
    assert (len(result.changes), set(result.distances["connection"])) == (0, {"neutral"})


def test_draws_that_do_not_fit_into_memory_are_refused_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    given = tables()
    monkeypatch.setattr("bayesbias.reports.changes.engine.fit", lambda *_, **__: pytest.fail("a table was fitted"))
    with pytest.raises(NotEnoughMemoryError, match="4 words under 3 conditions"):
        changes_of(given, period_sample(given), Estimation(draws=10**12, seed=1, hdi_prob=0.89))

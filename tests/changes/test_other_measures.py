"""Changes of tables of other measures: tables times c have the changes times c, in their own words."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.result import Changes
from bayesbias.errors import TableError
from bayesbias.tables.measures import SURPRISAL, Measure
from tests.changes.changed_tables import QUICK, before_table, changed_table
from tests.tables.scored import OF_COSINES, page_text, scored, texts

ESTIMATES = ["observed", "mean", "sd", "hdi_low", "hdi_high"]
FACTOR = 300.0
SMALL = 1e-7
LESS_LIKELY = re.compile(f"{OF_COSINES.pattern}|nearer|farther", re.IGNORECASE)
COVARIATES = {"share": {f"w{number}": number**2 / 64 for number in range(8)}}


def conditions(factor: float = 1.0, shift: float = 0.0, **settings: Any) -> dict[str, pd.DataFrame]:
    first = before_table()
    tables = {"1900": first, "1950": changed_table(first, seed=3), "1990": changed_table(first)}
    return {name: scored(table, factor, shift, **settings) for name, table in tables.items()}


def moved(**settings: Any) -> Changes:
    return bb.trend(conditions(**settings), word_covariates=COVARIATES, rope=0.05 * settings.get("factor", 1), **QUICK)


@pytest.mark.parametrize("factor", [FACTOR, SMALL])
def test_changes_follow_the_unit(factor: float) -> None:
    first, second = moved(), moved(factor=factor, shift=-20.0 * factor)
    for name in ("contrasts", "changes", "distances", "lines", "slopes"):
        before, after = getattr(first, name), getattr(second, name)
        np.testing.assert_allclose(after[ESTIMATES] / factor, before[ESTIMATES], rtol=1e-4, atol=1e-7)
        labels = [column for column in before if before[column].dtype.kind in "OT" and column != "unit"]
        assert len(before) > 2
        assert after[labels].equals(before[labels]), name
    np.testing.assert_allclose(second.changes["probability_in_rope"], first.changes["probability_in_rope"], atol=1e-3)
    np.testing.assert_allclose(second.draws["population"] / factor, first.draws["population"], rtol=1e-4, atol=1e-7)
    kinds = [[doubt.kind for doubt in one.doubts] for one in (first, second)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(("measure", "words"), [(None, OF_COSINES), (SURPRISAL, LESS_LIKELY)])
def test_changes_speak_the_measure(measure: Measure | None, words: re.Pattern[str], tmp_path: Path) -> None:
    settings = {} if measure is None else {"measure": measure}
    tables = conditions(FACTOR, **settings)
    for changes in (moved(factor=FACTOR, **settings), bb.compare_embeddings(tables, **QUICK)):
        for text in (texts(changes), page_text(changes, tmp_path)):
            assert not words.findall(text)
        for figure in (bb.plots.plot_changes(changes), bb.plots.plot_change_summary(changes)):
            shown = [text.get_text() for text in figure.findobj(match=lambda artist: hasattr(artist, "get_text"))]
            assert not words.findall(" ".join(shown))


def test_tables_of_two_measures_are_not_compared() -> None:
    tables = conditions(FACTOR, measure=SURPRISAL)
    with pytest.raises(TableError, match=r"'1900' holds surprisals \(nats\), and table 'old' cosine distances"):
        bb.compare_embeddings({**tables, "old": before_table()}, **QUICK)

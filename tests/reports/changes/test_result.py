"""What a trend says and shows."""

import bayesbias as bb
from tests.reports.changes.test_word_slopes import SHARES, tables


def test_slopes_are_said_and_shown_where_there_are_some() -> None:
    moved = bb.trend(tables(), word_covariates={"share": SHARES}, walk=True, random_seed=1, progress=False)
    text = " ".join(str(moved).split())
    assert "associated - different: the slope on share is not shown to have changed: -0." in text
    assert "words with a larger share are nearer to associated words" in text
    assert "HC2" in moved.parts[-1].statements[0].text
    assert set(moved.contents.figures) == {"trend", "slopes"}
    assert len(moved.contents.tables["slopes"].frame) == 3
    assert "word_covariates=WORD_COVARIATES, walk=True, random_seed=1)" in moved.contents.code


def test_without_covariates_of_words_there_are_none() -> None:
    moved = bb.trend(tables(), draws=100, random_seed=1, progress=False)
    assert moved.slopes.empty
    assert set(moved.contents.figures) == {"trend"}
    assert "slopes" not in moved.contents.tables
    assert "slope on" not in str(moved)
    assert "STUDY, draws=100, random_seed=1)" in moved.contents.code

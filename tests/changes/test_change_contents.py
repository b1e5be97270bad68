"""Tables with marks and figures on the page of changes: what is shown first, and what is said to be left out."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.changes.change_contents import (
    MOST_CHANGES,
    change_figures,
    condition_columns,
    first_tables,
    slopes_figure,
)
from bayesbias.tables.measures import COSINE_DISTANCE

NAMES = [f"method {number}" for number in range(9)]


def frame(second: list[str], **columns: object) -> pd.DataFrame:
    numbers = {"mean": -0.01, "hdi_low": -0.02, "hdi_high": -0.001, "observed": -0.01, "reading": "larger"}
    empty = {"contrast": "associated - different", "first": "original", "protected_group": "", "protected_word": ""}
    return pd.DataFrame({**empty, **numbers, "second": second, **columns})


@pytest.fixture
def ends() -> pd.DataFrame:
    of_all = frame(["hard"] * 2, contrast=["associated - different", "associated - human"])
    groups = frame(["hard"] * 2, protected_group=["cats", "dogs"])
    controls = groups.assign(contrast="associated - human")
    words = frame(["hard"] * 2, protected_word=["tom", "pup"], reading=["smaller", "not settled"])
    return pd.concat([of_all, groups, controls, words], ignore_index=True)


def test_groups_are_those_of_the_first_contrast_and_words_have_a_mark_each(ends: pd.DataFrame) -> None:
    facts = {"conditions": ["original", "hard"], "times": None}
    tables = first_tables(ends, pd.DataFrame(), facts, "89% HPDI", ())
    assert list(tables) == ["groups_changed", "words_changed"]
    groups, words = tables.values()
    assert groups.frame["protected_group"].tolist() == ["All words", "All words", "cats", "dogs"]
    assert words.mark is not None
    assert [words.mark(row) for row in words.frame.to_dict("records")] == ["● ← smaller", "○ not settled"]
    assert not {"second"} & {*groups.columns, *words.columns}
    assert not any(table.in_folder for table in tables.values()), "their rows are those of the other tables"
    assert first_tables(ends[:0], pd.DataFrame(), facts, "89% HPDI", ()) == {}


def test_periods_have_a_line_each_and_one_contrast_leads(ends: pd.DataFrame) -> None:
    facts = {"conditions": ["1900", "1950", "1990"], "times": np.array([1900, 1950, 1990])}
    columns = {"condition": facts["conditions"], "borderline": [False, True, False]}
    contrasts = pd.concat(
        [frame(["", "", ""], **columns, contrast=f"associated - {name}") for name in ("different", "human")]
    )
    periods = first_tables(ends, contrasts, facts, "89% HPDI", ())["periods"]
    assert periods.frame["condition"].tolist() == facts["conditions"]
    assert periods.headings["condition"] == "Period"
    assert periods.meanings["condition"] == "period of the texts"
    assert periods.mark is not None
    assert [periods.mark(row)[0] for row in periods.frame.to_dict("records")] == ["●", "⊙", "●"]
    figures = change_figures(ends, contrasts, facts, "89% HPDI", {"1990": "Text."})
    assert list(figures) == ["trend", "trends", "change_1"]
    assert figures["trend"].options == {"contrast": "associated - different"}
    assert slopes_figure(pd.DataFrame(), "89% HPDI", COSINE_DISTANCE) == {}
    (slopes,) = slopes_figure(
        pd.DataFrame({"covariate": ["share_of_women"], "unit": ["one unit"]}), "89% HPDI", COSINE_DISTANCE
    ).values()
    assert "in units of cosine distance for one unit of 'share of women'" in slopes.caption


def test_columns_speak_of_conditions_as_the_comparison_does() -> None:
    columns = condition_columns({"conditions": ["original", "hard"], "times": None})
    assert columns["headings"] == {"condition": "Condition", "conditions": "Conditions"}
    assert columns["meanings"]["lacks"] == "conditions that lack the word"
    assert "condition" not in columns["meanings"], "the glossary has it"


def test_of_many_conditions_the_caption_says_how_many_are_shown(ends: pd.DataFrame) -> None:
    facts = {"conditions": ["original", *NAMES], "times": None}
    figures = change_figures(ends, pd.DataFrame(), facts, "89% HPDI", dict.fromkeys(NAMES, "Text."))
    assert f"Of 9 lines above, the {MOST_CHANGES} with the largest changes are shown." in figures["change"].caption
    assert [figures[f"change_{number}"].options["second"] for number in range(1, 10)] == NAMES
    two = change_figures(ends, pd.DataFrame(), facts | {"conditions": ["a", "b"]}, "89% HPDI", {"b": "Text."})
    assert "are shown." not in two["change"].caption
    assert list(two) == ["change", "change_1"]

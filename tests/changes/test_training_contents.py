"""Tables with marks and figures on the page of a comparison of seeds."""

import pandas as pd

from bayesbias.base.results import MOST_LINES
from bayesbias.changes.training_contents import figures_over_seeds, tables_over_seeds

FACTS = {"changed": (), "ranks": {}, "scope": "population"}


def contrasts(groups: int, words: int) -> pd.DataFrame:
    names = [*(("", "") for _ in range(1)), *((f"g{place}", "") for place in range(groups))]
    names += [("", f"w{place}") for place in range(words)]
    frame = pd.DataFrame(names, columns=["protected_group", "protected_word"])
    return frame.assign(contrast="associated - different", reading="stable", mean=-0.1)


def test_groups_and_words_have_a_table_each_with_marks() -> None:
    groups, words = tables_over_seeds(contrasts(2, 3), [], FACTS, "89% HPDI", ()).values()
    assert (groups.section, words.section) == ("Groups", "Words")
    assert groups.frame["protected_group"].tolist() == [
        "All words",
        "g0",
        "g1",
    ]
    assert words.mark is not None
    assert [words.mark(row) for row in words.frame.to_dict("records")] == ["● ← nearer"] * 3
    assert [table.section for table in tables_over_seeds(contrasts(2, 0), [], FACTS, "89% HPDI", ()).values()] == [
        "Groups"
    ]


def test_the_first_figure_has_no_words_and_says_what_it_leaves_out() -> None:
    first, second = figures_over_seeds(contrasts(20, 3), "89% HPDI").values()
    assert first.options == {"words": False, "most": MOST_LINES, "contrast": None}
    assert f"Of 21 lines, the {MOST_LINES} that vary most between seeds are shown." in first.caption
    assert second.section == "Words"
    (alone,) = figures_over_seeds(contrasts(2, 0), "89% HPDI").values()
    assert "are shown" not in alone.caption

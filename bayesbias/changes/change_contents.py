"""Tables with marks, and figures, on the page of changes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesbias.base.results import ResultFigure, ResultTable
from bayesbias.base.statements import Statement
from bayesbias.changes.change_statements import condition_word
from bayesbias.changes.many_changes import note_together
from bayesbias.changes.readings import change_mark
from bayesbias.changes.slope_statements import covariate_names
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, mark
from bayesbias.reports.posterior.estimate_tables import with_ways
from bayesbias.tables.measures import Measure, measure_of

if TYPE_CHECKING:
    import pandas as pd

MOST_CHANGES = 6
"""Most lines of changes in the first figure of a page, above those of the contrasts."""
_NOT_RECORDED = "not in the table"
_NUMBERS = ("mean", "hdi_low", "hdi_high", "observed", "probability_of_direction", "probability_in_rope")


def condition_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return headings and meanings of columns about conditions, in the word of this comparison.

    >>> condition_columns({"times": [1910, 1990], "conditions": ["1910", "1990"]})["headings"]["condition"]
    'Period'
    """
    noun = condition_word(facts)
    meanings = {"conditions": f"{noun}s that have the word", "lacks": f"{noun}s that lack the word"}
    if noun == "period":
        meanings["condition"] = "period of the texts"
    heading = noun.capitalize()
    return {"headings": {"condition": heading, "conditions": f"{heading}s"}, "meanings": meanings}


def first_tables(
    ends: "pd.DataFrame", contrasts: "pd.DataFrame", facts: Mapping[str, Any], prob: str, together: Sequence[Statement]
) -> dict[str, ResultTable]:
    """Return tables with marks of the first contrast: in each period, of all words and groups, and of each word.

    `ends` are the rows of `Changes.changes` from the first condition, and of periods to the last one; `together` says
    what the settled ones are worth together.
    """
    if ends.empty:
        return {}
    first = str(ends["contrast"].iloc[0])
    base = contrast_sides(first)[0]
    of_word, of_group, in_first = ends["protected_word"] != "", ends["protected_group"] != "", ends["contrast"] == first
    groups = ends[~of_word & (in_first | ~of_group)]
    groups = groups.assign(protected_group=groups["protected_group"].replace("", "All words"))
    several = ("second",) if len(facts["conditions"]) > 2 and facts["times"] is None else ()
    measure = measure_of(facts)
    about = f"{prob}; above 0, {base} words are {measure.farther} in the second {condition_word(facts)}"
    headings = {"mean": "Change", "second": "In"}
    shown: dict[str, Any] = {"differences": True, "in_folder": False}
    tables = {
        "groups_changed": ResultTable(
            groups,
            "Groups",
            f"How each contrast changed, {about}",
            ("protected_group", *several, *_NUMBERS[:3], "contrast", *_NUMBERS[3:]),
            headings,
            note=note_together(together, "condition"),
            mark=change_mark,
            **shown,
        ),
        "words_changed": ResultTable(
            ends[of_word & in_first],
            "Words",
            f"How the contrast {first} of each word changed, {about}",
            ("protected_word", *several, *_NUMBERS),
            headings,
            note=note_together(together, "word"),
            mark=change_mark,
            **shown,
        ),
    }
    if facts["times"] is None:
        return tables
    periods = contrasts[
        (contrasts["protected_word"] == "") & (contrasts["protected_group"] == "") & (contrasts["contrast"] == first)
    ]
    terms = condition_columns(facts)
    terms["headings"] = {"mean": "Contrast", **terms["headings"]}
    caption = f"Contrast {first} in each period, {prob}; below 0, {base} words are {measure.nearer}"
    marked = partial(mark, below=measure.nearer, above=measure.farther)
    in_periods = ResultTable(periods, "Periods", caption, ("condition", *_NUMBERS), mark=marked, **terms, **shown)
    return {"periods": in_periods, **tables}


def contrasts_table(contrasts: "pd.DataFrame", facts: Mapping[str, Any], prob: str) -> ResultTable:
    """Return the contrasts of all words and groups in each condition."""
    caption = f"Contrast in each {condition_word(facts)}, {prob}"
    shown = with_ways(contrasts[contrasts["protected_word"] == ""], measure_of(facts))
    return ResultTable(shown, "Contrasts", caption, differences=True, **condition_columns(facts))


def lacking_table(lacking: "pd.DataFrame", facts: Mapping[str, Any]) -> ResultTable:
    """Return the words that some conditions lack."""
    caption = f"Words that some or all {condition_word(facts)}s lack"
    return ResultTable(lacking, "Words that are lacking", caption, **condition_columns(facts))


def change_figures(
    ends: "pd.DataFrame",
    contrasts: "pd.DataFrame",
    facts: Mapping[str, Any],
    prob: str,
    alternatives: Mapping[str, str],
    *,
    is_first: bool = True,
) -> dict[str, ResultFigure]:
    """Return the first figure, of at most 12 lines, and one with the words of each condition.

    `alternatives` are texts of the conditions for readers who do not see a figure. Unless `is_first`, another figure
    leads the page.
    """
    first, *others = facts["conditions"]
    measure = measure_of(facts)
    legend = f"Points: posterior means, filled if settled; lines: {prob}"
    figures: dict[str, ResultFigure] = {}
    if facts["times"] is not None:
        names = list(dict.fromkeys(contrasts["contrast"]))
        caption = (
            f"Contrast in each period, {measure.in_unit}; below 0, {measure.nearer}. {legend}; crosses: observed "
            "contrasts."
        )
        alt = "The contrast in each period with its interval. The numbers are in the table of contrasts."
        figures["trend"] = ResultFigure(
            "plot_trend", caption, options={"contrast": names[0]}, section="" if is_first else "Periods", alt=alt
        )
        if len(names) > 1:
            figures["trends"] = ResultFigure("plot_trend", caption, section="Contrasts", alt=alt)
        others = others[-1:]
    elif len(ends):
        lines = ends["protected_group"].nunique() if len(others) == 1 else len(others)
        cut = f" Of {lines} lines above, the {MOST_CHANGES} with the largest changes are shown."
        figures["change"] = ResultFigure(
            "plot_change_summary",
            f"Above, the change from {first}; below, the contrast in each condition. {legend}; colours and shapes: the "
            f"other side of each contrast.{cut if lines > MOST_CHANGES else ''}",
            alt=alternatives[others[0]],
        )
    many = facts.get("protected_words", 0) > 200
    shown = " The 200 words whose changes lie farthest from the mean are shown." if many else ""
    for number, name in enumerate(others, start=1):
        figures[f"change_{number}"] = ResultFigure(
            "plot_changes",
            f"Changes from {first} to {name}. {legend}.{shown} The contrasts in {first} and in {name} come "
            "from separate fits and need not differ by exactly the change, which is the number to use. Colours "
            f"and shapes show the other side of each contrast, or the kind of words that a {measure.short} is about.",
            options={"second": name},
            section="" if ends.empty and number == 1 else "Words" if number == 1 else "Changes",
            alt=alternatives[name],
        )
    return figures


def slopes_figure(slopes: "pd.DataFrame", prob: str, measure: Measure) -> dict[str, ResultFigure]:
    """Return the figure of the slopes of leans on numbers of the words, which leads the page, if there are slopes."""
    if slopes.empty:
        return {}
    figure = ResultFigure(
        "plot_slopes",
        f"Slope of the words' leans in each period, {measure.in_unit} for {covariate_names(slopes)}: at 0, the lean "
        f"does not change with it. Points: posterior means, filled if settled; lines: {prob}; crosses: plain slopes.",
        alt="The slope in each period with its interval. The numbers are in the table of slopes.",
    )
    return {"slopes": figure}


def slope_tables(slopes: "pd.DataFrame", sides: tuple[str, str], prob: str, measure: Measure) -> dict[str, ResultTable]:
    """Return the slopes of the first contrast's leans with marks, and those of all contrasts."""
    names = ("contrast", "covariate", "unit", "quantity", "period", "reading", "words", "observed")
    caption = f"Slopes of all contrasts, {measure.in_unit}, {prob}"
    every = ResultTable(slopes, "Slopes", caption, (*names, *_NUMBERS[:3]), digits=True, folded=True)
    if slopes.empty:
        return {"slopes": every}

    def slope_mark(row: Mapping[str, Any]) -> str:
        if row["quantity"] == "change":
            return change_mark(row)
        below, above = (f"shift to {side}" if measure.to == "to" else f"{side} {measure.nearer}" for side in sides)
        return mark(row, below=below, above=above)

    covariate = ("covariate",) if slopes["covariate"].nunique() > 1 else ()
    first = ResultTable(
        slopes[slopes["contrast"] == slopes["contrast"].iloc[0]],
        "Slopes",
        f"Slope in each period and its change, {measure.in_unit} for {name_some(slopes['unit'].unique())} of the "
        f"covariate, {prob}",
        ("period", *covariate, "words", "mean", "hdi_low", "hdi_high", "observed"),
        {"mean": "Slope"},
        digits=True,
        mark=slope_mark,
        in_folder=False,
    )
    return {"slopes_by_period": first, "slopes": every}


def lacking_rows(tables: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Mapping[str, Any]]) -> "pd.DataFrame":
    """Return a row for each word that a condition lacks, and for each that none has.

    `facts` are those of the tables; `reason` has the reasons of the conditions that lack a word.
    """
    import pandas as pd

    lost: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for condition, of_condition in facts.items():
        for entry in of_condition.get("lost_words", []):
            places = lost.setdefault(entry["word"], {})
            places.setdefault((entry["role"], entry["list"]), {})[condition] = entry.get("reason", _NOT_RECORDED)

    def row(word: str, role: str, list_name: str, lacks: list[str]) -> tuple[Any, ...]:
        reasons = lost.get(word, {}).get((role, list_name), {})
        why = "; ".join(dict.fromkeys(reasons.get(name, _NOT_RECORDED) for name in lacks))
        is_nowhere = len(lacks) == len(tables)
        return word, role, list_name, len(tables) - len(lacks), "all" if is_nowhere else ", ".join(lacks), why

    records: list[tuple[Any, ...]] = []
    stored: set[str] = set()
    for role, list_column in (("protected", "protected_group"), ("attribute", "attribute_group")):
        columns = [f"{role}_word", list_column]
        lists = {
            name: dict(table[columns].drop_duplicates().astype(str).itertuples(index=False, name=None))
            for name, table in tables.items()
        }
        every = {word: list_name for of_condition in lists.values() for word, list_name in of_condition.items()}
        stored |= set(every)
        for word, list_name in every.items():
            if lacks := [name for name, of_condition in lists.items() if word not in of_condition]:
                records.append(row(word, role, list_name, lacks))
    records += [row(word, *[*places][-1], [*tables]) for word, places in lost.items() if word not in stored]
    return pd.DataFrame(records, columns=["word", "role", "list", "conditions", "lacks", "reason"])

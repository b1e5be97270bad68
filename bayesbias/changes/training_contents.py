"""Tables with marks, and figures, on the page of a comparison of seeds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import shown_name
from bayesbias.base.results import MOST_LINES, ResultFigure, ResultTable
from bayesbias.base.statements import Statement
from bayesbias.changes.many_changes import note_together
from bayesbias.changes.training_statements import MARKS_OVER_SEEDS, WHICH_INTERVAL, training_mark

if TYPE_CHECKING:
    import pandas as pd

_ESTIMATE = ("mean", "hdi_low", "hdi_high", "seeds_low", "seeds_high", "probability_in_rope")
_MORE = ("next_low", "next_high", "seed_share")
_BOTH: tuple[str, ...] = ("original_mean", "changed_mean")
_MOST_WORD_LINES = 40
_RANKS = "A method that removes many dimensions also removes meaning."
SEED_HEADINGS = {"mean": "Over seeds", "hdi_low": "Interval over seeds and words", "second": "Condition"}
"""Headings of estimates over seeds: two intervals are told apart."""
CHANGE_HEADINGS = SEED_HEADINGS | {
    "mean": "Mean change over seeds",
    "change": "What changed",
    "changed_mean": "Contrast after",
    "nearer": "Seeds: below 0",
    "farther": "Seeds: above 0",
}


def tables_over_seeds(
    contrasts: "pd.DataFrame",
    verdicts: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    prob: str,
    together: Sequence[Statement],
) -> dict[str, ResultTable]:
    """Return tables with marks: each condition, all words and groups over seeds, and the first contrast of each word.

    `verdicts` are the rows of the answer; `facts` are those of `TrainingComparison`; `together` says what the settled
    ones are worth together.
    """
    import pandas as pd

    is_word = contrasts["protected_word"] != ""
    words = contrasts[is_word & (contrasts["contrast"] == contrasts["contrast"].iloc[0])]
    every = "All words" if facts["scope"] == "population" else "All words, exactly these"
    labels = [name or every for name in contrasts["protected_group"][~is_word]]
    groups = contrasts[~is_word].assign(protected_group=labels)
    frames = {"Groups": ("protected_group", groups), "Words": ("protected_word", words)}
    what = "Changes of contrasts" if "change" in contrasts else "Contrasts"
    above, headings = "", SEED_HEADINGS
    more = _BOTH if "change" in contrasts else _MORE
    if "change" in contrasts:
        above = f"; above 0, {facts['baseline']} words are farther than before"
        headings = CHANGE_HEADINGS | {"original_mean": f"Contrast in {facts['first']}"}
    several = ("second",) if "second" in contrasts and contrasts["second"].nunique() > 1 else ()
    estimate = tuple(name for name in _ESTIMATE if name in contrasts)
    conditions = {}
    if len(facts["changed"]) > 1:
        frame = pd.DataFrame(list(verdicts))
        whose = verdicts[0]["protected_word"] or verdicts[0]["protected_group"]
        of_words = f" of {shown_name(whose)}" if whose else ""
        frame["dimensions_used"] = [facts["ranks"].get(name, "") for name in frame["second"]]
        conditions["conditions_over_seeds"] = ResultTable(
            frame,
            "Conditions",
            f"Change of the contrast {frame['contrast'].iloc[0]}{of_words} in each condition over seeds, in units of "
            f"cosine distance, {prob}",
            ("second", *estimate, *(("dimensions_used",) if facts["ranks"] else ())),
            CHANGE_HEADINGS,
            differences=True,
            note=" ".join(filter(None, (note_together(together, "condition"), _RANKS if facts["ranks"] else ""))),
            mark=training_mark,
            marks=MARKS_OVER_SEEDS,
            in_folder=False,
        )
    return conditions | {
        f"{title.lower()}_over_seeds": ResultTable(
            frame,
            title,
            f"{what}{'' if title == 'Groups' else f' {frame["contrast"].iloc[0]}'} over seeds, in units of cosine "
            f"distance, {prob}{above}",
            (name, *several, *(("contrast",) if title == "Groups" else ()), *estimate, *more),
            headings,
            differences=True,
            note=WHICH_INTERVAL if place == 0 else note_together(together, "word"),
            mark=training_mark,
            marks=MARKS_OVER_SEEDS,
            in_folder=False,
        )
        for place, (title, (name, frame)) in enumerate(frames.items())
        if len(frame)
    }


def figures_over_seeds(contrasts: "pd.DataFrame", prob: str, *, rope: bool = False) -> dict[str, ResultFigure]:
    """Return a figure of all words and groups, of at most `MOST_LINES` lines, and one that has words too.

    With several conditions, the first figure has the first contrast alone. `rope` is whether there is such a region.
    """
    caption = (
        f"In colour, the average over seeds: the thin line is the {prob} over seeds and words, the thick one that over "
        "seeds alone; the point is filled if stable, has a dot if open or if the seeds disagree, and is hollow if not "
        "settled. In grey, each seed, filled if settled. Colours and shapes: the words that are subtracted. In units "
        f"of cosine distance.{' Shaded: too small to matter.' if rope else ''}"
    )
    of_words = contrasts["protected_word"] != ""
    words, several = int(of_words.sum()), "second" in contrasts and contrasts["second"].nunique() > 1
    first = contrasts if of_words.all() else contrasts[~of_words]
    chosen = contrasts["contrast"].iloc[0] if several else None
    if several:
        first = first[first["contrast"] == chosen]
    cut = f" Of {len(first)} lines, the {MOST_LINES} that vary most between seeds are shown."
    options = {"words": bool(of_words.all()), "most": MOST_LINES, "contrast": chosen}
    figures = {"trainings": ResultFigure("plot_trainings", caption + cut * (len(first) > MOST_LINES), options=options)}
    if 0 < words < len(contrasts):
        options = {"contrast": contrasts["contrast"].iloc[0], "most": _MOST_WORD_LINES}
        drawn = int((contrasts["contrast"] == options["contrast"]).sum())
        cut = f" {_MOST_WORD_LINES} of {drawn:,} lines, those that vary most between seeds, are shown."
        caption += cut * (drawn > _MOST_WORD_LINES)
        figures["words"] = ResultFigure("plot_trainings", caption, section="Words", options=options)
    return figures

"""Tables with marks, and figures, on the page of a comparison of seeds."""

from typing import TYPE_CHECKING

from bayesbias.base.results import MOST_LINES, ResultFigure, ResultTable
from bayesbias.changes.training_statements import training_mark

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("mean", "hdi_low", "hdi_high", "next_low", "next_high", "nearer", "farther", "not_settled", "seed_share")


def tables_over_seeds(contrasts: "pd.DataFrame", prob: str) -> dict[str, ResultTable]:
    """Return tables with marks: contrasts of all words and groups over seeds, and the first contrast of each word."""
    is_word = contrasts["protected_word"] != ""
    words = contrasts[is_word & (contrasts["contrast"] == contrasts["contrast"].iloc[0])]
    groups = contrasts[~is_word].assign(protected_group=lambda rows: rows["protected_group"].replace("", "All words"))
    frames = {"Groups": ("protected_group", groups), "Words": ("protected_word", words)}
    return {
        f"{title.lower()}_over_seeds": ResultTable(
            frame,
            title,
            f"{'Contrasts' if title == 'Groups' else frame['contrast'].iloc[0]} over seeds, in units of cosine "
            f"distance, {prob}",
            (name, *_NUMBERS[:3], *(("contrast", *_NUMBERS[3:]) if title == "Groups" else ("seed_share",))),
            {"mean": "Over seeds"},
            differences=True,
            mark=training_mark,
            in_folder=False,
        )
        for title, (name, frame) in frames.items()
        if len(frame)
    }


def figures_over_seeds(contrasts: "pd.DataFrame", prob: str) -> dict[str, ResultFigure]:
    """Return a figure of all words and groups, of at most `MOST_LINES` contrasts, and one that has words too."""
    caption = (
        f"Thick: over seeds (points: posterior means, filled if settled; lines: {prob}); thin and grey: in each seed. "
        "Colours and shapes: the words that are subtracted. In units of cosine distance."
    )
    words = int((contrasts["protected_word"] != "").sum())
    first = len(contrasts) - words or words
    cut = f" Of {first} contrasts, the {MOST_LINES} that vary most between seeds are shown."
    options = {"words": first == words, "most": MOST_LINES}
    figures = {"trainings": ResultFigure("plot_trainings", caption + cut * (first > MOST_LINES), options=options)}
    if 0 < words < len(contrasts):
        cut = " Of more than 40 contrasts, those that vary most between seeds are shown."
        figures["words"] = ResultFigure("plot_trainings", caption + cut, section="Words")
    return figures

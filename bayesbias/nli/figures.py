"""Answers of models of inference with different embeddings, by word and by group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    MOST_WORDS,
    SERIES,
    Look,
    draw_interval,
    furnish,
    label_word_rows,
    new_figure,
    row_offsets,
    series_legend,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import is_settled
from bayesbias.nli.inference_comparison import DISTANCE, OVERALL, SIZE, InferenceComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.3  # inches
_AXES = {"error": "E (0: always neutral; at most 1.41)"}


def plot_inference(comparison: InferenceComparison) -> "Figure":
    """Draw the answers of models of inference with each embedding: words above, groups and their contrast below.

    Parameters
    ----------
    comparison
        A comparison from `bayesbias.nli.train_and_compare` or `bayesbias.nli.compare_answers`.

    Returns
    -------
    matplotlib.figure.Figure
        Means (points) and intervals (lines) of these words over premises and trainings, one colour per embedding.
        Below, a point is filled if its change from the first embedding is settled.

    Raises
    ------
    ReportError, ArgumentError
        If `comparison` is not a comparison, or has more embeddings or words than a figure holds.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book']")
    >>> def trained(contrast):
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + contrast * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> models = {"original": [trained(g) for g in (0.3, 0.4, 0.5)], "hard": [trained(g) for g in (0.1, 0.2, 0.3)]}
    >>> len(bb.nli.plot_inference(bb.nli.compare_answers(models, pairs, random_seed=1)).axes)
    2
    """
    check_type("comparison", comparison, InferenceComparison, "what bb.nli.train_and_compare returned")
    if len(comparison.embeddings) > len(SERIES):
        raise ReportError(
            f"comparison: {len(comparison.embeddings)} embeddings, but a figure has {len(SERIES)} colours."
        )
    table = comparison.words[["word", "group"]].drop_duplicates()
    if len(table) > MOST_WORDS:
        raise ReportError(f"comparison: {len(table)} words, but a figure holds {MOST_WORDS}. Use fewer.")
    kinds = list(dict.fromkeys(table["group"]))
    table = table.sort_values("group", key=lambda names: names.map(kinds.index), kind="stable")
    quantities = [OVERALL, *kinds, comparison.contrast, SIZE, DISTANCE]
    step = _ROW * max(1.0, 0.5 * len(comparison.embeddings))
    heights = [len(table) * step, len(quantities) * step]
    figure = new_figure(6.4, 1.6 + sum(heights))
    above, below = figure.subplots(2, 1, height_ratios=heights)
    label_word_rows(above, table["word"].tolist(), table["group"].tolist())
    places = {word: y for y, word in enumerate(table["word"])}
    _draw(above, comparison, rows_of(comparison.words), "word", places)
    low, high = above.get_xlim()
    above.set_xlim(low, high + 0.15 * (high - low))  # names of groups stand there
    above.set_xlabel(_AXES.get(comparison.score, f"probability of {comparison.score}"), fontsize=9)
    below.axvline(0, color="#999999", linewidth=0.9, zorder=0)
    values = comparison.values[comparison.values["scope"] == "these_words"]
    _draw(below, comparison, rows_of(values), "quantity", {name: y for y, name in enumerate(quantities)})
    below.set_yticks(range(len(quantities)), quantities)
    below.set_ylim(len(quantities) - 0.5, -0.5)
    furnish(below, "x", rows=True)
    below.set_xlabel("the same, and differences of it; distance: d of the probabilities", fontsize=9)
    series_legend(figure, dict(zip(comparison.embeddings, SERIES, strict=False)), columns=3)
    title_figure(
        figure,
        f"Models of inference, {counted(len(comparison.runs), 'training')}\n{percent_text(comparison.hdi_prob)} "
        "intervals over premises and trainings; filled: the change is settled",
    )
    return figure


def _draw(
    axes: "Axes",
    comparison: InferenceComparison,
    rows: list[dict[str, Any]],
    column: str,
    places: Mapping[str, int],
) -> None:
    names = comparison.embeddings
    offsets = row_offsets(len(names), 0.3)
    for row in rows:
        place = names.index(row["embedding"])
        color, marker = SERIES[place]
        y = places[row[column]] + offsets[place]
        ends = row["hdi_low"], row["hdi_high"]
        draw_interval(axes, row["mean"], ends, y, Look(color, marker), filled=_moved(comparison, row))


def _moved(comparison: InferenceComparison, row: Mapping[str, Any]) -> bool:
    """Return whether the change of a quantity is settled; single words have no changes."""
    if "quantity" not in row or row["embedding"] == comparison.embeddings[0]:
        return False
    changes = comparison.changes
    chosen = (changes["embedding"] == row["embedding"]) & (changes["quantity"] == row["quantity"])
    one = changes[chosen & (changes["scope"] == row["scope"])].iloc[0]
    return is_settled(one["hdi_low"], one["hdi_high"])

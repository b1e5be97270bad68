"""Leans of words against a covariate, with the least-squares line."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import estimate_text, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import SERIES, as_text, furnish, new_figure, short_label, title_figure
from bayesbias.reports.covariates.covariate_effect import CovariateEffect
from bayesbias.reports.covariates.quantities import SLOPE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NAMED = 12
_WIDTH, _HEIGHT = 6.4, 5.2


def plot_covariate(effect: CovariateEffect) -> "Figure":
    """Draw the lean of each word against the first covariate, with the least-squares line.

    Parameters
    ----------
    effect
        What `covariate_effect` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (thin lines: the error of attribute words) of leans, in units of cosine
        distance, against the covariate in its own units; the line through the mean lean, with the HPDI of its slope in
        these words (dark) and in words like these (pale). The words farthest from the line, and those at the ends of
        the covariate, are named.

    Raises
    ------
    ArgumentError
        If `effect` is something else.

    Examples
    --------
    >>> lengths = {word: len(word) for word in table["protected_word"].unique()}
    >>> fitted = bb.fit(table, covariates={"letters": lengths}, random_seed=1)
    >>> len(bb.plots.plot_covariate(bb.covariate_effect(fitted, ("male", "female"))).axes)
    1
    """
    check_type("effect", effect, CovariateEffect, "what bb.covariate_effect returned")
    name = str(effect.effects["covariate"].iloc[0])
    named = f"{name} (covariate)"
    column = named if named in effect.words else name
    words, line = effect.words, effect.line
    values = words[column].to_numpy(dtype=float)
    figure = new_figure(_WIDTH, _HEIGHT)
    axes = figure.subplots()
    axes.axhline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
    color = SERIES[0][0]
    axes.fill_between(line["value"], line["hdi_low"], line["hdi_high"], color=color, alpha=0.15, linewidth=0)
    axes.fill_between(line["value"], line["these_low"], line["these_high"], color=color, alpha=0.30, linewidth=0)
    axes.plot(line["value"], line["mean"], color=color, linewidth=1.8)
    groups = list(dict.fromkeys(words["protected_group"].tolist()))
    for place, group in enumerate(groups):
        inside = (words["protected_group"] == group).to_numpy()
        shade, marker = ("#333333", "o") if len(groups) == 1 else SERIES[(place + 1) % len(SERIES)]
        axes.vlines(
            values[inside], words["hdi_low"][inside], words["hdi_high"][inside], color=shade, linewidth=0.8, alpha=0.55
        )
        label = short_label(group) if len(groups) > 1 else None
        axes.plot(values[inside], words["mean"][inside], marker, color=shade, markersize=4, label=label)
    _name_words(axes, values, effect)
    first, second = (short_label(side, 30) for side in effect.sides)
    as_text(axes.set_xlabel(short_label(name, 60)))
    as_text(axes.set_ylabel(f"Mean cosine distance: {first} minus {second}\n(below 0: nearer to {first} words)"))
    furnish(axes, "both")
    if len(groups) > 1:
        for text in axes.legend(frameon=False, fontsize=8).get_texts():
            as_text(text)
    slope = next(row for row in rows_of(effect.effects) if (row["quantity"], row["scope"]) == (SLOPE, "population"))
    title_figure(
        figure,
        f"{short_label(effect.contrast, 40)} against {short_label(name, 30)}, {short_label(effect.embedding, 40)}\n"
        f"slope {estimate_text(slope)}, {percent_text(effect.hdi_prob)} HPDI for words like "
        "these\nbands: slope in these words (dark), in words like these (pale)",
        size=10,
        converged=not any(doubt.kind == "convergence" for doubt in effect.doubts),
    )
    return figure


def _name_words(axes: "Axes", values: np.ndarray, effect: CovariateEffect) -> None:
    """Name the words farthest from the line, and those with the least and the largest covariate."""
    means = effect.words["mean"].to_numpy()
    fitted = np.interp(values, effect.line["value"], effect.line["mean"])
    farthest = np.argsort(-np.abs(means - fitted), kind="stable")[: _MOST_NAMED - 2].tolist()
    middle = (values.min() + values.max()) / 2
    for place in dict.fromkeys([*farthest, int(np.argmin(values)), int(np.argmax(values))]):
        right = bool(values[place] <= middle)
        note = axes.annotate(
            short_label(str(effect.words["protected_word"].iloc[place]), 18),
            (values[place], means[place]),
            xytext=(4 if right else -4, 2 if means[place] >= fitted[place] else -2),
            textcoords="offset points",
            ha="left" if right else "right",
            va="bottom" if means[place] >= fitted[place] else "top",
            fontsize=8,
        )
        as_text(note)

"""A measure under a fitted model, and its values without any association."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import digits_text, percent_text
from bayesbias.delivery.plots.style import COLORS, as_text, new_figure, short_label
from bayesbias.errors import ReportError, name_some
from bayesbias.metrics.registry import MEASURES
from bayesbias.reports.measures.measure_summary import share_with_error_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesbias.reports.measures.measure_posterior import MeasurePosterior

_NULL = "#9A9A9A"
_REPEATED = "#0072B2"
_EXPECTED = "#009E73"
_OBSERVED = COLORS["associated"]
_MOST_WORDS = 80


def plot_measure(posterior: "MeasurePosterior") -> "Figure":
    """Draw the distributions of a measure: without any association, measured again, and without noise.

    Parameters
    ----------
    posterior
        Result of `measure_posterior`.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per statistic. Grey: the null, with its 95 % prediction interval as a bar below; blue: the repeated
        value; green: the expected value; dashed line: the observed value.

    Raises
    ------
    ReportError
        If `posterior` is not a result of `measure_posterior`.

    Examples
    --------
    >>> len(bb.plots.plot_measure(bb.measure_posterior(fit, "weat", random_seed=1)).axes)
    2
    """
    _check(posterior)
    rows = posterior.summary.to_dict("records")
    columns = 2 if len(rows) == 4 else min(3, len(rows))
    lines = -(-len(rows) // columns)
    figure = new_figure(3.6 * columns + 0.4, 2.7 * lines + 0.9)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, row in zip(panels, rows, strict=False):
        _distributions(axes, posterior, row)
    for axes in panels[len(rows) :]:
        axes.remove()
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    as_text(figure.suptitle(f"{_title(posterior)}\nmodel {short_label(posterior.model, 40)}", fontsize=11))
    return figure


def _distributions(axes: "Axes", posterior: "MeasurePosterior", row: Mapping[Any, Any]) -> None:
    draws = {
        name: posterior.draws[name].sel(statistic=row["statistic"]).to_numpy().ravel()
        for name in ("null", "repeated", "expected")
    }
    every = np.concatenate(list(draws.values()))
    low, high = (float(end) for end in np.quantile(every, [0.0005, 0.9995]))
    bins = np.linspace(low, high, 41)
    for name, label, color in (
        ("null", "nothing associated", _NULL),
        ("repeated", "measured again", _REPEATED),
        ("expected", "expected, without noise", _EXPECTED),
    ):
        counts = np.histogram(draws[name], bins=bins)[0]
        filled = name == "null"
        axes.stairs(
            counts / max(1, counts.max()),
            bins,
            color=color,
            fill=filled,
            alpha=0.55 if filled else 1,
            linewidth=1.5,
            label=label,
        )
    axes.plot([row["null_low"], row["null_high"]], [-0.06, -0.06], color=_NULL, linewidth=5, solid_capstyle="butt")
    axes.axvline(row["observed"], color=_OBSERVED, linewidth=1.6, linestyle="--", label="observed")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, row["observed"]), max(high, row["observed"]))
    axes.set_ylim(-0.12, 1.08)
    axes.set_yticks([])
    axes.set_xlabel(MEASURES[posterior.measure].units.get(row["statistic"], f"{row['statistic']} (cosine similarity)"))
    share = share_with_error_text(row["null_share"], row["null_share_se"])
    if row["null_share"] > 0.99:
        share = "nearly always"
    axes.set_title(
        f"observed {digits_text(row['observed'])}; at least as far out\nwhere nothing is associated: {share}",
        fontsize=9,
    )
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def plot_measure_words(posterior: "MeasurePosterior") -> "Figure":
    """Draw the values of single words: observed, expected with interval, and null.

    Parameters
    ----------
    posterior
        Result of `measure_posterior` for a measure with values of single words, at most 80.

    Returns
    -------
    matplotlib.figure.Figure
        One row per word (and attribute group). Circles: observed values; bars: HPDI of the expected value; grey bands:
        95 % prediction interval of the null. Compare circles with bands, because both contain noise.

    Raises
    ------
    ReportError
        If the measure has no values of single words, or too many to be legible.

    Examples
    --------
    >>> len(bb.plots.plot_measure_words(bb.measure_posterior(fit, "weat", random_seed=1)).axes)
    1
    """
    _check(posterior)
    words = posterior.words
    if words.empty or len(words) > _MOST_WORDS:
        raise ReportError(
            f"{posterior.measure} has {len(words):,} values of single words; a figure shows 1 to {_MOST_WORDS}. "
            "The numbers are in the frame `words`."
        )
    keys = [name for name in ("group", "attribute_group") if name in words]
    blocks = list(words.groupby(keys, sort=False))
    figure = new_figure(7.0, 1.8 + 0.22 * (len(words) + len(blocks)))
    axes = figure.subplots()
    labels: list[str] = []
    heads: list[int] = []
    for names, block in blocks:
        heads.append(len(labels))
        labels.append(short_label(" to ".join(map(str, names)), 40))
        for row in block.to_dict("records"):
            _word(axes, len(labels), row)
            labels.append(short_label(str(row["word"])))
    axes.set_yticks(range(len(labels)), labels)
    for place, tick in enumerate(axes.get_yticklabels()):
        as_text(tick)
        tick.set_fontsize(8)
        tick.set_fontweight("bold" if place in heads else "normal")
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    function = MEASURES[posterior.measure].of_similarities
    axes.set_xlabel(f"{posterior.word_value} ({function.word_unit})" if function is not None else posterior.word_value)
    axes.plot([], [], marker="o", color=_OBSERVED, linestyle="none", label="observed")
    axes.plot([], [], color=_EXPECTED, linewidth=2, label=f"expected, {percent_text(posterior.hdi_prob)} HPDI")
    axes.fill_between([], [], color=_NULL, alpha=0.35, linewidth=0, label="nothing associated, 95%")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    as_text(axes.set_title(f"{_title(posterior)}\nmodel {short_label(posterior.model, 40)}", fontsize=10))
    return figure


def _word(axes: "Axes", place: int, row: Mapping[Any, Any]) -> None:
    width = row["null_high"] - row["null_low"]
    axes.barh(place, width, left=row["null_low"], height=0.8, color=_NULL, alpha=0.35)
    axes.plot([row["hdi_low"], row["hdi_high"]], [place, place], color=_EXPECTED, linewidth=2)
    axes.plot(row["observed"], place, marker="o", markersize=5, color=_OBSERVED, linestyle="none")


def _title(posterior: "MeasurePosterior") -> str:
    return short_label(f"{posterior.measure}: {posterior.title}", 75)


def _check(posterior: Any) -> None:
    if not hasattr(posterior, "summary") or not hasattr(posterior, "draws"):
        raise ReportError(
            f"Nothing to draw: give what measure_posterior returned, not {name_some([type(posterior).__name__])}."
        )

"""Figures of measures: under a fitted model, without any association, and of single words."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, digits_text, percent_text
from bayesbias.delivery.plots.style import COLORS, MARKERS, as_text, furnish, new_figure, short_label
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.metrics.measure_result import MeasureResult
from bayesbias.metrics.registry import MEASURES
from bayesbias.reports.measures.false_positive_rates import FalsePositiveRates
from bayesbias.reports.measures.measure_posterior import share_with_error_text
from bayesbias.reports.measures.null_simulation import NullSimulation, check_null, check_observed, null_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesbias.reports.measures.measure_posterior import MeasurePosterior


_NULL = "#9A9A9A"
_REPEATED = "#0072B2"
_EXPECTED = "#009E73"
_OBSERVED = COLORS["associated"]
_MOST_WORDS = 80
_BAR = "#A6BDDB"
_NOMINAL = "#000000"
_BINS = 50


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
    keys = [name for name in ("protected_group", "attribute_group") if name in words]
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
            labels.append(short_label(str(row["protected_word"])))
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


_FIRST, _SECOND = "#0072B2", "#D55E00"


def plot_word_scores(*results: MeasureResult) -> "Figure":
    """Draw the scores of target words: one panel per rule, one row per word, one tick per base pair.

    Parameters
    ----------
    *results
        Results of `word_scores` for the same words and base pairs, one per rule.

    Returns
    -------
    matplotlib.figure.Figure
        Ticks: single base pairs. Large points: their means, squares if a word leans towards the second words of the
        pairs, circles otherwise. The height grows with the number of words.

    Raises
    ------
    ReportError
        If there is no result, or the results have different words or base pairs.

    References
    ----------
    Du, Fang and Nguyen (2021), section 3.1: the rules.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> pairs, words = [("he", "she"), ("man", "woman")], bb.load_study("gender").attributes
    >>> scores = [bb.metrics.word_scores(vectors, words, pairs, rule=rule) for rule in ("db_wa", "ripa")]
    >>> len(bb.plots.plot_word_scores(*scores).axes)
    2
    """
    units = {name: entry.units["score"] for name, entry in MEASURES.items() if "score" in entry.units and entry.options}
    if not results or any(
        not isinstance(rule_scores, MeasureResult) or rule_scores.measure not in units for rule_scores in results
    ):
        raise ReportError("Nothing to draw: give at least one result of word_scores.")
    keys = results[0].scores.drop(columns="score")
    if any(not rule_scores.scores.drop(columns="score").equals(keys) for rule_scores in results):
        raise ReportError(
            "The results have different words or base pairs. Give results of the same words, one per rule."
        )
    rows = keys.drop(columns="base_pair").drop_duplicates()
    pairs = list(keys["base_pair"].unique())
    figure = new_figure(2.0 + 3.2 * len(results), 1.7 + 0.24 * len(rows))
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, rule_scores in zip(panels, results, strict=True):
        _draw(axes, rule_scores.scores["score"].to_numpy().reshape(len(rows), len(pairs)))
        axes.set_xlabel(units[rule_scores.measure].replace(" (", "\n("), fontsize=9)
    panels[0].set_yticks(range(len(rows)), [short_label(word) for word in rows["word"]])
    for text in panels[0].get_yticklabels():
        as_text(text)
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    groups = (rows["group"] + rows["attribute_group"]).tolist()
    if any(groups):
        _name_groups(panels, groups)
    what = (
        f"of {short_label(pairs[0], 40)}"
        if len(pairs) == 1
        else f"of {counted(len(pairs), 'base pair')} (means: large points)"
    )
    title = figure.suptitle(f"Scores {what}\n← towards the second word    towards the first word →", fontsize=10)
    as_text(title)
    return figure


def _draw(axes: "Axes", values: "np.ndarray") -> None:
    rows = np.arange(len(values))
    if values.shape[1] > 1:
        axes.plot(values, np.broadcast_to(rows[:, np.newaxis], values.shape), "|", color="#999999", markersize=6)
    means = values.mean(axis=1)
    for side, color, marker in ((means >= 0, _FIRST, "o"), (means < 0, _SECOND, "s")):
        axes.plot(means[side], rows[side], marker, color=color, markersize=5, linestyle="")
    axes.axvline(0, color="#4D4D4D", linewidth=0.8)
    furnish(axes, "both", small=True, rows=True)


def _name_groups(panels: "np.ndarray", groups: list[str]) -> None:
    """Draw lines between the groups, and their names on the right."""
    starts = [place for place, group in enumerate(groups) if place == 0 or group != groups[place - 1]]
    for start, end in zip(starts, [*starts[1:], len(groups)], strict=True):
        if start:
            for axes in panels:
                axes.axhline(start - 0.5, color="black", linewidth=0.8)
        name = panels[-1].annotate(
            short_label(groups[start], max(12, 4 * (end - start))),
            (1.01, (start + end - 1) / 2),
            xycoords=("axes fraction", "data"),
            rotation=270,
            verticalalignment="center",
            fontsize=8,
            fontstyle="italic",
        )
        as_text(name)


_LABELS = {
    **{name: f"WEAT {label}".replace(" (", "\n(") for name, label in MEASURES["weat"].units.items()},
    "p_value": "WEAT p-value\n(one-sided)",
    "mac": MEASURES["mac"].units["mac"].replace(" (", "\n("),
    "p_value_preaveraged": "p-value of the t-test of MAC\n(averages of words, against 1)",
    "p_value_raw": "p-value of the t-test of MAC\n(single distances, against 1)",
}
_P_VALUE_BINS = np.linspace(0, 1, 21)


def plot_null(null: NullSimulation, *, observed: Mapping[str, float] | None = None) -> "Figure":
    """Draw the distributions of WEAT, MAC and their p-values without any association.

    Parameters
    ----------
    null
        Result of `simulate_null`.
    observed
        Values to mark, by name: any of `effect_size`, `test_statistic` and `mac`.

    Returns
    -------
    matplotlib.figure.Figure
        Six panels. The dashed line of a p-value is the expectation of a valid test: 5 % of the samples in each bar. An
        observed value is shown with the share of samples that are at least as extreme and its Monte Carlo standard
        error.

    Raises
    ------
    ReportError
        If `null` is not such a result, or `observed` has another name.

    References
    ----------
    Dobrzeniecka and Urbaniak, figure "Distributions of test statistics and effect sizes based on 10k simulations".

    Examples
    --------
    >>> null = bb.reports.simulate_null(samples=500, random_seed=1)
    >>> len(bb.plots.plot_null(null, observed={"effect_size": 1.27}).axes)
    6
    """
    check_null(null)
    marks = check_observed(observed or {})
    shares = null_share(null, **marks).to_dict("records") if marks else []
    figure = new_figure(9.0, 5.6)
    panels = figure.subplots(2, 3).ravel()
    for axes, (name, label) in zip(panels, _LABELS.items(), strict=True):
        values = null.samples[name].to_numpy()
        probability = name.startswith("p_value")
        bins = _P_VALUE_BINS if probability else _BINS
        axes.hist(values, bins=bins, weights=np.full(len(values), 1 / len(values)), color=_BAR)
        axes.set_xlabel(label)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        furnish(axes, "y", small=True)
        if probability:
            axes.axhline(0.05, color=_NOMINAL, linewidth=1, linestyle="--")
            axes.set_xlim(0, 1)
        for share in shares:
            if share["quantity"] == name:
                _mark(axes, share)
    for axes in panels[::3]:
        axes.set_ylabel("Share of the samples")
    (x, y), (a, b) = null.protected, null.attributes
    count = null.samples.sizes["sample"]
    figure.suptitle(
        f"No association: {count:,} samples of {x} + {y} protected by {a} + {b} attribute words\n"
        f"sd of a pair {null.sd:g}, of attribute effects {null.attribute_sd:g}, "
        f"of word effects {null.word_sd:g}",
        fontsize=11,
    )
    return figure


def _mark(axes: "Axes", share: Mapping[Hashable, Any]) -> None:
    value = share["observed"]
    axes.axvline(value, color=_OBSERVED, linewidth=1.6)
    low, high = axes.get_xlim()
    axes.set_title(
        f"observed {digits_text(value, 4)}: at least as extreme\n"
        f"in {share_with_error_text(share['share'], share['mc_se'])} of the samples",
        fontsize=8,
        color=_OBSERVED,
    )
    axes.set_xlim(min(low, value - 0.02 * (high - low)), max(high, value + 0.02 * (high - low)))


def plot_false_positive_rates(*claims: FalsePositiveRates) -> "Figure":
    """Draw the rates of false claims of each method, with their nominal rates.

    Parameters
    ----------
    *claims
        Results of `false_positive_rates` with the same methods, one panel each.

    Returns
    -------
    matplotlib.figure.Figure
        Points: rates, with bars of three Monte Carlo standard errors. Black ticks: nominal rates.

    Raises
    ------
    ReportError
        If there is no result, or the results hold different methods.

    Examples
    --------
    >>> claims = bb.reports.false_positive_rates(samples=50, random_seed=1, methods=["weat", "t_test_raw"])
    >>> len(bb.plots.plot_false_positive_rates(claims).axes)
    1
    """
    if not claims or not all(isinstance(result, FalsePositiveRates) for result in claims):
        raise ReportError("Nothing to draw: give what false_positive_rates returned, at least once.")
    keys = ["method", "contrast", "rule", "nominal"]
    if any(not result.rates[keys].equals(claims[0].rates[keys]) for result in claims):
        raise ReportError("The results hold different methods or contrasts. Draw each separately.")
    order = claims[0].rates.reset_index(drop=True)
    contrasts = list(dict.fromkeys(order["contrast"]))
    order = order.sort_values("contrast", key=lambda names: names.map(contrasts.index), kind="stable")
    figure = new_figure(2.8 + 3.3 * len(claims), 1.6 + 0.3 * (len(order) + len(contrasts)))
    panels = figure.subplots(1, len(claims), sharey=True, sharex=True, squeeze=False)[0]
    place = {row_id: y + contrasts.index(name) for y, (row_id, name) in enumerate(order["contrast"].items())}
    for axes, result in zip(panels, claims, strict=True):
        for y, row in zip(place.values(), result.rates.loc[order.index].to_dict("records"), strict=True):
            other = contrast_sides(row["contrast"])[1]
            bar = [[min(3 * row["mc_se"], row["rate"])], [3 * row["mc_se"]]]
            axes.errorbar(row["rate"], y, xerr=bar, color=COLORS[other], marker=MARKERS[other], markersize=5)
            axes.plot([row["nominal"]] * 2, [y - 0.38, y + 0.38], color=_NOMINAL, linewidth=1.4)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        furnish(axes, "x", small=True)
        effects = f"attribute words {result.attribute_sd:g}\nprotected words {result.word_sd:g}"
        axes.set_title(f"sd of effects\n{effects}", fontsize=9)
    names = [f"{row['method']}, {row['rule']}" for row in order.to_dict("records")]
    panels[0].set_yticks(list(place.values()), [short_label(name, 60) for name in names])
    panels[0].set_xlim(left=-0.01)
    panels[0].set_ylim(max(place.values()) + 0.8, -1.6)
    for contrast in contrasts:
        first = min(y for row_id in order.index[order["contrast"] == contrast])
        panels[0].text(0.005, first - 0.85, contrast, fontsize=9, fontweight="bold", verticalalignment="center")
    figure.supxlabel(
        "Share of data sets without any association in which one is claimed\n"
        "(bars: 3 Monte Carlo standard errors; black ticks: nominal rates)",
        fontsize=9,
    )
    return figure

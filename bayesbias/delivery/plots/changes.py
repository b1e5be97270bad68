"""Figures of changes: between conditions, over periods, and over seeds."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_choice, check_type
from bayesbias.base.number_text import counted, percent_text, shown_name
from bayesbias.base.results import MOST_LINES
from bayesbias.base.statements import rows_of
from bayesbias.changes.change_contents import MOST_CHANGES
from bayesbias.changes.result import Changes
from bayesbias.changes.trainings import TrainingComparison
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    Look,
    as_text,
    connection_legend,
    draw_estimate,
    draw_interval,
    furnish,
    new_figure,
    row_offsets,
    series_legend,
    shade_rope,
    short_label,
    shown_words,
    title_figure,
)
from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import contrast_sides, has_direction
from bayesbias.reports.posterior.estimate_tables import EVERYONE
from bayesbias.tables.measures import Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDTH = 5.4
_INCHES_A_ROW = 0.27
_LONGEST_LINE = 40
# More labels below the axis would overlap.
_MOST_LABELS = 10
MOST_ROWS = 40
_SEED_COLOR = "#999999"


def plot_changes(changes: Changes, *, second: str | None = None) -> "Figure":
    """Draw how contrasts differ between two conditions: changes of contrasts, contrasts, changes of mean distances.

    Parameters
    ----------
    changes
        What `compare_embeddings` or `trend` returned.
    second
        Name of the condition that is compared with the first. None (default): the second, or the last period.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, one below the other, of posterior means and HPDIs: the change of the contrast of all protected
        words and of each; the contrasts themselves under both conditions; the change of mean distances. Where there are
        no contrasts, one panel of mean distances of all protected words and of each. Changes are filled if settled.
        Colours and markers show the connections. Of more than 200 protected words, those whose changes lie farthest
        from the mean are shown.

    Raises
    ------
    ArgumentError, ReportError
        If `changes` are no changes, or lack the condition.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing", draw two fits side by side.

    Examples
    --------
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += np.random.default_rng(1).normal(0.1, 0.01, len(table))
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, random_seed=1)
    >>> len(bb.plots.plot_changes(compared).axes)
    3
    """
    check_type("changes", changes, Changes, "what compare_embeddings or trend returned")
    first, *others = changes.conditions
    name = (others[0] if changes.facts["times"] is None else others[-1]) if second is None else second
    if name not in others:
        raise ReportError(
            f"The changes have no condition {name!r}{did_you_mean(str(name), others)}; beside the first, {first!r}, "
            f"they have {name_some(map(repr, others))}."
        )
    measure = changes.measure
    moved, distances = (
        frame[(frame["first"] == first) & (frame["second"] == name)] for frame in (changes.changes, changes.distances)
    )
    of_all = distances[distances["protected_word"] == ""]
    minus = f"{short_label(name)} minus {short_label(first)}"
    if broken := len(minus) > _LONGEST_LINE:
        minus = minus.replace(" minus ", "\nminus ", 1)
    if moved.empty:
        overall, of_words, title = (
            of_all,
            distances[distances["protected_word"] != ""],
            f"Change of mean {measure.numbers}\n{minus}",
        )
    else:
        moved = moved.assign(connection=[contrast_sides(contrast)[1] for contrast in moved["contrast"]])
        overall = moved[(moved["protected_word"] == "") & (moved["protected_group"] == "")]
        of_words, title = moved[moved["protected_word"] != ""], f"Change of the contrast\n{minus}"
    words, note = shown_words(of_words, "mean")
    names = list(dict.fromkeys(of_words["protected_word"]))
    rows = [EVERYONE, *(word for word in names if word in set(words["protected_word"]))]
    panels: list[tuple[int, Callable[[Axes], None]]] = [
        (len(rows), lambda axes: _by_word(axes, overall, words, rows, title, measure)),
    ]
    shown = list(of_all["connection"])
    if len(moved):
        contrasts = changes.contrasts[
            (changes.contrasts["protected_word"] == "") & (changes.contrasts["protected_group"] == "")
        ]
        contrasts = contrasts[contrasts["condition"].isin([first, name])]
        connections = list(dict.fromkeys(contrast_sides(contrast)[1] for contrast in contrasts["contrast"]))
        shown += [connection for connection in connections if connection not in shown]
        panels += [
            (len(connections), lambda axes: _contrasts(axes, contrasts, connections, (first, name), measure)),
            (len(of_all), lambda axes: _by_connection(axes, of_all, minus, measure)),
        ]
    heights = [_INCHES_A_ROW * max(count, 2) + (1.25 if broken else 1.1) for count, _ in panels]
    figure = new_figure(_WIDTH, sum(heights) + 1.6)
    drawn = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights).ravel()
    for axes, (_, draw) in zip(drawn, panels, strict=True):
        axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
        axes.locator_params(axis="x", nbins=6)
        draw(axes)
        furnish(axes, "x", rows=True)
    facts = changes.facts
    many = f"\n{note}" if len(rows) - 1 < len(names) else ""
    title_figure(
        figure,
        f"{short_label(name, 50)}\nbeside {short_label(first, 50)}\n"
        f"{percent_text(facts['hdi_prob'])} HPDI; filled: settled{many}",
        size=10,
        converged=not facts["convergence_problems"],
    )
    connection_legend(figure, shown, f"Associated minus (contrasts), or {measure.numbers} {measure.preposition}")
    return figure


def _by_word(
    axes: "Axes", overall: "pd.DataFrame", words: "pd.DataFrame", rows: list[str], title: str, measure: Measure
) -> None:
    connections = list(dict.fromkeys(overall["connection"]))
    offsets = dict(zip(connections, row_offsets(len(connections), 0.26), strict=True))
    for row in rows_of(overall):
        _change(axes, row, offsets[row["connection"]], size=6.5)
    for row in rows_of(words):
        _change(axes, row, rows.index(row["protected_word"], 1) + offsets[row["connection"]], size=4.0)
    _name_rows(axes, rows, title, f"Change in {measure.in_units}")
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.axhline(0.5, color="#BBBBBB", linewidth=0.8)


def _by_connection(axes: "Axes", distances: "pd.DataFrame", minus: str, measure: Measure) -> None:
    for y, row in enumerate(rows_of(distances)):
        _change(axes, row, y, size=6.5)
    title, label = f"Change of mean {measure.numbers}\n{minus}", f"Change in {measure.in_units}"
    _name_rows(axes, list(distances["connection"]), title, f"{label}\n(above 0: {measure.farther})")


def _contrasts(
    axes: "Axes", contrasts: "pd.DataFrame", connections: list[str], conditions: tuple[str, str], measure: Measure
) -> None:
    """Draw the contrasts under both conditions, a row each."""
    offsets = dict(zip(connections, row_offsets(len(connections), 0.26), strict=True))
    for row in rows_of(contrasts):
        connection = contrast_sides(row["contrast"])[1]
        y = conditions.index(row["condition"]) + offsets[connection]
        _change(axes, row | {"connection": connection}, y, size=6.5)
    label = f"Difference of mean {measure.of_means}\n(below 0: associated words are {measure.nearer})"
    _name_rows(axes, list(conditions), "Contrast", label)


def _change(axes: "Axes", row: Mapping[str, Any], y: float, *, size: float) -> None:
    draw_estimate(axes, row, y, size=size, width=size / 3.2, filled=has_direction(row))


def _name_rows(axes: "Axes", rows: list[str], title: str, label: str) -> None:
    axes.set_yticks(range(len(rows)), [short_label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    as_text(axes.set_title(title, fontsize=10, loc="left"))
    axes.set_xlabel(label, fontsize=9)


def plot_change_summary(changes: Changes) -> "Figure":
    """Draw the change of each contrast from the first condition, of all words and groups, and each contrast itself.

    Parameters
    ----------
    changes
        What `compare_embeddings` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels of posterior means and HPDIs, filled if settled. Above, a line for each other condition, or with two
        conditions one for all words and for each group; of more than 6, those that changed most. Below, a line for the
        contrast of all words in each of these conditions. Colours and markers show the words that are subtracted.

    Raises
    ------
    ArgumentError, ReportError
        If `changes` are no changes, or have no contrast.

    Examples
    --------
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += np.random.default_rng(1).normal(0.1, 0.01, len(table))
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, random_seed=1)
    >>> len(bb.plots.plot_change_summary(compared).axes)
    2
    """
    check_type("changes", changes, Changes, "what compare_embeddings returned")
    if changes.changes.empty:
        raise ReportError("The changes have no contrast. Draw the changes of mean distances with plot_changes.")
    first, *others = changes.conditions
    moved = changes.changes[(changes.changes["protected_word"] == "") & (changes.changes["first"] == first)]
    by = "protected_group" if len(others) == 1 else "second"
    moved = moved if len(others) == 1 else moved[moved["protected_group"] == ""]
    rows = list(dict.fromkeys(moved[by]))
    farthest = moved["mean"].abs().groupby(moved[by], sort=False).max().drop("", errors="ignore")
    shown = {"", *farthest.nlargest(MOST_CHANGES - ("" in rows)).index}
    rows = [row for row in rows if row in shown]
    conditions = [first, *(others if len(others) == 1 else rows)][: MOST_LINES - len(rows)]
    contrasts = changes.contrasts[
        (changes.contrasts["protected_word"] == "") & (changes.contrasts["protected_group"] == "")
    ]
    # A contrast that not all conditions have did not change.
    names_of_contrasts = dict.fromkeys([*moved["contrast"], *contrasts["contrast"]])
    connections = [contrast_sides(contrast)[1] for contrast in names_of_contrasts]
    measure = changes.measure
    panels = (
        (moved, by, rows, f"Change from {short_label(first)}", f"Change in {measure.in_units}"),
        (contrasts, "condition", conditions, "Contrast", f"Contrast in {measure.in_units} (below 0: {measure.nearer})"),
    )
    figure = new_figure(_WIDTH, _INCHES_A_ROW * 1.2 * (len(rows) + len(conditions)) + 2.6)
    drawn = figure.subplots(2, 1, height_ratios=[len(rows) + 1, len(conditions) + 1])
    offsets = dict(zip(connections, row_offsets(len(connections), 0.26), strict=True))
    for axes, (frame, column, names, title, label) in zip(drawn, panels, strict=True):
        axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
        axes.locator_params(axis="x", nbins=6)
        for row in rows_of(frame[frame[column].isin(names)]):
            connection = contrast_sides(row["contrast"])[1]
            y = names.index(row[column]) + offsets[connection]
            _change(axes, row | {"connection": connection}, y, size=6.0)
        _name_rows(axes, [name or EVERYONE for name in names], title, label)
        furnish(axes, "x", rows=True)
    if changes.facts["rope"]:  # after the estimates, which set the axis
        shade_rope(drawn[0], changes.facts["rope"])
    title_figure(
        figure,
        f"Changes from {short_label(first, 50)}\n{percent_text(changes.facts['hdi_prob'])} HPDI; filled: settled",
        size=10,
        converged=not changes.facts["convergence_problems"],
    )
    connection_legend(figure, connections, "Associated minus")
    return figure


def plot_trend(trend: Changes, *, contrast: str | None = None) -> "Figure":
    """Draw the contrast in each period with its interval, and the observed differences.

    Parameters
    ----------
    trend
        What `bayesbias.trend` returned.
    contrast
        Name of the only contrast to draw, such as ``"associated - different"``. None (default): all.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per contrast: posterior means (points) and HPDIs (lines) in units of cosine distance, and plain
        differences of averages (crosses); a point is filled if it is settled.

    Raises
    ------
    ArgumentError, ReportError
        If `trend` is not a trend.

    Examples
    --------
    >>> moved = bb.trend(bb.bundled("data", "vectors", "planted_drift"), "weat6", random_seed=1)
    >>> len(bb.plots.plot_trend(moved).axes)
    3
    """
    check_type("trend", trend, Changes, "what trend returned")
    _check_times(trend)
    measure = trend.measure
    overall = trend.contrasts[(trend.contrasts["protected_group"] == "") & (trend.contrasts["protected_word"] == "")]
    contrasts = list(dict.fromkeys(overall["contrast"]))
    if contrast is not None:
        contrasts = [check_choice("contrast", contrast, tuple(contrasts))]
    times = np.asarray(trend.facts["times"])
    figure = new_figure(6.4, 1.3 + 2.3 * len(contrasts))
    panels = figure.subplots(len(contrasts), 1, sharex=True, squeeze=False).ravel()
    for axes, name in zip(panels, contrasts, strict=True):
        _by_period(axes, times, overall[overall["contrast"] == name], contrast_sides(name)[1])
        axes.set_ylabel(f"Contrast ({measure.in_units})")
        as_text(axes.set_title(f"{short_label(name, 60)} (below 0: {measure.nearer})", fontsize=9, loc="left"))
    _finish(figure, panels[-1], trend, f"Difference of mean {measure.of_means} by period", "observed differences")
    return figure


def _check_times(trend: Changes) -> None:
    if trend.facts["times"] is None:
        raise ReportError("The conditions of these changes are no periods. Draw them with plot_changes.")


def plot_slopes(trend: Changes) -> "Figure":
    """Draw the slope of the words' leans on each covariate of words in each period.

    Parameters
    ----------
    trend
        A trend from `bayesbias.trend` with `word_covariates`.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per covariate, of the leans in the first contrast: posterior means (points) and HPDIs (lines) in units
        of cosine distance for one unit of the covariate, and slopes of the observed leans (crosses); a point is filled
        if it is settled.

    Raises
    ------
    ArgumentError
        If `trend` is not a trend.
    ReportError
        If it has no covariates of words.

    Examples
    --------
    >>> folder = bb.bundled("data", "vectors", "planted_drift")
    >>> letters = {"letters": {word: len(word) for word in bb.load_study("weat6").words}}
    >>> moved = bb.trend(folder, "weat6", word_covariates=letters, random_seed=1)
    >>> len(bb.plots.plot_slopes(moved).axes)
    1
    """
    check_type("trend", trend, Changes, "what trend returned")
    if trend.slopes.empty:
        raise ReportError("The trend has no slopes. Give covariates of words: bb.trend(..., word_covariates=...).")
    slopes = trend.slopes[trend.slopes["quantity"] == "slope"]
    contrast = str(slopes["contrast"].iloc[0])
    (first, _), second, measure = trend.sides, contrast_sides(contrast)[1], trend.measure
    covariates = list(dict.fromkeys(slopes["covariate"]))
    figure = new_figure(6.4, 1.3 + 2.3 * len(covariates))
    panels = figure.subplots(len(covariates), 1, sharex=True, squeeze=False).ravel()
    rows_of_contrast = slopes[slopes["contrast"] == contrast]
    for axes, covariate in zip(panels, covariates, strict=True):
        rows = rows_of_contrast[rows_of_contrast["covariate"] == covariate]
        _by_period(axes, np.asarray(trend.facts["times"]), rows, second)
        unit = "percentage point" if covariate in trend.facts["percent_covariates"] else "unit"
        axes.set_ylabel(f"Slope ({measure.unit or measure.short} per {unit})")
        named = short_label(shown_name(covariate), 40)
        title = f"{named}\n(below 0: with more, {measure.shift(f'{short_label(first)} words')})"
        as_text(axes.set_title(title, fontsize=9, loc="left"))
    _finish(
        figure,
        panels[-1],
        trend,
        f"Slope of the lean {contrast} on numbers of the words, by period",
        "observed slopes",
    )
    return figure


def _by_period(axes: "Axes", times: np.ndarray, rows: "pd.DataFrame", other: str) -> None:
    """Draw estimates by period, in the colour of the connection `other`."""
    color = COLORS[other]
    axes.axhline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
    axes.plot(times, rows["mean"], color=color, linewidth=0.8, alpha=0.5)
    axes.vlines(times, rows["hdi_low"], rows["hdi_high"], color=color, linewidth=2.2)
    for time, row in zip(times, rows_of(rows), strict=True):
        face = color if has_direction(row) else "white"
        axes.plot(time, row["mean"], MARKERS[other], color=color, markersize=6.5, markerfacecolor=face)
    axes.plot(times + 0.02 * np.ptp(times), rows["observed"], "x", color="black", markersize=5)
    axes.locator_params(axis="y", nbins=5)
    furnish(axes, "y", small=True)


def _finish(figure: "Figure", lowest: "Axes", trend: Changes, title: str, crosses: str) -> None:
    times = np.asarray(trend.facts["times"])
    step = -(-len(times) // _MOST_LABELS)
    labels = [short_label(name, 14) for name in trend.conditions]
    lowest.set_xticks(times[::step], labels[::step])
    lowest.set_xlabel("Period")
    margin = 0.06 * np.ptp(times)
    lowest.set_xlim(times[0] - margin, times[-1] + margin)
    for label in lowest.get_xticklabels():
        as_text(label)
    prob = percent_text(trend.facts["hdi_prob"])
    title_figure(
        figure,
        f"{title}\nPoints: posterior means ({prob} HPDI); filled: settled; crosses: {crosses}",
        size=8.5,
    )


def plot_trainings(
    comparison: TrainingComparison, *, words: bool = True, most: int = MOST_ROWS, contrast: str | None = None
) -> "Figure":
    """Draw each contrast in the embedding of each seed (thin) and over seeds.

    Parameters
    ----------
    comparison
        A comparison from `compare_trainings`.
    words
        Whether to show the contrasts of single words.
    most
        Largest number of rows.
    contrast
        Name of the only contrast to draw, such as ``"associated - different"``. None (default): all.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (lines) in units of cosine distance. Over seeds, a line is the interval over
        seeds and words, and its thick part that over seeds alone; the point is filled if stable, has a dot if open or
        if the seeds disagree, and is hollow if not settled. The point of a seed is filled if settled. Of more than
        `most` rows, those with the largest variation between seeds.

    Raises
    ------
    ArgumentError
        If `comparison` is not a comparison of seeds, or has no such contrast.

    Examples
    --------
    >>> len(bb.plots.plot_trainings(bb.compare_trainings({1: fit, 2: fit}, random_seed=1)).axes)
    1
    """
    check_type("comparison", comparison, TrainingComparison, "what compare_trainings returned")
    every = comparison.contrasts
    if contrast is not None:
        every = every[every["contrast"] == check_choice("contrast", contrast, tuple(every["contrast"].unique()))]
    if not words and (every["protected_word"] == "").any():
        every = every[every["protected_word"] == ""]
    shown = every.loc[sorted(every["seed_sd"].nlargest(most).index)]
    seeds, changed = list(dict.fromkeys(comparison.by_seed["seed"])), comparison.facts["changed"]
    figure = new_figure(6.2, len(shown) * (0.22 + 0.05 * len(seeds)) + 1.9)
    axes = figure.subplots()
    axes.axvline(0, color=_SEED_COLOR, linewidth=1.0, linestyle="--", zorder=0)
    offsets = row_offsets(len(seeds) + 1, 0.36)
    keys = ["contrast", "protected_group", "protected_word", *(["second"] if changed else [])]
    by_key = {key: rows_of(rows) for key, rows in comparison.by_seed.groupby(keys, sort=False)}
    for y, row in enumerate(rows_of(shown)):
        other = contrast_sides(row["contrast"])[1]
        look = Look(COLORS[other], MARKERS[other], size=6.5, width=1.6)
        axes.hlines(y + offsets[0], row["seeds_low"], row["seeds_high"], color=look.color, linewidth=4.4)
        draw_interval(
            axes,
            row["mean"],
            (row["hdi_low"], row["hdi_high"]),
            y + offsets[0],
            look,
            filled=row["reading"] == "stable",
            borderline=row["reading"] in ("open", "seeds disagree"),
        )
        for offset, of_seed in zip(offsets[1:], by_key[tuple(row[key] for key in keys)], strict=True):
            ends = of_seed["hdi_low"], of_seed["hdi_high"]
            look = Look(_SEED_COLOR, "o", size=3, width=0.9)
            draw_interval(axes, of_seed["mean"], ends, y + offset, look, filled=has_direction(of_seed))
    if (rope := comparison.facts["rope"]) is not None:
        shade_rope(axes, rope)
    names = [
        _training_label(row, several=len(changed) > 1, one_contrast=contrast is not None) for row in rows_of(shown)
    ]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("Change in cosine distance" if changed else "Difference of mean cosine distances")
    furnish(axes, "x", rows=True)
    cut_note = (
        f"\n{len(shown)} of {len(every):,} lines, those that vary most between seeds" if len(shown) < len(every) else ""
    )
    subtitle = f"{percent_text(comparison.hdi_prob)} HPDI; filled: stable; dot: open, or seeds disagree"
    what = f": change in {name_some([short_label(name) for name in changed], 3)}" if changed else ""
    title_figure(figure, f"{counted(len(seeds), 'seed')}{what}\n{subtitle}{cut_note}", size=10)
    others = list(dict.fromkeys(contrast_sides(name)[1] for name in shown["contrast"]))
    series = {name: (COLORS[name], MARKERS[name]) for name in others} | {"one seed": (_SEED_COLOR, "o")}
    baseline = contrast_sides(shown["contrast"].iloc[0])[0]
    series_legend(figure, series, f"Over seeds (colour): {baseline} minus", columns=len(series))
    return figure


def _training_label(row: Mapping[str, Any], *, several: bool, one_contrast: bool) -> str:
    """Return the label of a contrast over seeds: its condition, if there are several, its words, and its contrast."""
    words = row["protected_word"] or row["protected_group"]
    parts = [short_label(row["second"])] if several else []
    parts += [short_label(words)] if words else ["all words"] if one_contrast else []
    return ": ".join([*parts, *([] if one_contrast else [row["contrast"]])])

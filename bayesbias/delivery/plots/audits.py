"""Figures of audits: answers by measure, maps of them, ranks of embeddings, and debiasing methods side by side."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import CONTRAST, AuditRecord, audit_rows, central_values, comparable_rows
from bayesbias.audits.debias_result import ASSOCIATION, ORIGINAL, DebiasReport
from bayesbias.audits.ranks import ALL_STUDIES, Ranks
from bayesbias.base.checks import check_choice, check_type
from bayesbias.base.number_text import counted, percent_text, probability_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    COLORS,
    MOST_WORDS,
    SERIES,
    Look,
    as_text,
    draw_interval,
    draw_observed,
    furnish,
    new_figure,
    panel_grid,
    row_offsets,
    series_legend,
    shade_rope,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.intervals import is_settled
from bayesbias.metrics.registry import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Colours and markers of embeddings. Their numbers differ, so that pairs of both repeat late.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_INCHES_A_ROW = 0.3
_INCHES_A_METHOD = 0.28
_STACKED = 4  # panels, one below the other, which a narrow screen shows whole
_ONE_SIGN = "cividis"
_DARK = 0.4  # luminance of a cell below which its number is white
_LONG = 12  # characters of an embedding's name above which the names are turned


def plot_audit(audit: "pd.DataFrame") -> "Figure":
    """Draw every answer of an audit: one panel per measure, one row per study, one point per embedding.

    Parameters
    ----------
    audit
        An audit from `bayesbias.audit`.

    Returns
    -------
    matplotlib.figure.Figure
        Estimates (points) with intervals (lines) if there are any; contrasts of several units are standardised. A tick
        behind the point is the observed value. The point of a contrast is filled if it is settled, and has a dot if it
        is borderline; the region of practical equivalence of contrasts is shaded. A dashed line marks 0 if the values
        of a measure have both signs.

    Raises
    ------
    ReportError, ArgumentError
        If `audit` is not an audit, or lacks rows of all protected words.

    Examples
    --------
    >>> vectors = {"Wikipedia": bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")}
    >>> audit = bb.audit(vectors, ["weat7"], ["weat", "mac"], model=None, random_seed=1)
    >>> len(bb.plots.plot_audit(audit).axes)
    2
    """
    every, record = audit_rows(audit)
    rows = comparable_rows(every[every["protected_group"] == ""], record)
    rows = rows.assign(value=central_values(rows))
    if rows.empty:
        raise ReportError(
            "audit: the figure needs rows of all protected words (an empty protected_group), and there are none."
        )
    measures, all_studies, embeddings = (list(dict.fromkeys(rows[name])) for name in ("measure", "study", "embedding"))
    studies = all_studies[: max(1, MOST_WORDS // len(embeddings))]
    rows = rows[rows["study"].isin(studies)]
    step = _INCHES_A_ROW * max(1.0, 0.5 * len(embeddings))
    height = 0.9 + step * len(studies)
    figure, panels = panel_grid(len(measures), "", width=(7.0, 5.0), height=(1.4, height), sharex=False)
    offsets = row_offsets(len(embeddings), 0.3)
    for axes, measure in zip(panels, measures, strict=False):
        measure_rows = rows[rows["measure"] == measure]
        if measure_rows.empty:
            axes.set_visible(False)
            continue
        for row in rows_of(measure_rows):
            place = embeddings.index(row["embedding"])
            _draw_answer(axes, row, studies.index(row["study"]) + offsets[place], place)
        axes.set_yticks(range(len(studies)), [short_label(study) for study in studies])
        axes.set_ylim(len(studies) - 0.5, -0.5)
        quantity = measure_rows["quantity"].iloc[0]
        title = f"contrast ({_unit(record)})"
        if measure != CONTRAST:
            title = MEASURES[measure].units.get(quantity, quantity.replace("_", " "))
            title = title if quantity == measure else f"{measure.split('_')[0].upper()}: {title}"
        as_text(axes.set_title(title, fontsize=10, loc="left"))
        low, high = axes.get_xlim()
        if measure == CONTRAST and record.rope is not None:
            shade_rope(axes, record.rope)
        if low < 0 < high or measure == CONTRAST:
            axes.axvline(0, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
        furnish(axes, "x", rows=True)
    if len(embeddings) > 1:
        series_legend(figure, {name: _look(place) for place, name in enumerate(embeddings)}, columns=3)
    interval = f"{percent_text(record.hdi_prob)} intervals, ticks: observed values\n"
    interval += "contrasts: filled if settled, with a dot if borderline"
    interval += "; shaded: too small to matter" if record.rope is not None and CONTRAST in measures else ""
    about = interval if record.model else "observed values"
    first = f"the first {len(studies)} of " if len(studies) < len(all_studies) else ""
    where = record.counted_sources(embeddings)
    title_figure(figure, f"{first}{counted(len(all_studies), 'study', 'studies')} in {where}\n{about}")
    return figure


def plot_ranks(ranks: Ranks) -> "Figure":
    """Draw the ranks of embeddings over all studies: one panel per measure, one row per embedding.

    Parameters
    ----------
    ranks
        Ranks from `bayesbias.audits.rank`.

    Returns
    -------
    matplotlib.figure.Figure
        Rank 1, on the left, is the weakest association. For measures with a posterior, the line is the range of
        ranks that its settled pairs leave, and the number above the point is the probability of the rank.

    Raises
    ------
    ArgumentError
        If `ranks` is not the result of `bayesbias.audits.rank`.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)]
    >>> audit = bb.audit(vectors, ["weat7"], ["weat", "ect"], model=None, random_seed=1)
    >>> len(bb.plots.plot_ranks(bb.audits.rank(audit)).axes)
    2
    """
    check_type("ranks", ranks, Ranks, "what bb.audits.rank returned")
    rows = ranks.ranks[ranks.ranks["study"] == ALL_STUDIES]
    if rows.empty:
        raise ReportError("ranks: no study is answered by all embeddings.")
    measures, embeddings = (list(dict.fromkeys(rows[name])) for name in ("measure", "embedding"))
    height = 0.9 + _INCHES_A_ROW * len(embeddings)
    label = "Rank (1 = weakest association)"
    figure, panels = panel_grid(len(measures), label, width=(7.0, 4.2), height=(1.2, height))
    for axes, measure in zip(panels, measures, strict=False):
        for row in rows_of(rows[rows["measure"] == measure]):
            y = embeddings.index(row["embedding"])
            draw_interval(axes, row["rank"], (row["rank_low"], row["rank_high"]), y, Look("#0072B2", size=6, width=1.8))
            if row["rank_low"] == row["rank_low"]:
                place = (row["rank"], y)
                probability = probability_text(row["probability"])
                axes.annotate(probability, place, xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)
        axes.set_yticks(range(len(embeddings)), [short_label(name) for name in embeddings])
        axes.set_ylim(len(embeddings) - 0.5, -0.7)
        axes.set_xlim(0.6, len(embeddings) + 0.4)
        axes.set_xticks(range(1, len(embeddings) + 1))
        as_text(axes.set_title(measure, fontsize=10, loc="left"))
        furnish(axes, "x", rows=True)
    title_figure(
        figure,
        f"Ranks over all studies\nlines: {percent_text(ranks.hdi_prob)} ranges, which hold all ranks at once; "
        "numbers: probability of each rank",
    )
    return figure


def _unit(record: AuditRecord) -> str:
    """Return the unit of the contrasts of a figure, and what those below 0 mean."""
    if record.unit is not None:
        return f"{record.unit.unit_name}; below 0: {record.unit.nearer}"
    return f"standardised; below 0: {' or '.join(dict.fromkeys(one.nearer for one in record.units.values()))}"


def _look(place: int) -> tuple[str, str]:
    return _COLORS[place % len(_COLORS)], _MARKERS[place % len(_MARKERS)]


def _draw_answer(axes: "Axes", row: Mapping[str, Any], y: float, place: int) -> None:
    color, marker = _look(place)
    if row["hdi_low"] == row["hdi_low"]:
        draw_observed(axes, row["observed"], y, size=6)
    filled = row["reading"] in ("", "nearer", "farther")
    ends = row["hdi_low"], row["hdi_high"]
    borderline = row["reading"] == "borderline"
    draw_interval(axes, row["value"], ends, y, Look(color, marker, size=6), filled=filled, borderline=borderline)


def plot_debias_report(report: DebiasReport, *, measure: str | None = None, most: int = MOST_WORDS) -> "Figure":
    """Draw the effects of debiasing methods: one panel per measure, one row per method, one colour per embedding.

    Parameters
    ----------
    report
        A report from `bayesbias.debias_report`.
    measure
        Study or score whose panel alone is drawn. None (default): all.
    most
        Largest number of rows of a panel, of which the first is the original.

    Returns
    -------
    matplotlib.figure.Figure
        Values (points) with intervals (lines); a dashed line marks the value of the original. A point is filled if its
        change from the original is settled. Overlapping lines do not rule that out, because both describe the same
        words.

    Raises
    ------
    ReportError, ArgumentError
        If `report` is not a report, or has more embeddings than there are colours.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> settings = {"measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report({"Wikipedia": vectors}, "gender", ["linear"], sets="gender_bolukbasi", **settings)
    >>> len(bb.plots.plot_debias_report(report).axes)
    2
    """
    check_type("report", report, DebiasReport, "what bb.debias_report returned")
    table = report.table
    if measure is not None:
        table = table[table["measure"] == check_choice("measure", measure, tuple(dict.fromkeys(table["measure"])))]
    embeddings, methods = (list(dict.fromkeys(table[name])) for name in ("embedding", "method"))
    if len(embeddings) > len(SERIES):
        raise ReportError(f"report: {len(embeddings)} embeddings, but a figure has {len(SERIES)} colours.")
    methods = methods[: max(1, min(most, MOST_WORDS // len(embeddings)))]
    measures = list(dict.fromkeys(zip(table["kind"], table["measure"], strict=True)))
    step = _INCHES_A_METHOD * max(1.0, 0.6 * len(embeddings))
    figure, panels = panel_grid(
        len(measures),
        "",
        width=(7.0, 5.0),
        height=(1.6, 1.0 + step * len(methods)),
        sharex=False,
        columns=1 if len(measures) <= _STACKED else 2,
    )
    figure.set_layout_engine("constrained", h_pad=0.12)  # the title of a panel keeps clear of the numbers above it
    offsets = row_offsets(len(embeddings), 0.28)
    for axes, (kind, name) in zip(panels, measures, strict=False):
        rows = table[(table["measure"] == name) & table["method"].isin(methods)]
        for row in rows_of(rows):
            place = embeddings.index(row["embedding"])
            color, marker = SERIES[place]
            y = methods.index(row["method"]) + offsets[place]
            moved = row["method"] != ORIGINAL and is_settled(row["change_low"], row["change_high"])
            ends = row["value_low"], row["value_high"]
            draw_interval(axes, row["value"], ends, y, Look(color, marker, size=6), filled=moved)
            if row["method"] == ORIGINAL:
                axes.axvline(row["value"], color=color, linewidth=0.8, linestyle="--", zorder=0)
        if kind == ASSOCIATION:
            axes.axvline(0, color="#999999", linewidth=0.9, zorder=0)
            title = f"{short_label(name, 60)}: contrast (cosine distance; 0 is none)"
        else:
            title = f"{short_label(name, 60)}: {rows['quantity'].iloc[0]} ({rows['better'].iloc[0]} is better)"
        as_text(axes.set_title(title, fontsize=10, loc="left"))
        axes.set_yticks(range(len(methods)), [short_label(method) for method in methods])
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=6)  # labels of more would touch each other
        furnish(axes, "x", rows=True)
    if len(embeddings) > 1:
        series_legend(figure, dict(zip(embeddings, SERIES, strict=False)), columns=3)
    title_figure(
        figure,
        f"{len(methods) - 1} debiasing methods\n{percent_text(report.hdi_prob)} intervals; dashed: the original; "
        "filled: the change is settled",
    )
    return figure


_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue (ITU-R BT.709)


def plot_heatmap(audit: "pd.DataFrame", measure: str = CONTRAST) -> "Figure":
    """Draw one measure of an audit: one row per question, one column per embedding, the number in each cell.

    Parameters
    ----------
    audit
        An audit from `bayesbias.audit`. Questions are its studies and, for the contrast, their protected groups; select
        rows to draw fewer, such as ``audit[audit["protected_group"] == ""]``.
    measure
        A measure of the audit, such as ``"contrast"`` (default), the model's answer, or ``"weat"``.

    Returns
    -------
    matplotlib.figure.Figure
        Estimates in the units of the measure; contrasts of several units are standardised. The scale is centred on 0
        if values or intervals have both signs: orange are contrasts below 0 (nearer, as the study says) and values of
        other measures above 0, blue the opposite. Hatched cells are not settled: their interval contains 0, or its end
        is too near to 0. Cells without an answer are grey.

    Raises
    ------
    ReportError, ArgumentError
        If `audit` is not an audit, or has no row of the measure.

    Examples
    --------
    >>> vectors = {f"seed {seed}": bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz")
    ...            for seed in (1, 2)}
    >>> found = bb.audit(vectors, ["weat7", "gender"], ["weat"], model=None, random_seed=1, progress=False)
    >>> [text.get_text() for text in bb.plots.plot_heatmap(found, "weat").axes[0].texts]
    ['0.990', '1.586', '0.812', '1.505']
    """
    every, record = audit_rows(audit)
    rows = comparable_rows(every[every["measure"] == measure], record)
    rows = rows.assign(value=central_values(rows))
    if rows.empty:
        names = name_some(dict.fromkeys(every["measure"]), 8)
        raise ReportError(f"audit: it has no rows of the measure {measure!r}, only of {names}. Give one of these.")
    all_questions = list(dict.fromkeys(zip(rows["study"], rows["protected_group"], strict=True)))
    all_embeddings = list(dict.fromkeys(rows["embedding"]))
    questions, embeddings = all_questions[:MOST_WORDS], all_embeddings[:MOST_WORDS]
    values = rows.pivot(index=["study", "protected_group"], columns="embedding", values="value")
    values = values.reindex(index=questions, columns=embeddings)
    ends = rows[["value", "hdi_low", "hdi_high"]]
    signed = measure == CONTRAST or bool(ends.min().min() < 0 < ends.max().max())
    reach = float(rows["value"].abs().max()) or 1.0
    low, high = (-reach, reach) if signed else (rows["value"].min(), rows["value"].max())
    figure = new_figure(3.6 + max(3.0, 1.05 * len(embeddings)), 1.7 + 0.34 * max(3, len(questions)))
    from matplotlib.colors import LinearSegmentedColormap

    axes = figure.subplots()
    axes.set_facecolor("#BBBBBB")
    stops = [COLORS["different"], "#FFFFFF", COLORS["associated"]][:: -1 if measure == CONTRAST else 1]
    colors = LinearSegmentedColormap.from_list("signed", stops) if signed else _ONE_SIGN
    mesh = axes.pcolormesh(values.to_numpy(), cmap=colors, vmin=low, vmax=high, edgecolors="white", linewidth=1.5)
    for row in rows_of(rows):
        question = (row["study"], row["protected_group"])
        if question not in questions or row["embedding"] not in embeddings:
            continue
        x, y = embeddings.index(row["embedding"]), questions.index(question)
        if signed and _not_settled(row):
            axes.fill_between([x, x + 1], y, y + 1, facecolor="none", edgecolor="#8A8A8A", hatch="////", linewidth=0)
        cell = mesh.cmap(mesh.norm(row["value"]))
        color = "white" if cell[:3] @ _LUMINANCE < _DARK else "black"
        box = {"facecolor": cell, "edgecolor": "none", "pad": 1.5}
        place = (x + 0.5, y + 0.5)
        axes.text(*place, f"{row['value']:.3f}", ha="center", va="center", fontsize=9, color=color, bbox=box)
    axes.invert_yaxis()
    row_names = [short_label(f"{study}: {group}" if group else study, 32) for study, group in questions]
    axes.set_yticks(np.arange(len(questions)) + 0.5, row_names)
    axes.set_xticks(np.arange(len(embeddings)) + 0.5, [short_label(name, 32) for name in embeddings])
    if max(map(len, embeddings)) > _LONG:
        for name in axes.get_xticklabels():
            name.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    for name in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        as_text(name)
    for side in axes.spines.values():
        side.set_visible(False)
    quantity = rows["quantity"].iloc[0]
    label = measure if quantity == measure else f"{measure} ({quantity})"
    if measure == CONTRAST:
        label = f"associated - different\n({_unit(record)})"
    figure.colorbar(mesh, label=label, shrink=0.9)
    marked = f"hatched: not settled ({percent_text(record.hdi_prob)} interval)" if rows["hdi_low"].notna().any() else ""
    cut = len(questions) < len(all_questions) or len(embeddings) < len(all_embeddings)
    first = (
        f"the first {counted(len(questions), 'question')} and {counted(len(embeddings), 'embedding')}" if cut else ""
    )
    title_figure(figure, "\n".join(filter(None, (measure, first, marked if signed else ""))))
    return figure


def _not_settled(row: Mapping[str, Any]) -> bool:
    """Return whether an answer has an interval that does not settle its sign."""
    return row["reading"] in ("not settled", "borderline") or row["hdi_low"] <= 0 <= row["hdi_high"]

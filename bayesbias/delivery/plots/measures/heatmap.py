"""A measure of many questions in many embeddings, as a map of colours."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import COLORS, MOST_WORDS, as_text, new_figure, short_label, title_figure
from bayesbias.errors import ReportError, name_some
from bayesbias.reports.audits.audit_frame import CONTRAST, audit_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_ONE_SIGN = "cividis"
_LABELS = {CONTRAST: "associated - different\n(cosine distance; below 0: nearer)"}
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue (ITU-R BT.709)
_DARK = 0.4  # luminance of a cell below which its number is white
_LONG = 12  # characters of an embedding's name above which the names are turned


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
        Estimates in the units of the measure. The scale is centred on 0 if values or intervals have both signs:
        orange are contrasts below 0 (nearer, as the study says) and values of other measures above 0, blue the
        opposite. Hatched cells are not settled: their interval contains 0, or its end is too near to 0. Cells without
        an answer are grey.

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
    rows = every[every["measure"] == measure]
    if rows.empty:
        names = name_some(dict.fromkeys(every["measure"]), 8)
        raise ReportError(f"audit: it has no rows of the measure {measure!r}, only of {names}. Give one of these.")
    all_questions = list(dict.fromkeys(zip(rows["study"], rows["protected_group"], strict=True)))
    all_embeddings = list(dict.fromkeys(rows["embedding"]))
    questions, embeddings = all_questions[:MOST_WORDS], all_embeddings[:MOST_WORDS]
    values = rows.pivot(index=["study", "protected_group"], columns="embedding", values="estimate")
    values = values.reindex(index=questions, columns=embeddings)
    ends = rows[["estimate", "hdi_low", "hdi_high"]]
    signed = measure == CONTRAST or bool(ends.min().min() < 0 < ends.max().max())
    reach = float(rows["estimate"].abs().max()) or 1.0
    low, high = (-reach, reach) if signed else (rows["estimate"].min(), rows["estimate"].max())
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
        cell = mesh.cmap(mesh.norm(row["estimate"]))
        color = "white" if cell[:3] @ _LUMINANCE < _DARK else "black"
        box = {"facecolor": cell, "edgecolor": "none", "pad": 1.5}
        place = (x + 0.5, y + 0.5)
        axes.text(*place, f"{row['estimate']:.3f}", ha="center", va="center", fontsize=9, color=color, bbox=box)
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
    label = _LABELS.get(measure, measure if quantity == measure else f"{measure} ({quantity})")
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
    return row["conclusion"] in ("not settled", "borderline") or row["hdi_low"] <= 0 <= row["hdi_high"]

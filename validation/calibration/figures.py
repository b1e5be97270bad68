"""Figures of the calibration: histograms of ranks, and coverage."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from simulations import BIN_COLUMNS, BINS

from bayesbias.base.checks import HDI_PROB
from bayesbias.delivery.plots.style import COLORS, MARKERS, new_figure


def draw_ranks(frame: pd.DataFrame, title: str) -> Any:
    """Draw a histogram of ranks for each quantity, with the band that holds a bin's count in 99 % of cases."""
    columns = list(COLORS)
    rows: list[list[str | None]] = []
    names = list(frame["quantity"])
    for parameter in ("connection_mean", "word_sd", "sigma"):
        row_names = [f"{parameter}[{column}]" for column in columns]
        if row_names[0] in names:
            rows.append([name if name in names else None for name in row_names])
    rows.append([name if name in names else None for name in (f"associated - {column}" for column in columns)])
    other_names = [name for name in names if not any(name in row for row in rows)]
    if len(other_names) == 1:
        rows[-1][0] = other_names[0]
    else:
        for first in range(0, len(other_names), len(columns)):
            part = other_names[first : first + len(columns)]
            rows.append([*part, *[None] * (len(columns) - len(part))])
    figure = new_figure(9.0, 1.55 * len(rows) + 0.9)
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    by_name = frame.set_index("quantity")
    total = int(by_name[BIN_COLUMNS].iloc[0].sum())
    low, high = stats.binom.ppf([0.005, 0.995], total, 1 / BINS)
    for r, row in enumerate(rows):
        for c, name in enumerate(row):
            panel = panels[r, c]
            if name is None:
                panel.set_visible(False)
                continue
            shared_by_all = name in other_names
            color = "#7F7F7F" if shared_by_all else COLORS[columns[c]]
            panel.axhspan(low, high, color="#E6E6E6", zorder=0)
            panel.axhline(total / BINS, color="black", linewidth=0.8, zorder=1)
            panel.bar(
                np.arange(BINS) + 0.5, by_name.loc[name, BIN_COLUMNS].astype(int), width=0.9, color=color, zorder=2
            )
            panel.set_title(f"{name}\np = {by_name.loc[name, 'p_value']:.2g}", fontsize=8)
            panel.tick_params(labelsize=7)
            panel.set_xticks([0, BINS / 2, BINS], ["0", "½", "1"])
            left = c == 0 or row[c - 1] is None
            panel.tick_params(labelleft=left, labelbottom=r == len(rows) - 1 or rows[r + 1][c] is None)
    figure.suptitle(title, fontsize=10)
    figure.supxlabel("Rank of the true value among the posterior draws, as a share", fontsize=9)
    figure.supylabel("Data sets (grey: 99 % band)", fontsize=9)
    return figure


def draw_coverage(frames: dict[str, pd.DataFrame]) -> Any:
    """Draw coverage with three Monte Carlo standard errors, one panel a study."""
    figure = new_figure(9.0, 4.4)
    figure.get_layout_engine().set(w_pad=0.12)
    panels = figure.subplots(1, len(frames), sharey=True, squeeze=False)[0]
    look = {
        "hierarchical": (COLORS["associated"], MARKERS["different"]),
        "crossed": (COLORS["different"], MARKERS["associated"]),
    }
    for panel, (title, frame) in zip(panels, frames.items(), strict=True):
        names = list(dict.fromkeys(frame["quantity"]))
        panel.axvline(HDI_PROB, color="black", linewidth=1, linestyle="--", zorder=1)
        for model, shift in (("hierarchical", 0.13), ("crossed", -0.13)):
            part = frame[frame["model"] == model].set_index("quantity").loc[names]
            color, marker = look[model]
            share = part["coverage"]
            panel.errorbar(
                share,
                np.arange(len(names)) + shift,
                xerr=3 * np.sqrt(share * (1 - share) / part["data_sets"]),
                markersize=5,
                color=color,
                marker=marker,
                linestyle="none",
                label=model,
                zorder=3,
            )
        panel.set_yticks(
            range(len(names)), [name.replace("connection_mean[", "mean of ").rstrip("]") for name in names]
        )
        panel.set_xlim(min(0.5, *(0.95 * one["coverage"].min() for one in frames.values())), 1)
        panel.set_title(title, fontsize=9)
        panel.grid(axis="x", color="#E6E6E6")
        panel.set_axisbelow(True)
    panels[0].invert_yaxis()
    panels[0].legend(loc="lower left", frameon=False, title="Fitted by", fontsize=9)
    figure.supxlabel(
        "Share of data sets whose 89 % HPDI holds the true value (dashed: 0.89; bars: 3 Monte Carlo standard errors)",
        fontsize=9,
    )
    return figure

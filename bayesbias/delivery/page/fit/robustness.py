"""Sections on robustness: other models, and fits without words and lists or with other priors."""

from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.number_text import distance_text, interval_text, percent_text, signed_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.page.blocks import Block, Heading, Notice, Paragraph, Section, Table, frame_table
from bayesbias.errors import NotEnoughMemoryError, name_some
from bayesbias.estimates.intervals import settled
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.robustness.model_comparison import (
    AS_GOOD,
    FEWEST_WORDS,
    MODELS,
    PREFERRED,
    WORSE,
    compare_models,
)
from bayesbias.reports.robustness.sensitivity import LEAVE_OUT, sensitivity

# Enough to rank models and refits; the functions themselves draw more by default.
_COMPARISON_DRAWS = 500
_SENSITIVITY_DRAWS = 500
_MOST_SHIFTS = 12
_COMPARISON = "Which model to trust"
_SENSITIVITY = "What the conclusions are sensitive to"
_TITLES = {
    "attribute_word": "Without each attribute word",
    "protected_word": "Without each protected word",
    "list": "Without each list",
    "prior": "With other priors",
}


def comparison_section(page: FitReport) -> Section:
    """Return the section that compares the fitted model with others."""
    name = page.spec.name
    if page.table["attribute_word"].nunique() < FEWEST_WORDS:
        alone = "Not computed. Models are compared by leaving out one attribute word at a time; there is only one."
        return Section("comparison", _COMPARISON, [Notice(alone)])
    models: list[str | ModelSpec] = [
        *([] if page.needs_nuts else [page.spec]),
        *[model for model in MODELS if model != name],
    ]
    # The prediction of each pair and attribute word from each draw costs about 20 fits.
    if reason := page.skip_reason(20 * len(models), "bb.compare_models(table)"):
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {reason}")])
    try:
        frame = compare_models(
            page.table,
            models,
            hdi_prob=page.hdi_prob,
            draws=_COMPARISON_DRAWS,
            random_seed=page.random_seed,
            progress=False,
        )
    except NotEnoughMemoryError as error:
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {error}")])
    reading = dict(zip(frame["model"], frame["reading"], strict=True)).get(name)
    blocks: list[Block] = []
    if page.needs_nuts:
        headline = (
            f"The fitted model, {name}, is sampled by NUTS and not compared here, because leaving out words takes "
            f"minutes. Run bb.compare_models(table, ['{name}', ...])."
        )
        blocks.append(Notice(headline))
    elif reading == WORSE:
        headline = (
            f"The fitted model, {name}, predicts unseen attribute words worse than {frame['model'].iloc[0]}: its "
            "intervals may be too narrow or too wide. Fit the better model."
        )
        blocks.append(Notice(headline))
    else:
        predictions = {
            PREFERRED: "predicts unseen attribute words best",
            AS_GOOD: "predicts about as well as the best one",
        }
        headline = f"Of {len(frame)} models compared, the fitted one, {name}, {predictions[str(reading)]}."
    headlines = [headline]
    if not page.nothing_to_compare:
        rows = _contrasts_of_models(page, frame)
        headlines.append(_models_headline(page, rows))
        blocks.append(_models_table(page, rows))
    blocks += [
        *(Paragraph(statement.text) for statement in frame.attrs["advice"]),
        frame_table(
            frame,
            "Expected log predictive density (elpd) of attribute words left out, and of pairs left out; higher is "
            "better",
            {
                "model": ("Model", None),
                "reading": ("Reading", None),
                "elpd_words": ("Words", "{:,.1f}".format),
                "words_diff": ("To best", "{:,.1f}".format),
                "words_diff_se": ("Its error", "{:,.1f}".format),
                "elpd_pairs": ("Pairs", "{:,.1f}".format),
                "pairs_diff": ("To best", "{:,.1f}".format),
                "pairs_diff_se": ("Its error", "{:,.1f}".format),
            },
        ),
        Paragraph(
            f"bb.compare_models with {_COMPARISON_DRAWS} draws in each of 4 chains, seed {frame.attrs['random_seed']}."
        ),
    ]
    return Section("comparison", _COMPARISON, blocks, headlines)


def _contrasts_of_models(page: FitReport, compared: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of the fitted model and of those that it was compared with, with a column `model`."""
    others = {name: rows for name, rows in compared.attrs["contrasts"].items() if name != page.spec.name}
    frames = [contrasts(page.fit, hdi_prob=page.hdi_prob).assign(model=page.spec.name)]
    frames += [pd.DataFrame(rows).assign(model=name) for name, rows in others.items()]
    return pd.concat(frames).sort_values("contrast", kind="stable")


def _models_table(page: FitReport, rows: pd.DataFrame) -> Table:
    return frame_table(
        rows,
        f"The same differences in other models, {percent_text(page.hdi_prob)} HPDI; below 0, nearer",
        {
            "contrast": ("Difference", None),
            "model": ("Model", None),
            "mean": ("Mean", signed_text),
            "sd": ("SD", distance_text),
            "hdi_low:hdi_high": ("Interval", signed_text),
            "observed": ("Plain difference", signed_text),
        },
    )


def _models_headline(page: FitReport, rows: pd.DataFrame) -> str:
    """Return a sentence with the first contrast in the other models."""
    first = rows[(rows["contrast"] == rows["contrast"].iloc[0]) & (rows["model"] != page.spec.name)]
    texts = [
        f"{signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])}) in {row['model']}"
        for row in rows_of(first)
    ]
    return f"In other models '{first['contrast'].iloc[0]}' is {' and '.join(texts)}."


def sensitivity_section(page: FitReport) -> Section:
    """Return the section on fits without each word and list, and with other priors."""
    blocks: list[Block] = []
    deciding: dict[str, list[str]] = {}
    edges: list[str] = []
    refits = 0
    reason = page.nothing_to_compare
    if not reason and page.needs_nuts:
        reason = (
            f"The model {page.spec.name} is sampled by NUTS and would have to be fitted again for each word. Run "
            f"bb.sensitivity(table, '{page.spec.name}'), or report a crossed model."
        )
    reason = reason or page.skip_reason(
        page.table["attribute_word"].nunique() + page.table["protected_word"].nunique(), "bb.sensitivity(table)"
    )
    if reason:
        return Section("sensitivity", _SENSITIVITY, [Notice(f"Not computed. {reason}")])
    for leave_out in LEAVE_OUT:
        frame = sensitivity(
            page.table,
            page.spec,
            leave_out=leave_out,
            hdi_prob=page.hdi_prob,
            draws=_SENSITIVITY_DRAWS,
            random_seed=page.random_seed,
            progress=False,
        )
        if frame.attrs["stopped"]:  # an interrupt is meant for the page
            raise KeyboardInterrupt
        blocks += [Heading(_TITLES[leave_out]), *(Paragraph(statement.text) for statement in frame.attrs["reading"])]
        if not frame.empty:
            blocks.append(_shifts(frame, leave_out))
        refits += frame.attrs["refits"]
        edges = edges or _edges(page, frame.attrs["contrasts"])
        for contrast, names in frame.attrs["deciding"].items():
            deciding.setdefault(contrast, []).extend(names)
        if skipped := frame.attrs["skipped"]:
            names = [f"{entry['left_out']} ({entry['contrast']}: {entry['reason']})" for entry in skipped]
            blocks.append(Paragraph(f"Could not be left out: {name_some(names, 5)}."))
    blocks.append(
        Paragraph(
            f"bb.sensitivity with {_SENSITIVITY_DRAWS} draws in each of 4 chains, seed {page.random_seed}; draws are "
            "reweighted if the weights are reliable; otherwise the model is fitted again. A word that moves a "
            "difference is not wrong; the conclusion depends on it."
        )
    )
    changed = {contrast: names for contrast, names in deciding.items() if names}
    headlines = [
        f"The conclusion on '{contrast}' changes in {len(names)} of {refits:,} variations (without a word or a list, "
        f"or with another prior): {name_some(names, 5)}."
        for contrast, names in changed.items()
    ]
    blocks = [*map(Notice, edges), *blocks]
    unchanged = (
        f"No conclusion changes in any of {refits:,} variations (without a word or a list, or with another prior)."
    )
    return Section("sensitivity", _SENSITIVITY, blocks, [*edges, *(headlines or [unchanged])])


def _edges(page: FitReport, refitted: list[dict[str, Any]]) -> list[str]:
    """Return sentences on intervals so near to 0 that a refit of the same model changes the conclusion."""
    fitted = contrasts(page.fit, hdi_prob=page.hdi_prob).set_index("contrast")
    edges = []
    for row in refitted:
        fitted_row = fitted.loc[row["contrast"]]
        settles = settled(fitted_row["hdi_low"], fitted_row["hdi_high"])
        if settles != (row["conclusion"] != "not settled"):
            edges.append(
                f"The conclusion on '{row['contrast']}' is on the edge: its interval ends so near to 0 that chance "
                f"in the simulation decides it "
                f"({interval_text(fitted_row['hdi_low'], fitted_row['hdi_high'])} in the fit, "
                f"{interval_text(row['hdi_low'], row['hdi_high'])} in a refit with all words). Do not rely on it."
            )
    return edges


def _error_text(error: float) -> str:
    return "below 0.0005" if error < 0.0005 else f"at most {error:.1g}"


def _shifts(frame: pd.DataFrame, leave_out: str) -> Table:
    """Return a table of the refits that change a conclusion or move a difference most."""
    order = frame.assign(size=frame["shift_in_sd"].abs()).sort_values(
        ["changes_conclusion", "size"], ascending=False, kind="stable"
    )
    shown = order.head(max(_MOST_SHIFTS, int(frame["changes_conclusion"].sum())))
    shown = shown.assign(changes=np.where(shown["changes_conclusion"], "yes", "no"))
    what = "Prior" if leave_out == "prior" else "Left out"
    return frame_table(
        shown,
        f"{_TITLES[leave_out]}: the {len(shown)} largest of {len(frame):,} shifts in posterior sd, those that change a "
        f"conclusion first; {percent_text(frame.attrs['hdi_prob'])} HPDI. The Monte Carlo error "
        f"of a shift is {_error_text(frame.attrs['monte_carlo_error'])}",
        {
            "left_out": (what, None),
            "contrast": ("Difference", None),
            "shift": ("Shift", signed_text),
            "shift_in_sd": ("In sd", "{:+.2f}".format),
            "mean": ("Mean then", signed_text),
            "hdi_low:hdi_high": ("Interval then", signed_text),
            "conclusion": ("Conclusion then", None),
            "changes": ("Changes it", None),
        },
        folded=True,
    )

"""What the results rest on: the model, single words, lists and priors; and what single numbers would have said."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.permutation_test import p_value
from bayesbias.metrics.t_tests import mac_t_tests, t_tests
from bayesbias.metrics.weat import association, effect_size
from bayesbias.models.spec import ModelSpec
from bayesbias.page.blocks import Block, Heading, Notice, Paragraph, Section, Table, frame_table
from bayesbias.page.page_input import BASELINE, PageInput
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.robustness.model_comparison import AS_GOOD, MODELS, PREFERRED, WORSE, compare_models
from bayesbias.reports.robustness.sensitivity import LEAVE_OUT, sensitivity
from bayesbias.statements import count_text, distance_text, interval_text, percent_text, signed_text

# Enough to order models and refits; the whole numbers come from the functions themselves.
_COMPARISON_DRAWS = 500
_SENSITIVITY_DRAWS = 500
_MOST_SHIFTS = 12
_TITLES = {
    "attribute_word": "Without each attribute word",
    "protected_word": "Without each protected word",
    "list": "Without each list",
    "prior": "With other priors",
}


def comparison(page: PageInput) -> Section:
    """Compare the fitted model with the others of its family."""
    name = page.spec.name
    models: list[str | ModelSpec] = [
        *([] if page.needs_nuts else [page.spec]),
        *[model for model in MODELS if model != name],
    ]
    frame = compare_models(page.table, models, draws=_COMPARISON_DRAWS, random_seed=page.seed)
    reading = dict(zip(frame["model"], frame["reading"], strict=True)).get(name)
    blocks: list[Block] = []
    if page.needs_nuts:
        headline = (
            f"The fitted model, {name}, is sampled by NUTS, so that leaving out words takes minutes: it is not "
            f"compared here. Run bb.compare_models(table, ['{name}', ...])."
        )
        blocks.append(Notice(headline))
    elif reading == WORSE:
        headline = (
            f"The fitted model, {name}, predicts unseen attribute words worse than {frame['model'].iloc[0]}: do not "
            "use its intervals."
        )
        blocks.append(Notice(headline))
    else:
        told = {PREFERRED: "predicts unseen attribute words best", AS_GOOD: "predicts about as well as the best one"}
        headline = f"Of {len(frame)} models compared, the fitted one, {name}, {told[str(reading)]}."
    blocks += [
        Paragraph(frame.attrs["advice"]),
        frame_table(
            frame,
            "Expected log predictive density (elpd) of attribute words left out, and of pairs left out; higher is "
            "better",
            {
                "model": ("Model", None),
                "reading": ("Reading", None),
                "elpd_words": ("Words", lambda value: f"{value:,.1f}"),
                "words_diff": ("To best", lambda value: f"{value:,.1f}"),
                "words_diff_se": ("Its error", lambda value: f"{value:,.1f}"),
                "elpd_pairs": ("Pairs", lambda value: f"{value:,.1f}"),
                "pairs_diff": ("To best", lambda value: f"{value:,.1f}"),
                "pairs_diff_se": ("Its error", lambda value: f"{value:,.1f}"),
            },
        ),
        Paragraph(f"bb.compare_models with {_COMPARISON_DRAWS} draws in each of 4 chains, seed {frame.attrs['seed']}."),
    ]
    return Section("comparison", "Which model to trust", blocks, [headline])


def what_it_hangs_on(page: PageInput) -> Section:
    """Fit again without each word and list, and with other priors."""
    blocks: list[Block] = []
    deciding: dict[str, list[str]] = {}
    edges: list[str] = []
    refits = 0
    reason = page.nothing_to_compare
    if not reason and page.needs_nuts:
        reason = (
            f"The model {page.spec.name} is sampled by NUTS, and would be fitted again for each word. Run "
            f"bb.sensitivity(table, '{page.spec.name}'), or report a crossed model."
        )
    if reason:
        return Section("sensitivity", "What the conclusions hang on", [Notice(f"Not computed. {reason}")])
    for leave_out in LEAVE_OUT:
        frame = sensitivity(
            page.table,
            page.spec,
            leave_out=leave_out,
            hdi_prob=page.hdi_prob,
            draws=_SENSITIVITY_DRAWS,
            random_seed=page.seed,
        )
        blocks += [Heading(_TITLES[leave_out]), Paragraph(frame.attrs["reading"])]
        if not frame.empty:
            blocks.append(_shifts(frame, leave_out))
        refits += frame.attrs["refits"]
        edges = edges or _edges(page, frame.attrs["contrasts"])
        for contrast, names in frame.attrs["deciding"].items():
            deciding.setdefault(contrast, []).extend(names)
        if skipped := frame.attrs["skipped"]:
            told = name_some([f"{entry['left_out']} ({entry['contrast']}: {entry['reason']})" for entry in skipped], 5)
            blocks.append(Paragraph(f"Could not be left out: {told}."))
    blocks.append(
        Paragraph(
            f"bb.sensitivity with {_SENSITIVITY_DRAWS} draws in each of 4 chains, seed {page.seed}. A word that "
            "moves a difference is not thereby wrong: it is what the conclusion rests on."
        )
    )
    changed = {contrast: names for contrast, names in deciding.items() if names}
    headlines = [
        f"The conclusion on '{contrast}' changes in {len(names)} of {refits:,} refits without a word or a list or with "
        f"another prior: {name_some(names, 5)}."
        for contrast, names in changed.items()
    ]
    blocks = [*map(Notice, edges), *blocks]
    unchanged = f"No conclusion changes in any of {refits:,} refits without a word or a list or with another prior."
    return Section("sensitivity", "What the conclusions hang on", blocks, [*edges, *(headlines or [unchanged])])


def _edges(page: PageInput, refitted: list[dict[str, Any]]) -> list[str]:
    """Say which intervals end so near to 0 that another simulation of the same model concludes something else."""
    found = contrasts(page.fit, hdi_prob=page.hdi_prob).set_index("contrast")
    edges = []
    for row in refitted:
        here = found.loc[row["contrast"]]
        settled = bool(here["hdi_low"] > 0 or here["hdi_high"] < 0)
        if settled != (row["conclusion"] != "not settled"):
            edges.append(
                f"The conclusion on '{row['contrast']}' stands on the edge: its interval ends so near to 0 that chance "
                f"in the simulation decides it ({interval_text(here['hdi_low'], here['hdi_high'])} in the fit, "
                f"{interval_text(row['hdi_low'], row['hdi_high'])} in a refit with everything). Do not build on "
                "it."
            )
    return edges


def _shifts(frame: pd.DataFrame, leave_out: str) -> Table:
    """Return the refits that change a conclusion and those that move a difference most."""
    order = frame.assign(size=frame["shift_in_sd"].abs()).sort_values(
        ["changes_conclusion", "size"], ascending=False, kind="stable"
    )
    shown = order.head(max(_MOST_SHIFTS, int(frame["changes_conclusion"].sum())))
    shown = shown.assign(changes=np.where(shown["changes_conclusion"], "yes", "no"))
    what = "Prior" if leave_out == "prior" else "Left out"
    return frame_table(
        shown,
        f"{_TITLES[leave_out]}: the {len(shown)} largest of {len(frame):,} shifts in posterior sd, those that change a "
        f"conclusion first; {percent_text(frame.attrs['hdi_prob'])} HPDI. A shift is exact but for a Monte Carlo error "
        f"of at most {frame.attrs['monte_carlo_error']:.1g}",
        {
            "left_out": (what, None),
            "contrast": ("Difference", None),
            "shift": ("Shift", signed_text),
            "shift_in_sd": ("In sd", lambda value: f"{value:+.2f}"),
            "mean": ("Mean then", signed_text),
            "hdi_low:hdi_high": ("Interval then", signed_text),
            "conclusion": ("Conclusion then", None),
            "changes": ("Changes it", None),
        },
        folded=True,
    )


def single_numbers(page: PageInput) -> Section:
    """Show the single-number measures of these very distances, where they are defined."""
    blocks: list[Block] = [
        Paragraph(
            "Measures of the literature that give one number for the same distances. Their p-values ask whether these "
            "very words differ by more than chance: they take words or pairs for independent, and control words, which "
            "may show the same, do not enter."
        )
    ]
    blocks += [Heading("WEAT"), *_weat(page), Heading("MAC and t-tests"), *_t_tests(page)]
    return Section("single-numbers", "What single numbers say", blocks)


def _weat(page: PageInput) -> Iterator[Block]:
    reason, cells = _weat_cells(page.table)
    if cells is None:
        yield Paragraph(f"WEAT is not shown: {reason}")
        return
    (first, second), (near, far), similarity = cells
    values = {group: association(rows[near].to_numpy(), rows[far].to_numpy()) for group, rows in similarity.items()}
    try:
        size, size_n = (effect_size(values[first], values[second], ddof=ddof) for ddof in (1, 0))
        test = p_value(values[first], values[second], random_seed=page.seed)
    except MeasureError as error:
        yield Paragraph(f"WEAT is not shown: {error}")
        return
    how = f"all {test.partitions:,} partitions" if test.exact else f"{test.partitions:,} partitions drawn at random"
    numbers = pd.DataFrame(
        {
            "name": ["Effect size, sd with n - 1", "Effect size, sd with n", "One-sided p-value"],
            "value": [signed_text(float(size)), signed_text(float(size_n)), _p_value(float(test.p_value))],
        }
    )
    yield frame_table(
        numbers,
        f"WEAT: {first} and {second} against {near} and {far}; p-value from {how}",
        {"name": ("Number", None), "value": ("Value", None)},
    )
    words = pd.concat(
        pd.DataFrame({"word": rows[near].index, "group": group, "value": values[group]})
        for group, rows in similarity.items()
    )
    yield frame_table(
        words,
        f"WEAT association of each word: mean cosine similarity to {near} minus that to {far}",
        {"word": ("Word", None), "group": ("Group", None), "value": ("Association", signed_text)},
        folded=True,
    )


def _t_tests(page: PageInput) -> Iterator[Block]:
    test = {
        "difference": ("Difference", signed_text),
        "low:high": ("95% confidence interval", signed_text),
        "p_value": ("p-value", _p_value),
    }
    try:
        frame = mac_t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"MAC is not tested: {error}")
    else:
        caption = "MAC against 1, the distance of unrelated words: t-tests of averages and of single pairs"
        yield frame_table(
            frame,
            caption,
            {"values": ("Values", None), "n": ("How many", count_text), "mean": ("MAC", distance_text), **test},
        )
    try:
        frame = t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"Two groups are not tested against each other: {error}")
        return
    names = {"attribute_group": ("List", None), "values": ("Values", None)}
    first, second = dict.fromkeys(page.table["protected_group"].astype(str))
    caption = f"Mean distance of {first} minus that of {second}, by attribute list: Welch's t-tests"
    yield frame_table(frame, caption, {**names, **test}, folded=True)


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "below 0.0001"


_Cells = tuple[tuple[str, str], tuple[str, str], dict[str, dict[str, pd.DataFrame]]]


def _weat_cells(table: pd.DataFrame) -> tuple[str, _Cells | None]:
    """Return why WEAT is not defined for a table, or its groups, lists and similarities by group and list."""
    rows = table[table["connection"].isin([BASELINE, "different"])]
    rows = rows.drop_duplicates(["protected_word", "attribute_word"])
    groups = list(dict.fromkeys(rows["protected_group"].astype(str)))
    if len(groups) != 2:
        return f"it compares two groups of protected words, and there are {len(groups)}.", None
    lists = {
        group: list(dict.fromkeys(rows.loc[mine & (rows["connection"] == BASELINE), "attribute_group"].astype(str)))
        for group in groups
        if (mine := rows["protected_group"] == group).any()
    }
    if any(len(found) != 1 for found in lists.values()) or lists[groups[0]] == lists[groups[1]]:
        return "it needs one associated list for each of the two groups, and another for each.", None
    near, far = lists[groups[0]][0], lists[groups[1]][0]
    similarity = {
        group: {
            name: rows[(rows["protected_group"] == group) & (rows["attribute_group"] == name)].pivot_table(
                index="protected_word", columns="attribute_word", values="cosine_similarity", sort=False, observed=True
            )
            for name in (near, far)
        }
        for group in groups
    }
    if any(
        cells.isna().any(axis=None) or cells.empty for of_group in similarity.values() for cells in of_group.values()
    ):
        return "some pairs of its words are missing from the table.", None
    return "", ((groups[0], groups[1]), (near, far), similarity)

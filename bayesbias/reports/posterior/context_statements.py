"""What the choice of contexts and templates does to a contrast of all words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import count_text, interval_text, quoted_name, signed_text
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, is_settled
from bayesbias.models.fits import fit_attribute, measure_of_fit
from bayesbias.tables.measures import COSINE_DISTANCE

if TYPE_CHECKING:
    import xarray as xr

_FEWEST_TEMPLATES = 5
"""Of fewer templates, the error of those that are left is hardly known."""


def context_statements(fit: "xr.DataTree", row: dict[Any, Any]) -> Iterator[Statement]:
    """Yield what the choice of contexts adds to a contrast, and how it differs between templates, if the table says so.

    `row` is that of `contrasts`, with its error over contexts.
    """
    yield _context_statement(fit, row)
    table = fit_attribute(fit, "table")
    sides = contrast_sides(row["contrast"])
    for entry in table.get("template_contrasts", []):
        of_entry = contrast_sides(entry["contrast"])
        if {*of_entry} == {*sides} and len(entry["values"]) >= _FEWEST_TEMPLATES:
            sign = 1 if of_entry == sides else -1
            yield _template_statement(row, table["templates"], sign * np.array(entry["values"]))


def _context_statement(fit: "xr.DataTree", row: dict[Any, Any]) -> Statement:
    facts, measure = fit_attribute(fit, "table")["contexts"], measure_of_fit(fit)
    kind = "template sentences, the same for all words" if facts["same_for_all"] else "contexts of its word (median)"
    what = "vector" if measure.column == COSINE_DISTANCE.column else measure.name
    decides = is_settled(row["hdi_low"], row["hdi_high"]) and not is_settled(row["context_low"], row["context_high"])
    low, high = row["context_low"], row["context_high"]
    text = (
        f"Each {what} is a mean over {count_text(facts['median'])} {kind}. For the contrast {row['contrast']}, "
        f"the choice of sentences has a standard error of {row['context_sd']:.3f}, the choice of words one of "
        f"{row['sd']:.3f}. The interval above includes only the second; with both it is {interval_text(low, high)}."
        f"{' It then includes 0: take more sentences before you report it as settled.' if decides else ''}"
    )
    numbers = {name: row[name] for name in ("contrast", "sd", "context_sd", "context_low", "context_high")}
    return Statement("contexts", text, {**numbers, "contexts": facts["median"], "decides": decides})


def _template_statement(row: dict[Any, Any], templates: list[str], values: np.ndarray) -> Statement:
    """Return how the contrast of single templates, `values`, differs, and whether one decides what is settled."""
    means, lows, highs = _without_each(row, values)
    settled = is_settled(row["context_low"], row["context_high"])
    decide = [name for name, low, high in zip(templates, lows, highs, strict=True) if is_settled(low, high) != settled]
    first, last = int(np.argmin(values)), int(np.argmax(values))
    text = (
        f"In single templates, the contrast {row['contrast']} runs from {signed_text(values[first])} "
        f"({_short(templates[first])}) to {signed_text(values[last])} ({_short(templates[last])}). "
    )
    if decide:
        text += (
            f"{name_some(map(_short, decide), 3)} {'decides' if len(decide) == 1 else 'each decide'} whether it is "
            f"settled: without it, it {'is not' if settled else 'is'}. Take more templates, or report this."
        )
    else:
        text += (
            f"Without any one of the {len(values)} templates, it lies between {signed_text(means.min())} and "
            f"{signed_text(means.max())}, and is {'' if settled else 'not '}settled either way."
        )
    of_templates = dict(zip(templates, values.tolist(), strict=True))
    return Statement("templates", text, {"contrast": row["contrast"], "values": of_templates, "decide": decide})


def _without_each(row: dict[Any, Any], values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the contrast without each template, and the ends of its interval with the error over the others.

    The contrast moves by (mean - value) / (n - 1), and the interval has the width of both errors together.
    """
    count = len(values)
    means = row["mean"] + (values.mean() - values) / (count - 1)
    errors = np.array([np.delete(values, place).std(ddof=1) for place in range(count)]) / np.sqrt(count - 1)
    widths = np.hypot(row["sd"], errors) / np.hypot(row["sd"], row["context_sd"])
    return means, *(means + widths * (row[f"context_{end}"] - row["mean"]) for end in ("low", "high"))


def _short(template: str) -> str:
    return quoted_name(template if len(template) <= 60 else f"{template[:57]}...")

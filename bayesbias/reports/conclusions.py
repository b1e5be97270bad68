"""What a posterior does and does not show, in plain English."""

import textwrap
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from bayesbias.errors import name_some
from bayesbias.models.fits import check_fit, fit_fact
from bayesbias.reports.contrasts import contrasts
from bayesbias.reports.intervals import HDI_PROB

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_OTHERS = {
    "different": "attribute words associated with other groups",
    "human": "human words that carry no stereotype",
    "neutral": "neutral words",
}


def conclusions(
    fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB, rope: float | tuple[float, float] | None = None
) -> str:
    """Say in plain English what the posterior does and does not show.

    Parameters
    ----------
    fit
        What `fit` returned; the table must have had associated attribute words.
    hdi_prob
        Probability inside the intervals.
    rope
        Region of practical equivalence, as for `contrasts`.

    Returns
    -------
    str
        Paragraphs of at most 100 characters a line. Every number in them is one of `contrasts`.

    Raises
    ------
    FitError, ReportError
        As `contrasts`.

    Examples
    --------
    >>> print(bb.conclusions(fit).splitlines()[0])
    Study 'weat7'. Embedding 'Google News word2vec, 13,784 words'. 16 protected words, 177 attribute
    """
    check_fit(fit)
    groups = contrasts(fit, hdi_prob=hdi_prob, rope=rope)
    words = contrasts(fit, level="word", hdi_prob=hdi_prob, rope=rope)
    parts = [_data(fit), f"WHAT THE POSTERIOR SHOWS ({hdi_prob:.0%} HPDI, in units of cosine distance)"]
    parts += [_group_sentence(row, rope is not None) for row in groups.to_dict("records")]
    parts += [_reading(groups)]
    parts += [_word_sentence(words[words["contrast"] == contrast]) for contrast in groups["contrast"]]
    parts += ["WHAT IT DOES NOT SHOW", *_limits(fit, rope is None)]
    if problems := fit_fact(fit, "convergence_problems"):
        parts.insert(0, "DO NOT REPORT THESE NUMBERS YET: the sampler did not converge. " + "; ".join(problems) + ".")
    return "\n\n".join(_wrap(part) for part in parts) + "\n"


def _data(fit: "xr.DataTree") -> str:
    counts = fit["constant_data"]["pair_count"]
    table, model = fit_fact(fit, "table"), fit_fact(fit, "model")
    sizes = fit["constant_data"].sizes
    what = f"Study {table['study']!r}. " if "study" in table else ""
    embedding = table.get("embedding", {}).get("name")
    where = f"Embedding {embedding!r}. " if embedding else f"Table {table['source']!r}. " if "source" in table else ""
    lost = [entry["word"] for entry in table.get("lost_words", [])]
    missing = f" Lost words: {len(lost)} ({name_some(lost, 10)})." if lost else " No word was lost."
    return (
        f"{what}{where}{sizes['protected_word']} protected words, {sizes['attribute_word']} attribute words, "
        f"{int(counts.sum()):,} cosine distances; model {model['name']!r}, sampler {fit_fact(fit, 'sampler')!r}, "
        f"seed {fit_fact(fit, 'seed')}.{missing}"
    )


def _settled(row: dict[Hashable, Any]) -> bool:
    return not row["hdi_low"] <= 0 <= row["hdi_high"]


def _other(contrast: str) -> str:
    return contrast.split(" - ", 1)[1]


def _group_sentence(row: dict[Hashable, Any], with_rope: bool) -> str:
    other = _OTHERS[_other(str(row["contrast"]))]
    sure = f"probability {_probability(row['probability_of_direction'])} that they are {row['direction']}"
    if _settled(row):
        head = f"- Associated attribute words are {row['direction']} than {other}"
    else:
        head = f"- Whether associated attribute words are nearer than {other} is not settled"
    text = f"{head}: difference {row['mean']:+.3f}, interval {row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}, {sure}."
    if with_rope:
        text += f" Probability {_probability(row['probability_in_rope'])} that it is too small to matter (in the rope)."
    return text


def _probability(value: float) -> str:
    """Return a probability with two decimals, never as a certainty that draws cannot give."""
    return "above 0.99" if value > 0.99 else "below 0.01" if value < 0.01 else f"{value:.2f}"


def _reading(groups: "pd.DataFrame") -> str:
    """Say what the contrasts mean together: a stereotype needs `associated` nearer than `different`."""
    nearer = {
        _other(row["contrast"]): _settled(row) and row["direction"] == "nearer" for row in groups.to_dict("records")
    }
    if "different" not in nearer:
        return (
            "Read together: without attribute words of another group, nearness to the associated words cannot be "
            "told from nearness to words of this kind in general."
        )
    controls = [name for name in ("human", "neutral") if nearer.get(name)]
    if nearer["different"]:
        also = f", and nearer than {' and '.join(controls)} words" if controls else ""
        return (
            "Read together: these protected words lie nearer to the attribute words associated with their own group "
            f"than to those of other groups{also}. That is an association in these vectors."
        )
    if controls:
        return (
            f"Read together: associated words are nearer than {' and '.join(controls)} words, but not detectably "
            "nearer than the attribute words of other groups. The protected words are near to words of this kind in "
            "general; that the nearness follows the stereotype is not shown."
        )
    return "Read together: no association that follows the stereotype is shown for these word lists as a whole."


def _word_sentence(words: "pd.DataFrame") -> str:
    rows = words.to_dict("records")
    parts = []
    for direction in ("nearer", "farther"):
        names = [row["protected_word"] for row in rows if _settled(row) and row["direction"] == direction]
        if names:
            parts.append(f"{direction} for {len(names)} ({name_some(names, 12)})")
    open_count = sum(not _settled(row) for row in rows)
    parts.append(f"not settled for {'any' if open_count == len(rows) else open_count}")
    return f"- Word by word, associated minus {_other(rows[0]['contrast'])}, {len(rows)} words: {', '.join(parts)}."


def _limits(fit: "xr.DataTree", without_rope: bool) -> list[str]:
    caution = fit_fact(fit, "model").get("caution", "")
    limits = [f"- {caution}"] if caution else []
    if without_rope:
        limits.append(
            "- Whether a difference matters. An interval that leaves out 0 says that a difference is detectable, not "
            "that it is large; give a region of practical equivalence (rope) to ask that."
        )
    limits += [
        "- Bias. A difference of distances is an association in one set of vectors. Whether it is unfair, or harms "
        "anyone downstream, is not in these numbers.",
        "- Other words, other texts, other embeddings. The result is about these word lists in these vectors; other "
        "lists, or vectors trained again with another seed, can give another answer.",
        "- No association, where a contrast is not settled. Short lists leave wide intervals; absence of evidence is "
        "not evidence of absence.",
    ]
    return limits


def _wrap(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("- ") else ""
    return textwrap.fill(paragraph, width=100, subsequent_indent=indent, break_long_words=False)

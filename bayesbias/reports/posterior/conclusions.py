"""What a posterior does and does not show, in plain English."""

import textwrap
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB
from bayesbias.errors import name_some
from bayesbias.models.fits import check_fit, fit_fact
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.statements import percent_text

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
    parts = [*_verdict(fit), _data(fit), *_doubts_about_data(fit)]
    parts += [f"WHAT THE POSTERIOR SHOWS ({percent_text(hdi_prob)} HPDI, in units of cosine distance)"]
    parts += [_group_sentence(row) for row in groups.to_dict("records")]
    parts += [_reading(groups, words, hdi_prob)]
    parts += [_word_sentence(words[words["contrast"] == contrast]) for contrast in groups["contrast"]]
    parts += ["WHAT IT DOES NOT SHOW", *_limits(fit, rope is None)]
    return "\n\n".join(_wrap(part) for part in parts) + "\n"


def _verdict(fit: "xr.DataTree") -> list[str]:
    problems = fit_fact(fit, "convergence_problems")
    if not problems:
        return []
    return ["DO NOT REPORT THESE NUMBERS YET: the sampler did not converge.", *[f"- {problem}" for problem in problems]]


def _data(fit: "xr.DataTree") -> str:
    counts = fit["constant_data"]["pair_count"]
    table, model = fit_fact(fit, "table"), fit_fact(fit, "model")
    sizes = fit["constant_data"].sizes
    what = f"Study {table['study']!r}. " if "study" in table else ""
    embedding = table.get("embedding", {}).get("name")
    where = f"Embedding {embedding!r}. " if embedding else f"Table {table['source']!r}. " if "source" in table else ""
    text = (
        f"{what}{where}{sizes['protected_word']} protected words, {sizes['attribute_word']} attribute words, "
        f"{int(counts.sum()):,} cosine distances; model {model['name']!r}, sampler {fit_fact(fit, 'sampler')!r}, "
        f"seed {fit_fact(fit, 'seed')}."
    )
    if "lost_words" not in table:
        return f"{text} The table does not say whether words were lost."
    lost = [entry["word"] for entry in table["lost_words"]]
    text += f" Lost words: {len(lost)} ({name_some(lost, 10)})." if lost else " No word was lost."
    if left_out := table.get("left_out_controls"):
        text += f" Control words that the study itself uses, and that are no controls here: {name_some(left_out, 10)}."
    return text


def _doubts_about_data(fit: "xr.DataTree") -> list[str]:
    doubts = []
    data = fit["constant_data"].to_dataset()
    pairs = np.stack([data["protected_index"].to_numpy(), data["attribute_index"].to_numpy()])
    if repeated := pairs.shape[1] - np.unique(pairs, axis=1).shape[1]:
        doubts.append(f"{repeated:,} rows repeat a pair and were kept, so that every interval here is too narrow.")
    policy = fit_fact(fit, "table").get("duplicates", {})
    if same := policy.get("same_vectors", 0):
        doubts.append(f"{same:,} rows compare words that match the same vectors, so that every interval is too narrow.")
    if fit_fact(fit, "table").get("edited"):
        doubts.append("The table was changed after it was built; study, embedding and lost words are those of before.")
    if data.sizes["protected_word"] == 1:
        doubts.append("With one protected word, how much words differ (word_sd) is told by the prior alone.")
    return [f"- Beware: {doubt}" for doubt in doubts]


def _settled(row: dict[Hashable, Any]) -> bool:
    return bool(row["hdi_low"] > 0 or row["hdi_high"] < 0)


def _other(contrast: str) -> str:
    return contrast.split(" - ", 1)[1]


def _negligible(row: dict[Hashable, Any], hdi_prob: float) -> bool:
    """Whether the difference is too small to matter with at least the probability of the interval."""
    return bool(row.get("probability_in_rope", 0.0) >= hdi_prob)


def _group_sentence(row: dict[Hashable, Any]) -> str:
    other = _OTHERS[_other(str(row["contrast"]))]
    sure = f"probability {_probability(row['probability_of_direction'])} that they are {row['direction']}"
    if _settled(row):
        head = f"- Associated attribute words are {row['direction']} than {other}"
    else:
        head = f"- Whether associated attribute words are nearer than {other} is not settled"
    text = f"{head}: difference {row['mean']:+.3f}, interval {row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}, {sure}."
    if "probability_in_rope" in row:
        inside = _probability(row["probability_in_rope"])
        text += f" Probability {inside} that it is too small to matter (in the rope)."
    return text


def _probability(value: float) -> str:
    """Return a probability with two decimals, never as a certainty that draws cannot give."""
    return "above 0.99" if value > 0.99 else "below 0.01" if value < 0.01 else f"{value:.2f}"


def _reading(groups: "pd.DataFrame", words: "pd.DataFrame", hdi_prob: float) -> str:
    """Say what the contrasts mean together: a stereotype needs `associated` nearer than `different`."""
    rows = {_other(str(row["contrast"])): row for row in groups.to_dict("records")}
    nearer = [
        name
        for name, row in rows.items()
        if _settled(row) and row["direction"] == "nearer" and not _negligible(row, hdi_prob)
    ]
    controls = [name for name in ("human", "neutral") if name in nearer]
    if "different" not in rows:
        return (
            "Read together: without attribute words of another group, nearness to the associated words cannot be "
            "told from nearness to words of this kind in general."
        )
    different = rows["different"]
    if _negligible(different, hdi_prob):
        return (
            "Read together: associated words and those of other groups are about equally near: the difference is, with "
            f"probability {_probability(different['probability_in_rope'])}, too small to matter by the rope that was "
            "given."
        )
    if _settled(different) and different["direction"] == "farther":
        return (
            "Read together: these protected words lie FARTHER from the attribute words associated with their own group "
            "than from those of other groups: the reverse of the stereotype."
        )
    if "different" in nearer:
        also = f", and nearer than {' and '.join(controls)} words" if controls else ""
        against = [
            row
            for row in words.to_dict("records")
            if row["contrast"] == different["contrast"]
            and _measured(row)
            and _settled(row)
            and row["direction"] == "farther"
        ]
        but = f" But {len(against)} of the words go the other way: see below." if against else ""
        return (
            "Read together: on the whole these protected words lie nearer to the attribute words associated with their "
            f"own group than to those of other groups{also}. That is an association in these vectors.{but}"
        )
    if controls:
        return (
            f"Read together: associated words are nearer than {' and '.join(controls)} words, but not detectably "
            "nearer than the attribute words of other groups. The protected words are near to words of this kind in "
            "general; that the nearness follows the stereotype is not shown."
        )
    return "Read together: no association that follows the stereotype is shown for these word lists as a whole."


def _measured(row: dict[Hashable, Any]) -> bool:
    """Whether the table holds rows for both sides of a contrast."""
    return bool(row["baseline_pairs"] and row["other_pairs"])


def _word_sentence(words: "pd.DataFrame") -> str:
    every = words.to_dict("records")
    rows = [row for row in every if _measured(row)]
    parts = []
    for direction in ("nearer", "farther"):
        names = [row["protected_word"] for row in rows if _settled(row) and row["direction"] == direction]
        if names:
            parts.append(f"{direction} for {len(names)} ({name_some(names, 12)})")
    open_count = sum(not _settled(row) for row in rows)
    parts.append(f"not settled for {'any' if open_count == len(rows) else open_count}")
    if unmeasured := len(every) - len(rows):
        parts.append(f"{unmeasured} more have no rows for one of the two and are told by the other words alone")
    text = (
        f"- Word by word, associated minus {_other(str(every[0]['contrast']))}, {len(rows)} words: {', '.join(parts)}."
    )
    pulled = [
        f"{row['protected_word']} ({row['observed']:+.3f})"
        for row in rows
        if _settled(row) and not row["hdi_low"] <= row["observed"] <= row["hdi_high"]
    ]
    if pulled:
        text += (
            f" Read with care: {name_some(pulled, 6)}. The difference of the plain averages, in brackets, lies outside "
            "the interval: few rows were pulled toward the mean of the other words, on one side more than on the other."
        )
    return text


def _limits(fit: "xr.DataTree", without_rope: bool) -> list[str]:
    caution = fit_fact(fit, "model").get("caution", "")
    limits = [f"- {caution}"] if caution else []
    groups = set(np.asarray(fit["constant_data"]["protected_group"], dtype=str))
    if len(groups) == 1:
        limits.append(
            "- That it is these lists' meaning. With one protected group, associated and different words are just two "
            "lists: any two lists of words differ somewhat in their distance to the same words."
        )
    if without_rope:
        limits.append(
            "- Whether a difference matters. An interval that leaves out 0 says that a difference is detectable, not "
            "that it is large; give a region of practical equivalence (rope) to ask that."
        )
    words = fit["constant_data"].sizes["protected_word"]
    limits += [
        f"- That each word named above differs. {words} words are judged at once, and some intervals leave out 0 by "
        "chance.",
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

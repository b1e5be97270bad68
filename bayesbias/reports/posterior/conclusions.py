"""What a posterior does and does not show, as statements in plain English with their numbers."""

from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.statements import (
    Conclusions,
    Statement,
    count_text,
    interval_text,
    percent_text,
    probability_text,
    signed_text,
)
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.estimates.intervals import settled as is_settled
from bayesbias.models.fitted.fit_source import fitted_model, fitted_rows, tied_directions
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.group_statements import group_statements
from bayesbias.tables.schema import lost_by_list

if TYPE_CHECKING:
    import xarray as xr

_OTHERS = {
    "different": "attribute words associated with other groups",
    "human": "human control words",
    "neutral": "neutral control words",
}
_LIMITS = {
    "one group": "That it is these lists' meaning. With one protected group, associated and different words are just "
    "two lists: any two lists of words differ somewhat in their distance to the same words.",
    "relevance": "Whether a difference matters. An interval that leaves out 0 says that a difference is detectable, "
    "not that it is large; give a region of practical equivalence (rope) to ask that.",
    "many words": "That each word named above differs. {words} words are judged at once, and some intervals leave out "
    "0 by chance.",
    "bias": "Bias. A difference of distances is an association in one set of vectors. Whether it is unfair, or harms "
    "anyone downstream, is not in these numbers.",
    "generality": "Other words, other texts, other embeddings. The result is about these word lists in these vectors; "
    "other lists, or vectors trained again with another seed, can give another answer.",
    "absence": "No association, where a contrast is not settled. Short lists leave wide intervals; absence of evidence "
    "is not evidence of absence.",
}

Row = dict[Hashable, Any]


def conclusions(
    fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB, rope: float | tuple[float, float] | None = None
) -> Conclusions:
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
    Conclusions
        Printed, paragraphs of at most 100 characters a line. Every number is one of `contrasts`. `about` describes the
        data. `doubts` are of the kinds ``"convergence"``, ``"repeated pairs"``, ``"same vectors"``, ``"edited table"``,
        ``"one word"`` and ``"tied words"``. `verdict` reads the contrasts together; its kind is ``"association"``,
        ``"reverse"``, ``"too small"`` (the difference from other groups' words lies in the rope), ``"same kind"`` (near
        to words of this kind, whatever the group), ``"nothing"`` or ``"no other groups"``. `shown` are first
        ``"contrast"``, with the estimate and whether it is `settled` (its interval leaves out 0), then, for several
        groups with associated and different words, ``"group"``, with its contrast, and whether the nearness of lists to
        all groups `decides` it, then ``"words"``,
        with the lists of words that are `nearer`, `farther`, `not_settled` or `unmeasured`, those that the model
        `pulled` more than one posterior sd from their plain difference, and how many would be named `by_chance`. A
        word is named as nearer or farther only if its interval leaves out 0, is not `borderline`, and its plain
        difference is on the same side; else it is `contradicted`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        As `contrasts`.

    Examples
    --------
    >>> said = bb.conclusions(fit)
    >>> print(str(said).splitlines()[0])
    Study 'weat7'. Embedding 'Google News word2vec, 13,784 words'. 16 protected words, 177 attribute
    >>> said.verdict.kind, [(found.kind, found.numbers["contrast"]) for found in said.shown][0]
    ('nothing', ('contrast', 'associated - different'))
    """
    overall, groups, words = (
        [
            {**row, "settled": is_settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]}
            for row in contrasts(fit, level=level, hdi_prob=hdi_prob, rope=rope).to_dict("records")
        ]
        for level in ("overall", "protected_group", "word")
    )
    statement_of = partial(_contrast_statement, why=_why_apart(fit))
    by_word = [
        _words_statement([row for row in words if row["contrast"] == one["contrast"]], hdi_prob) for one in overall
    ]
    return Conclusions(
        about=_about(fit),
        doubts=(*_convergence_doubts(fit), *data_doubts(fit)),
        verdict=_verdict(overall, words, hdi_prob),
        shown=(*map(statement_of, overall), *_of_groups(fit, groups), *by_word),
        limits=tuple(_limits(fit, without_rope=rope is None, named=any(map(_names_words, by_word)))),
        heading=f"What the posterior shows ({percent_text(hdi_prob)} HPDI, in units of cosine distance)",
    )


def nothing_to_compare(connections: Iterable[str]) -> str:
    """Return why nothing can be concluded from words of these connections; empty if something can.

    >>> nothing_to_compare(["associated", "human"])
    ''
    """
    names = sorted(connections)
    if "associated" in names and len(names) > 1:
        return ""
    return (
        f"The only attribute words are {name_some(names)} ones: conclusions compare associated words with others. Add "
        "associated words, control lists or a second attribute group to the study."
    )


def data_doubts(fit: "xr.DataTree") -> tuple[Statement, ...]:
    """Return what in the data of a fit speaks against its numbers: empty if nothing does."""
    doubts = []
    data, facts = fit["constant_data"].to_dataset(), fit_attribute(fit, "table")
    pairs = np.stack([data["protected_index"].to_numpy(), data["attribute_index"].to_numpy()])
    if repeated := pairs.shape[1] - np.unique(pairs, axis=1).shape[1]:
        text = f"{repeated:,} rows repeat a pair and were kept, so that every interval here is too narrow."
        doubts.append(Statement("repeated pairs", text, {"rows": repeated}))
    if same := facts.get("duplicates", {}).get("same_vectors", 0):
        text = f"{same:,} rows compare words that match the same vectors, so that every interval is too narrow."
        doubts.append(Statement("same vectors", text, {"rows": same}))
    if facts.get("edited"):
        text = "The table was changed after it was built; study, embedding and lost words are those of before."
        doubts.append(Statement("edited table", text))
    if data.sizes["protected_word"] == 1:
        text = "With one protected word, how much words differ (word_sd) rests on the prior alone."
        doubts.append(Statement("one word", text))
    if tied := tied_directions(fit):
        doubts.append(tied_statement(tied, f"these {data.sizes['protected_word']} protected words"))
    return tuple(doubts)


def tied_statement(directions: int, what: str) -> Statement:
    """Say what it means that distances are tied to each other in some directions."""
    text = (
        f"The distances to {what} are tied to each other: {count_text(directions)} of their combinations "
        f"{'is' if directions == 1 else 'are'} the same for every attribute word, as after hard debiasing, for words "
        "with the same vector, or for more words than dimensions. The model takes that for knowledge, so that "
        "intervals of differences can be far too narrow. Compare them with those of the model 'crossed_per_list', and "
        "judge debiasing by the change of the same pairs."
    )
    return Statement("tied words", text, {"directions": directions})


def _convergence_doubts(fit: "xr.DataTree") -> Iterator[Statement]:
    if problems := fit_attribute(fit, "convergence_problems"):
        text = f"DO NOT REPORT THESE NUMBERS YET: the sampler did not converge. {' '.join(problems)}"
        yield Statement("convergence", text, {"problems": problems})


def _about(fit: "xr.DataTree") -> Statement:
    table, sizes = fit_attribute(fit, "table"), fit["constant_data"].sizes
    lost = [entry["word"] for entry in table["lost_words"]] if "lost_words" in table else None
    numbers = {
        "study": table.get("study"),
        "embedding": table.get("embedding", {}).get("name"),
        "protected_words": sizes["protected_word"],
        "attribute_words": sizes["attribute_word"],
        "pairs": int(fit["constant_data"]["pair_count"].sum()),
        **{name: fit_attribute(fit, name) for name in ("sampler", "seed")},
        "model": fit_attribute(fit, "model")["name"],
        "lost_words": lost,
        "left_out_controls": table.get("left_out_controls", []),
    }
    text = f"Study {table['study']!r}. " if "study" in table else ""
    if numbers["embedding"]:
        text += f"Embedding {numbers['embedding']!r}. "
    elif "source" in table:
        text += f"Table {table['source']!r}. "
    text += (
        "{protected_words} protected words, {attribute_words} attribute words, {pairs:,} cosine distances; "
        "model {model!r}, sampler {sampler!r}, seed {seed}."
    ).format_map(numbers)
    if lost is None:
        text += " The table does not say whether words were lost."
    else:
        lists = lost_by_list(table["lost_words"]).items()
        named = "; ".join(f"{len(words)} of {name} ({name_some(words, 5)})" for name, words in lists)
        text += f" Lost words: {named}." if lost else " No word was lost."
    if left_out := numbers["left_out_controls"]:
        text += f" Control words that the study itself uses, and that are no controls here: {name_some(left_out, 10)}."
    return Statement("data", text, numbers)


def _other(row: Row) -> str:
    return contrast_sides(row["contrast"])[1]


def _why_apart(fit: "xr.DataTree") -> str:
    """Return why an estimate can lie apart from the plain difference, for the model and the table of a fit."""
    rows, spec = fitted_rows(fit), fitted_model(fit)
    reasons = []
    if len(rows.distance) < len(rows.protected_words) * len(rows.attribute_words):
        reasons.append("pairs that were lost are estimated from the others")
    if spec.switches["likelihood"] == "student_t":
        reasons.append("distances that lie far off count less")
    if not spec.multivariate:
        reasons.append("words are pooled, and those of all groups weigh the same")
    return " and ".join(reasons) or "means of a list are estimated from all its words together"


def _of_groups(fit: "xr.DataTree", rows: list[Row]) -> list[Statement]:
    """Return the statements of groups, where there are several that have associated and different words."""
    of_stereotype = [row for row in rows if _other(row) == "different" and _measured(row)]
    return group_statements(of_stereotype, fitted_rows(fit)) if len(of_stereotype) > 1 else []


def _contrast_statement(row: Row, why: str) -> Statement:
    other = _OTHERS[_other(row)]
    if row["borderline"]:
        head = f"Whether associated attribute words are nearer than {other} is borderline: another seed may settle it"
    elif row["settled"]:
        head = f"Associated attribute words are {row['direction']} than {other}"
    else:
        head = f"Whether associated attribute words are nearer than {other} is not settled"
    text = (
        f"{head}{';' if row['borderline'] else ':'} difference {signed_text(row['mean'])} (plain "
        f"{signed_text(row['observed'])}), interval {interval_text(row['hdi_low'], row['hdi_high'])}, "
        f"probability {probability_text(row['probability_of_direction'])} that they are {row['direction']}."
    )
    if "probability_in_rope" in row:
        inside = probability_text(row["probability_in_rope"])
        text += f" Probability {inside} that it is too small to matter (in the rope)."
    if _apart(row):
        text += f" The two are more than one posterior sd apart, since in this model {why}."
    return Statement("contrast", text, {str(name): value for name, value in row.items() if name != "protected_word"})


def _verdict(overall: list[Row], words: list[Row], hdi_prob: float) -> Statement:
    """Say what the contrasts mean together: a stereotype needs `associated` nearer than `different`."""
    rows = {_other(row): row for row in overall}
    # With a rope, a difference that is too small to matter, with the probability of the interval, is none.
    small = [name for name, row in rows.items() if row.get("probability_in_rope", 0.0) >= hdi_prob]
    settled = {name: row["direction"] for name, row in rows.items() if row["settled"] and name not in small}
    controls = [name for name in ("human", "neutral") if settled.get(name) == "nearer"]
    against = [
        row["protected_word"]
        for row in words
        if _other(row) == "different" and _measured(row) and _named(row) and row["direction"] == "farther"
    ]
    if "different" not in rows:
        kind = "no other groups"
        text = (
            "Without attribute words of another group, nearness to the associated words cannot be distinguished from "
            "nearness to words of this kind in general."
        )
    elif "different" in small:
        kind = "too small"
        text = (
            "Associated words and those of other groups are about equally near: the difference is, with probability "
            f"{probability_text(rows['different']['probability_in_rope'])}, too small to matter by the rope that was "
            "given."
        )
    elif settled.get("different") == "farther":
        kind = "reverse"
        text = (
            "These protected words lie FARTHER from the attribute words associated with their own group than from "
            "those of other groups: the reverse of the stereotype."
        )
    elif settled.get("different") == "nearer":
        kind = "association"
        also = f", and nearer than {' and '.join(controls)} words" if controls else ""
        but = f" But {len(against)} of the words go the other way: see below." if against else ""
        text = (
            "On the whole these protected words lie nearer to the attribute words associated with their own group than "
            f"to those of other groups{also}. That is an association in these vectors.{but}"
        )
    elif controls:
        kind = "same kind"
        text = (
            f"Associated words are nearer than {' and '.join(controls)} words, but not detectably nearer than the "
            "attribute words of other groups. The protected words are near to words of this kind in general; that the "
            "nearness follows the stereotype is not shown."
        )
    else:
        kind = "nothing"
        text = "No association that follows the stereotype is shown for these word lists as a whole."
    numbers = {"hdi_prob": hdi_prob, "settled": settled, "too_small": small, "words_farther": against}
    return Statement(kind, text, numbers)


def _measured(row: Row) -> bool:
    """Whether the table holds rows for both sides of a contrast."""
    return bool(row["baseline_pairs"] and row["other_pairs"])


def _named(row: Row) -> bool:
    """Whether a word is named: its interval leaves out 0, and its plain difference is on the same side."""
    return bool(row["settled"] and row["mean"] * row["observed"] > 0)


def _apart(row: Row) -> bool:
    """Whether an estimate is more than one posterior sd from the plain difference."""
    return bool(abs(row["mean"] - row["observed"]) > row["sd"])


def _words_statement(every: list[Row], hdi_prob: float) -> Statement:
    rows = [row for row in every if _measured(row)]
    settled = [row for row in rows if _named(row)]
    lists = {
        way: [row["protected_word"] for row in settled if row["direction"] == way] for way in ("nearer", "farther")
    }
    lists["not_settled"] = [row["protected_word"] for row in rows if not _named(row)]
    lists["borderline"] = [row["protected_word"] for row in rows if row["borderline"]]
    lists["contradicted"] = [row["protected_word"] for row in rows if row["settled"] and not _named(row)]
    chance = (1 - hdi_prob) * len(rows)
    lists["unmeasured"] = [row["protected_word"] for row in every if not _measured(row)]
    pulled = {row["protected_word"]: row["observed"] for row in rows if _apart(row)}
    parts = [
        f"{way} for {len(lists[way])} ({name_some(lists[way], 12)})" for way in ("nearer", "farther") if lists[way]
    ]
    parts.append(f"not settled for {len(lists['not_settled']) if settled else 'any'}")
    if unmeasured := lists["unmeasured"]:
        parts.append(
            f"{len(unmeasured)} more have no rows for one of the two and are estimated from the other words alone"
        )
    text = f"Word by word, associated minus {_other(every[0])}, {len(rows)} words: {', '.join(parts)}."
    if settled:
        text += f" Of {len(rows)} words about {chance:.1f} would be named by chance; {len(settled)} are."
    if lists["borderline"]:
        text += f" Borderline, another seed may settle them otherwise: {name_some(lists['borderline'], 6)}."
    if lists["contradicted"]:
        text += f" Not named, since their plain differences have the other sign: {name_some(lists['contradicted'], 6)}."
    if pulled:
        named = name_some([f"{word} ({signed_text(observed)})" for word, observed in pulled.items()], 6)
        text += (
            f" More than one posterior sd from their plain differences, in brackets: {named}. The model pulls single "
            "words toward the others of their group, as far as the attribute words show these to agree."
        )
    numbers = {"contrast": every[0]["contrast"], **lists, "pulled": pulled, "by_chance": chance}
    return Statement("words", text, numbers)


def _names_words(said: Statement) -> bool:
    return bool(said.numbers["nearer"] or said.numbers["farther"])


def _limits(fit: "xr.DataTree", *, without_rope: bool, named: bool) -> Iterator[Statement]:
    if caution := fit_attribute(fit, "model").get("caution", ""):
        yield Statement("model", caution)
    groups = np.asarray(fit["constant_data"]["protected_group"], dtype=str)
    applies = {"one group": len(set(groups)) == 1, "relevance": without_rope, "many words": named}
    for kind, text in _LIMITS.items():
        if applies.get(kind, True):
            yield Statement(kind, text.format(words=len(groups)))

"""Conclusions from a posterior: what it does and does not show, as statements with their numbers."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import (
    counted,
    estimate_text,
    interval_text,
    percent_text,
    probability_text,
    shown_name,
    signed_text,
)
from bayesbias.base.results import MORE_DRAWS
from bayesbias.base.statements import Conclusions, Statement, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.decisions import decisions
from bayesbias.estimates.intervals import contrast_sides, is_settled, reading
from bayesbias.models.data import ModelData
from bayesbias.models.fit_files import added_parameters, sampler_text
from bayesbias.models.fits import fit_attribute, fitted_model, fitted_rows, measure_of_fit
from bayesbias.reports.posterior.context_statements import context_statements
from bayesbias.reports.posterior.contrasts import at_level, contrasts, reason_apart, reason_pulled
from bayesbias.reports.posterior.doubts import all_doubts, word_lists
from bayesbias.reports.posterior.effective_words import dependence_statements, list_records
from bayesbias.reports.posterior.factor_effects import FactorEffects, effects_or_reason, statements_or_reason
from bayesbias.reports.posterior.group_statements import (
    group_statements,
    left_out_statements,
    lists_of_connection,
    nearness_decides,
    nearness_matters,
    nearness_turns,
)
from bayesbias.reports.posterior.questions import attribute_phrases, named_phrases, question_statements
from bayesbias.reports.posterior.summary import summary
from bayesbias.tables.measures import COSINE_DISTANCE, SURPRISAL, Measure, measure_of
from bayesbias.tables.schema import associations_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.models.spec import ModelSpec


# Shares of words that the default model names with 89 % intervals where nothing is associated, as measured in
# validation/dependent_words: for attribute words drawn independently of each other, and for clusters of up to four
# neighbours, synonyms or forms of a word (least and most of the cells).
NAMED_BY_CHANCE, NAMED_IN_CLUSTERS = 0.07, (0.01, 0.13)


Row = dict[Hashable, Any]
_LIMITS = {
    "one group": "That the meaning of these lists explains the difference. With one protected group, associated and "
    "different words are just two lists. Any two lists differ somewhat in their {numbers} {to} the same words.",
    "relevance": "Whether a difference matters. An interval that excludes 0 shows that a difference is detectable, not "
    "that it is large. To judge its size, give a region of practical equivalence (rope).",
    "many words": "That each word named above differs. {words} are judged at once, and some intervals may exclude 0 by "
    "chance.",
    "bias": "Whether an association is unfair or harms anyone. A difference of {numbers} is an association in "
    "{made_by} alone, and no proof of bias.",
    "generality": "What holds in other {elsewhere}. The intervals over all words are about protected "
    "words like these, if these are a fair sample. The intervals of groups and single words are about these words "
    "alone. All intervals are about attribute words like these, in {made_by}.{again}",
    "absence": "The absence of an association where a contrast is not settled. Short lists leave wide intervals. "
    "Absence of evidence is not evidence of absence.",
}


# Column of a measure -> what its intervals are not about, and why another answer is possible.
_ELSEWHERE = {
    COSINE_DISTANCE.column: (
        "texts and other embeddings",
        " Vectors that are trained with another seed can give another answer.",
    ),
    SURPRISAL.column: (
        "sentences and other language models",
        " A model that is trained with another seed can give another answer.",
    ),
}


def is_measured(row: Row) -> bool:
    """Return whether the table has rows for both sides of a contrast."""
    return bool(row["baseline_pairs"] and row["other_pairs"])


def is_named(row: Row) -> bool:
    """Return whether a word is named: its contrast is settled, and its observed difference has the same sign."""
    return bool(row["settled"] and row["mean"] * row["observed"] > 0)


def is_apart(row: Row) -> bool:
    """Return whether an estimate is more than one posterior sd from the observed difference."""
    return bool(abs(row["mean"] - row["observed"]) > row["sd"])


def observed_counts(words: list[Row]) -> tuple[int, int]:
    """Return how many words have an observed difference of associated and different words below and above 0."""
    rows = [row for row in words if contrast_sides(row["contrast"])[1] == "different" and is_measured(row)]
    plain = np.array([row["observed"] for row in rows])
    return int((plain < 0).sum()), int((plain > 0).sum())


def but_words(against: Sequence[str], plain: tuple[int, int], group_sizes: Sequence[int], *, nearer: bool) -> str:
    """Return what single words have against a verdict (`nearer` or not), for its end; empty if they have nothing.

    `against` are the words that are named on the other side, `plain` the numbers of words with an observed difference
    below and above 0. If most of these go against the verdict, a few words decide it, as in a small group that weighs
    as much as a large one; both are then stated.

    >>> but_words(["cat", "dog"], (30, 4), (17, 17), nearer=True)
    ' But 2 of the words go the other way: see below.'
    >>> but_words([], (3, 40), (3, 40), nearer=True)
    ' But 40 of the 43 words have an observed difference above 0: each group has the same weight, whatever its size.'
    """
    opposite, count = plain[1] if nearer else plain[0], sum(plain)
    if 2 * opposite <= count:
        go = "goes" if len(against) == 1 else "go"
        return f" But {len(against)} of the words {go} the other way: see below." if against else ""
    have = "has" if opposite == 1 else "have"
    text = f" But {opposite} of the {count} words {have} an observed difference {'above' if nearer else 'below'} 0"
    if against:
        text += f" ({len(against)} settled, see below)"
    weights = ": each group has the same weight, whatever its size" if len(set(group_sizes)) > 1 else ""
    return f"{text}{weights}."


def words_statement(
    every: list[Row],
    hdi_prob: float,
    spec: "ModelSpec",
    measure: Measure = COSINE_DISTANCE,
    *,
    has_covariates: bool = False,
) -> Statement:
    """Return which words a contrast names, and which it does not; how many by chance is in its numbers."""
    rows = [row for row in every if is_measured(row)]
    other = contrast_sides(every[0]["contrast"])[1]
    settled = [row for row in rows if is_named(row)]
    lists = {
        way: [row["protected_word"] for row in settled if row["direction"] == way] for way in ("nearer", "farther")
    }
    lists["not_settled"] = [row["protected_word"] for row in rows if not is_named(row)]
    lists["borderline"] = [row["protected_word"] for row in rows if row["borderline"]]
    lists["contradicted"] = [row["protected_word"] for row in rows if row["settled"] and not is_named(row)]
    lists["unmeasured"] = [row["protected_word"] for row in every if not is_measured(row)]
    pulled = {row["protected_word"]: row["observed"] for row in rows if is_apart(row)}
    parts = [
        f"{len(lists[way])} {measure.way(way)} ({name_some(lists[way], 12)})"
        for way in ("nearer", "farther")
        if lists[way]
    ]
    parts.append(f"{len(lists['not_settled']) if settled else 'none'} {'not ' if settled else ''}settled")
    text = f"Word by word, associated minus {other}, {counted(len(rows), 'word')}: {', '.join(parts)}."
    if unmeasured := len(lists["unmeasured"]):
        have = "word has" if unmeasured == 1 else "words have"
        text += f" {unmeasured} more {have} pairs on one side only; estimates of {'it' if unmeasured == 1 else 'them'} "
        text += "come from the other words and are not judged here."
    chance, _ = _by_chance(len(rows), hdi_prob, spec)
    by_nearness = [row["protected_word"] for row in rows if nearness_decides(row)]
    if by_nearness:
        text += (
            f" Some lists are {measure.nearer} {measure.to} every group than others. Without that, the result "
            f"changes for {name_some(by_nearness, 12)}."
        )
    if lists["borderline"]:
        text += f" Borderline, so that {MORE_DRAWS}: {name_some(lists['borderline'], 6)}."
    if lists["contradicted"]:
        contradicted = name_some(lists["contradicted"], 6)
        text += f" Not named, because the observed difference has the opposite sign: {contradicted}."
    if pulled:
        named = name_some([f"{word} ({signed_text(observed)})" for word, observed in pulled.items()], 6)
        text += (
            f" The estimate is more than one posterior sd from the observed difference, which is in brackets: {named}."
        )
        text += f" {reason_pulled(spec, has_covariates=has_covariates)}"
    numbers = {"contrast": every[0]["contrast"], **lists, "by_nearness": by_nearness, "pulled": pulled}
    numbers |= {"by_chance": chance}
    return Statement("words", text, numbers)


def chance_statement(every: list[Row], hdi_prob: float, spec: "ModelSpec") -> Statement:
    """Return how many of the words that are named are expected to be wrong, and how many would be named by chance."""
    rows = [row for row in every if is_measured(row)]
    chance, text = _by_chance(len(rows), hdi_prob, spec)
    together = decisions([row["probability_of_direction"] for row in rows], list(map(is_named, rows)), hdi_prob)
    numbers = {"contrast": every[0]["contrast"], "by_chance": chance, **together.numbers}
    numbers["wrong"] = {
        row["protected_word"]: wrong for row, wrong in zip(rows, together.wrong.tolist(), strict=True) if is_named(row)
    }
    # One word says nothing about how common effects are.
    if len(rows) > 1:
        text = f"{together.text('word')} {text}"
    return Statement("by chance", text, numbers)


def _by_chance(count: int, hdi_prob: float, spec: "ModelSpec") -> tuple[float, str]:
    """Return how many of so many words are named on average where nothing is associated, and a sentence on it.

    It was measured for the default model and its interval; for others there is only the nominal share.
    """
    at_once = "Often several are wrong at once, because words share their attribute words."
    if not spec.multivariate or hdi_prob != HDI_PROB:
        nominal = (1 - hdi_prob) * count
        text = (
            f"{at_once} Without any association, {nominal:.1f} of {count} words have a settled difference on average "
            "if attribute words are independent, and far more with synonyms."
        )
        return nominal, text
    low, high = NAMED_IN_CLUSTERS
    text = (
        f"{at_once} In simulations without any association, {NAMED_BY_CHANCE:.0%} of words "
        f"({NAMED_BY_CHANCE * count:.1f} of {count}) had a settled difference; {low:.0%} to {high:.0%} "
        f"({low * count:.1f} to {high * count:.1f}) if the lists held synonyms or forms of a word."
    )
    return NAMED_BY_CHANCE * count, text


def conclusions(
    fit: "xr.DataTree", *, hdi_prob: float | None = None, rope: float | tuple[float, float] | None = None
) -> Conclusions:
    """Return what the posterior does and does not show, in plain English.

    Parameters
    ----------
    fit
        Fit returned by `fit`, of a table with associated attribute words.
    hdi_prob
        Probability inside the intervals. None: that of the fit.
    rope
        Region of practical equivalence, as for `contrasts`.

    Returns
    -------
    Conclusions
        Statements with their numbers, all of which come from `contrasts`; `print` shows them as paragraphs:

        - `about`: describes the data.
        - `doubts`: of the kinds ``"convergence"``, ``"repeated pairs"``, ``"same vectors"``, ``"same distances"``,
          ``"edited table"``, ``"many lost words"`` (more than a fifth of a list), ``"short list"``, ``"narrow
          distances"``, ``"small group"``, ``"one word a group"``, ``"one word"``, ``"extreme words"`` and ``"tied
          words"``.
        - `verdict`: interprets the contrasts together, and says so if most words' observed differences
          (`observed_nearer`, `observed_farther`) go against it. Its kind is ``"association"``, ``"reverse"``, ``"too
          small"`` (the difference from other groups' words lies in the rope), ``"list nearness"`` (some lists are
          nearer to every group than others, which makes, hides or turns the difference), ``"same kind"`` (near to words
          of this kind, whatever the group), ``"nothing"`` or ``"no other groups"``.
        - `shown`: of the kinds ``"contrast"`` (the estimate, and whether it is `settled`),
          ``"group without contrast"`` (a group that is in no contrast, and what it lacks) and ``"question"`` (of the
          study); for several groups with associated and different words also ``"group"`` (the contrast of a group, and
          whether the nearness of lists to all groups `decides` it); and ``"words"``, with these names:

          - `nearer`, `farther`, `not_settled`, `unmeasured`: a word is named as nearer or farther only if its interval
            excludes 0, it is not `borderline`, and its observed difference has the same sign;
          - `contradicted`: words whose signs differ; `pulled`: those that the model moved more than one posterior sd
            from the observed one; `by_nearness`: those for which the nearness of a list to every group decides;
          - `by_chance`: the number that would be named with independent attribute words. If words are named, one
            statement of the kind ``"by chance"`` says so, and how many of them are expected to have no difference or
            the other sign: `expected_wrong`, its interval `low` to `high`, and `wrong`, the probability for each.
        - `limits`: what the numbers do not show, among it ``"dependent words"`` (lists that are worth clearly less than
          their words, `effective_words`) and ``"topic"``.

    Raises
    ------
    FitError, ReportError, ArgumentError
        As for `contrasts`.

    Examples
    --------
    >>> report = bb.conclusions(fit)
    >>> print(str(report).splitlines()[0])
    Study 'weat7'. Embedding 'Google News word2vec, 13,784 words'. 16 protected words, 177 attribute
    >>> report.verdict.kind, [(statement.kind, statement.numbers["contrast"]) for statement in report.shown][0]
    ('nothing', ('contrast', 'associated - different'))
    """
    frame = contrasts(fit, level="all", hdi_prob=hdi_prob, rope=rope)
    return conclusions_of(fit, frame, effects_or_reason(fit, frame.settings["hdi_prob"], rope))


def conclusions_of(
    fit: "xr.DataTree", frame: "pd.DataFrame", effects: "FactorEffects | ReportError | None"
) -> Conclusions:
    """Return the conclusions from `contrasts` of a fit at all levels, and the effects of its study's factors."""
    hdi_prob, rope = frame.settings["hdi_prob"], frame.settings["rope"]
    overall, groups, words = (
        [
            {
                **row,
                "settled": _has_observed(row) and is_settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"],
            }
            for row in at_level(frame, level).to_dict("records")
        ]
        for level in ("overall", "protected_group", "word")
    )
    spec, measure, rated = fitted_model(fit), measure_of_fit(fit), "covariate" in fit["constant_data"].coords
    word_statements = [
        words_statement(of_contrast, hdi_prob, spec, measure, has_covariates=rated)
        for contrast in overall
        if (of_contrast := [row for row in words if row["contrast"] == contrast["contrast"]])
    ]
    of_first = [row for row in words if row["contrast"] == overall[0]["contrast"]]
    names_words = any(statement.numbers["nearer"] or statement.numbers["farther"] for statement in word_statements)
    why_apart, phrases = reason_apart(fitted_rows(fit), spec), named_phrases(fitted_rows(fit))
    return Conclusions(
        about=_about(fit),
        doubts=all_doubts(fit),
        verdict=_verdict(overall, words, hdi_prob, measure, group_sizes=_group_sizes(fit)),
        shown=(
            *(_contrast_statement(row, why_apart, phrases, measure) for row in overall),
            *_these_words(fit, overall[0], measure, hdi_prob=hdi_prob, rope=rope),
            *left_out_statements(fit),
            *question_statements(fit, hdi_prob, rope),
            *statements_or_reason(effects),
            *_group_statements(fit, groups),
            *word_statements,
            *([chance_statement(of_first, hdi_prob, spec)] if names_words else []),
            *_added_statements(fit, hdi_prob),
            *(context_statements(fit, overall[0]) if np.isfinite(overall[0].get("context_sd", np.nan)) else ()),
        ),
        limits=tuple(_limits(fit, without_rope=rope is None, names_words=names_words)),
        heading=f"What the posterior shows ({percent_text(hdi_prob)} HPDI, {measure.in_unit})",
    )


def nothing_to_compare(connections: Iterable[str]) -> str:
    """Return the reason why words of these connections allow no conclusions; empty if they allow some.

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


def _about(fit: "xr.DataTree") -> Statement:
    table, sizes = fit_attribute(fit, "table"), fit["constant_data"].sizes
    lost = [entry["word"] for entry in table["lost_words"]] if "lost_words" in table else None
    numbers = {
        "study": table.get("study"),
        "embedding": table.get("embedding", {}).get("name"),
        "protected_words": sizes["protected_word"],
        "attribute_words": sizes["attribute_word"],
        "pairs": int(fit["constant_data"]["pair_count"].sum()),
        **{name: fit_attribute(fit, name) for name in ("sampler", "random_seed")},
        "model": fit_attribute(fit, "model")["name"],
        "lost_words": lost,
        "left_out_controls": table.get("left_out_controls", []),
    }
    text = f"Study {shown_name(table['study'])!r}. " if "study" in table else ""
    if numbers["embedding"]:
        text += f"{measure_of(table).source.capitalize()} {numbers['embedding']!r}. "
    elif "source" in table:
        text += f"Table {table['source']!r}. "
    text += (
        f"{counted(numbers['protected_words'], 'protected word')}, "
        f"{counted(numbers['attribute_words'], 'attribute word')}, "
        f"{counted(numbers['pairs'], measure_of(table).name)}; model {shown_name(numbers['model'])!r}, "
        f"{sampler_text(fit)}."
    )
    if associated := associations_text(_associated_lists(fitted_rows(fit))):
        text += f" Associated: {associated}."
    if lost is None:
        text += " The table does not say whether words were lost."
    else:
        named = "; ".join(str(word_list) for word_list in word_lists(fit) if word_list.lost)
        text += f" Lost words: {named}." if lost else " No word was lost."
    if means := table.get("embedding", {}).get("means_of_words"):
        text += f" Entries of several words, which have the mean vector of their words: {means}."
    if left_out := numbers["left_out_controls"]:
        text += f" Control words left out because the study itself uses them: {name_some(left_out, 10)}."
    return Statement("data", text, numbers)


def _associated_lists(rows: ModelData) -> dict[str, list[str]]:
    groups = dict.fromkeys(rows.protected_groups.tolist()) if "associated" in rows.connections else ()
    return {group: lists_of_connection(rows, group, "associated") for group in groups}


def _group_sizes(fit: "xr.DataTree") -> list[int]:
    """Return the number of words of each protected group that is compared."""
    rows = fitted_rows(fit)
    return [int(size) for size in np.unique(rows.protected_groups[rows.compared], return_counts=True)[1]]


def _other(row: Row) -> str:
    return contrast_sides(row["contrast"])[1]


def _group_statements(fit: "xr.DataTree", rows: list[Row]) -> list[Statement]:
    """Return a statement for each group if several have associated and different words."""
    stereotype_rows = [row for row in rows if _other(row) == "different" and is_measured(row)]
    return group_statements(stereotype_rows, fitted_rows(fit)) if len(stereotype_rows) > 1 else []


def _has_observed(row: Row) -> bool:
    """Return whether some protected word has distances on both sides of a contrast."""
    return bool(np.isfinite(row["observed"]))


def _contrast_statement(
    row: Row, why_apart: str, phrases: Mapping[str, str], measure: Measure = COSINE_DISTANCE
) -> Statement:
    associated, other = phrases["associated"], phrases[_other(row)]
    numbers = {str(name): value for name, value in row.items() if name != "protected_word"}
    if not _has_observed(row):
        text = (
            f"No protected word has both {associated} and {other}, so these {measure.numbers} show differences "
            "between groups only. Give a group lists of both kinds."
        )
        return Statement("contrast", text, numbers)
    direction, factor = measure.way(row["direction"]), measure.factor(row["mean"], row["hdi_low"], row["hdi_high"])
    if row["borderline"]:
        head = f"It is borderline whether {associated} are {measure.nearer} than {other}; {MORE_DRAWS}"
    elif row["settled"]:
        head = f"{associated[0].upper()}{associated[1:]} are {direction} than {other}"
    else:
        head = f"It is not settled whether {associated} are {measure.nearer} than {other}"
    text = (
        f"{head}. The difference is {signed_text(row['mean'])} (observed {signed_text(row['observed'])}), interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}{f' ({factor})' if factor else ''}; the probability that "
        f"they are {direction} is {probability_text(row['probability_of_direction'])}."
    )
    if "probability_in_rope" in row:
        inside = probability_text(row["probability_in_rope"])
        text += f" The probability that the difference is too small to matter (inside the rope) is {inside}."
    if nearness_matters(row) or nearness_turns(row):
        text += (
            f" Of this, {signed_text(row['list_nearness'])} "
            f"({interval_text(row['nearness_low'], row['nearness_high'])}) arises because some lists are "
            f"{measure.nearer} {measure.to} every group. Without that, the difference is "
            f"{signed_text(row['net_mean'])}, interval {interval_text(row['net_low'], row['net_high'])}."
        )
    if is_apart(row):
        text += f" Estimate and observed value are more than one posterior sd apart because in this model {why_apart}."
    return Statement("contrast", text, numbers)


def _these_words(
    fit: "xr.DataTree", row: Row, measure: Measure, *, hdi_prob: float, rope: tuple[float, float] | None
) -> Iterator[Statement]:
    """Yield a contrast for exactly these protected words, where its reading differs from that for words like these."""
    if not _has_observed(row):
        return
    frame = contrasts(fit, scope="these_words", hdi_prob=hdi_prob, rope=rope)
    these = rows_of(frame[frame["contrast"] == row["contrast"]])[0]
    if reading(these) == reading(row):
        return
    text = (
        f"For exactly these protected words, the difference {row['contrast']} is {signed_text(these['mean'])}, "
        f"interval {interval_text(these['hdi_low'], these['hdi_high'])}: {measure.way(reading(these))}. The interval "
        "for words like these also counts which protected words were chosen."
    )
    yield Statement("these words", text, these)


def _verdict(
    overall: list[Row],
    words: list[Row],
    hdi_prob: float,
    measure: Measure = COSINE_DISTANCE,
    *,
    group_sizes: Iterable[int],
) -> Statement:
    """Return what the contrasts mean together: a stereotype needs `associated` nearer than `different`."""
    sizes = tuple(group_sizes)
    phrases, plain = attribute_phrases(len(sizes), measure), observed_counts(words)
    rows = {_other(row): row for row in overall}
    # With a rope, a difference counts as none if it lies in the rope with at least the probability of the interval.
    small = [name for name, row in rows.items() if row.get("probability_in_rope", 0.0) >= max(hdi_prob, HDI_PROB)]
    settled = {name: row["direction"] for name, row in rows.items() if row["settled"] and name not in small}
    controls = [name for name in ("human", "neutral") if settled.get(name) == "nearer"]
    against = [
        row["protected_word"]
        for row in words
        if _other(row) == "different" and is_measured(row) and is_named(row) and row["direction"] == "farther"
    ]
    if "different" not in rows or not _has_observed(rows["different"]):
        kind = "no other groups"
        text = (
            "Without attribute words of another group or list, an association with the associated words cannot be "
            "distinguished from one with words of this kind in general."
        )
    elif "different" in small:
        kind = "too small"
        text = (
            f"Associated words and {phrases.different} differ little: with probability "
            f"{probability_text(rows['different']['probability_in_rope'])}, the difference is too small to matter (in "
            "the rope)."
        )
    elif nearness_matters(rows["different"]):
        kind = "list nearness"
        net = rows["different"]
        text = (
            f"Some lists are {measure.nearer} {measure.to} every group than others, and lists differ in how many "
            "groups they are associated with. Without that, "
        )
        if is_settled(net["net_low"], net["net_high"]):
            way = measure.nearer if net["net_mean"] < 0 else measure.farther
            text += f"associated words are {way} than {phrases.different}."
        else:
            text += "no association of groups with their own words is settled."
    elif settled.get("different") == "farther":
        kind = "reverse"
        compared = measure.comparison("these protected words", phrases.associated, phrases.different, is_nearer=False)
        text = (
            f"{compared[0].upper()}{compared[1:]}: the reverse of {phrases.reverse}."
            f"{but_words([], plain, sizes, nearer=False)}"
        )
    elif settled.get("different") == "nearer":
        kind = "association"
        also = ""
        if controls and measure.to == "to":
            also = f"; they are also nearer to the former than to {' and '.join(controls)} words"
        elif controls:
            also = f", and {measure.nearer} than {' and '.join(controls)} words"
        compared = measure.comparison("these protected words", phrases.associated, phrases.different)
        but = but_words(against, plain, sizes, nearer=True)
        text = f"On the whole, {compared}{also}. That is an association in {measure.made_by}.{but}"
    elif controls:
        kind = "same kind"
        text = (
            f"Associated words are {measure.nearer} than {' and '.join(controls)} words, but not detectably "
            f"{measure.nearer} than {phrases.different}. Perhaps attribute words of this topic are {measure.nearer} in "
            f"general. It is not settled {phrases.not_specific}."
        )
    else:
        kind = "nothing"
        text = phrases.nothing
    numbers = {"hdi_prob": hdi_prob, "settled": settled, "too_small": small, "words_farther": against}
    numbers |= {"observed_nearer": plain[0], "observed_farther": plain[1]}
    return Statement(kind, text, numbers)


def _added_statements(fit: "xr.DataTree", hdi_prob: float) -> Iterator[Statement]:
    """Yield the estimates of the parameters that the user added to the model, but those of single words."""
    if not (added := added_parameters(fit)):
        return
    frame = summary(fit, level="overall", hdi_prob=hdi_prob)
    rows = rows_of(frame[frame["parameter"].isin(added)])
    labels = [name for name in map(str, frame) if name in fit["posterior"].dims]
    texts = [
        f"{' '.join([row['parameter'], *(f'[{row[label]}]' for label in labels if row[label])])} {estimate_text(row)}"
        for row in rows
    ]
    if texts:
        yield Statement("added", f"Added by hand: {name_some(texts, 6)}.", {"parameters": rows})


def _limits(fit: "xr.DataTree", *, without_rope: bool, names_words: bool) -> Iterator[Statement]:
    if caution := fit_attribute(fit, "model").get("caution", ""):
        yield Statement("model", caution)
    applies = {"one group": len(_group_sizes(fit)) == 1, "relevance": without_rope, "many words": names_words}
    words, measure = counted(int(fitted_rows(fit).compared.sum()), "word"), measure_of_fit(fit)
    elsewhere, again = _ELSEWHERE.get(measure.column, ("measurements", ""))
    words_of_measure = {"numbers": measure.numbers, "to": measure.to, "made_by": measure.made_by}
    words_of_measure |= {"elsewhere": elsewhere, "again": again}
    for kind, text in _LIMITS.items():
        if applies.get(kind, True):
            yield Statement(kind, text.format(words=words, **words_of_measure))
    records = list_records(fitted_rows(fit), fit_attribute(fit, "table"))
    yield from dependence_statements(records, measure, multivariate=fitted_model(fit).multivariate)

"""Sentences on changes, with their numbers: one vocabulary for embeddings, periods and methods."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.number_text import (
    counted,
    digits_text,
    distance_text,
    interval_text,
    listed,
    p_text,
    percent_text,
    probability_text,
    quoted_name,
    shown_name,
    signed_digits_text,
    signed_text,
)
from bayesbias.base.results import MORE_DRAWS, NO_PROOF, VERDICTS
from bayesbias.base.statements import Statement, rows_of
from bayesbias.changes.readings import READINGS, claims_sentence, reading_text
from bayesbias.changes.slope_statements import other_scale_doubts, slope_doubts
from bayesbias.errors import name_some, setting
from bayesbias.estimates.intervals import is_settled
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.reports.posterior.doubts import tied_statement
from bayesbias.reports.posterior.group_statements import without_contrast
from bayesbias.reports.posterior.questions import attribute_phrases
from bayesbias.tables.measures import Measure, measure_of

if TYPE_CHECKING:
    import pandas as pd


_EXPLAINED = {
    "adding up": "The change need not be exactly the difference of the two contrasts, in particular for single words. "
    "The contrast in each condition comes from a fit of its own table, which pulls the mean of a word toward those of "
    "other words. The change comes from paired distances, in which everything that the conditions share cancels. "
    "Report the change.",
    "sizes": "Smaller means nearer to 0, larger means farther from 0.",
    "settled": f"A contrast or a change is settled if {VERDICTS['settled']}. A change is borderline if "
    f"{VERDICTS['borderline']}; {MORE_DRAWS}.",
    "not settled": "A contrast that is not settled need not be 0.",
}
_SIZE = (
    "Whether a change matters. An interval that excludes 0 shows that a change is detectable, not that it is large. To "
    "judge its size, give a region of practical equivalence (rope)."
)
_UNRATED = "Words without a number in the covariates were left out of all {noun}s:"
_LIMITS = {
    "causes": "Why distances changed. Other texts, spellings or amounts of text can change them as well as other "
    "meanings. With one training of each condition, changes include the chance of single trainings: train several "
    "seeds.",
    "removed": "The absence of an association where no contrast is settled. These are distances of chosen word pairs. "
    "What debiasing removed from them can remain in other pairs (Gonen and Goldberg 2019).",
    "absence": "The absence of a change where none is settled. Absence of evidence is not evidence of absence.",
}
_CONTEXTS = (
    "What other sentences or templates would give. The intervals of changes contain the choice of words alone. Those "
    "of a fit have both: see context_low and context_high of its contrasts."
)

SLOPE = "line, first to last period"
"""The `parameter` of the change along the line."""

_PAIR = ["protected_word", "attribute_word"]
_FEWEST_LEFT = 6  # words of all lists, by which debiasing can be judged
_TIES = 0.1  # share of ties of a word that was not equalized
_CONTROLS = ("human", "neutral")
CONTROLS_DIFFER = "controls differ"
"""Kind of the doubt about control words that changed."""


def condition_word(facts: Mapping[str, Any]) -> str:
    """Return what a condition is called, given `Changes.facts`: a period, if conditions have times.

    >>> condition_word({"times": None}), condition_word({"times": [1910, 1990]})
    ('condition', 'period')
    """
    return "condition" if facts.get("times") is None else "period"


def sizes_of_conditions(sizes: Mapping[str, str]) -> str:
    """Return the sizes of lists under each condition in a text, once for conditions that have the same.

    >>> sizes_of_conditions({"1910": "cats 3 words", "1950": "cats 2 words", "1990": "cats 3 words"})
    'In 1910 and 1990: cats 3 words. In 1950: cats 2 words'
    """
    names: dict[str, list[str]] = {}
    for name, text in sizes.items():
        names.setdefault(text, []).append(name)
    if len(names) == 1:
        return next(iter(names))
    return ". ".join(f"In {listed(of_text, 3)}: {text}" for text, of_text in names.items())


def change_answer(contrast: str, first: str, readings: Mapping[str, str], words: str = "") -> str:
    """Return how a contrast differs under each other condition, in a sentence of at most `MOST_WORDS` words.

    `words` are the groups or the word whose contrast it is; empty if they are not known.

    >>> change_answer("associated - different", "original", {"hard": "smaller"}, "men and women")
    'Compared with original, the contrast associated - different for men and women is smaller in hard.'
    """
    whose = f" for {words}" if words else ""
    return claims_sentence(f"Compared with {first}, the contrast {contrast}{whose}", readings)


def change_estimate(row: Mapping[Any, Any], contrasts: "pd.DataFrame", facts: Mapping[str, Any]) -> str:
    """Return a change of all words with its interval, and the contrast under both conditions."""
    measure = measure_of(facts)
    means = contrasts[
        (contrasts["contrast"] == row["contrast"])
        & (contrasts["protected_group"] == "")
        & (contrasts["protected_word"] == "")
    ].set_index("condition")["mean"]
    sides = [f"{signed_text(means[name])} in {name}" for name in (row["first"], row["second"]) if name in means]
    prob = percent_text(facts["hdi_prob"])
    return (
        f"Change in {row['second']}: {signed_text(row['mean'])} {measure.in_difference}, {prob} interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}"
        f"{f' (the contrast is {" and ".join(sides)})' if sides else ''}.{in_rope_text(row)}"
    )


def change_statement(row: Mapping[Any, Any], contrasts: "pd.DataFrame") -> Statement:
    """Return how a contrast of all words or of a group changed, with its value under both conditions.

    `row` is one of `Changes.changes`, `contrasts` are those of `Changes.contrasts`.
    """
    of_row = contrasts[
        (contrasts["contrast"] == row["contrast"])
        & (contrasts["protected_group"] == row["protected_group"])
        & (contrasts["protected_word"] == row["protected_word"])
    ]
    whose = f" of {quoted_name(row['protected_group'])}" if row["protected_group"] else ""
    text = (
        f"The contrast {row['contrast']}{whose}, from {row['first']} to {row['second']}: "
        f"{reading_text(row['reading'], row['second'])}."
    )
    if row["reading"] != "no change":
        side = "above" if row["direction"] == "farther" else "below"
        text += (
            f" The change is {signed_text(row['mean'])}, interval {interval_text(row['hdi_low'], row['hdi_high'])}; "
            f"the probability that it is {side} 0 is {probability_text(row['probability_of_direction'])}."
            f"{in_rope_text(row)}"
        )
    sides = [
        f"{signed_text(contrast['mean'])} ({interval_text(contrast['hdi_low'], contrast['hdi_high'])}"
        f"{', borderline' if contrast['borderline'] else ''}) in {contrast['condition']}"
        for name in (row["first"], row["second"])
        for contrast in rows_of(of_row[of_row["condition"] == name])
    ]
    return Statement("change", f"{text} The contrast is {' and '.join(sides)}." if sides else text, dict(row))


def distance_statement(row: Mapping[Any, Any], groups: int, measure: Measure) -> Statement:
    """Return how the mean distance to one kind of attribute words changed."""
    way = measure.way(row["direction"])
    words = attribute_phrases(groups).words[row["connection"]].capitalize()
    where = f"from {row['first']} to {row['second']}"
    if row["direction"] == "equal":
        return Statement("distance", f"{words}, {where}: no {measure.short} changed.", dict(row))
    moved = (
        f"borderline whether they are {measure.nearer} or {measure.farther} ({MORE_DRAWS})"
        if row["borderline"]
        else f"{way} in {row['second']} on average"
        if is_settled(row["hdi_low"], row["hdi_high"])
        else f"not settled whether they are {measure.nearer} or {measure.farther}"
    )
    text = (
        f"{words}, {where}: {moved}. The change is {signed_text(row['mean'])}, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}; the probability that they are {way} is "
        f"{probability_text(row['probability_of_direction'])}.{in_rope_text(row)}"
    )
    return Statement("distance", text, dict(row))


def in_rope_text(row: Mapping[Any, Any], what: str = "change") -> str:
    """Return the probability that a change is too small to matter, as a further sentence; empty without rope."""
    if "probability_in_rope" not in row:
        return ""
    inside = probability_text(row["probability_in_rope"])
    return f" The probability that the {what} is too small to matter (inside the rope) is {inside}."


def word_statements(changes: "pd.DataFrame") -> Iterator[Statement]:
    """Yield the words by the reading of their contrast, for each contrast and pair of conditions."""
    words = changes[changes["protected_word"] != ""]
    ends = changes[(changes["protected_word"] == "") & (changes["protected_group"] == "")]
    shown_pairs = list(dict.fromkeys(zip(ends["first"], ends["second"], strict=True)))
    for (contrast, first, second), rows in words.groupby(["contrast", "first", "second"], sort=False):
        if (first, second) not in shown_pairs:
            continue
        by_reading: dict[str, list[str]] = {
            reading: rows.loc[rows["reading"] == reading, "protected_word"].tolist() for reading in READINGS
        }
        by_reading = {reading: names for reading, names in by_reading.items() if names}
        parts = []
        for reading, names in by_reading.items():
            count = "any" if reading == "not settled" and len(names) == len(rows) else str(len(names))
            listed = "" if reading in ("not settled", "no change") else f" ({name_some(names, 12)})"
            parts.append(f"{reading_text(reading, str(second))} for {count}{listed}")
        text = f"The contrast {contrast} of single words, from {first} to {second}: {'; '.join(parts)}."
        yield Statement("words", text, {"contrast": contrast, "first": first, "second": second, **by_reading})


def explanations(measure: Measure) -> tuple[Statement, ...]:
    """Return how the numbers and terms are to be read."""
    return tuple(Statement(name, measure.phrase(text)) for name, text in _EXPLAINED.items())


def size_limits(rope: tuple[float, float] | None) -> list[Statement]:
    """Return that intervals do not show whether a change matters, without a region of practical equivalence."""
    return [Statement("size", _SIZE)] if rope is None else []


def change_limits(facts: Mapping[str, Any], pairs: int) -> tuple[Statement, ...]:
    """Return what changes do not show; `pairs` is the number of pairs of conditions."""
    phrase = measure_of(facts).phrase
    statements = [*size_limits(facts["rope"]), *(Statement(name, phrase(text)) for name, text in _LIMITS.items())]
    if facts["context_errors"]:
        statements.append(Statement("contexts", _CONTEXTS))
    many = (
        f"The table has {counted(pairs, 'pair')} of conditions: decide beforehand which pair answers the question. "
        if pairs > 1
        else ""
    )
    text = (
        f"Which of many changes are chance. {many}Of many intervals of {percent_text(facts['hdi_prob'])}, some exclude "
        "0 by chance. A sentence beside many settled changes says how many are expected to be wrong."
    )
    statements.append(Statement("many changes", text))
    statements += without_contrast(facts["groups_not_compared"])
    return (*statements, Statement("bias", NO_PROOF))


def line_statements(lines: "pd.DataFrame", *, walk: bool) -> tuple[Statement, ...]:
    """Return the coefficients of each contrast's trend."""
    statements = []
    for row in rows_of(lines):
        low, high = row["hdi_low"], row["hdi_high"]
        if row["observed"] != row["observed"]:
            what = "steps of the random walk for one unit of time have" if walk else "periods vary around the line with"
            text = (
                f"{row['contrast']}: beyond the error of the words, {what} an sd of {distance_text(row['mean'])} "
                f"(median; interval {distance_text(low)} to {distance_text(high)})."
            )
        else:
            where, change = "from the first to the last period, along the line", signed_text
            if row["parameter"] != SLOPE:
                where, change = f"for one unit of {shown_name(row['parameter'])}", signed_digits_text
            text = (
                f"{row['contrast']}: {where}, the contrast changes by {change(row['mean'])}, interval {change(low)} to "
                f"{change(high)}{'' if row['settled'] else ', which is not settled'}."
            )
        statements.append(Statement("trend", text, row))
    return tuple(statements)


def neighbour_statements(neighbours: "pd.DataFrame", level: float) -> tuple[Statement, ...]:
    """Return whether neighbouring periods deviate from each line alike, and what to do then."""
    if not len(neighbours):
        return ()
    wandering = neighbours["p_value"] < level
    statements = [
        Statement(
            "neighbours",
            f"{row['contrast']}: neighbouring periods deviate from the line in the same direction (Durbin-Watson "
            f"{digits_text(row['durbin_watson'])}, {p_text(row['p_value'])}). The contrast wanders, so the intervals "
            f"of the line are too narrow: use {setting('walk', True)}.",
            row,
        )
        for row in rows_of(neighbours[wandering])
    ]
    if not wandering.all():
        others = neighbours[~wandering]
        smallest = others["p_value"].min()
        text = (
            f"{name_some(list(others['contrast']))}: nothing shows that neighbouring periods deviate from the line in "
            f"the same direction (Durbin-Watson test, smallest {p_text(smallest)}). With few periods, that does not "
            "rule out a random walk."
        )
        statements.append(Statement("neighbours", text, {"contrasts": list(others["contrast"]), "p_value": smallest}))
    return tuple(statements)


def methods_statement(facts: Mapping[str, Any]) -> Statement:
    """Return a paragraph for the methods section of a paper."""
    measure = measure_of(facts)
    names: Sequence[str] = facts["conditions"]
    noun = condition_word(facts)
    words = (
        f"We compared the mean {measure.name}s of {counted(facts['protected_words'], 'protected word')} with "
        f"{counted(facts['attribute_words'], 'attribute word')}, controls included, in {counted(len(names), noun)} "
        f"({name_some(names)}). Each attribute word is one row of {measure.numbers} with all words in all {noun}s, "
        "so that changes are paired; contrasts have Student's t distribution with Welch-Satterthwaite degrees of "
        f"freedom (Welch 1947), from variances pooled over words and {noun}s. The contrast in each {noun} is that of "
        "the default model, fitted to its table alone."
    )
    population = (
        f" The protected words are a sample: their variation over {noun}s, beyond the chance of the attribute words, "
        "has half-t priors for its standard deviations and an inverse-Wishart distribution."
        if facts["scope"] == "population"
        else " Estimates are about exactly these protected words."
    )
    trend = ""
    if facts["trend"]:
        form = "a random walk" if facts["walk"] else "a line"
        extra = f" with the covariates {name_some(map(shown_name, facts['covariates']))}" if facts["covariates"] else ""
        trend = f" The trend is {form}{extra}, by least squares, with the sd of periods around it as a further error."
    if facts["word_covariates"]:
        named = name_some(map(shown_name, facts["word_covariates"]))
        trend += (
            f" Slopes of the words' leans on {named} are least squares over the words of each period, with a "
            "heteroscedasticity-consistent error (HC2) for the choice of words, and Welch-Satterthwaite "
            "degrees of freedom. They come from fits of each period with "
            f"{facts['slope_draws']:,} draws of each chain."
        )
    interval = (
        f" Intervals are highest posterior density intervals of {percent_text(facts['hdi_prob'])}, from "
        f"{facts['draws']:,} draws of each chain (seed {facts['random_seed']}; bayesbias {facts['version']})."
    )
    return Statement("methods", words + population + trend + interval)


def change_doubts(distances: "pd.DataFrame", lacking: "pd.DataFrame", facts: Mapping[str, Any]) -> Iterator[Statement]:
    """Yield the doubts about changes between conditions.

    Draws that did not converge (``"convergence"``); control words whose mean distance changed (``"controls differ"``);
    words that a method equalized (``"equalized words"``, ``"equalized attribute words"``; ``"zero by construction"``
    if they are most of the words); words that some conditions
    lack (``"lacking words"``, ``"lost words"``); control lists left out because fewer than two of their words
    are there (``"short control list"``); slopes between conditions whose mean distances differ much (``"other
    scale"``); distances that are tied to each other (``"tied words"``); single words that decide a slope
    (``"leverage"``, ``"influence"``).
    """
    if problems := facts["convergence_problems"]:
        text = f"DO NOT REPORT THESE NUMBERS YET: {' '.join(problems)}"
        yield Statement("convergence", text, {"problems": problems})
    for (first, second), rows in distances[distances["protected_word"] == ""].groupby(["first", "second"], sort=False):
        yield from _shifted_controls(rows_of(rows), str(first), str(second), facts)
    for name, (protected, attributes) in facts["equalized"].items():
        yield from equalized_doubts(protected, attributes, facts, name)
    short: Mapping[str, Mapping[str, int]] = facts["short_controls"]
    # What no change uses needs no word on how the words that are there stand in for the others.
    unused = set.intersection(*map(set, short.values())) if len(short) == len(facts["conditions"]) - 1 else set()
    yield from _lacking(lacking[~lacking["list"].isin(list(unused))], condition_word(facts))
    for name, counts in short.items():
        yield from _short_controls(counts, facts["conditions"][0], name, measure_of(facts))
    if facts.get("word_covariates"):
        yield from other_scale_doubts(distances, facts)
    for name, directions in facts["tied"].items():
        yield tied_statement(directions, f"the protected words in {name!r}")
    yield from slope_doubts(facts.get("slope_doubts", {}))


def _shifted_controls(
    rows: list[dict[str, Any]], first: str, second: str, facts: Mapping[str, Any]
) -> Iterator[Statement]:
    """Yield whether control words changed, so that part of the changes is not about the association."""
    others = [row for row in rows if row["connection"] not in _CONTROLS]
    moved = moved_controls(rows, facts["hdi_prob"])
    if not moved or not others:
        return
    shifts = {row["connection"]: f"by {signed_text(row['mean'])}" for row in moved}
    unmoved = all(row["direction"] == "equal" for row in others)
    connections = {row["connection"] for row in others}
    text = shifts_text(shifts, first, second, measure_of(facts), connections, others_unmoved=unmoved)
    yield Statement(CONTROLS_DIFFER, text, {row["connection"]: row for row in moved})


def moved_controls(rows: Sequence[Mapping[str, Any]], hdi_prob: float) -> list[Mapping[str, Any]]:
    """Return the rows of control words whose mean distance changed; with a rope, by more than is too small to matter.

    `rows` are those of `Changes.distances` about all words.
    """
    return [
        row
        for row in rows
        if row["connection"] in _CONTROLS
        and is_settled(row["hdi_low"], row["hdi_high"])
        and not row["borderline"]
        and row.get("probability_in_rope", 0.0) < hdi_prob
    ]


def shifts_text(
    shifts: Mapping[str, str],
    first: str,
    second: str,
    measure: Measure,
    others: Collection[str],
    *,
    others_unmoved: bool = False,
) -> str:
    """Return how control words changed, and what to do; `shifts` says by how much, by connection.

    `others` are the connections of the other words, and `others_unmoved` is whether none of their distances changed.
    """
    words = [f"{measure.preposition} {connection} words changed {text}" for connection, text in shifts.items()]
    text = f"From {first!r} to {second!r}, the mean {measure.short} {', and that '.join(words)}"
    if others_unmoved:
        return f"{text}, although no {measure.short} {measure.preposition} other words did."
    text += ". A method of debiasing can move all words. The contrasts with these control words contain their shift."
    if "different" in others:
        text += " Judge the association by the contrast associated - different, in which a shift of all words cancels."
    return text


def equalized_doubts(
    protected: tuple[str, ...], attributes: tuple[str, ...], facts: Mapping[str, Any], second: str
) -> Iterator[Statement]:
    """Yield a statement on equalized protected words, and one on equalized attribute words.

    Its kind is ``"zero by construction"`` if they are more than half of the words, which changes the answer.
    """
    first = facts["conditions"][0]
    for words, role, others in ((protected, "protected", "stereotype"), (attributes, "attribute", "protected")):
        if not words:
            continue
        every = facts["compared_words"][role]
        left = [word for word in every if word not in words]
        is_most = len(words) > len(every) / 2
        text = (
            f"In {second!r}, {len(words)} of {counted(len(every), f'{role} word')} were equalized "
            f"({name_some(words, 12)}): unlike in {first!r}, each is exactly as near to most {others} words as a "
            "partner. "
        )
        if is_most:
            text += (
                "Differences between partners are 0, so their part of the contrast is 0 by construction. This shows "
                "what was done to these words, not that no association is left. "
            )
        elif role == "protected":
            text += (
                "Their contrasts cannot show how a word differs from its partner. Such words also share part of their "
                "change, so the intervals are somewhat too narrow. "
            )
        else:
            text += "A contrast between lists of partners is 0 by construction, even if an association is left. "
        have = f"only {name_some(left, 6)}" if len(left) < _FEWEST_LEFT else f"{len(left)} ({name_some(left, 6)})"
        text += f"Judge debiasing by {role} words that were not equalized, of which these lists have "
        text += f"{have if left else 'none'}{': use others, such as first names.' if len(left) < _FEWEST_LEFT else '.'}"
        kind = "equalized words" if role == "protected" else "equalized attribute words"
        yield Statement("zero by construction" if is_most else kind, text, {"words": tuple(words)})


def _lacking(lacking: "pd.DataFrame", noun: str) -> Iterator[Statement]:
    """Yield the words that some conditions lack, by list, and those that none has; `noun` is what a condition is."""
    for (role, name), rows in lacking[lacking["conditions"] > 0].groupby(["role", "list"], sort=False):
        words = [
            f"{row['word']} ({'without a number' if row['reason'] == NO_NUMBER else 'not'} in {row['lacks']})"
            for row in rows_of(rows)
        ]
        text = (
            f"Some {noun}s lack {role} words of {name}: {name_some(words, 12)}. Where a word is missing, it is "
            "assumed to change as the other words of its list do."
        )
        yield Statement("lacking words", text, {"words": rows["word"].tolist(), "list": name})
    nowhere = lacking[lacking["conditions"] == 0]
    unrated = nowhere["reason"] == NO_NUMBER
    for (_, name), rows in nowhere[~unrated].groupby(["role", "list"], sort=False):
        words = rows["word"].tolist()
        are = counted(len(words), "word of {} is", "words of {} are").format(shown_name(str(name)))
        text = f"{are} missing in every {noun}: {name_some(words, 12)}."
        yield Statement("lost words", text, {"words": words, "list": name})
    if words := nowhere["word"][unrated].tolist():
        yield Statement("lost words", f"{_UNRATED.format(noun=noun)} {name_some(words, 12)}.", {"words": words})


def _short_controls(counts: Mapping[str, int], first: str, second: str, measure: Measure) -> Iterator[Statement]:
    """Yield the control lists that the change between two conditions leaves out."""
    for control, count in counts.items():
        text = (
            f"From {first!r} to {second!r}, no change of the mean {measure.short} {measure.preposition} {control} "
            "words is estimated: "
            f"one of the two has {counted(count, 'word')} of that list, and the error of a mean needs at least two. "
            "Choose control words that both have."
        )
        yield Statement("short control list", text, {"list": control, "first": first, "second": second})


def equalized_words(first: "pd.DataFrame", second: "pd.DataFrame", role: str) -> tuple[str, ...]:
    """Return the words of a role that are exactly as near to most of the others as another word, only in `second`.

    `role` is ``"protected_word"`` or ``"attribute_word"``; pairs are those of associated and different words that both
    tables have. Hard debiasing equalizes sets such as (he, she).
    """
    columns = [*_PAIR, "cosine_distance"]
    stereotypes = first.loc[first["connection"].isin(["associated", "different"]), columns]
    both = stereotypes.merge(second[columns], on=_PAIR, suffixes=("_first", "_second"))
    before, after = (_tied_share(both, f"cosine_distance_{side}", role) for side in ("first", "second"))
    # Rounded distances are tied in both.
    return tuple(word for word in both[role].astype(str).unique() if after[word] > 0.5 and before[word] < _TIES)


def _tied_share(rows: "pd.DataFrame", column: str, role: str) -> dict[str, float]:
    """Return for each word the share of the words of the other role to which another word is exactly as near."""
    (opposite,) = {*_PAIR} - {role}
    ordered = rows.astype(dict.fromkeys(_PAIR, str)).sort_values([opposite, column])
    near = (ordered[column].diff().abs() <= ROUNDING) & (ordered[opposite] == ordered[opposite].shift())
    tied = near | near.shift(-1, fill_value=False)
    return {str(word): float(share) for word, share in tied.groupby(ordered[role], sort=False).mean().items()}

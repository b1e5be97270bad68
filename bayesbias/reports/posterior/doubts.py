"""Doubts that the data and the draws of a fit raise about its numbers, each with what to do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.lost_words import MAX_LOST, WordList, many_lost_words
from bayesbias.base.number_text import count_text, counted, digits_text, shown_name
from bayesbias.base.statements import Finding, Statement
from bayesbias.errors import name_some, setting
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.models.data import SIDES, ModelData
from bayesbias.models.fits import fit_attribute, fitted_model, fitted_rows, tied_directions
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.reports.posterior.contrasts import observed_means
from bayesbias.studies.faults import CONTROLS

if TYPE_CHECKING:
    import xarray as xr


# Two distances of three digits can be equal by chance; so many words are not.
_LEAST_SHARED = 2
# Lists and groups with fewer words say next to nothing of how much these differ.
_FEW_WORDS = 3
# Groups and lists whose sizes stand on the first screen.
_MOST_SIZES = 6


def same_distances(rows: ModelData) -> list[Finding]:
    """Return the findings that words of one list or group have the same distances, up to rounding.

    One names the attribute words whose distances to all protected words are equal, another the protected words
    with equal distances to all attribute words.
    """
    if len(rows.distance) == 0:
        return []
    shape = len(rows.attribute_words), len(rows.protected_words)
    distances = np.full(shape, np.nan)
    distances[rows.attribute, rows.protected] = rows.distance
    # Words that differ in their connections, as those of two lists, are not the same evidence.
    connections = np.full(shape, -1)
    connections[rows.attribute, rows.protected] = rows.connection
    lists = [()] * shape[0] if rows.attribute_groups is None else [(name,) for name in rows.attribute_groups.tolist()]
    attribute_sets = _same_rows(
        distances, [(*name, row.tobytes()) for name, row in zip(lists, connections, strict=True)]
    )
    protected_sets = _same_rows(distances.T, rows.protected_groups.tolist())
    return [
        _same_words(kind, others, [[str(names[place]) for place in places] for places in sets])
        for kind, others, names, sets in (
            ("attribute", "protected", rows.attribute_words, attribute_sets),
            ("protected", "attribute", rows.protected_words, protected_sets),
        )
        if sets
    ]


def _same_words(kind: str, others: str, sets: list[list[str]]) -> Finding:
    named = name_some([" = ".join(words) for words in sets], 6)
    of_what = "list" if kind == "attribute" else "group"
    fact = (
        f"Words of one {of_what} have the same distances to all {others} words: {named}. They count as independent "
        f"{kind} words, so every interval here is too narrow."
    )
    advice = "Keep one of each, if they are one word under several names."
    return Statement("same distances", fact, {"words": sets, "side": kind}), advice


def _same_rows(distances: np.ndarray, label_of: list[object]) -> list[list[int]]:
    """Return the places of rows with one label that are equal up to rounding, set by set, in the order of the table."""
    sets = []
    for label in dict.fromkeys(label_of):
        places = np.array([place for place, other in enumerate(label_of) if other == label])
        sets += [sorted(places[members].tolist()) for members in _equal(distances[places])]
    return sorted(sets)


def _equal(distances: np.ndarray) -> Iterator[list[int]]:
    """Yield the places of equal rows. Those with the same lost pairs and nearly the same sum are compared."""
    lost = np.isnan(distances)
    shared = (~lost).sum(axis=1)
    order = np.argsort(np.where(lost, 0, distances).sum(axis=1), kind="stable")
    sums = np.where(lost, 0, distances).sum(axis=1)
    taken: set[int] = set()
    for position, first in enumerate(order):
        if first in taken or shared[first] < _LEAST_SHARED:
            continue
        members = [int(first)]
        for second in order[position + 1 :]:
            if sums[second] - sums[first] > ROUNDING * distances.shape[1]:
                break
            same = (lost[first] == lost[second]).all()
            if same and np.nanmax(np.abs(distances[first] - distances[second])) <= ROUNDING:
                members.append(int(second))
        if len(members) > 1:
            taken.update(members)
            yield members


def all_doubts(fit: "xr.DataTree") -> tuple[Statement, ...]:
    """Return the doubts that the draws and the data of a fit raise about its numbers."""
    return *convergence_doubts(fit), *data_doubts(fit)


def word_lists(fit: "xr.DataTree", roles: tuple[str, ...] = ("protected", "attribute")) -> list[WordList]:
    """Return the groups and attribute lists of a fit with their sizes and lost words; controls are not `limited`."""
    data, lost = fit["constant_data"].to_dataset(), fit_attribute(fit, "table").get("lost_words", [])
    listed = np.unique(np.stack([data["attribute_group_index"], data["attribute_index"]]), axis=1)[0]
    groups = {"protected": data["protected_group"].to_numpy(), "attribute": data["attribute_group"].to_numpy()[listed]}
    unrated = {entry["word"] for entry in lost if entry.get("reason") == NO_NUMBER}
    lists = []
    for role in roles:
        sizes = Counter(groups[role].astype(str).tolist())
        lost_words: dict[str, list[str]] = {name: [] for name in sizes}
        for entry in lost:
            if entry["role"] == role:
                lost_words.setdefault(entry["list"], []).append(entry["word"])
        lists += [
            WordList(name, sizes[name] + len(of_list), of_list, role == "protected" or name not in CONTROLS, unrated)
            for name, of_list in lost_words.items()
        ]
    return lists


def sizes_text(lists: list[WordList], *, recorded: bool = True) -> str:
    """Return the sizes of groups and lists of a question, and how many of their words were lost, if it is `recorded`.

    >>> sizes_text([WordList("cats", 4, ["lynx"]), WordList("dogs", 3, [])])
    '3 of 4 words of cats, 3 of dogs; 1 of 7 words lost'
    >>> sizes_text([WordList("cats", 4, []), WordList("neutral", 6, ["of"], limited=False)])
    '4 words of cats; no word of the lists lost, 1 of 6 neutral words lost'
    """
    needed = [word_list for word_list in lists if word_list.limited]
    sizes = [word_list.size - len(word_list.lost) for word_list in needed]
    lost, every = sum(len(word_list.lost) for word_list in needed), sum(word_list.size for word_list in needed)
    if len(needed) > _MOST_SIZES:
        range_text = f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else f"{min(sizes)}"
        text = f"{len(needed)} groups and lists of {range_text} words"
    else:
        text = ", ".join(
            f"{size}{f' of {word_list.size}' if word_list.lost else ''}{'' if place else ' words'} of "
            f"{shown_name(word_list.name)}"
            for place, (word_list, size) in enumerate(zip(needed, sizes, strict=True))
        )
    controls = [
        f"{len(word_list.lost)} of {word_list.size} {shown_name(word_list.name)} words lost"
        for word_list in lists
        if word_list.lost and not word_list.limited
    ]
    none_lost = "no word of the lists lost" if controls else "no word lost"
    lost_text = f"{lost} of {counted(every, 'word')} lost" if lost else none_lost
    return "; ".join((text, ", ".join((lost_text, *controls)))) if recorded else text


def words_used(fit: "xr.DataTree") -> dict[str, str]:
    """Return how many words of each protected group a fit has, of how many given; ``""``: of all that are compared.

    Where it is not recorded how many were given, the number of words alone.
    """
    recorded, rows = "lost_words" in fit_attribute(fit, "table"), fitted_rows(fit)
    sizes = {group.name: (group.size - len(group.lost), group.size) for group in word_lists(fit, ("protected",))}
    compared = [sizes[name] for name in set(rows.protected_groups[rows.compared].astype(str).tolist())]
    sizes[""] = sum(used for used, _ in compared), sum(given for _, given in compared)
    return {name: f"{used} of {given}" if recorded else str(used) for name, (used, given) in sizes.items()}


def few_words_text(doubts: Iterable[Statement]) -> str:
    """Return which lists lost many words and which groups have few, for a legend; empty if there are none."""
    texts = []
    for doubt in doubts:
        if doubt.kind == "many lost words":
            lists = [f"{shown_name(name)} ({lost} of {size})" for name, (lost, size) in doubt.numbers["lists"].items()]
            texts.append(f" Beware: the vectors lack more than {MAX_LOST:.0%} of the words of {name_some(lists, 6)}.")
        elif doubt.kind == "small group":
            groups = doubt.numbers["groups"]
            have = "has" if len(groups) == 1 else "have"
            texts.append(f" Beware: {name_some(map(shown_name, groups), 6)} {have} fewer than {_FEW_WORDS} words.")
    return "".join(texts)


# Words farther than this from the median of their group are extreme, in groups of at least so many words.
_FAR, _MAD_TO_SD, _FEWEST_FOR_EXTREMES = 6.0, 1.4826, 6


def data_facts(fit: "xr.DataTree") -> tuple[Statement, ...]:
    """Return what in the data of a fit makes its numbers doubtful, for a document that gives no advice."""
    return tuple(fact for fact, _ in _findings(fit))


def data_doubts(fit: "xr.DataTree") -> tuple[Statement, ...]:
    """Return the doubts that the data of a fit raise about its numbers, each with what to do."""
    return tuple(fact.advised(advice) for fact, advice in _findings(fit))


def _findings(fit: "xr.DataTree") -> Iterator[Finding]:
    data, facts = fit["constant_data"].to_dataset(), fit_attribute(fit, "table")
    yield from many_lost_words(word_lists(fit))
    pairs = np.stack([data["protected_index"].to_numpy(), data["attribute_index"].to_numpy()])
    if repeated := pairs.shape[1] - np.unique(pairs, axis=1).shape[1]:
        fact = (
            f"{counted(repeated, 'row repeats a pair and was', 'rows repeat a pair and were')} kept: intervals "
            "of their words are mostly too narrow, and other numbers change too."
        )
        advice = f"Use {setting('duplicates', 'drop')} unless you reproduce a published result."
        yield Statement("repeated pairs", fact, {"rows": repeated}), advice
    if same := facts.get("duplicates", {}).get("same_vectors", 0):
        fact = (
            f"{counted(same, 'row compares', 'rows compare')} words that match the same vectors: intervals of such "
            "words are mostly too narrow."
        )
        yield Statement("same vectors", fact, {"rows": same}), "Keep one of the words that share a vector."
    rows = fitted_rows(fit)
    yield from same_distances(rows)
    if facts.get("edited"):
        fact = (
            "The table was changed after it was built. Its study, embedding and lost words describe it before the "
            "change."
        )
        yield Statement("edited table", fact), "Report the change, or build the table again."
    multivariate = fitted_model(fit).multivariate
    if short := _short_lists(rows) if multivariate else []:
        fact = (
            f"{'The list' if len(short) == 1 else 'The lists'} {name_some(map(shown_name, short))} "
            f"{'has' if len(short) == 1 else 'have'} fewer than {_FEW_WORDS} attribute words. The spread "
            "of so few words, and therefore the intervals, depend on other lists and the prior."
        )
        yield Statement("short list", fact, {"lists": short}), "Add attribute words."
    narrow = multivariate and 0 < (sd := _within_sd(rows)) < rows.distance_error
    if narrow:
        fact = (
            f"The {rows.measure.numbers} of a word to the words of a list differ by an sd of only "
            f"{digits_text(sd, 2)}, but this model assumes that every {rows.measure.short} has an error of at least "
            f"{digits_text(rows.distance_error, 1)}. Estimates of single words are noisy, and their intervals wide."
        )
        yield Statement("narrow distances", fact, {"sd": sd}), "Use the model 'crossed_per_list'."
    names, groups = np.unique(rows.protected_groups, return_counts=True)
    if few := names[groups < _FEW_WORDS].tolist() if (groups >= _FEW_WORDS).any() else []:
        few_names = name_some(map(shown_name, few))
        fact = (
            f"{'The group' if len(few) == 1 else 'The groups'} {few_names} {'has' if len(few) == 1 else 'have'} "
            f"fewer than {_FEW_WORDS} words, which weigh as much as all words of another group. So few words do not "
            "show how much the words of such a group differ."
        )
        yield Statement("small group", fact, {"groups": few}), f"Add words, or claim nothing about {few_names}."
    if len(groups) > 1 and (groups == 1).all():
        fact = (
            "Each protected group has one word, so nothing shows how much the words of a group differ. Intervals over "
            "all words depend on the prior and almost always include 0; those of groups are about these single words."
        )
        yield Statement("one word a group", fact), f"Add words: {_FEW_WORDS} or more to a group."
    if data.sizes["protected_word"] == 1:
        fact = "With one protected word, the spread of words (word_sd) is known from the prior alone."
        yield Statement("one word", fact), "Add protected words."
    if extreme := _extreme_words(rows):
        fact = (
            f"The observed differences of {name_some(extreme, 6)} are far from those of the other words of their "
            "group. Intervals for words like these can then be too narrow, because a few words do not show how often "
            "such words occur."
        )
        one = len(extreme) == 1
        advice = (
            f"Check whether {'this word belongs' if one else 'these words belong'} to the group in its usual meaning, "
            f"add words of the same kind, and compare the results without {'it' if one else 'them'}."
        )
        yield Statement("extreme words", fact, {"words": extreme}), advice
    if (tied := tied_directions(fit)) and not narrow:
        yield _tied(tied, f"these {counted(data.sizes['protected_word'], 'protected word')}")


def _extreme_words(rows: ModelData) -> list[str]:
    """Return the words whose observed contrast is far from their group's median, in units of the robust sd (MAD)."""
    if not set(SIDES) <= set(rows.connections):
        return []
    means = observed_means(rows)
    contrasts = means[:, rows.connections.index(SIDES[0])] - means[:, rows.connections.index(SIDES[1])]
    extreme = []
    for group in dict.fromkeys(rows.protected_groups[rows.compared].tolist()):
        places = np.flatnonzero((rows.protected_groups == group) & np.isfinite(contrasts))
        if len(places) < _FEWEST_FOR_EXTREMES:
            continue
        deviations = np.abs(contrasts[places] - np.median(contrasts[places]))
        far = deviations > _FAR * _MAD_TO_SD * np.median(deviations)
        extreme += [str(rows.protected_words[place]) for place in places[far & (deviations > ROUNDING)]]
    return extreme


def tied_statement(directions: int, what: str) -> Statement:
    """Return the warning that distances are tied to each other in some directions."""
    fact, advice = _tied(directions, what)
    return fact.advised(advice)


def _tied(directions: int, what: str) -> Finding:
    fact = (
        f"The distances to {what} are tied to each other: {count_text(directions)} linear "
        f"{'combination of them is' if directions == 1 else 'combinations of them are'} the same for every attribute "
        "word. This happens after hard debiasing, with words that share a vector, and with more words than dimensions. "
        "The model treats these ties as information, so intervals of differences can be far too narrow."
    )
    advice = (
        "Compare them with those of the model 'crossed_per_list', and judge debiasing by the change of the same pairs."
    )
    return Statement("tied words", fact, {"directions": directions}), advice


def convergence_doubts(fit: "xr.DataTree") -> Iterator[Statement]:
    """Yield the doubt that the sampler did not converge."""
    if problems := fit_attribute(fit, "convergence_problems"):
        text = f"DO NOT REPORT THESE NUMBERS YET: the sampler did not converge. {' '.join(problems)}"
        yield Statement("convergence", text, {"problems": problems})


def _within_sd(rows: ModelData) -> float:
    """Return the sd of distances around the mean of their protected word and attribute list, 0 without replicates."""
    sample = attribute_sample(rows)
    cell = rows.protected * len(sample.lists) + sample.list_of[rows.attribute]
    counts = np.bincount(cell)
    means = np.bincount(cell, rows.distance) / np.maximum(counts, 1)
    freedom = len(cell) - np.count_nonzero(counts)
    return float(np.sqrt(np.square(rows.distance - means[cell]).sum() / max(freedom, 1)))


def _short_lists(rows: ModelData) -> list[str]:
    sample = attribute_sample(rows)
    counts = np.bincount(sample.list_of)
    return [name for name, count in zip(sample.lists, counts, strict=True) if count < _FEW_WORDS]

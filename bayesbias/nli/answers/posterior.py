"""A Bayesian model of a model's answers, with crossed effects of words and premises."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, resolve_seed
from bayesbias.base.statements import Rendered, Statement, StatementList
from bayesbias.errors import MeasureError
from bayesbias.estimates.intervals import MOMENTS, estimates, settled
from bayesbias.nli.answers.crossed_draws import CrossedDraws, contrast_draws, draw, group_draws
from bayesbias.nli.answers.premise_components import Premises
from bayesbias.nli.answers.run_draws import Layout
from bayesbias.nli.test_sets.scores import LABELS, Crossed, crossed, scored, two_groups

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("error", *LABELS)
LIKE_THESE, THESE = "words like these", "these words"
TITLES = {"error": "E, the distance to the right answer", **{name: f"the probability of {name}" for name in LABELS}}
HIGHEST = {"error": np.sqrt(2.0), **dict.fromkeys(LABELS, 1.0)}


@dataclass(frozen=True, eq=False, repr=False)
class InferencePosterior(Rendered):
    """What the answers of a model of inference show of words and groups, and how sure that is.

    Parameters
    ----------
    score
        What was modelled: ``"error"``, ``"neutral"``, ``"entailment"`` or ``"contradiction"``.
    groups
        The two that are compared.
    means
        One row overall, a group and a word: `level`, `group`, `word`, `population` (``"words like these"``, if these
        are a sample, or ``"these words"``), `mean`, `sd`, `hdi_low`, `hdi_high` and what was `observed`.
    contrast
        The first group minus the second, a row a population; with `probability_of_direction`.
    sds
        Standard deviations of the effects, by name: `component`.
    worth
        What the pairs are worth: `quantity`, its `count`, and the posterior of the number of independent pairs that
        would be as informative.
    outside
        Largest share, over words, of draws that no score could be the mean of.
    draws, hdi_prob, random_seed
        As they were given; the draws are independent.
    """

    score: str
    groups: tuple[str, str]
    means: "pd.DataFrame"
    contrast: "pd.DataFrame"
    sds: "pd.DataFrame"
    worth: "pd.DataFrame"
    outside: float
    draws: int
    hdi_prob: float
    random_seed: int

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text: the contrast, what it rests on, and beware."""
        shown = [self._contrast_statement(row) for row in self.contrast.to_dict("records")]
        limits = [
            Statement(
                "worth",
                f"{row['quantity'][0].upper()}{row['quantity'][1:]}: {row['count']:,} are worth about "
                f"{row['mean']:,.0f} independent ones ({row['hdi_low']:,.0f} to {row['hdi_high']:,.0f}).",
                {str(name): value for name, value in row.items()},
            )
            for row in self.worth.to_dict("records")
        ]
        if LIKE_THESE not in set(self.contrast["population"]):
            limits.append(Statement("words", "There are too few words to stand for others: it is about these alone."))
        text = "It is about this trained model: another training may answer otherwise. bb.nli.compare_answers takes several."
        limits.append(Statement("training", text))
        if self.outside > 0.01:
            text = f"Up to {self.outside:.0%} of a word's draws lie where no score can: the Normal model fits badly."
            limits.append(Statement("outside", text, {"share": self.outside}))
        title = f"{TITLES[self.score]} ({self.hdi_prob:.0%} HPDI)"
        return (
            StatementList(f"{title[0].upper()}{title[1:]}", tuple(shown)),
            StatementList("What it rests on", tuple(limits)),
        )

    def _contrast_statement(self, row: Mapping[Any, Any]) -> Statement:
        first, second = self.groups
        what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
        text = (
            f"{first} minus {second}, {row['population']}: {row['mean']:+.3f} ({row['hdi_low']:+.3f} to "
            f"{row['hdi_high']:+.3f}), {what}."
        )
        return Statement("contrast", text, {str(name): value for name, value in row.items()})


def posterior(
    scores: "pd.DataFrame",
    score: str = "error",
    *,
    groups: tuple[str, str] | None = None,
    draws: int = 4000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> InferencePosterior:
    """Model the answers to a test set, with crossed effects of words and of premises, their verbs and their objects.

    Parameters
    ----------
    scores
        From `bb.nli.score`. All words with all premises; leave out whole words to ask about some.
    score
        ``"error"``, whose mean is E, or a probability: ``"neutral"``, ``"entailment"``, ``"contradiction"``.
    groups
        The two groups that are compared; may be left out where there are two.
    draws
        How many independent draws.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws. If it is left out, one is drawn and kept in the result.

    Raises
    ------
    MeasureError
        If the groups are not determined, not every word has every premise, there are fewer than two words or three
        premises, or premises have several subjects.

    Notes
    -----
    The model and its priors are those of `bayesbias.nli.answers.crossed_draws` and `bayesbias.nli.answers.premise_components`. It is
    Normal on the scale of the score, though scores are bounded: what it is asked about are means over many premises,
    which are nearly Normal, and `outside` says where they cannot be. Words of all groups are taken to vary alike around
    their group. The pairs are sentences of one frame: a word's thousand scores share verbs and objects, and a group has
    a few words. `worth` says what is left of their number.

    References
    ----------
    Dawkins (2021), equations 1 and 2, without intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     length = np.array([len(text) for text in hypotheses]) / 60
    ...     return np.column_stack([1 - length, length, np.zeros(len(length))])
    >>> found = bb.nli.posterior(bb.nli.score(pairs, model), random_seed=1)
    >>> found.contrast[["population", "observed"]].round(3)
             population  observed
    0  words like these     0.006
    1       these words     0.006
    """
    seed = resolve_seed(random_seed)
    check_choice("score", score, SCORES)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    table = crossed(scores)
    pair, names, layout = layout_of(table, groups)
    values = scored(table, score)
    group, premises = layout.group, table.probabilities.shape[1]
    rng = np.random.default_rng(seed)
    found = draw(values, group, layout.premises, draws, rng)
    sides = group == layout.pair[0], group == layout.pair[1]
    contrasts = contrast_draws(found, values, sides, layout.pair, layout.premises, rng)
    of_groups = group_draws(found, values, group, layout.premises, rng)
    outside = ((found.words < 0) | (found.words > HIGHEST[score])).mean(axis=0).max()
    return InferencePosterior(
        score=score,
        groups=pair,
        means=_means(found, of_groups, table, values, names, group, hdi_prob),
        contrast=_contrast(*contrasts, float(values[sides[0]].mean() - values[sides[1]].mean()), hdi_prob),
        sds=_sds(found, hdi_prob),
        worth=_worth(found, [table.groups.count(name) for name in pair], premises, hdi_prob),
        outside=float(outside),
        draws=draws,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def layout_of(table: Crossed, groups: tuple[str, str] | None) -> tuple[tuple[str, str], list[str], Layout]:
    """Return the two groups that are compared, the names of all groups, and what words and premises are."""
    pair = two_groups(table.groups, groups)
    names = list(dict.fromkeys(table.groups))
    group = np.array([names.index(name) for name in table.groups])
    return pair, names, Layout(group, (names.index(pair[0]), names.index(pair[1])), word_premises(table))


def word_premises(table: Crossed) -> Premises:
    """Return verbs and objects of the premises; raise `MeasureError` if the model is not one of such premises."""
    if "subject" in table.premises and table.premises["subject"].nunique() > 1:
        some = table.premises["subject"].iloc[0]
        raise MeasureError(
            f"The premises have {table.premises['subject'].nunique()} subjects, and the model has none. Ask about one: "
            f"scores[scores['subject'] == {some!r}]."
        )
    words, premises = table.probabilities.shape[:2]
    if words < 2 or premises < 3:
        raise MeasureError(f"There are {words} words and {premises} premises; at least 2 and 3 are needed.")
    verbs, objects = (_codes(table.premises[name]) for name in ("verb", "object"))
    return Premises.of(verbs, objects)


def _codes(values: "pd.Series[str]") -> NDArray[np.intp]:
    return np.asarray(values.factorize()[0], dtype=np.intp)


def _means(
    found: CrossedDraws,
    of_groups: tuple[Floats, Floats | None],
    table: Crossed,
    values: Floats,
    names: list[str],
    group: NDArray[np.intp],
    hdi_prob: float,
) -> "pd.DataFrame":
    observed = values.mean(axis=1)
    rows: list[tuple[str, str, str, str, Floats, float]] = []
    overall = {THESE: found.words.mean(axis=1)}
    by_group = {THESE: of_groups[0]}
    if found.groups is not None and of_groups[1] is not None:
        overall = {LIKE_THESE: found.groups @ (np.bincount(group) / len(group)), **overall}
        by_group = {LIKE_THESE: of_groups[1], **by_group}
    for population, drawn in overall.items():
        rows.append(("overall", "", "", population, drawn, float(observed.mean())))
    for population, drawn in by_group.items():
        for g, name in enumerate(names):
            rows.append(("protected_group", name, "", population, drawn[:, g], float(observed[group == g].mean())))
    for w, word in enumerate(table.words):
        rows.append(("word", table.groups[w], word, THESE, found.words[:, w], float(observed[w])))
    labels = {name: [str(row[at]) for row in rows] for at, name in enumerate(("level", "group", "word", "population"))}
    return estimate_frame(
        np.stack([row[4] for row in rows], axis=1), labels, hdi_prob, observed=[row[5] for row in rows]
    )


def _contrast(these: Floats, like_these: Floats | None, observed: float, hdi_prob: float) -> "pd.DataFrame":
    drawn = {THESE: these} if like_these is None else {LIKE_THESE: like_these, THESE: these}
    matrix = np.stack(list(drawn.values()), axis=1)
    above = (matrix > 0).mean(axis=0)
    return estimate_frame(
        matrix,
        {"population": list(drawn)},
        hdi_prob,
        probability_of_direction=np.maximum(above, 1 - above),
        observed=[observed] * len(drawn),
    )


def _sds(found: CrossedDraws, hdi_prob: float) -> "pd.DataFrame":
    kinds = ("verb", "object", "premise")
    drawn = {f"{kind}": found.shared[:, at] for at, kind in enumerate(kinds)}
    drawn |= {f"word and {kind}": found.own[:, at] for at, kind in enumerate(kinds)}
    if found.word_variance is not None:
        drawn = {"word": found.word_variance, **drawn}
    return estimate_frame(np.sqrt(np.stack(list(drawn.values()), axis=1)), {"component": list(drawn)}, hdi_prob)


def _worth(found: CrossedDraws, counts: list[int], premises: int, hdi_prob: float) -> "pd.DataFrame":
    """Return what the premises of a word, and all pairs, are worth in independent ones of the same variance."""
    of_premises = (found.shared + found.own).sum(axis=1)
    of_mean = found.shared_of_mean + found.own_of_mean
    drawn = {"premises, for the mean of a word": (premises, _ratio(of_premises, of_mean))}
    if found.word_variance is not None and found.spread is not None:
        words = sum(counts)
        everything = found.word_variance + of_premises
        drawn["pairs, for the contrast of words like these"] = (
            premises * words,
            _ratio(everything * words, found.spread),
        )
    frame = estimate_frame(np.stack([each for _, each in drawn.values()], axis=1), {"quantity": list(drawn)}, hdi_prob)
    frame.insert(1, "count", [count for count, _ in drawn.values()])
    return frame


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return a ratio that is 1 where nothing varies: all copies say the same."""
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)


def estimate_frame(drawn: Floats, labels: "dict[str, list[str]]", hdi_prob: float, **more: Any) -> "pd.DataFrame":
    """Return a row for each column of draws: its labels, mean, sd, interval, and more."""
    import pandas as pd
    import xarray as xr

    from bayesbias.estimates.estimate_frame import EstimateFrame

    array = xr.DataArray(drawn[np.newaxis], dims=("chain", "draw", "row"))
    array = array.assign_coords(row=np.arange(drawn.shape[1]))
    numbers = estimates(array, hdi_prob=hdi_prob, independent=len(drawn))[list(MOMENTS)]
    return EstimateFrame(pd.DataFrame(labels).assign(**{name: numbers[name] for name in MOMENTS}, **more))

"""`posterior`: a Bayesian model of a model's answers, with crossed effects of words and premises."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, resolve_seed
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import MeasureError, worded
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import is_settled, probability_of_direction, scope_text, settled_text
from bayesbias.nli.answer_draws import CrossedDraws, Layout, Premises, draw, group_difference_draws, group_draws
from bayesbias.nli.model_scores import LABELS, Crossed, compared_groups, crossed, scored

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("error", *LABELS)
TOO_FEW_WORDS = "There are too few words to represent others: the results apply to these words only."
TITLES = {"error": "E, the distance to the right answer", **{name: f"the probability of {name}" for name in LABELS}}
HIGHEST = {"error": np.sqrt(2.0), **dict.fromkeys(LABELS, 1.0)}


@dataclass(frozen=True, eq=False, repr=False)
class InferencePosterior(Result):
    """Posterior of a model's mean scores of words and groups.

    Parameters
    ----------
    score
        Modelled score: ``"error"``, ``"neutral"``, ``"entailment"`` or ``"contradiction"``.
    groups
        The two groups that are compared.
    means
        One row overall, one per group and one per word: `level`, `group`, `word`, `scope` (``"population"``: words like
        these, if these are a sample, or ``"these_words"``), `mean`, `sd`, `hdi_low`, `hdi_high` and the `observed`
        mean.
    contrast
        The first group minus the second: one row per scope, with `probability_of_direction`.
    sds
        Standard deviations of the effects, one row per `component`.
    effective_numbers
        Effective numbers: `quantity`, its `count`, and the posterior of the number of independent ones that would be as
        informative.
    outside
        Largest share, over words, of draws of the mean outside the possible range of scores.
    draws, hdi_prob, random_seed
        The arguments of `posterior`; the draws are independent.
    """

    score: str
    groups: tuple[str, str]
    means: "pd.DataFrame"
    contrast: "pd.DataFrame"
    sds: "pd.DataFrame"
    effective_numbers: "pd.DataFrame"
    outside: float
    draws: int
    hdi_prob: float
    random_seed: int

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        shown = [self._contrast_statement(row) for row in self.contrast.to_dict("records")]
        limits = [
            Statement(
                "effective numbers",
                f"{row['quantity'][0].upper()}{row['quantity'][1:]}: {row['count']:,} are worth about "
                f"{row['mean']:,.0f} independent ones ({row['hdi_low']:,.0f} to {row['hdi_high']:,.0f}).",
                {str(name): value for name, value in row.items()},
            )
            for row in self.effective_numbers.to_dict("records")
        ]
        if "population" not in set(self.contrast["scope"]):
            limits.append(Statement("words", TOO_FEW_WORDS))
        text = (
            "The results apply to this trained model: another training may give other answers. "
            f"{worded('bb.nli.compare_answers', '`bayesbias nli --models`')} compares several trainings."
        )
        limits.append(Statement("training", text))
        if self.outside > 0.01:
            text = (
                f"Up to {self.outside:.0%} of a word's draws lie outside the range of scores: the Normal model fits "
                "badly."
            )
            limits.append(Statement("outside", text, {"share": self.outside}))
        title = f"{TITLES[self.score]} ({self.hdi_prob:.0%} HPDI)"
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList(f"{title[0].upper()}{title[1:]}", tuple(shown)),
            StatementList("Data and limits", tuple(limits)),
        )

    @property
    def _answer(self) -> Statement:
        row = rows_of(self.contrast)[0]
        (first, second), what = self.groups, TITLES[self.score].removeprefix("E, ")
        if is_settled(row["hdi_low"], row["hdi_high"]):
            claim = f"T{what[1:]} is {'lower' if row['mean'] < 0 else 'higher'} for {first} than for {second}"
        else:
            claim = f"Whether {what} differs between {first} and {second} is not settled"
        ends = f"{row['hdi_low']:+z.3f} to {row['hdi_high']:+z.3f}"
        return Statement("answer", f"{claim}: {row['mean']:+z.3f}, {percent_text(self.hdi_prob)} interval {ends}.", row)

    def _contrast_statement(self, row: Mapping[Any, Any]) -> Statement:
        first, second = self.groups
        what = settled_text(row["hdi_low"], row["hdi_high"])
        text = (
            f"{first} minus {second}, {scope_text(row['scope'])}: {row['mean']:+z.3f} ({row['hdi_low']:+z.3f} to "
            f"{row['hdi_high']:+z.3f}), {what}."
        )
        return Statement("contrast", text, {str(name): value for name, value in row.items()})

    @cached_property
    def contents(self) -> Contents:
        """Means of groups and words, the contrast, data and limits."""
        return contents_of(
            self,
            title=f"Do the answers differ between {self.groups[0]} and {self.groups[1]}?",
            captions={"means": f"Means of {TITLES[self.score]}", "sds": "Standard deviations of effects"},
            differences=("contrast",),
        )


def posterior(
    scores: "pd.DataFrame",
    score: str = "error",
    *,
    groups: tuple[str, str] | None = None,
    draws: int = 4000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> InferencePosterior:
    """Return the posterior of a model's mean scores, with crossed effects of words, verbs, objects and premises.

    Parameters
    ----------
    scores
        From `bb.nli.score`, every word with every premise. To analyse some of the words, leave out the others.
    score
        ``"error"``, whose mean is E, or a probability: ``"neutral"``, ``"entailment"``, ``"contradiction"``.
    groups
        The two groups to compare. Optional if there are only two.
    draws
        Number of independent posterior draws, in all.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws. If None, a seed is drawn and recorded in the result.

    Raises
    ------
    MeasureError
        If the two groups are not specified, a word lacks a premise, there are fewer than two words or three premises,
        or premises have several subjects.

    Notes
    -----
    The model and its priors are described in `answer_draws.draw` and `answer_draws.draw_variances`. The model is Normal
    on the scale of the score although scores are bounded, because means over many premises are nearly Normal; `outside`
    shows where this fails. Words are assumed to vary equally around the means of all groups. All pairs are sentences of
    one frame: the thousand scores of a word share verbs and objects, and a group has only a few words.
    `effective_numbers` holds the number of independent pairs that would be as informative.

    References
    ----------
    Dawkins (2021), equations 1 and 2, without intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     length = np.array([len(text) for text in hypotheses]) / 60
    ...     return np.column_stack([1 - length, length, np.zeros(len(length))])
    >>> result = bb.nli.posterior(bb.nli.score(pairs, model), random_seed=1)
    >>> result.contrast[["scope", "observed"]].round(3)
             scope  observed
    0   population     0.006
    1  these_words     0.006
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
    drawn = draw(values, group, layout.premises, draws, rng)
    sides = group == layout.pair[0], group == layout.pair[1]
    contrasts = group_difference_draws(drawn, values, sides, layout.pair, layout.premises, rng)
    of_groups = group_draws(drawn, values, group, layout.premises, rng)
    outside = ((drawn.words < 0) | (drawn.words > HIGHEST[score])).mean(axis=0).max()
    return InferencePosterior(
        score=score,
        groups=pair,
        means=_means(drawn, of_groups, table, values, names, group, hdi_prob),
        contrast=_contrast(*contrasts, float(values[sides[0]].mean() - values[sides[1]].mean()), hdi_prob),
        sds=_sds(drawn, hdi_prob),
        effective_numbers=_effective_numbers(drawn, [table.groups.count(name) for name in pair], premises, hdi_prob),
        outside=float(outside),
        draws=draws,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def layout_of(table: Crossed, groups: tuple[str, str] | None) -> tuple[tuple[str, str], list[str], Layout]:
    """Return the two groups to compare, the names of all groups, and the layout of words and premises."""
    pair = compared_groups(table.groups, groups)
    names = list(dict.fromkeys(table.groups))
    group = np.array([names.index(name) for name in table.groups])
    return pair, names, Layout(group, (names.index(pair[0]), names.index(pair[1])), word_premises(table))


def word_premises(table: Crossed) -> Premises:
    """Return verbs and objects of the premises; raise `MeasureError` if the model does not fit such premises."""
    if "subject" in table.premises and table.premises["subject"].nunique() > 1:
        subject = table.premises["subject"].iloc[0]
        raise MeasureError(
            f"The premises have {table.premises['subject'].nunique()} subjects, but the model has no effect of the "
            f"subject. Take one: scores[scores['subject'] == {subject!r}]."
        )
    words, premises = table.probabilities.shape[:2]
    if words < 2 or premises < 3:
        raise MeasureError(
            f"There are {counted(words, 'word')} and {counted(premises, 'premise')}; at least 2 words and 3 premises "
            "are needed."
        )
    verbs, objects = (_codes(table.premises[name]) for name in ("verb", "object"))
    return Premises.from_codes(verbs, objects)


def _codes(values: "pd.Series[str]") -> NDArray[np.intp]:
    return np.asarray(values.factorize()[0], dtype=np.intp)


def _means(
    draws: CrossedDraws,
    of_groups: tuple[Floats, Floats | None],
    table: Crossed,
    values: Floats,
    names: list[str],
    group: NDArray[np.intp],
    hdi_prob: float,
) -> "pd.DataFrame":
    observed = values.mean(axis=1)
    rows: list[tuple[str, str, str, str, Floats, float]] = []
    overall = {"these_words": draws.words.mean(axis=1)}
    by_group = {"these_words": of_groups[0]}
    if draws.groups is not None and of_groups[1] is not None:
        overall = {"population": draws.groups @ (np.bincount(group) / len(group)), **overall}
        by_group = {"population": of_groups[1], **by_group}
    for population, drawn in overall.items():
        rows.append(("overall", "", "", population, drawn, float(observed.mean())))
    for population, drawn in by_group.items():
        for g, name in enumerate(names):
            rows.append(("protected_group", name, "", population, drawn[:, g], float(observed[group == g].mean())))
    for w, word in enumerate(table.words):
        rows.append(("word", table.groups[w], word, "these_words", draws.words[:, w], float(observed[w])))
    labels = {name: [str(row[place]) for row in rows] for place, name in enumerate(("level", "group", "word", "scope"))}
    return frame_of_draws(
        np.stack([row[4] for row in rows], axis=1), labels, hdi_prob, observed=[row[5] for row in rows]
    )


def _contrast(these: Floats, like_these: Floats | None, observed: float, hdi_prob: float) -> "pd.DataFrame":
    drawn = {"these_words": these} if like_these is None else {"population": like_these, "these_words": these}
    matrix = np.stack(list(drawn.values()), axis=1)
    return frame_of_draws(
        matrix,
        {"scope": list(drawn)},
        hdi_prob,
        probability_of_direction=probability_of_direction(matrix),
        observed=[observed] * len(drawn),
    )


def _sds(draws: CrossedDraws, hdi_prob: float) -> "pd.DataFrame":
    kinds = ("verb", "object", "premise")
    drawn = {f"{kind}": draws.shared[:, column] for column, kind in enumerate(kinds)}
    drawn |= {f"word and {kind}": draws.specific[:, column] for column, kind in enumerate(kinds)}
    if draws.word_variance is not None:
        drawn = {"word": draws.word_variance, **drawn}
    return frame_of_draws(np.sqrt(np.stack(list(drawn.values()), axis=1)), {"component": list(drawn)}, hdi_prob)


def _effective_numbers(draws: CrossedDraws, counts: list[int], premises: int, hdi_prob: float) -> "pd.DataFrame":
    """Return the numbers of independent premises of a word, and of independent pairs, that would be as informative."""
    of_premises = (draws.shared + draws.specific).sum(axis=1)
    of_mean = draws.shared_of_mean + draws.specific_of_mean
    drawn = {"premises, for the mean of a word": (premises, _ratio(of_premises, of_mean))}
    if draws.word_variance is not None and draws.spread is not None:
        words = sum(counts)
        everything = draws.word_variance + of_premises
        drawn["pairs, for the contrast of words like these"] = (
            premises * words,
            _ratio(everything * words, draws.spread),
        )
    frame = frame_of_draws(
        np.stack([numbers for _, numbers in drawn.values()], axis=1), {"quantity": list(drawn)}, hdi_prob
    )
    frame.insert(1, "count", [count for count, _ in drawn.values()])
    return frame


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)

"""Whether a model of inference that is given other vectors treats groups more alike, with the spread of training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Rendered, Statement, StatementList, rows_of
from bayesbias.estimates.intervals import settled
from bayesbias.nli.answers.posterior import HIGHEST, LIKE_THESE, THESE, TITLES, estimate_frame, layout_of
from bayesbias.nli.answers.run_draws import Layout, mean_draws, pair_draws, quantity_draws
from bayesbias.nli.test_sets.distances import distance_of_means
from bayesbias.nli.test_sets.scores import Crossed, scored

if TYPE_CHECKING:
    import pandas as pd

_MOST_PAIRS = 100  # of words of the two groups
LITTLE = 0.05
"""By how much more than always the most frequent label the best model must be right to know more than that."""
OVERALL, SIZE, DISTANCE = "overall", "size of the contrast", "distance"


@dataclass(frozen=True, eq=False, repr=False)
class InferenceComparison(Rendered):
    """What models of inference answer with one embedding and with others, over several trainings of each.

    Parameters
    ----------
    score
        What was modelled: ``"error"`` (its mean is E), ``"neutral"``, ``"entailment"`` or ``"contradiction"``.
    groups
        The two that are compared.
    embeddings
        Their names; the first is the one that the others are compared with.
    values
        One row an embedding, quantity and population: `embedding`, `quantity` (``"overall"``, a group, the contrast of
        the two, its size, and d, ``"distance"``), `population` (``"words like these"`` or ``"these words"``), `mean`,
        `sd`, `hdi_low`, `hdi_high`.
    changes
        The same of the differences to the first embedding, with `probability_lower`.
    words
        Means of single words: `embedding`, `word`, `group`, `mean`, `sd`, `hdi_low`, `hdi_high`.
    word_pairs
        Differences of a word of the first group and one of the second, which share the premises: `embedding`, `first`,
        `second`, `mean`, `sd`, `hdi_low`, `hdi_high`; no rows where there are more than 100 such pairs.
    runs
        One row a training: `embedding`, `run`, the plain `overall`, `contrast` and `distance`, and where there were
        pairs to test it on its `accuracy`, beside `largest_label`, that of always giving their most frequent label.
    hdi_prob, random_seed
        As they were given.
    """

    score: str
    groups: tuple[str, str]
    embeddings: tuple[str, ...]
    values: "pd.DataFrame"
    changes: "pd.DataFrame"
    words: "pd.DataFrame"
    word_pairs: "pd.DataFrame"
    runs: "pd.DataFrame"
    hdi_prob: float
    random_seed: int

    @property
    def contrast(self) -> str:
        """The name of the contrast in `values` and `changes`."""
        return contrast_label(self.groups)

    @cached_property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text: the answers, the values, what it cost, and what it rests on."""
        answers = [self._answer(name) for name in self.embeddings[1:]]
        values = [self._value(name) for name in self.embeddings]
        counts = self.runs.groupby("embedding", sort=False).size()
        limits = [
            Statement(
                "runs",
                f"The intervals hold the spread over {min(counts)} trainings of each embedding at least, and that over "
                "premises; those of words like these hold that over words too. Other training data or another kind of "
                "model may answer otherwise.",
                {str(name): int(count) for name, count in counts.items()},
            )
        ]
        if LIKE_THESE not in set(self.values["population"]):
            limits.append(Statement("words", "There are too few words to stand for others: it is about these alone."))
        title = f"{TITLES[self.score]} ({self.hdi_prob:.0%} HPDI)"
        parts = [
            StatementList(f"Against {self.embeddings[0]}", tuple(answers)),
            StatementList(f"{title[0].upper()}{title[1:]}", tuple(values)),
            StatementList("How well the models read", tuple(self._accuracies())),
            StatementList("What it rests on", tuple(limits)),
        ]
        return tuple(part for part in parts if part.statements)

    def _row(self, frame: "pd.DataFrame", embedding: str, quantity: str, population: str = THESE) -> dict[str, Any]:
        chosen = (frame["embedding"] == embedding) & (frame["quantity"] == quantity)
        return rows_of(frame[chosen & (frame["population"] == population)])[0]

    def _answer(self, name: str) -> Statement:
        overall = self._row(self.changes, name, OVERALL)
        size = self._row(self.changes, name, SIZE)
        text = (
            f"{name}: {self._title} is {_reading(overall)} ({_interval(overall)}); the gap between {self.groups[0]} "
            f"and {self.groups[1]} is {_reading(size, 'smaller', 'larger')} ({_interval(size)})."
        )
        numbers = {"overall": overall, "size": size}
        return Statement("change", text, numbers)

    @property
    def _title(self) -> str:
        return "E" if self.score == "error" else TITLES[self.score]

    def _value(self, name: str) -> Statement:
        overall, contrast = self._row(self.values, name, OVERALL), self._row(self.values, name, self.contrast)
        what = "settled" if settled(contrast["hdi_low"], contrast["hdi_high"]) else "not settled"
        text = f"{name}: {_interval(overall, '.3f')}; {self.contrast} {_interval(contrast)}, {what}."
        return Statement("value", text, {"overall": overall, "contrast": contrast})

    def _accuracies(self) -> list[Statement]:
        if "accuracy" not in self.runs:
            return []
        found = []
        for name in self.embeddings:
            of_runs = self.runs.loc[self.runs["embedding"] == name, "accuracy"]
            text = f"{name}: accuracy {of_runs.mean():.3f} ({of_runs.min():.3f} to {of_runs.max():.3f} over trainings)."
            found.append(Statement("accuracy", text, {"accuracy": of_runs.tolist()}))
        largest, best = float(self.runs["largest_label"].max()), float(self.runs["accuracy"].max())
        text = f"Always giving the most frequent label has {largest:.3f}."
        if best < largest + LITTLE:
            text += " The models know hardly more, so that what they answer says little of what the vectors do."
        found.append(Statement("largest label", text, {"largest_label": largest}))
        return found


@dataclass(frozen=True, eq=False)
class Run:
    """What one trained model answered, and how accurate it is where that was asked."""

    answers: Crossed
    accuracy: float | None = None
    largest_label: float | None = None


def compared(
    runs: Mapping[str, Sequence[Run]],
    score: str,
    *,
    groups: tuple[str, str] | None,
    draws: int,
    hdi_prob: float,
    random_seed: int,
) -> InferenceComparison:
    """Compare what models answered, by the name of their embedding; all of one test set."""
    names = list(runs)
    table = runs[names[0]][0].answers
    pair, kinds, layout = layout_of(table, groups)
    label = contrast_label(pair)
    quantities = [OVERALL, *kinds, label]
    rng = np.random.default_rng(random_seed)
    answers = {name: np.stack([scored(run.answers, score) for run in runs[name]]) for name in names}
    distances = {name: np.array([_distance(run.answers, pair) for run in runs[name]]) for name in names}
    first, base = names[0], answers[names[0]]
    first_size: Floats = np.zeros(draws)
    first_distance = first_size
    values: list[tuple[str, str, str, Floats]] = []
    changes: list[tuple[str, str, str, Floats]] = []
    words: list[tuple[str, str, str, Floats]] = []
    for name in names:
        own = answers[name]
        found = quantity_draws(own.mean(axis=0), [own.mean(axis=2)], layout, draws, rng).within(0.0, HIGHEST[score])
        size = abs(found.these[:, len(quantities) - 1])
        apart = np.maximum(mean_draws(distances[name], draws, rng), 0.0)
        values += _labelled(name, quantities, found.like_these, found.these)
        values += [(name, SIZE, THESE, size), (name, DISTANCE, THESE, apart)]
        of_words = found.these[:, len(quantities) :].T
        words += [
            (name, word, kind, drawn) for word, kind, drawn in zip(table.words, table.groups, of_words, strict=True)
        ]
        if name == first:
            first_size, first_distance = size, apart
            continue
        difference = own.mean(axis=0) - base.mean(axis=0)
        changed = quantity_draws(difference, [own.mean(axis=2), base.mean(axis=2)], layout, draws, rng)
        changes += _labelled(name, quantities, changed.like_these, changed.these)
        changes += [(name, SIZE, THESE, size - first_size), (name, DISTANCE, THESE, apart - first_distance)]
    keys = ("embedding", "quantity", "population")
    return InferenceComparison(
        score=score,
        groups=pair,
        embeddings=tuple(names),
        values=_sizes_from_zero(_frame(values, keys, hdi_prob), label),
        changes=_frame(changes, keys, hdi_prob, probability_lower=[float((row[3] < 0).mean()) for row in changes]),
        words=_frame(words, ("embedding", "word", "group"), hdi_prob),
        word_pairs=_word_pairs(answers, table, layout, draws, hdi_prob, rng),
        runs=_run_rows(runs, answers, distances, layout),
        hdi_prob=hdi_prob,
        random_seed=random_seed,
    )


def contrast_label(pair: tuple[str, str]) -> str:
    """Return the name of a contrast of two groups.

    >>> contrast_label(("male", "female"))
    'male - female'
    """
    return f"{pair[0]} - {pair[1]}"


def _distance(table: Crossed, pair: tuple[str, str]) -> float:
    of_words = table.probabilities.mean(axis=1)
    first, second = (of_words[[kind == name for kind in table.groups]] for name in pair)
    return float(distance_of_means(first, second))


def _labelled(
    name: str, quantities: list[str], like_these: Floats | None, these: Floats
) -> list[tuple[str, str, str, Floats]]:
    drawn = {THESE: these} if like_these is None else {LIKE_THESE: like_these, THESE: these}
    # Each quantity beside itself: of words like these, and of these.
    return [(name, what, who, found[:, at]) for at, what in enumerate(quantities) for who, found in drawn.items()]


def _frame(
    rows: list[tuple[str, str, str, Floats]], keys: tuple[str, str, str], hdi_prob: float, **more: Any
) -> "pd.DataFrame":
    labels = {key: [str(row[at]) for row in rows] for at, key in enumerate(keys)}
    return estimate_frame(np.stack([row[3] for row in rows], axis=1), labels, hdi_prob, **more)


def _word_pairs(
    answers: dict[str, Floats], table: Crossed, layout: Layout, draws: int, hdi_prob: float, rng: np.random.Generator
) -> "pd.DataFrame":
    sides = [np.flatnonzero(layout.group == code).tolist() for code in layout.pair]
    pairs = [(first, second) for first in sides[0] for second in sides[1]]
    rows = [
        (name, table.words[first], table.words[second], drawn)
        for name, own in answers.items()
        if len(pairs) <= _MOST_PAIRS
        for (first, second), drawn in zip(pairs, pair_draws(own, layout, pairs, draws, rng).T, strict=True)
    ]
    keys = ("embedding", "first", "second")
    if not rows:
        return _frame([("", "", "", np.zeros(draws))], keys, hdi_prob).iloc[:0]
    return _frame(rows, keys, hdi_prob)


def _sizes_from_zero(values: "pd.DataFrame", label: str) -> "pd.DataFrame":
    """Return values with sizes whose interval begins at 0 where that of the contrast holds 0: no draw is 0 itself."""
    contrasts = values[(values["quantity"] == label) & (values["population"] == THESE)].set_index("embedding")
    unsettled = contrasts.index[(contrasts["hdi_low"] <= 0) & (contrasts["hdi_high"] >= 0)]
    at = (values["quantity"] == SIZE) & values["embedding"].isin(unsettled)
    return values.assign(hdi_low=values["hdi_low"].mask(at, 0.0))


def _run_rows(
    runs: Mapping[str, Sequence[Run]], answers: dict[str, Floats], distances: dict[str, Floats], layout: Layout
) -> "pd.DataFrame":
    import pandas as pd

    contrast = layout.weights[layout.group.max() + 2]
    rows = []
    for name, of_name in runs.items():
        for at, run in enumerate(of_name):
            of_words = answers[name][at].mean(axis=1)
            row = {"embedding": name, "run": at + 1, OVERALL: of_words.mean(), "contrast": contrast @ of_words}
            row[DISTANCE] = distances[name][at]
            if run.accuracy is not None:
                row["accuracy"], row["largest_label"] = run.accuracy, run.largest_label
            rows.append(row)
    return pd.DataFrame(rows)


def _reading(row: Mapping[str, Any], lower: str = "lower", higher: str = "higher") -> str:
    if not settled(row["hdi_low"], row["hdi_high"]):
        return f"not settled to be {lower} or {higher}"
    return lower if row["hdi_high"] < 0 else higher


def _interval(row: Mapping[str, Any], form: str = "+.3f") -> str:
    return f"{row['mean']:{form}}, {row['hdi_low']:{form}} to {row['hdi_high']:{form}}"

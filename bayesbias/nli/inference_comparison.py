"""`InferenceComparison`: answers of models of inference that were trained on different vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice, check_frame, check_type
from bayesbias.base.number_text import counted, interval_text, percent_text, signed_text
from bayesbias.base.results import DOUBTS, MOST_LINES, Contents, Result, ResultFigure, ResultTable, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.correlations import CORRELATION_COLUMNS, LEAST_EMBEDDINGS, correlated
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import contrast_name, is_settled, mark, probability_of_direction, settled_text
from bayesbias.nli.answer_draws import Layout, mean_draws, pair_draws, quantity_draws
from bayesbias.nli.answer_posterior import HIGHEST, TITLES, TOO_FEW_WORDS, layout_of
from bayesbias.nli.model_scores import Crossed, distance_of_means, scored

if TYPE_CHECKING:
    import pandas as pd


_MOST_PAIRS = 100  # pairs of words of the two groups
LITTLE = 0.05
"""Gain in accuracy over always answering the most frequent label, below which a training is hardly better."""
OVERALL, SIZE, DISTANCE = "overall", "size of the contrast", "distance"


@dataclass(frozen=True, eq=False, repr=False)
class InferenceComparison(Result):
    """Answers of models of inference with several embeddings, over several trainings with each.

    Parameters
    ----------
    score
        Modelled score: ``"error"`` (its mean is E), ``"neutral"``, ``"entailment"`` or ``"contradiction"``.
    groups
        The two groups that are compared.
    embeddings
        Names of the embeddings. The others are compared with the first.
    values
        One row per embedding, quantity and scope: `embedding`, `quantity` (``"overall"``, a group, the contrast of
        the two, its size, and d, ``"distance"``), `scope` (``"population"``: words like these, or ``"these_words"``),
        `mean`, `sd`, `hdi_low`, `hdi_high`.
    changes
        The same for the differences from the first embedding, with `probability_of_direction`.
    words
        Means of single words: `embedding`, `word`, `group`, `mean`, `sd`, `hdi_low`, `hdi_high`.
    word_pairs
        Differences between a word of the first group and one of the second, on the same premises: `embedding`, `first`,
        `second`, `mean`, `sd`, `hdi_low`, `hdi_high`; no rows if there are more than 100 such pairs.
    runs
        One row per training: `embedding`, `run`, the plain `overall`, `contrast` and `distance`; with test pairs also
        `accuracy`, and `largest_label`, the accuracy of always answering their most frequent label.
    hdi_prob, random_seed
        The arguments of `compare_answers`.
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
        return contrast_name(*self.groups)

    @cached_property
    def _parts(self) -> tuple[StatementList, ...]:
        answers = [self._answer(name) for name in self.embeddings[1:]]
        values = [self._value(name) for name in self.embeddings]
        counts = self.runs.groupby("embedding", sort=False).size()
        limits = [
            Statement(
                "runs",
                f"The intervals include the spread over premises and over trainings (at least {min(counts)} per "
                "embedding); those of words like these also include the spread over words. Other training data or "
                "another kind of model may give other answers.",
                {str(name): int(count) for name, count in counts.items()},
            )
        ]
        if "population" not in set(self.values["scope"]):
            limits.append(Statement("words", TOO_FEW_WORDS))
        title = f"{TITLES[self.score]} ({self.hdi_prob:.0%} HPDI)"
        return (
            StatementList("", (Statement("answer", f"{self._claim} {self._estimate}"),), bulleted=False),
            StatementList(DOUBTS, tuple(self._weak())),
            StatementList(f"Against {self.embeddings[0]}", tuple(answers)),
            StatementList(f"{title[0].upper()}{title[1:]}", tuple(values)),
            StatementList("How well the models read", tuple(self._accuracies())),
            StatementList("Data and limits", tuple(limits)),
        )

    @property
    def _first(self) -> dict[str, Any]:
        """The change of the contrast with the first of the other embeddings."""
        return self._row(self.changes, self.embeddings[1], SIZE)

    @property
    def _claim(self) -> str:
        """The answer: whether the contrast of the groups changes with each of the other embeddings."""
        by_claim: dict[str, list[str]] = {}
        for name in self.embeddings[1:]:
            row = self._row(self.changes, name, SIZE)
            settled = is_settled(row["hdi_low"], row["hdi_high"])
            claim = "has no settled change" if not settled else f"is {'smaller' if row['mean'] < 0 else 'larger'}"
            by_claim.setdefault(claim, []).append(name)
        claims = [f"{claim} with {name_some(names, 1)}" for claim, names in by_claim.items()]
        return f"Compared with {self.embeddings[0]}, the contrast {self.contrast} {' and '.join(claims)}."

    @property
    def _estimate(self) -> str:
        row, prob = self._first, percent_text(self.hdi_prob)
        ends = interval_text(row["hdi_low"], row["hdi_high"])
        what = f"Change of the contrast with {self.embeddings[1]} in {TITLES[self.score]}"
        return f"{what}: {signed_text(row['mean'])}, {prob} interval {ends}."

    def _figure(self, prob: str) -> ResultFigure:
        """Return a forest of the changes, those of all answers and of the contrast first if not all have room."""
        rows = self.changes[self.changes["scope"] == "these_words"]
        if len(rows) > MOST_LINES:
            rows = rows.loc[(~rows["quantity"].isin([OVERALL, SIZE])).sort_values(kind="stable").index]
        several = len(self.embeddings) > 2
        rows = rows.assign(
            label=[f"{row['embedding']}: {row['quantity']}" if several else row["quantity"] for row in rows_of(rows)],
            filled=[is_settled(row["hdi_low"], row["hdi_high"]) for row in rows_of(rows)],
        )
        caption = (
            f"Changes from {self.embeddings[0]} in {TITLES[self.score]} (points) with {prob} (lines). Filled: settled; "
            "hollow and grey: not settled."
        )
        return forest_figure(caption, rows, label=f"Change from {self.embeddings[0]}")

    @cached_property
    def contents(self) -> Contents:
        """What changed, values with each embedding, single words, trainings, data and limits."""
        prob = f"{percent_text(self.hdi_prob)} interval over premises and trainings"
        first, *others = self.embeddings
        parts = {part.title: part for part in self.parts if part.title}
        doubts, limits = (parts.pop(title, StatementList(title, ())) for title in (DOUBTS, "Data and limits"))
        count = others[0] if len(others) == 1 else counted(len(others), "embedding")
        return Contents(
            title=f"Do the answers of a model of inference change? {count} compared with {first}",
            about=f"{self.groups[0]} and {self.groups[1]}, {counted(len(self.runs), 'training')}.",
            answer=self._claim,
            estimate=self._estimate,
            parts=tuple(parts.values()),
            opened=(f"Against {first}", "Word by word"),
            doubts=doubts.statements,
            tables={
                "changes": ResultTable(
                    self.changes, f"Against {first}", f"Changes, {prob}", differences=True, mark=_mark
                ),
                "values": ResultTable(self.values, "With each embedding", f"Values, {prob}", differences=True),
                "words": ResultTable(
                    self.words,
                    "Word by word",
                    f"Words, {prob}",
                    note="A model that treats two words alike answers alike. Two words share the premises, so their "
                    "difference says more than whether two intervals overlap.",
                ),
                "word_pairs": ResultTable(
                    self.word_pairs,
                    "Word by word",
                    f"The first word minus the second, {prob}",
                    differences=True,
                    folded=True,
                ),
                "runs": ResultTable(self.runs, "Each training", "Observed values of each training", folded=True),
            },
            figures={
                "changes": self._figure(prob),
                "inference": ResultFigure(
                    "nli.plot_inference",
                    f"Means (points) with {prob} (lines). Below, a point is filled where its change from {first} is "
                    "settled, and hollow where it is not.",
                    section="With each embedding",
                ),
            },
            limits=limits.statements,
            settings={
                "Embeddings": ", ".join(self.embeddings),
                "Score": self.score,
                "Groups": " and ".join(self.groups),
                "Words": f"{self.words['word'].nunique():,}",
                "Interval": f"{percent_text(self.hdi_prob)} HPDI",
                "Seed": str(self.random_seed),
            },
        )

    def _row(self, frame: "pd.DataFrame", embedding: str, quantity: str, scope: str = "these_words") -> dict[str, Any]:
        chosen = (frame["embedding"] == embedding) & (frame["quantity"] == quantity)
        return rows_of(frame[chosen & (frame["scope"] == scope)])[0]

    def _answer(self, name: str) -> Statement:
        overall = self._row(self.changes, name, OVERALL)
        size = self._row(self.changes, name, SIZE)
        text = (
            f"{name}: {_reading(self._title, overall, 'lower', 'higher')} ({_interval(overall)}); "
            f"{_reading(f'the contrast {self.contrast}', size, 'smaller', 'larger')} ({_interval(size)})."
        )
        numbers = {"overall": overall, "size": size}
        return Statement("change", text, numbers)

    @property
    def _title(self) -> str:
        return "E" if self.score == "error" else TITLES[self.score]

    def _value(self, name: str) -> Statement:
        overall, contrast = self._row(self.values, name, OVERALL), self._row(self.values, name, self.contrast)
        what = settled_text(contrast["hdi_low"], contrast["hdi_high"])
        text = f"{name}: {_interval(overall, '.3f')}; {self.contrast} {_interval(contrast)}, {what}."
        return Statement("value", text, {"overall": overall, "contrast": contrast})

    def _accuracies(self) -> list[Statement]:
        if "accuracy" not in self.runs:
            return []
        statements = []
        for name in self.embeddings:
            of_runs = self.runs.loc[self.runs["embedding"] == name, "accuracy"]
            text = f"{name}: accuracy {of_runs.mean():.3f} ({of_runs.min():.3f} to {of_runs.max():.3f} over trainings)."
            statements.append(Statement("accuracy", text, {"accuracy": of_runs.tolist()}))
        largest = float(self.runs["largest_label"].max())
        text = f"Always giving the most frequent label has an accuracy of {largest:.3f}."
        statements.append(
            Statement("largest label", text, {"largest_label": largest, "weak_trainings": self._weak_trainings})
        )
        return statements

    @property
    def _weak_trainings(self) -> int:
        """Number of trainings that are hardly better than always giving the most frequent label."""
        if "accuracy" not in self.runs:
            return 0
        return int((self.runs["accuracy"] < float(self.runs["largest_label"].max()) + LITTLE).sum())

    def _weak(self) -> Iterator[Statement]:
        if weak := self._weak_trainings:
            text = (
                f"{weak} of {counted(len(self.runs), 'training is', 'trainings are')} hardly better than always giving "
                "the most frequent label, so their answers say little about the effect of the vectors."
            )
            kind = "weak trainings" if 2 * weak >= len(self.runs) else "some weak trainings"
            yield Statement(kind, text, {"weak_trainings": weak})


def _mark(row: Mapping[str, Any]) -> str:
    return mark(row, below="lower", above="higher")


@dataclass(frozen=True, eq=False)
class Run:
    """Answers of one trained model, and its accuracy if there were test pairs."""

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
    """Return the comparison of models' answers to one test set, by the name of their embedding."""
    names = list(runs)
    table = runs[names[0]][0].answers
    pair, kinds, layout = layout_of(table, groups)
    label = contrast_name(*pair)
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
        run_scores = answers[name]
        quantities_drawn = quantity_draws(
            run_scores.mean(axis=0), [run_scores.mean(axis=2)], layout, draws, rng
        ).within(0.0, HIGHEST[score])
        size = abs(quantities_drawn.these[:, len(quantities) - 1])
        apart = np.maximum(mean_draws(distances[name], draws, rng), 0.0)
        values += _labelled(name, quantities, quantities_drawn.like_these, quantities_drawn.these)
        values += [(name, SIZE, "these_words", size), (name, DISTANCE, "these_words", apart)]
        of_words = quantities_drawn.these[:, len(quantities) :].T
        words += [
            (name, word, kind, drawn) for word, kind, drawn in zip(table.words, table.groups, of_words, strict=True)
        ]
        if name == first:
            first_size, first_distance = size, apart
            continue
        difference = run_scores.mean(axis=0) - base.mean(axis=0)
        changed = quantity_draws(difference, [run_scores.mean(axis=2), base.mean(axis=2)], layout, draws, rng)
        changes += _labelled(name, quantities, changed.like_these, changed.these)
        changes += [
            (name, SIZE, "these_words", size - first_size),
            (name, DISTANCE, "these_words", apart - first_distance),
        ]
    keys = ("embedding", "quantity", "scope")
    return InferenceComparison(
        score=score,
        groups=pair,
        embeddings=tuple(names),
        values=_sizes_from_zero(_frame(values, keys, hdi_prob), label),
        changes=_frame(
            changes,
            keys,
            hdi_prob,
            probability_of_direction=[float(probability_of_direction(row[3])) for row in changes],
        ),
        words=_frame(words, ("embedding", "word", "group"), hdi_prob),
        word_pairs=_word_pairs(answers, table, layout, draws, hdi_prob, rng),
        runs=_run_rows(runs, answers, distances, layout),
        hdi_prob=hdi_prob,
        random_seed=random_seed,
    )


def _distance(table: Crossed, pair: tuple[str, str]) -> float:
    of_words = table.probabilities.mean(axis=1)
    first, second = (of_words[[kind == name for kind in table.groups]] for name in pair)
    return float(distance_of_means(first, second))


def _labelled(
    name: str, quantities: list[str], like_these: Floats | None, these: Floats
) -> list[tuple[str, str, str, Floats]]:
    drawn = {"these_words": these} if like_these is None else {"population": like_these, "these_words": these}
    # For each quantity, the two scopes follow one another.
    return [
        (name, what, who, matrix[:, column]) for column, what in enumerate(quantities) for who, matrix in drawn.items()
    ]


def _frame(
    rows: list[tuple[str, str, str, Floats]], keys: tuple[str, str, str], hdi_prob: float, **more: Any
) -> "pd.DataFrame":
    labels = {key: [str(row[place]) for row in rows] for place, key in enumerate(keys)}
    return frame_of_draws(np.stack([row[3] for row in rows], axis=1), labels, hdi_prob, **more)


def _word_pairs(
    answers: dict[str, Floats], table: Crossed, layout: Layout, draws: int, hdi_prob: float, rng: np.random.Generator
) -> "pd.DataFrame":
    sides = [np.flatnonzero(layout.group == code).tolist() for code in layout.pair]
    pairs = [(first, second) for first in sides[0] for second in sides[1]]
    rows = [
        (name, table.words[first], table.words[second], drawn)
        for name, run_scores in answers.items()
        if len(pairs) <= _MOST_PAIRS
        for (first, second), drawn in zip(pairs, pair_draws(run_scores, layout, pairs, draws, rng).T, strict=True)
    ]
    keys = ("embedding", "first", "second")
    if not rows:
        return _frame([("", "", "", np.zeros(draws))], keys, hdi_prob).iloc[:0]
    return _frame(rows, keys, hdi_prob)


def _sizes_from_zero(values: "pd.DataFrame", label: str) -> "pd.DataFrame":
    """Return values in which the interval of a size begins at 0 if that of the contrast contains 0.

    Draws of the size, an absolute value, are never exactly 0.
    """
    contrasts = values[(values["quantity"] == label) & (values["scope"] == "these_words")].set_index("embedding")
    unsettled = contrasts.index[(contrasts["hdi_low"] <= 0) & (contrasts["hdi_high"] >= 0)]
    is_unsettled_size = (values["quantity"] == SIZE) & values["embedding"].isin(unsettled)
    return values.assign(hdi_low=values["hdi_low"].mask(is_unsettled_size, 0.0))


def _run_rows(
    runs: Mapping[str, Sequence[Run]], answers: dict[str, Floats], distances: dict[str, Floats], layout: Layout
) -> "pd.DataFrame":
    import pandas as pd

    contrast = layout.weights[layout.group.max() + 2]
    rows = []
    for name, of_name in runs.items():
        for run_index, run in enumerate(of_name):
            of_words = answers[name][run_index].mean(axis=1)
            row = {"embedding": name, "run": run_index + 1, OVERALL: of_words.mean(), "contrast": contrast @ of_words}
            row[DISTANCE] = distances[name][run_index]
            if run.accuracy is not None:
                row["accuracy"], row["largest_label"] = run.accuracy, run.largest_label
            rows.append(row)
    return pd.DataFrame(rows)


def _reading(subject: str, row: Mapping[str, Any], lower: str, higher: str) -> str:
    if not is_settled(row["hdi_low"], row["hdi_high"]):
        return f"whether {subject} is {lower} or {higher} is not settled"
    return f"{subject} is {lower if row['hdi_high'] < 0 else higher}"


def _interval(row: Mapping[str, Any], form: str = "+.3f") -> str:
    return f"{row['mean']:{form}}, {row['hdi_low']:{form}} to {row['hdi_high']:{form}}"


def correlations(
    comparison: InferenceComparison, measures: "pd.DataFrame", *, quantity: str = OVERALL
) -> "pd.DataFrame":
    """Return the correlations of models' answers with measures of their vectors, over embeddings.

    Parameters
    ----------
    comparison
        Result of `bb.nli.train_and_compare` or `bb.nli.compare_answers` for at least 4 embeddings.
    measures
        One row per embedding, indexed by name, and one column per measure, such as
        ``pd.DataFrame({"midb": {"original": 0.05, "hard": 0.01}})``.
    quantity
        Quantity in `comparison.values`: ``"overall"``, a group, the contrast, its size or ``"distance"``.

    Returns
    -------
    pandas.DataFrame
        One row per measure: `measure`, `quantity`, the number of `embeddings` with a value, Pearson's `correlation`,
        its interval `hdi_low` to `hdi_high`, `probability_of_direction`, Spearman's `rank_correlation` with its
        interval `rank_correlation_low` to `rank_correlation_high`, and `reliability`, the share of the quantity's
        variance over embeddings that is not due to the spread over trainings and premises.

    Raises
    ------
    MeasureError
        If a measure has values for fewer than 4 of the embeddings, all values are equal, or a value is not a number.

    Notes
    -----
    See `correlation_interval`, and for values with heavy tails `rank_correlation_interval`. The correlation is that
    with the observed answers of these trainings: where `reliability` is low, noise shrinks it towards 0, and more
    trainings help. Embeddings that were derived from one original are not independent, so the intervals are, if
    anything, too narrow.

    References
    ----------
    Dawkins (2021), table 6, with r over 16 embeddings and no intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book']")
    >>> def trained(contrast):
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + contrast * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> contrasts = {"original": 0.5, "hard": 0.2, "misp": 0.3, "inlp": 0.1}
    >>> models = {name: [trained(contrast + more) for more in (0, 0.01, 0.02)] for name, contrast in contrasts.items()}
    >>> comparison = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> midb = {"original": 0.9, "hard": 0.2, "misp": 0.5, "inlp": 0.1}
    >>> bb.nli.correlations(comparison, pd.DataFrame({"midb": midb}))[["measure", "embeddings", "correlation"]].round(1)
      measure  embeddings  correlation
    0    midb           4          1.0
    """
    import pandas as pd

    check_type("comparison", comparison, InferenceComparison, "a result of bb.nli.train_and_compare")
    check_frame("measures", measures, "a frame: embeddings by measures")
    of_these = comparison.values[comparison.values["scope"] == "these_words"]
    check_choice("quantity", quantity, list(dict.fromkeys(of_these["quantity"])))
    quantity_rows = of_these[of_these["quantity"] == quantity].set_index("embedding")
    if measures.index.duplicated().any():
        raise MeasureError(f"measures has {measures.index[measures.index.duplicated()][0]!r} twice. Keep one row each.")
    if unknown := [name for name in measures.index if name not in quantity_rows.index]:
        raise MeasureError(
            f"measures has rows for {name_some(unknown)}, but the comparison has {name_some(quantity_rows.index)}. Use "
            "these names."
        )
    rows = []
    for name, column in measures.items():
        if column.dtype.kind not in "fiu" or not np.isfinite(column.dropna()).all():
            raise MeasureError(f"The measure {name!r} holds values that are not finite numbers. Give numbers.")
        present = column.dropna()
        values = quantity_rows.loc[present.index]
        if len(present) < LEAST_EMBEDDINGS or present.nunique() < 2 or values["mean"].nunique() < 2:
            raise MeasureError(
                f"The measure {name!r} has values for {len(present)} of the embeddings, {present.nunique()} of them "
                f"different. A correlation needs at least {LEAST_EMBEDDINGS} embeddings, and values that differ."
            )
        numbers = correlated(present, values["mean"], hdi_prob=comparison.hdi_prob)
        noise = float((values["sd"] ** 2).mean() / values["mean"].var(ddof=1))
        rows.append((name, quantity, len(present), *numbers, max(1 - noise, 0.0)))
    names = ["measure", "quantity", "embeddings", *CORRELATION_COLUMNS, "reliability"]
    return pd.DataFrame(rows, columns=names)

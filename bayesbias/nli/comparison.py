"""Whether a model of inference that is given other vectors treats groups more alike, with the spread of training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB, check_choice, check_count, check_probability, check_type, resolve_seed
from bayesbias.arrays import Floats
from bayesbias.errors import MeasureError
from bayesbias.estimates import settled
from bayesbias.nli.distances import distance_of_means
from bayesbias.nli.posterior import LIKE_THESE, SCORES, THESE, TITLES, estimate_frame, word_premises
from bayesbias.nli.run_draws import LEAST_RUNS, Layout, mean_draws, quantity_draws
from bayesbias.nli.scores import Crossed, accuracy, crossed, scored, two_groups
from bayesbias.nli.scores import score as answers_of
from bayesbias.statements import Part, Rendered, Statement, rows_of

if TYPE_CHECKING:
    import pandas as pd

type Model = Callable[[Sequence[str], Sequence[str]], Any]

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
    runs
        One row a training: `embedding`, `run`, the plain `overall`, `contrast` and `distance`, and its `accuracy` where
        there were pairs to test it on.
    hdi_prob, random_seed
        As they were given.
    """

    score: str
    groups: tuple[str, str]
    embeddings: tuple[str, ...]
    values: "pd.DataFrame"
    changes: "pd.DataFrame"
    words: "pd.DataFrame"
    runs: "pd.DataFrame"
    hdi_prob: float
    random_seed: int

    @property
    def contrast(self) -> str:
        """The name of the contrast in `values` and `changes`."""
        return contrast_label(self.groups)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
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
            Part(f"Against {self.embeddings[0]}", tuple(answers)),
            Part(f"{title[0].upper()}{title[1:]}", tuple(values)),
            Part("How well the models read", tuple(self._accuracies())),
            Part("What it rests on", tuple(limits)),
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
        return found


def compare_runs(
    models: Mapping[str, Sequence[Model]],
    test_set: "pd.DataFrame",
    score: str = "error",
    *,
    test_pairs: "pd.DataFrame | None" = None,
    groups: tuple[str, str] | None = None,
    draws: int = 4000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> InferenceComparison:
    """Compare models of inference that were trained several times, each kind of them with another embedding.

    Parameters
    ----------
    models
        By the name of their embedding, the models of its trainings, at least 3, each as for `bb.nli.score`. The first
        is the one that the others are compared with. Any models will do: those of `bb.nli.train`, or pipelines that
        were tuned with several seeds.
    test_set
        From `bb.nli.test_set`, or some of its rows.
    score
        ``"error"``, whose mean is E, or a probability: ``"neutral"``, ``"entailment"``, ``"contradiction"``.
    test_pairs
        Pairs with a `label`, from `bb.nli.read_pairs`, on which each model's accuracy is taken.
    groups
        The two groups that are compared; may be left out where there are two.
    draws, hdi_prob
        As for `bb.nli.posterior`.
    random_seed
        Seed of the draws. If it is left out, one is drawn and kept in the result.

    Returns
    -------
    InferenceComparison
        Printed, the answer; `values`, `changes`, `words` and `runs` are the numbers.

    Raises
    ------
    MeasureError
        If there are fewer than two embeddings or three trainings of one, a model's answer is not probabilities, or the
        groups are not determined.

    Notes
    -----
    Answers are averaged over trainings, and words and premises are modelled as in `bb.nli.posterior`; the spread over
    trainings is added as in Student's t, of both embeddings for a change (`bayesbias.nli.run_draws`). All embeddings
    are asked about the same words and premises, so that a change is that of the same sentences. The size of the
    contrast is its absolute value; its change takes the premises of the two embeddings as independent, which makes
    the interval wider. d (``"distance"``) has the trainings as its sample; it is at least 0, and of a few words never
    quite 0.

    References
    ----------
    Dawkins (2021), tables 1 to 4, has one training of each and no intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book', 'table', 'horse']")
    >>> def trained(gap, seed):
    ...     shift = np.random.default_rng(seed).normal(0, 0.02)
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + shift + gap * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> models = {"original": [trained(0.4, s) for s in range(5)], "debiased": [trained(0.1, s) for s in range(5)]}
    >>> found = bb.nli.compare_runs(models, pairs, random_seed=1)
    >>> settled = found.changes.query("quantity == 'male - female' and population == 'these words'")
    >>> settled[["mean", "probability_lower"]].round(1)
       mean  probability_lower
    7  -0.1                1.0
    """
    seed = resolve_seed(random_seed)
    check_choice("score", score, SCORES)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    check_models(models)
    names = list(models)
    asked = {name: [_answers(model, test_set) for model in models[name]] for name in names}
    table = asked[names[0]][0]
    pair = two_groups(table.groups, groups)
    kinds = list(dict.fromkeys(table.groups))
    group = np.array([kinds.index(name) for name in table.groups])
    layout = Layout(group, (kinds.index(pair[0]), kinds.index(pair[1])), word_premises(table))
    label = contrast_label(pair)
    quantities = [OVERALL, *kinds, label]
    rng = np.random.default_rng(seed)
    answers = {name: np.stack([scored(each, score) for each in asked[name]]) for name in names}
    distances = {name: np.array([_distance(each, pair) for each in asked[name]]) for name in names}
    first, base = names[0], answers[names[0]]
    first_size: Floats = np.zeros(draws)
    first_distance = first_size
    values: list[tuple[str, str, str, Floats]] = []
    changes: list[tuple[str, str, str, Floats]] = []
    words: list[tuple[str, str, str, Floats]] = []
    for name in names:
        own = answers[name]
        found = quantity_draws(own.mean(axis=0), [own.mean(axis=2)], layout, draws, rng)
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
        values=_frame(values, keys, hdi_prob),
        changes=_frame(changes, keys, hdi_prob, probability_lower=[float((row[3] < 0).mean()) for row in changes]),
        words=_frame(words, ("embedding", "word", "group"), hdi_prob),
        runs=_runs(models, answers, distances, layout, test_pairs),
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def contrast_label(pair: tuple[str, str]) -> str:
    """Return the name of a contrast of two groups.

    >>> contrast_label(("male", "female"))
    'male - female'
    """
    return f"{pair[0]} - {pair[1]}"


def check_models(models: Any, what: str = "models") -> None:
    """Raise `MeasureError` unless `models` has two names or more, and enough models of each."""
    check_type(what, models, Mapping, "a mapping of names to models")
    if len(models) < 2:
        raise MeasureError(
            f"{what} has {len(models)} embedding. Give two or more: the first is compared with the others."
        )
    for name, trained in models.items():
        if isinstance(trained, str) or not isinstance(trained, Sequence) or not all(map(callable, trained)):
            raise MeasureError(f"{what}[{name!r}] is no list of models. Give the models of its trainings.")
        if len(trained) < LEAST_RUNS:
            raise MeasureError(
                f"{what}[{name!r}] has {len(trained)} models. How far trainings part takes {LEAST_RUNS} at least, "
                "and 5 or more to say it with some confidence."
            )


def _answers(model: Model, test_set: "pd.DataFrame") -> Crossed:
    return crossed(answers_of(test_set, model))


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


def _runs(
    models: Mapping[str, Sequence[Model]],
    answers: dict[str, Floats],
    distances: dict[str, Floats],
    layout: Layout,
    test_pairs: "pd.DataFrame | None",
) -> "pd.DataFrame":
    import pandas as pd

    contrast = layout.weights[layout.group.max() + 2]
    rows = []
    for name, trained in models.items():
        for run, model in enumerate(trained):
            of_words = answers[name][run].mean(axis=1)
            row = {"embedding": name, "run": run + 1, OVERALL: of_words.mean(), "contrast": contrast @ of_words}
            row[DISTANCE] = distances[name][run]
            if test_pairs is not None:
                row["accuracy"] = accuracy(model, test_pairs)
            rows.append(row)
    return pd.DataFrame(rows)


def _reading(row: Mapping[str, Any], lower: str = "lower", higher: str = "higher") -> str:
    if not settled(row["hdi_low"], row["hdi_high"]):
        return f"not settled to be {lower} or {higher}"
    return lower if row["hdi_high"] < 0 else higher


def _interval(row: Mapping[str, Any], form: str = "+.3f") -> str:
    return f"{row['mean']:{form}}, {row['hdi_low']:{form}} to {row['hdi_high']:{form}}"

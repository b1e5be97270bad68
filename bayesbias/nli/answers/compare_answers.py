"""Compare models of inference that were trained several times, each kind of them on other vectors."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, check_type, resolve_seed
from bayesbias.errors import MeasureError
from bayesbias.nli.answers.inference_comparison import InferenceComparison, Run, compared
from bayesbias.nli.answers.posterior import SCORES, layout_of
from bayesbias.nli.answers.run_draws import LEAST_RUNS
from bayesbias.nli.test_sets.accuracy import accuracy
from bayesbias.nli.test_sets.pairs import checked_pairs
from bayesbias.nli.test_sets.scores import checked_probabilities, crossed
from bayesbias.nli.test_sets.scores import score as answers_of

if TYPE_CHECKING:
    import pandas as pd

type Model = Callable[[Sequence[str], Sequence[str]], Any]


def compare_answers(
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
    trainings is added as in Student's t, of both embeddings for a change (`bayesbias.nli.answers.run_draws`). All embeddings
    are asked about the same words and premises, so that a change is that of the same sentences.

    The size of the contrast is its absolute value, and its interval begins at 0 where that of the contrast holds 0; its
    change takes the premises of the two embeddings as independent, which makes the interval wider. d (``"distance"``)
    has the trainings as its sample, and says nothing of other words or premises; it is at least 0, and of a few words
    never quite 0: read its change, not its value, as a sign of a difference.

    Intervals of changes are a little too narrow where one embedding has few trainings and these vary much more than
    those of the other: take five of each at least. Words of all groups are taken to vary alike: where the words of a
    small group vary more than those of a large one, intervals of the contrast of words like these are too narrow.
    `tests/nli/answers/test_run_draws.py` simulates trainings and words that are not Normal.

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
    >>> found = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> settled = found.changes.query("quantity == 'male - female' and population == 'these words'")
    >>> settled[["mean", "probability_lower"]].round(1)
       mean  probability_lower
    7  -0.1                1.0
    """
    seed = checked_seed(score, draws, hdi_prob, random_seed)
    _check_models(models)
    check_asked(test_set, test_pairs, groups)
    runs = {name: [run_of(model, test_set, test_pairs) for model in trained] for name, trained in models.items()}
    return compared(runs, score, groups=groups, draws=draws, hdi_prob=hdi_prob, random_seed=seed)


def checked_seed(score: str, draws: int, hdi_prob: float, random_seed: int | None) -> int:
    """Return the seed, drawn if there is none; raise `ArgumentError` if an argument is not usable."""
    check_choice("score", score, SCORES)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    return resolve_seed(random_seed)


def check_asked(test_set: "pd.DataFrame", test_pairs: "pd.DataFrame | None", groups: tuple[str, str] | None) -> None:
    """Raise `MeasureError` if the answers to a test set could not be compared, before any model is asked."""
    answers = crossed(answers_of(test_set, lambda first, _: np.tile([1.0, 0.0, 0.0], (len(first), 1))))
    layout_of(answers, groups)
    if test_pairs is not None:
        checked_pairs("test_pairs", test_pairs)


def run_of(model: Model, test_set: "pd.DataFrame", test_pairs: "pd.DataFrame | None") -> Run:
    """Return what a model answers to a test set, and how accurate it is."""
    answers = crossed(answers_of(test_set, model))
    if test_pairs is None:
        return Run(answers)
    pairs = checked_pairs("test_pairs", test_pairs)
    premises, hypotheses = pairs["premise"].tolist(), pairs["hypothesis"].tolist()
    found = checked_probabilities(model(premises, hypotheses), len(premises), premises, hypotheses)
    judged = accuracy(found, pairs["label"].tolist(), hdi_prob=HDI_PROB)
    return Run(answers, judged.accuracy, judged.largest_label)


def _check_models(models: Any) -> None:
    """Raise `MeasureError` unless there are two names or more, and enough models of each."""
    check_type("models", models, Mapping, "a mapping of names to models")
    check_several(models, "models")
    for name, trained in models.items():
        if isinstance(trained, str) or not isinstance(trained, Sequence) or not all(map(callable, trained)):
            raise MeasureError(f"models[{name!r}] is no list of models. Give the models of its trainings.")
        if len(trained) < LEAST_RUNS:
            raise MeasureError(
                f"models[{name!r}] has {len(trained)} models. Give those of at least {LEAST_RUNS} trainings, and of "
                "5 or more to say with some confidence how far trainings differ."
            )


def check_several(given: Mapping[str, Any], what: str) -> None:
    """Raise `MeasureError` unless there are two names or more."""
    if len(given) < 2:
        there = "1 embedding" if len(given) == 1 else "no embedding"
        raise MeasureError(f"{what} has {there}. Give two or more: the first is compared with the others.")
    if wrong := [name for name in given if not isinstance(name, str) or not name.strip()]:
        raise MeasureError(f"{what} has the name {wrong[0]!r}. Give each embedding a name, as text.")

"""`compare_answers`: compare models of inference that were trained several times on each of several embeddings."""

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
    """Return a comparison of models of inference that were trained several times on each of several embeddings.

    Parameters
    ----------
    models
        At least 3 models per embedding, one per training, by the name of the embedding; each as for `bb.nli.score`,
        such as those of `bb.nli.train`, or pipelines tuned with several seeds. The other embeddings are compared with
        the first.
    test_set
        From `bb.nli.test_set`, or some of its rows.
    score
        ``"error"``, whose mean is E, or a probability: ``"neutral"``, ``"entailment"``, ``"contradiction"``.
    test_pairs
        Pairs with a `label`, from `bb.nli.read_pairs`, on which the accuracy of each model is measured.
    groups
        The two groups to compare. Optional if there are only two.
    draws, hdi_prob
        As for `bb.nli.posterior`.
    random_seed
        Seed of the draws. If None, a seed is drawn and recorded in the result.

    Returns
    -------
    InferenceComparison
        When printed, it states the result; `values`, `changes`, `words` and `runs` hold the numbers.

    Raises
    ------
    MeasureError
        If there are fewer than two embeddings or three trainings of one, a model does not return probabilities, or the
        two groups are not specified.

    Notes
    -----
    Answers are averaged over trainings, and words and premises are modelled as in `bb.nli.posterior`. The spread over
    trainings is added as in Student's t, for a change that of both embeddings (`answers.run_draws`). All models
    answer about the same words and premises, so a change is estimated from the same sentences.

    The size of the contrast is its absolute value. Its interval begins at 0 if the interval of the contrast contains 0.
    The change of the size treats the premises of the two embeddings as independent, which widens the interval. d
    (``"distance"``) is estimated over trainings alone and does not generalise to other words or premises. It is never
    negative, and with few words never quite 0: judge a difference by its change, not by its value.

    Intervals of changes are slightly too narrow if one embedding has few trainings that vary much more than those of
    the other: use at least five of each. Words are assumed to vary equally in all groups: if the words of a small group
    vary more than those of a large one, intervals of the contrast of words like these are too narrow.
    `tests/nli/answers/test_run_draws.py` simulates trainings and words that are not Normal.

    References
    ----------
    Dawkins (2021), tables 1 to 4, with one training per embedding and no intervals.

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
    >>> comparison = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> settled = comparison.changes.query("quantity == 'male - female' and population == 'these words'")
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
    """Return the seed, drawn if None; raise `ArgumentError` if an argument is invalid."""
    check_choice("score", score, SCORES)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    return resolve_seed(random_seed)


def check_asked(test_set: "pd.DataFrame", test_pairs: "pd.DataFrame | None", groups: tuple[str, str] | None) -> None:
    """Raise `MeasureError` if answers to a test set could not be compared. No model is called."""
    answers = crossed(answers_of(test_set, lambda first, _: np.tile([1.0, 0.0, 0.0], (len(first), 1))))
    layout_of(answers, groups)
    if test_pairs is not None:
        checked_pairs("test_pairs", test_pairs)


def run_of(model: Model, test_set: "pd.DataFrame", test_pairs: "pd.DataFrame | None") -> Run:
    """Return the answers of a model to a test set, and its accuracy on `test_pairs`."""
    answers = crossed(answers_of(test_set, model))
    if test_pairs is None:
        return Run(answers)
    pairs = checked_pairs("test_pairs", test_pairs)
    premises, hypotheses = pairs["premise"].tolist(), pairs["hypothesis"].tolist()
    probabilities = checked_probabilities(model(premises, hypotheses), len(premises), premises, hypotheses)
    accuracy_on_pairs = accuracy(probabilities, pairs["label"].tolist(), hdi_prob=HDI_PROB)
    return Run(answers, accuracy_on_pairs.accuracy, accuracy_on_pairs.largest_label)


def _check_models(models: Any) -> None:
    """Raise `MeasureError` unless there are at least two names and enough models of each."""
    check_type("models", models, Mapping, "a mapping of names to models")
    check_several(models, "models")
    for name, trained in models.items():
        if isinstance(trained, str) or not isinstance(trained, Sequence) or not all(map(callable, trained)):
            raise MeasureError(f"models[{name!r}] is not a list of models. Give one model per training.")
        if len(trained) < LEAST_RUNS:
            raise MeasureError(
                f"models[{name!r}] has {len(trained)} models. Give at least {LEAST_RUNS}, each from a training of its "
                "own; 5 or more give a useful estimate of how much trainings differ."
            )


def check_several(by_name: Mapping[str, Any], argument: str) -> None:
    """Raise `MeasureError` unless there are at least two names."""
    if len(by_name) < 2:
        count = "1 embedding" if len(by_name) == 1 else "no embedding"
        raise MeasureError(f"{argument} has {count}. Give two or more: the others are compared with the first.")
    if wrong := [name for name in by_name if not isinstance(name, str) or not name.strip()]:
        raise MeasureError(f"{argument} has the name {wrong[0]!r}. Names must be text.")

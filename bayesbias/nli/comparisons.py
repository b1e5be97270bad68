"""Models of inference compared: trained several times on each of several embeddings, or on debiased vectors."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.checks import (
    HDI_PROB,
    check_choice,
    check_count,
    check_items,
    check_probability,
    check_type,
    resolve_seed,
)
from bayesbias.base.files.outputs import check_folder, create_folder
from bayesbias.debias import DebiasWords, methods_from_names
from bayesbias.debias.debias_words import Sets, as_debias_words
from bayesbias.debias.method import whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.nli.answer_draws import LEAST_RUNS
from bayesbias.nli.answer_posterior import SCORES, layout_of
from bayesbias.nli.inference_comparison import InferenceComparison, Run, compared
from bayesbias.nli.model_scores import accuracy, checked_probabilities, crossed
from bayesbias.nli.model_scores import score as answers_of
from bayesbias.nli.sentence_pairs import checked_sentence_pairs
from bayesbias.nli.sentence_pairs import test_set as make_test_set
from bayesbias.nli.training import train

if TYPE_CHECKING:
    import pandas as pd


type Model = Callable[[Sequence[str], Sequence[str]], Any]

ORIGINAL = "original"


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
    test_pairs
        Pairs with a `label`, from `bb.nli.read_pairs`, on which the accuracy of each model is measured.
    score, groups, draws, hdi_prob, random_seed
        As for `bb.nli.posterior`.

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
    trainings is added as in Student's t, for a change that of both embeddings (`answer_draws.run_variances`). All
    models answer about the same words and premises, so a change is estimated from the same sentences.

    The size of the contrast is its absolute value. Its interval begins at 0 if the interval of the contrast contains 0.
    The change of the size treats the premises of the two embeddings as independent, which widens the interval. d
    (``"distance"``) is estimated over trainings alone and does not generalise to other words or premises. It is never
    negative, and with few words never quite 0: judge a difference by its change, not by its value.

    Intervals of changes are slightly too narrow if one embedding has few trainings that vary much more than those of
    the other: use at least five of each. Words are assumed to vary equally in all groups: if the words of a small group
    vary more than those of a large one, intervals of the contrast of words like these are too narrow.
    `tests/nli/test_answer_draws_run_draws.py` simulates trainings and words that are not Normal.

    References
    ----------
    Dawkins (2021), tables 1 to 4, with one training per embedding and no intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book', 'table', 'horse']")
    >>> def trained(contrast, seed):
    ...     shift = np.random.default_rng(seed).normal(0, 0.02)
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + shift + contrast * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> models = {"original": [trained(0.4, s) for s in range(5)], "debiased": [trained(0.1, s) for s in range(5)]}
    >>> comparison = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> settled = comparison.changes.query("quantity == 'male - female' and scope == 'these_words'")
    >>> settled[["mean", "probability_of_direction"]].round(1)
       mean  probability_of_direction
    7  -0.1                       1.0
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
        checked_sentence_pairs("test_pairs", test_pairs)


def run_of(model: Model, test_set: "pd.DataFrame", test_pairs: "pd.DataFrame | None") -> Run:
    """Return the answers of a model to a test set, and its accuracy on `test_pairs`."""
    answers = crossed(answers_of(test_set, model))
    if test_pairs is None:
        return Run(answers)
    pairs = checked_sentence_pairs("test_pairs", test_pairs)
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


SETTINGS = (
    *("hidden_units", "learning_rate", "dropout", "intra_attention"),
    *("epochs", "patience", "batch_size"),
)
"""Arguments of `train` that `train_and_compare` passes on."""


def train_and_compare(
    embeddings: Mapping[str, EmbeddingLike],
    pairs: "pd.DataFrame",
    test_set: "pd.DataFrame | str | os.PathLike[str]" = "explicit",
    *,
    score: str = "error",
    trainings: int = 5,
    development: "pd.DataFrame | None" = None,
    test_pairs: "pd.DataFrame | None" = None,
    settings: Mapping[str, Any] | None = None,
    checkpoints: str | os.PathLike[str] | None = None,
    groups: tuple[str, str] | None = None,
    draws: int = 4000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    progress: bool = True,
) -> InferenceComparison:
    """Return a comparison of models of inference, which are trained several times on each of several embeddings.

    Parameters
    ----------
    embeddings
        Embeddings by name, such as ``{"original": vectors, "debiased": others}``. The others are compared with the
        first.
    pairs, development
        Training and development pairs, as for `bb.nli.train`.
    test_set
        A frame from `bb.nli.test_set`, or the argument of that function.
    score, groups, draws, hdi_prob
        As for `bb.nli.posterior`.
    trainings
        Number of trainings of each embedding, at least 3.
    test_pairs
        Labelled pairs on which the accuracy of each model is measured, which shows the cost of debiasing.
    settings
        Other arguments of `bb.nli.train`, such as ``{"hidden_units": 100}``.
    checkpoints
        Folder for a checkpoint of each training, created if it does not exist. After an interruption the same call
        continues.
    random_seed
        Seed of trainings and draws. If None, a seed is drawn and recorded in the result.
    progress
        Whether to show progress bars.

    Returns
    -------
    InferenceComparison
        As from `bb.nli.compare_answers` with the trained models.

    Raises
    ------
    MeasureError, ArgumentError, InputFileError, OutputError, LostWordsError
        As for `bb.nli.train`, `bb.nli.test_set` and `bb.nli.compare_answers`, before any training.

    Warns
    -----
    LostWordsWarning
        As for `bb.nli.train`, once per embedding.

    Examples
    --------
    >>> sentences = ["A man sleeps", "A man eats", "Nobody sleeps"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "hypothesis": sentences})
    >>> pairs["label"] = ["entailment", "neutral", "contradiction"]
    >>> questions = bb.nli.test_set("explicit").query("object in ['apple', 'soup']")
    >>> words = sorted({word for text in [*pairs["hypothesis"], *questions["hypothesis"], *questions["premise"]]
    ...                 for word in text.lower().rstrip(".").split()})
    >>> rng = np.random.default_rng(1)
    >>> vectors = {name: (words, rng.standard_normal((len(words), 8))) for name in ("first", "second")}
    >>> quick = {"hidden_units": 8, "epochs": 3, "batch_size": 3}
    >>> comparison = bb.nli.train_and_compare(
    ...     vectors, pairs, questions, trainings=3, development=pairs, settings=quick, random_seed=1, progress=False
    ... )
    >>> comparison.runs[["embedding", "run"]].shape
    (6, 2)
    """
    seed = checked_seed(score, draws, hdi_prob, random_seed)
    check_count("trainings", trainings, least=LEAST_RUNS, most=1000)
    check_type("embeddings", embeddings, Mapping, "a mapping of names to embeddings")
    check_several(embeddings, "embeddings")
    chosen = {check_choice("settings", name, SETTINGS): value for name, value in (settings or {}).items()}
    test_frame = test_set if isinstance(test_set, pd.DataFrame) else make_test_set(test_set)
    check_asked(test_frame, test_pairs, groups)
    folder = None if checkpoints is None else check_folder(checkpoints, overwrite=True)
    if folder is not None:
        create_folder(folder)
    training_seeds = np.random.SeedSequence(seed).generate_state(trainings).tolist()
    runs: dict[str, list[Run]] = {name: [] for name in embeddings}
    for place, (name, source) in enumerate(embeddings.items(), start=1):
        vectors = source if isinstance(source, Embedding) else load_embedding(source)  # a file is read once
        for number, training_seed in enumerate(training_seeds, start=1):
            with warnings.catch_warnings():
                if number > 1:  # all trainings of an embedding lack the same words
                    warnings.simplefilter("ignore", LostWordsWarning)
                model = train(
                    vectors,
                    pairs,
                    development=development,
                    # A seed drawn by an earlier call is stored in the checkpoint.
                    random_seed=None if folder is not None and random_seed is None else training_seed,
                    checkpoint=None if folder is None else folder / f"embedding-{place}-training-{number}.checkpoint",
                    progress=progress,
                    **chosen,
                )
                runs[name].append(run_of(model, test_frame, test_pairs))
    return compared(runs, score, groups=groups, draws=draws, hdi_prob=hdi_prob, random_seed=seed)


def debias_and_compare(
    embedding: EmbeddingLike,
    methods: Mapping[str, Any] | Sequence[str] | str,
    sets: str | os.PathLike[str] | DebiasWords | Sets,
    pairs: "pd.DataFrame",
    test_set: "pd.DataFrame | str | os.PathLike[str]" = "explicit",
    score: str = "error",
    **options: Any,
) -> InferenceComparison:
    """Return a comparison of models of inference trained on an embedding before and after several debiasing methods.

    Parameters
    ----------
    embedding
        An embedding with all its words; it is the first of the comparison, under the name ``"original"``.
    methods
        Names in `bayesbias.debias.METHODS`, such as ``["misp", "gn_glove+misp"]``; or methods by name, such as ``{"4
        directions": bb.debias.MISP(), "8 directions": bb.debias.MISP(components=8)}``.
    sets
        Words that the methods need: a name of `bayesbias.debias.list_debias_words`, a path, or `DebiasWords`.
    pairs, test_set, score
        As for `bb.nli.train_and_compare`. The default score is the error, whose mean is E.
    **options
        Other arguments of `bb.nli.train_and_compare`, such as `trainings`, `development` and `random_seed`.

    Returns
    -------
    InferenceComparison
        As from `bb.nli.train_and_compare`.

    Raises
    ------
    MeasureError
        If a method is called ``"original"``, or cannot be applied; before any training.
    ArgumentError
        If there is no such method.

    Warns
    -----
    LostWordsWarning
        As for `Method.fit` and `bb.nli.train`.

    References
    ----------
    Dawkins (2021), section 5: E of GN-GloVe(w_a) before and after MISP and MHD, with one training each.

    Examples
    --------
    >>> sentences = ["A man sleeps", "A man eats", "Nobody sleeps"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "hypothesis": sentences})
    >>> pairs["label"] = ["entailment", "neutral", "contradiction"]
    >>> questions = bb.nli.test_set("explicit").query("object in ['apple', 'soup']")
    >>> words = sorted({word for text in [*pairs["hypothesis"], *questions["hypothesis"], *questions["premise"]]
    ...                 for word in text.lower().rstrip(".").split()})
    >>> vectors = words, np.random.default_rng(1).standard_normal((len(words), 8))
    >>> names = bb.debias.DebiasWords("gender", [["he", "she"]], names=[["woman", "lady"], ["man", "guy"]])
    >>> methods = {"misp": bb.debias.MISP(components=1), "mhd": bb.debias.MHD(components=1)}
    >>> comparison = bb.nli.debias_and_compare(
    ...     vectors, methods, names, pairs, questions, trainings=3, development=pairs, random_seed=1, progress=False,
    ...     settings={"hidden_units": 8, "epochs": 3, "batch_size": 3},
    ... )
    >>> comparison.runs.groupby("embedding", sort=False).size().to_dict()
    {'original': 3, 'misp': 3, 'mhd': 3}
    """
    if isinstance(methods, Mapping):
        chosen = dict(methods)
    else:
        names = [methods] if isinstance(methods, str) else check_items("methods", methods, "a list of methods")
        chosen = methods_from_names(names, {})
    for name, method in chosen.items():
        check_type("a name of methods", name, str, "text")
        if name == ORIGINAL or not callable(getattr(method, "fit", None)):
            raise MeasureError(
                f"methods: {name!r} is {method!r}. Give methods by name, such as {{'misp': MISP()}}; the name "
                f"{ORIGINAL!r} is taken."
            )
    source, words = whole_embedding(embedding), as_debias_words(sets)
    embeddings = {ORIGINAL: source}
    embeddings |= {name: method.fit(source, words).transform(source) for name, method in chosen.items()}
    return train_and_compare(embeddings, pairs, test_set, score=score, **options)

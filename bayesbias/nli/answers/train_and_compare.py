"""`train_and_compare`: train models of inference on several embeddings, and compare their answers."""

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_type
from bayesbias.base.files.outputs import check_folder, create_folder
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import LostWordsWarning
from bayesbias.nli.answers.compare_answers import check_asked, check_several, checked_seed, run_of
from bayesbias.nli.answers.inference_comparison import InferenceComparison, Run, compared
from bayesbias.nli.answers.run_draws import LEAST_RUNS
from bayesbias.nli.test_sets.generation import test_set as make_test_set
from bayesbias.nli.trained.training import train

SETTINGS = (
    *("hidden_units", "learning_rate", "weight_decay", "dropout", "intra_attention"),
    *("epochs", "patience", "batch_size"),
)
"""Arguments of `train` that `train_and_compare` passes on."""


def train_and_compare(
    embeddings: Mapping[str, EmbeddingLike],
    pairs: "pd.DataFrame",
    test_set: "pd.DataFrame | str | os.PathLike[str]" = "explicit",
    *,
    score: str = "error",
    seeds: int = 5,
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
    seeds
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
    ...     vectors, pairs, questions, seeds=3, development=pairs, settings=quick, random_seed=1, progress=False
    ... )
    >>> comparison.runs[["embedding", "run"]].shape
    (6, 2)
    """
    seed = checked_seed(score, draws, hdi_prob, random_seed)
    check_count("seeds", seeds, least=LEAST_RUNS, most=1000)
    check_type("embeddings", embeddings, Mapping, "a mapping of names to embeddings")
    check_several(embeddings, "embeddings")
    chosen = {check_choice("settings", name, SETTINGS): value for name, value in (settings or {}).items()}
    test_frame = test_set if isinstance(test_set, pd.DataFrame) else make_test_set(test_set)
    check_asked(test_frame, test_pairs, groups)
    folder = None if checkpoints is None else check_folder(checkpoints, overwrite=True)
    if folder is not None:
        create_folder(folder)
    training_seeds = np.random.SeedSequence(seed).generate_state(seeds).tolist()
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

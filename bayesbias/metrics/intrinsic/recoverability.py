"""Recoverability: how well a classifier finds the side of a word before debiasing."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import (
    HDI_PROB,
    check_choice,
    check_count,
    check_items,
    check_number,
    resolve_seed,
)
from bayesbias.base.machine.extras import require
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import unit_rows
from bayesbias.metrics.intrinsic.biased_words import PAIR, load_both, most_biased_words, vocabulary_of
from bayesbias.metrics.measure_entry import DAWKINS, NEUTRAL_WORDS, Measure
from bayesbias.metrics.quantities import Quantity
from bayesbias.metrics.result import Items, MeasureResult, result_of_items
from bayesbias.metrics.shared_parameters import shared_parameters

_WHAT = "The recoverability of bias"


def _logistic_regression(seed: int) -> Any:
    return require("sklearn.linear_model", "classifiers", _WHAT).LogisticRegression(max_iter=1000, random_state=seed)


def _linear_svm(seed: int) -> Any:
    return require("sklearn.svm", "classifiers", _WHAT).SVC(kernel="linear", random_state=seed)


def _rbf_svm(seed: int) -> Any:
    return require("sklearn.svm", "classifiers", _WHAT).SVC(kernel="rbf", random_state=seed)


def _network(seed: int) -> Any:
    # On few examples lbfgs reaches the minimum; the default, Adam, stops before it.
    network = require("sklearn.neural_network", "classifiers", _WHAT).MLPClassifier
    return network(hidden_layer_sizes=(100,), solver="lbfgs", max_iter=2000, random_state=seed)


CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic_regression": _logistic_regression,
    "linear_svm": _linear_svm,
    "rbf_svm": _rbf_svm,
    "network": _network,
}
"""Classifiers of `recoverability`, by name: functions of a seed, with scikit-learn's default settings unless given."""


@shared_parameters()
def recoverability(
    embedding: EmbeddingLike,
    words: Sequence[str] | None = None,
    *,
    reference: EmbeddingLike | None = None,
    pair: tuple[str, str] = PAIR,
    words_in_all: int = 5000,
    train: float = 0.2,
    splits: int = 10,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
) -> MeasureResult:
    """Return how well classifiers find, from a word's vector, its side of an axis before debiasing.

    Parameters
    ----------
    words
        Words to choose from. None: all that `neutral_words` finds in the reference.
    reference
        Embedding before debiasing, which chooses and labels the words. None: `embedding` itself.
    pair
        Two words whose difference is the axis.
    words_in_all
        Number of the most biased words to classify, half from each end of the axis.
    train
        Share of them used for training, the same number from each side.
    splits
        Number of random splits into words for training and for testing, at least 2.
    classifiers
        Names in `bayesbias.metrics.CLASSIFIERS`; the first is the headline.
    random_seed
        Seed of the splits and of the classifiers. Scores to be compared need the same. None: a seed is drawn and
        recorded in the result.

    Returns
    -------
    MeasureResult
        For each classifier, the mean over splits of the share of words classified correctly: 0.5 is chance, 1 means
        that the bias can be recovered completely. The items are the splits.

    Raises
    ------
    MeasureError
        If scikit-learn is not installed, there are too few words, or the embedding lacks some that the reference has.

    Notes
    -----
    Vectors are scaled to length 1. The splits of one set of words overlap, so their mean varies less than it would with
    new words. The interval is therefore that of a t distribution whose variance is (1 / splits + test / train) times
    the variance between splits; it is wide if few words are used for training.

    References
    ----------
    Hila Gonen and Yoav Goldberg (2019). Lipstick on a pig. NAACL-HLT 2019, section 4. Dawkins (2021), appendix B.
    Claude Nadeau and Yoshua Bengio (2003). Inference for the generalization error. Machine Learning 52,
    239-281, equation 15.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> score = bb.metrics.recoverability(path, words_in_all=200, splits=3, classifiers=["rbf_svm"], random_seed=1)
    >>> bool(0.5 < score.value <= 1), len(score.scores)
    (True, 3)
    """
    seed = resolve_seed(random_seed)
    share = check_number("train", train, low=0, high=0.9, above=True)
    count = check_count("splits", splits, least=2)
    names = [
        check_choice("classifiers", name, CLASSIFIERS) for name in check_items("classifiers", classifiers, "names")
    ]
    if not names or len(set(names)) < len(names):
        raise MeasureError(f"classifiers={classifiers!r}: give different names, out of {', '.join(CLASSIFIERS)}.")
    source, chooser = load_both(embedding, reference)
    sides = most_biased_words(chooser, vocabulary_of(chooser, words)[0], pair, words_in_all)
    if lost := source.lookup([*sides[0], *sides[1]]).lost:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {len(lost):,} words that {chooser.name!r} chose ({name_some(lost)}), "
            "so its splits would differ. Give words that both have."
        )
    vectors = [unit_rows(source.matrix(side)) for side in sides]
    learnt = round(share * len(sides[0]))
    if learnt < 1:
        raise MeasureError(f"train={train:g} of {len(sides[0])} words on each side is less than 1 word. Give more.")
    rows = [
        _accuracies(vectors, learnt, names, np.random.SeedSequence([seed, number]))
        for number in with_progress(range(count), "Recoverability", progress=progress)
    ]
    digest = sha256("\0".join([*sides[0], "", *sides[1]]).encode()).hexdigest()[:8]
    items = pd.DataFrame(rows, columns=names)
    items["item"] = [f"split {number} of seed {seed} of words {digest}" for number in range(count)]
    overlap = (len(sides[0]) - learnt) / learnt
    return result_of_items(
        "recoverability",
        source.name,
        Items(items),
        [Quantity(name, "split_mean", (name,), test_over_train=overlap) for name in names],
        conventions=(
            f"{2 * len(sides[0]):,} words, half from each end of {pair[0]} - {pair[1]} in the reference; {learnt:,} a "
            f"side to learn from; {count} splits, variance of Nadeau and Bengio; vectors of length 1"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _accuracies(
    vectors: Sequence[Floats], learnt: int, names: Sequence[str], sequence: np.random.SeedSequence
) -> list[float]:
    """Return the share of words that each classifier classifies correctly in one split."""
    random = np.random.default_rng(sequence)
    orders = [random.permutation(len(rows)) for rows in vectors]
    parts = [(rows[order[:learnt]], rows[order[learnt:]]) for rows, order in zip(vectors, orders, strict=True)]
    train, test = (np.concatenate([part[kind] for part in parts]) for kind in (0, 1))
    state = int(sequence.generate_state(1)[0])
    right = []
    for name in names:
        model = CLASSIFIERS[name](state).fit(train, np.repeat([0, 1], learnt))
        right.append(float((model.predict(test) == np.repeat([0, 1], len(test) // 2)).mean()))
    return right


RECOVERABILITY = Measure(
    "recoverability", "recoverability of a bias by classifiers",
    "share of words whose side before debiasing a classifier finds from their vectors", "0 to 1; 0.5 is chance",
    NEUTRAL_WORDS, f"Gonen and Goldberg (2019); {DAWKINS}",
    "5,000 words, half from each end of she - he in the reference; 20% to learn from; variance of Nadeau and "
    "Bengio over 10 splits",
    "without a reference, to compare embeddings: each would choose words of its own; with few words, which end "
    "near the middle of the axis",
    recoverability, about="bias", better="lower",
)  # fmt: skip

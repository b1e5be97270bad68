"""RNSB: the relative negative sentiment bias of Sweeney and Najafian (2019)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_flag, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.machine import check_memory, require
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.associations.mean_vectors import lengths_of_vectors
from bayesbias.metrics.look_up import find_lists, groups_on_two_lists
from bayesbias.metrics.measure_entry import GROUPS_ON_TWO_LISTS, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.studies.study import StudyLike


def divergence_from_uniform(values: ArrayLike) -> float:
    """Return the Kullback-Leibler divergence, in nats, of values scaled to sum to 1 from the uniform distribution.

    The values are at least 0, and not all of them 0. Sweeney and Najafian (2019), the definition of RNSB.

    >>> round(divergence_from_uniform([0.2, 0.2, 0.2]), 12), round(divergence_from_uniform([0.3, 0.0]), 4)
    (0.0, 0.6931)
    """
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not np.isfinite(p).all() or not (p >= 0).all() or not p.sum() > 0:
        raise MeasureError(f"The values {p} are not a distribution. Give finite numbers of at least 0, not all 0.")
    p = p / p.sum()
    positive = p[p > 0]
    return max(0.0, float(np.sum(positive * np.log(positive * len(p)))))


@shared_parameters(GROUPS_ON_TWO_LISTS)
def rnsb(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: Sequence[str] | None = None,
    attributes: tuple[str, str] | None = None,
    normalize: bool = False,
    splits: int = 100,
    random_seed: int | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the relative negative sentiment bias: how unevenly a classifier calls the words of groups negative.

    A logistic regression is trained to separate the vectors of positive and negative attribute words. Its
    probabilities that the target words are negative are scaled to sum to 1; RNSB is their divergence from equal shares.

    Parameters
    ----------
    attributes
        Names of two attribute lists, the positive and the negative words. Default: the study's attribute lists. Of
        lists by name, the last two.
    normalize
        Whether every vector is first scaled to length 1. The published code does not scale; on vectors this short the
        penalty keeps all probabilities near one half.
    splits
        Number of random splits of each attribute list into 80 % for training and 20 % for testing: 0, or at least 2.

    Returns
    -------
    MeasureResult
        `rnsb` (the headline number), the divergence in nats of the classifier trained on all attribute words: 0 if all
        words are equally negative. It involves no chance. Over the splits: `split_mean` of RNSB, with `split_mcse` (its
        Monte Carlo standard error) and `split_sd`; `accuracy`, the mean share of test words classified correctly,
        with `accuracy_mcse`. A classifier with an accuracy of one half says nothing about sentiment. The scores are
        the target words' probabilities of being negative.

    Raises
    ------
    MeasureError
        If scikit-learn is not installed, the groups are not determined, or a list has fewer than two words left (one
        for targets, of which there must be two in all).

    References
    ----------
    Chris Sweeney and Maryam Najafian (2019). A transparent framework for evaluating unintended demographic bias in
    word embeddings. ACL 2019, 1662-1667: the relative negative sentiment bias.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = rnsb(vectors, "weat7", attributes=("male", "female"), splits=10, random_seed=1)
    >>> round(result.rnsb, 4), len(result.scores)
    (0.0234, 16)
    """
    seed = resolve_seed(random_seed)
    scaled = check_flag("normalize", normalize)
    if check_count("splits", splits, least=0) == 1:
        raise MeasureError("splits=1: give 0, or a whole number of at least 2.")
    check_memory(2 * 8 * splits, f"{splits:,} splits", "Take fewer.")
    lists = groups_on_two_lists(study, targets, attributes)
    positive, negative = lists.attributes
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1)
    for group in (positive, negative):
        if len(embedded_lists.words[group]) < 2:
            raise MeasureError(
                f"The embedding {embedded_lists.source.name!r} has {len(embedded_lists.words[group])} of the words of "
                f"{group!r}, but training a classifier takes at least 2. Add words."
            )
    vectors = embedded_lists.units if scaled else embedded_lists.vectors
    judged = np.concatenate([vectors[group] for group in lists.protected])
    if len(judged) < 2:
        raise MeasureError("Found 1 target word, but RNSB compares at least 2. Add words.")
    examples = vectors[positive], vectors[negative]
    probability = _classifier(examples).predict_proba(judged)[:, 1]
    statistics = {"rnsb": divergence_from_uniform(probability)}
    split_text = "no splits"
    if splits:
        statistics |= _over_splits(examples, judged, splits, seed)
        split_text = f"{splits} splits into 80 % and 20 % of each list, seed {seed}"
    return MeasureResult(
        measure="rnsb",
        statistics=statistics,
        scores=score_frame(probability, **embedded_lists.labels(lists.protected, "group")),
        question=f"Are words of {name_some(list(lists.protected))} rated unequally, from {positive} to {negative}?",
        conventions=(
            f"positive = {positive}, negative = {negative}; Kullback-Leibler divergence of the shares from equal ones, "
            f"in nats; logistic regression with an L2 penalty, C = 1, on the weights and the intercept (liblinear); "
            f"{lengths_of_vectors(normalize)}; {split_text}"
        ),
        **embedded_lists.names(lists.study),
        random_seed=seed,
    )


def _classifier(examples: tuple[Floats, Floats]) -> Any:
    """Return a logistic regression trained on positive (0) and negative (1) examples."""
    labels = np.repeat([0, 1], [len(rows) for rows in examples])
    # The solver is deterministic; a fixed state keeps scikit-learn from reading NumPy's global one.
    linear_model = require("sklearn.linear_model", "classifiers", "RNSB")
    model = linear_model.LogisticRegression(solver="liblinear", C=1.0, max_iter=10_000, random_state=0)
    return model.fit(np.concatenate(examples), labels)


def _over_splits(examples: tuple[Floats, Floats], judged: Floats, splits: int, seed: int) -> dict[str, float]:
    """Return the mean of RNSB and of the accuracy over random splits of the examples, with their errors."""
    random = np.random.default_rng(seed)
    values, right = np.empty(splits), np.empty(splits)
    sizes = [max(1, round(0.2 * len(rows))) for rows in examples]
    for number in range(splits):
        positive, negative = (rows[random.permutation(len(rows))] for rows in examples)
        classifier = _classifier((positive[sizes[0] :], negative[sizes[1] :]))
        values[number] = divergence_from_uniform(classifier.predict_proba(judged)[:, 1])
        tests = positive[: sizes[0]], negative[: sizes[1]]
        right[number] = np.concatenate([classifier.predict(rows) == label for label, rows in enumerate(tests)]).mean()
    sds = values.std(ddof=1), right.std(ddof=1)
    return {
        "split_mean": float(values.mean()),
        "split_mcse": float(sds[0] / np.sqrt(splits)),
        "split_sd": float(sds[0]),
        "accuracy": float(right.mean()),
        "accuracy_mcse": float(sds[1] / np.sqrt(splits)),
    }


RNSB = Measure(
    "rnsb", "Relative Negative Sentiment Bias",
    "Kullback-Leibler divergence from equal shares of the words' probabilities of being negative",
    "0 to log(words), in nats", "protected groups, a positive and a negative attribute group",
    "Sweeney and Najafian (2019)",
    "logistic regression on vectors as stored; the second attribute group is the negative one; needs "
    "scikit-learn",
    "where the classifier hardly separates positive from negative words (see accuracy), and to compare "
    "studies with different numbers of words, since the upper bounds differ",
    rnsb, sign="large: some words count as more negative than others; 0: all alike",
)  # fmt: skip

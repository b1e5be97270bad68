"""RNSB: the relative negative sentiment bias of Sweeney and Najafian (2019)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_flag, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.memory import check_memory
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.associations.mean_vectors import lengths_of_vectors
from bayesbias.metrics.look_up import find_lists, groups_on_two_lists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.studies.study import StudyLike


def divergence_from_uniform(values: ArrayLike) -> float:
    """Return the Kullback-Leibler divergence, in nats, of values scaled to sum to 1 from the uniform distribution.

    No value is negative and one at least is positive. Sweeney and Najafian (2019), the definition of RNSB.

    >>> round(divergence_from_uniform([0.2, 0.2, 0.2]), 12), round(divergence_from_uniform([0.3, 0.0]), 4)
    (0.0, 0.6931)
    """
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not np.isfinite(p).all() or not (p >= 0).all() or not p.sum() > 0:
        raise MeasureError(f"The values {p} are no distribution. Give finite numbers from 0, not all of them 0.")
    p = p / p.sum()
    positive = p[p > 0]
    return max(0.0, float(np.sum(positive * np.log(positive * len(p)))))


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
    """Measure how unevenly a classifier of negative words takes the words of groups for negative.

    A logistic regression learns to tell the vectors of positive and of negative attribute words apart. Its
    probabilities that the target words are negative are scaled to sum to 1; RNSB is their divergence from equal shares.

    Parameters
    ----------
    embedding, study, targets, attributes, max_lost
        See `bayesbias.metrics`: any protected groups, whose words are judged, and two attribute lists, the positive
        and the negative words. By name, the positive and the negative words are the last two lists.
    normalize
        Whether every vector is scaled to length 1 first. The published code does not; on such short vectors the
        penalty keeps all probabilities near one half.
    splits
        How many random splits of the attribute words, each list on its own, into 80 % to learn from and 20 % to
        judge the classifier by; 0, or at least 2.
    random_seed
        Seed of the splits. If it is left out, one is drawn and named in the result's conventions.

    Returns
    -------
    MeasureResult
        `rnsb` (the headline number): the divergence in nats, 0 if all words are equally negative, for the
        classifier that learnt from all attribute words, which involves no chance. Over the splits: `split_mean` of
        RNSB, its `split_mcse` (Monte Carlo standard error) and `split_sd`; `accuracy`, the mean share of the words
        left out that the classifier gets right, and its `accuracy_mcse`. A classifier that is right half of the time
        says nothing of sentiment. The scores are the target words' probabilities of being negative.

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
        raise MeasureError("splits=1: give 0, or a whole number from 2.")
    check_memory(2 * 8 * splits, f"{splits:,} splits", "Take fewer.")
    lists = groups_on_two_lists(study, targets, attributes)
    positive, negative = lists.attributes
    found = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1)
    for group in (positive, negative):
        if len(found.words[group]) < 2:
            raise MeasureError(
                f"Of the words of {group!r} the embedding {found.source.name!r} has {len(found.words[group])}, but a "
                "classifier needs at least two to learn from. Add words."
            )
    vectors = found.units if scaled else found.vectors
    judged = np.concatenate([vectors[group] for group in lists.protected])
    if len(judged) < 2:
        raise MeasureError("There is one target word, which cannot be more negative than others. Add words.")
    examples = vectors[positive], vectors[negative]
    probability = _negative_probability(examples, judged)
    statistics = {"rnsb": divergence_from_uniform(probability)}
    how = "no splits"
    if splits:
        statistics |= _over_splits(examples, judged, splits, seed)
        how = f"{splits} splits into 80 % and 20 % of each list, seed {seed}"
    return MeasureResult(
        measure="rnsb",
        statistics=statistics,
        scores=score_frame(probability, **found.labels(lists.protected, "group")),
        lost_words=found.lost,
        conventions=(
            f"positive = {positive}, negative = {negative}; Kullback-Leibler divergence of the shares from equal ones, "
            f"in nats; logistic regression with an L2 penalty, C = 1, on the weights and the intercept (liblinear); "
            f"{lengths_of_vectors(normalize)}; {how}"
        ),
        study=lists.study,
        embedding=found.source.name,
    )


def _classifier(examples: tuple[Floats, Floats]) -> Any:
    """Return a logistic regression of negative (1) against positive (0) examples."""
    try:
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    except ImportError as error:
        raise MeasureError(
            "RNSB needs scikit-learn, which is not installed. Install it with: pip install 'bayesbias[classifiers]'."
        ) from error
    labels = np.repeat([0, 1], [len(rows) for rows in examples])
    # A given state only keeps scikit-learn from drawing on NumPy's global one: the solver itself uses no chance.
    model = LogisticRegression(solver="liblinear", C=1.0, max_iter=10_000, random_state=0)
    return model.fit(np.concatenate(examples), labels)


def _negative_probability(examples: tuple[Floats, Floats], judged: Floats) -> Floats:
    probability: Floats = _classifier(examples).predict_proba(judged)[:, 1]
    return probability


def _over_splits(examples: tuple[Floats, Floats], judged: Floats, splits: int, seed: int) -> dict[str, float]:
    """Return the mean RNSB and the accuracy over random splits of the examples."""
    random = np.random.default_rng(seed)
    values, right = np.empty(splits), np.empty(splits)
    for number in range(splits):
        orders = [random.permutation(len(rows)) for rows in examples]
        tests = [max(1, round(0.2 * len(rows))) for rows in examples]
        parts = list(zip(examples, orders, tests, strict=True))
        learnt = _classifier((parts[0][0][parts[0][1][tests[0] :]], parts[1][0][parts[1][1][tests[1] :]]))
        values[number] = divergence_from_uniform(learnt.predict_proba(judged)[:, 1])
        hits = [learnt.predict(rows[order[:test]]) == label for label, (rows, order, test) in enumerate(parts)]
        right[number] = np.concatenate(hits).mean()
    sds = values.std(ddof=1), right.std(ddof=1)
    return {
        "split_mean": float(values.mean()),
        "split_mcse": float(sds[0] / np.sqrt(splits)),
        "split_sd": float(sds[0]),
        "accuracy": float(right.mean()),
        "accuracy_mcse": float(sds[1] / np.sqrt(splits)),
    }

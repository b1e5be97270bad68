"""RNSB: the relative negative sentiment bias of Sweeney and Najafian (2019)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.errors import MeasureError
from bayesbias.metrics.look_up import as_embedding, word_sets
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.rnd import known_groups, lengths_of_vectors, raise_if_shared
from bayesbias.studies import Study, load_study

Floats = NDArray[np.floating[Any]]


def divergence_from_uniform(values: ArrayLike) -> float:
    """Return the Kullback-Leibler divergence, in nats, of values scaled to sum to 1 from the uniform distribution.

    Parameters
    ----------
    values
        Numbers of which none is negative and one at least is positive.

    References
    ----------
    Sweeney and Najafian (2019), the definition of RNSB.

    Examples
    --------
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
    embedding: Any,
    study: Study | str | os.PathLike[str] | Mapping[str, Sequence[str]],
    *,
    targets: Sequence[str] | None = None,
    attributes: tuple[str, str] | None = None,
    normalize: bool = False,
    splits: int = 100,
    random_seed: int | None = None,
) -> MeasureResult:
    """Measure how unevenly a classifier of negative words takes the words of groups for negative.

    A logistic regression learns to tell the vectors of positive and of negative attribute words apart. Its
    probabilities that the target words are negative are scaled to sum to 1; RNSB is their divergence from equal shares.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or lists by name: one or more groups of
        target words, then the positive and the negative words.
    targets
        The protected groups whose words are judged; by default all of them.
    attributes
        The attribute groups of the positive and of the negative words; may be left out where the study has
        exactly two, of which the second is taken for the negative one.
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
        says nothing of sentiment. `words` holds the probability of each target word and its share.

    Raises
    ------
    MeasureError
        If scikit-learn is not installed, the groups are not determined, or a list has fewer than two words left (one
        for targets, of which there must be two in all).

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Chris Sweeney and Maryam Najafian (2019). A transparent framework for evaluating unintended demographic bias in
    word embeddings. ACL 2019, 1662-1667: the relative negative sentiment bias.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = rnsb(vectors, "weat7", attributes=("male", "female"), splits=10, random_seed=1)
    >>> result.rnsb >= 0, round(float(result.words["share"].sum()), 12)
    (True, 1.0)
    """
    if isinstance(splits, bool) or not isinstance(splits, int) or splits < 0 or splits == 1:
        raise MeasureError(f"splits={splits!r}: give 0, or a whole number from 2.")
    name, groups, (positive, negative), lists = _groups(study, targets, attributes)
    source = as_embedding(embedding, (word for words in lists.values() for word in words))
    sets = word_sets(source, lists, least=1)
    for group in (positive, negative):
        if len(sets.words[group]) < 2:
            raise MeasureError(
                f"Of the words of {group!r} the embedding {source.name!r} has {len(sets.words[group])}, but a "
                "classifier needs at least two to learn from. Add words."
            )
    vectors = dict(sets.units)
    if not normalize:
        vectors = {group: source.matrix(words).astype(np.float64) for group, words in sets.words.items()}
    judged = np.concatenate([vectors[group] for group in groups])
    if len(judged) < 2:
        raise MeasureError("There is one target word, which cannot be more negative than others. Add words.")
    examples = vectors[positive], vectors[negative]
    probability = _negative_probability(examples, judged)
    rnsb_of_all = divergence_from_uniform(probability)
    statistics = {"rnsb": rnsb_of_all}
    how = "no splits"
    if splits:
        seed = int.from_bytes(os.urandom(4), "little") if random_seed is None else random_seed
        statistics |= _over_splits(examples, judged, splits, seed)
        how = f"{splits} splits into 80 % and 20 % of each list, seed {seed}"
    return MeasureResult(
        measure="rnsb",
        value=rnsb_of_all,
        statistics=statistics,
        words=pd.DataFrame(
            {
                "word": [word for group in groups for word in sets.words[group]],
                "group": [group for group in groups for _ in sets.words[group]],
                "probability": probability,
                "share": probability / probability.sum(),
            }
        ),
        lost_words=sets.lost,
        conventions=(
            f"positive = {positive}, negative = {negative}; Kullback-Leibler divergence of the shares from equal ones, "
            f"in nats; logistic regression with an L2 penalty, C = 1, on the weights and the intercept (liblinear); "
            f"{lengths_of_vectors(normalize)}; {how}"
        ),
        study=name,
        embedding=source.name,
    )


def _groups(
    study: Any, targets: Sequence[str] | None, attributes: tuple[str, str] | None
) -> tuple[str, tuple[str, ...], tuple[str, str], Mapping[str, Sequence[str]]]:
    """Return a name, the target groups, the positive and the negative group, and all lists by name."""
    if isinstance(study, Mapping):
        if len(study) < 3 or targets or attributes:
            raise MeasureError(
                f"Found {len(study)} word lists. Give one or more groups, then the positive and the negative words, "
                "by name, without targets or attributes; or give a study."
            )
        names = tuple(study)
        return "word lists", names[:-2], (names[-2], names[-1]), study
    loaded = load_study(study)
    groups = known_groups(targets or tuple(loaded.protected), loaded.protected, "targets", loaded)
    signs = known_groups(attributes or tuple(loaded.attributes), loaded.attribute_lists, "attributes", loaded)
    if len(signs) != 2:
        raise MeasureError(
            f"Found {len(signs)} attribute groups ({', '.join(signs)}), but the classifier needs two: name the group "
            "of the positive and that of the negative words, attributes=(...)."
        )
    raise_if_shared(groups, signs, loaded)
    lists = {group: loaded.protected[group] for group in groups} | {
        sign: loaded.attribute_lists[sign] for sign in signs
    }
    return loaded.name, groups, (signs[0], signs[1]), lists


def _classifier(examples: tuple[Floats, Floats]) -> Any:
    """Return a logistic regression of negative (1) against positive (0) examples."""
    try:
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    except ImportError as error:
        raise MeasureError(
            "RNSB needs scikit-learn, which is not installed. Install it with: pip install 'bayesbias[rnsb]'."
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

"""Whether debiased words still show their side: clusters of the most biased words, and classifiers of them."""

from collections.abc import Callable, Iterable, Sequence
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
from bayesbias.base.machine import require
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.intrinsic.name_directions import NameLists, find_forms, weighted_direction
from bayesbias.metrics.look_up import as_embedding, checked_base_pairs, checked_words
from bayesbias.metrics.measure_entry import DAWKINS, NEUTRAL_WORDS, Measure, shared_parameters
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity

PAIR = ("she", "he")
_BLOCK = 10_000
_WHAT = "The recoverability of bias"
_STARTS = 10  # of k-means, of which the best counts


@shared_parameters()
def neutral_words(
    embedding: EmbeddingLike, specific: Iterable[str] = (), *, most: int | None = 50_000
) -> tuple[str, ...]:
    """Return the words of an embedding that should be neutral: words of letters only that are not in a given list.

    Parameters
    ----------
    specific
        Words that are gendered, or otherwise specific, by their meaning; upper and lower case count the same.
    most
        Number of the embedding's first words to consider, in files mostly the most frequent. None: all.

    References
    ----------
    Hillary Dawkins (2021). Marked attribute bias in natural language inference. Findings of ACL-IJCNLP, appendix B: the
    vocabulary V_t, of the 50,000 most frequent words those without punctuation and numbers that are in no gendered set.

    Examples
    --------
    >>> neutral_words({"the": [1.0], "she": [1.0], "2nd": [1.0], "U.S.": [1.0], "nurse": [1.0]}, ["She"])
    ('the', 'nurse')
    """
    source = as_embedding(embedding)
    excluded = {word.lower() for word in checked_words("specific", specific)}
    candidates = source.words if most is None else source.words[: check_count("most", most)]
    return tuple(word for word in candidates if word.isalpha() and word.lower() not in excluded)


def unique_words(source: Embedding, words: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that an embedding has, each vector once, and those that it lacks.

    If `words` is None, they are all that `neutral_words` finds.
    """
    if words is None:
        return neutral_words(source, most=None), ()
    lookup = source.lookup(dict.fromkeys(checked_words("words", words)))
    first_spelling = {form: word for word, form in reversed(lookup.matches.items())}
    distinct_words = tuple(word for word, form in lookup.matches.items() if first_spelling[form] == word)
    if len(distinct_words) < 2:
        raise MeasureError(
            f"The embedding {source.name!r} has {len(distinct_words)} of the words, but at least 2 are needed. Add "
            f"words, or change the case rule, which is {source.case_text!r}."
        )
    return distinct_words, lookup.lost


def axis(source: Embedding, pair: tuple[str, str]) -> Floats:
    """Return the difference between the unit vectors of a pair, first minus second, scaled to length 1."""
    (words,) = checked_base_pairs([pair])
    if lost := source.lookup(words).lost:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so there is no axis between {words[0]!r} and "
            f"{words[1]!r}. Give another pair, or change the case rule, which is {source.case_text!r}."
        )
    first, second = unit_rows(source.matrix(words))
    length = np.linalg.norm(first - second)
    if length < 1e-6:
        raise MeasureError(
            f"{words[0]!r} and {words[1]!r} have the same direction in the embedding {source.name!r}, so there is no "
            "axis between them. Give another pair, or the embedding before debiasing as the reference."
        )
    difference: Floats = (first - second) / length
    return difference


def projections(source: Embedding, words: Sequence[str], direction: Floats, *, scaled: bool = True) -> Floats:
    """Return the inner products of words with a direction, with vectors of length 1 or as stored.

    It works in blocks, since a float64 copy of all vectors of a large embedding might not fit into memory.
    """
    parts = []
    for start in range(0, len(words), _BLOCK):
        vectors = source.matrix(words[start : start + _BLOCK])
        parts.append((unit_rows(vectors) if scaled else vectors.astype(np.float64)) @ direction)
    return np.concatenate(parts)


def lengths(source: Embedding, words: Sequence[str]) -> Floats:
    """Return the lengths of the stored vectors of words."""
    blocks = [source.matrix(words[start : start + _BLOCK]) for start in range(0, len(words), _BLOCK)]
    return np.concatenate([np.linalg.norm(vectors.astype(np.float64), axis=1) for vectors in blocks])


def most_biased_words(
    reference: Embedding, words: Sequence[str], pair: tuple[str, str], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at both ends of the axis of a pair, half of `count` each, those of its first word first."""
    (pair,) = checked_base_pairs([pair])
    forms = reference.lookup(pair).matches.values()
    others = [word for word in words if reference.match(word) not in forms]
    return ends_of_axis(reference, others, axis(reference, pair), count, f"{pair[0]!r} and {pair[1]!r}")


def ends_of_axis(
    reference: Embedding, others: Sequence[str], direction: Floats, count: int, between: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at both ends of a direction, half of `count` each; `between` names it in errors."""
    half = check_count("words_in_all", count, least=4) // 2
    if len(others) < 2 * half:
        raise MeasureError(
            f"words_in_all={count}: the embedding {reference.name!r} has {len(others):,} words to choose from, without "
            "those that define the axis and, unless you give words, without entries that are not made of letters. "
            "Choose fewer, or give more words."
        )
    along = projections(reference, others, direction)
    order = np.argsort(-along, kind="stable")
    if not along[order[half - 1]] > 0 > along[order[-half]]:
        raise MeasureError(
            f"words_in_all={count}: fewer than {half:,} words lie on one side of the axis of {between}. Choose fewer."
        )
    return tuple(others[row] for row in order[:half]), tuple(others[row] for row in order[-half:])


def load_both(
    embedding: EmbeddingLike | Callable[..., Embedding], reference: EmbeddingLike | None
) -> tuple[Embedding, Embedding]:
    """Return an embedding and its reference, by default the same."""
    source = as_embedding(embedding)
    return source, source if reference is None else as_embedding(reference)


@shared_parameters()
def clustering(
    embedding: EmbeddingLike,
    words: Sequence[str] | None = None,
    *,
    reference: EmbeddingLike | None = None,
    pair: tuple[str, str] = PAIR,
    names: NameLists | None = None,
    components: int = 4,
    words_in_all: int = 1500,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    """Return how well two clusters of words match the sides on which the words were before debiasing.

    Parameters
    ----------
    words
        Words to choose from. None: all that `neutral_words` finds in the reference.
    reference
        Embedding before debiasing, which chooses and labels the words. None: `embedding` itself.
    pair
        Two words whose difference is the axis.
    names
        Two lists of names: words are then ordered by their MIDB along the directions of the names in the reference
        (`bb.metrics.midb`, vectors of length 1), in place of the axis of `pair`, as Dawkins (2021) suggests.
    components
        With `names`, the number of directions.
    words_in_all
        Number of the most biased words to cluster, half from each end of the axis; 500 to 1,500 are usual.

    Returns
    -------
    MeasureResult
        `v_measure`, from 0 (the clusters are unrelated to the sides) to 1 (they are the sides); and `accuracy`, the
        share of words in the cluster of their side, 0.5 to 1. The items are the words, with `side` and `cluster`: 0 for
        the first word of the pair, 1 for the second. Chosen words that the embedding lacks are listed in `lost_words`.

    Raises
    ------
    MeasureError
        If scikit-learn is not installed, or there are too few words.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the words that the reference chose.

    Notes
    -----
    k-means makes two clusters of unit vectors. The intervals treat the words as a sample and the clusters as fixed.
    `v_measure` cannot fall below 0, nor `accuracy` below 0.5, so without any bias both are a little larger.

    References
    ----------
    Hila Gonen and Yoav Goldberg (2019). Lipstick on a pig. NAACL-HLT 2019, section 4. Dawkins (2021), appendix B.
    Andrew Rosenberg and Julia Hirschberg (2007). V-measure. EMNLP-CoNLL 2007, 410-420.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> score = bb.metrics.clustering(path, words_in_all=100, random_seed=1)
    >>> list(score.estimates["quantity"]), bool(score.value > 0)
    (['v_measure', 'accuracy'], True)
    """
    seed = resolve_seed(random_seed)
    source, chooser = load_both(embedding, reference)
    candidates = unique_words(chooser, words)[0]
    if names is None:
        sides = most_biased_words(chooser, candidates, pair, words_in_all)
        direction_text = f"{pair[0]} - {pair[1]}"
    else:
        direction, direction_text = weighted_direction(chooser, names, check_count("components", components))
        excluded = find_forms(chooser, names)
        candidates = tuple(word for word in candidates if chooser.match(word) not in excluded)
        sides = ends_of_axis(chooser, candidates, direction, words_in_all, f"the names ({direction_text})")
    lost = source.lookup([*sides[0], *sides[1]]).lost
    embedded_sides = [[word for word in side if word not in set(lost)] for side in sides]
    if min(map(len, embedded_sides)) < 2:
        raise MeasureError(
            f"The embedding {source.name!r} has {len(embedded_sides[0])} and {len(embedded_sides[1])} of the words "
            f"of the two sides that {chooser.name!r} chose, but at least 2 of each are needed. Give words that "
            "both have."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(lost):,} of the words that {chooser.name!r} chose: "
            f"{name_some(lost)}. The clusters are those of the others.",
            LostWordsWarning,
        )
    side = np.repeat([0, 1], [len(side_words) for side_words in embedded_sides])
    vectors = unit_rows(source.matrix([*embedded_sides[0], *embedded_sides[1]]))
    kmeans = require("sklearn.cluster", "classifiers", "Clustering").KMeans(
        n_clusters=2, n_init=_STARTS, random_state=seed
    )
    cluster = kmeans.fit_predict(vectors)
    if (cluster == side).mean() < 0.5:
        cluster = 1 - cluster
    items = {
        "item": [*embedded_sides[0], *embedded_sides[1]],
        "side": side,
        "cluster": cluster,
        "right": (cluster == side).astype(int),
    }
    return result_of_items(
        "clustering",
        source.name,
        Items(pd.DataFrame(items), {"words": lost}),
        [Quantity("v_measure", "v_measure", ("side", "cluster")), Quantity("accuracy", "share", ("right",))],
        question=f"Do clusters of words in {source.name} show the side that the words come from?",
        conventions=(
            f"k-means of two clusters, vectors of length 1, {_STARTS} starts; {2 * (words_in_all // 2):,} words, half "
            f"from each end of {direction_text} in the reference"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


CLUSTERING = Measure(
    "clustering", "clusters of words from either side",
    "v-measure of two clusters (k-means) against the sides on which words were before debiasing", "0 to 1",
    NEUTRAL_WORDS, f"Gonen and Goldberg (2019); {DAWKINS}",
    "1,500 words, half from each end of she - he in the reference; vectors of length 1; accuracy is given too",
    "without a reference, to compare embeddings: each would choose words of its own; to say that a bias is "
    "gone: two clusters can follow something else, and a classifier still find the sides",
    clustering, about="bias", better="lower",
)  # fmt: skip


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
    words, reference, pair
        As for `clustering`.
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
    sides = most_biased_words(chooser, unique_words(chooser, words)[0], pair, words_in_all)
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
        question=f"Can a classifier recover the side of words in {source.name}?",
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

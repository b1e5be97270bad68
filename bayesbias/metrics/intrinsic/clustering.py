"""Clustering: whether words of the same side still lie together after debiasing."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed
from bayesbias.base.machine.extras import require
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.intrinsic.biased_words import PAIR, ends_of_axis, load_both, most_biased_words, vocabulary_of
from bayesbias.metrics.intrinsic.name_directions import NameLists, find_forms, weighted_direction
from bayesbias.metrics.measure_entry import DAWKINS, NEUTRAL_WORDS, Measure
from bayesbias.metrics.quantities import Quantity
from bayesbias.metrics.result import Items, MeasureResult, result_of_items
from bayesbias.metrics.shared_parameters import shared_parameters


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
    starts: int = 10,
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
    starts
        Number of starts of k-means, of which the best counts.

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
    check_count("starts", starts)
    source, chooser = load_both(embedding, reference)
    candidates = vocabulary_of(chooser, words)[0]
    if names is None:
        sides = most_biased_words(chooser, candidates, pair, words_in_all)
        direction_text = f"{pair[0]} - {pair[1]}"
    else:
        direction, direction_text = weighted_direction(chooser, names, check_count("components", components))
        excluded = find_forms(chooser, names)
        candidates = tuple(word for word in candidates if chooser.match(word) not in excluded)
        sides = ends_of_axis(chooser, candidates, direction, words_in_all, f"the names ({direction_text})")
    lost = source.lookup([*sides[0], *sides[1]]).lost
    kept_sides = [[word for word in side if word not in set(lost)] for side in sides]
    if min(map(len, kept_sides)) < 2:
        raise MeasureError(
            f"The embedding {source.name!r} has {len(kept_sides[0])} and {len(kept_sides[1])} of the words of the two "
            f"sides that {chooser.name!r} chose, but at least 2 of each are needed. Give words that both have."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(lost):,} of the words that {chooser.name!r} chose: "
            f"{name_some(lost)}. The clusters are those of the others.",
            LostWordsWarning,
        )
    side = np.repeat([0, 1], [len(side_words) for side_words in kept_sides])
    vectors = unit_rows(source.matrix([*kept_sides[0], *kept_sides[1]]))
    kmeans = require("sklearn.cluster", "classifiers", "Clustering").KMeans(
        n_clusters=2, n_init=starts, random_state=seed
    )
    cluster = kmeans.fit_predict(vectors)
    if (cluster == side).mean() < 0.5:
        cluster = 1 - cluster
    items = {
        "item": [*kept_sides[0], *kept_sides[1]],
        "side": side,
        "cluster": cluster,
        "right": (cluster == side).astype(int),
    }
    return result_of_items(
        "clustering",
        source.name,
        Items(pd.DataFrame(items), {"words": lost}),
        [Quantity("v_measure", "v_measure", ("side", "cluster")), Quantity("accuracy", "share", ("right",))],
        conventions=(
            f"k-means of two clusters, vectors of length 1, {starts} starts; {2 * (words_in_all // 2):,} words, half "
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

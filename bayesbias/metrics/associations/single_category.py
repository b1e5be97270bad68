"""Associations that have one side: of single words (NAS), and of one category of words (single-category WEAT)."""

from collections.abc import Mapping, Sequence

import numpy as np

from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.associations.weat import check_ddof, effect_size
from bayesbias.metrics.look_up import groups_on_two_lists
from bayesbias.metrics.result import MeasureResult, group_means, score_frame
from bayesbias.metrics.significance.permutation_test import both_p_values
from bayesbias.metrics.similarities import Similarities
from bayesbias.studies.study import StudyLike


def normalized_association_score(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: Sequence[str] | str | None = None,
    attributes: tuple[str, str] | None = None,
    ddof: int = 1,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Score each protected word by its normalized association with one attribute list against another.

    Parameters
    ----------
    embedding, study, targets, attributes, max_lost
        See `bayesbias.metrics`: any protected groups (by default all), and two attribute lists A and B (by default the
        study's own two). By name, A and B are the last two lists.
    ddof
        1 divides by n - 1 in the standard deviation, 0 by n.

    Returns
    -------
    MeasureResult
        `mean` (the headline number) over all words, positive towards A; `mean_absolute`, that of the scores without
        their signs; of several groups `mean_of_` and its name for each. The scores are those of each word, between -2
        and 2.

    Raises
    ------
    MeasureError
        If the lists are not determined or have fewer than two words left, or a word is equally similar to all
        attribute words.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), Word-Embedding Factual Association Test: s(w, A, B). The name is that of the
    package sweater (Chan 2022, Journal of Open Source Software 7(72), 4036).

    Examples
    --------
    >>> result = normalized_association_score(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.mean_of_math, 4), round(result.mean_of_arts, 4)
    (-0.3978, -0.733)
    """
    check_ddof(ddof)
    lists = groups_on_two_lists(study, targets, attributes)
    similarities, found = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    a, b = similarities.attributes
    values = effect_size(similarities.to(a), similarities.to(b), ddof=ddof)
    scores = score_frame(values, word=similarities.words, group=similarities.groups)
    return MeasureResult(
        measure="normalized_association_score",
        statistics=group_means(scores),
        scores=scores,
        lost_words=found.lost,
        conventions=f"A = {a}, B = {b}; sd over {'n - 1' if ddof else 'n'} of a word's similarities to both lists",
        study=lists.study,
        embedding=found.source.name,
    )


def sc_weat(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: str | None = None,
    attributes: tuple[str, str] | None = None,
    ddof: int = 1,
    samples: int = 100_000,
    random_seed: int | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Test whether the attribute words A are nearer to one group of words X than the attribute words B are.

    Parameters
    ----------
    embedding, study, targets, attributes, max_lost
        See `bayesbias.metrics`: one protected group X, named where the study has several, and two attribute lists A and
        B, by default the study's own two. By name: X, A, B.
    ddof
        1 divides by n - 1 in the effect size's standard deviation, 0 by n.
    samples
        Partitions to draw where there are more than a million; up to a million all are counted.
    random_seed
        Seed of the draws. If it is left out, one is drawn and named in the result's conventions.

    Returns
    -------
    MeasureResult
        `effect_size` (the headline number): (mean of cos(X, a) over A minus that over B) / sd over A and B together,
        where cos(X, a) is the mean similarity of a to the words of X; positive towards A. `p_value` (one-sided),
        `p_value_two_sided`, their `..._mcse` (0 if exact) and `partitions` of the attribute words, which are what is
        exchanged. The scores are cos(X, a) of each attribute word.

    Raises
    ------
    MeasureError
        If the lists are not determined or have fewer than two words left, or all attribute words are equally similar.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), Word-Embedding Factual Association Test, of a category in place of a word;
    Caliskan, Ajay, Charlesworth, Wolfe and Banaji (2022), Gender bias in word embeddings. AIES 2022: the
    single-category WEAT.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = sc_weat(vectors, "weat7", targets="arts")
    >>> round(result.effect_size, 4), round(result.p_value_two_sided, 4), int(result.partitions)
    (-0.9759, 0.0416, 12870)
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    lists = groups_on_two_lists(study, targets, attributes)
    if len(lists.protected) != 1:
        how = (
            "three lists by name: X, A, B"
            if isinstance(study, Mapping)
            else f"such as targets={next(iter(lists.protected))!r}"
        )
        raise MeasureError(f"Single-category WEAT takes one protected group: name one, {how}.")
    similarities, found = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    a, b = (similarities.to(name).mean(axis=0) for name in similarities.attributes)
    tests, how = both_p_values(a, b, samples=samples, random_seed=seed)
    names = list(similarities.attributes)
    return MeasureResult(
        measure="sc_weat",
        statistics={"effect_size": float(effect_size(a, b, ddof=ddof)), **tests},
        scores=score_frame(
            np.concatenate([a, b]),
            word=[word for words in similarities.attributes.values() for word in words],
            attribute_group=np.repeat(names, [len(a), len(b)]),
        ),
        lost_words=found.lost,
        conventions=(
            f"X = {next(iter(lists.protected))}, A = {names[0]}, B = {names[1]}; "
            f"sd over {'n - 1' if ddof else 'n'}; {how}"
        ),
        study=lists.study,
        embedding=found.source.name,
    )

"""One-sided associations: of single words (NAS), and of one category of words (single-category WEAT)."""

from collections.abc import Mapping, Sequence

import numpy as np

from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.associations.weat import check_ddof, effect_size
from bayesbias.metrics.look_up import groups_on_two_lists
from bayesbias.metrics.measure_entry import GROUPS_ON_TWO_LISTS, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, group_means, score_frame
from bayesbias.metrics.significance import both_p_values
from bayesbias.metrics.similarities import Similarities
from bayesbias.studies.study import StudyLike


@shared_parameters(GROUPS_ON_TWO_LISTS)
def normalized_association_score(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: Sequence[str] | str | None = None,
    attributes: tuple[str, str] | None = None,
    ddof: int = 1,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the normalized association scores of protected words with attribute list A against B.

    Of lists by name, the last two are A and B.

    Parameters
    ----------
    ddof
        1 to divide the variance by n - 1, 0 to divide it by n.

    Returns
    -------
    MeasureResult
        `mean` (the headline number) over all words, positive towards A; `mean_absolute`, the mean of the scores'
        absolute values; for several groups, the mean of each as `mean_of_` followed by its name. The scores are those
        of each word, between -2 and 2.

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
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = normalized_association_score(path, "weat7")
    >>> round(result.mean_of_math, 4), round(result.mean_of_arts, 4)
    (-0.3978, -0.733)
    """
    check_ddof(ddof)
    lists = groups_on_two_lists(study, targets, attributes)
    similarities, embedded_lists = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    a, b = similarities.attributes
    values = effect_size(similarities.columns_to(a), similarities.columns_to(b), ddof=ddof)
    scores = score_frame(values, word=similarities.words, group=similarities.groups)
    return MeasureResult(
        measure="normalized_association_score",
        statistics=group_means(scores),
        scores=scores,
        question=f"Are words of {name_some(list(lists.protected))} nearer to {a} than to {b}?",
        conventions=f"A = {a}, B = {b}; sd over {'n - 1' if ddof else 'n'} of a word's similarities to both lists",
        **embedded_lists.names(lists.study),
    )


@shared_parameters(GROUPS_ON_TWO_LISTS)
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
    """Return the single-category WEAT: whether attribute words A are nearer to the target group X than words B are.

    Lists by name are X, A, B.

    Parameters
    ----------
    targets
        Name of one protected group. Default: the study's group, if it has only one.
    ddof
        1 to divide the variance in the effect size by n - 1, 0 to divide it by n.
    samples
        Number of partitions drawn if there are more than a million; otherwise all are counted.

    Returns
    -------
    MeasureResult
        `effect_size` (the headline number), (mean of cos(X, a) over A minus mean over B) / sd over A and B together,
        where cos(X, a) is the mean similarity of a to the words of X; positive towards A. `p_value` (one-sided),
        `p_value_two_sided`, their `..._mcse` (0 if exact) and `partitions` refer to exchanges of attribute words. The
        scores are cos(X, a) of each attribute word.

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
        remedy = (
            "Give three lists by name: X, A, B."
            if isinstance(study, Mapping)
            else f"Name one of them (targets), such as {next(iter(lists.protected))}."
        )
        raise MeasureError(
            f"Found {counted(len(lists.protected), 'protected group')}, but single-category WEAT takes 1. {remedy}"
        )
    similarities, embedded_lists = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    a, b = (similarities.columns_to(name).mean(axis=0) for name in similarities.attributes)
    tests, counting = both_p_values(a, b, samples=samples, random_seed=seed)
    names, size = list(similarities.attributes), float(effect_size(a, b, ddof=ddof))
    return MeasureResult(
        measure="sc_weat",
        statistics={"effect_size": size, **tests},
        question=f"Is {next(iter(lists.protected))} nearer to {names[0]} than to {names[1]}?",
        meaning=f"{next(iter(lists.protected))} is nearer to {names[size <= 0]} than to {names[size > 0]}",
        scores=score_frame(
            np.concatenate([a, b]),
            word=[word for words in similarities.attributes.values() for word in words],
            attribute_group=np.repeat(names, [len(a), len(b)]),
        ),
        conventions=(
            f"X = {next(iter(lists.protected))}, A = {names[0]}, B = {names[1]}; above 0: X is nearer to A than to B; "
            f"sd over {'n - 1' if ddof else 'n'}; {counting}"
        ),
        **embedded_lists.names(lists.study),
        random_seed=seed,
    )


SC_WEAT = Measure(
    "sc_weat", "single-category WEAT",
    "(mean over A of cos(X, a) - mean over B of cos(X, b)) / sd over A and B; cos(X, a) = mean over X of "
    "cos(x, a)",
    "up to sqrt(n (n - 1) / (n_A n_B)), n = n_A + n_B",
    "one protected group, two attribute groups",
    "Caliskan, Bryson and Narayanan (2017), WEFAT; Caliskan et al. (2022), SC-WEAT",
    "sd with n - 1; attribute words are exchanged for the p-value, all partitions up to a million",
    "where there are two groups to compare: one group alone cannot tell an association from attribute words "
    "that are near to everything",
    sc_weat, sign="positive: A nearer to the group X than B",
)  # fmt: skip

NORMALIZED_ASSOCIATION_SCORE = Measure(
    "normalized_association_score", "normalized association score of single words (WEFAT)",
    "(mean cos(w, a) - mean cos(w, b)) / sd of w's similarities to A and B together",
    "up to sqrt(n (n - 1) / (n_A n_B)), n = n_A + n_B; below 2 for equal sizes",
    "protected groups, two attribute groups",
    "Caliskan, Bryson and Narayanan (2017), WEFAT; Chan (2022), sweater, NAS", "sd with n - 1",
    "to say how certain an association is: it is a standardized size, not a test; and a single word cannot "
    "tell an association from attribute words that are near to everything, so compare words with each other",
    normalized_association_score, sign="positive: nearer to A, the first attribute group",
)  # fmt: skip

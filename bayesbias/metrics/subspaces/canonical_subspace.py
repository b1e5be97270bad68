"""The canonical subspace metric of Kindel (2023), and association tests by it and by mean cosine similarity."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_flag, check_items
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost
from bayesbias.base.number_text import counted, digits_text, signed_text
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import canonical_congruences, canonical_subspace_similarity, rank, row_space, unit_vectors
from bayesbias.metrics.associations.mean_vectors import rank_correlation
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists, as_embedding, find_lists, find_two_lists, four_lists
from bayesbias.metrics.measure_entry import FOUR_GROUPS, FOUR_LISTS, KINDEL, SCORE, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.metrics.subspaces.mean_cosine import (
    COMPONENTS,
    component_lists,
    component_vectors,
    score_of_components,
    score_result,
    word_cosines,
)
from bayesbias.studies.study import Study, StudyLike


@shared_parameters(FOUR_LISTS)
def canonical_subspace(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    scaled: bool = True,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the canonical subspace score of four word lists, WEAT_CCA.

    A and B are the target groups, C and D the attribute lists.

    Parameters
    ----------
    scaled
        Whether each similarity is divided by the geometric mean of the two ranks, so that it lies between 0 and 1, as
        in Kindel's Table 1. Otherwise it grows with the length of the lists.

    Returns
    -------
    MeasureResult
        `score` (the headline number), (A:C + B:D) - (B:C + A:D); its components `a_c`, `a_d`, `b_d`, `b_c`. The scores
        are each word's similarity to C minus that to D, squared cosines of its angles to the spaces that C and D span;
        the components are not means of these.

    Raises
    ------
    MeasureError
        If the lists are not determined, or one has no word left.

    References
    ----------
    Alexander T. Kindel (2023). Geometrically consistent estimation of multidimensional word associations in text
    corpora: Sim_CCA;k and Table 1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = canonical_subspace(vectors, "weat7")
    >>> round(result.score, 4), round(result.a_c, 4)
    (0.0092, 0.1123)
    """
    check_flag("scaled", scaled)
    lists = four_lists(study, targets, attributes)
    return score_result(
        "canonical_subspace",
        lists,
        find_lists(embedding, lists.by_name, max_lost=max_lost, least=1),
        "sum of squared canonical congruences, uncentred"
        + (", over the geometric mean of the ranks" if scaled else ", not scaled"),
        partial(canonical_subspace_similarity, scaled=scaled),
        word_similarities,
    )


def word_similarities(A: ArrayLike, B: ArrayLike) -> Floats:
    """Return the canonical subspace similarity of each single word of A to the list B, of shape (..., words of A).

    It is the squared cosine of the angle between the word and the space that B spans. A and B have shapes
    (..., words, dimensions). Kindel (2023), Sim_CCA;k of a list of one word and another list.

    >>> word_similarities([[3, 0, 4], [0, 2, 0]], [[1, 0, 0], [1, 1, 0]]).round(12)
    array([0.36, 1.  ])
    """
    inside = unit_vectors(A) @ row_space(B).swapaxes(-1, -2)
    squares: Floats = np.minimum(np.square(inside).sum(axis=-1), 1.0)
    return squares


@shared_parameters()
def subspace_similarity(
    embedding: EmbeddingLike, lists: Mapping[str, Sequence[str]], *, max_lost: float = MAX_LOST
) -> MeasureResult:
    """Return the canonical subspace similarity of two lists of words.

    Parameters
    ----------
    lists
        Two word lists by name.

    Returns
    -------
    MeasureResult
        `similarity` (the headline number), between 0 and the smaller rank; `scaled`, between 0 and 1; `rank_a` and
        `rank_b`; and `congruence_1`, ..., the cosines of the principal angles, largest first. The scores are the
        similarities of each single word of a list (`group`) to the other list (`attribute_group`).

    Raises
    ------
    MeasureError
        If there are not two lists, or one has no word left.

    References
    ----------
    Kindel (2023), Sim_CCA;k and canonical congruences.

    Examples
    --------
    >>> vectors = {"he": [1.0, 0.0, 0.0], "him": [0.0, 1.0, 0.0], "nice": [3.0, 0.0, 4.0]}
    >>> result = subspace_similarity(vectors, {"male": ["he", "him"], "pleasant": ["nice"]})
    >>> round(result.similarity, 12), round(result.congruence_1, 12), int(result.rank_a)
    (0.36, 0.6, 2)
    """
    embedded_lists = find_two_lists(embedding, lists, max_lost=max_lost)
    a, b = embedded_lists.units.values()
    ranks = int(rank(a)), int(rank(b))
    similarity = float(canonical_subspace_similarity(a, b))
    congruences = canonical_congruences(a, b)[: min(ranks)]
    statistics = {
        "similarity": similarity,
        "scaled": float(canonical_subspace_similarity(a, b, scaled=True)),
        "rank_a": float(ranks[0]),
        "rank_b": float(ranks[1]),
    } | {f"congruence_{index}": float(value) for index, value in enumerate(congruences, start=1)}
    return MeasureResult(
        measure="subspace_similarity",
        statistics=statistics,
        scores=score_frame(
            np.concatenate([word_similarities(a, b), word_similarities(b, a)]),
            attribute_group=np.repeat([*lists][::-1], [len(a), len(b)]),
            **embedded_lists.labels(lists, "group"),
        ),
        lost_words=embedded_lists.lost,
        question=f"How similar are {' and '.join(lists)}?",
        conventions=(
            f"A = {', B = '.join(lists)}; sum of squared canonical congruences, uncentred; "
            "scaled: over the geometric mean of the ranks"
        ),
        study=" and ".join(lists),
        embedding=embedded_lists.source.name,
    )


@shared_parameters(FOUR_LISTS)
def congruences(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> pd.DataFrame:
    """Return the canonical congruences of the four comparisons of an association test.

    Returns
    -------
    DataFrame
        One row per congruence: `component` (such as ``"a_c"``, where A and B are the targets, C and D the attributes),
        `first` and `second` (the lists), `index` (from 1) and `congruence` (cosine of the principal angle, largest
        first), as many as the smaller rank.

    References
    ----------
    Kindel (2023), Figure 3.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> frame = congruences(vectors, "weat7")
    >>> len(frame), list(frame.columns)
    (32, ['component', 'first', 'second', 'index', 'congruence'])
    """
    lists = four_lists(study, targets, attributes)
    vectors = component_vectors(lists, find_lists(embedding, lists.by_name, max_lost=max_lost, least=1))
    rows = []
    for (component, names), pair in zip(component_lists(lists).items(), vectors, strict=True):
        values = canonical_congruences(*pair)[: min(int(rank(vectors_of_list)) for vectors_of_list in pair)]
        rows += [(component, *names, index, float(value)) for index, value in enumerate(values, start=1)]
    return pd.DataFrame(rows, columns=["component", "first", "second", "index", "congruence"])


CANONICAL_SUBSPACE = Measure(
    "canonical_subspace", "canonical subspace score",
    f"{SCORE}, X:Y = trace(P_X P_Y) / sqrt(rank X * rank Y), P the projectors onto the words' spans", "-2 to 2",
    FOUR_GROUPS, f"{KINDEL}, Sim_CCA;k and Table 1", "uncentred; scaled by the ranks (scaled=False: not)",
    "with lists of nearly as many words as the vectors have dimensions: their spans intersect whatever the "
    "words are; compare it with bb.metrics.study_nulls",
    canonical_subspace, sign="positive: A nearer to C and B to D, the associations of the study",
)  # fmt: skip


WEATS = tuple(f"weat{number}" for number in range(1, 11))


@dataclass(frozen=True, eq=False, repr=False)
class KindelComparison(Result):
    """Association tests by mean cosine similarity (MCS) beside those by the canonical subspace metric (CCA).

    Parameters
    ----------
    studies : pandas.DataFrame
        One row per study: `study`; `A`, `B`, `C`, `D`, the names of the lists; `n`, the number of words left in the
        shortest list; `weat_mcs` and `weat_cca`, the scores (A:C + B:D) - (B:C + A:D); `rho`, Spearman's correlation of
        the four components under the two metrics; `ratio`, weat_mcs / weat_cca; the components `mcs_a_c`, ... and
        `cca_a_c`, ..., the latter scaled by the geometric mean of the ranks; and the number of `lost_words`.
    embedding
        Name of the embedding.
    lost_words
        Words that the embedding lacks, by study and list.
    left_out
        Studies that were left out, with the lists that lost too many words.
    """

    studies: pd.DataFrame
    embedding: str
    lost_words: Mapping[str, Mapping[str, tuple[str, ...]]]
    left_out: Mapping[str, tuple[str, ...]]

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        scores = (
            Statement(
                "study",
                f"{row['study']}: the score is {signed_text(row['weat_mcs'])} by mean cosine and "
                f"{signed_text(row['weat_cca'])} by the canonical metric (ratio {digits_text(row['ratio'])}); the rank "
                f"correlation of the components is {signed_text(row['rho'])}.",
                row,
            )
            for row in rows_of(self.studies)
        )
        lost = [
            Statement(
                "lost_words",
                f"{study}: the embedding lacks {name_some(word for words in lists.values() for word in words)}.",
                {"study": study, "lost_words": lists},
            )
            for study, lists in self.lost_words.items()
        ]
        left_out = [
            Statement(
                "left_out",
                f"{study} is left out: the embedding lacks too many words of {name_some(names)}.",
                {"study": study, "lists": names},
            )
            for study, names in self.left_out.items()
        ]
        answer = Statement("answer", self._answer, {"ratio": self.studies["ratio"].tolist()})
        return (
            StatementList("", (answer,), bulleted=False),
            StatementList("", tuple(scores)),
            StatementList("Left out", (*left_out, *lost)),
        )

    @property
    def _answer(self) -> str:
        """Whether both metrics give scores of one sign, and how far their sizes differ."""
        same = int((np.sign(self.studies["weat_mcs"]) == np.sign(self.studies["weat_cca"])).sum())
        ratios = " to ".join(dict.fromkeys(digits_text(self.studies["ratio"].agg(end)) for end in ("min", "max")))
        return (
            f"Both metrics give scores of the same sign in {same} of {counted(len(self.studies), 'study', 'studies')}; "
            f"mean cosine over canonical metric: {ratios}."
        )

    def __repr__(self) -> str:
        return f"KindelComparison({counted(len(self.studies), 'study', 'studies')}, embedding={self.embedding!r})"

    @property
    def contents(self) -> Contents:
        """Both scores of each study, and their components."""
        components = {f"{metric}_{name}": f"{metric.upper()} {name[0].upper()}:{name[2].upper()}"
                      for metric in ("mcs", "cca") for name in COMPONENTS}  # fmt: skip
        headings = {"n": "Words", "weat_mcs": "Score, MCS", "weat_cca": "Score, CCA", "rho": "Rank correlation"}
        lists = {name: f"List {name}" for name in "ABCD"}
        caption = "Scores by mean cosine similarity (MCS) and the canonical subspace metric (CCA), and their components"
        figure = ResultFigure(
            "plot_components", "Components of the tests under both metrics, and both scores; a panel for each study."
        )
        return contents_of(
            self,
            title="Do two metrics of association agree?",
            captions={"studies": caption},
            figures={"components": figure},
            headings={**lists, **headings, "ratio": "Ratio", **components},
        )


@shared_parameters()
def kindel_comparison(
    embedding: EmbeddingLike, studies: StudyLike | Sequence[StudyLike] = WEATS, *, max_lost: float = MAX_LOST
) -> KindelComparison:
    """Return association tests by mean cosine similarity (MCS) beside those by the canonical subspace metric (CCA).

    Parameters
    ----------
    studies
        One study or several, each as for `weat`. Default: WEAT 1 to 10.

    Returns
    -------
    KindelComparison
        Scores and components in `studies`, with the words and studies that are lost.

    Raises
    ------
    MeasureError
        If the lists of a study are not determined, no study is left, or rho or ratio is not defined.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words of a study, or so many words of a list that the study is left out.

    References
    ----------
    Kindel (2023), Table 1. Its canonical components must be scaled, as their size shows: unscaled, two lists of 25
    words in 300 dimensions have a similarity of about 2 by chance alone.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> kindel_comparison(vectors, "weat7").studies[["study", "A", "B", "C", "D", "n"]]
       study     A     B     C       D  n
    0  weat7  math  arts  male  female  8
    """
    single = isinstance(studies, Study | str | os.PathLike | Mapping)
    listed_studies: list[Any] = [studies] if single else check_items("studies", studies, "studies")
    chosen = [four_lists(study) for study in listed_studies]
    # A file is read only once, for all studies.
    source = as_embedding(embedding, [word for lists in chosen for group in lists.by_name.values() for word in group])
    limit = check_max_lost(max_lost)

    def unusable(words: Sequence[str]) -> bool:
        lost = source.lookup(words).lost
        return len(lost) == len(words) or WordList("", len(words), lost).is_over(limit)

    empty = [tuple(name for name, words in lists.by_name.items() if unusable(words)) for lists in chosen]
    left_out = {lists.study: names for lists, names in zip(chosen, empty, strict=True) if names}
    # A single study is not left out: its look-up raises the error.
    usable = [lists for lists, names in zip(chosen, empty, strict=True) if single or not names]
    if not usable:
        raise MeasureError(
            f"Every study has a list that lost too many words in the embedding {source.name!r} (max_lost={limit:g}), "
            f"such as {next(iter(left_out.values()), ('none given',))[0]!r}. Change the case rule, which is "
            f"{source.case_text!r}, give other studies, or raise max_lost."
        )
    embedded_lists = [find_lists(source, lists.by_name, max_lost=max_lost, least=1) for lists in usable]
    if left_out:
        named = "; ".join(f"{study} ({name_some(names)})" for study, names in left_out.items())
        warn_user(
            f"Left out {len(left_out)} of {len(chosen)} studies, because the embedding {source.name!r} lacks too many "
            f"words of a list (max_lost={limit:g}): {named}.",
            LostWordsWarning,
        )
    frame = pd.DataFrame([_row(lists, study_lists) for lists, study_lists in zip(usable, embedded_lists, strict=True)])
    lost = {
        lists.study: dict(study_lists.lost)
        for lists, study_lists in zip(usable, embedded_lists, strict=True)
        if study_lists.lost
    }
    return KindelComparison(frame, source.name, lost_words=lost, left_out=left_out)


def _row(lists: StudyLists, embedded_lists: EmbeddedLists) -> dict[str, Any]:
    pairs = component_vectors(lists, embedded_lists)
    mcs = [float(word_cosines(*pair).mean()) for pair in pairs]
    cca = [float(canonical_subspace_similarity(*pair, scaled=True)) for pair in pairs]
    by_cosine, by_subspace = float(score_of_components(mcs)), float(score_of_components(cca))
    if by_subspace == 0:
        raise MeasureError(f"weat_cca of {lists.study!r} is 0, so ratio is not defined. Leave the study out.")
    return {
        "study": lists.study,
        **dict(zip("ABCD", lists.by_name, strict=True)),
        "n": min(map(len, embedded_lists.words.values())),
        "weat_mcs": by_cosine,
        "weat_cca": by_subspace,
        "rho": float(rank_correlation(mcs, cca)),
        "ratio": by_cosine / by_subspace,
        **{f"mcs_{component}": value for component, value in zip(COMPONENTS, mcs, strict=True)},
        **{f"cca_{component}": value for component, value in zip(COMPONENTS, cca, strict=True)},
        "lost_words": sum(map(len, embedded_lists.lost.values())),
    }

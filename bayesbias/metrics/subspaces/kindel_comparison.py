"""Association tests by mean cosine similarity and by the canonical subspace metric, side by side."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from bayesbias.base.checks import check_items
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import canonical_subspace_similarity
from bayesbias.metrics.associations.mean_vectors import rank_correlation
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists, as_embedding, find_lists, four_lists
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.metrics.subspaces.component_scores import COMPONENTS, component_vectors, score
from bayesbias.metrics.subspaces.mean_cosine import word_cosines
from bayesbias.studies.study import Study, StudyLike

WEATS = tuple(f"weat{number}" for number in range(1, 11))


@shared_parameters()
def kindel_comparison(
    embedding: EmbeddingLike, studies: StudyLike | Sequence[StudyLike] = WEATS, *, max_lost: float = MAX_LOST
) -> pd.DataFrame:
    """Return association tests by mean cosine similarity (MCS) beside those by the canonical subspace metric (CCA).

    Parameters
    ----------
    studies
        One study or several, each as for `weat`. Default: WEAT 1 to 10.

    Returns
    -------
    DataFrame
        One row per study: `study`; `A`, `B`, `C`, `D`, the names of the lists; `n`, the number of words left in the
        shortest list; `weat_mcs` and `weat_cca`, the scores (A:C + B:D) - (B:C + A:D); `rho`, Spearman's correlation of
        the four components under the two metrics; `ratio`, weat_mcs / weat_cca; the components `mcs_a_c`, ... and
        `cca_a_c`, ..., the latter scaled by the geometric mean of the ranks; and the number of `lost_words`.
        ``frame.attrs["lost_words"]`` lists the lost words by study and list, ``frame.attrs["left_out"]`` the studies
        that were left out, with the lists that lost too many words.

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
    >>> frame = kindel_comparison(vectors, "weat7")
    >>> frame[["study", "A", "B", "C", "D", "n"]]
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
    frame.attrs |= {"lost_words": lost, "left_out": left_out}
    return frame


def _row(lists: StudyLists, embedded_lists: EmbeddedLists) -> dict[str, Any]:
    pairs = component_vectors(lists, embedded_lists)
    mcs = [float(word_cosines(*pair).mean()) for pair in pairs]
    cca = [float(canonical_subspace_similarity(*pair, scaled=True)) for pair in pairs]
    by_cosine, by_subspace = float(score(mcs)), float(score(cca))
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

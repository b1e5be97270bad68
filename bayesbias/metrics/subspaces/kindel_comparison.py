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
from bayesbias.metrics.look_up import FoundLists, StudyLists, as_embedding, find_lists, four_lists
from bayesbias.metrics.subspaces.component_scores import COMPONENTS, component_vectors, score
from bayesbias.metrics.subspaces.mean_cosine import word_cosines
from bayesbias.studies.study import Study, StudyLike

WEATS = tuple(f"weat{number}" for number in range(1, 11))


def kindel_comparison(
    embedding: EmbeddingLike, studies: StudyLike | Sequence[StudyLike] = WEATS, *, max_lost: float = MAX_LOST
) -> pd.DataFrame:
    """Compare association tests by mean cosine similarity (MCS) with those by the canonical subspace metric (CCA).

    Parameters
    ----------
    embedding, max_lost
        See `bayesbias.metrics`.
    studies
        One study or several, each as `weat` takes it; by default WEAT 1 to 10.

    Returns
    -------
    DataFrame
        One row a study: `study`; `A`, `B`, `C`, `D`, the names of the lists; `n`, the fewest words that a list has
        left; `weat_mcs` and `weat_cca`, the scores (A:C + B:D) - (B:C + A:D); `rho`, Spearman's correlation of the
        four components under the two metrics; `ratio`, weat_mcs / weat_cca; the components `mcs_a_c`, ... and
        `cca_a_c`, ..., the latter scaled by the geometric mean of the ranks; `lost_words`, how many.
        ``frame.attrs["lost_words"]`` names them by study and list, ``frame.attrs["left_out"]`` the studies that
        were left out with their lists that lost too many words.

    Raises
    ------
    MeasureError
        If the lists of a study are not determined, if no study is left, or if rho or ratio is not defined.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words of a study, or so many of a list that the study is left out.

    References
    ----------
    Kindel (2023), Table 1. That its canonical components are scaled follows from their size: unscaled, two lists of
    25 words in 300 dimensions have a similarity of about 2 by chance alone.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> frame = kindel_comparison(vectors, "weat7")
    >>> frame[["study", "A", "B", "C", "D", "n"]]
       study     A     B     C       D  n
    0  weat7  math  arts  male  female  8
    """
    single = isinstance(studies, Study | str | os.PathLike | Mapping)
    given: list[Any] = [studies] if single else check_items("studies", studies, "studies")
    chosen = [four_lists(study) for study in given]
    # A file is read once for all studies, if it is read at all.
    source = as_embedding(embedding, [word for lists in chosen for group in lists.by_name.values() for word in group])
    limit = check_max_lost(max_lost)

    def unusable(words: Sequence[str]) -> bool:
        lost = source.lookup(words).lost
        return len(lost) == len(words) or WordList("", len(words), lost).is_over(limit)

    empty = [tuple(name for name, words in lists.by_name.items() if unusable(words)) for lists in chosen]
    left_out = {lists.study: names for lists, names in zip(chosen, empty, strict=True) if names}
    # A single study is not left out: looking its lists up raises the error.
    kept = [lists for lists, names in zip(chosen, empty, strict=True) if single or not names]
    if not kept:
        raise MeasureError(
            f"Every study has a list that lost too many words in the embedding {source.name!r} (max_lost={limit:g}), "
            f"such as {next(iter(left_out.values()), ('none given',))[0]!r}. Look them up in another way (the case "
            f"rule is {source.case_text!r}), give other studies, or allow more."
        )
    found = [find_lists(source, lists.by_name, max_lost=max_lost, least=1) for lists in kept]
    if left_out:
        named = "; ".join(f"{study} ({name_some(names)})" for study, names in left_out.items())
        warn_user(
            f"Left {len(left_out)} of {len(chosen)} studies out, because the embedding {source.name!r} lacks too many "
            f"words of a list (max_lost={limit:g}): {named}.",
            LostWordsWarning,
        )
    frame = pd.DataFrame([_row(lists, each) for lists, each in zip(kept, found, strict=True)])
    lost = {lists.study: dict(each.lost) for lists, each in zip(kept, found, strict=True) if each.lost}
    frame.attrs |= {"lost_words": lost, "left_out": left_out}
    return frame


def _row(lists: StudyLists, found: FoundLists) -> dict[str, Any]:
    pairs = component_vectors(lists, found)
    mcs = [float(word_cosines(*pair).mean()) for pair in pairs]
    cca = [float(canonical_subspace_similarity(*pair, scaled=True)) for pair in pairs]
    by_cosine, by_subspace = float(score(mcs)), float(score(cca))
    if by_subspace == 0:
        raise MeasureError(f"The canonical score of {lists.study!r} is 0, so the ratio of the scores is not defined.")
    return {
        "study": lists.study,
        **dict(zip("ABCD", lists.by_name, strict=True)),
        "n": min(map(len, found.words.values())),
        "weat_mcs": by_cosine,
        "weat_cca": by_subspace,
        "rho": float(rank_correlation(mcs, cca)),
        "ratio": by_cosine / by_subspace,
        **{f"mcs_{component}": value for component, value in zip(COMPONENTS, mcs, strict=True)},
        **{f"cca_{component}": value for component, value in zip(COMPONENTS, cca, strict=True)},
        "lost_words": sum(map(len, found.lost.values())),
    }

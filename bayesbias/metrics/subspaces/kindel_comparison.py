"""Association tests by mean cosine similarity and by the canonical subspace metric, side by side."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import canonical_subspace_similarity
from bayesbias.metrics.look_up import as_embedding, weat_lists
from bayesbias.metrics.subspaces.association_lists import COMPONENTS, FourLists, four_lists, score
from bayesbias.metrics.subspaces.mean_cosine import mean_cosine
from bayesbias.studies import Study, load_study

AnyStudy = Study | str | os.PathLike[str] | Mapping[str, Sequence[str]]

WEATS = tuple(f"weat{number}" for number in range(1, 11))


def kindel_comparison(embedding: Any, studies: AnyStudy | Sequence[AnyStudy] = WEATS) -> pd.DataFrame:
    """Compare association tests by mean cosine similarity (MCS) with those by the canonical subspace metric (CCA).

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
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
        were left out with their lists that have no word in the embedding.

    Raises
    ------
    MeasureError
        If the lists of a study are not determined, if no study is left, or if rho or ratio is not defined.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words of a study, or a whole list, so that the study is left out.

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
    chosen: Sequence[AnyStudy] = [studies] if single else studies  # type: ignore[list-item,assignment]
    words = [_words(study) for study in chosen]
    # A file is read once for all studies, if it is read at all.
    source = as_embedding(embedding, [word for lists in words for group in lists.values() for word in group])
    empty = [[name for name, group in lists.items() if not source.lookup(group).found] for lists in words]
    lists = [four_lists(source, study) for study, without in zip(chosen, empty, strict=True) if not without or single]
    left_out = {_name(study): tuple(without) for study, without in zip(chosen, empty, strict=True) if without}
    if not lists:
        raise MeasureError(
            f"Every study has a list without a word in the embedding {source.name!r}, such as "
            f"{next(iter(left_out.values()), ('none given',))[0]!r}. Look the words up in another case (the case "
            f"rule is {source.case!r}), or give other studies."
        )
    if left_out:
        named = "; ".join(f"{study} ({name_some(names)})" for study, names in left_out.items())
        warn_user(
            f"Left {len(left_out)} of {len(chosen)} studies out, because the embedding {source.name!r} has no word of "
            f"a list: {named}.",
            LostWordsWarning,
        )
    frame = pd.DataFrame([_row(four) for four in lists])
    frame.attrs |= {"lost_words": {four.study: dict(four.lost) for four in lists if four.lost}, "left_out": left_out}
    return frame


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Return Spearman's rank correlation of the components of a test under two metrics.

    Parameters
    ----------
    first, second
        As many similarities each, in the same order.

    Raises
    ------
    MeasureError
        If all similarities of one metric are equal.

    References
    ----------
    Kindel (2023), Table 1, rho.

    Examples
    --------
    >>> round(rank_correlation([0.131, 0.035, 0.028, 0.072], [0.072, 0.037, 0.032, 0.053]), 12)  # his WEAT 10
    1.0
    """
    from scipy.stats import rankdata

    x, y = (rankdata(np.asarray(values, dtype=np.float64)) for values in (first, second))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise MeasureError("All components of the test are equal under one metric, so they have no rank correlation.")
    return float(np.corrcoef(x, y)[0, 1])


def _row(lists: FourLists) -> dict[str, Any]:
    mcs = [float(mean_cosine(*pair)) for pair in lists.pairs]
    cca = [float(canonical_subspace_similarity(*pair, scaled=True)) for pair in lists.pairs]
    by_cosine, by_subspace = float(score(mcs)), float(score(cca))
    if by_subspace == 0:
        raise MeasureError(f"The canonical score of {lists.study!r} is 0, so the ratio of the scores is not defined.")
    return {
        "study": lists.study,
        **dict(zip("ABCD", lists.names, strict=True)),
        "n": min(len(words) for words in lists.words),
        "weat_mcs": by_cosine,
        "weat_cca": by_subspace,
        "rho": rank_correlation(mcs, cca),
        "ratio": by_cosine / by_subspace,
        **{f"mcs_{component}": value for component, value in zip(COMPONENTS, mcs, strict=True)},
        **{f"cca_{component}": value for component, value in zip(COMPONENTS, cca, strict=True)},
        "lost_words": sum(map(len, lists.lost.values())),
    }


def _words(study: AnyStudy) -> Mapping[str, Sequence[str]]:
    return study if isinstance(study, Mapping) else weat_lists(load_study(study))


def _name(study: AnyStudy) -> str:
    return "four lists" if isinstance(study, Mapping) else load_study(study).name

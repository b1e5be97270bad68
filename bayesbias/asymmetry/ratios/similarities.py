"""`similarity` and `word_similarity`: similarity of pairs from both conditional probabilities, and people's scores."""

import os

import numpy as np
import pandas as pd

from bayesbias.asymmetry.ratios.alar import usable
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.quality.benchmark_files import read_similarity
from bayesbias.metrics.quantities import Quantity
from bayesbias.metrics.result import Items, MeasureResult, result_of_items

_LEAST = 3  # pairs with numbers


def similarity(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the similarity of the words of pairs: the geometric mean of both conditional probabilities.

    Parameters
    ----------
    ratios
        From `lar`.

    Returns
    -------
    pandas.DataFrame
        The rows of `ratios` with `similarity`, from 0 to 1, and its logarithm, `log_similarity`; missing for pairs that
        are left out.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 12.

    Examples
    --------
    >>> vectors = {"circle": [3.0, 1.0], "ellipse": [1.0, 0.0], "square": [0.5, 2.0]}
    >>> found = bb.asymmetry.lar(bb.asymmetry.static(vectors), [("ellipse", "circle")])
    >>> bb.asymmetry.similarity(found)["similarity"].round(3).tolist()
    [0.269]
    """
    usable(ratios)
    logs = (ratios["log_b_given_a"] + ratios["log_a_given_b"]) / 2
    return ratios.assign(similarity=np.exp(logs), log_similarity=logs)


def word_similarity(
    source: ConditionalSource,
    path: str | os.PathLike[str],
    *,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    r"""Return the rank correlation of a source's similarity of pairs of words with people's scores.

    For a masked language model, which has no cosine, and any other source of P(b given a). For vectors see also
    `bb.metrics.word_similarity`, which uses cosines.

    Parameters
    ----------
    source
        From `masked_model`, `static` and others.
    path
        File of word similarity (see `bb.metrics.read_similarity`): MEN, SimLex-999, WS-353 or your own.
    random_seed
        Seed of the Bayesian bootstrap over pairs.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    MeasureResult
        `spearman`, the rank correlation of `similarity` and people's scores, from -1 to 1. The items are the pairs,
        with `human` and `log_similarity`. Pairs for which the source has no number are left out and listed
        (`lost_words`).

    Raises
    ------
    MeasureError
        If a line of the file is not a pair with a score, fewer than three pairs are left, or all have the same score.

    Warns
    -----
    LostWordsWarning
        If pairs are lost.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 12 and tables 4 and 8.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.txt"
    >>> _ = path.write_text("cat dog 9\ncat car 1\ncar van 8\ndog van 2\n")
    >>> vectors = {"cat": [1.0, 0.1], "dog": [1.0, 0.3], "car": [0.1, 1.0], "van": [0.0, 1.0]}
    >>> round(bb.asymmetry.word_similarity(bb.asymmetry.static(vectors), path, random_seed=1).value, 3)
    1.0
    """
    seed = resolve_seed(random_seed)
    listed = pd.DataFrame(read_similarity(path), columns=["a", "b", "human"])
    listed = listed[listed["a"] != listed["b"]].drop_duplicates(["a", "b"], ignore_index=True)
    ratios = lar(source, listed, hdi_prob=hdi_prob) if len(listed) else listed.assign(left_out="")
    has_number = ratios["left_out"] == ""
    if has_number.sum() < _LEAST:
        raise MeasureError(
            f"{source.name} has a number for {int(has_number.sum())} of the {len(listed):,} pairs of "
            f"{os.fspath(path)}; at least {_LEAST} are needed. Give a source with more of the words, or more contexts."
        )
    lost = [f"{a} ~ {b}" for a, b in ratios.loc[~has_number, ["a", "b"]].itertuples(index=False)]
    if lost:
        warn_user(
            f"{source.name} has no number for {len(lost):,} of the {len(listed):,} pairs: {name_some(lost, 5)}. The "
            "correlation is that of the others; the result lists the lost ones (lost_words).",
            LostWordsWarning,
        )
    pairs = similarity(ratios[has_number])
    items = pairs.assign(item=pairs["a"] + " ~ " + pairs["b"])[["item", "human", "log_similarity"]]
    return result_of_items(
        "word_similarity",
        source.name,
        Items(items.reset_index(drop=True), {"pairs": lost}),
        [Quantity("spearman", "spearman", ("human", "log_similarity"))],
        conventions="Spearman's correlation of the geometric mean of P(b given a) and P(a given b) and people's "
        "scores, ties at their mean rank",
        random_seed=seed,
        hdi_prob=hdi_prob,
    )

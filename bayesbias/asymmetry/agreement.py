"""Agreement of a source with people or another source: CAM, differences of CAM, directions, similarity of words."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from scipy.stats import beta

from bayesbias.asymmetry.relation_means import (
    REST,
    Codes,
    dyadic_variance,
    kish_words,
    relation_places,
    reliability_influences,
    spearman_influences,
    usable,
    word_codes,
)
from bayesbias.asymmetry.vector_source import ConditionalSource, lar
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_items, check_number, check_probability, resolve_seed
from bayesbias.base.number_text import counted
from bayesbias.errors import LostWordsWarning, MeasureError, QuestionWarning, name_some, warn_user
from bayesbias.metrics.intrinsic.quality import read_similarity
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity

LEAST_PAIRS = 10
"""Smallest number of pairs for which a relation has a row."""
CLEAR = 0.95
"""Smallest probability of direction at which a direction is called clear."""
ALL, WEIGHTED, WITHOUT_REST = "all pairs", "SA", "SR"
_LEAST = 3  # pairs with numbers


def cam(
    first: pd.DataFrame, second: pd.DataFrame, *, relations: Any = None, hdi_prob: float = HDI_PROB
) -> pd.DataFrame:
    """Return the correlation on asymmetry (CAM) of two sources: Spearman's, of the log asymmetry ratios of pairs.

    Parameters
    ----------
    first, second
        From `lar`, for the same pairs. Pairs that either leaves out are not used.
    relations
        Names of the relations of `first` to use; None uses all.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per relation with at least ten pairs, the largest first; then ``SA``, their mean weighted by the numbers
        of pairs, and ``SR``, the same without ``RelatedTo``. Pairs without relations have one row, ``all pairs``.

        - `relation`, `pairs`, `cam` and its interval, `hdi_low` to `hdi_high`;
        - `reliability_first`, `reliability_second`: the variance of the posterior means over that of the true LARs;
        - `cam_corrected` and its interval: CAM corrected for the errors of both (attenuation), as with infinitely many
          participants.

    Raises
    ------
    MeasureError
        If the two have fewer than ten pairs in common, or the LARs of one do not vary.

    Warns
    -----
    QuestionWarning
        If relations have too few pairs for a row.

    Notes
    -----
    The pairs are a sample, and those that share a word vary together: see `alar`. The errors of both sides are part of
    the observed variation, and so of the interval of `cam`. They reduce a correlation; `cam_corrected` divides by the
    root of the product of the reliabilities (Spearman 1904), with an interval that accounts for their estimation.
    Intervals are Student's t on Fisher's scale; the degrees of freedom are the effective number of words (Kish's, since
    words are in different numbers of pairs) minus 1. Where outlying pairs share words with others, the intervals are
    slightly too narrow (`validation/asymmetry`).

    Reliability assumes posterior means, as from `evocation`, or numbers without error. The numbers of a masked model
    are plain estimates, whose variance includes that of their errors: their reliability is overestimated, and
    `cam_corrected` underestimated. In that case use `cam`, and read `cam_corrected` as a lower bound.

    The paper's LAR of norms is the log ratio of the shares of answers, without a prior. Its CAM is that of
    ``people.assign(lar=people["lar_from_counts"], sd=0.0).dropna(subset="lar")`` in place of people's LARs.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 4 and tables 1 and 2.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)]
    >>> study = bb.load_study("weat7")
    >>> pairs = [(a, b) for a in study.protected_words[:8] for b in study.attribute_words[:8]]
    >>> first, second = (bb.asymmetry.lar(bb.asymmetry.static(path), pairs) for path in vectors)
    >>> agreement = bb.asymmetry.cam(first, second)
    >>> agreement.loc[0, "relation"], bool(agreement.loc[0, "cam"] > 0.9)
    ('all pairs', True)
    """
    check_probability("hdi_prob", hdi_prob)
    frame = joined(first, second)
    for side, column in (("first", "lar"), ("second", "lar_2")):
        if frame[column].nunique() < 2:
            raise MeasureError(
                f"The LARs of {side} are all {frame[column].iloc[0]:g}, so there is no correlation. Give pairs or "
                "sources whose LARs differ."
            )
    codes = word_codes(frame["a"].tolist(), frame["b"].tolist())
    rows = relation_rows(frame, relations)
    return pd.DataFrame([_cam_row(frame, codes, groups, name, hdi_prob) for name, groups in rows])


def _cam_row(
    frame: pd.DataFrame, codes: tuple[Codes, Codes], groups: list[tuple[str, Codes]], name: str, hdi_prob: float
) -> dict[str, Any]:
    """Return one row of `cam`: the mean over groups of pairs, weighted by their sizes."""
    total = sum(len(places) for _, places in groups)
    correlation = cam_corrected = 0.0
    reliabilities = np.zeros(2)
    influences, corrected, pair_places = [], [], []
    for _, places in groups:
        columns = [frame[column].to_numpy(dtype=np.float64)[places] for column in ("lar", "sd", "lar_2", "sd_2")]
        value, spearman_influence = spearman_influences(columns[0], columns[2])
        one, of_one = reliability_influences(columns[0], columns[1])
        other, of_other = reliability_influences(columns[2], columns[3])
        share = len(places) / total
        reliabilities += share * np.array([one, other])
        correlation += share * value
        root = np.sqrt(max(one, 1e-6) * max(other, 1e-6))
        cam_corrected += share * value / root
        changes = spearman_influence / root - value / root / 2 * (of_one / max(one, 1e-6) + of_other / max(other, 1e-6))
        influences.append(spearman_influence / total)
        corrected.append(changes / total)
        pair_places.append(places)
    rows = np.concatenate(pair_places)
    sides = codes[0][rows], codes[1][rows]
    words = kish_words(*sides)
    low, high = _fisher(correlation, dyadic_variance(np.concatenate(influences), *sides), words, hdi_prob)
    low_2, high_2 = _fisher(cam_corrected, dyadic_variance(np.concatenate(corrected), *sides), words, hdi_prob)
    return {
        "relation": name,
        "pairs": total,
        "cam": float(np.clip(correlation, -1, 1)),
        "hdi_low": low,
        "hdi_high": high,
        "reliability_first": reliabilities[0],
        "reliability_second": reliabilities[1],
        "cam_corrected": float(np.clip(cam_corrected, -1, 1)),
        "cam_corrected_low": low_2,
        "cam_corrected_high": high_2,
    }


def _fisher(value: float, variance: float, words: float, hdi_prob: float) -> tuple[float, float]:
    """Return the interval of a correlation, Student's t on Fisher's scale.

    Near 1, where the scale has no end, a correlation counts as one error away from it; the interval reaches as far as
    the correlation does.
    """
    freedom = max(words - 1, 1.0)
    error = float(np.sqrt(variance * (freedom + 1) / freedom))
    edge = 1 - float(np.clip(error, 0.001, 0.5))
    inside = float(np.clip(value, -edge, edge))
    half = stdtrit(freedom, (1 + hdi_prob) / 2) * error / (1 - inside**2)
    low, high = np.tanh(np.arctanh(inside) - half), np.tanh(np.arctanh(inside) + half)
    reach = float(np.clip(value, -1, 1))
    return min(float(low), reach), max(float(high), reach)


def directional_accuracy(
    truth: pd.DataFrame,
    source: pd.DataFrame,
    *,
    gamma: float | Sequence[float] = 0.0,
    relations: Any = None,
    hdi_prob: float = HDI_PROB,
) -> pd.DataFrame:
    """Return the share of pairs for which a source has the correct direction.

    Parameters
    ----------
    truth
        From `lar` of evocation data.
    source
        From `lar` of the source to evaluate, for the same pairs.
    gamma
        Threshold, or several: LARs from -gamma to gamma have no direction, in `truth` and in `source`. A pair without
        direction in both counts as correct. The paper has 0, 0.1, 1 and 10; its LARs appear to be 100 times natural
        logarithms, so these are 0, 0.001, 0.01 and 0.1 here.
    relations, hdi_prob
        As for `cam`; the relations are those of `truth`.

    Returns
    -------
    pandas.DataFrame
        For each `gamma`, one row per relation with at least ten pairs, and one for all pairs: `gamma`, `relation`,
        `pairs`, `accuracy`, `hdi_low`, `hdi_high`; and `clear_pairs` and `clear_accuracy` (missing if there are none)
        for the pairs whose direction in `truth` has a probability of at least 0.95. For the others the data do not
        determine the direction.

    Raises
    ------
    MeasureError
        If the two have fewer than ten pairs in common.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equations 13 and 14.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)]
    >>> study = bb.load_study("weat7")
    >>> pairs = [(a, b) for a in study.protected_words[:8] for b in study.attribute_words[:8]]
    >>> first, second = (bb.asymmetry.lar(bb.asymmetry.static(path), pairs) for path in vectors)
    >>> bool(bb.asymmetry.directional_accuracy(first, second).loc[0, "accuracy"] > 0.6)
    True
    """
    check_probability("hdi_prob", hdi_prob)
    thresholds = _thresholds(gamma)
    frame = joined(truth, source)
    first, second = (frame[name].to_numpy(dtype=np.float64) for name in ("lar", "lar_2"))
    clear = frame["probability_of_direction"].to_numpy() >= CLEAR
    codes = word_codes(frame["a"].tolist(), frame["b"].tolist())
    groups = list(relation_groups(frame, relations))
    if "relation" in frame:
        groups.append((ALL, np.unique(np.concatenate([places for _, places in groups]))))
    rows = []
    for threshold in thresholds:
        right = (_directions(first, threshold) == _directions(second, threshold)).astype(float)
        for name, places in groups:
            accuracy, low, high = _share(right[places], codes[0][places], codes[1][places], hdi_prob)
            of_clear = right[places][clear[places]]
            rows.append({
                "gamma": threshold, "relation": name, "pairs": len(places),
                "accuracy": accuracy, "hdi_low": low, "hdi_high": high,
                "clear_pairs": len(of_clear), "clear_accuracy": float(of_clear.mean()) if len(of_clear) else None,
            })  # fmt: skip
    return pd.DataFrame(rows).astype({"clear_accuracy": float})


def _thresholds(gamma: Any) -> list[float]:
    listed = [gamma] if isinstance(gamma, int | float) else check_items("gamma", gamma, "a number of at least 0")
    thresholds = [check_number("gamma", threshold, low=0.0, high=1e6) for threshold in listed]
    if not thresholds:
        raise MeasureError("gamma has no thresholds. Give at least one number, such as 0.")
    return list(dict.fromkeys(thresholds))


def _directions(values: Floats, gamma: float) -> Floats:
    """Return the directions of LARs, 1, -1 or 0: equation 14."""
    directions: Floats = np.sign(values) * (np.abs(values) > gamma)
    return directions


def _share(right: Floats, first: Codes, second: Codes, hdi_prob: float) -> tuple[float, float, float]:
    """Return a share and its interval: Beta with Jeffreys' prior and the effective number of pairs."""
    count, share = len(right), float(right.mean())
    influences = (right - share) / count
    independent = float(influences @ influences)
    effect = dyadic_variance(influences, first, second) / independent if independent else 1.0
    worth = count / effect
    ends = np.array([(1 - hdi_prob) / 2, (1 + hdi_prob) / 2])
    low, high = np.asarray(beta.ppf(ends, share * worth + 0.5, (1 - share) * worth + 0.5)).tolist()
    return share, low, high


def too_few(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Return why two frames of `lar` have too few pairs in common to be compared, or an empty text."""
    frame = _in_common(first, second)
    if len(frame) < LEAST_PAIRS:
        return f"{_few_text(len(frame))}."
    largest = frame["relation"].value_counts() if "relation" in frame else pd.Series([len(frame)])
    if largest.max() >= LEAST_PAIRS:
        return ""
    return f"No relation has {LEAST_PAIRS} pairs with numbers in both: {largest.index[0]} has {largest.iloc[0]}."


def _few_text(count: int) -> str:
    return f"{counted(count, 'pair has', 'pairs have')} a number in both, and at least {LEAST_PAIRS} are needed"


def joined(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with numbers in both frames, in the order of the first; columns of the second end in _2."""
    frame = _in_common(first, second)
    if len(frame) < LEAST_PAIRS:
        raise MeasureError(f"{_few_text(len(frame))}. Give more pairs, or a source that has more of their words.")
    return frame


def _in_common(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    one, other = usable(first, "first"), usable(second, "second")
    columns = ["a", "b", "lar", "sd"]
    same = other[columns].drop_duplicates(["a", "b"])
    turned = same.rename(columns={"a": "b", "b": "a"}).assign(lar=-same["lar"])
    both = pd.concat([same, turned]).drop_duplicates(["a", "b"])
    return one.merge(both, on=["a", "b"], suffixes=("", "_2"))


def relation_rows(frame: pd.DataFrame, relations: Any) -> list[tuple[str, list[tuple[str, Codes]]]]:
    """Return the rows of a table of relations: each relation, SA and SR, with the groups of pairs of each row."""
    groups = list(relation_groups(frame, relations))
    rows = [(name, [(name, places)]) for name, places in groups]
    if "relation" in frame:
        rows.append((WEIGHTED, groups))
        others = [(name, places) for name, places in groups if name != REST]
        if others and len(others) < len(groups):
            rows.append((WITHOUT_REST, others))
    return rows


def relation_groups(frame: pd.DataFrame, relations: Any) -> Iterator[tuple[str, Codes]]:
    """Yield relations and the positions of their pairs; warn of those with too few."""
    if "relation" not in frame:
        yield ALL, np.arange(len(frame))
        return
    few, any_rows = [], False
    for name, places in relation_places(frame, relations):
        if len(places) < LEAST_PAIRS:
            few.append(f"{name} ({len(places)})")
            continue
        any_rows = True
        yield name, places
    if not any_rows:
        raise MeasureError(
            f"No relation has {LEAST_PAIRS} pairs with numbers in both: {name_some(few)}. Give more pairs."
        )
    if few:
        warn_user(
            f"The tables of agreement (CAM and accuracy of directions) have no row for relations with fewer than "
            f"{LEAST_PAIRS} pairs: {name_some(few)}. Give more pairs, or merge relations.",
            QuestionWarning,
        )


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
    >>> ratios = bb.asymmetry.lar(bb.asymmetry.static(vectors), [("ellipse", "circle")])
    >>> bb.asymmetry.similarity(ratios)["similarity"].round(3).tolist()
    [0.269]
    """
    usable(ratios)
    logs = (ratios["log_b_given_a"] + ratios["log_a_given_b"]) / 2
    return ratios.assign(similarity=np.exp(logs), log_similarity=logs)


def similarity_to_people(
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
    random_seed, hdi_prob
        As for `bb.metrics.word_similarity`.

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
    >>> round(bb.asymmetry.similarity_to_people(bb.asymmetry.static(vectors), path, random_seed=1).value, 3)
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
        question=f"Does {source.name} find those words similar that people do?",
        conventions="Spearman's correlation of the geometric mean of P(b given a) and P(a given b) and people's "
        "scores, ties at their mean rank",
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def cam_difference(
    truth: pd.DataFrame,
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    relations: object = None,
    hdi_prob: float = HDI_PROB,
) -> pd.DataFrame:
    """Return the difference of two sources' correlations on asymmetry (CAM) with people, on the pairs that all have.

    Parameters
    ----------
    truth
        From `lar` of evocation data.
    first, second
        From `lar` of the two sources. Pairs that one of the three lacks are not used.
    relations, hdi_prob
        As for `cam`; the relations are those of `truth`.

    Returns
    -------
    pandas.DataFrame
        One row per relation with at least ten pairs, then ``SA`` and ``SR`` as in `cam`: `relation`, `pairs`,
        `cam_first`, `cam_second`, their `difference` (first minus second), `sd`, `hdi_low`, `hdi_high`,
        `probability_of_direction`.

    Raises
    ------
    MeasureError
        If the three have fewer than ten pairs in common, or the LARs of one do not vary.

    Notes
    -----
    Both correlations are of the same pairs and the same people, so their errors are correlated, and the interval of the
    difference is narrower than those of two separate CAMs suggest. It is Student's t from the difference of the
    influences of each pair, with the effective number of words minus 1 degrees of freedom, as in `cam`.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 9, for the common pairs. The interval is ours.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)]
    >>> study = bb.load_study("weat7")
    >>> pairs = [(a, b) for a in study.protected_words[:8] for b in study.attribute_words[:8]]
    >>> frames = [bb.asymmetry.lar(bb.asymmetry.static(path), pairs) for path in vectors]
    >>> bb.asymmetry.cam_difference(*frames)[["relation", "pairs", "difference"]].round(3).values.tolist()
    [['all pairs', 64, -0.002]]
    """
    check_probability("hdi_prob", hdi_prob)
    with_first = joined(truth, first).rename(columns={"lar_2": "lar_1", "sd_2": "sd_1"})
    frame = joined(with_first, second)
    for name, column in (("truth", "lar"), ("first", "lar_1"), ("second", "lar_2")):
        if frame[column].nunique() < 2:
            raise MeasureError(f"The LARs of {name} are all {frame[column].iloc[0]:g}. Give sources whose LARs differ.")
    codes = word_codes(frame["a"].tolist(), frame["b"].tolist())
    return pd.DataFrame(
        [_row(frame, codes, groups, name, hdi_prob) for name, groups in relation_rows(frame, relations)]
    )


def _row(
    frame: pd.DataFrame, codes: tuple[Codes, Codes], groups: list[tuple[str, Codes]], name: str, hdi_prob: float
) -> dict[str, object]:
    total = sum(len(places) for _, places in groups)
    correlations = np.zeros(2)
    influences = []
    for _, places in groups:
        people, *sources = (frame[column].to_numpy(dtype=np.float64)[places] for column in ("lar", "lar_1", "lar_2"))
        (one, of_one), (other, of_other) = (spearman_influences(people, source) for source in sources)
        correlations += len(places) / total * np.array([one, other])
        influences.append((of_one - of_other) / total)
    rows = np.concatenate([places for _, places in groups])
    sides = codes[0][rows], codes[1][rows]
    freedom = max(kish_words(*sides) - 1, 1.0)
    variance = dyadic_variance(np.concatenate(influences), *sides) * (freedom + 1) / freedom
    sd = float(np.sqrt(variance))
    difference = float(correlations[0] - correlations[1])
    half = float(stdtrit(freedom, (1 + hdi_prob) / 2)) * sd
    return {
        "relation": name,
        "pairs": total,
        "cam_first": correlations[0],
        "cam_second": correlations[1],
        "difference": difference,
        "sd": sd,
        "hdi_low": difference - half,
        "hdi_high": difference + half,
        "probability_of_direction": float(stdtr(freedom, abs(difference) / sd))
        if sd
        else 0.5 + 0.5 * (difference != 0),
    }

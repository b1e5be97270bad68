"""`trend`: how the gap between associated and other words moved over periods, or between two embeddings."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    check_flag,
)
from bayesbias.embeddings.case_rules import Case
from bayesbias.models.periods.contrast_draws import ContrastDraws
from bayesbias.models.periods.period_line import draw_line, neighbour_test
from bayesbias.models.periods.period_sample import period_sample
from bayesbias.reports.changes.conditions import (
    covariates_by_period,
    tables_by_period,
    times_of,
    trend_design,
)
from bayesbias.reports.changes.engine import Periods, changes_of
from bayesbias.reports.changes.frames import Estimation, line_rows
from bayesbias.reports.changes.result import DRAWS, Changes
from bayesbias.reports.changes.word_slopes import draw_slopes, slope_rows, word_covariates_by_period
from bayesbias.studies.study import StudyLike

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import EmbeddingLike
    from bayesbias.models.covariates import CovariatesLike


def trend(
    periods: "str | os.PathLike[str] | Mapping[Any, pd.DataFrame | EmbeddingLike]",
    study: StudyLike | None = None,
    *,
    covariates: "str | os.PathLike[str] | Mapping[str, Mapping[Any, float]] | pd.DataFrame | None" = None,
    word_covariates: "CovariatesLike | os.PathLike[str] | None" = None,
    walk: bool = False,
    baseline: str = "associated",
    scope: str = "population",
    case: Case = "exact",
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    draws: int = DRAWS,
    random_seed: int | None = None,
    progress: bool = True,
) -> Changes:
    """Return how an association moved over periods: gaps, changes, a trend, and the words that moved.

    Two periods may also be an original and a debiased embedding, or any two embeddings of the same words.

    Parameters
    ----------
    periods
        A folder with one file or folder per period (see `bayesbias.embeddings.load_periods`), or a mapping of periods
        to distance tables, embeddings or files, in the order of time. Periods that are numbers are sorted, and their
        differences are time; otherwise a period is a unit of time.
    study
        Study, name of a bundled one, or path of a TOML file; not needed for distance tables.
    covariates
        Numbers by period, such as shares of women by decade: a frame whose index (or column `period`) has the periods,
        the path of such a CSV file, or a mapping of names to numbers by period. Their slopes are estimated together
        with that of time for a line, or from the steps of a random walk.
    word_covariates
        Numbers of the protected words, such as the share of women in an occupation: what `fit` takes as covariates, or
        the path of a CSV file with the column ``word`` and columns of numbers; with a column ``period``, the numbers of
        each period. Their slopes by period, and the change of a slope, are in `slopes`.
    walk
        Whether the gap is taken as a random walk, whose steps have a variance in proportion to their time, instead of
        a line with independent deviations.
    baseline
        The connection from which the others are subtracted.
    scope
        ``"population"``: words like these, of which these are a sample; ``"these_words"``: exactly these protected
        words. Changes of groups are about exactly these words in both scopes.
    case
        Case rule of the words of embeddings: see `Embedding`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Differences too small to matter, in units of cosine distance: a half-width, or (low, high).
    draws
        Posterior draws of each of the 4 chains.
    random_seed
        Seed of the draws. None draws one and records it.
    progress
        Show a progress bar if there is a terminal or a notebook to show it in.

    Returns
    -------
    Changes
        Frames `gaps`, `changes`, `distances`, `lines`, `slopes`, `neighbours` and `lacking`; `print` shows its
        conclusions. `lines` has, for each contrast, the change along the line from the first to the last period, the
        change for one unit of each covariate, and the sd of periods (its `mean` is the median); `slopes` the
        least-squares slope of the words' gaps on each word covariate in each period (`quantity` is ``"slope"``) and its
        change from the first to the last (``"change"``); `neighbours` the statistic of Durbin and Watson and the share
        of simulated independent deviations with a smaller one.

    Raises
    ------
    ReportError, ArgumentError
        If there are fewer than two periods, the study is missing, a covariate is not usable or there are too many.
    TableError
        If a table breaks the schema, a pair has different connections, or a list has too few words in a period.
    EmbeddingError, InputFileError, LostWordsError, NotEnoughMemoryError
        As by `load_embedding` and `distance_table`, or if the draws do not fit into memory.

    Notes
    -----
    Distances are taken within each period, so vectors need no alignment. One attribute word is one vector, of its
    distances to all protected words in all periods: the mean of a list of n words has the covariance of its vectors
    over n, with n - 1 degrees of freedom. Gaps are multivariate t with the degrees of freedom of Welch (1947), as in
    the t-test of unequal variances, with variances pooled over words and periods. A change has the error of the paired
    differences: words that are near to everything in all periods do not blur it. With two lists of 4 words, 3 to 6
    degrees of freedom make intervals wide, as they should.

    A word's gaps vary around those of its group by S over periods, with the half-t priors of Huang and Wand (2013) in
    orthonormal coordinates of time. The gap of words like these is the mean of these words plus Normal(0, S / J_g).
    Slopes on covariates of words are least squares over the words of a period, as in `covariate_effect`; for words like
    these, each word's residual enters with a random weight that is the same in all periods, so that changes are paired,
    and both errors together have the degrees of freedom of Satterthwaite (1946).
    Coefficients of the trend are least squares, never generalised least squares, with the sd of periods around it, net
    of the error of the gaps, as a further error; both together have the degrees of freedom of Satterthwaite.

    A word that some periods lack is never filled with a number: list means are least squares with an effect of each
    word and each period, so that changes come from words that both periods have. Their errors are those of the
    jackknife, which leaves out one attribute word at a time, with one degree of freedom less than two periods share
    words on average.

    References
    ----------
    Garg, Schiebinger, Jurafsky and Zou (2018), PNAS 115(16), on a century of stereotypes in vectors. Huang and Wand
    (2013), Simple marginally noninformative prior distributions for covariance matrices, Bayesian Analysis 8(2).
    Satterthwaite (1946), Biometrics Bulletin 2(6). Welch (1947), Biometrika 34(1-2).

    Examples
    --------
    The bundled periods have a planted drift: 0 to 60 % of the names' lean was removed.

    >>> folder = bb.bundled("data", "vectors", "planted_drift")
    >>> moved = bb.trend(folder, "weat6", random_seed=1)
    >>> moved.changes.iloc[3][["contrast", "first", "second", "reading"]].tolist()
    ['associated - different', '1950', '1990', 'narrower']
    >>> moved.lacking[["word", "lacks"]].values.tolist()[:2]
    [['Donna', '1960'], ['Lisa', '1950']]
    """
    check_flag("walk", walk)
    estimation = Estimation.checked(
        draws=draws, random_seed=random_seed, hdi_prob=hdi_prob, rope=rope, scope=scope, baseline=baseline
    )
    tables = tables_by_period(periods, study, case)
    sample, names = period_sample(tables), tuple(tables)
    times = times_of(list(names))
    covariate_frame = covariates_by_period(covariates, names)
    design = trend_design(covariate_frame, times, walk=walk)
    of_words = None if word_covariates is None else word_covariates_by_period(word_covariates, sample)

    def lines(drawn: ContrastDraws) -> "dict[str, pd.DataFrame]":
        frames = {} if design is None else _trend_frames(drawn, design, times, estimation, walk=walk)
        if of_words is not None:
            slopes = draw_slopes(sample, drawn, of_words, seed=estimation.seed)
            frames["slopes"] = slope_rows(slopes, of_words.names, names, scope, hdi_prob)
        return frames

    facts = {
        "covariates": [str(name) for name in covariate_frame],
        "word_covariates": [] if of_words is None else list(of_words.names),
        "walk": walk,
        "trend": design is not None,
    }
    return changes_of(tables, estimation, periods=Periods(sample, times, lines, facts), progress=progress)


def _trend_frames(
    drawn: ContrastDraws, design: "pd.DataFrame", times: np.ndarray, estimation: Estimation, *, walk: bool
) -> "dict[str, pd.DataFrame]":
    """Return the trend of a contrast over all words, and whether neighbouring periods deviate from it alike."""
    import pandas as pd

    data = (drawn.overall(estimation.scope), design.to_numpy(), times)
    line = draw_line(*data, walk=walk, seed=estimation.seed)
    sd_name = "sd of a step" if walk else "sd of periods"
    frames = {"lines": line_rows(line, list(map(str, design)), sd_name, estimation.hdi_prob)}
    if not walk and (test := neighbour_test(line, *data, seed=estimation.seed)):
        frames["neighbours"] = pd.DataFrame([asdict(test)])
    return frames

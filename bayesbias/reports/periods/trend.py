"""`trend`: how the gap between associated and other words moved over periods, or between two embeddings."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    check_choice,
    check_count,
    check_flag,
    check_probability,
    check_rope,
    resolve_seed,
    with_progress,
)
from bayesbias.base.machine.memory import check_memory
from bayesbias.embeddings.case_rules import Case
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import check_baseline, contrast_name
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.contrast_draws import draw_contrast
from bayesbias.models.periods.gap_draws import list_deviations
from bayesbias.models.periods.period_line import draw_line, neighbour_test
from bayesbias.models.periods.period_sample import period_sample
from bayesbias.reports.periods.period_inputs import (
    covariates_by_period,
    lists_of,
    tables_by_period,
    times_of,
    trend_design,
    trend_facts,
)
from bayesbias.reports.periods.period_slopes import draw_slopes, slope_rows, word_covariates_by_period
from bayesbias.reports.periods.trend_frames import (
    CHAINS,
    change_rows,
    gap_rows,
    lacking_rows,
    line_rows,
    word_rows,
)
from bayesbias.reports.periods.trend_result import DRAWS, Trend
from bayesbias.reports.posterior.contrasts import SCOPES
from bayesbias.studies.study import StudyLike

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import EmbeddingLike
    from bayesbias.models.covariates import CovariatesLike

# Arrays of draws of all words in all periods that are in memory at once.
_ARRAYS = 5
_DRAWN_FRAMES = ("gaps", "changes", "lines", "slopes", "neighbours", "words")


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
) -> Trend:
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
        Number of posterior draws, a multiple of 4.
    random_seed
        Seed of the draws. None draws one and records it.
    progress
        Show a progress bar if there is a terminal or a notebook to show it in.

    Returns
    -------
    Trend
        Frames `gaps`, `changes`, `lines`, `slopes`, `neighbours`, `words` and `lacking`. `print` shows its conclusions.

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
    import pandas as pd
    import xarray as xr

    from bayesbias import __version__
    from bayesbias.estimates.estimate_frame import EstimateFrame

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    check_choice("scope", scope, SCOPES)
    check_flag("walk", walk)
    count = -(-check_count("draws", draws, least=100) // CHAINS) * CHAINS
    tables, facts = tables_by_period(periods, study, case)
    sample = period_sample(tables)
    check_baseline(baseline, sample.connections, "tables")
    times = times_of(list(sample.periods))
    covariate_frame = covariates_by_period(covariates, sample.periods)
    design = trend_design(covariate_frame, times, walk=walk)
    of_words = None if word_covariates is None else word_covariates_by_period(word_covariates, sample)
    words, size = len(sample.protected_words), len(sample.periods)
    check_memory(
        8 * count * size * words * _ARRAYS,
        f"{count:,} draws of {words:,} words in {size} periods",
        "Take fewer draws or words, or allow more memory.",
    )
    lists = list_deviations(sample)
    base = sample.connections.index(baseline)
    others = [
        place for place in range(len(sample.connections)) if place != base and has_both(sample, base, place).any()
    ]
    if not others:
        raise ReportError(
            f"No protected word has both {baseline} and other attribute words, so there is no gap. Give a group lists "
            "of both kinds."
        )
    frames: dict[str, list[Any]] = {name: [] for name in _DRAWN_FRAMES}
    overall: dict[str, list[np.ndarray]] = {name: [] for name in SCOPES}
    names = []
    for other in with_progress(others, "Drawing contrasts", progress=progress):
        drawn = draw_contrast(sample, lists, times, (base, other), draws=count, chains=CHAINS, seed=seed)
        name = contrast_name(baseline, sample.connections[other])
        names.append(name)
        gaps = gap_rows(drawn, sample, scope, hdi_prob, region)
        rows = {
            "gaps": gaps,
            "changes": change_rows(drawn, sample, gaps, scope, hdi_prob, region),
            "words": word_rows(drawn, sample, hdi_prob),
        }
        if design is not None:
            data = (drawn.overall(scope), design.to_numpy(), times)
            line = draw_line(*data, walk=walk, seed=seed)
            sd_name = "sd of a step" if walk else "sd of periods"
            rows["lines"] = line_rows(line, list(map(str, design)), sd_name, hdi_prob)
            if not walk and (test := neighbour_test(line, *data, seed=seed)):
                rows["neighbours"] = pd.DataFrame([asdict(test)])
        if of_words is not None:
            slopes = draw_slopes(sample, drawn, of_words, seed=seed)
            rows["slopes"] = slope_rows(slopes, of_words.names, sample.periods, scope, hdi_prob)
        for key, frame in rows.items():
            frame.insert(0, "contrast", name)
            frames[key].append(frame)
        for key in SCOPES:
            overall[key].append(drawn.overall(key).draws.reshape(CHAINS, -1, size))
    dims = ("chain", "draw", "contrast", "period")
    return Trend(
        **{
            key: EstimateFrame(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame(columns=["contrast"])
            for key, parts in frames.items()
        },
        lacking=lacking_rows(sample, facts, lists_of(tables)),
        draws=xr.Dataset(
            {key: (dims, np.stack(parts, axis=2)) for key, parts in overall.items()},
            coords={"contrast": names, "period": list(sample.periods)},
        ),
        facts=trend_facts(sample, facts, times, covariate_frame)
        | {"word_covariates": [] if of_words is None else list(of_words.names)}
        | {"scope": scope, "walk": walk, "trend": design is not None, "draws": count, "random_seed": seed}
        | {"hdi_prob": hdi_prob, "rope": region, "version": __version__},
    )

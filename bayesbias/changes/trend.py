"""`trend`: how the contrast between associated and other words moved over periods, or between two embeddings."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.checks import HDI_PROB, check_flag, check_items, check_path
from bayesbias.base.files.spreadsheets import PERCENT
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import rows_of
from bayesbias.changes.change_code import DRAWS, input_code
from bayesbias.changes.engine import (
    Periods,
    changes_of,
    compared_connections,
    covariates_by_period,
    period_name,
    tables_by_period,
    times_of,
    trend_design,
)
from bayesbias.changes.readings import reading_of
from bayesbias.changes.result import CHAINS, Changes, Estimation, estimate_rows
from bayesbias.embeddings.vocabularies import Case, spelling_rule
from bayesbias.errors import ArgumentError, name_some, setting, worded
from bayesbias.estimates.intervals import is_settled, student_scales, welch_freedom
from bayesbias.models.covariates import (
    columns_of_numbers,
    frame_by_word,
    numbers_of_words,
    read_covariates,
    without_unrated,
)
from bayesbias.models.periods.contrast_draws import ContrastDraws, PeriodSample, period_sample
from bayesbias.models.periods.period_line import LineDraws, draw_line, neighbour_test
from bayesbias.models.sampling import fit
from bayesbias.reports.covariates.covariate_effect import effect_between
from bayesbias.reports.covariates.effect_statements import SLOPE as OF_WORDS
from bayesbias.reports.covariates.slopes import CovariateDesign, check_design, design_of, one_unit, robust_freedom
from bayesbias.studies.study import StudyLike
from bayesbias.tables.schema import FrameLike, as_frame

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.embeddings.embedding import EmbeddingLike
    from bayesbias.models.covariates import CovariatesLike


@dataclass(frozen=True, eq=False)
class WordCovariates:
    """Numbers of the protected words of a sample by period: `values` (periods, words, covariates), and their names.

    A number is NaN where a period lacks the word. Those of `percent` are percentages.
    """

    values: np.ndarray
    names: tuple[str, ...]
    percent: tuple[str, ...] = ()

    @property
    def changed(self) -> list[str]:
        """Names of the covariates whose numbers differ between the first and the last period."""
        first, last = self.values[0], self.values[-1]
        differ = ~np.isclose(first, last, rtol=1e-12, atol=0) & np.isfinite(first) & np.isfinite(last)
        return [name for name, is_changed in zip(self.names, differ.any(axis=0), strict=True) if is_changed]


def _inputs(values: Mapping[str, Any], **options: tuple[Any, Any]) -> dict[str, str]:
    """Return inputs as code by their names, without missing ones; `options` are (value, default)."""
    inputs = {name: input_code(value, name.upper()) for name, value in values.items() if value is not None}
    return inputs | {name: repr(value) for name, (value, default) in options.items() if value != default}


def _source(period: str = "") -> str:
    name = worded("word_covariates", "--word-covariates")
    return f"{name} of {period}" if period else name


def numbers_by_period(
    covariates: Any,
    periods: Sequence[str],
    word_column: str | None = None,
    period_column: str | None = None,
    column: Sequence[str] | None = None,
) -> "dict[str, pd.DataFrame]":
    """Return a frame of the numbers of words for each period; see `word_covariates` of `bayesbias.trend`."""
    import pandas as pd

    if isinstance(covariates, str | os.PathLike):
        path = check_path(covariates, "word_covariates")
        names = check_items("column", column or (), "a list of names of columns")
        covariates = read_covariates(path, word_column, period_column, columns=names)
    frame = as_frame(covariates)
    if isinstance(frame, pd.DataFrame):
        frame = columns_of_numbers(frame.rename(columns={period_column: "period"}))
    if isinstance(frame, pd.DataFrame) and "period" in frame.columns:
        names_of_rows = frame["period"].map(period_name)
        if lacking := [name for name in periods if name not in set(names_of_rows)]:
            raise ArgumentError(f"{_source()} lacks the periods {name_some(map(repr, lacking))}. Add their rows.")
        frames = {name: frame[names_of_rows == name].drop(columns="period") for name in periods}
        by_period = {name: frame_by_word(of_period, pd.DataFrame()) for name, of_period in frames.items()}
    else:
        by_period = dict.fromkeys(periods, frame_by_word(frame, pd.DataFrame()))
    if not len(by_period[periods[0]].columns):
        raise ArgumentError(f"{_source()} has no column of numbers. Add one.")
    return by_period


def word_covariates_of(by_period: "Mapping[str, pd.DataFrame]", sample: PeriodSample) -> WordCovariates:
    """Return the checked numbers of the words of a sample."""
    first = by_period[sample.periods[0]]
    columns = list(first.columns)
    values = np.full((len(sample.periods), len(sample.protected_words), len(columns)), np.nan)
    advice = f". If each period has its own numbers, give the column of periods: {_period_setting(first, by_period)}"
    for place, (period, of_period) in enumerate(by_period.items()):
        has = sample.protected_present[:, place]
        words = [word for word, is_present in zip(sample.protected_words, has, strict=True) if is_present]
        values[place, has] = numbers_of_words(of_period, words, _source(period), setting("drop_unrated", True), advice)
    return WordCovariates(values, tuple(map(str, columns)), tuple(map(str, first.attrs.get(PERCENT, ()))))


def _period_setting(frame: "pd.DataFrame", periods: Collection[str]) -> str:
    """Return the setting that names the column of periods, with the column that holds all of them, if there is one."""
    columns = [name for name in frame if {*periods} <= set(map(period_name, frame[name]))]
    return setting("period_column", str(columns[0])) if columns else setting("period_column")


@dataclass(frozen=True, eq=False)
class SlopeDraws:
    """Observed slopes (rows, covariates), and draws of them (draws, rows, covariates), chain after chain.

    `words` (rows,) are the numbers of words behind them. Rows are the periods, and the change from the first to the
    last of the words that both have.
    """

    observed: np.ndarray
    these_words: np.ndarray
    population: np.ndarray
    words: tuple[int, ...]


def draw_slopes(sample: PeriodSample, drawn: ContrastDraws, covariates: WordCovariates, *, seed: int) -> SlopeDraws:
    """Return draws of the least-squares slope of the words' leans on covariates in each period, and of its change.

    For words like these, a word's residual is added with a random weight that is the same in all periods: this gives
    each slope the variance HC2 of `bayesbias.covariate_effect`, and a change that of the words' changes. The sum of
    both errors has the degrees of freedom of Satterthwaite (1946). Dependent words count as what they are worth.
    """
    estimate = drawn.word_contrasts
    present = sample.protected_present[estimate.places]
    weights = np.random.default_rng([seed, 4000]).standard_normal((len(estimate.errors), len(present)))
    freedoms: list[float] = []

    def of_period(period: int, has: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the observed slopes, draws of their errors in these words, and what words like these add."""
        values = covariates.values[period, estimate.places[has]]
        links = sample.protected_links[period].keep(estimate.places[has])
        correlations = links.correlations(sample.group_of[estimate.places[has]])
        design = design_of(values, np.zeros(len(values), dtype=int), correlations)
        check_design(design, covariates.names, np.abs(values).max(axis=0))
        freedoms.append(float(robust_freedom(design).min()))
        residuals = _spread(drawn.words[:, period, has] @ design.residuals.T, design)
        return (
            design.coefficients @ estimate.observed[period, has],
            estimate.errors[:, period, has] @ design.coefficients.T,
            (weights[:, has] * residuals) @ design.coefficients.T * np.sqrt(design.effects),
        )

    rows = [of_period(period, has) for period, has in enumerate(present.T)]
    in_both = present[:, 0] & present[:, -1]
    ends = [of_period(period, in_both) for period in (0, len(present.T) - 1)]
    rows.append(tuple(last - first for first, last in zip(*ends, strict=True)))
    observed, errors, noise = (np.stack(parts, axis=-2) for parts in zip(*rows, strict=True))

    variances = np.stack([errors.var(axis=0), noise.var(axis=0)])
    freedom = welch_freedom(variances, np.array([estimate.overall_freedom, min(freedoms)])[:, None, None])
    of_these = drawn.these_words.scales[:, None]
    # With few attribute words, a further error adds more degrees of freedom than width: it never narrows a slope.
    least = of_these * np.sqrt(variances[0] / np.maximum(variances.sum(axis=0), np.finfo(float).tiny))
    of_both = np.maximum(student_scales(estimate.quantiles, freedom.ravel()).reshape(-1, *freedom.shape), least)
    words = (*map(int, present.sum(axis=0)), int(in_both.sum()))
    return SlopeDraws(observed, observed + errors * of_these, observed + (errors + noise) * of_both, words)


def _spread(residuals: np.ndarray, design: CovariateDesign) -> np.ndarray:
    """Return residuals (draws, words) as far as words like these spread; a word without one spreads as the others."""
    pooled = np.sqrt(np.square(residuals).sum(axis=1, keepdims=True) / design.freedom)
    return np.where(np.isinf(design.unexplained), pooled, residuals / np.sqrt(design.unexplained))


def slope_rows(
    slopes: SlopeDraws,
    covariates: WordCovariates,
    effects: "Mapping[str, pd.DataFrame]",
    estimation: Estimation,
    unit_of_tables: float,
) -> "pd.DataFrame":
    """Return the slope in each period, and its change from the first to the last, of each covariate.

    `effects` are those of `bayesbias.covariate_effect` in each period, whose slopes these are; a change is paired.
    `unit_of_tables` is that of `PeriodSample`.
    """
    import pandas as pd

    draws = slopes.population if estimation.scope == "population" else slopes.these_words
    first, *_, last = effects
    frames = []
    for place, covariate in enumerate(covariates.names):
        unit = one_unit(covariate in covariates.percent)
        labels: dict[str, list[Any]] = {"covariate": [covariate], "unit": [unit], "quantity": ["change"]}
        labels |= {"period": [f"{first} to {last}"], "words": [slopes.words[-1]]}
        observed = slopes.observed[-1:, place]
        change = estimate_rows(
            draws[:, -1:, place],
            labels | {"observed": observed.tolist()},
            estimation.hdi_prob,
            means=observed,
            directions=False,
            unit=unit_of_tables,
        )
        for period, frame in effects.items():
            is_slope = (frame["quantity"] == OF_WORDS) & (frame["covariate"] == covariate)
            of_period = frame[is_slope & (frame["scope"] == estimation.scope)]
            frames.append(of_period.assign(period=period).reindex(columns=change.columns))
        frames.append(change)
    frame = pd.concat(frames, ignore_index=True)
    ends = frame[["hdi_low", "hdi_high", "borderline"]].itertuples(index=False, name=None)
    frame["settled"] = [is_settled(low, high) and not borderline for low, high, borderline in ends]
    rows = rows_of(frame)
    frame["reading"] = ""
    for place, row in enumerate(rows):
        if row["quantity"] == "change":
            row = row | {"direction": "" if row["sd"] > ROUNDING * unit_of_tables else "equal"}
            frame.loc[place, "reading"] = reading_of(row, rows[place - len(effects)], rows[place - 1])
    return frame


def trend(
    periods: "str | os.PathLike[str] | Mapping[Any, FrameLike | EmbeddingLike]",
    study: StudyLike | None = None,
    *,
    covariates: "str | os.PathLike[str] | Mapping[str, Mapping[Any, float]] | pd.DataFrame | None" = None,
    word_covariates: "CovariatesLike | os.PathLike[str] | None" = None,
    word_column: str | None = None,
    period_column: str | None = None,
    column: Sequence[str] | None = None,
    drop_unrated: bool = False,
    max_lost: float = MAX_LOST,
    walk: bool = False,
    baseline: str = "associated",
    scope: str = "population",
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    draws: int = DRAWS,
    random_seed: int | None = None,
    progress: bool = True,
) -> Changes:
    """Return how an association moved over periods: contrasts, changes, a trend, and the words that moved.

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
    word_column
        Name of the column of words in that file, if it is not ``word``.
    period_column
        Name of the column of periods of `covariates` and `word_covariates`, if it is not ``period``.
    column
        Names of the columns of numbers to take from the file of `word_covariates`. None: all but those that number its
        rows.
    drop_unrated
        Whether to leave out protected words of the periods in which they have no number, which a warning names. By
        default, they are an error.
    max_lost
        Largest share of a list's words that the embedding of a period may lack, as in `distance_table`.
    walk
        Whether the contrast is taken as a random walk, whose steps have a variance in proportion to their time, instead
        of a line with independent deviations.
    baseline
        The connection from which the others are subtracted.
    scope
        ``"population"``: words like these, of which these are a sample; ``"these_words"``: exactly these protected
        words. Changes of groups are about exactly these words in both scopes.
    case, prefix, suffix
        Case rule of the words of embeddings, and text around them: see `load_embedding`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Differences too small to matter, in the unit of the tables: a half-width, or (low, high).
    draws
        Posterior draws per chain, of 4 chains.
    random_seed
        Seed of the draws. None draws one and records it.
    progress
        Show a progress bar if there is a terminal or a notebook to show it in.

    Returns
    -------
    Changes
        Frames `contrasts`, `changes`, `distances`, `lines`, `slopes`, `neighbours` and `lacking`; `print` shows its
        conclusions. `lines` has, for each contrast, the change along the line from the first to the last period, the
        change for one unit of each covariate, and the sd of periods (its `mean` is the median); `slopes` the
        slope of the words' leans on each word covariate in each period, which is that of `covariate_effect` with the
        same seed and as many draws, at least those of `fit` (`quantity` is ``"slope"``), and its change from the first
        to the last (``"change"``, with a `reading` as in `changes`), for one `unit`, with the number of `words` behind
        it; `neighbours` the
        statistic of Durbin and Watson and the share of simulated independent deviations with a smaller one.

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
    distances to all protected words in all periods: the mean of a list of n words has the covariance of its
    vectors over n, with n - 1 degrees of freedom. Contrasts are multivariate t with the degrees of freedom of Welch
    (1947), as in the t-test of unequal variances, with variances pooled over words and periods. A change has the error
    of the paired differences: words that are near to everything in all periods do not blur it. With two lists of 4
    words, 3 to 6 degrees of freedom make intervals wide, as they should.

    A word's contrasts vary around those of its group by S over periods, with the half-t priors of Huang and Wand (2013)
    in orthonormal coordinates of time. The contrast of words like these is the mean of these words plus Normal(0, S /
    J_g). Slopes on covariates of words in a period are those of `covariate_effect`. Their change is that of least
    squares over the words of both periods: for words like these, each word's residual enters with a random weight that
    is the same in all periods, so that changes are paired, and both errors together have the degrees of freedom of
    Satterthwaite (1946). A change need not be exactly the difference of both slopes. Coefficients of the trend are
    least squares, never generalised least squares, with the sd of periods around it, net of the error of the contrasts,
    as a further error; both together have the degrees of freedom of Satterthwaite.

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
    ['associated - different', '1950', '1990', 'smaller']
    >>> moved.lacking[["word", "lacks"]].values.tolist()[:2]
    [['Donna', '1960'], ['Lisa', '1950']]
    """
    check_flag("walk", walk)
    estimation = Estimation.checked(
        draws=draws, random_seed=random_seed, hdi_prob=hdi_prob, rope=rope, scope=scope, baseline=baseline
    )
    check_flag("drop_unrated", drop_unrated)
    tables = tables_by_period(periods, study, spelling_rule(case, prefix, suffix), check_max_lost(max_lost))
    names = tuple(tables)
    numbers = (
        None
        if word_covariates is None
        else numbers_by_period(word_covariates, names, word_column, period_column, column)
    )
    if numbers is not None and drop_unrated:
        tables = without_unrated(tables, numbers)
    sample = period_sample(tables)
    times = times_of(list(names))
    covariate_frame = covariates_by_period(covariates, names, period_column)
    design = trend_design(covariate_frame, times, walk=walk)
    of_words = None if numbers is None else word_covariates_of(numbers, sample)
    rated = {} if numbers is None else _rated_fits(tables, numbers, estimation, progress=progress)
    sides = [(baseline, sample.connections[place]) for place in compared_connections(sample, baseline)]
    effects = {both: {name: effect_between(one, both, hdi_prob) for name, one in rated.items()} for both in sides}
    first_effects = next(iter(effects.values()), {})

    def lines(drawn: ContrastDraws, connections: tuple[str, str]) -> "dict[str, pd.DataFrame]":
        frames = {} if design is None else _trend_frames(drawn, design, times, estimation, sample.unit, walk=walk)
        if of_words is not None:
            slopes = draw_slopes(sample, drawn, of_words, seed=estimation.seed)
            of_periods = {name: effect.effects for name, effect in effects[connections].items()}
            frames["slopes"] = slope_rows(slopes, of_words, of_periods, estimation, sample.unit)
        return frames

    facts = {
        "covariates": [str(name) for name in covariate_frame],
        "word_covariates": [] if of_words is None else list(of_words.names),
        "percent_covariates": [] if of_words is None else list(of_words.percent),
        "changed_covariates": [] if of_words is None else of_words.changed,
        "inputs": _inputs(
            {"periods": periods, "study": study, "covariates": covariates, "word_covariates": word_covariates},
            word_column=(word_column, None),
            period_column=(period_column, None),
            column=(column, None),
            drop_unrated=(drop_unrated, False),
            case=(case, "exact"),
            prefix=(prefix, ""),
            suffix=(suffix, ""),
        ),
        "slope_draws": _slope_draws(estimation),
        "slope_doubts": {name: effect.doubts for name, effect in first_effects.items()},
        "max_lost": max_lost,
        "walk": walk,
        "trend": design is not None,
    }
    return changes_of(tables, estimation, periods=Periods(sample, times, lines, facts), progress=progress)


def _rated_fits(
    tables: "Mapping[str, pd.DataFrame]",
    numbers: "Mapping[str, pd.DataFrame]",
    estimation: Estimation,
    *,
    progress: bool,
) -> "dict[str, xr.DataTree]":
    """Return the fit of each period with the numbers of its words: that of the command `covariate`."""
    settings: dict[str, Any] = {"draws": _slope_draws(estimation), "chains": CHAINS, "random_seed": estimation.seed}
    named = with_progress(list(tables.items()), "Fitting covariates", progress=progress)
    return {name: fit(table, covariates=numbers[name], progress=False, **settings) for name, table in named}


def _slope_draws(estimation: Estimation) -> int:
    """Return the draws of a chain of fits with covariates: at least those of `fit`."""
    return max(estimation.draws, int(signature(fit).parameters["draws"].default))


def _trend_frames(
    drawn: ContrastDraws, design: "pd.DataFrame", times: np.ndarray, estimation: Estimation, unit: float, *, walk: bool
) -> "dict[str, pd.DataFrame]":
    """Return the trend of a contrast over all words, and whether neighbouring periods deviate from it alike."""
    import pandas as pd

    data = (drawn.overall(estimation.scope), design.to_numpy(), times)
    line = draw_line(*data, walk=walk, seed=estimation.seed)
    sd_name = "sd of a step" if walk else "sd of periods"
    frames = {"lines": line_rows(line, list(map(str, design)), sd_name, estimation.hdi_prob, unit)}
    if not walk and (test := neighbour_test(line, *data, seed=estimation.seed)):
        frames["neighbours"] = pd.DataFrame([asdict(test)])
    return frames


def line_rows(line: LineDraws, names: Sequence[str], sd_name: str, hdi_prob: float, unit: float) -> "pd.DataFrame":
    """Return the coefficients of a trend, and the sd of periods around it; `unit` is that of `estimate_rows`."""
    draws = np.column_stack([line.coefficients, line.period_sd])
    labels = {"parameter": [*names, sd_name], "observed": [*line.observed, np.nan]}
    # The sd has no mean with few periods, but always a median.
    means = np.array([*line.observed, np.median(line.period_sd)])
    frame = estimate_rows(draws, labels, hdi_prob, means=means, directions=False, unit=unit)
    frame["settled"] = [is_settled(low, high) for low, high in zip(frame["hdi_low"], frame["hdi_high"], strict=True)]
    frame.loc[len(names), "settled"] = False
    return frame

"""Slopes of words' gaps on numbers of the words, such as the share of women in an occupation, in each period."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_path
from bayesbias.errors import ArgumentError, name_some, raise_faults
from bayesbias.estimates.freedom import student_scales, welch_freedom
from bayesbias.estimates.intervals import settled
from bayesbias.models.covariates import collinear_faults, frame_by_word, read_covariates, rows_of_words
from bayesbias.models.periods.contrast_draws import ContrastDraws
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.reports.changes.conditions import period_name
from bayesbias.reports.changes.frames import estimate_rows
from bayesbias.reports.covariates.slopes import Design, check_design, design_of, robust_freedom
from bayesbias.studies.study import normal_form
from bayesbias.tables.codes import to_numbers
from bayesbias.tables.conversion import as_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class WordCovariates:
    """Numbers of the protected words of a sample by period: `values` (periods, words, covariates), and their names.

    A number is NaN where a period lacks the word.
    """

    values: np.ndarray
    names: tuple[str, ...]


def word_covariates_by_period(covariates: Any, sample: PeriodSample) -> WordCovariates:
    """Return checked covariates of words; see `word_covariates` of `bayesbias.trend`."""
    import pandas as pd

    if isinstance(covariates, str | os.PathLike):
        covariates = read_covariates(check_path(covariates, "word_covariates"))
    frame = as_frame(covariates)
    if isinstance(frame, pd.DataFrame) and "period" in frame.columns:
        names_of_rows = frame["period"].map(period_name)
        if lacking := [name for name in sample.periods if name not in set(names_of_rows)]:
            raise ArgumentError(f"word_covariates lacks the periods {name_some(map(repr, lacking))}. Add their rows.")
        frames = {name: frame[names_of_rows == name].drop(columns="period") for name in sample.periods}
    else:
        frames = dict.fromkeys(sample.periods, frame)
    by_period = {name: frame_by_word(of_period, pd.DataFrame()) for name, of_period in frames.items()}
    columns = list(by_period[sample.periods[0]].columns)
    if not columns:
        raise ArgumentError("word_covariates has no column of numbers. Add one.")
    values = np.full((len(sample.periods), len(sample.protected_words), len(columns)), np.nan)
    for place, (period, of_period) in enumerate(by_period.items()):
        has = sample.protected_present[:, place]
        words = [word for word, is_present in zip(sample.protected_words, has, strict=True) if is_present]
        values[place, has] = _numbers(of_period.set_axis(list(map(normal_form, of_period.index))), words, period)
        faults = collinear_faults(values[place, has], tuple(map(str, columns)))
        raise_faults(ArgumentError, f"word_covariates of {period}", faults)
    return WordCovariates(values, tuple(map(str, columns)))


def _numbers(frame: "pd.DataFrame", words: list[str], period: str) -> np.ndarray:
    if len(repeated := frame.index[frame.index.duplicated()].intersection(words)):
        fault = f"words occur more than once: {name_some(repeated)}"
        raise_faults(ArgumentError, f"word_covariates of {period}", [fault])
    chosen = rows_of_words(frame, words)
    numbers = np.column_stack([to_numbers(chosen[name]).to_numpy(dtype=float) for name in chosen])
    lacking = [word for word, row in zip(words, numbers, strict=True) if not np.isfinite(row).all()]
    faults = [f"there is no number for {name_some(lacking)}: add it, or leave these words out"] if lacking else []
    raise_faults(ArgumentError, f"word_covariates of {period}", faults)
    return numbers


@dataclass(frozen=True, eq=False)
class SlopeDraws:
    """Plain slopes (rows, covariates), and draws of them (draws, rows, covariates), chain after chain.

    Rows are the periods, and the change from the first to the last of the words that both have.
    """

    plain: np.ndarray
    these_words: np.ndarray
    population: np.ndarray


def draw_slopes(sample: PeriodSample, drawn: ContrastDraws, covariates: WordCovariates, *, seed: int) -> SlopeDraws:
    """Return draws of the least-squares slope of the words' gaps on the covariates in each period, and of its change.

    For words like these, a word's residual is added with a random weight that is the same in all periods: this gives
    each slope the variance HC2 of `bayesbias.covariate_effect`, and a change that of the words' changes. The sum of
    both errors has the degrees of freedom of Satterthwaite (1946). Dependent words count as what they are worth.
    """
    estimate = drawn.estimate
    present = sample.protected_present[estimate.places]
    weights = np.random.default_rng([seed, 4000]).standard_normal((len(estimate.errors), len(present)))
    freedoms: list[float] = []

    def of_period(period: int, has: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the plain slopes, draws of their errors in these words, and what words like these add."""
        values = covariates.values[period, estimate.places[has]]
        links = sample.protected_links[period].keep(estimate.places[has])
        correlations = links.correlations(sample.group_of[estimate.places[has]])
        design = design_of(values, np.zeros(len(values), dtype=int), correlations)
        check_design(design, covariates.names, np.abs(values).max(axis=0))
        freedoms.append(float(robust_freedom(design).min()))
        residuals = _spread(drawn.words[:, period, has] @ design.residuals.T, design)
        return (
            design.coefficients @ estimate.gaps[period, has],
            estimate.errors[:, period, has] @ design.coefficients.T,
            (weights[:, has] * residuals) @ design.coefficients.T * np.sqrt(design.effects),
        )

    rows = [of_period(period, has) for period, has in enumerate(present.T)]
    in_both = present[:, 0] & present[:, -1]
    ends = [of_period(period, in_both) for period in (0, len(present.T) - 1)]
    rows.append(tuple(last - first for first, last in zip(*ends, strict=True)))
    plain, errors, noise = (np.stack(parts, axis=-2) for parts in zip(*rows, strict=True))

    variances = np.stack([errors.var(axis=0), noise.var(axis=0)])
    freedom = welch_freedom(variances, np.array([estimate.overall_freedom, min(freedoms)])[:, None, None])
    of_these = drawn.these_words.scales[:, None]
    # With few attribute words, a further error adds more degrees of freedom than width: it never narrows a slope.
    least = of_these * np.sqrt(variances[0] / np.maximum(variances.sum(axis=0), np.finfo(float).tiny))
    of_both = np.maximum(student_scales(estimate.quantiles, freedom.ravel()).reshape(-1, *freedom.shape), least)
    return SlopeDraws(plain, plain + errors * of_these, plain + (errors + noise) * of_both)


def _spread(residuals: np.ndarray, design: Design) -> np.ndarray:
    """Return residuals (draws, words) as far as words like these spread; a word without one spreads as the others."""
    pooled = np.sqrt(np.square(residuals).sum(axis=1, keepdims=True) / design.freedom)
    return np.where(np.isinf(design.unexplained), pooled, residuals / np.sqrt(design.unexplained))


def slope_rows(
    slopes: SlopeDraws, covariates: Sequence[str], periods: Sequence[str], scope: str, hdi_prob: float
) -> "pd.DataFrame":
    """Return the slope in each period, and its change from the first to the last, of each covariate."""
    import pandas as pd

    draws = slopes.population if scope == "population" else slopes.these_words
    names = [*periods, f"{periods[0]} to {periods[-1]}"]
    frames = []
    for place, covariate in enumerate(covariates):
        labels: dict[str, Sequence[Any]] = {
            "covariate": [covariate] * len(names),
            "quantity": [*["slope"] * len(periods), "change"],
            "period": names,
            "observed": slopes.plain[:, place].tolist(),
        }
        means = slopes.plain[:, place]
        frames.append(estimate_rows(draws[:, :, place], labels, hdi_prob, means=means, directions=False))
    frame = pd.concat(frames, ignore_index=True)
    frame["settled"] = [settled(low, high) for low, high in zip(frame["hdi_low"], frame["hdi_high"], strict=True)]
    return frame

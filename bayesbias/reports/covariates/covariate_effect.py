"""How the lean of words follows covariates: slopes, correlations and residual standard deviations."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_flag, check_items
from bayesbias.base.number_text import counted, digits_text, percent_text, quoted_name
from bayesbias.base.results import DOUBTS, LIMITS, SHOWS, Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import (
    MOMENTS,
    diagnostics_of,
    estimates,
    independent_draws,
    is_borderline,
    probability_of_direction,
    shortest_interval,
    shortest_intervals,
)
from bayesbias.models.data import SIDES, ModelData
from bayesbias.models.fits import (
    fit_attribute,
    fitted_model,
    fitted_rows,
    hdi_prob_of,
    measure_of_fit,
    without_covariances,
    write_fit,
)  # fmt: skip
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.priors import Prior
from bayesbias.reports.covariates.effect_code import FIT_SETTINGS, effect_code
from bayesbias.reports.covariates.effect_doubts import effect_doubts, largest_changes
from bayesbias.reports.covariates.effect_statements import (
    CORRELATION,
    LEVEL,
    RESIDUAL_SD,
    SLOPE,
    all_quoted,
    effect_statements,
    figure_caption,
    limit_statements,
    methods_sentence,
    reading_statements,
    slopes_caption,
    slopes_text,
)
from bayesbias.reports.covariates.slopes import (
    CovariateDesign,
    Leans,
    check_design,
    correlations_of,
    design_of,
    draw_residuals,
    leans_of,
    least_squares_intervals,
    one_unit,
    rows_with_covariates,
    slopes_of_population,
)
from bayesbias.reports.covariates.wefat import association_statistics, statistic_correlations
from bayesbias.reports.posterior.doubts import sizes_text, word_lists
from bayesbias.reports.posterior.effective_words import dependence_statements, list_records
from bayesbias.tables.measures import COSINE_DISTANCE, Measure

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_STREAM = 104
_READING = "How to read it"


def draw_quantities(
    leans: Leans, design: CovariateDesign, names: tuple[str, ...], prior: Prior, rng: np.random.Generator
) -> tuple[dict[tuple[str, str, str], tuple[np.ndarray, float]], np.ndarray]:
    """Return draws and the observed value of each (quantity, covariate, scope), and draws of slopes in the population.

    `prior` is that of the sd of words like these, a half-t. Correlations are those with one covariate alone.
    """
    half_t = prior.parameters["nu"], prior.parameters["sigma"]
    count, freedom = len(leans.draws), design.freedom
    residuals, sds = draw_residuals(leans, design, half_t, count, rng)
    these = leans.draws @ design.coefficients.T
    population = slopes_of_population(these, residuals, design, rng)
    plain = design.coefficients @ leans.observed
    links: dict[tuple[str, str, str], tuple[np.ndarray, float]] = {}
    quantities: dict[tuple[str, str, str], tuple[np.ndarray, float]] = {}
    for place, name in enumerate(names):
        for scope, draws in (("population", population), ("these_words", these)):
            quantities[SLOPE, name, scope] = draws[:, place], float(plain[place])
        values = design.deviations[:, place]
        alone = design.of_covariate(place)
        around, sds_alone = (residuals, sds) if len(names) == 1 else draw_residuals(leans, alone, half_t, count, rng)
        slope, square = leans.draws @ alone.coefficients.T, float(values @ values)
        in_population = slopes_of_population(slope, around, alone, rng)[:, 0]
        # The covariate's values are a sample too.
        variance = square / rng.chisquare(alone.freedom + 1, count)
        plain_slope = alone.coefficients @ leans.observed
        plain_square = np.square(alone.residuals @ leans.observed).sum()
        observed = float(correlations_of(plain_slope, plain_square, square)[0])
        links[CORRELATION, name, "population"] = correlations_of(in_population, sds_alone**2, variance), observed
        squares = np.square(around).sum(axis=1)
        links[CORRELATION, name, "these_words"] = correlations_of(slope[:, 0], squares, square), observed
    observed = float(np.sqrt(np.square(design.residuals @ leans.observed).sum() / freedom))
    these_sds = np.sqrt(np.square(residuals).sum(axis=1) / freedom)
    beyond = {(RESIDUAL_SD, "", "population"): (sds, observed), (RESIDUAL_SD, "", "these_words"): (these_sds, observed)}
    level = {(LEVEL, "", "these_words"): (leans.draws.mean(axis=1), float(leans.observed.mean()))}
    return quantities | links | beyond | level, population


@dataclass(frozen=True, eq=False, repr=False)
class CovariateEffect(Result):
    """Slopes of words' leans on covariates, from `covariate_effect`. `print` shows which covariates leans follow.

    Parameters
    ----------
    contrast, sides, embedding
        Name of the lean, such as ``"female - male"``, of both sides, and of the embedding.
    effects : pandas.DataFrame
        One row for each `quantity`, `covariate` and `scope`:

        - `unit`: in rows of slopes, what the slope is for: one unit of the covariate, or one percentage point;
        - `quantity`: ``"slope"`` (in the unit of the table, for that unit, other covariates held fixed),
          ``"correlation"`` (of leans with this covariate alone) or ``"residual sd"`` (of leans beyond all covariates,
          in the unit of the table; its `covariate` is empty);
        - `scope`: ``"population"``, words like these, or ``"these_words"``; `words`: the number of these words;
        - `observed`: the value of the observed leans; `mean`, `sd`, `hdi_low`, `hdi_high`, `low_se`, `high_se`,
          `borderline`: as in `contrasts`; `probability_of_direction`: the probability of the sign. An sd has neither,
          as it has no sign;
        - `least_squares_low`, `least_squares_high`: for comparison, the least-squares interval of slopes in the
          population, which ignores the error of each lean;
        - `wefat_correlation`: in rows of correlations, the observed correlation of the words' `wefat` with the
          covariate, of cosine distances only.
    words : pandas.DataFrame
        One row for each protected word:

        - `protected_word`, `protected_group`, `observed`: its observed lean;
        - `wefat`: the association statistic of Caliskan et al. (2017), above 0 if the word is nearer to the first list,
          of cosine distances only;
        - `mean`, `sd`, `hdi_low`, `hdi_high`: its lean; then the covariates.
    line : pandas.DataFrame
        The line along each covariate, through the mean lean:

        - `covariate`, `covariate_value`, `mean`;
        - `hdi_low`, `hdi_high`: ends of the slope's interval in the population; `these_words_low`, `these_words_high`:
          in these words.
    percent
        Names of the covariates that are percentages: their slopes are for one percentage point.
    within_groups, hdi_prob
        As in `covariate_effect`.
    doubts
        Statements on what limits the numbers.
    single_words
        Statements on the word that changes each slope most.
    fit
        The fit, which a folder holds as fit.nc, without the covariances of distances. They are most of its size, and
        nothing here uses them; `fit` with the same seed makes them again.
    """

    contrast: str
    sides: tuple[str, str]
    embedding: str
    effects: "pd.DataFrame"
    words: "pd.DataFrame"
    line: "pd.DataFrame"
    percent: tuple[str, ...]
    within_groups: bool
    hdi_prob: float
    doubts: tuple[Statement, ...]
    single_words: tuple[Statement, ...]
    fit: "xr.DataTree" = field(repr=False)

    @property
    def measure(self) -> Measure:
        """What the numbers of the fit measure."""
        return measure_of_fit(self.fit)

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (
            StatementList("", tuple(effect_statements(self)), bulleted=False),
            StatementList(_READING, tuple(reading_statements(self)), detail=True),
            StatementList(DOUBTS, self.doubts),
            StatementList(LIMITS, self._limits, detail=True),
        )

    @property
    def _limits(self) -> tuple[Statement, ...]:
        """What slopes do not show, with what the lists are worth in independent words."""
        records = list_records(fitted_rows(self.fit), fit_attribute(self.fit, "table"))
        return *limit_statements(), *dependence_statements(records, self.measure, multivariate=True)

    @property
    def _sizes_text(self) -> str:
        """The sizes of groups and lists, and how many of their words were lost."""
        return sizes_text(word_lists(self.fit), recorded="lost_words" in fit_attribute(self.fit, "table"))

    @cached_property
    def covariates(self) -> "dict[str, pd.Series]":
        """The numbers of the words, by covariate."""
        names = dict.fromkeys(self.effects["covariate"][self.effects["covariate"] != ""].tolist())
        columns = list(self.words)[list(self.words).index("hdi_high") + 1 :]
        return {name: self.words[column] for name, column in zip(names, columns, strict=True)}

    def number_text(self, name: str, value: float) -> str:
        """Return a number of a covariate, with a percent sign if it was written with one."""
        return f"{digits_text(value)}{'%' if name in self.percent else ''}"

    def percent_sign(self, name: str) -> str:
        """Return what follows the name of a covariate in a heading: the sign of a percentage, if the name has none."""
        return " (%)" if name in self.percent and "%" not in name else ""

    def range_of(self, name: str) -> tuple[str, str]:
        """Return the smallest and the largest number of a covariate."""
        values = self.covariates[name]
        return self.number_text(name, values.min()), self.number_text(name, values.max())

    @cached_property
    def contents(self) -> Contents:
        """Effects, words, and a figure of each covariate."""
        prob, in_unit = f"{percent_text(self.hdi_prob)} HPDI", self.measure.in_unit
        names, statements = list(self.covariates), tuple(effect_statements(self))
        runs = (f"{quoted_name(name)} runs from {' to '.join(self.range_of(name))}." for name in names)
        contents = contents_of(
            self,
            title=f"Does the lean of words towards {' or '.join(self.sides)} words follow {all_quoted(names)}?",
            about=f"{counted(len(self.words), 'word')} in {self.embedding}. {self._sizes_text}. {' '.join(runs)}",
            answer=statements[0].text,
            estimate=slopes_text(self),
            opened=(SHOWS, "Effects", _READING, "Words"),
            captions={
                "effects": f"{slopes_caption(self)}, correlations and residual sds, with {prob}",
                "words": f"Leans of words, with {prob}, {in_unit}",
                "line": f"Line along {all_quoted(names)} with the mean slope, through the mean lean, and lines with "
                f"the slopes at the ends of its {prob}, {in_unit}",
            },
            differences=("effects", "words", "line"),
            data=("line",),
            figures={
                "covariate" if place == 1 else f"covariate_{place}": ResultFigure(
                    "plot_covariate", figure_caption(self, name), options={"covariate": name}
                )
                for place, name in enumerate(names, start=1)
            },
        )
        # The user's names are headings.
        headings = {
            str(values.name): f"{values.name}{self.percent_sign(name)}" for name, values in self.covariates.items()
        }
        words = replace(contents.tables["words"], headings={"mean": "Estimate", **headings})
        of_several = ("covariate", "unit") if len(names) > 1 else ()
        effects = replace(
            contents.tables["effects"],
            columns=("quantity", *of_several, "scope", "mean", "hdi_low", "hdi_high", "probability_of_direction"),
            headings={"mean": "Estimate"},
            digits=True,
        )
        methods = StatementList(
            "Methods", (Statement("methods", methods_sentence(names, self.sides, self.measure, self.percent)),)
        )
        source = {"Embedding": self.measure.source.capitalize()}
        settings = {source.get(name, name): text for name, text in contents.settings.items()}
        facts = {
            name.replace("_", " ").capitalize(): str(fit_attribute(self.fit, name))
            for name in ("sampler", *FIT_SETTINGS, "table_hash")
        }
        return replace(
            contents,
            answers=statements[1:],
            parts=(*contents.parts, methods),
            tables={**contents.tables, "effects": effects, "words": words},
            settings={**settings, "Model": fitted_model(self.fit).name, **facts},
            code=effect_code(
                self.fit,
                None if self.sides == SIDES else self.sides,
                within_groups=self.within_groups,
                hdi_prob=self.hdi_prob,
            ),
            files={"fit.nc": partial(write_fit, without_covariances(self.fit))},
        )


def slopes_or_reason(fit: "xr.DataTree", hdi_prob: float) -> "CovariateEffect | ReportError":
    """Return how leans follow the covariates of a fit, or why this cannot be computed."""
    try:
        return covariate_effect(fit, hdi_prob=hdi_prob)
    except ReportError as error:
        return error


def covariate_effect(
    fit: "xr.DataTree",
    lists: tuple[str, str] | None = None,
    *,
    within_groups: bool = False,
    hdi_prob: float | None = None,
) -> CovariateEffect:
    """Return how the lean of words follows covariates, such as the share of women in an occupation.

    The lean of a word is its mean distance (or surprisal, or score) to one kind of attribute words minus that to
    another. Slopes are plain least
    squares over words. Attribute words are treated as a sample; in the population, so are protected words.

    Parameters
    ----------
    fit
        Fit of a multivariate model with covariates: ``bb.fit(table, covariates=...)``.
    lists
        Names of two attribute lists: the lean is the distance to the first minus that to the second, below 0 if the
        word is nearer to the first. By default, associated minus different.
    within_groups
        Whether slopes compare words of the same protected group only, with a mean for each group in addition to the
        covariates. By default one line runs through all words.
    hdi_prob
        Probability inside the highest posterior density intervals. None: that of the fit.

    Returns
    -------
    CovariateEffect
        Slopes, correlations and residual sds in `effects`, leans in `words`, and the line in `line`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit or has no covariates, a list is unknown, there are too few words, or an argument is not
        usable.

    Notes
    -----
    With leans t and covariates X, these words' slopes are the coefficients of X in the least-squares regression of t on
    a constant (or on groups) and X. The fit leaves them free: no prior shrinks them, and their error is that of
    attribute words. Slopes in the population add a draw from Student's t with the HC2 variance of the residuals of t
    and the degrees of freedom of Bell and McCaffrey, both for as many words as dependent ones, such as "nurse" and
    "nurses", are worth. If the relation is not a straight line, the slope is that of the
    line that fits the population best, for words whose covariates are like those of these words.

    `wefat` is the statistic of the word-embedding factual association test: the difference of a word's mean cosines
    with both lists, divided by the sd of its cosines with all their words. The division gives words whose cosines
    scatter little more weight, and takes away the unit, so that its correlation says how closely words follow the
    covariate, not by how much distances change. It counts the chance of attribute words as scatter of the words and has
    no interval. Its sign is that of similarities, the opposite of that of leans.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), word embedding factual association test; Garg, Schiebinger, Jurafsky and Zou
    (2018), figure 1; Bell and McCaffrey (2002), Survey Methodology 28; Imbens and Kolesar (2016), Review of Economics
    and Statistics 98.

    Examples
    --------
    >>> letters = table[["protected_word"]].drop_duplicates()
    >>> letters["letters"] = letters["protected_word"].str.len()
    >>> fitted = bb.fit(table, covariates=letters, random_seed=1)
    >>> effect = bb.covariate_effect(fitted, ("male", "female"))
    >>> effect.effects.query("scope == 'population'")[["quantity", "covariate", "observed", "mean"]].round(3)
          quantity covariate  observed   mean
    0        slope   letters    -0.006 -0.006
    2  correlation   letters    -0.429 -0.54...
    4  residual sd               0.027  0.016
    """
    check_flag("within_groups", within_groups)
    return _effect(fit, _two_lists(lists), SIDES, within_groups, hdi_prob_of(fit, hdi_prob))


def effect_between(fit: "xr.DataTree", connections: tuple[str, str], hdi_prob: float) -> CovariateEffect:
    """Return how distances to the attribute words of one connection minus those of another follow covariates."""
    return _effect(fit, None, connections, False, hdi_prob)


def _effect(
    fit: "xr.DataTree",
    lists: tuple[str, str] | None,
    connections: tuple[str, str],
    within_groups: bool,
    hdi_prob: float,
) -> CovariateEffect:
    rows, covariates = rows_with_covariates(fit)
    leans = leans_of(fit, rows, lists, connections)
    words, groups = rows.protected_words, rows.protected_groups
    group_of = np.unique(groups, return_inverse=True)[1] if within_groups else np.zeros(len(words), dtype=int)
    places = np.unique(groups, return_inverse=True)[1]
    design = design_of(covariates, group_of, leans.sample.protected_links.correlations(places))
    check_design(design, rows.covariate_names, np.abs(covariates).max(axis=0))
    rng = np.random.default_rng([int(fit_attribute(fit, "random_seed")), _STREAM])
    effects, population = _effects(fit, leans, design, rows, hdi_prob, rng)
    in_words = _words(leans, words, groups, dict(zip(rows.covariate_names, covariates.T, strict=True)), hdi_prob)
    if measure_of_fit(fit).column != COSINE_DISTANCE.column:
        effects, in_words = effects.drop(columns="wefat_correlation"), in_words.drop(columns="wefat")
    return CovariateEffect(
        contrast=leans.name,
        sides=(leans.first, leans.second),
        embedding=str(fit_attribute(fit, "table").get("embedding", {}).get("name") or "a table"),
        effects=effects,
        words=in_words,
        line=_line(leans, design, dict(zip(rows.covariate_names, covariates.T, strict=True)), population, hdi_prob),
        percent=rows.percent_covariates,
        within_groups=within_groups,
        hdi_prob=hdi_prob,
        doubts=tuple(effect_doubts(fit, design, rows.covariate_names, words, leans)),
        single_words=tuple(largest_changes(design, rows.covariate_names, words, leans)),
        fit=fit,
    )


def _two_lists(lists: Any) -> tuple[str, str] | None:
    if lists is None:
        return None
    names = check_items("lists", lists, "two names of attribute lists")
    if len(names) != 2:
        raise ReportError(f"lists={lists!r}: give the names of two attribute lists, such as ('male', 'female').")
    return str(names[0]), str(names[1])


def _effects(
    fit: "xr.DataTree",
    leans: Leans,
    design: CovariateDesign,
    rows: ModelData,
    hdi_prob: float,
    rng: np.random.Generator,
) -> "tuple[pd.DataFrame, np.ndarray]":
    import pandas as pd
    import xarray as xr

    from bayesbias.estimates.frames import EstimateFrame

    sizes, names, percent = fit["posterior"].sizes, rows.covariate_names, rows.percent_covariates
    quantities, population = draw_quantities(leans, design, names, fitted_model(fit).priors["effect_sd"], rng)
    least_squares_ends = least_squares_intervals(leans.observed, design, hdi_prob)
    wefat = statistic_correlations(association_statistics(leans), design)
    records = []
    for (quantity, name, scope), (draws, observed) in quantities.items():
        chains = xr.DataArray(draws.reshape(sizes["chain"], sizes["draw"]), dims=("chain", "draw"))
        moments = estimates(chains, hdi_prob=hdi_prob, independent=independent_draws(fit)).iloc[0]
        interval = draws_interval(draws, hdi_prob)
        is_slope = (quantity, scope) == (SLOPE, "population")
        ends = least_squares_ends[names.index(name)] if is_slope else (np.nan, np.nan)
        borderline = (
            None  # an sd has no sign
            if quantity == RESIDUAL_SD
            else is_borderline(interval.low, interval.high, interval.low_se, interval.high_se)
        )
        records.append(
            {
                "contrast": leans.name,
                "quantity": quantity,
                "covariate": name,
                "unit": one_unit(name in percent) if quantity == SLOPE else "",
                "scope": scope,
                "words": len(leans.observed),
                "observed": observed,
                **{str(column): float(value) for column, value in moments.items()},
                "hdi_low": interval.low,
                "hdi_high": interval.high,
                "low_se": interval.low_se,
                "high_se": interval.high_se,
                "borderline": borderline,
                "probability_of_direction": np.nan
                if quantity == RESIDUAL_SD
                else float(probability_of_direction(draws)),
                "least_squares_low": ends[0],
                "least_squares_high": ends[1],
                "wefat_correlation": wefat[names.index(name)] if quantity == CORRELATION else np.nan,
            }
        )
    frame = pd.DataFrame(records)
    columns = [
        "contrast",
        "quantity",
        "covariate",
        "unit",
        "scope",
        "words",
        "observed",
        *MOMENTS,
        "low_se",
        "high_se",
        "borderline",
    ]
    columns += [
        "probability_of_direction",
        "least_squares_low",
        "least_squares_high",
        "wefat_correlation",
        *diagnostics_of(frame),
    ]
    return EstimateFrame(frame[columns]), population


def _words(
    leans: Leans, words: np.ndarray, groups: np.ndarray, covariates: dict[str, np.ndarray], hdi_prob: float
) -> "pd.DataFrame":
    import pandas as pd

    from bayesbias.estimates.frames import EstimateFrame

    ends = shortest_intervals(leans.draws.T, hdi_prob)
    columns = {
        "protected_word": words,
        "protected_group": groups,
        "observed": leans.observed,
        "wefat": association_statistics(leans),
        "mean": leans.draws.mean(axis=0),
        "sd": leans.draws.std(axis=0, ddof=1),
        "hdi_low": ends[:, 0],
        "hdi_high": ends[:, 1],
    }
    # A covariate may have the name of another column.
    named = {f"{name} (covariate)" if name in columns else name: values for name, values in covariates.items()}
    return EstimateFrame(pd.DataFrame(columns | named))


def _line(
    leans: Leans,
    design: CovariateDesign,
    covariates: dict[str, np.ndarray],
    population: np.ndarray,
    hdi_prob: float,
) -> "pd.DataFrame":
    """Return the line along each covariate, through the mean of the leans; `population` are draws of slopes."""
    import pandas as pd

    from bayesbias.estimates.frames import EstimateFrame

    level, frames = float(leans.draws.mean()), []
    these = leans.draws @ design.coefficients.T
    for place, (covariate, values) in enumerate(covariates.items()):
        grid = np.linspace(values.min(), values.max(), 41)
        around = grid - values.mean()
        # The mean is that of the slopes in these words.
        columns: dict[str, Any] = {"covariate": covariate, "covariate_value": grid}
        columns["mean"] = level + around * these[:, place].mean()
        for name, slopes in (("hdi", population[:, place]), ("these_words", these[:, place])):
            ends = np.outer(around, shortest_interval(slopes, hdi_prob))
            columns |= {f"{name}_low": level + ends.min(axis=1), f"{name}_high": level + ends.max(axis=1)}
        frames.append(pd.DataFrame(columns))
    return EstimateFrame(pd.concat(frames, ignore_index=True))

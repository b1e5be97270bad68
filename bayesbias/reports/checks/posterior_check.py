"""Posterior predictive check: whether a fitted model could have produced the distances that it was fitted to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, ndtr, stdtr

from bayesbias.base.checks import resolve_seed
from bayesbias.base.number_text import counted, digits_text, p_text, p_value_text, share_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import SHOWS, Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import BayesBiasError, FitError, NotEnoughMemoryError, ReportError, name_some
from bayesbias.estimates.intervals import BORDERLINE
from bayesbias.models.coordinates import posterior_with_covariances
from bayesbias.models.densities import densities
from bayesbias.models.fit_files import check_unchanged
from bayesbias.models.fits import fit_attribute, fitted_rows
from bayesbias.models.likelihood import Densities, log_noise
from bayesbias.models.numerics.proposals import KHAT_MAX, pareto_smoothed
from bayesbias.reports.checks.replicated_tables import ALL, JOINT, noise, replicate
from bayesbias.tables.measures import COSINE_DISTANCE, Measure
from bayesbias.tables.schema import source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


# An observed statistic with a tail probability below this, on either side, speaks against the model.
TAIL = 0.0015
_OUTLYING = "outlying attribute word"
# A few influential pairs are no fault of a model; above this share of all pairs, the check itself is unreliable.
_HIGH_SHARE = 0.01
# Coverage is wrong if it is farther from nominal than both this many standard errors and this difference of shares.
_ERRORS, _POINTS = 3.0, 0.03
# Statistic -> how actual distances differ from the model's if their statistic is smaller, and if it is larger.
_DIFFERENCES = {
    "mean": ("nearer on average", "farther on average"),
    "sd": ("less spread out", "more spread out"),
    "skewness": ("more left-skewed", "more right-skewed"),
    "kurtosis": ("flatter, with lighter tails", "more peaked, with heavier tails"),
    "smallest": ("lower at the low end", "less low at the low end"),
    "largest": ("less high at the high end", "higher at the high end"),
    "sd of attribute words": (
        "more alike from one attribute word to the next",
        "more different from one attribute word to the next",
    ),
    "outlying attribute word": (
        "less affected by one outlying attribute word",
        "more affected by one outlying attribute word",
    ),
    "share of a common factor": (
        "less dominated by one pattern over words",
        "more dominated by one pattern over words",
    ),
    "largest residual correlation": (
        "less correlated between any two protected words",
        "more correlated between some two protected words",
    ),
    "sd of attribute words by group": (
        "more alike between protected groups, attribute word by attribute word",
        "more different between protected groups, attribute word by attribute word",
    ),
    "sd of the words' contrasts": ("more alike in the words' contrasts", "more different in the words' contrasts"),
    "correlation of associated and different means": (
        "less correlated in words' distances to associated and different words",
        "more correlated in words' distances to associated and different words",
    ),
}

# Most pairs that are checked one by one; of larger tables so many are drawn at random.
MOST_PAIRS = 10_000
_DRAWS = 1000
_FEWEST_DRAWS = 100


def posterior_problems(
    coverage: "pd.DataFrame",
    statistics: "pd.DataFrame",
    model: dict[str, Any],
    convergence: list[str],
    measure: Measure = COSINE_DISTANCE,
) -> tuple[Statement, ...]:
    """Return where a model fails, and what to try; `convergence` lists the problems of the draws.

    Statements have these kinds: ``"convergence"``; ``"statistics"`` (`connection`, and the rows of `statistics` that
    the model fails to replicate) and ``"chance"`` (the probability that chance flags one); ``"coverage"`` (a row of
    `coverage` and the `interval`, 0.89 or 0.5); ``"influential pairs"``; ``"advice"`` (the `connections` concerned, and
    the `model` to try).
    """
    problems = []
    if convergence:
        text = f"Do not rely on this check: the sampler did not converge. {convergence[0]}"
        problems.append(Statement("convergence", text, {"problems": convergence}))
    judged = judged_statistics(statistics)
    failed = judged[(judged["p_value"] < TAIL) | (judged["p_value"] > 1 - TAIL)]
    for connection in statistics["connection"].unique():
        rows = rows_of(failed[failed["connection"] == connection])
        if rows:
            problems.append(_statistics_problem(str(connection), rows, measure))
        # In a large table, the pairs drawn at random may include none of a rare connection.
        for row in rows_of(coverage[coverage["connection"] == connection]):
            problems += _coverage_problems(row, measure.numbers)
    if len(failed):
        chance = _by_chance(len(judged), TAIL)
        text = (
            f"{len(judged)} statistics were judged; if the model were right, chance would flag at least one of them in "
            f"about {share_text(chance)} of such checks.{undecided_text(judged)}"
        )
        problems.append(Statement("chance", text, {"judged": len(judged), "probability": chance}))
    every = rows_of(coverage)[0]
    if every["k_high"] > _HIGH_SHARE * every["pairs"]:
        text = f"{influential_pairs_text(every)} They are in the column pareto_k of `check_posterior(fit).pairs`."
        problems.append(Statement("influential pairs", text, every))
    return (*problems, *_advice(failed, model["switches"], measure.numbers))


def judged_statistics(statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Return the statistics that are judged: each one, but those of all pairs only if there are several connections."""
    is_only_one = len(set(statistics["connection"]) - {ALL, JOINT}) < 2
    repeats = (statistics["connection"] == ALL) & is_only_one
    chosen: pd.DataFrame = statistics[~repeats & statistics["p_value"].notna()]
    return chosen


def statistic_name(row: Mapping[str, Any]) -> str:
    """Return the name of a statistic with the pairs that it is about.

    >>> statistic_name({"statistic": "largest", "connection": "all"})
    'largest of all pairs'
    """
    return f"{row['statistic']} of {_pairs_name(row['connection'])}"


def _pairs_name(connection: object) -> str:
    return "all pairs" if connection == ALL else str(connection)


def influential_pairs_text(coverage: Mapping[str, Any]) -> str:
    """Return how many pairs the model predicts unreliably from the others, given the coverage of all pairs."""
    return (
        f"The prediction from the other pairs is unreliable for {coverage['k_high']:,} of {coverage['pairs']:,} pairs, "
        "which have much influence (Pareto k above 0.7)."
    )


def undecided_text(judged: "pd.DataFrame") -> str:
    """Return a space and a sentence on p-values that tables cannot tell from the limit; empty without any."""
    p_values, errors = judged["p_value"].to_numpy(), judged["p_value_se"].to_numpy()
    tails = np.minimum(p_values, 1 - p_values)
    near = judged[(tails > 0) & (np.abs(tails - TAIL) <= BORDERLINE * errors)]
    if near.empty:
        return ""
    names = [f"{statistic_name(row)} ({p_text(row['p_value'])})" for row in rows_of(near)]
    return (
        f" Another seed could flag or clear {name_some(names)}: less than three Monte Carlo errors from a limit of a "
        f"misfit ({TAIL:g} or {1 - TAIL:g})."
    )


def _by_chance(count: int, tail: float) -> float:
    """Return the probability that one of so many p-values lies in a tail on either side, if the model is right.

    >>> round(_by_chance(31, 0.004), 2)
    0.22
    """
    return float(-np.expm1(count * np.log1p(-2 * tail))) if tail < 0.5 else 1.0


def _statistics_problem(connection: str, rows: list[dict[str, Any]], measure: Measure) -> Statement:
    differences = [
        f"{_difference(row, measure)} ({row['statistic']} "
        f"{digits_text(row['observed'])}, replicated {digits_text(row['low'])} to {digits_text(row['high'])})"
        for row in rows
    ]
    compared = f"compared with those that the model predicts, actual {measure.numbers} are"
    text = f"{_pairs_name(connection)}: {compared} {'; '.join(differences)}."
    return Statement("statistics", text, {"connection": connection, "statistics": rows})


def _difference(row: dict[str, Any], measure: Measure) -> str:
    """Return how actual numbers differ from the model's, by a statistic that it fails to replicate."""
    is_larger = int(row["p_value"] < 0.5)
    if row["statistic"] == "mean" and measure != COSINE_DISTANCE:
        return ("lower on average", "higher on average")[is_larger]
    return _DIFFERENCES[row["statistic"]][is_larger].replace("distances", measure.numbers)


def _coverage_problems(row: dict[str, Any], numbers: str) -> Iterator[Statement]:
    """Yield a statement for each interval that holds too many or too few pairs.

    Pairs that were left out are judged: in sample, the intervals of a model with many parameters hold too many.
    """
    for percent in (89, 50):
        share, interval = row[f"loo_inside_{percent}"], percent / 100
        if abs(share - interval) > max(_POINTS, _ERRORS * row[f"se_{percent}"]):
            text = (
                f"{_pairs_name(row['connection'])}: {share_text(share)} of actual "
                f"{numbers} are inside the {percent}% interval predicted from the other pairs, "
                f"{'more' if share > interval else 'fewer'} than the model expects."
            )
            yield Statement("coverage", text, {"interval": interval, **row})


def _advice(failed: "pd.DataFrame", switches: dict[str, str], numbers: str) -> Iterator[Statement]:
    def connections(*statistics: str) -> list[str]:
        return list(dict.fromkeys(map(_pairs_name, failed.loc[failed["statistic"].isin(statistics), "connection"])))

    crossed, normal = switches["attribute_effects"] != "none", switches["likelihood"] == "normal"
    multivariate = switches["attribute_effects"] == "covariance"
    joint = failed["connection"] == JOINT
    if not multivariate and (names := failed.loc[joint & (failed["statistic"] != _OUTLYING), "statistic"].tolist()):
        text = (
            f"The model does not capture how words and connections vary together ({name_some(names)}), so its "
            "contrasts are too certain or too wide: use the model 'multivariate'."
        )
        yield Statement("advice", text, {"statistics": names, "model": "multivariate"})
    if normal and (failed.loc[joint, "statistic"] == _OUTLYING).any():
        text = (
            "At least one attribute word is more extreme than the Normal likelihood allows: check whether the "
            "conclusions hold under the model 'multivariate_robust', and without the word (sensitivity)."
        )
        yield Statement("advice", text, {"statistics": [_OUTLYING], "model": "multivariate_robust"})
    if not crossed and (unlike := connections("sd of attribute words")):
        text = (
            f"Attribute words differ more than a model without attribute effects allows ({name_some(unlike)}), so its "
            "intervals are too narrow: use the model 'multivariate'."
        )
        yield Statement("advice", text, {"connections": unlike, "model": "multivariate"})
    if normal and (shaped := connections("skewness", "kurtosis", "smallest", "largest")):
        text = (
            f"The Normal likelihood does not match the shape of these {numbers} ({name_some(shaped)}). This hardly "
            "affects means of many pairs, but it does affect predictions of single pairs. Check whether the "
            "conclusions hold under the model 'multivariate_robust', whose Student t likelihood allows for heavier "
            "tails. No bundled model allows for lighter tails or for skewness."
        )
        yield Statement("advice", text, {"connections": shaped, "model": "multivariate_robust"})
    if not normal and (skewed := connections("skewness")):
        text = "No bundled model has a skewed likelihood. Do not use this model to predict single extreme pairs."
        yield Statement("advice", text, {"connections": skewed})
    if not normal and (shifted := connections("mean")):
        text = (
            f"Where {numbers} are skewed ({name_some(shifted)}), a Student t likelihood follows the bulk of them, so "
            "its connection_mean is not their mean. Compare its contrasts with those of a Normal likelihood."
        )
        yield Statement("advice", text, {"connections": shifted})


# The intervals of the paper's figure.
OUTER, INNER = 0.89, 0.50


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorCheck(Result):
    """Predictions of a model for the pairs that it was fitted to, with their actual distances; `print` explains them.

    Parameters
    ----------
    pairs : pandas.DataFrame
        One row per pair, of at most 10,000 drawn at random: the actual `cosine_distance` (or number of another
        measure), the `mean` prediction and the predictive intervals `low_89` to `high_89` and `low_50` to `high_50`;
        `loo_pit`, predicted from all other pairs, and `pareto_k`, above 0.7 where that is unreliable.
    coverage : pandas.DataFrame
        One row for all pairs and one for each `connection`: the shares of actual distances inside the intervals, and
        (``loo_``) inside those predicted from all other pairs, with the standard errors of such shares if the model is
        right and pairs are independent; the distance of `loo_pit` from the uniform distribution; and `k_high`.
    statistics : pandas.DataFrame
        One row per `connection` and `statistic`: its `observed` value, `low` to `high` (89 % of the replicated values,
        a tail of 5.5 % on each side), `p_value`, the share of replicated values that are larger, and its Monte Carlo
        error `p_value_se`. Statistics are

        - the mean, sd, skewness, (excess) kurtosis, smallest and largest distance;
        - ``"sd of attribute words"``, that of the attribute words' mean distances;
        - of ``"words and connections together"``: the correlation of the words' means to associated and different
          words, the sd of their contrasts, the share of a common factor and the largest correlation of residuals
          between protected words, the sd of attribute words' means by protected group, and the farthest attribute word.
    densities : pandas.DataFrame
        Histograms: `connection`, `distance` (middle of the bin), density of the `observed` and mean density of the
        `replicated` distances, and `low` to `high` as above.
    problems : tuple of Statement
        Statements on where the model fails, with their numbers (see `posterior_problems`).
    model, source
        Name of the model; origin of the distances.
    converged
        Whether the sampler of the fit converged.
    measure
        What the numbers measure.
    total_pairs, total_draws, replicates, random_seed
        Number of pairs of the table; draws behind the predictions; replicated tables; seed of the simulation.
    """

    pairs: "pd.DataFrame"
    coverage: "pd.DataFrame"
    statistics: "pd.DataFrame"
    densities: "pd.DataFrame"
    problems: tuple[Statement, ...]
    model: str
    source: str
    converged: bool
    total_pairs: int
    total_draws: int
    replicates: int
    random_seed: int
    measure: Measure = COSINE_DISTANCE

    @property
    def summary(self) -> tuple[Statement, ...]:
        """Statements on what was checked, on the coverage, and on the absence of problems if there are none."""
        every = rows_of(self.coverage)[0]
        checked = counted(self.total_pairs, "pair")
        if every["pairs"] < self.total_pairs:
            checked = f"{every['pairs']:,} of {self.total_pairs:,} pairs, drawn at random"
        about = f"Posterior predictive check of the model {self.model!r}, {self.source}: {checked}."
        inside = (
            f"Inside the 89% interval: {share_text(every['inside_89'])} of actual {self.measure.numbers} "
            f"({share_text(every['loo_inside_89'])} if the pair is predicted from the others); inside the 50% "
            f"interval: {share_text(every['inside_50'])} ({share_text(every['loo_inside_50'])})."
        )
        statements = (
            Statement("about", about, {"pairs": every["pairs"], "total_pairs": self.total_pairs}),
            Statement("coverage", inside, every),
        )
        if self.problems:
            return statements
        return (*statements, self._no_problem)

    @property
    def _no_problem(self) -> Statement:
        """That no statistic is a misfit, with the most extreme one and how often chance gives one like it."""
        judged = judged_statistics(self.statistics)
        tails = np.minimum(judged["p_value"], 1 - judged["p_value"])
        row, chance = rows_of(judged)[int(np.argmin(tails))], _by_chance(len(judged), float(tails.min()))
        text = (
            f"No problem was found: of {len(judged)} statistics, none is a misfit (p below {TAIL:g} or above "
            f"{1 - TAIL:g}). The most extreme is the {statistic_name(row)}, with p = "
            f"{p_value_text(row['p_value'])}. If the model were right, chance would give one as extreme in about "
            f"{share_text(chance)} of such checks.{undecided_text(judged)}"
        )
        return Statement("no problem", text, {**row, "judged": len(judged), "probability": chance})

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return StatementList("", (self._answer, *self.summary), bulleted=False), StatementList(
            "Problems", self.problems
        )

    @property
    def misfits(self) -> bool:
        """Whether there are problems besides influential pairs, whose predictions alone are unreliable."""
        return any(problem.kind != "influential pairs" for problem in self.problems)

    @property
    def _answer(self) -> Statement:
        """Whether the model predicts distances like the actual ones, and the share inside its intervals."""
        every, numbers = rows_of(self.coverage)[0], self.measure.numbers
        inside = f"predicted from the other pairs, {share_text(every['loo_inside_89'])} lie inside its 89% intervals."
        text = f"The model describes these {numbers}: {inside}"
        if self.misfits:
            text = f"The model misfits these {numbers} (see the problems below), although {inside}"
        return Statement("answer", text, every)

    @cached_property
    def contents(self) -> Contents:
        """Where the model fails, coverage, statistics and densities."""
        numbers, coverage = self.measure.numbers, rows_of(self.coverage)
        shares = ((row["connection"], *(share_text(row[f"inside_{prob}"]) for prob in (89, 50))) for row in coverage)
        coverage_text = "; ".join(f"{name} {wide} and {narrow}" for name, wide, narrow in shares)
        return contents_of(
            self,
            title=f"Does the model describe these {self.measure.numbers}?",
            opened=("Problems", SHOWS),
            about=self.source,
            captions={
                "coverage": "Shares of pairs inside their predictive intervals; errors if the model is right and pairs "
                "are independent",
                "statistics": f"Statistics of the {numbers}, and 89% of their values in {self.replicates:,} tables "
                f"replicated by the model; a misfit if p, the share of larger ones, is below {TAIL:g} or above "
                f"{1 - TAIL:g}",
            },
            data=("pairs", "densities"),
            figures={
                "check": ResultFigure(
                    "plot_check",
                    f"Above: each pair's actual {self.measure.short} against the model's mean prediction, with 89% "
                    "(light) and 50% (dark) predictive intervals. Below: the densities of actual (filled) and "
                    f"replicated (line, with band) {numbers}.",
                    alt=f"Scatter plots of actual against predicted {numbers}, and densities of both, one column per "
                    f"connection. Share of actual {numbers} inside the 89% and the 50% intervals: {coverage_text}.",
                )
            },
        )


def check_posterior(fit: "xr.DataTree", *, random_seed: int | None = None, progress: bool = True) -> PosteriorCheck:
    """Return a check of a fit: the distances of its table, and those that the model predicts for the same pairs.

    Parameters
    ----------
    fit
        Fit returned by `fit`, of any model.
    random_seed
        Seed of the simulation. None: a seed is drawn and recorded in the result.
    progress
        Whether to show a progress bar.

    Returns
    -------
    PosteriorCheck
        Frames of predictions, coverage and test statistics; `print` says where the model fails.

    Raises
    ------
    ArgumentError, FitError
        If the seed is not usable, or `fit` is not a fit.
    ReportError
        If the fit has fewer than 100 draws.

    Notes
    -----
    Predictions are for the same words: attribute effects, if the model has them, are the fitted ones. Intervals leave
    out the same probability on both sides. Predictions of a Normal or Student t likelihood are symmetric, so these are
    the highest density intervals too; the shortest interval of a finite number of draws would be too short. About 1,000
    draws of the posterior are used, each for one replicated table; tables of more than 200,000 rows are replicated less
    often, at least 200 times. Replicated tables are never held in memory.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Posterior predictive check"; Gelman, Meng and Stern (1996), Posterior
    predictive assessment of model fitness; Gabry, Simpson, Vehtari, Betancourt and Gelman (2019), Visualization in
    Bayesian workflow, for LOO-PIT.

    Examples
    --------
    >>> check = check_posterior(fit, random_seed=1)
    >>> check.coverage[["connection", "pairs", "inside_89", "inside_50"]].round(2)
       connection  pairs  inside_89  inside_50
    0         all   2832       0.91       0.55
    ...
    """
    seed = resolve_seed(random_seed)
    data = fitted_rows(fit)
    check_unchanged(fit)
    rng = np.random.default_rng(seed)
    posterior = densities(_thinned(fit), data)
    if posterior.draws < _FEWEST_DRAWS:
        raise ReportError(
            f"The fit has {posterior.draws} draws, too few for predictions. Fit again with at least {_FEWEST_DRAWS}."
        )
    total = len(data.distance)
    rows = np.arange(total) if total <= MOST_PAIRS else np.sort(rng.choice(total, MOST_PAIRS, replace=False))
    pairs = _predict(posterior, rows, rng, progress=progress)
    coverage = _coverage(pairs, data.connections, data.measure)
    statistics, histograms, replicates = replicate(posterior, rng, progress=progress)
    model = fit_attribute(fit, "model")
    convergence = fit_attribute(fit, "convergence_problems")
    return PosteriorCheck(
        pairs=pairs,
        coverage=coverage,
        statistics=statistics,
        densities=histograms,
        problems=posterior_problems(coverage, statistics, model, convergence, data.measure),
        model=model["name"],
        source=source_name(fit_attribute(fit, "table")),
        converged=not convergence,
        total_pairs=total,
        total_draws=posterior.draws,
        replicates=replicates,
        random_seed=seed,
        measure=data.measure,
    )


def _thinned(fit: "xr.DataTree") -> "xr.DataTree":
    """Return a posterior of 1,000 to 2,000 draws, or of all if there are fewer."""
    import xarray as xr

    posterior = posterior_with_covariances(fit)
    step = max(1, posterior.sizes["chain"] * posterior.sizes["draw"] // _DRAWS)
    return xr.DataTree.from_dict({"posterior": posterior.isel(draw=slice(None, None, step))})


def _predict(posterior: Densities, rows: np.ndarray, rng: np.random.Generator, *, progress: bool) -> "pd.DataFrame":
    import pandas as pd

    data = posterior.data
    # All rows share one noise: intervals are computed row by row, so rows need not be independent.
    standard = noise(posterior, np.arange(posterior.draws), 1, rng)[:, 0]
    tails = np.array([(1 - OUTER) / 2, (1 - INNER) / 2, (1 + INNER) / 2, (1 + OUTER) / 2])
    numbers = np.empty((7, len(rows)))
    chosen = np.zeros(len(data.distance), dtype=bool)
    chosen[rows] = True
    for block in with_progress(posterior.row_blocks(chosen), "Predicting pairs", progress=progress):
        mean, sigma = posterior.predicted(block)
        part = np.searchsorted(rows, block)
        numbers[0, part] = mean.mean(axis=1)
        quantiles = np.quantile(mean + sigma * standard, tails, axis=1)
        # Residuals are distance * precision - centre.
        precision = 1 / sigma
        centre = mean * precision
        numbers[1:5, part] = [
            _refined(quantile, level, posterior.row_nu, centre, precision)
            for quantile, level in zip(quantiles, tails, strict=True)
        ]
        numbers[5:, part] = _loo_pit(data.distance[block, None] * precision - centre, sigma, posterior.row_nu)
    return pd.DataFrame(
        {
            "protected_word": data.protected_words[data.protected[rows]],
            "attribute_word": data.attribute_words[data.attribute[rows]],
            "connection": np.asarray(data.connections)[data.connection[rows]],
            data.measure.column: data.distance[rows],
            **dict(
                zip(("mean", "low_89", "low_50", "high_50", "high_89", "loo_pit", "pareto_k"), numbers, strict=True)
            ),
        }
    )


def _refined(
    rough: np.ndarray, level: float, nu: np.ndarray | None, centre: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    """Return a quantile of each row's mixture over draws: one Newton step from the quantile of simulated distances."""
    residual = rough[:, None] * precision
    residual -= centre
    excess = _below(residual, nu).mean(axis=1) - level
    if nu is None:
        np.square(residual, out=residual)
        residual *= -0.5
        density = np.exp(residual, out=residual) / np.sqrt(2 * np.pi)
    else:
        density = _student_density(residual, nu)
    return np.asarray(rough - excess / np.einsum("rd,rd->r", density, precision) * precision.shape[1])


def _below(residual: np.ndarray, nu: np.ndarray | None) -> np.ndarray:
    """Return the likelihood's probability of a smaller distance; residuals are in units of the scale."""
    return np.asarray(ndtr(residual) if nu is None else stdtr(nu, residual))


def _student_density(residual: np.ndarray, nu: np.ndarray) -> np.ndarray:
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(np.exp(constant - (nu + 1) / 2 * np.log1p(residual**2 / nu)))


def _loo_pit(residual: np.ndarray, sigma: np.ndarray, nu: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of a smaller distance given all other rows, and Pareto k, of each row.

    Residuals are in units of the scale sigma.
    """
    log_weight, khat = pareto_smoothed(np.log(sigma) - log_noise(residual, np.ones(1), nu))
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    below = _below(residual, nu)
    # Weights too unequal for their tail to be fitted are unreliable.
    return (weight * below).sum(axis=1) / weight.sum(axis=1), np.where(np.isfinite(khat), khat, np.inf)


def _coverage(pairs: "pd.DataFrame", connections: tuple[str, ...], measure: Measure) -> "pd.DataFrame":
    import pandas as pd

    distance, pit = pairs[measure.column], pairs["loo_pit"]
    shares = pd.DataFrame(
        {
            "inside_89": distance.between(pairs["low_89"], pairs["high_89"]),
            "inside_50": distance.between(pairs["low_50"], pairs["high_50"]),
            "loo_inside_89": pit.between((1 - OUTER) / 2, (1 + OUTER) / 2),
            "loo_inside_50": pit.between((1 - INNER) / 2, (1 + INNER) / 2),
        }
    )
    records = []
    for name in (ALL, *connections):
        rows = np.full(len(pairs), True) if name == ALL else (pairs["connection"] == name).to_numpy()
        if not (count := int(rows.sum())):
            continue
        ordered = np.sort(pit[rows])
        steps = np.arange(count + 1) / count
        records.append(
            {
                "connection": name,
                "pairs": count,
                **shares[rows].mean().to_dict(),
                "se_89": np.sqrt(OUTER * (1 - OUTER) / count),
                "se_50": np.sqrt(INNER * (1 - INNER) / count),
                "pit_distance": max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()),
                "k_high": int((~(pairs["pareto_k"][rows] <= KHAT_MAX)).sum()),
            }
        )
    return pd.DataFrame(records)


def check_or_reason(fit: "xr.DataTree", random_seed: int) -> PosteriorCheck | BayesBiasError:
    """Return the predictive check of a fit for a document with other content, or why there is none."""
    try:
        return check_posterior(fit, random_seed=random_seed, progress=False)
    except (FitError, ReportError, NotEnoughMemoryError) as error:
        return error

"""Prior predictive check: what a model's priors imply for distances before any are seen."""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, stdtr

from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import distance_text, share_text, signed_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import SHOWS, Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import name_some, worded
from bayesbias.models.data import ModelData, compared_part, model_data
from bayesbias.models.multivariate.prior_draws import MEAN_PRIOR, draw_means_and_covariances
from bayesbias.models.simulate import draw_parameters, parameter_labels, parameter_shapes, row_moments
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.models.units import in_unit
from bayesbias.reports.checks.replicated_tables import ALL, TAILS
from bayesbias.reports.posterior.contrasts import observed_difference, observed_means
from bayesbias.tables.schema import FrameLike, as_frame, provenance, source_name

if TYPE_CHECKING:
    import pandas as pd

# Pairs of a connection that are simulated in each draw: under the prior, they are exchangeable.
_PAIRS = 50
# Numbers in the covariances of a list that are drawn together.
_MOST_NUMBERS = 2**18
_FEWEST = 100
_LOW, _HIGH = 0.0, 2.0
_EDGES = np.linspace(-1, 3, 81)
# Shares of prior mass that call for a statement: more on impossible distances, or less on the observed range.
_MOST_IMPOSSIBLE, _LEAST_OBSERVED = 0.05, 0.1


@dataclass(frozen=True, eq=False, repr=False)
class PriorCheck(Result):
    """Distances that the priors of a model imply, with the observed ones; `print` explains them.

    Parameters
    ----------
    distances : pandas.DataFrame
        One row for all pairs and one for each `connection`: the prior predictive `median`, and `low` to `high` with a
        tail of 5.5 % on each side; the prior probability of impossible distances, `outside`, with its parts and Monte
        Carlo error; the observed distances, and `inside_observed`, the prior probability of their range.
    parameters : pandas.DataFrame
        One row per `parameter` (``connection_mean``, ``contrast``, and the scales) and `connection` (for a contrast
        such as ``"associated - human"``): prior `mean`, its Monte Carlo error `mean_se`, `sd`, and `low` to `high` as
        above; `observed` is the plain mean or difference of means, in which lists and groups weigh the same, as in
        `contrasts`, and missing for a scale.
    densities : pandas.DataFrame
        Histograms from -1 to 3: `connection`, `distance` (middle of the bin), density of `prior` and `observed`.
    problems : tuple of Statement
        Statements on these priors, of the kinds ``"impossible distances"`` (a row of `distances`), ``"disagreement"``
        of prior and data (a row of `parameters`) and ``"observed range"`` (a row of `distances`).
    model, source
        Name of the model; origin of the table.
    priors : dict
        Text of each prior.
    samples, random_seed
        Number of draws of all parameters from the prior; seed.
    """

    distances: "pd.DataFrame"
    parameters: "pd.DataFrame"
    densities: "pd.DataFrame"
    problems: tuple[Statement, ...]
    model: str
    source: str
    priors: dict[str, str]
    samples: int
    random_seed: int

    @property
    def summary(self) -> tuple[Statement, ...]:
        """Statements on the model, and on the distances and differences that its priors imply."""
        every = rows_of(self.distances)[0]
        priors = ", ".join(f"{name} ~ {prior}" for name, prior in self.priors.items())
        distances = (
            f"Before any distance is seen, 89% of the prior mass lies on distances from {distance_text(every['low'])} "
            f"to {distance_text(every['high'])}. Observed distances range from {distance_text(every['smallest'])} to "
            f"{distance_text(every['largest'])} ({self.source})."
        )
        outside = (
            f"Probability of a distance outside 0 to 2, which is impossible: {share_text(every['outside'])} "
            f"(Monte Carlo error {share_text(every['outside_se'])})."
        )
        statements = [
            Statement("about", f"Prior predictive check of the model {self.model!r}: {priors}.", self.priors),
            Statement("distances", distances, every),
            Statement("impossible distances", outside, every),
        ]
        for row in rows_of(self.parameters[self.parameters["parameter"] == "contrast"]):
            contrast = (
                f"Difference of connection means {row['connection']}: 89% of the prior lies from "
                f"{signed_text(row['low'])} to {signed_text(row['high'])}; observed is {signed_text(row['observed'])}."
            )
            statements.append(Statement("contrast", contrast, row))
        return tuple(statements)

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        problems = StatementList("What to know about these priors", self.problems)
        return StatementList("", (self._answer, *self.summary), bulleted=False), problems

    @property
    def _answer(self) -> Statement:
        """The range of distances that the priors allow, beside the observed one."""
        every = rows_of(self.distances)[0]
        prior, observed = (
            f"{distance_text(every[low])} to {distance_text(every[high])}"
            for low, high in (("low", "high"), ("smallest", "largest"))
        )
        text = f"The priors put 89% on distances from {prior}; observed distances range from {observed}."
        return Statement("answer", text, every)

    @cached_property
    def contents(self) -> Contents:
        """Distances, means and differences that the priors imply."""
        every = rows_of(self.distances)[0]
        return contents_of(
            self,
            title="Do the priors allow these distances?",
            opened=("What to know about these priors", SHOWS),
            about=self.source,
            captions={
                "distances": "Prior predictive distances, their median and 89% of them, and observed distances",
                "parameters": "Priors of means, differences and scales, with 89% intervals",
            },
            data=("densities",),
            figures={
                "prior": ResultFigure(
                    "plot_prior_check",
                    "Left: the prior density of a distance (line) and the observed distances (filled); impossible "
                    "distances are hatched. Right: 89% intervals of the priors of connection means and contrasts, and "
                    "observed values.",
                    alt="Prior densities of distances by connection. For all pairs 89% of the prior lies between "
                    f"{distance_text(every['low'])} and {distance_text(every['high'])}, {share_text(every['outside'])} "
                    f"outside 0 to 2; observed are {distance_text(every['smallest'])} to "
                    f"{distance_text(every['largest'])}.",
                )
            },
        )


def check_prior(
    table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    priors: Mapping[str, Any] | None = None,
    samples: int = 4000,
    random_seed: int | None = None,
    progress: bool = True,
) -> PriorCheck:
    """Return what the priors of a model imply for the distances of a table, before it is fitted.

    Parameters
    ----------
    table
        A distance table.
    model, priors
        As for `fit`.
    samples
        Number of draws of all parameters from the prior, at least 100.
    random_seed
        Seed of the simulation. None: a seed is drawn and recorded in the result.
    progress
        Whether to show a progress bar.

    Returns
    -------
    PriorCheck
        Frames of prior predictions; `print` explains them.

    Raises
    ------
    ArgumentError, TableError, ModelError, FitError
        If the seed, the number of samples, the table or the model is not usable.
    NotEnoughMemoryError
        If the draws do not fit in memory.

    Notes
    -----
    A pair's probability of an impossible distance is computed exactly for each draw of the parameters, and averaged
    over up to 50 pairs of each connection and over the draws. In the row for all pairs, connections are weighted by
    their number of pairs.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Bayesian method", for the priors of `hierarchical`; Gabry, Simpson, Vehtari,
    Betancourt and Gelman (2019), Visualization in Bayesian workflow, for the check.

    Examples
    --------
    >>> check = check_prior(table, "hierarchical", samples=4000, random_seed=1)
    >>> check.distances[["connection", "outside"]].round(1)
       connection  outside
    0         all      0.2
    ...
    """
    table = as_frame(table)
    import pandas as pd

    from bayesbias.base.machine import threadpool_limits

    seed, samples = resolve_seed(random_seed), check_count("samples", samples, least=_FEWEST)
    data = model_data(table)
    spec = in_unit(load_model(model, priors=priors), data.scale)
    if not spec.multivariate:
        data = compared_part(data)
    numbers = samples * (
        2 * _PAIRS * len(data.connections) + sum(map(math.prod, parameter_shapes(data, spec).values()))
    )
    check_memory(2 * 8 * numbers, f"{samples:,} draws from the prior", "Take fewer samples.")
    rng = np.random.default_rng(seed)
    pooled = spec.switches["pooling"] != "none"
    prior_draws = {
        name: spec.priors.get(name, MEAN_PRIOR).draw((samples, *shape), rng)
        for name, shape in parameter_shapes(data, spec).items()
        if pooled or name != "connection_mean"
    }
    sample, count = _some_pairs(data, rng), len(data.connections)
    sample_rows = [np.flatnonzero(sample.connection == place) for place in range(count)]
    simulated = np.empty((samples, len(sample.distance)))
    tails = np.empty((samples, 2, count))
    connection_mean = np.empty((samples, count))
    with threadpool_limits(1, "blas"):  # the matrices are small: with more threads they take ten times as long
        size = max(1, _MOST_NUMBERS // len(data.protected_words) ** 2) if spec.multivariate else 1
        blocks = [slice(first, first + size) for first in range(0, samples, size)]
        for block in with_progress(blocks, "Drawing from the prior", progress=progress):
            given = {name: values[block] for name, values in prior_draws.items()}
            if spec.multivariate:
                drawn = given | draw_means_and_covariances(sample, given, rng=rng)
            else:
                # Without pooling, the mean of a connection is the average over all words that have pairs.
                alone = {name: values[0] for name, values in given.items()}
                parameters = draw_parameters(sample if pooled else data, spec, rng=rng, given=alone)
                drawn = {name: np.asarray(values)[None] for name, values in parameters.items()}
            connection_mean[block] = drawn["connection_mean"]
            mean, sigma = row_moments(sample, drawn)
            simulated[block] = mean + sigma * _noise(mean.shape, drawn.get("nu"), rng)
            outside = _tails(mean, sigma, drawn.get("nu"))
            tails[block] = np.stack([outside[:, :, rows].mean(axis=2) for rows in sample_rows], axis=2)
    weight = data.pair_counts.sum(axis=0) / len(data.distance)
    records, frames = [], []
    for place, name in enumerate((ALL, *data.connections)):
        weights = weight if name == ALL else np.eye(count)[place - 1]
        observed = data.distance if name == ALL else data.distance[data.connection == place - 1]
        prior, (below, above) = _mixed(simulated, sample_rows, weights, rng), np.moveaxis(tails @ weights, 0, 1)
        low, median, high = np.quantile(prior, (TAILS[0], 0.5, TAILS[1]))
        records.append(
            {
                "connection": name,
                "pairs": len(observed),
                "median": median,
                "low": low,
                "high": high,
                "outside": (below + above).mean(),
                "outside_se": (below + above).std(ddof=1) / np.sqrt(samples),
                "below_0": below.mean(),
                "above_2": above.mean(),
                "smallest": observed.min(),
                "average": observed.mean(),
                "largest": observed.max(),
                "inside_observed": ((prior >= observed.min()) & (prior <= observed.max())).mean(),
            }
        )
        frames.append(
            pd.DataFrame(
                {
                    "connection": name,
                    "distance": (_EDGES[1:] + _EDGES[:-1]) / 2,
                    "prior": _density(prior),
                    "observed": _density(observed),
                }
            )
        )
    distances = pd.DataFrame(records)
    parameters_frame = _parameters(
        {"connection_mean": connection_mean} | prior_draws,
        parameter_labels(sample, spec),
        observed_means(data),
        data,
    )
    return PriorCheck(
        distances=distances,
        parameters=parameters_frame,
        densities=pd.concat(frames, ignore_index=True),
        problems=tuple(_problems(distances, parameters_frame, spec)),
        model=spec.name,
        source=source_name(provenance(table, current_hash=data.table_hash)),
        priors={name: str(prior) for name, prior in spec.priors.items()},
        samples=samples,
        random_seed=seed,
    )


def _some_pairs(data: ModelData, rng: np.random.Generator) -> ModelData:
    """Return data with up to 50 pairs of each connection, and all words."""
    keep = np.zeros(len(data.distance), dtype=bool)
    for place in range(len(data.connections)):
        rows = np.flatnonzero(data.connection == place)
        keep[rng.choice(rows, min(len(rows), _PAIRS), replace=False)] = True
    rows_of = {name: getattr(data, name)[keep] for name in ("distance", "protected", "connection", "attribute")}
    return replace(data, **rows_of)


def _noise(shape: tuple[int, ...], nu: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Return a deviation of each pair in its scale: pairs count one by one, so that they need not depend."""
    noise = rng.standard_normal(shape)
    return noise if nu is None else noise / np.sqrt(rng.chisquare(nu[:, None], shape) / nu[:, None])


def _tails(mean: np.ndarray, sigma: np.ndarray, nu: np.ndarray | None) -> np.ndarray:
    """Return each pair's probability of a distance below 0 and above 2, shape (draws, 2, pairs)."""
    residuals = np.stack([(_LOW - mean) / sigma, (mean - _HIGH) / sigma], axis=1)
    return np.asarray(ndtr(residuals) if nu is None else stdtr(nu[:, None, None], residuals))


def _mixed(
    simulated: np.ndarray, sample_rows: list[np.ndarray], weights: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return simulated distances of ten pairs of each draw, whose connections are drawn by their weights."""
    repeated = np.repeat(np.arange(len(simulated)), 10)
    connection = rng.choice(len(weights), len(repeated), p=weights)
    rows = np.empty(len(repeated), dtype=np.int64)
    for place, choices in enumerate(sample_rows):
        of_connection = connection == place
        rows[of_connection] = rng.choice(choices, int(of_connection.sum()))
    return np.asarray(simulated[repeated, rows])


def _density(values: np.ndarray) -> np.ndarray:
    """Return a histogram; distances beyond its edges have no bin but count in the total."""
    return np.asarray(np.histogram(values, _EDGES)[0] / (len(values) * np.diff(_EDGES)))


def _parameters(
    drawn: dict[str, np.ndarray],
    labels: dict[str, tuple[str, ...]],
    plain: np.ndarray,
    data: ModelData,
) -> "pd.DataFrame":
    """Return the frame `PriorCheck.parameters` from draws of shape (draws,) or (draws, labels)."""
    import pandas as pd

    connections, groups = data.connections, data.protected_groups
    average = {
        name: observed_difference(column, np.zeros(len(column)), groups)
        for name, column in zip(connections, plain.T, strict=True)
    }
    columns: list[tuple[str, str, np.ndarray, float]] = []
    for name, values in drawn.items():
        for place, column in enumerate(values.T if values.ndim == 2 else values[None]):
            label = labels[name][place] if values.ndim == 2 else ""
            columns.append((name, label, column, average[label] if name == "connection_mean" else np.nan))
    if connections[0] == "associated":
        connection_mean = drawn["connection_mean"]
        columns += [
            (
                "contrast",
                f"associated - {other}",
                connection_mean[:, 0] - connection_mean[:, place],
                observed_difference(plain[:, 0], plain[:, place], groups),
            )
            for place, other in enumerate(connections)
            if place
        ]
    records = []
    for name, label, values, observed in columns:
        low, high = np.quantile(values, TAILS)
        records.append(
            {
                "parameter": name,
                "connection": label,
                "mean": values.mean(),
                "mean_se": values.std(ddof=1) / np.sqrt(len(values)),
                "sd": values.std(ddof=1),
                "low": low,
                "high": high,
                "observed": observed,
            }
        )
    return pd.DataFrame(records)


def _problems(distances: "pd.DataFrame", parameters: "pd.DataFrame", spec: ModelSpec) -> Iterator[Statement]:
    every = rows_of(distances)[0]
    if every["outside"] > _MOST_IMPOSSIBLE:
        text = (
            f"{share_text(every['outside'])} of the prior mass lies on impossible distances (below 0 or above 2). "
            "Hundreds of pairs outweigh this. With few pairs, words or attribute words, check whether the conclusions "
            f"hold under narrower priors of {name_some(name for name in spec.priors if name != 'nu')} ("
            f"{worded('priors=...), or call sensitivity()', '--prior of `bayesbias fit`)')}."
        )
        yield Statement("impossible distances", text, every)
    if "connection_mean" not in spec.priors:
        text = (
            f"Means of connections have a flat prior in the model {spec.name!r}; {MEAN_PRIOR} stands for it in "
            "this check."
        )
        yield Statement("flat prior", text, {"stand_in": str(MEAN_PRIOR)})
        parameters = parameters[:0]
    for row in rows_of(parameters[parameters["parameter"] == "connection_mean"]):
        if not row["low"] <= row["observed"] <= row["high"]:
            text = (
                f"{row['connection']}: the observed mean distance, {distance_text(row['observed'])}, lies outside the "
                f"prior's interval, {distance_text(row['low'])} to {distance_text(row['high'])}: prior and data "
                "disagree. Check the table, or widen the prior of connection_mean."
            )
            yield Statement("disagreement", text, row)
    if every["inside_observed"] < _LEAST_OBSERVED:
        inside = share_text(every["inside_observed"])
        text = (
            f"Only {inside} of the prior mass lies in the range of the observed distances. Check whether the "
            "conclusions hold under priors closer to that range."
        )
        yield Statement("observed range", text, every)

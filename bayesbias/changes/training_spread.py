"""How contrasts spread over trainings: a hierarchical model of seeds, of word lists, and of samples of documents."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.changes.result import Estimation
from bayesbias.errors import ReportError, setting
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import common_mean, draw_nodes, is_borderline, probability_of_direction
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.reports.posterior.contrasts import LEVELS, at_level

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

KEYS = ["contrast", "protected_group", "protected_word"]
"""Columns that name a contrast or its change."""
SD_PRIOR = 0.1
"""Scale of the half-Normal that bounds standard deviations between trainings, in units of cosine distance."""
_GRID = 2_000
_GRID_OF_TWO = 160
_DRAWS = 20_000
_AT_ONCE = 50  # contrasts whose draws are in memory at once


def _log_prior(nodes: Floats, known_variance: Floats | float) -> Floats:
    """Return the logarithm of the prior mass of standard deviations on a grid, beside a known variance.

    It is Jeffreys' prior of the sd, with which the mean of few trainings has the interval of Student's t; that of a
    uniform prior is wider. A half-Normal bounds it.
    """
    jeffreys = nodes / (nodes**2 + known_variance)
    return np.asarray(np.log(np.gradient(nodes) * jeffreys) - 0.5 * (nodes / SD_PRIOR) ** 2)


def seed_sd_draws(means: Floats, errors: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws of the mean over seeds and of the standard deviation between them, each (draws, quantities).

    `means` and `errors`, of shape (seeds, quantities), are estimates and their Monte Carlo standard errors.

    >>> rng = np.random.default_rng(1)
    >>> mean, sd = seed_sd_draws(np.array([[0.1], [0.1], [0.3], [0.3]]), np.zeros((4, 1)), 4_000, rng)
    >>> float(round(mean.mean(), 2)), float(round(sd.mean(), 1))
    (0.2, 0.1)
    """
    # The grid is denser near 0, where most of the posterior mass lies with few seeds.
    nodes = 5 * SD_PRIOR * np.linspace(0, 1, _GRID + 1)[1:] ** 2
    tau, mean = np.empty((2, draws, means.shape[1]))
    for column in range(means.shape[1]):
        variances = nodes[:, None] ** 2 + errors[:, column] ** 2
        centre, precision, log_density = common_mean(means[:, column], variances)
        log_density = log_density + _log_prior(nodes, np.square(errors[:, column]).mean())
        chosen = draw_nodes(log_density, rng, draws)
        tau[:, column] = nodes[chosen]
        mean[:, column] = rng.normal(centre[chosen], 1 / np.sqrt(precision[chosen]))
    return mean, tau


def both_sd_draws(
    means: Floats, errors: Floats, resampled: tuple[Floats, Floats], draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return draws of the mean over seeds, and of the standard deviations between seeds and between document samples.

    `means` and `errors`, of shape (seeds, quantities), are estimates of trainings on all documents and their Monte
    Carlo standard errors; `resampled` holds those of trainings on resampled documents, each with a seed of its own, of
    shape (resamples, quantities). Each kind has a mean of its own, because drawn documents repeat. The three arrays
    have the shape (draws, quantities).

    >>> seeds, resamples = np.array([[0.1], [0.12], [0.11]]), np.array([[0.0], [0.2], [0.1], [0.3], [0.2], [0.1]])
    >>> rng = np.random.default_rng(1)
    >>> draws = both_sd_draws(seeds, 0 * seeds, (resamples, 0 * resamples), 4_000, rng)
    >>> [float(values.mean().round(2)) for values in draws]
    [0.11, 0.02, 0.1]
    """
    nodes = 5 * SD_PRIOR * np.linspace(0, 1, _GRID_OF_TWO + 1)[1:] ** 2
    other_means, other_errors = resampled
    mean, seed_sd, document_sd = np.empty((3, draws, means.shape[1]))
    for column in range(means.shape[1]):
        of_seeds = nodes[:, None] ** 2 + errors[:, column] ** 2
        centre, precision, seed_density = common_mean(means[:, column], of_seeds)
        of_both = (nodes[:, None] ** 2 + nodes**2)[..., None] + other_errors[:, column] ** 2
        both_density = common_mean(other_means[:, column], of_both)[2]
        of_seeds_and_errors = nodes[:, None] ** 2 + np.square(other_errors[:, column]).mean()
        seed_density = seed_density + _log_prior(nodes, np.square(errors[:, column]).mean())
        log_density = seed_density[:, None] + both_density + _log_prior(nodes, of_seeds_and_errors)
        chosen = draw_nodes(log_density.ravel(), rng, draws)
        rows, columns = np.divmod(chosen, _GRID_OF_TWO)
        seed_sd[:, column], document_sd[:, column] = nodes[rows], nodes[columns]
        mean[:, column] = rng.normal(centre[rows], 1 / np.sqrt(precision[rows]))
    return mean, seed_sd, document_sd


def estimates_over_trainings(
    draws: list[Floats],
    errors: Floats,
    resampled: tuple[Floats, Floats] | None,
    hdi_prob: float,
    seed: int | Sequence[int],
    rope: tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Return estimates of each contrast over seeds, and its spread from word lists, seeds and documents.

    `resampled` holds the posterior means of trainings on resampled documents, and their Monte Carlo standard errors.
    `hdi_low` to `hdi_high` is the interval over seeds and words, with the Monte Carlo errors of its ends `low_se` and
    `high_se`, and `borderline` if 0 is within three of them; `seeds_low` to `seeds_high` is that over seeds alone.
    """
    import pandas as pd

    rng, count = np.random.default_rng(seed), max(_DRAWS, len(draws[0]))

    def summary(values: Floats) -> "pd.DataFrame":
        return frame_of_draws(values, {}, hdi_prob)

    parts = []
    for start in range(0, errors.shape[1], _AT_ONCE):
        block = [seed_draws[:, start : start + _AT_ONCE] for seed_draws in draws]
        means = np.stack([seed_draws.mean(axis=0) for seed_draws in block])
        lists_sd = np.sqrt(np.mean([seed_draws.var(axis=0, ddof=1) for seed_draws in block], axis=0))
        columns = slice(start, start + _AT_ONCE)
        if resampled is None:
            mean, tau = seed_sd_draws(means, errors[:, columns], count, rng)
            omega = np.zeros_like(tau)
        else:
            of_samples = (resampled[0][:, columns], resampled[1][:, columns])
            mean, tau, omega = both_sd_draws(means, errors[:, columns], of_samples, count, rng)
        # The error from the words is drawn from the posterior of one of the seeds at a time.
        counts = np.bincount(rng.integers(len(block), size=count), minlength=len(block))
        chosen = [rng.integers(len(seed_draws), size=size) for seed_draws, size in zip(block, counts, strict=True)]
        lists_error = np.concatenate(
            [seed_draws[rows] - seed_draws.mean(axis=0) for seed_draws, rows in zip(block, chosen, strict=True)]
        )
        part = summary(mean + lists_error)
        part[["low_se", "high_se"]] = _errors_of_ends(mean + lists_error, hdi_prob, sum(map(len, block)), rng)
        ends = part[["hdi_low", "hdi_high", "low_se", "high_se"]].itertuples(index=False, name=None)
        part["borderline"] = [is_borderline(*row) for row in ends]
        part["probability_of_direction"] = probability_of_direction(mean + lists_error)
        if rope is not None:
            inside = (mean + lists_error >= rope[0]) & (mean + lists_error <= rope[1])
            part["probability_in_rope"] = inside.mean(axis=0)
        seeds_alone = summary(mean)
        part["seeds_low"], part["seeds_high"] = seeds_alone["hdi_low"], seeds_alone["hdi_high"]
        next_seed = summary(mean + lists_error + tau * rng.standard_normal(tau.shape))
        part["next_low"], part["next_high"] = next_seed["hdi_low"], next_seed["hdi_high"]
        part["lists_sd"] = lists_sd
        variance = tau**2 + omega**2 + lists_sd**2
        spreads = {"seed_sd": tau, "seed_share": tau**2 / variance}
        if resampled is not None:
            documents = summary(mean + lists_error + omega * rng.standard_normal(omega.shape))
            part["documents_low"], part["documents_high"] = documents["hdi_low"], documents["hdi_high"]
            spreads |= {"document_sd": omega, "document_share": omega**2 / variance}
        for name, values in spreads.items():
            part[[name, f"{name}_low", f"{name}_high"]] = summary(values)[["mean", "hdi_low", "hdi_high"]]
        parts.append(part)
    return pd.concat(parts)


def _errors_of_ends(values: Floats, hdi_prob: float, drawn_from: int, rng: np.random.Generator) -> Floats:
    """Return the Monte Carlo errors of both ends of the intervals of draws (draws, quantities), shape (quantities, 2).

    The errors of words are drawn again from so many draws, which adds their own error.
    """
    intervals = [draws_interval(column, hdi_prob) for column in rng.permutation(values).T]
    again = np.sqrt(1 + len(values) / drawn_from)
    return np.asarray(again * np.array([(interval.low_se, interval.high_se) for interval in intervals]))


@dataclass(frozen=True, eq=False)
class OverSeeds:
    """Contrasts or changes of each seed: frames by seed, all with the same rows, and draws (draws, rows) of each."""

    frames: "dict[Hashable, pd.DataFrame]"
    draws: list[Floats]

    @classmethod
    def of_contrasts(
        cls, frames: "Mapping[Hashable, pd.DataFrame]", draws: "Sequence[xr.DataTree]", level: str
    ) -> "OverSeeds":
        """Return the contrasts of fits at a level, whose tables may list the words in different orders."""
        rows = _shared_rows(frames, level)
        aligned = {seed: frame.iloc[_places(rows, frame)].reset_index(drop=True) for seed, frame in frames.items()}
        return cls(aligned, [_chained(of_fit, rows) for of_fit in draws])

    @classmethod
    def of_changes(cls, frames: "Mapping[Hashable, pd.DataFrame]", draws: Sequence[Floats], level: str) -> "OverSeeds":
        """Return the changes at a level, whose draws have the order of the rows of their frames."""
        rows = _shared_rows(frames, level)
        places = [_places(rows, frame) for frame in frames.values()]
        aligned = [frame.iloc[chosen] for frame, chosen in zip(frames.values(), places, strict=True)]
        return cls(
            {seed: frame.reset_index(drop=True) for seed, frame in zip(frames, aligned, strict=True)},
            [of_seed[:, chosen] for of_seed, chosen in zip(draws, places, strict=True)],
        )

    @property
    def by_seed(self) -> "pd.DataFrame":
        """The frames of all seeds, one below the other, with a first column `seed`."""
        import pandas as pd

        names = np.empty(len(self.frames), dtype=object)
        names[:] = list(self.frames)  # a seed may be a tuple
        by_seed = pd.concat(self.frames.values(), ignore_index=True)
        by_seed.insert(0, "seed", np.repeat(names, len(next(iter(self.frames.values())))))
        return by_seed

    def estimates(self, estimation: Estimation, samples: "Sequence[pd.DataFrame]" = ()) -> "pd.DataFrame":
        """Return names, counts of readings, and estimates over seeds; `samples` are those of resampled documents.

        Each level has draws of its own, so that a contrast has the same numbers whichever other levels are asked for.
        """
        import pandas as pd

        frames = list(self.frames.values())
        of_samples = [frame.iloc[_places(frames[0], frame)] for frame in samples]
        is_of_group, is_of_word = (frames[0][name] != "" for name in ("protected_group", "protected_word"))
        levels = np.where(is_of_word, 2, np.where(is_of_group, 1, 0))
        estimates = []
        for level in np.unique(levels):
            rows = levels == level
            drawn = None
            if samples:
                drawn = np.array([frame["mean"][rows] for frame in of_samples]), _errors(of_samples)[:, rows]
            of_level, errors = [of_seed[:, rows] for of_seed in self.draws], _errors(frames)[:, rows]
            seeds = estimation.seed, int(level)  # of all words, that of the seed alone
            part = estimates_over_trainings(of_level, errors, drawn, estimation.hdi_prob, seeds, estimation.rope)
            estimates.append(part.set_index(np.flatnonzero(rows)))
        return pd.concat([frames[0][KEYS], _reading_counts(frames), pd.concat(estimates).sort_index()], axis=1)


def _errors(frames: "list[pd.DataFrame]") -> Floats:
    """Return the Monte Carlo standard errors of means, which are 0 where all draws are the same."""
    return np.array([np.nan_to_num((frame["sd"] / np.sqrt(frame["ess_bulk"])).to_numpy()) for frame in frames])


def _shared_rows(frames: "Mapping[Hashable, pd.DataFrame]", level: str) -> "pd.DataFrame":
    """Return the names of the rows at a level that all frames have: debiasing may lose a word in some seeds."""
    import pandas as pd

    first, *others = (frame[KEYS] for frame in frames.values())
    for other in others:
        first = first[pd.MultiIndex.from_frame(first).isin(pd.MultiIndex.from_frame(other))]
    levels = LEVELS[:-1] if level == "all" else (level,)
    rows = pd.concat([at_level(first, name) for name in levels], ignore_index=True)
    if rows.empty:
        raise ReportError(f"There is no contrast for {setting('level', level)} in all seeds. Give another level.")
    return rows


def _places(first: "pd.DataFrame", frame: "pd.DataFrame") -> Integers:
    """Return the places in `frame` of the contrasts of `first`."""
    import pandas as pd

    return pd.MultiIndex.from_frame(frame[KEYS]).get_indexer(pd.MultiIndex.from_frame(first[KEYS]))


def _chained(draws: "xr.DataTree", frame: "pd.DataFrame") -> Floats:
    """Return draws of the contrasts of a frame, chain after chain, shape (draws, contrasts)."""
    columns = {}
    for values in draws["posterior"].data_vars.values():
        dims = values.dims[2:]
        chained = values.to_numpy().reshape(-1, *values.shape[2:])
        names = [values[dim].to_numpy().tolist() for dim in dims]
        for place in np.ndindex(*values.shape[2:]):
            labels = {dim: of_dim[number] for dim, of_dim, number in zip(dims, names, place, strict=True)}
            columns[tuple(labels.get(key, "") for key in KEYS)] = chained[(slice(None), *place)]
    return np.stack([columns[row] for row in frame[KEYS].itertuples(index=False, name=None)], axis=1)


def _reading_counts(frames: "list[pd.DataFrame]") -> "pd.DataFrame":
    """Return the number of seeds with each reading, for each contrast; a borderline one is not settled."""
    import pandas as pd

    low, high, borderline = (
        np.array([frame[name] for frame in frames]) for name in ("hdi_low", "hdi_high", "borderline")
    )
    nearer, farther = (high < 0) & ~borderline, (low > 0) & ~borderline
    counts = pd.DataFrame({"seeds": len(frames), "nearer": nearer.sum(axis=0), "farther": farther.sum(axis=0)})
    counts["not_settled"] = counts["seeds"] - counts["nearer"] - counts["farther"]
    return counts

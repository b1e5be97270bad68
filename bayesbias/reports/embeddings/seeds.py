"""The same contrasts in embeddings of several seeds: what the word lists leave open, and what the seed does."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import Rendered, Statement, StatementList, percent_text, rows_of
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import MOMENTS, estimates
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.fitted.fits import check_fit, fit_attribute
from bayesbias.reports.embeddings.seed_conclusions import contrast_statement, disagreement, limits, stability, verdict
from bayesbias.reports.posterior.conclusions import data_doubts
from bayesbias.reports.posterior.contrasts import contrast_draws, contrasts
from bayesbias.tables.schema import lost_by_list

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SEED_SD_PRIOR = 0.1
"""Scale of the half-Normal prior of the standard deviation between seeds, in units of cosine distance."""

_KEYS = ["contrast", "protected_group", "protected_word"]
_DRAWS, _GRID = 20_000, 2_000
_AT_ONCE = 50  # contrasts whose draws are in memory together


@dataclass(frozen=True, eq=False, repr=False)
class SeedComparison(Rendered):
    """What `compare_seeds` found; printed, whether the seeds agree. All estimates are in units of cosine distance.

    Parameters
    ----------
    contrasts : pandas.DataFrame
        One row a contrast: its name and words as in `bayesbias.contrasts`; `stability`, which is ``"stable"`` where all
        seeds, their average, and one more seed settle it in the same way, ``"not settled"`` where none of these does,
        ``"open"`` where all seeds say the same and the others do not, and ``"seeds disagree"``; `seeds`, how many;
        `nearer`, `farther` and `not_settled`, how many of them settle it so (the interval of one embedding alone), and
        `agree`, whether all say the same; `mean`, `sd`, `hdi_low`, `hdi_high`, the contrast on average over seeds like
        these, with the word lists' uncertainty; `next_low` to `next_high`, the interval of the contrast in an embedding
        of one more seed; `lists_sd`, the standard deviation that the word lists leave in one embedding; `seed_sd`, the
        posterior mean of the standard deviation between seeds, with `seed_sd_low` to `seed_sd_high`; and `seed_share`,
        that of the seed in the variance of one embedding's contrast, with `seed_share_low` to `seed_share_high`.
    by_seed : pandas.DataFrame
        The rows of `bayesbias.contrasts` for each fit, with a first column `seed`.
    facts
        What was compared: `study`, `embeddings` (name by seed), `protected_words`, `attribute_words`, `pairs`,
        `lost_words` (by list), `max_lost`, `model`, `sampler`, `settings` (draws and tuning steps of a chain, chains,
        and the seed, if all fits have the same), and `doubts` of the fits.
    hdi_prob
        Probability inside the intervals.
    seed
        Random seed of the draws.
    """

    contrasts: "pd.DataFrame"
    by_seed: "pd.DataFrame"
    facts: dict[str, Any]
    hdi_prob: float
    seed: int

    def __repr__(self) -> str:
        return f"SeedComparison({self.by_seed['seed'].nunique()} seeds, {len(self.contrasts)} contrasts)"

    @property
    def verdict(self) -> Statement:
        """Whether the contrasts are stable over seeds, in a few sentences; its kind is the first one's `stability`."""
        return verdict(rows_of(self.contrasts))

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, in the order in which they are read."""
        rows = rows_of(self.contrasts)
        seeds = self.by_seed["seed"].nunique()
        doubts = tuple(Statement("fits", text) for text in self.facts["doubts"])
        apart = tuple(disagreement(row) for row in rows if not row["agree"])
        parts = (
            StatementList("Beware", doubts),
            StatementList("", (self.verdict,), bulleted=False),
            StatementList("Beware: the seeds disagree", apart),
            StatementList(
                f"Over {seeds} seeds ({percent_text(self.hdi_prob)} HPDI, in units of cosine distance)",
                tuple(map(contrast_statement, rows)),
            ),
            StatementList("What it does not show", limits(seeds, SEED_SD_PRIOR)),
        )
        return tuple(part for part in parts if part.statements)


def compare_seeds(
    fits: "Mapping[Hashable, xr.DataTree]",
    *,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> SeedComparison:
    """Compare the contrasts of one study in embeddings that differ in their training's seed alone.

    Parameters
    ----------
    fits
        The fit of each embedding's distance table, by seed (or any other name): the same words, the same model.
    baseline, level, scope
        As in `bayesbias.contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the draws; drawn if None, and recorded.

    Returns
    -------
    SeedComparison
        Printed, whether the seeds agree; `contrasts` and `by_seed` are the numbers.

    Raises
    ------
    ReportError, FitError, ArgumentError
        If there is one fit only, or the fits have other words, pairs or models than the first, or an argument is not
        usable.

    Notes
    -----
    The contrast of seed s has the posterior mean m_s, with a Monte Carlo error e_s. The words are the same in all, so
    what the choice of words leaves open, L with the posterior's own spread, is common to them, and what parts the m_s
    is the seed:

        m_s ~ Normal(mu + L, tau^2 + e_s^2),    mu flat,    tau ~ HalfNormal(0.1)

    (Gelman, Carlin, Stern, Dunson, Vehtari and Rubin, Bayesian Data Analysis, 3rd ed., section 5.4), drawn from a grid
    of tau. The contrast on average over seeds is mu with L, that of one more seed has tau besides, and the seed's share
    is tau^2 / (tau^2 + lists_sd^2).

    Examples
    --------
    >>> found = bb.compare_seeds({1: fit, 2: fit}, random_seed=1)
    >>> found.contrasts[["contrast", "seeds", "not_settled", "agree"]]
                     contrast  seeds  not_settled  agree
    0  associated - different      2            2   True
    1      associated - human      2            2   True
    2    associated - neutral      2            2   True
    """
    import pandas as pd

    from bayesbias.estimates.estimate_frame import EstimateFrame

    seed = resolve_seed(random_seed)
    _check_fits(fits)
    frames = {
        name: contrasts(fit, baseline=baseline, level=level, scope=scope, hdi_prob=hdi_prob)
        for name, fit in fits.items()
    }
    by_seed = pd.concat(frames.values(), ignore_index=True)
    by_seed.insert(0, "seed", np.repeat(np.array(list(frames), dtype=object), len(by_seed) // len(frames)))
    draws = [contrast_draws(fit, baseline=baseline, level=level, scope=scope) for fit in fits.values()]
    errors = np.array([(frame["sd"] / np.sqrt(frame["ess_bulk"])).to_numpy() for frame in frames.values()])
    first = next(iter(frames.values()))
    result = pd.concat(
        [
            first[_KEYS].reset_index(drop=True),
            _verdicts([frame[["hdi_low", "hdi_high"]].to_numpy() for frame in frames.values()]),
            _parted(draws, errors, hdi_prob, np.random.default_rng(seed)).reset_index(drop=True),
        ],
        axis=1,
    )
    result.insert(len(_KEYS), "stability", [stability(row) for row in rows_of(result)])
    return SeedComparison(
        contrasts=EstimateFrame(result),
        by_seed=EstimateFrame(by_seed),
        facts=_facts(fits),
        hdi_prob=hdi_prob,
        seed=seed,
    )


def seed_sd_draws(means: Floats, errors: Floats, samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the mean over seeds and the standard deviation between them, each of shape (samples, quantities).

    `means` and `errors`, of shape (seeds, quantities), are estimates and their standard errors, Monte Carlo ones here.

    >>> rng = np.random.default_rng(1)
    >>> mean, sd = seed_sd_draws(np.array([[0.1], [0.1], [0.3], [0.3]]), np.zeros((4, 1)), 4_000, rng)
    >>> float(round(mean.mean(), 2)), float(round(sd.mean(), 1))
    (0.2, 0.1)
    """
    # Nearer to each other near 0, where few seeds leave most of the mass.
    nodes = 5 * SEED_SD_PRIOR * np.linspace(0, 1, _GRID + 1)[1:] ** 2
    tau, mean = np.empty((2, samples, means.shape[1]))
    for at in range(means.shape[1]):
        variance = nodes[:, None] ** 2 + errors[:, at] ** 2
        weights = 1 / variance
        center = (weights * means[:, at]).sum(axis=1) / weights.sum(axis=1)
        log_density = (
            -0.5 * (nodes / SEED_SD_PRIOR) ** 2
            - 0.5 * np.log(weights.sum(axis=1))
            - 0.5 * np.log(variance).sum(axis=1)
            - 0.5 * (weights * (means[:, at] - center[:, None]) ** 2).sum(axis=1)
        )
        mass = np.exp(log_density - log_density.max()) * np.gradient(nodes)
        chosen = np.searchsorted(np.cumsum(mass) / mass.sum(), rng.random(samples)).clip(max=_GRID - 1)
        tau[:, at] = nodes[chosen]
        mean[:, at] = rng.normal(center[chosen], 1 / np.sqrt(weights.sum(axis=1)[chosen]))
    return mean, tau


def _check_fits(fits: Any) -> None:
    if not isinstance(fits, Mapping):
        raise ReportError(f"Give fits by seed, such as {{1: first, 2: second}}; this is a {type(fits).__name__}.")
    if len(fits) < 2:
        raise ReportError(f"{len(fits)} fit: how far seeds part takes two embeddings at least. Train more seeds.")
    described = {}
    for name, fit in fits.items():
        rows = fitted_rows(check_fit(fit))
        described[name] = {
            "protected words": sorted(rows.protected_words.tolist()),
            "attribute words": sorted(rows.attribute_words.tolist()),
            "connections": list(rows.connections),
            "pairs": len(rows.distance),
            "model": str(fit.attrs.get("model")),
        }
    first = next(iter(described))
    for name, found in described.items():
        differ = [what for what, value in found.items() if value != described[first][what]]
        if differ:
            raise ReportError(
                f"The fits of {first!r} and {name!r} have other {' and '.join(differ)}, so their contrasts are not "
                "about the same. Make the tables of the words that all seeds have, and fit the same model."
            )


def _verdicts(intervals: list[Floats]) -> "pd.DataFrame":
    """Count how many seeds settle each contrast, and how."""
    import pandas as pd

    ends = np.stack(intervals)
    counts = pd.DataFrame(
        {
            "seeds": len(ends),
            "nearer": (ends[..., 1] < 0).sum(axis=0),
            "farther": (ends[..., 0] > 0).sum(axis=0),
        }
    )
    counts["not_settled"] = counts["seeds"] - counts["nearer"] - counts["farther"]
    counts["agree"] = counts[["nearer", "farther", "not_settled"]].max(axis=1) == counts["seeds"]
    return counts


def _facts(fits: "Mapping[Hashable, xr.DataTree]") -> dict[str, Any]:
    """Return what was compared, from the first fit where all have the same."""
    first = next(iter(fits.values()))
    tables = {name: fit_attribute(fit, "table") for name, fit in fits.items()}
    table, sizes = tables[next(iter(fits))], first["constant_data"].sizes
    seeds = {int(fit_attribute(fit, "seed")) for fit in fits.values()}
    problems = [
        f"Seed {name}: the sampler did not converge. {' '.join(found)}"
        for name, fit in fits.items()
        if (found := fit_attribute(fit, "convergence_problems"))
    ]
    return {
        "study": str(table.get("study", "a table without a study")),
        "embeddings": {name: str(each.get("embedding", {}).get("name", "not named")) for name, each in tables.items()},
        "protected_words": sizes["protected_word"],
        "attribute_words": sizes["attribute_word"],
        "pairs": len(fitted_rows(first).distance),
        "lost_words": lost_by_list(table.get("lost_words", [])),
        "max_lost": table.get("max_lost", MAX_LOST),
        "model": fit_attribute(first, "model")["name"],
        "sampler": str(fit_attribute(first, "sampler")),
        "settings": {
            **{name: fit_attribute(first, name) for name in ("draws", "tune", "chains")},
            **({"random_seed": seeds.pop()} if len(seeds) == 1 else {}),
        },
        "doubts": [*problems, *(doubt.text for doubt in data_doubts(first))],
    }


def _parted(draws: list[Floats], errors: Floats, hdi_prob: float, rng: np.random.Generator) -> "pd.DataFrame":
    """Return estimates of each contrast over seeds, and what the word lists and the seed add to its spread."""
    import pandas as pd
    import xarray as xr

    def summary(values: Floats) -> "pd.DataFrame":
        array = xr.DataArray(values[None], dims=("chain", "draw", "row"))
        return estimates(array, hdi_prob=hdi_prob, independent=_DRAWS)[list(MOMENTS)]

    parts = []
    for start in range(0, errors.shape[1], _AT_ONCE):
        some = [each[:, start : start + _AT_ONCE] for each in draws]
        means = np.stack([each.mean(axis=0) for each in some])
        lists_sd = np.sqrt(np.mean([each.var(axis=0, ddof=1) for each in some], axis=0))
        mean, tau = seed_sd_draws(means, errors[:, start : start + _AT_ONCE], _DRAWS, rng)
        # What the words leave open, from the posterior of one of the seeds at a time.
        which = rng.integers(len(some), size=_DRAWS)
        chosen = [rng.integers(len(each), size=int((which == at).sum())) for at, each in enumerate(some)]
        shared = np.concatenate([each[rows] - each.mean(axis=0) for each, rows in zip(some, chosen, strict=True)])
        part = summary(mean + shared)
        following = summary(mean + shared + tau * rng.standard_normal(tau.shape))
        part["next_low"], part["next_high"] = following["hdi_low"], following["hdi_high"]
        part["lists_sd"] = lists_sd
        for name, values in (("seed_sd", tau), ("seed_share", tau**2 / (tau**2 + lists_sd**2))):
            part[[name, f"{name}_low", f"{name}_high"]] = summary(values)[["mean", "hdi_low", "hdi_high"]]
        parts.append(part)
    return pd.concat(parts)

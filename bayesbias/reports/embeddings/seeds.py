"""Comparison of contrasts in embeddings of several seeds: uncertainty from the word lists and from the seed."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.results import NO_PROOF, Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import Statement, StatementList, percent_text, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.intervals import common_mean, estimate_frame
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.fitted.fits import check_fit, fit_attribute
from bayesbias.reports.embeddings.seed_conclusions import contrast_statement, disagreement, limits, stability, verdict
from bayesbias.reports.posterior.contrasts import contrast_draws, contrasts
from bayesbias.reports.posterior.doubts import data_doubts
from bayesbias.tables.schema import lost_by_list

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SEED_SD_PRIOR = 0.1
"""Scale of the half-Normal prior of the standard deviation between seeds, in units of cosine distance."""

_SHOWN = (
    *("contrast", "protected_group", "protected_word", "stability", "mean", "hdi_low", "hdi_high"),
    *("next_low", "next_high", "nearer", "farther", "not_settled"),
    *("lists_sd", "seed_sd", "seed_sd_low", "seed_sd_high"),
    *("seed_share", "seed_share_low", "seed_share_high"),
)
_KEYS = ["contrast", "protected_group", "protected_word"]
_DRAWS, _GRID = 20_000, 2_000
_AT_ONCE = 50  # contrasts whose draws are in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class SeedComparison(Result):
    """Comparison returned by `compare_seeds`; printed, whether the seeds agree. Units are those of cosine distance.

    Parameters
    ----------
    contrasts : pandas.DataFrame
        One row for each contrast: its name and words as in `bayesbias.contrasts`; `stability`: ``"stable"`` if all
        seeds, their average, and one more seed settle it in the same way, ``"not settled"`` if none of these does,
        ``"open"`` if all seeds agree and the others do not, or ``"seeds disagree"``; the number of `seeds`; `nearer`,
        `farther` and `not_settled`, the number of seeds with each conclusion (from the interval of one embedding), and
        `agree`, whether all conclusions are the same; `mean`, `sd`, `hdi_low`, `hdi_high`, the contrast on average over
        seeds like these, with the word lists' uncertainty; `next_low` to `next_high`, the interval of the contrast in
        an embedding of one more seed; `lists_sd`, the standard deviation from the word lists in one embedding;
        `seed_sd`, the posterior mean of the standard deviation between seeds, with `seed_sd_low` to `seed_sd_high`; and
        `seed_share`, the seed's share of the variance of one embedding's contrast, with `seed_share_low` to
        `seed_share_high`.
    by_seed : pandas.DataFrame
        The rows of `bayesbias.contrasts` for each fit, with a first column `seed`.
    facts
        `study`, `embeddings` (name by seed), `protected_words`, `attribute_words`, `pairs`, `lost_words` (by list),
        `max_lost`, `model`, `sampler`, `settings` (draws and tuning steps of a chain, chains, and the seed, if all fits
        have the same), and `doubts` about the fits.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Random seed of the draws.
    """

    contrasts: "pd.DataFrame"
    by_seed: "pd.DataFrame"
    facts: dict[str, Any]
    hdi_prob: float
    random_seed: int

    def __repr__(self) -> str:
        return f"SeedComparison({self.by_seed['seed'].nunique()} seeds, {len(self.contrasts)} contrasts)"

    @property
    def verdict(self) -> Statement:
        """Statement on whether the contrasts are stable; its kind is the `stability` of the first."""
        return verdict(rows_of(self.contrasts))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        rows = rows_of(self.contrasts)
        seeds = self.by_seed["seed"].nunique()
        doubts = tuple(Statement("fits", text) for text in self.facts["doubts"])
        disagreements = tuple(disagreement(row) for row in rows if not row["agree"])
        return (
            StatementList("Beware", doubts),
            StatementList("", (self.verdict,), bulleted=False),
            StatementList("Beware: the seeds disagree", disagreements),
            StatementList(
                f"Over {seeds} seeds ({percent_text(self.hdi_prob)} HPDI, in units of cosine distance)",
                tuple(map(contrast_statement, rows)),
            ),
            StatementList("What it does not show", limits(seeds, SEED_SD_PRIOR)),
        )

    @cached_property
    def contents(self) -> Contents:
        """Whether contrasts are stable over seeds, the numbers over seeds and of each seed, and how to repeat it."""
        facts, seeds = self.facts, self.by_seed["seed"].nunique()
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        lost = tuple(
            Statement("lost words", f"{name}: {name_some(words, 20)}.") for name, words in facts["lost_words"].items()
        )
        apart = tuple(part for part in self.parts if part.title.startswith("Beware: "))
        other_columns = [name for name in self.by_seed.columns if name not in ("sd", "ess_tail", "r_hat")]
        return Contents(
            title=f"Are the contrasts of {facts['study']} stable over seeds?",
            about=f"{seeds} embeddings that differ in the seed of their training, model {facts['model']}.",
            diagnostics=tuple(Statement("fits", text) for text in facts["doubts"]),
            verdict=self.verdict.text,
            parts=(*apart, *((StatementList("Lost words", lost),) if lost else ())),
            tables={
                "contrasts": ResultTable(
                    self.contrasts,
                    "Over seeds",
                    f"Contrasts over seeds, in units of cosine distance, {prob}; below 0, associated words are nearer",
                    _SHOWN,
                    differences=True,
                    note="A contrast is stable if all seeds, their average, and the interval of one more seed "
                    "settle it in the same way; not settled if none of these does; open where the seeds agree and "
                    "the others do not.",
                ),
                "by_seed": ResultTable(
                    self.by_seed,
                    "Each seed alone",
                    f"Contrasts in each embedding, {prob}",
                    tuple(map(str, other_columns)),
                    differences=True,
                    folded=True,
                ),
            },
            figures={
                "seeds": ResultFigure(
                    "plot_seeds",
                    f"Posterior means (points) and {prob} (lines) of the contrasts in each embedding and over seeds, "
                    "in units of cosine distance.",
                )
            },
            limits=(*self.parts[-1].statements, Statement("bias", NO_PROOF)),
            settings={
                "Study": facts["study"],
                "Embeddings": ", ".join(dict.fromkeys(facts["embeddings"].values())),
                "Model": facts["model"],
                "Sampler": facts["sampler"],
                "Each fit": ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts["settings"].items()),
                "Seed of the draws": str(self.random_seed),
                "Interval": prob,
            },
            code=self._code(),
        )

    def _code(self) -> str:
        facts = self.facts
        options = "".join(f", {name}={value}" for name, value in facts["settings"].items())
        lost = f", max_lost={facts['max_lost']}" if facts["max_lost"] != MAX_LOST else ""
        return (
            f"vectors = {{seed: PATH, ...}}  # {len(facts['embeddings'])} embeddings, by seed\n"
            "fits = {}\n"
            "for seed, path in vectors.items():\n"
            f"    table = bb.distance_table(path, {json.dumps(facts['study'])}{lost})\n"
            f"    fits[seed] = bb.fit(table, {json.dumps(facts['model'])}{options})\n"
            f"compared = bb.compare_seeds(fits, random_seed={self.random_seed})\n"
            'bb.write(compared, "seeds.html")'
        )


def compare_seeds(
    fits: "Mapping[Hashable, xr.DataTree]",
    *,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> SeedComparison:
    """Compare the contrasts of one study in embeddings that differ only in the seed of their training.

    Parameters
    ----------
    fits
        Fit of each embedding's distance table, by seed (or any other name), with the same words and the same model.
    baseline, level, scope
        As in `bayesbias.contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the draws. None draws one and records it.

    Returns
    -------
    SeedComparison
        Frames `contrasts` and `by_seed`; printed, whether the seeds agree.

    Raises
    ------
    ReportError, FitError, ArgumentError
        If there are fewer than two fits, the fits differ in words, pairs or models, or an argument is not usable.

    Notes
    -----
    The contrast of seed s has the posterior mean m_s, with a Monte Carlo error e_s. All seeds have the same words, so
    the error L from the choice of words, with the posterior's spread, is common to them, and the m_s differ by the seed
    alone:

        m_s ~ Normal(mu + L, tau^2 + e_s^2),    mu flat,    tau ~ HalfNormal(0.1)

    (Gelman, Carlin, Stern, Dunson, Vehtari and Rubin, Bayesian Data Analysis, 3rd ed., section 5.4), drawn from a grid
    of tau. The contrast on average over seeds is mu with L; that of one more seed also has tau. The seed's share is
    tau^2 / (tau^2 + lists_sd^2).

    Examples
    --------
    >>> comparison = bb.compare_seeds({1: fit, 2: fit}, random_seed=1)
    >>> comparison.contrasts[["contrast", "seeds", "not_settled", "agree"]]
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
    draws = [_chained(contrast_draws(fit, baseline=baseline, level=level, scope=scope)) for fit in fits.values()]
    errors = np.array([(frame["sd"] / np.sqrt(frame["ess_bulk"])).to_numpy() for frame in frames.values()])
    first = next(iter(frames.values()))
    frame = pd.concat(
        [
            first[_KEYS].reset_index(drop=True),
            _conclusion_counts([frame[["hdi_low", "hdi_high"]].to_numpy() for frame in frames.values()]),
            _estimates_over_seeds(draws, errors, hdi_prob, np.random.default_rng(seed)).reset_index(drop=True),
        ],
        axis=1,
    )
    frame.insert(len(_KEYS), "stability", [stability(row) for row in rows_of(frame)])
    return SeedComparison(
        contrasts=EstimateFrame(frame),
        by_seed=EstimateFrame(by_seed),
        facts=_facts(fits),
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def seed_sd_draws(means: Floats, errors: Floats, samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws of the mean over seeds and of the standard deviation between them, each (samples, quantities).

    `means` and `errors`, of shape (seeds, quantities), are estimates and their Monte Carlo standard errors.

    >>> rng = np.random.default_rng(1)
    >>> mean, sd = seed_sd_draws(np.array([[0.1], [0.1], [0.3], [0.3]]), np.zeros((4, 1)), 4_000, rng)
    >>> float(round(mean.mean(), 2)), float(round(sd.mean(), 1))
    (0.2, 0.1)
    """
    # The grid is denser near 0, where most of the posterior mass lies with few seeds.
    nodes = 5 * SEED_SD_PRIOR * np.linspace(0, 1, _GRID + 1)[1:] ** 2
    tau, mean = np.empty((2, samples, means.shape[1]))
    for column in range(means.shape[1]):
        variances = nodes[:, None] ** 2 + errors[:, column] ** 2
        centre, precision, log_density = common_mean(means[:, column], variances)
        log_density = log_density - 0.5 * (nodes / SEED_SD_PRIOR) ** 2
        mass = np.exp(log_density - log_density.max()) * np.gradient(nodes)
        chosen = np.searchsorted(np.cumsum(mass) / mass.sum(), rng.random(samples)).clip(max=_GRID - 1)
        tau[:, column] = nodes[chosen]
        mean[:, column] = rng.normal(centre[chosen], 1 / np.sqrt(precision[chosen]))
    return mean, tau


def _chained(draws: "xr.DataTree") -> Floats:
    """Return draws of contrasts chain after chain, shape (draws, contrasts), in the order of `contrasts`."""
    arrays = [values.to_numpy() for values in draws["posterior"].data_vars.values()]
    return np.concatenate([array.reshape(array.shape[0] * array.shape[1], -1) for array in arrays], axis=1)


def _check_fits(fits: Any) -> None:
    if not isinstance(fits, Mapping):
        raise ReportError(f"fits is a {type(fits).__name__}. Give fits by seed, such as {{1: first, 2: second}}.")
    if len(fits) < 2:
        raise ReportError(f"fits has {len(fits)} fit; a comparison of seeds needs at least 2. Train more seeds.")
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
    for name, description in described.items():
        differ = [label for label, value in description.items() if value != described[first][label]]
        if differ:
            raise ReportError(
                f"The fits of {first!r} and {name!r} differ in {' and '.join(differ)}, so their contrasts cannot be "
                "compared. Build the tables from the words that all seeds have, and fit the same model."
            )


def _conclusion_counts(intervals: list[Floats]) -> "pd.DataFrame":
    """Return the number of seeds with each conclusion, for each contrast."""
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
    """Return `SeedComparison.facts`; facts that all fits share are from the first."""
    first = next(iter(fits.values()))
    tables = {name: fit_attribute(fit, "table") for name, fit in fits.items()}
    table, sizes = tables[next(iter(fits))], first["constant_data"].sizes
    seeds = {int(fit_attribute(fit, "random_seed")) for fit in fits.values()}
    problems = [
        f"Seed {name}: the sampler did not converge. {' '.join(convergence_problems)}"
        for name, fit in fits.items()
        if (convergence_problems := fit_attribute(fit, "convergence_problems"))
    ]
    return {
        "study": str(table.get("study", "a table without a study")),
        "embeddings": {
            name: str(table_facts.get("embedding", {}).get("name", "not named")) for name, table_facts in tables.items()
        },
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


def _estimates_over_seeds(
    draws: list[Floats], errors: Floats, hdi_prob: float, rng: np.random.Generator
) -> "pd.DataFrame":
    """Return estimates of each contrast over seeds, and its spread from the word lists and from the seed."""
    import pandas as pd

    def summary(values: Floats) -> "pd.DataFrame":
        return estimate_frame(values, {}, hdi_prob)

    parts = []
    for start in range(0, errors.shape[1], _AT_ONCE):
        block = [seed_draws[:, start : start + _AT_ONCE] for seed_draws in draws]
        means = np.stack([seed_draws.mean(axis=0) for seed_draws in block])
        lists_sd = np.sqrt(np.mean([seed_draws.var(axis=0, ddof=1) for seed_draws in block], axis=0))
        mean, tau = seed_sd_draws(means, errors[:, start : start + _AT_ONCE], _DRAWS, rng)
        # The error from the words is drawn from the posterior of one of the seeds at a time.
        counts = np.bincount(rng.integers(len(block), size=_DRAWS), minlength=len(block))
        chosen = [rng.integers(len(seed_draws), size=count) for seed_draws, count in zip(block, counts, strict=True)]
        lists_error = np.concatenate(
            [seed_draws[rows] - seed_draws.mean(axis=0) for seed_draws, rows in zip(block, chosen, strict=True)]
        )
        part = summary(mean + lists_error)
        next_seed = summary(mean + lists_error + tau * rng.standard_normal(tau.shape))
        part["next_low"], part["next_high"] = next_seed["hdi_low"], next_seed["hdi_high"]
        part["lists_sd"] = lists_sd
        for name, values in (("seed_sd", tau), ("seed_share", tau**2 / (tau**2 + lists_sd**2))):
            part[[name, f"{name}_low", f"{name}_high"]] = summary(values)[["mean", "hdi_low", "hdi_high"]]
        parts.append(part)
    return pd.concat(parts)

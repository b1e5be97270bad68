"""Comparison of contrasts in embeddings of several seeds: uncertainty from the word lists and from the seed."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import NO_PROOF, Contents, Result, ResultFigure, ResultTable, call_options
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.changes.training_statements import (
    SMALL_SHARE,
    contrast_statement,
    disagreement,
    reading_over_trainings,
    seeds_agree,
    training_limits,
    verdict,
)
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import common_mean, draw_nodes
from bayesbias.models.fits import check_fit, fit_attribute, fitted_rows, fitted_table
from bayesbias.reports.posterior.contrasts import contrast_draws, contrasts
from bayesbias.reports.posterior.doubts import data_doubts
from bayesbias.tables.schema import lost_by_list

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SD_PRIOR = 0.1
"""Scale of the half-Normal that bounds standard deviations between trainings, in units of cosine distance."""
_GRID = 2_000
_GRID_OF_TWO = 160
_DRAWS = 20_000
_AT_ONCE = 50  # contrasts whose draws are in memory at once
_KEYS = ["contrast", "protected_group", "protected_word"]


def check_trainings(fits: Any, resampled: Any) -> None:
    """Raise a `ReportError` if the fits cannot be compared."""
    if resampled is not None and (not isinstance(resampled, Mapping) or len(resampled) < 2):
        raise ReportError("resampled: give at least 2 fits of trainings on resampled documents, by seed.")
    if not isinstance(fits, Mapping):
        raise ReportError(f"fits is a {type(fits).__name__}. Give fits by seed, such as {{1: first, 2: second}}.")
    if len(fits) < 2:
        raise ReportError(f"fits has {len(fits)} fit; a comparison of seeds needs at least 2. Train more seeds.")
    described = {}
    named = {f"resample {name}": fit for name, fit in (resampled or {}).items()}
    for name, fit in {**fits, **named}.items():
        rows = fitted_rows(check_fit(fit))
        described[name] = {
            "protected words": sorted(rows.protected_words.tolist()),
            "attribute words": sorted(rows.attribute_words.tolist()),
            "pairs": len(rows.distance),
            "groups or connections": _digest(fit),
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


def _digest(fit: "xr.DataTree") -> int:
    """Return a number that tells the groups and connections of pairs, whatever the order of the rows."""
    import pandas as pd

    labels = fitted_table(fit)[["protected_word", "protected_group", "attribute_word", "connection"]].astype(str)
    return int(pd.util.hash_pandas_object(labels, index=False).sum())


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
    seed: int,
) -> "pd.DataFrame":
    """Return estimates of each contrast over seeds, and its spread from word lists, seeds and documents.

    `resampled` holds the posterior means of trainings on resampled documents, and their Monte Carlo standard errors.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)

    def summary(values: Floats) -> "pd.DataFrame":
        return frame_of_draws(values, {}, hdi_prob)

    parts = []
    for start in range(0, errors.shape[1], _AT_ONCE):
        block = [seed_draws[:, start : start + _AT_ONCE] for seed_draws in draws]
        means = np.stack([seed_draws.mean(axis=0) for seed_draws in block])
        lists_sd = np.sqrt(np.mean([seed_draws.var(axis=0, ddof=1) for seed_draws in block], axis=0))
        columns = slice(start, start + _AT_ONCE)
        if resampled is None:
            mean, tau = seed_sd_draws(means, errors[:, columns], _DRAWS, rng)
            omega = np.zeros_like(tau)
        else:
            of_samples = (resampled[0][:, columns], resampled[1][:, columns])
            mean, tau, omega = both_sd_draws(means, errors[:, columns], of_samples, _DRAWS, rng)
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


_SHOWN = (
    *("contrast", "protected_group", "protected_word", "reading", "mean", "hdi_low", "hdi_high"),
    *("next_low", "next_high", "nearer", "farther", "not_settled"),
    *("lists_sd", "seed_sd", "seed_sd_low", "seed_sd_high"),
    *("seed_share", "seed_share_low", "seed_share_high"),
    *("documents_low", "documents_high", "document_sd", "document_sd_low", "document_sd_high"),
    *("document_share", "document_share_low", "document_share_high"),
)


@dataclass(frozen=True, eq=False, repr=False)
class TrainingComparison(Result):
    """Comparison returned by `compare_trainings`, in cosine distance; `print` says whether the seeds agree.

    Parameters
    ----------
    contrasts : pandas.DataFrame
        One row for each contrast:

        - its name and words, as in `bayesbias.contrasts`;
        - `reading`: ``"stable"`` if seeds, their average, and one more seed settle it in the same way,
          ``"not settled"`` if none of these does, ``"open"`` if seeds agree and the others do not, or
          ``"seeds disagree"``;
        - `seeds`: their number; `nearer`, `farther`, `not_settled`: the number of seeds with each reading, from the
          interval of one embedding;
        - `agree`: whether all conclusions are the same, or differ though the seed has less than 20 % of the variance
          and no seed contradicts another;
        - `mean`, `sd`, `hdi_low`, `hdi_high`: the contrast on average over seeds like these, with the uncertainty of
          the word lists; `next_low` to `next_high`: its interval in an embedding of one more seed;
        - `lists_sd`: standard deviation from the word lists in one embedding; `seed_sd`: posterior mean of the standard
          deviation between seeds, `seed_sd_low` to `seed_sd_high` its interval;
        - `seed_share`: the seed's share of the variance of one embedding's contrast, `seed_share_low` to
          `seed_share_high` its interval;
        - with trainings on resampled documents, `documents_low` to `documents_high`: the interval on average over seeds
          and over samples of such documents; `document_sd`, `document_share` and their intervals, as for the seed.
    by_seed : pandas.DataFrame
        The rows of `bayesbias.contrasts` for each fit, with a first column `seed`.
    facts
        `study`, `embeddings` (name by seed), `protected_words`, `attribute_words`, `pairs`, `lost_words` (by list),
        `max_lost`, `model`, `sampler`, `settings` (draws and tuning steps of a chain, chains, and the seed, if all fits
        have the same), `resamples`, the number of trainings on resampled documents, `baseline`, `level` and `scope`,
        and `doubts` about the fits.
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
        return (
            f"TrainingComparison({counted(len(self.facts['embeddings']), 'seed')}, "
            f"{counted(len(self.contrasts), 'contrast')})"
        )

    @property
    def verdict(self) -> Statement:
        """Statement on whether the contrasts are stable; its kind is the `reading` of the first."""
        return verdict(rows_of(self.contrasts))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        rows = rows_of(self.contrasts)
        seeds = len(self.facts["embeddings"])
        doubts = tuple(Statement("fits", text) for text in self.facts["doubts"])
        disagreements = tuple(disagreement(row) for row in rows if not row["agree"])
        return (
            StatementList("Beware", doubts),
            StatementList("", (self.verdict,), bulleted=False),
            StatementList("Beware: the seeds disagree", disagreements),
            StatementList(
                f"Over {counted(seeds, 'seed')} ({percent_text(self.hdi_prob)} HPDI, in units of cosine distance)",
                tuple(map(contrast_statement, rows)),
            ),
            StatementList("What it does not show", training_limits(seeds, self.facts["resamples"], SD_PRIOR)),
        )

    @cached_property
    def contents(self) -> Contents:
        """Whether contrasts are stable over seeds, the numbers over seeds and of each seed, and how to repeat it."""
        facts, seeds = self.facts, len(self.facts["embeddings"])
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        samples = f", and {facts['resamples']} trained on resampled documents" if facts["resamples"] else ""
        lost = tuple(
            Statement("lost words", f"{name}: {name_some(words, 20)}.") for name, words in facts["lost_words"].items()
        )
        apart = tuple(part for part in self.parts if part.title.startswith("Beware: "))
        other_columns = [name for name in self.by_seed.columns if name not in ("sd", "ess_tail", "r_hat")]
        return Contents(
            title=f"Are the contrasts of {facts['study']} stable over seeds?",
            about=f"{seeds} embeddings that differ in the seed of their training{samples}, model {facts['model']}.",
            diagnostics=tuple(Statement("fits", text) for text in facts["doubts"]),
            verdict=self.verdict.text,
            parts=(*apart, *((StatementList("Lost words", lost),) if lost else ())),
            tables={
                "contrasts": ResultTable(
                    self.contrasts,
                    "Over seeds",
                    f"Contrasts over seeds, in units of cosine distance, {prob}; below 0, associated words are nearer",
                    tuple(name for name in _SHOWN if name in self.contrasts),
                    differences=True,
                    note="A contrast is stable if all seeds, their average, and the interval of one more seed "
                    "settle it in the same way; not settled if none of these does; open where the seeds agree and "
                    "the others do not. Seeds with different conclusions agree if the seed has less than "
                    f"{percent_text(SMALL_SHARE)} of the variance and none contradicts another.",
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
                "trainings": ResultFigure(
                    "plot_trainings",
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
        comparison_options = call_options(
            baseline=(facts["baseline"], "associated"),
            level=(facts["level"], "overall"),
            scope=(facts["scope"], "population"),
            hdi_prob=(self.hdi_prob, HDI_PROB),
        )
        lost = call_options(max_lost=(facts["max_lost"], MAX_LOST))
        count = facts["resamples"]
        resampled = ", resampled=drawn" if count else ""
        drawn = (
            f"drawn = {{seed: FIT, ...}}  # likewise of {counted(count, 'training')} on resampled documents\n"
            if count
            else ""
        )
        return (
            f"vectors = {{seed: PATH, ...}}  # {counted(len(facts['embeddings']), 'embedding')}, by seed\n"
            "fits = {}\n"
            "for seed, path in vectors.items():\n"
            f"    table = bb.distance_table(path, STUDY{lost})\n"
            f"    fits[seed] = bb.fit(table, {json.dumps(facts['model'])}{options})\n"
            f"{drawn}compared = bb.compare_trainings(fits{resampled}{comparison_options}, "
            f"random_seed={self.random_seed})\n"
            'bb.write(compared, "trainings.html")'
        )


def compare_trainings(
    fits: "Mapping[Hashable, xr.DataTree]",
    *,
    resampled: "Mapping[Hashable, xr.DataTree] | None" = None,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> TrainingComparison:
    """Return the contrasts of one study, compared over several trainings: over seeds and samples of documents.

    Parameters
    ----------
    fits
        Fit of each embedding's distance table, by seed (or any other name), with the same words and the same model. The
        embeddings differ only in the seed of their training.
    resampled
        Fits of embeddings that were trained with a seed each on resampled documents of the same corpus
        (`train_embeddings` with ``resample="documents"``). None: what other documents would change is left open.
    baseline, level, scope
        As in `bayesbias.contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the draws. None draws one and records it.

    Returns
    -------
    TrainingComparison
        Frames `contrasts` and `by_seed`; `print` says whether the seeds agree.

    Raises
    ------
    ReportError, FitError, ArgumentError
        If there are fewer than two fits, the fits differ in words, pairs or models, or an argument is not usable.

    Notes
    -----
    **Seeds.** The contrast of seed s has the posterior mean m_s, with a Monte Carlo error e_s. All seeds have the same
    words, so the error L from the choice of words, with the posterior's spread, is common to them, and the m_s differ
    by the seed alone:

        m_s ~ Normal(mu + L, tau^2 + e_s^2),    mu flat,    p(tau) ~ tau / (tau^2 + e^2) HalfNormal(tau; 0.1)

    (Gelman, Carlin, Stern, Dunson, Vehtari and Rubin, Bayesian Data Analysis, 3rd ed., section 5.4), drawn from a grid
    of tau. The prior is that of Jeffreys, with e^2 the mean of e_s^2, and bounded: without errors, mu has the interval
    of Student's t. The contrast on average over seeds is mu with L; that of one more seed also has tau. The seed's
    share is tau^2 / (tau^2 + lists_sd^2).

    **Documents.** A training on resampled documents, with a seed of its own, has

        m_r ~ Normal(nu + L, tau^2 + omega^2 + e_r^2),    nu flat,    omega like tau, with tau^2 + e^2 for e^2

    with a mean of its own, because a sample with replacement repeats documents and lacks others, so that its vectors
    are those of a smaller corpus. tau and omega are drawn from a grid of both. The interval over documents is that of
    the contrast on average over seeds in another sample of such documents, mu with L and omega. The shares are those of
    tau^2 + omega^2 + lists_sd^2.

    Examples
    --------
    >>> comparison = bb.compare_trainings({1: fit, 2: fit}, random_seed=1)
    >>> comparison.contrasts[["contrast", "seeds", "not_settled", "agree"]]
                     contrast  seeds  not_settled  agree
    0  associated - different      2            2   True
    1      associated - human      2            2   True
    2    associated - neutral      2            2   True
    """
    import pandas as pd

    from bayesbias.estimates.frames import EstimateFrame

    seed = resolve_seed(random_seed)
    check_trainings(fits, resampled)
    frames = {
        name: contrasts(fit, baseline=baseline, level=level, scope=scope, hdi_prob=hdi_prob)
        for name, fit in fits.items()
    }
    by_seed = pd.concat(frames.values(), ignore_index=True)
    first = next(iter(frames.values()))
    names = np.empty(len(frames), dtype=object)
    names[:] = list(frames)  # a seed may be a tuple
    by_seed.insert(0, "seed", np.repeat(names, len(first)))
    # Tables may list the words in different orders.
    orders = {name: _places(first, frame) for name, frame in frames.items()}
    frames = {name: frame.iloc[orders[name]] for name, frame in frames.items()}
    draws = [_chained(contrast_draws(fit, baseline=baseline, level=level, scope=scope), first) for fit in fits.values()]
    errors = np.array([(frame["sd"] / np.sqrt(frame["ess_bulk"])).to_numpy() for frame in frames.values()])
    samples = None
    if resampled is not None:
        sample_frames = [
            contrasts(fit, baseline=baseline, level=level, scope=scope, hdi_prob=hdi_prob) for fit in resampled.values()
        ]
        sample_frames = [frame.iloc[_places(first, frame)] for frame in sample_frames]
        samples = (
            np.array([frame["mean"].to_numpy() for frame in sample_frames]),
            np.array([(frame["sd"] / np.sqrt(frame["ess_bulk"])).to_numpy() for frame in sample_frames]),
        )
    frame = pd.concat(
        [
            first[_KEYS].reset_index(drop=True),
            _reading_counts([frame[["hdi_low", "hdi_high"]].to_numpy() for frame in frames.values()]),
            estimates_over_trainings(draws, errors, samples, hdi_prob, seed).reset_index(drop=True),
        ],
        axis=1,
    )
    frame.insert(list(frame.columns).index("not_settled") + 1, "agree", [seeds_agree(row) for row in rows_of(frame)])
    frame.insert(len(_KEYS), "reading", [reading_over_trainings(row) for row in rows_of(frame)])
    return TrainingComparison(
        contrasts=EstimateFrame(frame),
        by_seed=EstimateFrame(by_seed),
        facts=_facts(fits)
        | {"resamples": 0 if resampled is None else len(resampled)}
        | {"baseline": baseline, "level": level, "scope": scope},
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def _places(first: "pd.DataFrame", frame: "pd.DataFrame") -> Integers:
    """Return the places in `frame` of the contrasts of `first`."""
    import pandas as pd

    return pd.MultiIndex.from_frame(frame[_KEYS]).get_indexer(pd.MultiIndex.from_frame(first[_KEYS]))


def _chained(draws: "xr.DataTree", frame: "pd.DataFrame") -> Floats:
    """Return draws of the contrasts of a frame, chain after chain, shape (draws, contrasts)."""
    columns = {}
    for values in draws["posterior"].data_vars.values():
        dims = values.dims[2:]
        chained = values.to_numpy().reshape(-1, *values.shape[2:])
        names = [values[dim].to_numpy().tolist() for dim in dims]
        for place in np.ndindex(*values.shape[2:]):
            labels = {dim: of_dim[number] for dim, of_dim, number in zip(dims, names, place, strict=True)}
            columns[tuple(labels.get(key, "") for key in _KEYS)] = chained[(slice(None), *place)]
    return np.stack([columns[row] for row in frame[_KEYS].itertuples(index=False, name=None)], axis=1)


def _reading_counts(intervals: list[Floats]) -> "pd.DataFrame":
    """Return the number of seeds with each reading, for each contrast."""
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
    return counts


def _facts(fits: "Mapping[Hashable, xr.DataTree]") -> dict[str, Any]:
    """Return `TrainingComparison.facts`; facts that all fits share are from the first."""
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

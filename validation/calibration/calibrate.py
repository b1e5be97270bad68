"""Check the samplers and their intervals by simulation: simulation-based calibration, and two coverage studies.

    python validation/calibration/calibrate.py [--replicates 1000] [--resume] [--out FOLDER] [PART ...]

Writes a CSV file for each part, run.json, results.md and PNG figures. README.md says what they mean.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.arguments import HDI_PROB
from bayesbias.models.data import ModelData, list_names, model_data
from bayesbias.models.diagnostics import SamplerFailedError
from bayesbias.models.samplers.collapsed import collapse, sample_collapsed
from bayesbias.models.samplers.exact import sample_exact
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR, attribute_sample, sample_multivariate
from bayesbias.models.simulate import (
    draw_distances,
    draw_parameters,
    parameter_labels,
    parameter_shapes,
    simulate_table,
)
from bayesbias.models.spec import ModelSpec
from bayesbias.plots.style import COLORS, MARKERS, new_figure, save_figure

FOLDER = Path(__file__).resolve().parent
SEED = 20261120
BINS = 20
_BIN_COLUMNS = [f"bin_{at + 1}" for at in range(BINS)]
# Results are written after so many data sets, so that a run that was stopped goes on with --resume.
_BATCH = 50
REAL_TABLE = "weat7_google_news"


@dataclass(frozen=True)
class Ranked:
    """A model and a sampler that are ranked; each replicate takes `draws`, of which `kept` (thinned) are looked at."""

    model: str
    sampler: str
    draws: int
    kept: int
    controls: bool = True
    again: bool = False

    @property
    def name(self) -> str:
        """What its files are called."""
        design = "" if self.controls else "_without_controls"
        return f"ranks_{self.model}_{self.sampler}{design}{'_again' if self.again else ''}"

    @property
    def seed(self) -> int:
        """The seed of its data sets; `again`, with other ones."""
        return SEED + self.again


RANKED = (
    Ranked("hierarchical", "exact", 99, 99),
    Ranked("no_pooling", "exact", 99, 99),
    Ranked("crossed", "collapsed", 2000, 99),
    Ranked("crossed_per_list", "collapsed", 2000, 99),
    Ranked("hierarchical", "nutpie", 1900, 19),
    Ranked("hierarchical_common_scale", "exact", 99, 99),
    Ranked("multivariate", "gibbs", 1485, 99),
    Ranked("multivariate", "gibbs", 1485, 99, again=True),
    Ranked("multivariate", "gibbs", 1485, 99, controls=False),
)
COVERED = ("hierarchical", "crossed")
COVERAGE_DRAWS = 4000
# NUTS draws depend on each other: a replicate whose worst quantity has fewer effective draws is sampled longer.
_LEAST_ESS = 60
_MOST_LONGER = 2
# Sweeps of the Gibbs sampler before those that are kept.
_WARM_UP = 400

Draws = dict[str, np.ndarray]
Sampler = Callable[[ModelData, int], Draws]
"""Data and a seed -> thinned draws of the top-level parameters; raises `SamplerFailedError` if its diagnostics fail."""


def small_design(*, controls: bool = True) -> pd.DataFrame:
    """Return the pairs of a small study: 8 protected words, 5 + 5 stereotypes, 12 human and 15 neutral words."""
    rows, sizes = [], {"first": 5, "second": 5} | ({"human": 12, "neutral": 15} if controls else {})
    for word in range(8):
        group = "first" if word < 4 else "second"
        for kind, size in sizes.items():
            stereotype = "associated" if kind == group else "different"
            connection = kind if kind in ("human", "neutral") else stereotype
            rows += [(f"p{word}", group, f"{kind}{at}", kind, connection) for at in range(size)]
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    return pd.DataFrame(rows, columns=columns)


def small_data(*, controls: bool = True) -> ModelData:
    """Return the small design as arrays; its distances are to be replaced."""
    return model_data(simulate_table(small_design(controls=controls), "crossed", random_seed=1))


def quantities(draws: Draws, data: ModelData) -> Draws:
    """Return each top-level number and contrast by name: arrays of shape (draws,), or () for the truth."""
    if "residual_covariance" in draws:
        return multivariate_quantities(draws, data)
    flat: Draws = {}
    for name in ("connection_mean", "word_sd", "sigma", "attribute_sd", "nu"):
        if name not in draws:
            continue
        places = list_names(data) if name == "attribute_sd" else data.connections
        values = draws[name]
        if values.ndim and values.shape[-1] == len(places) and values.ndim == draws["connection_mean"].ndim:
            flat |= {f"{name}[{place}]": values[..., at] for at, place in enumerate(places)}
        else:
            flat[name] = values
    return flat | contrasts(draws["connection_mean"], data)


def multivariate_quantities(draws: Draws, data: ModelData) -> Draws:
    """Return the same for the multivariate model: its scales, contrasts, and numbers of its two covariances."""
    labels = parameter_labels(data, bb.load_model("multivariate"))
    flat = {
        f"{name}[{place}]": draws[name][..., at]
        for name in ("connection_mean", "effect_sd", "list_scale")
        for at, place in enumerate(labels.get(name, ()))
    }
    flat |= {name: draws[name] for name in ("attribute_sd", "group_attribute_sd", "sigma", "target_weight")}
    words, between, residual = (draws[name] for name in ("word_mean", "word_covariance", "residual_covariance"))
    own = words[..., 0] - words[..., 1]
    flat["associated - different, these words"] = own.mean(axis=-1)
    flat["associated - different, first word"] = own[..., 0]
    flat["correlation of word effects"] = between[..., 0, 1] / np.sqrt(between[..., 0, 0] * between[..., 1, 1])
    flat["residual correlation"] = residual[..., 0, 1] / np.sqrt(residual[..., 0, 0] * residual[..., 1, 1])
    flat["residual log determinant"] = np.linalg.slogdet(residual)[1]
    return flat | contrasts(draws["connection_mean"], data)


def contrasts(connection_mean: np.ndarray, data: ModelData) -> Draws:
    """Return the mean of associated words minus that of each other connection."""
    at = {name: connection_mean[..., place] for place, name in enumerate(data.connections)}
    return {f"associated - {name}": at["associated"] - at[name] for name in data.connections if name != "associated"}


def exact_sampler(spec: ModelSpec, draws: int) -> Sampler:
    """Return the exact sampler of a model."""

    def sample(data: ModelData, seed: int) -> Draws:
        return sample_exact(data, spec, draws=draws, rng=np.random.default_rng(seed))[0]

    return sample


def collapsed_sampler(spec: ModelSpec, draws: int, kept: int) -> Sampler:
    """Return the collapsed sampler of a model; its draws are in random order, so the first ones are kept."""

    def sample(data: ModelData, seed: int) -> Draws:
        posterior, _ = sample_collapsed(collapse(data, spec), draws=draws, rng=np.random.default_rng(seed))
        return {name: values[:kept] for name, values in posterior.items()}

    return sample


def gibbs_sampler(spec: ModelSpec, draws: int, kept: int) -> Sampler:
    """Return the Gibbs sampler of a model: one chain, thinned."""

    def sample(data: ModelData, seed: int) -> Draws:
        found = sample_multivariate(
            attribute_sample(data), spec, draws=kept, tune=_WARM_UP, chains=1, seed=seed, thin=draws // kept
        )
        return {name: values[0] for name, values in found.items()}

    return sample


def nuts_sampler(spec: ModelSpec, draws: int, kept: int, design: ModelData) -> Sampler:
    """Return nutpie's NUTS of a model, compiled once: every data set goes to the same compiled function."""
    import nutpie
    import pytensor

    from bayesbias.models.pymc_model import build_model
    from bayesbias.models.sampling import TARGET_ACCEPT

    with pytensor.config.change_flags(numba__fastmath=False):
        model = build_model(design, spec)
        compiled = nutpie.compile_pymc_model(model, freeze_model=False, var_names=list(parameter_shapes(design, spec)))

    def sample(data: ModelData, seed: int) -> Draws:
        import arviz as az

        fitted = compiled.with_data(distance=data.distance)
        for longer in range(_MOST_LONGER + 1):
            tree = nutpie.sample(
                fitted,
                draws=draws * 4**longer,
                tune=700,
                chains=1,
                seed=seed,
                progress_bar=False,
                save_warmup=False,
                target_accept=TARGET_ACCEPT,
            )
            posterior = tree["posterior"].to_dataset()
            chain = {name: posterior[name].to_numpy()[0] for name in parameter_shapes(data, spec)}
            ess = min(float(az.ess(values[None])) for values in quantities(chain, data).values())
            if ess >= _LEAST_ESS:
                thin = len(chain["connection_mean"]) // kept
                return {name: values[thin - 1 :: thin][:kept] for name, values in chain.items()}
        raise SamplerFailedError(f"an effective sample size of {ess:.0f}")

    return sample


def sampler_of(model: str, sampler: str, draws: int, kept: int, data: ModelData) -> Sampler:
    """Return a sampler by its name."""
    spec = bb.load_model(model)
    if sampler == "exact":
        return exact_sampler(spec, draws)
    if sampler == "collapsed":
        return collapsed_sampler(spec, draws, kept)
    if sampler == "gibbs":
        return gibbs_sampler(spec, draws, kept)
    return nuts_sampler(spec, draws, kept, data)


def draw_truth(data: ModelData, spec: ModelSpec, rng: np.random.Generator) -> Draws:
    """Return parameters from the prior.

    The multivariate model takes no distance as known better than e = DISTANCE_ERROR: the log likelihood of an attribute
    word, averaged over such errors, is that of a Normal distribution minus e^2 tr(Sigma_j^-1) / 2. That depends on the
    parameters alone, so that it is a factor of their prior, and draws are kept with that probability.
    """
    if not spec.multivariate:
        return draw_parameters(data, spec, rng=rng)
    sample = attribute_sample(data)
    while True:
        truth = draw_parameters(data, spec, rng=rng)
        scale = np.append(truth.get("list_scale", np.empty(0)), 1.0)[sample.list_kind[sample.list_of]]
        roots = np.maximum(np.linalg.eigvalsh(truth["residual_covariance"]), np.finfo(float).tiny)
        loss = DISTANCE_ERROR**2 / 2 * (1 / roots).sum() * (1 / scale**2).sum()
        if rng.random() < np.exp(-loss):
            return truth


def simulated_ranks(
    model: str, sample: Sampler, data: ModelData, *, replicates: int, first: int = 0, seed: int = SEED
) -> tuple[pd.DataFrame, int]:
    """Return the rank of the truth among its posterior draws, and how many replicates the sampler gave up.

    Parameters
    ----------
    model
        Parameters come from its prior, data from the parameters.
    sample
        Draws from the posterior.
    data
        The design.
    replicates
        How many data sets.
    first
        Number of the first one.
    seed
        Of the whole; replicate k has the seed (seed, k).

    Returns
    -------
    ranks : pandas.DataFrame
        A row for each replicate, a column for each quantity: how many draws lie below the truth.
    given_up : int
        Data sets for which the sampler's diagnostics fail. They have no row. That depends on the data and not
        on the truth, so the ranks of the others stay uniform.
    """
    spec, ranks, given_up = bb.load_model(model), [], 0
    for replicate in range(first, first + replicates):
        rng = np.random.default_rng([seed, replicate])
        truth = draw_truth(data, spec, rng)
        drawn = replace(data, distance=draw_distances(data, spec, truth, rng=rng))
        try:
            posterior = sample(drawn, int(rng.integers(2**32)))
        except SamplerFailedError:
            given_up += 1
            continue
        true, found = quantities(truth, data), quantities(posterior, data)
        ranks.append({name: int((found[name] < true[name]).sum()) for name in true})
    return pd.DataFrame(ranks), given_up


def rank_counts(ranks: pd.DataFrame, kept: int) -> pd.DataFrame:
    """Return how many ranks fall in each of 20 bins: a row for each quantity."""
    if (kept + 1) % BINS:
        raise ValueError(f"{kept + 1} ranks do not fall evenly into {BINS} bins.")
    counts = {name: np.bincount(ranks[name] * BINS // (kept + 1), minlength=BINS) for name in ranks}
    return pd.DataFrame.from_dict(counts, orient="index", columns=_BIN_COLUMNS).rename_axis("quantity")


def uniformity(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the chi-square test of uniform ranks for each quantity, beside the counts."""
    test = stats.chisquare(counts, axis=1)
    frame = counts.reset_index()
    frame.insert(1, "chi_square", test.statistic)
    frame.insert(2, "p_value", test.pvalue)
    return frame


def shortest_interval(draws: np.ndarray, prob: float = HDI_PROB) -> tuple[float, float]:
    """Return the highest posterior density interval of draws, as ArviZ computes it for one mode."""
    ordered = np.sort(draws)
    inside = int(np.floor(prob * len(ordered)))
    first = int(np.argmin(ordered[inside:] - ordered[:-inside]))
    return float(ordered[first]), float(ordered[first + inside])


def coverage(
    data: ModelData, truths: Callable[[int, np.random.Generator], Draws], *, replicates: int, seed: int = SEED
) -> tuple[pd.DataFrame, int]:
    """Return how often the 89 % HPDIs of connection means and contrasts hold the truth; data come from `crossed`.

    Parameters
    ----------
    data
        The design.
    truths
        Replicate and source of randomness -> all parameters.
    replicates
        How many data sets.
    seed
        Of the whole.

    Returns
    -------
    coverage : pandas.DataFrame
        A row for each model and quantity.
    given_up : int
        Data sets for which the collapsed sampler would fall back to NUTS; they count for neither model.
    """
    crossed = bb.load_model("crossed")
    samplers = {
        "hierarchical": exact_sampler(bb.load_model("hierarchical"), COVERAGE_DRAWS),
        "crossed": collapsed_sampler(crossed, COVERAGE_DRAWS, COVERAGE_DRAWS),
    }
    records, given_up = [], 0
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, replicate])
        truth = truths(replicate, rng)
        drawn = replace(data, distance=draw_distances(data, crossed, truth, rng=rng))
        seeds = rng.integers(2**32, size=len(samplers))
        try:
            found = {m: sample(drawn, int(s)) for (m, sample), s in zip(samplers.items(), seeds, strict=True)}
        except SamplerFailedError:
            given_up += 1
            continue
        true = _means_and_contrasts(truth, data)
        for model, posterior in found.items():
            for name, values in _means_and_contrasts(posterior, data).items():
                low, high = shortest_interval(values)
                inside = bool(low <= true[name] <= high)
                records.append({"model": model, "quantity": name, "covered": inside, "width": high - low})
    frame = pd.DataFrame(records).groupby(["model", "quantity"], sort=False)
    result = frame.agg(coverage=("covered", "mean"), data_sets=("covered", "size"), mean_width=("width", "mean"))
    result = result.reset_index()
    result["monte_carlo_se"] = np.sqrt(HDI_PROB * (1 - HDI_PROB) / result["data_sets"])
    result["z"] = (result["coverage"] - HDI_PROB) / result["monte_carlo_se"]
    return result, given_up


def _means_and_contrasts(draws: Draws, data: ModelData) -> Draws:
    return quantities({"connection_mean": draws["connection_mean"]}, data)


def coverage_from_prior(replicates: int, *, seed: int = SEED) -> tuple[pd.DataFrame, int]:
    """Return the coverage in the small design, parameters from the prior of `crossed`."""
    data, spec = small_data(), bb.load_model("crossed")
    return coverage(data, lambda _, rng: draw_parameters(data, spec, rng=rng), replicates=replicates, seed=seed)


def coverage_from_prior_again(replicates: int) -> tuple[pd.DataFrame, int]:
    """Return the same with other data sets."""
    return coverage_from_prior(replicates, seed=SEED + 1)


def coverage_from_prior_large(replicates: int) -> tuple[pd.DataFrame, int]:
    """Return the same with five times as many data sets, all of them new."""
    return coverage_from_prior(5 * replicates, seed=SEED + 2)


def coverage_from_posterior(replicates: int) -> tuple[pd.DataFrame, int]:
    """Return the coverage in the design of a real table, parameters from its posterior under `crossed`."""
    table = bb.read_table(bb.bundled("data", "tables", f"{REAL_TABLE}.csv.gz"))
    data, spec = model_data(table), bb.load_model("crossed")
    posterior, _ = sample_collapsed(collapse(data, spec), draws=max(replicates, 1000), rng=np.random.default_rng(SEED))
    names = list(parameter_shapes(data, spec))

    def truth(replicate: int, rng: np.random.Generator) -> Draws:
        return draw_parameters(data, spec, rng=rng, given={name: posterior[name][replicate] for name in names})

    return coverage(data, truth, replicates=replicates)


# --- figures ----------------------------------------------------------------------------------------------


def draw_ranks(frame: pd.DataFrame, title: str) -> Any:
    """Draw a histogram of ranks for each quantity, with the band that holds a bin's count in 99 % of cases."""
    columns = list(COLORS)
    rows: list[list[str | None]] = []
    names = list(frame["quantity"])
    for parameter in ("connection_mean", "word_sd", "sigma"):
        found = [f"{parameter}[{column}]" for column in columns]
        if found[0] in names:
            rows.append([name if name in names else None for name in found])
    rows.append([name if name in names else None for name in (f"associated - {column}" for column in columns)])
    rest = [name for name in names if not any(name in row for row in rows)]
    if len(rest) == 1:
        rows[-1][0] = rest[0]
    else:
        for first in range(0, len(rest), len(columns)):
            part = rest[first : first + len(columns)]
            rows.append([*part, *[None] * (len(columns) - len(part))])
    figure = new_figure(9.0, 1.55 * len(rows) + 0.9)
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    by_name = frame.set_index("quantity")
    total = int(by_name[_BIN_COLUMNS].iloc[0].sum())
    low, high = stats.binom.ppf([0.005, 0.995], total, 1 / BINS)
    for r, row in enumerate(rows):
        for c, name in enumerate(row):
            panel = panels[r, c]
            if name is None:
                panel.set_visible(False)
                continue
            shared_by_all = name in rest
            color = "#7F7F7F" if shared_by_all else COLORS[columns[c]]
            panel.axhspan(low, high, color="#E6E6E6", zorder=0)
            panel.axhline(total / BINS, color="black", linewidth=0.8, zorder=1)
            panel.bar(
                np.arange(BINS) + 0.5, by_name.loc[name, _BIN_COLUMNS].astype(int), width=0.9, color=color, zorder=2
            )
            panel.set_title(f"{name}\np = {by_name.loc[name, 'p_value']:.2g}", fontsize=8)
            panel.tick_params(labelsize=7)
            panel.set_xticks([0, BINS / 2, BINS], ["0", "½", "1"])
            left = c == 0 or row[c - 1] is None
            panel.tick_params(labelleft=left, labelbottom=r == len(rows) - 1 or rows[r + 1][c] is None)
    figure.suptitle(title, fontsize=10)
    figure.supxlabel("Rank of the true value among the posterior draws, as a share", fontsize=9)
    figure.supylabel("Data sets (grey: 99 % band)", fontsize=9)
    return figure


def draw_coverage(frames: dict[str, pd.DataFrame]) -> Any:
    """Draw coverage with three Monte Carlo standard errors, one panel a study."""
    figure = new_figure(9.0, 4.4)
    figure.get_layout_engine().set(w_pad=0.12)
    panels = figure.subplots(1, len(frames), sharey=True, squeeze=False)[0]
    look = {
        "hierarchical": (COLORS["associated"], MARKERS["different"]),
        "crossed": (COLORS["different"], MARKERS["associated"]),
    }
    for panel, (title, frame) in zip(panels, frames.items(), strict=True):
        names = list(dict.fromkeys(frame["quantity"]))
        panel.axvline(HDI_PROB, color="black", linewidth=1, linestyle="--", zorder=1)
        for model, shift in (("hierarchical", 0.13), ("crossed", -0.13)):
            part = frame[frame["model"] == model].set_index("quantity").loc[names]
            color, marker = look[model]
            share = part["coverage"]
            panel.errorbar(
                share,
                np.arange(len(names)) + shift,
                xerr=3 * np.sqrt(share * (1 - share) / part["data_sets"]),
                markersize=5,
                color=color,
                marker=marker,
                linestyle="none",
                label=model,
                zorder=3,
            )
        panel.set_yticks(
            range(len(names)), [name.replace("connection_mean[", "mean of ").rstrip("]") for name in names]
        )
        panel.set_xlim(min(0.5, *(0.95 * one["coverage"].min() for one in frames.values())), 1)
        panel.set_title(title, fontsize=9)
        panel.grid(axis="x", color="#E6E6E6")
        panel.set_axisbelow(True)
    panels[0].invert_yaxis()
    panels[0].legend(loc="lower left", frameon=False, title="Fitted by", fontsize=9)
    figure.supxlabel(
        "Share of data sets whose 89 % HPDI holds the true value (dashed: 0.89; bars: 3 Monte Carlo standard errors)",
        fontsize=9,
    )
    return figure


def draw_figures(out: Path) -> None:
    """Draw what the CSV files in a folder hold."""
    for ranked in RANKED:
        source = out / f"{ranked.name}.csv"
        if source.exists():
            frame = pd.read_csv(source)
            total = int(frame[_BIN_COLUMNS].iloc[0].sum())
            design = "" if ranked.controls else ", no control words"
            design += ", other data sets" if ranked.again else ""
            title = f"{ranked.model}{design}, {ranked.sampler} sampler: {total:,} data sets, {ranked.kept} draws each"
            save_figure(draw_ranks(frame, title), source.with_suffix(".png"), overwrite=True)
    titles = {
        "prior_large": "Parameters from the prior\n(8 protected and 37 attribute words)",
        "posterior": "Parameters from a real posterior\n(WEAT 7, Google News)",
    }
    frames = {
        title: pd.read_csv(out / f"coverage_{name}.csv")
        for name, title in titles.items()
        if (out / f"coverage_{name}.csv").exists()
    }
    if frames:
        save_figure(draw_coverage(frames), out / "coverage.png", overwrite=True)


# --- the run ----------------------------------------------------------------------------------------------


COVERAGE = {
    "coverage_prior": coverage_from_prior,
    "coverage_posterior": coverage_from_posterior,
    "coverage_prior_again": coverage_from_prior_again,
    "coverage_prior_large": coverage_from_prior_large,
}


def write_results(out: Path) -> None:
    """Write results.md: the tables that README.md speaks of, from the CSV files and run.json in a folder."""
    facts = json.loads((out / "run.json").read_text(encoding="utf-8"))
    lines = [
        "# Results of the calibration run",
        "",
        "Written by `calibrate.py`; README.md says what the columns mean.",
        "",
        "## Ranks",
        "",
        "| model | sampler | data sets | given up | quantities | smallest p | p below 0.01 | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    values: list[float] = []
    for ranked in RANKED:
        if ranked.name not in facts:
            continue
        frame, fact = pd.read_csv(out / f"{ranked.name}.csv"), facts[ranked.name]
        worst = frame.loc[frame["p_value"].idxmin()]
        values += list(frame["p_value"])
        lines.append(
            f"| `{ranked.model}`{'' if ranked.controls else ', no controls'}"
            f"{', other data sets' if ranked.again else ''} | {ranked.sampler} | "
            f"{fact['replicates']:,} | {fact['given_up']} | {len(frame)} | "
            f"{worst['p_value']:.2g}, `{worst['quantity']}` | {int((frame['p_value'] < 0.01).sum())} | "
            f"{fact['seconds']:.0f} |"
        )
    p = np.array(values)
    if len(p):
        lines += [
            "",
            f"The whole set: {len(p)} p values, the smallest {p.min():.2g} (Bonferroni's bound at 0.05 is "
            f"{0.05 / len(p):.2g}), {int((p < 0.01).sum())} below 0.01 (expected {0.01 * len(p):.1f}), "
            f"{int((p < 0.05).sum())} below 0.05 (expected {0.05 * len(p):.1f}). Kolmogorov-Smirnov test that p values "
            f"are uniform, as if they were independent: p = {stats.kstest(p, 'uniform').pvalue:.2g}.",
        ]
    for name, title in _COVERAGE_TITLES.items():
        if name not in facts:
            continue
        frame, fact = pd.read_csv(out / f"{name}.csv"), facts[name]
        se = frame["monte_carlo_se"].max()
        lines += [
            "",
            f"## Coverage of the 89 % HPDI: {title}",
            "",
            f"{fact['replicates']:,} data sets, {fact['given_up']} of them given up and counted for neither model; "
            f"{fact['seconds']:.0f} seconds. Monte Carlo standard error {se:.4f}: 0.89 within three of them is "
            f"{HDI_PROB - 3 * se:.3f} to {HDI_PROB + 3 * se:.3f}.",
            "",
            "| quantity | hierarchical | standard errors from 0.89 | mean width | crossed | standard errors from 0.89 "
            "| mean width |",
            "|---|---|---|---|---|---|---|",
        ]
        by_model = {model: part.set_index("quantity") for model, part in frame.groupby("model")}
        for quantity in by_model["crossed"].index:
            row = [by_model[model].loc[quantity] for model in COVERED]
            cells = [f"{one['coverage']:.3f} | {one['z']:+.1f} | {one['mean_width']:.3g}" for one in row]
            lines.append(f"| {quantity} | {' | '.join(cells)} |")
    (out / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


_COVERAGE_TITLES = {
    "coverage_prior": "parameters from the prior",
    "coverage_prior_again": "parameters from the prior, other data sets",
    "coverage_prior_large": "parameters from the prior, five times as many other data sets",
    "coverage_posterior": "parameters from the posterior of WEAT 7, Google News",
}


class Record:
    """run.json and the CSV files of a folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.file = out / "run.json"
        self.facts = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def write(self, name: str, frame: pd.DataFrame, facts: dict[str, Any]) -> None:
        """Write the results of a part and what is known of its run."""
        frame.to_csv(self.out / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
        packages = ("bayesbias", "numpy", "scipy", "nutpie", "pymc")
        versions = {package: version(package) for package in packages}
        self.facts[name] = {**facts, "seed": SEED, "versions": versions}
        self.file.write_text(json.dumps(self.facts, indent=2) + "\n", encoding="utf-8")


def run_ranks(name: str, record: Record, *, replicates: int, resume: bool) -> pd.DataFrame:
    """Rank one model under one sampler, batch by batch."""
    ranked = next(one for one in RANKED if name == one.name)
    facts, counts = {"replicates": 0, "given_up": 0, "seconds": 0.0}, None
    if resume and name in record.facts:
        facts = {key: record.facts[name][key] for key in facts}
        counts = pd.read_csv(record.out / f"{name}.csv", index_col="quantity")[_BIN_COLUMNS]
    data = small_data(controls=ranked.controls)
    sample = sampler_of(ranked.model, ranked.sampler, ranked.draws, ranked.kept, data)
    while facts["replicates"] < replicates:
        start, size = time.perf_counter(), min(_BATCH, replicates - facts["replicates"])
        ranks, given_up = simulated_ranks(
            ranked.model, sample, data, replicates=size, first=facts["replicates"], seed=ranked.seed
        )
        found = rank_counts(ranks, ranked.kept)
        counts = found if counts is None else counts + found
        facts["replicates"] += size
        facts["given_up"] += given_up
        facts["seconds"] = round(facts["seconds"] + time.perf_counter() - start, 1)
        record.write(name, uniformity(counts), facts)
    return uniformity(counts)


def run_coverage(name: str, record: Record, *, replicates: int) -> pd.DataFrame:
    """Measure one coverage."""
    start = time.perf_counter()
    frame, given_up = COVERAGE[name](replicates)
    seconds = round(time.perf_counter() - start, 1)
    data_sets = int(frame["data_sets"].max()) + given_up
    record.write(name, frame, {"replicates": data_sets, "given_up": given_up, "seconds": seconds})
    return frame


def main() -> None:
    """Run all parts, or those that are named, and draw the figures."""
    known = [*(ranked.name for ranked in RANKED), *COVERAGE]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(known)}, figures; default: all")
    parser.add_argument("--replicates", type=int, default=1000, help="data sets a part (default 1000)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: this one)")
    parser.add_argument("--resume", action="store_true", help="go on with ranks where an earlier run was stopped")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.parts if name not in (*known, "figures")]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}")
    if arguments.replicates < 100:
        parser.error("fewer than 100 replicates tell nothing")
    arguments.out.mkdir(parents=True, exist_ok=True)
    record = Record(arguments.out)
    # The matrices are small: with more threads, linear algebra takes longer.
    with threadpool_limits(1):
        for name in arguments.parts or known:
            if name == "figures":
                continue
            if name in COVERAGE:
                frame = run_coverage(name, record, replicates=arguments.replicates)
            else:
                frame = run_ranks(name, record, replicates=arguments.replicates, resume=arguments.resume)
            shown = frame[["quantity", "p_value"]] if "p_value" in frame else frame
            facts = record.facts[name]
            print(f"{name}: {facts['seconds']} s, {facts['given_up']} given up\n{shown.to_string(index=False)}\n")
            sys.stdout.flush()
    draw_figures(arguments.out)
    if record.facts:
        write_results(arguments.out)


if __name__ == "__main__":
    main()

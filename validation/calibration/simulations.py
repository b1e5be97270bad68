"""Simulated data sets of the calibration: designs, truths, samplers, ranks and coverage."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.models.data import ModelData, list_kinds, model_data
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import DISTANCE_ERROR, coordinates_of
from bayesbias.models.multivariate.population import word_means
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.samplers.collapsed import collapse, sample_collapsed
from bayesbias.models.samplers.exact import sample_exact
from bayesbias.models.simulate import (
    draw_distances,
    draw_parameters,
    parameter_labels,
    parameter_shapes,
    simulate_table,
)
from bayesbias.models.spec import LIST_MODEL_PARAMETERS, ModelSpec

SEED = 20261120
BINS = 20
BIN_COLUMNS = [f"bin_{at + 1}" for at in range(BINS)]
REAL_TABLE = "weat7_google_news"
COVERAGE_DRAWS = 4000
# NUTS draws depend on each other: a replicate whose worst quantity has fewer effective draws is sampled longer.
_LEAST_ESS = 60
_MOST_LONGER = 2

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
            rows += [(f"p{word}", group, f"{kind}{number}", kind, connection) for number in range(size)]
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
        places = list_kinds(data) if name == "attribute_sd" else data.connections
        values = draws[name]
        if values.ndim and values.shape[-1] == len(places) and values.ndim == draws["connection_mean"].ndim:
            flat |= {f"{name}[{place}]": values[..., column] for column, place in enumerate(places)}
        else:
            flat[name] = values
    return flat | contrasts(draws["connection_mean"], data)


def multivariate_quantities(draws: Draws, data: ModelData) -> Draws:
    """Return the same for the multivariate model: its scales, contrasts of these words, and numbers of a covariance.

    Words like these are not among them: they are no part of the model that the data come from.
    """
    labels = parameter_labels(data, bb.load_model("multivariate"))
    flat: Draws = {}
    for name in LIST_MODEL_PARAMETERS:
        if name != "effect_sd" and name in draws:
            places = labels[name]
            flat |= {f"{name}[{place}]": draws[name][..., column] for column, place in enumerate(places)}
            flat |= {} if places else {name: draws[name]}
    lists, residual = draws["list_mean"], draws["residual_covariance"][..., 0, :, :]
    groups = np.unique(data.protected_groups, return_inverse=True)[1]
    contrast = lists[..., 0, :] - lists[..., 1, :]
    sides = [contrast[..., groups == group].mean(axis=-1) for group in (0, 1)]
    flat["associated - different, these words"] = (sides[0] - sides[1]) / 2
    flat["first list - second, first group"] = sides[0]
    flat["first list - second, first word"] = contrast[..., 0]
    flat["residual correlation"] = residual[..., 0, 1] / np.sqrt(residual[..., 0, 0] * residual[..., 1, 1])
    flat["residual log determinant"] = np.linalg.slogdet(residual)[1]
    return flat


def contrasts(connection_mean: np.ndarray, data: ModelData) -> Draws:
    """Return the mean of associated words minus that of each other connection."""
    means = {name: connection_mean[..., place] for place, name in enumerate(data.connections)}
    return {
        f"associated - {name}": means["associated"] - means[name] for name in data.connections if name != "associated"
    }


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


def conjugate_sampler(spec: ModelSpec, draws: int, kept: int) -> Sampler:
    """Return the sampler of the multivariate model; its draws are in random order, so the first ones are kept."""

    def sample(data: ModelData, seed: int) -> Draws:
        sampled = sample_list_means(
            attribute_sample(data), data.connections, draws=draws, seed=seed, priors=spec.priors
        )
        return {name: values[:kept] for name, values in sampled.posterior.items()}

    return sample


def nuts_sampler(spec: ModelSpec, draws: int, kept: int, design: ModelData) -> Sampler:
    """Return nutpie's NUTS of a model, compiled once: every data set goes to the same compiled function."""
    import nutpie
    import pytensor

    from bayesbias.models.pymc_form import build_model
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
    if sampler == "conjugate":
        return conjugate_sampler(spec, draws, kept)
    return nuts_sampler(spec, draws, kept, data)


def draw_truth(data: ModelData, spec: ModelSpec, rng: np.random.Generator) -> Draws:
    """Return parameters from the prior.

    The multivariate model takes no distance as known better than e = DISTANCE_ERROR: the log likelihood of an attribute
    word, averaged over such errors, is that of a Normal distribution minus e^2 tr(Sigma^-1) / 2. That depends on the
    parameters alone, so that it is a factor of their prior, and draws are kept with that probability. Means of lists
    have a flat prior: they are the same in all data sets, which changes no rank, since the posterior moves with them.
    """
    if not spec.multivariate:
        return draw_parameters(data, spec, rng=rng)
    sample = attribute_sample(data)
    while True:
        truth = draw_parameters(data, spec, rng=rng)
        loss = add_list_means(truth, sample, rng)
        if rng.random() < np.exp(-(DISTANCE_ERROR**2) / 2 * loss):
            return truth


def add_list_means(truth: Draws, sample: AttributeSample, rng: np.random.Generator) -> float:
    """Put covariances and means of lists into a truth; return the sum of tr(Sigma_j^-1) over attribute words."""
    words = sample.distances.shape[1]
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of)
    groups, size, roots, counts = len(axes.sizes), axes.contrasts, np.sqrt(axes.sizes), np.bincount(sample.list_of)
    strength = float(words * truth["residual_weight"])
    error = stats.invwishart.rvs(strength + size + 1, strength * truth["sigma"] ** 2 * np.eye(size), random_state=rng)
    lower = np.linalg.cholesky(error)
    scale = truth["slope_sd"] / (truth["sigma"] * np.sqrt(words))
    slopes = scale * lower @ rng.standard_normal((size, groups))
    scales, image = np.append(truth.get("list_scale", np.zeros(0)), 1.0), axes.between + axes.within @ slopes
    residual_error, loss, covariances = axes.within @ error @ axes.within.T, 0.0, []
    for place, kind in enumerate(sample.list_kind):
        target = truth["attribute_sd"][kind] ** 2 * np.outer(roots, roots)
        target = target + truth["group_attribute_sd"][kind] ** 2 * np.diag(axes.sizes)
        weight = float(truth["target_weight"][kind])
        lean = stats.invwishart.rvs(weight + groups + 1, weight * target, random_state=rng)
        covariances.append(image @ lean @ image.T + scales[kind] ** 2 * residual_error)
        inverse = np.trace(np.linalg.inv(lean)) + np.trace(np.linalg.inv(error)) / scales[kind] ** 2
        loss += counts[place] * inverse
    effects = np.sqrt(truth["list_effect"]) * rng.standard_normal((len(counts), size)) @ lower.T
    xi = 0.9 * roots + 0.1 * np.arange(len(counts))[:, None]
    truth["list_mean"] = xi @ image.T + effects @ axes.within.T
    truth["word_mean"] = word_means(truth["list_mean"][None], sample.connection_weights)[0]
    truth["residual_covariance"] = np.stack(covariances)
    return float(loss)


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
        true, estimated = quantities(truth, data), quantities(posterior, data)
        ranks.append({name: int((estimated[name] < true[name]).sum()) for name in true})
    return pd.DataFrame(ranks), given_up


def rank_counts(ranks: pd.DataFrame, kept: int) -> pd.DataFrame:
    """Return how many ranks fall in each of 20 bins: a row for each quantity."""
    if (kept + 1) % BINS:
        raise ValueError(f"{kept + 1} ranks do not fall evenly into {BINS} bins.")
    counts = {name: np.bincount(ranks[name] * BINS // (kept + 1), minlength=BINS) for name in ranks}
    return pd.DataFrame.from_dict(counts, orient="index", columns=BIN_COLUMNS).rename_axis("quantity")


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
    """Return how often the 89 % HPDIs of connection means and contrasts contain the truth; data come from `crossed`.

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
            posteriors = {m: sample(drawn, int(s)) for (m, sample), s in zip(samplers.items(), seeds, strict=True)}
        except SamplerFailedError:
            given_up += 1
            continue
        true = _means_and_contrasts(truth, data)
        for model, posterior in posteriors.items():
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

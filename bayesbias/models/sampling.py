"""Fit a model to a distance table: every sampler returns the same DataTree."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, check_rope, resolve_seed
from bayesbias.base.files.settings import outside_foreign_folder
from bayesbias.base.machine import available_cores, check_memory, private_temporaries
from bayesbias.base.number_text import counted
from bayesbias.base.progress import has_audience
from bayesbias.errors import FitError, SamplerWarning, warn_user
from bayesbias.models.coordinates import (
    PARAMETERS,
    bytes_of_covariances,
    bytes_of_draws,
    draws_dataset,
    parameter_count,
)
from bayesbias.models.covariates import CovariatesLike, with_covariates
from bayesbias.models.data import ModelData, compared_part, groups_not_compared, list_kinds, model_data
from bayesbias.models.fits import add_groups, check_groups, finish_fit, judge_fit
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import with_population
from bayesbias.models.numerics.diagnostics import SamplerFailedError, warn_of_problems
from bayesbias.models.pymc_form import build_model
from bayesbias.models.samplers.registry import SAMPLERS, sampler_for
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.models.units import in_unit, model_in_distances, rows_in_distances
from bayesbias.tables.schema import FrameLike, as_frame

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

# Higher than the usual 0.8: short word lists leave word_sd near 0, where larger steps diverge.
TARGET_ACCEPT = 0.9
# Below this number of draws a chain, no diagnostic can be computed.
_FEWEST_DRAWS = 10


def fit(
    table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    sampler: str = "auto",
    draws: int = 2000,
    tune: int = 2000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
    priors: Mapping[str, Any] | None = None,
    groups: Iterable[str] | str = (),
    covariates: CovariatesLike | None = None,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "xr.DataTree":
    """Fit a model to a distance table.

    Parameters
    ----------
    table
        A distance table (`distance_table`, `read_table`).
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    sampler
        ``"exact"`` (models without attribute effects), ``"collapsed"`` (crossed models) and ``"conjugate"`` (the
        multivariate model) draw independently, in about a second; with lost pairs and Student t attribute words,
        ``"conjugate"`` samples in sweeps and takes longer. ``"nuts"``, by PyMC, fits every model and takes minutes;
        with the extra ``nuts``, nutpie draws. ``"auto"`` (default) takes the fastest sampler of the
        model, and NUTS if a diagnostic of that one fails.
    draws, tune, chains
        Posterior draws per chain, tuning steps per chain before them, and number of chains.
    random_seed
        Seed, 0 to 2**32 - 1. The same seed gives the same draws on the same machine. None draws a seed and records it.
    progress
        Whether to show a progress bar, in a terminal or a notebook.
    priors
        Priors in place of the model's own, such as ``{"connection_mean": "Normal(1, 0.2)"}``.
    groups
        Additional groups for ArviZ's functions, as for `bb.models.add_groups`.
    covariates
        Numbers of protected words, for `covariate_effect`: a frame with the column ``word`` and a column for each
        covariate, a series with words as its index, a mapping such as ``{"share_of_women": {"nurse": 0.9}}``, or names
        of columns of the table. Every protected word needs a number; words that the table lacks are left out. The
        default model then does not shrink single words along the covariates; other models take none.
    hdi_prob, rope
        Probability inside the intervals, and region of practical equivalence in units of cosine distance: a half-width,
        or (low, high). They do not change the draws; the fit stores them, and `contrasts`, `conclusions`, `report`,
        `methods` and the rest use them unless they get others.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats`, `observed_data` and `constant_data`. Posterior variables depend on the
        model, and are in units of cosine distance: all models have `connection_mean`, `word_sd` (connection) and
        `word_mean` (protected_word, connection); the paper's has `sigma` (connection). The default model has
        `list_mean` (attribute_group, protected_word), `effect_sd` (effect), `attribute_sd` and `group_attribute_sd`
        (attribute_list), with covariates `covariate_attribute_sd` (attribute_list, covariate), the covariances
        `word_covariance`, and, without a unit, `target_weight`, `residual_weight`, `list_effect`, `slope_sd` and
        `list_scale`. For up to about 50 protected words, its group `covariances` holds
        `residual_covariance` (attribute_group, protected_word, other_protected_word). Root attributes are JSON texts:
        package versions, model and its hash, table hash and provenance, sampler, seed, `hdi_prob`, `rope`,
        diagnostics.

    Notes
    -----
    A group without associated, or without different, attribute words is in no contrast (if other groups have both), and
    no mean of a connection averages over it. The default model still has a mean for each of its lists, so that
    `planned_contrasts` answers questions about it; other models are fitted without its rows.

    Raises
    ------
    TableError, ModelError, FitError, ArgumentError, NotEnoughMemoryError
        If the table, the model, the priors or a setting cannot be used; raised before sampling starts.

    Warns
    -----
    ConvergenceWarning
        Once, naming parameters and remedies, if the diagnostics show that the draws cannot be trusted.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Bayesian method"; each model's own source is in its card (`load_model`).

    Examples
    --------
    >>> fit = bb.fit(table, random_seed=1)
    >>> dict(fit["posterior"]["connection_mean"].sizes)
    {'chain': 4, 'draw': 2000, 'connection': 4}
    """
    frame = as_frame(table)
    draws, tune, chains = (
        check_count(name, value, least=least)
        for name, value, least in (("draws", draws, _FEWEST_DRAWS), ("tune", tune, 1), ("chains", chains, 1))
    )
    seed = resolve_seed(random_seed)
    check_choice("sampler", sampler, ("auto", *SAMPLERS, "nuts"))
    wanted = check_groups(groups)
    spec = load_model(model, priors=priors)
    data, region = model_data(frame), check_rope(rope)
    spec = in_unit(spec, data.scale)
    if covariates is not None:
        data = with_covariates(data, covariates, frame, spec)
    not_compared = groups_not_compared(data)
    if not_compared and not spec.multivariate:
        frame = frame[data.compared[data.protected]]
        data = compared_part(data)
    check_room_for_draws(data, spec, draws * chains)
    # Every sampler sees numbers of the size of cosine distances, whatever the unit of the table.
    rows, model_of_rows = rows_in_distances(data), model_in_distances(spec, data.scale)
    chosen = Settings(draws, tune, chains, seed, has_audience(progress))
    drawn, stats, used = _sample(sampler, rows, model_of_rows, chosen)
    drawn = data.scale.dataset(drawn)
    # Each sampler has its own order.
    posterior = drawn[[name for name in PARAMETERS if name in drawn]]
    settings = {"sampler": used, "draws": draws, "tune": tune, "chains": chains, "random_seed": seed}
    settings["hdi_prob"] = check_probability("hdi_prob", hdi_prob)
    settings |= {"groups_not_compared": not_compared} | ({} if region is None else {"rope": list(region)})
    fitted = finish_fit(posterior, stats, data, spec, frame, settings=settings)
    warn_of_problems(judge_fit(fitted))
    return add_groups(fitted, wanted) if wanted else fitted


@dataclass(frozen=True)
class Settings:
    """The settings of every sampler."""

    draws: int
    tune: int
    chains: int
    random_seed: int
    progress: bool


def _sample(
    sampler: str, data: ModelData, spec: ModelSpec, settings: Settings
) -> tuple["xr.Dataset", "xr.Dataset", str]:
    """Return the draws, the sampler's report on them, and its name."""
    name = sampler_for(spec) if sampler == "auto" else sampler
    if name in SAMPLERS:
        try:
            count, seed = settings.draws * settings.chains, settings.random_seed
            draws, report = SAMPLERS[name].draw(data, spec, count, seed)
            return draws_dataset(draws, data, spec, settings.chains), _sample_stats(report), name
        except SamplerFailedError as error:
            if sampler == name:
                raise FitError(f"The {name} sampler cannot be used here: {error}. Use the sampler 'nuts'.") from error
            warn_user(f"Sampling with NUTS, which takes longer, because {error}.", SamplerWarning)
    with outside_foreign_folder(), private_temporaries():
        tree = _nuts(build_model(data, spec), settings)
    sizes = tree["posterior"].sizes
    if (sizes["chain"], sizes["draw"]) != (settings.chains, settings.draws):
        # Interrupted, NUTS returns its draws so far: half a posterior is none.
        raise KeyboardInterrupt
    dataset = tree["posterior"].to_dataset()
    if spec.multivariate:
        dataset = _with_population(dataset, data, spec, settings)
    return dataset, tree["sample_stats"].to_dataset(), "nuts"


def _with_population(posterior: "xr.Dataset", data: ModelData, spec: ModelSpec, settings: Settings) -> "xr.Dataset":
    """Return the draws of NUTS with the means of words and of words like these, which follow from the draws."""
    drawn = {
        str(name): values.to_numpy().reshape(-1, *values.shape[2:])
        for name, values in posterior.data_vars.items()
        if name in PARAMETERS
    }
    sample = attribute_sample(data)
    drawn |= with_population(drawn["list_mean"], sample, spec.priors, data.connections, settings.random_seed)
    return draws_dataset(drawn, data, spec, settings.chains)


def _sample_stats(error: Mapping[str, np.ndarray]) -> "xr.Dataset":
    """Return a sampler's report on its own error, by connection where it has several numbers."""
    import xarray as xr

    return xr.Dataset(
        {name: (("connection",) if np.size(value) > 1 else (), value.squeeze()) for name, value in error.items()}
    )


def _nuts(model: "pm.Model", settings: Settings) -> "xr.DataTree":
    """Return the draws of the NUTS that PyMC chooses: nutpie's where it is installed, else PyMC's own."""
    import pymc as pm

    if find_spec("nutpie") is None:
        slower = "PyMC's own NUTS samples, which takes longer than nutpie's."
        warn_user(f"{slower} Install nutpie with: pip install 'bayesbias[nuts]'.", SamplerWarning)
    with model, exact_arithmetic():
        try:
            tree: xr.DataTree = pm.sample(
                settings.draws,
                tune=settings.tune,
                chains=settings.chains,
                cores=min(settings.chains, available_cores()),
                random_seed=settings.random_seed,
                var_names=[v.name for v in (*model.free_RVs, *model.deterministics) if v.name in PARAMETERS],
                progressbar=settings.progress,
                quiet=not settings.progress,
                compute_convergence_checks=False,
                nuts={"target_accept": TARGET_ACCEPT},
            )
        except ValueError as error:
            if "Not enough samples" in str(error):  # the error of PyMC's own NUTS for an interrupt during tuning
                raise KeyboardInterrupt from error
            raise
    return tree


def exact_arithmetic() -> Any:
    """Return PyTensor's context without fast-math, with which a warm numba cache gives other draws than a cold one."""
    from pytensor.configdefaults import config

    return config.change_flags(numba__fastmath=False)


def check_room_for_draws(data: ModelData, spec: ModelSpec, draws: int) -> None:
    """Raise `NotEnoughMemoryError` if the draws of this model do not fit in the free memory."""
    sizes = len(data.protected_words), len(data.connections), len(data.attribute_words)
    fewer = "Take fewer draws, or fewer protected words"
    advice = f"{fewer}, or the model 'crossed_per_list'." if spec.multivariate else f"{fewer}."
    what = f"{draws:,} draws of {parameter_count(spec, *sizes):,} parameters"
    check_memory(bytes_of_draws(spec, draws, *sizes), what, advice)
    if spec.multivariate:
        groups = len(np.unique(data.protected_groups))
        lists = len(list_kinds(data) if data.attribute_groups is None else np.unique(data.attribute_groups))
        what = f"{draws:,} draws of the covariances of {groups:,} protected groups in {counted(lists, 'list')}"
        advice = "Take fewer draws, or fewer protected groups, or the model 'crossed_per_list'."
        check_memory(bytes_of_covariances(draws, lists, groups), what, advice)

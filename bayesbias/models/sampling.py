"""Fit a model to a distance table: the same DataTree from every sampler."""

import os
import sys
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.errors import FitError, ModelError, did_you_mean
from bayesbias.models.data import model_data
from bayesbias.models.diagnostics import warn_of_problems
from bayesbias.models.fits import finish_fit, judge_fit
from bayesbias.models.pymc_model import AUXILIARY, build_model
from bayesbias.models.spec import ModelSpec, load_model

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

_LARGEST_SEED = 2**32
# Higher than the usual 0.8: short word lists leave word_sd near 0, where larger steps diverge.
TARGET_ACCEPT = 0.9
# With fewer draws a chain no diagnostic can be computed.
_FEWEST_DRAWS = 10


def fit(
    table: pd.DataFrame,
    model: str | os.PathLike[str] | ModelSpec = "hierarchical",
    *,
    sampler: str = "auto",
    draws: int = 2000,
    tune: int = 2000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
    priors: Mapping[str, Any] | None = None,
) -> "xr.DataTree":
    """Fit a model to a distance table.

    Parameters
    ----------
    table
        A distance table (`distance_table`, `read_table`).
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    sampler
        ``"nutpie"`` or ``"pymc"`` (PyMC's own NUTS). ``"auto"`` takes the fastest that fits the model.
    draws, tune, chains
        Kept draws a chain, tuning steps a chain before them, and chains.
    random_seed
        0 to 2**32 - 1. The same seed gives the same draws. None draws a seed and records it.
    progress
        Show a progress bar if there is a terminal or a notebook to show it in.
    priors
        Priors in place of the model's own, such as ``{"group_mean": "Normal(1, 0.2)"}``.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats`, `observed_data` and `constant_data`. Posterior variables are
        `group_mean`, `word_sd` and `sigma` (connection) and `word_mean` (protected_word, connection), all in
        units of cosine distance. Root attributes are JSON texts: package versions, model and its hash, table
        hash and provenance, sampler, seed and diagnostics.

    Raises
    ------
    TableError, ModelError, FitError
        If table, model, priors or a setting are not usable; before any sampling starts.

    Warns
    -----
    ConvergenceWarning
        Once, naming parameters and what to try, if the diagnostics say that the draws cannot be trusted.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Bayesian method".

    Examples
    --------
    >>> fit = bb.fit(table, random_seed=2)
    >>> dict(fit["posterior"].to_dataset().sizes)
    {'chain': 4, 'draw': 2000, 'connection': 4, 'protected_word': 16}
    """
    for name, value, least in (("draws", draws, _FEWEST_DRAWS), ("tune", tune, 1), ("chains", chains, 1)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise FitError(f"{name}={value!r}: give a whole number of at least {least}.")
    seed = _seed(random_seed)
    spec = load_model(model, priors=priors)
    engine = _engine(sampler)
    data = model_data(table)
    tree = _ENGINES[engine](
        build_model(data, spec),
        draws=draws,
        tune=tune,
        chains=chains,
        seed=seed,
        progress=_has_audience(progress),
    )
    sizes = tree["posterior"].sizes
    if (sizes["chain"], sizes["draw"]) != (chains, draws):
        # Both samplers hand over what they have when they are interrupted: half a posterior is none.
        raise KeyboardInterrupt
    # nutpie returns every free variable, asked for or not.
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars(AUXILIARY, errors="ignore")
    settings = {"sampler": engine, "draws": draws, "tune": tune, "chains": chains, "seed": seed}
    fitted = finish_fit(tree, data, spec, table, settings=settings)
    warn_of_problems(judge_fit(fitted))
    return fitted


def _nutpie(model: "pm.Model", *, draws: int, tune: int, chains: int, seed: int, progress: bool) -> "xr.DataTree":
    import nutpie

    with _exact_arithmetic():
        compiled = nutpie.compile_pymc_model(model)
        tree: xr.DataTree = nutpie.sample(
            compiled,
            draws=draws,
            tune=tune,
            chains=chains,
            seed=seed,
            progress_bar=progress,
            save_warmup=False,
            target_accept=TARGET_ACCEPT,
        )
    return tree


def _pymc(model: "pm.Model", *, draws: int, tune: int, chains: int, seed: int, progress: bool) -> "xr.DataTree":
    import pymc as pm

    with model, _exact_arithmetic():
        try:
            tree: xr.DataTree = pm.sample(
                draws,
                tune=tune,
                chains=chains,
                cores=min(chains, os.cpu_count() or 1),
                random_seed=seed,
                nuts_sampler="pymc",
                var_names=_reported(model),
                progressbar=progress,
                quiet=not progress,
                compute_convergence_checks=False,
                nuts={"target_accept": TARGET_ACCEPT},
            )
        except ValueError as error:
            if "Not enough samples" in str(error):  # what PyMC makes of an interrupt while it tunes
                raise KeyboardInterrupt from error
            raise
    return tree


_ENGINES: dict[str, Callable[..., "xr.DataTree"]] = {"nutpie": _nutpie, "pymc": _pymc}


def _exact_arithmetic() -> Any:
    """Compile without fast-math: with it, a warm numba cache gives other draws than a cold one."""
    from pytensor.configdefaults import config

    return config.change_flags(numba__fastmath=False)


def _reported(model: "pm.Model") -> list[str]:
    variables = [*model.free_RVs, *model.deterministics]
    return [variable.name for variable in variables if variable.name not in AUXILIARY]


def _engine(sampler: str) -> str:
    if sampler == "auto":
        return "nutpie"
    if sampler not in _ENGINES:
        known = ("auto", *_ENGINES)
        raise ModelError(f"There is no sampler {sampler!r}{did_you_mean(sampler, known)}: use {', '.join(known)}.")
    return sampler


def _seed(random_seed: int | None) -> int:
    if random_seed is None:
        return int.from_bytes(os.urandom(4), "little")
    if not isinstance(random_seed, Integral) or not 0 <= random_seed < _LARGEST_SEED:
        raise FitError(f"random_seed={random_seed!r}: give a whole number from 0 to {_LARGEST_SEED - 1}.")
    return int(random_seed)


def _has_audience(progress: bool) -> bool:
    """Whether a progress bar would be seen: in a terminal or a notebook, not in a pipe."""
    return progress and (sys.stderr.isatty() or "ipykernel" in sys.modules)

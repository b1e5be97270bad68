"""Diagnostics of a sampler's draws, as sentences."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.errors import ConvergenceWarning, FitError, name_some, warn_user
from bayesbias.estimates.intervals import TAIL

if TYPE_CHECKING:
    import xarray as xr

RHAT_MAX = 1.01
ESS_PER_CHAIN = 100
BFMI_MIN = 0.3
_LONGER = "Run longer: 4,000 tuning steps and 4,000 draws or more."


class SamplerFailedError(FitError):
    """A diagnostic of a fast sampler failed: NUTS must be used instead of its draws."""


@contextmanager
def singular_fails() -> Iterator[None]:
    """Raise `SamplerFailedError` in place of NumPy's error for a singular matrix."""
    try:
        yield
    except np.linalg.LinAlgError as singular:
        what = "the posterior of the scales has no shape that a proposal can follow"
        raise SamplerFailedError(what) from singular


def convergence_problems(fit: "xr.DataTree") -> list[str]:
    """Return the problems of a fit's draws, one sentence each with a remedy; empty if there are none.

    Checks R-hat (at most 1.01), bulk and tail effective sample size (at least 100 a chain), divergences, tree depth,
    and the energy (E-BFMI at least 0.3). A diagnostic that cannot be computed is a problem. Independent draws have
    none: the exact, the collapsed and the conjugate sampler judge their own error, and fail. Parameters are named with
    the position of their worst value.

    Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Rank-normalization, folding, and localization;
    Betancourt (2016) for E-BFMI.
    """
    stats = fit["sample_stats"].to_dataset() if "sample_stats" in fit.children else {}
    if independent_draws(stats):
        return []
    import arviz_stats  # here, since the import is slow and the samplers above do not need it

    # Weights are too many to judge one by one: nu, which governs them, is judged.
    posterior = fit["posterior"].to_dataset().drop_vars("attribute_weight", errors="ignore")
    ess_min = ESS_PER_CHAIN * posterior.sizes["chain"]
    problems = []
    if posterior.sizes["chain"] < 2:
        problems.append("One chain cannot show whether it found the whole posterior. Use four chains.")
    elif bad := _beyond(arviz_stats.rhat(posterior), above=RHAT_MAX):
        problems.append(f"R-hat is not below {RHAT_MAX} for {name_some(bad, 6)}: the chains disagree. {_LONGER}")
    problems += [
        f"Fewer than {ess_min} effective draws ({method}) of {name_some(bad, 6)}: its numbers are noisy. {_LONGER}"
        for method, prob in (("bulk", None), ("tail", TAIL))
        if (bad := _beyond(arviz_stats.ess(posterior, method=method, prob=prob), below=ess_min))
    ]
    return problems + _nuts_problems(fit, stats)


def independent_draws(stats: Mapping[Any, Any]) -> bool:
    """Whether a sampler's report is that of one without chains, which refuses a grid or weights that it mistrusts."""
    return "edge_mass" in stats or "pareto_khat" in stats


def warn_of_problems(problems: list[str]) -> None:
    """Issue one `ConvergenceWarning` that lists all problems, if there are any."""
    if problems:
        warn_user(
            "The sampler did not converge; do not report these numbers yet.\n- " + "\n- ".join(problems),
            ConvergenceWarning,
        )


def _nuts_problems(fit: "xr.DataTree", stats: Mapping[Any, Any]) -> list[str]:
    import arviz_stats

    problems = []
    if "diverging" in stats and (count := int(stats["diverging"].sum())):
        problems.append(
            f"Divergent transitions: {count}. Part of the posterior was not explored, mostly where word_sd is near 0. "
            "Use more words, or a prior for word_sd with less mass near 0, such as Gamma(2, 20)."
        )
    if "reached_max_treedepth" in stats and (count := int(stats["reached_max_treedepth"].sum())):
        problems.append(
            f"Draws that reached the largest tree depth: {count}. Sampling is slow and may be stuck. {_LONGER}"
        )
    if "energy" in stats:
        energies = np.asarray(arviz_stats.bfmi(fit)["energy"])
        if low := int((~(energies >= BFMI_MIN)).sum()):
            problems.append(
                f"E-BFMI is below {BFMI_MIN} in {low} of {energies.size} chains: the tails were not explored. {_LONGER}"
            )
    return problems


def _beyond(values: "xr.Dataset", *, above: float | None = None, below: float | None = None) -> list[str]:
    """Return the name and the worst position of each variable with a value beyond a limit or a missing one."""
    bad = []
    for name, array in values.data_vars.items():
        numbers = np.asarray(array, dtype=float)
        excess = numbers - above if above is not None else below - numbers
        excess = np.where(np.isnan(excess), np.inf, excess)
        worst = np.unravel_index(int(excess.argmax()), numbers.shape)
        if excess[worst] > 0:
            labels = [str(array[dim].values[index]) for dim, index in zip(array.dims, worst, strict=True)]
            value = "not computable" if np.isnan(numbers[worst]) else f"{numbers[worst]:.4g}"
            bad.append(f"{name}[{', '.join(labels)}] ({value})" if labels else f"{name} ({value})")
    return bad

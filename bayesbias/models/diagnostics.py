"""Whether a sampler's draws can be trusted, said in words."""

from typing import TYPE_CHECKING

from bayesbias.errors import ConvergenceWarning, name_some, warn_user

if TYPE_CHECKING:
    import xarray as xr

RHAT_MAX = 1.01
ESS_PER_CHAIN = 100


def convergence_problems(fit: "xr.DataTree") -> list[str]:
    """Return what is wrong with a fit's draws, one sentence a problem, each with what to try.

    Looks at R-hat (at most 1.01), bulk and tail effective sample size (at least 100 a chain), divergences,
    tree depth, and the energy (E-BFMI at least 0.3).

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Rank-normalization, folding, and localization.
    """
    import arviz as az

    chains = fit["posterior"].sizes["chain"]
    ess_min = ESS_PER_CHAIN * chains
    _, found = az.diagnose(
        fit, rhat_max=RHAT_MAX, ess_threshold=ess_min, show_diagnostics=False, return_diagnostics=True
    )
    problems = []
    if bad := found["rhat"]["bad_params"]:
        problems.append(
            f"R-hat is above {RHAT_MAX} for {_parameters(bad)}: the chains disagree. Run longer (tune=4000, draws=4000)"
        )
    if bad := found["ess"]["bad_params"]:
        problems.append(
            f"fewer than {ess_min} effective draws of {_parameters(bad)}: the interval's ends are noisy. "
            "Take more draws (draws=4000 or more)"
        )
    if count := int(found.get("divergent", {}).get("n_divergent", 0)):
        problems.append(
            f"{count} divergent transitions: part of the posterior was not explored, mostly where word_sd is near 0. "
            "Run longer (tune=4000), or give word_sd a prior with less mass near 0"
        )
    if count := int(found.get("treedepth", {}).get("n_max", 0)):
        problems.append(
            f"{count} draws reached the largest tree depth: sampling is slow and may be stuck. Use tune=4000"
        )
    if len(chains_low := found.get("bfmi", {}).get("failed_chains", [])):
        problems.append(
            f"low E-BFMI in {len(chains_low)} chains: the tails were not explored. Use tune=4000, draws=4000"
        )
    return problems


def warn_of_problems(problems: list[str]) -> None:
    """Give one `ConvergenceWarning` that lists all problems, if there are any."""
    if problems:
        warn_user(
            "The sampler did not converge; do not report these numbers yet.\n- " + "\n- ".join(problems),
            ConvergenceWarning,
        )


def _parameters(bad: list[tuple[str, float]] | list[str]) -> str:
    names = [item if isinstance(item, str) else str(item[0]) for item in bad]
    return name_some(names, 6)

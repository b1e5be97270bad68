"""Convergence problems, on draws made to have them."""

import warnings

import numpy as np
import pytest
import xarray as xr

from bayesbias.errors import ConvergenceWarning
from bayesbias.models.numerics.diagnostics import convergence_problems, warn_of_problems

CHAINS, DRAWS = 4, 500


def made_fit(draws: np.ndarray, **stats: np.ndarray) -> xr.DataTree:
    dims = ("chain", "draw")
    quiet = {
        "diverging": np.zeros((CHAINS, DRAWS), dtype=bool),
        "energy": np.random.default_rng(1).normal(size=(CHAINS, DRAWS)),
        "tree_depth": np.full((CHAINS, DRAWS), 3),
        "reached_max_treedepth": np.zeros((CHAINS, DRAWS), dtype=bool),
    }
    coords = {"chain": np.arange(CHAINS), "draw": np.arange(DRAWS)}
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"sigma": (dims, draws)}, coords=coords),
            "sample_stats": xr.Dataset({k: (dims, v) for k, v in {**quiet, **stats}.items()}, coords=coords),
        }
    )


@pytest.fixture
def good() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(CHAINS, DRAWS))


def test_good_draws_have_no_problem(good: np.ndarray) -> None:
    assert convergence_problems(made_fit(good)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_problems([])


def test_chains_that_disagree(good: np.ndarray) -> None:
    problems = convergence_problems(made_fit(good + np.arange(CHAINS)[:, None]))
    assert any("R-hat is not below 1.01 for sigma (" in problem for problem in problems)


def test_draws_that_hang_together() -> None:
    steps = np.random.default_rng(2).normal(size=(CHAINS, DRAWS))
    walk = np.zeros_like(steps)
    for draw in range(1, DRAWS):
        walk[:, draw] = 0.95 * walk[:, draw - 1] + steps[:, draw]
    problems = convergence_problems(made_fit(walk))
    assert any("Fewer than 400 effective draws (bulk) of sigma" in problem for problem in problems)


def test_draws_that_are_noisy_in_the_tail_only() -> None:
    """Bulk draws are independent; whether a draw is in the tail is not: ArviZ's own settings change nothing."""
    import arviz as az

    rng = np.random.default_rng(4)
    draws = rng.uniform(-1, 1, size=(CHAINS, DRAWS))
    draws[:, :60] *= 30
    with az.rc_context({"stats.ci_prob": 0.5}):
        problems = convergence_problems(made_fit(draws))
    assert any("effective draws (tail) of sigma" in problem for problem in problems)
    assert problems == convergence_problems(made_fit(draws))


def test_divergences_and_tree_depth(good: np.ndarray) -> None:
    some = np.zeros((CHAINS, DRAWS), dtype=bool)
    some[0, :7] = True
    assert "Divergent transitions: 7" in convergence_problems(made_fit(good, diverging=some))[0]
    assert "largest tree depth: 7" in convergence_problems(made_fit(good, reached_max_treedepth=some))[0]


def test_low_energy_information(good: np.ndarray) -> None:
    walk = np.cumsum(np.random.default_rng(3).normal(size=(CHAINS, DRAWS)), axis=1)
    assert any(
        "E-BFMI is below 0.3 in 4 of 4 chains" in problem
        for problem in convergence_problems(made_fit(good, energy=walk))
    )


def test_a_diagnostic_that_cannot_be_computed_is_a_problem(good: np.ndarray) -> None:
    assert any(
        "sigma (not computable)" in problem for problem in convergence_problems(made_fit(np.full_like(good, np.nan)))
    )
    one_chain = made_fit(good).isel(chain=slice(0, 1))
    assert "four chains" in convergence_problems(one_chain)[0]


def test_one_warning_lists_all(good: np.ndarray) -> None:
    with pytest.warns(ConvergenceWarning, match=r"- first\n- second") as caught:
        warn_of_problems(["first", "second"])
    assert len(caught) == 1
    assert caught[0].filename == __file__, "the warning points at the user's line"

"""Whether two fits agree, in Monte Carlo standard errors."""

import arviz as az
import numpy as np
import xarray as xr


def worst_differences(one: xr.DataTree, two: xr.DataTree) -> dict[str, float]:
    """Return the largest difference of means, and of sds, over all parameters, in Monte Carlo standard errors."""
    first, second = (fit["posterior"].to_dataset() for fit in (one, two))
    assert set(first.data_vars) == set(second.data_vars)
    worst = {}
    for method, value in (("mean", "mean"), ("sd", "std")):
        errors = [az.mcse(draws, method=method) for draws in (first, second)]
        ratios = []
        for name in first.data_vars:
            left, right = (getattr(draws[name], value)(("chain", "draw")) for draws in (first, second))
            left, right = xr.align(left, right, join="exact")
            error = np.sqrt(errors[0][name] ** 2 + errors[1][name] ** 2)
            ratios.append(float((np.abs(left - right.transpose(*left.dims)) / error).max()))
        worst[method] = max(ratios)
    return worst

"""Priors, written as a text such as ``"Normal(mu=1, sigma=0.3)"``."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isfinite
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, ndtr, ndtri, stdtr, stdtrit, xlogy

from bayesbias.base.number_text import exact_text
from bayesbias.errors import ModelError, did_you_mean

# Parameters of each distribution, in order. All except locations must be positive.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "Normal": ("mu", "sigma"),
    "StudentT": ("nu", "mu", "sigma"),
    "Exponential": ("rate",),
    "HalfNormal": ("sigma",),
    "HalfStudentT": ("nu", "sigma"),
    "Gamma": ("alpha", "beta"),
    "InverseGamma": ("alpha", "beta"),
    "LogNormal": ("mu", "sigma"),
}
_ON_THE_LINE = ("Normal", "StudentT")
_UNRESTRICTED = ("mu",)
# The least mass of a prior in the range of its number, and its least relative width.
_LEAST_INSIDE, _LEAST_WIDTH = 1e-3, 1e-4
_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)


@dataclass(frozen=True)
class Prior:
    """A prior distribution: its name in `DISTRIBUTIONS`, and the value of each parameter by name.

    `rate` is one over the mean of an Exponential; `beta` is the rate of a Gamma; standard deviations are `sigma`. An
    unknown distribution or an impossible parameter raises a `ModelError`.

    >>> str(parse_prior("Normal(1, 0.3)"))
    'Normal(mu=1, sigma=0.3)'
    """

    distribution: str
    parameters: dict[str, float]

    def __post_init__(self) -> None:
        names = _parameter_names(self.distribution)
        for key in self.parameters:
            if key not in names:
                raise ModelError(
                    f"{self.distribution} has no parameter {key!r}{did_you_mean(key, names)}; "
                    f"its parameters are {', '.join(names)}."
                )
        missing = [name for name in names if name not in self.parameters]
        if missing:
            raise ModelError(f"{self.distribution} needs {', '.join(missing)} as well: give {', '.join(names)}.")
        for key, value in self.parameters.items():
            if not isfinite(value) or (key not in _UNRESTRICTED and value <= 0):
                kind = "a finite number" if key in _UNRESTRICTED else "a positive number"
                raise ModelError(f"{self}: {key} must be {kind}.")
            if key not in _UNRESTRICTED and not 0 < value * value < inf:
                raise ModelError(f"{self}: {key}={value:g} is out of the range of numbers that can be squared.")

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={exact_text(value)}" for name, value in self.parameters.items())
        return f"{self.distribution}({inside})"

    @property
    def rounded(self) -> "Prior":
        """The distribution with four significant digits, for sentences.

        >>> str(Prior("Exponential", {"rate": 4.944513860581972}).rounded)
        'Exponential(rate=4.945)'
        """
        return replace(self, parameters={name: float(f"{value:.4g}") for name, value in self.parameters.items()})

    @property
    def positive(self) -> bool:
        """Whether the distribution has mass on positive numbers only."""
        return self.distribution not in _ON_THE_LINE

    def cdf(self, values: np.ndarray | float) -> np.ndarray:
        """Return the probability of smaller numbers; for a half distribution, that of both halves."""
        p, z = self.parameters, self._standard(values)
        if self.distribution in _ON_THE_LINE or self.distribution.startswith("Half"):
            return np.asarray(ndtr(z) if "nu" not in p else stdtr(p["nu"], z))
        above = np.maximum(np.asarray(values, dtype=float), 0.0)
        with np.errstate(divide="ignore"):
            makers: dict[str, Callable[[], Any]] = {
                "Exponential": lambda: -np.expm1(-p["rate"] * above),
                "Gamma": lambda: gammainc(p["alpha"], p["beta"] * above),
                "InverseGamma": lambda: gammaincc(p["alpha"], p["beta"] / above),
                "LogNormal": lambda: ndtr((np.log(above) - p["mu"]) / p["sigma"]),
            }
            return np.asarray(makers[self.distribution]())

    def quantile(self, shares: np.ndarray | float) -> np.ndarray:
        """Return the numbers below which these shares lie; for a half distribution, those of both halves."""
        p = self.parameters
        if self.distribution in _ON_THE_LINE or self.distribution.startswith("Half"):
            z = ndtri(shares) if "nu" not in p else stdtrit(p["nu"], shares)
            return np.asarray(p.get("mu", 0.0) + p["sigma"] * z)
        makers: dict[str, Callable[[], Any]] = {
            "Exponential": lambda: -np.log1p(-np.asarray(shares)) / p["rate"],
            "Gamma": lambda: gammaincinv(p["alpha"], shares) / p["beta"],
            "InverseGamma": lambda: p["beta"] / gammainccinv(p["alpha"], shares),
            "LogNormal": lambda: np.exp(p["mu"] + p["sigma"] * ndtri(shares)),
        }
        return np.asarray(makers[self.distribution]())

    def _standard(self, values: np.ndarray | float) -> np.ndarray:
        """Return values around the location in units of the scale, if the distribution has them."""
        p = self.parameters
        return np.asarray((values - p.get("mu", 0.0)) / p.get("sigma", 1.0))

    def reach_fault(self, low: float, high: float) -> str | None:
        """Return why this cannot be the prior of a number from `low` to `high`, or None.

        At least a thousandth of its mass must lie there, and it must not be a point.

        >>> parse_prior("Normal(1000, 1)").reach_fault(0, 2)
        'less than 0.001 of its mass lies between 0 and 2'
        >>> parse_prior("Normal(1, 0.3)").reach_fault(0, 2)
        """
        inside, first, last = _reach(str(self), low, high)
        if not inside >= _LEAST_INSIDE:
            return f"less than {_LEAST_INSIDE:g} of its mass lies between {low:g} and {high:g}"
        if not last - first > _LEAST_WIDTH * max(abs(first), abs(last)):
            return "it is a point, and leaves nothing to be estimated"
        return None

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density at `values`."""
        p, name, values = self.parameters, self.distribution, np.asarray(values, dtype=float)
        if name == "LogNormal":
            logs = np.log(values)
            return np.asarray(_of_normal((logs - p["mu"]) / p["sigma"]) - logs - np.log(p["sigma"]))
        with np.errstate(divide="ignore", invalid="ignore"):
            if name == "Exponential":
                density = np.log(p["rate"]) - p["rate"] * values
            elif name == "Gamma":
                of_scale = p["alpha"] * np.log(p["beta"]) - gammaln(p["alpha"])
                density = of_scale + xlogy(p["alpha"] - 1, values) - p["beta"] * values
            elif name == "InverseGamma":
                of_scale = p["alpha"] * np.log(p["beta"]) - gammaln(p["alpha"])
                density = np.where(values > 0, of_scale - xlogy(p["alpha"] + 1, values) - p["beta"] / values, -np.inf)
            else:
                z = self._standard(values)
                density = (_of_student(z, p["nu"]) if "nu" in p else _of_normal(z)) - np.log(p["sigma"])
                density = density + np.log(2) if name.startswith("Half") else density
        return density if name in _ON_THE_LINE else np.where(values >= 0, density, -np.inf)

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Return draws of the given shape."""
        # A frozen distribution of SciPy would take most of the time of drawing few numbers.
        p = self.parameters
        makers: dict[str, Callable[[], Any]] = {
            "Normal": lambda: p["mu"] + p["sigma"] * rng.standard_normal(size),
            "StudentT": lambda: p["mu"] + p["sigma"] * rng.standard_t(p["nu"], size),
            "Exponential": lambda: rng.standard_exponential(size) / p["rate"],
            "HalfNormal": lambda: p["sigma"] * np.abs(rng.standard_normal(size)),
            "HalfStudentT": lambda: p["sigma"] * np.abs(rng.standard_t(p["nu"], size)),
            "Gamma": lambda: rng.standard_gamma(p["alpha"], size) / p["beta"],
            "InverseGamma": lambda: p["beta"] / rng.standard_gamma(p["alpha"], size),
            "LogNormal": lambda: np.exp(p["mu"] + p["sigma"] * rng.standard_normal(size)),
        }
        return np.asarray(makers[self.distribution]())

    def variable(self, name: str, **keywords: Any) -> Any:
        """Return the PyMC variable of this prior, inside a model context."""
        import pymc as pm

        arguments = {"lam" if key == "rate" else key: value for key, value in self.parameters.items()}
        return getattr(pm, self.distribution)(name, **arguments, **keywords)


@lru_cache(maxsize=256)
def _reach(prior: str, low: float, high: float) -> tuple[float, float, float]:
    """Return the mass of a prior between two numbers, and the quantiles of a tenth and nine tenths."""
    parsed = parse_prior(prior)
    with np.errstate(all="ignore"):
        inside = float(parsed.cdf(high) - parsed.cdf(low)) * (2 if parsed.distribution.startswith("Half") else 1)
        first, last = parsed.quantile(np.array([0.1, 0.9])).tolist()
    return inside, first, last


def _of_normal(z: np.ndarray) -> np.ndarray:
    return np.asarray(-0.5 * np.square(z) - 0.5 * np.log(2 * np.pi))


def _of_student(z: np.ndarray, nu: float) -> np.ndarray:
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(constant - (nu + 1) / 2 * np.log1p(np.square(z) / nu))


def parse_prior(text: object) -> Prior:
    """Return the prior of ``"Name(value, ...)"`` or ``"Name(parameter=value, ...)"``; a `Prior` is returned as it is.

    >>> parse_prior("Exponential(rate=2)").parameters
    {'rate': 2.0}
    >>> parse_prior("Normal(1, -0.3)")
    Traceback (most recent call last):
        ...
    bayesbias.errors.ModelError: Normal(mu=1, sigma=-0.3): sigma must be a positive number.
    """
    if isinstance(text, Prior):
        return text
    match = _CALL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ModelError(f"{text!r} is not a prior. Write it like 'Normal(mu=1, sigma=0.3)' or 'Exponential(2)'.")
    name, inside = match.groups()
    names = _parameter_names(name)
    parts = [part.strip() for part in inside.split(",")] if inside.strip() else []
    parameters: dict[str, float] = {}
    for position, part in enumerate(parts):
        left, equals, right = part.partition("=")
        if not equals and position >= len(names):
            raise ModelError(f"{text!r}: {name} has {len(names)} parameters ({', '.join(names)}), not {len(parts)}.")
        key = left.strip() if equals else names[position]
        if key in parameters:
            raise ModelError(f"{text!r} gives {key} twice.")
        parameters[key] = _number(right if equals else left, text)
    # One order, so that one prior has one text.
    ordered = {key: parameters.pop(key) for key in names if key in parameters}
    return Prior(name, ordered | parameters)


def _parameter_names(distribution: str) -> tuple[str, ...]:
    if distribution not in DISTRIBUTIONS:
        raise ModelError(
            f"{distribution!r} is not a distribution that priors can have{did_you_mean(distribution, DISTRIBUTIONS)}. "
            f"Known are {', '.join(DISTRIBUTIONS)}."
        )
    return DISTRIBUTIONS[distribution]


def _number(text: str, whole: object) -> float:
    wrong = ModelError(f"{whole!r}: {text.strip()!r} is not a number.")
    if "_" in text:  # Python reads 1_0 as 10
        raise wrong
    try:
        return float(text)
    except ValueError as error:
        raise wrong from error

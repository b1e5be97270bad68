"""Which words, lists and priors a conclusion hangs on: the model fitted again without each of them.

For the crossed Normal models no draws are compared. The posterior of a contrast is a mixture of Normals over
weighted points of the scales, and every refit weights the same points, so that what moves is the posterior and
not chance. Where the weights of a refit are poor, its own proposal is found.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesbias.arguments import HDI_PROB, check_choice, check_probability, resolve_seed
from bayesbias.errors import BayesBiasError, FitError, name_some
from bayesbias.estimates import check_baseline
from bayesbias.models.contrast_estimate import Estimate, draws_estimate, mixture_estimate, shift_error
from bayesbias.models.data import ModelData, model_data, subset
from bayesbias.models.priors import Prior
from bayesbias.models.samplers.collapsed import CollapseError, collapse, propose, why_not_collapsed
from bayesbias.models.samplers.connection_means import connection_mean_posterior
from bayesbias.models.samplers.exact import sample_exact, why_not_exact
from bayesbias.models.samplers.importance import KHAT_MAX, Proposal
from bayesbias.models.sampling import fit as fit_model
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.tables.schema import validate_table

if TYPE_CHECKING:
    import pandas as pd

LEAVE_OUT = ("attribute_word", "protected_word", "list", "prior")
COLUMNS = (
    "left_out",
    "contrast",
    "mean",
    "hdi_low",
    "hdi_high",
    "probability_of_direction",
    "shift",
    "shift_in_sd",
    "conclusion",
    "changes_conclusion",
)
# With less efficient weights a refit finds its own proposal.
_EFFICIENT = 0.3
# With the locations integrated out, a point tells more than a draw.
_DRAWS_A_POINT = 2
_FEWEST_DRAWS = 100
_KINDS = {
    "attribute_word": "attribute words",
    "protected_word": "protected words",
    "list": "lists",
    "prior": "priors",
}
# What multiplying a distribution's scale by a factor does to its parameters.
_STRETCH: dict[str, Callable[[dict[str, float], float], dict[str, float]]] = {
    "Normal": lambda p, k: {"sigma": p["sigma"] * k},
    "StudentT": lambda p, k: {"sigma": p["sigma"] * k},
    "Exponential": lambda p, k: {"rate": p["rate"] / k},
    "HalfNormal": lambda p, k: {"sigma": p["sigma"] * k},
    "HalfStudentT": lambda p, k: {"sigma": p["sigma"] * k},
    "Gamma": lambda p, k: {"beta": p["beta"] / k},
    "InverseGamma": lambda p, k: {"beta": p["beta"] * k},
    "LogNormal": lambda p, k: {"mu": p["mu"] + float(np.log(k))},
}


def sensitivity(
    table: "pd.DataFrame",
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    leave_out: str = "attribute_word",
    baseline: str = "associated",
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = False,
) -> "pd.DataFrame":
    """Fit a model again without each word or list, or with other priors, and say how far each contrast moves.

    Parameters
    ----------
    table
        A distance table (`distance_table`, `read_table`).
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    leave_out
        ``"attribute_word"`` or ``"protected_word"``: each word in turn; ``"list"``: each attribute group and control
        list, and each protected group; ``"prior"``: nothing is left out, but the scale of each prior in turn is
        halved and doubled (of `connection_mean`, its sd).
    baseline
        The connection from which the others are subtracted.
    hdi_prob
        Probability inside the highest posterior density interval, which decides a conclusion.
    draws, chains
        Each posterior rests on draws times chains draws, or on half as many weighted points.
    random_seed
        0 to 2**32 - 1, the same for every refit. None draws a seed and records it.
    progress
        Show a progress bar on standard error.

    Returns
    -------
    pandas.DataFrame
        A row for each refit and contrast of group means, the largest shift first: `left_out`, `contrast`, `mean`,
        `hdi_low`, `hdi_high` in units of cosine distance, `probability_of_direction` (0.5 to 1), `shift` (mean minus
        the mean with everything), `shift_in_sd` (in posterior sds with everything), `conclusion` (``"nearer"`` or
        ``"farther"`` if the interval leaves out 0, else ``"not settled"``) and `changes_conclusion`.
        ``attrs``: `contrasts` (a list of dicts, the fit with everything), `deciding` (for each contrast, what changes
        its conclusion, largest shift first), `skipped` (a list of dicts: what could not be left out, and why),
        `reading` (a summary in words), `refits`, `monte_carlo_error` (the largest standard error of a shift that
        Monte Carlo leaves, in units of cosine distance), `hdi_prob`, `model`, `seed`.

    Raises
    ------
    TableError, ModelError, FitError, ReportError
        If table, model or an argument is not usable; before any sampling starts.

    Notes
    -----
    Crossed Normal models: all refits share their points, and locations are integrated out, so Monte Carlo error is
    in general below 0.01 posterior sd. Models without attribute effects are drawn exactly, each connection by itself:
    a connection that loses no row does not move at all, and the others carry an error of about sqrt(2 / draws), 0.02
    posterior sd with 4,000 draws, and so may a conclusion whose interval ends that near to 0. NUTS models are fitted
    anew each time, which takes minutes, and carry the error that their effective sample size leaves.

    A word that moves a contrast is not thereby wrong: it is what the conclusion rests on.

    References
    ----------
    Gelfand, Dey and Chang (1992), Model determination using predictive distributions with implementation via
    sampling-based methods, for reweighting a posterior without some of its data; Vehtari, Simpson, Gelman, Yao and
    Gabry (2024) for the smoothing and diagnosis of the weights.

    Examples
    --------
    >>> found = bb.sensitivity(table, leave_out="protected_word", draws=250, random_seed=1)
    >>> len(found), found.attrs["refits"]
    (48, 16)
    """
    import pandas as pd

    check_choice("leave_out", leave_out, LEAVE_OUT)
    check_probability("hdi_prob", hdi_prob)
    for name, value, least in (("draws", draws, _FEWEST_DRAWS), ("chains", chains, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise FitError(f"{name}={value!r}: give a whole number of at least {least}.")
    seed, spec = resolve_seed(random_seed), load_model(model)
    data = model_data(table)
    check_baseline(baseline, data.connections, "table")
    table = validate_table(table)
    refits = _Refits(table, data, spec, baseline, hdi_prob, int(draws), int(chains), seed)
    everything = refits.estimate(None, spec)
    cases = list(_cases(table, data, spec, leave_out))
    rows, skipped, errors = [], [], [0.0]
    for label, keep, changed in _shown(cases, progress):
        reasons = dict.fromkeys(everything, "") if keep is None else _obstacles(data, keep, baseline, everything)
        found = {}
        if not all(reasons.values()):
            try:
                found = refits.estimate(keep, changed)
            except BayesBiasError as error:
                reasons = {contrast: reason or str(error) for contrast, reason in reasons.items()}
        for contrast, full in everything.items():
            if contrast in found:
                rows.append(_row(label, contrast, found[contrast], full))
                errors.append(shift_error(found[contrast], full))
            else:
                skipped.append({"left_out": label, "contrast": contrast, "reason": reasons[contrast]})
    result = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"changes_conclusion": bool})
    result = result.iloc[np.argsort(-result["shift"].abs().to_numpy(dtype=float), kind="stable")]
    result = result.reset_index(drop=True)
    changing = result[result["changes_conclusion"]]
    deciding = {
        contrast: changing.loc[changing["contrast"] == contrast, "left_out"].tolist() for contrast in everything
    }
    result.attrs = {
        "contrasts": [{"contrast": contrast, **full.numbers()} for contrast, full in everything.items()],
        "deciding": deciding,
        "skipped": skipped,
        "reading": _reading(result, everything, deciding, skipped, leave_out),
        "refits": len(cases),
        "monte_carlo_error": max(errors),
        "hdi_prob": hdi_prob,
        "model": spec.name,
        "seed": seed,
    }
    return result


class _Refits:
    """Fits one model to parts of one table, by the fastest sampler that fits it.

    Parameters
    ----------
    table, data
        All rows, validated, as a table and as arrays.
    spec, baseline, hdi_prob, draws, chains, seed
        As in `sensitivity`.
    """

    def __init__(
        self,
        table: "pd.DataFrame",
        data: ModelData,
        spec: ModelSpec,
        baseline: str,
        hdi_prob: float,
        draws: int,
        chains: int,
        seed: int,
    ) -> None:
        self.table, self.data, self.baseline, self.hdi_prob = table, data, baseline, hdi_prob
        self.draws, self.chains, self.seed = draws, chains, seed
        self.proposal: tuple[Proposal, int] | None = None
        self.by_rows: dict[tuple[str, bytes, str], np.ndarray] = {}
        if why_not_exact(spec) is None:
            self._estimate = self._exact
        elif why_not_collapsed(spec) is None:
            self._estimate = self._collapsed
        else:
            self._estimate = self._fitted

    def estimate(self, keep: np.ndarray | None, spec: ModelSpec) -> dict[str, Estimate]:
        """Return the estimate of each contrast that the kept rows (None: all) have."""
        # The matrices are small: with more threads, linear algebra takes longer.
        with threadpool_limits(1, "blas"):
            return self._estimate(keep, spec)

    def _pairs(self, connections: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
        base = connections.index(self.baseline)
        for place, other in enumerate(connections):
            if place != base:
                yield f"{self.baseline} - {other}", base, place

    def _collapsed(self, keep: np.ndarray | None, spec: ModelSpec) -> dict[str, Estimate]:
        data = self.data if keep is None else subset(self.data, keep)
        count = self.draws * self.chains // _DRAWS_A_POINT
        try:
            reduced = collapse(data, spec)
            if self.proposal is None:
                self.proposal = propose(reduced), reduced.scales
            shared = self.proposal[0] if reduced.scales == self.proposal[1] else None
            drawn = connection_mean_posterior(reduced, shared, draws=count, rng=np.random.default_rng(self.seed))
            same = shared is not None
            if same and not (drawn.khat <= KHAT_MAX and drawn.efficiency >= _EFFICIENT):
                own = connection_mean_posterior(reduced, draws=count, rng=np.random.default_rng(self.seed))
                if not drawn.khat <= KHAT_MAX or own.efficiency > drawn.efficiency:
                    drawn, same = own, False
        except CollapseError:
            return self._fitted(keep, spec)
        if not drawn.khat <= KHAT_MAX:
            return self._fitted(keep, spec)
        found = {}
        for contrast, base, other in self._pairs(data.connections):
            covariance = drawn.covariance
            variance = covariance[:, base, base] + covariance[:, other, other] - 2 * covariance[:, base, other]
            difference = drawn.mean[:, base] - drawn.mean[:, other]
            estimate = mixture_estimate(drawn.weights, difference, np.sqrt(variance), self.hdi_prob)
            found[contrast] = estimate if same else replace(estimate, influence=None)
        return found

    def _exact(self, keep: np.ndarray | None, spec: ModelSpec) -> dict[str, Estimate]:
        kept = np.ones(len(self.data.distance), dtype=bool) if keep is None else keep
        data, count = subset(self.data, kept), self.draws * self.chains
        if spec.switches["scale"] == "common":
            posterior, _ = sample_exact(data, spec, draws=count, rng=np.random.default_rng(self.seed))
            means = posterior["connection_mean"]
        else:
            means = np.stack([self._one_connection(name, kept, spec) for name in data.connections], axis=-1)
        return {
            contrast: draws_estimate(means[:, base] - means[:, other], self.hdi_prob)
            for contrast, base, other in self._pairs(data.connections)
        }

    def _one_connection(self, connection: str, kept: np.ndarray, spec: ModelSpec) -> np.ndarray:
        """Return draws of one connection's mean: with scales of their own, connections are independent."""
        place = self.data.connections.index(connection)
        rows = kept & (self.data.connection == place)
        key = connection, np.packbits(rows).tobytes(), spec.digest
        if (known := self.by_rows.get(key)) is not None:
            return known
        rng = np.random.default_rng([self.seed, place])
        posterior, _ = sample_exact(subset(self.data, rows), spec, draws=self.draws * self.chains, rng=rng)
        drawn: np.ndarray = posterior["connection_mean"][:, 0]
        if kept.all() or (self.data.connection == place).sum() == rows.sum():
            self.by_rows[key] = drawn
        return drawn

    def _fitted(self, keep: np.ndarray | None, spec: ModelSpec) -> dict[str, Estimate]:
        import arviz as az

        table = self.table if keep is None else self.table[keep]
        fitted = fit_model(table, spec, draws=self.draws, chains=self.chains, random_seed=self.seed, progress=False)
        means = fitted["posterior"].to_dataset()["connection_mean"]
        found = {}
        for contrast, _, other in self._pairs(tuple(str(name) for name in means["connection"].values)):
            name = str(means["connection"].values[other])
            draws = means.sel(connection=self.baseline, drop=True) - means.sel(connection=name, drop=True)
            effective = float(az.ess(draws.rename("value").to_dataset(), method="mean")["value"])
            found[contrast] = draws_estimate(draws.to_numpy().reshape(-1), self.hdi_prob, effective=max(effective, 1.0))
        return found


_Case = tuple[str, np.ndarray | None, ModelSpec]
"""What a refit is called, which rows it keeps (None: all), and its model."""


def _cases(table: "pd.DataFrame", data: ModelData, spec: ModelSpec, leave_out: str) -> Iterator[_Case]:
    if leave_out == "prior":
        yield from ((label, None, changed) for label, changed in _other_priors(spec))
    elif leave_out == "list":
        for column, kind in (("attribute_group", "attribute list"), ("protected_group", "protected group")):
            values = np.asarray(table[column], dtype=str)
            for name in dict.fromkeys(values.tolist()):
                yield f"{kind} {name}", values != name, spec
    else:
        of_row, words = {
            "attribute_word": (data.attribute, data.attribute_words),
            "protected_word": (data.protected, data.protected_words),
        }[leave_out]
        for place, word in enumerate(words):
            yield str(word), of_row != place, spec


def _other_priors(spec: ModelSpec) -> Iterator[tuple[str, ModelSpec]]:
    for name, prior in spec.priors.items():
        for factor, change in ((0.5, "halved"), (2.0, "doubled")):
            stretched = {**prior.parameters, **_STRETCH[prior.distribution](prior.parameters, factor)}
            changed = Prior(prior.distribution, stretched)
            yield f"{name} ~ {changed} (scale {change})", load_model(spec, priors={name: changed})


def _obstacles(data: ModelData, keep: np.ndarray, baseline: str, contrasts: Mapping[str, Estimate]) -> dict[str, str]:
    """Return for each contrast why these rows do not tell it; an empty text if they do."""
    reasons = {}
    for name in data.connections:
        distance = data.distance[keep & (data.connection == data.connections.index(name))]
        if not len(distance):
            reasons[name] = f"the connection {name!r} would have no rows left"
        elif len(distance) > 1 and distance.min() == distance.max():
            reasons[name] = f"all distances left in the connection {name!r} would be equal"
        else:
            reasons[name] = ""
    equal = next((reason for reason in reasons.values() if "equal" in reason), "")
    return {
        contrast: equal or reasons[baseline] or reasons[contrast.removeprefix(f"{baseline} - ")]
        for contrast in contrasts
    }


def _shown(cases: list[_Case], progress: bool) -> Iterator[_Case]:
    if not progress:
        yield from cases
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(cases, description="Refits", console=Console(stderr=True), transient=True)


def _row(label: str, contrast: str, found: Estimate, full: Estimate) -> dict[str, Any]:
    shift = found.mean - full.mean
    numbers = found.numbers()
    return {
        **{name: numbers[name] for name in COLUMNS if name in numbers},
        "left_out": label,
        "contrast": contrast,
        "shift": shift,
        "shift_in_sd": shift / full.sd,
        "changes_conclusion": found.conclusion != full.conclusion,
    }


def _reading(
    result: "pd.DataFrame",
    everything: Mapping[str, Estimate],
    deciding: Mapping[str, list[str]],
    skipped: list[dict[str, str]],
    leave_out: str,
) -> str:
    if result.empty:
        return f"Nothing could be left out: {skipped[0]['reason']}." if skipped else "There was nothing to leave out."
    done = "Halving or doubling the scale of" if leave_out == "prior" else "Leaving out"
    what = f"{done} each of the {_KINDS[leave_out]} in turn"
    changed = [
        f"{contrast!r} ({everything[contrast].conclusion} with everything) hangs on {len(names)}: {name_some(names)}"
        for contrast, names in deciding.items()
        if names
    ]
    first = result.iloc[int(np.argmax(result["shift_in_sd"].abs()))]
    moved = (
        f"The largest move for its uncertainty is of {first['contrast']!r}, by {abs(first['shift_in_sd']):.2f} "
        f"posterior sd ({first['shift']:+.4f}), for {first['left_out']!r}."
    )
    head = f"{what} changes no conclusion." if not changed else f"{what} changes conclusions: {'; '.join(changed)}."
    return f"{head} {moved}"

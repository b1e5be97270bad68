"""Sensitivity of conclusions to words, lists and priors: the model fitted again without each of them.

Refits share what `models.quick` describes, so that they hardly differ by Monte Carlo error. If a diagnostic of a fast
sampler fails, the model is fitted by `fit`, which may use NUTS.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    check_choice,
    check_count,
    check_probability,
    resolve_seed,
)
from bayesbias.base.machine import ThreadpoolController
from bayesbias.base.number_text import counted, percent_text, quoted_name, signed_text
from bayesbias.base.progress import stopped_statement, with_progress
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable, forest_figure
from bayesbias.base.statements import Statement, StatementList
from bayesbias.errors import BayesBiasError, name_some
from bayesbias.estimates.intervals import check_baseline, contrast_name, is_settled, mark
from bayesbias.models.data import ModelData, compared_part, compared_words, groups_not_compared, model_data
from bayesbias.models.numerics.contrast_estimate import ContrastEstimate, changes_reading, draws_estimate, shift_error
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.priors import Prior
from bayesbias.models.quick import QuickRefits
from bayesbias.models.samplers.registry import sampler_for
from bayesbias.models.sampling import fit as fit_model
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.models.units import in_unit
from bayesbias.reports.posterior.effective_words import clusters_of
from bayesbias.reports.posterior.group_statements import without_contrast
from bayesbias.tables.measures import COSINE_DISTANCE, Measure, measure_of
from bayesbias.tables.schema import FrameLike, as_frame, table_facts, validate_table

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
    "reading",
    "changes_reading",
)
_FEWEST_DRAWS = 100
_SMALL_ERROR = 0.0005
_LEAST_SHIFT = 0.005  # posterior sds; smaller ones are shown as 0.00
# Parameters of a distribution whose scale is multiplied by a factor.
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


_TITLES = {
    "attribute_word": "Without each attribute word",
    "protected_word": "Without each protected word",
    "list": "Without each list",
    "prior": "With other priors",
}
_QUESTIONS = {
    "attribute_word": "Does the answer depend on single attribute words?",
    "protected_word": "Does the answer depend on single protected words?",
    "list": "Does the answer depend on single lists?",
    "prior": "Does the answer depend on the priors?",
}


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """Refits returned by `sensitivity`, in the unit of the table; `print` says which conclusions they change.

    Parameters
    ----------
    shifts : pandas.DataFrame
        One row for each refit and contrast of connection means, those that change a conclusion first and the largest
        shift in sd first: `left_out`, `contrast`, `mean`, `hdi_low`, `hdi_high`, `probability_of_direction` (0.5 to 1),
        `shift` (mean minus the mean with everything), `shift_in_sd` (in posterior sds with everything), `reading`
        (``"nearer"`` or ``"farther"`` if the interval excludes 0, else ``"not settled"``) and `changes_reading` (by
        more than Monte Carlo error).
    contrasts : pandas.DataFrame
        The contrasts with everything.
    deciding
        For each contrast, the cases that change its conclusion.
    skipped : pandas.DataFrame
        The cases that could not be left out: `left_out`, `contrast` and `reason`. Lists are among them without which
        the means would be about other groups.
    statements
        A summary.
    leave_out, model, random_seed, hdi_prob
        As in `sensitivity`.
    total_draws
        Posterior draws of each refit, all chains together.
    refits
        Number of refits; a case of which no contrast could be estimated is none.
    stopped
        Whether an interrupt ended the refits.
    monte_carlo_error
        Largest Monte Carlo standard error of a shift.
    measure
        What the numbers of the table measure.
    """

    shifts: "pd.DataFrame"
    contrasts: "pd.DataFrame"
    deciding: dict[str, list[str]]
    skipped: "pd.DataFrame"
    statements: tuple[Statement, ...]
    leave_out: str
    model: str
    random_seed: int
    hdi_prob: float
    total_draws: int
    refits: int
    stopped: bool
    monte_carlo_error: float
    measure: Measure = COSINE_DISTANCE

    def __repr__(self) -> str:
        return f"Sensitivity({_TITLES[self.leave_out].lower()}, {counted(self.refits, 'refit')})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (StatementList("", self.statements, bulleted=False),)

    @cached_property
    def contents(self) -> Contents:
        """Which conclusions the refits change, and how far each moves the contrasts."""
        error = self.monte_carlo_error
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        claim = "" if self.shifts.empty else _claim(self.shifts, self.deciding, self.leave_out)
        texts = ((statement, statement.text.removeprefix(claim).strip()) for statement in self.statements)
        answers = tuple(replace(statement, text=text) for statement, text in texts if text)
        marked = partial(mark, below=self.measure.nearer, above=self.measure.farther)
        return Contents(
            title=_QUESTIONS[self.leave_out],
            about=f"{counted(self.refits, 'refit')} of the model {self.model}.",
            answer=claim or self.statements[0].text,
            answers=answers if claim else answers[1:],
            figures={} if self.shifts.empty else {"shifts": self._figure()},
            tables={
                "shifts": ResultTable(
                    self.shifts.assign(reading=self.shifts["reading"].map(self.measure.way)),
                    "Each refit",
                    f"{_TITLES[self.leave_out]}: contrasts, those that change a conclusion first; {prob}. The Monte "
                    f"Carlo error of a shift is {'below 0.0005' if error < _SMALL_ERROR else f'at most {error:.1g}'}",
                    headings={"left_out": "Prior" if self.leave_out == "prior" else "Left out"},
                    differences=True,
                    mark=marked,
                    folded=True,
                ),
                "contrasts": ResultTable(
                    self.contrasts, "With everything", f"Contrasts with everything, {prob}", on_page=False
                ),
                "skipped": ResultTable(
                    self.skipped,
                    "Not left out",
                    f"{_TITLES[self.leave_out]}: what could not be left out",
                    headings={"left_out": "Case"},
                    folded=True,
                ),
            },
            settings={
                "Model": self.model,
                "Draws of each refit": f"{self.total_draws:,}, all chains together",
                "Seed": str(self.random_seed),
                "Interval": prob,
            },
        )

    def _figure(self) -> ResultFigure:
        """Return a forest of a contrast, if possible one whose conclusion changes: with everything, and in refits."""
        import pandas as pd

        contrast = next((name for name, cases in self.deciding.items() if cases), next(iter(self.deciding)))
        whole = self.contrasts[self.contrasts["contrast"] == contrast]
        refits = self.shifts[self.shifts["contrast"] == contrast]
        labels = refits["left_out"] if self.leave_out == "prior" else "without " + refits["left_out"]
        rows = pd.concat([whole, refits]).assign(
            label=["with everything", *labels],
            filled=lambda frame: [is_settled(*ends) for ends in frame[["hdi_low", "hdi_high"]].to_numpy()],
        )
        caption = (
            f"{contrast} with everything and {_TITLES[self.leave_out].lower()}: posterior means (points) with "
            f"{percent_text(self.hdi_prob)} intervals (lines), conclusions that change and large shifts first. Filled: "
            "settled; hollow and grey: not settled."
        )
        return forest_figure(caption, rows, label=f"Difference of mean {self.measure.of_means}")


def sensitivity(
    table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    leave_out: str = "attribute_word",
    baseline: str = "associated",
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
) -> Sensitivity:
    """Return how far each contrast moves if a model is fitted again without each word or list, or with other priors.

    Parameters
    ----------
    table
        A table (`distance_table`, `surprisal_table`, `score_table`, `read_table`).
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    leave_out
        ``"attribute_word"`` or ``"protected_word"``: each word in turn, and each cluster of words that count nearly as
        one (`effective_words`), since the others of a cluster stand in for one that is left out; ``"list"``: each
        attribute group, control list and protected group; ``"prior"``: nothing is left out, but the scale of each prior
        in turn is halved and doubled (of `connection_mean`, its sd).
    baseline
        The connection from which the others are subtracted.
    hdi_prob
        Probability inside the highest posterior density interval, which decides a conclusion.
    draws, chains
        Posterior draws per chain, and number of chains. Reweighted points are half as many as all draws.
    random_seed
        0 to 2**32 - 1, the same for every refit. None draws a seed and records it.
    progress
        Whether to show a progress bar.

    Returns
    -------
    Sensitivity
        Frame `shifts`; `print` says which conclusions change. After an interrupt, such as Ctrl-C, the refits that were
        done, with a warning.

    Raises
    ------
    TableError, ModelError, FitError, ReportError, ArgumentError
        If table, model or an argument is not usable; before any sampling starts.

    Notes
    -----
    Crossed Normal models: all refits share their points, and locations are integrated out, so Monte Carlo error is
    in general below 0.01 posterior sd. Models without attribute effects are drawn exactly, each connection by itself:
    a connection that loses no row does not move at all; the others have an error of about sqrt(2 / draws), 0.02
    posterior sd with 4,000 draws, so a conclusion whose interval ends that near to 0 may change by chance. Multivariate
    models are fitted again with the same seed and the proposal of the whole fit, and given the covariances their means
    are exact; if pairs were lost or attribute words are Student t, draws are reweighted if the weights allow it, and
    else fitted in sweeps. NUTS models are fitted again each time, which takes minutes, with the error of their
    effective sample size.

    A word that moves a contrast is not wrong for that reason: the conclusion rests on it.

    References
    ----------
    Gelfand, Dey and Chang (1992), Model determination using predictive distributions with implementation via
    sampling-based methods, for reweighting a posterior without some of its data; Vehtari, Simpson, Gelman, Yao and
    Gabry (2024) for the smoothing and diagnosis of the weights.

    Examples
    --------
    >>> changes = bb.sensitivity(table, leave_out="protected_word", draws=250, random_seed=1)
    >>> len(changes.shifts), changes.refits
    (51, 17)
    """
    table = as_frame(table)
    check_choice("leave_out", leave_out, LEAVE_OUT)
    settings = RefitSettings(draws, random_seed, hdi_prob, baseline, chains)
    return next(sensitivities(table, model, (leave_out,), settings, progress=progress))


@dataclass(frozen=True)
class RefitSettings:
    """Settings of refits, as in `sensitivity`."""

    draws: int
    random_seed: int | None
    hdi_prob: float
    baseline: str = "associated"
    chains: int = 4


def sensitivities(
    table: "pd.DataFrame",
    model: str | os.PathLike[str] | ModelSpec,
    leave_outs: Sequence[str],
    settings: RefitSettings,
    *,
    progress: bool,
) -> Iterator[Sensitivity]:
    """Yield `sensitivity` for each of several parts to leave out; the refits share what they have in common."""
    import pandas as pd

    baseline, hdi_prob = settings.baseline, settings.hdi_prob
    check_probability("hdi_prob", hdi_prob)
    draws = check_count("draws", settings.draws, least=_FEWEST_DRAWS)
    chains, seed = check_count("chains", settings.chains), resolve_seed(settings.random_seed)
    data, measure = model_data(table), measure_of(table_facts(table))
    spec = in_unit(load_model(model), data.scale)
    check_baseline(baseline, data.connections, "table")
    table, not_compared = validate_table(table), groups_not_compared(data)
    if not_compared and not spec.multivariate:
        table, data = table[data.compared[data.protected]], compared_part(data)
    refits = QuickRefits(data, baseline, draws=draws * chains, seed=seed)

    # It searches all libraries for threads: once, and not for each refit.
    threads = ThreadpoolController()

    def estimates(keep: np.ndarray, spec: ModelSpec) -> dict[str, ContrastEstimate]:
        # The matrices are small: with more threads, linear algebra takes longer.
        with threads.limit(limits=1, user_api="blas"):
            if sampler_for(spec) != "nuts":
                with suppress(SamplerFailedError):
                    return refits.estimates(keep, spec, hdi_prob)
            return _fitted(table[keep], spec, baseline, hdi_prob, draws=draws, chains=chains, seed=seed)

    everything = estimates(np.ones(len(table), dtype=bool), spec)
    whole = _groups_behind(data, data.pair_counts > 0)
    for leave_out in leave_outs:
        cases = list(_cases(table, data, spec, leave_out))
        refitted = []
        try:
            for label, keep, changed in with_progress(cases, "Refits", progress=progress):
                reasons = _obstacles(data, keep, baseline, whole, measure)
                refitted.append(_refit(label, reasons, everything, partial(estimates, keep, changed)))
        except KeyboardInterrupt:
            stopped: tuple[Statement, ...] = (stopped_statement(len(refitted), len(cases), "refits"),)
        else:
            stopped = ()
        rows = [row for refit in refitted for row in refit.rows]
        skipped = [case for refit in refitted for case in refit.skipped]
        shifts = _sorted(pd.DataFrame(rows, columns=list(COLUMNS)))
        changing = shifts[shifts["changes_reading"]]
        deciding = {
            contrast: changing.loc[changing["contrast"] == contrast, "left_out"].tolist() for contrast in everything
        }
        statements = (
            *stopped,
            *_statements(shifts, everything, deciding, skipped, leave_out, measure),
            *without_contrast(not_compared),
        )
        yield Sensitivity(
            shifts=shifts,
            contrasts=pd.DataFrame({"contrast": contrast, **full.numbers()} for contrast, full in everything.items()),
            deciding=deciding,
            skipped=pd.DataFrame(skipped, columns=["left_out", "contrast", "reason"]),
            statements=statements,
            leave_out=leave_out,
            model=spec.name,
            random_seed=seed,
            hdi_prob=hdi_prob,
            total_draws=draws * chains,
            refits=sum(bool(refit.rows) for refit in refitted),
            stopped=bool(stopped),
            monte_carlo_error=max([0.0, *(error for refit in refitted for error in refit.errors)]),
            measure=measure,
        )


@dataclass(frozen=True)
class _Refit:
    """A refit: rows of `Sensitivity.shifts` with the errors of their shifts, and rows of `Sensitivity.skipped`."""

    rows: list[dict[str, Any]]
    errors: list[float]
    skipped: list[dict[str, str]]


def _refit(
    label: str,
    reasons: Mapping[str, str],
    everything: Mapping[str, ContrastEstimate],
    estimates: Callable[[], dict[str, ContrastEstimate]],
) -> _Refit:
    """Return how far each contrast moves, or why its case could not be left out; `reasons` are those known before."""
    refit: dict[str, ContrastEstimate] = {}
    if not all(reasons.values()):
        try:
            refit = estimates()
        except BayesBiasError as error:
            reasons = {contrast: reason or str(error) for contrast, reason in reasons.items()}
    moved = {contrast: (refit[contrast], full) for contrast, full in everything.items() if contrast in refit}
    return _Refit(
        [_row(label, contrast, *both) for contrast, both in moved.items()],
        [shift_error(*both) for both in moved.values()],
        [
            {"left_out": label, "contrast": contrast, "reason": reasons[contrast]}
            for contrast in everything
            if contrast not in refit
        ],
    )


def _sorted(shifts: "pd.DataFrame") -> "pd.DataFrame":
    """Return shifts that change a conclusion first, then the largest ones."""
    shifts = shifts.astype({"changes_reading": bool})
    order = np.lexsort((-np.abs(shifts["shift_in_sd"].to_numpy(float)), ~shifts["changes_reading"].to_numpy(bool)))
    return shifts.iloc[order].reset_index(drop=True)


def _fitted(
    table: "pd.DataFrame", spec: ModelSpec, baseline: str, hdi_prob: float, *, draws: int, chains: int, seed: int
) -> dict[str, ContrastEstimate]:
    """Return the estimate of each contrast from a whole fit, with the error of its effective sample size."""
    import arviz_stats

    fitted = fit_model(table, spec, draws=draws, chains=chains, random_seed=seed, progress=False)
    means = fitted["posterior"].to_dataset()["connection_mean"]
    estimates = {}
    for other in (str(name) for name in means["connection"].values if name != baseline):
        values = means.sel(connection=baseline, drop=True) - means.sel(connection=other, drop=True)
        effective = max(float(arviz_stats.ess(values.rename("value").to_dataset(), method="mean")["value"]), 1.0)
        estimates[contrast_name(baseline, other)] = draws_estimate(
            values.to_numpy().reshape(-1), hdi_prob, effective=effective
        )
    return estimates


def _cases(
    table: "pd.DataFrame", data: ModelData, spec: ModelSpec, leave_out: str
) -> Iterator[tuple[str, np.ndarray, ModelSpec]]:
    """Yield the label of each refit, a mask of its rows, and its model."""
    if leave_out == "prior":
        everything = np.ones(len(table), dtype=bool)
        yield from ((label, everything, changed) for label, changed in _other_priors(spec))
    elif leave_out == "list":
        for column, kind in (("attribute_group", "attribute list"), ("protected_group", "protected group")):
            values = np.asarray(table[column], dtype=str)
            for name in dict.fromkeys(values.tolist()):
                yield f"{kind} {name}", values != name, spec
    else:
        row_codes, words = {
            "attribute_word": (data.attribute, data.attribute_words),
            "protected_word": (data.protected, data.protected_words),
        }[leave_out]
        for place, word in enumerate(words):
            yield str(word), row_codes != place, spec
        for places in clusters_of(data, leave_out.removesuffix("_word")):
            yield ", ".join(map(str, words[places])), ~np.isin(row_codes, places), spec


def _other_priors(spec: ModelSpec) -> Iterator[tuple[str, ModelSpec]]:
    for name, prior in spec.priors.items():
        for factor, change in ((0.5, "halved"), (2.0, "doubled")):
            stretched = {**prior.parameters, **_STRETCH[prior.distribution](prior.parameters, factor)}
            changed = Prior(prior.distribution, stretched)
            yield f"{name} ~ {changed} (scale {change})", load_model(spec, priors={name: changed})


def _obstacles(
    data: ModelData, keep: np.ndarray, baseline: str, whole: Mapping[str, set[str]], measure: Measure
) -> dict[str, str]:
    """Return for each contrast the reason why these rows do not determine it; an empty text if they do.

    `whole` are the groups behind each connection with all rows (`_groups_behind`).
    """
    reasons, equal = {}, ""
    places = data.cells(slice(None))
    counts = np.bincount(places[keep], minlength=data.pair_counts.size).reshape(data.pair_counts.shape)
    left = _groups_behind(data, counts > 0)
    left_groups = set(data.protected_groups[counts.any(axis=1)].tolist())
    for place, name in enumerate(data.connections):
        distance = data.distance[keep & (data.connection == place)]
        if not len(distance):
            reasons[name] = f"the connection {name!r} would have no rows left"
        elif (after := left[name]) != (before := whole[name] & left_groups):
            lost = name_some(map(quoted_name, sorted(before - after)))
            entering = name_some(map(quoted_name, sorted(after - before)))
            reasons[name] = (
                f"{lost} would have no {name} words" if lost else f"{entering} would enter the average of {name} words"
            )
        elif len(distance) > 1 and distance.min() == distance.max():
            reasons[name] = equal = f"all {measure.numbers} left in the connection {name!r} would be equal"
        else:
            reasons[name] = ""
    return {
        f"{baseline} - {other}": equal or reasons[baseline] or reasons[other]
        for other in data.connections
        if other != baseline
    }


def _groups_behind(data: ModelData, measured: np.ndarray) -> dict[str, set[str]]:
    """Return the protected groups that the mean of each connection averages over.

    `measured` (protected words, connections) says which pairs there are.
    """
    there = np.flatnonzero(measured.any(axis=0))
    left = [data.connections[place] for place in there]
    behind = compared_words(measured[:, there], data.protected_groups, left)[:, None] & measured
    return {
        name: set(data.protected_groups[of_words].tolist())
        for name, of_words in zip(data.connections, behind.T, strict=True)
    }


def _row(label: str, contrast: str, refit: ContrastEstimate, full: ContrastEstimate) -> dict[str, Any]:
    shift = refit.mean - full.mean
    numbers = refit.numbers()
    return {
        **{name: numbers[name] for name in COLUMNS if name in numbers},
        "left_out": label,
        "contrast": contrast,
        "shift": shift,
        "shift_in_sd": shift / full.sd,
        "changes_reading": changes_reading(refit, full),
    }


def _claim(shifts: "pd.DataFrame", deciding: Mapping[str, list[str]], leave_out: str) -> str:
    """Return the answer: in how many of the refits a conclusion changes."""
    action = "Halving or doubling the scale of" if leave_out == "prior" else "Leaving out"
    refits = f"{action} each of the {leave_out.replace('_', ' ')}s in turn"
    if leave_out.endswith("_word") and any(", " in label for label in shifts["left_out"]):
        refits += ", and each cluster of words that count nearly as one,"
    changing, cases = {name for names in deciding.values() for name in names}, shifts["left_out"].nunique()
    return f"{refits} changes a conclusion in {len(changing) or 'none'} of {counted(cases, 'case')}."


def _statements(
    result: "pd.DataFrame",
    everything: Mapping[str, ContrastEstimate],
    deciding: Mapping[str, list[str]],
    skipped: list[dict[str, str]],
    leave_out: str,
    measure: Measure,
) -> tuple[Statement, ...]:
    if result.empty:
        text = f"Nothing could be left out: {skipped[0]['reason']}." if skipped else "There was nothing to leave out."
        return (Statement("nothing", text),)
    case = "with" if leave_out == "prior" else "without"
    changes = [
        f"{contrast!r} is {measure.way(everything[contrast].reading)} with everything, and has another answer {case} "
        f"{name_some(names)}."
        for contrast, names in deciding.items()
        if names
    ]
    conclusions = " ".join([_claim(result, deciding, leave_out), *changes])
    largest = result.iloc[int(np.argmax(result["shift_in_sd"].abs()))]
    shift = (
        f"Relative to its uncertainty, {largest['contrast']!r} shifts most {case} "
        f"{largest['left_out']!r}: by {signed_text(largest['shift'])}, {abs(largest['shift_in_sd']):.2f} posterior "
        "standard deviations."
    )
    columns = ("left_out", "contrast", "shift", "shift_in_sd")
    statements = [Statement("conclusions", conclusions, {"deciding": deciding})]
    if abs(largest["shift_in_sd"]) >= _LEAST_SHIFT:
        statements.append(Statement("largest shift", shift, {name: largest[name] for name in columns}))
    return tuple(statements)

"""Number of words that a study needs: tables are simulated from a fitted or an assumed model, and fitted again."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    Limit,
    check_choice,
    check_count,
    check_number,
    check_probability,
    resolve_seed,
)
from bayesbias.base.number_text import counted, distance_text, percent_text
from bayesbias.base.progress import stopped_statement, with_progress
from bayesbias.base.results import MOST_LINES, Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, render_html, render_text
from bayesbias.errors import ReportError
from bayesbias.estimates.frames import notebook_html
from bayesbias.models.data import ModelData, study_data
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.quick import quick_contrasts
from bayesbias.reports.robustness.study_plan import StudyPlan, VectorPlan, assumed_plan, plan_from_fit

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


# A size suffices if at least this share of the studies of that size has an interval narrower than `width`.
ASSURANCE = 0.8
_POINTS = 500
_DRAWS = 2000
_WIDEST = 4.0
# Design effects above this are stated.
_CLEARLY_DEPENDENT = 1.1
_MOST_ROWS = 20_000_000


# Protected words per group, and attribute words per list, that are tried by default.
SIZES = tuple(product((5, 10, 20, 40), (10, 20, 40, 80)))
# Distances lie in 0 to 2, so a difference of their means lies in -2 to 2.
_SAMPLES = Limit(100_000, 0.02)  # simulated studies of each size


@dataclass(frozen=True, eq=False, repr=False)
class StudySizes(Result):
    """Width of a contrast's interval in studies of several sizes, and power to detect a contrast.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each size, with the numbers of words, and standard errors of Monte Carlo beside the estimates.
        `suffices` says whether `share_narrower` is at least 0.8, and `smallest` whether no other such size tried has as
        many or fewer words of both kinds.
    statements
        Statements on the sizes, and the model's caution.
    contrast, width, true_contrast, hdi_prob, model, random_seed
        Arguments of `required_words`, the name of the model, and the seed.
    """

    frame: "pd.DataFrame"
    statements: tuple[Statement, ...]
    contrast: str
    width: float
    true_contrast: float | None
    hdi_prob: float
    model: str
    random_seed: int

    def __str__(self) -> str:
        return f"{render_text(self.parts)}\n\n{self.frame.to_string(index=False)}"

    def __repr__(self) -> str:
        return f"StudySizes({self.contrast!r}, width={self.width:g}, {len(self.frame)} sizes)"

    def _repr_html_(self) -> str:
        return render_html(self.parts) + (notebook_html(self.frame) or "")

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (StatementList("", self.statements, bulleted=False),)

    @cached_property
    def contents(self) -> Contents:
        """How wide intervals are in studies of several sizes, and what they detect."""
        return contents_of(
            self,
            title=f"How many words does a study of {self.contrast} need?",
            captions={"frame": "Simulated studies by size, in units of cosine distance"},
            figures={"widths": self._width_figure()},
        )

    def _width_figure(self) -> ResultFigure:
        """Return a forest of the mean widths of the sizes that are nearest to the wanted width, the narrowest first."""
        nearest = (self.frame["mean_width"] - self.width).abs().nsmallest(MOST_LINES).index
        rows = self.frame.loc[nearest].sort_values("mean_width", kind="stable")
        sizes = rows[["protected_words", "attribute_words"]].itertuples(index=False, name=None)
        rows = rows.assign(
            label=[f"{protected} per group, {attributes} per list" for protected, attributes in sizes],
            mean=rows["mean_width"],
            hdi_low=rows["mean_width"] - 2 * rows["mc_se"],
            hdi_high=rows["mean_width"] + 2 * rows["mc_se"],
            filled=rows["suffices"],
        )
        cut = f" Of {len(self.frame)} sizes, the {MOST_LINES} nearest to that width are shown."
        caption = (
            f"Mean width of the {percent_text(self.hdi_prob)} interval (points) and two Monte Carlo standard errors "
            "(lines), by the number of protected words per group and of attribute words per list. Filled: narrower "
            f"than {self.width:g} in at least {percent_text(ASSURANCE)} of studies. Shaded: narrower than "
            f"{self.width:g}.{cut if len(self.frame) > MOST_LINES else ''}"
        )
        return forest_figure(caption, rows, label="Mean width of the interval", rope=(0.0, self.width))


def required_words(
    fit: "xr.DataTree | Mapping[str, Any]",
    *,
    width: float,
    true_contrast: float | None = None,
    contrast: str = "associated - different",
    hdi_prob: float = HDI_PROB,
    sizes: Sequence[tuple[int, int]] | None = None,
    samples: int = 20,
    random_seed: int | None = None,
    progress: bool = True,
) -> "StudySizes":
    """Return how many words a study needs for a narrow interval of a contrast, and how often it detects the contrast.

    For each size, studies are simulated: parameters are drawn from the posterior, then new protected words, new
    attribute words and distances. The model is fitted to each study, and its interval measured.

    Parameters
    ----------
    fit
        Fit returned by `fit`; or an assumed model, a mapping of `connection_mean`, `word_sd` and `sigma` (each a
        mapping from connection to number; the last two may be one number for all), and optionally `attribute_sd` (a
        number, or a mapping from ``"stereotype"``, ``"human"``, ``"neutral"``), `protected_groups` (default 2) and
        `controls` (number of words of the ``"human"`` and ``"neutral"`` lists; by default as many as a list has).
    width
        Largest acceptable width of the interval, in units of cosine distance.
    true_contrast
        True value of the contrast in the simulated studies, such as -0.05, in place of that of `fit`; the frame then
        has the power to detect it.
    contrast
        Two connections, such as ``"associated - different"``.
    hdi_prob
        Probability inside the highest posterior density interval.
    sizes
        Pairs of protected words per group and attribute words per list; by default 5 to 40 by 10 to 80. Each protected
        group has one attribute list; a single group has a second list, of different words.
    samples
        Number of studies simulated for each size, with the same parameters in the same order for every size.
    random_seed
        0 to 2**32 - 1. None draws a seed and records it.
    progress
        Whether to show a progress bar.

    Returns
    -------
    StudySizes
        Widths of each size, and statements on them; `print` shows both.
        If an interrupt, such as Ctrl-C, ends the simulation, the sizes that were done are returned, with a warning.

    Raises
    ------
    FitError, ReportError, ModelError, ArgumentError
        If `fit` is neither a fit nor a usable mapping, its model is not one that the fast samplers fit, or an argument
        is not usable; before anything is simulated.

    Notes
    -----
    From a multivariate fit, new words are like those of its lists: the mean distances of groups have the covariances
    of the fitted lists, and words of a group are exchangeable. Control lists keep the sizes that they have in the fit.
    With attribute effects, more protected words cannot make up for few attribute words, nor more attribute words for
    few protected words. The answer is no better than the fit: a model without attribute effects asks for too few words.

    References
    ----------
    Joseph, Wolfson and du Berger (1995), Sample size calculations for binomial proportions via highest posterior
    density intervals, for the average length criterion; Kruschke (2015), Doing Bayesian data analysis, chapter 13, for
    planning by simulated precision.

    Examples
    --------
    >>> assumed = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}
    >>> sizes = bb.required_words(assumed, width=0.03, sizes=[(5, 5), (40, 20)], samples=5, random_seed=1)
    >>> sizes.frame[["protected_words", "attribute_words", "pairs", "suffices"]]
       protected_words  attribute_words  pairs  suffices
    0                5                5    100     False
    1               40               20   3200      True
    """
    import pandas as pd

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    width = check_number("width", width, low=0, high=_WIDEST, above=True)
    check_count("samples", samples, least=2, limit=_SAMPLES)
    tried = _checked_sizes(SIZES if sizes is None else sizes)
    plan = assumed_plan(fit) if isinstance(fit, Mapping) and not hasattr(fit, "children") else plan_from_fit(fit)
    baselines = {f"{base} - {other}": base for base, other in permutations(plan.connections, 2)}
    baseline = baselines[check_choice("contrast", contrast, baselines)]
    if true_contrast is not None:
        true_contrast = check_number("true_contrast", true_contrast, low=-_WIDEST / 2, high=_WIDEST / 2)
        if true_contrast == 0:
            raise ReportError("true_contrast=0: give the contrast to be detected, such as -0.05.")
        plan = _with_contrast(plan, contrast, true_contrast)
    _check_rows(plan, tried)
    rows: list[dict[str, Any]] = []
    stopped: tuple[Statement, ...] = ()
    request = {
        "width": width,
        "true_contrast": true_contrast,
        "contrast": contrast,
        "baseline": baseline,
        "hdi_prob": hdi_prob,
    }
    try:
        for protected, attributes in with_progress(tried, "Sizes", progress=progress):
            rows.append(_size_row(plan, protected, attributes, samples, seed, request))
    except KeyboardInterrupt:
        stopped = (stopped_statement(len(rows), len(tried), "sizes"),)
    frame = pd.DataFrame(rows)
    frame["smallest"] = _smallest(frame)
    statements = _statements(frame, plan, width=width, contrast=contrast, hdi_prob=hdi_prob)
    return StudySizes(frame, (*stopped, *statements), contrast, width, true_contrast, hdi_prob, plan.spec.name, seed)


def _size_row(
    plan: StudyPlan, protected: int, attributes: int, samples: int, seed: int, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the row of a size: studies of it are simulated, and the model is fitted to each."""
    true_contrast, intervals = request["true_contrast"], []
    for sample in range(samples):
        data = _simulate(plan, protected, attributes, np.random.default_rng([seed, sample]))
        rng = np.random.default_rng([seed, sample, 1])
        with suppress(SamplerFailedError):  # a study that the fast sampler cannot fit is left out
            contrasts = quick_contrasts(
                data, plan.spec, baseline=request["baseline"], draws=_DRAWS, points=_POINTS, rng=rng
            )
            interval = contrasts[request["contrast"]](request["hdi_prob"])
            intervals.append((interval.low, interval.high))
    if len(intervals) < 2:
        raise ReportError(
            f"The simulated studies with {_size_text(protected, attributes)} cannot be fitted by the fast sampler. "
            "Leave this size out, or give larger ones."
        )
    low, high = np.array(intervals).T
    share = float((high - low < request["width"]).mean())
    return {
        "protected_words": protected,
        "attribute_words": attributes,
        "pairs": plan.pairs(protected, attributes),
        "mean_width": float((high - low).mean()),
        "mc_se": float((high - low).std(ddof=1) / np.sqrt(len(low))),
        "share_narrower": share,
        "share_se": _share_error(share, len(low)),
        **({} if true_contrast is None else _power(low, high, true_contrast)),
        "studies": len(low),
        "suffices": share >= ASSURANCE,
    }


def _share_error(share: float, count: int) -> float:
    return float(np.sqrt(share * (1 - share) / count))


def _power(low: np.ndarray, high: np.ndarray, true_contrast: float) -> dict[str, float]:
    """Return the share of intervals that exclude 0 on the side of the true contrast."""
    power = float(((high < 0) if true_contrast < 0 else (low > 0)).mean())
    return {"power": power, "power_se": _share_error(power, len(low))}


def _with_contrast(plan: StudyPlan, contrast: str, true_contrast: float) -> StudyPlan:
    """Return a plan whose contrast is `true_contrast`, by moving the mean of the first connection."""
    base, other = (plan.connections.index(name) for name in contrast.split(" - "))
    mean = plan.connection_mean.copy()
    mean[:, base] = mean[:, other] + true_contrast
    return replace(plan, connection_mean=mean)


def _checked_sizes(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    try:
        pairs = {(check_count("sizes", words), check_count("sizes", listed, least=2)) for words, listed in sizes}
    except (TypeError, ValueError):
        pairs = set()
    if not pairs:
        raise ReportError(
            f"sizes={sizes!r}: give pairs of whole numbers, protected words per group (at least 1) and attribute "
            "words per list (at least 2), such as [(5, 10), (10, 20)]."
        )
    return sorted(pairs)


def _check_rows(plan: StudyPlan, sizes: list[tuple[int, int]]) -> None:
    for protected, attributes in sizes:
        rows = plan.pairs(protected, attributes)
        if rows > _MOST_ROWS:
            raise ReportError(
                f"A study with {_size_text(protected, attributes)} has {counted(rows, 'pair')}, more than the "
                f"{_MOST_ROWS:,} that are simulated at once. Leave this size out."
            )


def _simulate(plan: StudyPlan, protected: int, attributes: int, rng: np.random.Generator) -> ModelData:
    """Return a table of a new study, whose words are drawn from one draw of the parameters."""
    draw = int(rng.integers(len(plan.connection_mean)))
    place = {name: position for position, name in enumerate(plan.connections)}
    group = np.repeat(np.arange(plan.groups), plan.independent_protected(protected))
    words = len(group)
    lists = [
        (kind, owner, plan.independent_words(count) if kind == "stereotype" else count)
        for kind, owner, count in plan.lists(attributes)
    ]
    columns = []
    for kind, owner, count in lists:
        if kind != "stereotype":
            column = np.full(words, place[kind])
        else:
            column = np.where(group == owner, place.get("associated", -1), place.get("different", -1))
        columns.append(np.repeat(column[:, None], count, axis=1))
    connection = np.concatenate(columns, axis=1)
    data = study_data(connection, np.array([f"g{number}" for number in group]), plan.connections)
    row, code = data.protected, data.connection
    if (vectors := plan.vectors) is not None:
        loadings = vectors.moments.loadings(words, rng)
        of_word = plan.connection_mean[draw]
        of_word = of_word + vectors.moments.effects(loadings, vectors.word_covariance[draw], rng)
        noise = np.concatenate([_deviations(vectors, draw, entry, group, loadings, rng) for entry in lists], axis=1)
        return replace(data, distance=of_word[row, code] + noise[row, data.attribute])
    word_mean = plan.connection_mean[draw] + plan.word_sd[draw] * rng.standard_normal((words, len(plan.connections)))
    # All connections of one attribute word are of one kind, and so have one sd.
    attribute_connection = connection.max(axis=0)
    effect = plan.attribute_sd[draw][attribute_connection] * rng.standard_normal(connection.shape[1])
    noise = plan.sigma[draw][code] * rng.standard_normal(len(row))
    return replace(data, distance=word_mean[row, code] + effect[data.attribute] + noise)


def _deviations(
    vectors: VectorPlan,
    draw: int,
    entry: tuple[str, int, int],
    group: np.ndarray,
    loadings: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw deviations of distances to the words of a new list (kind, group, count), shape (words, count)."""
    kind, owner, count = entry
    like = int(rng.choice(vectors.like(kind, owner)))
    deviations = vectors.moments.deviations(draw, like, group, loadings, count, rng)
    if vectors.nu is None:
        return deviations
    nu = float(vectors.nu[draw])
    return np.asarray(deviations / np.sqrt(rng.chisquare(nu, count) / nu))


def _smallest(frame: "pd.DataFrame") -> list[bool]:
    """Return whether each size suffices, and no other such size has as many or fewer words of both kinds."""
    words, listed = frame["protected_words"], frame["attribute_words"]
    return [
        bool(enough) and int((frame["suffices"] & (words <= most) & (listed <= longest)).sum()) == 1
        for enough, most, longest in zip(frame["suffices"], words, listed, strict=True)
    ]


def _size_text(protected_words: int, attribute_words: int) -> str:
    per_list = counted(attribute_words, "attribute word")
    return f"{counted(protected_words, 'protected word')} per group and {per_list} per list"


def _statements(
    frame: "pd.DataFrame", plan: StudyPlan, *, width: float, contrast: str, hdi_prob: float
) -> tuple[Statement, ...]:
    goal = f"the {percent_text(hdi_prob)} interval of {contrast!r}"
    often = f"narrower than {width:g} in at least {percent_text(ASSURANCE)} of studies"
    assurance = f"in at least {percent_text(ASSURANCE)} of the studies"
    smallest = frame.loc[frame["smallest"], ["protected_words", "attribute_words"]].to_dict("records")
    if smallest:
        first, *others = sorted(smallest, key=lambda size: sum(size.values()))
        text = f"With {_size_text(*first.values())}, {goal} is {often}."
        statements = [Statement("smallest sizes", text, {"sizes": smallest})]
        if others:
            options = "; or ".join(_size_text(*size.values()) for size in others)
            statements.append(Statement("other sizes", f"Of the sizes tried, these suffice too: {options}."))
    else:
        best = frame.to_dict("records")[int(np.argmin(frame["mean_width"]))]
        text = f"No size tried makes {goal} {often}; the narrowest is {distance_text(best['mean_width'])} on average."
        names = ("protected_words", "attribute_words", "mean_width")
        statements = [Statement("no size suffices", text, {name: best[name] for name in names})]
    if "power" in frame:
        enough_power = frame[frame["power"] >= ASSURANCE]
        best = frame.to_dict("records")[int(np.argmax(frame["power"]))]
        text = (
            f"Of {counted(len(frame), 'size')} tried, {counted(len(enough_power), 'shows', 'show')} the contrast "
            f"{assurance}; it is shown most often (in {best['power']:.0%}) with "
            f"{_size_text(best['protected_words'], best['attribute_words'])}."
        )
        statements.append(Statement("power", text, {"power": frame["power"].tolist()}))
    if max(plan.design_effect, plan.group_effect) > _CLEARLY_DEPENDENT:
        text = (
            f"In the fit, 10 attribute words of a list are worth about {10 / plan.design_effect:.1f} independent ones, "
            f"and 10 protected words {10 / plan.group_effect:.1f}; new words are taken to be like them. Words "
            "of other meanings are worth more; synonyms and forms of the present words add next to nothing."
        )
        effects = {"design_effect": plan.design_effect, "group_effect": plan.group_effect}
        statements.append(Statement("effective words", text, effects))
    spec = plan.spec
    if spec.switches["attribute_effects"] == "none":
        text = (
            f"The model {spec.name!r} treats attribute words as independent, so it asks for too few of them if some "
            "are nearer to everything than others. Plan with a fit of 'multivariate'."
        )
        statements.append(Statement("independent attribute words", text))
    return (*statements, *([Statement("caution", spec.caution)] if spec.caution else []))

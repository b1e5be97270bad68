"""Effects of the factors of a study on the leans of its groups: main effects, interactions and simple effects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, interval_text, listed, percent_text, shown_name, signed_text
from bayesbias.base.results import DOUBTS, LIMITS, SHOWS, Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, name_some, raise_faults
from bayesbias.estimates.intervals import (
    contrast_name,
    diagnostics_of,
    direction_of,
    independent_draws,
    is_borderline,
    mark,
    moments,
    shortest_intervals,
)
from bayesbias.models.data import ModelData
from bayesbias.models.fits import (
    check_fit,
    fit_attribute,
    fitted_model,
    fitted_rows,
    hdi_prob_of,
    measure_of_fit,
    measured_in,
    rope_of,
)
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    list_weights,
    observed_list_means,
)
from bayesbias.models.multivariate.posterior_draws import effect_covariances
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.spec import DEFAULT_MODEL
from bayesbias.models.units import model_in_distances, rows_in_distances
from bayesbias.reports.posterior.doubts import all_doubts
from bayesbias.reports.posterior.factor_statements import (
    FactorDesign,
    Lean,
    answer_statement,
    effect_statements,
    effects_together,
    legend_text,
    limit_statements,
)
from bayesbias.reports.posterior.questions import has_factors
from bayesbias.studies.factor_design import MEAN, SIMPLE, TIMES, FactorEffect, crossing_of, effects_of
from bayesbias.studies.faults import CONTROLS, CROSSED, shape_faults
from bayesbias.tables.measures import Measure
from bayesbias.tables.schema import source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_STREAM = 105
_MOST_OPEN = 12  # rows of simple effects
_MOST_ROWS = 10_000
_ROW = "row"


def effects_or_reason(
    fit: "xr.DataTree", hdi_prob: float, rope: float | tuple[float, float] | None
) -> "FactorEffects | ReportError | None":
    """Return the effects of the factors of a fit's study, or why they cannot be computed; None without factors."""
    if not has_factors(fit):
        return None
    try:
        return factor_effects(fit, hdi_prob=hdi_prob, rope=rope)
    except ReportError as error:
        return error


def statements_or_reason(effects: "FactorEffects | ReportError | None") -> tuple[Statement, ...]:
    """Return a statement for each main effect and interaction, or why there are none; nothing without factors."""
    if effects is None:
        return ()
    if isinstance(effects, ReportError):
        return (Statement("factors", f"Effects of the study's factors are not computed. {effects}"),)
    return effects.statements


def factor_design(fit: "xr.DataTree") -> FactorDesign:
    """Return the factors of the study of a fit; raise a `ReportError` if it has none, or lacks one of their groups."""
    stored = fit_attribute(fit, "table").get("factors", {})
    raise_faults(ReportError, "The table's record of its study's factors", list(shape_faults(stored)))
    if not stored.get("factors"):
        raise ReportError(
            "The study has no factors. Write [factors] in its TOML file (race = {black = [...], white = [...]}, each "
            "level a list of protected groups) and build the table again."
        )
    rows = fitted_rows(fit)
    if rows.attribute_groups is None or "list_mean" not in fit["posterior"]:
        raise ReportError(
            f"The model {fitted_model(fit).name!r} has no mean for each protected group and attribute list, of which "
            f"effects of factors are contrasts. Fit the model {DEFAULT_MODEL!r}."
        )
    lists = dict.fromkeys(rows.attribute_groups.tolist())
    numbers = stored.get("trends", {}), stored.get("level_weights", {})
    crossing = crossing_of(stored["factors"], *numbers)
    plain_lists = [name for name in lists if name not in CONTROLS]
    if not stored.get("attribute_factors") and comb(len(plain_lists), 2) * len(effects_of(crossing)) > _MOST_ROWS:
        raise ReportError(
            f"The pairs of {len(plain_lists)} attribute lists have more than {_MOST_ROWS:,} effects of the study's "
            "factors. Write [attribute_factors], which say how the lists are compared, or leave out lists."
        )
    leans = _leans(stored, plain_lists, numbers)
    present = {"factors": set(rows.protected_groups.tolist()), "attribute_factors": set(lists)}
    used = {"factors": crossing.members, "attribute_factors": tuple(name for lean in leans for name in lean.lists)}
    for section, kind in CROSSED.items():
        if lacking := [name for name in dict.fromkeys(used[section]) if name not in present[section]]:
            raise ReportError(
                f"The fit has no {kind} {name_some(map(repr, lacking))}, which the study's factors name. Fit a table "
                "of all their groups and lists."
            )
        if any(not cell for cell in crossing.cells):
            raise ReportError("A cell of the study's factors has no protected group. Correct [factors].")
    return FactorDesign(crossing, leans)


def _leans(stored: Mapping[str, Any], lists: list[str], numbers: tuple[Any, Any]) -> tuple[Lean, ...]:
    """Return the effects of attribute factors, or the pairs of all attribute lists, as weights of lists."""
    if stored.get("attribute_factors"):
        crossed = crossing_of(stored["attribute_factors"], *numbers)
        shares = crossed.shares(names := list(dict.fromkeys(crossed.members)))
        return tuple(
            Lean(effect.name, dict(zip(names, (effect.weights @ shares).tolist(), strict=True)))
            for effect in effects_of(crossed)
            if effect.kind not in (MEAN,) and not effect.within
        )
    if len(lists) == 1:
        return (Lean(lists[0], {lists[0]: 1.0}),)
    return tuple(Lean(contrast_name(one, other), {one: 1.0, other: -1.0}) for one, other in combinations(lists, 2))


@dataclass(frozen=True, eq=False)
class CellDraws:
    """Draws of the leans of cells, shape (draws, leans, cells): of words like these, and of these words.

    `observed` (leans, cells) are their plain values, NaN where a cell has no word with all pairs of a lean; `words`
    (cells,) are the numbers of words.
    """

    population: np.ndarray
    these_words: np.ndarray
    observed: np.ndarray
    words: np.ndarray


def draw_cells(fit: "xr.DataTree", design: FactorDesign) -> CellDraws:
    """Return the leans of the cells of a fit's study.

    The mean of a cell is that of its groups, which weigh the same, as do the words of a group. That of words like these
    is the mean of these words plus Normal(0, S_g / n_g) in each group, as in the fit itself: n_g are the independent
    words that a group is worth, S_g the covariance of the leans of its words beyond chance.
    """
    rows = fitted_rows(fit)
    sample, leans = attribute_sample(rows), design.leans
    weights = np.zeros((len(leans), len(sample.lists)))
    for place, lean in enumerate(leans):
        for name, weight in lean.lists.items():
            weights[place] += weight * list_weights(sample, rows, name)
    means = fit["posterior"]["list_mean"].transpose("chain", "draw", "attribute_group", "protected_word").to_numpy()
    word_leans = np.einsum("kl,dlw->dkw", weights, means.reshape(-1, *means.shape[2:]), optimize=True)
    groups = np.unique(rows.protected_groups)
    of_groups = np.eye(len(groups))[sample.group_of].T
    shares = design.crossing.shares(groups.tolist())
    in_cells = shares @ (of_groups / of_groups.sum(axis=1, keepdims=True))
    these = np.einsum("cw,dkw->dkc", in_cells, word_leans, optimize=True)
    plain = observed_list_means(sample)
    lacking = ((np.abs(weights) > 0) @ np.isnan(plain)).astype(bool)
    observed = _observed(weights @ np.nan_to_num(plain), ~lacking, of_groups, shares)
    noise = _population_noise(fit, rows, sample, weights, len(word_leans))
    population = these + np.einsum("cg,dgk->dkc", shares, noise, optimize=True)
    return CellDraws(population, these, observed, ((shares > 0) @ of_groups.sum(axis=1)).astype(int))


def _observed(leans: np.ndarray, whole: np.ndarray, of_groups: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return plain leans of cells, (leans, cells), from those of words and which words are `whole`, (leans, words)."""
    counts = whole @ of_groups.T
    means = np.where(counts > 0, (leans * whole) @ of_groups.T / np.maximum(counts, 1), np.nan)
    return np.asarray(np.stack([(means[:, share > 0] * share[share > 0]).sum(axis=1) for share in shares], axis=1))


def _population_noise(
    fit: "xr.DataTree", rows: ModelData, sample: AttributeSample, weights: np.ndarray, draws: int
) -> np.ndarray:
    """Return what the mean leans of words like these have beyond those of these words, (draws, groups, leans)."""
    names = tuple(f"lean {place}" for place in range(len(weights)))
    in_distances = attribute_sample(rows_in_distances(rows))
    of_leans = np.tile(weights, (len(rows.protected_words), 1, 1))
    priors = model_in_distances(fitted_model(fit), rows.scale).priors
    seed = int(fit_attribute(fit, "random_seed"))
    between = effect_covariances(replace(in_distances, connection_weights=of_leans), priors, names, draws, seed)
    standard = np.random.default_rng([seed, _STREAM]).standard_normal((*between.shape[:3], 1))
    noise = (np.linalg.cholesky(between) @ standard)[..., 0] / np.sqrt(sample.group_worths)[:, None]
    return np.asarray(noise * rows.scale.unit)


def effect_frame(
    fit: "xr.DataTree",
    design: FactorDesign,
    cells: CellDraws,
    effects: list[FactorEffect],
    hdi_prob: float,
    rope: tuple[float, float] | None,
) -> "pd.DataFrame":
    """Return one row for each lean and effect, with both scopes."""
    import pandas as pd
    import xarray as xr

    from bayesbias.estimates.frames import EstimateFrame

    of_cells = np.stack([effect.weights for effect in effects])
    sizes = fit["posterior"].sizes

    def draws_of(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("ec,dkc->dke", of_cells, values, optimize=True)).reshape(len(values), -1)

    population, these = draws_of(cells.population), draws_of(cells.these_words)
    chains = xr.DataArray(
        population.reshape(sizes["chain"], sizes["draw"], -1),
        dims=("chain", "draw", _ROW),
        coords={_ROW: np.arange(population.shape[1])},
    )
    numbers = moments(chains, independent=independent_draws(fit)).drop(columns=_ROW).to_dict("records")
    ends = shortest_intervals(np.ascontiguousarray(these.T), hdi_prob)
    sides = direction_of(chains, rope)
    observed = (cells.observed @ of_cells.T).reshape(-1)
    records: list[dict[str, Any]] = []
    for place, (lean, effect) in enumerate((lean, effect) for lean in design.leans for effect in effects):
        interval = draws_interval(population[:, place], hdi_prob)
        records.append(
            {
                "lean": lean.name,
                "kind": effect.kind,
                "source": effect.source,
                "effect": effect.name,
                "within": effect.within,
                "words": int(cells.words[effect.weights != 0].sum()),
                "observed": float(observed[place]),
                **{str(name): value for name, value in numbers[place].items()},
                "hdi_low": interval.low,
                "hdi_high": interval.high,
                "low_se": interval.low_se,
                "high_se": interval.high_se,
                "borderline": is_borderline(interval.low, interval.high, interval.low_se, interval.high_se),
                "these_words_low": ends[place, 0],
                "these_words_high": ends[place, 1],
                **{name: values[place].item() for name, values in sides.items() if name != "direction"},
            }
        )
    frame = pd.DataFrame(records)
    # The mean distance to a single list is not compared with anything.
    frame = frame[(frame["kind"] != MEAN) | frame["lean"].isin([lean.name for lean in design.leans if lean.sides])]
    frame = frame.reset_index(drop=True)
    leading = ["lean", "kind", "source", "effect", "within", "words", "observed", "mean", "sd", "hdi_low", "hdi_high"]
    leading += ["low_se", "high_se", "borderline", "these_words_low", "these_words_high"]
    probabilities = [name for name in frame if str(name).startswith("probability")]
    result = EstimateFrame(frame[[*leading, *probabilities, *diagnostics_of(frame)]])
    result.settings = {
        "hdi_prob": hdi_prob,
        "rope": None if rope is None else list(rope),
        "source": source_name(fit_attribute(fit, "table")),
        **measured_in(fit),
    }
    return result


@dataclass(frozen=True, eq=False, repr=False)
class FactorEffects(Result):
    """Effects of the factors of a study, from `factor_effects`. `print` shows which are settled.

    Parameters
    ----------
    effects : pandas.DataFrame
        One row for each lean and effect:

        - `lean`: what cells are compared in, such as ``"pleasant - unpleasant"``: the mean distance to the first
          attribute list minus that to the second;
        - `kind`: ``"mean"`` (of all cells), ``"main effect"``, ``"interaction"`` or ``"simple effect"``;
        - `source`: the factors, such as ``"race x gender"``; `effect`: what is subtracted, such as ``"black - white"``;
          `within`: in simple effects, the levels of the other factors;
        - `words`: protected words behind the row; `observed`: the plain value;
        - `mean`, `sd`, `hdi_low`, `hdi_high`, `low_se`, `high_se`, `borderline`, `probability_of_direction`,
          `probability_in_rope`: as in `contrasts`, for words like these;
        - `these_words_low`, `these_words_high`: the interval for exactly these words.
    cells : pandas.DataFrame
        One row for each lean and cell, with its levels in `cell`, and the rest as in `effects`.
    design
        The factors, their cells and the leans.
    doubts
        Statements on what limits the numbers of the fit.
    measure
        What the numbers of the fit measure.
    title
        The question of the study, or the names of the factors.
    """

    effects: "pd.DataFrame"
    cells: "pd.DataFrame"
    design: FactorDesign
    doubts: tuple[Statement, ...]
    measure: Measure
    title: str

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(self.design.crossing.levels)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """A statement for each main effect and interaction."""
        return effect_statements(self.effects, self.design, self.measure)

    @cached_property
    def _together(self) -> tuple[Statement, ...]:
        return effects_together(self.effects, self.hdi_prob)

    @property
    def hdi_prob(self) -> float:
        """Probability inside the intervals."""
        return float(self.effects.settings["hdi_prob"])

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (
            StatementList("", (answer_statement(self.effects),), bulleted=False),
            StatementList(SHOWS, (*self.statements, *self._together)),
            StatementList(DOUBTS, self.doubts),
            StatementList(LIMITS, limit_statements(self.measure), detail=True),
        )

    @cached_property
    def contents(self) -> Contents:
        """Effects, means of cells, and a figure of the means."""
        prob, frame = f"{percent_text(self.hdi_prob)} HPDI", self.effects
        answer, (first, *others) = answer_statement(frame), self.statements
        crossed = TIMES.join(map(shown_name, self.factors))
        of_several = ("lean",) if len(self.design.leans) > 1 else ()
        columns = (*of_several, "source", "effect", "within", *_SHOWN)
        is_simple = frame["kind"] == SIMPLE
        shown: dict[str, Any] = {"columns": columns, "headings": {"mean": "Estimate"}, "differences": True}
        shown |= {"mark": partial(mark, below="settled", above="settled")}
        legend = legend_text(self.design, self.measure)
        what = f"lean {shown_name(frame['lean'].iloc[0])}" if len(self.design.leans) == 1 else "leans"
        tables = {
            "effects": ResultTable(frame, "Effects", "Effects of factors", on_page=False),
            "analysis": ResultTable(
                frame[~is_simple].reset_index(drop=True),
                "Effects",
                f"Effects of {crossed} on the {what}, {self.measure.in_unit}, with {prob}",
                legend=legend,
                note=" ".join(map(str, self._together)),
                in_folder=False,
                **shown,
            ),
            "simple": ResultTable(
                frame[is_simple].reset_index(drop=True),
                "Effects",
                f"Simple effects: each factor within the levels of the other{'s' * (len(self.factors) > 2)}",
                folded=int(is_simple.sum()) > _MOST_OPEN,
                in_folder=False,
                **shown,
            ),
            "means": ResultTable(
                self.cells,
                "Means of cells",
                f"Mean leans of the cells, {self.measure.in_unit}, with {prob}",
                (*of_several, "cell", *_SHOWN),
                {"mean": "Estimate"},
                differences=True,
            ),
        }
        return Contents(
            title=self.title,
            about=f"{crossed}: {counted(len(self.design.crossing.cells), 'cell')}. {frame.settings['source']}.",
            answer=answer.text,
            estimate=first.text,
            answers=tuple(others),
            doubts=self.doubts,
            tables={name: table for name, table in tables.items() if len(table.frame)},
            figures={"factors": self._figure},
            opened=(SHOWS, "Effects", "Means of cells"),
            limits=limit_statements(self.measure),
            settings={"Interval": prob},
        )

    @property
    def _figure(self) -> ResultFigure:
        """The figure of means."""
        prob = f"{percent_text(self.hdi_prob)} intervals"
        caption = (
            f"Mean leans of the cells (points), {self.measure.in_unit}, with {prob} for words like these (thin lines) "
            "and for exactly these words (thick lines). Parallel lines show no interaction. Cells share their "
            "attribute words: their differences, in the table, can be settled although intervals overlap."
        )
        texts = [
            f"{row['lean']}, {row['cell']}: {signed_text(row['mean'])} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])})"
            for row in rows_of(self.cells)
        ]
        return ResultFigure("plot_factor_means", caption, alt=f"Points with intervals. {'; '.join(texts)}.")


_SHOWN = (
    *("mean", "hdi_low", "hdi_high", "these_words_low", "these_words_high"),
    *("observed", "probability_of_direction", "probability_in_rope", "words"),
)


def factor_effects(
    fit: "xr.DataTree",
    *,
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
) -> FactorEffects:
    """Return the effects of the factors of a study, such as race and gender: an analysis of variance of leans.

    Parameters
    ----------
    fit
        Fit of a multivariate model to a table of a study with factors: ``[factors]`` in its TOML file, or
        `Study.factors`.
    hdi_prob
        Probability inside the highest posterior density intervals. None: that of the fit.
    rope
        Region of practical equivalence, as for `contrasts`.

    Returns
    -------
    FactorEffects
        Main effects, interactions and simple effects in `effects`, the means of the cells in `cells`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, its study has no factors, its model has no mean for each group and list, or an argument
        is not usable.

    Notes
    -----
    A cell is a combination of levels; its lean is the mean distance of its words to one attribute list minus that to
    another. Its groups weigh the same, and so do the words of a group. All effects are contrasts of cells, from the
    same draws: a main effect is a difference of two levels, averaged over the other factors, whose levels weigh the
    same unless the study has `level_weights`; so cells of different size weigh the same. An interaction is a difference
    of differences. An ordered factor (`trends`) has a linear trend: the slope on the numbers of its levels, times the
    range of these numbers. Attribute factors have effects as well, which take the place of leans: each effect of the
    protected groups is then a contrast of contrasts.

    The means of groups are not pooled, so that the mean of an effect is the plain linear contrast of the observed
    leans but for lost pairs. For words like these, each group adds what a sample of its words leaves open.

    Examples
    --------
    >>> import warnings
    >>> names = bb.load_study("names_race_gender").without_controls()
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> embedding = bb.load_embedding(vectors, words=names.words, case="exact,lower")
    >>> with warnings.catch_warnings(action="ignore"):  # of lost names
    ...     fitted = bb.fit(bb.distance_table(embedding, names, max_lost=0.5), random_seed=1)
    >>> effects = bb.factor_effects(fitted).effects
    >>> effects.query("kind != 'simple effect'")[["source", "effect", "observed", "mean"]].round(2)
              source                           effect  observed  mean
    0           mean                        all cells     -0.03 -0.03
    1           race                    white - black     -0.03 -0.03
    2         gender                      women - men      0.01  0.01
    3  race x gender  (white - black) x (women - men)      0.06  0.06
    """
    check_fit(fit)
    prob, region = hdi_prob_of(fit, hdi_prob), rope_of(fit, rope)
    design = factor_design(fit)
    crossing, cells = design.crossing, draw_cells(fit, design)
    single = [
        FactorEffect("cell", "cell", ", ".join(levels), "", weights)
        for levels, weights in zip(crossing.places, np.eye(len(crossing.cells)), strict=True)
    ]
    means = effect_frame(fit, design, cells, single, prob, region)
    means = means.rename(columns={"effect": "cell"}).drop(columns=["kind", "source", "within"])
    facts = fit_attribute(fit, "table")
    return FactorEffects(
        effects=effect_frame(fit, design, cells, effects_of(crossing), prob, region),
        cells=means,
        design=design,
        doubts=all_doubts(fit),
        measure=measure_of_fit(fit),
        title=str(
            facts.get("description") or f"Do leans differ by {listed(list(crossing.levels), len(crossing.levels))}?"
        ),
    )

"""The posterior of a single-number measure under a fitted model, and its values if nothing is associated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_type, resolve_seed
from bayesbias.base.number_text import counted, digits_text, estimate_text, percent_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import DOUBTS, SHOWS, Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import MOMENTS, diagnostics_of, estimates, independent_draws
from bayesbias.metrics.look_up import StudyLists
from bayesbias.metrics.registry import MEASURES
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, table_study
from bayesbias.models.densities import densities
from bayesbias.models.fits import check_cosine, fit_attribute, fitted_rows, fitted_table, hdi_prob_of
from bayesbias.models.likelihood import Densities, PairGrid
from bayesbias.reports.measures.null_simulation import rate
from bayesbias.studies.study import Study
from bayesbias.tables.schema import source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


Values = dict[str, np.ndarray]

_FEWEST_NULL = 10_000
_NUMBERS_A_BLOCK = 2**21
_STEREOTYPE = ("associated", "different")
_UNUSUAL = 0.05  # share of values without association that are at least as extreme as an unusual one
NULL_TAILS = (0.025, 0.975)
WORDS = " words"
_VALUES = ("observed", "null_low", "null_high", "repeated_low", "repeated_high", "mean", "hdi_low", "hdi_high")


def fitted_study(fit: "xr.DataTree") -> Study:
    """Return the study whose word lists a model was fitted to."""
    return table_study(fitted_table(fit), str(fit_attribute(fit, "table").get("study") or "of the fit"))


def observed_pairs(fit: "xr.DataTree", lists: StudyLists) -> tuple[Similarities, PairGrid]:
    """Return the observed similarities that a measure needs, and their positions in the fit."""
    data = fitted_rows(fit)
    words = [
        [word for part in lists_of_kind.values() for word in part]
        for lists_of_kind in (lists.protected, lists.attributes)
    ]
    fitted_words = data.protected_words, data.attribute_words
    places = [
        np.array([{word: place for place, word in enumerate(names)}[word] for word in chosen])
        for names, chosen in zip(fitted_words, words, strict=True)
    ]
    shape = len(fitted_words[0]), len(fitted_words[1])
    # A pair that is listed twice counts once, as in the measure: the row written last is the first one of the table.
    rows = np.full(shape, -1)
    rows[data.protected[::-1], data.attribute[::-1]] = np.arange(len(data.distance))[::-1]
    rows = rows[np.ix_(*places)]
    if (rows < 0).any():
        missing = [f"{words[0][i]} - {words[1][j]}" for i, j in np.argwhere(rows < 0)]
        raise ReportError(
            f"The measure needs {rows.size:,} pairs of words, of which the fit lacks {len(missing):,}: "
            f"{name_some(missing, 3)}. Fit a table that has them, or one without these words."
        )
    connection = data.connection[rows].astype(np.int64)
    present = {data.connections[code] for code in np.unique(connection)}
    if not present.issuperset(_STEREOTYPE):
        raise ReportError(
            f"The pairs of {lists.title} are only {' and '.join(sorted(present))}, but the null needs associated and "
            "different pairs. Give lists that have both."
        )
    similarity = 1.0 - data.distance[rows]
    observed = Similarities(similarity, lists.protected, lists.attributes, lists.associated)
    return observed, PairGrid(places[0], places[1], connection)


def simulate(
    posterior: Densities,
    pairs: PairGrid,
    list_sizes: Sequence[int],
    values: Callable[[np.ndarray], Values],
    rng: np.random.Generator,
    *,
    progress: bool,
) -> tuple[Values, ...]:
    """Return the expected, repeated and null values of a measure, each of shape (draws or samples, ...).

    `list_sizes` are the numbers of words of the attribute lists, in the order of `pairs.attribute`.
    """
    # Separate streams, so that the result does not depend on the size of the blocks.
    for_repeated, for_null, for_effects = rng.spawn(3)
    numbers = pairs.connection.size
    blocks_of: list[list[Values]] = [[], [], []]
    for block in with_progress(_blocks(np.arange(posterior.draws), numbers), "Posterior draws", progress=progress):
        expected = _expected(posterior, pairs, block)
        blocks_of[0].append(values(expected))
        blocks_of[1].append(values(expected - posterior.noise(pairs, block, for_repeated)))
    weights = np.repeat(1 / np.asarray(list_sizes), list_sizes)
    of_null = np.tile(np.arange(posterior.draws), -(-_FEWEST_NULL // posterior.draws))
    for block in with_progress(_blocks(of_null, numbers), "Draws of the null", progress=progress):
        distance = _equalized(posterior, pairs, weights, block) + posterior.noise(pairs, block, for_null)
        if posterior.attribute_sd is not None:
            sd = posterior.attribute_sd[pairs.attribute][:, block].T
            distance += (sd * for_effects.standard_normal(sd.shape))[:, None, :]
        blocks_of[2].append(values(1.0 - distance))
    return tuple({name: np.concatenate([part[name] for part in parts]) for name in parts[0]} for parts in blocks_of)


def expected_value(fit: "xr.DataTree", measure: SimilarityMeasure) -> "xr.DataArray":
    """Return the draws of a measure's headline number for expected similarities, with the dims chain and draw."""
    import xarray as xr

    observed, pairs = observed_pairs(fit, measure.lists(fitted_study(fit), None, None))
    posterior = densities(fit, fitted_rows(fit))
    parts = [
        next(iter(measure.statistics(replace(observed, values=_expected(posterior, pairs, block))).values()))
        for block in _blocks(np.arange(posterior.draws), pairs.connection.size)
    ]
    sizes = fit["posterior"].sizes
    return xr.DataArray(np.concatenate(parts).reshape(sizes["chain"], sizes["draw"]), dims=("chain", "draw"))


def _expected(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the similarities of all pairs without noise, of shape (draws, words, attributes)."""
    similarity: np.ndarray = 1.0 - (_means(posterior, pairs, draws) + _effects(posterior, pairs, draws))
    return similarity


def _blocks(draws: np.ndarray, numbers: int) -> list[np.ndarray]:
    return np.array_split(draws, max(1, min(len(draws), len(draws) * numbers // _NUMBERS_A_BLOCK)))


def _means(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the word means of all pairs, of shape (draws, words, attributes)."""
    means = posterior.means(pairs.protected[:, None], pairs.attribute, pairs.connection, draws)
    return np.ascontiguousarray(np.moveaxis(means, -1, 0))


def _equalized(posterior: Densities, pairs: PairGrid, weights: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the means that make each word as far from associated as from different words.

    `weights` are those of attribute words in the average of a word's means.
    """
    means = _means(posterior, pairs, draws)
    stereotype = np.isin(np.asarray(posterior.data.connections)[pairs.connection], _STEREOTYPE)
    word_weights = np.where(stereotype, weights, 0.0)
    average = (means * word_weights).sum(axis=2) / np.maximum(word_weights.sum(axis=1), np.finfo(float).tiny)
    return np.where(stereotype, average[:, :, None], means)


def _effects(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the fitted attribute effects, of shape (draws, 1, attributes), or 0 if the model has none."""
    if posterior.attribute_effect is None:
        return np.zeros((1, 1, 1))
    effects: np.ndarray = posterior.attribute_effect[pairs.attribute][:, draws].T[:, None, :]
    return effects


_COLUMNS = (
    "observed", *MOMENTS, "repeated_low", "repeated_high", "null_mean", "null_low", "null_high", "null_se",
    "null_share", "null_share_se", "beyond_null", "beyond_null_se",
)  # fmt: skip


def dataset_of_values(parts: tuple[Values, ...], chains: tuple[int, int]) -> "xr.Dataset":
    """Return the dataset of observed, expected, repeated and null values of all statistics."""
    import xarray as xr

    names = [name for name in parts[0] if name != WORDS]
    observed, expected, repeated, null = (np.stack([part[name] for name in names], axis=-1) for part in parts)
    by_draw = ("chain", "draw", "statistic")
    return xr.Dataset(
        {
            "observed": ("statistic", observed),
            "expected": (by_draw, expected.reshape(*chains, -1)),
            "repeated": (by_draw, repeated.reshape(*chains, -1)),
            "null": (("sample", "statistic"), null),
        },
        coords={"statistic": names},
    )


def summary_of_values(draws: "xr.Dataset", hdi_prob: float, independent: float | None) -> "pd.DataFrame":
    """Return the summary, one row per statistic."""
    frame = estimates(draws["expected"], hdi_prob=hdi_prob, independent=independent)
    frame["observed"] = draws["observed"].to_numpy()
    repeated = draws["repeated"].to_numpy().reshape(-1, len(frame))
    null = draws["null"].to_numpy()
    tails = np.array([(1 - hdi_prob) / 2, (1 + hdi_prob) / 2])
    frame["repeated_low"], frame["repeated_high"] = np.quantile(repeated, tails, axis=0)
    frame["null_mean"] = null.mean(axis=0)
    frame["null_low"], frame["null_high"] = np.quantile(null, NULL_TAILS, axis=0)
    frame["null_se"] = _error_of_ends(null)
    far = [_share(values, value) for values, value in zip(null.T, frame["observed"], strict=True)]
    frame["null_share"], frame["null_share_se"] = zip(*far, strict=True)
    outside = (repeated < frame["null_low"].to_numpy()) | (repeated > frame["null_high"].to_numpy())
    frame["beyond_null"], frame["beyond_null_se"] = zip(*map(rate, outside.T), strict=True)
    return frame[["statistic", *_COLUMNS, *diagnostics_of(frame)]]


def _error_of_ends(null: np.ndarray) -> np.ndarray:
    """Return the larger Monte Carlo standard error of the two ends of the null's interval."""
    errors = []
    for tail in NULL_TAILS:
        rank_error = np.sqrt(tail * (1 - tail) / len(null))
        low, high = np.quantile(null, [max(0.0, tail - rank_error), min(1.0, tail + rank_error)], axis=0)
        errors.append((high - low) / 2)
    return np.asarray(np.max(errors, axis=0))


def _share(null: np.ndarray, value: float) -> tuple[float, float]:
    """Return twice the smaller tail beyond a value, at most 1, and its Monte Carlo standard error."""
    tail, error = min(rate(null >= value), rate(null <= value))
    return min(1.0, 2 * tail), 2 * error


def summary_of_words(
    observed: Similarities,
    parts: tuple[Values, ...],
    chains: tuple[int, int],
    hdi_prob: float,
    independent: float | None,
) -> "pd.DataFrame":
    """Return the summary of single words, one row per value."""
    import pandas as pd

    if WORDS not in parts[0]:
        return pd.DataFrame(columns=["protected_word", "protected_group", *_COLUMNS])
    labels = pd.DataFrame({"protected_word": observed.words, "protected_group": observed.groups})
    shape = parts[0][WORDS].shape
    if len(shape) == 2:
        labels = labels.merge(pd.DataFrame({"attribute_group": list(observed.attributes)}), how="cross")
    by_word = []
    for part in parts:
        values = part[WORDS]
        flat = values.reshape(*values.shape[: values.ndim - len(shape)], len(labels))
        by_word.append({str(place): flat[..., place] for place in range(len(labels))})
    frame = summary_of_values(dataset_of_values(tuple(by_word), chains), hdi_prob, independent).drop(
        columns="statistic"
    )
    return pd.concat([labels, frame], axis=1)


def share_with_error_text(value: float, error: float) -> str:
    """Return a share and its Monte Carlo standard error as percentages.

    >>> share_with_error_text(0.0227, 0.0015), share_with_error_text(0.9999, 0.0002)
    ('2.3% ± 0.1%', '100% ± 0.02%')
    """
    return f"{float(f'{100 * value:.2g}'):g}% ± {100 * error:.1g}%"


@dataclass(frozen=True, eq=False, repr=False)
class MeasurePosterior(Result):
    """A measure under a fitted model: its observed, expected, repeated and null values.

    Parameters
    ----------
    summary : pandas.DataFrame
        One row per `statistic`, the headline number first, in the units of the statistic:

        - `observed`: the value of the fitted distances;
        - `mean`, `sd`, `hdi_low`, `hdi_high`, `ess_bulk`, `ess_tail`, `r_hat`: the posterior of the **expected** value,
          that of similarities without noise;
        - `repeated_low` to `repeated_high`: holds the value with probability `hdi_prob` if the same pairs are measured
          **again**;
        - `null_mean`, `null_low` to `null_high`, `null_se`: the mean of the **null**, its 95 % prediction interval and
          the Monte Carlo error of its ends;
        - `null_share`, `null_share_se`: share of null values at least as extreme as the observed one (twice the smaller
          tail), and its Monte Carlo error;
        - `beyond_null`, `beyond_null_se`: probability that a repeated value lies outside the null's interval, and its
          Monte Carlo error.
    words : pandas.DataFrame
        The same for single words: `protected_word`, `protected_group` (and `attribute_group`), then the columns above.
        Empty if the measure has no values of single words.
    draws : xarray.Dataset
        `expected` and `repeated` with the dimensions ``chain``, ``draw`` and ``statistic``, `null` with ``sample`` and
        ``statistic``, `observed` with ``statistic``.
    measure, title, word_value
        Name of the measure, its lists, and a description of the values of single words.
    model, source
        Name of the model, and origin of the distances.
    lost_words
        Words that the embedding lacked, by list of the measure.
    converged
        Whether the sampler converged.
    hdi_prob, random_seed
        Probability inside the intervals, and seed of the simulation.
    """

    summary: "pd.DataFrame"
    words: "pd.DataFrame"
    draws: "xr.Dataset"
    measure: str
    title: str
    word_value: str
    model: str
    source: str
    lost_words: Mapping[str, tuple[str, ...]]
    converged: bool
    hdi_prob: float
    random_seed: int

    def __repr__(self) -> str:
        return f"MeasurePosterior({self.measure!r}, model={self.model!r}, {counted(len(self.words), 'word')})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        null = "Null: no word is nearer to its associated than to its different words, except for noise."
        head = Statement(
            "measure", f"{self.measure} under the model {self.model!r}, {self.source}: {self.title}. {null}"
        )
        values = tuple(_value_statement(row, self.hdi_prob) for row in rows_of(self.summary))
        return (
            StatementList(DOUBTS, tuple(self._doubts())),
            StatementList("", (self._answer, head), bulleted=False),
            StatementList("", values),
            StatementList("", tuple(self._limits()), bulleted=False),
        )

    @property
    def _answer(self) -> Statement:
        row = rows_of(self.summary)[0]
        share = row["null_share"]
        text = (
            f"{row['statistic'].replace('_', ' ').capitalize()} {digits_text(row['observed'])} is "
            f"{'ordinary' if share > _UNUSUAL else 'unusual'} where nothing is associated: "
            f"{percent_text(round(share, 2))} of such values are at least as extreme."
        )
        return Statement("answer", text, row)

    def _doubts(self) -> Iterator[Statement]:
        if not self.converged:
            yield Statement("convergence", "The sampler had not converged: do not report these numbers yet.")

    def _limits(self) -> Iterator[Statement]:
        function = MEASURES[self.measure].of_similarities
        if function is not None and function.caution:
            yield Statement(self.summary["statistic"].iloc[0].replace("_", " "), function.caution)
        if self.lost_words:
            lost = "; ".join(f"{name_some(words)} (of {name})" for name, words in self.lost_words.items())
            yield Statement("lost words", f"Lost words: {lost}.", {"words": dict(self.lost_words)})

    def _value_figure(self) -> ResultFigure:
        """Return a forest of the first number: as observed, without noise, measured again, and of the null."""
        import pandas as pd

        row, prob = rows_of(self.summary)[0], percent_text(self.hdi_prob)
        nan = float("nan")
        values = [
            ("observed", row["observed"], nan, nan),
            ("without the noise of single pairs", row["mean"], row["hdi_low"], row["hdi_high"]),
            ("measured again", row["mean"], row["repeated_low"], row["repeated_high"]),
            ("where nothing is associated", row["null_mean"], row["null_low"], row["null_high"]),
        ]
        rows = pd.DataFrame(values, columns=["label", "mean", "hdi_low", "hdi_high"]).assign(filled=False)
        caption = f"Values (points) with {prob} intervals (lines); where nothing is associated, 95% of the values."
        return forest_figure(caption, rows, label=row["statistic"].replace("_", " "))

    @cached_property
    def contents(self) -> Contents:
        """The measure as observed, in expectation, measured again, and where nothing is associated."""
        return contents_of(
            self,
            title=f"How certain is {self.measure} of {self.title}?",
            about=f"{self.source}, under the model {self.model}.",
            estimate=f"Without the noise of single pairs: {estimate_text(rows_of(self.summary)[0])}, "
            f"{percent_text(self.hdi_prob)} interval in brackets.",
            opened=(SHOWS, "Words"),
            captions={"summary": "The measure, in its own units", "words": f"Single words: {self.word_value}"},
            differences=("summary", "words"),
            figures={
                "values": self._value_figure(),
                "measure": ResultFigure(
                    "plot_measure",
                    f"{self.measure} where nothing is associated (grey; the bar holds 95%), measured again (blue) and "
                    "without the noise of single pairs (green). Dashed: the observed value.",
                    section="Distributions",
                ),
            },
        )


def measure_posterior(
    fit: "xr.DataTree",
    measure: str = "weat",
    *,
    targets: Any = None,
    attributes: Any = None,
    hdi_prob: float | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    **options: Any,
) -> MeasurePosterior:
    """Return the posterior of a measure under a fitted model, with its distribution if nothing is associated.

    Parameters
    ----------
    fit
        Result of `fit`, for any model.
    measure
        ``"weat"``, ``"weat_score"``, ``"mac"`` or ``"ect"``: the measures that are functions of pairwise similarities.
    targets, attributes
        Names of the protected groups and attribute lists to compare, as for the measure itself. Lists of a study that
        is not bundled are named as in `fitted_table`.
    hdi_prob
        Probability inside the intervals of the expected and of the repeated value. None: that of the fit.
    random_seed
        Seed of the simulation, 0 to 2**32 - 1. None: a seed is drawn and recorded in the result.
    progress
        Whether to show a progress bar.
    **options
        Options of the measure: `statistic` and `ddof` of WEAT, `estimator` of ``"weat_score"`` (not the centroid).

    Returns
    -------
    MeasurePosterior
        Frames and draws; `print` explains them.

    Raises
    ------
    ReportError
        If the measure has no posterior, an option is unknown, or the fit lacks pairs that the measure needs or has no
        associated or no different pairs among them, so that there is no null.
    MeasureError
        If the lists are not determined, as for the measure itself.
    FitError
        If `fit` is not a fit.
    ArgumentError
        If the seed, `hdi_prob` or an option is not usable.

    Warns
    -----
    ConvergenceWarning
        When the fit is made or read, not here; the printed result repeats it.

    Notes
    -----
    Let d[i, j] = m[i, c] + b[j] + noise be the model's distance of protected word i to attribute word j, where c is
    their connection (b is 0 in a model without attribute effects). For each draw of the posterior, the measure is
    computed from three sets of similarities of these same words:

    *expected*: 1 - (m[i, c] + b[j]), the measure if the noise of single pairs were averaged away. Its posterior
    reflects only the uncertainty of the means.

    *repeated*: with new noise, the measure if these pairs were measured again (the posterior predictive distribution).
    The observed value is one such value.

    *null*: each word's m for associated and for different pairs is replaced by their average, in which each attribute
    list weighs the same, as in MAC, and noise and b are drawn again. It is the measure if nothing is associated, with
    the words' general distances and the noise of the fit, and for other attribute words of the same kind.

    The observed value, the repeated value and the null all contain noise and can be compared. The expected value
    contains none and must not be compared with the null's interval.

    The null is strict: no word leans to either side. Words that lean each to a different side, without a difference
    between groups, exceed it too. They affect the test statistic, which then varies more than noise alone would make
    it, but hardly the effect size, which divides by the spread of the words. So the test statistic may lie far outside
    its null while the effect size and the permutation test of `weat` are not unusual.

    The expected effect size is not the observed one without noise. It divides by the spread of the words' associations,
    which changes in two ways. First, noise is part of the observed spread only, so the expected size is nearer to its
    bound (2 sqrt(1 - 1/n) for n words in two groups of the same size, with n - 1). Words that do not differ reach the
    bound however small the difference between groups. So if a model pools the words and nothing is associated, the
    posterior may have two modes, one near each bound: the size measures how uniform an association is, not how strong.
    Second, each draw also spreads the words by their own uncertainty. All models but ``"multivariate"`` take a word's
    means for associated and for different words as independent given the group's, and hardly pool *associations*: most
    words that are near to the former are near to the latter too, which makes `word_sd` large. The size then shrinks, in
    WEAT 7 in Google News from 0.97 to 0.83 with ``"hierarchical"`` and 0.85 with ``"crossed_per_list"``.
    ``"multivariate"`` pools associations as far as the attribute words agree: there it gives 0.98, -0.3 to 1.9, so
    these words say little about how uniform the association is. The test statistic and ``"weat_score"`` are linear in
    the similarities and do not have this problem: their expected value estimates the observed one.

    Similarities of a draw may lie slightly outside -1 to 1, as the model's distances may; they are not truncated.
    Repeated and null intervals leave out the same probability on both sides. The null has at least one sample per draw,
    and at least 10,000.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017) for WEAT; Manzini et al. (2019) for MAC; Kindel (2023), supplement, for the
    mean-cosine family; Dev and Phillips (2019) for ECT. Unlike the permutation test of WEAT, the null includes the
    noise of single pairs: Dobrzeniecka and Urbaniak, section "Pre-averaging, bootstrapping and testing with the null
    model".

    Examples
    --------
    >>> posterior = bb.measure_posterior(fit, "weat", random_seed=1)
    >>> row = posterior.summary.iloc[0]
    >>> row["statistic"], round(float(row["observed"]), 4), bool(row["null_high"] > row["observed"])
    ('effect_size', 0.9664, True)
    """
    seed = resolve_seed(random_seed)
    prob = hdi_prob_of(fit, hdi_prob)
    check_cosine(fit, "A measure")
    function = _of_similarities(measure, options)
    study = fitted_study(fit)
    lists = function.lists(study, targets, attributes)
    observed, pairs = observed_pairs(fit, lists)
    lost = _lost_words(fit, study, tuple(lists.by_name))
    if options.get("estimator") == "paired" and lost:
        raise ReportError(
            f"Words of {', '.join(lost)} were lost, so the others would be paired with wrong partners. Leave their "
            "partners out of the study, or use estimator='grand_mean'."
        )
    posterior = densities(fit, fitted_rows(fit))

    def values(similarity: np.ndarray) -> Values:
        similarities = replace(observed, values=similarity)
        statistics = dict(function.statistics(similarities, **options))
        if function.words is not None:
            statistics[WORDS] = function.words(similarities)
        return statistics

    rng = np.random.default_rng(seed)
    sizes = [len(words) for words in observed.attributes.values()]
    parts = (values(observed.values), *simulate(posterior, pairs, sizes, values, rng, progress=progress))
    chains = fit["posterior"].sizes["chain"], fit["posterior"].sizes["draw"]
    draws, independent = dataset_of_values(parts, chains), independent_draws(fit)
    return MeasurePosterior(
        summary=summary_of_values(draws, prob, independent),
        words=summary_of_words(observed, parts, chains, prob, independent),
        draws=draws.assign_attrs(
            measure=measure, random_seed=seed, **{name: str(value) for name, value in options.items()}
        ),
        measure=measure,
        title=lists.title + "".join(f", {name}={value!r}" for name, value in (*function.same_as, *options.items())),
        word_value=function.word_value,
        model=fit_attribute(fit, "model")["name"],
        source=source_name(fit_attribute(fit, "table")),
        lost_words=lost,
        converged=not fit_attribute(fit, "convergence_problems"),
        hdi_prob=prob,
        random_seed=seed,
    )


def _value_statement(row: Mapping[str, Any], hdi_prob: float) -> Statement:
    """Return the statement on the observed, null, repeated and expected values of a statistic."""
    inside, value = percent_text(hdi_prob), {name: digits_text(row[name]) for name in _VALUES}
    null, beyond = (share_with_error_text(row[name], row[f"{name}_se"]) for name in ("null_share", "beyond_null"))
    text = (
        "{statistic}: observed {observed}. If nothing is associated, 95% of the values lie between {null_low} and "
        "{null_high}; the share at least as extreme as the observed one is {null}. Measured again, {inside} of the "
        "values lie between {repeated_low} and {repeated_high}; the share outside the null's interval is {beyond}. "
        "Expected, without noise: {mean}, {inside} HPDI {hdi_low} to {hdi_high}."
    ).format(statistic=row["statistic"], null=null, beyond=beyond, inside=inside, **value)
    return Statement("statistic", text, row)


def _of_similarities(measure: str, options: Mapping[str, Any]) -> SimilarityMeasure:
    """Return a measure as a function of similarities, or raise `ReportError` if it is not one or lacks an option."""
    check_type("measure", measure, str, "the name of a measure")
    functions = {name: entry.of_similarities for name, entry in MEASURES.items() if entry.of_similarities}
    if measure not in functions:
        raise ReportError(
            f"measure={measure!r}{did_you_mean(str(measure), functions)}: it is not a function of pairwise "
            f"similarities alone, so a fit has no posterior of it. Give one of {', '.join(functions)}."
        )
    option_names = [name for name in signature(functions[measure].statistics).parameters if name != "similarities"]
    for name in options:
        if name not in option_names:
            raise ReportError(
                f"{measure} has no option {name!r} here{did_you_mean(name, option_names)}; it has "
                f"{', '.join((*option_names, 'targets', 'attributes'))}."
            )
    return functions[measure]


def _lost_words(fit: "xr.DataTree", study: Study, lists: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the lost words of the given lists, and of lists that the fit does not have by name."""
    others = {*study.protected, *study.attribute_lists, "human", "neutral"} - set(lists)
    lost_by_list: dict[str, tuple[str, ...]] = {}
    for entry in fit_attribute(fit, "table").get("lost_words", []):
        if entry["list"] not in others:
            lost_by_list[entry["list"]] = (*lost_by_list.get(entry["list"], ()), entry["word"])
    return lost_by_list

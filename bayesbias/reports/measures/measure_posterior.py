"""What a fitted model says of a single-number measure: its posterior, and its values where nothing is associated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_probability, check_type, resolve_seed
from bayesbias.base.statements import (
    Rendered,
    Statement,
    StatementList,
    digits_text,
    percent_text,
    rows_of,
    share_with_error_text,
)
from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import MOMENTS, diagnostics_of, estimates, independent_draws
from bayesbias.metrics.registry import MEASURES
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.likelihood import densities
from bayesbias.reports.checks.posterior_check import source_name
from bayesbias.reports.measures.measure_draws import Values, fitted_study, observed_pairs, simulate
from bayesbias.reports.measures.null_simulation import rate
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NULL_TAILS = (0.025, 0.975)
_WORDS = " words"
_COLUMNS = (
    "observed", *MOMENTS, "repeated_low", "repeated_high", "null_mean", "null_low", "null_high", "null_se",
    "null_share", "null_share_se", "beyond_null", "beyond_null_se",
)  # fmt: skip

_VALUES = ("observed", "null_low", "null_high", "repeated_low", "repeated_high", "mean", "hdi_low", "hdi_high")
_EFFECT_SIZE = (
    "The effect size divides by the spread of the words, which noise and uncertainty change: compare the observed and "
    "the repeated one with the null, and read strength from the test statistic."
)
_MAC = (
    "MAC averages associated and different pairs alike, so that its null is centered on what was observed: it cannot "
    "tell an association."
)


@dataclass(frozen=True, eq=False, repr=False)
class MeasurePosterior(Rendered):
    """A measure under a fitted model: as observed, in expectation, measured again, and where nothing is associated.

    Parameters
    ----------
    summary : pandas.DataFrame
        One row a `statistic`, the headline number first. `observed` in the fitted distances; `mean`, `sd`, `hdi_low`,
        `hdi_high`, `ess_bulk`, `ess_tail` and `r_hat` of the posterior of the **expected** value, that of similarities
        without noise; `repeated_low` to `repeated_high`, which the value lies in with probability `hdi_prob` if the
        same pairs are measured **again**; of the **null**, `null_mean`, the 95 % prediction interval `null_low` to
        `null_high` and the Monte Carlo error `null_se` of its ends. `null_share` is the share of null values at least
        as far out as the observed one (twice the smaller tail), `beyond_null` the probability that a
        repeated value lies outside the null's interval; both with Monte Carlo errors, `null_share_se` and
        `beyond_null_se`. All in the units of the statistic.
    words : pandas.DataFrame
        The same of single words: `word`, `group` (and `attribute_group`), then the columns above. Empty where the
        measure has no values of single words.
    draws : xarray.Dataset
        `expected` and `repeated` with the dimensions ``chain``, ``draw`` and ``statistic``, `null` with ``sample`` and
        ``statistic``, `observed` with ``statistic``.
    measure, title, word_value
        Name of the measure, its lists, and what the values of single words are.
    model, source
        Name of the model; where the distances come from.
    lost_words
        List of the measure -> its words that the embedding lacked.
    converged
        Whether the fit's draws can be trusted.
    hdi_prob, seed
        Probability inside the intervals; seed of the simulation.
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
    seed: int

    def __repr__(self) -> str:
        return f"MeasurePosterior({self.measure!r}, model={self.model!r}, {len(self.words)} words)"

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, in the order in which they are read."""
        null = "Null: no word is nearer to its associated than to its different words, but for noise."
        head = Statement(
            "measure", f"{self.measure} under the model {self.model!r}, {self.source}: {self.title}. {null}"
        )
        values = tuple(_value_statement(row, self.hdi_prob) for row in rows_of(self.summary))
        return (
            StatementList("", (*self._doubts(), head), bulleted=False),
            StatementList("", values),
            StatementList("", tuple(self._limits()), bulleted=False),
        )

    def _doubts(self) -> Iterator[Statement]:
        if not self.converged:
            yield Statement("convergence", "The sampler had not converged: do not report these numbers yet.")

    def _limits(self) -> Iterator[Statement]:
        if "effect_size" in set(self.summary["statistic"]):
            yield Statement("effect size", _EFFECT_SIZE)
        if self.measure == "mac":
            yield Statement("mac", _MAC)
        if self.lost_words:
            lost = "; ".join(f"{name_some(words)} (of {name})" for name, words in self.lost_words.items())
            yield Statement("lost words", f"Lost words: {lost}.", {"words": dict(self.lost_words)})


def measure_posterior(
    fit: "xr.DataTree",
    measure: str = "weat",
    *,
    targets: Any = None,
    attributes: Any = None,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    progress: bool = True,
    **options: Any,
) -> MeasurePosterior:
    """Return the posterior of a measure under a fitted model, next to what it is where nothing is associated.

    Parameters
    ----------
    fit
        What `fit` returned, of any model.
    measure
        ``"weat"``, ``"weat_score"``, ``"mac"`` or ``"ect"``: the measures that are functions of the pairwise
        similarities.
    targets, attributes
        The protected groups and attribute lists to compare, as in the measure itself. Lists of a study that is not
        bundled are named as in `fitted_table`.
    hdi_prob
        Probability inside the intervals of the expected and of the repeated value.
    random_seed
        0 to 2**32 - 1; the same seed gives the same numbers on the same machine. None draws a seed and records it.
    progress
        Whether to show a progress bar.
    **options
        Options of the measure: `statistic` and `ddof` of WEAT, `estimator` of ``"weat_score"`` (not the centroid).

    Returns
    -------
    MeasurePosterior
        Frames and draws; printed, it says what they mean.

    Raises
    ------
    ReportError
        If the measure has no posterior, an option is unknown, the fit lacks pairs that it needs, or holds no
        associated and different pairs among them, so that there is no null.
    MeasureError
        If the lists are not determined, as in the measure itself.
    FitError
        If `fit` is not a fit.
    ArgumentError
        If the seed, `hdi_prob` or an option is not usable.

    Warns
    -----
    ConvergenceWarning
        When the fit was made or read, not here; the result says so again when it is printed.

    Notes
    -----
    Let d[i, j] = m[i, c] + b[j] + noise be the model's distance of the protected word i to the attribute word j, of
    the connection c (b is 0 in a model without attribute effects). For each draw of the posterior the measure is
    computed from three sets of similarities of these very words:

    *expected*: 1 - (m[i, c] + b[j]). What the measure would be if the noise of single pairs were averaged away. Its
    posterior holds what is uncertain about the means, and nothing else.

    *repeated*: noise added, drawn anew. What the measure would be if these pairs were measured again: the
    posterior predictive distribution. The observed value is one such value.

    *null*: each word's m of associated and of different pairs replaced by their average, weighted by the pairs of the
    measure, noise and b drawn anew. What the measure is where nothing is associated, with the words' general
    distances and the noise of the fit; for other attribute words of the same kind, as nothing tells these apart.

    Like is compared with like: the observed and the repeated value contain noise, and so does the null. The
    expected value does not, and may not be read against the null's interval.

    The null is a strict one: no word leans at all. Words that lean each to its own side, with no difference between
    groups, exceed it too. The test statistic feels them, since they make it vary more than noise does; the effect
    size hardly does, as it divides by the spread of the words. So the test statistic may lie far outside
    its null where the effect size, and the permutation test of `weat`, see nothing unusual.

    The expected effect size is not the observed one without its noise. It divides by the spread of the words'
    associations, and this changes in two ways. Noise is part of the observed spread and is gone, so that the size
    grows towards its bound (2 sqrt(1 - 1/n) for n words in two groups of the same size, with n - 1); words that do not
    differ reach the bound however little the groups do. So where a model pools the words and nothing is
    associated, its posterior may have two modes, one near each bound: it says how uniform an association is, not how
    strong. But each draw also spreads the words by what is uncertain about each of them. Models that take a word's
    means for associated and for different words for independent given the group's (all but ``"multivariate"``) hardly
    pool *associations*: most words that are near to the ones are near to the others too, which makes `word_sd` large.
    Then the size shrinks, in WEAT 7 in Google News from 0.97 to 0.83 with ``"hierarchical"`` and 0.85 with
    ``"crossed_per_list"``. ``"multivariate"`` pools them as far as the attribute words show that they agree: 0.99
    there, 0.3 to 1.7, which says that these words hardly tell how uniform the association is. The test statistic and
    ``"weat_score"`` are linear in the similarities and have no such trap: their expected value estimates the observed
    one.

    A draw may lie a little outside -1 to 1, as the model's distances may; nothing is cut off. Repeated and null
    intervals leave out the same probability on both sides. The null has one sample a draw, and at least 10,000.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017) for WEAT; Manzini et al. (2019) for MAC; Kindel (2023), supplement, for the
    mean-cosine family; Dev and Phillips (2019) for ECT. The null differs from the permutation test of WEAT in that
    the noise of single pairs enters: Dobrzeniecka and Urbaniak, section "Pre-averaging, bootstrapping and
    testing with the null model".

    Examples
    --------
    >>> from bayesbias.reports.measures.measure_posterior import measure_posterior
    >>> found = measure_posterior(fit, "weat", random_seed=1)
    >>> row = found.summary.iloc[0]
    >>> row["statistic"], round(float(row["observed"]), 4), bool(row["null_high"] > row["observed"])
    ('effect_size', 0.9664, True)
    """
    check_probability("hdi_prob", hdi_prob)
    seed = resolve_seed(random_seed)
    function = _of_similarities(measure, options)
    study = fitted_study(fit)
    lists = function.lists(study, targets, attributes)
    observed, pairs = observed_pairs(fit, lists)
    lost = _lost_words(fit, study, tuple(lists.by_name))
    if options.get("estimator") == "paired" and lost:
        raise ReportError(
            f"Words of {', '.join(lost)} were lost, so the others stand beside wrong partners. Leave their partners "
            "out of the study, or use estimator='grand_mean'."
        )
    posterior = densities(fit, fitted_rows(fit))

    def values(similarity: np.ndarray) -> Values:
        here = replace(observed, values=similarity)
        found = dict(function.statistics(here, **options))
        if function.words is not None:
            found[_WORDS] = function.words(here)
        return found

    rng = np.random.default_rng(seed)
    parts = (values(observed.values), *simulate(posterior, pairs, values, rng, progress=progress))
    chains = fit["posterior"].sizes["chain"], fit["posterior"].sizes["draw"]
    draws, independent = _dataset(parts, chains), independent_draws(fit)
    return MeasurePosterior(
        summary=_summary(draws, hdi_prob, independent),
        words=_words(observed, parts, chains, hdi_prob, independent),
        draws=draws.assign_attrs(measure=measure, seed=seed, **{name: str(value) for name, value in options.items()}),
        measure=measure,
        title=lists.title + "".join(f", {name}={value!r}" for name, value in (*function.same_as, *options.items())),
        word_value=function.word_value,
        model=fit_attribute(fit, "model")["name"],
        source=source_name(fit_attribute(fit, "table")),
        lost_words=lost,
        converged=not fit_attribute(fit, "convergence_problems"),
        hdi_prob=hdi_prob,
        seed=seed,
    )


def _value_statement(row: Mapping[str, Any], hdi_prob: float) -> Statement:
    """Return one statistic: as observed, where nothing is associated, measured again, and without noise."""
    inside, value = percent_text(hdi_prob), {name: digits_text(row[name]) for name in _VALUES}
    null, beyond = (share_with_error_text(row[name], row[f"{name}_se"]) for name in ("null_share", "beyond_null"))
    text = (
        "{statistic}: observed {observed}. Where nothing is associated, 95% of the values lie between {null_low} and "
        "{null_high}; at least as far out as the observed one {null}. Measured again, {inside} of the values lie "
        "between {repeated_low} and {repeated_high}; outside the null's interval {beyond}. Expected, without noise: "
        "{mean}, {inside} HPDI {hdi_low} to {hdi_high}."
    ).format(statistic=row["statistic"], null=null, beyond=beyond, inside=inside, **value)
    return Statement("statistic", text, row)


def _of_similarities(measure: str, options: Mapping[str, Any]) -> SimilarityMeasure:
    """Return a measure as a function of similarities; raise `ReportError` if it is none, or has not these options."""
    check_type("measure", measure, str, "the name of a measure")
    functions = {name: entry.of_similarities for name, entry in MEASURES.items() if entry.of_similarities}
    if measure not in functions:
        raise ReportError(
            f"measure={measure!r}{did_you_mean(str(measure), functions)}: it is no measure of the similarities of "
            f"protected to attribute words alone, so a fit says nothing of it. Such are {', '.join(functions)}."
        )
    known = [name for name in signature(functions[measure].statistics).parameters if name != "similarities"]
    for name in options:
        if name not in known:
            raise ReportError(
                f"{measure} has no option {name!r} here{did_you_mean(name, known)}; it has "
                f"{', '.join((*known, 'targets', 'attributes'))}."
            )
    return functions[measure]


def _dataset(parts: tuple[Values, ...], chains: tuple[int, int]) -> "xr.Dataset":
    """Return the observed, expected, repeated and null values of all statistics."""
    import xarray as xr

    names = [name for name in parts[0] if name != _WORDS]
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


def _summary(draws: "xr.Dataset", hdi_prob: float, independent: float | None) -> "pd.DataFrame":
    """Return one row for each statistic."""
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
    result = frame[["statistic", *_COLUMNS, *diagnostics_of(frame)]]
    result.attrs = {"hdi_prob": hdi_prob}
    return result


def _error_of_ends(null: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo standard error of the interval's ends, of the two the larger one."""
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


def _words(
    observed: Similarities,
    parts: tuple[Values, ...],
    chains: tuple[int, int],
    hdi_prob: float,
    independent: float | None,
) -> "pd.DataFrame":
    """Return one row for each value of a single word."""
    import pandas as pd

    if _WORDS not in parts[0]:
        return pd.DataFrame(columns=["word", "group", *_COLUMNS])
    labels = pd.DataFrame({"word": observed.words, "group": observed.groups})
    shape = parts[0][_WORDS].shape
    if len(shape) == 2:
        labels = labels.merge(pd.DataFrame({"attribute_group": list(observed.attributes)}), how="cross")
    by_word = []
    for part in parts:
        values = part[_WORDS]
        flat = values.reshape(*values.shape[: values.ndim - len(shape)], len(labels))
        by_word.append({str(place): flat[..., place] for place in range(len(labels))})
    frame = _summary(_dataset(tuple(by_word), chains), hdi_prob, independent).drop(columns="statistic")
    return pd.concat([labels, frame], axis=1)


def _lost_words(fit: "xr.DataTree", study: Study, lists: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the lost words of some lists, and those of lists that the fit does not know by name."""
    others = {*study.protected, *study.attribute_lists, "human", "neutral"} - set(lists)
    found: dict[str, tuple[str, ...]] = {}
    for entry in fit_attribute(fit, "table").get("lost_words", []):
        if entry["list"] not in others:
            found[entry["list"]] = (*found.get(entry["list"], ()), entry["word"])
    return found

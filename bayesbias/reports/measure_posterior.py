"""What a fitted model says of a single-number measure: its posterior, and its values where nothing is associated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.metrics.kernels import KERNELS, Kernel, Similarities
from bayesbias.models.fits import fit_fact
from bayesbias.models.fitted import fitted_rows, fitted_table
from bayesbias.models.likelihood import Densities, densities
from bayesbias.models.sampling import resolve_seed
from bayesbias.reports.checks import source_name
from bayesbias.reports.intervals import ESTIMATE_COLUMNS, HDI_PROB, check_hdi_prob, estimates, percent
from bayesbias.reports.nulls import rate
from bayesbias.studies import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NULL_TAILS = (0.025, 0.975)
_FEWEST_NULL = 10_000
_NUMBERS_A_BLOCK = 2**21
_STEREOTYPE = ("associated", "different")
_COLUMNS = (
    "observed", *ESTIMATE_COLUMNS, "repeated_low", "repeated_high", "null_mean", "null_low", "null_high", "null_se",
    "null_share", "null_share_se", "beyond_null", "beyond_null_se",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class MeasurePosterior:
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

    def __str__(self) -> str:
        inside = percent(self.hdi_prob)
        lines = [f"{self.measure} under the model {self.model!r}, {self.source}: {self.title}."]
        if not self.converged:
            lines.append("The sampler had not converged: do not report these numbers yet.")
        for row in self.summary.to_dict("records"):
            lines += [
                f"{row['statistic']}: observed {row['observed']:.3g}",
                f"  null: 95% of the values between {row['null_low']:.3g} and {row['null_high']:.3g}; at least as far "
                f"out as the observed one {100 * row['null_share']:.2g}% ± {100 * row['null_share_se']:.1g}%",
                f"  measured again: {inside} of the values between {row['repeated_low']:.3g} and "
                f"{row['repeated_high']:.3g}; outside the null's interval {100 * row['beyond_null']:.2g}% ± "
                f"{100 * row['beyond_null_se']:.1g}%",
                f"  expected, without noise: {row['mean']:.3g}, {inside} HPDI {row['hdi_low']:.3g} to "
                f"{row['hdi_high']:.3g}",
            ]
        if "effect_size" in set(self.summary["statistic"]):
            lines.append(
                "The expected effect size is no strength: without noise words differ less, and the size nears its "
                "bound even where little is associated. Compare the observed and repeated values with the null, and "
                "read the strength from the test statistic."
            )
        if self.measure == "mac":
            lines.append(
                "MAC averages associated and different pairs, so that its null is centered on what was observed: it "
                "cannot tell an association. mac_associated and mac_different can."
            )
        if self.lost_words:
            lost = "; ".join(f"{name_some(words)} (of {name})" for name, words in self.lost_words.items())
            lines.append(f"Lost words: {lost}.")
        return "\n".join(lines)


def measure_posterior(
    fit: "xr.DataTree",
    measure: str = "weat",
    *,
    targets: Any = None,
    attributes: Any = None,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
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
        0 to 2**32 - 1; the same seed gives the same numbers. None draws a seed and records it.
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
        If `fit` is not a fit, or the seed is not usable.

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

    This matters most for the effect size of WEAT. It divides by the spread of the words' associations, of which
    noise is a large part; without noise it grows. It is bounded (by 2 sqrt(1 - 1/n) for n words in two groups of the same
    size, with n - 1), and reaches the bound where the words of a group do not differ, whether the groups are
    far apart or hardly: it says how uniform an association is, not how strong. So the expected effect size is larger
    than the observed one, the more so the more a model pools words, and where nothing is associated its posterior has
    two modes near the two bounds. The test statistic (or ``"weat_score"``) has no such trap: its expected value is an
    estimate of what was observed, in units of cosine similarity.

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
    >>> from bayesbias.reports.measure_posterior import measure_posterior
    >>> found = measure_posterior(fit, "weat", random_seed=1)
    >>> row = found.summary.iloc[0]
    >>> row["statistic"], round(row["observed"], 4), bool(row["mean"] > row["observed"])
    ('effect_size', 0.9664, True)
    """
    check_hdi_prob(hdi_prob)
    kernel = _kernel(measure, options)
    data = fitted_rows(fit)
    study = _fitted_study(fit)
    protected, attribute = kernel.lists(study, targets, attributes)
    observed, pairs = _observed(fit, study, protected, attribute)
    posterior = densities(fit, data)
    seed = resolve_seed(random_seed)

    def values(similarity: np.ndarray) -> dict[str, np.ndarray]:
        here = Similarities(similarity, observed.protected, observed.attributes, observed.associated)
        found = dict(kernel.statistics(here, **options))
        if kernel.words is not None:
            found["words"] = kernel.words(here)
        return found

    actual = values(observed.values)
    expected, repeated, null = _simulate(posterior, pairs, values, np.random.default_rng(seed))
    chains = fit["posterior"].sizes["chain"], fit["posterior"].sizes["draw"]
    names = [name for name in actual if name != "words"]
    draws = _dataset(actual, expected, repeated, null, names, chains)
    summary = _summary(draws, hdi_prob)
    words = _words(observed, actual, expected, repeated, null, chains, hdi_prob)
    lost = fit_fact(fit, "table").get("lost_words", [])
    return MeasurePosterior(
        summary=summary,
        words=words,
        draws=draws.assign_attrs(measure=measure, seed=seed, **{name: str(value) for name, value in options.items()}),
        measure=measure,
        title=f"{', '.join(protected)} by {', '.join(attribute)}"
        + "".join(f", {name}={value!r}" for name, value in (*kernel.same_as, *options.items())),
        word_value=kernel.word_value,
        model=fit_fact(fit, "model")["name"],
        source=source_name(fit_fact(fit, "table")),
        lost_words=_lost_of(lost, (*protected, *attribute)),
        converged=not fit_fact(fit, "convergence_problems"),
        hdi_prob=hdi_prob,
        seed=seed,
    )


def _kernel(measure: str, options: Mapping[str, Any]) -> Kernel:
    """Return the kernel of a measure; raise `ReportError` if it has none, or not these options."""
    if measure not in KERNELS:
        raise ReportError(
            f"measure={measure!r}{did_you_mean(str(measure), KERNELS)}: it is no measure of the similarities of "
            f"protected to attribute words alone, so a fit says nothing of it. Such are {', '.join(KERNELS)}."
        )
    known = [name for name in signature(KERNELS[measure].statistics).parameters if name != "similarities"]
    for name in options:
        if name not in known:
            raise ReportError(
                f"{measure} has no option {name!r} here{did_you_mean(name, known)}; it has "
                f"{', '.join((*known, 'targets', 'attributes'))}."
            )
    return KERNELS[measure]


def _fitted_study(fit: "xr.DataTree") -> Study:
    """Return the lists that a model was fitted to, as a study."""
    table = fitted_table(fit)
    words = table.drop_duplicates("attribute_word")
    lists = {str(name): list(part) for name, part in words.groupby("attribute_group", sort=False)["attribute_word"]}
    protected = table.drop_duplicates("protected_word").groupby("protected_group", sort=False)["protected_word"]
    associated = table.loc[table["connection"] == "associated", ["protected_group", "attribute_group"]]
    return Study(
        name=str(fit_fact(fit, "table").get("study") or "of the fit"),
        protected={str(name): list(part) for name, part in protected},
        attributes={name: part for name, part in lists.items() if name not in ("human", "neutral")},
        human=lists.get("human", "none"),
        neutral=lists.get("neutral", "none"),
        associated=list(associated.drop_duplicates().itertuples(index=False, name=None)),
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The pairs of a measure as places in the fitted rows: words of shape (words,), connections (words, attributes)."""

    protected: np.ndarray
    attribute: np.ndarray
    connection: np.ndarray


def _observed(
    fit: "xr.DataTree", study: Study, protected: tuple[str, ...], attribute: tuple[str, ...]
) -> tuple[Similarities, _Pairs]:
    """Return the similarities that a measure needs, as they were observed, and where they stand in the fit."""
    data = fitted_rows(fit)
    lists = {name: study.protected[name] for name in protected}, {name: study.attribute_lists[name] for name in attribute}
    words = [[word for part in each.values() for word in part] for each in lists]
    known = data.protected_words, data.attribute_words
    places = [
        np.array([{word: place for place, word in enumerate(names)}[word] for word in chosen])
        for names, chosen in zip(known, words, strict=True)
    ]
    shape = len(known[0]), len(known[1])
    # A pair that stands twice counts once, like in the measure: the last row written is the first one of the table.
    rows = np.full(shape, -1)
    rows[data.protected[::-1], data.attribute[::-1]] = np.arange(len(data.distance))[::-1]
    rows = rows[np.ix_(*places)]
    if (rows < 0).any():
        missing = [f"{words[0][i]} - {words[1][j]}" for i, j in np.argwhere(rows < 0)]
        raise ReportError(
            f"The measure needs {rows.size:,} pairs of words, of which the fit lacks {len(missing):,}: "
            f"{name_some(missing, 3)}. Fit a table that has them, or leave these words out of it."
        )
    connection = data.connection[rows].astype(np.int64)
    present = {data.connections[at] for at in np.unique(connection)}
    if not present.issuperset(_STEREOTYPE):
        raise ReportError(
            f"The pairs of {', '.join(protected)} and {', '.join(attribute)} are {' and '.join(sorted(present))} only. "
            "Where nothing is associated, associated and different pairs are alike; give lists that have both."
        )
    similarity = 1.0 - data.distance[rows]
    return Similarities(similarity, *lists, frozenset(study.associated)), _Pairs(*places, connection)


def _simulate(
    posterior: Densities,
    pairs: _Pairs,
    values: Callable[[np.ndarray], dict[str, np.ndarray]],
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], ...]:
    """Return the expected, repeated and null values of a measure, each of shape (draws or samples, ...)."""
    # Streams of their own: so the size of the blocks is no part of the result.
    for_repeated, for_null, for_effects = rng.spawn(3)
    numbers = pairs.connection.size
    found: list[list[dict[str, np.ndarray]]] = [[], [], []]
    for block in _blocks(np.arange(posterior.draws), numbers):
        distance = _means(posterior, pairs, block) + _effects(posterior, pairs, block)
        found[0].append(values(1.0 - distance))
        found[1].append(values(1.0 - distance - _noise(posterior, pairs, block, for_repeated)))
    for block in _blocks(np.tile(np.arange(posterior.draws), -(-_FEWEST_NULL // posterior.draws)), numbers):
        distance = _equalized(posterior, pairs, block) + _noise(posterior, pairs, block, for_null)
        if posterior.attribute_sd is not None:
            sd = posterior.attribute_sd[pairs.attribute][:, block].T
            distance += (sd * for_effects.standard_normal(sd.shape))[:, None, :]
        found[2].append(values(1.0 - distance))
    return tuple({name: np.concatenate([part[name] for part in parts]) for name in parts[0]} for parts in found)


def _blocks(draws: np.ndarray, numbers: int) -> list[np.ndarray]:
    return np.array_split(draws, max(1, min(len(draws), len(draws) * numbers // _NUMBERS_A_BLOCK)))


def _means(posterior: Densities, pairs: _Pairs, draws: np.ndarray) -> np.ndarray:
    """Return the word means of all pairs, shape (draws, words, attributes)."""
    cells = posterior.word_mean[pairs.protected][:, :, draws]
    means = np.take_along_axis(cells, pairs.connection[:, :, None], axis=1)
    return np.ascontiguousarray(np.moveaxis(means, -1, 0))


def _equalized(posterior: Densities, pairs: _Pairs, draws: np.ndarray) -> np.ndarray:
    """Return the means where each word is as far from associated as from different words."""
    means = _means(posterior, pairs, draws)
    stereotype = np.isin(np.asarray(posterior.data.connections)[pairs.connection], _STEREOTYPE)
    average = (means * stereotype).sum(axis=2) / np.maximum(stereotype.sum(axis=1), 1)
    return np.where(stereotype, average[:, :, None], means)


def _effects(posterior: Densities, pairs: _Pairs, draws: np.ndarray) -> np.ndarray:
    """Return the attribute effects that were fitted, shape (draws, 1, attributes), or 0."""
    if posterior.attribute_effect is None:
        return np.zeros((1, 1, 1))
    return posterior.attribute_effect[pairs.attribute][:, draws].T[:, None, :]


def _noise(posterior: Densities, pairs: _Pairs, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return noise of all pairs, shape (draws, words, attributes)."""
    shape = len(draws), *pairs.connection.shape
    if posterior.nu is None:
        noise = rng.standard_normal(shape)
    else:
        noise = rng.standard_t(posterior.nu[draws, None, None], shape)
    noise *= np.moveaxis(posterior.sigma[:, draws][pairs.connection], -1, 0)
    return noise


def _dataset(
    actual: Mapping[str, np.ndarray],
    expected: Mapping[str, np.ndarray],
    repeated: Mapping[str, np.ndarray],
    null: Mapping[str, np.ndarray],
    names: list[str],
    chains: tuple[int, int],
) -> "xr.Dataset":
    import xarray as xr

    def stacked(values: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.stack([np.asarray(values[name]) for name in names], axis=-1)

    by_draw = ("chain", "draw", "statistic")
    return xr.Dataset(
        {
            "observed": ("statistic", stacked(actual)),
            "expected": (by_draw, stacked(expected).reshape(*chains, -1)),
            "repeated": (by_draw, stacked(repeated).reshape(*chains, -1)),
            "null": (("sample", "statistic"), stacked(null)),
        },
        coords={"statistic": names},
    )


def _summary(draws: "xr.Dataset", hdi_prob: float) -> "pd.DataFrame":
    """Return one row for each statistic."""
    frame = estimates(draws["expected"], hdi_prob=hdi_prob)
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
    result = frame[["statistic", *_COLUMNS]]
    result.attrs = {"hdi_prob": hdi_prob}
    return result


def _error_of_ends(null: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo standard error of the interval's ends, the larger one: half of what 2 errors of rank span."""
    samples = len(null)
    errors = []
    for tail in NULL_TAILS:
        step = np.sqrt(tail * (1 - tail) / samples)
        low, high = np.quantile(null, [max(0.0, tail - step), min(1.0, tail + step)], axis=0)
        errors.append((high - low) / 2)
    return np.asarray(np.max(errors, axis=0))


def _share(null: np.ndarray, value: float) -> tuple[float, float]:
    """Return twice the smaller tail beyond a value, at most 1, and its Monte Carlo standard error."""
    tail, error = min(rate(null >= value), rate(null <= value))
    return min(1.0, 2 * tail), 2 * error


def _words(
    observed: Similarities,
    actual: Mapping[str, np.ndarray],
    expected: Mapping[str, np.ndarray],
    repeated: Mapping[str, np.ndarray],
    null: Mapping[str, np.ndarray],
    chains: tuple[int, int],
    hdi_prob: float,
) -> "pd.DataFrame":
    """Return one row for each value of a single word."""
    import pandas as pd

    if "words" not in actual:
        return pd.DataFrame(columns=["word", "group", *_COLUMNS])
    groups = [(word, group) for group, words in observed.protected.items() for word in words]
    labels = [(*pair, name) for pair in groups for name in observed.attributes]
    columns = ["word", "group", "attribute_group"]
    if actual["words"].ndim == 1:
        labels, columns = groups, columns[:2]  # type: ignore[assignment]
    names = [str(place) for place in range(len(labels))]
    flat = [
        dict(zip(names, each["words"].reshape(*each["words"].shape[: each["words"].ndim - actual["words"].ndim], -1).T,
                 strict=True))
        for each in (actual, expected, repeated, null)
    ]  # fmt: skip
    frame = _summary(_dataset(*flat, names, chains), hdi_prob).drop(columns="statistic")
    return pd.concat([pd.DataFrame(labels, columns=columns), frame], axis=1)


def _lost_of(lost: list[dict[str, str]], lists: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the lost words of some lists."""
    found = {name: tuple(entry["word"] for entry in lost if entry["group"] == name) for name in lists}
    return {name: words for name, words in found.items() if words}



"""`drivers`: a multilevel regression of the reliability of words' scores on features, algorithms and corpora."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_probability, resolve_seed
from bayesbias.base.machine import threadpool_limits
from bayesbias.base.number_text import counted, digits_text, percent_text, share_text
from bayesbias.base.results import DOUBTS, Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import EmbeddingError, LostWordsError, ReportError, name_some
from bayesbias.estimates.intervals import SCOPES, estimates, is_settled
from bayesbias.models.numerics.diagnostics import ESS_PER_CHAIN, warn_of_problems
from bayesbias.models.numerics.proposals import KHAT_MAX, fit_proposal, importance_report, poor_weights, resample
from bayesbias.reliability.consistency import word_features
from bayesbias.reliability.driver_rows import checked_columns, checked_drops, complete_words, design, numbers

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_CHAINS = 4
# The range of the logarithms of standard deviations in which modes are searched.
_LIMITS = (-9.0, 3.0)
# With fewer levels, the variance of a grouping depends mostly on its prior.
_FEW_LEVELS = 5
_FREQUENCY = ["log_frequency", "log_frequency_squared"]


@dataclass(frozen=True, eq=False)
class Stratum:
    """Rows with one error standard deviation, reduced to their sufficient statistics.

    - `design` (array, shape (k, columns)): the R of the design's QR decomposition, k at most the number of columns.
    - `response` (array, shape (k,)): Q'y.
    - `residual_squares`: |y|^2 - |Q'y|^2.
    - `rows`: number of rows before the reduction.
    """

    design: Floats
    response: Floats
    residual_squares: float
    rows: int


def split_rows(design: Floats, response: Floats, repeats: int) -> list[Stratum]:
    """Split rows into means of units and deviations from them, each reduced by QR.

    `design` and `response`, of shape (units * repeats, ...), have the rows of a unit one after the other. With an error
    of each unit (sd u) and of each row (sd s), the means times sqrt(repeats) have the variance s^2 + repeats u^2 and
    the deviations s^2, independently: the likelihood is that of the rows, at a cost that does not grow with them.

    >>> means, deviations = split_rows(np.ones((6, 1)), np.array([1.0, 3, 2, 4, 3, 5]), repeats=2)
    >>> float(round(means.residual_squares, 6)), means.rows, deviations.rows
    (4.0, 3, 3)
    """
    units = len(response) // repeats
    X, y = design.reshape(units, repeats, -1), response.reshape(units, repeats)
    means = X.mean(axis=1), y.mean(axis=1)
    first = _reduced(means[0] * np.sqrt(repeats), means[1] * np.sqrt(repeats), units)
    if repeats == 1:
        return [first]
    deviations = (X - means[0][:, None]).reshape(-1, X.shape[2]), (y - means[1][:, None]).reshape(-1)
    return [first, _reduced(*deviations, units * (repeats - 1))]


def _reduced(design: Floats, response: Floats, rows: int) -> Stratum:
    Q, R = np.linalg.qr(design)
    projected = Q.T @ response
    return Stratum(R, projected, max(float(response @ response - projected @ projected), 0.0), rows)


@dataclass(frozen=True, eq=False)
class MixedRegression:
    """The regression of a standardised response on `fixed` columns, and on levels of groupings.

    Given the standard deviations of effects, units and errors, all coefficients and effects are Normal and are
    integrated out. The few standard deviations are drawn by importance sampling, then coefficients and effects given
    each draw.

    Priors, in standard deviations of the response: coefficients Normal(0, 1), every standard deviation HalfNormal(1).

    - `strata`: those of `split_rows`. The columns of their designs are those of `fixed`, then the levels of each
      grouping.
    - `fixed`: names of columns with a coefficient.
    - `groupings`: names of the levels of each grouping.
    - `repeats`: rows of each unit; with more than one, units have an effect.
    """

    strata: Sequence[Stratum]
    fixed: Sequence[str]
    groupings: Mapping[str, Sequence[str]]
    repeats: int

    @property
    def sds(self) -> list[str]:
        """Return the names of the standard deviations: of each grouping, of errors, and of units."""
        units = ["word_sd"] if len(self.strata) > 1 else []
        return [*(f"{name}_sd" for name in self.groupings), "sigma", *units]

    @property
    def sizes(self) -> list[int]:
        """Return the number of fixed columns, and of levels of each grouping."""
        return [len(self.fixed), *(len(levels) for levels in self.groupings.values())]

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of logarithms of the standard deviations, shape (points,), up to a constant."""
        factor, fitted, _, variances = self._given(points)
        density = points.sum(axis=1) - 0.5 * np.exp(2 * points).sum(axis=1)
        for stratum, variance in zip(self.strata, variances, strict=True):
            squares = stratum.response @ stratum.response + stratum.residual_squares
            density -= 0.5 * (stratum.rows * np.log(variance) + squares / variance)
        density -= np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(density + 0.5 * np.square(fitted).sum(axis=1))

    def draw_columns(self, points: Floats, rng: np.random.Generator) -> Floats:
        """Draw coefficients and effects, shape (points, columns), given logarithms of the standard deviations."""
        factor, fitted, scale, _ = self._given(points)
        noisy = fitted + rng.standard_normal(fitted.shape)
        return np.asarray(scale * np.linalg.solve(np.swapaxes(factor, 1, 2), noisy[..., None])[..., 0])

    def _given(self, points: Floats) -> tuple[Floats, Floats, Floats, list[Floats]]:
        """Return, at each point, the Cholesky factor of the columns' precision, and their whitened mean.

        Columns are divided by their prior scales, which are returned too, as are the variances of the strata.
        """
        sds = np.exp(points)
        scale = np.concatenate([np.ones((len(sds), 1)), sds[:, : len(self.groupings)]], axis=1)
        scale = scale.repeat(self.sizes, axis=1)
        noise = np.square(sds[:, len(self.groupings)])
        # Of the scaled means of units, and of the deviations from them.
        variances = [noise] if len(self.strata) == 1 else [noise + self.repeats * np.square(sds[:, -1]), noise]
        precision, linear = np.zeros((*scale.shape, scale.shape[1])), np.zeros(scale.shape)
        for stratum, variance in zip(self.strata, variances, strict=True):
            precision += stratum.design.T @ stratum.design / variance[:, None, None]
            linear += stratum.design.T @ stratum.response / variance[:, None]
        inner = np.eye(scale.shape[1]) + scale[:, :, None] * precision * scale[:, None]
        factor = np.linalg.cholesky(inner)
        fitted = np.linalg.solve(factor, (scale * linear)[..., None])[..., 0]
        return factor, fitted, scale, variances


def sample_mixed(regression: MixedRegression, *, draws: int, seed: int) -> "xr.DataTree":
    """Return draws of the standard deviations, of `coefficient`, and of the effects of each grouping.

    `draws` is their number in each of four chains. These are labels: draws are independent.
    """
    import xarray as xr

    rng, size = np.random.default_rng(seed), len(regression.sds)
    with threadpool_limits(1):  # threads cost more than they save with small matrices
        starts = [np.full(size, -1.0), np.where(np.arange(size) < len(regression.groupings), -4.0, -1.0)]
        proposal = fit_proposal(regression.log_density, starts, limits=_LIMITS)
        drawn = resample(regression.log_density, proposal, draws=draws * _CHAINS, rng=rng)
        columns = np.concatenate(
            [
                regression.draw_columns(block, rng)
                for block in np.array_split(drawn.points, 1 + len(drawn.points) // 2000)
            ]
        )
    names = [*regression.sds, "coefficient", *(f"{name}_effect" for name in regression.groupings)]
    dims = [()] * len(regression.sds) + [("column",), *((name,) for name in regression.groupings)]
    parts = [*np.exp(drawn.points.T), *np.split(columns, np.cumsum(regression.sizes)[:-1], axis=1)]
    variables = {
        name: (("chain", "draw", *dim), part.reshape(_CHAINS, draws, *part.shape[1:]))
        for name, dim, part in zip(names, dims, parts, strict=True)
    }
    coords = {"column": list(regression.fixed)} | {name: list(levels) for name, levels in regression.groupings.items()}
    groups = {"posterior": xr.Dataset(variables, coords=coords), "sample_stats": xr.Dataset(importance_report([drawn]))}
    return xr.DataTree.from_dict(groups)


def weight_problems(fit: "xr.DataTree") -> list[str]:
    """Return what is wrong with the importance weights of `sample_mixed`, a sentence each; empty if nothing is."""
    stats = {str(name): float(value) for name, value in fit["sample_stats"].items()}
    problems = []
    if not stats["pareto_khat"] <= KHAT_MAX:
        why = poor_weights(stats["pareto_khat"], KHAT_MAX)
        problems.append(f"{why.capitalize()}: do not trust the intervals. Leave out factors, or use more words.")
    if stats["importance_ess"] < _CHAINS * ESS_PER_CHAIN:
        few = f"Fewer than {_CHAINS * ESS_PER_CHAIN} effective draws ({stats['importance_ess']:.0f})"
        problems.append(f"{few}: the numbers are noisy. Use more draws.")
    return problems


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityRegression(Result):
    """Result of `drivers`: what explains the reliability of words' scores, with uncertainty.

    Parameters
    ----------
    coefficients : pandas.DataFrame
        One row per column of the regression: `factor`, `level` (empty for numeric factors) and the posterior of the
        coefficient, in units of reliability per standard deviation of the factor, or for this level relative to the
        first: `mean`, `sd`, `hdi_low`, `hdi_high` and diagnostics.
    drops : pandas.DataFrame
        One row per factor, grouping or joint drop: the decrease of the explained share of variance (R2) without it.
    r_squared : pandas.DataFrame
        One row per `scope` and `part`: the share of variance explained by the factors (`"fixed"`), by each grouping, by
        all of these (`"total"`), and by words beyond their features (`"word"`). Scope ``"these_words"`` uses the
        effects of these algorithms and corpora, ``"population"`` the variance of similar ones.
    fit : xarray.DataTree
        The draws, for ArviZ.
    facts
        `response`, `words`, `rows`, `left_out` (words that lack some of the cells), `groupings` (levels of each),
        `response_sd`, `hdi_prob`, `random_seed`, `convergence_problems`.
    """

    coefficients: "pd.DataFrame"
    drops: "pd.DataFrame"
    r_squared: "pd.DataFrame"
    fit: "xr.DataTree"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        return f"ReliabilityRegression({counted(self.facts['words'], 'word')}, {counted(self.facts['rows'], 'row')})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        doubts = [Statement("convergence", problem) for problem in self.facts["convergence_problems"]]
        if self.facts["left_out"]:
            text = (
                f"{len(self.facts['left_out']):,} words that lack an algorithm, corpus or rule are left out: "
                f"{name_some(self.facts['left_out'], 5)}."
            )
            doubts.append(Statement("left out", text, {"words": self.facts["left_out"]}))
        groupings = self.facts["groupings"].items()
        doubts += [_few_levels(name, levels) for name, levels in groupings if len(levels) < _FEW_LEVELS]
        shares = rows_of(self.r_squared[self.r_squared["scope"] == "these_words"])
        (total,) = (row for row in shares if row["part"] == "total")
        most = max(rows_of(self.drops), key=lambda row: row["mean"])
        answer = (
            f"Factors and groupings explain {share_text(total['mean'])} of the variance of {self.facts['response']} "
            f"({share_text(total['hdi_low'])} to {share_text(total['hdi_high'])}); most is lost without "
            f"{most['factor']}."
        )
        return (
            StatementList("", (Statement("answer", answer, total),), bulleted=False),
            StatementList(DOUBTS, tuple(doubts)),
            StatementList(
                f"Share of the variance of {self.facts['response']} ({percent_text(self.facts['hdi_prob'])} HPDI)",
                tuple(_share_statement("share", row) for row in shares),
            ),
            StatementList(
                "Drop of this share without it", tuple(_share_statement("drop", row) for row in rows_of(self.drops))
            ),
            StatementList("Direction", tuple(_coefficient_statement(row) for row in rows_of(self.coefficients))),
        )

    @cached_property
    def contents(self) -> Contents:
        """What explains the reliability of words' scores."""
        contents = contents_of(
            self,
            title=f"What explains {self.facts['response']}?",
            about=f"{counted(self.facts['words'], 'word')}, {counted(self.facts['rows'], 'row')}.",
            captions={"coefficients": "Coefficients, in units of the response for one standard deviation of a factor"},
            differences=("coefficients",),
            figures={"drops": self._drop_figure()},
        )
        return replace(contents, settings={"Seed": str(self.facts["random_seed"])})

    def _drop_figure(self) -> ResultFigure:
        """Return a forest of the share of variance that is lost without each factor or grouping, the largest first."""
        ends = self.drops[["hdi_low", "hdi_high"]].itertuples(index=False, name=None)
        rows = self.drops.assign(
            label="without " + self.drops["factor"], filled=[is_settled(low, high) for low, high in ends]
        ).sort_values("mean", ascending=False, kind="stable")
        caption = (
            "Decrease of the explained share of variance without each factor or grouping: posterior means (points) "
            f"with {percent_text(self.facts['hdi_prob'])} intervals (lines). Filled: the interval excludes 0."
        )
        return forest_figure(caption, rows, label="Decrease of the explained share of variance")


def drivers(
    data: "pd.DataFrame",
    factors: Sequence[str],
    *,
    response: str = "reliability",
    groupings: Sequence[str] = ("algorithm", "corpus"),
    joint_drops: Mapping[str, Sequence[str]] | None = None,
    draws: int = 1000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> ReliabilityRegression:
    """Return a regression of the reliability of words' scores on features, with effects of algorithms and corpora.

    Parameters
    ----------
    data
        One row per word and cell (algorithm, corpus, and rule if there are several): columns `word`, the response, the
        groupings, and the factors. Reliabilities are those of `test_retest` or `inter_rater`; features are those of
        `word_features` and any others (senses, part of speech).
    factors
        Columns of `data`. Numbers are standardised; a column of text, such as the scoring rule, has one coefficient for
        each level but the first. Names joined by a colon, such as ``"stability:rule"``, are an interaction: the product
        of the factors' columns; each of them must be a factor too.
    response
        Column to explain.
    groupings
        Columns with at least two levels, whose effects are Normal around 0.
    joint_drops
        Factors or groupings that `drops` leaves out together, by a name: ``{"frequency": ["log_frequency",
        "log_frequency_squared"]}``. A factor whose square or interaction stays is otherwise partly replaced by it.
    draws
        Posterior draws per chain, of 4 chains; these are labels, because draws are independent.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the sampler; drawn if None, and recorded.

    Returns
    -------
    ReliabilityRegression
        When printed, it states the shares of variance, the drops without each factor, and the coefficients.

    Raises
    ------
    ReportError, ArgumentError
        If a column is missing, constant, not numeric or a linear function of others; a word has several rows in a cell;
        or fewer than 10 words have all cells.

    Notes
    -----
    The model of Du, Fang and Nguyen (2021, appendix F), with an additional effect of each word, since the rows of one
    word are not independent:

        y = X beta + nu_algorithm + mu_corpus + omega_word + e,

    nu, mu, omega and e Normal around 0, each with a standard deviation of its own; priors in standard deviations of y:
    beta Normal(0, 1), standard deviations HalfNormal(1). R2 of a part is its variance over the sum of all (Nakagawa
    and Schielzeth 2013), draw by draw (Gelman, Goodrich, Gabry and Vehtari 2019). The drop of R2 without a factor is
    the part of the fitted values that the other columns cannot reproduce, draw by draw: at the least-squares estimate
    it is the difference of the R2 of the two regressions.

    Given the standard deviations, all else is Normal and is integrated out; they are drawn by importance sampling, and
    a Pareto k-hat of the weights above 0.7 is reported.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> cells = pd.MultiIndex.from_product([range(200), ["sgns", "glove"], ["news", "wiki"]]).to_frame(index=False)
    >>> data = cells.set_axis(["word", "algorithm", "corpus"], axis=1)
    >>> data["stability"] = rng.normal(size=200)[data["word"]]
    >>> of_words, of_rows = rng.normal(size=200)[data["word"]], rng.normal(size=len(data))
    >>> data["reliability"] = 0.1 * (data["stability"] + of_words + of_rows)
    >>> regression = bb.reliability.drivers(data, ["stability"], random_seed=1)
    >>> regression.r_squared.query("scope == 'these_words' and part == 'fixed'")["mean"].round(1).item()
    0.3
    """
    import pandas as pd

    check_count("draws", draws)
    check_probability("hdi_prob", hdi_prob)
    seed = resolve_seed(random_seed)
    names = checked_columns(data, factors, response, groupings)
    together = checked_drops(joint_drops, [*names, *groupings])
    frame, repeats, left_out = complete_words(pd.DataFrame(data), names, groupings)
    columns, X = design(frame, names)
    levels = {name: list(dict.fromkeys(frame[name].astype(str))) for name in groupings}
    Z = np.concatenate(
        [(frame[name].astype(str).to_numpy()[:, None] == np.array(levels[name])).astype(float) for name in groupings]
        or [np.empty((len(frame), 0))],
        axis=1,
    )
    y = numbers(frame, response)
    scale = y.std()
    whole = np.concatenate([X, Z], axis=1)
    labels = [f"{factor}[{level}]" if level else factor for factor, level in columns]
    strata = split_rows(whole, (y - y.mean()) / scale, repeats)
    fit = sample_mixed(MixedRegression(strata, labels, levels, repeats), draws=draws, seed=seed)
    problems = weight_problems(fit)
    warn_of_problems(problems)
    posterior = fit["posterior"].to_dataset()
    coefficients = _estimates(posterior["coefficient"] * scale, hdi_prob).drop(columns="column")
    coefficients.insert(0, "factor", [factor for factor, _ in columns])
    coefficients.insert(1, "level", [level for _, level in columns])
    blocks = {name: [place for place, (factor, _) in enumerate(columns) if factor == name] for name in names}
    start = len(columns)
    for name in groupings:
        blocks[name] = list(range(start, start + len(levels[name])))
        start += len(levels[name])
    blocks |= {name: [place for part in parts for place in blocks[part]] for name, parts in together.items()}
    shares, drops = _shares(posterior, whole, list(levels), blocks, len(columns), hdi_prob)
    return ReliabilityRegression(
        coefficients=coefficients[coefficients["factor"] != "intercept"].reset_index(drop=True),
        drops=drops,
        r_squared=shares,
        fit=fit,
        facts={
            "response": response,
            "words": len(frame) // repeats,
            "rows": len(frame),
            "left_out": tuple(left_out),
            "groupings": levels,
            "response_sd": float(scale),
            "hdi_prob": hdi_prob,
            "random_seed": seed,
            "convergence_problems": problems,
        },
    )


def _estimates(draws: "xr.DataArray", hdi_prob: float) -> "pd.DataFrame":
    from bayesbias.estimates.frames import EstimateFrame

    return EstimateFrame(estimates(draws, hdi_prob=hdi_prob))


def _shares(
    posterior: "xr.Dataset",
    whole: Floats,
    groupings: list[str],
    blocks: Mapping[str, list[int]],
    fixed: int,
    hdi_prob: float,
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the shares of variance, and their decrease without each block of columns, draw by draw."""
    import pandas as pd
    import xarray as xr

    dims = ("chain", "draw")

    def draws_of(name: str) -> Floats:
        return np.asarray(posterior[name].transpose(*dims, ...))

    theta = np.concatenate([draws_of("coefficient"), *(draws_of(f"{name}_effect") for name in groupings)], axis=-1)
    centred = whole - whole.mean(axis=0)
    gram = centred.T @ centred / len(centred)

    def variance(columns: Sequence[int]) -> Floats:
        part = theta[..., columns]
        return np.asarray(np.einsum("...i,ij,...j->...", part, gram[np.ix_(columns, columns)], part))

    of_words = draws_of("word_sd") ** 2 if "word_sd" in posterior else np.zeros(theta.shape[:2])
    noise = draws_of("sigma") ** 2
    frames = []
    for scope in reversed(SCOPES):
        parts = {"fixed": variance(range(fixed))}
        for name in groupings:
            parts[name] = variance(blocks[name]) if scope == "these_words" else draws_of(f"{name}_sd") ** 2
        parts["total"] = sum(parts.values(), start=np.zeros(1))
        every = parts["total"] + of_words + noise
        if "word_sd" in posterior:
            parts["word"] = of_words
        stacked = xr.DataArray(
            np.stack([part / every for part in parts.values()], axis=-1),
            dims=(*dims, "part"),
            coords={"part": list(parts)},
        )
        frame = _estimates(stacked, hdi_prob)
        frame.insert(0, "scope", scope)
        frames.append(frame)
    every = variance(range(theta.shape[-1])) + of_words + noise
    lost = []
    for columns in blocks.values():
        others = [column for column in range(theta.shape[-1]) if column not in columns]
        # The part of these columns that the others cannot reproduce: the Schur complement.
        left = (
            gram[np.ix_(columns, columns)]
            - gram[np.ix_(columns, others)]
            @ np.linalg.pinv(gram[np.ix_(others, others)], rcond=1e-10, hermitian=True)
            @ gram[np.ix_(others, columns)]
        )
        part = theta[..., columns]
        lost.append(np.maximum(np.einsum("...i,ij,...j->...", part, left, part), 0) / every)
    drops = _estimates(
        xr.DataArray(np.stack(lost, axis=-1), dims=(*dims, "factor"), coords={"factor": list(blocks)}), hdi_prob
    )
    return pd.concat(frames, ignore_index=True), drops


def _few_levels(name: str, levels: Sequence[str]) -> Statement:
    text = (
        f"{len(levels)} levels of {name} ({', '.join(levels)}) say little about how others would differ. Use the share "
        "of these: the interval of the population's share depends mostly on the prior."
    )
    return Statement("few levels", text, {"grouping": name, "levels": list(levels)})


def _share_statement(kind: str, row: dict[str, Any]) -> Statement:
    name = row["part" if kind == "share" else "factor"]
    name = f"without {name}" if kind == "drop" else name
    text = f"{name}: {share_text(row['mean'])} ({share_text(row['hdi_low'])} to {share_text(row['hdi_high'])})."
    return Statement(kind, text, row)


def _coefficient_statement(row: dict[str, Any]) -> Statement:
    what = f"{row['factor']} {row['level']}".strip()
    if is_settled(row["hdi_low"], row["hdi_high"]):
        direction = "higher" if row["mean"] > 0 else "lower"
        head = f"{what}: {direction} reliability"
    else:
        head = f"{what}: not settled"
    interval = f"{digits_text(row['hdi_low'])} to {digits_text(row['hdi_high'])}"
    return Statement("coefficient", f"{head}, {digits_text(row['mean'])} ({interval}).", row)


def explained(
    tables: "Mapping[str, pd.DataFrame]",
    embeddings: Mapping[str, Mapping[Any, Any]],
    *,
    counts: Mapping[str, int] | None,
    properties: Any,
    settings: Mapping[str, Any],
) -> tuple[dict[str, ReliabilityRegression], tuple[str, ...]]:
    """Return what explains reliability over seeds and over rules, and why a regression or feature is left out."""
    import pandas as pd

    words = list(dict.fromkeys(tables["words_over_seeds"]["target_word"]))
    try:
        features = pd.concat(
            [
                word_features(seeds, counts=counts, words=words, properties=properties).assign(vectors=name)
                for name, seeds in embeddings.items()
            ]
        )
    except (EmbeddingError, LostWordsError, ReportError) as error:
        return {}, (f"What explains reliability is not estimated. {error}",)
    names = [name for name in features.columns if name not in ("word", "vectors")]
    missing = features[names].isna().mean()
    reasons = [
        f"{name} is not a factor: {share:.0%} of the words lack it.".replace("%", " %")
        for name, share in missing[missing > 0.5].items()
    ]
    names = [name for name in names if missing[name] <= 0.5 and features[name].dropna().nunique() > 1]
    complete = features.dropna(subset=names)
    if lost := features["word"].nunique() - complete["word"].nunique():
        reasons.append(
            f"{counted(lost, 'word that lacks a feature is', 'words that lack a feature are')} not in the regressions."
        )
    results = {}
    for kind in ("over seeds", "over rules"):
        frame = tables[f"words_{kind.replace(' ', '_')}"]
        if not len(frame):
            continue
        cells = [name for name in ("rule", "vectors", "target_word") if name in frame]
        data = frame.drop_duplicates(cells).rename(columns={"target_word": "word", "observed": "reliability"})
        data = data[["word", "vectors", "reliability", *(["rule"] if "rule" in frame else [])]]
        rules = ["rule"] if "rule" in frame and frame["rule"].nunique() > 1 else []
        try:
            results[kind] = drivers(
                data.merge(complete, on=["word", "vectors"]),
                [*rules, *names],
                groupings=["vectors"] if len(embeddings) > 1 else [],
                joint_drops={"frequency": _FREQUENCY} if set(_FREQUENCY) <= set(names) else None,
                **settings,
            )
        except ReportError as error:
            reasons.append(f"What explains reliability {kind} is not estimated. {error}")
    return results, tuple(reasons)

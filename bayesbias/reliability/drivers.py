"""What drives the reliability of words' scores: a multilevel regression on features, algorithms and corpora."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, check_probability, resolve_seed
from bayesbias.base.statements import (
    Rendered,
    Statement,
    StatementList,
    digits_text,
    percent_text,
    plain,
    rows_of,
    share_text,
)
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import estimates, settled
from bayesbias.models.numerics.diagnostics import convergence_problems, warn_of_problems
from bayesbias.models.sampling import Settings
from bayesbias.reliability.driver_rows import checked_columns, complete_words, design, numbers
from bayesbias.reliability.mixed_regression import sample_mixed, split_rows

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SCOPES = ("these", "population")
# With fewer levels the variance of a grouping is known little better than from its prior.
_FEW_LEVELS = 5


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDrivers(Rendered):
    """What `drivers` found; printed, what explains the reliability of words' scores, and how well that is known.

    Parameters
    ----------
    coefficients : pandas.DataFrame
        One row a column of the regression: `factor`, `level` (of a factor with categories, else empty) and the
        posterior of its coefficient, in units of reliability for one standard deviation of the factor, or for this
        level in place of the first: `mean`, `sd`, `hdi_low`, `hdi_high` and diagnostics.
    drops : pandas.DataFrame
        One row a factor or grouping: by how much the explained share of variance (R2) falls when it is left out.
    r_squared : pandas.DataFrame
        One row a `scope` and `part`: the share of variance that the factors (`"fixed"`), each grouping, all of these
        (`"total"`), and what is a word's own beyond its features (`"word"`) explain. Scope ``"these"`` takes the
        effects of these algorithms and corpora, ``"population"`` the variance of those like them.
    fit : xarray.DataTree
        The draws, for ArviZ.
    facts
        `response`, `words`, `rows`, `left_out` (words that lack some of the cells), `groupings` (levels of each),
        `response_sd`, `hdi_prob`, `seed`, `convergence_problems`.
    """

    coefficients: "pd.DataFrame"
    drops: "pd.DataFrame"
    r_squared: "pd.DataFrame"
    fit: "xr.DataTree"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        return f"ReliabilityDrivers({self.facts['words']:,} words, {self.facts['rows']:,} rows)"

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, in the order in which they are read."""
        doubts = [Statement("convergence", problem) for problem in self.facts["convergence_problems"]]
        if self.facts["left_out"]:
            text = (
                f"{len(self.facts['left_out']):,} words lack some algorithm, corpus or rule and are left out: "
                f"{name_some(self.facts['left_out'], 5)}."
            )
            doubts.append(Statement("left out", text, {"words": self.facts["left_out"]}))
        groupings = self.facts["groupings"].items()
        doubts += [_few_levels(name, levels) for name, levels in groupings if len(levels) < _FEW_LEVELS]
        shares = rows_of(self.r_squared[self.r_squared["scope"] == "these"])
        parts = (
            StatementList("Beware", tuple(doubts)),
            StatementList(
                f"Share of the variance of {self.facts['response']} ({percent_text(self.facts['hdi_prob'])} HPDI)",
                tuple(_share_statement(row) for row in shares),
            ),
            StatementList("What is lost without it", tuple(_drop_statement(row) for row in rows_of(self.drops))),
            StatementList("Direction", tuple(_coefficient_statement(row) for row in rows_of(self.coefficients))),
        )
        return tuple(part for part in parts if part.statements)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the draws as plain Python, for JSON."""
        return {name: plain(value) for name, value in vars(self).items() if name != "fit"}


def drivers(
    data: "pd.DataFrame",
    factors: Sequence[str],
    *,
    response: str = "reliability",
    groupings: Sequence[str] = ("algorithm", "corpus"),
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    progress: bool = True,
) -> ReliabilityDrivers:
    """Regress the reliability of words' scores on features of the words, with effects of algorithms and corpora.

    Parameters
    ----------
    data
        One row a word and cell (algorithm, corpus, and rule where there are several): columns `word`, the response, the
        groupings, and the factors. The reliabilities are those of `test_retest` or `inter_rater`, the features those of
        `word_features` and one's own (senses, part of speech).
    factors
        Columns of `data`. Numbers enter standardised; a column of text, such as the scoring rule, as one coefficient
        for each level but the first.
    response
        The column that is explained.
    groupings
        Columns whose levels, two at least, have effects around 0.
    draws, tune, chains
        Posterior draws and tuning steps of each chain, and chains.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the sampler; drawn if None, and recorded.
    progress
        Whether to show a progress bar.

    Returns
    -------
    ReliabilityDrivers
        Printed, the shares of variance, what is lost without each factor, and the coefficients.

    Raises
    ------
    ReportError, ArgumentError
        If a column is missing, holds what is no number, does not vary, or repeats others; a word stands twice in a
        cell; or fewer than 10 words have all cells.

    Notes
    -----
    The model of Du, Fang and Nguyen (2021, appendix F), with an effect of each word besides, since the rows of one word
    are not independent:

        y = X beta + nu_algorithm + mu_corpus + omega_word + e,

    nu, mu, omega and e Normal around 0, each with a standard deviation of its own; priors in standard deviations of y:
    beta Normal(0, 1), standard deviations HalfNormal(1). R2 of a part is its variance over the sum of all (Nakagawa
    and Schielzeth 2013), draw by draw (Gelman, Goodrich, Gabry and Vehtari 2019). The drop of R2 without a factor is
    the part of the fitted values that the other columns cannot reproduce, draw by draw: at the least-squares estimate
    it is the difference of the R2 of the two regressions.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> cells = pd.MultiIndex.from_product([range(200), ["sgns", "glove"], ["news", "wiki"]]).to_frame(index=False)
    >>> data = cells.set_axis(["word", "algorithm", "corpus"], axis=1)
    >>> data["stability"] = rng.normal(size=200)[data["word"]]
    >>> of_words, of_rows = rng.normal(size=200)[data["word"]], rng.normal(size=len(data))
    >>> data["reliability"] = 0.1 * (data["stability"] + of_words + of_rows)
    >>> few = {"draws": 500, "tune": 300, "chains": 2, "random_seed": 1, "progress": False}
    >>> found = bb.reliability.drivers(data, ["stability"], **few)
    >>> found.r_squared.query("scope == 'these' and part == 'fixed'")["mean"].round(1).item()
    0.3
    """
    import pandas as pd

    for name, value in {"draws": draws, "tune": tune, "chains": chains}.items():
        check_count(name, value)
    check_probability("hdi_prob", hdi_prob)
    check_flag("progress", progress)
    seed = resolve_seed(random_seed)
    names = checked_columns(data, factors, response, groupings)
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
    fit = sample_mixed(
        split_rows(whole, (y - y.mean()) / scale, repeats),
        columns=labels,
        groupings=levels,
        repeats=repeats,
        settings=Settings(draws, tune, chains, seed, progress),
    )
    problems = convergence_problems(fit)
    warn_of_problems(problems)
    posterior = fit["posterior"].to_dataset()
    coefficients = _estimates(posterior["coefficient"] * scale, hdi_prob).drop(columns="column")
    coefficients.insert(0, "factor", [factor for factor, _ in columns])
    coefficients.insert(1, "level", [level for _, level in columns])
    blocks = {name: [at for at, (factor, _) in enumerate(columns) if factor == name] for name in names}
    at = len(columns)
    for name in groupings:
        blocks[name] = list(range(at, at + len(levels[name])))
        at += len(levels[name])
    shares, drops = _shares(posterior, whole, list(levels), blocks, len(columns), hdi_prob)
    return ReliabilityDrivers(
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
            "seed": seed,
            "convergence_problems": problems,
        },
    )


def _estimates(draws: "xr.DataArray", hdi_prob: float) -> "pd.DataFrame":
    from bayesbias.estimates.estimate_frame import EstimateFrame

    return EstimateFrame(estimates(draws, hdi_prob=hdi_prob))


def _shares(
    posterior: "xr.Dataset",
    whole: Floats,
    groupings: list[str],
    blocks: Mapping[str, list[int]],
    fixed: int,
    hdi_prob: float,
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the shares of variance, and what is lost without each block of columns, draw by draw."""
    import pandas as pd
    import xarray as xr

    dims = ("chain", "draw")

    def draws_of(name: str) -> Floats:
        return np.asarray(posterior[name].transpose(*dims, ...))

    theta = np.concatenate([draws_of("coefficient"), *(draws_of(f"{name}_effect") for name in groupings)], axis=-1)
    centred = whole - whole.mean(axis=0)
    gram = centred.T @ centred / len(centred)

    def variance(columns: Sequence[int], of: Floats = gram) -> Floats:
        part = theta[..., columns]
        return np.asarray(np.einsum("...i,ij,...j->...", part, of[np.ix_(columns, columns)], part))

    own = draws_of("word_sd") ** 2 if "word_sd" in posterior else np.zeros(theta.shape[:2])
    noise = draws_of("sigma") ** 2
    frames = []
    for scope in SCOPES:
        parts = {"fixed": variance(range(fixed))}
        for name in groupings:
            parts[name] = variance(blocks[name]) if scope == "these" else draws_of(f"{name}_sd") ** 2
        parts["total"] = sum(parts.values(), start=np.zeros(1))
        every = parts["total"] + own + noise
        if "word_sd" in posterior:
            parts["word"] = own
        stacked = xr.DataArray(
            np.stack([part / every for part in parts.values()], axis=-1),
            dims=(*dims, "part"),
            coords={"part": list(parts)},
        )
        frame = _estimates(stacked, hdi_prob)
        frame.insert(0, "scope", scope)
        frames.append(frame)
    every = variance(range(theta.shape[-1])) + own + noise
    lost = []
    for columns in blocks.values():
        rest = [at for at in range(theta.shape[-1]) if at not in columns]
        # What the other columns cannot reproduce of these: the Schur complement.
        left = (
            gram[np.ix_(columns, columns)]
            - gram[np.ix_(columns, rest)]
            @ np.linalg.pinv(gram[np.ix_(rest, rest)], rcond=1e-10, hermitian=True)
            @ gram[np.ix_(rest, columns)]
        )
        part = theta[..., columns]
        lost.append(np.maximum(np.einsum("...i,ij,...j->...", part, left, part), 0) / every)
    drops = _estimates(
        xr.DataArray(np.stack(lost, axis=-1), dims=(*dims, "factor"), coords={"factor": list(blocks)}), hdi_prob
    )
    return pd.concat(frames, ignore_index=True), drops


def _few_levels(name: str, levels: Sequence[str]) -> Statement:
    text = (
        f"{len(levels)} levels of {name} ({', '.join(levels)}) say little of how others would differ: read the share "
        "of these, not that of the population, whose interval is mostly the prior's."
    )
    return Statement("few levels", text, {"grouping": name, "levels": list(levels)})


def _share_statement(row: dict[str, Any]) -> Statement:
    text = f"{row['part']}: {share_text(row['mean'])} ({share_text(row['hdi_low'])} to {share_text(row['hdi_high'])})."
    return Statement("share", text, row)


def _drop_statement(row: dict[str, Any]) -> Statement:
    text = (
        f"{row['factor']}: {share_text(row['mean'])} ({share_text(row['hdi_low'])} to {share_text(row['hdi_high'])})."
    )
    return Statement("drop", text, row)


def _coefficient_statement(row: dict[str, Any]) -> Statement:
    what = f"{row['factor']} {row['level']}".strip()
    if settled(row["hdi_low"], row["hdi_high"]):
        said = "higher" if row["mean"] > 0 else "lower"
        head = f"{what}: {said} reliability"
    else:
        head = f"{what}: not settled"
    interval = f"{digits_text(row['hdi_low'])} to {digits_text(row['hdi_high'])}"
    return Statement("coefficient", f"{head}, {digits_text(row['mean'])} ({interval}).", row)

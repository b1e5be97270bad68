"""Single-number measures of simulated similarities that hold no association."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_count, check_number, is_number, resolve_seed
from bayesbias.base.number_text import counted, digits_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.metrics.associations.mac import mean_distances
from bayesbias.metrics.associations.weat import association, check_ddof, effect_size, test_statistic
from bayesbias.metrics.significance import p_value, t_test

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NULL_VALUES = {"effect_size": 0.0, "test_statistic": 0.0, "mac": 1.0}
"""Quantities that can be compared with null samples, and their values if nothing is associated."""
_DRAWN_PARTITIONS = 10_000  # per sample, if there are too many to count
_NUMBERS_A_BLOCK = 2**21
_MOST_NUMBERS = 10**10


@dataclass(frozen=True, eq=False, repr=False)
class NullSimulation(Result):
    """WEAT and MAC of many samples of cosine similarities that hold no association.

    Parameters
    ----------
    samples : xarray.Dataset
        Variables with the dim `sample`: `test_statistic`, `effect_size` and `p_value` (one-sided) of WEAT; `mac`, the
        mean cosine distance, and the two-sided p-values of t-tests of MAC against 1, the distance of unrelated words:
        `p_value_preaveraged` (one average per protected word and list) and `p_value_raw` (one distance per pair). Each
        variable's ``attrs`` give its convention.
    summary : pandas.DataFrame
        One row per variable, `quantity`: mean, standard deviation, smallest value, quantiles and largest value.
    protected, attributes
        Numbers of words in the protected groups and in the attribute lists.
    sd, attribute_sd, word_sd
        Standard deviations of the similarity of a pair, of the effects of attribute words, and of those of protected
        words on a list.
    ddof
        1: the variance in the effect size is divided by n - 1; 0: by n.
    random_seed
        Seed of the draws.
    """

    samples: "xr.Dataset"
    summary: "pd.DataFrame"
    protected: tuple[int, int]
    attributes: tuple[int, int]
    sd: float
    attribute_sd: float
    word_sd: float
    ddof: int
    random_seed: int

    def __repr__(self) -> str:
        return f"NullSimulation({counted(self.samples.sizes['sample'], 'sample')}, random_seed={self.random_seed})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        (x, y), (a, b) = self.protected, self.attributes
        samples = counted(self.samples.sizes["sample"], "sample")
        about = Statement("data", f"{samples} of {x} + {y} protected by {a} + {b} attribute words, none associated.")
        rows_by_name = {row["quantity"]: row for row in rows_of(self.summary)}
        effect, mac = (
            f"{digits_text(row['2.5%'])} to {digits_text(row['97.5%'])}"
            for row in (rows_by_name["effect_size"], rows_by_name["mac"])
        )
        answer = Statement(
            "answer",
            f"Where nothing is associated, 95% of WEAT's effect sizes lie from {effect}, and 95% of MAC from {mac}.",
        )
        rows = tuple(
            Statement(
                "quantity",
                f"{row['quantity']}: mean {digits_text(row['mean'])}; 95% of the values lie between "
                f"{digits_text(row['2.5%'])} and {digits_text(row['97.5%'])}.",
                row,
            )
            for row in rows_of(self.summary)
        )
        return StatementList("", (answer, about), bulleted=False), StatementList("", rows)

    def _range_figure(self) -> ResultFigure:
        """Return a forest of the values that hold 95 % of the samples."""
        labels = {"effect_size": "WEAT: effect size", "mac": "MAC"}
        rows = self.summary[self.summary["quantity"].isin(list(labels))]
        rows = rows.assign(
            label=rows["quantity"].map(labels), hdi_low=rows["2.5%"], hdi_high=rows["97.5%"], filled=False
        )
        return forest_figure(
            "Mean (points) and 95% of the values (lines) where nothing is associated.", rows, label="Value"
        )

    @property
    def contents(self) -> Contents:
        """The distribution of each measure."""
        names = {"mean": "Mean", "std": "SD", "min": "Smallest", "50%": "Median", "max": "Largest"}
        return contents_of(
            self,
            title="How large are WEAT and MAC where nothing is associated?",
            captions={"summary": "WEAT, MAC and their p-values over samples without any association"},
            figures={
                "ranges": self._range_figure(),
                "null": ResultFigure(
                    "plot_null", "Shares of samples by the value of each measure and p-value.", section="Distributions"
                ),
            },
            headings={name: name for name in ("2.5%", "97.5%")} | names,
        )


def simulate_null(
    *,
    protected: tuple[int, int] = (8, 8),
    attributes: tuple[int, int] = (8, 8),
    sd: float = 0.08,
    attribute_sd: float = 0.0,
    word_sd: float = 0.0,
    samples: int = 10_000,
    random_seed: int | None = None,
    ddof: int = 1,
    progress: bool = True,
) -> NullSimulation:
    """Return WEAT and MAC of many samples of cosine similarities that hold no association.

    Parameters
    ----------
    protected
        Numbers of protected words in the groups X and Y, which must be equal, since the test statistic is a difference
        of two sums.
    attributes
        Numbers of attribute words in the lists A and B.
    sd
        Standard deviation of the similarity of a pair of words, whose mean is 0. Neutral words have about 0.08.
    attribute_sd
        Standard deviation of the effects of attribute words, by which some are nearer to all protected words alike.
    word_sd
        Standard deviation of the effects of protected words on a list, by which a word is nearer to all words of A, or
        of B, by chance.
    samples
        Number of samples of all similarities.
    random_seed
        Seed of the draws. None: a seed is drawn and recorded.
    ddof
        1 to divide the variance in the effect size by n - 1, 0 to divide it by n.
    progress
        Whether to show a progress bar.

    Returns
    -------
    NullSimulation
        The measures of each sample in `samples`, and their distributions in `summary`.

    Raises
    ------
    ReportError, ArgumentError
        If an argument is not usable.

    Notes
    -----
    The p-value counts all partitions of the protected words; if there are more than a million, 10,000 are drawn.

    Attribute effects shift the association of all protected words alike, so they change MAC but not WEAT.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Pre-averaging, bootstrapping and testing with the null model". They report that
    38 % of the samples are at least as extreme as an effect size of 1.267. It is 0.6 %: their code takes R's ``mean``
    of several arguments, which is the first of them (`validation/nulls/README.md`). Caliskan, Bryson and Narayanan
    (2017) for the statistic, effect size and p-value.

    Examples
    --------
    >>> null = bb.reports.simulate_null(random_seed=1)
    >>> shares = bb.reports.null_share(null, effect_size=1.2671948)
    >>> shares[["share", "mc_se"]].round(4).to_dict("records")
    [{'share': 0.0055, 'mc_se': 0.0007}]
    """
    import xarray as xr

    from bayesbias.base.machine import threadpool_limits

    groups, lists = check_sizes("protected", protected), check_sizes("attributes", attributes)
    if groups[0] != groups[1]:
        raise ReportError(
            f"protected={protected!r}: the test statistic is a difference of two sums, so both groups need the same "
            "number of words. Give two equal numbers."
        )
    spread = check_spread(sd, attribute_sd, word_sd)
    count, seed = check_count("samples", samples, least=2), resolve_seed(random_seed)
    check_ddof(ddof)
    numbers = sum(groups) * sum(lists)
    if numbers * count > _MOST_NUMBERS:
        raise ReportError(
            f"{count:,} samples of {numbers:,} similarities exceed the limit of {_MOST_NUMBERS:,} numbers. Take fewer "
            "samples."
        )
    rng = np.random.default_rng(seed)
    parts: list[dict[str, np.ndarray]] = []
    # The matrices are so small that threads would mostly wait for each other.
    with threadpool_limits(1, "blas"):
        blocks = np.array_split(np.arange(count), max(1, count * numbers // _NUMBERS_A_BLOCK))
        for block in with_progress(blocks, "Simulated data sets", progress=progress):
            similarity = draw_noise(len(block), sum(groups), lists, spread, rng)
            parts.append(_measures(similarity, groups, lists, ddof, seed))
    conventions = {
        "test_statistic": "WEAT: sum of s(w, A, B) over X minus that over Y",
        "effect_size": f"WEAT: divided by the standard deviation with {'n - 1' if ddof else 'n'}",
        "p_value": "WEAT: one-sided, share of the partitions whose statistic is at least as large",
        "mac": "mean cosine distance",
        "p_value_preaveraged": "MAC: two-sided t-test against 1 of one average a protected word and list",
        "p_value_raw": "MAC: two-sided t-test against 1 of one distance a pair",
    }
    values = xr.Dataset(
        {
            name: ("sample", np.concatenate([part[name] for part in parts]), {"convention": convention})
            for name, convention in conventions.items()
        }
    )
    described = values.to_dataframe().describe(percentiles=[0.025, 0.5, 0.975]).T.drop(columns="count")
    return NullSimulation(
        samples=values,
        summary=described.rename_axis("quantity").reset_index(),
        protected=groups,
        attributes=lists,
        **spread,
        ddof=ddof,
        random_seed=seed,
    )


def null_share(null: NullSimulation, **observed: float) -> "pd.DataFrame":
    """Return the share of null samples that are at least as extreme as an observed value.

    Parameters
    ----------
    null
        Result of `simulate_null`.
    **observed
        Values of `effect_size`, `test_statistic` or `mac`, in the conventions of `null`.

    Returns
    -------
    pandas.DataFrame
        One row per value: `quantity`, `observed`, `share` of the samples at least as far from 0 (`mac`: from 1) on
        either side, and `mc_se`, its Monte Carlo standard error, which is positive even if no sample or every sample
        counts.

    Raises
    ------
    ReportError
        If `null` is not a result of `simulate_null`, or a value of another quantity is given.

    Examples
    --------
    >>> null = bb.reports.simulate_null(samples=1000, random_seed=1)
    >>> bb.reports.null_share(null, effect_size=0.0, mac=1.5)["share"].tolist()
    [1.0, 0.0]
    """
    import pandas as pd

    check_null(null)
    if not observed:
        raise ReportError(f"Found no observed value. Give {' or '.join(NULL_VALUES)}, such as effect_size=1.27.")
    rows = []
    for name, value in check_observed(observed).items():
        center = NULL_VALUES[name]
        share, error = rate(np.abs(null.samples[name].to_numpy() - center) >= abs(value - center))
        rows.append({"quantity": name, "observed": value, "share": share, "mc_se": error})
    return pd.DataFrame(rows)


def rate(happened: np.ndarray) -> tuple[float, float]:
    """Return the share of True and its Monte Carlo standard error.

    The error is computed as if one more value were True and one more False (Laplace), so that it is never 0.

    >>> rate(np.array([True, False]))
    (0.5, 0.3535...)
    """
    count, total = int(np.count_nonzero(happened)), len(happened)
    likely = (count + 1) / (total + 2)
    return count / total, float(np.sqrt(likely * (1 - likely) / total))


def excess_figure(rows: "pd.DataFrame", what: str, by: str) -> ResultFigure:
    """Return a forest of shares of claims minus the promised shares, the largest excess first.

    `rows` has `label`, `share`, `promised` and `error`, its Monte Carlo standard error; `what` was claimed of, and `by`
    says what a line is.
    """
    excess, reach = rows["share"] - rows["promised"], 2 * rows["error"]
    rows = rows.assign(mean=excess, hdi_low=excess - reach, hdi_high=excess + reach, filled=excess > reach)
    caption = (
        f"Share of {what} with a claim minus the share that the rule promises (points), and two Monte Carlo standard "
        f"errors (lines), by {by}. Filled: clearly more than promised."
    )
    rows = rows.sort_values("mean", ascending=False, kind="stable")
    return forest_figure(caption, rows, label="Share beyond the promised one")


def check_null(null: Any) -> None:
    """Raise `ReportError` unless `null` is a result of `simulate_null`."""
    if not isinstance(null, NullSimulation):
        raise ReportError(f"The null is a {type(null).__name__}. Give the result of simulate_null.")


def check_observed(observed: Mapping[str, float]) -> dict[str, float]:
    """Return observed values as floats, by quantity in `NULL_VALUES`, or raise `ReportError`."""
    for name, value in observed.items():
        if name not in NULL_VALUES:
            raise ReportError(
                f"There is no null of {name!r}{did_you_mean(name, NULL_VALUES)}. Give {' or '.join(NULL_VALUES)}."
            )
        if not is_number(value):
            raise ReportError(f"{name}={value!r}: give the observed value, a finite number.")
    return {name: float(value) for name, value in observed.items()}


def check_sizes(name: str, sizes: Any) -> tuple[int, int]:
    """Return two list sizes, or raise `ReportError` unless both are whole numbers of at least 2."""
    pair = tuple(sizes) if isinstance(sizes, tuple | list) else ()
    whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 2 for size in pair)
    if len(pair) != 2 or not whole:
        raise ReportError(f"{name}={sizes!r}: give two list sizes of at least 2 words each, such as (8, 8).")
    return int(pair[0]), int(pair[1])


def check_spread(sd: Any, attribute_sd: Any, word_sd: Any) -> dict[str, float]:
    """Return standard deviations by name: that of a pair, which must be above 0, and those of effects."""
    return {
        name: check_number(name, value, low=0, high=1, above=name == "sd")
        for name, value in (("sd", sd), ("attribute_sd", attribute_sd), ("word_sd", word_sd))
    }


def draw_noise(
    samples: int, words: int, lists: Sequence[int], spread: Mapping[str, float], rng: np.random.Generator
) -> np.ndarray:
    """Return draws of the deviations of pairs of words from their common mean, of shape (samples, words, attributes).

    A deviation is the noise of the pair, plus the effect of its attribute word, plus that of its protected word on the
    list.
    """
    noise = spread["sd"] * rng.standard_normal((samples, words, sum(lists)))
    if spread["attribute_sd"]:
        noise += spread["attribute_sd"] * rng.standard_normal((samples, 1, sum(lists)))
    if spread["word_sd"]:
        effects = spread["word_sd"] * rng.standard_normal((samples, words, len(lists)))
        noise += np.repeat(effects, lists, axis=-1)
    return noise


def _measures(
    similarity: np.ndarray, groups: tuple[int, int], lists: tuple[int, int], ddof: int, seed: int
) -> dict[str, np.ndarray]:
    to_a, to_b = similarity[..., : lists[0]], similarity[..., lists[0] :]
    s = association(to_a, to_b)
    s_x, s_y = s[:, : groups[0]], s[:, groups[0] :]
    averages = mean_distances(to_a, to_b)
    return {
        "test_statistic": test_statistic(s_x, s_y),
        "effect_size": effect_size(s_x, s_y, ddof=ddof),
        "p_value": p_value(s_x, s_y, samples=_DRAWN_PARTITIONS, random_seed=seed).p_value,
        "mac": averages.mean(axis=(-2, -1)),
        "p_value_preaveraged": t_test(averages.reshape(len(averages), -1), against=1.0).p_value,
        "p_value_raw": t_test(1 - similarity.reshape(len(similarity), -1), against=1.0).p_value,
    }

"""Rates at which methods claim an association that does not exist, on the same simulated data."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_items, resolve_seed
from bayesbias.base.number_text import counted, percent_text, share_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import FitError, ReportError
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.metrics.associations.weat import association
from bayesbias.metrics.significance import p_value, t_test
from bayesbias.models.data import ModelData, study_data
from bayesbias.models.quick import quick_contrasts
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.reports.measures.null_simulation import check_sizes, check_spread, draw_noise, excess_figure, rate

if TYPE_CHECKING:
    import pandas as pd

_MODELS = ("hierarchical", "crossed", "crossed_per_list", "multivariate")
METHODS = ("weat", "t_test_preaveraged", "t_test_raw", *_MODELS)
LEVEL = 0.05
# The default probability, and the one whose nominal rate is that of a test at 0.05.
HDI_PROBS = (HDI_PROB, 1 - LEVEL)
_MEAN = 1.0
_DRAWS = 4000
_POINTS = 500
_MOST_PAIRS = 50_000_000


@dataclass(frozen=True, eq=False, repr=False)
class FalsePositiveRates(Result):
    """Rates at which methods claim an association in data that hold none.

    Parameters
    ----------
    rates : pandas.DataFrame
        One row per method, contrast and rule: `method`, `contrast`, `rule` (for a claim), `nominal` (the rate that the
        rule promises), `rate` (the share of data sets with a claim), `mc_se` (its Monte Carlo standard error),
        `data_sets` (the number to which the method could be applied) and `not_fitted` (the number for which a
        diagnostic of the fast sampler failed, which do not count in the rate).
    protected, attributes
        Numbers of words in the protected groups and in the attribute lists.
    neutral
        Number of neutral attribute words.
    sd, attribute_sd, word_sd
        Standard deviations of the distance of a pair, of the effects of attribute words, and of those of protected
        words on a list.
    random_seed
        Seed of the draws.
    """

    rates: "pd.DataFrame"
    protected: tuple[int, int]
    attributes: tuple[int, int]
    neutral: int
    sd: float
    attribute_sd: float
    word_sd: float
    random_seed: int

    def __repr__(self) -> str:
        methods = counted(self.rates["method"].nunique(), "method")
        return f"FalsePositiveRates({methods}, attribute_sd={self.attribute_sd:g}, word_sd={self.word_sd:g})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        about = Statement(
            "data", "The data hold no association: all distances have the same mean, whatever the connection."
        )
        rates = tuple(map(_statement, rows_of(self.rates)))
        return StatementList("", (self._answer, about), bulleted=False), StatementList("", rates)

    @property
    def _answer(self) -> Statement:
        """How many methods claim clearly more often than their rule promises, and which one most."""
        rows = [row for row in rows_of(self.rates) if row["data_sets"]]
        above = [row for row in rows if row["rate"] > row["nominal"] + 2 * row["mc_se"]]
        worst = max(above or rows, key=lambda row: row["rate"] - row["nominal"], default=None)
        if worst is None:
            return Statement("answer", "No method could be applied to any data set.")
        text = (
            f"{len(above) or 'None'} of {counted(len(rows), 'rule')} {'claim' if len(above) > 1 else 'claims'} "
            f"clearly more often than promised; the worst is {worst['method']}: {share_text(worst['rate'])}, promised "
            f"{share_text(worst['nominal'])}."
        )
        return Statement("answer", text, worst)

    def _excess_figure(self) -> ResultFigure:
        """Return a forest of the rates above or below the promised ones, the largest excess first."""
        rows = self.rates.assign(
            label=[
                f"{row['method']}, {contrast_sides(row['contrast'])[1]}, {share_text(row['nominal'])}"
                for row in rows_of(self.rates)
            ]
        ).rename(columns={"rate": "share", "nominal": "promised", "mc_se": "error"})
        return excess_figure(rows, "data sets", "method, other words and promised share")

    @property
    def contents(self) -> Contents:
        """The rate of each method, with its nominal rate."""
        caption = (
            "Shares of data sets in which a method claims an association, beside the share that its rule promises."
        )
        return contents_of(
            self,
            title="How often does a method claim an association that is not there?",
            captions={"rates": "Shares of data sets without any association in which a method claims one"},
            figures={
                "excess": self._excess_figure(),
                "rates": ResultFigure("plot_false_positive_rates", caption, section="Rates"),
            },
            headings={"mc_se": "SE"},
        )


def _statement(row: Mapping[str, Any]) -> Statement:
    text = (
        f"{row['method']}, {row['contrast']}, {row['rule']}: {share_text(row['rate'])} of "
        f"{counted(row['data_sets'], 'data set')} (nominal {share_text(row['nominal'])})."
    )
    return Statement("rate", text, row)


def false_positive_rates(
    *,
    protected: tuple[int, int] = (8, 8),
    attributes: tuple[int, int] = (8, 8),
    neutral: int = 30,
    sd: float = 0.08,
    attribute_sd: float = 0.0,
    word_sd: float = 0.0,
    samples: int = 1000,
    random_seed: int | None = None,
    methods: Sequence[str] = METHODS[:-1],
    progress: bool = True,
) -> FalsePositiveRates:
    """Return the rate at which each method claims an association in data that hold none.

    All distances have the same mean, 1, whatever the connection of the pair. With `attribute_sd`, some attribute words
    are nearer to all protected words alike; with `word_sd`, some protected words are nearer to one list by chance.

    Parameters
    ----------
    protected
        Numbers of protected words in the groups X and Y, which must be equal.
    attributes
        Numbers of attribute words in the lists A (associated with X, different for Y) and B (the reverse).
    neutral
        Number of neutral attribute words: at least 2, or 0 for no comparisons with them.
    sd
        Standard deviation of the distance of a pair.
    attribute_sd
        Standard deviation of the effects of attribute words.
    word_sd
        Standard deviation of the effects of protected words on a list.
    samples
        Number of data sets, which are the same for all methods.
    random_seed
        Seed of the draws, 0 to 2**32 - 1. None: a seed is drawn and recorded.
    methods
        Any of ``"weat"``, ``"t_test_preaveraged"``, ``"t_test_raw"``, ``"hierarchical"``, ``"crossed"``,
        ``"crossed_per_list"`` and ``"multivariate"``, the default model of `bb.fit`, which is the slowest and not
        included by default.
    progress
        Whether to show a progress bar for each model.

    Returns
    -------
    FalsePositiveRates
        The rates in `rates`.

    Raises
    ------
    ReportError, ArgumentError
        If an argument is not usable, or no data set can be fitted.

    Notes
    -----
    WEAT (p < 0.05, one-sided, so only in the direction of an association) compares associated words with different
    words only. The t-tests (p < 0.05, two-sided) compare the distances of associated pairs with those of other pairs,
    as one mean per protected word or one distance per pair. The models make a claim if the HPDI of the difference of
    connection means excludes 0, on either side: nominally in 11 % of data sets for the 89 % interval and in 5 % for the
    95 % interval. A credible interval promises that rate on average over its prior, not for each single truth.

    In *associated - different* each attribute word is on both sides, so its effect cancels; in *associated - neutral*
    it does not. `crossed` has one sd for the effects of all attribute words; `crossed_per_list` has one for stereotypes
    and one for neutral words. Without neutral words the two models are the same.

    Examples
    --------
    >>> settings = {"attribute_sd": 0.08, "samples": 200, "random_seed": 1}
    >>> claims = bb.reports.false_positive_rates(methods=["weat", "t_test_raw"], **settings)
    >>> claims.rates[["method", "contrast", "nominal", "rate"]]
           method                contrast  nominal  rate
    0        weat  associated - different     0.05  0.02
    1  t_test_raw  associated - different     0.05  0.01
    2  t_test_raw    associated - neutral     0.05  0.39
    """
    import pandas as pd

    from bayesbias.base.machine import threadpool_limits

    groups, lists = check_sizes("protected", protected), check_sizes("attributes", attributes)
    if groups[0] != groups[1]:
        raise ReportError(f"protected={protected!r}: WEAT compares groups of the same size. Give two equal numbers.")
    controls = check_count("neutral", neutral, least=0)
    if controls == 1:
        raise ReportError(
            "neutral=1: one word says nothing about the variation of neutral words. Give 0, or at least 2."
        )
    spread = check_spread(sd, attribute_sd, word_sd)
    count = check_count("samples", samples, least=2)
    if isinstance(methods, str) or not methods:
        raise ReportError(f"methods={methods!r}: give a list of {', '.join(METHODS)}.")
    listed = check_items("methods", methods, f"a list of {', '.join(METHODS)}")
    chosen = tuple(dict.fromkeys(check_choice("methods", method, METHODS) for method in listed))
    pairs = sum(groups) * (sum(lists) + controls)
    if pairs * count > _MOST_PAIRS:
        raise ReportError(
            f"{count:,} data sets of {pairs:,} pairs exceed the limit of {_MOST_PAIRS:,} pairs. Take fewer samples, or "
            "shorter lists."
        )
    design = _design(groups, lists, controls)
    seed = resolve_seed(random_seed)
    rng = np.random.default_rng(seed)
    sizes = [*lists, controls] if controls else lists
    distance = _MEAN + draw_noise(count, sum(groups), sizes, spread, rng)
    rows = []
    with threadpool_limits(1, "blas"):
        for method in chosen:
            if method == "weat":
                rows.append(_weat(distance, groups, lists, seed))
            elif method in _MODELS:
                rows += _model(distance, design, load_model(method), seed, progress=progress)
            else:
                rows += _t_tests(distance, design, method)
    return FalsePositiveRates(
        pd.DataFrame(rows), protected=groups, attributes=lists, neutral=controls, random_seed=seed, **spread
    )


def _design(groups: tuple[int, int], lists: tuple[int, int], neutral: int) -> ModelData:
    """Return the pairs of all protected with all attribute words, without distances."""
    first_group, first_list = (np.repeat([True, False], sizes) for sizes in (groups, lists))
    connection = np.where(first_group[:, None] == first_list, 0, 1)
    connection = np.concatenate([connection, np.full((len(connection), neutral), 2)], axis=1)
    connections = ("associated", "different", "neutral")[: 3 if neutral else 2]
    return study_data(connection, np.where(first_group, "X", "Y"), connections)


def _row(method: str, contrast: str, rule: str, nominal: float, claims: np.ndarray, total: int) -> dict[str, object]:
    share, error = rate(claims)
    return {
        "method": method,
        "contrast": contrast,
        "rule": rule,
        "nominal": nominal,
        "rate": share,
        "mc_se": error,
        "data_sets": len(claims),
        "not_fitted": total - len(claims),
    }


def _weat(distance: np.ndarray, groups: tuple[int, int], lists: tuple[int, int], seed: int) -> dict[str, object]:
    similarity, a = 1 - distance[..., : sum(lists)], lists[0]
    s = association(similarity[..., :a], similarity[..., a:])
    claims = p_value(s[:, : groups[0]], s[:, groups[0] :], samples=10_000, random_seed=seed).p_value < LEVEL
    return _row("weat", "associated - different", f"p < {LEVEL}, one-sided", LEVEL, claims, len(claims))


def _t_tests(distance: np.ndarray, design: ModelData, method: str) -> list[dict[str, object]]:
    masks = [design.connection.reshape(distance.shape[1:]) == place for place in range(len(design.connections))]
    # The lists may differ in length, so the pairs of a connection need not form a rectangle.
    if method == "t_test_raw":
        values = [distance[:, mask] for mask in masks]
    else:
        values = [np.where(mask, distance, 0).sum(axis=-1) / mask.sum(axis=-1) for mask in masks]
    rows = []
    for other, name in enumerate(design.connections[1:], start=1):
        claims = t_test(values[0], values[other]).p_value < LEVEL
        rows.append(_row(method, f"associated - {name}", f"p < {LEVEL}, two-sided", LEVEL, claims, len(claims)))
    return rows


def _model(
    distance: np.ndarray, design: ModelData, spec: ModelSpec, seed: int, *, progress: bool
) -> list[dict[str, object]]:
    claimed: list[list[list[bool]]] = []  # by data set, contrast, interval
    for number, values in enumerate(with_progress(list(distance), spec.name, progress=progress)):
        data, rng = replace(design, distance=values.ravel()), np.random.default_rng([seed, number])
        with suppress(FitError):  # a data set that the fast sampler cannot fit is left out
            contrasts = quick_contrasts(data, spec, draws=_DRAWS, points=_POINTS, rng=rng).values()
            claimed.append([[contrast(prob).reading != "not settled" for prob in HDI_PROBS] for contrast in contrasts])
    if not claimed:
        raise ReportError(
            f"The fast sampler failed in each of the {len(distance):,} fits of {spec.name!r}. Leave this method out, "
            "or give longer lists."
        )
    claims = np.array(claimed)
    rows = []
    for index, name in enumerate(design.connections[1:]):
        for interval, prob in enumerate(HDI_PROBS):
            rule, nominal = f"0 outside the {percent_text(prob)} HPDI", round(1 - prob, 4)
            data_set_claims = claims[:, index, interval]
            rows.append(_row(spec.name, f"associated - {name}", rule, nominal, data_set_claims, len(distance)))
    return rows

"""Ranks of embeddings in an audit, with posterior probabilities, and the agreement of measures on them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import CONTRAST, AuditRecord, audit_rows, central_values, comparable_rows
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.number_text import counted, digits_text, interval_text, percent_text, probability_text
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError
from bayesbias.metrics.registry import MEASURES

if TYPE_CHECKING:
    import pandas as pd

ALL_STUDIES = ""
_FEWEST = 3
_COLUMNS = (
    *("measure", "study", "embedding", "strength", "rank"),
    *("probability", "rank_low", "rank_high", "strongest", "order_probability"),
)
_LIMITS = (
    "A rank does not say how far apart two embeddings are, nor that any of them has an association: see the "
    "estimates. Embeddings are taken to be independent given the words."
)

_STANDARDISED = (
    "Contrasts have several units, and their strengths are standardised: divided by the standard deviation of single "
    "numbers of the study's pairs. "
)


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Result):
    """Ranks of embeddings by the strength of their associations, with the probabilities of these ranks.

    Parameters
    ----------
    ranks : pandas.DataFrame
        One row per `measure`, `study` (empty: the mean strength over all studies that every embedding answers; for
        contrasts, over those with the same contrast as the first) and `embedding`: its `strength` (the absolute value
        of the posterior mean, or of the observed value without a posterior; for `mac` and `ect`, 1 minus it); its
        `rank` (1: the weakest association; ties have the mean rank); and for measures that have a posterior, the
        `probability` of this rank, `rank_low` to `rank_high` (the ranks of all embeddings lie in these at once with a
        probability of at least `hdi_prob`), `strongest`, the probability that no other embedding's association is as
        strong, and `order_probability`, that the whole order holds.
    correlations : pandas.DataFrame
        One row per pair of measures, `first` and `second`: Spearman's `correlation` of their mean strengths over the
        `embeddings`, of which there must be three; with `low` to `high`, which hold it with probability `hdi_prob` as
        far as the posteriors go. Measures without a posterior do not vary.
    hdi_prob
        Probability inside the intervals.
    standardised
        Whether contrasts have several units, so that their strengths are standardised: divided by `pair_sd`.
    """

    ranks: "pd.DataFrame"
    correlations: "pd.DataFrame"
    hdi_prob: float
    standardised: bool = False

    def __repr__(self) -> str:
        return (
            f"Ranks({counted(self.ranks['embedding'].nunique(), 'embedding')}, "
            f"{counted(self.ranks['measure'].nunique(), 'measure')})"
        )

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        overall = self.ranks[self.ranks["study"] == ALL_STUDIES]
        orders = tuple(_order_statement(rows) for _, rows in overall.groupby("measure", sort=False))
        pairs = tuple(_correlation_statement(row, self.hdi_prob) for row in rows_of(self.correlations))
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList("From the weakest to the strongest association, over all studies", orders),
            StatementList("How far the measures agree", pairs),
            StatementList("", (self._limits,), bulleted=False),
        )

    @property
    def _limits(self) -> Statement:
        return Statement("limits", _STANDARDISED + _LIMITS if self.standardised else _LIMITS)

    @property
    def _answer(self) -> Statement:
        """Which embedding has the strongest association by the first measure, and how probable that is."""
        overall = self.ranks[self.ranks["study"] == ALL_STUDIES]
        rows = overall[overall["measure"] == overall["measure"].iloc[0]]
        row = rows_of(rows.loc[[rows["rank"].idxmax()]])[0]
        sure = f" (probability {probability_text(row['strongest'])})" if row["strongest"] >= 0 else ""
        text = f"{row['embedding']} has the strongest association by {row['measure']}{sure}, over all studies."
        return Statement("answer", text, row)

    @cached_property
    def contents(self) -> Contents:
        """Ranks of embeddings, and how far measures agree."""
        return contents_of(
            self,
            title="Which embedding has the strongest association?",
            captions={"ranks": "Ranks by study; without a study, over all", "correlations": "Agreement of measures"},
            figures={
                "ranks": ResultFigure(
                    "plot_ranks",
                    "Ranks over all studies; 1 is the weakest association. Lines: intervals that hold all ranks at "
                    "once; numbers: the probability of each rank.",
                )
            },
        )


def rank(audit: "pd.DataFrame", *, hdi_prob: float = HDI_PROB) -> Ranks:
    """Return the ranks of the embeddings of an audit, by the strength of the associations that each measure shows.

    Parameters
    ----------
    audit
        Result of `bayesbias.audit` for at least two embeddings.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    Ranks
        Frames `ranks` and `correlations`.

    Raises
    ------
    ReportError
        If `audit` is not an audit, or has only one embedding.
    ArgumentError
        If `hdi_prob` is not a probability.

    Notes
    -----
    The embeddings are ranked in each posterior draw; the probability of a rank is its share of the draws. An absolute
    value cannot be below 0: of two embeddings without any association, the one whose estimate is less certain tends to
    look stronger in single draws, but not in its `strength`.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)]
    >>> frame = bb.audit(vectors, ["weat7"], ["weat", "ect"], model=None, random_seed=1)
    >>> bb.audits.rank(frame).ranks.query("study == 'weat7'")[["measure", "rank"]].to_numpy().tolist()
    [['weat', 2.0], ['weat', 1.0], ['ect', 1.0], ['ect', 2.0]]
    """
    import pandas as pd

    rows, record = audit_rows(audit)
    check_probability("hdi_prob", hdi_prob)
    overall_rows = comparable_rows(rows[rows["protected_group"] == ""], record)
    embeddings = list(dict.fromkeys(overall_rows["embedding"]))
    if len(embeddings) < 2:
        raise ReportError("The audit has one embedding. Ranks need at least two.")
    strengths = dict(_strengths(overall_rows, embeddings, record))
    rank_rows = [
        row for key, (value, draws) in strengths.items() for row in _rank_rows(key, embeddings, value, draws, hdi_prob)
    ]
    if not rank_rows:
        raise ReportError("No study has an answer in all embeddings: there is nothing to rank by.")
    pairs: list[dict[str, Any]] = []
    if len(embeddings) >= _FEWEST:
        overall = {measure: strength for (measure, study), strength in strengths.items() if study == ALL_STUDIES}
        pairs = [
            {"first": a, "second": b, "embeddings": len(embeddings), **_correlation(overall[a], overall[b], hdi_prob)}
            for a, b in combinations(overall, 2)
        ]
    return Ranks(
        pd.DataFrame(rank_rows, columns=list(_COLUMNS)),
        pd.DataFrame(pairs, columns=["first", "second", "embeddings", "correlation", "low", "high"]),
        hdi_prob,
        standardised=record.unit is None and bool((overall_rows["measure"] == CONTRAST).any()),
    )


type _Strength = tuple[Floats, Floats | None]
"""Strengths of the embeddings, shape (embeddings,), and their posterior draws, shape (draws, embeddings), if any."""


def _strengths(
    overall_rows: "pd.DataFrame", embeddings: list[str], record: AuditRecord
) -> Iterator[tuple[tuple[str, str], _Strength]]:
    """Yield (measure, study) -> strengths, for the studies that all embeddings answer, then for their mean."""
    for measure, rows in overall_rows.groupby("measure", sort=False):
        strength_of = np.abs if measure == CONTRAST else MEASURES[str(measure)].strength
        strengths: dict[str, _Strength] = {}
        for study, some in rows.groupby("study", sort=False):
            values = central_values(some.set_index("embedding")).reindex(embeddings).to_numpy()
            if np.isnan(values).any():
                continue
            divisors = some.set_index("embedding")["divisor"]
            keys = [(name, str(study), str(measure)) for name in embeddings]
            draws = [record.draws[key] / divisors[key[0]] for key in keys if key in record.draws]
            whole = len(draws) == len(embeddings)
            strengths[str(study)] = strength_of(values), strength_of(np.stack(draws, axis=-1)) if whole else None
        for study, strength in strengths.items():
            yield (str(measure), study), strength
        if strengths:
            # Other contrasts are other quantities, and have no common mean with that of the first study.
            quantity_of = rows.drop_duplicates("study").set_index("study")["quantity"]
            first = quantity_of[next(iter(strengths))]
            shared = [strength for study, strength in strengths.items() if quantity_of[study] == first]
            parts = [draws for _, draws in shared if draws is not None]
            mean = np.mean([values for values, _ in shared], axis=0)
            yield (str(measure), ALL_STUDIES), (mean, np.mean(parts, axis=0) if len(parts) == len(shared) else None)


def _rank_rows(
    key: tuple[str, str], embeddings: list[str], values: Floats, draws: Floats | None, hdi_prob: float
) -> Iterator[dict[str, Any]]:
    from scipy.stats import rankdata

    ranks = rankdata(values)
    drawn = None if draws is None else rankdata(draws, axis=-1)
    if drawn is not None:
        low, high = simultaneous_ranks(drawn, hdi_prob)
        order = float((drawn == ranks).all(axis=-1).mean())
    for place, name in enumerate(embeddings):
        row = {"measure": key[0], "study": key[1], "embedding": name, "strength": values[place], "rank": ranks[place]}
        if drawn is not None:
            row |= {
                "probability": float((drawn[:, place] == ranks[place]).mean()),
                "rank_low": low[place],
                "rank_high": high[place],
                "order_probability": order,
                "strongest": float((drawn[:, place] == len(embeddings)).mean()),
            }
        yield row


def simultaneous_ranks(drawn: Floats, hdi_prob: float) -> tuple[Floats, Floats]:
    """Return the lowest and highest ranks that hold those of all items at once, from draws of shape (draws, items).

    A draw counts by its most extreme rank: by the smaller tail of that rank among the draws of its item.

    >>> drawn = np.array([[1.0, 2.0, 3.0]] * 8 + [[2.0, 1.0, 3.0]] * 2)
    >>> [[ends.tolist() for ends in simultaneous_ranks(drawn, prob)] for prob in (0.7, 0.9)]
    [[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[1.0, 1.0, 3.0], [2.0, 2.0, 3.0]]]
    """
    tails = np.empty(drawn.shape)
    for item, ranks in enumerate(drawn.T):
        _, inverse, counts = np.unique(ranks, return_inverse=True, return_counts=True)
        at_most = np.cumsum(counts)
        tails[:, item] = np.minimum(at_most, len(ranks) - at_most + counts)[inverse]
    extreme = tails.min(axis=-1)
    inside = drawn[extreme >= np.quantile(extreme, 1 - hdi_prob, method="inverted_cdf")]
    return inside.min(axis=0), inside.max(axis=0)


def _correlation(first: _Strength, second: _Strength, hdi_prob: float) -> dict[str, float]:
    """Return Spearman's correlation of two measures over the embeddings, and its interval over the draws."""
    from scipy.stats import rankdata

    def correlated(a: Floats, b: Floats) -> Floats:
        a, b = (rankdata(side, axis=-1) - (side.shape[-1] + 1) / 2 for side in (a, b))
        scale = np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
        with np.errstate(invalid="ignore"):  # all embeddings are equal: no ranks, and no correlation
            correlations: Floats = (a * b).sum(axis=-1) / scale
        return correlations

    statistics = {"correlation": float(correlated(first[0], second[0]))}
    sides = [values[None] if draws is None else draws for values, draws in (first, second)]
    if all(draws is None for _, draws in (first, second)):
        return statistics
    count = max(map(len, sides))
    drawn = correlated(*(np.broadcast_to(side, (count, side.shape[-1])) for side in sides))
    low, high = np.nanquantile(drawn, [(1 - hdi_prob) / 2, (1 + hdi_prob) / 2])
    return statistics | {"low": float(low), "high": float(high)}


def _order_statement(rows: "pd.DataFrame") -> Statement:
    ordered = rows.sort_values("rank", kind="stable")
    names = []
    for row in rows_of(ordered):
        sure = f" ({probability_text(row['probability'])})" if row["probability"] >= 0 else ""
        names.append(f"{row['embedding']} {digits_text(row['strength'])}{sure}")
    text = f"{ordered['measure'].iloc[0]}: {', '.join(names)}."
    if ordered["probability"].notna().all():
        text += (
            " Brackets hold the probability of each rank; the whole order holds with probability "
            f"{probability_text(ordered['order_probability'].iloc[0])}."
        )
    return Statement("ranks", text, {"ranks": ordered})


def _correlation_statement(row: Mapping[str, Any], hdi_prob: float) -> Statement:
    interval = (
        f", {percent_text(hdi_prob)} interval {interval_text(row['low'], row['high'])}"
        if row["low"] == row["low"]
        else ""
    )
    text = (
        f"{row['first']} and {row['second']}: {row['correlation']:+z.2f} over "
        f"{counted(row['embeddings'], 'embedding')}{interval}."
    )
    return Statement("correlation", text, row)


def has_ranks(audit: "pd.DataFrame") -> bool:
    """Whether there are several embeddings, and a measure answers a study in all of them."""
    rows = comparable_rows(*audit_rows(audit))
    count = rows["embedding"].nunique()
    answers = rows[rows["protected_group"] == ""].groupby(["measure", "study"])["embedding"].nunique()
    return count > 1 and bool((answers == count).any())

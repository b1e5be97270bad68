"""Ranks of embeddings in an audit, paired by the words of its questions, and the agreement of measures on them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import CONTRAST, PAIR_SD, AuditRecord, audit_rows
from bayesbias.audits.word_contributions import ROLES, WordContributions, without_pairs
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.number_text import (
    counted,
    digits_text,
    interval_text,
    listed,
    percent_text,
    probability_text,
    shown_name,
    signed_text,
)
from bayesbias.base.results import LIMITS, Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.dependence import FEWEST_EFFECTIVE, error_factor
from bayesbias.estimates.intervals import shortest_intervals, student_scales, welch_freedom
from bayesbias.metrics.registry import MEASURES

if TYPE_CHECKING:
    import pandas as pd

ALL_STUDIES = ""
_FEWEST = 3
_DRAWS, _WORDS_AT_ONCE = 4000, 256
# Pairs of more embeddings are compared over all studies alone.
_MOST_PAIRED = 50
# Numbers are equal if they differ by less than this share of the error of distances: by rounding.
_EQUAL = 0.01
_RANKS = (
    *("measure", "study", "embedding", "strength", "rank"),
    *("probability", "rank_low", "rank_high", "strongest", "order_probability"),
)
_DIFFERENCES = (
    *("measure", "study", "first", "second", "difference", "hdi_low", "hdi_high"),
    *("band_low", "band_high", "order"),
)
_ORDER = "From the weakest to the strongest association, over all studies"
_PAIRS = "Which pairs of embeddings differ, over all studies"
_LIMITS = (
    "A rank does not say that any embedding has an association: see the estimates. Ranks are those of observed values, "
    "whichever model was fitted. Embeddings are compared in pairs, by the words that they share, as samples of words "
    "like these."
)

_STANDARDISED = (
    "Strengths of contrasts are standardised: divided by the standard deviation of single numbers of the study's pairs "
    "(pair_sd), whose error is part of the intervals."
)
_FIGURE = (
    "Ranks over all studies; 1 is the weakest association. Lines: ranges that hold all ranks at once; numbers: the "
    "probability of each rank."
)


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Result):
    """Ranks of embeddings by the strength of their associations, and the differences of all pairs.

    Parameters
    ----------
    ranks : pandas.DataFrame
        One row per `measure`, `study` (empty: the mean strength over all studies that every embedding answers; for
        contrasts, over those with the same contrast as the first) and `embedding`: its `strength` (the absolute value
        of the observed value, of a contrast standardised by `pair_sd`; for `mac` and `ect`, 1 minus it); its
        `rank` (1: the weakest association; ties have the mean rank); and for measures that have a posterior, the
        `probability` of this rank, `rank_low` to `rank_high` (from those that are settled weaker to those that are
        settled stronger: these ranges hold the ranks of all embeddings at once with a probability of at least
        `hdi_prob`), `strongest`, the probability that no other embedding's association is as strong, and
        `order_probability`, that the whole order holds.
    differences : pandas.DataFrame
        One row per `measure`, `study` and pair of embeddings, `first` and `second`: `difference` (strength of the first
        minus that of the second), its interval `hdi_low` to `hdi_high`, the band `band_low` to `band_high` (the bands
        of all pairs of a study hold their differences at once), and `order`: ``"stronger"`` or ``"weaker"`` (the first,
        by the band), ``"tied"`` (the band has 0), or ``"equal"`` (both have the same numbers for every word). For
        measures that have a posterior. With more than 50 embeddings, over all studies alone.
    correlations : pandas.DataFrame
        One row per pair of measures, `first` and `second`: Spearman's `correlation` of their mean strengths over the
        `embeddings`, of which there must be three; with `low` to `high`, which hold it with probability `hdi_prob`.
        Measures without a posterior do not vary.
    hdi_prob
        Probability inside the intervals.
    unranked
        Study -> embeddings without an answer to it, so that it is not ranked.
    settings
        Settings of the audit by name, as texts.
    """

    ranks: "pd.DataFrame"
    differences: "pd.DataFrame"
    correlations: "pd.DataFrame"
    hdi_prob: float
    unranked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Ranks({counted(self.ranks['embedding'].nunique(), 'embedding')}, "
            f"{counted(self.ranks['measure'].nunique(), 'measure')})"
        )

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        overall = self.ranks[self.ranks["study"] == ALL_STUDIES]
        orders = tuple(_order_statement(rows) for _, rows in overall.groupby("measure", sort=False))
        pairs = self.differences[self.differences["study"] == ALL_STUDIES]
        settled = tuple(_pairs_statement(rows, self.hdi_prob) for _, rows in pairs.groupby("measure", sort=False))
        agreement = tuple(_correlation_statement(row, self.hdi_prob) for row in rows_of(self.correlations))
        limits = [_LIMITS, *([_STANDARDISED] if (self.ranks["measure"] == CONTRAST).any() else [])]
        lacking = tuple(
            Statement("unranked", f"{shown_name(study)}: no answer of {listed(names, 5)}.")
            for study, names in self.unranked.items()
        )
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList(_ORDER, orders),
            StatementList(_PAIRS, settled),
            StatementList("How far the measures agree", agreement),
            StatementList("Studies that are not ranked", lacking),
            StatementList(LIMITS, (Statement("limits", " ".join(limits)),), bulleted=False),
        )

    @property
    def _answer(self) -> Statement:
        """Which embedding has the strongest association by the first measure, and how probable that is."""
        overall = self.ranks[self.ranks["study"] == ALL_STUDIES]
        rows = overall[overall["measure"] == overall["measure"].iloc[0]]
        strongest = rows_of(rows[rows["rank"] == rows["rank"].max()])
        row = strongest[0]
        where = f"by {row['measure']}, over all studies"
        if len(strongest) > 1:
            names = listed([row["embedding"] for row in strongest], 5)
            return Statement("answer", f"{names} tie for the strongest association {where}.", row)
        sure = f" (probability {probability_text(row['strongest'])})" if row["strongest"] >= 0 else ""
        return Statement("answer", f"{row['embedding']} has the strongest association{sure} {where}.", row)

    @cached_property
    def contents(self) -> Contents:
        """Ranks of embeddings, the differences of pairs, and how far measures agree."""
        band = f"bands hold the differences of all pairs of a study at once ({percent_text(self.hdi_prob)})"
        made = contents_of(
            self,
            title="Which embedding has the strongest association?",
            captions={
                "ranks": "Ranks by study; without a study, over all",
                "differences": f"Strength of the first minus that of the second; without a study, over all; {band}",
                "correlations": "Agreement of measures",
            },
            differences=("differences",),
            opened=(_ORDER, _PAIRS),
            figures={"ranks": ResultFigure("plot_ranks", _FIGURE)},
        )
        tables = dict(made.tables)
        return replace(made, tables=tables | {"differences": replace(tables["differences"], folded=True)})


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
        Frames `ranks`, `differences` and `correlations`.

    Raises
    ------
    ReportError
        If `audit` is not an audit, or has only one embedding.
    ArgumentError
        If `hdi_prob` is not a probability.

    Notes
    -----
    Embeddings answer a question with the same words, so their errors go together. Each word has a contribution to the
    error of each embedding's value (the jackknife, `audits/word_contributions.py`), and a draw gives a word the same
    random weight in all embeddings and studies: values are multivariate t around the observed ones. What two embeddings
    share cancels in their difference, so that an embedding that is entered twice ties. The order of two embeddings is
    settled if the band of their difference excludes 0; bands hold all pairs of a study at once (studentised maximum),
    so that ranges of ranks from settled pairs hold all ranks at once (Mogstad, Romano, Shaikh and Wilhelm 2024). A pair
    that is tied is not shown to be equal. `validation/leaderboard` has the trial of this.

    References
    ----------
    Magne Mogstad, Joseph P. Romano, Azeem M. Shaikh and Daniel Wilhelm (2024), Inference for ranks with applications to
    mobility across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1), 476-518.

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
    rows = ranked_rows(rows)
    embeddings = list(dict.fromkeys(rows["embedding"]))
    if len(embeddings) < 2:
        raise ReportError("The audit has one embedding. Ranks need at least two.")
    ranks: list[pd.DataFrame] = []
    differences: list[pd.DataFrame] = []
    overall: dict[str, Strengths] = {}
    for (measure, study), strength in _strengths(rows, embeddings, record):
        key = {"measure": measure, "study": study}
        pairs = None if strength.draws is None else paired_differences(strength, hdi_prob)
        ranks.append(_rank_rows(strength, pairs).assign(**key, embedding=embeddings))
        if pairs is not None and (study == ALL_STUDIES or len(embeddings) <= _MOST_PAIRED):
            names = {side: [embeddings[place] for place in pairs.pop(side)] for side in ("first", "second")}
            differences.append(pairs.assign(**key, **names))
        if study == ALL_STUDIES:
            overall[measure] = strength
    if not overall:
        raise ReportError("No study has an answer in all embeddings: there is nothing to rank by.")
    agreement = [
        {"first": a, "second": b, "embeddings": len(embeddings), **_correlation(overall[a], overall[b], hdi_prob)}
        for a, b in combinations(overall, 2)
        if len(embeddings) >= _FEWEST
    ]
    return Ranks(
        _overall_first(ranks, _RANKS),
        _overall_first(differences, _DIFFERENCES),
        pd.DataFrame(agreement, columns=["first", "second", "embeddings", "correlation", "low", "high"]),
        hdi_prob,
        _unranked(rows, embeddings),
        record.settings,
    )


def _overall_first(frames: "list[pd.DataFrame]", columns: Sequence[str]) -> "pd.DataFrame":
    """Return the rows of some frames, those over all studies first, since a page shows the first rows."""
    import pandas as pd

    if not frames:
        return pd.DataFrame(columns=list(columns))
    ordered = sorted(frames, key=lambda frame: frame["study"].iloc[0] != ALL_STUDIES)
    return pd.concat(ordered, ignore_index=True).reindex(columns=list(columns))


def _unranked(rows: "pd.DataFrame", embeddings: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the studies that some embeddings do not answer, with these embeddings."""
    answered = {study: set(some["embedding"]) for study, some in rows.groupby("study", sort=False)}
    return {
        str(study): tuple(name for name in embeddings if name not in names)
        for study, names in answered.items()
        if len(names) < len(embeddings)
    }


def ranked_rows(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of all protected words with the values that are ranked, of contrasts standardised, as `value`."""
    divisor = np.where(rows["measure"] == CONTRAST, rows[PAIR_SD], 1.0)
    rows = rows.assign(value=rows["observed"] / divisor)
    return rows[(rows["protected_group"] == "") & rows["value"].notna()]


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strengths of embeddings for one measure and study.

    `values` (embeddings,); `draws` (draws, embeddings), or None without a posterior; `entry` (embeddings,) is the same
    for embeddings with the same numbers for every word.
    """

    values: Floats
    draws: Floats | None
    entry: np.ndarray


def paired_draws(
    values: Floats, contributions: Sequence[WordContributions], *, study: str, seed: int
) -> tuple[Floats, np.ndarray]:
    """Return draws (draws, embeddings) of the values of a study, and the entry of each embedding.

    The draws of a word are the same in all embeddings and studies. Embeddings whose values and contributions are equal
    are one entry, and have the same draws. Design effects of lists are means over the embeddings.
    """
    import pandas as pd

    own_errors = np.array([one.own_error for one in contributions])
    words = pd.concat([one.words.assign(place=place) for place, one in enumerate(contributions)])
    by_word = words.pivot_table(index=["role", "list", "word"], columns="place", values="contribution", sort=False)
    parts, names = by_word.to_numpy(), [word for *_, word in by_word.index]
    entry = _entries(np.vstack([values, np.nan_to_num(parts)]), own_errors * _EQUAL)
    first = np.unique(entry, return_index=True)[1]
    parts, lists = parts[:, first].copy(), [tuple(name) for *name, _ in by_word.index]
    noise_of = _pair_noise(contributions, first)
    variances, freedom = [], []
    for name, effect in words.groupby(["role", "list"], sort=False)["effect"].mean().items():
        members = np.array([one == name for one in lists])
        counts = np.isfinite(parts[members]).sum(axis=0)
        effect = min(effect, max(counts.min() / FEWEST_EFFECTIVE, 1.0))
        factors = [error_factor(count, effect) for count in counts]
        parts[members] = np.nan_to_num(parts[members]) * factors
        if name in noise_of:
            parts[members] = without_pairs(parts[members], noise_of[name] * factors)
        variances.append([np.square(parts[members]).sum(axis=0).mean()])
        freedom.append([max(counts.mean() / effect - 1, 1.0)])
    errors = np.zeros((_DRAWS, len(first)))
    for some in np.array_split(np.arange(len(names)), -(-len(names) // _WORDS_AT_ONCE)):
        weights = np.stack([_generator(seed, "word", names[word]).standard_normal(_DRAWS) for word in some], axis=1)
        errors += weights @ parts[some]
    quantiles = _generator(seed, "scale", study).random(_DRAWS)
    errors *= student_scales(quantiles, welch_freedom(np.array(variances), np.array(freedom)))
    for column, place in enumerate(first):
        errors[:, column] += own_errors[place] * _generator(seed, "own", study, str(column)).standard_normal(_DRAWS)
    return (values[first] + errors)[:, entry], entry


def _pair_noise(contributions: Sequence[WordContributions], places: np.ndarray) -> dict[tuple[str, str], Floats]:
    """Return what single pairs contribute to the values of some embeddings, shape (pairs, embeddings).

    By role and list of their protected words; empty if it is not known of all embeddings.
    """
    import pandas as pd

    columns: list[pd.Series[float]] = []
    indices: dict[Any, pd.Index[Any]] = {}  # most embeddings have the same words, and so the same pairs
    for one in (contributions[place] for place in places):
        if one.pairs is None:
            return {}
        words = tuple(zip(one.words["role"], one.words["list"], one.words["word"], strict=True))
        positions = one.pairs[list(ROLES)].to_numpy(dtype=int)
        key = words, positions.tobytes()
        if key not in indices:
            indices[key] = pd.Index([(words[row], words[column]) for row, column in positions], tupleize_cols=False)
        columns.append(pd.Series(one.pairs["contribution"].to_numpy(), index=indices[key]))
    noise = pd.concat(columns, axis=1).fillna(0.0)
    lists = [protected[:2] for protected, _ in noise.index]
    return {name: noise.to_numpy()[[one == name for one in lists]] for name in dict.fromkeys(lists)}


def _entries(columns: Floats, tolerance: Floats) -> np.ndarray:
    """Return the same number for columns that differ by less than the tolerance of the first of them.

    >>> _entries(np.array([[1.0, 2.0, 1.001, 2.0]]), np.full(4, 0.01)).tolist()
    [0, 1, 0, 1]
    """
    entry = np.full(columns.shape[1], -1)
    for place in range(columns.shape[1]):
        if entry[place] < 0:
            alike = (np.abs(columns - columns[:, [place]]) <= tolerance[place]).all(axis=0)
            entry[alike & (entry < 0)] = entry.max() + 1
    return entry


def _generator(seed: int, *names: str) -> np.random.Generator:
    content = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(content[:8])])


def _strengths(
    rows: "pd.DataFrame", embeddings: list[str], record: AuditRecord
) -> Iterator[tuple[tuple[str, str], Strengths]]:
    """Yield (measure, study) -> strengths, for the studies that all embeddings answer, then for their mean."""
    for label, of_measure in rows.groupby("measure", sort=False):
        measure = str(label)
        strength_of = np.abs if measure == CONTRAST else MEASURES[measure].strength
        # Other contrasts are other quantities, and have no common mean with that of the first study.
        quantity, count = None, 0
        values_sum, draws_sum = np.zeros(len(embeddings)), np.zeros((_DRAWS, len(embeddings)))
        entries, all_drawn = [], True
        for study, some in of_measure.groupby("study", sort=False):
            values = some.set_index("embedding")["value"].reindex(embeddings).to_numpy()
            if np.isnan(values).any():
                continue
            keys = [(name, str(study), measure) for name in embeddings]
            draws, entry = None, np.arange(len(values))
            if all(key in record.contributions for key in keys):
                of_words = [record.contributions[key] for key in keys]
                drawn, entry = paired_draws(values, of_words, study=str(study), seed=record.random_seed)
                draws = strength_of(drawn)
            # Equal entries have equal values, but for rounding.
            values = values[[int(np.flatnonzero(entry == place)[0]) for place in entry]]
            strength = Strengths(strength_of(values), draws, entry)
            yield (measure, str(study)), strength
            quantity = quantity or some["quantity"].iloc[0]
            if some["quantity"].iloc[0] == quantity:
                count, values_sum = count + 1, values_sum + strength.values
                entries.append(entry)
                all_drawn &= draws is not None
                if draws is not None:
                    draws_sum += draws
        if count:
            entry = np.unique(entries, axis=1, return_inverse=True)[1].reshape(-1)
            draws = draws_sum / count if all_drawn else None
            yield (measure, ALL_STUDIES), Strengths(values_sum / count, draws, entry)


def paired_differences(strength: Strengths, hdi_prob: float) -> "pd.DataFrame":
    """Return the differences of all pairs of embeddings, which are positions `first` and `second`.

    >>> draws = np.random.default_rng(1).normal([0.0, 0.0, 5.0], 1.0, (4000, 3))
    >>> draws[:, 1] = draws[:, 0]
    >>> pairs = paired_differences(Strengths(np.array([0.0, 0.0, 5.0]), draws, np.array([0, 0, 1])), 0.89)
    >>> pairs[["first", "second", "difference", "order"]].values.tolist()
    [[0, 1, 0.0, 'equal'], [0, 2, -5.0, 'weaker'], [1, 2, -5.0, 'weaker']]
    """
    import pandas as pd

    draws, count = strength.draws, len(strength.values)
    if draws is None:
        raise ReportError("There are no draws to compare.")
    largest = np.zeros(len(draws))
    blocks: list[pd.DataFrame] = []
    for first in range(count - 1):
        others = np.arange(first + 1, count)
        difference = draws[:, [first]] - draws[:, others]
        means, sds = difference.mean(axis=0), difference.std(axis=0)
        distance = np.abs(difference - means) / np.where(sds > 0, sds, 1.0)
        np.maximum(largest, distance.max(axis=1), out=largest)
        low, high = shortest_intervals(difference.T, hdi_prob).T
        observed = strength.values[first] - strength.values[others]
        is_equal = strength.entry[first] == strength.entry[others]
        block = {"first": first, "second": others, "difference": observed, "hdi_low": low, "hdi_high": high}
        blocks.append(pd.DataFrame(block | {"mean": means, "sd": sds, "equal": is_equal}))
    pairs = pd.concat(blocks, ignore_index=True)
    reach = np.quantile(largest, hdi_prob) * pairs.pop("sd")
    mean, equal = pairs.pop("mean"), pairs.pop("equal")
    pairs = pairs.assign(band_low=mean - reach, band_high=mean + reach)
    readings = [equal, pairs["band_low"] > 0, pairs["band_high"] < 0]
    return pairs.assign(order=np.select(readings, ["equal", "stronger", "weaker"], "tied"))


def _rank_rows(strength: Strengths, pairs: "pd.DataFrame | None") -> "pd.DataFrame":
    import pandas as pd
    from scipy.stats import rankdata

    count, ranks = len(strength.values), rankdata(strength.values)
    rows = pd.DataFrame({"strength": strength.values, "rank": ranks})
    if pairs is None or strength.draws is None:
        return rows
    drawn = rankdata(strength.draws, axis=-1)
    weaker, stronger = (pairs[pairs["order"] == order] for order in ("weaker", "stronger"))
    below = [*stronger["first"], *weaker["second"]]  # each has one more embedding that is settled weaker
    above = [*weaker["first"], *stronger["second"]]
    return rows.assign(
        probability=(drawn == ranks).mean(axis=0),
        rank_low=1.0 + np.bincount(np.array(below, dtype=int), minlength=count),
        rank_high=count - np.bincount(np.array(above, dtype=int), minlength=count).astype(float),
        order_probability=float((drawn == ranks).all(axis=-1).mean()),
        strongest=(drawn == count).mean(axis=0),
    )


def _correlation(first: Strengths, second: Strengths, hdi_prob: float) -> dict[str, float]:
    """Return Spearman's correlation of two measures over the embeddings, and its interval over the draws."""
    from scipy.stats import rankdata

    def correlated(a: Floats, b: Floats) -> Floats:
        a, b = (rankdata(side, axis=-1) - (side.shape[-1] + 1) / 2 for side in (a, b))
        scale = np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
        with np.errstate(invalid="ignore"):  # all embeddings are equal: no ranks, and no correlation
            correlations: Floats = (a * b).sum(axis=-1) / scale
        return correlations

    statistics = {"correlation": float(correlated(first.values, second.values))}
    if first.draws is None and second.draws is None:
        return statistics
    sides = [side.values[None] if side.draws is None else side.draws for side in (first, second)]
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


def _pairs_statement(rows: "pd.DataFrame", hdi_prob: float) -> Statement:
    """Return how many pairs of embeddings are settled by a measure, the largest of them, and which are equal."""
    settled, equal = rows[rows["order"].isin(["stronger", "weaker"])], rows[rows["order"] == "equal"]
    text = (
        f"{rows['measure'].iloc[0]}: the order of {len(settled):,} of {counted(len(rows), 'pair')} is settled, for all "
        f"pairs at once ({percent_text(hdi_prob)})."
    )
    if len(settled):
        row = rows_of(settled.loc[[settled["difference"].abs().idxmax()]])[0]
        text += (
            f" The largest difference of these is {row['first']} minus {row['second']}, "
            f"{signed_text(row['difference'])} (band {interval_text(row['band_low'], row['band_high'])})."
        )
    if len(equal):
        names = [f"{row['first']} and {row['second']}" for row in rows_of(equal)]
        text += f" Equal in every word, and so tied: {name_some(names, 5)}."
    return Statement("pairs", text, {"pairs": rows})


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
    rows = ranked_rows(audit_rows(audit)[0])
    count = rows["embedding"].nunique()
    answers = rows.groupby(["measure", "study"])["embedding"].nunique()
    return count > 1 and bool((answers == count).any())

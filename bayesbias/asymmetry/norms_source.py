"""`evocation`: people's answers to cues as a source of P(b given a), with the error of a finite sample of people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri, softmax

from bayesbias.asymmetry.log_ratios import (
    BLOCK,
    LOWEST,
    PairCounts,
    PairPosteriors,
    grid,
    log_likelihood,
    pair_posteriors,
)
from bayesbias.asymmetry.vector_source import CONDITIONALS
from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_frame, is_text, shown
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import digits_text
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import ArgumentError, MeasureError, did_you_mean, raise_faults

LEAST_PAIRS = 200
"""Smallest number of pairs of cues from which the prior is estimated; below it, the prior is `USUAL`."""
DEPENDENCES = (0.0, 0.5, 0.8, 0.95)
"""Correlations of both directions of a pair, on the scale of Normal quantiles."""
LEAST_SHARE = 0.03
"""Smallest share of each dependence."""
_BELOW = 0.5  # slope of the log density of log p below the centre
_STEP = 0.1
_FARTHEST = 4.2  # levels, in standard deviations
_SMOOTH = 1.4  # spacing of levels, in standard deviations of a direction given the level
_MERGED = 0.1  # numbers of participants that differ by less, in logarithms, are alike in the estimate
_RIDGE = 1e-4  # of the log shares, per pair
# Strong dependence with a low centre, and weak dependence with a high centre, resemble each other.
_STARTS = ((-10.0, -0.6, 0.0, 0.0, 1.0, 2.0), (-6.0, -0.6, 0.0, 3.0, 0.0, 0.0))
COLUMNS = ("cue", "response", "count", "participants")
SEEN = ("both", "either")
_MOST_PARTICIPANTS = 1_000_000


@dataclass(frozen=True)
class PowerLawPrior:
    """The prior of P(b given a) and P(a given b).

    Under a Dirichlet prior of a cue's responses, each P(b given a) has a Beta prior. Counts of responses contradict it:
    they fall like a power of n (Zipf's law), while a Beta density can fall no faster than 1 / p. The prior used here is
    a double Pareto distribution (Reed and Jorgensen 2004), whose density in u = log p is

        exp(-d (u - c)) for u > c,    exp((u - c) / 2) for u < c,    times (1 - p)^t:

    a power law above exp(c); below it, where counts carry no information, the density of p is that of Jeffreys' prior.

    The two directions of a pair depend on each other: the more often b is the answer to a, the more often a is that to
    b. How strongly differs between norms, and between the pairs of one of them. Each pair therefore has one of the
    dependences `DEPENDENCES`, correlations of a Gaussian copula. Given a dependence, both directions are independent
    once the pair's level, a Normal variable, is given; the prior is a mixture over levels. Each dependence has a share
    of at least `LEAST_SHARE`, so that intervals do not rely on a single one.

    c, d, t and the shares maximise the likelihood of the counts, given that at least one direction of each pair is
    listed; without that condition, all pairs that nobody has listed would have to be included.

    Parameters
    ----------
    centre
        exp(c), a probability.
    decay
        d.
    end
        t.
    shares
        Share of pairs with each of the dependences, `DEPENDENCES`.
    pairs
        Number of pairs of cues that it was estimated from; 0 for `USUAL`.
    """

    centre: float
    decay: float
    end: float
    shares: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    pairs: int = 0

    @property
    def dependence(self) -> float:
        """Mean dependence of the two directions of a pair."""
        return float(np.dot(self.shares, DEPENDENCES))

    def log_density(self, logs: Floats) -> Floats:
        """Return the log density of log probabilities of one direction, up to a constant."""
        away = logs - np.log(self.centre)
        density: Floats = np.where(away > 0, -self.decay * away, _BELOW * away) + self.end * np.log(-np.expm1(logs))
        return density

    def weights(self, logs: Floats) -> Floats:
        """Return the prior mass of one direction at the points of a grid."""
        density = self.log_density(logs)
        mass = np.exp(density - density.max())
        share: Floats = mass / mass.sum()
        return share

    def levels(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return the prior mass of one direction given each level, of shape (levels, grid), and the levels' shares.

        >>> masses, shares = USUAL.levels(np.linspace(-16, -0.1, 160))
        >>> bool(np.allclose(shares @ masses, USUAL.weights(np.linspace(-16, -0.1, 160)), atol=1e-4))
        True
        """
        mass = self.weights(logs)
        below = np.concatenate([[0.0], np.cumsum(mass)])
        above = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
        ends = np.where(below < 0.5, ndtri(below), -ndtri(above))
        return np.concatenate([_levels(ends, dependence) for dependence, _ in self._used]), self.level_shares

    @property
    def level_shares(self) -> Floats:
        """Prior shares of the levels."""
        return np.concatenate([share * _level_shares(dependence) for dependence, share in self._used])

    @property
    def _used(self) -> list[tuple[float, float]]:
        return [(dependence, share) for dependence, share in zip(DEPENDENCES, self.shares, strict=True) if share > 0]


def _levels(ends: Floats, dependence: float) -> Floats:
    """Return masses between ends of cells, Normal quantiles, given each level."""
    quantiles = (ends - np.sqrt(dependence) * _level_places(dependence)[:, np.newaxis]) / np.sqrt(1 - dependence)
    below, above = ndtr(quantiles), ndtr(-quantiles)
    # Differences of the smaller tail keep their precision.
    masses: Floats = np.where(quantiles[:, :-1] > 0, above[:, :-1] - above[:, 1:], below[:, 1:] - below[:, :-1])
    return masses


def _level_places(dependence: float) -> Floats:
    """Return the levels at which the two directions are independent, in standard deviations."""
    spacing = min(_SMOOTH * np.sqrt(1 / dependence - 1), 1.0) if dependence else 2 * _FARTHEST
    half = int(np.ceil(_FARTHEST / spacing)) if dependence else 0
    places: Floats = spacing * np.arange(-half, half + 1)
    return places


def _level_shares(dependence: float) -> Floats:
    shares: Floats = np.exp(-(_level_places(dependence) ** 2) / 2)
    return shares / shares.sum()


USUAL = PowerLawPrior(centre=6.14e-6, decay=0.573, end=0.863, shares=(0.080, 0.190, 0.651, 0.079))
"""The prior for norms with few pairs: the one estimated from the norms of South Florida."""


def estimate_prior(counts: Integers, participants: Integers, least_count: int) -> PowerLawPrior:
    """Return the prior of pairs of cues, given counts and participants of both directions, of shape (pairs, 2).

    >>> estimate_prior(np.array([[3, 0]]), np.array([[100, 100]]), 1) == USUAL
    True
    """
    if len(counts) < LEAST_PAIRS:
        return USUAL
    logs = -(np.arange(-LOWEST, step=_STEP) + _STEP / 2)[::-1]
    people = np.maximum(_merged(participants), counts)
    cells, place = np.unique(np.stack([counts, people], axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    pairs, times = np.unique(np.sort(place.reshape(-1, 2), axis=1), axis=0, return_counts=True)
    likelihood = np.exp(log_likelihood(logs, cells[:, 0], cells[:, 1], least_count))
    sizes, size_place = np.unique(people, return_inverse=True)
    # Unlisted responses have a count below `least_count`.
    unlisted = np.exp(log_likelihood(logs, np.zeros_like(sizes), sizes, least_count))
    both, hidden_times = np.unique(np.sort(size_place.reshape(-1, 2), axis=1), axis=0, return_counts=True)

    @lru_cache(maxsize=8)  # differences along the shares leave the masses as they are
    def by_level(*of_direction: float) -> tuple[Floats, Floats]:
        """Return the likelihoods of listed and of unlisted pairs given each level."""
        masses, _ = _prior_of(np.append(of_direction, np.zeros(len(DEPENDENCES) - 1))).levels(logs)
        of_cells, hidden = likelihood @ masses.T, unlisted @ masses.T
        return of_cells[pairs[:, 0]] * of_cells[pairs[:, 1]], hidden[both[:, 0]] * hidden[both[:, 1]]

    def loss(parameters: Floats) -> float:
        shares = _prior_of(parameters).level_shares
        together, unseen = (part @ shares for part in by_level(*parameters[:3].tolist()))
        seen = 1 - unseen
        log_likelihoods = times @ np.log(np.maximum(together, 1e-300))
        log_likelihoods -= hidden_times @ np.log(np.maximum(seen, 1e-300))
        return -float(log_likelihoods) / len(counts) + _RIDGE * float(parameters[3:] @ parameters[3:])

    bounds = [(-12, -1), (-4, 3), (-4, 4), *[(-8, 8)] * (len(DEPENDENCES) - 1)]
    optima = [
        minimize(loss, np.array(start), method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}) for start in _STARTS
    ]
    return _prior_of(min(optima, key=lambda optimum: float(optimum.fun)).x, len(counts))


def _merged(participants: Integers) -> Integers:
    """Return numbers of participants, those that are alike replaced by their mean: few different ones remain."""
    groups = np.round(np.log(participants) / _MERGED).astype(np.int64)
    distinct, place = np.unique(groups, return_inverse=True)
    place = place.reshape(-1)
    means = np.bincount(place, participants.reshape(-1), len(distinct)) / np.bincount(place, minlength=len(distinct))
    merged: Integers = np.round(means).astype(np.int64)[place].reshape(participants.shape)
    return merged


def _prior_of(parameters: Floats, pairs: int = 0) -> PowerLawPrior:
    """Return the prior with these logarithms of its parameters, and of its shares relative to that of the last."""
    centre, decay, end = np.exp(parameters[:3])
    count = len(DEPENDENCES)
    shares = LEAST_SHARE + (1 - count * LEAST_SHARE) * softmax(np.append(parameters[3:], 0.0))
    return PowerLawPrior(float(centre), float(decay), float(end), tuple(shares.tolist()), pairs)


@dataclass(frozen=True, eq=False, repr=False)
class Evocation(Described):
    """Free association norms as a source of conditional probabilities (see `evocation`, which makes it).

    Parameters
    ----------
    name
        Name of the norms.
    counts
        One row per cue and response: `cue`, `response`, `count`, `participants`.
    least_count
        Smallest count that the norms list: 2 if answers of a single person are left out.
    prior
        Prior of P(b given a).
    """

    name: str
    counts: pd.DataFrame
    least_count: int
    prior: PowerLawPrior

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "cues": len(self.cues),
            "responses": len(self.counts),
            "least_count": self.least_count,
            "prior": f"decay {digits_text(self.prior.decay, 2)}, dependence {digits_text(self.prior.dependence, 2)}",
        }

    @cached_property
    def cues(self) -> tuple[str, ...]:
        """The cues, in order of appearance."""
        return tuple(self.counts["cue"].drop_duplicates())

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Cues and responses, each once: a vocabulary for `static`."""
        return tuple(dict.fromkeys([*self.cues, *self.counts["response"]]))

    @cached_property
    def _participants(self) -> dict[str, int]:
        return dict(zip(self.counts["cue"], self.counts["participants"].tolist(), strict=True))

    @cached_property
    def _count_of(self) -> dict[tuple[str, str], int]:
        keys = zip(self.counts["cue"], self.counts["response"], strict=True)
        return dict(zip(keys, self.counts["count"].tolist(), strict=True))

    def pairs(self, *, seen: str = "both") -> pd.DataFrame:
        """Return pairs of cues that are listed as cue and response.

        Parameters
        ----------
        seen
            ``"both"`` for pairs listed in both directions, as in the paper, or ``"either"`` to include pairs listed in
            only one.

        Returns
        -------
        pandas.DataFrame
            One row per pair, in alphabetical order: `a`, `b`, the numbers of people who answered a with b (`forward`)
            and b with a (`backward`), and of those who were asked (`forward_participants`, `backward_participants`).
        """
        check_choice("seen", seen, SEEN)
        frame = both_directions(self.counts)
        if seen == "both":
            frame = frame[(frame["forward"] > 0) & (frame["backward"] > 0)]
        return frame.reset_index(drop=True)

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return posterior mean and sd of log P(response given cue): see `ConditionalSource`."""
        is_cue = np.array([cue in self._participants for cue in cues], dtype=bool)
        mean, sd = np.full(len(cues), np.nan), np.full(len(cues), np.nan)
        pairs = [
            (cue, response) for cue, response, has_answers in zip(cues, responses, is_cue, strict=True) if has_answers
        ]
        if pairs:
            means, sds, _ = self._posteriors(*zip(*pairs, strict=True)).moments()
            mean[is_cue], sd[is_cue] = means[0], sds[0]
        reasons = [
            "" if has_answers else f"{cue!r} is not a cue of {self.name}"
            for cue, has_answers in zip(cues, is_cue, strict=True)
        ]
        return pd.DataFrame(dict(zip(CONDITIONALS, (list(cues), list(responses), mean, sd, reasons), strict=True)))

    def lar_summary(self, a: Sequence[str], b: Sequence[str], *, hdi_prob: float = HDI_PROB) -> pd.DataFrame:
        """Return intervals, probabilities of direction, and ratios of shares of answers: see `ConditionalSource`."""
        posteriors = self._posteriors(a, b)
        summary = {"sd": posteriors.moments()[2], **posteriors.ratio_summary(hdi_prob)}
        with np.errstate(divide="ignore", invalid="ignore"):
            # Rounded, so that equal ratios of different counts are ties of a rank correlation.
            ratios = np.round(np.log(self._shares(a, b)) - np.log(self._shares(b, a)), 12)
        return pd.DataFrame({**summary, "lar_from_counts": np.where(np.isfinite(ratios), ratios, np.nan)})

    def _shares(self, cues: Sequence[str], responses: Sequence[str]) -> Floats:
        """Return the share of a cue's participants who gave the response; 0 if it is not listed."""
        pairs = zip(cues, responses, strict=True)
        shares: Floats = np.array([self._count_of.get(pair, 0) / self._participants[pair[0]] for pair in pairs])
        return shares

    def _posteriors(self, cues: Sequence[str], responses: Sequence[str]) -> PairPosteriors:
        """Return the posteriors of both directions of pairs; a response that is no cue has no answers."""
        pairs = list(zip(cues, responses, strict=True))
        people = np.array([[self._participants.get(word, 0) for word in pair] for pair in pairs])
        counts = np.array([[self._count_of.get(pair, 0), self._count_of.get(pair[::-1], 0)] for pair in pairs])
        logs = grid(max(self._participants.values()))
        cells = len(np.unique(np.stack([counts, people], axis=-1).reshape(-1, 2), axis=0))
        check_memory(
            6.0 * logs.nbytes * cells + 16.0 * logs.nbytes * min(len(pairs), BLOCK),
            f"The posteriors of {cells:,} different counts",
            "Use fewer pairs at a time.",
        )
        return pair_posteriors(logs, PairCounts(counts, people, self.least_count), self.prior)


def evocation(table: pd.DataFrame, *, name: str | None = None, least_count: int | None = None) -> Evocation:
    """Return free association norms as a source of P(b given a): the share of people who answer the cue a with b.

    Parameters
    ----------
    table
        One row per cue and response: `cue`, `response`, `count` (number of people who gave the response),
        `participants` (number of people asked). `read_evocation` reads the files of USF, EAT and SWOW.
    name
        Name in results. None takes that from `read_evocation`, or else ``"evocation"``.
    least_count
        Smallest count that the norms list. With 2 (USF), answers of a single person are not listed, so an unlisted
        response has a count of 0 or 1. None takes the value from `read_evocation`, or else 1.

    Returns
    -------
    Evocation
        A source for `lar`. Its `pairs` are listed in both directions, and its `vocabulary` is suitable for `static`.

    Raises
    ------
    MeasureError
        If the table has faults; all are listed.

    Notes
    -----
    The posterior of P(b given a) is that of a binomial count, so few participants give wide intervals. A pair listed in
    only one direction has an LAR like any other, with a wide interval. The prior is that of pairs of words of which at
    least one evokes the other. It is a power law estimated from the norms; a Beta density, which follows from a
    Dirichlet prior of a cue's responses, fits the counts of USF far worse (see `bb.asymmetry.PowerLawPrior`). For a
    pair that nobody has listed in either direction, the prior favours association too much.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 5. Douglas L. Nelson, Cathy L. McEvoy and Thomas A. Schreiber
    (2004). The University of South Florida free association, rhyme, and word fragment norms. Behavior Research Methods,
    Instruments, & Computers 36, 402-407.

    Examples
    --------
    >>> table = pd.DataFrame({"cue": ["ellipse", "circle"], "response": ["circle", "ellipse"],
    ...                       "count": [60, 1], "participants": [150, 150]})
    >>> source = bb.asymmetry.evocation(table)
    >>> source.pairs()[["a", "b", "forward", "backward", "forward_participants"]].values.tolist()
    [['circle', 'ellipse', 1, 60, 150]]
    """
    frame = checked_table(table)
    noted = attributes if isinstance(attributes := table.attrs.get("bayesbias"), dict) else {}
    title = noted.get("name", "evocation") if name is None else name
    if not is_text(title):
        raise ArgumentError(f"name={shown(title)}: give a text.")
    least = check_count("least_count", noted.get("least_count", 1) if least_count is None else least_count, most=2)
    if (frame["count"] < least).any():
        raise MeasureError(
            f"least_count={least}, but the table has a count of {frame['count'].min()}. Give the smallest count that "
            "the norms list."
        )
    pairs = both_directions(frame)
    columns = (["forward", "backward"], ["forward_participants", "backward_participants"])
    counts, people = (pairs[names].to_numpy() for names in columns)
    return Evocation(title, frame, least, estimate_prior(counts, people, least))


def both_directions(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of cues listed in at least one direction, with the counts and participants of both."""
    people = counts.groupby("cue", sort=False)["participants"].first()
    between_cues = counts[counts["response"].isin(people.index) & (counts["cue"] != counts["response"])]
    cue, response = between_cues["cue"], between_cues["response"]
    turned = cue > response
    a, b = (
        cue.where(~turned, response),
        response.where(~turned, cue),
    )
    ways = {"forward": between_cues["count"].where(~turned, 0), "backward": between_cues["count"].where(turned, 0)}
    frame = pd.DataFrame({"a": a, "b": b, **ways}).groupby(["a", "b"], sort=True).sum().reset_index()
    return frame.assign(
        forward_participants=frame["a"].map(people).astype(int),
        backward_participants=frame["b"].map(people).astype(int),
    )


def checked_table(table: Any) -> pd.DataFrame:
    """Return the columns of evocation data; raise `MeasureError` with a list of all faults."""
    check_frame("table", table, "a frame with cue, response, count and participants")
    if lacking := [name for name in COLUMNS if name not in table.columns]:
        hint = did_you_mean(lacking[0], map(str, table.columns))
        raise MeasureError(
            f"The evocation data lack the columns {', '.join(lacking)}{hint}. Give cue, response, count and "
            "participants, or read a file with bb.asymmetry.read_evocation."
        )
    frame = table[list(COLUMNS)].reset_index(drop=True)
    if frame.empty:
        raise MeasureError("The evocation data have no rows. Give one row per cue and response.")
    faults = []
    for name in ("cue", "response"):
        wrong = [row for row, word in enumerate(frame[name].tolist()) if not isinstance(word, str) or not word.strip()]
        faults += [f"Row {row} has {shown(frame[name][row])} as {name}: give a word, as text." for row in wrong]
    for name in ("count", "participants"):
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
        kind = frame[name].dtype.kind
        wrong_numbers = ~np.isfinite(numbers) | (numbers < 1) | (numbers != np.round(numbers)) | (kind == "b")
        wrong_numbers |= numbers > _MOST_PARTICIPANTS
        values = frame[name].tolist()
        faults += [
            f"Row {row} has {shown(values[row])} as {name}: give a whole number from 1 to {_MOST_PARTICIPANTS:,}."
            for row in np.flatnonzero(wrong_numbers).tolist()
        ]
    raise_faults(MeasureError, "The evocation data", faults)
    checked = pd.DataFrame(frame).astype({"count": np.int64, "participants": np.int64})
    raise_faults(MeasureError, "The evocation data", _contradictions(checked))
    return checked


def _contradictions(frame: pd.DataFrame) -> list[str]:
    """Return faults: rows that are repeated, and cues whose numbers are impossible."""
    repeated = frame[frame.duplicated(["cue", "response"])]
    faults = [
        f"{row.cue} -> {row.response} is listed twice, again in row {row.Index}: keep one."
        for row in repeated.itertuples()
    ]
    of_cues = frame.groupby("cue", sort=False).agg(
        total=("count", "sum"), least=("participants", "min"), most=("participants", "max")
    )
    faults += [
        f"The cue {row.Index!r} has {row.least} participants in one row and {row.most} in another."
        for row in of_cues[of_cues["least"] != of_cues["most"]].itertuples()
    ]
    faults += [
        f"The cue {row.Index!r} has {row.total} answers, but {row.most} participants."
        for row in of_cues[of_cues["total"] > of_cues["most"]].itertuples()
    ]
    return faults

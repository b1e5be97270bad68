"""`evocation`: people's answers to cues as a source of P(b given a), with the error of a finite sample of people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.asymmetry.sources.conditional_sources import CONDITIONALS
from bayesbias.asymmetry.sources.evocation_prior import PowerLawPrior, estimate_prior
from bayesbias.asymmetry.sources.log_ratios import BLOCK, PairCounts, PairPosteriors, grid, pair_posteriors
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_frame, is_text, shown
from bayesbias.base.machine.memory import check_memory
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import ArgumentError, MeasureError, did_you_mean, raise_faults

COLUMNS = ("cue", "response", "count", "participants")
SEEN = ("both", "either")
_MOST_PARTICIPANTS = 1_000_000


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
            "prior": f"decay {self.prior.decay:.2g}, dependence {self.prior.dependence:.2g}",
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
            ratios = np.log(self._shares(a, b)) - np.log(self._shares(b, a))
        return pd.DataFrame({**summary, "lar_from_counts": np.where(np.isfinite(ratios), ratios, np.nan)})

    def _shares(self, cues: Sequence[str], responses: Sequence[str]) -> Floats:
        """Return the share of a cue's participants who gave the response; 0 if it is not listed."""
        pairs = zip(cues, responses, strict=True)
        shares: Floats = np.array([self._count_of.get(pair, 0) / self._participants[pair[0]] for pair in pairs])
        return shares

    def _posteriors(self, cues: Sequence[str], responses: Sequence[str]) -> PairPosteriors:
        """Return the posteriors of both directions of pairs; of a response that is no cue, nobody was asked."""
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
    Dirichlet prior of a cue's responses, fits the counts of USF far worse (see `sources.evocation_prior`).
    For a pair that nobody has listed in either direction, the prior favours association too much.

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

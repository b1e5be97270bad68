"""People's associations beside vectors or models: ratios of pairs, means of relations, and how far the two agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.ratios.agreement import CLEAR, LEAST_PAIRS, WEIGHTED, cam, directional_accuracy, too_few
from bayesbias.asymmetry.ratios.alar import alar, usable
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.asymmetry.sources.evocation import Evocation
from bayesbias.asymmetry.sources.relations import chosen_relations, with_relations
from bayesbias.base.checks import HDI_PROB, check_items, check_probability, check_type, resolve_seed
from bayesbias.base.statements import (
    Rendered,
    Statement,
    StatementList,
    digits_text,
    interval_text,
    percent_text,
    rows_of,
    share_text,
)
from bayesbias.errors import MeasureError, QuestionWarning, collected_warnings, warn_user
from bayesbias.estimates.intervals import settled

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetryReport(Rendered):
    """What people's associations, and vectors or models, say of the asymmetry of pairs of words.

    Parameters
    ----------
    norms
        Name of the evocation data.
    sources
        Names of what was compared with them.
    ratios
        One row a source and pair, from `lar`: `source` and its columns; the norms first.
    relations
        One row a source and relation, from `alar`, if pairs have relations that say which word comes first; else empty.
    agreement
        One row a source and relation, from `cam`: the norms and that source.
    accuracy
        The same from `directional_accuracy`.
    left_out
        How many pairs a source has no number of, by reason: `source`, `left_out`, `pairs`.
    not_compared
        Why a source has no row in `agreement` and `accuracy`, by its name: it knows too few of the pairs.
    hdi_prob, random_seed
        As they were given, or drawn.
    """

    norms: str
    sources: tuple[str, ...]
    ratios: "pd.DataFrame"
    relations: "pd.DataFrame"
    agreement: "pd.DataFrame"
    accuracy: "pd.DataFrame"
    left_out: "pd.DataFrame"
    not_compared: Mapping[str, str]
    hdi_prob: float
    random_seed: int

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text: the norms, each source, and what was left out."""
        own = usable(self.ratios[self.ratios["source"] == self.norms])
        clear = float((own["probability_of_direction"] >= CLEAR).mean())
        first = [
            Statement(
                "pairs",
                f"{self.norms}: of {len(own):,} pairs {share_text(clear)} have a clear direction (a probability of at "
                f"least {CLEAR:g}).",
                {"pairs": len(own), "clear": clear},
            )
        ]
        prob = percent_text(self.hdi_prob)
        first += self._relation_statements(self.norms)
        others = [self._source_statement(name) for name in self.sources]
        lost = self.left_out.groupby("source", sort=False)["pairs"].sum()
        limits = [
            Statement("left out", f"{name}: {count:,} pairs have no number (see left_out).", {"pairs": int(count)})
            for name, count in lost.items()
        ]
        parts = (
            StatementList(f"Pairs and relations in {self.norms} ({prob} HPDI)", tuple(first)),
            StatementList("Agreement with them", tuple(others)),
            *(
                StatementList(f"Relations in {name} ({prob} HPDI)", self._relation_statements(name))
                for name in self.sources
            ),
            StatementList("Left out", tuple(limits)),
        )
        return tuple(part for part in parts if part.statements)

    def _relation_statements(self, name: str) -> tuple[Statement, ...]:
        return tuple(map(_relation_statement, rows_of(self.relations[self.relations["source"] == name])))

    def _source_statement(self, name: str) -> Statement:
        if name in self.not_compared:
            return Statement("no agreement", f"{name}: it cannot be said. {self.not_compared[name]}")
        rows = self.agreement[self.agreement["source"] == name]
        whole = rows[rows["relation"] == WEIGHTED] if (rows["relation"] == WEIGHTED).any() else rows
        row = rows_of(whole)[0]
        right = rows_of(self.accuracy[self.accuracy["source"] == name])[-1]
        what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
        text = (
            f"{name}, {row['pairs']:,} pairs: CAM {row['cam']:+.3f} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}; with endless participants "
            f"{row['endless']:+.3f} ({interval_text(row['endless_low'], row['endless_high'])}). It has the direction "
            f"of {share_text(right['accuracy'])} right, and of {share_text(right['clear_accuracy'])} where it is clear."
        )
        return Statement("agreement", text, row)


def _relation_statement(row: Mapping[str, Any]) -> Statement:
    what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
    times, more = digits_text(_times(row["mean"])), "more" if row["mean"] > 0 else "less"
    how = "as much as" if times == "1" else f"{times} times {more} than"
    text = (
        f"{row['relation']}, {row['pairs']:,} pair{'' if row['pairs'] == 1 else 's'}: the first word evokes the second "
        f"{how} the reverse, "
        f"{row['mean']:+.3f} ({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("relation", text, row)


def _times(mean: float) -> float:
    from math import exp

    return exp(abs(mean))


def report(
    norms: Evocation,
    sources: "Mapping[str, ConditionalSource] | list[ConditionalSource]",
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> AsymmetryReport:
    """Ask of evocation data, and of vectors or models, which word of a pair evokes the other more.

    Parameters
    ----------
    norms
        From `evocation`.
    sources
        What is compared with them, from `static` and others; a list, or a mapping of names.
    relations
        From `read_relations`; None: pairs have none.
    relation
        Some of the relations, by name; None: all, and the pairs without one as ``RelatedTo``.
    seen
        ``"both"``: pairs that evoke each other; ``"either"``: those in one direction alone too.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws of means of relations.

    Raises
    ------
    MeasureError
        If there is no source, or one name stands for two; if a relation is unknown, or has too few pairs in the norms;
        if a source has a number for none of the pairs.

    Warns
    -----
    QuestionWarning
        If relations have too few pairs for a correlation; if all that a source knows are too few, so that its
        agreement with the norms cannot be said.

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> found = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> len(found.ratios)
    30
    """
    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    check_type("norms", norms, Evocation, "evocation data: bb.asymmetry.evocation(table)")
    named = _named(sources, norms.name)
    pairs = norms.pairs(seen=seen)
    if relations is not None:
        pairs = with_relations(pairs, relations)
        if relation is not None:
            pairs = pairs[pairs["relation"].isin(chosen_relations(pairs, relation))]
    elif relation is not None:
        raise MeasureError(
            f"relation={relation!r}, but there are no relations. Give them: relations=..., or --relations."
        )
    if len(pairs) < LEAST_PAIRS:
        raise MeasureError(f"{norms.name} has {len(pairs)} such pairs, and at least {LEAST_PAIRS} are needed.")
    every: dict[str, ConditionalSource] = {norms.name: norms, **named}
    ratios = {name: lar(source, pairs, hdi_prob=hdi_prob) for name, source in every.items()}
    for name, frame in ratios.items():
        usable(frame, name)
    truth = ratios[norms.name]
    directed = {
        name: frame
        for name, frame in ratios.items()
        if "directed" in frame and ((frame["left_out"] == "") & frame["directed"]).sum() > 1
    }
    means = {name: alar(frame, hdi_prob=hdi_prob, random_seed=seed) for name, frame in directed.items()}
    lost = {
        name: frame.loc[frame["left_out"] != "", "left_out"]
        .value_counts()
        .rename_axis("left_out")
        .reset_index(name="pairs")
        for name, frame in ratios.items()
    }
    with collected_warnings(QuestionWarning) as said:  # each source's pairs have the same small relations
        not_compared = {name: why for name in named if (why := too_few(truth, ratios[name]))}
        compared = [name for name in named if name not in not_compared]
        agreement = {name: cam(truth, ratios[name], hdi_prob=hdi_prob) for name in compared}
        accuracy = {name: directional_accuracy(truth, ratios[name], hdi_prob=hdi_prob) for name in compared}
    unsaid = [f"No agreement of {name} with {norms.name}: {why}" for name, why in not_compared.items()]
    for text in dict.fromkeys([*unsaid, *(str(each.message) for each in said)]):
        warn_user(text, QuestionWarning)
    return AsymmetryReport(
        norms=norms.name,
        sources=tuple(named),
        ratios=_stacked(ratios),
        relations=_stacked(means),
        agreement=_stacked(agreement),
        accuracy=_stacked(accuracy),
        left_out=_stacked(lost),
        not_compared=not_compared,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def _named(sources: Any, norms: str) -> dict[str, ConditionalSource]:
    if isinstance(sources, Mapping):
        named = dict(sources)
    else:
        listed = check_items("sources", sources, "a list of sources")
        named = {getattr(source, "name", ""): source for source in listed}
        if len(named) < len(listed):
            raise MeasureError(
                "Two sources have the same name. Give a mapping of names: {'before': ..., 'after': ...}."
            )
    if not named or norms in named or not all(isinstance(name, str) and name for name in named):
        raise MeasureError(
            f"Sources are called {', '.join(map(str, named)) or 'nothing'}: give at least one, with a name of its own, "
            f"and another than {norms!r}."
        )
    return named


def _stacked(frames: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    if not frames:
        return pd.DataFrame(columns=["source", "relation"])
    parts = [pd.DataFrame(frame).assign(source=name) for name, frame in frames.items()]
    whole = pd.concat(parts, ignore_index=True)
    return whole[["source", *(name for name in whole.columns if name != "source")]]

"""`report`: compare people's associations with vectors or models, by pairs, relations and agreement."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.ratios.agreement import CLEAR, LEAST_PAIRS, WEIGHTED, cam, directional_accuracy, too_few
from bayesbias.asymmetry.ratios.alar import alar, usable
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.asymmetry.sources.evocation import Evocation
from bayesbias.asymmetry.sources.relations import chosen_relations, with_relations
from bayesbias.base.checks import HDI_PROB, check_items, check_probability, check_type, resolve_seed
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import (
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
class AsymmetryReport(Result):
    """Asymmetry of pairs of words in people's associations, and in vectors or models.

    Parameters
    ----------
    norms
        Name of the evocation data.
    sources
        Names of the sources that are compared with them.
    ratios
        One row per source and pair, from `lar`: `source` and its columns; the norms first.
    relations
        One row per source and relation, from `alar`; empty without relations that order their words.
    agreement
        One row per source and relation, from `cam` of the norms and the source.
    accuracy
        The same from `directional_accuracy`.
    left_out
        Numbers of pairs without a number, by source and reason: `source`, `left_out`, `pairs`.
    not_compared
        Reasons why sources have no row in `agreement` and `accuracy`, by name: they have too few of the pairs.
    hdi_prob, random_seed
        The arguments of `report`; the seed is the one used.
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
        """The parts of the text: the norms, each source, and the pairs that are left out."""
        norm_ratios = usable(self.ratios[self.ratios["source"] == self.norms])
        clear = float((norm_ratios["probability_of_direction"] >= CLEAR).mean())
        first = [
            Statement(
                "pairs",
                f"{self.norms}: of {len(norm_ratios):,} pairs {share_text(clear)} have a clear direction (a "
                f"probability of at least {CLEAR:g}).",
                {"pairs": len(norm_ratios), "clear": clear},
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

    @cached_property
    def contents(self) -> Contents:
        """Agreement with people, means of relations, ratios of pairs, and what was left out."""
        prob = percent_text(self.hdi_prob)
        names = ", ".join(self.sources)
        parts = {part.title: part for part in self.parts}
        first = next(iter(parts.values()))
        agreement = parts["Agreement with them"]
        figures = {
            "asymmetry": ResultFigure(
                "plot_asymmetry",
                f"The log asymmetry ratio of pairs of words in {self.norms} and in {names}: posterior means and "
                f"{prob} intervals. Above 0, the first word evokes the second more than the reverse.",
            )
        }
        if not self.relations.empty:
            figures["relations"] = ResultFigure(
                "plot_relations",
                "Mean log asymmetry ratio of each relation, in the norms and beside them. Filled: settled. Above 0, "
                "the first word evokes the second more.",
                section="Relations",
            )
        return Contents(
            title=f"Which word evokes the other more? {self.norms}",
            about=f"{self.norms}, and beside it {names}.",
            verdict=" ".join(statement.text for statement in (*first.statements[:1], *agreement.statements)),
            parts=(agreement, *(part for part in parts.values() if part.title.startswith(("Pairs", "Relations in")))),
            tables={
                "agreement": ResultTable(
                    self.agreement,
                    "Agreement",
                    f"Correlation on asymmetry, {prob} intervals",
                    note="CAM is the rank correlation of the log asymmetry ratios of people and of a source; SA is its "
                    "mean over relations, weighted by their pairs; SR is the same without pairs that have no relation.",
                ),
                "accuracy": ResultTable(
                    self.accuracy, "Agreement", f"Directions that are right, {prob} intervals", folded=True
                ),
                "relations": ResultTable(
                    self.relations,
                    "Relations",
                    f"Mean log asymmetry ratio (ALAR) of each relation, {prob} HPDI; above 0, the first word evokes "
                    "the second more",
                    differences=True,
                ),
                "pairs": ResultTable(
                    self.ratios, "Pairs", f"Log asymmetry ratios of pairs, {prob} HPDI", differences=True, folded=True
                ),
                "left_out": ResultTable(self.left_out, "Left out", "Pairs without a number, by reason", folded=True),
            },
            figures=figures,
            limits=tuple(Statement("limits", text) for text in _LIMITS),
            settings={
                "Norms": self.norms,
                "Sources": names,
                "Pairs": f"{(self.ratios['source'] == self.norms).sum():,}",
                "Interval": f"{prob} HPDI",
                "Seed of the draws": str(self.random_seed),
            },
        )

    def _relation_statements(self, name: str) -> tuple[Statement, ...]:
        return tuple(map(_relation_statement, rows_of(self.relations[self.relations["source"] == name])))

    def _source_statement(self, name: str) -> Statement:
        if name in self.not_compared:
            return Statement("no agreement", f"{name}: not available. {self.not_compared[name]}")
        rows = self.agreement[self.agreement["source"] == name]
        whole = rows[rows["relation"] == WEIGHTED] if (rows["relation"] == WEIGHTED).any() else rows
        row = rows_of(whole)[0]
        right = rows_of(self.accuracy[self.accuracy["source"] == name])[-1]
        what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
        corrected = interval_text(row["cam_corrected_low"], row["cam_corrected_high"])
        text = (
            f"{name}, {row['pairs']:,} pairs: CAM {row['cam']:+.3f} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}; with infinitely many participants "
            f"{row['cam_corrected']:+.3f} ({corrected}). Its direction is right for {share_text(right['accuracy'])} of "
            f"the pairs, and for {share_text(right['clear_accuracy'])} of those "
            "with a clear direction."
        )
        return Statement("agreement", text, row)


_LIMITS = (
    "That a word evokes another more than the reverse is no bias, and says nothing of who is harmed.",
    "A word that comes to everybody's mind is evoked by many words: ratios reflect that too.",
    "With one matrix of vectors a ratio depends on lengths and on how many neighbours a word has.",
)


def _relation_statement(row: Mapping[str, Any]) -> Statement:
    what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
    times, more = digits_text(exp(abs(row["mean"]))), "more" if row["mean"] > 0 else "less"
    how = "as much as" if times == "1" else f"{times} times {more} than"
    text = (
        f"{row['relation']}, {row['pairs']:,} pair{'' if row['pairs'] == 1 else 's'}: the first word evokes the second "
        f"{how} the reverse, {row['mean']:+.3f} ({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("relation", text, row)


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
    """Return a comparison of people's associations with vectors or models: which word of a pair evokes the other more.

    Parameters
    ----------
    norms
        From `evocation`.
    sources
        Sources to compare with the norms, from `static` and others: a list, or a mapping of names.
    relations
        From `read_relations`; None for pairs without relations.
    relation
        Names of the relations to use. None uses all, with ``RelatedTo`` for pairs that are not listed.
    seen
        ``"both"`` for pairs that evoke each other, or ``"either"`` to include pairs listed in only one direction.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws of means of relations.

    Raises
    ------
    MeasureError
        If there is no source, or two have the same name; if a relation is unknown, or the norms have too few pairs; if
        a source has no number for any of the pairs.

    Warns
    -----
    QuestionWarning
        If a relation has too few pairs for a correlation, or a source has too few of all pairs, so that its agreement
        with the norms is not available.

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
            f"relation={relation!r}, but no relations are given. Give them with relations=... or --relations."
        )
    if len(pairs) < LEAST_PAIRS:
        raise MeasureError(
            f"{norms.name} has {len(pairs)} such pairs; at least {LEAST_PAIRS} are needed. Choose more relations, or "
            "seen='either'."
        )
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
    with collected_warnings(QuestionWarning) as caught:  # all sources have the same small relations
        not_compared = {name: why for name in named if (why := too_few(truth, ratios[name]))}
        compared = [name for name in named if name not in not_compared]
        agreement = {name: cam(truth, ratios[name], hdi_prob=hdi_prob) for name in compared}
        accuracy = {name: directional_accuracy(truth, ratios[name], hdi_prob=hdi_prob) for name in compared}
    unsaid = [f"No agreement of {name} with {norms.name}: {why}" for name, why in not_compared.items()]
    for text in dict.fromkeys([*unsaid, *(str(warning.message) for warning in caught)]):
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
                "Two sources have the same name. Give a mapping of names, such as {'before': ..., 'after': ...}."
            )
    if not named or norms in named or not all(isinstance(name, str) and name for name in named):
        raise MeasureError(
            f"The names of the sources are {', '.join(map(str, named)) or 'missing'}. Give at least one source, each "
            f"with a unique name other than {norms!r}."
        )
    return named


def _stacked(frames: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    if not frames:
        return pd.DataFrame(columns=["source", "relation"])
    parts = [pd.DataFrame(frame).assign(source=name) for name, frame in frames.items()]
    whole = pd.concat(parts, ignore_index=True)
    return whole[["source", *(name for name in whole.columns if name != "source")]]

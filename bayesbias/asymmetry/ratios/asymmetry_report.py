"""`AsymmetryReport`: what `report` returns, with its statements and the contents of its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.ratios.agreement import CLEAR, WEIGHTED
from bayesbias.asymmetry.ratios.alar import ratio_text, usable
from bayesbias.asymmetry.sources.conditional_sources import COUNT_RATIO
from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import counted, interval_text, percent_text, share_text
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.estimates.intervals import settled_text

if TYPE_CHECKING:
    import pandas as pd


MOST_DIFFERENCES = 6
"""Largest number of differences between sources in the text; the table has all."""
COVERAGE = {"both": (0.82, 0.98), "one": (0.61, 0.99)}
"""Share of 89 % intervals that contained the truth in simulated norms, lowest and highest (`validation/asymmetry`), for
pairs that norms list in both directions and in one."""


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
        One row per source and pair, from `lar`: `source` and its columns, and `compared`, whether the pair is one of
        those on which sources are compared; the norms first.
    relations
        One row per source and relation, from `alar`; empty without relations that order their words.
    agreement
        One row per source and relation, from `cam` of the norms and the source.
    accuracy
        The same from `directional_accuracy`, for each threshold `gamma`.
    differences
        Differences of the sources' CAM, from `cam_difference`: `first`, `second` and its columns; empty with one
        source.
    left_out
        Numbers of pairs without a number, by source and reason: `source`, `left_out`, `pairs`.
    not_compared
        Reasons why sources have no row in `agreement` and `accuracy`, by name: they have too few of the pairs.
    seen, common, hdi_prob, random_seed
        The arguments of `report`; the seed is the one used.
    """

    norms: str
    sources: tuple[str, ...]
    ratios: "pd.DataFrame"
    relations: "pd.DataFrame"
    agreement: "pd.DataFrame"
    accuracy: "pd.DataFrame"
    differences: "pd.DataFrame"
    left_out: "pd.DataFrame"
    not_compared: Mapping[str, str]
    seen: str
    common: bool
    hdi_prob: float
    random_seed: int

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        norm_ratios = usable(self.ratios[self.ratios["source"] == self.norms])
        each_once = norm_ratios.drop_duplicates(["a", "b"])
        clear = float((each_once["probability_of_direction"] >= CLEAR).mean())
        rows_text = f" ({len(norm_ratios):,} with a row for each relation)" if len(each_once) < len(norm_ratios) else ""
        first = [
            Statement(
                "pairs",
                f"{self.norms}: of {counted(len(each_once), 'pair')}{rows_text} {share_text(clear)} have a clear "
                f"direction (a probability of at least {CLEAR:g}).",
                {"pairs": len(each_once), "rows": len(norm_ratios), "clear": clear},
            )
        ]
        first += self._coverage_statements(norm_ratios)
        prob = percent_text(self.hdi_prob)
        first += self._relation_statements(self.norms)
        others = [*self._common_statements(), *(self._source_statement(name) for name in self.sources)]
        others += map(_difference_statement, rows_of(self._whole_differences))
        lost = self.left_out.groupby("source", sort=False)["pairs"].sum()
        limits = [
            Statement(
                "left out",
                f"{name}: {counted(int(count), 'pair has', 'pairs have')} no number (see left_out).",
                {"pairs": int(count)},
            )
            for name, count in lost.items()
        ]
        return (
            StatementList(f"Pairs and relations in {self.norms} ({prob} HPDI)", tuple(first)),
            StatementList("Agreement with them", tuple(others)),
            *(
                StatementList(f"Relations in {name} ({prob} HPDI)", self._relation_statements(name))
                for name in self.sources
            ),
            StatementList("Left out", tuple(limits)),
        )

    @cached_property
    def contents(self) -> Contents:
        """Agreement with people, means of relations, ratios of pairs, and what was left out."""
        prob = percent_text(self.hdi_prob)
        names = ", ".join(self.sources)
        people = self.ratios[self.ratios["source"] == self.norms]
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
        figures["lar_distributions"] = ResultFigure(
            "plot_lar_distributions",
            "Log asymmetry ratios of pairs: histograms for each relation and source; the dotted line is the median.",
            section="Pairs",
        )
        return Contents(
            title=f"Which word evokes the other more? {self.norms}",
            about=f"{self.norms}, and beside it {names}.",
            verdict=" ".join(
                statement.text
                for statement in (*first.statements, *agreement.statements)
                if statement.kind != "relation"
            ),
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
                "differences": ResultTable(
                    self.differences,
                    "Agreement",
                    f"Differences of CAM between sources, on the pairs that both have, {prob} intervals",
                    differences=True,
                    folded=True,
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
                "Pairs": f"{len(people.drop_duplicates(['a', 'b'])):,}",
                "Pairs and relations": f"{len(people):,}",
                "Interval": f"{prob} HPDI",
                "Seed of the draws": str(self.random_seed),
            },
        )

    @property
    def _whole_differences(self) -> "pd.DataFrame":
        """Differences over all relations, which the text shows: of many sources, only those from the best."""
        rows = self.differences
        rows = rows[rows["relation"] == WEIGHTED] if (rows["relation"] == WEIGHTED).any() else rows
        if len(rows) <= MOST_DIFFERENCES:
            return rows
        scores: dict[str, float] = {}
        for row in rows_of(rows):
            scores |= {row["first"]: row["cam_first"], row["second"]: row["cam_second"]}
        best = max(scores, key=lambda name: scores[name])
        from_best: pd.DataFrame = rows[(rows["first"] == best) | (rows["second"] == best)]
        return from_best

    def _coverage_statements(self, norm_ratios: "pd.DataFrame") -> list[Statement]:
        """Return how far to trust the ratios of pairs that are listed in one direction, if there are any."""
        if COUNT_RATIO not in norm_ratios or not (
            one_way := int(norm_ratios.drop_duplicates(["a", "b"])[COUNT_RATIO].isna().sum())
        ):
            return []
        (low, high), (low_both, high_both) = (COVERAGE[name] for name in ("one", "both"))
        text = (
            f"{self.norms}: {counted(one_way, 'pair is', 'pairs are')} listed in one direction only. In simulations, "
            f"{percent_text(HDI_PROB)} intervals of such pairs contained the true ratio in {low:.0%} to {high:.0%} of "
            f"cases (of pairs listed in both directions {low_both:.0%} to {high_both:.0%}): rely on their direction, "
            "not on their size."
        )
        return [Statement("coverage", text, {"pairs": one_way, "low": low, "high": high})]

    def _common_statements(self) -> list[Statement]:
        people = self.ratios[self.ratios["source"] == self.norms]
        compared, every = int(people["compared"].sum()), len(people)
        if not self.common or compared == every or len(self.agreement["source"].unique()) < 2:
            return []
        sizes = self.ratios[self.ratios["left_out"] == ""].groupby("source")["lar"].size().to_dict()
        fewest = min(self.agreement["source"].unique(), key=lambda name: int(sizes[name]))
        text = (
            f"Sources are compared on the {compared:,} of {counted(every, 'pair')} for which all have a number; "
            f"{fewest} has {sizes[fewest]:,}, the fewest."
        )
        return [Statement("common pairs", text, {"pairs": compared})]

    def _relation_statements(self, name: str) -> tuple[Statement, ...]:
        return tuple(map(_relation_statement, rows_of(self.relations[self.relations["source"] == name])))

    def _source_statement(self, name: str) -> Statement:
        if name in self.not_compared:
            return Statement("no agreement", f"{name}: not available. {self.not_compared[name]}")
        rows = self.agreement[self.agreement["source"] == name]
        whole = rows[rows["relation"] == WEIGHTED] if (rows["relation"] == WEIGHTED).any() else rows
        row = rows_of(whole)[0]
        of_source = self.accuracy[self.accuracy["source"] == name]
        right = rows_of(of_source[of_source["gamma"] == of_source["gamma"].iloc[0]])[-1]
        what = settled_text(row["hdi_low"], row["hdi_high"])
        corrected = interval_text(row["cam_corrected_low"], row["cam_corrected_high"])
        text = (
            f"{name}, {counted(row['pairs'], 'pair')}: CAM {row['cam']:+.3f} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}; with infinitely many participants "
            f"{row['cam_corrected']:+.3f} ({corrected}). Its direction is right for {share_text(right['accuracy'])} of "
            f"the pairs, and for {share_text(right['clear_accuracy'])} of those with a clear direction."
        )
        return Statement("agreement", text, row)


_LIMITS = (
    "That a word evokes another more than the reverse is no bias, and says nothing of who is harmed.",
    "A word that comes to everybody's mind is evoked by many words: ratios reflect that too.",
    "With one matrix of vectors a ratio depends on lengths and on how many neighbours a word has.",
)


def _relation_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{row['relation']}, {counted(row['pairs'], 'pair')}: the first word evokes the "
        f"second {ratio_text(row['mean'])} the reverse, {row['mean']:+.3f} "
        f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("relation", text, row)


def _difference_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"CAM of {row['first']} minus that of {row['second']}, {counted(row['pairs'], 'pair')}: "
        f"{row['difference']:+.3f} ({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("difference", text, row)

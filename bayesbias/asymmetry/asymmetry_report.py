"""`report`: compare people's associations with vectors or models, by pairs, relations and agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, overload

from bayesbias.asymmetry.agreement import (
    CLEAR,
    LEAST_PAIRS,
    WEIGHTED,
    cam,
    cam_difference,
    directional_accuracy,
    too_few,
)
from bayesbias.asymmetry.norms_comparison import compare_norms, named_norms, pairs_of, stacked
from bayesbias.asymmetry.norms_source import Evocation
from bayesbias.asymmetry.relation_means import alar, ratio_text, usable
from bayesbias.asymmetry.vector_source import COUNT_RATIO, ConditionalSource, lar
from bayesbias.base.checks import HDI_PROB, check_items, check_probability, resolve_seed
from bayesbias.base.number_text import counted, interval_text, percent_text, share_text, signed_text
from bayesbias.base.results import MOST_LINES, Contents, Result, ResultFigure, ResultGroup, ResultTable, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import MeasureError, QuestionWarning, collected_warnings, name_some, setting, warn_user
from bayesbias.estimates.intervals import is_settled, mark, settled_text

if TYPE_CHECKING:
    import pandas as pd


MOST_DIFFERENCES = 6
"""Largest number of differences between sources in the text; the table has all."""
COVERAGE = {"both": (0.82, 0.98), "one": (0.61, 0.99)}
"""Share of 89 % intervals that contained the truth in simulated norms, lowest and highest (`validation/asymmetry`), for
pairs that norms list in both directions and in one."""
_LIMITS = (
    "Whether anyone is harmed. That one word evokes another more than the reverse is an association.",
    "The meaning of words alone. Many words evoke a word that comes to mind easily, and ratios reflect that too. With "
    "one matrix of vectors, a ratio also depends on the lengths of vectors and on how many neighbours a word has.",
)


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
            StatementList("", (Statement("answer", f"{self._claim} {self._estimate}".strip()),), bulleted=False),
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
        stated = [part for part in self.parts if part.title not in ("", "Left out")]
        doubts = tuple(one for part in stated for one in part.statements if one.kind == "coverage")
        parts = [
            replace(part, statements=tuple(one for one in part.statements if one not in doubts)) for part in stated
        ]
        figures = {} if self.agreement.empty else {"agreement": self._agreement_figure(prob)}
        figures |= {
            "asymmetry": ResultFigure(
                "asymmetry.plot_asymmetry",
                f"The log asymmetry ratio of pairs of words in {self.norms} and in {names}: posterior means and "
                f"{prob} intervals. Above 0, the first word evokes the second more than the reverse. Colours of "
                f"sources: whether they have the direction of {self.norms}.",
                section="Pairs",
            )
        }
        if not self.relations.empty:
            figures["relations"] = ResultFigure(
                "asymmetry.plot_relations",
                "Mean log asymmetry ratio of each relation, in the norms and beside them. Filled: settled; hollow: not "
                "settled. Above 0, the first word evokes the second more.",
                section="Relations",
            )
        figures["lar_distributions"] = ResultFigure(
            "asymmetry.plot_lar_distributions",
            "Log asymmetry ratios of pairs: histograms for each relation and source; the dotted line is the median.",
            section="Pairs",
        )
        return Contents(
            title=f"Which word evokes the other more: do {names} agree with {self.norms}?",
            about=f"{counted(len(people.drop_duplicates(['a', 'b'])), 'pair')} of words in {self.norms}.",
            answer=self._claim,
            estimate=self._estimate,
            parts=tuple(parts),
            doubts=doubts,
            opened=("Agreement", "Agreement with them", "Relations"),
            tables={
                "agreement": ResultTable(
                    self.agreement,
                    "Agreement",
                    f"Correlation on asymmetry, {prob} intervals",
                    note="CAM is the rank correlation of the log asymmetry ratios of people and of a source; SA is its "
                    "mean over relations, weighted by their pairs; SR is the same without pairs that have no relation.",
                    mark=partial(mark, below="reversed", above="agrees"),
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
                    mark=partial(mark, below="second evokes more", above="first evokes more"),
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
    def _whole_agreement(self) -> "pd.DataFrame":
        """Agreement over all relations, one row for each source that is compared."""
        rows = self.agreement
        whole: pd.DataFrame = rows[rows["relation"] == WEIGHTED] if (rows["relation"] == WEIGHTED).any() else rows
        return whole.drop_duplicates("source")

    @property
    def _claim(self) -> str:
        """The answer: how many sources agree with people, or how clear the directions of people are."""
        rows = rows_of(self._whole_agreement) if len(self.agreement) else []
        about = "on which word evokes the other more"
        if not rows:
            pairs = usable(self.ratios[self.ratios["source"] == self.norms]).drop_duplicates(["a", "b"])
            clear = share_text(float((pairs["probability_of_direction"] >= CLEAR).mean()))
            return f"In {self.norms}, {clear} of {counted(len(pairs), 'pair')} have a clear direction."
        if len(rows) > 1:
            agreeing = [row["source"] for row in rows if row["hdi_low"] > 0]
            named = f" ({name_some(agreeing, 3)})" if agreeing else ""
            verb = "agrees" if len(agreeing) == 1 else "agree"
            return f"{len(agreeing)} of {len(rows)} sources{named} {verb} with {self.norms} {about}."
        row = rows[0]
        if not is_settled(row["hdi_low"], row["hdi_high"]):
            return f"Whether {row['source']} agrees with {self.norms} {about} is not settled."
        return f"{row['source']} {'agrees' if row['cam'] > 0 else 'disagrees'} with {self.norms} {about}."

    @property
    def _estimate(self) -> str:
        """The largest agreement of a source, with its interval; empty if none is compared."""
        if self.agreement.empty:
            return ""
        row = max(rows_of(self._whole_agreement), key=lambda one: one["cam"])
        source = f" of {row['source']}" if len(self._whole_agreement) > 1 else ""
        return (
            f"Rank correlation of asymmetries{source} {signed_text(row['cam'])} over {counted(row['pairs'], 'pair')}, "
            f"{percent_text(self.hdi_prob)} interval {interval_text(row['hdi_low'], row['hdi_high'])}."
        )

    def _agreement_figure(self, prob: str) -> ResultFigure:
        """Return a forest of the agreement of each source, over all relations and in each."""
        rows = self.agreement.rename(columns={"cam": "mean"})
        if len(rows) > MOST_LINES:  # those over all relations first
            whole = self._whole_agreement.index
            rows = rows.loc[[*whole, *rows.index.difference(whole, sort=False)]]
        several = len(self.sources) > 1
        labels = [f"{row['source']}: {row['relation']}" if several else row["relation"] for row in rows_of(rows)]
        rows = rows.assign(label=labels, filled=[is_settled(row["hdi_low"], row["hdi_high"]) for row in rows_of(rows)])
        return forest_figure(
            f"Rank correlation of log asymmetry ratios with those of {self.norms} (points) and {prob} intervals "
            f"(lines), by relation; SA is the mean over relations. Filled: settled; hollow and grey: not settled.",
            rows,
            label=f"Rank correlation with {self.norms}",
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
        row = rows_of(self._whole_agreement[self._whole_agreement["source"] == name])[0]
        of_source = self.accuracy[self.accuracy["source"] == name]
        right = rows_of(of_source[of_source["gamma"] == of_source["gamma"].iloc[0]])[-1]
        what = settled_text(row["hdi_low"], row["hdi_high"])
        corrected = interval_text(row["cam_corrected_low"], row["cam_corrected_high"])
        text = (
            f"{name}, {counted(row['pairs'], 'pair')}: CAM {row['cam']:+z.3f} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}; with infinitely many participants "
            f"{row['cam_corrected']:+z.3f} ({corrected}). Its direction is right for {share_text(right['accuracy'])} "
            f"of the pairs, and for {share_text(right['clear_accuracy'])} of those with a clear direction."
        )
        return Statement("agreement", text, row)


def _relation_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{row['relation']}, {counted(row['pairs'], 'pair')}: the first word evokes the "
        f"second {ratio_text(row['mean'])} the reverse, {row['mean']:+z.3f} "
        f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("relation", text, row)


def _difference_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"CAM of {row['first']} minus that of {row['second']}, {counted(row['pairs'], 'pair')}: "
        f"{row['difference']:+z.3f} ({interval_text(row['hdi_low'], row['hdi_high'])}), {what}."
    )
    return Statement("difference", text, row)


type Source = ConditionalSource | Callable[[Evocation], ConditionalSource]
type Sources = Mapping[str, Source] | Sequence[ConditionalSource]
type Norms = Mapping[str, Evocation] | Sequence[Evocation]


@overload
def report(
    norms: Evocation,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> AsymmetryReport: ...


@overload
def report(
    norms: Norms,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> ResultGroup: ...


def report(
    norms: Evocation | Norms,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> AsymmetryReport | ResultGroup:
    """Return a comparison of people's associations with vectors or models: which word of a pair evokes the other more.

    Parameters
    ----------
    norms
        From `evocation`; or several, as a list or a mapping of names.
    sources
        Any number of sources to compare with the norms, from `static` and others: a list, or a mapping of names. In a
        mapping, a source may be a function that takes the norms, such as one that makes `static` with their
        vocabulary.
    relations
        From `read_relations`; None for pairs without relations.
    relation
        Names of the relations to use. None uses all, with ``RelatedTo`` for pairs that are not listed.
    seen
        ``"both"`` for pairs that evoke each other, or ``"either"`` to include pairs listed in only one direction.
    common
        Whether agreement, accuracy and means of relations are those of the pairs for which all sources have a number,
        as in the paper. If False, each source has its own pairs, and only `differences` compares like with like.
    gamma
        Threshold of directions, or several: see `directional_accuracy`.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws of means of relations.

    Returns
    -------
    AsymmetryReport or ResultGroup
        With several norms, a group: `compare_norms` as ``"between_norms"``, and a report for each of the norms by
        name.

    Raises
    ------
    MeasureError
        If there is no source, or two have the same name; if a relation is unknown, or the norms have too few pairs; if
        a source has no number for any of the pairs, or the sources have too few pairs in common.

    Warns
    -----
    QuestionWarning
        If a relation has too few pairs for a correlation, or a source has too few of all pairs, so that its agreement
        with the norms is not available.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 9 for the common pairs; tables 1 (norms), 2 (vectors and models,
    several norms) and 3 (many models).

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> compared = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> len(compared.ratios)
    30
    """
    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    settings: dict[str, Any] = {"relation": relation, "seen": seen, "hdi_prob": hdi_prob, "random_seed": seed}
    if isinstance(norms, Evocation):
        return _report(norms, sources, relations, common=common, gamma=gamma, **settings)
    every = named_norms(norms)
    results: dict[str, Result] = {}
    if len(every) > 1:
        results["between_norms"] = compare_norms(every, relations, **settings)
    for name, of_people in every.items():
        results[name] = _report(of_people, sources, relations, common=common, gamma=gamma, **settings)
    return ResultGroup(f"Which word evokes the other more? {', '.join(every)}", results)


def _report(
    norms: Evocation,
    sources: Sources,
    relations: "pd.DataFrame | None",
    *,
    common: bool,
    gamma: float | Sequence[float],
    **settings: Any,
) -> AsymmetryReport:
    hdi_prob, seed = settings["hdi_prob"], settings["random_seed"]
    named = _named(sources, norms)
    pairs = pairs_of(norms, relations, relation=settings["relation"], seen=settings["seen"])
    every: dict[str, ConditionalSource] = {norms.name: norms, **named}
    ratios = {name: lar(source, pairs, hdi_prob=hdi_prob) for name, source in every.items()}
    for name, frame in ratios.items():
        usable(frame, name)
    truth = ratios[norms.name]
    not_compared = {name: why for name in named if (why := too_few(truth, ratios[name]))}
    compared = [name for name in named if name not in not_compared]
    in_all = _in_all([truth, *(ratios[name] for name in compared)]) if common else truth["left_out"] == ""
    if in_all.sum() < LEAST_PAIRS:
        fewest = min(compared, key=lambda name: int((ratios[name]["left_out"] == "").sum()))
        raise MeasureError(
            f"The sources have {int(in_all.sum())} pairs of {norms.name} in common; at least {LEAST_PAIRS} are needed. "
            f"Leave out {fewest}, which has the fewest, or compare each on its own pairs "
            f"({setting('common', False, option='--own')})."
        )
    ratios = {name: frame.assign(compared=in_all & (frame["left_out"] == "")) for name, frame in ratios.items()}
    shared = {name: frame[frame["compared"]] for name, frame in ratios.items() if frame["compared"].any()}
    directed = {name: frame for name, frame in shared.items() if "directed" in frame and frame["directed"].sum() > 1}
    means = {name: alar(frame, hdi_prob=hdi_prob, random_seed=seed) for name, frame in directed.items()}
    lost = {
        name: frame.loc[frame["left_out"] != "", "left_out"]
        .value_counts()
        .rename_axis("left_out")
        .reset_index(name="pairs")
        for name, frame in ratios.items()
    }
    people = shared[norms.name]
    with collected_warnings(QuestionWarning) as caught:  # all sources have the same small relations
        agreement = {name: cam(people, shared[name], hdi_prob=hdi_prob) for name in compared}
        accuracy = {
            name: directional_accuracy(people, shared[name], gamma=gamma, hdi_prob=hdi_prob) for name in compared
        }
        differences = [
            cam_difference(people, shared[first], shared[second], hdi_prob=hdi_prob).assign(first=first, second=second)
            for first, second in combinations(compared, 2)
            if not too_few(shared[first], shared[second])
        ]
    unsaid = [f"No agreement of {name} with {norms.name}: {why}" for name, why in not_compared.items()]
    for text in dict.fromkeys([*unsaid, *(str(warning.message) for warning in caught)]):
        warn_user(text, QuestionWarning)
    return AsymmetryReport(
        norms=norms.name,
        sources=tuple(named),
        ratios=stacked(ratios),
        relations=stacked(means),
        agreement=stacked(agreement),
        accuracy=stacked(accuracy),
        differences=_listed(differences),
        left_out=stacked(lost),
        not_compared=not_compared,
        seen=settings["seen"],
        common=common,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def _in_all(frames: "list[pd.DataFrame]") -> "pd.Series[bool]":
    """Return whether all frames, whose rows are the same pairs, have a number, for each row."""
    in_all = frames[0]["left_out"] == ""
    for frame in frames[1:]:
        in_all &= frame["left_out"] == ""
    return in_all


def _named(sources: Any, norms: Evocation) -> dict[str, ConditionalSource]:
    """Return the sources by name; a function of the norms becomes the source that it makes."""
    if isinstance(sources, Mapping):
        named = dict(sources)
    else:
        listed = check_items("sources", sources, "a list of sources")
        named = {getattr(source, "name", ""): source for source in listed}
        if len(named) < len(listed):
            raise MeasureError(
                "Two sources have the same name. Give a mapping of names, such as {'before': ..., 'after': ...}."
            )
    if not named or norms.name in named or not all(isinstance(name, str) and name for name in named):
        raise MeasureError(
            f"The names of the sources are {', '.join(map(str, named)) or 'missing'}. Give at least one source, each "
            f"with a unique name other than {norms.name!r}."
        )
    return {name: source_of(source, norms) for name, source in named.items()}


def source_of(source: Source, norms: Evocation) -> ConditionalSource:
    """Return a source, or the one that a function makes for norms."""
    if isinstance(source, ConditionalSource):
        return source
    return source(norms) if callable(source) else source  # `lar` refuses what is no source


def _listed(differences: "list[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    if not differences:
        return pd.DataFrame(columns=["first", "second", "relation"])
    whole = pd.concat(differences, ignore_index=True)
    return whole[["first", "second", *(name for name in whole.columns if name not in ("first", "second"))]]

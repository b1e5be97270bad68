"""Estimates of a fit as tables of a page and of a paper."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_choice
from bayesbias.base.number_text import estimate_text, interval_text, percent_text, shown_name, signed_text
from bayesbias.base.results import DOUBTS, VERDICTS, Contents, Result, ResultTable
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, name_some, worded
from bayesbias.estimates.intervals import mark, reading, scope_text
from bayesbias.models.fits import fitted_table
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.doubts import all_doubts, few_words_text, words_used
from bayesbias.reports.posterior.summary import summary, units_text
from bayesbias.tables.measures import COSINE_DISTANCE, Measure, measure_of
from bayesbias.tables.schema import table_facts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

EVERYONE = "All words"
"""Label of the rows over all protected words."""
HEADINGS = {
    "contrast": "Difference",
    "mean": "Estimate",
    "net_mean": "Net",
    "net_low": "Interval, net",
    "words_used": "Words used",
}
PAPER_LEVELS = ("overall", "protected_group", "word")
# Columns of a table in a paper; its .csv has all columns.
_IN_PAPERS = (
    *("protected_group", "protected_word", "words_used", "own_lists", "contrast", "question"),
    *("parameter", "connection", "effect", "attribute_list", "attribute_word", "pairs"),
    *("mean", "hdi_low", "hdi_high", "net_mean", "net_low", "net_high", "observed"),
    *("probability_of_direction", "probability_in_rope"),
)


def net_meaning(measure: Measure) -> str:
    """Return what a net contrast is, for legends.

    >>> net_meaning(COSINE_DISTANCE).partition(";")[0]
    'Net: without the part that arises because some lists are nearer to every group'
    """
    return (
        f"Net: without the part that arises because some lists are {measure.nearer} {measure.to} every group; the "
        "interval can be narrower, as it lacks the uncertainty of that part."
    )


def with_ways(frame: "pd.DataFrame", measure: Measure) -> "pd.DataFrame":
    """Return rows whose directions are in the words of the measure, such as "likelier"."""
    if measure.to == COSINE_DISTANCE.to or "direction" not in frame:
        return frame
    return frame.assign(direction=frame["direction"].map(measure.way))


def difference_table(
    measure: Measure, frame: "pd.DataFrame", section: str, caption: str, *columns: Any, **options: Any
) -> ResultTable:
    """Return a table of differences whose marks and directions are in the words of a measure."""
    marked = partial(mark, below=measure.nearer, above=measure.farther)
    return replace(
        ResultTable(with_ways(frame, measure), section, caption, *columns, **options), differences=True, mark=marked
    )


def paper_table(
    fit: "xr.DataTree",
    *,
    level: str = "protected_group",
    baseline: str = "associated",
    scope: str = "population",
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
    parameters: str | None = None,
) -> "EstimateTables":
    """Return the contrasts of a fit as a table for a paper: of all words, then of each protected group.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    level
        Smallest unit that has rows: ``"overall"``, ``"protected_group"`` or ``"word"``.
    baseline, scope, hdi_prob, rope
        As in `contrasts`.
    parameters
        Level of `summary` whose mean distances and other parameters follow as further tables; None: none.

    Returns
    -------
    EstimateTables
        Result that `bayesbias.write` writes as ``.tex``, ``.md``, ``.docx``, ``.csv`` or ``.html``. Its table
        `contrasts` has the columns of `bayesbias.contrasts`, sorted by contrast, and

        - `protected_group`: ``"All words"`` in rows over all protected words;
        - `reading`: ``"nearer"`` or ``"farther"`` if the contrast is settled, else ``"borderline"`` or ``"not
          settled"``, or ``"no pairs on one side"``;
        - `words_used`: how many words of the group are in the vectors, such as ``"8 of 10"``; empty for a word;
        - `own_lists`: the attribute lists that are associated with the group.

    Raises
    ------
    FitError, ReportError, ArgumentError
        As for `contrasts` and `summary`.

    Examples
    --------
    >>> paper = bb.reports.paper_table(fit)
    >>> rows = paper.contents.tables["contrasts"].frame
    >>> rows[["protected_group", "own_lists", "reading"]].head(3).values.tolist()
    [['All words', '', 'not settled'], ['math', 'male', 'not settled'], ['arts', 'female', 'nearer']]
    """
    check_choice("level", level, PAPER_LEVELS)
    frame = contrasts(fit, baseline=baseline, level="all", scope=scope, hdi_prob=hdi_prob, rope=rope)
    of_group, of_word = frame["protected_group"] != "", frame["protected_word"] != ""
    shown = ~of_word & (~of_group | (level != "overall")) | (of_word & (level == "word"))
    order = {name: place for place, name in enumerate(dict.fromkeys(frame["contrast"]))}
    frame = frame[shown].sort_values("contrast", key=lambda names: names.map(order), kind="stable")
    frame = labelled(frame.reset_index(drop=True), fitted_table(fit), words_used(fit))
    frames = {"contrasts": frame}
    if parameters is not None:
        estimates = summary(fit, level=parameters, hdi_prob=hdi_prob)
        of_means = estimates["parameter"].str.endswith("_mean")
        frames |= {"means": estimates[of_means], "parameters": estimates[~of_means]}
    filled = {name: rows for name, rows in frames.items() if len(rows)}
    return EstimateTables(filled, (*all_doubts(fit), *_covariates_elsewhere(fit)))


def _covariates_elsewhere(fit: "xr.DataTree") -> Iterator[Statement]:
    """Yield where the slopes of a fit with covariates are, which its contrasts do not show."""
    if "covariate" not in fit["constant_data"].coords:
        return
    names = name_some([repr(shown_name(name)) for name in fit["constant_data"].coords["covariate"].to_numpy().tolist()])
    how = worded(
        "bb.write(bb.covariate_effect(fit), 'slopes.tex')",
        "`bayesbias covariate TABLE --covariates FILE --output slopes.tex`",
    )
    yield Statement(
        "covariates", f"The fit has covariates ({names}). These tables lack their slopes, which {how} writes."
    )


def labelled(frame: "pd.DataFrame", table: "pd.DataFrame", used: Mapping[str, str]) -> "pd.DataFrame":
    """Return rows of `contrasts` with a label for all words, their reading, and the words and lists of a group."""
    measure = measure_of(table_facts(table))
    associated = table[table["connection"] == "associated"].groupby("protected_group", sort=False, observed=True)
    lists = {str(group): name_some(names, 3) for group, names in associated["attribute_group"].unique().items()}
    group_of = dict(table[["protected_word", "protected_group"]].astype(str).itertuples(index=False, name=None))
    rows = rows_of(frame)
    groups = [row["protected_group"] or group_of.get(row["protected_word"], EVERYONE) for row in rows]
    counts = ["" if row["protected_word"] else used.get(row["protected_group"], "") for row in rows]
    frame = frame.assign(protected_group=groups)
    frame.insert(3, "own_lists", [lists.get(group, "") for group in groups])
    frame.insert(3, "words_used", counts)
    frame.insert(5, "reading", [measure.way(reading(row)) for row in rows_of(frame)])
    return frame


def estimate_table(frame: "pd.DataFrame", columns: tuple[str, ...] = ()) -> ResultTable:
    """Return a frame of `summary`, `contrasts` or `planned_contrasts` with its caption, which has the interval.

    `columns` are those that a page shows; all if empty.

    >>> estimate_table(bb.contrasts(fit)).caption.partition(", posterior")[0]
    'Contrasts of weat7 in Google News word2vec, 13,784 words: differences of mean cosine ...'
    """
    if "hdi_prob" not in (settings := getattr(frame, "settings", {})) or "mean" not in frame:
        raise ReportError(
            "The frame does not state the probability of its intervals (settings['hdi_prob']). If it is part of a "
            "result, write the result itself, such as bb.write(effect, 'table.tex') in place of effect.effects. Other "
            "frames must be those of bb.summary, bb.contrasts or bb.planned_contrasts, or rows of them."
        )
    source = f" of {settings['source']}" if "source" in settings else ""
    measure = measure_of(settings)
    distances = measure.of_means
    means = f"posterior means and {percent_text(settings['hdi_prob'])} HPDI"
    if "contrast" in frame:
        caption = (
            f"Contrasts{source}: differences of mean {distances}, {means}; below 0, {settings['baseline']} words "
            f"are {measure.nearer}"
        )
        legend = _about_rows(frame, columns, settings)
        return difference_table(measure, frame, "Contrasts", caption, columns, HEADINGS, legend=legend)
    if "question" in frame:
        caption = f"Questions{source}: differences of mean {distances}, {means}; below 0, {measure.nearer}"
        legend = f"About exactly these protected words, and attribute words like these.{_region(settings)}"
        return difference_table(measure, frame, "Questions", caption, columns, HEADINGS, legend=legend)
    if frame["parameter"].str.endswith("_mean").all():
        of_all = "connection_mean" in set(frame["parameter"])
        about = "; connection_mean is about words like these, whatever the scope" if of_all else ""
        caption = f"Mean {distances}{source}, {means}{about}"
        return ResultTable(frame, "Means", caption, columns)
    return ResultTable(
        frame, "Parameters", f"Parameters{source}, {means}, {units_text(measure, frame['parameter'])}", columns
    )


def _paper_columns(frame: "pd.DataFrame") -> tuple[str, ...]:
    """Return the columns of a table in a paper: net contrasts only if they differ between groups."""
    groups = frame[~frame["protected_group"].isin(("", EVERYONE))] if "net_mean" in frame else frame
    is_same = "net_mean" in frame and groups["net_mean"].round(9).groupby(groups["contrast"]).nunique().max() <= 1
    return tuple(name for name in _IN_PAPERS if not (is_same and name.startswith("net_")))


def _about_rows(frame: "pd.DataFrame", columns: tuple[str, ...], settings: Mapping[str, Any]) -> str:
    """Return which words the rows are about, what is net, and the region of practical equivalence, for a legend."""
    of_all = frame["protected_group"].isin(("", EVERYONE)) & (frame["protected_word"] == "")
    texts = []
    if of_all.any():
        texts.append(f"Rows over all words are about {scope_text(settings['scope'])}.")
    if not of_all.all():
        texts.append("Rows of groups and of single words are about exactly these protected words.")
    if "net_mean" in frame and "net_mean" in (columns or frame) and frame["net_mean"].notna().any():
        texts.append(net_meaning(measure_of(settings)))
    if "probability_of_direction" in (columns or frame):
        texts.append("P(this sign): probability that the difference has the sign of its estimate.")
    verdicts = ("settled", "borderline") if frame["borderline"].any() else ("settled",)
    texts += [f"{verdict.capitalize()}: {VERDICTS[verdict]}." for verdict in verdicts]
    return " ".join(texts) + _region(settings)


def _region(settings: Mapping[str, Any]) -> str:
    """Return the region of practical equivalence for a legend; empty without one."""
    rope = settings.get("rope")
    return f" From {rope[0]:g} to {rope[1]:g}, a difference is too small to matter." if rope else ""


@dataclass(frozen=True, eq=False, repr=False)
class EstimateTables(Result):
    """Frames of estimates by name, which `bayesbias.write` writes as tables.

    Parameters
    ----------
    frames
        Name -> frame of `summary`, `contrasts` or `planned_contrasts`.
    doubts
        Doubts about the numbers of the fit. Legends name its lists and groups of few words.
    """

    frames: "Mapping[str, pd.DataFrame]"
    doubts: tuple[Statement, ...] = ()

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        texts = [f"{table.caption}. {table.legend}".strip() for table in self.contents.tables.values()]
        captions = tuple(Statement("caption", text) for text in texts)
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList(DOUBTS, self.doubts),
            StatementList("", captions),
        )

    @property
    def _answer(self) -> Statement:
        """The first row that has a sentence: a contrast or a question, else a mean distance or a parameter."""
        frames = [frame for frame in self.frames.values() if len(frame)]
        frame = next((one for one in frames if "parameter" not in one), frames[0]) if frames else None
        if frame is None:
            return Statement("answer", "The tables have no rows.")
        row = rows_of(frame.iloc[[0]])[0]
        prob = percent_text(frame.settings["hdi_prob"])
        if "parameter" in row:
            name = " ".join(filter(None, (row["parameter"], row["connection"], row.get("protected_word", ""))))
            return Statement("answer", f"{name}: {estimate_text(row)}, {prob} interval in brackets.", row)
        words = row.get("protected_word") or shown_name(row.get("protected_group", ""))
        what = shown_name(row["question"]) if "question" in row else row["contrast"]
        name = f"{what}{f' for {words}' if words else ''}"
        ends = interval_text(row["hdi_low"], row["hdi_high"])
        shown = measure_of(getattr(frame, "settings", {})).way(reading(row))
        text = f"{name}: {signed_text(row['mean'])}, {prob} interval {ends}, {shown}."
        return Statement("answer", text, row)

    @cached_property
    def contents(self) -> Contents:
        """The tables."""
        tables = {name: estimate_table(frame, _paper_columns(frame)) for name, frame in self.frames.items()}
        few = few_words_text(self.doubts)
        tables = {name: replace(table, legend=f"{table.legend}{few}".strip()) for name, table in tables.items()}
        sources = {frame.settings["source"]: None for frame in self.frames.values() if "source" in frame.settings}
        prob = ", ".join({f"{percent_text(frame.settings['hdi_prob'])} HPDI": None for frame in self.frames.values()})
        source = f" of {' and '.join(sources)}" if sources else ""
        return Contents(
            title=f"{' and '.join(table.section for table in tables.values())}{source}",
            answer=self._answer.text,
            doubts=self.doubts,
            tables=tables,
            opened=tuple(table.section for table in tables.values()),
            settings={"Interval": prob},
        )

"""The result of a measure, and how it is made from scores of words or from items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.lost_words import WordList, many_lost_words
from bayesbias.base.number_text import digits_text, p_text, percent_text, shown_name, visible
from bayesbias.base.results import DOUBTS, MOST_LINES, Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, facts_html, plain, rows_of
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.metrics.quantities import DrawnDirections, Quantity, posterior_along, quantity_posterior, value_of

LABELS = ("item", "part")
FIELDS = (
    *("measure", "study", "embedding", "statistics", "interval", "coverage", "lost_words", "conventions"),
    *("hdi_prob", "random_seed"),
)
"""What JSON holds of a result besides its statements, tables and settings; None where it does not apply."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeasureResult(Result):
    """Result of a measure of a study in an embedding, or of a whole embedding.

    Parameters
    ----------
    measure, embedding
        Names of the measure in `MEASURES` and of the embedding.
    statistics
        Numbers by name, the headline number first. Each is also an attribute, such as ``result.effect_size``.
    scores : pandas.DataFrame
        The scores behind the numbers. Of a study, one row per word, or per word and group, list or pair that it is
        compared with; columns that do not apply hold empty strings:

        - `word`; `group`: its protected group, or the one it is compared with; `attribute_group`: the same for
          attribute lists; `base_pair`; `score`.

        Of a whole embedding, one row per item (a word, a pair, a question, a split):

        - `item`: its label; `part`: the part that it belongs to; and its values in the embedding.
    conventions
        Choices behind the numbers: divisors, sides, signs. Results are comparable only if they are the same.
    study
        Name of the study. None: the measure is of a whole embedding.
    lost_words
        Words, or labels of items, that the embedding lacks, by list or kind of item; only those that lost any.
    estimates : pandas.DataFrame
        The numbers of a whole embedding with their intervals, one row per `quantity`; None: they have no intervals:

        - `value`, `hdi_low` to `hdi_high`: where directions are drawn (`along`), the median of the draws, which the
          interval always contains; elsewhere `observed`;
        - `observed`: the formula with equal weights; `items`: their number.
    hdi_prob
        Probability inside the intervals. None: there are none.
    random_seed
        Seed of the draws, and of splits and clusters if there are any. None: nothing is drawn.
    question
        Question that the measure answers, which leads its page.
    meaning
        What the sign of the headline number says of the words, in a clause; empty if the measure has no such sign.
    quantities
        Definition of each quantity in terms of the items (for `paired_change`).
    along
        Draws of the direction, if the intervals include its spread.

    Examples
    --------
    >>> result = MeasureResult(
    ...     measure="mac", statistics={"mac": 0.9, "similarity": 0.1}, scores=score_frame([0.9], word=["cat"]),
    ...     conventions="mean cosine distance", study="pets", embedding="tiny",
    ... )
    >>> result.similarity, result.value
    (0.1, 0.9)
    >>> result
    MeasureResult(measure='mac', study='pets', embedding='tiny', mac=0.9, similarity=0.1)
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = bb.metrics.vocabulary_direct_bias(path, random_seed=1)
    >>> round(result.direct_bias, 3), round(result.coverage, 3)
    (0.077, 1.0)
    """

    measure: str
    embedding: str
    statistics: Mapping[str, float]
    estimates: pd.DataFrame | None = None
    scores: pd.DataFrame
    conventions: str
    study: str | None = None
    lost_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hdi_prob: float | None = None
    random_seed: int | None = None
    question: str = ""
    meaning: str = ""
    quantities: tuple[Quantity, ...] = ()
    along: DrawnDirections | None = None

    @property
    def value(self) -> float:
        """The headline number, which is the first of the statistics."""
        return next(iter(self.statistics.values()))

    @property
    def p_value(self) -> float | None:
        """The one-sided p-value, if the measure has one."""
        return self.statistics.get("p_value")

    @property
    def interval(self) -> tuple[float, float] | None:
        """The lower and upper end of the headline number's interval, if it has one."""
        if self.estimates is None:
            return None
        return float(self.estimates["hdi_low"].iloc[0]), float(self.estimates["hdi_high"].iloc[0])

    @property
    def coverage(self) -> float | None:
        """The share of the requested items of a whole embedding that it has."""
        if self.study is not None:
            return None
        return len(self.scores) / (len(self.scores) + sum(map(len, self.lost_words.values())))

    def __getattr__(self, name: str) -> float:
        # Called for names that are not fields. While a copy is being made, it has no statistics.
        statistics = self.__dict__.get("statistics", {})
        if name in statistics:
            number: float = statistics[name]
            return number
        names = (*self.__dict__, *statistics)
        measure = self.__dict__.get("measure", "this measure")
        hint = did_you_mean(name, names)
        raise AttributeError(f"The result of {measure} has no {name!r}{hint}. It has {name_some(names, 20)}.")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.statistics})

    def __repr__(self) -> str:
        names = [f"{name}={getattr(self, name)!r}" for name in ("measure", "study", "embedding") if getattr(self, name)]
        if self.interval is None or self.coverage is None:
            numbers = [f"{name}={_number(value)}" for name, value in self.statistics.items()]
        else:  # an embedding may have dozens of quantities
            low, high = map(digits_text, self.interval)
            numbers = [f"{next(iter(self.statistics))}={digits_text(self.value)}", f"interval=({low}, {high})"]
            numbers += [f"items={len(self.scores)}", f"coverage={digits_text(self.coverage)}"]
        return f"MeasureResult({', '.join([*names, *numbers])})"

    def __str__(self) -> str:
        numbers = self._numbers()
        width = max(map(len, numbers), default=0)
        lines = [f"{name:{width}}  {text}" for name, text in numbers.items()]
        answer = f"{self._claim} {self._estimate}".strip()
        doubts = [f"Beware: {doubt}" for doubt in self._doubts()]
        return visible("\n".join([*doubts, answer, "", self._title(), *lines, *self._notes()]))

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._numbers(), self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return statements, tables and settings as plain Python, for JSON, and the fields that are no frames."""
        return super().to_dict() | {name: plain(getattr(self, name)) for name in FIELDS}

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        values = [{"value": value} for value in self.statistics.values()]
        rows = values if self.estimates is None else rows_of(self.estimates)
        numbers = zip(self._numbers().items(), rows, strict=True)
        statements = tuple(Statement(name, f"{name}: {text}.", row) for (name, text), row in numbers)
        lost = tuple(Statement("lost words", text, {"words": dict(self.lost_words)}) for text in self._notes()[1:])
        answer = Statement("answer", f"{self._claim} {self._estimate}".strip())
        return (
            StatementList(DOUBTS, self._doubts()),
            StatementList("", (answer,), bulleted=False),
            StatementList("Numbers", statements),
            StatementList("Data and limits", lost),
        )

    @property
    def _claim(self) -> str:
        """The answer: what the sign of the headline number says, else the number."""
        if self.meaning:
            return f"{self.meaning[0].upper()}{self.meaning[1:]}, by {self.measure}."
        name, where = next(iter(self.statistics)), self.embedding
        if self.study is not None:
            where = f"{shown_name(self.study)} in {self.embedding}"
        text = f"the {shown_name(name)} of {where} is {digits_text(self.value)}"
        return f"The {text[4:]}." if name in self.measure else f"By {self.measure}, {text}."

    @property
    def _estimate(self) -> str:
        """The headline number with its interval or p-value; empty if the answer says it all."""
        name = next(iter(self.statistics)).replace("_", " ")
        if self.interval is not None:
            low, high = map(digits_text, self.interval)
            return f"{percent_text(self.hdi_prob or HDI_PROB)} interval {low} to {high}."
        number = f"{name[0].upper()}{name[1:]} {digits_text(self.value)}" if self.meaning else ""
        p = "" if self.p_value is None else f"one-sided {p_text(self.p_value)}"
        return f"{', '.join(filter(None, [number, p]))}." if number or p else ""

    @property
    def contents(self) -> Contents:
        """The numbers, and the scores behind them without empty columns."""
        filled = [name for name in map(str, self.scores) if name == "score" or (self.scores[name] != "").any()]
        contents = contents_of(
            replace(self, scores=self.scores[filled]),
            title=self.question or self._title(),
            about=f"{self._title()}. {self._lost}.",
            answer=self._claim,
            estimate=self._estimate,
            opened=("Numbers", "Estimates", "Scores"),
            figures=self._figures(),
            captions={
                "estimates": "Values, with their intervals and the numbers of items behind them",
                "scores": "Scores of words" if self.study is not None else "Items",
            },
            headings={name: name.replace("_", " ").capitalize() for name in filled},
        )
        # Numbers and lost words are no settings.
        settings = {name: text for name, text in contents.settings.items() if ":" not in name}
        return replace(contents, settings=settings)

    def _doubts(self) -> tuple[Statement, ...]:
        """Return the doubt that lists lost so many words that what is left may be another question."""
        lists, places = [], [place for place in ("group", "attribute_group") if place in self.scores]
        for name, words in self.lost_words.items() if self.study is not None else ():
            left = self.scores.loc[(self.scores[places] == name).any(axis=1), "word"]
            lists.append(WordList(name, left.nunique() + len(words), words, limited=not left.empty))
        return tuple(fact.advised(advice) for fact, advice in many_lost_words(lists))

    @property
    def _lost(self) -> str:
        """How many words or items the embedding lacks, and the share of them where it is known."""
        count = sum(map(len, self.lost_words.values()))
        if not count:
            return "Nothing lost"
        share = "" if self.coverage is None else f" ({percent_text(1 - self.coverage)})"
        lists = ", ".join(f"{len(words)} of {name}" for name, words in self.lost_words.items())
        return f"Lost: {count:,}{share}: {lists}"

    def _figures(self) -> dict[str, ResultFigure]:
        """Return a forest of the numbers with intervals, or of the words with the lowest and highest scores."""
        if self.estimates is not None:
            rows = self.estimates.assign(
                label=self.estimates["quantity"].str.replace("_", " "), mean=self.estimates["value"]
            )
            caption = f"Values (points) with {percent_text(self.hdi_prob or HDI_PROB)} intervals (lines)."
            return {"values": forest_figure(caption, rows.assign(filled=True), label="Value")}
        places = [name for name in ("group", "attribute_group") if name in self.scores and any(self.scores[name])]
        means = self.scores.groupby(["word", *places[:1]], sort=False)["score"].mean().reset_index()
        means = means.sort_values("score", kind="stable", ignore_index=True)
        half = MOST_LINES // 2
        order = [*range(half), *range(len(means) - half, len(means)), *range(half, len(means) - half)]
        means = means.loc[order] if len(means) > MOST_LINES else means
        rows = means.assign(
            label=[" ".join([row["word"], *(f"({row[place]})" for place in places[:1])]) for row in rows_of(means)],
            mean=means["score"],
            hdi_low=np.nan,
            hdi_high=np.nan,
            filled=False,
        )
        cut = ", the lowest and the highest" if len(rows) > MOST_LINES else ""
        return {"scores": forest_figure(f"Scores of single words{cut}, without intervals.", rows, label="Score")}

    def _title(self) -> str:
        if self.study is not None:
            return f"{self.measure} of {shown_name(self.study)} in {self.embedding}"
        return f"{self.measure} of {self.embedding} ({percent_text(self.hdi_prob or HDI_PROB)} HPDI)"

    def _numbers(self) -> dict[str, str]:
        if self.estimates is None:
            return {name: _number(value) for name, value in self.statistics.items()}
        return {
            row["quantity"]: "{} ({} to {}), {:,} items".format(
                *(digits_text(row[name]) for name in ("value", "hdi_low", "hdi_high")), row["items"]
            )
            for row in rows_of(self.estimates)
        }

    def _notes(self) -> list[str]:
        lost = "; ".join(f"{name_some(words)} (of {name})" for name, words in self.lost_words.items())
        return [f"Conventions: {self.conventions}.", *([f"Lost words: {lost}."] if lost else [])]


def score_frame(scores: ArrayLike, **labels: Any) -> pd.DataFrame:
    """Return scores of single words as a frame with one row per score; scores with more axes are flattened.

    `labels` are `word` and those of `group`, `attribute_group` and `base_pair` that apply: one label per row, or one
    label for all rows.

    >>> score_frame([0.3, -0.1], word=["cat", "dog"], group="pets")
      word group attribute_group base_pair  score
    0  cat  pets                              0.3
    1  dog  pets                             -0.1
    """
    values = np.ravel(scores)
    columns = dict.fromkeys(("word", "group", "attribute_group", "base_pair"), "") | labels
    # Building the frame from full columns takes half the time of broadcasting single strings.
    whole = {name: [label] * len(values) if isinstance(label, str) else label for name, label in columns.items()}
    return pd.DataFrame({**whole, "score": values})


def group_means(scores: pd.DataFrame) -> dict[str, float]:
    """Return the mean of scores, the mean of their absolute values and, for several groups, the mean of each group.

    >>> group_means(score_frame([0.5, -0.25], word=["cat", "dog"], group=["cats", "dogs"]))
    {'mean': 0.125, 'mean_absolute': 0.375, 'mean_of_cats': 0.5, 'mean_of_dogs': -0.25}
    """
    values = scores["score"]
    means = {"mean": float(values.mean()), "mean_absolute": float(values.abs().mean())}
    by_group = values.groupby(scores["group"], sort=False).mean()
    return means | ({f"mean_of_{name}": float(mean) for name, mean in by_group.items()} if len(by_group) > 1 else {})


@dataclass(frozen=True, eq=False)
class Items:
    """Items of a score.

    - `frame`: one row an item, with the columns `item` and, if there are parts, `part`; repeated labels are numbered.
    - `lost`: labels of the items of which the embedding lacks a word, by kind of item.
    - `along`: draws of a direction, with the items in the same order; then all quantities are means along it.
    """

    frame: pd.DataFrame
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    along: DrawnDirections | None = None


def result_of_items(
    measure: str,
    embedding: str,
    scored: Items,
    quantities: Sequence[Quantity],
    *,
    question: str,
    conventions: str,
    random_seed: int,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    """Return the result of a whole embedding from its items: the value and the interval of each quantity.

    Along draws of a direction, the value is the median of the draws: the formula with equal weights can lie outside the
    interval of draws that disagree.
    """
    items, along = scored.frame, scored.along
    labelled = items if "part" in items else items.assign(part="")
    labelled = labelled.assign(item=_numbered(labelled))
    labelled = labelled[[*LABELS, *(name for name in labelled if name not in LABELS)]].reset_index(drop=True)
    rows = []
    for quantity in quantities:
        chosen = rows_of_quantity(quantity, labelled)
        columns = columns_of(quantity, chosen)
        random = np.random.default_rng(random_seed)
        if along is None:
            draws = quantity_posterior(quantity, columns, None, random, labels=labels_of(quantity, chosen))
        else:
            draws = posterior_along(quantity, along, random)
        low, high = shortest_interval(draws, check_probability("hdi_prob", hdi_prob))
        observed_value = value_of(quantity, columns)
        value = observed_value if along is None else float(np.median(draws))
        rows.append((quantity.name, value, low, high, observed_value, len(chosen)))
    return MeasureResult(
        measure=measure,
        embedding=embedding,
        statistics={name: value for name, value, *_ in rows},
        scores=labelled,
        estimates=pd.DataFrame(rows, columns=["quantity", "value", "hdi_low", "hdi_high", "observed", "items"]),
        question=question,
        conventions=conventions,
        random_seed=random_seed,
        hdi_prob=hdi_prob,
        lost_words={kind: tuple(labels) for kind, labels in scored.lost.items() if len(labels)},
        quantities=tuple(quantities),
        along=along,
    )


def in_parts(quantity: Quantity, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether a quantity uses each item."""
    if quantity.parts is None:
        return np.ones(len(items), dtype=bool)
    return items["part"].isin(quantity.parts).to_numpy()


def rows_of_quantity(quantity: Quantity, items: pd.DataFrame) -> pd.DataFrame:
    """Return the items that a quantity uses, or raise `MeasureError` if there are fewer than two."""
    chosen = items[in_parts(quantity, items)]
    if len(chosen) < 2:
        raise MeasureError(
            f"{quantity.name} has {len(chosen)} items left, but at least 2 are needed. Add items, or give an embedding "
            "that has their words."
        )
    return chosen


def columns_of(quantity: Quantity, items: pd.DataFrame) -> Floats:
    """Return the columns that a quantity takes as float64, of shape (columns, items)."""
    return np.stack([items[name].to_numpy(dtype=np.float64) for name in quantity.columns])


def labels_of(quantity: Quantity, items: pd.DataFrame) -> NDArray[np.integer] | None:
    """Return numbers of the labels that items share, of shape (crossed columns, items), or None if they share none.

    A label has the same number in all columns.
    """
    if not quantity.crossed:
        return None
    stacked = np.concatenate([items[name].to_numpy(dtype=object) for name in quantity.crossed])
    return pd.factorize(stacked)[0].reshape(len(quantity.crossed), -1)


def _numbered(items: pd.DataFrame) -> "pd.Series[str]":
    """Return the labels of items, with a number added to repeated labels of a part."""
    number = items.groupby(list(LABELS), sort=False).cumcount()
    if not number.any():
        return items["item"]
    return items["item"].where(number == 0, items["item"] + " (" + (number + 1).astype(str) + ")")


def _number(value: float) -> str:
    """Return a number as text, with six significant digits unless it is whole."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"

"""`Projection`: where words lie on axes of opposite words, as a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, resolve_seed
from bayesbias.base.number_text import correlation_text, counted, digits_text, p_text, percent_text, visible
from bayesbias.base.results import (
    DOUBTS,
    LIMITS,
    MOST_LINES,
    NO_PROOF,
    Contents,
    Result,
    ResultFigure,
    ResultTable,
    call_options,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.dependence import error_factor
from bayesbias.estimates.intervals import is_settled, mark
from bayesbias.metrics.directions.word_scores import Pairs, bundled_base_pairs, load_base_pairs, pair_label

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


MOST_DRAWN = 60
"""Largest number of words that a figure names."""
_MOST_NAMED = 8
_EXTREME = 6.0  # kurtosis of ratings beyond which a few words decide a correlation


@dataclass(frozen=True, eq=False, repr=False)
class Projection(Result):
    """Words on axes, from `bayesbias.project`. `print` shows which words lie on which side.

    Parameters
    ----------
    words : pandas.DataFrame
        One row for each `axis` and `word`, with its `list`:

        - `mean`, `hdi_low` to `hdi_high`: the projection, the mean cosine of the word with the difference of a pair,
          positive towards the first words of the pairs;
        - `pair_se`: its standard error over pairs; `probability_of_direction`;
        - `cosine`, `cosine_low` to `cosine_high`: the cosine with the axis of all pairs like these, missing if the
          pairs do not agree.
    pairs : pandas.DataFrame
        One row for each `axis` and `base_pair`:

        - `pair_share`: its share in the squared length of the mean difference;
        - `mean`, `hdi_low` to `hdi_high`: the mean cosine of its difference with that of another pair.
    axes : pandas.DataFrame
        One row for each `axis`:

        - `pairs`: their number; `worth`: the number of independent pairs that they are worth;
        - `mean`, `hdi_low` to `hdi_high`: the mean cosine between the differences of two pairs;
        - `p_value`: that of an agreement so large if the order of the words in a pair meant nothing; `pairs_agree`:
          whether it is at most 1 - `hdi_prob`.
    angles : pandas.DataFrame
        One row for every two axes, `first` and `second`, whose pairs agree: `mean` with `hdi_low` to `hdi_high`, the
        cosine between the axes.
    ratings : pandas.DataFrame
        One row for each `axis` and `rating`:

        - `words`: their number; `kurtosis`: that of the ratings;
        - `correlation`, `correlation_low` to `correlation_high`: of the axis of all pairs like these with ratings of
          all words like these;
        - `observed_correlation`, `rank_correlation`: of the projections, the second with its interval over words.
    scores
        Cosine of each word with the difference of each pair, by axis: arrays of shape (words, pairs).
    base_pairs
        Pairs of each axis that the embedding has.
    near_copies
        Positions of pairs that are near-copies of each other, in clusters, by axis.
    lost_words
        Words and pairs that the embedding lacks, by list.
    embedding, study
        Names of the embedding and of the study or list of words.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the test whether the pairs agree.
    """

    words: "pd.DataFrame"
    pairs: "pd.DataFrame"
    axes: "pd.DataFrame"
    angles: "pd.DataFrame"
    ratings: "pd.DataFrame"
    scores: Mapping[str, Floats]
    base_pairs: Mapping[str, Pairs]
    near_copies: Mapping[str, tuple[tuple[int, ...], ...]]
    lost_words: Mapping[str, tuple[str, ...]]
    embedding: str
    study: str
    hdi_prob: float
    random_seed: int

    def __repr__(self) -> str:
        axes = visible(", ".join(self.scores))
        return f"Projection({counted(self.words['word'].nunique(), 'word')}, axes {axes})"

    def draws(self, axis: str, *, draws: int = 1000, random_seed: int | None = None) -> "xr.DataArray":
        """Return draws of the projections of all words on an axis, which share the error of the pairs.

        Parameters
        ----------
        axis
            Name of the axis.
        draws
            Number of draws.
        random_seed
            Seed of the draws. None: drawn, and recorded in the attributes.

        Returns
        -------
        xarray.DataArray
            Of dims `chain`, `draw` and `word`: the mean of all pairs like these under a flat prior, multivariate
            Student t with as many degrees of freedom as the pairs are worth, less 1. The difference of two words is the
            difference of their draws.

        Raises
        ------
        ArgumentError
            If there is no such axis, or an argument is not usable.
        """
        import xarray as xr

        scores = self.scores[check_choice("axis", axis, self.scores)]
        seed, count, pairs = resolve_seed(random_seed), check_count("draws", draws), scores.shape[1]
        rng = np.random.default_rng(seed)
        worth = float(self.axes.loc[self.axes["axis"] == axis, "worth"].iloc[0])
        freedom, factor = worth - 1, error_factor(pairs, pairs / worth)
        widths = factor * np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1)) / (pairs * (pairs - 1)))
        normal = rng.standard_normal((count, pairs))
        weights = 1 / pairs + widths * (normal - normal.mean(axis=1, keepdims=True))
        values = weights @ scores.T
        words = self.words.loc[self.words["axis"] == axis, "word"].tolist()
        coords = {"word": words}
        return xr.DataArray(values[np.newaxis], coords, ("chain", "draw", "word"), axis, {"random_seed": seed})

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        apart = [row for row in rows_of(self.axes) if not row["pairs_agree"]]
        doubts = [*map(self._disagreement, apart), *self._copies(), *self._own_words(), *self._shared_words()]
        doubts += [*self._shared_pairs(), *self._extreme_ratings()]
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList(DOUBTS, tuple(doubts)),
            StatementList("Do the pairs name one axis?", tuple(map(self._agreement, rows_of(self.axes)))),
            StatementList("Where the words lie", tuple(map(self._sides, self.scores))),
            StatementList("Axes together", tuple(map(self._angle, rows_of(self.angles)))),
            StatementList("Against ratings", tuple(map(self._rating, rows_of(self.ratings)))),
            StatementList(LIMITS, self._limits(), detail=True),
        )

    @cached_property
    def contents(self) -> Contents:
        """The words on each axis, the axes and their pairs, and how to repeat it."""
        prob = percent_text(self.hdi_prob)
        names = list(self.scores)
        doubt_statements = tuple(text for part in self.parts if part.title == DOUBTS for text in part.statements)
        parts = tuple(part for part in self.parts if part.title not in ("", DOUBTS, LIMITS))
        lost = tuple(Statement("lost", f"{name}: {name_some(words, 20)}.") for name, words in self.lost_words.items())
        figures = {f"axis_{place}": self._figure(name, MOST_LINES) for place, name in enumerate(names, 1)}
        if len(self._rows(names[0])) > MOST_LINES:
            figures["axis_1_all"] = self._figure(names[0], MOST_DRAWN)
        if len(names) > 1:
            figures["axes_map"] = ResultFigure(
                "plot_axes_map",
                f"Projections on the first two axes, with {prob} intervals over pairs (crosses).",
                section="Two axes as a map",
            )
        tables = {
            "axes": ResultTable(
                self.axes,
                "Axes",
                f"Agreement of the pairs of each axis: mean cosine between the differences of two pairs, {prob} "
                "interval, and its p-value if the order of the words in a pair meant nothing",
                differences=True,
            ),
            "words": ResultTable(
                self.words,
                "Words",
                f"Projections: mean cosine with the difference of a pair, {prob} interval over pairs; cosine with the "
                "axis of all pairs like these",
                differences=True,
                mark=self._mark,
            ),
            "pairs": ResultTable(
                self.pairs,
                "Pairs",
                f"Share of each pair in the axis, and mean cosine of its difference with that of another pair, {prob} "
                "interval",
                differences=True,
            ),
        }
        if len(self.angles):
            tables["angles"] = ResultTable(
                self.angles, "Angles between axes", f"Cosine between two axes, {prob} interval", differences=True
            )
        if len(self.ratings):
            tables["ratings"] = ResultTable(
                self.ratings,
                "Ratings",
                f"Correlation with ratings, {prob} intervals: of the axis of all pairs like these, over pairs and "
                "words; of the projections as they are; and of ranks, over words",
                differences=True,
            )
        return Contents(
            title=f"Where do words lie on the {'axis' if len(names) == 1 else 'axes'} {', '.join(names)}?",
            about=f"{counted(self.words['word'].nunique(), 'word')} in {self.embedding}.",
            answer=self._claim,
            estimate=self._estimate,
            opened=("Where the words lie", "Against ratings", "Words"),
            doubts=doubt_statements,
            parts=(*parts, *((StatementList("Lost words", lost),) if lost else ())),
            tables=tables,
            figures=figures,
            limits=self._limits(),
            settings={
                "Embedding": self.embedding,
                "Words": self.study,
                "Pairs": "; ".join(f"{name}: {len(axis_pairs)}" for name, axis_pairs in self.base_pairs.items()),
                "Interval": f"{prob}, Student's over pairs",
                "Random seed": str(self.random_seed),
            },
            code=f"projection = bb.project(VECTORS, WORDS, {self._pairs_text()}"
            f"{', ratings=RATINGS' if len(self.ratings) else ''}"
            f"{call_options(hdi_prob=(self.hdi_prob, HDI_PROB))}, random_seed={self.random_seed})\n"
            'bb.write(projection, "axes.html")',
        )

    def _rows(self, axis: str) -> "pd.DataFrame":
        """Return the rows of the words on an axis, from its second side to its first."""
        return self.words[self.words["axis"] == axis].sort_values("mean", kind="stable")

    def _mark(self, row: Mapping[str, Any]) -> str:
        first, second = self.base_pairs[row["axis"]][0]
        return mark(row, below=second, above=first)

    def _figure(self, axis: str, most: int) -> ResultFigure:
        """Return the figure of at most `most` words of an axis, those at its ends."""
        count = len(self._rows(axis))
        cut = f" {most} of {count:,} words are shown, those farthest out; the table has all." if count > most else ""
        first, second = self.base_pairs[axis][0]
        return ResultFigure(
            "plot_axis",
            f"Words on the axis {axis}: mean cosine with the difference of a pair (points), and "
            f"{percent_text(self.hdi_prob)} intervals over pairs (lines). To the right: nearer to {first} (circles, "
            f"blue if settled). To the left: nearer to {second} (squares, orange if settled). Hollow and grey: not "
            f"settled.{cut}",
            options={"axis": axis, "most": most},
            section="Words" if axis == next(iter(self.scores)) else f"Words on the axis {axis}",
        )

    @property
    def _answer(self) -> Statement:
        return Statement("answer", " ".join(filter(None, (self._claim, self._estimate))), self._first)

    @property
    def _first(self) -> dict[str, Any]:
        """The numbers of the answer: the first correlation with ratings, else how many words lie on each side."""
        return rows_of(self.ratings)[0] if len(self.ratings) else dict(self._sides(next(iter(self.scores))).numbers)

    @property
    def _claim(self) -> str:
        """The answer on the first axis: whether it agrees with ratings, else where the words lie."""
        axis, row = next(iter(self.scores)), self._first
        first, second = self.base_pairs[axis][0]
        if not len(self.ratings):
            return (
                f"Of {counted(row['words'], 'word')}, {row['first_side']} lie nearer to {first}, {row['second_side']} "
                f"nearer to {second}, and {row['words'] - row['first_side'] - row['second_side']} are not settled."
            )
        if not np.isfinite(row["correlation_low"]):
            return f"The pairs do not show how words with a larger {row['rating']} lie between {second} and {first}."
        if not is_settled(row["correlation_low"], row["correlation_high"]):
            return f"Whether words with a larger {row['rating']} lie nearer to {first} or to {second} is not settled."
        return f"Words with a larger {row['rating']} lie nearer to {first if row['correlation'] > 0 else second}."

    @property
    def _estimate(self) -> str:
        axis, row, prob = next(iter(self.scores)), self._first, percent_text(self.hdi_prob)
        if len(self.ratings):
            if not np.isfinite(row["correlation_low"]):
                return ""
            value, low, high = (correlation_text(row[f"correlation{end}"]) for end in ("", "_low", "_high"))
            return f"Correlation {value} over {counted(row['words'], 'word')}, {prob} interval {low} to {high}."
        paired = {word for pair in self.base_pairs[axis] for word in pair}
        rows = [
            side
            for side in rows_of(self._rows(axis))
            if side["word"] not in paired and is_settled(side["hdi_low"], side["hdi_high"])
        ]
        ends = dict.fromkeys(f"{side['word']} at {_cosine_text(side)}" for side in rows[-1:] + rows[:1])
        return (
            f"Farthest out: {' and '.join(ends)}; mean cosine with the difference of a pair, {prob} interval."
            if rows
            else ""
        )

    def _pairs_text(self) -> str:
        """Return the argument of the pairs: names of bundled ones, or a placeholder for others."""
        bundled_names = bundled_base_pairs()
        are_bundled = all(
            name in bundled_names and set(axis_pairs) <= set(load_base_pairs(name))
            for name, axis_pairs in self.base_pairs.items()
        )
        return repr(list(self.base_pairs)) if are_bundled else "PAIRS"

    def _agreement(self, row: Mapping[str, Any]) -> Statement:
        pairs = self.pairs[self.pairs["axis"] == row["axis"]]
        apart = pairs.loc[pairs["hdi_low"] <= 0, "base_pair"].tolist()
        worth = f" (worth {digits_text(row['worth'])} independent ones)" if row["worth"] < row["pairs"] else ""
        claim = "" if row["pairs_agree"] else "nothing shows that "
        text = (
            f"{row['axis']}: {claim}the {row['pairs']} pairs{worth} agree on one axis. The mean cosine between the "
            f"differences of two pairs is {_cosine_text(row)}; against pairs whose words are in random order, "
            f"{p_text(row['p_value'])}."
        )
        if row["pairs_agree"] and apart:
            text += (
                f" Of single pairs, {name_some(apart, _MOST_NAMED)} {_verb(apart)} not shown to agree with the others."
            )
        return Statement("agreement", text, row)

    def _disagreement(self, row: Mapping[str, Any]) -> Statement:
        return Statement(
            "no axis",
            f"Nothing shows that the {counted(row['pairs'], 'pair')} of {row['axis']} name one axis"
            + ("; so few pairs cannot show it" if 2.0 ** (1 - row["pairs"]) > 1 - self.hdi_prob else "")
            + ". Cosines with the axis are therefore left out. The projections below are means over pairs that may "
            "differ in meaning.",
            row,
        )

    def _copies(self) -> list[Statement]:
        """Name the pairs that are near-copies of each other, and what the pairs of their axis are worth."""
        statements = []
        for row in rows_of(self.axes):
            name = row["axis"]
            named = [
                " with ".join(pair_label(self.base_pairs[name][place]) for place in copies)
                for copies in self.near_copies.get(name, ())
            ]
            if named:
                text = (
                    f"Near-copies among the pairs of {name}: {name_some(named, _MOST_NAMED)}. "
                    f"The intervals count the {row['pairs']} pairs as {digits_text(row['worth'])} independent ones."
                )
                statements.append(Statement("near-copies", text, {"axis": name, "worth": row["worth"]}))
        return statements

    def _own_words(self) -> list[Statement]:
        """Name the words that belong to a pair of the axis that they are projected on."""
        statements = []
        words = set(self.words["word"])
        for name, axis_pairs in self.base_pairs.items():
            if shared := sorted(words & {word for pair in axis_pairs for word in pair}):
                text = (
                    f"{name_some(shared, _MOST_NAMED)} {_verb(shared)} in the pairs of {name}, and {_lie(shared)} far "
                    f"out for this reason alone. Leave {'it' if len(shared) == 1 else 'them'} out of the words or of "
                    "the pairs."
                )
                statements.append(Statement("words in pairs", text, {"axis": name, "words": tuple(shared)}))
        return statements

    def _shared_words(self) -> list[Statement]:
        """Name the words that are in several pairs of an axis; such pairs are not an independent sample."""
        statements = []
        for name, axis_pairs in self.base_pairs.items():
            listed = [word for pair in axis_pairs for word in pair]
            if repeated := sorted({word for word in listed if listed.count(word) > 1}):
                text = (
                    f"{name_some(repeated, _MOST_NAMED)} {_verb(repeated)} in several pairs "
                    f"of {name}. Such pairs agree because of the word that they share, so the intervals are somewhat "
                    "too narrow."
                )
                statements.append(Statement("shared words", text, {"axis": name, "words": tuple(repeated)}))
        return statements

    def _shared_pairs(self) -> list[Statement]:
        """Name axes that share pairs; the cosine between them holds that of a pair with itself."""
        statements = []
        for first, second in combinations(self.base_pairs, 2):
            pairs, others = ({frozenset(pair) for pair in self.base_pairs[name]} for name in (first, second))
            if pairs & others:
                text = (
                    f"{first} and {second} share {counted(len(pairs & others), 'pair')}, so the cosine between them is "
                    "too near to 1 or -1. Give each axis pairs of its own."
                )
                statements.append(Statement("shared pairs", text, {"axes": (first, second)}))
        return statements

    def _extreme_ratings(self) -> list[Statement]:
        """Name ratings of which a few words decide the correlation."""
        axis = next(iter(self.scores))
        return [
            Statement(
                "extreme ratings",
                f"A few words with extreme values decide the correlation with {row['rating']} (kurtosis "
                f"{digits_text(row['kurtosis'])}; 3 if ratings are Normal), and its interval may be too narrow. Take "
                "the logarithm of the ratings, or report rank_correlation.",
                {"rating": row["rating"], "kurtosis": row["kurtosis"]},
            )
            for row in rows_of(self.ratings)
            if row["axis"] == axis and row["kurtosis"] > _EXTREME
        ]

    def _sides(self, axis: str) -> Statement:
        rows = self.words[self.words["axis"] == axis].sort_values("mean")
        clear = np.array([is_settled(low, high) for low, high in zip(rows["hdi_low"], rows["hdi_high"], strict=True)])
        pair = self.base_pairs[axis][0]
        low_words = rows.loc[clear & (rows["mean"] < 0), "word"].tolist()
        high_words = rows.loc[clear & (rows["mean"] > 0), "word"].tolist()[::-1]
        sides = [
            f"{len(words)} on the side of {pole}{f' (farthest: {", ".join(words[:5])})' if words else ''}"
            for words, pole in ((high_words, pair[0]), (low_words, pair[1]))
        ]
        text = (
            f"{axis}: of {counted(len(rows), 'word')}, {', '.join(sides)}, and {int((~clear).sum())} not settled. By "
            f"chance alone, about {percent_text(1 - self.hdi_prob)} of words would be placed on a side."
        )
        numbers = {"axis": axis, "words": len(rows), "first_side": len(high_words), "second_side": len(low_words)}
        return Statement("sides", text, numbers)

    def _angle(self, row: Mapping[str, Any]) -> Statement:
        return Statement(
            "angle",
            f"The cosine between the axes {row['first']} and {row['second']} is {_cosine_text(row)}. "
            + (
                f"The first side of one is near the {'first' if row['mean'] > 0 else 'second'} side of the other."
                if is_settled(row["hdi_low"], row["hdi_high"])
                else "Its sign is not settled."
            ),
            row,
        )

    def _rating(self, row: Mapping[str, Any]) -> Statement:
        interval = f"{correlation_text(row['correlation_low'])} to {correlation_text(row['correlation_high'])}"
        first = (
            f"for pairs and words like these, the correlation over {counted(row['words'], 'word')} is "
            f"{correlation_text(row['correlation'])} ({interval})"
            if np.isfinite(row["correlation_low"])
            else "the pairs do not agree on how these words differ, so the correlation of their axis is undefined"
        )
        return Statement(
            "rating",
            f"{row['axis']} and {row['rating']}: {first}. The correlation of the projections themselves is "
            f"{correlation_text(row['observed_correlation'])}.",
            row,
        )

    def _limits(self) -> tuple[Statement, ...]:
        return (
            Statement(
                "limits",
                "What holds for other vectors. Intervals cover the choice of these pairs out of all that could name "
                "the axis. The vectors are treated as fixed: another training or corpus may differ more.",
            ),
            Statement(
                "limits",
                "Whether the axis means what its name says. Ratings of the same words show it best. Each interval is "
                "about one word alone.",
            ),
            Statement("bias", NO_PROOF),
        )


def _cosine_text(row: Mapping[str, Any]) -> str:
    mean, low, high = (correlation_text(row[name]) for name in ("mean", "hdi_low", "hdi_high"))
    return f"{mean} ({low} to {high})"


def _verb(words: Sequence[str]) -> str:
    return "are" if len(words) > 1 else "is"


def _lie(words: Sequence[str]) -> str:
    return "lie" if len(words) > 1 else "lies"


def axis_rows(projection: Projection, axis: str | None) -> "tuple[str, pd.DataFrame]":
    """Return the name of an axis, by default the first, and its rows of words; raise if there is no such axis."""
    name = next(iter(projection.scores)) if axis is None else check_choice("axis", axis, projection.scores)
    rows = projection.words[projection.words["axis"] == name]
    if rows.empty:
        raise ReportError(f"The axis {name!r} has no words to draw.")
    return name, rows

"""The result of a score of a whole embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.escapes import visible
from bayesbias.base.number_text import digits_text, percent_text
from bayesbias.base.statements import facts_html, plain, rows_of
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections, posterior_along
from bayesbias.metrics.embedding_scores.statistics import Quantity, posterior, value_of

LABELS = ("item", "part")


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingScore:
    """Score of a whole embedding, with the items from which it is computed.

    Parameters
    ----------
    measure
        Name of the measure in `EMBEDDING_MEASURES`.
    embedding
        Name of the embedding.
    estimates : pandas.DataFrame
        One row per quantity, the headline first: `quantity`; `value`, with its interval `hdi_low` to `hdi_high`;
        `plain`, the formula with equal weights; and the number of `items`. Where directions are drawn (`along`), the
        value is the median of the draws, which the interval always contains; elsewhere it is `plain`.
    items : pandas.DataFrame
        One row per item (a word, a pair, a question, a split): `item`, its label; `part`, the part that it belongs to;
        and its values in the embedding.
    lost
        Labels of the items of which the embedding lacks a word, by kind of item; only kinds that lost any.
    conventions
        Choices behind the numbers. Scores are comparable only if they are the same.
    random_seed
        Seed of the draws, and of splits and clusters if there are any.
    hdi_prob
        Probability inside the intervals.
    quantities
        Definition of each quantity in terms of the items (for `paired_change`).
    along
        Draws of the direction, if the intervals include its spread.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> score = bb.metrics.vocabulary_direct_bias(path, random_seed=1)
    >>> round(score.value, 3), round(score.coverage, 3)
    (0.077, 1.0)
    """

    measure: str
    embedding: str
    estimates: pd.DataFrame
    items: pd.DataFrame
    conventions: str
    random_seed: int
    hdi_prob: float
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    quantities: tuple[Quantity, ...] = ()
    along: DrawnDirections | None = None

    @property
    def value(self) -> float:
        """The headline number, which is the value of the first quantity."""
        return float(self.estimates["value"].iloc[0])

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and upper end of the headline number's interval."""
        return float(self.estimates["hdi_low"].iloc[0]), float(self.estimates["hdi_high"].iloc[0])

    @property
    def coverage(self) -> float:
        """The share of the requested items that the embedding has."""
        lost = sum(map(len, self.lost.values()))
        return len(self.items) / (len(self.items) + lost)

    def __repr__(self) -> str:
        low, high = map(digits_text, self.interval)
        return (
            f"EmbeddingScore(measure={self.measure!r}, embedding={self.embedding!r}, "
            f"{self.estimates['quantity'].iloc[0]}={digits_text(self.value)}, interval=({low}, {high}), "
            f"items={len(self.items)}, coverage={digits_text(self.coverage)})"
        )

    def __str__(self) -> str:
        facts = self._facts()
        width = max(map(len, facts))
        rows = [f"{name:{width}}  {text}" for name, text in facts.items()]
        return visible("\n".join([self._title(), *rows, *self._notes()]))

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._facts(), self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        names = ("measure", "embedding", "estimates", "items", "lost", "conventions", "random_seed", "hdi_prob")
        fields_by_name: dict[str, Any] = plain(
            {name: getattr(self, name) for name in names} | {"coverage": self.coverage}
        )
        return fields_by_name

    def _title(self) -> str:
        return f"{self.measure} of {self.embedding} ({percent_text(self.hdi_prob)} HPDI)"

    def _facts(self) -> dict[str, str]:
        return {
            row["quantity"]: f"{_number(row['value'])} ({_number(row['hdi_low'])} to {_number(row['hdi_high'])}), "
            f"{row['items']:,} items"
            for row in rows_of(self.estimates)
        }

    def _notes(self) -> list[str]:
        lost = "; ".join(f"{len(labels):,} {kind} ({name_some(labels, 5)})" for kind, labels in self.lost.items())
        return [f"Conventions: {self.conventions}.", *([f"Lost: {lost}."] if lost else [])]


@dataclass(frozen=True, eq=False)
class Items:
    """Items of a score.

    Parameters
    ----------
    frame
        One row an item, with the columns `item` and, if there are parts, `part`; repeated labels are numbered.
    lost
        Labels of the items of which the embedding lacks a word, by kind of item.
    along
        Draws of a direction, with the items in the same order; then all quantities are means along it.
    """

    frame: pd.DataFrame
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    along: DrawnDirections | None = None


def embedding_score(
    measure: str,
    embedding: str,
    scored: Items,
    quantities: Sequence[Quantity],
    *,
    conventions: str,
    random_seed: int,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    """Return the score of items: the value and the interval of each quantity.

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
            draws = posterior(quantity, columns, None, random, labels=labels_of(quantity, chosen))
        else:
            draws = posterior_along(quantity, along, random)
        low, high = shortest_interval(draws, check_probability("hdi_prob", hdi_prob))
        plain_value = value_of(quantity, columns)
        value = plain_value if along is None else float(np.median(draws))
        rows.append((quantity.name, value, low, high, plain_value, len(chosen)))
    return EmbeddingScore(
        measure=measure,
        embedding=embedding,
        estimates=pd.DataFrame(rows, columns=["quantity", "value", "hdi_low", "hdi_high", "plain", "items"]),
        items=labelled,
        conventions=conventions,
        random_seed=random_seed,
        hdi_prob=hdi_prob,
        lost={kind: tuple(labels) for kind, labels in scored.lost.items() if len(labels)},
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
    return f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.2e}"

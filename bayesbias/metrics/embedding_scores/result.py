"""What every score of a whole embedding returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.statements import digits_text, facts_html, percent_text, plain, rows_of
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections, posterior_along
from bayesbias.metrics.embedding_scores.statistics import Quantity, posterior, shortest_interval, value_of

LABELS = ("item", "part")


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingScore:
    """A score of a whole embedding, with the items that it is made of.

    Parameters
    ----------
    measure
        Its name in `EMBEDDING_MEASURES`.
    embedding
        Name of what was measured.
    estimates : pandas.DataFrame
        One row a quantity, the headline first: `quantity`, `value`, `hdi_low`, `hdi_high` and the number of `items`.
    items : pandas.DataFrame
        One row an item (a word, a pair, a question, a split): `item`, its label; `part`, what it belongs to; and what
        the embedding made of it.
    lost
        What was lost -> the labels of the items that the embedding lacks a word of; only kinds that lost any.
    conventions
        What the numbers leave open. Two scores can be compared if it is the same.
    random_seed
        Seed of the draws, and of splits and clusters where there are any.
    hdi_prob
        Probability inside the intervals.
    quantities
        How each quantity is made of the items (for `paired_change`).
    along
        Draws of the direction that it rests on, if they are in the intervals.

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
        """The headline number: the value of the first quantity."""
        return float(self.estimates["value"].iloc[0])

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the headline number, lowest and highest."""
        return float(self.estimates["hdi_low"].iloc[0]), float(self.estimates["hdi_high"].iloc[0])

    @property
    def coverage(self) -> float:
        """The share of the items that were asked for which the embedding has."""
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
        return "\n".join([self._title(), *(f"{name:{width}}  {text}" for name, text in facts.items()), *self._notes()])

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._facts(), self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        names = ("measure", "embedding", "estimates", "items", "lost", "conventions", "random_seed", "hdi_prob")
        found: dict[str, Any] = plain({name: getattr(self, name) for name in names} | {"coverage": self.coverage})
        return found

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


def embedding_score(
    measure: str,
    embedding: str,
    items: pd.DataFrame,
    quantities: Sequence[Quantity],
    *,
    conventions: str,
    random_seed: int,
    hdi_prob: float = HDI_PROB,
    lost: Mapping[str, Sequence[str]] | None = None,
    along: DrawnDirections | None = None,
) -> EmbeddingScore:
    """Return the score that items make: the value of each quantity, and its interval.

    `items` have the columns `item`, and `part` where there are parts; a label that comes twice is numbered. Where
    `along` holds draws of a direction, in the order of the items, all quantities are means along it.
    """
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
            draws = posterior_along(quantity, along, None, random)
        low, high = shortest_interval(draws, check_probability("hdi_prob", hdi_prob))
        rows.append((quantity.name, value_of(quantity, columns), low, high, len(chosen)))
    return EmbeddingScore(
        measure=measure,
        embedding=embedding,
        estimates=pd.DataFrame(rows, columns=["quantity", "value", "hdi_low", "hdi_high", "items"]),
        items=labelled,
        conventions=conventions,
        random_seed=random_seed,
        hdi_prob=hdi_prob,
        lost={kind: tuple(labels) for kind, labels in (lost or {}).items() if len(labels)},
        quantities=tuple(quantities),
        along=along,
    )


def of_part(quantity: Quantity, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which items a quantity is about."""
    if quantity.parts is None:
        return np.ones(len(items), dtype=bool)
    return items["part"].isin(quantity.parts).to_numpy()


def rows_of_quantity(quantity: Quantity, items: pd.DataFrame) -> pd.DataFrame:
    """Return the items that a quantity is about; raise `MeasureError` if there are fewer than two."""
    chosen = items[of_part(quantity, items)]
    if len(chosen) < 2:
        raise MeasureError(
            f"{quantity.name} has {len(chosen)} items left, but at least two are needed. Give more, or vectors that "
            "have their words."
        )
    return chosen


def columns_of(quantity: Quantity, items: pd.DataFrame) -> Floats:
    """Return the columns that a quantity takes: float64, of shape (columns, items)."""
    return np.stack([items[name].to_numpy(dtype=np.float64) for name in quantity.columns])


def labels_of(quantity: Quantity, items: pd.DataFrame) -> NDArray[np.integer] | None:
    """Return the numbers of the labels that items share, of shape (crossed columns, items); the same in all columns."""
    if not quantity.crossed:
        return None
    stacked = np.concatenate([items[name].to_numpy(dtype=object) for name in quantity.crossed])
    return pd.factorize(stacked)[0].reshape(len(quantity.crossed), -1)


def _numbered(items: pd.DataFrame) -> "pd.Series[str]":
    """Return the labels of items; of labels that a part has several times, the later ones with their number."""
    number = items.groupby(list(LABELS), sort=False).cumcount()
    if not number.any():
        return items["item"]
    return items["item"].where(number == 0, items["item"] + " (" + (number + 1).astype(str) + ")")


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.2e}"

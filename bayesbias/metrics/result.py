"""The result of a measure of a study in an embedding."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.escapes import visible
from bayesbias.base.statements import facts_html, plain
from bayesbias.errors import did_you_mean, name_some


@dataclass(frozen=True, eq=False, repr=False)
class MeasureResult:
    """Result of a measure of a study in an embedding.

    Parameters
    ----------
    measure
        Name of the measure, such as ``"weat"``.
    statistics
        Numbers by name, the headline number first. Each is also an attribute, such as ``result.p_value``.
    scores : pandas.DataFrame
        Scores of single words: `word`, `group` (the protected group of the word, or the one it is compared with),
        `attribute_group` (the same for attribute lists), `base_pair` and `score`. One row per word, or per word and
        group, list or pair that it is compared with; columns that do not apply hold empty strings.
    lost_words
        Words that the embedding lacks, by list; only lists that lost any.
    conventions
        Choices behind the numbers: divisors, sides, signs.
    study, embedding
        Names of the study and of the embedding.

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
    """

    measure: str
    statistics: Mapping[str, float]
    scores: pd.DataFrame
    conventions: str
    study: str
    embedding: str
    lost_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The headline number, which is the first of the statistics."""
        return next(iter(self.statistics.values()))

    def __getattr__(self, name: str) -> float:
        # Called for names that are not fields. A copy in the making has no statistics yet.
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
        numbers = ", ".join(f"{name}={_number(value)}" for name, value in self.statistics.items())
        return f"MeasureResult(measure={self.measure!r}, study={self.study!r}, embedding={self.embedding!r}, {numbers})"

    def __str__(self) -> str:
        width = max(map(len, self.statistics), default=0)
        lines = [f"{name:{width}}  {_number(value)}" for name, value in self.statistics.items()]
        return visible("\n".join([self._title(), *lines, *self._notes()]))

    def _repr_html_(self) -> str:
        numbers = {name: _number(value) for name, value in self.statistics.items()}
        return facts_html(self._title(), numbers, self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        fields_by_name: dict[str, Any] = plain(
            {own_field.name: getattr(self, own_field.name) for own_field in fields(self)}
        )
        return fields_by_name

    def _title(self) -> str:
        return f"{self.measure} of {self.study} in {self.embedding}"

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


def _number(value: float) -> str:
    """Return a number as text, with six significant digits unless it is whole."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"

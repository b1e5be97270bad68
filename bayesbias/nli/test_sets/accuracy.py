"""Accuracy of a model of inference, with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_probability
from bayesbias.base.statements import Described, Facts
from bayesbias.estimates.intervals import share_interval
from bayesbias.nli.test_sets.scores import LABELS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Accuracy(Described):
    """How often a model's most probable label is the right one.

    Parameters
    ----------
    accuracy
        Share of the pairs whose most probable label is the right one.
    hdi_low, hdi_high, hdi_prob
        Highest density interval of the accuracy on pairs like these, and its probability. The prior is flat, and pairs
        are treated as independent.
    pairs
        Number of pairs.
    largest_label
        Share of the most frequent label: the accuracy of a model that always answers it.
    counts
        Number of pairs by right label (rows) and the model's label (columns).
    """

    accuracy: float
    hdi_low: float
    hdi_high: float
    hdi_prob: float
    pairs: int
    largest_label: float
    counts: "pd.DataFrame"

    @property
    def _facts(self) -> Facts:
        return {
            "accuracy": f"{self.accuracy:.3f}",
            f"{self.hdi_prob:.0%} HPDI": f"{self.hdi_low:.3f} to {self.hdi_high:.3f}",
            "pairs": f"{self.pairs:,}",
            "largest_label": f"{self.largest_label:.3f}",
        }


def accuracy(answers: Floats, labels: Sequence[str], *, hdi_prob: float) -> Accuracy:
    """Return the accuracy of (pairs, 3) probabilities: how often the largest is that of the right label.

    >>> accuracy(np.eye(3)[[0, 0, 1]], ["neutral", "neutral", "contradiction"], hdi_prob=0.89)
    Accuracy(accuracy='0.667', 89% HPDI='0.297 to 0.928', pairs='3', largest_label='0.667')
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    right = np.array([LABELS.index(label) for label in labels])
    answered = answers.argmax(axis=1)
    counts = np.zeros((len(LABELS), len(LABELS)), dtype=int)
    np.add.at(counts, (right, answered), 1)
    hits = int(np.trace(counts))
    low, high = share_interval(hits, len(right), hdi_prob)
    names = [pd.Index(LABELS, name=name) for name in ("right", "answered")]
    frame = pd.DataFrame(counts, index=names[0], columns=names[1])
    return Accuracy(
        hits / len(right), low, high, hdi_prob, len(right), float(counts.sum(axis=1).max() / len(right)), frame
    )

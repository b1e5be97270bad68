"""How often a model's most probable label is the right one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_probability
from bayesbias.base.statements import Described, Facts
from bayesbias.nli.test_sets.scores import LABELS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Accuracy(Described):
    """How often a model's most probable label is the right one.

    Parameters
    ----------
    accuracy
        Share of the pairs.
    hdi_low, hdi_high, hdi_prob
        The highest-density interval of the accuracy on pairs like these, were they independent, with a flat prior.
    pairs
        How many there are.
    largest_label
        Share of the most frequent label: what a model is right in that always says this one.
    counts
        Pairs by right label (rows) and the model's (columns).
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
    """Return how often the largest of (pairs, 3) probabilities is that of the right label.

    >>> accuracy(np.eye(3)[[0, 0, 1]], ["neutral", "neutral", "contradiction"], hdi_prob=0.89)
    Accuracy(accuracy='0.667', 89% HPDI='0.297 to 0.928', pairs='3', largest_label='0.667')
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    right = np.array([LABELS.index(label) for label in labels])
    said = answers.argmax(axis=1)
    counts = np.zeros((len(LABELS), len(LABELS)), dtype=int)
    np.add.at(counts, (right, said), 1)
    hits = int(np.trace(counts))
    low, high = share_interval(hits, len(right), hdi_prob)
    names = [pd.Index(LABELS, name=name) for name in ("right", "answered")]
    frame = pd.DataFrame(counts, index=names[0], columns=names[1])
    return Accuracy(
        hits / len(right), low, high, hdi_prob, len(right), float(counts.sum(axis=1).max() / len(right)), frame
    )


def share_interval(hits: int, trials: int, hdi_prob: float) -> tuple[float, float]:
    """Return the highest-density interval of a share with a flat prior: the shortest of its probability.

    >>> [round(end, 3) for end in share_interval(5, 5, 0.5)]
    [0.891, 1.0]
    """
    from scipy.optimize import minimize_scalar
    from scipy.stats import beta

    found = beta(hits + 1, trials - hits + 1)
    rest = 1 - hdi_prob
    if hits in (0, trials):
        below = 0.0 if hits == 0 else rest
    else:
        below = float(
            minimize_scalar(
                lambda each: found.ppf(each + hdi_prob) - found.ppf(each), bounds=(0, rest), method="bounded"
            ).x
        )
    return float(found.ppf(below)), float(found.ppf(below + hdi_prob))

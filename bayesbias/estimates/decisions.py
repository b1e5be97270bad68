"""Of several settled effects, how many are expected to be none, or to have the other sign; and which to decide on.

An 89 % interval is right for the one question that was asked. Of many intervals, some exclude 0 by chance; how many of
those that do are wrong depends on how many effects there are, which the family of questions shows. This is adaptive
shrinkage (Stephens 2017) of z, found from the probability of each sign. A share of the effects is 0, and the others are
Normal around 0; z has an error that is somewhat smaller than 1, since intervals are rather too wide than too narrow
(`validation/real_contrasts`). The share and both standard deviations are not estimated but averaged over, because a
small family says little about them. A settled question is decided if the decided ones have a mean probability of being
wrong of at most `DECISION_RATE`, or by the rule of Benjamini and Hochberg (1995), which has more power in small
families. `validation/decisions` says how often both are right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some

if TYPE_CHECKING:
    import pandas as pd

DECISION_RATE = 0.1
"""Expected share of wrong decisions among those that are taken."""
_SHARES = (np.arange(40) + 0.5)[:, None, None, None] / 40  # of questions without an effect
_ERRORS = np.array([0.85, 0.925, 1.0])[:, None, None]  # of z
_SDS = np.geomspace(1.0, 16.0, 25)[:, None]  # of effects, in the unit of z
_SAMPLES, _BLOCK = 4_000, 1_000
FEWEST_TOGETHER = 5
"""Number of questions of which a sentence says how many are wrong: fewer do not show how common effects are."""
_AT_ONCE = "Often several are wrong at once, because they share words."
_SURE = 1e-9  # smallest probability of the other sign: no finite number of draws shows less


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a family of questions says about each of them.

    - `wrong`: probability that an effect is 0 or has the other sign (the local false sign rate), shape (questions,).
    - `decided`: whether a question is settled, and among those that are decided at `DECISION_RATE`.
    - `expected`, `low`, `high`: number of wrong ones among those that are settled, with its interval.
    - `settled`: number of settled questions; `hdi_prob`: probability inside the interval.
    """

    wrong: Floats
    decided: np.ndarray
    expected: float
    low: int
    high: int
    settled: int
    hdi_prob: float

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the sentence, by name."""
        counts = {"settled": self.settled, "expected_wrong": self.expected, "low": self.low, "high": self.high}
        return counts | {"decided": int(self.decided.sum())}

    def text(self, noun: str, effect: str = "effect", where: str = "") -> str:
        """Return how many settled ones are expected to be wrong, and how many are decided; nouns are in the singular.

        `where` follows the noun.

        >>> decisions([0.999, 0.98, 0.6, 0.7], [True, True, False, False], 0.89).text("question")
        'Of the 2 settled questions, 0.3 (89% interval 0 to 1) are expected to have no effect or the other sign, as far
        as all 4 show how common and how large effects are. If at most 10% of decisions are to be wrong, 2 can be
        decided.'
        """
        wrong = (
            f"Of the {self.settled} settled {noun}s{where}, {self.expected:.1f} ({percent_text(self.hdi_prob)} "
            f"interval {self.low} to {self.high}) are expected to have no {effect} or the other sign"
        )
        if self.settled == 1:
            wrong = (
                f"The probability that the settled {noun}{where} has no {effect} or the other sign is "
                f"{self.expected:.2f}"
            )
        chosen = self.decided.sum() or "none"
        return (
            f"{wrong}, as far as all {len(self.wrong)} show how common and how large {effect}s are. If at most "
            f"{percent_text(DECISION_RATE)} of decisions are to be wrong, {chosen} can be decided."
        )


def decisions(probabilities: ArrayLike, settled: Sequence[bool] | np.ndarray, hdi_prob: float) -> Decisions:
    """Return what a family of questions says about how many of the settled ones are wrong, and which to decide.

    `probabilities` (questions,) are those that each effect has the sign of its estimate, 0.5 to 1, from a posterior of
    that question alone.

    >>> many = decisions([0.9999, 0.98, 0.97, *[0.6, 0.7, 0.5, 0.8] * 10], [True] * 3 + [False] * 40, 0.89)
    >>> round(many.expected, 1), int(many.decided.sum())
    (1.6, 1)
    """
    from scipy.stats import false_discovery_control

    tails = np.clip(1 - np.asarray(probabilities, dtype=float), _SURE, 0.5)
    is_settled = np.asarray(settled, dtype=bool)
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(tails), _BLOCK)]
    log_posterior = sum(_given_nodes(-ndtri(tails[block]))[0] for block in blocks)
    posterior = np.exp(log_posterior - np.max(log_posterior))
    posterior /= posterior.sum()
    rng = np.random.default_rng(0)  # the same for every family
    nodes = rng.choice(posterior.size, _SAMPLES, p=posterior.ravel())
    wrong, counts = np.empty(len(tails)), np.zeros(_SAMPLES, dtype=np.int64)
    for block in blocks:
        of_nodes = _given_nodes(-ndtri(tails[block]))[1]
        wrong[block] = np.tensordot(posterior, of_nodes, axes=3)
        chances = of_nodes.reshape(posterior.size, -1)[nodes][:, is_settled[block]]
        counts += (rng.random(chances.shape) < chances).sum(axis=1)
    low, high = np.quantile(counts, [(1 - hdi_prob) / 2, (1 + hdi_prob) / 2], method="nearest")
    order = np.argsort(wrong, kind="stable")
    mean_wrong = np.empty(len(wrong))  # of all that are at most as likely to be wrong
    mean_wrong[order] = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
    return Decisions(
        wrong=wrong,
        decided=is_settled & (np.minimum(mean_wrong, false_discovery_control(2 * tails)) <= DECISION_RATE),
        expected=float(wrong[is_settled].sum()),
        low=int(low),
        high=int(high),
        settled=int(is_settled.sum()),
        hdi_prob=hdi_prob,
    )


def judged_together(
    rows: "pd.DataFrame", key: str, noun: str, effect: str, hdi_prob: float, where: str = ""
) -> Iterator[Statement]:
    """Yield what the settled rows are worth, with the probability that each is wrong; nothing if there are few rows.

    `rows` have a column `key` with their names, `contrast`, `hdi_low`, `hdi_high`, `settled` and
    `probability_of_direction`.
    """
    rows = rows[rows["hdi_low"] < rows["hdi_high"]]  # nothing is left to judge where no distance differs
    settled = rows["settled"].to_numpy(dtype=bool)
    if len(rows) < FEWEST_TOGETHER or not settled.any():
        return
    of_all = decisions(rows["probability_of_direction"], settled, hdi_prob)
    wrong = dict(zip(rows[key][settled], of_all.wrong[settled].tolist(), strict=True))
    chosen = rows[key][of_all.decided].astype(str).tolist()
    numbers = {"of": noun, "contrast": rows["contrast"].iloc[0], **of_all.numbers, "wrong": wrong, "chosen": chosen}
    named = f" ({name_some(chosen, 12)})" if 0 < len(chosen) < len(wrong) else ""
    text = f"{of_all.text(noun, effect, where).removesuffix('.')}{named}. {_AT_ONCE}"
    yield Statement("by chance", text, numbers)


def _given_nodes(z: Floats) -> tuple[Floats, Floats]:
    """Return the log density of z at each node (shares, errors, sds), and the probabilities of being wrong there."""
    variances = _ERRORS**2 + _SDS**2
    log_none = np.log(_SHARES) - 0.5 * (z / _ERRORS) ** 2 - np.log(_ERRORS)
    log_effect = np.log1p(-_SHARES) - 0.5 * (z**2 / variances + np.log(variances))
    log_total = np.logaddexp(log_none, log_effect)  # shares, errors, sds, questions
    other_sign = log_ndtr(-z * _SDS / (_ERRORS * np.sqrt(variances)))
    return log_total.sum(axis=-1), np.exp(log_none - log_total) + np.exp(log_effect + other_sign - log_total)

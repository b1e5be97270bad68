"""Whether the rows of many matrices of scores are skewed or extreme, so that intervals are too narrow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesbias.base.number_text import share_text
from bayesbias.base.statements import Statement

if TYPE_CHECKING:
    import pandas as pd

FAR = 1.0
"""Excess kurtosis of the rows' means above which the rows of one matrix are called far from Normal."""
LEAST_MATRICES, LEAST_ROWS = 20, 8
"""Numbers of matrices and rows from which their shape is judged."""
COVERAGE = (0.62, 0.89)
"""Lowest and highest coverage of 89 % intervals in simulations that `is_doubted` doubts; in others it is over 0.80."""


def far_share(row_kurtosis: "pd.Series") -> float:
    """Return the share of matrices whose rows are far from Normal.

    One matrix alone cannot tell: intervals are too narrow where the extreme rows of a population are missing from the
    sample. Many matrices can, since some of them have such rows.

    >>> far_share(pd.Series([0.2, 1.5, -0.3, 3.0]))
    0.5
    """
    return float((row_kurtosis > FAR).mean())


def is_doubted(share: float, rows: int) -> bool:
    """Return whether intervals are doubted for a share of matrices with rows far from Normal.

    Normal rows have a share of at most 0.04 with 8 rows, and of at most 0.08 with more (`validation/reliability`).

    >>> is_doubted(0.15, rows=8), is_doubted(0.15, rows=23)
    (True, False)
    """
    return share > (0.1 if rows < 12 else 0.2)


def shape_doubts(frame: "pd.DataFrame", keys: Sequence[str], title: str) -> list[Statement]:
    """Return a doubt if the rows are skewed or extreme in too many matrices of a group, such as of one rule.

    `frame` has `row_kurtosis` and `rows`, a row per matrix; groups are those of the columns `keys`.
    """
    if not len(frame):
        return []
    shares: dict[str, float] = {}
    for name, group in frame.groupby(list(keys), sort=False):
        share, rows = far_share(group["row_kurtosis"]), int(group["rows"].min())
        if len(group) >= LEAST_MATRICES and rows >= LEAST_ROWS and is_doubted(share, rows):
            shares[", ".join(map(str, name))] = share
    if not shares:
        return []
    named = "; ".join(f"{name}: {share_text(share)} of the words" for name, share in shares.items())
    text = (
        f"{title}, many words have base pairs far from Normal, skewed or a few of them extreme (excess kurtosis above "
        f"{FAR:g}). {named}. In simulations of such base pairs, 89% intervals contain the truth in {COVERAGE[0]:.0%} "
        f"to {COVERAGE[1]:.0%} of cases: they may be too narrow. Score more base pairs."
    )
    return [Statement("far rows", text, {"shares": shares})]

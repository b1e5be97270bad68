"""What the contexts of pairs have to do with how often a language model has their direction right."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.asymmetry.ratios.agreement import LEAST_PAIRS, directional_accuracy, joined
from bayesbias.base.checks import HDI_PROB, check_count, check_number, check_probability
from bayesbias.embeddings.contexts.index import ContextIndex
from bayesbias.errors import MeasureError

if TYPE_CHECKING:
    import pandas as pd

FACTORS = ("contexts", "distance")


def context_factors(
    truth: "pd.DataFrame",
    source: "pd.DataFrame",
    index: ContextIndex,
    *,
    groups: int = 6,
    width: int | None = None,
    gamma: float = 0.0,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
) -> "pd.DataFrame":
    """Return how often a source has the direction of pairs right, by their contexts and by how far apart they stand.

    Parameters
    ----------
    truth
        From `lar` of evocation data.
    source
        From `lar` of a language model, of the same pairs.
    index
        Of the contexts that the model was asked about.
    groups
        Into how many groups, of about as many pairs each, the pairs are put.
    width
        In place of `groups`, all groups are so wide, in contexts and in characters: 200 in the original.
    gamma
        A LAR from -gamma to gamma has no direction, in either.
    hdi_prob
        Probability inside the intervals.
    progress
        Whether to show a bar.

    Returns
    -------
    pandas.DataFrame
        One row a group with at least ten pairs: `factor` (``"contexts"``, that hold both words, or ``"distance"``,
        characters from one to the other where they are nearest, the mean over contexts), `low` and `high` (of the
        group's pairs), `pairs`, `accuracy`, `hdi_low`, `hdi_high`.

    Raises
    ------
    MeasureError
        If the two have fewer than ten pairs in common, or no group has ten.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), figure 2.

    Examples
    --------
    With an index of a corpus (`bb.embeddings.index_contexts`) and a model's folder::

        model = bb.asymmetry.masked_model("bert/", index, random_seed=1)
        truth = bb.asymmetry.lar(people, pairs)
        found = bb.asymmetry.context_factors(truth, bb.asymmetry.lar(model, pairs), index)
        bb.plots.plot_context_factors(found)
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    check_number("gamma", gamma, low=0.0, high=1e6)
    groups = check_count("groups", groups)
    if width is not None:
        width = check_count("width", width)
    both = joined(truth, source).drop_duplicates(["a", "b"])
    counts = index.pairs(zip(both["a"], both["b"], strict=True), progress=progress)
    known = (counts["contexts"] > 0).to_numpy()
    rows = []
    for factor in FACTORS:
        values = counts.loc[known, factor].to_numpy(dtype=np.float64)
        pairs = both.loc[known, ["a", "b"]].reset_index(drop=True)
        group = _groups(values, groups, width)
        for number in np.unique(group):
            chosen = group == number
            if chosen.sum() < LEAST_PAIRS:
                continue
            of_group = truth.merge(pairs[chosen], on=["a", "b"]).drop(columns="relation", errors="ignore")
            of_group = of_group.drop_duplicates(["a", "b"])
            found = directional_accuracy(of_group, source, gamma=gamma, hdi_prob=hdi_prob).iloc[-1]
            ends = {"low": values[chosen].min(), "high": values[chosen].max()}
            names = ("pairs", "accuracy", "hdi_low", "hdi_high")
            rows.append({"factor": factor, **ends, **{name: found[name] for name in names}})
    if not rows:
        raise MeasureError(
            f"No group has {LEAST_PAIRS} of the {int(known.sum()):,} pairs with contexts. Give fewer groups, or wider."
        )
    return pd.DataFrame(rows).astype({"pairs": int})


def _groups(values: np.ndarray, groups: int, width: int | None) -> np.ndarray:
    """Return the group of each value: equal values are in one group."""
    if width is not None:
        return np.floor(values / width).astype(np.int64)
    ends = np.unique(np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1])) if len(values) else np.empty(0)
    return np.searchsorted(ends, values)

"""`accuracy_by_context`: accuracy of a language model by the contexts of pairs."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.asymmetry.agreement import LEAST_PAIRS, directional_accuracy, joined
from bayesbias.base.checks import HDI_PROB, check_count, check_number, check_probability
from bayesbias.embeddings.language_models.context_index import ContextIndex
from bayesbias.errors import MeasureError

if TYPE_CHECKING:
    import pandas as pd

FACTORS = ("contexts", "distance")


def accuracy_by_context(
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
    """Return the directional accuracy of a source by the number of contexts of pairs, and by the distance in them.

    Parameters
    ----------
    truth
        From `lar` of evocation data.
    source
        From `lar` of a language model, for the same pairs.
    index
        Index of the contexts that the model used.
    groups
        Number of groups of about equally many pairs.
    width
        Width of all groups, in contexts and in characters, instead of `groups`: 200 in the original.
    gamma, hdi_prob
        As for `directional_accuracy`, with one threshold.
    progress
        Whether to show a progress bar.

    Returns
    -------
    pandas.DataFrame
        One row per group with at least ten pairs: `factor` (``"contexts"``, the number of contexts with both words, or
        ``"distance"``, the number of characters between their nearest occurrences, averaged over contexts), `low` and
        `high` (the range of the group), `pairs`, `accuracy`, `hdi_low`, `hdi_high`.

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
        accuracy = bb.asymmetry.accuracy_by_context(truth, bb.asymmetry.lar(model, pairs), index)
        bb.asymmetry.plot_accuracy_by_context(accuracy)
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    check_number("gamma", gamma, low=0.0, high=1e6)
    groups = check_count("groups", groups)
    if width is not None:
        width = check_count("width", width)
    both = joined(truth, source).drop_duplicates(["a", "b"])
    counts = index.pairs(zip(both["a"], both["b"], strict=True), progress=progress)
    has_contexts = (counts["contexts"] > 0).to_numpy()
    rows = []
    for factor in FACTORS:
        values = counts.loc[has_contexts, factor].to_numpy(dtype=np.float64)
        pairs = both.loc[has_contexts, ["a", "b"]].reset_index(drop=True)
        group = _groups(values, groups, width)
        for number in np.unique(group):
            chosen = group == number
            if chosen.sum() < LEAST_PAIRS:
                continue
            of_group = truth.merge(pairs[chosen], on=["a", "b"]).drop(columns="relation", errors="ignore")
            of_group = of_group.drop_duplicates(["a", "b"])
            measured = directional_accuracy(of_group, source, gamma=gamma, hdi_prob=hdi_prob).iloc[-1]
            ends = {"low": values[chosen].min(), "high": values[chosen].max()}
            names = ("pairs", "accuracy", "hdi_low", "hdi_high")
            rows.append({"factor": factor, **ends, **{name: measured[name] for name in names}})
    if not rows:
        raise MeasureError(
            f"No group has {LEAST_PAIRS} of the {int(has_contexts.sum()):,} pairs with contexts. Use fewer or wider "
            "groups."
        )
    return pd.DataFrame(rows).astype({"pairs": int})


def _groups(values: np.ndarray, groups: int, width: int | None) -> np.ndarray:
    if width is not None:
        return np.floor(values / width).astype(np.int64)
    ends = np.unique(np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1])) if len(values) else np.empty(0)
    return np.searchsorted(ends, values)

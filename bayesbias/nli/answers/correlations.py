"""How a model's answers go together with measures of the vectors that it was given."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice, check_frame, check_type
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.correlations import correlation_interval
from bayesbias.nli.answers.inference_comparison import OVERALL, InferenceComparison
from bayesbias.nli.answers.posterior import THESE

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 4


def correlations(
    comparison: InferenceComparison, measures: "pd.DataFrame", *, quantity: str = OVERALL
) -> "pd.DataFrame":
    """Return how the answers of models go together with measures of their vectors, over embeddings.

    Parameters
    ----------
    comparison
        What `bb.nli.train_and_compare` or `bb.nli.compare_answers` returned, of at least 4 embeddings.
    measures
        One row an embedding, by its name; one column a measure, such as
        ``pd.DataFrame({"midb": {"original": 0.05, "hard": 0.01}})``.
    quantity
        Of `comparison.values`: ``"overall"``, a group, the contrast, its size or ``"distance"``.

    Returns
    -------
    pandas.DataFrame
        One row a measure: `measure`, `quantity`, `embeddings` that have it, Pearson's `correlation`, its interval
        `hdi_low` to `hdi_high`, `probability_of_positive`, and `reliability`, the share of the quantity's variance over
        embeddings that is not the spread of trainings and premises.

    Raises
    ------
    MeasureError
        If a measure has fewer than 4 of the embeddings, all alike, or is no number.

    Notes
    -----
    See `correlation_interval`. It is the correlation with what these trainings showed: where `reliability` is low,
    noise draws it towards 0, and more trainings say more. Embeddings that one original was made into are not
    independent: take the intervals as the shortest that can be defended.

    References
    ----------
    Dawkins (2021), table 6, has r over 16 embeddings without intervals.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book']")
    >>> def trained(gap):
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + gap * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> gaps = {"original": 0.5, "hard": 0.2, "misp": 0.3, "inlp": 0.1}
    >>> models = {name: [trained(gap + more) for more in (0, 0.01, 0.02)] for name, gap in gaps.items()}
    >>> found = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> midb = {"original": 0.9, "hard": 0.2, "misp": 0.5, "inlp": 0.1}
    >>> bb.nli.correlations(found, pd.DataFrame({"midb": midb}))[["measure", "embeddings", "correlation"]].round(1)
      measure  embeddings  correlation
    0    midb           4          1.0
    """
    import pandas as pd

    check_type("comparison", comparison, InferenceComparison, "what bb.nli.train_and_compare returned")
    check_frame("measures", measures, "a frame: embeddings by measures")
    of_these = comparison.values[comparison.values["population"] == THESE]
    check_choice("quantity", quantity, list(dict.fromkeys(of_these["quantity"])))
    found = of_these[of_these["quantity"] == quantity].set_index("embedding")
    if measures.index.duplicated().any():
        raise MeasureError(f"measures has {measures.index[measures.index.duplicated()][0]!r} twice. Keep one row each.")
    if unknown := [name for name in measures.index if name not in found.index]:
        raise MeasureError(
            f"measures has {name_some(unknown)}, and the comparison {name_some(found.index)}. Give these names."
        )
    rows = []
    for name, column in measures.items():
        if column.dtype.kind not in "fiu" or not np.isfinite(column.dropna()).all():
            raise MeasureError(f"The measure {name!r} is not of finite numbers. Give a number for each embedding.")
        known = column.dropna()
        values = found.loc[known.index]
        if len(known) < _FEWEST or known.nunique() < 2 or values["mean"].nunique() < 2:
            raise MeasureError(
                f"The measure {name!r} has {len(known)} of the embeddings, and {known.nunique()} values. A correlation "
                f"takes {_FEWEST} embeddings at least, and values that differ."
            )
        scaled = known / known.abs().max()  # squares of huge or tiny numbers are none
        r = float(np.clip(np.corrcoef(scaled, values["mean"])[0, 1], -1, 1))
        interval = correlation_interval(r, len(known), hdi_prob=comparison.hdi_prob)
        noise = float((values["sd"] ** 2).mean() / values["mean"].var(ddof=1))
        rows.append((name, quantity, len(known), r, *interval, max(1 - noise, 0.0)))
    names = ["measure", "quantity", "embeddings", "correlation", "hdi_low", "hdi_high", "probability_of_positive"]
    return pd.DataFrame(rows, columns=[*names, "reliability"])

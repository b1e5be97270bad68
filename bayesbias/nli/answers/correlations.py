"""Correlations of models' answers with measures of their word vectors."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice, check_frame, check_type
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.correlations import CORRELATION_COLUMNS, LEAST_EMBEDDINGS, correlated
from bayesbias.nli.answers.inference_comparison import OVERALL, InferenceComparison
from bayesbias.nli.answers.posterior import THESE

if TYPE_CHECKING:
    import pandas as pd


def correlations(
    comparison: InferenceComparison, measures: "pd.DataFrame", *, quantity: str = OVERALL
) -> "pd.DataFrame":
    """Return the correlations of models' answers with measures of their vectors, over embeddings.

    Parameters
    ----------
    comparison
        Result of `bb.nli.train_and_compare` or `bb.nli.compare_answers` for at least 4 embeddings.
    measures
        One row per embedding, indexed by name, and one column per measure, such as
        ``pd.DataFrame({"midb": {"original": 0.05, "hard": 0.01}})``.
    quantity
        Quantity in `comparison.values`: ``"overall"``, a group, the contrast, its size or ``"distance"``.

    Returns
    -------
    pandas.DataFrame
        One row per measure: `measure`, `quantity`, the number of `embeddings` with a value, Pearson's `correlation`,
        its interval `hdi_low` to `hdi_high`, `probability_of_positive`, Spearman's `rank_correlation` with its interval
        `rank_correlation_low` to
        `rank_correlation_high`, and `reliability`, the share of the quantity's variance over embeddings that is not
        due to the spread over trainings and premises.

    Raises
    ------
    MeasureError
        If a measure has values for fewer than 4 of the embeddings, all values are equal, or a value is not a number.

    Notes
    -----
    See `correlation_interval`, and for values with heavy tails `rank_correlation_interval`. The correlation is that
    with the observed answers of these trainings: where `reliability` is low, noise shrinks it towards 0, and more
    trainings help. Embeddings that were derived from one original are not independent, so the intervals are, if
    anything, too narrow.

    References
    ----------
    Dawkins (2021), table 6, with r over 16 embeddings and no intervals.

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
    >>> comparison = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> midb = {"original": 0.9, "hard": 0.2, "misp": 0.5, "inlp": 0.1}
    >>> bb.nli.correlations(comparison, pd.DataFrame({"midb": midb}))[["measure", "embeddings", "correlation"]].round(1)
      measure  embeddings  correlation
    0    midb           4          1.0
    """
    import pandas as pd

    check_type("comparison", comparison, InferenceComparison, "a result of bb.nli.train_and_compare")
    check_frame("measures", measures, "a frame: embeddings by measures")
    of_these = comparison.values[comparison.values["population"] == THESE]
    check_choice("quantity", quantity, list(dict.fromkeys(of_these["quantity"])))
    quantity_rows = of_these[of_these["quantity"] == quantity].set_index("embedding")
    if measures.index.duplicated().any():
        raise MeasureError(f"measures has {measures.index[measures.index.duplicated()][0]!r} twice. Keep one row each.")
    if unknown := [name for name in measures.index if name not in quantity_rows.index]:
        raise MeasureError(
            f"measures has rows for {name_some(unknown)}, but the comparison has {name_some(quantity_rows.index)}. Use "
            "these names."
        )
    rows = []
    for name, column in measures.items():
        if column.dtype.kind not in "fiu" or not np.isfinite(column.dropna()).all():
            raise MeasureError(f"The measure {name!r} holds values that are not finite numbers. Give numbers.")
        present = column.dropna()
        values = quantity_rows.loc[present.index]
        if len(present) < LEAST_EMBEDDINGS or present.nunique() < 2 or values["mean"].nunique() < 2:
            raise MeasureError(
                f"The measure {name!r} has values for {len(present)} of the embeddings, {present.nunique()} of them "
                f"different. A correlation needs at least {LEAST_EMBEDDINGS} embeddings, and values that differ."
            )
        numbers = correlated(present, values["mean"], hdi_prob=comparison.hdi_prob)
        noise = float((values["sd"] ** 2).mean() / values["mean"].var(ddof=1))
        rows.append((name, quantity, len(present), *numbers, max(1 - noise, 0.0)))
    names = ["measure", "quantity", "embeddings", *CORRELATION_COLUMNS, "reliability"]
    return pd.DataFrame(rows, columns=names)

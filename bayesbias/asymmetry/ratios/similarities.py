"""`similarity`: similarity of pairs from both conditional probabilities."""

import numpy as np
import pandas as pd

from bayesbias.asymmetry.ratios.alar import usable


def similarity(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the similarity of the words of pairs: the geometric mean of both conditional probabilities.

    Parameters
    ----------
    ratios
        From `lar`.

    Returns
    -------
    pandas.DataFrame
        The rows of `ratios` with `similarity`, from 0 to 1, and its logarithm, `log_similarity`; missing for pairs that
        are left out.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 12.

    Examples
    --------
    >>> vectors = {"circle": [3.0, 1.0], "ellipse": [1.0, 0.0], "square": [0.5, 2.0]}
    >>> found = bb.asymmetry.lar(bb.asymmetry.static(vectors), [("ellipse", "circle")])
    >>> bb.asymmetry.similarity(found)["similarity"].round(3).tolist()
    [0.269]
    """
    usable(ratios)
    logs = (ratios["log_b_given_a"] + ratios["log_a_given_b"]) / 2
    return ratios.assign(similarity=np.exp(logs), log_similarity=logs)

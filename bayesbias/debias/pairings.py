"""MISP with its weights permuted, to check whether it matters which weight goes to which direction."""

from collections.abc import Callable, Iterable
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_count
from bayesbias.debias.debias_words import DebiasWordsLike, as_debias_words
from bayesbias.debias.linear.linear_map import projection
from bayesbias.debias.rows import whole_embedding
from bayesbias.debias.subspace import name_subspace
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6  # components: 720 pairings


def pairing_check(
    embedding: EmbeddingLike,
    sets: DebiasWordsLike,
    measure: Callable[[Embedding], float] | None = None,
    *,
    components: int = 4,
    centred: bool = False,
    words: Iterable[str] | None = None,
) -> "pd.DataFrame":
    """Return a table of MISP under all permutations of its weights: for 4 components, the right one and 23 others.

    Parameters
    ----------
    embedding
        An embedding with all its words.
    sets
        Word lists with two lists of `names`: a name of `list_debias_words`, a path, or `DebiasWords`.
    measure
        Measure of each debiased embedding, such as an error of a task, where smaller is better. None (default): the
        MIDB that is left, the mean over `words` of its absolute values, with the right weights.
    components, centred
        As in `MISP`.
    words
        Words over which MIDB is averaged. None (default): all but the names.

    Returns
    -------
    pd.DataFrame
        One row per pairing, the right one first: `pairing`, such as "1243", where the third direction gets the fourth
        weight; `midb`, the mean over words of MIDB with these weights before debiasing; `after`, the measure of the
        embedding debiased by MISP with these weights; `rank` of `after`, 1 for the smallest.

    Raises
    ------
    ArgumentError
        If there are more than 6 components, which have thousands of pairings.
    LostWordsError
        If the embedding lacks one of the words.
    MeasureError
        As in `MISP.fit`.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks names.

    References
    ----------
    Dawkins (2021), section 5 and appendix C: none of the 23 other pairings had a lower error than the right one. By
    chance alone the right one is first with probability 1 / 24.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0], "nurse": [0.5, 1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> bb.debias.pairing_check(vectors, words, components=2).round(3)
      pairing   midb  after  rank
    0      12  1.058  0.055     1
    1      21  0.257  1.003     2
    """
    import pandas as pd

    count = check_count("components", components)
    if count > _MOST:
        raise ArgumentError(f"components={count} has too many pairings. Give at most {_MOST}.")
    lists, source = as_debias_words(sets), whole_embedding(embedding)
    names = name_subspace(source, lists, components=count, centred=centred)
    excluded = {name for listed in names.sets for name in listed}
    averaged = [word for word in source.words if word not in excluded] if words is None else words
    along = source.matrix(averaged) @ names.directions.T
    rows = []
    for pairing in permutations(range(count)):
        weights = names.explained[list(pairing)]
        if measure is None:
            after = float(np.abs((along * (1 - weights)) @ names.explained).mean())
        else:
            after = float(measure(projection(lists, "misp", names.directions, weights).transform(source)))
        label = "".join(str(number + 1) for number in pairing)
        rows.append({"pairing": label, "midb": float((along @ weights).mean()), "after": after})
    frame = pd.DataFrame(rows)
    frame["rank"] = frame["after"].rank(method="min").astype(int)
    return frame

"""Does it matter which weight goes to which direction? MISP with its weights permuted."""

import os
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_count
from bayesbias.debias.debias_words import DebiasWords, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap, removal
from bayesbias.debias.subspace import name_subspace, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6  # components: 720 pairings


def pairing_check(
    embedding: EmbeddingLike,
    sets: str | os.PathLike[str] | DebiasWords,
    measure: Callable[[Embedding], float] | None = None,
    *,
    components: int = 4,
    centred: bool = False,
    words: Iterable[str] | None = None,
) -> "pd.DataFrame":
    """Compare MISP with what it does if its weights go to other directions: of 4, 23 other pairings.

    Parameters
    ----------
    embedding
        An embedding with all its words.
    sets
        Words with two lists of `names`: a name of `list_debias_words`, a path, or `DebiasWords`.
    measure
        What to measure in each debiased embedding, such as an error of a task, where smaller is better. None (default):
        the size of MIDB that is left, the mean over `words` of the absolute values, with the right weights.
    components, centred
        As of `MISP`.
    words
        Words over which MIDB is taken. None (default): all but the names.

    Returns
    -------
    pd.DataFrame
        One row a pairing, the right one first: `pairing`, such as "1243", where the third direction gets the fourth
        weight; `midb`, the mean over words of the measure with these weights, before debiasing; `after`, the measure of
        the embedding that MISP with these weights made; `rank` of `after`, 1 for the smallest.

    Raises
    ------
    ArgumentError
        If there are more than 6 components, of which there would be thousands of pairings.
    LostWordsError
        If the embedding lacks one of the words.
    MeasureError
        As `MISP.fit`.

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
        raise ArgumentError(f"components={count}: there are too many pairings. Give at most {_MOST}.")
    given, source = as_debias_words(sets), whole_embedding(embedding)
    found = name_subspace(source, given, components=count, centred=centred, method="The check of pairings")
    names = {name for each in found.sets for name in each}
    chosen = [word for word in source.words if word not in names] if words is None else list(words)
    along = source.matrix(chosen) @ found.directions.T
    rows = []
    for pairing in permutations(range(count)):
        weights = found.explained[list(pairing)]
        if measure is None:
            after = float(np.abs((along * (1 - weights)) @ found.explained).mean())
        else:
            matrix = removal(found.directions, weights)
            after = float(
                measure(FittedLinearMap(given, "misp", matrix, found.directions, weights, ()).transform(source))
            )
        label = "".join(str(number + 1) for number in pairing)
        rows.append({"pairing": label, "midb": float((along @ weights).mean()), "after": after})
    frame = pd.DataFrame(rows)
    frame["rank"] = frame["after"].rank(method="min").astype(int)
    return frame

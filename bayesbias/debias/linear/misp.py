"""Projection away from several weighted directions, found from lists of names; and its unweighted variant."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_count, check_flag, check_items
from bayesbias.debias.debias_words import DebiasWords, DebiasWordsLike, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap, projection
from bayesbias.debias.method import Method, whole_embedding
from bayesbias.debias.subspace import name_subspace
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6  # components: 720 pairings


@dataclass(frozen=True)
class MISP(Method[FittedLinearMap]):
    """Multi-dimensional information-weighted soft projection of Dawkins.

    Parameters
    ----------
    components
        Number of directions, d in the paper, which uses 4.
    centred
        Whether the mean difference between two lists is subtracted before the directions are found; see
        `bb.geometry.weighted_directions`. Default: no, since that difference is why the lists are compared.
    pairing
        Number of the weight for each direction: (1, 2, 4, 3) gives the fourth weight to the third direction and the
        third to the fourth. None (default): each direction has its own. Other pairings serve to check the weighting
        (`bb.debias.pairing_check`).

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1, or `pairing` is not a permutation of 1 to `components`.
    MeasureError
        In `fit`: if the names' differences span fewer directions than `components`.

    Notes
    -----
    **What it needs.** Lists of names, one for each side or group (`names` of the words), of which the embedding has
    more than `components` words; the paper has two lists of 100. With three or more, such as for religions, the
    directions are those of the differences between any two lists.

    **What it changes.** Every word loses a part of its projection on each direction: the direction's share of the
    squared differences between names, whose vectors are not scaled. With shares such as 0.3 and 0.1, most of a word
    stays.

    **What it cannot do.** Remove a direction. It was made to lower MIDB, a measure made of the same directions. Whether
    it changes clustering depends on the vectors: the paper found no change of clustering, recoverability and SemBias in
    GN-GloVe; in Google News, clustering falls from 0.958 to 0.719, and recoverability hardly (`validation/trade`).

    References
    ----------
    Dawkins (2021), Marked attribute bias in natural language inference, Findings of ACL-IJCNLP 2021, 4214-4226,
    equations 3 and 4. The paper does not say whether its components are centred and its vectors scaled: here they are
    neither.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0], "nurse": [0.5, 1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> fitted = bb.debias.MISP(components=1).fit(vectors, words)
    >>> fitted.weights.round(3), fitted.transform(vectors)["nurse"].round(3)
    (array([0.956]), array([ 0.223, -0.011]))
    """

    name = "misp"
    needs = ("names",)

    components: int = 4
    centred: bool = False
    pairing: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        count = check_count("components", self.components)
        check_flag("centred", self.centred)
        if self.pairing is not None:
            pairing = tuple(check_items("pairing", self.pairing, "whole numbers"))
            if sorted(map(repr, pairing)) != sorted(map(repr, range(1, count + 1))):
                raise ArgumentError(f"pairing={self.pairing!r}: give each number from 1 to {count} once.")
            object.__setattr__(self, "pairing", pairing)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        names = name_subspace(source, words, components=self.components, centred=self.centred)
        order = slice(None) if self.pairing is None else np.array(self.pairing) - 1
        return projection(words, "misp", names.directions, names.explained[order])


@dataclass(frozen=True)
class MHD(Method[FittedLinearMap]):
    """Multi-dimensional hard debiasing: MISP with all weights 1.

    Parameters
    ----------
    components, centred
        As in `MISP`.

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1.
    MeasureError
        In `fit`: if the names' differences span fewer directions than `components`.

    Notes
    -----
    **What it needs.** Lists of names, one for each side or group (`names` of the words).

    **What it changes.** Every word loses its whole projection on each of the directions in which names differ.

    **What it cannot do.** Distinguish directions of the bias from others in which names differ, such as their
    frequency. In the paper it is the control of MISP, and does worse.

    References
    ----------
    Dawkins (2021), section 5: equation 4 with all weights set to 1.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0], "nurse": [0.5, 1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> bb.debias.MHD(components=1).fit(vectors, words).transform(vectors)["nurse"].round(3)
    array([ 0.211, -0.058])
    """

    name = "mhd"
    needs = ("names",)

    components: int = 4
    centred: bool = False

    def __post_init__(self) -> None:
        check_count("components", self.components)
        check_flag("centred", self.centred)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        names = name_subspace(source, words, components=self.components, centred=self.centred)
        return projection(words, "mhd", names.directions)


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

"""Projection away from several weighted directions, which lists of names give; and its unweighted twin."""

import os
from dataclasses import dataclass

import numpy as np

from bayesbias.base.checks import check_count, check_flag, check_items
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap, removal
from bayesbias.debias.subspace import name_subspace
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import ArgumentError


@dataclass(frozen=True)
class MISP:
    """Multi-dimensional information-weighted soft projection of Dawkins.

    Parameters
    ----------
    components
        Number of directions, d in the paper, which uses 4.
    centred
        Whether the mean difference between the two lists is taken away before the directions are found; see
        `bb.geometry.weighted_directions`. Default: no, since that difference is what the lists are compared for.
    pairing
        The number of the weight that each direction gets: (1, 2, 4, 3) gives the fourth weight to the third direction
        and the third to the fourth. None (default): each its own. Other pairings are there to check the weighting
        (`bb.debias.pairing_check`).

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1, or `pairing` is not a permutation of 1 to `components`.

    Notes
    -----
    **What it needs.** Two lists of names, one for each side (`names` of the words), of which the embedding has more
    than `components` words; the paper has 100 each.

    **What it changes.** Every word loses a part of its projection on each direction: the direction's share of the
    squared differences between names. With shares such as 0.3 and 0.1, most of a word stays.

    **What it cannot do.** Take a direction away, nor change what clustering, recoverability or SemBias find: the paper
    saw no change there. It was made to lower MIDB, the measure that is made of the same directions.

    References
    ----------
    Dawkins (2021), Marked attribute bias in natural language inference, Findings of ACL-IJCNLP 2021, 4214-4226,
    equations 3 and 4. Whether the paper's components are centred, and its vectors scaled, is not said: here they are
    neither.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0], "nurse": [0.5, 1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> fitted = bb.debias.MISP(components=1).fit(vectors, words)
    >>> fitted.weights.round(3), fitted.transform(vectors)["nurse"].round(3)
    (array([0.956]), array([ 0.223, -0.011]))
    """

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

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> FittedLinearMap:
        """Find the directions and their weights.

        Parameters
        ----------
        embedding
            Its vectors are taken as they are.
        sets
            Words with two lists of `names`: a name of `list_debias_words`, a path, or `DebiasWords`.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If the words have no two lists of names, the embedding has fewer than two names of a list, or their
            differences span fewer directions.

        Warns
        -----
        LostWordsWarning
            If the embedding lacks names.
        """
        words = as_debias_words(sets, name=name)
        found = name_subspace(embedding, words, components=self.components, centred=self.centred, method="MISP")
        weights = found.explained
        if self.pairing is not None:
            weights = weights[np.array(self.pairing) - 1]
        return FittedLinearMap(words, "misp", removal(found.directions, weights), found.directions, weights, ())


@dataclass(frozen=True)
class MHD:
    """Multi-dimensional hard debiasing: MISP with all weights 1.

    Parameters
    ----------
    components
        Number of directions, 4 in the paper.
    centred
        As for `MISP`.

    Notes
    -----
    **What it needs.** Two lists of names, one for each side (`names` of the words).

    **What it changes.** Every word loses all of its projection on each of the directions in which names differ.

    **What it cannot do.** Tell directions that are what the lists were made for from others in which names differ,
    such as how frequent they are. The paper has it as the control of MISP, and it does worse there.

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

    components: int = 4
    centred: bool = False

    def __post_init__(self) -> None:
        check_count("components", self.components)
        check_flag("centred", self.centred)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> FittedLinearMap:
        """Find the directions; the arguments, errors and warnings are those of `MISP`."""
        words = as_debias_words(sets, name=name)
        found = name_subspace(embedding, words, components=self.components, centred=self.centred, method="MHD")
        ones = np.ones(len(found.directions))
        return FittedLinearMap(words, "mhd", removal(found.directions), found.directions, ones, ())

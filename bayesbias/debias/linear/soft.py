"""Soft debiasing: the linear map that keeps inner products, but turns neutral words away from the bias subspace.

With the words as columns of W, the neutral ones as columns of N, and the orthonormal bias directions as columns of B,
Bolukbasi et al. minimize over a matrix T

    norm((TW)'(TW) - W'W)_F^2 + strength norm((TN)'(TB))_F^2,

which depends on X = T'T alone and is convex in it. In coordinates of the words' span, with S = WW' and P = NN',
it is ``tr(D S D S) + strength tr(B'X P X B)``, D = X - 1, so that the number of words does not matter any more (the
reduction of their appendix). Its gradient is linear in X:

    2 S (X - 1) S + strength (P X BB' + BB' X P) = 0.

In Y = S^1/2 (X - 1) S^1/2 the linear system is positive definite with eigenvalues of at least 2: conjugate
gradients solve it in a few dozen steps. If that X is positive semidefinite, as it was for all real vectors that we
tried, it is the optimum; if not, L-BFGS over T finds the optimum on the boundary. T is the symmetric root of X: of all
maps with that X the one that turns the words least.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from bayesbias.base.checks import check_number
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.subspace import Subspace, bias_subspace, chosen_rows, row_blocks, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError

_TOLERANCE = 1e-12
_MOST_STEPS = 5000


@dataclass(frozen=True)
class SoftDebias:
    """Soft debiasing of Bolukbasi et al. (pairs) and Manzini et al. (sets of any size).

    Parameters
    ----------
    strength
        Weight of the bias term, lambda in both papers, which use 0.2. 0 changes nothing. The other term sums over all
        pairs of words, so that the same strength does less in an embedding with more words: with 10,000 words 0.2
        takes less than 1 % off the projections on the subspace, 100 a quarter to two fifths, 10,000 about 90 %.
    components
        Number of directions. None (default): one fewer than the largest definitional set has words.

    Raises
    ------
    ArgumentError
        If `strength` is not a finite number of at least 0.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but what is removed, the words that are to be
    neutral, and the whole vocabulary, since `strength` depends on how many words there are.

    **What it changes.** Every word, by one linear map that turns neutral words away from the subspace and keeps inner
    products as far as it can; then each gets length 1.

    **What it cannot do.** Take bias away, nor even all of the subspace: `strength` says how much. Words that leaned the
    same way remain neighbours (Gonen and Goldberg 2019).

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama and Kalai (2016), arXiv:1607.06520, section 5, "soft bias correction", and its
    appendix. Manzini, Lim, Tsvetkov and Black (2019), arXiv:1904.04047, section 2.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.1, 1], [-0.5, 1, 0]], name="toy")
    >>> fitted = bb.debias.SoftDebias(strength=5.0).fit(embedding, [["he", "she"]], name="gender")
    >>> debiased = fitted.transform(embedding)
    >>> debiased.name
    'toy, soft-debiased (gender, strength 5)'
    >>> abs(fitted.subspace.directions @ debiased["nurse"]).item() < 0.3
    True
    """

    strength: float = 0.2
    components: int | None = None

    def __post_init__(self) -> None:
        check_number("strength", self.strength, low=0, high=inf)

    def fit(
        self,
        embedding: EmbeddingLike,
        sets: str | os.PathLike[str] | DebiasWords | Sets,
        *,
        neutral: Iterable[str] | None = None,
        name: str | None = None,
    ) -> "FittedSoftDebias":
        """Find the bias subspace and the map.

        Parameters
        ----------
        embedding
            Its vectors are brought to unit length first, and not centred. All its words are to keep their inner
            products.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        neutral
            Words to turn away from the subspace. None (default): all but the definitional and specific ones.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If the sets are not usable, or none is left in this embedding, or no word is neutral.
        LostWordsError
            If the embedding lacks a neutral word.

        Warns
        -----
        LostWordsWarning
            If sets are left out because the embedding lacks a word.
        """
        embedding, words = whole_embedding(embedding), as_debias_words(sets, name=name)
        subspace = bias_subspace(embedding, words, components=self.components)
        known = [*words.specific, *(word for each in words.definitional for word in each)]
        _, chosen = chosen_rows(embedding, neutral, None if neutral is None else (), known if neutral is None else ())
        if not chosen.any():
            raise MeasureError("No word of the embedding is neutral. Load more words than those of the sets.")
        every = np.arange(len(embedding))
        gram, neutral_gram = _gram(embedding, every), _gram(embedding, np.flatnonzero(chosen))
        return FittedSoftDebias(words, subspace, *_solve(gram, neutral_gram, subspace.directions, float(self.strength)))


@dataclass(frozen=True, eq=False, repr=False)
class FittedSoftDebias(Described):
    """A linear map, ready to be applied.

    Parameters
    ----------
    sets
        The words.
    subspace
        The bias directions.
    matrix : array, shape (dimensions, dimensions)
        T, symmetric: a vector w becomes T w.
    strength
        Weight of the bias term.
    objective
        What is minimized, at T.
    objective_before
        The same at the identity.
    gradient
        Largest absolute entry of the gradient with respect to T at T, relative to the one at the identity (1 if that
        is 0): about 0 at the optimum.
    """

    sets: DebiasWords
    subspace: Subspace
    matrix: np.ndarray
    strength: float
    objective: float
    objective_before: float
    gradient: float

    @property
    def _facts(self) -> Facts:
        return {
            "sets": self.sets.name,
            "components": len(self.subspace.directions),
            "strength": self.strength,
            "objective": self.objective,
            "objective_before": self.objective_before,
        }

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding of mapped words; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to map. None (default): all, as in the papers; inner products are kept among mapped words.
        ignore
            Words that are not mapped. None (default): none.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Mapped vectors have unit length, the others are the very same
            numbers. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs, or nothing is left of a word.

        Warns
        -----
        LostWordsWarning
            If words to ignore are absent.
        """
        embedding = whole_embedding(embedding, dimensions=len(self.matrix))
        _, chosen = chosen_rows(embedding, target, ignore)
        vectors = embedding.vectors.copy()
        for rows in row_blocks(np.flatnonzero(chosen)):
            mapped = unit_rows(embedding.vectors[rows]) @ self.matrix
            length = np.linalg.norm(mapped, axis=1, keepdims=True)
            if len(rows) and length.min() < _TOLERANCE:
                word = embedding.words[rows[int(np.argmin(length))]]
                raise MeasureError(
                    f"Nothing is left of the vector of {word!r}. Put it into `ignore`, or lower strength."
                )
            vectors[rows] = mapped / length
        name = f"{embedding.name}, soft-debiased ({self.sets.name}, strength {self.strength:g})"
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)


def _gram(embedding: Embedding, rows: np.ndarray) -> np.ndarray:
    """Return the sum of w w' over some words."""
    gram = np.zeros((embedding.dimensions, embedding.dimensions))
    for block in row_blocks(rows):
        units = unit_rows(embedding.vectors[block])
        gram += units.T @ units
    return gram


def _solve(
    gram: np.ndarray, neutral_gram: np.ndarray, directions: np.ndarray, strength: float
) -> tuple[np.ndarray, float, float, float, float]:
    """Return T, strength, the objective at T and at the identity, and the relative gradient at T."""
    squares, axes = np.linalg.eigh(gram)
    span = squares > 1e-10 * squares[-1]
    squares, axes = squares[span], axes[:, span]
    s, p, b = squares, axes.T @ neutral_gram @ axes, axes.T @ directions.T
    x = _unconstrained(s, p, b @ b.T, strength)
    values, turns = np.linalg.eigh(x)
    root = (turns * np.sqrt(np.maximum(values, 0))) @ turns.T
    if values[0] < -1e-10 * values[-1]:
        root = _on_the_boundary(s, p, b, strength, root)
    before, _ = _objective(np.eye(len(s)), s, p, b, strength)
    after, slope = _objective(root, s, p, b, strength)
    _, steepest = _objective(np.eye(len(s)), s, p, b, strength)
    scale = float(np.abs(steepest).max()) or 1.0
    # Outside the words' span nothing is asked of the map, and nothing is changed.
    matrix = np.eye(len(gram)) + axes @ (root - np.eye(len(s))) @ axes.T
    return matrix, strength, after, before, float(np.abs(slope).max()) / scale


def _unconstrained(s: np.ndarray, p: np.ndarray, bb: np.ndarray, strength: float) -> np.ndarray:
    """Return the symmetric X at which the gradient is zero; `s` is the diagonal of S."""
    from scipy.sparse.linalg import LinearOperator, cg

    size, half = len(s), np.sqrt(s)
    scale = half[:, None] * half
    p_scaled, b_scaled = p / scale, bb / scale

    def gradient(y: np.ndarray) -> np.ndarray:
        square = y.reshape(size, size)
        bias = p_scaled @ square @ b_scaled
        other = b_scaled @ square @ p_scaled
        return np.asarray(2 * square + strength * (bias + other)).ravel()

    cross = p @ bb
    right = -strength * ((cross + cross.T) / scale).ravel()
    y, failed = cg(LinearOperator((size * size,) * 2, matvec=gradient), right, rtol=1e-13, maxiter=_MOST_STEPS)
    if failed:
        raise MeasureError(
            f"The soft-debiasing problem was not solved in {_MOST_STEPS:,} steps. Lower strength, or load more words."
        )
    square = y.reshape(size, size)
    x: np.ndarray = np.eye(size) + 0.5 * (square + square.T) / scale
    return x


def _objective(t: np.ndarray, s: np.ndarray, p: np.ndarray, b: np.ndarray, strength: float) -> tuple[float, np.ndarray]:
    """Return the objective at T and its gradient with respect to T."""
    x = t.T @ t
    shift = s[:, None] * (x - np.eye(len(s)))  # S D
    along = p @ x @ b
    value = float((shift * shift.T).sum() + strength * (along * (x @ b)).sum())
    slope = 2 * shift * s + strength * (along @ b.T + b @ along.T)
    return value, 2 * t @ slope


def _on_the_boundary(s: np.ndarray, p: np.ndarray, b: np.ndarray, strength: float, start: np.ndarray) -> np.ndarray:
    """Return the symmetric root of the best positive semidefinite X, found over R with T = R S^-1/2."""
    from scipy.optimize import minimize

    half = np.sqrt(s)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _objective(flat.reshape(len(s), len(s)) / half, s, p, b, strength)
        return value, (slope / half).ravel()

    # A singular start would stay singular: a little of the identity keeps every direction open.
    first = (start + 1e-3 * np.eye(len(s))) * half
    found = minimize(
        objective,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 20},
    )
    t = found.x.reshape(len(s), len(s)) / half
    values, turns = np.linalg.eigh(t.T @ t)
    root: np.ndarray = (turns * np.sqrt(np.maximum(values, 0))) @ turns.T
    return root

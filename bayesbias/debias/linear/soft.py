"""Soft debiasing: the linear map that keeps inner products, but turns neutral words away from the bias subspace.

With the words as columns of W, the neutral ones as columns of N, and the orthonormal bias directions as columns of B,
Bolukbasi et al. minimize over a matrix T

    norm((TW)'(TW) - W'W)_F^2 + strength norm((TN)'(TB))_F^2,

which depends on X = T'T alone and is convex in it. In coordinates of the words' span, with S = WW' and P = NN',
it is ``tr(D S D S) + strength tr(B'X P X B)``, D = X - 1, whose cost does not depend on the number of words (the
reduction of their appendix). Its gradient is linear in X:

    2 S (X - 1) S + strength (P X BB' + BB' X P) = 0.

In Y = S^1/2 (X - 1) S^1/2 the linear system is positive definite with eigenvalues of at least 2: conjugate
gradients solve it in a few dozen steps. If that X is positive semidefinite, as it was for all real vectors that we
tried, it is the optimum; if not, L-BFGS over T finds the optimum on the boundary. T is the symmetric root of X: of all
maps with that X the one that turns the words least.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import override

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_number
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords, DebiasWordsLike
from bayesbias.debias.linear.linear_map import VectorMap
from bayesbias.debias.method import FittedMethod, Method, chosen_rows, documented_like, row_blocks
from bayesbias.debias.subspace import Subspace, bias_subspace
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.geometry import unit_rows

_TOLERANCE = 1e-12
_MOST_STEPS = 5000


@dataclass(frozen=True, eq=False, repr=False)
class FittedSoftDebias(FittedMethod):
    """A linear map after which vectors are scaled to length 1; it keeps inner products among the words it maps.

    Parameters
    ----------
    sets
        The word lists.
    subspace
        The bias subspace.
    matrix : array, shape (dimensions, dimensions)
        T, symmetric: a vector w becomes T w.
    strength
        Weight of the bias term.
    objective
        Minimum of the objective, at T.
    objective_before
        The objective at the identity.
    gradient
        Largest absolute entry of the gradient with respect to T at T, relative to the one at the identity (1 if that
        is 0): about 0 at the optimum.
    """

    _label = "soft-debiased ({sets.name}, strength {strength:g})"

    sets: DebiasWords
    subspace: Subspace
    matrix: Floats
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

    @property
    def map(self) -> VectorMap:
        """The map as a function of arrays, for new vectors."""
        return VectorMap(self.matrix, self._label.format(**vars(self)), unit_length=True)

    @property
    def _dimensions(self) -> int:
        return len(self.matrix)

    def _moved(self, source: Embedding, rows: Integers) -> Floats:
        mapped = unit_rows(source.vectors[rows]) @ self.matrix
        length = np.linalg.norm(mapped, axis=1, keepdims=True)
        if length.min() < _TOLERANCE:
            word = source.words[rows[int(np.argmin(length))]]
            raise MeasureError(
                f"Nothing is left of the vector of {word!r}. Put the word into `ignore`, or lower `strength`."
            )
        units: Floats = mapped / length
        return units


@dataclass(frozen=True)
class SoftDebias(Method[FittedSoftDebias]):
    """Soft debiasing of Bolukbasi et al. (pairs) and Manzini et al. (sets of any size).

    Parameters
    ----------
    strength
        Weight of the bias term, lambda in both papers, which use 0.2; 0 changes nothing. The other term is a sum over
        all pairs of words, so that the same strength does less in an embedding with more words: with 10,000 words 0.2
        removes less than 1 % of the projections on the subspace, 100 a quarter to two fifths, 10,000 about 90 %.
    components
        Number of directions. None (default): one fewer than the largest definitional set has words.

    Raises
    ------
    ArgumentError
        If `strength` is not a finite number of at least 0.
    MeasureError
        In `fit`: if no word is neutral, or the problem cannot be solved.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but the bias, neutral words, and the whole
    vocabulary, since the effect of `strength` depends on the number of words.

    **What it changes.** Every word, by one linear map that turns neutral words away from the subspace and keeps inner
    products as far as possible; then each vector is scaled to length 1. The map is found among vectors of length 1 that
    are not centred.

    **What it cannot do.** Remove bias, or even all of the subspace: `strength` says how much. Words that leaned the
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

    name = "soft"

    strength: float = 0.2
    components: int | None = None

    def __post_init__(self) -> None:
        check_number("strength", self.strength, low=0, high=inf)

    @override
    @documented_like(
        Method.fit,
        neutral="""Words to turn away from the subspace. None (default): all but the definitional and specific ones. A
        `LostWordsError` says which of them the embedding lacks.""",
    )
    def fit(
        self,
        embedding: EmbeddingLike,
        sets: DebiasWordsLike,
        *,
        neutral: Iterable[str] | None = None,
        name: str | None = None,
    ) -> FittedSoftDebias:
        return self._fit(*self._inputs(embedding, sets, name), neutral)

    def _fit(self, source: Embedding, words: DebiasWords, neutral: Iterable[str] | None = None) -> FittedSoftDebias:
        subspace = bias_subspace(source, words, components=self.components)
        _, chosen = chosen_rows(source, neutral, None, words.non_neutral if neutral is None else ())
        if not chosen.any():
            raise MeasureError(
                f"No word of {source.name!r} is neutral. Give `neutral` words, or load more words than those of "
                f"{words.name!r}."
            )
        gram, neutral_gram = _gram(source, np.arange(len(source))), _gram(source, np.flatnonzero(chosen))
        return FittedSoftDebias(words, subspace, *_solve(gram, neutral_gram, subspace.directions, float(self.strength)))


def _gram(embedding: Embedding, rows: Integers) -> Floats:
    """Return the sum of w w' over some words."""
    gram: Floats = np.zeros((embedding.dimensions, embedding.dimensions))
    for block in row_blocks(rows):
        units = unit_rows(embedding.vectors[block])
        gram += units.T @ units
    return gram


def _solve(
    gram: Floats, neutral_gram: Floats, directions: Floats, strength: float
) -> tuple[Floats, float, float, float, float]:
    """Return T, strength, the objective at T and at the identity, and the relative gradient at T."""
    squares, axes = np.linalg.eigh(gram)
    span = squares > 1e-10 * squares[-1]
    squares, axes = squares[span], axes[:, span]
    s, p, b = squares, axes.T @ neutral_gram @ axes, axes.T @ directions.T
    x = _unconstrained(s, p, b @ b.T, strength)
    values, turns = np.linalg.eigh(x)
    root: Floats = (turns * np.sqrt(np.maximum(values, 0))) @ turns.T
    if values[0] < -1e-10 * values[-1]:
        root = _on_the_boundary(s, p, b, strength, root)
    before, steepest = _objective(np.eye(len(s)), s, p, b, strength)
    after, slope = _objective(root, s, p, b, strength)
    scale = float(np.abs(steepest).max()) or 1.0
    # Outside the words' span the objective is constant, and nothing is changed.
    matrix = np.eye(len(gram)) + axes @ (root - np.eye(len(s))) @ axes.T
    return matrix, strength, after, before, float(np.abs(slope).max()) / scale


def _unconstrained(s: Floats, p: Floats, bb: Floats, strength: float) -> Floats:
    """Return the symmetric X at which the gradient is zero; `s` is the diagonal of S."""
    from scipy.sparse.linalg import LinearOperator, cg

    size, half = len(s), np.sqrt(s)
    scale = half[:, None] * half
    p_scaled, b_scaled = p / scale, bb / scale

    def gradient(y: Floats) -> Floats:
        square = y.reshape(size, size)
        bias = p_scaled @ square @ b_scaled
        other = b_scaled @ square @ p_scaled
        return np.asarray(2 * square + strength * (bias + other)).ravel()

    cross = p @ bb
    right = -strength * ((cross + cross.T) / scale).ravel()
    y, failed = cg(LinearOperator((size * size,) * 2, matvec=gradient), right, rtol=1e-13, maxiter=_MOST_STEPS)
    if failed:
        raise MeasureError(
            f"Soft debiasing did not converge in {_MOST_STEPS:,} steps. Lower `strength`, or load more words."
        )
    square = y.reshape(size, size)
    x: Floats = np.eye(size) + 0.5 * (square + square.T) / scale
    return x


def _objective(t: Floats, s: Floats, p: Floats, b: Floats, strength: float) -> tuple[float, Floats]:
    """Return the objective at T and its gradient with respect to T."""
    x = t.T @ t
    shift = s[:, None] * (x - np.eye(len(s)))  # S D
    along = p @ x @ b
    value = float((shift * shift.T).sum() + strength * (along * (x @ b)).sum())
    slope = 2 * shift * s + strength * (along @ b.T + b @ along.T)
    return value, 2 * t @ slope


def _on_the_boundary(s: Floats, p: Floats, b: Floats, strength: float, start: Floats) -> Floats:
    """Return the symmetric root of the best positive semidefinite X, found over R with T = R S^-1/2."""
    from scipy.optimize import minimize

    half = np.sqrt(s)

    def objective(flat: Floats) -> tuple[float, Floats]:
        value, slope = _objective(flat.reshape(len(s), len(s)) / half, s, p, b, strength)
        return value, (slope / half).ravel()

    # A singular start would stay singular: a little of the identity keeps every direction open.
    first = (start + 1e-3 * np.eye(len(s))) * half
    optimum = minimize(
        objective,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 20},
    )
    t = optimum.x.reshape(len(s), len(s)) / half
    values, turns = np.linalg.eigh(t.T @ t)
    root: Floats = (turns * np.sqrt(np.maximum(values, 0))) @ turns.T
    return root

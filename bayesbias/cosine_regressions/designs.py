"""Designs of the inner product regressions: pairs of vectors, and which column each coefficient multiplies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import counted
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import checked_rows

# The least length of the residual of a column of length 1 after projection on the others. Below it, the column is
# collinear (lengths of vectors that were normalised in float32 differ by about 1e-7).
_COLLINEAR = 1e-6


@dataclass(frozen=True, eq=False)
class VectorPairs:
    """Pairs of vectors: inner products and lengths, in units of the geometric mean lengths.

    Units: each side's lengths are divided by their geometric mean over the rows, so that LNW and all inner products are
    in units of an average pair's LNW, and all coefficients of a regression in units of a cosine similarity. They do not
    change if all vectors of the embedding are multiplied by a number. `VectorPairs.unit` converts back.

    - `inner`: inner products <A_i, B_i>, of shape (rows,).
    - `length_a`, `length_b`: ||A_i|| and ||B_i||, of shape (rows,); the geometric mean of each is 1.
    - `unit`: the embedding's LNW that is 1 in these units.
    """

    inner: Floats
    length_a: Floats
    length_b: Floats
    unit: float

    @property
    def lnw(self) -> Floats:
        """Local normalization weight LNW_i = ||A_i|| ||B_i||."""
        weight: Floats = self.length_a * self.length_b
        return weight

    @property
    def cosine(self) -> Floats:
        """Cosine similarities."""
        similarity: Floats = self.inner / self.lnw
        return similarity


def pair_up(a: ArrayLike, b: ArrayLike) -> VectorPairs:
    """Return inner products and lengths of vectors, row by row; both sides have shape (rows, dimensions).

    LNW_i is that of Kindel (2023), supplement, "Binary difference-in-cosines".

    >>> pairs = pair_up([[2.0, 0.0], [0.0, 8.0]], [[3.0, 4.0], [3.0, 4.0]])
    >>> round(pairs.unit, 9), pairs.lnw.round(9), pairs.cosine.round(9)
    (20.0, array([0.5, 2. ]), array([0.6, 0.8]))
    """
    first, second = checked_rows(a), checked_rows(b)
    if first.shape != second.shape:
        raise MeasureError(
            f"The two sides of the pairs have shapes {first.shape} and {second.shape}. Give the same number of vectors "
            "and dimensions on both."
        )
    inner = np.einsum("ij,ij->i", first, second)
    lengths = [np.linalg.norm(side, axis=1) for side in (first, second)]
    means = [float(np.exp(np.log(length).mean())) for length in lengths]
    unit = means[0] * means[1]
    return VectorPairs(inner / unit, lengths[0] / means[0], lengths[1] / means[1], unit)


def centroid_weights(vectors: ArrayLike) -> Floats:
    """Return the weights psi_j by which a centroid's cosine departs from the mean cosine of its components.

    ``cos(mean Omega, X) = (1/N) sum_j cos(Omega_j, X) / psi_j``, so that only weights of 1 give the mean cosine. Omega
    has shape (components, dimensions). Kindel (2023), supplement, "Centroid cosines are anisotropically weighted
    estimates of the subspace mean cosine similarity": psi_ij.

    >>> centroid_weights([[2.0, 0.0], [0.0, 1.0]]).round(3)
    array([0.559, 1.118])
    """
    omega = checked_rows(vectors)
    weights: Floats = np.linalg.norm(omega.mean(axis=0)) / np.linalg.norm(omega, axis=1)
    return weights


class Term(NamedTuple):
    """A term of the inner product regression: its name, its name in the regression over LNW, and its values by row."""

    name: str
    over_lnw: str
    values: Floats


@dataclass(frozen=True, eq=False)
class InnerProductDesign:
    """The columns of an inner product regression.

    Kindel's supplement, section "Frequency bias in cosine similarity regression", writes every regression of cosine
    similarities as one of inner products, by multiplying it by the local normalization weight LNW_i = ||A_i|| ||B_i||.
    This shows which terms the cosine regression fixes to zero. The displays of the supplement have no numbers: each
    docstring names the paragraph and quotes the first words or the coefficients of its display.

    An `InnerProductDesign` holds the columns h_k of the inner product regression
    ``<A_i, B_i> = sum_k coefficient_k h_k``; the corrected ratio model has the columns
    ``h_k / LNW``, the constrained cosine regression only some of these.

    Units: those of `VectorPairs`, so that every coefficient is in units of a cosine similarity.

    Inner products of `pairs` are the outcome of the inner product regression, their cosines that of the corrected ratio
    model. `symbols` are the coefficients in the supplement's notation, `terms` and `ratio_terms` the terms that they
    multiply in the inner product regression and in the corrected ratio model; `columns` has shape (rows, coefficients).
    `constrained` are the two coefficients that the cosine regression estimates, its intercept first (it fixes the
    others to 0), and `constrained_symbols` their names in that regression. `side` is the side of the comparison of each
    row, 0 or 1; None for a design without a comparison.
    """

    name: str
    pairs: VectorPairs
    symbols: tuple[str, ...]
    terms: tuple[str, ...]
    ratio_terms: tuple[str, ...]
    columns: Floats
    constrained: tuple[str, str]
    constrained_symbols: tuple[str, str]
    side: NDArray[np.integer[Any]] | None

    def __post_init__(self) -> None:
        rows, coefficients = self.columns.shape
        if rows <= coefficients:
            raise MeasureError(
                f"The {self.name} design has {counted(rows, 'row')} but {coefficients} coefficients "
                f"({', '.join(self.terms)}). Give more words: at least {coefficients + 1} rows are needed."
            )
        for columns in (self.columns, self.ratio_columns):
            self._raise_if_collinear(columns)

    @property
    def ratio_columns(self) -> Floats:
        """Columns of the corrected ratio model, of shape (rows, coefficients)."""
        ratio: Floats = self.columns / self.pairs.lnw[:, None]
        return ratio

    @property
    def constrained_columns(self) -> list[int]:
        """Positions of the two columns of the cosine regression."""
        return [self.symbols.index(symbol) for symbol in self.constrained]

    def _raise_if_collinear(self, columns: Floats) -> None:
        from scipy.linalg import qr

        size = np.linalg.norm(columns, axis=0)
        triangle, order = qr(columns / np.where(size > 0, size, 1.0), mode="r", pivoting=True)
        spare = np.abs(np.diag(triangle)) < _COLLINEAR
        if spare.any():
            positions = sorted(order[: len(spare)][spare])
            which = name_some([f"{self.symbols[position]} ({self.terms[position]})" for position in positions])
            same = "" if np.ptp(self.pairs.lnw) > _COLLINEAR else (
                " All pairs have the same LNW, as if all vectors had been scaled to the same length: give vectors with "
                "their original lengths."
            )  # fmt: skip
            raise MeasureError(
                f"The {self.name} design is collinear: {which} cannot be distinguished from the other terms "
                f"({', '.join(self.terms)}).{same} Give words whose vectors differ in length, on both sides."
            )


def binary_design(a: ArrayLike, b: ArrayLike, side: ArrayLike) -> InnerProductDesign:
    """Return the local inner product regression of two sets of pairs.

    `a` and `b` are A_i and B_i, of shape (rows, dimensions), `side` is X_i, 0 or 1, of shape (rows,).
    Kindel (2023), supplement, "Binary difference-in-cosines": the local inner product regression (beta_0 to
    beta_3), and the constrained regression cos(A_i, B_i) = alpha_0* + alpha_1* X_i + epsilon_i inside it.

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 12, 3))
    >>> binary_design(a, b, [0, 1] * 6).terms
    ('1', 'X', 'LNW', 'X LNW')
    """
    pairs = pair_up(a, b)
    x = _checked_side(side, len(pairs.inner))
    return _design(
        "binary", pairs, _two_lines(pairs, x, "beta", ("_0", "_1", "_2", "_3"), "X"), ("beta_2", "beta_3"), x
    )


def overlapping_design(a: ArrayLike, b: ArrayLike, side: ArrayLike) -> InnerProductDesign:
    """Return the inner product regression of two sets of pairs that share words, with the lengths' own terms.

    `a` and `b` are w_i and X_i, of shape (rows, dimensions), `side` is D_i, 0 or 1, of shape (rows,). Kindel (2023),
    supplement, "Overlapping cosine similarity regression": the display has alpha_0* to alpha_3*. The text before it
    calls ||w||, ||X|| and their products with D "of interest", without numbers; here they are alpha_4* to alpha_7*, in
    the order of the centroid display.
    """
    pairs = pair_up(a, b)
    d = _checked_side(side, len(pairs.inner))
    columns = _two_lines(pairs, d, "alpha", ("_2*", "_3*", "_0*", "_1*"), "D")
    columns |= {
        "alpha_4*": Term("||w||", "||w||/LNW", pairs.length_a),
        "alpha_5*": Term("||x||", "||x||/LNW", pairs.length_b),
        "alpha_6*": Term("D ||w||", "D ||w||/LNW", d * pairs.length_a),
        "alpha_7*": Term("D ||x||", "D ||x||/LNW", d * pairs.length_b),
    }
    return _design("overlapping", pairs, columns, ("alpha_0*", "alpha_1*"), d)


def centroid_design(centroids: Sequence[ArrayLike], words: Sequence[ArrayLike]) -> InnerProductDesign:
    """Return the regression of words on the centroid of their side's list.

    For side 0 and side 1, `centroids` are the vectors of the centroid Omega (its words, dimensions), `words` the
    vectors X_i (its rows, dimensions). D and ||Omega|| are collinear: gamma_3 cannot separate the comparison from the
    Kindel (2023), supplement, "Centroid cosine similarity regression": the display with gamma_0 to gamma_3.
    """
    if len(centroids) != 2 or len(words) != 2:
        raise MeasureError(f"Found {len(centroids)} lists for centroids and {len(words)} of words. Give two of each.")
    targets = [checked_rows(one) for one in words]
    d = np.repeat([0, 1], [len(target) for target in targets])
    omega = np.stack([checked_rows(one).sum(axis=0) for one in centroids])[d]
    pairs = pair_up(omega, np.concatenate(targets))
    columns = _two_lines(pairs, d, "gamma", ("_2", "_3", "_0", "_1"), "D")
    return _design("centroid", pairs, columns, ("gamma_0", "gamma_1"), d)


def bivariate_design(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> InnerProductDesign:
    """Return the regression of cos(A_i, B_i) on cos(C_i, D_i), with all terms that it fixes to zero.

    All vectors have shape (rows, dimensions). For the bivariate centroid regression, `a` (and `c`) repeat the centroid
    Omega^A (and Omega^B) in every row. Kindel (2023), supplement, "Bivariate cosine similarity regression" and
    "Bivariate centroid cosine similarity regression": gamma_0 to gamma_7. Its componentwise expansion of the latter is
    not fitted: with every cosine expanded it has more coefficients than any of its word lists has words.
    """
    left, right = pair_up(a, b), pair_up(c, d)
    if len(left.inner) != len(right.inner):
        raise MeasureError(f"There are {len(left.inner)} pairs on the left and {len(right.inner)} on the right.")
    columns = {
        "gamma_0": Term("LNW", "1", left.lnw),
        "gamma_1": Term("cos_R LNW", "cos_R", right.cosine * left.lnw),
        "gamma_2": Term("1", "1/LNW", np.ones_like(left.lnw)),
        "gamma_3": Term("cos_R", "cos_R/LNW", right.cosine),
        "gamma_4": Term("1/LNW_R", "1/(LNW LNW_R)", 1 / right.lnw),
        "gamma_5": Term("inner_R", "inner_R/LNW", right.inner),
        "gamma_6": Term("inner_R LNW", "inner_R", right.inner * left.lnw),
        "gamma_7": Term("LNW/LNW_R", "1/LNW_R", left.lnw / right.lnw),
    }
    return _design("bivariate", left, columns, ("gamma_0", "gamma_1"), None)


def overlapping_bivariate_centroid_design(omega_a: ArrayLike, omega_b: ArrayLike, x: ArrayLike) -> InnerProductDesign:
    """Return the regression of cos(Omega^A, X_i) on cos(Omega^B, X_i), in which ||X_i|| cancels and removes two terms.

    The centroids have shape (dimensions,), `x` has (rows, dimensions). LNW/LNW_R is constant, so that gamma_7 cannot be
    distinguished from gamma_2, nor gamma_1 from gamma_5: gamma_1 and gamma_2 stand for both. Kindel (2023), supplement,
    "Overlapping bivariate centroid cosine similarity regression": gamma_0 to gamma_7.
    """
    words = checked_rows(x)
    left, right = (pair_up(np.broadcast_to(np.asarray(omega), words.shape), words) for omega in (omega_a, omega_b))
    columns = {
        "gamma_0": Term("LNW", "1", left.lnw),
        "gamma_1": Term("cos_R LNW (with gamma_5)", "cos_R (with gamma_5)", right.cosine * left.lnw),
        "gamma_2": Term("1 (with gamma_7)", "1/LNW (with gamma_7)", np.ones_like(left.lnw)),
        "gamma_3": Term("cos_R", "cos_R/LNW", right.cosine),
        "gamma_4": Term("1/LNW_R", "1/(LNW LNW_R)", 1 / right.lnw),
        "gamma_6": Term("inner_R LNW", "inner_R", right.inner * left.lnw),
    }
    return _design("overlapping bivariate centroid", left, columns, ("gamma_0", "gamma_1"), None)


def _design(
    name: str, pairs: VectorPairs, columns: dict[str, Term], constrained: tuple[str, str], side: Any
) -> InnerProductDesign:
    """Return a design; the cosine regression estimates the coefficients of LNW and its product with the regressor."""
    letter = "gamma" if "gamma_0" in columns else "alpha"
    return InnerProductDesign(
        name=name,
        pairs=pairs,
        symbols=tuple(columns),
        terms=tuple(term.name for term in columns.values()),
        ratio_terms=tuple(term.over_lnw for term in columns.values()),
        columns=np.column_stack([term.values for term in columns.values()]),
        constrained=constrained,
        constrained_symbols=(f"{letter}_0*", f"{letter}_1*"),
        side=side,
    )


def _two_lines(pairs: VectorPairs, x: Floats, letter: str, numbers: Sequence[str], name: str) -> dict[str, Term]:
    """Return an intercept and a slope on LNW, and the differences of both between the two sides."""
    terms = (
        Term("1", "1/LNW", np.ones_like(pairs.lnw)),
        Term(name, f"{name}/LNW", x),
        Term("LNW", "1", pairs.lnw),
        Term(f"{name} LNW", name, x * pairs.lnw),
    )
    return {f"{letter}{number}": term for number, term in zip(numbers, terms, strict=True)}


def _checked_side(side: ArrayLike, rows: int) -> Any:
    """Return the side of each row; raise `MeasureError` unless both sides are present."""
    x = np.asarray(side)
    if x.shape != (rows,) or not np.isin(x, (0, 1)).all() or len(np.unique(x)) != 2:
        raise MeasureError(f"The side must be 0 or 1 for each of the {rows} rows, with rows on both. Found {side!r}.")
    return x.astype(np.int64)

"""The variances of premises: the density against dense matrices, the draws against a grid of them, and their limits."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bayesbias.base.arrays import Floats
from bayesbias.nli.answer_draws import Premises, draw_variances


def made(rng: np.random.Generator, verbs: int, objects: int, premises: int) -> Premises:
    """Premises at random, each verb and object at least once."""
    codes = [np.concatenate([np.arange(n), rng.integers(0, n, premises - n)]) for n in (verbs, objects)]
    return Premises.from_codes(codes[0], rng.permutation(codes[1]))


def rows_of(rng: np.random.Generator, premises: Premises, sds: tuple[float, float, float], count: int) -> Floats:
    verbs, objects = premises.codes
    effects = rng.normal(size=(count, verbs.max() + 1)), rng.normal(size=(count, objects.max() + 1))
    noise = rng.normal(size=(count, len(verbs)))
    return sds[0] * effects[0][:, verbs] + sds[1] * effects[1][:, objects] + sds[2] * noise


def test_the_draws_are_those_of_a_dense_posterior() -> None:
    """Against importance sampling of all three variances with SciPy's density of the rows, the means integrated out."""
    rng = np.random.default_rng(3)
    premises = made(rng, 5, 7, 40)
    rows = rows_of(rng, premises, (0.8, 0.5, 1.0), 2)
    indicators = [np.eye(code.max() + 1)[code] for code in premises.codes]
    between = [part @ part.T for part in indicators]
    basis = np.linalg.qr(np.column_stack([np.ones(40), rng.normal(size=(40, 39))]))[0][:, 1:]  # orthogonal to the mean
    reduced = rows @ basis
    logs, points = [], []
    for _ in range(4000):
        u, w, residual = *rng.uniform(0, 0.97, 2), np.exp(rng.uniform(np.log(0.3), np.log(3)))
        ratios = [np.tan(np.pi / 2 * part) ** 2 for part in (u, w)]
        dense = residual * (np.eye(40) + ratios[0] * between[0] + ratios[1] * between[1])
        # Proposed with the prior (ratios beyond 20 have no likelihood here): the likelihood is the weight.
        logs.append(multivariate_normal(cov=basis.T @ dense @ basis).logpdf(reduced).sum())
        points.append([u, w, np.log(residual)])
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    expected = weights @ np.array(points)
    error = np.sqrt((weights[:, None] ** 2 * (np.array(points) - expected) ** 2).sum(axis=0))
    drawn = draw_variances(rows, premises, 20_000, rng)
    ratio = np.arctan(np.sqrt(drawn[:, :2] / drawn[:, 2:])) * 2 / np.pi
    drawn_points = np.column_stack([ratio, np.log(drawn[:, 2])])
    error = np.hypot(error, drawn_points.std(axis=0) / np.sqrt(20_000))
    assert np.all(abs(drawn_points.mean(axis=0) - expected) < 4.5 * error)


def test_many_premises_give_the_variances_back() -> None:
    rng = np.random.default_rng(1)
    premises = made(rng, 300, 400, 6000)
    drawn = draw_variances(rows_of(rng, premises, (0.3, 0.2, 0.5), 3), premises, 500, rng)
    assert np.sqrt(drawn).mean(axis=0) == pytest.approx([0.3, 0.2, 0.5], rel=0.08)


def test_the_variance_of_a_mean_by_dense_matrices() -> None:
    rng = np.random.default_rng(2)
    premises = made(rng, 4, 6, 30)
    indicators = [np.eye(code.max() + 1)[code] for code in premises.codes]
    dense = 0.5 * indicators[0] @ indicators[0].T + 0.2 * indicators[1] @ indicators[1].T + 0.9 * np.eye(30)
    variance = premises.variance_of_mean(np.array([[0.5, 0.2, 0.9]]))
    assert variance[0] == pytest.approx(dense.mean(), rel=1e-12)


def test_verbs_and_objects_that_cannot_be_told_have_no_variance() -> None:
    rng = np.random.default_rng(5)
    premises = Premises.from_codes(np.zeros(20, dtype=int), np.arange(20))  # one verb, each object once
    assert premises.has_variance == (False, False)
    row = rng.normal(size=(1, 20))
    drawn = draw_variances(row, premises, 4000, rng)
    assert (drawn[:, :2] == 0).all()
    # Then what is left is that of a Normal sample: squares over chi-square with 19 degrees of freedom.
    squares = ((row - row.mean()) ** 2).sum()
    assert (squares / drawn[:, 2]).mean() == pytest.approx(19, abs=4 * np.sqrt(38 / 4000))


def test_verbs_and_objects_that_say_all() -> None:
    rng = np.random.default_rng(8)
    premises = made(rng, 5, 7, 60)
    row = rows_of(rng, premises, (0.3, 0.2, 0.0), 1)
    drawn = draw_variances(row, premises, 500, rng)
    assert np.isfinite(drawn).all()
    assert (drawn[:, 2] < 1e-6 * drawn[:, 0]).all()
    assert 0.1 < np.sqrt(np.median(drawn[:, 0])) < 0.9


@pytest.mark.parametrize("residual_sd", [1e-4, 1e-6, 1e-8, 0.0])
@pytest.mark.parametrize("object_sd", [1.0, 0.0])
def test_variances_do_not_depend_on_residuals_that_are_tiny(residual_sd: float, object_sd: float) -> None:
    """Whatever rounding leaves, the variance of verbs is that of their means, with its chi-square error."""
    rng = np.random.default_rng(9)
    premises = Premises.from_codes(*np.divmod(np.arange(12 * 10), 10))
    verbs = rng.standard_normal((20, 12, 1))
    rows = (verbs + object_sd * rng.standard_normal((20, 1, 10))).reshape(20, -1)
    drawn = draw_variances(rows + residual_sd * rng.standard_normal(rows.shape), premises, 4000, rng)
    variance = verbs.var(axis=1, ddof=1).mean()
    assert np.median(drawn[:, 0]) == pytest.approx(variance, rel=0.02)
    assert drawn[:, 0].std() == pytest.approx(variance * np.sqrt(2 / (20 * 11)), rel=0.1)
    assert (drawn[:, 2] < 1e-7).all()


def test_premises_that_do_not_differ() -> None:
    rng = np.random.default_rng(6)
    assert (draw_variances(np.full((2, 30), 0.4), made(rng, 3, 5, 30), 10, rng) == 0).all()

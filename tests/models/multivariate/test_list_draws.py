"""Draws given hyperparameters, against the conjugate posterior that is written out and SciPy's distributions."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_draws import draw_lists
from bayesbias.models.multivariate.list_model import Coordinates, ListStatistics, coordinates_of, list_statistics
from tests.models.made_lists import list_sample

DRAWS = 20_000
OMEGA, PSI, STRENGTH = 0.05, 0.03, 4.0
SIGMA, WEIGHT, EFFECT, SLOPE, SCALE = 0.04, 1.5, 0.3, 0.6, 1.3
POINTS = [np.log([[OMEGA, PSI, STRENGTH]])] * 2 + [np.log([[SIGMA, WEIGHT, EFFECT, SLOPE, SCALE]])]


def setting(groups: tuple[int, ...]) -> tuple[AttributeSample, Coordinates, ListStatistics]:
    sample, _ = list_sample(groups=groups, attributes=5, controls=6)
    axes = coordinates_of(sample.distances, sample.pattern_of)
    ones = np.ones((1, len(sample.distances)))
    return sample, axes, list_statistics(sample, sample.distances[None], ones, axes)


def of_groups(sample: AttributeSample, axes: Coordinates, place: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return centre, scale, freedom and size of a list's inverse-Wishart posterior, from the model's own equations."""
    x = sample.distances[sample.list_of == place] @ axes.between
    root, error = np.sqrt(axes.sizes), 1e-6 * len(x) * np.eye(len(axes.sizes))
    target = OMEGA**2 * np.outer(root, root) + PSI**2 * np.diag(axes.sizes)
    residual = x - x.mean(axis=0)
    # The flat mean takes one of the words.
    freedom = STRENGTH + len(root) + 1 + len(x) - 1
    return x.mean(axis=0), STRENGTH * target + residual.T @ residual + error, freedom, len(x)


@pytest.mark.parametrize("groups", [(2, 1), (3, 2, 2)])
def test_means_of_groups_are_student_t_and_their_covariance_inverse_wishart(groups: tuple[int, ...]) -> None:
    sample, axes, of_table = setting(groups)
    means, covariances = draw_lists(POINTS, of_table, axes, 1, draws=DRAWS, covariances=True)
    assert covariances is not None
    for place in range(len(sample.lists)):
        centre, scale, freedom, size = of_groups(sample, axes, place)
        degrees = freedom - len(groups) + 1
        for group, drawn in enumerate((means[:, place] @ axes.between).T):
            exact = stats.t(degrees, centre[group], np.sqrt(scale[group, group] / (size * degrees)))
            assert stats.kstest(drawn, exact.cdf).pvalue > 1e-4
        lean = axes.between.T @ covariances[:, place] @ axes.between
        error = lean.std(axis=0) / np.sqrt(DRAWS)
        assert (np.abs(lean.mean(axis=0) - stats.invwishart(freedom, scale).mean()) < 4.5 * error).all()


@pytest.mark.parametrize("covariances", [True, False])
@pytest.mark.parametrize("groups", [(2, 1), (3, 2)])
def test_means_of_words_have_the_moments_of_the_regression(groups: tuple[int, ...], covariances: bool) -> None:
    """Mean and variance of a' theta, with a = (1, list, x - x0), over the posteriors of theta, E and the means x."""
    sample, axes, of_table = setting(groups)
    lists, words, contrasts = len(sample.lists), sum(groups), axes.contrasts
    x, c = sample.distances @ axes.between, sample.distances @ axes.within
    origin = np.mean([x[sample.list_of == place].mean(axis=0) for place in range(lists)], axis=0)
    share = np.where(sample.list_kind[sample.list_of] == 0, SCALE**-2.0, 1.0)
    design = np.column_stack([np.ones(len(x)), np.eye(lists)[sample.list_of], x - origin])
    prior = np.diag([0.0, *[1 / EFFECT] * lists, *[SIGMA**2 * words / SLOPE**2] * len(groups)])
    matrix = design.T @ (share[:, None] * design) + prior
    theta = np.linalg.solve(matrix, design.T @ (share[:, None] * c))
    left = c.T @ (share[:, None] * c) - theta.T @ matrix @ theta
    scale = left + (WEIGHT * words * SIGMA**2 + 1e-6 * share.sum()) * np.eye(contrasts)
    # E has v J + p + 1 degrees of freedom and one more for each attribute word but the flat intercept's.
    mean_covariance = scale / (WEIGHT * words + contrasts + 1 + len(x) - 1 - contrasts - 1)
    inverse = np.linalg.inv(matrix)
    drawn, _ = draw_lists(POINTS, of_table, axes, 2, draws=DRAWS, covariances=covariances)
    for place in range(lists):
        centre, of_list, freedom, size = of_groups(sample, axes, place)
        spread = of_list / size / (freedom - len(groups) - 1)
        row = np.array([1.0, *np.eye(lists)[place], *(centre - origin)])
        share_of_noise = row @ inverse @ row + np.trace(inverse[1 + lists :, 1 + lists :] @ spread)
        slopes = theta[1 + lists :]
        variance = share_of_noise * np.diag(mean_covariance) + np.diag(slopes.T @ spread @ slopes)
        of_contrasts = drawn[:, place] @ axes.within
        assert (np.abs(of_contrasts.mean(axis=0) - row @ theta) < 4.5 * np.sqrt(variance / DRAWS)).all()
        np.testing.assert_allclose(of_contrasts.var(axis=0), variance, rtol=0.06)


def test_points_are_taken_in_turn() -> None:
    _, axes, of_table = setting((2, 2))
    wide = [np.vstack([point, point + np.log([20, 20, 50])]) for point in POINTS[:2]]
    drawn, _ = draw_lists([*wide, POINTS[2]], of_table, axes, 1, draws=2001, covariances=False)
    assert len(drawn) == 2001
    sds = [(drawn[start::2, 0] @ axes.between).std(axis=0) for start in (0, 1)]
    assert (sds[1] > 5 * sds[0]).all()


def test_what_is_drawn_of_controls_and_single_words_does_not_move_the_means_of_groups() -> None:
    sample, axes, of_table = setting((2, 2))
    stereotype = sample.list_kind == 0
    other = [POINTS[0], POINTS[1] + 1.0, POINTS[2] - 1.0]
    first, second = (
        draw_lists(points, of_table, axes, 1, draws=50, covariances=covariances)[0] @ axes.between
        for points, covariances in ((POINTS, True), (other, False))
    )
    np.testing.assert_allclose(first[:, stereotype], second[:, stereotype], atol=1e-12)
    assert (np.abs(first - second)[:, ~stereotype] > 1e-6).all()

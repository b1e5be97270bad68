"""Draws of the mean distances of lists: against the data, brute force, and each other."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_means import MOST_WORDS_IN_SWEEPS, ListMeanDraws, sample_list_means
from tests.models.made_lists import list_sample

SHARED = Path(__file__).resolve().parents[4] / "shared"


def draw(sample: AttributeSample, connections: tuple[str, ...], draws: int = 4000, **options: object) -> ListMeanDraws:
    options = {"priors": bb.load_model("multivariate_robust").priors} | options
    return sample_list_means(sample, connections, draws=draws, seed=1, **options)  # type: ignore[arg-type]


def group_gaps(drawn: ListMeanDraws, sample: AttributeSample) -> np.ndarray:
    """Return associated minus different of each group, shape (draws, groups)."""
    gaps = drawn.posterior["word_mean"][..., 0] - drawn.posterior["word_mean"][..., 1]
    groups = range(sample.group_of.max() + 1)
    return np.stack([gaps[:, sample.group_of == group].mean(axis=1) for group in groups], axis=1)


def plain_gaps(sample: AttributeSample) -> np.ndarray:
    means = np.stack([sample.distances[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
    words = np.einsum("lj,jcl->jc", means, sample.connection_weights)
    groups = range(sample.group_of.max() + 1)
    return np.array([np.subtract(*words[sample.group_of == group].mean(axis=0)[:2]) for group in groups])


@pytest.mark.parametrize("groups", [(3, 3), (2, 3, 4), (1, 1), (5, 1)])
@pytest.mark.parametrize("controls", [0, 10])
def test_groups_have_their_plain_differences(groups: tuple[int, ...], controls: int) -> None:
    sample, connections = list_sample(groups=groups, controls=controls)
    gaps = group_gaps(draw(sample, connections), sample)
    error = gaps.std(axis=0) / np.sqrt(len(gaps))
    assert (np.abs(gaps.mean(axis=0) - plain_gaps(sample)) < 4 * error).all()


def test_control_words_leave_the_means_of_stereotype_lists_to_groups_as_they_are() -> None:
    sample, connections = list_sample(controls=40)
    stereotype = sample.list_kind[sample.list_of] == 0
    fewer = replace(
        sample,
        distances=sample.distances[stereotype],
        list_of=sample.list_of[stereotype],
        lists=sample.lists[:2],
        list_kind=sample.list_kind[:2],
        kinds=sample.kinds[:1],
        connection_weights=sample.connection_weights[:, :2, :2],
    )
    with_controls, without = (
        group_gaps(draw(part, names), part) for part, names in ((sample, connections), (fewer, connections[:2]))
    )
    np.testing.assert_allclose(with_controls, without, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [3, 6])
def test_intervals_of_short_lists_are_no_narrower_than_students(attributes: int) -> None:
    """Over tables: the sd of Student's t beside the posterior's, of the mean over groups."""
    ratios = []
    for seed in range(20):
        sample, connections = list_sample(attributes=attributes, controls=0, seed=seed)
        posterior = group_gaps(draw(sample, connections, 1000), sample).mean(axis=1)
        signs = np.array([1.0, -1.0])[sample.group_of]
        lean = sample.distances @ signs / len(signs)
        by_list = [lean[sample.list_of == place] for place in (0, 1)]
        freedom = 2 * (attributes - 1)
        square = sum(part.var(ddof=1) for part in by_list) / attributes
        ratios.append(np.log(posterior.var() / (square * freedom / (freedom - 2))))
    assert np.mean(ratios) > -0.3


def test_same_seed_gives_the_same_draws() -> None:
    sample, connections = list_sample()
    one, two = (draw(sample, connections, 500).posterior for _ in range(2))
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])


def test_equal_vectors_have_equal_means() -> None:
    sample, connections = list_sample()
    distances = sample.distances.copy()
    distances[:, 1] = distances[:, 0]
    drawn = draw(replace(sample, distances=distances), connections)
    between = drawn.posterior["list_mean"][..., 0] - drawn.posterior["list_mean"][..., 1]
    assert np.abs(between).max() < 0.02


@pytest.mark.parametrize("attributes", [1, 2])
def test_lists_of_few_words_have_wide_intervals(attributes: int) -> None:
    sample, connections = list_sample(attributes=attributes, controls=0)
    gaps = group_gaps(draw(sample, connections), sample)
    assert np.isfinite(gaps).all()
    assert (gaps.std(axis=0) > 0.02).all()


def test_one_group_with_two_lists() -> None:
    sample, connections = list_sample(groups=(4,))
    only = replace(sample, connection_weights=sample.connection_weights[:, [0, 0, 2]])
    assert np.isfinite(draw(only, connections).posterior["connection_mean"]).all()


def test_more_protected_words_than_dimensions_and_attribute_words() -> None:
    """The plain difference is +0.05 by construction, not 0: what the exchangeable words made of it."""
    sample, connections = list_sample(groups=(60, 70), attributes=8, controls=5)
    drawn = draw(sample, connections, 1000)
    assert "residual_covariance" not in drawn.posterior
    gaps = group_gaps(drawn, sample)
    np.testing.assert_allclose(gaps.mean(axis=0), plain_gaps(sample), atol=5 * gaps.std() / np.sqrt(1000))


def test_directions_without_data_do_not_change_the_answer() -> None:
    """The same table by all columns of N (the covariance is kept) and by those that vary alone."""
    sample, connections = list_sample(groups=(9, 9), attributes=4, controls=3)
    with_covariance, reduced = (
        draw(sample, connections, 4000, covariances=covariances).posterior["list_mean"] for covariances in (True, False)
    )
    error = np.sqrt((with_covariance.var(axis=0) + reduced.var(axis=0)) / 4000)
    assert (np.abs(with_covariance.mean(axis=0) - reduced.mean(axis=0)) < 4.5 * error).all()
    np.testing.assert_allclose(reduced.std(axis=0), with_covariance.std(axis=0), rtol=0.15)


@pytest.mark.slow
def test_lost_pairs_are_those_of_the_whole_table_with_more_error() -> None:
    sample, connections = list_sample(groups=(2, 2), attributes=5, controls=0)
    distances = sample.distances.copy()
    distances[0, 0] = np.nan
    swept = draw(replace(sample, distances=distances), connections, 8000)
    gaps = group_gaps(swept, sample)
    whole = group_gaps(draw(sample, connections, 8000), sample)
    assert np.abs(gaps.mean(axis=0) - whole.mean(axis=0)).max() < 0.6 * whole.std(axis=0).min()
    assert (gaps.std(axis=0) > 0.9 * whole.std(axis=0)).all()


@pytest.mark.slow
def test_outlying_attribute_words_count_less_with_a_student_t() -> None:
    """The share of an outlying word's effect that stays in the estimate, which is 0.95 of Normal words."""
    sample, connections = list_sample(attributes=12, controls=20)
    distances = sample.distances.copy()
    distances[0] += np.array([0.5, 0.5, 0.5, -0.3, -0.3, -0.3])
    moved = replace(sample, distances=distances)
    drawn = draw(moved, connections, 1000, likelihood="student_t")
    assert drawn.posterior["attribute_weight"].mean(axis=0).argmin() == 0
    clean, outlying = plain_gaps(sample)[0], plain_gaps(moved)[0]
    assert (group_gaps(drawn, sample)[:, 0].mean() - clean) / (outlying - clean) < 0.65


def test_too_many_words_with_lost_pairs_are_refused() -> None:
    sample, connections = list_sample(groups=(MOST_WORDS_IN_SWEEPS, 1), attributes=2, controls=0, lost=0.1)
    with pytest.raises(FitError, match="lost pairs"):
        draw(sample, connections)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the reference data are absent")
def test_agrees_with_the_prototype_on_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prototype shares its priors over kinds of lists: means of groups agree, and their sds nearly."""
    monkeypatch.syspath_prepend(str(SHARED / "prototypes"))
    prototype = importlib.import_module("list_means")
    for name in ("list_means", "real_gaps", "multivariate_gibbs"):
        sys.modules.pop(name, None)
    sample, connections = list_sample(attributes=8, controls=30)
    kinds = sample.list_kind[sample.list_of]
    means, _, _ = prototype.fit(sample.distances, sample.list_of, kinds, sample.group_of, draws=400, warmup=400)
    theirs = np.einsum("dlj,jcl->djc", means, sample.connection_weights)
    gaps = theirs[..., 0] - theirs[..., 1]
    theirs = np.stack([gaps[:, sample.group_of == group].mean(axis=1) for group in (0, 1)], axis=1)
    ours = group_gaps(draw(sample, connections), sample)
    assert np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max() < 0.25 * theirs.std(axis=0).min()
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.25)

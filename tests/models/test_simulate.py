"""Simulated tables follow their model."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.errors import ArgumentError, ModelError, TableError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import coordinates_of
from bayesbias.models.simulate import draw_distances, draw_parameters, given_parameters, simulate_table
from bayesbias.tables.schema import validate_table
from tests.models.tables import small

MODELS = bb.list_models()


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread: the matrices are small, and threads that wait for each other take longer."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def design() -> pd.DataFrame:
    return small(8, 5).drop(columns="cosine_distance")


@pytest.fixture(scope="module")
def data() -> ModelData:
    return model_data(small(8, 5))


def given_for(model: str) -> dict[str, object]:
    """Return true values whose second moments differ from each other."""
    spec = bb.load_model(model)
    switches = spec.switches
    if spec.multivariate:
        tail = {"nu": 8.0} if switches["likelihood"] == "student_t" else {}
        return tail | {
            "connection_mean": [0.7, 0.8, 0.9, 1.0],
            "effect_sd": [0.1, 0.2, 0.15, 0.25],
            "attribute_sd": 0.12,
            "group_attribute_sd": 0.1,
            "sigma": 0.2,
            "target_weight": 5.0,
            "residual_weight": 1.0,
            "list_effect": 0.3,
            "slope_sd": 0.5,
            "list_scale": [1.3, 0.7],
        }
    given: dict[str, object] = {"connection_mean": [0.7, 0.8, 0.9, 1.0], "sigma": [0.2, 0.3, 0.15, 0.25]}
    if switches["pooling"] == "partial":
        given["word_sd"] = {"associated": 0.1, "different": 0.2, "human": 0.15, "neutral": 0.25}
    if switches["attribute_effects"] != "none":
        one = switches["attribute_effects"] == "one"
        given["attribute_sd"] = 0.12 if one else {"stereotype": 0.12, "human": 0.2, "neutral": 0.3}
    return given


def word_sds(effect_sd: np.ndarray) -> np.ndarray:
    """Sds of a word's means where effects are independent on average: level and half a contrast, human, neutral."""
    level, contrast, human, neutral = effect_sd
    return np.array([np.hypot(level, contrast / 2)] * 2 + [human, neutral])


def expected_covariance(data: ModelData, given: dict[str, np.ndarray], kind: int) -> np.ndarray:
    """The mean covariance of attribute words of a kind: W T W' + (tr(T) slope_sd^2 / J + s^2 sigma^2) N N'."""
    group_of = np.unique(data.protected_groups, return_inverse=True)[1]
    words, axes = len(group_of), coordinates_of(np.zeros((len(group_of),) * 2), group_of)
    roots = np.sqrt(axes.sizes)
    target = given["attribute_sd"][kind] ** 2 * np.outer(roots, roots)
    target = target + given["group_attribute_sd"][kind] ** 2 * np.diag(axes.sizes)
    scale = np.append(given["list_scale"], 1.0)[kind]
    within = np.trace(target) * given["slope_sd"] ** 2 / words + (scale * given["sigma"]) ** 2
    return axes.between @ target @ axes.between.T + within * axes.within @ axes.within.T


def agrees(values: np.ndarray, expected: float) -> bool:
    """Whether a mean is within 5 standard errors of what it should be."""
    return abs(values.mean() - expected) < 5 * values.std(ddof=1) / np.sqrt(len(values)) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_simulated_distances_have_the_moments_that_the_model_states(model: str, data: ModelData) -> None:
    # Means, variances and covariances written out from the model's formula; words and effects are drawn anew.
    spec = bb.load_model(model)
    given = given_parameters(data, spec, given_for(model))
    partial = spec.switches["pooling"] != "none"
    rng = np.random.default_rng(20261120)
    drawn = [draw_parameters(data, spec, rng=rng, given=given) for _ in range(1500)]
    y = np.array([draw_distances(data, spec, parameters, rng=rng) for parameters in drawn])
    row = {(p, a): row_number for row_number, (p, a) in enumerate(zip(data.protected, data.attribute, strict=True))}
    sd_lists = [0, 0, 1, 2]
    for g, name in enumerate(data.connections):
        first_row = int(np.flatnonzero(data.connection == g)[0])
        p, a = int(data.protected[first_row]), int(data.attribute[first_row])
        other_attribute = next(
            i for i in np.flatnonzero((data.connection == g) & (data.protected == p)) if i != first_row
        )
        other_word = row[(p + 1, a)]  # the first four words form one group: the same connection
        elsewhere = row[(p + 1, int(data.attribute[other_attribute]))]
        mean = given["connection_mean"][g]
        words = int((data.pair_counts[:, g] > 0).sum())
        between = 0.3**2 * (1 - 1 / words)
        if partial:
            between = (given["word_sd"] if "word_sd" in given else word_sds(given["effect_sd"]))[g] ** 2
        # Given the average of J independent Normal numbers, two of them have a covariance of -s^2 / J.
        across = 0.0 if partial else -(0.3**2) / words
        effect = np.broadcast_to(given.get("attribute_sd", 0.0), 3)[sd_lists[g]] ** 2
        noise = np.broadcast_to(given["sigma"], 4)[g] ** 2
        if spec.multivariate:  # the first words of the table form one group
            wider = 8 / 6 if spec.switches["likelihood"] == "student_t" else 1.0
            covariance = expected_covariance(data, given, sd_lists[g]) * wider
            effect = covariance[p, p + 1]
            noise = covariance[p, p] - effect
        centred = y - mean
        assert agrees(y[:, first_row], mean), name
        assert agrees(centred[:, first_row] ** 2, between + effect + noise), name
        assert agrees(centred[:, first_row] * centred[:, other_attribute], between), name
        assert agrees(centred[:, first_row] * centred[:, other_word], across + effect), name
        assert agrees(centred[:, first_row] * centred[:, elsewhere], across), name


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_given_comes_from_its_prior(model: str, data: ModelData) -> None:
    spec = bb.load_model(model)
    rng = np.random.default_rng(1)
    drawn = [draw_parameters(data, spec, rng=rng) for _ in range(400)]
    for name, prior in spec.priors.items():
        values = np.array([np.ravel(parameters[name])[0] for parameters in drawn])
        if name == "connection_mean" and spec.switches["pooling"] == "none":
            expected = stats.norm(1, 0.3 / np.sqrt(8))
        else:
            expected = prior
        if prior.distribution.startswith("Half"):  # of both halves
            values = values * rng.choice([-1, 1], len(values))
        assert stats.kstest(values, expected.cdf).pvalue > 1e-4, name


@pytest.mark.parametrize("model", MODELS)
def test_a_simulated_table_repeats_and_says_what_is_true(model: str, design: pd.DataFrame) -> None:
    first, again, other = (simulate_table(design, model, random_seed=seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(first, again)
    assert first.attrs == again.attrs
    assert not first["cosine_distance"].equals(other["cosine_distance"])
    facts = first.attrs["bayesbias"]
    assert facts["simulated"] is True
    assert set(facts["parameters"]) == {"connection_mean", *bb.load_model(model).priors}
    np.testing.assert_allclose(first["cosine_similarity"], 1 - first["cosine_distance"])
    # The recorded values give the table again where nothing else is random.
    still = {
        name: 0.0
        for name in ("word_sd", "effect_sd", "sigma", "attribute_sd", "group_attribute_sd")
        if name in facts["parameters"]
    }
    if model == "no_pooling":
        return
    flat = simulate_table(design, model, parameters={**facts["parameters"], **still})
    expected = flat["connection"].astype(str).map(facts["parameters"]["connection_mean"]).astype(float)
    np.testing.assert_allclose(flat["cosine_distance"], expected)
    assert isinstance(flat.attrs["bayesbias"]["random_seed"], int)


def test_only_simulated_distances_may_leave_0_to_2(design: pd.DataFrame) -> None:
    simulated = simulate_table(design, "hierarchical", parameters={"sigma": 3.0}, random_seed=1)
    assert simulated["cosine_distance"].min() < 0
    assert simulated["cosine_distance"].max() > 2
    assert len(validate_table(simulated)) == len(design)
    fitted = bb.fit(simulated, "hierarchical", sampler="exact", draws=200, chains=2, random_seed=1)
    assert bb.models.fit_attribute(fitted, "table")["simulated"] is True
    for attrs, message in (
        ({}, "0 to 2"),
        ({"bayesbias": {"simulated": "yes"}}, "simulated"),
    ):
        claimed = simulated.copy()
        claimed.attrs = attrs
        with pytest.raises(TableError, match=message):
            validate_table(claimed)
    inconsistent = simulated.assign(cosine_similarity=0.0)
    inconsistent.attrs = simulated.attrs
    with pytest.raises(TableError, match="1 - cosine_distance"):
        validate_table(inconsistent)


def test_a_table_that_kept_duplicates_is_simulated_without_them(design: pd.DataFrame) -> None:
    table = simulate_table(design, random_seed=1)
    doubled = pd.concat([table, table], ignore_index=True)
    doubled.attrs = {"bayesbias": {"duplicates": {"policy": "keep"}}}
    assert len(simulate_table(doubled, random_seed=1)) == len(design)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"word_ds": 1.0}, "'word_ds' .*'word_sd'"),
        ({"group_mean": 1.0}, "'connection_mean'"),
        ({"nu": 3.0}, "'nu'"),
        ({"sigma": -1.0}, "sigma=-1.0.* 0"),
        ({"sigma": float("nan")}, "sigma=nan"),
        ({"connection_mean": [1.0, 2.0]}, "4 numbers, .*associated"),
        ({"connection_mean": {"associated": 1.0}}, "different, human, neutral"),
        ({"connection_mean": {"humen": 1.0}}, "'human'"),
        ({"connection_mean": "one"}, "connection_mean='one'"),
        ({"attribute_sd": [0.1, 0.2]}, r"attribute_sd=\[0.1, 0.2\]"),
        ({"attribute_sd": {"human": 0.1}}, "attribute_sd={'human'"),
    ],
)
def test_impossible_parameters_are_named(parameters: dict[str, object], message: str, design: pd.DataFrame) -> None:
    with pytest.raises(ModelError, match=message):
        simulate_table(design, "crossed", parameters=parameters, random_seed=1)


def test_unusable_requests_are_named(design: pd.DataFrame) -> None:
    with pytest.raises(ModelError, match="'crosed'"):
        simulate_table(design, "crosed")
    with pytest.raises(TableError, match="dict"):
        simulate_table({}, "crossed")  # type: ignore[arg-type]
    with pytest.raises(TableError, match="'connection'"):
        simulate_table(design.drop(columns="connection"))
    with pytest.raises(TableError, match="rows"):
        simulate_table(design.iloc[:0])
    for seed in (-1, 1.5, True):
        with pytest.raises(ArgumentError, match="random_seed"):
            simulate_table(design, random_seed=seed)  # type: ignore[arg-type]
    spec = bb.load_model("no_pooling", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    with pytest.raises(ModelError, match=r"connection_mean .*StudentT"):
        simulate_table(design, spec, parameters={"connection_mean": 1.0})


def test_words_of_simulated_tables_are_independent_whatever_their_distances_show(table: pd.DataFrame) -> None:
    simulated = simulate_table(table, "crossed", random_seed=1)
    data = model_data(simulated)
    assert data.attribute_links is not None
    assert (attribute_sample(data).list_effects == 1).all()
    assert (attribute_sample(data).group_effects == 1).all()

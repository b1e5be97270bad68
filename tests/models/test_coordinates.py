"""Labels and dims of draws, and how much memory they need."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.coordinates import (
    PARAMETERS,
    bytes_of_draws,
    coordinates,
    draws_dataset,
    parameter_count,
    posterior_with_covariances,
)
from bayesbias.models.data import ModelData, model_data
from tests.models.tables import small


@pytest.fixture(scope="module")
def data() -> ModelData:
    return model_data(small(4, 3))


def test_labels_are_those_of_the_table(data: ModelData) -> None:
    labels = coordinates(data, bb.load_model("crossed"))
    assert labels["protected_word"].tolist() == ["p0", "p1", "p2", "p3"]
    assert labels["connection"].tolist() == ["associated", "different", "human", "neutral"]
    lists = {"x": 3, "y": 3, "human": 6, "neutral": 9}
    words = [f"{name}{number}" for name, size in lists.items() for number in range(size)]
    assert labels["attribute_word"].tolist() == words
    assert "attribute_group" not in labels
    assert coordinates(data, bb.load_model("multivariate"))["attribute_group"].tolist() == [
        "x",
        "y",
        "human",
        "neutral",
    ]


def test_draws_are_cut_into_chains_in_order(data: ModelData) -> None:
    draws = {"word_mean": np.arange(6 * 4 * 4.0).reshape(6, 4, 4), "sigma": np.arange(24.0).reshape(6, 4)}
    dataset = draws_dataset(draws, data, bb.load_model("hierarchical"), chains=2)
    assert dict(dataset.sizes) == {"chain": 2, "draw": 3, "protected_word": 4, "connection": 4}
    assert dataset["sigma"].dims == ("chain", "draw", "connection")
    cell = {"chain": 1, "draw": 2, "protected_word": "p3", "connection": "human"}
    assert float(dataset["word_mean"].sel(cell)) == draws["word_mean"][5, 3, 2]
    assert "attribute_word" not in dataset.coords


def test_draws_of_another_size_than_the_table_are_refused(data: ModelData) -> None:
    with pytest.raises(ValueError, match="protected_word"):
        draws_dataset({"word_mean": np.zeros((2, 5, 4))}, data, bb.load_model("hierarchical"))


@pytest.mark.parametrize("model", ["hierarchical", "crossed", "crossed_per_list", "multivariate"])
def test_memory_is_that_of_the_draws_of_a_fit(model: str) -> None:
    """Within a factor of two for the count of numbers; bytes include what sampling needs besides."""
    table = small(6, 6)
    fit = bb.fit(table, model, draws=500, chains=1, random_seed=1, progress=False)
    posterior = posterior_with_covariances(fit)
    numbers = sum(values[0, 0].size for values in posterior.data_vars.values())
    assert set(posterior.data_vars) <= set(PARAMETERS)
    sizes = len(set(table["protected_word"])), 4, len(set(table["attribute_word"]))
    assert numbers / 2 < parameter_count(bb.load_model(model), *sizes) < 2 * numbers
    assert bytes_of_draws(bb.load_model(model), 500, *sizes) > posterior.nbytes

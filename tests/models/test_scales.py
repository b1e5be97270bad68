"""A table times c has the posterior times c, whatever its unit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import FitError, TableError
from bayesbias.models.data import model_data
from bayesbias.models.scales import COSINE, Scale, scale_of
from bayesbias.tables.measures import Measure

NUMBERS = ["mean", "hdi_low", "hdi_high", "observed"]


def scores(factor: float = 1.0, shift: float = 0.0) -> pd.DataFrame:
    """Return the bundled table of WEAT 7 as scores without bounds."""
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    table = table[table["connection"].isin(["associated", "different"])].reset_index(drop=True)
    attrs = {"study": "weat7", "measure": Measure("rating", "points").record()}
    numbers = shift + factor * table["cosine_distance"]
    made = table.drop(columns=["cosine_distance", "cosine_similarity"]).assign(score=numbers)
    made.attrs = {"bayesbias": attrs}
    return made


@pytest.mark.parametrize("model", ["multivariate", "crossed_per_list", "hierarchical"])
def test_the_posterior_follows_the_unit(model: str) -> None:
    first = bb.contrasts(bb.fit(scores(), model, draws=1000, chains=4, random_seed=1, progress=False))[NUMBERS]
    for factor, shift in ((1000.0, 0.0), (0.01, -3.0)):
        table = scores(factor, shift)
        other = bb.contrasts(bb.fit(table, model, draws=1000, chains=4, random_seed=1, progress=False))[NUMBERS]
        np.testing.assert_allclose(other / factor, first, rtol=1e-5)


def test_cosine_distances_keep_their_priors() -> None:
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    assert model_data(table).scale is COSINE
    fit = bb.fit(table, draws=100, chains=1, random_seed=1, progress=False)
    assert "scale" not in fit.attrs
    assert json.loads(fit.attrs["model_hash"]) == bb.load_model("multivariate").digest


def test_the_scale_is_stored_with_the_fit(tmp_path: Path) -> None:
    table = scores(200.0, 600.0)
    fit = bb.fit(table, "crossed", draws=200, chains=1, random_seed=1, progress=False)
    again = bb.read_fit(bb.write_fit(fit, tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(bb.contrasts(again), bb.contrasts(fit))
    rebuilt = bb.models.fitted_table(again)
    assert rebuilt["score"].tolist() == table["score"].tolist()
    assert rebuilt.attrs["bayesbias"]["measure"] == table.attrs["bayesbias"]["measure"]
    # Priors are in the unit of the table.
    unit = model_data(table).scale.unit
    assert 100 < unit < 400
    assert f"rate={2 / unit:.3g}"[:8] in json.loads(again.attrs["model"])["priors"]["sigma"]


@pytest.mark.parametrize(
    ("factor", "shift", "error", "message"),
    [
        (1e150, 0.0, TableError, "lie outside -1e\\+100 to 1e\\+100"),
        (1.0, 1e15, FitError, "except for rounding"),
        (1e-150, 0.0, FitError, "except for rounding"),
    ],
)
def test_numbers_whose_spread_cannot_be_computed_are_refused(
    factor: float, shift: float, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        model_data(scores(factor, shift))


def test_small_units_are_fitted_and_rounding_has_no_unit() -> None:
    assert model_data(scores(1e-9)).scale.unit == pytest.approx(1e-9 * model_data(scores()).scale.unit)
    cells = np.repeat(np.arange(6), 4)
    numbers = cells + np.tile([0.0, 1e-15, 0.0, 1e-15], 6)  # equal in each cell, except for rounding
    assert scale_of(numbers, cells, np.zeros(24, dtype=np.int64)).unit > 1


@pytest.mark.parametrize("scale", ["[1e308, 20]", "[8, 1e300]", "[8, 1e-300]", "[NaN, 1]", None])
def test_a_scale_that_cannot_be_is_a_fault_of_a_fit(scale: str | None, tmp_path: Path) -> None:
    fit = bb.fit(scores(), "hierarchical", draws=100, chains=1, random_seed=1, progress=False)
    fit.attrs = {**fit.attrs, "scale": scale}
    if scale is None:
        del fit.attrs["scale"]
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    with pytest.raises(FitError, match="attribute scale"):
        bb.read_fit(path)


def test_draws_are_scaled_by_what_they_are() -> None:
    scale = Scale(8.0, 20.0)
    drawn = {"list_mean": 1.1, "sigma": 0.1, "word_covariance": 0.01, "target_weight": 5.0, "attribute_effect": -0.1}
    scaled = scale.draws({name: np.array(value) for name, value in drawn.items()})
    expected = {"list_mean": 10.0, "sigma": 2.0, "word_covariance": 4.0, "target_weight": 5.0, "attribute_effect": -2.0}
    assert {name: float(values.round(12)) for name, values in scaled.items()} == expected
    numbers = np.array([3.0, 9.5])
    np.testing.assert_allclose(scale.from_distances(scale.to_distances(numbers)), numbers)
    np.testing.assert_allclose(scale.inverse.from_distances(numbers), scale.to_distances(numbers))


def test_groups_of_single_words_have_a_scale() -> None:
    scale = scale_of(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 1, 0]))
    assert scale == Scale(7 / 3, pytest.approx(np.std([1, 2, 4]) / 0.07))


def test_distances_of_bundled_tables_have_the_usual_spread() -> None:
    """The sd that stands for 0.05 of cosine distance lies between 0.03 and 0.06 there, as the module says."""
    for path in sorted(bb.bundled("data", "tables").glob("*.csv.gz")):
        data = model_data(bb.read_table(path))
        groups = np.unique(data.protected_groups, return_inverse=True)[1]
        unit = scale_of(data.distance, groups[data.protected], data.attribute).unit
        assert 0.029 < 0.05 * unit < 0.06, path.name

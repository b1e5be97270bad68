"""Comparison of models, against SciPy's densities, ArviZ's PSIS-LOO and fits without each attribute word."""

from dataclasses import replace

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate, stats

import bayesbias as bb
from bayesbias.errors import FitError, ModelError
from bayesbias.models.data import attribute_lists, model_data
from bayesbias.models.likelihood import Densities, densities, psis_loo
from bayesbias.reports.robustness.model_comparison import AS_GOOD, PREFERRED, WORSE, compare_models

GROUPS = ("associated", "different", "human", "neutral")


def crossed_table(effect_sd: float, *, words: int = 5, attributes: int = 6, seed: int = 0) -> pd.DataFrame:
    """Two stereotype lists that change sides with the protected word's group, and two control lists."""
    rng = np.random.default_rng(seed)
    rows = []
    for list_name in ("one", "two", "human", "neutral"):
        for number in range(attributes):
            effect = effect_sd * rng.standard_normal()
            for place in range(words):
                own = list_name == ("one", "two")[place % 2]
                connection = list_name if list_name in GROUPS else "associated" if own else "different"
                rows.append(
                    {
                        "protected_word": f"p{place}",
                        "protected_group": f"group {place % 2}",
                        "attribute_word": f"{list_name}{number}",
                        "attribute_group": list_name,
                        "connection": connection,
                        "cosine_distance": 0.8 + 0.02 * place + effect + 0.03 * rng.standard_normal(),
                    }
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return crossed_table(0.06)


@pytest.fixture(scope="module")
def compared(small: pd.DataFrame) -> pd.DataFrame:
    return compare_models(small, random_seed=1)


@pytest.mark.parametrize("model", ["crossed", "crossed_per_list", "hierarchical", "hierarchical_common_scale"])
def test_densities_are_scipys(small: pd.DataFrame, model: str) -> None:
    data = model_data(small)
    fitted = bb.fit(small, model, draws=10, chains=2, random_seed=1)
    found = densities(fitted, data)
    posterior = fitted["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
    row_density, word_density = found.of_rows(np.arange(len(small))), found.of_words(0, len(data.attribute_words))
    lists = attribute_lists(data)
    for draw in (0, 7, 19):
        at = posterior.isel(sample=draw)
        expected = np.empty(len(small))
        for place, row in enumerate(small.itertuples()):
            cell = {"protected_word": row.protected_word, "connection": row.connection}
            mean = at["word_mean"].sel(cell)
            if "attribute_effect" in at:
                mean = mean + at["attribute_effect"].sel(attribute_word=row.attribute_word)
            sigma = at["sigma"].sel(connection=row.connection) if at["sigma"].ndim else at["sigma"]
            expected[place] = stats.norm(float(mean), float(sigma)).logpdf(row.cosine_distance)
        np.testing.assert_allclose(row_density[:, draw], expected)
        for number, word in enumerate(data.attribute_words):
            rows = small[small["attribute_word"] == word]
            cells = zip(rows["protected_word"], rows["connection"], strict=True)
            mean = [float(at["word_mean"].sel(protected_word=i, connection=g)) for i, g in cells]
            sigma = at["sigma"].sel(connection=rows["connection"].tolist()) if at["sigma"].ndim else at["sigma"]
            covariance = np.diag(np.broadcast_to(sigma**2, len(rows)))
            if "attribute_sd" in at:
                omega = np.broadcast_to(at["attribute_sd"], lists.max() + 1)[lists[number]]
                covariance = covariance + omega**2
            joint = stats.multivariate_normal(mean, covariance).logpdf(rows["cosine_distance"])
            assert word_density[number, draw] == pytest.approx(joint)


@pytest.mark.parametrize("rows", [1, 2, 5, 15])
def test_student_integral_is_scipys(rows: int) -> None:
    rng = np.random.default_rng(rows)
    data = model_data(crossed_table(0.05, words=rows, attributes=2, seed=rows))
    connections, draws = len(data.connections), 6
    sigma = rng.uniform(0.02, 0.1, (connections, draws))
    omega, nu = rng.uniform(0.02, 0.2, draws), np.array([1.5, 2.5, 4, 6, 20, 100])
    mean = rng.normal(0.85, 0.1, (rows, connections, draws))
    sd = np.broadcast_to(omega, (len(data.attribute_words), draws))
    found = Densities(data, mean, sigma, attribute_sd=sd, nu=nu).of_words(0, len(data.attribute_words))
    for word, draw in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)):
        mine = data.attribute == word
        at = mean[data.protected[mine], data.connection[mine], draw]
        scale = sigma[data.connection[mine], draw]
        student = stats.t(nu[draw], at, scale)

        def joint(b: float, mine: np.ndarray = mine, student: object = student, omega: float = omega[draw]) -> float:
            return float(np.exp(student.logpdf(data.distance[mine] - b).sum()) * stats.norm.pdf(b, 0, omega))

        points = np.linspace(-10 * omega[draw], 10 * omega[draw], 41).tolist()
        exact = integrate.quad(joint, points[0], points[-1], points=points, limit=500, epsrel=1e-10)[0]
        assert found[word, draw] == pytest.approx(np.log(exact), abs=0.01)


def test_student_rows_are_scipys(small: pd.DataFrame) -> None:
    data = model_data(small)
    nu = np.array([3.0, 8.0])
    mean = np.full((5, 4, 2), 0.8)
    found = Densities(data, mean, np.full((4, 2), 0.05), nu=nu)
    expected = stats.t(nu, 0.8, 0.05).logpdf(data.distance[:, None])
    np.testing.assert_allclose(found.of_rows(np.arange(len(small))), expected)
    words = pd.DataFrame(expected).groupby(data.attribute).sum().to_numpy()
    np.testing.assert_allclose(found.of_words(0, len(words)), words)


@pytest.mark.parametrize("draws", [100, 4000])
@pytest.mark.parametrize("efficiency", [1.0, 0.6])
def test_psis_is_arvizs(draws: int, efficiency: float) -> None:
    from arviz_stats.base.array import array_stats

    rng = np.random.default_rng(2)
    spread = rng.uniform(0.1, 2, (60, 1))
    log_density = -spread * rng.standard_normal((60, draws)) ** 2 + spread * rng.standard_normal((60, draws))
    elpd, khat = psis_loo(log_density, relative_efficiency=efficiency)
    theirs = array_stats.loo(log_density, chain_axis=None, r_eff=efficiency)
    np.testing.assert_allclose(elpd, theirs[0], rtol=1e-9)
    np.testing.assert_allclose(khat, theirs[1], atol=1e-9)


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
@pytest.mark.parametrize("model", ["hierarchical", "crossed_per_list"])
def test_pairs_are_az_loo(small: pd.DataFrame, compared: pd.DataFrame, model: str) -> None:
    fitted = bb.fit(small, model, draws=1000, chains=4, random_seed=1)
    posterior = fitted["posterior"].to_dataset()
    data = model_data(small)
    protected, connection = (xr.DataArray(codes, dims="pair") for codes in (data.protected, data.connection))
    mean = posterior["word_mean"].isel(protected_word=protected, connection=connection)
    if "attribute_effect" in posterior:
        mean = mean + posterior["attribute_effect"].isel(attribute_word=xr.DataArray(data.attribute, dims="pair"))
    sigma = posterior["sigma"].isel(connection=connection)
    distance = xr.DataArray(data.distance, dims="pair")
    values = -0.5 * np.log(2 * np.pi) - np.log(sigma) - 0.5 * ((distance - mean) / sigma) ** 2
    likelihood = xr.Dataset(
        {"cosine_distance": values.reset_coords(drop=True).drop_vars("connection", errors="ignore")}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": likelihood})
    theirs = az.loo(tree, reff=1.0)
    ours = compared.set_index("model").loc[model]
    assert ours["elpd_pairs"] == pytest.approx(theirs.elpd, abs=1e-6)
    assert ours["elpd_pairs_se"] == pytest.approx(theirs.se, abs=1e-6)
    assert ours["p_loo"] == pytest.approx(theirs.p, abs=1e-6)


@pytest.mark.parametrize("model", ["hierarchical", "crossed", "crossed_per_list"])
def test_words_are_fits_without_each(small: pd.DataFrame, compared: pd.DataFrame, model: str) -> None:
    data = model_data(small)
    found = compared.attrs["elpd_words"][model]
    assert list(found) == data.attribute_words.tolist()
    difference, error = [], []
    for place, word in enumerate(data.attribute_words):
        rest = bb.fit(small[small["attribute_word"] != word], model, draws=2000, chains=4, random_seed=50 + place)
        density = densities(rest, data, effects=False).of_words(place, place + 1)[0]
        weight = np.exp(density - density.max())
        difference.append(found[word] - np.log(weight.mean()) - density.max())
        error.append(weight.std() / weight.mean() / np.sqrt(len(weight)))
    # The comparison has half as many draws, and importance weights cost some of them.
    z = np.array(difference) / (np.array(error) * 3)
    assert np.abs(z).max() < 4, z
    assert abs(np.sum(difference)) < 4 * 3 * np.sqrt(np.square(error).sum())


def test_the_table(compared: pd.DataFrame, small: pd.DataFrame) -> None:
    assert compared["model"].tolist()[-1] == "hierarchical"
    assert compared["reading"].tolist() == [PREFERRED, AS_GOOD, WORSE]
    assert compared.loc[0, ["words_diff", "words_diff_se"]].tolist() == [0, 0]
    words = {name: np.array(list(values.values())) for name, values in compared.attrs["elpd_words"].items()}
    difference = words["hierarchical"] - words[compared.loc[0, "model"]]
    last = compared.iloc[-1]
    assert last["words_diff"] == pytest.approx(difference.sum())
    assert last["words_diff_se"] == pytest.approx(np.sqrt(len(difference)) * difference.std(ddof=1))
    advice = compared.attrs["advice"]
    assert advice.startswith(f"Trust {compared.loc[0, 'model']}")
    assert "Do not use the intervals of hierarchical" in advice
    assert "24 attribute words" in advice


def test_without_effects_no_model_is_worse() -> None:
    found = compare_models(crossed_table(0.0, attributes=8), random_seed=3)
    assert WORSE not in found["reading"].tolist()


def test_a_seed_repeats_and_models_do_not_disturb_each_other(small: pd.DataFrame, compared: pd.DataFrame) -> None:
    alone = compare_models(small, "crossed", random_seed=1)
    assert alone.attrs["elpd_words"]["crossed"] == compared.attrs["elpd_words"]["crossed"]
    assert alone["reading"].tolist() == [PREFERRED]
    assert "only the model crossed" in alone.attrs["advice"]
    first = compare_models(small, ["hierarchical"], draws=50)
    again = compare_models(small, ["hierarchical"], draws=50, random_seed=first.attrs["seed"])
    pd.testing.assert_frame_equal(first, again)


def test_a_word_that_alone_measures_a_connection_is_counted(small: pd.DataFrame) -> None:
    kept = small[(small["connection"] != "neutral") | (small["attribute_word"] == "neutral0")]
    found = compare_models(kept, random_seed=1, draws=500).set_index("model")
    assert (found["words_unreliable"] == 1).all()
    assert np.isfinite(found["elpd_words"]).all()
    assert "could not be left out" in found.attrs["advice"]


def test_duplicates_that_were_kept(small: pd.DataFrame) -> None:
    data = model_data(small)
    twice = replace(
        data,
        **{name: np.tile(getattr(data, name), 2) for name in ("distance", "protected", "connection", "attribute")},
    )
    fitted = bb.fit(small, "hierarchical", draws=10, random_seed=1)
    once, both = (densities(fitted, rows).of_words(0, 24) for rows in (data, twice))
    np.testing.assert_allclose(both, 2 * once)


def test_faults_are_found_before_sampling(small: pd.DataFrame) -> None:
    with pytest.raises(ModelError, match="did you mean 'crossed'"):
        compare_models(small, ("hierarchical", "crosed"))
    with pytest.raises(ModelError, match="stands twice"):
        compare_models(small, ("crossed", "crossed"))
    with pytest.raises(ModelError, match="no model to compare"):
        compare_models(small, ())
    with pytest.raises(FitError, match="random_seed"):
        compare_models(small, random_seed=-1)
    with pytest.raises(FitError, match="draws"):
        compare_models(small, draws=1)
    mixed = small.assign(attribute_word=small["attribute_word"].replace("neutral0", "human0"))
    mixed = mixed.drop_duplicates(["protected_word", "attribute_word"], keep="first")
    extra = mixed[mixed["attribute_word"] == "human0"].iloc[:1].assign(protected_word="p9", connection="neutral")
    with pytest.raises(FitError, match="'human0' stands in several lists"):
        compare_models(pd.concat([mixed, extra]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The sampler did not converge")
def test_a_nuts_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bayesbias.reports.robustness.model_comparison._without", lambda *_: float("nan")
    )  # each refit takes seconds
    tiny = crossed_table(0.06, words=4, attributes=5)
    found = compare_models(tiny, ("crossed", "crossed_robust"), draws=500, chains=2, random_seed=1)
    found = found.set_index("model")
    # The data are Normal, so a Student t cannot be far from it.
    assert abs(found.loc["crossed_robust", "elpd_words"] - found.loc["crossed", "elpd_words"]) < 5
    assert WORSE not in found["reading"].tolist()

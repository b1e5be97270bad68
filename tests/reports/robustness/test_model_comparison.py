"""Comparison of models, against ArviZ's PSIS-LOO and fits without each attribute word."""

import json
from dataclasses import replace
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, FitError, ModelError
from bayesbias.models.data import model_data
from bayesbias.models.densities import densities
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.robustness.model_comparison import AS_GOOD, PREFERRED, WORSE, ModelComparison, compare_models
from tests.models.tables import crossed_table


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return crossed_table(0.06)


@pytest.fixture(scope="module")
def compared(small: pd.DataFrame) -> ModelComparison:
    return compare_models(small, ("hierarchical", "crossed", "crossed_per_list"), random_seed=1)


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
@pytest.mark.parametrize("model", ["hierarchical", "crossed_per_list"])
def test_pairs_are_az_loo(small: pd.DataFrame, compared: ModelComparison, model: str) -> None:
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
    ours = compared.models.set_index("model").loc[model]
    assert ours["elpd_pairs"] == pytest.approx(theirs.elpd, abs=1e-6)
    assert ours["elpd_pairs_se"] == pytest.approx(theirs.se, abs=1e-6)
    assert ours["p_loo"] == pytest.approx(theirs.p, abs=1e-6)


@pytest.mark.parametrize("model", ["hierarchical", "crossed", "crossed_per_list"])
def test_words_are_fits_without_each(small: pd.DataFrame, compared: ModelComparison, model: str) -> None:
    data = model_data(small)
    elpd_words = compared.elpd_words[model]
    assert list(elpd_words) == data.attribute_words.tolist()
    difference, error = [], []
    for place in range(0, len(data.attribute_words), 6):  # a word of each list
        word = data.attribute_words[place]
        refit = bb.fit(small[small["attribute_word"] != word], model, draws=2000, chains=4, random_seed=50 + place)
        density = densities(refit, data, effects=False).of_words([place])[0]
        weight = np.exp(density - density.max())
        difference.append(elpd_words[word] - np.log(weight.mean()) - density.max())
        error.append(weight.std() / weight.mean() / np.sqrt(len(weight)))
    # The comparison has half as many draws, and importance weights cost some of them.
    z = np.array(difference) / (np.array(error) * 3)
    assert np.abs(z).max() < 4, z
    assert abs(np.sum(difference)) < 4 * 3 * np.sqrt(np.square(error).sum())


def test_the_table(compared: ModelComparison, small: pd.DataFrame) -> None:
    assert compared.models["model"].tolist()[-1] == "hierarchical"
    assert compared.models["reading"].tolist() == [PREFERRED, AS_GOOD, WORSE]
    assert compared.models.loc[0, ["words_diff", "words_diff_se"]].tolist() == [0, 0]
    words = {name: np.array(list(values.values())) for name, values in compared.elpd_words.items()}
    difference = words["hierarchical"] - words[compared.models.loc[0, "model"]]
    last = compared.models.iloc[-1]
    assert last["words_diff"] == pytest.approx(difference.sum())
    assert last["words_diff_se"] == pytest.approx(np.sqrt(len(difference)) * difference.std(ddof=1))
    advice, why = compared.advice
    models = compared.models["model"].tolist()
    assert advice.numbers == {"preferred": models[0], "as_good": [models[1]], "worse": [models[2]]}
    assert advice.text.startswith(f"Trust {models[0]}")
    assert why.numbers == {"words": 24}


def test_without_effects_no_model_is_worse() -> None:
    frame = compare_models(crossed_table(0.0, attributes=8), draws=250, random_seed=3).models
    assert WORSE not in frame["reading"].tolist()


def test_a_seed_repeats_and_models_do_not_disturb_each_other(small: pd.DataFrame, compared: ModelComparison) -> None:
    alone = compare_models(small, "crossed", random_seed=1)
    assert alone.elpd_words["crossed"] == compared.elpd_words["crossed"]
    assert alone.models["reading"].tolist() == [PREFERRED]
    (advice,) = alone.advice
    assert advice.numbers == {"preferred": "crossed", "as_good": [], "worse": []}
    first = compare_models(small, ["hierarchical"], draws=50)
    again = compare_models(small, ["hierarchical"], draws=50, random_seed=first.random_seed)
    pd.testing.assert_frame_equal(first.models, again.models)


def test_contrasts_are_those_of_the_fits_that_were_compared(small: pd.DataFrame) -> None:
    frame = compare_models(small, ["crossed", "hierarchical"], hdi_prob=0.5, draws=100, random_seed=4)
    for model in ("crossed", "hierarchical"):
        fitted = bb.fit(small, model, draws=100, chains=4, random_seed=4)
        expected = bb.contrasts(fitted, hdi_prob=0.5).reset_index(drop=True)
        ours = frame.contrasts[frame.contrasts["model"] == model].drop(columns="model").reset_index(drop=True)
        pd.testing.assert_frame_equal(ours[list(expected)], pd.DataFrame(expected), check_dtype=False)
    with pytest.raises(ArgumentError, match="hdi_prob=2"):
        compare_models(small, hdi_prob=2)


def test_a_word_that_alone_measures_a_connection_is_counted(small: pd.DataFrame) -> None:
    rows = small[(small["connection"] != "neutral") | (small["attribute_word"] == "neutral0")]
    compared = compare_models(rows, random_seed=1, draws=500)
    frame = compared.models.set_index("model")
    assert (frame["words_unreliable"] == 1).all()
    assert np.isfinite(frame["elpd_words"]).all()
    assert compared.advice[-1].numbers == {"words": 1}


def test_faults_are_found_before_sampling(small: pd.DataFrame) -> None:
    with pytest.raises(ModelError, match=r"'crosed'.*'crossed'"):
        compare_models(small, ("hierarchical", "crosed"))
    with pytest.raises(ModelError, match="'crossed'"):
        compare_models(small, ("crossed", "crossed"))
    with pytest.raises(ModelError, match="models"):
        compare_models(small, ())
    with pytest.raises(ArgumentError, match="random_seed"):
        compare_models(small, random_seed=-1)
    with pytest.raises(ArgumentError, match="draws"):
        compare_models(small, draws=1)
    mixed = small.assign(attribute_word=small["attribute_word"].replace("neutral0", "human0"))
    mixed = mixed.drop_duplicates(["protected_word", "attribute_word"], keep="first")
    extra = mixed[mixed["attribute_word"] == "human0"].iloc[:1].assign(protected_word="p9", connection="neutral")
    with pytest.raises(FitError, match="'human0'"):
        compare_models(pd.concat([mixed, extra]))


def test_a_student_t_of_endless_degrees_of_freedom_is_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The robust model, whose posterior is made of the Normal model's here.

    Words with a high k-hat are left out in closed form by one and by refits of 1,000 draws by the other.
    """

    def stand_in(rows: pd.DataFrame, spec: ModelSpec, **settings: Any) -> xr.DataTree:
        made = bb.fit(rows, "multivariate", **settings)
        if spec.name == "multivariate_robust":
            posterior = made["posterior"].to_dataset()
            endless = np.full((posterior.sizes["chain"], posterior.sizes["draw"]), 1e6)
            made["posterior"] = xr.DataTree(posterior.assign(nu=(("chain", "draw"), endless)))
            made.attrs |= {"model": json.dumps(spec.to_dict())}
        return made

    monkeypatch.setattr("bayesbias.reports.robustness.model_comparison.fit", stand_in)
    tiny = crossed_table(0.06, words=4, attributes=5)
    compared = compare_models(tiny, ("multivariate", "multivariate_robust"), draws=500, chains=2, random_seed=1)
    frame = compared.models.set_index("model")
    for number in ("elpd_words", "elpd_pairs", "p_loo"):
        assert frame.loc["multivariate_robust", number] == pytest.approx(frame.loc["multivariate", number], abs=0.3)
    assert WORSE not in frame["reading"].tolist()


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The sampler did not converge")
def test_a_nuts_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bayesbias.reports.robustness.model_comparison._without", lambda *_: float("nan")
    )  # each refit takes seconds
    tiny = crossed_table(0.06, words=4, attributes=5)
    spec = bb.load_model("crossed", priors={"connection_mean": "StudentT(30, 1, 0.3)"})
    models = ("crossed", replace(spec, name="by NUTS"))
    compared = compare_models(tiny, models, draws=500, chains=2, random_seed=1)
    frame = compared.models.set_index("model")
    # Both priors are nearly the same.
    assert abs(frame.loc["by NUTS", "elpd_words"] - frame.loc["crossed", "elpd_words"]) < 5
    assert WORSE not in frame["reading"].tolist()

"""The Gibbs sampler of the multivariate model: what it takes, what it repeats, and whether its posterior is right."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.contrast_forms import contrast_forms
from bayesbias.models.data import model_data
from bayesbias.models.priors import parse_prior
from bayesbias.models.samplers.multivariate import (
    DISTANCE_ERROR,
    AttributeSample,
    attribute_sample,
    sample_multivariate,
    why_not_gibbs,
)
from bayesbias.models.samplers.multivariate_sweeps import sweep_chain
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis
from tests.models.tables import small

Draws = dict[str, np.ndarray]
# A false alarm of one test of ranks, of which there are about 70.
LEVEL = 1e-5


def model(likelihood: str = "normal") -> ModelSpec:
    spec = bb.load_model("multivariate")
    if likelihood == "normal":
        return spec
    priors = {**spec.priors, "nu": parse_prior("Gamma(2, 0.1)")}
    return replace(spec, switches={**spec.switches, "likelihood": likelihood}, priors=priors)


def sample_of(table: pd.DataFrame) -> AttributeSample:
    return attribute_sample(model_data(table))


def sampled(table: pd.DataFrame, likelihood: str = "normal", **settings: int) -> Draws:
    return sample_multivariate(
        sample_of(table), model(likelihood), **({"draws": 60, "tune": 80, "chains": 2, "seed": 1} | settings)
    )


# --- the table as a sample --------------------------------------------------------------------------------


def test_every_pair_stands_in_the_row_of_its_attribute_word() -> None:
    table = small(missing=0.2, seed=3)
    data = model_data(table)
    sample = attribute_sample(data)
    wide = table.pivot_table(index="attribute_word", columns="protected_word", values="cosine_distance")
    wide = wide.loc[data.attribute_words, data.protected_words]
    np.testing.assert_array_equal(sample.distances, wide.to_numpy())
    assert sample.kinds == ("stereotype", "human", "neutral")
    connection = np.asarray(sample.connections)[sample.list_connection[sample.list_of]]
    for row in table.itertuples():
        j, i = data.attribute_words.tolist().index(row.attribute_word), wide.columns.get_loc(row.protected_word)
        assert connection[j, i] == row.connection
    kind = np.asarray(sample.kinds)[sample.list_kind[sample.list_of]]
    assert (kind[[name.startswith("human") for name in data.attribute_words]] == "human").all()
    assert (kind[[name[0] in "xy" for name in data.attribute_words]] == "stereotype").all()


def test_attribute_words_with_the_same_connections_are_one_list() -> None:
    sample = sample_of(small())
    assert len(sample.list_connection) == 4
    assert len(np.unique(np.column_stack([sample.list_kind, sample.list_connection]), axis=0)) == 4


@pytest.mark.parametrize("missing", [0.1, 0.3])
def test_a_lost_pair_has_the_connection_that_other_words_of_its_group_have(missing: float) -> None:
    # With some words of each group left, every attribute word is in the list that it is in without losses.
    table = small(words=8, missing=missing, seed=2)
    pairs = table.groupby(["attribute_word", "protected_group"])["protected_word"].nunique()
    assert pairs.min() > 0
    assert len(pairs) == 2 * table["attribute_word"].nunique()
    assert np.isnan(sample_of(table).distances).any()
    assert len(sample_of(table).list_connection) == 4


def test_an_attribute_word_that_lost_a_whole_group_stays_in_the_list_that_the_rest_agrees_with() -> None:
    table = small(words=6, attributes=4, seed=4)
    lost = (table["protected_group"] == "group y") & table["attribute_word"].isin(["x0", "y2", "human1", "neutral0"])
    whole, sample = sample_of(table), sample_of(table[~lost])
    np.testing.assert_array_equal(sample.list_connection, whole.list_connection)
    np.testing.assert_array_equal(sample.list_of, whole.list_of)


def test_pairs_lost_at_random_make_no_new_lists_where_each_word_is_a_group() -> None:
    table = small(words=12, attributes=6)
    table["protected_group"] = table["protected_word"]
    lost = np.random.default_rng(1).random(len(table)) < 0.2
    assert len(sample_of(table[~lost]).list_connection) == 4


@pytest.mark.slow
def test_the_connection_given_to_a_lost_pair_changes_no_posterior() -> None:
    # Both words of a group are lost to one attribute word; here it gets a list of its own.
    table = small(words=4, attributes=4, seed=4)
    lost = (table["protected_group"] == "group y") & (table["attribute_word"] == "x0")
    sample = sample_of(table[~lost])
    gone = np.isnan(sample.distances[0])
    own = sample.list_connection[sample.list_of[0]].copy()
    own[gone] = (own[gone] + 1) % 4
    other = replace(
        sample,
        list_of=np.concatenate([[len(sample.list_kind)], sample.list_of[1:]]),
        list_connection=np.vstack([sample.list_connection, own]),
        list_kind=np.append(sample.list_kind, sample.list_kind[sample.list_of[0]]),
    )
    fits = [
        sample_multivariate(each, model(), draws=3000, tune=500, chains=2, seed=seed, thin=3)
        for seed, each in enumerate([sample, other])
    ]
    assert _worst(fits[0], fits[1]) < 4.5


def _worst(one: Draws, two: Draws) -> float:
    """Return the largest difference of posterior means in Monte Carlo standard errors."""
    worst = 0.0
    for name in ("connection_mean", "word_mean", "sigma", "attribute_sd"):
        shape = one[name].shape[:2]
        left, right = one[name].reshape(*shape, -1), two[name].reshape(*two[name].shape[:2], -1)
        for at in range(left.shape[2]):
            error = np.hypot(float(az.mcse(left[..., at])), float(az.mcse(right[..., at])))
            worst = max(worst, abs(left[..., at].mean() - right[..., at].mean()) / error)
    return worst


def test_a_repeated_pair_is_refused() -> None:
    table = small()
    table = pd.concat([table, table.iloc[:1]], ignore_index=True)
    table.attrs["bayesbias"] = {"duplicates": {"policy": "keep"}}
    with pytest.raises(FitError, match="Rows repeat a pair"):
        sample_of(table)


def test_a_word_in_lists_of_two_kinds_is_refused() -> None:
    table = small()
    first = table["protected_word"] == "p0"
    table.loc[first & (table["attribute_word"] == "human0"), "attribute_word"] = "both"
    table.loc[~first & (table["attribute_word"] == "neutral0"), "attribute_word"] = "both"
    with pytest.raises(FitError, match="'both' is in several lists"):
        sample_of(table)


@pytest.mark.parametrize(("groups", "has"), [("aaaa", False), ("abcd", False), ("aabb", True), ("abbb", True)])
def test_attribute_words_can_lean_to_a_group_where_there_are_some_with_several_words(groups: str, has: bool) -> None:
    table = small(words=4)
    table["protected_group"] = table["protected_word"].map({f"p{at}": name for at, name in enumerate(groups)})
    assert sample_of(table).has_groups is has
    assert ("group_attribute_sd" in sampled(table, draws=10, tune=10)) is has


def test_it_fits_the_multivariate_model_only() -> None:
    assert [name for name in bb.list_models() if why_not_gibbs(bb.load_model(name)) is None] == [
        "multivariate",
        "multivariate_robust",
    ]


# --- what is repeated -------------------------------------------------------------------------------------


def test_the_same_seed_repeats_exactly_and_another_does_not() -> None:
    table = small(missing=0.1)
    one, again, other = sampled(table), sampled(table), sampled(table, seed=2)
    for name in one:
        np.testing.assert_array_equal(one[name], again[name])
    assert not np.array_equal(one["connection_mean"], other["connection_mean"])


def test_a_chain_does_not_depend_on_how_many_others_there_are() -> None:
    # So it cannot depend on how chains share the cores either.
    table = small()
    one, three = sampled(table, chains=1), sampled(table, chains=3)
    for name in one:
        np.testing.assert_array_equal(one[name][0], three[name][0])
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert not np.array_equal(three["sigma"][first], three["sigma"][second])


@pytest.mark.parametrize("tune", [10, 400])
def test_every_scale_moves_in_every_few_draws(tune: int) -> None:
    # The directions of the slices take turns, and a short run must not end before each had its turn.
    found = sampled(small(), draws=10, tune=tune)
    for name in ("attribute_sd", "group_attribute_sd", "sigma", "target_weight", "list_scale"):
        values = found[name].reshape(2, 10, -1)
        assert (values[:, 0] != values[:, -1]).all(), name
    later = sampled(small(), draws=9, tune=tune, thin=1)["list_scale"]
    assert (later[:, 0] != later[:, -1]).all()


# --- tables of every kind ---------------------------------------------------------------------------------


def _edge_tables() -> dict[str, pd.DataFrame]:
    table = small(words=4)
    stereotypes = table[table["connection"].isin(["associated", "different"])]
    one_each = table[~table["attribute_word"].str.contains("[1-9]$")]
    return {
        "one protected word": table[table["protected_word"] == "p0"],
        "two protected words": table[table["protected_word"].isin(["p0", "p3"])],
        "one group": table[table["protected_group"] == "group x"],
        "each word a group": table.assign(protected_group=table["protected_word"]),
        "no controls": stereotypes,
        "only associated and neutral": table[table["connection"].isin(["associated", "neutral"])],
        "only associated": table[table["connection"] == "associated"],
        "only controls": table[table["connection"].isin(["human", "neutral"])],
        "one attribute word a list": one_each,
        "most pairs lost": small(words=6, missing=0.7, seed=5),
    }


@pytest.mark.parametrize("name", list(_edge_tables()))
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_tables_of_every_kind_give_finite_draws(name: str, likelihood: str) -> None:
    table = _edge_tables()[name].reset_index(drop=True)
    data = model_data(table)
    forms = np.array([form.weights for form in contrast_forms(data)]).reshape(
        -1, len(data.connections) * (1 + len(data.protected_words))
    )
    found = sample_multivariate(
        attribute_sample(data), model(likelihood), draws=40, tune=170, chains=2, seed=3, forms=forms, thin=2
    )
    words, size = len(data.protected_words), len(data.connections)
    assert found["word_mean"].shape == (2, 40, words, size)
    assert found["word_covariance"].shape == (2, 40, size, size)
    assert found["residual_covariance"].shape == (2, 40, words, words)
    assert found["conditional_mean"].shape == (2, 40, len(forms))
    assert ("list_scale" in found) is (len(attribute_sample(data).kinds) > 1)
    assert ("nu" in found) is (likelihood == "student_t")
    for values in found.values():
        assert np.isfinite(values).all()
    for positive in ("effect_sd", "word_sd", "attribute_sd", "sigma", "target_weight", "conditional_sd"):
        assert (found[positive] > 0).all(), positive


def test_tables_of_every_kind_share_one_compiled_function() -> None:
    # Compiling takes half a minute: arrays that differ in layout would have one each.
    sampled(small())
    known = len(sweep_chain.signatures)
    for table in _edge_tables().values():
        sampled(table.reset_index(drop=True), draws=2, tune=2)
    sampled(small(missing=0.1), "student_t", draws=2, tune=2)
    assert len(sweep_chain.signatures) == known


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 9])  # from effects near 0, both ended elsewhere
def test_a_group_that_is_nearer_to_everything_is_found_from_every_start(seed: int) -> None:
    """Not taken for an attribute word's leaning to the group: residuals of one sign are far less likely."""
    table = small(words=8, attributes=7)
    table["cosine_distance"] = 0.9 + 0.02 * np.random.default_rng(1).standard_normal(len(table))
    table.loc[table["protected_group"] == "group x", "cosine_distance"] -= 0.3
    found = sample_multivariate(sample_of(table), model(), draws=200, tune=200, chains=4, seed=seed)
    groups = np.unique(model_data(table).protected_groups, return_inverse=True)[1]
    words = found["word_mean"].mean(axis=(1, 3))
    shift = words[:, groups == 0].mean(axis=1) - words[:, groups == 1].mean(axis=1)
    np.testing.assert_allclose(shift, -0.3, atol=0.02)


def test_derived_numbers_follow_from_the_covariance_of_effects() -> None:
    found, basis = sampled(small()), effects_basis(("associated", "different", "human", "neutral"))
    inside = np.linalg.inv(basis) @ found["word_covariance"] @ np.linalg.inv(basis).T
    np.testing.assert_allclose(np.sqrt(np.diagonal(inside, axis1=-2, axis2=-1)), found["effect_sd"], rtol=1e-8)
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(found["word_covariance"], axis1=-2, axis2=-1)), found["word_sd"], rtol=1e-12
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_forms_are_drawn_from_their_kept_conditional_moments(missing: float) -> None:
    data = model_data(small(words=6, missing=missing, seed=6))
    forms = np.stack([form.weights for form in contrast_forms(data)])
    found = sample_multivariate(
        attribute_sample(data), model(), draws=3000, tune=400, chains=2, seed=4, forms=forms, thin=2
    )
    mean, sd = found["conditional_mean"], found["conditional_sd"]
    offsets = found["word_mean"] - found["connection_mean"][:, :, None]
    effects = offsets @ np.linalg.inv(effects_basis(data.connections)).T
    location = np.concatenate([found["connection_mean"], effects.reshape(*effects.shape[:2], -1)], axis=-1)
    drawn = location @ forms.T
    standard = (drawn - mean) / sd
    for at in range(len(forms)):
        # Draws given all else are independent of each other, so that their number is that of the draws.
        assert stats.kstest(standard[..., at].ravel(), "norm").pvalue > LEVEL
        error = np.hypot(float(az.mcse(drawn[..., at])), float(az.mcse(mean[..., at])))
        assert abs(drawn[..., at].mean() - mean[..., at].mean()) < 4 * error
        total = (sd[..., at] ** 2).mean() + mean[..., at].var()
        assert drawn[..., at].var() == pytest.approx(total, rel=0.15)


# --- calibration ------------------------------------------------------------------------------------------


def draw_from_the_prior(sample: AttributeSample, spec: ModelSpec, rng: np.random.Generator) -> tuple[Draws, np.ndarray]:
    """Return parameters from the prior and distances of all pairs given them, written out with NumPy and SciPy."""
    priors, basis = spec.priors, effects_basis(sample.connections)
    words, size, kinds = len(sample.group_of), len(basis), len(sample.kinds)
    mean = priors["connection_mean"].draw(size, rng)
    freedom, scale = priors["effect_sd"].parameters.values()
    auxiliary = stats.invgamma(0.5, scale=1 / scale**2).rvs(size, random_state=rng)
    between = np.atleast_2d(
        stats.invwishart(freedom + size - 1, 2 * freedom * np.diag(1 / auxiliary)).rvs(random_state=rng)
    )
    word_mean = mean + rng.multivariate_normal(np.zeros(size), between, size=words) @ basis.T
    omega, psi, sigma, weight = (
        float(priors[name].draw(1, rng)[0]) for name in ("attribute_sd", "group_attribute_sd", "sigma", "target_weight")
    )
    psi *= sample.has_groups
    member = np.eye(sample.group_of.max() + 1)[sample.group_of]
    target = omega**2 + psi**2 * member @ member.T + sigma**2 * np.eye(words)
    strength = words * weight
    covariance = np.atleast_2d(stats.invwishart(words + 1 + strength, strength * target).rvs(random_state=rng))
    list_scale = priors["list_scale"].draw(kinds - 1, rng)
    spread = np.append(list_scale, 1.0)[sample.list_kind[sample.list_of]]
    parameters = {
        "connection_mean": mean,
        "word_mean": word_mean,
        "word_covariance": basis @ between @ basis.T,
        "effect_sd": np.sqrt(np.diag(between)),
        "attribute_sd": np.array(omega),
        "group_attribute_sd": np.array(psi),
        "sigma": np.array(sigma),
        "target_weight": np.array(weight),
        "list_scale": list_scale,
        "residual_covariance": covariance,
    }
    n = len(sample.list_of)
    if spec.switches["likelihood"] == "student_t":
        nu = priors["nu"].draw(1, rng)[0]
        spread = spread / np.sqrt(rng.gamma(nu / 2, 2 / nu, n))
        parameters["nu"] = np.array(nu)
    # That no distance is known better than to DISTANCE_ERROR is a factor of the prior, of at most 1.
    roots = np.maximum(np.linalg.eigvalsh(covariance), np.finfo(float).tiny)
    if rng.random() > np.exp(-(DISTANCE_ERROR**2) / 2 * (1 / roots).sum() * (1 / spread**2).sum()):
        return draw_from_the_prior(sample, spec, rng)
    noise = rng.multivariate_normal(np.zeros(words), covariance, size=n) * spread[:, None]
    expected = word_mean[np.arange(words), sample.list_connection[sample.list_of]]
    return parameters, expected + noise


def ranked(draws: Draws, names: list[str]) -> Draws:
    """Return the numbers whose ranks are looked at: arrays of shape (draws,), or () for the truth."""
    found = {
        f"{name}[{at}]": draws[name][..., at]
        for name in ("connection_mean", "effect_sd", "list_scale")
        if name in names
        for at in range(draws[name].shape[-1])
    }
    found |= {
        name: draws[name]
        for name in ("attribute_sd", "group_attribute_sd", "sigma", "target_weight", "nu")
        if name in names
    }
    mean, words = draws["connection_mean"], draws["word_mean"]
    covariance, residual = draws["word_covariance"], draws["residual_covariance"]
    found["gap"] = mean[..., 0] - mean[..., 1]
    found["gap of these words"] = (words[..., 0] - words[..., 1]).mean(axis=-1)
    found["gap of the first word"] = words[..., 0, 0] - words[..., 0, 1]
    found["correlation of effects"] = covariance[..., 0, 1] / np.sqrt(covariance[..., 0, 0] * covariance[..., 1, 1])
    found["log determinant"] = np.linalg.slogdet(residual)[1]
    found["residual correlation"] = residual[..., 0, 1] / np.sqrt(residual[..., 0, 0] * residual[..., 1, 1])
    return found


def simulated_ranks(
    table: pd.DataFrame, spec: ModelSpec, *, replicates: int, seed: int, first: int = 0
) -> pd.DataFrame:
    """Return the rank of the truth among 99 draws of one chain: a row for each data set from the prior."""
    design, rows = sample_of(table), []
    lost = np.isnan(design.distances)
    for replicate in range(first, first + replicates):
        rng = np.random.default_rng([seed, replicate])
        truth, distances = draw_from_the_prior(design, spec, rng)
        data = replace(design, distances=np.where(lost, np.nan, distances))
        found = sample_multivariate(data, spec, draws=99, tune=400, chains=1, seed=int(rng.integers(2**32)), thin=15)
        names = [name for name in truth if name in found]
        true, drawn = ranked(truth, names), ranked({name: values[0] for name, values in found.items()}, names)
        rows.append({name: int((drawn[name] < true[name]).sum()) for name in true})
    return pd.DataFrame(rows)


DESIGNS = {
    "with controls": ({"words": 4}, "normal"),
    "without controls": ({"words": 4, "attributes": 4, "controls": False}, "normal"),
    "with lost pairs": ({"words": 4, "missing": 0.2}, "normal"),
    "with outlying attribute words": ({"words": 4, "missing": 0.1, "controls": False, "attributes": 5}, "student_t"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "replicates"),
    [
        ("with outlying attribute words", 40),
        *[pytest.param(name, 200, marks=pytest.mark.truth) for name in DESIGNS],
    ],
)
def test_ranks_of_the_truth_are_uniform(name: str, replicates: int) -> None:
    settings, likelihood = DESIGNS[name]
    ranks = simulated_ranks(small(**settings), model(likelihood), replicates=replicates, seed=11)
    for quantity in ranks:
        counts = np.bincount(ranks[quantity] // 20, minlength=5)
        assert stats.chisquare(counts).pvalue > LEVEL, (quantity, counts)


# --- against another program ------------------------------------------------------------------------------


@pytest.fixture
def prototype(shared: Path) -> ModuleType:
    source = importlib.util.spec_from_file_location("oracle", shared / "prototypes" / "multivariate_gibbs.py")
    assert source is not None
    assert source.loader is not None
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "draws"),
    [
        ("weat7_google", 500),
        pytest.param("weat7_google", 4000, marks=pytest.mark.truth),
        pytest.param("religion_google", 4000, marks=pytest.mark.truth),
    ],
)
def test_gaps_are_those_of_the_prototype(name: str, draws: int, shared: Path, prototype: ModuleType) -> None:
    table = bb.read_table(shared / "data" / "published" / "tables" / f"{name}.csv.gz")
    data = prototype.prepare(table)
    overall, by_word = prototype.gaps(data, prototype.gibbs(data, draws=draws, warmup=500, seed=1))
    found = sample_multivariate(sample_of(table), model(), draws=2000, tune=1000, chains=2, seed=1, thin=2)
    ours = found["connection_mean"][..., 0] - found["connection_mean"][..., 1]
    _agree(ours.ravel(), overall)
    words = (found["word_mean"][..., 0] - found["word_mean"][..., 1]).reshape(-1, by_word.shape[1])
    assert model_data(table).protected_words.tolist() == data["words"]
    for at in range(words.shape[1]):
        _agree(words[:, at], by_word[:, at])


def _agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    # The priors of the lists' scales differ a little, and both have Monte Carlo error.
    error = np.hypot(float(az.mcse(ours[None])), float(az.mcse(theirs[None])))
    assert abs(ours.mean() - theirs.mean()) < 0.1 * theirs.std() + 3 * error
    effective = min(float(az.ess(ours[None])), float(az.ess(theirs[None])))
    assert ours.std() == pytest.approx(theirs.std(), rel=0.05 + 3 / np.sqrt(2 * effective))

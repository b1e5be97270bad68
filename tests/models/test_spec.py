"""Model descriptions."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files.inputs import bundled
from bayesbias.errors import InputFileError, ModelError
from bayesbias.models.spec import ModelSpec


def test_the_bundled_model_is_the_papers() -> None:
    spec = bb.load_model("hierarchical")
    assert {name: str(prior) for name, prior in spec.priors.items()} == {
        "connection_mean": "Normal(mu=1, sigma=0.3)",
        "word_sd": "Exponential(rate=2)",
        "sigma": "Exponential(rate=2)",
    }
    assert "independent" in spec.caution
    assert "Dobrzeniecka" in spec.source


@pytest.mark.parametrize("name", bb.list_models())
def test_every_bundled_model_loads_under_its_own_name(name: str) -> None:
    spec = bb.load_model(name)
    assert spec.name == name
    assert spec.description
    assert spec.source


def test_priors_are_changed_by_argument_and_change_the_digest() -> None:
    spec = bb.load_model("hierarchical")
    changed = bb.load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"})
    assert str(changed.priors["sigma"]) == "HalfNormal(sigma=0.2)"
    assert changed.priors["connection_mean"] == spec.priors["connection_mean"]
    assert changed.digest != spec.digest
    assert bb.load_model(spec) is spec
    with pytest.raises(ModelError, match=r"'sigm'.*'sigma'"):
        bb.load_model("hierarchical", priors={"sigm": "HalfNormal(0.2)"})
    with pytest.raises(ModelError, match=r"'connection_mean'.*belongs to 'crossed', "):
        bb.load_model("multivariate", priors={"connection_mean": "Normal(1, 0.2)"})
    with pytest.raises(ModelError, match=r"'group_mean' .*'connection_mean'"):
        bb.load_model("crossed", priors={"group_mean": "Normal(1, 0.2)"})
    with pytest.raises(ModelError, match=r"Normal\("):
        bb.load_model("hierarchical", priors={"sigma": "Normal(0, 1)"})


def test_a_users_own_file(tmp_path: Path) -> None:
    text = bundled("models", "hierarchical.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('name = "hierarchical"\n', "").replace("rate=2", "rate=5"))
    spec = bb.load_model(path)
    assert spec.name == "mine"
    assert str(spec.priors["word_sd"]) == "Exponential(rate=5)"


def test_a_file_with_a_parameters_old_name_says_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "old.toml"
    path.write_text(bundled("models", "hierarchical.toml").read_text().replace("connection_mean =", "group_mean ="))
    with pytest.raises(ModelError, match=r"'group_mean', .*'connection_mean'"):
        bb.load_model(path)


def test_all_faults_of_a_file_are_listed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        'sorce = "x"\nname = 3\n[switches]\npoolling = "partial"\nattribute_effects = "oen"\n'
        'likelihood = "normal"\n[priors]\nsigma = "Exponential(-2)"\n'
    )
    with pytest.raises(ModelError) as caught:
        bb.load_model(path)
    message = str(caught.value)
    for part in (
        "bad.toml has 6",
        "'source'",
        "name must",
        "rate must",
        "'poolling'",
        "switches.pooling",
        "covariance",
    ):
        assert part in message


def test_outlying_attribute_words_are_for_models_whose_sample_they_are() -> None:
    crossed = bb.load_model("crossed")
    with pytest.raises(ModelError, match=r"student_t.*attribute_effects = .covariance"):
        ModelSpec("mine", {**crossed.switches, "likelihood": "student_t"}, crossed.priors)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"\[switches\]"),
        (b"name = ", "TOML"),
        (b'name = "\xff"', "byte 8 .*UTF-8"),
        (b"switches = 1\npriors = 2\n", r"\[priors\]"),
    ],
)
def test_broken_files_are_explained(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        bb.load_model(path)


def test_missing_priors_and_models(tmp_path: Path) -> None:
    text = bundled("models", "hierarchical.toml").read_text()
    path = tmp_path / "m.toml"
    path.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("word_sd")) + '\nnu = "Gamma(2, 0.1)"\n'
    )
    with pytest.raises(ModelError, match=r"word_sd\n- .*'nu'"):
        bb.load_model(path)
    with pytest.raises(ModelError, match="'hierarchical'"):
        bb.load_model("hierarchicl")
    with pytest.raises(InputFileError):
        bb.load_model(tmp_path / "none.toml")

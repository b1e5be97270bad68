"""Plans: a TOML file becomes the arguments of an audit, or one error that lists all its faults."""

from pathlib import Path

import pytest

from bayesbias.cells import plan
from bayesbias.cells.plan import read_audit_plan
from bayesbias.errors import ReportError
from bayesbias.models.spec import list_models

EMBEDDINGS = '[embeddings]\nA = "a.txt"\n'


def test_a_plan_is_the_arguments_of_an_audit(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(f'studies = ["weat7", "mine.toml"]\nmodel = "none"\nrandom_seed = 3\n{EMBEDDINGS}')
    audit = read_audit_plan(path)
    assert audit.embeddings == {"A": tmp_path / "a.txt"}
    assert audit.studies == ("weat7", str(tmp_path / "mine.toml"))
    assert audit.settings == {"model": None, "random_seed": 3}
    assert "contrast" not in audit.measures
    path.write_text(f'studies = ["./weat7"]\nmodel = "mine.toml"\n{EMBEDDINGS}')
    audit = read_audit_plan(path)
    assert audit.studies == (str(tmp_path / "weat7"),)
    assert audit.settings == {"model": str(tmp_path / "mine.toml")}
    assert audit.measures[0] == "contrast"
    path.write_text(
        f'studies = ["weat7"]\nmodels = ["none", "crossed"]\nseeds = [1, 2]\nworkers = 3\ncase = "lower"\n{EMBEDDINGS}'
    )
    audit = read_audit_plan(path)
    assert audit.settings == {"models": [None, "crossed"], "seeds": [1, 2], "workers": 3, "case": "lower"}
    assert "contrast" not in audit.measures


def test_bundled_models_are_listed_once_for_all_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder was read for each of them."""
    listed: list[list[str]] = []
    monkeypatch.setattr(plan, "list_models", lambda: listed.append(list_models()) or listed[-1])
    path = tmp_path / "audit.toml"
    path.write_text(f'studies = ["weat7"]\nmodels = {[f"m{number}" for number in range(1000)]}\n{EMBEDDINGS}')
    assert len(read_audit_plan(path).settings["models"]) == 1000
    assert len(listed) == 1


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            f'studies = ["a"]\nmodel = "a"\nmodels = []\nrandom_seed = 1\nseeds = 2\nworkers = "5"\n{EMBEDDINGS}',
            ["5 faults", "models must", "seeds must", "model and models", "random_seed and seeds", "workers must"],
        ),
        (
            'studies = "weat7"\nmeasure = ["weat"]\nmeasures = []\ncase = 3\n[embeddings]\nA = 5\n',
            [
                "5 faults",
                "'measure' (did you mean 'measures'?)",
                "embeddings.A must",
                "studies must",
                "measures must",
                "case must",
            ],
        ),
        # Whoever wrote the plan could run programs here.
        (f'studies = ["a"]\nscheduler = "tcp://a:1"\n{EMBEDDINGS}', ["names a Dask scheduler", "--scheduler"]),
        (f'studies = ["a"]\nscheduler = 5\n{EMBEDDINGS}', ["names a Dask scheduler"]),
        (
            'studies = ["weat7"]\n[embeddings]\nglove.6B = "a.txt"\n',
            ["embeddings.glove", "a name with a dot needs quotes"],
        ),
        ('studies = ["weat7"]\n', ["[embeddings]"]),
        ("studies = [", ["TOML"]),
    ],
)
def test_all_faults_are_named_at_once(text: str, facts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(text)
    with pytest.raises(ReportError) as caught:
        read_audit_plan(path)
    assert "audit.toml" in str(caught.value)
    for fact in facts:
        assert fact in str(caught.value)

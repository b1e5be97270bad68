"""Plans: a TOML file becomes the arguments of an audit, or one error that lists all its faults."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits import audit as audit_of_many
from bayesbias.audits import plan
from bayesbias.audits.plan import (
    check_measures,
    load_named_embeddings,
    lost_lists,
    named_embeddings,
    question_errors,
    raise_unless_distinct,
    read_audit_plan,
    read_studies,
    unanswerable_questions,
)
from bayesbias.errors import ArgumentError, BayesBiasError, InputFileError, LostWordsError, MeasureError, ReportError
from bayesbias.models.spec import list_models
from bayesbias.tables.build import distance_table
from tests.audits import pets

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
        (
            f'studies = ["a"]\nscheduler = "tcp://a:1"\n{EMBEDDINGS}',
            ["names a Dask scheduler", "give its address: scheduler=..."],
        ),
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


def test_measures_are_names_of_the_registry() -> None:
    model = bb.load_model("crossed")
    assert check_measures("weat", [None]) == ("weat",)
    assert check_measures(["contrast", "mac"], [model]) == ("contrast", "mac")
    for measures, models, fact in (
        (["wheat"], [model], "'wheat'.*'weat'"),
        ([], [model], r"measures=\[\]"),
        (["mac", "mac"], [model], "'mac', 'mac'"),
        (["contrast"], [model, None], "'contrast'"),
    ):
        with pytest.raises((ReportError, MeasureError), match=fact):
            check_measures(measures, models)


def test_one_study_or_several() -> None:
    study = pets.study()
    assert [one.name for one in read_studies(study)] == ["pets"]
    assert [one.name for one in read_studies("weat7")] == ["weat7"]
    assert [one.name for one in read_studies([study, "weat7"])] == ["pets", "weat7"]
    with pytest.raises(ReportError, match=r"studies: .*'pets'"):
        read_studies([study, pets.study()])
    with pytest.raises(ReportError, match="studies"):
        read_studies([])


def test_a_study_or_model_that_is_named_again_and_again_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that named one a thousand times took ten seconds."""
    monkeypatch.setattr(plan, "load_study", None)
    with pytest.raises(ReportError, match="studies: two are called 'weat7'"):
        read_studies(["weat7"] * 1_000)
    monkeypatch.setattr(audit_of_many, "load_model", None)
    with pytest.raises(ReportError, match="models: two are called 'crossed'"):
        bb.audit("nowhere.npz", pets.study(), models=["crossed", None, "crossed"])


def test_distinct_names() -> None:
    raise_unless_distinct("seeds", [1, 2])
    with pytest.raises(ReportError, match=r"seeds: .*2"):
        raise_unless_distinct("seeds", [1, 2, 2])


@pytest.mark.parametrize("wrong", [5, {"": pets.embedding(1)}, {" ": pets.embedding(1)}, {3: pets.embedding(1)}])
def test_what_is_no_set_of_embeddings(wrong: Any) -> None:
    with pytest.raises((ReportError, ArgumentError), match="embeddings"):
        named_embeddings(wrong)


def test_embeddings_have_the_names_that_they_were_given() -> None:
    first, second = pets.embedding(1), pets.embedding(2, case=("exact", "lower"))
    assert named_embeddings(first) == [(None, first)]
    read, unread = load_named_embeddings(named_embeddings({"one": first, "two": second}), None, "exact")
    assert list(read) == ["one", "two"]
    assert unread == {}
    assert read["two"].case == ("exact", "lower")
    with pytest.raises(ReportError, match="'E1'"):
        load_named_embeddings(named_embeddings([first, pets.embedding(1)]), None, "exact")


def test_what_cannot_be_read_stops_at_once_only_where_all_embeddings_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    load = plan.load_embedding

    def loading(source: Any, *, name: str, **settings: Any) -> bb.Embedding:
        tried.append(name)
        return load(source, name=name, **settings)

    monkeypatch.setattr(plan, "load_embedding", loading)
    named = named_embeddings({"gone": tmp_path / "none.txt", "here": pets.embedding(1)})
    with pytest.raises(InputFileError, match=r"none\.txt"):
        load_named_embeddings(named, None, "exact", all_needed=True)
    assert tried == ["gone"]
    read, unread = load_named_embeddings(named, None, "exact")
    assert (list(read), list(unread)) == (["here"], ["gone"])


def test_lost_words_are_counted_by_list_and_named_at_once() -> None:
    kept = [word for word in pets.WORDS if word not in ("tom", "howl", "growl")]
    vectors = {word: [1.0, float(place)] for place, word in enumerate(kept)}
    embedding = bb.load_embedding(vectors, name="few")
    assert [len(words.lost) for words in lost_lists(embedding, pets.study())] == [1, 0, 0, 2]

    def error(max_lost: float) -> str:
        arguments = {"few": embedding}, [pets.study()], max_lost, ["weat"]
        return unanswerable_questions(*arguments, modelled=False).get(("few", "pets"), "")

    assert error(0.7) == ""
    assert re.match(r"1 .* 50% .*max_lost=0\.5.*loud", error(0.5))
    assert re.match(r"2 .*max_lost=0\.2.*cats.*loud", error(0.2))
    errors = question_errors({"few": embedding, "whole": pets.embedding(1)}, [pets.study()], 0.2)
    assert [type(error) for error in errors] == [LostWordsError]
    assert all(isinstance(error, BayesBiasError) for error in errors)


def test_an_audit_builds_the_table_of_a_question_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def counting(embedding: bb.Embedding, study: bb.Study, **settings: float) -> pd.DataFrame:
        built.append(study.name)
        return distance_table(embedding, study, **settings)

    monkeypatch.setattr("bayesbias.audits.plan.distance_table", counting)
    studies = [pets.study(name) for name in ("one", "two")]
    bb.audit(pets.embedding(1), studies, ["contrast"], random_seed=1, draws=25, tune=25, progress=False, workers=1)
    assert built == ["one", "two"]

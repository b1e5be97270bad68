"""Sections of a plan that name tables: surprisals of a language model, scores, and tables that were written."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits import table_plan
from bayesbias.audits.plan import read_audit_plan
from bayesbias.audits.table_plan import TableOfPlan
from bayesbias.errors import ReportError
from tests.audits import pets


def test_a_section_of_a_plan_names_tables(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(
        'studies = ["weat7"]\nrope = {nats = [-0.1, 0.2]}\n[embeddings]\nA = "a.txt"\n'
        'BERT = {surprisal = "bert/", templates = "pronouns", context = "both"}\n'
        'people = {scores = "times.csv", value = "time", lower = "nearer", unit = "ms"}\n'
        '[embeddings.written]\ntable = ["a.csv", "b.csv"]\n'
    )
    audit = read_audit_plan(path)
    assert audit.settings == {"rope": {"nats": [-0.1, 0.2]}}
    sources = audit.sources(progress=False)
    assert sources["A"] == tmp_path / "a.txt"
    assert [sources[name].name for name in ("BERT", "people", "written")] == ["BERT", "people", "written"]
    assert [source.progress for source in list(sources.values())[1:]] == [False] * 3


@pytest.mark.parametrize(
    ("section", "fact"),
    [
        ('surprisal = "bert/"', "embeddings.X: surprisal needs templates."),
        ('surprisal = "bert/", templates = "pronouns", unit = "ms"', "embeddings.X: unit is not for surprisal."),
        ('surprisal = "bert/", scores = "a.csv"', "embeddings.X: give one of surprisal, scores, table."),
        ('scores = "a.csv", value = "time"', "embeddings.X: scores needs lower."),
        ('scores = "a.csv", value = "time", lower = "better"', "embeddings.X.lower is 'better'"),
        ("table = 5", "embeddings.X.table must be"),
        ('table = "a.csv", tempaltes = "pronouns"', "did you mean 'templates'?"),
    ],
)
def test_faults_of_sections_are_named_beside_the_others(section: str, fact: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(f'studies = ["weat7"]\nmeasure = 3\n[embeddings]\nX = {{{section}}}\n')
    with pytest.raises(ReportError) as caught:
        read_audit_plan(path)
    assert fact in str(caught.value)
    assert "'measure'" in str(caught.value)


def test_sections_become_the_tables_that_their_commands_build(tmp_path: Path) -> None:
    study, pairs = pets.study(), [(a, b) for a in pets.WORDS[:6] for b in pets.WORDS[6:]]
    rows = [f"{a},{b},{600 + len(a) * len(b) + place}" for place, (a, b) in enumerate(pairs)]
    (tmp_path / "times.csv").write_text("protected_word,attribute_word,time\n" + "\n".join(rows) + "\n")
    section = {"scores": "times.csv", "value": "time", "unit": "ms", "lower": "nearer"}
    table = TableOfPlan(tmp_path, "people", section)(study)
    assert table["score"].tolist() == [float(row.split(",")[2]) for row in rows]
    assert table.attrs["bayesbias"]["embedding"]["name"] == "people"
    bb.write_table(table, tmp_path / "people.csv")
    again = TableOfPlan(tmp_path, "people", {"table": ["people.csv"]})
    pd.testing.assert_frame_equal(again(study), table)
    with pytest.raises(ReportError, match="no table of the study 'others', only of 'pets'"):
        again(pets.study("others"))


def test_a_file_is_read_once_for_all_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studies = {"a.csv": pets.study(), "b.csv": pets.study("others")}
    made = {file: bb.distance_table(pets.embedding(1), study) for file, study in studies.items()}
    files: list[str] = []

    def read(path: Path) -> pd.DataFrame:
        files.append(path.name)
        return made[path.name]

    monkeypatch.setattr(table_plan, "read_table", read)
    source = TableOfPlan(tmp_path, "people", {"table": list(made)})
    assert all(source(study) is made[file] for file, study in studies.items())
    assert files == ["a.csv", "b.csv"]


def test_templates_of_a_section_are_a_bundled_set_a_file_or_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr(table_plan, "surprisal_table", lambda folder, _, **settings: asked.append((folder, settings)))
    (tmp_path / "mine.txt").write_text("A PROTECTED can ATTRIBUTE.\n\nOne PROTECTED will ATTRIBUTE.\n")
    sentences = ["A PROTECTED can ATTRIBUTE.", "One PROTECTED will ATTRIBUTE."]
    for templates in ("pronouns", "mine.txt", sentences):
        TableOfPlan(tmp_path, "BERT", {"surprisal": "bert/", "templates": templates})(pets.study())
    assert [settings["templates"] for _, settings in asked] == ["pronouns", sentences, sentences]
    assert {(folder, settings["name"], settings["max_lost"]) for folder, settings in asked} == {
        (tmp_path / "bert", "BERT", 1.0)
    }

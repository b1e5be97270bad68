"""Reports on debiasing: what is asked is checked first, answered once, and by any worker the same."""

from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
import bayesbias.cluster.debias_report as module
from bayesbias.errors import ArgumentError, BayesBiasError, InputFileError, MeasureError, ReportError
from bayesbias.reports.debiasing.cells import AskedScore, DebiasCell
from tests.cluster.pets import study
from tests.reports.debiasing import pets


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"methods": "hrad"}, ArgumentError, "did you mean 'hard'"),
        ({"methods": {"original": pets.Weak()}}, ReportError, "none of the name 'original'"),
        ({"methods": {"hard": bb.debias.METHODS}}, ReportError, "Give methods by name"),
        ({"methods": ["hard", "hard"]}, ArgumentError, "each method once"),
        ({"studies": "weat77"}, InputFileError, "did you mean 'weat7'"),
        ({"measures": ["sembiass"]}, MeasureError, "did you mean 'sembias'"),
        ({"measures": ["sembias"]}, ReportError, "sembias needs the file"),
        ({"measures": [("word_similarity", "absent.txt")]}, InputFileError, "absent.txt"),
        ({"measures": [("word_similarity", "broken.txt")]}, MeasureError, "line 2: 'a b c d e' is not two"),
        ({"measures": [("analogies", "broken.txt")]}, MeasureError, "line 2: 'a b c d e' is not four"),
        ({"measures": [("sembias", "broken.txt")]}, MeasureError, "is not four pairs"),
        ({"measures": 2 * ["vocabulary_direct_bias"]}, ReportError, "vocabulary_direct_bias"),
        ({"measures": [("a", "b", "c")]}, ReportError, "is no name, nor a name with its data"),
        ({"sets": "gendr_manzini"}, BayesBiasError, "did you mean"),
        ({"workers": 0}, ArgumentError, "workers"),
    ],
)
def test_what_cannot_be_asked_is_told_before_any_work(
    changes: dict[str, Any], error: type[Exception], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.txt").write_text("a b c d\na b c d e\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "answer_debias_cell", lambda *_: pytest.fail("a cell was answered"))
    asked: dict[str, Any] = {"studies": study(), "methods": "linear", "sets": pets.SETS, **pets.SMALL, **changes}
    with pytest.raises(error, match=match):
        bb.debias_report([pets.embedding()], **asked)


def test_no_cell_is_answered_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pets.report(1, cells=tmp_path / "cells")
    answered: list[str] = []
    answer = module.answer_debias_cell

    def counting(source: bb.Embedding, cell: DebiasCell, *before: Any) -> Any:
        answered.append(cell.method)
        return answer(source, cell, *before)

    monkeypatch.setattr(module, "answer_debias_cell", counting)
    again = pets.report(1, cells=tmp_path / "cells")
    assert again.table.to_csv() == first.table.to_csv() == pets.report(1).table.to_csv()
    assert answered == ["original", "linear", "weak"]  # of the one without a folder
    pets.report(2, cells=tmp_path / "cells")
    assert answered[3:] == ["original", "linear", "weak"]  # of the embedding that is new
    answered.clear()
    more = {"linear": bb.debias.LinearProjection(), "hard": bb.debias.HardDebias()}
    asked: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    kept = bb.debias_report([pets.embedding()], study(), more, pets.SETS, cells=tmp_path / "cells", **asked)
    assert answered == ["hard"]  # compared with the original as a file keeps it
    assert kept.table.to_csv() == bb.debias_report([pets.embedding()], study(), more, pets.SETS, **asked).table.to_csv()


def test_what_others_need_and_what_takes_long_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[tuple[str, str]] = []
    answer = module.answer_debias_cell

    def counting(source: bb.Embedding, cell: DebiasCell, *before: Any) -> Any:
        answered.append((cell.embedding, cell.method))
        return answer(source, cell, *before)

    monkeypatch.setattr(module, "answer_debias_cell", counting)
    sources = [pets.embedding(1), pets.embedding(2, dimensions=12)]
    methods = ["linear", "inlp", "hard+double_hard"]
    asked: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    with pytest.warns(bb.errors.BayesBiasWarning, match="lacks"):  # of a few words INLP and double-hard say that
        found = bb.debias_report(sources, study(), methods, pets.SETS, **asked)
    assert found.table["embedding"].iloc[0] == "E1"
    large, small = ([(name, method) for method in ("inlp", "hard+double_hard", "linear")] for name in ("E2", "E1"))
    assert answered == [("E2", "original"), ("E1", "original"), *large, *small]


def test_without_the_original_there_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = module.answer_debias_cell

    def failing(source: bb.Embedding, cell: DebiasCell, *before: Any) -> Any:
        if source.name == "E1" and not before:
            raise RuntimeError("no memory")
        return answer(source, cell, *before)

    monkeypatch.setattr(module, "answer_debias_cell", failing)
    with pytest.warns(bb.errors.BayesBiasWarning, match="lacks 3 debiased embeddings.*RuntimeError: no memory"):
        found = pets.report()
    assert set(found.failed) == {("E1", method) for method in ("original", "linear", "weak")}
    assert set(found.table["embedding"]) == {"E2"}


def test_all_that_enters_an_answer_enters_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"

    def digest(pairs: str = "cat dog 9\n", **changes: Any) -> str:
        path.write_text(pairs)
        chosen: dict[str, Any] = {
            "embedding": "E1",
            "vectors": "0" * 16,
            "method": "soft",
            "chosen": bb.debias.SoftDebias(),
            "sets": pets.SETS,
            "studies": (study(),),
            "scores": (AskedScore("word_similarity", "word_similarity (pairs)", path),),
            "model": bb.load_model("no_pooling"),
            "max_lost": 0.2,
            "hdi_prob": 0.89,
            "draws": 100,
            "chains": 4,
            "random_seed": 1,
        }
        return DebiasCell(**chosen | changes).digest

    others = [
        digest(vectors="1" * 16),
        digest(chosen=bb.debias.SoftDebias(strength=5.0)),
        digest(sets=bb.debias.DebiasWords("kind", [["she", "he"]])),
        digest(studies=(study("other"),)),
        digest(pairs="cat dog 8\n"),
        digest(scores=()),
        digest(model=bb.load_model("hierarchical")),
        digest(random_seed=2),
        digest(max_lost=0.3),
    ]
    assert len({digest(), *others}) == 1 + len(others)
    assert digest(embedding="another name") == digest()


@pytest.mark.slow
def test_two_workers_give_the_same_numbers() -> None:
    asked: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    reports = [
        bb.debias_report([pets.embedding()], study(), ["linear", "hard"], pets.SETS, workers=count, **asked)
        for count in (1, 2)
    ]
    assert reports[0].table.to_csv() == reports[1].table.to_csv()

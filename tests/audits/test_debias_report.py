"""Reports on debiasing: what is asked is checked first, answered once, and by any worker the same."""

from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.audits.debias_cell import DebiasCell
from bayesbias.errors import ArgumentError, BayesBiasError, InputFileError, MeasureError, ReportError
from bayesbias.workers.cells import Answer
from tests.audits import debiased_pets as pets
from tests.audits import longer_or_shorter
from tests.audits.pets import study


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"methods": "hrad"}, ArgumentError, "'hard'"),
        ({"methods": {"original": pets.Weak()}}, ReportError, "'original'"),
        ({"methods": {"hard": bb.debias.METHODS}}, ReportError, "'hard'"),
        ({"methods": ["hard", "hard"]}, ArgumentError, "method"),
        ({"studies": "weat77"}, InputFileError, "'weat7'"),
        ({"measures": ["sembiass"]}, MeasureError, "'sembias'"),
        ({"measures": ["sembias"]}, ReportError, "measures: sembias"),
        ({"measures": [("word_similarity", "absent.txt")]}, InputFileError, "absent.txt"),
        ({"measures": [("word_similarity", "broken.txt")]}, MeasureError, "line 2: 'a b c d e'"),
        ({"measures": [("analogies", "broken.txt")]}, MeasureError, "line 2: 'a b c d e'"),
        ({"measures": [("sembias", "broken.txt")]}, MeasureError, "four"),
        ({"measures": 2 * ["vocabulary_direct_bias"]}, ReportError, "vocabulary_direct_bias"),
        ({"measures": ["midb"]}, MeasureError, "MIDB.*`names`"),
        ({"measures": [("midb", (["Ann", "Eve"], ["Bob", "Tom"]), {"normalize": False})]}, ReportError, "normalize"),
        ({"measures": [("a", "b", "c")]}, ReportError, "measures: .*'a', 'b', 'c'"),
        ({"sets": "gendr_manzini"}, BayesBiasError, "gender_manzini"),
        ({"workers": 0}, ArgumentError, "workers"),
    ],
)
def test_what_cannot_be_asked_is_told_before_any_work(
    changes: dict[str, Any], error: type[Exception], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.txt").write_text("a b c d\na b c d e\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(DebiasCell, "answer", lambda *_: pytest.fail("a cell was answered"))
    settings: dict[str, Any] = {"studies": study(), "methods": "linear", "sets": pets.SETS, **pets.SMALL, **changes}
    with pytest.raises(error, match=match):
        bb.debias_report([pets.embedding()], **settings)


def test_no_cell_is_answered_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pets.report(1, cells=tmp_path / "cells")
    answered: list[str] = []
    answer = DebiasCell.answer

    def counting(cell: DebiasCell, source: bb.Embedding) -> Answer:
        answered.append(cell.method)
        return answer(cell, source)

    monkeypatch.setattr(DebiasCell, "answer", counting)
    again = pets.report(1, cells=tmp_path / "cells")
    assert again.table.to_csv() == first.table.to_csv() == pets.report(1).table.to_csv()
    assert answered == ["original", "linear", "weak"]  # of the one without a folder
    pets.report(2, cells=tmp_path / "cells")
    assert answered[3:] == ["original", "linear", "weak"]  # of the embedding that is new
    answered.clear()
    more = {"linear": bb.debias.LinearProjection(), "hard": bb.debias.HardDebias()}
    settings: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    again = bb.debias_report([pets.embedding()], study(), more, sets=pets.SETS, cells=tmp_path / "cells", **settings)
    assert answered == ["hard"]  # compared with the original as a file keeps it
    assert (
        again.table.to_csv()
        == bb.debias_report([pets.embedding()], study(), more, sets=pets.SETS, **settings).table.to_csv()
    )


def test_what_others_need_and_what_takes_long_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[tuple[str, str]] = []
    answer = DebiasCell.answer

    def counting(cell: DebiasCell, source: bb.Embedding) -> Answer:
        answered.append((cell.embedding, cell.method))
        return answer(cell, source)

    monkeypatch.setattr(DebiasCell, "answer", counting)
    sources = [pets.embedding(1), pets.embedding(2, dimensions=12)]
    methods = ["linear", "inlp", "hard+double_hard"]
    settings: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    with pytest.warns(bb.errors.BayesBiasWarning, match="2 debiased embeddings"):  # INLP and double-hard fail
        report = bb.debias_report(sources, study(), methods, sets=pets.SETS, **settings)
    assert report.table["embedding"].iloc[0] == "E1"
    large, small = ([(name, method) for method in ("inlp", "hard+double_hard", "linear")] for name in ("E2", "E1"))
    assert answered == [("E2", "original"), ("E1", "original"), *large, *small]


def test_without_the_original_there_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = DebiasCell.answer

    def failing(cell: DebiasCell, source: bb.Embedding) -> Answer:
        if source.name == "E1" and not cell.before:
            raise RuntimeError("no memory")
        return answer(cell, source)

    monkeypatch.setattr(DebiasCell, "answer", failing)
    with pytest.warns(bb.errors.BayesBiasWarning, match="3 .*RuntimeError: no memory"):
        report = pets.report()
    assert set(report.failed) == {("E1", method) for method in ("original", "linear", "weak")}
    assert set(report.table["embedding"]) == {"E2"}


@pytest.mark.slow
def test_two_workers_give_the_same_numbers() -> None:
    settings: dict[str, Any] = {"measures": ["vocabulary_direct_bias"], **pets.SMALL}
    reports = [
        bb.debias_report([pets.embedding()], study(), ["linear", "hard"], sets=pets.SETS, workers=count, **settings)
        for count in (1, 2)
    ]
    assert reports[0].table.to_csv() == reports[1].table.to_csv()


@pytest.mark.parametrize("measure", ["midb", "sembias", "clustering", "recoverability", "gipe", "analogies"])
def test_a_method_that_changes_lengths_alone_changes_no_measure(measure: str, tmp_path: Path) -> None:
    """Each vector a different multiple of what it was: no direction moved."""
    (tmp_path / "sembias.txt").write_text("he:she purr:nap bark:howl cat:dog\nhe:she bark:nap purr:howl dog:cat\n" * 2)
    (tmp_path / "analogies.txt").write_text("he she cat dog\ncat dog he she\npurr nap bark howl\n")
    source = longer_or_shorter.source()
    requests: dict[str, Any] = {
        "midb": ("midb", longer_or_shorter.NAMES),
        "sembias": ("sembias", tmp_path / "sembias.txt"),
        "analogies": ("analogies", tmp_path / "analogies.txt"),
        "clustering": ("clustering", None, {"words_in_all": 40}),
        "recoverability": ("recoverability", None, {"words_in_all": 40}),
        "gipe": ("gipe", None, {"neighbours": 5}),
    }
    settings: dict[str, Any] = {"measures": [requests[measure]], **pets.SMALL, "random_seed": 1}
    methods = {"lengths": longer_or_shorter.Lengths()}
    report = bb.debias_report([source], study(), methods, sets=[["he", "she"]], **settings)
    (change,) = report.table.loc[report.table["measure"].str.startswith(measure), "change"].dropna()
    assert change == pytest.approx(0, abs=1e-6)

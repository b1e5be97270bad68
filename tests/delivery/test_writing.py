"""Whatever a report returns is written by the same code: whole, safe, with every statement and every number."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.gate import GateResult
from bayesbias.base import machine as memory
from bayesbias.base.results import Contents, LinkedPage, Result, ResultGroup
from bayesbias.base.statements import markdown_text
from bayesbias.delivery import writing
from bayesbias.delivery.glossary import COLUMNS, FORMS, intervals_joined
from bayesbias.errors import ArgumentError, BayesBiasWarning, OutputError, ReportError, warn_user
from bayesbias.metrics.measure_result import FIELDS
from tests.base.files.users import give_to_stranger
from tests.delivery.page.pages import Reader
from tests.delivery.results import RESULTS, audited, result_of
from tests.reports.made import made_fit

# What a pipeline reads, and the next gate.
_OF_A_GATE = (
    *("schema_version", "outcome", "exit_code", "rope", "standardised", "hdi_prob", "baseline", "missing", "changes"),
    *("questions", "groups", "lists", "checksum", "unit"),
)


@pytest.fixture(scope="module", params=RESULTS)
def result(request: pytest.FixtureRequest) -> Result:
    return result_of(request.param)


@pytest.fixture(scope="module")
def folder(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bb.write(result, tmp_path_factory.mktemp("place") / "made", progress=False)


def test_a_page_holds_every_statement_and_no_word_is_markup(result: Result, folder: Path, tmp_path: Path) -> None:
    path = folder / "report.html" if result.page_in_folder else bb.write(result, tmp_path / "page.html", progress=False)
    page = path.read_text(encoding="utf-8")
    reader = Reader(re.sub(r'<span class="option">(.*?)</span>', r"\1", page))
    shown = " ".join(reader.texts)
    contents = result.contents
    assert contents.title in shown
    assert contents.answer in shown
    assert contents.estimate in shown
    for statement in (*contents.doubts, *contents.limits):
        assert statement.text in shown
    for part in contents.parts:
        assert part.title in shown
        assert [statement.text for statement in part.statements if statement.text not in shown] == []
    assert not {"b", "i", "u"} & {tag for tag, _ in reader.elements}
    assert len(reader.all("img")) >= len(contents.figures)
    if contents.answer and contents.figures:
        assert page.index('class="answer"') < page.index("<figure")


def test_a_folder_holds_page_tables_figures_and_statements(result: Result, folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    contents = result.contents
    tables = {f"{name}.csv" for name, frame in contents.data.items() if len(frame)}
    figures = {f"{name}.png" for name in contents.figures}
    page = {"report.html"} if result.page_in_folder else set()
    pages = {page.file for page in contents.pages}
    assert names == tables | figures | page | pages | set(contents.files) | {"conclusions.txt", "conclusions.json"}
    assert list(folder.parent.iterdir()) == [folder], "nothing unfinished is left behind"
    assert (folder / "conclusions.txt").read_text(encoding="utf-8") == f"{str(result).rstrip()}\n"
    data = json.loads((folder / "conclusions.json").read_text(encoding="utf-8"))
    assert set(data.pop("files")) == names
    assert data == json.loads(json.dumps(result.to_dict()))
    for name, frame in contents.data.items():
        if len(frame):
            read = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
            assert list(read.columns) == list(frame.columns)
            assert len(read) == len(frame)


def test_json_and_markdown_say_the_same(result: Result, tmp_path: Path) -> None:
    data = json.loads(bb.write(result, tmp_path / "a.json").read_text(encoding="utf-8"))
    assert set(data) == {
        *("title", "about", "answer", "estimate", "answers", "doubts", "parts", "limits", "tables", "settings"),
        *(_OF_A_GATE if isinstance(result, GateResult) else ()),
        *(FIELDS if isinstance(result, bb.metrics.MeasureResult) else ()),
    }
    text = bb.write(result, tmp_path / "a.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {markdown_text(result.contents.title)}\n")
    assert all(markdown_text(statement.text) in text for statement in result.contents.limits)
    assert all(name in text for name in result.contents.settings)
    assert not re.search(r"<[a-z/]", text.partition("```")[0]), "no name is a tag"


def test_the_glossary_knows_the_columns_that_pages_show(result: Result) -> None:
    """The entry of the lower end of an interval is that of both."""
    unknown = {
        ends[0]
        for table in result.contents.tables.values()
        for ends in intervals_joined([str(name) for name in table.columns or table.frame.columns])
        if ends[0] not in COLUMNS and ends[0] not in table.headings
    }
    assert unknown == set()
    assert {column.form for column in COLUMNS.values()} <= set(FORMS)


def test_what_exists_is_replaced_on_demand_only_and_other_files_stay(tmp_path: Path) -> None:
    result = result_of("trainings")
    (tmp_path / "conclusions.txt").write_text("mine")
    (tmp_path / "notes.csv").write_text("mine")
    with pytest.raises(OutputError):
        bb.write(result, tmp_path)
    assert (tmp_path / "conclusions.txt").read_text() == "mine"
    bb.write(result, tmp_path, overwrite=True)
    assert (tmp_path / "conclusions.txt").read_text() != "mine"
    assert (tmp_path / "notes.csv").read_text() == "mine"


def test_files_of_an_earlier_result_go(tmp_path: Path) -> None:
    folder = bb.write(result_of("trainings"), tmp_path / "out")
    bb.write(result_of("posterior check"), folder, overwrite=True)
    names = {path.name for path in folder.iterdir()}
    assert not {"by_seed.csv", "trainings.png"} & names
    assert {"coverage.csv", "check.png"} <= names


def test_a_list_of_files_from_elsewhere_removes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "kept.csv").write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "conclusions.json").write_text(json.dumps({"files": ["../kept.csv", 3, "old.csv"]}))
    (folder / "old.csv").write_text("old")
    bb.write(result_of("trainings"), folder, overwrite=True)
    assert (tmp_path / "kept.csv").read_text() == "mine"
    assert not (folder / "old.csv").exists()


def test_a_list_of_files_removes_no_others_that_a_pattern_matches_nor_what_another_user_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notes.md", "[ab].csv", "a.csv"):
        (tmp_path / name).write_text("mine")
    listing = tmp_path / writing.NUMBERS
    listing.write_text(json.dumps({"files": ["*", "[ab].csv"]}))
    bb.write(result_of("trainings"), tmp_path, overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} >= {"notes.md", "a.csv"}
    assert not (tmp_path / "[ab].csv").exists()
    listing.write_text(json.dumps({"files": ["notes.md"]}))
    give_to_stranger(listing, monkeypatch)
    assert "notes.md" not in writing.written_names(tmp_path)
    listing.unlink()
    os.mkfifo(listing)
    assert "notes.md" not in writing.written_names(tmp_path)


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "save_figure", fails)
    with pytest.raises(OutputError, match="No space left"):
        bb.write(result_of("trainings"), tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


class _Bare(Result):
    _parts = ()  # statements


@dataclass(frozen=True, eq=False)
class Linking(_Bare):
    """A result with further pages."""

    linked: tuple[Result, ...]

    @property
    def contents(self) -> Contents:
        pages = enumerate(self.linked, start=1)
        return Contents("Two", pages=tuple(LinkedPage(f"{n}.html", "Text", "label", page) for n, page in pages))


@dataclass(frozen=True, eq=False)
class Warned(_Bare):
    """A result whose page gives a warning."""

    @property
    def contents(self) -> Contents:
        warn_user("Beware of this page.", BayesBiasWarning)
        return Contents("Doubts")


@dataclass(frozen=True, eq=False)
class WithoutPage(_Bare):
    """A result whose page cannot be drawn."""

    @property
    def contents(self) -> Contents:
        return Contents("None", details="no_such_page")


def test_further_pages_and_their_warnings_are_the_same_from_two_processes(tmp_path: Path) -> None:
    linking, folders = Linking((result_of("trainings"), bb.report(made_fit(draws=50), quick=True), Warned())), []
    for workers in (None, 2):
        with pytest.warns(BayesBiasWarning, match="Beware of this page"):
            folders.append(bb.write(linking, tmp_path / str(workers), workers=workers))
    here, there = folders
    names = [file.name for file in sorted(here.iterdir())]
    assert {"1.html", "2.html", "3.html", "report.html"} <= set(names)
    assert "Doubts" in (there / "3.html").read_text(encoding="utf-8")
    for name in names:
        assert (here / name).read_bytes() == (there / name).read_bytes()


def test_a_page_that_a_worker_cannot_draw_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"2\.html .*no_such_page"):
        bb.write(Linking((result_of("trainings"), WithoutPage())), tmp_path / "made", workers=2)
    with pytest.raises(ArgumentError, match="workers"):
        bb.write(result_of("trainings"), tmp_path / "made", workers=0)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.pdf"):
        bb.write(result_of("trainings"), tmp_path / "page.pdf")
    with pytest.raises(ReportError, match="str"):
        bb.write("that", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_fit_and_an_audit_stand_for_their_reports(tmp_path: Path) -> None:
    fit, frame = made_fit(draws=50), audited()
    written = [bb.write(source, tmp_path / name) for source, name in ((fit, "1.json"), (bb.report(fit), "2.json"))]
    assert written[0].read_text() == written[1].read_text()
    assert "2 are settled (s in 2 of 2 embeddings)" in bb.write(frame, tmp_path / "audit.html").read_text(
        encoding="utf-8"
    )


def test_a_figure_is_written_with_fonts_that_journals_take(tmp_path: Path) -> None:
    """A PDF embeds TrueType fonts (`FontFile2`), not Type 3 ones, and an SVG holds outlines in place of text."""
    drawing = bb.plots.plot_contrasts(made_fit(draws=50))
    content = bb.write(drawing, tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert "<text" not in bb.write(drawing, str(tmp_path / "figure.svg")).read_text(encoding="utf-8")
    with pytest.raises(OutputError, match="exists"):
        bb.write(drawing, tmp_path / "figure.pdf")


def test_a_group_holds_the_files_of_all_its_results(tmp_path: Path) -> None:
    group = ResultGroup("Checks", {"posterior": result_of("posterior check"), "prior": result_of("prior check")})
    folder = bb.write(group, tmp_path / "checks")
    names = {path.name for path in folder.iterdir()}
    assert {"check.png", "prior.png", "posterior_coverage.csv", "prior_distances.csv", "report.html"} <= names
    assert str(result_of("prior check")) in (folder / "conclusions.txt").read_text(encoding="utf-8")


def test_a_folder_whose_name_has_a_dot_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "glove.6B"
    folder.mkdir()
    assert bb.write(result_of("trainings"), folder) == folder
    assert (folder / "conclusions.txt").is_file()


def test_a_list_of_files_that_does_not_fit_into_memory_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conclusions.json").write_text('{"files": ["own.csv"]}')
    (tmp_path / "own.csv").touch()
    assert "own.csv" in writing.written_names(tmp_path)
    monkeypatch.setattr(memory, "free_memory", lambda: 10)
    assert "own.csv" not in writing.written_names(tmp_path)


def test_a_long_list_of_files_of_an_earlier_result_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "conclusions.json").write_text(json.dumps({"files": [f"{place}.csv" for place in range(100_000)]}))
    (tmp_path / "7.csv").touch()
    assert writing.written_names(tmp_path)[3:] == ["7.csv"]

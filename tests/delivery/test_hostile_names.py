"""Words, lists, studies, embeddings and texts with hostile names, in every form in which a result is written."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from matplotlib.text import Text

import bayesbias as bb
from bayesbias.base.machine import show
from bayesbias.base.number_text import visible
from bayesbias.base.results import Result
from bayesbias.delivery.page.sections import drawn
from bayesbias.delivery.plots.style import save_figure
from tests.delivery.hostile import HIDDEN, LINES, RESULTS, fit, result_of, table
from tests.delivery.page.pages import Reader

_DATA = {"table.csv", "fit.nc"}  # read back by the package: words stay as they are
_COMMANDS = {
    *(
        "caption",
        "label",
        "centering",
        "linewidth",
        "resizebox",
        "ifdim",
        "width",
        "else",
        "fi",
        "begin",
        "end",
        "toprule",
    ),
    *("midrule", "bottomrule", "endhead", "begingroup", "endgroup", "scriptsize", "setlength", "tabcolsep"),
    *("par", "smallskip", "parbox", "footnotesize"),
    *("usepackage", "char", "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"),
}


_SLOW = {"fit", "trainings", "embeddings", "trend", "posterior check"}
_KINDS = [pytest.param(kind, marks=pytest.mark.slow) if kind in _SLOW else kind for kind in RESULTS]


@pytest.fixture(scope="module", params=_KINDS)
def result(request: pytest.FixtureRequest) -> Result:
    return result_of(request.param)


@pytest.fixture(scope="module")
def folder(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    for form in ("report.html", "report.md", "report.tex", "report.json", "folder"):
        bb.write(result, place / form, progress=False)
    return place


def files(folder: Path, *endings: str) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of reports with these endings."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in endings and path.name not in _DATA:
            yield path.name, path.read_text(encoding="utf-8")


def test_no_form_has_a_control_character(folder: Path) -> None:
    texts = dict(files(folder, ".html", ".md", ".tex", ".json", ".csv", ".txt", ".xml"))
    assert len(texts) >= 6
    assert [name for name, text in texts.items() if visible(text) != text] == []


def test_json_has_the_names_themselves(result: Result, folder: Path) -> None:
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert data == json.loads(json.dumps(result.to_dict()))


def test_markdown_has_no_image_no_link_no_tag_and_all_rows(folder: Path) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for name, text in files(folder, ".md"):
        tokens = parser.parse(text)
        kinds = {token.type for token in tokens}
        inside = {part.type for token in tokens for part in token.children or ()}
        assert "$" not in text.partition("```python")[0], name
        assert inside <= {"text", "text_special", "code_inline", "strong_open", "strong_close", "softbreak"}, name
        assert not kinds & {"html_block", "hr", "ordered_list_open", "code_block"}, name
        strong = [part.content for token in tokens for part in token.children or () if part.type == "text"]
        assert "f" not in strong, "nothing is struck through or stressed"
        rows = [line for line in text.partition("```python")[0].splitlines() if line.startswith("| ")]
        assert sum(token.type == "tr_open" for token in tokens) == sum(not line.startswith("| ---") for line in rows)
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows if line.startswith("| ---")}
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == widths


def test_latex_has_no_other_command(folder: Path) -> None:
    ((_, text),) = files(folder, ".tex")
    text = re.sub(r"\$\\(?:bullet|odot|circ|leftarrow|rightarrow)\$", "", text)  # marks of tables
    assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= _COMMANDS
    assert '"' not in text, "German documents take it for a command"
    assert re.sub(r"\$[+-]\$", "", re.sub(r"\\[$%#&_{}]", "", text)).count("$") == 0
    assert {line[0] for line in text.splitlines() if re.search(r"(?<!\\)%(?!$)", line)} == {"%"}


def test_no_cell_of_a_spreadsheet_is_a_formula(folder: Path) -> None:
    for name, text in files(folder, ".csv"):
        for row in csv.reader(text.splitlines()):
            for cell in row:
                for part in cell.split(";"):
                    assert part[:1] not in [*"=+-@"] or re.fullmatch(r"-[\d.]+(e-?\d+)?", part), f"{name}: {cell}"


def test_a_page_has_no_element_of_a_name(folder: Path) -> None:
    for _, text in files(folder, ".html"):
        reader = Reader(text)
        assert not {"i", "b"} & {tag for tag, _ in reader.elements}
        assert all(str(image["src"]).startswith("data:image/") for image in reader.all("img"))
        assert len(reader.all("script")) == 1
        assert {str(link["href"])[0] for link in reader.all("a")} == {"#"}


def test_a_figure_shows_names_as_they_are(result: Result, tmp_path: Path) -> None:
    for name, request in result.contents.figures.items():
        figure = drawn(result, request)
        ElementTree.parse(save_figure(figure, tmp_path / f"{name}.svg"))
        texts = [text for text in figure.findobj(Text) if text.get_visible()]
        assert [text.get_text() for text in texts if "$" in text.get_text() and text.get_parse_math()] == []
        assert [text.get_text() for text in texts if visible(text.get_text()) != text.get_text()] == []


def test_a_terminal_and_a_notebook_show_no_control(result: Result, capsys: pytest.CaptureFixture[str]) -> None:
    html = result._repr_html_()
    for text in (repr(result), str(result), html):
        assert visible(text) == text
    assert not re.search(r"<(?!/?(?:h4|ul|li|p|span|table|thead|tbody|tr|th|td|caption)\b)\w", html)
    assert "$" not in html.replace("<span>$</span>", ""), "no mathematics"
    show(result)
    assert not set(HIDDEN) & set(capsys.readouterr().out)


def test_methods_of_a_paper_have_no_markup_of_a_name() -> None:
    text = bb.methods(fit())
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"]).parse(text)
    kinds, paragraph = [token.type for token in tokens], ["paragraph_open", "inline", "paragraph_close"]
    assert kinds[:22] == paragraph * 7 + ["fence"]
    assert [kind for kind in kinds[22:] if kind in (*paragraph[::2], "table_open")] == [
        *paragraph[::2],
        "table_open",
    ] * 2
    assert len({kinds[row:].index("tr_close") for row, kind in enumerate(kinds) if kind == "tr_open"}) == 1  # cells
    inside = [part.type for token in tokens for part in token.children or ()]
    assert set(inside) <= {"text", "text_special", "code_inline", "strong_open", "strong_close"}
    assert inside.count("strong_open") == 2  # the titles of the tables
    assert visible(text) == text
    assert "$" not in text


def test_words_of_a_distance_table_are_read_back_as_they_were(tmp_path: Path) -> None:
    """There a cell is data: it is no report."""
    made = table()
    for name in ("table.csv", "table.csv.gz", "table.parquet"):
        again = bb.read_table(bb.write_table(made, tmp_path / name))
        assert again["protected_word"].astype(str).tolist() == made["protected_word"].tolist()
        assert again["attribute_word"].astype(str).tolist() == made["attribute_word"].tolist()
    assert {"=cmd|' /C calc'!A0", "-1+1", "'s"} <= set(LINES)


@pytest.mark.extras
def test_word_has_no_control_character(result: Result, tmp_path: Path) -> None:
    import docx

    document = docx.Document(str(bb.write(result, tmp_path / "result.docx")))
    texts = [paragraph.text for paragraph in document.paragraphs]
    texts += [cell.text for grid in document.tables for row in grid.rows for cell in row.cells]
    assert [text for text in texts if visible(text) != text] == []

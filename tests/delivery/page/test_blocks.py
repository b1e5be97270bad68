"""Blocks: figures as data."""

import base64
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from bayesbias.delivery.page import blocks
from bayesbias.delivery.page.blocks import Page, Paragraph, Section, Table, figure, filled_page
from bayesbias.delivery.plots.style import new_figure
from tests.browser import browse, find_chromium


def test_a_figure_is_an_svg_that_a_phone_shows_legibly() -> None:
    drawn = new_figure(8, 2)
    drawn.subplots().plot([1, 2])
    drawn.suptitle("A title of its own")
    made = figure(drawn, "caption", "alt")
    content = base64.b64decode(made.source.removeprefix("data:image/svg+xml;base64,"))
    assert b"<svg" in content[:1000]
    assert (made.width, made.height, made.wide) == (518, 192, False)
    assert drawn.get_suptitle() == ""


def test_a_figure_of_several_columns_keeps_its_width_and_a_large_one_is_a_png() -> None:
    drawn = new_figure(8, 2)
    for axes in drawn.subplots(1, 2):
        axes.scatter(*np.random.default_rng(1).normal(size=(2, 5000)))
    made = figure(drawn, "caption", "alt")
    assert (made.width, made.wide) == (768, True)
    content = base64.b64decode(made.source.removeprefix("data:image/png;base64,"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_title_that_warns_is_kept() -> None:
    drawn = new_figure(2, 1)
    drawn.suptitle("X\nNOT CONVERGED: do not report")
    figure(drawn, "caption", "alt")
    assert "NOT CONVERGED" in drawn.get_suptitle()


def test_the_template_knows_every_block_by_its_kind() -> None:
    template = (Path(blocks.__file__).parent / "report.html.j2").read_text(encoding="utf-8")
    kinds = [block.__name__.lower() for block in get_args(blocks.Block)]
    assert len(kinds) == 9
    assert all(f'item.kind == "{kind}"' in template for kind in kinds)
    assert blocks.Notice("x").kind == "notice"


def test_facts_are_rows_of_texts() -> None:
    made = blocks.fact_table("Settings", {"Seed": "4"}, header=("Setting", "Value"))
    assert (made.header, made.rows, made.texts) == (("Setting", "Value"), (("Seed", "4"),), (True, True))


ROWS = tuple((f"word {number:02d}", f"{value:+.3f}", "x") for number, value in enumerate(range(-7, 8)))
browser = pytest.mark.skipif(find_chromium() is None, reason="no Chromium here")


def page_of(*sections: Section, full: bool = False) -> str:
    page = Page("T", "D", "S.", alerts=[], answer="V.", sections=list(sections))
    return filled_page(page, full=full)


def table(rows: tuple[tuple[str, ...], ...] = ROWS) -> Section:
    made = Table(caption="Words", header=("Word", "Mean", "Note"), rows=rows, texts=(True, False, True))
    return Section("words", "Words", [made], ["The first.", "The second."])


def test_details_are_folded_below_their_headlines_and_empty_ones_are_not_shown() -> None:
    inner = [
        Section("one", "One", [Paragraph("Inside <b>.")], ["About one."]),
        Section("two", "Two", [], ["About two."]),
        Section("three", "Three", []),
    ]
    page = page_of(Section("part", "Part", [], details=inner))
    (folded,) = re.findall(r"<details.*?</details>", page, re.DOTALL)
    assert "<summary>One</summary>" in folded
    assert "Inside &lt;b&gt;." in folded
    assert "About" not in folded
    assert page.index("About one.") < page.index("<details") < page.index("About two.")
    assert "Three" not in page


def test_an_option_stays_on_one_line_and_a_name_that_looks_like_one_is_escaped() -> None:
    text = "More draws (--draws N, draws=N) decide; <b>--list <i>"
    assert (
        '<p>More draws (<span class="option">--draws N</span>, draws=N) decide; &lt;b&gt;'
        '<span class="option">--list</span> &lt;i&gt;</p>'
    ) in page_of(Section("a", "A", [Paragraph(text)]))


def test_the_script_is_small_and_the_only_one_that_may_run() -> None:
    page = page_of(table())
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script.encode()) < 10_000
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[\w+/=]{44}';", policy)
    assert not re.search(r"https?:|src=\"(?!data:)|import\(|fetch\(|XMLHttp", script)
    assert 'class="full"' in page_of(table(), full=True)


def dom(page: str, script: str, folder: Path) -> str:
    """Return the page after a script of the test, which the policy must be taken away for."""
    path = folder / "page.html"
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    path.write_text(open_page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return browse(path, folder / "profile", "--dump-dom")[0]


def words(page: str) -> list[str]:
    return re.findall(r'<tr(?: hidden="")?>\s*<th scope="row">(word \d\d)', page)


@browser
def test_rows_are_sorted_by_a_click_on_a_header(tmp_path: Path) -> None:
    click = "document.querySelectorAll('thead th')[1].click();"
    assert words(dom(page_of(table()), click, tmp_path)) == [row[0] for row in ROWS]
    twice = dom(page_of(table()), click * 2, tmp_path)
    assert words(twice) == [row[0] for row in ROWS][::-1]
    assert 'aria-sort="descending"' in twice


@browser
def test_rows_are_filtered(tmp_path: Path) -> None:
    script = "const f = document.querySelector('input'); f.value = 'WORD 03'; f.dispatchEvent(new Event('input'));"
    elements = dom(page_of(table()), script, tmp_path)
    assert elements.count('<tr hidden="">') == len(ROWS) - 1


@browser
def test_no_other_script_runs_and_short_tables_stay_as_they_are(tmp_path: Path) -> None:
    page = page_of(table(ROWS[:3])).replace("</body>", "<script>document.title = 'changed'</script></body>")
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    shown, console = browse(path, tmp_path / "profile", "--dump-dom")
    assert "<title>T</title>" in shown
    assert any("Content Security Policy" in line for line in console)
    assert 'class="sortable"' not in shown
    assert "<input" not in shown

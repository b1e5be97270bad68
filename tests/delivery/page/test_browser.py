"""The page in headless Chromium: what is shown is text, and nothing complains."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from tests.browser import browse, find_chromium, phone, screenshot
from tests.delivery.page.pages import TAG, Reader
from tests.fuzz.pages import MAKERS, NAMES, faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium here"),
]


def test_a_word_that_is_a_tag_shows_as_text(page_file: Path, tmp_path: Path) -> None:
    dom, console = browse(page_file, tmp_path / "profile", "--dump-dom")
    assert console == []
    reader = Reader(dom)
    assert TAG in " ".join(reader.texts)
    assert all(str(image["src"]).startswith("data:image/") for image in reader.all("img"))
    assert len(reader.all("script")) == 1


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (500, True)])
def test_it_is_drawn_wide_in_light_and_narrow_in_dark(page_file: Path, tmp_path: Path, width: int, dark: bool) -> None:
    from matplotlib.image import imread

    image = tmp_path / "page.png"
    assert screenshot(page_file, tmp_path / "profile", image, width=width, height=2400, dark=dark) == []
    content = image.read_bytes()
    assert struct.unpack(">II", content[16:24]) == (width, 2400)
    pixels = imread(image)[..., :3]
    # The page's margin shows its background; text stands out from it.
    background = pixels[5, 5]
    assert bool(background.mean() < 0.2) is dark
    assert abs(pixels - background).max() > 0.7


def test_a_script_in_the_page_would_be_reported(page_file: Path, tmp_path: Path) -> None:
    """The policy forbids it and the console says so: an empty console above means something."""
    tampered = tmp_path / "tampered.html"
    text = page_file.read_text(encoding="utf-8")
    tampered.write_text(text.replace("</body>", "<script>document.title='ran'</script></body>"), encoding="utf-8")
    dom, console = browse(tampered, tmp_path / "profile", "--dump-dom")
    assert any("Content Security Policy" in line for line in console)
    assert "<title>ran</title>" not in dom


def measured_page(page: Path, script: str, folder: Path) -> Path:
    """Return a copy of a page that runs a script of the test."""
    text = page.read_text(encoding="utf-8").replace(
        "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'"
    )
    copy = folder / "measured.html"
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return copy


def test_the_figure_of_words_stands_beside_their_table(tmp_path: Path) -> None:
    """At 1280 pixels, with names of groups that take two lines."""
    groups = {"manual and service work": ["maid", "soldier"], "professions of the mind": ["doctor", "engineer"]}
    rng = np.random.default_rng(1)
    lists = {"care": ["heal", "help", "nurse"], "tools": ["hammer", "wrench", "drill"]}
    associated = list(zip(groups, lists, strict=True))
    study = bb.Study(
        name="work", protected=groups, attributes=lists, associated=associated, human="none", neutral="none"
    )
    vectors = {word: rng.normal(size=20) for word in study.words}
    fit = bb.fit(bb.distance_table(vectors, study), draws=200, random_seed=1, progress=False)
    page = bb.write(bb.report(fit, quick=True), tmp_path / "page.html", progress=False)
    sides = "[...b.children].map(part => part.getBoundingClientRect().left)"
    script = f"document.title = [...document.querySelectorAll('.beside')].map(b => {sides}.map(Math.round)).join('; ')"
    dom, _ = browse(measured_page(page, script, tmp_path), tmp_path / "profile", "--window-size=1280,800", "--dump-dom")
    places = re.search(r"<title>(.*?)</title>", dom)
    assert places is not None
    table, figure = (int(place) for place in places[1].split("; ")[0].split(",")[:2])
    assert figure > table + 400


def test_a_narrow_page_does_not_scroll_sideways(page_file: Path, tmp_path: Path) -> None:
    """Tables and figures scroll inside their own boxes: the width of the document is that of a phone."""
    script = "parent.postMessage(document.documentElement.scrollWidth + ' of ' + innerWidth, '*')"
    measured = measured_page(page_file, script, tmp_path)
    dom, _ = browse(phone(measured, tmp_path), tmp_path / "profile", "--window-size=500,900", "--dump-dom")
    assert "<title>390 of 390</title>" in dom


def test_a_full_page_prints_with_every_table_open_and_another_on_ten_sheets(page_file: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.html"
    text = page_file.read_text(encoding="utf-8")
    full.write_text(text.replace("<body>", '<body class="full">'), encoding="utf-8")
    sheets = []
    for source in (page_file, full):
        document = tmp_path / f"{source.stem}.pdf"
        _, console = browse(source, tmp_path / f"profile {source.stem}", f"--print-to-pdf={document}")
        assert console == []
        sheets.append(len(re.findall(rb"/Type */Page\b", document.read_bytes())))
    assert 0 < sheets[0] <= 10
    assert sheets[1] > sheets[0]


@pytest.mark.parametrize("kind", MAKERS)
def test_hostile_names_run_no_script(kind: str, tmp_path: Path) -> None:
    scripts = [name for name in NAMES if "document.title" in name]
    page = tmp_path / "page.html"
    bb.write(MAKERS[kind](["".join(scripts), *scripts[:3]]), page)
    assert faults(page.read_text(encoding="utf-8")) == []
    dom, console = browse(page, tmp_path / "profile", "--dump-dom")
    assert console == []
    assert "<title>ran</title>" not in dom
    assert "document.title = 'ran'" in " ".join(Reader(dom).texts)

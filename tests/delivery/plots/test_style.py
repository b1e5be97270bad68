"""How figures look: what every one shares, and that saving leaves a whole file or the old one."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest

from bayesbias.delivery.plots.style import (
    MOST_WORDS,
    furnish,
    label_word_rows,
    new_figure,
    save_figure,
    short_label,
    shown_words,
    title_figure,
    words_by_group,
)
from bayesbias.errors import FigureWarning, OutputError


def test_rows_of_words_have_no_scale_and_no_mathematics() -> None:
    axes = new_figure(3, 3).subplots()
    label_word_rows(axes, ["$x_{", "she", "him"], ["a$b$", "a$b$", "c"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$x_{", "she", "him"]
    assert not any(label.get_parse_math() for label in (*axes.get_yticklabels(), *axes.texts))
    assert [text.get_text() for text in axes.texts] == ["a$b$", "c"]
    assert [name for name, side in axes.spines.items() if side.get_visible()] == ["bottom"]


@pytest.mark.parametrize(("grid", "lines"), [("x", (True, False)), ("y", (False, True)), ("both", (True, True))])
def test_grids(grid: str, lines: tuple[bool, bool]) -> None:
    axes = new_figure(3, 3).subplots()
    furnish(axes, grid, small=True)
    assert tuple(axis.get_gridlines()[0].get_visible() for axis in (axes.xaxis, axes.yaxis)) == lines
    assert {label.get_fontsize() for label in axes.get_xticklabels()} == {8}
    assert axes.spines["left"].get_visible()


def test_titles_warn_of_a_fit_that_did_not_converge() -> None:
    figure = new_figure(3, 3)
    title_figure(figure, "$x_{", size=9)
    assert (figure.get_suptitle(), figure._suptitle.get_fontsize()) == ("$x_{", 9)
    title_figure(figure, "words", converged=False)
    assert figure.get_suptitle() == "words\nNOT CONVERGED: do not report"
    assert mpl.colors.to_hex(figure._suptitle.get_color()) == "#b00020"


def test_words_are_listed_group_after_group_once_each() -> None:
    words, groups = ["b1", "a1", "b2", "a1", "c1", "a2"], ["b", "a", "b", "a", "c", "a"]
    shown_names = words_by_group(pd.DataFrame({"protected_word": words, "protected_group": groups}))
    assert list(shown_names) == ["b1", "b2", "a1", "a2", "c1"]
    assert list(shown_names.values()) == ["b", "b", "a", "a", "c"]


def test_of_many_words_those_farthest_from_the_mean_are_shown() -> None:
    words, apart = 1_000, {"w7": -0.4, "w500": 0.3}
    names = [f"w{number}" for number in range(words)]
    frame = pd.DataFrame(
        {
            "protected_word": names * 2,
            "connection": ["human"] * words + ["neutral"] * words,
            "mean": [0.8 + apart.get(name, 0) for name in names] + [0.9 + number * 1e-5 for number in range(words)],
        }
    )
    shown, label = shown_words(frame, "mean")
    shown_names = shown["protected_word"].unique()
    assert len(shown_names) == MOST_WORDS == 200
    assert label == "200 of 1,000 protected words, those farthest from the mean"
    assert {"w7", "w500", "w0", "w999"} <= set(shown_names)
    assert not {f"w{number}" for number in range(300, 700) if number != 500} & set(shown_names)
    assert (shown["protected_word"].value_counts() == 2).all()
    assert shown_words(frame[frame["protected_word"].isin(names[:200])], "mean")[1] == "Each protected word"


def test_short_labels() -> None:
    assert short_label("a" * 24) == "a" * 24
    assert len(short_label("a" * 25)) == 24


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".PNG"])
def test_figures_are_replaced_only_on_request(tmp_path: Path, ending: str) -> None:
    figure = new_figure(2, 2)
    path = save_figure(figure, tmp_path / f"f{ending}")
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        save_figure(figure, path)
    assert path.read_text() == "mine"
    assert save_figure(figure, path, overwrite=True).stat().st_size > 500


def test_figures_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.png, \.svg, \.pdf"):
        save_figure(new_figure(2, 2), tmp_path / "f.txt")
    with pytest.raises(OutputError, match="/no"):
        save_figure(new_figure(2, 2), tmp_path / "no" / "f.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_words_are_no_tex_whatever_the_settings_say(tmp_path: Path, ending: str) -> None:
    with mpl.rc_context({"text.usetex": True}):
        figure = new_figure(3, 3)
        label_word_rows(figure.subplots(), ["he_", r"\frac{", "50 %"], ["a$b$", "a$b$", "c"])
        title_figure(figure, "he_ & #1")
        assert save_figure(figure, tmp_path / f"f{ending}").stat().st_size > 500
        assert mpl.rcParams["text.usetex"]


def test_a_backend_that_is_none_is_an_error_of_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from bayesbias.delivery.plots.style import new_figure; new_figure(2, 2)"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "nonsense"},
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("bayesbias.errors.ReportError: matplotlib")
    assert "MPLBACKEND" in last


def test_letters_that_the_font_lacks_are_named_once(tmp_path: Path) -> None:
    figure = new_figure(2, 2)
    title_figure(figure, "医医生")
    with pytest.warns(FigureWarning, match="2 characters") as caught:
        save_figure(figure, tmp_path / "f.png")
    assert len(caught) == 1


def test_pdf_and_svg_need_no_fonts_of_the_reader(tmp_path: Path) -> None:
    figure = new_figure(3, 2)
    figure.text(0.5, 0.5, "distance")
    with mpl.rc_context({"pdf.fonttype": 3, "pdf.compression": 0, "svg.fonttype": "none"}):
        pdf = save_figure(figure, tmp_path / "figure.pdf").read_bytes()
        svg = save_figure(figure, tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert "<text" not in svg


INTERRUPTED = """
import importlib.abc, os, signal, sys
import bayesbias as bb
from bayesbias.delivery.plots.style import new_figure

class Stop(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "matplotlib.artist" and self in sys.meta_path:  # in the middle of matplotlib
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
try:
    new_figure(1, 1)
except KeyboardInterrupt:
    print("interrupted", len(new_figure(1, 1).axes))
"""


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_no_half_of_matplotlib() -> None:
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("interrupted 0\n", "")

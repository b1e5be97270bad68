"""A bar is shown in a terminal and in a notebook, and nothing in a pipe."""

import io
import re
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import rich.console

from bayesbias.base import progress as module
from bayesbias.base.progress import has_audience, progress_bar, with_progress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal in the place of stderr."""
    stream, console = io.StringIO(), rich.console.Console
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(rich.console, "Console", lambda **_: console(file=stream, force_terminal=True, width=100))
    return stream


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook displays, without the wait before its first bar."""
    shown: list[str] = []
    shell: Any = ModuleType("IPython.display")
    shell.HTML = str

    def display(html: str, **_: Any) -> SimpleNamespace:
        shown.append(html)
        return SimpleNamespace(update=shown.append)

    shell.display = display
    monkeypatch.setitem(sys.modules, "IPython.display", shell)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    return shown


def test_nobody_sees_a_bar_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(with_progress([1, 2], "Working", progress=True)) == [1, 2]
    with progress_bar(10, "Training", progress=True, unit="words") as bar:
        bar.describe("skip-gram")
        bar.advance(10)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert has_audience(progress=True)
    assert not has_audience(progress=False)
    monkeypatch.setattr(sys, "stderr", None)  # Python without a window on Windows
    assert not has_audience(progress=True)


def test_a_terminal_shows_words_per_second_and_the_time_left(terminal: io.StringIO) -> None:
    with progress_bar(4000, "GloVe", progress=True, unit="words") as bar:
        bar.describe("GloVe, seed 1 (1 of 2)")
        for _ in range(4):
            bar.advance(500)
            time.sleep(0.15)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.getvalue())
    assert "GloVe, seed 1 (1 of 2)" in shown
    speeds = [int(speed.replace(",", "")) for speed in re.findall(r"([\d,]+) words/s", shown)]
    assert speeds
    assert all(100 < speed < 10_000 for speed in speeds)
    assert re.search(r"0:00:0\d left", shown)


def test_a_terminal_shows_the_count_of_steps(terminal: io.StringIO) -> None:
    with progress_bar(7, "Training", progress=True) as bar:
        bar.advance(3)
    assert "3/7" in terminal.getvalue()


def test_names_of_others_change_nothing_but_their_line(
    terminal: io.StringIO, notebook: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, shown = "a\x1b]0;title\x07 [/red] \u202e\nb", "a\\x1b]0;title\\x07 [/red] \\u202e b"
    for change in (False, True):
        with progress_bar(7, "Reading" if change else name, progress=True) as bar:
            if change:
                bar.describe(name)
        assert shown in terminal.getvalue()
        assert "\x07" not in terminal.getvalue()
        terminal.truncate(0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    list(with_progress([1], name, progress=True))
    assert shown in notebook[0]


def test_a_notebook_shows_the_count_and_the_time_left_and_nothing_at_the_end(notebook: list[str]) -> None:
    assert list(with_progress([1, 2], "Work <ing>", progress=True)) == [1, 2]
    assert "Work &lt;ing&gt;: 1 of 2, about 0 s left" in notebook[0]
    assert "<progress max=2 value=1.0>" in notebook[0]
    assert notebook[-1] == ""


def test_a_notebook_is_left_clean_after_an_error(notebook: list[str]) -> None:
    def interrupted() -> None:
        with progress_bar(2, "Working", progress=True) as bar:
            bar.advance()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(notebook) == 2
    assert notebook[-1] == ""

"""The bar of a training: what it shows, and nothing where nobody looks."""

import io

import pytest
import rich.console

from bayesbias.nli.trained import progress as module
from bayesbias.nli.trained.progress import epochs_bar


def test_nothing_is_written_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    for wanted in (True, False):
        with epochs_bar(3, progress=wanted) as show:
            show([0.5])
    assert capfd.readouterr() == ("", "")


def test_it_shows_the_epochs_and_the_best_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, console = io.StringIO(), rich.console.Console
    monkeypatch.setattr(module, "can_draw", lambda progress: progress)
    monkeypatch.setattr(rich.console, "Console", lambda **_: console(file=stream, force_terminal=True, width=100))
    with epochs_bar(7, progress=True) as show:
        show([])
        show([0.5, 0.75, 0.625])
    shown = stream.getvalue()
    assert "0.750" in shown
    assert "3/7" in shown
    assert "0.625" not in shown

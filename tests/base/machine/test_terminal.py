"""Text for a terminal: control characters are visible, and everything else is as it was."""

import pytest

from bayesbias.base.machine.terminal import show


def test_control_characters_are_visible(capsys: pytest.CaptureFixture[str]) -> None:
    show("\x1b[2Jcat \u202e\ntwo\tünïcode")
    assert capsys.readouterr().out == "\\x1b[2Jcat \\u202e\ntwo\tünïcode\n"

"""Text for a terminal: control characters are visible, and everything else is as it was."""

import pytest

from bayesbias.base.machine.terminal import show, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jcat", r"\x1b[2Jcat"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\x08\x7f\0", r"a\rb\x08\x7f\x00"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("two\nlines\tand ünïcode \u200d 猫", "two\nlines\tand ünïcode \u200d 猫"),
    ],
)
def test_control_characters_are_visible(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert visible(text) == shown
    show(text)
    assert capsys.readouterr().out == f"{shown}\n"

"""The command line, run as a user runs it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from bayesbias import cli
from bayesbias.base.machine import show

_WARNINGS_ARE_ERRORS = """
import warnings
warnings.simplefilter("error")
from bayesbias.cli import main
main()
"""


def run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, where warnings are errors."""
    command = [sys.executable, "-c", _WARNINGS_ARE_ERRORS, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


OF_PYTHON = re.compile(r"(?<![\w/\\.'\"-])[a-z]\w*=(None|True|False|\.\.\.|nan|['\"(\[]|-?\d)|\bNone\b|bb\.\w+\(")
"""Spellings that nobody can type on the command line."""


def _show(text: str, stream: TextIO | None = None) -> None:
    """Show an error or a warning, which must not speak Python."""
    message = re.sub(r"--option '?\w+=", "--option ", text)
    assert not OF_PYTHON.search(message), f"an argument of Python on the command line: {text}"
    show(text, stream)


def in_process(*arguments: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command line in this process, which is faster, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
    monkeypatch.setattr("warnings.showwarning", cli._show_warning)
    monkeypatch.setattr(cli, "show", _show)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)

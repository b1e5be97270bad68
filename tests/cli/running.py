"""The command line, run as a user runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from bayesbias import cli

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


def in_process(*arguments: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command line in this process, which is faster, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
    monkeypatch.setattr("warnings.showwarning", cli._show_warning)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)

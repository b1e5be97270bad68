"""The ways in which a folder is replaced."""

import errno
from pathlib import Path

import pytest

from bayesbias.base.files import outputs


@pytest.fixture(params=["exchanged", "file by file", "a system that refuses", "the current folder"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Replace folders in each of the ways."""
    (tmp_path / "out").mkdir()
    if request.param == "file by file":
        monkeypatch.setattr(outputs, "_exchanger", lambda: None)
    elif request.param == "a system that refuses":

        def refuse(*_: bytes) -> None:
            raise OSError(errno.EINVAL, "not here")

        monkeypatch.setattr(outputs, "_exchanger", lambda: refuse)
    elif request.param == "the current folder":
        monkeypatch.chdir(tmp_path / "out")
    return str(request.param)

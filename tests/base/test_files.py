"""Files that are read: errors that say what was found."""

from pathlib import Path

import pytest

from bayesbias.base.files import input_file
from bayesbias.errors import InputFileError


def test_inputs(tmp_path: Path) -> None:
    (tmp_path / "table.csv").touch()
    assert input_file(tmp_path / "table.csv") == tmp_path / "table.csv"
    with pytest.raises(InputFileError, match=r"tabel\.csv.*'table\.csv'"):
        input_file(tmp_path / "tabel.csv")
    with pytest.raises(InputFileError, match="folder"):
        input_file(tmp_path)

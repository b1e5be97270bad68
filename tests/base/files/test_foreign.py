"""Files that hold no data for this package are named, also in place of a CSV or a study."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files.foreign import archive_kind, foreign_kind
from bayesbias.errors import BayesBiasError
from bayesbias.models.covariates import read_covariates


@pytest.mark.parametrize(
    "text", [b"", b"king 0.1 0.2\n", b"16 12\n", b"word,share\n", b'name = "x"\n', b"{ 0.1 0.2\n", b"# words\nking\n"]
)
def test_ordinary_texts_are_nothing_else(text: bytes) -> None:
    assert foreign_kind(text) == ""


def test_names_of_archives() -> None:
    assert archive_kind(["words.npy", "vectors.npy"]) == ""
    assert "Word or PowerPoint" in archive_kind(["[Content_Types].xml", "word/document.xml"])


def test_other_readers_name_them_too(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes("[protected]".encode("utf-16"))
    with pytest.raises(BayesBiasError, match=r"own\.toml is text in UTF-16"):
        bb.load_study(path)
    path.write_bytes(b"<!DOCTYPE html><html></html>")
    with pytest.raises(BayesBiasError, match=r"own\.toml is a web page"):
        read_covariates(path)

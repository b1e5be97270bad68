"""Tar archives that are hostile or damaged; tests/embeddings/test_loading_own_files.py reads those of people."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from bayesbias.base.files.inputs import LINES, read_content
from bayesbias.errors import InputFileError, NotEnoughMemoryError


def tarred(path: Path, *entries: tarfile.TarInfo, content: bytes = b"") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for entry in entries:
            entry.size = len(content) if entry.isreg() else 0
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_more_files_than_anyone_packs_are_refused(tmp_path: Path) -> None:
    many = tarred(tmp_path / "many.tar.gz", *(tarfile.TarInfo(f"{number}.txt") for number in range(1001)))
    with pytest.raises(InputFileError, match="more than 1,000 files"):
        read_content(many, LINES)


def test_a_name_of_any_length_is_not_read(tmp_path: Path) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 1 << 50
    path = tmp_path / "long.tar.gz"
    path.write_bytes(gzip.compress(name.tobuf(tarfile.GNU_FORMAT) + bytes(2048)))
    with pytest.raises(NotEnoughMemoryError, match="names of its files"):
        read_content(path, LINES)


def test_links_and_devices_are_no_files(tmp_path: Path) -> None:
    link, pipe = tarfile.TarInfo("latest.txt"), tarfile.TarInfo("pipe")
    link.type, link.linkname, pipe.type = tarfile.SYMTYPE, "/etc/passwd", tarfile.FIFOTYPE
    path = tarred(tmp_path / "links.tar.gz", link, pipe, tarfile.TarInfo("../../words.txt"), content=b"nurse\n")
    assert read_content(path, LINES) == b"nurse\n"
    assert read_content(Path(f"{path}:../../words.txt"), LINES) == b"nurse\n"
    with pytest.raises(InputFileError, match=r"no file 'latest\.txt'"):
        read_content(Path(f"{path}:latest.txt"), LINES)


def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = tarred(tmp_path / "cut.tar.gz", tarfile.TarInfo("words.txt"), content=b"nurse\n" * 10_000)
    cut = tmp_path / "cut.tar"
    cut.write_bytes(gzip.decompress(path.read_bytes())[:9000])
    with pytest.raises(InputFileError, match=r"tar archive that is damaged or cut short.*Unpack it with `tar -xf`"):
        read_content(cut, LINES)

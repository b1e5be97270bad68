"""Contents of files: unpacked by what they hold, and refused before they fill the memory."""

import gzip
import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bayesbias.base.files import contents
from bayesbias.base.files.contents import (
    LINES,
    MemoryCost,
    is_packed,
    open_content,
    open_input,
    open_zip,
    read_content,
    read_lines,
    readable,
)
from bayesbias.base.machine import memory
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, NotEnoughMemoryError, StudyError
from tests.base.files.bombs import PACKINGS, lying_gzip, zipped


@pytest.mark.parametrize("error", [InputFileError("no"), EmbeddingError("no"), StudyError("no")])
def test_our_own_errors_pass_while_a_file_is_read(error: BayesBiasError) -> None:
    with pytest.raises(type(error)) as caught, readable(Path("f")):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "Permission"),
        (EOFError("end"), "damaged"),
    ],
)
def test_errors_of_the_system_become_ours(error: Exception, message: str) -> None:
    with pytest.raises(InputFileError, match=message), readable(Path("f")):
        raise error


def test_files_are_unpacked_by_their_content(tmp_path: Path) -> None:
    for name, content in (("plain.gz", b"plain"), ("zipped.txt", gzip.compress(b"zipped", mtime=0))):
        (tmp_path / name).write_bytes(content)
        with open_content(tmp_path / name) as stream:
            assert stream.read().decode() == name.split(".")[0]


@pytest.mark.parametrize("name", PACKINGS)
def test_every_packing_is_read_whole(name: str, tmp_path: Path) -> None:
    path = tmp_path / "any_name"
    for content in (b"word\n" * 1_000_000, b"a", b""):  # of several pieces
        path.write_bytes(PACKINGS[name](content))
        assert read_content(path, LINES) == content
        assert is_packed(path) == (name != "zip")
    path.write_bytes(PACKINGS[name](bytes(range(256)) * 50)[:-15])
    with pytest.raises(InputFileError, match=r"damaged|no complete zip"):
        read_content(path, LINES)


@pytest.mark.parametrize("pack", [*PACKINGS.values(), lying_gzip, bytes], ids=[*PACKINGS, "lie", "plain"])
def test_a_content_stops_where_the_memory_ends(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(60_000_000)))
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: .* need .* 0\.0 GB are free\. Check"):
            read_content(path, MemoryCost(2))
        assert tracemalloc.get_traced_memory()[1] < 35_000_000
    finally:
        tracemalloc.stop()


def test_values_count_besides_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"\n" * 1000)
    monkeypatch.setattr(memory, "free_memory", lambda: 50_000)
    assert len(read_content(path, MemoryCost(2, 40))) == 1000
    with pytest.raises(NotEnoughMemoryError):
        read_content(path, MemoryCost(2, 50))
    path.write_bytes(b"x" * 1000)
    assert read_content(path, MemoryCost(2, 50)) == b"x" * 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [(zipped(b"a", files=2), "2 files"), (zipped(b"a" * 999, method=zipfile.ZIP_BZIP2), "deflate")],
)
def test_zip_files_that_are_not_unpacked(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        read_content(tmp_path / "t.zip", LINES)


def test_the_directory_of_a_zip_file_is_checked_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zipped(b"", files=100)
    with open_zip(io.BytesIO(content), tmp_path) as archive:
        assert len(archive.namelist()) == 100
    monkeypatch.setattr(contents, "_PIECE", 1000)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match="names of its files"), open_zip(io.BytesIO(content), tmp_path):
        pass


@pytest.mark.parametrize("size", [1, 7, 8, 9, 100])
def test_lines_are_those_of_python(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_PIECE", 8)
    content = b"".join(b"x" * (size - 1) + end for end in (b"\n", b"\r\n", b"\n", b"")) + b"end"
    (tmp_path / "f").write_bytes(gzip.compress(content))
    assert list(read_lines(tmp_path / "f")) == content.splitlines(keepends=True)


def test_a_file_of_any_size_is_streamed_but_a_line_without_end_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 5_000_000)
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a word\n" * 1_000_000, compresslevel=1))
    assert sum(1 for _ in read_lines(path)) == 1_000_000
    path.write_bytes(gzip.compress(bytes(5_000_000), compresslevel=1))
    with pytest.raises(NotEnoughMemoryError, match="one line"):
        list(read_lines(path))


def test_a_lack_of_memory_that_was_not_foreseen_is_our_error() -> None:
    with pytest.raises(NotEnoughMemoryError, match=r"^f needs more memory"), readable(Path("f")):
        raise MemoryError


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has named pipes")
def test_a_pipe_that_took_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    for read in (
        open_input,
        is_packed,
        lambda path: read_content(path, LINES),
        lambda path: [*read_lines(path)],
    ):
        with pytest.raises(InputFileError, match="not an ordinary file"):
            read(tmp_path / "f")

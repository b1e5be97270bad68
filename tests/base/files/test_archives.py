"""Archives that are hostile or damaged; tests/embeddings/test_loading_own_files.py reads those of people."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.files import archives
from bayesbias.base.files.inputs import LINES, read_content
from bayesbias.errors import InputFileError
from tests.base.files.bombs import zipped


def tarred(path: Path, *entries: tarfile.TarInfo, content: bytes = b"") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info in entries:
            info.size = len(content) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(content))
    return path


def entry(name: str, kind: bytes, content: bytes, records: dict[str, str] | None = None) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.pax_headers = kind, len(content), records or {}
    return info.tobuf(tarfile.PAX_FORMAT if records else tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


LONG_NAME = entry("././@LongLink", tarfile.GNUTYPE_LONGNAME, b"n" * (1 << 20))
HOLES = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}


@pytest.mark.parametrize(
    "start",
    [
        b"".join(entry(f"{number}.txt", tarfile.REGTYPE, b"") for number in range(9000)),
        5 * (LONG_NAME + entry("a.txt", tarfile.REGTYPE, b"")),
        entry("a.txt", tarfile.REGTYPE, b"9000000\n" + b"1\n" * 3_000_000, HOLES),
    ],
    ids=["many files", "long names", "holes"],
)
def test_what_stands_beside_the_contents_of_a_tar_archive_is_limited(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "large.tar.gz"
    path.write_bytes(gzip.compress(start + bytes(1024), 1))
    with pytest.raises(InputFileError, match="names of files take more than 4,194,304 bytes"):
        read_content(path, LINES)


def test_the_directory_of_a_zip_file_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(b"", files=100))
    with pytest.raises(InputFileError, match="100 files"):
        read_content(path, LINES)
    monkeypatch.setattr(archives, "_MOST_NAMES", 1000)
    with pytest.raises(InputFileError, match="names of files take more than 1,000 bytes"):
        read_content(path, LINES)


def test_what_is_read_of_contents_is_not_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MOST_NAMES", 10_000)
    path = tarred(tmp_path / "a.tar.gz", tarfile.TarInfo("a.txt"), content=b"nurse\n" * 10_000)
    assert len(read_content(path, LINES)) == 60_000
    (tmp_path / "a.zip").write_bytes(zipped(b"nurse\n" * 10_000, method=zipfile.ZIP_STORED))
    assert len(read_content(tmp_path / "a.zip", LINES)) == 60_000


@pytest.mark.parametrize("size", [1 << 50, 5])
def test_long_names_that_lie_or_have_long_names_are_damage(size: int, tmp_path: Path) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, size
    path = tmp_path / "long.tar.gz"
    path.write_bytes(gzip.compress((name.tobuf(tarfile.GNU_FORMAT) + bytes(512)) * 2000))
    with pytest.raises(InputFileError, match="damaged or cut short"):
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


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_size_that_cannot_be_is_damage(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    header = bytearray(tarfile.TarInfo("words.txt").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\x80" + bytes(3) + (1 << 60).to_bytes(8)
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:]))
    (tmp_path / "size.tar").write_bytes(pack(bytes(header) + bytes(1024)))
    with pytest.raises(InputFileError, match=r"tar archive that is damaged or cut short.*Unpack it with `tar -xf`"):
        read_content(tmp_path / "size.tar", LINES)


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zip"])
def test_what_becomes_hundreds_of_times_as_large_is_not_read_to_its_end(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayesbias.base.files.archives._LEAST_UNPACKED", 1 << 20)
    rows = b"king 1 2\nqueen 2 1\n" + 3_000_000 * b"w 1 2\n"
    path = tmp_path / f"vectors.txt.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr("vectors.txt", rows)
    else:
        path.write_bytes({"gz": gzip, "xz": lzma, "bz2": bz2}[kind].compress(rows))
    assert len(rows) > 500 * path.stat().st_size
    with pytest.raises(InputFileError, match="more than 500 times as large"):
        bb.load_embedding(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_counts_of_words_are_read_though_most_are_zero(kind: str, tmp_path: Path) -> None:
    """One count in a thousand is not zero: such files are the most packed ones that people have."""
    rng = np.random.default_rng(1)
    rows = []
    for place in range(2_000):
        counts = np.full(10_000, "0")
        counts[rng.integers(10_000, size=10)] = rng.integers(1, 9, size=10).astype(str)
        rows.append(f"w{place} {' '.join(counts)}\n".encode())
    content = b"".join(rows)
    assert len(content) > archives._LEAST_UNPACKED
    path = tmp_path / f"counts.txt.{kind}"
    path.write_bytes({"gz": gzip, "xz": lzma}[kind].compress(content))
    assert len(content) > 300 * path.stat().st_size
    assert read_content(path, LINES) == content

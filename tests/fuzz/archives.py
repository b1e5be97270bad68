"""Hostile archives: members of zip and tar files of odd names, kinds, sizes and methods, repeated, cut and damaged."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.metrics.intrinsic.quality import read_words
from tests.fuzz.layouts import any_of
from tests.fuzz.mutations import flipped, mutated
from tests.fuzz.sound import STUDY, whole
from tests.fuzz.storages import one_of

Generator = np.random.Generator
_NAMES = (
    *("a.txt", "a.csv", "a.toml", "../of-nobody/key", "/etc/passwd", "f/", "f/a.txt", "__MACOSX/._a.txt", "a.npy"),
    *("a.zip:b.txt", "xl/workbook.xml", "x/data.pkl", "é\u202e.txt", "\x1b[31m.txt", "a\nb", "C:\\a.txt", "n" * 3000),
)
_PACKINGS: tuple[Callable[[bytes], bytes], ...] = (bytes, gzip.compress, bz2.compress, lzma.compress)


def _content(rng: Generator) -> bytes:
    contents: tuple[Callable[[], bytes], ...] = (
        *[lambda: whole("glove.txt")] * 4,
        lambda: whole("csv"),
        lambda: STUDY.encode(),
        lambda: mutated(whole("glove.txt"), rng),
        lambda: b"",
        lambda: b" " * int(one_of(rng, (10, 1000, 10**6))),
        lambda: b"he 1 2\n" * int(one_of(rng, (10, 10, 10, 100_000))),
        lambda: _zip([("a.txt", whole("glove.txt"))], rng),
        lambda: _tar(["a.txt"], rng),
    )
    return bytes(one_of(rng, contents)())


def _named(names: list[str], content: bytes, rng: Generator) -> bytes:
    """Return a name to be asked for, mostly one of an archive or none, and the content of the archive."""
    asked = one_of(rng, _NAMES) if rng.random() < 0.1 else one_of(rng, ("", *names))
    return json.dumps(asked).encode() + b"\n" + content


def _damaged(content: bytes, rng: Generator) -> bytes:
    return bytes(one_of(rng, (flipped, mutated))(content, rng)) if content and rng.random() < 0.2 else content


# --- zip --------------------------------------------------------------------------------------------------


def zip_members(rng: Generator) -> bytes:
    """Return the name of a member, and a zip file with members of odd names, methods, repeats and damage."""
    entries = [(one_of(rng, _NAMES), _content(rng)) for _ in range(int(one_of(rng, (0, 1, 1, 1, 2, 3))))]
    if rng.random() < 0.1:
        entries += [(f"{number}.txt", b"") for number in range(300)]
    content = _damaged(_zip(entries, rng), rng)
    if rng.random() < 0.2 and b"PK\1\2" in content:  # what the archive says of a size, a method, or a place
        at = content.rindex(b"PK\1\2") + int(one_of(rng, (8, 10, 20, 24, 28, 42)))
        content = content[:at] + bytes(rng.integers(256, size=2, dtype=np.uint8)) + content[at + 2 :]
    return _named([name for name, _ in entries], content, rng)


def _zip(entries: list[tuple[str, bytes]], rng: Generator) -> bytes:
    stream = io.BytesIO()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
        warnings.simplefilter("ignore")  # names that occur twice
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, one_of(rng, methods))
    return stream.getvalue()


# --- tar --------------------------------------------------------------------------------------------------

_KINDS = (*[tarfile.REGTYPE] * 20, *tarfile.SUPPORTED_TYPES, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X", b"V", b"\xff")
_RECORDS = ("path", "linkpath", "size", "mtime", "uid", "uname", "hdrcharset", "comment", "GNU.sparse.map", "SCHILY.x")
_SPARSE = ("major", "minor", "name", "realsize", "size", "numblocks", "offset", "numbytes")
_VALUES = (
    *("", "0", "1", "-1", "9", "1e400", "nan", "1,5", "x" * 100_000, "a.txt", "/etc/passwd", "../of-nobody/key", "\0"),
    *(str(2**63), "9" * 5000, "BINARY", "a\n9 path=b\n", "0,5,10,5", "1," * 3000 + "1"),
)
_SIZES = (0, 1, 511, 512, 513, 10**6, 2**33, 2**62, -1, -512, -(2**40))


def tar_members(rng: Generator) -> bytes:
    """Return the name of a member, and a tar file, perhaps packed, with entries of any kind, repeated or damaged."""
    names = [one_of(rng, _NAMES) for _ in range(int(one_of(rng, (0, 1, 1, 1, 2, 3))))]
    content = _tar(names, rng)
    if rng.random() < 0.1:
        content = content[: int(rng.integers(len(content) + 1))]
    content = _damaged(one_of(rng, _PACKINGS)(content), rng)
    return _named(names, content, rng)


def _tar(names: list[str], rng: Generator) -> bytes:
    """Return entries of some names, at times with headers before them, and repeated."""
    entries = [
        b"".join(_header(rng) for _ in range(int(one_of(rng, (0, 0, 0, 1, 2))))) + _entry(name, rng) for name in names
    ]
    case = rng.random()
    if entries and case < 0.1:  # names of names, or many files
        entries *= int(one_of(rng, (2, 50)))
    elif case < 0.15:
        header = _header(rng)
        entries = [header] * min(1500, 5_000_000 // len(header)) + entries
    return b"".join(entries) + bytes(int(one_of(rng, (0, 512, 1024, 10_240))))


def _entry(name: str, rng: Generator) -> bytes:
    info, content = tarfile.TarInfo(name), _content(rng)
    info.type, info.linkname = one_of(rng, _KINDS), one_of(rng, ("", *_NAMES))
    return _block(info, content, rng)


def _header(rng: Generator) -> bytes:
    """Return what describes the next entry: its name, or records of pax; at times records whose lengths lie."""
    info = tarfile.TarInfo("././@LongLink")
    info.type = one_of(
        rng, (tarfile.XHDTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
    )
    if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        return _block(info, one_of(rng, (*_NAMES, *_VALUES)).encode() + b"\0", rng)
    records = [(one_of(rng, _RECORDS), one_of(rng, _VALUES)) for _ in range(int(rng.integers(4)))]
    if rng.random() < 0.5:
        records += [(f"GNU.sparse.{name}", one_of(rng, (*"00112", *_VALUES))) for name in _SPARSE if rng.random() < 0.5]
    return _block(info, b"".join(_record(name, value, rng) for name, value in records), rng)


def _record(name: str, value: str, rng: Generator) -> bytes:
    line = f" {name}={value}\n".encode()
    length = next(size for size in range(len(line), len(line) + 9) if size == len(line) + len(str(size)))
    length += int(one_of(rng, (*[0] * 12, -1, 1, -length, 10**9)))
    return str(length).encode() + line


def _block(info: tarfile.TarInfo, content: bytes, rng: Generator) -> bytes:
    """Return an entry with its content; its size may lie, and parts of its header with a right checksum too."""
    info.size = len(content) if rng.random() < 0.9 else int(one_of(rng, _SIZES))
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT, errors="replace"))
    start, header = bytes(header[:-512]), header[-512:]  # a long name has entries of its own before it
    if rng.random() < 0.1:
        at = int(one_of(rng, (0, 100, 108, 116, 124, 136, 156, 257, 265, 345, 386, 482, 483, int(rng.integers(512)))))
        value = one_of(rng, (b"\xff" * 12, b"\x80" + b"\xff" * 11, b"\0" * 12, b"77777777777\0", b"x", b"\1", b"-1 "))
        header[at : at + len(value)] = value
        header = header[:512].ljust(512, b"\0")
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    return start + bytes(header) + content + bytes(-len(content) % 512)


def member_of(ending: str) -> Callable[[Path], object]:
    """Return what reads the member that the first line of a file names, of the archive after it, in every way."""

    def read(path: Path) -> object:
        name, content = path.read_bytes().split(b"\n", 1)
        archive = path.with_suffix(ending)
        archive.write_bytes(content)
        chosen = Path(f"{archive}:{json.loads(name)}") if json.loads(name) else archive
        return any_of(
            lambda: list(bb.load_embedding(chosen).words),
            lambda: list(bb.load_embedding(chosen, words=["he"]).words),
            lambda: len(bb.read_table(chosen)),
            lambda: str(bb.load_study(chosen)),
            lambda: read_words(chosen),
        )

    return read

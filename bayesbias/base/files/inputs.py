"""Files to read: bundled files, users' files, packed or not, and checksums of files written by this package."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from errno import EACCES, ENOENT
from functools import partial
from hashlib import sha256
from itertools import zip_longest
from math import inf, isfinite
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

from bayesbias.base.checks import check_path, is_text
from bayesbias.base.files.archives import open_member, open_tar, open_zip, unpacked
from bayesbias.base.files.foreign import archive_kind, foreign_kind
from bayesbias.base.files.openings import Opening, files_below
from bayesbias.base.machine import Allowance, check_memory
from bayesbias.errors import BayesBiasError, InputFileError, NotEnoughMemoryError, did_you_mean, name_some

_PACKINGS: dict[re.Pattern[bytes], Callable[..., Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): bz2.open,  # before a block, or before the end
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}
_LONGEST_SIGNATURE = 10
_NEVER_WAIT: int = getattr(os, "O_NONBLOCK", 0)
_ZIP = b"PK\x03\x04"
_TAR, _TAR_PLACE = b"ustar", 257
_HEAD = 512  # bytes that tell a zip or tar file from others
_IN_ARCHIVE = re.compile(r"(.+?\.(?:zip|tar|tgz|tar\.(?:gz|bz2|xz))):(.+)", re.DOTALL)
_PIECE = 1 << 22
_LARGE = 1 << 26  # bytes of a file whose holes are counted
_MOST_TEXT = 1 << 28  # bytes of a text that is read as a whole: far more than lists, studies and CSVs of people have
_ADVICE = "Check whether it is the right file, or allow more memory."
_BYTES_A_LETTER = 80  # of a line, with its words, which may have one letter
_MOST_NESTED = 100
_LARGEST = 2**63
SEAL = b"\nbayesbias sha256 "
_MOST_DOTS, _LONGEST_BARE = 30, 1000  # of a key or a value of TOML without quotes
_ENDINGS = (".txt", ".txt.gz")  # of the files of a corpus


def open_input(path: Path, opening: Opening = os.open) -> BinaryIO:
    """Open a file for reading, in the way `opening`.

    The opened file itself is checked: whatever the path led to before, another user may have put a pipe there.

    Raises `InputFileError` if it cannot be opened, or is not an ordinary file: a pipe or a device could block for ever.
    """
    return open(path, "rb", buffering=1 << 20, opener=partial(_open_ordinary, opening))


def _open_ordinary(opening: Opening, path: str, flags: int) -> int:
    try:
        handle = opening(path, flags | _NEVER_WAIT)
    except InputFileError:
        raise
    except OSError as error:  # such as one that another user removed meanwhile
        raise InputFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    fault = ""
    if not S_ISREG(os.fstat(handle).st_mode):
        fault = "is not an ordinary file. Copy its content to one."
    elif _is_hollow(handle):
        fault = "consists mostly of holes, which take no space and any time to read. Download or write it again."
    if fault:
        os.close(handle)
        raise InputFileError(f"{path} {fault}")
    return handle


def _is_hollow(handle: int) -> bool:
    """Return whether most of a large file was never written: its size, and hours of reading, cost nothing."""
    size, end, written = os.fstat(handle).st_size, 0, 0
    if size < _LARGE or not hasattr(os, "SEEK_DATA"):
        return False
    while end < size:
        try:
            start = os.lseek(handle, end, os.SEEK_DATA)
        except OSError:  # no more data
            break
        end = os.lseek(handle, start, os.SEEK_HOLE)
        written += end - start
    os.lseek(handle, 0, os.SEEK_SET)
    return 2 * written < size


@contextmanager
def open_content(path: Path, opening: Opening = os.open) -> Iterator[BinaryIO]:
    """Yield the content of a file, unpacked if it is packed by gzip, bzip2, xz, zip or tar; an .npz file as it is.

    An archive must hold one file, or the path names one of them: ``glove.6B.zip:glove.6B.50d.txt``. `opening` is as for
    `open_input`.
    """
    archive, _ = archive_and_member(path)
    with open_input(archive, opening) as file:
        if opener := _unpacker(file):
            packed = os.fstat(file.fileno()).st_size
            with opener(file, "rb") as stream, _only_member(unpacked(stream, packed, path), path) as content:
                yield content
        else:
            with _only_member(file, path) as content:
                yield content


def archive_and_member(path: Path) -> tuple[Path, str]:
    """Return the file of a path, and the name of the file inside that a path such as ``a.zip:b.txt`` names.

    >>> archive_and_member(Path("glove.6B.zip:glove.6B.50d.txt"))[1]
    'glove.6B.50d.txt'
    """
    match = _IN_ARCHIVE.fullmatch(str(path))
    return (path, "") if match is None or os.path.lexists(path) else (Path(match[1]), match[2])


def have_same_content(first: Path, second: Path) -> bool:
    """Return whether two files have the same bytes."""
    with open_input(first) as left, open_input(second) as right:
        pieces = (iter(partial(file.read, _PIECE), b"") for file in (left, right))
        return all(one == other for one, other in zip_longest(*pieces))


def file_size(path: Path, opening: Opening = os.open) -> int:
    """Return the size of an existing file, or of the archive that a path names a file of."""
    with open_input(archive_and_member(path)[0], opening) as file:
        return os.fstat(file.fileno()).st_size


def is_packed(path: Path) -> bool:
    """Return whether the content of a file is packed by gzip, bzip2, xz, zip or tar."""
    with open_input(archive_and_member(path)[0]) as file:
        if _unpacker(file) is not None:
            return True
        head = file.read(_HEAD)
        return head.startswith(_ZIP) or head.startswith(_TAR, _TAR_PLACE)


def _unpacker(file: BinaryIO) -> Callable[..., Any] | None:
    """Return what unpacks an opened file, None if it is not packed; the file is at its start again."""
    start = file.read(_LONGEST_SIGNATURE)
    file.seek(0)
    return next((opener for signature, opener in _PACKINGS.items() if signature.match(start)), None)


@dataclass(frozen=True)
class MemoryCost:
    """Memory that the content of a file takes, with all that is made of it.

    That is `a_byte` for each byte, such as 1 for itself, 1 as text and 1 as a part of that; and `a_separator` for each
    of the bytes `separators`, which separate values that become objects of their own.
    """

    a_byte: float
    a_separator: float = 0.0
    separators: bytes = b"\n"

    def memory(self, content: bytes) -> float:
        """Return the memory that a content takes."""
        separators = len(content) - len(content.translate(None, self.separators))
        return self.a_byte * len(content) + self.a_separator * separators


LINES = MemoryCost(8, 300, b"\n\r")
JSON = MemoryCost(4, 130, b",:[{\n")
TOML = MemoryCost(4, 300, b",=.[{\n")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert errors while a file is read into `InputFileError`, and a lack of memory into `NotEnoughMemoryError`."""
    try:
        yield
    except BayesBiasError:
        raise
    except MemoryError as error:
        raise NotEnoughMemoryError(f"{path} needs more memory than is free. {_ADVICE}") from error
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise InputFileError(f"Cannot read {path}: {error.strerror or error}.") from error  # type: ignore[union-attr]
        raise InputFileError(
            f"{path}: its compressed data are damaged or cut short ({error}). Download or write it again."
        ) from error


def read_content(path: Path, cost: MemoryCost, most: float = inf, opening: Opening = os.open) -> bytes:
    """Return the content of an existing file, unpacked; a zip file must hold one file, or the path names it.

    The memory that the content takes is counted while it is read: sizes that a packed file declares are never trusted.
    `opening` is as for `open_input`.

    Raises `InputFileError` if the content is damaged or cut short, or has more than `most` bytes. Raises
    `NotEnoughMemoryError` if the content would take more memory than is free. Reading stops there.
    """
    allowance = Allowance(f"{path}: its contents", _ADVICE)
    content = io.BytesIO()
    with readable(path):
        check_memory(cost.a_byte * file_size(path, opening), f"{path}: its contents", _ADVICE)
        with open_content(path, opening) as stream:
            while piece := stream.read(_PIECE):
                allowance.take(cost.memory(piece))
                if content.tell() + len(piece) > most:
                    raise InputFileError(
                        f"{path} has more than {most:,.0f} bytes of text. Check whether it is the right file, or "
                        "divide it."
                    )
                content.write(piece)
    return content.getvalue()


def read_lines(path: Path, opening: Opening = os.open) -> Iterator[bytes]:
    """Yield the lines of a file of any size, unpacked, with their ends; only one line at a time must fit into memory.

    `opening` is as for `open_input`.

    Raises `InputFileError` if the content is damaged or cut short. Raises `NotEnoughMemoryError` if a line, with all
    that is made of it, would take more memory than is free.
    """
    with readable(path), open_content(path, opening) as stream:
        while line := stream.readline(_PIECE):
            if len(line) == _PIECE and not line.endswith(b"\n"):
                line = _long_line(line, stream, path)
            yield line


def _long_line(start: bytes, stream: BinaryIO, path: Path) -> bytes:
    allowance = Allowance(f"{path}: the words of one line", "Divide the text into lines, or allow more memory.")
    line, piece = io.BytesIO(), start
    while piece:
        allowance.take(_BYTES_A_LETTER * len(piece))
        line.write(piece)
        piece = b"" if piece.endswith(b"\n") else stream.readline(_PIECE)
    return line.getvalue()


# --- archives -------------------------------------------------------------------------------------------------


@contextmanager
def _only_member(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Yield a stream, or the chosen member of the zip or tar file that it is; an .npz file, with arrays, as it is.

    Files that systems add, such as ``__MACOSX/._a.txt``, do not count.
    """
    _, chosen = archive_and_member(path)
    head = stream.read(_HEAD)
    stream.seek(0)
    if head.startswith(_TAR, _TAR_PLACE):
        with open_tar(stream, path) as files:
            yield files[_chosen_name(list(files), chosen, path, "tar")]
        return
    if not head.startswith(_ZIP):
        if chosen:
            raise InputFileError(f"{path}: the file before the colon is no zip or tar file. Give its own name.")
        yield stream
        return
    with open_zip(stream, path) as archive:
        names = archive.namelist()
        if any(name.endswith(".npy") for name in names) and not chosen:
            stream.seek(0)
            yield stream
            return
        if kind := archive_kind(names):
            raise InputFileError(f"{path} is {kind}")
        name = _chosen_name(names, chosen, path, "zip")
        with open_member(archive, name, path) as member:
            yield unpacked(member, archive.getinfo(name).compress_size, path)


def _chosen_name(names: list[str], chosen: str, path: Path, kind: str) -> str:
    """Return the name of the one file of an archive, or of the chosen one; raise `InputFileError` without it."""
    names = [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX/")]
    names = [name for name in names if not name.rpartition("/")[2].startswith("._")]
    if names and chosen and chosen not in names:
        raise InputFileError(
            f"{path}: the archive has no file {chosen!r}{did_you_mean(chosen, names)}; it has {name_some(names)}."
        )
    if not names:
        raise InputFileError(f"{path} is a {kind} file without a file: links and devices in it are not followed.")
    if not chosen and len(names) != 1:
        raise InputFileError(
            f"{path} is a {kind} file of {len(names):,} files: {name_some(names)}. Name one, such as {path}:{names[0]}."
        )
    return chosen or names[0]


def parse_json(text: str | bytes) -> Any:
    """Return the content of a JSON document; raise `ValueError` if the text is not JSON, or a value is not usable.

    A key that occurs twice is refused: programs differ in which of its values they take.

    >>> parse_json('{"mean": 0.1, "mean": 0.2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'mean' occurs twice
    """
    try:
        content = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(_nested()) from None
    if fault := value_fault(content):
        raise ValueError(fault)
    return content


def value_fault(content: Any) -> str:
    """Return what is wrong with a value of a document that was read from JSON or TOML; empty if nothing is.

    Whole numbers have 64 bits at most, other numbers are finite, texts can be encoded, and nesting is limited: what is
    beyond this breaks messages, arrays and files much later.

    >>> value_fault({"rope": [0.02, float("inf")]})
    'a number is not finite'
    """
    unchecked: list[tuple[Any, int]] = [(content, 0)]
    while unchecked:
        value, depth = unchecked.pop()
        if isinstance(value, dict | list):
            if depth == _MOST_NESTED:
                return _nested()
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            if {*map(type, inner)} == {float} and all(map(isfinite, inner)):  # many draws, in a tenth of the time
                continue
            unchecked += [(part, depth + 1) for part in inner]
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            return "a whole number has more than 64 bits"
        elif isinstance(value, float) and not isfinite(value):
            return "a number is not finite"
        elif isinstance(value, str) and not is_text(value):
            return "a text holds half of a character (an unpaired surrogate)"
    return ""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r:.60} occurs twice")
    return content


def _nested() -> str:
    return f"values are nested more than {_MOST_NESTED} deep"


SEAL_SIZE = len(SEAL) + 64
# Of a text without an end, the rest of its line or of the document. One or two quotes may stand before an end of three.
# No branch is tried twice: time is linear.
_TEXTS_AND_COMMENTS = re.compile(
    r"""
    \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: \"{3,5} | \Z )
    | '{3} (?: [^']++ | '(?!'') )*+ (?: '{3,5} | \Z )
    | " (?: [^"\\\n]++ | \\. )*+ "?
    | ' [^'\n]*+ '?
    | \# [^\n]*+
    """,
    re.DOTALL | re.VERBOSE,
)
_AROUND_KEYS = re.compile(r"[\n=,{}\[\]]")
_PACKAGE = Path(__file__).resolve().parents[2]


def bundled(*parts: str) -> Path:
    """Return the path of a bundled file or folder.

    `parts` are the folders and the name. Bundled files are inside an installed wheel, or at the top of the repository
    in a checkout.

    >>> bb.bundled("data", "studies").is_dir()
    True
    """
    inside = _PACKAGE / "_bundled"
    root = inside if inside.is_dir() else _PACKAGE.parent
    return root.joinpath(*(check_path(part) for part in parts))


def input_file(path: str | os.PathLike[str]) -> Path:
    """Return `path` if it is a readable file; raise `InputFileError` with a hint if not.

    >>> input_file("no_such_table.csv")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: There is no file no_such_table.csv...
    """
    source = check_path(path)
    archive, member = archive_and_member(source)
    if member:
        input_file(archive)
        return source
    try:
        exists = source.exists()
    except OSError as error:  # such as a name that is too long
        raise InputFileError(f"Cannot read {str(source)[:60]!r}: {error.strerror}. Check the path.") from error
    if source.is_dir():
        raise InputFileError(f"{source} is a folder. Give the name of a file in it.")
    if source.is_symlink() and not exists:
        raise InputFileError(f"{source} is a link to no file. Correct the link, or give the file itself.")
    if not exists:
        siblings = [entry.name for entry in source.parent.iterdir()] if source.parent.is_dir() else []
        message = f"There is no file {source}{did_you_mean(source.name, siblings)}. Check the path."
        raise InputFileError(message) from FileNotFoundError(ENOENT, "no such file")
    if not source.is_file():
        # Opening a pipe or a device could block for ever.
        raise InputFileError(f"{source} is not an ordinary file. Copy its content to one.")
    if not os.access(source, os.R_OK):
        raise InputFileError(f"{source} cannot be read: no permission.") from PermissionError(EACCES, "no permission")
    try:
        with open_input(source) as stream:
            stream.read(1)
    except InputFileError:
        raise
    except OSError as error:  # such as a file of the system's own, or a damaged disk
        raise InputFileError(f"{source} cannot be read: {error.strerror}. Copy its content to another file.") from error
    return source


def check_folder(folder: Path, *more: Path) -> None:
    """Raise `InputFileError` if a folder has a pipe, a device, or a link that leads out of it and of `more` folders."""
    places = (folder.resolve(), *more)
    for path in folder.rglob("*"):
        if path.exists() and not (path.is_file() or path.is_dir()):  # a library that opens it could wait for ever
            raise InputFileError(f"{printable(str(path))} is not an ordinary file. Remove it from the folder.")
        if path.is_symlink() and not any(path.resolve().is_relative_to(place) for place in places):
            raise InputFileError(
                f"{printable(str(path))} is a link to {printable(str(path.resolve()))}, outside of the folder. Put the "
                "file itself there."
            )


def text_files(path: Path) -> list[Path]:
    """Return the files of a corpus: a file, or those of a folder that end in ``.txt`` or ``.txt.gz``.

    Raises `InputFileError` if a file cannot be read, the folder has no text, or a link in it leads outside of it:
    whoever made the folder could have a private file of its reader copied into an embedding or an index.
    """
    if not is_folder(path):
        return [input_file(path)]
    check_folder(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(_ENDINGS))
    if not files:
        raise InputFileError(f"The folder {path} holds no file that ends in {' or '.join(_ENDINGS)}. Add one.")
    return files


def corpus_files(path: Path) -> Iterator[tuple[Path, Iterator[bytes]]]:
    """Yield the `text_files` of a corpus with their lines; a file must still lie in its folder when it is opened."""
    with files_below(path) if is_folder(path) else nullcontext(os.open) as opening:
        for file in text_files(path):
            yield file, read_lines(file, opening)


def is_folder(path: Path) -> bool:
    """Return whether a path is that of a folder; a name that is too long for a file is not.

    >>> is_folder(bundled("data")), is_folder(Path(1000 * "a"))
    (True, False)
    """
    with suppress(OSError):
        return path.is_dir()
    return False


def utf8_text(content: bytes, source: str | os.PathLike[str], error: type[BayesBiasError] = InputFileError) -> str:
    r"""Return the content of a file as text without a byte order mark; raise `error` if it is not UTF-8.

    >>> utf8_text(b"one\ntwo\xff", "words.csv")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: words.csv: byte 7 is not UTF-8 (line 2). Save the file as UTF-8.
    """
    try:
        return content.decode("utf-8-sig")  # Windows editors begin files with a byte order mark
    except UnicodeDecodeError as fault:
        if kind := foreign_kind(content[:1000]):
            raise error(f"{source} is {kind}") from fault
        line = content.count(b"\n", 0, fault.start) + 1
        raise error(f"{source}: byte {fault.start} is not UTF-8 (line {line}). Save the file as UTF-8.") from fault


def read_utf8(
    path: str | os.PathLike[str],
    cost: MemoryCost,
    error: type[BayesBiasError] = InputFileError,
    *,
    most: float | None = None,
) -> str:
    """Return the text of a file, which may be packed; raise `error` if it is not UTF-8.

    Raises `InputFileError` if it has more than `most` bytes, 256 MiB by default.
    """
    source = input_file(path)
    return utf8_text(read_content(source, cost, _MOST_TEXT if most is None else most), source, error)


def parse_toml(text: str, source: str | os.PathLike[str], error: type[BayesBiasError]) -> dict[str, Any]:
    """Return the content of a TOML document; raise `error` if the text is not TOML, or a value is not usable."""
    bare = _AROUND_KEYS.split(_TEXTS_AND_COMMENTS.sub("", text))
    if max(part.count(".") for part in bare) > _MOST_DOTS:  # tomllib takes quadratic time
        raise error(f"{source} has a key with more than {_MOST_DOTS} dots. Put names that hold dots between quotes.")
    if max(len(part.strip()) for part in bare) > _LONGEST_BARE:  # tomllib takes a hundred bytes a digit
        raise error(
            f"{source} has over {_LONGEST_BARE:,} characters in a row without quotes. In TOML, put texts in quotes."
        )
    try:
        content = tomllib.loads(text)
    # TOMLDecodeError is a ValueError; so is a number with too many digits. Deep nesting ends in a RecursionError.
    except (ValueError, RecursionError) as fault:
        raise error(
            f"{source} is not valid TOML: {fault}. Look there for a missing quotation mark, comma or bracket, or a "
            f"repeated key.{_quotes_hint(text, str(fault))}"
        ) from fault
    if value := value_fault(content):
        raise error(f"{source} cannot be used: {value}. Correct it.")
    return content


def _quotes_hint(text: str, fault: str) -> str:
    """Return a sentence on the first word without quotes in the faulty line of a TOML document, if there is one."""
    place = re.search(r"line (\d+)", fault)
    lines = text.splitlines()
    line = lines[min(int(place[1]), len(lines)) - 1] if place and lines else ""
    unquoted = re.sub(r""""[^"]*"|'[^']*'|#.*""", " ", line)
    key, equals, value = unquoted.rpartition("=")
    words = [word for word in re.findall(r"[^\W\d][\w'-]*", value) if word not in ("true", "false", "inf", "nan")]
    words += [word for word in re.findall(r"\w+", key) if not word.isascii()]
    if not words or not (equals or value.strip().endswith((",", "]"))):
        return ""
    return f' Put {words[0]!r} between quotes: "{words[0]}".'


def read_toml(path: str | os.PathLike[str], error: type[BayesBiasError]) -> dict[str, Any]:
    """Return the content of a TOML file; raise `InputFileError` if it cannot be read, `error` if it is not TOML."""
    return parse_toml(read_utf8(path, TOML, error), path, error)


def sealed(content: bytes, position: int | None = None) -> bytes:
    r"""Return a file's content with its checksum inserted at `position` (default: the end), which other programs skip.

    >>> sealed(b"content")[:24], len(sealed(b"content"))
    (b'content\nbayesbias sha256', 89)
    """
    position = len(content) if position is None else position
    return content[:position] + SEAL + sha256(content).hexdigest().encode() + content[position:]


def check_seal(path: str | os.PathLike[str], content: bytes, position: int | None = None) -> None:
    """Raise `InputFileError` if content has a checksum at `position` (default: the end) that does not match it."""
    position = len(content) - SEAL_SIZE if position is None else position
    if position < 0 or not content.startswith(SEAL, position):
        return
    digest = sha256(memoryview(content)[:position])
    digest.update(memoryview(content)[position + SEAL_SIZE :])
    if content[position + len(SEAL) : position + SEAL_SIZE] != digest.hexdigest().encode():
        raise _damaged(path)


def check_sealed_file(path: Path) -> bytes:
    """Return the checksum at the end of a file, empty if it has none; raise `InputFileError` if it does not match.

    The file is read in pieces, because it may be larger than the memory.
    """
    with open_input(path) as stream:
        size = max(stream.seek(0, os.SEEK_END) - SEAL_SIZE, 0)
        stream.seek(size)
        seal = stream.read()
        if not seal.startswith(SEAL):
            return b""
        stream.seek(0)
        digest = sha256()
        while size:
            piece = stream.read(min(size, 1 << 20))
            digest.update(piece)
            size -= len(piece)
    if seal[len(SEAL) :] != digest.hexdigest().encode():
        raise _damaged(path)
    return seal


def _damaged(path: str | os.PathLike[str]) -> InputFileError:
    return InputFileError(f"{path} is damaged: its content does not match its checksum. Write it again.")


def printable(name: str) -> str:
    r"""Return the name of a file as text that can be encoded; names need not be UTF-8.

    >>> printable("caf\udce9.csv")
    'caf\\xe9.csv'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")

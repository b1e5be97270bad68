"""Files to read: bundled files, users' files, TOML, and checksums of files written by this package."""

import os
import re
import tomllib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.contents import TOML, MemoryCost, open_input, read_content
from bayesbias.base.files.documents import value_fault
from bayesbias.errors import BayesBiasError, InputFileError, did_you_mean

SEAL = b"\nbayesbias sha256 "
SEAL_SIZE = len(SEAL) + 64
_MOST_DOTS = 30
_ENDINGS = (".txt", ".txt.gz")  # of the files of a corpus
# Of a text without an end, the rest of its line or of the document. No branch is tried twice: time is linear.
_TEXTS_AND_COMMENTS = re.compile(
    r"""
    \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: \"{3} | \Z )
    | '{3} (?: [^']++ | '(?!'') )*+ (?: '{3} | \Z )
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

    Bundled files are inside an installed wheel, or at the top of the repository in a checkout.

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
        raise InputFileError(f"There is no file {source}{did_you_mean(source.name, siblings)}. Check the path.")
    if not source.is_file():
        # Opening a pipe or a device could block for ever.
        raise InputFileError(f"{source} is not an ordinary file. Copy its content to one.")
    if not os.access(source, os.R_OK):
        raise InputFileError(f"{source} cannot be read: no permission.")
    try:
        with open_input(source) as stream:
            stream.read(1)
    except InputFileError:
        raise
    except OSError as error:  # such as a file of the system's own, or a damaged disk
        raise InputFileError(f"{source} cannot be read: {error.strerror}. Copy its content to another file.") from error
    return source


def check_links(folder: Path, *more: Path) -> None:
    """Raise `InputFileError` if a link in a folder leads elsewhere than into it, or into one of `more` folders."""
    places = (folder.resolve(), *more)
    for path in folder.rglob("*"):
        if path.is_symlink() and not any(path.resolve().is_relative_to(place) for place in places):
            raise InputFileError(
                f"{printable(str(path))} is a link to {printable(str(path.resolve()))}, outside of the folder. Put the "
                "file itself there."
            )


def text_files(path: Path) -> list[Path]:
    """Return the files of a corpus: a file, or those of a folder that end in ``.txt`` or ``.txt.gz``.

    Raises
    ------
    InputFileError
        If a file cannot be read, the folder has no text, or a link in it leads outside of it: whoever made the folder
        could have a private file of its reader copied into an embedding or an index.
    """
    if not is_folder(path):
        return [input_file(path)]
    check_links(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(_ENDINGS))
    if not files:
        raise InputFileError(f"The folder {path} holds no file that ends in {' or '.join(_ENDINGS)}. Add one.")
    return files


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
        line = content.count(b"\n", 0, fault.start) + 1
        raise error(f"{source}: byte {fault.start} is not UTF-8 (line {line}). Save the file as UTF-8.") from fault


def read_utf8(path: str | os.PathLike[str], cost: MemoryCost, error: type[BayesBiasError] = InputFileError) -> str:
    """Return the text of a file, which may be packed; raise `error` if it is not UTF-8."""
    source = input_file(path)
    return utf8_text(read_content(source, cost), source, error)


def parse_toml(text: str, source: str | os.PathLike[str], error: type[BayesBiasError]) -> dict[str, Any]:
    """Return the content of a TOML document; raise `error` if the text is not TOML, or a value is not usable."""
    if _deepest_key(text) > _MOST_DOTS:  # tomllib takes quadratic time
        raise error(f"{source} has a key with more than {_MOST_DOTS} dots. Put names that hold dots between quotes.")
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


def _deepest_key(text: str) -> int:
    """Return the largest number of dots in a key of a TOML document, or in what stands in place of one."""
    return max(part.count(".") for part in _AROUND_KEYS.split(_TEXTS_AND_COMMENTS.sub("", text)))


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

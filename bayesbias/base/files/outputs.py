"""Outputs that are written whole or not at all: the workshop beside an output, and the folders where one is refused.

An output is made in a workshop beside it, and put in place at the end: by one rename, or by one exchange of two folders
if a folder is replaced. If a folder cannot be exchanged (it is a mount point or the current folder, it holds folders or
files that cannot be linked, it is of another user, or the system has no such call), its files are replaced one by one,
after a journal is written, which the next run completes if this one is killed.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from errno import EACCES, ELOOP, ENOTDIR
from fnmatch import fnmatch
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from stat import S_IFMT, S_IMODE, S_ISDIR, S_ISLNK, S_ISVTX, S_IWGRP, S_IWOTH

from bayesbias.base.checks import check_path
from bayesbias.base.machine import held_interrupts
from bayesbias.errors import BayesBiasError, OutputError, name_some, setting

_MOST_LINKS = 40
_TEMPORARY_FILE_MODE = 0o600  # mode of a temporary file
NEW = "new"
_JOURNAL = "journal.json"
_ENDING = ".bayesbias"
_WORKSHOP_MODE = 0o700


def followed(path: Path) -> Path:
    """Return the target of a path after following links.

    An output is made only where no other user can rename, replace or remove what this user has, so that a path leads to
    the same place from its check to the end: all may write to no folder above it unless that has the sticky bit, and
    what is of another user in such a folder is not used. Others can still move files of this user there, such as links:
    no link in a folder with the sticky bit is followed.

    Raises `OutputError` if a link leads to itself or is in a folder with the sticky bit, or other users could turn the
    path elsewhere.
    """
    try:
        return path.resolve() if os.name == "nt" else _followed(path.absolute())
    except OutputError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"Cannot write {str(path)!r}: {reason}. Give another name.") from error


def _followed(path: Path) -> Path:
    folder, links = Path(path.anchor), 0
    names = list(reversed(path.relative_to(folder).parts))
    while names:
        name = names.pop()
        if name == "..":
            folder = folder.parent
            continue
        step = folder / name  # the root if a link leads there
        try:
            is_link = S_ISLNK(step.lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            check_fixed(folder)
            return step.joinpath(*reversed(names))
        if not is_link:
            folder = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OutputError(f"Cannot write {path}: it is a link that leads to itself. Give another name.")
        check_fixed(folder)
        if folder.lstat().st_mode & S_ISVTX:
            raise OutputError(
                f"Cannot write {path}: {step} is a link, and others may put links into {folder}. Give the place itself."
            )
        names += reversed(step.readlink().parts)
    check_fixed(folder)
    return folder


def check_fixed(path: Path) -> None:
    """Raise `OutputError` if a path has links, or another user could put something else in its place or above it.

    From the root on, each folder that passes keeps what this user and root have in it, so that the next one stays.
    """
    if os.name == "nt":
        return
    all_write = False
    for place in reversed((path, *path.parents)):
        entry = place.lstat()
        if S_ISLNK(entry.st_mode):
            raise OutputError(f"Cannot write {path}: {place} became a link in the meantime. Give another name.")
        if all_write and entry.st_uid not in (0, os.geteuid()):
            raise OutputError(
                f"Cannot write {path}: {place} is of another user, and all may write to {place.parent}. Choose a "
                "folder of your own."
            )
        all_write = _all_write(place, entry)
        if all_write and not entry.st_mode & S_ISVTX:
            raise OutputError(
                f"Cannot write {path}: all may write to {place}, and rename what others have there. Choose a folder of "
                f"your own, or give this one the sticky bit (chmod +t {place})."
            )


def _all_write(place: Path, entry: os.stat_result) -> bool:
    """Return whether all may write to a folder: a mode says so truly only where a new file keeps its own."""
    if not (S_ISDIR(entry.st_mode) and entry.st_mode & S_IWOTH):
        return False
    try:
        return bool(entry.st_mode & S_ISVTX) or keeps_modes(new_file(place))
    except PermissionError:  # not even this user may, such as at the top of a drive of Windows
        return False


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be created in a folder."""
    try:
        new_file(folder)
    except OSError as error:
        raise OutputError(f"Cannot write in {folder}: {error.strerror or error}. Choose another folder.") from error


def check_unshared(file: Path) -> None:
    """Raise `OutputError` if no file can be created in the folder of a file, or any other user could create one there.

    What is read before it is written needs this, such as the checkpoint of a training: that of another user would be
    taken for this user's. So does a file of SQLite, which carries out a journal beside it, whoever wrote that, and
    removes the file that a journal names.
    """
    folder = followed(file).parent
    check_writable(folder)
    with our_errors(file):
        if _all_write(folder, folder.stat()):
            raise OutputError(f"Cannot write {file}: all may write to {folder}. Choose a folder of your own.")


def new_file(folder: Path) -> os.stat_result:
    """Return the status of a private file that is made in a folder and removed: whose it is, and its mode."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno())


def keeps_modes(new: os.stat_result) -> bool:
    """Return whether the file system of a `new_file` knows permissions: some show one mode for all files."""
    return S_IMODE(new.st_mode) == _TEMPORARY_FILE_MODE


def is_only_ours(entry: os.stat_result, new: os.stat_result) -> bool:
    """Return whether an entry is of the user that made the `new_file` beside it, and no other may write to it."""
    return entry.st_uid == new.st_uid and not (keeps_modes(new) and entry.st_mode & (S_IWGRP | S_IWOTH))


def others_write(entry: os.stat_result) -> bool:
    """Return whether a folder is of another user than root and this one, or others may write to it."""
    return entry.st_uid not in (0, os.geteuid()) or bool(entry.st_mode & (S_IWGRP | S_IWOTH))


def is_of_this_user(path: Path) -> bool:
    """Return whether a file or link is of the user that runs this process."""
    return os.name == "nt" or path.lstat().st_uid == os.geteuid()


@contextmanager
def our_errors(target: Path) -> Iterator[None]:
    """Raise errors of the system as `OutputError`."""
    try:
        yield
    except BayesBiasError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {target}: {error.strerror or error}.") from error


@dataclass(frozen=True)
class Workshop:
    """A workshop of this run.

    A workshop is locked while its run lives, so that another run with the same output fails early; the next run clears
    what a killed run left. Its name can be predicted, so any user can be the first to use it: a folder is a workshop
    only if it is of this user, nobody else may write to it, and it carries the mark of a workshop, the sticky bit,
    unless it is empty. Nobody else can rename a folder of this user to that name, since `followed` refuses the places
    where they could.
    """

    path: Path
    target: Path


# Workshops that this run holds: an output inside an output needs no second lock.
_held: ContextVar[tuple[Workshop, ...]] = ContextVar("held", default=())


@contextmanager
def workshop(target: Path, inside: Path) -> Iterator[Workshop]:
    """Yield an empty, locked workshop in the folder `inside`, which is removed at the end."""
    name = f".{target.name[:40]}-{sha256(os.fsencode(target.name)).hexdigest()[:8]}{_ENDING}"
    shop = Workshop(inside / name, target)
    if shop in _held.get():
        try:
            yield shop
        finally:
            _settle(shop)
        return
    if inside != target and (target / name).is_dir():  # of a killed run whose current folder this was
        check_fixed(target)
        with _made(target / name, target):
            _settle(Workshop(target / name, target))
    with _made(shop.path, target):
        _settle(shop)
        token = _held.set((*_held.get(), shop))
        try:
            yield shop
        finally:
            with held_interrupts():  # half of a workshop would stay
                _held.reset(token)
                _settle(shop)


def clear_workshops(folder: Path) -> None:
    """Remove the workshops of killed runs from a folder."""
    for path in followed(folder).iterdir():
        if _is_workshop(path):
            with suppress(OutputError), _made(path, folder):  # another run may hold it
                _clear(path)


def content(folder: Path) -> list[Path]:
    """Return the content of a folder, without workshops."""
    return [path for path in folder.iterdir() if not _is_workshop(path)] if folder.exists() else []


def is_unlinked_folder(path: Path) -> bool:
    """Return whether there is a folder, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def move_into_place(shop: Workshop, replaced: Collection[Path]) -> None:
    """Replace the files of an output by the new ones, one by one, after writing a journal."""
    draft = shop.path / "draft"
    made, old = ([path.name for path in paths] for paths in ((shop.path / NEW).iterdir(), replaced))
    names = {"of": shop.target.name, "in": shop.path.lstat().st_ino, "made": made, "old": old}
    draft.write_text(json.dumps(names), encoding="utf-8")
    draft.replace(shop.path / _JOURNAL)
    _complete(shop)


@contextmanager
def _made(folder: Path, target: Path) -> Iterator[None]:
    """Make a workshop if necessary, and lock it; remove it at the end if it is empty.

    The system releases the lock when the process dies. An interrupt meanwhile leaves no workshop.
    """
    release = None
    try:
        with held_interrupts():
            release = _locked(folder, target)
        yield
    finally:
        if release is not None:
            with held_interrupts():
                with suppress(OSError):
                    folder.rmdir()
                release()


def _locked(folder: Path, target: Path) -> Callable[[], None]:
    """Make a workshop if necessary, and lock it; return what releases the lock."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=_WORKSHOP_MODE | S_ISVTX)
        try:
            import fcntl
        except ImportError:  # Windows: without locks
            return lambda: None
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # another run ended between the two calls
            continue
        except OSError as error:
            if error.errno in (ENOTDIR, ELOOP, EACCES):
                raise _foreign(folder, target) from error
            raise
        with ExitStack() as unless_locked:
            unless_locked.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise OutputError(
                    f"Another run is writing {target}. Wait for it to end, or give another name."
                ) from error
            if _is_still(folder, handle):
                _check_ours(handle, folder, target)
                return unless_locked.pop_all().close


def _check_ours(handle: int, folder: Path, target: Path) -> None:
    """Raise `OutputError` if an open folder is not a workshop of this user alone; mark it if it is empty."""
    entry, new = os.fstat(handle), new_file(folder.parent)
    is_marked = bool(entry.st_mode & S_ISVTX) or not keeps_modes(new)
    if not is_only_ours(entry, new) or not (is_marked or not os.listdir(handle)):
        raise _foreign(folder, target)
    if not is_marked:
        os.fchmod(handle, S_IMODE(entry.st_mode) | S_ISVTX)


def _foreign(folder: Path, target: Path) -> OutputError:
    return OutputError(
        f"Cannot write {target}: {folder.name}, beside it, is a link, a file, or a folder that was not made for you by "
        "this package. Remove it, or choose another folder."
    )


def _is_still(folder: Path, handle: int) -> bool:
    """Return whether an open folder still exists and was not replaced."""
    try:
        return os.path.samestat(os.fstat(handle), folder.lstat())
    except FileNotFoundError:
        return False


def _settle(shop: Workshop) -> None:
    """Complete a journal that this run or a killed one left, and empty the workshop."""
    if (shop.path / _JOURNAL).is_file() and shop.target.is_dir():
        check_fixed(shop.target)
        _complete(shop)
    _clear(shop.path)


def _complete(shop: Workshop) -> None:
    """Carry out a journal: move all new files to the output, and remove old ones without a successor.

    It names the inode number of its folder, which the author of an archive that brings a workshop does not know.
    """
    journal = shop.path / _JOURNAL
    try:
        names = json.loads(journal.read_text(encoding="utf-8"))  # names of files need not be UTF-8
        obsolete = {str(name) for name in names["old"]} - set(names["made"])
        is_sound = (names["of"], names["in"]) == (shop.target.name, shop.path.lstat().st_ino)
    except (ValueError, TypeError, KeyError, RecursionError):
        is_sound = False
    if not (is_sound and is_unlinked_folder(shop.path / NEW)):
        raise OutputError(f"{journal} is damaged, or came with files of others. Remove {shop.path}.")
    for made in sorted((shop.path / NEW).iterdir()):
        made.replace(shop.target / made.name)
    for path in content(shop.target):
        if path.name in obsolete:
            path.unlink()
    journal.unlink()


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if is_unlinked_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink()


def _is_workshop(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_ENDING)


# Outputs that were put in place, with their inode numbers.
_placed: dict[Path, int] = {}


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if a file can be written there, or to the target if it is a link; raise `OutputError` if not."""
    path = check_path(path)
    target = followed(path)
    with our_errors(path):
        if target.is_dir():
            raise OutputError(f"Cannot write {path}: it is a folder. Give the name of a file.")
        if target.exists() and not target.is_file():
            raise OutputError(f"Cannot write {path}: it is a device or a pipe. Give the name of an ordinary file.")
        if os.path.lexists(path) and not overwrite:  # also a link to no file
            raise OutputError(f"{path} exists. Give another name, or allow overwriting ({setting('overwrite', True)}).")
        _check_parent(path, target)
        return path


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool = False, beside: Collection[str] = ()) -> Path:
    """Return `folder` if results can be written there; raise `OutputError` if not.

    `beside` names files that it may hold already, such as those of an unfinished run.
    """
    folder = check_path(folder, "folder")
    target = followed(folder)
    with our_errors(folder):
        if target.exists() and not target.is_dir():
            raise OutputError(f"Cannot write results to {folder}: it is a file. Give a folder.")
        if not overwrite and any(path.name not in beside for path in content(target)):
            raise OutputError(
                f"{folder} exists and is not empty. Give another folder, or {setting('overwrite', True)}."
            )
        if not overwrite and folder.is_symlink() and not target.exists():
            raise OutputError(f"{folder} is a link to no folder. Give another folder, or {setting('overwrite', True)}.")
        if target.is_dir():
            check_writable(target)
        else:
            _check_parent(folder, target)
        return folder


def _check_parent(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise OutputError(f"Cannot write {path}: the folder {target.parent} does not exist. Create it first.")
    check_writable(target.parent)


def create_folder(folder: Path) -> None:
    """Create a folder for results if there is none."""
    target = followed(folder)
    with our_errors(folder):
        target.mkdir(exist_ok=True)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of an output, so that other runs that would write it fail before they begin."""
    target = followed(Path(path))
    with our_errors(target), workshop(target, _place(target)):
        yield


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; on success the new file replaces `path`, on an error it is removed.

    A reader of `path` sees either the old file or the whole new one.
    """
    target = followed(check_output(path, overwrite=overwrite))
    with our_errors(target), workshop(target, target.parent) as shop:
        made = shop.path / target.name
        yield made
        _keep_mode(target, made)
        _placed[target] = made.stat().st_ino
        if overwrite:
            made.replace(target)
        else:
            _place_new(made, shop)


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = False) -> None:
    """Write a text to a file, completely or not at all."""
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def whole_folder(folder: str | os.PathLike[str], *, names: Collection[str], overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to write to; on success it replaces `folder` as a whole.

    - `folder`: a new or empty folder, or, with `overwrite`, any folder.
    - `names`: patterns of all files that such an output may have: matching files of an earlier run are removed, others
      kept.
    - `overwrite`: whether files of an earlier run may be replaced.
    """
    target = followed(check_folder(folder, overwrite=overwrite))
    with our_errors(target), workshop(target, place := _place(target)) as shop:
        new = shop.path / NEW
        new.mkdir()
        yield new
        if not os.path.lexists(target):
            _placed[target] = new.stat().st_ino
            new.rename(target)
            return
        check_fixed(target)
        old = content(target)
        if not overwrite and old:
            raise OutputError(f"{folder} was written by another run in the meantime. Give another folder.")
        replaced = [path for path in old if any(fnmatch(path.name, name) for name in names)]
        for path in new.iterdir():
            _keep_mode(target / path.name, path)
        if folders := [path.name for path in replaced if is_unlinked_folder(path)]:
            raise OutputError(f"Cannot write {folder}: it holds a folder {name_some(folders)}. Give another folder.")
        others = [path for path in old if path not in replaced]
        # Folders may be mounted or large: they stay in place.
        can_exchange = place != target and not any(map(is_unlinked_folder, others))
        if not (can_exchange and _exchange_folder(shop, replaced, others)):
            for path in new.iterdir():
                _placed[target / path.name] = path.stat().st_ino
            move_into_place(shop, replaced)


def written() -> list[Path]:
    """Return the outputs of this process that still exist."""
    return [path for path, number in _placed.items() if path.exists() and path.stat().st_ino == number]


# --- putting in place -------------------------------------------------------------------------------------


def _place(target: Path) -> Path:
    """Return the folder for a workshop: the parent of `target`, or `target` itself if it cannot be exchanged."""
    if not target.is_dir():
        return target.parent
    try:
        is_current = Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder was removed
        is_current = False
    if is_current or target.is_mount() or _exchanger() is None or not os.access(target.parent, os.W_OK):
        return target
    return target.parent


def _place_new(made: Path, shop: Workshop) -> None:
    """Put a new file in place; raise `OutputError` if another run was faster."""
    in_the_meantime = f"{shop.target} was written by another run in the meantime. Give another name."
    try:
        os.link(made, shop.target)
    except FileExistsError as error:
        raise OutputError(in_the_meantime) from error
    except OSError as error:  # a file system without links
        if os.path.lexists(shop.target):
            raise OutputError(in_the_meantime) from error
        made.replace(shop.target)


def _exchange_folder(shop: Workshop, replaced: Collection[Path], others: Collection[Path]) -> bool:
    """Exchange a folder for the new one, after linking the `others`, which are not replaced, into the new one.

    Return whether that is possible; if not, nothing is changed.
    """
    new, exchange = shop.path / NEW, _exchanger()
    before, after = shop.target.stat(), new.stat()
    linked: list[Path] = []
    try:
        for other in others:
            os.link(other, new / other.name, follow_symlinks=False)
            linked.append(new / other.name)
        _keep_mode(shop.target, new)
        assert exchange is not None
        exchange(os.fsencode(new), os.fsencode(shop.target))
    except OSError:  # such as a file system without links or exchanges
        for path in linked:
            path.unlink()
        return False
    if not os.path.samestat(new.lstat(), before):
        exchange(os.fsencode(new), os.fsencode(shop.target))
        raise OutputError(f"{shop.target} was replaced in the meantime. Give another folder.")
    _placed[shop.target] = after.st_ino
    replaced_names = {path.name for path in replaced}
    for path in content(new):  # of the old folder: move files that others put there during the exchange
        successor = shop.target / path.name
        is_same = os.path.lexists(successor) and os.path.samestat(path.lstat(), successor.lstat())  # also of a link
        if path.name not in replaced_names and not is_same:
            path.replace(successor)
    return True


def _keep_mode(old: Path, made: Path) -> None:
    """Give a new file or folder the permissions of the one that it replaces, if this is of the same kind and user.

    Others can move files of this user into a folder with the sticky bit: there, it only loses permissions.
    """
    if os.path.lexists(old):
        before, after = old.lstat(), made.stat()
        if before.st_uid == after.st_uid and S_IFMT(before.st_mode) == S_IFMT(after.st_mode):
            most = after.st_mode if old.parent.stat().st_mode & S_ISVTX else before.st_mode
            made.chmod(S_IMODE(before.st_mode & most))


@cache
def _exchanger() -> Callable[[bytes, bytes], None] | None:
    """Return the system's call that exchanges two paths atomically, or None if it has none."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):  # Windows
        return None
    # Linux and macOS: the call, AT_FDCWD, and the flag for an exchange.
    for name, current_folder, flag in (("renameat2", -100, 2), ("renameatx_np", -2, 2)):
        if (function := getattr(library, name, None)) is not None:
            function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
            return partial(_call, function, current_folder, flag)
    return None


def _call(function: Callable[..., int], current_folder: int, flag: int, path: bytes, other_path: bytes) -> None:
    import ctypes

    if function(current_folder, path, current_folder, other_path, flag) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

"""Outputs: whole or absent, replaced only on request, by one run at a time, and after a kill as if it had not been."""

import errno
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files import outputs
from bayesbias.base.files.outputs import (
    atomic_path,
    check_folder,
    check_output,
    create_folder,
    whole_folder,
)
from bayesbias.delivery import writing
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, TableError
from tests.base.files.folders import content, fill
from tests.base.files.users import STRANGER, USER, as_user, needs_root, shared_folder
from tests.reports.made import made_fit

# --- files ------------------------------------------------------------------------------------------------


def test_an_output_is_whole_and_has_the_usual_permissions(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "f.csv") as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".csv"
    (tmp_path / "usual").touch()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["f.csv", "usual"]
    assert stat.S_IMODE((tmp_path / "f.csv").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


@pytest.mark.parametrize("error", [OutputError("no"), InputFileError("no"), TableError("no"), KeyboardInterrupt()])
def test_our_own_errors_pass_and_leave_what_was_there(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "f").write_text("old")

    def write_half() -> None:
        with atomic_path(tmp_path / "f", overwrite=True) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)) as caught:
        write_half()
    assert caught.value is error
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("f", "old")]


def test_errors_of_the_system_become_ours(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="space"), atomic_path(tmp_path / "f"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(OutputError, match="exists"):
        check_output(tmp_path / "f")
    assert check_output(tmp_path / "f", overwrite=True) == tmp_path / "f"
    with pytest.raises(OutputError, match="folder"):
        check_output(tmp_path)
    with pytest.raises(OutputError, match="exist"):
        check_output(tmp_path / "no" / "f")


def test_a_device_a_pipe_and_a_link_to_itself_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (Path(os.devnull), tmp_path / "pipe"):
        with pytest.raises(OutputError, match="device"):
            check_output(path, overwrite=True)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    with pytest.raises(OutputError, match=r"itself|loop"):
        check_output(tmp_path / "loop", overwrite=True)
    for name in ("a\0b", "long" * 100):
        with pytest.raises(OutputError, match="write"):
            check_output(tmp_path / name)


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("old", "absent"):
        (tmp_path / f"link-{name}").symlink_to(tmp_path / "there" / name)
    (tmp_path / "there" / "old").write_text("old")
    for name in ("old", "absent"):
        with atomic_path(tmp_path / f"link-{name}", overwrite=True) as made:
            made.write_text("new")
        assert (tmp_path / f"link-{name}").is_symlink()
        assert (tmp_path / "there" / name).read_text() == "new"


def test_a_link_to_no_file_or_folder_is_followed_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    with pytest.raises(OutputError, match="exists"):
        check_output(tmp_path / "link")
    with pytest.raises(OutputError, match="link to no folder"):
        fill(tmp_path / "link", "new", overwrite=False)
    with pytest.raises(OutputError, match="exists"), atomic_path(tmp_path / "link"):
        pass
    assert not (tmp_path / "absent").exists()
    fill(tmp_path / "link", "new")
    assert content(tmp_path / "absent") == {"a.txt": "new", "b.txt": "new"}


def test_a_link_that_comes_in_the_meantime_is_not_followed(tmp_path: Path) -> None:
    """Nor is a file with another name of it, a hard link, written to."""
    (tmp_path / "mine").write_text("mine")

    def late(name: str, *, overwrite: bool) -> None:
        with atomic_path(tmp_path / name, overwrite=overwrite) as made:
            made.write_text("new")
            (tmp_path / name).symlink_to(tmp_path / "mine")

    with pytest.raises(OutputError, match="meantime"):
        late("new", overwrite=False)
    late("replaced", overwrite=True)
    (tmp_path / "hard").hardlink_to(tmp_path / "mine")
    with atomic_path(tmp_path / "hard", overwrite=True) as made:
        made.write_text("new")
    assert [(tmp_path / name).read_text() for name in ("mine", "replaced", "hard")] == ["mine", "new", "new"]
    assert (tmp_path / "new").is_symlink()
    assert not (tmp_path / "replaced").is_symlink()


def test_a_file_is_exclusive_on_a_file_system_without_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    def late() -> None:
        with atomic_path(tmp_path / "f") as made:
            made.write_text("mine")
            (tmp_path / "f").write_text("theirs")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OutputError, match="meantime"):
        late()
    assert (tmp_path / "f").read_text() == "theirs"
    with atomic_path(tmp_path / "g") as made:
        made.write_text("mine")
    assert (tmp_path / "g").read_text() == "mine"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "log").write_text("log")
    fill(tmp_path / "out", "new")
    assert content(tmp_path / "out") == {"log": "log", "a.txt": "new", "b.txt": "new"}


@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to])
def test_a_link_or_a_file_that_comes_in_place_of_a_folder_is_an_error(
    plant: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    fill(tmp_path / "private", "mine")
    source = tmp_path / "private" if plant is Path.symlink_to else tmp_path / "private" / "a.txt"

    def late() -> None:
        with whole_folder(tmp_path / "out", names=["*"], overwrite=True) as made:
            (made / "a.txt").write_text("new")
            plant(tmp_path / "out", source)

    with pytest.raises(OutputError, match=r"link in the meantime|Not a directory"):
        late()
    assert content(tmp_path / "private") == {"a.txt": "mine", "b.txt": "mine"}
    assert (tmp_path / "out").samefile(source)


def test_long_names_with_dots(tmp_path: Path) -> None:
    path = tmp_path / ("ä." * 80 + ".csv")
    with atomic_path(path) as made:
        made.write_text("new")
    assert path.read_text() == "new"


# --- folders ----------------------------------------------------------------------------------------------


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(OutputError, match="file"):
        check_folder(taken)
    with pytest.raises(OutputError, match="exist"):
        check_folder(tmp_path / "no" / "folder")
    assert check_folder(tmp_path / "new") == tmp_path / "new"
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("way")
def test_a_folder_is_replaced_whole_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fill(folder, "first", names=("a.txt", "b.txt", "c_1.txt", "c_2.txt"), overwrite=False)
    (folder / "notes.md").write_text("mine")
    (folder / "more").mkdir()
    (folder / "more" / "notes.md").write_text("mine")
    with pytest.raises(OutputError, match="empty"):
        fill(folder, "second", overwrite=False)
    fill(folder, "second", names=("a.txt", "c_1.txt"))
    assert content(folder) == {"a.txt": "second", "c_1.txt": "second", "notes.md": "mine"}
    assert content(folder / "more") == {"notes.md": "mine"}
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "c_1.txt", "more", "notes.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("way")
def test_a_folder_in_place_of_a_file_is_an_error_before_anything_is_replaced(tmp_path: Path) -> None:
    fill(tmp_path / "out", "first")
    (tmp_path / "out" / "c_1.txt").mkdir()
    with pytest.raises(OutputError, match=r"c_1\.txt"):
        fill(tmp_path / "out", "second")
    assert content(tmp_path / "out") == {"a.txt": "first", "b.txt": "first"}


def test_folders_in_a_folder_are_not_touched(tmp_path: Path) -> None:
    """A volume may be mounted there: what is in it is neither copied nor deleted."""
    folder = tmp_path / "out"
    fill(folder, "first")
    (folder / "volume").mkdir()
    (folder / "volume" / "precious").write_text("theirs")
    number = (folder / "volume").stat().st_ino
    fill(folder, "second", names=("a.txt",))
    assert content(folder) == {"a.txt": "second"}
    assert (folder / "volume").stat().st_ino == number
    assert (folder / "volume" / "precious").read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_links_of_a_folder_stay_wherever_they_lead(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    fill(tmp_path / "out", "first")
    for name, target in (("relative", "../data"), ("absent", "nowhere")):
        (tmp_path / "out" / name).symlink_to(target)
    fill(tmp_path / "out", "second")
    assert content(tmp_path / "out") == {"a.txt": "second", "b.txt": "second"}
    assert (tmp_path / "out" / "relative").readlink() == Path("../data")
    assert (tmp_path / "out" / "absent").is_symlink()


def test_what_others_write_while_a_folder_is_exchanged_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, exchange = tmp_path / "out", outputs._exchanger()
    if exchange is None:
        pytest.skip("folders cannot be exchanged here")
    fill(folder, "first")
    (folder / "log").write_text("old")

    def late(one: bytes, other: bytes) -> None:
        (folder / "new_log").write_text("theirs")
        (folder / "draft").write_text("saved")
        (folder / "draft").replace(folder / "log")  # as an editor saves
        exchange(one, other)

    monkeypatch.setattr(outputs, "_exchanger", lambda: late)
    fill(folder, "second", names=("a.txt",))
    assert content(folder) == {"a.txt": "second", "new_log": "theirs", "log": "saved"}


def test_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(0o600)
    with atomic_path(tmp_path / "f", overwrite=True) as made:
        made.write_text("new")
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    fill(tmp_path / "out", "first")
    (tmp_path / "out" / "a.txt").chmod(0o640)
    fill(tmp_path / "out", "second")
    assert stat.S_IMODE((tmp_path / "out" / "a.txt").stat().st_mode) == 0o640


def test_what_replaces_a_file_in_a_folder_with_the_sticky_bit_only_loses_permissions(tmp_path: Path) -> None:
    """Others can move a file of this user there."""
    before = os.umask(0o027)
    try:
        for mode, is_sticky, new in ((0o4777, True, 0o640), (0o600, True, 0o600), (0o666, False, 0o666)):
            (tmp_path / "f").touch()
            (tmp_path / "f").chmod(mode)
            tmp_path.chmod(0o1777 if is_sticky else 0o755)
            assert _replaced(tmp_path / "f") == f"{new:o}"
        tmp_path.chmod(0o1777)
        (tmp_path / "out").mkdir()
        (tmp_path / "out").chmod(0o3777)
        assert _filled(tmp_path / "out") == "750 640"
    finally:
        os.umask(before)


@needs_root
def test_permissions_of_a_file_of_another_user_are_not_kept() -> None:
    with shared_folder(0o775) as (shared, _):
        os.chown(shared, 0, USER)
        for path in (shared / "a.txt", shared / "out" / "a.txt"):
            path.parent.mkdir(exist_ok=True)
            path.write_text("theirs")
            path.chmod(0o4777)
            os.chown(path, STRANGER, STRANGER)
        (shared / "out").chmod(0o775)
        os.chown(shared / "out", STRANGER, USER)
        outputs._exchanger()
        assert as_user(USER, _replaced, shared / "a.txt") == "644"
        assert as_user(USER, _filled, shared / "out") == "755 644"


def _replaced(path: Path) -> str:
    with atomic_path(path, overwrite=True) as made:
        made.write_text("new")
    return f"{stat.S_IMODE(path.stat().st_mode):o}"


def _filled(folder: Path) -> str:
    fill(folder, "new")
    return f"{stat.S_IMODE(folder.stat().st_mode):o} {stat.S_IMODE((folder / 'a.txt').stat().st_mode):o}"


@needs_root
def test_a_folder_that_another_user_owns_and_nobody_else_can_move_is_filled() -> None:
    with shared_folder(0o1775) as (shared, _):
        os.chown(shared, 0, USER)
        (shared / "out").mkdir()
        (shared / "out").chmod(0o775)
        os.chown(shared / "out", STRANGER, USER)
        outputs._exchanger()
        assert as_user(USER, _filled, shared / "out") == "775 644"


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777], ids=oct)
def test_a_folder_that_a_stranger_can_exchange_for_one_of_the_user_is_not_filled(mode: int) -> None:
    outputs._exchanger()
    with shared_folder(mode) as (shared, _):
        as_user(STRANGER, (shared / "out").mkdir)
        as_user(STRANGER, (shared / "out").chmod, 0o777)
        answer = as_user(USER, _filled, shared / "out")
        assert answer.startswith("OutputError: Cannot write"), answer
        assert list(shared.rglob("*")) == [shared / "out"]


def test_a_folder_that_is_replaced_before_the_exchange_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (exchange := outputs._exchanger()) is None:
        pytest.skip("folders cannot be exchanged here")
    fill(tmp_path / "out", "first")
    fill(tmp_path / "project", "precious")

    def late(one: bytes, other: bytes) -> None:
        if (tmp_path / "project").exists():
            (tmp_path / "out").rename(tmp_path / "moved")
            (tmp_path / "project").rename(tmp_path / "out")
        exchange(one, other)

    monkeypatch.setattr(outputs, "_exchanger", lambda: late)
    with pytest.raises(OutputError, match="replaced in the meantime"):
        fill(tmp_path / "out", "second")
    assert content(tmp_path / "out") == {"a.txt": "precious", "b.txt": "precious"}
    assert content(tmp_path / "moved") == {"a.txt": "first", "b.txt": "first"}


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"f\xff")
    with atomic_path(path) as made:
        made.write_text("new")
    assert path.read_text() == "new"


def test_an_error_of_one_file_of_a_folder_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OutputError("the figure cannot be drawn")

    def refuse(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(writing, "save_figure", refuse)
    with pytest.raises(BayesBiasError) as caught:
        bb.write(made_fit(draws=50), tmp_path / "out")
    assert caught.value is full
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_created_once_and_through_a_link_that_others_could_not_make(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    for _ in range(2):
        create_folder(tmp_path / "link")
    assert (tmp_path / "absent").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="exists"):
        create_folder(tmp_path / "file")
    tmp_path.chmod(0o1777)
    with pytest.raises(OutputError, match="is a link"):
        create_folder(tmp_path / "link" / "inner")
    assert list((tmp_path / "absent").iterdir()) == []


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Ctrl-C raises, also in a process that was started in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _write_in_workshop(folder: Path) -> None:
    with outputs.workshop(folder / "out", folder) as shop:
        (shop.path / "some").mkdir()
        for name in ("x", "y"):
            (shop.path / "some" / name).write_text(name)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_while_a_workshop_is_cleared_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear = outputs._clear

    def interrupted(folder: Path) -> None:
        for path in folder.glob("*/x"):
            path.unlink()
            signal.raise_signal(signal.SIGINT)
        clear(folder)

    monkeypatch.setattr(outputs, "_clear", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _write_in_workshop(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize(
    ("module", "call"), [(os, "mkdir"), (os, "open"), (outputs, "_is_still"), (outputs, "new_file")]
)
def test_an_interrupt_while_a_workshop_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, call: str
) -> None:
    original = getattr(module, call)

    def interrupted(*arguments: object, **named: object) -> object:
        result = original(*arguments, **named)
        monkeypatch.undo()
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(module, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        _write_in_workshop(tmp_path)
    assert list(tmp_path.iterdir()) == []

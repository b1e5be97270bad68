"""Outputs: whole or absent, replaced only on request, by one run at a time, and after a kill as if it had not been."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files import outputs
from bayesbias.base.files import outputs as folders
from bayesbias.base.files import outputs as workshops
from bayesbias.base.files.outputs import (
    atomic_path,
    check_fixed,
    check_folder,
    check_output,
    check_unshared,
    check_writable,
    claimed,
    clear_workshops,
    create_folder,
    followed,
    new_file,
    whole_folder,
)
from bayesbias.delivery import writing
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, TableError
from tests.base.files.folders import content, fill
from tests.base.files.users import STRANGER, USER, as_user, meanwhile, needs_root, shared_folder
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


def workshop_of(output: Path) -> Path:
    """Return the workshop that an output has, or would have."""
    with claimed(output):
        (path,) = output.parent.glob(".*.bayesbias")
    return path


def write(path: Path, overwrite: bool = True) -> str:
    with atomic_path(path, overwrite=overwrite) as made:
        made.write_text("new")
    return "wrote"


def repeated(times: int, work: Callable[..., object], *arguments: object) -> str:
    """Return a line for each time: what `work` returned, or its error."""
    lines = []
    for _ in range(times):
        try:
            lines.append(str(work(*arguments)))
        except OutputError as error:
            lines.append(str(error))
    return "\n".join(lines)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- one user ---------------------------------------------------------------------------------------------


def test_a_workshop_is_private_and_what_comes_of_it_has_the_usual_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with claimed(tmp_path / "f"):
            assert mode_of(*tmp_path.iterdir()) & 0o777 == 0o700
            write(tmp_path / "f")
        fill(tmp_path / "out", "new")
    finally:
        os.umask(before)
    assert {path.name: mode_of(path) for path in tmp_path.iterdir()} == {"f": 0o640, "out": 0o750}
    assert mode_of(tmp_path / "out" / "a.txt") == 0o640


def _linked(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    path.symlink_to(path.parent / "elsewhere")


def _folder_of_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o1777)


def _folder_of_a_group(path: Path) -> None:
    path.mkdir()
    path.chmod(0o1770)


def _folder_with_a_file(path: Path) -> None:
    path.mkdir(mode=0o700)
    (path / "thesis").write_text("precious")


@pytest.mark.parametrize(
    "plant", [_linked, os.mkfifo, Path.touch, _folder_of_all, _folder_of_a_group, _folder_with_a_file]
)
def test_what_is_no_workshop_of_ours_is_refused_and_left(plant: Callable[[Path], None], tmp_path: Path) -> None:
    path = workshop_of(tmp_path / "f")
    plant(path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=f"Cannot write {tmp_path / 'f'}: {path.name}.*link.*folder"):
        write(tmp_path / "f")
    clear_workshops(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_a_killed_run_left_is_ours(tmp_path: Path) -> None:
    path = workshop_of(tmp_path / "f")
    path.mkdir(mode=0o700)  # and it was killed at once
    write(tmp_path / "f")
    path.mkdir(mode=0o1700)
    (path / "half").write_text("half")
    write(tmp_path / "f")
    assert [left.name for left in tmp_path.iterdir()] == ["f"]


def test_file_systems_without_users_or_modes_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workshop_of(tmp_path / "f")
    path.mkdir()
    path.chmod(0o777)
    (path / "half").write_text("half")
    new = new_file(tmp_path)
    monkeypatch.setattr(workshops, "new_file", lambda _: os.stat_result((0o100777, *new[1:])))
    write(tmp_path / "f")
    assert [left.name for left in tmp_path.iterdir()] == ["f"]
    # A file of this user would be of another user there: so are its folders, which are not its own.
    monkeypatch.setattr(workshops, "new_file", lambda _: os.stat_result((*new[:4], new.st_uid + 1, *new[5:])))
    with pytest.raises(OutputError, match="not made for you"):
        write(tmp_path / "f")


# --- two users --------------------------------------------------------------------------------------------


@needs_root
def test_a_planted_workshop_moves_and_overwrites_nothing() -> None:
    outputs._exchanger()  # loads what the users cannot read
    with shared_folder(0o1777) as (shared, home):
        file_shop, folder_shop = workshop_of(shared / "out.csv"), workshop_of(shared / "out")
        as_user(USER, fill, home / "private", "key")
        as_user(USER, (home / "out.csv").write_text, "profile")

        def plant() -> None:
            os.umask(0)
            file_shop.mkdir(exist_ok=True)
            with suppress(FileExistsError):
                (file_shop / "out.csv").symlink_to(home / "out.csv")
            folder_shop.mkdir(mode=0o1777, exist_ok=True)
            (folder_shop / "journal.json").write_text('{"of": "out", "made": [], "old": []}')
            with suppress(FileExistsError):
                (folder_shop / "new").symlink_to(home / "private")

        as_user(STRANGER, plant)
        (shared / "out").mkdir()
        os.chown(shared / "out", USER, USER)
        with meanwhile(STRANGER, plant):  # as often as they are removed
            answers = as_user(USER, repeated, 20, write, shared / "out.csv")
            answers += as_user(USER, repeated, 20, fill, shared / "out", "new")
        assert answers.count("not made for you") == 40, answers
        assert content(home) == {"out.csv": "profile"}
        assert content(home / "private") == {"a.txt": "key", "b.txt": "key"}
        assert content(shared / "out") == {}


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o1700], ids=oct)
@pytest.mark.parametrize("write_output", [write, fill])
def test_a_folder_of_the_user_that_is_renamed_to_a_workshop_is_not_cleared(
    mode: int, write_output: Callable[..., object]
) -> None:
    arguments = () if write_output is write else ("new",)
    with shared_folder(0o777) as (shared, _):
        (shared / "project").mkdir()
        (shared / "project" / "thesis").write_text("precious")
        (shared / "project").chmod(mode)
        os.chown(shared / "project", USER, USER)
        path = shared / f".out-{sha256(b'out').hexdigest()[:8]}.bayesbias"
        as_user(STRANGER, os.rename, shared / "project", path)
        answer = as_user(USER, write_output, shared / "out", *arguments)
        assert f"all may write to {shared}" in answer
        assert content(path) == {"thesis": "precious"}
        assert list(shared.iterdir()) == [path]


@needs_root
@pytest.mark.parametrize("name", ["", "thesis"], ids=["empty", "full"])
def test_a_folder_that_a_stranger_may_move_despite_the_sticky_bit_is_not_cleared(name: str) -> None:
    with shared_folder(0o1777) as (shared, _):
        path = workshop_of(shared / "out.csv")
        (shared / "theirs").mkdir()
        (shared / "theirs").chmod(0o777)
        os.chown(shared / "theirs", STRANGER, STRANGER)
        project = shared / "theirs" / "project"
        as_user(USER, project.mkdir)
        as_user(USER, (project / name).touch)
        as_user(USER, project.chmod, 0o1777)
        assert as_user(STRANGER, project.rename, path) == str(path)
        assert "not made for you" in as_user(USER, write, shared / "out.csv")
        assert list(path.iterdir()) == ([path / name] if name else [])


@needs_root
def test_names_that_change_all_the_time_lead_out_of_no_folder() -> None:
    """A stranger replaces whatever it may by links into the private folder, as fast as it can."""
    with shared_folder(0o1777) as (shared, home):
        path = workshop_of(shared / "out.csv")
        as_user(USER, (home / "out.csv").write_text, "profile")

        def swap() -> None:
            for name in (path, shared / "out.csv"):
                with suppress(OSError):
                    name.rename(shared / f"moved-{name.name}")
                with suppress(OSError):
                    name.symlink_to(home if name is path else home / "out.csv")
                with suppress(OSError):
                    name.unlink()

        with meanwhile(STRANGER, swap):
            answers = as_user(USER, repeated, 200, write, shared / "out.csv").splitlines()
        assert content(home) == {"out.csv": "profile"}
        assert len(answers) == 200
        assert all(answer == "wrote" or answer.startswith("Cannot write ") for answer in answers), set(answers)


@needs_root
def test_nobody_else_can_look_into_a_workshop_or_lock_it() -> None:
    with shared_folder(0o1777) as (shared, _), claimed(shared / "out.csv"):
        (path,) = shared.iterdir()
        assert "PermissionError" in as_user(STRANGER, os.open, path, os.O_RDONLY)


# --- links ------------------------------------------------------------------------------------------------


def test_links_lead_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    (tmp_path / "to-b").symlink_to("a/b")
    (tmp_path / "a" / "b" / "to-a").symlink_to(tmp_path / "a")
    (tmp_path / "chain").symlink_to("to-b/../b/to-a")
    (tmp_path / "nowhere").symlink_to("absent/file")
    names = (
        "to-b",
        "to-b/..",
        "a/file/x",
        "to-b/to-a/b",
        "chain/file",
        "chain/new",
        "a/../chain",
        "nowhere",
        "./a",
        "absent/too",
    )
    for name in names:
        assert followed(tmp_path / name) == (tmp_path / name).resolve(), name


def test_a_relative_path_begins_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert followed(Path("out.csv")) == tmp_path.resolve() / "out.csv"


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")
@pytest.mark.parametrize("name", ["link", "link/file", "to-link"])
def test_no_link_is_followed_in_a_folder_with_the_sticky_bit(name: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to("private")
    (tmp_path / "to-link").symlink_to("link")
    assert followed(tmp_path / name).is_relative_to(tmp_path / "private")
    tmp_path.chmod(0o1777)
    with pytest.raises(OutputError, match=f"is a link, and others may put links into {tmp_path}"):
        followed(tmp_path / name)


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o1755, 0o755], ids=oct)
def test_a_stranger_makes_folders_and_links_only_where_all_may_write(mode: int) -> None:
    with shared_folder(mode) as (shared, home):
        (shared / "theirs").mkdir()
        for link in (shared / "link", shared / "theirs" / "link"):
            link.symlink_to(home)
            os.lchown(link, STRANGER, STRANGER)
        os.chown(shared / "theirs", STRANGER, STRANGER)
        (shared / "mine").mkdir()
        os.chown(shared / "mine", USER, USER)
        (shared / "mine" / "link").symlink_to(home)
        for place, is_followed in (
            ("mine", mode != 0o777),
            ("theirs", mode in (0o755, 0o1755)),
            (".", mode == 0o755),  # made by who may: nobody else could
        ):
            answer = as_user(USER, followed, shared / place / "link" / "x")
            assert answer == str(home / "x") if is_followed else answer.startswith("OutputError"), (place, answer)


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777], ids=oct)
def test_a_link_of_ones_own_that_a_stranger_moves_is_not_followed(mode: int) -> None:
    """With the sticky bit, strangers can still move what is in a folder of their own."""
    with shared_folder(mode) as (shared, home):
        (shared / "theirs").mkdir()
        (shared / "theirs").chmod(0o777)
        os.chown(shared / "theirs", STRANGER, STRANGER)
        as_user(USER, (home / "old.csv").write_text, "mine")
        for link, target in ((shared / "theirs" / "results", home), (shared / "theirs" / "latest", home / "old.csv")):
            as_user(USER, os.symlink, target, link)
            assert as_user(STRANGER, os.rename, link, shared / link.name) == "None"
        for path in (shared / "results" / "new.csv", shared / "latest"):
            assert as_user(USER, _written, path).startswith("OutputError: Cannot write")
        assert {path.name: path.read_text() for path in home.iterdir()} == {"old.csv": "mine"}


def _written(path: Path) -> str:
    with atomic_path(path, overwrite=True) as made:
        made.write_text("new")
    return "wrote"


# --- who may write ----------------------------------------------------------------------------------------


@needs_root
def test_nothing_is_written_below_a_folder_whose_content_all_may_rename() -> None:
    with shared_folder(0o777) as (shared, _):
        (shared / "mine").mkdir()
        os.chown(shared / "mine", USER, USER)
        for path in (shared / "out.csv", shared / "mine" / "out.csv"):
            text = as_user(USER, _written, path)
            assert text.endswith(
                f": all may write to {shared}, and rename what others have there. Choose a folder of your own, or give "
                f"this one the sticky bit (chmod +t {shared})."
            )
        shared.chmod(0o1777)
        for path in (shared / "out.csv", shared / "mine" / "out.csv"):
            assert as_user(USER, _written, path) == "wrote"
        shared.chmod(0o2775)  # a group is trusted
        os.chown(shared, 0, USER)
        assert as_user(USER, _written, shared / "out.csv") == "wrote"


@needs_root
@pytest.mark.parametrize("user", [USER, 0])
def test_what_is_of_another_user_where_all_may_make_it_is_not_written_to(user: int) -> None:
    """Its owner can rename what is in it, and change its mode between the check and the use."""
    with shared_folder(0o1777) as (shared, _):
        as_user(STRANGER, (shared / "theirs").mkdir)
        as_user(STRANGER, (shared / "theirs").chmod, 0o1777)
        as_user(STRANGER, (shared / "out.csv").write_text, "theirs")
        (shared / "theirs" / "inner").mkdir()
        os.chown(shared / "theirs" / "inner", USER, USER)
        for path, place in (
            ("out.csv", "out.csv"),
            ("theirs/new.csv", "theirs"),
            ("theirs/inner/new.csv", "theirs"),
            ("theirs/inner/cache", "theirs"),
        ):
            text = as_user(user, check_unshared if path.endswith("cache") else _written, shared / path)
            assert text.startswith("OutputError: Cannot write"), text
            assert f"{shared / place} is of another user, and all may write to {shared}. Choose a folder" in text


@needs_root
def test_folders_above_need_not_be_readable() -> None:
    with shared_folder(0o711) as (shared, _):
        (shared / "inner").mkdir()
        (shared / "inner").chmod(0o1777)
        assert as_user(USER, _written, shared / "inner" / "f") == "wrote"


def test_a_mode_counts_only_where_files_keep_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drives of Windows, for instance, show one mode for all files, and not all users may write to their top."""

    def refuse(_: Path) -> None:
        raise PermissionError

    tmp_path.chmod(0o777)
    with_all = os.stat_result((0o100777, *new_file(tmp_path)[1:]))
    for new in (lambda _: with_all, refuse):
        monkeypatch.setattr(folders, "new_file", new)
        assert followed(tmp_path / "f") == tmp_path / "f"
    monkeypatch.undo()
    with pytest.raises(OutputError, match="all may write"):
        followed(tmp_path / "f")


def test_a_link_that_comes_after_the_check_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    check_fixed(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").symlink_to("b")
    with pytest.raises(OutputError, match="link in the meantime"):
        check_fixed(tmp_path / "a")


@needs_root
def test_a_folder_that_cannot_be_written_is_said_by_name() -> None:
    with shared_folder(0o755) as (shared, _):
        text = as_user(USER, check_writable, shared)
        assert text == f"OutputError: Cannot write in {shared}: Permission denied. Choose another folder."


def test_files_of_sqlite_are_refused_where_all_may_put_files_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    check_unshared(folder / "file")
    for place, mode, is_refused in [
        (folder, 0o777, True),
        (folder, 0o1777, True),
        (folder, 0o775, False),
        (folder.parent, 0o777, True),
        (folder.parent, 0o1777, False),  # nobody can put another folder in the place of this one
    ]:
        place.chmod(mode)
        if is_refused:
            with pytest.raises(OutputError, match=f"all may write to {place}"):
                check_unshared(folder / "file")
        else:
            check_unshared(folder / "file")
        place.chmod(0o755)
    folder.chmod(0o777)
    (tmp_path / "link").symlink_to(folder / "file")
    with pytest.raises(OutputError, match="all may write"):
        check_unshared(tmp_path / "link")
    # On some file systems, such as those of Windows, every file shows the same mode.
    with_all = os.stat_result((0o100777, *new_file(folder)[1:]))
    monkeypatch.setattr(folders, "new_file", lambda _: with_all)
    check_unshared(folder / "file")

"""Workshops: of one user alone, whatever others put in their place."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from bayesbias.base.files import outputs, workshops
from bayesbias.base.files.folders import new_file
from bayesbias.base.files.outputs import atomic_path, claimed
from bayesbias.base.files.workshops import clear_workshops
from bayesbias.errors import OutputError
from tests.base.files.folders import content, fill
from tests.base.files.users import STRANGER, USER, as_user, meanwhile, needs_root, shared_folder


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

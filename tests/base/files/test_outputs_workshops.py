"""Workshops and folders that others may write to: what they plant there moves, overwrites and deletes nothing."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.base.files import outputs
from bayesbias.base.files.outputs import (
    atomic_path,
    check_fixed,
    check_unshared,
    check_writable,
    claimed,
    clear_workshops,
    followed,
    new_file,
)
from bayesbias.errors import OutputError
from tests.audits import pets
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
    monkeypatch.setattr(outputs, "new_file", lambda _: os.stat_result((0o100777, *new[1:])))
    write(tmp_path / "f")
    assert [left.name for left in tmp_path.iterdir()] == ["f"]
    # A file of this user would be of another user there: so are its folders, which are not its own.
    monkeypatch.setattr(outputs, "new_file", lambda _: os.stat_result((*new[:4], new.st_uid + 1, *new[5:])))
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
        monkeypatch.setattr(outputs, "new_file", new)
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


@pytest.mark.parametrize("name", ["training", "cells", "vectors"])
def test_what_goes_on_from_files_is_refused_where_all_may_put_them(name: str, tmp_path: Path) -> None:
    """Those of a stranger would be taken for this user's."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    goes_on: dict[str, Callable[[], object]] = {
        "training": lambda: bb.nli.train({"a": [1.0]}, "absent.csv", checkpoint=shared / "new"),
        "cells": lambda: bb.audit({"E": pets.embedding(1)}, pets.study(), ["mac"], models=None, cells=shared),
        "vectors": lambda: bb.embeddings.train_embeddings([["a", "b"]], shared, algorithm="glove"),
    }
    with pytest.raises(OutputError, match=f"all may write to {shared}. Choose a folder of your own"):
        goes_on[name]()
    assert content(shared) == {}


@needs_root
def test_a_folder_that_a_stranger_makes_before_a_training_reads_it_is_refused(tmp_path: Path) -> None:
    """It holds all seeds already, so that nothing would be written."""
    texts = [["a", "b"] * 5] * 5
    settings: dict[str, Any] = {"algorithm": "glove", "seeds": [1], "dimensions": 2, "progress": False}
    (theirs,) = bb.embeddings.train_embeddings(texts, tmp_path, **settings).paths.values()
    content_of_theirs = theirs.read_bytes()
    with shared_folder(0o1777) as (shared, _):
        place = shared / "vectors"

        def plant() -> None:
            place.mkdir()
            (place / theirs.name).write_bytes(content_of_theirs)

        def documents() -> Iterator[list[str]]:
            assert as_user(STRANGER, plant) == "None"
            yield from texts

        with pytest.raises(OutputError, match=f"{place} is of another user"):
            bb.embeddings.train_embeddings(documents(), place, **settings)


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
    monkeypatch.setattr(outputs, "new_file", lambda _: with_all)
    check_unshared(folder / "file")

"""Folders that others may write to as well: where an output is refused, and which links are followed."""

import os
from pathlib import Path

import pytest

from bayesbias.base.files import folders
from bayesbias.base.files.folders import check_fixed, check_unshared, check_writable, followed, new_file
from bayesbias.base.files.outputs import atomic_path
from bayesbias.errors import OutputError
from tests.base.files.users import STRANGER, USER, as_user, needs_root, shared_folder

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

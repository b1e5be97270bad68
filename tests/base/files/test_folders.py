"""Folders that others may write to as well: which links are followed there, and paths that nobody turns elsewhere."""

import os
from pathlib import Path

import pytest

from bayesbias.base.files import folders
from bayesbias.base.files.folders import check_unshared, check_writable, followed, held_open, new_file
from bayesbias.errors import OutputError
from tests.base.files.users import STRANGER, USER, as_user, give_to_stranger, needs_root, shared_folder

only_linux = pytest.mark.skipif(not folders._OPEN.is_dir(), reason="the system has no paths of open folders")


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
def test_a_link_of_another_user_is_refused_where_all_may_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to("private")
    (tmp_path / "to-link").symlink_to("link")
    tmp_path.chmod(0o777)
    assert followed(tmp_path / name).is_relative_to(tmp_path / "private")
    give_to_stranger(tmp_path / "link", monkeypatch)
    with pytest.raises(OutputError, match=f"link of another user, and all may write to {tmp_path}"):
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
        assert as_user(USER, followed, shared / "mine" / "link" / "x") == str(home / "x")
        for link in (shared / "link", shared / "theirs" / "link"):
            answer = as_user(USER, followed, link / "x")
            # A link in a folder of root that nobody else may write to was made by who may.
            assert answer.startswith("OutputError") == (mode != 0o755), answer


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777], ids=oct)
def test_links_of_ones_own_and_of_root_are_followed_where_all_may_write(mode: int) -> None:
    with shared_folder(mode) as (shared, home):
        as_user(USER, os.symlink, home / "mine", shared / "mine")
        (shared / "of-root").symlink_to(home / "roots")
        as_user(STRANGER, os.symlink, home / "theirs", shared / "theirs")
        assert as_user(USER, followed, shared / "mine") == str(home / "mine")
        assert as_user(USER, followed, shared / "of-root") == str(home / "roots")
        assert as_user(USER, followed, shared / "theirs").startswith("OutputError")
        assert as_user(STRANGER, followed, shared / "mine").startswith("OutputError")


# --- open folders -----------------------------------------------------------------------------------------


@only_linux
def test_the_path_of_an_open_folder_leads_to_it_whatever_happens_to_its_name(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "other" / "b").mkdir(parents=True)
    with held_open(tmp_path / "a" / "b") as place:
        (tmp_path / "a").rename(tmp_path / "moved")
        (tmp_path / "a").symlink_to(tmp_path / "other")
        (place / "file").write_text("mine")
        with held_open(place) as same, held_open(followed(place)) as again:
            assert (same / "file").read_text() == (again / "file").read_text() == "mine"
    assert (tmp_path / "moved" / "b" / "file").read_text() == "mine"
    assert list((tmp_path / "other" / "b").iterdir()) == []


@only_linux
@pytest.mark.parametrize("name", ["a", "a/b"])
def test_a_link_in_place_of_a_folder_is_not_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "other" / "b").mkdir(parents=True)
    path = followed(tmp_path / "a" / "b")
    (tmp_path / name).rename(tmp_path / "moved")
    (tmp_path / name).symlink_to(tmp_path / "other")
    with pytest.raises(NotADirectoryError), held_open(path):
        pass


@only_linux
@needs_root
def test_folders_above_need_not_be_readable() -> None:
    with shared_folder(0o711) as (shared, _):
        (shared / "inner").mkdir()
        (shared / "inner").chmod(0o777)
        assert as_user(USER, _written, shared / "inner") == "written"


def _written(folder: Path) -> str:
    with held_open(folder) as place:
        (place / "file").write_text("x")
    return "written"


# --- who may write ----------------------------------------------------------------------------------------


@needs_root
def test_files_of_sqlite_are_refused_in_a_folder_of_another_user_where_all_may_make_one() -> None:
    """Its owner can change the mode between the check and the use."""
    with shared_folder(0o1777) as (shared, _):
        theirs = shared / "theirs"
        theirs.mkdir()
        theirs.chmod(0o777)
        os.chown(theirs, STRANGER, STRANGER)
        inner = theirs / "inner"
        inner.mkdir()
        os.chown(inner, USER, USER)
        text = as_user(USER, check_unshared, inner / "cache")
        assert text == (
            f"OutputError: Cannot write {inner / 'cache'}: all may write to {theirs}. Choose a folder of your own."
        )
        theirs.chmod(0o755)
        text = as_user(USER, check_unshared, inner / "cache")
        assert text == (
            f"OutputError: Cannot write {inner / 'cache'}: {theirs} is of another user, and all may write to {shared}. "
            "Choose a folder of your own."
        )


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

"""Outputs: whole or absent, replaced only on request, by one run at a time, and after a kill as if it had not been."""

import errno
import os
import stat
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files import outputs
from bayesbias.base.files.outputs import atomic_path, check_folder, check_output
from bayesbias.delivery import writing
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, TableError
from tests.base.files.folders import content, fill
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

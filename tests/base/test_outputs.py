"""Outputs: whole or absent, replaced only on request, by one run at a time, and after a kill as if it had not been."""

import errno
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bayesbias import results
from bayesbias.base import outputs
from bayesbias.base.outputs import atomic_path, check_folder, check_output, claimed, whole_folder, written
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, TableError
from tests.reports.made import made_fit, made_table

NAMES = ("a.txt", "b.txt", "c_*.txt")


def fill(folder: Path, text: str, *, names: tuple[str, ...] = ("a.txt", "b.txt"), overwrite: bool = True) -> None:
    with whole_folder(folder, names=NAMES, overwrite=overwrite) as made:
        for name in names:
            (made / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


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
    with pytest.raises(OutputError, match="No space left"), atomic_path(tmp_path / "f"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(OutputError, match="exists"):
        check_output(tmp_path / "f")
    assert check_output(tmp_path / "f", overwrite=True) == tmp_path / "f"
    with pytest.raises(OutputError, match="it is a folder"):
        check_output(tmp_path)
    with pytest.raises(OutputError, match="does not exist"):
        check_output(tmp_path / "no" / "f")


def test_a_device_a_pipe_and_a_link_to_itself_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (Path(os.devnull), tmp_path / "pipe"):
        with pytest.raises(OutputError, match="a device or a pipe"):
            check_output(path, overwrite=True)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    with pytest.raises(OutputError, match=r"leads to itself|loop"):
        check_output(tmp_path / "loop", overwrite=True)
    for name in ("a\0b", "long" * 100):
        with pytest.raises(OutputError, match="Cannot write"):
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
    with pytest.raises(OutputError, match="it is a file"):
        check_folder(taken)
    with pytest.raises(OutputError, match="does not exist"):
        check_folder(tmp_path / "no" / "folder")
    assert check_folder(tmp_path / "new") == tmp_path / "new"
    assert not (tmp_path / "new").exists()


@pytest.fixture(params=["exchanged", "file by file", "a system that refuses", "the current folder"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Replace folders in each of the ways."""
    (tmp_path / "out").mkdir()
    if request.param == "file by file":
        monkeypatch.setattr(outputs, "_exchanger", lambda: None)
    elif request.param == "a system that refuses":

        def refuse(*_: bytes) -> None:
            raise OSError(errno.EINVAL, "not here")

        monkeypatch.setattr(outputs, "_exchanger", lambda: refuse)
    elif request.param == "the current folder":
        monkeypatch.chdir(tmp_path / "out")
    return str(request.param)


@pytest.mark.usefixtures("way")
def test_a_folder_is_replaced_whole_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fill(folder, "first", names=("a.txt", "b.txt", "c_1.txt", "c_2.txt"), overwrite=False)
    (folder / "notes.md").write_text("mine")
    (folder / "more").mkdir()
    (folder / "more" / "notes.md").write_text("mine")
    with pytest.raises(OutputError, match="not empty"):
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
    with pytest.raises(OutputError, match=r"holds a folder c_1\.txt"):
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

    monkeypatch.setattr(results, "save_figure", refuse)
    with pytest.raises(BayesBiasError) as caught:
        results.write_results(made_fit(draws=50), tmp_path / "out", table=made_table(("he", "she")))
    assert caught.value is full
    assert list(tmp_path.iterdir()) == []


# --- kills ------------------------------------------------------------------------------------------------


def _in_a_process(work: Callable[..., None], *arguments: object) -> int:
    """Return the exit code of a process of its own, which can be killed."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _killed_at(step: int, folder: Path, way: str) -> None:
    """Replace a folder, and be killed before the `step`-th call that changes names."""
    counted = 0

    def before(function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **settings: object) -> object:
            nonlocal counted
            counted += 1
            if counted == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*given, **settings)

        return call

    exchange = outputs._exchanger()
    for name in ("replace", "rename", "unlink", "mkdir"):
        setattr(Path, name, before(getattr(Path, name)))
    if exchange is not None and way != "file by file":
        refused = before(exchange)
        outputs._exchanger = lambda: refused  # type: ignore[assignment]
    fill(folder, "second", names=("a.txt", "c_1.txt"))


def test_after_a_kill_at_any_step_the_next_run_works_and_nothing_is_mixed(tmp_path: Path, way: str) -> None:
    if way == "a system that refuses":
        pytest.skip("its steps are those of the others")
    folder = tmp_path / "out"
    old, new = {"a.txt": "first", "b.txt": "first"}, {"a.txt": "second", "c_1.txt": "second"}
    seen = []
    for step in range(1, 30):
        fill(folder, "first")
        code = _in_a_process(_killed_at, step, folder, way)
        assert code in (0, -signal.SIGKILL)
        if way == "exchanged":
            assert content(folder) in (old, new)
            seen.append(content(folder) == new)
        # The next run, with nothing done by hand, in that folder; it completes what was begun.
        with claimed(folder):
            assert content(folder) in (old, new)
        fill(folder, "third", names=("a.txt",))
        assert content(folder) == {"a.txt": "third"}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        if code == 0:
            break
    assert code == 0, "the steps are not exhausted"
    assert step > 3
    assert way != "exchanged" or seen == sorted(seen)


def test_an_interrupt_while_files_are_put_in_place_mixes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, replace = tmp_path / "out", Path.replace
    fill(folder, "first")
    monkeypatch.setattr(outputs, "_exchanger", lambda: None)
    calls = []

    def interrupted(path: Path, target: Path) -> Path:
        calls.append(target)
        if target.name == "b.txt" and len(calls) < 4:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(folder, "second")
    assert content(folder) == {"a.txt": "second", "b.txt": "second"}
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_strangers_journal_reaches_nothing_outside(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fill(folder, "first")
    (tmp_path / "precious").write_text("mine")
    with claimed(folder):
        (workshop,) = [path for path in tmp_path.iterdir() if path.name.endswith(".bayesbias")]
    for names in ({"made": [], "old": ["../precious", "b.txt"]}, {"made": 1}, [], "no JSON"):
        (workshop / "new").mkdir(parents=True)
        text = names if isinstance(names, str) else json.dumps(names)
        (workshop / "journal.json").write_text(text)
        if isinstance(names, dict) and "old" in names:
            fill(folder, "second")
        else:
            with pytest.raises(OutputError, match="damaged"):
                fill(folder, "third")
            outputs.shutil.rmtree(workshop)
    assert (tmp_path / "precious").read_text() == "mine"
    assert content(folder) == {"a.txt": "second", "b.txt": "second"}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("mine")
    workshop.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="is a link"):
        fill(folder, "third")
    assert (tmp_path / "elsewhere" / "precious").exists()


# --- several runs at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("overwrite", [False, True])
def test_one_of_several_runs_writes_and_the_others_are_told(overwrite: bool, tmp_path: Path) -> None:
    """Eight threads that all want the same place, with and without leave to overwrite."""
    folder = tmp_path / "out"
    if overwrite:
        fill(folder, "before")
    start, told, wrote = threading.Barrier(8), list[str](), list[str]()

    def run(number: int) -> None:
        start.wait()
        try:
            fill(folder, str(number), overwrite=overwrite)
            wrote.append(str(number))
        except OutputError as error:
            told.append(str(error))

    runs = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    found = set(content(folder).values())
    assert len(found) == 1
    assert found <= set(wrote)
    assert len(wrote) + len(told) == 8
    assert overwrite or len(wrote) == 1
    assert all("nother run" in text or "not empty" in text for text in told), told
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_who_comes_second_is_told_at_once(tmp_path: Path) -> None:
    def second() -> None:
        with pytest.raises(OutputError, match="Another run is writing"), claimed(tmp_path / "f.csv"):
            pass
        told.append(True)

    told: list[bool] = []
    with claimed(tmp_path / "f.csv"):
        other = threading.Thread(target=second)
        other.start()
        other.join()
        with atomic_path(tmp_path / "f.csv") as made:  # the run itself is not in its own way
            made.write_text("new")
    assert told == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_a_file_that_came_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    def late() -> None:
        with atomic_path(tmp_path / "f") as made:
            made.write_text("mine")
            (tmp_path / "f").write_text("theirs")

    with pytest.raises(OutputError, match="in the meantime"):
        late()
    assert (tmp_path / "f").read_text() == "theirs"


# --- what is said when a run is stopped -------------------------------------------------------------------


def test_what_was_written_is_known(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "f") as made:
        made.write_text("new")
        assert tmp_path / "f" not in written()
    fill(tmp_path / "out", "new")
    assert {tmp_path / "f", tmp_path / "out"} <= set(written())
    (tmp_path / "f").unlink()
    assert tmp_path / "f" not in written()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sign", "code", "word"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_stopped_command_leaves_nothing_and_says_so(
    tmp_path: Path, sign: signal.Signals, code: int, word: str
) -> None:
    run = subprocess.Popen(
        [Path(sys.executable).with_name("bayesbias"), "demo", "-o", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    run.stdout.readline()  # it has its table now, and samples
    run.send_signal(sign)
    _, said = run.communicate()
    assert run.returncode == code
    assert said.endswith(f"{word}: nothing was written\n")
    assert list(tmp_path.iterdir()) == []

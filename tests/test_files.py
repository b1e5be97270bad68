"""Files: written whole or not at all, replaced only on request, and errors that keep their kind."""

import errno
import stat
from pathlib import Path

import pytest

from bayesbias import results
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, TableError
from bayesbias.files import atomic_path, check_output, input_file
from tests.reports.made import made_fit, made_table


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


def test_inputs(tmp_path: Path) -> None:
    (tmp_path / "table.csv").touch()
    assert input_file(tmp_path / "table.csv") == tmp_path / "table.csv"
    with pytest.raises(InputFileError, match=r"did you mean 'table\.csv'"):
        input_file(tmp_path / "tabel.csv")
    with pytest.raises(InputFileError, match="is a folder"):
        input_file(tmp_path)


def test_an_error_of_one_file_of_a_folder_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OutputError("the figure cannot be drawn")

    def refuse(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(results, "save_figure", refuse)
    with pytest.raises(BayesBiasError) as caught:
        results.write_results(made_fit(draws=50), tmp_path / "out", table=made_table(("he", "she")))
    assert caught.value is full
    assert list(tmp_path.iterdir()) == []

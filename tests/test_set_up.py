"""The scripts that find a Python for `make`, on machines that are made up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The script looks there too, whatever the PATH and the home are.
ELSEWHERE = [*Path("/usr/local/bin").glob("python3.1[234]"), *Path("/opt").glob("*/bin/python3.1[234]")]
OLD = """#!/bin/sh
case "$2" in *assert*) exit 1;; *) echo "  Python 3.11.9 $0";; esac
"""
GETS_ONE = f"""#!/bin/sh
echo "$@" > asked
mkdir -p "$UV_PYTHON_INSTALL_DIR/cpython-3.13/bin"
ln -s "{sys.executable}" "$UV_PYTHON_INSTALL_DIR/cpython-3.13/bin/python3.13"
echo "Installed"
"""
NO_NETWORK = "#!/bin/sh\necho 'error: dns' >&2\nexit 2\n"

pytestmark = pytest.mark.skipif(bool(ELSEWHERE), reason="a Python that the script always finds")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout on a machine with Python 3.11 alone."""
    for folder in (".ci", "bin", "home"):
        (tmp_path / folder).mkdir()
    for script in ("python", "quick"):
        shutil.copy(ROOT / ".ci" / script, tmp_path / ".ci" / script)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for tool in ("sh", "cat", "dirname", "sort", "mkdir", "ln", "sed", "tail", "rm"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    program(tmp_path / "bin" / "python3", OLD)
    return tmp_path


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def find(machine: Path, script: str = "python", *versions: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine / "bin"), "HOME": str(machine / "home")}
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    command = [str(machine / ".ci" / script), *versions]
    return subprocess.run(command, env=environment, cwd=machine, capture_output=True, text=True, check=False)


def test_a_python_that_is_there_is_taken_and_nothing_is_downloaded(machine: Path) -> None:
    (machine / "bin" / "python3.13").symlink_to(sys.executable)
    program(machine / ".tools" / "uv" / "bin" / "uv", GETS_ONE)
    done = find(machine)
    assert done.returncode == 0
    assert Path(done.stdout.strip()).exists()
    assert not (machine / "asked").exists()


def test_where_only_an_old_one_is_uv_gets_one(machine: Path) -> None:
    program(machine / ".tools" / "uv" / "bin" / "uv", GETS_ONE)
    done = find(machine)
    assert (machine / "asked").read_text().split()[:2] == ["python", "install"]
    assert done.returncode == 0, done.stderr
    (path,) = done.stdout.splitlines()  # for $(...): what uv says is not among it
    assert Path(path).exists()


@pytest.mark.parametrize("uv", [NO_NETWORK, None])
def test_without_a_network_it_says_what_was_found_and_what_to_do(machine: Path, uv: str | None) -> None:
    if uv is not None:
        program(machine / ".tools" / "uv" / "bin" / "uv", uv)
    done = find(machine)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"Python 3.11.9 {machine / 'bin' / 'python3'}" in done.stderr
    assert "run make again" in done.stderr
    assert ("could not download" in done.stderr) == (uv is not None)


PYTHON_12 = f"""#!/bin/sh
[ "$1" = -c ] || exit 1
exec "{sys.executable}" -c "import sys; sys.version_info = (3, 12, 0); sys.executable = '$0'; $2" "$3" "$4"
"""
RECORDS = '#!/bin/sh\necho "$UV_PROJECT_ENVIRONMENT $@" >> asked\n'


def test_a_version_that_is_named_is_found_whatever_else_is_there(machine: Path) -> None:
    (machine / "bin" / "python3.13").symlink_to(sys.executable)
    program(machine / "home" / ".pyenv" / "versions" / "3.12.7" / "bin" / "python", PYTHON_12)
    assert find(machine, "python", "3.12").stdout.strip().endswith("3.12.7/bin/python")
    assert "3.12.7" not in find(machine).stdout
    assert "No Python 3.11 was found" in find(machine, "python", "3.11").stderr


def test_the_quick_tests_run_on_the_lowest_python(machine: Path) -> None:
    python = machine / "home" / ".pyenv" / "versions" / "3.12.7" / "bin" / "python"
    program(python, PYTHON_12)
    program(machine / ".tools" / "uv" / "bin" / "uv", RECORDS)
    program(machine / ".venv-lowest" / "bin" / "pytest", '#!/bin/sh\necho "pytest $@" >> asked\nexit 3\n')
    done = find(machine, "quick", "lowest")
    synced, tested = (machine / "asked").read_text().splitlines()
    assert synced.startswith(".venv-lowest sync")
    assert synced.endswith(f"--python {python}")
    assert "-m not slow" in tested
    assert done.returncode == 3  # of the tests


@pytest.mark.parametrize(("which", "version"), [("lowest", "3.12"), ("newest", "3.14")])
@pytest.mark.parametrize("uv", [NO_NETWORK, None])
def test_where_a_python_cannot_be_had_it_says_so_and_passes(
    machine: Path, which: str, version: str, uv: str | None
) -> None:
    if uv is not None:
        program(machine / ".tools" / "uv" / "bin" / "uv", uv)
    done = find(machine, "quick", which)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"No Python {version} was found")


def test_where_the_lowest_is_that_of_make_test_it_says_so(machine: Path) -> None:
    program(machine / ".venv" / "bin" / "python", PYTHON_12)
    done = find(machine, "quick", "lowest")
    assert done.returncode == 0
    assert "ran on Python 3.12" in done.stdout

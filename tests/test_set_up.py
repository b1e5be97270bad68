"""The script that finds a Python for `make`, on machines that are made up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The script looks there too, whatever the PATH and the home are.
ELSEWHERE = [*Path("/usr/local/bin").glob("python3.1[23]"), *Path("/opt").glob("*/bin/python3.1[23]")]
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
    shutil.copy(ROOT / ".ci" / "python", tmp_path / ".ci" / "python")
    for tool in ("sh", "cat", "dirname", "sort", "mkdir", "ln"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    program(tmp_path / "bin" / "python3", OLD)
    return tmp_path


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def find(machine: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine / "bin"), "HOME": str(machine / "home")}
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    command = [str(machine / ".ci" / "python")]
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

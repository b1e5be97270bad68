"""Settings in a folder that others can write to are not read by the command line, nor are modules."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bayesbias.base.machine import has_home

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders have modes on POSIX")

IMPORTS = "import os, arviz_base, matplotlib, numba; print(os.getcwd(), arviz_base.rcParams['stats.ci_prob'])"
ROOT = str(Path(__file__).parents[3])
GUARD = "from bayesbias.base.files.settings import ignore_foreign_settings; ignore_foreign_settings();"


def ran(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
def test_settings_are_those_of_this_user_where_others_can_write(tmp_path: Path) -> None:
    (tmp_path / "arvizrc").write_text("stats.ci_prob: 0.5")
    assert ran(tmp_path, GUARD + IMPORTS).stdout.split()[-1] == "0.5", "a folder of one's own has one's own settings"
    tmp_path.chmod(0o1777)
    os.mkfifo(tmp_path / "matplotlibrc")  # whoever opens it waits
    (tmp_path / ".numba_config.yaml").write_text("[1]")  # breaks the import of numba
    folder, probability = ran(tmp_path, GUARD + IMPORTS).stdout.split()
    assert folder == str(tmp_path)
    assert probability != "0.5"


@pytest.mark.slow
def test_the_command_line_reads_none_of_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    os.mkfifo(tmp_path / "matplotlibrc")
    (tmp_path / "arvizrc").write_bytes(b"\xff")
    (tmp_path / "t.csv").write_text(
        "protected_word,attribute_word,connection,cosine_distance\nhe,nurse,associated,0.5\nshe,nurse,different,0.6\n"
        "he,poet,associated,0.4\nshe,poet,different,0.7\n"
    )
    command = [sys.executable, "-P", "-m", "bayesbias", "fit", "t.csv", "-o", "fitted", "--model", "hierarchical"]
    command += ["--draws", "100", "--seed", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "fitted" / "distances.png").is_file()


def test_pytorch_takes_no_library_from_there(tmp_path: Path) -> None:
    """A library of NVIDIA that PyTorch loads looks for libcuda.so.1 in the current folder, too, and runs its code."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "torch.py").write_text("import os\nprint(os.getcwd())")
    imports = f"import os, sys; sys.path.insert(0, {str(tmp_path / 'packages')!r}); import torch; print(os.getcwd())"
    for mode, place in ((0o700, str(tmp_path)), (0o1777, "/")):
        tmp_path.chmod(mode)
        assert ran(tmp_path, GUARD + imports).stdout.split() == [place, str(tmp_path)]


@pytest.mark.slow
def test_numba_does_not_read_them_when_it_compiles(tmp_path: Path) -> None:
    compiles = "import numba; numba.njit(lambda: 1)(); print(numba.config.CACHE_DIR)"
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: elsewhere")
    assert ran(tmp_path, GUARD + compiles).stdout.split() == ["elsewhere"]
    tmp_path.chmod(0o1777)
    assert ran(tmp_path, GUARD + compiles).stdout.split() == []


@pytest.mark.slow
def test_pymc_compiles_elsewhere(tmp_path: Path) -> None:
    """A linker takes libgcc_s.so.1 from the current folder: PyTensor runs what it links."""
    code = (
        "import os, sys, bayesbias.models.sampling as sampling\n"
        "sampling.build_model = lambda *_: os.getcwd()\n"
        "sampling._nuts = lambda built_in, _: sys.exit(print(built_in, os.getcwd()))\n"
        "try: sampling._sample('nuts', None, None, None)\nfinally: print(os.getcwd())"
    )
    for mode, place in ((0o700, str(tmp_path)), (0o1777, "/")):
        tmp_path.chmod(mode)
        assert ran(tmp_path, f"{GUARD}\n{code}").stdout.split() == [place, place, str(tmp_path)]


@pytest.mark.slow
def test_pymc_compiles_in_a_private_folder(tmp_path: Path) -> None:
    """PyTensor names programs after temporary files: others could put links to files of this user in their place."""
    code = (
        "import os, sys, tempfile, bayesbias.models.sampling as sampling\n"
        "sampling.build_model = lambda *_: None\n"
        "sampling._nuts = lambda *_: sys.exit(print(tempfile.gettempdir(), os.environ['TMPDIR']))\n"
        "try: sampling._sample('nuts', None, None, None)\nfinally: print('TMPDIR' in os.environ)"
    )
    used, variable, is_left = ran(tmp_path, f"import os; os.environ.pop('TMPDIR', 0)\n{code}").stdout.split()
    assert used == variable
    assert Path(used).name.startswith("bayesbias-")
    assert is_left == "False"


# What belongs to a user without HOME and without a line in /etc/passwd, as in a container.
NO_HOME = "import os, pwd; del os.environ['HOME']; os.getuid = lambda: 2**31 - 9;"


def test_without_a_home_folder_the_command_line_has_an_empty_one(tmp_path: Path) -> None:
    """A folder `~` in the current one may be another user's."""
    code = "print(os.path.expanduser('~/x'), os.environ['TORCHDYNAMO_DISABLE'], os.listdir(os.environ['HOME']))"
    home, compiles_nothing, content = ran(tmp_path, NO_HOME + GUARD + code).stdout.split()
    assert (Path(home).is_absolute(), compiles_nothing, content) == (True, "1", "[]")
    assert not Path(home).parent.exists()
    assert ran(tmp_path, GUARD + "import os; print(os.environ['HOME'])").stdout.strip() == os.environ["HOME"]


def test_a_home_folder_that_others_may_write_to_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries would run what others compiled there, such as numba's cache, which is a pickle."""
    home = tmp_path / "home"
    home.mkdir()
    for mode, name, is_there in (
        (0o755, "", True),
        (0o1777, "", False),
        (0o777, "absent/more", False),
        (0o750, "absent", True),
    ):
        home.chmod(mode)
        monkeypatch.setenv("HOME", str(home / name))
        assert has_home() == is_there
    home.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    if os.geteuid() == 0:
        os.chown(home, 1234, -1)
    owner = home.stat().st_uid
    for user, is_home in ((owner, True), (owner + 1, False), (0, True)):
        with monkeypatch.context() as other:
            other.setattr("os.geteuid", lambda user=user: user)
            assert has_home() == is_home
    home.chmod(0o1777)
    code = (
        "from bayesbias.base.arrays import compiled\n"
        "from numba.core.caching import FunctionCache\n"
        "print(isinstance(compiled(lambda x: x + 1)._cache, FunctionCache))"
    )
    assert ran(tmp_path, code).stdout.split() == ["False"]
    assert ran(tmp_path, GUARD + "import os; print(os.environ['HOME'])").stdout.strip() != str(home)


@pytest.mark.slow
def test_without_a_home_folder_nothing_in_the_current_one_is_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "~").mkdir()
    code = (
        "import bayesbias as bb\n"
        "from bayesbias.base.arrays import compiled\nprint(compiled(lambda x: x + 1)(1))\n"
        "try: bb.pymc_model(bb.read_table(bb.bundled('data', 'tables', 'weat7_google_news.csv.gz')))\n"
        "except bb.errors.FitError as error: print(error)"
    )
    done = ran(tmp_path, NO_HOME + "\n" + code)
    assert done.stdout.splitlines()[0] == "2", done.stderr
    assert "Set HOME" in done.stdout
    assert not list((tmp_path / "~").iterdir())


@pytest.mark.slow
def test_workers_import_no_module_of_a_folder_in_which_they_start(tmp_path: Path) -> None:
    """A script does not look there either: its own modules, which workers need, are beside it."""
    names = ("multiprocessing", "pickle", "numpy", "bayesbias", "sitecustomize")
    folder, scripts = tmp_path / "folder", tmp_path / "scripts"
    for place in (folder, scripts):
        place.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text("open('read', 'w')")
    folder.chmod(0o1777)
    (scripts / "own_cells.py").write_text(
        "from tests.workers.test_workers import CoresCell\nclass Own(CoresCell): pass"
    )
    (scripts / "script.py").write_text(
        "import own_cells\nfrom bayesbias.workers.process_workers import process_workers\n"
        "with process_workers(1) as team:\n"
        "    print([type(cell).__module__ for cell, _ in team.outcomes({'E': None}, [own_cells.Own('a')])])\n"
    )
    done = subprocess.run(
        [sys.executable, scripts / "script.py"], cwd=folder, env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("['own_cells']\n", "")
    assert not (folder / "read").exists()


@pytest.mark.slow
def test_workers_that_ignore_the_environment_do_not_start_there(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        f"import sys\nsys.path.insert(0, {ROOT!r})\n"
        "from bayesbias.workers.process_workers import process_workers\nwith process_workers(1): print('started')\n"
    )
    for mode, line in ((0o700, "started"), (0o1777, "Add -P.")):
        tmp_path.chmod(mode)
        command = [sys.executable, "-E", "script.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert (done.stdout + done.stderr).rstrip().endswith(line)

"""TOML files with declared keys and types: what fits is returned, and all faults are listed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal, Required, TypedDict

import pytest

from bayesbias.base.files.settings import kind_of, read_declared_toml, toml_faults
from bayesbias.errors import InputFileError, ModelError


class Articles(TypedDict, total=False):
    before_vowel: Required[str]
    exceptions: dict[str, str]


class Plan(TypedDict, total=False):
    name: Required[str]
    draws: int
    share: float
    quick: bool
    case: Literal["exact", "lower"]
    words: list[str]
    pairs: list[list[str]]
    groups: dict[str, list[str]]
    controls: list[str] | Literal["none"]
    articles: Articles
    rules: list[Articles]
    anything: object


GOOD = """
name = "plan"
draws = 500
share = 1
quick = true
case = "lower"
words = ["nurse"]
pairs = [["he", "she"]]
controls = "none"
anything = 1979-05-27
[groups]
male = ["he"]
[articles]
before_vowel = "an"
exceptions = {SUV = "an"}
[[rules]]
before_vowel = "an"
"""


def read(folder: Path, text: str) -> Plan:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return read_declared_toml(path, Plan, ModelError, what="The plan ")


def test_what_fits_is_returned_as_it_is(tmp_path: Path) -> None:
    plan = read(tmp_path, GOOD)
    assert (plan["name"], plan["draws"], plan["groups"]) == ("plan", 500, {"male": ["he"]})
    assert plan["rules"] == [{"before_vowel": "an"}]
    assert read(tmp_path, 'name = "x"\ncontrols = ["one"]') == {"name": "x", "controls": ["one"]}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nmae = 1", r"'nmae' \(did you mean 'name'\?\)"),
        ("draws = 1.5", "draws .* not a number"),
        ("draws = true", "draws .* not true or false"),
        ('share = "1"', "share .* not text"),
        ("quick = 1", "quick .* not a number"),
        ('case = "lowr"', r"'lowr' \(did you mean 'lower'\?\)"),
        ("case = 3", "case .* not a number"),
        ('words = "nurse"', "words .* not text"),
        ('words = ["nurse", 3]', r"words \(item 2\) .* not a number"),
        ('pairs = [["he"], "she"]', r"pairs \(item 2\) .* not text"),
        ("groups = {male = 3}", r"groups\.male .* not a number"),
        ("groups = 3", r"\[groups\] .* not a number"),
        ("groups = {}", r"\[groups\] .* not an empty section"),
        ("words = []", "words .* not an empty list"),
        ("case = {}", "case .* section"),
        ("articles = {exceptions = {U.S = 'an'}, before_vowel = 'an'}", r"articles\.exceptions\.U .* quotes"),
        ('controls = "paper"', "controls .* not text"),
        ("articles = {}", r"articles\.before_vowel"),
        ("articles = 3", r"\[articles\] .* before_vowel, exceptions, not a number"),
        ('articles = {before_vowel = "an", exeptions = {}}', r"'exeptions' in \[articles\] \(did you mean"),
        ("rules = [{}]", r"rules \(item 1\)\.before_vowel"),
    ],
)
def test_each_fault_names_file_and_key(tmp_path: Path, line: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault) as caught:
        read(tmp_path, f'name = "x"\n{line}\n')
    assert str(caught.value).startswith(f"The plan {tmp_path / 'plan.toml'} has 1 fault:")


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="3 faults") as caught:
        read(tmp_path, "draws = 1.5\nseed = 1\n")
    assert str(caught.value).count("\n- ") == 3


def test_a_file_that_is_absent_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"absent\.toml"):
        read_declared_toml(tmp_path / "absent.toml", Plan, ModelError)
    with pytest.raises(ModelError, match="line 1"):
        read(tmp_path, "name = x")


def test_faults_of_a_section_and_kinds_of_values() -> None:
    assert list(toml_faults({"before_vowel": "an"}, Articles, section="articles")) == []
    assert [kind_of(value) for value in ("x", 1, 1.5, {"x": 1}, [1])] == [
        "text",
        "a number",
        "a number",
        "a section",
        "a list",
    ]


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
    assert (tmp_path / "fitted" / "words.png").is_file()


@pytest.mark.slow
def test_numba_does_not_read_them_when_it_compiles(tmp_path: Path) -> None:
    compiles = "import numba; numba.njit(lambda: 1)(); print(numba.config.CACHE_DIR)"
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: elsewhere")
    assert ran(tmp_path, GUARD + compiles).stdout.split() == ["elsewhere"]
    tmp_path.chmod(0o1777)
    assert ran(tmp_path, GUARD + compiles).stdout.split() == []


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

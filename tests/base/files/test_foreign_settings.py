"""Settings in a folder that others can write to are not read by the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders have modes on POSIX")

IMPORTS = "import os, arviz_base, matplotlib, numba; print(os.getcwd(), arviz_base.rcParams['stats.ci_prob'])"
GUARD = "from bayesbias.base.files.foreign_settings import ignore_foreign_settings; ignore_foreign_settings();"


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

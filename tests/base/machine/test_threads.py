"""The limits of threads: those of threadpoolctl, whose variable does not stay in the environment."""

import os
import subprocess
import sys

IMPORTS = """
import os
before = dict(os.environ)
from bayesbias.base.machine.threads import ThreadpoolController, threadpool_limits
assert dict(os.environ) == before, set(os.environ) ^ set(before)
import threadpoolctl
assert threadpool_limits is threadpoolctl.threadpool_limits
assert dict(os.environ) == before
"""


def test_the_environment_is_as_before() -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KMP_")}
    run = subprocess.run([sys.executable, "-c", IMPORTS], env=clean, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr

"""The import, the help and the demo, as whole processes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench import Figure, seconds_of, usual_seconds


def measure() -> Iterator[Figure]:
    """Yield the seconds of each command."""
    command = str(Path(sys.executable).with_name("bayesbias"))
    quiet = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield Figure("import bayesbias", usual_seconds(lambda: quiet([sys.executable, "-c", "import bayesbias"])), 0.35)
    yield Figure("bayesbias --help", usual_seconds(lambda: quiet([command, "--help"])), 0.6)
    with tempfile.TemporaryDirectory() as folder:
        caches = {"PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor", "NUMBA_CACHE_DIR": f"{folder}/numba"}
        demo = [command, "demo", "--output", f"{folder}/demo"]
        seconds = seconds_of(lambda: quiet(demo, env={**os.environ, **caches}))
    yield Figure("bayesbias demo, cold compile cache", seconds, 30.0)

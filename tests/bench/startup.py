"""How long the import, the help and the demo take, as whole processes."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_RUNS = 9


def measure() -> list[dict[str, object]]:
    """Return one row for each command: median seconds of its runs, and its target."""
    python = sys.executable
    command = str(Path(python).with_name("bayesbias"))
    cases = [
        ("import bayesbias", [python, "-c", "import bayesbias"], 0.35),
        ("bayesbias --help", [command, "--help"], 0.6),
    ]
    rows: list[dict[str, object]] = [
        {"what": what, "seconds": statistics.median(_seconds(arguments) for _ in range(_RUNS)), "target": target}
        for what, arguments, target in cases
    ]
    with tempfile.TemporaryDirectory() as folder:
        cold = {
            **os.environ,
            "PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor",
            "NUMBA_CACHE_DIR": f"{folder}/numba",
        }
        seconds = _seconds([command, "demo", "--output", f"{folder}/demo"], cold)
    rows.append({"what": "bayesbias demo, cold compile cache", "seconds": seconds, "target": 30.0})
    return rows


def _seconds(arguments: list[str], environment: dict[str, str] | None = None) -> float:
    start = time.perf_counter()
    subprocess.run(arguments, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start

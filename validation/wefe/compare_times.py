"""Time ten questions of three embeddings in WEFE and here, in turn, and keep the seconds: `times.json`.

python validation/wefe/compare_times.py WEFE_PYTHON [RUNS]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEASURES = ("weat", "weat,rnd,ect,mac")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def seconds(python: str, script: str, measures: str) -> dict[str, float]:
    """Return what a process says of its CPU seconds."""
    command = [python, str(HERE / script), measures]
    # Both with compiled modules, as installed packages have them, wherever they are kept.
    environment = (
        os.environ | ONE_THREAD | {"PYTHONPYCACHEPREFIX": tempfile.gettempdir(), "PYTHONDONTWRITEBYTECODE": ""}
    )
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def main() -> None:
    """Write the median CPU seconds of both, and their ratio."""
    wefe, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    record: dict[str, object] = {"command": "python validation/wefe/compare_times.py WEFE_PYTHON", "runs": runs}
    for python, script in ((wefe, "time_wefe.py"), (sys.executable, "time_ours.py")):
        seconds(python, script, MEASURES[-1])  # not counted: it compiles modules
    for measures in MEASURES:
        # In turn, so that whatever else the machine does slows both.
        pairs = [
            (seconds(wefe, "time_wefe.py", measures), seconds(sys.executable, "time_ours.py", measures))
            for _ in range(runs)
        ]
        rows: dict[str, object] = {"numbers": {"wefe": pairs[0][0]["numbers"], "bayesbias": pairs[0][1]["numbers"]}}
        for kind in ("cold", "warm"):
            theirs, ours = (statistics.median(run[kind] for run in side) for side in zip(*pairs, strict=True))
            rows[kind] = {"wefe": theirs, "bayesbias": ours, "ratio": ours / theirs}
            print(f"{measures:18} {kind}: WEFE {theirs:.2f} s, bayesbias {ours:.2f} s, {ours / theirs:.3f}", flush=True)
        record[measures] = rows
    (HERE / "times.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

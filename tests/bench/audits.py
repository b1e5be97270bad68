"""Ten questions of three embeddings in processor seconds, beside those that WEFE took (`validation/wefe`)."""

import json
import statistics
import time

from tests.validation.scripts import VALIDATION, load_script


def measure() -> list[dict[str, object]]:
    """Return one row for WEAT, and one for four measures."""
    import bayesbias as bb

    script = load_script("wefe", "time_ours")
    kept = json.loads((VALIDATION / "wefe" / "times.json").read_text(encoding="utf-8"))
    embeddings, questions = script.embeddings(), script.questions()
    rows: list[dict[str, object]] = []
    for measures in load_script("wefe", "compare_times").MEASURES:
        seconds = []
        for _ in range(6):  # the first is not counted
            start = time.process_time()
            bb.audit(embeddings, questions, measures.split(","), model=None, random_seed=1, progress=False)
            seconds.append(time.process_time() - start)
        wefe = kept[measures]["warm"]["wefe"]
        rows.append(
            {
                "what": f"10 x 3 audit, {measures}; WEFE: {wefe:.2f} s",
                "seconds": statistics.median(seconds[1:]),
                "target": round(wefe / 5, 2),
            }
        )
    return rows

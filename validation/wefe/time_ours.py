"""Ten questions of three embeddings with `bb.audit`: CPU seconds of the whole process and of a second call, as JSON."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import bayesbias as bb

HERE = Path(__file__).resolve().parent


def questions() -> list[bb.Study]:
    """Return the ten queries that WEFE was asked, as studies."""
    stored = json.loads((HERE / "wefe.json").read_text(encoding="utf-8"))["run_queries"]["queries"]
    return [
        bb.Study(
            name=entry["title"],
            protected=entry["targets"],
            attributes=entry["attributes"],
            associated=list(zip(entry["targets"], entry["attributes"], strict=True)),
            human="none",
            neutral="none",
        )
        for entry in stored
    ]


def embeddings() -> list[bb.Embedding]:
    """Return the three embeddings."""
    names = json.loads((HERE / "wefe.json").read_text(encoding="utf-8"))["vectors"]
    return [bb.load_embedding(bb.bundled("data", "vectors", f"{name}.npz")) for name in names]


def main() -> None:
    """Print the seconds."""
    measures, loaded, queries = tuple(sys.argv[1].split(",")), embeddings(), questions()

    def run() -> Any:
        return bb.audit(loaded, queries, measures, model=None, random_seed=1, progress=False)

    run()
    cold, start = time.process_time(), time.process_time()
    frame = run()
    print(json.dumps({"cold": cold, "warm": time.process_time() - start, "numbers": len(frame)}))


if __name__ == "__main__":
    main()

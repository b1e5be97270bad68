"""The same questions with WEFE's `run_queries`, without p-values: CPU seconds of the process and of a second call.

It runs inside the environment of WEFE.
"""

import json
import logging
import sys
import time
from typing import Any

from run_wefe import HERE, keyed_vectors, query
from wefe import metrics
from wefe.utils import run_queries
from wefe.word_embedding_model import WordEmbeddingModel


def main() -> None:
    """Print the seconds."""
    logging.disable(logging.CRITICAL)
    stored = json.loads((HERE / "wefe.json").read_text(encoding="utf-8"))
    names = [name.upper() for name in sys.argv[1].split(",")]
    queries = [query(entry["targets"], entry["attributes"]) for entry in stored["run_queries"]["queries"]]
    models = [WordEmbeddingModel(keyed_vectors(name), name) for name in stored["vectors"]]

    def run() -> list[Any]:
        return [
            run_queries(getattr(metrics, name), queries, models, generate_subqueries=name in ("RND", "ECT"))
            for name in names
        ]

    run()
    cold, start = time.process_time(), time.process_time()
    frames = run()
    numbers = sum(frame.size for frame in frames)
    print(json.dumps({"cold": cold, "warm": time.process_time() - start, "numbers": numbers}))


if __name__ == "__main__":
    main()

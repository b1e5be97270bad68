"""Ten questions of three embeddings in processor seconds, beside those that WEFE took (`validation/wefe`)."""

import json
import time
from collections.abc import Iterator

import bayesbias as bb
from tests.bench import Figure, usual_seconds
from tests.validation.scripts import VALIDATION, load_script


def measure() -> Iterator[Figure]:
    """Yield our time over WEFE's, with WEAT alone and with four measures."""
    script = load_script("wefe", "time_ours")
    stored = json.loads((VALIDATION / "wefe" / "times.json").read_text(encoding="utf-8"))
    embeddings, questions = script.embeddings(), script.questions()
    for names in load_script("wefe", "compare_times").MEASURES:
        measures, wefe = names.split(","), stored[names]["warm"]["wefe"]

        def audit(measures: list[str] = measures) -> object:
            return bb.audit(embeddings, questions, measures, model=None, random_seed=1, progress=False)

        yield Figure(f"10 x 3 audit, {names}", usual_seconds(audit, time.process_time) / wefe, 0.2, "times WEFE")

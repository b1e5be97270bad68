"""Every speed figure in one run: printed, and kept in ``bench-results.json``."""

import json
import os
import platform
from pathlib import Path

from tests.bench import (
    asymmetry,
    audits,
    changes,
    contexts,
    debiasing,
    dependent_words,
    encoders,
    geometry,
    neighbours,
    readers,
    reliability,
    reports,
    samplers,
    startup,
    studies,
)


def main() -> None:
    """Measure, print one line a figure, and write them as JSON."""
    results: list[dict[str, object]] = []
    print(f"{'what':48} {'seconds':>9} {'gensim':>9} {'ratio':>7} {'own MB':>7}   target")
    for part in (startup, readers, reports, audits, geometry, contexts):
        for row in part.measure():
            results.append(row)
            faster = "ratio" in row
            cells = [f"{row['what']:48}", f"{row['seconds']:9.3f}"]
            cells += (
                [f"{row['versus_gensim']:9.2f}", f"{row['ratio']:7.1f}", f"{row['memory_mb']:7.1f}"] if faster else []
            )
            limit = f"at least {row['target']:g} times, under 150 MB" if faster else f"under {row['target']:g} s"
            print(" ".join(cells) if faster else f"{' '.join(cells)}{'':26}", f"  {limit}", flush=True)
    for row in neighbours.measure():
        results.append(row)
        print(
            f"{row['what']:48} {row['seconds']:9.1f} s, {row['times_product']:.2f} times the matrix product "
            f"({row['product_seconds']:.1f} s), {row['memory_mb']:.0f} MB   at most {row['target']:g} times"
        )
    for row in reliability.measure():
        results.append(row)
        print(reliability.line(row), flush=True)
    for row in asymmetry.measure():
        results.append(row)
        print(asymmetry.line(row), flush=True)
    for row in changes.measure():
        results.append(row)
        print(changes.line(row), flush=True)
    for row in studies.measure():
        results.append(row)
        said = f"{row['faster']:.2f} times as fast as one   at least" if "faster" in row else "  under"
        print(f"{row['what']:48} {row['seconds']:9.4f} s {said} {row['target']:g}", flush=True)
    for row in debiasing.measure():
        results.append(row)
        print(debiasing.line(row), flush=True)
    for row in dependent_words.measure():
        results.append(row)
        print(dependent_words.line(row), flush=True)
    for row in encoders.measure():
        results.append(row)
        print(encoders.line(row), flush=True)
    print(f"\n{samplers.HEADER}")
    for row in samplers.each():
        results.append(row)
        print(samplers.line(row), flush=True)
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}
    Path("bench-results.json").write_text(json.dumps({"machine": machine, "results": results}, indent=2) + "\n")
    print("Written to bench-results.json")


if __name__ == "__main__":
    main()

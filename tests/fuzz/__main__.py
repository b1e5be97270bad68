"""Fuzz every reader: print what came of the inputs, and keep those that failed in `fuzz-failures/`.

python -m tests.fuzz [--inputs 50000] [--seed 1] [KIND ...]
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.fuzz.runner import OUTCOMES, count
from tests.fuzz.targets import TARGETS, shares


def main() -> None:
    """Fuzz, and end with 1 if anything but a clear error or an answer came of an input."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--inputs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    failures, total = Path("fuzz-failures"), Counter[str]()
    print(f"{'input':<28}" + "".join(f"{outcome:>10}" for outcome in OUTCOMES))
    for name, _, inputs in shares(given.inputs):
        if given.kinds and name not in given.kinds:
            continue
        found = count(name, inputs, given.seed, failures)
        total += found
        print(f"{name:<28}" + "".join(f"{found[outcome]:>10,}" for outcome in OUTCOMES), flush=True)
    print(f"{'all':<28}" + "".join(f"{total[outcome]:>10,}" for outcome in OUTCOMES))
    bad = sum(total[outcome] for outcome in OUTCOMES[2:])
    if bad:
        sys.exit(f"{bad} inputs failed; they are in {failures}/")


if __name__ == "__main__":
    main()

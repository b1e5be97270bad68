"""Measure every figure, print one line for each, and fail where one is over its limit."""

import sys

from tests.bench import audits, contexts, encoders, fits, readers, reports, startup, surprisals


def main() -> None:
    """Print the figures as they are measured."""
    over = []
    for room in (startup, readers, reports, audits, encoders, contexts, surprisals, fits):
        for figure in room.measure():
            print(figure, flush=True)
            over += [figure.what] if figure.value > figure.limit else []
    sys.exit(f"Over the limit: {'; '.join(over)}" if over else 0)


if __name__ == "__main__":
    main()

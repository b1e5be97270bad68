"""The command line: `bayesbias`, or `python -m bayesbias`."""

import signal
import sys
from contextlib import ExitStack


def main() -> None:
    """Run the command line; an interrupt that comes while it is imported waits until it can be answered."""
    from bayesbias.base.interrupts import TERMINATED, held_interrupts

    # SystemExit runs the cleanup of unfinished files, as an error does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    held = ExitStack()
    held.enter_context(held_interrupts())
    from bayesbias.cli import main as run

    run(held)


if __name__ == "__main__":
    main()

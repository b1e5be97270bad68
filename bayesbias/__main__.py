"""The command line: `bayesbias`, or `python -m bayesbias`."""

import signal
import sys
from contextlib import ExitStack


def main() -> None:
    """Run the command line; an interrupt that comes while it is imported waits until it can be answered."""
    from bayesbias.base.machine import ENDS, TERMINATED, held_interrupts

    # SystemExit runs the cleanup of unfinished files, as an error does.
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda *_: sys.exit(TERMINATED))
    held = ExitStack()
    held.enter_context(held_interrupts())
    from bayesbias.cli import main as run

    try:
        run(held)
    finally:
        # Python itself ends with the signals' defaults, which would cut the end of a finished command short.
        for number in (signal.SIGINT, *ENDS):
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()

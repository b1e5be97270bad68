"""The command line: `bayesbias`, or `python -m bayesbias`."""

import os
import signal
import sys
from contextlib import ExitStack


def main() -> None:
    """Run the command line; an interrupt that comes while it is imported waits until it can be answered."""
    answers_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if answers_interrupts:  # before what can hold them is imported, which would end in a traceback
        signal.signal(signal.SIGINT, _leave)
    from bayesbias.base.machine import ENDS, TERMINATED, held_interrupts

    if answers_interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
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


def _leave(*_: object) -> None:
    os.write(2, b"interrupted: nothing was begun.\n")
    os._exit(130)


if __name__ == "__main__":
    main()

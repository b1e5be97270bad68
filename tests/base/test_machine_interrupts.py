"""Interrupts that wait: code inside is done first, and processes that are started inside do not get them."""

import signal
import subprocess
import sys
import threading

import pytest

from bayesbias.base.machine import held_interrupts

pytestmark = pytest.mark.usefixtures("interruptible")
BLOCKED = "import signal; print(*sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))"


def test_an_interrupt_waits_for_the_end() -> None:
    done = []

    def interrupted() -> None:
        with held_interrupts():
            with held_interrupts():
                signal.raise_signal(signal.SIGINT)  # to this thread: another would take a process's signal, and late
                done.append("inside")
            done.append("between")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["inside", "between"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with held_interrupts():
        done.append("again")
    assert done[-1] == "again"


def test_processes_that_start_inside_get_none() -> None:
    with held_interrupts():
        inside = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    after = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    assert set(map(int, inside.stdout.split())) == {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    assert after.stdout.split() == []


def test_other_threads_hold_nothing() -> None:
    handlers = []

    def look() -> None:
        with held_interrupts():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]

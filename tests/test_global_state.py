"""What belongs to the whole process, the environment and the warning filters, is after a call as it was before."""

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from bayesbias.errors import BayesBiasWarning, collected_warnings, warn_user

# Not what libraries have set in this process: the variables would be there before.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name in ("HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR") or name.endswith("_THREADS")
}
CALLS = """
import os, sys, warnings
import bayesbias as bb
from bayesbias.delivery.plots.style import save_figure

def calls():
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    table = table[table["connection"].isin(["associated", "different"])].reset_index(drop=True)
    fit = bb.fit(table, "hierarchical", draws=50, random_seed=1)
    bb.pymc_model(table, "hierarchical")
    print(bb.conclusions(fit), bb.check_posterior(fit))
    save_figure(bb.plots.plot_words(fit), sys.argv[1] + "/words.png", overwrite=True)
    bb.read_fit(bb.write_fit(fit, sys.argv[1] + "/fit.nc", overwrite=True))
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    bb.audit([vectors], ["weat7"], ["contrast", "mac", "rnsb"], models=["hierarchical"], draws=25, tune=50, chains=2,
        random_seed=1, workers=2, progress=False)

environment = dict(os.environ)
calls()
assert dict(os.environ) == environment, set(os.environ) - set(environment)
# The first calls import libraries, some of which filter warnings of their own when they are imported.
filters = list(warnings.filters)
calls()
assert list(warnings.filters) == filters
"""


MODULES = """
import os, pkgutil
from importlib import import_module
environment = dict(os.environ)
import bayesbias
for module in pkgutil.walk_packages(bayesbias.__path__, "bayesbias."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
        assert dict(os.environ) == environment, (module.name, set(os.environ) - set(environment))
"""


@pytest.mark.slow
def test_no_module_changes_the_environment_when_it_is_imported() -> None:
    command = [sys.executable, "-c", MODULES]
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
def test_an_interrupt_while_a_command_starts_is_no_traceback() -> None:
    """Before what holds interrupts back can be imported, a command ends in one line."""
    code = (
        "import signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'bayesbias.base.machine':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from bayesbias.__main__ import main\n"
        "main()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (130, "interrupted: nothing was begun.\n")


def test_environment_and_filters_are_as_before(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CALLS, tmp_path]
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_threads_that_collect_warnings_leave_the_filters_alone() -> None:
    before, start = list(warnings.filters), threading.Barrier(8)
    seen: list[int] = []

    def collect() -> None:
        start.wait()
        for _ in range(200):
            with collected_warnings() as caught:
                warn_user("something", BayesBiasWarning)
            seen.append(len(caught))

    threads = [threading.Thread(target=collect) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(seen) == {1}
    assert list(warnings.filters) == before

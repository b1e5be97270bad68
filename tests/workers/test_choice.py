"""The workers that a user asks for: one of this process, of this machine, or of a scheduler."""

import pytest

from bayesbias.errors import ArgumentError
from bayesbias.workers.choice import choose_workers
from bayesbias.workers.dask_workers import scheduler_workers
from bayesbias.workers.process_workers import process_workers
from bayesbias.workers.workers import this_process


def test_each_wish_has_its_workers() -> None:
    alone = choose_workers(None, None, verbose=False)
    assert (alone.func, alone.keywords) == (this_process, {"every_core": True})  # type: ignore[attr-defined]
    assert choose_workers(1, None, verbose=False) is this_process
    two = choose_workers(2, None, verbose=False)
    assert (two.func, two.args) == (process_workers, (2,))  # type: ignore[attr-defined]
    assert choose_workers(8, None, verbose=False, most=3).args == (3,)  # type: ignore[attr-defined]
    with this_process() as team, choose_workers(team, None, verbose=False)() as same:
        assert same is team
    cluster = choose_workers(None, "tls://10.0.0.1:8786", verbose=True)
    assert (cluster.func, cluster.args) == (scheduler_workers, ("tls://10.0.0.1:8786",))  # type: ignore[attr-defined]
    for workers, scheduler, message in ((2, "tcp://x", "one of the two"), (0, None, "workers=0"), (None, 5, "=5")):
        with pytest.raises(ArgumentError, match=message):
            choose_workers(workers, scheduler, verbose=False)

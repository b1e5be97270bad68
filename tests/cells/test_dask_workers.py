"""Workers of Dask: schedulers that do not answer, that are open or closed, and errors as texts."""

import socket
import time

import pytest

import bayesbias as bb
from bayesbias.cells import dask_workers
from bayesbias.errors import ClusterError
from tests.cells import pets

SMALL = {"model": "no_pooling", "seeds": [1, 2], **pets.SMALL}


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "_PATIENCE", 1)
    questions = [pets.embedding(1)], pets.study(), pets.MEASURES
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        taken = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        for address in (taken, "tcp://127.0.0.1:1", "nowhere://x", "tcp://no.such.host.invalid:8786", ""):
            begun = time.monotonic()
            with pytest.raises(ClusterError, match=r"\b1 s\b"):
                bb.audit(*questions, scheduler=address, **SMALL)
            assert time.monotonic() - begun < 30


def test_a_scheduler_without_workers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(dask_workers, "_PATIENCE", 1)
    with LocalCluster(n_workers=0, processes=False, protocol="inproc", dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        with pytest.raises(ClusterError, match="dask worker inproc://"):
            bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, scheduler=address, **SMALL)


def test_an_error_of_a_worker_is_one_line() -> None:
    assert dask_workers._error_text(ValueError("no draws.\nmore")) == "ValueError: no draws"
    assert dask_workers._error_text(ZeroDivisionError()) == "ZeroDivisionError: ZeroDivisionError"
    killed = type("KilledWorker", (Exception,), {})
    assert "memory" in dask_workers._error_text(killed("bayesbias-0", "worker"))

"""Workers of Dask: schedulers that do not answer, that are open or closed, and errors as texts."""

import socket
import time
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, ClusterError
from bayesbias.workers import dask_workers
from tests.audits import pets

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


@pytest.mark.slow
def test_a_scheduler_with_certificates_is_closed_to_strangers(tmp_path: Path) -> None:
    """The certificates are those of Dask's configuration; who has none, or speaks without them, is refused."""
    import dask
    from distributed import Client, LocalCluster, Security

    certificates = Security.temporary()
    files = {
        "ca-file": certificates.tls_ca_file,
        "cert": certificates.tls_client_cert,
        "key": certificates.tls_client_key,
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    configured = {
        "distributed.comm.tls.ca-file": str(tmp_path / "ca-file"),
        "distributed.comm.tls.client": {name: str(tmp_path / name) for name in ("cert", "key")},
    }
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(security=certificates, protocol="tls://", **options) as cluster:
        address = cluster.scheduler_address
        for stranger in (address, address.replace("tls://", "tcp://")):
            with pytest.raises((OSError, TypeError)):
                Client(stranger, timeout=3)
            with pytest.raises(ClusterError, match="does not answer"):
                bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, scheduler=stranger, **SMALL)
        with dask.config.set(configured):
            frame = bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, scheduler=address, **SMALL)
    alone = bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, workers=1, **SMALL)
    assert frame.to_csv() == alone.to_csv()


@pytest.mark.slow
def test_an_open_scheduler_is_warned_of() -> None:
    from distributed import LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(protocol="tcp://", host="127.0.0.1", **options) as cluster:
        address = cluster.scheduler_address
        with pytest.warns(BayesBiasWarning, match=f"{address} is open"):
            bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, scheduler=address, **SMALL)

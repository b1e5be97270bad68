"""The number of cores, inside and outside a worker."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from bayesbias.base.machine.cores import available_cores, one_core


def test_every_core_is_used_outside_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert available_cores() == 7
    with one_core():
        assert available_cores() == 1
        with one_core():
            assert available_cores() == 1
        assert available_cores() == 1, "the outer worker is still there"
    assert available_cores() == 7


def test_an_unknown_number_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_an_error_inside_a_worker_gives_the_cores_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    with pytest.raises(ZeroDivisionError), one_core():
        raise ZeroDivisionError
    assert available_cores() == 7


def test_a_worker_of_one_thread_restricts_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    with ThreadPoolExecutor(1) as pool, one_core():
        assert pool.submit(available_cores).result() == 7

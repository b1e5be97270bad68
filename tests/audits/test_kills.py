"""A study that is killed goes on, and its table is that of an undisturbed run, byte for byte."""

import pytest

from tests.audits.kills import disturbed


@pytest.mark.slow
def test_a_worker_the_scheduler_and_the_client_are_killed() -> None:
    assert disturbed(3, seed=1, cells=6).total() >= 2


@pytest.mark.truth
def test_twenty_kills() -> None:
    assert disturbed(20, seed=1).total() >= 15

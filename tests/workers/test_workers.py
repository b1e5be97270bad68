"""What every worker does, and this process as one: cores, and errors as texts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bayesbias as bb
from bayesbias.base.machine import available_cores
from bayesbias.workers.cells import Answer, package_version
from bayesbias.workers.workers import Workers, outcome, started_once, this_process
from tests.audits import pets


@dataclass(frozen=True)
class CoresCell:
    """A cell that answers how many cores there are."""

    digest: str
    source: str = "E"

    def answer(self, source: bb.Embedding) -> Answer:
        return Answer({}, {"digest": self.digest, "cores": available_cores(), "source": source.name})


def test_this_process_answers_in_order_with_one_core_or_all() -> None:
    cells = [CoresCell("a"), CoresCell("b"), CoresCell("c")]
    for every_core, cores in ((False, 1), (True, os.cpu_count())):
        with this_process(every_core=every_core) as team:
            ended = list(team.outcomes({"E": pets.embedding(1)}, cells))
        assert [cell.digest for cell, _ in ended] == ["a", "b", "c"]
        facts = [answer.facts for _, answer in ended if isinstance(answer, Answer)]
        assert [fact["cores"] for fact in facts] == [cores] * 3


def test_an_error_is_the_text_of_its_cell() -> None:
    class Failing(CoresCell):
        def answer(self, source: bb.Embedding) -> Answer:
            raise ZeroDivisionError("no luck")

    source = pets.embedding(1)
    assert outcome(source, Failing("a"), package_version()) == "ZeroDivisionError: no luck"
    assert "0.0.0" in str(outcome(source, CoresCell("a"), "0.0.0"))


def test_workers_that_are_shared_start_once_and_only_if_needed() -> None:
    started: list[str] = []

    @contextmanager
    def start() -> Iterator[Workers]:
        started.append("start")
        with this_process() as team:
            yield team
        started.append("end")

    with started_once(start):
        pass
    assert started == []
    with started_once(start) as shared:
        with shared() as first, shared() as second:
            assert first is second
        with shared() as third:
            assert third is first
        assert started == ["start"]
    assert started == ["start", "end"]

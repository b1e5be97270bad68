"""What every worker does, and this process as one: cores, answers that others need, and errors as texts."""

import os
from dataclasses import dataclass

import bayesbias as bb
from bayesbias.base.machine.cores import available_cores
from bayesbias.workers.cells import Answer, package_version
from bayesbias.workers.workers import outcome, this_process
from tests.cells import pets


@dataclass(frozen=True)
class CoresCell:
    """A cell that answers how many cores there are, and which cell was answered before it."""

    digest: str
    after: str = ""
    source: str = "E"

    def answer(self, source: bb.Embedding, before: Answer | None = None) -> Answer:
        return Answer({}, {"digest": self.digest, "cores": available_cores(), "before": before and before.facts})

    def accepts(self, answer: Answer) -> bool:
        return True


def test_this_process_answers_in_order_with_one_core_or_all() -> None:
    cells = [CoresCell("a"), CoresCell("b", after="a"), CoresCell("c", after="kept")]
    for every_core, cores in ((False, 1), (True, os.cpu_count())):
        with this_process(every_core=every_core) as team:
            ended = list(team.outcomes({"E": pets.embedding(1)}, cells, {"kept": Answer({}, {"digest": "kept"})}))
        assert [cell.digest for cell, _ in ended] == ["a", "b", "c"]
        facts = [answer.facts for _, answer in ended if isinstance(answer, Answer)]
        assert [fact["cores"] for fact in facts] == [cores] * 3
        assert [fact["before"] and fact["before"]["digest"] for fact in facts] == [None, "a", "kept"]


def test_an_error_is_the_text_of_its_cell() -> None:
    class Failing(CoresCell):
        def answer(self, source: bb.Embedding, before: Answer | None = None) -> Answer:
            raise ZeroDivisionError("no luck")

    source = pets.embedding(1)
    assert outcome(source, Failing("a"), package_version()) == "ZeroDivisionError: no luck"
    assert outcome(source, CoresCell("a"), package_version(), "StudyError: lost") == "StudyError: lost"
    assert "0.0.0" in str(outcome(source, CoresCell("a"), "0.0.0"))

"""The outcomes of cells in this process: answers in order, and errors that stop no other cell."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.cores import available_cores
from bayesbias.cells.cells import Answer, package_version
from bayesbias.cells.workers import outcome, outcome_on_one_core, this_process
from bayesbias.errors import MeasureError

SOURCE = bb.Embedding(("he", "she"), np.eye(2), name="E")


@dataclass(frozen=True)
class MadeCell:
    """A cell that answers how many cores there are, and which cell was answered before it."""

    digest: str
    after: str = ""
    error: type[Exception] | None = None
    embedding: str = "E"

    def answer(self, source: bb.Embedding, before: Answer | None = None) -> Answer:
        if self.error is not None:
            raise self.error("no answer")
        return Answer({}, {"digest": self.digest, "cores": available_cores(), "before": before and before.facts})

    def accepts(self, answer: Answer) -> bool:
        return True


def outcomes(*cells: MadeCell, kept: Mapping[str, Answer] | None = None) -> dict[str, object]:
    with this_process() as workers:
        assert workers.count == 1
        assert workers.memory > 0
        return {cell.digest: ended for cell, ended in workers.outcomes({"E": SOURCE}, cells, kept or {})}


def test_cells_are_answered_in_order_and_see_the_cell_that_they_need() -> None:
    ended = outcomes(MadeCell("a"), MadeCell("b", after="a"), MadeCell("c"))
    assert list(ended) == ["a", "b", "c"]
    facts = {digest: answer.facts for digest, answer in ended.items() if isinstance(answer, Answer)}
    assert facts["b"]["before"] == facts["a"]
    assert facts["c"]["before"] is None


def test_a_kept_answer_stands_for_the_cell_that_is_needed() -> None:
    ended = outcomes(MadeCell("b", after="a"), kept={"a": Answer({}, {"kept": True})})
    answer = ended["b"]
    assert isinstance(answer, Answer)
    assert answer.facts["before"] == {"kept": True}


def test_an_error_ends_its_cell_and_those_that_need_it_alone() -> None:
    ended = outcomes(
        MadeCell("a", error=MeasureError), MadeCell("b", after="a"), MadeCell("c", error=KeyError), MadeCell("d")
    )
    assert ended["a"] == ended["b"] == "no answer"
    assert ended["c"] == "KeyError: 'no answer'"
    assert isinstance(ended["d"], Answer)


def test_another_version_of_the_package_is_refused() -> None:
    text = outcome(SOURCE, MadeCell("a"), "0.0.0")
    assert isinstance(text, str)
    assert text.startswith("ClusterError: ")
    assert package_version() in text
    assert "0.0.0" in text


def test_a_cell_has_one_core_or_every_core() -> None:
    alone = outcome_on_one_core(SOURCE, MadeCell("a"), package_version())
    assert isinstance(alone, Answer)
    assert alone.facts["cores"] == 1
    with this_process(every_core=True) as workers:
        ((_, answer),) = workers.outcomes({"E": SOURCE}, [MadeCell("a")], {})
    assert isinstance(answer, Answer)
    assert answer.facts["cores"] == available_cores()


@pytest.mark.parametrize("error", [MeasureError, ValueError])
def test_errors_are_texts(error: type[Exception]) -> None:
    text = outcome(SOURCE, MadeCell("a", error=error), package_version())
    assert isinstance(text, str)
    assert text.endswith("no answer")

"""Cells of a report on debiasing: their hashes stand for all that enters an answer."""

from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from bayesbias.audits.debias_cell import DebiasCell, RequestedScore
from tests import third_group
from tests.audits import debiased_pets as pets
from tests.audits.pets import study


def test_all_that_enters_an_answer_enters_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"

    def digest(pairs: str = "cat dog 9\n", **changes: Any) -> str:
        path.write_text(pairs)
        chosen: dict[str, Any] = {
            "embedding": "E1",
            "vectors": "0" * 16,
            "method": "soft",
            "chosen": bb.debias.SoftDebias(),
            "sets": pets.SETS,
            "studies": (study(),),
            "scores": (RequestedScore("word_similarity", "word_similarity (pairs)", path),),
            "max_lost": 0.2,
            "hdi_prob": 0.89,
            "draws": 100,
            "random_seed": 1,
        }
        return DebiasCell(**chosen | changes).digest

    others = [
        digest(vectors="1" * 16),
        digest(chosen=bb.debias.SoftDebias(strength=5.0)),
        digest(sets=bb.debias.DebiasWords("kind", [["she", "he"]])),
        digest(studies=(study("other"),)),
        digest(pairs="cat dog 8\n"),
        digest(scores=()),
        digest(draws=200),
        digest(hdi_prob=0.5),
        digest(random_seed=2),
        digest(max_lost=0.3),
    ]
    assert len({digest(), *others}) == 1 + len(others)
    assert digest(embedding="another name") == digest()


def test_a_group_without_a_side_is_named_and_moves_no_contrast() -> None:
    """The same numbers as without the third group, before and after debiasing, with real vectors."""
    cells, source = {}, third_group.vectors()
    for third in ("", "none"):
        common = {"embedding": "E1", "vectors": "0" * 16, "sets": bb.debias.DebiasWords("gender", [["she", "he"]])}
        settings = {"max_lost": 0.2, "hdi_prob": 0.89, "draws": 200, "random_seed": 1, "scores": ()}
        before = DebiasCell(
            **common, **settings, method="original", chosen=None, studies=(third_group.study(third),)
        ).answer(source)
        after = DebiasCell(
            **common,
            **settings,
            method="linear",
            chosen=bb.debias.LinearProjection(),
            studies=(third_group.study(third),),
            before=before,
        ).answer(source)
        cells[third] = before, after
    (named,) = {text for _, text in cells["none"][0].warned}
    assert "people has no associated list" in named
    for place, columns in enumerate((["observed"], ["observed", "change_observed"])):
        without, beside = (cells[third][place].frames["rows"] for third in ("", "none"))
        np.testing.assert_allclose(beside[columns], without[columns])

"""What the guide shows of models runs: with a few pairs, and a small transformer."""

import re
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from tests.nli.made import PAIR_VECTORS, animal_pairs
from tests.nli.test_hugging_face import built

pytestmark = [pytest.mark.extras, pytest.mark.slow]
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "downstream.md"


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_the_blocks_about_models_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = animal_pairs().assign(split="TRAIN")
    many = [pairs.assign(premise=pairs["premise"] + f" {number}") for number in range(3)]
    rows = [*many, pairs.assign(split="TEST")]
    lines = ["premise,hypothesis,label,split"]
    lines += [",".join(row) for frame in rows for row in frame.itertuples(index=False, name=None)]
    Path("sick.csv").write_text("\n".join(lines) + "\n")
    bb.write_embedding(PAIR_VECTORS, "vectors.txt")
    built(tmp_path / "folder_of_the_model", longest=64)
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    names: dict[str, Any] = {"bb": bb}
    for block in blocks:
        exec(block, names)
        assert len(names["scores"]) == 15_744
    assert Path("model.safetensors").is_file()

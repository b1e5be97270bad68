"""The extra: what needs it says so, and nothing else imports it."""

import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.nli.tensor_files import write_tensors
from tests.nli.made import PAIR_VECTORS, animal_pairs


def test_what_needs_pytorch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MeasureError, match=r" torch, .* 'bayesbias\[nli\]'"):
        bb.nli.train(PAIR_VECTORS, animal_pairs())


def test_what_needs_safetensors_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(MeasureError, match="safetensors"):
        write_tensors(tmp_path / "one", "model", {}, {}, overwrite=False)


def test_test_sets_scores_and_pairs_need_no_extra() -> None:
    code = (
        "import sys, bayesbias as bb\n"
        "bb.nli.test_set('explicit'); bb.nli.train; bb.nli.pipeline; bb.nli.load\n"
        "print([name for name in ('torch', 'transformers', 'safetensors') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

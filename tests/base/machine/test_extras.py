"""Optional dependencies: what is installed is returned; of what is not, the error names the extra."""

import math
import sys

import pytest

from bayesbias.base.machine.extras import require
from bayesbias.errors import FitError, MeasureError


def test_a_module_that_is_there_is_returned() -> None:
    assert require("math", "none", "Counting") is math


@pytest.mark.parametrize("module", ["sklearn", "sklearn.svm"])
def test_the_error_names_purpose_package_extra_and_advice(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FitError, match=r"^RNSB .*'bayesbias\[classifiers\]'\. Or wait\.$"):
        require(module, "classifiers", "RNSB", error=FitError, advice="Or wait.")


def test_what_brings_pytorch_says_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MeasureError, match="5 GB"):
        require("torch", "nli", "A model")
    with pytest.raises(MeasureError, match=r"\[cluster\]'\.$"):
        require("torch", "cluster", "A model")


def test_a_module_that_is_broken_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr("bayesbias.base.machine.extras.import_module", broken)
    with pytest.raises(MeasureError, match="libgomp"):
        require("torch", "nli", "A model")

"""Names that are loaded when they are first used, of a package made for the test."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

INIT = """
from bayesbias.base.lazy import lazy_names
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "made_for_lazy"
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT)
    (folder / "__init__.pyi").write_text("from .shapes import square, circle\n")
    (folder / "shapes.py").write_text("square = 4\ncircle = 0\nhidden = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("made_for_lazy")
    for name in [name for name in sys.modules if name.startswith("made_for_lazy")]:
        del sys.modules[name]


def test_a_module_is_imported_when_one_of_its_names_is_used(package: ModuleType) -> None:
    assert "made_for_lazy.shapes" not in sys.modules
    assert package.square == 4
    assert "made_for_lazy.shapes" in sys.modules


def test_names_are_those_of_the_stub(package: ModuleType) -> None:
    assert sorted(package.__all__) == dir(package) == ["circle", "square"]
    assert not hasattr(package, "hidden")


def test_a_misspelt_name_is_an_error_with_a_hint(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"'made_for_lazy'.*'sqare'.*'square'"):
        _ = package.sqare

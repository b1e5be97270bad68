"""Names that are loaded when they are first used, of a package made for the test."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bayesbias.base.lazy_loading import registered

INIT = """
from bayesbias.base.lazy_loading import lazy_names
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


CLASS = "class Shape:\n    name = {!r}\n"


def is_shape(value: object) -> bool:
    return getattr(value, "__name__", "") == "Shape"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "made_for_registries"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text(CLASS.format("square"))
    (folder / "b.py").write_text("import sys\nfrom made_for_registries.c import Shape\n")
    (folder / "c.py").write_text(CLASS.format("circle"))
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("made_for_registries")]:
        del sys.modules[name]


def test_what_a_module_defines_or_imports_is_there_once_in_the_order_of_names(room: Path) -> None:
    assert list(registered(is_shape, room.name)) == ["circle", "square"]


def test_a_name_that_is_taken_is_an_error_with_the_module(room: Path) -> None:
    (room / "d.py").write_text(CLASS.format("square"))
    with pytest.raises(ValueError, match=r"made_for_registries\.d: .*'square'"):
        registered(is_shape, room.name)

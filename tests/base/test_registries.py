"""Registries: what modules define is there by name, and no name twice."""

import sys
from pathlib import Path

import pytest

from bayesbias.base.registries import registered

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

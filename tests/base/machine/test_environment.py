"""The environment after libraries that change it."""

import os
from pathlib import Path

import pytest

from bayesbias.base.machine.environment import same_environment
from bayesbias.base.machine.extras import require


def test_new_changed_and_removed_variables_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHANGED", "before")
    monkeypatch.setenv("REMOVED", "before")
    before = dict(os.environ)
    with pytest.raises(ImportError):
        _changes_and_fails()
    assert dict(os.environ) == before


@same_environment()
def _changes_and_fails() -> None:
    os.environ |= {"NEW": "1", "CHANGED": "after"}
    del os.environ["REMOVED"]
    raise ImportError("a library is broken")


def test_what_an_optional_library_sets_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets_a_variable.py").write_text("import os\nos.environ['SET_BY_A_LIBRARY'] = 'True'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert require("sets_a_variable", "classifiers", "A test").os is os
    assert "SET_BY_A_LIBRARY" not in os.environ

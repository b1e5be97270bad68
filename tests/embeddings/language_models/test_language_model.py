"""Pieces of words in contexts, with a tokenizer of known pieces; limits and hashes of models."""

import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.device_loop import device_loop
from bayesbias.embeddings.language_models.language_model import (
    LanguageModel,
    _longest,
    check_tokenizer,
    folder_digest,
    library_errors,
    load_language_model,
    load_transformer,
    masked_log_probabilities,
    mean_piece_vectors,
    offline,
)
from bayesbias.embeddings.language_models.pieces import Pieces, flat_rows
from bayesbias.errors import EmbeddingError, InputFileError, NotEnoughMemoryError
from tests.base.files.test_files_that_change import before_opening
from tests.embeddings.language_models.toy_models import save_masked

TEXT = "the splitter saw"
PIECES = ("[CLS]", "the", " split", "ter", " saw", "[SEP]")


class Tokenizer:
    """Returns the pieces of one text; pieces include the spaces before them."""

    unk_token_id = 3

    def __call__(self, texts: list[str], **_: object) -> dict[str, Any]:
        assert texts == [TEXT] or texts == [TEXT[:12]]
        spans = [(0, 0), (0, 3), (3, 9), (9, 12), (12, 16), (0, 0)]
        shown = [place for place, (_, end) in enumerate(spans) if end <= len(texts[0])]
        return {"input_ids": [shown], "offset_mapping": [[spans[place] for place in shown]]}

    def convert_ids_to_tokens(self, numbers: list[int]) -> list[str]:
        return [PIECES[number] for number in numbers]


def model() -> LanguageModel:
    return LanguageModel("made", None, Tokenizer(), None, 20, "")  # type: ignore[arg-type]  # no device is needed


def test_a_word_is_split_as_after_another_word() -> None:
    assert model().split("splitter") == [" split", "ter"]
    assert model().unknown == 3


def test_positions_after_the_padding_limit_a_model() -> None:
    """RoBERTa has 514 positions, counts from its padding's id 1 on, and reads 512 pieces."""

    def limit(positions: int | None, padding: int | None, length: int = 10**30) -> int:
        table = SimpleNamespace(padding_idx=padding)
        network = SimpleNamespace(
            config=SimpleNamespace(max_position_embeddings=positions),
            named_modules=lambda: [("embeddings.word_embeddings", None), ("embeddings.position_embeddings", table)],
        )
        return _longest(network, SimpleNamespace(model_max_length=length))

    assert limit(514, 1) == 512
    assert limit(512, None) == 512
    assert limit(514, 1, length=128) == 128
    assert limit(None, None) == 512


def test_the_hash_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"12")
    first = folder_digest(tmp_path)
    (tmp_path / "README.md").write_text("any")
    assert folder_digest(tmp_path) == first
    (tmp_path / "model.safetensors").write_bytes(b"21")
    changed = folder_digest(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    assert len({first, changed, folder_digest(tmp_path)}) == 3


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


@pytest.mark.extras
def test_a_configuration_without_sizes_does_not_make_a_large_model(tmp_path: Path) -> None:
    """Sizes that are missing are those of BERT: 110 million numbers, which no file has."""
    folder = save_masked(tmp_path / "masked")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "architectures": ["BertForMaskedLM"]}))
    with pytest.raises(InputFileError, match=r"describes a model of 1\d\d,\d\d\d,\d\d\d numbers"):
        load_language_model(folder, predicts="masked")


@pytest.mark.extras
@pytest.mark.parametrize(
    ("kind", "setting", "value"),
    [
        ("albert", "inner_group_num", 10**7),
        ("canine", "num_hash_functions", 10**7),
        ("mobilebert", "num_feedforward_networks", 10**7),
        ("xmod", "languages", list(map(str, range(100_000)))),
    ],
)
def test_a_configuration_does_not_make_parts_without_end(tmp_path: Path, kind: str, setting: str, value: Any) -> None:
    folder = save_masked(tmp_path / "masked")
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_type": kind, setting: value}))
    with pytest.raises(InputFileError, match=r"describes a model of more than 1\d,\d\d\d parts"):
        load_language_model(folder)


@pytest.mark.extras
def test_a_special_piece_that_is_looked_up_for_ever_is_an_error(tmp_path: Path) -> None:
    folder = save_masked(tmp_path / "masked")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"unk_token": {"__type": "AddedToken", "content": ""}}))
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        load_language_model(folder, predicts="masked")


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


def test_a_limit_that_is_no_number_is_refused(tmp_path: Path) -> None:
    class Unlimited(list[int]):
        model_max_length = "x"

    with pytest.raises(InputFileError, match="model_max_length: 'x'"):
        check_tokenizer(tmp_path, Unlimited(), SimpleNamespace())


def test_a_panic_of_a_library_is_an_error_and_an_interrupt_stays_one() -> None:
    panic = type("PanicException", (BaseException,), {})
    for raised, expected in (
        (panic("allocation failed"), EmbeddingError),
        (RuntimeError("allocation failed"), EmbeddingError),
        (InputFileError("of ours"), InputFileError),
        (MemoryError(), MemoryError),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory"), NotEnoughMemoryError),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), NotEnoughMemoryError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ):
        with pytest.raises(expected) as caught, library_errors("m fails", EmbeddingError, "Download it again."):
            raise raised
        if expected is EmbeddingError:
            assert str(caught.value) == "m fails: allocation failed. Download it again."


@pytest.mark.extras
def test_nothing_is_downloaded_while_a_model_is_read() -> None:
    from huggingface_hub import constants

    before = constants.is_offline_mode()
    with offline():
        assert constants.is_offline_mode()
    assert constants.is_offline_mode() == before


MASK, PADDING = 4, 1
ROWS = [[5, 6, 7, 8], [5, 9, 10, 11, 12, 6], [5, 7], [5, 13, 14, 6, 9, 9, 9, 8]]
PLACES = [1, 4, 1, 7]


def made_model(kind: str) -> LanguageModel:
    import torch
    import transformers

    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
    if kind == "DistilBert":
        small = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 20}
    if kind in ("Albert", "Electra"):
        small |= {"embedding_size": 12}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=15, max_position_embeddings=20, pad_token_id=PADDING, bos_token_id=0, eos_token_id=2, **small
    )
    torch.manual_seed(2)
    model = getattr(transformers, f"{kind}ForMaskedLM")(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
    tokenizer = SimpleNamespace(mask_token_id=MASK, pad_token_id=PADDING)
    return LanguageModel(kind, model, tokenizer, device_loop("cpu", None, 20), 20, "")


@pytest.mark.extras
@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Albert", "DistilBert", "Electra"])
def test_masked_words_and_vectors_are_those_of_single_rows(kind: str) -> None:
    import torch

    made = made_model(kind)
    spans = [range(place, place + 1) for place in PLACES]
    spans[3] = range(2, 5)
    ids, bounds = flat_rows(ROWS)
    rows = Pieces(ids, bounds, np.zeros((len(ids), 2), dtype=np.int64))
    log_probabilities = masked_log_probabilities(made, rows, np.array(PLACES))
    vectors = mean_piece_vectors(made, rows, np.array([(span.start, span.stop) for span in spans]), layer=-1)
    inner: list[Any] = []
    for row, place, span in zip(ROWS, PLACES, spans, strict=True):
        with torch.no_grad():
            masked = torch.tensor([[*row[:place], MASK, *row[place + 1 :]]])
            scores = torch.log_softmax(made.model(input_ids=masked).logits[0, place], dim=-1)
            hidden = made.model(input_ids=torch.tensor([row]), output_hidden_states=True).hidden_states
        assert log_probabilities[len(inner)] == pytest.approx(scores[row[place]].item(), abs=1e-5)
        inner.append(hidden[-1][0, span.start : span.stop].mean(dim=0).numpy())
    np.testing.assert_allclose(vectors, inner, atol=1e-5)
    assert not made.model.get_output_embeddings()._forward_pre_hooks


@pytest.mark.extras
def test_a_model_that_changes_while_it_is_checked_or_read_is_refused(tmp_path: Path) -> None:
    folder = save_masked(tmp_path / "model")
    path = folder / "config.json"
    purpose: dict[str, Any] = {"extra": "nli", "purpose": "A model", "absent": EmbeddingError, "broken": EmbeddingError}
    for load in (load_language_model, partial(load_transformer, kind="AutoModelForMaskedLM", **purpose)):
        with before_opening(path, 0, path.touch) as opened:
            load(folder)
        for number in (1, opened[0]):  # by a check, and by the library or for the hash
            with before_opening(path, number, path.touch), pytest.raises(InputFileError, match="model changed while"):
                load(folder)

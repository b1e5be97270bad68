"""Pieces of words in contexts, with a tokenizer of known pieces; limits and hashes of models."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bayesbias.embeddings.contextual.language_model import LanguageModel, Pieces, _longest, folder_digest

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
    return LanguageModel("made", None, Tokenizer(), "cpu", 20, "")


def test_pieces_of_words_without_their_spaces() -> None:
    (pieces,) = model().pieces([TEXT])
    assert pieces.offsets == [(0, 0), (0, 3), (4, 9), (9, 12), (13, 16), (0, 0)]
    assert pieces.row_range(4, 12) == range(2, 4)
    assert pieces.row_range(13, 16) == range(4, 5)
    assert pieces.row_range(3, 4) == range(0)
    assert [pieces.is_whole(pieces.row_range(*span), *span) for span in ((0, 3), (4, 12), (4, 8))] == [
        True,
        False,
        False,
    ]
    assert Pieces([7], [(0, 0)]).row_range(0, 5) == range(0)


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

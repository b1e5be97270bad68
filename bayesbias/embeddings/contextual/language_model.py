"""Language models from local folders, and the pieces (tokens) into which they split words in contexts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import printable
from bayesbias.embeddings.contextual.model_folder import folder_digest
from bayesbias.embeddings.contextual.transformer import chosen_device, load_transformer
from bayesbias.errors import ArgumentError, EmbeddingError, name_some

_LARGEST_LIMIT = 100_000  # tokenizers without a limit have a far larger number


@dataclass(frozen=True)
class Pieces:
    """A tokenised context: ids of its pieces, and where each starts and ends (exclusive)."""

    numbers: list[int]
    offsets: list[tuple[int, int]]

    def row_range(self, start: int, end: int) -> range:
        """Return the places of the pieces of the word between two characters."""
        inside = [place for place, (first, last) in enumerate(self.offsets) if first < end and last > start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def is_whole(self, places: range, start: int, end: int) -> bool:
        """Return whether a word is exactly one piece."""
        return len(places) == 1 and self.offsets[places[0]] == (start, end)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A model with its tokenizer, from `load_language_model`.

    `longest` is the largest number of pieces that it can read, `digest` a hash of the files in its folder.
    """

    name: str
    model: Any
    tokenizer: Any
    device: str
    longest: int
    digest: str

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the pieces of contexts, special pieces at their starts and ends included."""
        encoded = self.tokenizer(
            list(texts), return_offsets_mapping=True, return_attention_mask=False, return_token_type_ids=False,
            verbose=False,
        )  # fmt: skip
        return [
            Pieces(numbers, [_trimmed(text, *span) for span in spans])
            for text, numbers, spans in zip(texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
        ]

    def split(self, word: str) -> list[str]:
        """Return the pieces of a word after another word; more than one if the model splits it."""
        (pieces,) = self.pieces([f"the {word}"])
        numbers = [pieces.numbers[place] for place in pieces.row_range(4, 4 + len(word))]
        return list(self.tokenizer.convert_ids_to_tokens(numbers))

    @cached_property
    def unknown(self) -> int | None:
        """The id of the piece for unknown text."""
        number: int | None = self.tokenizer.unk_token_id
        return number


def load_language_model(
    model: str | os.PathLike[str], *, masked: bool = False, device: str | None = None
) -> LanguageModel:
    """Return a model from a folder, without downloads and without running any code or pickle in the folder.

    Parameters
    ----------
    model
        A folder that transformers' ``save_pretrained`` wrote for a model and its tokenizer.
    masked
        Whether the model must predict masked words.
    device
        Device such as ``"cpu"`` or ``"cuda"``; None takes a GPU if there is one.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, the model cannot be loaded, or it predicts no masked words.
    InputFileError
        If there is no such folder.
    """
    folder = check_path(model, "model")
    loaded, tokenizer, missing = load_transformer(
        folder,
        "AutoModelForMaskedLM" if masked else "AutoModel",
        extra="contextual",
        purpose="A language model",
        absent=EmbeddingError,
        broken=EmbeddingError,
    )
    place = chosen_device(device, ArgumentError)
    if masked and missing:
        raise EmbeddingError(
            f"The model in {folder} has no masked head: its file lacks {name_some(missing, 3)}. Take a model that was "
            "trained to predict masked words, such as one of BERT's kind saved as ...ForMaskedLM."
        )
    # The pooler is not used, and most files lack it; transformers would initialise other weights at random.
    if lacking := [name for name in missing if not name.startswith("pooler.")]:
        raise EmbeddingError(
            f"The model in {folder} is incomplete: its file lacks {name_some(lacking, 3)}, which its config.json "
            "needs. Save model and configuration together, with save_pretrained, or download both again."
        )
    if masked and tokenizer.mask_token_id is None:
        raise EmbeddingError(f"The tokenizer in {folder} has no mask. Give a model that predicts masked words.")
    if not tokenizer.is_fast:
        raise EmbeddingError(
            f"The tokenizer in {folder} does not return the places of its pieces. Save it as a fast tokenizer."
        )
    loaded.to(place)
    name = printable(folder.resolve().name)
    return LanguageModel(name, loaded, tokenizer, str(place), _longest(loaded, tokenizer), folder_digest(folder))


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    """Return where a piece starts and ends without leading spaces, which some tokenizers include."""
    while first < last and text[first].isspace():
        first += 1
    return first, last


def _longest(model: Any, tokenizer: Any) -> int:
    """Return how many pieces a model can read; some models number positions from the padding's id on."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < _LARGEST_LIMIT else []
    if limit := getattr(model.config, "max_position_embeddings", None):
        tables = (module for name, module in model.named_modules() if name.endswith("position_embeddings"))
        padding = next((getattr(table, "padding_idx", None) for table in tables), None)
        limits.append(limit - (0 if padding is None else padding + 1))
    return min(limits, default=512)

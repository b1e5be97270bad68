"""A language model from a local folder, and the pieces that it makes of words in their contexts."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path, check_type
from bayesbias.base.files import printable
from bayesbias.errors import ArgumentError, BayesBiasError, EmbeddingError, InputFileError, library_reason, name_some

_NEEDED = ("safetensors", "torch", "transformers")
# What of a folder makes the model: weights, settings, and what its tokenizer is made of.
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")
_FEW = 100_000  # a tokenizer without a limit names a number far beyond


@dataclass(frozen=True)
class Pieces:
    """A context as a model reads it: numbers of its pieces, and of each its first and last character + 1."""

    numbers: list[int]
    offsets: list[tuple[int, int]]

    def of(self, start: int, end: int) -> range:
        """Return the places of the pieces that a word, from one character to another, is made of."""
        inside = [place for place, (first, last) in enumerate(self.offsets) if first < end and last > start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def is_whole(self, places: range, start: int, end: int) -> bool:
        """Whether a word is one piece, and the piece holds nothing else."""
        return len(places) == 1 and self.offsets[places[0]] == (start, end)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A model with its tokenizer, as `load_language_model` loads it.

    `longest` is how many pieces it reads at a time, `digest` a hash of the files of its folder.
    """

    name: str
    model: Any
    tokenizer: Any
    device: str
    longest: int
    digest: str

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the pieces of contexts, those that begin and end every text included."""
        found = self.tokenizer(
            list(texts), return_offsets_mapping=True, return_attention_mask=False, return_token_type_ids=False,
            verbose=False,
        )  # fmt: skip
        offsets = found["offset_mapping"]
        return [
            Pieces(numbers, [_trimmed(text, *span) for span in spans])
            for text, numbers, spans in zip(texts, found["input_ids"], offsets, strict=True)
        ]

    def split(self, word: str) -> list[str]:
        """Return the pieces of a word that follows another: more than one if the model splits it."""
        (found,) = self.pieces([f"the {word}"])
        numbers = [found.numbers[place] for place in found.of(4, 4 + len(word))]
        return list(self.tokenizer.convert_ids_to_tokens(numbers))

    @cached_property
    def unknown(self) -> int | None:
        """The number of the piece that stands for what the model does not know."""
        number: int | None = self.tokenizer.unk_token_id
        return number


def load_language_model(
    model: str | os.PathLike[str], *, masked: bool = False, device: str | None = None
) -> LanguageModel:
    """Load a model from a folder; nothing is downloaded, and no code or pickle of the folder is run.

    Parameters
    ----------
    model
        A folder that transformers' ``save_pretrained`` wrote for a model and its tokenizer.
    masked
        Whether it must be one that predicts masked words.
    device
        ``"cpu"``, ``"cuda"`` and so on; None takes a graphics card if there is one.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, the model cannot be loaded, or it predicts no masked words.
    InputFileError
        If there is no such folder.
    """
    folder = check_path(model, "model")
    if not (folder / "config.json").is_file():
        raise InputFileError(
            f"{folder} is no folder of a language model: it holds no config.json. Save one there with transformers' "
            "save_pretrained, or download its files first."
        )
    check_installed("A language model")
    import torch
    import transformers

    place = _device(device)
    kind = transformers.AutoModelForMaskedLM if masked else transformers.AutoModel
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with _quiet(), _our_errors(folder, masked=masked):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        loaded, facts = kind.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
        )
    if masked and (new := sorted(facts["missing_keys"])):
        raise EmbeddingError(
            f"The model in {folder} has no masked head: its file lacks {name_some(new, 3)}. Take a model that was "
            "trained to predict masked words, such as one of BERT's kind saved as ...ForMaskedLM."
        )
    # A pooler is no part of what is read, and most files lack it; transformers would draw all others at random.
    if lacking := sorted(name for name in facts["missing_keys"] if not name.startswith("pooler.")):
        raise EmbeddingError(
            f"The model in {folder} is not whole: its file lacks {name_some(lacking, 3)}, which its config.json asks "
            "for. Save model and configuration together, with save_pretrained, or download both again."
        )
    if masked and tokenizer.mask_token_id is None:
        raise EmbeddingError(f"The tokenizer in {folder} has no mask. Take a model that predicts masked words.")
    if not tokenizer.is_fast:
        raise EmbeddingError(f"The tokenizer in {folder} does not say where its pieces are. Save it as a fast one.")
    loaded.eval().to(place)
    name = printable(folder.resolve().name)
    return LanguageModel(name, loaded, tokenizer, str(place), _longest(loaded, tokenizer), folder_digest(folder))


def check_installed(what: str) -> None:
    """Raise `EmbeddingError` if torch, transformers or safetensors is not installed."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise EmbeddingError(
            f"{what} needs torch, transformers and safetensors, which are not installed. Install them with: pip "
            "install 'bayesbias[contextual]'."
        )


def folder_digest(folder: Path) -> str:
    """Return the hash of a model's files, by which what it gave is known."""
    content = sha256()
    for path in sorted({path for pattern in _FILES for path in folder.glob(pattern)}):
        content.update(f"{path.name} {path.stat().st_size}\n".encode())
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                content.update(piece)
    return content.hexdigest()


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    """Return where a piece's letters are: some tokenizers count the space before it."""
    while first < last and text[first].isspace():
        first += 1
    return first, last


def _device(device: str | None) -> Any:
    import torch

    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    check_type("device", device, str, "the name of a device, such as 'cpu' or 'cuda'")
    try:
        place = torch.device(device)
        torch.zeros(1, device=place).item()  # the device "meta" has no numbers
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ArgumentError(f"device={device!r} is not there ({library_reason(error)[:-1]}). Take 'cpu'.") from error
    return place


def _longest(model: Any, tokenizer: Any) -> int:
    """Return how many pieces a model reads: some count their places from the number of the padding on."""
    known = [tokenizer.model_max_length] if tokenizer.model_max_length < _FEW else []
    if limit := getattr(model.config, "max_position_embeddings", None):
        tables = (each for name, each in model.named_modules() if name.endswith("position_embeddings"))
        padding = next((getattr(each, "padding_idx", None) for each in tables), None)
        known.append(limit - (0 if padding is None else padding + 1))
    return min(known, default=512)


@contextmanager
def _quiet() -> Iterator[None]:
    """Load without what transformers writes to the terminal: what matters of it is an error of ours."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def _our_errors(folder: Path, *, masked: bool) -> Iterator[None]:
    """Turn whatever a library raises on the files of a stranger into an `EmbeddingError`."""
    try:
        yield
    except (BayesBiasError, MemoryError):
        raise
    except Exception as error:
        wanted = "model that predicts masked words" if masked else "language model"
        raise EmbeddingError(
            f"{folder} cannot be loaded as a {wanted}: {library_reason(error)} Its weights must be .safetensors files, "
            "its tokenizer beside them."
        ) from error

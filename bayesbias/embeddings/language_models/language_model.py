"""Language models from local folders: the pieces into which they split words, and running them on batches."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path, is_count, is_number
from bayesbias.base.files.inputs import printable
from bayesbias.base.machine import check_memory, require
from bayesbias.embeddings.language_models.device_loop import (
    DeviceLoop,
    device_loop,
    lacks_memory,
    padded,
    with_precision,
)
from bayesbias.embeddings.language_models.model_folder import (
    FROM_SAVE,
    Predicts,
    check_model_folder,
    file_states,
    folder_digest,
    stored_shapes,
    unchanged,
)
from bayesbias.embeddings.language_models.pieces import Integers, Pieces, read_pieces
from bayesbias.errors import (
    BayesBiasError,
    EmbeddingError,
    InputFileError,
    NotEnoughMemoryError,
    library_reason,
    name_some,
)

_CLASSES = {None: "AutoModel", "masked": "AutoModelForMaskedLM", "next": "AutoModelForCausalLM"}  # of transformers
_LEAST_SHARE = 0.5  # of a model's vocabulary in its tokenizer: vocabularies are padded, by far less than this
_LARGEST_LIMIT = 100_000  # tokenizers without a limit have a far larger number
# How many times the numbers in its files a model may have: files may lack a head as large as the vocabulary, or a
# decoder. And numbers that do not matter.
_MOST_TIMES, _FEW_NUMBERS = 4, 1 << 24
# How many modules and parameters it may have for each tensor in its files, and how many that take no time.
_PARTS_A_TENSOR, _FEW_PARTS = 16, 10_000


def load_transformer(
    folder: Path, kind: str, *, extra: str, purpose: str, absent: type[BayesBiasError], broken: type[BayesBiasError]
) -> tuple[Any, Any, list[str]]:
    """Return a model, its tokenizer, and the names of the weights that its files lack, which are random.

    Nothing is downloaded, and no code or pickle in the folder is run.

    - `folder`: a folder that transformers' ``save_pretrained`` wrote for a model and its tokenizer.
    - `kind`: class of transformers that loads the model, such as ``"AutoModelForMaskedLM"``.
    - `extra`, `purpose`: extra that installs transformers, and what needs it, for `require`.
    - `absent`, `broken`: class of the error if a library is not installed, and if the model cannot be loaded.

    Raises `InputFileError` if the folder holds no configuration of a model, or names files outside of it, or its
    tokenizer is incomplete. Raises `BayesBiasError` of class `absent` or `broken`.
    """
    if not (folder / "config.json").is_file():
        raise InputFileError(f"{folder} is no folder of a model: it holds no config.json. {FROM_SAVE}")
    files = file_states(folder)
    check_model_folder(folder)
    torch, transformers, _ = (
        require(module, extra, purpose, error=absent) for module in ("torch", "transformers", "safetensors")
    )
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    advice = "Its weights must be .safetensors files, its tokenizer beside them, as save_pretrained writes both."
    with (
        library_errors(f"{folder} cannot be loaded with {kind}", broken, advice),
        offline(),
        quiet_transformers(),
        unchanged(folder, files),
    ):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        for token in ("bos", "mask", "pad", "unk"):  # whose ids are looked up now, so that a wrong one is an error here
            getattr(tokenizer, f"{token}_token_id", None)
        check_weights(folder, kind)
        network, facts = getattr(transformers, kind).from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
        )
    check_tokenizer(folder, tokenizer, network.config)
    return network.eval(), tokenizer, sorted(facts["missing_keys"])


def check_tokenizer(folder: Path, tokenizer: Any, configuration: Any) -> None:
    """Raise `InputFileError` if a tokenizer knows few of the pieces of its model, as without its files, or no limit."""
    longest = getattr(tokenizer, "model_max_length", 0)
    if not is_number(longest):
        raise InputFileError(f"The tokenizer in {folder} has the setting model_max_length: {longest!r:.80}. Remove it.")
    pieces = getattr(getattr(configuration, "text_config", configuration), "vocab_size", None)
    if isinstance(pieces, int) and len(tokenizer) < pieces * _LEAST_SHARE:
        raise InputFileError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} pieces of words, and its model {pieces:,}: most words "
            "would be unknown. Its files, such as tokenizer.json, are missing or incomplete: download the model again."
        )


def check_weights(folder: Path, kind: str) -> None:
    """Raise `InputFileError` if a model has far more numbers or parts than the weights in its folder.

    Sizes that a configuration lacks are those of a large model, of which transformers makes at random what no file has.
    Raises `NotEnoughMemoryError` if what it computes from its settings alone, such as masks, does not fit.
    """
    shapes = stored_shapes(folder)
    if not shapes:  # the library says that there are none
        return
    import torch
    import transformers

    path, stored = folder / "config.json", sum(map(prod, shapes.values()))
    configuration = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    with torch.device("meta"), _few_parts(_PARTS_A_TENSOR * len(shapes) + _FEW_PARTS, path):  # without its numbers
        outline = getattr(transformers, kind).from_config(configuration, trust_remote_code=False)
    check_memory(sum(values.nbytes for values in outline.buffers()), f"{path}: its masks", "Take another model.")
    needed = sum(values.numel() for values in outline.parameters())
    if needed > max(_MOST_TIMES * stored, _FEW_NUMBERS):
        raise InputFileError(
            f"{path} describes a model of {needed:,} numbers, and the weights beside it have {stored:,}. Download the "
            "model again."
        )


@contextmanager
def _few_parts(most: int, path: Path) -> Iterator[None]:
    """Raise `InputFileError` in a model that is made inside once it has more modules and parameters.

    Their counts have other names in each kind of model, such as inner_group_num.
    """
    from torch.nn.modules import module

    parts = count()

    def check(*_: Any) -> None:
        if next(parts) >= most:
            raise InputFileError(
                f"{path} describes a model of more than {most:,} parts, and the weights beside it are of a smaller "
                "one. Download the model again."
            )

    hooks = [
        module.register_module_module_registration_hook(check),
        module.register_module_parameter_registration_hook(check),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def library_errors(what: str, error: type[BayesBiasError], advice: str = "") -> Iterator[None]:
    """Raise what a library raises for a damaged model, which can be anything, as `error`: `what`, reason and advice.

    A lack of memory is no damage. A panic of a library in Rust, such as tokenizers or safetensors, is no `Exception`.
    """
    try:
        yield
    except (MemoryError, BayesBiasError):
        raise
    except BaseException as fault:
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        if lacks_memory(fault):
            raise NotEnoughMemoryError(
                f"{what}: there is too little memory on its device. Give a smaller batch, or a device with more memory."
            ) from fault
        raise error(f"{what}: {library_reason(fault)} {advice}".rstrip()) from fault


@contextmanager
def offline() -> Iterator[None]:
    """Let no library download from the Hugging Face Hub, whatever a model's settings name."""
    if find_spec("huggingface_hub") is None:  # nothing can download
        yield
        return
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers in the terminal while a model is loaded."""
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


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A model with its tokenizer, from `load_language_model`.

    `loop` runs it on its device, `longest` is the largest number of pieces that it can read, `digest` identifies its
    numbers: a hash of the files in its folder, and the precision if it is not float32.
    """

    name: str
    model: Any
    tokenizer: Any
    loop: DeviceLoop
    longest: int
    digest: str

    def pieces(self, texts: Sequence[str]) -> Pieces:
        """Return the pieces of contexts, special pieces at their starts and ends included."""
        if not texts:  # which tokenizers refuse
            return read_pieces([], [], [])
        with self.errors():
            encoded = self.tokenizer(
                list(texts), return_offsets_mapping=True, return_attention_mask=False, return_token_type_ids=False,
                verbose=False,
            )  # fmt: skip
        return read_pieces(texts, encoded["input_ids"], encoded["offset_mapping"])

    def errors(self) -> AbstractContextManager[None]:
        """Raise what the libraries raise for a damaged model as `EmbeddingError`."""
        return library_errors(f"{self.name} fails", EmbeddingError, "Download the model again.")

    def split(self, word: str) -> list[str]:
        """Return the pieces of a word after another word; more than one if the model splits it."""
        pieces = self.pieces([f"the {word}"])
        ((first, last),) = pieces.spans(np.zeros(1, dtype=np.int64), np.array([[4, 4 + len(word)]]))
        return list(self.tokenizer.convert_ids_to_tokens(pieces.ids[first:last].tolist()))

    def run(
        self,
        forward: Callable[[dict[str, Any], Any], Any],
        rows: Pieces,
        beside: Integers,
        advance: Callable[[int], None] = lambda _: None,
    ) -> NDArray[Any]:
        """Return what `forward` gives for texts: see `DeviceLoop.run`."""
        features = padded(rows.lengths, {"input_ids": rows.ids}, {"input_ids": self.tokenizer.pad_token_id or 0})
        with self.errors():
            return self.loop.run(forward, features, beside=beside, advance=advance)

    @cached_property
    def unknown(self) -> int | None:
        """The id of the piece for unknown text."""
        number: int | None = self.tokenizer.unk_token_id
        return number


def load_language_model(
    model: str | os.PathLike[str],
    *,
    predicts: Predicts | None = None,
    device: str | None = None,
    precision: str | None = None,
    batch: int | None = None,
) -> LanguageModel:
    """Return a model from a folder, without downloads and without running any code or pickle in the folder.

    - `model`: a folder that transformers' ``save_pretrained`` wrote for a model and its tokenizer.
    - `predicts`: what the model must predict, masked or next words; None for vectors alone.
    - `device`, `precision`, `batch`: for `device_loop`.

    Raises `EmbeddingError` if torch or transformers is not installed, the model cannot be loaded, or it does not
    predict such words. Raises `InputFileError` if there is no such folder.
    """
    folder = check_path(model, "model")
    files = file_states(folder)
    loaded, tokenizer, missing = load_transformer(
        folder,
        _CLASSES[predicts],
        extra="contextual",
        purpose="A language model",
        absent=EmbeddingError,
        broken=EmbeddingError,
    )
    loop = device_loop(device, precision, batch)
    if predicts and missing:
        like = "BERT's kind saved as ...ForMaskedLM" if predicts == "masked" else "GPT-2's kind saved as ...LMHeadModel"
        raise EmbeddingError(
            f"The model in {folder} has no head for {predicts} words: its file lacks {name_some(missing, 3)}. Take a "
            f"model that was trained to predict {predicts} words, such as one of {like}."
        )
    # The pooler is not used, and most files lack it; transformers would initialise other weights at random.
    if lacking := [name for name in missing if not name.startswith("pooler.")]:
        raise EmbeddingError(
            f"The model in {folder} is incomplete: its file lacks {name_some(lacking, 3)}, which its config.json "
            "needs. Save model and configuration together, with save_pretrained, or download both again."
        )
    if predicts == "masked" and tokenizer.mask_token_id is None:
        raise EmbeddingError(f"The tokenizer in {folder} has no mask. Give a model that predicts masked words.")
    if not tokenizer.is_fast:
        raise EmbeddingError(
            f"The tokenizer in {folder} does not return the places of its pieces. Save it as a fast tokenizer."
        )
    loop.place(loaded)
    name = printable(folder.resolve().name)
    with unchanged(folder, files):
        digest = with_precision(folder_digest(folder), loop.precision)
    return LanguageModel(name, loaded, tokenizer, loop, _longest(loaded, tokenizer), digest)


def _longest(model: Any, tokenizer: Any) -> int:
    """Return how many pieces a model can read; some models number positions from the padding's id on."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < _LARGEST_LIMIT else []
    limit = getattr(model.config, "max_position_embeddings", None)
    if is_count(limit) and limit:
        tables = (module for name, module in model.named_modules() if name.endswith("position_embeddings"))
        padding = next((getattr(table, "padding_idx", None) for table in tables), None)
        limits.append(limit - (0 if padding is None else padding + 1))
    return min(limits, default=512)


def masked_log_probabilities(model: LanguageModel, rows: Pieces, places: Integers) -> NDArray[np.float64]:
    """Return the log probability of the piece at one place of each row, given the row with this piece masked."""
    if not len(rows):
        return np.empty(0)
    masked, flat = rows.ids.copy(), rows.bounds[:-1] + places
    masked[flat] = model.tokenizer.mask_token_id
    return log_probabilities_at(model, replace(rows, ids=masked), places, rows.ids[flat][None])[:, 0]


def log_probabilities_at(
    model: LanguageModel,
    rows: Pieces,
    places: Integers,
    wanted: Integers,
    advance: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float64]:
    """Return the log probabilities of pieces at one masked place of each row: shape (rows, pieces).

    - `places`: the masked place of each row: shape (rows,).
    - `wanted`: ids of pieces: shape (pieces, rows).
    - `advance`: function that is called with the number of rows of each batch.
    """
    import torch

    masked: list[Any] = []
    exact = torch.float32 if model.loop.device.type == "mps" else torch.float64  # which has no float64

    def forward(batch: dict[str, Any], columns: Any) -> Any:
        batch_rows = torch.arange(columns.shape[1], device=columns.device)
        masked[:] = [batch_rows, columns[0]]
        logits = model.model(**batch).logits
        scores = logits[:, 0] if logits.shape[1] == 1 else logits[batch_rows, columns[0]]
        return torch.log_softmax(scores.to(exact), dim=-1).gather(1, columns[1:].T)

    with _only_places(model.model, masked):
        return model.run(forward, rows, np.concatenate([places[None], wanted]), advance)


def mean_piece_vectors(
    model: LanguageModel,
    rows: Pieces,
    spans: Integers,
    *,
    layer: int,
    advance: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float32]:
    """Return the mean vector of some pieces of each row after a layer: an array of shape (rows, dimensions).

    - `spans`: the first of the word's pieces in each row, and the one after the last: shape (rows, 2).
    - `layer`: number of the layer: 0 is the input of the first layer, -1 the last layer.
    - `advance`: function that is called with the number of rows of each batch that is done.
    """
    import torch

    steps = torch.arange(int(np.diff(spans).max()), device=model.loop.device)

    def forward(batch: dict[str, Any], columns: Any) -> Any:
        hidden = model.model(**batch, output_hidden_states=True).hidden_states[layer]
        firsts, lasts = columns[:, :, None]
        places = firsts + steps
        inside = places < lasts
        rows = torch.arange(len(hidden), device=hidden.device)[:, None]
        pieces = hidden[rows, torch.where(inside, places, firsts)].float()
        return (pieces * inside[:, :, None]).sum(dim=1) / (lasts - firsts)

    return model.run(forward, rows, spans.T, advance)


@contextmanager
def _only_places(model: Any, masked: list[Any]) -> Iterator[None]:
    """Apply the output layer, whose size is that of the vocabulary, to the masked places only."""
    layer = model.get_output_embeddings()
    if layer is None:
        yield
        return

    def keep(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        batch_rows, columns = masked
        return (inputs[0][batch_rows, columns].unsqueeze(1), *inputs[1:])

    hook = layer.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        hook.remove()

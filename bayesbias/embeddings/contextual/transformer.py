"""Loading of transformers from local folders, and the device on which they run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayesbias.base.machine.extras import require
from bayesbias.embeddings.contextual.model_folder import check_model_folder
from bayesbias.errors import BayesBiasError, InputFileError, library_reason

_LEAST_SHARE = 0.5  # of a model's vocabulary in its tokenizer: vocabularies are padded, by far less than this


def load_transformer(
    folder: Path, kind: str, *, extra: str, purpose: str, absent: type[BayesBiasError], broken: type[BayesBiasError]
) -> tuple[Any, Any, list[str]]:
    """Return a model, its tokenizer, and the names of the weights that its files lack, which are random.

    Nothing is downloaded, and no code or pickle in the folder is run.

    Parameters
    ----------
    folder
        A folder that transformers' ``save_pretrained`` wrote for a model and its tokenizer.
    kind
        Class of transformers that loads the model, such as ``"AutoModelForMaskedLM"``.
    extra, purpose
        Extra that installs transformers, and what needs it, for `require`.
    absent, broken
        Class of the error if a library is not installed, and if the model cannot be loaded.

    Raises
    ------
    InputFileError
        If the folder holds no configuration of a model, or names files outside of it, or its tokenizer is incomplete.
    BayesBiasError
        Of class `absent` or `broken`.
    """
    if not (folder / "config.json").is_file():
        raise InputFileError(
            f"{folder} is no folder of a model: it holds no config.json. Give a folder that transformers' "
            "save_pretrained wrote. Names on the Hub are not looked up: download the model first, for example with "
            "huggingface_hub.snapshot_download."
        )
    check_model_folder(folder)
    torch, transformers, _ = (
        require(module, extra, purpose, error=absent) for module in ("torch", "transformers", "safetensors")
    )
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with panics_as_errors(), quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
            network, facts = getattr(transformers, kind).from_pretrained(
                folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
            )
    except MemoryError:
        raise
    except Exception as fault:  # a damaged folder can make the library raise anything
        raise broken(
            f"{folder} cannot be loaded with {kind}: {library_reason(fault)} Its weights must be .safetensors files, "
            "its tokenizer beside them, as save_pretrained writes both."
        ) from fault
    check_tokenizer(folder, tokenizer, network.config)
    return network.eval(), tokenizer, sorted(facts["missing_keys"])


def check_tokenizer(folder: Path, tokenizer: Any, configuration: Any) -> None:
    """Raise `InputFileError` if a tokenizer knows few of the pieces of its model, as without its files.

    Parameters
    ----------
    folder
        Folder of both.
    tokenizer, configuration
        Objects of transformers.
    """
    pieces = getattr(getattr(configuration, "text_config", configuration), "vocab_size", None)
    if isinstance(pieces, int) and len(tokenizer) < pieces * _LEAST_SHARE:
        raise InputFileError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} pieces of words, and its model {pieces:,}: most words "
            "would be unknown. Its files, such as tokenizer.json, are missing or incomplete: download the model again."
        )


def chosen_device(device: str | None, error: type[BayesBiasError]) -> Any:
    """Return a device of PyTorch, by default CUDA's if there is one; raise `error` if it cannot be used here."""
    import torch

    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
        torch.zeros(1, device=place).item()  # the device "meta" has no numbers
    # The error depends on whether the text names no device, or one that this machine or build lacks.
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as fault:
        raise error(
            f"device={device!r:.60} cannot be used here ({library_reason(fault)[:-1]}). Leave it out, or give 'cpu'."
        ) from fault
    return place


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise a panic of a library in Rust, such as tokenizers or safetensors, as an error: it is no `Exception`."""
    try:
        yield
    except BaseException as fault:
        if type(fault).__name__ != "PanicException":
            raise
        raise RuntimeError(str(fault)) from fault


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

"""Models of sequence classification from Hugging Face transformers, as models of inference."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_path, has_audience, is_text, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import InputFileError, MeasureError, library_reason, name_some
from bayesbias.nli.test_sets.scores import LABELS
from bayesbias.nli.trained.pytorch import extra, pytorch
from bayesbias.nli.trained.sentences import checked_sentences

_CONFIGURATION = "config.json"
# Tokenizers without a limit of their own say so by a number like this.
_NO_LIMIT = 10**9
# Their positions begin after the padding's number, so that the configuration counts more of them than can be used.
_OFFSET = ("roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "data2vec-text", "bertweet")


@dataclass(frozen=True, eq=False, repr=False)
class SequenceClassifier(Described):
    """A transformer that classifies pairs of sentences, from `bb.nli.pipeline`.

    Called with two lists, of premises and of hypotheses, it returns an array of shape (pairs, 3): the probabilities of
    neutral, entailment and contradiction, whatever the order of its own labels. So it is a model for `bb.nli.score`.

    Parameters
    ----------
    name
        Of its folder or class.
    labels
        Its own labels, in its own order.
    longest
        Most tokens of a pair that it takes, or None where it sets no limit.
    batch_size, device, progress
        As they were given or chosen.
    model, tokenizer
        Of transformers.

    Raises
    ------
    MeasureError
        When called, if premises and hypotheses differ in number, one is no text or empty, or a pair is longer than the
        model takes.
    """

    name: str
    labels: tuple[str, ...]
    longest: int | None
    batch_size: int
    device: str
    progress: bool
    model: Any
    tokenizer: Any

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "labels": ", ".join(self.labels),
            "longest": "no limit" if self.longest is None else f"{self.longest} tokens",
            "batch_size": self.batch_size,
            "device": self.device,
        }

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return the probabilities of neutral, entailment and contradiction, of shape (pairs, 3)."""
        torch = pytorch()
        firsts, seconds = checked_sentences("premises", premises), checked_sentences("hypotheses", hypotheses)
        if len(firsts) != len(seconds):
            raise MeasureError(f"There are {len(firsts):,} premises and {len(seconds):,} hypotheses. Give as many.")
        found = np.empty((len(firsts), len(LABELS)))
        if not firsts:
            return found
        lengths = self._lengths(firsts, seconds)
        # Pairs of a batch are about equally long, and the longest come first, so that memory fails at once if it does.
        order = np.argsort(-lengths, kind="stable")
        batches = [order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size)]
        places = [[label.strip().lower() for label in self.labels].index(label) for label in LABELS]
        with torch.inference_mode():
            for batch in with_progress(batches, "Pairs", progress=self.progress):
                texts = [firsts[at] for at in batch], [seconds[at] for at in batch]
                tokens = self.tokenizer(*texts, padding=True, truncation=False, return_tensors="pt").to(self.device)
                answer = self.model(**tokens).logits
                found[batch] = answer.double().softmax(dim=-1).cpu().numpy()[:, places]
        return found

    def _lengths(self, firsts: list[str], seconds: list[str]) -> Any:
        """Return the number of tokens of each pair; raise `MeasureError` if one is too long for the model."""
        found = np.empty(len(firsts), dtype=np.intp)
        for start in range(0, len(firsts), 10_000):
            part = slice(start, start + 10_000)
            # The tokenizer's own warning of long texts would come first.
            tokens = self.tokenizer(firsts[part], seconds[part], truncation=False, verbose=False)["input_ids"]
            found[part] = [len(each) for each in tokens]
        if self.longest is not None and found.max() > self.longest:
            at = int(found.argmax())
            raise MeasureError(
                f"{int((found > self.longest).sum()):,} of {len(found):,} pairs are longer than the {self.longest} "
                f"tokens that the model {self.name} takes. The longest has {found[at]}: {firsts[at][:80]!r} -> "
                f"{seconds[at][:80]!r}. Shorten it, or leave it out: nothing is cut off."
            )
        return found


def pipeline(
    model: Any, *, batch_size: int = 32, device: str | None = None, progress: bool = True
) -> SequenceClassifier:
    """Make a model of inference of a transformer for sequence classification.

    Parameters
    ----------
    model
        A folder that holds a model and its tokenizer, as their ``save_pretrained`` writes them; or (model, tokenizer);
        or a pipeline of transformers. Weights are read from .safetensors alone, nothing is downloaded, and no code in
        the folder is run: to take a model from the Hub, download it first, as with
        ``huggingface_hub.snapshot_download``.
    batch_size
        Pairs in one go.
    device
        Such as ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"``. By default a graphics processor, if there is one. The
        model is moved to it.
    progress
        Whether to show a bar while the model answers.

    Returns
    -------
    SequenceClassifier
        A function of premises and hypotheses, for `bb.nli.score`.

    Raises
    ------
    MeasureError
        If transformers or PyTorch is not installed, the model's configuration (``id2label``) does not name the labels
        neutral, entailment and contradiction, in upper or lower case and any order, or there is no such device.
    InputFileError
        If the folder is not there, or holds no such model and tokenizer.

    Examples
    --------
    >>> bb.nli.pipeline("no_such_folder")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: There is no folder no_such_folder...
    """
    check_count("batch_size", batch_size)
    if isinstance(model, str | os.PathLike):
        name, network, tokenizer = _load(check_path(model), progress=progress)
    else:
        name, network, tokenizer = _given(model)
    configuration = network.config
    labels = _labels(name, configuration)
    chosen = _device(device)
    network.to(chosen)
    network.eval()
    return SequenceClassifier(
        name, labels, _longest(configuration, tokenizer), batch_size, chosen, progress, network, tokenizer
    )


def _load(folder: Path, *, progress: bool) -> tuple[str, Any, Any]:
    if not folder.is_dir():
        raise InputFileError(
            f"There is no folder {folder}. Give one that holds a model and its tokenizer; names of the Hub are not "
            "looked up: download the model first, as with huggingface_hub.snapshot_download."
        )
    if not (folder / _CONFIGURATION).is_file():
        raise InputFileError(f"{folder} holds no {_CONFIGURATION}: it is no model of transformers. Give its folder.")
    transformers = extra("transformers")
    logging = extra("transformers.utils.logging")
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    # Bars that nobody sees, and reports of what is an error below.
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if not has_audience(progress):
        logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
        network, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), use_safetensors=True, output_loading_info=True, **options
        )
    # Whatever a damaged folder makes the library raise.
    except Exception as fault:
        raise InputFileError(
            f"{folder} cannot be loaded as a model of sequence classification with its tokenizer: "
            f"{library_reason(fault)} Save both there with save_pretrained."
        ) from fault
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
    if missing := sorted(report["missing_keys"]):
        raise InputFileError(
            f"{folder} lacks the weights {name_some(missing)}, which would be random: it was not trained to classify "
            "pairs of sentences. Give a model that was trained on natural language inference."
        )
    return folder.resolve().name, network, tokenizer


def _given(model: Any) -> tuple[str, Any, Any]:
    if isinstance(model, tuple) and len(model) == 2:
        network, tokenizer = model
    else:
        network, tokenizer = getattr(model, "model", None), getattr(model, "tokenizer", None)
    if not hasattr(network, "config") or not callable(tokenizer):
        raise MeasureError(
            f"The model is {type(model).__name__}. Give the path of a folder, a pair (model, tokenizer) or a pipeline "
            "of transformers."
        )
    if not type(network).__name__.endswith("ForSequenceClassification"):
        raise MeasureError(
            f"The model is {type(network).__name__}, and does not classify texts. Load it with "
            "transformers.AutoModelForSequenceClassification."
        )
    return type(network).__name__, network, tokenizer


def _labels(name: str, configuration: Any) -> tuple[str, ...]:
    """Return a model's labels in its order, if they are those of inference."""
    known = getattr(configuration, "id2label", None)
    known = known if isinstance(known, Mapping) else {}
    labels = tuple(str(known[at]) for at in sorted(known) if is_text(known[at]))
    if sorted(label.strip().lower() for label in labels) == sorted(LABELS) and sorted(known) == list(
        range(len(LABELS))
    ):
        return labels
    wanted = ", ".join(LABELS)
    if all(label.upper().startswith("LABEL_") for label in labels):
        raise MeasureError(
            f"The configuration of the model {name} does not say what its {len(labels)} labels mean: "
            f"{name_some(labels)}. Find out from who trained it, and set model.config.id2label to {wanted} in its "
            "order: a wrong order would give wrong answers without notice."
        )
    raise MeasureError(
        f"The model {name} has the {len(labels)} labels {name_some(labels)}; a model with the three labels {wanted} is "
        "needed. Give one that was trained on natural language inference with three labels."
    )


def _longest(configuration: Any, tokenizer: Any) -> int | None:
    limits = [tokenizer.model_max_length]
    positions = getattr(configuration, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        padding = getattr(configuration, "pad_token_id", None) or 0
        limits.append(positions - (padding + 1 if configuration.model_type in _OFFSET else 0))
    found = min(limits)
    return int(found) if found < _NO_LIMIT else None


def _device(device: str | None) -> str:
    torch = pytorch()
    if device is None:
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=device).item()  # the device "meta" has no numbers
    # A text that names no device, or one that this machine or build has not: each a different error.
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as fault:
        raise MeasureError(
            f"device={device!r:.60} cannot be used here: {library_reason(fault)} Leave it out, or give 'cpu'."
        ) from fault
    return str(device)

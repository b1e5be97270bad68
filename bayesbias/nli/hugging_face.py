"""`pipeline`: sequence classifiers of Hugging Face transformers as models of inference."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_path, is_text
from bayesbias.base.number_text import counted
from bayesbias.base.progress import progress_bar
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.language_models.device_loop import DeviceLoop, Precision, device_loop, padded
from bayesbias.embeddings.language_models.language_model import library_errors, load_transformer
from bayesbias.embeddings.language_models.pieces import bounds_of, flat_rows, places_of
from bayesbias.errors import InputFileError, MeasureError, name_some
from bayesbias.nli.model_scores import LABELS
from bayesbias.nli.sentences import checked_sentences
from bayesbias.nli.tensor_files import pytorch

# Labels of models that were trained to distinguish entailment from everything else, without contradiction.
_TWO_LABELS = {"entailment": "entailment", "not entailment": "neutral", "non entailment": "neutral"}
_BLOCK = 4_096  # pairs on the device at a time
# Tokenizers without a limit report a number of at least this size.
_NO_LIMIT = 10**9
# Models whose positions begin after the padding id, so that fewer positions can be used than the configuration says.
_OFFSET = ("roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "data2vec-text", "bertweet")


@dataclass(frozen=True, eq=False, repr=False)
class SequenceClassifier(Described):
    """A transformer that classifies pairs of sentences, from `bb.nli.pipeline`.

    Called with two lists, of premises and of hypotheses, it returns an array of shape (pairs, 3): the probabilities of
    neutral, entailment and contradiction, whatever the order of the model's labels. It can be passed to `bb.nli.score`.
    For a model with the two labels entailment and not_entailment, everything but entailment is given as neutral, and
    contradiction as 0.

    Parameters
    ----------
    name
        Name of the model's folder or class.
    labels
        Labels of the model, in its order.
    longest
        Largest number of tokens of a pair, or None if the model has no limit.
    loop
        The device, the precision, and the largest number of pieces in a batch.
    progress
        The argument of `pipeline`.
    model, tokenizer
        Objects of transformers.

    Raises
    ------
    MeasureError
        When called, if premises and hypotheses differ in number, one of them is not text or is empty, or a pair is too
        long for the model.
    """

    name: str
    labels: tuple[str, ...]
    longest: int | None
    loop: DeviceLoop
    progress: bool
    model: Any
    tokenizer: Any

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "labels": ", ".join(self.labels),
            "longest": "no limit" if self.longest is None else f"{self.longest} tokens",
            "batch_size": self.loop.pieces,
            "device": str(self.loop.device),
            "precision": self.loop.precision,
        }

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return the probabilities of neutral, entailment and contradiction, of shape (pairs, 3)."""
        firsts, seconds = checked_sentences("premises", premises), checked_sentences("hypotheses", hypotheses)
        if len(firsts) != len(seconds):
            raise MeasureError(
                f"There are {len(firsts):,} premises and {len(seconds):,} hypotheses. Give one hypothesis per premise."
            )
        answers = np.zeros((len(firsts), len(LABELS)))
        if not firsts:
            return answers
        tokenizer, places = self.tokenizer, [LABELS.index(_meaning(label)) for label in self.labels]
        padding = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
        left = tokenizer.padding_side == "left"
        failure = library_errors(f"{self.name} fails", MeasureError, "Download the model again.")
        with failure, progress_bar(len(firsts), "Pairs", progress=self.progress) as bar:
            features, bounds = self._read(firsts, seconds)
            lengths = np.diff(bounds)
            # Blocks hold pairs of similar length.
            order = np.argsort(-lengths, kind="stable")
            for pairs in (order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK)):
                flat, _ = places_of(bounds, pairs)
                block = {name: numbers[flat] for name, numbers in features.items()}
                logits = self.loop.run(
                    lambda batch, _: self.model(**batch).logits.float(),
                    padded(lengths[pairs], block, padding, left=left),
                    left=left,
                    advance=bar.advance,
                )
                answers[np.ix_(pairs, places)] = softmax(logits.astype(np.float64), axis=1)
        return answers

    def _read(self, firsts: list[str], seconds: list[str]) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        """Return what the tokenizer makes of pairs, pair after pair, and where each begins.

        Raises `MeasureError` if a pair is too long for the model.
        """
        parts: dict[str, list[NDArray[Any]]] = {}
        counts = []
        for start in range(0, len(firsts), _BLOCK):
            part = slice(start, start + _BLOCK)
            # Not verbose: the tokenizer would warn of long texts before the error below.
            encoded = self.tokenizer(
                firsts[part], seconds[part], truncation=False, verbose=False, return_attention_mask=False
            )
            for name, rows in encoded.items():
                numbers, bounds = flat_rows(rows)
                parts.setdefault(name, []).append(numbers.astype(np.int32))
            counts.append(np.diff(bounds))
        lengths = np.concatenate(counts)
        if self.longest is not None and lengths.max() > self.longest:
            longest = int(lengths.argmax())
            raise MeasureError(
                f"{int((lengths > self.longest).sum()):,} of {counted(len(lengths), 'pair')} exceed the limit of "
                f"{self.longest} tokens of the model {self.name}. The longest has {lengths[longest]}: "
                f"{firsts[longest][:80]!r} -> {seconds[longest][:80]!r}. Shorten or leave out such pairs; nothing is "
                "truncated."
            )
        return {name: np.concatenate(arrays) for name, arrays in parts.items()}, bounds_of(lengths)


def pipeline(
    model: Any,
    *,
    batch_size: int | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    progress: bool = True,
) -> SequenceClassifier:
    """Return a transformer for sequence classification as a model of inference.

    Parameters
    ----------
    model
        Folder with a model and its tokenizer, as written by ``save_pretrained``; or a pair (model, tokenizer); or a
        pipeline of transformers. Weights are read only from .safetensors, nothing is downloaded, and no code in the
        folder is run. To use a model from the Hub, download it first, for example with
        ``huggingface_hub.snapshot_download``.
    batch_size
        Largest number of tokens in a batch, padding included; None (default) takes 4,096 on processors and 65,536
        elsewhere.
    device
        Device such as ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"mps"``, to which the model is moved. By default a
        CUDA device, if there is one.
    precision
        As for `bb.embeddings.contextual_embedding`.
    progress
        Whether to show a progress bar while the model answers.

    Returns
    -------
    SequenceClassifier
        A function of premises and hypotheses, for `bb.nli.score`.

    Raises
    ------
    MeasureError
        If transformers or PyTorch is not installed, the device does not exist, or the model's configuration
        (``id2label``) does not name the labels neutral, entailment and contradiction, or entailment and not_entailment
        (in any case and order).
    InputFileError
        If the folder does not exist, or holds no such model and tokenizer.

    Notes
    -----
    A model with two labels does not distinguish contradiction from neutral: the right answer to a test set is
    then "not entailment", the probability of contradiction is always 0, and E is sqrt(2) times the probability of
    entailment. Do not compare its E with that of a model with three labels.

    Examples
    --------
    >>> bb.nli.pipeline("no_such_folder")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: no_such_folder is no folder of a model: it holds no config.json...
    """
    if batch_size is not None:
        check_count("batch_size", batch_size)
    if isinstance(model, str | os.PathLike):
        name, network, tokenizer = _load(check_path(model))
    else:
        name, network, tokenizer = _given(model)
    configuration = network.config
    labels = _labels(name, configuration)
    pytorch()
    loop = device_loop(device, precision, batch_size, MeasureError)
    loop.place(network)
    network.eval()
    return SequenceClassifier(name, labels, _longest(configuration, tokenizer), loop, progress, network, tokenizer)


def pipelines(
    folder: str | os.PathLike[str],
    *,
    batch_size: int | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    progress: bool = True,
) -> list[SequenceClassifier]:
    """Return the transformers of a folder: it is a model itself, or each of its folders is one, such as a training.

    Parameters
    ----------
    folder
        Folder of a model, as for `pipeline`, or of folders of models.
    batch_size, device, precision, progress
        As for `pipeline`.

    Raises
    ------
    InputFileError
        If the folder does not exist, or neither it nor a folder in it is a model.
    MeasureError
        As for `pipeline`.

    Examples
    --------
    >>> bb.nli.pipelines("no_such_folder")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: no_such_folder is no folder of a model: it holds no config.json...
    """
    path = check_path(folder)
    within = sorted(path.glob("*/config.json")) if path.is_dir() else []
    sources = [path] if not within or (path / "config.json").is_file() else [inner.parent for inner in within]
    given: dict[str, Any] = {"batch_size": batch_size, "device": device, "precision": precision, "progress": progress}
    return [pipeline(source, **given) for source in sources]


def _load(folder: Path) -> tuple[str, Any, Any]:
    network, tokenizer, missing = load_transformer(
        folder,
        "AutoModelForSequenceClassification",
        extra="nli",
        purpose="A model of inference",
        absent=MeasureError,
        broken=InputFileError,
    )
    if missing:
        raise InputFileError(
            f"{folder} lacks the weights {name_some(missing)}, which would be random: the model was not trained to "
            "classify pairs of sentences. Give a model that was trained on natural language inference."
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
            f"The model is {type(network).__name__}, which does not classify texts. Load it with "
            "transformers.AutoModelForSequenceClassification."
        )
    return type(network).__name__, network, tokenizer


def _labels(name: str, configuration: Any) -> tuple[str, ...]:
    """Return a model's labels in its order; raise `MeasureError` unless they are those of inference."""
    label_names = getattr(configuration, "id2label", None)
    label_names = label_names if isinstance(label_names, Mapping) else {}
    labels = tuple(str(label_names[number]) for number in sorted(label_names) if is_text(label_names[number]))
    meanings = sorted(_meaning(label) for label in labels)
    if meanings in (sorted(LABELS), ["entailment", "neutral"]) and sorted(label_names) == [*range(len(labels))]:
        return labels
    wanted = ", ".join(LABELS)
    if all(label.upper().startswith("LABEL_") for label in labels):
        raise MeasureError(
            f"The configuration of the model {name} does not say what its {len(labels)} labels mean: "
            f"{name_some(labels)}. Look up their meaning in the model's documentation, and set model.config.id2label "
            f"to {wanted} in the model's order: a wrong order would silently give wrong answers."
        )
    raise MeasureError(
        f"The model {name} has the {len(labels)} labels {name_some(labels)} instead of the three labels {wanted}, "
        "or entailment and not_entailment. Give a model that was trained on natural language inference."
    )


def _meaning(label: str) -> str:
    """Return which of `LABELS` a model's label stands for, or the label.

    >>> [_meaning(label) for label in ("CONTRADICTION", "not_entailment", "LABEL_0")]
    ['contradiction', 'neutral', 'label 0']
    """
    plain = " ".join(label.lower().replace("_", " ").replace("-", " ").split())
    return _TWO_LABELS.get(plain, plain)


def _longest(configuration: Any, tokenizer: Any) -> int | None:
    limits = [tokenizer.model_max_length]
    positions = getattr(configuration, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        padding = getattr(configuration, "pad_token_id", None) or 0
        limits.append(positions - (padding + 1 if configuration.model_type in _OFFSET else 0))
    limit = min(limits)
    return int(limit) if limit < _NO_LIMIT else None

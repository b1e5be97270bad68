"""What gives the log probabilities of candidates in prompts: the folder of a model, or a function, with a cache."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice, check_count, check_number, check_path, is_text, shown
from bayesbias.base.files.vector_cache import VectorCache, vector_cache, vector_key
from bayesbias.base.number_text import counted
from bayesbias.base.progress import Bar, progress_bar
from bayesbias.embeddings.encoders.calls import Calls
from bayesbias.embeddings.language_models.candidates import (
    Context,
    PromptIds,
    causal_candidates,
    masked_candidates,
    masked_rows,
    prompt_ids,
    unknown_words,
)
from bayesbias.embeddings.language_models.device_loop import Precision, steps_of
from bayesbias.embeddings.language_models.language_model import LanguageModel, load_language_model
from bayesbias.embeddings.language_models.model_folder import Predicts, predicted_words
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.errors import ArgumentError, EmbeddingError

type Predictor = Callable[[list[Prompt]], Iterable[Iterable[float]]]
"""A function that returns, for each prompt of a list, the natural log probability of each of its words."""

type Source = ModelSource | FunctionSource
"""What gives log probabilities."""

_CONTEXTS: Mapping[Predicts, tuple[Context, ...]] = {"masked": ("both",), "next": ("left", "sentence")}
_PROMPTS = 32  # in a call of a function
_LONGEST_CALL = 86_400.0  # seconds
_CHUNK = 4_096  # prompts between two writes to the cache
_ROUNDING = 1e-6  # by which a log probability may lie above 0
_MOST_CHANGED = 0.05  # nats, between two answers to one prompt, beyond 1 % of the larger one


@dataclass(frozen=True, eq=False)
class ModelSource:
    """A language model from a folder."""

    model: LanguageModel
    context: Context

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.model.name

    @property
    def identity(self) -> tuple[str, ...]:
        """Name and hash of the model, and what a word is given."""
        return self.model.name, self.model.digest, self.context

    @property
    def facts(self) -> dict[str, str]:
        """Kind of the model, and the hash of its files."""
        kinds = {
            "both": "masked language model, given the sentence on both sides of the word",
            "left": "causal language model, given the text on the left of the word",
            "sentence": "causal language model, given the whole sentence, among the attribute words of the study",
        }
        steps = steps_of(self.model.loop.precision)
        return {
            "name": self.name,
            "hash": self.model.digest[:16],
            "kind": kinds[self.context],
            **({"steps": "; ".join(steps)} if steps else {}),
        }

    def unknown(self, prompt: Prompt) -> list[str]:
        """Return the words of a prompt that the tokenizer does not know."""
        return unknown_words(self.model, prompt)

    def log_probabilities(self, prompts: list[Prompt], bar: Bar) -> list[Floats]:
        """Return the log probability of each word of prompts."""
        ids: list[PromptIds] = prompt_ids(self.model, prompts)
        if self.context != "both":
            return causal_candidates(self.model, ids, self.context, bar.advance)
        rows = masked_rows(ids)
        bar.describe(f"{self.name}: {counted(len(rows), 'text')} for {counted(len(prompts), 'prompt')}")
        return masked_candidates(self.model, ids, rows, lambda count: bar.advance(count * len(prompts) / len(rows)))


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function of prompts, such as an n-gram model or a provider's client."""

    calls: Calls
    label: str | None
    version: str | None

    @property
    def name(self) -> str:
        """Name of the function, or the one that was given."""
        return self.calls.name

    @property
    def identity(self) -> tuple[str, ...]:
        """Given name and version; empty without a name, since functions have none that stays the same."""
        return () if self.label is None else (self.label, *(() if self.version is None else (self.version,)))

    @property
    def facts(self) -> dict[str, str]:
        """Name and version."""
        version = {} if self.version is None else {"steps": f"version {self.version}"}
        return {"name": self.name, "kind": "function that gives log probabilities", **version}

    def unknown(self, prompt: Prompt) -> list[str]:
        """Return no words: a function says nothing of them."""
        del prompt
        return []

    def log_probabilities(self, prompts: list[Prompt], bar: Bar) -> list[Floats]:
        """Return the log probability of each word of prompts, in calls of `batch` prompts."""
        answers: list[Floats] = []
        for part in batched(prompts, self.calls.batch):
            answers += self._checked(self.calls.answer(list(part), done=len(answers)), part)
            bar.advance(len(part))
        return answers

    def check_repeated(self, prompts: Sequence[Prompt], before: Sequence[Floats], where: str) -> None:
        """Raise `EmbeddingError` if a prompt gets other log probabilities than `before`; `where` says where from."""
        again = self._checked(self.calls.answer(list(prompts)), prompts)
        for prompt, new, old in zip(prompts, again, before, strict=True):
            change = np.abs(new - old) - 0.01 * np.maximum(np.abs(new), np.abs(old))
            if (change > _MOST_CHANGED).any():
                row = int(np.argmax(change))
                raise EmbeddingError(
                    f"{self.name} gives {prompt.words[row]!r} in {prompt.before!r:.60} the log probability "
                    f"{new[row]:.3f}, and {where} {old[row]:.3f}. Its model has changed (name the new version, or give "
                    "another cache), or its answers are partly random (dropout, or a service with several models)."
                )

    def _checked(self, returned: Any, prompts: Sequence[Prompt]) -> list[Floats]:
        try:
            answers = [np.asarray(list(values), dtype=np.float64) for values in returned]
        except (TypeError, ValueError) as error:
            raise EmbeddingError(
                f"{self.name} returned no lists of numbers ({error}). It must return one list for each prompt, with "
                "the natural log probability of each of its words."
            ) from error
        if [values.shape for values in answers] != [(len(prompt.words),) for prompt in prompts]:
            raise EmbeddingError(
                f"{self.name} returned {counted(len(answers), 'list')} for {counted(len(prompts), 'prompt')}, or not "
                "one number for each word. It must return one list for each prompt, as long as its words."
            )
        for prompt, values in zip(prompts, answers, strict=True):
            if not (np.isfinite(values) & (values <= _ROUNDING)).all():
                row = int(np.argmin(np.isfinite(values) & (values <= _ROUNDING)))
                raise EmbeddingError(
                    f"{self.name} gave {prompt.words[row]!r} in {prompt.before!r:.60} the log probability "
                    f"{values[row]:g}. A natural log probability is finite and at most 0: smooth the model, or leave "
                    "the word out."
                )
        return answers


def model_source(
    folder: str | os.PathLike[str],
    context: str | None,
    *,
    device: str | None,
    precision: Precision | None,
    batch: int | None,
    name: str | None,
) -> ModelSource:
    """Return a language model from a folder as a source; arguments as for `surprisal_table`."""
    path = check_path(folder, "model")
    predicts = predicted_words(path)
    choices = _CONTEXTS[predicts]
    check_choice("context", choices[0] if context is None else context, choices)
    chosen = next(choice for choice in choices if context in (choice, None))
    model = load_language_model(path, predicts=predicts, device=device, precision=precision, batch=batch)
    return ModelSource(model if name is None else replace(model, name=name), chosen)


def function_source(
    function: Predictor,
    *,
    batch: int | None,
    attempts: int,
    timeout: float | None,
    name: str | None,
    version: str | None,
    cached: bool,
) -> FunctionSource:
    """Return a function of prompts as a source; arguments as for `surprisal_table`."""
    if not callable(function):
        raise ArgumentError(
            f"model={function!r:.60}: give the folder of a language model, or a function of a list of prompts that "
            "returns the log probability of each word."
        )
    if version is not None and not (is_text(version) and version.strip()):
        raise ArgumentError(f"version={shown(version)}: give a text, such as version='2'.")
    if cached and name is None:
        raise ArgumentError("cache needs a name: functions have none that stays the same. Give name='provider-model'.")
    label = name or str(getattr(function, "__name__", type(function).__name__))
    limit = None if timeout is None else check_number("timeout", timeout, low=0, high=_LONGEST_CALL, above=True)
    at_once = check_count("batch", _PROMPTS if batch is None else batch)
    calls = Calls(function, label, at_once, check_count("attempts", attempts), limit, cached, "model")
    return FunctionSource(calls, name, version)


def log_probabilities(
    source: Source,
    prompts: Sequence[Prompt],
    *,
    cache: str | os.PathLike[str] | None,
    progress: bool,
) -> list[Floats]:
    """Return the natural log probability of each word of prompts, from the cache or the source."""
    with vector_cache(cache) as opened:
        keys = {prompt: _keys(source.identity, prompt) for prompt in dict.fromkeys(prompts)} if opened else {}
        answers = _stored(opened, keys)
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in answers]
        if answers and isinstance(source, FunctionSource):
            some = [next(iter(answers))]
            source.check_repeated(some, [answers[some[0]]], "in the cache")
        text = f"{source.name}: {counted(len(new), 'prompt')}, {len(answers):,} from the cache"
        with progress_bar(len(new), text, progress=progress) as bar:
            for part in batched(new, _CHUNK):
                values = source.log_probabilities(list(part), bar)
                answers |= zip(part, values, strict=True)
                if opened:
                    of_words = [number for vector in values for number in vector.astype(np.float32)[:, None]]
                    opened.write([key for prompt in part for key in keys[prompt].values()], of_words)
        if new and isinstance(source, FunctionSource):
            source.check_repeated(new[:1], [answers[new[0]]], "a moment before")
    return [answers[prompt] for prompt in prompts]


def _keys(identity: tuple[str, ...], prompt: Prompt) -> dict[str, bytes]:
    """Return the key of each word of a prompt in a cache."""
    of_prompt = (*identity, "log probability", prompt.before, prompt.after)
    return {word: vector_key(*of_prompt, word) for word in prompt.words}


def _stored(cache: VectorCache | None, keys: Mapping[Prompt, Mapping[str, bytes]]) -> dict[Prompt, Floats]:
    """Return the log probabilities of the prompts of which a cache has all words."""
    if cache is None:
        return {}
    vectors = cache.read({key.hex(): key for of_words in keys.values() for key in of_words.values()})
    stored = {name: float(vector[0]) for name, vector in vectors.items() if len(vector) == 1}
    if len(stored) < len(vectors) or max(stored.values(), default=0.0) > _ROUNDING:
        raise cache.damaged("it holds other numbers than log probabilities")
    return {
        prompt: np.array([stored[of_words[word].hex()] for word in prompt.words])
        for prompt, of_words in keys.items()
        if all(key.hex() in stored for key in of_words.values())
    }

"""Sources of log probabilities: calls of a function, and their place in a cache."""

from pathlib import Path

import numpy as np

from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.embeddings.surprisals import function_source, log_probabilities

PROMPTS = [Prompt("The nurse saw ", ".", ("him", "her")), Prompt("The man saw ", ".", ("him",))]


def test_prompts_are_sent_in_batches_and_once_each(tmp_path: Path) -> None:
    batches: list[int] = []

    def letters(prompts: list[Prompt]) -> list[list[float]]:
        batches.append(len(prompts))
        return [[-float(len(prompt.before) + len(word)) for word in prompt.words] for prompt in prompts]

    def source(version: str | None = None):  # type: ignore[no-untyped-def]
        return function_source(
            letters, batch=2, attempts=1, timeout=None, name="letters", version=version, cached=True
        )  # fmt: skip

    cache = tmp_path / "cache.db"
    answers = log_probabilities(source(), [*PROMPTS, PROMPTS[0]], cache=cache, progress=False)
    assert batches == [2, 1]  # the second call asks one prompt again
    assert [values.tolist() for values in answers] == [[-17.0, -17.0], [-15.0], [-17.0, -17.0]]
    # A prompt with another word is new; another version is another model.
    more = [Prompt("The nurse saw ", ".", ("him", "her", "it"))]
    log_probabilities(source(), [*PROMPTS, *more], cache=cache, progress=False)
    assert batches == [2, 1, 1, 1, 1]
    log_probabilities(source("2"), PROMPTS, cache=cache, progress=False)
    assert batches == [2, 1, 1, 1, 1, 2, 1]
    np.testing.assert_array_equal(log_probabilities(source(), PROMPTS, cache=None, progress=False)[1], [-15.0])

"""Calls of an encoder: batches, attempts, a time limit, and whether a text gets the same vector again."""

import inspect
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.machine import INTERRUPTED, TERMINATED
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import as_vectors
from bayesbias.embeddings.language_models.device_loop import lacks_memory
from bayesbias.errors import EmbeddingError, NotEnoughMemoryError, setting

REPEATED = 8
"""Largest number of texts that are encoded twice to compare their vectors."""
MOST_CHANGED = 0.03
"""Largest distance between two vectors of one text, as a share of its length, that counts as rounding.

Vectors of a language model in bfloat16 differ by half as much from those in float32 (`docs/guide/contextual.md`). A
change of this size in a random direction moves a cosine of vectors of 384 dimensions by 0.002 (sd), and a contrast of
lists of eight words by less than 0.001.
"""
_WAIT = 1.0  # seconds before the second call for a batch, doubled before each further one

type Encoder = Callable[[list[str]], ArrayLike]
"""A function that returns one vector for each text of a list, as an array of shape (texts, dimensions)."""


@dataclass(frozen=True)
class Calls:
    """An encoder and how it is called.

    - `encoder`, `name`: the function, and its name in messages.
    - `batch`, `attempts`: texts in a call, and calls for a batch that fails.
    - `timeout`: seconds that a call may take; None: any time.
    - `cached`: whether answers are kept, so that a later run continues.
    - `kind`: what the function is, in messages.
    """

    encoder: Callable[[list[Any]], Any]
    name: str
    batch: int
    attempts: int
    timeout: float | None
    cached: bool
    kind: str = "encoder"

    def vectors(self, texts: list[str], *, done: int = 0) -> NDArray[np.floating]:
        """Return the vectors of a batch, after several attempts if necessary; `done` counts the texts before it."""
        return self._checked(self.answer(texts, done=done), texts)

    def answer(self, texts: list[Any], *, done: int = 0) -> Any:
        """Return what the function returns for a batch, after several attempts if necessary."""
        for attempt in range(1, self.attempts + 1):
            try:
                return self._answer(texts)
            except (Exception, SystemExit) as fault:
                if isinstance(fault, SystemExit) and fault.code in (INTERRUPTED, TERMINATED):  # of this process
                    raise
                stored = " The texts before it are in the cache: the next run continues there." if self.cached else ""
                if lacks_memory(fault):
                    smaller = f"a smaller batch, such as {setting('batch', len(texts) // 4)}"
                    advice = smaller if len(texts) > 4 else "shorter texts"
                    raise NotEnoughMemoryError(
                        f"The {self.kind} has too little memory for {counted(len(texts), 'text')} at once. Give "
                        f"{advice}.{stored}"
                    ) from fault
                if attempt == self.attempts:
                    raise EmbeddingError(
                        f"The {self.kind} failed at texts {done + 1:,} to {done + len(texts):,} in "
                        f"{counted(attempt, 'attempt')}: {_reason(fault)}.{stored}"
                    ) from fault
                time.sleep(_WAIT * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _answer(self, texts: list[Any]) -> Any:
        """Return what the encoder returns, in a thread of its own if its time is limited."""
        if self.timeout is None:
            return self.encoder(texts)
        returned: list[Any] = []
        faults: list[BaseException] = []

        def call() -> None:
            try:
                returned.append(self.encoder(texts))
            except BaseException as fault:  # noqa: BLE001 - raised again below
                faults.append(fault)

        thread = threading.Thread(target=call, daemon=True)  # a call that hangs must not keep the program alive
        thread.start()
        thread.join(self.timeout)
        if faults:
            raise faults[0]
        if not returned:
            raise TimeoutError(f"no answer in {self.timeout:g} seconds")
        return returned[0]

    def _checked(self, returned: Any, texts: list[str]) -> NDArray[np.floating]:
        """Return the vectors that an encoder returned; raise `EmbeddingError` if they are not one for each text."""
        if inspect.isawaitable(returned):
            if inspect.iscoroutine(returned):
                returned.close()
            raise EmbeddingError(
                f"{self.name} is asynchronous: it returned a coroutine, not vectors. Give a function that waits for "
                "the answer: def encoder(texts): return asyncio.run(embed(texts))."
            )
        matrix = as_vectors(returned)
        if len(matrix) != len(texts):
            raise EmbeddingError(
                f"The encoder returned {len(matrix):,} vectors for {len(texts):,} texts. It must return one per text, "
                "in their order."
            )
        if not np.isfinite(matrix).all():
            row = int(np.argmin(np.isfinite(matrix).all(axis=1)))
            raise EmbeddingError(f"The encoder returned a NaN or an infinity for {texts[row]!r:.80}.")
        return matrix

    def check_repeated(self, texts: Sequence[str], before: Mapping[str, NDArray[np.floating]], where: str) -> None:
        """Encode some of the texts again; raise `EmbeddingError` if their vectors are others than `before`.

        `where` says where those come from, such as ``"in the cache"``.
        """
        some = spread_out(texts)
        if not some:
            return
        again, old = self.vectors(some), np.stack([before[text] for text in some])
        if again.shape != old.shape:
            raise self.of_sizes({again.shape[1], old.shape[1]})
        change = changes(again, old)
        if (change <= MOST_CHANGED).all():
            return
        third = self.vectors(some)
        repeats = (changes(third, again) <= MOST_CHANGED).all()
        row = int(np.argmax(change))
        difference = (
            f"{self.name} gives other vectors to {int((change > MOST_CHANGED).sum())} of {counted(len(some), 'text')} "
            f"than {where}: that of {some[row]!r:.60} moved by {change[row]:.2f} of its length ({MOST_CHANGED:g} is "
            "allowed for rounding)."
        )
        if repeats:
            raise EmbeddingError(
                f"{difference} Its model has changed. Encode all texts anew: name the new version "
                f"({_new_version()}), or give another cache."
            )
        raise EmbeddingError(
            f"{difference} Two calls for the same texts differ as well, so its answers are partly random. Dropout may "
            "be left on: call eval() of the model. Or a service answers with several models: ask for one version."
        )

    def of_sizes(self, sizes: Collection[int]) -> EmbeddingError:
        """Return the error of vectors of several sizes."""
        return EmbeddingError(
            f"{self.name} returned vectors of {' and '.join(map(str, sorted(sizes)))} dimensions. If its model has "
            f"changed, name the new version ({_new_version()}), or give another cache."
        )


def _new_version() -> str:
    return setting("version", "2", option="--version-of 2")


def _reason(fault: BaseException) -> str:
    if isinstance(fault, SystemExit):
        return f"it tried to end the program (sys.exit({fault.code!r}))"
    return f"{type(fault).__name__}: {fault}"


def spread_out(texts: Sequence[str]) -> list[str]:
    """Return at most eight texts, evenly spaced from the first to the last.

    >>> spread_out("abcdefghijklmno")
    ['a', 'c', 'e', 'g', 'i', 'k', 'm', 'o']
    """
    count = min(len(texts), REPEATED)
    return [texts[row] for row in np.linspace(0, len(texts) - 1, count).round().astype(int)]


def changes(vectors: NDArray[np.floating], before: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the distance of each vector from that before as a share of the longer length.

    >>> changes(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[3.0, 3.0], [0.0, 0.0]]))
    array([0.2, 0. ])
    """
    new, old = vectors.astype(np.float64), before.astype(np.float64)
    lengths = np.maximum(np.linalg.norm(new, axis=1), np.linalg.norm(old, axis=1))
    return np.asarray(np.linalg.norm(new - old, axis=1) / np.where(lengths > 0, lengths, 1.0))

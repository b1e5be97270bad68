"""One training with one seed, as a cell: any worker that is sent the corpus answers with the content of the file."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bayesbias.embeddings.training.corpus import Corpus, Trainer, resampled
from bayesbias.embeddings.training.trained import seed_content
from bayesbias.errors import ClusterError
from bayesbias.workers.cells import Answer, content_digest

CORPUS = "corpus"
"""Name of the only source of trainings."""

type TrainerOf = Callable[[Corpus, dict[str, Any], int], Trainer]
"""Takes a corpus, settings and a number of threads, and returns a function that trains with one seed."""


@dataclass(frozen=True, eq=False)
class TrainingCell:
    """A training with one seed; its answer has the content of the file.

    Parameters
    ----------
    trainer_of
        Function of the algorithm.
    package
        Name of the package that trains; a worker must have the version that the facts name.
    facts
        What the file says of the training.
    seed
        Seed of the training.
    """

    trainer_of: TrainerOf
    package: str
    facts: dict[str, Any]
    seed: int
    source: str = CORPUS

    @property
    def digest(self) -> str:
        """Hash of all that enters the answer."""
        return content_digest([self.facts, self.seed])

    def answer(self, source: Corpus) -> Answer:
        """Return the content of the file."""
        if (here := package_with_version(self.package)) != self.facts["trainer"]:
            raise ClusterError(
                f"This worker has {here}, and the run was started with {self.facts['trainer']}. Install the same."
            )
        words, train = words_and_trainer(self.trainer_of, source, self.facts["settings"], self.seed)
        arrays = train(self.seed, lambda _: None)
        return Answer({}, objects={"content": seed_content(words, arrays, {**self.facts, "seed": self.seed})})


def package_with_version(package: str) -> str:
    """Return the name and the version of an installed package, as the file of a training says them."""
    return f"{package} {version(package)}"


def words_and_trainer(
    trainer_of: TrainerOf, text: Corpus, settings: dict[str, Any], seed: int, *, threads: int = 1
) -> tuple[tuple[str, ...], Trainer]:
    """Return the words that get vectors, and the function that trains them, on drawn documents if settings say so."""
    if "resample" in settings:
        # A drawn document counts as often as it is drawn; which words have vectors was decided by the whole corpus.
        text, settings = resampled(text, seed), {**settings, "min_count": 1}
    return text.words, trainer_of(text, settings, threads)


def bytes_of_training(text: Corpus, settings: dict[str, Any]) -> int:
    """Return the least bytes that a training takes: the corpus, with its draw, and two matrices.

    >>> from bayesbias.embeddings.training.corpus import read_corpus
    >>> text = read_corpus([["a", "b", "a"], ["b", "c"]], min_count=1)
    >>> bytes_of_training(text, {"dimensions": 10}), 4 * len(text.stream) + 4 * 2 * 3 * 10
    (268, 268)
    """
    copies = 5 if "resample" in settings else 1
    rows = 2 * len(text.words) + settings.get("buckets", 0)
    return int(copies * text.stream.nbytes + 4 * rows * settings["dimensions"])

"""Commands for scores of a whole embedding: its remaining bias and its quality."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.checks import HDI_PROB
from bayesbias.cli.base import Loading, answer, command, printed

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.metrics.result import MeasureResult

Original = Annotated[
    Path | None,
    typer.Option(help="Embedding before debiasing, which selects the words and is the baseline of changes."),
]


@command()
def intrinsic(
    embedding: Path,
    loading: Loading,
    original: Original = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", help="Measure to print; by default all whose files are given. May be repeated."),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(help="File of words that should be neutral, one per line; by default all words made of letters."),
    ] = None,
    sembias: Annotated[Path | None, typer.Option(help="File of SemBias.")] = None,
    names: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="Two files of first names, female and male, one per line (for MIDB)."),
    ] = None,
    words_in_all: Annotated[
        int | None, typer.Option(help="Number of the most biased words to cluster and classify.")
    ] = None,
    neighbours: Annotated[int, typer.Option(help="Number of nearest neighbours of a word (for GIPE).")] = 100,
    splits: Annotated[int, typer.Option(help="Number of random splits (for recoverability).")] = 10,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    as_json: bool = False,
) -> None:
    """Print the bias that is left in the geometry of an embedding, and how debiasing changed it.

    Omits measures whose files are not given.

    Example:

        bayesbias intrinsic debiased.txt --original vectors.txt --sembias SemBias.txt
    """
    from bayesbias.base.checks import resolve_seed
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.quality.benchmark_files import read_words
    from bayesbias.metrics.registry import MEASURES, find_measure
    from bayesbias.metrics.registry import measure as run

    neutral = None if words is None else read_words(words)
    data: dict[str, Any] = {"path": sembias, "words": neutral}
    data["names"] = None if names is None else (read_words(names[0]), read_words(names[1]))
    if measure:
        chosen = [find_measure(name, "bias") for name in measure]
    else:
        every = [entry for entry in MEASURES.values() if entry.about == "bias"]
        chosen = [entry for entry in every if data[entry.data] is not None or not entry.required]
    chosen_seed = resolve_seed(random_seed)
    options = {"random_seed": chosen_seed, "hdi_prob": hdi_prob, "words": neutral}
    options |= {"neighbours": neighbours, "splits": splits}
    options |= {} if words_in_all is None else {"words_in_all": words_in_all}
    # Or a change of the vectors' length alone would look like one of bias.
    options |= {} if original is None else {"normalize": True}
    sources = [load_embedding(path, **loading) for path in _paths(embedding, original)]

    def scored(source: "Embedding") -> "list[MeasureResult]":
        return [
            run(entry.name, source, data[entry.data], **entry.accepted(reference=sources[-1], **options))
            for entry in chosen
        ]

    _answer([scored(source) for source in sources], chosen_seed, hdi_prob, as_json=as_json)


@command()
def quality(
    embedding: Path,
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Files of word similarities and of analogies.")],
    loading: Loading,
    original: Original = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    as_json: bool = False,
) -> None:
    """Print how well an embedding predicts word similarities and analogies, and how debiasing changed that.

    Each line of a file holds two words and a score, or the four words of an analogy.

    Example:

        bayesbias quality debiased.txt RG-65.txt questions-words.txt --original vectors.txt
    """
    from bayesbias.base.checks import resolve_seed
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.quality.benchmark_files import benchmark_measure
    from bayesbias.metrics.registry import measure

    chosen_seed = resolve_seed(random_seed)
    measures = {path: benchmark_measure(path) for path in files}
    sources = [load_embedding(path, **loading) for path in _paths(embedding, original)]

    def scored(source: "Embedding") -> "list[MeasureResult]":
        return [
            measure(name, source, path, random_seed=chosen_seed, hdi_prob=hdi_prob) for path, name in measures.items()
        ]

    labels = [path.name for path in measures]
    _answer([scored(source) for source in sources], chosen_seed, hdi_prob, labels=labels, as_json=as_json)


def _paths(embedding: Path, original: Path | None) -> list[Path]:
    return [embedding] if original is None else [embedding, original]


def _answer(
    scores: "Sequence[Sequence[MeasureResult]]",
    seed: int,
    hdi_prob: float,
    *,
    labels: Sequence[str] | None = None,
    as_json: bool,
) -> None:
    """Print the scores of an embedding, and their changes from the original if it is given."""
    import pandas as pd

    from bayesbias.base.number_text import percent_text
    from bayesbias.metrics.paired_changes import paired_change

    names = labels or [score.measure for score in scores[0]]

    def stacked(frames: "list[pd.DataFrame]") -> "pd.DataFrame":
        return pd.concat(
            [frame.assign(score=name) for name, frame in zip(names, frames, strict=True)], ignore_index=True
        )

    columns = ["score", "quantity", "value", "hdi_low", "hdi_high", "items", "coverage"]
    estimates = stacked([pd.DataFrame(score.estimates).assign(coverage=score.coverage) for score in scores[0]])[columns]
    inside = f"{percent_text(hdi_prob)} HPDI, seed {seed}"
    parts = [f"{scores[0][0].embedding} ({inside})\n{printed(estimates)}"]
    data: dict[str, Any] = {
        "embedding": scores[0][0].embedding,
        "random_seed": seed,
        "hdi_prob": hdi_prob,
        "scores": estimates,
    }
    if len(scores) > 1:
        pairs = zip(scores[1], scores[0], strict=True)
        changes = stacked([paired_change(old, new, random_seed=seed, hdi_prob=hdi_prob) for old, new in pairs])
        changes = changes[["score", *(name for name in changes if name != "score")]]
        parts.append(f"Changes since {scores[1][0].embedding}, on the same items ({inside})\n{printed(changes)}")
        data |= {"original": scores[1][0].embedding, "changes": changes}
    answer("\n\n".join(parts), data, as_json=as_json)

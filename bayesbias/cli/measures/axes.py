"""The command that projects words on axes of opposite words."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import Delivery, Loading, Settings, command
from bayesbias.errors import ArgumentError


@command()
def project(
    embedding: Path,
    axis: Annotated[
        list[str],
        typer.Option(help="Bundled pairs, such as gender or affluence, or a TOML file with pairs. May be repeated."),
    ],
    loading: Loading,
    projecting: Annotated[Settings, "bb.project max_lost random_seed hdi_prob"],
    delivery: Delivery,
    words: Annotated[Path | None, typer.Option(help="File of words to project, one per line.")] = None,
    study: Annotated[str | None, typer.Option(help="Bundled study or TOML file whose words are projected.")] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(help="CSV file with a column word and columns of numbers, which projections are compared with."),
    ] = None,
) -> None:
    """Project words on axes that pairs of opposite words name, with the pairs as the sample.

    Prints whether the pairs of each axis agree, which words lie on which side, and how far this agrees with ratings.
    Without --words and --study, the words are those of the ratings.

    Example:

        bayesbias project vectors.txt --axis gender --axis affluence --words occupations.txt --output axes/
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.directions.word_scores import as_base_pairs
    from bayesbias.metrics.quality.benchmark_files import read_words
    from bayesbias.models.covariates import read_covariates
    from bayesbias.reports.axes.project import project as project_words
    from bayesbias.reports.axes.ratings import checked_ratings
    from bayesbias.studies.study import load_study

    delivery.begin()
    rated = None if ratings is None else read_covariates(ratings)
    if words is not None and study is None:
        chosen = read_words(words)
    elif study is not None and words is None:
        chosen = list(load_study(study).words)
    elif rated is not None and words is None:
        chosen = checked_ratings(rated).index.tolist()
    else:
        raise ArgumentError("Give the words to project: either --words or --study, or --ratings alone.")
    pair_words = [word for name in axis for pair in as_base_pairs(name) for word in pair]
    source = load_embedding(embedding, words=[*chosen, *pair_words], **loading)
    delivery.finish(project_words(source, chosen, axis, ratings=rated, **projecting))

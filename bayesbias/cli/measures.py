"""Commands for the single-number measures, and what they do where there is nothing to find."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import Case, Overwrite, Seed, app, printed
from bayesbias.errors import ReportError


class Statistic(StrEnum):
    """What WEAT's test statistic adds up."""

    SUM = "sum"
    MEAN = "mean"


VectorsFile = Annotated[Path, typer.Argument(help="An embedding, as for `bayesbias table`.")]
StudyName = Annotated[str, typer.Option(help="A bundled study or a TOML file.")]


@app.command()
def weat(
    embedding: VectorsFile,
    study: StudyName,
    targets: Annotated[
        tuple[str, str] | None, typer.Option(help="Two protected groups, where the study has more.")
    ] = None,
    attributes: Annotated[
        tuple[str, str] | None, typer.Option(help="Two attribute groups, where the study does not determine them.")
    ] = None,
    statistic: Annotated[Statistic, typer.Option(help="A difference of sums, or of means.")] = Statistic.SUM,
    ddof: Annotated[int, typer.Option(help="1: divide by n - 1 in the effect size; 0: by n.")] = 1,
    samples: Annotated[int, typer.Option(help="Permutations, where there are more than a million.")] = 100_000,
    seed: Seed = None,
    case: Annotated[Case, typer.Option(help="How a word is looked up.")] = Case.EXACT,
    file_format: Annotated[str, typer.Option("--format", help="The embedding's format, if not recognised.")] = "auto",
) -> None:
    """Print the Word Embedding Association Test: effect size, p-value, and each word's association.

    Example:

        bayesbias weat vectors.txt --study weat7
    """
    from bayesbias.embeddings import load_embedding
    from bayesbias.metrics import weat as measure
    from bayesbias.models.sampling import resolve_seed
    from bayesbias.studies import load_study

    loaded = load_study(study)
    vectors = load_embedding(embedding, words=loaded.words, format=file_format, case=case.value)
    result = measure(
        vectors,
        loaded,
        targets=targets,
        attributes=attributes,
        statistic=statistic.value,
        ddof=ddof,
        samples=samples,
        random_seed=resolve_seed(seed),
    )
    print(f"{result}\n\n{printed(result.words)}")


@app.command()
def null(
    protected: Annotated[tuple[int, int], typer.Option(help="Words in the two protected groups.")] = (8, 8),
    attributes: Annotated[tuple[int, int], typer.Option(help="Words in the two attribute groups.")] = (8, 8),
    sd: Annotated[float, typer.Option(help="Standard deviation of the cosine distances.")] = 0.08,
    attribute_sd: Annotated[float, typer.Option(help="Standard deviation of effects of attribute words.")] = 0.0,
    word_sd: Annotated[float, typer.Option(help="Standard deviation of a word's distance to a whole list.")] = 0.0,
    samples: Annotated[int, typer.Option(help="Simulated data sets.")] = 10_000,
    effect_size: Annotated[float | None, typer.Option(help="An observed WEAT effect size to place.")] = None,
    mac: Annotated[float | None, typer.Option(help="An observed MAC to place.")] = None,
    claims: Annotated[
        int, typer.Option(help="Data sets on which each method is tried for false claims; 0 for none.")
    ] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A .png file for the figure.")] = None,
    seed: Seed = None,
    overwrite: Overwrite = False,
) -> None:
    """Simulate WEAT and MAC where nothing is associated, and place an observed value among them.

    Example:

        bayesbias null --effect-size 1.267 --output null.png
    """
    from bayesbias.files import check_output
    from bayesbias.models.sampling import resolve_seed
    from bayesbias.reports.false_claims import false_claims
    from bayesbias.reports.nulls import null_share, simulate_null

    if output is not None:
        if output.suffix != ".png":
            raise ReportError(f"{output}: the figure is a .png file. Give it that ending.")
        check_output(output, overwrite=overwrite)
    chosen = resolve_seed(seed)
    simulated = simulate_null(
        protected=protected,
        attributes=attributes,
        sd=sd,
        attribute_sd=attribute_sd,
        word_sd=word_sd,
        samples=samples,
        random_seed=chosen,
    )
    print(f"{samples:,} data sets without any association, seed {chosen}")
    described = simulated.to_dataframe().describe(percentiles=[0.025, 0.5, 0.975]).T.drop(columns="count")
    print(printed(described.rename_axis("quantity").reset_index()))
    observed = {name: value for name, value in (("effect_size", effect_size), ("mac", mac)) if value is not None}
    if observed:
        print("\nShare of them at least as extreme (two-sided), with its Monte Carlo error")
        print(printed(null_share(simulated, **observed), digits=4))
    if claims:
        print(f"\nHow often each method claims an association that is not there, in {claims:,} data sets")
        claimed = false_claims(
            protected=protected,
            attributes=attributes,
            sd=sd,
            attribute_sd=attribute_sd,
            word_sd=word_sd,
            data_sets=claims,
            random_seed=chosen,
        )
        print(printed(claimed))
    if output is not None:
        from bayesbias.plots.nulls import plot_null
        from bayesbias.plots.style import save_figure

        save_figure(plot_null(simulated, observed=observed or None), output, overwrite=overwrite)
        print(f"Wrote {output}.")

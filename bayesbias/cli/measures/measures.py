"""Commands for single-number measures and for their values in data without any association."""

from ast import literal_eval
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.lost_words import MAX_LOST
from bayesbias.cli.base import Loading, answer, claim, command, printed
from bayesbias.errors import MeasureError, ReportError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.metrics.result import MeasureResult


class Statistic(StrEnum):
    """Test statistics of WEAT."""

    SUM = "sum"
    MEAN = "mean"


@command()
def weat(
    embedding: Path,
    study: str,
    loading: Loading,
    targets: Annotated[
        tuple[str, str] | None, typer.Option(help="Two protected groups, if the study has more.")
    ] = None,
    attributes: Annotated[
        tuple[str, str] | None, typer.Option(help="Two attribute groups, if the study does not determine them.")
    ] = None,
    statistic: Annotated[
        Statistic, typer.Option(help="Test statistic: a difference of sums or of means.")
    ] = Statistic.SUM,
    ddof: Annotated[int, typer.Option(help="Divisor in the effect size: 1 for n - 1, 0 for n.")] = 1,
    samples: Annotated[
        int, typer.Option(help="Number of random permutations, if there are more than a million in all.")
    ] = 100_000,
    random_seed: int | None = None,
    max_lost: float = MAX_LOST,
    as_json: bool = False,
) -> None:
    """Print the Word Embedding Association Test: effect size, p-value and the association of each word.

    Example:

        bayesbias weat vectors.txt --study weat7
    """
    options: dict[str, Any] = {"targets": targets, "attributes": attributes, "statistic": statistic.value, "ddof": ddof}
    options |= {"samples": samples, "random_seed": random_seed, "max_lost": max_lost}
    _print_measure("weat", embedding, study, options, loading, as_json=as_json)


@command()
def null(
    protected: Annotated[tuple[int, int], typer.Option(help="Numbers of words in the two protected groups.")] = (8, 8),
    attributes: Annotated[tuple[int, int], typer.Option(help="Numbers of words in the two attribute groups.")] = (8, 8),
    sd: Annotated[float, typer.Option(help="Standard deviation of the cosine distances.")] = 0.08,
    attribute_sd: Annotated[float, typer.Option(help="Standard deviation of the effects of attribute words.")] = 0.0,
    word_sd: Annotated[
        float, typer.Option(help="Standard deviation of the distances of protected words to a whole list.")
    ] = 0.0,
    samples: Annotated[int, typer.Option(help="Number of simulated data sets.")] = 10_000,
    effect_size: Annotated[
        float | None, typer.Option(help="Observed WEAT effect size to locate among the simulated ones.")
    ] = None,
    mac: Annotated[float | None, typer.Option(help="Observed MAC to locate among the simulated ones.")] = None,
    claims: Annotated[
        int, typer.Option(help="Number of data sets on which the false claims of each method are counted; 0 for none.")
    ] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A .png file for the figure.")] = None,
    random_seed: int | None = None,
    as_json: bool = False,
    overwrite: bool = False,
) -> None:
    """Simulate WEAT and MAC without any association, and locate an observed value among the simulated ones.

    Example:

        bayesbias null --effect-size 1.267 --output null.png
    """
    from bayesbias.base.checks import resolve_seed
    from bayesbias.base.files.outputs import check_output
    from bayesbias.reports.measures.false_positive_rates import false_positive_rates
    from bayesbias.reports.measures.null_simulation import null_share, simulate_null

    if output is not None:
        if output.suffix != ".png":
            raise ReportError(f"{output}: the figure is a .png file. Use the ending .png.")
        check_output(output, overwrite=overwrite)
        claim(output)
    if effect_size is not None and not abs(effect_size) <= 2:
        raise ReportError(f"--effect-size {effect_size:g}: an effect size lies between -2 and 2.")
    if mac is not None and not 0 <= mac <= 2:
        raise ReportError(f"--mac {mac:g}: a mean distance lies between 0 and 2.")
    chosen = resolve_seed(random_seed)
    simulated = simulate_null(
        protected=protected,
        attributes=attributes,
        sd=sd,
        attribute_sd=attribute_sd,
        word_sd=word_sd,
        samples=samples,
        random_seed=chosen,
    )
    parts = [f"{samples:,} data sets without any association, seed {chosen}\n{printed(simulated.summary)}"]
    data: dict[str, Any] = {"samples": samples, "random_seed": chosen, "null": simulated.summary}
    observed = {name: value for name, value in (("effect_size", effect_size), ("mac", mac)) if value is not None}
    if observed:
        data["shares"] = null_share(simulated, **observed)
        title = "Share of them at least as extreme (two-sided), with its Monte Carlo error"
        parts.append(f"{title}\n{printed(data['shares'], digits=4)}")
    if claims:
        data["claims"] = false_positive_rates(
            protected=protected,
            attributes=attributes,
            sd=sd,
            attribute_sd=attribute_sd,
            word_sd=word_sd,
            samples=claims,
            random_seed=chosen,
        ).rates
        title = f"How often each method claims an association that is not there, in {claims:,} data sets"
        parts.append(f"{title}\n{printed(data['claims'])}")
    answer("\n\n".join(parts), data, as_json=as_json)
    if output is not None:
        from bayesbias.delivery.plots.measures.nulls import plot_null
        from bayesbias.delivery.plots.style import save_figure

        save_figure(plot_null(simulated, observed=observed or None), output, overwrite=overwrite)
        answer(f"Wrote {output}.", quiet=as_json)


@command()
def measures(as_json: bool = False) -> None:
    """List every measure: its formula, sign, range, word lists and source.

    Compute one with `bayesbias measure NAME VECTORS --study STUDY`. Measures of a whole embedding come last; compute
    them with `bayesbias intrinsic VECTORS` and `bayesbias quality VECTORS FILES`.
    """
    from bayesbias.metrics.registry import MEASURES

    listed = sorted(MEASURES.values(), key=lambda entry: entry.about)
    cards = {entry.name: {"title": entry.title, **entry.card} for entry in listed}
    lines = [
        "\n".join([f"{name}: {card.pop('title')}", *(f"  {title:12} {text}" for title, text in card.items())])
        for name, card in ({} if as_json else cards).items()
    ]
    last = (
        "\nCompute one with `bayesbias measure NAME VECTORS --study STUDY`; measures of a whole embedding with "
        "`bayesbias intrinsic VECTORS` (bias) and `bayesbias quality VECTORS FILES`."
    )
    answer("\n".join([*lines, last]), cards, as_json=as_json)


@command()
def measure(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a measure, from `bayesbias measures`.")],
    embedding: Path,
    study: str,
    loading: Loading,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="Option of the measure as key=value, such as ddof=0. May be repeated."),
    ] = None,
    max_lost: float = MAX_LOST,
    as_json: bool = False,
) -> None:
    """Print a measure of a study in an embedding.

    Measures of single words are summarised over all base pairs.

    For example:

        bayesbias measure rnd vectors.txt --study weat7

        bayesbias measure weat_score vectors.txt --study religion --option targets=jew,muslim
    """
    options: dict[str, Any] = {}
    for text in option or ():
        key, value = _key_and_value(text)
        if key in options:
            raise MeasureError(f"--option {text!r}: {key!r} has a value already. Give each option once.")
        if key in ("name", "embedding", "study", "max_lost"):
            raise MeasureError(f"--option {text!r}: {key!r} is an argument of the command, and no option of a measure.")
        options[key] = value
    options["max_lost"] = max_lost
    _print_measure(name, embedding, study, options, loading, as_json=as_json)


def _print_measure(
    name: str, embedding: Path, study: str, options: Mapping[str, Any], loading: Mapping[str, Any], *, as_json: bool
) -> None:
    """Print a measure of a study in an embedding, and its scores of words."""
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.registry import find_measure, measure
    from bayesbias.studies.study import load_study

    find_measure(name, "association")
    # The measure reads the file itself: it knows which words it needs.
    vectors: Any = partial(load_embedding, embedding, **loading)
    result = measure(name, vectors, load_study(study), **options)
    answer(f"{result}\n\n{printed(_scores(result))}", result.to_dict(), as_json=as_json)


def _scores(result: "MeasureResult") -> "pd.DataFrame":
    """Return the scores of words without empty columns; scores by base pair as mean, lowest and highest."""
    scores = result.scores
    labels = [name for name in ("word", "group", "attribute_group") if (scores[name] != "").any()]
    if not (scores["base_pair"] != "").any():
        return scores[[*labels, "score"]]
    by_word = scores.groupby(labels, sort=False)["score"]
    return by_word.agg(mean="mean", lowest="min", highest="max", base_pairs="size").reset_index()


def _key_and_value(text: str) -> tuple[str, Any]:
    """Return the name and value of an option: a Python literal, true, false, none, names with commas, or a text."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise MeasureError(f"--option {text!r}: write it as key=value, such as ddof=0.")
    named = {"true": True, "false": False, "none": None}
    if value.lower() in named:
        return key, named[value.lower()]
    try:
        return key, literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return key, tuple(part.strip() for part in value.split(",")) if "," in value else value

"""Measures of a study, of words on an axis, and of a whole embedding."""

from ast import literal_eval
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.cli.base import Delivery, Loading, Settings, answer, claim, command, names_of, printed
from bayesbias.errors import (
    ArgumentError,
    BayesBiasWarning,
    MeasureError,
    QuestionWarning,
    ReportError,
    warn_user,
)

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.metrics.measure_result import MeasureResult


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
        str | None, typer.Option(help="Two protected groups, such as jew,muslim, if the study has more.")
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(help="Two attribute groups, such as male,female, if the study does not determine them."),
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

    The p-value takes the attribute words as given; `bayesbias random-lists` counts how often random ones have p < 0.05.

    Example:

        bayesbias weat vectors.txt --study weat7
    """
    options: dict[str, Any] = {
        "targets": targets and names_of(targets),
        "attributes": attributes and names_of(attributes),
        "statistic": statistic.value,
        "ddof": ddof,
    }
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
        from bayesbias.delivery.plots.measures import plot_null
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
        return key, names_of(value) if "," in value else value


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

    Omits measures whose files are not given, and for more than 100,000 words GIPE, which compares each word with all.

    Example:

        bayesbias intrinsic debiased.txt --original vectors.txt --sembias SemBias.txt
    """
    from bayesbias.base.checks import resolve_seed
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.intrinsic.proximity import GIPE, MOST_WORDS
    from bayesbias.metrics.intrinsic.quality import read_words
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
    if not measure and (large := next((source for source in sources if len(source) > MOST_WORDS), None)):
        chosen = [entry for entry in chosen if entry.name != GIPE.name]
        warn_user(
            f"GIPE is left out: it compares each word of {large.name} with all {len(large):,}. To compute it, give "
            f"--measure {GIPE.name}, with --words FILE for fewer words.",
            BayesBiasWarning,
        )

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
    from bayesbias.metrics.intrinsic.quality import benchmark_measure
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
    study: Annotated[str | None, typer.Option(help="Bundled study or file whose words are projected.")] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(help="CSV file with a column word and columns of numbers, which projections are compared with."),
    ] = None,
    word_column: str | None = None,
) -> None:
    """Project words on axes that pairs of opposite words name, with the pairs as the sample.

    Prints whether the pairs of each axis agree, which words lie on which side, and how far this agrees with ratings.
    Without --words and --study, the words are those of the ratings that the embedding has.

    Example:

        bayesbias project vectors.txt --axis gender --axis affluence --words occupations.txt --output axes/
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.directions.word_scores import as_base_pairs
    from bayesbias.metrics.intrinsic.quality import read_words
    from bayesbias.models.covariates import read_covariates
    from bayesbias.reports.axes.project import project as project_words
    from bayesbias.reports.axes.ratings import checked_ratings
    from bayesbias.studies.study import load_study

    delivery.begin()
    rated = None if ratings is None else read_covariates(ratings, word_column)
    if words is not None and study is None:
        chosen = read_words(words)
    elif study is not None and words is None:
        chosen = list(load_study(study).words)
    elif rated is not None and words is None:
        numbers = checked_ratings(rated)
        chosen = numbers.index[numbers.notna().any(axis=1)].tolist()
    else:
        raise ArgumentError("Give the words to project: either --words or --study, or --ratings alone.")
    pair_words = [word for name in axis for pair in as_base_pairs(name) for word in pair]
    source = load_embedding(embedding, words=[*chosen, *pair_words], **loading)
    if words is None and study is None:  # any rated words answer the question: those that the file lacks are not lost
        rated_words, chosen = chosen, [word for word in chosen if word in source]
        if len(chosen) < len(rated_words):
            warn_user(
                f"{len(chosen):,} of {counted(len(rated_words), 'rated word')} are in the embedding; the others are "
                "left out.",
                QuestionWarning,
            )
    delivery.finish(project_words(source, chosen, axis, ratings=rated, **projecting))

"""The command that compares the asymmetry of associations between people and vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    Output,
    Overwrite,
    Quiet,
    Seed,
    app,
    begin,
    finish,
)
from bayesbias.cli.own_embeddings.contextual import Contexts, Device

if TYPE_CHECKING:
    from bayesbias.asymmetry import Evocation
    from bayesbias.asymmetry.ratios.report import Source
    from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource


@app.command(cls=Command)
def asymmetry(
    norms: Annotated[
        Path, typer.Argument(metavar="NORMS", help="File of free association norms: USF, EAT, SWOW or a table.")
    ],
    embeddings: Annotated[
        list[Path],
        typer.Argument(metavar="VECTORS...", help="Files of embeddings, or folders of masked language models."),
    ],
    output: Output,
    relations: Annotated[
        Path | None,
        typer.Option(
            help="File of relations between words (head, relation, tail), such as ConceptNet's or EVALution's."
        ),
    ] = None,
    relation: Annotated[
        list[str] | None, typer.Option(help="Relation to report; by default all. May be repeated.")
    ] = None,
    context: Annotated[
        Path | None,
        typer.Option(
            help="File of context vectors, used for responses; for one that `bayesbias train` wrote, the same file "
            "again. Requires exactly one embedding."
        ),
    ] = None,
    further_norms: Annotated[
        list[Path] | None, typer.Option("--norms", help="Further file of norms, compared too. May be repeated.")
    ] = None,
    separately: Annotated[
        bool, typer.Option("--own", help="Compare each source on its own pairs, not on those that all sources have.")
    ] = False,
    gamma: Annotated[
        list[float] | None,
        typer.Option(help="LARs from -gamma to gamma have no direction; by default 0. May be repeated."),
    ] = None,
    either: Annotated[
        bool, typer.Option("--either", help="Include pairs that the norms list in one direction only.")
    ] = False,
    temperature: Annotated[float, typer.Option(help="Temperature of the softmax over the words of the norms.")] = 1.0,
    study: Annotated[
        str | None,
        typer.Option(
            help="Study whose protected and attribute words are compared too: a bundled study or a TOML file."
        ),
    ] = None,
    contexts: Contexts = None,
    device: Device = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    file_format: FileFormat = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare people and vectors: which word of a pair evokes the other more.

    Writes a page, figures and tables of pairs, means of relations, agreement (CAM), accuracy and omitted pairs; with
    --study also means and contrasts of the study. Download the norms and relations from their authors.

    Example:

        bayesbias asymmetry strength.SWOW-EN.R1.csv vectors.txt --relations relations.csv --output evoked/

    A masked language model needs an index of contexts (--contexts), which `bayesbias contexts` builds.
    """
    from bayesbias import asymmetry as room
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.results import Result, ResultGroup
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.training.trained import read_matrices
    from bayesbias.errors import ArgumentError
    from bayesbias.studies.study import load_study

    begin(output, overwrite=overwrite)
    check_probability("hdi_prob", hdi_prob)
    chosen = resolve_seed(seed)
    if context is not None and len(embeddings) != 1:
        raise ArgumentError(f"--context needs exactly one embedding, not {len(embeddings)}.")
    study_words = [] if study is None else load_study(study).words
    people = _named_norms([norms, *(further_norms or [])])
    relation_pairs = None if relations is None else room.read_relations(relations)

    def source(path: Path) -> "Callable[..., ConditionalSource]":
        """Return what makes a source for a vocabulary."""
        if path.is_dir():
            if contexts is None:
                raise ArgumentError(
                    f"{path} is the folder of a language model, which needs --contexts, an index of a corpus."
                )
            model = room.masked_model(path, contexts, device=device, random_seed=chosen, progress=not quiet)
            return lambda _: model
        if context is not None and context == path:
            cues, responses = read_matrices(path)
        else:
            words = [*study_words, *(word for of_people in people.values() for word in of_people.vocabulary)]
            cues = load_embedding(path, words=words, format=file_format, case=case)
            responses = cues if context is None else load_embedding(context, words=words, format=file_format, case=case)
        return lambda vocabulary: room.static(cues, responses, vocabulary=vocabulary, temperature=temperature)

    if contexts is not None and not any(path.is_dir() for path in embeddings):
        raise ArgumentError("--contexts is for folders of language models, and none is given. Leave it out.")
    makers = {path.stem: source(path) for path in embeddings}
    sources = {name: _of_norms(made) for name, made in makers.items()}
    if len(sources) < len(embeddings):
        raise ArgumentError("Two embeddings have the same name. Give each once, in files with different names.")
    seen = "either" if either else "both"
    first = next(iter(people.values()))
    result: Result = room.report(
        first if len(people) == 1 else people,
        sources,
        relation_pairs,
        relation=relation,
        seen=seen,
        common=not separately,
        gamma=gamma or 0.0,
        hdi_prob=hdi_prob,
        random_seed=chosen,
    )
    if study is not None:
        # The words of the study that people did not give are responses too.
        vocabulary = list(dict.fromkeys([*first.vocabulary, *study_words]))
        of_study = {
            name: room.study_asymmetry(made(vocabulary), study, hdi_prob=hdi_prob) for name, made in makers.items()
        }
        result = ResultGroup(result.contents.title, {"norms": result, **of_study})
    finish(result, output, as_json=as_json, quiet=quiet, overwrite=overwrite)


def _of_norms(made: "Callable[..., ConditionalSource]") -> "Source":
    return lambda norms: made(norms.vocabulary)


def _named_norms(paths: list[Path]) -> "dict[str, Evocation]":
    """Return norms by their names, or by the names of their files where two have the same."""
    from bayesbias import asymmetry as room
    from bayesbias.errors import ArgumentError

    every = {path.name.split(".")[0]: room.evocation(room.read_evocation(path)) for path in paths}
    if len(every) < len(paths):
        raise ArgumentError("Two files of norms have the same name. Give each once, in files with different names.")
    by_name = {of_people.name: of_people for of_people in every.values()}
    return by_name if len(by_name) == len(every) else every

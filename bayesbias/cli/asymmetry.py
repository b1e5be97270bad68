"""The command for the asymmetry of associations: people's, and those of vectors."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Case,
    Command,
    HdiProb,
    Overwrite,
    Quiet,
    Seed,
    answer,
    app,
    claim,
)
from bayesbias.cli.contextual import Contexts, Device

_PAGE = "asymmetry.html"


@app.command(cls=Command)
def asymmetry(
    norms: Annotated[Path, typer.Argument(metavar="NORMS", help="Free association norms: USF, EAT, SWOW, or a table.")],
    embeddings: Annotated[
        list[Path],
        typer.Argument(metavar="VECTORS...", help="Embeddings, a file each, or folders of masked language models."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    relations: Annotated[
        Path | None, typer.Option(help="Relations of words: head, relation, tail; ConceptNet, EVALution.")
    ] = None,
    relation: Annotated[list[str] | None, typer.Option(help="Only this relation. May be repeated.")] = None,
    context: Annotated[
        Path | None, typer.Option(help="The context vectors of the one embedding, which then answer for responses.")
    ] = None,
    either: Annotated[
        bool, typer.Option("--either", help="Pairs that are listed in one direction alone, too.")
    ] = False,
    temperature: Annotated[float, typer.Option(help="Of the softmax over the norms' words.")] = 1.0,
    study: Annotated[
        str | None, typer.Option(help="Also ask whether a study's protected words evoke its attribute words more.")
    ] = None,
    contexts: Contexts = None,
    device: Device = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    file_format: Annotated[str, typer.Option("--format", help="The embeddings' format, if not recognised.")] = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask people and vectors which word of a pair evokes the other more, and whether they agree.

    Writes the page asymmetry.html, asymmetry.png, asymmetry.txt, pairs.csv, relations.csv (means), agreement.csv
    (CAM), accuracy.csv and left_out.csv; with --study also study.txt, study_means.csv and study_contrasts.csv. Norms
    and relations are downloaded by yourself. Example:

        bayesbias asymmetry strength.SWOW-EN.R1.csv vectors.txt --relations relations.csv --output evoked/

    The folder of a masked language model is asked about words in the contexts of an index (bayesbias contexts).
    """
    from bayesbias import asymmetry as room
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.outputs import check_folder, whole_folder
    from bayesbias.delivery.page.asymmetry import write_asymmetry_page
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.errors import ArgumentError
    from bayesbias.results import ASYMMETRY, write_asymmetry

    check_folder(output, overwrite=overwrite)
    claim(output)
    check_probability("hdi_prob", hdi_prob)
    chosen = resolve_seed(seed)
    if context is not None and len(embeddings) != 1:
        raise ArgumentError(f"--context goes with one embedding, and there are {len(embeddings)}.")
    people = room.evocation(room.read_evocation(norms))
    known = None if relations is None else room.read_relations(relations)

    def source(path: Path) -> "room.ConditionalSource":
        if path.is_dir():
            if contexts is None:
                raise ArgumentError(f"{path} is a folder of a language model: give --contexts, an index of a corpus.")
            return room.masked_model(path, contexts, device=device, random_seed=chosen, progress=not quiet)
        words = people.vocabulary
        cues = load_embedding(path, words=words, format=file_format, case=case)
        responses = None if context is None else load_embedding(context, words=words, format=file_format, case=case)
        return room.static(cues, responses, vocabulary=words, temperature=temperature)

    sources = {path.stem: source(path) for path in embeddings}
    if len(sources) < len(embeddings):
        raise ArgumentError("Two embeddings have the same name. Give each once, in files of different names.")
    seen = "either" if either else "both"
    found = room.report(people, sources, known, relation=relation, seen=seen, hdi_prob=hdi_prob, random_seed=chosen)
    asked = (
        {}
        if study is None
        else {name: room.study_asymmetry(each, study, hdi_prob=hdi_prob) for name, each in sources.items()}
    )
    with whole_folder(output, names=(*ASYMMETRY, _PAGE), overwrite=overwrite) as folder:
        write_asymmetry(found, folder, studies=asked)
        write_asymmetry_page(found, folder / _PAGE)
    wrote = f"Wrote {output}. Open {output / _PAGE} in a browser: the answer on one page."
    texts = [str(found), *(str(each) for each in asked.values()), wrote]
    answer(
        "\n\n".join(texts),
        {"report": found, "studies": asked, "output": str(output)},
        as_json=as_json,
        quiet=quiet,
    )

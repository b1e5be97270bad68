"""The command that prints the reliability of bias scores."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MAX_LOST,
    OF_SEEDS,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    MaxLost,
    OptionalOutput,
    Overwrite,
    Quiet,
    Seed,
    SeedFiles,
    answer,
    app,
    begin,
    file_names,
    finish,
    printed,
)
from bayesbias.errors import InputFileError

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 5


@app.command(cls=Command)
def reliability(
    embeddings: SeedFiles,
    words: Annotated[str, typer.Option(help="Target words: occ16, occ18, adj or a TOML file.")] = "occ18",
    base_pairs: Annotated[str, typer.Option(help="Base pairs: gender or a TOML file.")] = "gender",
    queries: Annotated[str, typer.Option(help="Queries: gender or a TOML file.")] = "gender",
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="Scoring rule: db_wa, ripa, ripa_unit or nbm; by default all but ripa_unit. May be repeated."
        ),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: FileFormat = "auto",
    output: OptionalOutput = None,
    counts: Annotated[
        Path | None, typer.Option(help="CSV file of words' frequencies, columns word and count; with --output.")
    ] = None,
    properties: Annotated[
        str,
        typer.Option(help="Properties of words: wordnet (English) or a CSV file with a column word; with --output."),
    ] = "wordnet",
    table_2: Annotated[
        bool, typer.Option("--drivers/--no-drivers", help="Whether to estimate what explains reliability (table 2).")
    ] = True,
    draws: Annotated[int, typer.Option(help="Draws of what explains reliability, in each of four chains.")] = 1000,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Print how reliable bias scores are over seeds, scoring rules and words, or write a page with figures.

    Prints the lowest reliabilities, and all with --json. A TOML file of your own holds words = ["nurse", ...],
    pairs = [["he", "she"], ...] and a table [queries] of lists.

    With --output it writes figures 2 to 5 and table 2 of Du, Fang and Nguyen (2021). Files of different folders, two or
    more in each, are then seeds of different algorithms or corpora.

    Example:

        bayesbias reliability seed1.npz seed2.npz seed3.npz --words occ18

        bayesbias reliability skipgram/*.npz glove/*.npz --words occ18 --output reliability/
    """
    from bayesbias import reliability as room
    from bayesbias.base.checks import check_probability
    from bayesbias.base.files.inputs import input_file
    from bayesbias.base.number_text import counted, percent_text
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.directions.word_scores import load_base_pairs
    from bayesbias.reliability.scores import score_array

    check_probability("hdi_prob", hdi_prob)
    if output is not None:
        begin(output, overwrite=overwrite)
        finish(
            room.reliability_report(
                {
                    name: {path.stem: load_embedding(input_file(path), format=file_format, case=case) for path in paths}
                    for name, paths in _trainings(embeddings).items()
                },
                {Path(words).stem: room.load_target_words(words)},
                rules=rule or ("db_wa", "ripa", "nbm"),
                base_pairs=load_base_pairs(base_pairs),
                queries=room.load_queries(queries),
                counts=None if counts is None else _counts(counts),
                properties=room.load_word_properties(properties),
                table_2=table_2,
                draws=draws,
                hdi_prob=hdi_prob,
                max_lost=max_lost,
                random_seed=seed,
                progress=not quiet,
            ),
            output,
            as_json=as_json,
            quiet=quiet,
            overwrite=overwrite,
        )
        return
    names = file_names(embeddings, OF_SEEDS)
    targets, query_words = room.load_target_words(words), room.load_queries(queries)
    pairs = load_base_pairs(base_pairs)
    # `score_array` reads the files itself: it knows which words it needs.
    sources: dict[Any, Any] = {
        path.stem: partial(load_embedding, input_file(path), format=file_format, case=case) for path in embeddings
    }
    every = dict.fromkeys((*targets, *(word for query in query_words.values() for word in query)))
    rules = rule or ("db_wa", "ripa", "nbm")
    scores = score_array(sources, list(every), rules=rules, base_pairs=pairs, max_lost=max_lost)
    of_targets = scores.sel(target_word=[word for word in scores["target_word"].values.tolist() if word in targets])
    frames: dict[str, pd.DataFrame] = {
        "test_retest_target_words": room.test_retest(of_targets, hdi_prob=hdi_prob),
        "test_retest_base_pairs": room.test_retest(of_targets, "base_pair", hdi_prob=hdi_prob),
        "internal_consistency": room.internal_consistency(scores, query_words, max_lost=max_lost, hdi_prob=hdi_prob),
    }
    if scores.sizes["rule"] > 1:
        frames["inter_rater_target_words"] = room.inter_rater(of_targets, hdi_prob=hdi_prob)
        frames["inter_rater_base_pairs"] = room.inter_rater(of_targets, "base_pair", hdi_prob=hdi_prob)
    interval = percent_text(hdi_prob)
    titles = {
        "test_retest_target_words": f"Over seeds, target words: ICC(2,1), {interval} HPDI",
        "test_retest_base_pairs": f"Over seeds, base pairs: ICC(2,1), {interval} HPDI",
        "inter_rater_target_words": f"Over rules, target words: ICC(3,1), {interval} HPDI",
        "inter_rater_base_pairs": f"Over rules, base pairs: ICC(3,1), {interval} HPDI",
        "internal_consistency": f"Within queries and over base pairs: Cronbach's alpha, {interval} HPDI",
    }
    sizes = of_targets.sizes
    parts = [
        f"{counted(sizes['target_word'], 'target word')}, {counted(sizes['base_pair'], 'base pair')}, {sizes['rule']} "
        f"rules, {counted(sizes['seed'], 'seed')}. An ICC below 0.5 is called poor, below 0.75 moderate and below 0.9 "
        "good; an alpha of at least 0.7 is called acceptable.",
        *(
            f"{title}{_rows_note(frames[name])}\n{_lowest(frames[name])}"
            for name, title in titles.items()
            if name in frames
        ),
    ]
    facts = {
        "seeds": names,
        "lost_words": scores.attrs["lost_words"],
        "lost_base_pairs": scores.attrs["lost_base_pairs"],
    }
    answer("\n\n".join(parts), facts | frames, as_json=as_json)


def _trainings(paths: list[Path]) -> dict[str, list[Path]]:
    """Return the files of each training by its folder; all together unless each of several folders has two or more."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    if len(folders) > 1 and all(len(files) > 1 for files in folders.values()):
        names = [folder.name for folder in folders]
        unique = names if len(set(names)) == len(names) else list(map(str, folders))
        trainings = dict(zip(unique, folders.values(), strict=True))
    else:
        trainings = {"embeddings": paths}
    for files in trainings.values():
        file_names(files, OF_SEEDS)
    return trainings


def _counts(path: Path) -> dict[str, int]:
    """Return words' frequencies from a CSV file."""
    from bayesbias import reliability as room

    frame = room.load_word_properties(path)
    if "count" not in frame:
        raise InputFileError(f"{path} has the columns {list(frame.columns)}. Give the columns word and count.")
    return dict(zip(frame["word"], frame["count"], strict=True))


def _rows_note(frame: "pd.DataFrame") -> str:
    """Return the end of a title: how many of the rows are shown, if not all are."""
    by_rule = " by each rule" if "rule" in frame else ""
    return f"; the {_SHOWN} lowest of {_most_rows(frame)}{by_rule}" if _cut(frame) else ""


def _most_rows(frame: "pd.DataFrame") -> int:
    return int(frame.groupby("rule").size().max()) if "rule" in frame else len(frame)


def _cut(frame: "pd.DataFrame") -> bool:
    return "query" not in frame and _most_rows(frame) > _SHOWN


def _lowest(frame: "pd.DataFrame") -> str:
    """Return the lowest estimates of a frame as text, by rule if it has rules; of queries, all."""
    shown = frame
    if _cut(frame):
        ordered = frame.sort_values("estimate", kind="stable")
        shown = ordered.groupby("rule", sort=False).head(_SHOWN) if "rule" in frame else ordered.head(_SHOWN)
        shown = shown.sort_values(["rule"] if "rule" in frame else ["estimate"], kind="stable")
    labels = [name for name in ("rule", "target_word", "base_pair", "query") if name in shown]
    return printed(shown[[*labels, "estimate", "mean", "hdi_low", "hdi_high", "rows", "columns"]])

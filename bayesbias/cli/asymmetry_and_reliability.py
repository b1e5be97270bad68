"""Asymmetry of associations, and reliability of bias scores."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import bayesbias as bb
from bayesbias.cli.base import OF_SEEDS, Delivery, FileDelivery, Loading, Settings, answer, command, file_names, printed
from bayesbias.errors import ArgumentError, InputFileError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.asymmetry import Evocation
    from bayesbias.asymmetry.asymmetry_report import Source
    from bayesbias.asymmetry.vector_source import ConditionalSource

_SHOWN = 5

_NORMS = "norms"  # name of the comparison with people, beside those of embeddings


@command()
def asymmetry(
    norms: Path,
    embeddings: list[Path],
    loading: Loading,
    projecting: Annotated[Settings, "bb.asymmetry.static temperature"],
    reporting: Annotated[Settings, "bb.asymmetry.report relation hdi_prob"],
    delivery: FileDelivery,
    relations: Path | None = None,
    context: Path | None = None,
    further_norms: list[Path] | None = None,
    separately: bool = False,
    gamma: list[float] | None = None,
    either: bool = False,
    study: str | None = None,
    contexts: Path | None = None,
    device: str | None = None,
    random_seed: int | None = None,
) -> None:
    """Compare people and vectors: which word of a pair evokes the other more.

    Writes a page, figures and tables of pairs, means of relations, agreement (CAM), accuracy and omitted pairs; with
    --study also means and contrasts of the study. Download the norms and relations from their authors.

    Example:

        bayesbias asymmetry strength.SWOW-EN.R1.csv vectors.txt --relations relations.csv --output evoked/

    A masked language model needs an index of contexts (--contexts), which `bayesbias index-contexts` builds.
    """
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.files.inputs import printable
    from bayesbias.base.results import Result, ResultGroup
    from bayesbias.embeddings.training.trained import read_matrices

    delivery.begin()
    check_probability("hdi_prob", reporting["hdi_prob"])
    chosen = resolve_seed(random_seed)
    if context is not None and len(embeddings) != 1:
        raise ArgumentError(f"--context needs exactly one embedding, not {len(embeddings)}.")
    study_words = [] if study is None else bb.load_study(study).words
    people = _named_norms([norms, *(further_norms or [])])
    relation_pairs = None if relations is None else bb.asymmetry.read_relations(relations)

    def source(path: Path) -> "Callable[..., ConditionalSource]":
        """Return what makes a source for a vocabulary."""
        if path.is_dir():
            if contexts is None:
                raise ArgumentError(
                    f"{path} is the folder of a language model, which needs --contexts, an index of a corpus."
                )
            model = bb.asymmetry.masked_model(
                path, contexts, device=device, random_seed=chosen, progress=delivery.progress
            )
            return lambda _: model
        if context is not None and context == path:
            cues, responses = read_matrices(path)
        else:
            words = [*study_words, *(word for of_people in people.values() for word in of_people.vocabulary)]
            cues = bb.load_embedding(path, words=words, **loading)
            responses = cues if context is None else bb.load_embedding(context, words=words, **loading)
        return lambda vocabulary: bb.asymmetry.static(cues, responses, vocabulary=vocabulary, **projecting)

    if contexts is not None and not any(path.is_dir() for path in embeddings):
        raise ArgumentError("--contexts is for folders of language models, and none is given. Leave it out.")
    if study is not None and (taken := [path for path in embeddings if printable(path.stem) == _NORMS]):
        raise ArgumentError(f"{taken[0]}: the comparison with people has the name {_NORMS!r}. Rename the file.")
    makers = {printable(path.stem): source(path) for path in embeddings}
    sources = {name: _of_norms(made) for name, made in makers.items()}
    if len(sources) < len(embeddings):
        raise ArgumentError("Two embeddings have the same name. Give each once, in files with different names.")
    seen = "either" if either else "both"
    first = next(iter(people.values()))
    result: Result = bb.asymmetry.report(
        first if len(people) == 1 else people,
        sources,
        relation_pairs,
        **reporting,
        seen=seen,
        common=not separately,
        gamma=gamma or 0.0,
        random_seed=chosen,
    )
    if study is not None:
        # The words of the study that people did not give are responses too.
        vocabulary = list(dict.fromkeys([*first.vocabulary, *study_words]))
        of_study = {
            name: bb.asymmetry.study_asymmetry(made(vocabulary), study, hdi_prob=reporting["hdi_prob"])
            for name, made in makers.items()
        }
        result = ResultGroup(result.contents.title, {_NORMS: result, **of_study})
    delivery.finish(result)


def _of_norms(made: "Callable[..., ConditionalSource]") -> "Source":
    return lambda norms: made(norms.vocabulary)


def _named_norms(paths: list[Path]) -> "dict[str, Evocation]":
    """Return norms by their names, or by the names of their files where two have the same."""
    every = {path.name.split(".")[0]: bb.asymmetry.evocation(bb.asymmetry.read_evocation(path)) for path in paths}
    if len(every) < len(paths):
        raise ArgumentError("Two files of norms have the same name. Give each once, in files with different names.")
    by_name = {of_people.name: of_people for of_people in every.values()}
    return by_name if len(by_name) == len(every) else every


@command()
def reliability(
    embeddings: list[Path],
    loading: Loading,
    reporting: Annotated[
        Settings,
        "bb.reliability.reliability_report base_pairs queries properties table_2 draws max_lost random_seed hdi_prob",
    ],
    delivery: Delivery,
    words: str = "occ18",
    rule: list[str] | None = None,
    counts: Path | None = None,
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
    from bayesbias.base.checks import check_probability
    from bayesbias.base.files.inputs import input_file, printable
    from bayesbias.base.number_text import counted, percent_text

    hdi_prob, max_lost = reporting["hdi_prob"], reporting["max_lost"]
    check_probability("hdi_prob", hdi_prob)
    rules = rule or ("db_wa", "ripa", "nbm")
    if delivery.output is not None:
        delivery.begin()
        report = bb.reliability.reliability_report(
            {
                name: {printable(path.stem): bb.load_embedding(input_file(path), **loading) for path in paths}
                for name, paths in _trainings(embeddings).items()
            },
            {printable(Path(words).stem): bb.reliability.load_target_words(words)},
            rules=rules,
            counts=None if counts is None else _counts(counts),
            **reporting | {"properties": bb.reliability.load_word_properties(reporting["properties"])},
            progress=delivery.progress,
        )
        delivery.finish(report)
        return
    names = file_names(embeddings, OF_SEEDS)
    targets, query_words = bb.reliability.load_target_words(words), bb.reliability.load_queries(reporting["queries"])
    pairs = bb.metrics.load_base_pairs(reporting["base_pairs"])
    # `score_array` reads the files itself: it knows which words it needs.
    sources: dict[Any, Any] = {
        printable(path.stem): partial(bb.load_embedding, input_file(path), **loading) for path in embeddings
    }
    every = dict.fromkeys((*targets, *(word for query in query_words.values() for word in query)))
    scores = bb.reliability.score_array(sources, list(every), rules=rules, base_pairs=pairs, max_lost=max_lost)
    of_targets = scores.sel(target_word=[word for word in scores["target_word"].values.tolist() if word in targets])
    frames: dict[str, pd.DataFrame] = {
        "test_retest_target_words": bb.reliability.test_retest(of_targets, hdi_prob=hdi_prob),
        "test_retest_base_pairs": bb.reliability.test_retest(of_targets, "base_pair", hdi_prob=hdi_prob),
        "internal_consistency": bb.reliability.internal_consistency(
            scores, query_words, max_lost=max_lost, hdi_prob=hdi_prob
        ),
    }
    if scores.sizes["rule"] > 1:
        frames["inter_rater_target_words"] = bb.reliability.inter_rater(of_targets, hdi_prob=hdi_prob)
        frames["inter_rater_base_pairs"] = bb.reliability.inter_rater(of_targets, "base_pair", hdi_prob=hdi_prob)
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
    answer("\n\n".join(parts), facts | frames, as_json=delivery.as_json)


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
    frame = bb.reliability.load_word_properties(path)
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
        ordered = frame.sort_values("observed", kind="stable")
        shown = ordered.groupby("rule", sort=False).head(_SHOWN) if "rule" in frame else ordered.head(_SHOWN)
        shown = shown.sort_values(["rule"] if "rule" in frame else ["observed"], kind="stable")
    labels = [name for name in ("rule", "target_word", "base_pair", "query") if name in shown]
    return printed(shown[[*labels, "observed", "mean", "hdi_low", "hdi_high", "rows", "columns"]])

"""Many embeddings and questions: audits and gates, embeddings pair by pair, periods, seeds, random lists."""

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

import bayesbias as bb
from bayesbias.base.exit_codes import EXIT_CODES, FAULT, MISTAKE, UNANSWERED, exit_code_lines, failure
from bayesbias.base.machine import show
from bayesbias.base.number_text import counted
from bayesbias.cli.base import (
    OF_SEEDS,
    Delivery,
    FileDelivery,
    Loading,
    Settings,
    by_embedding,
    claim,
    command,
    file_names,
    held_outputs,
    read_each,
)
from bayesbias.cli.called import called_parameters
from bayesbias.cli.messages import spoken
from bayesbias.errors import (
    ArgumentError,
    BayesBiasError,
    InputFileError,
    LostWordsWarning,
    OutputError,
    ReportError,
    collected_warnings,
    name_some,
    setting,
    warn_user,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from bayesbias.audits.audit_report import AuditReport
    from bayesbias.audits.gate import GateResult
    from bayesbias.audits.plan import AuditPlan
    from bayesbias.base.statements import Statement
    from bayesbias.embeddings.embedding import Embedding

# Files that say whether a gate passed.
_OUTCOMES = ("gate.json", "junit.xml", "conclusions.json", "conclusions.txt", "report.html", "model_card.md")
# The folder in the output that keeps the answers of cells.
_CELLS = "cells"
_RENAME = "Give each condition a name of its own."


@dataclass(frozen=True)
class PlanSettings:
    """Options of a command that replace settings of a plan."""

    rope: float | None = None
    rope_standardised: float | None = None
    case: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    max_lost: float | None = None
    workers: int | None = None
    scheduler: str | None = None

    def planned(self, path: Path) -> "AuditPlan":
        """Return a plan with the options that were given in place of its own settings."""
        from bayesbias.audits.plan import read_audit_plan

        plan = read_audit_plan(path)
        settings = dict(plan.settings)
        if self.workers is not None or self.scheduler is not None:  # one replaces the other
            settings |= {"workers": None, "scheduler": None}
        given: dict[str, Any] = {name: value for name, value in vars(self).items() if value is not None}
        if "rope_standardised" in given:
            if "rope" in given:
                raise ReportError("--rope and --rope-standardised: give one of the two.")
            given["rope"] = {"standardised": given.pop("rope_standardised")}
        return replace(plan, settings=settings | given)


def _begin(delivery: Delivery, *replaced: str) -> Path | None:
    """Hold the output, and return the folder in it that keeps the answers of cells; None without a folder.

    The folder may hold answers of an earlier run already, and files that are replaced.
    """
    from bayesbias.base.files.outputs import check_folder

    output = delivery.output
    if output is None or (output.suffix and not output.is_dir()):
        delivery.begin()
        return None
    check_folder(output, overwrite=delivery.overwrite, beside=(_CELLS, *replaced))
    claim(output)
    if (cells := output / _CELLS).is_symlink():  # an output from others may lead elsewhere
        raise OutputError(f"{cells} is a link, and answers would be kept where it leads. Remove it.")
    return cells


@command()
def audit(
    plan: Path, plan_settings: PlanSettings, delivery: Delivery, pages: bool = False, frozen_plan: Path | None = None
) -> None:
    """Ask many studies of many embeddings with many measures, on one process or many workers.

    With --output: audit.csv, answers.png, audit.png and the page report.html; of several embeddings ranks.csv,
    rank_differences.csv and ranks.png, of three or more rank_correlations.csv; with --pages a question_NUMBER.html for
    each contrast. A plan:

        studies = ["weat7", "my_study.toml"]
        measures = ["contrast", "weat", "mac"]

        [embeddings]
        GloVe = "glove.6B.300d.txt"
        BERT = {surprisal = "bert/", templates = "pronouns"}

    A section in place of a path names surprisals, scores or tables. For thousands of fits a plan can also have lists
    such as models = ["crossed", "hierarchical"] and seeds = [1, 2], and workers = 8. The answer of each cell (a study
    of an embedding by a model with a seed) is kept in the folder cells/ of the output. Run a stopped audit again to
    continue it. If you extend the plan, only new cells are computed. With --pages nothing is kept there. If a question
    has no answer, such as one of an embedding that cannot be read, the others go on, and the exit code is 5. Such
    questions are in failed.csv with their errors; the next run, with --overwrite, tries them again. Whoever reaches a
    Dask scheduler can run programs there and here: start it with certificates (tls://).

    Examples
    --------
        bayesbias audit audit.toml --output audit/

        bayesbias audit audit.toml --output audit/ --scheduler tls://10.0.0.1:8786
    """
    from bayesbias.audits.audit_frame import failed_cells
    from bayesbias.audits.audit_report import AuditReport

    content, output = plan_settings.planned(plan), delivery.output
    frozen = None if frozen_plan is None else bb.reports.read_plan(frozen_plan)
    cells = None
    if pages:
        delivery.begin()
    else:
        cells = _begin(delivery)
    keeping = {"keep_fits": pages and output is not None, "cells": cells}
    settings = {**content.settings, **keeping, "progress": delivery.progress}
    frame = bb.audit(content.sources(progress=delivery.progress), content.studies, content.measures, **settings)
    failed, wrote = failed_cells(frame), ""
    report = AuditReport(frame, frozen)
    if len(frame) and output is not None:
        delivery.write(report, overwrite=delivery.overwrite or cells is not None, workers=settings.get("workers"))
        wrote = f"Wrote {output}. Open {output / 'report.html'} in a browser."
    texts = _answers(report) if len(frame) else []
    texts.append("\n".join(f"unanswered: {row.embedding}, {row.study}: {row.error}" for row in failed.itertuples()))
    data: dict[str, Any] = {"audit": frame, "unanswered": failed}
    if report.planned is not None:
        data["planned"] = report.planned.part.statements
    delivery.answer("\n\n".join(filter(None, [*texts, wrote])), data)
    if len(failed):
        raise typer.Exit(EXIT_CODES[UNANSWERED].code)


def _answers(report: "AuditReport") -> list[str]:
    """Return the question and the first sentences of an audit, and its tables of contrasts and of other measures."""
    from bayesbias.base.statements import wrap
    from bayesbias.delivery.documents import terminal_table
    from bayesbias.delivery.page.sections import table_block

    tables = report.contents.tables.items()
    shown = [table for name, table in tables if name.startswith(("contrasts", "measures")) and len(table.frame)]
    first = "\n".join(wrap(text) for text in (report.contents.title, *map(str, report.first)))
    planned = [str(report.planned.part)] if report.planned else []
    return [first, *(terminal_table(table_block(table)) for table in shown), *planned]


@command(fill={"exit_codes": exit_code_lines()})
def gate(
    plan: Path, plan_settings: PlanSettings, delivery: Delivery, baseline: Path | None = None, strict: bool = True
) -> None:
    """Pass or fail each question of a plan by a region of practical equivalence.

    The plan is that of `bayesbias audit`, with rope = 0.02, {{nats = 0.1}} or {{standardised = 0.3}}. Only contrasts
    are used. Prints one line per question, then the outcome. Exit codes, of several outcomes the first:

    {exit_codes}

    With --output FOLDER: gate.json (the next baseline), junit.xml, model_card.md, and the page report.html. If nothing
    was decided, gate.json and junit.xml say why. With --no-strict, a changed plan is only named. The answers of
    questions are kept in the folder cells/ of the output: run a stopped gate again to continue it.

    Examples
    --------
        bayesbias gate gate.toml --output gate/

        bayesbias gate gate.toml --baseline released/gate.json
    """
    try:
        cells = _begin(delivery, *_files_of_failure(delivery.output))
    except OutputError as error:
        raise OutputError(f"{error}{_of_earlier_gate(delivery.output)}") from error
    if baseline is not None and delivery.output is not None and _is_in(baseline, delivery.output):
        raise ArgumentError(f"The baseline {baseline} would be replaced by the output. Give another --output.")
    try:
        result = _gated(plan, plan_settings, delivery, cells=cells, baseline=baseline, strict=strict)
        delivery.write(result, overwrite=delivery.overwrite or cells is not None)
    except Exception as error:
        _write_failure(delivery, plan, error)
        raise
    delivery.answer(str(result), result.to_dict())
    if delivery.quiet:  # whoever reads the exit code alone must not miss that less was asked
        for text in (*(change.text for change in result.plan_changes), *(f"NOTE {note}." for note in result.notes)):
            show(text, sys.stderr)
    raise typer.Exit(result.exit_code)


def _of_earlier_gate(output: Path | None) -> str:
    """Return a sentence on what an earlier gate left in an output; an empty text if it left nothing."""
    if output is None or not os.path.lexists(output / "gate.json"):
        return ""
    return f" {output / 'gate.json'} is of an earlier gate, and says nothing of this one."


def _is_in(path: Path, output: Path) -> bool:
    return path.resolve().is_relative_to(output.resolve())


def _gated(
    plan: Path, plan_settings: PlanSettings, delivery: Delivery, *, cells: Path | None, **rule: Any
) -> "GateResult":
    """Return the gate of a plan; `rule` has its baseline, and whether it is strict."""
    from bayesbias.audits.audit_frame import CONTRAST
    from bayesbias.audits.gate_files import read_baseline

    content = plan_settings.planned(plan)
    if "rope" not in content.settings:
        raise ReportError(f"{plan} has no rope: add a region of practical equivalence, such as rope = 0.02, or --rope.")
    if rule["baseline"] is not None:
        read_baseline(rule["baseline"])  # a wrong file is named before any work
    earlier_answers = [] if cells is None else list(cells.glob("*.npz"))
    settings = {**content.settings, "cells": cells, "progress": delivery.progress}
    frame = bb.audit(content.sources(progress=delivery.progress), content.studies, [CONTRAST], **settings)
    if earlier_answers:  # whoever can write them decides what the gate says
        count = counted(len(earlier_answers), "answer")
        show(
            f"{cells} had {count} of earlier runs: questions with one were not computed again. Remove the folder to "
            "compute all.",
            sys.stderr,
        )
    return bb.gate(frame, **rule)


def _files_of_failure(output: Path | None) -> list[str]:
    """Return the files of an earlier gate in a folder if it decided nothing: they are replaced without being asked."""
    from bayesbias.base.files.inputs import JSON, parse_json, read_utf8
    from bayesbias.delivery.writing import NUMBERS

    if output is None:
        return []
    try:
        content = parse_json(read_utf8(output / NUMBERS, JSON))
        return [*map(str, content["files"])] if content.get("outcome") in (FAULT, MISTAKE) else []
    except (BayesBiasError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return []


def record_misread_gate(arguments: list[str]) -> None:
    """Replace the files of an earlier gate, or name them, after a command line that could not be read."""
    from argparse import ArgumentError as UnreadableError
    from argparse import ArgumentParser

    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--output", "-o", type=Path)
    parser.add_argument("--overwrite", action="store_true")
    try:
        given, others = parser.parse_known_args(arguments)
    except UnreadableError:  # it names no output
        return
    if others[:1] != ["gate"] or given.output is None:
        return
    if not given.overwrite:
        if note := _of_earlier_gate(given.output):
            show(note.strip(), sys.stderr)
        return
    delivery = Delivery(given.output, quiet=True, overwrite=True)
    with suppress(BayesBiasError), held_outputs:
        _begin(delivery)
        plan = next((Path(text) for text in others[1:] if text.endswith(".toml")), Path("PLAN"))
        _write_failure(delivery, plan, ArgumentError(f"Cannot read the options: {' '.join(others)}."))


def _write_failure(delivery: Delivery, plan: Path, error: Exception) -> None:
    """Replace the files of an earlier gate by the error; remove those that would say that it passed if that fails."""
    from bayesbias.audits.gate_files import GateFailure

    text = spoken(error) if isinstance(error, BayesBiasError) else f"{type(error).__name__}: {error}"
    try:
        delivery.write(GateFailure(failure(error), text, plan.name), overwrite=True)
    except (BayesBiasError, OSError, MemoryError):
        for path in _that_may_say_so(delivery.output):
            with suppress(OSError):
                path.unlink()


def _that_may_say_so(output: Path | None) -> list[Path]:
    """Return the files of an output that may say that a gate passed; none if others can turn its path elsewhere."""
    from bayesbias.base.files.outputs import check_fixed, followed

    with suppress(OutputError, OSError):
        if output is not None:
            check_fixed(target := followed(output))  # it exists, so that nobody else can put a link there any more
            return [target / name for name in _OUTCOMES] if target.is_dir() else [target]
    return []


@command()
def compare(
    tables: list[Path],
    comparing: Annotated[Settings, "bb.compare_embeddings draws random_seed hdi_prob rope"],
    delivery: FileDelivery,
) -> None:
    """Compare embeddings, such as a debiased one with the original.

    Takes the paired changes of the distances of the same words, and writes a page, figures and tables.

    For one model trained with several seeds, use `bayesbias trainings`, which separates the variation between seeds.

    Example:

        bayesbias compare original.csv debiased.csv --output debiasing/ --seed 1
    """
    delivery.begin()
    named = by_embedding(read_each(tables))
    delivery.finish(bb.compare_embeddings(named, **comparing, progress=delivery.progress))


@command()
def trend(
    periods: list[Path],
    moving: Annotated[
        Settings,
        "bb.trend covariates word_covariates word_column period_column column drop_unrated max_lost walk rope scope "
        "draws random_seed hdi_prob case prefix suffix",
    ],
    delivery: FileDelivery,
    study: str | None = None,
) -> None:
    """Show how the contrast between associated and other words moved over periods, or between two embeddings.

    Changes between periods are paired, so that their intervals are narrow; words that a period lacks are named. Writes
    a page, a figure, and tables of contrasts, changes, the trend and the words that moved.

    Example:

        bayesbias trend decades/ --study gender --output moved/

        bayesbias trend original.csv debiased.csv --output debiased/
    """
    from bayesbias.embeddings.periods import periods_of

    delivery.begin()
    delivery.finish(bb.trend(periods_of(periods), study, **moving, progress=delivery.progress))


@command()
def trainings(
    embeddings: list[Path],
    study: str,
    loading: Loading,
    fitting: Annotated[Settings, "bb.fit model draws tune"],
    building: Annotated[Settings, "bb.distance_table max_lost"],
    comparing: Annotated[Settings, "bb.compare_trainings level rope hdi_prob first"],
    delivery: FileDelivery,
    changed: list[Path] | None = None,
    method: list[str] | None = None,
    sets: str | None = None,
    resampled: list[Path] | None = None,
    random_seed: int | None = None,
) -> None:
    """Compare the contrasts of a study between embeddings that were trained with different seeds.

    Fits the model to each embedding, and separates the variation between seeds from the uncertainty due to the choice
    of words. With --resampled, also the variation between samples of documents. With --changed, or --method and --sets,
    the paired change of each contrast is compared over seeds; each of them has a row. Writes a page, a figure, and
    tables of the contrasts or changes over seeds and of each seed.

    Example:

        bayesbias train corpus.txt --seeds 1-3 --output vectors/

        bayesbias trainings vectors/*.npz --study gender --output stable/

        bayesbias trainings vectors/*.npz --study gender --method hard --method inlp --sets gender_bolukbasi
            --output methods/

        bayesbias trainings hard/*.npz --first hard --changed inlp --study gender --output inlp_or_hard/
    """
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.files.inputs import input_file, printable
    from bayesbias.base.progress import with_progress
    from bayesbias.changes.training_code import TrainingSources
    from bayesbias.embeddings.training.trained import is_resampled

    file_names(embeddings, OF_SEEDS)
    delivery.begin()
    check_probability("hdi_prob", comparing["hdi_prob"])
    chosen = resolve_seed(random_seed)
    loaded = bb.load_study(study)
    samples = resampled or []
    conditions = _second_conditions(embeddings, changed or [], method or [], sets, loading)
    if comparing["first"] in conditions:
        raise ArgumentError(f"{setting('first', comparing['first'])} is also the name of a second condition. {_RENAME}")
    if drawn := next((path for path in embeddings if is_resampled(path)), None):
        raise ReportError(
            f"{drawn} was trained on resampled documents, so it does not differ from the others in the seed alone. "
            f"Give embeddings trained on all documents, and such files as --resampled {drawn}."
        )
    if samples:
        file_names(samples, "trained on resampled documents")
    names = {path: printable(path.stem) for path in (*embeddings, *samples)}
    with collected_warnings(LostWordsWarning):  # in place of one warning for each table, one follows
        tables: dict[Any, Any] = {
            path: bb.distance_table(
                bb.load_embedding(input_file(path), words=loaded.words, **loading), loaded, **building
            )
            for path in (*embeddings, *samples)
        }
    _check_lost_words({names[path]: table for path, table in tables.items()})
    name_by_distances: dict[bytes, Any] = {}
    for name, table in tables.items():
        if (twin := name_by_distances.setdefault(table["cosine_distance"].to_numpy().tobytes(), name)) != name:
            raise ReportError(
                f"The embeddings {names[twin]!r} and {names[name]!r} have the same distances, so they do not differ in "
                "the seed. Give embeddings that were trained with different seeds, each once."
            )
    lost_of_sets: dict[str, list[str]] = {}
    for condition, vectors in conditions.items():
        for path in embeddings:
            with collected_warnings(LostWordsWarning) as caught:  # the page has these words
                second = vectors(path)
            for warning in caught:
                lost_of_sets.setdefault(_without_name(str(warning.message)), []).append(names[path])
            with collected_warnings(LostWordsWarning):
                tables[condition, path] = bb.distance_table(second, loaded, **building)
    fits: dict[Any, Any] = {
        name: bb.fit(table, **fitting, random_seed=chosen, progress=False)
        for name, table in with_progress(list(tables.items()), "Fitting seeds", progress=delivery.progress)
    }
    by_kind: list[dict[Any, Any]] = [{names[path]: fits[path] for path in paths} for paths in (embeddings, samples)]
    others = {condition: {names[path]: fits[condition, path] for path in embeddings} for condition in conditions}
    comparing |= {"changed": others or None, "resampled": by_kind[1] or None, "random_seed": chosen}
    compared = bb.compare_trainings(by_kind[0], **comparing)
    doubts = [*compared.facts["doubts"], *_doubts_of_sets(lost_of_sets, len(embeddings))]
    defaults = called_parameters(get_args(Loading)[1])
    sources = TrainingSources(
        paths={names[path]: str(path) for path in embeddings},
        study=study,
        loading={name: value for name, value in loading.items() if value != defaults[name][0]},
        resampled={names[path]: str(path) for path in samples},
        folders={
            folder.resolve().name: {names[path]: str(folder / path.name) for path in embeddings}
            for folder in changed or []
        },
        methods=tuple(method or ()),
        sets=sets or "",
    )
    delivery.finish(replace(compared, facts=compared.facts | {"doubts": doubts}, sources=sources))


def _check_lost_words(tables: "dict[str, pd.DataFrame]") -> None:
    """Name the words that all seeds lack in one warning; raise a `ReportError` if only some seeds lack a word."""
    from bayesbias.tables.schema import lost_by_list, table_facts

    seeds_by_word: dict[tuple[str, str], list[str]] = {}
    for seed, table in tables.items():
        for list_name, words in lost_by_list(table_facts(table)["lost_words"]).items():
            for word in words:
                seeds_by_word.setdefault((list_name, word), []).append(seed)
    if some := [
        f"{word} of {list_name!r} ({name_some(seeds, 3)})"
        for (list_name, word), seeds in seeds_by_word.items()
        if len(seeds) < len(tables)
    ]:
        raise ReportError(
            f"Only some of the embeddings lack these words: {name_some(some, 5)}. Contrasts of different words cannot "
            "be compared. Leave these words out of the study, or give embeddings that have them."
        )
    lists: dict[str, list[str]] = {}
    for list_name, word in seeds_by_word:
        lists.setdefault(list_name, []).append(word)
    if lists:
        named = "; ".join(f"{name_some(words, 5)} of {list_name!r}" for list_name, words in lists.items())
        warn_user(
            f"The embeddings lack {counted(len(seeds_by_word), 'word')}: {named}. The estimates are about the words "
            "that are left; the page has all lost words.",
            LostWordsWarning,
        )


def _without_name(message: str) -> str:
    """Return the message of a warning about lost words without the name of the embedding, which differs by seed."""
    return re.sub(r"^The embedding '.*?' lacks", "the embedding lacks", message)


def _doubts_of_sets(seeds_by_text: dict[str, list[str]], count: int) -> "list[Statement]":
    """Return a statement on each loss of words of the sets of debiasing, with the seeds if only some have it."""
    from bayesbias.base.statements import Statement

    return [
        Statement("lost words", f"Debiasing{'' if len(set(seeds)) == count else f' of {name_some(seeds)}'}: {text}")
        for text, seeds in ((text, list(dict.fromkeys(names))) for text, names in seeds_by_text.items())
    ]


def _second_conditions(
    embeddings: list[Path], folders: list[Path], methods: list[str], sets: str | None, loading: Settings
) -> "dict[str, Callable[[Path], Embedding]]":
    """Return what gives the vectors of an embedding under each second condition, by the name of the condition."""
    if bool(methods) != (sets is not None):
        raise ArgumentError(
            "--method and --sets belong together. Give both, such as --method hard --sets gender_bolukbasi."
        )
    conditions: dict[str, Callable[[Path], Embedding]] = {}
    for folder in folders:
        _check_pairs(folder, embeddings)
        conditions[folder.resolve().name] = partial(_embedding_in, folder, loading)
    if sets is not None:
        words = bb.debias.load_debias_words(sets)
        for name, chosen in bb.debias.methods_from_names(methods, {}).items():
            conditions[name] = partial(_debiased, chosen, words, loading)
    if len(conditions) < len(folders) + len(methods):
        names = [*(folder.resolve().name for folder in folders), *methods]
        raise ArgumentError(f"Second conditions have the names {', '.join(names)}. {_RENAME}")
    return conditions


def _check_pairs(folder: Path, embeddings: list[Path]) -> None:
    """Raise an error unless a folder has a file with other content under the name of each embedding."""
    from bayesbias.base.files.inputs import have_same_content, input_file

    for path in embeddings:
        if folder.is_file():
            raise InputFileError(
                f"--changed takes a folder, and {folder} is a file. Put the changed vectors of all embeddings into a "
                f"folder, each under the name of the embedding that it belongs to, such as {path.name}."
            )
        other = folder / path.name
        if folder.is_dir() and not other.exists():
            has = sorted(entry.name for entry in folder.iterdir())
            raise InputFileError(
                f"--changed pairs files by their names: {folder} has no {path.name}; it has {name_some(has, 3)}. Give "
                "each file there the name of the embedding that it belongs to."
            )
        input_file(other)
        if path.is_file() and have_same_content(other, path):
            raise InputFileError(
                f"{other} has the same content as the embedding {path}, so nothing changed. Put the vectors of the "
                "second condition into a folder of their own, under the same names of files."
            )


def _embedding_in(folder: Path, loading: Settings, path: Path) -> "Embedding":
    """Return the embedding whose file in a folder has the name of a path."""
    return bb.load_embedding(folder / path.name, **loading)


def _debiased(method: Any, words: Any, loading: Settings, path: Path) -> "Embedding":
    vectors = bb.load_embedding(path, **loading)
    debiased: Embedding = method.fit(vectors, words).transform(vectors)
    return debiased


@command()
def random_lists(
    embedding: Path,
    study: str,
    loading: Loading,
    checking: Annotated[Settings, "bb.check_random_lists model samples match window max_lost random_seed hdi_prob"],
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Count how often a model and tests claim an association for attribute words drawn at random.

    Example:

        bayesbias random-lists vectors.txt --study weat7 --seed 1
    """
    if checking["match"] == "none":
        checking["match"] = None
    checked = bb.check_random_lists(bb.load_embedding(embedding, **loading), study, **checking, progress=not quiet)
    Delivery(as_json=as_json, quiet=quiet).finish(checked)

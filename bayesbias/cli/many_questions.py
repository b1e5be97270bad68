"""Many embeddings and questions: audits and gates, embeddings pair by pair, periods, seeds, random lists."""

import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import bayesbias as bb
from bayesbias.base.machine import show
from bayesbias.cli.base import OF_SEEDS, Delivery, FileDelivery, Loading, Settings, claim, command, file_names, printed
from bayesbias.errors import ArgumentError, LostWordsWarning, ReportError, collected_warnings

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from bayesbias.audits.plan import AuditPlan
    from bayesbias.embeddings.embedding import Embedding

UNANSWERED = 5
"""Exit code where an embedding cannot answer a question."""
# The folder in the output that keeps the answers of cells.
_CELLS = "cells"


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


@command()
def audit(
    plan: Path,
    plan_settings: PlanSettings,
    delivery: Delivery,
    pages: bool = False,
    skip_unanswered: bool = False,
) -> None:
    """Ask many studies of many embeddings with many measures, on one process or many workers.

    With --output: audit.csv, answers.png, audit.png and the page report.html; of several embeddings ranks.csv and
    ranks.png too, and of three or more rank_correlations.csv; with --pages a question_NUMBER.html for each contrast. A
    plan:

        studies = ["weat7", "my_study.toml"]
        measures = ["contrast", "weat", "mac"]

        [embeddings]
        GloVe = "glove.6B.300d.txt"

    For thousands of fits a plan can also have lists such as models = ["crossed", "hierarchical"] and seeds = [1, 2],
    and workers = 8. With workers or a scheduler, the answer of each cell (a study of an embedding by a model with a
    seed) is kept in the folder cells/ of the output. Run a stopped audit again to continue it. If you extend the plan,
    only new cells are computed. With --pages nothing is kept there. Cells that failed are in failed.csv with
    their errors; the next run, with --overwrite, tries them again. Whoever reaches a Dask scheduler can run programs
    there and here: start it with certificates (tls://).

    Examples
    --------
        bayesbias audit audit.toml --output audit/

        bayesbias audit audit.toml --output audit/ --scheduler tls://10.0.0.1:8786
    """
    from bayesbias.audits.audit_frame import failed_cells
    from bayesbias.audits.audit_report import AuditReport
    from bayesbias.base.files.outputs import check_folder
    from bayesbias.base.statements import wrap

    output = delivery.output
    plan_content = plan_settings.planned(plan)
    settings = dict(plan_content.settings)
    has_workers = not settings.keys().isdisjoint(("scheduler", "workers"))
    cells = output / _CELLS if output is not None and has_workers and not pages else None
    if output is not None:
        check_folder(output, overwrite=delivery.overwrite, beside=(_CELLS,) if cells else ())
        claim(output)
    settings |= {"keep_fits": pages and output is not None, "cells": cells, "progress": delivery.progress}
    settings["skip_unanswered"] = skip_unanswered
    frame = bb.audit(plan_content.embeddings, plan_content.studies, plan_content.measures, **settings)
    delivery.write(frame, overwrite=delivery.overwrite or cells is not None, workers=settings.get("workers"))
    constant = [name for name in ("model", "random_seed") if frame[name].nunique() == 1]
    shown = frame.drop(columns=["p_value_mcse", "ess_bulk", "ess_tail", "r_hat", *constant]).dropna(axis=1, how="all")
    wrote = f"\nWrote {output}. Open {output / 'report.html'} in a browser." if output else ""
    failed = failed_cells(frame) if skip_unanswered else frame.iloc[:0]
    unanswered = "".join(f"\nunanswered: {row.embedding}, {row.study}: {row.error}" for row in failed.itertuples())
    data = {"audit": frame, **({"unanswered": failed} if skip_unanswered else {})}
    first = "".join(f"{wrap(str(statement))}\n" for statement in AuditReport(frame).first) if len(frame) else ""
    delivery.answer(f"{first}\n{printed(shown)}{unanswered}{wrote}", data)
    if len(failed):
        raise typer.Exit(UNANSWERED)


@command()
def gate(
    plan: Path, plan_settings: PlanSettings, delivery: Delivery, baseline: Path | None = None, strict: bool = True
) -> None:
    """Pass or fail each question of a plan by a region of practical equivalence.

    The plan is that of `bayesbias audit`, with rope = 0.02 or rope = {standardised = 0.3}. Only contrasts are used.
    Prints one line per question, then the outcome. Exit codes, the first that holds:

        2  mistake         nothing was asked: the message says why

        3  fail            an interval lies beyond the region

        7  changed plan    it asks less, or something else, than the baseline (--no-strict: only named)

        5  unanswered      an embedding cannot answer, such as one that lacks a list

        6  not comparable  word lists hold together less than in the baseline, or by chance only

        4  undecided       an interval is partly outside

        0  pass            every interval lies inside the region

    With --output FOLDER: gate.json (the next baseline), junit.xml, model_card.md, and the page report.html.

    Examples
    --------
        bayesbias gate gate.toml --output gate/

        bayesbias gate gate.toml --baseline released/gate.json
    """
    from bayesbias.audits.audit_frame import CONTRAST
    from bayesbias.audits.gate_files import read_baseline

    content = plan_settings.planned(plan)
    if "rope" not in content.settings:
        raise ReportError(f"{plan} has no rope: add a region of practical equivalence, such as rope = 0.02, or --rope.")
    delivery.begin()
    if baseline is not None:
        read_baseline(baseline)  # a wrong file is named before any work
    settings = {**content.settings, "skip_unanswered": True, "progress": delivery.progress}
    frame = bb.audit(content.embeddings, content.studies, [CONTRAST], **settings)
    result = bb.gate(frame, baseline=baseline, strict=strict)
    delivery.write(result)
    delivery.answer(str(result), result.to_dict())
    if delivery.quiet:  # whoever reads the exit code alone must not miss that less was asked
        for change in result.plan_changes:
            show(change.text, sys.stderr)
    raise typer.Exit(result.exit_code)


@command()
def compare(
    tables: list[Path],
    comparing: Annotated[Settings, "bb.compare_embeddings random_seed hdi_prob rope"],
    delivery: FileDelivery,
) -> None:
    """Compare embeddings, such as a debiased one with the original.

    Takes the paired changes of the distances of the same words, and writes a page, figures and tables.

    Example:

        bayesbias compare original.csv debiased.csv --output debiasing/ --seed 1
    """
    delivery.begin()
    named = by_embedding(read_each(tables))
    delivery.finish(bb.compare_embeddings(named, **comparing, progress=delivery.progress))


def read_each(paths: list[Path]) -> "dict[str, pd.DataFrame]":
    """Return tables by the paths of their files."""
    names = list(map(str, paths))
    if len(set(names)) < len(names):
        raise ReportError(f"A table is repeated in {', '.join(names)}. Give each once.")
    return {name: bb.read_table(path) for name, path in zip(names, paths, strict=True)}


def by_embedding(tables: "dict[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return tables by the names of their embeddings, or of their files if those are missing or not distinct."""
    embedding_names = [table.attrs.get("bayesbias", {}).get("embedding", {}).get("name") for table in tables.values()]
    files = [Path(name).name.split(".")[0] for name in tables]
    for names in (embedding_names, files):
        if all(names) and len(set(names)) == len(tables):
            return dict(zip(names, tables.values(), strict=True))
    return tables


@command()
def trend(
    periods: list[Path],
    moving: Annotated[
        Settings,
        "bb.trend covariates word_covariates word_column drop_unrated walk rope scope draws random_seed hdi_prob case "
        "prefix suffix",
    ],
    delivery: FileDelivery,
    study: str | None = None,
) -> None:
    """Show how the gap between associated and other words moved over periods, or between two embeddings.

    Changes between periods are paired, so that their intervals are narrow; words that a period lacks are named. Writes
    a page, a figure, and tables of gaps, changes, the trend and the words that moved.

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
    comparing: Annotated[Settings, "bb.compare_trainings level rope hdi_prob"],
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
    """
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.files.inputs import input_file
    from bayesbias.base.progress import with_progress
    from bayesbias.embeddings.training.trained import is_resampled

    file_names(embeddings, OF_SEEDS)
    delivery.begin()
    check_probability("hdi_prob", comparing["hdi_prob"])
    chosen = resolve_seed(random_seed)
    loaded = bb.load_study(study)
    samples = resampled or []
    conditions = _second_conditions(embeddings, changed or [], method or [], sets, loading)
    if drawn := next((path for path in embeddings if is_resampled(path)), None):
        raise ReportError(
            f"{drawn} was trained on resampled documents, so it does not differ from the others in the seed alone. "
            f"Give embeddings trained on all documents, and such files as --resampled {drawn}."
        )
    if samples:
        file_names(samples, "trained on resampled documents")
    tables: dict[Any, Any] = {
        path: bb.distance_table(bb.load_embedding(input_file(path), words=loaded.words, **loading), loaded, **building)
        for path in (*embeddings, *samples)
    }
    name_by_distances: dict[bytes, Any] = {}
    for name, table in tables.items():
        if (twin := name_by_distances.setdefault(table["cosine_distance"].to_numpy().tobytes(), name)) != name:
            raise ReportError(
                f"The embeddings {twin.stem!r} and {name.stem!r} have the same distances, so they do not differ in the "
                "seed. Give embeddings that were trained with different seeds, each once."
            )
    with collected_warnings(LostWordsWarning):  # the page has the words that a condition loses
        tables |= {
            (condition, path): bb.distance_table(vectors(path), loaded, **building)
            for condition, vectors in conditions.items()
            for path in embeddings
        }
    fits: dict[Any, Any] = {
        name: bb.fit(table, **fitting, random_seed=chosen, progress=False)
        for name, table in with_progress(list(tables.items()), "Fitting seeds", progress=delivery.progress)
    }
    by_kind: list[dict[Any, Any]] = [{path.stem: fits[path] for path in paths} for paths in (embeddings, samples)]
    others = {condition: {path.stem: fits[condition, path] for path in embeddings} for condition in conditions}
    comparing |= {"changed": others or None, "resampled": by_kind[1] or None, "random_seed": chosen}
    delivery.finish(bb.compare_trainings(by_kind[0], **comparing))


def _second_conditions(
    embeddings: list[Path], folders: list[Path], methods: list[str], sets: str | None, loading: Settings
) -> "dict[str, Callable[[Path], Embedding]]":
    """Return what gives the vectors of an embedding under each second condition, by the name of the condition."""
    from bayesbias.base.files.inputs import input_file

    if bool(methods) != (sets is not None):
        raise ArgumentError(
            "--method and --sets belong together. Give both, such as --method hard --sets gender_bolukbasi."
        )
    conditions: dict[str, Callable[[Path], Embedding]] = {}
    for folder in folders:
        for path in embeddings:
            input_file(folder / path.name)  # a missing file is named before any work
        conditions[folder.resolve().name] = partial(_embedding_in, folder, loading)
    if sets is not None:
        words = bb.debias.load_debias_words(sets)
        for name, chosen in bb.debias.methods_from_names(methods, {}).items():
            conditions[name] = partial(_debiased, chosen, words, loading)
    if len(conditions) < len(folders) + len(methods):
        names = [*(folder.resolve().name for folder in folders), *methods]
        raise ArgumentError(f"Second conditions have the names {', '.join(names)}. Give each a name of its own.")
    return conditions


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

"""An audit's frame, record and warnings, from the answers of its cells."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import pandas as pd

from bayesbias.base.lost_words import WordList
from bayesbias.base.number_text import counted
from bayesbias.base.statements import rows_of
from bayesbias.cells.audit_cell import AuditCell, study_hash
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import BayesBiasWarning, LostWordsWarning, MeasureError, ReportError, name_some, warn_user
from bayesbias.reports.audits.audit_frame import COLUMNS, NUMBERS, AuditFrame, AuditRecord
from bayesbias.workers.cells import Answer


def audit_frame(
    cells: Sequence[AuditCell],
    answers: Mapping[str, Answer],
    failed: Mapping[str, str],
    embeddings: Mapping[str, Embedding],
    lists: Mapping[tuple[str, str], Iterable[WordList]],
    *,
    allow_empty: bool = False,
) -> AuditFrame:
    """Return the frame of an audit with its record, and warn of what was lost, left out, or failed.

    Parameters
    ----------
    cells
        All cells of the audit.
    answers, failed
        Answers of the cells, and errors of those that have none, by digest.
    embeddings
        Embeddings by name.
    lists
        Lists of the studies' groups, with their lost words, by embedding and study.
    allow_empty
        Whether an audit without any answer is a frame without rows, rather than an error.
    """
    lost = {
        question: tuple(word for words in question_lists for word in words.lost)
        for question, question_lists in lists.items()
    }
    variants: dict[tuple[str, int], list[AuditCell]] = {}
    for cell in cells:
        variants.setdefault(cell.variant, []).append(cell)
    first, *others = [_record(variant, answers, failed, embeddings, lost) for variant in variants.values()]
    rows = [
        {
            **dict(zip(("embedding", "study", "model", "random_seed"), (*cell.question, *cell.variant), strict=True)),
            "lost_words": len(lost[cell.question]),
            **row,
        }
        for cell in cells
        if cell.digest in answers
        for row in rows_of(answers[cell.digest].frames["rows"])
    ]
    records = (first, *others)
    if not (rows or allow_empty):
        _raise_unanswered(len(cells), records)
    _warn(len(cells), records, {(row["embedding"], row["study"]) for row in rows})
    frame = AuditFrame(pd.DataFrame(rows).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float)))
    frame.record = replace(first, others=tuple(others))
    return frame


def _record(
    cells: Sequence[AuditCell],
    answers: Mapping[str, Answer],
    failed: Mapping[str, str],
    embeddings: Mapping[str, Embedding],
    lost: Mapping[tuple[str, str], tuple[str, ...]],
) -> AuditRecord:
    """Return the record of the cells of one model and seed."""
    first = cells[0]
    answered = [(cell.question, answers[cell.digest]) for cell in cells if cell.digest in answers]
    fits = {question: answer.objects for question, answer in answered if answer.objects}
    settings = {
        "Embeddings": ", ".join(f"{name} (hash {source.digest})" for name, source in embeddings.items()),
        "Case rules": ", ".join(dict.fromkeys(source.case_text for source in embeddings.values())),
        "Studies": ", ".join(dict.fromkeys(cell.study.name for cell in cells)),
        "Measures": ", ".join(first.measures),
        "Largest share of lost words": f"{first.max_lost:g}",
        "Model": f"{first.model.name} (hash {first.model.digest})" if first.model else "none",
        "Draws": f"{first.draws:,} in each of {first.chains} chains" if first.model else "none",
        "Seed": str(first.random_seed),
        **({"Region of practical equivalence": f"{first.rope[0]:g} to {first.rope[1]:g}"} if first.rope else {}),
    }
    return AuditRecord(
        draws={
            (*question, str(measure)): draws.to_numpy(copy=True)
            for question, answer in answered
            for measure, draws in answer.frames["draws"].items()
        },
        lost_words=lost,
        left_out={
            (*question, measure): reason
            for question, answer in answered
            for measure, reason in answer.facts["left_out"].items()
        },
        seeds={cell.question: cell.fit_seed for cell in cells},
        hdi_prob=first.hdi_prob,
        model=first.variant[0],
        settings=settings,
        questions={cell.study.name: cell.study.description for cell in cells},
        fits={question: objects["fit"] for question, objects in fits.items()},
        tables={question: objects["table"] for question, objects in fits.items()},
        random_seed=first.random_seed,
        failed={cell.question: failed[cell.digest] for cell in cells if cell.digest in failed},
        rope=first.rope,
        study_hashes={cell.study.name: study_hash(cell.study) for cell in cells},
    )


def _failures(records: Sequence[AuditRecord]) -> tuple[list[str], str]:
    """Return the cells that failed with their errors, and the first three as one text."""
    failed = [f"{', '.join(key)}: {text.rstrip('.')}" for record in records for key, text in record.failed.items()]
    return failed, "; ".join(list(dict.fromkeys(failed))[:3])


def _omissions(records: Sequence[AuditRecord]) -> str:
    """Return what was left out, with reasons, as one text."""
    left_out = {
        f"{measure} of {study} ({reason.rstrip('.')})"
        for record in records
        for (_, study, measure), reason in record.left_out.items()
    }
    return name_some(sorted(left_out), 5)


def _raise_unanswered(cells: int, records: Sequence[AuditRecord]) -> NoReturn:
    failed, errors = _failures(records)
    if failed:
        raise ReportError(f"None of {counted(cells, 'question')} has an answer: {len(failed):,} failed. {errors}.")
    raise MeasureError(f"No measure has an answer to any study: {_omissions(records)}.")


def _warn(cells: int, records: Sequence[AuditRecord], answered: Collection[tuple[str, str]]) -> None:
    """Warn of cells that failed, of what was left out, and of lost words of questions with an answer."""
    failed, errors = _failures(records)
    if failed:
        warn_user(
            f"{len(failed):,} of {counted(cells, 'question')} without an answer. {errors}.",
            BayesBiasWarning,
        )
    if reasons := _omissions(records):
        warn_user(f"Left out what has no answer: {reasons}.", BayesBiasWarning)
    lost = records[0].lost_words
    if lossy := {question: words for question, words in lost.items() if words and question in answered}:
        named = "; ".join(
            f"{embedding}, {study}: {name_some(words, 3)}" for (embedding, study), words in list(lossy.items())[:5]
        )
        warn_user(
            f"In {len(lossy)} of {counted(len(answered), 'answered question')} words of the study's groups were lost "
            f"(column lost_words): {named}. The answers are about the words that are left.",
            LostWordsWarning,
        )

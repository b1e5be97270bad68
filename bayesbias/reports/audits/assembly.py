"""An audit's frame, record and warnings, from the answers of its cells."""

import builtins
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from bayesbias import errors
from bayesbias.base.lost_words import WordList
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import BayesBiasWarning, LostWordsWarning, MeasureError, ReportError, name_some, warn_user
from bayesbias.reports.audits.audit_frame import COLUMNS, NUMBERS, AuditFrame, AuditRecord
from bayesbias.reports.audits.cells import Answer, Cell


def audit_frame(
    cells: Sequence[Cell],
    answers: Mapping[str, Answer],
    failed: Mapping[str, str],
    embeddings: Mapping[str, Embedding],
    lists: Mapping[tuple[str, str], Iterable[WordList]],
) -> AuditFrame:
    """Return the frame of an audit with its record, and warn of what was lost, left out, or failed.

    Parameters
    ----------
    cells
        All that was asked.
    answers, failed
        By the cells' digests: their answers, and the errors of those that have none.
    embeddings, lists
        What was read, and the lists that lost words by embedding and study.
    """
    lost = {question: tuple(word for each in some for word in each.lost) for question, some in lists.items()}
    variants: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        variants.setdefault(cell.variant, []).append(cell)
    first, *others = [_record(some, answers, failed, embeddings, lost) for some in variants.values()]
    rows = [
        {
            **dict(zip(("embedding", "study", "model", "seed"), (*cell.question, *cell.variant), strict=True)),
            "lost_words": len(lost[cell.question]),
            **row,
        }
        for cell in cells
        if cell.digest in answers
        for row in answers[cell.digest].rows
    ]
    repeat(each for answer in answers.values() for each in answer.warned)
    _tell(len(cells), len(rows), (first, *others))
    frame = AuditFrame(pd.DataFrame(rows).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float)))
    frame.record = replace(first, others=tuple(others))
    return frame


def _record(
    cells: Sequence[Cell],
    answers: Mapping[str, Answer],
    failed: Mapping[str, str],
    embeddings: Mapping[str, Embedding],
    lost: Mapping[tuple[str, str], tuple[str, ...]],
) -> AuditRecord:
    """Return the record of the cells of one model and seed."""
    one = cells[0]
    answered = [(cell.question, answers[cell.digest]) for cell in cells if cell.digest in answers]
    settings = {
        "Embeddings": ", ".join(f"{name} (hash {source.digest})" for name, source in embeddings.items()),
        "Case rules": ", ".join(dict.fromkeys(source.case_text for source in embeddings.values())),
        "Studies": ", ".join(dict.fromkeys(cell.study.name for cell in cells)),
        "Measures": ", ".join(one.measures),
        "Largest share of lost words": f"{one.max_lost:g}",
        "Model": f"{one.model.name} (hash {one.model.digest})" if one.model else "none",
        "Draws": f"{one.draws:,} in each of {one.chains} chains" if one.model else "none",
        "Seed": str(one.random_seed),
    }
    return AuditRecord(
        draws={(*key, measure): draws for key, answer in answered for measure, draws in answer.draws.items()},
        lost_words=lost,
        left_out={(*key, measure): reason for key, answer in answered for measure, reason in answer.left_out.items()},
        seeds={cell.question: cell.fit_seed for cell in cells},
        hdi_prob=one.hdi_prob,
        model=one.variant[0],
        settings=settings,
        questions={cell.study.name: cell.study.description for cell in cells},
        fits={key: answer.kept[0] for key, answer in answered if answer.kept},
        tables={key: answer.kept[1] for key, answer in answered if answer.kept},
        random_seed=one.random_seed,
        failed={cell.question: failed[cell.digest] for cell in cells if cell.digest in failed},
    )


def _tell(cells: int, rows: int, records: Sequence[AuditRecord]) -> None:
    """Warn of cells that failed, of what was left out, and of lost words; raise if nothing is answered."""
    failed = [f"{', '.join(key)}: {text.rstrip('.')}" for each in records for key, text in each.failed.items()]
    errors_said = "; ".join(list(dict.fromkeys(failed))[:3])
    left_out = [
        f"{measure} of {study} ({reason.rstrip('.')})"
        for record in records
        for (_, study, measure), reason in record.left_out.items()
    ]
    reasons = name_some(sorted(set(left_out)), 5)
    if not rows and failed:
        raise ReportError(f"{len(failed):,} of {cells:,} cells failed, and none has an answer. {errors_said}.")
    if not rows:
        raise MeasureError(f"No measure has an answer to any study: {reasons}.")
    if failed:
        warn_user(
            f"{len(failed):,} of {cells:,} cells failed (`record.failed`, or failed.csv, has all). {errors_said}.",
            BayesBiasWarning,
        )
    if left_out:
        warn_user(f"Left out what has no answer: {reasons}.", BayesBiasWarning)
    lost = records[0].lost_words
    if some := {key: words for key, words in lost.items() if words}:
        named = "; ".join(
            f"{embedding}, {study}: {name_some(words, 3)}" for (embedding, study), words in list(some.items())[:5]
        )
        warn_user(
            f"In {len(some)} of {len(lost)} questions words of the study's groups were lost (column lost_words): "
            f"{named}. The answers are about the words that are left.",
            LostWordsWarning,
        )


def repeat(warned: Iterable[tuple[str, str]]) -> None:
    """Give each warning, of a class and with a text, once, but for those of lost words, which are told together."""
    for name, message in dict.fromkeys(warned):
        found = getattr(errors, name, getattr(builtins, name, None))
        category = found if isinstance(found, type) and issubclass(found, Warning) else UserWarning
        if issubclass(category, BayesBiasWarning):
            if not issubclass(category, LostWordsWarning):
                warn_user(message, category)
        else:
            warnings.warn(message, category, 2)

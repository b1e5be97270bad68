"""Writing of results as pages, folders, Markdown, LaTeX, Word, CSV or JSON."""

import os
from collections.abc import Callable
from functools import partial
from glob import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_flag, check_path
from bayesbias.base.files.inputs import JSON, parse_json, read_content
from bayesbias.base.files.outputs import atomic_path, check_folder, check_output, is_of_this_user, whole_folder
from bayesbias.base.number_text import json_text, visible, write_csv
from bayesbias.base.progress import with_progress
from bayesbias.base.results import SHOWS, LinkedPage, Result
from bayesbias.delivery.documents import docx_module, latex, markdown, write_docx
from bayesbias.delivery.page.blocks import LinkList, Notice, Page, Section, filled_page
from bayesbias.delivery.page.sections import drawn, first_figure, folded_sections, opened_sections
from bayesbias.delivery.plots.style import FORMATS, is_figure, save_figure
from bayesbias.errors import NotEnoughMemoryError, OutputError, ReportError, collected_warnings
from bayesbias.workers.cells import Answer, FunctionCell, warning_texts

if TYPE_CHECKING:
    from bayesbias.workers.workers import StartWorkers, Workers

PAGE, TEXT, NUMBERS = "report.html", "conclusions.txt", "conclusions.json"
DETAILS = "Methods, limits and tables"


def write(
    result: Any,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    full: bool = False,
    workers: "int | Workers | None" = None,
    progress: bool = True,
) -> Path:
    r"""Write a result as a page, folder, Markdown, LaTeX, Word, CSV or JSON; a failure leaves nothing behind.

    In every form, words and names are texts, whatever characters they have: no markup, no mathematics, no formula.
    Control characters and invisible ones are shown as Python writes them, such as ``\u202e``.

    Parameters
    ----------
    result
        Result of a report; or a fit or an audit, whose report is written; or a frame of `summary`, `contrasts` or
        `planned_contrasts`, as a table whose caption states the interval; or a figure of `bayesbias.plots`.
    path
        File or folder. The ending selects the form: ``.html`` for one self-contained page, ``.md`` for Markdown,
        ``.tex`` for the tables that its page shows unfolded, in LaTeX, whose first line names the packages they need
        and whose labels are the name of the file (``tab:table`` in table.tex, ``tab:table-NAME`` of several tables),
        ``.docx`` for Word (extra ``docx``), ``.csv`` for all columns of its only table, whose texts are written as in a
        literal of Python (``\x3d1`` for ``=1``, which a spreadsheet would compute, and ``\\`` for one backslash),
        ``.json`` for statements, tables and settings. Of a figure: ``.png``, ``.svg`` or ``.pdf``, with embedded
        TrueType fonts. Without an ending: a folder with ``conclusions.txt``, ``conclusions.json``, a ``.csv`` for each
        table, a ``.png`` for each figure, and the page ``report.html``, which only a fit lacks, since its page fits the
        model several times.
    overwrite
        Whether to replace an existing file, or the files of an earlier result in a folder. Other files in the folder
        stay.
    full
        Whether to print tables that are folded on the screen, and to write them as LaTeX.
    workers
        Number of processes that draw the further pages of a folder, such as those of the questions of an audit, each
        on one core, or workers that have started already; None: this process draws them.
    progress
        Whether to show progress bars.

    Returns
    -------
    pathlib.Path
        The file or folder.

    Raises
    ------
    ReportError
        If `result` is not a result, a fit, an audit or a frame of estimates, or has several tables for a ``.csv``.
    OutputError
        If the path has another ending, exists or cannot be written, or the extra ``docx`` is not installed; raised
        before any work.

    Examples
    --------
    >>> import tempfile
    >>> comparison = bb.compare_trainings({1: fit, 2: fit}, random_seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write(comparison, f"{folder}/trainings.html").read_text(encoding="utf-8")[:15]
    ...     sorted(file.name for file in bb.write(comparison, f"{folder}/trainings").iterdir())
    '<!doctype html>'
    ['by_seed.csv', 'conclusions.json', 'conclusions.txt', 'contrasts.csv', 'report.html', 'trainings.png']
    """
    check_flag("full", full)
    if check_path(path).suffix.lower() in FORMATS and is_figure(result):
        return save_figure(result, path, overwrite=overwrite)
    target = check_target(path, overwrite=overwrite)
    shown = as_result(result)
    start_workers = _workers_of(shown, workers)
    ending = target.suffix.lower()
    if not ending or target.is_dir():
        names = [*written_names(target), *shown.contents.file_names]
        with whole_folder(target, names=names, overwrite=overwrite) as folder:
            write_files(shown, folder, full=full, workers=start_workers, progress=progress)
        return target
    with atomic_path(target, overwrite=overwrite) as temporary:
        _WRITERS[ending](shown, temporary, name=target.stem, full=full, progress=progress)
    return target


def check_target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Return `path` if a result can be written there, else raise `OutputError`."""
    target = check_path(path)
    if not target.suffix or target.is_dir():
        return check_folder(target, overwrite=overwrite)
    if target.suffix.lower() not in _WRITERS:
        to_a_fit = "A fit is written as fit.nc into a folder: give one" if target.suffix.lower() == ".nc" else ""
        use = to_a_fit or f"Use {', '.join(_WRITERS)}, or a folder without an ending"
        raise OutputError(f"{target}: cannot write {target.suffix}. {use}.")
    if target.suffix.lower() == ".docx":
        docx_module()
    return check_output(target, overwrite=overwrite)


def as_result(result: Any) -> Result:
    """Return a result unchanged, and the report of a fit or an audit."""
    if isinstance(result, Result):
        return result
    import xarray as xr

    from bayesbias.audits.audit_frame import AuditFrame
    from bayesbias.estimates.frames import EstimateFrame

    if isinstance(result, xr.DataTree):
        from bayesbias.reports.fit_report import report

        return report(result)
    if isinstance(result, AuditFrame):
        from bayesbias.audits.audit_report import AuditReport

        return AuditReport(result)
    if isinstance(result, EstimateFrame):
        from bayesbias.reports.posterior.estimate_tables import EstimateTables

        return EstimateTables({"estimates": result})
    raise ReportError(
        f"Cannot write a {type(result).__name__}. Give the result of a report, a fit, an audit, or a frame that "
        "bb.summary, bb.contrasts or bb.planned_contrasts returned."
    )


def write_files(
    result: Result, folder: Path, *, full: bool = False, workers: "StartWorkers | None" = None, progress: bool = False
) -> None:
    """Write all files of a result to an empty folder."""
    contents = result.contents
    for file, write_file in contents.files.items():
        write_file(folder / file)
    for name, frame in contents.data.items():
        if len(frame):
            write_csv(frame, folder / f"{name}.csv")
    for name, request in contents.figures.items():
        save_figure(drawn(result, request), folder / f"{name}.png")
    (folder / TEXT).write_text(f"{visible(result).rstrip()}\n", encoding="utf-8")
    for file, html in _linked_pages(contents.pages, full=full, workers=workers, progress=progress).items():
        _write_text(html, folder / file)
    if result.page_in_folder:
        _write_page(result, folder / PAGE, full=full, progress=progress, pages=contents.pages)
    names = sorted([*(file.name for file in folder.iterdir()), NUMBERS])
    data = {**result.to_dict(), "files": names}
    (folder / NUMBERS).write_text(json_text(data), encoding="utf-8")


def written_names(folder: Path) -> list[str]:
    """Return patterns of the files of an earlier result of this user, which its conclusions.json lists."""
    conclusions = folder / NUMBERS
    try:
        is_ours = conclusions.is_file() and is_of_this_user(conclusions)  # another user may list any files
        names = parse_json(read_content(conclusions, JSON))["files"] if is_ours else None
    except (OSError, ValueError, TypeError, KeyError, NotEnoughMemoryError):
        names = None  # not a folder of a result: nothing else in it may be replaced
    listed = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    # Of a long list, each name would take time for each file: only those that the folder has are patterns.
    there = [path.name for path in folder.iterdir() if path.name in listed] if listed else []
    return [TEXT, NUMBERS, PAGE, *map(escape, sorted(there))]


def page_html(result: Result, *, full: bool, progress: bool, pages: tuple[LinkedPage, ...] = ()) -> str:
    """Return the page of a result as HTML."""
    contents = result.contents
    opened = opened_sections(result, contents)
    if pages:
        links = LinkList(tuple((page.text, page.file, page.label) for page in pages))
        opened = [Section("pages", "Pages", [links]), *(section for section in opened if section.title != SHOWS)]
    if contents.details:
        details: Callable[..., list[Section]] = getattr(import_module("bayesbias.delivery.page"), contents.details)
        parts = details(result, progress=progress)
    else:
        parts = [Section("details", DETAILS, [], details=folded_sections(result, contents))]
    page = Page(
        title=contents.title,
        description=contents.about or contents.title,
        subtitle=contents.about,
        alerts=[Notice(statement.text) for statement in contents.alerts],
        answer=contents.answer,
        estimate=contents.estimate,
        sections=[*opened, *parts],
        lead=first_figure(result, contents),
    )
    return filled_page(page, full=full)


def _page_answer(result: Result, *, full: bool) -> Answer:
    """Return the page of a result as HTML, with its warnings."""
    with collected_warnings() as caught:
        html = page_html(result, full=full, progress=False)
    return Answer({}, warned=warning_texts(caught), objects={"html": html})


def _workers_of(result: Result, workers: "int | Workers | None") -> "StartWorkers | None":
    """Return the function that starts the workers of further pages, at most one for each; None: this process."""
    if workers is None:
        return None
    from bayesbias.workers.choice import choose_workers

    return choose_workers(workers, None, verbose=False, most=len(result.contents.pages))


def _linked_pages(
    pages: tuple[LinkedPage, ...], *, full: bool, workers: "StartWorkers | None", progress: bool
) -> dict[str, str]:
    """Return further pages as HTML by the names of their files."""
    if workers is None or len(pages) < 2:
        steps = with_progress(list(pages), "Pages", progress=progress)
        return {page.file: page_html(page.result, full=full, progress=False) for page in steps}
    from bayesbias.audits.running import run_cells

    cells = [FunctionCell(page.file, partial(_page_answer, full=full)) for page in pages]
    results = {page.file: page.result for page in pages}
    answers, failed = run_cells(cells, results, workers=workers, store=None, progress=progress, label="Pages")
    for (file, _), error in failed.items():
        raise ReportError(f"{file} cannot be drawn: {error}")
    return {file: answer.objects["html"] for file, answer in answers.items()}


def _write_page(
    result: Result, path: Path, *, full: bool, progress: bool, pages: tuple[LinkedPage, ...] = (), **_: str
) -> None:
    _write_text(page_html(result, full=full, progress=progress, pages=pages), path)


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_json(result: Result, path: Path, **_: Any) -> None:
    path.write_text(f"{json_text(result.to_dict())}\n", encoding="utf-8")


def _write_markdown(result: Result, path: Path, **_: Any) -> None:
    path.write_text(markdown(result), encoding="utf-8")


def _write_latex(result: Result, path: Path, *, name: str, full: bool, **_: bool) -> None:
    path.write_text(latex(result, name, full=full), encoding="utf-8")


def _write_csv(result: Result, path: Path, **_: Any) -> None:
    tables = result.contents.data
    if len(tables) != 1:
        raise ReportError(
            f"The result has {len(tables)} tables ({', '.join(tables)}), and a .csv holds one. Write it to a folder, "
            "with a .csv for each."
        )
    write_csv(next(iter(tables.values())), path)


def _write_docx(result: Result, path: Path, **_: Any) -> None:
    write_docx(result, path)


_WRITERS: dict[str, Callable[..., None]] = {
    ".html": _write_page,
    ".md": _write_markdown,
    ".tex": _write_latex,
    ".docx": _write_docx,
    ".csv": _write_csv,
    ".json": _write_json,
}

"""Folders of results: of a fit, its checks, an audit, and comparisons of embeddings, seeds or models of inference."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import HDI_PROB, check_probability, check_rope
from bayesbias.base.outputs import whole_folder
from bayesbias.base.statements import Conclusions
from bayesbias.delivery.plots.embeddings.asymmetry import plot_asymmetry
from bayesbias.delivery.plots.embeddings.audits import plot_audit, plot_ranks
from bayesbias.delivery.plots.embeddings.comparison import plot_embeddings
from bayesbias.delivery.plots.embeddings.inference import plot_inference
from bayesbias.delivery.plots.embeddings.relations import plot_relations
from bayesbias.delivery.plots.embeddings.seeds import plot_seeds
from bayesbias.delivery.plots.posterior.checks import plot_check, plot_prior_check
from bayesbias.delivery.plots.posterior.words import plot_words
from bayesbias.delivery.plots.style import new_figure, save_figure
from bayesbias.errors import ReportError
from bayesbias.models.fitted.fits import write_fit
from bayesbias.reports.audits.audit_frame import MOST_PARTS, audit_parts, audit_rows, failed_cells
from bayesbias.reports.audits.ranks import has_ranks, rank
from bayesbias.reports.posterior.conclusions import conclusions, nothing_to_compare
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.questions import own_questions
from bayesbias.reports.posterior.summary import summary
from bayesbias.tables.table_files import write_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.asymmetry.ratios.report import AsymmetryReport
    from bayesbias.asymmetry.ratios.study_asymmetry import StudyAsymmetry
    from bayesbias.nli.answers.inference_comparison import InferenceComparison
    from bayesbias.reports.checks.posterior_check import PosteriorCheck
    from bayesbias.reports.checks.prior_check import PriorCheck
    from bayesbias.reports.embeddings.comparison import EmbeddingComparison
    from bayesbias.reports.embeddings.seeds import SeedComparison


# All files that each kind of results may have.
RESULTS = (
    *("table.csv", "fit.nc", "summary.csv", "contrasts.csv", "questions.csv", "words.png"),
    *("conclusions.txt", "conclusions.json"),
)
CHECKS = ("check.txt", "check.png", "coverage.csv", "statistics.csv", "prior.png", "prior.csv")
COMPARISON = (
    *("gaps.csv", "differences.csv", "differences_by_word.csv", "side_by_side.csv"),
    *("comparison.txt", "difference_[0-9]*.png"),
)

AUDIT = (
    *("audit.csv", "audit.png", "audit_[0-9]*.png", "ranks.csv", "rank_correlations.csv", "ranks.png"),
    *("ranks_[0-9]*.png", "failed.csv"),
)


def check_request(table: "pd.DataFrame", *, hdi_prob: float = HDI_PROB, rope: float | None = None) -> None:
    """Raise, before anything is sampled, if `write_results` could not conclude anything from a fit of `table`.

    Raises
    ------
    ArgumentError, ReportError
        If `hdi_prob` or `rope` is impossible, the table has nothing to compare or garbled questions, or no figure can
        be drawn.
    """
    new_figure(1, 1)
    check_probability("hdi_prob", hdi_prob)
    check_rope(rope)
    own_questions(table)
    if reason := nothing_to_compare(table["connection"].unique()):
        raise ReportError(f"{reason} Or fit it in Python (bb.fit) and take bb.summary.")


ASYMMETRY = (
    *("pairs.csv", "relations.csv", "agreement.csv", "accuracy.csv", "left_out.csv"),
    *("asymmetry.txt", "asymmetry.png", "relations.png", "study.txt", "study_means.csv", "study_contrasts.csv"),
)
SEEDS = ("contrasts.csv", "by_seed.csv", "seeds.txt", "seeds.png")


def write_results(
    fit: "xr.DataTree",
    folder: str | os.PathLike[str],
    *,
    table: "pd.DataFrame",
    hdi_prob: float = HDI_PROB,
    rope: float | None = None,
    overwrite: bool = False,
) -> Conclusions:
    """Write a fit's results to a folder and return its conclusions.

    The folder receives ``table.csv``, ``fit.nc``, ``summary.csv``, ``contrasts.csv``, ``words.png``, and the
    conclusions as ``conclusions.txt`` and, with their numbers, ``conclusions.json``; where the study asks questions of
    its own, ``questions.csv`` too. They replace the
    files of an earlier run all at once, where `overwrite` allows it; other files in the folder are left alone. `table`
    is the distance table that was fitted.
    """
    with whole_folder(folder, names=RESULTS, overwrite=overwrite) as workshop:
        found = conclusions(fit, hdi_prob=hdi_prob, rope=rope)
        write_table(table, workshop / "table.csv")
        write_fit(fit, workshop / "fit.nc")
        summary(fit, hdi_prob=hdi_prob).to_csv(workshop / "summary.csv", index=False)
        contrasts(fit, level="all", hdi_prob=hdi_prob, rope=rope).to_csv(workshop / "contrasts.csv", index=False)
        if own_questions(table) and len(answers := contrast(fit, hdi_prob=hdi_prob, rope=rope)):
            answers.to_csv(workshop / "questions.csv", index=False)
        save_figure(plot_words(fit, hdi_prob=hdi_prob), workshop / "words.png")
        _write_text(workshop / "conclusions.txt", found)
        _write_text(workshop / "conclusions.json", json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    return found


def write_checks(
    posterior: "PosteriorCheck", prior: "PriorCheck", folder: str | os.PathLike[str], *, overwrite: bool = False
) -> str:
    """Write what `check_posterior` and `check_prior` found to a folder and return it in words.

    Writes ``check.txt``, ``check.png``, ``coverage.csv``, ``statistics.csv``, ``prior.png`` and ``prior.csv``.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    text = f"{posterior}\n\n{prior}"
    with whole_folder(folder, names=CHECKS, overwrite=overwrite) as workshop:
        _write_text(workshop / "check.txt", text)
        save_figure(plot_check(posterior), workshop / "check.png")
        posterior.coverage.to_csv(workshop / "coverage.csv", index=False)
        posterior.statistics.to_csv(workshop / "statistics.csv", index=False)
        save_figure(plot_prior_check(prior), workshop / "prior.png")
        prior.distances.to_csv(workshop / "prior.csv", index=False)
    return text


def write_comparison(
    comparison: "EmbeddingComparison", folder: str | os.PathLike[str], *, overwrite: bool = False
) -> str:
    """Write what `compare_embeddings` found to a folder and return its conclusions.

    Writes ``gaps.csv``, ``differences.csv``, ``differences_by_word.csv``, ``side_by_side.csv``, ``comparison.txt`` and
    a ``difference_NUMBER.png`` for each embedding that is compared with the first.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    with whole_folder(folder, names=COMPARISON, overwrite=overwrite) as workshop:
        comparison.gaps.to_csv(workshop / "gaps.csv", index=False)
        comparison.differences.to_csv(workshop / "differences.csv", index=False)
        comparison.differences_by_word.to_csv(workshop / "differences_by_word.csv", index=False)
        comparison.side_by_side.to_csv(workshop / "side_by_side.csv", index=False)
        _write_text(workshop / "comparison.txt", comparison)
        for number, name in enumerate(comparison.names, start=1):
            save_figure(plot_embeddings(comparison, other=name), workshop / f"difference_{number}.png")
    return str(comparison)


def write_audit(audit: "pd.DataFrame", folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write an audit to a folder: ``audit.csv`` and ``audit.png``.

    Of several embeddings also ``ranks.csv``, ``rank_correlations.csv`` and ``ranks.png``; of several models or seeds a
    numbered figure for each after the first, up to eight. Where cells failed, ``failed.csv`` has their errors.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    import pandas as pd

    ranked, correlated, failed = [], [], failed_cells(audit)
    with whole_folder(folder, names=AUDIT, overwrite=overwrite) as workshop:
        audit.to_csv(workshop / "audit.csv", index=False)
        parts = audit_parts(audit)
        for at, (_, part) in enumerate(parts):
            number = f"_{at + 1}" if at else ""
            record = audit_rows(part)[1]
            if at < MOST_PARTS:
                save_figure(plot_audit(part), workshop / f"audit{number}.png")
            if has_ranks(part):
                ranks = rank(part, hdi_prob=record.hdi_prob)
                named: dict[str, Any] = {"model": record.model, "seed": record.random_seed} if len(parts) > 1 else {}
                ranked.append(ranks.ranks.assign(**named))
                correlated.append(ranks.correlations.assign(**named))
                if at < MOST_PARTS:
                    save_figure(plot_ranks(ranks), workshop / f"ranks{number}.png")
        frames = {"ranks": ranked, "rank_correlations": correlated, "failed": [failed] if len(failed) else []}
        for name, some in frames.items():
            if some:
                pd.concat(some).to_csv(workshop / f"{name}.csv", index=False)


def write_seeds(comparison: "SeedComparison", folder: str | os.PathLike[str], *, overwrite: bool = False) -> str:
    """Write what `compare_seeds` found to a folder and return it in words.

    Writes ``contrasts.csv`` (over seeds), ``by_seed.csv``, ``seeds.txt`` and ``seeds.png``.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    with whole_folder(folder, names=SEEDS, overwrite=overwrite) as workshop:
        comparison.contrasts.to_csv(workshop / "contrasts.csv", index=False)
        comparison.by_seed.to_csv(workshop / "by_seed.csv", index=False)
        _write_text(workshop / "seeds.txt", comparison)
        save_figure(plot_seeds(comparison), workshop / "seeds.png")
    return str(comparison)


INFERENCE = (
    *("values.csv", "changes.csv", "words.csv", "word_pairs.csv", "runs.csv"),
    *("inference.txt", "inference.png"),
)


def write_inference(
    comparison: "InferenceComparison", folder: str | os.PathLike[str], *, overwrite: bool = False
) -> str:
    """Write what `bayesbias.nli.answers.train_and_compare` found to a folder and return it in words.

    Writes ``values.csv``, ``changes.csv``, ``words.csv``, ``word_pairs.csv``, ``runs.csv``,
    ``inference.txt`` and ``inference.png``.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    with whole_folder(folder, names=INFERENCE, overwrite=overwrite) as workshop:
        for name in ("values", "changes", "words", "word_pairs", "runs"):
            getattr(comparison, name).to_csv(workshop / f"{name}.csv", index=False)
        _write_text(workshop / "inference.txt", comparison)
        save_figure(plot_inference(comparison), workshop / "inference.png")
    return str(comparison)


def write_asymmetry(
    report: "AsymmetryReport",
    folder: str | os.PathLike[str],
    *,
    studies: "Mapping[str, StudyAsymmetry] | None" = None,
    overwrite: bool = False,
) -> str:
    """Write what `bb.asymmetry.report` found to a folder and return it in words.

    Writes ``pairs.csv``, ``relations.csv``, ``agreement.csv``, ``accuracy.csv``, ``left_out.csv``, ``asymmetry.txt``
    and ``asymmetry.png``; of pairs with relations ``relations.png``; of `studies`, what `bb.asymmetry.study_asymmetry`
    found in each source, by its name, ``study.txt``, ``study_means.csv`` and ``study_contrasts.csv``.

    Raises
    ------
    OutputError
        If the folder cannot be written, or is not empty and `overwrite` is false.
    """
    import pandas as pd

    with whole_folder(folder, names=ASYMMETRY, overwrite=overwrite) as workshop:
        frames = {
            "pairs": report.ratios,
            "relations": report.relations,
            "agreement": report.agreement,
            "accuracy": report.accuracy,
            "left_out": report.left_out,
        }
        for name, frame in frames.items():
            frame.to_csv(workshop / f"{name}.csv", index=False)
        _write_text(workshop / "asymmetry.txt", report)
        save_figure(plot_asymmetry(report), workshop / "asymmetry.png")
        if not report.relations.empty:
            save_figure(plot_relations(report), workshop / "relations.png")
        if studies:
            _write_text(workshop / "study.txt", "\n\n".join(map(str, studies.values())))
            for name in ("means", "contrasts"):
                rows = pd.concat([getattr(each, name).assign(source=source) for source, each in studies.items()])
                rows.to_csv(workshop / f"study_{name}.csv", index=False)
    return str(report)


def _write_text(path: Path, text: object) -> None:
    """Write what `text` says, with the end of its last line."""
    path.write_text(f"{str(text).rstrip()}\n", encoding="utf-8")

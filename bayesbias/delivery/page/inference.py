"""The page of a comparison of models of inference: whether they treat words alike, how sure that is, what it cost."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.statements import percent_text, probability_text, signed_text
from bayesbias.delivery.page.blocks import (
    Block,
    Bullets,
    Format,
    Paragraph,
    Section,
    Table,
    fact_table,
    figure,
    frame_table,
)
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.embeddings.inference import plot_inference
from bayesbias.nli.answers.inference_comparison import InferenceComparison

if TYPE_CHECKING:
    import pandas as pd


def write_inference_page(
    comparison: InferenceComparison, path: str | os.PathLike[str], *, overwrite: bool = False
) -> Path:
    """Write a comparison of models of inference as one HTML file that needs nothing else.

    Parameters
    ----------
    comparison
        What `bayesbias.nli.answers.train_and_compare` or `bayesbias.nli.answers.compare_answers` returned.
    path
        A file that ends in ``.html``.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ArgumentError
        If it is no comparison.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> pairs = bb.nli.test_set("explicit").query("object in ['apple', 'car', 'book']")
    >>> def trained(gap):
    ...     def model(premises, hypotheses):
    ...         entailed = 0.3 + gap * np.array([text.startswith("He ") for text in hypotheses])
    ...         return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    ...     return model
    >>> models = {"original": [trained(g) for g in (0.3, 0.4, 0.5)], "hard": [trained(g) for g in (0.1, 0.2, 0.3)]}
    >>> found = bb.nli.compare_answers(models, pairs, random_seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write_inference_page(found, f"{folder}/inference.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_type("comparison", comparison, InferenceComparison, "what bb.nli.train_and_compare returned")
    target = page_target(path, overwrite=overwrite)
    prob = percent_text(comparison.hdi_prob)
    first, *others = comparison.embeddings
    said = [[each.text for each in part.statements] for part in comparison.parts]
    caption = (
        f"Means (points) with {prob} intervals (lines) over premises and trainings. Below, a point is filled where its "
        f"change from {first} is settled."
    )
    sections = [
        Section("changes", f"Against {first}", [Bullets(tuple(said[0])), _quantities(comparison.changes, prob, True)]),
        Section("values", "With each embedding", [_quantities(comparison.values, prob, False)]),
        Section("words", "Word by word", _words(comparison, prob)),
        Section("trainings", "Each training", [_runs(comparison.runs)]),
        Section("limits", "What it rests on", [Bullets(tuple(said[-1]))]),
        Section("settings", "How it was made", [fact_table("All that was asked", _facts(comparison), header=_HEADER)]),
    ]
    lead = (figure(plot_inference(comparison), caption, "The numbers are in the tables."),)
    content = filled_page(
        title=f"Does it reach a model of inference? {_counted(others)} compared with {first}",
        description=f"Models of inference with these vectors: {', '.join(comparison.embeddings)}.",
        subtitle=f"{comparison.groups[0]} and {comparison.groups[1]}, {len(comparison.runs)} trainings.",
        alerts=[],
        verdict=" ".join(said[0]),
        sections=sections,
        lead=(*lead, Bullets(tuple(text for part in said[1:-1] for text in part))),
    )
    return write_page(target, content, overwrite=overwrite)


def _counted(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} embeddings"


_HEADER = ("Setting", "Value")
_WORDS = (
    "A model that treats two words alike answers alike. Intervals are over premises and trainings; two words share the "
    "premises, so that their difference, below, says more than whether two lines overlap."
)


def _quantities(frame: "pd.DataFrame", prob: str, change: bool) -> Table:
    columns: dict[str, tuple[str, Format | None]] = {
        "embedding": ("Embedding", None),
        "quantity": ("Quantity", None),
        "population": ("Of", None),
        "mean": ("Change" if change else "Mean", signed_text),
        "hdi_low:hdi_high": (f"{prob} interval", signed_text),
    }
    if change:
        columns["probability_lower"] = ("Probability that it is lower", probability_text)
    return frame_table(frame, "Changes" if change else "Values", columns)


def _words(comparison: InferenceComparison, prob: str) -> list[Block]:
    frame, pairs = comparison.words, comparison.word_pairs
    columns: dict[str, tuple[str, Format | None]] = {
        "word": ("Word", None),
        "group": ("Group", None),
        "embedding": ("Embedding", None),
        "mean": ("Mean", _number),
        "hdi_low:hdi_high": (f"{prob} interval", _number),
    }
    order = {word: at for at, word in enumerate(dict.fromkeys(frame["word"]))}
    frame = frame.sort_values("word", key=lambda words: words.map(order), kind="stable")
    found: list[Block] = [Paragraph(_WORDS), frame_table(frame, "Words", columns)]
    if not pairs.empty:
        differences: dict[str, tuple[str, Format | None]] = {
            "first": ("Word", None),
            "second": ("Minus", None),
            "embedding": ("Embedding", None),
            "mean": ("Difference", signed_text),
            "hdi_low:hdi_high": (f"{prob} interval", signed_text),
        }
        pairs = pairs.sort_values(["first", "second"], key=lambda words: words.map(order), kind="stable")
        found.append(frame_table(pairs, "Two words", differences, folded=True))
    return found


def _runs(frame: "pd.DataFrame") -> Table:
    columns: dict[str, tuple[str, Format | None]] = {
        "embedding": ("Embedding", None),
        "run": ("Training", str),
        "overall": ("Overall", _number),
        "contrast": ("Contrast", signed_text),
        "distance": ("Distance d", _number),
    }
    if "accuracy" in frame:
        columns["accuracy"] = ("Accuracy", _number)
    return frame_table(frame, "Trainings", columns, folded=True)


def _facts(comparison: InferenceComparison) -> dict[str, str]:
    words = comparison.words["word"].nunique()
    return {
        "Embeddings": ", ".join(comparison.embeddings),
        "Score": comparison.score,
        "Groups": " and ".join(comparison.groups),
        "Words": f"{words:,}",
        "Intervals": percent_text(comparison.hdi_prob),
        "Seed": str(comparison.random_seed),
    }


def _number(value: float) -> str:
    return f"{value:.3f}"

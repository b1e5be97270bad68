"""The page of a comparison of seeds: whether the contrasts of one study are stable."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import count_text, distance_text, percent_text, rows_of, share_text, signed_text
from bayesbias.delivery.page.blocks import (
    Block,
    Bullets,
    Heading,
    Notice,
    Paragraph,
    Section,
    Verbatim,
    fact_table,
    figure,
    frame_table,
)
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.embeddings.seeds import plot_seeds
from bayesbias.errors import name_some
from bayesbias.reports.embeddings.seeds import SeedComparison

if TYPE_CHECKING:
    import pandas as pd


def write_seeds_page(comparison: SeedComparison, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write whether contrasts are stable over seeds as one HTML file that needs nothing else.

    The answer in a sentence and the figure come first; then the numbers over seeds and of each seed, the words, what
    is not shown, and how to repeat it.

    Parameters
    ----------
    comparison
        What `bayesbias.compare_seeds` returned.
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
        If it is no comparison of seeds.
    OutputError
        If the file exists or cannot be written; before anything is computed.

    Examples
    --------
    >>> import tempfile
    >>> compared = bb.compare_seeds({1: fit, 2: fit}, random_seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write_seeds_page(compared, f"{folder}/seeds.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_type("comparison", comparison, SeedComparison, "what compare_seeds returned")
    target = page_target(path, overwrite=overwrite)
    facts, seeds = comparison.facts, len(comparison.facts["embeddings"])
    prob = percent_text(comparison.hdi_prob)
    drawn = figure(
        plot_seeds(comparison),
        f"Each contrast in the embedding of each seed (thin) and on average over seeds like these (thick): posterior "
        f"means and {prob} intervals, filled where the interval leaves out 0. Below 0: associated words are nearer.",
        "The numbers are in the tables.",
    )
    content = filled_page(
        title=f"Is it stable over seeds? {facts['study']}",
        description=f"Contrasts of {facts['study']} in embeddings of {seeds} seeds.",
        subtitle=f"{seeds} embeddings that differ in the seed of their training, model {facts['model']}.",
        alerts=[Notice(text) for text in facts["doubts"]],
        verdict=comparison.verdict.text,
        sections=[_answers(comparison), _question(comparison), _limits(comparison), _settings(comparison)],
        lead=(drawn,),
    )
    return write_page(target, content, overwrite=overwrite)


def _answers(comparison: SeedComparison) -> Section:
    """Return the tables over seeds and of each seed, and what it means that seeds disagree."""
    prob = percent_text(comparison.hdi_prob)
    frame = _named(comparison.contrasts)
    names = {"contrast": ("Contrast", None)} | ({"of": ("Of", None)} if frame["of"].any() else {})
    blocks: list[Block] = [
        Paragraph(
            "A contrast is stable where all seeds, their average, and the interval of one more seed settle it in the "
            "same way; not settled where none of these does; open where the seeds say the same and the others do not."
        ),
        frame_table(
            frame,
            f"Over seeds, in units of cosine distance, {prob} HPDI; below 0: associated words are nearer",
            {
                **names,
                "stability": ("Over seeds", None),
                "mean": ("Mean", signed_text),
                "hdi_low:hdi_high": ("Interval", signed_text),
                "next_low:next_high": ("One more seed", signed_text),
                "nearer": ("Seeds: nearer", count_text),
                "farther": ("farther", count_text),
                "not_settled": ("not settled", count_text),
            },
        ),
        frame_table(
            frame.assign(
                lists_share=1 - frame["seed_share"],
                lists_share_low=1 - frame["seed_share_high"],
                lists_share_high=1 - frame["seed_share_low"],
            ),
            f"What makes the spread of one embedding's contrast: standard deviations, shares of variance, {prob} HPDI",
            {
                **names,
                "seed_sd": ("Seed, sd", distance_text),
                "seed_sd_low:seed_sd_high": ("Interval", distance_text),
                "lists_sd": ("Words, sd", distance_text),
                "seed_share": ("Seed's share", share_text),
                "seed_share_low:seed_share_high": ("Interval", share_text),
                "lists_share": ("Words' share", share_text),
                "lists_share_low:lists_share_high": ("Interval", share_text),
            },
        ),
        frame_table(
            _named(comparison.by_seed).assign(seed=comparison.by_seed["seed"].astype(str)),
            f"Each seed alone, {prob} HPDI",
            {
                "seed": ("Seed", None),
                **names,
                "mean": ("Mean", signed_text),
                "hdi_low:hdi_high": ("Interval", signed_text),
                "ess_bulk": ("ESS", count_text),
            },
            folded=True,
        ),
    ]
    for part in comparison.parts:
        if part.bulleted and part.statements[0].kind == "seeds disagree":
            blocks += [Heading(part.title), Bullets(tuple(map(str, part.statements)))]
    return Section("answers", "Answers", blocks)


def _named(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows with a column `of`: the protected word or group, empty for all words."""
    return frame.assign(of=[row["protected_word"] or row["protected_group"] for row in rows_of(frame)])


def _question(comparison: SeedComparison) -> Section:
    facts = comparison.facts
    blocks: list[Block] = [
        Paragraph(
            f"Study {facts['study']}: {facts['protected_words']} protected words, {facts['attribute_words']} attribute "
            f"words, {facts['pairs']:,} cosine distances in each embedding. Are the protected words nearer to the "
            "attribute words that are associated with their own group than to others, and would vectors that were "
            "trained again say the same?"
        )
    ]
    lost = tuple(f"{name}: {name_some(words, 20)}." for name, words in facts["lost_words"].items())
    if lost:
        blocks += [Heading("Lost words"), Bullets(lost)]
    return Section("question", "The question", blocks)


def _limits(comparison: SeedComparison) -> Section:
    texts = tuple(map(str, comparison.parts[-1].statements))
    more = "An association is no proof of bias, and where none is settled there may still be one: see the intervals."
    return Section("limits", "What it does not show", [Bullets((*texts, more))])


def _settings(comparison: SeedComparison) -> Section:
    from importlib.metadata import version

    facts = comparison.facts
    settings = {
        "Study": facts["study"],
        "Embeddings": ", ".join(dict.fromkeys(facts["embeddings"].values())),
        "Model": facts["model"],
        "Sampler": facts["sampler"],
        "Each fit": ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts["settings"].items()),
        "Seed of the draws": str(comparison.seed),
        "Interval": f"{percent_text(comparison.hdi_prob)} HPDI",
        "bayesbias": version("bayesbias"),
    }
    options = "".join(f", {name}={value}" for name, value in facts["settings"].items())
    lost = f", max_lost={facts['max_lost']}" if facts["max_lost"] != MAX_LOST else ""
    code = (
        f"vectors = {{seed: PATH, ...}}  # {len(facts['embeddings'])} embeddings, by seed\n"
        "fits = {}\n"
        "for seed, path in vectors.items():\n"
        f"    table = bb.distance_table(path, {json.dumps(facts['study'])}{lost})\n"
        f"    fits[seed] = bb.fit(table, {json.dumps(facts['model'])}{options})\n"
        f"compared = bb.compare_seeds(fits, random_seed={comparison.seed})\n"
        'bb.write_seeds_page(compared, "seeds.html")'
    )
    return Section(
        "reproduce",
        "How to repeat it",
        [fact_table("Settings", settings, header=("Setting", "Value")), Heading("In Python"), Verbatim(code)],
    )

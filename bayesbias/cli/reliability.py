"""The command for the reliability of bias scores."""

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
    HdiProb,
    MaxLost,
    answer,
    app,
    file_names,
    printed,
)

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 5


@app.command(cls=Command)
def reliability(
    embeddings: Annotated[
        list[Path], typer.Argument(metavar="VECTORS...", help="Embeddings that differ in the seed only, a file each.")
    ],
    words: Annotated[str, typer.Option(help="Target words: occ16, occ18, adj, or a TOML file.")] = "occ18",
    base_pairs: Annotated[str, typer.Option(help="Base pairs: gender, or a TOML file.")] = "gender",
    queries: Annotated[str, typer.Option(help="Queries: gender, or a TOML file.")] = "gender",
    rule: Annotated[
        list[str] | None,
        typer.Option(help="A scoring rule: db_wa, ripa, ripa_unit, nbm. May be repeated; by default no ripa_unit."),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: Annotated[str, typer.Option("--format", help="The embeddings' format, if not recognised.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Print whether bias scores would come out again with another seed, rule, or word.

    Of target words the lowest are printed, and all with --json. A TOML file of your own holds
    words = ["nurse", ...], pairs = [["he", "she"], ...], and a table [queries] of lists. Example:

        bayesbias reliability seed1.npz seed2.npz seed3.npz --words occ18
    """
    from bayesbias import reliability as room
    from bayesbias.base.checks import check_probability
    from bayesbias.base.files import input_file
    from bayesbias.base.statements import percent_text
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.metrics.directions.word_scores import load_base_pairs
    from bayesbias.reliability.scores import score_array

    names = file_names(embeddings, OF_SEEDS)
    check_probability("hdi_prob", hdi_prob)
    targets, asked = room.load_target_words(words), room.load_queries(queries)
    pairs = load_base_pairs(base_pairs)
    # Read by the scores themselves, which know the words that they need.
    sources: dict[Any, Any] = {
        path.stem: partial(load_embedding, input_file(path), format=file_format, case=case) for path in embeddings
    }
    every = dict.fromkeys((*targets, *(word for query in asked.values() for word in query)))
    rules = rule or ("db_wa", "ripa", "nbm")
    scores = score_array(sources, list(every), rules=rules, base_pairs=pairs, max_lost=max_lost)
    of_targets = scores.sel(target_word=[word for word in scores["target_word"].values.tolist() if word in targets])
    frames: dict[str, pd.DataFrame] = {
        "test_retest_target_words": room.test_retest(of_targets, hdi_prob=hdi_prob),
        "test_retest_base_pairs": room.test_retest(of_targets, "base_pair", hdi_prob=hdi_prob),
        "internal_consistency": room.internal_consistency(scores, asked, max_lost=max_lost, hdi_prob=hdi_prob),
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
        f"{sizes['target_word']} target words, {sizes['base_pair']} base pairs, {sizes['rule']} rules, "
        f"{sizes['seed']} seeds. An ICC below 0.5 is called poor, below 0.75 moderate, below 0.9 good; an alpha from "
        "0.7 on acceptable.",
        *(
            f"{title}{_how_many(frames[name])}\n{_lowest(frames[name])}"
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


def _how_many(frame: "pd.DataFrame") -> str:
    """Return how many rows are left out, as the end of a title."""
    most = int(frame.groupby("rule").size().max()) if "rule" in frame else len(frame)
    return f"; the {_SHOWN} lowest of {most}{' by each rule' if 'rule' in frame else ''}" if _cut(frame) else ""


def _cut(frame: "pd.DataFrame") -> bool:
    return "query" not in frame and len(frame) > _SHOWN


def _lowest(frame: "pd.DataFrame") -> str:
    """Return the lowest estimates of a frame, by rule where it has rules; queries are shown whole."""
    shown = frame
    if _cut(frame):
        ordered = frame.sort_values("estimate", kind="stable")
        shown = ordered.groupby("rule", sort=False).head(_SHOWN) if "rule" in frame else ordered.head(_SHOWN)
        shown = shown.sort_values(["rule"] if "rule" in frame else ["estimate"], kind="stable")
    labels = [name for name in ("rule", "target_word", "base_pair", "query") if name in shown]
    return printed(shown[[*labels, "estimate", "mean", "hdi_low", "hdi_high", "rows", "columns"]])

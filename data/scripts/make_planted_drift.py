"""Make the bundled vectors of five periods, in which the lean of names shrinks by a known share.

    python data/scripts/make_planted_drift.py

Each period is the bundled skip-gram embedding of seed 1 with noise of its own. In each, the names of WEAT 6 lose a part
of their vectors along the axis between male and female names: 0, 15, 30, 45 and 60 %. Two periods lack a name each. The
truth that `truth.csv` holds is the contrast without the noise.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "planted_drift"
SOURCE = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
REMOVED = {"1950": 0.0, "1960": 0.15, "1970": 0.3, "1980": 0.45, "1990": 0.6}
LACKING = {"1950": "Lisa", "1960": "Donna"}
NOISE, SEED = 0.3, 1


def units(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> None:
    """Write one file a period, and the truth."""
    study = bb.load_study("weat6")
    embedding = bb.load_embedding(SOURCE, case=("exact", "lower"))
    forms = embedding.lookup(study.words).matches
    words = [word for word in study.words if word in forms]
    vectors = units(np.stack([embedding[forms[word]] for word in words]).astype(float))
    place_of = {word: place for place, word in enumerate(words)}
    members = {name: [place_of[word] for word in group if word in forms] for name, group in study.protected.items()}
    male, female = (vectors[places].mean(axis=0) for places in members.values())
    axis = (male - female) / np.linalg.norm(male - female)
    names = np.concatenate(list(members.values()))
    rng, truths = np.random.default_rng(SEED), []
    FOLDER.mkdir(exist_ok=True)
    for period, share in REMOVED.items():
        moved = vectors.copy()
        moved[names] -= share * (vectors[names] @ axis)[:, None] * axis
        table = bb.distance_table(dict(zip(words, moved, strict=True)), study, max_lost=1)
        means = table.groupby(["protected_group", "connection"], observed=True)["cosine_distance"].mean().unstack()
        contrast = float((means["associated"] - means["different"]).mean())
        truths.append({"period": period, "removed": share, "contrast": round(contrast, 6)})
        noise = NOISE / np.sqrt(vectors.shape[1]) * rng.standard_normal(vectors.shape)
        keep = [place for place, word in enumerate(words) if word != LACKING.get(period)]
        stored = (moved + noise)[keep].astype(np.float16)
        np.savez_compressed(FOLDER / f"{period}.npz", words=np.array(words)[keep], vectors=stored)
    pd.DataFrame(truths).to_csv(FOLDER / "truth.csv", index=False)
    print(pd.DataFrame(truths).to_string(index=False))


if __name__ == "__main__":
    main()

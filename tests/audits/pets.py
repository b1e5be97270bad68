"""A small study in small embeddings, whose cells take a moment."""

from pathlib import Path

import numpy as np

import bayesbias as bb

WORDS = ["cat", "tom", "kitten", "dog", "pup", "hound", "purr", "nap", "meow", "bark", "howl", "growl"]
MEASURES = ["contrast", "weat", "mac"]
SMALL = {"draws": 25, "chains": 4, "progress": False}


def study(name: str = "pets", **changes: object) -> bb.Study:
    lists = {
        "protected": {"cats": WORDS[:3], "dogs": WORDS[3:6]},
        "attributes": {"quiet": WORDS[6:9], "loud": WORDS[9:]},
    }
    pairs = [("cats", "quiet"), ("dogs", "loud")]
    return bb.Study(name=name, associated=pairs, human="none", neutral="none", **lists | changes)  # type: ignore[arg-type]


def embedding(seed: int, **options: object) -> bb.Embedding:
    vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 5))
    return bb.Embedding(words=WORDS, vectors=vectors, name=f"E{seed}", **options)  # type: ignore[arg-type]


def write_plan(folder: Path, embeddings: int, seeds: int, **more: str) -> Path:
    """Write a plan of a study by one model, with its study and its embeddings."""
    lists = "\n".join(
        f"[{kind}]\n" + "\n".join(f"{name} = {list(words)}" for name, words in getattr(study(), kind).items())
        for kind in ("protected", "attributes")
    )
    associated = 'associated = [["cats", "quiet"], ["dogs", "loud"]]\n[controls]\nhuman = "none"\nneutral = "none"'
    (folder / "pets.toml").write_text(f'name = "pets"\n{associated}\n{lists}\n')
    named = []
    for number in range(embeddings):
        bb.write_embedding(embedding(number), folder / f"e{number}.npz")
        named.append(f'E{number} = "e{number}.npz"')
    texts = [f"{name} = {value}" for name, value in more.items()]
    settings = ['studies = ["pets.toml"]', 'models = ["hierarchical"]', f"seeds = {list(range(seeds))}", *texts]
    settings += [f"measures = {MEASURES}".replace("'", '"'), "draws = 25"]
    path = folder / "study.toml"
    path.write_text("\n".join([*settings, "[embeddings]", *named]) + "\n")
    return path

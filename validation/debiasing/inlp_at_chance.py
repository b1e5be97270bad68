"""Is a new classifier at chance after INLP? Words that had no part in the fit, in several embeddings: `inlp.csv`.

    python validation/debiasing/inlp_at_chance.py NAME=VECTORS ...

VECTORS is any file that bayesbias reads (`load_embedding`). The bundled vectors come first.
"""

import argparse
from pathlib import Path

import pandas as pd

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
BUNDLED = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")


def held_out(name: str, path: Path) -> pd.DataFrame:
    """Return the accuracy of new classifiers of held-out words, before and after INLP."""
    fitted = bb.debias.INLP().fit(bb.load_embedding(path, case=("exact", "lower")), "gender_bolukbasi")
    return fitted.held_out.assign(vectors=name)


def main() -> None:
    """Write inlp.csv."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", nargs="*", metavar="NAME=VECTORS")
    named = dict(argument.split("=", 1) for argument in parser.parse_args().vectors)
    frames = [held_out(name, Path(path)) for name, path in {"bundled": str(BUNDLED), **named}.items()]
    columns = ["vectors", "when", "accuracy", "hdi_low", "hdi_high", "chance", "words"]
    pd.concat(frames)[columns].round(6).to_csv(FOLDER / "inlp.csv", index=False)


if __name__ == "__main__":
    main()

"""Vectors of all-MiniLM-L6-v2 for each word in each of a hundred sentences, kept small: ``minilm.npz``.

    python validation/templates/make_vectors.py ENCODER

ENCODER is the folder of all-MiniLM-L6-v2 (Apache-2.0, by the sentence-transformers team). It needs the extra
`encoders`; `trial.py` needs only the file.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
DIMENSIONS = 64
# Every beginning goes with every end: sentences for a noun, the population of the trial.
BEGINNINGS = (
    *("This is a WORD", "I saw a WORD", "There was a WORD", "We talked about the WORD", "She remembers the WORD"),
    *("He wrote about a WORD", "Nobody noticed the WORD", "They asked for a WORD", "My friend mentioned the WORD"),
    "The story is about a WORD",
)
ENDS = (
    *(".", " yesterday.", " in the city.", " near the door.", " last year.", " in a picture.", " again."),
    *(" before lunch.", " on television.", " in the book."),
)
TEMPLATES = tuple(beginning + end for beginning, end in product(BEGINNINGS, ENDS))
# Nouns of either gender; professions by the ratings of Bolukbasi et al. (2016); flowers and insects of WEAT 1.
LISTS = {
    "male": (
        *("man", "boy", "father", "son", "brother", "husband", "uncle", "nephew", "grandfather", "grandson", "king"),
        *(
            "prince",
            "gentleman",
            "lad",
            "groom",
            "widower",
            "duke",
            "monk",
            "actor",
            "waiter",
            "landlord",
            "stepfather",
        ),
        *("bachelor", "bull"),
    ),
    "female": (
        *("woman", "girl", "mother", "daughter", "sister", "wife", "aunt", "niece", "grandmother", "granddaughter"),
        *("queen", "princess", "lady", "lass", "bride", "widow", "duchess", "nun", "actress", "waitress", "landlady"),
        *("stepmother", "bachelorette", "cow"),
    ),
    "male_work": (
        *("warrior", "warden", "superintendent", "president", "janitor", "drummer", "butcher", "boxer", "bodyguard"),
        *("sailor", "plumber", "philosopher", "officer", "minister", "mathematician", "magistrate", "farmer"),
        *("electrician", "commissioner", "commander", "colonel", "coach", "carpenter", "astronaut"),
    ),
    "female_work": (
        *("caretaker", "dancer", "homemaker", "librarian", "nurse", "hairdresser", "housekeeper", "secretary"),
        *("teacher", "stylist", "clerk", "educator", "bookkeeper", "environmentalist", "paralegal", "therapist"),
        *("dermatologist", "instructor", "organist", "planner", "treasurer", "tutor", "violinist", "vocalist"),
    ),
    "flowers": (
        *("aster", "clover", "hyacinth", "marigold", "poppy", "azalea", "crocus", "iris", "orchid", "rose", "bluebell"),
        *("daffodil", "lilac", "pansy", "tulip", "buttercup", "daisy", "lily", "peony", "violet", "carnation"),
        *("gladiola", "magnolia", "petunia"),
    ),
    "insects": (
        *("ant", "caterpillar", "flea", "locust", "spider", "bedbug", "centipede", "fly", "maggot", "tarantula", "bee"),
        *("cockroach", "gnat", "mosquito", "termite", "beetle", "cricket", "hornet", "moth", "wasp", "blackfly"),
        *("dragonfly", "horsefly", "roach"),
    ),
}


def main(folder: str) -> None:
    """Encode, keep the first principal components, and write them in eight bits a number."""
    words = [word for listed in LISTS.values() for word in listed]
    texts = [template.replace("WORD", word) for word in words for template in TEMPLATES]
    encoder = bb.embeddings.load_encoder(folder)
    vectors = np.concatenate([encoder(texts[start : start + 512]) for start in range(0, len(texts), 512)])
    squares, axes = np.linalg.eigh(vectors.T.astype(float) @ vectors)
    reduced = vectors @ axes[:, ::-1][:, :DIMENSIONS]
    step = np.abs(reduced).max(axis=0) / 127
    rounded = np.round(reduced / step).astype(np.int8).reshape(len(words), len(TEMPLATES), DIMENSIONS)
    np.savez_compressed(
        FOLDER / "minilm.npz",
        lists=np.array(list(LISTS)),
        words=np.array(words),
        templates=np.array(TEMPLATES),
        vectors=rounded,
        step=step.astype(np.float32),
        share=np.float32(squares[::-1][:DIMENSIONS].sum() / squares.sum()),
    )
    print(f"{len(texts):,} texts; {DIMENSIONS} components hold {squares[::-1][:DIMENSIONS].sum() / squares.sum():.3f}")


if __name__ == "__main__":
    main(sys.argv[1])

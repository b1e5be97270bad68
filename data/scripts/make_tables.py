"""Build the bundled distance tables from the Google News vectors.

    python data/scripts/make_tables.py VECTORS

VECTORS is GoogleNews-vectors-negative300 (https://code.google.com/archive/p/word2vec/), or any file that
holds its vectors for the words of the studies.
"""

import argparse
from pathlib import Path

import bayesbias as bb

FOLDER = Path(__file__).resolve().parents[1] / "tables"
# The bundled tables were made from a selection of 13,784 words, so words that the whole file has may be lost.
EMBEDDING = "Google News word2vec, 13,784 words"
STUDIES = ("gender", "weat1", "weat2", "weat6", "weat7", "weat8", "weat9")


def main() -> None:
    """Build and write one table a study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", type=Path)
    source = parser.parse_args().vectors
    for name in STUDIES:
        study = bb.load_study(name)
        embedding = bb.load_embedding(source, words=study.words, name=EMBEDDING)
        table = bb.distance_table(embedding, study, max_lost=1)
        target = bb.write_table(table, FOLDER / f"{name}_google_news.csv.gz", overwrite=True)
        print(f"{target.name}: {len(table):,} pairs, {target.stat().st_size / 1024:.0f} kB", flush=True)


if __name__ == "__main__":
    main()

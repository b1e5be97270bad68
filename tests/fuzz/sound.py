"""Sound inputs, which fuzzing damages: word lists, vectors, tables, fits and files of other people."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb

VECTORS = {
    name: np.random.default_rng(at).standard_normal(6).astype(np.float32).tolist()
    for at, name in enumerate(("he", "she", "math", "art", "poem", "ärzte", "number", "tiger"))
}
STUDY = """
description = "a question"
associated = [["science", "male"], ["arts", "female"]]
[protected]
science = ["math", "number"]
arts = ["art", "poem"]
[attributes]
male = ["he"]
female = ["she"]
[controls]
human = "none"
neutral = ["tiger"]
[questions]
"a name" = [["science", "male"], ["arts", "male"]]
"""
BENCHMARKS = (
    "Word 1,Word 2,Human (mean)\nhe,she,9.5\nmath,number,8\nart,poem,7\ntiger,he,1e-1\n",
    "he\tshe\tN\t9.5\r\nmath\tnumber\tN\t8\r\nart\tpoem\tN\t7\r\n",
    ": family\nhe she math art\nmath art he she\n: gram1\nart poem he she\nhe she art poem\n",
    "he:she math:art tiger:number poem:art\nmath:poem he:art she:tiger math:number\n",
)
LABELLED = (
    'premise,hypothesis,label,split\nA man sleeps,"A man, he sleeps",entailment,TRAIN\na,b,-,TEST\nc,d,NEUTRAL,\n',
    'pair_ID\tsentence_A\tsentence_B\tentailment_label\tSemEval_set\n1\tA "man\tA dog\tNEUTRAL\tTRIAL\r\n',
    '{"gold_label": "neutral", "sentence1": "A man", "sentence2": "A dog"}\n{"gold_label": "-", "sentence1": "ä", '
    '"sentence2": "b", "annotator_labels": ["neutral"]}\n',
)
NORMS = (
    b'cue,response,count,participants\nhe,she,30,150\nshe,he,20,140\nhe,"math, art",2,150\n',
    b"cue\tresponse\tR1\tN\tR1.Strength\nhe\tshe\t22\t97\t0.2268\nshe\the\t1\t90\t0.01\n",
    b"<HTML>\n<PRE>\nCUE, TARGET, NORMED?, #G, #P\nHE, SHE, YES, 152, 30, .2\nSHE, HE, YES, 140, 2, .01\n</PRE>\n",
    b'<?xml version="1.0"?>\n<eat><stimulus word="HE"><response word="SHE" n="2" r="1"/></stimulus></eat>\n',
)
RELATIONS = (
    b"head,relation,tail\nhe,Antonym,she\nmath,IsA,number\n",
    b"he\tAntonym\tshe\nmath\tIsA\tnumber\n",
    b"/a/[x]\t/r/IsA\t/c/en/math/n\t/c/en/number\t{}\n/a/[y]\t/r/Antonym\t/c/en/he\t/c/en/she\t{}\n",
)


@cache
def whole(name: str) -> bytes:
    """Return a sound file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"sound.{name}"
        if name in ("csv", "parquet", "csv.gz"):
            bb.write_table(small_table(), place)
        elif name == "nc":
            bb.write_fit(small_fit(), place)
        elif name == "trained.npz":
            texts = [list(VECTORS)] * 5
            settings: dict[str, Any] = {"algorithm": "glove", "seeds": [1], "dimensions": 4, "epochs": 1}
            trained = bb.embeddings.train_embeddings(texts, folder, **settings, progress=False)
            return trained.paths[1].read_bytes()
        elif name == "glove.txt":
            place.write_text("".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items()))
        else:
            bb.write_embedding(VECTORS, place)
        return place.read_bytes()


@cache
def small_table() -> pd.DataFrame:
    """Return a table of a few words."""
    return bb.distance_table(VECTORS, small_study())


@cache
def small_study() -> bb.Study:
    """Return the study of the words above."""
    import tomllib

    content = tomllib.loads(STUDY)
    lists = content.pop("controls")
    return bb.Study(name="small", **content, **lists)


@cache
def small_fit() -> xr.DataTree:
    """Return a fit of a larger table, quickly sampled."""
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    few = table[table["connection"].isin(["associated", "different"])].reset_index(drop=True)
    few.attrs = {"bayesbias": {name: value for name, value in table.attrs["bayesbias"].items() if name != "hash"}}
    return bb.fit(few, "hierarchical", draws=20, chains=2, random_seed=1)

"""Run the published code of RAN and of gender-preserving debiasing on the bundled vectors: `torch.json`.

It needs clones of the two repositories, NumPy and PyTorch: see README.md.
"""

import argparse
import ast
import copy
import hashlib
import json
import os
import platform
import random
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
VECTORS = "wikipedia2018_skipgram_seed1"
SHOWN = ["math", "poetry", "nurse", "engineer", "science", "art", "lawyer", "janitor"]
WEIGHTS = (1 / 8, 6 / 8, 1 / 8)  # of config.ini
PRETRAINED, QUADS, EPOCHS = 50, 12, 5


def definitions(path: Path, **names: Any) -> dict[str, Any]:
    """Return the functions and classes of a file, without running the rest of it; `names` are there for them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    space: dict[str, Any] = {"torch": torch, "nn": nn, "np": np, "copy": copy, "os": os, **names}
    exec(compile(tree, str(path), "exec"), space)  # the authors' own
    return space


def ran(clone: Path, words: list[str], units: Any, gender: Any) -> dict[str, Any]:
    """Return where the authors' optimizer takes words, and which neighbours they are repelled from."""
    near = definitions(clone / "src" / "make_neighbours.py", jit=lambda **_: lambda function: function)
    source = definitions(clone / "src" / "RANDebias.py", deepcopy=copy.deepcopy)
    place = {word: row for row, word in enumerate(words)}
    lookup = SimpleNamespace(v=lambda word: units[place[word]], vecs=units, words=words)
    neighbours = source["get_N_info"](SHOWN, {word: near["get_ns_idb"](lookup, word, gender) for word in SHOWN})
    moved = {
        word: source["get_new_word_embs"](
            lookup, word, 0.01, 300, neighbours, g=torch.FloatTensor(gender), ws=list(WEIGHTS)
        )
        for word in SHOWN
    }
    return {
        "attracted": {word: neighbours[word]["selected"] for word in SHOWN},
        "repelled": {word: neighbours[word]["deselected"] for word in SHOWN},
        "vectors": {word: vector.detach().numpy().tolist() for word, vector in moved.items()},
    }


def first_weights(dimensions: int) -> dict[str, Any]:
    """Return weights to begin with, in the order in which the package draws its own."""
    generator, bound = np.random.default_rng(1), 1 / np.sqrt(dimensions)
    shapes: dict[str, tuple[int, ...]] = {"first": (dimensions,), "second": (dimensions,)}
    shapes |= {"first_bias": (1,), "second_bias": (1,)}
    shapes |= {"encoder": (dimensions, dimensions), "decoder": (dimensions, dimensions)}
    shapes |= {"encoder_bias": (dimensions,), "decoder_bias": (dimensions,)}
    return {name: generator.uniform(-bound, bound, size=shape).astype(np.float32) for name, shape in shapes.items()}


def gender_preserving(clone: Path, words: list[str], units: Any, lists: dict[str, Any]) -> dict[str, Any]:
    """Return the encoded words after the authors' autoencoder, and after their joint training; nothing is dropped."""
    dims, place = units.shape[1], {word: row for row, word in enumerate(words)}
    model = definitions(clone / "src" / "model.py")
    begin = first_weights(dims)
    encoder, decoder = model["Encoder"](dims, dims, 0.0), model["Decoder"](dims, dims, 0.0)
    female, male = model["Classifier"](dims), model["Classifier"](dims)
    with torch.no_grad():
        for layer, name in ((encoder.hidden_layer, "encoder"), (decoder.output_layer, "decoder")):
            layer.weight.copy_(torch.from_numpy(begin[name].T))
            layer.bias.copy_(torch.from_numpy(begin[f"{name}_bias"]))
        for layer, name in ((female.output_layer, "first"), (male.output_layer, "second")):
            layer.weight.copy_(torch.from_numpy(begin[name][None]))
            layer.bias.copy_(torch.from_numpy(begin[f"{name}_bias"]))

    vectors = {word: units[row].astype(np.float32) for word, row in place.items()}
    shown = torch.from_numpy(np.stack([vectors[word] for word in SHOWN]))
    listed_words = {
        word for name in ("definitional", "sides", "names") for each in lists.get(name, []) for word in each
    }
    listed_words |= {*lists["specific"], *lists["concept"]}
    kinds = [[word for word in each if word in place] for each in (*lists["sides"], lists["concept"])]
    kinds.append([word for word in words if word not in listed_words])
    quads = [list(each) for each in zip(*kinds, strict=False)][:QUADS]
    loaded = torch.load
    torch.load = lambda *given, **named: loaded(*given, **(named | {"weights_only": False}))  # as before PyTorch 2.6
    with tempfile.TemporaryDirectory() as folder:
        hp = SimpleNamespace(
            gpu=-1, save_model=f"{folder}/", pta_dev_num=2, pta_batch_size=len(words), pta_epochs=PRETRAINED + 1,
            dev_num=2, sampling="under_sampling", epochs=EPOCHS, gender_no_gender_loss=True, classifier_loss=True,
            gender_vektor_loss=False, decoder_loss_rate=1.0, female_loss_rate=1e-4, male_loss_rate=1e-4,
            gender_stereotype_loss_rate=1e-4, gender_no_gender_loss_rate=1e-4, gender_vektor_loss_rate=1e-4,
        )  # fmt: skip
        still = SimpleNamespace(shuffle=lambda _: None, choice=random.choice)
        first = definitions(clone / "src" / "pre_train_autoencoder.py", random=still)

        class Vectors(dict[str, Any]):
            wv = SimpleNamespace(vocab=words)

        adam = [torch.optim.Adam(each.parameters(), lr=2e-4) for each in (encoder, decoder)]
        first["pre_train_autoencoder"](hp, encoder, adam[0], decoder, adam[1], Vectors(vectors))
        encoder.eval()
        results: dict[str, Any] = {"autoencoder": encoder(shown).detach().numpy().tolist()}
        # `emb` stands for `word2emb` where it computes without a graphics card, `model` for `mode` where it evaluates.
        train = definitions(clone / "src" / "train.py", hp=hp, emb=vectors, model=None)
        train["shuffle_data"] = lambda given, **_: (given, None)
        train["trainModel"].__globals__.update(train)
        for name in ("autoencoder", "female", "male"):  # which it takes away at the end
            Path(folder, f"{name}.pt").touch()
        taught = {"female & male": [quad[:2] for quad in quads]}
        taught |= {"stereotype": [quad[2] for quad in quads], "no gender": [quad[3] for quad in quads]}
        sgd = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (encoder, female, male, decoder)]
        train["trainModel"](encoder, sgd[0], female, sgd[1], male, sgd[2], decoder, sgd[3], taught, taught, vectors)
    encoder.eval()
    results |= {"joint": encoder(shown).detach().numpy().tolist(), "quads": quads, "rows_left_out": 2}
    return results | {"classifier": female.output_layer.weight.detach().numpy()[0].tolist(), "epochs": PRETRAINED}


def main() -> None:
    """Write what the authors' code gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ran", type=Path, required=True, help="a clone of vaibkumr/RAN-Debias")
    parser.add_argument("--gp", type=Path, required=True, help="a clone of kanekomasahiro/gp_debias")
    given = parser.parse_args()
    torch.manual_seed(0)
    with np.load(DATA / "vectors" / f"{VECTORS}.npz") as file:
        words, matrix = file["words"].tolist(), file["vectors"].astype(np.float64)
    lists = tomllib.loads((DATA / "debias" / "gender_bolukbasi.toml").read_text(encoding="utf-8"))
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    place = {word: row for row, word in enumerate(words)}
    pairs = [pair for pair in lists["definitional"] if all(word in place for word in pair)]
    first, second = (units[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    gender = np.linalg.svd(first - second)[2][0]
    results = {
        "pairs": pairs,
        "shown": SHOWN,
        "ran": ran(given.ran, words, units, gender),
        "gender_preserving": gender_preserving(given.gp, words, units, lists),
        "command": "python validation/debiasing/run_torch.py --ran RAN --gp GP",
        "commits": {"ran": "b446e85", "gp": "d95d18a"},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "torch")},
        "sha256": hashlib.sha256((DATA / "vectors" / f"{VECTORS}.npz").read_bytes()).hexdigest(),
    }
    (HERE / "torch.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Written to {HERE / 'torch.json'}", file=sys.stderr)


if __name__ == "__main__":
    main()

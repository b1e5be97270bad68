"""A folder of GloVe-V in its published layout, written without the package."""

import json
from pathlib import Path

import numpy as np

WORDS = ("doctor", "surgeon", "naïve", "nurse")
DIMENSIONS = 3


def tensor_bytes(arrays: dict[str, np.ndarray], kind: str = "F32") -> bytes:
    """Return arrays as the library safetensors writes them."""
    dtype = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}[kind]
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    content = b""
    for name, array in arrays.items():
        part = np.asarray(array, dtype=dtype).tobytes()
        offsets = [len(content), len(content) + len(part)]
        header[name] = {"dtype": kind, "shape": list(np.shape(array)), "data_offsets": offsets}
        content += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content


def made_arrays() -> tuple[np.ndarray, np.ndarray]:
    """Return vectors and covariances of `WORDS`; the second covariance has rank 1."""
    rng = np.random.default_rng(1)
    roots = rng.standard_normal((len(WORDS), DIMENSIONS, DIMENSIONS))
    roots[1, :, 1:] = 0
    return rng.standard_normal((len(WORDS), DIMENSIONS)), roots @ roots.transpose(0, 2, 1)


def approximations(covariances: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays of the first word as a diagonal, of the second as a decomposition, of others as they are."""
    left, values, right = np.linalg.svd(covariances[1])
    arrays = {"diag_0": np.diagonal(covariances[0]), "U_1": left[:, :1], "s_1": values[:1], "Vt_1": right[:1]}
    return arrays | {f"complete_{row}": covariances[row] for row in range(2, len(covariances))}


def write_folder(folder: Path, *, chunks: bool = True) -> Path:
    """Write a folder with both kinds of covariances, in two chunks or in one file each."""
    folder.mkdir(exist_ok=True)
    vectors, covariances = made_arrays()
    (folder / "vocab.txt").write_text(
        "".join(f"{word} {9 - row}\n" for row, word in enumerate(WORDS)), encoding="utf-8"
    )
    (folder / "vectors.safetensors").write_bytes(tensor_bytes({"center_vectors": vectors}))
    approximate = approximations(covariances)
    if not chunks:
        (folder / "ApproximationVariances.safetensors").write_bytes(tensor_bytes(approximate))
        (folder / "CompleteVariances.safetensors").write_bytes(tensor_bytes({"variances": covariances}))
        return folder
    lines = [f"{word}\t{row}\t{row // 2}\t{row % 2}\n" for row, word in enumerate(WORDS)]
    (folder / "chunk_map.txt").write_text("".join(lines), encoding="utf-8")
    for chunk in range(2):
        names = [name for name in approximate if int(name.rpartition("_")[2]) // 2 == chunk]
        parts = {"approxchunk": {name: approximate[name] for name in names}}
        parts["completechunk"] = {"variances": covariances[2 * chunk : 2 * chunk + 2]}
        for kind, arrays in parts.items():
            (folder / f"{kind}_{chunk}.safetensors").write_bytes(tensor_bytes(arrays))
    return folder

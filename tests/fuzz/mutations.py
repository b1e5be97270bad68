"""Damage to files: flipped bits, lost and repeated parts, and what trips readers up."""

import numpy as np

TOKENS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\t", b"\r", b"\n\n", b" ", b'"', b"'", b"{", b"[", b"#"),
    *(b"nan", b"inf", b"-inf", b"1_0", b"1e999", b"1e-320", b"-1", b"True", b"None", b"0x10", b"1,5", b"\\ud800"),
    *(b"99999999999999999999", b"-100", b"2.5", b"", b"human", b"<script>", b"../../x", b"[[[[[[[[", b"=1+1"),
)  # fmt: skip
_MOST = 3


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content with one bit flipped."""
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _lost(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:first] + content[last:]


def _repeated(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:last] + content[first : min(last, first + 2000)] + content[last:]


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def _with_token(content: bytes, rng: np.random.Generator) -> bytes:
    at, token = int(rng.integers(len(content) + 1)), TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:at] + token + content[at + int(rng.integers(4)) :]


def _field_replaced(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace what stands between two separators."""
    separators = [at for at, byte in enumerate(content[:20_000]) if byte in b' ,\n\t"=:']
    if len(separators) < 2:
        return content
    at = int(rng.integers(len(separators) - 1))
    token = TOKENS[int(rng.integers(len(TOKENS)))]
    return content[: separators[at] + 1] + token + content[separators[at + 1] :]


_MUTATIONS = (flipped, _lost, _repeated, _cut, _with_token, _with_token, _field_replaced, _field_replaced)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content after one to three kinds of damage."""
    for _ in range(int(rng.integers(1, _MOST + 1))):
        if content:
            content = _MUTATIONS[int(rng.integers(len(_MUTATIONS)))](content, rng)
    return content

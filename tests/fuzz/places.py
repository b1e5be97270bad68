"""Fits with hostile numbers anywhere in the structure of HDF5, whose own checksums are right again.

HDF5 refuses most damage by a checksum, which an attacker writes again.
"""

import re
from functools import cache

import numba
import numpy as np
from numpy.typing import NDArray

from tests.fuzz.storages import one_of, whole_fit

Generator = np.random.Generator
_BLOCKS = re.compile(rb"\x89HDF|GCOL|OHDR|OCHK|FRHP|FHDB|FHIB|BTHD|BTLF|BTIN|FSHD|FSSE|SMTB|SMLI")
_CHECK_SIZE = 4  # bytes of the checksum at the end of a block
_LONGEST = 5_000  # bytes of a block
_WITHOUT_CHECKSUM = 512  # bytes of a block without one


@cache
def _blocks() -> dict[int, int | None]:
    """Return where the blocks of a sound fit begin, and where the checksum of each begins, if it has one."""
    content = np.frombuffer(whole_fit(), dtype=np.uint8)
    starts = [match.start() for match in _BLOCKS.finditer(whole_fit())]
    return {start: start + end if (end := _end(content[start : start + _LONGEST])) else None for start in starts}


@numba.njit
def _end(content: NDArray[np.uint8]) -> int:
    for end in range(8, len(content) - 3):
        stored = np.uint32(0)
        for place in range(4):
            stored |= np.uint32(content[end + place]) << np.uint32(8 * place)
        if stored == _checksum(content[:end]):
            return end
    return 0


@numba.njit
def _checksum(content: NDArray[np.uint8]) -> np.uint32:
    """Return the checksum of HDF5: Bob Jenkins' lookup3."""
    state = np.full(3, 0xDEADBEEF + len(content), dtype=np.uint32)
    last = max(0, (len(content) - 1) // 12 * 12)
    for place, byte in enumerate(content):
        state[place % 12 // 4] += np.uint32(byte) << np.uint32(8 * (place % 4))
        if place % 12 == 11 and place < last:
            for step, bits in enumerate((4, 6, 8, 16, 19, 4)):
                one, other = step % 3, (step + 2) % 3
                state[one] -= state[other]
                state[one] ^= _turned(state[other], bits)
                state[other] += state[(step + 1) % 3]
    for step, bits in enumerate((14, 11, 25, 16, 4, 14, 24)):
        one, other = (step + 2) % 3, (step + 1) % 3
        state[one] ^= state[other]
        state[one] -= _turned(state[other], bits)
    return state[2]


@numba.njit
def _turned(number: np.uint32, bits: int) -> np.uint32:
    return np.uint32(number << np.uint32(bits)) | np.uint32(number >> np.uint32(32 - bits))


def with_number(content: bytes, block: int, at: int, number: int, size: int) -> bytes:
    """Return a sound fit with another number at some bytes of a block, whose checksum is right again."""
    changed, check_at = bytearray(content), _blocks()[block]
    changed[at : at + size] = (number % 256**size).to_bytes(size, "little")
    if check_at is not None:
        check = _checksum(np.frombuffer(bytes(changed[block:check_at]), dtype=np.uint8))
        changed[check_at : check_at + _CHECK_SIZE] = int(check).to_bytes(_CHECK_SIZE, "little")
    return bytes(changed)


def block_with(part: bytes) -> tuple[int, int]:
    """Return where the block begins in which some bytes of a sound fit are, and where these end."""
    at = whole_fit().index(part)
    return max(start for start in _blocks() if start <= at), at + len(part)


def hostile_places(rng: Generator) -> bytes:
    """Return a fit with one hostile number, rarely more, in the structure of its file."""
    content = whole_fit()
    for _ in range(int(one_of(rng, (1, 1, 1, 2)))):
        block, end = one_of(rng, _blocks().items())
        size = int(one_of(rng, (1, 2, 4, 8, 8, 8)))
        at = int(rng.integers(block + 4, (end or block + _WITHOUT_CHECKSUM) - size + 1))
        numbers = (0, 1, 2, 255, 2**16 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)
        number = one_of(rng, (*numbers, at, block, block + 4, len(content), len(content) - 8, *_blocks()))
        content = with_number(content, block, at, number, size)
    return content

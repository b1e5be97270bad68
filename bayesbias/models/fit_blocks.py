"""Bytes of a fit's file that the library HDF5 takes for granted: others make it crash, hang or fill the memory."""

import struct
from collections.abc import Iterator
from math import prod

import numpy as np

from bayesbias.errors import FitError

ADDRESS_SIZE = 8  # bytes of an address or a length in the file
# How HDF5 stores a text of any length: its bytes, and their place.
TEXT = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
_HEAD = 16  # bytes of the head of a heap of texts, and of each text in it
_LISTS = 9  # class of types
_LONGEST_ATTRIBUTE = 1 << 16  # bytes
# Lists of more than eight names are trees, as netCDF writes them: how one begins, by the kind of list, the bytes of an
# entry, and which of them are zero: of names in a heap, and of attributes that are not shared. All nodes have one size,
# with a head, entries, a checksum and, above others, the children.
_NODE_SIZE, _NODE_HEAD, _NODE_END, _CHILD = 512, 6, 4, 9
_TREES = {
    struct.pack("<BIH", kind, _NODE_SIZE, size): (size, zeros)
    for kind, size, zeros in ((5, 11, [4]), (6, 15, [8]), (8, 17, [0, 8]), (9, 13, [0, 8]))
}
# The names lie in heaps: how the description of one of members, or of attributes, begins, and how it goes on.
_HEAPS = [
    (
        struct.pack("<2HBI2Q", reference_size, 0, 2, 4096, 0, 2**64 - 1),
        struct.pack("<4QH2Q2H", 0, 0, 0, 0, 4, smallest, 2**16, bits, 1),
    )
    for reference_size, smallest, bits in ((7, 512, 32), (8, 1024, 40))
]
_MOST_ROWS = 8  # of a heap: 256 kB


class UnfitError(FitError):
    """A part that no fit has."""


def check_blocks(content: bytes) -> None:
    """Raise `UnfitError` if a list of names or texts has a form that h5netcdf does not write."""
    if _has_levels(content):
        raise UnfitError("it has lists of names in another form")
    _check_texts(content)
    if not all(_is_sound_tree(content, start) for start in _starts(content, b"BTHD\0")):
        raise UnfitError("its lists of names are wrong")
    if not all(_is_sound_heap(content, start) for start in _starts(content, b"FRHP\0")):
        raise UnfitError("its heaps of names are wrong")


def check_lengths(name: bytes, content: bytes) -> None:
    """Raise `UnfitError` if attributes of a name, texts or lists of any length, are longer than the file.

    HDF5 would take the memory before it looks for them.
    """
    for start in _starts(content, name + b"\0"):
        for version, head_size, unit in ((1, 8, 8), (2, 8, 1), (3, 9, 1)):  # each part takes whole units
            head = content[max(0, start - head_size) : start]
            if len(head) < head_size:
                continue
            name_size, kind_size, space_size = struct.unpack_from("<3H", head, 2)
            # A byte before the head can look like another version.
            if head[0] == version and name_size == len(name) + 1:
                kind = start + -(-(len(name) + 1) // unit) * unit
                space = kind + -(-kind_size // unit) * unit
                first = space + -(-space_size // unit) * unit
                if not _is_list(content, kind) or _total_length(content, space, first) > len(content):
                    raise UnfitError(
                        f"its attribute {name.decode('utf-8', 'backslashreplace')} is longer than the file"
                    )


def _is_list(content: bytes, kind: int) -> bool:
    """Return whether a type, given where it begins, is a list or a text of any length, of small things."""
    classes, marks, _, _, size = struct.unpack("<2B6s4sI", content[kind : kind + 16].ljust(16))
    return bool(classes & 15 == _LISTS and marks & 15 < 2 and size <= ADDRESS_SIZE)


def _total_length(content: bytes, space: int, first: int) -> int:
    """Return the sum of the lengths in an array, given where its shape and its first number lie."""
    axes = space + (8 if content[space : space + 1] == b"\1" else 4)
    rank = int.from_bytes(content[space + 1 : space + 2])
    sizes = np.frombuffer(content[axes : axes + 8 * rank].ljust(8 * rank), "<u8").tolist()
    stored = content[first : first + min(prod(sizes) * TEXT.itemsize, _LONGEST_ATTRIBUTE)]
    return int(np.frombuffer(stored, TEXT, len(stored) // TEXT.itemsize)["length"].sum(dtype=np.int64))


def _starts(content: bytes, mark: bytes) -> Iterator[int]:
    """Yield where each mark begins."""
    start = content.find(mark)  # ten times as fast as a regular expression
    while start >= 0:
        yield start
        start = content.find(mark, start + 1)


def _has_levels(content: bytes) -> bool:
    """Return whether a list of names has several levels, as of many names; HDF5 walks shared levels again and again."""
    first_child = 8 + 3 * ADDRESS_SIZE  # from the start of a level: a head, two neighbours and a key precede it
    for start in _starts(content, b"TREE\0"):
        child = content[start + first_child : start + first_child + ADDRESS_SIZE]
        # Numbers may look like the start of a level, but hardly with an address inside the file.
        if content[start + 5 : start + 6] > b"\0" and int.from_bytes(child, "little") < len(content):
            return True
    return False


def _check_texts(content: bytes) -> None:
    """Raise `UnfitError` if a heap has a text that ends before it begins, at which HDF5 would read for ever."""
    room = len(content)
    for start in _starts(content, b"GCOL\1"):
        end = start + int.from_bytes(content[start + 8 : start + _HEAD], "little")
        place = start + _HEAD
        while place + _HEAD <= min(end, len(content)):
            is_text = any(content[place : place + 2])  # or what is free
            length = int.from_bytes(content[place + 8 : place + _HEAD], "little")
            size = _HEAD + -(-length // 8) * 8 if is_text else length
            place, room = place + size, room - size
            if size < _HEAD or place > end or room < 0:
                raise UnfitError("its lists of texts are wrong")


def _is_sound_tree(content: bytes, start: int) -> bool:
    """Return whether a tree has the sizes that its kind has, two levels at most, and nodes with entries of its kind."""
    entry_size, zeros = _TREES.get(content[start + 5 : start + 12], (0, []))
    if not entry_size:
        return False
    levels, _, root, count = struct.unpack("<2HQH", content[start + 12 : start + 26].ljust(14))
    most = (_NODE_SIZE - _NODE_HEAD - _NODE_END) // entry_size
    nodes = [(root, count)]
    if levels:
        children = root + _NODE_HEAD + min(count, most) * entry_size
        size = min(count + 1, most) * _CHILD
        nodes += struct.iter_unpack("<QB", content[children : children + size].ljust(size))
    for node, size in nodes:
        entries = content[node + _NODE_HEAD : node + _NODE_HEAD + size * entry_size]
        if size > most or any(any(entries[zero::entry_size]) for zero in zeros):
            return False
    return bool(levels < 2)


def _is_sound_heap(content: bytes, start: int) -> bool:
    rows = int.from_bytes(content[start + 140 : start + 142], "little")
    return (content[start + 5 : start + 30], content[start + 78 : start + 132]) in _HEAPS and rows <= _MOST_ROWS

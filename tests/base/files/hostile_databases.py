"""Files of SQLite that were changed: programs in place of tables, and pages that lie."""

import sqlite3
import struct
import time
from contextlib import closing
from pathlib import Path

ENDLESS = (
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers WHERE n < 0"
)


def changed(path: Path, statements: str) -> Path:
    """Run statements, for a second at most: a trigger may never end."""
    ends = time.monotonic() + 1
    with closing(sqlite3.connect(path)) as base:
        base.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
        base.executescript(statements)
    return path


def with_pages_used_again(path: Path, levels: int = 12) -> Path:
    """Put levels over the only page of a table, each of which refers to the one below 300 times."""
    content = bytearray(path.read_bytes())
    size = struct.unpack(">H", content[16:18])[0]
    content += content[size : 2 * size]  # the second page is the table's
    for _ in range(levels):
        below = struct.pack(">I", len(content) // size)
        cells = 300 * (below + b"\x01")
        places = struct.pack(">300H", *range(size - len(cells), size, 5))
        head = b"\x05" + struct.pack(">HHHB", 0, 300, size - len(cells), 0) + below + places
        content += head + bytes(size - len(head) - len(cells)) + cells
    content[size : 2 * size] = content[-size:]
    content[28:32] = struct.pack(">I", len(content) // size)
    path.write_bytes(content)
    return path


def with_a_chain_used_again(path: Path, table: str) -> Path:
    """Add two values of 57,688 bytes to a short table of numbers and values; both lie in the same pages."""
    starts = []
    for number in (2**60, 2**60 + 1):
        starts.append(path.stat().st_size // 4096 + 1)  # the page at which the value goes on
        changed(path, f"INSERT INTO {table} VALUES ({number}, zeroblob({4092 * 14 + 400}))")
    first, second = (struct.pack(">I", start) for start in starts)
    content = bytearray(path.read_bytes()[: (starts[1] - 1) * 4096])
    at = content.rindex(second)
    content[at : at + 4], content[28:32] = first, struct.pack(">I", starts[1] - 1)
    path.write_bytes(content)
    return path

"""Hostile files of HDF5 and SQLite: every kind of storage, link and schema, in any combination."""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import bayesbias as bb
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.base.files.vector_cache import vector_cache, vector_key
from tests.base.files.hostile_databases import ENDLESS, changed, with_a_chain_used_again, with_pages_used_again
from tests.fuzz.contexts import whole_index
from tests.fuzz.mutations import mutated
from tests.fuzz.watch import PRIVATE
from tests.models.hostile_fits import ATTACKS, SHAPE, draws_named, heaps_in_one_another
from tests.reports.made import made_fit

Generator = np.random.Generator


def one_of(rng: Generator, values: Any) -> Any:
    """Return one of some values."""
    values = list(values)
    return values[int(rng.integers(len(values)))]


# --- HDF5 -------------------------------------------------------------------------------------------------

_TYPES = (
    *("f4", "f8", ">f8", "f2", "i1", "i8", ">u4", "b1", "S5", "V3", "c16", np.longdouble, [("a", "f8"), ("b", "S3")]),
    *(h5py.string_dtype(), h5py.string_dtype("ascii", 3), h5py.ref_dtype, h5py.regionref_dtype, h5py.vlen_dtype("i4")),
    *(h5py.enum_dtype({"a": 1, "b": 2}), np.dtype(("f8", (2, 2)))),
)
_STORAGES: tuple[dict[str, Any], ...] = (
    *({}, {}, {"chunks": True}, {"chunks": (1, 1)}, {"chunks": True, "compression": "gzip"}, {"compression": "lzf"}),
    *({"shuffle": True}, {"fletcher32": True}, {"scaleoffset": 2}, {"maxshape": (None, None)}, {"fillvalue": 1}),
    *({"shape": (*SHAPE, 10**13)}, {"shape": (10**9, 20), "chunks": (1, 20)}, {"shape": None}, {"shape": ()}),
    *({"external": [(str(PRIVATE / name), 0, h5py.h5f.UNLIMITED)]} for name in ("key", "pipe", "absent")),
    {"external": [(str(PRIVATE / "key"), 8, 160), (str(PRIVATE / "private"), 0, 480)]},
    {"shape": (0, 20)},
)
_GROUPS = ("posterior", "constant_data", "observed_data", "prior", "sample_stats", "other", "posterior/deep", "/")


@cache
def whole_fit() -> bytes:
    """Return a sound fit, as HDF5 alone."""
    return bytes(made_fit(draws=SHAPE[1]).to_netcdf(engine="h5netcdf"))


def hostile_fit(rng: Generator) -> bytes:
    """Return a fit with variables, links and groups of any kind, at times damaged besides."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.nc"
        path.write_bytes(whole_fit())
        with h5py.File(path, "r+") as file:
            for number in range(int(rng.choice([1, 1, 1, 2, 4]))):
                change = one_of(rng, (_attack, _variable, _variable, _link, _attribute, _attributes, _nesting))
                try:
                    change(file, f"new{number}", rng)
                except (
                    ValueError,
                    TypeError,
                    KeyError,
                    AttributeError,
                    OSError,
                    RuntimeError,
                ):  # HDF5 itself does not write it
                    continue
        content = path.read_bytes()
    content = mutated(content, rng) if rng.random() < 0.2 else content
    content += heaps_in_one_another(int(one_of(rng, (10, 100_000)))) if rng.random() < 0.05 else b""
    return sealed(content) if rng.random() < 0.5 else content


def _attack(file: h5py.File, name: str, rng: Generator) -> None:
    one_of(rng, ATTACKS)(file, PRIVATE)


def _variable(file: h5py.File, name: str, rng: Generator) -> None:
    stored = {"dtype": one_of(rng, _TYPES) if rng.random() < 0.5 else "f8", **one_of(rng, _STORAGES)}
    if rng.random() < 0.6:
        draws_named(file, name, **stored)
    else:
        file.require_group(one_of(rng, _GROUPS)).create_dataset(name, **{"shape": SHAPE, **stored})


def _link(file: h5py.File, name: str, rng: Generator) -> None:
    places: list[str] = ["/"]
    file.visit(places.append)
    target = one_of(rng, places)
    one, other = (str(place / "other.h5") for place in (Path("..") / PRIVATE, PRIVATE))
    links = (
        *(h5py.SoftLink(f"/{target}"), h5py.SoftLink(name), h5py.ExternalLink(one, "/numbers"), file[target]),
        *(h5py.ExternalLink(other, "/"), h5py.ExternalLink("input.nc", "/posterior"), h5py.ExternalLink(one, "/no")),
    )
    place = one_of(rng, places)
    group = file[place] if isinstance(file[place], h5py.Group) else file[place].parent
    if rng.random() < 0.3 and place != "/":
        name, group = place.rpartition("/")[2], file[place].parent
        del group[name]
    group[name] = one_of(rng, links)


def _attribute(file: h5py.File, name: str, rng: Generator) -> None:
    places: list[str] = ["/"]
    file.visit(places.append)
    place = file[one_of(rng, places)]
    names = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "_FillValue", "units", "dtype")
    values = (
        *(file.ref, file["posterior/sigma"].regionref[:1], [file.ref] * 3, h5py.Empty("f8"), np.ones((3, 3))),
        *("x" * 60_000, "x", b"\xff", ["x"] * 200, 10**6, -1, np.nan, np.void(b"abc"), np.longdouble(1), "seconds"),
        *("days since 1", np.zeros(3, dtype=[("a", "f8")]), "calendar", 1e300, True, "\0"),
    )
    place.attrs[one_of(rng, (*names, *place.attrs, name))] = one_of(rng, values)


def _attributes(file: h5py.File, name: str, rng: Generator) -> None:
    place = file[one_of(rng, (*_GROUPS[:3], "posterior/sigma"))]
    for number in range(int(one_of(rng, (9, 100, 3_000)))):
        place.attrs[f"{name}_{number}"] = one_of(rng, (number, "x", "x" * 3_000))


def _nesting(file: h5py.File, name: str, rng: Generator) -> None:
    group = file.require_group(one_of(rng, _GROUPS))
    for level in range(int(rng.integers(1, 40))):
        deeper = group.create_group(f"g{level}")
        if rng.random() < 0.5:
            group["again"] = one_of(rng, (deeper, file["/"], group))
        group = deeper


# --- SQLite -----------------------------------------------------------------------------------------------

_VALUES = (
    *("NULL", "-1", "0", "5.5", "'x'", "''", "x'00'", "x'0000803f'", "9223372036854775807", "1e999", "'1e400'"),
    *("zeroblob(100000)", "'9999999999999999999999'", "char(0)", "char(55296)", "'cat'", "cast(x'ff' AS TEXT)"),
)
_MANY = "WITH RECURSIVE ones(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ones LIMIT 100000) SELECT"
_PAGE = (4096).to_bytes(2)  # of a size where 300 places fit
_KEPT = ["a", "b", "c"]
_NAME = "one"
_CACHED = np.eye(3, 2, dtype=np.float32) + 1


@cache
def whole_cache() -> bytes:
    """Return a sound cache of vectors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound.sqlite"
        with vector_cache(path) as cached:
            assert cached is not None
            cached.write((vector_key(_NAME, text) for text in _KEPT), _CACHED)
        return path.read_bytes()


def hostile_cache(rng: Generator) -> bytes:
    """Return a cache of vectors whose schema, rows or pages are other ones."""
    return _hostile_database(whole_cache(), rng)


def hostile_index(rng: Generator) -> bytes:
    """Return an index of contexts whose schema, rows or pages are other ones, under a right checksum."""
    return sealed(_hostile_database(whole_index()[:-SEAL_SIZE], rng))


def cache_of(path: Path) -> object:
    """Encode texts, of which a cache holds some."""
    rows = dict(zip((*_KEPT, "d"), [*_CACHED.tolist(), [1.0, 9.0]], strict=True))
    return bb.encode(lambda texts: [rows[text] for text in texts], list(rows), name=_NAME, cache=path).vectors.tolist()


def _hostile_database(content: bytes, rng: Generator) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base"
        path.write_bytes(content)
        for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
            before = path.read_bytes()
            try:
                changed(path, _statements(path, rng))
            except sqlite3.Error:  # SQLite does not do it
                shutil.rmtree(folder)
                Path(folder).mkdir()
                path.write_bytes(before)
        if rng.random() < 0.1 and path.read_bytes()[16:18] == _PAGE:
            with_pages_used_again(path)
        elif rng.random() < 0.1:
            with suppress(sqlite3.Error, ValueError):  # of other pages, or a table that is not there
                with_a_chain_used_again(path, "words_data")
        content = bytearray(path.read_bytes())
    for at in rng.integers(16, 100, size=int(rng.integers(1, 4))) if rng.random() < 0.2 else ():  # fields of the header
        content[at] = int(rng.integers(256))
    return bytes(content)


def _statements(path: Path, rng: Generator) -> str:
    with closing(sqlite3.connect(path)) as base:
        names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = one_of(rng, names or ["sqlite_master"])
        columns = [row[1] for row in base.execute(f"PRAGMA table_info({json.dumps(table)})")] or ["rowid"]
    column, value = one_of(rng, columns), one_of(rng, _VALUES)
    same = ", ".join(f"{one_of(rng, _VALUES)} AS {json.dumps(name)}" for name in columns)
    quoted = json.dumps(table)
    writable = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET"
    where = f"WHERE name = '{table}'; PRAGMA writable_schema = RESET"
    return str(
        one_of(
            rng,
            (
                f"DROP TABLE {quoted}; CREATE VIEW {quoted} AS {ENDLESS}",
                f"DROP TABLE {quoted}; CREATE VIEW {quoted} AS {_MANY} {same} FROM ones",
                f"DROP TABLE {quoted}; CREATE TABLE {quoted} AS SELECT {same}",
                f"DROP TABLE {quoted}; CREATE VIRTUAL TABLE {quoted} USING fts5({', '.join(columns)})",
                f"CREATE VIEW more AS {ENDLESS}",
                f"CREATE TRIGGER more AFTER INSERT ON {quoted} BEGIN DELETE FROM {quoted}; END",
                f"CREATE TRIGGER more BEFORE INSERT ON {quoted} BEGIN INSERT INTO {quoted} {ENDLESS}; END",
                f"CREATE INDEX more ON {quoted} ({json.dumps(column)}) WHERE {json.dumps(column)} > 0",
                f"ALTER TABLE {quoted} ADD COLUMN more TEXT DEFAULT {value}",
                f"ALTER TABLE {quoted} RENAME COLUMN {json.dumps(column)} TO more",
                f"UPDATE {quoted} SET {json.dumps(column)} = {value}",
                f"UPDATE {quoted} SET {json.dumps(column)} = {value} WHERE rowid % 2",
                f"DELETE FROM {quoted}",
                f"INSERT INTO {quoted} SELECT {', '.join(one_of(rng, _VALUES) for _ in columns)}",
                f"INSERT INTO {quoted} {_MANY} {', '.join('n' for _ in columns)} FROM ones LIMIT 3000",
                f"{writable} rootpage = {one_of(rng, range(-1, 12))} {where}",
                f"{writable} sql = 'CREATE VIEW {table} AS SELECT 1' {where}",
                f"{writable} sql = {value} {where}",
                f"{writable} type = 'view', rootpage = 0, sql = 'CREATE VIEW {table} AS SELECT * FROM {table}' {where}",
                *("ANALYZE", "VACUUM", "PRAGMA journal_mode = WAL", "PRAGMA user_version = 7"),
                *_schema_bombs(quoted),
                "PRAGMA auto_vacuum = FULL; VACUUM",
                "PRAGMA page_size = 512; VACUUM",
            ),
        )
    )


def _schema_bombs(table: str) -> list[str]:
    """Return statements that make a schema long, or its parts stand for more."""
    doubled = ", ".join(f"c{number + 1} AS (c{number} || c{number})" for number in range(60))
    return [
        "".join(f"CREATE TABLE t{number} (name);" for number in range(400)),
        "".join(f"CREATE TRIGGER t{number} AFTER INSERT ON {table} BEGIN SELECT 1; END;" for number in range(400)),
        f"CREATE TABLE more ({', '.join(f'c{number}' for number in range(1_000))})",
        f"CREATE TABLE more (name DEFAULT '{'x' * 1_500_000}')",
        f"CREATE TABLE more (c0, {doubled}); INSERT INTO more VALUES ('x')",
    ]

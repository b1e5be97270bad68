"""What HDF5 can do and no file of a fit does, each put into a sound file."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

SHAPE = (4, 20)

Attack = Callable[[h5py.File, Path], None]


def check_that_it_ends(path: Path) -> None:
    """Summarize a fit in a process of its own, which is stopped where HDF5 would hang this one."""
    command = [sys.executable, "-m", "bayesbias", "summary", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: ")


def draws_named(file: h5py.File, name: str, **stored: object) -> h5py.Dataset:
    """Return a new variable of the posterior, of any type and storage, with the posterior's own dimensions."""
    posterior = file["posterior"]
    variable = posterior.create_dataset(name, **{"shape": SHAPE, "dtype": "f8", **stored})
    for axis, dim in enumerate(("chain", "draw")[: variable.ndim]):
        variable.dims[axis].attach_scale(posterior[dim])
    return variable


def heaps_in_one_another(count: int) -> bytes:
    """Return heaps of texts, each of which goes on to the end of a file."""
    return count * (b"GCOL\x01\0\0\0" + struct.pack("<Q", 2**40) + b"\x01\0\0\0\0\0\0\0" + struct.pack("<Q", 16))


def private_numbers(folder: Path) -> Path:
    path = folder / "private"
    path.write_bytes(np.linspace(0, 1, np.prod(SHAPE)).tobytes())
    return path


def pipe(folder: Path) -> Path:
    path = folder / "pipe"
    if not path.exists():
        os.mkfifo(path)
    return path


def external(file: h5py.File, folder: Path) -> None:
    draws_named(file, "taken", external=[(str(private_numbers(folder)), 0, h5py.h5f.UNLIMITED)])


def external_pipe(file: h5py.File, folder: Path) -> None:
    draws_named(file, "taken", external=[(str(pipe(folder)), 0, h5py.h5f.UNLIMITED)])


def virtual(file: h5py.File, folder: Path) -> None:
    with h5py.File(folder / "other.h5", "w") as other:
        other["numbers"] = np.ones(SHAPE)
    layout = h5py.VirtualLayout(SHAPE, "f8")
    layout[...] = h5py.VirtualSource(folder / "other.h5", "numbers", SHAPE)
    variable = file["posterior"].create_virtual_dataset("taken", layout)
    for axis, dim in enumerate(("chain", "draw")):
        variable.dims[axis].attach_scale(file["posterior"][dim])


def linked_file(file: h5py.File, folder: Path) -> None:
    with h5py.File(folder / "other.h5", "w") as other:
        other["numbers"] = np.ones(SHAPE)
    file["posterior/taken"] = h5py.ExternalLink(str(folder / "other.h5"), "/numbers")


def soft_link(file: h5py.File, folder: Path) -> None:
    file["posterior/other"] = h5py.SoftLink("/posterior/chain")


def hard_link(file: h5py.File, folder: Path) -> None:
    file["posterior/other"] = file["posterior/sigma"]


def group_in_itself(file: h5py.File, folder: Path) -> None:
    file["prior"] = file["/"]


def nested_groups(file: h5py.File, folder: Path) -> None:
    group = file.create_group("prior", track_order=True)
    for _ in range(16):
        deeper = group.create_group("a")
        group["b"] = deeper
        group = deeper


def other_group(file: h5py.File, folder: Path) -> None:
    file.create_group("notes")


def variable_at_the_top(file: h5py.File, folder: Path) -> None:
    file["prior"] = np.ones(3)


def named_type(file: h5py.File, folder: Path) -> None:
    file["posterior/type"] = np.dtype("f8")


def reference(file: h5py.File, folder: Path) -> None:
    file.attrs["other"] = file["posterior"].ref


def region(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["other"] = file["posterior/sigma"].regionref[:1]


def references(file: h5py.File, folder: Path) -> None:
    draws_named(file, "others", dtype=h5py.ref_dtype)[0, 0] = file["posterior"].ref


def false_dimension_list(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["DIMENSION_LIST"] = file["posterior"].ref


def compound(file: h5py.File, folder: Path) -> None:
    draws_named(file, "pairs", dtype=[("a", "f8"), ("b", "f8")])[...] = 0


def lists_of_any_length(file: h5py.File, folder: Path) -> None:
    draws_named(file, "lists", dtype=h5py.vlen_dtype("f8"))[0, 0] = np.ones(4)


def long_numbers(file: h5py.File, folder: Path) -> None:
    draws_named(file, "long", dtype=np.longdouble)[...] = 0


def nothing_attribute(file: h5py.File, folder: Path) -> None:
    draws_named(file, "nothing", shape=None, dtype="f8", data=h5py.Empty("f8"))


def declared(file: h5py.File, folder: Path) -> None:
    draws_named(file, "huge", shape=(*SHAPE, 10**13))


def compressed(file: h5py.File, folder: Path) -> None:
    draws_named(file, "huge", shape=(*SHAPE, 10**6), chunks=True, compression="gzip", fillvalue=0)


def other_dimension(file: h5py.File, folder: Path) -> None:
    variable = file["posterior"].create_dataset("other", data=np.ones(SHAPE[1]))
    variable.dims[0].attach_scale(file["constant_data/pair"])


def without_dimensions(file: h5py.File, folder: Path) -> None:
    file["posterior"].create_dataset("other", data=np.ones(SHAPE))


def scale_of_two_axes(file: h5py.File, folder: Path) -> None:
    file["posterior"].create_dataset("other", data=np.ones(SHAPE)).make_scale("other")


def many_texts(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["texts"] = ["x"] * 1_000


def many_attributes(file: h5py.File, folder: Path) -> None:
    places: list[str] = []
    file.visit(places.append)
    for place in places:
        for number in range(400):
            file[place].attrs[str(number)] = number


def attributes_of_many_levels(file: h5py.File, folder: Path) -> None:
    for number in range(1_500):
        file.attrs[str(number)] = number


def many_names_of_a_dimension(file: h5py.File, folder: Path) -> None:
    """HDF5 writes past the end of its memory where it reads this name."""
    file["posterior/draw"].attrs["NAME"] = ["x"] * 200


def long_class_of_a_dimension(file: h5py.File, folder: Path) -> None:
    file["posterior/draw"].attrs["CLASS"] = np.bytes_(b"DIMENSION_SCALE" * 100)


def other_class_of_a_dimension(file: h5py.File, folder: Path) -> None:
    """As long as the right one, where HDF5 frees its memory twice."""
    file["posterior/draw"].attrs["CLASS"] = np.bytes_(b"DIMENSION_OTHER")


def many_axes(file: h5py.File, folder: Path) -> None:
    """As the two above, where it reads the list of axes."""
    variable = next(one for one in file["posterior"].values() if "DIMENSION_LIST" in one.attrs)
    del variable.attrs["DIMENSION_LIST"]
    kind = h5py.h5t.vlen_create(h5py.h5t.STD_REF_OBJ)
    h5py.h5a.create(variable.id, b"DIMENSION_LIST", kind, h5py.h5s.create_simple((300,)))


def encoding(file: h5py.File, folder: Path) -> None:
    """Decoding punycode takes quadratic time."""
    texts = file["sample_stats"].create_dataset("texts", data=np.array([b"-" + b"a" * 3_000_000]))
    texts.make_scale("texts")
    texts.attrs["_Encoding"] = "punycode"


def foreign(file: h5py.File, folder: Path) -> None:
    for name in list(file):
        del file[name]
    file["numbers"] = np.ones(3)


ATTACKS: dict[Attack, str] = {
    external: "posterior/taken is not stored whole",
    external_pipe: "posterior/taken is not stored whole",
    virtual: "posterior/taken is not stored whole",
    linked_file: "posterior/taken is a link",
    soft_link: "posterior/other is a link",
    hard_link: "posterior/.* is a second name",
    group_in_itself: "second name",
    nested_groups: "prior/b is a second name",
    other_group: "notes is not a group",
    variable_at_the_top: "prior is not a group",
    named_type: "posterior/type is not a variable",
    reference: "attribute other of the file holds something other",
    region: "attribute other of the group posterior holds something other",
    references: "posterior/others holds something other",
    false_dimension_list: "attribute DIMENSION_LIST of the group posterior holds something other",
    compound: "posterior/pairs holds something other",
    lists_of_any_length: "posterior/lists holds something other",
    long_numbers: "posterior/long holds something other",
    nothing_attribute: "posterior/nothing is empty",
    declared: "posterior/huge has no numbers",
    compressed: "posterior/huge is not stored whole",
    other_dimension: "posterior/other does not have a dimension of its group on axis 0",
    without_dimensions: "posterior/other does not have a dimension of its group on axis 0",
    scale_of_two_axes: "posterior/other is not the list of labels",
    many_texts: "attribute texts of the group posterior has more than 100 texts",
    attributes_of_many_levels: "lists of names are wrong",
    many_attributes: "more than 10,000 variables and attributes",
    many_names_of_a_dimension: "attribute NAME of posterior/draw is not that of a dimension",
    long_class_of_a_dimension: "attribute CLASS of posterior/draw is not that of a dimension",
    other_class_of_a_dimension: "attribute CLASS of posterior/draw is not that of a dimension",
    many_axes: "attribute DIMENSION_LIST of posterior/.* is not that of a dimension",
    encoding: "attribute _Encoding of sample_stats/texts is not one of a fit",
    foreign: "numbers is not a group",
}

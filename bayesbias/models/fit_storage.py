"""How the HDF5 file of a fit is stored: walked before xarray reads it, and refused where no fit is stored like this."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.machine import check_memory
from bayesbias.errors import BayesBiasError, FitError, InputFileError
from bayesbias.models.coordinates import COVARIANCES
from bayesbias.models.fit_blocks import ADDRESS_SIZE, TEXT, UnfitError, check_blocks, check_lengths
from bayesbias.models.fit_files import EXTRA_GROUPS, GROUPS

if TYPE_CHECKING:
    import h5py

_COPIES = 3  # of the numbers in memory: the file, and what xarray makes of it
# Numbers of a fit: integers with 8 to 64 bits, with or without a sign, and real numbers with 32 or 64.
_NUMBERS = (*(f"STD_{sign}{bits}{order}" for sign in "IU" for bits in (8, 16, 32, 64) for order in ("LE", "BE")),)
_NUMBERS += ("IEEE_F32LE", "IEEE_F32BE", "IEEE_F64LE", "IEEE_F64BE")
_LONGEST_NAME = 256  # bytes, of a dimension
_MOST_TEXTS = 100  # in one attribute
_MOST_PARTS = 10_000  # variables and attributes, of which a fit has hundreds
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
# Those of variables that begin with an underscore; others tell libraries how to decode.
_OF_NETCDF = (b"_FillValue", b"_Netcdf4Coordinates", b"_Netcdf4Dimid")


@dataclass(frozen=True)
class _Size:
    """Bytes that a part of a file occupies in the file, and in memory beside a copy of the file."""

    stored: int
    memory: int = 0


def check_storage(content: bytes, source: Path, advice: str) -> None:
    """Check that a file's content is HDF5 of the kind that `write_fit` writes, and that it fits into the memory.

    HDF5 can take numbers from other files, refer to an object many times, and declare more numbers than a file holds.
    `write_fit` uses none of this, so that it is refused: each object has one name, and all of its content lies in the
    file.

    `advice` ends the error of a file that is of another kind.

    Raises `InputFileError` if it is not HDF5, or damaged. Raises `FitError` if it has a group, a link, a type or a form
    of storage that no fit has, or declares more than it holds. Raises `NotEnoughMemoryError` if its numbers and texts
    do not fit into the memory.
    """
    try:
        total = _total(content)
    except UnfitError as error:
        raise FitError(f"{source} is not a file of a fit: {error}. {advice}") from error
    except BayesBiasError:
        raise
    except Exception as error:  # h5py can raise anything on a damaged file
        raise unreadable(source, error) from error
    needed = _COPIES * total.stored + total.memory
    check_memory(needed, f"The numbers and texts of {source}", "Check whether it is the right file.")


def unreadable(source: Path, error: BaseException) -> InputFileError:
    """Return the error of a file that a library cannot read."""
    return InputFileError(f"{source} is not a netCDF file, or is cut short ({error}). Fit the model again.")


def _total(content: bytes) -> _Size:
    """Return the size of all parts of a file, whose parts are those of a fit."""
    import h5py

    total = _Size(0)
    with h5py.File(io.BytesIO(content), "r") as file:
        if file.id.get_create_plist().get_sizes() != (ADDRESS_SIZE, ADDRESS_SIZE):
            raise UnfitError("it has addresses in another form")
        check_blocks(content)
        for number, size in enumerate(_sizes(file.id, content)):
            if number == _MOST_PARTS:
                raise UnfitError(f"it has more than {_MOST_PARTS:,} variables and attributes")
            total = _Size(total.stored + size.stored, total.memory + size.memory)
            if total.stored > len(content):
                raise UnfitError("it declares more numbers and texts than it holds")
    return total


def _sizes(root: "h5py.h5g.GroupID", content: bytes) -> Iterator[_Size]:
    """Yield the size of each part of a file; raise `UnfitError` at the first part that no fit has."""
    import h5py

    addresses: set[int] = set()
    checked: set[bytes] = set()
    yield from _attribute_sizes(root, "the file", content, checked)
    for name in _members(root, "", addresses):
        group = h5py.h5o.open(root, name)
        if name.decode("utf-8", "replace") not in (*GROUPS, COVARIANCES, *EXTRA_GROUPS) or not isinstance(
            group, h5py.h5g.GroupID
        ):
            raise UnfitError(f"{_text(name)} is not a group of a fit")
        yield from _attribute_sizes(group, f"the group {_text(name)}", content, checked)
        members = _members(group, f"{_text(name)}/", addresses)
        for variable in members:
            where = f"{_text(name)}/{_text(variable)}"
            dataset = h5py.h5o.open(group, variable)
            if not isinstance(dataset, h5py.h5d.DatasetID):
                raise UnfitError(f"{where} is not a variable, and groups of a fit hold nothing else")
            yield from _attribute_sizes(dataset, where, content, checked)
            yield _dataset_size(dataset, where, content)
            _check_dimensions(dataset, where, set(members.values()))


def _members(group: "h5py.h5g.GroupID", where: str, addresses: set[int]) -> dict[bytes, int]:
    """Return the address of each member of a group, all of which are new, and add them to `addresses`."""
    import h5py

    index = _by_order(group.get_create_plist().get_link_creation_order())
    iterate = partial(group.links.iterate, idx_type=index, order=h5py.h5.ITER_NATIVE)
    members = {}
    for name in _distinct(iterate, group.get_num_objs()):
        link = group.links.get_info(name)
        if link.type != h5py.h5l.TYPE_HARD:
            raise UnfitError(f"{where}{_text(name)} is a link to something else")
        if link.u in addresses:
            raise UnfitError(f"{where}{_text(name)} is a second name of something")
        addresses.add(link.u)
        members[name] = link.u
    return members


def _distinct(iterate: Callable[[Callable[[bytes], bool | None]], object], count: int) -> list[bytes]:
    """Return the `count` names that an iteration of HDF5 gives; stop at one that comes twice, as in an endless one."""
    names: list[bytes] = []
    different: set[bytes] = set()

    def is_last(name: bytes) -> bool | None:
        names.append(name)
        different.add(name)
        return True if len(different) < len(names) else None

    iterate(is_last)
    if not len(names) == len(different) == count:
        raise UnfitError("its lists of names are wrong")
    return names


def _by_order(creation_order: int) -> int:
    """Return the index in which h5py looks names up, given the order that a group or variable keeps."""
    import h5py

    return int(h5py.h5.INDEX_CRT_ORDER if creation_order & h5py.h5p.CRT_ORDER_TRACKED else h5py.h5.INDEX_NAME)


def _dataset_size(dataset: "h5py.h5d.DatasetID", where: str, content: bytes) -> _Size:
    """Return the size of a variable, whose type and storage are those of a fit."""
    import h5py

    stored_as = dataset.get_create_plist()
    is_plain = stored_as.get_layout() == h5py.h5d.CONTIGUOUS and not stored_as.get_nfilters()
    if not is_plain or stored_as.get_external_count():
        raise UnfitError(f"{where} is not stored whole, uncompressed and in the file itself")
    kind, space = dataset.get_type(), dataset.get_space()
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        raise UnfitError(f"{where} is empty")
    _check_type(kind, where)
    count, offset = space.get_simple_extent_npoints(), dataset.get_offset()
    if not count:
        return _Size(0)
    if offset is None:
        # netCDF stores the length of a dimension without labels as a variable without numbers, which is not read.
        if h5py.h5ds.is_scale(dataset) and h5py.h5ds.get_scale_name(dataset).startswith(_NO_VARIABLE):
            return _Size(0)
        raise UnfitError(f"{where} has no numbers")
    if not _is_any_length(kind):
        size = count * kind.get_size()
        return _Size(size, _memory_of_texts(1, size) if kind.get_class() == h5py.h5t.STRING else 0)
    if dataset.get_storage_size() != count * TEXT.itemsize:
        raise UnfitError(f"{where} has texts in a form that is not supported")
    lengths = np.frombuffer(content, TEXT, count, offset)["length"]
    size = int(lengths.sum(dtype=np.int64)) + lengths.size * TEXT.itemsize
    if size > len(content):
        raise UnfitError(f"{where} is longer than the file")
    return _Size(size, _memory_of_texts(count, int(lengths.max())))


def _memory_of_texts(count: int, longest: int) -> int:
    """Return the bytes of an array of texts and of a copy: each takes the room of the longest, four bytes a letter."""
    return 2 * 4 * count * longest


def _attribute_sizes(
    owner: "h5py.h5g.GroupID | h5py.h5d.DatasetID", where: str, content: bytes, checked: set[bytes]
) -> Iterator[_Size]:
    """Yield the size of each attribute; `checked` are names of attributes that are not longer than the file."""
    import h5py

    # References from variables to their dimensions and back, which netCDF stores.
    references = {b"DIMENSION_LIST": h5py.h5t.VLEN, b"REFERENCE_LIST": h5py.h5t.COMPOUND}
    index = _by_order(owner.get_create_plist().get_attr_creation_order())
    iterate = partial(h5py.h5a.iterate, owner, index_type=index, order=h5py.h5.ITER_NATIVE)
    for name in _distinct(iterate, h5py.h5a.get_num_attrs(owner)):
        attribute = h5py.h5a.open(owner, name)
        kind, count = attribute.get_type(), attribute.get_space().get_simple_extent_npoints()
        if isinstance(owner, h5py.h5d.DatasetID) and not _is_safe_for_dimensions(name, attribute, owner.rank):
            raise UnfitError(f"the attribute {_text(name)} of {where} is not that of a dimension")
        if isinstance(owner, h5py.h5d.DatasetID) and name.startswith(b"_") and name not in _OF_NETCDF:
            raise UnfitError(f"the attribute {_text(name)} of {where} is not one of a fit")
        if name not in checked and (kind.get_class() == h5py.h5t.VLEN or _is_any_length(kind)):
            check_lengths(name, content)
            checked.add(name)
        if isinstance(owner, h5py.h5d.DatasetID) and references.get(name) == kind.get_class():
            yield _Size(attribute.get_storage_size())
            continue
        _check_type(kind, f"the attribute {_text(name)} of {where}")
        if not _is_any_length(kind):
            yield _Size(attribute.get_storage_size())
            continue
        if count > _MOST_TEXTS:
            raise UnfitError(f"the attribute {_text(name)} of {where} has more than {_MOST_TEXTS} texts")
        if count > 1:  # texts are read all at once, and each may be as long as the file
            what = f"The texts of the attribute {_text(name)} of {where}"
            check_memory(count * len(content), what, "Check whether it is the right file.")
        texts = np.empty(attribute.shape, dtype=attribute.dtype)
        attribute.read(texts)
        yield _Size(attribute.get_storage_size() + sum(len(text or "") for text in texts.flat))


def _is_safe_for_dimensions(name: bytes, attribute: "h5py.h5a.AttrID", rank: int) -> bool:
    """Return whether an attribute of dimensions has the form that HDF5 takes for granted when it reads it.

    HDF5 writes past the end of its memory if a name is longer, or a list has more axes, than it expects, and frees its
    memory twice at another class.
    """
    import h5py

    kind, space = attribute.get_type(), attribute.get_space()
    if name in (b"CLASS", b"NAME"):
        is_text = kind.get_class() == h5py.h5t.STRING and not _is_any_length(kind)
        if not is_text or kind.get_size() > _LONGEST_NAME or space.get_simple_extent_type() != h5py.h5s.SCALAR:
            return False
        value = np.empty((), dtype=f"S{kind.get_size()}")
        attribute.read(value)
        return name == b"NAME" or value.item() == b"DIMENSION_SCALE"
    if name == b"DIMENSION_LIST":
        return bool(kind.equal(h5py.h5t.vlen_create(h5py.h5t.STD_REF_OBJ)) and space.shape == (rank,))
    return name != b"DIMENSION_LABELS"


def _check_type(kind: "h5py.h5t.TypeID", where: str) -> None:
    """Raise `UnfitError` for any type but numbers and texts."""
    import h5py

    if not any(kind.equal(getattr(h5py.h5t, number)) for number in _NUMBERS) and kind.get_class() != h5py.h5t.STRING:
        raise UnfitError(f"{where} holds something other than numbers or texts")
    if _is_any_length(kind):
        letters = h5py.h5t.C_S1.copy()
        letters.set_size(h5py.h5t.VARIABLE)
        letters.set_cset(kind.get_cset())
        letters.set_strpad(kind.get_strpad())
        if not kind.equal(letters):  # HDF5 would take the memory of letters of up to 4 GB each
            raise UnfitError(f"{where} has texts in a form that is not supported")


def _is_any_length(kind: "h5py.h5t.TypeID") -> bool:
    import h5py

    return isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str()


def _check_dimensions(dataset: "h5py.h5d.DatasetID", where: str, addresses: set[int]) -> None:
    """Check that a variable is a dimension, or has one in its group, given by their `addresses`, for each axis."""
    import h5py

    if h5py.h5ds.is_scale(dataset):
        if dataset.rank != 1:
            raise UnfitError(f"{where} is not the list of labels of a dimension")
        return
    for axis in range(dataset.rank):
        scales: list[h5py.h5d.DatasetID] = []
        if h5py.h5ds.get_num_scales(dataset, axis) == 1:
            h5py.h5ds.iterate(dataset, axis, scales.append)
        if [h5py.h5o.get_info(scale).addr in addresses for scale in scales] != [True]:
            raise UnfitError(f"{where} does not have a dimension of its group on axis {axis}")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")

"""Uploads to an object store on an erasure set: the one drive that stands for all of it, and what it is made to do.

Every drive of a set gets a fragment of each object, and keeps a file system of its own, so that all do the same.

References
----------
MinIO, `cmd/xl-storage.go`: `CreateFile` writes the fragment with O_DIRECT, then fdatasync; `RenameData` looks for an
older `xl.meta`, writes the new one synced, makes the object's directories, and renames both. `smallFileThreshold` is
128 KiB: smaller fragments are inside of `xl.meta`.
XFS: directories go to one allocation group after the other (`xfs_dialloc_pick_ag`); fdatasync of a new file commits the
journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.inputs import LoadOptions, check_room
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.workload import Workload

#: Objects up to this length are kept inside of the file of their metadata.
INLINE_BYTES = 128 << 10
#: Bytes of the file of an object's metadata, and of every change to a directory or an inode.
BLOCK_BYTES = 4096
#: Places that the file system writes back later: the inodes of the two new directories, which are in different
#: allocation groups, and the directory that the object is in. With two or four of them a drive of 7,200 rpm is busy for
#: 62 or 78 % of the time with 8 uploads a second, not 71 %; with 15 it is 96 to 99 %.
DIRECTORY_WRITES = 3
#: The same without a directory for the data.
INLINE_DIRECTORY_WRITES = 2
#: Names that are looked up and not in memory: the object's in its directory.
LOOKUPS = 1
#: Streams that an upload waits for, one after the other, in their order.
DATA, METADATA = "data", "xl.meta"
#: Options of one stream that uploads go without; the size of an object is that of a request.
_REPLACED = ("iops", "throughput", "reads", "sequential", "commits", "record", "sync")
_FIX = 'write for example "12x seagate-exos-x18, erasure 8+4" --uploads 15/s --block 500k'


def set_under_uploads(
    array: Array, rate: str, stream: Mapping[str, Any], *, has_other_load: bool
) -> tuple[Array, Workload, str]:
    """Return one drive of the set, its workload, and what to say of both.

    Parameters
    ----------
    array : Array
        The set: an erasure code.
    rate : str
        Uploads per second to the set, as the option has it.
    stream : mapping
        Values of the options of one stream.
    has_other_load : bool
        Whether a workload or clients that wait are given, too.

    Raises
    ------
    DescriptionError
        When the array is no erasure code, the size of objects is missing, or another load is stated.
    """
    from diskmodel.array import Array
    from diskmodel.units import pretty_bytes
    from diskmodel.workload import Workload

    layout = array.layout
    if layout.level != "erasure" or layout.failed:
        rule = f"is about an erasure set that is whole, and this is {array.title}"
        raise DescriptionError(Fault("--uploads", rate, rule, _FIX))
    others = [f"--{name}" for name in _REPLACED if stream.get(name) not in (None, False)]
    if others or has_other_load:
        what = others[0] if others else "--workload, --queue-depth or --replay"
        raise DescriptionError(Fault("--uploads", rate, f"cannot be combined with {what}", f"leave one out; {_FIX}"))
    if not stream.get("block"):
        raise DescriptionError(Fault("--block", None, "is required with --uploads: the size of an object", _FIX))
    asked = {"rate": rate if rate.strip().endswith("s") else f"{rate}/s", "size": stream["block"]}
    if span := stream.get("span") or stream.get("capacity"):
        check_room(LoadOptions(stream=stream), [array])
        asked["span"] = span
    try:
        request = Workload.parse({"read_ratio": 0.0, **asked}).streams[0]
        n_bytes = round(request.mean_size_bytes)
        fields = uploads(request.expected_rate_per_s, n_bytes, layout.data_strips)
        if request.span_bytes is not None:
            # objects' bytes, of which each drive has its part
            fields["span_bytes"] = -(-request.span_bytes // layout.data_strips)
        load = Workload.parse(fields)
    except DescriptionError as error:
        raise DescriptionError([_by_option(fault) for fault in error.faults]) from None
    alone = {"level": "jbod", "disks": 1}
    drive = Array.parse({**dict(array), "name": "", "layout": alone}, "one drive of the set")
    n = layout.data_strips + layout.parity_strips
    named = load.model_copy(
        update={"name": f"{request.expected_rate_per_s:g} uploads/s of {pretty_bytes(n_bytes)} to {n} such drives"}
    )
    said = (
        f"all {n} drives of a set do the same for each upload, so that one stands for all; each has its own file "
        "system (XFS). An upload waits for its data, then for its metadata, on most of the drives"
    )
    return drive, named, said


def _by_option(fault: Fault) -> Fault:
    """Name the option that a fault of the workload comes from."""
    named = {"rate": "--uploads", "size": "--block", "span": "--span"}
    option = next((name for part, name in named.items() if part in fault.field), fault.field)
    return replace(fault, field=option)


def uploads(per_s: float, object_bytes: int, data_strips: int) -> dict[str, Any]:
    """Return the fields of the workload of one drive.

    Parameters
    ----------
    per_s : float
        Uploads per second to the set.
    object_bytes : int
        Of each object.
    data_strips : int
        Drives of the set that hold an object without its parity.

    Examples
    --------
    >>> [(one["name"], one["size_bytes"], one["rate_per_s"]) for one in uploads(15, 500_000, 8)["streams"]]
    [('data', 65536, 15), ('xl.meta', 4096, 15), ('directories', 4096, 45), ('lookups', 4096, 15)]
    """
    fragment = -(-object_bytes // data_strips)
    is_inline = object_bytes <= INLINE_BYTES
    safe = {"read_ratio": 0.0, "sync": "fdatasync", "file_system": "xfs", "file": "append", "rate_per_s": per_s}
    metadata = _whole(BLOCK_BYTES + fragment * is_inline)
    files = [] if is_inline else [safe | {"name": DATA, "size_bytes": _whole(fragment)}]
    n_writes = INLINE_DIRECTORY_WRITES if is_inline else DIRECTORY_WRITES
    small = {"size_bytes": BLOCK_BYTES}
    return {
        "name": "uploads",
        "streams": [
            *files,
            safe | {"name": METADATA, "size_bytes": metadata},
            small | {"name": "directories", "read_ratio": 0.0, "rate_per_s": n_writes * per_s},
            small | {"name": "lookups", "read_ratio": 1.0, "rate_per_s": LOOKUPS * per_s},
        ],
    }


def _whole(n_bytes: int) -> int:
    """Return so many bytes in whole blocks."""
    return -(-n_bytes // BLOCK_BYTES) * BLOCK_BYTES

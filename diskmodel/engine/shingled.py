"""Shingled disks whose random writes cannot be simulated: their profile or the question leaves too much open."""

from __future__ import annotations

from typing import Literal

from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.engine.write_pointers import refuse_misplaced_writes
from diskmodel.errors import CoverageError, Fault
from diskmodel.workload import Sequential, Stream, TraceWorkload, Workload

#: Run of writes that fills whole bands, so that the drive writes it in place. Bands were measured at 15 to 40 MiB
#: (A. Aghayev, P. Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015); shorter runs go to the
#: drive's persistent cache first and have to be cleaned out of it later.
MIN_RUN_BYTES = 256 << 20


def refuse_random_writes(
    array: Array, workload: Workload | TraceWorkload, start: Literal["steady", "empty"] = "steady"
) -> None:
    """Refuse random writes on shingled drives without a `media_cache`, and traces of writes with a steady start.

    Refuse the resilver of a pool, too: nothing says how often its pieces have a band rewritten.

    On drives whose zones the host writes in order, refuse writes that are not at write pointers.

    Such a drive first writes them to a cache on its platters. Once that is full, each write waits until a band of
    tracks has been read and written anew, which takes about a second: without the cache the model would be too fast a
    hundredfold, and so it would be with an empty one.

    Raises
    ------
    CoverageError
        When the drives are shingled and some writes are no long sequential runs, or a pool of them is resilvered.
    """
    drive, rebuild = array.drive, array.layout.rebuild
    if array.unknown_resilver and rebuild is not None and rebuild.action == "recover":
        fix = "leave rebuild out, use drives with conventional recording, or a level of Linux md"
        raise CoverageError(Fault("layout.rebuild", None, array.unknown_resilver, fix))
    if drive.zones_in_order is not None:
        refuse_misplaced_writes(array, drive, drive.zones_in_order, workload)
        return
    if not writes_shingled(drive, workload):
        return
    if not drive.rewrites_bands:
        raise CoverageError(
            Fault(
                "drive",
                drive.name,
                "records in shingled tracks (SMR), and its random writes cannot be predicted without its media cache: "
                "once that is full, they wait for whole bands of tracks to be written anew, about a second each",
                "add [media_cache] to the profile (size, band, max_extents), use a drive with conventional recording, "
                "or only reads and sequential writes in runs of 256 MiB or more",
            )
        )
    if isinstance(workload, TraceWorkload) and start == "steady":
        raise CoverageError(
            Fault(
                "drive",
                drive.name,
                "records in shingled tracks (SMR), and what its media cache holds when a trace begins is unknown: with "
                "an empty one, writes would be too fast up to a hundredfold",
                "fit a workload to the trace, or begin with start=empty",
            )
        )


def writes_shingled(drive: Drive, workload: Workload | TraceWorkload) -> bool:
    """Return whether random writes go to shingled tracks, whose bands have to be written anew for them."""
    return drive.rewrites_tracks and _has_random_writes(workload)


def _has_random_writes(workload: Workload | TraceWorkload) -> bool:
    if isinstance(workload, TraceWorkload):
        return workload.has_writes
    return any(stream.write_ratio and not _writes_long_runs(stream) for stream in workload.streams)


def _writes_long_runs(stream: Stream) -> bool:
    places = stream.addresses
    if not isinstance(places, Sequential):
        return False
    return places.mean_run is None or places.mean_run * stream.mean_size_bytes >= MIN_RUN_BYTES

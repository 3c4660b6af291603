"""What a shingled disk does with random writes is not modeled: such a question is refused."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.drive.hdd import Hdd
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import Op
from diskmodel.workload import Stream, TraceWorkload, Workload
from diskmodel.workload.addresses import Sequential

#: Run of writes that fills whole bands, so that the drive writes it in place. Bands were measured at 15 to 40 MiB
#: (A. Aghayev, P. Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015); shorter runs go to the
#: drive's persistent cache first and have to be cleaned out of it later.
MIN_RUN_BYTES = 256 << 20


def refuse_random_writes(array: Array, workload: Workload | TraceWorkload) -> None:
    """Refuse a workload with random writes on drives with shingled recording.

    Such a drive first writes them to a persistent cache. Once that is full, each write waits until a band of tracks
    has been read and written anew, which takes about a second: the model would be too fast a hundredfold.

    Raises
    ------
    CoverageError
        When the drives are shingled and some writes are no long sequential runs.
    """
    drive = array.drive
    if not isinstance(drive, Hdd) or drive.recording != "shingled" or not _has_random_writes(workload):
        return
    raise CoverageError(
        Fault(
            "drive",
            drive.name,
            "records in shingled tracks (SMR), and its random writes cannot be predicted: they soon wait for whole "
            "bands of tracks to be written anew, about a second each",
            "use a drive with conventional recording, or only reads and sequential writes in runs of 256 MiB or more",
        )
    )


def _has_random_writes(workload: Workload | TraceWorkload) -> bool:
    if isinstance(workload, TraceWorkload):
        return bool((workload.trace.op == Op.WRITE).any())
    return any(stream.read_ratio < 1 and not _writes_long_runs(stream) for stream in workload.streams)


def _writes_long_runs(stream: Stream) -> bool:
    places = stream.addresses
    if not isinstance(places, Sequential):
        return False
    return places.mean_run is None or places.mean_run * stream.mean_size_bytes >= MIN_RUN_BYTES

"""What is asked of a pool of OpenZFS and cannot be answered, and what an answer leaves out."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.engine.scenario import not_in_a_pool
from diskmodel.workload import TraceWorkload, Workload
from diskmodel.workload.addresses import SortedBatches, Strided

#: Places at some distance from each other, of which OpenZFS may read ahead, too.
_APART = (Strided, SortedBatches)


def refuse_on_pools(array: Array, workload: Workload | TraceWorkload) -> None:
    """Refuse loads that are not modeled on pools: places apart, in order, which OpenZFS may take for a stream.

    Raises
    ------
    CoverageError
    """
    if not array.layout.kind.is_pool or not isinstance(workload, Workload):
        return
    if any(isinstance(stream.addresses, _APART) and stream.kind == "requests" for stream in workload.streams):
        raise not_in_a_pool("workload.addresses", "requests at equal distances or in sorted batches")


def pool_messages(array: Array, workload: Workload | TraceWorkload) -> tuple[str, ...]:
    """Return what an answer about a pool leaves out; nothing for other arrays."""
    layout = array.layout
    if not layout.kind.is_pool:
        return ()
    cache = array.controller.read_cache
    served = "" if cache is not None else "no read is served by the cache of OpenZFS (ARC), "
    if cache is not None and cache.size_bytes is not None:
        served = "all of the size of the cache of OpenZFS (ARC) is for data, "
    found = [f"{served}all metadata is in memory, and the files were written in order into an empty pool"]
    if workload.has_writes:
        found.append(
            "free space of the pool is in one piece, as after a few writes: the more a pool is filled and fragmented, "
            "the slower it writes"
        )
        if not array.host.submission_ns:
            found.append(
                "the processor's time for each write is not counted: where thousands of small records are written in a "
                "second it limits a pool (host.submission)"
            )
        if layout.sync == "disabled" and any(s.has_syncs for s in getattr(workload, "streams", ())):
            found.append("sync = disabled: writes that were to be safe are not; a power cut loses the last seconds")
    return tuple(found)

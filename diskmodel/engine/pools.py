"""What is asked of a pool of OpenZFS and cannot be answered, and what an answer leaves out."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.engine.scenario import not_in_a_pool
from diskmodel.workload import TraceWorkload, Workload
from diskmodel.workload.addresses import Sequential, SortedBatches, Strided

#: Places that follow one another, of which OpenZFS reads ahead.
_IN_ORDER = (Sequential, Strided, SortedBatches)


def refuse_on_pools(array: Array, workload: Workload | TraceWorkload) -> None:
    """Refuse loads that are not modeled on pools: writes, and reads in order, which OpenZFS reads ahead.

    Raises
    ------
    CoverageError
    """
    if not array.layout.kind.is_pool:
        return
    if workload.has_writes:
        raise not_in_a_pool("trace" if isinstance(workload, TraceWorkload) else "workload.read_ratio", "writes")
    streams = workload.streams if isinstance(workload, Workload) else ()
    if any(isinstance(stream.addresses, _IN_ORDER) for stream in streams):
        raise not_in_a_pool("workload.addresses", "reads in order")


def pool_messages(array: Array) -> tuple[str, ...]:
    """Return what an answer about a pool leaves out; nothing for other arrays."""
    if not array.layout.kind.is_pool:
        return ()
    served = "" if array.controller.read_cache is not None else "no read is served by the cache of OpenZFS (ARC), "
    return (f"{served}all metadata is in memory, and the files were written in order into an empty pool",)

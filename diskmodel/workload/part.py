"""A part of the time that a fitted workload was recorded in."""

from __future__ import annotations

from diskmodel.workload.arrivals import ExcerptTimes
from diskmodel.workload.description import Workload
from diskmodel.workload.sizes import sizes_of
from diskmodel.workload.stream import Stream


def part_of(workload: Workload, first_ratio: float, length_ratio: float) -> Workload:
    """Return the workload as it was in a part of its recording, again and again; other streams stay.

    Parameters
    ----------
    workload : Workload
    first_ratio, length_ratio : float
        As `Excerpts.part` has them; the same part of all streams.

    Notes
    -----
    What the recording was scaled by, in rate or in its share of reads, the part is scaled by, too.

    Raises
    ------
    DescriptionError
        When no time passes in the part.
    """
    streams = tuple(_part(stream, first_ratio, length_ratio) for stream in workload.streams)
    return workload.model_copy(update={"streams": streams})


def _part(stream: Stream, first_ratio: float, length_ratio: float) -> Stream:
    if stream.excerpts is None:
        return stream
    excerpts = stream.excerpts.part(first_ratio, length_ratio)
    was, now = stream.excerpts.cycle, excerpts.cycle
    update: dict[str, object] = {"excerpts": excerpts, "sizes": sizes_of(now.length)}
    update["read_ratio"] = min(max(stream.read_ratio + now.read_ratio - was.read_ratio, 0.0), 1.0)
    if isinstance(stream.arrival, ExcerptTimes):
        update["arrival"] = stream.arrival.scaled(now.rate_per_s / was.rate_per_s)
    return stream.model_copy(update=update)

"""How far a simulated figure may be off by the model's own errors, of drives that are known so well."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isinf, log, log1p

from diskmodel.array import Array
from diskmodel.engine import DrawnRuns
from diskmodel.explanation.causes.cause import is_sequential, with_streams
from diskmodel.explanation.causes.uneven import accesses_of
from diskmodel.explanation.measured import SHAPE, Figure, Measured
from diskmodel.result import Interval
from diskmodel.uncertainty import AnyWorkload, Case, origin_of, spread_of
from diskmodel.workload import Stream, Workload

#: Standard deviation, as a logarithm, of a simulated figure of a drive of known parameters, by kind of figure: of
#: Linux md over disks of known mechanics (docs/explanation/validation-md-raid.md), rates are within 2 to 5 %, and the
#: shape of the distribution within 10 %. At half, causes that are right do not fit; at double, wrong ones do.
_OWN_ERROR = {"iops": 0.03, "mean": 0.04, "p50": 0.1, "p95": 0.12, "p99": 0.15}
#: The same of a drive that is known from its sheet: the median and p95 have no spread of their own among the unknowns.
_SHEET_ERROR = {"iops": 0.03, "mean": 0.04, "p50": 0.18, "p95": 0.18, "p99": 0.15}
#: The same of the shape of random reads of disks, one at a time: seeks and turns decide it alone. Of four disks p50,
#: p95 and p99 are 0.98 to 1.00, 1.39 to 1.58 and 1.51 to 1.69 of the mean (tests/data/fio-depths.csv, and the disk of
#: Mirantis), where 1.00, 1.53 and 1.69 are expected. At half, ordinary disks raise alarms; at double, lost revolutions
#: look like another load beside this one.
_SINGLE = {"p50": 0.05, "p95": 0.08, "p99": 0.1}
#: The same in a queue, where each firmware keeps other commands waiting: with 10 to 16 outstanding 0.64 to 0.94, 1.9 to
#: 3.1 and 2.8 to 4.9 of six disks (the same, and docs/explanation/validation/disks.md), and at p99 4.2 of a nearline
#: one of which 2.7 is expected (docs/explanation/validation-firmware.md). At half, causes that only let some requests
#: wait longer are named for every second disk; at double, those that do so are not.
_QUEUED = {"p50": 0.2, "p95": 0.25, "p99": 0.3}
#: The same of the shape of requests in order, whose single times are decided by what a drive happened to have read
#: ahead and by which requests of several clients fell together; hardly a source has percentiles of them.
_IN_ORDER = 0.4
#: The same of volumes that have limits of their own (clouds): which of the requests that wait passes first is assumed
#: there, and decides the slowest ones.
_LIMITED = 0.5
#: The same of writes of flash drives, which firmware answers from its buffer, and makes wait for cleaning, in its own
#: way: a p99 of 16 us is expected where up to 12.6 ms was measured (`python -m tests.validation.flash`). At
#: half, causes that bend this shape are named instead of those that take the time; at double, hardly anything changes.
_FLASH_WRITES = 0.8
#: The same of their reads: percentiles are off by 16 to 28 % in the median, by 36 % at most
#: (docs/explanation/validation/flash.md).
_FLASH_READS = 0.3
#: Standard deviation, as a logarithm, of the time of writes that a drive's own buffer answers while reads keep its arm
#: busy: each firmware shares between both in its own way, so that a buffer stays nearly empty, and a write takes 0.1
#: ms, or fills, and it takes as long as what waits for the arm, 20 ms: ln 200 / sqrt 3 where each time between is as
#: likely. At half, whatever moves these writes is named instead of what slows the reads; at double, nothing says
#: anything of them.
_BUFFERED = 3.0
#: The same of writes that wait for reads of the disks before (parity of md), so that a buffer decides a part of their
#: time only: on six arrays of the small simulator, whose disks share otherwise, means are 0.88 to 0.95 of what is
#: expected and p99 0.9 to 1.4. At half, sound arrays raise alarms; at double, what only slows writes is not seen.
_BEHIND_READS = 0.3
#: Ratio of p99 to the median from which requests are of two kinds, as writes to a cache on SSDs that are answered at
#: once or wait for disks: how many of them wait is hardly known so well that it decides on which side of the gap a
#: percentile lies. No array without such a cache comes to two thirds of it.
_TWO_KINDS = 300.0
#: Relative standard error of a figure of n requests, times the root of n; of a mean that of times which vary as much as
#: their mean does.
_SAMPLING = {"iops": 0.7, "mean": 0.7, "p50": 1.0, "p95": 2.0, "p99": 4.0}
#: Time that a measuring program spends between two requests, outside their latencies, ns: fio takes 1 to 2 us.
PROGRAM_NS = 2_000


def model_variance(array: Array, workload: AnyWorkload, truths: DrawnRuns | None, part: str, kind: str) -> float:
    """Return the variance of the model's own error of a figure, as a logarithm; of a percentile that of a shape.

    Parameters
    ----------
    array : Array
        As it is measured.
    workload : Workload or TraceWorkload
    truths : DrawnRuns or None
        Of this load, where something is not known of the drives.
    part, kind : str
        "reads" and "p50", as `Figure` has them.
    """
    is_sheet = origin_of(array.drive) == "sheet"
    own = (_SHEET_ERROR if is_sheet else _OWN_ERROR)[kind]
    if kind not in SHAPE:
        return own**2
    if is_sheet and truths is not None and truths.case.is_hdd and _waits_for_platters(truths.case, part):
        is_random = truths.case.load != "sequential" and (
            part == "reads" or accesses_of(array, workload, is_write=True) == 1
        )
        # several outstanding may meet at a disk, however seldom
        is_alone = isinstance(workload, Workload) and workload.queue_depth <= 1
        own = (_SINGLE if is_alone else _QUEUED)[kind] if is_random else own
    in_order = _IN_ORDER if is_sequential(workload) else 0.0
    # only a volume of a cloud has no link
    limited = _LIMITED if isinf(array.drive.link_bytes_per_s) else 0.0
    flash = _FLASH_READS if part == "reads" else _FLASH_WRITES
    return own**2 + max(in_order, limited, 0.0 if array.drive.has_arms else flash) ** 2


def _waits_for_platters(case: Case, part: str) -> bool:
    """Whether requests of a part take seeks and turns: reads do, and writes that no buffer answers."""
    is_safe = isinstance(case.workload, Workload) and case.workload.has_syncs
    return part == "reads" or (not case.has_cached_writes and not is_safe)


def sharing_variance(array: Array, workload: AnyWorkload, part: str) -> float:
    """Return the variance of how drives share their arms between reads and the writes that they hold."""
    is_shared = array.drive.has_arms and array.has_drive_write_cache and workload.has_reads and workload.has_writes
    if not is_shared or part not in ("writes", "commits"):
        return 0.0
    return (_BEHIND_READS if accesses_of(array, workload, is_write=True) > 1 else _BUFFERED) ** 2


def two_kinds_variance(figures: Mapping[str, float], part: str, kind: str) -> float:
    """Return the variance of a percentile of requests of two kinds, which may lie on either side of the gap."""
    if kind not in SHAPE:
        return 0.0
    middle, last = figures.get(f"{part}.p50", 0.0), figures.get(f"{part}.p99", 0.0)
    return (log(last / middle) / 2) ** 2 if middle > 0 and last > _TWO_KINDS * middle else 0.0


def uncut(described: Array, array: Array, workload: AnyWorkload) -> Array | None:
    """Return an array whose disks' adapter takes the longest requests as they are; None where none were cut anyway.

    What an adapter takes, and how large the pages of a program's buffer are, is assumed; with it disks lose turns over
    what is in order, so that the rate is up to five times lower than without.
    """
    layout = array.layout
    if layout.largest_request_bytes is None or described.layout.largest_request_bytes is not None:
        return None
    if not is_sequential(workload) or not array.drive.has_arms or not isinstance(workload, Workload):
        return None
    longest = max(item.size_bytes for stream in workload.streams for item in stream.sizes)
    whole = layout.model_copy(update={"largest_request_bytes": longest, "huge_page_ratio": 0.0})
    return array.model_copy(update={"layout": whole})


def elsewhere(array: Array, workload: AnyWorkload) -> list[Workload]:
    """Return the load on files that are not the first ones of a volume, where their place decides which disks are read.

    Nobody says of a file which ones were written before it, and what lies between them. One that fills half of the
    volume has most places; one that is given its place keeps it.
    """
    if not isinstance(workload, Workload) or not workload.has_reads or is_sequential(workload):
        return []
    spans = {stream.span_bytes or workload.span_bytes for stream in workload.streams}
    span_bytes = spans.pop()
    if spans or span_bytes is None or any(one.offset_bytes or one.offset_ratio for one in workload.streams):
        return []
    places_bytes = [sectors * array.drive.sector_bytes for sectors in array.tables().other_places]
    return [
        moved
        for place_bytes in places_bytes
        if place_bytes + span_bytes <= array.usable_bytes / 2
        and (moved := with_streams(workload, partial(_at, place_bytes, span_bytes))) is not None
    ]


def _at(place_bytes: int, span_bytes: int, _: Stream) -> dict[str, int]:
    """Return the fields of a stream on a file at a place."""
    return {"offset_bytes": place_bytes, "span_bytes": span_bytes}


def noise_variance(figure: Figure, one: Measured, n_simulated: int) -> float:
    """Return the variance of the sampling of a figure, in a measurement and in a run of so many requests."""
    n = one.n.get(figure.part, one.n_requests) if figure.part else one.n_requests
    share = (n / one.n_requests) if one.n_requests else 1.0
    factor = _SAMPLING[figure.kind] ** 2
    noise = factor / max(n, 1.0) + factor / (n_simulated * max(share, 0.01))
    if figure.kind != "iops":
        return noise
    # what a program spends between two requests is in its rate, and in no latency
    means = [one.figures[f"{part}.mean"] for part in one.parts]
    return noise + log1p(PROGRAM_NS / min(means)) ** 2 if means else noise


def dof_of(truths: DrawnRuns, confidence: float = 0.95) -> float:
    """Return the degrees of freedom of what is not known under a load: where a host holds it back, those of hosts."""
    share = truths.sources(Interval(1.0, 1.0, 1.0), "iops", confidence).get("host", 0.0)
    host = spread_of("assumed-host" if truths.case.array.host.is_assumed else "host", "host")
    dof = truths.case.dof
    return dof if host is None or not share else 1 / ((1 - share) / dof + share / host.dof)

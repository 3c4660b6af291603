"""Causes between the program and the drives: limits, links, the host, caches on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import (
    DEPTHS,
    OFTEN,
    SELDOM,
    SOMETIMES,
    Cause,
    Change,
    Ladder,
    Law,
    Scale,
    changed,
    is_sequential,
    numbers,
    on_array,
    with_streams,
)
from diskmodel.explanation.causes.checks import is_nvme
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits
from diskmodel.workload import Closed, Workload


def limited_to(rate_per_s: float) -> Law:
    """Return what becomes of the figures of a closed load behind a limit of requests per second.

    Requests leave the limit one by one and at equal distances, so that each takes as long as all that are outstanding
    take to leave it, or as long as it took before, whatever is more.
    """

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        rate = figures["iops"]
        if not measured.is_closed or rate <= rate_per_s:
            return figures
        assert isinstance(measured.workload, Workload)
        cycle_ns = measured.workload.queue_depth * 1e9 / rate_per_s
        found = {"iops": rate_per_s}
        for name, value in figures.items():
            if name.endswith(".mean"):
                found[name] = cycle_ns
            elif name != "iops":
                found[name] = max(value, cycle_ns)
        return found

    return law


def through_wire(bytes_per_s: float, *, reads_ahead: bool) -> Law:
    """Return what becomes of the figures of a load whose data goes through a link, one request after the other.

    Where nothing reads ahead, a request has been served before its data goes, so that each one takes that longer, also
    where the link has room.
    """

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        each_ns = measured.workload.mean_size_bytes / bytes_per_s * 1e9
        limited = limited_to(1e9 / each_ns)
        if reads_ahead:
            return limited(figures, measured)
        found = {name: value if name == "iops" else value + each_ns for name, value in figures.items()}
        if measured.is_closed and "iops" in figures:
            assert isinstance(measured.workload, Workload)
            clients = measured.workload.queue_depth
            found["iops"] = clients / (clients / figures["iops"] + each_ns / 1e9)
        return limited(found, measured)

    return law


def _at_level(figures: dict[str, float], part: str, level: float) -> float:
    """Return the time that a share of the requests takes at most, between the known percentiles."""
    known = {at: figures[f"{part}.{kind}"] for kind, at in SHAPE.items() if f"{part}.{kind}" in figures}
    logs = np.log([_LEAST * min(known.values()), *known.values()])
    return float(np.exp(np.interp(level, [0.0, *known], logs)))


#: Time of the fastest request, over the median: of seeks and turns. At half or double, hardly a figure changes.
_LEAST = 0.4


def limited_in_slices(rate_per_s: float, slice_s: float) -> Law:
    """Return what becomes of the figures of a closed load behind a bucket of tokens that is filled once in a while.

    What is in the bucket goes at once, as fast as without it; the clients then wait for the next filling, each with one
    request. Where a filling is less than the clients ask for at once, all requests wait alike.
    """
    alike = limited_to(rate_per_s)

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        rate = figures["iops"]
        if not measured.is_closed or rate <= rate_per_s:
            return figures
        assert isinstance(measured.workload, Workload)
        clients, filling = measured.workload.queue_depth, rate_per_s * slice_s
        if filling <= clients:
            return alike(figures, measured)
        late = clients / filling
        wait_ns = slice_s * (1 - rate_per_s / rate) * 1e9
        found = {"iops": rate_per_s}
        for name in figures:
            part, _, kind = name.partition(".")
            if kind == "mean":
                found[name] = clients * 1e9 / rate_per_s
            elif kind in SHAPE:
                # the others are the fast ones, of which the slowest may wait long themselves
                is_late = SHAPE[kind] > 1 - late
                level = (SHAPE[kind] - (1 - late)) / late if is_late else SHAPE[kind] / (1 - late)
                found[name] = wait_ns * is_late + _at_level(figures, part, level)
        return found

    return law


#: How often buckets are filled, s: each slice of a cgroup's io.max (a fiftieth of a second before flash, a tenth before
#: disks: DFL_THROTL_SLICE_SSD and _HD of Linux's block/blk-throttle.c), or each second of a cloud's volume.
_SLICES = {"filled every 20 ms": 0.02, "filled every 0.1 s": 0.1, "filled every second": 1.0}


def _bucket(array: Array, workload: AnyWorkload, filled: tuple[float, float]) -> Change | None:
    """Return a load behind a bucket that is filled at a rate, once in so many seconds."""
    if not isinstance(workload, Workload) or workload.is_open:
        return None
    return Change(array, workload, limited_in_slices(*filled))


def _shared_queue(array: Array, workload: AnyWorkload, others: int) -> Change | None:
    """Return a load that has its share of a controller's queue, beside others that fill the rest of it."""
    if not isinstance(workload, Workload) or workload.is_open or not array.is_hardware:
        return None
    own = workload.queue_depth
    depth = max(round(_CONTROLLER_QUEUE * own / (own + others)), 1)
    return _volume_depth(array, workload, depth)


#: Commands that a controller with a small queue takes at once, of all its volumes (32 or 64 of many older ones).
_CONTROLLER_QUEUE = 32


def _rate_limit(array: Array, workload: AnyWorkload, rate_per_s: float) -> Change | None:
    is_closed = isinstance(workload, Workload) and not workload.is_open
    return Change(array, workload, limited_to(rate_per_s)) if is_closed else None


def _rates_prior(array: Array) -> float:
    """Return how often requests per second are limited: those of a cloud's volumes are by what was paid for."""
    return OFTEN if array.drive.is_provisioned else SOMETIMES


#: Least limit of bytes per second that most set, and that Ethernet of 100 Mb/s has: less is noticed at once. At none,
#: requests of 4 KiB of which flushes let some thousand a second pass are taken for a limit.
_LEAST_LIMIT = 10e6


#: A limit of so many bytes a second; or also whether it is a link that each request takes its time to go through.
Bandwidth = float | tuple[float, bool]


def _bandwidth(array: Array, workload: AnyWorkload, limit: Bandwidth) -> Change | None:
    bytes_per_s, is_wire = limit if isinstance(limit, tuple) else (limit, False)
    if not is_wire:
        return _rate_limit(array, workload, bytes_per_s / workload.mean_size_bytes)
    reads_ahead = array.drive.has_arms and is_sequential(workload)
    return Change(array, workload, through_wire(bytes_per_s, reads_ahead=reads_ahead))


#: How bytes are limited: by what counts them and lets them pass, or by a link.
_WAYS = {"": False, "of a link": True}


def _rates(measured: Sequence[Measured]) -> list[float]:
    """Return the highest measured rate: that of a limit, if there is one."""
    return [max((one.figures["iops"] for one in measured if _has_rate(one)), default=math.nan)]


def _has_rate(one: Measured) -> bool:
    """Whether the rate of a load is a result, and known."""
    return one.is_closed and "iops" in one.figures


def _bandwidths(measured: Sequence[Measured]) -> list[float]:
    return [
        max(
            (one.figures["iops"] * one.workload.mean_size_bytes for one in measured if _has_rate(one)), default=math.nan
        )
    ]


def _added_latency(array: Array, workload: AnyWorkload, added_ns: float) -> Change | None:
    added_ns = round(added_ns)
    if not isinstance(workload, Workload):
        return Change(array, workload, _longer_by(added_ns))

    def think(stream: Any) -> dict[str, Any] | None:
        if not isinstance(stream.arrival, Closed):
            return None
        return {"arrival": stream.arrival.to_dict() | {"think_ns": stream.arrival.think_ns + added_ns}}

    return Change(array, with_streams(workload, think) or workload, _longer_by(added_ns))


def _longer_by(added_ns: float) -> Law:
    def law(figures: dict[str, float], _: Measured) -> dict[str, float]:
        return {name: value if name == "iops" else value + added_ns for name, value in figures.items()}

    return law


def _volume_depth(array: Array, workload: AnyWorkload, depth: int) -> Change | None:
    if not isinstance(workload, Workload) or workload.queue_depth <= depth:
        return None
    if (array.controller.volume_depth or math.inf) <= depth:
        return None
    return on_array(array, workload, controller=changed(array.controller, volume_depth=depth))


def _processor(array: Array, workload: AnyWorkload, per_request_ns: float) -> Change | None:
    if array.host.is_buffered or array.host.pause_ns:
        return None
    host = changed(array.host, submission_ns=round(per_request_ns), processors=1)
    return on_array(array, workload, host=host)


def _processors_prior(array: Array) -> float:
    """Return how often a processor is the limit: requests take it microseconds, so of disks hardly ever.

    One job has some 100,000 to 500,000 requests a second out of one processor (fio over io_uring or libaio), which is
    less than what NVMe drives do.
    """
    return SELDOM if array.drive.has_arms else OFTEN if is_nvme(array) else SOMETIMES


#: Time that a request takes of a processor, ns, and its spread as a logarithm: 5 us of servers of 2020 to 2025
#: (docs/reference/semantics-host.md), 2 to 10 us of one job as above, and tens of them where a guest leaves its
#: hypervisor for each, a file is encrypted, or a program serves a file system. At half the spread, those are not found;
#: at double, a request of a millisecond is as usual.
_OF_A_PROCESSOR = (10e3, 1.4)


def _queues_prior(array: Array) -> float:
    """Return how often fewer requests arrive at once: an NVMe drive has a queue of its own for each processor.

    What is left is a hypervisor's, and buffered I/O.
    """
    return SOMETIMES if is_nvme(array) and not array.is_hardware else OFTEN


def _lock(array: Array, workload: AnyWorkload, held_ns: float) -> Change | None:
    layout, controller = array.layout, array.controller
    if not layout.has_rows or controller.has_real_cache or array.host.pause_ns or array.host.is_buffered:
        return None
    host = changed(array.host, lock_ns=round(held_ns), write_lock_ns=round(held_ns))
    return on_array(array, workload, host=host)


def _cycles(measured: Sequence[Measured]) -> list[float]:
    """Return the time between two requests at the highest measured rate: what limits it takes so long."""
    return [1e9 / rate for rate in _rates(measured)]


def _cached(array: Array, workload: AnyWorkload, hits: tuple[float, int]) -> Change | None:
    if not workload.has_reads or array.controller.read_cache is not None:
        return None
    ratio, time_ns = hits
    if is_sequential(workload):
        return Change(array, workload, _in_order_from_cache(ratio, time_ns))
    fields = {"read_cache": {"hit_ratio": ratio}, "hit_ns": time_ns}
    return on_array(array, workload, controller=changed(array.controller, **fields))


def _in_order_from_cache(ratio: float, time_ns: float) -> Law:
    """Return what becomes of reads in order of which a cache has a part.

    What it has lies together, as what was read last does, so that a drive does not pass by it: it is as if so many
    fewer were read.
    """

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        if "reads.mean" not in figures:
            return figures
        mean = figures["reads.mean"]
        found = figures | {"reads.mean": ratio * time_ns + (1 - ratio) * mean}
        for kind, level in SHAPE.items():
            if f"reads.{kind}" in figures:
                found[f"reads.{kind}"] = time_ns if level <= ratio else figures[f"reads.{kind}"]
        if measured.is_closed and "iops" in figures:
            share = measured.n.get("reads", 0.0) / measured.n_requests if measured.n_requests else 1.0
            others = figures.get("writes.mean", 0.0) * (1 - share)
            found["iops"] = figures["iops"] * (share * mean + others) / (share * found["reads.mean"] + others)
        return found

    return law


def _hits_in_words(hits: tuple[float, int]) -> str:
    memory = ", out of the host's memory" if hits[1] == _NEAR_HIT else " of the reads"
    return f"{in_digits(100 * hits[0], 3)} %{memory}"


#: Hits of a cache behind a link, as a controller has it, and of the host's own memory: ns.
_FAR_HIT, _NEAR_HIT = 30_000, 3_000


def _elevator(array: Array, workload: AnyWorkload, fields: dict[str, Any]) -> Change | None:
    if not array.drive.has_arms:
        return None
    own = {name: getattr(array.queue, name) for name in fields}
    if own == fields:
        return None
    return on_array(array, workload, queue=changed(array.queue, **fields))


def _time(value_ns: float) -> str:
    return f"{in_digits(value_ns / 1e6)} ms" if value_ns >= 1e6 else f"{in_digits(value_ns / 1e3)} us"


def _rate(value: float) -> str:
    return f"{in_digits(value)} MB/s"


#: Networks and links to boxes of disks, and the bytes per second that they carry.
_NETWORKS = {
    "USB 2, 38 MB/s": 38e6,
    "1 Gb/s, 117 MB/s": 117e6,
    "USB 3, 400 MB/s": 400e6,
    "10 Gb/s, 1,170 MB/s": 1170e6,
}

PATHS = (
    Cause(
        name="rate-limit",
        title="a limit of requests per second: a virtual disk's, or its burst credits are used up",
        prior=SOMETIMES,
        fingerprint="the same rate whatever is outstanding, and requests that all take equally long",
        change=_rate_limit,
        strengths=Scale(3, 1e6, lambda rate: f"{in_digits(rate)}/s", _rates),
        about="limit",
        is_exact=True,
        prior_on=_rates_prior,
    ),
    Cause(
        name="token-bucket",
        title="a limit that is filled in slices: a cgroup's io.max, a hypervisor's or a cloud's bucket of tokens",
        prior=SELDOM,
        fingerprint="the same rate whatever is outstanding; most requests are fast, and the slowest wait for a slice",
        change=_bucket,
        strengths=Scale(3, 1e6, lambda rate: f"{in_digits(rate)}/s", _rates, _SLICES),
        about="limit",
    ),
    Cause(
        name="controller-queue-shared",
        title="volumes share the controller's queue, and others fill it",
        prior=SELDOM,
        fingerprint="as with fewer outstanding while other volumes are busy, and as expected while they are not",
        change=_shared_queue,
        strengths={f"{n} requests of others": n for n in (32, 128, 512)},
        about="depth",
    ),
    Cause(
        name="bandwidth-limit",
        title="a limit of bytes per second: a virtual disk's, or one of a lane that others share",
        prior=OFTEN,
        fingerprint="large requests are slower in proportion to their size, and all take equally long",
        change=_bandwidth,
        strengths=Scale(1e6, 20e9, lambda rate: _rate(rate / 1e6), _bandwidths, _WAYS, seldom_below=_LEAST_LIMIT),
        about="limit",
        is_exact=True,
    ),
    Cause(
        name="slow-network",
        title="the path to the array is a network or USB link of this rate",
        prior=SOMETIMES,
        fingerprint="large requests end at the link's rate; small ones are as expected",
        change=_bandwidth,
        strengths={
            f"{words}{', one request after the other' if is_wire else ''}": (rate, is_wire)
            for is_wire in (False, True)
            for words, rate in _NETWORKS.items()
        },
        about="limit",
        is_exact=True,
    ),
    Cause(
        name="added-latency",
        title="each request takes longer before it reaches the array: a network, a hypervisor",
        prior=SOMETIMES,
        fingerprint="all requests are longer by the same time; with many outstanding the rate is as expected",
        change=_added_latency,
        strengths=Scale(10e3, 200e6, _time),
        about="latency",
        is_exact=True,
    ),
    Cause(
        name="few-at-once",
        title="fewer requests reach the array at once: a controller's or hypervisor's queue, buffered I/O",
        prior=OFTEN,
        fingerprint="as with fewer outstanding, and the others wait: no faster with a deeper queue",
        change=_volume_depth,
        strengths={f"{n} at once": n for n in DEPTHS},
        about="depth",
        ladder=numbers(lambda n: f"{n} at once", are_whole=True),
        is_exact=True,
        prior_on=_queues_prior,
    ),
    Cause(
        name="host-processor",
        title="one processor of the host is busy with the requests",
        prior=SOMETIMES,
        fingerprint="no more requests per second whatever is outstanding; more jobs are faster",
        change=_processor,
        strengths=Scale(2e3, 1e6, _time, _cycles, usual=_OF_A_PROCESSOR),
        about="host",
        is_exact=True,
        prior_on=_processors_prior,
    ),
    Cause(
        name="md-lock",
        title="md's thread or lock is busy all the time",
        prior=SOMETIMES,
        fingerprint="no more requests per second whatever is outstanding, or from how many jobs",
        change=_lock,
        strengths=Scale(1e3, 1e6, _time, _cycles),
        about="host",
        is_exact=True,
    ),
    Cause(
        name="cache-hits",
        title="reads come out of a cache, or of blocks that were never written",
        prior=OFTEN,
        fingerprint="the fastest reads take microseconds: a disk cannot do that",
        change=_cached,
        strengths={
            **{f"{hits} % of the reads": (hits / 100, _FAR_HIT) for hits in (20, 40, 60, 80, 90, 98)},
            **{f"{hits:g} %, out of the host's memory": (hits / 100, _NEAR_HIT) for hits in (60, 90, 99, 99.9)},
        },
        about="read cache",
        ladder=Ladder(lambda hits: 1 - hits[0], lambda hits, misses: (1 - misses, hits[1]), _hits_in_words),
    ),
    Cause(
        name="elevator",
        title="another scheduler of the operating system orders the requests",
        prior=SELDOM,
        fingerprint="deep queues only: the slowest requests are shorter or longer than expected",
        change=_elevator,
        strengths={
            "mq-deadline": {"scheduler": "mq-deadline"},
            "mq-deadline, one request in the disk": {"scheduler": "mq-deadline", "drive_depth": 1},
        },
        about="drive queue",
    ),
)

"""Closed loops on one drive, run by the engine as a measuring program would make them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrate.arrays import Floats, Ints
from diskmodel.array import Array
from diskmodel.drive import Drive, DriveQueue, Hdd
from diskmodel.engine import Scenario, resolve
from diskmodel.engine.run import run
from diskmodel.host import Host
from diskmodel.records import Completions, Requests, StreamRule

#: Golden ratio: multiples of it, modulo 1, cover the revolution evenly however many there are.
_GOLDEN_RATIO = 0.618034


def start_angle(k: int) -> float:
    """Return the angle of the platter, in turns, at which the k-th run of a series starts."""
    return (_GOLDEN_RATIO * k) % 1.0


def scenario_of(drive: Drive, seed: int = 0) -> Scenario:
    """Return the drive alone as a scenario, up to its last block."""
    layout = {"level": "jbod", "disks": 1, "strip_bytes": drive.sector_bytes}
    return resolve(Array.parse({"drive": drive, "layout": layout}), seed)


def with_queue(drive: Hdd, queue: DriveQueue) -> Hdd:
    """Return the drive with another queue."""
    return drive.model_copy(update={"queue": queue.to_dict()})


def behind(scenario: Scenario, host_ns: float) -> Scenario:
    """Return the scenario behind one processor that takes `host_ns` for each request (rule H1)."""
    return replace(scenario, host=Host(submission_ns=round(host_ns))) if host_ns else scenario


def closed_loop(
    scenario: Scenario,
    offset: Ints,
    length: Ints | int,
    queue_depth: int,
    *,
    op: Ints | int = 0,
    start_ns: int = 0,
    think_ns: Ints | int = 0,
) -> Completions:
    """Return the completions of requests issued in order, with `queue_depth` outstanding.

    The program starts at `start_ns` of the spindle's clock, and times count from there. A request is issued `think_ns`
    after the completion that made room for it.
    """
    turned = scenario
    if scenario.drive.has_arms:
        turned = replace(scenario, phase_ns=(scenario.phase_ns + start_ns) % scenario.revolution_ns)
    return run(turned, loop_of(offset, length, queue_depth, op=op, think_ns=think_ns)).completions


def loop_of(
    offset: Ints, length: Ints | int, queue_depth: int, *, op: Ints | int = 0, think_ns: Ints | int = 0
) -> Requests:
    """Return the requests of `closed_loop`."""
    n = len(offset)
    return Requests(
        when_ns=np.full(n, think_ns, np.int64),
        op=np.full(n, op, np.uint8),
        offset=np.ascontiguousarray(offset, np.int64),
        length=np.full(n, length, np.int64),
        stream=np.zeros(n, np.int32),
        cache_draw=np.ones(n),
        streams=(StreamRule("closed", n_clients=queue_depth),),
    )


def random_reads(scenario: Scenario, *, length: int, queue_depth: int, n: int, seed: int, span_bytes: int) -> Floats:
    """Return responses in ns of uniform random reads, in order of completion, without the first ones."""
    rng = np.random.default_rng(seed)
    offset = rng.integers(0, span_bytes // length, n) * length
    done = closed_loop(scenario, offset, length, queue_depth)
    order = np.argsort(done.done_ns, kind="stable")
    return np.asarray((done.done_ns - done.issue_ns)[order][min(4 * queue_depth, n // 4) :], np.float64)


def mean_response(scenario: Scenario, *, length: int, queue_depth: int, n: int, seed: int, span_bytes: int) -> float:
    """Return the mean response in ns, queue depth by throughput, without start and drain."""
    rng = np.random.default_rng(seed)
    offset = rng.integers(0, span_bytes // length, n) * length
    done = np.sort(closed_loop(scenario, offset, length, queue_depth).done_ns)
    first, last = n // 20, n - queue_depth
    return float(done[last] - done[first]) * queue_depth / (last - first)

"""A drive of a cluster as a station: what its own model does alone, under the loads that a daemon gives it.

A station in a network of others is replaced by one that completes as many requests with as many in it (flow-equivalent
server): the drive is simulated on its own, and its times are used here.

References
----------
K. M. Chandy, U. Herzog, L. Woo, *Parametric analysis of queuing networks*, IBM J. Res. Dev. 19 (1975) 36.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import outcome
from diskmodel.loading import dataclass
from diskmodel.records import Int64
from diskmodel.workload import Workload

#: Sizes at which a drive is tried, bytes; times of others lie on the line through both.
_SMALL, _LARGE = 4096, 65_536
#: Requests of a trial, and outstanding ones that keep all of a flash drive busy.
_N, _MANY = 1500, 256
#: Outstanding requests at which an arm's rate is tried.
_DEPTHS = (1, 2, 4, 8, 16, 32)
#: Values of a table of equally likely times.
_N_TIMES = 256


@dataclass(frozen=True)
class Times:
    """Equally likely times of a request of 4 KiB that meets no other, and how they grow with its size.

    Attributes
    ----------
    ns : tuple of int, ascending
    byte_ns : float
        More for each byte beyond 4 KiB.
    """

    ns: tuple[int, ...]
    byte_ns: float = 0.0

    @property
    def mean_ns(self) -> float:
        """Mean time of 4 KiB."""
        return sum(self.ns) / len(self.ns)


@dataclass(frozen=True)
class Member:
    """A drive as a station of several servers.

    Attributes
    ----------
    servers : int
        Requests that it works on at a time: dies of flash, one arm.
    reads, writes : Times
        Until the answer; a write is then in a buffer.
    read_rates, write_rates : tuple of float
        Of an arm: requests per second with as many outstanding as `depths` says; empty of flash.
    depths : tuple of int
    write_work_ns : float
        What a write of 4 KiB takes of one server before the next can follow, garbage collection included.
    write_byte_ns : float
        The same for each byte more.
    read_bytes_per_s, write_bytes_per_s : float
        Of long requests.
    commit : Times
        A write of 4 KiB in order that is safe from a power cut, with the flush.
    flush_ns : float
        What a flush takes beside the write.
    """

    servers: int
    reads: Times
    writes: Times
    read_rates: tuple[float, ...]
    write_rates: tuple[float, ...]
    depths: tuple[int, ...]
    write_work_ns: float
    write_byte_ns: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    commit: Times
    flush_ns: float

    @property
    def has_arm(self) -> bool:
        """Whether one arm serves all requests."""
        return bool(self.read_rates)


def member_of(drive: Any) -> Member:
    """Return the station that stands for a drive."""
    return _member(drive.model_dump_json(), drive.kind)


@lru_cache(maxsize=64)
def _member(described: str, kind: str) -> Member:
    from diskmodel.drive.parse import KINDS

    drive = KINDS[kind].model_validate_json(described)
    array = Array(drive, "jbod", 1)
    reads, _ = _tried(array, 1, 1.0, _SMALL)
    _, long_rate = _tried(array, _MANY if not drive.has_arms else 4, 1.0, _LARGE, in_order=drive.has_arms)
    alone_long, _ = _tried(array, 1, 1.0, _LARGE)
    writes, _ = _tried(array, 1, 0.0, _SMALL)
    long_writes, _ = _tried(array, 1, 0.0, _LARGE)
    _, long_write_rate = _tried(array, 32, 0.0, _LARGE, in_order=True)
    sync = "fdatasync" if drive.is_flushed else "none"
    commits, _ = _tried(array, 1, 0.0, _SMALL, in_order=True, sync=sync)
    span = _LARGE - _SMALL
    read_times = Times(_table(reads), max(float(alone_long.mean() - reads.mean()) / span, 0.0))
    write_times = Times(_table(writes), max(float(long_writes.mean() - writes.mean()) / span, 0.0))
    commit_times = Times(_table(commits), write_times.byte_ns)
    flush_ns = max(float(commits.mean() - writes.mean()), 0.0)
    rates = {"read_bytes_per_s": long_rate * _LARGE, "write_bytes_per_s": long_write_rate * _LARGE}
    if drive.has_arms:
        read_rates = tuple(_tried(array, depth, 1.0, _SMALL, n=400)[1] for depth in _DEPTHS)
        write_rates = tuple(_tried(array, depth, 0.0, _SMALL, n=400)[1] for depth in _DEPTHS)
        return Member(
            1, read_times, write_times, read_rates, write_rates, _DEPTHS, 1e9 / write_rates[-1], 0.0,
            commit=commit_times, flush_ns=flush_ns, **rates,
        )  # fmt: skip
    _, most = _tried(array, _MANY, 1.0, _SMALL)
    _, most_writes = _tried(array, _MANY, 0.0, _SMALL, n=4 * _N)
    servers = max(round(most * read_times.mean_ns / 1e9), 1)
    work_ns = servers * 1e9 / most_writes
    return Member(
        servers, read_times, write_times, (), (), (), work_ns, work_ns / _SMALL,
        commit=commit_times, flush_ns=flush_ns, **rates,
    )  # fmt: skip


def _tried(
    array: Array,
    outstanding: int,
    read_ratio: float,
    size: int,
    *,
    in_order: bool = False,
    sync: str = "none",
    n: int = _N,
) -> tuple[Int64, float]:
    """Return the response times of a load on one drive, and its rate per second, without the first third."""
    load: dict[str, Any] = {"size": f"{size} B", "read_ratio": read_ratio, "clients": outstanding, "sync": sync}
    if in_order:
        load["addresses"] = {"pattern": "sequential"}
    requests, run = outcome(array, Workload.parse(load), n_requests=max(n, 4 * outstanding), seed=1)
    done = run.completions
    order = np.argsort(done.done_ns, kind="stable")[len(requests) // 3 :]
    ends = done.done_ns[order]
    rate = (len(ends) - 1) * 1e9 / max(int(ends[-1] - ends[0]), 1)
    return (done.done_ns - done.issue_ns)[order], rate


def _table(values: Int64) -> tuple[int, ...]:
    at = (np.arange(_N_TIMES) + 0.5) / _N_TIMES
    return tuple(int(value) for value in np.quantile(values, at))


def scaled(member: Member, reads: float, writes: float) -> Member:
    """Return a drive whose reads and writes take other times, by factors."""

    def times(old: Times, factor: float) -> Times:
        return Times(tuple(round(ns * factor) for ns in old.ns), old.byte_ns * factor)

    def rates(old: Sequence[float], factor: float) -> tuple[float, ...]:
        return tuple(rate / factor for rate in old)

    return Member(
        member.servers,
        times(member.reads, reads),
        times(member.writes, writes),
        rates(member.read_rates, reads),
        rates(member.write_rates, writes),
        member.depths,
        member.write_work_ns * writes,
        member.write_byte_ns * writes,
        member.read_bytes_per_s / reads,
        member.write_bytes_per_s / writes,
        times(member.commit, writes),
        member.flush_ns * writes,
    )

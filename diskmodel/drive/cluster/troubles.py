"""What may be wrong with a cluster, or other than it is described."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from diskmodel.drive.card import Trouble
from diskmodel.drive.perturbation import DrivePerturbation

if TYPE_CHECKING:
    from diskmodel.drive.cluster.description import ClusterPool


def _of_ceph(change: Callable[[ClusterPool, Any], ClusterPool | None]) -> Callable[[Any, Any], Any]:
    """Look for it in clusters of Ceph alone, whose commands show it."""
    return lambda pool, strength: change(pool, strength) if pool.software == "ceph" else None


def _failed(pool: ClusterPool, _: None) -> ClusterPool | None:
    broken = pool.broken()
    return None if broken is None else broken.model_copy(update={"recovers": False})


def _recovering(pool: ClusterPool, _: None) -> ClusterPool | None:
    broken = pool.broken()
    return broken if broken is not None and broken.recovers else None


def _slow_log(pool: ClusterPool, strength: tuple[float, float]) -> ClusterPool | None:
    """Have writes to the drive of RocksDB take a factor longer, or a time for each flush."""
    if pool.db is None:
        return None
    factor, flush_ns = strength
    slower = math.log(factor)
    log: Any = pool.db.perturbed(DrivePerturbation(write_latency=slower, flush=slower, write_rate=-slower))
    return pool.model_copy(update={"db": log.deviating("slow-flushes", flush_ns) if flush_ns else log})


def _unprotected(pool: ClusterPool, flush_ns: float) -> ClusterPool | None:
    """Have the drives take a time for each flush."""
    if pool.db is not None or not pool.is_safe_at_once:
        return None
    slow: Any = pool.drive.deviating("slow-flushes", flush_ns)
    return None if slow is None else pool.model_copy(update={"drive": slow})


def _unoptimized(pool: ClusterPool, _: None) -> ClusterPool | None:
    return None if pool.rocksdb_optimized is False else pool.model_copy(update={"rocksdb_optimized": False})


def _one_slow(pool: ClusterPool, factor: float) -> ClusterPool | None:
    return pool.model_copy(update={"slow_osd": factor}) if pool.slow_osd == 1 else None


TROUBLES = (
    Trouble(
        name="node-failed",
        title="a node of the cluster is down, and nothing is being copied",
        found="sometimes",
        fingerprint="writes wait for fewer copies, and the other nodes have its work: rates near a limit are lower",
        command="ceph status; ceph osd tree down",
        shows="degraded, undersized; OSDs that are down, and flags as noout that keep them in",
        change=_of_ceph(_failed),
        about="members",
    ),
    Trouble(
        name="node-recovering",
        title="what a failed node had is being copied (recovery, backfill)",
        found="often",
        fingerprint="the slowest requests are several times longer, and rates lower, for hours",
        command="ceph status; ceph config get osd osd_mclock_profile",
        shows="recovery: … MiB/s, recovering or backfilling groups, and the profile that limits them",
        change=_of_ceph(_recovering),
        about="members",
    ),
    Trouble(
        name="slow-log-drive",
        title="the drives of RocksDB and its log are slow: worn, too hot, or without power-loss protection",
        found="sometimes",
        fingerprint="every write takes longer by the same time, and reads are as expected",
        command="ceph osd perf; iostat -x 5 3; smartctl -x /dev/nvmeX",
        shows="commit latency of all OSDs above one drive; w_await of that drive; its wear and temperature",
        change=_of_ceph(_slow_log),
        strengths={
            **{f"{factor} times slower": (float(factor), 0.0) for factor in (4, 16, 64)},
            **{f"{ms} ms a flush": (1.0, ms * 1e6) for ms in (1, 3, 10)},
        },
        about="flush",
    ),
    Trouble(
        name="commits-unprotected",
        title="the drives of the OSDs take long to make writes safe: no capacitors (power-loss protection)",
        found="often",
        fingerprint="every write takes two flushes more, a few milliseconds, and reads are as expected",
        command="ceph osd perf; smartctl -i /dev/sdX",
        shows="commit latency of milliseconds; the model, and in its sheet power-loss protection",
        change=_of_ceph(_unprotected),
        strengths={f"{ms} ms a flush": ms * 1e6 for ms in (1, 3, 10)},
        about="flush",
    ),
    Trouble(
        name="rocksdb-unoptimized",
        title="the daemons' RocksDB was built without optimization (ceph.com, Ubuntu and Debian, before 2024)",
        found="seldom",
        fingerprint="small writes take more of the processors, and reach half to three quarters of the rate",
        command="ceph versions; ceph daemon osd.0 version; apt-cache policy ceph-osd",
        shows="where the packages come from, and their release; perf top -p PID: rocksdb among the first",
        change=_of_ceph(_unoptimized),
        about="build",
    ),
    Trouble(
        name="one-slow-osd",
        title="one OSD is slower than the others: a worn or failing drive",
        found="often",
        fingerprint="the slowest requests are many times longer, writes more than reads; in the end all wait",
        command="ceph osd perf; ceph health detail",
        shows="one OSD with several times the commit and apply latency; slow ops of one OSD",
        change=_of_ceph(_one_slow),
        strengths={f"its drive {factor} times slower": float(factor) for factor in (4, 12, 40)},
        about="speed of one member",
    ),
)

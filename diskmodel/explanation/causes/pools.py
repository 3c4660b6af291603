"""Causes in pools of OpenZFS, and in arrays that turn out to be one: what a random read takes, and passes over a pool.

A read takes its whole record, and all data disks of the vdev that has it (rules X1 to X5). A scrub or a resilver goes
through what is stored, beside reads and writes.
"""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import OFTEN, ONCE, SOMETIMES, Cause, Change, changed, on_array
from diskmodel.explanation.causes.members import HALFWAY, is_pool, may_fail
from diskmodel.layout import Layout
from diskmodel.uncertainty import AnyWorkload


def _other_record(array: Array, workload: AnyWorkload, record_bytes: int) -> Change | None:
    if not is_pool(array) or not workload.has_reads or array.layout.pool_record_bytes == record_bytes:
        return None
    return on_array(array, workload, layout=changed(array.layout, record_bytes=record_bytes))


def _wide(array: Array, workload: AnyWorkload, level: str | None) -> Change | None:
    layout = array.layout
    if not workload.has_reads or not layout.kind.is_redundant or layout.failed or layout.disks < 3:
        return None
    if level is None and layout.n_parity == 0:
        return None
    fields: dict[str, Any] = {"level": level or layout.level, "disks": layout.disks, "vdevs": 1}
    if is_pool(array):
        fields |= {"record_bytes": layout.record_bytes, "ashift": layout.ashift}
    elif level is None:
        return None
    wide = Layout.parse({key: value for key, value in fields.items() if value is not None})
    return None if wide == layout else on_array(array, workload, layout=wide)


def _scrubbed(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    if not is_pool(array) or not may_fail(array.layout):
        return None
    return on_array(array, workload, layout=changed(array.layout, rebuild={"action": "check", "done_ratio": HALFWAY}))


def _resilvered(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    layout = array.layout
    if not is_pool(array) or not may_fail(layout):
        return None
    if workload.has_writes and layout.n_groups > 1:
        return None  # a run of writes beside a resilver ends while they still fit into memory: it has no rate
    fields: dict[str, Any] = {"failed": (0,), "rebuild": {}, "spares": max(layout.spares, 1)}
    return on_array(array, workload, layout=changed(layout, **fields))


POOLS = (
    Cause(
        name="scrub-running",
        title="a scrub of the pool is running",
        prior=OFTEN,
        fingerprint="reads and writes wait for the scrub's on all disks, most of all where few are outstanding",
        change=_scrubbed,
        strengths=ONCE,
        about="members",
    ),
    Cause(
        name="resilver-running",
        title="a disk of the pool is being replaced: a resilver is running",
        prior=SOMETIMES,
        fingerprint="reads of one vdev go without a disk, and wait for the resilver's",
        change=_resilvered,
        strengths=ONCE,
        about="members",
    ),
    Cause(
        name="pool-record",
        title="the records of the pool have another size: a read takes all of its record",
        prior=OFTEN,
        fingerprint="reads of less than a record take as long as reads of all of it, and as many disks",
        change=_other_record,
        strengths={f"{kib} KiB": kib << 10 for kib in (8, 16, 32, 64, 128, 1024)},
        about="record",
        is_exact=True,
    ),
    Cause(
        name="raidz-width",
        title="all disks are in one RAID-Z: each read takes all data disks of its record",
        prior=SOMETIMES,
        fingerprint="random reads per second are hardly more than those of one disk, however many disks there are",
        change=_wide,
        strengths={"of the level described": None, "RAID-Z1": "raidz1", "RAID-Z2": "raidz2", "RAID-Z3": "raidz3"},
        about="layout",
        is_exact=True,
    ),
)

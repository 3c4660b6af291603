"""Causes in pools of OpenZFS, and in arrays that turn out to be one: what a random read takes there.

A read takes its whole record, and all data disks of the vdev that has it (rules X1 to X5). Writes of pools are not
modeled, so that these causes are only weighed where nothing but reads was measured.
"""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import OFTEN, SOMETIMES, Cause, Change, changed, on_array
from diskmodel.layout.description import Layout
from diskmodel.uncertainty.moved import AnyWorkload


def _has_records(array: Array) -> bool:
    return not array.layout.has_strips


def _other_record(array: Array, workload: AnyWorkload, record_bytes: int) -> Change | None:
    if not _has_records(array) or not workload.has_reads or array.layout.pool_record_bytes == record_bytes:
        return None
    return on_array(array, workload, layout=changed(array.layout, record_bytes=record_bytes))


def _wide(array: Array, workload: AnyWorkload, level: str | None) -> Change | None:
    layout = array.layout
    if not workload.has_reads or not layout.kind.is_redundant or layout.failed or layout.disks < 3:
        return None
    if level is None and layout.n_parity == 0:
        return None
    fields: dict[str, Any] = {"level": level or layout.level, "disks": layout.disks, "vdevs": 1}
    if _has_records(array):
        fields |= {"record_bytes": layout.record_bytes, "ashift": layout.ashift}
    elif level is None:
        return None
    wide = Layout.parse({key: value for key, value in fields.items() if value is not None})
    return None if wide == layout else on_array(array, workload, layout=wide)


POOLS = (
    Cause(
        name="pool-record",
        title="the records of the pool have another size: a read takes all of its record",
        prior=OFTEN,
        fingerprint="reads of less than a record take as long as reads of all of it, and as many disks",
        check="zfs get recordsize,volblocksize DATASET (of files written before a change, the old one)",
        change=_other_record,
        strengths={f"{kib} KiB": kib << 10 for kib in (8, 16, 32, 64, 128, 1024)},
        about="record",
    ),
    Cause(
        name="raidz-width",
        title="all disks are in one RAID-Z: each read takes all data disks of its record",
        prior=SOMETIMES,
        fingerprint="random reads per second are hardly more than those of one disk, however many disks there are",
        check="zpool status (disks below each raidz line); the same job over a pool of more and narrower vdevs",
        change=_wide,
        strengths={"of the level described": None, "RAID-Z1": "raidz1", "RAID-Z2": "raidz2", "RAID-Z3": "raidz3"},
        about="layout",
    ),
)

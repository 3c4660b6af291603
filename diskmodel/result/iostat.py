"""A run in the terms of `iostat -x`, disk by disk."""

from __future__ import annotations

from typing import Any

from diskmodel.records import Run


def iostat(run: Run) -> list[dict[str, Any]]:
    """One row for each disk with the columns of `iostat -x`, over the whole run.

    Returns
    -------
    list of dict
        r/s, w/s: commands per second; rkB/s, wkB/s: KiB per second, as iostat's kB are; rareq-sz, wareq-sz: mean size
        in KiB; aqu-sz: mean number of commands at the disk; await, r_await, w_await: mean time of a command, a read, a
        write at the disk in ms; %util: time in which the mechanism was held. Linux counts the time with any command
        outstanding, which is at least as much.
    """
    seconds = max(run.end_ns, 1) / 1e9
    return [_row(run, disk, seconds) for disk in range(len(run.devices.busy_ns))]


def _row(run: Run, disk: int, seconds: float) -> dict[str, Any]:
    d = run.devices
    n_reads, n_writes = int(d.n_reads[disk]), int(d.n_writes[disk])
    read_kib, write_kib = int(d.read_bytes[disk]) / 1024, int(d.write_bytes[disk]) / 1024
    response_ms = int(d.response_ns[disk]) / 1e6
    read_ms = int(d.read_response_ns[disk]) / 1e6
    return {
        "r/s": n_reads / seconds,
        "w/s": n_writes / seconds,
        "rkB/s": read_kib / seconds,
        "wkB/s": write_kib / seconds,
        "rareq-sz": read_kib / n_reads if n_reads else None,
        "wareq-sz": write_kib / n_writes if n_writes else None,
        "aqu-sz": response_ms / 1e3 / seconds,
        "await": response_ms / (n_reads + n_writes) if n_reads + n_writes else None,
        "r_await": read_ms / n_reads if n_reads else None,
        "w_await": (response_ms - read_ms) / n_writes if n_writes else None,
        "%util": 100 * int(d.busy_ns[disk]) / 1e9 / seconds,
    }

"""Recordings of iostat, sar and their like as measured loads: members compared, and the time before a step apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from diskmodel.array import Array
from diskmodel.errors import Fault, FormatError
from diskmodel.explanation.before import beside
from diskmodel.explanation.equals import Difference, differences, equals_of_devices, part_of, step_of
from diskmodel.explanation.measured import PARTS, SHAPE, Measured
from diskmodel.formats import DeviceLoad, Level, chosen_devices, from_recording, quantile_ns, read_sysstat, recorders
from diskmodel.formats.sysstat import KINDS as SYSSTAT
from diskmodel.workload import Workload

#: Typical rate of a recording: that of the busiest sample which half of the requests came in.
_TYPICAL = Level.of("50% of requests")
#: Requests in flight from which a recorded device counts as asked for as much as it could do.
_BUSY = 1.0
#: Volumes of Linux that lie on several disks.
_VOLUME = re.compile(r"(md\d+|md_\S+|dm-\d+|bcache\d+)\Z")


def of_recording(path: Path, kind: str, device: str | None, array: Array | None) -> Measured:
    """Return a recorded device: at a rate where it was seldom busy, else as many requests as were in flight.

    Of an array whose recording has its members, these are compared with each other. Where the recording has the volume
    on them, that is the measured load; else all members together are, or a typical one where members write more than
    the array was asked to.

    Raises
    ------
    FormatError
        Where several devices are busy and the array does not say which, or nothing has times of requests.
    """
    loads = read_sysstat(path, kind=kind) if kind in SYSSTAT else recorders.read_recording(path, kind)
    members = _members(loads, device, array, str(path))
    odd = differences(equals_of_devices(members)) if len(members) > 1 else []
    chosen, notes, is_of_member = _load_of(loads, members, device, array, str(path))
    names = ",".join(load.device.strip() for load in chosen)
    step = step_of(chosen)
    if step is None:
        measured = _measured(chosen, kind, path, notes, odd)
        return replace(measured, is_of_member=is_of_member)
    before, after = (
        _measured([part_of(load, part) for load in chosen], kind, path, [*notes, f"{names}: {step}"], odd)
        for part in (slice(0, step.at), slice(step.at, None))
    )
    return replace(beside(after, before), is_of_member=is_of_member)


def _members(loads: list[DeviceLoad], device: str | None, array: Array | None, source: str) -> list[DeviceLoad]:
    """Return the devices that should do the same: those that were named, or all disks where the array has as many."""
    if device is not None:
        return chosen_devices(loads, device, source)[0]
    if array is None or array.layout.disks < 2:
        return []
    try:
        busy, _ = chosen_devices(loads, "all", source)
    except FormatError:
        return []
    alike = [load for load in loads if load in busy or _form(load) == _form(busy[0])]
    return alike if len(alike) == array.layout.disks else busy


def _form(load: DeviceLoad) -> str:
    """Return what the names of disks like this one have in common: "sd" of sda, "nvme0n0" of nvme3n1."""
    return re.sub(r"[a-z]$", "", re.sub(r"\d+", "0", load.device.strip()))


def _load_of(
    loads: list[DeviceLoad], members: list[DeviceLoad], device: str | None, array: Array | None, source: str
) -> tuple[list[DeviceLoad], list[str], bool]:
    """Return the devices whose load is compared, notes, and whether they are one member of the array."""
    if device is not None or not members or array is None:
        chosen, notes = chosen_devices(loads, device, source)
        has_members = array is not None and len(chosen) == array.layout.disks > 1
        return _of_members(chosen, array, notes) if has_members and array is not None else (chosen, notes, False)
    volumes = [load for load in loads if _VOLUME.match(load.device.strip()) and np.nansum(load.ios_per_s) > 0]
    timed = [load for load in volumes if np.nansum(np.nan_to_num(load.await_ns)) > 0]
    names = ", ".join(load.device.strip() for load in members)
    if len(timed) == 1:
        return timed, [f"{names}: compared with each other, as the members of {timed[0].device.strip()}"], False
    if len(members) > array.layout.disks:
        fix = f"--device with its {array.layout.disks} members, of {names}"
        rule = f"must be named: {len(members)} disks are busy, and the array has {array.layout.disks}"
        raise FormatError(Fault("device", None, rule, fix), source)
    busy = [load for load in members if np.nansum(load.ios_per_s) > 0]
    return _of_members(busy, array, [f"{names}: taken as the members of the array"])


def _of_members(busy: list[DeviceLoad], array: Array, notes: list[str]) -> tuple[list[DeviceLoad], list[str], bool]:
    """Return the members' load: all of it, or that of a typical one where redundancy adds to what was asked for."""
    writes = sum(float(np.nansum(load.writes_per_s)) for load in busy)
    if not array.layout.kind.is_redundant or not writes:
        return busy, notes, False
    order = sorted(busy, key=lambda load: float(np.nansum(load.ios_per_s * np.nan_to_num(load.await_ns))))
    typical = order[(len(order) - 1) // 2]
    said = f"{typical.device.strip()} stands for all members: what they write is more than the array was asked to"
    return [typical], [*notes, said], True


def _measured(
    chosen: list[DeviceLoad], kind: str, path: Path, said: Sequence[str], odd: Sequence[Difference]
) -> Measured:
    device = ",".join(load.device.strip() for load in chosen)
    found = from_recording(chosen, device, kind, _TYPICAL, "all", str(path))
    workload = offered = Workload.parse(found.workload, str(path))
    figures = {f"{part}.mean": found.response_ns[part] for part in PARTS if part in found.response_ns}
    others = (stream for stream in workload.streams if stream.kind != "flushes")
    streams = {("reads" if stream.read_ratio else "writes"): stream for stream in others}
    for part in [part for part in PARTS if f"{part}.mean" in figures and part in found.responses]:
        shape = {name: quantile_ns(found.responses[part], level) for name, level in SHAPE.items()}
        figures |= {f"{part}.{name}": value for name, value in shape.items() if value is not None}
    if not figures and "all" in found.response_ns:
        figures = {f"{part}.mean": found.response_ns["all"] for part in streams}
    if not figures:
        fix = "record with iostat -x or sar -d, which print await"
        raise FormatError(Fault("results", str(path), "has rates but no times of requests to compare", fix))
    n_seconds = 60.0 * max(len(found.rates_per_s), 1)
    n = {part: stream.expected_rate_per_s * n_seconds for part, stream in streams.items() if f"{part}.mean" in figures}
    notes = [*said, *(note for note in found.notes if note not in said)]
    if found.outstanding is not None and found.outstanding >= _BUSY and _can_be_one(workload):
        depth = max(round(found.outstanding), len(streams))
        workload = _as_closed(workload, depth)
        figures["iops"] = found.mean_per_s or workload.offered_rate_per_s
        notes.append(f"{found.outstanding:.3g} requests were in flight on average: {depth} outstanding are compared")
    return Measured(path.name, workload, figures, n, tuple(notes), tuple(odd), offered=offered)


def _can_be_one(workload: Workload) -> bool:
    """Whether the streams can be put together to one that waits for its requests."""
    return all(stream.kind != "flushes" for stream in workload.streams)


def _as_closed(workload: Workload, depth: int) -> Workload:
    """Return the streams of a recording as one closed load with so many outstanding, in their mix."""
    rates = [stream.expected_rate_per_s for stream in workload.streams]
    sizes = [
        {"size_bytes": item.size_bytes, "weight": item.weight * rate}
        for stream, rate in zip(workload.streams, rates, strict=True)
        for item in stream.sizes
    ]
    reads = sum(stream.read_ratio * rate for stream, rate in zip(workload.streams, rates, strict=True))
    sync = next(({"sync": s.sync, "sync_every": s.sync_every} for s in workload.streams if s.sync != "none"), {})
    ratio = reads / sum(rates)
    return Workload.parse({"name": workload.name, "sizes": sizes, "read_ratio": ratio, "clients": depth, **sync})

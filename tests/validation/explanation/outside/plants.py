"""What is planted outside of the engine: faults by name, what each does to a box, and which arrays have them.

A fault is a function of a box of the small simulator and of how many times slower it should be. What comes of it is
written as fio's JSON, with fio's own options, and `explain` gets nothing else but the description of the sound array.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.validation.explanation.outside.simulator import Box, Disk, Flash, Load, run

_KIB = 1 << 10
#: Requests of each job.
REQUESTS = 3_000

#: What is measured of hard disks, and of flash.
OF_DISKS = (Load(8 * _KIB, 1), Load(8 * _KIB, 32), Load(8 * _KIB, 8, is_write=True), Load(_KIB * _KIB, 4, False, True))
OF_FLASH = (Load(4 * _KIB, 1), Load(4 * _KIB, 32), Load(4 * _KIB, 4, is_write=True), Load(_KIB * _KIB, 8, False, True))


@dataclass(frozen=True)
class Subject:
    """A sound array: in words, as a box, and what is asked of it."""

    words: str
    box: Callable[[], Box]
    loads: tuple[Load, ...]


SUBJECTS: dict[str, Subject] = {
    "disk": Subject("generic-7k2", lambda: Box([Disk()]), OF_DISKS),
    "mirror": Subject("2x generic-7k2 raid1", lambda: Box([Disk(), Disk()], "mirrors"), OF_DISKS),
    "raid10": Subject("6x generic-7k2 raid10", lambda: Box([Disk() for _ in range(6)], "mirrors"), OF_DISKS),
    "raid6": Subject("8x generic-7k2 raid6", lambda: Box([Disk() for _ in range(8)], "parity", 2), OF_DISKS),
    "ssd": Subject("samsung-pm893-960", lambda: Box([Flash()]), OF_FLASH),
    "nvme": Subject(
        "samsung-pm9a3-7680",
        lambda: Box([Flash(75e-6, 15e-6, 72, 6.5e9, 3.5e9, 800e6)]),
        OF_FLASH,
    ),
}


def _members(box: Box, change: Callable[[Disk | Flash], None]) -> None:
    for member in box.members:
        change(member)


def _one_slow(box: Box, factor: float) -> None:
    box.members[len(box.members) // 2].slow = factor


def _all_slow(box: Box, factor: float) -> None:
    _members(box, lambda member: setattr(member, "slow", factor))


def _no_order(box: Box, factor: float) -> None:
    _members(box, lambda member: setattr(member, "is_ordering", False))


def _retries(box: Box, factor: float) -> None:
    _members(box, lambda member: setattr(member, "retries", 0.02 * factor))


def _link(box: Box, factor: float) -> None:
    for member in box.members:
        member.bytes_per_s /= factor


def _exhausted(box: Box, factor: float) -> None:
    for member in box.members:
        assert isinstance(member, Flash)
        member.program_bytes_per_s /= factor
        member.random_bytes_per_s /= factor
        member.program *= factor


def _channels(box: Box, factor: float) -> None:
    for member in box.members:
        assert isinstance(member, Flash)
        member.channels = max(int(member.channels / factor), 1)


def _tokens(box: Box, factor: float) -> None:
    box.tokens_per_s, box.burst = _rate_of(box) / factor, 50.0


def _slices(box: Box, factor: float) -> None:
    box.tokens_per_s, box.slice = _rate_of(box) / factor, 0.02


def _wire(box: Box, factor: float) -> None:
    box.bytes_per_s = _throughput_of(box) / factor


def _delay(box: Box, factor: float) -> None:
    box.delay = _alone(box) * (factor - 1)


def _processor(box: Box, factor: float) -> None:
    box.processor = factor / _rate_of(box)


def _inside(box: Box, factor: float) -> None:
    box.most_inside = max(round(32 / factor**2), 1)


def _others(box: Box, factor: float) -> None:
    box.others = round(8 * factor)


def _pieces(box: Box, factor: float) -> None:
    box.pieces = 2.0


def _failed(box: Box, factor: float) -> None:
    box.failed = (1,)


def _hits(box: Box, factor: float) -> None:
    box.hits = 1 - 1 / (factor + 1)


def _asked(load: Load, box: Box) -> tuple[float, list[float]]:
    return run(box, load, 900, 1)


def _rate_of(box: Box) -> float:
    """Return what a box does with 32 requests outstanding: limits are below it."""
    return _asked(Load(8 * _KIB, 32), box)[0]


def _throughput_of(box: Box) -> float:
    return _asked(Load(_KIB * _KIB, 8, False, True), box)[0] * _KIB * _KIB


def _alone(box: Box) -> float:
    return 1 / _asked(Load(8 * _KIB, 1), box)[0]


@dataclass(frozen=True)
class Fault:
    """One kind: what it does, the causes that are right for it, and the arrays that have it."""

    does: Callable[[Box, float], None]
    right: tuple[str, ...]
    subjects: tuple[str, ...]
    factors: tuple[float, ...] = (1.5, 2.0, 4.0)


FAULTS: dict[str, Fault] = {
    "one member slow": Fault(_one_slow, ("one-slow-disk",), ("raid6", "raid10", "mirror"), (2.0, 4.0, 8.0)),
    "all accesses slow": Fault(_all_slow, ("thermal-throttling",), ("ssd", "nvme")),
    "no command queuing": Fault(_no_order, ("ncq-off",), ("disk", "raid6"), (2.0,)),
    "retries": Fault(_retries, ("vibration", "one-disk-retries", "long-retries"), ("disk", "raid6"), (2.0, 4.0)),
    "slow link": Fault(_link, ("slow-link", "slow-sata-link", "pcie-link", "bandwidth-limit"), ("ssd", "nvme")),
    "cache of writes used up": Fault(_exhausted, ("slc-exhausted", "flash-full"), ("ssd", "nvme"), (2.0, 4.0, 8.0)),
    "bucket of tokens": Fault(_tokens, ("rate-limit", "token-bucket"), ("ssd", "raid6", "nvme")),
    "tokens in slices": Fault(_slices, ("token-bucket", "rate-limit"), ("ssd", "raid6", "nvme")),
    "shared wire": Fault(_wire, ("bandwidth-limit", "slow-network"), ("raid6", "ssd", "raid10")),
    "delay before it": Fault(_delay, ("added-latency",), ("ssd", "nvme", "raid6"), (2.0, 4.0)),
    "one processor": Fault(_processor, ("host-processor", "md-lock", "rate-limit"), ("nvme", "ssd")),
    "few inside": Fault(_inside, ("few-at-once", "depth-lost", "ncq-off"), ("raid6", "raid10", "nvme"), (2.0, 4.0)),
    "others beside it": Fault(_others, ("other-load", "resync-running"), ("disk", "raid6", "ssd"), (1.0, 2.0, 4.0)),
    "in pieces": Fault(_pieces, ("fragmented",), ("disk", "raid10"), (2.0,)),
    "a member failed": Fault(_failed, ("member-failed",), ("raid6", "raid10"), (2.0,)),
    "hits of a cache": Fault(_hits, ("cache-hits",), ("disk", "raid6", "ssd"), (1.5, 4.0)),
}


@dataclass(frozen=True)
class Planted:
    """One case."""

    fault: str
    subject: str
    factor: float

    @property
    def name(self) -> str:
        return f"{self.fault}, {self.subject}, {self.factor:g}"


def planted() -> list[Planted]:
    """Return all cases."""
    return [
        Planted(name, subject, factor)
        for name, fault in FAULTS.items()
        for subject in fault.subjects
        for factor in fault.factors
    ]


def measure(path: Path, subject: str, fault: str = "", factor: float = 1.0, seed: int = 1) -> Path:
    """Write what fio measures of an array with a fault; without one, of a sound array."""
    own = SUBJECTS[subject]
    jobs = []
    for at, load in enumerate(own.loads):
        box = own.box()
        if fault:
            FAULTS[fault].does(box, factor)
            for member in box.members:
                member.queue.clear()
            box = _fresh(box, own)
        rate, times = run(box, load, REQUESTS, seed + at)
        jobs.append(_job(load, rate, times, at))
    path.write_text(json.dumps({"fio version": "fio-3.33", "jobs": jobs}), encoding="utf-8")
    return path


def _fresh(box: Box, subject: Subject) -> Box:
    """Return a box with the settings of another one whose members were used to find them."""
    new = subject.box()
    for member, old in zip(new.members, box.members, strict=True):
        for name in vars(member):
            if name not in ("queue", "place", "is_busy", "inside", "link_free", "media_free"):
                setattr(member, name, getattr(old, name))
    for name in vars(new):
        if name != "members":
            setattr(new, name, getattr(box, name))
    return new


def _job(load: Load, rate: float, times: list[float], group: int) -> dict[str, object]:
    pattern = ("" if load.is_sequential else "rand") + ("write" if load.is_write else "read")
    mean = load.depth / rate * 1e9
    marks = {f"{100 * level:.6f}": round(times[int(level * len(times))] * 1e9) for level in (0.5, 0.95, 0.99)}
    seconds = len(times) / rate
    figures = {
        "total_ios": len(times),
        "io_bytes": round(len(times) * load.size),
        "runtime": round(seconds * 1e3),
        "iops": rate,
        "bw_bytes": rate * load.size,
        "lat_ns": {"min": times[0] * 1e9, "max": times[-1] * 1e9, "mean": mean, "stddev": 0.0, "N": len(times)},
        "clat_ns": {
            "min": times[0] * 1e9,
            "max": times[-1] * 1e9,
            "mean": mean,
            "stddev": 0.0,
            "N": len(times),
            "percentile": marks,
        },
    }
    name = f"{pattern}-{load.size / _KIB:.0f}k-{load.depth}"
    options = {
        "rw": pattern,
        "bs": f"{load.size / _KIB:.0f}k",
        "iodepth": str(load.depth),
        "ioengine": "libaio",
        "direct": "1",
        "filename": "/dev/md0",
        "stonewall": "1",
    }
    return {
        "jobname": name,
        "groupid": group,
        "error": 0,
        "job options": options,
        "write" if load.is_write else "read": figures,
    }

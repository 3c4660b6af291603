"""What is planted outside of the engine: faults by name, what each does to a box, and which arrays have them.

A fault is a function of a box and of a strength. The strength is chosen so that the load that suffers most loses a
factor that was drawn (`cases`); a fault without strengths has the one that it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.validation.explanation.outside.drives import Disk, Flash
from tests.validation.explanation.outside.simulator import Box

Does = Callable[[Box, float], None]


def _set(**fields: Any) -> Does:
    """Return what sets fields of the box: to the strength where one is None."""

    def does(box: Box, strength: float) -> None:
        for name, value in fields.items():
            setattr(box, name, strength if value is None else value)

    return does


def _each(change: Callable[[Any, float], None], kind: type = object) -> Does:
    def does(box: Box, strength: float) -> None:
        for member in box.members:
            if isinstance(member, kind):
                change(member, strength)

    return does


def _field(name: str, by: str = "=") -> Callable[[Any, float], None]:
    def change(member: Any, strength: float) -> None:
        old = getattr(member, name)
        setattr(member, name, old * strength if by == "*" else strength)

    return change


def _one(change: Callable[[Any, float], None]) -> Does:
    def does(box: Box, strength: float) -> None:
        change(box.members[len(box.members) // 2], strength)

    return does


def _weak(member: Any, strength: float) -> None:
    member.retries, member.turns = strength, (15, 30, 60)


def _vibrates(member: Any, strength: float) -> None:
    member.retries, member.turns = strength, (1, 1, 2)


def _exhausted(member: Flash, strength: float) -> None:
    member.program_bytes_per_s /= strength
    member.random_bytes_per_s /= strength
    member.program *= strength


def _cleaning(member: Flash, strength: float) -> None:
    member.random_bytes_per_s /= strength


def _unprotected(member: Any, strength: float) -> None:
    member.flush = strength


def _flushes(box: Box, strength: float) -> None:
    box.is_flushed = True
    for member in box.members:
        if isinstance(member, Flash):
            member.flush = 1.2e-3
        else:
            member.is_cached = False


def _journal(box: Box, strength: float) -> None:
    _flushes(box, strength)
    box.journal = 2


def _other_record(box: Box, strength: float) -> None:
    # more than the record that was described; a disk in a RAID-Z then reads its part of it
    box.record = max(box.record, 16384) * 8


def _records(box: Box, strength: float) -> None:
    # records, and what is read ahead, are powers of two
    box.least = 2.0 ** round(math.log2(strength))


def _wide(box: Box, strength: float) -> None:
    box.width = len(box.members)


def _rebuilding(box: Box, strength: float) -> None:
    box.failed, box.pass_bytes_per_s = (0,), strength


def _per_second(box: Box, strength: float) -> None:
    box.tokens_per_s, box.burst = 1e6 / strength, 50.0


def _in_slices(box: Box, strength: float) -> None:
    # a cgroup's slices: of flash a fiftieth of a second, of disks a tenth
    is_flash = isinstance(box.members[0], Flash)
    box.tokens_per_s, box.slice = 1e6 / strength, 0.02 if is_flash else 0.1


def _bytes(box: Box, strength: float) -> None:
    box.token_bytes_per_s = 2e10 / strength


def _wire(box: Box, strength: float) -> None:
    box.bytes_per_s = 2e10 / strength


def _lanes(member: Flash, strength: float) -> None:
    member.bytes_per_s /= strength


def _inside(box: Box, strength: float) -> None:
    box.most_inside = max(round(32 / strength), 1)


def _clients(box: Box, strength: float) -> None:
    box.most_clients = max(round(32 / strength), 1)


def _others(box: Box, strength: float) -> None:
    box.others = max(round(strength), 1)


def _network(box: Box, strength: float) -> None:
    box.delay, box.jitter = strength, 0.5


@dataclass(frozen=True)
class Fault:
    """One kind.

    Attributes
    ----------
    does : callable
    right : tuple of str
        The causes that say it.
    subjects : tuple of str
        Names of arrays that may have it.
    strengths : (float, float) or None
        The weakest and the strongest, in the order of what is lost; None: it is there or not.
    is_held_out : bool
        Whether it was planted only after all that was mended.
    """

    does: Does
    right: tuple[str, ...]
    subjects: tuple[str, ...]
    strengths: tuple[float, float] | None = None
    is_held_out: bool = False


_DISKS = ("disk", "mirror", "raid10", "raid6", "raid5")
_ARRAYS = ("mirror", "raid10", "raid6", "raid5")
_FLASH = ("ssd", "nvme", "ssds", "nvmes")
_POOLS = ("raidz", "pool")
_LIMITS = ("rate-limit", "token-bucket")

FAULTS: dict[str, Fault] = {
    # drives
    "one member slow": Fault(_one(_field("slow")), ("one-slow-disk",), (*_ARRAYS, *_POOLS), (1.1, 40.0)),
    "one member repeats": Fault(_one(_weak), ("one-disk-retries", "long-retries"), (*_ARRAYS, *_POOLS), (0.005, 0.8)),
    "weak surfaces": Fault(_each(_weak), ("long-retries", "vibration", "one-disk-retries"), _DISKS, (0.003, 0.5)),
    "vibration": Fault(_each(_vibrates), ("vibration",), (*_DISKS, *_POOLS), (0.1, 0.98), is_held_out=True),
    "no command queuing": Fault(_each(_field("is_ordering"), Disk), ("ncq-off",), _DISKS),
    "no buffer for writes": Fault(
        _each(_field("is_cached"), Disk), ("drive-write-cache-off",), ("disk", "mirror", "raid6")
    ),
    "no look-ahead": Fault(_each(_field("reads_ahead"), Disk), ("look-ahead-off",), _DISKS, None, True),
    "parts of sectors": Fault(
        _each(_field("turns_of_writes"), Disk), ("emulated-sectors",), ("disk", "raid10", "raid5", "mirror"), (0.9, 1.1)
    ),
    "shingled": Fault(_each(_field("band"), Disk), ("shingled",), ("disk", "mirror"), (0.01, 0.8)),
    "throttled": Fault(_each(_field("slow"), Flash), ("thermal-throttling",), _FLASH, (1.05, 30.0)),
    "fewer lanes": Fault(
        _each(_lanes, Flash), ("pcie-link", "bandwidth-limit", "slow-network"), ("nvme", "nvmes"), (1.1, 30.0)
    ),
    "an older SATA": Fault(
        _each(_lanes, Flash), ("slow-sata-link", "bandwidth-limit", "slow-network"), ("ssd", "ssds"), (1.1, 8.0)
    ),
    "cache of writes used up": Fault(_each(_exhausted, Flash), ("slc-exhausted", "flash-full"), _FLASH, (1.1, 40.0)),
    "little space to clean": Fault(_each(_cleaning, Flash), ("flash-full", "slc-exhausted"), _FLASH, (1.1, 40.0), True),
    "flushes": Fault(
        _flushes,
        ("flushes", "journal-commits", "slow-flushes"),
        ("ssd", "nvme", "disk", "ssds"),
    ),
    "a journal": Fault(_journal, ("journal-commits", "flushes"), ("ssd", "disk", "raid6"), None, True),
    # arrays
    "a member failed": Fault(_set(failed=(1,)), ("member-failed",), ("raid6", "raid5", "mirror", "raid10")),
    "a check": Fault(
        _set(pass_bytes_per_s=None), ("resync-running", "other-load", "rebuild-running"), ("raid6", "raid5"), (5e6, 3e8)
    ),
    "a rebuild": Fault(
        _rebuilding, ("rebuild-running", "member-failed"), ("raid6", "raid5", "mirror"), (5e6, 3e8), is_held_out=True
    ),
    "one member works": Fault(_set(is_one=True), ("one-disk-works",), ("raid10", "nvmes", "ssds")),
    "bits before writes": Fault(_set(bits=None), ("write-intent-bitmap",), ("raid6", "raid10", "raid5"), (0.02, 1.0)),
    "beside the borders": Fault(_set(beside=1.0), ("misaligned",), ("raid10", "raid6", "raid5"), None, True),
    # pools
    "larger records in the pool": Fault(_other_record, ("pool-record", "larger-records"), _POOLS),
    "one wide RAID-Z": Fault(_wide, ("raidz-width",), ("raidz",)),
    "a scrub": Fault(
        _set(pass_bytes_per_s=None), ("scrub-running", "other-load", "resilver-running"), _POOLS, (5e6, 3e8)
    ),
    # the way to them
    "bucket of tokens": Fault(_per_second, _LIMITS, ("disk", "raid6", "pool", *_FLASH, "volume"), (1.0, 5e4)),
    "tokens in slices": Fault(_in_slices, _LIMITS, ("raid6", *_FLASH, "volume", "raidz"), (1.0, 5e4)),
    "bucket of bytes": Fault(
        _bytes, ("bandwidth-limit", "slow-network"), ("raid6", "raid10", *_FLASH, "volume"), (1.0, 2e4)
    ),
    "a slow wire": Fault(_wire, ("bandwidth-limit", "slow-network"), ("raid6", "raid10", "raidz", *_FLASH), (1.0, 2e4)),
    "a longer way": Fault(_set(delay=None), ("added-latency",), (*_FLASH, "volume", "raid6", "pool"), (1e-5, 0.3)),
    "a network": Fault(_network, ("added-latency",), (*_FLASH, "volume", "raid10"), (1e-5, 0.3), is_held_out=True),
    "one processor": Fault(
        _set(processor=None), ("host-processor", "md-lock", *_LIMITS), ("ssd", "nvme", "ssds", "nvmes"), (1e-6, 1e-2)
    ),
    "few inside": Fault(
        _inside, ("few-at-once", "depth-lost", "ncq-off"), ("raid6", "raid10", "raidz", *_FLASH), (1, 32)
    ),
    "few asked for": Fault(
        _clients, ("depth-lost", "few-at-once"), ("raid6", "disk", "pool", *_FLASH, "volume"), (1, 32), is_held_out=True
    ),
    "others beside it": Fault(
        _others,
        ("other-load", "resync-running", "several-readers"),
        ("disk", "raid6", "raid5", "pool", *_FLASH),
        (1, 400),
    ),
    "in pieces": Fault(_set(pieces=1.2), ("fragmented", "several-readers"), ("disk", "mirror", "raid10", "raid5")),
    "more than asked for": Fault(_records, ("larger-records", "pool-record"), ("disk", "raid10", *_FLASH), (2e4, 4e6)),
    "copies of chunks": Fault(
        _set(chunk=None), ("thin-unmapped",), ("raid6", "raid10", "ssd", "nvme", "ssds"), (1e4, 4e6)
    ),
    "hits of a cache": Fault(_set(hits=None), ("cache-hits",), ("disk", "raid6", "pool", "ssd", "raidz"), (0.1, 0.98)),
}

"""Causes inside the drives."""

from __future__ import annotations

import math
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.explanation.causes.cause import (
    OFTEN,
    ONCE,
    SELDOM,
    SOMETIMES,
    Cause,
    Change,
    Law,
    Scale,
    changed,
    is_sequential,
    numbers,
    on_array,
)
from diskmodel.explanation.causes.checks import is_nvme
from diskmodel.explanation.causes.members import is_pool
from diskmodel.explanation.causes.paths import limited_to
from diskmodel.explanation.causes.repeats import REPEATED, REPEATS, repeating
from diskmodel.explanation.causes.uneven import touched_members
from diskmodel.explanation.measured import Measured
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits
from diskmodel.workload import Workload


def _deviating(array: Array, workload: AnyWorkload, name: str, strength: Any = None) -> Change | None:
    """Return the change to drives that deviate so (`Card.deviating`); None where such drives cannot, or do already."""
    drive = array.drive.deviating(name, strength)
    return None if drive is None else on_array(array, workload, drive=drive)


def _write_cache(is_on: bool) -> Any:
    def change(array: Array, workload: AnyWorkload, _: None) -> Change | None:
        is_cached = array.drive.is_write_back
        if not is_cached or array.has_drive_write_cache == is_on or not workload.has_writes:
            return None
        return on_array(array, workload, drive_write_cache=is_on)

    return change


def _one_at_a_time(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    """Return the change to drives that have one command at a time: Linux makes one of what lies behind each other."""
    is_merged = is_sequential(workload) and array.drive.has_arms and not array.is_hardware and not is_pool(array)
    if is_merged and array.drive.deviating("one-at-a-time") is not None:
        return on_array(array, workload, queue=changed(array.queue, scheduler="mq-deadline", drive_depth=1))
    return _deviating(array, workload, "one-at-a-time")


#: Part of a revolution that a read in order loses which comes too late for its place.
_LATE = 0.9


def _without_look_ahead(array: Array, workload: AnyWorkload, is_always: bool) -> Change | None:
    """Return reads in order without look-ahead: each one that comes late waits for its place, or each one does so.

    A disk that has the next request already may go on without a gap, or be too late for it all the same.
    """
    if not is_sequential(workload) or not workload.has_reads:
        return None
    change = _deviating(array, workload, "without-look-ahead")
    turn_ns = array.drive.period_ns
    if change is None or turn_ns is None or not is_always:
        return change
    late_s = _LATE * turn_ns / 1e9
    each_s = late_s * touched_members(array, workload, is_write=False) / array.layout.disks

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        if not measured.is_closed:
            return figures
        # a client waits for its own requests, and members for all of them
        alone = workload.queue_depth / (workload.queue_depth / figures["iops"] + late_s)
        return limited_to(min(alone, 1 / (1 / figures["iops"] + each_s)))(figures, measured)

    return Change(array, workload, law)


def _of_writes(name: str) -> Any:
    """Return the change to drives that deviate so, which only writes see."""

    def change(array: Array, workload: AnyWorkload, strength: Any) -> Change | None:
        return _deviating(array, workload, name, strength) if workload.has_writes else None

    return change


def _retrying(array: Array, workload: AnyWorkload, ratio: float) -> Change | None:
    return _repeated(array, workload, (ratio, 1))


def _repeated(array: Array, workload: AnyWorkload, strength: tuple[float, float]) -> Change | None:
    """Return the change to drives that repeat accesses; of reads in order to what they read ahead as well."""
    if not is_sequential(workload) or not workload.has_reads:
        return _deviating(array, workload, "retrying", strength)
    law = repeating(array, workload, strength, is_one=False)
    return None if law is None else Change(array, workload, law)


def _throttled(array: Array, workload: AnyWorkload, factor: float) -> Change | None:
    return _deviating(array, workload, "throttled", factor)


def _slow_flushes(array: Array, workload: AnyWorkload, flush_ns: float) -> Change | None:
    is_flushed = isinstance(workload, Workload) and workload.has_syncs
    return _deviating(array, workload, "slow-flushes", flush_ns) if is_flushed else None


def _other_medium(array: Array, workload: AnyWorkload, name: str) -> Change | None:
    other = load_drive(name)
    if other.kind == array.drive.kind or array.drive.stands_alone or array.drive.is_provisioned:
        return None
    same = array.has_drive_write_cache
    return on_array(array, workload, drive=other, drive_write_cache=same)


def _slow_link(array: Array, workload: AnyWorkload, bytes_per_s: float) -> Change | None:
    drive = array.drive
    if math.isinf(drive.link_bytes_per_s) or drive.link_bytes_per_s <= bytes_per_s or "SATA" not in drive.bus:
        return None
    if workload.mean_size_bytes < 16 << 10 and drive.has_arms:
        return None
    return on_array(array, workload, drive=drive.model_copy(update={"interface_bytes_per_s": bytes_per_s}))


def _narrow_link(array: Array, workload: AnyWorkload, share: float) -> Change | None:
    drive = array.drive
    if not is_nvme(array) or math.isinf(drive.link_bytes_per_s):
        return None
    slower = drive.model_copy(update={"interface_bytes_per_s": drive.link_bytes_per_s * share})
    return on_array(array, workload, drive=slower)


def _exhausted(array: Array, workload: AnyWorkload, factor: float) -> Change | None:
    if array.drive.has_arms or not array.drive.has_units or not workload.has_writes:
        return None
    return Change(array, workload, _slower_writes(factor))


def _caches_prior(array: Array) -> float:
    """Return how often drives' own caches are off that are described as on: controllers switch them off by default.

    Elsewhere drives keep them as they are sold, unless somebody switched them off.
    """
    return OFTEN if array.is_hardware else SOMETIMES


def _fast_parts_prior(array: Array) -> float:
    """Return how often a fast part of the flash takes writes first: hardly in servers' drives, with capacitors."""
    drive = array.drive
    return SELDOM if drive.has_flushes_of_its_own and not drive.is_flushed else SOMETIMES


def _shingled_prior(array: Array) -> float:
    """Return how often disks are shingled: of one whose model nobody named, many of 2 to 8 TB are."""
    return OFTEN if array.drive.is_typical else SOMETIMES


def _others_prior(array: Array) -> float:
    """Return how often drives are of another kind: where somebody named the model, hardly ever."""
    return SOMETIMES if array.drive.is_typical else SELDOM


def _heat_prior(array: Array) -> float:
    """Return how often flash throttles itself: a drive with SATA takes 3 W, and one with PCIe 8 to 25."""
    return SOMETIMES if is_nvme(array) else SELDOM


def _slower_writes(factor: float) -> Law:
    """Return what becomes of figures where writes take `factor` times as long, and clients wait for them."""

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        found = {
            name: value * factor if name.startswith(("writes.", "commits.")) else value
            for name, value in figures.items()
        }
        if measured.is_closed and "iops" in figures:
            writes = measured.n.get("writes", 0.0) / max(measured.n_requests, 1e-9) if measured.n else 1.0
            times = [figures.get(f"{part}.mean", 0.0) for part in ("reads", "writes")]
            before = (1 - writes) * times[0] + writes * times[1]
            after = (1 - writes) * times[0] + writes * times[1] * factor
            found["iops"] = figures["iops"] * (before / after if after else 1 / factor)
        return found

    return law


#: Times that a write of a full media cache takes more, ms: one band rewritten at once takes a second, and holds what
#: many writes left in it.
_REWRITING = (3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 160, 320)

DRIVES = (
    Cause(
        name="pcie-link",
        title="the drives' PCIe links have fewer lanes, or an older speed, than they could",
        prior=SOMETIMES,
        fingerprint="large transfers end at the link's rate; small requests are as expected",
        change=_narrow_link,
        strengths={"half of it": 0.5, "a quarter of it": 0.25, "an eighth of it": 0.125},
        about="link",
        is_exact=True,
    ),
    Cause(
        name="slc-exhausted",
        title="the fast part of the flash that takes writes first (SLC cache) is full",
        prior=SOMETIMES,
        fingerprint="writes are slower by one factor after some gigabytes, until a pause; reads are as expected",
        change=_exhausted,
        strengths=Scale(1.5, 30.0, lambda factor: f"writes {factor:.1f} times slower"),
        about="flash state",
        prior_on=_fast_parts_prior,
    ),
    Cause(
        name="drive-write-cache-off",
        title="the drives' own write cache is off",
        prior=OFTEN,
        fingerprint="writes take a seek and a rotation, about as long as reads; reads are as expected",
        change=_write_cache(False),
        strengths=ONCE,
        about="drive cache",
        is_exact=True,
        is_of_writes=True,
        prior_on=_caches_prior,
    ),
    Cause(
        name="drive-write-cache-on",
        title="the drives' own write cache is on",
        prior=SOMETIMES,
        fingerprint="writes are faster than the disks, until the cache is full; reads are as expected",
        change=_write_cache(True),
        strengths=ONCE,
        about="drive cache",
    ),
    Cause(
        name="ncq-off",
        title="command queuing is off: each disk has one request at a time (NCQ)",
        prior=SOMETIMES,
        fingerprint="as expected with one request outstanding, and no faster with more",
        change=_one_at_a_time,
        strengths=ONCE,
        about="drive queue",
    ),
    Cause(
        name="look-ahead-off",
        title="the disks do not read ahead",
        prior=SOMETIMES,
        fingerprint="sequential reads lose a revolution in each request; random ones are as expected",
        change=_without_look_ahead,
        strengths={"": False, "each read loses it, however many wait": True},
        about="drive look-ahead",
        is_exact=True,
    ),
    Cause(
        name="emulated-sectors",
        title="writes that are not whole 4 KiB sectors are read, changed and written (512e)",
        prior=SOMETIMES,
        fingerprint="each write takes a revolution more; reads are as expected",
        change=_of_writes("emulated-sectors"),
        strengths=ONCE,
        about="alignment",
        is_of_writes=True,
    ),
    Cause(
        name="shingled",
        title="the disks are shingled (SMR), and their media cache is full",
        prior=SOMETIMES,
        fingerprint="random writes are many times slower after the first minutes, and single ones take seconds",
        change=_of_writes("shingled"),
        strengths={
            "": None,
            **{f"{ms} ms for each write": ms * 1e6 for ms in _REWRITING},
        },
        about="drive recording",
        prior_on=_shingled_prior,
        is_of_writes=True,
    ),
    Cause(
        name="vibration",
        title="the disks miss revolutions: vibration, or a weak surface",
        prior=SOMETIMES,
        fingerprint="some requests take a whole revolution more, reads and writes alike",
        change=_retrying,
        strengths=Scale(0.03, 0.9, lambda ratio: f"{ratio:.0%} of the accesses".replace("%", " %")),
        about="drive speed",
    ),
    Cause(
        name="long-retries",
        title="single accesses are repeated for tens of revolutions: a weak surface, or a failing head",
        prior=SOMETIMES,
        fingerprint="the median is nearly as expected, and the slowest requests take tenths of a second and more",
        change=_repeated,
        strengths=REPEATS,
        about="drive speed",
        ladder=REPEATED,
    ),
    Cause(
        name="thermal-throttling",
        title="the flash drives are too hot and throttle themselves",
        prior=SOMETIMES,
        fingerprint="everything is slower by one factor",
        change=_throttled,
        strengths=Scale(1.5, 20.0, lambda factor: f"{factor:.1f} times slower"),
        about="drive speed",
        prior_on=_heat_prior,
        is_exact=True,
    ),
    Cause(
        name="flash-fresh",
        title="the flash drives are fresh: nothing has to be cleaned up yet",
        prior=OFTEN,
        fingerprint="writes are faster than in the long run; reads are as expected",
        change=_of_writes("fresh"),
        strengths=ONCE,
        about="flash state",
    ),
    Cause(
        name="flash-full",
        title="the flash drives have little free space to clean up in",
        prior=SOMETIMES,
        fingerprint="writes are slower, and reads that wait for them; a load without writes is as expected",
        change=_of_writes("cleaning"),
        strengths={"half of the usual spare space": 0.5, "a third of it": 0.33, "a tenth of it": 0.1},
        about="flash state",
        ladder=numbers(lambda share: f"{in_digits(share, 2)} of the usual spare space"),
        is_of_writes=True,
    ),
    Cause(
        name="slow-flushes",
        title="the flash drives take long to make writes safe: no capacitors (power-loss protection)",
        prior=OFTEN,
        fingerprint="a flush takes as long as programming pages, whatever is written",
        change=_slow_flushes,
        strengths=Scale(0.2e6, 60e6, lambda ns: f"{in_digits(ns / 1e6)} ms a flush"),
        about="flush",
    ),
    Cause(
        name="other-medium",
        title="the drives are of another kind",
        prior=SOMETIMES,
        fingerprint="neither rates nor latencies are those of the described kind",
        change=_other_medium,
        strengths={
            "hard disks of 7,200 rpm": "generic-7k2",
            "hard disks of 10,000 rpm": "generic-10k",
            "flash drives with SATA": "samsung-pm893-960",
        },
        about="medium",
        prior_on=_others_prior,
    ),
    Cause(
        name="slow-sata-link",
        title="the drives' links run at an older speed",
        prior=SOMETIMES,
        fingerprint="large transfers end at the link's rate; small requests are as expected",
        change=_slow_link,
        strengths={"1.5 Gb/s": 140e6, "3 Gb/s": 280e6},
        about="link",
        is_exact=True,
    ),
)

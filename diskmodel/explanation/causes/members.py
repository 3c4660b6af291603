"""Causes in the array: its members, its layout, passes over it."""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.causes.bitmaps import BITMAPS, FLUSHED, bitmaps_prior, with_bitmap
from diskmodel.explanation.causes.cause import (
    OFTEN,
    ONCE,
    SOMETIMES,
    Cause,
    Change,
    Scale,
    changed,
    is_sequential,
    on_array,
    with_streams,
)
from diskmodel.explanation.causes.repeats import REPEATED, REPEATS, repeating
from diskmodel.explanation.causes.uneven import BLINDLY, one_slow_member
from diskmodel.layout import Layout
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits
from diskmodel.workload import Stream

_MIB = 1 << 20
# A failed member is reported, by `mdadm --monitor`, by ZFS's daemon and by controllers: an array that is described as
# whole is seldom without one.
#: How much rarer two failed members are than one: of drives of which a few in a hundred fail in a year, hardly one
#: fails in the days until another one is replaced, but drives of one batch do together. At one, two of a RAID 10 are
#: named for whatever halves its reads.
_SECOND = 0.1


def is_pool(array: Array) -> bool:
    """Whether an array is a pool of OpenZFS."""
    return not array.layout.has_strips


def _with_layout(array: Array, workload: AnyWorkload, **fields: Any) -> Change:
    return on_array(array, workload, layout=changed(array.layout, **fields))


def may_fail(layout: Layout) -> bool:
    """Whether all its members work and nothing passes over them, and data survives the loss of one."""
    return layout.kind.is_redundant and not layout.failed and layout.rebuild is None


def _failed(array: Array, workload: AnyWorkload, n: int) -> Change | None:
    layout = array.layout
    if not may_fail(layout):
        return None
    if layout.parity_strips and n > layout.parity_strips:
        return None
    # members of different mirrors
    step = layout.n_copies if layout.kind.keeps_copies else 1
    if n * step > layout.disks:
        return None
    return _with_layout(array, workload, failed=tuple(range(0, n * step, step)))


#: Speed of a pass: so many MiB per second or more, as far as nothing else happens; or also whether it is no more.
Speed = float | tuple[float, bool]


#: Part of an array before a file in order whose places nobody gave, beside a rebuild: a seek of a third of the longest
#: one, and a twentieth less of the rate.
_BEHIND = 0.2
#: Part of each disk that a check is through: files in order begin at its beginning, and a pass that is there as well
#: reads for them what they are about to ask for. Elsewhere, each of its steps takes two seeks.
HALFWAY = 0.5
#: How long a pass sleeps that is faster than its limit, s (`md_do_sync` of md.c): it then goes on at once for all that
#: it may. Longest steps, bytes: beside a file in order, which they take off its place, and beside what is read at
#: random, which comes between what md has in progress at once (`stripe_cache_size`); and what steps are a multiple of.
_SLEEP_S, _BESIDE_ORDER, _BESIDE_RANDOM, _STEP = 0.5, 8 * _MIB, _MIB, 1 << 16


def _at(array: Array, workload: AnyWorkload, speed: Speed) -> dict[str, float]:
    """Return how fast a pass is, and how it goes on: the steps between two sleeps one after the other.

    At even distances (rule R3) each of them would take the arm to its place and back. Where there is no arm, or
    requests and steps take turns (rule R8), they stay as they are.
    """
    least, is_most = speed if isinstance(speed, tuple) else (speed, False)
    fields = {"speed_min_bytes_per_s": least * _MIB}
    if not is_most:
        return fields
    if array.layout.kind.has_striped_copies or not array.drive.has_arms:
        return fields | {"speed_max_bytes_per_s": least * _MIB}
    step = min(least * _MIB * _SLEEP_S, _BESIDE_ORDER if is_sequential(workload) else _BESIDE_RANDOM)
    fields |= {"window_bytes": max(round(step / _STEP), 1) * _STEP, "steps_at_once": 1}
    return fields | {"speed_max_bytes_per_s": least * _MIB}


def _rebuilding(array: Array, workload: AnyWorkload, speed: Speed) -> Change | None:
    layout = array.layout
    if not may_fail(layout) or is_pool(array):
        return None
    fields = {"failed": (0,), "rebuild": _at(array, workload, speed), "spares": max(layout.spares, 1)}
    change = _with_layout(_served(array, workload), workload, **fields)
    # what the rebuild has done is missing nothing any more: a file in order lies behind it, and not where it is
    return Change(change.array, with_streams(workload, _behind) or workload)


def _behind(stream: Stream) -> dict[str, Any] | None:
    """Return a place behind a rebuild that begins, of a stream in order that has none of its own."""
    own = stream.addresses
    if own.pattern != "sequential" or stream.offset_bytes or stream.span_bytes is not None:
        return None
    return {"offset_ratio": _BEHIND, "span_ratio": 1 - _BEHIND}


def _resyncing(array: Array, workload: AnyWorkload, speed: Speed) -> Change | None:
    if not may_fail(array.layout) or is_pool(array):
        return None
    rebuild = {"action": "check", "done_ratio": HALFWAY, **_at(array, workload, speed)}
    return _with_layout(_served(array, workload), workload, rebuild=rebuild)


def _served(array: Array, workload: AnyWorkload) -> Array:
    """Return an array whose disks serve a pass beside what is in order, as all do whose longest waits were measured."""
    drive = array.drive.deviating("bounded-waits") if is_sequential(workload) else None
    return array if drive is None else array.model_copy(update={"drive": drive})


def _one_slow(array: Array, workload: AnyWorkload, strength: tuple[float, int]) -> Change | None:
    law = one_slow_member(array, workload, *strength)
    return None if law is None else Change(array, workload, law)


def _one_retries(array: Array, workload: AnyWorkload, strength: tuple[float, float, int]) -> Change | None:
    *own, half = strength
    law = repeating(array, workload, (own[0], own[1]), is_one=True, half=half)
    return None if law is None else Change(array, workload, law)


def _one_works(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    layout = array.layout
    if layout.disks < 2 or layout.level not in ("raid0", "raid10"):
        return None
    alone = Layout.parse({"level": "jbod", "disks": 1})
    return on_array(array, workload, layout=alone, drive_write_cache=array.has_drive_write_cache)


def _other_strip(array: Array, workload: AnyWorkload, strip_bytes: int) -> Change | None:
    layout = array.layout
    if (
        is_pool(array)
        or layout.level in ("jbod", "raid1", "raid3")
        or layout.strip_bytes == strip_bytes
        or layout.disks < 2
    ):
        return None
    if workload.mean_size_bytes < layout.strip_bytes and 2 * layout.strip_bytes < strip_bytes:
        return None
    return _with_layout(array, workload, strip_bytes=strip_bytes)


def _write_through(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    controller = array.controller
    if controller.write_cache is None or not workload.has_writes:
        return None
    without = changed(controller, write_cache=None)
    return on_array(array, workload, controller=without)


#: How fast a pass over an array goes on beside the load, MiB per second: from hardly at all to what a disk reads.
#: Without a limit it takes all of the time that is left; many limit it (`sync_speed_max`) so that it does not.
_SPEEDS = Scale(
    3.0,
    200.0,
    lambda speed: f"{in_digits(speed, 2)} MB/s",
    ways={"and no more": True, "or more, where the load leaves time": False},
)

#: How many times as long accesses of a disk take that is slower in each of them, and the spread of that as a logarithm:
#: another model, shingled tracks, a missing cache, an older link, or a turn that is missed make it 1.5 to 6 times. A
#: disk that takes twenty times as long repeats what it reads. With all factors as often, such a one is called slow.
_SLOWER = (3.0, 1.0)

#: Which half of a mirror it is; of other arrays, any member.
_HALVES = {"": 0, "of a half that is only read where the other is busy": 1}

MEMBERS = (
    Cause(
        name="member-failed",
        title="a member of the array has failed",
        prior=SOMETIMES,
        fingerprint="reads of the missing disk are made of all others; the rest is a little slower",
        change=_failed,
        strengths={"one disk": 1, "two disks": 2},
        about="members",
        is_exact=True,
        weights={"two disks": _SECOND},
    ),
    Cause(
        name="rebuild-running",
        title="a failed member is being rebuilt",
        prior=SOMETIMES,
        fingerprint="reads and writes wait for the rebuild's, most of all where few are outstanding",
        change=_rebuilding,
        strengths=_SPEEDS,
        about="members",
    ),
    Cause(
        name="resync-running",
        title="a check or resync of the array is running",
        prior=OFTEN,
        fingerprint="reads and writes wait for its transfers on all disks",
        change=_resyncing,
        strengths=_SPEEDS,
        about="members",
    ),
    Cause(
        name="write-intent-bitmap",
        title="a write-intent bitmap is written as well",
        prior=SOMETIMES,
        fingerprint="scattered writes wait for two more, on consumer drives with a flush; reads are as expected",
        change=with_bitmap,
        strengths=BITMAPS,
        about="bitmap",
        ladder=FLUSHED,
        prior_on=bitmaps_prior,
    ),
    Cause(
        name="one-slow-disk",
        title="one disk is slower than its equals",
        prior=OFTEN,
        fingerprint="the fastest requests are as expected; the deeper the queue, the more of it waits for one disk",
        change=_one_slow,
        strengths=Scale(
            1.5,
            60.0,
            lambda factor: f"each of its accesses takes {in_digits(factor, 2)} times as long",
            usual=_SLOWER,
            ways=_HALVES | {"of a half that is read however many wait for it (RAID 10 of Linux before 5.3)": BLINDLY},
        ),
        about="drive speed",
    ),
    Cause(
        name="one-disk-retries",
        title="single accesses of a disk take many times as long: it retries",
        prior=OFTEN,  # as often as one that is slow in each access: most disks that become slow repeat what they read
        fingerprint="the median is nearly as expected, and the slowest requests are many times slower",
        change=_one_retries,
        strengths={
            f"{words}{', ' if way else ''}{way}": (*strength, half)
            for way, half in _HALVES.items()
            for words, strength in REPEATS.items()
        },
        about="drive speed",
        ladder=REPEATED,
    ),
    Cause(
        name="one-disk-works",
        title="all requests go to one disk: a small file, or volumes laid end to end",
        prior=SOMETIMES,
        fingerprint="as fast as one disk of the array",
        change=_one_works,
        strengths=ONCE,
        about="layout",
        is_exact=True,
    ),
    Cause(
        name="other-strip",
        title="the strip is of another length",
        prior=SOMETIMES,
        fingerprint="requests longer than a strip occupy several disks, or fewer than they could",
        change=_other_strip,
        strengths={f"{kib} KiB": kib << 10 for kib in (16, 64, 256, 1024)},
        about="layout",
    ),
    Cause(
        name="controller-write-through",
        title="the controller's write cache is off: its battery is missing, broken or learning",
        prior=OFTEN,
        fingerprint="writes take as long as on the disks behind it; reads are as expected or faster",
        change=_write_through,
        strengths=ONCE,
        about="controller cache",
    ),
)

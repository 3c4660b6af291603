"""Causes in the load: it is not what it was taken for, or it is not alone."""

from __future__ import annotations

import math
from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import (
    DEPTHS,
    OFTEN,
    ONCE,
    SELDOM,
    SOMETIMES,
    Cause,
    Change,
    Ladder,
    Law,
    changed,
    is_sequential,
    numbers,
    on_array,
    with_streams,
)
from diskmodel.explanation.causes.thin import first_writes
from diskmodel.explanation.causes.uneven import touched_members
from diskmodel.explanation.measured import Measured
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits
from diskmodel.workload import Sequential, Stream, Workload

_GIB = 1 << 30


def _change(array: Array, workload: AnyWorkload, change: Any) -> Change | None:
    other = with_streams(workload, change)
    return None if other is None else Change(array, other)


def _flushing(
    array: Array, workload: AnyWorkload, fields: dict[str, Any], free: tuple[str, ...] = ("none",)
) -> Change | None:
    """Return writes that are made safe so, of streams that are made safe in one of the ways of `free`."""

    def sync(stream: Stream) -> dict[str, Any] | None:
        is_free = stream.sync in free and (stream.sync == "none" or stream.file_system == "none")
        is_write = stream.write_ratio > 0 and stream.kind == "requests" and stream.excerpts is None
        return fields if is_free and is_write else None

    return _change(array, workload, sync)


def _on_slow(
    array: Array,
    workload: AnyWorkload,
    fields: dict[str, Any],
    flush_ns: float | None,
    free: tuple[str, ...] = ("none",),
) -> Change | None:
    """Return safe writes on drives whose flush takes so long; None: as described."""
    drive = array.drive if flush_ns is None else array.drive.deviating("slow-flushes", flush_ns)
    return None if drive is None else _flushing(array.model_copy(update={"drive": drive}), workload, fields, free)


def _flushed(array: Array, workload: AnyWorkload, strength: tuple[int, float | None]) -> Change | None:
    """Return writes with a flush after every so many of them; of 0, each is a safe one itself."""
    every, flush_ns = strength
    sync = {"sync": "fdatasync", "sync_every": every} if every else {"sync": "dsync"}
    return _on_slow(array, workload, sync, flush_ns)


def _flush_ns(value: tuple[Any, ...]) -> float:
    return math.nan if value[-1] is None else float(value[-1])


def _flush_time(value: tuple[Any, ...]) -> str:
    return f"on drives whose flush takes {in_digits(value[-1] / 1e6, 2)} ms"


#: Times that flushes of flash drives take which have no capacitors, ns.
_SLOW_FLUSHES = {"0.3 ms": 0.3e6, "1 ms": 1e6, "5 ms": 5e6}
#: Ways in which writes are made safe: after how many, and the time of a flush; and by which file system.
_FLUSHES: dict[str, tuple[int, float | None]] = {
    "a flush after each write": (1, None),
    "after every 4 writes": (4, None),
    "after every 16 writes": (16, None),
    **{f"after each write, on drives whose flush takes {said}": (1, ns) for said, ns in _SLOW_FLUSHES.items()},
    "O_DSYNC": (0, None),
    **{f"O_DSYNC, on drives whose flush takes {said}": (0, ns) for said, ns in _SLOW_FLUSHES.items()},
}
_JOURNALS: dict[str, tuple[str, str, float | None]] = {
    "ext4": ("ext4", "fsync", None),
    "xfs": ("xfs", "fsync", None),
    "ext4, files opened with O_DSYNC": ("ext4", "dsync", None),
    **{
        f"ext4, O_DSYNC, on drives whose flush takes {said}": ("ext4", "dsync", ns)
        for said, ns in _SLOW_FLUSHES.items()
    },
}


def _is_never_flushed(array: Array) -> bool:
    """Whether drives of a named model report no volatile cache, so that Linux sends them no flush (slow or not)."""
    drive = array.drive
    return drive.has_flushes_of_its_own and not drive.is_typical and not drive.is_flushed


def _usual_flushes(array: Array) -> dict[str, float]:
    """Return how usual ways of safe writes are: what is never flushed hardly ever takes long for that."""
    slow = [way for way, (_, flush_ns) in _FLUSHES.items() if flush_ns is not None]
    return dict.fromkeys(slow, SELDOM) if _is_never_flushed(array) else {}


def _usual_journals(array: Array) -> dict[str, float]:
    """Return the same of commits of a journal."""
    slow = [way for way, (_, _, flush_ns) in _JOURNALS.items() if flush_ns is not None]
    return dict.fromkeys(slow, SELDOM) if _is_never_flushed(array) else {}


def _fewer_clients(array: Array, workload: AnyWorkload, depth: int) -> Change | None:
    if not isinstance(workload, Workload) or workload.is_open or workload.queue_depth <= depth:
        return None
    if len(workload.streams) > depth:
        return None
    return Change(array, workload.with_queue_depth(depth))


def _beside_others(array: Array, workload: AnyWorkload, more: dict[str, float]) -> Change | None:
    """Return the load beside others, which are served alike: so many times as much, or so many requests at a time.

    They are of the same kind, but those "at random" beside a load in order.
    """
    if not isinstance(workload, Workload):
        return None
    if more.get("at_random") and not array.drive.has_arms:
        return None  # what others do to the link of a flash drive in order is that of the same kind
    if more.get("at_random") and is_sequential(workload):
        return _interrupted(array, workload, more["requests"])
    times = more.get("times", 0.0)
    if workload.is_open:
        return Change(array, workload.scaled(1 + times)) if times else None
    own = workload.queue_depth
    whole = own + max(round(own * times + more.get("requests", 0)), 1)
    other = workload.with_queue_depth(whole)
    apart = with_streams(other, lambda stream: _apart(stream, whole / own))
    return Change(array, apart or other, _share_of(own / whole))


#: Turns of a platter that a random access takes with its seek.
_ACCESS = 1.5
#: Percentiles of the time of a random access, over its mean: a seek and a turn.
_SPREAD = {"p50": 1.0, "p95": 1.5, "p99": 1.7}


def _interrupted(array: Array, workload: Workload, others: float) -> Change | None:
    """Return reads in order beside others at random: each waits for an access wherever another is served meanwhile.

    One on all members meets another one always; one on a few of them as often as others are there. Where several are
    at a member, the read in order waits for one of them, and is nearest then.
    """
    turn_ns = array.drive.period_ns
    if turn_ns is None or not workload.has_reads or workload.is_open:
        return None
    share = min(others * touched_members(array, workload, is_write=False) / array.layout.disks, 1.0)
    access_ns = _ACCESS * turn_ns * share

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        if "reads.mean" not in figures:
            return figures
        found = dict(figures)
        for name, value in figures.items():
            part, _, kind = name.partition(".")
            if part == "reads":
                found[name] = value + access_ns * _SPREAD.get(kind, 1.0)
        if measured.is_closed and "iops" in figures:
            found["iops"] = figures["iops"] * figures["reads.mean"] / found["reads.mean"]
        return found

    return Change(array, workload, law)


def _apart(stream: Stream, factor: float) -> dict[str, Any] | None:
    """Return places of a sequential stream that others of its kind go on beside."""
    own = stream.addresses
    if not isinstance(own, Sequential) or own.mean_run is not None:
        return None
    return {"addresses": {"pattern": "sequential", "n_readers": max(round(own.n_readers * factor), 2)}}


def _share_of(ratio: float) -> Law:
    def law(figures: dict[str, float], _: Measured) -> dict[str, float]:
        return figures | {"iops": figures["iops"] * ratio}

    return law


def _whole_records(array: Array, workload: AnyWorkload, record_bytes: int) -> Change | None:
    def larger(stream: Stream) -> dict[str, Any] | None:
        if stream.excerpts is not None or all(item.size_bytes >= record_bytes for item in stream.sizes):
            return None
        sizes = [{"size_bytes": max(item.size_bytes, record_bytes), "weight": item.weight} for item in stream.sizes]
        return {"sizes": sizes, "alignment_bytes": None}

    return None if is_sequential(workload) else _change(array, workload, larger)


def _in_runs(array: Array, workload: AnyWorkload, mean_run: float) -> Change | None:
    def runs(stream: Stream) -> dict[str, Any] | None:
        return {"addresses": _runs(mean_run)} if stream.addresses.pattern == "uniform" else None

    return _change(array, workload, runs)


def _runs(mean_run: float) -> dict[str, Any]:
    return {"pattern": "sequential", "mean_run": mean_run}


def _in_few_blocks(array: Array, workload: AnyWorkload, span_bytes: int) -> Change | None:
    def near(stream: Stream) -> dict[str, Any] | None:
        is_wide = stream.span_bytes is None or stream.span_bytes > 2 * span_bytes
        if stream.addresses.pattern == "sequential" or not is_wide:
            return None
        return {"span_bytes": span_bytes, "span_ratio": None}

    return _change(array, workload, near) if array.drive.has_arms else None


def _fragmented(array: Array, workload: AnyWorkload, mean_run: float) -> Change | None:
    def scattered(stream: Stream) -> dict[str, Any] | None:
        if stream.addresses.pattern != "sequential" or getattr(stream.addresses, "mean_run", None) is not None:
            return None
        return {"addresses": {"pattern": "uniform"} if mean_run <= 1 else _runs(mean_run)}

    return _change(array, workload, scattered)


def _several_readers(array: Array, workload: AnyWorkload, n: int) -> Change | None:
    def several(stream: Stream) -> dict[str, Any] | None:
        own = stream.addresses
        if own.pattern != "sequential" or getattr(own, "mean_run", None) is not None:
            return None
        return {"addresses": {"pattern": "sequential", "n_readers": n * getattr(own, "n_readers", 1)}}

    return _change(array, workload, several)


def _at_the_end(array: Array, workload: AnyWorkload, _: None) -> Change | None:
    def inner(stream: Stream) -> dict[str, Any] | None:
        own = stream.addresses
        if own.pattern != "sequential" or getattr(own, "mean_run", None) is not None or stream.offset_bytes:
            return None
        return {"offset_ratio": 0.9, "span_ratio": 0.1, "span_bytes": None}

    return _change(array, workload, inner) if array.drive.has_arms else None


def _misaligned(array: Array, workload: AnyWorkload, are_all: bool) -> Change | None:
    """Return requests at any sector; or also those that all lie on two strips, as where places begin with a strip.

    A strip as long as a request has that: wherever one begins, it ends in the next strip.
    """

    def anywhere(stream: Stream) -> dict[str, Any] | None:
        if stream.excerpts is not None or stream.alignment <= 512:
            return None
        return {"alignment_bytes": 512}

    is_seen = array.layout.disks > 1 or array.drive.has_units
    found = _change(array, workload, anywhere) if is_seen else None
    if found is None or not are_all:
        return found
    layout, size = array.layout, round(workload.mean_size_bytes)
    has_strips = layout.has_strips and (layout.has_rows or layout.has_strips_to_cut)
    if is_sequential(workload) or not has_strips or size >= layout.strip_bytes or size % 4096:
        return found
    return on_array(array, found.workload, layout=changed(layout, strip_bytes=size))


def _with_journal(array: Array, workload: AnyWorkload, way: tuple[str, str, float | None]) -> Change | None:
    """Return writes to a growing file of a file system, made safe in one way, on drives whose flush takes so long.

    Behind fsync a program times writes and commits apart; with O_DSYNC each write has its commit in it.
    """
    if not workload.has_writes:
        return None
    file_system, sync, flush_ns = way
    fields = {"sync": sync, "file_system": file_system, "file": "append"}
    if sync != "dsync":
        return _on_slow(array, workload, fields, flush_ns, ("none", "fsync", "fdatasync"))
    found = _on_slow(array, workload, fields, flush_ns, ("none", "dsync"))
    return found if found is None else Change(found.array, found.workload, _timed_as_one)


def _timed_as_one(figures: dict[str, float], _: Measured) -> dict[str, float]:
    """Return figures of writes that have their commits in them."""
    ends = {name.partition(".")[2]: value for name, value in figures.items() if name.startswith("commits.")}
    return figures | {f"writes.{kind}": value for kind, value in ends.items()}


def _how_many(more: dict[str, float]) -> float:
    return more.get("times") or more["requests"]


def _others(more: dict[str, float], number: float) -> dict[str, float]:
    name = "times" if "times" in more else "requests"
    return more | {name: number if name == "times" else max(round(number), 1)}


def _others_in_words(more: dict[str, float]) -> str:
    if "times" in more:
        return f"{in_digits(more['times'], 2)} times as much as this one"
    return f"{more['requests']:.0f} {'at random' if more.get('at_random') else 'requests'} at a time"


LOADS = (
    Cause(
        name="flushes",
        title="the load makes its writes safe: with flushes (fsync, fdatasync, barriers), or files opened with O_DSYNC",
        prior=OFTEN,
        fingerprint="writes wait for the media: about as many per second as revolutions, or as the flash flushes",
        change=_flushed,
        strengths=_FLUSHES,
        about="sync",
        ladder=Ladder(
            _flush_ns,
            lambda value, ns: (value[0], ns),
            lambda value: f"{'after each write' if value[0] else 'O_DSYNC'}, {_flush_time(value)}",
        ),
        is_of_writes=True,
        weights_on=_usual_flushes,
    ),
    Cause(
        name="journal-commits",
        title="files grow with each write, and the file system's journal is committed",
        prior=SOMETIMES,
        fingerprint="each safe write takes several at different places",
        change=_with_journal,
        strengths=_JOURNALS,
        about="sync",
        ladder=Ladder(
            _flush_ns, lambda value, ns: (*value[:2], ns), lambda value: f"{value[0]}, O_DSYNC, {_flush_time(value)}"
        ),
        is_of_writes=True,
        weights_on=_usual_journals,
    ),
    Cause(
        name="depth-lost",
        title="the program has fewer requests outstanding than it was asked for",
        prior=OFTEN,
        fingerprint="each request is as fast as with fewer outstanding: one thread, a sync engine, not enough jobs",
        change=_fewer_clients,
        strengths={f"{n} outstanding": n for n in DEPTHS},
        about="depth",
        ladder=numbers(lambda n: f"{n} outstanding", are_whole=True),
        is_exact=True,
    ),
    Cause(
        name="other-load",
        title="something else uses the same disks: a backup, a scrub, another machine",
        prior=OFTEN,
        fingerprint="everything waits longer, most of all where few requests are outstanding",
        change=_beside_others,
        strengths={
            "half as much as this one": {"times": 0.5},
            "as much as this one": {"times": 1.0},
            "four times as much": {"times": 4.0},
            "one request at a time": {"requests": 1},
            "four requests at a time": {"requests": 4},
            "sixteen requests at a time": {"requests": 16},
            "one at random at a time": {"requests": 1, "at_random": True},
            "four at random at a time": {"requests": 4, "at_random": True},
        },
        about="other load",
        ladder=Ladder(_how_many, _others, _others_in_words),
    ),
    Cause(
        name="larger-records",
        title="each small request moves a larger record: a file system's record, or too much read-ahead",
        prior=SOMETIMES,
        fingerprint="small requests are as slow as large ones",
        change=_whole_records,
        strengths={f"{kib} KiB": kib << 10 for kib in (16, 32, 64, 128, 256, 512, 1024)},
        about="places",
    ),
    Cause(
        name="thin-unmapped",
        title="the volume is thin, or has a snapshot: the first write to a chunk clears or copies all of it",
        prior=SOMETIMES,  # guests of some hypervisors are on thin volumes by default (Proxmox VE since 4.2: LVM-thin)
        fingerprint="small writes are as slow as those of a chunk, the first time; reads are as expected",
        change=first_writes,
        strengths={f"chunks of {kib} KiB": kib << 10 for kib in (16, 64, 256, 1024, 4096)},
        about="places",
        ladder=numbers(lambda n_bytes: f"chunks of {in_digits(n_bytes / 1024, 2)} KiB", are_whole=True),
        is_of_writes=True,
    ),
    Cause(
        name="runs",
        title="the places are not random: requests go on where others ended",
        prior=SOMETIMES,
        fingerprint="faster than seeks allow, and some requests that need none",
        change=_in_runs,
        strengths={"runs of 4": 4.0, "runs of 32": 32.0},
        about="places",
    ),
    Cause(
        name="few-blocks",
        title="the load uses a small part of the disks",
        prior=OFTEN,
        fingerprint="faster: seeks are short, and reads may be in the disks' caches",
        change=_in_few_blocks,
        strengths={"1 GiB": _GIB, "10 GiB": 10 * _GIB, "100 GiB": 100 * _GIB},
        about="places",
    ),
    Cause(
        name="fragmented",
        title="the file is in pieces: sequential requests fall on scattered places",
        prior=SOMETIMES,
        fingerprint="sequential requests take seeks",
        change=_fragmented,
        strengths={"each request elsewhere": 1.0, "runs of 4": 4.0, "runs of 32": 32.0},
        about="places",
    ),
    Cause(
        name="several-readers",
        title="several sequential readers share the disks",
        prior=SOMETIMES,
        fingerprint="a seek between the requests of one and another",
        change=_several_readers,
        strengths={f"{n} instead of one": n for n in (2, 4, 16, 64)},
        about="places",
        ladder=numbers(lambda n: f"{n} instead of one", are_whole=True),
    ),
    Cause(
        name="inner-tracks",
        title="the test area is at the end of the disks, where a track holds least",
        prior=SOMETIMES,
        fingerprint="sequential transfers have half the rate of the outer edge; random requests are as expected",
        change=_at_the_end,
        strengths=ONCE,
        about="places",
    ),
    Cause(
        name="misaligned",
        title="requests begin beside the borders of strips or pages: a misaligned partition or volume",
        prior=SOMETIMES,
        fingerprint="some requests need two disks or two pages, and writes change parts of both",
        change=_misaligned,
        strengths={"": False, "each of them lies on two strips": True},
        about="alignment",
        is_exact=True,
    ),
)

"""A workload description from what users have: iostat or sar, a fio job, a block trace.

The result is plain data for `diskmodel.workload.Workload.parse`, the load over time, and notes on what had to be
assumed because the source does not say it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.formats import pools, recorders
from diskmodel.formats.benchmarks import registry as benchmarks
from diskmodel.formats.detect import check_kind, detect_evidence
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import latency_log
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.workload import fio_workload
from diskmodel.formats.level import Level
from diskmodel.formats.sizes import whole_size
from diskmodel.formats.sysstat import KINDS as SYSSTAT_KINDS
from diskmodel.formats.sysstat import read_sysstat
from diskmodel.formats.sysstat.tables import FIRST_LEFT_OUT
from diskmodel.formats.time_classes import merged
from diskmodel.formats.trace.reader import SKIPPED_WORDS, Errors, read_trace
from diskmodel.formats.trace_facts import TraceFacts
from diskmodel.units import in_digits
from diskmodel.workload import Workload
from diskmodel.workload.trace import COARSE_CLOCK_NS

LEVELS = (50, 90, 95, 99, 100)
#: What to do where the load at a level is none.
_HIGHER = "choose a higher percentile"

#: Which samples of a recording the share of reads and the sizes are from.
Mix = Literal["all", "peak"]

#: Share of requests that continue an earlier one above which a stream is described as sequential runs.
_SEQUENTIAL_ABOVE = 0.5

# A utilization that counts as "all the time" (sampling and rounding hide some idle percent), and the share of samples
# with it that is worth a warning: as many as the default level, the 95th percentile of time, is exceeded in.
_ALWAYS_BUSY = 0.95
_MANY_SAMPLES = 0.05
# Mean requests in flight below which a device was not busy all the time, whatever %util says. Rounding of the queue's
# length and of the sample's makes a few percent.
_IN_FLIGHT_WHEN_BUSY = 0.8

# Share of the flushes beyond which those that no write can have asked for become a stream of their own: counters of a
# sample are rounded, and at half of it they would be seen in short recordings with a flush after each write.
_FLUSHES_APART = 0.05

# The busiest samples are worth a warning where the share of reads differs from that of all samples by as much as makes
# a tenth more back-end operations on RAID 5 (a write costs 4), or their requests are much longer.
_OTHER_SHARE = 0.05
_LONGER_REQUESTS = 1.5

# A tenth of the space with much more than a tenth of the requests is worth a hot spot.
_HOT_SPACE = 0.1
_HOT_ABOVE = 0.2


@dataclass(frozen=True)
class FoundWorkload:
    """A workload found in a recording.

    Attributes
    ----------
    workload : dict
        For `Workload.parse`.
    kind : str
        As `detect_evidence` names it.
    load_per_s : dict of int to float
        Percentile of time → requests per second; empty for fio jobs, which come as fast as they are served.
    mean_per_s : float or None
    rates_per_s : float64, shape (n,)
        Requests per second, interval by interval.
    notes : tuple of str
        What was assumed.
    dropped_flushes : str
        Flushes of the recording that the workload does not have, in words; "" where it has them all. Without them
        writes are answered too early: no figure of such a workload is an answer.
    response_ns : mapping of str to float
        What iostat, sar and their like measured, each request alike: mean time of "reads", of "writes" and of "all",
        as far as the recording has them.
    outstanding : float or None
        Requests that were waiting or served on average over the recording; None where that is not recorded.
    responses : mapping of str to mapping of int to float
        Of "reads" and "writes" k → requests that took from 2^k to 2^(k+1) ns, where a recording has more than means.
    """

    workload: dict[str, Any]
    kind: str
    load_per_s: dict[int, float]
    mean_per_s: float | None
    rates_per_s: NDArray[np.float64]
    notes: tuple[str, ...]
    dropped_flushes: str = ""
    response_ns: Mapping[str, float] = field(default_factory=dict)
    outstanding: float | None = None
    responses: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


def find_workload(
    path: str | Path,
    *,
    level: Level | float | str = 95,
    device: str | None = None,
    interval_s: float = 1.0,
    errors: Errors = "raise",
    format: str | None = None,
    mix: Mix = "all",
    keep_first: bool | None = None,
) -> FoundWorkload:
    """Return the workload in a recording of iostat, sar or their like, a job or result of fio, or a block trace.

    Parameters
    ----------
    path : str or Path
    level : float, str or Level
        Percentile of the load over time that the workload's rates stand for, from 0 to 100; or "95 % of requests", the
        rate of the busiest interval that 95 % of the requests arrive in, intervals in order of their rates.
    device : str, optional
        Needed where the file holds several: one, several with commas between them, or "all" (whole disks, without
        partitions and without volumes that lie on other disks of the file). Several become streams of one array.
        Results of fio and DiskSpd: the name of a job, whose group is taken instead of the first.
    interval_s : float
        Traces: length of the intervals that the load is counted in; at least 0.001. Doubled as often as a trace of
        more than a million intervals needs.
    errors : {"raise", "count"}
        Traces: what malformed lines do.
    format : str, optional
        One of `diskmodel.formats.detect.KINDS`, or the name of a trace format; recognized by content when left out.
    mix : "all" or "peak"
        iostat, sar and their like: which samples the share of reads and the sizes are from. "peak": those with at least
        the load of `level`, where they write more or longer, and all samples elsewhere.
    keep_first : bool, optional
        iostat: whether the first report counts, as in `read_sysstat`.

    Raises
    ------
    FormatError
        When the file is none of these, or holds several devices and none is named.
    """
    level = Level.of(level)
    if not 0.001 <= interval_s <= 1e6:
        raise FormatError(Fault("interval_s", interval_s, "must lie from 0.001 to 1e6"))
    kind = detect_evidence(path) if format is None else check_kind(format)
    if kind in SYSSTAT_KINDS:
        return _from_loads(read_sysstat(path, kind=kind, keep_first=keep_first), device, kind, level, mix, str(path))
    if kind in fio_reader.KINDS:
        return _from_fio(fio_reader.read_fio(path, kind=kind), kind, str(path), device)
    if kind in recorders.KINDS:
        return _from_loads(recorders.read_recording(path, kind), device, kind, level, mix, str(path))
    if kind in benchmarks.KINDS:
        return _from_fio(benchmarks.read_benchmark(path, kind), kind, str(path), device)
    if device is not None and not kind.startswith("trace:"):
        raise FormatError(Fault("device", device, f"chooses among devices of a recording; this is {kind}"), str(path))
    if kind.startswith("trace:"):
        return _from_trace(path, kind, level, device, interval_s, errors)
    if kind == latency_log.KIND:
        fix = "make it with log_offset=1, or give the job's JSON output"
        raise file_error(path, "is a log of fio without places: it holds no workload", fix)
    if kind in pools.KINDS:
        fix = "give it to `diskmodel pool`, and a recording of its load here: zpool iostat -vly 1 600"
        raise file_error(path, "shows a pool, and no load", fix, value=kind)
    raise file_error(path, "holds no workload", "use an output of sysstat, a fio job or a trace", value=kind)


def load_workload(
    path: str | Path,
    *,
    level: Level | float | str = 95,
    device: str | None = None,
    format: str | None = None,
    mix: Mix = "all",
) -> Workload:
    """Return the workload that a TOML file describes, or that `find_workload` finds in a recording.

    Raises
    ------
    DescriptionError
        With every fault of a description.
    FormatError
        When the file is neither, or holds several devices and none is named.
    """
    if Path(path).suffix == ".toml" and format is None:
        return Workload.load(path)
    found = find_workload(path, level=level, device=device, format=format, mix=mix)
    if found.dropped_flushes:
        fix = (
            "describe the workload in a file of its own (`diskmodel workload`), with sync where writes have to be safe"
        )
        raise FormatError(flush_fault(found.dropped_flushes, fix), str(path))
    return Workload.parse(found.workload, str(path))


def flush_fault(what: str, fix: str) -> Fault:
    """Return why a recording with flushes that are left out has no answer."""
    rule = f"{what}: without them writes are answered too early, and no figure can be given"
    return Fault("flushes", None, rule, fix)


def _levels(rates: NDArray[np.float64]) -> dict[int, float]:
    return {level: float(np.percentile(rates, level)) for level in LEVELS}


# ---------------------------------------------------------------- sysstat

# Names of disks (and of their partitions) as Linux, Solaris and FreeBSD give them, also under /dev/disk/by-*.
_DISK = re.compile(
    r"((sd|hd|vd|xvd|dasd)[a-z]+\d*|(nvme\d+n|mmcblk|nbd|rbd|pmem|cmd?k|nda|nvd|da|ada|sd|ssd)\d+(p\d+)?"
    r"|(cciss|ida|rd)/c\d+d\d+(p\d+)?|c\d+t[0-9A-Fa-f]+d\d+\S*|dev(8|6[5-9]|7[01]|104|202|252|259)-\d+"
    r"|(ata|scsi|nvme|usb|wwn|pci|virtio|mmc)-\S+)\Z"
)
_NO_DISK = re.compile(r"(loop\d+|ram\d+|zram\d+|sr\d+|scd\d+|fd\d+)\Z")
_PARTITION = re.compile(r"(-part|p)?\d+\Z")
# sar's names: 16 minors of each disk of these majors, the first of them the disk itself.
_SAR_PARTITION = re.compile(r"(dev(?:8|6[5-9]|7[01])-)(\d+)\Z")


def _whole_disks(loads: Sequence[DeviceLoad]) -> list[DeviceLoad]:
    """Devices whose loads may be added up: no groups, partitions, or volumes beside disks that they may lie on."""
    names = {load.device for load in loads}

    def is_part(name: str) -> bool:
        if found := _SAR_PARTITION.search(name):
            minor = int(found[2])
            return minor % 16 > 0 and f"{name[: found.start()]}{found[1]}{minor - minor % 16}" in names
        return any((cut := _PARTITION.search(name)) and name[: cut.start()] == other for other in names - {name})

    whole = [load for load in loads if not load.device.startswith(" ") and not is_part(load.device)]
    bare = {load.device: load.device.rpartition(":")[2] for load in whole}
    disks = [load for load in whole if _DISK.match(load.device) or _DISK.match(bare[load.device])]
    return disks or [load for load in whole if not _NO_DISK.match(bare[load.device])] or whole


def _chosen(loads: list[DeviceLoad], device: str | None, source: str) -> tuple[list[DeviceLoad], list[str]]:
    """The loads that are asked for, and notes on those that are not."""
    by_name = {load.device.strip(): load for load in loads}
    known = ", ".join(by_name)
    if device is not None and device != "all":
        names = [device] if device.strip() in by_name else [name.strip() for name in device.split(",")]
        for name in names:
            if name not in by_name:
                raise FormatError(Fault("device", name, "is not in the file", f"it has {known}"), source)
        return [by_name[name] for name in dict.fromkeys(names)], []
    whole = _whole_disks(loads)
    busy = [load for load in whole if np.nansum(load.ios_per_s) > 0]
    others = [load.device.strip() for load in loads if load not in busy and np.nansum(load.ios_per_s) > 0]
    notes = []
    if others:
        notes.append(
            f"{', '.join(others[:6])}{' …' if len(others) > 6 else ''}: left out, as partitions, groups, "
            "removable media or volumes on other disks"
        )
    if not busy:
        where = "in the file"
        if any(FIRST_LEFT_OUT in load.notes for load in loads):
            where = "after the first report, which covers the time since the machine was started"
        raise FormatError(Fault("device", device, f"no disk has any load {where}", f"the file has {known}"), source)
    if device is None and len(busy) > 1:
        fix = f"one or several of {', '.join(load.device for load in busy)}, or all"
        raise FormatError(Fault("device", None, "must be named: several are busy", fix), source)
    return busy, notes


def _from_loads(
    loads: list[DeviceLoad], device: str | None, kind: str, level: Level, mix: Mix, source: str
) -> FoundWorkload:
    chosen, notes = _chosen(loads, device, source)
    if device == "all":
        without_bytes = [load for load in chosen if not np.nansum(_bytes_per_s(load)) > 0]
        if len(without_bytes) < len(chosen):
            notes += [
                f"{load.device.strip()}: left out, as it has {in_digits(float(np.nanmean(load.ios_per_s)), 4)} "
                "requests/s but no bytes"
                for load in without_bytes
            ]
            names_without = {load.device for load in without_bytes}
            chosen = [load for load in chosen if load.device not in names_without]
    names = ", ".join(load.device.strip() for load in chosen)
    total = np.sum([load.ios_per_s for load in chosen], axis=0)
    is_known = np.isfinite(total)
    rates = total[is_known]
    if not len(rates):
        raise file_error(source, "holds no sample with usable counters", value=names)
    rate = level.rate(rates)
    if rate <= 0:
        raise FormatError(Fault("level", str(level), "has no load there", _HIGHER), names)
    for load in chosen:
        notes += [note for note in load.notes if note not in notes]
    each = f" of {chosen[0].interval_s:g} s" if chosen[0].interval_s else ""
    samples = f"{len(rates)} samples{each}" if len(rates) > 1 else "the only sample"
    notes.append(level.in_words(f"{samples} of {names}"))
    notes += filter(None, [level.warning(rates)])
    if len(rates) > 1:
        notes.append("within a sample requests are taken as coming at random (Poisson): shorter bursts are not seen")
    notes.append("places are not recorded: uniformly random ones were assumed, the hardest case for disks")
    notes += filter(None, (_limit_note(load, is_known) for load in chosen))
    counted = is_known
    other = _other_mix(chosen, rates >= rate, is_known)
    if other is not None:
        is_taken = mix == "peak" and other.is_harder
        notes.append(other.in_words(is_taken=is_taken))
        if is_taken:
            counted = is_known.copy()
            counted[is_known] = rates >= rate
    streams: list[dict[str, Any]] = []
    dropped: list[str] = []
    for load in chosen:
        prefix = f"{load.device.strip()} " if len(chosen) > 1 else ""
        share = np.nansum(load.ios_per_s[counted]) / total[counted].sum()
        if share > 0:
            found, left_out = _device_streams(load, counted, rate * float(share), prefix, notes, source)
            streams += found
            dropped += [left_out] if left_out else []
    notes += dropped
    if len(chosen) > 1:
        notes.append(f"the loads of {len(chosen)} devices are put together on one array; their peaks need not coincide")
    workload = {"name": names[:120], "streams": streams}
    return FoundWorkload(
        workload,
        kind,
        _levels(rates),
        float(rates.mean()),
        rates,
        tuple(dict.fromkeys(notes)),
        "; ".join(dropped),
        _mean_responses(chosen, is_known),
        _mean_outstanding(chosen, is_known),
        _all_responses(chosen),
    )


def _all_responses(loads: Sequence[DeviceLoad]) -> dict[str, dict[int, float]]:
    """Return how long requests took, of all devices together."""
    found = {way: merged(load.responses.get(way, {}) for load in loads) for way in ("reads", "writes")}
    return {way: classes for way, classes in found.items() if classes}


def _mean_responses(loads: Sequence[DeviceLoad], is_known: NDArray[np.bool_]) -> dict[str, float]:
    """Return the mean time of reads, of writes and of all requests, as far as the samples have them."""
    names = {
        "reads": ("reads_per_s", "read_await_ns"),
        "writes": ("writes_per_s", "write_await_ns"),
        "all": ("ios_per_s", "await_ns"),
    }
    found = {}
    for name, (rate, time) in names.items():
        n, spent = 0.0, 0.0
        for load in loads:
            rates, times = getattr(load, rate)[is_known], getattr(load, time)[is_known]
            both = np.isfinite(rates) & np.isfinite(times) & (rates > 0)
            n += float(rates[both].sum())
            spent += float((rates[both] * times[both]).sum())
        if n and spent:
            found[name] = spent / n
    return found


def _mean_outstanding(loads: Sequence[DeviceLoad], is_known: NDArray[np.bool_]) -> float | None:
    """Return how many requests were waiting or served on average, over all devices; None where it is not recorded."""
    totals = [_in_flight(load)[is_known] for load in loads]
    known = [float(np.nanmean(one)) for one in totals if np.isfinite(one).any()]
    return sum(known) if len(known) == len(loads) else None


def _bytes_per_s(load: DeviceLoad) -> NDArray[np.float64]:
    parts = np.nan_to_num(load.read_bytes_per_s) + np.nan_to_num(load.write_bytes_per_s)
    most: NDArray[np.float64] = np.fmax(load.bytes_per_s, parts)
    return most


def _limit_note(load: DeviceLoad, is_known: NDArray[np.bool_]) -> str | None:
    """Return a warning where the device was busy all the time: what it did is then no measure of what it was asked."""
    busy = load.utilization_ratio[is_known]
    is_busy = busy >= _ALWAYS_BUSY
    # Linux' %util of drives that serve several at once counts any moment within a tick as a busy tick; a device that is
    # busy all the time has a request in flight all the time
    in_flight = _in_flight(load)[is_known]
    with np.errstate(invalid="ignore"):
        is_busy &= ~(in_flight < _IN_FLIGHT_WHEN_BUSY)
    n_busy = int(np.count_nonzero(is_busy))
    if n_busy < max(_MANY_SAMPLES * len(busy), 1):
        return None
    return (
        f"{load.device.strip()} was busy all the time in {n_busy} of {len(busy)} samples: if it was at its limit, a "
        "faster array will be asked for more than was recorded"
    )


def _in_flight(load: DeviceLoad) -> NDArray[np.float64]:
    """Mean requests waiting or served of each sample; NaN where neither a queue nor waiting times are recorded."""
    from_times = load.ios_per_s * load.await_ns / 1e9
    return np.where(np.isfinite(load.queue_length), load.queue_length, from_times)


@dataclass(frozen=True)
class _OtherMix:
    """The mix of the busiest samples, where it is another than that of all.

    Attributes
    ----------
    n : int
        The busiest samples.
    share, all_share : float
        Of reads.
    size, all_size : float
        Mean bytes of a request.
    """

    n: int
    share: float
    size: float
    all_share: float
    all_size: float

    @property
    def is_harder(self) -> bool:
        """Whether nothing about it is easier than about all: neither fewer writes nor much shorter requests."""
        return self.share < self.all_share + _OTHER_SHARE and self.size * _LONGER_REQUESTS > self.all_size

    def in_words(self, *, is_taken: bool) -> str:
        """Return what differs, and which mix the workload has."""
        where = f"the {self.n:,} samples" if self.n > 1 else "the sample"
        own = f"{self.share:.0%} are reads and the mean size is {in_digits(self.size / 1024)} KiB"
        whole = f"{self.all_share:.0%} and {in_digits(self.all_size / 1024)} KiB"
        if is_taken:
            said = f"which the workload has, because it is harder than that of all samples, {whole}"
        else:
            said = (
                f"the workload has those of all samples, {whole}: to plan for the busiest time, cut the recording to it"
            )
        joint = "," if is_taken else ";"
        return f"in {where} with at least this load {own}{joint} {said}".replace("%", " %")


def _other_mix(
    loads: Sequence[DeviceLoad], is_busiest: NDArray[np.bool_], is_known: NDArray[np.bool_]
) -> _OtherMix | None:
    """Return the mix of the samples that the rates come from, where it is another than that of all, or longer."""

    def total(name: str, chosen: NDArray[np.bool_]) -> float:
        return float(sum(np.nansum(getattr(load, name)[is_known][chosen]) for load in loads))

    def mix(chosen: NDArray[np.bool_]) -> tuple[float, float]:
        reads, writes = total("reads_per_s", chosen), total("writes_per_s", chosen)
        n_bytes = total("read_bytes_per_s", chosen) + total("write_bytes_per_s", chosen)
        if reads + writes <= 0:  # of bytes, where requests are not counted apart
            reads, writes = total("read_bytes_per_s", chosen), total("write_bytes_per_s", chosen)
        return reads / (reads + writes) if reads + writes > 0 else 0.0, n_bytes / total("ios_per_s", chosen)

    (share, size), (all_share, all_size) = mix(is_busiest), mix(np.ones_like(is_busiest))
    if abs(share - all_share) < _OTHER_SHARE and not size > _LONGER_REQUESTS * all_size:
        return None
    return _OtherMix(int(np.count_nonzero(is_busiest)), share, size, all_share, all_size)


def _device_streams(
    load: DeviceLoad, is_known: NDArray[np.bool_], rate: float, prefix: str, notes: list[str], source: str
) -> tuple[list[dict[str, Any]], str]:
    """Return the streams of a device, and which flushes of it they leave out."""

    def total(series: NDArray[np.float64]) -> float:
        return float(np.nansum(series[is_known]))

    reads, writes, flushes = total(load.reads_per_s), total(load.writes_per_s), total(load.flushes_per_s)
    read_bytes, write_bytes, all_bytes = (
        total(series) for series in (load.read_bytes_per_s, load.write_bytes_per_s, load.bytes_per_s)
    )
    if max(read_bytes + write_bytes, all_bytes) <= 0:
        fix = "record with iostat -x (kB), without -m, -g or -G"
        rule = "has requests but no bytes: the unit of its columns is too coarse, or they are missing"
        raise FormatError(Fault("device", load.device.strip(), rule, fix), source)
    if reads + writes > 0:
        if not load.sizes:
            notes.append("of sizes only the means are recorded; each direction has one size")
        if reads and writes and not (read_bytes and write_bytes):
            lost = "writes" if read_bytes else "reads"
            notes.append(
                f"the bytes of {lost} are 0 in the unit of the columns: the mean size of all requests was assumed; "
                "record with iostat -x (kB), without -m, -g or -G"
            )
            mean = (all_bytes or read_bytes + write_bytes) / (reads + writes)
            read_bytes, write_bytes = reads * mean, writes * mean
        parts = {"reads": (1.0, reads, read_bytes), "writes": (0.0, writes, write_bytes)}
        streams = [
            _open_stream(
                prefix + name, ratio, rate * count / (reads + writes), _device_sizes(load, name, n_bytes / count)
            )
            for name, (ratio, count, n_bytes) in parts.items()
            if count > 0
        ]
        if flushes:
            recorded = _flushes_in_words(load, is_known)
            streams = _with_flushes(streams, (writes, flushes), rate / (reads + writes), prefix, (recorded, notes))
        return streams, ""
    dropped = (
        f"{in_digits(flushes / is_known.sum())} flushes/s of {load.device.strip()} are left out" if flushes else ""
    )
    mean = max(read_bytes + write_bytes, all_bytes) / total(load.ios_per_s)
    if read_bytes + write_bytes > 0:
        share = read_bytes / (read_bytes + write_bytes)
        notes.append("reads and writes are not counted apart: equal sizes were assumed, so that bytes give the mix")
    else:
        share = 0.5
        notes.append(
            "neither requests nor bytes of reads and writes are counted apart: half of each was assumed; "
            "record without -s"
        )
    return [_open_stream(f"{prefix}all", round(float(share), 4), rate, {whole_size(mean): 1})], dropped


def _device_sizes(load: DeviceLoad, way: str, mean_bytes: float) -> dict[int, float]:
    """Return the sizes of reads or of writes with their shares: as recorded, or the mean alone."""
    recorded = load.sizes.get(way, {})
    n = sum(recorded.values())
    return {size: round(count / n, 6) for size, count in recorded.items()} if n else {whole_size(mean_bytes): 1.0}


def _flushes_in_words(load: DeviceLoad, is_known: NDArray[np.bool_]) -> str:
    """How many flushes were recorded, and how long they took."""
    rate = in_digits(float(np.nansum(load.flushes_per_s[is_known])) / int(is_known.sum()))
    known = is_known & np.isfinite(load.flush_await_ns) & (load.flushes_per_s > 0)
    took = ""
    if known.any():
        weights = load.flushes_per_s[known]
        mean_ns = float(np.average(load.flush_await_ns[known], weights=weights))
        took = f", which took {in_digits(mean_ns / 1e6)} ms on average"
    return f"flushes: {rate}/s on average{took}"


def _with_flushes(
    streams: list[dict[str, Any]],
    counts: tuple[float, float],
    per_s: float,
    prefix: str,
    said: tuple[str, list[str]],
) -> list[dict[str, Any]]:
    """Return streams with as many flushes as were recorded: after every so many writes, or beside them.

    Parameters
    ----------
    streams : list of dict
        Reads and writes, the latter named "writes" after the prefix.
    counts : (float, float)
        Writes and flushes that were recorded.
    per_s : float
        Rate of a stream with one request of those that were counted.
    prefix : str
    said : (str, list of str)
        The flushes in words, and the notes to which what becomes of them is added.
    """
    n_writes, n_flushes = counts
    recorded, notes = said
    others = n_flushes - n_writes
    is_apart = others > _FLUSHES_APART * n_flushes
    every = max(round(n_writes / n_flushes), 1)
    after = f"every {every:,} writes" if every > 1 else "each write"
    follows = f"one follows {after} (fdatasync)" if n_writes else "there are no writes that they could follow"
    more = f", and {in_digits(others * per_s)}/s belong to no write: a stream of flushes" if is_apart else ""
    notes.append(f"{recorded}; {follows}{more or ', as many as were recorded'}")
    sync = {"sync": "fdatasync"} | ({"sync_every": every} if every > 1 else {})
    found = [stream | sync if stream["name"] == f"{prefix}writes" else stream for stream in streams]
    if is_apart:
        arrival = {"kind": "poisson", "rate_per_s": others * per_s}
        found.append({"name": f"{prefix}flushes", "kind": "flushes", "arrival": arrival})
    return found


def _open_stream(name: str, read_ratio: float, rate_per_s: float, sizes: Mapping[int, float]) -> dict[str, Any]:
    return {
        "name": name,
        "read_ratio": read_ratio,
        "sizes": [{"size_bytes": size, "weight": float(count)} for size, count in sizes.items()],
        "arrival": {"kind": "poisson", "rate_per_s": float(rate_per_s)},
    }


# ---------------------------------------------------------------- fio


def _from_fio(jobs: list[FioJob], kind: str, source: str, name: str | None) -> FoundWorkload:
    """The jobs of one group: the first, or the one with a job of that name."""
    notes: list[str] = []
    groups = _groups_by_name(jobs)
    if name is not None and name not in groups:
        raise FormatError(
            Fault("device", name, f"is no job of this {kind} file", f"it has {_some(list(groups))}"), source
        )
    group = jobs[0].group if name is None else groups[name]
    taken = [job for job in jobs if job.group == group]
    if len(taken) < len(jobs) and name is None:
        n_groups = len({job.group for job in jobs})
        later = "1 later group was" if n_groups == 2 else f"{n_groups - 1} later groups were"
        others = [name for name, place in groups.items() if place != group]
        notes.append(
            f"only the first group of jobs was taken ({_some(_names(taken))}); {later} left out, because fio runs "
            f"groups one after another: --device takes a job by its name ({_some(others)})"
        )
    workload = fio_workload(taken, source, notes)
    dropped = "; ".join(dict.fromkeys(job.dropped_flushes for job in taken if job.dropped_flushes))
    return FoundWorkload(workload, kind, {}, None, np.zeros(0), tuple(notes), dropped)


def _groups_by_name(jobs: list[FioJob]) -> dict[str, int]:
    """Return the names that choose a group of jobs; a name that later groups repeat is followed by its number there.

    The second group with a job "t" is "t#2".
    """
    places: dict[str, list[int]] = {}
    for job in jobs:
        groups = places.setdefault(job.name, [])
        groups += [job.group] if job.group not in groups else []
    found = {name: groups[0] for name, groups in places.items()}
    for name, groups in places.items():
        for number, group in enumerate(groups[1:], start=2):
            found.setdefault(f"{name}#{number}", group)
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


def _names(jobs: list[FioJob]) -> list[str]:
    return list(dict.fromkeys(job.name for job in jobs))


# ---------------------------------------------------------------- traces


def _from_trace(
    path: str | Path, kind: str, level: Level, device: str | None, interval_s: float, errors: Errors
) -> FoundWorkload:
    device = None if device == "all" else device
    reader = read_trace(path, format=kind.removeprefix("trace:"), device=device, errors=errors)
    facts = TraceFacts(round(interval_s * 1e9))
    for chunk in reader:
        facts.add(chunk)
    n = sum(facts.n_requests)
    if n == 0:
        raise file_error(path, "holds no reads or writes")
    notes = []
    if device is None and len(reader.device_names) > 1:
        notes.append(f"the requests of {len(reader.device_names)} devices were taken together, as on one array")
    rates = facts.rates_per_s()
    if not len(rates):
        rule = f"has one time for all of its {n} requests: no rate can be known"
        raise file_error(path, rule, "give a longer part of the trace, or one with a finer clock")
    if facts.tick_ns >= COARSE_CLOCK_NS:
        notes.append(f"the clock has steps of {facts.tick_ns / 1e9:g} s: bursts within a step are not seen")
    if facts.last_ns < facts.rate.width:
        notes.append(f"the trace is only {facts.last_ns / 1e9:.3g} s long: its one rate is no percentile of anything")
    far = facts.far_record
    notes += [far] if far else []
    rate = level.rate(rates)
    if rate <= 0:
        rule = f"has no load there: {far}" if far else "has no load there"
        fix = f"leave that record out, or {_HIGHER}" if far else _HIGHER
        raise FormatError(Fault("level", str(level), rule, fix), str(path))
    n_intervals = f"{len(rates)} interval{'s' * (len(rates) > 1)} of {facts.rate.width / 1e9:g} s"
    notes.append(level.in_words(n_intervals))
    notes += filter(None, [level.warning(rates)])
    notes.append("arrivals within an interval were taken as random (Poisson)")
    if reader.n_skipped:
        notes.append(f"{reader.n_skipped} entries {SKIPPED_WORDS} were left out")
    if reader.n_malformed:
        notes.append(f"{reader.n_malformed} malformed lines were left out")
    streams = []
    for op, name in enumerate(("reads", "writes")):
        if facts.n_requests[op]:
            stream = _open_stream(name, 1.0 - op, rate * facts.n_requests[op] / n, facts.sizes(op))
            streams.append(stream | _places(facts, op))
    if any(stream["addresses"]["pattern"] == "hot_spot" for stream in streams):
        notes.append(f"the busiest {_HOT_SPACE:.0%} of the space were laid together, at its front")
    largest = max(size["size_bytes"] for stream in streams for size in stream["sizes"])
    span = max(-(-facts.end_bytes // 4096) * 4096, largest)
    if reader.n_flushes:
        counts = (facts.n_requests[1], reader.n_flushes)
        streams = _with_flushes(streams, counts, rate / n, "", (f"{reader.n_flushes:,} flushes", notes))
    workload = {"name": Path(path).name[:120], "span_bytes": span, "streams": streams}
    return FoundWorkload(workload, kind, _levels(rates), float(rates.mean()), rates, tuple(notes))


def _places(facts: TraceFacts, op: int) -> dict[str, Any]:
    sequential = facts.sequential_ratio(op)
    if sequential > _SEQUENTIAL_ABOVE:
        mean_run = min(1 / (1 - sequential), facts.n_requests[op]) if sequential < 1 else facts.n_requests[op]
        return {"addresses": {"pattern": "sequential", "mean_run": float(mean_run)}}
    hot = facts.hot_share(_HOT_SPACE)
    if hot > _HOT_ABOVE:
        return {"addresses": {"pattern": "hot_spot", "access_ratio": round(hot, 4), "space_ratio": _HOT_SPACE}}
    return {"addresses": {"pattern": "uniform"}}

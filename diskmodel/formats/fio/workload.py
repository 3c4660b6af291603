"""Jobs of fio, asked for or measured, as streams of a workload description."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.effects import NO_DRIVE, notes_of, writes_in_zones
from diskmodel.formats.fio.job import LIMITED_BELOW, FioJob
from diskmodel.formats.fio.options import DEFAULT_ENGINE, SYNCHRONOUS_ENGINES, size_bytes, time_ns
from diskmodel.formats.sizes import whole_size
from diskmodel.units import in_digits

_SECTOR_BYTES = 512
#: Zones of host-managed shingled drives, and how many of them such a drive keeps open, where a job leaves both to the
#: drive: those that were measured (westerndigitalcorporation/zonedstorage.io) and their successors have these.
_ZONE_BYTES = 256 << 20
_OPEN_ZONES = 128
_KINDS = ("read", "write")

#: A result whose number in flight (IOPS times latency) differs from numjobs × iodepth by more is reported. Runs that
#: saturate a device agree within 2 %; a tenth leaves room for ramps and short runs.
_LITTLE_REPORTED = 0.1

#: Bands that a continuous distribution of places is described by; half as many would blur its hottest percent.
_N_BANDS = 20


#: Jobs, or settings of one option, that a note names before it counts the rest.
_MAX_NAMED = 3


@dataclass
class _Notes:
    """Notes of several jobs; equal ones of several jobs are merged into one line.

    Attributes
    ----------
    found : dict
        Note → jobs and settings ("startdelay=4") that it is about, in order of appearance.
    """

    found: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)

    def add(self, job: str, note: str, settings: Sequence[str] = ()) -> None:
        jobs, all_settings = self.found.setdefault(note, ([], []))
        jobs += [job] if job not in jobs else []
        all_settings += [setting for setting in settings if setting not in all_settings]

    def lines(self, jobs: Sequence[str]) -> list[str]:
        everyone = len(set(jobs))
        lines = []
        for note, (whose, settings) in self.found.items():
            is_all = len(whose) == everyone and everyone > 1
            about = ["" if is_all or whose == [""] else _named(whose), _named(settings), note]
            lines.append(": ".join(part for part in about if part))
        return lines


def _named(names: Sequence[str]) -> str:
    rest = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def fio_workload(jobs: Sequence[FioJob], source: str, notes: list[str] | None = None) -> dict[str, Any]:
    """Return jobs that run at the same time as one workload, in the form that `Workload.parse` takes.

    A job becomes a closed stream with its requests outstanding, or, for each direction that `rate` or `rate_iops`
    limits, an open stream at that rate. Where results are given, their mix counts, and the number outstanding is
    checked by Little's law: a run that kept less than half of it in flight was limited by something else than the
    device and becomes open streams at its measured rates.

    Parameters
    ----------
    jobs : sequence of FioJob
    source : str
        The file that errors name.
    notes : list of str, optional
        Receives what had to be assumed or was left out.

    Raises
    ------
    FormatError
        When no job reads or writes a drive, or an option cannot be read.
    """
    found = _Notes()
    streams: list[dict[str, Any]] = []
    for job in jobs:
        for stream in _Job(job, source, found).streams():
            stream["name"] = f"{stream['name']}-{len(streams)}"[-64:]
            streams.append(stream)
    if not streams:
        rule = "neither reads nor writes a drive (trims only)"
        raise FormatError(Fault(jobs[0].name or "job", jobs[0].options.get("rw"), rule), source)
    _spread_equal_gaps(streams)
    places = {name for job in jobs for name in _names_of(job.options.get("filename", "")) or [job.name]}
    if len(places) > 1:
        found.add(
            "",
            f"{len(places)} files or devices share one region of the array: seeks between them are "
            "understated, and cache hits overstated",
        )
    if notes is not None:
        notes += [line for line in found.lines([job.name for job in jobs]) if line not in notes]
    return {"name": (jobs[0].name or "fio")[:120], "streams": streams}


def _spread_equal_gaps(streams: list[dict[str, Any]]) -> None:
    """Turn regular arrivals of equal gaps into random ones: they would all come at the same instants."""
    gaps = [tuple(stream["arrival"].get("inter_arrival_ns", ())) for stream in streams]
    for stream, gap in zip(streams, gaps, strict=True):
        if gap and gaps.count(gap) > 1:
            stream["arrival"] = {"kind": "poisson", "rate_per_s": 1e9 / gap[0]}


class _Job:
    """Translates one job into streams."""

    def __init__(self, job: FioJob, source: str, notes: _Notes) -> None:
        self._job, self._source, self._notes = job, source, notes
        self._options = job.options
        # The results hold the number of clones, too.
        self._has_options = bool(set(job.options) - {"numjobs"})

    def streams(self) -> Iterator[dict[str, Any]]:
        job = self._job
        if job.engine is not None and job.engine in NO_DRIVE:
            rule = f"{NO_DRIVE[job.engine]} instead of reading and writing"
            raise self._error("ioengine", job.engine, rule, "leave the job out")
        if self._options.get("read_iolog"):
            rule = "replays a log: the job file does not hold its requests"
            raise self._error("read_iolog", self._options["read_iolog"], rule, "give that log instead")
        self._note_options()
        if job.combined is not None:
            yield from self._sections(job.combined)
            return
        shares = self._shares()
        if not shares:
            self._note("only trims, left out")
            return
        # In a result, directions beyond the asked ones are another phase (verification) and not part of the load.
        rates = self._slower_than_pauses({kind: rate for kind, rate in job.rates_per_s.items() if kind in shares})
        if not rates and (clients := self._clients()) is None:
            measured = {kind: part.iops for kind, part in job.directions.items() if kind in shares}
            rates = {kind: rate for kind, rate in measured.items() if rate > 0}
            yield from (self._open(kind, rate, is_regular=False) for kind, rate in rates.items())
            return
        if not rates:
            yield self._stream(shares, {"kind": "closed", "clients": clients, **self._think()})
            return
        self._check_rates(rates)
        # The evenly spaced requests of several clones are not evenly spaced together.
        is_regular = self._options.get("rate_process", "linear") != "poisson" and job.n_jobs == 1
        yield from (self._open(kind, rate, is_regular=is_regular) for kind, rate in rates.items())
        if rest := [kind for kind in shares if kind not in rates]:
            arrival = {"kind": "closed", "clients": job.outstanding, **self._think()}
            yield self._stream(dict.fromkeys(rest, 1.0), arrival)

    # ------------------------------------------------------------ what is asked and what was measured

    def _shares(self) -> dict[str, float]:
        """Direction → its share of the requests."""
        job = self._job
        measured = job.measured_read_fraction
        pattern = job.pattern
        if pattern is None:
            if measured is None:
                raise self._error("rw", None, "must be a pattern of reads and writes")
            self._note(
                "the output does not say whether places were random or sequential: random is assumed, the "
                "harder for disks"
            )
        elif "trim" in pattern:
            if pattern in ("trim", "randtrim"):
                return {}
            self._note("trims before each write are left out")
        share = job.read_fraction if pattern in ("read", "write", "randread", "randwrite") else measured
        if share is None:
            share = 0.0 if job.read_fraction is None else job.read_fraction
        asked = job.read_fraction
        if pattern in ("rw", "randrw") and measured is not None and asked is not None and abs(measured - asked) > 0.02:
            self._note(
                f"{measured:.1%} of the requests were reads, {asked:.0%} were asked for: the measured mix is taken"
            )
        found = {kind: part for kind, part in (("read", share), ("write", 1 - share)) if part > 0}
        other = [kind for kind in job.directions if kind not in found and kind in _KINDS]
        if other and pattern is not None:
            self._note(
                f"results of {other[0]}s beside rw={self._options.get('rw')} are left out: they verify or "
                "belong to another job"
            )
        return found

    def _clients(self) -> int | None:
        """Requests outstanding; None where the result shows that a rate limited the job instead."""
        job = self._job
        allowed, measured = job.outstanding, job.measured_outstanding
        if measured is None:
            if not self._has_options:
                raise self._error("latency", None, "is missing: the number of requests outstanding is unknown")
            return allowed
        if not self._has_options and measured < LIMITED_BELOW:
            self._note(
                f"IOPS × latency makes {in_digits(measured)} requests outstanding, less than a job without "
                "limits keeps: something else limited the run (a rate, pauses, flushes); the measured rates are taken "
                "as arrivals"
            )
            return None
        if not self._has_options:
            self._note(
                f"the output holds no options: {in_digits(measured, 4)} requests outstanding follow from IOPS × latency"
            )
            return max(round(measured), 1)
        if self._think() or abs(measured / allowed - 1) <= _LITTLE_REPORTED:
            return allowed
        seen = f"the options allow {allowed} requests outstanding, IOPS × latency makes {in_digits(measured)}"
        if measured < LIMITED_BELOW * allowed:
            is_buffered = job.is_direct is False or (job.is_direct is None and job.is_complete)
            if is_buffered and job.engine not in SYNCHRONOUS_ENGINES:
                self._note(f"{seen}: buffered requests wait inside fio; the measured number is taken")
                return max(round(measured), 1)
            self._note(f"{seen}: something else limited the run; the measured rates are taken as arrivals")
            return None
        if measured > allowed:
            self._note(f"{seen}: the options shown are not all; the measured number is taken")
            return max(round(measured), 1)
        self._note(f"{seen}: the run did not keep the device busy all the time")
        return allowed

    def _slower_than_pauses(self, rates: dict[str, float]) -> dict[str, float]:
        """Return the rates; nothing where pauses between the requests hold the job below them."""
        think = self._think()
        if not rates or not think:
            return rates
        text, total = self._options["thinktime"], sum(rates.values())
        most = self._job.outstanding / (think["think_ns"] / 1e9)
        if most >= total:
            self._note(f"thinktime={text} is left out: the rate holds the job below what the pauses allow")
            return rates
        slower = f"{in_digits(most, 4)}/s, less than the rate of {in_digits(total, 4)}/s"
        self._note(f"thinktime={text} allows at most {slower}: it decides")
        return {}

    def _check_rates(self, rates: Mapping[str, float]) -> None:
        job = self._job
        for kind, rate in rates.items():
            part = job.directions.get(kind)
            if part is not None and abs(part.iops / rate - 1) > _LITTLE_REPORTED:
                self._note(
                    f"{kind}s: {in_digits(rate, 4)}/s were asked for and {in_digits(part.iops, 4)}/s measured: the "
                    "rate asked for is taken; the device could not keep up or the run was short"
                )
        if "rate" in self._options:
            self._note(f"rate={self._options['rate']} is taken as bytes per second of each clone, as fio does")
        self._note(
            f"limited rates become arrivals of their own; in {job.program} at most {job.outstanding} would be "
            "outstanding"
        )

    # ------------------------------------------------------------ streams

    def _sections(self, patterns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Streams of sections that were reported as one: each direction as it was measured."""
        parts = {kind: part for kind, part in self._job.directions.items() if kind in _KINDS and part.iops > 0}
        self._note(
            "group_reporting adds up sections of different settings: each direction becomes a stream of its mean "
            "size at its measured rate; run without group_reporting for the settings of each"
        )
        for kind, part in parts.items():
            mean = part.mean_bytes or part.bandwidth_bytes_per_s / part.iops
            stream: dict[str, Any] = {
                "name": f"{self._job.name or 'job'}-{kind}s"[-58:],
                "read_ratio": float(kind == "read"),
                "sizes": [{"size_bytes": whole_size(mean), "weight": 1.0}],
                "arrival": {"kind": "poisson", "rate_per_s": float(part.iops)},
            }
            stream |= self._sync() if kind == "write" else {}
            if patterns.get(kind) == "sequential":
                stream["addresses"] = {"pattern": "sequential"}
            elif patterns.get(kind) != "random":
                self._note(f"places of {kind}s are not known: random is assumed, the harder for disks")
            yield stream | self._region()

    def _open(self, kind: str, rate_per_s: float, *, is_regular: bool) -> dict[str, Any]:
        arrival: dict[str, Any] = {"kind": "poisson", "rate_per_s": float(rate_per_s)}
        if is_regular:
            arrival = {"kind": "given", "inter_arrival_ns": [max(round(1e9 / rate_per_s), 1)]}
        stream = self._stream({kind: 1.0}, arrival)
        return stream | {"name": f"{stream['name']}-{kind}s"[-58:]}

    def _stream(self, shares: Mapping[str, float], arrival: dict[str, Any]) -> dict[str, Any]:
        job = self._job
        total = sum(shares.values())
        sizes = self._sizes({kind: share / total for kind, share in shares.items()})
        stream: dict[str, Any] = {
            "name": (job.name or "job")[:58],
            "read_ratio": shares.get("read", 0.0) / total,
            "sizes": [{"size_bytes": size, "weight": weight} for size, weight in sizes.items()],
            "arrival": arrival,
        }
        if addresses := self._addresses(shares):
            stream["addresses"] = addresses
        if stream["read_ratio"] < 1:
            stream |= self._sync()
        if alignment := self._alignment(sizes):
            stream["alignment_bytes"] = alignment
        return stream | self._region()

    def _sizes(self, shares: Mapping[str, float]) -> dict[int, float]:
        by_kind = {kind: self._sizes_of(kind) for kind in shares}
        if len({tuple(sizes.items()) for sizes in by_kind.values()}) > 1:
            self._note("reads and writes have sizes of their own; in one closed stream both draw from all of them")
        found: dict[int, float] = {}
        for kind, sizes in by_kind.items():
            for size, weight in sizes.items():
                whole = _SECTOR_BYTES * max(math.ceil(size / _SECTOR_BYTES), 1)
                if whole != size:
                    self._note("sizes are rounded up to whole sectors of 512 bytes")
                found[whole] = found.get(whole, 0.0) + weight * shares[kind]
        return dict(sorted(found.items()))

    def _sizes_of(self, kind: str) -> Mapping[float, float]:
        job = self._job
        sizes: Mapping[float, float] = {float(size): share for size, share in job.sizes.get(kind, {}).items()}
        part = job.directions.get(kind)
        if not sizes and kind in job.block_bytes:
            return {job.block_bytes[kind]: 1.0}
        mean = None if part is None else part.mean_bytes
        asked = sum(size * share for size, share in sizes.items())
        if mean is None or abs(mean / asked - 1) <= 0.05:
            return sizes
        if not job.has_sizes:
            return {whole_size(mean): 1.0}
        self._note(
            f"{kind}s: {mean:,.0f} bytes a request were measured, {asked:,.0f} asked for: the measured mean is taken"
        )
        return {mean: 1.0}

    def _sync(self) -> dict[str, Any]:
        """What makes writes safe, as fields of a stream."""
        job, rule = self._job, self._job.sync_rule
        if rule is None:
            return {}
        name, every = rule
        if name != "dsync" and job.depth > 1 and job.engine not in SYNCHRONOUS_ENGINES:
            self._note(f"{name}={every}: fio issues nothing during a flush; here only the client waits that it follows")
        return {"sync": name} | ({"sync_every": every} if every > 1 else {})

    def _alignment(self, sizes: Mapping[int, float]) -> int | None:
        """fio aligns places to the smallest block, or to `blockalign`."""
        if self._options.get("bs_unaligned", "0") != "0":
            return _SECTOR_BYTES
        text = self._options.get("blockalign", "").partition(",")[0]
        smallest = self._bytes("blockalign", text) if text else min(sizes)
        return None if smallest is None or smallest % _SECTOR_BYTES or smallest == 0 else smallest

    def _addresses(self, shares: Mapping[str, float]) -> dict[str, Any] | None:
        job = self._job
        if job.pattern is None:
            return None
        text = self._options.get("rw", "").partition(":")[2].strip()
        if not job.pattern.startswith("rand"):
            if not text:
                return {"pattern": "sequential", "n_readers": job.n_jobs}
            skip = self._number_behind_rw(text)
            stride = skip + round(max(job.block_bytes.values(), default=4096.0))
            if skip > 0 and stride % _SECTOR_BYTES == 0:
                return {"pattern": "strided", "stride_bytes": stride}
            self._note(f"rw={self._options['rw']}: steps backwards are taken as random places")
            return None
        if writes_in_zones(self._options):
            return self._zone_writes(shares, text)
        if text and self._options.get("rw_sequencer", "sequential") == "sequential":
            return {
                "pattern": "sequential",
                "mean_run": float(max(self._number_behind_rw(text), 1)),
                "n_readers": job.n_jobs,
            }
        if text:
            self._note(f"rw={self._options['rw']}: repeated places are taken as new random ones")
        return self._distribution(shares)

    def _zone_writes(self, shares: Mapping[str, float], text: str) -> dict[str, Any] | None:
        """Random places with `zonemode=zbd`: writes go to the write pointers of open zones."""
        if "read" in shares:
            self._note("reads fall on the whole region, in fio on what has been written")
        if "write" not in shares:
            return None
        if self._options.get("random_distribution", "random") != "random":
            self._note("zones that are open are equally likely to be written, whatever random_distribution is")
        zone = {"pattern": "zone_write", "zone_bytes": self._zone_bytes()}
        if text and self._options.get("rw_sequencer", "sequential") == "sequential":
            self._note(f"rw={self._options['rw']}: each clone writes one zone after the other")
            return zone | {"n_open": self._job.n_jobs}
        limits = [self._options.get(name, "0").strip() for name in ("max_open_zones", "job_max_open_zones")]
        whole, each = (int(limit) if limit.isdigit() else 0 for limit in limits)
        if not whole and not each:
            self._note(f"without max_open_zones, {_OPEN_ZONES} zones are open, as many as such drives keep open")
        most = [n for n in (whole, each * self._job.n_jobs) if n]
        return zone | {"n_open": min(most, default=_OPEN_ZONES)}

    def _zone_bytes(self) -> int:
        """Zone that `zonemode=zbd` writes: that of the drive, unless the job repeats it."""
        text = self._options.get("zonesize", "").strip()
        if not text or text == "0":
            self._note(f"zones are those of the drive: {_ZONE_BYTES >> 20} MiB is taken")
            return _ZONE_BYTES
        return self._bytes("zonesize", text) or _ZONE_BYTES

    def _number_behind_rw(self, text: str) -> int:
        sign = -1 if text.startswith("-") else 1
        return sign * (self._bytes("rw", text.lstrip("+-")) or 0)

    def _distribution(self, shares: Mapping[str, float]) -> dict[str, Any] | None:
        whole = self._options.get("random_distribution", "random")
        kind, _, rest = whole.partition(":")
        if kind in ("zoned", "zoned_abs"):
            first, *others = rest.split(",")
            if others and "read" not in shares:
                first = others[0]
            elif others and "write" in shares:
                self._note(f"random_distribution={whole}: the zones of reads are taken for writes too")
            return self._zones(kind, first)
        rest = rest.partition(",")[0].partition("/")[0]
        if kind in ("random", ""):
            return None
        if kind in ("zipf", "pareto"):
            try:
                value = float(rest or {"zipf": 1.1, "pareto": 0.2}[kind])
            except ValueError:
                raise self._error("random_distribution", whole, f"must be {kind}:NUMBER") from None
            granule = round(min(self._job.block_bytes.values(), default=4096.0))
            if kind == "zipf":
                return {"pattern": "zipf", "theta": value, "granule_bytes": max(granule // 512 * 512, 512)}
            if 0 < value < 1:
                self._note("the popular blocks of a Pareto law lie together here; fio scatters them")
                return {"pattern": "zoned", "zones": _pareto_zones(value)}
        self._note(f"random_distribution={whole} is taken as uniformly random, which is harder for caches")
        return None

    def _zones(self, kind: str, text: str) -> dict[str, Any] | None:
        """Zones as fio takes them: `access/space`, both in percent (`zoned_abs`: space in bytes)."""
        region = self._bytes("size", self._options.get("size", "")) if kind == "zoned_abs" else None
        found: list[list[float | None]] = []
        for part in text.split(":"):
            access, _, space = part.partition("/")
            pair: list[float | None] = [None, None]
            try:
                pair[0] = float(access) if access.strip() else None
                if space.strip():
                    pair[1] = float(size_bytes(space)) if kind == "zoned_abs" else float(space)
            except ValueError:
                raise self._error("random_distribution", f"{kind}:{text}", "must be zones like 60/10:40/90") from None
            found.append(pair)
        extent = 100.0
        if kind == "zoned_abs":
            extent = float(region or sum(space or 0.0 for _, space in found))
            if region is None:
                self._note("zones of absolute size are taken as shares of all of them")
        for place, full in ((0, 100.0), (1, extent)):
            missing = [pair for pair in found if pair[place] is None]
            rest = full - sum(pair[place] or 0.0 for pair in found)
            for pair in missing:
                pair[place] = max(rest, 0.0) / len(missing)
        zones = [
            {"access_ratio": (access or 0.0) / 100, "space_ratio": (space or 0.0) / extent} for access, space in found
        ]
        total_access, total_space = (sum(zone[key] for zone in zones) for key in ("access_ratio", "space_ratio"))
        if abs(total_access - 1) > 0.01 or total_space > 1.01 or total_space <= 0:
            raise self._error("random_distribution", f"{kind}:{text}", "must have shares that add up to 100 %")
        return {"pattern": "zoned", "zones": zones}

    def _region(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        is_shared = bool(self._options.get("filename"))
        # `size` is that of all files together, `filesize` that of each.
        for option, name in (("filesize", "span"), ("size", "span"), ("offset", "offset")):
            text = self._options.get(option)
            if not text or f"{name}_bytes" in found:
                continue
            if text.endswith("%"):
                share = float(text[:-1]) / 100 if re.fullmatch(r"\d{1,3}%", text) else -1.0
                if not 0 <= share <= 1:
                    raise self._error(option, text, "must be a size or a percentage")
                if (share < 1) if option == "size" else (share > 0):
                    found[f"{name}_ratio"] = share
                continue
            text = text if option == "offset" else text.partition("-")[0]
            if re.fullmatch(r"\d{1,9}z", text) and writes_in_zones(self._options):
                if n_bytes := int(text[:-1]) * self._zone_bytes():
                    found[f"{name}_bytes"] = n_bytes
                continue
            if re.fullmatch(r"\d+z", text) or "$" in text:
                why = "a number of zones" if text.endswith("z") else "not known here"
                self._note(f"{option}={text} is {why}: requests fall on the whole array")
                continue
            value = self._bytes(option, text)
            if value:
                n_files = self._n_files() if option == "filesize" else 1
                found[f"{name}_bytes"] = value * n_files * (1 if is_shared or name == "offset" else self._job.n_jobs)
        if found.get("span_bytes") and not is_shared and self._job.n_jobs > 1:
            self._note(f"{self._job.n_jobs} clones have files of their own: the region is all of them")
        largest = max((max(sizes) for sizes in self._job.sizes.values() if sizes), default=0)
        if found.get("span_bytes", largest) < largest:
            found["span_bytes"] = math.ceil(largest / _SECTOR_BYTES) * _SECTOR_BYTES
        return found

    def _n_files(self) -> int:
        """Files of each clone."""
        names = _names_of(self._options.get("filename", ""))
        text = self._options.get("nrfiles", "1")
        return max(len(names), int(text) if text.isdigit() else 1, 1)

    def _think(self) -> dict[str, int]:
        text = self._options.get("thinktime")
        if not text or text.strip() in ("0", "0s"):
            return {}
        # Unlike other times, a bare think time is in microseconds.
        try:
            pause_ns = time_ns(f"{text}us" if text.isdigit() else text)
        except ValueError as error:
            raise self._error("thinktime", text, str(error)) from None
        blocks = self._options.get("thinktime_blocks", "1")
        # fio waits for all outstanding requests before it pauses, so at least as many complete between two pauses.
        depth = max(self._job.outstanding // self._job.n_jobs, 1)
        if blocks.isdigit() and int(blocks) > depth:
            self._note(f"the pause after every {blocks} requests is spread over all of them: bursts are lost")
            pause_ns = round(pause_ns * depth / int(blocks))
        return {"think_ns": pause_ns}

    def _bytes(self, option: str, text: str) -> int | None:
        if not text or text.endswith("%"):
            return None
        try:
            return size_bytes(text, 1000 if self._options.get("kb_base") == "1000" else 1024)
        except ValueError as error:
            raise self._error(option, text, str(error)) from None

    # ------------------------------------------------------------ notes and errors

    def _note_options(self) -> None:
        job = self._job
        for note in job.notes:
            self._note(note.removeprefix(f"{job.name}: "))
        if job.syncs_per_s and job.sync is not None:
            rule = job.sync_rule
            is_used = rule is not None and rule[0] != "dsync"
            said = f"measured: {job.syncs_per_s:,.4g} commits/s, each flush {in_digits(job.sync.mean_ns / 1e6)} ms"
            assumed = ", the calls of sync_file_range among them" if job.range_syncs else ""
            if job.range_syncs and not is_used:
                mean = in_digits(job.sync.mean_ns / 1e6)
                said = f"measured: {job.syncs_per_s:,.4g} calls of sync_file_range/s, each {mean} ms"
                is_used, assumed = True, ""
            if rule is not None and not job.is_complete:
                after = "each write" if rule[1] == 1 else f"every {rule[1]:,} writes"
                assumed = f"; from their number, {rule[0]} follows {after}"
            self._note(f"{said} on average{assumed}" if is_used else f"{said} on average, which no option explains")
        if job.program == "fio" and not job.options and job.write is not None and job.n_syncs is None:
            self._note("the output does not say whether writes were made safe (fsync, sync): none are assumed to be")
        for note, settings in notes_of(self._options, job.engine).items():
            self._notes.add(job.name, note, settings)
        if self._options and job.engine is None and job.depth > 1:
            self._note(f"without ioengine fio takes {DEFAULT_ENGINE} (on Linux), which ignores iodepth={job.depth}")
        elif job.engine in SYNCHRONOUS_ENGINES and job.depth > 1:
            self._note(f"ioengine={job.engine} waits for each request and ignores iodepth={job.depth}")
        if job.is_direct is None and not job.is_complete:
            self._note("the output does not say whether requests went through the page cache: direct=1 is assumed")
        elif job.is_direct is not True:
            what = "direct=1 fio" if job.program == "fio" else f"direct requests {job.program}"
            self._note(f"without {what} goes through the page cache, which the workload does not include")
        if job.error:
            self._note(f"fio ended with error {job.error}: its figures may be cut short")

    def _note(self, text: str) -> None:
        self._notes.add(self._job.name, text)

    def _error(self, option: str, value: object, rule: str, fix: str = "") -> FormatError:
        return FormatError(Fault(f"{self._job.name or 'job'}.{option}", value, rule, fix), self._source)


def _names_of(filename: str) -> list[str]:
    """Return the files of fio's `filename`: colons separate them, but for those behind a backslash."""
    return [name for name in re.split(r"(?<!\\):", filename) if name]


def _pareto_zones(h: float) -> list[dict[str, float]]:
    """Bands of the law with which a share `h` of the space gets 1 - h of the requests.

    fio draws the place u^p of a uniform u, with p = log(h) / log(1 - h), so a share x of the space gets x^(1/p).
    """
    power = math.log(h) / math.log(1 - h)
    edges = [(band / _N_BANDS) ** max(power, 1.0) for band in range(_N_BANDS + 1)]
    access = [edge ** (1 / power) for edge in edges]
    return [
        {"access_ratio": access[i + 1] - access[i], "space_ratio": edges[i + 1] - edges[i]} for i in range(_N_BANDS)
    ]

"""Jobs of fio, asked for or measured, as streams of a workload description."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.effects import NO_DRIVE, notes_of
from diskmodel.formats.fio.job import LIMITED_BELOW, FioJob
from diskmodel.formats.fio.options import DEFAULT_ENGINE, SYNCHRONOUS_ENGINES, time_ns
from diskmodel.formats.fio.places import Places, names_of
from diskmodel.formats.sizes import whole_size
from diskmodel.units import in_digits

_SECTOR_BYTES = 512
_KINDS = ("read", "write")

#: A result whose number in flight (IOPS times latency) differs from numjobs × iodepth by more is reported. Runs that
#: saturate a device agree within 2 %; a tenth leaves room for ramps and short runs.
_LITTLE_REPORTED = 0.1

#: Jobs, or settings of one option, that a note names before it counts the rest.
_MAX_NAMED = 3

#: The deepest class of fio's table of depths (">=64").
_DEEPEST_CLASS = 64


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
    places = {name for job in jobs for name in names_of(job.options.get("filename", "")) or [job.name]}
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
        self._places = Places(job, source, self._note)
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
        self._note_rates()
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
            return self._clients_without_latency(allowed)
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

    def _clients_without_latency(self, allowed: int) -> int | None:
        """As `_clients`, of a result that has no latencies: the table of depths may show that the job was limited."""
        job = self._job
        rates = [part.iops for kind, part in job.directions.items() if kind in _KINDS and part.iops]
        if not rates or job.is_complete or self._think():
            return allowed
        seen = f"no latency was measured (gtod_reduce): {in_digits(sum(rates), 4)}/s"
        if job.mean_depth is not None and job.mean_depth < LIMITED_BELOW * min(allowed, _DEEPEST_CLASS) / job.n_jobs:
            self._note(
                f"{seen} with {in_digits(job.mean_depth)} of {job.depth} outstanding when a request was issued: a "
                "rate, or something else than the device, limited the run; the measured rates are taken as arrivals"
            )
            return None
        self._note(
            f"{seen}, and nothing shows whether a rate limited the run: the device is taken as the limit, with "
            f"{allowed} outstanding"
        )
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

    def _note_rates(self) -> None:
        job = self._job
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
        taken = "each direction becomes a stream of its mean size at its measured rate"
        self._note(
            f"group_reporting adds up sections of different settings: {taken}; run without group_reporting for the "
            "settings of each"
            if self._has_options
            else f"reads and writes have sizes of their own, in sections that are reported as one or one job: {taken}"
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
            if patterns.get(kind) and self._job.is_complete:
                self._note(f"places of {kind}s are those of the section that is shown; others may have other places")
            if patterns.get(kind) == "sequential":
                stream["addresses"] = {"pattern": "sequential"}
            elif patterns.get(kind) != "random":
                self._note(f"places of {kind}s are not known: random is assumed, the harder for disks")
            yield stream | self._places.region()

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
        if addresses := self._places.addresses(shares):
            stream["addresses"] = addresses
        if stream["read_ratio"] < 1:
            stream |= self._sync()
        if alignment := self._alignment(sizes):
            stream["alignment_bytes"] = alignment
        return stream | self._places.region()

    def _sizes(self, shares: Mapping[str, float]) -> dict[int, float]:
        by_kind = {kind: self._sizes_of(kind) for kind in shares}
        if len({tuple(sizes.items()) for sizes in by_kind.values()}) > 1:
            own = {kind: sum(size * share for size, share in sizes.items()) for kind, sizes in by_kind.items()}
            mean = sum(shares[kind] * own[kind] for kind in own)
            means = ", ".join(f"{kind}s of {in_digits(size / 1024)} KiB" for kind, size in own.items())
            self._note(
                f"{means}: one closed stream draws both from all of these sizes, so that each has "
                f"{in_digits(mean / 1024)} KiB on average; the bytes of both together are right"
            )
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
        smallest = self._places.bytes_of("blockalign", text) if text else min(sizes)
        return None if smallest is None or smallest % _SECTOR_BYTES or smallest == 0 else smallest

    def _think(self) -> dict[str, int]:
        text = self._options.get("thinktime")
        if not text or text.strip() in ("0", "0s"):
            return {}
        # Unlike other times, a bare think time is in microseconds.
        try:
            pause_ns = time_ns(f"{text}us" if text.isdecimal() else text)
        except ValueError as error:
            raise self._error("thinktime", text, str(error)) from None
        blocks = self._options.get("thinktime_blocks", "1")
        # fio waits for all outstanding requests before it pauses, so at least as many complete between two pauses.
        depth = max(self._job.outstanding // self._job.n_jobs, 1)
        if blocks.isdecimal() and int(blocks) > depth:
            self._note(f"the pause after every {blocks} requests is spread over all of them: bursts are lost")
            pause_ns = round(pause_ns * depth / int(blocks))
        return {"think_ns": pause_ns}

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
            if job.flushes_reads and is_used:
                assumed += "; they followed reads, too, as fio does before version 3.38: here they follow each write"
            elif rule is not None and (not job.is_complete or rule != job.asked_flush):
                after = "each write" if rule[1] == 1 else f"every {rule[1]:,} writes"
                assumed = f"; from their number, {rule[0]} follows {after}"
            self._note(f"{said} on average{assumed}" if is_used else f"{said} on average, which no option explains")
        if job.program == "fio" and not job.is_complete and job.write is not None and job.sync_rule is None:
            how = "safe (fsync, sync)" if job.n_syncs is None else "with O_SYNC or O_DSYNC (sync=)"
            self._note(f"the output does not say whether writes were made {how}: none are assumed to be")
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
        if job.program == "fio" and not job.is_complete and (job.pattern or "").startswith("rand"):
            self._note(
                "the output does not say whether some places are popular (random_distribution): none are assumed"
            )
        if job.error:
            self._note(f"fio ended with error {job.error}: its figures may be cut short")

    def _note(self, text: str) -> None:
        self._notes.add(self._job.name, text)

    def _error(self, option: str, value: object, rule: str, fix: str = "") -> FormatError:
        return FormatError(Fault(f"{self._job.name or 'job'}.{option}", value, rule, fix), self._source)

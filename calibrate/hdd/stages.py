"""The stages of the fit of a hard disk: density of tracks, electronics, seek curve, write settle, and the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import ASSUMED_HEADS, MIN_SEEK_NS
from calibrate.evidence import Measurement
from calibrate.hdd.cache import Cache, find_cache
from calibrate.hdd.heads import Heads, find_heads
from calibrate.hdd.host_latency import HIT_QUANTILE, late_by_angle
from calibrate.hdd.rotation import Rotation
from calibrate.hdd.seek import SeekFit, fit_seek
from calibrate.hdd.tracks import Tracks, find_tracks, single_reads
from calibrate.hdd.write_settle import WriteSettle, fit_write_settle
from diskmodel.drive import Hdd
from diskmodel.errors import Fault, InputError

#: Command overhead without cache hits, ns. The seek curve contains the rest: half or double shifts between the two.
ASSUMED_OVERHEAD_NS = 100_000.0
#: Interface rate without cache hits, bytes/s: SATA 3 Gbit/s. It counts for cache hits only; the platter is slower.
ASSUMED_INTERFACE = 300e6
#: Cache where its experiments were not made, bytes and segments: 1 MiB a segment. Traced SCSI drives have
#: `trace.engine.drive.ASSUMED_SCSI_CACHE_BYTES`. More or less changes predictions of many sequential streams only.
ASSUMED_CACHE_BYTES = 16 << 20
ASSUMED_SEGMENTS = 16
#: A re-read answered within this part of a revolution is a hit.
_MAX_HIT_TURNS = 0.25
#: A read answered within this part of a revolution beyond the overhead is a hit: less than any move of the arm takes.
_HIT_TURNS = 1.0 / 32.0
#: A move that the skew hides takes at most this share of it, or rounding would cost a revolution.
_HIDDEN = 0.95
#: Reads needed for a seek curve: some five per knot.
_MIN_READS = 100


@dataclass(frozen=True)
class Electronics:
    """Command overhead and interface, from re-reads that the cache answered.

    `late_ns`, (n,) and empty without such reads, is the delay of each beyond the earliest.
    """

    overhead_ns: float
    overhead_stderr_ns: float
    interface_bytes_per_s: float
    interface_stderr: float
    has_cache: bool
    late_ns: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class HddFit:
    """The parts of a hard disk that one request at a time shows.

    `late_ns`, (n,), is the delay of reads from the platter by the host, beyond the earliest.
    """

    rotation: Rotation
    tracks: Tracks
    electronics: Electronics
    seek: SeekFit
    sector_bytes: int
    found_heads: Heads | None
    cache: Cache
    writes: WriteSettle | None
    late_ns: Floats

    @property
    def before_seek_ns(self) -> float:
        """Return what the time until the head is ready contains besides the seek."""
        return self.electronics.overhead_ns + (float(np.median(self.late_ns)) if len(self.late_ns) else 0.0)

    @property
    def write_overhead_ns(self) -> float:
        """Return the overhead of a write: from those that the cache accepts, else that of a read."""
        if self.cache.plain_write_ns is None:
            return self.electronics.overhead_ns
        wire = self.cache.plain_write_bytes / self.electronics.interface_bytes_per_s * 1e9
        return max(self.cache.plain_write_ns - wire, 0.0)

    @property
    def n_heads(self) -> int:
        """Return the number of heads, assumed where it could not be determined."""
        return self.found_heads.heads if self.found_heads else ASSUMED_HEADS


def fit_electronics(measurement: Measurement, period_ns: float) -> Electronics:
    """Fit a line through cache hits by size; return assumed values without hits."""
    experiment = measurement.experiment("cache_hit")
    hits: dict[int, list[float]] = {}
    for run in experiment.runs if experiment is not None else ():
        latency = run.samples.latency_ns[1:].astype(np.float64)
        good = latency[latency < _MAX_HIT_TURNS * period_ns]
        if len(good) > len(latency) // 2:
            hits.setdefault(int(run.samples.length_bytes[0]), []).extend(good.tolist())
    if len(hits) < 2:
        return Electronics(ASSUMED_OVERHEAD_NS, float("nan"), ASSUMED_INTERFACE, float("nan"), False)
    length = np.array(sorted(hits), np.float64)
    middle = np.array([np.quantile(hits[int(size)], HIT_QUANTILE) for size in length])
    # the error of a quantile near the edge, by the scatter on that side: a stall of one size must not decide
    usual = np.array([np.median(hits[int(size)]) for size in length]) - middle
    error = usual / np.sqrt([HIT_QUANTILE * len(hits[int(size)]) for size in length]) + 100.0
    design = np.stack([np.ones_like(length), length], axis=1) / error[:, None]
    covariance = np.linalg.inv(design.T @ design)
    overhead, per_byte = covariance @ design.T @ (middle / error)
    late = np.concatenate(
        [np.maximum(np.array(hits[int(size)]) - m, 0.0) for size, m in zip(length, middle, strict=True)]
    )
    if per_byte <= 0:
        return Electronics(float(middle.min()), float(error[0]), ASSUMED_INTERFACE, float("nan"), True, late)
    rate = 1e9 / per_byte
    spread = float(np.sqrt(covariance[1, 1])) / per_byte * rate
    return Electronics(float(overhead), float(np.sqrt(covariance[0, 0])), rate, spread, True, late)


def fit_mechanics(measurement: Measurement, rotation: Rotation) -> HddFit:
    """Fit everything that reads one at a time can determine.

    Raises
    ------
    InputError
        When neither rates nor angles determine sectors per track, or too few reads moved the arm for a seek curve.
    """
    device = measurement.target.get("device") or {}
    sector = int(device.get("logical_sector_bytes") or 512)
    period = rotation.period_ns
    heads = find_heads(measurement, period, sector)
    tracks = find_tracks(measurement, period, sector, heads.skews if heads else None)
    if tracks is None:
        rule = "has neither sequential rates nor angles, so sectors per track cannot be determined"
        raise InputError(Fault("evidence", str(measurement.path), rule, "measure again, with the experiment zones"))
    n_heads = heads.heads if heads else ASSUMED_HEADS
    electronics = fit_electronics(measurement, period)
    distance, waited = _waits(measurement, tracks, electronics, period, sector, n_heads)
    if len(distance) < _MIN_READS:
        rule = f"has {len(distance)} reads one at a time; at least {_MIN_READS} are needed for a seek curve"
        raise InputError(Fault("evidence", str(measurement.path), rule, "measure longer"))
    seek = fit_seek(distance, waited, period, nearest=float(n_heads))
    writes = fit_write_settle(measurement, tracks, seek, period_ns=period, sector_bytes=sector)
    late_ns = late_by_angle(measurement, period)
    if not len(late_ns):
        late_ns = electronics.late_ns
    return HddFit(rotation, tracks, electronics, seek, sector, heads, find_cache(measurement), writes, late_ns)


def _waits(
    measurement: Measurement,
    tracks: Tracks,
    electronics: Electronics,
    period_ns: float,
    sector_bytes: int,
    n_heads: int,
) -> tuple[Floats, Floats]:
    """Return distance in tracks and time from issue until the sector came under the head, of reads that moved the
    arm."""
    distances, waits = [], []
    density = tracks.per_track
    for samples in single_reads(measurement):
        start = samples.offset_bytes / sector_bytes
        end = start + samples.length_bytes / sector_bytes
        zone = np.clip(np.searchsorted(tracks.edges_sectors, start, side="right") - 1, 0, len(density) - 1)
        media = (end - start) / density[zone] * period_ns
        wire = sector_bytes / electronics.interface_bytes_per_s * 1e9
        wait = samples.latency_ns - media - wire
        away = np.abs(np.diff(tracks.track_of(start)))
        # hardly longer than the overhead: a hit, which leaves the arm where it was
        is_hit = samples.latency_ns < electronics.overhead_ns + _HIT_TURNS * period_ns
        moved = (away >= n_heads) & ~is_hit[1:] & ~is_hit[:-1]
        distances.append(away[moved])
        waits.append(wait[1:][moved])
    if not distances:
        return np.empty(0), np.empty(0)
    return np.concatenate(distances), np.concatenate(waits)


def drive_of(fit: HddFit, *, capacity_bytes: int, name: str, queue: Mapping[str, Any] | None = None) -> Hdd:
    """Return the profile: zones, seek table, electronics, cache; `queue` as in a description."""
    period, electronics = fit.rotation.period_ns, fit.electronics
    step_ns = max(float(fit.seek.ready_ns[0]) - fit.before_seek_ns, MIN_SEEK_NS)
    n_sectors = capacity_bytes // fit.sector_bytes
    heads = fit.found_heads
    if heads and fit.tracks.is_streaming:
        # sequential reads lose no revolution between cylinders: the arm arrives before the skew has passed
        step_ns = min(step_ns, _HIDDEN * heads.cylinder_skew_turns * period)
    zones = _zones(fit, n_sectors, step_ns / period)
    switch = 0.9 * min(zone["track_skew"] / zone["sectors_per_track"] for zone in zones) * period
    distance, time = _seek_table(fit)
    time[0] = min(time[0], step_ns / 1e6)
    data: dict[str, Any] = {
        "kind": "hdd",
        "name": name,
        "source": "calibrated from measurements",
        "capacity_bytes": n_sectors * fit.sector_bytes,
        "sector_bytes": fit.sector_bytes,
        "rpm": 60e9 / period,
        "revolution_ns": round(period),
        "heads": fit.n_heads,
        "zones": zones,
        "seek": {"kind": "table", "distance": distance, "time_ms": time},
        "head_switch_ns": round(switch),
        "read_overhead_ns": round(electronics.overhead_ns),
        "write_overhead_ns": round(fit.write_overhead_ns),
        "interface_bytes_per_s": electronics.interface_bytes_per_s,
        "queue": dict(queue or {}),
    }
    if fit.writes is not None:
        data["write_settle_ns"] = round(fit.writes.settle_ns)
    if electronics.has_cache:
        data["cache"] = _cache_fields(fit)
    return Hdd.parse(data)


def _cache_fields(fit: HddFit) -> dict[str, Any]:
    """Return the cache as far as it was found; a segment of unknown size has that of the read-ahead."""
    cache = fit.cache
    segments = cache.segments.value if cache.segments else ASSUMED_SEGMENTS
    ahead = cache.read_ahead_bytes.value if cache.read_ahead_bytes else None
    segment = ahead or ASSUMED_CACHE_BYTES // ASSUMED_SEGMENTS
    if cache.segment_bytes:
        # a segment has room for at least what is read ahead into it
        segment = max(cache.segment_bytes.value, ahead or 0)
    segment = max(segment // fit.sector_bytes, 1) * fit.sector_bytes
    fields = {"size_bytes": segments * segment, "segments": segments, "write_back": bool(cache.is_write_back)}
    if cache.is_write_back and cache.flushes is not None and cache.flushes.is_answered_without_writing:
        fields["power_loss_protected"] = True
    if ahead and ahead < segment:
        fields["read_ahead_bytes"] = ahead
    return fields if fit.tracks.is_streaming else {**fields, "read_ahead_bytes": 0}


def _zones(fit: HddFit, n_sectors: int, step_turns: float) -> list[dict[str, int]]:
    """Return zones of whole cylinders.

    Skews are those of the jumps of angles, else such that they have the known mean and hide the move to the next
    cylinder.
    """
    tracks, known = fit.tracks, fit.found_heads
    heads, left, zones = fit.n_heads, n_sectors, []
    size = np.diff(tracks.edges_sectors)
    for k, density in enumerate(tracks.per_track):
        per_track = max(round(float(density)), 1)
        sectors = left if k == len(size) - 1 else float(size[k])
        cylinders = max(round(sectors / heads / per_track), 1)
        if k == len(size) - 1:
            cylinders = max(-(-left // (heads * per_track)), 1)
        # a little more than the move takes, or every cylinder would cost a revolution
        cylinder = int(np.ceil(step_turns * per_track)) + 2
        if known:
            cylinder = max(round(known.cylinder_skew_turns * per_track), cylinder)
            track = round(known.track_skew_turns * per_track)
        else:
            track = round((heads * tracks.skew_turns * per_track - cylinder) / (heads - 1))
        zones.append(
            {
                "cylinders": cylinders,
                "sectors_per_track": per_track,
                "track_skew": max(track, 1),
                "cylinder_skew": cylinder,
            }
        )
        left -= cylinders * heads * per_track
        if left <= 0:
            break
    return zones


def _seek_table(fit: HddFit) -> tuple[list[int], list[float]]:
    """Return the seek curve in cylinders, without what comes before a seek."""
    last = float(fit.tracks.track_of(np.array([fit.tracks.edges_sectors[-1]]))[0]) / fit.n_heads
    distance = np.unique(np.rint(np.geomspace(1.0, max(last, 3.0), 60)).astype(np.int64))
    ready = fit.seek.at(distance.astype(np.float64) * fit.n_heads)
    time = np.maximum(ready - fit.before_seek_ns, MIN_SEEK_NS) / 1e6
    return [int(d) for d in distance], [round(float(t), 5) for t in time]

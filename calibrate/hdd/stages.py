"""A hard disk from a measurement: rotation, density of tracks, electronics, seek curve, and the order of its queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import ASSUMED_HEADS, MIN_SEEK_NS
from calibrate.evidence.measurement import Measurement
from calibrate.hdd.cache import Cache, find_cache
from calibrate.hdd.heads import Heads, find_heads
from calibrate.hdd.host_latency import HIT_QUANTILE, late_by_angle
from calibrate.hdd.rotation import Rotation
from calibrate.hdd.seek import SeekFit, fit_seek
from calibrate.hdd.tracks import Tracks, find_tracks, single_reads
from calibrate.hdd.write_settle import WriteSettle, fit_write_settle
from diskmodel.drive import Hdd
from diskmodel.errors import Fault, InputError

ASSUMED_OVERHEAD_NS = 100_000.0
ASSUMED_INTERFACE = 300e6
ASSUMED_CACHE_BYTES = 16 << 20
ASSUMED_SEGMENTS = 16
_MAX_HIT_TURNS = 0.25
#: Part of a revolution within which what the cache answered has come, and less than any move of the arm takes.
_HIT_TURNS = 1.0 / 32.0
#: A move hidden by the skew takes no more than this share of it.
_HIDDEN = 0.95
_MIN_READS = 100


@dataclass(frozen=True)
class Electronics:
    """Command overhead and interface, from re-reads that the cache answered.

    `late_ns`, (n,) and empty without such reads, is by how much the host took each later than the soonest.
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

    `late_ns`, (n,), is by how much the host took reads from the platter later than the soonest.
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
        """What the time until the head is ready contains besides the seek."""
        return self.electronics.overhead_ns + (float(np.median(self.late_ns)) if len(self.late_ns) else 0.0)

    @property
    def write_overhead_ns(self) -> float:
        """Processing of a write: from those that the cache takes, else as of a read."""
        if self.cache.plain_write_ns is None:
            return self.electronics.overhead_ns
        wire = self.cache.plain_write_bytes / self.electronics.interface_bytes_per_s * 1e9
        return max(self.cache.plain_write_ns - wire, 0.0)

    @property
    def n_heads(self) -> int:
        """Surfaces, assumed where nothing tells them."""
        return self.found_heads.heads if self.found_heads else ASSUMED_HEADS


def fit_electronics(measurement: Measurement, period_ns: float) -> Electronics:
    """Line through cache hits by size; assumed values when nothing was answered by a cache."""
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
    # of a quantile near the edge, with the scatter of that side: a stall of one size must not decide
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
    """Everything that reads one at a time tell.

    Raises
    ------
    InputError
        When neither rates nor angles tell how much a track holds, or too few reads went far enough for a seek curve.
    """
    device = measurement.target.get("device") or {}
    sector = int(device.get("logical_sector_bytes") or 512)
    period = rotation.period_ns
    heads = find_heads(measurement, period, sector)
    tracks = find_tracks(measurement, period, sector, heads.skews if heads else None)
    if tracks is None:
        rule = "tells neither sequential rates nor angles, so nothing of how much a track holds"
        raise InputError(Fault("evidence", str(measurement.path), rule, "measure again, with the experiment zones"))
    n_heads = heads.heads if heads else ASSUMED_HEADS
    electronics = fit_electronics(measurement, period)
    distance, waited = _waits(measurement, tracks, electronics, period, sector, n_heads)
    if len(distance) < _MIN_READS:
        rule = f"holds {len(distance)} reads one at a time; at least {_MIN_READS} are needed for a seek curve"
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
    """Distance in tracks, and time from issue until the sector came under the head, of reads that moved the arm."""
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
        # hardly more than the overhead is a hit, and leaves the arm where it was
        is_hit = samples.latency_ns < electronics.overhead_ns + _HIT_TURNS * period_ns
        moved = (away >= n_heads) & ~is_hit[1:] & ~is_hit[:-1]
        distances.append(away[moved])
        waits.append(wait[1:][moved])
    if not distances:
        return np.empty(0), np.empty(0)
    return np.concatenate(distances), np.concatenate(waits)


def drive_of(fit: HddFit, *, capacity_bytes: int, name: str, queue: Mapping[str, Any] | None = None) -> Hdd:
    """The profile: zones with the fitted densities, the seek table, electronics; `queue` as in a description."""
    period, electronics = fit.rotation.period_ns, fit.electronics
    step_ns = max(float(fit.seek.ready_ns[0]) - fit.before_seek_ns, MIN_SEEK_NS)
    n_sectors = capacity_bytes // fit.sector_bytes
    heads = fit.found_heads
    if heads and fit.tracks.is_streaming:
        # sequential reads lose no revolution between cylinders: the arm is there before the skew has passed
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
    """The cache as far as it was found; where it was not found how much of a stream a segment holds, it is what is read
    ahead."""
    cache = fit.cache
    segments = cache.segments.value if cache.segments else ASSUMED_SEGMENTS
    ahead = cache.read_ahead_bytes.value if cache.read_ahead_bytes else None
    segment = ahead or ASSUMED_CACHE_BYTES // ASSUMED_SEGMENTS
    if cache.segment_bytes:
        # a segment holds at least what is read ahead into it
        segment = max(cache.segment_bytes.value, ahead or 0)
    segment = max(segment // fit.sector_bytes, 1) * fit.sector_bytes
    fields = {"size_bytes": segments * segment, "segments": segments, "write_back": bool(cache.is_write_back)}
    if ahead and ahead < segment:
        fields["read_ahead_bytes"] = ahead
    return fields if fit.tracks.is_streaming else {**fields, "read_ahead_bytes": 0}


def _zones(fit: HddFit, n_sectors: int, step_turns: float) -> list[dict[str, int]]:
    """Zones of whole cylinders; skews as the jumps of angles say, else such that they keep the mean that was told and
    hide the move to the next cylinder."""
    tracks, known = fit.tracks, fit.found_heads
    heads, left, zones = fit.n_heads, n_sectors, []
    size = np.diff(tracks.edges_sectors)
    for k, density in enumerate(tracks.per_track):
        per_track = max(round(float(density)), 1)
        wanted = left if k == len(size) - 1 else float(size[k])
        cylinders = max(round(wanted / heads / per_track), 1)
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
    """The seek curve in cylinders, without what comes before a seek."""
    last = float(fit.tracks.track_of(np.array([fit.tracks.edges_sectors[-1]]))[0]) / fit.n_heads
    distance = np.unique(np.rint(np.geomspace(1.0, max(last, 3.0), 60)).astype(np.int64))
    ready = fit.seek.at(distance.astype(np.float64) * fit.n_heads)
    time = np.maximum(ready - fit.before_seek_ns, MIN_SEEK_NS) / 1e6
    return [int(d) for d in distance], [round(float(t), 5) for t in time]

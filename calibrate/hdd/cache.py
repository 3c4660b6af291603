"""The drive's cache: how many streams it follows, how far it reads ahead, and whether it answers writes itself.

Each experiment brackets a number: the largest that still hit and the smallest that no longer did. A power of two in the
bracket is preferred, since caches are divided so, else the middle of the bracket.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.evidence import WRITE, Flushes, Measurement, find_flushes

#: More than any drive reads ahead, bytes; a bracket without an upper end is no finding.
_MAX_READ_AHEAD_BYTES = 256 << 20


@dataclass(frozen=True)
class Bracket:
    """A whole number, and the limits between which it lies, inclusive."""

    value: int
    low: int
    high: int

    @property
    def stderr(self) -> float:
        """Return the standard deviation of a value anywhere between the limits."""
        return (self.high - self.low) / float(np.sqrt(12.0))


@dataclass(frozen=True)
class Cache:
    """Findings of the experiments on the cache; None where one was not made or found nothing.

    Attributes
    ----------
    segments : Bracket or None
    read_ahead_bytes : Bracket or None
    segment_bytes : Bracket or None
        How much of a stream a segment keeps.
    is_write_back : bool or None
    plain_write_ns : float or None
        Median response of a write of `plain_write_bytes` that the cache accepts.
    flushes : Flushes or None
    """

    segments: Bracket | None
    read_ahead_bytes: Bracket | None
    segment_bytes: Bracket | None
    is_write_back: bool | None
    plain_write_ns: float | None
    plain_write_bytes: int
    flushes: Flushes | None = None


def find_cache(measurement: Measurement) -> Cache:
    """Return the findings of the experiments `cache_segments`, `read_ahead`, `write_cache` and `flushes`."""
    segments = read_ahead = segment = None
    if (found := measurement.experiment("cache_segments")) is not None:
        segments = _bracket(found.summary.get("segments_at_least"), found.summary.get("segments_below"))
        segment = _bracket(found.summary.get("segment_at_least_bytes"), found.summary.get("segment_below_bytes"))
    if (found := measurement.experiment("read_ahead")) is not None:
        low, above = found.summary.get("read_ahead_at_least_bytes"), found.summary.get("read_ahead_below_bytes")
        read_ahead = _bracket(low, above) if above and above <= _MAX_READ_AHEAD_BYTES else None
    is_write_back, plain_ns, plain_bytes = None, None, 0
    if (found := measurement.experiment("write_cache")) is not None and "is_write_back" in found.summary:
        is_write_back = bool(found.summary["is_write_back"])
        plain = [run.samples for run in found.runs if run.parameters.get("part") == "plain and durable"]
        taken = plain[0].op == WRITE if plain else np.zeros(0, np.bool_)
        if is_write_back and taken.any():
            plain_ns = float(np.median(plain[0].latency_ns[taken]))
            plain_bytes = int(plain[0].length_bytes[taken][0])
    flushes = find_flushes([measurement])
    return Cache(segments, read_ahead, segment, is_write_back, plain_ns, plain_bytes, flushes)


def _bracket(low: object, above: object) -> Bracket | None:
    """Return the number at least `low` and below `above`; None without both."""
    if not isinstance(low, int) or not isinstance(above, int) or not 0 < low < above:
        return None
    power = 1 << (above - 1).bit_length() - 1
    value = power if power >= low else round(float(np.sqrt(low * (above - 1.0))))
    return Bracket(value, low, above - 1)

"""Streams of a workload from the counters of a device: their mix, sizes and flushes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.sizes import whole_size
from diskmodel.units import in_digits

# Share of the flushes beyond which those that no write can have asked for become a stream of their own: counters of a
# sample are rounded, and at half of it they would be seen in short recordings with a flush after each write.
_FLUSHES_APART = 0.05


def device_streams(
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
            open_stream(
                prefix + name, ratio, rate * count / (reads + writes), _device_sizes(load, name, n_bytes / count)
            )
            for name, (ratio, count, n_bytes) in parts.items()
            if count > 0
        ]
        if flushes:
            recorded = _flushes_in_words(load, is_known)
            streams = with_flushes(streams, (writes, flushes), rate / (reads + writes), prefix, (recorded, notes))
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
    return [open_stream(f"{prefix}all", round(float(share), 4), rate, {whole_size(mean): 1})], dropped


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


def with_flushes(
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


def open_stream(name: str, read_ratio: float, rate_per_s: float, sizes: Mapping[int, float]) -> dict[str, Any]:
    return {
        "name": name,
        "read_ratio": read_ratio,
        "sizes": [{"size_bytes": size, "weight": float(count)} for size, count in sizes.items()],
        "arrival": {"kind": "poisson", "rate_per_s": float(rate_per_s)},
    }

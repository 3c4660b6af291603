"""What there is to say about a hard disk: figures that follow from its description, and rows of a table in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.drive.geometry import mean_seek_ns, zone_rates
from diskmodel.units import nominal_bytes

if TYPE_CHECKING:
    from diskmodel.drive.hdd.description import Hdd


def derived(drive: Hdd) -> dict[str, float]:
    """Return the figures that follow from the description of a hard disk, by name."""
    tables, rates = drive.tables(), zone_rates(drive)
    return {
        "cylinders": int(tables.n_cylinders),
        "revolution_ns": drive.period_ns,
        "mean_seek_ns": float(mean_seek_ns(tables)),
        "outer_sustained_bytes_per_s": float(rates.sustained_bytes_per_s[0]),
        "inner_sustained_bytes_per_s": float(rates.sustained_bytes_per_s[-1]),
    }


def facts(drive: Hdd) -> list[tuple[str, str]]:
    """Return what there is to say about a hard disk: label, text."""
    figures = derived(drive)
    outer, inner = figures["outer_sustained_bytes_per_s"], figures["inner_sustained_bytes_per_s"]
    rows = [
        ("rotation", f"{drive.rpm:,.0f} rpm, {drive.period_ns / 1e6:.3f} ms a revolution"),
        ("heads, cylinders", f"{drive.heads}, {figures['cylinders']:,}"),
        ("mean seek", f"{figures['mean_seek_ns'] / 1e6:.2f} ms over all pairs of cylinders"),
        ("sustained rate", f"{outer / 1e6:.1f} MB/s at the outer edge, {inner / 1e6:.1f} MB/s at the inner edge"),
        ("command queue", f"{drive.queue.depth} deep, {drive.queue.scheduler}"),
        ("order of commands", f"assumed: {drive.queue.assumption.words}" if drive.queue.assumption else ""),
    ]
    if drive.cache is not None:
        written = "write-back" if drive.cache.write_back else "write-through"
        size = f"{drive.cache.size_bytes / 2**20:.3g} MiB"
        rows.append(("cache", f"{size} in {drive.cache.segments} segments, {written}"))
    if drive.recording == "shingled":
        manager = "the host" if drive.write_zones else "the drive"
        rows.append(("recording", f"shingled, managed by {manager}: no drive for random writes"))
    if drive.media_cache is not None:
        bands = drive.media_cache.band_bytes
        cleaned = f"bands of {bands / 2**20:.3g} MiB" if bands else "no bands"
        held = f"{nominal_bytes(drive.media_cache.size_bytes)} for {drive.media_cache.max_extents:,} pieces of data"
        rows.append(("media cache", f"{held}, {cleaned}"))
    if drive.write_zones is not None:
        zones = drive.write_zones
        written = f"{zones.size_bytes / 2**20:.4g} MiB each, written in order by the host, {zones.max_open} open"
        rows.append(("zones", f"{written}; the first {zones.conventional:,} anywhere"))
    return rows

"""What a device was asked to do over time, as iostat, sar and their like sample it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass

Float64 = NDArray[np.float64]

#: Attributes of `DeviceLoad` that are series.
SERIES = (
    "ios_per_s",
    "reads_per_s",
    "writes_per_s",
    "bytes_per_s",
    "read_bytes_per_s",
    "write_bytes_per_s",
    "read_await_ns",
    "write_await_ns",
    "await_ns",
    "queue_length",
    "utilization_ratio",
    "flushes_per_s",
    "flush_await_ns",
)


@dataclass(frozen=True)
class DeviceLoad:
    """Load of one device, sample by sample; NaN where the program does not report a figure.

    Attributes
    ----------
    device : str
    ios_per_s, reads_per_s, writes_per_s : float64, shape (n,)
        Completed requests; `ios_per_s` includes discards where they are part of a program's total.
    bytes_per_s, read_bytes_per_s, write_bytes_per_s : float64, shape (n,)
    read_await_ns, write_await_ns, await_ns : float64, shape (n,)
        Mean time from queueing to completion.
    queue_length : float64, shape (n,)
        Mean number of requests waiting or served.
    utilization_ratio : float64, shape (n,), from 0 to 1
        Share of time with at least one request; says little about devices that serve several at once.
    flushes_per_s, flush_await_ns : float64, shape (n,)
        Flushes, and their mean time.
    interval_s : float or None
        Length of a sample where the program reports it.
    notes : tuple of str
        What the reader had to assume or leave out.
    sizes : mapping of str to mapping of int to float
        Of "reads" and "writes": size in bytes → requests per second, summed over the samples. Empty where a program
        reports only means.
    responses : mapping of str to mapping of int to float
        Of "reads" and "writes": k → requests that took from 2^k to 2^(k+1) ns. Empty where only means are known.
    """

    device: str
    ios_per_s: Float64
    reads_per_s: Float64
    writes_per_s: Float64
    bytes_per_s: Float64
    read_bytes_per_s: Float64
    write_bytes_per_s: Float64
    read_await_ns: Float64
    write_await_ns: Float64
    await_ns: Float64
    queue_length: Float64
    utilization_ratio: Float64
    flushes_per_s: Float64
    flush_await_ns: Float64
    interval_s: float | None = None
    notes: tuple[str, ...] = ()
    sizes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    responses: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ios_per_s)

    @property
    def read_request_bytes(self) -> Float64:
        """Mean size of reads in each sample, shape (n,); NaN where there were none."""
        return _ratio(self.read_bytes_per_s, self.reads_per_s)

    @property
    def write_request_bytes(self) -> Float64:
        """Mean size of writes in each sample, shape (n,); NaN where there were none."""
        return _ratio(self.write_bytes_per_s, self.writes_per_s)


def _ratio(numerator: Float64, denominator: Float64) -> Float64:
    result = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


#: What an idle device's series are; waiting times of no requests stay unknown.
_IDLE = {name: 0.0 for name in SERIES if not name.endswith("await_ns")}


def loads_of(
    samples: Sequence[Mapping[str, Mapping[str, float] | None]], interval_s: float | None, notes: Iterable[str] = ()
) -> list[DeviceLoad]:
    """Return loads by device from samples, each a mapping of device → figure → value; devices in order of appearance.

    A device that is absent from a sample did nothing in it: `iostat -z` and `sar -z` leave idle ones out. None instead
    of figures (counters that wrapped or were reset) makes the sample unknown.
    """
    names = dict.fromkeys(device for sample in samples for device in sample)
    loads = []
    for device in names:
        known = {figure for sample in samples for figure in sample.get(device) or ()}
        idle = {name: value for name, value in _IDLE.items() if name in known}
        rows = [sample.get(device, idle) for sample in samples]
        series = {name: np.array([(row or {}).get(name, np.nan) for row in rows], dtype=np.float64) for name in SERIES}
        loads.append(
            DeviceLoad(device, **series, interval_s=interval_s, notes=(*notes, *_notes(rows)), sizes={}, responses={})
        )
    return loads


def _notes(rows: Sequence[Mapping[str, float] | None]) -> list[str]:
    found = []
    n_unknown = sum(row is None for row in rows)
    if n_unknown:
        found.append(f"{n_unknown} of {len(rows)} samples were left out: counters wrapped or were reset")
    n_other = sum(bool(row) and "has_other_sizes" in row for row in rows if row)
    if n_other:
        found.append(
            f"in {n_other} of {len(rows)} samples the mean size of requests contradicts their number and bytes per "
            "second: number and bytes are taken"
        )
    if any(row and row.get("discards_per_s", 0) > 0 and "reads_per_s" in row for row in rows):
        found.append("discards (TRIM) are left out")
    elif any(row and row.get("discard_bytes_per_s", 0) > 0 for row in rows):
        found.append("discards (TRIM) count among the requests: the program does not count them apart")
    if any(row and "has_discards_in_writes" in row for row in rows):
        found.append("writes and discards are reported as one; all are taken as writes")
    return found


assert set(SERIES) == {item.name for item in fields(DeviceLoad)} - {
    "device",
    "interval_s",
    "notes",
    "sizes",
    "responses",
}

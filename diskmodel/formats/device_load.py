"""What a device was asked to do over time, as sysstat's programs sample it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

#: Attributes of `DeviceLoad` that are series.
SERIES = (
    "ios_per_s", "reads_per_s", "writes_per_s", "read_bytes_per_s", "write_bytes_per_s", "read_await_ns",
    "write_await_ns", "await_ns", "queue_length", "utilization_ratio",
)  # fmt: skip


@dataclass(frozen=True)
class DeviceLoad:
    """Load of one device, sample by sample; NaN where the program does not report a figure.

    Attributes
    ----------
    device : str
    ios_per_s, reads_per_s, writes_per_s : float64, shape (n,)
        Completed requests; `ios_per_s` includes discards where they are part of a program's total.
    read_bytes_per_s, write_bytes_per_s : float64, shape (n,)
    read_await_ns, write_await_ns, await_ns : float64, shape (n,)
        Mean time from queueing to completion.
    queue_length : float64, shape (n,)
        Mean number of requests waiting or served.
    utilization_ratio : float64, shape (n,), from 0 to 1
        Share of time with at least one request; says little about devices that serve several at once.
    interval_s : float or None
        Length of a sample where the program tells it.
    """

    device: str
    ios_per_s: Float64
    reads_per_s: Float64
    writes_per_s: Float64
    read_bytes_per_s: Float64
    write_bytes_per_s: Float64
    read_await_ns: Float64
    write_await_ns: Float64
    await_ns: Float64
    queue_length: Float64
    utilization_ratio: Float64
    interval_s: float | None = None

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


def loads_of(samples: Iterable[Mapping[str, Mapping[str, float]]], interval_s: float | None) -> list[DeviceLoad]:
    """Loads by device from samples, each a mapping of device → figure → value; devices in order of appearance.

    A device that is absent from a sample (plugged in later, idle under `iostat -z`) has no sample then.
    """
    rows: dict[str, list[Mapping[str, float]]] = {}
    for sample in samples:
        for device, figures in sample.items():
            rows.setdefault(device, []).append(figures)
    loads = []
    for device, found in rows.items():
        series = {name: np.array([row.get(name, np.nan) for row in found], dtype=np.float64) for name in SERIES}
        loads.append(DeviceLoad(device, **series, interval_s=interval_s))
    return loads


assert set(SERIES) == {item.name for item in fields(DeviceLoad)} - {"device", "interval_s"}

"""What each disk did, as rates and shares of time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.records import DeviceCounters, Run

#: Every disk of a run.
ALL = slice(None)
#: Drives beside the disks, for people.
OWN_DEVICES = {"log": "log drive", "special": "special vdev", "cache": "cache device"}


@dataclass(frozen=True)
class DiskUse(Record):
    """Use of one disk over the whole run.

    Attributes
    ----------
    utilization_ratio : float in [0, 1]
        Busy time over elapsed time: U = X S.
    iops : float
        Commands per second.
    mean_service_ns : float
        Busy time per command (S); 0 without commands.
    mean_response_ns : float
        Queue and service per command; 0 without commands.
    mean_in_disk : float
        Mean number of commands waiting or in service (N = X R).
    read_bytes_per_s, write_bytes_per_s : float
    cache_hit_ratio : float
        Share of the commands that the drive's own cache served.
    write_amplification_ratio : float
        Units of flash programmed for each that the host wrote (rule F22); nan without any, and of other drives.
    """

    utilization_ratio: float
    iops: float
    mean_service_ns: float
    mean_response_ns: float
    mean_in_disk: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    cache_hit_ratio: float
    write_amplification_ratio: float = math.nan

    def json_fields(self) -> Mapping[str, Any]:
        """Return the fields, times in milliseconds."""
        return {
            "utilization_ratio": self.utilization_ratio,
            "iops": self.iops,
            "mean_service_ms": self.mean_service_ns / 1e6,
            "mean_response_ms": self.mean_response_ns / 1e6,
            "mean_in_disk": self.mean_in_disk,
            "read_bytes_per_s": self.read_bytes_per_s,
            "write_bytes_per_s": self.write_bytes_per_s,
            "cache_hit_ratio": self.cache_hit_ratio,
            "write_amplification_ratio": self.write_amplification_ratio,
        }


def disk_use(run: Run) -> tuple[DiskUse, ...]:
    """Use of every disk of a run."""
    return _use(run.devices, run)


def own_use(run: Run) -> dict[str, tuple[DiskUse, ...]]:
    """Use of the drives beside the disks of a run, by what they are."""
    return {name: _use(devices, run) for name, devices in run.own.items()}


def _use(devices: DeviceCounters, run: Run) -> tuple[DiskUse, ...]:
    elapsed_ns = max(run.end_ns, 1)
    seconds = elapsed_ns / 1e9
    counted = (
        devices.busy_ns,
        devices.response_ns,
        devices.n_reads + devices.n_writes,
        devices.read_bytes,
        devices.write_bytes,
        devices.n_cache_hits,
        devices.n_units_written,
        devices.n_units_programmed,
    )
    return tuple(
        DiskUse(
            utilization_ratio=busy_ns / elapsed_ns,
            iops=n_commands / seconds,
            mean_service_ns=busy_ns / n_commands if n_commands else 0.0,
            mean_response_ns=response_ns / n_commands if n_commands else 0.0,
            mean_in_disk=response_ns / elapsed_ns,
            read_bytes_per_s=read_bytes / seconds,
            write_bytes_per_s=write_bytes / seconds,
            cache_hit_ratio=n_hits / n_commands if n_commands else 0.0,
            write_amplification_ratio=programmed / written if written else math.nan,
        )
        for busy_ns, response_ns, n_commands, read_bytes, write_bytes, n_hits, written, programmed in zip(
            *(column.tolist() for column in counted), strict=True
        )
    )


def amplification(run: Run, disks: int | slice = ALL) -> float:
    """Return the units programmed for each that was written to a disk, or to all; nan without any."""
    devices = run.devices
    written, programmed = (int(np.sum(n[disks])) for n in (devices.n_units_written, devices.n_units_programmed))
    return programmed / written if written else math.nan

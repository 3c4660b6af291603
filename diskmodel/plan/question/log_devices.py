"""Devices of their own for the intent log of a pool, as candidates of a plan."""

from __future__ import annotations

import os

from diskmodel.drive import Flash, load_drive
from diskmodel.layout.description import LogDevice
from diskmodel.units import NS_PER_S

#: The candidate whose log is on the disks of the pool.
NONE = "none"
_FIX = f'use one that is, for example "micron-7450-pro-1920", or "{NONE}" for a log on the disks of the pool'


def log_drive(name: str) -> Flash:
    """Return the drive of that name for a log.

    Raises
    ------
    DescriptionError
        When there is no such drive.
    ValueError
        When a write that it has answered may be lost in a power cut.
    """
    drive = load_drive(name)
    if not isinstance(drive, Flash) or not drive.power_loss_protected:
        raise ValueError(f"{name}: is no flash drive that is protected from a loss of power, which a log needs; {_FIX}")
    return drive


def log_device_of(name: str) -> LogDevice:
    """Return the drive of that name as the device of a log: its buffer answers, flash sets the rate in the long run.

    Garbage is not collected: a log is written in order, over the same small part of the drive.
    """
    drive = log_drive(name)
    n_dies = drive.channels * drive.dies_per_channel
    programmed = n_dies * drive.page_bytes * NS_PER_S / drive.program_ns
    rate = min(drive.interface_bytes_per_s, drive.channels * drive.channel_bytes_per_s, programmed)
    return LogDevice(write_ns=max(drive.write_overhead_ns + drive.write_latency_ns, 1), bytes_per_s=rate)


def log_device_in_words(name: str) -> str:
    """Return the device for people."""
    return os.path.basename(name).removesuffix(".toml")

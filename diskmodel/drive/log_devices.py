"""Drives of their own for a log: the intent log of a pool, or the journal of an array of Linux md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from diskmodel.drive.description import load_drive
from diskmodel.drive.flash.description import Flash
from diskmodel.errors import DescriptionError, Fault
from diskmodel.faults import inner
from diskmodel.layout.description import LogDevice
from diskmodel.units import NS_PER_S

#: No device: the log of a pool is on its own disks, and an array has no journal.
NONE = "none"
_FIX = f'use one that is, for example "micron-7450-pro-1920", or "{NONE}" for no device of its own'


def log_drive(name: str) -> Flash:
    """Return the drive of that name for a log that is safe when a write ends.

    Raises
    ------
    DescriptionError
        When there is no such drive, or a write that it has answered may be lost in a power cut.
    """
    drive = load_drive(name)
    if not isinstance(drive, Flash) or not drive.power_loss_protected:
        rule = "is no flash drive that is protected from a loss of power, which a log needs"
        raise DescriptionError(Fault("log", name, rule, _FIX))
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


def with_log_drive(value: Any) -> Any:
    """Return the device of a log with the figures of its drive, where it is named: "NAME", or a table with `drive`.

    What else such a table states has precedence. "none" is no device.

    Raises
    ------
    PydanticCustomError
        When there is no such drive, or it is not protected from a loss of power.
    """
    more: dict[str, Any] = {}
    name = value
    if isinstance(value, Mapping) and "drive" in value:
        name, more = value["drive"], {key: stated for key, stated in value.items() if key != "drive"}
    if not isinstance(name, str):
        return value
    if name == NONE:
        return None
    try:
        found = log_device_of(name)
        return LogDevice.parse({**dict(found), **more}) if more else found
    except DescriptionError as error:
        raise inner(error) from None


#: The device of a log inside another description: a full description, the path of a drive's profile, or its name.
NamedLog = Annotated[LogDevice, BeforeValidator(with_log_drive)]

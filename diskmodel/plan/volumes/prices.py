"""What volumes of a cloud cost a month, as the user writes it."""

from __future__ import annotations

import datetime
import math
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from diskmodel.description import Description
from diskmodel.drive import CloudVolume, load_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.units import Bytes, BytesPerSecond, Length, PerSecond

_GIB, _MIB, _TIB = 1 << 30, 1 << 20, 1 << 40
#: An amount of money, in the file's currency.
_Price = Annotated[float, Field(ge=0, le=1e9)]


def _date(value: object) -> object:
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            pass
    if value is not None and (not isinstance(value, datetime.date) or isinstance(value, datetime.datetime)):
        raise ValueError("must be a date; write it as 2025-02-03")
    return value


_Date = Annotated[datetime.date, BeforeValidator(_date)]


class VolumePrice(Description):
    """What volumes of one type cost a month, and what may be provisioned of one.

    Attributes
    ----------
    month : float
        A volume, whatever its size: the types of fixed sizes.
    gib_month : float
        A GiB of its size.
    iops_month : float
        An operation a second beyond `included_iops`; of types that are provisioned so.
    cheaper_iops : tuple of (float, float)
        From so many operations a second on each further one costs so much.
    included_iops : float, per second
    mib_per_s_month : float
        A MiB a second beyond `included_throughput_bytes_per_s`.
    included_throughput_bytes_per_s : float
    least_iops : float, per second
        Fewest that can be provisioned.
    most_iops_per_gib : float
        Most operations a second that can be provisioned for each GiB.
    throughput_per_iops_bytes : int
        Most bytes a second that can be provisioned for each operation a second; 0: any.
    least_bytes, most_bytes : int
        Sizes of a volume, whole GiB between.
    """

    month: _Price = 0.0
    gib_month: _Price = 0.0
    iops_month: _Price = 0.0
    cheaper_iops: tuple[tuple[PerSecond, _Price], ...] = ()
    included_iops: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    mib_per_s_month: _Price = 0.0
    included_throughput_bytes_per_s: BytesPerSecond | None = None
    least_iops: PerSecond = 1.0
    most_iops_per_gib: PerSecond | None = None
    throughput_per_iops_bytes: Length = 0
    least_bytes: Annotated[Bytes, Field(gt=0)] = _GIB
    most_bytes: Annotated[Bytes, Field(gt=0)] = 16 * _TIB

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.month or self.gib_month):
            raise ValueError("gib_month: or month is needed; give what a volume costs")
        if self.least_bytes > self.most_bytes:
            raise ValueError(f"least_bytes={self.least_bytes}: is above most_bytes={self.most_bytes}; lower it")
        steps = [start for start, _ in self.cheaper_iops]
        if steps != sorted(set(steps)):
            raise ValueError("cheaper_iops: must begin at rising rates; sort them")
        return self

    @property
    def has_iops(self) -> bool:
        """Whether operations are provisioned by the piece."""
        return self.iops_month > 0

    @property
    def has_throughput(self) -> bool:
        """Whether bytes a second are provisioned by the piece."""
        return self.mib_per_s_month > 0

    @property
    def has_fixed_size(self) -> bool:
        """Whether a volume has one size and one price."""
        return self.month > 0

    def a_month(self, volume: CloudVolume) -> float:
        """Return what such a volume costs a month."""
        found = self.month + self.gib_month * math.ceil(volume.capacity_bytes / _GIB)
        if self.has_iops and volume.ops_limit is not None:
            found += self._of_operations(volume.ops_limit.per_s)
        if self.has_throughput and volume.bytes_limit is not None:
            beyond = volume.bytes_limit.per_s - (self.included_throughput_bytes_per_s or 0.0)
            found += self.mib_per_s_month * max(beyond, 0.0) / _MIB
        return found

    def _of_operations(self, iops: float) -> float:
        steps = [(self.included_iops, self.iops_month), *self.cheaper_iops]
        ends = [start for start, _ in steps[1:]] + [math.inf]
        return sum(max(min(iops, end) - start, 0.0) * price for (start, price), end in zip(steps, ends, strict=True))


class CloudPrices(Description):
    """What volumes cost a month, in one region at one date.

    Attributes
    ----------
    currency : str
    source : str
    date : date
        Prices change: the answer says from when these are.
    volumes : dict of str to VolumePrice
        By the name of the type in the catalogue, or by the path of a file that describes one.
    """

    currency: Annotated[str, Field(min_length=1, max_length=8)] = "USD"
    source: str = ""
    date: _Date | None = None
    volumes: Annotated[dict[str, VolumePrice], Field(min_length=1)]

    def priced(self) -> list[tuple[CloudVolume, VolumePrice]]:
        """Return each type of volume with its price.

        Raises
        ------
        DescriptionError
            When there is no such drive, or it is no volume of a cloud.
        """
        found = []
        for name, price in self.volumes.items():
            drive = load_drive(name)
            if not isinstance(drive, CloudVolume):
                rule, fix = "is no volume of a cloud", "name one of `diskmodel drives aws`, azure or gcp"
                raise DescriptionError(Fault("volumes", name, rule, fix))
            found.append((drive, price))
        return found

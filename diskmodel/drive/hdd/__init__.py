"""Hard disks: a folder with all that only hard disks know."""

from diskmodel.drive.hdd.description import NEARLINE_BYTES, Hdd
from diskmodel.drive.hdd.parts import DriveQueue, HddCache, Retries

__all__ = ["NEARLINE_BYTES", "DriveQueue", "Hdd", "HddCache", "Retries"]

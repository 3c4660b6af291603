"""What a machine knows about its arrays: Linux md, hardware controllers, lsblk."""

from diskmodel.formats.arrays.registry import KINDS, PROGRAMS, kind_of, read_arrays
from diskmodel.formats.arrays.volume import Member, Pass, Volume

__all__ = ["KINDS", "PROGRAMS", "Member", "Pass", "Volume", "kind_of", "read_arrays"]

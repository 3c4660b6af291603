"""Fields of a layout of a pool of OpenZFS, as the user writes them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from diskmodel.description import Description
from diskmodel.layout.auxiliary_devices import LogDevice, SpecialVdev
from diskmodel.layout.pools.cache_devices import CacheDevice
from diskmodel.layout.shape import MAX_DISKS
from diskmodel.units import Bytes, Length, Nanoseconds

#: `recordsize` of a file system of OpenZFS, and 2^12 = 4096, the sectors that today's disks really have.
USUAL_RECORD_BYTES = 128 << 10
USUAL_ASHIFT = 12


class PoolFields(Description):
    """Vdevs, records and devices of their own; a `log` is Linux md's journal elsewhere.

    Attributes
    ----------
    vdevs : int or None
        Pools: vdevs of `disks // vdevs` disks each; 1 unless given.
    data_disks : int or None
        dRAID: data disks of a group (the `d` of `zpool create`); 8 unless given, or as many as the vdev has.
    distributed_spares : int or None
        dRAID: spares whose space is distributed over all disks of a vdev (the `s`); none unless given. They are among
        `disks`.
    record_bytes : int or None
        Pools: `recordsize` of the file system, or `volblocksize` of the volume; 128 KiB unless given. A read takes
        whole records.
    ashift : int or None
        Pools: allocation blocks have 2^ashift bytes, 12 unless given.
    sync : "standard", "disabled" or None
        Pools: whether a write that must be safe waits for the intent log; "standard" unless given. With "disabled" up
        to the last seconds of such writes are lost in a power cut.
    log : LogDevice or None
        Pools: the intent log is on a device of its own; None: on the disks of the pool. raid4, raid5, raid6: Linux md's
        journal (`mdadm --write-journal`), in its mode *write-through*: every stripe is in it before it is written to
        the members; None: no journal.
    special : SpecialVdev or None
        Pools: all metadata is on a special vdev, a mirror of faster devices; None: on the disks of the pool.
    cache : CacheDevice or None
        Pools: what the ARC evicts is kept on devices of its own (L2ARC); None: it is not.
    dirty_data_max_bytes : int or None
        Pools: the most that is written and not yet on the disks (`zfs_dirty_data_max`). None: 4 GiB, which is what
        OpenZFS takes of 40 GiB of memory and more; of less memory it takes a tenth.
    record_work_ns : int or None
        Pools: time of a processor to write a record with its group: to compress it, compute its checksum and parity,
        and issue its commands, one record after the other. None: as long as for a request (`host.submission_ns`).
    """

    vdevs: int | None = Field(default=None, ge=1, le=MAX_DISKS)
    data_disks: int | None = Field(default=None, ge=1, le=MAX_DISKS)
    distributed_spares: int | None = Field(default=None, ge=0, le=100)
    record_bytes: Length | None = Field(default=None, ge=512, le=16 << 20)
    ashift: int | None = Field(default=None, ge=9, le=16)
    sync: Literal["standard", "disabled"] | None = None
    log: LogDevice | None = None
    special: SpecialVdev | None = None
    cache: CacheDevice | None = None
    dirty_data_max_bytes: Bytes | None = Field(default=None, ge=16 << 20, le=1 << 40)
    record_work_ns: Nanoseconds | None = None

    @property
    def pool_record_bytes(self) -> int:
        """Bytes of a record of a pool."""
        return self.record_bytes or USUAL_RECORD_BYTES

    @property
    def pool_ashift(self) -> int:
        """Binary logarithm of the bytes of a pool's allocation block."""
        return self.ashift or USUAL_ASHIFT

    @property
    def block_bytes(self) -> int:
        """Bytes of a pool's allocation block."""
        return 1 << self.pool_ashift


#: Fields of a layout that only pools have: Linux md has a log, too.
ONLY_OF_POOLS = tuple(name for name in PoolFields.model_fields if name != "log")

"""What the layouts of all candidates have in common, where their level can have it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from diskmodel.description import Description, Reader
from diskmodel.drive import NamedLog, NamedSpecial
from diskmodel.layout import MAX_DISKS, Layout
from diskmodel.layout.levels import KINDS
from diskmodel.layout.md import MAX_STRIPE_CACHE, Consistency, ReadPolicy, Rotation, WritePolicy
from diskmodel.layout.md.fields import Bitmap
from diskmodel.units import Bytes, Length, Nanoseconds, Ratio
from diskmodel.wording import NamedCache

#: Size of a record of a pool.
RecordBytes = Annotated[Length, Field(ge=512, le=16 << 20)]


class CommonLayout(Description):
    """Fields of the layout of every candidate whose level can have them; None: the default of a layout.

    Attributes
    ----------
    copies, arrangement, largest_request_bytes, huge_page_ratio
        As in an array's layout: of mirrored levels.
    n_parity : int or None
        Of level erasure.
    data_disks, distributed_spares : int or None
        Of dRAID.
    record_bytes, ashift, sync, dirty_data_max_bytes, record_work_ns
        Of pools of OpenZFS.
    log : LogDevice or None
        Of pools of OpenZFS, and of raid4, raid5 and raid6.
    special : SpecialVdev or None
    cache : CacheDevice or None
        Of pools of OpenZFS.
    rotation, write_policy, read_modify_write
        Of levels with parity.
    stripe_cache_pages : int or None
        Of raid4, raid5 and raid6.
    read_policy, read_strips, member_bytes, data_offset_bytes
        Of every level.
    bitmap : Bitmap or None
        Of every level with redundancy.
    consistency_policy : str or None
        "resync" and "bitmap" of every level with redundancy but those of pools, "journal" of those that have a `log`,
        "ppl" of raid5.
    """

    copies: int | None = Field(default=None, ge=1)
    arrangement: Literal["near", "far"] | None = None
    largest_request_bytes: Length | None = Field(default=None, gt=0)
    stripe_cache_pages: int | None = Field(default=None, ge=1, le=MAX_STRIPE_CACHE)
    huge_page_ratio: Ratio | None = None
    n_parity: int | None = Field(default=None, ge=1)
    data_disks: int | None = Field(default=None, ge=1, le=MAX_DISKS)
    distributed_spares: int | None = Field(default=None, ge=0, le=100)
    record_bytes: RecordBytes | None = None
    ashift: int | None = Field(default=None, ge=9, le=16)
    sync: Literal["standard", "disabled"] | None = None
    dirty_data_max_bytes: Bytes | None = Field(default=None, ge=16 << 20, le=1 << 40)
    record_work_ns: Nanoseconds | None = None
    log: NamedLog | None = None
    special: NamedSpecial | None = None
    cache: NamedCache | None = None
    rotation: Rotation | None = None
    read_policy: ReadPolicy | None = None
    read_strips: Literal["joined", "separate"] | None = None
    write_policy: WritePolicy | None = None
    read_modify_write: Literal["released", "held"] | None = None
    member_bytes: Bytes | None = Field(default=None, gt=0)
    data_offset_bytes: Bytes | None = None
    bitmap: Bitmap | None = None
    consistency_policy: Consistency | None = None

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return that a field is read where a layout of some level can have it."""

        def reads(field: str, plan: Any) -> bool:
            return any(field in plan.layout.of(level) for level in plan.candidates.levels)

        return {field: Reader("other levels", partial(reads, field)) for field in cls.model_fields}

    def of(self, level: str) -> dict[str, Any]:
        """Return the fields that a layout of this level can have."""
        return Layout.of_level(level).taken(KINDS[level], self.model_dump(exclude_none=True))

"""How an array spreads blocks over its disks, as the user writes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.layout.levels import KINDS, RaidLevel, draid_counts, level_name, zfs_refusal
from diskmodel.layout.own_devices import ONLY_OF_JOURNALS, LogDevice, SpecialVdev
from diskmodel.layout.pools.cache_devices import CacheDevice
from diskmodel.layout.shape import MAX_DISKS, Shape
from diskmodel.naming.signposts import signpost
from diskmodel.registry import OneOf
from diskmodel.units import Bytes, BytesPerSecond, Length, Nanoseconds, Ratio


def _named_level(value: Any) -> Any:
    """Return the registry's name of a level or a kind of vdev; ValueError for what only resembles one."""
    if refusal := zfs_refusal(value):
        raise ValueError("; ".join(refusal))
    name = level_name(value)
    if isinstance(name, str) and name not in KINDS and (post := signpost(value)):
        raise ValueError(f"{post.rule}; {post.fix}")
    return name


#: Name of a RAID level, or of a kind of vdev.
Level = Annotated[str, OneOf(KINDS.keys), BeforeValidator(_named_level)]
Rotation = Literal["left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"]
ReadPolicy = Literal["nearest", "shortest-queue", "round-robin", "primary", "nearest-arm"]
WritePolicy = Literal["fewest", "read-modify-write", "reconstruct-write"]


#: What md calls the passes over all members.
SyncAction = Literal["recover", "check", "resync"]

#: A stripe of md's parity levels on one disk, bytes (`STRIPE_SIZE`): what its thread works on at a time.
PAGE_BYTES = 4096
#: Requests that Linux collects to merge them, since 5.16 (`BLK_MAX_REQUEST_COUNT`). A thread that deals with more
#: disks than that in turn finds no two requests to merge.
MAX_PLUGGED = 32
#: Time of md's thread for a request of 4 KiB that does not merge, ns: 4.0 us in a group of 20 disks at 51.4 MB/s (L.
#: Lowrey, linux-raid, 2020-12-15), 2.9 us in one of 36 at 38.9 MB/s (M. Wanat, linux-raid, 2021-08-19). At half a
#: rebuild of such a group is twice as fast.
UNMERGED_PAGE_NS = 3500


class Rebuild(Description):
    """A pass over all members while the array serves its workload: a rebuild or a check as Linux md does it.

    Of a pool of OpenZFS it is a resilver, or a scrub where `action` is "check"; of these only `disk`, `done_ratio`,
    `used_ratio` and `sequential` are asked.

    Attributes
    ----------
    action : "recover", "check" or "resync"
        As in md's `sync_action`. "recover": a failed disk is rebuilt onto a spare. "check": everything is read and
        compared, as most Linux systems do once a month; of a pool it is a scrub. "resync": the first pass over a new
        array, or the one after a crash: everything is read, and parity or copies are written, because they differ.
    disk : int or None
        Which failed disk is rebuilt; None: the first.
    speed_min_bytes_per_s : float
        A rebuild that is slower does not yield to the host. Default: 1,000 KiB/s, Linux's `speed_limit_min`. What
        `mdadm` and administrators raise where a busy array is rebuilt too slowly.
    speed_max_bytes_per_s : float
        Limit of the rebuild rate. Default: 200,000 KiB/s, Linux's `speed_limit_max`.
    window_bytes : int
        Size of one step on each disk: read, then written where the action writes. Default: 128 KiB, after which md
        decides whether to yield.
    steps_at_once : int or None
        Steps that may be in progress at the same time while the rebuild does not yield. None: as many as md has room
        for, 1 MiB with parity (256 stripes of 4 KiB, `stripe_cache_size`) and 2 MiB with copies.
    done_ratio : float
        Share of each disk that the pass is already through at time 0; of a pool of what is stored on it.
    used_ratio : float or None
        Pools: share of the pool's space that is in use, which is all that a resilver or a scrub goes through. None:
        80 %.
    sequential : bool or None
        Pools: whether a resilver goes through allocated space in its order (`zpool replace -s`), which mirrors and
        dRAID can, instead of through records. None: only onto a distributed spare, which OpenZFS fills in no other way.
    page_ns : int or None
        Time that md's thread takes for each request of 4 KiB to a member of a parity group; 0: no time. None: 0 as long
        as requests of adjacent stripes merge, which they do in groups of at most 32 disks (as many requests as the
        kernel plugs, 16 before Linux 5.16), and 3.5 us in wider ones: two published groups, of 20 and of 36 disks, take
        4.0 and 2.9 us.
    """

    action: SyncAction = "recover"
    disk: int | None = None
    speed_min_bytes_per_s: BytesPerSecond = 1000 * 1024
    speed_max_bytes_per_s: BytesPerSecond = 200_000 * 1024
    window_bytes: Length = Field(default=128 << 10, gt=0)
    steps_at_once: int | None = Field(default=None, ge=1, le=1024)
    done_ratio: Ratio = 0.0
    used_ratio: Ratio | None = None
    sequential: bool | None = None
    page_ns: Nanoseconds | None = None

    def halfway(self) -> Rebuild:
        """Return the same rebuild, half done.

        There its rate is about the mean of the whole: disks are faster in the zones before, and slower in those behind.
        """
        return self.model_copy(update={"done_ratio": 0.5})

    def of_pool(self, level: RaidLevel, used_ratio: float | None = None) -> Rebuild:
        """Return the resilver of a pool instead of this rebuild: without what only Linux md or other vdevs have."""
        used = self.used_ratio if self.used_ratio is not None else used_ratio
        sequential = self.sequential if level.has_fixed_rows else None
        return Rebuild(disk=self.disk, done_ratio=self.done_ratio, used_ratio=used, sequential=sequential)


#: A page of md's stripe cache, bytes; the most pages that it takes (`stripe_cache_size`); the most disks whose strips
#: fit into the bits of a word.
STRIPE_PAGE_BYTES = 4096
MAX_STRIPE_CACHE = 32_768
MAX_STRIPE_DISKS = 64


#: What keeps the rows of an array consistent when the power fails while they are written, in mdadm's words.
Consistency = Literal["resync", "bitmap", "journal", "ppl"]
#: Levels that have a journal in Linux md.
JOURNALED = ("raid4", "raid5", "raid6")
#: The most disks of an array with a journal: a block of 4 KiB of it lists a page of every disk of a stripe.
MAX_JOURNALED_DISKS = 203


#: `recordsize` of a file system of OpenZFS, and 2^12 = 4096, the sectors that today's disks really have.
USUAL_RECORD_BYTES = 128 << 10
USUAL_ASHIFT = 12
#: Fields of a layout that pools have.
ONLY_OF_POOLS = (
    "vdevs",
    "data_disks",
    "distributed_spares",
    "record_bytes",
    "ashift",
    "sync",
    "dirty_data_max_bytes",
    "record_work_ns",
    "special",
    "cache",
)
_OF_POOLS = frozenset(
    ("level", "disks", "failed", "spares", "rebuild", "member_bytes", "data_offset_bytes", "log", *ONLY_OF_POOLS)
)
#: Fields of a rebuild that belong to Linux md.
ONLY_OF_MD = ("speed_min_bytes_per_s", "speed_max_bytes_per_s", "window_bytes", "steps_at_once", "page_ns")
#: What a layout needs for each way to stay consistent.
_HOW_TO_HAVE = {"bitmap": "bitmap = {}", "journal": 'log = { write = "30 us" }'}
#: Why pools do not have some of the others.
_WHY_NOT_IN_POOLS = {
    "copies": "a mirror has a copy on every disk of its vdev: say how many vdevs",
    "groups": "the groups of a pool are its vdevs: use vdevs",
    "n_parity": "is implied by raidz1, draid2 and the like",
    "strip_bytes": "a pool has no strips: its records have record_bytes",
}


class Bitmap(Description):
    """Write-intent bitmap, as of Linux md: which chunks may differ between members after a crash.

    Attributes
    ----------
    chunk_bytes : int
        What a bit stands for: of each member at levels with parity, of the array at mirrored ones. Default: 64 MiB,
        mdadm's for arrays of 100 GB and more. At half twice as many bits have to be set.
    clear_interval_ns : int
        Wake-ups of the daemon that clears bits. Default: 5 s, mdadm's.
    flush_ns : int
        Time that a drive takes to make its cache durable after a page of the bitmap was written. 0 where a write is
        durable when it ends; consumer SSDs take milliseconds.
    """

    chunk_bytes: Bytes = Field(default=64 << 20, gt=0)
    clear_interval_ns: Nanoseconds = Field(default=5_000_000_000, ge=1_000_000)
    flush_ns: Nanoseconds = 0


#: What programs call passes over the disks of an array, and the action of a rebuild that each is.
_PASSES = {"scrub": "check", "resilver": "recover", "check": "check", "resync": "resync"}


def _has_parity(array: Any) -> bool:
    return bool(array.layout.kind.family == "parity")


def _rotates(array: Any) -> bool:
    return _has_parity(array) and bool(array.layout.kind.rotates)


class Layout(Description):
    """RAID level, disks, strip.

    Attributes
    ----------
    level : str
        jbod, raid0, raid1, raid1e, raid10, raid3, raid4, raid5, raid50, raid6, raid60 or erasure; for a pool of OpenZFS
        its kind of vdev: mirror, raidz1 to raidz3 or draid1 to draid3. Of dRAID as `zpool create` takes it, too:
        "draid2:8d:11c:1s" has 8 data disks in a group, 11 disks and a distributed spare in a vdev.
    disks : int
        Members, spares not counted; of a pool those of all vdevs.
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
    strip_bytes : int
        Contiguous data on one disk before the next disk's turn.
    copies : int or None
        Copies of each block: all disks for raid1, 2 for raid1e and raid10 unless given.
    arrangement : "near" or "far"
        raid10: copies side by side, or in the other half of the next disk.
    groups : int or None
        raid50, raid60, erasure: parity groups the rows go round.
    n_parity : int or None
        erasure: parity strips in a row (k + m); implied by the other levels.
    rotation : str
        Where parity lies (raid5, raid6 and their groups, erasure).
    read_policy : str
        Which copy serves a read: "nearest" (as Linux md: an idle disk, else the one whose last completed request ended
        closest; RAID 1 keeps a sequential reader on its disk, far copies are read at their lowest address),
        "shortest-queue", "round-robin", "primary", "nearest-arm" (closest, idle or not).
    read_strips : "joined" or "separate"
        Strips of one read that adjoin on a disk: one command, or each its own, with a copy chosen for each (Linux md).
    largest_request_bytes : int or None
        raid10, raid1e: longest request that the members take. Linux md cuts longer ones there before it cuts them into
        strips, and then comes to the strips out of order: a revolution is lost in every such request. What
        `max_sectors_kb` says, or 4 KiB for each segment that the adapter takes (AHCI: 168, so 672 KiB). None: in order,
        as in other arrays.
    huge_page_ratio : float
        Share of requests whose data lies in huge pages of the host's memory: a few segments, so that they are not cut
        at `largest_request_bytes` where segments set that limit.
    write_policy : str
        Partial parity writes: "fewest" reads (a tie reconstructs), or one method always.
    read_modify_write : "released" or "held"
        What becomes of a disk between reading old data or parity and writing the new: others are served meanwhile, or
        the arm waits for the block to come round again (data first, then parity).
    failed : list of int
        Disks that are missing (degraded operation).
    spares : int
        Hot spares, counted in the cost, unused until a rebuild.
    rebuild : Rebuild or None
    member_bytes : int or None
        Part of each disk that is used; None: all of it.
    data_offset_bytes : int
        Where data begins on each disk.
    consistency_policy : "resync", "bitmap", "journal", "ppl" or None
        What keeps the disks of a row consistent after a power cut, in mdadm's words. None: a journal where there is a
        `log`, a bitmap where there is a `bitmap`, else what mdadm does: it gives arrays of 100 GB and more a bitmap.
        "resync": neither. "ppl": raid5 has a partial parity log on its own
        disks.
    bitmap : Bitmap or None
        Write-intent bitmap, near the beginning of each disk.
    stripe_cache_pages : int or None
        raid4, raid5, raid6: Linux md's `stripe_cache_size`, pages of 4 KiB of each disk that are kept of what was
        written last. Rows that two sequential writes share are not read for the second one, and rows that need no reads
        do not wait for those of others. md's default is 256. None: each request reads what it needs, and then writes.
    """

    level: Level
    disks: int = Field(ge=1, le=MAX_DISKS)
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
    strip_bytes: Bytes = Field(default=64 << 10, gt=0)
    copies: int | None = Field(default=None, ge=1)
    arrangement: Literal["near", "far"] = "near"
    groups: int | None = Field(default=None, ge=1)
    n_parity: int | None = Field(default=None, ge=1)
    rotation: Rotation = "left-symmetric"
    read_policy: ReadPolicy = "nearest"
    read_strips: Literal["joined", "separate"] = "joined"
    largest_request_bytes: Length | None = Field(default=None, gt=0)
    huge_page_ratio: Ratio = 0.0
    write_policy: WritePolicy = "fewest"
    read_modify_write: Literal["released", "held"] = "released"
    failed: tuple[int, ...] = ()
    spares: int = Field(default=0, ge=0, le=10_000)
    rebuild: Rebuild | None = None
    member_bytes: Bytes | None = Field(default=None, gt=0)
    data_offset_bytes: Bytes = 0
    consistency_policy: Consistency | None = None
    bitmap: Bitmap | None = None
    stripe_cache_pages: int | None = Field(default=None, ge=1, le=MAX_STRIPE_CACHE)

    @model_validator(mode="before")
    @classmethod
    def _counts_of_draid(cls, data: Any) -> Any:
        """Take the counts out of a level such as "draid2:8d:11c:1s"."""
        found = draid_counts(data.get("level")) if isinstance(data, Mapping) else None
        if found is None:
            return data
        level, counts = found
        given: dict[str, Any] = {"level": level}
        for letter, name in (("d", "data_disks"), ("s", "distributed_spares")):
            if letter in counts and data.get(name, counts[letter]) != counts[letter]:
                raise ValueError(f"{name}={data[name]}: differs from {data['level']}; remove one of them")
            given |= {name: counts[letter]} if letter in counts else {}
        if unknown := sorted(set(counts) - set("dcs")):
            what = "failure domains are not modeled" if unknown == ["w"] else "only d, c and s are known"
            raise ValueError(f"level={data['level']}: {what}; write for example draid2:8d:11c:1s")
        vdevs = data.get("vdevs", 1)
        disks = data.get("disks", counts.get("c", 0) * vdevs if isinstance(vdevs, int) else None)
        if "c" in counts and isinstance(vdevs, int) and disks != counts["c"] * vdevs:
            rule = f"{vdevs} vdevs of {data['level']} have {counts['c'] * vdevs}" if vdevs > 1 else data["level"]
            raise ValueError(f"disks={disks}: differs from {rule}; change one of them")
        return {**data, **given, **({"disks": disks} if disks else {})}

    @model_validator(mode="before")
    @classmethod
    def _passes_are_rebuilds(cls, data: Any) -> Any:
        """Refuse passes over all disks that are written under their own names, and say where they belong."""
        if isinstance(data, Mapping):
            for name, action in _PASSES.items():
                if name in data:
                    raise ValueError(f'{name}: is not a known field; write rebuild = {{ action = "{action}" }} instead')
        return data

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which levels read a field."""
        parity = Reader("levels with parity", _has_parity)
        cut = Reader(
            "arrays whose reads span strips",
            lambda array: array.layout.has_strips_to_cut and not array.layout.kind.is_pool,
        )
        return {
            "write_policy": parity,
            "read_modify_write": parity,
            "rotation": Reader("levels that rotate their parity", _rotates),
            "read_policy": Reader(
                "levels with copies", lambda array: array.layout.n_copies > 1 and not array.layout.kind.is_pool
            ),
            "read_strips": cut,
        }

    @property
    def has_strips_to_cut(self) -> bool:
        """Whether a read can be of several strips; disks with the same content need no cut (rule L4)."""
        is_plain_mirror = self.n_copies == self.disks and self.arrangement == "near"
        return self.kind.family != "concat" and not is_plain_mirror

    @model_validator(mode="after")
    def _check(self) -> Self:
        # whether data is lost is known only for a valid shape
        if problem := self._shape_problem() or self._failure_problem():
            raise ValueError(problem)
        return self

    def _shape_problem(self) -> str | None:
        if problem := self._pool_problem() or self.shape.problem():
            return problem
        level, kind = self.level, self.kind
        if self.arrangement == "far" and not kind.has_far_copies:
            return f"arrangement='far': only raid10 has it, not {level}; remove it"
        if self.largest_request_bytes is not None and kind.default_copies < 2:
            return f"largest_request_bytes={self.largest_request_bytes}: {level} has no strips with copies; remove it"
        if self.huge_page_ratio and self.largest_request_bytes is None:
            return f"huge_page_ratio={self.huge_page_ratio}: no request is cut without largest_request; add that too"
        if self.bitmap is not None and not kind.is_redundant:
            return f"bitmap: {level} has nothing to resynchronize; remove it"
        if self.bitmap is not None and kind.family == "parity" and self.bitmap.chunk_bytes % self.strip_bytes:
            return (
                f"bitmap.chunk_bytes={self.bitmap.chunk_bytes}: not a multiple of strip_bytes={self.strip_bytes}; "
                "use for example 64 MiB"
            )
        return self._consistency_problem() or self._stripe_cache_problem()

    def _consistency_problem(self) -> str | None:
        """Return what contradicts itself, or belongs to another level, of what keeps rows consistent."""
        if self.kind.is_pool:
            return None
        given, needs = self.consistency_policy, {"bitmap": self.bitmap, "journal": self.log}
        has = [name for name, what in needs.items() if what is not None]
        if len(has) > 1:
            return "bitmap: md keeps either a bitmap or a journal (log); remove one of them"
        if given == "ppl" and (problem := self._partial_parity_problem()):
            return problem
        if given is not None and has != [given][: given in needs]:
            fix = f"remove {'log' if has == ['journal'] else 'bitmap'}" if has else "add " + _HOW_TO_HAVE[given]
            return f"consistency_policy={given}: does not fit {', '.join(has) or 'an array without one'}; {fix}"
        return self._journal_problem() if self.log is not None else None

    def _partial_parity_problem(self) -> str | None:
        """Return why an array cannot have a partial parity log."""
        given = "consistency_policy=ppl"
        if self.level != "raid5":
            return f"{given}: md has a partial parity log for raid5, not for {self.level}; remove it"
        if self.disks > MAX_STRIPE_DISKS:
            return f"{given}: is for at most {MAX_STRIPE_DISKS} disks, not {self.disks}; remove it"
        if self.read_modify_write == "held":
            return f"{given}: md does not hold disks; remove it, or read_modify_write"
        if self.strip_bytes % STRIPE_PAGE_BYTES:
            return f"{given}: strip_bytes={self.strip_bytes} is not a multiple of {STRIPE_PAGE_BYTES}; change one"
        return None

    def _journal_problem(self) -> str | None:
        """Return why an array cannot have a journal of Linux md."""
        if self.level not in JOURNALED:
            return f"log: md has a journal for {', '.join(JOURNALED)}, not for {self.level}; remove it"
        if self.disks > MAX_JOURNALED_DISKS:
            return f"log: a journal is for at most {MAX_JOURNALED_DISKS} disks, not {self.disks}; remove it"
        if self.read_modify_write == "held":
            return "log: md does not hold disks; remove it, or read_modify_write"
        if self.log is not None and self.log.mode == "write-back":
            return "log.mode=write-back: is not modeled; use write-through, which is md's mode unless it is changed"
        if self.strip_bytes % STRIPE_PAGE_BYTES:
            return f"log: strip_bytes={self.strip_bytes} is not a multiple of {STRIPE_PAGE_BYTES}; change one of them"
        return None

    def _pool_problem(self) -> str | None:
        """Return which field belongs to the other kind of array, or what records cannot be; None where all fit."""
        if not self.kind.is_pool:
            for name in ONLY_OF_POOLS:
                if (value := getattr(self, name)) is not None:
                    given = name if isinstance(value, Description) else f"{name}={value}"
                    return f"{given}: belongs to pools of OpenZFS, not to {self.level}; remove it"
            return None
        defaults = {name: field.default for name, field in type(self).model_fields.items() if name not in _OF_POOLS}
        for name, default in defaults.items():
            if name in self.model_fields_set and getattr(self, name) != default:
                why = _WHY_NOT_IN_POOLS.get(name, "is a setting of RAID, which a pool does not have")
                return f"{name}: {why}; remove it"
        if self.cache is not None and self.cache.all_bytes < self.pool_record_bytes:
            rule = f"has no room for a record of {self.pool_record_bytes} bytes"
            return f"cache.size_bytes={self.cache.size_bytes}: {rule}; use a larger device, or smaller records"
        for name in ONLY_OF_JOURNALS:
            if self.log is not None and getattr(self.log, name):
                return f"log.{name}={getattr(self.log, name)}: belongs to the journal of Linux md; remove it"
        record = self.pool_record_bytes
        if self.special is not None and self.special.small_blocks_bytes >= record:
            given = f"special.small_blocks_bytes={self.special.small_blocks_bytes}"
            fix = "use less, or describe a pool of the special vdev's devices"
            return f"{given}: would put all records of {record} bytes on the special vdev; {fix}"
        if record & (record - 1):
            return f"record_bytes={record}: must be a power of two; try {1 << record.bit_length() - 1}"
        if record < self.block_bytes:
            return (
                f"record_bytes={record}: less than a block of ashift={self.pool_ashift}; use {self.block_bytes} or more"
            )
        return None

    def _stripe_cache_problem(self) -> str | None:
        if self.stripe_cache_pages is None:
            return None
        given = f"stripe_cache_pages={self.stripe_cache_pages}"
        if self.kind.family != "parity" or self.n_groups > 1:
            return f"{given}: md keeps stripes of raid4, raid5 and raid6, not of {self.level}; remove it"
        if self.disks > MAX_STRIPE_DISKS:
            return f"{given}: is not modeled for more than {MAX_STRIPE_DISKS} disks; remove it"
        if self.read_modify_write == "held":
            return f"{given}: md does not hold disks; remove it, or read_modify_write"
        if self.strip_bytes % STRIPE_PAGE_BYTES:
            return (
                f"{given}: strip_bytes={self.strip_bytes} is not a multiple of {STRIPE_PAGE_BYTES}; change one of them"
            )
        return None

    def _failure_problem(self) -> str | None:
        lost = self.failed
        if self.rebuild is not None and (problem := self._family_problem(self.rebuild)):
            return problem
        if any(not 0 <= disk < self.disks for disk in lost):
            return f"failed={list(lost)}: disks are numbered 0 to {self.disks - 1}; name existing ones"
        if len(set(lost)) != len(lost):
            return f"failed={list(lost)}: a disk is named twice; name each once"
        if self.rebuild is not None and self.rebuild.action != "recover":
            return self._check_problem(self.rebuild)
        if self.rebuild is not None and not lost:
            return "rebuild: no disk has failed; name it in failed"
        if self.rebuild is not None and self.rebuild.disk is not None and self.rebuild.disk not in lost:
            return f"rebuild.disk={self.rebuild.disk}: is not among failed={list(lost)}; name a failed disk"
        if self.loses_data:
            return (
                f"failed={list(lost)}: {self.level} has lost data with these disks; fewer failures or more redundancy"
            )
        return None

    def _family_problem(self, rebuild: Rebuild) -> str | None:
        """Return which field of a rebuild belongs to the other kind of array."""
        if not self.kind.is_pool:
            if rebuild.sequential is not None:
                return f"rebuild.sequential={rebuild.sequential}: md always rebuilds in order; remove it"
            used = rebuild.used_ratio
            return None if used is None else f"rebuild.used_ratio={used}: md rebuilds whole disks; remove it"
        if problem := self._order_problem(rebuild):
            return problem
        if rebuild.action == "resync":
            return "rebuild.action='resync': is a pass of Linux md, not of OpenZFS; use 'check' for a scrub"
        for name in ONLY_OF_MD:
            if getattr(rebuild, name) != type(rebuild).model_fields[name].default:
                return f"rebuild.{name}={getattr(rebuild, name)}: is a setting of Linux md, not of OpenZFS; remove it"
        return None

    def _order_problem(self, rebuild: Rebuild) -> str | None:
        """Return why a pass over a pool cannot go in the order that it asks for."""
        given = f"rebuild.sequential={rebuild.sequential}"
        if rebuild.sequential is None:
            return None
        if rebuild.action != "recover":
            return f"{given}: a scrub has no other order; remove it"
        if rebuild.sequential and not self.kind.has_fixed_rows:
            return f"{given}: rows of RAID-Z have no fixed width, so only records show what is missing; remove it"
        if not rebuild.sequential and self.spare_places:
            return f"{given}: OpenZFS fills a distributed spare in order; remove it, or distributed_spares"
        return None

    def _check_problem(self, rebuild: Rebuild) -> str | None:
        """Return what is wrong with a pass over an array of which no disk is missing."""
        action = f"rebuild.action={rebuild.action!r}"
        if self.failed:
            return f"{action}: disks have failed; remove them from failed, or rebuild one with action = 'recover'"
        if rebuild.disk is not None:
            return f"rebuild.disk={rebuild.disk}: {rebuild.action} goes through all disks; remove it"
        if not self.kind.is_redundant:
            return f"{action}: {self.level} has nothing to compare; remove rebuild"
        if self.arrangement == "far":
            return f"{action}: is not modeled for far copies; use near ones"
        return None

    def fastest_rebuild(self, rebuild: Rebuild) -> float:
        """Return the rate that md limits a rebuild, a check or a resync of this layout to, bytes/s of each disk.

        OpenZFS has no such limit: infinite.
        """
        if self.kind.is_pool:
            return math.inf
        width = self.disks // self.n_groups
        page_ns = rebuild.page_ns
        if page_ns is None:
            page_ns = UNMERGED_PAGE_NS if width > MAX_PLUGGED else 0
        if self.kind.family != "parity" or not page_ns:
            return rebuild.speed_max_bytes_per_s
        return min(rebuild.speed_max_bytes_per_s, PAGE_BYTES * 1e9 / (page_ns * width))

    @property
    def shape(self) -> Shape:
        """Return the level with its counts."""
        groups, data, spares = self.vdevs or self.groups, self.data_disks, self.distributed_spares
        return Shape(self.level, self.disks, self.copies, groups, self.n_parity, data, spares)

    @property
    def kind(self) -> RaidLevel:
        """Return the level's entry in the list of levels."""
        return KINDS[self.level]

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

    @property
    def n_copies(self) -> int:
        """Number of copies of each block."""
        return self.shape.n_copies

    @property
    def n_groups(self) -> int:
        """Parity groups, or vdevs of a pool (1 where the level has none)."""
        return self.shape.n_groups

    @property
    def group_disks(self) -> int:
        """Number of disks of one parity group, or vdev."""
        return self.shape.group_disks

    @property
    def parity_strips(self) -> int:
        """Number of parity strips of one row (0 without parity)."""
        return self.shape.parity_strips

    @property
    def data_strips(self) -> int:
        """Number of data strips of one row of a parity group; of dRAID of one of its groups."""
        return self.shape.data_strips

    @property
    def spare_places(self) -> int:
        """Number of distributed spares of one vdev of dRAID."""
        return self.shape.spare_places

    @property
    def spares_to_rebuild(self) -> int:
        """Hot spares that a rebuild needs: those that are described, or else one; none where spares are distributed."""
        return self.spares if self.spare_places else max(self.spares, 1)

    @property
    def rebuilds_at_once(self) -> float:
        """How much of a lost disk is rebuilt while a disk transfers once; 1 but onto a distributed spare.

        There every other disk reads or writes its share of what the lost disk's groups have.
        """
        if not self.spare_places:
            return 1.0
        return (self.group_disks - 1) / (self.data_strips + self.parity_strips)

    @property
    def is_rebuilt_in_order(self) -> bool:
        """Whether the resilver of a pool goes through allocated space in its order: a sequential one."""
        if self.rebuild is None or self.rebuild.action != "recover":
            return False
        return bool(self.rebuild.sequential or self.spare_places)

    @property
    def groups_at_once(self) -> int:
        """Number of whole groups of dRAID that are next to each other on the disks of a vdev; 1 elsewhere."""
        if not self.kind.is_distributed:
            return 1
        return (self.group_disks - self.spare_places) // (self.data_strips + self.parity_strips)

    @property
    def loses_data(self) -> bool:
        """Whether the failed disks had all copies of a block, or more strips of a row than parity replaces."""
        lost = set(self.failed)
        if not self.kind.is_redundant:
            return bool(lost)
        if self.parity_strips:
            per_group = [sum(1 for d in lost if d // self.group_disks == g) for g in range(self.n_groups)]
            return max(per_group) > self.parity_strips
        n, copies = self.disks, self.n_copies
        if self.kind.is_pool:
            return any(all(disk in lost for disk in range(first, first + copies)) for first in range(0, n, copies))
        if self.arrangement == "far":
            return any(all((first + c) % n in lost for c in range(copies)) for first in range(n))
        starts = {(k * copies) % n for k in range(n)}
        return any(all((first + c) % n in lost for c in range(copies)) for first in starts)

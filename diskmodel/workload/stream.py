"""One stream of requests: what, how large, where, when."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import gcd
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from diskmodel.description import Description, Reader
from diskmodel.errors import Fault
from diskmodel.records import Int64, Op, Sync
from diskmodel.units import Bytes, Length, Nanoseconds, Ratio, Weight, exact_bytes, pretty_bytes
from diskmodel.workload.addresses import Addresses, AddressPattern, ExcerptPlaces, Uniform
from diskmodel.workload.arrivals import Arrival, Closed, ExcerptTimes
from diskmodel.workload.draws import Draws, Kind, same
from diskmodel.workload.excerpts import Excerpts
from diskmodel.workload.file_system import FileState, FileSystem, sync_rule
from diskmodel.workload.space import Space

SECTOR_BYTES = 512

#: Natural alignment ends here, bytes: larger requests are transfers of many blocks, and file systems and databases
#: place large blocks at multiples of about 1 MiB (partitions, extents). At half, 1 MiB requests would start in the
#: middle of the strips that they fill; at double nothing changes for requests of up to 1 MiB.
MAX_NATURAL_ALIGNMENT_BYTES = 1 << 20

#: Requests that a region has room for, up to which one of a run may begin at random where the last one ended.
_FEW_PLACES = 10_000
#: Difference allowed between the mean of the sizes and that of the excerpts, as a share: rounding to sectors. At half,
#: the fit's own rounding of small requests is refused; at double, an edited size may pass without any effect.
_SUMMARY_RATIO = 0.05

_SIZES = ("sizes", "size", "size_bytes")
_PLACES = ("span", "offset")
_OPEN_KEYS = ("rate_per_s", "profile")
_CLOSED_KEYS = ("clients", "queue_depth", "think", "think_ns", "think_distribution", "client_rate_per_s", "client_rate")


class SizeShare(Description):
    """A request size and its share (relative to the other sizes of the stream)."""

    size_bytes: Length
    weight: Weight = 1.0

    @field_validator("size_bytes")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        if value == 0 or value % SECTOR_BYTES:
            # "8 KB" is 8000 bytes: 8 KiB was meant
            meant = value // 1000 if value and value % 1000 == 0 else 4
            raise ValueError(f'must be a positive multiple of {SECTOR_BYTES} bytes; write for example "{meant} KiB"')
        return value


def _as_shares(value: object) -> object:
    if isinstance(value, str | int):
        return ({"size_bytes": value},)
    if isinstance(value, list | tuple):
        return tuple({"size_bytes": item} if isinstance(item, str | int) else item for item in value)
    return value


class Stream(Description):
    """Requests of one kind.

    Attributes
    ----------
    name : str
    read_ratio : float in [0, 1]
        Share of reads; the rest are writes, or flushes.
    sizes : tuple of SizeShare
        In a file also `size = "4 KiB"`.
    alignment_bytes : int or None
        Requests start at multiples of it. Default: the largest power of two that divides all sizes, at most 1 MiB
        (W5): a request is a page or block, and these lie at multiples of their size.
    addresses : Uniform, Sequential, Zipf, HotSpot, ReuseWalk, Strided, SortedBatches, Zoned or ZoneWrite
    span_bytes, span_ratio, offset_bytes, offset_ratio : optional
        Region on the array, in bytes or as a share of its capacity; in a file `span = "100 GB"` or `span = "50%"`.
        `"all"` is all of the array.
        Default: the workload's span, else all of it from `offset` on.
    arrival : Poisson, Bursts, Given or Closed
        In a file a stream may instead say `rate = "200/s"`, or `clients = 16` (or `queue_depth = 16`) with `think`.
    excerpts : Excerpts or None
        Excerpts of a trace. Operations and sizes are theirs, and `read_ratio` and `sizes` summarize them; times and
        places are theirs where `arrival` and `addresses` say so.
    weight : float or None
        Share of the rows relative to other streams; default: the expected rate. It decides how many rows are made,
        never how fast they come.
    kind : "requests", "commits" or "flushes"
        "commits": the rows are records that clients append to one log (group commit). At most one batch of records is
        written at a time, and made safe; records that come meanwhile join the next. In a file also
        `record = "300 B"`; `alignment` is the block in which the log is written, 4 KiB where it is not given.
        "flushes": each request makes safe what all streams have written until then, without a write of its own: a
        barrier of a virtual machine, an fdatasync of what others wrote. It has no size and no place.
    record_bytes : int or None
        Bytes of a record, of commits.
    commit_delay_ns : int
        How long a batch of records waits for others before it is written.
    sync : "none", "fdatasync", "fsync" or "dsync"
        How writes are made safe from a power cut: a call that waits for it after each write, or, with "dsync", in the
        write itself (O_DSYNC, O_SYNC). The client goes on when the write is safe.
    sync_every : int
        "fdatasync" and "fsync" follow every so many writes of a client.
    file_system : "none", "ext4" or "xfs"
        File system on the array whose files are written; "none": the array itself. It fills the array, and all streams
        with one share its journal.
    file : "overwrite", "append" or "unwritten"
        What a write finds. "overwrite": blocks that were written before, whose sync is a flush. "append": the file
        grows. "unwritten": blocks that were set aside (`fallocate`) and not written yet. The last two, and fsync
        whenever the file's times have changed, commit the journal.
    volume : str or None
        Volume that the stream belongs to: limits of an objective may be those of a volume, all its streams together.
    """

    name: str = Field(default="", max_length=64)
    read_ratio: Ratio = 1.0
    sizes: Annotated[tuple[SizeShare, ...], BeforeValidator(_as_shares)]
    alignment_bytes: Bytes | None = None
    addresses: Addresses = Uniform()
    span_bytes: Bytes | None = None
    span_ratio: Ratio | None = None
    offset_bytes: Bytes | None = None
    offset_ratio: Ratio | None = None
    arrival: Arrival
    excerpts: Excerpts | None = None
    weight: Weight | None = None
    kind: Literal["requests", "commits", "flushes"] = "requests"
    record_bytes: Length | None = None
    commit_delay_ns: Nanoseconds = 0
    sync: Literal["none", "fdatasync", "fsync", "dsync"] = "none"
    sync_every: int = Field(default=1, ge=1, le=1 << 30)
    file_system: FileSystem = "none"
    file: FileState = "overwrite"
    volume: str | None = Field(default=None, min_length=1, max_length=64)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which workloads read a field of a stream."""
        return {
            "weight": Reader("workloads of several streams", lambda workload: len(workload.streams) > 1),
            "volume": Reader("objectives of a plan", lambda workload: False),
            "file_system": Reader("appends, unwritten blocks, fsync and dsync", _commits_journals),
        }

    @model_validator(mode="before")
    @classmethod
    def _accept_short_forms(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        data = places_by_unit(data)
        if data.get("kind") == "commits":
            data = _as_commits(data)
        if data.get("kind") == "flushes":
            data = _as_flushes(data)
        if "size" in data or "size_bytes" in data:
            if "sizes" in data or ("size" in data and "size_bytes" in data):
                raise ValueError("the size is given twice; keep size or sizes")
            bare = data.get("size")
            if isinstance(bare, int | float):
                raise ValueError('size: has no unit; write for example size = "8 KiB" or size_bytes = 8192')
            data["sizes"] = data.pop("size") if "size" in data else data.pop("size_bytes")
        if "rate" in data:
            if not isinstance(data["rate"], str):
                raise ValueError('rate: has no unit; write for example rate = "200/s" or rate_per_s = 200')
            data.setdefault("rate_per_s", data.pop("rate"))
        return _arrival_of_short_keys(data)

    @field_validator("sizes")
    @classmethod
    def _some_size(cls, value: tuple[SizeShare, ...]) -> tuple[SizeShare, ...]:
        if not value:
            raise ValueError('must have at least one size; write for example size = "4 KiB"')
        return value

    @field_validator("alignment_bytes")
    @classmethod
    def _whole_sectors(cls, value: int | None) -> int | None:
        if value is not None and (value == 0 or value % SECTOR_BYTES):
            raise ValueError(f'must be a positive multiple of {SECTOR_BYTES}; write for example "4 KiB"')
        return value

    @model_validator(mode="after")
    def _one_form(self) -> Stream:
        check_one_form(self)
        return self

    @model_validator(mode="after")
    def _commits_records(self) -> Stream:
        if self.kind != "commits":
            if self.record_bytes is not None or self.commit_delay_ns:
                raise ValueError(
                    "record and commit_delay: are of a stream of commits; set kind = 'commits', or leave out"
                )
            return self
        if not self.record_bytes:
            raise ValueError('record: is missing, and must be more than 0; write for example record = "300 B"')
        if self.read_ratio or self.excerpts is not None or self.sync == "none" or self.sync_every > 1:
            raise ValueError(
                "kind=commits: its records are written and synchronized together; leave out read_ratio, excerpts and "
                "sync_every, and keep sync as 'fdatasync', 'fsync' or 'dsync'"
            )
        return self

    @model_validator(mode="after")
    def _flushes_alone(self) -> Stream:
        if self.kind != "flushes":
            return self
        has_place = self.addresses != Uniform() or self.alignment_bytes is not None
        has_place |= any(getattr(self, f"{key}_{unit}") is not None for key in _PLACES for unit in ("bytes", "ratio"))
        if self.read_ratio or has_place or self.excerpts is not None or self.sync != "none":
            raise ValueError(
                "kind=flushes: a flush has no size and no place, and is a sync itself; leave out read_ratio, "
                "addresses, span, offset, alignment, excerpts and sync, or set kind = 'requests'"
            )
        return self

    @model_validator(mode="after")
    def _syncs_writes(self) -> Stream:
        if self.sync_every > 1 and self.sync not in ("fdatasync", "fsync"):
            raise ValueError(
                f"sync_every={self.sync_every}: is for sync = 'fdatasync' or 'fsync', which are calls of their own, "
                f"and sync is {self.sync!r}; set one of them, or leave it out"
            )
        if self.file_system != "none" and self.sync == "none":
            raise ValueError(
                f"file_system={self.file_system}: is about writes that are made safe, and sync is 'none'; set sync, "
                "or leave file_system out"
            )
        if self.file != "overwrite" and self.file_system == "none":
            raise ValueError(
                f"file={self.file}: is a state of a file, and file_system is 'none'; set file_system = 'ext4' or 'xfs'"
            )
        if self.sync != "none" and self.read_ratio == 1 and self.excerpts is None:
            raise ValueError(f"sync={self.sync}: is about writes, and all requests are reads; lower read_ratio")
        return self

    @model_validator(mode="after")
    def _excerpts_agree(self) -> Stream:
        draws_from_them = [
            name
            for name, part in (("arrival", self.arrival), ("addresses", self.addresses))
            if isinstance(part, ExcerptTimes | ExcerptPlaces)
        ]
        if self.excerpts is None:
            if draws_from_them:
                raise ValueError(
                    f"{' and '.join(draws_from_them)}: drawn from excerpts of a trace, and the stream has none; "
                    "fit the stream with `diskmodel workload TRACE --fit`"
                )
            return self
        length = self.excerpts.cycle.length
        mean, largest = float(length.mean()), max(share.size_bytes for share in self.sizes)
        if largest < int(length.max()) or abs(self.mean_size_bytes / mean - 1) > _SUMMARY_RATIO:
            raise ValueError(
                f"sizes: must summarize the excerpts, whose mean is {mean:.0f} and largest {int(length.max())} bytes; "
                "leave sizes as they were fitted, or remove excerpts"
            )
        return self

    def in_words(self) -> str:
        """Return what this stream asks for in a few words: "8 KiB uniform, 70% reads, 500/s"."""
        sizes = " or ".join(pretty_bytes(share.size_bytes) for share in self.sizes[:3])
        sizes += " …" if len(self.sizes) > 3 else ""
        pace = f"{float(f'{self.expected_rate_per_s:.4g}'):,.9g}/s"  # four digits, without an exponent
        if isinstance(self.arrival, Closed):
            pace = f"{self.arrival.clients} outstanding"
        if self.kind == "flushes":
            return f"flushes alone, {pace}"
        if self.kind == "commits":
            assert self.record_bytes is not None
            return f"commits of {pretty_bytes(self.record_bytes)} to one log, {self.sync}{self._on_file}, {pace}"
        often = f" after every {self.sync_every} writes" if self.sync_every > 1 else ""
        sync = "" if self.sync == "none" else f", {self.sync}{often}{self._on_file}"
        return f"{sizes} {self.addresses.pattern}, {100 * self.read_ratio:.3g}% reads, {pace}{sync}"

    @property
    def _on_file(self) -> str:
        """What is written, in words: " on ext4, unwritten"."""
        if self.file_system == "none":
            return ""
        return f" on {self.file_system}" + ("" if self.file == "overwrite" else f", {self.file}")

    @property
    def sync_rule(self) -> Sync:
        """What follows its writes (rule Y1)."""
        return sync_rule(self.sync, self.file_system, self.file)

    @property
    def commits_ratio(self) -> float:
        """Share of its requests that end with a sync: all records and flushes, every so many writes elsewhere."""
        if self.kind == "flushes":
            return 1.0
        return 0.0 if self.sync == "none" else self.write_ratio / self.sync_every

    @property
    def has_syncs(self) -> bool:
        """Whether it makes writes safe, its own or those of others."""
        return self.kind == "flushes" or self.sync != "none"

    @property
    def write_ratio(self) -> float:
        """Share of writes."""
        return 0.0 if self.kind == "flushes" else 1 - self.read_ratio

    @property
    def goes_on(self) -> bool:
        """Whether a request may begin where the last one ended, more often than anywhere else in a large region."""
        is_small = self.span_bytes is not None and self.span_bytes < _FEW_PLACES * self.mean_size_bytes
        return self.kind != "requests" or self.excerpts is not None or is_small or not self.addresses.is_scattered

    @property
    def is_closed(self) -> bool:
        """Whether clients wait for completions."""
        return isinstance(self.arrival, Closed)

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of an open stream; for a closed one a supposition (`Closed.expected_rate_per_s`)."""
        return self.arrival.expected_rate_per_s

    @property
    def row_weight(self) -> float:
        """Share of the rows relative to other streams: `weight`, else the expected rate."""
        return self.weight or self.expected_rate_per_s

    @property
    def mean_size_bytes(self) -> float:
        """Mean request size; 0 of flushes."""
        if self.kind == "flushes":
            return 0.0
        total = sum(share.weight for share in self.sizes)
        return sum(share.size_bytes * share.weight for share in self.sizes) / total

    @property
    def alignment(self) -> int:
        """Alignment in bytes, given or natural (W5)."""
        if self.alignment_bytes is not None:
            return self.alignment_bytes
        common = reduce(gcd, (share.size_bytes for share in self.sizes))
        return min(common & -common, MAX_NATURAL_ALIGNMENT_BYTES)

    def region(self, capacity_bytes: int, default_span_bytes: int | None) -> tuple[int, int]:
        """First byte and span in bytes on an array of `capacity_bytes`, before any check."""
        offset = 0
        if self.offset_bytes is not None:
            offset = self.offset_bytes
        elif self.offset_ratio is not None:
            offset = int(capacity_bytes * self.offset_ratio)
        first = -(-offset // self.alignment) * self.alignment
        if self.span_bytes is not None:
            return first, self.span_bytes
        if self.span_ratio is not None:
            # an aligned start must not push a share of the array over its end
            return first, min(int(capacity_bytes * self.span_ratio), max(capacity_bytes - first, 0))
        if default_span_bytes is not None:
            return first, default_span_bytes - first
        return first, capacity_bytes - first

    def space(self, capacity_bytes: int, default_span_bytes: int | None) -> Space:
        """Places on an array of `capacity_bytes`; check `region_faults` first."""
        first, span = self.region(capacity_bytes, default_span_bytes)
        return Space(first, span, self.alignment, max(share.size_bytes for share in self.sizes))

    def region_faults(self, capacity_bytes: int, default_span_bytes: int | None, field: str) -> list[Fault]:
        """What is wrong with the region on an array of `capacity_bytes`."""
        first, span = self.region(capacity_bytes, default_span_bytes)
        largest = max(share.size_bytes for share in self.sizes)
        if first + span > capacity_bytes:
            rule = (
                f"ends after {exact_bytes(first + span)}, beyond the array's capacity of {exact_bytes(capacity_bytes)}"
            )
            return [Fault(f"{field}.span", span, rule, "lower span or offset, or use a larger array")]
        if span < largest:
            rule = f"the region has {max(span, 0):,} bytes, too few for a request of {largest:,} bytes"
            return [Fault(f"{field}.span", span, rule, "raise span, lower offset, or use smaller requests")]
        if misfit := self.addresses.misfit(Space(first, span, self.alignment, largest)):
            return [Fault(f"{field}.addresses", self.addresses.pattern, misfit, "change sizes, span or offset")]
        return []

    def at_the_end(self, space: Space, n: int) -> Stream:
        """The stream, begun so late that `n` of its requests end where its region does, if it goes through it."""
        total = sum(share.weight for share in self.sizes)
        steps = sum(-(-share.size_bytes // self.alignment) * share.weight for share in self.sizes) / total
        addresses = self.addresses.at_the_end(n, steps * self.alignment, space)
        return self if addresses is self.addresses else self.model_copy(update={"addresses": addresses})

    @property
    def own_addresses(self) -> AddressPattern | None:
        """Its pattern; None where that does not say where its requests go: of flushes and of excerpts of a trace."""
        return None if self.kind == "flushes" or self.excerpts is not None else self.addresses

    @property
    def begins_at_the_front(self) -> bool:
        """Whether it goes through its region in order from its front, because nobody says from where else."""
        addresses = self.own_addresses
        return addresses is not None and addresses.goes_through and addresses.is_in_order

    @property
    def begin_ratio(self) -> float:
        """How much of its region lies behind it when a run begins, where it goes through it in order."""
        return getattr(self.addresses, "begin_ratio", None) or 0.0

    def begun_later(self, ratio: float) -> Stream:
        """The stream in order, begun so far behind where it would begin, as a share of its region."""
        begin = (self.begin_ratio + ratio) % 1.0
        return self.model_copy(update={"addresses": self.addresses.model_copy(update={"begin_ratio": begin})})

    def draw_ops(self, n: int, draws: Draws) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """`Op` values; uint8, shape (n,). Drawn before the addresses, which may depend on them."""
        draws.ops = self._ops(n, draws)
        return draws.ops

    def _ops(self, n: int, draws: Draws) -> np.ndarray[Any, np.dtype[np.uint8]]:
        if self.excerpts is not None:
            return self.excerpts.ops(n, draws, self.read_ratio)
        if self.kind == "flushes":
            return same(np.uint8(Op.FLUSH), n)
        if self.read_ratio in (0.0, 1.0):
            return same(np.uint8(Op.READ if self.read_ratio else Op.WRITE), n)
        return np.where(draws.uniform(Kind.OP, n) < self.read_ratio, Op.READ, Op.WRITE).astype(np.uint8)

    def draw_lengths(self, n: int, draws: Draws) -> Int64:
        """Request sizes; int64, shape (n,), bytes."""
        if self.kind == "flushes":
            return same(np.int64(0), n)
        if self.excerpts is not None:
            return self.excerpts.lengths(n, draws)
        if self.record_bytes is not None:
            return same(np.int64(self.record_bytes), n)
        size = np.array([share.size_bytes for share in self.sizes], dtype=np.int64)
        if len(size) == 1:
            return same(size[0], n)
        cumulative = np.cumsum([share.weight for share in self.sizes])
        chosen = np.searchsorted(cumulative[:-1] / cumulative[-1], draws.uniform(Kind.SIZE, n), side="right")
        return size[chosen]

    def draw_offsets(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First bytes on the array; int64, shape (n,). Flushes have no place, and 0 stands for it."""
        if self.kind == "flushes":
            return same(np.int64(0), len(lengths))
        offset: Int64 = self.addresses.starts(lengths, space, draws)
        offset += space.first_byte
        return offset


#: Block in which a log is written where none is given: the page of the host, which a file system writes whole.
LOG_BLOCK_BYTES = 4096


def _as_commits(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stream of commits that follow from its kind: whole blocks, written in order, and synchronized."""
    block = data.get("alignment_bytes", data.get("alignment", LOG_BLOCK_BYTES))
    fixed = {"sizes": block, "addresses": {"pattern": "sequential"}}
    if given := _other_sizes(data, block):
        raise ValueError(f'{given[0]}: is that of requests; a record has record = "300 B", and a block alignment')
    return (
        {"read_ratio": 0.0, "sync": "fdatasync"}
        | fixed
        | {k: v for k, v in data.items() if k not in ("size", "size_bytes")}
    )


#: What stands for the size of a flush in the description, which has none: at any other value nothing changes.
_FLUSH_BYTES = SECTOR_BYTES


def _as_flushes(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stream of flushes that follow from its kind."""
    if given := _other_sizes(data, _FLUSH_BYTES):
        raise ValueError(f"{given[0]}: a flush has none; leave it out, or set kind = 'requests'")
    return {"read_ratio": 0.0, "sizes": _FLUSH_BYTES} | {k: v for k, v in data.items() if k not in _SIZES}


def _other_sizes(data: Mapping[str, Any], only: Any) -> list[str]:
    """Keys with sizes other than one."""
    return [key for key in _SIZES if key in data and not _is_one_size(data[key], only)]


def _is_one_size(sizes: Any, block: Any) -> bool:
    """Whether sizes, in any form of a file, are one: the block of a log, as a saved stream states it."""
    shares = _as_shares(sizes)
    try:
        found = {SizeShare.model_validate(share).size_bytes for share in shares}  # type: ignore[attr-defined]
        return found == {SizeShare(size_bytes=block).size_bytes}
    except (TypeError, ValueError):
        return False


def places_by_unit(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` with `span` and `offset` under the names of their units; a share ends in %, "all" is 100 %."""
    renamed = dict(data)
    if renamed.get("span") == "all":
        renamed["span"] = "100%"
    for key in ("span", "offset"):
        value = renamed.get(key)
        if isinstance(value, str) and value.rstrip().endswith("%") and f"{key}_ratio" not in renamed:
            renamed[f"{key}_ratio"] = renamed.pop(key)
    return renamed


def check_one_form(description: Any) -> None:
    """Refuse a place given both in bytes and as a share."""
    for key in ("span", "offset"):
        both = getattr(description, f"{key}_bytes", None), getattr(description, f"{key}_ratio", None)
        if None not in both:
            raise ValueError(f"{key} is given in bytes and as a share; keep one of them")


def _arrival_of_short_keys(data: dict[str, Any]) -> dict[str, Any]:
    opened = {key: data.pop(key) for key in _OPEN_KEYS if key in data}
    closed = {key: data.pop(key) for key in _CLOSED_KEYS if key in data}
    if "arrival" in data:
        if opened or closed:
            names = ", ".join([*opened, *closed])
            raise ValueError(f"arrival and {names} are both given; put everything into arrival")
        return data
    if opened and closed:
        raise ValueError(
            f"a stream is open ({', '.join(opened)}) or closed ({', '.join(closed)}); keep a rate or clients"
        )
    if not opened and not closed:
        raise ValueError('it is not said how requests arrive; write clients = 16 (closed) or rate = "200/s" (open)')
    if opened:
        return data | {"arrival": {"kind": "poisson", **opened}}
    if "queue_depth" in closed:
        if "clients" in closed:
            raise ValueError("clients and queue_depth are the same thing; keep one of them")
        closed["clients"] = closed.pop("queue_depth")
    return data | {"arrival": {"kind": "closed", **closed}}


def _commits_journals(workload: Any) -> bool:
    """Whether a sync of any stream with a file system is more than that of the array itself."""
    own = (stream for stream in workload.streams if stream.file_system != "none")
    return any(stream.file != "overwrite" or stream.sync in ("fsync", "dsync") for stream in own)

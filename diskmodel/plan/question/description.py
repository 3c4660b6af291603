"""A plan as the user writes it: a workload, what has to be achieved, and what may be bought."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from diskmodel.array import Spindles
from diskmodel.controller import Controller, NamedController
from diskmodel.description import Description, Reader, read_toml
from diskmodel.drive import NONE, Drive, NamedDrive, log_device_of, special_vdev_of
from diskmodel.errors import DescriptionError, Fault
from diskmodel.faults import inner
from diskmodel.host import Host
from diskmodel.layout import ONLY_OF_MD, Layout, Level, Rebuild
from diskmodel.layout.levels import KINDS
from diskmodel.layout.md import JOURNALED
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.commits import commits_problem, scaled_with_commits
from diskmodel.plan.question.common_layout import CommonLayout, RecordBytes
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.question.recording import Recording
from diskmodel.queue import Queue
from diskmodel.units import Bytes, Ratio, listed
from diskmodel.wording import cache_device_of
from diskmodel.workload import Stream, Workload

#: Rates that differ by less are the same: people round them. At ten times this a wrong rate would pass.
_SAME_RATE = 0.02


def _one_or_more(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class GroupWidth(Description):
    """Most disks of one parity group, parity included.

    Attributes
    ----------
    raid5 : int
        Default 14: HPE's limit for RAID 5 (Smart Array user guides), and NetApp's for single parity.
    raid6 : int
        Default 20: NetApp's limit for nearline disks with double parity (RAID-DP).
    raidz : int
        Of a vdev of RAID-Z. Default 9: the widest that OpenZFS recommends (zpoolconcepts.7).

    Notes
    -----
    A wide group takes long to rebuild and reads all its disks to do so. At half the limits space for parity doubles;
    at double nobody would build the group.
    """

    raid5: int = Field(default=14, ge=3, le=10_000)
    raid6: int = Field(default=20, ge=4, le=10_000)
    raidz: int = Field(default=9, ge=4, le=255)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which levels read the width of which group; one number for all is read by any of them."""

        def reads(field: str, plan: PlanDescription) -> bool:
            return plan.candidates.max_group_width.is_one_for_all or plan.has_level(*_WIDTHS[field])

        return {field: Reader(listed(levels), partial(reads, field)) for field, levels in _WIDTHS.items()}

    @property
    def is_one_for_all(self) -> bool:
        """Whether one number was given for all levels, or one for each."""
        return len(self.model_fields_set) == len(type(self).model_fields)


#: Levels whose groups each width is of.
_WIDTHS = {"raid5": ("raid5", "raid50"), "raid6": ("raid6", "raid60"), "raidz": ("raidz1", "raidz2", "raidz3")}


def _same_width(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"raid5": value, "raid6": max(value, 4), "raidz": min(max(value, 4), 255)}
    return value


#: What candidates may choose of the layout of pools, each with the layout's field that it stands for.
_OF_LAYOUT = {
    "record_bytes": "record_bytes",
    "log_devices": "log",
    "special_devices": "special",
    "cache_devices": "cache",
}
#: What finds the drives of devices of their own, each by its name.
_LOOK_UP: dict[str, Callable[[str], Any]] = {
    "log_devices": log_device_of,
    "special_devices": special_vdev_of,
    "cache_devices": cache_device_of,
}
#: Lists of candidates in which nothing is twice.
_EACH_ONCE = (
    "levels",
    "strip_bytes",
    "cache_bytes",
    "groups",
    "disks",
    "record_bytes",
    "log_devices",
    "special_devices",
    "cache_devices",
)


class Candidates(Description):
    """What may be bought.

    Attributes
    ----------
    drives : tuple of Drive
        In a file: names in the catalogue, or profiles beside the file.
    levels : tuple of str
    min_disks, max_disks : int
        Counts to search, spares left out; a level takes those of them that it can (RAID 10 even ones, and so on).
    disks : tuple of int or None
        Just these counts instead.
    strip_bytes : tuple of int
    cache_bytes : tuple of int
        Sizes of a real LRU read cache; 0: the controller as it is described.
    groups : tuple of int
        Parity groups of RAID 50 and RAID 60: so many where a plan states them; else two, or more where
        `max_group_width` requires them.
    record_bytes : tuple of int
        Sizes of the records of pools; none: that of the layout alone.
    log_devices : tuple of str
        Drives for the intent log of pools, or for the journal of raid4, raid5 and raid6, by their names or files;
        "none": the log is on the disks of the pool, and there is no journal. None given: as the layout has it.
    special_devices : tuple of str
        Special vdevs of pools: devices of a mirror and their drive, "2x NAME"; "none": metadata is on the disks of the
        pool. None given: as the layout has it. They need room for the metadata of the data that the plan asks for.
    cache_devices : tuple of str
        Drives as cache devices (L2ARC) of pools, by their names or files; "none": no cache device. None given: as the
        layout has it.
    max_group_width : GroupWidth
        Most disks of one parity group. RAID 5 and RAID 6 with more disks become RAID 50 and RAID 60 with the fewest
        groups that keep within it. In a file one number for all levels, or `{ raid5 = 14, raid6 = 20 }`.
    spares : int
        Hot spares of every candidate.
    rebuild : Rebuild
        How a failed disk is rebuilt (window, rate limit), where the objective asks for rebuild or data loss.
    """

    drives: Annotated[tuple[NamedDrive, ...], BeforeValidator(_one_or_more), Field(min_length=1)]
    levels: Annotated[tuple[Level, ...], BeforeValidator(_one_or_more), Field(min_length=1)]
    min_disks: int = Field(default=1, ge=1)
    max_disks: int = Field(default=64, ge=1, le=10_000)
    disks: Annotated[tuple[int, ...], BeforeValidator(_one_or_more)] | None = None
    strip_bytes: Annotated[tuple[Bytes, ...], BeforeValidator(_one_or_more), Field(min_length=1)] = (64 << 10,)
    cache_bytes: Annotated[tuple[Bytes, ...], BeforeValidator(_one_or_more), Field(min_length=1)] = (0,)
    groups: Annotated[tuple[int, ...], BeforeValidator(_one_or_more), Field(min_length=1)] = (2,)
    record_bytes: Annotated[tuple[RecordBytes, ...], BeforeValidator(_one_or_more)] = ()
    log_devices: Annotated[tuple[str, ...], BeforeValidator(_one_or_more)] = ()
    special_devices: Annotated[tuple[str, ...], BeforeValidator(_one_or_more)] = ()
    cache_devices: Annotated[tuple[str, ...], BeforeValidator(_one_or_more)] = ()
    max_group_width: Annotated[GroupWidth, BeforeValidator(_same_width)] = GroupWidth()
    spares: int = Field(default=0, ge=0, le=10_000)
    rebuild: Rebuild = Rebuild()

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which levels, or which other field, read a field."""
        counts = Reader("where candidates.disks is left out", lambda plan: plan.candidates.disks is None)
        widths = [level for levels in _WIDTHS.values() for level in levels]
        return {
            "min_disks": counts,
            "max_disks": counts,
            "strip_bytes": Reader("levels of RAID", lambda plan: plan.has_strips),
            "groups": Reader("raid50 and raid60", lambda plan: plan.has_level("raid50", "raid60")),
            "max_group_width": Reader(
                "levels with parity groups",
                lambda plan: plan.has_level(*widths) or not plan.candidates.max_group_width.is_one_for_all,
            ),
            "rebuild": Reader("levels with redundancy", lambda plan: plan.is_redundant),
        }

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_disks > self.max_disks:
            raise ValueError(f"min_disks={self.min_disks}: is above max_disks={self.max_disks}; swap them")
        for field in _EACH_ONCE:
            values = getattr(self, field) or ()
            if len(set(values)) != len(values):
                raise ValueError(f"{field}: a value is given twice; give each once")
        names = [drive.name for drive in self.drives]
        if len(set(names)) != len(names):
            raise ValueError("drives: two have the same name; rename one of them")
        zoned = [drive.name for drive in self.drives if drive.zones_in_order is not None]
        if zoned:
            raise ValueError(
                f"drives: the host writes the zones of {zoned[0]} in order, which no RAID level does; choose "
                "others, or simulate one such drive with its share of the load"
            )
        return self

    @field_validator("rebuild")
    @classmethod
    def _recovers(cls, value: Rebuild) -> Rebuild:
        if value.action != "recover":
            raise ValueError(f"action={value.action!r}: is no rebuild of a failed disk; remove it")
        return value

    @field_validator("log_devices", "special_devices", "cache_devices")
    @classmethod
    def _has_drives(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        look_up = _LOOK_UP[str(info.field_name)]
        for name in value:
            if name != NONE:
                try:
                    look_up(name)
                except DescriptionError as error:
                    field = f"candidates.{info.field_name}"
                    faults = [Fault(field, name, fault.rule, fault.fix) for fault in error.faults]
                    raise inner(DescriptionError(faults)) from None
        return value

    @field_validator("disks")
    @classmethod
    def _ascending(cls, value: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if value is not None and (not value or min(value) < 1):
            raise ValueError("must be counts of at least 1; give for example [4, 8, 12]")
        return None if value is None else tuple(sorted(value))

    @property
    def counts(self) -> tuple[int, ...]:
        """Disk counts to search, ascending, before a level's own rule."""
        return self.disks or tuple(range(self.min_disks, self.max_disks + 1))


class PlanDescription(Description):
    """A whole question: how many disks, of which drive, in which level?

    Attributes
    ----------
    name : str
    workload : Workload
        In a file: a table, or the path (relative to the plan's) of a workload file, or of output of iostat, sar or fio
        or a trace; a recorded load is planned for at its 95th percentile over time, with the mix of the samples from
        there on where that is harder than of all (`find_workload`, `mix`). Streams without a span or offset
        use the space of the stored data (`stored_bytes`), from the outer edge; `span = "all"` spreads them over each
        whole array.
    objective : Objective
    candidates : Candidates
    layout : CommonLayout
        Of every candidate whose level can have it, as in an array's file: bitmap, policies, copies.
    controller, queue, host, spindles, drive_write_cache, drive_fua
        Of every candidate, as in an array's file.
    used_ratio : float or None
        As in an array's file; of a candidate that is fuller with the stored data, as full as it is with them.
    prices : Prices
    search : Search
    recording : Recording or None
        The recording that the workload was made from; known without being written where `workload` names its file.
        Every answer is checked by replaying a trace.
    notes : tuple of str
        Sources and assumptions of the question, printed with the answer.
    """

    file_kind: ClassVar[str] = "plan"

    name: str = "plan"
    workload: Workload
    objective: Objective
    candidates: Candidates
    layout: CommonLayout = CommonLayout()
    controller: NamedController = Controller()
    queue: Queue = Queue()
    host: Host = Host()
    spindles: Spindles = Spindles()
    drive_write_cache: bool | None = None
    drive_fua: bool = False
    used_ratio: Annotated[Ratio, Field(gt=0)] | None = None
    prices: Prices = Prices()
    search: Search = Search()
    recording: Recording | None = None
    notes: tuple[str, ...] = ()

    def has_level(self, *levels: str) -> bool:
        """Whether a candidate may have one of these levels."""
        return any(level in levels for level in self.candidates.levels)

    @property
    def has_strips(self) -> bool:
        """Whether some candidate has strips."""
        return any(Layout.of_level(level).has_strips for level in self.candidates.levels)

    @property
    def has_rows(self) -> bool:
        """Whether some candidate is of a level of Linux md with parity."""
        return any(KINDS[level].has_rows for level in self.candidates.levels)

    @property
    def has_striped_copies(self) -> bool:
        """Whether some candidate is RAID 10 or 1E."""
        return any(KINDS[level].has_striped_copies for level in self.candidates.levels)

    @property
    def is_redundant(self) -> bool:
        """Whether some candidate has redundancy."""
        return any(KINDS[level].is_redundant for level in self.candidates.levels)

    @property
    def has_pools(self) -> bool:
        """Whether some candidate is a pool."""
        return any(Layout.of_level(level).is_cached_in_memory for level in self.candidates.levels)

    @property
    def has_prices(self) -> bool:
        """Whether the price of some drive is known."""
        stated = self.prices.drives_usd
        return any(drive.name in stated or drive.price_usd is not None for drive in self.candidates.drives)

    @property
    def has_power(self) -> bool:
        """Whether it is known what some drive draws."""
        return any(drive.power_w for drive in self.candidates.drives)

    @property
    def names_its_drives(self) -> bool:
        """Whether every drive that has a price here may be bought; devices of pools and logs may be, too."""
        names = {drive.name for drive in self.candidates.drives}
        has_own = any(getattr(self.candidates, field) for field in _LOOK_UP)
        return has_own or names.issuperset(self.prices.drives_usd)

    def unread(self, whole: Any = None, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields of the question that were given and have no effect on any candidate.

        What arrays have, their descriptions say (`Array.unread`).
        """
        for name in ("objective", "candidates", "layout", "prices", "search"):
            yield from getattr(self, name).unread(self, f"{name}.")
        # limits of volumes are a plan's own
        of_load = self.workload.unread(self.workload, "workload.")
        yield from (item for item in of_load if not item[0].endswith(".volume"))
        rebuild = self.candidates.rebuild
        for name in () if self.has_strips else ONLY_OF_MD:
            if name not in rebuild.readers() and getattr(rebuild, name) != type(rebuild).model_fields[name].default:
                yield f"candidates.rebuild.{name}", "Linux md"
        if rebuild.used_ratio is not None and not self.has_pools:
            yield "candidates.rebuild.used_ratio", "pools"
        if rebuild.done_ratio:
            yield "candidates.rebuild.done_ratio", "an array that is being rebuilt"

    @property
    def stored_bytes(self) -> int | None:
        """Region of streams without a place of their own, from the outer edge; None: all of each array.

        It is the space for the stored data: the grown capacity over the fill limit. A `span` or `offset` of the
        workload or of a stream replaces it.
        """
        workload = self.workload
        is_placed = workload.span_bytes is not None or workload.span_ratio is not None
        if is_placed or all(_has_place(stream) for stream in workload.streams):
            return None
        return self.objective.usable_bytes

    @property
    def design_workload(self) -> Workload:
        """The load to design for, growth and peak included, on the region of the stored data.

        An open workload is scaled to the design rate: the objective's IOPS, or its own rate, times growth and peak. A
        closed one keeps its clients where an IOPS objective says what they have to achieve; otherwise growth and peak
        multiply the clients. A mixture of both is multiplied as a whole. With `objective.commits_per_s` streams with a
        sync are scaled to it, and the others on their own. Rates that change over minutes or hours are at
        their highest (rule W10).
        """
        return self.described_workload.at_peak(self.search.decision_budget)

    @property
    def peaks(self) -> dict[str, tuple[float, float]]:
        """Mean and highest rate per second of the streams that are simulated at their highest, by name."""
        return self.described_workload.peaks(self.search.decision_budget)

    @property
    def described_workload(self) -> Workload:
        """The load to design for, with rates that rise and fall as they are described."""
        if self.objective.commits_per_s is not None:
            return scaled_with_commits(self._placed_workload, self.objective)
        factor = self.design_factor
        return self._placed_workload if factor == 1 else self._placed_workload.scaled(factor)

    @property
    def design_factor(self) -> float:
        """The load to design for, over that of the workload as it is described."""
        workload, design_iops = self.workload, self.objective.design_iops
        if design_iops is not None and not workload.is_open:
            return 1.0
        if design_iops is not None and not workload.queue_depth:
            return design_iops / workload.offered_rate_per_s
        return self.objective.load_factor

    @property
    def _placed_workload(self) -> Workload:
        stored = self.stored_bytes
        if stored is None:
            return self.workload
        streams = tuple(
            stream if _has_place(stream) else stream.model_copy(update={"span_bytes": stored})
            for stream in self.workload.streams
        )
        return self.workload.model_copy(update={"streams": streams})

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = {stream.name for stream in self.workload.streams} | set(self.workload.volumes)
        degraded = self.objective.degraded
        for where, latency in (
            ("objective.latency", self.objective.latency),
            ("objective.degraded.latency", degraded.latency if degraded else None),
        ):
            unknown = sorted(set(latency.streams) - names) if latency else []
            if unknown:
                raise ValueError(f"{where}.streams.{unknown[0]}: no such stream; use one of {', '.join(sorted(names))}")
        if problem := commits_problem(self.workload, self.objective) or self._layout_problem():
            raise ValueError(problem)
        return self

    @property
    def _has_cache_devices(self) -> bool:
        """Whether some pool is to have a cache device."""
        return self.layout.cache is not None or any(name != NONE for name in self.candidates.cache_devices)

    @property
    def _has_arc(self) -> bool:
        """Whether the size of the ARC is known for every candidate."""
        read = self.controller.read_cache
        return (read is not None and read.size_bytes is not None) or all(self.candidates.cache_bytes)

    def _layout_problem(self) -> str | None:
        candidates, bitmap, member = self.candidates, self.layout.bitmap, self.layout.member_bytes
        kinds = {Layout.of_level(level) for level in candidates.levels}
        tried = {name for level in candidates.levels for name in Layout.of_level(level).tried(level)}
        for kind in Layout.kinds():
            own = [name for name in kind.only if getattr(self.layout, name, None) is not None]
            if own and kind not in kinds:
                named = ", ".join(own)
                return f"layout.{named}: belong to {kind.in_words}; remove them, or name a level such as {kind.usual}"
        for name in ("record_bytes", "special_devices", "cache_devices"):
            if getattr(candidates, name) and name not in tried:
                return f"candidates.{name}: belongs to pools of OpenZFS; remove it, or name a level such as raidz2"
        if problem := self._kinds_problem():
            return problem
        has_logs = "log_devices" in tried
        if (candidates.log_devices or self.layout.log is not None) and not has_logs:
            where = "candidates.log_devices" if candidates.log_devices else "layout.log"
            levels = ", ".join(JOURNALED)
            return f"{where}: only pools of OpenZFS have a log, and {levels} a journal; remove it, or name such a level"
        policy = self.layout.consistency_policy
        if policy is not None and not any("consistency_policy" in self.layout.of(level) for level in candidates.levels):
            return f"layout.consistency_policy={policy}: none of the levels has it; remove it, or name a level that has"
        if self._has_cache_devices and not self._has_arc:
            where = "candidates.cache_devices" if candidates.cache_devices else "layout.cache"
            fix = "add the size of the ARC, for example --read-cache 64GiB"
            return f"{where}: what comes onto a cache device follows from the size of the ARC; {fix}"
        for name, of_layout in _OF_LAYOUT.items():
            if getattr(candidates, name) and getattr(self.layout, of_layout) is not None:
                return f"candidates.{name}: is given beside layout.{of_layout}; keep one of them"
        if self.layout.huge_page_ratio and self.layout.largest_request_bytes is None:
            return "layout.huge_page_ratio: no request is cut without largest_request; add that too"
        if bitmap is not None and any(KINDS[level].has_rows for level in candidates.levels):
            for strip in candidates.strip_bytes:
                if bitmap.chunk_bytes % strip:
                    return (
                        f"layout.bitmap.chunk_bytes={bitmap.chunk_bytes}: not a multiple of strip_bytes={strip}; "
                        "use for example 64 MiB, or leave out levels with parity"
                    )
        for drive in candidates.drives:
            if member is not None and member > drive.capacity_bytes:
                return f"layout.member_bytes={member}: exceeds the capacity of {drive.name}; use at most its capacity"
        return None

    def _kinds_problem(self) -> str | None:
        """Return which field none of the kinds of vdevs has."""
        levels = self.candidates.levels
        for name in ("data_disks", "distributed_spares"):
            value = getattr(self.layout, name)
            if value is not None and not any(name in self.layout.of(level) for level in levels):
                return f"layout.{name}={value}: only dRAID has them; remove it, or name a level such as draid2"
        in_order = self.candidates.rebuild.sequential
        if in_order is not None and not any(KINDS[level].has_fixed_rows for level in levels):
            given = f"candidates.rebuild.sequential={in_order}"
            return (
                f"{given}: only mirrors of OpenZFS and dRAID have a choice; remove it, or name a level such as mirror"
            )
        return None

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        workload: Workload | None = None,
        is_recorded: bool = False,
        recording: Recording | None = None,
    ) -> Self:
        """The plan in a TOML file; paths in it are relative to the file.

        Parameters
        ----------
        path : str or Path
        workload : Workload, optional
            Instead of the file's, which need not have one then.
        is_recorded : bool
            Whether `workload` comes from a recording (iostat, sar, a trace), so that its rate is a measured one.
        recording : Recording, optional
            The recording that `workload` was made from.

        Raises
        ------
        DescriptionError
            With every fault of the file; also when it asks for other IOPS than the recording has.
        """
        data = read_toml(path, cls.file_kind)
        if workload is not None:
            data["workload"] = workload
            data.pop("recording", None)
            if recording is not None:
                data["recording"] = recording
        else:
            named = data.get("workload")
            is_recorded = isinstance(named, str) and Path(named).suffix != ".toml"
        found = cls.parse(beside(data, Path(path).parent), str(path))
        if is_recorded:
            found._check_recorded_rate(str(path))
        return found

    def _check_recorded_rate(self, source: str) -> None:
        """Refuse an objective that would scale a recorded load to another rate without saying so."""
        iops, recorded = self.objective.iops, self.workload.offered_rate_per_s
        if iops is None or self.workload.queue_depth or abs(iops / recorded - 1) <= _SAME_RATE:
            return
        rule = f"differs from the {recorded:.4g}/s of the recorded workload"
        fix = f"remove it to plan for the recording, or write iops = {recorded:.4g}; growth has keys of its own"
        raise DescriptionError(Fault("objective.iops", iops, rule, fix), source)


def _has_place(stream: Stream) -> bool:
    """Whether the stream states where on the array it is."""
    places = (stream.span_bytes, stream.span_ratio, stream.offset_bytes, stream.offset_ratio)
    return any(place is not None for place in places)


def with_drives(plan: PlanDescription, drives: Sequence[Drive]) -> PlanDescription:
    """The plan with more drives to choose from, before those that it names; one of the same name is replaced."""
    names = {drive.name for drive in drives}
    kept = [drive for drive in plan.candidates.drives if drive.name not in names]
    return plan.model_copy(update={"candidates": plan.candidates.model_copy(update={"drives": (*drives, *kept)})})


def beside(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """`data` of a plan file with paths of drives resolved and a workload file read in."""
    candidates = data.get("candidates")
    if isinstance(candidates, Mapping) and "drives" in candidates:
        drives = candidates["drives"]
        listed = drives if isinstance(drives, list) else [drives]
        found = [str(folder / d) if isinstance(d, str) and os.path.isfile(folder / d) else d for d in listed]
        data = {**data, "candidates": {**candidates, "drives": found}}
    recording = data.get("recording")
    if isinstance(recording, Mapping) and isinstance(recording.get("path"), str):
        data = {**data, "recording": {**recording, "path": os.path.abspath(folder / recording["path"])}}
    workload = data.get("workload")
    if isinstance(workload, str):
        from diskmodel.formats import load_workload  # takes a while, and most plans describe their workload

        try:
            data = {**data, "workload": load_workload(folder / workload, mix="peak")}
            if "recording" not in data and (recording := Recording.of(folder / workload)) is not None:
                data["recording"] = recording
        except DescriptionError as error:
            raise DescriptionError(error.faults, f"workload {folder / workload}") from None
    return data

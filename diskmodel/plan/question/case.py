"""A plan resolved for one family of arrays: the array of every size, the workload and the objective."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from diskmodel.array import Array
from diskmodel.controller import ReadCache
from diskmodel.drive import NONE, log_device_of, special_vdev_of
from diskmodel.errors import DescriptionError
from diskmodel.layout import Groups, Layout, Rebuild
from diskmodel.layout.levels import KINDS
from diskmodel.layout.md import JOURNALED
from diskmodel.loading import dataclass
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.description import Candidates, PlanDescription
from diskmodel.plan.question.family import Family
from diskmodel.plan.question.objective import Objective
from diskmodel.wording import cache_device_of
from diskmodel.workload import TraceWorkload, Workload


@dataclass(frozen=True)
class Case:
    """One family of arrays under the load and the objective of a plan.

    Attributes
    ----------
    plan : PlanDescription
    family : Family
    """

    plan: PlanDescription
    family: Family

    @property
    def objective(self) -> Objective:
        """What the array has to achieve."""
        return self.plan.objective

    @property
    def prices(self) -> Prices:
        """What drives, slots and power cost."""
        return self.plan.prices

    @property
    def search(self) -> Search:
        """How long the runs are, and with which seed and engine."""
        return self.plan.search

    def with_seed(self, seed: int) -> Case:
        """Return the same question put with other requests, other angles of the spindles, and another start."""
        return self.searched(seed=seed)

    def searched(self, **changes: Any) -> Case:
        """Return the same question about the same arrays, with other runs: fields of `search` that differ."""
        search = self.search.model_copy(update=changes)
        other = replace(self, plan=self.plan.model_copy(update={"search": search}))
        # no array depends on runs, and each takes a while to describe
        vars(other)["_arrays"] = self._arrays
        return other

    @cached_property
    def workload(self) -> Workload:
        """The load to design for."""
        return self.plan.design_workload

    @cached_property
    def trace(self) -> TraceWorkload | None:
        """The trace that arrays have to replay; None where none was recorded, or where the rule of thumb decides.

        It has its flushes where the load has some: `--sync none` leaves them out of both.
        """
        recording = self.plan.recording
        if recording is None or recording.kind != "trace" or self.search.method == "rule":
            return None
        trace = recording.trace()
        return trace if self.workload.has_syncs else trace.without_flushes()

    @cached_property
    def required_bytes(self) -> int:
        """Usable space required: for the data, and for the regions that the workload names in bytes."""
        required = self.objective.usable_bytes or 0
        for stream in self.workload.streams:
            span = stream.span_bytes if stream.span_bytes is not None else self.workload.span_bytes
            required = max(required, (stream.offset_bytes or 0) + (span or 0))
        return required

    @cached_property
    def counts(self) -> list[int]:
        """Numbers of disks in the plan that the family's level can have, ascending.

        Where parity groups have a limited width, a count that has less room than a smaller one is left out: one disk
        more that makes a further group costs more parity than it adds.
        """
        found: list[int] = []
        most_bytes = 0
        for disks in self.plan.candidates.counts:
            usable_bytes = self.usable_bytes(disks)
            if usable_bytes is not None and usable_bytes >= most_bytes:
                found.append(disks)
                most_bytes = usable_bytes
        return found

    def usable_bytes(self, disks: int) -> int | None:
        """Return what an array of so many disks can store; None where the family's level cannot have them."""
        if self.family.level == "raid1" and disks != (self.plan.layout.copies or 2):
            return None  # further mirrors of the same data add no space; RAID 10 is the level that grows
        try:
            return self.array(disks).usable_bytes
        except DescriptionError:
            return None

    @property
    def why_no_counts(self) -> str:
        """Why the family's level cannot have the plan's largest number of disks; "" where it can."""
        try:
            self.array(max(self.plan.candidates.counts))
        except DescriptionError as error:
            return str(error.faults[0])
        return ""

    def array(self, disks: int, *, n_failed: int = 0, is_rebuilding: bool = False) -> Array:
        """Return the array with `disks` disks.

        Parameters
        ----------
        disks : int
            Without hot spares.
        n_failed : int
            Failed disks: the first ones.
        is_rebuilding : bool
            Whether the first failed disk is being rebuilt.

        Raises
        ------
        DescriptionError
            When the level cannot have this number of disks, or loses data when so many fail.
        """
        key = (disks, n_failed, is_rebuilding)
        if key not in self._arrays:
            self._arrays[key] = self._array(*key)
        return self._arrays[key]

    def rebuild(self, used_ratio: float | None = None) -> Rebuild:
        """Return how a failed disk is rebuilt, or resilvered in a pool that is so full, unless it says so."""
        rebuild = self.plan.candidates.rebuild
        level = self.family.level
        return Layout.of_level(level).rebuild_of(KINDS[level], rebuild, used_ratio)

    def used_ratio(self, array: Array) -> float | None:
        """Return how full a pool is with the data that the plan asks for; None where it asks for none."""
        return self.objective.used_ratio(array.usable_bytes)

    @cached_property
    def _arrays(self) -> dict[tuple[int, int, bool], Array]:
        """Arrays made so far: a search asks for most of them several times."""
        return {}

    def _array(self, disks: int, n_failed: int, is_rebuilding: bool) -> Array:
        plan, family = self.plan, self.family
        level, groups = self._level_and_groups(disks)
        layout: dict[str, Any] = {
            "level": level,
            "disks": disks,
            "spares": plan.candidates.spares,
            "failed": list(range(n_failed)),
            **plan.layout.of(level),
            **Layout.of_level(level).grouped(groups, family.strip_bytes, family.record_bytes),
        }
        if family.level in JOURNALED:
            # several groups, each an array of its own, have no log in common: such a number of disks is refused
            if plan.layout.log is not None:
                layout["log"] = plan.layout.log
            if plan.layout.consistency_policy == "ppl" and family.level == "raid5":
                layout["consistency_policy"] = "ppl"
        if family.log_device not in ("", NONE):
            layout["log"] = log_device_of(family.log_device)
        if family.special_device not in ("", NONE):
            layout["special"] = special_vdev_of(family.special_device)
        if family.cache_device not in ("", NONE):
            layout["cache"] = cache_device_of(family.cache_device)
        if is_rebuilding:
            rebuild = self.rebuild(self.used_ratio(self.array(disks))).halfway()
            spares = self.array(disks).layout.spares_to_rebuild
            layout |= {"rebuild": rebuild.to_dict(), "spares": spares}
        controller = plan.controller
        if family.cache_bytes:
            own = (controller.read_cache or controller.write_cache or ReadCache(size_bytes=1)).block_bytes
            cache: dict[str, Any] = {"block_bytes": own, "size_bytes": family.cache_bytes}
            if controller.read_cache is not None:
                cache["policy"] = controller.read_cache.policy
            controller = type(controller).parse({**controller.to_dict(), "read_cache": cache})
        # a call of Array would sort fields of the layout from its own first, for each of hundreds of counts
        found = Array.parse(
            {
                "name": f"{family.drive.name} {level} x {disks}",
                "drive": family.drive,
                "layout": self._with_used_ratio(Layout.parse(layout)),
                "queue": plan.queue,
                "controller": controller,
                "host": plan.host,
                "spindles": plan.spindles,
                "drive_write_cache": plan.drive_write_cache,
                "drive_fua": plan.drive_fua,
            }
        )
        found = found.for_use(self.workload)
        if plan.used_ratio is None:
            return found
        stored = self.objective.used_ratio(found.usable_bytes) or 0.0
        return found.model_copy(update={"used_ratio": min(max(plan.used_ratio, stored), 1.0)})

    def _with_used_ratio(self, layout: Layout) -> Layout:
        """Return a layout whose special vdev has room for the metadata of the data that the plan asks for, if for any.

        Raises
        ------
        DescriptionError
            When it has not, however many disks there are.
        """
        special, drive = layout.special, self.family.drive
        if special is None or special.used_ratio is not None:
            return layout
        tables = layout.tables(drive.capacity_bytes // drive.sector_bytes, drive.sector_bytes)
        usable_bytes = tables.capacity * drive.sector_bytes
        data_bytes = (self.objective.usable_bytes or 0) * self.objective.fill_limit_ratio
        fault = layout.room_problem(tables, drive.sector_bytes, data_bytes / usable_bytes)
        if fault is not None:
            raise DescriptionError(fault)
        used_ratio = self.objective.used_ratio(usable_bytes) or 0.0
        return layout.model_copy(update={"special": special.model_copy(update={"used_ratio": used_ratio})})

    def _level_and_groups(self, disks: int) -> tuple[str, int]:
        """Return the level and its groups, as its kind divides so many disks.

        Raises
        ------
        DescriptionError
            When no groups of these disks are narrow enough.
        """
        candidates, family = self.plan.candidates, self.family
        groups = Groups(dict(candidates.max_group_width), candidates.levels, _stated_groups(candidates) is not None)
        return Layout.of_level(family.level).divided(family.level, disks, family.groups, groups)

    def of(self, **changes: Any) -> Case:
        """Return the case of a family that differs in the given fields."""
        return replace(self, family=replace(self.family, **changes))


def cases(plan: PlanDescription) -> list[Case]:
    """Return the cases of all families of a plan, in the order of the file."""
    candidates = plan.candidates
    return [
        Case(plan, Family(drive, level, strip, cache, groups, *of_pools))
        for drive, level, strip, cache in itertools.product(
            candidates.drives, candidates.levels, candidates.strip_bytes, candidates.cache_bytes
        )
        for groups in _groups_of(candidates, level)
        for of_pools in _of_pools(candidates, level)
    ]


def _of_pools(candidates: Candidates, level: str) -> Iterable[tuple[int, str, str, str]]:
    """Return sizes of records, devices of a log or of a journal, special vdevs and cache devices that are tried."""
    tried = Layout.of_level(level).tried(level)
    none: dict[str, tuple[Any, ...]] = {name: ("",) for name in ("log_devices", "special_devices", "cache_devices")}
    found = [
        (getattr(candidates, name) if name in tried else ()) or nothing
        for name, nothing in {"record_bytes": (0,), **none}.items()
    ]
    return itertools.product(*found)


def _groups_of(candidates: Candidates, level: str) -> tuple[int, ...]:
    """Return the numbers of groups that are tried; 1: as many as the width allows."""
    return Layout.of_level(level).groups_tried(KINDS[level], _stated_groups(candidates))


def _stated_groups(candidates: Candidates) -> tuple[int, ...] | None:
    return candidates.groups if "groups" in candidates.model_fields_set else None

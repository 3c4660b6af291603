"""The layout of an array of Linux md, or of a controller of its own: its card, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from diskmodel.description import Reader
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.card import Groups
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import RaidLevel
from diskmodel.layout.md.assumed import in_words, long_requests, with_bitmap
from diskmodel.layout.md.fields import JOURNALED, MAX_JOURNALED_DISKS, MAX_STRIPE_DISKS, STRIPE_PAGE_BYTES
from diskmodel.layout.md.tables import has_barriers, md_tables, step_bytes
from diskmodel.layout.passes import Rebuild
from diskmodel.layout.tables import LayoutTables
from diskmodel.layout.volumes import VolumeTables
from diskmodel.units import pretty_bytes

#: A stripe of md's parity levels on one disk, bytes (`STRIPE_SIZE`): what its thread works on at a time.
PAGE_BYTES = 4096
#: Requests that Linux collects to merge them, since 5.16 (`BLK_MAX_REQUEST_COUNT`). A thread that deals with more
#: disks than that in turn finds no two requests to merge.
MAX_PLUGGED = 32
#: Time of md's thread for a request of 4 KiB that does not merge, ns: 4.0 us in a group of 20 disks at 51.4 MB/s (L.
#: Lowrey, linux-raid, 2020-12-15), 2.9 us in one of 36 at 38.9 MB/s (M. Wanat, linux-raid, 2021-08-19). At half a
#: rebuild of such a group is twice as fast.
UNMERGED_PAGE_NS = 3500
#: Levels whose groups have a limited width: the level of one group, and the level of several.
STRIPED = {
    "raid5": ("raid5", "raid50"),
    "raid50": ("raid5", "raid50"),
    "raid6": ("raid6", "raid60"),
    "raid60": ("raid6", "raid60"),
}
#: What a layout needs for each way to stay consistent.
_HOW_TO_HAVE = {"bitmap": "bitmap = {}", "journal": 'log = { write = "30 us" }'}


def _has_parity(array: Any) -> bool:
    return bool(array.layout.has_rows)


def _rotates(array: Any) -> bool:
    return _has_parity(array) and bool(array.layout.kind.rotates)


class Md(Layout):
    """RAID over several disks."""

    in_words: ClassVar[str] = "arrays of Linux md"
    usual: ClassVar[str] = "raid6"
    log_name: ClassVar[str] = "journal"
    rebuilt_by: ClassVar[str] = "rebuild by Linux md"
    rebuilds: ClassVar[str] = "Linux md rebuilds"
    faster_beside: ClassVar[str] = (
        "a higher sync_speed_min of md (--rebuild-speed of plan) speeds it up, while requests wait longer"
    )
    slower_beside: ClassVar[str] = "a lower rebuild.speed_min lets requests go first"
    doubt_of_shingled: ClassVar[str] = (
        "Linux md rebuilds shingled drives (SMR) in order, whole bands at a time, which go past their media cache; "
        "no measurement of such a rebuild is at hand"
    )

    @classmethod
    def takes(cls, level: RaidLevel, disks: int | None) -> bool:
        return not level.is_pool

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which levels read a field."""
        parity = Reader("levels with parity", _has_parity)
        cut = Reader(
            "arrays whose reads span strips",
            lambda array: array.layout.has_strips_to_cut,
        )
        return {
            "write_policy": parity,
            "read_modify_write": parity,
            "rotation": Reader("levels that rotate their parity", _rotates),
            "read_policy": Reader("levels with copies", lambda array: array.layout.n_copies > 1),
            "read_strips": cut,
        }

    def count_problem(self) -> str | None:
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

    def rebuild_problem(self, rebuild: Rebuild) -> str | None:
        if rebuild.sequential is not None:
            return f"rebuild.sequential={rebuild.sequential}: md always rebuilds in order; remove it"
        used = rebuild.used_ratio
        return None if used is None else f"rebuild.used_ratio={used}: md rebuilds whole disks; remove it"

    def tables(
        self, disk_sectors: int, sector_bytes: int, cache_bytes: int | None = None, *, rotates: bool = True
    ) -> VolumeTables:
        return md_tables(self, disk_sectors, sector_bytes)

    def fastest_rebuild(self, rebuild: Rebuild) -> float:
        """Return the rate that md limits a rebuild, a check or a resync of this layout to, bytes/s of each disk."""
        width = self.disks // self.n_groups
        page_ns = rebuild.page_ns
        if page_ns is None:
            page_ns = UNMERGED_PAGE_NS if width > MAX_PLUGGED else 0
        if self.kind.family != "parity" or not page_ns:
            return rebuild.speed_max_bytes_per_s
        return min(rebuild.speed_max_bytes_per_s, PAGE_BYTES * 1e9 / (page_ns * width))

    @classmethod
    def level_in_words(cls, level: str) -> str:
        return "an erasure code" if level == "erasure" else level.upper().replace("RAID", "RAID ")

    @property
    def groups_in_words(self) -> str:
        name = self.level_in_words(self.level)
        return f"{name} in {self.n_groups} groups" if self.n_groups > 1 else name

    @property
    def disks_in_words(self) -> str:
        return f"{self.disks}"

    @property
    def pieces_in_words(self) -> str:
        has_strips = self.level not in ("jbod", "raid1")
        return f", strip {pretty_bytes(self.strip_bytes)}" if has_strips else ""

    @property
    def beside(self) -> tuple[str, ...]:
        return () if self.log is None else ("a journal",)

    def facts(self) -> list[tuple[str, str]]:
        return [] if self.log is None else [("journal", self.log.in_words)]

    def doubts(self, *, is_throttled: bool) -> tuple[str, ...]:
        bitmap = "" if is_throttled else self._doubt_about_bitmap
        return bitmap, self._doubt_about_journal

    @property
    def doubt_of_pass(self) -> str:
        if self.rebuild is None or not self.is_rebuilt_in_turn:
            return ""
        return (
            "no measurement of a rebuild or a check of RAID 10 beside a load is at hand: that requests and steps of it "
            "take turns follows the source of Linux"
        )

    @property
    def _doubt_about_bitmap(self) -> str:
        """What a bitmap of mirrors costs beyond rule L13; "" where nothing is left out.

        A program that writes to mirrors sleeps while md writes the bitmap, and submits no reads either
        (tests/data/md-raid-own.csv, RAID 10 of 6 disks: 0.76 of the rate by rule L13 at depth 8, 0.55 at 32).
        """
        if self.bitmap is None or self.has_rows:
            return ""
        return (
            "a program that mixes reads and writes also waits for the bitmap before it reads, which is simulated only "
            "with queue.write_throttle = 'linux': Linux md on mirrors was measured to complete a quarter fewer "
            "requests at queue depth 8 and almost half fewer at 32"
        )

    @property
    def _doubt_about_journal(self) -> str:
        """That nothing measured what the log of its stripes costs; "" without one."""
        is_partial = self.consistency_policy == "ppl"
        if not (is_partial or self.log is not None):
            return ""
        what = "the partial parity log" if is_partial else "a journal in its mode write-through"
        return f"what {what} of Linux md costs was not compared with a measurement: it follows md's source"

    def cut_by_default(self, *, longest_bytes: int, outstanding_bytes: int) -> dict[str, Any]:
        return long_requests(self, longest_bytes=longest_bytes, outstanding_bytes=outstanding_bytes)

    def bitmap_by_default(self, usable_bytes: int) -> dict[str, Any]:
        return with_bitmap(self, usable_bytes)

    def beyond(self, described: Layout) -> str:
        return in_words(described, self)

    @property
    def has_rows(self) -> bool:
        return self.kind.has_rows

    @property
    def n_locks(self) -> int:
        return self.n_groups if self.has_rows else 0

    @property
    def counts_requests(self) -> bool:
        return not self.has_rows

    @property
    def classes_of_disks(self) -> int:
        if self.has_rows:
            return 1 if self.kind.rotates else 0
        if self.kind.family == "copies":
            return self.n_copies if self.disks % self.n_copies == 0 else 1
        return 0

    def waits_for_several(self, longest_bytes: int, *, has_writes: bool) -> bool:
        return (has_writes and self.kind.family == "copies") or longest_bytes > self.strip_bytes

    @classmethod
    def rebuild_of(cls, level: RaidLevel, rebuild: Rebuild, used_ratio: float | None) -> Rebuild:
        return rebuild.model_copy(update={"used_ratio": None, "sequential": None})

    @property
    def step_bytes(self) -> int:
        return step_bytes(self, self.rebuild or Rebuild())

    @property
    def is_rebuilt_in_turn(self) -> bool:
        return has_barriers(self, self.rebuild or Rebuild())

    def on_a_controller(self) -> Self:
        if self.rebuild is None or self.rebuild.has_barriers is not None:
            return self
        return self.model_copy(update={"rebuild": self.rebuild.model_copy(update={"has_barriers": False})})

    def rebuilt_bytes(self, tables: LayoutTables, disk_bytes: int, sector_bytes: int, used_ratio: float | None) -> int:
        return self.member_bytes or disk_bytes

    @classmethod
    def groups_tried(cls, level: RaidLevel, stated: tuple[int, ...] | None) -> tuple[int, ...]:
        usual = (level.default_groups,)
        return (stated or usual) if level.default_groups > 1 else (1,)

    @classmethod
    def divided(cls, level: str, disks: int, groups: int, asked: Groups) -> tuple[str, int]:
        """Return level and groups: where the plan names both levels, the first of them has one group.

        Several would be the other's candidate.
        """
        if level not in STRIPED:
            return level, groups
        single, striped = STRIPED[level]
        widest = asked.widest[single]
        found = max(groups, math.ceil(disks / widest))
        if level == striped and found > groups and asked.are_stated:
            rule = f"at most {widest} in one of {groups} groups of {single}"
            raise DescriptionError(Fault("disks", disks, rule, "state more groups"))
        if level == single and found > 1 and striped in asked.levels:
            rule = f"at most {widest} in one group of {single}"
            raise DescriptionError(Fault("disks", disks, rule, f"see the candidate with {striped}"))
        return (level, 1) if found == 1 else (striped, found)

    @classmethod
    def tried(cls, level: str) -> tuple[str, ...]:
        return ("log_devices",) if level in JOURNALED else ()

    @classmethod
    def grouped(cls, groups: int, strip_bytes: int, record_bytes: int) -> dict[str, Any]:
        return {"strip_bytes": strip_bytes} | ({"groups": groups} if groups > 1 else {})

    @classmethod
    def taken(cls, level: RaidLevel, stated: Mapping[str, Any]) -> dict[str, Any]:
        has_journal, policy = level.name in JOURNALED, stated.get("consistency_policy")
        is_mirrored, has_rows = level.default_copies > 1, level.has_rows  # RAID 1 has as many as disks
        can_have = {
            "copies": is_mirrored,
            "arrangement": level.has_far_copies,
            "largest_request_bytes": is_mirrored,
            "huge_page_ratio": is_mirrored,
            "n_parity": level.n_parity is None,
            "rotation": has_rows,
            "write_policy": has_rows,
            "read_modify_write": has_rows,
            "stripe_cache_pages": level.name in ("raid4", "raid5", "raid6"),
            "bitmap": level.is_redundant,
            "log": has_journal,
            "consistency_policy": level.is_redundant
            and (policy != "journal" or has_journal)
            and (policy != "ppl" or level.name == "raid5"),
            **dict.fromkeys((name for kind in cls.kinds() for name in kind.only), False),
        }
        return {name: value for name, value in stated.items() if can_have.get(name, True)}

"""The one list of RAID levels: what each level is, as plain data.

A level is a setting of one of three families, which say where blocks lie: "concat" (disks end to end) and "copies"
(`mirror.py`), "parity" (`parity.py`). Beside them are the vdevs of OpenZFS, of the family "pool" (`pools/`), which
answer other questions: `LEVELS` is RAID, `POOLS` is OpenZFS, `KINDS` is both. Neither engine knows levels; both read
`LayoutTables`.
"""

from __future__ import annotations

import re
from collections import ChainMap
from typing import Any, Literal

from diskmodel.loading import dataclass

Family = Literal["concat", "copies", "parity", "pool"]


@dataclass(frozen=True)
class RaidLevel:
    """One RAID level.

    Attributes
    ----------
    name : str
        As descriptions name it.
    title : str
        In one line, for people.
    family : "concat", "copies", "parity" or "pool"
    min_disks : int
        Of a pool: of each vdev.
    n_parity : int or None
        Parity strips of a row; None: the description gives `n_parity`.
    default_copies : int
        Copies of each block unless the description gives `copies`; 0: one on every disk, 1: the level keeps no copies.
    default_groups : int
        Parity groups unless the description gives `groups`; 0: the level has no groups.
    needs_whole_sets : bool
        The number of disks must be a multiple of the copies.
    has_far_copies : bool
        Copies may also lie in the other part of the neighboring disk.
    rotates : bool
        Parity moves from row to row.
    min_data_strips : int
        Data strips that a row needs.
    strip_sectors : int or None
        Length of a strip where the level fixes it.
    is_common : bool
        Whether controllers still offer it with nothing but a number of disks; the lab offers these.
    is_distributed : bool
        Groups of data and parity are distributed over more disks than they have, and so may spares be: dRAID.
    """

    name: str
    title: str
    family: Family
    min_disks: int
    n_parity: int | None = 0
    default_copies: int = 1
    default_groups: int = 0
    needs_whole_sets: bool = False
    has_far_copies: bool = False
    rotates: bool = True
    min_data_strips: int = 2
    strip_sectors: int | None = None
    is_common: bool = True
    is_distributed: bool = False

    @property
    def keeps_copies(self) -> bool:
        """Whether each block has copies, as many as the description says."""
        return self.default_copies != 1

    @property
    def has_striped_copies(self) -> bool:
        """Whether strips have copies: RAID 10 and 1E, which one driver of Linux makes."""
        return self.family == "copies" and self.default_copies > 1

    @property
    def write_penalty(self) -> int:
        """Back-end operations of a small host write by the rule of thumb: 2 (m + 1) with m parity strips."""
        if self.family == "parity":
            return 2 * ((self.n_parity or 0) + 1)
        return 2 if self.keeps_copies else 1

    @property
    def has_rows(self) -> bool:
        """Whether rows of strips have parity."""
        return self.family == "parity"

    @property
    def is_striped(self) -> bool:
        """Whether blocks go round the disks, and not from one disk's end to the next one's beginning."""
        return self.family != "concat"

    @property
    def copies_are_disks(self) -> bool:
        """Whether the number of its disks says how many copies there are: RAID 1."""
        return self.default_copies == 0 and not self.is_pool

    @property
    def has_formula_of_writes(self) -> bool:
        """Whether the operations of a write can be counted: a pool writes to places that only a run finds."""
        return not self.is_pool

    @property
    def has_groups(self) -> bool:
        """Whether its disks may be in several groups, or vdevs."""
        return self.is_pool or self.default_groups > 0

    @property
    def is_redundant(self) -> bool:
        """Whether data survives the loss of a disk."""
        return self.family == "parity" or self.keeps_copies or bool(self.n_parity)

    @property
    def has_fixed_rows(self) -> bool:
        """Whether a vdev of OpenZFS can be resilvered in the order of its space: a mirror, and dRAID."""
        return self.is_pool and (self.n_parity == 0 or self.is_distributed)

    @property
    def is_pool(self) -> bool:
        """Whether it is a vdev of OpenZFS."""
        return self.family == "pool"


#: Every RAID level by its name.
LEVELS: dict[str, RaidLevel] = {
    level.name: level
    for level in (
        RaidLevel("jbod", "none (concatenated disks)", "concat", min_disks=1),
        RaidLevel("raid0", "RAID 0 (striping)", "copies", min_disks=1),
        RaidLevel("raid1", "RAID 1 (a copy on every disk)", "copies", min_disks=2, default_copies=0),
        RaidLevel("raid1e", "RAID 1E (mirrors on any number of disks)", "copies", min_disks=3, default_copies=2),
        RaidLevel(
            "raid10",
            "RAID 10 (striped mirrors)",
            "copies",
            min_disks=4,
            default_copies=2,
            needs_whole_sets=True,
            has_far_copies=True,
        ),
        RaidLevel(
            "raid3",
            "RAID 3 (parity disk, strips of a sector)",
            "parity",
            min_disks=3,
            n_parity=1,
            rotates=False,
            strip_sectors=1,
            is_common=False,
        ),
        RaidLevel(
            "raid4",
            "RAID 4 (parity disk)",
            "parity",
            min_disks=3,
            n_parity=1,
            rotates=False,
            is_common=False,
        ),
        RaidLevel("raid5", "RAID 5 (one parity)", "parity", min_disks=3, n_parity=1),
        RaidLevel("raid50", "RAID 50 (striped RAID 5)", "parity", min_disks=6, n_parity=1, default_groups=2),
        RaidLevel("raid6", "RAID 6 (two parities)", "parity", min_disks=4, n_parity=2),
        RaidLevel("raid60", "RAID 60 (striped RAID 6)", "parity", min_disks=8, n_parity=2, default_groups=2),
        RaidLevel(
            "erasure",
            "erasure code (k data strips, m parities)",
            "parity",
            min_disks=2,
            n_parity=None,
            default_groups=1,
            min_data_strips=1,
            is_common=False,
        ),
    )
}

#: Every kind of vdev of OpenZFS by its name.
POOLS: dict[str, RaidLevel] = {
    level.name: level
    for level in (
        RaidLevel("mirror", "OpenZFS mirror", "pool", min_disks=2, default_copies=0, is_common=False),
        RaidLevel("raidz1", "OpenZFS RAID-Z1 (one parity)", "pool", min_disks=2, n_parity=1, is_common=False),
        RaidLevel("raidz2", "OpenZFS RAID-Z2 (two parities)", "pool", min_disks=3, n_parity=2, is_common=False),
        RaidLevel("raidz3", "OpenZFS RAID-Z3 (three parities)", "pool", min_disks=4, n_parity=3, is_common=False),
        *(
            RaidLevel(
                f"draid{parities}",
                f"OpenZFS dRAID{parities} ({words} in each distributed group)",
                "pool",
                min_disks=parities + 1,
                n_parity=parities,
                is_common=False,
                is_distributed=True,
            )
            for parities, words in ((1, "one parity"), (2, "two parities"), (3, "three parities"))
        ),
    )
}
#: All that a layout can be.
KINDS: ChainMap[str, RaidLevel] = ChainMap(LEVELS, POOLS)

#: Other words for a level of one disk, and for vdevs of OpenZFS.
_ALIASES = {"single": "jbod", "raidz": "raidz1", "draid": "draid1", "zmirror": "mirror", "mirrors": "mirror"}
#: A vdev of dRAID with its counts, as `zpool create` takes them, and one of these.
_DRAID = re.compile(r"(?P<level>draid[123]?)(?P<counts>(?::\d{1,6}[a-z])+)", re.IGNORECASE)
_COUNT = re.compile(r":(?P<number>\d+)(?P<letter>[a-z])", re.IGNORECASE)
#: Layouts of OpenZFS, which share their names with no level and their behavior with none either.
_OF_ZFS = re.compile(r"(raid|d)?z[123]|raidz|draid")
#: Words for vdevs with so many parities that OpenZFS has none.
_NO_VDEV = re.compile(r"(?P<kind>raidz|draid)(?:0|[4-9]|[1-9]\d+)(?:[:,].*)?")
#: What people put between the parts of a level's name: "RAID-10", "raid 1+0", "RAID_5".
_SEPARATORS = re.compile(r"[\s_+/-]+")


def level_name(value: Any) -> Any:
    """Return the registry's name of a level that is written another way; anything else unchanged.

    Examples
    --------
    >>> [level_name(text) for text in ("RAID5", "raid 5", "RAID-10", "raid1+0", "single", "RAID-Z2")]
    ['raid5', 'raid5', 'raid10', 'raid10', 'jbod', 'raidz2']
    """
    if not isinstance(value, str) or value in KINDS:
        return value
    plain = _SEPARATORS.sub("", value.lower())
    plain = _ALIASES.get(plain, plain)
    return plain if plain in KINDS and not _is_mirror_of_stripes(value) else value


def draid_counts(value: Any) -> tuple[str, dict[str, int]] | None:
    """Return level and counts by their letters of a vdev as `zpool create` takes it; None for anything else.

    Examples
    --------
    >>> draid_counts("draid2:8d:11c:1s")
    ('draid2', {'d': 8, 'c': 11, 's': 1})
    """
    found = _DRAID.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    return level_name(found["level"]), {c["letter"].lower(): int(c["number"]) for c in _COUNT.finditer(found["counts"])}


def zfs_refusal(value: Any) -> tuple[str, str] | None:
    """Return rule and fix for layouts of OpenZFS that are not modeled; None for anything else."""
    if not isinstance(value, str) or level_name(value) in POOLS:
        return None
    if (counted := draid_counts(value)) is not None:
        fix = (
            f"write {counted[0]}, with --data-disks (d) and --distributed-spares (s), in a layout data_disks and "
            "distributed_spares; c is the number of disks"
        )
        return "has counts, which only an array in words or a layout's own level has", fix
    plain = _SEPARATORS.sub("", value.lower())
    if found := _NO_VDEV.fullmatch(plain):
        kinds = [name for name in POOLS if name.startswith(found["kind"])]
        return "is no vdev of OpenZFS, which has one to three parities", f"use {', '.join(kinds[:-1])} or {kinds[-1]}"
    if not _OF_ZFS.match(plain):
        return None
    return (
        "belongs to OpenZFS, and is not modeled",
        f"of its vdevs use {', '.join(POOLS)}; no RAID level stands for it: a read takes all data disks of a record "
        "there, so that RAID 6 would promise several times its random reads",
    )


def _is_mirror_of_stripes(value: str) -> bool:
    """Whether the text is RAID 0+1, which loses data in cases where RAID 10 does not."""
    return re.search(r"0\D+1$", value) is not None

"""How the disks of a RAID level divide into copies, groups and parity, and which numbers of disks it can have."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.layout.levels import KINDS, RaidLevel

#: Data disks of a group of dRAID unless it is said, where the vdev has as many (`draid_config_by_type`).
USUAL_DATA = 8
#: No array has more disks.
MAX_DISKS = 100_000
#: No vdev has more: OpenZFS limits dRAID to 255 (`VDEV_DRAID_MAX_CHILDREN`), and advises against wide vdevs.
MAX_VDEV_DISKS = 255


class Shape(NamedTuple):
    """A RAID level with its counts, as plain arithmetic: it stands behind `Layout` and the rule of thumb.

    Attributes
    ----------
    level : str
        Its name in `KINDS`.
    disks : int
    copies, groups, n_parity, data_disks, distributed_spares : int or None
        As in `Layout`; None: what the level has. The groups of a pool are its vdevs.
    """

    level: str
    disks: int
    copies: int | None = None
    groups: int | None = None
    n_parity: int | None = None
    data_disks: int | None = None
    distributed_spares: int | None = None

    @property
    def kind(self) -> RaidLevel:
        """Return the level's entry in the list of levels."""
        return KINDS[self.level]

    @property
    def n_copies(self) -> int:
        """Number of copies of each block."""
        return self.copies or self.kind.default_copies or self.group_disks

    @property
    def n_groups(self) -> int:
        """Parity groups, or vdevs of a pool (1 where the level has none)."""
        return self.groups or self.kind.default_groups or 1

    @property
    def group_disks(self) -> int:
        """Number of disks of one parity group, or vdev."""
        return self.disks // self.n_groups

    @property
    def parity_strips(self) -> int:
        """Number of parity strips of one row (0 without parity)."""
        return (self.n_parity or 0) if self.kind.n_parity is None else self.kind.n_parity

    @property
    def data_strips(self) -> int:
        """Number of data strips of one row of a parity group; of dRAID of one of its groups."""
        most = self.group_disks - self.spare_places - self.parity_strips
        return (self.data_disks or min(most, USUAL_DATA)) if self.kind.is_distributed else most

    @property
    def spare_places(self) -> int:
        """Number of distributed spares of one vdev."""
        return self.distributed_spares or 0

    def problem(self) -> str | None:
        """Return why no array has these counts, "field: rule; fix"; None where one can."""
        level, disks, kind = self.level, self.disks, self.kind
        if disks > MAX_DISKS:
            return f"disks={disks}: must be at most {MAX_DISKS}; lower it"
        if kind.is_pool:
            return self._problem_of_pool()
        if disks < kind.min_disks:
            return f"disks={disks}: {level} needs at least {kind.min_disks} disks; add disks or choose another level"
        if self.copies is not None and not kind.keeps_copies:
            return f"copies={self.copies}: {level} keeps no copies; remove it"
        if kind.default_copies > 1 and self.n_copies > disks:
            return f"copies={self.copies}: more copies than disks ({disks}); use fewer"
        if kind.default_copies == 0 and self.n_copies != disks:
            return f"copies={self.copies}: {level} keeps a copy on each of its {disks} disks; use raid10 for fewer"
        if kind.needs_whole_sets and disks % self.n_copies:
            return f"disks={disks}: {level} needs a multiple of its {self.n_copies} copies; use raid1e for other counts"
        if self.groups is not None and not kind.default_groups:
            return f"groups={self.groups}: {level} has no groups; use raid50, raid60 or erasure"
        if self.n_parity is not None and kind.n_parity is not None:
            return f"n_parity={self.n_parity}: implied by {level}; remove it or use level erasure"
        if kind.n_parity is None and self.n_parity is None:
            return "n_parity: is missing; say how many parity strips a row has"
        if disks % self.n_groups:
            return f"disks={disks}: not a multiple of groups={self.n_groups}; change one of them"
        if self.parity_strips and self.data_strips < kind.min_data_strips:
            return f"disks={disks}: a group of {self.group_disks} disks leaves too few data strips; add disks"
        return None

    def _problem_of_pool(self) -> str | None:
        if self.disks % self.n_groups:
            return f"disks={self.disks}: not a multiple of vdevs={self.n_groups}; change one of them"
        if self.group_disks < self.kind.min_disks:
            least = self.kind.min_disks
            return f"disks={self.disks}: a vdev of {self.level} needs at least {least} disks; add disks"
        if self.group_disks > MAX_VDEV_DISKS:
            most = MAX_VDEV_DISKS
            return f"disks={self.disks}: a vdev has at most {most} disks; make several, with vdevs = {self.disks // 8}"
        return self._problem_of_draid()

    def _problem_of_draid(self) -> str | None:
        """Return why no vdev of dRAID has these counts, or why another one has none of them; None where all fit."""
        width, spares, parity = self.group_disks, self.spare_places, self.parity_strips
        if not self.kind.is_distributed:
            for name in ("data_disks", "distributed_spares"):
                if getattr(self, name) is not None:
                    return f"{name}={getattr(self, name)}: belongs to dRAID, not to {self.level}; remove it"
            return None
        most = width - spares - parity
        if most < 1:
            return (
                f"distributed_spares={spares}: with {parity} parity they leave no disk of {width} for data; "
                "use fewer, or more disks"
            )
        if self.data_disks is not None and self.data_disks > most:
            return (
                f"data_disks={self.data_disks}: with {parity} parity and {spares} distributed spares a vdev of {width} "
                f"disks has at most {most} for data; use fewer, or more disks"
            )
        return None

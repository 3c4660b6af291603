"""Garbage collection of a flash drive: which writes cost how many copies (rules F12 to F16).

Simulating every unit of a drive (10⁷ to 10⁹) would take too much memory and time. The model is a small drive with the
same over-provisioning, to which the host's writes are mapped with the same pattern: `scaled` chooses its size, `fold`
maps to it.
"""

from __future__ import annotations

import math
from copy import copy
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass

#: Size of the largest model: more blocks, or more units in a block, change the write amplification by less than 1 %.
MAX_BLOCKS = 512
MAX_BLOCK_UNITS = 256
#: Extra blocks: one is being filled by the host, one by copies, and one is free; on average the first two are half
#: empty, so that two extra blocks keep the over-provisioning.
RESERVE_BLOCKS = 2
#: Added to the valid units of a block that must not be cleaned, so that it is never the one with the fewest.
_NEVER = 1 << 40
#: Range of logical blocks from which a scaled model is chosen: 240 by 20 % either way, so that one of the numbers keeps
#: the over-provisioning nearly exactly. Fewer blocks distort garbage collection, and more cost time at every write.
_MIN_BLOCKS, _MAX_BLOCKS = 192, 288
#: The golden ratio's fractional part: multiples of it spread evenly, so that units lie scattered over the blocks.
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class FtlTables:
    """The small drive that represents the large one.

    Attributes
    ----------
    n_units : int
        Mapping units of the drive that hold data: its first ones. Those behind them share their places.
    physical_units : int
        Mapping units of its flash, including over-provisioning.
    extent_units, n_extents, folded_extents : int
        Extent e of the drive maps to extent ``e * folded_extents // n_extents`` of the model (rule F12).
    model_units, model_blocks, block_units, units_per_page : int
        Logical size of the model, its blocks (without the extra ones), and the units in a block and in a page.
    is_exact : bool
        Whether the model is the drive itself.
    is_fresh : bool
        Whether the drive has never been written.
    valid : int64, shape (model_blocks,)
        Valid units of each block in the steady state under uniform random writes, oldest block first.
    stride : int
        Order of the units in those blocks; coprime to `model_units`.
    policy : str
    """

    n_units: int
    physical_units: int
    extent_units: int
    n_extents: int
    folded_extents: int
    model_units: int
    model_blocks: int
    block_units: int
    units_per_page: int
    is_exact: bool
    is_fresh: bool
    valid: NDArray[np.int64]
    stride: int
    policy: str

    def fold(self, unit: int) -> int:
        """Return the unit of the model to which a unit of the drive maps."""
        extent, rest = divmod(unit % self.n_units, self.extent_units)
        return extent * self.folded_extents // self.n_extents * self.extent_units + rest


@lru_cache(maxsize=64)  # of one drive in many trials
def scaled(
    n_units: int, n_blocks: int, block_units: int, units_per_page: int, policy: str, is_fresh: bool
) -> FtlTables:
    """Return the model of a drive with `n_units` mapping units on `n_blocks` blocks of `block_units`."""
    physical = n_blocks * block_units
    is_exact = n_blocks <= MAX_BLOCKS and block_units <= MAX_BLOCK_UNITS
    if is_exact:
        extent, n_extents, folded, model_units = n_units, 1, 1, n_units
        model_blocks = max(n_blocks, n_units // block_units + 1)
    else:
        if block_units > MAX_BLOCK_UNITS:
            block_units = max(MAX_BLOCK_UNITS // units_per_page, 1) * units_per_page
        # the number of logical blocks whose physical blocks are closest to a whole number
        folded = min(
            range(_MIN_BLOCKS, _MAX_BLOCKS + 1),
            key=lambda n: (min(n * physical % n_units, -n * physical % n_units), n),
        )
        extent, n_extents = block_units, -(-n_units // block_units)
        model_units = folded * extent
        model_blocks = max((2 * folded * physical + n_units) // (2 * n_units), folded + 1)
    stride = round(model_units * _GOLDEN) | 1
    while math.gcd(stride, model_units) > 1:
        stride += 2
    return FtlTables(
        n_units=n_units,
        physical_units=physical,
        extent_units=extent,
        n_extents=n_extents,
        folded_extents=folded,
        model_units=model_units,
        model_blocks=model_blocks,
        block_units=block_units,
        units_per_page=units_per_page,
        is_exact=is_exact,
        is_fresh=is_fresh,
        valid=_steady(model_units, model_blocks, block_units),
        stride=stride,
        policy=policy,
    )


def _steady(n_units: int, n_blocks: int, block_units: int) -> NDArray[np.int64]:
    """Valid units by block, oldest first, after long uniform random writes (mean field; Desnoyers 2014)."""
    alpha = n_blocks * block_units / n_units
    x = 0.0
    for _ in range(10_000):
        x, before = math.exp(-(1 - x) * alpha), x
        if abs(x - before) < 1e-13:
            break
    rate = (1 - x) * block_units / n_units
    # integrate exactly over the age of the blocks, so that rounding preserves the sum
    edges = np.exp(-rate * np.arange(n_blocks, -1, -1.0))
    share = (edges - edges[0]) / (edges[-1] - edges[0])
    cumulated = np.round(share * n_units).astype(np.int64)
    valid: NDArray[np.int64] = np.minimum(np.diff(cumulated), block_units)
    short = n_units - int(valid.sum())
    for i in range(n_blocks - 1, -1, -1):
        more = min(short, block_units - int(valid[i]))
        valid[i] += more
        short -= more
    valid.setflags(write=False)
    return valid


class Ftl:
    """Blocks of the model: where each unit is stored, and which block is cleaned when (rules F13 and F14).

    Host writes fill one block and copies another, which separates hot data from cold data.
    """

    def __init__(self, tables: FtlTables) -> None:
        self.tables = tables
        self.n_host = 0
        self.n_copied = 0
        self.n_cleaned = 0
        n = tables.model_blocks + RESERVE_BLOCKS
        self._block_units = tables.block_units
        self._slot_of = [-1] * tables.model_units
        self._unit_at = [-1] * (n * tables.block_units)
        # valid units by block; blocks that must not be cleaned have _NEVER added
        self._valid = [_NEVER] * n
        self._closed = [0] * n
        self._unwritten = tables.physical_units if tables.is_fresh and not tables.is_exact else 0
        self._free = list(range(n - 1, -1, -1))
        if not (tables.is_fresh and tables.is_exact):
            self._fill()
        self._host_slot = self._copy_slot = -1
        self._host_slot = self._fresh_block()
        self._copy_slot = self._fresh_block()

    def copy(self) -> Ftl:
        """Another drive in the same state."""
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(twin, name, value.copy())
        return twin

    @property
    def is_cleaning(self) -> bool:
        """Whether blocks are reused, so that each must be erased before it is programmed."""
        return not (self.tables.is_fresh and (self._unwritten > 0 or (self.tables.is_exact and not self.n_cleaned)))

    @property
    def write_amplification_ratio(self) -> float:
        """Units programmed per unit written by the host, so far."""
        return 1 + self.n_copied / self.n_host if self.n_host else 1.0

    def write(self, unit: int) -> tuple[int, int]:
        """Write one unit of the drive; -1 fills a slot with padding.

        Returns the valid units and the pages that had to be copied to make room.
        """
        self.n_host += 1
        if self._unwritten:
            self._unwritten -= 1
            return 0, 0
        if unit >= 0:
            self._host_slot = self._place(self.tables.fold(unit), self._host_slot)
        else:
            self._host_slot += 1
        if self._host_slot % self._block_units:
            return 0, 0
        self._close(self._host_slot - 1)
        units, pages = 0, 0
        while len(self._free) < 2:
            more_units, more_pages = self._clean()
            units, pages = units + more_units, pages + more_pages
        self._host_slot = self._fresh_block()
        return units, pages

    @property
    def until_cleaning(self) -> int:
        """Units that the host may write until blocks are cleaned again."""
        return self._block_units - self._host_slot % self._block_units

    def _place(self, unit: int, slot: int) -> int:
        """Put a unit into a slot; return the next slot."""
        old = self._slot_of[unit]
        if old >= 0:
            self._unit_at[old] = -1
            self._valid[old // self._block_units] -= 1
        self._slot_of[unit] = slot
        self._unit_at[slot] = unit
        self._valid[slot // self._block_units] += 1
        return slot + 1

    def _fresh_block(self) -> int:
        """Return the first slot of a free block."""
        block = self._free.pop()
        self._valid[block] = _NEVER
        return block * self._block_units

    def _close(self, slot: int) -> None:
        block = slot // self._block_units
        self._valid[block] -= _NEVER
        self._closed[block] = self.n_host

    def _clean(self) -> tuple[int, int]:
        """Copy the valid units of a victim and free it; return the units and pages copied."""
        victim = self._victim()
        first = victim * self._block_units
        moving = [s for s in range(first, first + self._block_units) if self._unit_at[s] >= 0]
        for slot in moving:
            self._copy_slot = self._place(self._unit_at[slot], self._copy_slot)
            if self._copy_slot % self._block_units == 0:
                self._close(self._copy_slot - 1)
                self._copy_slot = self._fresh_block()
        self._valid[victim] = _NEVER
        self._free.insert(0, victim)
        self.n_cleaned += 1
        self.n_copied += len(moving)
        return len(moving), len({slot // self.tables.units_per_page for slot in moving})

    def _victim(self) -> int:
        """Return the block to clean next; ties go to the lower number (rule F14)."""
        valid = self._valid
        if self.tables.policy == "greedy":
            return valid.index(min(valid))
        best, best_gain, best_cost = -1, 0, 1
        for block, v in enumerate(valid):
            if v >= self._block_units:
                continue
            gain, cost = (self.n_host - self._closed[block]) * (self._block_units - v), 2 * v
            if best < 0 or gain * best_cost > best_gain * cost:
                best, best_gain, best_cost = block, gain, cost
        return best

    def _fill(self) -> None:
        """Fill the blocks for the steady state: units scattered over the blocks and spread within each block."""
        tables, place = self.tables, 0
        for block, count in enumerate(tables.valid.tolist()):
            self._valid[block] = count
            self._free.remove(block)
            self._closed[block] = block - tables.model_blocks
            for j in range(count):
                unit = place * tables.stride % tables.model_units
                slot = block * tables.block_units + j * tables.block_units // count
                self._slot_of[unit], self._unit_at[slot] = slot, unit
                place += 1

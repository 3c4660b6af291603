"""An array under a load, as the unknowns look at it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import MISFIT, TAIL_MISFIT, AssumedOrder, DriveQueue, Order
from diskmodel.loading import dataclass
from diskmodel.uncertainty.origin import Origin, array_class, class_of, origin_of
from diskmodel.uncertainty.perturbed import AnyWorkload
from diskmodel.uncertainty.seen import Seen
from diskmodel.uncertainty.spread import Spread, spread_of

#: Part of writes below which nothing depends on how they are done.
FEW_WRITES = 0.01
#: Commands in a disk up to which its queue is not deep: three requests are outstanding, or more.
SINGLE = 2.5
#: Commands in a disk among which there is no choice: one is served, and the other is next. Twice as many would hide the
#: assumption at depth 4, where drives differ most.
COMMANDS_WITHOUT_CHOICE = 2
#: Part of the disks' time spent on positioning below which their order of commands does not matter: sequential
#: transfers.
_ORDERED_RATIO = 0.3
#: By how much the rate of a deep queue of random requests changes with the time of one access: the order of commands
#: makes seeks short, so that rotation is most of it. Measured on bundled drives at depth 16.
_QUEUED_EFFECT = 0.6


@dataclass(frozen=True)
class Case:
    """An array under a load.

    Attributes
    ----------
    array : Array
    workload : Workload or TraceWorkload
    seen : Seen
    as_measured : bool
        Whether the drive counts as if one such drive had been measured.

    Notes
    -----
    What is not known of a drive from its sheet is how far such drives lie from their sheets: each of its quantities has
    a spread of its own, however it is loaded. Systems that do not do what their parts can, a controller that holds its
    disks back, are not among them (docs/explanation/validation-coverage.md has their share).
    """

    array: Array
    workload: AnyWorkload
    seen: Seen
    as_measured: bool = False

    @cached_property
    def origin(self) -> Origin:
        """Where the drive's description comes from."""
        own = origin_of(self.array.drive)
        return "measured" if self.as_measured and own != "exact" else own

    @property
    def is_sheet(self) -> bool:
        """Whether only the drive's class is known."""
        return self.origin == "sheet"

    @cached_property
    def drive_class(self) -> str:
        """The class of the drive, or of drives that were measured or fitted like it."""
        return class_of(self.array.drive) if self.is_sheet else f"{self.origin}-{self.array.drive.kind}"

    @cached_property
    def array_class(self) -> str:
        """The class of the array as a whole."""
        return array_class(self.array)

    def spread(self, quantity: str) -> Spread | None:
        """Return the spread of a quantity between drives of this one's class; None where nothing is known."""
        return spread_of(self.drive_class, quantity)

    @cached_property
    def dof(self) -> float:
        """Degrees of freedom of all that is drawn together (Welch and Satterthwaite)."""
        if not self.is_sheet:
            model = self.remaining("iops")
            return math.inf if model is None else model.dof
        parts = [
            ((effect * known.log_sd) ** 2, known.dof)
            for quantity, effect in self.effects.items()
            if (known := self.spread(quantity)) is not None and known.log_sd and effect
        ]
        if self.layout is not None:
            parts.append((self.layout.log_sd**2, self.layout.dof))
        below = sum(variance**2 / dof for variance, dof in parts)
        return sum(variance for variance, _ in parts) ** 2 / below if below else math.inf

    @cached_property
    def load(self) -> str:
        """The kind of load, as the table of spreads has it."""
        if self.seen.is_sequential:
            return "sequential"
        writes = self.seen.asked_write_ratio
        if 0 < writes < 1:
            return "mixed"
        return f"{'queued' if self.seen.in_disk > SINGLE else 'single'} {'writes' if writes else 'reads'}"

    @cached_property
    def effects(self) -> dict[str, float]:
        """By how much the rate of this load is taken to change with each quantity, both as logarithms."""
        writes, is_queued = self.seen.write_ratio, self.seen.in_disk > SINGLE
        if not self.is_hdd:
            reads = {"flash_parallelism" if is_queued else "flash_read_time": (1 - writes) * (1 if is_queued else -1)}
            return {**reads, "flash_write": writes}
        if self.load == "sequential":
            return {"sequential": 1.0}
        queue = {"queue": 1.0} if is_queued else {}
        buffered = {"cached_writes": writes} if self.has_cached_writes else {}
        return {"positioning": -_QUEUED_EFFECT if is_queued else -1.0, **queue, **buffered}

    @property
    def assumed_order(self) -> AssumedOrder | None:
        """What the order of commands may be, where it is assumed and disks have a choice."""
        if self.as_measured or self.origin == "exact":
            return None
        assumption = self.array.drive.assumption
        return assumption if assumption is not None and assumption.drawn and self._has_choice else None

    @property
    def likely_queues(self) -> tuple[DriveQueue, ...]:
        """Queues of a measured drive that fit its measurement alike, where disks have a choice."""
        if self.as_measured or self.origin == "exact" or not self._has_choice:
            return ()
        return self.array.drive.likely_queues

    @property
    def _has_choice(self) -> bool:
        """Whether so many commands wait in a disk that their order matters."""
        return self.seen.in_disk > COMMANDS_WITHOUT_CHOICE and self.seen.positioning_ratio > _ORDERED_RATIO

    @property
    def draws_destaging(self) -> bool:
        """Whether a controller of which nothing was measured decides in which order a hard disk's writes are done.

        Where they are sequential it does not matter: neighbors are destaged together.
        """
        cache = self.array.controller.write_cache
        is_open = cache is not None and cache.destage_depth is None
        is_random = self.seen.positioning_ratio > _ORDERED_RATIO and not self.seen.is_sequential
        return is_open and is_random and self.is_hdd and self.seen.write_ratio > FEW_WRITES

    @property
    def has_cached_writes(self) -> bool:
        """Whether the drives' own caches answer writes."""
        return self.array.drive.is_write_back and self.array.has_drive_write_cache

    def remaining(self, statistic: str) -> Spread | None:
        """Return the spread of what is left when all else is known; None of a drive from its sheet.

        A measured or fitted drive has that of such drives, or the error of its profile on what was held out or fitted,
        where that is larger.

        Parameters
        ----------
        statistic : "iops" or "p99"
        """
        if self.is_sheet:
            return None
        own = spread_of(self.drive_class, "model", statistic) or Spread()
        log_sd = own.log_sd
        if not self.as_measured:
            log_sd = max(log_sd, *_discrepancies(self.array.drive.provenance, statistic, self.load))
        return Spread(own.median, log_sd, own.dof)

    @property
    def layout(self) -> Spread | None:
        """The spread of the rate between layouts of drives that are known; None for a disk on its own."""
        if self.array.layout.disks == 1:
            return None
        is_rows = self.load == "sequential" and self.seen.asked_write_ratio > 0 and not self.array.is_hardware
        is_rows = is_rows and self.is_hdd and self.array.layout.has_rows
        name = "layout-rows" if is_rows else "layout" if self.load == "sequential" else "layout-random"
        return spread_of(name, "model", "iops")

    @property
    def tails(self) -> tuple[Spread, Spread, Spread] | None:
        """The spread of p99 over the mean of all requests, of reads and of writes; None where it is known.

        Of reads and writes together it is what each has, by its share of the slowest requests: the factor of a quantile
        of a mixture is, to first order, the mean of its parts' by their density there.
        """
        if not self.is_sheet:
            p99, iops = self.remaining("p99"), self.remaining("iops")
            if p99 is None or iops is None or p99.log_sd <= iops.log_sd:
                return None
            return (Spread(1.0, math.sqrt(p99.log_sd**2 - iops.log_sd**2), p99.dof),) * 3
        reads = self.spread("tail")
        writes = reads if self.is_hdd and not self.has_cached_writes else self._write_tail
        if reads is None or writes is None:
            return None
        slow = self.seen.slow_write_ratio
        share = self.seen.asked_write_ratio if math.isnan(slow) else slow
        center = (1 - share) * math.log(reads.median) + share * math.log(writes.median)
        log_sd = math.sqrt((1 - share) * reads.log_sd**2 + share * writes.log_sd**2)
        dof = {0.0: reads.dof, 1.0: writes.dof}.get(share, min(reads.dof, writes.dof))
        return Spread(math.exp(center), log_sd, dof), reads, writes

    @property
    def _write_tail(self) -> Spread | None:
        """The spread of p99 over the mean of writes, which in a queue of nothing else is that of the queue."""
        in_queue = self.spread("queued_write_tail") if self.load == "queued writes" else None
        return in_queue or self.spread("write_tail")

    @property
    def is_hdd(self) -> bool:
        """Whether the drives are hard disks."""
        return self.array.drive.has_arms


def slowness(order: Order) -> tuple[float, ...]:
    """Return what makes an order of commands slow: one that weighs seeks alone is slower than any that weighs both."""
    return (order.scheduler != "rpo", order.miss_margin_ns, order.miss_ratio, order.age_weight, order.committed)


def _discrepancies(provenance: Mapping[str, Any], statistic: str, load: str) -> Iterator[float]:
    """Yield by how much a calibrated profile misses what was measured, as logarithms.

    That is the evidence which was held out, of a mixed load the mixes among it, and what the profile was fitted to.
    """
    held = provenance.get("held_out") or {}
    ratio = held.get("mean_error_ratio")
    if statistic == "p99":
        ratio = (held.get("percentile_error_ratios") or {}).get("p99") or ratio
    mixes = (held.get("mixed_read_write") or {}) if load == "mixed" else {}
    mixed = mixes.get("median_mean_error_ratio")
    if statistic == "p99":
        mixed = mixes.get("median_p99_error_ratio") or mixed
    for error in (ratio, mixed, provenance.get(MISFIT)):
        yield abs(math.log1p(max(float(error or 0.0), -0.9)))
    if statistic == "p99":
        yield float(provenance.get(TAIL_MISFIT, 0.0))

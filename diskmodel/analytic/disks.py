"""What a search starts from: waits and service of the disks of an array, by the kind of drive.

Each kind names the function that makes these on its card (`formula`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace

from scipy import special

from diskmodel.analytic.backend import BackEnd
from diskmodel.analytic.queueing import OpenQueue, mg1, mmc
from diskmodel.analytic.service import (
    FlashService,
    HddService,
    VirtualService,
    flash_service,
    hdd_service,
    virtual_service,
)
from diskmodel.drive import FlashTables, HddTables, VirtualTables
from diskmodel.queue import Queue


class Disks(ABC):
    """Service of the disks' operations.

    `ack_s` is the time of a write into the drive's write-back cache; None without such a cache.
    """

    ack_s: float | None = None

    @abstractmethod
    def mean_s(self, n_waiting: float) -> float:
        """Return the mean time between two operations of a busy disk with `n_waiting` commands to choose from."""

    @abstractmethod
    def visit(self, rate_per_disk: float, n_waiting: float) -> tuple[float, float]:
        """Return mean response time and coefficient of variation of one operation."""

    def percentile_s(self, rate_per_disk: float, n_waiting: float, share: float) -> float:
        """Return a percentile of the response time of one operation, by default that of a normal distribution."""
        mean, variation = self.visit(rate_per_disk, n_waiting)
        return mean * (1 + float(special.ndtri(share)) * variation)


class HddDisks(Disks):
    def __init__(self, service: HddService) -> None:
        self.service = service
        self.ack_s = service.ack_s

    def mean_s(self, n_waiting: float) -> float:
        return self.service.moments(n_waiting)[0]

    def visit(self, rate_per_disk: float, n_waiting: float) -> tuple[float, float]:
        queue = self._queue(rate_per_disk, n_waiting)
        return queue.response_s, math.sqrt(queue.response_variance_s2) / queue.response_s

    def percentile_s(self, rate_per_disk: float, n_waiting: float, share: float) -> float:
        return self._queue(rate_per_disk, n_waiting).percentile_s(share)

    def _queue(self, rate_per_disk: float, n_waiting: float) -> OpenQueue:
        mean, second, third = self.service.moments(n_waiting)
        queue = mg1(min(rate_per_disk, 0.999 / mean), mean, second, third)
        if self.service.ack_s is None:
            return queue
        # reads have priority over writes from the write-back cache, without preemption
        busy_reading = queue.utilization_ratio * (1 - self.service.write_share)
        factor = (1 - queue.utilization_ratio) / (1 - busy_reading)
        return replace(queue, wait_s=queue.wait_s * factor, wait_variance_s2=queue.wait_variance_s2 * factor**2)


class FlashDisks(Disks):
    def __init__(self, service: FlashService) -> None:
        self.service = service

    def mean_s(self, n_waiting: float) -> float:
        return self.service.bottleneck_s

    def visit(self, rate_per_disk: float, n_waiting: float) -> tuple[float, float]:
        service = self.service
        rate = min(rate_per_disk, 0.999 / service.bottleneck_s)
        dies = mmc(min(rate, 0.999 * service.n_dies / service.die_s), service.die_s, service.n_dies)
        command = mg1(rate, service.bottleneck_s, service.bottleneck_s**2, service.bottleneck_s**3)
        mean = service.fixed_s + service.die_s + dies.wait_s + command.wait_s
        spread = math.sqrt(dies.wait_variance_s2 + command.wait_variance_s2)
        return mean, spread / mean


class VirtualDisks(Disks):
    def __init__(self, service: VirtualService) -> None:
        self.service = service

    def mean_s(self, n_waiting: float) -> float:
        return self.service.command_s + self.service.batch_s / max(n_waiting, 1.0)

    def visit(self, rate_per_disk: float, n_waiting: float) -> tuple[float, float]:
        command_s = self.service.command_s
        queue = mg1(min(rate_per_disk, 0.999 / command_s), command_s, command_s**2, command_s**3)
        mean = self.service.fixed_s + queue.response_s
        return mean, math.sqrt(queue.wait_variance_s2) / mean


def hdds(tables: HddTables, sample: BackEnd, queue: Queue) -> HddDisks:
    """Return hard disks behind a queue."""
    return HddDisks(hdd_service(tables, sample, queue.scheduler, queue.drive_depth))


def flash_drives(tables: FlashTables, sample: BackEnd, _: Queue) -> FlashDisks:
    """Return flash drives."""
    return FlashDisks(flash_service(tables, sample))


def virtual_disks(tables: VirtualTables, sample: BackEnd, _: Queue) -> VirtualDisks:
    """Return virtual disks."""
    return VirtualDisks(virtual_service(tables, sample))

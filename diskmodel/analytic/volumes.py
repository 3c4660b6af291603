"""What a search starts from of volumes of a cloud."""

from __future__ import annotations

import numpy as np
from scipy import special

from diskmodel.analytic.backend import BackEnd
from diskmodel.analytic.disks import Disks
from diskmodel.drive import CloudTables
from diskmodel.loading import dataclass
from diskmodel.queue import Queue


@dataclass(frozen=True)
class CloudService:
    """Mean times of one command on a volume, seconds.

    Attributes
    ----------
    fixed_s : float
        Latency, which overlaps with that of other commands.
    command_s : float
        What the narrowest limit takes to regain what a command counts for; 0: no limit.
    p99_ratio : float
        The 99th percentile of the latency, in its means.
    """

    fixed_s: float
    command_s: float
    p99_ratio: float


def cloud_service(tables: CloudTables, sample: BackEnd) -> CloudService:
    """Return the service times of volumes."""
    n_bytes = sample.n_sectors * tables.sector_bytes
    amounts = (
        (tables.op_rates, -(-n_bytes // tables.op_bytes)),
        (tables.byte_rates, np.maximum(n_bytes, tables.least_bytes)),
    )
    limits = [float(amount.mean()) / int(rates[0]) for rates, amount in amounts if len(rates)]
    writes = float(sample.is_write.mean())
    read_ns, write_ns = tables.mean_latency_ns
    mean_ns = (1 - writes) * read_ns + writes * write_ns
    slow = tables.read_delay_ns if writes < 1 else tables.write_delay_ns
    return CloudService(
        fixed_s=mean_ns / 1e9,
        command_s=max(limits, default=0.0),
        p99_ratio=float(np.quantile(slow, 0.99)) / float(slow.mean()),
    )


class Volumes(Disks):
    def __init__(self, service: CloudService) -> None:
        self.service = service

    def mean_s(self, n_waiting: float) -> float:
        # a volume has any number of commands at work: without a limit their latency bounds what a queue does
        return max(self.service.command_s, self.service.fixed_s / 1023)

    def visit(self, rate_per_disk: float, n_waiting: float) -> tuple[float, float]:
        # credits of a second take what random arrivals exceed the limit by
        return self.service.fixed_s, self.service.p99_ratio

    def percentile_s(self, rate_per_disk: float, n_waiting: float, share: float) -> float:
        mean, p99_ratio = self.visit(rate_per_disk, n_waiting)
        power = float(special.ndtri(share)) / float(special.ndtri(0.99))
        return float(mean * p99_ratio**power)


def volumes(tables: CloudTables, sample: BackEnd, _: Queue) -> Volumes:
    """Return volumes of a cloud."""
    return Volumes(cloud_service(tables, sample))

"""A plan's question about one family of arrays, put to a truth that was drawn of these."""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import cached_property

from diskmodel.array import Array
from diskmodel.loading import dataclass
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial.rule_of_thumb import read_fraction
from diskmodel.uncertainty import Perturbation, Seen, workload_of
from diskmodel.uncertainty.perturbed import perturbed
from diskmodel.workload import Workload


@dataclass(frozen=True)
class DrawnCase(Case):
    """One family of arrays as they may truly be.

    Attributes
    ----------
    perturbation : Perturbation
        By how much they differ from their description.
    described : Case or None
        The same question about the arrays as they are described; None: they are described anew.
    """

    perturbation: Perturbation = field(default_factory=Perturbation)
    described: Case | None = None

    @classmethod
    def of_truth(cls, case: Case, perturbation: Perturbation) -> DrawnCase:
        """Return a question, put to a truth about its arrays."""
        return cls(case.plan, case.family, perturbation, case)

    @cached_property
    def workload(self) -> Workload:
        """The load to design for, as it was drawn."""
        return workload_of(self.plan.design_workload, self.perturbation)

    def _array(self, disks: int, n_failed: int, is_rebuilding: bool) -> Array:
        if self.described is not None and self.workload == self.described.workload:
            described = self.described.array(disks, n_failed=n_failed, is_rebuilding=is_rebuilding)
        else:
            described = super()._array(disks, n_failed, is_rebuilding)
        return perturbed(described, self.workload, replace(self.perturbation, level=0.0, part=None))[0]


def seen_in(outcome: Outcome, array: Array, workload: Workload) -> Seen:
    """Return what an outcome shows of a load that decides which unknowns matter to it.

    Commands in a disk follow from Little's law, as if each took as long as a request: they are not more.
    """
    mean = outcome.latency_of("mean")
    waiting = outcome.iops.value * mean.value / 1e9 if mean is not None and outcome.is_stable else math.inf
    spent = outcome.breakdown_ms
    positioning = spent.get("seek", 0.0) + spent.get("rotation", 0.0)
    served = positioning + spent.get("transfer", 0.0)
    reads = read_fraction(workload)
    back_end = outcome.back_end_per_host if math.isfinite(outcome.back_end_per_host) else 1.0
    return Seen(
        in_disk=waiting * back_end / array.layout.disks,
        write_ratio=min(max(1 - reads / back_end, 1 - reads), 1.0) if back_end else 1 - reads,
        asked_write_ratio=1 - reads,
        is_sequential=all(stream.addresses.pattern == "sequential" for stream in workload.streams),
        positioning_ratio=positioning / served if served else float(array.drive.has_arms),
        slow_write_ratio=outcome.slow_write_ratio,
        has_flushes=spent.get("sync", 0.0) > 0 or any(stream.kind == "flushes" for stream in workload.streams),
    )

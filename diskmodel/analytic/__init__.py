"""Formulas for the questions that the engines answer by simulation.

All times are seconds and all rates per second unless a name says otherwise. Each formula documents what it leaves out;
an overloaded open queue has an infinite response time and `is_stable` false, never an exception.

`estimate` and `rule` serve the planner and the commands. The other modules are a library of published formulas, each
with its source, to check a simulation by hand; `tests/theory` compares the engines with them.

- `rule`: RAID calculators: write penalties, IOPS per disk, disks for a throughput, link ports
- `queueing`: M/M/1, M/D/1, M/G/1, M/M/c, Erlang C, a server with vacations (rebuild)
- `closed`: mean value analysis and asymptotic bounds of closed networks
- `forkjoin`: requests that complete with their last part
- `mechanics`: seek distances, rotational latency, parity writes, degraded reads, rebuild times
- `cache`: hit ratios of LRU and FIFO caches, Zipf popularity
- `writeback`: regimes of Linux page-cache write-back
- `reliability`: mean time to data loss
- `service`, `backend`, `disks`, `volumes`, `estimate`: an array under a workload
"""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.analytic.backend import has_formula
    from diskmodel.analytic.estimate import Estimate
    from diskmodel.analytic.mechanics import parity_write_operations, rebuild_hours
    from diskmodel.analytic.queueing import mg1
    from diskmodel.analytic.reliability import HOURS_PER_YEAR, DataLoss, data_loss, either_lost, read_error_probability
    from diskmodel.analytic.rule import RuleOfThumb, back_end_per_host, rule_of_thumb, usual_disk_iops, write_penalty

__getattr__ = face(
    __name__,
    {
        "backend": "has_formula",
        "estimate": "Estimate",
        "mechanics": "parity_write_operations rebuild_hours",
        "queueing": "mg1",
        "reliability": "DataLoss HOURS_PER_YEAR data_loss either_lost read_error_probability",
        "rule": "RuleOfThumb back_end_per_host rule_of_thumb usual_disk_iops write_penalty",
    },
)

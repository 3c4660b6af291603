"""Percentiles of fio's results for flash: those of single reads, and a profile beside those of all depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibrate.calibration import Calibration
from calibrate.flash.delays import responses_ns
from calibrate.hdd import Condition
from calibrate.settled import settled
from diskmodel.array import Array
from diskmodel.drive import Drive, Flash

#: Median error of p99 over the depths of an operation from which on the profile does not describe responses. At half,
#: fits fail for what the host adds at one depth; at double, a drive with fast and slow responses passes for one with
#: equal ones.
MAX_P99_MISFIT = 0.25
#: Depths of an operation that this takes: of two, one may be off because of the host.
MIN_DEPTHS = 3
#: Part of the time of single requests that may pass in the host between one and the next. It is in the profile as the
#: drive's; where the host is awake at greater depths, rates there are off by so much. At half, every host of fast flash
#: is refused; at double, rates at depth 2 may be half of what they are.
MAX_HOST_RATIO = 0.3
#: Requests of a simulation: 120 lie beyond p99.
N_REQUESTS = 12_000


def single_reads_ns(conditions: Sequence[Condition]) -> Mapping[float, float]:
    """Return the percentiles of single random reads, of several sizes those of the smallest; empty where unknown."""
    alone = [c for c in conditions if c.op == "read" and c.depth == 1 and not c.is_mixed]
    return min(alone, key=lambda condition: condition.length_bytes).percentiles_ns if alone else {}


def _host_ratio(condition: Condition) -> float:
    """Return the part of a single request's time between its completion and the next: submission and wake-up."""
    return 1.0 - float(responses_ns(condition.percentiles_ns).mean()) * condition.iops / 1e9


def with_percentiles(found: Calibration, conditions: Sequence[Condition], seed: int) -> Calibration:
    """Return the calibration with the errors of p99 in its residuals; not converged where most of them are large.

    One large error may be the host's, as at depths above those that a drive takes; an operation whose p99 is off at
    most depths responds otherwise than the profile.
    """
    errors = {
        str(c): _p99_error(found.drive, c, seed) for c in conditions if not c.is_mixed and 99.0 in c.percentiles_ns
    }
    rows = [
        row | ({"p99_error_ratio": errors[row["what"]]} if row["what"] in errors else {})
        for row in found.report.get("residuals", ())
    ]
    found = replace(found, report={**found.report, "residuals": rows})
    for op in ("read", "write"):
        known = [row["p99_error_ratio"] for row in rows if row.get("op") == op and "p99_error_ratio" in row]
        is_off = len(known) >= MIN_DEPTHS and float(np.median(np.abs(known))) > MAX_P99_MISFIT
        if is_off and found.has_converged:
            message = (
                f"rates are described, responses are not: p99 of random {op}s is off by {min(known):+.0%} to "
                f"{max(known):+.0%}; {found.message}"
            )
            found = replace(found, has_converged=False, message=message)
    alone = [c for c in conditions if c.depth == 1 and not c.is_mixed and c.percentiles_ns]
    for condition in alone:
        ratio = _host_ratio(condition)
        if found.has_converged and isinstance(found.drive, Flash) and ratio > MAX_HOST_RATIO:
            message = (
                f"the host took {ratio:.0%} of the time of single {condition.op}s, which is not the drive's and is "
                f"shorter at greater depths; {found.message}"
            )
            found = replace(found, has_converged=False, message=message)
    return found


def _p99_error(drive: Drive, condition: Condition, seed: int) -> float:
    """Return predicted by measured, less 1."""
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    n = max(N_REQUESTS, 40 * condition.depth)
    _, run, order = settled(array, condition.workload, n=n, warm_up=None, seed=seed)
    response_ns = (run.completions.done_ns - run.completions.issue_ns)[order]
    return float(np.percentile(response_ns, 99.0) / condition.percentiles_ns[99.0] - 1)

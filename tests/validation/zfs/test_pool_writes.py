"""Random writes to OpenZFS pools over disks of known mechanics (docs/explanation/validation/pools.md)."""

from __future__ import annotations

#: Largest relative difference of a row; writes that nobody waits for have a wider one.
TOLERANCE = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.03}
TOLERANCE_ASYNC = {"iops": 0.15, "mean_ms": 0.15, "writes_per_op": 0.03}
#: The same of rows that are named below. Of the log device only the order of magnitude is compared.
LOOSE = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.15}
LOOSEST = {"iops": 1.0, "mean_ms": 1.0, "writes_per_op": 1.0}
METADATA = "how much metadata a group writes is known only about"
#: Beginnings of the names of runs that are not within the tolerances, and why.
REASONS: dict[str, str] = {}
#: One row of each kind for the fast tests.
FEW = ("mir2_r8_syncwrite8k_j1", "rz2_6_r128_syncwrite4k_j1")


def reason(run: str) -> str | None:
    """Return why a row may be outside the tolerances; None where it may not."""
    return next((why for name, why in REASONS.items() if run.startswith(name)), None)

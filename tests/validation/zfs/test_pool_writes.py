"""Random writes to OpenZFS pools over disks of known mechanics (docs/explanation/validation/pools.md)."""

from __future__ import annotations

import pytest

from tests.validation.zfs import pool_writes

#: Largest relative difference of a row, and of writes that nobody waits for.
TOLERANCE = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.03}
TOLERANCE_ASYNC = {"iops": 0.15, "mean_ms": 0.15, "writes_per_op": 0.03}
#: The same of the rows that are named below.
LOOSE = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.09}
LOOSE_BUFFERED = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.27}
LOOSE_LOG_DEVICE = {"iops": 0.10, "mean_ms": 0.10, "writes_per_op": 0.33}
METADATA = "how many short writes a group adds is known only about"
BUFFERED = "drives with a write cache answer at once, so that the processor decides what is joined"
IN_BURSTS = "how many records of a group are prepared at once where programs leave little time is known only about"
#: Beginnings of the names of runs that are not within the tolerances, and why.
REASONS = {
    "mir2_wc11": BUFFERED,
    "rz2_6_wc11": BUFFERED,
    "rz2_6_slog": IN_BURSTS,
    "rz": METADATA,
    "mir2_r8_syncwrite8k_j8": METADATA,
}
#: One row of each kind for the fast tests.
FEW = ("mir2_r8_syncwrite8k_j1", "rz1_4_r8_syncwrite8k_j1", "rz2_6_r32_syncwrite32k_j1")


def reason(run: str) -> str | None:
    """Return why a row may be outside the tolerances; None where it may not."""
    return next((why for name, why in REASONS.items() if run.startswith(name)), None)


def is_outside(row: dict[str, str]) -> bool:
    """Return whether a row is outside the tolerances."""
    measured, model = pool_writes.measured(row), pool_writes.simulated(row["run"], row["source"])
    tolerances = TOLERANCE_ASYNC if "async" in row["run"] else TOLERANCE
    return any(abs(getattr(model, n) / getattr(measured, n) - 1) > most for n, most in tolerances.items())


def _check(row: dict[str, str], starts: int) -> None:
    why = reason(row["run"])
    measured, model = pool_writes.measured(row), pool_writes.simulated(row["run"], row["source"], starts)
    allowed = {None: TOLERANCE, METADATA: LOOSE, BUFFERED: LOOSE_BUFFERED, IN_BURSTS: LOOSE_LOG_DEVICE}[why]
    for figure, tolerance in allowed.items():
        assert getattr(model, figure) == pytest.approx(getattr(measured, figure), rel=tolerance), figure


@pytest.mark.slow
@pytest.mark.parametrize("run", FEW)
def test_some_rows(run: str) -> None:
    _check(next(row for row in pool_writes.rows() if row["run"] == run), 2)


@pytest.mark.long
@pytest.mark.parametrize("row", pool_writes.rows(), ids=lambda row: f"{row['run']} {row['source']}")
def test_random_writes(row: dict[str, str]) -> None:
    _check(row, pool_writes.STARTS)

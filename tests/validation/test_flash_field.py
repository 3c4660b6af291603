"""Published measurements of flash, run from `examples/field`, inside the tolerance that each case states."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

pytestmark = pytest.mark.evidence
FIELD = Path(__file__).parents[2] / "examples" / "field"


def case(evidence: Path, name: str) -> dict[str, Any]:
    cases = tomllib.loads((evidence / "field-measurements.toml").read_text(encoding="utf-8"))["case"]
    return next(item for item in cases if item["id"] == name)


def rate_per_s(array: str, workload: str, stream: str = "reads") -> float:
    """Requests per second of the stream of that name, or of the only one."""
    result = simulate(
        Array.load(FIELD / f"{array}.toml"),
        Workload.load(FIELD / f"{workload}.toml"),
        n_requests=20_000,
    )
    by_stream = result.iops_by_stream
    return float(by_stream.get(stream, sum(by_stream.values())))


@pytest.mark.parametrize("pattern", ["read", "randread", "write", "randwrite"])
def test_4k_at_queue_depth_32(evidence: Path, pattern: str) -> None:
    measured = case(evidence, "fio-qd32-4k-by-interface")
    row = next(r for r in measured["rows"] if r["drive"] == "SSD" and r["pattern"] == pattern)
    predicted = rate_per_s("flash-qd32", f"flash-qd32-{pattern}")
    assert predicted == pytest.approx(row["iops"], rel=measured["tolerance"])


@pytest.mark.parametrize(
    ("row", "array", "workload"),
    [
        (0, "flash-interference-mlc", "flash-40-readers"),
        (1, "flash-interference-mlc", "flash-40-readers-writes"),
        (2, "flash-interference-mlc", "flash-40-paced-readers-writes"),
        (3, "flash-interference-slc", "flash-40-readers"),
        (4, "flash-interference-slc", "flash-40-slow-readers-writes"),
    ],
)
def test_reads_against_writes(evidence: Path, row: int, array: str, workload: str) -> None:
    measured = case(evidence, "flash-read-write-interference")
    predicted = rate_per_s(array, workload)
    assert predicted == pytest.approx(measured["rows"][row]["reads"], rel=measured["tolerance"])

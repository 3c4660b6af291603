"""The model against Linux's own RAID over disks that are equations: nothing is fitted, everything is known.

Random rows are simulated with the requests that were measured, from eight moments (`measured_again`); the measured
figures themselves carry 1.5 % bins in p99.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.validation.md import md_raid

ROWS = md_raid.rows()
RANDOM = [row for row in ROWS if not md_raid.setup_of(row).is_sequential]
SEQUENTIAL = [row for row in ROWS if md_raid.setup_of(row).is_sequential]

#: Largest relative difference of a random row.
TOLERANCE = {"iops": 0.03, "mean_ms": 0.04, "p99_ms": 0.08}
#: Sequential (level, pattern, depth) that md does differently; the same page says how.
DONE_DIFFERENTLY = {
    (
        "RAID5",
        "seqwrite 1M RA",
        1,
    ): "md sent 6.9 commands a request; in the testbed it sends 6.3, and so does the model",
}


def _name(row: dict[str, str]) -> str:
    return "-".join((row["level"], row["disks"], row["pattern"], row["queue_depth"], row["dir"])).replace(" ", "_")


def _grouped(rows: list[dict[str, str]]) -> list[object]:
    """The rows as parameters; those of one run are tested by one worker, which simulates it once."""
    return [
        pytest.param(row, id=_name(row), marks=pytest.mark.xdist_group(f"md-raid {md_raid.setup_of(row)}"))
        for row in rows
    ]


@pytest.mark.slow
@pytest.mark.parametrize("figure", TOLERANCE)
@pytest.mark.parametrize("row", _grouped(RANDOM))
def test_random_rows(row: dict[str, str], figure: str) -> None:
    figures, _, _ = md_raid.measured_again(md_raid.setup_of(row))
    simulated = getattr(figures[md_raid.DIRECTIONS[row["dir"]]], figure)
    assert simulated == pytest.approx(float(row[figure]), rel=TOLERANCE[figure])


@pytest.mark.slow
@pytest.mark.parametrize("row", _grouped([row for row in RANDOM if row["member_reads_per_op"]]))
def test_member_operations(row: dict[str, str]) -> None:
    _, reads, writes = md_raid.measured_again(md_raid.setup_of(row))
    assert reads == pytest.approx(float(row["member_reads_per_op"]), rel=0.02, abs=1e-3)
    assert writes == pytest.approx(float(row["member_writes_per_op"]), rel=0.02, abs=1e-3)


@pytest.mark.evidence
def test_the_requests_are_those_that_were_recorded(evidence: Path) -> None:
    """Every request of a mix to a single disk: 2,778 addresses and operations in order."""
    setup = md_raid.Setup("single", 1, "mix70", 16)
    with gzip.open(evidence / "md-raid-traces" / "single_qd16_mix70.disks.csv.gz", "rt") as file:
        recorded = sorted(csv.DictReader(file), key=lambda row: int(row["arrive_ns"]))
    requests = md_raid.fio_requests(setup, 16 << 30, len(recorded))
    np.testing.assert_array_equal(requests.offset, [int(row["lba"]) * 512 for row in recorded])
    np.testing.assert_array_equal(requests.op, [int(row["op"] == "W") for row in recorded])


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("level", "pattern", "run"),
    [("RAID10", "mix70", "r10_n4_qd8_mix70"), ("RAID5", "randwrite", "r5_n4_qd8_randwrite")],
)
def test_the_arrays_are_as_large_as_those_that_were_recorded(
    level: str, pattern: str, run: str, evidence: Path
) -> None:
    """Every recorded address is one of fio's, which depend on the size of the array."""
    setup = md_raid.Setup(level, 4, pattern, 8)
    with gzip.open(evidence / "md-raid-traces" / f"{run}.host.csv.gz", "rt") as file:
        recorded = [int(line.split(",")[4]) for line in list(file)[1:]]
    requests = md_raid.fio_requests(setup, md_raid.array_of(setup).usable_bytes, len(recorded) + setup.depth)
    assert set(recorded) <= set(requests.offset.tolist())


@pytest.mark.parametrize("row", _grouped(SEQUENTIAL))
def test_sequential_rows(row: dict[str, str], request: pytest.FixtureRequest) -> None:
    setup = md_raid.setup_of(row)
    why = DONE_DIFFERENTLY.get((setup.level, setup.pattern, setup.depth))
    if why:
        request.applymarker(pytest.mark.xfail(strict=True, reason=why))
    figures, _, _ = md_raid.sequential(setup)
    simulated = figures[md_raid.DIRECTIONS[row["dir"]]]
    assert simulated.iops == pytest.approx(float(row["iops"]), rel=0.10)
    assert simulated.mean_ms == pytest.approx(float(row["mean_ms"]), rel=0.10)


def test_a_long_write_to_pairs_becomes_ten_commands() -> None:
    """md counts strips of 64 KiB: 0.625 member writes for each of the 16 of a request (rule L14)."""
    row = next(
        row for row in SEQUENTIAL if md_raid.setup_of(row).level == "RAID10" and row["member_writes_per_op"] == "0.625"
    )
    assert md_raid.sequential(md_raid.setup_of(row))[2] == 16 * 0.625


@pytest.mark.parametrize(
    ("level", "disks", "pattern", "depth"),
    [("RAID0", 4, "randread", 8), ("RAID10", 4, "randread", 8), ("RAID5", 4, "mix70", 1), ("RAID1", 2, "mix70", 8)],
)
def test_a_few_rows_in_short(level: str, disks: int, pattern: str, depth: int) -> None:
    """Kept in the fast part of the suite: one moment."""
    setup = md_raid.Setup(level, disks, pattern, depth)
    figures, _, _ = md_raid.measured_again(setup, starts=(0,))
    for row in (row for row in RANDOM if md_raid.setup_of(row) == setup):
        figure = figures[md_raid.DIRECTIONS[row["dir"]]]
        assert figure.iops == pytest.approx(float(row["iops"]), rel=0.03)
        assert figure.mean_ms == pytest.approx(float(row["mean_ms"]), rel=0.04)

"""The model against the project's own md measurements: other widths, RAID 6, lost disks, a bitmap.

Nothing is fitted, and each run is simulated with its own requests from the moment at which it began.
"""

from __future__ import annotations

import pytest

from tests.validation.md import md_raid_own
from tests.validation.md.md_raid import DIRECTIONS

ROWS = md_raid_own.rows()
MODELLED = [row for row in ROWS if row["option"] not in md_raid_own.UNKNOWN]

#: Largest relative difference, of random and of sequential rows.
TOLERANCE = {"iops": 0.03, "mean_ms": 0.04, "p99_ms": 0.08}
SEQUENTIAL = {"iops": 0.10, "mean_ms": 0.10}

STRIPES = "whether md's thread sees requests of one instant alone or together, which the kernel's scheduler decides"
#: Figures that are outside, by run and direction, with the reason as far as it is known.
OUTSIDE: dict[tuple[str, str, str], str] = {
    ("RAID5,4,0,stripe cache 1024,seqwrite,8", "write", "iops"): STRIPES,
    ("RAID5,4,0,stripe cache 1024,seqwrite,8", "write", "mean_ms"): STRIPES,
    ("RAID5,4,0,stripe cache 4096,seqwrite,8", "write", "iops"): STRIPES,
    ("RAID5,4,0,stripe cache 4096,seqwrite,8", "write", "mean_ms"): STRIPES,
    ("RAID5,4,0,group threads 2,seqwrite,4", "write", "iops"): STRIPES,
}


def _parameters() -> list[object]:
    found = []
    for row in MODELLED:
        setup = md_raid_own.setup_of(row)
        for figure in SEQUENTIAL if setup.is_sequential else TOLERANCE:
            why = OUTSIDE.get((setup.name, row["dir"], figure))
            marks: list[pytest.MarkDecorator] = [pytest.mark.xdist_group(f"own {setup.name}")]
            if why:
                marks.append(pytest.mark.xfail(strict=True, reason=why))
            name = f"{setup.name}-{row['dir']}-{figure}".replace(" ", "_")
            found.append(pytest.param(row, figure, id=name, marks=marks))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("row", "figure"), _parameters())
def test_rows(row: dict[str, str], figure: str) -> None:
    setup = md_raid_own.setup_of(row)
    figures, _, _ = md_raid_own.simulated(setup)
    simulated = getattr(figures[DIRECTIONS[row["dir"]]], figure)
    allowed = (SEQUENTIAL if setup.is_sequential else TOLERANCE)[figure]
    assert simulated == pytest.approx(float(row[figure]), rel=allowed)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["stripe cache 1024", "stripe cache 4096", "group threads 2"])
def test_what_changes_nothing_for_random_writes(option: str) -> None:
    """A larger stripe cache and more threads: within the sampling error of the array without them."""
    plain, other = (
        next(row for row in ROWS if md_raid_own.setup_of(row).name == f"RAID5,4,0,{name},randwrite,32")
        for name in ("", option)
    )
    assert float(other["iops"]) == pytest.approx(float(plain["iops"]), rel=0.015)


@pytest.mark.parametrize(
    "name",
    [
        "RAID5,3,0,,randwrite,8",
        "RAID5,4,0,,seqwrite,1",
        "RAID6,6,1,,randread,8",
        "RAID10,6,0,,mix70,8",
        "RAID5,8,1,,mix70,1",
    ],
)
def test_a_few_rows_in_short(name: str) -> None:
    """Kept in the fast part of the suite."""
    for row in (row for row in ROWS if md_raid_own.setup_of(row).name == name):
        figures, reads, writes = md_raid_own.simulated(md_raid_own.setup_of(row))
        assert figures[DIRECTIONS[row["dir"]]].iops == pytest.approx(float(row["iops"]), rel=0.03)
        assert reads == pytest.approx(float(row["member_reads_per_op"]), rel=0.02, abs=1e-3)
        assert writes == pytest.approx(float(row["member_writes_per_op"]), rel=0.02, abs=1e-3)

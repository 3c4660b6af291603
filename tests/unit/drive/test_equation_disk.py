"""Geometry and seek table of the equation disk against the requests recorded on it."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from diskmodel.drive import Hdd, catalogue
from diskmodel.drive.geometry import place_of


@pytest.mark.evidence
@pytest.mark.parametrize("run", ["single_qd16_mix70", "r5_n4_qd8_randwrite", "r10_n4_qd8_mix70"])
def test_every_recorded_seek_is_the_tables(run: str, evidence: Path) -> None:
    drive = catalogue()["md-raid-10k"]
    assert isinstance(drive, Hdd)
    tables = drive.tables()
    with gzip.open(evidence / "md-raid-traces" / f"{run}.disks.csv.gz", "rt") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (int(row["disk"]), int(row["start_ns"])))
    disk, lba, n, recorded = (np.array([int(row[key]) for row in rows]) for key in ("disk", "lba", "n", "seek_ns"))
    is_write = np.array([row["op"] == "W" for row in rows])
    first, last = place_of(tables, lba), place_of(tables, lba + n - 1)

    move = tables.seek_ns[np.abs(first.cylinder[1:] - last.cylinder[:-1])]
    move = np.maximum(move, np.where(first.head[1:] != last.head[:-1], tables.head_switch_ns, 0))
    move = move + np.where(is_write[1:] & (move > 0), tables.write_settle_ns, 0)
    same_disk = disk[1:] == disk[:-1]
    one_track = (first.cylinder == last.cylinder)[1:] & (first.head == last.head)[1:]
    difference = (move - recorded[1:])[same_disk & one_track]
    assert len(difference) > 2000
    # the recording disk takes the square root to three decimals: up to 25.79 ns less than the curve
    assert difference.min() >= -1
    assert difference.max() <= 27

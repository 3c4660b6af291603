"""The kernel's work for a host I/O, in events and instructions, does not grow unnoticed (benchmarks/bench_work.csv)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench_work import SCENES, Work, grown, kept

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_growth_beyond_the_limit_is_reported() -> None:
    before = [Work("reads", 3.0, 2800.0), Work("writes", 9.0, 10_000.0)]
    after = [Work("reads", 3.08, 2900.0), Work("writes", 9.5, 10_250.0), Work("erasures", 1.0, 1.0)]
    assert grown(before, after, with_instructions=True) == [
        "reads: 2,900 instructions an I/O instead of 2,800",
        "writes: 9.50 events an I/O instead of 9.00",
        "erasures: not in bench_work.csv",
    ]
    assert len(grown(before, after, with_instructions=False)) == 2


def test_the_table_has_every_scene() -> None:
    _, rows = kept()
    assert [row.scene for row in rows] == [scene[0] for scene in SCENES]


@pytest.mark.slow
@pytest.mark.long
def test_no_scene_takes_more_work_than_the_table() -> None:
    if shutil.which("valgrind") is None:
        if os.environ.get("DISKMODEL_REQUIRE_VALGRIND") == "1":
            pytest.fail("Valgrind is not installed, but DISKMODEL_REQUIRE_VALGRIND=1", pytrace=False)
        pytest.skip("Valgrind is not installed")
    done = subprocess.run([sys.executable, BENCHMARKS / "bench_work.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""Commits of consumer flash drives: what sixteen of them made (`tests/data/commits.csv`) and what is said of one."""

import csv
import math
from pathlib import Path
from statistics import median, stdev

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.drive import load_drive
from diskmodel.uncertainty.spread import Spread, spread_of
from tests.validation.coverage.spread import PRIORS, after
from tests.validation.flash.steady import sata_write_latencies

TABLE = Path(__file__).parents[2] / "data" / "commits.csv"
COMMITS = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0.0, "sync": "fdatasync"})


def measured() -> list[float]:
    """Commits per second of a single client on each drive."""
    with TABLE.open() as file:
        return [float(row["commits_per_s"]) for row in csv.DictReader(file) if "sync" in row["load"]]


def test_the_spread_of_flushes_is_that_of_the_drives() -> None:
    logs = [-math.log(rate) for rate in measured()]
    known = spread_of("flash-sata-consumer", "flash_flush")
    assert known is not None
    assert known.log_sd == pytest.approx(stdev(logs), rel=0.05)
    assert known.dof == len(logs) - 1


def test_a_drive_left_out_is_inside_what_the_others_show() -> None:
    logs = [-math.log(rate) for rate in measured()]
    inside = {1.2816: 0, 1.96: 0}
    for i, own in enumerate(logs):
        others = logs[:i] + logs[i + 1 :]
        spread = Spread(math.exp(median(others)), stdev(others), len(others) - 1)
        for score in inside:
            inside[score] += spread.log_factor(-score) <= own <= spread.log_factor(score)
    # of eight in ten and of 95 %
    assert 11 <= inside[1.2816] <= 15
    assert inside[1.96] >= 15


def test_commits_of_a_drive_without_protection_have_the_middle_and_the_ends_of_the_measured() -> None:
    result = simulate(Array("samsung-870-evo-1tb", "jbod", 1), COMMITS, n_requests=300)
    rates = measured()
    assert result.iops.mean == pytest.approx(1 / median([1 / rate for rate in rates]), rel=0.05)
    ends = result.interval_of("iops")
    assert sum(ends.low <= rate <= ends.high for rate in rates) >= 15
    middle = result.middle_of("iops")
    assert middle is not None
    assert 11 <= sum(middle.low <= rate <= middle.high for rate in rates) <= 15


def test_the_spread_of_writes_on_sata_is_that_of_six_models() -> None:
    logs = sata_write_latencies()
    assert len(logs) == 6
    found = after(PRIORS["flash", "flash_write_latency"], [[one] for one in logs], is_rate=False)
    known = spread_of("flash-sata", "flash_write_latency")
    assert known is not None
    assert known.log_sd == pytest.approx(found.log_sd, abs=1e-3)
    assert (known.median, known.dof) == (
        pytest.approx(math.exp(found.center), abs=1e-3),
        pytest.approx(found.dof, abs=0.01),
    )


def test_a_flush_that_is_given_is_known() -> None:
    drive = load_drive("samsung-870-evo-1tb").model_copy(update={"flush_ns": 2_400_000})
    ends = simulate(Array(drive, "jbod", 1), COMMITS, n_requests=300).interval_of("iops")
    assert ends.high < 1.1 * ends.low

"""Plan files: what the how-to says can be written can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, with_drives
from tests.unit.plan.fakes import plan_of

EXAMPLES = Path(__file__).parents[3] / "examples"

EVERYTHING = """
name = "everything"
workload = "load.toml"

[objective]
iops = 800
throughput = "40 MB/s"
growth = "25%"
years = 3
peak_factor = 1.5
capacity = "2 TB"
capacity_growth = "10%"
fill_limit = "80%"
formatting = "3%"
utilization_ceiling = "70%"
rebuild_hours = 12
data_loss_per_year = "0.01%"
replacement_hours = 8
cost_usd = 20000
rack_units = 4
latency = { p99 = "40 ms", mean = "10 ms", streams = { log = { p999 = "60 ms" } } }
degraded = { failures = 1, load = "80%", latency = { p99 = "80 ms" } }

[candidates]
drives = ["generic-15k", "mine.toml"]
levels = ["raid10", "raid6"]
min_disks = 4
max_disks = 24
strip = ["64 KiB", "256 KiB"]
cache = ["0 B", "1 GiB"]
spares = 1
rebuild = { speed_max = "50 MB/s" }

[controller]
link = "1 GB/s"

[prices]
slot_usd = 90
power_usd_per_kwh = 0.3
"""


def test_every_field_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(EVERYTHING)
    (tmp_path / "load.toml").write_text(
        '[[streams]]\nname = "log"\nsize = "4 KiB"\nread_ratio = 0\nrate = "100/s"\n'
        '[[streams]]\nname = "data"\nsize = "8 KiB"\nrate = "300/s"\n'
    )
    load_drive("generic-10k").model_copy(update={"name": "mine"}).save(tmp_path / "mine.toml")
    plan = PlanDescription.load(tmp_path / "plan.toml")
    assert [drive.name for drive in plan.candidates.drives] == ["Generic 15k rpm SAS", "mine"]
    assert plan.candidates.strip_bytes == (65536, 262144)
    assert plan.candidates.cache_bytes == (0, 1 << 30)
    objective = plan.objective
    assert objective.design_iops == pytest.approx(800 * 1.25**3 * 1.5)
    assert objective.usable_bytes == int(2e12 * 1.1**3 / 0.8 / (1 - 0.03))
    assert objective.degraded is not None
    assert objective.degraded.load_ratio == 0.8
    assert objective.latency.streams["log"].limits() == {"p999": 60_000_000}
    (tmp_path / "again.toml").write_text(plan.to_toml())
    assert PlanDescription.load(tmp_path / "again.toml") == plan


def test_the_example_is_valid() -> None:
    plan = PlanDescription.load(EXAMPLES / "plan-oltp.toml")
    assert len(plan.candidates.drives) == 3
    assert plan.workload.offered_rate_per_s == plan.objective.iops


def test_faults_of_a_workload_file_name_it(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(EVERYTHING)
    (tmp_path / "load.toml").write_text('size = "4 KiB"\n')
    with pytest.raises(DescriptionError, match=r"load\.toml"):
        PlanDescription.load(tmp_path / "plan.toml")


def test_unknown_drive_and_level_are_reported_together() -> None:
    with pytest.raises(DescriptionError) as caught:
        plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid7"]}, objective={"iops": -5})
    assert {fault.field.split(".")[0] for fault in caught.value.faults} == {"candidates", "objective"}
    with pytest.raises(DescriptionError, match="generic-15"):
        plan_of(candidates={"drives": ["generic-15"], "levels": ["raid5"]})


def test_drives_are_added_before_the_plans_own() -> None:
    mine = load_drive("generic-10k").model_copy(update={"name": "measured"})
    more = with_drives(plan_of(), [mine])
    assert [drive.name for drive in more.candidates.drives] == ["measured", "Generic 15k rpm SAS"]
    assert with_drives(more, [mine]) == more

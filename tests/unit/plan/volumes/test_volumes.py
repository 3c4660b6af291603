"""Plans of volumes of a cloud: what they cost, and the cheapest that do."""

from __future__ import annotations

import csv
import html
import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.drive import CloudVolume, load_drive
from diskmodel.errors import DescriptionError
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.sheet.report import sheet_csv, sheet_html
from diskmodel.plan.volumes.answer import VolumePlan
from diskmodel.plan.volumes.prices import CloudPrices, VolumePrice
from diskmodel.plan.volumes.search import plan_volumes
from diskmodel.plan.volumes.show import sheet
from tests.unit.cli.commands import EXAMPLES, answer, refusal

PRICES = EXAMPLES / "cloud-prices.toml"
GP3 = {"gib_month": 0.08, "included_iops": 3000, "iops_month": 0.005, "most_iops_per_gib": 500}


def planned(prices: Mapping[str, Any], rate: float, **objective: Any) -> VolumePlan:
    plan = PlanDescription.parse(
        {
            "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "1000/s"},
            "objective": {"iops": rate, **objective},
            "candidates": {"drives": ["aws-gp3"], "levels": ["raid0"]},
        }
    )
    return plan_volumes(plan, CloudPrices.parse({"volumes": prices}))


def volume(name: str, **provisioned: Any) -> CloudVolume:
    drive = load_drive(name)
    assert isinstance(drive, CloudVolume)
    return CloudVolume.parse(drive.provisioned(provisioned))


def test_a_month_as_the_provider_works_it_out() -> None:
    """2,000 GB of gp3 with 10,000 IOPS and 500 MB/s: 0.08 each, 0.005 beyond 3,000 and 0.04 beyond 125."""
    price = CloudPrices.load(PRICES).volumes["aws-gp3"]
    bought = volume("aws-gp3", capacity="2000 GiB", iops=10_000.0, throughput="500 MiB/s")
    assert price.a_month(bought) == pytest.approx(2000 * 0.08 + 7000 * 0.005 + 375 * 0.04)


def test_operations_beyond_a_step_cost_less() -> None:
    price = CloudPrices.load(PRICES).volumes["aws-io2"]
    bought = volume("aws-io2", capacity="100 GiB", iops=50_000.0)
    assert price.a_month(bought) == pytest.approx(12.5 + 32_000 * 0.065 + 18_000 * 0.0455)


def test_the_fewest_operations_that_do_against_every_smaller_number() -> None:
    found = planned({"aws-gp3": {**GP3, "included_iops": 0, "least_iops": 100}}, 4000, capacity="100 GB")
    one = next(one for one in found.candidates if one.count == 1)
    assert one.iops is not None
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "4000/s"})

    def serves(iops: float) -> bool:
        drive = volume("aws-gp3", capacity="94 GiB", iops=iops)
        run = simulate(Array(drive=drive, level="jbod", disks=1), load, n_requests=20_000, profile_draws=0)
        return run.is_stable and run.utilization_ratio < 0.99

    assert serves(one.iops)
    assert not any(serves(one.iops - less) for less in (100, 400))


def test_operations_in_the_price_make_several_volumes_cheaper() -> None:
    """12,000/s at 0.005 beyond 3,000 of each: one pays for 9,000 of them, four for none or for what is spare."""
    found = planned({"aws-gp3": GP3}, 12_000, capacity="1 TB", latency={"p99": "5 ms"})
    assert found.best is not None
    assert found.best.count > 3
    assert found.best.iops == 3000
    assert found.best.latency_p90_ms["p99"] >= found.best.latency_ms["p99"]
    shown = sheet(found)
    text = shown.lines()
    assert text[0].startswith(f"{found.best.count} × AWS EBS gp3 (")
    assert all(len(line) <= 80 for line in text)
    page = sheet_html(shown)
    assert page.count('<tr class="best">') == 1
    row = page[page.index('<tr class="best">') :].partition("</tr>")[0]
    assert row.startswith(f'<tr class="best"><td>{found.best.count}<small>recommended</small></td>')
    assert page.count("<svg") == 2
    assert "The question: which volumes, how many of them for 8 KiB uniform" in page
    rows = list(csv.DictReader(io.StringIO(sheet_csv(shown))))
    assert {int(one["count"]) for one in rows} == {one.count for one in found.candidates}
    # what it ends with is the answer again
    described = tomllib.loads(html.unescape(page.partition("# array.toml\n")[2].partition("# workload.toml")[0]))
    assert Array.parse(described) == found.best.array


def test_a_type_whose_size_brings_its_operations_grows_until_it_does() -> None:
    """gp2: three for each GiB."""
    found = planned({"aws-gp2": {"gib_month": 0.1}}, 3300, capacity="100 GB")
    one = next(one for one in found.candidates if one.count == 1)
    assert 1.005 < 3 * one.volume.capacity_bytes / 2**30 / 3300 < 1.03


def test_a_reserve_and_a_latency_that_nothing_meets() -> None:
    reserved = planned({"aws-gp3": GP3}, 6000, utilization_ceiling_ratio=0.8)
    assert all(one.utilization <= 0.8 for one in reserved.candidates)
    never = planned({"aws-gp3": GP3}, 1000, latency={"p50": "0.1 ms"})
    assert not never.is_feasible
    assert "p50" in never.candidates[0].binds
    assert sheet(never).answer[0] == "No provision of these types meets the objective."


def test_the_command(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[volumes.aws-gp3]\ngib_month = 0.08\niops_month = 0.005\nincluded_iops = 3000\n")
    asked = ("plan", "--iops", 5000, "--reads", "70%", "--block", "8k", "--capacity", "1TB", "--cloud-prices", prices)
    found = answer(*asked)
    assert found["best"] == found["candidates"][0]
    assert found["currency"] == "USD"
    assert found["best"]["a_month"] == min(one["a_month"] for one in found["candidates"])
    assert "is for a plan about drives" in refusal(*asked, "--level", "raid5")
    assert "is for a plan about drives" in refusal(*asked, "--plot", "plot.svg")
    behind = answer(*asked, "--block", "64k", "--iops", 20_000, "--controller", "r5b.2xlarge", status=3)
    assert all("the machine's own limit" in one["binds"] for one in behind["candidates"])


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="is not looked at for volumes of a cloud"):
        planned({"aws-gp3": GP3}, 1000, rebuild_hours=3)
    with pytest.raises(DescriptionError, match="is no volume of a cloud"):
        planned({"generic-10k": GP3}, 1000)
    with pytest.raises(DescriptionError, match="give what a volume costs"):
        VolumePrice.parse({"iops_month": 1})
    with pytest.raises(DescriptionError, match="must begin at rising rates"):
        VolumePrice.parse({"gib_month": 1, "cheaper_iops": [[2, 1], [1, 1]]})
    with pytest.raises(DescriptionError, match="is above most_bytes"):
        VolumePrice.parse({"gib_month": 1, "least": "2 GiB", "most": "1 GiB"})

"""Questions in the units of those who ask."""

from typing import Any

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, ask
from diskmodel.plan.question.options import plan_from, plan_options
from diskmodel.plan.question.presets import preset


def asked(**given: Any) -> tuple[PlanDescription, str]:
    plan, notes = plan_from(plan_options(given))
    return plan, "\n".join(notes)


def test_cameras_are_their_bit_rates_for_as_long_as_they_are_kept() -> None:
    plan, notes = asked(cameras=100, bitrate="4Mbit/s", retention="30d")
    assert plan.objective.capacity_bytes == 100 * 500_000 * 86400 * 30
    recording, viewing = plan.design_workload.streams
    assert recording.expected_rate_per_s * recording.mean_size_bytes == pytest.approx(50e6)
    assert viewing.expected_rate_per_s * viewing.mean_size_bytes == pytest.approx(50e6 * 5 / 95)
    assert recording.addresses.n_readers == 100  # type: ignore[attr-defined]
    assert "100 cameras of 4 Mbit/s write 50 MB/s, and 30 days of it are 130 TB" in notes
    assert any("assumed: 100 cameras whose recorder" in note for note in plan.notes)
    assert plan.controller.write_cache is not None


@pytest.mark.parametrize(
    ("given", "iops", "said"),
    [
        ({"desktops": 500}, 2000, "500 desktops of 4 requests/s each (Dell): 2,000/s"),
        ({"machines": 40}, 2000, "40 virtual machines of 50 requests/s each (store-predict, after Dell): 2,000/s"),
        ({"machines": 40, "iops": "700"}, 700, "--iops replaces it"),
        ({"backup": "10TB", "window": "8h"}, 10e12 / 28800 / 2**20, "10 TB in 8 h: 347 MB/s"),
    ],
)
def test_desktops_machines_and_backups_are_rates(given: dict[str, Any], iops: float, said: str) -> None:
    plan, notes = asked(capacity="20TB", **given)
    assert plan.objective.iops == pytest.approx(iops)
    assert plan.objective.capacity_bytes == 20 * 10**12
    assert said in notes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cameras": 100, "bitrate": "4Mbit/s"}, "--retention: is missing, which --cameras needs"),
        ({"window": "8h"}, "--window: needs --backup; write for example: diskmodel plan --backup 10TB --window 8h"),
        ({"desktops": 5, "machines": 5}, "--desktops, --machines: state several loads"),
        ({"cameras": 0}, "--cameras=0: must be at least 1"),
    ],
)
def test_a_part_of_a_unit_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        asked(**given)


def test_a_preset_of_ones_own_stays() -> None:
    plan, _ = plan_from(plan_options({"desktops": 10, "capacity": "1TB"}), preset=preset("vm"))
    assert [stream.name for stream in plan.workload.streams] == [
        s["name"] for s in preset("vm").fields["workload"]["streams"]
    ]


LINE = {"iops": "300", "reads": "70", "block": "8k"}


@pytest.mark.parametrize(
    ("drives", "mean_ms", "source"),
    [
        (["generic-15k", "micron-7450-pro-1920"], 20, "Live Optics"),
        (["micron-7450-pro-1920"], 1, "standard of flash arrays"),
    ],
)
def test_without_a_limit_the_mean_is_limited_as_is_usual_for_the_drives(
    drives: list[str], mean_ms: int, source: str
) -> None:
    plan, notes = asked(drive=drives, **LINE)
    assert plan.objective.latency.limits() == {"mean": mean_ms * 10**6}
    assert f"no --p99: a mean latency of at most {mean_ms} ms (Dell, " in notes
    assert source in notes
    assert plan.objective.capacity_bytes is None
    assert "no --capacity: the data fill the disks" in notes
    assert plan.workload.streams[0].read_ratio == 0.7
    stated, notes = asked(drive=drives, p99="30ms", **LINE)
    assert stated.objective.latency.limits() == {"p99": 30_000_000}
    assert "no --p99" not in notes


def test_a_share_of_reads_of_more_than_one_is_in_percent() -> None:
    assert plan_options({"reads": "1"}) == {"reads": 1.0}
    assert plan_options({"reads": "2.5"}) == {"reads": 0.025}
    with pytest.raises(DescriptionError, match="--reads='700': must be at most 1"):
        plan_options({"reads": "700"})


def test_a_plan_in_one_call_takes_the_options_of_the_command() -> None:
    small = {"drive": "generic-15k", "level": "raid10", "max_disks": 8, "by_chance": False}
    found = ask(iops=300.5, reads=0.7, block="8k", capacity="1 TB", p99="40 ms", **small)  # type: ignore[arg-type]
    assert found.best is not None
    assert (found.best.disks, found.plan.objective.iops) == (8, 300.5)
    with pytest.raises(DescriptionError, match="blocks: is not an option of a plan; did you mean block"):
        ask(iops=300, blocks="8k")

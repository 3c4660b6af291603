"""Pools of OpenZFS as candidates of a plan."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from diskmodel.analytic.estimate import estimate
from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.plan import run_plan
from diskmodel.plan.comparison.compare import degraded_array, rebuilding_array
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.options import plan_from, plan_options
from diskmodel.plan.question.presets import preset
from diskmodel.plan.show.candidates import fullness_words, rebuild_name
from diskmodel.plan.show.cautions import cautions, long_rebuild, rebuild_bound
from diskmodel.plan.trial import beside_rebuild as beside
from diskmodel.plan.trial.rule_of_thumb import rule_of_thumb_disks
from diskmodel.plan.trial.statics import idle_rebuild_hours, rebuilt_bytes, static_criteria, statics
from diskmodel.workload import Workload

pytestmark = pytest.mark.slow

SCRUBBED = {
    "drive": "generic-7k2",
    "layout": {"level": "raidz1", "disks": 6, "rebuild": {"action": "check", "used": "40%"}},
}


def plan_of(**fields: Any) -> PlanDescription:
    data: dict[str, Any] = {
        "workload": {"size": "8 KiB", "rate": "300/s"},
        "objective": {"latency": {"p99": "80 ms"}, "capacity": "8 TB"},
        "candidates": {"drives": ["generic-7k2"], "levels": ["raidz1", "raidz2", "mirror"], "max_disks": 40},
        "layout": {"record": "8 KiB"},
    }
    return PlanDescription.parse({**data, **fields})


def shapes(case: Case, *counts: int) -> list[tuple[int, int]]:
    return [(case.array(n).layout.n_groups, case.array(n).layout.group_disks) for n in counts]


def test_vdevs_are_equal_and_not_wider_than_recommended() -> None:
    _, raidz2, mirror = cases(plan_of())
    assert shapes(raidz2, 6, 9, 10, 12, 27) == [(1, 6), (1, 9), (2, 5), (2, 6), (3, 9)]
    assert shapes(mirror, 2, 12) == [(1, 2), (6, 2)]
    assert 11 not in raidz2.counts
    assert 13 not in mirror.counts
    assert raidz2.array(12).layout.record_bytes == 8192


def test_counts_of_vdevs_may_be_given() -> None:
    base = plan_of().candidates.to_dict()
    (case,) = cases(plan_of(candidates={**base, "levels": ["raidz2"], "groups": [3]}))
    assert shapes(case, 12, 18) == [(3, 4), (3, 6)]


def test_the_rule_of_thumb_counts_vdevs() -> None:
    """300 reads a second are four vdevs of 80; of mirrors space decides."""
    raidz1, _, mirror = cases(plan_of())
    counted = rule_of_thumb_disks(raidz1)
    assert counted is not None
    assert raidz1.array(counted).layout.n_groups >= 4
    counted = rule_of_thumb_disks(mirror)
    assert counted is not None
    assert mirror.array(counted - 2).usable_bytes < mirror.required_bytes <= mirror.array(counted).usable_bytes


def test_records_need_a_pool() -> None:
    with pytest.raises(DescriptionError, match="belong to pools of OpenZFS"):
        plan_of(candidates={"drives": ["generic-7k2"], "levels": ["raid6"], "max_disks": 40})


def test_a_resilver_copies_what_the_plan_stores() -> None:
    """4 TB on twelve disks of RAID-Z2 in two vdevs: as much on each disk, parity and padding included."""
    small = {"latency": {"p99": "80 ms"}, "capacity": "4 TB"}
    _, raidz2, _ = cases(plan_of(layout={"record": "128 KiB"}, objective=small))
    array = raidz2.array(12)
    used = 4e12 / array.usable_bytes
    assert raidz2.used_ratio(array) == pytest.approx(used)
    rebuilding = raidz2.array(12, n_failed=1, is_rebuilding=True)
    assert rebuilding.layout.rebuild is not None
    assert rebuilding.layout.rebuild.used_ratio == pytest.approx(used)
    stored = rebuilt_bytes(rebuilding)
    assert stored == pytest.approx(4e12 / 8, rel=0.05)
    assert rebuilt_bytes(array, used) == pytest.approx(stored, rel=1e-3)
    assert rebuilt_bytes(array) == pytest.approx(stored * 0.8 / used, rel=1e-3)
    assert idle_rebuild_hours(array, used) == pytest.approx(idle_rebuild_hours(array) * used / 0.8, rel=1e-3)


def test_limits_on_a_resilver_apply() -> None:
    """By formula until it is simulated; a pool that is fuller loses data sooner."""
    limits = {"rebuild_hours": 5.0, "data_loss_per_year": 0.01}
    case = cases(plan_of(objective={"latency": {"p99": "80 ms"}, "capacity": "1 TB", **limits}))[1]
    array = case.array(12)
    found = {item.name: item for item in static_criteria(case, array)}
    assert found["rebuild"].figure.value == statics(case, array).rebuild_hours > 0
    assert found["data_loss"].figure.value == statics(case, array).loss_per_year > 0
    fuller = cases(plan_of(objective={"latency": {"p99": "80 ms"}, "capacity": "2 TB"}))[1]
    assert statics(fuller, array).rebuild_hours == pytest.approx(2 * statics(case, array).rebuild_hours, rel=1e-3)
    assert statics(fuller, array).loss_per_year > statics(case, array).loss_per_year


def test_a_resilver_is_called_one() -> None:
    raidz1, _, mirror = (case.array(6) for case in cases(plan_of()))
    raid = Array.from_words("6x generic-7k2 raid5")
    assert rebuild_name([raidz1, mirror]) == "resilver by OpenZFS"
    assert rebuild_name([raidz1, raid]) == "rebuild or resilver"
    assert rebuild_name([raid]) == "rebuild by Linux md"
    behind = Array.from_words("6x generic-7k2 raid5 on h740p")
    assert rebuild_name([behind]) == "rebuild at Linux md's pace"
    assert "controller" in behind.faster_beside
    assert fullness_words([raid]) == ""
    assert "80% full" in fullness_words([raid, mirror])
    scrubbed = Array.parse(SCRUBBED)
    assert fullness_words([raid, scrubbed]) == ""
    assert "80% full where it is not said" in fullness_words([mirror, scrubbed])
    month = long_rebuild(raidz1, 24 * 30)
    assert month.startswith("for 30 days after a disk failed a second failed disk may lose data: OpenZFS resilvers")
    assert "Linux md" not in rebuild_bound(raidz1, 0.1)
    assert rebuild_bound(raidz1, 0.1).endswith("on each disk are resilvered in 0.1 h.")
    assert "Beside the load a resilver yields" in rebuild_bound(raidz1, 1000)


def test_a_scrubbed_pool_is_resilvered_as_full_as_it_is() -> None:
    array = Array.parse(SCRUBBED)
    broken = degraded_array(array)
    assert broken is not None
    rebuild = rebuilding_array(array, broken).layout.rebuild
    assert rebuild is not None
    assert (rebuild.action, rebuild.used_ratio, rebuild.done_ratio) == ("recover", 0.4, 0.5)


def test_clients_that_write_to_pools_are_planned_by_what_was_simulated() -> None:
    """No formula counts what a pool writes, so that trials alone say where to look next."""
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.5, "clients": 16, "span": "20%"},
        "objective": {"iops": 700, "capacity": "1 TB"},
        "candidates": {"drives": ["generic-10k"], "levels": ["mirror"], "max_disks": 40},
        "search": {"requests": 1000},
    }
    found = run_plan(plan_of(**question), with_relaxations=False, with_details=False)
    assert found.best is not None
    assert found.best.disks is not None
    assert found.best.trial is not None
    assert found.best.trial.outcome is not None
    assert found.best.trial.outcome.iops.value >= 700
    with pytest.raises(DescriptionError, match="no formula counts it"):
        estimate(Array("generic-10k", "mirror", 4), Workload.parse({"size": "8 KiB", "read_ratio": 0, "rate": "9/s"}))


def test_sizes_of_records_and_log_devices_are_candidates() -> None:
    """Each of them with each, records of pools alone; and a plan that is saved asks the same."""
    drive = "micron-7450-pro-1920"
    tried = {"levels": ["raid6", "raidz2"], "record_bytes": ["16 KiB", "128 KiB"], "log_devices": ["none", drive]}
    plan = plan_of(candidates={"drives": ["generic-7k2"], "max_disks": 40} | tried, layout={})
    *raid6, _, _, _, _ = cases(plan)
    pools = cases(plan)[2:]
    assert [(case.family.record_bytes, case.family.log_device) for case in raid6] == [(0, "none"), (0, drive)]
    assert [case.array(12).layout.log is not None for case in raid6] == [False, True]
    assert f"strip 64 KiB, journal on {drive}" in str(raid6[-1].family)
    assert 40 not in raid6[-1].counts
    layouts = [case.array(12).layout for case in pools]
    assert [layout.record_bytes for layout in layouts] == [16384, 16384, 131072, 131072]
    assert [layout.log is not None for layout in layouts] == [False, True, False, True]
    saved = cases(PlanDescription.parse(plan.to_dict()))
    chosen = [[(case.family.record_bytes, case.family.log_device) for case in found] for found in (saved, cases(plan))]
    assert chosen[0] == chosen[1]
    assert f", records of 128 KiB, log on {drive}" in str(pools[-1].family)


def test_cache_devices_are_candidates_and_cost_what_their_drives_cost() -> None:
    """Of pools alone, whose ARC has a size; its price comes to that of the log's drive."""
    drive = "micron-7450-pro-1920"
    tried = {"levels": ["raid6", "raidz2"], "cache_devices": ["none", drive], "log_devices": [drive]}
    prices = {"drives_usd": {"generic-7k2": 200.0, "Micron 7450 PRO 1.92 TB": 300.0}, "slot_usd": 10.0}
    controller = {"read_cache": {"size": "64 GiB"}}
    plan = plan_of(candidates={"drives": ["generic-7k2"], "max_disks": 40} | tried, layout={}, controller=controller)
    raid6, without, with_cache = cases(plan)
    assert raid6.family.cache_device == ""
    assert [case.array(12).layout.cache is not None for case in (without, with_cache)] == [False, True]
    assert str(with_cache.family).endswith(f", log on {drive}, cache on {drive}")
    prices["drives_usd"] |= {with_cache.family.drive.name: 200.0}
    priced = cases(plan_of(candidates={"drives": ["generic-7k2"]} | tried, controller=controller, prices=prices))
    costs = [statics(case, case.array(12)).cost_usd for case in priced[1:]]
    assert costs[1] - costs[0] == 310.0
    assert costs[0] == 12 * 210.0 + 310.0


def test_a_log_device_costs_what_its_drive_costs() -> None:
    prices = {"drives_usd": {"generic-7k2": 200.0, "Micron 7450 PRO 1.92 TB": 300.0}, "slot_usd": 10.0}
    candidates = {"drives": ["generic-7k2"], "levels": ["mirror"], "log_devices": ["none", "micron-7450-pro-1920"]}
    plan = plan_of(candidates=candidates, prices=prices)
    names = {case.family.drive.name for case in cases(plan)}
    plan = plan_of(
        candidates=candidates, prices=prices | {"drives_usd": prices["drives_usd"] | dict.fromkeys(names, 200.0)}
    )
    without, with_log = (statics(case, case.array(4)).cost_usd for case in cases(plan))
    assert (without, with_log) == (840.0, 840.0 + 310.0)


SPECIAL = "2x micron-7450-pro-1920"


def special_plan(**more: Any) -> PlanDescription:
    tried = {"drives": ["generic-7k2"], "levels": ["raid6", "raidz2"], "special_devices": ["none", SPECIAL]}
    prices = {"Micron 7450 PRO 1.92 TB": 300.0, load_drive("generic-7k2").name: 200.0}
    return plan_of(candidates={**tried, **more}, prices={"drives_usd": prices})


def test_special_vdevs_are_candidates() -> None:
    """Of pools alone; with room for the metadata of the data that the plan asks for, however large the disks are."""
    raid6, without, with_special = cases(special_plan())
    assert [case.family.special_device for case in (raid6, without, with_special)] == ["", "none", SPECIAL]
    assert str(with_special.family).endswith(f", metadata on {SPECIAL}")
    assert raid6.array(6).layout.special is without.array(6).layout.special is None
    array = with_special.array(6)
    assert array.layout.special is not None
    assert array.layout.special.used_ratio == with_special.used_ratio(array) is not None
    again = cases(PlanDescription.parse(special_plan().to_dict()))
    assert [case.family.special_device for case in again] == ["", "none", SPECIAL]


def test_a_special_vdev_too_small_for_the_data_is_none_of_any_number_of_disks() -> None:
    """Of 500 TB of records of 4 KiB; where a plan asks for no capacity, nothing has to fit."""
    tried = {"levels": ["raidz2"], "record_bytes": ["4 KiB"], "special_devices": [SPECIAL]}
    data = {"candidates": {"drives": ["seagate-exos-x18"], **tried}, "layout": {}}
    (case,) = cases(plan_of(objective={"latency": {"p99": "80 ms"}, "capacity": "500 TB"}, **data))
    assert case.counts == []
    assert "has room for 1.91 TB of metadata, and 500 TB of data" in case.why_no_counts
    (case,) = cases(plan_of(objective={"latency": {"p99": "80 ms"}}, **data))
    assert max(case.counts) == 64


def test_a_special_vdev_costs_all_its_drives_and_can_be_lost() -> None:
    """The pool is lost with either of them: more than without, by the chance of a mirror of two flash drives."""
    _, without, with_special = cases(special_plan())
    prices = without.prices
    figures = [statics(case, case.array(6)) for case in (without, with_special)]
    more = figures[1].cost_usd - figures[0].cost_usd
    drive = load_drive("micron-7450-pro-1920")
    hours = prices.years * 8766
    power = (drive.power_w or 0) * prices.power_factor / 1000 * hours * prices.power_usd_per_kwh
    assert more == pytest.approx(2 * (300 + prices.slot_usd + power))
    assert figures[1].loss_per_year > figures[0].loss_per_year
    assert figures[1].mttdl_hours < figures[0].mttdl_hours


@pytest.mark.parametrize(
    ("candidates", "layout", "message"),
    [
        ({"levels": ["raid6"], "special_devices": [SPECIAL]}, {}, "belongs to pools of OpenZFS"),
        ({"levels": ["raidz2"], "special_devices": [SPECIAL]}, {"special": SPECIAL}, "is given beside layout.special"),
        ({"levels": ["raidz2"], "special_devices": [SPECIAL[3:]]}, {}, "the pool is lost with it"),
        ({"levels": ["raid6"], "record_bytes": ["16 KiB"]}, {}, "belongs to pools of OpenZFS"),
        (
            {"levels": ["raidz2"], "record_bytes": ["16 KiB"]},
            {"record": "8 KiB"},
            "is given beside layout.record_bytes",
        ),
        ({"levels": ["raidz2"], "record_bytes": ["16 KiB", "16 KiB"]}, {}, "a value is given twice"),
        ({"levels": ["raidz2"], "log_devices": ["nonesuch"]}, {}, "neither a file nor a drive"),
        ({"levels": ["raid6"], "cache_devices": ["micron-7450-pro-1920"]}, {}, "belongs to pools of OpenZFS"),
        ({"levels": ["raidz2"], "cache_devices": ["micron-7450-pro-1920"]}, {}, "add the size of the ARC"),
    ],
)
def test_what_pools_cannot_choose(candidates: dict[str, Any], layout: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        plan_of(candidates={"drives": ["generic-7k2"]} | candidates, layout=layout)


@pytest.mark.parametrize(
    ("rebuild", "hours"), [({"action": "check", "used": "40%"}, 3.0), ({"action": "recover"}, None), (None, None)]
)
def test_only_a_pool_that_is_scrubbed_has_hours_of_a_scrub(
    monkeypatch: pytest.MonkeyPatch, rebuild: dict[str, Any] | None, hours: float | None
) -> None:
    monkeypatch.setattr(beside, "beside_rebuild", lambda *_, **__: SimpleNamespace(hours=3.0))
    failed = {"failed": [0], "spares": 1} if rebuild == {"action": "recover"} else {}
    array = Array.parse(
        {"drive": "generic-7k2", "layout": {"level": "raidz1", "disks": 6, "rebuild": rebuild} | failed}
    )
    load = plan_of().workload
    found = beside.scrub_hours(lambda *_, **__: None, array, load, n_requests=1000, seed=0)  # type: ignore[arg-type,return-value]
    assert found == hours if hours else math.isnan(found)


def test_a_plan_beside_a_pool_tries_pools() -> None:
    options = plan_options({"iops": 100, "reads": 1.0, "block": "8k"})
    pool = Array.parse({"drive": "generic-7k2", "layout": {"level": "draid2:4d:11c:1s"}})
    plan, notes = plan_from(options, array=pool)
    assert plan.candidates.levels == ("draid2", "mirror", "raidz1", "raidz2")
    assert "no --level: draid2, mirror, raidz1, raidz2 are tried" in notes


#: A plan that any pool meets, with short runs.
QUICK: dict[str, Any] = {
    "workload": {"size": "8 KiB", "read_ratio": 1.0, "rate": "10/s"},
    "objective": {"latency": {"p99": "500 ms"}, "confidence": 0.5},
    "search": {"requests": 500},
}


@pytest.mark.parametrize(("sequential", "n"), [(True, 1), (None, 0)])
def test_a_plan_says_what_of_its_resilver_was_not_measured(sequential: bool | None, n: int) -> None:
    asked = {"drives": ["generic-7k2"], "levels": ["mirror"], "rebuild": {"sequential": sequential}}
    result = run_plan(plan_of(candidates=asked, **QUICK))
    assert sum("no measurement of a sequential resilver" in line for line in cautions(result)) == n


def test_a_plan_names_draid_as_zpool_takes_it_and_says_its_doubt_once() -> None:
    asked = {"drives": ["generic-7k2"], "levels": ["draid2"], "max_disks": 40}
    layout = {"data_disks": 4, "distributed_spares": 1}
    result = run_plan(plan_of(candidates=asked, layout=layout, **QUICK))
    assert result.best is not None
    assert result.best.array is not None
    width = result.best.array.layout.group_disks
    assert f"dRAID2 of {width} (draid2:4d:{width}c:1s)" in result.best.level_in_words
    assert sum("no measurement of dRAID" in line for line in cautions(result)) == 1


@pytest.mark.parametrize(("policy", "level"), [("ppl", "raid6"), ("bitmap", "raidz2"), ("journal", "raid10")])
def test_a_consistency_policy_that_no_level_has_is_refused(policy: str, level: str) -> None:
    question = {"iops": 100, "reads": 1.0, "block": "8k", "level": [level], "consistency_policy": policy}
    with pytest.raises(DescriptionError, match="none of the levels has it; remove it, or name a level that has"):
        plan_from(plan_options(question))


def test_a_preset_s_cache_of_a_controller_is_left_out_of_pools() -> None:
    """`plan --backup … --level raidz2` found nothing: no pool has a controller's write cache before it."""
    found = {}
    for level in ("raidz2", "raid6"):
        asked = plan_options({"level": [level], "capacity": "10TB", "throughput": "300MB/s"})
        plan, _ = plan_from(asked, preset=preset("backup"))
        found[level] = plan.controller.write_cache
    assert found["raidz2"] is None
    assert found["raid6"] is not None


def test_hours_of_resilvering_shingled_drives_are_not_to_be_relied_on() -> None:
    for level, said in (("raidz1", "is not predicted"), ("raid5", "no measurement of such a rebuild")):
        doubts = Array.from_words(f"4x seagate-archive-st8000as0002 {level}").doubts
        assert any("SMR" in doubt and said in doubt for doubt in doubts)
    assert not Array.from_words("4x seagate-exos-x18 raid5").doubts

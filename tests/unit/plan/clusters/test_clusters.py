"""Plans of nodes and drives of clusters."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload
from diskmodel.drive.cluster.words import is_scheme, scheme_of_words
from diskmodel.errors import DescriptionError
from diskmodel.plan.clusters.answer import ClusterPlan
from diskmodel.plan.clusters.search import MOST_DRIVES, plan_clusters
from diskmodel.plan.clusters.show import sheet
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.sheet.report import content
from diskmodel.plan.show.report import markdown_of
from tests.unit.cli.commands import answer, refusal, run

pytestmark = pytest.mark.slow

ASKED = ("plan", "--drive", "samsung-pm983-1920", "--iops", 2000, "--reads", "70%", "--block", "4k")


def planned(scheme: str, drive: str = "samsung-pm983-1920", rate: float = 2000, **objective: object) -> ClusterPlan:
    plan = PlanDescription.parse(
        {
            "workload": {"size": "4 KiB", "read_ratio": 0.7, "rate": "1000/s"},
            "objective": {"iops": rate, **objective},
            "candidates": {"drives": [drive], "levels": ["raid10"]},
        }
    )
    return plan_clusters(plan, [scheme])


def test_the_fewest_drives_that_hold_the_data_with_a_node_failed() -> None:
    """Of 1.92 TB, three copies and 85 %: 4 nodes hold 3/4 of what they have, so that a failed one can be copied."""
    found = planned("ceph 4 nodes, replica 3, 25GbE", capacity="4 TB", latency={"p99": "20 ms"})
    (best,) = found.candidates
    each = 1.92e12 / 3 * 0.85
    assert best.drives_per_node == -(-4e12 // (3 * each))
    assert best.usable_bytes == pytest.approx(3 * best.drives_per_node * each, rel=1e-3)
    assert best.heals
    assert best.recovery_hours == best.pool.recovery_hours
    assert best.whole is not None
    assert best.whole.bad_p99_ms >= best.whole.p99_ms
    assert best.recovering is not None
    assert best.recovering.p99_ms > best.whole.p99_ms
    text = sheet(found).lines()
    assert text[0] == "4 nodes with 3 × Samsung PM983 1.92 TB each, ceph 4 nodes, replica 3, 25GbE."
    assert all(len(line) <= 80 for line in text[1:])
    written = markdown_of(content(sheet(found)))
    assert "## Candidates: Samsung PM983 1.92 TB, ceph 4 nodes, replica 3, 25GbE" in written
    assert "| nodes | drives each | drives | usable |" in written
    assert "one drive a node fewer holds too little |" in written


def test_flushes_of_consumer_drives_make_a_limit_infeasible() -> None:
    """A write takes two flushes of 1.4 ms, however many drives there are."""
    found = planned("ceph 3 nodes", "samsung-870-evo-1tb", rate=200, latency={"p99": "2 ms"})
    assert not found.is_feasible
    assert found.candidates[0].drives_per_node == MOST_DRIVES
    assert "p99" in found.candidates[0].binds


def test_no_more_drives_than_asked() -> None:
    found = answer(*ASKED, "--capacity", "20TB", "--max-disks", 9, "--level", "ceph 3 nodes", status=3)
    assert found["best"] is None
    assert found["candidates"][0]["binds"] == "holds too little"


def test_a_limit_of_recovery_is_kept() -> None:
    slow = planned("ceph 4 nodes, 1GbE", latency={"p99": "50 ms"}, rate=100, rebuild_hours=1.0)
    assert not slow.is_feasible
    assert "recovery takes" in slow.candidates[0].binds


def test_a_command_in_json_can_be_repeated() -> None:
    found = answer(*ASKED, "--p99", "20ms", "--level", "ceph 3 nodes, replica 3, 25GbE")
    best = found["best"]
    assert (best["nodes"], best["drives_per_node"], best["disks"]) == (3, 1, 3)
    assert best["feasible"]
    assert best["decided"]
    assert Array.parse(best["array"]).drive.kind == "cluster"
    assert Workload.parse(found["workload"]).is_open


def test_what_is_refused() -> None:
    said = refusal(*ASKED, "--level", "ceph replica 3", "--level", "raid10")
    assert "are pools of clusters and levels of one array together" in said
    assert "is about a cluster" in refusal(*ASKED, "--level", "ceph replica 3", "--sensitivity")
    assert "--write-cache='1GiB': is for a plan about arrays" in refusal(
        *ASKED, "--level", "ceph replica 3", "--write-cache", "1GiB"
    )
    assert "objective.confidence" in refusal(*ASKED, "--level", "ceph replica 3", "--confidence", "95%")
    assert "names its drives" in refusal(*ASKED, "--level", "ceph 3 nodes, 2x samsung-pm983-1920 each")
    assert "says what failed" in refusal(*ASKED, "--level", "ceph 3 nodes, one node failed")
    assert "is not looked at for pools of clusters" in refusal(
        "plan", "--drive", "samsung-pm983-1920", "--commits", "500/s", "--level", "ceph replica 3"
    )
    assert run(*ASKED, "--level", "ceph purple").exit_code == 2


def test_schemes() -> None:
    assert is_scheme("ceph replica 3, 25GbE")
    assert is_scheme("proxmox")
    assert not is_scheme("raid10")
    assert not is_scheme("ceph 3 nodes, 2x samsung-pm983-1920 each")
    with pytest.raises(DescriptionError, match="names its drives"):
        scheme_of_words("ceph 2x samsung-pm983-1920 each")

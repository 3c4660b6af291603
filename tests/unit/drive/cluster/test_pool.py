"""Pools of clusters: their words, what follows from a description, what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel import Array
from diskmodel.drive import parse_drive
from diskmodel.drive.cluster.description import ClusterPool
from diskmodel.drive.cluster.software import SOFTWARE
from diskmodel.drive.cluster.words import cluster_of_words
from diskmodel.drive.description import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.uncertainty.spread import spread_of

WORDS = "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3"


def pool(words: str = WORDS) -> ClusterPool:
    drive = Array(words).drive
    assert isinstance(drive, ClusterPool)
    return drive


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("ceph 6 nodes, 2x pm983 each, 3 copies", {"nodes": 6, "drives": 2, "drive": "pm983", "replicas": 3}),
        ("Ceph on 4 hosts, 10 Samsung PM983 per node", {"nodes": 4, "drives": 10, "drive": "Samsung-PM983"}),
        ("proxmox, 2x pm983", {"nodes": 3, "network": "10 Gbit/s", "drives": 2, "drive": "pm983"}),
        ("rook 5 nodes, 1x pm983", {"nodes": 5, "round_trip": "120 us"}),
        ("ceph 8 nodes, 1x pm983, EC 4+2", {"data": 4, "parity": 2}),
        ("ceph 8 nodes, 1x pm983, db on 2x micron-7450", {"db": "micron-7450", "db_drives": 2}),
        ("ceph 8 nodes, 1x pm983, 25 GbE, 32 cores", {"network": "25 Gbit/s", "cores": 32}),
        ("ceph 8 nodes, 1x pm983, 12 clients, tuned", {"clients": 12, "power_saving": False}),
        ("ceph 8 nodes, 1x pm983, Octopus", {"release": "octopus"}),
        ("ceph 8 nodes, 1x pm983, one node failed, recovering", {"failed_nodes": 1, "recovers": True}),
        ("ceph 8 nodes, 1x pm983, 256 pgs, 2 osds per drive", {"placement_groups": 256, "osds_per_drive": 2}),
        ("ceph 8 nodes, 1x pm983, nearfull 80%", {"nearfull_ratio": "80%"}),
        ("ceph 4 nodes, 4x pm983, ec 4+2, failure domain osd", {"failure_domain": "osd"}),
    ],
)  # fmt: skip
def test_words(words: str, fields: dict[str, Any]) -> None:
    found = cluster_of_words(words)
    assert {name: found[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ceph 6 nodes", "does not say how many drives of which kind each node has"),
        ("ceph 2x samsung-pm983-1920 each", "does not say how many nodes there are"),
        ("ceph 6 nodes, 2x samsung-pm983-1920 each, purple", "'purple', which is not known of a cluster"),
        ("ceph 6 nodes, 2x samsung-pm983-1920, replica 3, 2 copies", "says replicas twice"),
        ("ceph 2 nodes, 2x samsung-pm983-1920, replica 3", "copies or fragments go to 3 nodes, and there are 2"),
        ("ceph 3 nodes, 2x samsung-pm983-1920, replica 3, ec 2+1", "has copies or is erasure-coded"),
        ("ceph 3 nodes, 2x samsung-pm983-1920, 2 nodes failed", "serves requests with 1 fewer at most"),
        ("ceph 3 nodes, 2x samsung-pm983-1920, one node failed, recovering", "no node is left to copy to"),
        ("ceph 3 nodes, 2x samsung-pm983-1920, recovering", "nothing has failed"),
        ("ceph 3 nodes, 2x samsung-pm983-1920, jewel", "keep data in FileStore, which writes all of it twice"),
    ],
)
def test_what_is_refused(words: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        Array(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("drbd, 1x samsung-pm983-1920, ec 1+1", "data: erasure codes of DRBD are not modeled"),
        ("vitastor 4 nodes, 1x samsung-pm983-1920, squid", "release: is modeled of Ceph alone"),
        ("drbd 3 nodes, 1x samsung-pm983-1920, one node failed, recovering", "recovers: is modeled of Ceph alone"),
        ("linstor, 1x samsung-pm983-1920", "does not say how many nodes there are"),
    ],
)
def test_what_other_software_refuses(words: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        Array(words)


def test_other_software_has_its_own_costs_and_habits() -> None:
    """DRBD: a pair that stores what one of its nodes holds, used from one node; other costs may be given."""
    pair = pool("drbd, 2x samsung-pm983-1920 each")
    assert (pair.nodes, pair.width, pair.n_clients, pair.software) == (2, 2, 1, "drbd")
    assert pair.capacity_bytes == pytest.approx(2 * pair.drive.capacity_bytes, rel=1e-6)
    assert pair.costs == SOFTWARE["drbd"].costs
    assert pair.name == "DRBD on 4 Samsung PM983 1.92 TB, replica 2"
    assert pair.broken() is not None
    old = pool("vitastor 3 nodes, 1x samsung-pm983-1920, old store")
    assert (old.costs.later_writes, old.costs.message_ns) == (2, SOFTWARE["vitastor"].costs.message_ns)
    assert parse_drive(old.model_dump()) == old
    # a round trip between two programs has their own messages in it
    assert old.trip_ns == old.own_round_trip_ns // 2 - 2 * old.costs.message_ns
    assert not old.other_programs()
    assert pool("ideal 6 nodes, 2x samsung-pm983-1920 each, ec 4+2").scheme == "ec 4+2"
    assert all(trouble.change(old, 2.0) is None for trouble in old.troubles)


@pytest.mark.parametrize(
    "words", ["drbd, 1x", "replicated 3 nodes, 1x", "mirrored 2 nodes, 1x", "vitastor 3 nodes, 2x"]
)
def test_other_software_has_a_rated_rate(words: str) -> None:
    """Drives limit where no program does."""
    found = pool(f"{words} samsung-pm983-1920")
    assert 0 < found.rated_iops <= found.n_drives * found.drive.rated_iops
    assert found.doubt


def test_a_level_of_ceph_leads_to_its_words() -> None:
    with pytest.raises(DescriptionError, match="is a pool of a Ceph cluster, an array of its own"):
        Array("samsung-pm983-1920", "ceph replica 3", 6)
    with pytest.raises(DescriptionError, match='diskmodel capacity "ceph 6 nodes'):
        Array("6x samsung-pm983-1920 rbd")


def test_what_can_be_stored() -> None:
    raw = 12 * load_drive("samsung-pm983-1920").capacity_bytes
    assert pool().capacity_bytes == pytest.approx(raw / 3 * 0.85, rel=1e-6)
    assert pool(f"{WORDS.rpartition(',')[0]}, ec 4+2, nearfull 80%").capacity_bytes == pytest.approx(
        raw * 2 / 3 * 0.8, rel=1e-6
    )
    assert Array(WORDS).title == "Ceph on 12 Samsung PM983 1.92 TB, replica 3"


def test_as_a_file_and_back() -> None:
    data = {
        "kind": "cluster",
        "nodes": 4,
        "drives": 3,
        "drive": "samsung-pm983-1920",
        "replicas": 2,
        "network": "25 Gbit/s",
    }
    array = Array.parse({"drive": data, "layout": {"level": "jbod", "disks": 1}})
    assert Array.parse(array.to_dict() if hasattr(array, "to_dict") else array.model_dump()) == array
    again = parse_drive(array.drive.model_dump())
    assert again == array.drive


def test_how_many_may_be_missing() -> None:
    """`min_size` of Ceph: half of the copies and one more; k and one more fragments where there are two for parity."""
    assert [pool(f"ceph 6 nodes, 1x samsung-pm983-1920, replica {n}").survives for n in (2, 3, 4)] == [1, 1, 2]
    assert [pool(f"ceph 6 nodes, 1x samsung-pm983-1920, ec {code}").survives for code in ("4+2", "3+1", "3+3")] == [
        1,
        1,
        2,
    ]


def test_placement_groups_are_a_hundred_of_an_osd() -> None:
    assert pool().n_groups == 512
    assert pool("ceph 3 nodes, 1x samsung-pm983-1920").n_groups == 128


def test_recovery_goes_as_fast_as_drives_daemons_or_the_network() -> None:
    """Eleven nodes read and write with half of what 0.9 GB/s of each daemon allow, or of 10 GbE."""
    slow = pool("ceph 12 nodes, 2x samsung-pm983-1920, 10GbE")
    assert slow.recovery_bytes_per_s == pytest.approx(min(11 * 2 * 0.9e9 * 0.5 / 2, 11 * 1.25e9 * 0.5))
    assert slow.recovery_hours == pytest.approx(2 * slow.drive.capacity_bytes * 0.85 / slow.recovery_bytes_per_s / 3600)
    assert pool("ceph 12 nodes, 2x samsung-pm983-1920, ec 4+2").recovery_hours > slow.recovery_hours


def test_loss_by_hand() -> None:
    """Two copies on two nodes with one drive each: the second fails while the first is being copied."""
    two = pool("ceph 2 nodes, 1x samsung-pm983-1920, replica 2")
    fail, hours = 1 / 2e6, two.recovery_hours
    assert two.mttf_hours == pytest.approx(1 / (2 * fail * fail * hours))
    assert pool().mttf_hours > 1000 * two.mttf_hours


@pytest.mark.parametrize("more", ["", ", tuned"])
@pytest.mark.parametrize("drive", ["samsung-pm983-1920", "samsung-870-evo-1tb"])
def test_its_class_has_spreads(drive: str, more: str) -> None:
    name = pool(f"proxmox, 1x {drive}{more}").spread_class
    for quantity in ("flash_read_time", "flash_write_latency", "tail", "write_tail"):
        spread = spread_of(name, quantity)
        assert spread is not None
        assert math.isfinite(spread.log_sd)


def test_another_drive_takes_the_place_of_its_drives() -> None:
    old = pool(f"{WORDS}, 25GbE, tuned")
    new = old.replaced_by(load_drive("micron-7450-pro-1920"))
    assert (new.nodes, new.network_bytes_per_s) == (6, old.network_bytes_per_s)
    assert not new.power_saving
    assert new.name == "Ceph on 12 Micron 7450 PRO 1.92 TB, replica 3"
    assert old.replaced_by(new) is new


def test_what_nothing_reads_is_named() -> None:
    """Fields of its drives are read by the trials of each alone."""
    fields = {"kind": "cluster", "nodes": 3, "drive": "seagate-exos-x18", "db_drives": 2}
    array = Array(drive=fields, layout={"level": "jbod", "disks": 1})
    assert dict(array.unread(array)) == {"drive.db_drives": "with db"}
    disks = Array("ceph 3 nodes, 4x seagate-exos-x18")
    assert dict(disks.unread(disks)) == {}


def test_a_node_may_fail() -> None:
    whole = pool("ceph 4 nodes, 1x samsung-pm983-1920")
    broken = whole.broken()
    assert broken is not None
    assert (broken.failed_nodes, broken.recovers) == (1, True)
    assert broken.broken() is None
    assert pool("ceph 2 nodes, 4x samsung-pm983-1920, replica 3, failure domain osd").broken() is None

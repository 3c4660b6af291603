"""The engine of clusters: single requests by hand, stations at their ceilings, failures, recovery."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.drive.cluster.costs import Costs
from diskmodel.drive.cluster.description import ClusterPool
from diskmodel.engine.cluster.member import Member, Times, member_of
from diskmodel.engine.cluster.operations import HEADER_BYTES, ChildIo, Cluster
from diskmodel.engine.cluster.placement import group_of, placed
from diskmodel.engine.cluster.stations import Calendar, Committer, DriveStation, Link, Processors, Threads
from diskmodel.engine.effort import prices
from diskmodel.errors import CoverageError, DescriptionError
from diskmodel.records import Run

WORDS = "ceph 3 nodes, 1x samsung-pm983-1920 each, 100GbE, tuned"
#: Answers in 80 us to reads and in 20 us to writes, ten at a time.
DRIVE = Member(10, Times((80_000,)), Times((20_000,)), (), (), (), 100_000, 0.0, 3e9, 2e9, Times((30_000,)), 0.0)


def pool(words: str = WORDS) -> ClusterPool:
    drive = Array(words).drive
    assert isinstance(drive, ClusterPool)
    return drive


def run_of(words: str, n: int = 1500, **load: Any) -> Run:
    workload = Workload.parse({"size": "4 KiB", **load})
    return simulate(Array(words), workload, n_requests=n, profile_draws=0).run


def mean_ms(run: Run) -> float:
    return float((run.completions.done_ns - run.completions.issue_ns).mean()) / 1e6


def rate(run: Run) -> float:
    half = len(run.completions.done_ns) // 2
    done = np.sort(run.completions.done_ns)
    return (len(done) - half) * 1e9 / float(done[-1] - done[half - 1])


def alone(is_write: bool, words: str = WORDS, first: int = 0) -> tuple[int, ChildIo]:
    """Return when one request of 4 KiB is answered, and where its time went; the times of processors do not vary."""
    calendar, described = Calendar(), pool(words)
    cluster = Cluster(calendar, described, described.costs, DRIVE, None, described.trip_ns, 0)
    cluster._draw = lambda: 646  # type: ignore[method-assign]  # the ratio of this draw is 1.000
    for threads in (each for osd in cluster.osds for each in (osd.messengers, osd.workers)):
        threads._draw = cluster._draw
    found: list[tuple[int, ChildIo]] = []
    osds = tuple(range(described.width))
    cluster.ask(0, osds, first, 4096, is_write=is_write, then=lambda piece: found.append((calendar.now, piece)))
    while not found:
        calendar.step()
    return found[0]


def test_a_read_by_hand() -> None:
    """Client, network, messenger, worker, drive, messenger with the data, network (rules E2 and E5 to E8)."""
    costs, byte_ns = Costs(), 1e9 / 12.5e9
    took, piece = alone(is_write=False)
    data = costs.message_ns + int(4096 / 0.9)
    wire = int(HEADER_BYTES * byte_ns) + int((4096 + HEADER_BYTES) * byte_ns)
    by_hand = costs.client_read_ns + 30_000 + wire + costs.message_ns + costs.read_work_ns + 80_000 + data
    assert took == pytest.approx(by_hand, rel=2e-3)
    assert piece.device_ns == 80_000


def test_a_replicated_write_waits_for_two_round_trips() -> None:
    """The primary sends to the others, has their answers and then answers itself (rule E7)."""
    costs = Costs()
    took, piece = alone(is_write=True)
    data, empty = costs.message_ns + int(4096 / 0.9), costs.message_ns
    # two copies leave one messenger each; a commit is two writes of 30 us after the work of the thread
    stored = 20_000 + costs.commit_work_ns + 2 * 30_000
    copy = data + data + costs.write_work_ns + stored + empty + empty
    by_hand = costs.client_write_ns + 60_000 + data + costs.write_work_ns + copy + empty
    assert took == pytest.approx(by_hand, rel=2e-2)
    assert piece.commit_ns == pytest.approx(costs.commit_work_ns + 60_000, rel=1e-3)


def test_a_pair_of_drbd_by_hand() -> None:
    """A read stays in its node; a write takes one round trip with the other one and both drives (rule E15)."""
    words = "drbd, 1x samsung-pm983-1920 each, 10GbE, tuned"
    costs, drive = pool(words).costs, pool(words)
    read, _ = alone(is_write=False, words=words)
    assert read == pytest.approx(costs.client_read_ns + 80_000, rel=1e-3)
    write, piece = alone(is_write=True, words=words)
    data = costs.message_ns + int(4096 / costs.payload_bytes_per_s * 1e9)
    wire = 2 * drive.trip_ns + int((4096 + 2 * HEADER_BYTES) * 1e9 / 1.25e9)
    assert write == pytest.approx(costs.client_write_ns + 2 * data + 2 * costs.message_ns + wire + 20_000, rel=0.02)
    assert piece.commit_ns == 0
    # 80 us of 10 GbE between two programs, of which the messages are a part
    assert drive.trip_ns == 40_000 - 2 * costs.message_ns


def test_one_node_uses_the_volumes_of_a_pair() -> None:
    """All first copies are in it, or in the other one where it has failed (rules E4 and E15)."""
    pair = pool("drbd, 3x samsung-pm983-1920 each")
    assert {group[0] // 3 for group in placed(pair, 0)} == {0}
    three = pool("linstor 3 nodes, 2x samsung-pm983-1920 each, 1 clients")
    assert {group[0] // 2 for group in placed(three, 0)} == {0}
    assert {group[0] // 2 for group in placed(pool("linstor 3 nodes, 2x samsung-pm983-1920, 3 clients"), 0)} == {
        0,
        1,
        2,
    }
    left = pool("drbd, 3x samsung-pm983-1920 each, one node failed")
    assert len({group[0] // 3 for group in placed(left, 0)}) == 1


def test_a_sync_flushes_the_drives_of_a_pair() -> None:
    """Every second write of each client waits for it where drives have no capacitors, none of Ceph does (rule E10)."""
    words = "drbd, 1x samsung-870-evo-1tb each, 10GbE, tuned"
    load = {"read_ratio": 0.0, "clients": 1, "sync": "fdatasync"}
    plain, synced = mean_ms(run_of(words, n=400, **load | {"sync": "none"})), mean_ms(run_of(words, n=400, **load))
    half = mean_ms(run_of(words, n=400, **load, sync_every=2))
    flush = member_of(pool(words).drive).flush_ns / 1e6
    assert synced == pytest.approx(plain + flush + 0.08, rel=0.05)
    assert half == pytest.approx((plain + synced) / 2, rel=0.1)


def test_an_old_store_writes_three_times() -> None:
    """To its journal, and after the answer data and metadata (rule E15)."""
    new, old = (run_of(f"vitastor 3 nodes, 1x samsung-pm983-1920{more}", n=600, read_ratio=0.0, clients=1)
                for more in ("", ", old store"))  # fmt: skip
    assert old.n_behind == pytest.approx(3 * new.n_behind, rel=0.01)
    assert mean_ms(old) == pytest.approx(mean_ms(new), rel=0.05)


def test_a_small_write_of_a_coded_pool_reads_its_stripe_first() -> None:
    """Both fragments of the data are read, then all three are written (rule E11)."""
    replicated, _ = alone(is_write=True)
    coded, _ = alone(is_write=True, words=f"{WORDS}, ec 2+1")
    read, _ = alone(is_write=False, words=f"{WORDS}, ec 2+1")
    single, _ = alone(is_write=False)
    assert coded > replicated + 80_000
    # a read has the other fragment come, one round trip and two messages at each end
    assert read > single + 30_000


def test_one_commit_serves_all_that_wait() -> None:
    """The first is alone, and the other nine share the next (rule E9)."""
    calendar = Calendar()
    drive = DriveStation(DRIVE, lambda: 0)
    log = Committer(calendar, drive, flush_ns=0, work_ns=1000, log_bytes=2048, n_syncs=1, sleeps=False)
    ends: list[int] = []
    for _ in range(10):
        log.add(0, lambda: ends.append(calendar.now))
    while len(ends) < 10:
        calendar.step()
    assert ends[0] == 31_000
    # 9 of 2 KiB are five blocks of 4 KiB
    assert set(ends[1:]) == {31_000 + 9_000 + 30_000}
    assert log.n_flushes == 2


def test_threads_wait_for_processors_and_wake_up() -> None:
    """Two threads on one processor work one after the other; the first wakes from a deep sleep (rule E5)."""
    calendar = Calendar()
    processors = Processors(calendar, 1)
    threads = Threads(processors, 2, lambda: 646, waking_ns=0, sleeps=True)
    ends: list[int] = []
    for _ in range(2):
        threads.run(100_000, lambda: ends.append(calendar.now))
    while len(ends) < 2:
        calendar.step()
    assert ends[0] == pytest.approx(160_000, rel=2e-3)
    assert ends[1] == pytest.approx(320_000, rel=2e-3)


def test_a_link_passes_messages_in_turn() -> None:
    link = Link(1e9)
    assert [link.begins(0, 1000), link.begins(0, 1000), link.begins(5000, 1000)] == [0, 1000, 5000]


def test_members_do_what_their_drives_do_alone() -> None:
    """The station's rates are those of the drive's own model, which its sheet sets (540,000 reads, 50,000 writes/s)."""
    member = member_of(pool().drive)
    assert member.reads.mean_ns == pytest.approx(85_000, rel=0.02)
    assert member.servers * 1e9 / member.reads.mean_ns == pytest.approx(540_000, rel=0.15)
    assert member.servers * 1e9 / member.write_work_ns == pytest.approx(50_000, rel=0.1)
    arm = member_of(pool("ceph 3 nodes, 1x seagate-exos-x18").drive)
    assert arm.has_arm
    assert arm.read_rates[-1] > 2 * arm.read_rates[0]


def test_groups_are_spread_evenly_and_their_primaries_are_not() -> None:
    """Each OSD has as many groups as the others, within one; and no two copies are on a node (rule E4)."""
    described = pool("ceph 5 nodes, 3x samsung-pm983-1920 each, 1024 pgs")
    groups = placed(described, 0)
    counts = np.bincount([osd for group in groups for osd in group], minlength=15)
    assert counts.max() - counts.min() <= 2
    assert all(len({osd // 3 for osd in group}) == 3 for group in groups)
    firsts = np.bincount([group[0] for group in groups], minlength=15)
    assert firsts.max() - firsts.min() > 5


def test_objects_fall_on_all_groups_alike() -> None:
    counts = np.bincount(group_of(np.arange(64_000, dtype=np.int64), 64), minlength=64)
    assert abs(counts - 1000).max() < 5 * 1000**0.5


def test_messengers_are_the_ceiling_of_reads() -> None:
    """One OSD reads 130,000/s and no more, as the one that it is calibrated to."""
    run = run_of(
        "ceph 1 nodes, 1x intel-d7-p5600-6400, 1 copies, 100GbE, 28 cores, tuned, 32 clients", 6000, clients=128
    )
    assert rate(run) == pytest.approx(130_000, rel=0.03)
    assert run.busiest == "the messengers of an OSD"
    assert run.engine == "cluster"


def test_one_connection_has_its_ceiling() -> None:
    words = "ceph 4 nodes, 6x samsung-pm983-1920 each, 100GbE, 64 cores, tuned"
    assert rate(run_of(f"{words}, 1 clients", clients=128)) == pytest.approx(1e9 / 7900, rel=0.02)
    assert rate(run_of(f"{words}, 4 clients", clients=128)) > 300_000


def test_the_network_of_a_node_limits_long_reads() -> None:
    words = "ceph 3 nodes, 4x samsung-pm983-1920 each, 1GbE, 12 clients"
    run = run_of(words, n=600, size="1 MiB", clients=48)
    assert rate(run) * (1 << 20) == pytest.approx(3 * 125e6, rel=0.15)
    assert "network" in run.busiest


def test_flushes_of_consumer_drives_are_most_of_a_write() -> None:
    slow, fast = (
        mean_ms(run_of(f"proxmox, 1x {drive}", n=300, read_ratio=0.0, clients=1))
        for drive in ("samsung-870-evo-1tb", "samsung-pm983-1920")
    )
    assert slow > 2 * 1.3 + fast / 2


def test_a_log_of_flash_takes_the_commits_off_hard_disks() -> None:
    own, flash = (
        mean_ms(run_of(f"ceph 3 nodes, 1x seagate-exos-x18 each{more}", n=200, read_ratio=0.0, clients=1))
        for more in ("", ", db on micron-7450-pro-1920")
    )
    assert own > 2 * flash


def test_idle_processors_that_sleep_make_single_requests_slower() -> None:
    awake, asleep = (
        mean_ms(run_of(f"ceph 3 nodes, 1x samsung-pm983-1920, 100GbE{more}", n=200, clients=1))
        for more in (", tuned", "")
    )
    # a messenger and a worker wake up
    assert asleep - awake == pytest.approx(0.1, abs=0.04)


def test_a_failed_node_leaves_its_load_to_the_others() -> None:
    words = "ceph 5 nodes, 1x samsung-pm983-1920 each, 100GbE, 64 cores, 4096 pgs, tuned, 16 clients"
    whole, broken = (rate(run_of(f"{words}{more}", n=3000, clients=256)) for more in ("", ", one node failed"))
    assert broken / whole == pytest.approx(0.8, abs=0.1)


def test_recovery_goes_on_beside_the_load() -> None:
    words = "ceph 5 nodes, 1x samsung-pm983-1920 each, one node failed"
    beside, without = (run_of(f"{words}{more}", n=1000, rate="2000/s") for more in (", recovering", ""))
    asked = pool(f"{words}, recovering").recovery_bytes_per_s
    assert beside.rebuilt_bytes * 1e9 / beside.end_ns == pytest.approx(asked, rel=0.2)
    assert without.rebuilt_bytes == 0
    assert mean_ms(beside) > mean_ms(without)


def test_what_is_not_modeled_before_a_pool_is_refused() -> None:
    load = Workload.parse({"size": "4 KiB", "clients": 1})
    with pytest.raises(CoverageError, match="an engine of their own"):
        simulate(Array(WORDS), load, n_requests=100, engine="native")
    cached = Array.parse(
        {**Array(WORDS).model_dump(exclude_unset=True), "controller": {"write_cache": {"size": "1 GiB"}}}
    )
    with pytest.raises(CoverageError, match="controller: is not modeled before a pool"):
        simulate(cached, load, n_requests=100)


def test_loads_that_are_not_modeled_are_refused() -> None:
    commits = Workload.parse({"kind": "commits", "rate": "100/s", "record": "300 B"})
    with pytest.raises(CoverageError, match="a log of commits: is not modeled before a pool"):
        simulate(Array(WORDS), commits, n_requests=100)


def test_the_same_seed_gives_the_same_run() -> None:
    first, second = (run_of(WORDS, n=500, clients=16, read_ratio=0.5) for _ in range(2))
    assert np.array_equal(first.completions.done_ns, second.completions.done_ns)


def test_what_a_request_costs_is_known_of_each_engine() -> None:
    """The length of a run is bound by what its requests cost, by `diskmodel/engine/effort/prices.py`."""
    ends = {name: table for name, table in vars(prices).items() if name.endswith("_S") and isinstance(table, dict)}
    tables = [table for name, table in ends.items() if not name.endswith("_PER_S")]
    assert len(tables) >= 3
    assert all({"native", "simpy", "cluster"} <= table.keys() for table in tables)


def test_a_rocksdb_without_optimization_costs_writes_alone() -> None:
    """Where processors are the limit a write takes up to twice as long, and a read as long as before."""
    words = "ceph 3 nodes, 4x samsung-pm983-1920 each, 100GbE, 4 cores, 12 clients"
    for ratio, least, most in ((0.0, 0.45, 0.65), (1.0, 0.99, 1.01)):
        plain, slow = (
            rate(run_of(text, n=1200, clients=96, read_ratio=ratio)) for text in (words, f"{words}, unoptimized")
        )
        assert least < slow / plain < most
    assert "build" in pool(words).other_programs()
    assert "build" not in pool(f"{words}, optimized").other_programs()
    run = run_of(words, n=300, clients=4, read_ratio=0.0)
    assert run.n_back_end > 6 * 300


def test_processors_limit_a_node_by_what_all_threads_take() -> None:
    """Rule E5: a read takes the work of three pieces, three wakings and two messages of the kernel."""
    words = "ceph 3 nodes, 4x samsung-pm983-1920 each, 100GbE, 4 cores, 12 clients, optimized, {}"
    new, old = (pool(words.format(release)) for release in ("reef", "nautilus"))
    assert {"release"} == pool(words.format("32 pgs")).other_programs().keys()
    assert old.own_costs.read_processor_ns == pytest.approx(1.7 * new.own_costs.read_processor_ns, rel=0.01)
    payload_ns = 4096e9 / new.costs.payload_bytes_per_s
    most = 3 * new.n_processors * 1e9 / (new.costs.read_processor_ns + payload_ns)
    found = rate(run_of(words.format("reef"), n=2400, clients=192, read_ratio=1.0))
    assert 0.85 * most < found < 1.1 * most


def test_a_node_passes_no_more_messages_than_its_stack() -> None:
    """Rule E6: however fast a link, each message takes it for so long."""
    link = Link(100e9, 2_000)
    assert [link.begins(0, 100) for _ in range(3)] == [0, 2_000, 4_000]
    assert link.lasts_ns(100) == 1


def test_deep_scrubs_take_what_mclock_lets_them_and_delay_readers() -> None:
    """Rule E14: beside one client, a drive of 3 GB/s is read at 0.7 of mClock's 1200 MiB/s; a disk's readers wait."""
    described = pool(f"{WORDS}, deep scrubs").model_copy(update={"recovery": "high_client_ops"})
    array = Array(WORDS).model_copy(update={"drive": described})
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 1.0, "clients": 1, "think": "1 ms"})
    (said,) = simulate(array, workload, n_requests=400, profile_draws=0).run.said
    most = 0.7 * (1200 << 20)
    assert described.scrub_bytes_per_s == most
    rate = float(said.split("read ")[1].split(" MB/s")[0].replace(",", "")) * 1e6
    assert 0.85 * most < rate < 1.05 * most
    disks = "ceph 3 nodes, 2x generic-7k2 each, tuned, 1 clients"
    plain, busy = (mean_ms(run_of(text, n=300, read_ratio=1.0, clients=1)) for text in (disks, f"{disks}, scrubbing"))
    assert busy > 1.5 * plain
    with pytest.raises(DescriptionError, match="scrubs: none begin while"):
        Array("ceph 4 nodes, 2x generic-7k2 each, one node failed, recovering, deep scrubs")


def test_one_slow_osd_makes_the_slowest_requests_longer() -> None:
    """Rule E13: a sixth of the reads meet it, and half of the writes of three copies."""
    sound, slow = (run_of(f"ceph 6 nodes, 1x samsung-pm983-1920 each, tuned{more}", read_ratio=1.0, clients=4)
                   for more in ("", ", one OSD 20x slower"))  # fmt: skip
    times = [np.sort(run.completions.done_ns - run.completions.issue_ns) for run in (sound, slow)]
    assert times[1][len(times[1]) // 2] == pytest.approx(times[0][len(times[0]) // 2], rel=0.1)
    late = times[1] > 2 * np.quantile(times[0], 0.99)
    assert 0.08 < late.mean() < 0.3

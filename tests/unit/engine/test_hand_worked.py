"""Small runs whose event table can be written down (rules T, W, K, D, R)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import PARTS, Requests, Run, StreamRule
from tests.theory.plain_disks import SEEK_NS_PER_CYLINDER, seeking_drive, turning_drive

ENGINES = ("simpy", "native")
BLOCK = 4096
REVOLUTION = 1_024_000


def requests(when: list[int], op: list[int], block: list[int], clients: int = 0, draw: float = 0.5) -> Requests:
    n = len(when)
    return Requests(
        np.array(when, np.int64),
        np.array(op, np.uint8),
        np.array(block, np.int64) * BLOCK,
        np.full(n, BLOCK, np.int64),
        np.zeros(n, np.int32),
        np.full(n, draw),
        (StreamRule("s", clients),),
    )


def done(engine: Any, rows: Requests, drive: dict[str, object] | None = None, **array: object) -> Run:
    data = {
        "drive": drive or turning_drive(REVOLUTION),
        "layout": {"level": "jbod", "disks": 1},
        "spindles": {"phase": "synchronised"},
    } | array
    return run(resolve(Array.parse(data), 0), rows, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_rotation_of_one_disk(engine: str) -> None:
    """A sector takes 1000 ns, block b begins at 8000 b. Block 2 asked at 0 is read from 16000 to 24000; block 1 asked
    at 10000 waits for the arm, then for the next revolution: 1024000 + 8000, done 8000 later."""
    outcome = done(engine, requests([0, 10_000], [0, 0], [2, 1]))
    assert outcome.completions.done_ns.tolist() == [24_000, 1_040_000]
    parts = dict(zip(PARTS, outcome.completions.parts_ns[1].tolist(), strict=True))
    assert parts["queue"] == 14_000
    assert parts["rotation"] == 1_032_000 - 24_000
    assert parts["transfer"] == 8_000


@pytest.mark.parametrize("engine", ENGINES)
def test_overheads_run_beside_the_arm(engine: str) -> None:
    """Overhead 100, tail 10: the second command is ready at 200, while the arm is busy from 100 on."""
    drive = turning_drive(REVOLUTION) | {"read_overhead_ns": 100, "completion_overhead_ns": 10}
    outcome = done(engine, requests([0, 0], [0, 0], [1, 2]), drive)
    assert outcome.completions.done_ns.tolist() == [16_010, 24_010]


@pytest.mark.parametrize("engine", ENGINES)
def test_all_that_comes_at_an_instant_is_seen_before_a_choice(engine: str) -> None:
    """Three requests at time 0: SSTF takes the nearest though it came last (rule T2)."""
    drive = seeking_drive("sstf")
    outcome = done(engine, requests([0, 0, 0], [0, 0, 0], [500, 300, 100]), drive)
    seeks = outcome.completions.parts_ns[:, PARTS.index("seek")] // SEEK_NS_PER_CYLINDER
    assert seeks.tolist() == [200, 200, 100]


@pytest.mark.parametrize("engine", ENGINES)
def test_clients_think_before_they_ask_again(engine: str) -> None:
    """One client: done at 16000, thinks 5000, asks at 21000."""
    outcome = done(engine, requests([0, 5_000], [0, 0], [1, 3], clients=1))
    assert outcome.completions.issue_ns.tolist() == [0, 21_000]
    assert outcome.completions.done_ns.tolist() == [16_000, 32_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_link_and_processor_serve_one_after_the_other(engine: str) -> None:
    """Two hits at 0: processor until 10 and 20, hit 100, link 4096 ns each, in turn."""
    controller = {"read_cache": {"hit_ratio": 1.0}, "hit_ns": 100, "command_ns": 10, "link_bytes_per_s": 1e9}
    outcome = done(engine, requests([0, 0], [0, 0], [1, 2]), controller=controller)
    assert outcome.completions.done_ns.tolist() == [110 + 4096, 110 + 2 * 4096]
    assert outcome.completions.is_hit.all()
    assert outcome.devices.n_reads.sum() == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_raid5_write_comes_round_again(engine: str) -> None:
    """Five synchronised disks, strip one block, row 0 has parity on disk 4: block 0 of disk 0 and of disk 4 are read
    from 0 to 8000, then written from 1024000 to 1032000."""
    outcome = done(engine, requests([0], [1], [0]), layout={"level": "raid5", "disks": 5, "strip": "4 KiB"})
    assert outcome.completions.done_ns.tolist() == [1_032_000]
    assert outcome.completions.parts_ns[0, PARTS.index("parity")] == 8_000
    assert outcome.devices.n_reads.tolist() == [1, 0, 0, 0, 1]
    assert outcome.devices.n_writes.tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_held_write_passes_before_what_arrives_at_its_instant(engine: str) -> None:
    """Rule L12. Three synchronized disks in RAID 5, one strip a cylinder, a strip a revolution of 8000; a seek to the
    next cylinder takes 1000, the electronics 7000 for each command.

    Write A goes to disk 0, cylinder 0, with parity on disk 2; write B to disk 2, cylinder 1, with parity on disk 1.
    Both data reads end at 16000. At that instant A sends its parity's read to disk 2, first because disk 0 comes first,
    and B its held write. The held write passes first: ready at 23000, written from 24000 to 32000. A's parity is ready
    at 30000, read from 40000 to 48000, written from 56000 to 64000. In the other order B's write would be ready at
    30000 and end at 40000, and A would end one revolution later, at 72000. B's parity is written from 40000 to 48000.
    """
    drive = seeking_drive() | {"revolution_ns": 8_000, "read_overhead_ns": 7_000, "write_overhead_ns": 7_000}
    layout = {
        "level": "raid5",
        "disks": 3,
        "strip": "4 KiB",
        "write_policy": "read-modify-write",
        "read_modify_write": "held",
    }
    outcome = done(engine, requests([0, 0], [1, 1], [0, 2]), drive, layout=layout)
    assert outcome.completions.done_ns.tolist() == [64_000, 48_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rebuild_copies_the_lost_disk_window_by_window(engine: str) -> None:
    """RAID 1, disk 0 lost: windows of 16 blocks are read from disk 1 and written to the spare, disk 2."""
    layout = {
        "level": "raid1",
        "disks": 2,
        "strip": "4 KiB",
        "failed": [0],
        "spares": 1,
        "rebuild": {"window": "64 KiB", "steps_at_once": 1},
    }
    outcome = done(engine, requests([50_000_000], [0], [100]), layout=layout)
    assert outcome.rebuilt_bytes == 128 * BLOCK
    assert outcome.devices.n_writes.tolist() == [0, 0, 8]
    assert outcome.devices.n_reads[0] == 0


def _rebuilt(engine: str, rows: Requests, latency_ns: int, **rebuild: object) -> int:
    """Bytes that a RAID 1 of virtual disks rebuilt onto its spare: 1 ns of the processor, then `latency_ns`."""
    drive = {"kind": "virtual", "name": "plain", "source": "test", "capacity_bytes": 1 << 24, "completion": "each"}
    times = {"read_overhead_ns": 1, "write_overhead_ns": 1}
    times |= {"read_latency_ns": latency_ns, "write_latency_ns": latency_ns}
    layout = {"level": "raid1", "disks": 2, "strip": "4 KiB", "failed": [0], "spares": 1, "rebuild": rebuild}
    return done(engine, rows, drive | times, layout=layout).rebuilt_bytes


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("read_bytes", "speed_min", "steps"), [(65536, 1000, 9), (32768, 1000, 12), (65536, 41 * 512, 10), (65536, 1e9, 12)]
)
def test_a_rebuild_yields_to_a_host(engine: str, read_bytes: int, speed_min: float, steps: int) -> None:
    """Rule R5. A command takes 100 us, a step of 8 sectors 200, up to four at once. The host reads at 0 and at 550.

    Steps 1 to 4 begin at 0: nothing is done, so the rebuild is too slow to yield. When step 1 has ended, at 200, step 5
    begins; 8 sectors are done in 0 whole seconds, which is enough for a speed of 1000 B/s (1 sector). If the host has
    read more than 64 sectors, step 6 waits until no step is in progress, at 400. Nothing more was read, so steps 7 to 9
    follow at once. 9 steps have ended at 650. If the rebuild never yields, those that begin at 200 are four: 12. With
    41 sectors a second, step 9 begins at 400 when 40 are done, step 10 when 48 are: then it yields, 10 have ended.
    """
    rows = requests([0, 550_000], [0, 0], [0, 0])
    rows.length[0] = read_bytes
    limits = {"speed_min_bytes_per_s": speed_min, "speed_max": "1 TB/s"}
    rebuilt = _rebuilt(engine, rows, 100_000, window="4 KiB", steps_at_once=4, **limits)
    assert rebuilt == steps * BLOCK


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("speed_min", "steps"), [(120 * 512, 35), (125 * 512, 38)])
def test_the_speed_of_a_rebuild_is_that_of_thirty_seconds(engine: str, speed_min: float, steps: int) -> None:
    """Rule R5. A step of 128 sectors takes 3 s, one begins each second. The host reads 256 KiB at 0 and 4 KiB at 39.

    At `t` seconds `t - 3` steps have ended. On the average since the start that is 128 (t - 3) // (t + 1) sectors a
    second, 112 at 32. Notes are taken at 3, 6, … 30, each in place of the start, and at 33 in place of that of 3, when
    nothing had ended: 128 · 30 // 31 = 123. So at 33 the rebuild is fast enough for 120, finds that the host has read
    more than the two reads in progress and 64 sectors, and yields: the next step begins at 36. Then only one read is
    in progress, which looks as if others had read 128 sectors, and the next step begins at 39. So 34 and 1 steps have
    ended at 40.5. For 125 it is never fast enough (at 34 it is 128 · 31 // 32 = 124); steps 0 to 37 have ended.
    """
    rows = requests([0, 39_000_000_000], [0, 0], [0, 0])
    rows.length[0] = 262144
    limits = {"speed_min_bytes_per_s": speed_min, "speed_max_bytes_per_s": 65536}
    rebuilt = _rebuilt(engine, rows, 1_500_000_000, window="64 KiB", steps_at_once=8, **limits)
    assert rebuilt == steps * 16 * BLOCK


def test_parts_add_up_under_throttling() -> None:
    """Every ns of a response is in one part, also what a sleeping host adds (rule Q11). 800 requests of a mix."""
    rng = np.random.default_rng(5)
    rows = requests([0] * 800, (rng.random(800) < 0.4).tolist(), rng.integers(0, 9000, 800).tolist(), clients=48)
    for level in ("raid1", "raid10", "raid5", "raid6"):
        layout = {"level": level, "disks": 4 if level != "raid1" else 2, "strip": "4 KiB"}
        drive = seeking_drive()
        outcome = done("simpy", rows, drive, layout=layout, queue={"write_throttle": "linux", "block_requests": 8})
        c = outcome.completions
        assert (c.parts_ns.sum(axis=1) == c.done_ns - c.issue_ns).all()
        assert (c.parts_ns >= 0).all()


@pytest.mark.parametrize("level", ["raid1", "raid5"])
def test_throttling_of_any_number_of_waiting_requests(level: str) -> None:
    """The thread does one thing after the other (rule Q11): its stack does not grow with what waits."""
    is_write = [True] * 40 + [False] * 1_500
    rows = requests([0] * len(is_write), is_write, [(7 * i) % 9000 for i in range(len(is_write))])
    layout = {"level": level, "disks": 2 if level == "raid1" else 4, "strip": "4 KiB"}
    queue = {"write_throttle": "linux", "block_requests": 8}
    simpy, native = (done(name, rows, seeking_drive(), layout=layout, queue=queue) for name in ("simpy", "native"))
    assert (simpy.completions.done_ns == native.completions.done_ns).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("submission_ns", [0, 70])
def test_a_program_notices_one_completion_a_turn(engine: str, submission_ns: int) -> None:
    """A program sleeps over its third write to a mirror; meanwhile two reads have ended, and then the first write does.

    The first read is noticed when the write ends, the others a submission later each (rule Q11).
    """
    rows = requests([0] * 5, [False, False, True, True, True], [7] * 5, clients=5)
    layout = {"level": "raid1", "disks": 2, "strip": "4 KiB", "read_policy": "shortest-queue"}
    host = {"submission_ns": submission_ns, "processors": 5}
    queue = {"write_throttle": "linux", "block_requests": 2}
    noticed = done(engine, rows, layout=layout, host=host, queue=queue).completions.done_ns
    assert (noticed[1:3] - noticed[0]).tolist() == [submission_ns, 2 * submission_ns]
    free = done(engine, rows, layout=layout, host=host).completions.done_ns
    assert free[1] == free[0] < free[2] == noticed[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("failed", [[], [3]])
def test_only_an_array_that_has_lost_a_disk_reads_through_its_thread(engine: str, failed: list[int]) -> None:
    """Three full rows are written at once, and two writes a disk are allowed: the thread sleeps at the third row.

    A read of the first row that comes then goes to its disk before the third row's write, or with a lost disk behind
    it (rule Q11).
    """
    rows = requests([0, 0, 0, 10], [1, 1, 1, 0], [0, 3, 6, 2])
    rows.length[:3] = 3 * BLOCK
    layout = {"level": "raid5", "disks": 4, "strip": "4 KiB", "failed": failed}
    queue = {"write_throttle": "linux", "block_requests": 2}
    ended = done(engine, rows, layout=layout, queue=queue).completions.done_ns
    assert ended[0] < ended[1] < ended[2]
    assert (ended[3] > ended[2]) == bool(failed)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_controller_works_on_so_many_requests_at_once(engine: str) -> None:
    """Four hits of 100 at 0, 10, 20 and 30, two at once (rule K14): the third takes the first one's place at 100."""
    controller = {"read_cache": {"hit_ratio": 1.0}, "hit_ns": 100, "volume_depth": 2}
    outcome = done(engine, requests([0, 10, 20, 30], [0] * 4, [1, 2, 3, 4]), controller=controller)
    assert outcome.completions.done_ns.tolist() == [100, 110, 200, 210]
    assert outcome.completions.parts_ns[:, PARTS.index("queue")].tolist() == [0, 0, 80, 80]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_request_takes_a_place_before_the_host_learns_that_it_is_free(engine: str) -> None:
    """Three clients, one request at once: those that wait go before what the client that was answered asks next."""
    controller = {"read_cache": {"hit_ratio": 1.0}, "hit_ns": 100, "volume_depth": 1}
    outcome = done(engine, requests([0] * 5, [0] * 5, [1, 2, 3, 4, 5], clients=3), controller=controller)
    assert outcome.completions.done_ns.tolist() == [100, 200, 300, 400, 500]
    assert outcome.completions.issue_ns.tolist() == [0, 0, 0, 100, 200]

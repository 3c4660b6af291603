"""The page cache in a running system: hits by working set, partial pages, write-back in time, writers that wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import simpy

from diskmodel.array import Array
from diskmodel.engine.embed import ArrayProcess
from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from diskmodel.workload import Workload
from tests.differential.compare import between

MS, S = 1_000_000, 1_000_000_000
DISK = {"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}}


def array(**cache: Any) -> Array:
    host = {"is_buffered": True, "read_ahead": "0 B", "page_cache": {"memory": "64 MiB", **cache}}
    return Array.parse(DISK | {"host": host})


def run(system: Array, n: int, **load: Any) -> Result:
    return simulate(system, Workload.parse({"size": "4 KiB"} | load), n_requests=n, start="empty")


def test_reads_hit_as_much_of_the_working_set_as_memory_holds() -> None:
    fits = run(array(), 6000, clients=1, span="8 MiB")
    # of 2048 pages, those that 6000 draws have met
    assert fits.run.devices.n_reads[0] == pytest.approx(2048 * (1 - np.exp(-6000 / 2048)), rel=0.02)
    half = run(array(), 40_000, clients=1, span="128 MiB")
    tail = half.run.completions.is_hit[30_000:]
    assert tail.mean() == pytest.approx(0.5, abs=0.02)


def test_a_whole_page_is_written_without_reading_it_and_a_part_is_not() -> None:
    whole = run(array(), 200, read_ratio=0, rate="1000/s", span="16 MiB")
    assert whole.run.devices.n_reads[0] == 0
    assert whole.latency.mean_ns == 0
    part = run(array(), 200, read_ratio=0, clients=1, size="512 B", span="16 MiB")
    pages = len(np.unique(part.requests.offset // 4096))
    assert part.run.devices.n_reads[0] == pages
    across = run(array(), 200, read_ratio=0, clients=1, alignment="512 B", span="2 GB")
    is_across = across.requests.offset % 4096 != 0
    assert across.run.devices.n_reads[0] == 2 * is_across.sum()


def test_all_that_is_dirty_goes_when_the_first_page_is_old_and_in_order() -> None:
    """Writes at random places from 5 ms to 4 s: at 3.005 s all of them go, and what comes then goes with them."""
    system = array(dirty_expire="3 s", dirty_writeback="1 s", writeback_depth=128)
    env = simpy.Environment()
    process = ArrayProcess(env, system)
    rng = np.random.default_rng(1)
    places = rng.permutation(4000)[:400]

    def client() -> Any:
        yield env.timeout(5 * MS)
        for place in places:
            yield process.write(int(place) * 4096 * 16, 4096)
            yield env.timeout(10 * MS)

    env.process(client())
    disk = process._devices[0]
    seen: list[tuple[int, int]] = []
    submit = disk.submit_reserved

    def watched(command: Any) -> None:
        seen.append((env.now, command.lba))
        submit(command)

    disk.submit_reserved = watched  # type: ignore[method-assign]
    env.run(until=int(2.5 * S) + 500 * MS)
    assert not seen
    env.run(until=int(3.005 * S) + 1)
    at_once = [lba for _, lba in seen]
    assert at_once == sorted(at_once)
    assert len(at_once) == 128, "the flusher's depth"
    env.run(until=7 * S)
    n_in_wave = sum(time < 6 * S for time, _ in seen)
    assert 300 < n_in_wave < 400, "those that came while it lasted went with it"
    env.run()
    last = [time for time, _ in seen[n_in_wave:]]
    assert len(seen) == 400
    assert min(last) > 6 * S, "what came after the last moment without dirty pages grew old again"
    assert env.now < max(last) + S, "without dirty pages nobody wakes up"


def test_above_the_background_ratio_the_flusher_does_not_wait_for_age() -> None:
    # 10 % of 64 MiB are 1638 pages
    below = run(array(), 1600, read_ratio=0, rate="4000/s")
    above = run(array(), 3000, read_ratio=0, rate="1000/s")
    assert below.run.devices.n_writes[0] == 0
    # at most what lies above the threshold, and the 4 requests that were sent before it was reached
    assert 100 < above.run.devices.n_writes[0] <= 3000 - 1638 + 4


def test_above_the_limit_writers_wait_for_the_disk() -> None:
    system = array(dirty_background_ratio=0.01, dirty_ratio=0.02)
    result = run(system, 6000, read_ratio=0, clients=1, span="4 GB")
    rate = 1e9 / np.diff(result.run.completions.done_ns[3000:]).mean()
    written = result.run.devices.n_writes[0]
    assert rate == pytest.approx(written / result.run.end_ns * 1e9, rel=0.1)
    assert result.run.completions.parts_ns[:, 1].max() > MS
    # the limit is 327 pages; a few places were written to twice
    assert 327 <= 6000 - written <= 327 + 20


def test_synchronous_writes_wait_for_the_array() -> None:
    waiting = run(array(is_synchronous=True), 500, read_ratio=0, clients=1)
    direct = simulate(
        Array.parse(DISK), Workload.parse({"size": "4 KiB", "read_ratio": 0, "clients": 1}), n_requests=500
    )
    assert (waiting.run.completions.done_ns == direct.run.completions.done_ns).all()


def test_read_ahead_fills_memory_for_the_next_reader() -> None:
    host = {"is_buffered": True, "read_ahead": "128 KiB", "page_cache": {"memory": "64 MiB"}}
    system = Array.parse(DISK | {"host": host})
    load = {"addresses": "sequential", "span": "4 MiB", "clients": 1, "size": "8 KiB"}
    result = run(system, 2048, **load)
    assert result.run.devices.read_bytes[0] <= 5 << 20
    assert result.run.completions.is_hit[1024:].all()


@pytest.mark.parametrize("cache", [{}, {"dirty_background_ratio": 0.01, "dirty_ratio": 0.02}, {"is_synchronous": True}])
def test_the_kernel_runs_it_alike(cache: dict[str, Any]) -> None:
    load = Workload.parse({"size": "6 KiB", "alignment": "1 KiB", "read_ratio": 0.3, "clients": 8, "span": "256 MiB"})
    native = simulate(array(**cache), load, n_requests=1500, start="empty")
    assert native.engine == "native"
    reference = simulate(array(**cache), load, n_requests=1500, start="empty", engine="simpy")
    assert between(native.requests, reference.run, native.run) is None


def test_an_embedded_array_has_its_host() -> None:
    """The array in somebody else's simulation answers as `simulate` does."""
    system = array()
    load = Workload.parse({"size": "4 KiB", "clients": 1, "span": "1 MiB", "read_ratio": 0.5})
    result = simulate(system, load, n_requests=400, start="empty")
    requests = result.requests
    env = simpy.Environment()
    process = ArrayProcess(env, system)
    done: list[int] = []

    def client() -> Any:
        for op, offset, length in zip(requests.op, requests.offset, requests.length, strict=True):
            ask = process.write if op else process.read
            yield ask(int(offset), int(length))
            done.append(env.now)

    env.process(client())
    env.run(until=result.run.end_ns + 1)
    assert done == result.run.completions.done_ns.tolist()


def test_a_synced_write_waits_for_all_that_is_dirty() -> None:
    """Rule P9: every tenth write is done when the pages of its ten, and no others, are on the disk."""
    system = array(sync_every=10)
    result = run(system, 200, read_ratio=0, clients=1, span="10 GB")
    completions = result.run.completions
    latency = completions.done_ns - completions.issue_ns
    synced = np.arange(200) % 10 == 9
    assert (latency[~synced] == 0).all()
    assert (latency[synced] > 10 * MS).all()
    assert result.run.devices.n_writes[0] == 200


@pytest.mark.parametrize("clients", [1, 8])
def test_both_engines_sync_alike(clients: int) -> None:
    system = array(sync_every=7, writeback_depth=4)
    load = Workload.parse({"size": "512 B", "read_ratio": 0.2, "clients": clients, "span": "1 GB"})
    one, other = (
        simulate(system, load, n_requests=600, start="empty", engine=engine) for engine in ("simpy", "native")
    )
    assert between(one.requests, one.run, other.run) is None


def test_syncs_of_many_writers_do_not_wait_for_later_writes() -> None:
    """Eight writers that never pause: an fsync ends although new pages become dirty all the time."""
    result = run(array(sync_every=16), 3000, read_ratio=0, clients=8, span="10 GB")
    latency = result.run.completions.done_ns - result.run.completions.issue_ns
    assert result.run.completions.done_ns.min() >= 0
    assert latency.max() < 3 * S

"""The controller's block caches against Che's approximation, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.analytic.cache import lru_hit_ratio
from diskmodel.array import Array
from diskmodel.controller.arc import Arc
from diskmodel.controller.block_cache import Lru, TwoQueue
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

SEED = 20260101
N_BLOCKS = 5000
THETA = 0.8


def zipf_draws(n: int) -> list[int]:
    weights = np.arange(1, N_BLOCKS + 1) ** -THETA
    rng = np.random.default_rng(SEED)
    return [int(v) for v in rng.choice(N_BLOCKS, size=n, p=weights / weights.sum())]


def hit_ratio(cache: Lru | TwoQueue | Arc, draws: list[int]) -> float:
    warm = len(draws) // 4
    hits = 0
    for i, block in enumerate(draws):
        if block in cache:
            hits += i >= warm
            cache.touch(block)
        else:
            cache.insert(block)
    return hits / (len(draws) - warm)


@pytest.mark.parametrize("capacity", [100, 500, 1500])
def test_lru_agrees_with_che(capacity: int) -> None:
    """300,000 measured draws: standard error below 0.0009; Che's own error is about 0.001."""
    weights = np.arange(1, N_BLOCKS + 1) ** -THETA
    expected = lru_hit_ratio(weights / weights.sum(), capacity)
    assert hit_ratio(Lru(capacity), zipf_draws(400_000)) == pytest.approx(float(expected), abs=0.004)


@pytest.mark.parametrize("policy", [TwoQueue, Arc])
@pytest.mark.parametrize("capacity", [100, 500])
def test_frequency_beats_recency_on_skewed_draws(policy: type[TwoQueue] | type[Arc], capacity: int) -> None:
    draws = zipf_draws(200_000)
    assert hit_ratio(policy(capacity), draws) > hit_ratio(Lru(capacity), draws) + 0.01


@pytest.mark.parametrize("policy", [Lru, TwoQueue, Arc])
def test_never_holds_more_than_its_capacity(policy: type[Lru] | type[TwoQueue] | type[Arc]) -> None:
    cache = policy(7)
    rng = np.random.default_rng(SEED)
    for block in rng.integers(0, 40, 5000).tolist():
        cache.insert(block)
        assert block in cache
        assert sum(b in cache for b in range(40)) <= 7


def array(controller: dict[str, object], **layout: object) -> Array:
    return Array.parse(
        {"drive": "generic-10k", "layout": {"level": "raid10", "disks": 4, **layout}, "controller": controller}
    )


def workload(read_ratio: float, clients: int = 4, span: str = "64 MiB") -> Workload:
    stream = {"read_ratio": read_ratio, "size": "4 KiB", "span": span, "clients": clients}
    return Workload.parse({"streams": [stream]})


def test_uniform_hit_ratio_is_cache_over_span() -> None:
    """Uniform reads over 64 MiB with 16 MiB of LRU: a quarter hits (4 standard errors of 20,000 draws are 0.012)."""
    cached = array({"read_cache": {"size": "16 MiB"}})
    result = simulate(cached, workload(1.0), seed=SEED, n_requests=40_000)
    assert result.to_dict()["hit_ratio"] == pytest.approx(0.25, abs=0.03)


def test_write_back_answers_at_once_until_it_is_full() -> None:
    """1 ms between writes is far less than the disks need: the burst is absorbed, then the disks set the pace."""
    cached = array({"write_cache": {"size": "4 MiB", "line": "4 KiB"}, "hit_ns": 100_000})
    through = array({})
    writes = workload(0.0, clients=8, span="20 GB")
    burst = simulate(cached, writes, seed=SEED, n_requests=900, start="empty")
    assert burst.latency.mean_ns == pytest.approx(100_000, rel=0.01)
    sustained = simulate(cached, writes, seed=SEED, n_requests=12_000, start="empty")
    plain = simulate(through, writes, seed=SEED, n_requests=12_000)
    # sorted, deep destaging gains over eight outstanding writes, but nothing is written faster than disks go
    assert plain.latency.mean_ns / sustained.latency.mean_ns > 1.1
    assert sustained.latency.mean_ns > 20 * burst.latency.mean_ns
    assert sustained.burst_iops > 20 * sustained.sustained_iops
    # 4 MiB of 4 KiB writes fit before the first one has to wait, and the few that were destaged meanwhile
    assert sustained.cache_full_s * sustained.burst_iops == pytest.approx(1024, rel=0.15)
    assert burst.to_dict()["cache_full_s"] is None


def test_rewrites_coalesce() -> None:
    """Writes over 2 MiB with 4 MiB of cache reach the disks far fewer times than they are made."""
    cached = array({"write_cache": {"size": "4 MiB", "line": "4 KiB", "high": "10%", "low": "5%"}})
    result = simulate(cached, workload(0.0, clients=4, span="2 MiB"), seed=SEED, n_requests=20_000)
    assert result.to_dict()["back_end_per_host"] < 0.5


def test_controller_read_ahead_makes_sequential_reads_hits() -> None:
    stream = {"read_ratio": 1.0, "size": "8 KiB", "clients": 1, "addresses": {"pattern": "sequential"}}
    reads = Workload.parse({"streams": [stream]})
    ahead = array({"read_cache": {"size": "64 MiB"}, "read_ahead": "1 MiB", "hit_ns": 10_000})
    plain = array({"read_cache": {"size": "64 MiB"}, "hit_ns": 10_000})
    with_ahead = simulate(ahead, reads, seed=SEED, n_requests=4000)
    without = simulate(plain, reads, seed=SEED, n_requests=4000)
    assert with_ahead.to_dict()["hit_ratio"] > 0.95
    assert with_ahead.latency.mean_ns < without.latency.mean_ns


@pytest.mark.parametrize("window", ["3 MiB", "6 MiB"])
def test_read_ahead_keeps_all_disks_of_a_parity_array_streaming(window: str) -> None:
    """One reader with one request outstanding gets what the data strips of seven streaming disks carry."""
    described = {
        "drive": "seagate-savvio-10k3",
        "layout": {"level": "raid5", "disks": 7, "strip": "128 KiB"},
        "controller": {"read_cache": {"size": "64 MiB"}, "read_ahead": window},
    }
    streaming = Array.parse(described)
    stream = {"size": "64 KiB", "clients": 1, "span": "10 GB", "addresses": {"pattern": "sequential"}}
    result = simulate(streaming, Workload.parse({"streams": [stream]}), seed=SEED, n_requests=8000)
    drive = streaming.drive.to_dict()
    assert result.bytes_per_s == pytest.approx(6 * float(drive["outer_bytes_per_s"]), rel=0.03)


def test_a_read_over_several_pieces_waits_for_all_of_them() -> None:
    """Requests of 192 KiB lie on more than one piece of 64 KiB; what had been read ahead is not read again."""
    striped = Array.parse(
        {
            "drive": "generic-10k",
            "layout": {"level": "raid0", "disks": 4, "strip": "64 KiB"},
            "controller": {"read_cache": {"size": "64 MiB"}, "read_ahead": "1 MiB"},
        }
    )
    stream = {"size": "192 KiB", "clients": 1, "span": "10 GB", "addresses": {"pattern": "sequential"}}
    result = simulate(striped, Workload.parse({"streams": [stream]}), seed=SEED, n_requests=2000)
    assert result.run is not None
    read_bytes = int(result.run.devices.read_bytes.sum())
    assert 2000 * 192 * 1024 <= read_bytes <= 2000 * 192 * 1024 + (1 << 20)
    assert result.to_dict()["hit_ratio"] > 0.99

"""Requests that are drawn: reproducible, extensible, in their region, with the statistics that were asked for."""

from dataclasses import fields

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.records import Op, Requests
from diskmodel.workload import TraceWorkload, Workload, addresses, arrivals
from diskmodel.workload.addresses.zipf import zipf_ranks
from diskmodel.workload.excerpts import Excerpts

CAPACITY = 10 * 2**30

PATTERNS: dict[str, object] = {
    name: {"pattern": name, **pattern.example} for name, pattern in addresses.PATTERNS.items()
} | {
    "runs": {"pattern": "sequential", "mean_run": 8.0, "n_readers": 3},
    "zipf": {"pattern": "zipf", "theta": 0.9},
}
ARRIVALS: dict[str, object] = {name: {"kind": name, **law.example} for name, law in arrivals.ARRIVALS.items()} | {
    "poisson": {"kind": "poisson", "rate_per_s": 100},
    "profile": {"kind": "poisson", "rate_per_s": 100, "profile": {"relative_rates": [0, 1, 3], "period": "6 s"}},
    "bursts": {"kind": "bursts", "on_rate_per_s": 300, "mean_on": "1 s", "mean_off": "2 s"},
    "given": {"kind": "given", "inter_arrival": ["1 ms", "9 ms"]},
    "closed": {"kind": "closed", "clients": 4, "think_ns": 5_000_000, "think_distribution": "exponential"},
    "paced": {"kind": "closed", "clients": 4, "client_rate_per_s": 80},
}


#: Two excerpts of four requests, of the sizes of `workload`.
EXCERPTS = Excerpts.pack(
    excerpt=[0, 1, 1, 0, 1],
    duration_ns=[10**9, 10**7, 10**8, 10**9, 10**6],
    shift_bytes=[0, 0, 3 << 20, -(1 << 20), 5 << 20],
    ends=[4, 8],
    gap_ns=[5, 0, 10, 1000, 7, 7, 7, 7],
    op=[0, 1, 0, 0, 1, 1, 0, 0],
    length=[4096, 65536, 4096, 65536, 65536, 4096, 65536, 4096],
    place=[8192, 12288, 0, 4096 * 10**5, 65536, 131072, 40960, 0],
)


def workload(pattern="uniform", arrival="closed", **more):
    stream = {"sizes": ["4 KiB", "64 KiB"], "read_ratio": 0.6} | more
    if "excerpts" in (pattern, arrival):
        stream["excerpts"] = EXCERPTS.to_dict()
    return Workload.parse(stream | {"addresses": PATTERNS[pattern], "arrival": ARRIVALS[arrival]})


def assert_same(one: Requests, other: Requests) -> None:
    for field in fields(Requests):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


def first(requests: Requests, n: int) -> Requests:
    columns = {f.name: getattr(requests, f.name) for f in fields(Requests)}
    return Requests(**{name: c[:n] if isinstance(c, np.ndarray) else c for name, c in columns.items()})


@pytest.mark.parametrize("arrival", ARRIVALS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_same_seed_same_rows_and_longer_extends_shorter(pattern, arrival):
    drawn = workload(pattern, arrival)
    long = drawn.requests(capacity_bytes=CAPACITY, n=1000, seed=7)
    assert_same(long, drawn.requests(capacity_bytes=CAPACITY, n=1000, seed=7))
    for n in (0, 1, 333, 999):
        assert_same(first(long, n), drawn.requests(capacity_bytes=CAPACITY, n=n, seed=7))


def test_mixed_streams_extend_too_and_share_rows_by_rate():
    mixed = Workload.parse(
        {
            "streams": [
                {"name": "a", "size": "4 KiB", "rate_per_s": 70},
                {"name": "b", "size": "8 KiB", "rate_per_s": 30, "addresses": PATTERNS["runs"]},
                {"name": "c", "size": "8 KiB", "clients": 2, "weight": 100.0},
            ]
        }
    )
    long = mixed.requests(capacity_bytes=CAPACITY, n=2000, seed=3)
    assert_same(first(long, 777), mixed.requests(capacity_bytes=CAPACITY, n=777, seed=3))
    assert np.abs(np.bincount(long.stream[:777]) - 777 * np.array([0.35, 0.15, 0.5])).max() <= 1
    assert [rule.n_clients for rule in long.streams] == [0, 0, 2]
    for index in (0, 1):
        assert (np.diff(long.when_ns[long.stream == index]) >= 0).all()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_requests_lie_in_their_region_and_on_their_alignment(pattern):
    drawn = workload(pattern, offset="1 GiB", span="96 MiB").requests(capacity_bytes=CAPACITY, n=20_000, seed=1)
    assert drawn.offset.min() >= 2**30
    assert (drawn.offset + drawn.length).max() <= 2**30 + 96 * 2**20
    assert (drawn.offset % 4096 == 0).all()
    assert set(np.unique(drawn.length)) == {4096, 65536}


def test_region_of_one_request_has_one_place():
    drawn = workload(sizes=["64 KiB"], span="64 KiB").requests(capacity_bytes=CAPACITY, n=10, seed=1)
    assert (drawn.offset == 0).all()


def test_changing_one_thing_leaves_other_draws_alone():
    base = workload().requests(capacity_bytes=CAPACITY, n=500, seed=5)
    sizes = workload(sizes=["64 KiB"], alignment="4 KiB").requests(capacity_bytes=CAPACITY, n=500, seed=5)
    ratio = workload(read_ratio=0.7).requests(capacity_bytes=CAPACITY, n=500, seed=5)
    for name in ("when_ns", "op", "offset", "cache_draw"):
        assert np.array_equal(getattr(base, name), getattr(sizes, name)), name
    assert np.array_equal(base.offset, ratio.offset)
    assert (ratio.op <= base.op).all()  # common random numbers: reads only become more
    other_seed = workload().requests(capacity_bytes=CAPACITY, n=500, seed=6)
    assert not np.array_equal(base.offset, other_seed.offset)


def test_mix_of_operations_and_sizes():
    drawn = workload(sizes=[{"size": "4 KiB", "weight": 3}, "8 KiB"]).requests(
        capacity_bytes=CAPACITY, n=100_000, seed=2
    )
    # five standard errors of a share of 100 000 draws
    assert (drawn.op == Op.READ).mean() == pytest.approx(0.6, abs=5 * (0.24 / 1e5) ** 0.5)
    assert (drawn.length == 4096).mean() == pytest.approx(0.75, abs=5 * (0.1875 / 1e5) ** 0.5)


def test_sequential_requests_follow_each_other_and_wrap():
    drawn = workload("sequential", sizes=["64 KiB"], span="640 KiB").requests(capacity_bytes=CAPACITY, n=25, seed=1)
    assert (drawn.offset == np.arange(25) % 10 * 65536).all()


def test_runs_have_their_mean_length():
    runs = {"pattern": "sequential", "mean_run": 8.0}
    drawn = Workload.parse({"size": "4 KiB", "clients": 1, "addresses": runs}).requests(
        capacity_bytes=CAPACITY, n=200_000, seed=1
    )
    n_runs = 1 + int((np.diff(drawn.offset) != 4096).sum())
    assert 200_000 / n_runs == pytest.approx(8.0, rel=0.04)  # 25 000 runs, standard error 0.6 %


def test_sorted_batches_ascend():
    drawn = workload("sorted").requests(capacity_bytes=CAPACITY, n=3200, seed=1)
    batches = drawn.offset.reshape(-1, 32)
    assert (np.diff(batches, axis=1) >= 0).all()
    assert (batches[1:, 0] < batches[:-1, -1]).mean() > 0.9


def test_hot_spot_gets_its_share():
    drawn = workload("hot_spot").requests(capacity_bytes=CAPACITY, n=100_000, seed=1)
    assert (drawn.offset < 0.2 * CAPACITY).mean() == pytest.approx(0.8, abs=0.007)


@pytest.mark.parametrize("theta", [0.0, 0.8, 1.0, 1.3])
def test_zipf_ranks_follow_the_law_across_table_and_tail(theta):
    n, n_ranks = 400_000, 1_000_000
    rank = zipf_ranks(np.random.default_rng(11).random(n), n_ranks, theta)
    weight = np.arange(1, n_ranks + 1, dtype=float) ** -theta
    share = np.cumsum(weight) / weight.sum()
    for bound in (1, 10, 1000, 65_000, 66_000, 300_000, 999_999):
        expected = share[bound - 1]
        error = 5 * (expected * (1 - expected) / n) ** 0.5
        assert (rank < bound).mean() == pytest.approx(expected, abs=error), bound
    assert rank.min() >= 0
    assert rank.max() < n_ranks


@pytest.mark.parametrize("arrival", ["poisson", "profile", "bursts", "given"])
def test_open_streams_come_at_their_mean_rate(arrival):
    drawn = workload(arrival=arrival).requests(capacity_bytes=CAPACITY, n=200_000, seed=4)
    mean = {"given": 200.0}.get(arrival, 100.0)
    # bursts: 667 cycles of 3 s, standard error of the rate about 4 %
    assert 200_000 / (drawn.when_ns[-1] / 1e9) == pytest.approx(mean, rel=0.12 if arrival == "bursts" else 0.012)
    assert (np.diff(drawn.when_ns) >= 0).all()


def test_profile_shapes_the_rate():
    drawn = workload(arrival="profile").requests(capacity_bytes=CAPACITY, n=120_000, seed=4)
    slot = drawn.when_ns % 6_000_000_000 // 2_000_000_000
    share = np.bincount(slot, minlength=3) / len(slot)
    assert share == pytest.approx([0, 0.25, 0.75], abs=0.01)


def test_bursts_are_burstier_than_poisson():
    def dispersion(arrival):
        when = workload(arrival=arrival).requests(capacity_bytes=CAPACITY, n=50_000, seed=8).when_ns
        counts = np.bincount(when // 1_000_000_000)[:-1]
        return counts.var() / counts.mean()

    assert dispersion("poisson") == pytest.approx(1.0, abs=0.35)
    assert dispersion("bursts") > 20


def test_paced_clients_start_at_different_phases():
    drawn = workload(arrival="paced").requests(capacity_bytes=CAPACITY, n=100, seed=8)
    assert drawn.streams[0].pace_ns == 12_500_000
    assert len(set(drawn.when_ns[:4])) == 4
    assert drawn.when_ns[:4].max() < 12_500_000
    assert (drawn.when_ns[4:] == 0).all()


def test_bad_counts_and_seeds_are_reported_together():
    with pytest.raises(DescriptionError) as caught:
        workload().requests(capacity_bytes=CAPACITY, n=-1, seed=-1)
    assert [fault.field for fault in caught.value.faults] == ["n", "seed"]


class TestTrace:
    columns = dict(when_ns=[2000, 0, 1000], op=[0, 1, 0], offset=[8192, 0, 4096], length=[512, 1024, 4096])  # noqa: RUF012

    def test_rows_are_sorted_and_timing_is_kept(self):
        requests = TraceWorkload.from_arrays(**self.columns).requests(capacity_bytes=10**6)
        assert requests.when_ns.tolist() == [0, 1000, 2000]
        assert requests.op.tolist() == [1, 0, 0]
        assert requests.offset.tolist() == [0, 4096, 8192]
        assert requests.streams[0].n_clients == 0

    def test_scaled_and_closed_timing(self):
        trace = TraceWorkload.from_arrays(**self.columns)
        assert trace.scaled(2.0).scaled(2.0).requests(capacity_bytes=10**6).when_ns.tolist() == [0, 250, 500]
        closed = trace.with_queue_depth(8)
        assert (closed.is_open, closed.queue_depth) == (False, 8)
        requests = closed.requests(capacity_bytes=10**6, n=2)
        assert requests.streams[0].n_clients == 8
        assert requests.when_ns.tolist() == [0, 0]

    def test_requests_beyond_the_array_are_refused_or_wrapped(self):
        with pytest.raises(DescriptionError, match="beyond the array"):
            TraceWorkload.from_arrays(**self.columns).requests(capacity_bytes=8192)
        wrapped = TraceWorkload.from_arrays(**self.columns, wraps=True).requests(capacity_bytes=8192)
        assert (wrapped.offset + wrapped.length).max() <= 8192

    def test_faults(self):
        with pytest.raises(DescriptionError) as caught:
            TraceWorkload.from_arrays([-1], [3], [-5], [0], speed_up=0, queue_depth=0)
        assert {f.field for f in caught.value.faults} == {
            "when_ns",
            "op",
            "offset",
            "length",
            "speed_up",
            "queue_depth",
        }
        with pytest.raises(DescriptionError, match="differ in length"):
            TraceWorkload.from_arrays([0, 1], [0], [0], [512])


@pytest.mark.parametrize(
    ("sizes", "alignment"),
    [
        (["8 KiB"], 8 << 10),
        (["8 KiB", "64 KiB"], 8 << 10),
        (["24 KiB"], 8 << 10),
        (["6 KiB"], 2 << 10),
        (["512 B"], 512),
        (["1536 B"], 512),
        (["4 MiB"], 1 << 20),
    ],
)
def test_requests_start_at_multiples_of_their_size(sizes, alignment):
    """W5: the largest power of two that divides all sizes, at most 1 MiB; a given alignment replaces it."""
    drawn = workload(sizes=sizes)
    offset = drawn.requests(capacity_bytes=CAPACITY, n=2000, seed=3).offset
    assert drawn.streams[0].alignment == alignment
    assert np.gcd.reduce(offset) == alignment
    given = workload(sizes=sizes, alignment="512 B").requests(capacity_bytes=CAPACITY, n=2000, seed=3)
    assert np.gcd.reduce(given.offset) == 512


def test_a_read_within_a_strip_is_one_disk_operation():
    from diskmodel import Array, simulate

    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid0", "disks": 4, "strip": "64 KiB"}})
    aligned = simulate(array, workload(sizes=["32 KiB"], read_ratio=1.0), n_requests=2000)
    anywhere = simulate(array, workload(sizes=["32 KiB"], read_ratio=1.0, alignment="4 KiB"), n_requests=2000)
    assert aligned.back_end_per_host == 1.0
    # 7 of the 16 places in a strip make a request of 32 KiB cross its end
    assert anywhere.back_end_per_host == pytest.approx(1 + 7 / 16, abs=0.05)


def test_all_is_the_whole_array():
    whole = Workload.parse({"size": "4 KiB", "clients": 1, "span": "all"})
    assert whole.streams[0].span_ratio == 1.0
    mixed = Workload.parse({"span": "all", "streams": [{"size": "4 KiB", "clients": 1}]})
    assert mixed.span_ratio == 1.0

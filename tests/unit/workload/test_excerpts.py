"""Excerpts of a trace: what is packed is drawn, in the course of the phases, and what does not fit is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, simulate
from diskmodel.engine.one_run import FIRST_REQUESTS
from diskmodel.errors import DescriptionError
from diskmodel.records import Requests, StreamRule
from diskmodel.workload import Workload
from diskmodel.workload.condense import cut, represent, stream_of
from diskmodel.workload.draws import RunningDraws
from diskmodel.workload.excerpts import Excerpts
from diskmodel.workload.part import part_of

CAPACITY = 10**11


def small() -> Excerpts:
    """Three phases, the first and the last of the same excerpt; times are powers of two, which are stored exactly."""
    return Excerpts.pack(
        excerpt=[0, 1, 0],
        duration_ns=[1 << 30, 1 << 31, 1 << 20],
        shift_bytes=[0, 0, 3 << 20],
        ends=[2, 5],
        gap_ns=[4, 0, 256, 512, 256],
        op=[0, 1, 0, 0, 1],
        length=[4096, 512, 1024, 512, 512],
        place=[8192, 0, 512 * 7, 512 * 9, 0],
    )


def described(**more: Any) -> dict[str, Any]:
    cycle = small().cycle
    sizes = [{"size_bytes": int(size), "weight": 1.0} for size in cycle.length]
    return {
        "sizes": sizes,
        "alignment": "512 B",
        "read_ratio": cycle.read_ratio,
        "addresses": "excerpts",
        "arrival": {"kind": "excerpts", "rate_per_s": cycle.rate_per_s},
        "excerpts": small().to_dict(),
    } | more


def trace(n: int = 1000, seed: int = 1) -> Requests:
    """Sequential runs of random length, with bursts and pauses."""
    random = np.random.default_rng(seed)
    gap = random.choice([1000, 100_000, 10**8], n, p=[0.6, 0.3, 0.1]) * random.integers(1, 9, n)
    length = random.choice([4096, 16384, 65536], n)
    jumps = random.random(n) < 0.3
    runs = np.cumsum(np.where(jumps, random.integers(0, 10**4, n) * 4096, length))
    return Requests(
        when_ns=np.cumsum(gap) - gap[0],
        op=(random.random(n) < 0.4).astype(np.uint8),
        offset=runs % 10**10 // 4096 * 4096,
        length=length,
        stream=np.zeros(n, np.int32),
        cache_draw=np.zeros(n),
        streams=(StreamRule("trace"),),
    )


def test_phases_are_their_excerpts_at_their_own_duration():
    """By hand: gaps of an excerpt in proportion, stretched to the duration of each phase; places moved by 3 MiB."""
    cycle = small().cycle
    assert cycle.op.tolist() == [0, 1, 0, 0, 1, 0, 1]
    assert cycle.length.tolist() == [4096, 512, 1024, 512, 512, 4096, 512]
    assert cycle.place.tolist() == [8192, 0, 3584, 4608, 0, 8192 + (3 << 20), 3 << 20]
    assert cycle.gap_ns.tolist() == [1 << 30, 0, 1 << 29, 1 << 30, 1 << 29, 1 << 20, 0]


def test_requests_are_the_cycle_again_and_again():
    cycle = small().cycle
    drawn = Workload.parse(described()).requests(capacity_bytes=CAPACITY, n=20, seed=3)
    rows = [
        row
        for row in range(7)
        if all(
            np.array_equal(np.resize(np.roll(column, -row), 20), found)
            for column, found in ((cycle.op, drawn.op), (cycle.length, drawn.length), (cycle.place, drawn.offset))
        )
    ]
    assert len(rows) == 1
    gaps = np.resize(np.roll(cycle.gap_ns, -rows[0] - 1), 19)
    assert np.abs(np.diff(drawn.when_ns) - gaps).max() <= 1  # rounded once
    assert drawn.when_ns[0] == 0


def test_a_trace_that_is_kept_whole_is_drawn_as_it_was():
    recorded = trace()
    phases = cut(recorded, 64)
    workload = Workload(name="all", streams=(stream_of(phases, represent(phases, 1.0)),))
    drawn = workload.requests(capacity_bytes=CAPACITY, n=1000, seed=0)
    start = next(row for row in range(1000) if np.array_equal(np.roll(recorded.offset, -row), drawn.offset))
    assert np.array_equal(np.roll(recorded.op, -start), drawn.op)
    assert np.array_equal(np.roll(recorded.length, -start), drawn.length)
    gaps = np.roll(np.diff(recorded.when_ns, prepend=0), -start)[1:]
    within = np.diff(drawn.when_ns)[gaps > 0] / gaps[gaps > 0]
    assert np.abs(within - 1).max() < 0.03  # a step of a gap is 2.2 %, of a phase 0.3 %: half of each, twice
    assert Workload.parse(workload.to_dict()) == workload


def test_no_seed_begins_within_a_burst():
    """Ten bursts of a hundred requests, a second apart; requests within one come a microsecond apart."""
    n = 1000
    row = np.arange(n)
    burst = Requests(
        when_ns=row // 100 * 10**9 + row % 100 * 1000,
        op=np.zeros(n, np.uint8),
        offset=row * 7919 % 10**5 * 4096,
        length=np.full(n, 4096),
        stream=np.zeros(n, np.int32),
        cache_draw=np.zeros(n),
        streams=(StreamRule("trace"),),
    )
    phases = cut(burst, 64)
    workload = Workload(name="b", streams=(stream_of(phases, represent(phases, 1.0)),))
    for seed in range(20):
        when = workload.requests(capacity_bytes=CAPACITY, n=100, seed=seed).when_ns
        assert when[-1] < 200_000, seed


def even_then_burst(at: int) -> Requests:
    """A request every 100 ms, with 300 at once before request `at` of 1000."""
    n, first = 1000, at - 300
    gap = np.full(n, 10**8)
    gap[first:at] = 1000
    return Requests(
        when_ns=np.cumsum(gap) - gap[0],
        op=np.zeros(n, np.uint8),
        offset=np.arange(n) * 7919 % 10**5 * 4096,
        length=np.full(n, 4096),
        stream=np.zeros(n, np.int32),
        cache_draw=np.zeros(n),
        streams=(StreamRule("trace"),),
    )


@pytest.mark.parametrize(("at", "is_fixed"), [(1000, True), (500, False)])
def test_a_trace_that_ends_in_a_burst_begins_at_its_beginning(at, is_fixed):
    recorded = even_then_burst(at)
    phases = cut(recorded, 64)
    stream = stream_of(phases, represent(phases, 1.0))
    workload = Workload(name="b", streams=(stream,))
    first = {int(workload.requests(capacity_bytes=CAPACITY, n=1, seed=seed).offset[0]) for seed in range(10)}
    assert (first == {int(recorded.offset[0])}) is is_fixed
    assert (len(first) == 1) is is_fixed


def test_another_rate_brings_all_gaps_nearer():
    workload = Workload.parse(described())
    slow, fast = (w.requests(capacity_bytes=CAPACITY, n=50, seed=1) for w in (workload, workload.scaled(4.0)))
    assert np.abs(slow.when_ns / 4 - fast.when_ns).max() <= 1
    assert np.array_equal(slow.offset, fast.offset)


@pytest.mark.parametrize("read_ratio", [0.0, 0.3, 0.9, 1.0])
def test_another_share_of_reads_exchanges_some_operations(read_ratio):
    own = Workload.parse(described()).requests(capacity_bytes=CAPACITY, n=70_000, seed=1).op
    other = Workload.parse(described(read_ratio=read_ratio)).requests(capacity_bytes=CAPACITY, n=70_000, seed=1).op
    assert (other == 0).mean() == pytest.approx(read_ratio, abs=0.01)  # five standard errors
    became_reads = (own == 1) & (other == 0)
    became_writes = (own == 0) & (other == 1)
    assert not (became_reads.any() and became_writes.any())


def test_times_of_excerpts_go_with_other_places():
    mixed = Workload.parse(described(addresses="uniform")).requests(capacity_bytes=CAPACITY, n=100, seed=2)
    alone = Workload.parse(described()).requests(capacity_bytes=CAPACITY, n=100, seed=2)
    assert np.array_equal(mixed.when_ns, alone.when_ns)
    assert len(np.unique(mixed.offset)) > 90


def test_a_shorter_region_is_used_again_from_its_front():
    drawn = Workload.parse(described(span="6 KiB", offset="1 MiB")).requests(capacity_bytes=CAPACITY, n=70, seed=1)
    assert drawn.offset.min() >= 1 << 20
    assert (drawn.offset + drawn.length).max() <= (1 << 20) + 6144


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"excerpts": None}, "the stream has none"),
        ({"excerpts": None, "addresses": "uniform"}, "arrival: drawn from excerpts"),
        ({"sizes": ["8 KiB"]}, "must summarize the excerpts"),
        ({"sizes": ["2 KiB"]}, "must summarize the excerpts"),
    ],
)
def test_a_stream_that_contradicts_its_excerpts_is_refused(change, message):
    with pytest.raises(DescriptionError, match=message):
        Workload.parse({key: value for key, value in (described() | change).items() if value is not None})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests": "not base 85 \\"}, "cannot be read"),
        ({"phases": ""}, "cannot be read"),
        ({"n_requests": 4}, "cannot be read"),
        ({"n_requests": 6}, "cannot be read"),
        ({"n_phases": 2}, "cannot be read"),
        ({"n_excerpts": 1}, "more than 1 values"),
    ],
)
def test_damaged_columns_are_refused(change, message):
    with pytest.raises(DescriptionError, match=message):
        Excerpts.parse(small().to_dict() | change)


def test_columns_that_contradict_each_other_are_refused():
    columns = {
        "excerpt": [0],
        "duration_ns": [5],
        "shift_bytes": [0],
        "ends": [1],
        "gap_ns": [1],
        "op": [0],
        "length": [512],
        "place": [0],
    }
    Excerpts.pack(**columns)
    for name, value in (("op", [2]), ("length", [0]), ("duration_ns", [0]), ("ends", [2])):
        with pytest.raises((DescriptionError, IndexError)):
            Excerpts.pack(**columns | {name: value})


def test_a_run_covers_all_phases_once():
    """The first run of a search for precision is not shorter than the course: some phases have its bursts."""
    phases = cut(trace(30_000), 128)
    workload = Workload(name="long", streams=(stream_of(phases, represent(phases, 1.0)),))
    assert workload.n_cycle >= 30_000 > FIRST_REQUESTS["native"]
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "raid10", "disks": 16, "strip": "64 KiB"}})
    assert simulate(array, workload, precision=0.9).n_requests >= workload.n_cycle
    half = Workload.parse({"streams": [described(name="a"), {"name": "b", "size": "4 KiB", "rate_per_s": 1.0}]})
    assert half.n_cycle == int(np.ceil(7 * (small().cycle.rate_per_s + 1) / small().cycle.rate_per_s))


def test_phases_meet_at_the_longest_gaps_and_have_about_their_length():
    recorded = trace(5000)
    cuts = cut(recorded, 64).cuts
    rows = np.diff(cuts)
    assert (cuts[0], cuts[-1]) == (0, 5000)
    assert rows[:-1].min() >= 32
    assert rows.max() <= 96
    gaps = np.diff(recorded.when_ns, prepend=0)
    assert np.median(gaps[cuts[1:-1]]) > np.quantile(gaps, 0.97)


def test_excerpts_of_a_few_phases_keep_queues_and_amounts():
    recorded = trace(20_000)
    phases = cut(recorded, 64)
    standing_for = represent(phases, 0.125)
    kept = np.unique(standing_for)
    assert 0.11 * phases.n <= len(kept) <= 0.13 * phases.n
    assert (standing_for[kept] == kept).all()
    longest = np.argsort(-phases.queued)[: len(kept) // 2]
    assert np.isin(longest, kept).all()
    balance = phases.amounts[standing_for].sum(axis=0) / phases.amounts.sum(axis=0)
    assert np.abs(balance - 1).max() < 0.08
    others = standing_for != np.arange(phases.n)
    unlike = ((phases.likeness[standing_for] - phases.likeness) ** 2).sum(axis=1)[others]
    at_random = np.random.default_rng(1).choice(kept, phases.n)
    assert unlike.mean() < 0.7 * ((phases.likeness[at_random] - phases.likeness) ** 2).sum(axis=1)[others].mean()
    cycle = stream_of(phases, standing_for).excerpts.cycle
    assert cycle.rate_per_s == pytest.approx(19_999e9 / recorded.when_ns[-1], rel=0.01)


def test_phases_of_one_excerpt_go_to_their_own_places():
    """Requests at random over 10 GB: a sixteenth of the phases stands for all, and covers as much as the trace."""
    recorded = trace(8000)
    phases = cut(recorded, 64)
    stream = stream_of(phases, represent(phases, 1 / 16))
    drawn = Workload(name="w", streams=(stream,)).requests(capacity_bytes=CAPACITY, n=8000, seed=1)
    covered, true = (len(np.unique(found.offset >> 20)) for found in (drawn, recorded))
    assert covered == pytest.approx(true, rel=0.25)
    assert drawn.offset.min() >= stream.offset_bytes
    assert (drawn.offset + drawn.length).max() <= stream.offset_bytes + stream.span_bytes


def test_a_place_before_the_region_is_one_at_its_end():
    before = Excerpts.pack(
        excerpt=[0],
        duration_ns=[1 << 30],
        shift_bytes=[-(1 << 20)],
        ends=[2],
        gap_ns=[1, 1],
        op=[0, 0],
        length=[4096, 4096],
        place=[0, 2 << 20],
    )
    assert before.cycle.place.tolist() == [-(1 << 20), 1 << 20]
    described_so = described(excerpts=before.to_dict(), read_ratio=1.0, sizes=["4 KiB"], span="8 MiB")
    drawn = Workload.parse(described_so).requests(capacity_bytes=CAPACITY, n=2, seed=0)
    assert set(drawn.offset.tolist()) == {7 << 20, 1 << 20}


def test_a_part_is_some_phases_in_their_course_and_goes_round():
    part = small().part(0.67, 0.67)
    assert part.n_phases == 2
    # the third phase and the first
    assert part.cycle.place.tolist() == [8192 + (3 << 20), 3 << 20, 8192, 0]
    assert part.cycle.gap_ns.tolist() == [1 << 20, 0, 1 << 30, 0]


def test_a_workload_in_a_part_of_its_recording_has_the_rate_and_the_mix_of_the_part():
    load = Workload.parse(described()).scaled(2.0)
    (stream,) = part_of(load, 1 / 3, 1 / 3).streams
    assert stream.excerpts is not None
    assert stream.excerpts.cycle.length.tolist() == [1024, 512, 512]
    assert stream.read_ratio == pytest.approx(2 / 3)
    assert stream.expected_rate_per_s == pytest.approx(2 * 3e9 / (1 << 31))
    assert stream.mean_size_bytes == pytest.approx((1024 + 2 * 512) / 3)


def test_other_streams_stay_as_they_are_in_a_part():
    load = Workload.parse({"size": "4 KiB", "rate_per_s": 50})
    assert part_of(load, 0.5, 0.25) == load


def test_waits_of_parts_are_those_of_their_requests():
    excerpts = stream_of(cut(trace(), 64), np.arange(cut(trace(), 64).n)).excerpts
    assert excerpts is not None
    wait_ns = excerpts.cycle.wait_ns
    found = excerpts.waits_of_parts(4, 0.25)
    expected = [float(wait_ns[first : first + 250].mean()) for first in (0, 250, 500, 750)]
    assert found.tolist() == pytest.approx(expected)
    assert max(expected) > 1.5 * min(expected)


@pytest.mark.parametrize("whole", [0, 10**9])
def test_times_never_decrease_where_a_cycle_begins_again(whole):
    """Sums of large times round, and requests at the same instant lie on both sides of the border."""
    excerpts = Excerpts.pack(
        excerpt=[0, 0, 0],
        duration_ns=[10**9 + 7, 3 * 10**8 + 1, 7 * 10**8 + 3],
        shift_bytes=[0, 0, 0],
        ends=[4],
        gap_ns=[0, 900, 0, 0],
        op=[0] * 4,
        length=[512] * 4,
        place=[0] * 4,
    )
    draws = RunningDraws(0, 0, excerpts)
    draws.first_row = whole
    assert (np.diff(excerpts.when(100_000, draws, 7.77)) >= 0).all()

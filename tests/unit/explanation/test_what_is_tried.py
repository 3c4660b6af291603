"""Which causes are simulated before others, which errors they have, and what is expected where Linux reads."""

import pytest

from diskmodel.array import Array
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.hypotheses import Variant, _usual_first, hypothesis_of, simulated
from diskmodel.explanation.measured import Measured, measured_array
from diskmodel.explanation.model_errors import two_kinds_variance
from diskmodel.explanation.pairs import _acting
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.singles import _in_turn, is_long
from diskmodel.workload import Workload

READ = Workload.parse({"size": "8 KiB", "clients": 1})
LARGE = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})


def _load(workload: Workload, rate: float, part: str = "reads") -> Measured:
    mean = workload.queue_depth * 1e9 / rate
    return Measured("load", workload, {"iops": rate, f"{part}.mean": mean}, {part: 3_000.0})


def _variant(name: str, place: int = 0) -> Variant:
    cause = CAUSES[name]
    words, value, share = cause.variants([_load(READ, 40.0)])[place]
    return Variant(cause, words, value, share)


def test_all_drives_of_raid_10_of_flash_work_for_one_long_read() -> None:
    """Linux chooses a copy for each strip: four drives read a mebibyte together, and not two of them."""
    array = Array.from_words("4x samsung-pm893-960 raid10")
    rate = Simulator(array, [_load(LARGE, 1_000.0)], n_draws=2).runs[0]["iops"]
    assert rate * LARGE.mean_size_bytes > 2.5 * array.drive.sequential_bytes_per_s


def test_only_what_nobody_described_is_read_as_linux_does() -> None:
    one = _load(READ, 100.0)
    for words in ("4x generic-7k2 raid10", "2x samsung-pm893-960 raid1", "4x samsung-pm893-960 raid10, perc-h730"):
        assert measured_array(Array.from_words(words), one).layout.read_policy == "nearest"
    given = Array.parse(
        {"drive": "samsung-pm893-960", "layout": {"level": "raid10", "disks": 4, "read_policy": "nearest"}}
    )
    assert measured_array(given, one).layout.read_policy == "nearest"


def test_a_cause_that_leaves_a_load_alone_adds_no_error_to_another_one() -> None:
    simulator = Simulator(Array.from_words("generic-7k2"), [_load(READ, 60.0)], n_draws=2)
    limit, cache = _variant("rate-limit", 2), _variant("drive-write-cache-off")
    runs = simulated(simulator, [((limit,), 0), ((limit, cache), 0)], "")
    alone, beside = hypothesis_of(simulator, (limit,), runs), hypothesis_of(simulator, (limit, cache), runs)
    assert alone is not None
    assert beside is not None
    assert beside.log_likelihood == alone.log_likelihood
    assert _acting(simulator, [limit, cache], [0]) == [limit]


def test_the_usual_causes_and_those_of_the_kind_itself_are_simulated_first() -> None:
    usual, seldom, own = (_variant(name) for name in ("other-load", "elevator", "node-recovering"))
    first, second, third = _usual_first([((usual,), 0), ((seldom,), 0), ((own,), 0)])
    assert third > first > second


def test_of_loads_whose_runs_take_long_the_one_that_says_most_comes_first() -> None:
    writes = Workload.parse({"size": "8 KiB", "clients": 4, "read_ratio": 0.0})
    array = Array.from_words("4x generic-7k2 raid5, 1GiB cache")
    loads = [_load(writes, 1_000.0, "writes"), _load(writes, 10.0, "writes")]
    simulator = Simulator(array, loads, n_draws=2)
    assert all(is_long(simulator, load) for load in (0, 1))
    expected = simulator.runs[0]["iops"]
    far = max((0, 1), key=lambda load: abs(loads[load].figures["iops"] - expected) / loads[load].figures["iops"])
    assert _in_turn(simulator, [0, 1])[0] == far


def test_requests_that_each_lie_on_two_strips_take_twice_the_disks() -> None:
    array, deep = Array.from_words("8x generic-7k2 raid10"), Workload.parse({"size": "8 KiB", "clients": 32})
    simulator = Simulator(array, [_load(deep, 500.0)], n_draws=2)
    some, each = (_variant("misaligned", place) for place in (0, 1))
    runs = simulated(simulator, [((some,), 0), ((each,), 0)], "")
    rates = [run.figures["iops"] / simulator.runs[0]["iops"] for run in runs.values() if run is not None]
    assert 0.8 < rates[0] < 1.0
    assert rates[1] == pytest.approx(0.55, abs=0.1)


def test_on_which_side_of_a_gap_a_percentile_lies_is_not_known() -> None:
    """Writes to a cache take microseconds or wait for disks; those of a disk differ by less than a hundred times."""
    cached = {"writes.p50": 16e3, "writes.p99": 200e6, "reads.p50": 8e6, "reads.p99": 80e6}
    assert two_kinds_variance(cached, "writes", "p95") > 16
    assert two_kinds_variance(cached, "writes", "mean") == 0
    assert two_kinds_variance(cached, "reads", "p95") == 0

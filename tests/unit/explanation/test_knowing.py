"""What is taken to be known of measured loads: runs that are long enough, and shapes that nobody knows well."""

import math
from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import Trials
from diskmodel.explanation import simulator
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.simulator import Simulator
from diskmodel.host import Host
from diskmodel.workload import Workload


def measured(part: str, **fields: object) -> Measured:
    figures = {"iops": 100.0, f"{part}.mean": 1e7, f"{part}.p99": 5e7}
    return Measured("load", Workload.parse(fields), figures, {part: 10_000.0})


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("2x6 seagate-exos-x18 raidz2", {"size": "1 MiB", "clients": 4, "read_ratio": 0}),
        ("4x samsung-pm893-960 raid10", {"size": "8 KiB", "clients": 4, "read_ratio": 0}),
    ],
)
def test_what_is_expected_is_the_same_of_runs_half_as_long_again(
    words: str, fields: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = []
    for times in (1.0, 1.5):
        monkeypatch.setattr(simulator, "REQUESTS", round(3_000 * times))
        monkeypatch.setattr(simulator, "_RUN_S", 0.3 * times)
        rates.append(Simulator(Array.from_words(words), [measured("writes", **fields)], n_draws=2).runs[0]["iops"])
    assert math.isclose(rates[0], rates[1], rel_tol=0.1)


def own_errors(words: str, part: str, **fields: object) -> dict[str, float]:
    found = Simulator(Array.from_words(words), [measured(part, **fields)], n_draws=2)
    return {figure.key: math.sqrt(error) for figure, error in zip(found.figures, found.own, strict=True)}


def test_single_times_of_requests_in_order_are_hardly_known() -> None:
    at_random = own_errors("generic-7k2", "reads", size="64 KiB", clients=1)
    in_order = own_errors("generic-7k2", "reads", size="64 KiB", clients=1, addresses="sequential")
    assert in_order["reads.p99"] > 1.5 * at_random["reads.p99"]
    assert math.isclose(in_order["iops"], at_random["iops"])


def test_how_long_requests_of_a_queue_wait_is_less_known_than_seeks_and_turns() -> None:
    alone, queued = (own_errors("seagate-exos-x18", "reads", size="4 KiB", clients=n) for n in (1, 16))
    assert queued["reads.p99"] > 1.5 * alone["reads.p99"]
    assert math.isclose(queued["iops"], alone["iops"])
    of_flash = [own_errors("samsung-pm893-960", "reads", size="4 KiB", clients=n) for n in (1, 16)]
    assert math.isclose(of_flash[0]["reads.p99"], of_flash[1]["reads.p99"], rel_tol=0.05)


def test_what_is_unknown_of_one_load_widens_no_other() -> None:
    loads = [measured("reads", size="4 KiB", clients=16), measured("writes", size="4 KiB", clients=4, read_ratio=0)]
    both = Simulator(Array.from_words("seagate-exos-x18"), loads, n_draws=4)
    each = [Simulator(Array.from_words("seagate-exos-x18"), [one], n_draws=4) for one in loads]
    assert list(both.dofs) == pytest.approx([one.dof for one in each])
    assert min(both.dofs) < both.dof < max(both.dofs)


def test_one_thread_of_fio_submits_on_one_processor() -> None:
    mirror = Array.from_words("2x samsung-pm9a3-7680 raid1")
    load = measured("reads", size="4 KiB", clients=64)
    hosts = [Simulator(mirror, [replace(load, n_threads=n)], n_draws=2).arrays[0].host for n in (1, 4, None)]
    assert [one.processors for one in hosts] == [1, 4, 2]
    described = mirror.model_copy(update={"host": Host(processors=3)})
    assert Simulator(described, [replace(load, n_threads=1)], n_draws=2).arrays[0].host.processors == 3


def test_writes_in_a_drives_buffer_are_hardly_known_beside_reads() -> None:
    alone = own_errors("generic-7k2", "writes", size="8 KiB", clients=4, read_ratio=0)
    beside = own_errors("generic-7k2", "writes", size="8 KiB", clients=4, read_ratio=0.7)
    assert beside["writes.mean"] > 1.0 > alone["writes.mean"]


def test_loads_with_fewer_draws_than_others_are_compared_by_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three loads had no time for all draws; the third has as many as it."""
    affordable = iter([8, 5, 5])
    monkeypatch.setattr(Trials, "affordable", lambda self, n_draws, part: min(next(affordable), n_draws))
    loads = [measured("reads", size=size, clients=4) for size in ("4 KiB", "8 KiB", "64 KiB")]
    found = Simulator(Array.from_words("2x generic-7k2 raid1"), loads, n_draws=8)
    assert [len(one.figures) for one in found.truths if one is not None] == [8, 5, 5]
    assert math.isfinite(found.shared.sum())

"""What one array can carry: over queues whose saturation is known, and as the command shows it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from diskmodel.array import Array
from diskmodel.engine.ledger import Account, on_account
from diskmodel.errors import DescriptionError
from diskmodel.plan import compare, find_capacity
from diskmodel.plan.answer.load_curve import LoadPoint
from diskmodel.plan.comparison.highest_rate import _around_the_highest, _Ladder, points_to_overload
from diskmodel.plan.show.capacity import capacity_html, capacity_rows, capacity_table, sentence
from diskmodel.plan.trial.evaluation import Evaluation
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload
from tests.unit.cli.commands import answer, run
from tests.unit.plan.fakes import SERVICE_S, Queues

LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "1/s"})


def test_knee_and_highest_rate_of_queues() -> None:
    """M/M/1 queues of RAID 10: saturation where the formula puts it, the knee at half of it."""
    found = find_capacity(Array("8x generic-15k raid10"), LOAD, evaluate=Queues(), n_draws=0)
    saturation = 8 / SERVICE_S[15_000] / (0.7 + 0.3 * 2)
    assert saturation * 0.98 < found.highest.offered < saturation
    assert found.highest.offered < found.overload_per_s <= 1.01 * saturation
    assert (found.most_per_s.low, found.most_per_s.high) == (found.highest.offered, found.overload_per_s)
    assert found.knee.offered == pytest.approx(saturation / 2, rel=0.1)
    assert found.degraded is not None
    assert found.degraded.latency_ms()["p99"] > found.knee.outcome.latency_ms()["p99"]
    assert 0 < found.loss_per_year < 0.1


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        ("4x aws-io2 raid0, on r5b.2xlarge", "the machine, 43,333 operations a second"),
        ("2x aws-gp2 raid0, on r5b.2xlarge", "the limits of the volumes, 100% busy"),
    ],
)
def test_a_machine_limits_its_volumes(words: str, limit: str) -> None:
    """Those of io2 together may do more than the machine, those of gp2 less."""
    assert find_capacity(Array.from_words(words), LOAD, n_requests=4000, n_draws=0).limit == limit


def test_the_rate_of_the_workload_does_not_matter() -> None:
    one, other = (
        find_capacity(Array("8x generic-15k raid5"), LOAD.scaled(factor), evaluate=Queues(), n_draws=0)
        for factor in (1, 1000)
    )
    assert one.highest.offered == pytest.approx(other.highest.offered, rel=0.01)


@pytest.mark.parametrize("rate", ["50/s", "5000/s"])
def test_a_comparison_names_the_same_rates(rate: str) -> None:
    """Under a light load disks are far from their highest rate, which an elevator raises above what they say there."""
    words = "4x seagate-exos-10e2400-2400 raid5"
    found = find_capacity(Array(words), LOAD, n_draws=0, n_requests=3000)
    load = LOAD.scaled(float(rate.removesuffix("/s")))
    (compared,) = compare([Array(words)], load, n_draws=0, n_requests=3000).arrays
    assert compared.headroom.most_iops == pytest.approx(found.highest.offered, rel=0.01)
    assert compared.headroom.knee_iops == pytest.approx(found.knee.offered, rel=0.01)
    assert 1.0 in [point.load_factor for point in compared.curve]
    assert found.highest.offered > 3 * found.knee.offered


def test_the_highest_rate_is_found_without_the_curve() -> None:
    """A few runs around it find the same, whose loads far below it nobody looks at."""
    array, evaluate = Array("4x generic-7k2 raid10, 64MiB write cache"), Evaluation.of(Simulated())
    whole, few = (
        [
            (point.offered, point.outcome.is_stable)
            for point in points_to_overload(array, LOAD, evaluate, seed=0, n_requests=2000, with_curve=has)
        ]
        for has in (True, False)
    )
    assert few[-2:] == whole[-2:]
    assert len(few) < len(whole) - 4
    assert set(few) < set(whole)
    known, unknown = (
        compare([array], LOAD, evaluate=Queues(), n_draws=0, with_curves=has).arrays[0].headroom
        for has in (True, False)
    )
    assert unknown.most_iops == known.most_iops
    assert math.isnan(unknown.knee_iops)


@pytest.mark.parametrize("guess", [1.0, 1e3, 1e9, math.inf])
def test_the_highest_rate_is_found_from_any_guess(guess: float) -> None:
    """Queues that serve 1,600 requests a second."""

    def at(rates: list[float]) -> list[LoadPoint]:
        load = Workload.parse({"size": "8 KiB", "rate": "1/s"})
        return [LoadPoint(rate, rate, Queues()(array, load.scaled(rate), n_requests=1, seed=0)) for rate in rates]

    array = Array("8x generic-15k raid0")
    ladder = _Ladder((100.0, 300.0, 500.0), 1.3)
    found = _around_the_highest(at, ladder, ladder.index_below(guess))
    over = min(point.offered for point in found.values() if not point.outcome.is_stable)
    below = max(point.offered for point in found.values() if point.outcome.is_stable)
    saturation = 8 / SERVICE_S[15_000]
    assert below < saturation < over
    assert over == pytest.approx(1.3 * below)


def test_an_array_without_redundancy_has_no_rebuild() -> None:
    found = find_capacity(Array("4x generic-15k raid0"), LOAD, evaluate=Queues(), n_draws=0)
    assert found.degraded is None
    assert math.isnan(found.rebuild_hours)
    assert "rebuilding" not in " ".join(name for name, _ in capacity_rows(found))


def test_names_of_tables_in_brackets_are_shown_in_a_terminal() -> None:
    found = find_capacity(Array("2x generic-15k raid1"), LOAD, evaluate=Queues(), n_draws=0)
    console = Console(width=100, record=True, file=StringIO())
    console.print(capacity_table(replace(found, limit="[host] lock describes another")))
    assert "[host] lock describes another" in console.export_text()


def test_a_closed_load_is_refused() -> None:
    closed = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "clients": 4})
    with pytest.raises(DescriptionError, match="is closed, and has no rate to scale"):
        find_capacity(Array("4x generic-15k raid0"), closed, evaluate=Queues())


def test_shown_in_a_notebook() -> None:
    found = find_capacity(Array("8x generic-15k raid10"), LOAD, evaluate=Queues(), n_draws=0)
    assert sentence(found) in capacity_html(found)
    assert "No write cache" in capacity_html(found)


def test_the_command() -> None:
    words = ("capacity", "4x generic-15k raid10", "--requests", 2_000, "--only-run-noise")
    done = run(*words)
    assert done.exit_code == 0
    assert "assumed: --reads 70% and --block 8k" in done.stderr
    text = " ".join(done.stdout.split())
    assert "carries" in text
    assert "a year" in text
    found = answer(*words, "--block", "64k")
    assert found["most_low_per_s"] == found["highest"]["offered"] < found["overload_per_s"]
    assert json.loads(json.dumps(found))["workload"]["streams"][0]["sizes"][0]["size_bytes"] == 65536


def test_writes_that_stay_in_memory_are_no_rate_of_a_pool() -> None:
    """3,000 MiB are less than OpenZFS collects before anything has to reach the disks."""
    load = Workload.parse({"size": "1 MiB", "read_ratio": 0, "rate": "1/s", "addresses": {"pattern": "sequential"}})
    with pytest.raises(DescriptionError, match="requests=300: are too few"):
        find_capacity(Array("8x generic-7k2 raidz2"), load, n_requests=300, n_draws=0)


def test_an_array_whose_cache_has_all_data_has_no_highest_rate() -> None:
    array = Array.parse(
        {
            "drive": "generic-15k",
            "layout": {"level": "raid1", "disks": 2},
            "controller": {"read_cache": {"size": "64 MiB"}},
        }
    )
    load = Workload.parse({"size": "8 KiB", "rate": "100/s", "span": "30 MB"})
    with pytest.raises(DescriptionError, match="no disk is ever busy"):
        find_capacity(array, load, n_draws=0, n_requests=500)


def test_a_pool_whose_memory_has_all_data_has_no_capacity() -> None:
    """No disk has anything to do; the rule of thumb divided by that, and then the rate fell for a year."""
    array = Array.parse(
        {
            "drive": "intel-x25-e-64",
            "layout": {"level": "draid2", "disks": 11, "record": "128 KiB"},
            "controller": {"read_cache": {"size": "512 GiB"}},
        }
    )
    with pytest.raises(DescriptionError, match="no disk is ever busy"):
        find_capacity(array, Workload.parse({"size": "64 KiB", "rate": "100/s"}))


@pytest.mark.parametrize("level", ["raid0", "raid50"])
def test_a_handful_of_large_reads_makes_no_rate_that_no_drives_read(level: str) -> None:
    """Eight of 1 GiB arrive before the first is there: 52 a second were "sustained", of 39 that six drives can read."""
    array = Array(f"6x kioxia-cm6-r-30720 {level}")
    load = Workload.parse({"size": "1 GiB", "rate": "6e5/s"})
    with on_account(Account(8)):
        found = find_capacity(array, load, n_draws=0)
    assert found.highest.outcome.n_requests < 200
    most = array.layout.disks * array.drive.sequential_bytes_per_s / 2**30
    assert most / 3 < found.highest.offered < most

"""How single reads scatter becomes delays, which leave the mean as it was and predict p99 of deeper queues."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.fit import calibrate
from calibrate.flash.delays import N_DELAYS, delays_ns, latency_besides_ns
from calibrate.flash.model import FlashShape, flash_of
from calibrate.hdd.from_fio.conditions import Condition, conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.formats import read_fio
from tests.validation.fits.measured import PERCENTS, Point, write_fio

SCATTERED = {1.0: 80_000, 50.0: 100_000, 90.0: 150_000, 95.0: 180_000, 99.0: 240_000}
#: Four of five reads of this drive take 70 µs, the others 130 µs.
DRIVE = flash_of(FlashShape(9_000.0, 6_000.0, 55_000.0, 16, 16384, 1.2), capacity_bytes=1 << 30).model_copy(
    update={"read_delay_ns": (0, 0, 0, 0, 60_000)}
)


def test_delays_scatter_as_the_percentiles_do() -> None:
    found = np.array(delays_ns(SCATTERED, 500_000))
    assert len(found) == N_DELAYS
    assert found[0] == 0
    assert found[-1] == pytest.approx(160_000, rel=0.01)
    assert np.median(found) == pytest.approx(20_000, rel=0.05)


@pytest.mark.parametrize("latency_ns", [1_000, 10_000, 30_000, 500_000])
def test_delays_and_latency_have_the_mean_of_the_latency(latency_ns: int) -> None:
    found = delays_ns(SCATTERED, latency_ns)
    assert list(found) == sorted(found)
    assert latency_besides_ns(latency_ns, found) + np.mean(found) == pytest.approx(latency_ns, abs=2)


def test_a_latency_that_is_too_short_keeps_the_slow_reads() -> None:
    """All reads up to some response are alike; above it they are as slow, compared with each other, as measured."""
    found, all_of_them = np.array(delays_ns(SCATTERED, 10_000)), np.array(delays_ns(SCATTERED, 500_000))
    assert (found == 0).sum() > N_DELAYS / 2
    assert found[-1] - found[-10] == pytest.approx(all_of_them[-1] - all_of_them[-10], abs=2)


def test_a_draw_with_a_shorter_latency_has_none_besides_the_delays() -> None:
    assert latency_besides_ns(5_000, (0, 20_000)) == 1


@pytest.mark.parametrize("percentiles", [{}, {50.0: 100_000}, dict.fromkeys(SCATTERED, 90_000)])
def test_without_scatter_there_are_no_delays(percentiles: dict[float, float]) -> None:
    assert delays_ns(percentiles, 20_000) == ()
    assert latency_besides_ns(20_000, ()) == 20_000


def predicted(drive: Drive, condition: Condition) -> tuple[float, dict[float, float]]:
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    found = MeasuredArray(array, n_requests=12_000).predict(drive, condition, 1)
    return found.iops, dict(found.percentiles_ns)


@pytest.mark.slow
def test_scatter_of_single_reads_predicts_deeper_queues(tmp_path: Path) -> None:
    """Fitted at depths 1, 4, 16 and 64 to a drive with fast and slow reads, whose means are those of a uniform one."""
    points = []
    for depth in (1, 2, 4, 8, 16, 64):
        point = Point("truth", "read", depth, 1, 1e4 * depth, 0.1, dict.fromkeys(PERCENTS, 0.1), 1.0, "")
        (condition,) = conditions_of(read_fio(write_fio(tmp_path / "asked.json", [point])))
        iops, percentiles = predicted(DRIVE, condition)
        shown = {percent: percentiles[percent] / 1e6 for percent in PERCENTS}
        points.append(Point("truth", "read", depth, 1, iops, 1e3 * depth / iops, shown, 1.0, ""))
    fitted = calibrate(write_fio(tmp_path / "fitted.json", [p for p in points if p.depth not in (2, 8)]))
    assert fitted.has_converged, fitted.message
    for condition in conditions_of(read_fio(write_fio(tmp_path / "all.json", points))):
        iops, percentiles = predicted(fitted.drive, condition)
        assert iops == pytest.approx(condition.iops, rel=0.05), condition
        assert percentiles[99.0] == pytest.approx(condition.percentiles_ns[99.0], rel=0.1), condition

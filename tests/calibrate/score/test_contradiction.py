"""When held-out data contradict a fit, and what becomes of the profile's intervals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from calibrate.calibration import Calibration, misfit_of, tail_misfit_of
from calibrate.evidence.cells import Cell, Cells, Key
from calibrate.hdd import calibrate as hdd
from calibrate.hdd.scheduler import QueueFit
from calibrate.score.held_out import contradiction, held_out_report
from diskmodel import Array, Workload
from diskmodel.drive import DriveQueue, load_drive
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.seen import Seen

KEY = Key("read", False, 4096, 16)
MEASURED = np.random.default_rng(1).gamma(2.0, 25e6, 3_000)


def report_of(factor: float) -> dict[str, Any]:
    cells = Cells({KEY: Cell(KEY)})
    cells[KEY].response_ns.extend([float(part.mean()) for part in np.split(MEASURED, 3)])
    cells[KEY].latency_ns.extend(np.split(MEASURED, 3))
    return held_out_report(cells, {KEY: factor * MEASURED})


@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_a_rate_that_is_far_off_contradicts(factor: float) -> None:
    words = contradiction(report_of(factor))
    assert words.startswith("held-out data contradict the fit: random reads of 4096 bytes at queue depth 16, rate ")


def test_what_the_measurement_scatters_does_not() -> None:
    assert contradiction(report_of(1.0)) == ""
    assert contradiction(report_of(1.05)) == ""


def test_a_distribution_of_another_form_contradicts_though_its_mean_is_right() -> None:
    mean = float(MEASURED.mean())
    flat = report_of(1.0) | {"percentile_error_ratios": {"p50": mean / float(np.median(MEASURED)), "p99": -0.6}}
    assert "p99 -60 %" in contradiction(flat)


def test_a_hard_disk_is_judged_by_what_was_held_out() -> None:
    fit = SimpleNamespace(seek=SimpleNamespace(has_converged=True))
    queue = QueueFit(DriveQueue(depth=32, scheduler="look"), 0.05, 0.1, ("look",), False, {})
    assert hdd._verdict(fit, queue, report_of(1.0))[0]  # type: ignore[arg-type]
    has_converged, message = hdd._verdict(fit, queue, report_of(1.5))  # type: ignore[arg-type]
    assert not has_converged
    assert "rate -33 %" in message


def spread(held_out: dict[str, Any], rows: list[dict[str, Any]], load: str = "reads") -> float:
    """Return the standard deviation of the rate that a profile with such errors is given."""
    drive = load_drive("generic-7k2").model_copy(update={"provenance": {"evidence": [{"kind": "measurement"}]}})
    found = Calibration(drive, True, "", {}, held_out, {"residuals": rows}).drive
    seen = Seen(8.0, 0.5, 0.5, False, 0.9) if load == "mixed" else Seen(8.0, 0.0, 0.0, False, 0.9)
    case = Case(Array(found, "jbod", 1), Workload.parse({"size": "4 KiB", "clients": 8}), seen)
    remaining = case.remaining("iops")
    assert remaining is not None
    return remaining.log_sd


def test_what_remains_unexplained_widens_the_profile() -> None:
    nothing = spread({}, [])
    assert spread({"mean_error_ratio": 0.001, "n": 9}, [{"error_ratio": 0.001}]) == nothing
    assert spread({"mean_error_ratio": 0.5, "n": 9}, []) == pytest.approx(np.log(1.5), rel=1e-3)
    rows = [{"error_ratio": 0.3, "stderr_ratio": 0.01}, {"error_ratio": -0.3, "stderr_ratio": 0.01}]
    assert spread({}, rows) == pytest.approx(np.log(1.3), rel=0.01)


def test_mixes_that_were_held_out_widen_mixed_loads_alone() -> None:
    mixed = {"mixed_read_write": {"median_mean_error_ratio": 0.2}}
    assert spread(mixed, [], "mixed") == pytest.approx(np.log(1.2))
    assert spread(mixed, []) == spread({}, [])


def test_an_error_within_the_scatter_of_the_measurement_is_none() -> None:
    assert misfit_of([{"error_ratio": 0.02, "stderr_ratio": 0.03}]) == 0.0


def test_percentiles_that_a_fit_misses_widen_the_tail() -> None:
    rows = [{"p99_error_ratio": -0.5}, {"p99_error_ratio": 1.0}, {"error_ratio": 0.01}]
    assert tail_misfit_of(rows) == pytest.approx(np.log(2), rel=1e-3)
    assert tail_misfit_of([{"error_ratio": 0.01}]) == 0.0
    drive = load_drive("generic-7k2").model_copy(update={"provenance": {"evidence": [{"kind": "fio-json"}]}})
    found = Calibration(drive, True, "", {}, {}, {"residuals": rows}).drive
    load = Workload.parse({"size": "4 KiB", "clients": 8})
    case = Case(Array(found, "jbod", 1), load, Seen(8.0, 0.0, 0.0, False, 0.9))
    p99 = case.remaining("p99")
    assert p99 is not None
    assert p99.log_sd == pytest.approx(np.log(2), rel=1e-3)

"""The reported errors of a traced profile are the actual ones: drives drawn, traced, fitted along the sensitivities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrate.closed_loop import scenario_of
from calibrate.evidence.requests import RequestTrace
from calibrate.trace.engine.joint import free_parameters
from calibrate.trace.engine.residuals import residual_rows
from calibrate.trace.engine.uncertainty import parameters_of, relative_covariance, sensitivities, uncertainty_of
from diskmodel.drive import Hdd, catalogue
from diskmodel.drive.drawn import drawn, scalar_of, with_values
from diskmodel.engine.run import run
from diskmodel.records import Requests, StreamRule

N_TRUTHS = 120
#: Of the logarithms of the true parameters: so small that the engines are linear in them.
SPREAD = 0.03
CONFIDENCE = 0.9
NAMES = ("read_overhead_ns", "write_overhead_ns", "seek.time_ms", "write_settle_ns")


def start() -> Hdd:
    """A drive with zones and a seek table, two overheads and a settle, and without a buffer."""
    drive = catalogue()["generic-7k2"]
    assert isinstance(drive, Hdd)
    distance = [1, 10, 100, 1000, 10_000, 60_000]
    table = {"kind": "table", "distance": distance, "time_ms": [0.9, 1.1, 1.6, 2.5, 4.0, 8.0]}
    zones = [zone.to_dict() for zone in drive.zone_list()]
    given = {"outer_bytes_per_s": None, "inner_bytes_per_s": None, "cylinders": None, "zones": zones}
    return Hdd.parse(
        drive.to_dict()
        | given
        | {"revolution_ns": drive.period_ns, "head_switch_ns": 300_000}
        | {
            "seek": table,
            "read_overhead_ns": 400_000,
            "write_overhead_ns": 700_000,
            "write_settle_ns": 600_000,
            "cache": None,
            "queue": {"depth": 1, "scheduler": "fcfs"},
        }
    )


def traced(drive: Hdd, rng: np.random.Generator, n: int = 4000) -> RequestTrace:
    """Near and far reads and writes, one after the other."""
    near = rng.random(n) < 0.4
    lba = np.where(near, rng.integers(0, 40_000, n), rng.integers(0, drive.n_sectors - 64, n)).astype(np.int64)
    is_write = rng.random(n) < 0.4
    size = rng.integers(1, 33, n).astype(np.int64)
    return RequestTrace(is_write, lba, size, responses(drive, lba, size, is_write, rng), np.zeros(n))


def responses(
    drive: Hdd, lba: np.ndarray, size: np.ndarray, is_write: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """After pauses of their own, so that the platter stands anywhere."""
    n = len(lba)
    requests = Requests(
        rng.integers(0, 50_000_000, n),
        is_write.astype(np.uint8),
        lba * 512,
        size * 512,
        np.zeros(n, np.int32),
        np.ones(n),
        (StreamRule("trace", n_clients=1),),
    )
    done = run(scenario_of(drive), requests).completions
    return np.asarray((done.done_ns - done.issue_ns) / 1e6)


def moved(drive: Hdd, logarithms: np.ndarray) -> Hdd:
    values = {name: scalar_of(drive, name) * float(np.exp(k)) for name, k in zip(NAMES, logarithms, strict=True)}
    found = with_values(drive, values)
    assert isinstance(found, Hdd)
    return found


def test_nine_of_ten_truths_lie_in_the_intervals() -> None:
    """Either bound of the count has a chance of 1 in 2000 to fail for errors that are right."""
    rng = np.random.default_rng(9)
    drive = start()
    assert free_parameters(drive) == NAMES
    half = stats.norm.ppf(0.5 + CONFIDENCE / 2)
    covered = np.zeros((N_TRUTHS, len(NAMES)), bool)
    for row in range(N_TRUTHS):
        truth = rng.normal(0.0, SPREAD, len(NAMES))
        trace = traced(moved(drive, truth), rng)
        everything = np.ones(len(trace), np.bool_)
        sensitivity = sensitivities(drive, trace, everything)
        missed = trace.response_ms - responses(drive, trace.lba, trace.n_blocks, trace.is_write, rng)
        found = np.linalg.lstsq(sensitivity, missed, rcond=None)[0]
        error = np.sqrt(np.diag(relative_covariance(sensitivity, missed - sensitivity @ found)))
        covered[row] = np.abs(found - truth) < half * error
    low, high = stats.binom.interval(0.999, N_TRUTHS, CONFIDENCE)
    counts = covered.sum(axis=0)
    assert np.all((low <= counts) & (counts <= high)), (counts, low, high)


def test_sensitivities_are_what_the_engines_do() -> None:
    """A tenth more of each parameter changes mean responses as predicted, within four standard errors."""
    rng = np.random.default_rng(4)
    drive = start()
    trace = traced(drive, rng, n=60_000)
    sensitivity = sensitivities(drive, trace, np.ones(len(trace), np.bool_))
    for k in range(len(NAMES)):
        more = moved(drive, np.eye(len(NAMES))[k] * 0.1)
        other = responses(more, trace.lba, trace.n_blocks, trace.is_write, rng)
        change = other - trace.response_ms
        predicted = float(sensitivity[:, k].mean()) * float(np.expm1(0.1))
        assert change.mean() == pytest.approx(predicted, abs=4 * change.std() / np.sqrt(len(change)))


def test_the_profile_draws_what_was_reported() -> None:
    rng = np.random.default_rng(5)
    drive = start()
    trace = traced(drive, rng)
    response = responses(drive, trace.lba, trace.n_blocks, trace.is_write, rng)
    uncertainty = uncertainty_of(drive, trace, np.ones(len(trace), np.bool_), response, 1e-4)
    uncertain = drive.model_copy(update={"uncertainty": uncertainty})
    assert uncertain.uncertainty is not None
    parameters = parameters_of(uncertain)
    seek = parameters["profile seek.time_ms"]
    assert seek.is_identified
    draws = [scalar_of(item, "seek.time_ms") for item in drawn(uncertain, 400, seed=1)]
    assert np.std(draws) == pytest.approx(seek.stderr, rel=0.2)
    longest = [item.seek.time_ms[-1] for item in drawn(uncertain, 20, seed=1)]  # type: ignore[union-attr]
    assert len(set(longest)) == 20, "times of a table are no whole numbers of milliseconds"


def test_residuals_name_operation_distance_and_size() -> None:
    rng = np.random.default_rng(6)
    drive = start()
    trace = traced(drive, rng)
    rows = residual_rows(trace, trace.response_ms * 1.1)
    assert {row["what"].split(",")[0] for row in rows} == {"reads", "writes"}
    assert all(row["error_ratio"] == pytest.approx(0.1) for row in rows)
    counted = sum(int(row["what"].rsplit("(", 1)[1].rstrip(")")) for row in rows)
    assert counted == pytest.approx(len(trace), rel=0.02)

"""The write side of a flash drive of known parameters, measured by the engine and recovered."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.closed_loop import closed_loop, mean_response, scenario_of
from calibrate.evidence.cells import Cells, Key
from calibrate.evidence.flushes import Flushes
from calibrate.flash.calibrate import Known, calibrate_flash
from calibrate.flash.model import FlashShape, flash_of
from calibrate.flash.writes import (
    MAX_BUFFER_BYTES,
    WriteFit,
    fields_of,
    fit_writes,
    flush_fields,
    flush_parameter,
    parameters_of,
)
from diskmodel.drive import Flash

SHAPE = FlashShape(
    overhead_ns=9_000.0, latency_ns=12_000.0, read_ns=55_000.0, n_dies=8, page_bytes=16384, interface_bytes_per_ns=1.2
)
OVERHEAD_NS, LATENCY_NS, PROGRAM_NS = 6_000, 20_000, 600_000
BUFFER_BYTES = 8 << 20
#: Eight dies that take 600 µs for 16 KiB.
DRAIN_BYTES_PER_NS = 8 * 16384 / PROGRAM_NS


def truth(**changes: object) -> Flash:
    found = flash_of(SHAPE, capacity_bytes=1 << 32).model_copy(
        update={
            "write_overhead_ns": OVERHEAD_NS,
            "write_latency_ns": LATENCY_NS,
            "program_ns": PROGRAM_NS,
            "write_buffer_bytes": BUFFER_BYTES,
            "state": "fresh",
            **changes,
        }
    )
    return Flash.parse(found.to_dict())


def written(drive: Flash, *, with_long_runs: bool) -> Cells:
    """Repetitions as the micro-benchmark makes them: short ones of small writes, one long one of large ones."""
    cells, rng = Cells(), np.random.default_rng(4)
    lengths = [(4096, depth, 400) for depth in (1, 2, 4, 16)]
    if with_long_runs:
        lengths.append((65536, 32, MAX_BUFFER_BYTES // 65536 + 1000))
    for length, depth, n in lengths:
        for _ in range(2):
            offset = rng.integers(0, (1 << 31) // length, n) * length
            done = closed_loop(scenario_of(drive), offset, length, depth, op=1)
            ends = np.sort(done.done_ns)
            response = float(ends[-depth] - ends[n // 5]) * depth / (n - depth - n // 5)
            cells.add(Key("write", False, length, depth), response, (done.done_ns - done.issue_ns).astype(np.float64))
    return cells


@pytest.fixture(scope="module")
def fit() -> WriteFit:
    found = fit_writes(written(truth(), with_long_runs=True), SHAPE, BUFFER_BYTES)
    assert found is not None
    return found


def test_costs_of_a_write(fit: WriteFit) -> None:
    assert fit.overhead_ns == pytest.approx(OVERHEAD_NS, rel=0.05)
    assert fit.latency_ns == pytest.approx(LATENCY_NS, rel=0.1)


def test_drain_and_program_time(fit: WriteFit) -> None:
    assert fit.is_drained
    assert fit.drain_bytes_per_ns == pytest.approx(DRAIN_BYTES_PER_NS, rel=0.05)
    fields = fields_of(fit, SHAPE)
    assert fields["program_ns"] == pytest.approx(PROGRAM_NS, rel=0.05)
    assert fields["write_buffer_bytes"] == BUFFER_BYTES
    assert all(parameter.is_identified for parameter in parameters_of(fit, SHAPE).values())


def test_a_drive_that_never_fills_its_buffer_tells_no_program_time() -> None:
    found = fit_writes(written(truth(), with_long_runs=False), SHAPE)
    assert found is not None
    assert not found.is_drained
    parameters = parameters_of(found, SHAPE)
    assert not parameters["die_program"].is_identified
    assert "a bound" in parameters["die_program"].why
    assert not parameters["write_buffer"].is_identified
    assert parameters["write_overhead"].is_identified


def test_reads_alone_have_no_write_side() -> None:
    cells = Cells()
    cells.add(Key("read", False, 4096, 1), 80_000.0)
    assert fit_writes(cells, SHAPE) is None


def test_profile_has_the_measured_writes() -> None:
    drive = truth()
    cells = written(drive, with_long_runs=True)
    scenario = scenario_of(drive)
    rng = np.random.default_rng(6)
    for depth in (1, 2, 4, 8, 32, 64):
        response = mean_response(scenario, length=4096, queue_depth=depth, n=1500, seed=3, span_bytes=1 << 30)
        for factor in np.exp(rng.normal(0.0, 0.01, 2)):
            cells.add(Key("read", False, 4096, depth), response * float(factor))
    for length in (16384, 65536, 262144):
        response = mean_response(scenario, length=length, queue_depth=1, n=300, seed=3, span_bytes=1 << 30)
        cells.add(Key("read", False, length, 1), response)
    found = calibrate_flash(
        cells, Known("both", 1 << 32, 1 << 30, buffer_bytes=BUFFER_BYTES), provenance={}, warnings=[]
    )
    assert isinstance(found.drive, Flash)
    assert found.drive.kind == "flash"
    assert "Writes are fitted" in found.drive.notes
    assert found.parameters["write_overhead"].value == pytest.approx(OVERHEAD_NS, rel=0.1)
    assert {row["op"] for row in found.report["residuals"]} == {"read", "write"}
    for depth in (1, 8):
        offset = np.random.default_rng(8).integers(0, (1 << 30) // 4096, 400) * 4096
        true, ours = (
            closed_loop(scenario_of(d), offset, 4096, depth, op=1).done_ns.max() for d in (drive, found.drive)
        )
        assert ours == pytest.approx(true, rel=0.1)


def test_a_fit_that_misses_its_own_evidence_has_not_converged() -> None:
    cells, rng = Cells(), np.random.default_rng(5)
    #: As on a host whose processor cannot submit more: 67,000 a second at depth 16, fewer at 64.
    for op, means_us in (
        ("read", {1: 64.6, 4: 77.8, 16: 239.0, 64: 1212.0}),
        ("write", {1: 75, 4: 88, 16: 274, 64: 1345}),
    ):
        for depth, mean_us in means_us.items():
            for _ in range(2):
                sample = rng.normal(1000 * mean_us, 20 * mean_us, 2000)
                cells.add(Key(op, False, 4096, depth), 1000 * mean_us, sample)
    found = calibrate_flash(cells, Known("x", 1 << 38, 1 << 34), provenance={}, warnings=[])
    assert not found.has_converged
    assert "the fit does not describe its own evidence: 3 of 8 conditions are off by more than 10%" in found.message
    assert "random writes of 4096 bytes at queue depth 16" in found.message


@pytest.mark.parametrize(("took_ns", "flush_ns"), [(2_000_000, 1_974_000), (30_000, 4_000)])
def test_a_flush_is_what_it_takes_beyond_a_command(took_ns: int, flush_ns: int) -> None:
    flushes = Flushes(40, float(took_ns), None)
    fields = flush_fields(flushes, command_ns=OVERHEAD_NS + LATENCY_NS)
    assert fields == {"flush_ns": flush_ns, "power_loss_protected": flush_ns < 100_000}
    assert ("protected" in flush_parameter(flushes, fields).why) == fields["power_loss_protected"]


def test_a_profile_has_the_flush_that_was_measured() -> None:
    drive = truth()
    cells = written(drive, with_long_runs=False)
    for depth in (1, 2, 4, 8, 16):
        offset = np.random.default_rng(depth).integers(0, 1 << 18, 400) * 4096
        done = closed_loop(scenario_of(drive), offset, 4096, depth)
        cells.add(Key("read", False, 4096, depth), float(np.mean(done.done_ns - done.issue_ns)), done.done_ns * 1.0)
    known = Known("x", 1 << 32, 1 << 31, flushes=Flushes(40, 2e6, None))
    found = calibrate_flash(cells, known, provenance={}, warnings=[])
    assert isinstance(found.drive, Flash)
    command_ns = found.drive.write_overhead_ns + found.drive.write_latency_ns
    assert found.drive.flush_ns == 2_000_000 - command_ns
    assert not found.drive.power_loss_protected
    assert found.parameters["flush"].value == found.drive.flush_ns

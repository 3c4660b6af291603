"""The last stage of a measured hard disk's fit: it corrects a stage that was wrong, and leaves right ones alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.evidence.cells import Key
from calibrate.fit import calibrate
from calibrate.hdd import calibrate as hdd_calibration
from calibrate.hdd import stages
from calibrate.hdd.conditions import conditions_of
from calibrate.hdd.seek import fit_seek
from calibrate.hdd.write_settle import fit_write_settle
from calibrate.measure import load
from calibrate.report import report_html
from diskmodel.cli.calibrate import lines
from diskmodel.drive import Hdd, catalogue, load_drive
from tests.calibrate.mock_device import MockDevice

pytestmark = pytest.mark.slow

SETTLE_NS = 400_000
BIAS_NS = 100_000


@pytest.fixture(scope="module")
def truth() -> Hdd:
    drive = catalogue()["generic-10k"]
    assert isinstance(drive, Hdd)
    changes = {"write_settle_ns": SETTLE_NS, "cache": {"size_bytes": 8 << 20, "segments": 8}}
    return drive.model_copy(update={**changes, "queue": {"depth": 1, "scheduler": "fcfs"}})


@pytest.fixture(scope="module")
def document(truth: Hdd, tmp_path_factory: pytest.TempPathFactory) -> Path:
    device = MockDevice(truth, host_ns=8_000, jitter_ns=4_000.0)
    device.reads(depths=(1, 2, 4, 8), n=1000)
    device.begin("write_settle")
    device.run(device.anywhere(3000, 4096), 4096, is_write=device.rng.random(3000) < 0.5)
    return device.write(tmp_path_factory.mktemp("joint") / "m.json")


def overhead_off(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stages.fit_electronics

    def wrong(*args: Any) -> Any:
        right = found(*args)
        return replace(right, overhead_ns=right.overhead_ns + BIAS_NS)

    monkeypatch.setattr(stages, "fit_electronics", wrong)


def seeks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fit_seek

    def wrong(*args: Any, **named: Any) -> Any:
        right = found(*args, **named)
        return replace(right, ready_ns=right.ready_ns + 5 * BIAS_NS)

    monkeypatch.setattr(stages, "fit_seek", wrong)


def settle_off(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fit_write_settle

    def wrong(*args: Any, **named: Any) -> Any:
        right = found(*args, **named)
        assert right is not None
        return replace(right, settle_ns=right.settle_ns + 8 * BIAS_NS)

    monkeypatch.setattr(stages, "fit_write_settle", wrong)


def errors_of(result: Calibration, truth: Hdd) -> dict[str, float]:
    """In µs: overhead, seek over a third of the drive, settle."""
    drive = result.drive
    assert isinstance(drive, Hdd)
    third = truth.tables().n_cylinders // 3
    tables = drive.tables()
    seek = np.interp(third * truth.heads / drive.heads, np.arange(tables.n_cylinders), tables.seek_ns)
    return {
        "overhead": (drive.read_overhead_ns - truth.read_overhead_ns) / 1e3,
        "seek": (float(seek) - float(truth.tables().seek_ns[third])) / 1e3,
        "settle": (drive.settle_ns - SETTLE_NS) / 1e3,
    }


@pytest.mark.parametrize(
    ("bias", "name"),
    [(overhead_off, "overhead"), (seeks_off, "seek"), pytest.param(settle_off, "settle", marks=pytest.mark.long)],
)
def test_a_stage_that_is_off_is_corrected(
    bias: Any, name: str, truth: Hdd, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bias(monkeypatch)
    corrected = calibrate(document)
    monkeypatch.setattr(hdd_calibration, "refine", lambda *args: None)
    off, left = errors_of(corrected, truth), errors_of(calibrate(document), truth)
    assert isinstance(corrected.drive, Hdd)
    last = corrected.drive.provenance["last_stage"]
    assert last["kept"]
    assert last["after_ratio"] < 0.95 * last["before_ratio"]
    assert abs(left[name]) > 90.0
    # the device adds 11 µs to each latency, which is overhead for a fit
    assert abs(off["overhead"] - 11.0) < 10.0, (off, left)
    assert abs(off["seek"]) < 150.0, (off, left)
    assert abs(off["settle"]) < 250.0, (off, left)
    assert corrected.parameters["read_overhead"].value == pytest.approx(corrected.drive.read_overhead_ns, abs=1.0)
    assert corrected.parameters["write_settle"].value == corrected.drive.write_settle_ns


def test_the_errors_reported_afterwards_are_of_the_size_of_actual_ones(
    truth: Hdd, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeks_off(monkeypatch)
    result = calibrate(document)
    reported = result.drive.uncertainty
    assert reported is not None
    sigma = {name: reported.covariance[k][k] ** 0.5 for k, name in enumerate(reported.names)}
    off = errors_of(result, truth)
    assert abs(off["seek"]) < 3.3 * 1e3 * sigma["seek.time_ms"]
    assert 1e3 * sigma["seek.time_ms"] < 200.0
    assert abs(off["settle"]) < 3.3 * sigma["write_settle_ns"] / 1e3


def test_the_outcome_is_reported(truth: Hdd, document: Path, tmp_path: Path) -> None:
    result = calibrate(document, out=tmp_path / "drive.toml")
    off = errors_of(result, truth)
    assert abs(off["overhead"] - 11.0) < 10.0
    assert abs(off["seek"]) < 100.0
    last = load_drive(tmp_path / "drive.toml").provenance["last_stage"]
    assert set(last) == {"kept", "before_ratio", "after_ratio"}
    printed = result.to_dict()
    assert printed["last_stage"] == last
    assert "Last stage: " in report_html(printed, result.report["residuals"], title="t")
    assert any(line.strip().startswith("last stage: ") for line in lines(printed))


def test_what_is_kept_back_for_the_report_decides_nothing(document: Path) -> None:
    held = Key("read", False, 4096, 4)
    fitted, apart = conditions_of(
        load(document), (held,), writes_back=False, late_ns=np.empty(0), hits_late_ns=np.empty(0)
    )
    for part in (fitted, apart):
        assert part.stretches
        assert not any(stretch.queue_depth == 4 for stretch in part.stretches)
    # no request is in both
    times = [
        {(stretch.what, int(t)) for stretch in part.stretches for t in stretch.samples.issue_ns}
        for part in (fitted, apart)
    ]
    assert not times[0] & times[1]
    assert fitted.has_writes
    assert not conditions_of(load(document), (held,), writes_back=True, late_ns=np.empty(0), hits_late_ns=np.empty(0))[
        0
    ].has_writes

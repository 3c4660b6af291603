"""Drives fitted to fio's results predict the depths between as the page says, and the page has every drive."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.validation.fits.choose_runs import table
from tests.validation.fits.fio_depths import DEPTHS, FITTED, PAGE, Error, case, drives, line
from tests.validation.fits.measured import DATA, points

pytestmark = pytest.mark.slow


def shown() -> dict[str, list[float]]:
    """Return the figures of the summary on the page: n, then median and share of the rate, and of p99."""
    rows = re.findall(r"^\| ((?:not )?converged: \w+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: [float(cell.removesuffix(" %")) for cell in cells.split(" | ")] for name, cells in rows}


def test_the_table_has_sweeps_of_depths() -> None:
    """Every drive has reads and writes one at a time and at the other depths that are fitted."""
    assert len(drives()) == 26
    for drive in drives():
        for op in ("read", "write"):
            depths = [point.depth for point in points() if point.drive == drive and point.op == op]
            assert set(FITTED) <= set(depths) <= set(DEPTHS), drive
            assert len(depths) == len(set(depths)), drive


@pytest.mark.evidence
def test_the_table_is_chosen_from_the_collection(evidence: Path) -> None:
    assert table(evidence / "arrays-raw.csv") == DATA.read_text(encoding="utf-8")


def test_every_drive_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for drive in drives():
        assert text.count(f"| {drive} | yes |") + text.count(f"| {drive} | no |") == 2, drive


def test_what_fits_that_converged_predict() -> None:
    """Required: four of five rates within 10 %, three of four p99 within 20 %."""
    for op in ("reads", "writes"):
        n, rate, within, p99, near = shown()[f"converged: {op}"]
        assert n >= 9
        assert rate <= 2
        assert within >= 80
        assert p99 <= 20
        assert near >= 75


def test_fits_that_have_not_converged_predict_worse() -> None:
    found = shown()
    for op in ("reads", "writes"):
        assert found[f"not converged: {op}"][1] > found[f"converged: {op}"][1]
        assert found[f"not converged: {op}"][3] > found[f"converged: {op}"][3]


def test_held_out_errors_are_not_those_of_the_fit() -> None:
    assert Error("read", 2, 0.0, 0.0).is_fitted is False
    assert Error("read", 64, 0.0, 0.0).is_fitted is True


def test_a_fit_whose_p99_is_off_has_not_converged() -> None:
    """This disk answers some requests after 10 to 100 ms."""
    found = case("Crucial 240 GB (USB)")
    assert not found.calibration.has_converged
    assert "p99 of random reads" in found.calibration.message


def test_single_reads_show_how_reads_scatter() -> None:
    """Reads of this drive are of two kinds; with one time for all, p99 was half of what it is."""
    for error in case("Samsung PM883 (MicroServer G10)").of("read"):
        assert error.depth == 64 or abs(error.p99_ratio) < 0.2, error


def test_a_fit_to_a_host_that_sleeps_has_not_converged() -> None:
    """Rates at the fitted depths are within 10 %, at depth 2 not; four depths leave none to hold out."""
    found = case("Intel D3-S4610 (MicroServer G10)")
    assert not found.calibration.has_converged
    assert "of the time of single writes, which is not the drive's" in found.calibration.message
    assert found.calibration.held_out["mean_error_ratio"] is None


@pytest.mark.long
def test_all_reads_decide_where_single_ones_leave_several_speeds() -> None:
    """A Raptor turns at 10,000 rpm; its single reads fit the usual 7,200 rpm as well."""
    found = case("WD Raptor 74 GB")
    assert found.calibration.drive.to_dict()["rpm"] == 10_000
    for error in found.of("read"):
        assert abs(error.iops_ratio) < 0.1, error
        assert abs(error.p99_ratio) < 0.2, error


@pytest.mark.parametrize(
    "drive",
    [
        pytest.param("Samsung F1 1 TB", marks=pytest.mark.long),
        "Samsung PM883 (MicroServer G8)",
        "Samsung PM883 (P420i)",
    ],
)
def test_the_page_has_what_the_fit_predicts(drive: str) -> None:
    """Three kinds: a hard disk, a flash drive, and one behind a controller that no model describes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for op in ("read", "write"):
        assert line(case(drive), op) in lines

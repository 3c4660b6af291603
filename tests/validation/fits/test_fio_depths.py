"""Drives fitted to fio's results predict the depths between as the page says, and the page has every drive."""

from __future__ import annotations

import re

import pytest

from tests.validation.fits.fio_depths import DEPTHS, FITTED, PAGE, Error, case, drives, line
from tests.validation.fits.measured import points


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


def test_every_drive_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for drive in drives():
        assert text.count(f"| {drive} | yes |") + text.count(f"| {drive} | no |") == 2, drive


def test_what_fits_that_converged_predict() -> None:
    """Required of converged fits: half of the rates within 2.5 %, and four of five within 10 %."""
    for op in ("reads", "writes"):
        n, rate, within, p99, _ = shown()[f"converged: {op}"]
        assert n >= 15
        assert rate <= 2.5
        assert within >= 80
        assert p99 <= 25


def test_fits_that_have_not_converged_predict_worse() -> None:
    found = shown()
    for op in ("reads", "writes"):
        assert found[f"not converged: {op}"][1] > found[f"converged: {op}"][1]
        assert found[f"not converged: {op}"][3] > found[f"converged: {op}"][3]


def test_held_out_errors_are_not_those_of_the_fit() -> None:
    assert Error("read", 2, 0.0, 0.0).is_fitted is False
    assert Error("read", 64, 0.0, 0.0).is_fitted is True


@pytest.mark.slow
@pytest.mark.parametrize("drive", ["Samsung F1 1 TB", "Samsung PM883 (MicroServer G8)", "Samsung PM883 (P420i)"])
def test_the_page_has_what_the_fit_predicts(drive: str) -> None:
    """Three kinds: a hard disk, a flash drive, and one behind a controller that no model describes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for op in ("read", "write"):
        assert line(case(drive), op) in lines

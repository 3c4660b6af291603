"""Measured seek curves load as drives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diskmodel.drive import Hdd, load_drive, read_seek_file
from tests.theory.plain_disks import simulated

CURVES = {
    "atlas10k": "quantum-atlas-10k",
    "barracuda": "seagate-st32171w",
    "cheetah4LP": "seagate-st34501n",
    "dec_rz26": "dec-rz26",
    "hp_c3323a": "hp-c3323a",
}

pytestmark = pytest.mark.evidence


def with_curve(folder: Path, name: str) -> Hdd:
    """The catalogue's drive with its measured seek curve instead of the sheet's times."""
    return Hdd.parse(load_drive(CURVES[name]).to_dict() | {"seek": read_seek_file(folder / f"{name}.seek").to_dict()})


@pytest.mark.parametrize("name", CURVES)
def test_a_measured_curve_makes_a_drive(evidence: Path, name: str) -> None:
    drive = with_curve(evidence / "traces", name)
    seek_ns = drive.tables().seek_ns
    curve = read_seek_file(evidence / "traces" / f"{name}.seek")
    assert seek_ns[0] == 0
    inside = [d for d in curve.distance if d < len(seek_ns)]
    measured = np.array(curve.time_ms[: len(inside)]) * 1e6
    assert len(inside) > 50
    np.testing.assert_allclose(seek_ns[inside], measured, atol=1)


def test_atlas10k_reads_105_blocks_a_second(evidence: Path) -> None:
    """8 KiB at random, one at a time; 20,000 reads, seed 1: standard error 0.3 %. 105 per second within 5 %."""
    drive = with_curve(evidence / "traces", "atlas10k").to_dict()
    array: dict[str, object] = {"drive": drive, "layout": {"level": "jbod", "disks": 1}}
    _, outcome = simulated(array, {"clients": 1, "size": "8 KiB"}, 20_000, 1)
    assert 20_000 / outcome.end_ns * 1e9 == pytest.approx(105, rel=0.05)

"""The traced drives, what others reached on them, and the one way in which they are calibrated and predicted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from calibrate.evidence.requests import RequestTrace, read_requests
from calibrate.trace.fit import calibrate_trace, fit_drive
from diskmodel.drive import Hdd

EVIDENCE = os.environ.get("DISKMODEL_EVIDENCE")


class Reached(NamedTuple):
    """What the maker prints of a drive, and figures of DiskSim 4.0 and of a black box on its second half."""

    heads: int
    blocks: int
    disksim_demerit_ratio: float
    disksim_mae_ms: float
    black_box_mae_ms: float


DRIVES = {
    "atlas10k": Reached(6, 17_938_986, 0.0667, 1.025, 0.855),
    "barracuda": Reached(5, 4_110_000, 0.0489, 1.361, 1.134),
    "cheetah4LP": Reached(8, 8_887_200, 0.0586, 1.149, 0.909),
    "dec_rz26": Reached(14, 2_050_860, 0.0244, 1.623, 2.869),
    "hp_c2247a": Reached(13, 2_054_864, 0.0072, 0.578, 2.335),
    "hp_c3323a": Reached(7, 2_056_008, 0.0163, 2.901, 2.421),
}


def halves(name: str) -> tuple[RequestTrace, RequestTrace]:
    """The two halves of a drive's trace."""
    trace = read_requests(Path(str(EVIDENCE)) / "traces" / f"{name}.trace")
    half = len(trace) // 2
    return trace.part(0, half), trace.part(half, None)


def calibrated(name: str) -> tuple[Hdd, RequestTrace]:
    """The drive as the first half of its trace shows it, and the second half, which it has not seen."""
    first, second = halves(name)
    drive = calibrate_trace(first, sheet={"blocks": DRIVES[name].blocks}, name=name).drive
    assert isinstance(drive, Hdd)
    return drive, second


def fitted(name: str) -> tuple[Hdd, RequestTrace]:
    """What `calibrated` returns but for the score in its provenance, in half the time."""
    first, second = halves(name)
    return fit_drive(first, name, sheet={"blocks": DRIVES[name].blocks}), second

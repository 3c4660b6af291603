"""Writes docs/explanation/validation-traces.md from the traces: `python -m tests.calibrate.trace.write_real_drives`.

Needs DISKMODEL_EVIDENCE. The page has no figure that was typed, but for the published ones that it compares with.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibrate.evidence.requests import RequestTrace
from calibrate.trace.fit import validate_traces
from calibrate.trace.model_dict import model_from_dict
from diskmodel.drawing import COLORS, svg_of
from diskmodel.drive import Hdd
from tests.calibrate.trace.effects import WITHOUT, demerit, demerit_with_sure_angles, spread_effect
from tests.calibrate.trace.real_drives import DRIVES, EVIDENCE, calibrated, halves

Curves = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]

#: Seeds of the sets of runs that show how far chance moves a demerit.
OTHER_SEEDS = (100, 200, 300, 400)
LEVELS = (np.arange(200) + 0.5) / 200
FOLDER = Path(__file__).parents[3] / "docs" / "explanation"
HEAD = """# Validation: real drives from their traces

Six SCSI drives of the nineties, 8,000 to 10,000 requests each with the measured response time of every one (Carnegie
Mellon University). The model is calibrated on the first half of a trace with nothing given but the drive's capacity;
the second half, which the calibration has not seen, is predicted. The same commands work for all of them:

    diskmodel calibrate drive.trace --requests :50% --capacity … --out drive.toml
    diskmodel validate drive.toml drive.trace --requests 50%:

*Demerit* is the root mean square distance of the two distributions of response times, sorted, as a share of the mean.
*Error of one request* is the mean absolute difference, request by request. The table also shows DiskSim 4.0, with more
than a hundred parameters per drive that were extracted by hand with special SCSI commands, and a black box (gradient
boosting over the known properties of each request) without any physics.

"""
ENGINE = """
## Run by the engines

The figures above are those of the trace model, which predicts one request after the other. `simulate` and `plan` do
not use it: they run the profile's geometry, seeks, chances and buffer in the engines. Here the engines replay the same
second halves, requests at the instants at which they were issued. Sixteen runs draw retries, access on arrival, and by
how much the angle of the platter is off. The demerit is that of all runs together; the range is over four other sets of
sixteen. The last column but one is the half that the profile was fitted to.

"""
EFFECTS = """
## What each effect brings

Demerits of the same profiles without one effect each, nothing fitted again. `–` is a drive whose profile does not have
the effect. The spread of seek times is not in the profiles: the last two rows are demerits of the trace model with it
and without it. It changes them by a tenth of a percent of the mean response, in either direction.

"""
TAIL = """
The chart shows the distributions: measured as dots, predicted as a line.

![Distributions of response times, measured and predicted](../assets/validation-traces.svg)

[How calibration works](calibration.md) explains the method, and which parameters such traces cannot determine. The
second halves were used while the method was developed, so drives that nobody has examined are the harder test.
"""


def main() -> None:
    """Calibrate, predict, write page and picture."""
    if EVIDENCE is None:
        sys.exit("DISKMODEL_EVIDENCE is not set: it names the folder that holds traces/")
    lines = [
        "| drive | mean ms, measured | error of mean | demerit | DiskSim | error of one request, ms | DiskSim "
        "| black box | calibrated in, s of one core |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    engine_lines = [
        "| drive | error of mean | demerit | other draws | error of one request, ms | the trace model's | fitted half "
        "| zones |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    effects: dict[str, list[str]] = {}
    demerits: list[float] = []
    engine_demerits: list[float] = []
    curves: Curves = {}
    for name, others in DRIVES.items():
        started = time.process_time()
        drive, half = calibrated(name)
        seconds = time.process_time() - started
        score = validate_traces(drive, half)
        draws = model_from_dict(drive.provenance["trace_model"]).predict(half, 0).draws_ms
        curves[name] = (np.sort(half.response_ms), np.quantile(draws, LEVELS))
        demerits.append(score["demerit_ratio"])
        lines.append(
            f"| {name} | {score['measured_mean_ms']:.2f} | {score['mean_error_ratio']:+.1%} "
            f"| {score['demerit_ratio']:.2%} | {others.disksim_demerit_ratio:.2%} "
            f"| {score['mae_ms']:.2f} | {others.disksim_mae_ms:.2f} | {others.black_box_mae_ms:.2f} | {seconds:.0f} |"
        )
        engine = score["engine"]
        engine_demerits.append(engine["demerit_ratio"])
        others_drawn = [demerit(drive, half, seed) for seed in OTHER_SEEDS]
        engine_lines.append(
            f"| {name} | {engine['mean_error_ratio']:+.1%} | {engine['demerit_ratio']:.2%} "
            f"| {min(others_drawn):.2%} to {max(others_drawn):.2%} | {engine['mae_ms']:.2f} "
            f"| {score['mae_ms']:.2f} | {demerit(drive, halves(name)[0]):.2%} | {len(drive.zone_list())} |"
        )
        for effect, cell in effect_cells(drive, half, engine["demerit_ratio"]).items():
            effects.setdefault(effect, []).append(cell)
    disksim = statistics.median(others.disksim_demerit_ratio for others in DRIVES.values())
    lines += ["", f"Median demerit: {statistics.median(demerits):.2%}; DiskSim's: {disksim:.2%}."]
    engine_lines += ["", f"Median demerit: {statistics.median(engine_demerits):.2%}."]
    (FOLDER / "validation-traces.md").write_text(
        HEAD
        + "\n".join(lines)
        + "\n"
        + ENGINE
        + "\n".join(engine_lines)
        + "\n"
        + EFFECTS
        + "\n".join(effect_lines(effects))
        + "\n"
        + TAIL
    )
    (FOLDER.parent / "assets" / "validation-traces.svg").write_text(svg_of(lambda axes: draw(axes, curves)) + "\n")


def effect_cells(drive: Hdd, half: RequestTrace, whole: float) -> dict[str, str]:
    """Demerits of one drive by what is left out, as the table prints them."""
    cells = {"nothing": f"{whole:.2%}"}
    for effect, changed in WITHOUT.items():
        without = changed(drive)
        cells[effect] = "–" if without == drive else f"{demerit(without, half):.2%}"
    cells["drawn angles of the platter (one run)"] = f"{demerit_with_sure_angles(drive, half):.2%}"
    with_spread, without_spread = spread_effect(drive, half)
    cells["the trace model: nothing"] = f"{with_spread:.2%}"
    cells["the trace model: spread of seek times"] = f"{without_spread:.2%}"
    return cells


def effect_lines(effects: dict[str, list[str]]) -> list[str]:
    """The table of effects: a row for each, a column for each drive."""
    head = ["| left out | " + " | ".join(DRIVES) + " |", "|---|" + "--:|" * len(DRIVES)]
    return head + [f"| {effect} | " + " | ".join(cells) + " |" for effect, cells in effects.items()]


def draw(axes: Axes, curves: Curves) -> None:
    """Distribution functions, each drive in its color."""
    for index, (name, (measured, predicted)) in enumerate(curves.items()):
        color = COLORS[index % len(COLORS)]
        axes.plot(predicted, LEVELS, color=color, linewidth=1.2, label=name)
        at = (LEVELS * len(measured)).astype(np.intp)
        axes.plot(measured[at][::5], LEVELS[::5], ".", color=color, markersize=3)
    axes.set_xlabel("response time, ms")
    axes.set_xlim(0, 40)
    axes.set_ylabel("share of requests")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)


if __name__ == "__main__":
    main()

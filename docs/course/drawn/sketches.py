"""Draw geometry, layouts and recorded runs for the course: each function reads the model and returns an SVG."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle, Wedge

from diskmodel.analytic.reliability import data_loss, mttf_hours_of
from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.drive.mechanics import Mechanics
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.lab.recording import record
from diskmodel.lab.scenes import recorded_scene
from diskmodel.lab.settings import Settings
from diskmodel.layout.levels import LEVELS
from diskmodel.layout.plan import strips
from diskmodel.workload import Workload

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("drawings", HERE / "drawings.py")
_drawings = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_drawings)
axes, svg, one_disk, INK, COLORS = (
    _drawings.axes,
    _drawings.svg,
    _drawings.one_disk,
    _drawings.INK,
    _drawings.COLORS,
)


def bare(n: int = 1, **size: object) -> tuple[plt.Figure, list[plt.Axes]]:
    """Drawings side by side without axes or background."""
    figure, found = plt.subplots(1, n, layout="constrained", **size)
    figure.patch.set_alpha(0)
    listed = list(np.atleast_1d(found))
    for ax in listed:
        ax.patch.set_alpha(0)
        ax.set_axis_off()
    return figure, listed


def seek_curve() -> str:
    """Time of a seek over its distance."""
    figure, ax = axes("The arm: time of a seek over its distance", "cylinders, % of all", "ms")
    for name in ("generic-7k2", "generic-10k", "generic-15k"):
        seek_ns = load_drive(name).tables().seek_ns
        ax.plot(np.linspace(0, 100, len(seek_ns))[1:], seek_ns[1:] / 1e6, label=name, linewidth=2)
    ax.set_ylim(bottom=0)
    return svg(figure)


def platter() -> str:
    """Zones of a surface, and where the first tracks of its cylinders begin."""
    tables = load_drive("generic-7k2").tables()
    figure, (disc, tracks) = bare(2, figsize=(7.4, 3.8), width_ratios=[1, 1.15])
    disc.set_title("Zones, with sectors of a track", color=INK, fontsize=10)
    edges = tables.zone_first_cylinder / tables.n_cylinders
    outer = 1 - 0.65 * edges
    shades = plt.get_cmap("Blues")(np.linspace(0.75, 0.25, len(outer) - 1))
    for i, shade in enumerate(shades):
        disc.add_patch(Wedge((0, 0), outer[i], 0, 360, width=outer[i] - outer[i + 1], color=shade))
    for i in (0, len(shades) // 2, len(shades) - 1):
        radius = (outer[i] + outer[i + 1]) / 2
        disc.annotate(
            f"{tables.sectors_per_track[i]:,}",
            (radius * 0.7071, radius * 0.7071),
            (1.08, 0.95 - 0.84 * i / len(shades)),
            color=INK,
            fontsize=9,
            arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8},
        )
    disc.set_xlim(-1.05, 1.5)
    disc.set_ylim(-1.05, 1.05)
    disc.set_aspect("equal")
    mechanics = Mechanics(tables)
    per_track = int(tables.sectors_per_track[0])
    n = 3 * tables.heads
    tracks.set_title("Skew: where each track begins", color=INK, fontsize=10)
    for track in range(n):
        place = mechanics.place(track * per_track)
        begin = mechanics.angle_index(place) / per_track
        tracks.add_patch(Rectangle((0, -track), 1, 0.7, facecolor=COLORS[place.cylinder % 2], alpha=0.25))
        tracks.add_patch(Rectangle((begin, -track), 0.02, 0.7, facecolor=INK))
        tracks.text(
            -0.02, 0.1 - track, f"cylinder {place.cylinder}, head {place.head}", ha="right", color=INK, fontsize=6
        )
    tracks.text(0.5, -n - 0.2, "one revolution", ha="center", color=INK, fontsize=8)
    tracks.set_xlim(-0.45, 1.02)
    tracks.set_ylim(-n - 0.6, 1)
    return svg(figure)


def arm_paths() -> str:
    """The way of the arm under two schedulers that serve the same requests."""
    figure, ax = axes("The same reads under two schedulers", "ms", "cylinder")
    load = Workload.parse({"size": "4 KiB", "clients": 16})
    for name, color in (("look", COLORS[0]), ("sptf", COLORS[1])):
        array = one_disk(queue={"scheduler": name, "drive_depth": 1})
        movements = record(array, load.requests(capacity_bytes=array.usable_bytes, n=45, seed=2)).disks[0].movements
        times = [t / 1e6 for m in movements for t in (m.start_ns, m.start_ns + m.seek_ns)]
        places = [c for m in movements for c in (m.from_cylinder, m.cylinder)]
        ax.plot(times, places, color=color, label=name, linewidth=1.4)
        ax.plot(times[1::2], places[1::2], "o", color=color, markersize=3.5)
    ax.set_ylim(bottom=0)
    return svg(figure)


def layouts() -> str:
    """Where the first strips of three levels lie."""
    figure, found = bare(3, figsize=(7.4, 2.6))
    for ax, level in zip(found, ("raid10", "raid5", "raid6"), strict=True):
        tables = resolve(Settings(level=level, disks=6).array(), 0).layout
        ax.set_title(LEVELS[level].title, color=INK, fontsize=10)
        for disk, held in enumerate(strips(tables, 6)):
            ax.text(disk + 0.45, 0.95, str(disk), ha="center", va="bottom", color=INK, fontsize=8)
            for row, strip in enumerate(held):
                is_parity = strip < 0
                color = COLORS[3] if is_parity else COLORS[0]
                ax.add_patch(Rectangle((disk, -row), 0.9, 0.8, facecolor=color, alpha=0.45 if is_parity else 0.18))
                text = "PQ"[-1 - strip] if is_parity else str(strip)
                ax.text(disk + 0.45, 0.4 - row, text, ha="center", va="center", color=INK, fontsize=9)
        ax.set_xlim(-0.1, 6)
        ax.set_ylim(-5.2, 1.6)
    return svg(figure)


def bucket() -> str:
    """The level of a write cache, and what writes wait, while more comes than the disks take."""
    figure, ax = axes("A write cache fills: RAID 5 of 8 disks, random writes", "ms", "cache, % full")
    scene = recorded_scene(Settings(), "cache")
    at, blocks = np.array(scene["levels"]).T
    ax.plot(
        at / 1e6, 100 * blocks / scene["cache"]["room"], color=COLORS[0], label="waiting to be written", linewidth=2
    )
    ax.axhline(100 * scene["cache"]["high"] / scene["cache"]["room"], color=INK, linestyle="--", linewidth=1)
    ax.annotate("destaging begins", (at[-1] / 1e6, 51), ha="right", va="bottom", color=INK, fontsize=9)
    issued, response = (np.array(scene["requests"][key]) / 1e6 for key in ("issue_ns", "response_ns"))
    waits = ax.twinx()
    waits.plot(issued, response, ".", color=COLORS[1], markersize=3)
    waits.set_ylabel("time of a write in ms (dots)", color=INK)
    waits.tick_params(colors=INK)
    for side, spine in waits.spines.items():
        spine.set_visible(side == "right")
        spine.set_color(INK)
    ax.set_ylim(0, 108)
    waits.set_ylim(bottom=0)
    return svg(figure)


def second_failure() -> str:
    """Chance of data loss over the time of a rebuild."""
    figure, ax = axes(
        "8 disks of 4 TB, 2 % fail in a year, 1 bit in 10¹⁵ is unreadable", "hours to rebuild", "loss a year, %"
    )
    hours = np.geomspace(1, 200, 30)
    for level in ("raid5", "raid10", "raid6"):
        known = {"mttf_hours": mttf_hours_of(0.02), "disk_bytes": 4e12}
        found = [100 * data_loss(level, 8, mttr_hours=h, **known).loss_per_year for h in hours]
        ax.plot(hours, found, label=level, linewidth=2)
    ax.plot(
        hours,
        [100 * data_loss("raid5", 8, mttr_hours=h, **known, ure_per_bit=0).loss_per_year for h in hours],
        "--",
        color=COLORS[0],
        label="raid5, if every bit could be read",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    # between the lines
    ax.legend(frameon=False, labelcolor=INK, fontsize=9, loc=(0.01, 0.44))
    return svg(figure)


def tails() -> str:
    """Share of the requests that take longer than a time."""
    figure, ax = axes("RAID 10 of 8 disks, random reads", "ms", "share that takes longer")
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 8}})
    for rate in (100, 700, 1100):
        load = Workload.parse({"size": "8 KiB", "read_ratio": 1.0, "rate": f"{rate}/s"})
        run = simulate(array, load, n_requests=20_000)
        ms = np.sort(run.responses_ns()) / 1e6
        ax.plot(ms, 1 - (np.arange(len(ms)) + 0.5) / len(ms), label=f"{rate}/s", linewidth=2)
        ax.plot([ms.mean()], [np.mean(ms > ms.mean())], "o", color=ax.lines[-1].get_color(), markersize=6)
    for share, name in ((0.01, "p99"), (0.001, "p99.9")):
        ax.axhline(share, color=INK, linestyle="--", linewidth=0.8)
        ax.annotate(name, (0, share), va="bottom", color=INK, fontsize=9)
    ax.set_yscale("log")
    ax.set_ylim(3e-4, 1)
    ax.set_xlim(left=0)
    ax.annotate("dots: the mean", (0.98, 0.6), xycoords="axes fraction", ha="right", color=INK, fontsize=9)
    return svg(figure)


def validation() -> str:
    """Demerits of the validation page, which `make traces` writes."""
    table = (HERE.parents[1] / "explanation" / "validation-traces.md").read_text()
    rows = re.findall(r"^\| (\w+) \| [\d.]+ \| [+-][\d.]+% \| ([\d.]+)% \| ([\d.]+)% \|", table, re.MULTILINE)
    names, ours, rival = zip(*rows, strict=True)
    figure, ax = axes("Held-out halves of six traces", "", "demerit, % of the mean")
    at = np.arange(len(names))
    for offset, values, label in ((-0.2, ours, "diskmodel"), (0.2, rival, "DiskSim 4.0")):
        ax.bar(at + offset, [float(v) for v in values], width=0.38, label=label)
    ax.set_xticks(at, names, fontsize=8)
    return svg(figure)

"""Draw the pictures of the course: each function runs the model and returns an SVG for light and dark pages."""

from __future__ import annotations

import io

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from diskmodel.analytic.queueing import mg1
from diskmodel.array import Array
from diskmodel.drawing import COLORS, INK, style_for_any_page
from diskmodel.drive import load_drive
from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from diskmodel.workload import Workload, log_of_commits


def axes(title: str, x: str, y: str) -> tuple[plt.Figure, Axes]:
    """An empty drawing without background."""
    figure, ax = plt.subplots(figsize=(5.8, 3.2), layout="constrained")
    style_for_any_page(ax)
    ax.set_title(title, color=INK, fontsize=11)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_prop_cycle(color=COLORS)
    return figure, ax


def svg(figure: plt.Figure) -> str:
    """The drawing as text; the same drawing is the same text."""
    for ax in figure.axes:
        if ax.get_legend() is None and ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False, labelcolor=INK, fontsize=9)
    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


def one_disk(drive: str = "generic-7k2", **more: object) -> Array:
    """A single disk."""
    return Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, **more})


def measure(array: Array, n: int = 2000, **workload: object) -> Result:
    """A run of `n` requests."""
    return simulate(array, Workload.parse(workload), n_requests=n)


def anatomy() -> str:
    """Parts of one access by size of the request."""
    sizes = [4, 64, 256, 1024, 4096]
    runs = [measure(one_disk(), 1000, size=f"{size} KiB", clients=1) for size in sizes]
    figure, ax = axes("Random reads, one at a time, 7200 rpm", "request", "mean time in ms")
    bottom = [0.0] * len(runs)
    # the colors of the lab
    for part, color in zip(("overhead", "seek", "rotation", "transfer"), (INK, "#e69f00", *COLORS[::2]), strict=False):
        heights = [run.breakdown_ns[part] / 1e6 for run in runs]
        ax.bar([f"{size} KiB" for size in sizes], heights, bottom=bottom, color=color, label=part)
        bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    return svg(figure)


def zones() -> str:
    """Rate of a track over the place on the disk."""
    figure, ax = axes("Sequential reads over the place on the disk", "place, % of the capacity", "MB/s")
    for name in ("generic-7k2", "generic-10k", "generic-15k"):
        tables = one_disk(name).drive.tables()
        edges = 100 * tables.zone_first_lba / tables.n_sectors_per_actuator
        rates = tables.sectors_per_track * tables.sector_bytes / (tables.revolution_ns / 1e9) / 1e6
        ax.stairs(rates, edges, baseline=None, label=name, linewidth=2)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("MB/s of a track", color=INK)
    return svg(figure)


def elevator() -> str:
    """Rate against the 99th percentile for each scheduler."""
    figure, ax = axes("16 outstanding random reads, 7200 rpm", "IOPS", "p99 in ms")
    for name in ("fcfs", "sstf", "look", "c-look", "sptf", "sptf-aged"):
        run = measure(one_disk(queue={"scheduler": name, "drive_depth": 1}), 8000, size="4 KiB", clients=16)
        at = run.iops.mean, run.latency.to_dict()["p99"]
        ax.scatter(*at, s=60)
        beside = (-7, -11) if name == "sptf-aged" else (-7, 5)
        ax.annotate(name, at, beside, textcoords="offset points", ha="right", color=INK, fontsize=9)
    ax.set_xlim(left=60)
    ax.set_ylim(bottom=0)
    return svg(figure)


def knee() -> str:
    """Mean response over the rate, simulated and by formula."""
    disk = one_disk(queue={"drive_depth": 1})
    alone = measure(disk, 8000, size="4 KiB", clients=1).responses_ns() / 1e9
    service_s, second_s2 = float(alone.mean()), float((alone**2).mean())
    figure, ax = axes("Open random 4 KiB reads, 7200 rpm", "requests per second", "mean response in ms")
    smooth = [r / 2 for r in range(10, 150)]
    ax.plot(smooth, [mg1(rate, service_s, second_s2).response_s * 1e3 for rate in smooth], label="formula (M/G/1)")
    rates = [10, 20, 30, 40, 50, 60, 65, 70]
    runs = [measure(disk, 30_000, size="4 KiB", rate=f"{rate}/s") for rate in rates]
    ax.plot(rates, [run.latency.to_dict()["mean"] for run in runs], "o", label="simulation")
    ax.set_ylim(0, 200)
    return svg(figure)


def penalty() -> str:
    """Back-end operations per write over its size."""
    figure, ax = axes("Aligned writes on 8 disks, strips of 64 KiB", "size of the write in KiB", "disk operations")
    sizes = [4, 64, 128, 192, 256, 320, 384]
    for level in ("raid10", "raid5", "raid6"):
        layout = {"level": level, "disks": 8, "strip": "64 KiB"}
        array = Array.parse({"drive": "generic-15k", "layout": layout})
        runs = [measure(array, 1000, size=f"{s} KiB", alignment="64 KiB", read_ratio=0.0, clients=1) for s in sizes]
        ax.plot(sizes, [run.back_end_per_host for run in runs], "o-", label=level)
    ax.set_ylim(bottom=0)
    return svg(figure)


def caches() -> str:
    """How busy the disks are with writes, with and without a write-back cache."""
    figure, ax = axes("Random 4 KiB writes, RAID 5 on 8 disks", "writes per second", "disks busy, %")
    rates = [100, 300, 600, 900]
    for label, controller in (("write-through", {}), ("write-back, 256 MiB", {"write_cache": {"size": "256 MiB"}})):
        layout = {"level": "raid5", "disks": 8, "strip": "64 KiB"}
        array = Array.parse({"drive": "generic-15k", "layout": layout, "controller": controller})
        runs = [measure(array, 10_000, size="4 KiB", read_ratio=0.0, rate=f"{rate}/s") for rate in rates]
        ax.plot(rates, [100 * run.utilization_ratio for run in runs], "o-", label=label)
    ax.set_ylim(0, 105)
    return svg(figure)


def read_ahead() -> str:
    """Rate over the size of the request: sequential with and without the drive's buffer, and random."""
    drive = load_drive("generic-7k2")
    cases = (
        ("sequential, with buffer", drive, {"addresses": {"pattern": "sequential"}}),
        ("sequential, without", drive.model_copy(update={"cache": None}), {"addresses": {"pattern": "sequential"}}),
        ("random", drive, {}),
    )
    sizes = [4 * 2**i for i in range(12)]
    figure, ax = axes("One reader, one request at a time, 7200 rpm", "size of the request in KiB", "MB/s")
    for (label, one, pattern), mark in zip(cases, "os^", strict=True):
        array = Array.parse({"drive": one, "layout": {"level": "jbod", "disks": 1}})
        rates = [measure(array, 600, size=f"{size} KiB", clients=1, **pattern).bytes_per_s / 1e6 for size in sizes]
        ax.plot(sizes, rates, f"{mark}-", label=label)
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes[::2], [str(size) for size in sizes[::2]])
    ax.set_ylim(bottom=0)
    return svg(figure)


def flash() -> str:
    """Random reads a second over the requests outstanding, for a disk and two flash drives."""
    figure, ax = axes("Random 4 KiB reads", "outstanding requests", "IOPS")
    clients = [1, 2, 4, 8, 16, 32, 64]
    for name, mark in zip(("generic-7k2", "samsung-870-evo-1tb", "generic-sas-ssd"), "os^", strict=True):
        rates = [measure(one_disk(name), 3000, size="4 KiB", clients=n).iops.mean for n in clients]
        ax.plot(clients, rates, f"{mark}-", label=name)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(clients, [str(n) for n in clients])
    return svg(figure)


def sizing() -> str:
    """99th percentile of the order database over the number of disks."""
    figure, ax = axes("1,000 requests a second of 8 KiB, 70 % reads, 15,000 rpm", "disks", "p99 in ms")
    for level, mark in (("raid10", "o"), ("raid5", "s")):
        counts = list(range(14 if level == "raid10" else 10, 37, 2))  # the data must fit
        found = []
        for disks in counts:
            array = Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": disks}})
            result = measure(array, 20_000, size="8 KiB", read_ratio=0.7, rate="1000/s", span="2 TB")
            found.append(result.latency.to_dict()["p99"])
        ax.plot(counts, found, f"{mark}-", label=level)
    ax.axhline(40, color=INK, linestyle="--", linewidth=1)
    ax.annotate("objective", (36, 40), va="bottom", ha="right", color=INK, fontsize=9)
    ax.set_ylim(0, 130)
    return svg(figure)


def group_commit() -> str:
    """Commits a second, and their mean latency, over the number of clients of a log."""
    # more clients fill the cache, which takes what the disk writes in sequence
    clients = [1, 2, 4, 8, 16, 32]
    devices = {
        "disk": one_disk(),
        "disk behind a protected cache": one_disk(controller={"write_cache": {"size": "64 MiB"}}),
    }
    figure, (rates, times) = plt.subplots(2, 1, figsize=(5.8, 4.8), layout="constrained", sharex=True)
    for ax, label in ((rates, "commits per second"), (times, "mean latency in ms")):
        style_for_any_page(ax)
        ax.set_prop_cycle(color=COLORS)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_ylabel(label)
    rates.set_title("One log, 7200 rpm", color=INK, fontsize=11)
    times.set_xlabel("clients")
    for name, array in devices.items():
        runs = [measure(array, 3000, streams=[log_of_commits(clients=n)]) for n in clients]
        rates.plot(clients, [run.commits_per_s for run in runs], marker="o", label=name)
        times.plot(clients, [run.commits.mean_ns / 1e6 for run in runs], marker="o", label=name)
    times.set_xticks(clients, [str(n) for n in clients])
    return svg(figure)


def clouds() -> str:
    """Mean latency of a hard disk and of a volume with a limit over the load, as a share of the most they do."""
    shares = [0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95]
    figure, ax = axes("Random reads of 8 KiB", "load, as a share of the most", "mean latency in ms")
    for name, words, most in (
        ("hard disk, 7200 rpm", "1x generic-7k2 jbod", 100),
        ("gp3 volume", "1x aws-gp3 jbod", 3000),
    ):
        runs = [measure(Array(words), 8000, size="8 KiB", rate=f"{share * most}/s") for share in shares]
        ax.plot(shares, [run.latency.mean_ns / 1e6 for run in runs], marker="o", label=name)
    ax.set_yscale("log")
    ax.set_yticks([0.5, 1, 5, 10, 50], ["0.5", "1", "5", "10", "50"])
    return svg(figure)


def pools() -> str:
    """Random reads a second of whole records of pools, over the size of a record."""
    sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    arrays = {
        "4 mirrors of 2": "4x2 generic-7k2 mirror, record {}KiB",
        "RAID-Z2 of 8": "8x generic-7k2 raidz2, record {}KiB",
        "one disk": "1x generic-7k2 jbod",
    }
    figure, ax = axes("Reads of whole records, 8 clients, 7200 rpm", "record", "random reads per second")
    ax.set_xscale("log", base=2)
    for name, words in arrays.items():
        runs = [measure(Array.from_words(words.format(size)), size=f"{size} KiB", clients=8) for size in sizes]
        ax.plot(sizes, [run.iops.mean for run in runs], marker="o", label=name)
    ax.set_xticks(sizes, [f"{size} KiB" if size < 1024 else "1 MiB" for size in sizes], rotation=30)
    ax.set_ylim(bottom=0)
    return svg(figure)

"""Published measurements of caches on SSDs, compared with what is simulated; writes the page of them.

    python -m tests.validation.cached.caches [--write]

A row is simulated only where its source says enough of the cache's drives and of what is behind them; the others are
listed with what they do not say. Nothing in the model was set by these rows.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel import Array, Workload, simulate
from diskmodel.engine.cached.run import Simulation
from diskmodel.engine.scenario import resolve

PAGE = Path(__file__).parents[3] / "docs/explanation/validation/caches.md"
BEGIN, END = "<!-- rows -->", "<!-- end of rows -->"
MIB = 1 << 20


@dataclass(frozen=True)
class Row:
    """A figure that somebody measured, and the simulated one.

    Attributes
    ----------
    source, what : str
    measured, simulated : float
    unit : str
    is_bar : bool
        Whether the source says enough for the bar of 15 %.
    """

    source: str
    what: str
    measured: float
    simulated: float
    unit: str
    is_bar: bool = True

    @property
    def error(self) -> float:
        """Simulated over measured, less one."""
        return self.simulated / self.measured - 1


def volume(throughput: str, capacity: str) -> dict[str, Any]:
    """A volume of which only its limit is known; its latency does not matter with 128 outstanding."""
    times = {"read_p50": "0.3 ms", "read_p95": "0.6 ms"}
    return {"kind": "cloud", "name": "volume", "capacity": capacity, "throughput": throughput, "bucket": "0 s",
            "exact": True, **times}  # fmt: skip


def cliff(span: str) -> list[float]:
    """Return MiB/s of six runs of 1 GiB one after the other through an empty cache of 4 GiB, at an eighth of all sizes.

    N. Kshirsagar, linux-bcache, 2022-06-25: a fast volume of 225 MiB/s before a slow one of 3,046 KiB/s. Where the runs
    wrote is not said: each anywhere in `span`.
    """
    drive = {
        "kind": "cached", "mode": "writeback", "sequential_cutoff": "0 B", "drive": volume("3046 KiB/s", "2 GiB"),
        "layout": {"level": "jbod", "disks": 1}, "cache": {"drive": volume("225 MiB/s", "512 MiB")},
    }  # fmt: skip
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    n = 128 * MIB // 4096
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "queue_depth": 128, "span": span})
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=6 * n, seed=0)
    run = Simulation(resolve(array, 0), requests, None)
    run.run()
    ends = np.sort(run.done_ns)[n - 1 :: n]
    took = np.diff(ends, prepend=0) / 1e9
    return [128 / float(each) for each in took]


def rate(words: str, n: int = 20_000, start: str = "steady", **load: Any) -> float:
    """Return simulated requests a second."""
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, **load})
    found = simulate(Array.from_words(words), workload, n_requests=n, profile_draws=0, start=start)  # type: ignore[arg-type]
    return float(found.iops.mean)


def rows() -> list[Row]:
    """Return all rows that can be simulated."""
    cas, s4610 = "Open CAS issue 976, 2021-10-25", "intel-d3-s4610-960"
    writes = {"queue_depth": 64, "span": "50 GB"}
    cached = f"{s4610}, cached by {s4610} (open-cas writeback)"
    found = [
        Row(cas, "Intel S4610 alone, 64 writers", 50_000, rate(s4610, **writes), "/s"),
        Row(
            cas,
            "cached while it fills, mean of 21.6.1 (25,000) and 21.3.3 (34,000)",
            29_500,
            rate(cached, start="empty", **writes),
            "/s",
        ),
    ]
    mail = "linux-bcache, N. Kshirsagar, 2022-06-25"
    runs = cliff("1 GiB")
    found += [
        Row(mail, "runs 1 and 2 of 1 GiB, mean", (168 + 283) / 2, float(np.mean(runs[:2])), "MiB/s"),
        Row(mail, "run 3, the cliff", 10.3, runs[2], "MiB/s", is_bar=False),
        Row(mail, "runs 4 to 6, mean", (8 + 9.4 + 4.4) / 3, float(np.mean(runs[3:])), "MiB/s", is_bar=False),
    ]
    silva = "linux-bcache, A. Silva, 2022-05-10"
    safe = {"queue_depth": 1, "span": "4 GB", "sync": "fdatasync"}
    bcache = "generic-7k2, cached by micron-7450-pro-960 (bcache writeback, sequential cutoff 0)"
    found += [
        Row(
            silva, "NVMe with capacitors alone, fsync", 32_900, rate("micron-7450-pro-960", **safe), "/s", is_bar=False
        ),
        Row(silva, "bcache before one disk, fsync", 1_548, rate(bcache, 6000, **safe), "/s", is_bar=False),
    ]
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, **safe})
    array = Array.from_words(bcache)
    run = Simulation(resolve(array, 0), workload.requests(capacity_bytes=array.usable_bytes, n=1000, seed=0), None)
    run.run()
    writes_each = run.writes_of(0) / 1000
    found.append(Row(silva, "writes of the NVMe for each of these", 32_550 / 15_480, writes_each, ""))
    return found


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(found: list[Row]) -> str:
    """Return rows as Markdown."""
    lines = ["| measured by | what | measured | simulated | |", "|---|---|--:|--:|--:|"]
    for row in found:
        mark = "" if row.is_bar else " *"
        lines.append(
            f"| {row.source} | {row.what}{mark} | {_figure(row.measured)}{row.unit and ' '}{row.unit} "
            f"| {_figure(row.simulated)}{row.unit and ' '}{row.unit} | {row.error:+.0%} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    text = table(rows())
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")

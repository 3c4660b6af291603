"""What a host I/O costs the native kernel as the queue gets deeper: `python benchmarks/bench_queue_depth.py`.

One disk with full zone geometry and without a buffer, random 4 KiB reads, so many outstanding, all of them with the
drive. Nanoseconds of processor time for each I/O, the best of several runs. Writes its table into
docs/explanation/speed.md.
"""

from __future__ import annotations

import time
from pathlib import Path

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine import _kernel, native
from diskmodel.engine.scenario import resolve
from diskmodel.workload import Workload

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "speed.md"
BEGIN, END = "<!-- queue depth: begin -->\n", "<!-- queue depth: end -->"
DEPTHS = (1, 32, 256, 4096)
SCHEDULERS = ("fcfs", "sstf", "look", "c-look", "f-scan", "sptf", "sptf-aged")
N_REQUESTS = 100_000
REPEATS = 5


def cost_ns(scheduler: str, depth: int) -> float:
    """Processor time of one I/O in ns."""
    drive = {k: v for k, v in load_drive("generic-15k").to_dict().items() if k != "cache"}
    drive["queue"] = {"depth": depth, "scheduler": scheduler}
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    requests = Workload.parse({"size": "4 KiB", "clients": depth}).requests(
        capacity_bytes=array.usable_bytes, n=N_REQUESTS, seed=1
    )
    scenario = resolve(array, 1)
    best = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        native.run(scenario, requests)
        best = min(best, time.process_time() - started)
    return best / N_REQUESTS * 1e9


def main() -> None:
    if _kernel.IS_DEBUG_BUILD:
        raise SystemExit("the kernel is a debug build: run `make build`")
    lines = [
        "| ns an I/O | " + " | ".join(f"{depth} outstanding" for depth in DEPTHS) + " |",
        "|---|" + "--:|" * len(DEPTHS),
    ]
    for scheduler in SCHEDULERS:
        lines.append(f"| {scheduler} | " + " | ".join(f"{cost_ns(scheduler, d):,.0f}" for d in DEPTHS) + " |")
        print(lines[-1], flush=True)
    text = PAGE.read_text()
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(head + "\n".join(lines) + "\n" + tail)


if __name__ == "__main__":
    main()

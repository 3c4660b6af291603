"""What a plan takes: requests and runs by purpose, and processor time: `python benchmarks/bench_plan.py`.

Questions of every kind, answered as `diskmodel plan` answers them without `--explain`. `--save FILE` keeps the figures
and `--against FILE` prints those of an earlier version beside them; `--details` answers as `--json` does. Names of
questions as arguments choose some. Processor time is user and system time of all threads, without starting Python.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskmodel.engine.run
import diskmodel.engine.steady.shared
from diskmodel.engine import _kernel
from diskmodel.plan import PlanDescription, PlanResult, ServerPlan, run_plan, run_server
from diskmodel.plan.answer.effort import Effort, together
from diskmodel.plan.question.presets import preset

EXAMPLES = Path(__file__).parents[1] / "examples"
GENERIC = ["generic-7k2", "generic-10k", "generic-15k"]
#: Levels that a question on one line gets.
LEVELS = ["raid10", "raid5", "raid6"]


def question(
    workload: dict[str, Any], objective: dict[str, Any], drives: list[str], levels: list[str], **more: Any
) -> PlanDescription:
    """Return a plan from the tables that differ."""
    candidates = {"drives": drives, "levels": levels, "max_disks": 64, **more.pop("candidates", {})}
    return PlanDescription.parse(
        {"workload": workload, "objective": objective, "candidates": candidates, "search": {"seed": 0}, **more}
    )


def mixed(rate: int, reads: float = 0.7, size: str = "8 KiB") -> dict[str, Any]:
    """Return an open load at random places."""
    return {"size": size, "read_ratio": reads, "rate": f"{rate}/s"}


def limits(p99: str, capacity: str = "2 TB", **more: Any) -> dict[str, Any]:
    """Return an objective."""
    return {"latency": {"p99": p99}, "capacity": capacity, "fill_limit": "80%", **more}


def backup() -> PlanDescription:
    """Return a question about large sequential writes behind a write cache."""
    tables = dict(preset("backup").fields)
    objective = {**tables["objective"], "throughput": "400 MB/s", "capacity": "10 TB"}
    cache = {"write_cache": {"size": "256 MiB"}}
    return question(tables["workload"], objective, ["generic-7k2"], ["raid10", "raid6"], controller=cache)


def streams(name: str, capacity: str, drives: list[str], levels: list[str], **more: Any) -> PlanDescription:
    """Return a question about large sequential streams, of a preset."""
    tables = dict(preset(name).fields)
    return question(
        tables["workload"],
        {**tables["objective"], **more.pop("objective", {}), "capacity": capacity},
        drives,
        levels,
        **more,
    )


def zipf(rate: int, reads: float, size: str = "8 KiB") -> dict[str, Any]:
    """Return an open load whose places have Zipf's popularity, theta 1."""
    return {**mixed(rate, reads, size), "addresses": {"pattern": "zipf", "theta": 1.0}}


def controller(**caches: str) -> dict[str, Any]:
    """Return the table of a controller from the sizes of its caches."""
    return {"controller": {name: {"size": size} for name, size in caches.items()}}


def buffered(memory: str) -> dict[str, Any]:
    """Return the table of a host with a page cache."""
    return {"host": {"is_buffered": True, "page_cache": {"memory": memory}}}


WITH_CACHE = controller(write_cache="1 GiB")
PAGE_CACHE = buffered("1 GiB")
QUESTIONS: dict[str, Callable[[], PlanDescription | ServerPlan]] = {
    "plan-oltp": lambda: PlanDescription.load(EXAMPLES / "plan-oltp.toml"),
    "one line": lambda: question(mixed(500), limits("80 ms"), ["generic-15k"], LEVELS),
    "plan-oltp, write cache": lambda: question(mixed(500), limits("80 ms"), GENERIC, LEVELS, **WITH_CACHE),
    "plan-server": lambda: ServerPlan.load(EXAMPLES / "plan-server.toml"),
    "plan-failover": lambda: PlanDescription.load(EXAMPLES / "plan-failover.toml"),
    "tight p99": lambda: question(mixed(900), limits("25 ms"), ["generic-15k"], ["raid10", "raid5"]),
    "loose mean": lambda: question(mixed(900), {"latency": {"mean": "40 ms"}}, GENERIC[1:], ["raid10", "raid5"]),
    "infeasible": lambda: question(mixed(300), limits("9 ms"), ["generic-7k2", "generic-15k"], ["raid10", "raid5"]),
    "flash": lambda: question(
        mixed(60_000, 0.5), limits("2 ms", "4 TB"), ["samsung-pm893-960", "micron-7450-pro-1920"], ["raid10", "raid5"]
    ),
    "closed": lambda: question(
        {"size": "8 KiB", "read_ratio": 0.7, "clients": 32},
        {"iops": 1000, "latency": {"p99": "120 ms"}, "capacity": "1 TB"},
        ["generic-10k"],
        ["raid10", "raid5"],
    ),
    "backup, write cache": backup,
    "page cache": lambda: question(mixed(600), limits("60 ms"), ["generic-10k"], ["raid10", "raid5"], **PAGE_CACHE),
    "shingled": lambda: question(
        mixed(100), limits("200 ms", "20 TB"), ["seagate-archive-st8000as0002"], ["raid10", "raid6"]
    ),
    "flash p99.9": lambda: question(
        mixed(60_000), {"latency": {"p999": "2 ms"}, "capacity": "4 TB"}, ["micron-7450-pro-1920"], LEVELS
    ),
    "p99.9": lambda: question(mixed(900), {"latency": {"p999": "80 ms"}, "capacity": "2 TB"}, ["generic-15k"], LEVELS),
    "two caches": lambda: question(
        zipf(2000, 0.7),
        limits("40 ms"),
        ["generic-10k"],
        ["raid10", "raid5"],
        **controller(read_cache="64 GiB", write_cache="1 GiB"),
    ),
    "page cache, large": lambda: question(
        mixed(600), limits("60 ms"), ["generic-10k"], ["raid10", "raid5"], **buffered("16 GiB")
    ),
    "read cache, huge": lambda: question(
        zipf(2000, 0.9),
        limits("40 ms", "8 TB"),
        ["generic-10k"],
        ["raid10", "raid5"],
        **controller(read_cache="400 GiB"),
    ),
    "backup": lambda: streams(
        "backup", "40 TB", ["generic-7k2"], ["raid10", "raid6"], objective={"throughput": "800 MB/s"}
    ),
    "backup, 1 GiB": lambda: streams(
        "backup", "40 TB", GENERIC, LEVELS, objective={"throughput": "800 MB/s"}, **WITH_CACHE
    ),
    "video": lambda: streams("video", "40 TB", ["generic-7k2"], ["raid10", "raid6"]),
    "buffered, synced": lambda: question(
        {**mixed(300, 0.5), "sync": "fsync", "sync_every": 8},
        limits("80 ms"),
        ["generic-10k"],
        ["raid10", "raid5"],
        **PAGE_CACHE,
    ),
    "zipf, 32 GiB": lambda: question(
        zipf(3000, 0.8), limits("40 ms"), ["generic-10k"], ["raid10", "raid5"], **controller(read_cache="32 GiB")
    ),
    "rebuild": lambda: question(
        mixed(500), {**limits("80 ms"), "rebuild_hours": 24}, ["generic-10k"], ["raid10", "raid5", "raid6"]
    ),
}


class Clock:
    """Adds up the processor time of the calling threads in a function that it wraps."""

    def __init__(self, module: Any, name: str) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._inner = getattr(module, name)
        setattr(module, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        began = time.thread_time()
        try:
            return self._inner(*args, **kwargs)
        finally:
            with self._lock:
                self.seconds += time.thread_time() - began


def efforts_of(asked: PlanDescription | ServerPlan, *, with_details: bool) -> dict[str, Effort]:
    """Answer a question, and return what was simulated, by purpose."""
    if isinstance(asked, PlanDescription):
        return run_plan(asked, with_details=with_details).efforts
    found: list[PlanResult] = []

    def answered(one: PlanDescription) -> PlanResult:
        found.append(run_plan(one, with_details=with_details))
        return found[-1]

    run_server(asked, answer=answered)
    return together(result.efforts for result in found)


def measured(name: str, starts: Clock, kernel: Clock, *, with_details: bool) -> dict[str, Any]:
    """Return the figures of one question."""
    asked = QUESTIONS[name]()
    before = starts.seconds, kernel.seconds
    began = time.process_time()
    efforts = efforts_of(asked, with_details=with_details)
    seconds = time.process_time() - began
    whole = sum(efforts.values(), Effort())
    return {
        "runs": whole.n_runs,
        "requests": whole.n_requests,
        "s": seconds,
        "steady starts s": starts.seconds - before[0],
        "kernel s": kernel.seconds - before[1],
        "purposes": {key: {**one.to_dict(), "s": one.processor_s} for key, one in efforts.items()},
    }


def table(found: dict[str, Any], earlier: dict[str, Any]) -> list[str]:
    """Return the lines of a Markdown table; with those of an earlier version in columns of their own."""
    lines = [
        "| question | requests | before | runs | before | s | before | kernel, s | steady starts, s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, now in found.items():
        was: dict[str, Any] = defaultdict(str, earlier.get(name, {}))
        texts = [f"{now['requests']:,}", _text(was["requests"], ","), f"{now['runs']}", _text(was["runs"], "")]
        texts += [f"{now['s']:.1f}", _text(was["s"], ".1f"), f"{now['kernel s']:.1f}", f"{now['steady starts s']:.1f}"]
        lines.append(f"| {name} | {' | '.join(texts)} |")
    return lines


def _text(value: Any, form: str) -> str:
    return value if isinstance(value, str) else format(value, form)


def main() -> None:
    if _kernel.IS_DEBUG_BUILD:
        raise SystemExit("the kernel is a debug build: run `make build`")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="question", help=", ".join(QUESTIONS))
    options.add_argument("--save", type=Path)
    options.add_argument("--against", type=Path)
    options.add_argument("--details", action="store_true")
    asked = options.parse_args()
    unknown = sorted(set(asked.names) - set(QUESTIONS))
    if unknown:
        options.error(f"not a question: {', '.join(unknown)}")
    earlier = json.loads(asked.against.read_text()) if asked.against else {}
    starts = Clock(diskmodel.engine.steady.shared, "settled")
    kernel = Clock(diskmodel.engine.run.native, "run")
    found = {}
    for name in asked.names or QUESTIONS:
        found[name] = measured(name, starts, kernel, with_details=asked.details)
        purposes = found[name]["purposes"].items()
        parts = "; ".join(f"{key} {one['requests']:,} in {one['runs']}, {one['s']:.2f} s" for key, one in purposes)
        print(f"{name}: {parts}", file=sys.stderr, flush=True)
    if asked.save:
        asked.save.write_text(json.dumps(found, indent=1))
    print("\n".join(table(found, earlier)))


if __name__ == "__main__":
    main()

"""What an answer costs: processor time of commands as people give them, as a ratio to starting Python.

    python benchmarks/bench_answers.py [ROW…] [--repeat 3] [--against FILE] [--save FILE]

Each row is a command in a process of its own, or an import. Its time is that of the processor, user and system, of all
threads: the least of some repetitions, since other work on a machine only adds to it. Beside it stands the same as a
multiple of `python -c pass`, measured in turn with it, which says more on another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
#: As programs are installed: modules are compiled once, and not for each command.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
PYTHON = (sys.executable, "-c", "pass")
DISKMODEL = (sys.executable, "-m", "diskmodel")
LINE = ("--iops", "500", "--reads", "70%", "--block", "8k")
RAID5, RAID10 = (f"8x seagate-exos-10e2400-2400 {level}" for level in ("raid5", "raid10"))
POOL = "6x seagate-exos-x18 raidz2"

#: A run from Python, of a drive of the catalog.
CALL = """
from diskmodel import Array, Workload, simulate
array, workload = Array("generic-15k", "raid10", 4), Workload.parse({"size": "8 KiB", "rate": "200/s"})
simulate(array, workload, n_requests=2000)
"""

#: Commands by name.
ROWS: dict[str, tuple[str, ...]] = {
    "import": (sys.executable, "-c", "from diskmodel import simulate"),
    "call": (sys.executable, "-c", CALL),
    "help": (*DISKMODEL, "--help"),
    "simulate": (*DISKMODEL, "simulate", "12x seagate-exos-10e2400-2400 raid10", *LINE),
    "simulate-flash": (*DISKMODEL, "simulate", "4x micron-7450-pro-1920 raid10", "--iops", "20000", *LINE[2:]),
    "compare": (*DISKMODEL, "compare", RAID5, RAID10, *LINE),
    "capacity": (*DISKMODEL, "capacity", RAID5, *LINE[2:]),
    "plan": (*DISKMODEL, "plan", "--iops", "2000", *LINE[2:], "--capacity", "10TB", "--p99", "30ms"),
    "plan-oltp": (*DISKMODEL, "plan", str(EXAMPLES / "plan-oltp.toml")),
    "plan-nearline": (
        *(*DISKMODEL, "plan", "--iops", "2500", *LINE[2:], "--capacity", "200TB", "--p99", "60ms"),
        *("--drive", "seagate-exos-x18", "--level", "raid10", "--level", "raid6"),
    ),
    "explain": (*DISKMODEL, "explain", "--array", RAID5, "--measured", "500/s, 8KiB random reads, mean 40ms"),
    "zfs-in-order": (*DISKMODEL, "simulate", POOL, "--throughput", "300MB/s", "--sequential", "--reads", "100%"),
    "mixed-streams": (*DISKMODEL, "simulate", str(EXAMPLES / "raid5.toml"), "--workload", str(EXAMPLES / "oltp.toml")),
}


def core_s(command: tuple[str, ...]) -> float:
    """Return processor time of a command, seconds; its answer may be "no", but not an error."""
    before = os.times()
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-1000:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return float(used)


def measured(names: list[str], repeat: int) -> dict[str, tuple[float, float]]:
    """Return seconds and the multiple of starting Python of each row, printed as they come."""
    found = {}
    for name in names:
        pairs = [(core_s(PYTHON), core_s(ROWS[name])) for _ in range(repeat)]
        python_s, seconds = (min(column) for column in zip(*pairs, strict=True))
        found[name] = (seconds, seconds / python_s)
        print(f"{name:16} {seconds:7.2f} s {seconds / python_s:7.0f} ×", flush=True)
    return found


def main() -> None:
    """Measure, and print beside what was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"default: all of {', '.join(ROWS)}")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path, help="figures of an earlier version, from --save")
    asked = parser.parse_args()
    if unknown := set(asked.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    found = measured(asked.rows or list(ROWS), asked.repeat)
    if asked.save:
        asked.save.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if asked.against:
        before = json.loads(asked.against.read_text(encoding="utf-8"))
        print(f"\n{'':16} {'before':>9} {'now':>9}")
        for name, (_, ratio) in found.items():
            if name in before:
                print(f"{name:16} {before[name][1]:7.0f} × {ratio:7.0f} ×  {ratio / before[name][1]:.0%}")


if __name__ == "__main__":
    main()

"""Measures Linux md in the testbed: `python -m tests.validation.md.testbed.measure DIRECTORY [WORD…]`.

DIRECTORY is what `build.sh` made. Writes `tests/data/md-raid-own.csv` anew, or with words prints the rows of conditions
whose name contains all of them, and writes nothing. With the word `check` it measures what it can of
`tests/data/md-raid.csv` again and prints by how much the figures differ.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parents[2] / "data" / "md-raid-own.csv"
GIVEN = HERE.parents[2] / "data" / "md-raid.csv"
TITLES = (
    "level,disks,failed,option,pattern,queue_depth,dir,iops,mean_ms,p50_ms,p99_ms,n,total_iops,"
    "member_reads_per_op,member_writes_per_op,start_ns"
).split(",")
LOADS = {
    "randread": "rand 100 4096",
    "randwrite": "rand 0 4096",
    "mix70": "rand 70 4096",
    "seqread": "seq 100 1048576",
    "seqwrite": "seq 0 1048576",
}
WARM_UP_S, SECONDS = 2, 20
#: A new bitmap has all bits set. Those without writes are cleared in the second wake-up of a daemon, every 5 s.
BITMAP_WARM_UP_S = 30
#: Where much depends on a few wake-ups of that daemon or a few sleeps over throttled writes, 20 s are too short: in
#: other runs of that length p99 differs by 10 %.
LONG_S = 200
#: Options by name: what mdadm gets, and what is written to files in `/sys/block/md0/md`. A log of partial parity does
#: not fit before the data at 1 MiB.
OPTIONS = {
    "": ("--data-offset=1M --bitmap=none", ""),
    "bitmap": ("--data-offset=1M --bitmap=internal", ""),
    "ppl": ("--data-offset=2M --consistency-policy=ppl", ""),
    "journal": ("--data-offset=1M --write-journal=/dev/eq{disks}", ""),
    "stripe cache 1024": ("--data-offset=1M --bitmap=none", "stripe_cache_size:1024"),
    "stripe cache 4096": ("--data-offset=1M --bitmap=none", "stripe_cache_size:4096"),
    "group threads 2": ("--data-offset=1M --bitmap=none", "group_thread_cnt:2"),
}


@dataclass(frozen=True)
class Condition:
    """One run: an array, its option, and the load."""

    level: int
    disks: int
    pattern: str
    depth: int
    failed: int = 0
    option: str = ""

    @property
    def warm_up_s(self) -> int:
        return BITMAP_WARM_UP_S if self.option == "bitmap" else WARM_UP_S

    @property
    def seconds(self) -> int:
        is_throttled = self.depth == 32 and self.pattern in ("randwrite", "mix70")
        return LONG_S if self.option == "bitmap" or is_throttled else SECONDS

    @property
    def name(self) -> str:
        array = "single" if self.level < 0 else f"RAID{self.level}"
        return f"{array},{self.disks},{self.failed},{self.option},{self.pattern},{self.depth}"


def conditions() -> Iterator[Condition]:
    """What the table holds."""
    random, sequential = ("randread", "randwrite", "mix70"), ("seqread", "seqwrite")
    widths = {5: (3, 4, 5, 8, 12), 6: (4, 6, 10), 10: (4, 6, 8)}
    for level, disks in ((level, disks) for level, all_disks in widths.items() for disks in all_disks):
        yield from (Condition(level, disks, pattern, depth) for pattern, depth in product(random, (1, 8, 32)))
        yield from (Condition(level, disks, pattern, depth) for pattern, depth in product(sequential, (1, 4)))
    for level, disks, failed in ((5, 4, 1), (5, 8, 1), (6, 6, 1), (6, 6, 2)):
        yield from (Condition(level, disks, pattern, depth, failed) for pattern, depth in product(random, (1, 8, 32)))
    for level, disks in ((5, 4), (5, 8), (6, 6), (10, 6)):
        yield from (
            Condition(level, disks, pattern, depth, option="bitmap")
            for pattern, depth in product(random[1:], (1, 8, 32))
        )
    for option in ("ppl", "journal"):
        yield from (Condition(5, 4, "randwrite", depth, option=option) for depth in (1, 8, 32))
        yield from (Condition(5, 4, "seqwrite", depth, option=option) for depth in (1, 4))
    for option in ("stripe cache 1024", "stripe cache 4096"):
        yield from (Condition(5, 4, "seqwrite", depth, option=option) for depth in (1, 4, 8))
        yield Condition(5, 4, "randwrite", 32, option=option)
    yield from (
        Condition(5, 4, pattern, depth, option="group threads 2")
        for pattern, depth in (("seqwrite", 4), ("randwrite", 32))
    )


def measure(home: Path, condition: Condition, seconds: float = SECONDS, *extra: str) -> str:
    """Return what the testbed printed."""
    create, options = OPTIONS[condition.option]
    arguments = []
    if condition.level >= 0:
        members = [f"/dev/eq{i}" for i in range(condition.disks - condition.failed)] + ["missing"] * condition.failed
        array = f"--level={condition.level} --raid-devices={condition.disks} --assume-clean"
        array += " --chunk=64" if condition.level != 1 else ""
        words = [*array.split(), *create.format(disks=condition.disks).split(), *members]
        if condition.level == 0:
            words = [word for word in words if word not in ("--bitmap=none", "--assume-clean")]
        arguments = [f"testbed.create={' '.join(words)}", f"testbed.options={options}"]
    else:
        arguments = [f"equation_disk.sectors={16 << 21}"]
    arguments += [
        f"equation_disk.disks={condition.disks + (condition.option == 'journal')}",
        f"testbed.load={LOADS[condition.pattern]} {condition.depth} {condition.warm_up_s} {seconds}",
        f"testbed.home={home}",
        *extra,
    ]
    command = [
        str(home / "kernel" / "linux"),
        *("mem=256M", "time-travel=inf-cpu", "random.trust_bootloader=on", "quiet"),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={HERE / 'init.sh'}"),
        *("con=null", "con0=fd:0,fd:1"),
        *(argument.replace(" ", "+") for argument in arguments),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout


def rows_of(condition: Condition, printed: str, seconds: float = SECONDS) -> list[list[str]]:
    """Rows of the table for one run."""
    results = [line.split()[1:] for line in printed.splitlines() if line.startswith("result")]
    if not results:
        raise RuntimeError(f"{condition.name}: no result\n{printed}")
    total = sum(int(result[2]) for result in results) / seconds
    rows = []
    for direction, start_ns, n, mean, p50, p99, reads, writes in results:
        iops = int(n) / seconds
        figures = [f"{iops:.2f}", f"{float(mean):.4f}", f"{float(p50):.4f}", f"{float(p99):.4f}", n, f"{total:.2f}"]
        rows.append([*condition.name.split(","), direction, *figures, reads, writes, start_ns])
    return rows


def check(home: Path) -> None:
    """Compare with the given table: what has no read-ahead and lies in the outer 16 GiB."""
    with GIVEN.open() as file:
        given = [row for row in csv.DictReader(file) if "full" not in row["level"] + row["pattern"]]
    for row in given:
        pattern = row["pattern"].split()[0]
        if pattern == "seqread" and "no RA" not in row["pattern"]:
            continue
        level = -1 if row["level"] == "single" else int(row["level"][4:])
        condition = Condition(level, int(row["disks"]), pattern, int(row["queue_depth"]))
        seconds = 60 if level < 0 else SECONDS
        for ours in rows_of(condition, measure(home, condition, seconds), seconds):
            figures = dict(zip(TITLES, ours, strict=True))
            if figures["dir"] == row["dir"]:
                names = ("iops", "mean_ms", "p99_ms")
                ratios = (f"{name} {float(figures[name]) / float(row[name]) - 1:+.1%}" for name in names)
                print(condition.name, row["dir"], *ratios, flush=True)


def main(home: Path, words: list[str]) -> None:
    if words == ["check"]:
        check(home)
        return
    chosen = [condition for condition in conditions() if all(word in condition.name for word in words)]
    rows = []
    for condition in chosen:
        for row in rows_of(condition, measure(home, condition, condition.seconds), condition.seconds):
            print(",".join(row), flush=True)
            rows.append(row)
    if not words:
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([TITLES, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])

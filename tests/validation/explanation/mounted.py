"""Causes in drives that are mounted and answer in real time, measured by fio, and what the explanation makes of them.

The program, its engine, the kernel's queues and the clock are real here; only the disks are virtual. The machine may be
busy with other work: drive and program run on one processor with real-time priority, and a measurement whose answers
left late is made again.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.explanation.explain import explain
from tests.mount.mounting import mounted, undisturbed

TABLE = Path(__file__).parents[2] / "data" / "explained-mounts.csv"
#: Seconds of each job that count, and those before them, in which a drive's buffer fills.
_SECONDS, _RAMP = 5, 2
#: Delay of one answer in a hundred beyond which a measurement is disturbed: a tenth of a revolution.
_LATE_NS, _ATTEMPTS = 400_000, 3

_DRIVE = """kind = "hdd"
name = "small"
source = "made up"
capacity = "4 GB"
rpm = 15000
heads = 4
outer = "90 MB/s"
inner = "60 MB/s"
read_overhead = "80 us"
write_overhead = "80 us"
write_settle = "{settle}"
interface = "{link}"
seek = {{ track_to_track = "0.3 ms", average = "3.6 ms", full_stroke = "7.5 ms" }}
cache = {{ size = "2 MiB", segments = 8, write_back = {write_back} }}
queue = {{ depth = {depth}, scheduler = "{order}" }}
{more}
"""
_SOUND = {"settle": "0.4 ms", "link": "320 MB/s", "write_back": "true", "depth": 32, "order": "sptf", "more": ""}
_ARRAY = """[layout]
level = "raid5"
disks = 4
strip = "64 KiB"
failed = {failed}

[drive]
{drive}
"""
#: Jobs of fio: pattern, block, depth.
_JOBS = (("randread", "4k", 1), ("randread", "4k", 32), ("randwrite", "4k", 4), ("read", "1m", 4))


@dataclass(frozen=True)
class Mounted:
    """What is mounted, and how it is measured.

    Attributes
    ----------
    name : str
    finds : tuple of str
        Causes that say what is wrong; empty: nothing is.
    described, mounted : mapping
        Fields of the drive that differ from the sound one: in the description, and in what is mounted.
    failed : list of int, or None
        Failed members of an array of four; None: one drive.
    options : tuple of str
        Of fio.
    is_shared : bool
        Whether another program uses the drive meanwhile.
    """

    name: str
    finds: tuple[str, ...]
    described: dict[str, object] = field(default_factory=dict)
    mounted: dict[str, object] = field(default_factory=dict)
    failed: list[int] | None = None
    options: tuple[str, ...] = ()
    is_shared: bool = False


CASES = (
    Mounted("nothing is wrong with the drive", ()),
    Mounted("nothing is wrong with the array", (), failed=[]),
    Mounted("the drive's write cache is off", ("drive-write-cache-off",), mounted={"write_back": "false"}),
    Mounted("the drive has one request at a time", ("ncq-off",), mounted={"depth": 1, "order": "fcfs"}),
    # as a program that fio stands for, of which nobody knows that it waits
    Mounted("the program waits for each request", ("depth-lost", "few-at-once"), options=("--ioengine=psync",)),
    Mounted("another fio reads at the same time", ("other-load",), is_shared=True),
    Mounted(
        "six of ten accesses miss a revolution",
        ("vibration",),
        mounted={"more": "retries = { ratio = 0.6, time_ns = [4000000] }"},
    ),
    Mounted(
        "writes are beside the drive's sectors of 4 KiB",
        ("emulated-sectors",),
        described={"write_back": "false"},
        mounted={"write_back": "false", "settle": "4.4 ms"},
    ),
    Mounted("a member of the array has failed", ("member-failed",), failed=[0]),
)


@dataclass(frozen=True)
class Row:
    """What came of one case.

    Attributes
    ----------
    case : str
    verdict : str
    rank : str
        Place of the cause among those named; "": not named.
    named : str
    late_us : str
        Delay of one answer in a hundred.
    attempts : str
    """

    case: str
    verdict: str
    rank: str
    named: str
    late_us: str
    attempts: str


def described(case: Mounted, folder: Path) -> Path:
    """Write the description of a case."""
    return _written(folder / "described.toml", case, _SOUND | case.described, failed=[])


def _array(path: Path, case: Mounted) -> Array:
    found = Array(load_drive(path), "jbod", 1) if case.failed is None else Array.load(path)
    return found.model_copy(update={"drive": found.drive.model_copy(update={"exact": True})})


def _written(path: Path, case: Mounted, fields: dict[str, object], failed: list[int]) -> Path:
    drive = _DRIVE.format(**fields)
    path.write_text(drive if case.failed is None else _ARRAY.format(failed=failed, drive=drive), encoding="utf-8")
    return path


def measured(case: Mounted, folder: Path) -> tuple[list[Path], int]:
    """Mount the drive of a case and measure it; fio's results, and the delay of one answer in a hundred, ns."""
    fields = _SOUND | case.mounted
    actual = _written(folder / "actual.toml", case, fields, case.failed or [])
    results = []
    with undisturbed(), mounted(actual, folder / "m", "--data", "zero") as mount:
        with _another(mount.file, case.is_shared):
            for at, (pattern, block, depth) in enumerate(_JOBS):
                out = folder / f"{pattern}-{block}-{depth}.json"
                _fio(mount.file, pattern, block, depth, (*case.options, f"--randseed={at + 3}"), out)
                out.write_text(out.read_text("utf-8").replace('"psync"', '"libaio"'), "utf-8")
                results.append(out)
        mount.end()
    return results, int(mount.statistics["late_p99_ns"])


def _command(file: Path, pattern: str, block: str, depth: int, options: Sequence[str]) -> list[str]:
    shown = ["--direct=1", "--ioengine=libaio", f"--rw={pattern}", f"--bs={block}", f"--iodepth={depth}"]
    return ["fio", "--name=job", f"--filename={file}", *shown, "--time_based", "--norandommap", *options]


def _fio(file: Path, pattern: str, block: str, depth: int, options: Sequence[str], out: Path) -> None:
    times = (f"--runtime={_SECONDS}", f"--ramp_time={_RAMP}", "--output-format=json", f"--output={out}")
    subprocess.run(_command(file, pattern, block, depth, (*options, *times)), check=True, capture_output=True)


@contextmanager
def _another(file: Path, is_there: bool) -> Iterator[None]:
    """Let another program read four blocks at a time, if it is there."""
    with ExitStack() as stack:
        if is_there:
            command = _command(file, "randread", "4k", 4, ("--runtime=600",))
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            stack.callback(process.kill)
            time.sleep(1.0)
        yield


def row(case: Mounted) -> Row:
    """Measure a case, again where it was disturbed, and return what the explanation makes of it."""
    for attempt in range(1, _ATTEMPTS + 1):
        with tempfile.TemporaryDirectory() as name:
            results, late_ns = measured(case, Path(name))
            if late_ns > _LATE_NS and attempt < _ATTEMPTS:
                continue
            found = explain(results, _array(described(case, Path(name)), case))
        break
    verdict = "as expected" if found.is_as_expected else found.direction
    named = "; ".join(f"{' + '.join(one.names)} {one.probability:.2f}" for one in found.causes)
    places = [place for place, one in enumerate(found.causes, 1) if set(case.finds) & set(one.names)]
    return Row(case.name, verdict, str(min(places, default="")), named, f"{late_ns / 1e3:.0f}", str(attempt))


def read() -> list[Row]:
    """Return the kept table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**kept) for kept in csv.DictReader(file)]


def in_table() -> str:
    """Return the kept table for the page."""
    lines = ["| what is wrong | first | named | 1 in 100 answers late by |", "|---|---|---|--:|"]
    finds = {case.name: case.finds for case in CASES}
    for one in read():
        said = "nothing to explain" if one.verdict == "as expected" else one.named or "none of what is known"
        right = "yes" if is_right(one, finds[one.case]) else f"no, {one.rank}." if one.rank else "no"
        lines.append(f"| {one.case} | {right} | {said} | {one.late_us} µs |")
    return "\n".join(lines)


def is_right(one: Row, finds: Sequence[str]) -> bool:
    """Whether the answer is right: the cause first, or nothing to explain where nothing is wrong."""
    return one.rank == "1" if finds else one.verdict == "as expected"


def renew(only: str = "") -> Iterator[Row]:
    """Measure all cases, or those with a word, and keep the table."""
    kept = {one.case: one for one in read()} if TABLE.exists() else {}
    for case in CASES:
        if only in case.name:
            kept[case.name] = row(case)
            yield kept[case.name]
            with TABLE.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(Row.__annotations__), lineterminator="\n")
                writer.writeheader()
                writer.writerows(asdict(kept[one.name]) for one in CASES if one.name in kept)


if __name__ == "__main__":
    import sys

    for line in renew(*sys.argv[1:]):
        print(*asdict(line).values(), sep=" | ", flush=True)

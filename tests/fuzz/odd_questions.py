"""Odd but legal questions over all commands: none takes more time or memory than a question may, or ends in a fault.

    python -m tests.fuzz.odd_questions 1000 [--seed 7] [--from 0]

draws questions from a seed, and answers each in a process of its own whose processor time and memory are measured. What
exceeds the bounds, or ends with a traceback, is printed with its command; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
#: What a question may take: seconds of a processor, and bytes.
MAX_CORE_S, MAX_BYTES = 20.0, 1_000_000_000
#: Processor time after which a question is ended, and address space it may not exceed: far beyond the bounds, so that
#: it shows how far it is out.
_END_S, _END_BYTES = 60, 6 << 30

_DISKS = ("seagate-exos-x18", "generic-15k", "generic-7k2", "hgst-ultrastar-c15k600", "seagate-exos-2x18", "dec-rz26")
_FLASH = ("micron-7450-pro-1920", "samsung-pm893-960", "intel-x25-e-64", "kioxia-cm6-r-30720", "intel-dc-p4500-4tb")
_CLOUD = ("aws-gp3", "aws-io2")
_LEVELS = {
    "raid0": (1, 2, 8, 64),
    "raid1": (2, 3, 5),
    "raid10": (4, 8, 24, 100),
    "raid1e": (3, 7),
    "raid5": (3, 5, 8, 24),
    "raid6": (4, 12, 60),
    "raid50": (6, 12),
    "raid3": (3, 5),
    "jbod": (1, 6),
    "raidz1": (3, 5),
    "raidz2": (4, 8, 12),
    "mirror": (2, 3),
    "draid2": (11, 24),
}
_POOLS = ("raidz1", "raidz2", "mirror", "draid2")
_SIZES = ("512 B", "4 KiB", "8 KiB", "12 KiB", "64 KiB", "1 MiB", "7 MiB", "64 MiB", "1 GiB")
_SIZE_WEIGHTS = (2, 5, 5, 2, 4, 4, 2, 2, 2)
_RATES = (0.001, 0.1, 3, 50, 700, 9_000, 150_000, 5_000_000)
_RATE_WEIGHTS = (1, 2, 3, 4, 4, 4, 2, 1)


@dataclass(frozen=True)
class Question:
    """A command as a user gives it, and the files that it names.

    Attributes
    ----------
    words : tuple of str
        After `diskmodel`.
    files : dict of str to dict
        Contents of descriptions, by their names in the directory in which the command runs.
    """

    words: tuple[str, ...]
    files: dict[str, dict[str, Any]]

    def __str__(self) -> str:
        files = "".join(f"\n    {name} = {json.dumps(data)}" for name, data in self.files.items())
        return "diskmodel " + " ".join(f'"{word}"' if " " in word else word for word in self.words) + files


def drawn(number: int, seed: int) -> Question:
    """Return one question; the same number and seed draw the same one."""
    choose = Random(f"odd question {seed} {number}")
    kinds: dict[Callable[[Random], Question], int] = {
        _simulate: 4, _compare: 2, _capacity: 2, _plan: 4, _explain: 2, _replay: 1, _rule: 1
    }  # fmt: skip
    return choose.choices(list(kinds), list(kinds.values()))[0](choose)


def _some(choose: Random, *values: Any) -> Any:
    return choose.choice(values)


def _seldom(choose: Random, chance: float) -> bool:
    return choose.random() < chance


def _size(choose: Random) -> str:
    return choose.choices(_SIZES, _SIZE_WEIGHTS)[0]


def _rate(choose: Random) -> float:
    return choose.choices(_RATES, _RATE_WEIGHTS)[0] * choose.uniform(1, 5)


def _drive(choose: Random) -> str:
    return str(_some(choose, *_DISKS) if _seldom(choose, 0.55) else _some(choose, *_FLASH))


def _array(choose: Random) -> dict[str, Any]:
    """Return an array file: a level on any drive, with odd settings."""
    level = choose.choice(list(_LEVELS))
    layout: dict[str, Any] = {"level": level, "disks": choose.choice(_LEVELS[level])}
    array: dict[str, Any] = {"drive": _drive(choose), "layout": layout}
    is_pool = level in _POOLS
    if is_pool:
        if _seldom(choose, 0.4):
            layout["record"] = _some(choose, "4 KiB", "16 KiB", "128 KiB", "1 MiB", "16 MiB")
        if _seldom(choose, 0.3):
            layout["vdevs"] = _some(choose, 2, 5)
            layout["disks"] *= layout["vdevs"]
        if _seldom(choose, 0.2):
            layout["sync"] = _some(choose, "always", "disabled", "standard")
    elif _seldom(choose, 0.4):
        layout["strip"] = _some(choose, "4 KiB", "16 KiB", "512 KiB", "16 MiB") if level not in ("raid3",) else "512 B"
    is_redundant = level not in ("raid0", "jbod")
    if is_redundant and _seldom(choose, 0.3):
        layout["failed"] = [0]
        if _seldom(choose, 0.6):
            layout["spares"] = 1
            layout["rebuild"] = {}
            if _seldom(choose, 0.4):
                layout["rebuild"]["window"] = _some(choose, "4 KiB", "64 KiB", "4 MiB")
            if _seldom(choose, 0.3):
                layout["rebuild"]["rate_limit"] = _some(choose, "1 MB/s", "50 MB/s", "5 GB/s")
            if is_pool:
                layout["rebuild"]["used"] = _some(choose, "1%", "80%", "95%")
    if not is_pool and _seldom(choose, 0.3):
        array["controller"] = {"write_cache": {"size": _some(choose, "1 MiB", "512 MiB", "64 GiB")}}
    if not is_pool and _seldom(choose, 0.2):
        array.setdefault("controller", {})["read_cache"] = _some(
            choose, {"hit_ratio": 0.99}, {"size": "16 MiB"}, {"size": "256 GiB"}
        )
    if is_pool and _seldom(choose, 0.3):
        array["controller"] = {"read_cache": {"size": _some(choose, "64 MiB", "8 GiB", "512 GiB")}}
    if _seldom(choose, 0.2):
        array["queue"] = {"scheduler": _some(choose, "fcfs", "sptf", "mq-deadline", "look")}
    return array


def _workload(choose: Random, *, is_open: bool | None = None) -> dict[str, Any]:
    """Return a workload file of one to three streams."""
    return {"streams": [_stream(choose, at, is_open) for at in range(choose.choices((1, 2, 3), (6, 2, 1))[0])]}


def _stream(choose: Random, at: int, is_open: bool | None) -> dict[str, Any]:
    stream: dict[str, Any] = {
        "name": f"s{at}",
        "size": _size(choose),
        "read_ratio": _some(choose, 0.0, 0.5, 0.7, 0.999, 1.0),
    }
    if is_open or (is_open is None and _seldom(choose, 0.6)):
        stream["rate"] = f"{_rate(choose):.4g}/s"
    else:
        stream["clients"] = _some(choose, 1, 4, 32, 500, 20_000)
        if _seldom(choose, 0.3):
            stream["think"] = _some(choose, "1 us", "5 ms", "30 s", "1 h")
    if _seldom(choose, 0.4):
        stream["addresses"] = _some(
            choose,
            {"pattern": "sequential"},
            {"pattern": "zipf", "theta": 0.9},
            {"pattern": "hot_spot", "space_ratio": 0.01, "access_ratio": 0.9},
        )
    if stream["read_ratio"] < 1 and _seldom(choose, 0.25):
        stream["sync"] = _some(choose, "dsync", "fdatasync", "fsync")
    if _seldom(choose, 0.1):
        stream["span"] = _some(choose, "1%", "10 GB", "100%")
    return stream


def _simulate(choose: Random) -> Question:
    words = ["simulate", "a.toml", "--workload", "w.toml"]
    if _seldom(choose, 0.1):
        words += ["--precision", _some(choose, "0.001", "0.3")]
    if _seldom(choose, 0.1):
        words += ["--requests", _some(choose, "1", "50", "30000")]
    return Question(tuple(words), {"a.toml": _array(choose), "w.toml": _workload(choose)})


def _compare(choose: Random) -> Question:
    files = {"w.toml": _workload(choose), "a.toml": _array(choose)}
    words = ["compare", "a.toml", "--workload", "w.toml"]
    if _seldom(choose, 0.6):
        files["b.toml"] = _array(choose)
        words.insert(2, "b.toml")
    if _seldom(choose, 0.2):
        words += ["--growth", _some(choose, "1%", "300%")]
    if _seldom(choose, 0.3):
        words += ["--p99", _some(choose, "100us", "20ms", "10s")]
    return Question(tuple(words), files)


def _capacity(choose: Random) -> Question:
    words, files = ["capacity", "a.toml"], {"a.toml": _array(choose)}
    if _seldom(choose, 0.6):
        files["w.toml"] = _workload(choose, is_open=True)
        return Question((*words, "--workload", "w.toml"), files)
    words += ["--block", _size(choose).replace(" ", ""), "--reads", _some(choose, "0%", "70%", "100%")]
    if _seldom(choose, 0.3):
        words += ["--sequential"]
    return Question(tuple(words), files)


def _plan(choose: Random) -> Question:
    words = ["plan"]
    if _seldom(choose, 0.15):
        words += ["--throughput", _some(choose, "1MB/s", "800MB/s", "30GB/s")]
    elif _seldom(choose, 0.15):
        words += ["--commits", _some(choose, "1/s", "500/s", "50000/s")]
    else:
        words += ["--iops", f"{_rate(choose):.4g}"]
    if "--commits" not in words:
        words += ["--reads", _some(choose, "0%", "50%", "70%", "100%"), "--block", _size(choose).replace(" ", "")]
        if _seldom(choose, 0.2):
            words += ["--sequential"]
        if _seldom(choose, 0.15):
            words += ["--sync", _some(choose, "dsync", "fsync")]
    words += ["--capacity", _some(choose, "1GB", "1TB", "20TB", "900TB", "5PB")]
    for _ in range(choose.choices((0, 1, 2), (2, 4, 1))[0]):
        words += ["--drive", drive] if (drive := _drive(choose)) not in words else []
    for _ in range(choose.choices((0, 1, 2), (2, 4, 2))[0]):
        words += ["--level", level] if (level := choose.choice(list(_LEVELS))) not in words else []
    if _seldom(choose, 0.6):
        words += ["--p99", _some(choose, "100us", "5ms", "20ms", "2s")]
    if _seldom(choose, 0.2):
        words += ["--max-disks", _some(choose, "4", "200", "2000")]
    if _seldom(choose, 0.15):
        words += ["--rebuild-hours", _some(choose, "1", "48")]
    if _seldom(choose, 0.15):
        words += ["--write-cache", _some(choose, "1MiB", "2GiB")]
    return Question(tuple(words), {})


def _explain(choose: Random) -> Question:
    words = ["explain", "--array", "a.toml"]
    for _ in range(choose.choices((1, 2, 4), (5, 2, 1))[0]):
        iops = _rate(choose)
        latency = _some(choose, "await 90us", "await 5ms", "await 300ms", "p99 80ms", "mean 12ms")
        kind = _some(choose, "reads", "writes", "sync writes", "random reads")
        depth = _some(choose, "", ", 16 outstanding", ", 1 outstanding")
        words += ["--measured", f"{iops:.4g}/s, {_size(choose).replace(' ', '')} {kind}, {latency}{depth}"]
    return Question(tuple(words), {"a.toml": _array(choose)})


def _replay(choose: Random) -> Question:
    words = ["replay", "a.toml", "--trace", str(EXAMPLES / "trace.csv"), "--wrap"]
    if _seldom(choose, 0.5):
        words += ["--speed", _some(choose, "0.01", "100")]
    return Question(tuple(words), {"a.toml": _array(choose)})


def _rule(choose: Random) -> Question:
    level = choose.choice([name for name in _LEVELS if name not in _POOLS])
    words = ["rule", "--level", level, "--disks", str(choose.choice(_LEVELS[level])), "--iops", f"{_rate(choose):.4g}"]
    return Question((*words, "--read-fraction", _some(choose, "0", "0.5", "1")), {})


@dataclass(frozen=True)
class Answered:
    """How a question ended.

    Attributes
    ----------
    status : int
        Of the command; below 0 a signal.
    core_s : float
        Processor time of the command and its own processes, seconds.
    most_bytes : int
        Resident memory at most, of one process.
    said : str
        The end of standard error.
    """

    status: int
    core_s: float
    most_bytes: int
    said: str

    @property
    def fault(self) -> str:
        """What is wrong with it; "" where nothing is."""
        found = []
        if self.status not in (0, 2, 3):
            found.append(f"status {self.status}")
        if self.core_s > MAX_CORE_S:
            found.append(f"{self.core_s:.0f} s of a processor")
        if self.most_bytes > MAX_BYTES:
            found.append(f"{self.most_bytes / 1e9:.1f} GB")
        if "Traceback" in self.said:
            found.append("a traceback")
        return ", ".join(found)


def answered(question: Question) -> Answered:
    """Return how a question ends, asked in a process of its own that has loaded the program already."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in question.files.items():
            Path(folder, name).write_text(_toml(data), encoding="utf-8")
        out = Path(folder, "said")
        process = os.fork()
        if not process:
            _child(question, folder, out)
        _, status, used = os.wait4(process, 0)
        said = out.read_text(errors="replace")[-2000:] if out.exists() else ""
    return Answered(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said)


def _child(question: Question, folder: str, out: Path) -> None:
    code = 1
    try:
        os.chdir(folder)
        file = os.open(out, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_CPU, (_END_S, _END_S))
        resource.setrlimit(resource.RLIMIT_AS, (_END_BYTES, _END_BYTES))
        from diskmodel.cli import main

        sys.argv = ["diskmodel", *question.words, "--json"]
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _toml(data: dict[str, Any]) -> str:
    """Return plain data as TOML, in inline tables."""
    return "".join(f"{key} = {_inline(value)}\n" for key, value in data.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


def main() -> int:
    """Ask, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--from", dest="first", type=int, default=0)
    asked = parser.parse_args()
    import diskmodel.cli.app  # noqa: F401  # loaded once, for all

    print(f"seed {asked.seed}", flush=True)
    statuses: Counter[str] = Counter()
    n_faults, slowest, largest = 0, 0.0, 0
    for number in range(asked.first, asked.first + asked.n):
        question = drawn(number, asked.seed)
        found = answered(question)
        statuses[f"{question.words[0]} {found.status}"] += 1
        slowest, largest = max(slowest, found.core_s), max(largest, found.most_bytes)
        if found.fault:
            n_faults += 1
            print(f"{number}: {found.fault}\n  {question}\n  {found.said[-300:].strip()}", flush=True)
    print(f"{asked.n} questions, {n_faults} faults; at most {slowest:.1f} s and {largest / 1e9:.2f} GB")
    print("; ".join(f"{name}: {n}" for name, n in sorted(statuses.items())))
    return 1 if n_faults else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())

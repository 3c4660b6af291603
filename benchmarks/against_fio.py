"""Compares the micro-benchmark with fio: rate, mean latency and CPU time per request, on one file in one run.

Usage: python benchmarks/against_fio.py [DIRECTORY] [--seconds 3] [--rounds 5] [--json OUT]

Both programs do the same job (4 KiB, direct, io_uring, registered file and buffers) in turns, who goes first changing
from round to round. The ratio of each round is taken first and then the median over rounds, so that slow drift of the
disk does not count. Repeatability is the spread of fio against itself over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrate.measure import find_program

DEPTHS = (1, 4, 16, 64)
JOBS = (("random", "read"), ("random", "write"), ("sequential", "read"), ("sequential", "write"))
FIO_NAMES = {
    ("random", "read"): "randread",
    ("random", "write"): "randwrite",
    ("sequential", "read"): "read",
    ("sequential", "write"): "write",
}


@dataclass(frozen=True)
class Figures:
    """What one program reports of one run."""

    iops: float
    mean_ns: float
    cpu_ns_per_io: float


def with_fio(file: Path, job: tuple[str, str], depth: int, seconds: float) -> Figures:
    """One run of fio, CPU time as the operating system counts it for the whole job."""
    command = ["fio", "--name=job", f"--filename={file}", f"--rw={FIO_NAMES[job]}", "--bs=4k", f"--iodepth={depth}"]
    command += ["--ioengine=io_uring", "--direct=1", "--fixedbufs", "--registerfiles", "--norandommap", "--thread"]
    command += [f"--runtime={seconds}", "--time_based", "--output-format=json", "--invalidate=0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    part = report[job[1]]
    cpu_s = (report["usr_cpu"] + report["sys_cpu"]) / 100 * report["job_runtime"] / 1000
    return Figures(part["iops"], part["lat_ns"]["mean"], cpu_s * 1e9 / part["total_ios"])


def with_ours(file: Path, job: tuple[str, str], depth: int, seconds: float) -> Figures:
    """One run of the micro-benchmark; every latency is recorded, the columns are not written out."""
    command = [str(find_program()), "raw", str(file), "--out", "-", "--no-samples", "--progress", "none"]
    command += ["--pattern", job[0], "--depth", str(depth), "--seconds", str(seconds)]
    if job[1] == "write":
        command += ["--read-fraction", "0", "--write", "--allow-target", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)["experiments"][0]["summary"]
    cpu_ns = summary["cpu_user_ns_per_io"] + summary["cpu_system_ns_per_io"]
    return Figures(summary["iops"], summary["mean_ns"], cpu_ns)


def compare(file: Path, job: tuple[str, str], depth: int, seconds: float, rounds: int) -> dict[str, object]:
    """Median ratios ours / fio of one job, with the spread of each program against itself."""
    pairs: list[tuple[Figures, Figures]] = []
    for index in range(rounds):
        programs = [with_ours, with_fio] if index % 2 else [with_fio, with_ours]
        figures = {program: program(file, job, depth, seconds) for program in programs}
        pairs.append((figures[with_ours], figures[with_fio]))

    def ratio(name: str) -> float:
        return float(statistics.median(getattr(ours, name) / getattr(fio, name) for ours, fio in pairs))

    def spread(which: int) -> float:
        rates = [pair[which].iops for pair in pairs]
        return (max(rates) - min(rates)) / statistics.median(rates)

    return {
        "pattern": job[0],
        "op": job[1],
        "queue_depth": depth,
        "iops_ratio": ratio("iops"),
        "mean_latency_ratio": ratio("mean_ns"),
        "cpu_ratio": ratio("cpu_ns_per_io"),
        "fio_iops": statistics.median(fio.iops for _, fio in pairs),
        "fio_iops_spread_ratio": spread(1),
        "our_iops_spread_ratio": spread(0),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all jobs and prints a line for each; status 2 without fio."""
    parser = argparse.ArgumentParser(description="Compare the micro-benchmark with fio.")
    parser.add_argument("directory", nargs="?", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS))
    parser.add_argument("--size-mib", type=int, default=512)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if shutil.which("fio") is None:
        print("fio is needed for this comparison and was not found; install it (apt install fio)", file=sys.stderr)
        return 2
    # A termination unwinds like an error, so that the file is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = []
    with tempfile.NamedTemporaryFile(dir=options.directory, prefix="against-fio-") as file:
        generator = np.random.default_rng(1)
        for _ in range(options.size_mib):
            file.write(generator.bytes(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        print("job              depth   IOPS ratio  latency ratio  CPU ratio   fio IOPS   spread fio / ours")
        for job in JOBS:
            for depth in options.depths:
                found = compare(Path(file.name), job, depth, options.seconds, options.rounds)
                results.append(found)
                print(
                    f"{' '.join(job):16} {depth:5}   {found['iops_ratio']:10.3f}  {found['mean_latency_ratio']:13.3f}"
                    f"  {found['cpu_ratio']:9.3f}  {found['fio_iops']:9.0f}"
                    f"   {found['fio_iops_spread_ratio']:.0%} / {found['our_iops_spread_ratio']:.0%}",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

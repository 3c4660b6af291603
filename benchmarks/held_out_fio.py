"""Calibrates this machine's disk by the micro-benchmark and predicts ten jobs of fio that the fit has not seen.

Usage: python benchmarks/held_out_fio.py [DIRECTORY] [--rounds 4] [--seconds 2] [--size-gib 2] [--json OUT]

Each round measures the disk, writes included, and then runs every job once, so that slow drift of the machine spreads
over both. The calibration has the measurements of all rounds, the prediction is made by simulation. Beside the error of
each prediction stands how well fio's own repetitions agree: no prediction can be better than that.
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
from typing import Any

import numpy as np

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from calibrate.measure import measure
from calibrate.score.held_out import repeatability
from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

KIB = 1 << 10


@dataclass(frozen=True)
class Job:
    """What fio is asked for: pattern, bytes per request, requests outstanding, per cent of reads."""

    rw: str
    kib: int
    depth: int
    read_percent: int = 100

    def __str__(self) -> str:
        mix = f" {self.read_percent}/{100 - self.read_percent}" if 0 < self.read_percent < 100 else ""
        return f"{self.rw}{mix} {self.kib} KiB, depth {self.depth}"

    def arguments(self) -> list[str]:
        mix = [f"--rwmixread={self.read_percent}"] if 0 < self.read_percent < 100 else []
        return [f"--rw={self.rw}", f"--bs={self.kib}k", f"--iodepth={self.depth}", *mix]

    def workload(self, span_bytes: int) -> Workload:
        described: dict[str, Any] = {
            "size_bytes": self.kib * KIB,
            "read_ratio": self.read_percent / 100,
            "clients": self.depth,
            "span_bytes": span_bytes,
        }
        return Workload.parse(described | ({"addresses": {"pattern": "sequential"}} if self.rw == "read" else {}))


#: Sizes, depths and mixes that the micro-benchmark has not: it reads 4, 16, 64 and 256 KiB and 1 MiB at depths of 1, 2,
#: 4, 8, 16 and 32, mixes and writes 4 KiB at 1, 4 and 16, and writes 64 KiB at 32.
JOBS = (
    Job("randread", 8, 3),
    Job("randread", 32, 8),
    Job("randread", 128, 2),
    Job("randread", 512, 4),
    Job("randread", 4, 24),
    Job("read", 64, 6),
    Job("randrw", 8, 8, 70),
    Job("randrw", 16, 4, 50),
    Job("randwrite", 16, 8, 0),
    Job("randwrite", 4, 40, 0),
)


@dataclass(frozen=True)
class Ran:
    """One run of a job: requests per second, and their latency in ns, the mean and at the median."""

    iops: float
    mean_ns: float
    p50_ns: float


def run_fio(file: Path, job: Job, seconds: float, size_bytes: int) -> Ran:
    """One run of fio with its defaults, directly on the file."""
    command = ["fio", "--name=job", f"--filename={file}", f"--size={size_bytes}", "--direct=1", "--ioengine=io_uring"]
    command += ["--norandommap", "--randrepeat=0", "--time_based", f"--runtime={seconds}", "--output-format=json"]
    done = subprocess.run(command + job.arguments(), capture_output=True, text=True, check=True)
    report = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    parts = [report[op] for op in ("read", "write") if report[op]["total_ios"]]
    n = [part["total_ios"] for part in parts]
    return Ran(
        iops=sum(part["iops"] for part in parts),
        mean_ns=float(np.average([part["lat_ns"]["mean"] for part in parts], weights=n)),
        p50_ns=float(np.average([part["clat_ns"]["percentile"]["50.000000"] for part in parts], weights=n)),
    )


def row_of(job: Job, runs: Sequence[Ran], drive: Any, span_bytes: int, seed: int) -> dict[str, Any]:
    """Measured beside predicted."""
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    result = simulate(array, job.workload(span_bytes), seed=seed, n_requests=max(8_000, 200 * job.depth))
    rates = [run.iops for run in runs]
    measured = statistics.median(rates)
    row = {
        "job": str(job),
        "measured_iops": measured,
        "predicted_iops": result.iops.mean,
        "iops_error_ratio": result.iops.mean / measured - 1.0,
        "measured_mean_ms": statistics.median(run.mean_ns for run in runs) / 1e6,
        "predicted_mean_ms": result.latency.mean_ns / 1e6,
        "measured_p50_ms": statistics.median(run.p50_ns for run in runs) / 1e6,
        "predicted_p50_ms": result.latency.quantiles_ns["p50"] / 1e6,
        "repeatability_range_ratio": repeatability(rates),
        "repeatability_deviation_ratio": statistics.stdev(rates) / measured if len(rates) > 1 else None,
        "runs_iops": rates,
    }
    if result.prediction is not None:
        interval = result.prediction.intervals["iops"]
        row |= {"predicted_iops_low": interval.low, "predicted_iops_high": interval.high}
    return row


def report_of(rows: list[dict[str, Any]], found: Calibration, rounds: int) -> dict[str, Any]:
    """Medians over the jobs, with all that they rest on."""

    def median(name: str) -> float | None:
        values = [abs(row[name]) for row in rows if row[name] is not None]
        return statistics.median(values) if values else None

    return {
        "median_error_ratio": median("iops_error_ratio"),
        "largest_error_ratio": max(abs(row["iops_error_ratio"]) for row in rows),
        "median_repeatability_range_ratio": median("repeatability_range_ratio"),
        "median_repeatability_deviation_ratio": median("repeatability_deviation_ratio"),
        "rounds": rounds,
        "jobs": rows,
        "calibration": found.to_dict(),
    }


def print_report(report: dict[str, Any]) -> None:
    """A table for people."""
    print(f"{'job':32} {'measured':>10} {'predicted':>10} {'error':>7}   {'range':>6} {'s.d.':>6} of the repetitions")
    for row in report["jobs"]:
        spread = row["repeatability_range_ratio"] or 0.0, row["repeatability_deviation_ratio"] or 0.0
        print(
            f"{row['job']:32} {row['measured_iops']:10,.0f} {row['predicted_iops']:10,.0f}"
            f" {row['iops_error_ratio']:+7.1%}   {spread[0]:6.1%} {spread[1]:6.1%}"
        )
    print(
        f"median error {report['median_error_ratio']:.1%}, largest {report['largest_error_ratio']:.1%}; repetitions of "
        f"a job: range {report['median_repeatability_range_ratio'] or 0.0:.1%} of their median, standard deviation "
        f"{report['median_repeatability_deviation_ratio'] or 0.0:.1%} (medians over the jobs)"
    )
    if max(report["load_averages"]) > 0.5 * (report["n_cpus"] or 1):
        print(
            f"the machine was busy (load average up to {max(report['load_averages']):.1f} on {report['n_cpus']} "
            "processors): stalls of other programs are in these figures; repeat when it is quiet"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, calibrates, predicts; status 2 without fio."""
    parser = argparse.ArgumentParser(description="Predict ten held-out jobs of fio on this machine's disk.")
    parser.add_argument("directory", nargs="?", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--size-gib", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", type=Path, help="where the calibrated profile goes")
    parser.add_argument("--keep", type=Path, help="directory that keeps the measurements")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if shutil.which("fio") is None:
        print("fio is needed and was not found; install it (apt install fio)", file=sys.stderr)
        return 2
    # A termination unwinds like an error, so that the files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    size_bytes = int(options.size_gib * (1 << 30)) // (1 << 20) * (1 << 20)
    with tempfile.TemporaryDirectory(dir=options.directory, prefix="held-out-") as folder:
        file, documents = Path(folder) / "scratch", []
        generator = np.random.default_rng(options.seed)
        with file.open("wb") as stream:
            for _ in range(size_bytes >> 20):
                stream.write(generator.bytes(1 << 20))
        runs: dict[Job, list[Ran]] = {job: [] for job in JOBS}
        loads = []
        for index in range(options.rounds):
            loads.append(os.getloadavg()[0])
            documents.append((options.keep or Path(folder)) / f"m{index}.json")
            measure(file, documents[-1], mode="quick", write=True, allow_target=str(file), seed=index + 1)
            for job in generator.permutation(np.array(JOBS, dtype=object)):
                runs[job].append(run_fio(file, job, options.seconds, size_bytes))
            print(f"round {index + 1} of {options.rounds} done", file=sys.stderr, flush=True)
        found = calibrate(documents, out=options.profile, seed=options.seed)
        rows = [row_of(job, runs[job], found.drive, size_bytes, options.seed) for job in JOBS]
    report = report_of(rows, found, options.rounds) | {"load_averages": loads, "n_cpus": os.cpu_count()}
    print_report(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

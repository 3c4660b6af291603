"""What calibrating from a trace takes, and how well the drives then predict: `python benchmarks/bench_traces.py`.

Needs DISKMODEL_EVIDENCE, the folder that holds `traces/`. Each trace is calibrated whole, which is what is timed, and
by its first half, whose drive predicts the second. `--save FILE` keeps the figures and `--against FILE` prints those of
an earlier version beside them, with the largest difference of a parameter in its standard errors. Names of traces as
arguments choose some. Processor time is user and system time of one thread, the least of `--rounds`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy loads

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from calibrate.calibration import Calibration
from calibrate.evidence.requests import read_requests
from calibrate.trace.fit import calibrate_trace, validate_traces
from tests.calibrate.trace.real_drives import DRIVES, EVIDENCE, calibrated


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Return processor time, parameters and demerits of one drive."""
    trace = read_requests(Path(str(EVIDENCE)) / "traces" / f"{name}.trace")
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        fit = calibrate_trace(trace, sheet={"blocks": DRIVES[name].blocks}, name=name)
        seconds.append(time.process_time() - started)
    score = validate_traces(*calibrated(name))
    return {
        "seconds": min(seconds),
        "demerit_ratio": score["demerit_ratio"],
        "engine_demerit_ratio": score["engine"]["demerit_ratio"],
        "held_out_ratio": fit.held_out["demerit_ratio"],
        "parameters": _parameters(fit),
    }


def _parameters(fit: Calibration) -> dict[str, list[float | None]]:
    return {name: [row.value, row.stderr] for name, row in fit.parameters.items() if row.is_identified}


def _largest_difference(now: dict[str, Any], before: dict[str, Any]) -> tuple[float, str]:
    """Return the largest difference of a parameter known to both, in standard errors, and its name."""
    differences = [(0.0, "-")]
    for name, (value, stderr) in now["parameters"].items():
        was = before["parameters"].get(name)
        if was is not None and stderr:
            differences.append((abs(value - was[0]) / stderr, name))
    return max(differences)


def main() -> None:
    """Measure, print a table, and keep the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(DRIVES)}; all unless given")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    if EVIDENCE is None:
        sys.exit("DISKMODEL_EVIDENCE is not set: it names the folder that holds traces/")
    earlier = json.loads(options.against.read_text()) if options.against else {}
    found: dict[str, Any] = {}
    print("| trace | s | demerit, trace model | demerit, engines | parameter that differs most |")
    print("|---|--:|--:|--:|---|")
    for name in options.names or DRIVES:
        found[name] = now = measure(name, options.rounds)
        was = earlier.get(name, now)
        if options.save:
            options.save.write_text(json.dumps(earlier | found if options.against == options.save else found))
        difference, parameter = _largest_difference(now, was)
        cells = [
            f"{was['seconds']:.1f} → {now['seconds']:.1f}",
            f"{was['demerit_ratio']:.2%} → {now['demerit_ratio']:.2%}",
            f"{was['engine_demerit_ratio']:.2%} → {now['engine_demerit_ratio']:.2%}",
            f"{parameter}: {difference:.2f} standard errors",
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for key in ("demerit_ratio", "engine_demerit_ratio"):
        before, after = (float(np.median([(d.get(n) or found[n])[key] for n in found])) for d in (earlier, found))
        print(f"median {key}: {before:.2%} → {after:.2%}")


if __name__ == "__main__":
    main()

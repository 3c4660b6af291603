"""Waits of writes for room in a full write cache: two rules of firmware against measured percentiles.

Run as a script it prints the last section of docs/explanation/validation-firmware.md. A write that finds the cache full
takes the place of the oldest one that became free, so with n writes outstanding a wait is the time between one place
and the n-th after it. The model frees one place at the end of each destage. Two rules with one parameter are tried on
top:

- *groups*: after a destage the drive goes on with the next one with this probability, and frees their places together;
- *lost revolutions*: a destage takes a revolution more with this probability.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.validation.published import SINGLE

MEASURED = Path(__file__).parents[2] / "data" / "cached-writes.csv"
#: From here on the waiting writes are not taken in order of arrival.
REORDERED_DEPTH = 8
PROBABILITIES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
PERCENTS = (90, 95, 99)
RULES = ("groups", "lost revolutions")
N_DESTAGES = 50_000
NAMES = {
    "generic-7k2": "Samsung F1",
    "wd-raptor-wd740gd": "WD740GD",
    "hitachi-travelstar-7k500": "2.5-inch disk behind a P420i",
}

SECTION = """
## When a full write cache takes the next write

Rates and means of random writes through a drive's cache agree, but the slowest writes take longer than simulated. In
the model each destage makes room for one write at its end, and single writes wait for one destage each. In the WD740GD
half of the single writes did not wait at all (p50 0.33 ms), and 1 % waited six times the mean (26 ms). Two rules with
one parameter each were tried on the measured p90, p95 and p99 at up to four outstanding writes
(`python -m tests.validation.fits.cached_writes`):

- *groups*: after a destage the drive goes on with the next one with some probability, and makes room for all of them at
  the end;
- *lost revolutions*: a destage takes a revolution more with some probability.

Groups explain all three caches at up to four writes, p99 within 20 %: two drives, and a controller before a third. But
the probability differs between them, and from 8 or 16 writes on the measured spread is wider still: there the waiting
writes are no longer taken in order of arrival. The simulation has neither, so **p99 of cached random writes is too
short**, up to four times.

A third rule was tried in the simulation: room becomes free in order of arrival, as in a ring buffer, while destages are
chosen as before. It frees room for hundreds of writes at once, and makes single writes wait up to a second.

Destages are drawn from those of the simulation and scaled to the measured mean of each depth. Misfit is the root mean
square of the logarithms of predicted over measured p90, p95 and p99 at up to four writes.

"""


@cache
def measured(profile: str) -> dict[int, dict[str, float]]:
    """Return what was measured of a drive, in ms, by the number of outstanding writes."""
    with MEASURED.open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if row["profile"] == profile]
    return {int(row["depth"]): {key: float(row[key]) for key in row if key.endswith("_ms")} for row in rows}


@cache
def destages_ms(profile: str) -> NDArray[np.float64]:
    """Return times between places that become free in the model, shape (n,): single writes to a full cache."""
    array = Array.parse({"layout": SINGLE, "drive": profile})
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0, "clients": 1})
    done_ns = simulate(array, load, n_requests=8_000, profile_draws=0).run.completions.done_ns
    return np.diff(done_ns)[2_000:] / 1e6


@cache
def waits_ms(profile: str, depth: int, rule: str, probability: float) -> dict[int, float]:
    """Return percentiles of the waits with a rule; the destages are scaled to the measured mean of that depth."""
    rng = np.random.default_rng(1)
    times = rng.choice(destages_ms(profile), N_DESTAGES)
    is_chosen = rng.random(N_DESTAGES) < probability
    if rule == "lost revolutions":
        drive = Array.parse({"layout": SINGLE, "drive": profile}).drive
        assert isinstance(drive, Hdd)
        times = times + is_chosen * 60_000 / drive.rpm
    freed = np.cumsum(times * measured(profile)[depth]["mean_ms"] / depth / times.mean())
    if rule == "groups":
        is_chosen[-1] = False
        last = np.flatnonzero(~is_chosen)
        freed = freed[last[np.searchsorted(last, np.arange(N_DESTAGES))]]
    waits = freed[depth:] - freed[:-depth]
    return {percent: float(np.percentile(waits, percent)) for percent in PERCENTS}


def errors(profile: str, rule: str, probability: float) -> dict[int, float]:
    """Return predicted over measured p99, less 1, by depth."""
    return {
        depth: waits_ms(profile, depth, rule, probability)[99] / row["p99_ms"] - 1
        for depth, row in measured(profile).items()
    }


def misfit(profile: str, rule: str, probability: float) -> float:
    """Return the root mean square of the logarithms of predicted over measured p90, p95 and p99 below that depth."""
    logs = [
        np.log(waits_ms(profile, depth, rule, probability)[percent] / row[f"p{percent}_ms"])
        for depth, row in measured(profile).items()
        if depth < REORDERED_DEPTH
        for percent in PERCENTS
    ]
    return float(np.sqrt(np.mean(np.square(logs))))


def best(profile: str, rule: str) -> float:
    """Return the probability that fits a drive best."""
    return min(PROBABILITIES, key=lambda probability: misfit(profile, rule, probability))


def section() -> str:
    """Return the section of the page as Markdown."""
    return SECTION + _table() + "\n"


def _table() -> str:
    lines = ["| cache | rule | probability | misfit | depth: error of p99 |", "|---|---|--:|--:|---|"]
    for profile, name in NAMES.items():
        tried = [("one at a time", RULES[0], 0.0), *((rule, rule, best(profile, rule)) for rule in RULES)]
        for said, rule, probability in tried:
            found = " · ".join(f"{n}: {error:+.0%}" for n, error in errors(profile, rule, probability).items())
            said_probability = f"{probability:.2f}" if probability else ""
            lines.append(
                f"| {name} | {said} | {said_probability} | {misfit(profile, rule, probability):.2f} | {found} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(section())

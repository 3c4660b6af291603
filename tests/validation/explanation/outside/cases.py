"""Cases of faults, drawn: which array, which loads, how much is lost; and what fio measures of it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.validation.explanation.outside.faults import FAULTS
from tests.validation.explanation.outside.simulator import Box, Load, Times, times_of
from tests.validation.explanation.outside.subjects import SUBJECTS, Subject, loads_of, specimen

_KIB = 1 << 10
#: Requests of each job, and of the runs that look for a strength.
REQUESTS, _QUICK = 3_000, 900
#: What the load that suffers most loses, as factors: of each kind one case of twice and more, and of every second kind
#: one of 1.5 times.
_SMALL, _LARGE = 1.5, (2.0, 2.5, 3.0, 4.0, 6.0)
#: How near the strength comes to the factor that was drawn, and how often it is bisected.
_NEAR, _TIMES = 0.05, 12


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes
    ----------
    number : int
        Of the draw, from 1.
    fault, subject : str
        No fault: a sound array.
    asked : float
        Factor that was drawn.
    seed : int
        Of specimens and of runs.
    """

    number: int
    fault: str
    subject: str
    asked: float
    seed: int

    @property
    def own(self) -> Subject:
        """The sound array."""
        return subjects_of(self.number)[self.subject]

    @property
    def loads(self) -> tuple[Load, ...]:
        """What is asked of it: the same in all cases of a draw."""
        return loads_of(self.own, random.Random(f"loads {self.number} {self.subject}"))


def subjects_of(number: int) -> dict[str, Subject]:
    """Return the sound arrays of a draw: the first set of the first one, then the second."""
    return SUBJECTS[min(number, len(SUBJECTS)) - 1]


def faults(number: int) -> Iterator[Case]:
    """Yield the cases of faults of a draw."""
    draw = random.Random(f"faults {number}")
    for at, (kind, fault) in enumerate(FAULTS.items()):
        if number == 1 and fault.is_held_out:
            continue
        there = [name for name in fault.subjects if name in subjects_of(number)]
        factors = [draw.choice(_LARGE)]
        if fault.strengths is not None and (at + number) % 2:
            factors.append(_SMALL)
        for factor in factors:
            own = factor if fault.strengths is not None else 0.0
            yield Case(number, kind, draw.choice(there), own, draw.randrange(1_000, 9_000))


def sound(number: int, n: int) -> Iterator[Case]:
    """Yield cases of sound arrays of a draw, n of each."""
    for name in subjects_of(number):
        for seed in range(n):
            yield Case(number, "", name, 1.0, 10_000 + seed)


def with_strength(case: Case, strength: float) -> Box:
    """Return a specimen with the fault."""
    box = specimen(case.own, case.seed)
    if case.fault:
        FAULTS[case.fault].does(box, strength)
    return box


@cache
def strength_of(case: Case) -> tuple[float, float]:
    """Return the strength with which the load that suffers most loses the factor that was drawn, and what it loses."""
    ends = FAULTS[case.fault].strengths if case.fault else None
    if ends is None or ends[0] == ends[1]:
        strength = ends[0] if ends else 0.0
        return strength, loss_of(case, strength)
    low, high = (math.log(end) for end in ends)
    tried: list[tuple[float, float]] = []
    for _ in range(_TIMES):
        middle = math.exp((low + high) / 2)
        lost = loss_of(case, middle)
        tried.append((middle, lost))
        if abs(math.log(lost / case.asked)) < _NEAR:
            break
        if lost < case.asked:
            low = math.log(middle)
        else:
            high = math.log(middle)
    else:
        # the strongest of all takes longest to run, and is hardly ever the one
        tried.append((ends[1], loss_of(case, ends[1])))
    return min(tried, key=lambda one: abs(math.log(one[1] / case.asked)))


def loss_of(case: Case, strength: float) -> float:
    """Return the factor that the load that suffers most loses of its rate; of caches, that one gains."""
    ratios = [sound / now for sound, now in zip(_rates(case, None), _rates(case, strength), strict=True)]
    return max(1 / min(ratios), max(ratios)) if case.fault == "hits of a cache" else max(ratios)


@cache
def _rates(case: Case, strength: float | None) -> list[float]:
    """Return the rates of all loads in a short run; without a strength those of the sound array."""
    rates = []
    for at, load in enumerate(case.loads):
        box = specimen(case.own, case.seed) if strength is None else with_strength(case, strength)
        rates.append(times_of(box, load, _long_enough(_QUICK, box), case.seed + at).rate)
    return rates


def _long_enough(n: int, box: Box) -> int:
    """Return requests of a run that has some slices of a bucket."""
    return max(n, round(6 * box.tokens_per_s * box.slice))


def measure(path: Path, case: Case, strength: float) -> Path:
    """Write what fio measures of a case."""
    boxes = [with_strength(case, strength) for _ in case.loads]
    found = [
        times_of(box, load, _long_enough(REQUESTS, box), case.seed + at)
        for at, (box, load) in enumerate(zip(boxes, case.loads, strict=True))
    ]
    jobs = [_job(load, own, at) for at, (load, own) in enumerate(zip(case.loads, found, strict=True))]
    path.write_text(json.dumps({"fio version": "fio-3.33", "jobs": jobs}), encoding="utf-8")
    return path


def measure_before(path: Path, case: Case) -> Path:
    """Write what fio measured before: of another specimen without a fault, on another day."""
    other = Case(case.number, "", case.subject, 1.0, case.seed + 50_000)
    return measure(path, other, 0.0)


def _job(load: Load, found: Times, group: int) -> dict[str, object]:
    pattern = ("" if load.is_sequential else "rand") + (
        "write" if load.reads == 0 else "read" if load.reads == 1 else "rw"
    )
    options = {
        "rw": pattern,
        "bs": f"{load.size / _KIB:.0f}k",
        "iodepth": str(load.depth),
        "ioengine": "libaio",
        "direct": "1",
        "filename": "/dev/md0",
        "stonewall": "1",
    }
    if 0 < load.reads < 1:
        options["rwmixread"] = f"{100 * load.reads:.0f}"
    job: dict[str, object] = {
        "jobname": f"{pattern}-{load.size / _KIB:.0f}k-{load.depth}",
        "groupid": group,
        "error": 0,
        "job options": options,
    }
    n = len(found.reads) + len(found.writes)
    for name, times in (("read", found.reads), ("write", found.writes)):
        if times:
            job[name] = _figures(load, found.rate * len(times) / n, times)
    return job


def _figures(load: Load, rate: float, times: Sequence[float]) -> dict[str, object]:
    marks = {f"{100 * level:.6f}": round(times[int(level * len(times))] * 1e9) for level in (0.5, 0.95, 0.99)}
    ends = {"min": times[0] * 1e9, "max": times[-1] * 1e9, "mean": sum(times) / len(times) * 1e9, "stddev": 0.0}
    return {
        "total_ios": len(times),
        "io_bytes": round(len(times) * load.size),
        "runtime": round(len(times) / rate * 1e3),
        "iops": rate,
        "bw_bytes": rate * load.size,
        "lat_ns": ends | {"N": len(times)},
        "clat_ns": ends | {"N": len(times), "percentile": marks},
    }

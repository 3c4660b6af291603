"""Laws of pools over many drawn ones: how many break one, and which.

    python -m tests.property.pool_laws 300 [--seed 7] [--from 0] [--only LAW]

draws pools and loads from a seed. Where a law seems broken in a short run, it is asked again with six other seeds, in
runs of three groups of a pool's writing: a part of one is of any speed. What is then beyond the slack by more than
three standard errors is printed, and the exit status is then 1.

- order: the order of two streams in a file changes the mean of neither.
- special: a special vdev, of flash of the pool's own kind or faster, makes neither reads nor writes slower.
- arc: an ARC of 64 MiB makes neither reads nor writes slower.
- degraded: a vdev of RAID-Z or a mirror with a failed disk serves many readers no faster.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import fmean, stdev
from typing import Any

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import InputError
from diskmodel.result import Result
from diskmodel.workload import Workload

_LEVELS = {"mirror": (2, 3), "raidz1": (3, 5), "raidz2": (4, 6, 8), "raidz3": (5, 8), "draid1": (7, 11)}
#: Drives, and the requests a second that each takes with ease.
_DRIVES = {
    "generic-7k2": 12.0, "seagate-exos-x18": 15.0, "generic-15k": 25.0,
    "micron-7450-pro-1920": 1_500.0, "samsung-pm893-960": 500.0,
}  # fmt: skip
#: Requests of a short run, and of a long one at most; seconds that a long one lasts otherwise; and its seeds.
SHORT, LONG, LONG_S, N_SEEDS = 4_000, 250_000, 16.0, 6
#: How much a mean may be off, as a share: another order draws other requests, and a special vdev another group.
SLACK = {"order": 0.07, "special": 0.05, "arc": 0.05, "degraded": 0.04}
#: Standard errors of the mean of the seeds' ratios by which it has to be beyond the slack.
_ERRORS = 3.0


@dataclass(frozen=True)
class Drawn:
    """A pool, two streams with their rate together, and how many readers ask a degraded one."""

    drive: str
    layout: dict[str, Any]
    streams: tuple[dict[str, Any], ...]
    clients: int
    rate: float

    def array(self, **more: Any) -> Array:
        """Return the pool, with other fields of its layout or of its controller."""
        layout = {**self.layout, **more.pop("layout", {})}
        return Array.parse({"drive": self.drive, "layout": layout, **more})


def drawn(number: int, seed: int) -> Drawn:
    """Return one pool with its load; the same number and seed draw the same one."""
    choose = Random(f"law {seed} {number}")
    level, drive = choose.choice(list(_LEVELS)), choose.choice(list(_DRIVES))
    vdevs = choose.choice((1, 1, 2))
    layout: dict[str, Any] = {"level": level, "disks": choose.choice(_LEVELS[level]) * vdevs}
    if vdevs > 1:
        layout["vdevs"] = vdevs
    if choose.random() < 0.4:
        layout["record"] = choose.choice(("8 KiB", "16 KiB", "64 KiB", "128 KiB", "1 MiB"))
    rate = _DRIVES[drive] * layout["disks"] * choose.uniform(0.2, 1.0)
    share = choose.uniform(0.2, 0.8)
    sizes = ("4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB")
    one = {"name": "a", "size": choose.choice(sizes), "rate": f"{rate * share:.4g}/s"}
    other = {"name": "b", "size": choose.choice(sizes), "rate": f"{rate * (1 - share):.4g}/s"}
    one["read_ratio"], other["read_ratio"] = choose.choice((0.3, 0.5, 0.7, 1.0)), choose.choice((0.0, 0.0, 0.5))
    other["sync"] = choose.choice(("none", "dsync", "dsync", "fdatasync"))
    return Drawn(drive, layout, (one, other), choose.choice((4, 8, 16, 32)), rate)


def _run(array: Array, load: dict[str, Any], n: int, seed: int) -> Result:
    return simulate(array, Workload.parse(load), n_requests=n, seed=seed, profile_draws=0, with_angles=False)


#: By name of a mean: the first and the second of a pair.
_Pairs = dict[str, tuple[float, float]]


def _order(one: Drawn, n: int, seed: int) -> _Pairs:
    array = one.array()
    first = _run(array, {"streams": list(one.streams)}, n, seed).per_stream
    second = _run(array, {"streams": list(one.streams[::-1])}, n, seed).per_stream
    return {name: (second[name].mean_ns, first[name].mean_ns) for name in ("a", "b")}


def _beside_plain(one: Drawn, other: Array, n: int, seed: int) -> _Pairs:
    load = {"streams": list(one.streams)}
    plain, changed = _run(one.array(), load, n, seed), _run(other, load, n, seed)
    return {
        "reads": (changed.reads.mean_ns, plain.reads.mean_ns),
        "writes": (changed.writes.mean_ns, plain.writes.mean_ns),
    }


def _special(one: Drawn, n: int, seed: int) -> _Pairs:
    drive = one.drive if _DRIVES[one.drive] > 100 else "samsung-pm893-960"
    return _beside_plain(one, one.array(layout={"special": f"2x {drive}"}), n, seed)


def _arc(one: Drawn, n: int, seed: int) -> _Pairs:
    return _beside_plain(one, one.array(controller={"read_cache": {"size": "64 MiB"}}), n, seed)


def _degraded(one: Drawn, n: int, seed: int) -> _Pairs:
    load = {"size": one.streams[0]["size"], "clients": one.clients, "read_ratio": 1.0}
    healthy, degraded = (_run(one.array(layout={"failed": failed}), load, n, seed) for failed in ([], [0]))
    return {"reads": (healthy.reads.mean_ns, degraded.reads.mean_ns)}


LAWS: dict[str, Callable[[Drawn, int, int], _Pairs]] = {
    "order": _order, "special": _special, "arc": _arc, "degraded": _degraded,
}  # fmt: skip


def broken(law: str, one: Drawn, n: int, seeds: range) -> dict[str, float]:
    """Return the means that break a law, each by the first of its pair over the second: the geometric mean of seeds."""
    found: dict[str, list[float]] = {}
    for seed in seeds:
        for name, (first, second) in LAWS[law](one, n, seed).items():
            if first > 0 and second > 0:  # nan where there are no such requests
                found.setdefault(name, []).append(math.log(first / second))
    most = math.log(1 + SLACK[law])
    worst = {}
    for name, ratios in found.items():
        mean = fmean(ratios)
        error = stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0.0
        if (abs(mean) if law == "order" else mean) > most + _ERRORS * error:
            worst[name] = math.exp(mean)
    return worst


def main() -> int:
    """Draw, count, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(LAWS))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    counts = {law: [0, 0, 0, 0] for law in asked.only or LAWS}
    for number in range(asked.first, asked.first + asked.n):
        one = drawn(number, asked.seed)
        for law, count in counts.items():
            try:
                seems = broken(law, one, SHORT, range(number, number + 1))
            except InputError:
                count[1] += 1
                continue
            count[0] += 1
            if not seems:
                continue
            count[2] += 1
            length = min(max(round(LONG_S * one.rate), 4 * SHORT), LONG)
            again = broken(law, one, length, range(number + 1000, number + 1000 + N_SEEDS))
            if again:
                count[3] += 1
                print(f"{number} {law}: {seems} in a short run, {again} in long ones\n  {one}", flush=True)
    for law, (n, refused, short, long) in counts.items():
        print(f"{law}: {n} pools ({refused} refused), {short} beyond the slack in a short run, {long} in long ones")
    return int(any(count[3] for count in counts.values()))


if __name__ == "__main__":
    raise SystemExit(main())

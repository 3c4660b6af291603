"""Replays of each trace against the workload fitted to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diskmodel.records import Requests
from diskmodel.synthesis import Family, Figures, Setting, replayed, settings, simulated, synthesize
from diskmodel.workload import Workload, fit_workload
from tests.validation.synthesis.ablation import ABLATIONS
from tests.validation.synthesis.later import Later, later_of
from tests.validation.synthesis.traces import paths, pieces, read, title

#: First seed of the workloads' runs. The fit chose by runs of seeds from 0 on, and the traces are replayed with those.
FIRST_SEED = 1000
#: The method that is compared with the others.
FIT = "excerpts (`diskmodel workload --fit`)"
LAWS = "independent laws (`fit_workload`): mix, sizes, on-off bursts, Zipf or runs"

_DISKS = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
#: Arrays that the fit does not replay on.
OTHERS = (
    Family("raid10", "generic-15k", _DISKS),
    Family("raid6", "generic-7k2", _DISKS),
    Family("raid5", "samsung-pm9a3-7680", (4,)),
    Family("raid10", "generic-10k", (8,), "512 MiB"),
    Family("raid10", "generic-10k", (8,), "4 GiB"),
)


@dataclass(frozen=True)
class Compared:
    """One trace on one array, against something that stands for it.

    Attributes
    ----------
    method : str
    trace : str
    setting : Setting
    found : Figures
    """

    method: str
    trace: str
    setting: Setting
    found: Figures

    def error(self, name: str) -> float:
        """Return the relative error of "mean" or "p99", both averaged over their runs."""
        return float(getattr(self.found, f"{name}_ns") / getattr(self.setting.trace, f"{name}_ns")) - 1

    def farthest(self, name: str, *, itself: bool = False) -> float:
        """Return the relative error of the run that is farthest from the average replay, or of the replay that is."""
        average = getattr(self.setting.trace, f"{name}_ns")
        runs = (self.setting.trace if itself else self.found).runs
        return float(max((getattr(run, f"{name}_ns") / average - 1 for run in runs), key=abs))


@dataclass(frozen=True)
class Size:
    """How much of a trace its workload keeps."""

    trace: str
    n_requests: int
    n_phases: int
    n_excerpts: int
    n_kept: int
    file_bytes: int


@dataclass(frozen=True)
class Measured:
    """Everything that the page shows."""

    fitted: list[Compared]
    others: list[Compared]
    second_half: list[Compared]
    first_half_itself: list[Compared]
    later: list[Later]
    ablated: list[Compared]
    sizes: list[Size]


def measure() -> Measured:
    """Fit and replay every trace; some minutes."""
    found = Measured([], [], [], [], [], [], [])
    for path in paths():
        print(title(path), file=sys.stderr)
        _measure(path, found)
    return found


def _measure(path: Path, found: Measured) -> None:
    trace, name = read(path), title(path)
    references = settings(trace)
    workload = synthesize(trace, name=path.name).workload
    found.fitted.extend(_drawn(FIT, name, workload, references, len(trace)))
    found.others.extend(_drawn(FIT, name, workload, settings(trace, OTHERS), len(trace)))
    found.sizes.append(_size(name, workload, len(trace)))
    found.ablated.extend(_drawn(LAWS, name, fit_workload(trace).workload, references, len(trace)))
    for method, change in ABLATIONS.items():
        found.ablated.extend(_replayed(method, name, change(trace), references))
    first, second = pieces(trace, 2)
    later = settings(second)
    found.second_half.extend(_drawn(FIT, name, synthesize(first).workload, later, len(second)))
    found.first_half_itself.extend(_replayed("replay of the first half", name, first, later))
    found.later.extend(later_of(trace, name))


def _drawn(method: str, name: str, workload: Workload, on: list[Setting], n: int) -> list[Compared]:
    return [Compared(method, name, s, simulated(workload, s.array, s.speed_up, n, FIRST_SEED)) for s in on]


def _replayed(method: str, name: str, requests: Requests, on: list[Setting]) -> list[Compared]:
    return [Compared(method, name, s, replayed(requests, s.array, s.speed_up)) for s in on]


def _size(name: str, workload: Workload, n: int) -> Size:
    excerpts = workload.streams[0].excerpts
    assert excerpts is not None
    n_bytes = len(workload.to_toml().encode())
    return Size(name, n, excerpts.n_phases, excerpts.n_excerpts, excerpts.n_requests, n_bytes)


def summary(compared: list[Compared]) -> dict[str, tuple[float, float]]:
    """Return median and largest absolute error of mean and p99."""
    errors = {name: np.abs([one.error(name) for one in compared]) for name in ("mean", "p99")}
    return {name: (float(np.median(values)), float(values.max())) for name, values in errors.items()}

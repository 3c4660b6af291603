"""A workload from the jobs of fio, or of another benchmark in its terms."""

from __future__ import annotations

import numpy as np

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.workload import fio_workload
from diskmodel.formats.workloads.found import FoundWorkload


def from_jobs(jobs: list[FioJob], kind: str, source: str, name: str | None) -> FoundWorkload:
    """The jobs of one group: the first, or the one with a job of that name."""
    notes: list[str] = []
    groups = _groups_by_name(jobs)
    if name is not None and name not in groups:
        raise FormatError(
            Fault("device", name, f"is no job of this {kind} file", f"it has {_some(list(groups))}"), source
        )
    group = jobs[0].group if name is None else groups[name]
    taken = [job for job in jobs if job.group == group]
    if len(taken) < len(jobs) and name is None:
        n_groups = len({job.group for job in jobs})
        later = "1 later group was" if n_groups == 2 else f"{n_groups - 1} later groups were"
        others = [name for name, place in groups.items() if place != group]
        notes.append(
            f"only the first group of jobs was taken ({_some(_names(taken))}); {later} left out, because fio runs "
            f"groups one after another: --device takes a job by its name ({_some(others)})"
        )
    workload = fio_workload(taken, source, notes)
    dropped = "; ".join(dict.fromkeys(job.dropped_flushes for job in taken if job.dropped_flushes))
    return FoundWorkload(workload, kind, {}, None, np.zeros(0), tuple(notes), dropped)


def _groups_by_name(jobs: list[FioJob]) -> dict[str, int]:
    """Return the names that choose a group of jobs; a name that later groups repeat is followed by its number there.

    The second group with a job "t" is "t#2".
    """
    places: dict[str, list[int]] = {}
    for job in jobs:
        groups = places.setdefault(job.name, [])
        groups += [job.group] if job.group not in groups else []
    found = {name: groups[0] for name, groups in places.items()}
    for name, groups in places.items():
        for number, group in enumerate(groups[1:], start=2):
            found.setdefault(f"{name}#{number}", group)
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


def _names(jobs: list[FioJob]) -> list[str]:
    return list(dict.fromkeys(job.name for job in jobs))

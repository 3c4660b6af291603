"""Requests beside a rebuild, which goes on between them: hours of it, where they are rare."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from diskmodel.array import Array
from diskmodel.engine.effort.limits import LEAST, RUN_BYTES, RUNS_S
from diskmodel.engine.effort.prices import COMMAND_S, KEPT_BYTES, PAGE_BYTES, PAGE_S
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import STEP_BYTES
from diskmodel.workload import Closed, Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: How fast a client gets an answer at most, seconds: from a disk, and from flash.
_ANSWER_S = (2e-3, 50e-6)
#: Part of a question's time that each run beside a rebuild takes, of those of a question that makes several.
_OFTEN = 16
#: What a rebuild goes through in a second at most where nothing limits it: of a hard disk, and of others, bytes.
_FASTEST_BYTES_PER_S = (300e6, 1e9)


class Beside(NamedTuple):
    """What goes on beside the requests of an array while it is rebuilt.

    Attributes
    ----------
    steps_per_s : float
        Of the rebuild, in a simulated second.
    work_s, kept_bytes : float
        Computing time and memory of a simulated second.
    """

    steps_per_s: float
    work_s: float
    kept_bytes: float

    @classmethod
    def of(cls, array: Array) -> Self | None:
        """Return what goes on; None without a rebuild."""
        rebuild = array.layout.rebuild
        if rebuild is None:
            return None
        window_bytes = max(rebuild.window_bytes or STEP_BYTES, PAGE_BYTES)
        is_flash = not array.drive.has_arms
        fastest = _FASTEST_BYTES_PER_S[is_flash] * array.layout.rebuilds_at_once
        steps_per_s = min(array.layout.fastest_rebuild(rebuild), fastest) / window_bytes
        n_pages = window_bytes / PAGE_BYTES
        has_pages = is_flash or array.layout.steps_have_pages
        step_s = 2 * (COMMAND_S["native"] + PAGE_S["native"] * has_pages * n_pages)
        return cls(steps_per_s, steps_per_s * step_s, steps_per_s * n_pages * KEPT_BYTES * is_flash)

    @property
    def longest_s(self) -> float:
        """Simulated seconds that fit into a question."""
        return min(RUNS_S / self.work_s, RUN_BYTES / max(self.kept_bytes, 1e-9))


def often_enough(array: Array, workload: Workload) -> Workload:
    """Return a workload beside a rebuild at the least rate at which it can be simulated, where its own is lower.

    Hours would be simulated between two requests. More of them do not make the rebuild faster, nor are they faster.
    """
    beside = Beside.of(array)
    if beside is None:
        return workload
    longest_s = beside.longest_s / _OFTEN
    rate = workload.offered_rate_per_s
    if workload.is_open and rate * longest_s < LEAST:
        workload = workload.scaled(LEAST / longest_s / rate)
    streams = tuple(
        stream.model_copy(update={"arrival": stream.arrival.model_copy(update={"think_ns": int(longest_s * 1e9)})})
        if isinstance(stream.arrival, Closed) and stream.arrival.think_ns > longest_s * 1e9
        else stream
        for stream in workload.streams
    )
    return workload.model_copy(update={"streams": streams})


def check_rare(array: Array, workload: Workload) -> None:
    """Refuse requests so rare that hours would be simulated between two of them, while a rebuild goes on.

    Raises
    ------
    DescriptionError
        With the smallest rate that can be simulated.
    """
    beside = Beside.of(array)
    if beside is None:
        return
    steps_per_s, longest_s = beside.steps_per_s, beside.longest_s
    least = 2 * LEAST / longest_s
    rate = sum(stream.expected_rate_per_s for stream in workload.streams)
    if rate < least:
        rule = f"beside a rebuild, some {steps_per_s / rate:,.0f} of its steps would be simulated for each request"
        clients = sum(stream.arrival.clients for stream in workload.streams if isinstance(stream.arrival, Closed))
        enough = (
            f"let clients think for at most {0.9 * clients / least:.2g} s"  # less, as it is rounded
            if clients
            else f"give at least {least:.2g} requests a second (--rate)"
        )
        fix = f"{enough}: so rare ones do not slow the rebuild"
        raise DescriptionError(Fault("workload.streams.0.rate", f"{rate:.3g}/s", rule, fix))
    for number, stream in enumerate(workload.streams):
        think_s = stream.arrival.think_ns / 1e9 if isinstance(stream.arrival, Closed) else 0.0
        if think_s > longest_s:
            rule = f"beside a rebuild, some {steps_per_s * think_s:,.0f} of its steps would be simulated in each pause"
            fix = f"let clients think for at most {longest_s:.2g} s"
            raise DescriptionError(Fault(f"workload.streams.{number}.think", f"{think_s:g} s", rule, fix))


def most_per_s(workload: Workload, *, is_flash: bool) -> float:
    """Return the rate of a workload, at most: clients do not get answers faster than a drive gives them."""
    rate = workload.offered_rate_per_s
    for stream in workload.streams:
        if isinstance(stream.arrival, Closed):
            rate += stream.arrival.clients / (stream.arrival.think_ns / 1e9 + _ANSWER_S[is_flash])
    return rate


def beside_trial_s(scenario: Scenario) -> float:
    """Return the computing time of a simulated second of a rebuild of Linux md at its highest speed; 0 without one."""
    gap_ns, window = (getattr(scenario.layout, name, 0) for name in ("rebuild_gap_ns", "rebuild_window"))
    if not gap_ns:
        return 0.0
    pages = window * scenario.drive.sector_bytes / PAGE_BYTES * scenario.drive.has_pages
    return 2 * (COMMAND_S["native"] + PAGE_S["native"] * pages) / gap_ns * 1e9

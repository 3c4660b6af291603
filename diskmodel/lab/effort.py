"""Time and memory that an answer of the lab would take, estimated before anything is simulated."""

from __future__ import annotations

from diskmodel.analytic import write_penalty
from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.settings import Settings
from diskmodel.layout import LEVELS

#: Longest estimated time of an animation, and longest real time, seconds. Five times the longest useful one (2,000
#: requests on eight disks). At half, slow machines refuse those; at double, one request keeps a thread for a minute.
MAX_ANIMATION_S = 20.0
#: Seconds that the SimPy engine takes on one core at 2 GHz: for a disk command, for each other command that a scheduler
#: compares it with, and for each strip that is mapped. Fitted to runs of 20 to 1,000 requests on 3 to 64 disks.
_COMMAND_S, _COMPARISON_S, _STRIP_S = 150e-6, 1.2e-6, 10e-6
#: Disk commands that may be outstanding at once in a curve: some 300 MB in the kernel, for each of two threads.
MAX_OUTSTANDING_COMMANDS = 2_000_000


def strips_per_request(settings: Settings) -> float:
    """Return the strips that the longest kind of request touches, its parity and copies included."""
    level = LEVELS[settings.level]
    if not level.is_striped:
        return 1.0
    if settings.level == "raid1":
        return float(settings.disks)
    return (settings.size_bytes // settings.strip_bytes + 1) * float(write_penalty(settings.level))


def check_animation(settings: Settings, n_requests: int, n_schedulers: int) -> None:
    """Refuse an animation that would take longer than `MAX_ANIMATION_S`.

    Raises
    ------
    DescriptionError
        With the number of requests that is possible.
    """
    strips = strips_per_request(settings)
    commands = min(strips, 2.0 * settings.disks)
    outstanding = min(settings.outstanding if settings.arrivals == "outstanding" else n_requests, n_requests)
    waiting = outstanding * commands / settings.disks
    request_s = commands * (_COMMAND_S + _COMPARISON_S * waiting) + strips * _STRIP_S
    whole_s = request_s * n_requests * n_schedulers
    if whole_s > MAX_ANIMATION_S:
        most = max(int(MAX_ANIMATION_S / (request_s * n_schedulers)), 1)
        rule = f"would take about {whole_s:,.0f} s to simulate: a request touches {strips:,.0f} strips of the disks"
        raise DescriptionError(Fault("requests", n_requests, rule, f"use {most} or fewer, or smaller requests"))


def check_curve(settings: Settings, n_requests: int) -> None:
    """Refuse a curve whose requests in progress would take too much memory.

    Raises
    ------
    DescriptionError
        With the number of outstanding requests that is possible.
    """
    strips = strips_per_request(settings)
    # requests that are late pile up, at most all of a run
    outstanding = min(settings.outstanding, n_requests) if settings.arrivals == "outstanding" else n_requests
    if outstanding * strips > MAX_OUTSTANDING_COMMANDS:
        rule = f"a request of this size touches {strips:,.0f} strips, too many for {outstanding:,} requests at a time"
        raise DescriptionError(
            Fault("size_bytes", settings.size_bytes, rule, "use larger strips, smaller requests or fewer outstanding")
        )

"""Drawn exercises of the lessons on single drives: random I/O, zones, schedulers, queues, read-ahead, flash."""

from __future__ import annotations

from typing import Any

from diskmodel.analytic import mg1
from diskmodel.lab.drives import drive_of
from diskmodel.lab.exercises.draw import Task, digits, link_to, parts_ms, rounded, run
from diskmodel.lab.quiz_questions import Draws
from diskmodel.lab.settings import Settings
from diskmodel.units import pretty_bytes

_DISKS = ("generic-5k4", "generic-7k2", "generic-10k", "generic-15k")
#: Parts of a disk that are used: they change its seeks.
_PARTS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_FLASH = ("generic-sas-ssd", "intel-d3-s4510-960", "samsung-pm9a3-7680")


def _disk(drive: str, **more: Any) -> Settings:
    base = {"drive": drive, "level": "jbod", "disks": 1, "read_ratio": 1.0, "size_bytes": 4096, "outstanding": 1}
    return Settings.parse({**base, **more})


def _rpm(drive: str) -> float:
    return drive_of(drive).spindle_rpm


def random_reads(draw: Draws) -> Task:
    """Ask for the rate of random reads from seek, rotation and transfer."""
    drive, size = draw.choice(_DISKS), draw.choice([4096 << power for power in range(7)])
    part = draw.choice(_PARTS)
    settings = _disk(drive, size_bytes=size, span_ratio=part)
    result, rpm = run(settings), _rpm(drive)
    parts = parts_ms(result)
    seek, overhead, rate = rounded(parts["seek"]), rounded(parts["overhead"]), rounded(size / parts["transfer"] / 1e3)
    half, transfer = 30_000 / rpm, size / rate / 1e3
    total = seek + half + transfer + overhead
    return Task(
        f"A disk of {rpm:,.0f} rpm is used by {part:.0%}. There a seek takes {digits(seek)} ms on average. It "
        f"transfers {digits(rate)} MB/s and needs "
        f"{digits(overhead)} ms for a command. How many random reads of {pretty_bytes(size)} does it do in a second, "
        "one "
        "at a time?",
        "reads a second",
        result.iops.mean,
        1e3 / total,
        0.05,
        (
            f"Half a revolution: 60,000 ms / {rpm:,.0f} / 2 = {digits(half)} ms.",
            f"Transfer: {pretty_bytes(size)} at {digits(rate)} MB/s = {digits(transfer)} ms.",
            f"Together with seek and command: {digits(total)} ms, which is {digits(1e3 / total)} reads a second.",
            f"The model: {digits(result.iops.mean)}.",
        ),
        link_to(settings),
    )


def outer_part(draw: Draws) -> Task:
    """Ask what a short stroke gains."""
    drive = draw.choice(_DISKS)
    share = draw.choice((0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5))
    size = draw.choice((4096, 8192, 16384, 32768))
    whole, part = _disk(drive, size_bytes=size), _disk(drive, size_bytes=size, span_ratio=share)
    before, after = run(whole), run(part)
    seek, short = rounded(parts_ms(before)["seek"]), rounded(parts_ms(after)["seek"])
    rate = rounded(before.iops.mean)
    total = 1e3 / rate
    return Task(
        f"A disk of {_rpm(drive):,.0f} rpm does {digits(rate)} random reads of {pretty_bytes(size)} in a second, one "
        "at a time; a seek "
        f"takes {digits(seek)} ms on average. Only its outer {share:.0%} is used, where a seek takes {digits(short)} "
        "ms. "
        "How many reads does it do now?",
        "reads a second",
        after.iops.mean,
        1e3 / (total - seek + short),
        0.05,
        (
            f"A read takes 1,000 / {digits(rate)} = {digits(total)} ms.",
            f"The seek becomes {digits(seek - short)} ms shorter; rotation and transfer stay as they are.",
            f"{digits(total - seek + short)} ms are {digits(1e3 / (total - seek + short))} reads a second.",
            f"The model: {digits(after.iops.mean)}.",
        ),
        link_to(part),
    )


def schedulers(draw: Draws) -> Task:
    """Ask what an order of service gains."""
    drive, clients = draw.choice(_DISKS), draw.choice((4, 6, 8, 12, 16, 24, 32, 48, 64))
    name, words = draw.choice(
        (("sptf", "shortest positioning time first"), ("sstf", "shortest seek first"), ("look", "an elevator"))
    )
    plain = _disk(drive, outstanding=clients, scheduler="fcfs")
    chosen = plain.model_copy(update={"scheduler": name})
    before, after = run(plain), run(chosen)
    old, new = parts_ms(before), parts_ms(after)
    rate = rounded(before.iops.mean)
    saved = {part: rounded(old[part] - new[part]) for part in ("seek", "rotation")}
    service = 1e3 / rate - sum(saved.values())
    less = " and ".join(
        f"the {part} becomes {digits(abs(ms))} ms {'shorter' if ms >= 0 else 'longer'}" for part, ms in saved.items()
    )
    return Task(
        f"{clients} random reads of 4 KiB always wait at a disk of {_rpm(drive):,.0f} rpm. In order of arrival it does "
        f"{digits(rate)} a second. With {words} {less} on average. How many reads a second does it do then?",
        "reads a second",
        after.iops.mean,
        1e3 / service,
        0.05,
        (
            f"The disk is always busy, so that a read takes 1,000 / {digits(rate)} = {digits(1e3 / rate)} ms of it.",
            f"With {words}: {digits(service)} ms, which is {digits(1e3 / service)} reads a second.",
            f"The model: {digits(after.iops.mean)}.",
        ),
        link_to(chosen),
    )


def queue(draw: Draws) -> Task:
    """Ask for the response by the formula of Pollaczek and Khinchine."""
    drive, busy = draw.choice(_DISKS), draw.choice([round(0.3 + 0.01 * step, 2) for step in range(56)])
    alone = run(_disk(drive, scheduler="fcfs")).responses_ns() / 1e6
    mean, spread = rounded(float(alone.mean())), rounded(float(alone.std()))
    rate = rounded(busy * 1e3 / mean)
    square, load = mean**2 + spread**2, rate * mean / 1e3
    found = mg1(rate, mean / 1e3, square / 1e6)
    wait = rate / 1e3 * square / (2 * (1 - load))
    return Task(
        f"A disk serves random reads of 4 KiB in {digits(mean)} ms on average, with a standard deviation of "
        f"{digits(spread)} ms, in order of arrival. {digits(rate)} come at random in a second. How long does one take "
        "on "
        "average, its wait included?",
        "ms",
        found.response_s * 1e3,
        wait + mean,
        0.03,
        (
            f"Busy: {digits(rate)}/s times {digits(mean)} ms = {digits(load)}.",
            f"Mean square of the service time: {digits(mean)}² + {digits(spread)}² = {digits(square)} ms².",
            f"Wait: {digits(rate / 1e3)}/ms × {digits(square)} ms² / (2 × {digits(1 - load)}) = "
            f"{digits(wait)} ms (Pollaczek and Khinchine).",
            f"With the service: {digits(found.response_s * 1e3)} ms.",
        ),
        link_to(_disk(drive, scheduler="fcfs", arrivals="rate", rate_per_s=max(rate, 1.0))),
    )


def read_ahead(draw: Draws) -> Task:
    """Ask which rate large pieces give."""
    drive, size = draw.choice(_DISKS), draw.choice([(64 << 10) << power for power in range(7)])
    settings = _disk(drive, size_bytes=size, span_ratio=draw.choice(_PARTS))
    result = run(settings)
    parts = parts_ms(result)
    position = rounded(parts["seek"] + parts["rotation"] + parts["overhead"])
    rate = rounded(size / parts["transfer"] / 1e3)
    transfer = size / rate / 1e3
    return Task(
        f"Many programs read files in order. For each in turn the host reads {pretty_bytes(size)} ahead: "
        f"{digits(position)} "
        f"ms to get there, then {digits(rate)} MB/s. Which rate do they get together?",
        "MB/s",
        result.bytes_per_s / 1e6,
        size / 1e3 / (position + transfer),
        0.05,
        (
            f"{pretty_bytes(size)} at {digits(rate)} MB/s take {digits(transfer)} ms.",
            f"With the way there: {digits(position + transfer)} ms for {digits(size / 1e6)} MB.",
            f"That is {digits(size / 1e3 / (position + transfer))} MB/s. The model: "
            f"{digits(result.bytes_per_s / 1e6)}.",
        ),
        link_to(settings),
    )


def flash(draw: Draws) -> Task:
    """Ask for the rate of a flash drive by Little's law."""
    drive, depth = draw.choice(_FLASH), draw.choice(range(2, 65))
    settings = _disk(drive, outstanding=depth)
    result = run(settings)
    latency = rounded(result.latency.run_mean_ns.mean / 1e6)
    alone = run(_disk(drive)).iops.mean
    return Task(
        f"A flash drive has {depth} random reads of 4 KiB outstanding; each takes {digits(latency)} ms on average. "
        "How many "
        "does it do in a second?",
        "reads a second",
        result.iops.mean,
        1e3 * depth / latency,
        0.03,
        (
            "Little's law: outstanding = rate × time in the system.",
            f"{depth} / {digits(latency)} ms = {digits(1e3 * depth / latency)} a second.",
            f"One at a time it does {digits(alone)}: {depth} outstanding are {digits(result.iops.mean / alone)} times "
            "as "
            "fast, because its dies work at the same time.",
        ),
        link_to(settings),
    )

"""Drawn exercises of the lessons on arrays, sizing, failures, tails, validation, commits, pools and clouds."""

from __future__ import annotations

import math

import numpy as np

from diskmodel.analytic import back_end_per_host, parity_write_operations, read_error_probability, write_penalty
from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.lab.drives import drive_of
from diskmodel.lab.exercises.draw import Task, digits, link_to, run
from diskmodel.lab.quiz_questions import Draws
from diskmodel.lab.settings import Settings
from diskmodel.result.statistics.demerit import demerit
from diskmodel.units import pretty_bytes
from diskmodel.workload import Workload, log_of_commits

_NAMES = {"raid5": "RAID 5", "raid6": "RAID 6", "raid10": "RAID 10"}
_SIZES_TB = (1, 2, 4, 6, 8, 10, 12, 16, 18, 20, 24)
#: Block of a pool's disks, bytes (`ashift` of 12).
_BLOCK = 4096


def parity_write(draw: Draws) -> Task:
    """Ask how many operations a write of some strips costs."""
    level, parity = draw.choice((("raid5", 1), ("raid6", 2)))
    disks = draw.choice(range(4, 13))
    strips = 1 + draw.position(2, disks - parity) % (disks - parity)
    modify, reconstruct = parity_write_operations(strips, disks, parity)
    data = disks - parity
    return Task(
        f"{_NAMES[level]} of {disks} disks with strips of 64 KiB. A program writes {strips} whole strips of one row. "
        "How "
        "many disk operations is that, if the array chooses what needs fewest?",
        "operations",
        float(min(modify, reconstruct)),
        float(min(2 * (strips + parity), data - strips + strips + parity)),
        0.0,
        (
            f"Read-modify-write reads the {strips} old strips and {parity} of parity, and writes as many: {modify}.",
            f"Reconstruct-write reads the other {data - strips} of {data} data strips, and writes {strips} and the "
            "parity: "
            f"{reconstruct}.",
            f"The fewer: {min(modify, reconstruct)}.",
        ),
        link_to(Settings.parse({"level": level, "disks": disks, "read_ratio": 0}), tab="array", scene="write"),
    )


def cache_hits(draw: Draws) -> Task:
    """Ask what hits in a cache gain."""
    disks, hits = draw.choice((4, 6, 8, 10, 12)), draw.choice([round(0.1 + 0.05 * step, 2) for step in range(17)])
    base = Settings.parse({"level": "raid10", "disks": disks, "read_ratio": 1, "outstanding": 4 * disks})
    cached = base.model_copy(update={"read_hit_ratio": hits})
    before, after = run(base).iops.mean, run(cached).iops.mean
    return Task(
        f"RAID 10 of {disks} disks always has {4 * disks} reads outstanding. Then a cache serves {hits:.0%} of them at "
        "once. How many times as many reads does the array do?",
        "times",
        after / before,
        1 / (1 - hits),
        0.08,
        (
            f"Only misses, {1 - hits:.0%} of the reads, need a disk, and the disks are as busy as before.",
            f"1 / {1 - hits:.2g} = {digits(1 / (1 - hits))} times.",
            f"The model: {digits(before)} reads a second without the cache, {digits(after)} with it, "
            f"{digits(after / before)} times.",
        ),
        link_to(cached),
    )


def sizing(draw: Draws) -> Task:
    """Ask how many disks the rule of thumb buys."""
    level = draw.choice(("raid10", "raid5", "raid6"))
    iops = draw.choice((300, 400, 500, 600, 800, 1000, 1500, 2000, 2500, 3000, 4000))
    reads = draw.choice([round(0.1 * step, 1) for step in range(11)])
    per_disk = draw.choice((75, 80, 100, 120, 140, 150, 175, 180))
    penalty = write_penalty(level)
    back_end = iops * back_end_per_host(penalty, reads)
    disks = math.ceil(back_end / per_disk - 1e-9)
    least = {"raid10": 4, "raid5": 3, "raid6": 4}[level]
    bought = max(disks + disks % 2 if level == "raid10" else disks, least)
    return Task(
        f"{iops:,} requests a second of 8 KiB, {reads:.0%} of them reads. A disk does {per_disk} operations a second. "
        "How "
        f"many does {_NAMES[level]} need by the rule of thumb?",
        "disks",
        float(bought),
        float(bought),
        0.0,
        (
            f"A write costs {_NAMES[level]} {penalty} operations: {iops:,} × ({reads:g} + {1 - reads:.2g} × "
            f"{penalty}) = "
            f"{digits(back_end)} operations a second.",
            f"{digits(back_end)} / {per_disk} = {digits(back_end / per_disk)}, so {disks} disks.",
            f"{_NAMES[level]} has {'an even number, ' if level == 'raid10' else ''}at least {least}: {bought}. The "
            "link asks "
            "the model, which also counts the wait.",
        ),
        f"tab=plan&need_iops={iops}&need_reads={reads:g}&need_levels={level}",
    )


def unreadable(draw: Draws) -> Task:
    """Ask for the chance that a rebuild meets an unreadable block."""
    disks, size_tb = draw.choice(range(3, 17)), draw.choice(_SIZES_TB)
    power = draw.choice((14, 15, 16))
    n_bytes = (disks - 1) * size_tb * 1e12
    chance = read_error_probability(n_bytes, 10.0**-power)
    expected = 8 * n_bytes * 10.0**-power
    return Task(
        f"RAID 5 of {disks} disks of {size_tb} TB lost one. Of their bits one in 10^{power} cannot be read. What is "
        "the "
        "chance that the rebuild meets one?",
        "%",
        100 * chance,
        100 * (1 - math.exp(-expected)),
        0.03,
        (
            f"The rebuild reads {disks - 1} disks: {digits(8 * n_bytes / 1e12)} × 10^12 bits.",
            f"On average {digits(expected)} of them cannot be read.",
            f"None with a chance of e^-{digits(expected)}; at least one with {digits(100 * chance)} %.",
        ),
        f"tab=array&scene=rebuild&level=raid5&disks={disks}",
    )


def pages(draw: Draws) -> Task:
    """Ask for the percentile of a part of an answer."""
    percent = draw.choice((90.0, 95.0, 98.0, 99.0, 99.5, 99.9))
    reads = draw.choice((2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100))
    share = (percent / 100) ** (1 / reads)
    return Task(
        f"A page needs {reads} reads, all of them. {percent:g} % of the pages have to be in time. Which share of the "
        "reads "
        "may be late, if they are independent?",
        "%",
        100 * (1 - share),
        100 * (1 - share),
        0.05,
        (
            f"If a share q of the reads is in time, q^{reads} of the pages are.",
            f"q = {percent / 100:g}^(1/{reads}) = {share:.6f}.",
            f"{digits(100 * (1 - share))} % may be late: the limit is the p{100 * share:.4g} of a read.",
        ),
        link_to(Settings.parse({"level": "raid10", "arrivals": "rate", "rate_per_s": 700, "read_ratio": 1})),
    )


def wrong_model(draw: Draws) -> Task:
    """Ask for the demerit of a model that errs in both directions."""
    share = draw.choice([round(0.1 * step, 1) for step in range(1, 10)])
    above, below = draw.choice((5, 10, 15, 20, 25, 30, 40)), draw.choice((5, 10, 12, 20, 25, 30))
    n, n_above = 1000, round(1000 * share)
    predicted = np.concatenate([np.full(n_above, 100.0 + above), np.full(n - n_above, 100.0 - below)])
    found = 100 * demerit(np.full(n, 100.0), predicted).ratio
    square = share * above**2 + (1 - share) * below**2
    return Task(
        f"Every request takes as long. A model predicts {share:.0%} of them {above} % too long and the others {below} "
        "% too "
        "short. What is its demerit?",
        "% of the mean",
        found,
        math.sqrt(square),
        0.02,
        (
            "Sorted, both lists differ rank by rank by these errors; the demerit is the root of their mean square.",
            f"{share:g} × {above}² + {1 - share:.2g} × {below}² = {digits(square)}; its root is "
            f"{digits(math.sqrt(square))} "
            "%.",
            f"The mean is wrong by only {share * above - (1 - share) * below:+.3g} %.",
        ),
        "",
    )


def commits(draw: Draws) -> Task:
    """Ask how often clients commit on one platter."""
    drive = draw.choice(("generic-5k4", "generic-7k2", "generic-10k", "generic-15k"))
    clients = draw.choice((1, *range(4, 33)))
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    load = Workload.parse({"streams": [log_of_commits(clients=clients)]})
    rate = simulate(array, load, n_requests=4000, profile_draws=0).commits_per_s
    rpm = drive_of(drive).spindle_rpm
    turns = rpm / 60
    by_hand = turns if clients == 1 else clients * turns / 2
    how = (
        "One client waits a revolution for each commit."
        if clients == 1
        else "A commit that comes while a write is in progress waits for that one and for its own: two revolutions, "
        f"whichever of the {clients} it is."
    )
    who = "One client commits" if clients == 1 else f"{clients} clients commit"
    return Task(
        f"A log lies on a disk of {rpm:,.0f} rpm. {who} small records, each as soon as the last one is safe. "
        "How many "
        "commits a second are that?",
        "commits a second",
        rate,
        by_hand,
        0.06,
        (
            f"The platter turns {digits(turns)} times a second.",
            how,
            f"{digits(by_hand)} commits a second. The model: {digits(rate)}.",
        ),
        f"tab=commits&log_drive={drive}&log_clients={clients}",
    )


def pool_space(draw: Draws) -> Task:
    """Ask how much of a pool's disks its records can store."""
    level, parity = draw.choice((("raidz1", 1), ("raidz2", 2), ("raidz3", 3)))
    width, record = draw.choice(range(6, 13)), draw.choice([8192 << power for power in range(5)])
    layout = {"level": level, "disks": width, "record_bytes": record}
    array = Array.parse({"drive": "generic-7k2", "layout": layout})
    stored = array.usable_bytes / (width * array.drive.capacity_bytes)
    data = record // _BLOCK
    rows = math.ceil(data / (width - parity))
    blocks = data + parity * rows
    padded = math.ceil(blocks / (parity + 1)) * (parity + 1)
    return Task(
        f"RAID-Z{parity} of {width} disks with blocks of 4 KiB stores records of {pretty_bytes(record)}. Which share "
        "of the "
        "disks' space can be used?",
        "%",
        100 * stored,
        100 * data / padded * (1 - 1 / 64),
        0.03,
        (
            f"A record has {data} blocks of data, in {rows} row{'s' if rows > 1 else ''} of at most {width - parity}.",
            f"Each row has {parity} of parity: {blocks} blocks, padded to a multiple of {parity + 1}: {padded}.",
            f"{data} / {padded} = {digits(100 * data / padded)} %. OpenZFS keeps a sixty-fourth: "
            f"{digits(100 * stored)} %.",
        ),
        "",
    )


def cloud_limit(draw: Draws) -> Task:
    """Ask how long readers wait at the limit of a cloud's volume."""
    limit, readers = 1000 * draw.choice(range(3, 17)), draw.choice((32, 48, 64, 96, 128, 192, 256))
    array = Array(f"1x aws-gp3 jbod, {limit} IOPS, 1000MiB/s")
    load = Workload.parse({"size": "8 KiB", "clients": readers})
    answer = simulate(array, load, n_requests=8 * limit, profile_draws=0).latency.mean_ns / 1e6
    by_hand = readers / limit * 1000
    return Task(
        f"A volume of a cloud has {limit:,} operations a second. {readers} readers of 8 KiB never pause. How long "
        "does each request take on average?",
        "ms",
        answer,
        by_hand,
        0.05,
        (
            f"{readers} readers without a pause are more than the limit needs, so that it passes {limit:,} a second.",
            f"Little's law: {readers} in the system, {limit:,} a second, so each is there for {readers} / {limit:,} s.",
            f"{digits(by_hand)} ms. The model: {digits(answer)}.",
        ),
        "",
    )

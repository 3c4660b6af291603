"""The questions of the quiz: what changes, which figure is asked for, and the reason for the answer.

The answers are not stored here: they come from simulated runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

from diskmodel.lab.settings import Settings
from diskmodel.loading import dataclass
from diskmodel.units import pretty_bytes


@dataclass(frozen=True)
class Dilemma:
    """One question.

    Attributes
    ----------
    setting, question : str
    settings : tuple of Settings
        Two runs, whose ratio (second over first) is the answer; or one run, whose figure is the answer.
    names : tuple of str
        A name for each run.
    figure : str
        A key of `curves.figures`.
    figure_text : str
        The figure in words, with its unit.
    borders : tuple of float
        Limits between the choices, ascending.
    unit : str
        "times" for a ratio.
    why : str
    """

    setting: str
    question: str
    settings: tuple[Settings, ...]
    names: tuple[str, ...]
    figure: str
    figure_text: str
    borders: tuple[float, ...]
    unit: str
    why: str

    def ranges(self) -> list[tuple[float, float]]:
        """Return the lower and upper end of each choice."""
        return list(itertools.pairwise((-float("inf"), *self.borders, float("inf"))))

    def choice_texts(self) -> list[str]:
        """Return the choices as text."""
        mark = "× " if self.unit == "times" else ""
        first, last = self.borders[0], self.borders[-1]
        between = [f"{mark}{low:g} to {high:g}" for low, high in itertools.pairwise(self.borders)]
        return [f"less than {mark}{first:g}", *between, f"more than {mark}{last:g}"]


T = TypeVar("T")
_WORD = 0xFFFFFFFF


def drawn(seed: int, number: int, draw: int) -> int:
    """Return a number of 32 bits for one draw of a question: splitmix32's mixing, the same on the lab's page."""
    mixed = (seed * 0x9E3779B1 ^ (number + 1) * 0x85EBCA6B ^ (draw + 1) * 0xC2B2AE35) & _WORD
    mixed ^= mixed >> 16
    mixed = mixed * 0x21F0AAAD & _WORD
    mixed ^= mixed >> 15
    mixed = mixed * 0x735A2D97 & _WORD
    return mixed ^ mixed >> 15


class Draws:
    """What a question chooses among: by its number and a seed, or by given positions.

    Attributes
    ----------
    sizes : list of int
        Options of each choice that was made.
    """

    def __init__(self, position: Callable[[int, int], int]) -> None:
        self.position = position
        self.sizes: list[int] = []

    @classmethod
    def of(cls, number: int, seed: int) -> Draws:
        """Return the draws of question `number` of a seed."""
        return cls(lambda at, size: drawn(seed, number, at) % size)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        self.sizes.append(len(options))
        return options[self.position(len(self.sizes) - 1, len(options))]


def _raid_levels(draw: Draws) -> Dilemma:
    reads = draw.choice((0.0, 0.3, 0.5, 0.7, 0.9, 1.0))
    disks = draw.choice((6, 8, 12))
    base = {"read_ratio": reads, "disks": disks, "outstanding": 32, "size_bytes": 8192}
    return Dilemma(
        f"{disks} disks of 15,000 rpm, 32 requests of 8 KiB outstanding, {reads:.0%} of them reads.",
        "How many times as many requests per second does RAID 10 serve as RAID 5?",
        (Settings.parse({**base, "level": "raid5"}), Settings.parse({**base, "level": "raid10"})),
        ("RAID 5", "RAID 10"),
        "iops",
        "requests per second",
        (0.9, 1.15, 1.5, 2.0, 2.5),
        "times",
        "A small write costs RAID 5 two reads and two writes, and RAID 10 two writes. The difference grows with the "
        "share of writes. For reads both have the same number of arms, but RAID 10 can choose between two copies.",
    )


def _depth(draw: Draws) -> Dilemma:
    scheduler, name = draw.choice((("fcfs", "first come, first served"), ("sptf", "shortest positioning time first")))
    depth = draw.choice((16, 32, 64))
    base = {"read_ratio": 1, "disks": 1, "level": "jbod", "scheduler": scheduler, "drive": "generic-7k2"}
    return Dilemma(
        f"One disk of 7,200 rpm, random reads of 8 KiB, served {name}.",
        f"Outstanding requests rise from 1 to {depth}. By what factor do requests per second change?",
        (Settings.parse({**base, "outstanding": 1}), Settings.parse({**base, "outstanding": depth})),
        ("1 outstanding", f"{depth} outstanding"),
        "iops",
        "requests per second",
        (1.15, 1.6, 2.2, 4.0),
        "times",
        "A queue makes a disk faster only if the scheduler can choose from it. In order of arrival, the arm moves as "
        "far with a long queue as with a short one; picking the nearest request saves more, the longer the queue is.",
    )


def _request_size(draw: Draws) -> Dilemma:
    size = draw.choice((64 << 10, 256 << 10, 1 << 20, 4 << 20))
    base = {"read_ratio": 1, "disks": 1, "level": "jbod", "drive": "generic-7k2", "outstanding": 1}
    return Dilemma(
        "One disk of 7,200 rpm, random reads, one at a time.",
        f"Requests grow from 4 KiB to {pretty_bytes(size)}. By what factor do requests per second change?",
        (Settings.parse({**base, "size_bytes": 4096}), Settings.parse({**base, "size_bytes": size})),
        ("4 KiB", pretty_bytes(size)),
        "iops",
        "requests per second",
        (0.15, 0.35, 0.6, 0.85),
        "times",
        "Each request costs a seek and half a revolution, whatever its size. The transfer matters only when it takes "
        "about as long: bytes per second rise long before requests per second fall.",
    )


def _short_stroke(draw: Draws) -> Dilemma:
    span = draw.choice((0.02, 0.1, 0.3))
    base = {"read_ratio": 1, "disks": 1, "level": "jbod", "drive": "generic-7k2", "outstanding": 1, "size_bytes": 4096}
    return Dilemma(
        "One disk of 7,200 rpm, random reads of 4 KiB, one at a time.",
        f"Only its outer {span:.0%} is used. By what factor do requests per second change?",
        (Settings.parse(base), Settings.parse({**base, "span_ratio": span})),
        ("whole disk", f"outer {span:.0%}"),
        "iops",
        "requests per second",
        (1.1, 1.35, 1.7, 2.5),
        "times",
        "Seeks become shorter, all the more because outer tracks store more than inner ones. Rotational latency does "
        "not change: half a revolution on average, wherever the arm is.",
    )


def _spindle_speed(draw: Draws) -> Dilemma:
    slow, rpm = draw.choice((("generic-5k4", "5,400"), ("generic-7k2", "7,200"), ("generic-10k", "10,000")))
    base = {"read_ratio": 1, "disks": 1, "level": "jbod", "outstanding": 1, "size_bytes": 4096}
    return Dilemma(
        f"Random reads of 4 KiB, one at a time, from a disk of {rpm} rpm.",
        "It is replaced by one of 15,000 rpm. By what factor do requests per second change?",
        (Settings.parse({**base, "drive": slow}), Settings.parse({**base, "drive": "generic-15k"})),
        (f"{rpm} rpm", "15,000 rpm"),
        "iops",
        "requests per second",
        (1.2, 1.6, 2.1, 2.8),
        "times",
        "Rotational latency falls in proportion to the speed. Fast drives also have smaller platters and shorter arms, "
        "so that seeks become faster too, but by another factor.",
    )


def _knee(draw: Draws) -> Dilemma:
    low, high = draw.choice(((20, 40), (20, 60), (40, 65)))
    base = {
        "read_ratio": 1,
        "disks": 1,
        "level": "jbod",
        "drive": "generic-7k2",
        "arrivals": "rate",
        "scheduler": "fcfs",
    }
    return Dilemma(
        "One disk of 7,200 rpm, random reads of 8 KiB that arrive at random and are served in order of arrival.",
        f"The rate rises from {low} to {high} per second. By what factor does the p99 latency change?",
        (Settings.parse({**base, "rate_per_s": low}), Settings.parse({**base, "rate_per_s": high})),
        (f"{low} per second", f"{high} per second"),
        "p99_ms",
        "p99 latency, ms",
        (1.25, 1.75, 2.5, 4.0),
        "times",
        "Waiting grows as 1/(1 - utilization): slowly at first, then without limit. It shows in the tail before it "
        "shows in the mean.",
    )


def _cache_hits(draw: Draws) -> Dilemma:
    hits = draw.choice((0.3, 0.5, 0.8, 0.9))
    base = {"read_ratio": 1, "disks": 8, "level": "raid10", "outstanding": 16}
    return Dilemma(
        "RAID 10 of 8 disks, 16 reads of 8 KiB outstanding.",
        f"A cache now serves {hits:.0%} of the reads. By what factor do requests per second change?",
        (Settings.parse(base), Settings.parse({**base, "read_hit_ratio": hits})),
        ("no hits", f"{hits:.0%} hits"),
        "iops",
        "requests per second",
        (1.2, 1.7, 2.5, 4.0, 7.0),
        "times",
        "Only misses load the disks, so the array serves up to 1/(1 - hits) times as many requests until the disks are "
        "as busy as before.",
    )


def _more_disks(draw: Draws) -> Dilemma:
    outstanding = draw.choice((1, 4, 64))
    base = {"read_ratio": 1, "level": "raid0", "outstanding": outstanding}
    return Dilemma(
        f"RAID 0, reads of 8 KiB, {outstanding} outstanding.",
        "The number of disks is doubled from 4 to 8. By what factor do requests per second change?",
        (Settings.parse({**base, "disks": 4}), Settings.parse({**base, "disks": 8})),
        ("4 disks", "8 disks"),
        "iops",
        "requests per second",
        (1.1, 1.4, 1.7, 2.1),
        "times",
        "More disks help only if requests wait for them. With fewer requests outstanding than disks, most disks are "
        "idle.",
    )


def _write_cost(draw: Draws) -> Dilemma:
    level, disks = draw.choice((("raid5", 3), ("raid5", 4), ("raid5", 8), ("raid6", 4), ("raid6", 8), ("raid10", 8)))
    name = {"raid5": "RAID 5", "raid6": "RAID 6", "raid10": "RAID 10"}[level]
    settings = Settings.parse({"read_ratio": 0, "size_bytes": 4096, "level": level, "disks": disks})
    return Dilemma(
        f"{name} of {disks} disks, random writes of 4 KiB, no cache.",
        "How many disk operations does one write cost?",
        (settings,),
        (f"{name}, {disks} disks",),
        "back_end_per_host",
        "disk operations per write",
        (1.5, 2.5, 3.5, 4.5, 5.5),
        "operations",
        "A mirror writes each copy. Parity is computed either from the old data and the old parity, or from the other "
        "data in the stripe. The array chooses what needs fewer reads; with few disks, that is the second.",
    )


def _longest_wait(draw: Draws) -> Dilemma:
    greedy, name = draw.choice((("sstf", "nearest first"), ("look", "by an elevator, back and forth")))
    base = {"read_ratio": 1, "disks": 1, "level": "jbod", "drive": "generic-7k2", "outstanding": 32}
    return Dilemma(
        "One disk of 7,200 rpm, 32 random reads of 8 KiB outstanding, served first come, first served.",
        f"Now they are served {name}. By what factor does the p99 latency change?",
        (Settings.parse({**base, "scheduler": "fcfs"}), Settings.parse({**base, "scheduler": greedy})),
        ("first come, first served", name),
        "p99_ms",
        "p99 latency, ms",
        (0.6, 0.9, 1.15, 1.6),
        "times",
        "The mean improves with both. Always taking the nearest request lets those at the edges wait; an elevator "
        "passes every cylinder in each sweep.",
    )


#: The questions in order.
QUESTIONS: tuple[Callable[[Draws], Dilemma], ...] = (
    _depth,
    _raid_levels,
    _request_size,
    _knee,
    _write_cost,
    _short_stroke,
    _cache_hits,
    _longest_wait,
    _more_disks,
    _spindle_speed,
)


def variants(question: Callable[[Draws], Dilemma]) -> tuple[list[int], list[Dilemma]]:
    """Return how many options each choice of a question has, and all it can ask, the last choice fastest."""
    first = Draws(lambda _at, _size: 0)
    question(first)
    paths = itertools.product(*(range(size) for size in first.sizes))
    return first.sizes, [question(Draws(lambda at, _size, path=path: path[at])) for path in paths]  # type: ignore[misc]

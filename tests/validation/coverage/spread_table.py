"""The table of spreads that the product reads: `diskmodel/uncertainty/spread.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.validation.coverage.spread import PRIORS, Figure, Spreads, broken_units, estimate

TABLE = Path(__file__).parents[3] / "diskmodel" / "uncertainty" / "spread.toml"

HEAD = """# How far drives lie from their descriptions by data sheets; `make intervals` writes this file.
#
# The logarithm of each factor is Student's t with `dof` degrees of freedom around that of `median`; `n` is the number
# of measured units beside what is known before (tests/validation/coverage/spread.py). A class without a quantity has
# that of its parent.
#
#   positioning          time of a random access alone          queue                rate of a queue of reads
#   cached_writes        rate of random writes in its cache     sequential           rate of sequential transfers
#   flash_read_time      time of a read alone                   flash_parallelism    rate of reads in a queue
#   flash_write          rate of random writes in a queue       flash_write_latency  time of a write that has room
#   controller           rate behind a controller               tail, write_tail     p99 over mean of reads, of writes
#   queued_write_tail    the same of a queue of writes alone
#
# "-any" are drives that stand for their kind, "-desktop" of these are no servers', "-consumer" flash drives without
# protection from a loss of power.
#
# `systems` counts those whose description is complete, or whose source shows what holds them back, and of these the
# ones that do not do what their parts can. No spread is about them.

[systems]
judged = {judged}
slower = {slower}

[parents]
"""

PARENTS = {
    "hdd-sata-older": "hdd",
    "hdd-nearline-sata": "hdd",
    "hdd-nearline-sas": "hdd",
    "hdd-sas": "hdd",
    "hdd-smr": "hdd",
    "hdd-any": "hdd",
    "hdd-any-desktop": "hdd-any",
    "array-md-hdd": "hdd",
    "flash-sata": "flash",
    "flash-nvme": "flash",
    "flash-consumer": "flash",
    "flash-sata-consumer": "flash-consumer",
    "flash-nvme-consumer": "flash-consumer",
    "flash-any": "flash",
    "array-md-flash": "flash",
    "flash-behind-controller": "flash",
}


def text(figures: Sequence[Figure]) -> str:
    """Return the table."""
    judged, slower = systems(figures)
    return text_of(estimate(figures), judged, slower)


def systems(figures: Sequence[Figure]) -> tuple[int, int]:
    """Return how many systems are described completely or held back, and how many of them do less than their parts."""
    standing = {name: {f.case.unit for f in figures if f.case.standing == name} for name in ("complete", "held back")}
    broken = broken_units(figure for figure in figures if figure.case.standing == "complete")
    return len(standing["complete"] | standing["held back"]), len(standing["held back"] | set(broken))


def text_of(spreads: Spreads, judged: int = 0, slower: int = 0) -> str:
    """Return the table of some spreads."""
    lines = [
        HEAD.format(judged=judged, slower=slower).rstrip("\n"),
        *(f'{name} = "{parent}"' for name, parent in PARENTS.items()),
    ]
    for name in dict.fromkeys(name for name, _ in PRIORS):
        lines += ["", f"[class.{name}]"]
        lines += [spread.line(quantity) for (of, quantity), spread in spreads.items() if of == name]
    return "\n".join(lines) + "\n"

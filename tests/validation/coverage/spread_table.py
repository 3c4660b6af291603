"""Write diskmodel/uncertainty/spread.toml: what is known of each class, as the product draws from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tests.validation.coverage.evidence import classes
from tests.validation.coverage.spread import LOADS, Figure, Spread, Spreads, estimate

TABLE = Path(__file__).parents[3] / "diskmodel" / "uncertainty" / "spread.toml"

HEAD = """# How much drives and arrays of a class differ from what their descriptions predict.
#
# From {n} published figures of {units} drives and arrays; `make intervals` writes it. Each is a factor, true over
# predicted: its median, and the scale and degrees of freedom of Student's t for its logarithm, for a drive of which
# nothing was measured. A class without a quantity has that of its parent. n is the number of drives or arrays, 0 where
# all is from the parent.
#
# What differs between drives:
#   positioning        time of a random access one at a time    sequential         rate of sequential transfers
#   cached_writes      rate of random writes                    controller         rate behind a controller
#   flash_read_time    time of a read one at a time             flash_parallelism  rate of reads in a queue
#   flash_write        rate of random writes in a queue         tail               p99 over mean
# `model` is what remains within a drive or array once its own deviation is known; of an array also the deviation that
# its drives do not explain. For iops it is a factor of the rate, for mean and p99 of the latency.
#
# `load` is the whole of it, by kind of load: rate, and tail (p99 over mean). An interval with these contains as many
# published figures of drives that were left out as it states (docs/explanation/validation-coverage.md), so what is
# drawn above should add up to it. A queue is deep from three requests on a disk on.
"""


def text(figures: Sequence[Figure]) -> str:
    """Return the table."""
    spreads = estimate(figures)
    units = len({figure.case.unit for figure in figures})
    parents = classes()["parents"]
    lines = [HEAD.format(n=len(figures), units=units).rstrip("\n"), "", "[parents]"]
    lines += [f'{name} = "{parent}"' for name, parent in parents.items() if parent in ("hdd", "flash")]
    for name in (*dict.fromkeys(parents.values()), *parents):
        if name != "controller":
            lines += ["", *_of_class(name, parents.get(name, ""), spreads)]
    return "\n".join(lines) + "\n"


def _of_class(name: str, parent: str, spreads: Spreads) -> list[str]:
    own = {(load, what): spreads[name, load, what] for load in LOADS for what in ("rate", "tail")}
    lines = [f"[class.{name}]"]
    is_array = name.startswith("array-")
    is_flash = "flash" in (name, parent)
    if name == "flash-behind-controller":
        queued, below = own["queued reads", "rate"], spreads["flash-sata", "queued reads", "rate"]
        lines.append(
            _line("controller", queued.mean - below.mean, queued.between, queued.between_freedom, queued.n_units)
        )
    elif is_flash and not is_array:
        lines += _flash(own)
    elif not is_array:
        lines += _disk(own)
    lines += _model(name, own, spreads)
    for (load, what), item in own.items():
        if name == "array-hw-hdd" and load.endswith("writes"):
            continue  # in which order a controller destages is drawn itself
        if item.n_figures or not parent:
            lines.append(_line(f'load."{load}".{what}', item.mean, item.scale, item.tails, item.n_units))
    return lines


def _disk(own: dict[tuple[str, str], Spread]) -> list[str]:
    single, writes = own["single reads", "rate"], _more(own["single writes", "rate"], own["queued writes", "rate"])
    both = math.sqrt(max(writes.between**2 - single.between**2, 0.0))
    tail, sequential = _more(own["single reads", "tail"], own["queued reads", "tail"]), own["sequential", "rate"]
    return [
        _line("positioning", -single.mean, single.between, single.between_freedom, single.n_units),
        _line("cached_writes", writes.mean, both, writes.between_freedom, writes.n_units),
        _line("sequential", sequential.mean, sequential.between, sequential.between_freedom, sequential.n_units),
        _line("tail", tail.mean, tail.between, tail.between_freedom, tail.n_units),
    ]


def _flash(own: dict[tuple[str, str], Spread]) -> list[str]:
    single, queued, writes = (own[load, "rate"] for load in ("single reads", "queued reads", "queued writes"))
    tail = _more(own["single reads", "tail"], own["queued reads", "tail"])
    return [
        _line("flash_read_time", -single.mean, single.between, single.between_freedom, single.n_units),
        _line("flash_parallelism", queued.mean, queued.between, queued.between_freedom, queued.n_units),
        _line("flash_write", writes.mean, writes.between, writes.between_freedom, writes.n_units),
        _line("tail", tail.mean, tail.between, tail.between_freedom, tail.n_units),
    ]


def _model(name: str, own: dict[tuple[str, str], Spread], spreads: Spreads) -> list[str]:
    """Return what remains within a unit; of arrays of known drives, what is more than the spread of the drives."""
    rate = _more(own["single reads", "rate"], own["queued reads", "rate"])
    tail = _more(own["single reads", "tail"], own["queued reads", "tail"])
    variance, freedom = rate.rest, rate.rest_freedom
    if name.startswith("array-md"):
        drive = spreads["hdd-sata-older" if "hdd" in name else "flash-sata", "queued reads", "rate"]
        variance = max(variance, rate.scale**2 - drive.between**2)
        freedom = rate.tails
    p99 = variance + tail.rest
    lines = [_line(f"model.{s}", 0.0, math.sqrt(variance), freedom, rate.n_units) for s in ("iops", "mean")]
    return [*lines, _line("model.p99", 0.0, math.sqrt(p99), freedom, tail.n_units)]


def _more(first: Spread, second: Spread) -> Spread:
    """Return the one of which more drives were measured."""
    return second if second.n_units >= first.n_units else first


def _line(key: str, center: float, scale: float, freedom: float, n: int) -> str:
    values = f"median = {math.exp(center):.3g}, log_sd = {scale:.3g}, dof = {freedom:.3g}"
    return f"{key} = {{ {values}, n = {n} }}"

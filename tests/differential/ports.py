"""At which station two engines first differ: what stations say to each other, compared instant by instant."""

from __future__ import annotations

from diskmodel.engine.reference.clock import Port
from diskmodel.records import Int64


def first_difference(a: Int64, b: Int64) -> str | None:
    """Return who first says something in one log that is not in the other, and what; None where both say the same.

    Within an instant the order does not count, and it is the station that is first on the way from what a drive has
    done up to the host and down again: what the others say follows from that.

    Parameters
    ----------
    a, b : array of int64, shape (n, 6)
        What `simpy_engine.ports` and `native.ports` return.
    """
    one, other = (sorted(map(tuple, log.tolist())) for log in (a, b))
    at = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    found = [(rows[at], name) for rows, name in ((one, "simpy"), (other, "kernel")) if at < len(rows)]
    if not found:
        return None
    (time_ns, port, drive, op, sector, n), name = min(found)
    who = Port(port).name.lower().replace("_", " ")
    return f"{who}: only {name} says at {time_ns} ns: drive {drive}, op {op}, sector {sector}, {n} sectors"


def station(difference: str) -> str:
    """Return who speaks where a difference begins."""
    return difference.split()[0]

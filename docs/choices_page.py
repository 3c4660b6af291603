"""Write the page of all choices when the site is built: schedulers, RAID levels, address patterns, arrival laws."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from diskmodel.engine.native import KERNEL_SCHEDULERS
from diskmodel.layout.levels import LEVELS, POOLS, RaidLevel
from diskmodel.queue import SCHEDULERS
from diskmodel.workload.addresses import PATTERNS
from diskmodel.workload.arrivals import ARRIVALS

INTRODUCTION = """# Schedulers, levels, patterns, arrivals

Every name that a description can choose, from the registries that the program itself reads. The exact rules are in
[the exact semantics](semantics.md), all fields in [descriptions in files](descriptions.md).
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def page() -> str:
    """The whole page as Markdown."""
    schedulers = table(
        ("scheduler", "what it does", "rule", "inside a drive", "native kernel"),
        (
            (f"`{name}`", policy.title, policy.rule, _yes(policy.is_in_drives), _yes(name in KERNEL_SCHEDULERS))
            for name, policy in SCHEDULERS.items()
        ),
    )
    levels = table(
        ("level", "what it is", "least disks", "redundancy", "write penalty"),
        (
            (f"`{name}`", kind.title, str(kind.min_disks), _redundancy(kind), _penalty(kind))
            for name, kind in LEVELS.items()
        ),
    )
    vdevs = table(
        ("level", "what it is", "least disks of a vdev", "redundancy"),
        ((f"`{name}`", kind.title, str(kind.min_disks), _redundancy(kind)) for name, kind in POOLS.items()),
    )
    patterns = table(("pattern", "where requests go"), ((f"`{name}`", kind.title) for name, kind in PATTERNS.items()))
    laws = table(("kind", "when requests come"), ((f"`{name}`", kind.title) for name, kind in ARRIVALS.items()))
    return "\n".join(
        (
            INTRODUCTION,
            "## Schedulers\n",
            schedulers,
            "## RAID levels\n",
            levels,
            "## Vdevs of OpenZFS\n",
            vdevs,
            "## Address patterns\n",
            patterns,
            "## Arrival laws\n",
            laws,
        )
    )


def made(root: Path) -> dict[str, str]:
    """Return the page by its place."""
    return {"reference/choices.md": page()}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _redundancy(kind: RaidLevel) -> str:
    if kind.family == "parity":
        return "`n_parity` parity strips" if kind.n_parity is None else f"{kind.n_parity} parity"
    if kind.n_parity:
        return f"{kind.n_parity} parity"
    if not kind.keeps_copies:
        return "none"
    return f"{kind.default_copies} copies" if kind.default_copies else "a copy on every disk"


def _penalty(kind: RaidLevel) -> str:
    return "2 (m + 1)" if kind.n_parity is None else str(kind.write_penalty)

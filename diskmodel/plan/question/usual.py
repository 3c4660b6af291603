"""What is taken where a question on one line says nothing: drives, levels, load and limits, each with a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.options import BLOCK, READS, USUAL_LOAD, USUAL_STREAM, parse_options
from diskmodel.units import binary_bytes, pretty_ns
from diskmodel.workload import Stream

#: Candidates of a question that names no drive: one of each class that is on sale, nearline at 7,200 rpm, SAS at
#: 10,000 rpm, and flash.
DEFAULT_DRIVES = ("seagate-exos-x16", "seagate-exos-10e2400-2400", "micron-7450-pro-1920")
#: Candidates of a question that names no level: those that controllers offer for more than two disks.
DEFAULT_LEVELS = ("raid10", "raid5", "raid6")
#: The same of a question about a log alone: a device of two disks, and whether more of them help.
DEFAULT_LEVELS_OF_A_LOG = ("raid1", "raid10")

#: Largest mean latency where a question names none: what is usual for flash drives alone, and elsewhere. p99 is shown.
_FLASH_NS, _OTHERS_NS = 1_000_000, 20_000_000
_FLASH_SOURCE = "Dell, Ready Solutions for Microsoft SQL: the standard of flash arrays"
_OTHERS_SOURCE = "Dell, Live Optics Latency Basics: acceptable for most applications"
#: Largest p99 latency of commits where a question names none.
_COMMIT_NS = 10_000_000
_COMMIT_SOURCE = "etcd's documentation asks it of the sync of its log"


def usual_load(asked: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a load with what is assumed of its requests, and what that is.

    Whether requests in order read or write is not assumed: it decides between levels.

    Parameters
    ----------
    asked : mapping
        Values of options by key.
    """
    usual = USUAL_STREAM if asked.get("sequential") else USUAL_LOAD
    missing = [option for option in (READS, BLOCK) if option.name in usual and option.key not in asked]
    found = parse_options({option.key: usual[option.name] for option in missing}, missing, {"stream": Stream})
    notes = []
    if READS.key in found:
        notes.append(
            f"no --reads: {found['reads']:.0%} of the requests read; --reads 30% for example if yours write more"
        )
    if BLOCK.key in found:
        size = binary_bytes(found["block"])
        notes.append(f"no --block: requests of {size}; --block 64k for example if yours have another size")
    return {**asked, **found}, notes


def usual_latency(*, is_flash: bool) -> tuple[dict[str, int], str]:
    """Return the limits of latency of a question that names none, and the note about it."""
    limit, source = (_FLASH_NS, _FLASH_SOURCE) if is_flash else (_OTHERS_NS, _OTHERS_SOURCE)
    return {"mean_ns": limit}, f"no --p99: a mean latency of at most {pretty_ns(limit)} ({source})"


def usual_commit_latency() -> tuple[dict[str, int], str]:
    """Return the same of the latency of commits."""
    limit = pretty_ns(_COMMIT_NS)
    return {"p99_ns": _COMMIT_NS}, f"no --commit-p99: a p99 latency of commits of at most {limit} ({_COMMIT_SOURCE})"

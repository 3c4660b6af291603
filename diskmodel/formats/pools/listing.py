"""zpool list -v (OpenZFS): the same vdevs as zpool status, beside sizes."""

from __future__ import annotations

import re

from diskmodel.formats.faults import file_error
from diskmodel.formats.pools.status import CLASSES, Pool, pools_of_text

_HEADER = re.compile(r"NAME +SIZE +ALLOC +FREE .*\bHEALTH\b", re.IGNORECASE)
_ROW = re.compile(r"(\s{0,12})(\S{1,255})\s(.{0,400})\Z")
_STATE = re.compile(r"\b(ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED)\b")
#: zpool list names log devices "logs", and without -v in older versions "log".
_CLASS_WORDS = {**{word: word for word in CLASSES}, "log": "logs", "spare": "spares"}


def is_list(text: str) -> bool:
    """Whether a text holds an output of zpool list -v, with the vdevs of a pool."""
    lines = text[:65536].expandtabs().split("\n")
    return any(map(_HEADER.match, lines)) and any(re.match(r" {1,8}\S+ +[\d.]+[KMGTPE]? ", line) for line in lines)


def pools_of_list(text: str, source: str) -> list[Pool]:
    """Return the pools of an output of zpool list -v, in its order.

    Raises
    ------
    FormatError
        When it holds no pool with its devices.
    """
    parts: list[str] = []
    for line in text.replace("\r\n", "\n").expandtabs().split("\n"):
        row = _ROW.match(line)
        if _HEADER.match(line) or row is None:
            continue
        indent, name, rest = row[1], row[2], row[3]
        state = _STATE.search(rest)
        if not indent and name in _CLASS_WORDS:
            parts.append(f"\t{_CLASS_WORDS[name]}")
        elif not indent:
            health = state[1] if state else "ONLINE"
            parts += [f"  pool: {name}", f" state: {health}", "config:", "", "\tNAME STATE READ WRITE CKSUM"]
            parts.append(f"\t{name} {health} 0 0 0")
        else:
            # a vdev shows its health where its disks show none
            parts.append(f"\t{indent}{name} {state[1] if state else 'ONLINE'} 0 0 0")
    found = pools_of_text(re.sub(r"(?<=\n)(?=  pool: )", "errors: none\n", "\n".join([*parts, "errors: none"])), source)
    if not any(pool.vdevs for pool in found):
        raise file_error(source, "shows no vdevs", "make it with zpool list -v, or give zpool status")
    return found

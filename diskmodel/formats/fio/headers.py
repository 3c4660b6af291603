"""The lines that fio prints when it starts: for each section of a job file its name, pattern, sizes and depth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from diskmodel.formats.fio.job import PURE_PATTERNS
from diskmodel.loading import dataclass

_HEADER = re.compile(r"(?P<name>.+?): \(g=(?P<group>\d{1,9})\): rw=(?P<rw>[a-z]+), (?P<rest>.*)", re.ASCII)
_BLOCK = re.compile(r"\(([RWT])\) ([\d.]{1,24})([KMG]iB|[kMG]?B)-([\d.]{1,24})([KMG]iB|[kMG]?B)", re.ASCII)
_OLD_BLOCKS = re.compile(r"\bbs=([\d.]\S*?)(?:, (?=[a-z])|\Z)", re.ASCII)
_OLD_BLOCK = re.compile(r"([\d.]{1,24})([KMG]?)i?B?-([\d.]{1,24})([KMG]?)i?B?\Z", re.ASCII)
_LETTER = {"R": "read", "W": "write", "T": "trim"}
_STARTING = re.compile(r"Starting ((?:\d{1,9} (?:process|thread)(?:es|s)?(?: and )?)+)\Z", re.ASCII)

#: What the output of several machines puts before these lines.
_HOST = re.compile(r"<[^<>\s]{1,255}> ?", re.ASCII)

BINARY: Mapping[str | None, int] = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    None: 1,
    "": 1,
    "K": 2**10,
    "M": 2**20,
    "G": 2**30,
    "T": 2**40,
    "P": 2**50,
}
#: With `kb_base=1000` fio prints sizes in multiples of 1000.
_UNITS = {**BINARY, "kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Header:
    """One section as fio prints it.

    Attributes
    ----------
    name : str
    group : int
    options : dict
        rw, bs, ioengine and iodepth, as far as the line holds them.
    """

    name: str
    group: int
    options: Mapping[str, str]


def without_host(line: str) -> str:
    """Return a line without the name of the machine that printed it (`fio --client`)."""
    return _HOST.sub("", line, count=1) if line.startswith("<") else line


def header_of(line: str) -> Header | None:
    """Return the section that a line announces, or None."""
    match = _HEADER.match(line)
    if match is None:
        return None
    options = {"rw": match["rw"]}
    sizes: dict[str, str] = {}
    for letter, low, low_unit, high, high_unit in _BLOCK.findall(match["rest"]):
        try:
            ends = (round(float(low) * _UNITS[low_unit]), round(float(high) * _UNITS[high_unit]))
        except ValueError:
            continue
        sizes[_LETTER[letter]] = f"{ends[0]}-{ends[1]}"
    for name in ("ioengine", "iodepth"):
        if found := re.search(rf"\b{name}=([\w.:/-]+)", match["rest"]):
            options[name] = found[1]
    if len(sizes) == len(_LETTER):
        options["bs"] = ",".join(sizes[direction] for direction in _LETTER.values())
    elif found := _OLD_BLOCKS.search(match["rest"]):
        ranges = [_OLD_BLOCK.match(piece) for piece in re.split("[,/]", found[1])]
        if all(ranges):
            options["bs"] = ",".join(_range_bytes(piece) for piece in ranges if piece)
    return Header(match["name"], int(match["group"]), options)


def _range_bytes(match: re.Match[str]) -> str:
    return f"{round(float(match[1]) * BINARY[match[2]])}-{round(float(match[3]) * BINARY[match[4]])}"


def n_started(line: str) -> int | None:
    """Return the processes and threads that a line says are started; None for any other line."""
    match = _STARTING.match(line.strip())
    return sum(map(int, re.findall(r"\d+", match[1]))) if match else None


def combined_patterns(sections: Sequence[Header]) -> dict[str, str] | None:
    """Return the pattern of each direction of sections that are reported as one; None where all have equal settings.

    A direction whose sections differ has the pattern "".
    """
    if len({tuple(sorted(section.options.items())) for section in sections}) < 2:
        return None
    found: dict[str, set[str]] = {}
    for section in sections:
        pattern = section.options["rw"]
        only = PURE_PATTERNS.get(pattern)
        for direction in [only] if only else ["read", "write"]:
            found.setdefault(direction, set()).add("random" if pattern.startswith("rand") else "sequential")
    return {direction: next(iter(kinds)) if len(kinds) == 1 else "" for direction, kinds in found.items()}

"""What is provisioned of a volume, in words: "6000 IOPS", "500 MB/s", "500GB", "full credits"."""

from __future__ import annotations

import re

_IOPS = re.compile(r"(?P<rate>\d[\d,.]*\s*k?)\s*(?:iops|io/s)", re.IGNORECASE)
_THROUGHPUT = re.compile(r"\d[\d,.]*\s*[kMGT]?i?[Bb](?:it)?/s")
_SIZE = re.compile(r"\d[\d,.]*\s*[GTP]i?B", re.IGNORECASE)
_CREDITS = re.compile(r"full(?:\s+burst)?\s+(?:credits|bucket)s?", re.IGNORECASE)
#: The size in the name of a volume: "aws-gp2-500GB".
_SIZED = re.compile(r"(?P<drive>\S+?)-(?P<size>\d+(?:\.\d+)?[GTP]i?B)", re.IGNORECASE)


def provision_of(part: str) -> dict[str, str]:
    """Return what a part of the words of an array provisions of a volume; nothing where it is about another thing.

    Examples
    --------
    >>> provision_of("6000 IOPS"), provision_of("1TB"), provision_of("strip 64KiB")
    ({'iops': '6000/s'}, {'capacity': '1TB'}, {})
    """
    text = part.strip()
    if rate := _IOPS.fullmatch(text):
        return {"iops": f"{rate['rate'].replace(' ', '')}/s"}
    if _THROUGHPUT.fullmatch(text):
        return {"throughput": text}
    if _SIZE.fullmatch(text):
        return {"capacity": text}
    return {"state": "full"} if _CREDITS.fullmatch(text) else {}


def sized(name: str) -> tuple[str, dict[str, str]] | None:
    """Return the name of a volume and what its own name says of its size; None where it says nothing."""
    found = _SIZED.fullmatch(name)
    return None if found is None else (found["drive"], {"capacity": found["size"]})

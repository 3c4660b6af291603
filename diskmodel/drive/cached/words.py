"""A cache before an array in words: "…, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback)"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from diskmodel.drive.cached.policies import MODES, OTHER_NAMES, POLICIES
from diskmodel.errors import DescriptionError, Fault

_CACHED = re.compile(
    r"^(?P<array>.*?)[\s,]+(?:and\s+)?cached\s+(?:by|on|with)\s+(?P<cache>.*)$", re.IGNORECASE | re.DOTALL
)
_CACHE = re.compile(r"^(?P<drives>[^()]+?)(?:\s*\((?P<how>[^()]*)\))?\s*$", re.DOTALL)
_SIZE = re.compile(r"(?:size\s+)?(?P<size>\d[\d.]*\s*[KMGT]i?B)", re.IGNORECASE)
_DIRTY = re.compile(
    r"(?P<ratio>\d[\d.]*\s*%)\s*dirty|(?:dirty|writeback[_ ]percent)\s*=?\s*(?P<after>\d[\d.]*\s*%?)", re.IGNORECASE
)
_CUTOFF = re.compile(r"(?:sequential[_ -]cutoff|cutoff|seq[_ -]cutoff)\s*=?\s*(?P<size>\S.*)", re.IGNORECASE)
_UNIT = re.compile(r"(?:chunks?(?:\s*size)?|lines?|blocks?)\s+(?:of\s+)?(?P<size>\d\S*(?:\s[KMG]i?B)?)", re.IGNORECASE)
_FLUSH = re.compile(r"flush(?:es)?\s*=?\s*(?:in\s+|of\s+)?(?P<time>\d\S*(?:\s*[mu]s)?)", re.IGNORECASE)
_WARM = re.compile(r"(?P<ratio>\d[\d.]*)\s*%\s*(?:warm|filled)", re.IGNORECASE)
#: What the cache holds at first, where it is not what lasts.
_STATES: Mapping[str, Mapping[str, Any]] = {
    "cold": {"warm_ratio": 0.0},
    "empty": {"warm_ratio": 0.0},
    "half warm": {"warm_ratio": 0.5},
    "full of dirty data": {"is_dirty": True},
    "room for dirty data": {"is_dirty": False},
}
_HOW = (
    'write for example "12x seagate-exos-x18 raid6, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback)"; in '
    "brackets bcache, dm-cache (lvmcache), dm-writecache or open-cas, its mode (writethrough, writeback, writearound, "
    'none), "20% dirty", "500GB", "sequential cutoff 0", "flush 600us", "cold" or "full of dirty data"'
)


def is_cached(words: str) -> bool:
    """Return whether words describe an array behind a cache.

    Examples
    --------
    >>> is_cached("12x exos-x18 raid6, cached by 7450-pro (bcache)"), is_cached("8x exos-x16 raid6, 1GiB cache")
    (True, False)
    """
    return _CACHED.match(words) is not None


def cached_of_words(words: str, of_words: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the volume that words describe.

    Parameters
    ----------
    words : str
    of_words : callable
        Returns the fields of the array, and of the cache's drives, that words describe.

    Raises
    ------
    DescriptionError
        When they have another form.
    """
    found = _CACHED.match(words)
    cache = _CACHE.match(found["cache"]) if found else None
    if found is None or cache is None or not found["array"].strip(" ,"):
        raise DescriptionError(Fault("array", words, "does not say which array is cached, and by what", _HOW))
    first, *more = (part.strip() for part in cache["drives"].split(","))
    array = _part(words, found["array"].strip(" ,"), of_words)
    drives = _part(words, first, of_words)
    fields: dict[str, Any] = {"kind": "cached", **array, "cache": drives}
    said = [*more, *re.split(r"[,;]|\s+(?=(?:write\S*|wt|wb|wa)\s*$)", cache["how"] or "")]
    for part in filter(None, (" ".join(text.split()) for text in said)):
        for own in _own(words, part):
            _put(fields, own, words)
    return fields


def _part(words: str, part: str, of_words: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    own = dict(of_words(part))
    own.pop("name", None)
    for name in [name for name, value in own.items() if not value]:
        del own[name]
    beside = sorted(own.keys() - {"drive", "layout"})
    if beside:
        rule = f"has {' and '.join(beside)} beside the drives {part!r}, which is not modeled with a cache on SSDs"
        raise DescriptionError(Fault("array", words, rule, "leave it out"))
    return own


def _own(words: str, part: str) -> list[dict[str, Any]]:
    """Return the fields that a part of what is in brackets gives."""
    plain = part.lower()
    if plain in MODES:
        return [{"mode": MODES[plain]}]
    if OTHER_NAMES.get(plain, plain) in POLICIES:
        return [{"software": OTHER_NAMES.get(plain, plain)}]
    if plain in _STATES:
        return [dict(_STATES[plain])]
    if warm := _WARM.fullmatch(part):
        return [{"warm_ratio": float(warm["ratio"]) / 100}]
    if dirty := _DIRTY.fullmatch(part):
        ratio = (dirty["ratio"] or dirty["after"]).replace(" ", "")
        return [{"dirty": ratio if "%" in ratio else f"{ratio}%"}]
    if cutoff := _CUTOFF.fullmatch(part):
        return [{"sequential_cutoff": "0 B" if cutoff["size"].strip() == "0" else cutoff["size"]}]
    if flush := _FLUSH.fullmatch(part):
        return [{"flush": flush["time"]}]
    if unit := _UNIT.fullmatch(part):
        return [{"unit": unit["size"]}]
    if size := _SIZE.fullmatch(part):
        return [{"size": size["size"]}]
    name, _, rest = plain.partition(" ")
    if rest and OTHER_NAMES.get(name, name) in POLICIES:
        return [{"software": OTHER_NAMES.get(name, name)}, *_own(words, rest)]
    raise DescriptionError(Fault("array", words, f"has {part!r}, which is not known of a cache", _HOW))


def _put(fields: dict[str, Any], own: dict[str, Any], words: str) -> None:
    for name, value in own.items():
        place = fields["cache"] if name == "size" else fields
        if name in place and name != "drive":
            raise DescriptionError(Fault("array", words, f"says {name} twice", "leave one of them out"))
        place[name] = value


#: Fields of `cached_by` in a file that belong to the cache's drives; all others to the program.
_OF_DRIVES = ("drive", "layout", "level", "disks", "strip", "size", "size_bytes")


def behind_a_cache(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a volume from those of an array with `cached_by`.

    Examples
    --------
    >>> found = behind_a_cache({"drive": "generic-7k2", "cached_by": {"drive": "micron-7450-pro-1920", "mode": "wb"}})
    >>> found["drive"], found["cache"], found["mode"]
    ('generic-7k2', {'drive': 'micron-7450-pro-1920'}, 'wb')
    """
    by = data["cached_by"]
    if not isinstance(by, Mapping):
        rule = 'must be a table; write for example cached_by = { drive = "micron-7450-pro-1920", mode = "writeback" }'
        raise ValueError(f"cached_by={by!r}: {rule}")
    own = {name: value for name, value in by.items() if name not in _OF_DRIVES}
    drives = {name: value for name, value in by.items() if name in _OF_DRIVES}
    array = {name: data[name] for name in ("drive", "layout") if name in data}
    return {"kind": "cached", **array, **own, "cache": drives}

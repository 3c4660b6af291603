"""Columns of sysstat's programs and their like, and what their cells mean.

sysstat's kB are 1024 bytes. Solaris' and FreeBSD's iostat have the same figures under other names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from diskmodel.formats.faults import LineError

_MS, _KB, _MB, _GB, _SECTOR = 1e6, 1024.0, 1024.0**2, 1024.0**3, 512.0

#: Column or key → series and the factor to its unit. Older versions of sysstat used other names.
FIGURES: dict[str, tuple[str, float]] = {
    # requests per second
    "r/s": ("reads_per_s", 1),
    "w/s": ("writes_per_s", 1),
    "tps": ("ios_per_s", 1),
    "rtps": ("reads_per_s", 1),
    "wtps": ("writes_per_s", 1),
    "d/s": ("discards_per_s", 1),
    "dtps": ("discards_per_s", 1),
    "f/s": ("flushes_per_s", 1),
    # bytes per second
    "rkB/s": ("read_bytes_per_s", _KB),
    "wkB/s": ("write_bytes_per_s", _KB),
    "rMB/s": ("read_bytes_per_s", _MB),
    "wMB/s": ("write_bytes_per_s", _MB),
    "rGB/s": ("read_bytes_per_s", _GB),
    "wGB/s": ("write_bytes_per_s", _GB),
    "rsec/s": ("read_bytes_per_s", _SECTOR),
    "wsec/s": ("write_bytes_per_s", _SECTOR),
    "rd_sec/s": ("read_bytes_per_s", _SECTOR),
    "wr_sec/s": ("write_bytes_per_s", _SECTOR),
    "rkB": ("read_bytes_per_s", _KB),
    "wkB": ("write_bytes_per_s", _KB),
    "kB_read/s": ("read_bytes_per_s", _KB),
    "kB_wrtn/s": ("write_bytes_per_s", _KB),
    "MB_read/s": ("read_bytes_per_s", _MB),
    "MB_wrtn/s": ("write_bytes_per_s", _MB),
    "GB_read/s": ("read_bytes_per_s", _GB),
    "GB_wrtn/s": ("write_bytes_per_s", _GB),
    "Blk_read/s": ("read_bytes_per_s", _SECTOR),
    "Blk_wrtn/s": ("write_bytes_per_s", _SECTOR),
    "bread/s": ("read_bytes_per_s", _SECTOR),
    "bwrtn/s": ("write_bytes_per_s", _SECTOR),
    "kB_w+d/s": ("written_or_discarded", _KB),
    "MB_w+d/s": ("written_or_discarded", _MB),
    "GB_w+d/s": ("written_or_discarded", _GB),
    "Blk_w+d/s": ("written_or_discarded", _SECTOR),
    "kB/s": ("bytes_per_s", _KB),
    "MB/s": ("bytes_per_s", _MB),
    "GB/s": ("bytes_per_s", _GB),
    "sec/s": ("bytes_per_s", _SECTOR),
    "kr/s": ("read_bytes_per_s", _KB),
    "kw/s": ("write_bytes_per_s", _KB),
    "Mr/s": ("read_bytes_per_s", _MB),
    "Mw/s": ("write_bytes_per_s", _MB),
    "kB_dscd/s": ("discard_bytes_per_s", _KB),
    "MB_dscd/s": ("discard_bytes_per_s", _MB),
    "GB_dscd/s": ("discard_bytes_per_s", _GB),
    "Blk_dscd/s": ("discard_bytes_per_s", _SECTOR),
    "dkB/s": ("discard_bytes_per_s", _KB),
    "dMB/s": ("discard_bytes_per_s", _MB),
    "dkB": ("discard_bytes_per_s", _KB),
    "bdscd/s": ("discard_bytes_per_s", _SECTOR),
    # mean sizes of requests
    "rareq-sz": ("read_size", _KB),
    "wareq-sz": ("write_size", _KB),
    "areq-sz": ("size", _KB),
    "avgrq-sz": ("size", _SECTOR),
    # waiting times
    "r_await": ("read_await_ns", _MS),
    "w_await": ("write_await_ns", _MS),
    "await": ("await_ns", _MS),
    "f_await": ("flush_await_ns", _MS),
    "svc_t": ("await_ns", _MS),
    "ms/r": ("read_await_ns", _MS),
    "ms/w": ("write_await_ns", _MS),
    "ms/t": ("await_ns", _MS),
    # queue and utilization
    "aqu-sz": ("queue_length", 1),
    "avgqu-sz": ("queue_length", 1),
    "qlen": ("queue_length", 1),
    "wait": ("waiting", 1),
    "actv": ("served", 1),
    "util": ("utilization_ratio", 0.01),
    "%util": ("utilization_ratio", 0.01),
    "util-percent": ("utilization_ratio", 0.01),
    "%b": ("utilization_ratio", 0.01),
}

#: Half a unit of the last digit that programs print; `--dec=0` leaves out the decimals.
_ROUNDING = 0.005

#: Sizes and bytes of one row that differ by more than rounding and this share contradict each other.
_AGREES = 0.02

#: With `--human` cells carry a unit; s: sectors.
_UNIT_BYTES = {
    "s": 512.0,
    "B": 1.0,
    "k": 1024.0,
    "K": 1024.0,
    "M": 1024.0**2,
    "G": 1024.0**3,
    "T": 1024.0**4,
    "P": 1024.0**5,
}
_CELL = re.compile(r"([+-]?\d{1,300}(?:[.,]\d{1,300})?)([sBkKMGTP]?)%?\Z", re.ASCII)

#: Beyond any device: requests per second, bytes per second, bytes a request. Differences of counters that wrapped or
#: were reset reach 4e8 and 2e11 and more; the fastest arrays of today do 1e8 and 1e12, and no request is this long.
_MAX_IOPS, _MAX_BYTES_PER_S, _MAX_REQUEST_BYTES = 1e8, 1e12, 2.0**28

#: Largest figure of a document that is taken at all; keeps products of them finite.
MAX_FIGURE = 1e15
RULE = f"must be a number from 0 to {MAX_FIGURE:g}"

#: A device's figures in one sample; None where its counters wrapped or were reset.
Figures = dict[str, float] | None
Sample = dict[str, Figures]


def n_known(words: list[str]) -> int:
    """Return how many of the words are columns that are read."""
    return sum(word in FIGURES for word in words)


def figures_of(header: list[str], cells: list[str], number: int, line: str, source: str) -> Figures:
    """Return a row's figures by series.

    Raises
    ------
    LineError
        For a cell of a known column that is no number, or another number of cells than the header has.
    """
    found: dict[str, float] = {}
    errors: dict[str, float] = {}
    is_wrapped = False
    if len(cells) != len(header):
        raise LineError(source, number, 0, "", line, f"has {len(cells)} figures instead of {len(header)}")
    for place, (name, cell) in enumerate(zip(header, cells, strict=True), start=1):
        if name not in FIGURES:
            continue
        # Some locales write a comma.
        match = _CELL.match(cell)
        if match is None:
            if cell.lstrip("+-").lower() in ("nan", "inf"):
                is_wrapped = True
                continue
            raise LineError(source, number, place, name, line, RULE)
        value = float(match[1].replace(",", "."))
        series, factor = FIGURES[name]
        if match[2]:
            factor = _UNIT_BYTES[match[2]] if factor not in (1, 0.01, _MS) else 1000.0 ** "BkMGTP".find(match[2])
        is_wrapped = is_wrapped or value < -0.005 or value > MAX_FIGURE
        found[series] = max(value, 0.0) * factor
        errors[series] = rounding(match[1]) * factor
    return None if is_wrapped else completed(found, errors)


def rounding(printed: str) -> float:
    """Return by how much a printed number may differ from the exact one: half a unit of its last digit."""
    decimals = printed.replace(",", ".").partition(".")[2]
    return 0.5 * 10.0 ** -len(decimals)


def completed(found: dict[str, float], errors: Mapping[str, float] | None = None) -> Figures:
    """Return figures with sums, means and sizes where a program gives only the parts; None where counters wrapped.

    `errors` holds by how much each figure may differ from the exact one, in its own unit: programs print few digits.
    """
    errors = errors or {}
    sizes = {"size", "read_size", "write_size"}
    error_of = {name: errors.get(name, _ROUNDING * (_KB if name in sizes else 1.0)) for name in (*found, *sizes)}
    if "written_or_discarded" in error_of:
        error_of["write_bytes_per_s"] = error_of["written_or_discarded"]
    for kind in ("read", "write"):
        count, size = found.get(f"{kind}s_per_s"), found.pop(f"{kind}_size", None)
        series = f"{kind}_bytes_per_s"
        if count and size and series in found:
            product = count * size
            error = error_of[series]
            product_error = product * (error_of[f"{kind}_size"] / size + error_of[f"{kind}s_per_s"] / count)
            if abs(product - found[series]) > error + product_error + _AGREES * found[series]:
                found["has_other_sizes"] = 1.0
            # 0.01 MB/s is too coarse for few requests: the product of count and size may be finer.
            elif not found[series] or product_error / product < error / found[series]:
                found[series] = product
    reads, writes = found.get("reads_per_s"), found.get("writes_per_s")
    if reads is not None and writes is not None:
        found.setdefault("ios_per_s", reads + writes)
        if "read_await_ns" in found and "write_await_ns" in found and reads + writes > 0:
            total = reads * found["read_await_ns"] + writes * found["write_await_ns"]
            found.setdefault("await_ns", total / (reads + writes))
    if "waiting" in found and "served" in found:
        found.setdefault("queue_length", found.pop("waiting") + found.pop("served"))
    if "written_or_discarded" in found:
        found["write_bytes_per_s"] = found.pop("written_or_discarded")
        found["has_discards_in_writes"] = 1.0
    size = found.pop("size", None)
    if size and found.get("ios_per_s") and not found.get("discards_per_s") and not found.get("discard_bytes_per_s"):
        _compare_sizes(found, size, error_of)
    if "read_bytes_per_s" in found and "write_bytes_per_s" in found:
        is_coarse = size and not (found["read_bytes_per_s"] and found["write_bytes_per_s"])
        if is_coarse and found.get("reads_per_s") and found.get("writes_per_s"):
            found.setdefault("bytes_per_s", found["ios_per_s"] * (size or 0.0))  # 0.00 MB/s of so many is not nothing
        found.setdefault("bytes_per_s", found["read_bytes_per_s"] + found["write_bytes_per_s"])
    elif size is not None and "ios_per_s" in found:
        found.setdefault("bytes_per_s", found["ios_per_s"] * size)
    ios, n_bytes = found.get("ios_per_s", 0.0), found.get("bytes_per_s", 0.0)
    is_wrapped = ios > _MAX_IOPS or n_bytes > _MAX_BYTES_PER_S or (ios > 0 and n_bytes / ios > _MAX_REQUEST_BYTES)
    return None if is_wrapped or not all(map(math.isfinite, found.values())) else found


def _compare_sizes(found: dict[str, float], size: float, error_of: Mapping[str, float]) -> None:
    """Notice a mean size of all requests that contradicts their number and bytes."""
    if "read_bytes_per_s" not in found or "write_bytes_per_s" not in found:
        return
    n_bytes, product = found["read_bytes_per_s"] + found["write_bytes_per_s"], found["ios_per_s"] * size
    error = error_of["read_bytes_per_s"] + error_of["write_bytes_per_s"]
    count_error = error_of.get("ios_per_s") or error_of["reads_per_s"] + error_of["writes_per_s"]
    error += product * (error_of["size"] / size + count_error / found["ios_per_s"])
    if abs(product - n_bytes) > error + _AGREES * n_bytes:
        found["has_other_sizes"] = 1.0

"""What was measured, in a line of words: "300/s, await 76ms, 100% busy" becomes a measured load."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from diskmodel.errors import DescriptionError, Fault
from diskmodel.explanation.measured import Measured
from diskmodel.options import USUAL_LOAD, USUAL_STREAM
from diskmodel.units import SUFFIXES, binary_bytes, in_digits, parse
from diskmodel.workload import LARGE_BYTES, Workload

#: Option of the command, and examples that its messages give.
OPTION = "--measured"
EXAMPLES = '"300/s, await 76ms, 100% busy" or "45 MB/s, 1M, sync writes"'
#: Share of the time from which a device counts as asked for all that it can do; and requests in flight from which one
#: does of which that is not known, as in recordings.
_BUSY, _IN_FLIGHT = 0.9, 1.0
#: Length of the measurement that is assumed, s: it decides how much chance a figure has, as a minute of iostat does.
_SECONDS = 60.0

#: What sizes that follow from two rates are rounded to, bytes: a page.
_PAGE = 4096

_NUMBER = r"\d[\d,_]*(?:\.\d+)?"
_TIME = rf"(?P<time>{_NUMBER}\s*(?:ns|us|µs|ms|s))"


@dataclass
class _Said:
    """Figures of a line.

    Attributes
    ----------
    rate_per_s, bytes_per_s, busy_ratio, size_bytes, read_ratio, depth : optional
    parts_per_s : dict of str to float
        Rates of "reads" and "writes".
    times_ns : dict of str to float
        By figure: "mean", "reads.mean", "writes.p99".
    is_sequential : bool or None
    sync : str
        As a stream has it, "none" for none.
    """

    rate_per_s: float | None = None
    bytes_per_s: float | None = None
    busy_ratio: float | None = None
    size_bytes: int | None = None
    read_ratio: float | None = None
    depth: int | None = None
    parts_per_s: dict[str, float] = field(default_factory=dict)
    times_ns: dict[str, float] = field(default_factory=dict)
    is_sequential: bool | None = None
    sync: str = "none"


def _value(text: str, suffix: str) -> float:
    return float(parse(text.replace(",", ""), cast("dict[str, Any]", SUFFIXES[suffix])))


def _rate(said: _Said, found: re.Match[str]) -> None:
    rate = float(found["number"].replace(",", ""))
    if not found["of"]:
        said.rate_per_s = rate
        return
    of = "reads" if found["of"].lower().startswith("r") else "writes"
    said.parts_per_s[of] = rate
    said.rate_per_s = sum(said.parts_per_s.values())
    said.read_ratio = said.parts_per_s.get("reads", 0.0) / said.rate_per_s if said.rate_per_s else None


def _throughput(said: _Said, found: re.Match[str]) -> None:
    unit = {"mb/s": "MB/s", "gb/s": "GB/s", "kb/s": "kB/s"}.get(found["unit"].lower(), found["unit"])
    said.bytes_per_s = _value(f"{found['number']} {unit}", "_bytes_per_s")


def _time(said: _Said, found: re.Match[str]) -> None:
    what = (found["what"] or "").lower()
    part = {"r": "reads.", "w": "writes."}.get(what[:1], "") if what.endswith("_await") else ""
    statistic = what if re.fullmatch(r"p(50|95|99)", what) else "mean"
    said.times_ns[f"{part}{statistic}"] = _value(found["time"], "_ns")


def _busy(said: _Said, found: re.Match[str]) -> None:
    said.busy_ratio = float(found["percent"]) / 100


def _size(said: _Said, found: re.Match[str]) -> None:
    said.size_bytes = _bytes_of(found["size"].replace(" ", ""))


def _bytes_of(size: str) -> int:
    """Return the size of a request as descriptions have it."""
    return Workload.parse({"size": size, "rate": "1/s", "read_ratio": 1}).streams[0].sizes[0].size_bytes


def _mix(said: _Said, found: re.Match[str]) -> None:
    share = float(found["percent"]) / 100
    said.read_ratio = share if found["of"].lower().startswith("read") else 1 - share


def _kind(said: _Said, found: re.Match[str]) -> None:
    text = found[0].lower()
    if "rand" in text:
        said.is_sequential = False
    elif "seq" in text:
        said.is_sequential = True
    if "write" in text:
        said.read_ratio = 0.0
    elif "read" in text:
        said.read_ratio = 1.0


def _depth(said: _Said, found: re.Match[str]) -> None:
    said.depth = (said.depth or 1) * int(found["depth"])


def _in_flight(said: _Said, found: re.Match[str]) -> None:
    said.depth = max(round(float(found["number"])), 1)


def _sync(said: _Said, found: re.Match[str]) -> None:
    word = found["sync"].lower()
    said.sync = {"sync": "dsync", "o_sync": "dsync", "o_dsync": "dsync"}.get(word, word)
    said.read_ratio = 0.0


#: What a part of the line may be, and what it sets; the first that fits.
_PARTS: tuple[tuple[re.Pattern[str], Callable[[_Said, re.Match[str]], None]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (rf"(?P<number>{_NUMBER})\s*(?P<unit>[kmg]i?b/s|mbit/s|gbit/s)", _throughput),
        (rf"(?P<number>{_NUMBER})\s*(?:(?P<of>reads?|writes?)\s*)?(?:/s|iops|tps|requests/s|per second)", _rate),
        (rf"(?P<number>{_NUMBER})\s*(?P<of>reads?|writes?|[rw])\s*(?:/s|a second|per second)", _rate),
        (r"(?P<percent>\d+(?:\.\d+)?)\s*%\s*(?:busy|util(?:ization)?|utilized)", _busy),
        (r"(?:%?util(?:ization)?|busy)\s*(?P<percent>\d+(?:\.\d+)?)\s*%?", _busy),
        (r"(?P<percent>\d+(?:\.\d+)?)\s*%\s*(?P<of>reads?|writes?)", _mix),
        (
            r"(?:(?P<what>[rw]_await|await|mean|average|avg|latency|response(?: time)?|p50|p95|p99)\s*(?:of\s*)?)?"
            rf"{_TIME}",
            _time,
        ),
        (
            r"(?:iodepth|depth|qd|queue depth|clients|outstanding|threads|(?:num)?jobs)\s*=?\s*(?P<depth>\d{1,5})",
            _depth,
        ),
        (rf"(?:avgqu-sz|aqu-sz)\s*=?\s*(?P<number>{_NUMBER})", _in_flight),
        (r"(?P<depth>\d{1,5})\s*(?:outstanding|clients?|threads?|jobs?|deep|in flight)", _depth),
        (r"(?:bs|block|size|blocks? of)?\s*=?\s*(?P<size>\d+(?:\.\d+)?\s*[kmg](?:i?b)?)(?:\s*blocks?)?", _size),
        (r"(?P<sync>o_sync|o_dsync|sync|dsync|fsync|fdatasync)(?:\s*writes?|=1)?", _sync),
        (r"(?:(?:random|rand|sequential|seq)[\s-]*)?(?:reads?|writes?)", _kind),
        (r"random|rand|sequential|seq", _kind),
        (r"direct|o_direct|direct\s*=\s*1", lambda said, found: None),  # as everything here is taken to be
    )
)
#: Where a line is divided: at commas and semicolons, and not within a number ("1,200/s").
_DIVIDERS = re.compile(r"\s*(?:[;\n]|:(?=\s)|[-=]>|,(?!\d{3}(?!\d))|\band\b|\bat\b|\bwith\b)\s*")


def measured_in_words(text: str) -> Measured:
    """Return the measured load that a line describes.

    Parameters
    ----------
    text : str
        A rate ("300/s", "300 IOPS") or a throughput ("45 MB/s"); where they are known the latency ("await 76ms", "p99
        200ms", "r_await 9ms"), how busy the device was ("100% busy"), and the load: size ("8k"), "random reads", "70%
        reads", "sequential", how many were outstanding ("iodepth 32", "4 jobs") and "sync", "fsync" or "fdatasync".

    Raises
    ------
    DescriptionError
        When a part is none of these, or what is said does not determine a load.

    Examples
    --------
    >>> found = measured_in_words("300/s, await 76ms, 100% busy, 8k random reads")
    >>> found.figures["iops"], found.workload.queue_depth
    (300.0, 23)
    """
    said = _Said()
    for part in filter(None, _DIVIDERS.split(text.strip())):
        _put(said, part, text)
    notes: list[str] = []
    size = _size_of(said, notes)
    if said.rate_per_s is None and said.bytes_per_s is not None:
        said.rate_per_s = said.bytes_per_s / size
    elif said.rate_per_s is not None and said.bytes_per_s is not None and not 0.8 < _ratio(said, size) < 1.25:
        fix = "check the size of the requests, or name only one of the rates"
        mb = in_digits(said.bytes_per_s / 1e6)
        rule = f"has {in_digits(said.rate_per_s)}/s of {binary_bytes(size)} and {mb} MB/s, which do not agree"
        raise DescriptionError(Fault(OPTION, text, rule, fix))
    means = [value for name, value in said.times_ns.items() if name.endswith("mean")]
    if said.rate_per_s is None:
        if said.depth is None or not means:
            raise DescriptionError(Fault(OPTION, text, "has neither a rate nor MB/s", f"write for example {EXAMPLES}"))
        said.rate_per_s = said.depth * 1e9 / (sum(means) / len(means))
    reads = _reads_of(said, size, text, notes)
    load: dict[str, Any] = {"name": text[:120], "size": f"{size} B", "read_ratio": reads}
    if _is_sequential(said, size, notes):
        load["addresses"] = {"pattern": "sequential"}
    if said.sync != "none":
        load["sync"] = said.sync
    clients = _clients(said, means, text, notes)
    load |= {"clients": clients} if clients else {"rate": f"{said.rate_per_s!r}/s"}
    figures = {"iops": said.rate_per_s} if clients else {}
    parts = {part: share for part, share in (("reads", reads), ("writes", 1 - reads)) if share}
    for name, value in said.times_ns.items():
        part, _, statistic = name.rpartition(".")
        if part and part not in parts:
            rule, fix = f"has a latency of {part}, of which there are none", f"say for example 70% {part}"
            raise DescriptionError(Fault(OPTION, text, rule, fix))
        if not part and len(parts) > 1:
            if clients and statistic == "mean":
                continue  # it follows from the rate and what was outstanding
            fix = "give r_await and w_await, as iostat -x prints them, or say 100% reads"
            raise DescriptionError(Fault(OPTION, text, "has one latency of reads and writes together", fix))
        figures[f"{part or next(iter(parts))}.{statistic}"] = value
    if not figures:
        fix = "add its latency (await 76ms), or say 100% busy"
        raise DescriptionError(Fault(OPTION, text, "has no figure that an array decides: its rate was asked for", fix))
    n = {part: share * said.rate_per_s * _SECONDS for part, share in parts.items()}
    return Measured(text[:120], Workload.parse(load, text), figures, n, tuple(notes))


def _put(said: _Said, part: str, text: str) -> None:
    """Set what a part of the line says; several that stand behind each other are read one by one."""
    for pattern, put in _PARTS:
        if found := pattern.fullmatch(part):
            put(said, found)
            return
    words = part.split()
    for at in range(len(words) - 1, 0, -1):
        head = " ".join(words[:at])
        if any(pattern.fullmatch(head) for pattern, _ in _PARTS):
            _put(said, head, text)
            _put(said, " ".join(words[at:]), text)
            return
    raise DescriptionError(Fault(OPTION, text, f"has {part!r}, which is no figure", f"write for example {EXAMPLES}"))


def _ratio(said: _Said, size: int) -> float:
    assert said.rate_per_s is not None
    assert said.bytes_per_s is not None
    return said.rate_per_s * size / said.bytes_per_s


def _size_of(said: _Said, notes: list[str]) -> int:
    """Return the size of the requests: as it is said, or as the rates have it, or the usual one."""
    if said.size_bytes is not None:
        return said.size_bytes
    if said.rate_per_s and said.bytes_per_s:
        size = max(round(said.bytes_per_s / said.rate_per_s / _PAGE) * _PAGE, 512)
        notes.append(f"requests of {binary_bytes(size)}, as the rate and the MB/s have it")
        return size
    usual = USUAL_STREAM if said.bytes_per_s else USUAL_LOAD
    size = _bytes_of(usual["--block"])
    notes.append(f"assumed: requests of {binary_bytes(size)}; say their size, for example 64k")
    return size


def _reads_of(said: _Said, size: int, text: str, notes: list[str]) -> float:
    """Return the share of reads: as it is said, or the usual one of random requests."""
    if said.read_ratio is not None:
        return said.read_ratio
    parts = {name.partition(".")[0] for name in said.times_ns if "." in name}
    if len(parts) == 1:
        return 1.0 if parts == {"reads"} else 0.0
    if said.is_sequential or (said.bytes_per_s and size >= LARGE_BYTES):
        fix = f"say reads or writes, for example {EXAMPLES}"
        raise DescriptionError(Fault(OPTION, text, "does not say whether it reads or writes", fix))
    notes.append(f"assumed: {USUAL_LOAD['--reads']} reads; say for example 100% reads")
    return float(USUAL_LOAD["--reads"].rstrip("%")) / 100


def _is_sequential(said: _Said, size: int, notes: list[str]) -> bool:
    """Return whether the requests go in order; large ones of a throughput are taken to."""
    if said.is_sequential is not None:
        return said.is_sequential
    if said.bytes_per_s is None or size < LARGE_BYTES:
        return False
    notes.append("assumed: large requests in order; say random where they are not")
    return True


def _clients(said: _Said, means: list[float], text: str, notes: list[str]) -> int:
    """Return how many requests were outstanding where the array decides the rate; 0 where those who ask do."""
    if said.depth is not None:
        return said.depth
    assert said.rate_per_s is not None
    in_flight = said.rate_per_s * sum(means) / len(means) / 1e9 if means else None
    if in_flight is None:
        if said.sync != "none":
            notes.append("assumed: one writer that waits; say for example 4 jobs")
            return 1
        fix = "add iodepth 32, or its latency (await 76ms)"
        raise DescriptionError(Fault(OPTION, text, "does not say how many requests were outstanding", fix))
    is_full = in_flight >= _IN_FLIGHT if said.busy_ratio is None else said.busy_ratio >= _BUSY
    if not is_full:
        return 0
    clients = max(round(in_flight), 1)
    notes.append(f"{in_digits(in_flight)} requests were in flight on average: {clients} outstanding are compared")
    return clients

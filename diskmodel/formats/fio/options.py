"""fio's options: numbers with its suffixes, patterns, block sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from diskmodel.errors import Fault, FormatError

#: Engines that have one request in flight whatever `iodepth` says.
SYNCHRONOUS_ENGINES = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ftruncate"})

#: fio's names of access patterns, the aliases last, to the canonical name.
PATTERNS = {
    name: name for name in ("read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "randrw", "trimwrite",
                            "randtrimwrite")
} | {"readwrite": "rw"}  # fmt: skip

_ALIASES = {"readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "iodepth_": "iodepth", "mem": "iomem",
            "bs_split": "bssplit"}  # fmt: skip

_POWERS = "kmgtp"
_SIZE = re.compile(r"(\d{1,18})(?:([kmgtp])(i?)(?:b)?|b)?\Z", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(d|h|m|s|ms|msec|us|usec)?\Z", re.ASCII)
_TIME_NS = {"d": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "msec": 10**6,
            "us": 10**3, "usec": 10**3, None: 10**9}  # fmt: skip


def canonical(option: str) -> str:
    """The option's usual name."""
    option = option.strip()
    return _ALIASES.get(option, option)


def size_bytes(text: str, kb_base: int = 1024) -> int:
    """Bytes of a size as fio takes it: with `kb_base` 1024, its default, "4k" and "4kb" are 4096 and "4ki" is 4000.

    Raises
    ------
    ValueError
        When the text is no size.
    """
    match = _SIZE.match(text.strip())
    if match is None:
        raise ValueError("must be a size like 4k, 64kb or 1g")
    number, prefix, binary = match.groups()
    if prefix is None:
        return int(number)
    base = 1024 if (kb_base == 1024) != bool(binary) else 1000
    power = _POWERS.index(prefix.lower()) + 1
    return int(number) * int(base**power)


def time_ns(text: str) -> int:
    """Nanoseconds of a time as fio takes it; a bare number is in seconds.

    Raises
    ------
    ValueError
        When the text is no time.
    """
    match = _TIME.match(text.strip())
    if match is None:
        raise ValueError("must be a time like 30, 10s or 5m")
    return round(float(match[1]) * _TIME_NS[match[2]])


def mean_block_bytes(options: Mapping[str, str], kb_base: int = 1024) -> dict[str, float]:
    """Mean block size of reads, writes and trims.

    Raises
    ------
    ValueError
        For `bs`, `bsrange` or `bssplit` that cannot be understood.
    """
    if "bssplit" in options:
        means = [_split_mean(part, kb_base) for part in options["bssplit"].split(",")]
    elif "bsrange" in options:
        means = [_range_mean(part, kb_base) for part in options["bsrange"].split(",")]
    else:
        means = [_range_mean(part, kb_base) if part.strip() else 0.0 for part in options.get("bs", "4096").split(",")]
        # An empty place keeps the default.
        means = [mean or 4096.0 for mean in means]
    means += [means[-1]] * (3 - len(means))
    return dict(zip(("read", "write", "trim"), means, strict=False))


def _range_mean(text: str, kb_base: int) -> float:
    ends = [size_bytes(end, kb_base) for end in text.split("-")]
    if len(ends) > 2 or min(ends) == 0:
        raise ValueError("must be a size or a range like 4k-16k")
    return sum(ends) / len(ends)


def _split_mean(text: str, kb_base: int) -> float:
    sizes: list[tuple[int, float | None]] = []
    for part in text.split(":"):
        size, _, percent = part.partition("/")
        share = float(percent) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", percent) else None
        if percent and share is None:
            raise ValueError("must be sizes with percentages like 4k/60:64k/40")
        sizes.append((size_bytes(size, kb_base), share))
    given = sum(share for _, share in sizes if share is not None)
    n_open = sum(share is None for _, share in sizes)
    rest = max(100.0 - given, 0.0) / n_open if n_open else 0.0
    weights = [rest if share is None else share for _, share in sizes]
    if sum(weights) <= 0:
        raise ValueError("must have a percentage above 0")
    return sum(size * weight for (size, _), weight in zip(sizes, weights, strict=True)) / sum(weights)


class Told:
    """What a job's options say; every fault of them is told at once.

    Raises
    ------
    FormatError
    """

    def __init__(self, options: Mapping[str, str], source: str = "") -> None:
        known = {canonical(name): value for name, value in options.items()}
        self._known = known
        self._faults: list[Fault] = []
        kb_base = 1000 if known.get("kb_base", "").strip() == "1000" else 1024
        self.pattern = self._pattern()
        self.read_fraction = self._read_fraction()
        self.depth = self._whole("iodepth")
        self.n_jobs = self._whole("numjobs")
        self.engine = known["ioengine"].partition(":")[0].strip() if known.get("ioengine") else None
        self.is_direct = self._flag("direct", "buffered")
        self.block_bytes: dict[str, float] = {}
        try:
            self.block_bytes = mean_block_bytes(known, kb_base)
        except ValueError as error:
            name = next(name for name in ("bssplit", "bsrange", "bs") if name in known)
            self._faults.append(Fault(name, known[name], str(error)))
        if self._faults:
            raise FormatError(self._faults, source)

    def _pattern(self) -> str | None:
        text = self._known.get("rw")
        if text is None:
            return None
        name = text.partition(":")[0].strip()
        if name not in PATTERNS:
            self._faults.append(Fault("rw", text, "must be one of " + ", ".join(PATTERNS)))
            return None
        return PATTERNS[name]

    def _read_fraction(self) -> float | None:
        pattern = self.pattern
        if pattern in ("rw", "randrw"):
            if "rwmixwrite" in self._known and "rwmixread" not in self._known:
                return 1 - self._percent("rwmixwrite", 50.0) / 100
            return self._percent("rwmixread", 50.0) / 100
        if pattern in ("read", "randread"):
            return 1.0
        return None if pattern is None else 0.0

    def _percent(self, name: str, default: float) -> float:
        text = self._known.get(name)
        if text is None:
            return default
        if not re.fullmatch(r"\d{1,3}", text.strip(), re.ASCII) or int(text) > 100:
            self._faults.append(Fault(name, text, "must be a percentage from 0 to 100"))
            return default
        return float(text)

    def _whole(self, name: str) -> int:
        text = self._known.get(name, "1").strip()
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) == 0:
            self._faults.append(Fault(name, text, "must be a whole number above 0"))
            return 1
        return int(text)

    def _flag(self, name: str, opposite: str) -> bool | None:
        for option, meaning in ((name, True), (opposite, False)):
            if option in self._known:
                text = self._known[option].strip()
                if text in ("", "1", "0"):
                    return meaning if text != "0" else not meaning
                self._faults.append(Fault(option, text, "must be 0 or 1"))
        return None

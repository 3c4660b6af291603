"""fio's options: numbers with its suffixes, patterns, block sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from diskmodel.errors import Fault, FormatError

#: Engines that have one request in flight whatever `iodepth` says: they carry FIO_SYNCIO in fio's sources.
SYNCHRONOUS_ENGINES = frozenset(
    {
        "sync",
        "psync",
        "vsync",
        "pvsync",
        "pvsync2",
        "mmap",
        "splice",
        "ftruncate",
        "http",
        "libhdfs",
        "gfapi",
        "ime_psync",
        "ime_psyncv",
        "libcufile",
        "libhipfile",
        "libzbc",
        "mtd",
        "libpmem",
        "dev-dax",
        "pmemblk",
        "net",
        "netsplice",
    }
)

#: The engine of a job that names none (Linux).
DEFAULT_ENGINE = "psync"

#: fio's names of access patterns, the aliases last, to the canonical name.
PATTERNS = {
    name: name
    for name in (
        "read",
        "write",
        "trim",
        "randread",
        "randwrite",
        "randtrim",
        "rw",
        "randrw",
        "trimwrite",
        "randtrimwrite",
    )
} | {"readwrite": "rw"}

_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "mem": "iomem",
    "ba": "blockalign",
    "start_delay": "startdelay",
    "io_limit": "io_size",
    "timeout": "runtime",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
}

#: A range of sizes is described by at most so many of them, evenly spaced: enough that mean and spread are right
#: within a percent; half as many would show in the largest sizes.
_MAX_RANGE_SIZES = 64

_POWERS = "kmgtp"
_SIZE = re.compile(r"(\d{1,18})(?:([kmgtp])(i?)(?:b)?|b)?\Z", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(d|h|m|s|ms|msec|us|usec)?\Z", re.ASCII)
_TIME_NS = {
    "d": 86400 * 10**9,
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "msec": 10**6,
    "us": 10**3,
    "usec": 10**3,
    None: 10**9,
}


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


Sizes = dict[int, float]


def block_sizes(options: Mapping[str, str], kb_base: int = 1024) -> dict[str, Sizes]:
    """Block sizes of reads, writes and trims: bytes → share of the requests.

    Raises
    ------
    ValueError
        For `bs`, `bsrange` or `bssplit` that cannot be understood.
    """
    if "bssplit" in options:
        found = [_split_sizes(part, kb_base) for part in options["bssplit"].split(",")]
    elif "bsrange" in options:
        found = [_range_sizes(part, kb_base) for part in re.split("[,/]", options["bsrange"])]
    else:
        parts = options.get("bs", "4096").split(",")
        # An empty place keeps the default.
        found = [_range_sizes(part, kb_base) if part.strip() else {4096: 1.0} for part in parts]
    found += [found[-1]] * (3 - len(found))
    return dict(zip(("read", "write", "trim"), found, strict=False))


def mean_bytes(sizes: Mapping[int, float]) -> float:
    """Mean of sizes that are weighted by their shares."""
    return sum(size * share for size, share in sizes.items()) / sum(sizes.values())


def _range_sizes(text: str, kb_base: int) -> Sizes:
    ends = [size_bytes(end, kb_base) for end in text.split("-")]
    if len(ends) > 2 or min(ends) == 0:
        raise ValueError("must be a size or a range like 4k-16k")
    low, high = min(ends), max(ends)
    # fio draws multiples of the smaller end, all alike.
    n = high // low
    if n <= _MAX_RANGE_SIZES:
        return {low * multiple: 1 / n for multiple in range(1, n + 1)}
    step = (high - low) / (_MAX_RANGE_SIZES - 1)
    return {low * round((low + step * place) / low): 1 / _MAX_RANGE_SIZES for place in range(_MAX_RANGE_SIZES)}


def _split_sizes(text: str, kb_base: int) -> Sizes:
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
    found: Sizes = {}
    for n_bytes, percent_of_it in sizes:
        found[n_bytes] = found.get(n_bytes, 0.0) + (rest if percent_of_it is None else percent_of_it)
    if sum(found.values()) <= 0 or min(found) == 0:
        raise ValueError("must have a percentage above 0")
    total = sum(found.values())
    return {n_bytes: weight / total for n_bytes, weight in found.items() if weight > 0}


class JobOptions:
    """A job's options, read; all faults of them are reported at once.

    Attributes
    ----------
    pattern : str or None
        fio's `rw`, by its canonical name; None without one.
    run_length, skip_bytes : int
        The number behind `rw`: requests before a new random place, or bytes from the end of one sequential request to
        the start of the next (below 0: backwards); 1 and 0 without one.
    read_fraction : float or None
    depth, n_jobs : int
    engine : str or None
    is_direct : bool or None
    sizes : dict of str to dict
        Direction → bytes → share of its requests.
    block_bytes : dict of str to float
        Direction → mean size.
    rates_per_s : dict of str to float
        Direction → requests per second that each clone of the job is held to; directions without a limit are absent.

    Raises
    ------
    FormatError
    """

    def __init__(self, options: Mapping[str, str], source: str = "") -> None:
        known = {canonical(name): value for name, value in options.items()}
        self._known = known
        self._faults: list[Fault] = []
        self._kb_base = 1000 if known.get("kb_base", "").strip() == "1000" else 1024
        self.run_length, self.skip_bytes = 1, 0
        self.pattern = self._pattern()
        self.read_fraction = self._read_fraction()
        self.depth = self._whole("iodepth")
        self.n_jobs = self._whole("numjobs")
        self.engine = known["ioengine"].partition(":")[0].strip() if known.get("ioengine") else None
        self.is_direct = self._flag("direct", "buffered")
        self.sizes: dict[str, Sizes] = {}
        self.block_bytes: dict[str, float] = {}
        try:
            self.sizes = block_sizes(known, self._kb_base)
            self.block_bytes = {direction: mean_bytes(sizes) for direction, sizes in self.sizes.items()}
        except ValueError as error:
            name = next(name for name in ("bssplit", "bsrange", "bs") if name in known)
            self._fault(name, known[name], str(error))
        self.rates_per_s = self._rates()
        if self._faults:
            raise FormatError(self._faults, source)

    def _fault(self, name: str, text: str, rule: str) -> None:
        fix = ""
        if "${" in text:
            rule, fix = f"depends on a variable of the environment; {rule}", "put its value into the file"
        elif "$" in text:
            rule, fix = f"depends on the machine that ran it; {rule}", "put its value into the file"
        self._faults.append(Fault(name, text, rule, fix))

    def _pattern(self) -> str | None:
        text = self._known.get("rw")
        if text is None:
            return None
        name, _, number = text.partition(":")
        name = name.strip()
        if name not in PATTERNS:
            self._fault("rw", text, "must be one of " + ", ".join(PATTERNS))
            return None
        if number.strip():
            sign = -1 if number.strip().startswith("-") else 1
            try:
                value = size_bytes(number.strip().lstrip("+-"), self._kb_base)
            except ValueError:
                self._fault("rw", text, "must have a number behind the colon")
                return PATTERNS[name]
            if PATTERNS[name].startswith("rand"):
                self.run_length = max(value, 1)
            else:
                self.skip_bytes = sign * value
        return PATTERNS[name]

    def _read_fraction(self) -> float | None:
        pattern = self.pattern
        if pattern in ("rw", "randrw"):
            # Of both the later one counts, as in fio.
            given = [name for name in self._known if name in ("rwmixread", "rwmixwrite")]
            percent = self._percent(given[-1], 50.0) if given else 50.0
            return 1 - percent / 100 if given and given[-1] == "rwmixwrite" else percent / 100
        if pattern in ("read", "randread"):
            return 1.0
        return None if pattern is None else 0.0

    def _rates(self) -> dict[str, float]:
        rates: dict[str, float] = {}
        if "rate" in self._known and "rate_iops" in self._known:
            self._fault("rate", self._known["rate"], "and rate_iops are both given; fio takes one of them")
        for name in ("rate", "rate_iops"):
            text = self._known.get(name)
            if text is None:
                continue
            # "500k" counts for all directions, "500k," for reads and ",500k" for writes.
            parts = text.strip().removesuffix(",").split(",")
            if "," not in text:
                parts *= 3
            for direction, part in zip(("read", "write"), parts, strict=False):
                if not part.strip():
                    continue
                try:
                    value = size_bytes(part, self._kb_base)
                except ValueError:
                    self._fault(name, text, "must be rates like 500k or 500k,100k")
                    break
                if value:
                    mean = self.block_bytes.get(direction, 4096.0) if name == "rate" else 1.0
                    rates[direction] = value / mean
        return rates

    def _percent(self, name: str, default: float) -> float:
        text = self._known.get(name)
        if text is None:
            return default
        digits = text.strip().removesuffix("%")
        if not re.fullmatch(r"\d{1,3}", digits, re.ASCII) or int(digits) > 100:
            self._fault(name, text, "must be a percentage from 0 to 100")
            return default
        return float(digits)

    def _whole(self, name: str) -> int:
        text = self._known.get(name, "1").strip()
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) == 0:
            self._fault(name, text, "must be a whole number above 0")
            return 1
        return int(text)

    def _flag(self, name: str, opposite: str) -> bool | None:
        for option, meaning in ((name, True), (opposite, False)):
            if option in self._known:
                text = self._known[option].strip()
                if text in ("", "1", "0"):
                    return meaning if text != "0" else not meaning
                self._fault(option, text, "must be 0 or 1")
        return None


def count(options: Mapping[str, str], name: str) -> int:
    """Return a count among the options; 0 where it is not given, or no count."""
    text = options.get(name, "").strip()
    return int(text) if text.isascii() and text.isdecimal() else 0


def is_synchronous(options: Mapping[str, str]) -> bool:
    """Return whether writes themselves wait until they are safe: files opened with O_SYNC or O_DSYNC."""
    return "sync" in options and options["sync"].strip() not in ("0", "none", "false")

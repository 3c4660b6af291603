"""What diskspd was asked to do: its targets in the text, or on the command line, as options of fio."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.formats.faults import file_error
from diskmodel.loading import dataclass

BINARY = {"": 1, "B": 1, "K": 2**10, "KIB": 2**10, "M": 2**20, "MIB": 2**20, "G": 2**30, "GIB": 2**30, "TIB": 2**40}
BINARY["T"] = BINARY["TIB"]


@dataclass(frozen=True)
class Target:
    """One file or disk and what is done to it, by each thread.

    Attributes
    ----------
    path : str
    block_bytes, write_percent, depth : int
    is_random : bool
    random_percent : int
        Of the requests, where they are mixed with sequential ones.
    alignment_bytes : int
        Of random places; from one sequential request to the next.
    is_interlocked : bool
        The threads share one sequence.
    is_direct, is_written_through : bool
    offset_bytes, thread_stride_bytes, file_bytes, max_bytes : int
        0 where there are none.
    think_ms, burst : int
        Pause after so many requests.
    limit_iops : float
        Of each thread; 0 for none.
    distribution : tuple of (float, float)
        Percent of the requests and size of the region, one after the other; a size of 0 is the rest.
    is_absolute : bool
        Sizes of `distribution` are bytes instead of percent.
    """

    path: str = "diskspd"
    block_bytes: int = 65536
    write_percent: int = 0
    depth: int = 2
    is_random: bool = False
    random_percent: int = 100
    alignment_bytes: int = 0
    is_interlocked: bool = False
    is_direct: bool = False
    is_written_through: bool = False
    offset_bytes: int = 0
    thread_stride_bytes: int = 0
    file_bytes: int = 0
    max_bytes: int = 0
    think_ms: int = 0
    burst: int = 0
    limit_iops: float = 0.0
    distribution: tuple[tuple[float, float], ...] = ()
    is_absolute: bool = False


def options_of(
    targets: Sequence[Target], n_threads: int, source: str, *, pool_threads: int = 0, pool_depth: int = 0
) -> tuple[dict[str, str], list[str]]:
    """Return a time span's targets as options of one job of fio, and notes on what these do not show.

    Parameters
    ----------
    targets : sequence of Target
    n_threads : int
        Threads that ran, of all targets.
    source : str
    pool_threads, pool_depth : int
        Threads that serve all targets together (-F), and their requests outstanding over all targets (-O).

    Raises
    ------
    FormatError
        When the targets have different settings.
    """
    first = targets[0]
    if len({replace(target, path="", file_bytes=0, max_bytes=0) for target in targets}) > 1:
        raise file_error(source, "holds targets of different settings", "test one at a time")
    depth = first.depth
    if pool_threads:
        depth = pool_depth or first.depth * len(targets)
    suffix = {0: "read", 100: "write"}.get(first.write_percent, "rw")
    options = {
        "rw": ("rand" if first.is_random else "") + suffix,
        "bs": str(first.block_bytes),
        "iodepth": str(max(depth, 1)),
        "numjobs": str(max(n_threads, 1)),
        "ioengine": "windowsaio",
        "direct": str(int(first.is_direct)),
        "filename": ":".join(target.path.replace(":", r"\:") for target in targets),  # fio separates files by colons
    }
    notes: list[str] = []
    if suffix == "rw":
        options["rwmixwrite"] = str(first.write_percent)
    if size := sum(_region(target) for target in targets if _region(target)):
        options["size"] = str(size)
    if first.offset_bytes:
        options["offset"] = str(first.offset_bytes)
    if first.is_written_through and first.write_percent:
        notes.append(
            "writes went through the caches (writethrough): here caches may answer them (turn write caches off in the "
            "array)"
        )
    notes += _places(first, options)
    if first.think_ms:
        options |= {"thinktime": f"{first.think_ms}ms", "thinktime_blocks": str(max(first.burst, 1))}
    if first.limit_iops > 0:
        reads = first.limit_iops * (1 - first.write_percent / 100)
        options["rate_iops"] = ",".join(f"{max(round(rate), 1)}" for rate in (reads, first.limit_iops - reads))
    return options, notes


def _region(target: Target) -> int:
    size = target.max_bytes or target.file_bytes
    return max(size - target.offset_bytes, 0)


def _places(target: Target, options: dict[str, str]) -> list[str]:
    notes: list[str] = []
    block, step = target.block_bytes, target.alignment_bytes or target.block_bytes
    if target.is_random:
        if step != block:
            options["blockalign"] = str(step)
        if target.random_percent < 100:
            options["percentage_random"] = str(target.random_percent)
    elif step != block:
        options["rw"] += f":{step - block}"
    if target.is_interlocked:
        notes.append("the threads share one sequence of places (-si); here each has one of its own")
    if target.thread_stride_bytes:
        notes.append(f"threads begin {target.thread_stride_bytes:,} bytes apart (-T), here anywhere in the region")
    if target.distribution:
        kind = "zoned_abs" if target.is_absolute else "zoned"
        zones = ":".join(f"{share:g}/{size:.0f}" if size else f"{share:g}/" for share, size in target.distribution)
        options["random_distribution"] = f"{kind}:{zones}"
    return notes


# ---------------------------------------------------------------- the section "Input parameters"

_SIZE = r"(\d{1,18})\s*((?:[KMGT](?:iB)?|B)?)"
_LINES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("block_bytes", re.compile(rf"block size: {_SIZE}", re.ASCII)),
    ("offset_bytes", re.compile(rf"base file offset: {_SIZE}", re.ASCII)),
    ("max_bytes", re.compile(rf"max file size: {_SIZE}", re.ASCII)),
    ("thread_stride_bytes", re.compile(rf"thread stride size: {_SIZE}", re.ASCII)),
    ("alignment_bytes", re.compile(rf"\((?:alignment|stride|alignment/stride): {_SIZE}", re.ASCII)),
)
_NUMBERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("depth", re.compile(r"number of outstanding I/O operations(?: per thread)?: (\d{1,9})", re.ASCII)),
    ("think_ms", re.compile(r"think time: (\d{1,9})ms", re.ASCII)),
    ("burst", re.compile(r"burst size: (\d{1,9})", re.ASCII)),
    ("random_percent", re.compile(r"mixed random/sequential I/O \((\d{1,3})% random\)", re.ASCII)),
)
_MIX = re.compile(r"performing (read|write|mix) test(?: \(read/write ratio: (\d{1,3})/(\d{1,3})\))?", re.ASCII)
_LIMIT = re.compile(r"throughput rate-limited to (\d{1,12}) (IOPS|B/ms)", re.ASCII)
_RANGE = re.compile(
    r"(\d{1,3}(?:\.\d{1,3})?)% of IO => \[\s*(\d{1,18}(?:\.\d{1,3})?)\s*(%|[KMGT]iB|B)?\s*-\s*"
    r"(?:(\d{1,18}(?:\.\d{1,3})?)\s*(%|[KMGT]iB|B)|end)",
    re.ASCII,
)


def text_targets(settings: str, source: str) -> list[Target]:
    """Return the targets of the text before the results, from its section of input parameters or its command line.

    Raises
    ------
    FormatError
        When neither says what was asked, or time spans have different settings.
    """
    blocks = re.split(r"^[ \t]*path: ", settings, flags=re.MULTILINE)[1:]
    if not blocks:
        command = command_of(settings)
        if command is None:
            raise file_error(source, "does not say what diskspd was asked to do", "use -Rxml")
        return _command_targets(command, source)
    n_spans = len(re.findall(r"^[ \t]*timespan:", settings, re.MULTILINE)) or 1
    targets = [_text_target(block, source) for block in blocks]
    each = len(targets) // n_spans
    if n_spans > 1 and targets != targets[:each] * n_spans:
        rule = "holds several targets or time spans of different settings"
        raise file_error(source, rule, "use -Rxml, or test one at a time")
    return targets[:each]


def _text_target(block: str, source: str) -> Target:
    path = re.match(r"(?:template target )?'(.*)'", block)
    found: dict[str, object] = {"path": path[1] if path else "diskspd"}
    for name, pattern in _LINES:
        if match := pattern.search(block):
            found[name] = int(match[1]) * BINARY[match[2].upper()]
    for name, pattern in _NUMBERS:
        if match := pattern.search(block):
            found[name] = int(match[1])
    mix = _MIX.search(block)
    for name, is_there in (("block", "block_bytes" in found), ("depth", "depth" in found), ("mix", mix is not None)):
        if not is_there:
            raise file_error(source, f"does not say its {name}", "use -Rxml, or test one at a time")
    assert mix is not None
    writes = {"read": 0, "write": 100}.get(mix[1], int(mix[3] or 50))
    limit = _LIMIT.search(block)
    block_bytes = int(str(found["block_bytes"]))
    limit_iops = 0.0
    if limit:
        limit_iops = float(limit[1]) * (1.0 if limit[2] == "IOPS" else 1000 / max(block_bytes, 1))
    ranges, is_absolute = _ranges(block)
    return replace(
        Target(),
        **found,  # type: ignore[arg-type]
        write_percent=writes,
        is_random="using random I/O" in block or "mixed random/sequential" in block,
        is_interlocked="interlocked sequential" in block,
        is_direct="software cache disabled" in block.replace("local software cache disabled", "")
        or "hardware and software write caches disabled" in block,
        is_written_through="writethrough on" in block,
        limit_iops=limit_iops,
        distribution=ranges,
        is_absolute=is_absolute,
    )


def _ranges(block: str) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Share and size of each range of a distribution, and whether sizes are bytes."""
    found: list[tuple[float, float]] = []
    is_absolute = False
    for share, start, start_unit, end, end_unit in _RANGE.findall(block):
        is_absolute = is_absolute or (start_unit or end_unit or "B") != "%"
        scale = [1.0 if unit in ("%", "") else float(BINARY[unit.upper()]) for unit in (start_unit, end_unit)]
        size = float(end) * scale[1] - float(start) * scale[0] if end else 0.0
        found.append((float(share), max(size, 0.0)))
    return tuple(found), is_absolute


# ---------------------------------------------------------------- the command line

_COMMAND = re.compile(r"^Command Line: *(.*\bdiskspd\S*\"?\s.*)$", re.MULTILINE | re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,18})([KMGTb]?)\Z", re.ASCII | re.IGNORECASE)


def command_of(text: str) -> str | None:
    """Return the command line that diskspd prints above its results, or None."""
    match = _COMMAND.search(text[:8192])
    return match[1].strip() if match else None


def _command_targets(command: str, source: str) -> list[Target]:
    """Return the targets of a command line, with diskspd's defaults for what it leaves out."""
    try:
        words = shlex.split(command, posix=False)[1:]
    except ValueError as error:
        raise file_error(source, f"has a command that cannot be split into words: {error}", "use -Rxml") from None
    paths = [word.strip('"') for word in words if not word.startswith(("-", "/"))]
    given = [word for word in words if word.startswith(("-", "/"))]
    if not paths:
        raise file_error(source, "names no target on its command line", "use -Rxml")
    target = Target(block_bytes=_amount(next((w[2:] for w in given if w[1:2] == "b"), "64K"), 1, source))
    block = target.block_bytes
    for word in given:
        letter, value = word[1:2], word[2:]
        if letter == "r" and value[:1] == "s":
            target = replace(target, is_random=True, random_percent=_whole(value[1:], source))
        elif letter == "r" and value[:1] == "d":
            target = replace(target, **_command_distribution(value[1:], source))  # type: ignore[arg-type]
        elif letter == "r":
            step = _amount(value, block, source) if value else block
            target = replace(target, is_random=True, alignment_bytes=step)
        elif letter == "s":
            stride = value.removeprefix("i")
            known = _amount(stride, block, source) if stride else block
            target = replace(target, alignment_bytes=known, is_interlocked=value[:1] == "i")
        elif letter == "w":
            target = replace(target, write_percent=min(_whole(value or "10", source), 100))
        elif letter == "o":
            target = replace(target, depth=max(_whole(value, source), 1))
        elif letter == "j":
            target = replace(target, think_ms=_whole(value, source))
        elif letter == "i":
            target = replace(target, burst=_whole(value, source))
        elif letter == "g":
            limit = float(_whole(value.removesuffix("i"), source))
            target = replace(target, limit_iops=limit if value.endswith("i") else limit * 1000 / max(block, 1))
        elif letter == "B":
            target = replace(target, offset_bytes=_amount(value.partition(":")[0], block, source))
        elif letter == "f" and _AMOUNT.match(value):
            target = replace(target, max_bytes=_amount(value, block, source))
        elif letter == "c":
            target = replace(target, file_bytes=_amount(value, block, source))
        elif letter == "T":
            target = replace(target, thread_stride_bytes=_amount(value, block, source))
        elif letter in ("S", "h"):
            flags = value if letter == "S" else "h"
            target = replace(
                target,
                is_direct=target.is_direct or not flags or "h" in flags or "u" in flags,
                is_written_through=target.is_written_through or "h" in flags or "w" in flags,
            )
    return [replace(target, path=path) for path in paths]


def _command_distribution(value: str, source: str) -> dict[str, object]:
    """`-rdpct90/10:10/90` or `-rdabs90/1G:10/2G`; the rest of the requests go to the rest of the target."""
    kind, rest = value[:3], value[3:]
    ranges: list[tuple[float, float]] = []
    for part in rest.split(":"):
        share, _, size = part.partition("/")
        known = float(_whole(size, source)) if kind == "pct" else float(_amount(size, 1, source))
        ranges.append((float(_whole(share, source)), known))
    left = 100.0 - sum(share for share, _ in ranges)
    if left > 0 or kind != "pct":
        space = 100.0 - sum(size for _, size in ranges) if kind == "pct" else 0.0
        ranges.append((max(left, 0.0), max(space, 0.0)))
    return {"is_random": True, "distribution": tuple(ranges), "is_absolute": kind != "pct"}


def _whole(text: str, source: str) -> int:
    if re.fullmatch(r"[0-9]{1,9}", text):
        return int(text)
    raise file_error(source, "has a command line with a number that cannot be read", "use -Rxml", value=text[:40])


def _amount(text: str, block_bytes: int, source: str) -> int:
    match = _AMOUNT.match(text)
    if match is None:
        raise file_error(source, "has a command line with a size that cannot be read", "use -Rxml", value=text[:40])
    return int(match[1]) * (block_bytes if match[2].lower() == "b" else BINARY[match[2].upper()])

"""Results of bonnie++: its blocks written and read in order, and its seeks, as jobs.

What it reads and writes by character measures the processor, and its files' names the file system; both are left out,
and so is what it rewrites, of which nobody knows how reads and writes took turns.
"""

from __future__ import annotations

import re

from diskmodel.formats.benchmarks.quick import quick_job
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioJob

_VERSION = re.compile(r"^Version\s+(\d)\.(\d{1,6})", re.MULTILINE)
_HEADS = re.compile(r"-+Sequential Output-+\s+-+Sequential Input-+\s+-+Random-+")
#: A column: a rate and its share of the processor; "+++++" where a test was too short.
_N = r"\d{1,15}(?:\.\d{1,9})?"
_COLUMN = rf"(?:({_N}[kmgKMG]?|\+{{1,20}})\s+(?:\d{{1,9}}|\+{{1,20}}))"
_ROW = re.compile(
    rf"^(\S{{1,200}}?)[\s:]{{1,60}}({_N}[MGT]?)(?::\S{{1,20}})?\s+{_COLUMN}((?:\s+{_COLUMN}){{2,6}})\s*$", re.MULTILINE
)
#: Rates are KiB a second; newer versions print larger ones with a letter.
_UNITS = {"k": 1.0, "m": 1024.0, "g": 1024.0**2}
#: Bytes of one read or write (`-c`, `CHUNK`), of what Linux makes of them in order, and processes that seek: 3, from
#: version 1.90 on 5. A tenth of the blocks that are found are written again.
_CHUNK, _IN_ORDER = 8192, 1 << 17
_SEEKERS, _OLD_SEEKERS, _SINCE = 5, 3, (1, 90)


def is_bonnie(text: str) -> bool:
    """Whether a text is a result of bonnie++ in its readable form."""
    return _HEADS.search(text) is not None


def jobs_of_bonnie(text: str, source: str) -> list[FioJob]:
    """Return writes and reads in order, and random requests, of each row of a text.

    Raises
    ------
    FormatError
        Where no row is complete.
    """
    version = _VERSION.search(text)
    is_new = version is not None and (int(version[1]), int(version[2])) >= _SINCE
    jobs: list[FioJob] = []
    for row in _ROW.finditer(text):
        first, *others = re.findall(_COLUMN, row[0][row.end(2) - row.start() :])
        # of six columns blocks are the second and the fifth; where characters were left out (-f), the first and third
        columns = [first, *others]
        if len(columns) not in (4, 6):
            continue
        by_character = len(columns) == 6
        blocks, reads, seeks = (columns[at] for at in ((1, 4, 5) if by_character else (0, 2, 3)))
        for name, rate in (("write", blocks), ("read", reads)):
            if (per_s := _number(rate)) is not None:
                options = {"rw": name, "bs": str(_IN_ORDER), "ioengine": "psync", "iodepth": "1", "direct": "0"}
                note = "bonnie++ goes through the page cache: what reaches the disks in order is larger than its blocks"
                jobs.append(
                    _job(f"bonnie++ {name}s in order", options, per_s * 1024 / _IN_ORDER, source, len(jobs), note)
                )
        if (per_s := _number(seeks)) is not None:
            depth = _SEEKERS if is_new else _OLD_SEEKERS
            options = {"rw": "randread", "bs": str(_CHUNK), "ioengine": "psync", "iodepth": "1"}
            options |= {"numjobs": str(depth), "direct": "1", "size": _size(row[2])}
            note = f"bonnie++ seeks: {depth} processes that read; the tenth that they write again is left out"
            jobs.append(_job("bonnie++ seeks", options, per_s, source, len(jobs), note))
    if not jobs:
        raise file_error(source, "is a result of bonnie++ without a whole row of figures", "is it the whole output?")
    return jobs


def _size(text: str) -> str:
    """Return the size of the file as fio has it; a bare number is of MiB."""
    return f"{text}M" if text.replace(".", "").isdecimal() else text


def _number(text: str) -> float | None:
    """Return a rate; None where the test was too short for one."""
    if not text or text.startswith("+"):
        return None
    unit = _UNITS.get(text[-1].lower())
    return float(text) if unit is None else float(text[:-1]) * unit


def _job(name: str, options: dict[str, str], rate: float, source: str, group: int, note: str) -> FioJob:
    # how long a test took is not said; a minute is usual, and decides only how much chance a figure has
    return quick_job(name, options, rate, 60.0, source, group, None, (note,))

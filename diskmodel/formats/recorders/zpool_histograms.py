"""Histograms of zpool iostat (OpenZFS): of sizes (-r) and of times (-w), by pool, or with -v by disk.

A command is counted once: alone ("ind"), or joined from several ("agg"; vdev_stat_update in vdev.c). Without an
interval the figures are counts since the pool was imported; with one those after the first report are per second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.pools.figures import FIGURE, scaled
from diskmodel.formats.sysstat.figures import Figures, completed
from diskmodel.formats.sysstat.tables import Recording
from diskmodel.formats.time_classes import mean_ns, merged
from diskmodel.units import in_digits

_TOP = re.compile(r"(?P<name>\S.*?)\s+(?P<groups>(?:sync_read|total_wait)\s.*)")
_BOTTOM = re.compile(r"(req_size|latency)\s+(.*)")
_RULE = re.compile(r"-[- \t]*\Z")
#: The command itself, above what was copied from a terminal.
_COMMAND = re.compile(r"(?:.*[#$%>❯]\s+)?(?:sudo\s+)?(?:\S*/)?zpool\s+iostat\b(?P<options>.*)\Z")
#: A line of -T: seconds, or a date.
_TIME = re.compile(r"\d{9,}\Z|.*\b\d{1,2}:\d\d:\d\d\b")
#: Names of vdevs of several disks.
_VDEV = re.compile(r"(mirror|raidz[123]?|draid\S*|replacing|spare|indirect)-\d+\Z")

#: Largest classes: 16 MiB of commands (`VDEV_RQ_HISTO_BUCKETS`), 137 s of times (`VDEV_L_HISTO_BUCKETS`).
_SIZE_CLASSES = {
    (f"{1 << k - 20}M" if k >= 20 else f"{1 << k - 10}K" if k >= 10 else f"{1 << k}"): k for k in range(9, 25)
}


def _time_label(power: int) -> str:
    """Return how a class of times from 2^power ns is called: by its end, cut to whole units (`zfs_nicetime`)."""
    end = (2 << power) - 1
    unit, name = next((u, n) for u, n in ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")) if end >= u)
    return f"{end // unit}{name}"


_TIME_CLASSES = {_time_label(power): power for power in range(37)}
_CLASSES = {"r": _SIZE_CLASSES, "w": _TIME_CLASSES}
#: Columns of -r that are no work of programs: group → what it is called in notes.
_OTHERS = {"scrub": "scrub and resilver", "trim": "trim", "rebuild": "sequential rebuild"}
#: What the columns of programs belong to.
_WAYS = {"sync_read": "reads", "async_read": "reads", "sync_write": "writes", "async_write": "writes"}
#: A pool's commands are those of its disks, but for the rounding of three digits in each class.
_SAME = 0.03
_INTERVAL = "zpool iostat -ry 10 60"
_OF_DISKS = "or record the pool's disks with iostat -x 1 600"


@dataclass
class _Table:
    """A histogram: class, as a power of two, → figures by group and the column below it."""

    name: str
    option: str
    line: int
    columns: list[tuple[str, str]]
    rows: dict[int, list[float]] = field(default_factory=dict)

    def of(self, group: str, below: str | None = None) -> dict[int, float]:
        """Return the classes of a group's columns, or of one of them."""
        chosen = [at for at, (own, sub) in enumerate(self.columns) if own == group and below in (None, sub)]
        return {power: total for power, row in self.rows.items() if (total := sum(row[at] for at in chosen)) > 0}

    @property
    def total(self) -> float:
        return sum(map(sum, self.rows.values()))


def is_histograms(text: str) -> bool:
    """Whether a text holds a table of zpool iostat -r or -w."""
    lines = [line.strip() for line in text[:65536].split("\n") if line.strip()]
    return any(_BOTTOM.match(line) and _TOP.match(above) for above, line in pairwise(lines))


def read_histograms(text: str, source: str) -> Recording:
    """Return the rates and sizes of -r, with the times of -w where the text has both.

    Raises
    ------
    LineError
        For a line that belongs to no such table, a class that is unknown or missing, or a figure that is none.
    FormatError
        When there are only times, or only counts since the pool was imported.
    """
    found = Recording()
    tables, is_kept = _tables(text, source, found)
    sizes, times = ([t for t in tables if t.option == option] for option in "rw")
    by_report = _reports(sizes, source, found, is_kept)
    later = _reports(times, source, found, is_kept) if times else []
    for report in by_report:
        found.samples.append({name: _figures(table, _waits(later, name)) for name, table in report.items()})
    for name in dict.fromkeys(name for report in by_report for name in report):
        own = [report[name] for report in by_report if name in report]
        found.sizes[name] = {way: _sizes(own, way) for way in ("reads", "writes")}
        found.responses[name] = {
            f"{way}s": merged(report[name].of("disk_wait", way) for report in later if name in report)
            for way in ("read", "write")
        }
    found.notes += _notes([table for report in by_report for table in report.values()], later)
    return found


# ---------------------------------------------------------------- lines


def _tables(text: str, source: str, found: Recording) -> tuple[list[_Table], bool]:
    """Return the tables, and whether the command's own line says that the first report is of an interval (-y)."""
    lines = text.expandtabs().split("\n")
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    tables: list[_Table] = []
    above: re.Match[str] | None = None
    is_kept = False
    for at, line in enumerate(lines):
        stripped = line.strip()
        if not stripped or _RULE.match(stripped):
            continue
        place = (source, at + 1, line)
        if top := _TOP.match(stripped):
            above = top
        elif (bottom := _BOTTOM.match(stripped)) and above is not None:
            tables.append(_opened(above, bottom, place))
            above = None
        elif command := _COMMAND.match(stripped):
            is_kept = is_kept or any("y" in word for word in command["options"].split() if re.match(r"-[a-zA-Z]", word))
        elif tables and (power := _CLASSES[tables[-1].option].get(stripped.split()[0])) is not None:
            if at == last and len(tables) > 1 and len(stripped.split()) <= len(tables[-1].columns):
                break  # the cut table is left out below
            _add(tables[-1], power, stripped.split(), place)
        elif _TIME.match(stripped):
            continue
        else:
            rule = "is no line of zpool iostat -r or -w"
            raise LineError(source, at + 1, 0, "", line, rule, "remove it, or give each program's output in a file")
    if all(table.option == "w" for table in tables):
        rule = "is output of zpool iostat -w: it has times of commands, and no sizes"
        raise file_error(source, rule, f"put {_INTERVAL} of the same load into the same file, {_OF_DISKS}")
    for table in tables:
        missing = _missing(table)
        if not missing:
            continue
        if table is tables[-1] and len(tables) > 1 and _goes_to(table, last):
            found.notes.append("the last table is cut short and was left out")
            return tables[:-1], is_kept
        rule = f"begins a table of zpool iostat -{table.option} without its class {missing}"
        raise LineError(source, table.line, 0, "", lines[table.line - 1], rule, "give the whole output")
    return tables, is_kept


def _goes_to(table: _Table, last: int) -> bool:
    """Whether a table goes on to the last line of the text."""
    return last < table.line + len(_CLASSES[table.option]) + 2


def _opened(top: re.Match[str], bottom: re.Match[str], place: tuple[str, int, str]) -> _Table:
    source, number, line = place
    option = "r" if bottom[1] == "req_size" else "w"
    groups, below = top["groups"].split(), bottom[2].split()
    pair = ["ind", "agg"] if option == "r" else ["read", "write"]
    alone = below[2 * len(groups) :]
    first = "sync_read" if option == "r" else "total_wait"
    if groups[0] != first or below[: 2 * len(groups)] != pair * len(groups) or (alone and option == "r"):
        rule = f"does not fit the line above it: zpool iostat -{option} has {' and '.join(pair)} under each name"
        raise LineError(source, number, 0, "", line, rule, "give the output as it was printed, without cuts")
    columns = [(group, sub) for group in groups for sub in pair] + [(name, "") for name in alone]
    return _Table(top["name"], option, number, columns)


def _add(table: _Table, power: int, words: list[str], place: tuple[str, int, str]) -> None:
    source, number, line = place
    if len(words) != 1 + len(table.columns):
        rule = f"has {len(words) - 1} figures instead of {len(table.columns)}"
        raise LineError(source, number, 0, "", line, rule, "give the output as it was printed, without cuts")
    if power in table.rows:
        raise LineError(source, number, 0, words[0], line, "comes twice in its table")
    row = []
    for word in words[1:]:
        match = FIGURE.match(word)
        if match is None:
            raise LineError(source, number, line.find(word) + 1, word, line, "is no figure of zpool iostat")
        row.append(scaled(match[1], match[2]))
    table.rows[power] = row


def _missing(table: _Table) -> str:
    """Return the first class that a table lacks; "" where it has all."""
    return next((label for label, power in _CLASSES[table.option].items() if power not in table.rows), "")


# ---------------------------------------------------------------- reports


def _reports(tables: list[_Table], source: str, found: Recording, is_kept: bool) -> list[dict[str, _Table]]:
    """Return the tables of each interval by name, without vdevs and pools whose disks are shown."""
    reports: list[dict[str, _Table]] = []
    for table in tables:
        if not reports or table.name in reports[-1]:
            reports.append({})
        reports[-1][table.name] = table
    if not is_kept:
        option = tables[0].option
        if len(reports) == 1:
            rule = f"has one report of zpool iostat -{option}: counts since the pool was imported, without rates"
            command = _INTERVAL.replace("-r", f"-{option}")
            fix = f"record intervals: {command} (with this line above it in the file one report is enough)"
            raise file_error(source, rule, f"{fix}, {_OF_DISKS}")
        reports = reports[1:]
        found.notes.append(
            f"the first report of -{option} is left out: without -y it counts since the pool was imported"
        )
    return [_of_disks(report) for report in reports]


def _of_disks(report: dict[str, _Table]) -> dict[str, _Table]:
    """Return a report without vdevs of several disks, and without the pool before them."""
    kept = {name: table for name, table in report.items() if not _VDEV.match(name)}
    first, *others = kept.values()
    below = sum(table.total for table in others)
    is_sum = first.total > 0 and abs(below - first.total) <= _SAME * first.total + len(others)
    if others and (len(kept) < len(report) or is_sum):
        del kept[first.name]
    return kept


def _figures(table: _Table, waits: dict[str, float]) -> Figures:
    figures = dict(waits)
    for way, name in (("reads", "read"), ("writes", "write")):
        sizes = _sizes([table], way)
        figures[f"{way}_per_s"] = sum(sizes.values())
        figures[f"{name}_bytes_per_s"] = sum(size * n for size, n in sizes.items())
    return completed(figures)


def _sizes(tables: list[_Table], way: str) -> dict[int, float]:
    """Return commands by their size.

    A class goes from a power of two to the next. Commands alone are taken as its lower end, as records and their equal
    parts are powers of two; joined ones as one and a half times of that, its middle.
    """
    sizes: dict[int, float] = {}
    for table in tables:
        for group, of in _WAYS.items():
            for below in ("ind", "agg") if of == way else ():
                for power, n in table.of(group, below).items():
                    size = (1 << power) + (1 << power - 1 if below == "agg" and power > 9 else 0)
                    sizes[size] = sizes.get(size, 0.0) + n
    return dict(sorted(sizes.items()))


def _waits(reports: list[dict[str, _Table]], name: str) -> dict[str, float]:
    """Return the mean time of commands on a disk, over all reports."""
    found = {}
    for way in ("read", "write"):
        mean = mean_ns(merged(report[name].of("disk_wait", way) for report in reports if name in report))
        if mean is not None:
            found[f"{way}_await_ns"] = mean
    return found


def _notes(tables: list[_Table], later: list[dict[str, _Table]]) -> Iterator[str]:
    """Yield what the figures are, and what of them no workload has."""
    yield (
        "sizes are in classes from a power of two to the next: commands alone are taken as the lower end, joined ones "
        "as 1.5 times of it; rates below 1/s are shown as 0"
    )
    for way in ("reads", "writes"):
        groups = [group for group, of in _WAYS.items() if of == way]
        totals = {group: sum(sum(table.of(group).values()) for table in tables) for group in groups}
        if n_all := sum(totals.values()):
            sync = next(n for group, n in totals.items() if not group.startswith("async")) / n_all
            who = "read ahead" if way == "reads" else "of transaction groups"
            what = "programs wait for them" if way == "reads" else "of the intent log"
            yield f"{sync:.0%} of the {way} are synchronous ({what}), the others asynchronous ({who})".replace(
                "%", " %", 1
            )
    for group, words in _OTHERS.items():
        own = sum(sum(table.of(group).values(), 0.0) for table in tables)
        if own:
            n_reports = max(sum(table.name == tables[0].name for table in tables), 1)
            yield f"{in_digits(own / n_reports)} commands/s of {words} are left out"
    for way in ("read", "write") if later else ():
        whole, disk = (
            mean_ns(merged(table.of(group, way) for report in later for table in report.values()))
            for group in ("total_wait", "disk_wait")
        )
        if whole and disk and whole > disk:
            yield (
                f"{way}s took {in_digits(disk / 1e6)} ms on the disks, which is compared, and "
                f"{in_digits(whole / 1e6)} ms with their wait in OpenZFS's queues"
            )
    yield (
        "these are commands of the disks, with parity, copies, metadata and what OpenZFS joined: fewer or more than "
        "programs ask for"
    )

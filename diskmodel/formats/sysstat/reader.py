"""Any recording of disks' load: iostat, sar, sadf, /proc/diskstats; recognized by content."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.device_load import DeviceLoad, loads_of
from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import read_document
from diskmodel.formats.sysstat import tables
from diskmodel.formats.sysstat.figures import FIGURES, MAX_FIGURE, RULE, Sample, completed
from diskmodel.formats.sysstat.tables import Recording
from diskmodel.limits import parse_json

KINDS = ("iostat-json", "iostat-text", "sadf-json", "sadf-text", "sar-text", "diskstats")

#: Sectors of 512 bytes printed for kB and for MB. The ratio of rounded figures differs from it by less than the tenth.
_FALSE_UNITS, _SAME_RATIO = (2.0, 2048.0), 0.1

_DEVICE_KEYS = ("disk_device", "disk-device", "device", "Device")


def without_stray_commas(text: str) -> str:
    """Return JSON of sysstat without the comma that version 12.1 writes before a first report (`-y`)."""
    return re.sub(r"\[\s*,", "[", text) if '"sysstat"' in text[:1000] else text


def kind_of(text: str) -> str | None:
    """Which of the recordings a text is, or None."""
    if text.lstrip("\ufeff \t\r\n").startswith("{") and '"sysstat"' in text[:1000]:
        return "iostat-json" if '"disk_device"' in text or '"avg-cpu"' in text else "sadf-json"
    return "diskstats" if tables.is_diskstats(text) else tables.kind_of(text)


def read_sysstat(path: str | Path, *, kind: str | None = None, keep_first: bool | None = None) -> list[DeviceLoad]:
    """Return the loads by device of a recording, plain or compressed.

    A device that a report leaves out (`iostat -z`, `sar -z`) did nothing in it.

    Parameters
    ----------
    path : str or Path
    kind : str, optional
        One of `KINDS`; recognized by content when left out.
    keep_first : bool, optional
        Keep iostat's first report: right for `iostat -y`, which leaves out the one since start-up. When left out, a
        first report is kept whose figures can only be those of an interval.

    Raises
    ------
    FormatError
        When the file cannot be read, is none of these, is malformed, or holds no sample of a device.
    """
    return loads_of_text(read_document(path), str(path), kind=kind, keep_first=keep_first)


def loads_of_text(
    text: str, source: str = "", *, kind: str | None = None, keep_first: bool | None = None
) -> list[DeviceLoad]:
    """As `read_sysstat`, for text already in memory."""
    kind = kind or kind_of(text)
    text = text.replace("\r\n", "\n")
    if kind in ("iostat-json", "sadf-json"):
        found = _json_recording(text, source, drops_first=kind == "iostat-json" and not keep_first)
    elif kind == "iostat-text":
        found = tables.read_iostat(text, source, keep_first=keep_first)
    elif kind == "sar-text":
        found = tables.read_sar(text, source)
    elif kind == "sadf-text":
        found = tables.read_sadf(text, source)
    elif kind == "diskstats":
        found = tables.read_diskstats(text, source)
    else:
        raise file_error(
            source,
            "is no output of sysstat",
            "make one with iostat -x -o JSON 1 600, sadf -j -- -d or sar -d",
            value=kind,
        )
    loads = loads_of(found.samples, found.interval_s, found.notes)
    if not loads:
        fix = "let iostat run for more than one report"
        if not kind.startswith("iostat"):
            fix = "give the samples, too" if "Average:" in text else "include the disks: -d"
        raise file_error(source, "holds no sample of a device", fix)
    return loads


def _json_recording(text: str, source: str, *, drops_first: bool) -> Recording:
    try:
        document = parse_json(without_stray_commas(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise FormatError(Fault(place, None, f"is not valid JSON: {error.msg}", "was it cut short?"), source) from None
    except (ValueError, RecursionError) as error:
        raise file_error(source, f"is not usable JSON: {error}") from None
    faults: list[Fault] = []
    samples: list[Sample] = []
    intervals: list[float] = []
    root = document.get("sysstat") if isinstance(document, Mapping) else None
    notes: list[str] = []
    hosts = _list(root, "hosts")
    false = _false_unit(hosts)
    if false != 1:
        notes.append(
            f"bytes are {false:g} times what number and mean size of the requests make, in every sample, as some "
            "versions of sysstat print sectors for kB or MB: they are divided by it"
        )
    for host in hosts:
        own: list[Sample] = []
        prefix = f"{host.get('nodename')}:" if len(hosts) > 1 and isinstance(host, Mapping) else ""
        for number, entry in enumerate(_list(host, "statistics")):
            sample: Sample = {}
            for disk in _list(entry, "disk"):
                _json_disk(disk, f"statistics.{number}.disk", prefix, sample, faults, false)
            own.append(sample)
            stamp = entry.get("timestamp") if isinstance(entry, Mapping) else None
            seconds = stamp.get("interval") if isinstance(stamp, Mapping) else None
            if isinstance(seconds, int | float) and 0 < seconds < 1e9:
                intervals.append(float(seconds))
        if drops_first and len(own) > 1:
            own = own[1:]
            notes += [tables.FIRST_LEFT_OUT] if tables.FIRST_LEFT_OUT not in notes else []
        elif drops_first and own:
            notes.append(tables.ONLY_REPORT)
        samples += [{} for _ in range(len(own) - len(samples))]
        for together, sample in zip(samples, own, strict=False):
            together.update(sample)
    if faults:
        raise FormatError(faults, source)
    return Recording(samples, sum(intervals) / len(intervals) if intervals else None, notes)


def _list(data: Any, key: str) -> list[Any]:
    found = data.get(key) if isinstance(data, Mapping) else None
    return found if isinstance(found, list) else []


def _false_unit(hosts: list[Any]) -> float:
    """Return by how much all figures of bytes are too large: sysstat 12.1 and 12.2 print sectors in JSON; else 1."""
    ratios: list[float] = []
    for disk in (disk for host in hosts for entry in _list(host, "statistics") for disk in _list(entry, "disk")):
        for letter in "rw" if isinstance(disk, Mapping) else "":
            n, size = disk.get(f"{letter}/s"), disk.get(f"{letter}areq-sz")
            for unit, kib in (("kB", 1), ("MB", 1024)):
                n_bytes = disk.get(f"{letter}{unit}/s")
                if all(isinstance(x, int | float) and 0 < x < MAX_FIGURE for x in (n, size, n_bytes)) and n >= 1:
                    ratios.append(n_bytes * kib / (n * size))
    for factor in _FALSE_UNITS:
        if ratios and all(abs(ratio / factor - 1) < _SAME_RATIO for ratio in ratios):
            return factor
    return 1.0


def _json_disk(disk: Any, place: str, prefix: str, sample: Sample, faults: list[Fault], false: float = 1.0) -> None:
    if not isinstance(disk, Mapping):
        faults.append(Fault(place, None, "must be an object"))
        return
    name = next((disk[key] for key in _DEVICE_KEYS if key in disk), None)
    if not isinstance(name, str):
        faults.append(Fault(place, None, "has no name of a device"))
        return
    figures: dict[str, float] = {}
    errors: dict[str, float] = {}
    for key, value in disk.items():
        if key not in FIGURES:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_FIGURE:
            faults.append(Fault(f"{place}.{name}.{key}", value, RULE))
            continue
        series, factor = FIGURES[key]
        factor = factor / false if series.endswith("bytes_per_s") else factor
        figures[series] = value * factor
        # a number of a document has lost its zeros at the end: one with a decimal was printed with two
        errors[series] = (0.5 if isinstance(value, int) else 0.005) * factor
    sample[_with_prefix(name, prefix)] = completed(figures, errors)


def _with_prefix(name: str, prefix: str) -> str:
    """Name with its host before it; the blank that marks groups stays in front."""
    return " " + prefix + name.strip() if name.startswith(" ") else prefix + name

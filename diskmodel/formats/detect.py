"""What kind of evidence a file is, by its content."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from diskmodel.errors import Fault, FormatError, choose_from
from diskmodel.formats import arrays, hardware, latencies, pools, recorders, sysstat
from diskmodel.formats.benchmarks import registry as benchmarks
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import latency_log
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.foreign import recognize
from diskmodel.formats.opening import HEAD_BYTES, MAX_DOCUMENT_BYTES, read_document, read_head
from diskmodel.formats.trace.registry import FORMATS, likely
from diskmodel.limits import check_json

#: Every answer of `detect_evidence`.
KINDS = (
    "measurement",
    *fio_reader.KINDS,
    *benchmarks.KINDS,
    latency_log.KIND,
    *sysstat.KINDS,
    *recorders.KINDS,
    *hardware.KINDS,
    *pools.KINDS,
    *arrays.KINDS,
    *latencies.KINDS,
    *(f"trace:{name}" for name in FORMATS),
)

#: The "format" of the micro-benchmark's documents.
MEASUREMENT = "diskmodel-measurement"

# Formats of traces that words of their own identify come before documents, those of bare numbers after them.
_DISTINCT = frozenset({"csv", "fio-iolog2", "fio-iolog3", "blkparse", "biosnoop"})


#: What a user can name instead of a file of an unknown kind.
_ACCEPTED = (
    "accepted are measurements by diskmodel; output of fio, DiskSpd, vdbench, elbencho, sysbench, CrystalDiskMark, "
    "pg_test_fsync, rados bench, bonnie++, hdparm -t, dd with its command, iostat, sar, sadf, vmstat -d, nfsiostat, "
    "zpool iostat, perfmon, esxtop, node_exporter, Prometheus, CloudWatch, smartctl, lsblk, "
    "zpool status, zpool list -v and arcstats; mdstat, mdadm --detail, storcli, MegaCli, ssacli and arcconf; "
    f"/proc/diskstats; and traces, by the names for --format: {', '.join(FORMATS)}"
)


def detect_evidence(path: str | Path) -> str:
    """Return the kind of a file, one of `KINDS`.

    These are "measurement"; "fio-json", "fio-terse", "fio-text", "fio-job", "fio-command", "fio-latency-log";
    those of `diskmodel.formats.benchmarks.registry` ("diskspd-text" …) and of `diskmodel.formats.recorders` ("esxtop"
    …); "iostat-json", "iostat-text", "sadf-json", "sadf-text", "sar-text", "diskstats";
    "smartctl", "lsblk"; "zpool-status", "zpool-list", "arcstats"; those of `diskmodel.formats.arrays`
    ("mdstat" …); "biolatency", "bpftrace-histogram"; and "trace:" with the name of a trace format. Compressed files are
    looked into, as are those that Windows writes as UTF-16. A latency log of fio with offsets is "trace:fio-log".

    Raises
    ------
    FormatError
        When the file cannot be read, is empty or is none of these; the message says what was seen and what is accepted.
    """
    head = read_head(path)
    if not head.strip():
        raise file_error(path, "is empty")
    trace = likely(head)
    if trace in _DISTINCT:
        return f"trace:{trace}"
    kind = _document_kind(path, head)
    if kind is not None:
        return kind
    if trace is not None:
        return f"trace:{trace}"
    if latency_log.looks_like_log(head):
        return latency_log.KIND
    kind = _kind_further_on(path, head)
    if kind is not None:
        return kind
    if Path(path).suffix == ".toml":
        fix = "name what a program measured or recorded; a description goes to simulate, compare and plan as it is"
        raise file_error(path, "is a TOML description, not evidence", fix)
    foreign = recognize(path, head)
    if foreign is not None:
        raise file_error(path, foreign.rule, foreign.fix)
    rule = "belongs to no measurement, recording or trace that diskmodel knows"
    raise FormatError(Fault("first line", _seen(head), rule, _ACCEPTED), str(path))


def check_kind(kind: str) -> str:
    """Return a kind that a user names, with "trace:" in front of a bare name of a trace format.

    Raises
    ------
    FormatError
        When it is none of `KINDS`.
    """
    if kind in KINDS:
        return kind
    if kind in FORMATS:
        return f"trace:{kind}"
    names = [*(name for name in KINDS if not name.startswith("trace:")), *FORMATS]
    raise FormatError(Fault("format", kind, "is not a known format", choose_from(kind, names)))


def _kind_further_on(path: str | Path, head: bytes) -> str | None:
    """Kind of a text whose table or results stand beyond the first 64 KiB, as in `sar -A`."""
    if b"\0" in head or len(head) < HEAD_BYTES:
        return None
    try:
        text = read_document(path, MAX_DOCUMENT_BYTES)
    except FormatError:
        return None
    return _text_kind(text)


def _seen(head: bytes) -> str:
    text = head.decode("utf-8", errors="replace")
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return first[:120] if first.expandtabs().isprintable() else f"binary data {head[:16].hex(' ')} …"


def _document_kind(path: str | Path, head: bytes) -> str | None:
    if b"\0" in head:
        return None
    text = head.decode("utf-8", errors="replace")
    if re.match(r'\s*\{[^{}]*"format"\s*:\s*"' + MEASUREMENT + '"', text):
        return "measurement"
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{") or "\n{" in text
    if not is_json:
        return _text_kind(text)
    try:
        text = read_document(path, MAX_DOCUMENT_BYTES)
    except FormatError as error:
        if "is longer than" in str(error):
            return None
        raise
    if text.lstrip().startswith("{"):
        try:
            text = sysstat.without_stray_commas(text)
            check_json(text)
            document, _ = json.JSONDecoder().raw_decode(text.lstrip())
        except (ValueError, RecursionError) as error:
            raise file_error(path, f"begins as JSON but is not valid: {error}", "was it cut short?") from None
        if isinstance(document, Mapping) and document.get("format") == MEASUREMENT:
            return "measurement"
        kind = hardware.kind_of(document)
        if kind is not None:
            return kind
    return _text_kind(text)


def _text_kind(text: str) -> str | None:
    text = text.replace("\r\n", "\n")
    readers = (benchmarks, recorders, sysstat, fio_reader, pools, arrays, latencies)
    return next(filter(None, (reader.kind_of(text) for reader in readers)), None)

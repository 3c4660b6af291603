"""What kind of evidence a file is, told by its content."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from diskmodel.errors import FormatError
from diskmodel.formats import hardware, sysstat
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import latency_log
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.opening import MAX_DOCUMENT_BYTES, read_document, read_head
from diskmodel.formats.trace.registry import FORMATS, likely
from diskmodel.limits import check_json

#: Every answer of `detect_evidence`.
KINDS = (
    "measurement",
    *fio_reader.KINDS,
    latency_log.KIND,
    *sysstat.KINDS,
    *hardware.KINDS,
    *(f"trace:{name}" for name in FORMATS),
)

#: The "format" of the micro-benchmark's documents.
MEASUREMENT = "diskmodel-measurement"

# Formats of traces that are told by words of their own come before documents, those of bare numbers after them.
_DISTINCT = frozenset({"csv", "fio-iolog2", "fio-iolog3", "blkparse"})


def detect_evidence(path: str | Path) -> str:
    """Kind of a file, one of `KINDS`: "measurement", "fio-json", "fio-terse", "fio-text", "fio-job", "fio-latency-log",
    "iostat-json", "iostat-text", "sadf-json", "sar-text", "smartctl", "lsblk", or "trace:" and a trace format.

    Compressed files are looked into. A latency log of fio with offsets is "trace:fio-log".

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
    if Path(path).suffix == ".toml":
        fix = "name what a program measured or recorded; a description goes to simulate, compare and plan as it is"
        raise file_error(path, "is a TOML description, not evidence", fix)
    raise file_error(path, "is no evidence of a known kind", f"accepted are {', '.join(KINDS)}", value=_seen(head))


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
        return sysstat.kind_of(text) or fio_reader.kind_of(text)
    try:
        text = read_document(path, MAX_DOCUMENT_BYTES)
    except FormatError as error:
        if "is longer than" in str(error):
            return None
        raise
    if text.lstrip().startswith("{"):
        try:
            check_json(text)
            document, _ = json.JSONDecoder().raw_decode(text.lstrip())
        except (ValueError, RecursionError) as error:
            raise file_error(path, f"begins as JSON but is not valid: {error}", "was it cut short?") from None
        if isinstance(document, Mapping) and document.get("format") == MEASUREMENT:
            return "measurement"
        kind = hardware.kind_of(document)
        if kind is not None:
            return kind
    return sysstat.kind_of(text) or fio_reader.kind_of(text)

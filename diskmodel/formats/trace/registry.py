"""The trace formats by name, and which one a file looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from diskmodel.formats.faults import file_error
from diskmodel.formats.trace import binary, own_csv, text_formats
from diskmodel.formats.trace.biosnoop import Biosnoop, header_of
from diskmodel.formats.trace.blkparse import Blkparse
from diskmodel.formats.trace.columns import Tally, TraceChunk
from diskmodel.formats.trace.iolog import HEADERS, Iolog
from diskmodel.formats.trace.tabular import TableFormat
from diskmodel.loading import dataclass

#: Lines (records) at the start of a file that are looked at.
_LOOKED_AT = 50


class Parser(Protocol):
    """What turns a decompressed stream into chunks."""

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks of the stream."""
        ...


@dataclass(frozen=True)
class TraceFormat:
    """One format.

    Attributes
    ----------
    name, summary : str
    likeness : callable
        Takes the first 64 KiB and answers from 0 (no) to 1 (every line is well-formed).
    parser : callable
        Takes the first 64 KiB.
    for_name : callable or None
        Takes the file's name too, where that says what a column means.
    """

    name: str
    summary: str
    likeness: Callable[[bytes], float]
    parser: Callable[[bytes], Parser]
    for_name: Callable[[bytes, str], Parser] | None = None


def head_lines(head: bytes) -> list[str]:
    """The first whole lines, without blank ones and comments."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n")
    lines = text.split("\n")
    if len(lines) > 1:
        lines.pop()  # possibly cut off, or empty
    return [line for line in lines if line.strip() and not line.startswith("#")][:_LOOKED_AT]


def _share(lines: list[str], is_good: Callable[[str], bool]) -> float:
    return sum(map(is_good, lines)) / len(lines) if lines else 0.0


def _table(
    name: str, summary: str, table: TableFormat, hint: Callable[[list[str]], bool] = lambda cells: True
) -> TraceFormat:
    def is_good(line: str) -> bool:
        return table.line_fault(line) is None and hint([cell.strip() for cell in line.split(table.delimiter)])

    return TraceFormat(name, summary, lambda head: _share(head_lines(head), is_good), lambda head: table)


def _is_integer(cell: str) -> bool:
    return cell.isdecimal()


def _fio_log_likeness(head: bytes) -> float:
    table, lines = _fio_log(head), head_lines(head)
    if table.n_header_lines:
        lines = lines[1:]
    return _share(lines, lambda line: table.line_fault(line) is None and 6 <= line.count(",") + 1 <= 7)


def _fio_log(head: bytes) -> TableFormat:
    lines = head_lines(head)
    has_header = bool(lines) and not lines[0].lstrip()[:1].isdecimal()
    table = text_formats.FIO_LOG
    return TableFormat(
        table.columns,
        table.to_rows,
        more_columns=True,
        n_header_lines=int(has_header),
    )


def _fio_log_for(head: bytes, path: str) -> TableFormat:
    table = _fio_log(head)
    if text_formats.is_averaged(head_lines(head)):
        raise file_error(path, *text_formats.AVERAGED)
    if text_formats.fio_log_meaning(Path(path).name) in ("bw", "iops", "slat"):
        return replace(table, to_rows=text_formats.FIO_OTHER_LOG.to_rows)
    return table


def _own_likeness(head: bytes) -> float:
    lines = head_lines(head)
    return float(bool(lines) and lines[0].strip() == own_csv.HEADER)


def _iolog_likeness(version: int) -> Callable[[bytes], float]:
    def likeness(head: bytes) -> float:
        lines = head_lines(head)
        return float(bool(lines) and HEADERS.get(lines[0].strip()) == version)

    return likeness


def _blkparse_likeness(head: bytes) -> float:
    return _share(head_lines(head), lambda line: Blkparse().line_fault(line) is None)


def _biosnoop_likeness(head: bytes) -> float:
    return float(any(header_of(line) for line in head_lines(head)[:10]))


def _systor_likeness(head: bytes) -> float:
    table, lines = _systor(head), head_lines(head)
    return _share(lines[table.n_header_lines :], lambda line: table.line_fault(line) is None)


def _systor(head: bytes) -> TableFormat:
    lines = head_lines(head)
    has_header = bool(lines) and lines[0].lower().startswith("timestamp,response")
    return replace(text_formats.SYSTOR17, n_header_lines=int(has_header))


def _binary_likeness(form: binary.BinaryFormat, hint: Callable[[binary.Records], bool]) -> Callable[[bytes], float]:
    def likeness(head: bytes) -> float:
        n = min(len(head) // form.dtype.itemsize, _LOOKED_AT)
        # Text is also a row of small numbers; text is recognized because it has no zero byte.
        if n == 0 or b"\0" not in head:
            return 0.0
        records = np.frombuffer(head, dtype=form.dtype, count=n)
        return float(form.is_good(records).mean()) if hint(records) else 0.0

    return likeness


def _looks_like_oracle(records: binary.Records) -> bool:
    times, following = records["time_s"].astype(np.int64), records["next"]
    is_ordered = bool((np.diff(times) >= 0).all())
    is_later = (following < 0) | (following > np.arange(len(records)))
    return is_ordered and bool(is_later.all()) and bool((records["size"] < 2**30).all())


def _looks_like_vscsi(records: binary.Records) -> bool:
    return bool((np.diff(records["ts"].astype(np.float64)) >= -1e9).all())


#: By name; when two fit a file equally well, the earlier one is taken.
FORMATS: dict[str, TraceFormat] = {
    form.name: form
    for form in (
        TraceFormat("csv", f"CSV of this project: {own_csv.HEADER}", _own_likeness, lambda head: own_csv.OWN_CSV),
        TraceFormat("fio-iolog2", "fio write_iolog, version 2", _iolog_likeness(2), lambda head: Iolog(2)),
        TraceFormat("fio-iolog3", "fio write_iolog, version 3", _iolog_likeness(3), lambda head: Iolog(3)),
        TraceFormat("blkparse", "blkparse text; response from queueing", _blkparse_likeness, lambda head: Blkparse()),
        TraceFormat(
            "blkparse-dispatch",
            "blkparse text; response from dispatch",
            lambda head: 0.0,
            lambda head: Blkparse(from_dispatch=True),
        ),
        TraceFormat("biosnoop", "biosnoop, or iosnoop -s", _biosnoop_likeness, lambda head: Biosnoop()),
        TraceFormat("systor17", "SYSTOR '17 traces", _systor_likeness, _systor),
        _table("msr", "MSR Cambridge CSV", text_formats.MSR),
        _table("spc", "SPC (UMass) ASCII", text_formats.SPC),
        _table("alibaba", "Alibaba block traces", text_formats.ALIBABA),
        TraceFormat("fio-log", "fio latency log with log_offset=1", _fio_log_likeness, _fio_log, _fio_log_for),
        _table("tencent", "Tencent CBS traces", text_formats.TENCENT),
        TraceFormat(
            "libcachesim-csv",
            "libCacheSim CSV: version,time,op,size,lbn",
            lambda head: float(head_lines(head)[:1] == ["version,time,op,size,lbn"]),
            lambda head: text_formats.LIBCACHESIM_CSV,
        ),
        _table("fiu", "FIU traces (SyLab)", text_formats.FIU),
        _table("drive", "requests of one drive with think times", text_formats.DRIVE),
        _table("mqsim", "MQSim traces", text_formats.MQSIM, lambda cells: _is_integer(cells[0])),
        _table("disksim", "DiskSim ASCII", text_formats.DISKSIM),
        TraceFormat(
            "vscsi1",
            "CloudPhysics vscsi, version 1",
            _binary_likeness(binary.VSCSI1, _looks_like_vscsi),
            lambda head: binary.VSCSI1,
        ),
        TraceFormat(
            "vscsi2",
            "CloudPhysics vscsi, version 2",
            _binary_likeness(binary.VSCSI2, _looks_like_vscsi),
            lambda head: binary.VSCSI2,
        ),
        TraceFormat(
            "oracle-general",
            "libCacheSim oracleGeneral",
            _binary_likeness(binary.ORACLE, _looks_like_oracle),
            lambda head: binary.ORACLE,
        ),
    )
}


def likely(head: bytes) -> str | None:
    """Name of the format that fits the first bytes of a file best, if at least half of them fit."""
    scores = {name: form.likeness(head) for name, form in FORMATS.items()}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= 0.5 else None

"""Traces for other programs: DiskSim ASCII, fio iologs, CSV, Parquet. Streams go through in flat memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from diskmodel.errors import CoverageError, Fault, FormatError, visible
from diskmodel.formats.faults import file_error
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.own_csv import HEADER
from diskmodel.formats.trace.text_formats import SECTOR_BYTES
from diskmodel.formats.writing import text_file
from diskmodel.output import output_file

_ACTIONS = np.array(["read", "write"])


def write_trace(path: str | Path, chunks: Iterable[TraceChunk] | TraceChunk, *, format: str) -> int:
    """Write requests to a file and return how many; a name that ends in .gz, .bz2, .xz or .zst is compressed.

    Parameters
    ----------
    path : str or Path
    chunks : TraceChunk or iterable of TraceChunk
        For instance `read_trace(…)`.
    format : {"csv", "disksim", "fio-iolog2", "fio-iolog3", "parquet"}
        What is kept: "csv" and "parquet" everything; "disksim" times in ms with six decimals, whole sectors of 512
        bytes, no response times; the iologs times in whole milliseconds (2) or microseconds (3), no response times,
        names of devices as files. Parquet needs the package pyarrow.

    Raises
    ------
    FormatError
        When the format is not one of these, or cannot represent a request (sectors, order of times in iologs).
    OutputError
        When the file cannot be written.
    CoverageError
        When pyarrow is needed and absent.
    """
    if isinstance(chunks, TraceChunk):
        chunks = [chunks]
    if format == "parquet":
        return _write_parquet(path, chunks)
    if format not in _WRITERS:
        raise FormatError(
            Fault("format", format, "is not a format that is written", f"use one of {', '.join(_WRITERS)}, parquet")
        )
    header, write = _WRITERS[format]
    n_rows = 0
    with text_file(path) as file:
        file.write(header)
        known_devices: list[str] = []
        last_ns = 0
        for chunk in chunks:
            if format.startswith("fio") and len(chunk):
                last_ns = _check_order(chunk, last_ns, str(path))
            write(file, chunk, known_devices)
            n_rows += len(chunk)
    return n_rows


def _check_order(chunk: TraceChunk, last_ns: int, path: str) -> int:
    if chunk.time_ns[0] < last_ns or (np.diff(chunk.time_ns) < 0).any():
        raise file_error(path, "cannot hold requests out of order of time", "sort them first: load_trace does")
    return int(chunk.time_ns[-1])


def _write_csv(file: IO[str], chunk: TraceChunk, known_devices: list[str]) -> None:
    names = [re.sub(r"[,\r\n]", "_", visible(name)) or "-" for name in chunk.device_names]
    rows = zip(
        chunk.time_ns.tolist(),
        _ACTIONS[chunk.op].tolist(),
        chunk.offset_bytes.tolist(),
        chunk.length_bytes.tolist(),
        chunk.response_ns.tolist(),
        chunk.device.tolist(),
        strict=True,
    )
    file.writelines(f"{t},{op},{offset},{length},{r},{names[device]}\n" for t, op, offset, length, r, device in rows)


def _write_disksim(file: IO[str], chunk: TraceChunk, known_devices: list[str]) -> None:
    is_odd = (chunk.offset_bytes % SECTOR_BYTES != 0) | (chunk.length_bytes % SECTOR_BYTES != 0)
    if is_odd.any():
        place = int(np.argmax(is_odd))
        value = f"{chunk.length_bytes[place]} bytes at {chunk.offset_bytes[place]}"
        raise FormatError(Fault("request", value, "must be whole sectors of 512 bytes", "use another format"))
    if (chunk.time_ns < 0).any():
        raise FormatError(Fault("time_ns", int(chunk.time_ns.min()), "must be 0 or more", "shift the times"))
    rows = zip(
        chunk.time_ns.tolist(),
        chunk.device.tolist(),
        (chunk.offset_bytes // SECTOR_BYTES).tolist(),
        (chunk.length_bytes // SECTOR_BYTES).tolist(),
        chunk.op.tolist(),
        strict=True,
    )
    file.writelines(
        f"{t // 1_000_000}.{t % 1_000_000:06d} {device} {block} {blocks} {1 - op}\n"
        for t, device, block, blocks, op in rows
    )


def _file_name(chunk: TraceChunk, device: int) -> str:
    return "_".join(chunk.device_names[device].split()) or "device"


def _write_iolog2(file: IO[str], chunk: TraceChunk, known_devices: list[str]) -> None:
    last_ms = -1
    for t, op, offset, length, device in _iolog_rows(chunk):
        name = _opened(file, chunk, device, known_devices, "")
        if t // 1_000_000 not in (0, last_ms):
            last_ms = t // 1_000_000
            file.write(f"{name} wait {last_ms} 0\n")
        file.write(f"{name} {op} {offset} {length}\n")


def _write_iolog3(file: IO[str], chunk: TraceChunk, known_devices: list[str]) -> None:
    for t, op, offset, length, device in _iolog_rows(chunk):
        name = _opened(file, chunk, device, known_devices, f"{t // 1000} ")
        file.write(f"{t // 1000} {name} {op} {offset} {length}\n")


def _iolog_rows(chunk: TraceChunk) -> Iterable[tuple[int, str, int, int, int]]:
    return zip(
        chunk.time_ns.tolist(),
        _ACTIONS[chunk.op].tolist(),
        chunk.offset_bytes.tolist(),
        chunk.length_bytes.tolist(),
        chunk.device.tolist(),
        strict=True,
    )


def _opened(file: IO[str], chunk: TraceChunk, device: int, known_devices: list[str], prefix: str) -> str:
    name = _file_name(chunk, device)
    if name not in known_devices:
        known_devices.append(name)
        file.write(f"{prefix}{name} add\n{prefix}{name} open\n")
    return name


_WRITERS: dict[str, tuple[str, Callable[[IO[str], TraceChunk, list[str]], None]]] = {
    "csv": (HEADER + "\n", _write_csv),
    "disksim": ("", _write_disksim),
    "fio-iolog2": ("fio version 2 iolog\n", _write_iolog2),
    "fio-iolog3": ("fio version 3 iolog\n", _write_iolog3),
}


def _write_parquet(path: str | Path, chunks: Iterable[TraceChunk]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CoverageError(
            Fault("format", "parquet", "needs the package pyarrow", "pip install 'diskmodel[parquet]'")
        ) from None
    schema: Any = pa.schema(
        [
            ("time_ns", pa.int64()),
            ("op", pa.string()),
            ("offset_bytes", pa.int64()),
            ("length_bytes", pa.int64()),
            ("response_ns", pa.int64()),
            ("device", pa.string()),
        ]
    )
    n_rows = 0
    with output_file(path) as file, pq.ParquetWriter(file, schema) as writer:
        for chunk in chunks:
            names = np.array(chunk.device_names or ("",), dtype=object)
            columns = [
                chunk.time_ns,
                _ACTIONS[chunk.op],
                chunk.offset_bytes,
                chunk.length_bytes,
                chunk.response_ns,
                names[chunk.device],
            ]
            writer.write_table(pa.table([pa.array(column) for column in columns], schema=schema))
            n_rows += len(chunk)
    return n_rows

"""The text traces that are tables: which column is what, in which unit."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.trace.columns import UNKNOWN, Int64
from diskmodel.formats.trace.tabular import (
    MAX_BYTES,
    MAX_LENGTH_BYTES,
    MAX_NS,
    SKIP,
    Column,
    Rows,
    Table,
    TableFormat,
    nanoseconds,
    op_codes,
    unknown_times,
)

SECTOR_BYTES = 512

_SECTORS = MAX_BYTES // SECTOR_BYTES
_LENGTH_SECTORS = MAX_LENGTH_BYTES // SECTOR_BYTES
_SECONDS = MAX_NS / 1e9
_LETTERS = {"R": 0, "W": 1, "r": 0, "w": 1, "Read": 0, "Write": 1, "read": 0, "write": 1}
_LETTER_COLUMN = Column("operation", "op", words=_LETTERS)
_NUMBER_COLUMN = Column("operation", "op", words={"0": 0, "1": 1})

# ---------------------------------------------------------------- MSR Cambridge


def _msr_rows(table: Table) -> Rows:
    return Rows(
        ticks=table["timestamp"],
        op=op_codes(_LETTER_COLUMN, table["operation"]),
        offset_bytes=table["offset"],
        length_bytes=table["size"],
        response_ns=table["response_time"] * 100,
        device_keys=(table["hostname"], table["disk_number"]),
    )


#: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, both times in units of 100 ns, the first since 1601.
#: Narayanan, Donnelly, Rowstron: Write off-loading, FAST 2008.
MSR = TableFormat(
    columns=(
        Column("timestamp"),
        Column("hostname", "word"),
        Column("disk_number", high=2**31),
        _LETTER_COLUMN,
        Column("offset"),
        Column("size", high=MAX_LENGTH_BYTES),
        Column("response_time", high=MAX_NS // 100),
    ),
    to_rows=_msr_rows,
    tick_ns=100,
    has_epoch=True,
    unit_ns=100,
)

# ---------------------------------------------------------------- SYSTOR '17


def _systor_rows(table: Table) -> Rows:
    response = table["response"]
    return Rows(
        ticks=nanoseconds(table["timestamp"], 1e9),
        op=op_codes(_SYSTOR_TYPE, table["operation"]),
        offset_bytes=table["offset"],
        length_bytes=table["size"],
        response_ns=np.where(response < 0, UNKNOWN, nanoseconds(np.maximum(response, 0), 1e9)),
        device_keys=(table["lun"],),
    )


_SYSTOR_TYPE = Column("operation", "op", words={"R": 0, "W": 1, "": SKIP})

#: `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970, seconds (may be missing), R or W (may be missing),
#: a number, bytes, bytes. Seconds are read to a quarter of a microsecond. Lee et al.: Understanding storage traffic
#: characteristics on enterprise virtual desktop infrastructure, SYSTOR 2017.
SYSTOR17 = TableFormat(
    columns=(
        Column("timestamp", "float", high=_SECONDS),
        Column("response", "float or nothing", high=1e9),
        _SYSTOR_TYPE,
        Column("lun", high=2**31),
        Column("offset"),
        Column("size", high=MAX_LENGTH_BYTES),
    ),
    to_rows=_systor_rows,
    has_epoch=True,
    unit_ns=10**9,
)

# ---------------------------------------------------------------- SPC (UMass repository)


def _spc_rows(table: Table) -> Rows:
    return Rows(
        ticks=nanoseconds(table["timestamp"], 1e9),
        op=op_codes(_LETTER_COLUMN, table["operation"]),
        offset_bytes=table["lba"] * SECTOR_BYTES,
        length_bytes=table["size"],
        response_ns=unknown_times(len(table)),
        device_keys=(table["asu"],),
    )


#: `ASU,LBA,Size,Opcode,Timestamp`: blocks of 512 bytes, bytes, r or w, seconds; further columns are ignored.
#: Storage Performance Council: SPC Trace File Format Specification, revision 1.0.1, 2002.
SPC = TableFormat(
    columns=(
        Column("asu", high=2**31),
        Column("lba", high=_SECTORS),
        Column("size", high=MAX_LENGTH_BYTES),
        _LETTER_COLUMN,
        Column("timestamp", "float", high=_SECONDS),
    ),
    to_rows=_spc_rows,
    more_columns=True,
    unit_ns=10**9,
)

# ---------------------------------------------------------------- DiskSim ASCII and MQSim


def _flag_codes(cells: NDArray[np.bytes_]) -> NDArray[np.uint8]:
    return op_codes(_FLAGS, cells)


# Flags are hexadecimal and bit 0 means read; the bits above (time critical, synchronous …) do not matter here.
_FLAGS = Column(
    "flags",
    "op",
    words={
        f"{prefix}{value:{case}}": 1 - value % 2
        for value in range(256)
        for prefix in ("", "0x")
        for case in ("x", "X", "02x")
    },
)


def _disksim_rows(table: Table) -> Rows:
    return Rows(
        ticks=nanoseconds(table["time_ms"], 1e6),
        op=_flag_codes(table["flags"]),
        offset_bytes=table["block"] * SECTOR_BYTES,
        length_bytes=table["n_blocks"] * SECTOR_BYTES,
        response_ns=unknown_times(len(table)),
        device_keys=(table["device"],),
    )


#: `time_ms devno blkno bcount flags`. Bucy, Schindler, Schlosser, Ganger: The DiskSim Simulation Environment Version
#: 4.0 Reference Manual, 2008, section on input traces.
DISKSIM = TableFormat(
    columns=(
        Column("time_ms", "float", high=MAX_NS / 1e6),
        Column("device", high=2**31),
        Column("block", high=_SECTORS),
        Column("n_blocks", high=_LENGTH_SECTORS),
        _FLAGS,
    ),
    to_rows=_disksim_rows,
    delimiter=None,
    unit_ns=10**6,
)

_MQSIM_TYPE = Column("type", "op", words={"0": 1, "1": 0})


def _mqsim_rows(table: Table) -> Rows:
    return Rows(
        ticks=table["time_ns"],
        op=op_codes(_MQSIM_TYPE, table["type"]),
        offset_bytes=table["block"] * SECTOR_BYTES,
        length_bytes=table["n_blocks"] * SECTOR_BYTES,
        response_ns=unknown_times(len(table)),
        device_keys=(table["device"],),
    )


#: The same five columns with whole nanoseconds, 0 write, 1 read. Tavakkol et al.: MQSim, FAST 2018.
MQSIM = TableFormat(
    columns=(
        Column("time_ns", high=MAX_NS),
        Column("device", high=2**31),
        Column("block", high=_SECTORS),
        Column("n_blocks", high=_LENGTH_SECTORS),
        _MQSIM_TYPE,
    ),
    to_rows=_mqsim_rows,
    delimiter=None,
    unit_ns=1,
)

# ---------------------------------------------------------------- cloud volumes


def _alibaba_rows(table: Table) -> Rows:
    return Rows(
        ticks=table["timestamp"],
        op=op_codes(_LETTER_COLUMN, table["operation"]),
        offset_bytes=table["offset"],
        length_bytes=table["length"],
        response_ns=unknown_times(len(table)),
        device_keys=(table["device_id"],),
    )


#: `device_id,opcode,offset,length,timestamp`: bytes, microseconds since 1970.
#: Li, Wang, Lee, Zhang: An in-depth analysis of cloud block storage workloads in large-scale production, IISWC 2020.
ALIBABA = TableFormat(
    columns=(
        Column("device_id", high=2**31),
        _LETTER_COLUMN,
        Column("offset"),
        Column("length", high=MAX_LENGTH_BYTES),
        Column("timestamp", high=MAX_NS),
    ),
    to_rows=_alibaba_rows,
    tick_ns=1000,
    has_epoch=True,
    unit_ns=1000,
)


def _tencent_rows(table: Table) -> Rows:
    return Rows(
        ticks=table["timestamp"],
        op=op_codes(_NUMBER_COLUMN, table["operation"]),
        offset_bytes=table["offset"] * SECTOR_BYTES,
        length_bytes=table["size"] * SECTOR_BYTES,
        response_ns=unknown_times(len(table)),
        device_keys=(table["volume_id"],),
    )


#: `Timestamp,Offset,Size,IOType,VolumeID`: seconds since 1970, sectors, 0 read or 1 write.
#: Zhang, Huang, Zhou, Wang, Lan et al.: OSCA, USENIX ATC 2020.
TENCENT = TableFormat(
    columns=(
        Column("timestamp", high=MAX_NS),
        Column("offset", high=_SECTORS),
        Column("size", high=_LENGTH_SECTORS),
        _NUMBER_COLUMN,
        Column("volume_id", high=2**62),
    ),
    to_rows=_tencent_rows,
    tick_ns=10**9,
    has_epoch=True,
    unit_ns=10**9,
)

# ---------------------------------------------------------------- FIU


def _fiu_rows(table: Table) -> Rows:
    return Rows(
        ticks=table["timestamp"],
        op=op_codes(_LETTER_COLUMN, table["operation"]),
        offset_bytes=table["lba"] * SECTOR_BYTES,
        length_bytes=table["n_blocks"] * SECTOR_BYTES,
        response_ns=unknown_times(len(table)),
        device_keys=(table["major"], table["minor"]),
    )


#: `timestamp pid process lba blocks R|W major minor hash …`: nanoseconds, blocks of 512 bytes; hashes of the content
#: are ignored. Koller, Rangaswami: I/O Deduplication, FAST 2010.
FIU = TableFormat(
    columns=(
        Column("timestamp", high=MAX_NS),
        Column("pid", high=2**31),
        Column("process", "word"),
        Column("lba", high=_SECTORS),
        Column("n_blocks", high=_LENGTH_SECTORS),
        _LETTER_COLUMN,
        Column("major", high=2**31),
        Column("minor", high=2**31),
    ),
    to_rows=_fiu_rows,
    delimiter=None,
    has_epoch=True,
    more_columns=True,
    unit_ns=1,
)

# ---------------------------------------------------------------- libCacheSim


def _lcs_rows(table: Table) -> Rows:
    return Rows(
        ticks=nanoseconds(table["time"], 1e9),
        op=op_codes(_SCSI, table["op"]),
        offset_bytes=table["lbn"] * SECTOR_BYTES,
        length_bytes=table["size"],
        response_ns=unknown_times(len(table)),
    )


# Commands of SCSI: READ and WRITE of 6, 10, 12, 16 bytes; SYNCHRONIZE CACHE and UNMAP neither read nor write.
_SCSI = Column(
    "op",
    "op",
    words={
        f"{prefix}{code:{case}}": op
        for op, codes in ((0, (0x08, 0x28, 0xA8, 0x88)), (1, (0x0A, 0x2A, 0xAA, 0x8A)), (SKIP, (0x35, 0x91, 0x42)))
        for code in codes
        for prefix in ("", "0x")
        for case in ("x", "X", "02x", "02X")
    }
    | {"8": 0, "a": 1, "A": 1},
)

#: `version,time,op,size,lbn` below a heading of these names: seconds, a SCSI command in hexadecimal digits, bytes,
#: sectors. libCacheSim, data/trace.csv.
LIBCACHESIM_CSV = TableFormat(
    columns=(
        Column("version", high=2**31),
        Column("time", "float", high=_SECONDS),
        _SCSI,
        Column("size", high=MAX_LENGTH_BYTES),
        Column("lbn", high=_SECTORS),
    ),
    to_rows=_lcs_rows,
    has_epoch=True,
    n_header_lines=1,
    unit_ns=10**9,
)

# ---------------------------------------------------------------- a drive's requests with think times


def _drive_rows(table: Table) -> Rows:
    response = nanoseconds(table["response_us"], 1e3)
    return Rows(
        ticks=response + nanoseconds(table["think_us"], 1e3),
        op=op_codes(_LETTER_COLUMN, table["operation"]),
        offset_bytes=table["lba"] * SECTOR_BYTES,
        length_bytes=table["n_blocks"] * SECTOR_BYTES,
        response_ns=response,
    )


#: `R|W Hit|Miss|Doub|Trip lba blocks response_us think_us`: one request at a time, the pause follows the completion.
#: A pause of a year would be a fault of the file; the bound also keeps the sum of the times in range.
DRIVE = TableFormat(
    columns=(
        _LETTER_COLUMN,
        Column("cache", "op", words={word: 0 for word in ("Hit", "Miss", "Doub", "Trip")}),
        Column("lba", high=_SECTORS),
        Column("n_blocks", high=_LENGTH_SECTORS),
        Column("response_us", "float", high=3.2e13),
        Column("think_us", "float", high=3.2e13),
    ),
    to_rows=_drive_rows,
    delimiter=None,
    is_closed=True,
)

# ---------------------------------------------------------------- latency logs of fio that hold offsets

_FIO_DIRECTION = Column("direction", "op", words={"0": 0, "1": 1, "2": SKIP})


_MEANING = re.compile(r"(?<![A-Za-z0-9])(bw|iops|slat|clat|lat)(?![A-Za-z])", re.IGNORECASE)

#: What is wrong with a log that `log_avg_msec` averages, and what to do.
AVERAGED = (
    "holds averages (log_avg_msec), which have no sizes and no places: it has no single requests",
    "run fio again without log_avg_msec, or give its JSON output",
)


def fio_log_meaning(name: str) -> str | None:
    """Return what a log of fio is of by its file's name: "bw", "iops", "slat", "clat", "lat"; None where it is silent.

    fio puts the word behind the name that the user chose.
    """
    found = _MEANING.findall(name)
    return str(found[-1]).lower() if found else None


def is_averaged(lines: list[str]) -> bool:
    """Whether all of the lines of a log are averages: they have a block size of 0."""
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.lstrip()[:1].isdecimal()]
    return bool(cells) and all(len(row) >= 4 and row[3] == "0" for row in cells)


def fio_log_rows(table: Table, offset_bytes: Int64) -> Rows:
    """Rows of a latency log of fio whose offsets are known."""
    latency = table["value_ns"]
    return Rows(
        ticks=table["time_ms"] * 1_000_000 - latency,
        op=op_codes(_FIO_DIRECTION, table["direction"]),
        offset_bytes=offset_bytes,
        length_bytes=table["block_bytes"],
        response_ns=latency,
    )


#: `time_ms, value, ddir, bs, offset[, …]` of `write_lat_log` with `log_offset=1`. An entry is written at completion,
#: with a clock of milliseconds, so issue times are known to a millisecond only.
FIO_LOG = TableFormat(
    columns=(
        # since 1970 with log_unix_epoch
        Column("time_ms", high=MAX_NS // (2 * 10**6)),
        Column("value_ns", high=MAX_NS // 10),
        _FIO_DIRECTION,
        Column("block_bytes", high=MAX_LENGTH_BYTES),
        Column("offset"),
    ),
    to_rows=lambda table: fio_log_rows(table, table["offset"]),
    more_columns=True,
)


def _without_response(table: Table) -> Rows:
    rows = fio_log_rows(table, table["offset"])
    return replace(rows, ticks=table["time_ms"] * 1_000_000, response_ns=unknown_times(len(table)))


#: A log with the same columns whose values are bandwidths, IOPS or times of submission, not response times.
FIO_OTHER_LOG = replace(FIO_LOG, to_rows=_without_response)

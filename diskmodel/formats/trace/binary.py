"""Binary traces: records of fixed length, little-endian and packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.faults import unreadable
from diskmodel.formats.opening import READ_ERRORS
from diskmodel.formats.trace.blocks import BLOCK_BYTES
from diskmodel.formats.trace.columns import Tally, TraceChunk
from diskmodel.formats.trace.tabular import MAX_BYTES, MAX_LENGTH_BYTES, MAX_NS, SKIP, Rows, unknown_times
from diskmodel.formats.trace.text_formats import SECTOR_BYTES
from diskmodel.loading import dataclass

Records = NDArray[Any]


@dataclass(frozen=True)
class BinaryFormat:
    """A trace of records; `is_good` and `to_rows` work on whole arrays of them."""

    dtype: np.dtype[Any]
    is_good: Callable[[Records], NDArray[np.bool_]]
    to_rows: Callable[[Records], Rows]
    tick_ns: int

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks in the order of the file; the first good record is time zero."""
        size = self.dtype.itemsize
        rest, record, origin = b"", 1, None
        while True:
            try:
                data = stream.read(BLOCK_BYTES)
            except READ_ERRORS as error:
                raise unreadable(tally.path, error) from None
            if not data:
                break
            data = rest + data
            n = len(data) // size
            rest = data[n * size :]
            records = np.frombuffer(data, dtype=self.dtype, count=n)
            is_good = self.is_good(records)
            for place in np.flatnonzero(~is_good):
                raw = records[place].tobytes().hex()
                tally.malformed(record + int(place), 0, "record", raw, "breaks a rule of the format")
            record += n
            rows = self.to_rows(records[is_good])
            is_io = rows.op != SKIP
            tally.n_skipped += int((~is_io).sum())
            if not len(rows.ticks):
                continue
            origin = int(rows.ticks[0]) if origin is None else origin
            time_ns = (rows.ticks - origin) * self.tick_ns
            device = tally.device("")
            chunk = TraceChunk(
                time_ns,
                rows.op,
                rows.offset_bytes,
                rows.length_bytes,
                rows.response_ns,
                np.full(len(time_ns), device, dtype=np.int32),
                tuple(tally.device_names),
            ).take(is_io)
            if len(chunk):
                yield chunk
        if rest:
            tally.malformed(record, 0, "record", rest.hex(), f"is cut short: {len(rest)} of {size} bytes")


# ---------------------------------------------------------------- libCacheSim oracleGeneral

ORACLE_DTYPE = np.dtype([("time_s", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])


def _oracle_is_good(records: Records) -> NDArray[np.bool_]:
    is_good: NDArray[np.bool_] = (
        (records["id"] <= MAX_BYTES // SECTOR_BYTES) & (records["size"] > 0) & (records["next"] >= -2)
    )
    return is_good


def _oracle_rows(records: Records) -> Rows:
    n = len(records)
    return Rows(
        ticks=records["time_s"].astype(np.int64),
        op=np.zeros(n, dtype=np.uint8),
        offset_bytes=records["id"].astype(np.int64) * SECTOR_BYTES,
        length_bytes=records["size"].astype(np.int64),
        response_ns=unknown_times(n),
    )


#: `{u32 time_s, u64 id, u32 size, i64 next}`: ids are taken as block numbers of 512 bytes, every request as a read,
#: as the format does not record operations. Juncheng Yang et al.: libCacheSim.
ORACLE = BinaryFormat(ORACLE_DTYPE, _oracle_is_good, _oracle_rows, 10**9)

# ---------------------------------------------------------------- CloudPhysics vscsi

_VSCSI_READS = (0x08, 0x28, 0xA8, 0x88)
_VSCSI_WRITES = (0x0A, 0x2A, 0xAA, 0x8A)

VSCSI1_DTYPE = np.dtype(
    [("sn", "<u4"), ("len", "<u4"), ("n_sg", "<u4"), ("cmd", "<u2"), ("ver", "<u2"), ("lbn", "<u8"), ("ts", "<u8")]
)
VSCSI2_DTYPE = np.dtype(
    [
        ("cmd", "<u2"),
        ("ver", "<u2"),
        ("sn", "<u4"),
        ("len", "<u4"),
        ("n_sg", "<u4"),
        ("lbn", "<u8"),
        ("ts", "<u8"),
        ("rt", "<u8"),
    ]
)


def _vscsi_is_good(version: int) -> Callable[[Records], NDArray[np.bool_]]:
    def is_good(records: Records) -> NDArray[np.bool_]:
        good: NDArray[np.bool_] = (
            (records["ver"] >> 8 == version)
            & (records["lbn"] <= MAX_BYTES // SECTOR_BYTES)
            & (records["ts"] <= MAX_NS // 1000)
            & (records["len"] <= MAX_LENGTH_BYTES)
        )
        return good

    return is_good


def _vscsi_rows(records: Records) -> Rows:
    op = np.full(len(records), SKIP, dtype=np.uint8)
    op[np.isin(records["cmd"], _VSCSI_READS)] = 0
    op[np.isin(records["cmd"], _VSCSI_WRITES)] = 1
    op[records["len"] == 0] = SKIP
    return Rows(
        ticks=records["ts"].astype(np.int64),
        op=op,
        offset_bytes=records["lbn"].astype(np.int64) * SECTOR_BYTES,
        length_bytes=records["len"].astype(np.int64),
        response_ns=unknown_times(len(records)),
    )


#: Records of the hypervisor's tracer, microseconds, blocks of 512 bytes. Waldspurger, Park, Garthwaite, Ahmad:
#: Efficient MRC construction with SHARDS, FAST 2015. The unit of version 2's response time is not documented, so it
#: is left out.
VSCSI1 = BinaryFormat(VSCSI1_DTYPE, _vscsi_is_good(1), _vscsi_rows, 1000)
VSCSI2 = BinaryFormat(VSCSI2_DTYPE, _vscsi_is_good(2), _vscsi_rows, 1000)

"""This project's own CSV of a trace: a header line, whole nanoseconds and bytes."""

from __future__ import annotations

from diskmodel.formats.trace.tabular import (
    MAX_BYTES,
    MAX_LENGTH_BYTES,
    MAX_NS,
    Column,
    Rows,
    Table,
    TableFormat,
    op_codes,
)

HEADER = "time_ns,op,offset_bytes,length_bytes,response_ns,device"

_OP = Column("op", "op", words={"read": 0, "write": 1})


def _rows(table: Table) -> Rows:
    return Rows(
        ticks=table["time_ns"],
        op=op_codes(_OP, table["op"]),
        offset_bytes=table["offset_bytes"],
        length_bytes=table["length_bytes"],
        response_ns=table["response_ns"],
        device_keys=(table["device"],),
    )


#: `time_ns,op,offset_bytes,length_bytes,response_ns,device`; an unknown response is -1, an unnamed device "-".
OWN_CSV = TableFormat(
    columns=(
        Column("time_ns", low=-MAX_NS, high=MAX_NS),
        _OP,
        Column("offset_bytes", high=MAX_BYTES),
        Column("length_bytes", high=MAX_LENGTH_BYTES),
        Column("response_ns", low=-1, high=MAX_NS),
        Column("device", "word"),
    ),
    to_rows=_rows,
    n_header_lines=1,
    unit_ns=1,
)

"""Block traces of any known format as a stream of columns, or whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.opening import open_bytes, read_head
from diskmodel.formats.trace.columns import FLUSH, Tally, TraceChunk, far_record, joined
from diskmodel.formats.trace.registry import FORMATS, head_lines, likely
from diskmodel.formats.trace.time_unit import check_unit, doubtful_unit
from diskmodel.loading import dataclass

Errors = Literal["raise", "count"]


def detect(path: str | Path) -> str:
    """Return the name of a file's trace format, recognized by its content; a key of `FORMATS`.

    Raises
    ------
    FormatError
        When it cannot be read, is empty, or looks like none of them; the message shows its first line and names the
        formats that are known.
    """
    head = read_head(path)
    name = likely(head)
    if name is not None:
        return name
    if not head.strip():
        raise file_error(path, "is empty")
    lines = head_lines(head)
    seen = lines[0] if lines and lines[0].expandtabs().isprintable() else "binary data"
    raise file_error(
        path, "is not a trace of a known format", f"give the format, one of {', '.join(FORMATS)}", value=seen[:120]
    )


#: What lines are that are left out.
SKIPPED_WORDS = "that neither read nor write (flushes, discards)"


class TraceReader(Iterator[TraceChunk]):
    """Chunks of a trace, one after the other; memory stays flat however long the trace is.

    Attributes
    ----------
    format : str
    n_rows : int
        Requests handed out so far.
    """

    def __init__(
        self, path: str | Path, form: str | None, device: str | None, errors: Errors, with_flushes: bool = False
    ) -> None:
        if errors not in ("raise", "count"):
            raise FormatError(Fault("errors", errors, "must be raise or count"))
        if form is not None and form not in FORMATS:
            raise FormatError(Fault("format", form, "is not a known trace format", f"use one of {', '.join(FORMATS)}"))
        self.path = str(path)
        self.format = form or detect(path)
        self.n_rows = 0
        self._device = device
        self._tally = Tally(self.path, is_fatal=errors == "raise", with_flushes=with_flushes)
        self._chunks = self._read()

    def __next__(self) -> TraceChunk:
        for chunk in self._chunks:
            if self._device is not None:
                names = self._tally.device_names
                if self._device not in names:
                    continue
                chunk = chunk.take(chunk.device == names.index(self._device))
            if len(chunk):
                self.n_rows += len(chunk)
                return chunk
        if self._device is not None and self._device not in self._tally.device_names:
            known = ", ".join(self._tally.device_names[:20])
            raise FormatError(Fault("device", self._device, "is not in the trace", f"it has {known}"), self.path)
        raise StopIteration

    @property
    def n_malformed(self) -> int:
        """Malformed lines met so far."""
        return self._tally.n_malformed

    @property
    def n_skipped(self) -> int:
        """Well-formed lines so far that are neither a read nor a write."""
        return self._tally.n_skipped

    @property
    def n_flushes(self) -> int:
        """Flushes so far: the block layer makes one of each write that asks for it, or hands it on with the write."""
        return max(self._tally.n_flushes, self._tally.n_with_flush)

    def check_unit(self, n: int, span_ns: int) -> str | None:
        """Return what to say of the unit of the file's times, from the requests so far.

        Raises
        ------
        FormatError
            When no storage can have the rate of `n` requests in `span_ns`.
        """
        unit_ns = self._tally.unit_ns
        check_unit(self.path, n, span_ns, unit_ns)
        return doubtful_unit(n, span_ns, unit_ns, self._tally.origin_ns)

    @property
    def examples(self) -> tuple[LineError, ...]:
        """The first malformed lines, at most 10."""
        return tuple(self._tally.examples)

    @property
    def device_names(self) -> tuple[str, ...]:
        """Devices met so far."""
        return tuple(self._tally.device_names)

    def _read(self) -> Iterator[TraceChunk]:
        form, head = FORMATS[self.format], read_head(self.path)
        parser = form.parser(head) if form.for_name is None else form.for_name(head, self.path)
        with open_bytes(self.path) as stream:
            yield from parser.chunks(stream, self._tally)


def read_trace(
    path: str | Path,
    *,
    format: str | None = None,
    device: str | None = None,
    errors: Errors = "raise",
    with_flushes: bool = False,
) -> TraceReader:
    """Stream of chunks of a block trace, plain or compressed (gzip, bzip2, xz, zstd).

    Parameters
    ----------
    path : str or Path
    format : str, optional
        A key of `FORMATS`; recognized by content when left out.
    device : str, optional
        Only the requests of this device, by its name as in `TraceChunk.device_names`.
    errors : {"raise", "count"}
        Malformed lines end the reading with an error, or are left out and counted.
    with_flushes : bool
        Flushes are rows, too, and writes past the caches of drives have an operation of their own (`TraceChunk`).

    Raises
    ------
    FormatError
        For a file that cannot be read or decompressed, an unknown format, a device that does not occur (at the end),
        and, while reading with `errors="raise"`, as `LineError` for the first malformed line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trace"
    >>> _ = path.write_text("0,240840,3072,w,0.026214\\n0,240846,3072,w,0.028\\n")
    >>> reader = read_trace(path)
    >>> [chunk.offset_bytes.tolist() for chunk in reader], reader.format
    ([[123310080, 123313152]], 'spc')
    """
    return TraceReader(path, format, device, errors, with_flushes)


@dataclass(frozen=True)
class Trace:
    """A whole trace.

    Attributes
    ----------
    requests : TraceChunk
        All rows, in order of issue time (stable). The first is at time 0 where the file has times below that, as
        logs that are written at completion do.
    format : str
    n_malformed, n_skipped : int
    n_flushes : int
        Flushes of the file, whether the requests have them or not.
    unit_note : str or None
        What speaks against the unit of its times.
    """

    requests: TraceChunk
    format: str
    n_malformed: int
    n_skipped: int
    n_flushes: int = 0
    unit_note: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the requests do not show of the file, in one line each."""
        found = []
        if len(np.unique(self.requests.device)) > 1:
            n_devices = len(np.unique(self.requests.device))
            found.append(f"the requests of {n_devices} devices were taken together, as on one array")
        if self.unit_note:
            found.append(self.unit_note)
        if far := far_record(self.requests.time_ns):
            found.append(far)
        if self.n_skipped:
            found.append(f"{self.n_skipped} entries {SKIPPED_WORDS} were left out")
        if self.n_malformed:
            found.append(f"{self.n_malformed} malformed lines were left out")
        return tuple(found)


def load_trace(
    path: str | Path,
    *,
    format: str | None = None,
    device: str | None = None,
    errors: Errors = "raise",
    with_flushes: bool = False,
) -> Trace:
    """A whole trace in memory (41 bytes a request), sorted by issue time; see `read_trace`.

    Raises
    ------
    FormatError
        As `read_trace`, when it holds no request at all, and when no storage can have its rate.
    """
    reader = read_trace(path, format=format, device=device, errors=errors, with_flushes=with_flushes)
    rows = joined(list(reader))
    if not (rows.op != FLUSH).any():
        raise file_error(path, "holds no reads or writes", f"it was read as {reader.format}")
    if (np.diff(rows.time_ns) < 0).any():
        rows = rows.take(np.argsort(rows.time_ns, kind="stable"))
    if rows.time_ns[0] < 0:
        rows = replace(rows, time_ns=rows.time_ns - rows.time_ns[0])
    unit_note = reader.check_unit(len(rows), int(rows.time_ns[-1] - rows.time_ns[0]))
    return Trace(rows, reader.format, reader.n_malformed, reader.n_skipped, reader.n_flushes, unit_note)

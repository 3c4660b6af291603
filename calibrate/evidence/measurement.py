"""A measurement as the micro-benchmark wrote it: experiments with NumPy columns, one row per request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from calibrate.arrays import Ints
from diskmodel.errors import Fault, FormatError, InputError
from diskmodel.input import open_input
from diskmodel.limits import MAX_MEASUREMENT_VALUES, parse_json

#: A measurement of eight million requests has some 300 MB.
MAX_BYTES = 1 << 30

FORMAT = "diskmodel-measurement"
VERSION = 1
READ, WRITE, DURABLE_WRITE, FLUSH = 0, 1, 2, 3


@dataclass(frozen=True)
class Samples:
    """Columns of equal length n, read-only; within a run in order of completion.

    Attributes
    ----------
    issue_ns : ndarray of int64, shape (n,)
        Nanoseconds since the origin of the experiment's epoch, >= 0.
    latency_ns : ndarray of int64, shape (n,)
        Nanoseconds from issue to completion, >= 0.
    offset_bytes, length_bytes : ndarray of int64, shape (n,)
        Place on the target and size.
    op : ndarray of int64, shape (n,)
        0 read, 1 write, 2 durable write.
    """

    issue_ns: Ints
    latency_ns: Ints
    offset_bytes: Ints
    length_bytes: Ints
    op: Ints

    def __len__(self) -> int:
        return len(self.issue_ns)

    @property
    def completion_ns(self) -> Ints:
        """Return completion times (n,), nanoseconds since the origin of the epoch."""
        return self.issue_ns + self.latency_ns

    def rows(self, part: slice) -> Samples:
        """Return the rows of a slice, as views."""
        return Samples(
            self.issue_ns[part],
            self.latency_ns[part],
            self.offset_bytes[part],
            self.length_bytes[part],
            self.op[part],
        )


@dataclass(frozen=True)
class Run:
    """One stretch of an experiment at one queue depth."""

    parameters: Mapping[str, Any]
    summary: Mapping[str, Any]
    samples: Samples = field(repr=False)

    @property
    def queue_depth(self) -> int:
        """Return the number of outstanding requests, 1 to 256."""
        return int(self.parameters["queue_depth"])


@dataclass(frozen=True)
class Experiment:
    """One experiment; `skipped` is the reason if it was not done, and then there are no rows."""

    name: str
    why: str
    parameters: Mapping[str, Any]
    summary: Mapping[str, Any]
    runs: tuple[Run, ...] = field(repr=False)
    samples: Samples = field(repr=False)
    skipped: str | None = None
    is_partial: bool = False
    epoch: int = 0


@dataclass(frozen=True)
class Measurement:
    """Everything in a measurement's document; mappings are as in docs/reference/measurement-format.md."""

    path: Path
    is_complete: bool
    elapsed_s: float
    program: Mapping[str, Any]
    host: Mapping[str, Any]
    target: Mapping[str, Any]
    settings: Mapping[str, Any]
    overhead: Mapping[str, Any]
    findings: Mapping[str, Any]
    experiments: tuple[Experiment, ...]
    warnings: tuple[Mapping[str, Any], ...]

    @property
    def size_bytes(self) -> int:
        """Return the span of the target."""
        return int(self.target["size_bytes"])

    @property
    def nature(self) -> str:
        """Return what the latencies show: "rotating", "not_rotating" or "undecided"."""
        return str(self.findings["nature"])

    def experiment(self, name: str) -> Experiment | None:
        """Return the experiment of that name if it was done (at least in part), else None."""
        found = [e for e in self.experiments if e.name == name and e.skipped is None]
        return found[-1] if found else None


def load(path: str | Path) -> Measurement:
    """Read the measurement in a file.

    Raises
    ------
    FormatError
        If the file cannot be read, is not a measurement of a known version, or a part of it is missing or malformed.
    """
    path = Path(path)
    try:
        with open_input(path) as file:
            # no more than the file has: a buffer of the largest size would be reserved for every small one
            size = os.fstat(file.fileno()).st_size
            text = file.read(min(size, MAX_BYTES) + 1).decode("utf-8-sig")
        if len(text) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        document = parse_json(text, MAX_MEASUREMENT_VALUES)
    except InputError as error:
        raise FormatError(error.faults) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _fault(path, "file", str(path), f"cannot be read as JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        given = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise _fault(path, "format", given, f"must be {FORMAT!r}")
    if document.get("version") != VERSION:
        raise _fault(
            path, "version", document.get("version"), f"must be {VERSION}", "use a matching release of this program"
        )
    parts = {key: _mapping(document, key, path, key) for key in _PARTS}
    _whole(parts["target"], "size_bytes", path, "target.size_bytes")
    if parts["target"].get("device") is not None:
        _figures(parts["target"], "device", path, "target.device")
    warnings = _list(document, "warnings", path, "warnings")
    if not all(isinstance(warning, dict) for warning in warnings):
        raise _fault(path, "warnings", None, "must be a list of objects")
    experiments = _list(document, "experiments", path, "experiments")
    return Measurement(
        path=path,
        is_complete=document.get("state") == "complete",
        elapsed_s=_seconds(document.get("elapsed_s", 0.0), path, "elapsed_s"),
        experiments=tuple(_experiment(e, path, f"experiments[{i}]") for i, e in enumerate(experiments)),
        warnings=tuple(warnings),
        **parts,
    )


#: So that the sum of two, a completion, stays within 64 bits.
_RULE_OF_COLUMNS = "must be integers of at least 0 and less than 2^62"
#: Rows of an experiment: far more than the program records.
_MAX_ROWS = 1 << 24
_CALCULATED_WITH = {
    *("read_fraction", "position_bytes", "segments_at_least", "segments_below", "read_ahead_at_least_bytes"),
    *("read_ahead_below_bytes", "buffer_bytes", "size_bytes", "logical_sector_bytes"),
}
#: Limit of times in seconds: thirty years.
_MAX_S = 1e9
_PARTS = ("program", "host", "target", "settings", "overhead", "findings")


def _fault(path: Path, where: str, value: object, rule: str, fix: str = "measure again") -> FormatError:
    return FormatError(Fault(where, value, rule, fix), source=str(path))


def _mapping(parent: Mapping[str, Any], key: str, path: Path, where: str) -> dict[str, Any]:
    value = parent.get(key)
    if not isinstance(value, dict):
        raise _fault(path, where, value, "must be an object")
    return value


def _figures(parent: Mapping[str, Any], key: str, path: Path, where: str) -> dict[str, Any]:
    """Return the object under `key`, in which every figure used by calibrations must be a number or null."""
    found = _mapping(parent, key, path, where)
    for name in _CALCULATED_WITH & found.keys():
        value = found[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 62
        if value is not None and not is_number:
            raise _fault(path, f"{where}.{name}", value, "must be a number of at least 0 and less than 2^62, or null")
    return found


def _whole(
    parent: Mapping[str, Any], key: str, path: Path, where: str, low: int = 0, default: int | None = None
) -> int:
    value = parent.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < 1 << 63:
        raise _fault(path, where, value, f"must be an integer of at least {low} and less than 2^63")
    return value


def _seconds(value: object, path: Path, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_S:
        raise _fault(path, where, value, f"must be seconds, from 0 to {_MAX_S:g}")
    return float(value)


def _list(parent: Mapping[str, Any], key: str, path: Path, where: str) -> list[Any]:
    value = parent.get(key)
    if not isinstance(value, list):
        raise _fault(path, where, value, "must be a list")
    return value


def _experiment(raw: Any, path: Path, where: str) -> Experiment:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise _fault(path, where, None, "must be an object with a name")
    columns = raw.get("samples")
    if columns is None and raw.get("skipped") is None:
        raise _fault(path, f"{where}.samples", None, "is missing although the experiment was not skipped")
    samples = _samples(columns or {"n": 0}, path, f"{where}.samples")
    return Experiment(
        name=raw["name"],
        why=str(raw.get("why", "")),
        parameters=_mapping(raw, "parameters", path, f"{where}.parameters"),
        summary=_figures(raw, "summary", path, f"{where}.summary"),
        runs=tuple(
            _run(r, samples, path, f"{where}.runs[{i}]")
            for i, r in enumerate(_list(raw, "runs", path, f"{where}.runs"))
        ),
        samples=samples,
        skipped=raw.get("skipped"),
        is_partial=bool(raw.get("is_partial", False)),
        epoch=_whole(raw, "epoch", path, f"{where}.epoch", default=0),
    )


def _run(raw: Any, samples: Samples, path: Path, where: str) -> Run:
    if not isinstance(raw, dict):
        raise _fault(path, where, raw, "must be an object")
    first, count = raw.get("first"), raw.get("count")
    if not _is_count(first) or not _is_count(count):
        raise _fault(path, where, {"first": first, "count": count}, "first and count must be integers of at least 0")
    if first + count > len(samples) and len(samples) > 0:
        raise _fault(path, where, first + count, f"must end within the {len(samples)} rows of the experiment")
    parameters = _figures(raw, "parameters", path, f"{where}.parameters")
    _whole(parameters, "queue_depth", path, f"{where}.parameters.queue_depth", low=1)
    return Run(
        parameters=parameters,
        summary=_mapping(raw, "summary", path, f"{where}.summary"),
        samples=samples.rows(slice(first, first + count)),
    )


def _is_count(raw: Any) -> TypeGuard[int]:
    return isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0


def _samples(raw: Any, path: Path, where: str) -> Samples:
    if not isinstance(raw, dict):
        raise _fault(path, where, None, "must be an object with the number of rows, n")
    n = raw.get("n")
    if not _is_count(n):
        raise _fault(path, f"{where}.n", n, "must be the number of rows, an integer of at least 0")
    if n > _MAX_ROWS:
        raise _fault(path, f"{where}.n", n, f"must be at most {_MAX_ROWS}")
    names = ("issue_ns", "latency_ns", "offset", "length", "op")
    return Samples(*(_column(raw.get(name, []), n, path, f"{where}.{name}") for name in names))


def _column(raw: Any, n: int, path: Path, where: str) -> Ints:
    if isinstance(raw, int) and not isinstance(raw, bool):
        if not 0 <= raw < 1 << 62:
            raise _fault(path, where, raw, _RULE_OF_COLUMNS)
        column = np.full(n, raw, dtype=np.int64)
    else:
        try:
            column = np.asarray(raw if raw else [], dtype=np.int64)
        except (TypeError, ValueError, OverflowError) as error:
            raise _fault(path, where, None, f"must be integers ({error})") from error
    if column.shape != (n,):
        raise _fault(path, where, list(column.shape), f"must have {n} integers")
    if n and not 0 <= int(column.min()) <= int(column.max()) < 1 << 62:
        raise _fault(path, where, int(column.min() if column.min() < 0 else column.max()), _RULE_OF_COLUMNS)
    column.setflags(write=False)
    return column

"""The recording behind a plan's workload, which the answer has to be checked against."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self

from diskmodel.description import Description
from diskmodel.workload import TraceWorkload

#: Traces kept in memory at the same time: a plan has one, and its variants share it.
_KEPT = 2


class Recording(Description):
    """The recording that a plan's workload was made from.

    Attributes
    ----------
    kind : "trace" or "averages"
        A trace has every request, and is replayed on each array that meets the objective under the fitted workload.
        Averages (iostat, sar, perfmon and their like) show no bursts within their intervals.
    path : str
        The file; in a plan relative to it.
    format, device : str or None
        As for reading the workload from it.
    """

    kind: Literal["trace", "averages"]
    path: str
    format: str | None = None
    device: str | None = None

    @classmethod
    def of(cls, path: str | Path, *, format: str | None = None, device: str | None = None) -> Self | None:
        """Return the recording in a file; None for a description of a load (TOML, a fio job).

        Raises
        ------
        FormatError
            When the file is of no known kind.
        """
        if Path(path).suffix == ".toml" and format is None:
            return None
        # the readers of other programs' files take a while to load, and most plans need none
        from diskmodel.formats import check_kind, detect_evidence
        from diskmodel.formats.recorders import KINDS as RECORDER_KINDS
        from diskmodel.formats.sysstat import KINDS as SYSSTAT_KINDS

        kind = detect_evidence(path) if format is None else check_kind(format)
        fields = {"path": os.path.abspath(path), "format": format, "device": device}
        if kind.startswith("trace:"):
            return cls.parse({"kind": "trace", **fields})
        return cls.parse({"kind": "averages", **fields}) if kind in {*SYSSTAT_KINDS, *RECORDER_KINDS} else None

    def trace(self) -> TraceWorkload:
        """Return the trace, with addresses beyond the end of an array wrapped; an unchanged file is read once.

        Raises
        ------
        FormatError
            When the file cannot be read.
        """
        place = Path(self.path)
        changed_ns = place.stat().st_mtime_ns if place.is_file() else 0
        return _trace(self.path, self.format, self.device, changed_ns)


@lru_cache(maxsize=_KEPT)
def _trace(path: str, format: str | None, device: str | None, changed_ns: int) -> TraceWorkload:
    from diskmodel.formats import load_replay

    workload, _ = load_replay(path, format=format, device=device, wraps=True)
    return workload

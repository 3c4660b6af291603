"""Evidence on the command line: recognized by content, traces kept apart from measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.cli.shared.numbers import request_range
from diskmodel.errors import DescriptionError, Fault, FormatError

if TYPE_CHECKING:
    from calibrate.evidence import RequestTrace

#: What `diskmodel.formats.detect_evidence` calls traces with response times.
TRACED = "trace:drive"


def read_trace_evidence(paths: Sequence[Path], requests: str | None) -> RequestTrace | None:
    """Return the requests of a trace with response times; None where the files are measurements or fio results.

    Raises
    ------
    FormatError
        When a file is neither.
    DescriptionError
        When traces and measurements are mixed, more than one trace is given, or `requests` is not a range of it.
    """
    from calibrate.evidence import MEASURED
    from diskmodel.formats import detect_evidence

    kinds = [detect_evidence(path) for path in paths]
    wrong = [
        Fault("evidence", str(path), f"is {kind}, which has no response times to fit", "use " + _accepted())
        for path, kind in zip(paths, kinds, strict=True)
        if kind not in (*MEASURED, TRACED)
    ]
    if wrong:
        raise FormatError(wrong)
    chosen = request_range(requests)
    if TRACED not in kinds:
        if requests is not None:
            raise DescriptionError(Fault("requests", requests, "only applies to a trace", "leave it out"))
        return None
    if len(paths) > 1:
        rule = "mixes a trace with other evidence" if len(set(kinds)) > 1 else "has more than one trace"
        raise DescriptionError(Fault("evidence", [str(path) for path in paths], rule, "run one command for each"))
    from calibrate.evidence import read_requests

    trace = read_requests(paths[0])
    return trace.part(*chosen(len(trace)))


def _accepted() -> str:
    return "a measurement by diskmodel, results of fio (JSON, terse, text) or DiskSpd (text, XML), a trace with times"

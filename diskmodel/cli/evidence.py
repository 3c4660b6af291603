"""Evidence on the command line: recognised by content, traces apart from measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.cli.inputs import request_range
from diskmodel.errors import DescriptionError, Fault, FormatError

if TYPE_CHECKING:
    from calibrate.evidence.requests import RequestTrace

#: Kinds of evidence (`diskmodel.formats.detect_evidence`) that a drive can be fitted to or held against.
MEASURED = ("measurement", "fio-json", "fio-terse", "fio-text")
TRACED = "trace:drive"


def read_trace_evidence(paths: Sequence[Path], requests: str | None) -> RequestTrace | None:
    """The requests of a trace with response times; None where the files are measurements or results of fio.

    Raises
    ------
    FormatError
        When a file is neither.
    DescriptionError
        When traces and measurements are mixed, more than one trace is given, or `requests` is no range of it.
    """
    from diskmodel.formats.detect import detect_evidence

    kinds = [detect_evidence(path) for path in paths]
    wrong = [
        Fault("evidence", str(path), f"is {kind}: it holds no response times to fit", "use one of " + _accepted())
        for path, kind in zip(paths, kinds, strict=True)
        if kind not in (*MEASURED, TRACED)
    ]
    if wrong:
        raise FormatError(wrong)
    chosen = request_range(requests)
    if TRACED not in kinds:
        if requests is not None:
            raise DescriptionError(Fault("requests", requests, "chooses a part of a trace", "leave it out here"))
        return None
    if len(paths) > 1:
        rule = "a trace stands alone" if len(set(kinds)) > 1 else "one trace at a time"
        raise DescriptionError(Fault("evidence", [str(path) for path in paths], rule, "give a command for each"))
    from calibrate.evidence.requests import read_requests

    trace = read_requests(paths[0])
    return trace.part(*chosen(len(trace)))


def _accepted() -> str:
    return "a measurement of diskmodel, fio's JSON, terse or text output, or a trace with response times"

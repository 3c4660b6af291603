"""A drive against a request trace: any profile, not only one that was calibrated from a trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.evidence import RequestTrace
from calibrate.score.agreement import agreement
from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.engine import resolve
from diskmodel.engine.run import run
from diskmodel.errors import Fault, InputError
from diskmodel.records import Requests, StreamRule

#: Angles of the platter at time 0 that are tried: the true one is unknown, so the prediction is the mean over them.
#: Half leaves steps of an eighth of a turn; double takes twice the time.
N_ANGLES = 16


def replay(drive: Drive, trace: RequestTrace, *, seed: int = 0) -> dict[str, Any]:
    """Compare measured response times with those of a simulated drive: what `diskmodel validate --json` prints.

    One request is outstanding at a time; the pause of a row comes after its request. The drive is simulated from
    `N_ANGLES` angles of the platter; the value expected of a request is the mean over them.

    Raises
    ------
    InputError
        When the trace has no requests, or reaches beyond the drive.
    """
    if len(trace) == 0:
        raise InputError(Fault("requests", 0, "there is no request to compare", "take a longer part of the trace"))
    n_sectors = drive.capacity_bytes // drive.sector_bytes
    if int(trace.end.max()) * 512 > drive.capacity_bytes:
        rule = f"reaches beyond the drive's {n_sectors} sectors"
        raise InputError(Fault("trace", int(trace.end.max()), rule, "name the drive that the trace was taken on"))
    think_ns = np.rint(trace.pause_ms * 1e6).astype(np.int64)
    requests = Requests(
        when_ns=np.concatenate([np.zeros(1, np.int64), think_ns[:-1]]),
        op=trace.is_write.astype(np.uint8),
        offset=trace.lba * 512,
        length=trace.n_blocks * 512,
        stream=np.zeros(len(trace), np.int32),
        cache_draw=np.ones(len(trace)),
        streams=(StreamRule("trace", n_clients=1),),
    )
    array = Array.model_validate({"drive": drive, "layout": {"level": "jbod", "disks": 1, "strip_bytes": 512}})
    columns = []
    for angle in range(N_ANGLES):
        completions = run(resolve(array, seed + angle), requests).completions
        columns.append((completions.done_ns - completions.issue_ns) / 1e6)
    draws_ms = np.stack(columns, axis=1)
    expected_ms = draws_ms.mean(axis=1)
    scores = [
        agreement(trace.response_ms[chosen], expected_ms[chosen], draws_ms[chosen])
        for chosen in (np.ones(len(trace), np.bool_), ~trace.is_write, trace.is_write)
    ]
    return {**scores[0], "reads": scores[1], "writes": scores[2]}

"""A trace replayed by the engines on a drive that was calibrated from one.

Requests come at the instants at which they were issued, on the platter's clock
(`calibrate.trace.engine.platter_clock`): the engine's platter turns evenly, the real one drifts
against the recorder's clock.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrate.arrays import Floats
from calibrate.closed_loop import scenario_of
from calibrate.evidence.requests import RequestTrace
from calibrate.score.agreement import agreement
from calibrate.trace.engine.platter_clock import issue_on_platter_ms
from calibrate.trace.model import TraceModel
from calibrate.trace.model_dict import model_from_dict
from diskmodel.drive import Hdd
from diskmodel.engine.run import run
from diskmodel.errors import Fault, InputError
from diskmodel.records import Requests, StreamRule


class Replay:
    """Requests of a trace, ready to run on drives.

    Parameters
    ----------
    model : TraceModel
        Of the drive that the trace was taken on: it gives the platter's clock.
    trace : RequestTrace
    """

    def __init__(self, model: TraceModel, trace: RequestTrace) -> None:
        self.trace = trace
        n = len(trace)
        self._requests = Requests(
            when_ns=np.rint(issue_on_platter_ms(model, trace) * 1e6).astype(np.int64),
            op=trace.is_write.astype(np.uint8),
            offset=trace.lba * 512,
            length=trace.n_blocks * 512,
            stream=np.zeros(n, np.int32),
            cache_draw=np.ones(n),
            streams=(StreamRule("trace", n_clients=0),),
        )

    def response_ms(self, drive: Hdd) -> Floats:
        """Return the response of each request, (n,) ms, starting with an idle drive."""
        scenario = scenario_of(drive)
        known = replace(scenario, phase_ns=np.zeros_like(scenario.phase_ns))
        done = run(known, self._requests).completions
        return np.asarray((done.done_ns - done.issue_ns) / 1e6)


def replay_on_engine(drive: Hdd, trace: RequestTrace) -> dict[str, float | int | None]:
    """Compare a trace with a calibrated drive run by the engines; keys as of `calibrate.score.agreement`.

    Each request is predicted by one run: the engines have none of a real drive's randomness.

    Raises
    ------
    InputError
        The profile has no trace model, or the trace reaches beyond the drive.
    """
    if "trace_model" not in drive.provenance:
        rule = "has no trace model, which says where the platter stands"
        raise InputError(Fault("provenance.trace_model", None, rule, "calibrate the drive from a request trace first"))
    if int(trace.end.max()) > drive.n_sectors:
        rule = f"reaches beyond the drive's {drive.n_sectors} sectors"
        raise InputError(Fault("trace", int(trace.end.max()), rule, "calibrate with the drive's capacity"))
    response = Replay(model_from_dict(drive.provenance["trace_model"]), trace).response_ms(drive)
    return agreement(trace.response_ms, response, response[:, None])

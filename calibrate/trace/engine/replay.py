"""A trace replayed by the engines on a drive that was calibrated from one.

Requests come at the instants at which they were issued, on the platter's clock
(`calibrate.trace.engine.platter_clock`): the engine's platter turns evenly, the real one drifts
against the recorder's clock.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.closed_loop import scenario_of
from calibrate.evidence import RequestTrace
from calibrate.score.agreement import agreement
from calibrate.trace.engine.platter_clock import issue_on_platter_ms
from calibrate.trace.model import TraceModel
from calibrate.trace.model_dict import model_from_dict
from diskmodel.drive import Hdd
from diskmodel.engine.run import run
from diskmodel.errors import Fault, InputError
from diskmodel.records import Requests, StreamRule

#: Runs with other draws. With half, chance moves a demerit by a tenth of a percent of the mean; double takes twice the
#: time.
N_RUNS = 16


class Replay:
    """Requests of a trace, ready to run on drives.

    Parameters
    ----------
    model : TraceModel
        Of the drive that the trace was taken on: it gives the platter's clock, and how far that is off.
    trace : RequestTrace
    """

    def __init__(self, model: TraceModel, trace: RequestTrace) -> None:
        self.trace = trace
        self._model = model
        # a fit asks for the same runs for every drive that it tries
        self._moved = cache(self._draw_moved)
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
        return self._run(drive, self._requests.when_ns, 0)

    def draws_ms(self, drive: Hdd, n_runs: int, seed: int = 0) -> Floats:
        """Return the responses of several runs, (n, k) ms, each with other draws.

        Drawn are what the drive draws for its accesses, and by how much the angle of the platter differs from what is
        known of it when a request is issued: as much as in the requests that the model was fitted to.
        """
        moved = self._moved(n_runs, seed)
        return np.stack([self._run(drive, when_ns, seed + k) for k, when_ns in enumerate(moved)], axis=1)

    def _draw_moved(self, n_runs: int, seed: int) -> list[Ints]:
        """Return when the requests of each run are issued, (n,) ns, with the errors of the angle that it has drawn."""
        rng, model, n = np.random.default_rng(seed), self._model, len(self.trace)
        runs = []
        for _ in range(n_runs):
            late = np.where(self.trace.is_write, rng.choice(model.write_error, n), rng.choice(model.read_error, n))
            moved = self._requests.when_ns - np.rint(late * model.rotation.period_ms * 1e6).astype(np.int64)
            runs.append(np.maximum.accumulate(np.maximum(moved, 0)))
        return runs

    def _run(self, drive: Hdd, when_ns: Ints, seed: int) -> Floats:
        scenario = scenario_of(drive, seed)
        known = replace(scenario, phase_ns=np.zeros_like(scenario.phase_ns))
        done = run(known, replace(self._requests, when_ns=when_ns)).completions
        return np.asarray((done.done_ns - done.issue_ns) / 1e6)


def replay_on_engine(drive: Hdd, trace: RequestTrace) -> dict[str, float | int | None]:
    """Compare a trace with a calibrated drive run by the engines; keys as of `calibrate.score.agreement`.

    The distribution is that of `N_RUNS` runs with other draws, and the value expected of a request its median over
    them.

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
    draws = Replay(model_from_dict(drive.provenance["trace_model"]), trace).draws_ms(drive, N_RUNS)
    return agreement(trace.response_ms, np.median(draws, axis=1), draws)

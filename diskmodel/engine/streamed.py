"""Runs in flat memory: requests are drawn in blocks, completions folded into histograms by the kernel."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from diskmodel.engine import native
from diskmodel.engine.boundary import kernel as _kernel
from diskmodel.engine.scenario import Scenario, endless
from diskmodel.errors import ConservationError, CoverageError, Fault
from diskmodel.records import PARTS, Completions, Requests, Run
from diskmodel.result import Segment, Tally
from diskmodel.schema import to_kernel
from diskmodel.workload import Blocks


class Streamed(NamedTuple):
    """A run of which no completion was kept: its counters, and what was folded."""

    run: Run
    requests: Requests
    tally: Tally


def run(scenario: Scenario, blocks: Blocks) -> Streamed:
    """Run a workload's requests through `scenario` in the kernel.

    Raises
    ------
    CoverageError
        When the kernel does not cover the scenario.
    ConservationError
        When the run breaks a law of every run: a fault of the kernel.
    """
    requests = _no_requests(blocks)
    reason = native.covers(scenario, requests)
    if reason is not None:
        raise CoverageError(Fault("keep", "histogram", f"needs the kernel, which does not cover {reason}", "keep all"))
    started = time.perf_counter()
    streams = native.streams_of(blocks.rules)
    try:
        counted = _kernel.run_streamed(
            native.array_of(scenario), streams, lambda stream: to_kernel(blocks.next(stream))
        )
    except OverflowError as error:
        raise endless(error) from None
    except ValueError as error:
        raise native.refused(error) from None
    if counted["n_done"] != blocks.n:
        raise ConservationError(f"{blocks.n} requests went in and {counted['n_done']} came out")
    if counted["n_broken"]:
        raise ConservationError(f"{counted['n_broken']} requests have time parts that do not add up")
    completions = Completions(
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, len(PARTS)), np.int64), np.empty(0, np.bool_)
    )
    return Streamed(native.run_of(completions, counted, scenario, started), requests, _tally(counted))


def _no_requests(blocks: Blocks) -> Requests:
    nothing = np.empty(0, np.int64)
    return Requests(
        nothing, np.empty(0, np.uint8), nothing, nothing, np.empty(0, np.int32), np.empty(0, np.float64), blocks.rules
    )


def _tally(counted: dict[str, Any]) -> Tally:
    return Tally(
        precision_bits=counted["precision_bits"],
        until_ns=counted["end_ns"] if counted["until_ns"] is None else counted["until_ns"],
        n_done=counted["n_done"],
        n_came_open=counted["n_came_open"],
        response_ns=counted["response_ns"],
        batch_n=counted["batch_n"],
        batch_response_ns=counted["batch_response_ns"],
        batch_end_ns=counted["batch_end_ns"],
        sample_step_ns=counted["sample_step_ns"],
        came_open=counted["came_open"],
        left_open=counted["left_open"],
        done=counted["done"],
        segments=tuple(_segment(**segment) for segment in counted["segments"]),
    )


def _segment(
    *,
    parts_ns: dict[str, int],
    reads: dict[str, Any],
    writes: dict[str, Any],
    flushes: dict[str, Any],
    streams: list[dict[str, Any]],
    **sums: int,
) -> Segment:
    return Segment(
        parts_ns=[parts_ns[name] for name in PARTS],
        response_ns=[one["response_ns"] for one in (reads, writes, flushes)],
        counts=[one["counts"] for one in (reads, writes, flushes)],
        streams=[(one["response_ns"], one["counts"]) for one in streams],
        **sums,
    )

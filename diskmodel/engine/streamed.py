"""Runs in flat memory: requests are drawn in blocks, completions folded into histograms by the kernel."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskmodel.engine import _kernel, native
from diskmodel.engine.scenario import Scenario, too_long
from diskmodel.engine.steady.levels import in_bytes, level_marks
from diskmodel.errors import ConservationError, CoverageError, Fault
from diskmodel.records import PARTS, Completions, Requests, Run
from diskmodel.result.segments import Segment
from diskmodel.result.streamed import Tally
from diskmodel.workload.blocks import Blocks


@dataclass(frozen=True)
class Streamed:
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
        told = _kernel.run_streamed(native.array_of(scenario), streams, lambda stream: vars(blocks.next(stream)))
    except OverflowError:
        raise too_long() from None
    except ValueError as error:
        raise native.refused(error) from None
    if told["n_done"] != blocks.n:
        raise ConservationError(f"{blocks.n} requests went in and {told['n_done']} came out")
    if told["n_broken"]:
        raise ConservationError(f"{told['n_broken']} requests have time parts that do not add up")
    completions = Completions(
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, len(PARTS)), np.int64), np.empty(0, np.bool_)
    )
    outcome = Run(
        completions=completions,
        devices=native.counters_of(told["counters"], scenario),
        engine="native",
        wall_s=time.perf_counter() - started,
        end_ns=told["end_ns"],
        rebuilt_bytes=told["rebuilt_sectors"] * scenario.drive.sector_bytes,
        cache_full_ns=told["cache_full_ns"],
        level_marks=level_marks(scenario),
        levels=in_bytes(scenario, told["levels"]),
    )
    return Streamed(outcome, requests, _tally(told))


def _no_requests(blocks: Blocks) -> Requests:
    nothing = np.empty(0, np.int64)
    return Requests(
        nothing, np.empty(0, np.uint8), nothing, nothing, np.empty(0, np.int32), np.empty(0, np.float64), blocks.rules
    )


def _tally(told: dict[str, Any]) -> Tally:
    return Tally(
        precision_bits=told["precision_bits"],
        until_ns=told["end_ns"] if told["until_ns"] is None else told["until_ns"],
        n_done=told["n_done"],
        n_came_open=told["n_came_open"],
        response_ns=told["response_ns"],
        batch_n=told["batch_n"],
        batch_response_ns=told["batch_response_ns"],
        batch_end_ns=told["batch_end_ns"],
        sample_step_ns=told["sample_step_ns"],
        came_open=told["came_open"],
        left_open=told["left_open"],
        done=told["done"],
        segments=tuple(_segment(**segment) for segment in told["segments"]),
    )


def _segment(
    *,
    parts_ns: dict[str, int],
    reads: dict[str, Any],
    writes: dict[str, Any],
    streams: list[dict[str, Any]],
    **sums: int,
) -> Segment:
    return Segment(
        parts_ns=[parts_ns[name] for name in PARTS],
        response_ns=[one["response_ns"] for one in (reads, writes)],
        counts=[one["counts"] for one in (reads, writes)],
        streams=[(one["response_ns"], one["counts"]) for one in streams],
        **sums,
    )

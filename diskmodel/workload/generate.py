"""Requests of a workload's streams, drawn before anything runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Requests, StreamRule
from diskmodel.workload.arrivals import Closed
from diskmodel.workload.draws import Draws, Kind, same
from diskmodel.workload.file_system import LEAST_JOURNAL_BYTES, journal_bytes, journal_rule
from diskmodel.workload.space import Space
from diskmodel.workload.stream import Stream


def generate(
    streams: Sequence[Stream],
    default_span_bytes: int | None,
    capacity_bytes: int,
    n: int,
    seed: int,
    *,
    with_cache_draws: bool = True,
    n_before: int = 0,
) -> Requests:
    """`n` requests of `streams` on an array of `capacity_bytes`, after `n_before` others.

    Raises
    ------
    DescriptionError
        With every region that does not fit the array, and `n` or `seed` out of range.
    """
    check(streams, default_span_bytes, capacity_bytes, n, seed)
    spaces = [stream.space(capacity_bytes, default_span_bytes) for stream in streams]
    rules = rules_of(streams, spaces, capacity_bytes)
    before = rows_before(streams, n_before)
    if len(streams) == 1:
        space = streams[0].space(capacity_bytes, default_span_bytes)
        return _only(streams[0], space, n, Draws(seed, 0, streams[0].excerpts, before[0]), rules, with_cache_draws)
    owner = interleave([stream.row_weight for stream in streams], n)
    requests = Requests(
        when_ns=np.empty(n, dtype=np.int64),
        op=np.empty(n, dtype=np.uint8),
        offset=np.empty(n, dtype=np.int64),
        length=np.empty(n, dtype=np.int64),
        stream=owner,
        cache_draw=np.empty(n, dtype=np.float64) if with_cache_draws else same(0.0, n),
        streams=rules,
    )
    for index, stream in enumerate(streams):
        rows = np.flatnonzero(owner == index)
        draws = Draws(seed, index, stream.excerpts, before[index])
        space = stream.space(capacity_bytes, default_span_bytes)
        lengths = stream.draw_lengths(len(rows), draws)
        requests.when_ns[rows] = stream.arrival.when(len(rows), draws)
        requests.op[rows] = stream.draw_ops(len(rows), draws)
        requests.offset[rows] = stream.draw_offsets(lengths, space, draws)
        requests.length[rows] = lengths
        if with_cache_draws:
            requests.cache_draw[rows] = draws.uniform(Kind.CACHE, len(rows))
    return requests


def _only(
    stream: Stream,
    space: Space,
    n: int,
    draws: Draws,
    rules: tuple[StreamRule, ...],
    with_cache_draws: bool,
) -> Requests:
    """Requests of a single stream; columns with one value for all rows take no room."""
    lengths = stream.draw_lengths(n, draws)
    ops = stream.draw_ops(n, draws)
    offset = stream.draw_offsets(lengths, space, draws)
    return Requests(
        when_ns=stream.arrival.when(n, draws),
        op=ops,
        offset=offset,
        length=lengths,
        stream=same(np.int32(0), n),
        cache_draw=draws.uniform(Kind.CACHE, n) if with_cache_draws else same(0.0, n),
        streams=rules,
    )


def check(streams: Sequence[Stream], default_span_bytes: int | None, capacity_bytes: int, n: int, seed: int) -> None:
    """Streams fit an array of `capacity_bytes`.

    Raises
    ------
    DescriptionError
        With every region that does not, and `n` or `seed` out of range.
    """
    faults = [
        fault
        for index, stream in enumerate(streams)
        for fault in stream.region_faults(capacity_bytes, default_span_bytes, f"streams.{index}")
    ]
    for index, stream in enumerate(streams):
        least = LEAST_JOURNAL_BYTES
        if stream.file_system != "none" and journal_bytes(stream.file_system, capacity_bytes) < least:
            rule = f"needs a journal of {least:,} bytes, at most an eighth of the array's {capacity_bytes:,}"
            fix = "use a larger array, or leave it out"
            faults.append(Fault(f"streams.{index}.file_system", stream.file_system, rule, fix))
    if n < 0:
        faults.append(Fault("n", n, "must be 0 or more", "write for example 10000"))
    if seed < 0:
        faults.append(Fault("seed", seed, "must be 0 or more", "write for example 1"))
    if faults:
        raise DescriptionError(faults)


def interleave(weights: Sequence[float], n: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Owner of each of `n` rows, in proportion to `weights` and as evenly as can be; int32, shape (n,).

    Owner k has its j-th row at (j + 1/2) / share: the first rows of a longer table are those of a shorter one.
    """
    if len(weights) == 1:
        return np.zeros(n, dtype=np.int32)
    share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    counts = np.ceil(n * share).astype(np.int64) + 1
    owner = np.repeat(np.arange(len(share), dtype=np.int32), counts)
    turn = np.concatenate([np.arange(count, dtype=np.float64) for count in counts])
    order = np.argsort((turn + 0.5) / share[owner], kind="stable")
    return owner[order[:n]]


def rows_before(streams: Sequence[Stream], n_before: int) -> list[int]:
    """Rows of each stream when `n_before` rows of the workload came before."""
    weights = np.array([stream.row_weight for stream in streams])
    rows: list[int] = np.ceil(n_before * (weights / weights.sum())).astype(np.int64).tolist()
    return rows


def _n_growing_files(stream: Stream) -> int:
    """Return how many files a stream appends to: one for each client, and one for a log."""
    if stream.file_system == "none" or stream.file != "append":
        return 0
    return stream.arrival.clients if isinstance(stream.arrival, Closed) and stream.kind != "commits" else 1


def rules_of(
    streams: Sequence[Stream], spaces: Sequence[Space] | None = None, capacity_bytes: int = 0
) -> tuple[StreamRule, ...]:
    """Return how each stream's requests come in time.

    `spaces` are their places, for those that are logs, on an array of `capacity_bytes`, which their file system fills.
    """
    weights = [stream.row_weight for stream in streams]
    is_alone = sum(_n_growing_files(stream) for stream in streams) < 2
    rules = []
    for index, (stream, weight) in enumerate(zip(streams, weights, strict=True)):
        arrival = stream.arrival
        rule = StreamRule(
            stream.name,
            sync=stream.sync_rule,
            sync_every=stream.sync_every,
            is_of_flushes=stream.kind == "flushes",
            is_of_file=int(stream.file_system != "none"),
        )
        if isinstance(arrival, Closed):
            rule = replace(rule, n_clients=arrival.clients, pace_ns=arrival.pace_ns)
        else:
            own = arrival.cycle_ns / 1e9 * stream.expected_rate_per_s
            cycle = math.ceil(own * sum(weights) / weight)
            rule = replace(rule, cycle_requests=cycle, is_random=arrival.has_random_cycles)
        if stream.kind == "commits" and spaces is not None:
            space = spaces[index]
            rule = replace(
                rule,
                log_first_byte=space.first_byte,
                log_bytes=space.span_bytes // stream.alignment * stream.alignment,
                log_block_bytes=stream.alignment,
                log_delay_ns=stream.commit_delay_ns,
            )
        if spaces is not None:
            journal = journal_rule(stream.sync, stream.file_system, stream.file, capacity_bytes, is_alone=is_alone)
            rule = replace(rule, **journal)  # type: ignore[arg-type]
        rules.append(rule)
    return tuple(rules)

"""Requests of a workload's streams, drawn before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Int64, Requests, StreamRule
from diskmodel.workload.arrivals import Closed
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.stream import Stream


def generate(
    streams: Sequence[Stream], default_span_bytes: int | None, capacity_bytes: int, n: int, seed: int
) -> Requests:
    """`n` requests of `streams` on an array of `capacity_bytes`.

    Raises
    ------
    DescriptionError
        With every region that does not fit the array, and `n` or `seed` out of range.
    """
    check(streams, default_span_bytes, capacity_bytes, n, seed)
    owner = interleave([stream.weight or stream.expected_rate_per_s for stream in streams], n)
    requests = Requests(
        when_ns=np.empty(n, dtype=np.int64),
        op=np.empty(n, dtype=np.uint8),
        offset=np.empty(n, dtype=np.int64),
        length=np.empty(n, dtype=np.int64),
        stream=owner,
        cache_draw=np.empty(n, dtype=np.float64),
        streams=tuple(rule_of(stream) for stream in streams),
    )
    for index, stream in enumerate(streams):
        rows: slice | Int64 = slice(None) if len(streams) == 1 else np.flatnonzero(owner == index)
        n_rows = n if isinstance(rows, slice) else len(rows)
        draws = Draws(seed, index)
        space = stream.space(capacity_bytes, default_span_bytes)
        lengths = stream.draw_lengths(n_rows, draws)
        requests.when_ns[rows] = stream.arrival.when(n_rows, draws)
        requests.op[rows] = stream.draw_ops(n_rows, draws)
        requests.offset[rows] = stream.addresses.starts(lengths, space, draws) + space.first_byte
        requests.length[rows] = lengths
        requests.cache_draw[rows] = draws.uniform(Kind.CACHE, n_rows)
    return requests


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


def rule_of(stream: Stream) -> StreamRule:
    """How the stream's requests come in time."""
    if isinstance(stream.arrival, Closed):
        return StreamRule(stream.name, stream.arrival.clients, stream.arrival.pace_ns)
    return StreamRule(stream.name)

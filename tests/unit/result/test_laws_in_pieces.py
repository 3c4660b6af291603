"""Laws over runs longer than a piece, with parts in half the memory, and at their exact bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diskmodel.errors import ConservationError
from diskmodel.records import PARTS, Completions, DeviceCounters, Requests, Run, StreamRule
from diskmodel.result import laws
from diskmodel.result.laws import check_laws


def served(
    issue_ns: np.ndarray, done_ns: np.ndarray, stream: np.ndarray, rules: tuple[StreamRule, ...]
) -> tuple[Requests, Run]:
    """A run on one disk in which all time is transfer."""
    n = len(issue_ns)
    parts = np.zeros((n, len(PARTS)), dtype=np.int64)
    parts[:, 0] = done_ns - issue_ns
    zero, end = np.zeros(1, dtype=np.int64), int(done_ns.max())
    requests = Requests(
        issue_ns,
        np.zeros(n, np.uint8),
        np.zeros(n, np.int64),
        np.full(n, 512),
        stream.astype(np.int32),
        np.zeros(n),
        rules,
    )
    devices = DeviceCounters(
        zero + end, zero + 1, zero + n, zero, zero + 512 * n, zero, zero, zero + 1, zero, zero, zero, zero
    )
    return requests, Run(Completions(issue_ns, done_ns, parts, np.zeros(n, np.bool_)), devices, "test", 0.0, end)


def test_a_row_is_named_by_its_number_in_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "_PIECE", 4)
    issue = np.arange(10) * 10
    requests, run = served(issue, issue + 5, np.zeros(10), (StreamRule("s", 0, 0),))
    check_laws(requests, run)
    run.completions.parts_ns[6, 0] += 1
    with pytest.raises(ConservationError, match="request 6 has time parts"):
        check_laws(requests, run)


def test_parts_kept_in_32_bits_are_added_in_64() -> None:
    issue, done = np.array([0, 10]), np.array([2**31 + 10, 20])
    requests, run = served(issue, done, np.zeros(2), (StreamRule("s", 0, 0),))
    narrow = np.zeros((2, len(PARTS)), dtype=np.int32)
    narrow[0, :2], narrow[1, 0] = (2**31 - 1, 11), 10
    check_laws(requests, replace(run, completions=replace(run.completions, parts_ns=narrow)))


def test_a_disk_may_be_busy_all_the_time_and_not_longer() -> None:
    issue = np.array([0, 10])
    requests, run = served(issue, issue + 10, np.zeros(2), (StreamRule("s", 0, 0),))
    check_laws(requests, run)
    more = replace(run, devices=replace(run.devices, busy_ns=run.devices.busy_ns + 1))
    with pytest.raises(ConservationError, match="disk 0 was busy longer than the run of 20 ns"):
        check_laws(requests, more)


def test_clients_of_each_stream_are_counted_apart() -> None:
    # two clients of one stream, one of the other: three outstanding together
    rules = (StreamRule("a", 2, 0), StreamRule("b", 1, 0))
    issue, stream = np.array([0, 0, 0, 10, 10, 10]), np.array([0, 0, 1, 0, 0, 1])
    requests, run = served(issue, issue + 10, stream, rules)
    check_laws(requests, run)
    with pytest.raises(ConservationError, match="stream b: 2 requests outstanding with 1 clients"):
        check_laws(replace(requests, stream=np.array([0, 1, 1, 0, 0, 1], np.int32)), run)


def test_a_closed_stream_behind_an_open_one_is_looked_at() -> None:
    rules = (StreamRule("open", 0, 0), StreamRule("closed", 1, 0))
    issue, stream = np.array([0, 0, 5]), np.array([0, 1, 1])
    requests, run = served(issue, issue + 10, stream, rules)
    with pytest.raises(ConservationError, match="stream closed: 2 requests outstanding with 1 clients"):
        check_laws(requests, run)

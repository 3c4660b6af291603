"""Rules of workloads and replayed traces, by what breaks just one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.workload import Workload
from diskmodel.workload.arrivals import Given
from diskmodel.workload.trace import TraceWorkload

CLOSED = {"size": "4 KiB", "clients": 1}


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ({"addresses": {"pattern": "hot_spot", "access_ratio": 0.8, "space_ratio": 1}}, "both excluded"),
        (
            {"addresses": {"pattern": "hot_spot", "access_ratio": 0.8, "space_ratio": 0.5, "start_ratio": 0.6}},
            "must be at most 1",
        ),
        ({"addresses": {"pattern": "strided", "stride": "0 B"}}, "must be more than 0"),
    ],
)
def test_addresses_that_do_not_fit_are_reported(stream: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Workload.parse({**CLOSED, **stream})


@pytest.mark.parametrize(
    ("arrival", "message"),
    [
        ({"kind": "given", "inter_arrival": ["0 s", "0 s"]}, "must not be all 0"),
        (
            {"kind": "poisson", "rate": "5/s", "profile": {"relative_rates": [0, 0]}},
            "one of them must be more than 1e-9",
        ),
        ({"kind": "poisson", "rate": "5/s", "profile": {"relative_rates": [1, 2], "period_ns": 1}}, "more than 0"),
    ],
)
def test_arrivals_that_do_not_fit_are_reported(arrival: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Workload.parse({"size": "4 KiB", "arrival": arrival})


def test_gaps_that_become_nothing_are_a_nanosecond() -> None:
    """A stream that is scaled beyond all bounds still has a rate."""
    scaled = Given(kind="given", inter_arrival_ns=(3, 5)).scaled(1e6)
    assert scaled.expected_rate_per_s == 1e9
    assert Given(kind="given", inter_arrival_ns=(3, 5)).scaled(2).inter_arrival_ns == (2, 2)


def trace(**options: Any) -> TraceWorkload:
    given: dict[str, Any] = {
        "when_ns": [0, 10**9, 3 * 10**9],
        "op": [0, 1, 0],
        "offset": [0, 5000, 1 << 20],
        "length": [4096, 512, 4096],
    }
    return TraceWorkload.from_arrays(**{**given, **options})


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"offset": [0, -512, 0]}, "offset"),
        ({"length": [4096, 0, 512]}, "length"),
        ({"speed_up": 0.0}, "speed_up"),
        ({"queue_depth": 0}, "queue_depth"),
        ({"timing": "late"}, "timing"),
    ],
)
def test_a_trace_that_breaks_a_rule_is_reported(options: dict[str, Any], field: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        trace(**options)
    assert [fault.field for fault in caught.value.faults] == [field]


def test_a_trace_is_scaled_in_time_or_in_depth() -> None:
    faster = trace().scaled(2)
    assert faster.requests(capacity_bytes=1 << 30).when_ns.tolist() == [0, 5 * 10**8, 15 * 10**8]
    assert faster.offered_rate_per_s == pytest.approx(2 * 2 / 3)
    assert faster.scaled(2).speed_up == 4
    closed = trace().with_queue_depth(4)
    assert (closed.scaled(2.5).depth, closed.scaled(0.01).depth, closed.offered_rate_per_s) == (10, 1, 0)
    assert closed.requests(capacity_bytes=1 << 30).when_ns.tolist() == [0, 0, 0]
    with pytest.raises(DescriptionError, match="load_factor"):
        trace().scaled(0)
    with pytest.raises(DescriptionError, match="queue_depth"):
        trace().with_queue_depth(0)


def test_a_trace_beyond_the_array_is_refused_or_wrapped_onto_it() -> None:
    with pytest.raises(DescriptionError, match="beyond the array's capacity of 10,000 bytes"):
        trace().requests(capacity_bytes=10_000)
    requests = trace(wraps=True).requests(capacity_bytes=10_000)
    assert (requests.offset + requests.length <= 10_000).all()
    assert np.array_equal(requests.offset[:2], [0, 5000])
    with pytest.raises(DescriptionError, match="wrap offsets"):
        trace(wraps=True).requests(capacity_bytes=1000)
    assert len(trace().requests(capacity_bytes=10_000, n=2)) == 2
    with pytest.raises(DescriptionError, match="must be 0 or more"):
        trace().requests(capacity_bytes=1 << 30, n=-1)

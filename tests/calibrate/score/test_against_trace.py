"""Replaying a trace on a described drive, against a trace that the same drive made."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibrate.evidence.requests import RequestTrace
from calibrate.score.against_trace import replay
from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import InputError
from diskmodel.workload import Workload


@pytest.fixture(scope="module")
def trace() -> RequestTrace:
    """3,000 requests of a generic 10k drive, one at a time with random pauses."""
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
    stream = {"read_ratio": 0.7, "size": "8 KiB", "arrival": {"kind": "closed", "clients": 1, "think": "5 ms"}}
    requests = Workload.parse({"streams": [stream]}).requests(capacity_bytes=array.usable_bytes, n=3000, seed=3)
    completions = run(resolve(array, 99), requests).completions
    think_ms = requests.when_ns / 1e6
    return RequestTrace(
        is_write=requests.op == 1,
        lba=requests.offset // 512,
        n_blocks=requests.length // 512,
        response_ms=(completions.done_ns - completions.issue_ns) / 1e6,
        pause_ms=np.concatenate([think_ms[1:], [0.0]]),
    )


def test_the_right_drive_fits_and_a_slower_one_does_not(trace: RequestTrace) -> None:
    right = replay(load_drive("generic-10k"), trace)
    assert right["n"] == 3000
    assert right["reads"]["n"] + right["writes"]["n"] == 3000
    assert abs(right["mean_error_ratio"]) < 0.03
    assert right["demerit_ratio"] < 0.04
    slower = replay(load_drive("generic-7k2"), trace)
    assert slower["demerit_ratio"] > 5 * right["demerit_ratio"]


def test_a_trace_beyond_the_drive_is_refused(trace: RequestTrace) -> None:
    beyond = dataclasses.replace(trace, lba=trace.lba + 10**10)
    with pytest.raises(InputError, match="reaches beyond"):
        replay(load_drive("generic-10k"), beyond)

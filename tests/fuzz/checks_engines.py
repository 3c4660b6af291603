"""The engines under extreme arrays and requests: no panic, no endless run, and one meaning of what is valid."""

from __future__ import annotations

import pickle
from random import Random

from diskmodel.array import Array
from diskmodel.engine import native, streamed
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import Scenario, check_requests, resolve
from diskmodel.errors import CoverageError, DescriptionError
from diskmodel.records import Requests
from diskmodel.result.laws import check_laws
from diskmodel.workload import Workload
from tests.differential.cases import random_case
from tests.differential.compare import between
from tests.fuzz import extremes
from tests.fuzz.check import check
from tests.fuzz.checks_formats import say

#: Arrays of every kind on drives so small that a run takes no time, and those of `examples/`.
_SMALL = [random_case(number)["array"] for number in range(60)]
_ARRAYS = extremes.packed(_SMALL * 3 + extremes.arrays())
_WORKLOADS = extremes.packed(extremes.ANYWHERE)


def _drawn(choose: Random) -> tuple[Scenario, Workload, int] | None:
    """A stretched array, a workload, and a number of requests; None where they are refused or not the kernel's."""
    n = choose.choice((1, 5, 20))
    array_data = extremes.stretched(choose, _ARRAYS)
    if choose.random() < 0.5:
        workload_data = extremes.stretched(choose, _WORKLOADS)
    else:
        workload_data = pickle.loads(choose.choice(_WORKLOADS))
    try:
        scenario = resolve(Array.parse(array_data), 1)
        workload = Workload.parse(workload_data)
    except DescriptionError as error:
        say(error)
        return None
    return scenario, workload, n


def _requests(scenario: Scenario, workload: Workload, n: int) -> Requests | None:
    try:
        requests = workload.requests(capacity_bytes=_size(scenario), n=n, seed=1)
        check_requests(scenario, requests)
    except DescriptionError as error:
        say(error)
        return None
    return requests if native.covers(scenario, requests) is None else None


def _size(scenario: Scenario) -> int:
    return scenario.layout.capacity * scenario.drive.sector_bytes


def _is_too_long(outcome: str) -> None:
    """The one reason why an engine may refuse what was valid until then."""
    assert "417 days" in outcome


@check("engines-agree", share=10)
def both_engines_agree(choose: Random) -> bool:
    """Whatever is valid is run by both engines to the same nanosecond.

    One input for ten of the others: the reference engine is Python and takes long.
    """
    drawn = _drawn(choose)
    requests = _requests(*drawn) if drawn else None
    if drawn is None or requests is None:
        return False
    try:
        kernel = native.run(drawn[0], requests)
    except CoverageError:  # what one of its numbers has no room for
        return False
    except DescriptionError as error:
        # the reference engine would come to the same end after hours
        _is_too_long(say(error))
        return False
    simpy = simpy_engine.run(drawn[0], requests)
    check_laws(requests, kernel)
    assert between(requests, simpy, kernel) is None
    return True


@check("kernel")
def kernel(choose: Random) -> bool:
    """The kernel alone, and the laws of conservation."""
    drawn = _drawn(choose)
    requests = _requests(*drawn) if drawn else None
    if drawn is None or requests is None:
        return False
    try:
        run = native.run(drawn[0], requests)
    except CoverageError:
        return False
    except DescriptionError as error:
        _is_too_long(say(error))
        return False
    check_laws(requests, run)
    return True


@check("kernel-streamed")
def kernel_streamed(choose: Random) -> bool:
    """The kernel in flat memory: requests drawn block by block, completions folded."""
    drawn = _drawn(choose)
    if drawn is None:
        return False
    scenario, workload, n = drawn
    try:
        blocks = workload.blocks(capacity_bytes=_size(scenario), n=n, seed=1)
        if native.covers(scenario, streamed._no_requests(blocks)) is not None:
            return False
        outcome = streamed.run(scenario, blocks)
    except CoverageError:
        return False
    except DescriptionError as error:
        say(error)
        return False
    assert outcome.tally.n_done == n
    assert outcome.run.end_ns >= 0
    return True

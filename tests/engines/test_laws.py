"""Laws that hold whatever the array and the workload, on both engines."""

from collections.abc import Callable

import numpy as np
import pytest

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import Scenario
from diskmodel.records import Requests, Run
from tests.differential.cases import build, random_case

Engine = Callable[[Scenario, Requests], Run]
SEEDS = range(1000, 1040)

both = pytest.mark.parametrize("engine", [simpy_engine.run, native.run], ids=["simpy", "native"])


@pytest.fixture(scope="module", params=SEEDS)
def scene(request: pytest.FixtureRequest) -> tuple[Scenario, Requests]:
    return build(random_case(request.param))


@both
def test_laws(engine: Engine, scene: tuple[Scenario, Requests]) -> None:
    scenario, requests = scene
    run = engine(scenario, requests)
    c, d = run.completions, run.devices
    response = c.done_ns - c.issue_ns
    assert (c.parts_ns.sum(axis=1) == response).all(), "parts add up to the response"
    assert (c.parts_ns >= 0).all()
    assert run.end_ns == c.done_ns.max()
    assert ((d.busy_ns >= 0) & (d.busy_ns <= run.end_ns)).all(), "no disk is busy longer than the run took"
    if scenario.controller.write_cache is None:
        assert not (c.is_hit & (requests.op == 1)).any(), "only reads hit"
    _issued_by_the_rules(requests, run)


def _issued_by_the_rules(requests: Requests, run: Run) -> None:
    """Open rows at their times; a closed stream never has more outstanding than clients."""
    c = run.completions
    for i, rule in enumerate(requests.streams):
        rows = requests.stream == i
        if not rule.n_clients:
            assert np.array_equal(c.issue_ns[rows], requests.when_ns[rows])
            continue
        times = np.concatenate((c.issue_ns[rows], c.done_ns[rows]))
        steps = np.repeat((1, -1), rows.sum())
        # what completes at an instant frees its client before the next issue of that instant
        order = np.lexsort((steps, times))
        assert np.cumsum(steps[order]).max(initial=0) <= rule.n_clients


@both
def test_host_bytes_reach_the_disks(engine: Engine) -> None:
    """JBOD without caches: each byte asked for is moved once."""
    case = random_case(0)
    case["array"] |= {"layout": {"level": "jbod", "disks": 2}, "controller": {}, "drive_write_cache": False}
    case["array"].pop("host", None)
    case["array"]["drive"] |= {"cache": None}
    scenario, requests = build(case)
    run = engine(scenario, requests)
    first = requests.offset // 512
    sectors = -(-(requests.offset + requests.length) // 512) - first
    assert run.devices.read_bytes.sum() == sectors[requests.op == 0].sum() * 512
    assert run.devices.write_bytes.sum() == sectors[requests.op == 1].sum() * 512


@both
def test_same_input_same_output(engine: Engine) -> None:
    scenario, requests = build(random_case(5))
    first, second = engine(scenario, requests), engine(scenario, requests)
    assert np.array_equal(first.completions.done_ns, second.completions.done_ns)
    assert np.array_equal(first.completions.parts_ns, second.completions.parts_ns)

"""The native kernel behind the same call as the SimPy engine."""

from __future__ import annotations

from diskmodel.engine.scenario import Scenario
from diskmodel.records import Requests, Run


def covers(scenario: Scenario, requests: Requests) -> str | None:
    """Why the kernel does not cover a scenario, or None when it does."""
    return "this scenario yet"


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through `scenario` in the kernel."""
    raise AssertionError(covers(scenario, requests))

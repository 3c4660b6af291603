"""The cases that have to catch every mutant, with what the reference engine makes of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import Scenario
from diskmodel.records import Requests, Run
from tests.differential.cases import CORPUS, N_FIXED, Case, build, random_case


@cache
def fixed() -> dict[str, Case]:
    """Return the fixed list of drawn cases, by name."""
    return {f"random_case({seed})": random_case(seed) for seed in range(N_FIXED)}


@cache
def witnesses() -> dict[str, Case]:
    """Return the kept cases, then the fixed list."""
    return {path.stem: json.loads(path.read_text())["case"] for path in CORPUS} | fixed()


@dataclass(frozen=True)
class Witness:
    """A case as the engines read it, and what the reference engine makes of it."""

    scenario: Scenario
    requests: Requests
    reference: Run


@cache
def witness(name: str) -> Witness:
    """Return one of the `witnesses`, which the reference engine runs once for all tests of a process."""
    scenario, requests = build(witnesses()[name])
    return Witness(scenario, requests, simpy_engine.run(scenario, requests))

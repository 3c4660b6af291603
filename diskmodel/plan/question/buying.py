"""What things cost, and how the answer to a plan is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.limits import MAX_SEED


class Prices(Description):
    """What things cost, beside the drives' own prices.

    Attributes
    ----------
    drives_usd : dict of str to float
        Price of a drive by its name; overrides the profile's.
    slot_usd : float
        Of a slot with its share of the enclosure.
    power_usd_per_kwh : float
    power_factor : float
        Power drawn from the wall over that of the drives (cooling, supplies).
    years : float
        For which power is paid.
    disks_per_rack_unit : float
    """

    drives_usd: dict[str, float] = Field(default_factory=dict)
    slot_usd: float = Field(default=0.0, ge=0)
    power_usd_per_kwh: float = Field(default=0.0, ge=0)
    power_factor: float = Field(default=1.0, ge=1)
    years: float = Field(default=5.0, gt=0)
    disks_per_rack_unit: float = Field(default=12.0, gt=0)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return what is priced: nothing of a drive whose own price is not known."""
        priced = Reader("drives whose price is known", lambda plan: plan.has_prices)
        paid = Reader("drives whose price and power are known", lambda plan: plan.has_prices and plan.has_power)
        powered = Reader(
            "with power_usd_per_kwh, and drives whose price and power are known",
            lambda plan: plan.has_prices and plan.has_power and plan.prices.power_usd_per_kwh > 0,
        )
        return {
            "drives_usd": Reader("drives among the candidates", lambda plan: plan.names_its_drives),
            "slot_usd": priced,
            "power_usd_per_kwh": paid,
            "power_factor": powered,
            "years": powered,
        }


class Search(Description):
    """How the answer is looked for.

    Attributes
    ----------
    method : "simulation" or "rule"
        Who decides: the simulation, or the calculators' rule of thumb (no mechanics, no queueing, and only the cache
        hit ratio that the controller states).
    minimize : "auto", "disks" or "cost"
        What makes a candidate the best; "auto": cost where every price is known, else disks.
    seed : int
        The same for every run: candidates are compared under the same requests.
    requests, max_requests : int
        Requests of a first run (a 99th percentile takes 25 000 for an interval); and of the longest one, where shorter
        ones cannot decide.
    max_requests_at_answer : int
        Requests of the longest run at the recommended answer and at its next smaller count, and of other candidates
        that could take its place, or are about to be called infeasible: there a run goes on until it decides. Both
        are less for requests of more than four strips, of 16 or more a fourth, unless a cycle takes longer.
    engine : "auto", "native" or "simpy"
    """

    method: Literal["simulation", "rule"] = "simulation"
    minimize: Literal["auto", "disks", "cost"] = "auto"
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    requests: int = Field(default=30_000, ge=200)
    max_requests: int = Field(default=120_000, ge=200)
    max_requests_at_answer: int = Field(default=1_000_000, ge=200)
    engine: Literal["auto", "native", "simpy"] = "auto"

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return what only the simulation reads, and what needs prices."""
        simulated = Reader('method = "simulation"', lambda plan: plan.search.method == "simulation")
        of_runs = dict.fromkeys(("requests", "max_requests", "max_requests_at_answer", "engine"), simulated)
        return of_runs | {"minimize": Reader("drives whose price is known", lambda plan: plan.has_prices)}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.requests > self.max_requests:
            raise ValueError(f"requests={self.requests}: is above max_requests={self.max_requests}; lower it")
        return self

    @property
    def decision_budget(self) -> int:
        """Requests of the longest run at the answer: never fewer than elsewhere."""
        return max(self.max_requests, self.max_requests_at_answer)

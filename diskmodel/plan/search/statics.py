"""Criteria that need no simulation of requests: space, money, rack units; rebuild and data loss by formula."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diskmodel.analytic.mechanics import rebuild_hours
from diskmodel.analytic.reliability import data_loss
from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.plan.answer.criteria import Criterion, criterion
from diskmodel.plan.answer.outcome import Figure
from diskmodel.plan.question.description import Prices
from diskmodel.plan.question.objective import Objective
from diskmodel.workload import Workload

#: Where a profile does not say: what data sheets of the class print.
USUAL_MTTF_HOURS = 1.2e6
USUAL_URE_PER_BIT = 1e-15


@dataclass(frozen=True)
class Statics:
    """Figures of an array that no simulation is needed for.

    Attributes
    ----------
    usable_bytes : int
    cost_usd : float
        nan where the price of the drive is not known.
    rack_units : int
    rebuild_hours : float
        Of one disk at the given utilisation; nan for levels without redundancy.
    loss_per_year, mttdl_hours : float
    """

    usable_bytes: int
    cost_usd: float
    rack_units: int
    rebuild_hours: float
    loss_per_year: float
    mttdl_hours: float


def statics(
    array: Array,
    objective: Objective,
    prices: Prices,
    utilization_ratio: float = 0.0,
    simulated_rebuild_hours: float | None = None,
) -> Statics:
    """Figures of `array`.

    Parameters
    ----------
    array : Array
    objective : Objective
        For the time until a failed disk is replaced.
    prices : Prices
    utilization_ratio : float, in [0, 1]
        Of the disks by the host; the rebuild gets the rest.
    simulated_rebuild_hours : float, optional
        Where the rebuild has been simulated.

    Notes
    -----
    By formula the rebuild streams over the whole disk at its mean sequential rate, or its limit: the shortest it can
    be. Reliability: see `diskmodel.analytic.reliability`.
    """
    layout, drive = array.layout, array.drive
    hours = math.nan
    if layout.kind.is_redundant:
        rate = sequential_bytes_per_s(array)
        if layout.rebuild is not None and layout.rebuild.rate_bytes_per_s is not None:
            rate = min(rate, layout.rebuild.rate_bytes_per_s)
        busy = min(max(utilization_ratio, 0.0), 1.0)
        hours = rebuild_hours(drive.capacity_bytes, rate, host_utilization_ratio=busy)
        if simulated_rebuild_hours is not None:
            hours = simulated_rebuild_hours
    wait = 0.0 if layout.spares else objective.replacement_hours
    repair = wait + (hours if math.isfinite(hours) else 24 * 365 * 10)
    loss = data_loss(
        layout.level,
        layout.disks,
        mttf_hours=drive.mttf_hours or USUAL_MTTF_HOURS,
        mttr_hours=max(repair, 1e-3),
        disk_bytes=drive.capacity_bytes,
        ure_per_bit=USUAL_URE_PER_BIT if drive.ure_per_bit is None else drive.ure_per_bit,
        n_groups=layout.n_groups,
        n_parity=layout.n_parity,
    )
    return Statics(
        usable_bytes=array.usable_bytes,
        cost_usd=cost_usd(array, prices),
        rack_units=math.ceil(array.n_devices / prices.disks_per_rack_unit),
        rebuild_hours=hours,
        loss_per_year=loss.loss_per_year,
        mttdl_hours=loss.mttdl_hours,
    )


def cost_usd(array: Array, prices: Prices) -> float:
    """Drives, slots and power over the years; nan where the drive's price is not known."""
    price = prices.drives_usd.get(array.drive.name, array.drive.price_usd)
    if price is None:
        return math.nan
    hours = prices.years * 8766
    power = (array.drive.power_w or 0.0) * prices.power_factor / 1000 * hours * prices.power_usd_per_kwh
    return array.n_devices * (price + prices.slot_usd + power)


def sequential_bytes_per_s(array: Array) -> float:
    """Mean sequential rate of one drive over its whole surface."""
    drive = array.drive
    if not isinstance(drive, Hdd):
        return drive.interface_bytes_per_s
    tables = drive.tables()
    blocks = tables.zone_first_lba[1:] - tables.zone_first_lba[:-1]
    turns = blocks / tables.sectors_per_track
    seconds = float(turns.sum()) * tables.revolution_ns / 1e9
    return min(float(blocks.sum()) * tables.sector_bytes / seconds * tables.actuators, drive.interface_bytes_per_s)


def space_bytes(objective: Objective, workload: Workload) -> int:
    """Usable space that is needed: for the data, and for the regions that the workload names in bytes."""
    needed = objective.usable_bytes or 0
    for stream in workload.streams:
        span = stream.span_bytes if stream.span_bytes is not None else workload.span_bytes
        needed = max(needed, (stream.offset_bytes or 0) + (span or 0))
    return needed


def static_criteria(
    array: Array,
    objective: Objective,
    workload: Workload,
    prices: Prices,
    utilization_ratio: float = 0.0,
    simulated_rebuild_hours: float | None = None,
) -> list[Criterion]:
    """Criteria about what is not speed; the rebuild at the given utilisation of the disks, or as it was simulated."""
    found = []
    needed = space_bytes(objective, workload)
    if needed:
        usable = Figure.exact(array.usable_bytes / 1e9)
        found.append(criterion("capacity", "usable", needed / 1e9, usable, "GB", is_upper=False))
    if all(v is None for v in (objective.cost_usd, objective.rack_units, objective.rebuild_hours)) and (
        objective.data_loss_per_year is None
    ):
        return found
    figures = statics(array, objective, prices, utilization_ratio, simulated_rebuild_hours)
    for name, limit, value, unit in (
        ("cost", objective.cost_usd, figures.cost_usd, "USD"),
        ("rack_units", objective.rack_units, float(figures.rack_units), "U"),
        ("rebuild", objective.rebuild_hours, figures.rebuild_hours, "h"),
        ("data_loss", objective.data_loss_per_year, figures.loss_per_year, "per year"),
    ):
        if limit is not None:
            value = math.inf if name == "rebuild" and math.isnan(value) else value
            found.append(criterion(name, "", float(limit), Figure.exact(value), unit, is_upper=True))
    return found

"""Criteria that need no simulation of requests: space, money, rack units; rebuild and data loss by formula."""

from __future__ import annotations

import math

from diskmodel.analytic import DataLoss, data_loss, either_lost, rebuild_hours
from diskmodel.array import Array
from diskmodel.drive import NONE, Drive, Flash, load_drive, mirror_of
from diskmodel.layout import Rebuild, SpecialVdev
from diskmodel.plan.answer.criterion import Criterion
from diskmodel.plan.answer.statics import Statics
from diskmodel.plan.question.buying import Prices
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.family import Family
from diskmodel.plan.trial.judge import criterion
from diskmodel.plan.trial.over_the_day import over_the_day
from diskmodel.result.statistics import Interval

#: Mean time to failure of a drive whose profile does not state it, hours: what data sheets of enterprise disks print.
#: The probability of data loss is proportional to 1/MTTF^2 behind one parity disk: half or double moves it by 4.
USUAL_MTTF_HOURS = 1.2e6
#: Criteria about a rebuild: by formula a bound, until it is simulated.
OF_REBUILD = ("rebuild", "data_loss")


def statics(
    case: Case, array: Array, utilization_ratio: float = 0.0, simulated_rebuild_hours: float | None = None
) -> Statics:
    """Return the figures of an array that need no simulation of requests.

    Parameters
    ----------
    case : Case
        For prices and the time until a failed disk is replaced.
    array : Array
    utilization_ratio : float, in [0, 1]
        Of the disks by the host; the rebuild gets the rest.
    simulated_rebuild_hours : float, optional
        Beside the load, where the rebuild has been simulated; nan: not.

    Notes
    -----
    The formula assumes that the rebuild streams over the whole disk at its mean sequential rate, or at its rate limit:
    a lower bound. Where the load runs for a part of the day, `over_the_day` has the rest. Reliability: see
    `diskmodel.analytic.reliability`.
    """
    layout = array.layout
    used_bytes = rebuilt_bytes(array, case.used_ratio(array))
    hours = math.nan
    if layout.kind.is_redundant and not array.unknown_resilver:
        rate = fastest_rebuild_bytes_per_s(array, layout.rebuild or case.plan.candidates.rebuild)
        busy = min(max(utilization_ratio, 0.0), 1.0)
        hours = rebuild_hours(used_bytes, rate, host_utilization_ratio=busy)
        if simulated_rebuild_hours is not None and not math.isnan(simulated_rebuild_hours):
            hours = simulated_rebuild_hours
        hours = over_the_day(hours, rebuild_hours(used_bytes, rate), case.objective.busy_hours)
    loss = loss_beside(array, hours, case.objective.replacement_hours, case.used_ratio(array))
    return Statics(
        usable_bytes=array.usable_bytes,
        cost_usd=cost_usd(array, case.prices) + auxiliary_devices_cost_usd(case.family, case.prices),
        rack_units=math.ceil(array.n_devices / case.prices.disks_per_rack_unit),
        rebuild_hours=hours,
        loss_per_year=loss.loss_per_year,
        mttdl_hours=loss.mttdl_hours,
        read_error_ratio=loss.read_error_share if loss.tolerance == 1 else math.nan,
    )


def rebuilt_bytes(array: Array, used_ratio: float | None = None) -> int:
    """Return what the rebuild of a disk goes through: all of it, or of a pool what is stored on it.

    Parameters
    ----------
    array : Array
    used_ratio : float, optional
        How full a pool is, unless its rebuild says so.
    """
    drive = array.drive
    return array.layout.rebuilt_bytes(array.tables(), drive.capacity_bytes, drive.sector_bytes, used_ratio)


def loss_beside(
    array: Array, rebuild_hours: float, replacement_hours: float, used_ratio: float | None = None
) -> DataLoss:
    """Return the chance of data loss, with rebuilds that take so long and failed disks that are replaced so late.

    A hot spare replaces them at once; a rebuild that does not end takes ten years. `used_ratio` as `rebuilt_bytes`. A
    pool is lost with its special vdev, too, whose devices no spare replaces, and a volume behind a cache on SSDs with
    its array, which is rebuilt with nothing beside it. Where the length of a resilver is not predicted, the chance is
    nan.
    """
    layout, drive = array.layout, array.drive
    if array.unknown_resilver:
        return DataLoss(math.nan, math.nan, math.nan, layout.n_groups)
    wait = 0.0 if layout.spares or layout.spare_places else replacement_hours
    repair = wait + (rebuild_hours if math.isfinite(rebuild_hours) else 24 * 365 * 10)
    loss = data_loss(
        layout.level,
        layout.disks,
        mttf_hours=drive.mttf_hours or USUAL_MTTF_HOURS,
        mttr_hours=max(repair, 1e-3),
        disk_bytes=rebuilt_bytes(array, used_ratio),
        ure_per_bit=drive.usual_ure_per_bit if drive.ure_per_bit is None else drive.ure_per_bit,
        n_groups=layout.n_groups,
        n_parity=layout.n_parity,
        n_data=layout.narrow_data,
        n_copies=layout.n_copies if layout.level == "raid10" else 2,
    )
    if (behind := drive.without_cache()) is not None:
        # a volume is lost with its cache's writes, which is the loss of its own drive, and with the array behind it
        plain = Array(**behind)
        return either_lost(loss, loss_beside(plain, idle_rebuild_hours(plain), replacement_hours))
    if layout.special is None:
        return loss
    return either_lost(loss, _loss_of_special(array, layout.special, replacement_hours, used_ratio))


def _loss_of_special(
    array: Array, special: SpecialVdev, replacement_hours: float, used_ratio: float | None
) -> DataLoss:
    """Return the chance of losing a special vdev: a mirror, of which a new device gets all metadata."""
    stored = array.layout.metadata_bytes(array.tables(), array.drive.sector_bytes, used_ratio)
    bytes_per_s = special.card.sequential_bytes_per_s if special.figures is None else special.figures[1]
    of_drive = Flash if special.drive is None else special.card
    return data_loss(
        "mirror",
        special.devices,
        mttf_hours=special.mttf_hours or USUAL_MTTF_HOURS,
        mttr_hours=max(replacement_hours + stored / bytes_per_s / 3600, 1e-3),
        disk_bytes=stored,
        ure_per_bit=of_drive.usual_ure_per_bit if special.ure_per_bit is None else special.ure_per_bit,
    )


def idle_rebuild_hours(array: Array, used_ratio: float | None = None) -> float:
    """Return the hours of a rebuild with nothing beside it, at best; nan where nothing is rebuilt.

    By Linux md at its limit; of a pool at the rate of the disks. `used_ratio` as `rebuilt_bytes`.
    """
    layout = array.layout
    if not layout.kind.is_redundant or array.unknown_resilver:
        return math.nan
    rate = fastest_rebuild_bytes_per_s(array, layout.rebuild or Rebuild())
    return rebuild_hours(rebuilt_bytes(array, used_ratio), rate)


def cost_usd(array: Array, prices: Prices) -> float:
    """Return the cost of drives, slots and power over the years; nan where the drive's price is not known."""
    return _cost_usd(array.drive, array.n_devices, prices)


def _cost_usd(drive: Drive, n: int, prices: Prices) -> float:
    price = prices.drives_usd.get(drive.name, drive.price_usd)
    if price is None:
        return math.nan
    hours = prices.years * 8766
    power = (drive.power_w or 0.0) * prices.power_factor / 1000 * hours * prices.power_usd_per_kwh
    return n * (price + prices.slot_usd + power)


def auxiliary_devices_cost_usd(family: Family, prices: Prices) -> float:
    """Return the cost of drives for a log, a special vdev and a cache; nan where the price of one is not known."""
    bought = [] if family.log_device in ("", NONE) else [(1, family.log_device)]
    bought += [] if family.special_device in ("", NONE) else [mirror_of(family.special_device)]
    cost = sum(_cost_usd(load_drive(name), n, prices) for n, name in bought)
    return cost if family.cache_device in ("", NONE) else cost + _cost_usd(load_drive(family.cache_device), 1, prices)


def fastest_rebuild_bytes_per_s(array: Array, rebuild: Rebuild) -> float:
    """Return how fast a lost disk is rebuilt at best: at a disk's rate, or that of all onto a distributed spare."""
    layout = array.layout
    return min(sequential_bytes_per_s(array) * layout.rebuilds_at_once, layout.fastest_rebuild(rebuild))


def sequential_bytes_per_s(array: Array) -> float:
    """Return the mean sequential rate of one drive over its whole surface."""
    return array.drive.sequential_bytes_per_s


def static_criteria(
    case: Case, array: Array, utilization_ratio: float = 0.0, simulated_rebuild_hours: float | None = None
) -> list[Criterion]:
    """Return the criteria about everything but speed; the rebuild at the given utilization, or as simulated."""
    objective = case.objective
    found = []
    if case.required_bytes:
        usable = Interval.exact(array.usable_bytes / 1e9)
        found.append(criterion("capacity", "usable", case.required_bytes / 1e9, usable, "GB", is_upper=False))
    if all(v is None for v in (objective.cost_usd, objective.rack_units, objective.rebuild_hours)) and (
        objective.data_loss_per_year is None
    ):
        return found
    figures = statics(case, array, utilization_ratio, simulated_rebuild_hours)
    for name, limit, value, unit in (
        ("cost", objective.cost_usd, figures.cost_usd, "USD"),
        ("rack_units", objective.rack_units, float(figures.rack_units), "U"),
        ("rebuild", objective.rebuild_hours, figures.rebuild_hours, "h"),
        ("data_loss", objective.data_loss_per_year, figures.loss_per_year, "per year"),
    ):
        if limit is not None:
            value = math.inf if name in OF_REBUILD and math.isnan(value) else value
            found.append(criterion(name, "", float(limit), Interval.exact(value), unit, is_upper=True))
    return found

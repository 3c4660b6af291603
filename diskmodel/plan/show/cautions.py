"""What to be careful with in an answer: drives that may miss the objective or wear out, rebuilds that take weeks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from diskmodel.array import Array
from diskmodel.drive import Drive, measured_slower, wear
from diskmodel.engine import waiting_writes
from diskmodel.host import left_out
from diskmodel.layout import Rebuild
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.capacity import Capacity
from diskmodel.plan.answer.comparison import Compared
from diskmodel.plan.answer.outcome import Outcome, cut_words
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial.statics import idle_rebuild_hours, rebuilt_bytes, sequential_bytes_per_s
from diskmodel.result import no_reserve
from diskmodel.result.show import Remark
from diskmodel.units import in_digits, in_disks, in_hours_or_days, nominal_bytes, pretty_bytes
from diskmodel.workload import Workload

#: How a caution begins.
CAUTION = "Caution: "
#: Hours of a rebuild from which it is pointed out: a week. An idle disk of 24 TB takes a day and a half, and a few days
#: beside a load. At half, large disks under a usual load are pointed out, too; at double, two weeks pass in silence.
LONG_REBUILD_HOURS = 168.0
#: How many times as long as alone a rebuild must take before the load is named as the reason. At 1 it always is.
_SLOWED_BY_LOAD = 2.0
#: Least speeds of a rebuild that are proposed, bytes/s: the first that ends within a week, at most half of what a disk
#: transfers. At half, 14 TB still take 11 days; at double, requests of the hosts wait about twice as often.
_PROPOSED_SPEEDS = (30e6, 60e6, 120e6)


def cautions(result: PlanResult) -> list[str]:
    """Return what to know before buying, in sentences."""
    return [one.text for one in caution_remarks(result)]


def caution_remarks(result: PlanResult) -> list[Remark]:
    """Return what to know before buying, by what it is about."""
    cut = cut_words(each.trial.outcome for each in result.candidates if each.trial is not None)
    found = (
        *(("doubt", text) for text in (*_doubts(result), *_orders(result), *_slower(result), _profile(result))),
        ("reserve", _busy(result)),
        ("cut", cut),
        ("loss", _waiting(result)),
        ("loss", _rebuild(result)),
        *_outcome(result),
        *(("unread", text) for text in result.without_effect),
    )
    return [Remark(kind, f"{CAUTION}{text}.") for kind, text in found if text]


def _doubts(result: PlanResult) -> list[str]:
    """Return why not to rely on the answer, or without one, which profiles do not describe their drive."""
    best = result.best
    if best is not None and best.array is not None:
        doubts = best.array.doubts
        if best.safety is not None and best.array.layout.kind.is_redundant:
            # how a disk is resilvered has doubts of its own
            doubts += (
                Case(result.plan, best.family).array(best.array.layout.disks, n_failed=1, is_rebuilding=True).doubts
            )
        return list(dict.fromkeys(doubts))
    return [drive.doubt for drive in _answering(result) if drive.doubt]


def _orders(result: PlanResult) -> list[str]:
    """Return which of these drives may order queued commands in any way, for all that was measured."""
    return [text for text in map(unknown_order, _answering(result)) if text]


def unknown_order(drive: Drive) -> str:
    """Return that nothing is known of how a drive orders queued commands, and what is assumed; "" elsewhere."""
    assumption = drive.assumption
    if assumption is None or assumption.drawn:
        return ""
    return f"how {drive.name} orders queued commands is assumed: {assumption.words}"


def _slower(result: PlanResult) -> list[str]:
    """Return which of these drives were measured to be slower than their profiles."""
    found = ((drive.name, measured_slower(drive)) for drive in _answering(result))
    return [
        f"measured, {name} was slower than its profile ({by}); measure one, or plan with a reserve"
        for name, by in found
        if by
    ]


def _answering(result: PlanResult) -> Sequence[Drive]:
    """Return the drive of the answer, or all without an answer."""
    best = result.best
    return result.plan.candidates.drives if best is None else (best.family.drive,)


def _profile(result: PlanResult) -> str:
    """Return the chance of the answer and of more disks, where it is lower than the objective asks; "" elsewhere."""
    risk = result.profile_risk
    if risk is None or risk.probability >= risk.confidence:
        return ""
    missed = ", ".join(name.replace("_", " ") for name in risk.failing)
    said = [
        f"in view of what is not known, {in_disks(risk.disks)} meet the objective with a chance of "
        f"{100 * risk.probability:.0f} %, not {100 * risk.confidence:.0f} % ({missed})",
        risk.chances,
        risk.worth_measuring,
    ]
    return "; ".join(part for part in said if part)


def _outcome_of(best: Candidate | None) -> Outcome | None:
    """Return what the answer was simulated to do; None without an answer, or without a simulation."""
    return best.trial.outcome if best is not None and best.trial is not None else None


def _outcome(result: PlanResult) -> list[tuple[str, str]]:
    """Return, with kinds, that the load may wear drives out and that processors are left out, where they matter."""
    best = result.best
    outcome = _outcome_of(best)
    if best is None or best.trial is None or outcome is None:
        return []
    workload = result.plan.design_workload
    rate = outcome.iops.value if workload.queue_depth else workload.offered_rate_per_s  # as asked, not as drawn
    described = Case(result.plan, best.family).array(best.trial.disks)
    array = described.behind_host(workload)
    return [
        ("wear", wear(best.family.drive, outcome.most_written_bytes_per_s)),
        ("limit", best.family.drive.about_credits(*described.asked_of_a_drive(workload))),
        ("limit", left_out(array.host, rate)),
        *(("limit", text) for text in array.said_of_md(described)),
    ]


def _busy(result: PlanResult) -> str:
    """Return how little more the answer can take, where its disks are nearly always busy."""
    outcome = _outcome_of(result.best)
    text = no_reserve(outcome.busiest_ratio) if outcome is not None and result.plan.workload.is_open else ""
    return text and (f"{text}, whatever a write cache hides until it is full; --utilization 85% plans with a reserve")


def _waiting(result: PlanResult) -> str:
    """Return how much longer the answer's cached writes may wait than predicted, where they wait for room."""
    best = result.best
    outcome = _outcome_of(best)
    if best is None or best.array is None or outcome is None:
        return ""
    text = waiting(best.array, result.plan.design_workload, outcome)
    return text and f"{text}; measure one, or plan with a reserve"


def waiting(array: Array, workload: Workload, outcome: Outcome) -> str:
    """Return how much longer cached writes may wait than predicted, where they wait for room."""
    size = max(stream.mean_size_bytes for stream in workload.streams)
    return waiting_writes(array, outcome.burst_requests * size)


def _rebuild(result: PlanResult) -> str:
    """Return why the rebuild of the answer takes weeks, and what shortens it; "" where it does not."""
    best = result.best
    if best is None or best.array is None or best.safety is None:
        return ""
    safety, array = best.safety, best.array
    used_ratio = result.plan.objective.used_ratio(array.usable_bytes)
    capacity = rebuilt_bytes(array, used_ratio)
    text = long_rebuild(best.array, safety.rebuild_hours, safety.rebuild_alone_hours, used_ratio)
    if not array.layout.rebuilds_whole_disks:
        return text and f"{text}. More or smaller disks shorten it, and less data on each; {array.faster_beside}"
    return text and f"{text}. {_shortened(result, capacity, safety.rebuild_alone_hours)}"


def _shortened(result: PlanResult, capacity_bytes: int, alone_hours: float) -> str:
    """Return what shortens the rebuild of a plan's answer."""
    rebuild = result.plan.candidates.rebuild
    more = "More or smaller disks shorten it"
    if result.best and result.best.array and result.best.array.is_rebuilt_in_turn:
        return f"{more}; {result.best.array.faster_beside}"
    higher = [speed for speed in _PROPOSED_SPEEDS if speed > rebuild.speed_min_bytes_per_s]
    within = (speed for speed in higher if capacity_bytes / speed / 3600 < LONG_REBUILD_HOURS)
    speed = next(within, _PROPOSED_SPEEDS[-1])
    if not higher or rebuild.speed_max_bytes_per_s <= speed:
        return more
    hours = max(capacity_bytes / speed / 3600, alone_hours)
    of_md = "" if result.best and result.best.array and result.best.array.is_hardware else " (md's sync_speed_min)"
    return (
        f"{more}; so does --rebuild-speed {speed / 1e6:.0f}MB/s{of_md}, to "
        f"{in_hours_or_days(hours)} at best, while requests wait longer"
    )


def long_rebuild(array: Array, hours: float, alone_hours: float = math.nan, used_ratio: float | None = None) -> str:
    """Return how long the array is at risk and why, where a rebuild takes more than a week; "" elsewhere.

    Parameters
    ----------
    array : Array
    hours : float
        Of a rebuild beside the load; nan and infinite: nothing to point out.
    alone_hours : float
        Of one without any load; nan where unknown.
    used_ratio : float, optional
        How full a pool is.
    """
    if not math.isfinite(hours) or hours < LONG_REBUILD_HOURS:
        return ""
    layout = array.layout
    capacity = rebuilt_bytes(array, used_ratio)
    left = (layout.parity_strips or layout.n_copies - 1) - 1
    risk = "a second failed disk may lose data"
    if left > 0:
        risk = f"the array survives only {left} more failed disk{'s' if left > 1 else ''}"
    why = f"{array.rebuilds} {nominal_bytes(capacity)} at {capacity / hours / 3600 / 1e6:.3g} MB/s"
    if math.isnan(alone_hours) or hours > _SLOWED_BY_LOAD * alone_hours:
        why += f", because {_slowed(array)}"
    return f"for {hours / 24:.0f} days after a disk failed {risk}: {why}"


def _slowed(array: Array) -> str:
    """Return why a rebuild is slow beside a load, as a clause."""
    if not array.is_rebuilt_in_turn:
        return "it yields to the load"
    step = pretty_bytes(array.layout.step_bytes)
    return f"requests and steps of {step} take turns, by the source of Linux (no measurement of it is at hand)"


def rebuild_bound(array: Array, limit_hours: float, used_ratio: float | None = None) -> str:
    """Return what keeps a rebuild from ending within the hours that are asked for, and what would change that.

    `used_ratio` is how full a pool is.
    """
    layout = array.layout
    capacity = rebuilt_bytes(array, used_ratio)
    allowed, disk = layout.fastest_rebuild(layout.rebuild or Rebuild()), sequential_bytes_per_s(array)
    disk *= layout.rebuilds_at_once
    alone = idle_rebuild_hours(array, used_ratio)
    limit = "" if array.is_hardware else " (sync_speed_max)"
    said = f"{array.rebuilds[0].upper()}{array.rebuilds[1:]} at {in_digits(allowed / 1e6)} MB/s at most{limit}"
    if disk < allowed:
        doer = "All disks together rebuild" if layout.rebuilds_at_once != 1 else "The disk itself transfers"
        said = f"{doer} {in_digits(disk / 1e6)} MB/s on average"
    said += f": {nominal_bytes(capacity)} take {in_hours_or_days(alone)} on an idle array. "
    most = nominal_bytes(int(min(allowed, disk) * limit_hours * 3600))
    if not layout.rebuilds_whole_disks:
        slower = "Beside the load a resilver yields. " if alone <= limit_hours else ""
        return said + f"{slower}At most {most} on each disk are resilvered in {in_digits(limit_hours)} h."
    if alone <= limit_hours:
        if array.is_rebuilt_in_turn:
            return f"{said}Beside the load it is slow, because {_slowed(array)}."
        return said + "Beside the load it yields: --rebuild-speed keeps it up, and requests wait longer."
    if disk > allowed:
        at_best = in_hours_or_days(capacity / disk / 3600)
        said += f"Without that limit (rebuild.speed_max in a plan's file) the disk takes {at_best} at best. "
    return said + (
        f"Disks of up to {most} are rebuilt in {in_digits(limit_hours)} h. Hardware controllers have limits of their "
        "own, and ZFS copies only what is stored."
    )


def long_rebuilds(arrays: tuple[Compared, ...]) -> list[str]:
    """Return which of the arrays that are compared take weeks to rebuild."""
    found = ((item, long_rebuild(item.array, item.rebuild_hours)) for item in arrays)
    return [f"{item.name}: {text}; {item.array.faster_beside}" for item, text in found if text]


def starved_beside_the_knee(capacity: Capacity) -> str:
    """Return why the rebuild beside the knee's load takes weeks, and what speeds it up; "" where it does not."""
    text = long_rebuild(capacity.array, capacity.rebuild_hours, capacity.idle_rebuild_hours)
    return text and f"With the knee's load all day, {text}; {capacity.array.faster_beside}."

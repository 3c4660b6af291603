"""The answer to a plan in sentences."""

from __future__ import annotations

import math

from diskmodel.drive import Drive
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.answer.safety import Safety
from diskmodel.plan.show.candidates import short


def answer(result: PlanResult) -> str:
    """Return the answer in one sentence."""
    best = result.best
    if best is None or best.trial is None:
        return "No feasible array: none of the candidates meets the objective."
    spares = result.plan.candidates.spares
    spare = f" and {spares} hot spare{'s' if spares > 1 else ''}" if spares else ""
    cost = best.trial.statics.cost_usd
    money = f", for {short(cost)} USD" if math.isfinite(cost) else ""
    return f"{best.disks} disks{spare} of {best.family.drive.name} in {best.level_in_words}{money}."


def because(result: PlanResult) -> list[str]:
    """Return why: criteria and limiting factor of the best, and the rule of thumb; or what each candidate lacks."""
    best = result.best
    if best is None:
        return [f"{candidate.family}: {candidate.reason}." for candidate in result.candidates]
    assert best.trial is not None
    said = [_warning(result)] if best.safety is not None and not best.safety.is_safe else []
    said += [f"{criterion}." for criterion in best.trial.criteria]
    said.append(f"The limiting factor is {best.binds.replace('_', ' ')}: {best.reason}.")
    said += [_sentence(text) for text in best.rule_of_thumb_difference]
    if best.safety is not None:
        said.append(_sentence(_with_a_disk_failed(best.safety)))
    return said + ([_sentence(result.region)] if result.region else [])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _warning(result: PlanResult) -> str:
    best, other = result.best, result.safest
    assert best is not None
    assert best.safety is not None
    instead = ""
    if other is not None:
        instead = f" Below it: {other.disks} disks of {other.family.drive.name} in {other.level_in_words}."
    return f"Warning: {best.safety.warning}.{instead}"


def _with_a_disk_failed(safety: Safety) -> str:
    """Return p99 with a disk failed and during the rebuild, hours of rebuild and the chance of data loss."""
    chance = f"the chance of data loss is {safety.loss_per_year:.2g} a year"
    if safety.degraded is None:
        return f"no disk may fail: {chance}"
    p99 = [safety.p99_ms(outcome) for outcome in (safety.degraded, safety.rebuilding)]
    failed, rebuilding = ("overloaded" if value is None else f"p99 {value:.3g} ms" for value in p99)
    return (
        f"with a disk failed {failed}, during its rebuild {rebuilding}; the rebuild takes "
        f"{short(safety.rebuild_hours)} hours; {chance}"
    )


def lists(result: PlanResult) -> list[tuple[str, list[str]]]:
    """Return titled lists of sentences: what would help, sensitivity, assumptions, profiles."""
    found = []
    if result.relaxations:
        best = result.best
        title = f"What {best.below.disks} disks would need" if best and best.below else "What would meet the objective"
        found.append(
            (
                title,
                [
                    f"{item.change}{'' if best else f' (at {item.disks} disks)'}: {item.criterion}"
                    f"{f', for {short(item.cost_usd)} USD' if math.isfinite(item.cost_usd) else ''}"
                    for item in result.relaxations
                ],
            )
        )
    if result.sensitivities:
        found.append(
            (
                "If an input is wrong",
                [
                    f"{item.input}: {item.disks_low or 'not feasible'} disks at {item.low}, "
                    f"{item.disks_high or 'not feasible'} at {item.high}"
                    for item in result.sensitivities
                ],
            )
        )
    if result.profile_risk is not None:
        found.append(("What the drive's uncertainty does", [str(result.profile_risk)]))
    found.append(("Assumptions", _assumptions(result)))
    found.append(("Drive profiles", [_profile(drive) for drive in result.plan.candidates.drives]))
    return found


def _assumptions(result: PlanResult) -> list[str]:
    plan = result.plan
    objective, workload = plan.objective, plan.design_workload
    said = []
    for stream in workload.streams:
        closed = f"{stream.arrival.clients} outstanding requests" if stream.is_closed else ""  # type: ignore[attr-defined]
        rate = closed or f"{stream.expected_rate_per_s:,.0f} requests per second, whether or not earlier ones are done"
        said.append(
            f"stream {stream.name}: {stream.read_ratio:.0%} reads of {stream.mean_size_bytes / 1024:.3g} KiB on "
            f"average, {rate}"
        )
    if objective.load_factor != 1:
        said.append(
            f"load grows {objective.growth_ratio:.0%} a year for {objective.years:g} years, and peaks at "
            f"{objective.peak_factor:g} times the average: {objective.load_factor:.2f} times the present load"
        )
    if objective.capacity_bytes:
        said.append(f"{objective.capacity_bytes / 1e12:.3g} TB of data, at most {objective.fill_limit_ratio:.0%} full")
    said += [
        result.region or "streams use the regions that the workload states",
        "a criterion that the longest run leaves undecided counts as not met",
        "rebuild hours and data loss come from formulas that assume independent failures",
    ]
    return said


def _profile(drive: Drive) -> str:
    notes = f". {drive.notes}" if drive.notes else ""
    return f"{drive.name}: {drive.source or 'no source given'}; {_checked(drive)}{notes}"


def _checked(drive: Drive) -> str:
    """Return how well a profile agrees with measurements."""
    held = drive.provenance.get("held_out")
    if isinstance(held, dict) and "mean_error_ratio" in held:
        demerit = f", demerit {held['demerit_ratio']:.1%}" if "demerit_ratio" in held else ""
        return f"mean error on {held.get('what', 'held-out data')} {held['mean_error_ratio']:+.1%}{demerit}"
    if "evidence" in drive.provenance:
        return "calibrated without held-out data"
    return "not calibrated against a measured drive"

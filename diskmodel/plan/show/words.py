"""The answer to a plan in sentences."""

from __future__ import annotations

import math

from diskmodel.drive import Drive
from diskmodel.plan.answer.plan_result import PlanResult
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
    name = best.family.level.upper().replace("RAID", "RAID ")
    return f"{best.disks} disks{spare} of {best.family.drive.name} in {name}{money}."


def because(result: PlanResult) -> list[str]:
    """Return why: criteria and limiting factor of the best, and the rule of thumb; or what each candidate lacks."""
    best = result.best
    if best is None:
        return [f"{candidate.family}: {candidate.reason}." for candidate in result.candidates]
    assert best.trial is not None
    said = [f"{criterion}." for criterion in best.trial.criteria]
    said.append(f"The limiting factor is {best.binds.replace('_', ' ')}: {best.reason}.")
    return said + [f"{text[:1].upper()}{text[1:]}." for text in best.rule_of_thumb_difference]


def lists(result: PlanResult) -> list[tuple[str, list[str]]]:
    """Return titled lists of sentences: what would help, sensitivity, assumptions, profiles."""
    found = []
    if result.relaxations:
        best = result.best
        title = f"What {best.below.disks} disks would need" if best and best.below else "What would help most"
        found.append(
            (
                title,
                [
                    f"{item.change}{'' if best else f' (at {item.disks} disks)'}: {item.criterion}"
                    f"{'; the objective is met then' if item.holds else ''}"
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
        "a workload that states no span uses the whole array, so empty space does not shorten seeks",
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

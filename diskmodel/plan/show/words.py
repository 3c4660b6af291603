"""The answer to a plan in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

from diskmodel.drive import Drive
from diskmodel.layout import Layout, Rebuild
from diskmodel.plan.answer.candidate import Candidate, nearest
from diskmodel.plan.answer.effort import Effort, Efforts
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.answer.profile_risk import ProfileRisk
from diskmodel.plan.answer.safety import Safety
from diskmodel.plan.answer.waterfall import steps_in_words
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.show.candidates import loss_words, rebuild_words, short
from diskmodel.plan.show.cautions import rebuild_bound
from diskmodel.plan.trial.statics import idle_rebuild_hours
from diskmodel.units import chance_words, in_digits, in_disks, in_hours_or_days, listed, nominal_bytes, pretty_ns
from diskmodel.workload import Workload


def answer(result: PlanResult) -> str:
    """Return the answer in one sentence."""
    best = result.best
    if best is None or best.trial is None:
        if all(candidate.is_decided for candidate in result.candidates):
            return "No feasible array: none of the candidates meets the objective."
        return "No feasible array: no candidate is known to meet the objective, and not all could be decided."
    spares = result.plan.candidates.spares
    spare = f" and {spares} hot spare{'s' if spares > 1 else ''}" if spares else ""
    cost = best.trial.statics.cost_usd
    money = f", for {short(cost)} USD" if math.isfinite(cost) else ""
    return f"{in_disks(best.disks or 0)}{spare} of {best.family.drive.name} in {best.level_in_words}{money}."


def chance_of(result: PlanResult) -> str:
    """Return the chance that the answer meets the objective, beside the one that was asked for; "" without an answer.

    An answer as described has none: `--nominal` asks for that.
    """
    if result.best is None:
        return ""
    risk = result.profile_risk
    if risk is not None:
        return (
            f"Chance of meeting the objective: {100 * risk.probability:.0f} % ({100 * risk.confidence:.0f} % needed)."
        )
    if result.by_chance:  # all is known
        return ""
    return "As everything is described: no chance was asked for, and other drives of its kind may miss the objective."


def question_words(plan: PlanDescription) -> str:
    """Return what was asked for, in a sentence."""
    objective = plan.objective
    asked = []
    if objective.design_iops is not None:
        asked.append(f"{in_digits(objective.design_iops)} requests/s")
    if objective.design_commits_per_s is not None:
        asked.append(f"{in_digits(objective.design_commits_per_s)} commits/s")
    if objective.design_throughput_bytes_per_s is not None:
        asked.append(f"{in_digits(objective.design_throughput_bytes_per_s / 1e6)} MB/s")
    if objective.usable_bytes is not None:
        asked.append(f"{nominal_bytes(objective.usable_bytes)} of usable space")
    for stream, limits in objective.limited:
        of = f" of {stream}" if stream else ""
        asked += [f"{name} latency{of} of at most {pretty_ns(limit)}" for name, limit in limits.limits().items()]
    if objective.rebuild_hours is not None:
        asked.append(f"a rebuild within {in_hours_or_days(objective.rebuild_hours)}")
    if objective.data_loss_per_year is not None:
        asked.append(f"a chance of data loss of at most {chance_words(objective.data_loss_per_year)}")
    kind = _kind_of_load(plan)
    if objective.design_iops is not None and len(plan.workload.streams) == 1:
        kind = kind.removesuffix("/s").rpartition(", ")[0] if kind.endswith("/s") else kind  # the rate has been said
    return f"The question: how many disks for {listed(asked)}, of {kind}?"


def has_name(plan: PlanDescription) -> bool:
    """Return whether a plan has a name that says something else than its load."""
    return bool(plan.name) and plan.name != _kind_of_load(plan)


def _kind_of_load(plan: PlanDescription) -> str:
    return "; ".join(stream.in_words() for stream in plan.workload.streams)


def assumed(result: PlanResult) -> list[str]:
    """Return what the question left unsaid and the answer depends on, and the answer as everything is described."""
    return [*unsaid(result), *as_described(result)]


def unsaid(result: PlanResult) -> list[str]:
    """Return what the question left unsaid and the answer depends on, each with the answer of the other case."""
    said = []
    for item in result.assumptions:
        disks = result.best.disks if result.best is not None else None
        if item.unknown:
            other = item.unknown
        elif item.disks is None or (item.disks == disks):
            other = "no fewer disks"
        else:
            other = f"{in_disks(item.disks)} in {item.level}"
        said.append(f"Assumed: {item.assumed}. {item.instead[:1].upper()}{item.instead[1:]}: {other}.")
    return said


def as_described(result: PlanResult) -> list[str]:
    """Return the answer if everything is as described, where the chance of that is too small for it."""
    one = result.nominal
    if one is None or not result.needs_more_than_nominal:
        return []
    risk = next((item.risk for item in result.candidates if item.family == one.family), None)
    curve = () if risk is None else risk.curve
    chance = "".join(f", with a chance of {100 * at.probability:.0f} %" for at in curve if at.disks == one.disks)
    return [
        f"If everything is as described: {in_disks(one.disks or 0)} of {one.family.drive.name} in "
        f"{one.level_in_words}{chance}."
    ]


#: Reasons beside the answer: what people keep in mind. Everything else is behind `--explain`.
MAX_REASONS = 3


def because(result: PlanResult) -> list[str]:
    """Return at most three reasons: what is met, what rules out fewer disks, and what a failure does."""
    best = result.best
    if best is None:
        return _why_not(result)[:MAX_REASONS]
    assert best.trial is not None
    met = "; ".join(criterion.in_short() for criterion in best.trial.criteria)
    said = [f"It meets the objective{_at_peak(result.plan.peaks)}: {met}."]
    if best.replay_note:
        said.append(_sentence(best.replay_note))
    said.append(_passed_over(result) or _fewer(best))
    if best.safety is not None:
        said.append(_sentence(_with_a_disk_failed(result, best.safety)))
    return said[:MAX_REASONS]


def _passed_over(result: PlanResult) -> str:
    """Return why fewer disks that carry the load are not the answer: they are not safe; "" where there are none."""
    other = result.passed_over
    if other is None or other.safety is None:
        return ""
    what = f"{in_disks(other.disks or 0)} of {other.family.drive.name} in {other.level_in_words}"
    return f"{what} carry the load, but {other.safety.warning}."


def _at_peak(peaks: Mapping[str, tuple[float, float]]) -> str:
    """Return the words for streams that are simulated at their highest rates; "" without one."""
    if not peaks:
        return ""
    if len(peaks) > 1:
        return f" with {' and '.join(peaks)} at their busiest"
    ((name, (_, peak)),) = peaks.items()
    return f" with {name} at its busiest ({peak:,.4g}/s)"


def _fewer(best: Candidate) -> str:
    """Return why fewer disks are not the answer."""
    if best.risk is not None and best.nominal_disks != best.disks:
        return ". ".join(part for part in (_sentence(best.reason)[:-1], _curve(best.risk)) if part) + "."
    if best.has_ended_early:
        return _sentence(best.reason)
    if best.below is None or best.binding is None:
        return f"{fewest(best.disks or 0)}."
    if best.is_decided:
        return f"{too_few(best.below.disks)}: {best.binding.in_short()}.{_recording(best)}"
    why = best.binding.in_short()
    return f"{in_disks(best.below.disks)} may be enough, but the longest run does not decide it: {why}."


def _curve(risk: ProfileRisk) -> str:
    """Return the chance by number of disks, and what a measurement would settle, as a further sentence."""
    parts = [f"The chance by number: {risk.chances}"] if risk.chances else []
    return "; ".join([*parts, *([risk.worth_measuring] if risk.worth_measuring else [])])


def _recording(candidate: Candidate) -> str:
    """Return what shingled recording does, as a further sentence; "" where it matters not."""
    return f" {_sentence(candidate.shingled)}" if candidate.shingled else ""


def fewest(disks: int) -> str:
    """Return the words for the smallest count that may be tried."""
    few = "is the smallest number" if disks == 1 else "are the fewest"
    return f"{in_disks(disks)} {few} that the level or the plan allows"


def too_few(disks: int) -> str:
    """Return the words for a count that misses the objective."""
    return f"{in_disks(disks)} {'is' if disks == 1 else 'are'} too few"


def _why_not(result: PlanResult) -> list[str]:
    """Return the candidate that comes nearest, and the changes that would meet the objective."""
    near = nearest(result.candidates)
    if near is None:
        return [_sentence(c.reason) for c in result.candidates]
    said = [f"Nearest is {near.family.drive.name} in {near.level_in_words}, {near.reason}.{_recording(near)}"]
    is_too_slow = False  # a rebuild, whatever the number of disks
    if near.binding is not None and near.binding.name == "rebuild" and near.array is not None:
        used_ratio = result.plan.objective.used_ratio(near.array.usable_bytes)
        said.append(rebuild_bound(near.array, near.binding.limit, used_ratio))
        is_too_slow = idle_rebuild_hours(near.array, used_ratio) > near.binding.limit
    # a limit that the question sets needs no hint
    allowed, most = result.plan.candidates, near.trial.disks if near.trial else 0
    knows_more = any(item.disks > most for item in result.relaxations)
    is_own = bool({"disks", "max_disks"} & allowed.model_fields_set)
    if not (is_own or knows_more or is_too_slow) and any(candidate.more_may_help for candidate in result.candidates):
        said.append(f"Arrays of up to {in_disks(allowed.max_disks)} were tried; max_disks (--max-disks) allows more.")
    for item in result.relaxations:
        cost = f", for {short(item.cost_usd)} USD" if math.isfinite(item.cost_usd) else ""
        # only the search for more disks looked for the fewest
        counted = (
            in_disks(item.disks) if item.disks > most else f"tried with the same {in_disks(item.disks)}; fewer may do"
        )
        said.append(f"The objective is met with {item.change} ({counted}{cost}): {item.criterion.in_short()}.")
    return said


def explained(result: PlanResult) -> list[tuple[str, list[str]]]:
    """Return titled lists of what the answer rests on: every candidate's limit, the steps from the rule of thumb, more.

    A sentence that several candidates share is said once.
    """
    found = []
    best = result.best
    if best is not None and best.waterfall:
        steps = steps_in_words(best.waterfall, max(result.plan.candidates.counts))
        if not best.waterfall_moves:
            steps = [f"Nothing that it ignores changes the number: {best.binds.replace('_', ' ')} decides."]
        found.append((waterfall_title(best), steps))
    if best is not None and best.rule_of_thumb_difference:
        # the title of the steps has said it where both give the same number
        n_said = 1 if best.waterfall and best.disks == best.rule_of_thumb_disks else 0
        figures = [_sentence(text) for text in best.rule_of_thumb_difference[n_said:]]
        found += [("In figures", figures)] if figures else []
    found.append(("What limits each candidate", _limits(result)))
    notes = [f"{c.family}: {c.replay_note}" for c in result.candidates if c.replay_note]
    if notes:
        found.append(("What the replay of the trace shows", notes))
    others = [c for c in result.candidates if c is not best and c.waterfall and c.disks != c.rule_of_thumb_disks]
    if others:
        lines = []
        for candidate in others:
            counts = ", ".join(f"{step.step} {step.disks or 'none'}" for step in candidate.waterfall)
            lines.append(f"{candidate.family.drive.name}, {candidate.level_in_words}: {counts}")
        found.append(("The same steps for the others, in disks", lines))
    return found + lists(result)


def waterfall_title(best: Candidate) -> str:
    """Return the question that the steps from the rule of thumb answer."""
    counted = best.rule_of_thumb_disks
    if counted == best.disks:
        return f"The rule of thumb gives the same {counted} disks"
    return f"Why not the {counted} disks of the rule of thumb?"


def _limits(result: PlanResult) -> list[str]:
    """Return each reason once, with the candidates that it is true of."""
    owners: dict[str, list[str]] = {}
    for candidate in result.candidates:
        disks = f"{candidate.disks} disks" if candidate.disks else candidate.state
        owner = f"{candidate.family.drive.name}, {candidate.level_in_words} ({disks})"
        reason = candidate.reason + (f"; {candidate.shingled}" if candidate.shingled else "")
        owners.setdefault(reason, []).append(owner)
    return [f"{'; '.join(names)}: {reason}" for reason, names in owners.items()]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _with_a_disk_failed(result: PlanResult, safety: Safety) -> str:
    """Return p99 with a disk failed and during the rebuild, its length, and the chance of data loss."""
    chance = f"the chance of data loss is {loss_words(safety)}"
    if safety.loss_per_year > safety.limit_per_year:
        chance += f", more than {chance_words(safety.limit_per_year)}"
    if safety.degraded is None:
        return f"no disk may fail: {chance}"
    p99 = [safety.p99_ms(outcome) for outcome in (safety.degraded, safety.rebuilding)]
    failed, rebuilding = ("overloaded" if value is None else f"p99 {in_digits(value)} ms" for value in p99)
    best = result.best
    level = "raid6" if best is None else best.level
    kind = Layout.of_level(level)
    worst = "" if p99[1] is None else " at worst"
    if safety.is_overloaded:
        worst = f" ({safety.completes})"
        is_raised = result.plan.candidates.rebuild.speed_min_bytes_per_s > Rebuild().speed_min_bytes_per_s
        slower = kind.slower_beside if best is None or best.array is None else best.array.slower_beside
        if is_raised and slower:
            worst += f"; {slower}"
    if safety.unknown:
        return f"with a disk failed {failed}; neither the hours of a resilver nor the chance of data loss is known"
    name = kind.rebuild_name
    rebuilds = kind.rebuilds if best is None or best.array is None else best.array.rebuilds
    takes = f"{rebuilds} the disk in {rebuild_words(safety)}; "
    if math.isinf(safety.rebuild_hours):
        takes = "" if p99[1] is None else f"the {name} does not end beside this load; "
    return f"with a disk failed {failed}, during its {name} {rebuilding}{worst}; {takes}{chance}"


def lists(result: PlanResult) -> list[tuple[str, list[str]]]:
    """Return titled lists of sentences: what would help, sensitivity, assumptions, profiles."""
    found = []
    if result.relaxations:
        best = result.best and result.nominal
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
        found.append(("What is not known", [str(result.profile_risk)]))
    if result.plan.notes:
        found.append(("The question", list(result.plan.notes)))
    if result.peaks:
        found.append(("If the load has bursts that the recording does not show", [str(item) for item in result.peaks]))
    found.append(("Assumptions", _assumptions(result)))
    found += _simulated(result.efforts)
    found.append(("Drive profiles", [_profile(drive) for drive in result.plan.candidates.drives]))
    return found


def _simulated(efforts: Efforts) -> list[tuple[str, list[str]]]:
    """Return what was simulated, and for what, under a title; empty where nothing was."""
    if not efforts:
        return []
    parts = ", ".join(f"{purpose} {effort.n_requests:,}" for purpose, effort in efforts.items())
    whole = sum(efforts.values(), Effort())
    return [("What was simulated", [f"runs: {whole.n_runs:,}; requests: {whole.n_requests:,} ({parts})"])]


def _assumptions(result: PlanResult) -> list[str]:
    plan = result.plan
    objective, workload = plan.objective, plan.design_workload
    said = []
    for stream in workload.streams:
        subject = f"stream {stream.name}" if len(workload.streams) > 1 else "the workload"
        closed = f"{stream.arrival.clients} outstanding requests" if stream.is_closed else ""  # type: ignore[attr-defined]
        rate = (
            closed or f"{stream.expected_rate_per_s:,.0f} requests per second, whether or not earlier ones are complete"
        )
        what = f"{stream.read_ratio:.0%} reads of {stream.mean_size_bytes / 1024:.3g} KiB on average"
        said.append(f"{subject}: {'flushes alone' if stream.kind == 'flushes' else what}, {rate}")
    recording = plan.recording
    if recording is not None and recording.kind == "averages":
        said.append("within an interval of the recording requests come at random (Poisson): an average shows no bursts")
    said += peak_words(plan.peaks)
    if objective.load_factor != 1:
        said.append(
            f"load grows {objective.growth_ratio:.0%} a year for {objective.years:g} years, and peaks at "
            f"{objective.peak_factor:g} times the average: {objective.load_factor:.2f} times the present load"
        )
    if objective.capacity_bytes:
        said.append(f"{nominal_bytes(objective.capacity_bytes)} of data, at most {objective.fill_limit_ratio:.0%} full")
    said += [
        result.region or "streams use the regions that the workload states",
        *in_order_words(workload),
        *([str(result.spreading)] if result.spreading else []),
        "a criterion that the longest run leaves undecided counts as not met",
        "rebuild hours and data loss come from formulas that assume independent failures",
    ]
    return said


def peak_words(peaks: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return which streams are simulated at their highest rates; empty without one."""
    said = [
        f"{name} is simulated at its busiest, {peak:,.4g} requests per second (on average {mean:,.4g})"
        for name, (mean, peak) in peaks.items()
    ]
    together = ["these streams are busiest together in the simulation, at whatever times they really are"]
    return said + (together if len(said) > 1 else [])


def in_order_words(workload: Workload) -> list[str]:
    """Return where streams that go through their regions in order are simulated; empty without one."""
    names = [stream.name for stream in workload.streams if stream.addresses.is_in_order]
    if not names:
        return []
    verb = "goes through its region in order and is" if len(names) == 1 else "go through their regions in order and are"
    return [f"{' and '.join(names)} {verb} simulated near the end, where hard disks transfer least"]


def _profile(drive: Drive) -> str:
    notes = f". {drive.notes}" if drive.notes else ""
    order = f"; how it orders queued commands is assumed: {drive.assumption.words}" if drive.assumption else ""
    return f"{drive.name}: {drive.source or 'no source given'}; {_checked(drive)}{order}{notes}"


def _checked(drive: Drive) -> str:
    """Return how well a profile agrees with measurements."""
    held = drive.provenance.get("held_out")
    if isinstance(held, dict) and "mean_error_ratio" in held:
        demerit = f", demerit {held['demerit_ratio']:.1%}" if "demerit_ratio" in held else ""
        return f"mean error on {held.get('what', 'held-out data')} {held['mean_error_ratio']:+.1%}{demerit}"
    if "evidence" in drive.provenance:
        return "calibrated without held-out data"
    return "not calibrated against a measured drive"

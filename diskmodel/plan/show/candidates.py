"""The candidates of a plan as rows of text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.answer.safety import Safety
from diskmodel.plan.trial.over_the_day import DAY
from diskmodel.result import COMMITS
from diskmodel.result.statistics import COLUMN, Interval, beside
from diskmodel.units import chance_words, in_digits, in_hours_or_days, nominal_bytes, pretty_bytes

#: Mark of a candidate that the longest run leaves undecided.
CLOSE = "(close)"
#: Mark of a number of disks that meets the objective as described, but with too small a chance.
UNSURE = "?"
#: Mark of a number of disks that meets the objective, but is not safe.
UNSAFE = "!"


#: A maker's number of a part, and the size at the end of a drive's name.
_PART, _SIZE = re.compile(r" (?=\S*\d)(?=\S*[A-Z])[A-Z0-9]{9,}(?= |$)"), re.compile(r" [\d.]+ [GT]B$")
#: How many times as long as alone a rebuild must take before that is shown, too. At 1 it always is.
SLOWED_BY_LOAD = 1.5


def short(value: float | None, digits: int = 3) -> str:
    """Return a figure as text for a table."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def duration(hours: float) -> str:
    """Return the length of a rebuild as people say it: in days above 48 h."""
    if math.isnan(hours):
        return "–"
    if math.isinf(hours):
        return "never ends"
    return in_hours_or_days(hours)


def rebuild_name(arrays: Iterable[Array]) -> str:
    """Return what the rebuild of a failed disk is called, and who does it."""
    arrays = list(arrays)
    by = {array.rebuilt_by for array in arrays}
    if len(by) > 1:
        return " or ".join(sorted({array.layout.rebuild_name for array in arrays}))
    return next(iter(by), "rebuild")


def fullness_words(arrays: Iterable[Array]) -> str:
    """Return how full pools are taken to be where a resilver is simulated; "" where all say so themselves."""
    layouts = [array.layout for array in arrays if not array.layout.rebuilds_whole_disks]
    are_said = {layout.rebuild is not None and layout.rebuild.used_ratio is not None for layout in layouts}
    if False not in are_said:
        return ""
    where = " where it is not said" if True in are_said else ""
    return (
        f"A pool is taken to be {layouts[0].usual_used_ratio:.0%} full{where}: its resilver copies only what is stored."
    )


def rebuild_words(safety: Safety) -> str:
    """Return how long a rebuild takes, and where the load slows it, alone and beside it."""
    alone, beside = safety.rebuild_alone_hours, safety.rebuild_beside_hours
    if not beside > SLOWED_BY_LOAD * alone:
        return duration(safety.rebuild_hours)
    both = f"{duration(alone)} idle, {duration(beside)} beside this load"
    if safety.busy_hours >= DAY:
        return both
    return f"{duration(safety.rebuild_hours)} with {in_digits(safety.busy_hours)} h of load a day ({both})"


def loss_words(safety: Safety) -> str:
    """Return the chance of data loss; with that of rebuilds without any load where the load decides it."""
    said, idle = chance_words(safety.loss_per_year), safety.loss_if_idle_per_year
    if not safety.loss_per_year > SLOWED_BY_LOAD * idle:
        return said
    return f"{said}, with rebuilds as fast as idle {chance_words(idle).removesuffix(' a year')}"


def short_names(drives: Iterable[Drive]) -> dict[str, str]:
    """Return names for a table by the names of drives: without part number and size, where they then still differ."""
    forms = {name: _short_forms(name) for name in (drive.name for drive in drives)}
    n_of = Counter(form for own in forms.values() for form in set(own))
    # a model of one word says too little without its part number
    usable = {name: own if " " in own[0] else own[-1:] for name, own in forms.items()}
    return {name: next((form for form in own if n_of[form] == 1), name) for name, own in usable.items()}


def _short_forms(name: str) -> list[str]:
    """Return a drive's name without part number and size, without its part number, and without its size."""
    without_size = _SIZE.sub("", name)
    return [_PART.sub("", without_size), _PART.sub("", name), without_size]


def _is_priced(result: PlanResult) -> bool:
    return any(c.trial and math.isfinite(c.trial.statics.cost_usd) for c in result.candidates)


def _is_replayed(result: PlanResult) -> bool:
    return any(c.trial and c.trial.replay for c in result.candidates)


def candidate_header(result: PlanResult) -> list[str]:
    """Return the names of the columns of `candidate_row`; columns that are the same for all candidates are left out."""
    names = ["drive", "level", "disks", "rule of thumb", "limited by", "IOPS", "mean ms", "p99 ms"]
    names += ["disk failed", "rebuild", "busy", "usable"]
    if _has_commits(result):
        names[names.index("IOPS") : names.index("IOPS")] = _OF_COMMITS
    if result.plan.workload.is_a_log:
        names = [name for name in names if name not in _OF_REQUESTS]
    varied = _varied(result)
    names[2:2] = [name for name, _ in varied]
    names += ["replay p99"] if _is_replayed(result) else []
    return names + (["cost USD"] if _is_priced(result) else [])


#: Columns about commits, and those that say the same where all requests are commits.
_OF_COMMITS, _OF_REQUESTS = ("commits/s", "commit p99 ms"), ("IOPS", "mean ms", "p99 ms")


def _has_commits(result: PlanResult) -> bool:
    return result.plan.workload.has_syncs


def _varied(result: PlanResult) -> list[tuple[str, str]]:
    """Return title and field of what differs between families besides drive and level."""
    fields = (
        ("strip", "strip_bytes"),
        ("cache", "cache_bytes"),
        ("groups", "groups"),
        ("record", "record_bytes"),
        ("log device", "log_device"),
        ("special", "special_device"),
        ("cache device", "cache_device"),
    )
    return [(title, name) for title, name in fields if len({getattr(c.family, name) for c in result.candidates}) > 1]


def candidate_row(result: PlanResult, candidate: Candidate) -> list[str]:
    """Return one candidate as text, column by column."""
    is_priced = _is_priced(result)
    outcome = candidate.trial.outcome if candidate.trial else None
    own = [candidate.n_groups if name == "groups" else getattr(candidate.family, name) for _, name in _varied(result)]
    row = [
        short_names(result.plan.candidates.drives)[candidate.family.drive.name],
        candidate.level,
        *(pretty_bytes(value) if isinstance(value, int) and value >= 512 else str(value or "–") for value in own),
        _disks(candidate),
        counted_disks(result, candidate),
        candidate.binds.replace("_", " ") + ("" if candidate.is_decided else f" {CLOSE}"),
        *_speed(result, candidate, outcome),
        _with_a_disk_failed(candidate),
        duration(candidate.safety.rebuild_hours) if candidate.safety else "–",
        f"{outcome.utilization_ratio:.0%}" if outcome and math.isfinite(outcome.utilization_ratio) else "–",
        nominal_bytes(candidate.trial.statics.usable_bytes) if candidate.trial else "–",
    ]
    if _is_replayed(result):
        replay = candidate.trial.replay if candidate.trial else None
        row.append("–" if replay is None else short(replay.latency_ms()["p99"]))
    return row + ([short(candidate.trial.statics.cost_usd if candidate.trial else None)] if is_priced else [])


def _disks(candidate: Candidate) -> str:
    """Return the fewest disks, with their chance where it is lower than the objective asks."""
    if not candidate.disks:
        return "undecided" if candidate.state == "undecided" else "not feasible"
    marks = ("" if candidate.is_sure else UNSURE) + (UNSAFE if candidate.is_unsafe else "")
    return f"{candidate.disks}{marks}"


def _speed(result: PlanResult, candidate: Candidate, outcome: Outcome | None) -> list[str]:
    """Return rates and latencies: of commits, where there are any, and of all requests, unless all are commits.

    Beside mean and p99 of all requests stands what the bad one of ten has, where that was found.
    """
    of_stream = outcome.latency_ns if outcome and outcome.is_stable else {}
    cells = []
    if _has_commits(result):
        cells.append(short(outcome.commits_per_s.value if outcome else None))
        cells.append(_ms(of_stream.get(COMMITS, {}).get("p99")))
    if not result.plan.workload.is_a_log:
        figures = of_stream.get("", {})
        cells.append(short(outcome.iops.value if outcome else None))
        risk = candidate.risk
        known = risk if risk is not None and risk.disks == candidate.disks else None
        for name in ("mean", "p99"):
            bad = math.nan if known is None else known.in_one_of_ten(name) / 1e6
            cells.append(beside(_ms(figures.get(name)), bad))
    return cells


def counted_disks(result: PlanResult, candidate: Candidate) -> str:
    """Return the disks by the rule of thumb; "> 64" where it found none up to the plan's most disks of 64."""
    counted, most = candidate.rule_of_thumb_disks, max(result.plan.candidates.counts)
    if counted is None:
        return "–"
    return f"> {most}" if counted == most + 1 else str(counted)


def candidate_note(result: PlanResult) -> str:
    """Return what a second figure, the marks and the levels in the rows mean; "" where all are plain."""
    notes = []
    if any(candidate.risk is not None and candidate.risk.middles for candidate in result.candidates):
        notes.append(f"Two figures of a latency: the typical one, and that {COLUMN}.")
    if not all(candidate.is_decided for candidate in result.candidates):
        notes.append(
            f"{CLOSE}: too close to the limit for the longest run to decide; the larger number of disks is given."
        )
    if not all(candidate.is_sure for candidate in result.candidates):
        asked = f"{100 * result.plan.objective.confidence:.0f} %"
        notes.append(
            f"{UNSURE}: enough if everything is as described; a chance of {asked} takes more disks than the answer has."
        )
    unsafe = [c.safety for c in result.candidates if c.is_feasible and c.is_unsafe and c.safety is not None]
    if unsafe:
        limit = chance_words(unsafe[0].limit_per_year)
        unknown = ", or how long it takes is not known" if any(safety.unknown for safety in unsafe) else ""
        notes.append(f"{UNSAFE}: loses data with a chance of more than {limit}, or its rebuild does not end{unknown}.")
    names = short_names(result.plan.candidates.drives)
    best = None if result.best is None else result.best.family.drive.name
    full = [name for name, text in names.items() if name not in (text, best)]
    notes += [f"In full: {'; '.join(full)}."] if full else []
    width = result.plan.candidates.max_group_width.to_dict()
    split = {c.family.level: c.level for c in result.candidates if c.level != c.family.level}
    notes += [
        f"{level} is {one} in groups of at most {width[one]} disks: in a wider one more disks can fail in a rebuild."
        for one, level in split.items()
    ]
    return "\n".join(notes)


def _ms(figure: Interval | None) -> str:
    return short(None if figure is None else figure.value / 1e6)


def _with_a_disk_failed(candidate: Candidate) -> str:
    """Return p99 latency with a disk failed."""
    safety = candidate.safety
    if safety is None or safety.degraded is None:
        return "–"
    return short(safety.p99_ms(safety.degraded)) if safety.degraded.is_stable else "overload"

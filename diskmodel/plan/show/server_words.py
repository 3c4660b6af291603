"""The answer to a question about several volumes, in sentences and rows of text."""

from __future__ import annotations

import math

from diskmodel.plan.answer.arrangement import Arrangement, PlacedArray, ServerResult
from diskmodel.plan.answer.candidate import Candidate, nearest
from diskmodel.plan.question.server import APART, SHARED
from diskmodel.plan.show.candidates import CLOSE, counted_disks, short
from diskmodel.plan.show.cautions import cautions
from diskmodel.plan.show.words import (
    MAX_REASONS,
    explained,
    fewest,
    in_order_words,
    peak_words,
    too_few,
)
from diskmodel.units import in_disks, nominal_bytes

#: Titles of lists that are the same for every array, and said once.
_COMMON = ("Drive profiles",)
#: Lists of one array that say nothing about another.
_OWN = ("What limits each candidate", "If an input is wrong", "In figures")
#: How much longer than alone p99 has to be beside the others for a sentence about it. At half of the excess it is
#: within most intervals; at double, a fifth more latency passes without a word.
_WORTH_SAYING = 1.1


def answer(result: ServerResult) -> str:
    """Return the answer in one sentence."""
    best = result.best
    if best is None:
        return "No feasible arrangement: some array of each misses an objective."
    cost = f", for {short(best.cost_usd)} USD" if math.isfinite(best.cost_usd) else ""
    placed = "; ".join(f"{_names(array)} on {_array_in_words(array)}" for array in best.arrays)
    return f"{_title(best)}: {best.disks} disks{cost}: {placed}."


def because(result: ServerResult) -> list[str]:
    """Return at most three reasons: what the others take, what sharing does, and what a rule of thumb gets wrong."""
    said = [_other(item) for item in result.arrangements if item is not result.best]
    said += [line for line in (_sharing(result), _counted_as_random(result)) if line]
    if len(said) < MAX_REASONS and result.best is not None:
        said += [_limit(array) for array in result.best.arrays]
    return said[:MAX_REASONS]


def warnings(result: ServerResult) -> list[str]:
    """Return what has to be said of each recommended array before the recommendation."""
    arrays = result.best.arrays if result.best is not None else ()
    found = [(array, line) for array in arrays for line in cautions(array.result)]
    return [f"{_names(array)}: {line}" for array, line in found]


def header(result: ServerResult) -> list[str]:
    """Return the names of the columns of `rows`; the drive is left out where there is only one."""
    drive = ["drive"] if len(result.plan.candidates.drives) > 1 else []
    names = ["arrangement", "volumes", *drive, "level", "disks", "rule of thumb", "limited by"]
    return names + (["cost USD"] if _is_priced(result) else [])


def rows(result: ServerResult) -> list[list[str]]:
    """Return each array of each arrangement as text, column by column; sums of several arrays in a row of their own."""
    found = []
    for item in result.arrangements:
        for number, array in enumerate(item.arrays):
            skipped = 0 if "drive" in header(result) else 1
            cells = [item.name if not number else "", _names(array), *_array_cells(array)[skipped:]]
            found.append(cells + ([short(array.cost_usd)] if _is_priced(result) else []))
        if len(item.arrays) > 1:
            total = str(item.disks) if item.disks else "–"
            cells = ["", "all", *([""] if "drive" in header(result) else []), "", total, "", ""]
            found.append(cells + ([short(item.cost_usd)] if _is_priced(result) else []))
    return found


def note(result: ServerResult) -> str:
    """Return what the mark in the rows means; "" where no row has it."""
    if not any(CLOSE in cell for row in rows(result) for cell in row):
        return ""
    return f"{CLOSE}: too close to the limit for the longest run to decide; the larger number of disks is given."


def latency_header(result: ServerResult) -> list[str]:
    """Return the names of the columns of `latency_rows`."""
    return ["p99 ms", "at most", *(item.name for item in result.arrangements)]


def latency_rows(result: ServerResult) -> list[list[str]]:
    """Return p99 of each volume in each arrangement, and in parentheses what it is alone on the same disks."""
    found = []
    for volume in result.plan.volumes:
        limit = volume.objective.latency.p99_ns
        cells = [volume.name, "–" if limit is None else short(limit / 1e6)]
        found.append(cells + [_p99(item.array_of(volume.name), volume.name) for item in result.arrangements])
    return found


def explained_volumes(result: ServerResult) -> list[tuple[str, list[str]]]:
    """Return titled lists of what the answer rests on, array by array."""
    found: list[tuple[str, list[str]]] = []
    common: dict[str, list[str]] = {}
    seen: set[tuple[str, ...]] = set()
    for item in result.arrangements:
        for array in item.arrays:
            if array.volumes in seen:
                continue
            seen.add(array.volumes)
            for title, lines in explained(array.result):
                if title in _OWN or title.startswith(("Why not", "The rule of thumb", "What")):
                    found.append((f"{_names(array)}: {title[:1].lower()}{title[1:]}", lines))
                elif title in _COMMON:
                    common.setdefault(title, lines)
    assumed = [
        *(
            f"{volume.name}: {nominal_bytes(volume.capacity_bytes)} of data in {nominal_bytes(volume.usable_bytes)}; "
            + "; ".join(stream.in_words() for stream in result.plan.plan_of((volume.name,)).design_workload.streams)
            for volume in result.plan.volumes
        ),
        *(
            f"{volume.name}: {line}"
            for volume in result.plan.volumes
            for plan in [result.plan.plan_of((volume.name,))]
            for line in [*peak_words(plan.peaks), *in_order_words(plan.design_workload)]
        ),
        "every array has a controller of its own, with the caches that the plan describes",
        result.plan.region,
        "a criterion that the longest run leaves undecided counts as not met",
        "rebuild hours and data loss come from formulas that assume independent failures",
    ]
    return [*found, ("Assumptions", assumed), *common.items()]


def _title(item: Arrangement) -> str:
    if item.name == SHARED:
        return "One array for all"
    return "Apart" if item.name == APART else "As given"


def _names(array: PlacedArray) -> str:
    return ", ".join(array.volumes)


def _array_in_words(array: PlacedArray) -> str:
    best = array.result.best
    assert best is not None
    return f"{array.disks} × {best.family.drive.name} in {best.level_in_words}"


def _array_cells(array: PlacedArray) -> list[str]:
    """Return drive, level, disks, the rule of thumb's count and the limit of an array."""
    found = array.result.best or nearest(array.result.candidates)
    if found is None:
        return ["–", "–", "not feasible", "–", "–"]
    disks = str(array.disks) if array.disks else "undecided" if found.state == "undecided" else "not feasible"
    close = "" if found.is_decided else f" {CLOSE}"
    counted = counted_disks(array.result, found)
    return [found.family.drive.name, found.level, disks, counted, _limited_by(found, array) + close]


def _limited_by(found: Candidate, array: PlacedArray) -> str:
    """Return what rules out fewer disks, with the volume whose limit it is."""
    detail = found.binding.detail.partition(" of ")[2] if found.binding is not None else ""
    name = found.binds.replace("_", " ")
    return f"{name} of {detail}" if detail and len(array.volumes) > 1 else name


def _is_priced(result: ServerResult) -> bool:
    return any(math.isfinite(array.cost_usd) for item in result.arrangements for array in item.arrays)


def _p99(array: PlacedArray, volume: str) -> str:
    if array.result.best is None:
        return "–"
    for item in array.sharing:
        if item.volume == volume:
            alone = f" ({short(item.alone.value)} alone)" if math.isfinite(item.alone.value) else ""
            return f"{short(item.shared.value)}{alone}"
    return short(array.result.best.p99_ms)


def _other(item: Arrangement) -> str:
    """Return what another arrangement takes, and why."""
    title = _title(item)
    if not item.is_feasible:
        missing = next(array for array in item.arrays if not array.result.is_feasible)
        near = nearest(missing.result.candidates)
        why = near.reason if near is not None else missing.result.reason
        is_open = near is not None and near.state == "undecided"
        verdict = "is not known to be feasible" if is_open else "is not feasible"
        return f"{title} {verdict}, because of {_names(missing)}: {why}."
    cost = f" for {short(item.cost_usd)} USD" if math.isfinite(item.cost_usd) else ""
    if len(item.arrays) > 1:
        parts = ", ".join(f"{_names(array)} {array.disks}" for array in item.arrays)
        return f"{title} they take {item.disks} disks{cost}: {parts}."
    return f"{title} takes {_array_in_words(item.arrays[0])}{cost}: {_why(item.arrays[0])}."


def _why(array: PlacedArray) -> str:
    best = array.result.best
    assert best is not None
    if best.has_ended_early or (best.risk is not None and best.nominal_disks != best.disks):
        return best.reason
    if best.below is None or best.binding is None:
        return fewest(best.disks or 0)
    few = in_disks(best.below.disks)
    why = (
        too_few(best.below.disks) if best.is_decided else f"{few} may be enough, which the longest run does not decide"
    )
    return f"{why}, {best.binding.in_short()}"


def _limit(array: PlacedArray) -> str:
    why = _why(array)
    return f"{_names(array)}: {why}."


def _sharing(result: ServerResult) -> str:
    """Return what sharing does to the volume that it slows most; "" where nothing shares, or nothing suffers."""
    suffering = [
        (item, array)
        for arrangement in result.arrangements
        for array in arrangement.arrays
        for item in array.sharing
        if item.ratio > _WORTH_SAYING
    ]
    if not suffering:
        return ""
    worst, array = max(suffering, key=lambda pair: pair[0].ratio)
    others = ", ".join(name for name in array.volumes if name != worst.volume)
    return (
        f"Sharing {array.disks} disks slows {worst.volume} most: p99 {short(worst.shared.value)} ms beside {others}, "
        f"{short(worst.alone.value)} ms alone on them."
    )


def _counted_as_random(result: ServerResult) -> str:
    """Return the sequential volume that takes far fewer disks than requests per second suggest; "" without one."""
    apart = result.arrangement(APART)
    for array in apart.arrays if apart is not None else ():
        best = array.result.best
        streams = array.result.plan.design_workload.streams
        counted = None if best is None else best.rule_of_thumb_disks
        if counted is None or counted <= array.disks or any(s.addresses.pattern != "sequential" for s in streams):
            continue
        rate = sum(stream.expected_rate_per_s for stream in streams)
        return (
            f"{_names(array)[:1].upper()}{_names(array)[1:]} takes {array.disks} disks of its own: its {rate:,.0f} "
            f"requests per second are sequential; counted as random ones they would take {counted}."
        )
    return ""

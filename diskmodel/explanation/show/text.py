"""An explanation as text that fits 80 columns."""

from __future__ import annotations

import math
import textwrap

from diskmodel.explanation.expected import Compared
from diskmodel.explanation.experiments import Experiment
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.found import CauseFound
from diskmodel.units import in_digits

_WIDTH = 80
#: Rows of the table of figures; of more loads only those that are furthest off are shown.
_MOST_ROWS = 14
#: Probability from which a cause is said to be the one.
_SURE = 0.8
#: Before causes that this array's description refuses: they may be the case all the same.
NOT_TRIED = "What could not be tried, and may be the case all the same:"
_LEADS = {
    "slower": "slower than it should be",
    "faster": "faster than it should be",
    "different": "not as it should be",
    "odd": "one is not like the others",
}


def text(found: Explanation) -> str:
    """Return the explanation in plain English."""
    lines = [*_headline(found), ""]
    lines += _table(found)
    if not found.is_as_expected:
        lines += ["", *_causes(found)]
    if found.unseen:
        lines += ["", *_wrapped(unseen_in_words(found), "")]
    if found.not_tried:
        lines += ["", NOT_TRIED, *(line for said in found.not_tried for line in _wrapped(said, "  - "))]
    if found.notes:
        lines += ["", "What was assumed:", *(line for note in found.notes for line in _wrapped(note, "  - "))]
    return "\n".join(lines)


def _headline(found: Explanation) -> list[str]:
    about, lead, end = found.gap, _LEADS[found.direction], " "
    if found.has_before:
        lead = lead.replace("it should be", "before")
    if found.causes and found.causes[0].predicts is None:
        return _wrapped(f"{_LEADS['odd']}: {found.causes[0].titles[0]}", "")
    if found.is_as_expected:
        about = next((one for one in found.compared if one.figure == "iops"), about)
        lead, end = "nothing to explain", ": "
    said = (
        f"{_value(about, about.measured)} measured, {_interval(about)} {'before' if found.has_before else 'expected'}"
    )
    where = "" if len(found.loads) == 1 else f" ({about.load})"
    what = "" if about.figure == "iops" else f"{_name(about)}{end}"
    return _wrapped(f"{lead}: {what}{said}{where}", "")


def unseen_in_words(found: Explanation) -> str:
    """Return what the figures could not have shown, and what would have."""
    factors = [one.factor for one in found.unseen]
    least, most = min(factors), max(factors)
    many = f"{_factor(least)} to {_factor(most)} times, by load," if most > 1.1 * least else f"{_factor(most)} times"
    words = f"What could not be seen: a loss of less than {many} would not show here"
    before = max((one.with_before or math.inf for one in found.unseen), default=math.inf)
    # where the description says as much, a sound run adds nothing
    if before < most and _factor(before) != _factor(most):
        words += f"; a sound run of the same job (--before) would show {_factor(before)} times"
    return words + "." + _open_in_words(found)


#: What settles an unknown; that of a drive, a profile of one.
_SETTLES = {
    "host": "--host says which",
    "controller": "--controller says which",
    "layout": "",
    "workload": "",
    "latency of reads": "one request at a time on the volume settles it",
    "network, daemons and drives": "one request at a time settles it",
    "copies and commits": "one write at a time settles it",
    "array behind the cache": "the array without its cache settles it",
    "processors of daemons": "their load on the nodes settles it",
}


def _open_in_words(found: Explanation) -> str:
    """Return what leaves most of it open, of the load that is open most; "" where no unknown does by itself."""
    widest = max(found.unseen, key=lambda one: one.factor)
    if not widest.open:
        return ""
    settles = _SETTLES.get(widest.open, "a profile of such a drive (diskmodel measure) settles it")
    said = f" Most of that is open because of one thing that is not known: {widest.open}"
    return f"{said}{f' ({settles})' if settles else ''}."


def _factor(value: float) -> str:
    """Return a factor, rounded up: less than that does not show."""
    return in_digits(math.ceil(value * 10 - 1e-9) / 10, 2)


def _table(found: Explanation) -> list[str]:
    rows = list(found.compared)
    if len(rows) > _MOST_ROWS:
        rates = [one for one in rows if one.figure == "iops"] or rows
        rows = [one for one in rows if not one.is_inside or one in rates][:_MOST_ROWS]
    expected = "as before" if found.has_before else "expected"
    lines = [f"  {'':16}{expected:>12}  {'95 % interval':^23}{'measured':>12}"]
    for load in found.loads:
        own = [one for one in rows if one.load == load]
        if not own:
            continue
        lines += _wrapped(f"{load}: {found.described[load]}", "")
        for one in own:
            interval = f"{_number(one.low)} … {_number(one.high)}"
            mark = f" {mark_of(one)}".rstrip()
            expected, measured = _value(one, one.expected), _value(one, one.measured)
            lines.append(f"  {_name(one):16}{expected:>12}  {interval:^23}{measured:>12}{mark}")
    return lines


def mark_of(one: Compared) -> str:
    """Return the mark of a figure outside its interval; in brackets where so many figures leave room for one."""
    if one.low <= one.measured <= one.high:
        return ""
    word = "less" if one.measured < one.low else "more"
    return f"({word})" if one.is_inside else word


def rest_of(found: Explanation) -> str:
    """Return the probabilities of what is not named."""
    rest = max(1 - sum(one.probability for one in found.causes) - found.unknown - found.as_described, 0.0)
    tail = [
        f"none of what I know: {percent(found.unknown)}",
        f"nothing wrong, rare figures: {percent(found.as_described)}",
        f"others that were tried: {percent(rest)}",
    ]
    return "; ".join(tail)


def next_lines(one: Experiment) -> list[str]:
    """Return what to measure next, and the rates that each cause predicts of it."""
    said = "; ".join(f"{name} {_number(rate)}/s" for name, rate in one.predicts.items())
    return [f"What to measure next (--job FILE writes it for fio): {one.what}.", f"rates by cause: {said}"]


def _causes(found: Explanation) -> list[str]:
    lines = _wrapped(lead_of(found), "")
    for place, one in enumerate(found.causes, 1):
        lines += _cause(place, one)
    lines += ["", *_wrapped(rest_of(found), "  ")]
    return [*lines, "", *_next(found.next)] if found.next is not None else lines


def lead_of(found: Explanation) -> str:
    """Return how sure the causes are that follow, or that there are none."""
    if not found.causes:
        return "none of what I know explains this: no cause that was tried fits all the figures"
    first = found.causes[0].probability
    if all(one.is_inside for one in found.compared) and found.causes[0].predicts is not None:
        return "No figure by itself shows it; all of them together fit these better than a sound array:"
    if first >= _SURE:
        return "What explains it:"
    return "What may explain it:" if first > found.as_described else "What may explain it, if anything is wrong:"


def _next(one: Experiment) -> list[str]:
    """Return what to measure next, and what each cause predicts of it."""
    what, rates = next_lines(one)
    lines = _wrapped(what, "")
    return [*lines, *_wrapped(rates, "  ")]


def _cause(place: int, one: CauseFound) -> list[str]:
    title, *others = cause_lines(one)
    lines = _wrapped(title.partition(": ")[2], f"  {place}. {percent(one.probability):>5}  ", 12)
    return lines + [line for other in others for line in _wrapped(other, " " * 12)]


def cause_lines(one: CauseFound) -> list[str]:
    """Return a cause with its probability, what it predicts, and what decides."""
    predicts = one.predicts
    explains = "" if one.explains is None else f"explains {percent(one.explains)} of the gap"
    if predicts is None:
        said = ["seen by comparing equals" + (f"; {explains}" if explains else "")]
        return [f"{percent(one.probability)}: {'; and '.join(one.titles)}", *said, *map(_check, one.checks)]
    value = f"{_number(predicts.value)} ({_number(predicts.low)} … {_number(predicts.high)})"
    unit = "/s" if predicts.figure == "iops" else " ms"
    return [
        f"{percent(one.probability)}: {'; and '.join(one.titles)}",
        f"predicts {value}{unit}; {explains}",
        *map(_check, one.checks),
    ]


def _check(check: str) -> str:
    return f"check: {check}"


def table_rows(found: Explanation) -> list[list[str]]:
    """Return a row for each figure: load, figure, expected, interval, measured, and whether it is outside."""
    return [
        [
            one.load,
            _name(one),
            _value(one, one.expected),
            f"{_number(one.low)} … {_number(one.high)}",
            _value(one, one.measured),
            mark_of(one),
        ]
        for one in found.compared
    ]


def _wrapped(words: str, first: str, indent: int | None = None) -> list[str]:
    after = " " * (len(first) if indent is None else indent)
    wrapped = textwrap.wrap(
        words, _WIDTH, initial_indent=first, subsequent_indent=after or "  ", break_on_hyphens=False
    )
    return wrapped or [first]


def _name(one: Compared) -> str:
    if one.figure == "iops":
        return "rate"
    part, kind = one.figure.split(".")
    return f"{part}: {kind}"


def _number(value: float) -> str:
    return in_digits(value, 3)


def _value(one: Compared, value: float) -> str:
    return f"{_number(value)} IOPS" if one.figure == "iops" else f"{_number(value)} ms"


def _interval(one: Compared) -> str:
    return f"{_number(one.expected)} ({_number(one.low)} … {_number(one.high)})"


def percent(share: float) -> str:
    """Return a share as a whole percentage."""
    if 0 < share < 0.01:
        return "< 1 %"
    return f"{share:.0%}".replace("%", " %")

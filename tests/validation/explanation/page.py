"""The page of faults from outside of the engine: draws, what would be noticed, and sound measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from diskmodel.drawing import COLORS, label_in_numbers, style_for_any_page, svg_of
from tests.validation.explanation import sound
from tests.validation.explanation.outside import table
from tests.validation.explanation.outside.cases import faults
from tests.validation.explanation.outside.faults import FAULTS
from tests.validation.explanation.outside.table import LEAST, TWICE, Row
from tests.validation.units.page import pairs

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "explain-outside.md"
CURVE = PAGE.with_name("noticed.svg")
_HEAD = [
    "| | cases | seen | first | among three | wrong with > 60 % |",
    "|---|--:|--:|--:|--:|--:|",
]
#: What may lie between the draws, by number.
_DRAWS = {
    1: "First draw, by which causes were mended",
    2: "Second draw: other arrays, other loads, and kinds that were held out",
}


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _line(name: str, rows: Sequence[Row]) -> str:
    found = table.shares(rows)
    shares = " | ".join(_percent(found[key]) for key in ("seen", "first", "three", "wrong"))
    return f"| {name} | {len(rows)} | {shares} |"


def _faults() -> str:
    rows = table.read()
    lines = list(_HEAD)
    for draw, what in _DRAWS.items():
        for loss, least, most in (("2 times and more", TWICE, 1e9), ("1.5 times", LEAST, TWICE)):
            for how, before in (("alone", False), ("with a sound run", True)):
                own = table.chosen(rows, draw, before, least, most)
                if own:
                    lines.append(_line(f"{what}; {loss}, {how}", own))
    return "\n".join(lines)


def _kinds() -> str:
    rows = [row for row in table.read() if row.fault and row.draw == "2"]
    lines = ["| fault | array | loses | a sound run | place | named |", "|---|---|--:|---|--:|---|"]
    for name, fault in FAULTS.items():
        for row in (row for row in rows if row.fault == name):
            said = "nothing to explain" if not row.is_seen else row.named or "none of what is known"
            held = ", held out" if fault.is_held_out else ""
            lines.append(
                f"| {name}{held} | {row.subject} | {float(row.loss):.1f} | {row.before} | {row.place or '–'} | {said} |"
            )
    return "\n".join(lines)


_SOUND = {"pool": "OpenZFS over disks of known mechanics", "simulated": "the small simulator, several jobs"}


def _sound() -> str:
    """Published ones by what their sources say: of an incomplete one the array that is explained may be another."""
    rows, standings = sound.read(), {case.name: case.standing for case, _ in pairs()}
    kinds: dict[str, list[sound.Row]] = {}
    for row in rows:
        said = f"published, {standings.get(row.name, 'incomplete')}" if row.kind == "published" else _SOUND[row.kind]
        kinds.setdefault(said, []).append(row)
    lines = ["| | measurements | alarms | a cause with > 60 % |", "|---|--:|--:|--:|"]
    for what, own in kinds.items():
        alarms, wrong = sum(row.is_alarm for row in own), sum(row.is_surely_wrong for row in own)
        # only pools' alarms were explained
        sure = f"{wrong} ({_percent(wrong / len(own))})" if what == _SOUND["pool"] else "not asked"
        lines.append(f"| {what} | {len(own)} | {alarms} ({_percent(alarms / len(own))}) | {sure} |")
    return "\n".join(lines)


def _noticed() -> str:
    shown = (1.1, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
    lines = ["| | " + " | ".join(f"{factor:g}" for factor in shown) + " |", "|---|" + "--:|" * len(shown)]
    for name, shares in sound.curve(sound.read()).items():
        by_factor = dict(zip(sound.FACTORS, shares, strict=True))
        lines.append(f"| {name} | " + " | ".join(_percent(by_factor[factor]) for factor in shown) + " |")
    return "\n".join(lines)


def _draw(axes: Axes) -> None:
    style_for_any_page(axes)
    for at, (name, shares) in enumerate(sound.curve(sound.read()).items()):
        axes.plot(
            sound.FACTORS, shares, "-o" if at < len(COLORS) else "--s", color=COLORS[at % len(COLORS)], label=name
        )
    axes.set_xscale("log")
    label_in_numbers(axes.xaxis)
    axes.set_xlabel("times slower")
    axes.set_ylabel("share that raises an alarm")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False, fontsize="small")


def _slowest() -> str:
    times = sorted(float(row.seconds) for row in table.read() if row.fault)
    return f"{times[len(times) // 2]:.1f} s of processor time, {times[-1]:.1f} s at worst" if times else "seconds"


def write_page() -> None:
    """Write the page and its picture."""
    CURVE.write_text(svg_of(_draw, height=4.0), encoding="utf-8")
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the page."""
    parts = {"faults": _faults(), "kinds": _kinds(), "sound": _sound(), "noticed": _noticed(), "slowest": _slowest()}
    return TEXT.format(**parts, missing=_missing())


def _missing() -> str:
    """Return how many drawn cases of the second draw are kept: what was asked for, and not yet answered, is said."""
    kept = {(row.fault, row.subject, row.seed) for row in table.read() if row.draw == "2" and row.fault}
    drawn = {(case.fault, case.subject, str(case.seed)) for case in faults(2)}
    return f"{len(kept)} of {len(drawn)}"


def summary() -> str:
    """Return the two tables that say most."""
    return "\n\n".join((_faults(), _sound()))


TEXT = """# Faults from outside the engine

[Are the causes found?](explain.md) plants causes with the engine that explains them. Here they come from elsewhere: a
small queueing simulator of the tests (`tests/validation/explanation/outside`) has disks with an arm, a platter and a
buffer, flash drives with channels and a link, mirrors, parity and pools, and stages before them; it shares no code with
the engines. What its arrays measure is written as fio's JSON, and the explanation gets that file and the description of
the sound array. Each specimen's parts are a few percent from its sheet, and a sound run, where one is given, is of
another specimen.

A case is drawn: an array that may have the fault, the loads that somebody asks of it, and the factor that the load
which suffers most loses; the strength of the fault follows. Faults without a strength lose what they lose. *Seen* are
those with something to explain. `python -m tests.validation.explanation outside sound --renew --write` makes this page.

{faults}

An answer takes {slowest}, where runs of the same arrays are kept between cases.

## The second draw, case by case

The causes were not changed after its first case. {missing} cases have been explained, the arrays with quick answers
first; that order was set after the first rows had been seen. Those that lose less than 1.3 times are left out.

{kinds}

## Sound measurements

Of published ones nobody knows whether they were sound, and most sources leave something out: the span, the drives'
caches, the controller before them ([which](units.md)). An alarm about such a system may be about what was left out.
Few are described completely, too few for a share of false alarms; the rows of OpenZFS, whose disks are known, are the
test of it.

{sound}

## How much slower it has to be

Each sound measurement is made slower by one factor, all its requests alike, until it raises an alarm. A class is wide
where drives of one sheet differ, or where a figure alone decides; a sound run beside it (`--before`) shows a fifth.

![Share of sound measurements that raise an alarm when they are made slower, by class](noticed.svg)

{noticed}
"""

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
    2: "Second draw, by which certainty was learned and causes were mended",
    3: "Third draw, by which both were mended again",
    4: "Fourth draw, by which both were mended once more",
    5: "Fifth draw, by which causes were mended after it had been answered once",
    6: "Sixth draw, by which causes were mended after it had been answered once",
    7: "Seventh draw, by which causes were mended after it had been answered once",
    8: "Eighth draw, by which causes were mended after it had been answered once",
    9: "Ninth draw, by which causes were mended after it had been answered once",
    10: "Tenth draw, by which causes were mended after it had been answered once",
    11: "Eleventh draw, by which causes were mended after it had been answered once",
    12: "Twelfth draw, by which causes were mended after it had been answered once",
    13: "Thirteenth draw, by which causes were mended after it had been answered once",
}
#: The draws by which something was mended, and the one after them, which is shown case by case; and the least of each
#: class of stated certainty.
_SEEN, _SHOWN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 13
_CERTAIN = (0.8, 0.6, 0.4, 0.2, 0.0)


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
    rows = [row for row in table.read() if row.fault and row.draw == str(_SHOWN)]
    lines = ["| fault | array | loses | a sound run | place | named |", "|---|---|--:|---|--:|---|"]
    for name in FAULTS:
        for row in (row for row in rows if row.fault == name):
            said = "nothing to explain" if not row.is_seen else row.named or "none of what is known"
            lines.append(
                f"| {name} | {row.subject} | {float(row.loss):.1f} | {row.before} | {row.place or '–'} | {said} |"
            )
    return "\n".join(lines)


def _certainty() -> str:
    """Return by class of stated certainty how often the cause that was named first is right, without a sound run."""
    lines = [
        f"| the first cause has | draws 1 to {_SEEN[-1]} | of them right | draw {_SHOWN} | of them right |",
        "|---|--:|--:|--:|--:|",
    ]
    rows = [row for row in table.read() if row.fault and not row.before and row.named]
    most = 1.01
    for least in _CERTAIN:
        cells = []
        for numbers in (_SEEN, (_SHOWN,)):
            own = [row for row in rows if int(row.draw) in numbers and least <= row.first[1] < most]
            right = sum(row.place == "1" for row in own)
            cells += [str(len(own)), f"{right} ({_percent(right / len(own))})" if own else "–"]
        high = "more" if most > 1 else _percent(most)
        lines.append(f"| {_percent(least)} to {high} | {' | '.join(cells)} |".replace("to more", "and more"))
        most = least
    return "\n".join(lines)


def _confused() -> str:
    """Return which wrong causes were named first, and for which faults, of all draws and without a sound run."""
    found: dict[str, dict[str, int]] = {}
    for row in table.read():
        if row.fault and not row.before and row.named and row.place != "1":
            faults_of = found.setdefault(row.first[0], {})
            faults_of[row.fault] = faults_of.get(row.fault, 0) + 1
    lines = ["| named first | cases | of what it was |", "|---|--:|---|"]
    for name, faults_of in sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])):
        said = ", ".join(fault + (f" ({n})" if n > 1 else "") for fault, n in sorted(faults_of.items()))
        lines.append(f"| {name} | {sum(faults_of.values())} | {said} |")
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


def _alarms_of(kind: str) -> str:
    n = sum(row.is_alarm for row in sound.read() if row.kind == kind)
    return ("none", "one", "two", "three", "four", "five")[n] if n < 6 else str(n)


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


#: Draws that are answered by the code of today.
_TODAY = ("7", "8", "9", "10", "11", "12", "13")


def _slowest() -> str:
    own = [row for row in table.read() if row.draw in _TODAY and not row.before]
    times = sorted(float(row.seconds) for row in own if row.fault)
    return f"{times[len(times) // 2]:.1f} s of processor time, {times[-1]:.1f} s at worst" if times else "seconds"


def write_page() -> None:
    """Write the page and its picture."""
    CURVE.write_text(svg_of(_draw, height=4.0), encoding="utf-8")
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the page."""
    parts = {
        "faults": _faults(),
        "kinds": _kinds(),
        "certainty": _certainty(),
        "confused": _confused(),
        "sound": _sound(),
        "noticed": _noticed(),
        "slowest": _slowest(),
        "n_alarms": _alarms_of("simulated").capitalize(),
        "n_pools": _alarms_of("pool"),
    }
    return TEXT.format(**parts, missing=_missing())


def _missing() -> str:
    """Return how many drawn cases of a draw are kept: what was asked for, and not yet answered, is said."""
    kept = {(row.fault, row.subject, row.seed) for row in table.read() if row.draw == str(_SHOWN) and row.fault}
    drawn = {(case.fault, case.subject, str(case.seed)) for case in faults(_SHOWN)}
    return f"{len(kept)} of {len(drawn)}"


def summary() -> str:
    """Return the two tables that say most."""
    return "\n\n".join((_faults(), _sound()))


TEXT = """# Faults from outside the engine

[Are the causes found?](explain.md) plants causes with the engine that explains them. Here they come from elsewhere: a
small queueing simulator of the tests (`tests/validation/explanation/outside`) has disks with an arm, a platter and a
buffer, flash drives with dies and a link, mirrors, parity and pools, and stages before them; it shares no code with
the engines. What its arrays measure is written as fio's JSON, and the explanation gets that file and the description of
the sound array. Each specimen's parts are a few percent from its sheet, and a sound run, where one is given, is of
another specimen.

A case is drawn: an array that may have the fault, the loads that somebody asks of it, and the factor that the load
which suffers most loses; the strength of the fault follows. Faults without a strength lose what they lose. *Seen* are
those with something to explain. `python -m tests.validation.explanation outside sound --renew --write` makes this page.

{faults}

The thirteenth draw was answered once: of its faults that lose twice and more 9 % had nothing to explain, 62 % were
first and 84 % among three. Alone, it and the seventh, eleventh and twelfth are answered again by the code of today,
except that a case had 28 s by counts, and has 21 now; the eighth to the tenth were answered with it the first
time. The sixth was answered before the draws of two unknowns counted as independent, first writes to a chunk read and
wrote, and a limit of requests stood beside one of bytes. The fifth was answered before links delayed single requests,
passes went on elsewhere than where files begin, bits of bitmaps stayed, and a cause excused no more than it changes.
Draws one to four are older: they were answered before limits and links counted as exact, two causes were looked for
in most cases, strengths between those that are simulated were tried, and RAID 10 of flash was expected to read as
Linux does since 5.3; and while the small simulator read rows with a missing member again for each request. A sound
run is beside the thirteenth draw, and the eighth to the twelfth, as those were answered first.

Of these draws an answer takes {slowest}.
Runs of the same arrays are kept between cases.

## How often a stated certainty is right

All figures of a run err together, and so do all runs of an array: their product would make a cause that fits a little
better certain. Shapes of distributions therefore count as one error of the drives in part, and the evidence of all
figures counts 2 times less than their product, as the first three draws had it; beside a sound run, where the array
errs hardly and the laws of causes all the more in comparison, 3.5 times. Nobody has counted how often each cause is
found: probabilities are means over priors that are a factor of 9 higher or lower, each for itself, as the first three
draws had it. What no list contains may change some loads and leave others alone; where no cause fits, it has the
weight. The thirteenth draw tests all that.

{certainty}

What is named first, and is something else:

{confused}

## The thirteenth draw, case by case

Its arrays were written, and its loads and faults drawn and measured, when no cause was changed any more; it was
answered once, and alone again later. (A first attempt had ended before its first answer: one of its disks could not
have writes to parts of sectors, which moved the tracks of most others. That was mended, and nothing else.) {missing}
cases are kept. Those that lose less than 1.3 times are left out.

What is in the way:

- Writes that take an access or a revolution more: a write cache that is off, parts of sectors, shingled tracks and safe
  writes differ by less than disks of one sheet do: one job of writes has a rate within a tenth, and a median and a p95
  within a fifth, of what each of them predicts.
- A limit, a processor and a queue before NVMe drives slow the same load by as much as one chooses. More loads with
  other depths separate them, which the answer proposes.
- Passes over an array. A check, a rebuild beside a failed member and missed revolutions slow reads in order alike, and
  single reads by too little to separate them. A pass that is faster than its limit sleeps for half a second in Linux md
  (`msleep` in `md_do_sync` of md.c) and then goes on at once, as those of the small simulator do; the engine spaces its
  steps evenly (rule R3), so the cause has steps of all that passes between two sleeps. At random both simulators are
  then within a tenth of each other in most cases, from 5 to 150 MB/s. How a disk shares its arm between a pass and a
  file in order is known of no firmware: 1 MiB at a time of eight disks keep 67 % of their rate here beside a check of
  24 MB/s, 35 % in the small simulator; 94 % are lost in a public thread. That has an error of its own, and so has which
  of its requests meet a step of the pass, or a mirror's rebuild is called a check for certain.
- Reads in order of more than an adapter takes at once: disks of mirrors lose turns over the second part of each, or do
  not where nothing is cut. Both are as likely, and the rate of one client differs by up to five times.
- A member that repeats most of what it reads is one that is slow in each access, but for the slowest requests; of a
  mirror that avoids it these are so few that p99 is on either side of them.
- Flash: writes that are slower by one factor, larger than asked for, copied or safe are one figure in most jobs here,
  and of five causes that fit alike three are named.
  So are those of large arrays that wait for a bitmap, which is usual on md and first for some. Naming causes that say
  nearly the same (all that make writes safe, all that leave flash no room) as one changed nothing: of 101 cases as many
  were first, and as many among three.
- Time: an answer has 40 s of computing by counts. With 15 s, 33 of 72 answers of the draws before had left out runs
  with causes, most of them where writes fill a buffer.
- A limit that hardly more than one of the jobs meets, and reads in order behind it, look like the end of the disks or
  like a limit of bytes.
- Hosts that nobody describes: a deep queue of an NVMe array may make half to twice what is expected. `--host` or a
  sound run settles it.

{kinds}

## Sound measurements

Of published ones nobody knows whether they were sound, and most sources leave something out: the span, the drives'
caches, the controller before them ([which](units.md)). An alarm about such a system may be about what was left out.
Few are described completely, too few for a share of false alarms; the rows of OpenZFS, whose disks are known, are the
test of it, and the small simulator's arrays, where two simulators differ about the same array. {n_alarms} of these
raise one: writes of 16 KiB to a drive whose sheet has 4 KiB, which commands or bytes may limit; reads in order of an
array in RAID 10, whose disks only the small simulator keeps busy all the time; reads of a drive whose sheet has no time
of a single one; one of a drive with SATA whose figures are inside their intervals, and together fit a cause better; and
a deep queue of a mirror of disks of 2010, which the small simulator orders better than such drives do.
Two of flash did until each strip was
expected where fewest requests are, as Linux reads. Nine more of the first five sets did
until the small simulator followed the sources of OpenZFS and Linux: the records of a file fill a vdev before the next
one has its turn (`metaslab_aliquot`), a disk of a pool is given ten reads at once (`zfs_vdev_sync_read_max_active`),
each record of a request counts where a mirror chooses its half (`vdev_mirror_load`), and RAID 5 reads the strips that
need fewer reads (`handle_stripe_dirtying`), which come by again a whole turn later. With that, both are within a fifth
of each other at random on pools, RAID 5 and RAID 6.

Of the rows of OpenZFS {n_pools} raises an alarm: reads of 128 KiB of a RAID-Z1 of three at depth 32, a quarter slower
than expected, whose metaslabs left parity of four fifths of the file on the same two disks ([pools](pools.md)). Two of
a file that was overwritten did, until a file might be another than the first one of its pool.

{sound}

## How much slower it has to be

Each sound measurement is made slower by one factor, all its requests alike, until it raises an alarm. A class is wide
where drives of one sheet differ, or where a figure alone decides; a sound run beside it (`--before`) shows a fifth.

![Share of sound measurements that raise an alarm when they are made slower, by class](noticed.svg)

{noticed}
"""

"""The page that compares flash drives in their steady state with measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.validation.flash.steady import (
    CACHED,
    FILLED_MB,
    FLASH,
    commits,
    commits_without_protection,
    filled_mb,
    flash,
    fresh_rows,
    from_fresh,
    n_near_others,
    n_near_their_series,
    random_writes,
    reads_beside_writes,
    rows,
    run,
    sata_writes,
    saturated,
    skewed,
    sustained,
    units,
    writes_below,
    writes_per_s,
)

#: What sustained writes of a drive might be predicted from, and the field of which they are a share.
SHARES_OF = {
    "nothing: what such drives make": None,
    "its random reads": "reads_per_s",
    "its writes in order": "write_mb_s",
    "its size": "gigabytes",
}
#: Medians of writes above it wait for copies, µs.
_WAITING_US = 100
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "flash.md"

INTRODUCTION = """# Flash in its steady state

Nine data-center drives were written at random until they were steady, then measured under open loads, with percentiles
(G. Haas et al., *ssdiq-pub*, 2025; `tests/data/flash`): seven models of six makers. Here each is described by the
figures that its sheet prints ([from a data sheet](../../how-to/add-a-drive.md)): rates in order, random reads and
writes. Nothing of the measurements enters a description but one time that all share: a program is suspended for a read
(rule [F21](../../reference/semantics-flash.md)) after 100 µs in the mean, about the middle of what the models show, and
what their firmware was seen to do, which no sheet says (F24 to F27, and the 150 µs of the CM7-R). Latencies of a sheet
contain a host of 5.3 µs a request (rule F28). That of the measurements submits by io_uring and waits for nothing else:
where reads meet writes it stands before the drives as a tuned host, with 2.2 µs.
`python -m tests.validation.flash` writes this page.

"""


def _sheets() -> str:
    lines = ["## Random writes\n\n", "| unit | sheet | simulated | measured | error |\n", "|---|--:|--:|--:|--:|\n"]
    for unit, name in units().items():
        drive, (here, measured) = flash(name), saturated(unit)
        assert drive.sheet is not None
        figures = f"{drive.sheet.random_writes_per_s:,.0f} | {here:,.0f} | {measured:,.0f}"
        lines.append(f"| {unit} | {figures} | {here / measured - 1:+.0%} |\n")
    return (
        "".join(lines)
        + """
Rates a second of 4 KiB over the whole drive, 384 outstanding, beside 5,000 to 8,000 reads a second.
Where nothing is read both 7450s write 94,000/s and 159,000/s (below), 0.73 of that here: their programs take 400 µs
longer beside reads (rule [F27](../../reference/semantics-flash.md)), one figure for both. Without that they would be 24
and 22 % too fast. The others write as much as without reads, or up to 5 % less. Drives that are too slow here write
more than their sheets print.

"""
    )


def _used() -> str:
    lines = [
        "## Space in use\n\nWhat holds no data is spare (`used`, rule F12). Micron 7450 PRO 960 GB:\n\n",
        "| used | simulated | measured | error | if the rest held data |\n|--:|--:|--:|--:|--:|\n",
    ]
    errors: list[tuple[float, float]] = []
    for row in rows():
        if not row.reads_per_s:
            here, measured = writes_per_s(row.drive, row.used_ratio), row.writes_per_s
            full = run(flash(row.drive), random_writes(row.used_ratio, 512)).iops
            errors.append((abs(here / measured - 1), abs(full / measured - 1)))
            figures = f"{here:,.0f} | {measured:,.0f} | {here / measured - 1:+.1%} | {full:,.0f}"
            lines.append(f"| {row.used_ratio:.0%} | {figures} |\n")
    now, before = np.median(errors, axis=0)
    return "".join(lines) + f"\nMedian error {now:.1%}; with everything taken to be full {before:.0%}.\n\n"


def _skewed() -> str:
    words = {"uniform": "all blocks alike", "zones": "95 % of the writes to 5 % of the blocks", "zipf": "Zipf's law"}
    lines = [
        "## Skewed writes\n\nMicron 7450 PRO 960 GB, full, 512 writes outstanding; `greedy` cleaning "
        "(rule\n[F14](../../reference/semantics-flash.md)), as everywhere here, and `cost-benefit`.\n\n"
        "| writes | greedy | cost-benefit | measured | error of greedy |\n|---|--:|--:|--:|--:|\n"
    ]
    for one, other in zip(skewed(), skewed(gc_policy="cost-benefit"), strict=True):
        name = words[one.pattern] + (f", exponent {one.exponent:g}" if one.exponent else "")
        figures = f"{one.here:,.0f} | {other.here:,.0f} | {one.measured:,.0f} | {one.error:+.0%}"
        lines.append(f"| {name} | {figures} |\n")
    return (
        "".join(lines)
        + """
Skew makes this drive slower, as greedy cleaning does, which never moves cold blocks away from hot ones. It does not
keep the two apart: with `cost-benefit` it would write twice as fast to 5 % of its blocks. At an exponent of 1 the drive
is faster than simulated: it writes the hottest blocks over in its buffer (p50 1.3 ms, p99 20 ms).

"""
    )


def _from_fresh() -> str:
    lines = [
        "## From fresh to steady\n\nDrives that were sanitized and filled once, and then written at random, 512 "
        "outstanding: rates a second, how long the\ndrive stays fast, and what its own log says it programmed for each "
        "write (write amplification, rule\n[F22](../../reference/semantics-flash.md)). Simulated / measured.\n\n"
        "| unit | used | fresh | fast for | steady | amplification | error of time, amplification |\n"
        "|---|--:|--:|--:|--:|--:|---|\n"
    ]
    errors: list[tuple[float, float]] = []
    for row in fresh_rows():
        result, found = from_fresh(row)
        first, amplification = found.phases[0], result.write_amplification_ratio
        both = first.seconds / row.fast_s - 1, amplification / row.amplification - 1
        errors.append((abs(both[0]), abs(both[1])))
        figures = (
            f"{first.iops:,.0f} / {row.fresh_per_s:,.0f} | {first.seconds:.0f} / {row.fast_s:.0f} s | "
            f"{found.steady_iops:,.0f} / {row.steady_per_s:,.0f} | {amplification:.2f} / {row.amplification:.2f}"
        )
        off = f"{both[0]:+.0%}, {both[1]:+.0%}"
        lines.append(f"| {row.unit}, filled {row.filled} | {row.used_ratio:.0%} | {figures} | {off} |\n")
    time, amplified = np.median(errors, axis=0)
    most = np.max(errors, axis=0)
    return (
        "".join(lines)
        + f"""
Median errors: time {time:.0%}, amplification {amplified:.0%}; largest {most[0]:.0%} and {most[1]:.0%}. After
the fast time all blocks are almost equally full, and the drives wrote 0.65 to 0.9 of their steady rate before they
settled, after 501 to 1,567 s. That dip is not predicted.

"""
    )


def _reads() -> str:
    lines = [
        "## Reads beside writes\n\nLoad is the rate of writes as a share of the largest one that the unit reached.\n\n",
        "| unit | load | p50 µs | p95 µs | p99 µs | error of p50, p95, p99 |\n|---|--:|--:|--:|--:|---|\n",
    ]
    errors: dict[str, list[float]] = {"p50_us": [], "p95_us": [], "p99_us": []}
    for unit in units():
        for found in reads_beside_writes(unit):
            pairs = (found.p50_us, found.p95_us, found.p99_us)
            shown = " | ".join(f"{here:.0f} / {measured:.0f}" for here, measured in pairs)
            each = ", ".join(f"{found.error(name):+.0%}" for name in errors)
            lines.append(f"| {unit} | {found.load:.0%} | {shown} | {each}{' ¹' if found.is_delayed else ''} |\n")
            if not found.is_delayed:
                for name, values in errors.items():
                    values.append(abs(found.error(name)))
    waiting = [
        abs(found.error("p99_us"))
        for unit in units()
        for found in reads_beside_writes(unit, suspend_ns=0)
        if not found.is_delayed
    ]
    at_once = [
        abs(found.error("p50_us"))
        for unit in units()
        if "P5520" in unit
        for found in reads_beside_writes(unit, read_beside_writes_ns=0)
    ]
    medians = ", ".join(f"{name[:-3]} {np.median(values):.0%}" for name, values in errors.items())
    far = {name: sum(value > limit for value in errors[name]) for name, limit in (("p50_us", 0.2), ("p99_us", 0.35))}
    largest = ", ".join(f"{name[:-3]} {np.max(values):.0%}" for name, values in errors.items())
    return (
        "".join(lines)
        + f"""
Simulated / measured. Median errors: {medians}; largest: {largest}. Of {len(errors["p50_us"])} loads the p50 of
{far["p50_us"]} is off by more than 20 %, the p99 of {far["p99_us"]} by more than 35 %.
Reads of the D7-P5520 take 40 µs longer while it is written (rule [F26](../../reference/semantics-flash.md)), a figure
of these rows: beside 10,000 writes a second most of them take 46 or 70 µs, beside 20,000 and more 78 or 116, in both
units and at every instant. Without that the median error of its p50 would be {np.median(at_once):.0%}.
If reads waited for the end of programs and erases, the median error of p99 would be {np.median(waiting):.0%}.

¹ At about half of their saturation reads of the 7450s take 1.5 to 5 ms, and no longer do so when they are saturated. By
then their batches of copies (below) hold as many writes as the load program lets be outstanding, which may delay reads
in the program itself. This is not modeled.
"""
    )


def _writes_below() -> str:
    lines = [
        "\n## Writes below saturation\n\nBeside the reads above. A write is done when it is in the buffer, if that has "
        "room.\n\n| unit | load | p50 µs | p99 µs | p99, eight of ten, firmware unknown |\n|---|--:|--:|--:|--:|\n"
    ]
    apart: list[tuple[float, float]] = []
    for found in writes_below():
        low, high = found.unknown_us
        pairs = f"{found.p50_us[0]:.0f} / {found.p50_us[1]:.0f} | {found.p99_us[0]:,.0f} / {found.p99_us[1]:,.0f}"
        upper = f"{high:,.0f}" if np.isfinite(high) else "an overload"
        lines.append(f"| {found.unit} | {found.load:.0%} | {pairs} | {low:,.0f} to {upper} |\n")
        if found.p50_us[1] < _WAITING_US:
            apart.append((found.p50_us[0] - found.p50_us[1], abs(found.p50_us[0] / found.p50_us[1] - 1)))
    below, above = min(apart)[0], max(apart)[0]
    median = float(np.median([share for _, share in apart]))
    return (
        "".join(lines)
        + f"""
Simulated / measured. Where less than half of the writes wait, the median is {below:+.0f} to {above:+.0f} µs from the
measured one, at the middle {median:.0%}. These drives are faster than their sheets, whose 15 µs are 9.7 and a host's
5.3: 8 to 11 were measured, with what this host takes in them. With all 15 behind it they would be 17. The 7450s copy in
batches of 13 ms, and take 440 KiB of writes in each (rule [F24](../../reference/semantics-flash.md)): two figures,
set for the loads of the PRO; how many copies are a batch follows from their dies. At the lowest load slightly more than
1 % of its writes wait, so that p99 depends on how many do. So does the CM7-R, in batches of 11 ms with 3.4 MiB: from
0.28 of its saturation on, p99 of its writes is 1 to 6 ms.

The PM9A3 and the D7-P5520 let writes in at the pace of their cleaning (rule
[F25](../../reference/semantics-flash.md)): their writes wait as for one server, from a third to a half of saturation
on. The room of two writes is one figure for both. Loads are the measured ones; the drives reach 4 to 8 % less here than
was measured, so that the same load is more of their saturation: at the same share p99 at 0.78 of the PM9A3's is 125 µs
instead of 214, at 0.75 of a D7-P5520's 73 instead of 89. What holds writes of the D7-P5520 up for 20 to 70 µs below a
half is not known. The WD and the PE8110 do neither.

No sheet shows what a drive does. Two of six models have batches: so have 36 of 100 draws of a drive whose firmware is
not known. Two of the other four have this pace: so have 32 of 100. The last column is of the same drives as if nobody
had measured them.
"""
    )


def _consumer() -> str:
    lines = [
        "\n## Consumer drives\n\nTheir sheets print the writes of a cache of one bit a cell (rule "
        "[F23](../../reference/semantics-flash.md)). Behind it they write\ntheir flash in order at the rate that "
        "`sheet.sustained_write` gives, and in the steady state at random what garbage collection with a\nspare of 7 % "
        "leaves.\n\n"
        "| drive | reads | writes of the sheet | steady, all of it used | half used |\n|---|--:|--:|--:|--:|\n"
    ]
    for name in CACHED:
        sheet = FLASH[name].sheet
        assert sheet is not None
        steady, half = writes_per_s(name, depth=256), writes_per_s(name, 0.5, depth=256)
        printed = f"{sheet.random_reads_per_s:,.0f} | {sheet.random_writes_per_s:,.0f}"
        lines.append(f"| {FLASH[name].name} | {printed} | {steady:,.0f} | {half:,.0f} |\n")
    lines.append("\n| drive, filled in order when empty | simulated | measured | error |\n|---|--:|--:|--:|\n")
    for name, (measured, source) in FILLED_MB.items():
        here = filled_mb(name)
        rates = f"{here:,.0f} MB/s | {measured:,} MB/s"
        lines.append(f"| {FLASH[name].name} ({source}) | {rates} | {here / measured - 1:+.0%} |\n")
    n, (near, of_series) = len(sustained()), n_near_their_series()
    ways = {what: f"{n_near_others(field)} of {n}" for what, field in SHARES_OF.items()}
    ways["other drives of its series, of those that have any"] = f"{near} of {of_series}"
    table = "\n".join(f"| {what} | {share} |" for what, share in ways.items())
    logs = np.log([one.writes_per_s for one in sustained()])
    spread, narrow = np.std(logs, ddof=1), 1.4826 * np.median(np.abs(logs - np.median(logs)))
    return (
        "".join(lines)
        + f"""
Rates a second of 4 KiB, 256 outstanding. Steady random writes of such drives were published only where nobody knows how
full they were: 27 boot and consumer drives made 5,246 to 505,898/s, the middle one 17,000 and 0.13 of its own random
reads (iocost-benchmarks @b2fc8dd, 2025, sustained over minutes in a file of 16 GB), and two drives of 2 TB about 10,000
after long preconditioning (Tom's Hardware, Samsung 850 EVO and PRO, 2015). Drives with a cache write 0.033 to 0.06 of
their random reads in the table above when full, and 0.2 to 0.35 when half used. Of the 27, 22 lie between 0.033 and
0.35, and five above: a factor of ten. Of the same collection's named drives a 970 PRO made 253,000/s and a 980 PRO
84,000, both between full and half used above, and an SN850X 38,000, 0.8 of a full one. Used space decides, and an
answer about a consumer drive that does not say it is one about a full drive.

Can the rate be predicted from what is known of such a drive? Of the 27, these are within a factor of 1.5 of the middle
of the others, or of the middle of the others' shares of a figure:

| predicted from | within 1.5 |
|---|--:|
{table}

So no sheet determines it. How full the drive was and how its firmware moves the cache to other cells decide, and sheets
print neither. A regression on all other measured rates, those of 4 KiB in order included, has 17 of 27 within 1.5.
Drives of one series agree within 1.3, whatever their size: a measurement of one of them is worth more than all sheets.
The standard deviation of the logarithm is {spread:.1f}; from the median deviation, which far drives do not move, it is
{narrow:.1f}.
"""
    )


def _commits() -> str:
    lines = [
        "\n## Commits of protected drives\n\nDurable writes of 4 KiB a second, one at a time "
        "(`tests/data/flash/commits.csv`): a write, and on\nSATA a flush behind it, each a command, unless the drive's "
        "cache is off.\n\n"
        "| drive | cache | described by | simulated | eight of ten | 95 % | measured |\n"
        "|---|---|---|--:|--:|--:|--:|\n"
    ]
    found = list(commits())
    for one in found:
        ends = " | ".join(f"{ends.low:,.0f} to {ends.high:,.0f}" for ends in (one.middle, one.whole))
        figures = f"{one.here:,.0f} | {ends} | {one.measured:,.0f}"
        lines.append(f"| {one.drive} | {one.cache} | `{one.profile}` | {figures} |\n")
    inside = sum(one.is_inside for one in found)
    ratios = {one.drive: one.middle.high / one.middle.low for one in found if one.cache != "on"}.values()
    (with_cache,) = [one.middle.high / one.middle.low for one in found if one.cache == "on"]
    within = f"{min(ratios):.1f} to {max(ratios):.1f}"
    without, n_without = commits_without_protection()
    fastest, slowest = min(sata_writes().values()), max(sata_writes().values())
    return (
        "".join(lines)
        + f"""
{inside} of {len(found)} are inside the 95 % interval, and of the sixteen consumer drives whose commits were measured
(`tests/data/commits.csv`) {without} of {n_without}: nine of ten of all. Outside is a PM963, for which a PM983 stands,
whose sheet prints 50 µs. Eight of ten systems lie within a factor of {within}: how long a drive takes for a write. With
its cache on it is {with_cache:.1f}: the PM883 takes 70 µs for a flush beyond a command, and of no other drive with
capacitors on SATA that is known, so that draws of such a drive take as long as a command for it, or up to four times.

A drive on SATA whose sheet does not print it is described by that of the Intel DC S4600: 52 µs for a write, and 110 for
a read, of which 102 to 128 were measured (S4510, S4610, nine equal ones of a server, `tests/data/units`). How far
others are from that comes from single writes of six models, which took {fastest:.0f} to {slowest:.0f} µs, and of
NVMe drives from the loads above. Units of one model differ by 2 %, models by 20 %.

Linux sends no flush to a drive that reports no volatile cache (rule [Y2](../../reference/semantics-durable.md)). A
drive on NVMe with capacitors is taken to report none: without that the PM9A3 and the 7450 PRO would be half as fast
here. One on SATA reports its cache as it was sold, on, and stops when it is switched off (`--drive-write-cache off`,
`hdparm -W 0`): the PM883 then commits 2.5 times as often, and is as safe.
"""
    )


def main() -> None:
    """Write the page."""
    PAGE.write_text(
        INTRODUCTION
        + _sheets()
        + _used()
        + _skewed()
        + _from_fresh()
        + _reads()
        + _writes_below()
        + _consumer()
        + _commits(),
        encoding="utf-8",
    )

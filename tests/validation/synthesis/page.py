"""The page that reports how well synthetic workloads stand for traces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.validation.synthesis.later import table
from tests.validation.synthesis.measure import FIT, Compared, Measured, summary

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-synthesis.md"

_HEAD = """# How well a synthetic workload stands for the real one

`make synthesis` writes this page: it fits a workload to each public trace in the folder of evidence, and compares what
the workload's requests see on an array with what the trace's own requests see there.

![Mean and p99 of the synthetic workload over those of the trace, a row for each trace](validation-synthesis.svg)

## Method

- **Traces:** web search, DTRS, postmark, iozone, a Hadoop node, and a synthetic one, each as `diskmodel replay` reads
  it.
- **Arrays:** RAID 10 and RAID 5 of generic-10k, the smallest of 4 to 64 disks that the replay keeps less than 50 % busy
  on average; and four SATA SSDs (samsung-pm893-960) in RAID 10. Most traces hardly load four disks. Where they are less
  than 30 % busy, trace and workload are also replayed faster, at the speed that brings the replay to 40 % (column
  "speed").
- **Replay:** open, at the recorded times, on an array that begins empty. Addresses beyond its end are wrapped.
- **Synthetic:** as many requests as the trace has, drawn from the workload, on the same array.
- **Runs:** the replay and the workload are each run at least 3 times, and up to 16 times until the standard error of
  their mean and p99 is 2.5 %. A run's seed decides the angles of the spindles and, of a workload, where its course of
  phases begins. The fit compared runs from seed 0 on; here the workload is run from seed 1000 on.
- **Mean and p99:** of the response times of all requests, reads and writes together, from issue to completion; nothing
  is dropped as warm-up. p99 is the smallest response time that 99 % of the requests do not exceed.
- **Error:** synthetic / replay - 1, both averaged over their runs. Medians and maxima are over the absolute errors of
  all rows of a table.
- **Farthest run:** of the replay itself, and of the workload, the one run that is farthest from the average replay.
  An array that is overloaded for some time amplifies the smallest differences, so that replays of one trace differ by
  a factor of two where only the angles of the spindles differ.
"""

_SHAPE = """
## What is kept

A fitted workload consists of *excerpts*: phases of 64 to 256 requests that are kept as they are. The trace is a course
of phases; each is represented by an excerpt that is like it, at the phase's own rate. Half of the excerpts are the
phases with the longest queues. The method is that of Hong, Madhyastha and Zhang
(*Cluster-based input/output trace synthesis*, IPCCC 2005). The fit keeps more and more of the trace until mean and p99
are within 8 and 15 % on the arrays above. A trace without phases that are alike is kept whole.

The workload begins at a moment without a queue that the seed chooses, and goes on with its beginning after its end. A
trace that ends in a burst would then delay its own first requests, which the replay does not. Such a workload begins
where the trace begins.
"""

_OTHERS = """
## On arrays that the fit did not see

The fit chooses what to keep by replays on the arrays above. These are other arrays, under the same rules, and two
whose controller has a read cache. A phase goes to its own places, so that a cache sees as much data as in the trace.
Which data a later phase reads again is lost where that phase is not kept: caches then serve less than in the trace.
"""

_HALVES = """
## The second half from the first

The workload is fitted to the first half of the requests and compared with a replay of the second. This measures whether
the trace repeats itself, too: the last two columns compare the replay of the first half itself with that of the second.
No method that knows only the first half can be much better.
"""

_ABLATION = """
## Which property matters

Replays of the trace with one property exchanged, all others true; on the arrays of the first table. Above them the
fitted workloads: excerpts, and one stream of independent laws. No single property is enough: times, places, and sizes
with their operations matter, and so does what they have to do with each other. A cascade with the right burstiness at
every scale loses when which requests come; random order of phases loses bursts that last longer than a phase.
"""

_LIMITS = """
## What this does not show

- The errors of the first table are of the same requests that the fit saw. They measure what a smaller file loses, not
  what next week's load will be; the halves and their intervals are nearer to that.
- Seeds differ in where the course of phases begins, at a moment without a queue, and in the angles of the spindles. The
  spread over seeds is smaller than that between days.
- A trace records when requests came, not which of them waited for others. On a slower array real programs would have
  issued them later. The replay and the workload both ignore that.
- At 100 times the recorded speed and more, the array of a calm trace is near saturation for part of the time, and a
  small difference in work becomes a large one in waiting.
"""


def write_page(found: Measured) -> None:
    """Write the page."""
    parts = [
        _HEAD,
        "\n## Result\n\n",
        _summary_of("fitted and compared on the whole trace", found.fitted),
        _errors(found.fitted),
        _SHAPE + "\n",
        _sizes(found),
        _OTHERS + "\n",
        _summary_of("arrays that the fit did not see", found.others),
        _errors(found.others),
        _HALVES + "\n",
        _half_errors(found),
        _LATER + "\n",
        table(found.later),
        _ABLATION + "\n",
        _ablation(found),
        _LIMITS,
    ]
    PAGE.write_text("".join(parts))


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]], n_text: int) -> str:
    titles = list(titles)
    rule = ["---"] * n_text + ["--:"] * (len(titles) - n_text)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [titles, rule, *rows]) + "\n"


def _summary_of(what: str, compared: list[Compared]) -> str:
    found = summary(compared)
    rows = [[name, f"{median:.1%}", f"{most:.1%}"] for name, (median, most) in found.items()]
    return _table((f"error, {what}", "median", "largest"), rows, 1) + "\n"


def _place(one: Compared) -> list[str]:
    return [one.trace, one.setting.title, f"{one.setting.speed_up:.3g}", f"{one.setting.trace.utilization_ratio:.0%}"]


_LATER = """
## What another time may see

A recording stands for another time only so well. So `simulate`, `compare` and `plan` draw which quarter of it the load
is like (sixteen that overlap), how many requests come, and by how much the fit misses its trace. Here a workload is
fitted to each half, and to each quarter, of a trace, and its 95 % interval is compared with what the replay of the half
or quarter beside it sees. The drives are known exactly, so that all of the width is the load's. *Ends off by* is the
factor between the middle of an interval and its ends, at the median.
"""


_PLACE = ("trace", "array", "speed", "busy")


def _errors(compared: list[Compared]) -> str:
    rows = []
    for one in compared:
        cells = []
        for name in ("mean", "p99"):
            cells += [f"{getattr(one.setting.trace, f'{name}_ns') / 1e6:.3g}", f"{one.error(name):+.1%}"]
            cells.append(f"{one.farthest(name, itself=True):+.0%}, {one.farthest(name):+.0%}")
        rows.append([*_place(one), *cells])
    far = "farthest run of replay, of workload"
    return _table((*_PLACE, "replay: mean ms", "error", far, "p99 ms", "error", far), rows, 2)


def _half_errors(found: Measured) -> str:
    head = _summary_of("fitted to the first half, compared with the second", found.second_half)
    head += _summary_of("replay of the first half instead", found.first_half_itself)
    rows = [
        [
            *_place(one),
            *(f"{one.error(name):+.0%}" for name in ("mean", "p99")),
            *(f"{itself.error(name):+.0%}" for name in ("mean", "p99")),
        ]
        for one, itself in zip(found.second_half, found.first_half_itself, strict=True)
    ]
    return head + _table((*_PLACE, "mean", "p99", "first half: mean", "p99"), rows, 2)


def _sizes(found: Measured) -> str:
    rows = [
        [
            size.trace,
            f"{size.n_requests:,}",
            f"{size.n_phases:,}",
            f"{size.n_excerpts:,}",
            f"{size.n_kept / size.n_requests:.0%}",
            f"{size.file_bytes / 1024:,.0f}",
        ]
        for size in found.sizes
    ]
    return _table(("trace", "requests", "phases", "excerpts", "requests kept", "file KiB"), rows, 1)


def _ablation(found: Measured) -> str:
    by_method: dict[str, list[Compared]] = {FIT: found.fitted}
    for one in found.ablated:
        by_method.setdefault(one.method, []).append(one)
    rows = []
    for method, compared in by_method.items():
        numbers = summary(compared)
        cells = [f"{numbers[name][index]:.0%}" for name in ("mean", "p99") for index in (0, 1)]
        rows.append([method, *cells])
    return _table(("replayed", "mean: median error", "largest", "p99: median error", "largest"), rows, 1)

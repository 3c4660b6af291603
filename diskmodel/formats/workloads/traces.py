"""A workload from a block trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import file_error
from diskmodel.formats.level import Level
from diskmodel.formats.trace.reader import SKIPPED_WORDS, Errors, read_trace
from diskmodel.formats.trace_facts import TraceFacts
from diskmodel.formats.workloads.found import HIGHER, FoundWorkload, levels_of
from diskmodel.formats.workloads.streams import open_stream, with_flushes
from diskmodel.workload import COARSE_CLOCK_NS

#: Share of requests that continue an earlier one above which a stream is described as sequential runs.
_SEQUENTIAL_ABOVE = 0.5

# A tenth of the space with much more than a tenth of the requests is worth a hot spot.
_HOT_SPACE = 0.1
_HOT_ABOVE = 0.2


def from_trace(
    path: str | Path, kind: str, level: Level, device: str | None, interval_s: float, errors: Errors
) -> FoundWorkload:
    device = None if device == "all" else device
    reader = read_trace(path, format=kind.removeprefix("trace:"), device=device, errors=errors)
    facts = TraceFacts(round(interval_s * 1e9))
    for chunk in reader:
        facts.add(chunk)
    n = sum(facts.n_requests)
    if n == 0:
        raise file_error(path, "holds no reads or writes")
    notes = list(filter(None, [reader.check_unit(n, facts.last_ns)]))
    if device is None and len(reader.device_names) > 1:
        notes.append(f"the requests of {len(reader.device_names)} devices were taken together, as on one array")
    rates = facts.rates_per_s()
    if not len(rates):
        rule = f"has one time for all of its {n} requests: no rate can be known"
        raise file_error(path, rule, "give a longer part of the trace, or one with a finer clock")
    if facts.tick_ns >= COARSE_CLOCK_NS:
        notes.append(f"the clock has steps of {facts.tick_ns / 1e9:g} s: bursts within a step are not seen")
    if facts.last_ns < facts.rate.width:
        notes.append(f"the trace is only {facts.last_ns / 1e9:.3g} s long: its one rate is no percentile of anything")
    far = facts.far_record
    notes += [far] if far else []
    rate = level.rate(rates)
    if rate <= 0:
        rule = f"has no load there: {far}" if far else "has no load there"
        fix = f"leave that record out, or {HIGHER}" if far else HIGHER
        raise FormatError(Fault("level", str(level), rule, fix), str(path))
    n_intervals = f"{len(rates)} interval{'s' * (len(rates) > 1)} of {facts.rate.width / 1e9:g} s"
    notes.append(level.in_words(n_intervals))
    notes += filter(None, [level.warning(rates)])
    notes.append("arrivals within an interval were taken as random (Poisson)")
    if reader.n_skipped:
        notes.append(f"{reader.n_skipped} entries {SKIPPED_WORDS} were left out")
    if reader.n_malformed:
        notes.append(f"{reader.n_malformed} malformed lines were left out")
    streams = []
    for op, name in enumerate(("reads", "writes")):
        if facts.n_requests[op]:
            stream = open_stream(name, 1.0 - op, rate * facts.n_requests[op] / n, facts.sizes(op))
            streams.append(stream | _places(facts, op))
    if any(stream["addresses"]["pattern"] == "hot_spot" for stream in streams):
        notes.append(f"the busiest {_HOT_SPACE:.0%} of the space were laid together, at its front")
    largest = max(size["size_bytes"] for stream in streams for size in stream["sizes"])
    span = max(-(-facts.end_bytes // 4096) * 4096, largest)
    if reader.n_flushes:
        counts = (facts.n_requests[1], reader.n_flushes)
        streams = with_flushes(streams, counts, rate / n, "", (f"{reader.n_flushes:,} flushes", notes))
    workload = {"name": Path(path).name[:120], "span_bytes": span, "streams": streams}
    return FoundWorkload(workload, kind, levels_of(rates), float(rates.mean()), rates, tuple(notes))


def _places(facts: TraceFacts, op: int) -> dict[str, Any]:
    sequential = facts.sequential_ratio(op)
    if sequential > _SEQUENTIAL_ABOVE:
        mean_run = min(1 / (1 - sequential), facts.n_requests[op]) if sequential < 1 else facts.n_requests[op]
        return {"addresses": {"pattern": "sequential", "mean_run": float(mean_run)}}
    hot = facts.hot_share(_HOT_SPACE)
    if hot > _HOT_ABOVE:
        return {"addresses": {"pattern": "hot_spot", "access_ratio": round(hot, 4), "space_ratio": _HOT_SPACE}}
    return {"addresses": {"pattern": "uniform"}}

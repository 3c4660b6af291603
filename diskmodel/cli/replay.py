"""`diskmodel replay`: a trace's own timeline on arrays that nobody has bought."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.heat_map import check_heat_map, save_heat_map
from diskmodel.cli.shared.inputs import read_array, read_replay
from diskmodel.cli.shared.options import (
    ArrayTexts,
    Asked,
    Debug,
    Device,
    Engine,
    Format,
    HeatMap,
    Json,
    OtherDrives,
    Plot,
    Seed,
    asks,
)
from diskmodel.cli.shared.status import check_place, ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.doing import doing
from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.options import ARRAY, SYNC

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.engine import Engine as EngineName
    from diskmodel.result import Result, Timeline


@dataclass(frozen=True)
class _Replayed:
    """One array under the trace."""

    name: str
    array: Array
    result: Result
    timeline: Timeline
    latency_ms: dict[str, float]

    @property
    def keeps_up(self) -> bool:
        """Whether no overload was found, and what waited when the recording ended took no longer than the recording.

        A recording of a few hundred requests may be too short for a verdict on its load; what was recorded is not.
        """
        done = self.result.run.completions
        end_ns = int(done.issue_ns.max())
        return self.result.is_stable and int(done.done_ns.max()) - end_ns <= end_ns - int(done.issue_ns.min())

    def to_dict(self) -> dict[str, Any]:
        line = self.timeline
        return {
            "array": self.name,
            "stable": self.keeps_up,
            "iops": self.result.iops.value,
            "latency_ms": self.latency_ms,
            "utilization_ratio": _mean_utilization(self.array, self.result),
            "outstanding": {"mean": float(line.outstanding.mean()), "max": line.most_outstanding},
            "worst": line.worst.to_dict(),
            "timeline": line.to_dict(),
        }


@ends_well
@limited("replay a shorter part of the trace")
@asks(changes=ARRAY, flushes=(SYNC.saying("none: replay a trace without the flushes that it has."),))
def replay(
    arrays: ArrayTexts,
    *,
    trace: Annotated[Path, typer.Option("--trace", "-t", help="Block trace to replay.")],
    drive: OtherDrives = None,
    changes: Asked,
    flushes: Asked,
    speed: Annotated[
        float, typer.Option(help="Replay the trace this many times as fast, as a load that has grown.")
    ] = 1.0,
    wrap: Annotated[
        bool, typer.Option("--wrap", help="Wrap addresses of the trace that lie beyond the end of the array.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(help="Seconds of an interval of the timeline; default: about 200 intervals.")
    ] = None,
    device: Device = None,
    format: Format = None,
    engine: Engine = "auto",
    seed: Seed = 0,
    plot: Plot = None,
    heat_map: HeatMap = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Replay a trace on arrays: latency, outstanding requests and utilization over time, and the worst minute.

    Exits with status 3 when none of the arrays keeps up with the trace.
    """
    from diskmodel.engine.simulate import simulate
    from diskmodel.result.timeline import timeline

    check_place(plot, "plot", (".png", ".svg"))
    check_heat_map(heat_map)
    faults = [] if 0 < speed < 1e6 else [Fault("speed", speed, "must be above 0 and below 1e6", "write for example 2")]
    if interval is not None and not 0 < interval < 1e9:
        faults.append(Fault("interval", interval, "must be above 0 and below 1e9", "write for example 10"))
    if faults:
        raise DescriptionError(faults)
    described = [(given, read_array(given, drive, changes)) for given in arrays]
    load = read_replay(trace, "original", device=device, format=format, wraps=wrap, sync=flushes["sync"])
    if speed != 1:
        load = load.scaled(speed)
    found = []
    for place, (given, array) in enumerate(described, 1):
        with doing(f"replaying on array {place} of {len(described)}"):
            result = simulate(
                array,
                load,
                seed=seed,
                engine=cast("EngineName", engine),
                n_requests=len(load.trace),
                profile_draws=0,
            )
        line = timeline(result, n_disks=_n_working(array), interval_s=interval)
        found.append(_Replayed(array.name or Path(given).stem, array, result, line, _latency_ms(result)))
    if as_json:
        requests = load.trace.when_ns
        print_json(
            {
                "trace": {
                    "name": trace.name,
                    "requests": len(requests),
                    "seconds": float(requests[-1]) / 1e9 / speed,
                    "speed_up": speed,
                },
                "arrays": [item.to_dict() for item in found],
            }
        )
    else:
        show(_table(trace.name, found))
    if plot is not None:
        _save(found, plot)
    if heat_map is not None:
        save_heat_map(trace.name, [(item.name, item.array, item.result) for item in found], heat_map)
    if not any(item.keeps_up for item in found):
        raise no_answer("no array keeps up with the trace: requests wait ever longer; add disks, or lower --speed")


def _n_working(array: Array) -> int:
    return array.layout.disks - len(array.layout.failed)


def _mean_utilization(array: Array, result: Result) -> float:
    working = [
        use.utilization_ratio
        for disk, use in enumerate(result.per_disk)
        if disk < array.layout.disks and disk not in array.layout.failed
    ]
    return sum(working) / len(working)


def _latency_ms(result: Result) -> dict[str, float]:
    """Return mean, percentiles and maximum over all requests of the trace, the first ones too."""
    import numpy as np

    from diskmodel.result.statistics import percentiles

    done = result.run.completions
    response = np.sort(done.done_ns - done.issue_ns) / 1e6
    return {"mean": float(response.mean()), **percentiles(response), "max": float(response[-1])}


def _table(title: str, found: list[_Replayed]) -> Any:
    """Return the arrays side by side."""
    from diskmodel.cli.shared.screen import plain_table
    from diskmodel.result.statistics import BY_NAME

    n = found[0].result.n_requests
    table = plain_table(f"{title}: {n:,} requests")
    table.add_column("", overflow="fold")
    for item in found:
        table.add_column(item.name, justify="right", overflow="fold")
    worst = found[0].timeline.worst.length_s
    window = "worst minute" if worst == 60 else f"worst {worst:g} s"
    rows = [
        ("latency ms, mean", [_short(item.latency_ms["mean"]) for item in found]),
        *((BY_NAME[name].label, [_short(item.latency_ms[name]) for item in found]) for name in ("p50", "p99", "p999")),
        (f"{window}, starts at s", [f"{item.timeline.worst.start_s:,.1f}" for item in found]),
        ("  requests", [f"{item.timeline.worst.n_requests:,}" for item in found]),
        ("  latency ms, mean", [_short(item.timeline.worst.mean_ms) for item in found]),
        ("  p99", [_short(item.timeline.worst.p99_ms) for item in found]),
        ("  disks busy", [f"{item.timeline.worst.utilization_ratio:.0%}" for item in found]),
        ("outstanding, mean", [_short(float(item.timeline.outstanding.mean())) for item in found]),
        ("outstanding, most", [f"{item.timeline.most_outstanding:,}" for item in found]),
        ("disks busy", [f"{_mean_utilization(item.array, item.result):.0%}" for item in found]),
        ("keeps up", ["yes" if item.keeps_up else "no" for item in found]),
    ]
    for name, cells in rows:
        table.add_row(name, *cells)
    return table


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _save(found: list[_Replayed], plot: Path) -> None:
    from diskmodel.drawing import save_figure
    from diskmodel.result.show.timeline import HEIGHT_INCHES, draw_timelines

    lines = [(item.name, item.timeline) for item in found]
    save_figure(lambda figure: draw_timelines(figure, lines), plot, height=HEIGHT_INCHES)
    say(f"plot of the replay over time: {plot}")

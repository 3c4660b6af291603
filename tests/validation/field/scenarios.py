"""Rows that are runs of the product."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from diskmodel.workload import Workload
from tests.validation.field.cases import CASES, FIELD, label_of, row_of
from tests.validation.field.outcome import Outcome

Run = dict[str, Any]


def simulated(run: Run) -> Result:
    """The result of a run of `examples/field/scenarios.toml`, without the spread of drives that might be meant."""
    array = Array.load(FIELD / f"{run['array']}.toml")
    workload = Workload.load(FIELD / f"{run['workload']}.toml")
    return simulate(array, workload, n_requests=run.get("requests", 8000), profile_draws=0)


def _iops(result: Result, run: Run) -> float:
    return float(result.iops_by_stream[run["stream"]]) if "stream" in run else float(result.iops.mean)


def _megabytes(result: Result, run: Run) -> float:
    return result.bytes_per_s / float(run.get("megabyte", 1_000_000))


def _mean_ms(result: Result, run: Run) -> float:
    return float(result.latency.mean_ns) / 1e6


def _disk(column: str, scale: float = 1.0) -> Callable[[Result, Run], float]:
    """A column of `iostat -x` of the first disk."""
    return lambda result, run: scale * float(result.to_dict()["iostat"][0][column])


def _percentile_us(name: str) -> Callable[[Result, Run], float]:
    return lambda result, run: 1000 * float(result.to_dict()["latency_ms"][name])


QUANTITIES: dict[str, Callable[[Result, Run], float]] = {
    "iops": _iops,
    "reads": _iops,
    "mb_s": _megabytes,
    "bandwidth_mb_s": _megabytes,
    "latency_ms": _mean_ms,
    "mean_response_ms": _mean_ms,
    "latency_us": lambda result, run: 1000 * _mean_ms(result, run),
    "clat_us_mean": lambda result, run: 1000 * _mean_ms(result, run),
    "clat_us_p50": _percentile_us("p50"),
    "clat_us_p99": _percentile_us("p99"),
    "r_per_s": _disk("r/s"),
    "avgrq_sectors": _disk("rareq-sz", 2),
    "avgqu": _disk("aqu-sz"),
    "await_ms": _disk("await"),
    "ms_per_100_reads": lambda result, run: 100_000 / _iops(result, run),
    "seconds": lambda result, run: run["operations"] / _iops(result, run),
}


def outcomes(run: Run) -> Iterable[Outcome]:
    """The figures of one row."""
    return outcomes_of(run, simulated(run))


def outcomes_of(run: Run, result: Result) -> Iterable[Outcome]:
    """The figures of one row, as a result has them."""
    case, row = CASES[run["case"]], row_of(run)
    for quantity in run["quantities"]:
        yield Outcome(
            case=run["case"],
            row=label_of(row),
            quantity=quantity,
            low=row[quantity] if quantity in row else row[f"{quantity}_min"],
            high=row[quantity] if quantity in row else row[f"{quantity}_max"],
            ours=QUANTITIES[quantity](result, run),
            tolerance=case.get("tolerance", 0.0),
            kind="fitted" if row.get("fit") else "predicted",
            unreached=run.get("unreached", {}).get(quantity, ""),
            command=command(run),
        )


def command(run: Run) -> str:
    """What repeats a run."""
    folder = FIELD.relative_to(FIELD.parents[1])
    files = f"{folder}/{run['array']}.toml --workload {folder}/{run['workload']}.toml"
    return f"diskmodel simulate {files} --requests {run.get('requests', 8000)}"

"""Fit the host of the fio outputs to its three fitted rows: processor times, the drive's latency, pauses.

`python -m tests.validation.field.fit_pauses` prints what `examples/field/fio-flash/array.toml` says, rounded there.
"""

from __future__ import annotations

import math

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.validation.field.cases import CASES, FIELD, RUNS

CASE = "fio-flash-1g"
#: Requests of a run: an output's own 262,144.
N_REQUESTS = 262_144


def fitted_rows() -> list[tuple[Workload, dict[str, float]]]:
    """Workload and figures of each row that may be fitted."""
    rows = CASES[CASE]["rows"]
    runs = [run for run in RUNS if run["case"] == CASE and rows[run["row"]].get("fit")]
    return [(Workload.load(FIELD / f"{run['workload']}.toml"), rows[run["row"]]) for run in runs]


def with_host(array: Array, *, latency_us: float, pause_us: float, pauses_per_s: float) -> Array:
    """The array with these pauses; what they leave of the processor makes the measured rate of each pattern."""
    (_, random), (_, sequential), _ = fitted_rows()
    share = 1 - pause_us * pauses_per_s / 1e6
    host = array.host.model_copy(
        update={
            "submission_ns": round(share * 1e9 / random["iops"]),
            "submission_sequential_ns": round(share * 1e9 / sequential["iops"]),
            "pause_ns": round(pause_us * 1e3),
            "pause_interval_ns": round(1e9 / pauses_per_s - pause_us * 1e3),
        }
    )
    drive = array.drive.model_copy(update={"read_latency_ns": round(latency_us * 1e3)})
    return array.model_copy(update={"host": host, "drive": drive})


def misfit(array: Array) -> float:
    """Sum of the squared logarithms of ours over the author's: rate, mean, median and 99th percentile."""
    total = 0.0
    for workload, row in fitted_rows():
        result = simulate(array, workload, n_requests=N_REQUESTS)
        latency = result.to_dict()["latency_ms"]
        ours = (
            result.iops.mean,
            result.latency.mean_ns / 1e3,
            1e3 * latency["p50"],
            1e3 * latency["p99"],
        )
        author = (row["iops"], row["clat_us_mean"], row["clat_us_p50"], row["clat_us_p99"])
        total += sum(math.log(a / b) ** 2 for a, b in zip(ours, author, strict=True))
    return total


def main() -> None:
    """Print the best of a grid."""
    array = Array.load(FIELD / "fio-flash" / "array.toml")
    tried = [
        (misfit(with_host(array, latency_us=latency, pause_us=pause, pauses_per_s=rate)), latency, pause, rate)
        for latency in (27.8, 28.3, 28.8)
        for pause in (120, 130, 140, 150, 160)
        for rate in (350, 375, 400, 425, 450)
    ]
    for misfit_of, latency, pause, rate in sorted(tried)[:5]:
        host = with_host(array, latency_us=latency, pause_us=pause, pauses_per_s=rate).host
        print(f"misfit {misfit_of:.4f}: latency {latency} us, {host.to_dict()}")


if __name__ == "__main__":
    main()

"""Results of one array under several loads: the typical value and the bad one of ten, as in the answer to one load."""

from __future__ import annotations

from diskmodel import Array, Workload, simulate
from diskmodel.result.show.loads import loads_rows
from diskmodel.units import in_digits


def test_cells_have_the_bad_one_of_ten_and_a_chance_of_overload() -> None:
    disk = Array("generic-15k jbod")
    rates = {"calm": 50, "much": 450}
    loads = {name: Workload.parse({"size": "8 KiB", "rate_per_s": rate}) for name, rate in rates.items()}
    results = {name: simulate(disk, load, n_requests=2000) for name, load in loads.items()}
    rows = dict(loads_rows(results))
    calm = results["calm"].p99
    assert rows["p99 ms, in one of ten"][0] == f"{in_digits(calm)}, {in_digits(calm.in_one_of_ten)}"
    chance = results["much"].prediction
    assert chance is not None
    assert rows["chance of an overload"] == ["0 %", f"{in_digits(100 * chance.overload_chance, 2)} %"]


def test_the_noise_of_the_run_is_in_no_cell() -> None:
    load = Workload.parse({"size": "8 KiB", "rate_per_s": 50})
    rows = dict(loads_rows({"one": simulate(Array("generic-15k jbod"), load, n_requests=2000, profile_draws=0)}))
    assert list(rows) == ["IOPS", "MB/s", "mean ms", "p99 ms", "disk utilization"]
    assert "," not in rows["mean ms"][0]

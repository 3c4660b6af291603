"""Results as tables of pandas."""

from __future__ import annotations

import math
import sys

import pandas
import polars
import pyarrow
import pytest

from diskmodel import Array, Workload, compare, simulate
from diskmodel.errors import MissingPackageError
from diskmodel.plan import run_plan
from diskmodel.result import Result
from tests.unit.plan.fakes import Queues, plan_of

STREAMS = {
    "streams": [
        {"name": "data", "size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        {"name": "log", "size": "4 KiB", "read_ratio": 0.0, "rate": "20/s"},
    ]
}


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(Array("generic-15k", "raid10", 4), Workload.parse(STREAMS), n_requests=12_000)


def test_short_names_are_milliseconds(result: Result) -> None:
    quantiles = result.latency.quantiles_ns
    assert [result.p50, result.p95, result.p99, result.p999] == [quantiles[name] / 1e6 for name in quantiles]
    assert result.mean == result.latency.mean_ns / 1e6
    assert 0 < result.p50 < result.p95 < result.p99 < result.p999


def test_a_figure_that_the_run_cannot_show_is_nan(result: Result) -> None:
    few = simulate(Array("generic-15k", "raid0", 1), Workload.parse({"size": "8 KiB", "rate": "50/s"}), n_requests=500)
    assert math.isnan(few.p999)
    assert few.p99 > 0
    overloaded = simulate(
        Array("generic-15k", "raid0", 1), Workload.parse({"size": "8 KiB", "rate": "900/s"}), n_requests=4000
    )
    assert not overloaded.is_stable
    assert math.isnan(overloaded.p50)
    assert math.isnan(overloaded.mean)


def test_a_result_has_a_row_for_each_subset(result: Result) -> None:
    frame = result.to_frame()
    assert list(frame.index) == ["all", "reads", "writes", "stream data", "stream log"]
    assert frame.loc["all", "p99_ms"] == result.p99
    assert frame.loc["reads", "n"] + frame.loc["writes", "n"] == frame.loc["all", "n"] == result.n_measured
    assert frame.loc["stream log", "mean_ms"] == result.per_stream["log"].mean
    assert frame.loc["all", "mean_low_ms"] < frame.loc["all", "mean_ms"] < frame.loc["all", "mean_high_ms"]


def test_a_plan_has_a_row_for_each_candidate() -> None:
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid5", "raid6"], "disks": [9, 33]})
    answer = run_plan(plan, evaluate=Queues(), with_relaxations=False)
    frame = answer.to_frame()
    assert list(frame["level"]) == ["raid10", "raid5", "raid6"]
    assert answer.best is not None
    assert frame[frame["is_best"]]["disks"].tolist() == [answer.best.disks]
    assert frame["state"].tolist() == [candidate.state for candidate in answer.candidates]
    assert math.isnan(frame.loc[0, "p99_ms"])  # RAID 10 has neither of the counts
    assert frame.loc[1, "p99_ms"] == answer.candidates[1].p99_ms
    assert frame.loc[1, "degraded_p99_ms"] > frame.loc[1, "p99_ms"]


def test_a_comparison_has_a_row_for_each_array() -> None:
    arrays = [Array("generic-15k", "raid5", 5), Array("generic-15k", "raid0", 5)]
    found = compare(arrays, Workload.parse({"size": "8 KiB", "rate": "200/s"}), n_requests=2000, evaluate=Queues())
    frame = found.to_frame()
    assert list(frame["level"]) == ["raid5", "raid0"]
    assert list(frame.index) == [item.name for item in found.arrays]
    assert math.isnan(frame["degraded_p99_ms"].iloc[1])
    assert frame["iops"].iloc[0] == found.arrays[0].healthy.iops.value


def test_without_pandas_the_error_says_what_to_install(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert issubclass(MissingPackageError, ImportError)
    with pytest.raises(MissingPackageError, match=r"needs the package pandas; pip install 'diskmodel\[pandas\]'"):
        result.to_frame()


def test_libraries_read_a_result_as_arrow(result: Result) -> None:
    table = pyarrow.table(result)
    table.validate(full=True)
    rows = result.table_rows()
    assert table.column_names == list(rows[0])
    assert [str(kind) for kind in table.schema.types[:3]] == ["string", "int64", "double"]
    assert table.column("requests").to_pylist() == [row["requests"] for row in rows]
    assert table.column("n").to_pylist() == [row["n"] for row in rows]
    assert table.column("p99_ms").to_pylist() == [row["p99_ms"] for row in rows]
    for name in ("p99_low_ms", "p999_ms"):
        expected = [None if math.isnan(row[name]) else row[name] for row in rows]
        assert table.column(name).to_pylist() == expected
    assert polars.DataFrame(result).rows() == [tuple(row.values()) for row in table.to_pylist()]
    pandas.testing.assert_frame_equal(pandas.DataFrame.from_arrow(result).set_index("requests"), result.to_frame())


def test_plans_and_comparisons_are_arrow_too() -> None:
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "disks": [9, 33]})
    answer = run_plan(plan, evaluate=Queues(), with_relaxations=False)
    table = polars.DataFrame(answer)
    assert table["level"].to_list() == ["raid10", "raid5"]
    assert table["is_best"].dtype == polars.Boolean
    assert table["disks"].dtype == polars.Int64
    assert table["p99_ms"].to_list()[0] is None  # unknown
    arrays = [Array("generic-15k", "raid5", 5), Array("generic-15k", "raid0", 5)]
    found = compare(arrays, Workload.parse({"size": "8 KiB", "rate": "200/s"}), n_requests=2000, evaluate=Queues())
    assert polars.DataFrame(found)["array"].to_list() == [item.name for item in found.arrays]
    assert len(repr(found)) < 500
    assert len(repr(answer)) < 200
    assert str(answer).startswith(f"{answer.best.disks} disks of Generic 15k rpm SAS in RAID 5")  # type: ignore[union-attr]

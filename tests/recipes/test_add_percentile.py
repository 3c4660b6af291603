"""The recipe of CONTRIBUTING.md for a percentile: one line, and results, plans, tables and files have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.recipes.following import answer, copy_of_package, insert

pytestmark = pytest.mark.slow

LIST = Path("diskmodel") / "result" / "statistics" / "registry.py"
BEFORE = '    Statistic("p95", "p95", 0.95),'
LINE = '    Statistic("p90", "p90", 0.9),'

PROGRAM = """
import csv, io, json
import numpy as np
from typer.testing import CliRunner
from diskmodel import Array, Workload, run_plan, simulate
from diskmodel.cli.app import app
from diskmodel.formats.fio.write import job_of_prediction, to_fio_json
from diskmodel.plan import LatencyLimits, PlanDescription
from diskmodel.plan.show.report import as_csv
from diskmodel.result.show.text import as_text

array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 4}})
load = Workload.parse({"rate": "150/s", "read_ratio": 0.7, "size": "8 KiB"})
ran = {
    engine: simulate(array, load, n_requests=n, engine=engine, profile_draws=0)
    for engine, n in (("native", 6_000), ("simpy", 1_500))
}
folded = simulate(array, load, n_requests=20_000, keep="histogram", profile_draws=0)
result = ran["native"]
data = result.to_dict()
figures = {key: data[key] for key in ("iops", "latency_ms")}

question = {
    "workload": {"rate": "200/s", "read_ratio": 0.7, "size": "8 KiB"},
    "objective": {"latency": {"p90": "15 ms"}},
    "candidates": {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 8},
    "search": {"requests": 2_000, "max_requests": 20_000},
}
planned = run_plan(PlanDescription.parse(question))
best = planned.best
rows = list(csv.DictReader(io.StringIO(as_csv(planned))))

open("trace.csv", "w").write("time_ns,op,offset_bytes,length_bytes,response_ns,device\\n" + "".join(
    f"{i * 20_000_000},read,{i * 7919 % 1000 * 8192},8192,-1,disk\\n" for i in range(200)
))
called = CliRunner().invoke(app, ["replay", "2x generic-15k raid1", "--trace", "trace.csv", "--json"])

print(json.dumps({
    "observed": {engine: float(np.sort(one.responses_ns())[int(np.ceil(0.9 * one.n_measured)) - 1] / 1e6)
                 for engine, one in ran.items()},
    "property": {engine: one.p90 for engine, one in ran.items()},
    "folded": folded.latency.json_fields(),
    "latency_ms": data["latency_ms"],
    "run_interval": data["run_interval"],
    "table": as_text(result),
    "limits": LatencyLimits.parse({"p90": "20 ms"}).limits(),
    "feasible": planned.is_feasible,
    "criteria": [[item.name, item.detail, item.limit, item.figure.value] for item in best.trial.criteria],
    "columns": list(rows[0]),
    "row": rows[0],
    "frame": list(planned.candidates[0].row),
    "replay": json.loads(called.stdout)["arrays"][0]["latency_ms"],
    "fio": to_fio_json([job_of_prediction(figures, name="job", pattern="randread", block_bytes=8192, depth=1)]),
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = copy_of_package(tmp_path_factory.mktemp("package"))
    insert(folder / LIST, BEFORE, LINE)
    return answer(folder, PROGRAM)


def test_results_have_it_in_both_engines(found: Any) -> None:
    assert found["property"] == found["observed"]
    for latency in (found["latency_ms"], found["folded"]):
        assert latency["p50"] < latency["p90"] < latency["p95"]
    assert found["run_interval"]["p90_low_ms"] < found["property"]["native"] < found["run_interval"]["p90_high_ms"]


def test_it_is_a_row_of_the_table(found: Any) -> None:
    assert [line.split()[1] for line in found["table"].splitlines() if " latency, p" in line] == [
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
    ]


def test_it_is_an_objective_that_a_plan_meets(found: Any) -> None:
    assert found["limits"] == {"p90": 20_000_000}
    assert found["feasible"]
    limits = {detail: (limit, figure) for name, detail, limit, figure in found["criteria"] if name == "latency"}
    assert limits.keys() == {"p90"}
    limit, figure = limits["p90"]
    assert figure <= limit == 15.0


def test_it_is_a_column_of_candidates_and_a_key_of_files(found: Any) -> None:
    names = [f"{name}_ms" for name in ("mean", "p50", "p90", "p95", "p99", "p999")]
    assert found["columns"][-6:] == names
    assert [name for name in found["frame"] if name in names] == names
    assert float(found["row"]["p50_ms"]) < float(found["row"]["p90_ms"]) < float(found["row"]["p95_ms"])
    assert list(found["replay"]) == ["mean", "p50", "p90", "p95", "p99", "p999", "max"]
    percentiles = found["fio"]["jobs"][0]["read"]["clat_ns"]["percentile"]
    assert percentiles["90.000000"] == pytest.approx(found["latency_ms"]["p90"] * 1e6)


def test_the_product_does_not_have_it_yet() -> None:
    """The line is added to a list that has no such percentile; otherwise the tests above would show nothing."""
    from diskmodel.result.statistics.registry import BY_NAME

    assert "p90" not in BY_NAME

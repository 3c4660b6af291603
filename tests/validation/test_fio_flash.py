"""A flash drive from three published outputs of fio; two more, of writes, check the profile's drive."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

pytestmark = pytest.mark.evidence


def rows_of(evidence: Path) -> tuple[list[dict[str, Any]], float]:
    cases = tomllib.loads((evidence / "field-measurements.toml").read_text(encoding="utf-8"))["case"]
    case = next(item for item in cases if item["id"] == "fio-flash-1g")
    return case["rows"], float(case["tolerance"])


@pytest.fixture(scope="module")
def fitted(evidence: Path) -> Calibration:
    rows, _ = rows_of(evidence)
    folder = evidence / "fio-3.1-text"
    return calibrate([folder / f"{row['pattern']}-{row['engine']}.txt" for row in rows if row.get("fit")])


def test_converges_and_says_what_it_cannot_know(fitted: Calibration) -> None:
    assert fitted.has_converged, fitted.message
    assert fitted.kind == "flash"
    # three observations cannot determine six parameters
    assert not fitted.parameters["parallel_servers"].is_identified
    assert fitted.held_out["mean_error_ratio"] is None


@pytest.mark.parametrize("index", range(5))
def test_rate_of_every_row(evidence: Path, fitted: Calibration, index: int) -> None:
    rows, tolerance = rows_of(evidence)
    row = rows[index]
    array = Array.parse({"drive": fitted.drive, "layout": {"level": "jbod", "disks": 1}})
    workload = Workload.parse(
        {
            "size": "4 KiB",
            "read_ratio": 1.0 if row["pattern"].endswith("read") else 0.0,
            "clients": row["iodepth"],
            "span": "1 GiB",
            "addresses": {"pattern": "uniform" if row["pattern"].startswith("rand") else "sequential"},
        }
    )
    found = float(simulate(array, workload, n_requests=20_000).to_dict()["iops"])
    assert found == pytest.approx(row["iops"], rel=tolerance)

"""Reading a measurement: columns, runs, and clear errors for what is malformed."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.evidence.files import read_evidence
from calibrate.measure import load
from diskmodel.errors import FormatError

DOCUMENT: dict[str, Any] = {
    "format": "diskmodel-measurement",
    "version": 1,
    "program": {"version": "0.1.0"},
    "host": {},
    "target": {"size_bytes": 1 << 30},
    "settings": {},
    "overhead": {},
    "findings": {"nature": "not_rotating"},
    "state": "complete",
    "elapsed_s": 1.5,
    "warnings": [],
    "experiments": [
        {
            "name": "random_reads",
            "why": "w",
            "parameters": {},
            "summary": {},
            "runs": [
                {"parameters": {"queue_depth": 1}, "summary": {}, "first": 0, "count": 2},
                {"parameters": {"queue_depth": 4}, "summary": {}, "first": 2, "count": 1},
            ],
            "samples": {
                "n": 3,
                "issue_ns": [0, 10, 20],
                "latency_ns": [5, 6, 7],
                "offset": [0, 8192, 4096],
                "length": 4096,
                "op": [0, 1, 0],
            },
        },
        {"name": "gc_onset", "parameters": {}, "summary": {}, "runs": [], "skipped": "it writes"},
    ],
}


def write(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    return path


def test_columns_and_runs(tmp_path: Path) -> None:
    measurement = load(write(tmp_path, DOCUMENT))
    experiment = measurement.experiment("random_reads")
    assert experiment is not None
    assert experiment.samples.length_bytes.tolist() == [4096] * 3
    assert experiment.samples.completion_ns.tolist() == [5, 16, 27]
    assert [run.queue_depth for run in experiment.runs] == [1, 4]
    assert experiment.runs[1].samples.offset_bytes.tolist() == [4096]
    assert experiment.samples.latency_ns.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        experiment.samples.latency_ns[0] = 1
    assert measurement.experiment("gc_onset") is None
    assert measurement.experiments[1].skipped == "it writes"
    assert measurement.is_complete
    assert measurement.size_bytes == 1 << 30


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda d: d.update(format="fio"), "format"),
        (lambda d: d.update(version=2), "version"),
        (lambda d: d.pop("target"), "target"),
        (lambda d: d.update(experiments={}), "experiments"),
        (lambda d: d["experiments"][0].pop("samples"), "experiments[0].samples"),
        (lambda d: d["experiments"][0]["samples"].update(n=4), "experiments[0].samples.issue_ns"),
        (lambda d: d["experiments"][0]["samples"].update(offset=["a"] * 3), "experiments[0].samples.offset"),
        (lambda d: d["experiments"][0]["samples"].update(latency_ns=[1, -1, 1]), "experiments[0].samples.latency_ns"),
        (lambda d: d["experiments"][0]["runs"][1].update(count=2), "experiments[0].runs[1]"),
    ],
)
def test_a_malformed_part_is_named(tmp_path: Path, change: Any, field: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    with pytest.raises(FormatError) as error:
        load(write(tmp_path, document))
    assert error.value.faults[0].field == field


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"format": "diskm')
    with pytest.raises(FormatError, match="cannot be read as JSON"):
        load(path)
    with pytest.raises(FormatError):
        load(tmp_path / "missing.json")
    with pytest.raises(FormatError, match="must be 'diskmodel-measurement'"):
        load(write(tmp_path, [1]))


def test_a_measurement_without_any_time_is_no_evidence(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["experiments"][0]["samples"]["latency_ns"] = [0, 0, 0]
    with pytest.raises(FormatError, match="none of its 3 requests took any time"):
        read_evidence(write(tmp_path, document))
    document["experiments"] = document["experiments"][1:]
    with pytest.raises(FormatError, match="has no request"):
        read_evidence(write(tmp_path, document))


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(DOCUMENT).encode())
    assert load(path).is_complete

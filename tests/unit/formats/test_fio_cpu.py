"""How much of a processor a job of fio used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diskmodel.formats import read_fio

TEXT = Path(__file__).parents[2] / "data" / "formats" / "mix-fio-3.33.txt"


def json_output(folder: Path, **cpu: object) -> Path:
    direction = {"total_ios": 10, "io_bytes": 40960, "runtime": 1000, "iops": 10.0, "bw_bytes": 40960}
    job = {"jobname": "a", "groupid": 0, "error": 0, "read": direction, "job options": {"rw": "read"}} | cpu
    path = folder / "out.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cpu", "ratio"),
    [({"usr_cpu": 12.5, "sys_cpu": 87.0}, 0.995), ({}, None), ({"usr_cpu": "x", "sys_cpu": 1.0}, None)],
)
def test_of_json(tmp_path: Path, cpu: dict[str, object], ratio: float | None) -> None:
    (job,) = read_fio(json_output(tmp_path, **cpu))
    assert job.cpu_ratio == (None if ratio is None else pytest.approx(ratio))


def test_of_text(tmp_path: Path) -> None:
    text = TEXT.read_text(encoding="utf-8")
    line = next(line for line in text.split("\n") if "usr=" in line and "sys=" in line)
    reported = [float(piece.split("=")[1].rstrip("%,")) for piece in line.split() if piece.startswith(("usr=", "sys="))]
    assert read_fio(TEXT)[0].cpu_ratio == pytest.approx(sum(reported) / 100)
